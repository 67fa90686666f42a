//! Programs of any length, for benches and tests of speed.

use std::fmt::Write;

const WIDE: &str = "!pto.tile_buf<vec, 16x64xf32>";
const TALL: &str = "!pto.tile_buf<vec, 64x16xf32>";
const SMALL: &str = "!pto.tile_buf<vec, 8x32xf32>";
const JOINED: &str = "!pto.tile_buf<vec, 16x128xf32>";
const PADDED: &str = "!pto.tile_buf<vec, 16x64xf32, valid=12x60, pad=zero>";

/// A module with one function of `instructions` mixed layout instructions, about 130 bytes each, legal on `cpu`.
///
/// ```
/// let parsed = tessera_asm::parse(&tessera_asm::generate(100), None);
/// assert!(parsed.diagnostics.is_empty());
/// ```
pub fn generate(instructions: usize) -> String {
    let mut out = String::with_capacity(instructions * 140 + 4096);
    out.push_str("module {\n  func.func @kernel() attributes {pto.entry} {\n");
    for (name, ty) in [("w", WIDE), ("t", TALL), ("s", SMALL), ("j", JOINED), ("p", PADDED)] {
        for n in 0..4 {
            let _ = writeln!(out, "    %{name}{n} = pto.alloc_tile : {ty}");
        }
    }
    for n in [0, 4, 8, 16] {
        let _ = writeln!(out, "    %c{n} = arith.constant {n} : index");
    }
    for n in 0..instructions {
        let (a, b, c) = (n % 4, (n / 4) % 4, (n / 16) % 4);
        let _ = match n % 9 {
            0 => writeln!(out, "    pto.tmov ins(%w{a} : {WIDE}) outs(%w{} : {WIDE})", (a + 1 + b % 3) % 4),
            1 => writeln!(out, "    pto.ttrans ins(%w{a} : {WIDE}) outs(%t{b} : {TALL})"),
            2 => writeln!(out, "    pto.textract ins(%w{a}, %c8, %c16 : {WIDE}, index, index) outs(%s{b} : {SMALL})"),
            3 => writeln!(
                out,
                "    pto.tinsert ins(%s{a}, %c4, %c{} : {SMALL}, index, index) outs(%w{b} : {WIDE})",
                if c % 2 == 0 { 0 } else { 16 }
            ),
            4 => writeln!(out, "    pto.tconcat ins(%w{a}, %w{b} : {WIDE}, {WIDE}) outs(%j{c} : {JOINED})"),
            5 => writeln!(out, "    pto.tfillpad ins(%w{a} : {WIDE}) outs(%p{b} : {PADDED})"),
            6 => writeln!(out, "    pto.tinterleave ins(%w0, %w1 : {WIDE}, {WIDE}) outs(%w2, %w3 : {WIDE}, {WIDE})"),
            7 => writeln!(
                out,
                "    %e{n} = pto.textract %j{a}, %c0, %c{} : ({JOINED}, index, index) -> {SMALL}",
                [0, 4, 8, 16][b]
            ),
            _ => writeln!(out, "    %r{n} = ttrans %t{a} : {TALL} -> {WIDE}"),
        };
    }
    out.push_str("    return\n  }\n}\n");
    out
}
