//! Text that was damaged at random: reading ends with sentences, never with a panic, and what is read without errors is
//! printed and read again as the same program. Runs for about a second; numbers repeat.

use super::support::{corpus, dump};
use std::time::{Duration, Instant};
use tessera_asm::{convert, parse, parse_bytes, print};
use tessera_ir::TextForm;
use tessera_testkit::random::Random;

/// Pieces that are put in: tokens of the language, and things that are none.
const PIECES: &[&str] = &[
    "%",
    "%x",
    "@",
    "!",
    "#",
    "#a = 1",
    "^bb0:",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "->",
    "-",
    ";",
    "?",
    "\"",
    "\n",
    " ",
    "//",
    "loc(",
    "0x",
    "99999999999999999999",
    "1e999",
    "init(%x)",
    "outs(",
    "ins(",
    "module {",
    "return",
    "scf.for",
    "pto.tmov",
    "tinsert",
    "!pto.tile<",
    "!pto.tile<8x8xf32>",
    "index",
    "\u{e9}",
    "\0",
    "%0:2 =",
    "%0#1",
    "scf.if %c {",
    "func.func @f() {",
    "arith.constant 1 : i1",
];

fn below(random: &mut Random, n: usize) -> usize {
    random.below(n as u64) as usize
}

fn damage(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(3) {
        let at = below(random, bytes.len() + 1);
        let end = (at + below(random, 12)).min(bytes.len());
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = PIECES[below(random, PIECES.len())];
                drop(bytes.splice(at..at, piece.bytes()));
            }
            3 => {
                let copied = bytes[at..end].to_vec();
                let to = below(random, bytes.len() + 1);
                drop(bytes.splice(to..to, copied));
            }
            _ => {
                if let Some(b) = bytes.get_mut(at) {
                    *b = random.next() as u8;
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn check(text: &str) -> bool {
    let parsed = parse(text, None);
    for d in &parsed.diagnostics {
        assert!(!d.message.is_empty(), "{text}");
        if let Some(span) = d.span {
            assert!(span.start <= span.end, "{d:?}\n{text}");
        }
    }
    if parsed.has_errors() {
        return false;
    }
    let printed = print(&parsed);
    let again = parse(&printed, None);
    assert!(!again.has_errors(), "{:#?}\nread:\n{text}\nprinted:\n{printed}", again.diagnostics);
    assert_eq!(dump(&parsed.module), dump(&again.module), "read:\n{text}\nprinted:\n{printed}");
    assert_eq!(printed, print(&again), "read:\n{text}");
    for to in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
        let converted = convert(&parsed, to);
        let back = parse(&converted, None);
        assert!(!back.has_errors(), "{:#?}\nread:\n{text}\nas {to:?}:\n{converted}", back.diagnostics);
    }
    true
}

#[test]
fn damaged_programs_are_read_or_refused() -> std::io::Result<()> {
    let files = corpus()?;
    let mut random = Random(0x5EED_1234_ABCD_0008);
    let end = Instant::now() + Duration::from_millis(1000);
    let (mut read, mut refused) = (0, 0);
    // At least one round over the corpus, however slow the machine is.
    for n in 0.. {
        let (_, text) = &files[n % files.len()];
        if check(&damage(text, &mut random)) {
            read += 1
        } else {
            refused += 1
        }
        if n >= files.len() && Instant::now() >= end {
            break;
        }
    }
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
    Ok(())
}

#[test]
fn random_bytes_and_tokens_are_refused() {
    let mut random = Random(0xBAD_5EED);
    let mut refused = 0;
    for _ in 0..2000 {
        let len = below(&mut random, 200);
        let bytes = random.bytes(len);
        refused += usize::from(parse_bytes(&bytes, None).has_errors());
        let tokens: String = (0..random.below(40)).map(|_| PIECES[below(&mut random, PIECES.len())]).collect();
        check(&tokens);
    }
    assert!(refused > 1900, "{refused}");
}

#[test]
fn every_prefix_of_a_program_is_read_or_refused() -> std::io::Result<()> {
    for (_, text) in corpus()?.iter().filter(|(_, t)| t.len() < 1500) {
        for end in (0..text.len()).filter(|n| text.is_char_boundary(*n)) {
            check(&text[..end]);
        }
    }
    Ok(())
}
