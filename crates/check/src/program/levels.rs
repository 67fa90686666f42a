//! What the assembler asks at a level (isa/today.md 9): addresses, bindings, reserved buffers and scratch. Without a level
//! nothing is asked, but for the area of UB in which the library keeps scratch that is left out.

use super::report::Report;
use tessera_ir::{Func, Module, Op, OpKind, ValueId, fifo};
use tessera_isa::diag::{Diagnostic, Fault};
use tessera_isa::ops::{AttrName, Bind, Judged, Opcode, Order, Role, RuleKind, wraps_through_scratch};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Fifo as Part;
use tessera_isa::tile::{LayoutName, Loc};

/// The bytes of UB that the library takes where scratch is left out.
const AREA: std::ops::Range<i64> = 184 << 10..192 << 10;

/// All rules about levels, of a kernel without calls.
pub(super) fn check(module: &Module, func: &Func, profile: Profile, report: &mut Report) {
    if let Some(level) = module.level {
        func.walk(&mut |_, op, _| {
            let Some(opcode) = op.opcode() else { return };
            address(func, op, opcode, level, report);
            reserve(op, level, report);
            if level == 3 {
                scratch(module, func, (op, opcode), profile, report);
            }
        });
    }
    if profile == Profile::A2a3 {
        area(module, func, report);
    }
}

/// `level-addr` and `level-assign`.
fn address(func: &Func, op: &Op, opcode: Opcode, level: u8, report: &mut Report) {
    let is_written = op.operand(Role::Addr).is_some();
    match (opcode.info().binds, level) {
        (Some(Bind::New), 3) if !is_written => {
            let what = format!("{opcode} has no address, and level 3 places nothing");
            report.fault(op, "no address", Fault::new("level-addr", what).help("write addr = %a"));
        }
        (Some(Bind::New), 1 | 2) if is_written => {
            let what = format!("{opcode} has an address, and level {level} places every tile");
            report.fault(op, "an address", Fault::new("level-addr", what).help("leave addr out, or use level 3"));
        }
        (Some(Bind::Address), 1 | 2) => {
            let what = format!("tassign binds a tile, and level {level} places every tile");
            report.fault(op, "", Fault::new("level-assign", what).help("leave it out, or use level 3"));
        }
        (Some(Bind::Address), _) if is_automatic(func) => {
            let what = "tassign stands in a program whose order is left to the assembler, which level 3 does not order";
            let help = "write the flags: pto.sync = \"manual\", or allocate the tile with addr";
            report.fault(op, "", Fault::new("level-assign", what).help(help));
        }
        _ if level == 3 && matches!(fifo::part(op), Some(Part::Declare)) => {
            let made = op.results.first().copied();
            if made.is_some_and(|tile| is_assigned(func, tile)) && !made.is_some_and(|tile| is_popped(func, tile)) {
                return;
            }
            if !made.is_some_and(|tile| is_popped(func, tile)) {
                let what = "declare_tile makes a tile that neither a tpop nor a tassign gives a place";
                report.fault(op, "", Fault::new("level-addr", what).help("bind it with tassign"));
            }
        }
        _ => {}
    }
}

/// Whether flags stand in a function whose order is said to be automatic.
fn is_automatic(func: &Func) -> bool {
    let says = |(key, value): &(String, String)| key == "pto.sync" && value.contains("auto");
    let mut is_manual = false;
    func.walk(&mut |_, op, _| is_manual |= op.opcode().and_then(Opcode::order).is_some_and(Order::is_manual));
    func.attrs.iter().any(says) && is_manual
}

fn is_assigned(func: &Func, tile: ValueId) -> bool {
    names(func, tile, &|op| op.opcode().and_then(|o| o.info().binds) == Some(Bind::Address))
}

fn is_popped(func: &Func, tile: ValueId) -> bool {
    names(func, tile, &|op| matches!(fifo::part(op), Some(Part::Pop(_))))
}

/// Whether an operation of a kind names a value.
fn names(func: &Func, value: ValueId, is: &dyn Fn(&Op) -> bool) -> bool {
    let mut found = false;
    func.walk(&mut |_, op, _| found |= is(op) && op.values().any(|v| v == value));
    found
}

/// `level-reserve`.
fn reserve(op: &Op, level: u8, report: &mut Report) {
    if !matches!(fifo::part(op), Some(Part::Reserve)) {
        return;
    }
    let attrs = op.known_attrs();
    let has_base = attrs.int(AttrName::Base).is_some();
    let is_auto = attrs.flag(AttrName::Auto);
    let (what, help) = match (level, is_auto, has_base) {
        (3, false, true) | (1 | 2, true, false) => return,
        (3, ..) => {
            ("level 3 places nothing, and reserve_buffer has no base".to_string(), "write auto = false, base = 0")
        }
        _ => (format!("level {level} places every buffer, and reserve_buffer has a base"), "write auto = true"),
    };
    report.fault(op, "", Fault::new("level-reserve", what).help(help));
}

/// The tiles of an instruction by their types.
fn tiles(module: &Module, func: &Func, op: &Op, profile: Profile) -> Vec<Judged> {
    let tile = |role: Role, value: ValueId| Some((role, module.types.get(func.value(value).ty).on(profile)?));
    let operands = op.operands.iter().filter_map(|o| tile(o.role, o.arg.value()?));
    let results = op.dsts().into_iter().filter(|(_, v)| op.results.contains(v));
    operands.chain(results.filter_map(|(role, value)| tile(role, value))).collect()
}

/// `level-tmp`.
fn scratch(module: &Module, func: &Func, (op, opcode): (&Op, Opcode), profile: Profile, report: &mut Report) {
    let OpKind::Pto(_, form) = op.kind else { return };
    let tiles = tiles(module, func, op, profile);
    if tiles.iter().any(|(role, _)| *role == Role::Tmp)
        || !opcode.wants_scratch(form, op.known_attrs(), profile, &tiles)
    {
        return;
    }
    let what = format!("{opcode} uses scratch on {profile}, and level 3 finds none by itself");
    report.fault(op, "no tmp", Fault::new("level-tmp", what).help("write the scratch tile, with an address"));
}

/// `tmp-area`: tiles with an address where the library keeps scratch that is left out.
fn area(module: &Module, func: &Func, report: &mut Report) {
    let mut user = None;
    let mut placed = Vec::new();
    let constants = tessera_ir::scalar::Constants::new(module, func);
    func.walk(&mut |_, op, _| {
        let Some(opcode) = op.opcode() else { return };
        let tiles = tiles(module, func, op, Profile::A2a3);
        if user.is_none() && takes_area(op, opcode, &tiles) {
            user = Some((opcode, op.span));
        }
        let is_bound = matches!(opcode.info().binds, Some(Bind::New | Bind::Address));
        let tile = op.results.first().copied().or_else(|| op.operand(Role::Tile).and_then(|o| o.arg.value()));
        let tile = tile.and_then(|value| module.types.get(func.value(value).ty).on(Profile::A2a3));
        let at = op.operand(Role::Addr).and_then(|o| constants.get(o.arg));
        if let (true, Some(tile), Some(at)) = (is_bound, tile.filter(|tile| tile.loc == Loc::Vec), at) {
            let end = at.saturating_add(i64::try_from(tile.bytes()).unwrap_or(i64::MAX));
            if at < AREA.end && end > AREA.start {
                placed.push((op.span, at, end));
            }
        }
    });
    let Some((opcode, span)) = user else { return };
    for (at, from, to) in placed {
        if report.is_new(at, "tmp-area") {
            let what = format!(
                "the tile lies at {from:#x} to {to:#x}, and {opcode} without tmp uses UB {:#x} to {:#x} as scratch",
                AREA.start, AREA.end
            );
            let found = Diagnostic::warning("tmp-area", what).at(at, "in the library's scratch");
            let help = format!("move the tile below {:#x}, or give {opcode} a tmp", AREA.start);
            report.diagnostics.push(found.and_at(span, "this instruction takes it").help(help));
        }
    }
}

/// Whether the library takes the area for the scratch of an instruction.
fn takes_area(op: &Op, opcode: Opcode, tiles: &[Judged]) -> bool {
    let tile = |role: Role| tiles.iter().find(|(r, _)| *r == role).map(|(_, tile)| tile);
    if tile(Role::Tmp).is_some() {
        return false;
    }
    let expands = opcode.info().rules.iter().any(|rule| rule.kind == RuleKind::ExpandTmp);
    let is_column = |role: Role| tile(role).is_some_and(|tile| tile.layout_name() == LayoutName::Dn && tile.cols == 1);
    let types = tile(Role::Src).zip(tile(Role::Dst));
    let wraps = types.is_some_and(|(src, dst)| wraps_through_scratch(op.known_attrs(), src.elem, dst.elem));
    let is_window = tile(Role::Dst1).is_some() && opcode == Opcode::Textract;
    let is_bytes = tile(Role::Src).is_some_and(|tile| tile.elem.bits() == 8);
    expands && [Role::Src0, Role::Src1].into_iter().any(is_column)
        || wraps && opcode == Opcode::Tcvt
        || is_window && is_bytes
}
