//! Colours of cells: pale ones, on which dark text can be read.

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Colour(pub [f64; 3]);

impl Colour {
    pub fn hex(self) -> String {
        let [r, g, b] = self.0.map(|v| v.round().clamp(0.0, 255.0) as u8);
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    pub fn mix(self, other: Colour, t: f64) -> Colour {
        let [a, b] = [self.0, other.0];
        Colour([0, 1, 2].map(|n| a[n] + (b[n] - a[n]) * t))
    }

    /// The mean of some colours.
    pub fn mean(all: &[Colour]) -> Option<Colour> {
        let count = all.len() as f64;
        let sum = all.iter().fold([0.0; 3], |sum, c| [sum[0] + c.0[0], sum[1] + c.0[1], sum[2] + c.0[2]]);
        (!all.is_empty()).then(|| Colour(sum.map(|v| v / count)))
    }
}

const fn rgb(r: u8, g: u8, b: u8) -> Colour {
    Colour([r as f64, g as f64, b as f64])
}

/// From pale to strong along memory, through two hues so that neighbours differ.
pub(crate) fn along(t: f64) -> Colour {
    let stops = [rgb(0xff, 0xf4, 0xd6), rgb(0xbf, 0xe3, 0xc9), rgb(0x8f, 0xbd, 0xee)];
    if t < 0.5 { stops[0].mix(stops[1], t * 2.0) } else { stops[1].mix(stops[2], t * 2.0 - 1.0) }
}

/// A value: one of several from the least to the greatest, or the only one.
pub(crate) fn grey(t: Option<f64>) -> Colour {
    t.map_or(rgb(0xc5, 0xca, 0xd0), |t| rgb(0xe6, 0xe9, 0xec).mix(rgb(0x8d, 0x96, 0xa0), t))
}

/// The four corners of a source's colours; each source has its own, so that one sees which an element comes from.
const CORNERS: [[Colour; 4]; 4] = [
    [rgb(0xff, 0xe9, 0xa8), rgb(0xf7, 0xa8, 0x6d), rgb(0x9f, 0xd8, 0xf5), rgb(0x7d, 0x8f, 0xe0)],
    [rgb(0xd8, 0xf3, 0xc0), rgb(0x79, 0xc7, 0x8a), rgb(0xf5, 0xc6, 0xe6), rgb(0xc7, 0x7f, 0xc9)],
    [rgb(0xe8, 0xe4, 0xdc), rgb(0xbf, 0xb3, 0xa0), rgb(0xc9, 0xe4, 0xe0), rgb(0x7f, 0xb5, 0xae)],
    [rgb(0xfa, 0xd4, 0xd0), rgb(0xe5, 0x8f, 0x88), rgb(0xdc, 0xdc, 0xf5), rgb(0x98, 0x98, 0xd8)],
];

/// The colour of a place in the n-th source: left to right and top to bottom, from 0 to 1.
pub(crate) fn place(n: usize, across: f64, down: f64) -> Colour {
    let [a, b, c, d] = CORNERS[n % CORNERS.len()];
    a.mix(b, across).mix(c.mix(d, across), down)
}
