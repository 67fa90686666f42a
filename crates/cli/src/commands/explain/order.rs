//! Examples of the rules of order between pipes: a program, and the lines that mend it.

/// A rule of order by example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub rule: &'static str,
    /// Why the rule is there.
    pub why: &'static str,
    /// The lines of the program, each with a mark: `-` is removed and `+` is added to mend it.
    pub lines: &'static str,
}

impl Example {
    /// The whole program, as it is or mended.
    pub fn program(&self, mended: bool) -> String {
        let left_out = if mended { '-' } else { '+' };
        let lines = self.lines.lines().filter(|line| !line.starts_with(left_out));
        let body: String = lines.map(|line| format!("  {}\n", line.get(2..).unwrap_or_default())).collect();
        format!("{KERNEL}{body}  return\n}}\n")
    }
}

/// What stands before the lines of every example.
const KERNEL: &str = "!t = !pto.tile_buf<vec, 16x64xf32>
!m = memref<16x64xf32>
func.func @k(%x: !m, %y: !m, %z: !m) {
  %zero = arith.constant 0.0 : f32
  %a = pto.alloc_tile : !t
  %b = pto.alloc_tile : !t
";

/// All examples.
pub fn examples() -> impl Iterator<Item = Example> {
    include_str!("order.md").split("\n## ").skip(1).filter_map(|section| {
        let (rule, rest) = section.split_once('\n')?;
        let (why, lines) = rest.split_once("\n\n")?;
        Some(Example { rule, why, lines: lines.trim_end() })
    })
}
