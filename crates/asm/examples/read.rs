//! Reads files and lists what is wrong with them, one line each: `cargo run --example read -- FILE…`.

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let parsed = tessera_asm::parse_bytes(&bytes, None);
        for d in &parsed.diagnostics {
            let at = d.span.map_or(0, |s| s.start) as usize;
            let before = bytes.get(..at).unwrap_or_default();
            let line = before.iter().filter(|b| **b == b'\n').count() + 1;
            let column = at - before.iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1) + 1;
            let help = d.help.as_deref().unwrap_or("");
            #[allow(clippy::print_stdout, reason = "an example talks to the terminal")]
            {
                println!("{path}:{line}:{column}: {} [{}] {} ({help})", d.severity.name(), d.rule, d.message);
            }
        }
    }
}
