//! Making instructions ready: everything known, checked, lowered, and kept for the next time.

use crate::engine::chip::{Chip, ObjectId, UNSET};
use crate::engine::global::Global;
use crate::engine::memory::on_core;
use crate::lower::{Effect, Failure, Places, Prepared};
use crate::nest::Place;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{AccToVec, Attrs, Inst};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Step;
use tessera_isa::tile::Loc;

/// More variants of one instruction than this are not kept.
const MAX_ENTRIES: usize = 256;

/// An instruction with its operands, about to be issued.
pub(crate) struct Request<'a> {
    pub opcode: Opcode,
    pub form: Form,
    /// Tile operands in the form's order, destinations last.
    pub tiles: SmallVec<[(Role, ObjectId); 6]>,
    pub scalars: SmallVec<[(Role, Number); 4]>,
    pub attrs: Attrs,
    pub global: Option<&'a Global>,
}

/// An instruction made ready for certain operands.
#[derive(Debug)]
pub(crate) struct Entry {
    pub key: Box<[u64]>,
    /// Copies the old contents into the result.
    pub init: Option<Prepared>,
    /// What the instruction moves; nothing for one that only binds.
    pub prepared: Option<Prepared>,
    /// When it last left something undefined.
    pub undefined_at: u64,
}

/// Variants of instructions, by everything that they depend on.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    pub entries: Vec<Entry>,
    /// When the current variant was chosen, in the chip's count.
    pub epoch: u64,
    last: usize,
    /// By variant, the one that was asked for after it: loops ask for them in the same order again and again.
    next: Vec<usize>,
    by_key: FxHashMap<Box<[u64]>, usize>,
}

impl Cache {
    /// Makes the variant with this key the current one, if there is one.
    #[inline]
    pub fn find(&mut self, key: &[u64]) -> bool {
        let is = |n: usize| self.entries.get(n).is_some_and(|e| *e.key == *key);
        if is(self.last) {
            return true;
        }
        let expected = self.next.get(self.last).copied().unwrap_or(0);
        if is(expected) {
            self.last = expected;
            return true;
        }
        match self.by_key.get(key).copied() {
            Some(at) => {
                self.follow(at);
                true
            }
            None => false,
        }
    }

    /// Makes another variant the current one, and expects it after this one from now on.
    fn follow(&mut self, at: usize) {
        if let Some(next) = self.next.get_mut(self.last) {
            *next = at;
        }
        self.last = at;
    }

    /// The current variant.
    pub fn current(&self) -> Option<&Entry> {
        self.entries.get(self.last)
    }

    /// Keeps a variant and makes it the current one.
    pub fn insert(&mut self, entry: Entry) {
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.clear();
            self.by_key.clear();
            self.next.clear();
        }
        self.follow(self.entries.len());
        self.by_key.insert(entry.key.clone(), self.last);
        self.next.push(0);
        self.entries.push(entry);
    }

    /// What the current variant touches of its buffer, relative to the view's first byte.
    pub fn global_span(&self) -> Option<(i64, i64)> {
        self.entries.get(self.last)?.prepared.as_ref()?.global_span()
    }

    /// Runs the current variant.
    #[inline]
    pub fn run(&mut self, chip: &mut Chip, start: usize, now: u64) -> Result<Effect, Failure> {
        let Some(entry) = self.entries.get_mut(self.last) else {
            return Ok(Effect::default());
        };
        if let Some(init) = &mut entry.init {
            init.run(&mut chip.memories, 0)?;
        }
        let Some(prepared) = &mut entry.prepared else {
            return Ok(Effect::default());
        };
        let effect = prepared.run(&mut chip.memories, start)?;
        if effect.left_undefined {
            entry.undefined_at = now;
        }
        Ok(effect)
    }
}

impl Chip {
    /// The instruction with everything known.
    pub fn instruction(&self, request: &Request<'_>) -> Result<Inst, Failure> {
        let mut inst = Inst::new(request.opcode, request.form, self.profile);
        inst.attrs = request.attrs.clone();
        for (role, id) in &request.tiles {
            let object = self.object(*id)?;
            if object.valid.contains(&UNSET)
                && tessera_isa::sem::effects(&inst).tiles.iter().any(|t| t.role == *role && t.needs_valid)
            {
                let name = if object.valid[0] == UNSET { "v_row" } else { "v_col" };
                return Err(tessera_check::valid_unset(request.opcode, *role, name).into());
            }
            inst.conv = inst.conv.or(object.conv);
            inst.tiles.push(self.arg(object, *role));
        }
        inst.scalars.extend(request.scalars.iter().map(|(role, v)| (*role, Some(*v))));
        if let Some(view) = request.global {
            self.view(view, &mut inst)?;
        }
        Ok(inst)
    }

    fn view(&self, view: &Global, inst: &mut Inst) -> Result<(), Failure> {
        if view.elem.is_fp4() && view.offset % 2 != 0 {
            let what = format!("the view starts at element {}, and two {} share a byte", view.offset, view.elem);
            return Err(Box::new(Diagnostic::error("tile-fp4", what).help("start it at an even element")));
        }
        let stored = inst.tile(Role::Src).map(|t| &t.tile);
        if let Some(acc) = stored.filter(|t| t.loc == Loc::Acc && t.elem != view.elem) {
            // tile-model.md 7: such a store goes through fixpipe.
            let what = format!("a store of {acc} into {} is recognised, and not executable yet", view.elem);
            let help = format!("move it to a tile of {} first", view.elem);
            return Err(Box::new(Diagnostic::error("not-executable", what).help(help)));
        }
        let mut arg = view.arg(view.elements(&self.memories));
        if view.grows && inst.op == Opcode::Tstore {
            arg.buffer = None;
        }
        inst.global = Some(arg);
        Ok(())
    }

    /// Lowers an instruction that the rules let pass; `None` for one that only binds.
    pub fn lowered(&mut self, request: &Request<'_>, inst: &Inst) -> Result<Option<Prepared>, Failure> {
        let uses_core1 = matches!(
            inst.attrs.acc_to_vec(),
            Some(AccToVec::SingleModeVec1 | AccToVec::DualModeSplitM | AccToVec::DualModeSplitN)
        );
        let mut places: SmallVec<[Place; 6]> = SmallVec::new();
        for (_, id) in &request.tiles {
            self.reserve_tile(*id, 0)?;
            let place = self.object(*id)?.place;
            if uses_core1 && on_core(place.memory, 1) != place.memory {
                self.reserve_tile(*id, 1)?;
            }
            places.push(place);
        }
        if matches!(inst.op, Opcode::Treshape | Opcode::Bitcast) && self.profile != Profile::Cpu {
            return Ok(None);
        }
        let at = Places { tiles: &places, global: request.global.map(|g| g.buffer), tracked: self.memories.tracked };
        Prepared::new(inst, at).map(Some)
    }

    /// The copy of one tile's bytes into another.
    pub fn copy_of(&mut self, from: ObjectId, to: ObjectId) -> Result<Prepared, Failure> {
        self.reserve_tile(from, 0)?;
        self.reserve_tile(to, 0)?;
        let (src, dst) = (self.object(from)?, self.object(to)?);
        let mut copy = Inst::new(Opcode::Treshape, Form::Plain, Profile::Cpu);
        copy.tiles.push(self.arg(src, Role::Src));
        copy.tiles.push(self.arg(dst, Role::Dst));
        let len = dst.bytes().min(src.bytes());
        let at = Places { tiles: &[src.place, dst.place], global: None, tracked: self.memories.tracked };
        Prepared::of_steps(&copy, &[Step::Bytes { src: 0, dst: 1, len }], at)
    }
}
