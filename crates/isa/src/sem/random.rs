//! TRANDOM's generator (isa/irregular.md 5).

/// The state of TRANDOM's generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Random {
    pub key: [u32; 2],
    pub counter: u128,
    pub rounds: u32,
}

impl Random {
    /// The word of element (i, j) of a tile with `cols` valid columns (isa/irregular.md 5).
    ///
    /// ```
    /// use tessera_isa::sem::Random;
    ///
    /// let words = |rounds| [0, 1, 2, 3].map(|j| Random { key: [0, 0], counter: 0, rounds }.word(0, j, 4));
    /// assert_eq!(words(10), [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]);
    /// assert_eq!(words(7), [0x5F6F_B709, 0x0D89_3F64, 0x4F12_1F81, 0x4F73_0A48]);
    /// ```
    pub fn word(&self, i: u64, j: u64, cols: u64) -> u32 {
        let row = 64 * (cols.div_ceil(256) - 1) + (cols - 1) % 64 + 1;
        let at = u128::from(i).wrapping_mul(row.into()).wrapping_add((j / 4).into());
        let words = philox(self.counter.wrapping_add(at), self.key, self.rounds);
        words[(j % 4) as usize]
    }
}

/// Philox 4x32 (Salmon et al., 2011).
fn philox(counter: u128, mut key: [u32; 2], rounds: u32) -> [u32; 4] {
    let mut c = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
    for _ in 0..rounds {
        let [a, b] = [(c[0], 0xD251_1F53u64), (c[2], 0xCD9E_8D57)].map(|(word, factor)| u64::from(word) * factor);
        c = [(b >> 32) as u32 ^ c[1] ^ key[0], b as u32, (a >> 32) as u32 ^ c[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    c
}
