//! Tiles: their types, and the instructions that make, bind and size them.

use super::state::{ANY_PAD, Ext, Object, Val};
use super::walk::Walk;
use crate::rules::{memory, tile, valid};
use tessera_ir::{Arg, Def, Op, Type, TypeId, ValueId};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Fault, Severity};
use tessera_isa::inst::{Attrs, ConvType, Place, Root};
use tessera_isa::layout::Layout;
use tessera_isa::ops::{AttrName, Bind, Opcode, Role};
use tessera_isa::sem::Sem;
use tessera_isa::tile::{Extent, Tile};

/// What a tile type is on the profile; worked out once per type.
#[derive(Clone)]
pub(super) struct TypeFacts {
    tile: Tile,
    conv: Option<ConvType>,
    layout: Layout,
    fault: Option<Fault>,
    /// A Left tile's written outer order was replaced, and nobody was told yet.
    replaced: bool,
}

impl Walk<'_> {
    fn facts(&mut self, ty: TypeId) -> Option<TypeFacts> {
        if self.types.len() <= ty.index() {
            self.types.resize(ty.index() + 1, None);
        }
        let profile = self.profile;
        let slot = self.types.get_mut(ty.index())?;
        if slot.is_none() {
            let (resolved, conv, replaced) = match self.module.types.get(ty) {
                Type::Tile(t) => (t.resolve(profile), None, t.replaces_blayout(profile)),
                Type::Conv(conv) => (conv.as_tile(), Some(*conv), false),
                ty @ Type::Vector(..) => (ty.on(profile)?, None, false),
                _ => return None,
            };
            let fault = match &conv {
                Some(conv) => tile::check_conv(conv, profile),
                None => tile::check_tile(&resolved, profile),
            };
            // The layout of a type that is no type may not even fit its own arithmetic.
            let sane = fault.as_ref().is_none_or(|f| !f.is_error());
            let layout = if sane { resolved.layout() } else { Layout::row_major(1, 1, 1) };
            *slot = Some(TypeFacts { tile: resolved, conv, layout, fault, replaced });
        }
        let facts = slot.clone();
        if let Some(slot) = slot {
            slot.replaced = false;
        }
        facts
    }

    /// A new tile of the value's type; breaks of `tile-*` are reported where the type is written.
    fn tile(&mut self, value: ValueId, unset: Ext) -> Option<usize> {
        let facts = self.facts(self.func.value(value).ty)?;
        let defined = self.func.value(value);
        let (name, span) = (self.module.names.text(defined.name), defined.type_span);
        if facts.replaced {
            let text = format!(
                "{} keeps Left tiles {}, so the written blayout of %{name} is replaced",
                self.profile, facts.tile.blayout
            );
            self.report.diagnostics.push(Diagnostic::new("left-blayout", Severity::Note, text).at(span, ""));
        }
        let mut broken = None;
        if let Some(fault) = facts.fault {
            if fault.is_error() {
                broken = Some(fault.rule);
                if let Def::Result(op, _) = defined.def {
                    self.report.refuse(self.func.op(op).span, fault.rule);
                }
            }
            if self.report.is_new(span, fault.rule) {
                self.report.diagnostics.push(Diagnostic::from(fault).at(span, format!("the type of %{name}")));
            }
        }
        let ext = |e: Extent| e.known().map_or(unset, Ext::Known);
        let root = Root::Auto(self.next_auto);
        self.next_auto += 1;
        let id = self.state.add(Object {
            tile: facts.tile,
            conv: facts.conv,
            layout: facts.layout,
            valid: [ext(facts.tile.v_row), ext(facts.tile.v_col)],
            place: Some(Place { root, start: 0 }),
            manual: false,
            broken,
            storage: 0,
        });
        self.state.change(id, |object| object.storage = id);
        Some(id)
    }

    pub(super) fn set_unknowns(&mut self, values: &[ValueId]) {
        values.iter().for_each(|value| self.set_by_type(*value, false));
    }

    /// Only the type of the value is known. An argument of the function, or input of a listing, has a place of its own,
    /// and its file or caller sets what is `?`.
    pub(super) fn set_by_type(&mut self, value: ValueId, is_argument: bool) {
        let val = match self.ty(value) {
            Type::Tile(_) | Type::Conv(_) | Type::Vector(..) => {
                self.tile(value, Ext::Unknown).map_or(Val::None, |id| {
                    if !is_argument {
                        self.state.change(id, |object| object.place = None);
                    }
                    Val::Tile(id)
                })
            }
            Type::Ptr(..) if self.is_chip_pointer(value) => Val::Scalar(None),
            ty @ (Type::Ptr(..) | Type::View(_) | Type::Memref(_)) => self.global_of_type(ty, is_argument),
            Type::Scalar(_) => Val::Scalar(None),
            Type::Event | Type::Opaque(_) | Type::Micro(_) => Val::None,
        };
        self.set(value, val);
    }

    /// The tile that an instruction's result is: `?` means all of it (syntax.md 5).
    pub(super) fn result_tile(&mut self, value: ValueId) -> Option<usize> {
        let id = self.tile(value, Ext::Unknown)?;
        self.state.change(id, Object::fill);
        self.bind_early(value, id);
        self.set(value, Val::Tile(id));
        Some(id)
    }

    fn bind_early(&mut self, value: ValueId, id: usize) {
        if let Some(address) = self.early.get(&value).copied() {
            self.bind(id, address);
        }
    }

    /// Binds a tile to an address that is in order, or to one that is not known.
    fn bind(&mut self, id: usize, address: Option<i128>) {
        self.state.change(id, |object| {
            object.manual = true;
            object.storage = id;
            object.place = address
                .and_then(|a| u64::try_from(a).ok())
                .map(|start| Place { root: Root::Memory(object.tile.loc), start });
        });
        self.state.aliases.forget(id);
    }

    /// The address of an operation, once `tassign-*` let it pass; what they refuse is not known any more.
    fn address(&mut self, op: &Op, tile: &Tile, bytes: u64) -> Option<Option<i128>> {
        let operand = op.operand(Role::Addr)?;
        let address = self.int(operand.arg);
        let Some(fault) = address.and_then(|a| memory::check_address(tile.loc, bytes, a, self.profile)) else {
            return Some(address);
        };
        self.found(op, &[], fault);
        Some(None)
    }

    /// `pto.alloc_tile [addr = %a] [valid_row = %r] [valid_col = %c]`.
    pub(super) fn alloc(&mut self, op: &Op) {
        let Some(result) = op.results.first().copied() else { return };
        let unset = if self.dead { Ext::Unknown } else { Ext::Unset };
        let Some(id) = self.tile(result, unset) else { return };
        self.set(result, Val::Tile(id));
        self.bind_early(result, id);
        let Some((tile, bytes)) = self.sound(id) else {
            if op.operand(Role::Addr).is_some() {
                self.bind(id, None);
            }
            return;
        };
        if let Some(address) = self.address(op, &tile, bytes) {
            self.bind(id, address);
        }
        self.size(op, id, op.operand(Role::ValidRow).map(|o| o.arg), op.operand(Role::ValidCol).map(|o| o.arg));
    }

    /// A tile whose type is in order, with its bytes.
    fn sound(&self, id: usize) -> Option<(Tile, u64)> {
        let object = Some(&self.state.objects[id]).filter(|o| o.broken.is_none())?;
        let bytes = object.conv.map_or(object.tile.bytes(), |conv| conv.bytes());
        Some((object.tile, bytes))
    }

    /// `pto.tassign %t, @tile(0x…)` and `%r = pto.tassign %t, %a : T -> T`.
    pub(super) fn assign(&mut self, op: &Op) {
        let named = op.operands.iter().find(|o| o.role != Role::Addr).and_then(|o| o.arg.value());
        let Some(named) = named else { return };
        let Val::Tile(id) = self.get(named) else {
            // Named before it is defined: the address waits.
            let Some(facts) = self.facts(self.func.value(named).ty) else { return };
            let bytes = facts.conv.map_or(facts.tile.bytes(), |conv| conv.bytes());
            if let Some(address) = self.address(op, &facts.tile, bytes) {
                self.early.insert(named, address);
            }
            return;
        };
        let address = self.sound(id).and_then(|(tile, bytes)| self.address(op, &tile, bytes)).flatten();
        self.bind(id, address);
        if let Some(result) = op.results.first() {
            self.set(*result, Val::Tile(id));
        }
    }

    pub(super) fn set_validshape(&mut self, op: &Op) {
        let tile = op.operands.first().and_then(|o| o.arg.value());
        if let Some(Val::Tile(id)) = tile.map(|v| self.get(v)) {
            let arg = |n: usize| op.operands.get(n).map(|o| o.arg);
            self.size(op, id, arg(1), arg(2));
        }
    }

    /// What is valid of a window: what is written, where its type leaves it open (isa/today.md 5.1).
    pub(super) fn window_size(&mut self, op: &Op, id: usize) {
        let [rows, cols] = [Role::ValidRow, Role::ValidCol].map(|role| op.operand(role).map(|o| o.arg));
        if rows.is_some() || cols.is_some() {
            return self.size(op, id, rows, cols);
        }
        let tile = self.state.objects[id].tile;
        if op.opcode() == Some(Opcode::Subset) && [tile.v_row, tile.v_col].contains(&Extent::Dynamic) {
            let what = format!("the window {tile} has `?` for an extent, and no valid region is written");
            let fault = Fault::new("valid-unset", what).help("write valid [%rows, %cols] behind the sizes");
            self.found(op, &[], fault);
        }
    }

    fn size(&mut self, op: &Op, id: usize, rows: Option<Arg>, cols: Option<Arg>) {
        let Some((tile, _)) = self.sound(id) else { return };
        let given = [rows, cols];
        let values = given.map(|arg| arg.and_then(|arg| self.int(arg)));
        let fault = valid::check_valid(&tile, values);
        let refused = fault.is_some();
        self.state.change(id, |object| {
            object.set_open(|axis, now| {
                let known = values[axis].filter(|_| !refused).and_then(|v| u64::try_from(v).ok());
                given[axis].map_or(now, |_| known.map_or(Ext::Unknown, Ext::Known))
            });
        });
        if let Some(fault) = fault {
            self.found(op, &[], fault);
        }
    }

    /// Inside a loop that is walked once: what an instruction may change in a tile is not known.
    pub(super) fn forget_tile(&mut self, id: usize, opcode: Opcode, role: Role) {
        let info = opcode.info();
        let moves = match info.binds {
            Some(Bind::Address) => true,
            Some(Bind::Window | Bind::Bytes | Bind::Storage | Bind::InPlace | Bind::Scale) => role == Role::Dst,
            Some(Bind::New) | None => false,
        };
        let resizes = matches!(info.sem, Sem::Resizes) || info.expands && role == Role::Dst;
        if !moves && !resizes {
            return;
        }
        self.state.change(id, |object| {
            if moves {
                object.place = None;
            }
            if resizes {
                object.set_open(|_, _| Ext::Unknown);
            }
        });
    }

    pub(super) fn forget_config(&mut self) {
        self.state.config = Attrs::default().with(AttrName::Pad, ANY_PAD);
    }

    /// `pto.setfmatrix` and `pto.set_img2col_padding` (ops.md 7).
    pub(super) fn configure(&mut self, op: &Op, opcode: Opcode) {
        if opcode == Opcode::SetImg2colPadding {
            let value: Option<Number> = op.operands.first().and_then(|o| self.number(o.arg));
            let given = value.or(op.known_attrs().pad_value());
            self.state.config.set(AttrName::PadValue, given);
        } else {
            self.state.config = op.known_attrs().or(&self.state.config);
        }
    }
}
