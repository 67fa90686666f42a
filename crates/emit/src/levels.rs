//! Levels of the public assembler: who gives tiles their addresses (build.md 1).

use tessera_ir::{Module, Op};
use tessera_isa::diag::Diagnostic;
use tessera_isa::ops::{Bind, Role};

/// What breaks a level: at 1 and 2 an address is written, at 3 one is missing.
pub fn levels(module: &Module, level: u8) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for func in &module.funcs {
        func.walk(&mut |_, op, _| {
            let tile = || {
                op.results.first().map_or("the tile".into(), |v| format!("%{}", module.names.text(func.value(*v).name)))
            };
            found.extend(finding(tile, op, level));
        });
    }
    found
}

fn finding(tile: impl Fn() -> String, op: &Op, level: u8) -> Option<Diagnostic> {
    let is_new = op.opcode()?.info().binds == Some(Bind::New);
    let address = op.operand(Role::Addr).filter(|_| is_new);
    match (level, address) {
        (1 | 2, Some(address)) => {
            let what = format!("{} has an address, and at level {level} all tiles are placed", tile());
            let found = Diagnostic::error("level-addr", what).at(address.span, "this address");
            Some(found.help("take the address out, or use level 3"))
        }
        (3, None) if is_new => {
            let what = format!("{} has no address, and at level 3 nothing is placed", tile());
            Some(
                Diagnostic::error("level-no-addr", what)
                    .at(op.span, "this tile")
                    .help("write addr = …, or use level 2"),
            )
        }
        _ => None,
    }
}
