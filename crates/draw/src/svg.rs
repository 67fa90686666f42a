//! Shared parts of pictures: SVG text, and one set of colours for light and dark. Pictures need no more of a crate
//! than this.

use std::fmt::{Arguments, Write};

/// The classes of all pictures: `ink` and `soft` are text, `paper` the ground, `edge` and `thin` lines, `on` text on a
/// coloured cell. Cells keep their pale colours in the dark.
const STYLE: &str = "\
.tp{fill:#fff}.ti{fill:#1b2733}.ts{fill:#667380}.to{fill:#1b2733}.te{stroke:#33414f}.tn{stroke:#c3cad1}.tw{fill:#b00020}\
@media (prefers-color-scheme:dark){.tp{fill:#0f1419}.ti{fill:#e4e9ee}.ts{fill:#98a4b0}.te{stroke:#c7d0d9}\
.tn{stroke:#46525e}.tw{fill:#ff8a8a}}";

/// A picture that is being written.
#[derive(Debug, Default)]
pub struct Svg(String);

impl Svg {
    /// A picture of this size, with its colours and a ground.
    pub fn new(width: f64, height: f64, title: &str) -> Svg {
        let mut svg = Svg::default();
        svg.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 \
             {width:.0} {height:.0}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"12\" \
             role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<defs><pattern id=\"hatch\" width=\"6\" \
             height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect class=\"tp\" \
             width=\"6\" height=\"6\"/><path class=\"tn\" d=\"M0 0V6\" stroke-width=\"2\"/></pattern></defs>\n\
             <rect class=\"tp\" width=\"100%\" height=\"100%\"/>",
            escape(title)
        ));
        svg
    }

    /// A line of markup.
    pub fn line(&mut self, text: Arguments) {
        // Writing to a string does not fail.
        let _ = self.0.write_fmt(text);
        self.0.push('\n');
    }

    /// Text that starts, ends or is centred at a point.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: &str, class: &str, text: &str) {
        let text = escape(text);
        let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        self.line(format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{text}</text>"));
    }

    /// The whole text, closed.
    pub fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Text as markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
