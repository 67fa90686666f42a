//! Reference pages: pictures, examples, and what pictures say of sources and users.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera_cli::commands::explain::reference::{instance, page, picture, sample};
use tessera_cli::commands::explain::sections;
use tessera_cli::render::document::{Block, html};
use tessera_draw::flow::{At, Flow};
use tessera_isa::ops::Opcode;

#[test]
fn every_instruction_has_a_page_with_small_pictures() {
    for op in sections().into_iter().flat_map(|(_, ops)| ops) {
        let page = page(op);
        assert!(html(&op.title(), &page).ends_with(">\n"), "{op}");
        for block in &page {
            if let Block::Picture { svg, .. } = block {
                assert!(svg.len() < 60_000, "{op}: {} bytes", svg.len());
            }
        }
    }
}

/// Whatever writes elements has a picture, and an example that is legal.
#[test]
fn what_moves_or_computes_has_a_picture_and_an_example() {
    let (mut without, mut idle) = (Vec::new(), Vec::new());
    for op in Opcode::ALL.iter().copied().filter(|op| op.info().sem.computes()) {
        let Some(sample) = sample(op) else {
            without.push(op.mnemonic());
            continue;
        };
        if !sample.runs {
            idle.push(op.mnemonic());
        }
        if picture(op).is_none() {
            without.push(op.mnemonic());
        }
    }
    assert!(without.is_empty(), "no picture: {without:?}");
    assert!(idle.is_empty(), "the example does not run: {idle:?}");
}

/// Both directions of a picture say the same.
#[test]
fn sources_and_users_agree() {
    for op in Opcode::ALL.iter().copied().filter(|op| op.info().sem.computes()) {
        let Some(inst) = sample(op).and_then(|s| instance(op, &s)) else { continue };
        let inst = tessera_draw::sample::known(&inst);
        let read = |tile: usize, byte: i64, len: u64| tessera_draw::sample::element(&inst, tile, byte, len);
        let flow = Flow::of(&inst, Some(&read)).unwrap();
        for (operand, o) in flow.operands.iter().enumerate().filter(|(_, o)| o.is_dst) {
            for at in [At { operand, row: 0, col: 0 }, At { operand, row: o.rows - 1, col: o.cols - 1 }] {
                for from in flow.sources(at) {
                    let o = &flow.operands[from.operand];
                    assert!(from.row < o.rows && from.col < o.cols, "{op}: {at:?} from {from:?}");
                    assert!(flow.users(from).contains(&at), "{op}: {at:?} from {from:?}");
                }
                assert!(flow.formula(at).contains(" = "), "{op}");
            }
        }
        assert!(flow.operands.iter().any(|o| o.is_dst), "{op} writes nothing");
    }
}
