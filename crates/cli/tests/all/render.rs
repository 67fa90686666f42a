//! How things look: tables, values, layouts, memory maps, diagnostics and examples.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::Program;
use tessera_cli::render::diagnostic::human;
use tessera_cli::render::example::{cut, examples};
use tessera_cli::render::grid::{self, Slot, choose, legend};
use tessera_cli::render::table::{Table, wrap};
use tessera_cli::render::values::Values;
use tessera_cli::render::{WIDTH, map};
use tessera_cli::source::{Position, Source};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::elem::Elem;
use tessera_isa::ops::{Family, Opcode};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Loc, SLayout, Tile, TileType};
use tessera_plan::MemoryMap;

#[test]
fn words_wrap_and_long_words_are_cut() {
    assert_eq!(wrap("a bb ccc", 4), ["a bb", "ccc"]);
    assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
    assert_eq!(wrap("", 3), [""]);
}

#[test]
fn tables_fit_the_page() {
    let mut t = Table::new(["name", "text"]);
    t.row(["x", &"word ".repeat(60)]);
    assert!(t.render().lines().all(|l| l.chars().count() <= WIDTH));
    assert!(t.render().lines().count() > 4);
}

#[test]
fn small_arrays_are_whole_and_big_ones_show_their_corners() {
    let bytes: Vec<u8> = (0..=255).collect();
    let small = Values { elem: Elem::U8, shape: &[2, 3], bytes: &bytes, defined: &[], format: None };
    assert_eq!(small.table(), "  0 1 2\n  3 4 5\n");
    let big = Values { elem: Elem::U8, shape: &[4, 4, 16], bytes: &bytes, defined: &[], format: None };
    assert!(big.table().ends_with("255\n") && big.table().contains('⋮'), "{}", big.table());
    let fp4 = Values { elem: Elem::F4e2m1x2, shape: &[1, 2], bytes: &[0x72], defined: &[], format: None };
    assert_eq!(fp4.table(), "  1.0 6.0\n");
}

fn nz(rows: u64, cols: u64) -> Tile {
    TileType::new(Loc::Vec, Elem::F16, rows, cols)
        .with_layout(BLayout::ColMajor, SLayout::RowMajor, 512)
        .resolve(Profile::Cpu)
}

#[test]
fn the_nz_plus_one_tile_shows_its_pitch() {
    let text = grid::draw(&nz(33, 32), 24, WIDTH);
    let first = text.lines().find(|l| l.trim_start().starts_with("0 │")).unwrap_or_default();
    assert!(first.contains(" │  528"), "{text}");
    assert!(legend(&nz(33, 32), "").iter().any(|(_, t)| t.starts_with("528 elements")), "{text}");
}

#[test]
fn slots_are_ordered_start_at_zero_and_end_at_the_end() {
    for (len, box_len) in [(1, 1), (7, 1), (100, 1), (33, 16), (64, 16), (4096, 16), (4096, 2), (40, 32), (1 << 31, 16)]
    {
        for budget in [4, 5, 7, 12, 30] {
            let slots = choose(len, box_len, budget);
            assert_eq!(slots.first(), Some(&Slot::Index(0)), "{len} {box_len} {budget}");
            assert_eq!(slots.last(), Some(&Slot::Index(len - 1)), "{len} {box_len} {budget}");
            assert!(slots.windows(2).all(|w| w[0].start() < w[1].start()), "{len} {box_len} {budget}: {slots:?}");
            assert!(slots.len() as u64 <= budget.max(7), "{len} {box_len} {budget}: {slots:?}");
        }
    }
}

#[test]
fn big_tiles_fit_the_page() {
    for tile in [nz(4096, 4096), nz(1, 16), nz(65521, 160_000)] {
        assert!(grid::draw(&tile, 24, WIDTH).lines().all(|l| l.chars().count() <= WIDTH));
    }
}

fn map_of(text: &str) -> MemoryMap {
    let program = Program::read(text, None);
    let kernel = program.entry().unwrap_or_else(|e| panic!("{e:?}"));
    let placement = kernel.plan(&[]).unwrap_or_else(|e| panic!("{e:?}"));
    tessera_plan::map(kernel.module(), kernel.func(), kernel.profile(), &placement)
}

#[test]
fn the_picture_shows_every_tile() {
    let map = map_of("%d = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>");
    let picture = map::draw(&map);
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    let rows: Vec<_> = map.memories.iter().flat_map(|m| &m.rows).collect();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| picture.contains(&format!("<title>{} ", row.name))));
}

#[test]
fn a_function_without_tiles_has_a_picture_too() {
    assert!(map::draw(&map_of("func.func @f() { return }")).contains("no tile"));
}

fn span_of(text: &str, word: &str) -> Span {
    let start = text.find(word).unwrap();
    Span::new(start as u32, (start + word.len()) as u32)
}

#[test]
fn places_labels_notes_and_help_are_shown() {
    let text = "%a = pto.tmov %s : T\n// one\n// two\npto.ttrans ins(%a : T) outs(%b : U)\n";
    let source = Source::new("p.pto", text.into());
    let d = Diagnostic::error("ttrans-shape", "src is 16x32 and dst is 16x32")
        .at(span_of(text, "%b : U"), "dst")
        .and_at(span_of(text, "%s : T"), "src comes from here")
        .note("the transposed domain is 32x16")
        .help("make dst 32x16");
    let wanted = "\
error[ttrans-shape]: src is 16x32 and dst is 16x32
 --> p.pto:4:29
  |
1 | %a = pto.tmov %s : T
  |               ------ src comes from here
...
4 | pto.ttrans ins(%a : T) outs(%b : U)
  |                             ^^^^^^ dst
  |
  = note: the transposed domain is 32x16
  = help: make dst 32x16

";
    assert_eq!(human(&d, &source, false), wanted);
    assert!(human(&d, &source, true).contains("\u{1b}["));
}

#[test]
fn a_huge_line_is_cut_around_the_place() {
    let text = format!("{}HERE{}\n", "é".repeat(1 << 20), "x".repeat(1 << 20));
    let source = Source::new("p.pto", text.clone());
    let d = Diagnostic::error("syntax-token", "no").at(span_of(&text, "HERE"), "this");
    let shown = human(&d, &source, false);
    assert!(shown.contains(&format!("p.pto:1:{}", (1 << 20) + 1)), "{shown}");
    assert!(shown.contains("HERE") && shown.contains("^^^^ this") && shown.len() < 1500, "{shown}");
}

#[test]
fn odd_spans_are_harmless() {
    let source = Source::new("p.pto", "a\n\tb\r\n\nc".into());
    for span in [Span::new(0, 0), Span::new(7, 9000), Span::new(4, 1), Span::new(u32::MAX, u32::MAX), Span::new(0, 8)] {
        let d = Diagnostic::warning("footprint", "m").at(span, "").and_at(Span::new(1, 2), "x");
        assert!(human(&d, &source, false).starts_with("warning[footprint]: m\n --> p.pto:"), "{span:?}");
    }
    let nowhere = human(&Diagnostic::error("entry", "m"), &source, false);
    assert_eq!(nowhere, "error[entry]: m\n--> p.pto\n\n");
}

#[test]
fn positions_count_lines_and_characters() {
    let s = Source::new("x", "ab\n→cd\n".into());
    assert_eq!(s.position(0), Position { line: 1, column: 1 });
    assert_eq!(s.position(3 + "→c".len()), Position { line: 2, column: 3 });
    assert_eq!(s.clamp(Span::new(4, 900)), 3..s.text.len());
    assert_eq!(s.line_range(1), 3..3 + "→cd".len());
}

#[test]
fn every_example_is_a_program() {
    let mut wrong = Vec::new();
    for op in Opcode::ALL.iter().copied().filter(|op| op.info().family != Family::Support) {
        for form in op.shapes() {
            let lines = examples(op, form);
            // A form that one way of writing does not have is empty there.
            for line in [&lines.asm, &lines.ssa, &lines.dps].into_iter().filter(|line| !line.is_empty()) {
                for text in [line.clone(), cut(line, 80).join("\n")] {
                    // On some profile: block scales are a5's alone.
                    let error =
                        |profile| Program::read(&text, Some(profile)).check().into_iter().find(|d| d.is_error());
                    let errors: Option<Vec<_>> = Profile::ALL.into_iter().map(error).collect();
                    let first = errors.and_then(|all| all.into_iter().next());
                    wrong.extend(first.map(|d| format!("{text}\n  {}: {}", d.rule, d.message)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
