//! The spellings of a version of the text (isa/today.md 1.3). Printing changes no meaning: what the version that is read
//! means by leaving something out, and the printed one does not, is written.

use super::Printer;
use crate::dialect::{self, Part, is_core_flag, saturation};
use tessera_ir::{Dialect, Op, OpKind, Operand, TextForm};
use tessera_isa::codec::Number;
use tessera_isa::inst::{AttrValue, Coalesce, Precision};
use tessera_isa::ops::{AttrName, Form, Opcode, Role, Spelling};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Extent;

/// The words of precision, one for each instruction that has it (isa/today.md 1.1).
const PRECISIONS: [&str; 9] = ["div", "exp", "log", "sqrt", "rsqrt", "recip", "rem", "fmod", "pow"];

/// Rows of quantization by parameters or a value, without the ending that names them.
const WITH_PARAMETERS: &str = "_fp";

impl Printer<'_> {
    /// Whether the printed version has clauses, masks with an axis and the other spellings of 0.60.
    pub(super) fn is_later(&self) -> bool {
        self.dialect >= Dialect::V0_60
    }

    /// The name of an instruction in the version, without `pto.`.
    pub(super) fn mnemonic(&self, op: &Op, opcode: Opcode) -> &'static str {
        let name = opcode.printed();
        if op.form == TextForm::Dps {
            let base = opcode.mnemonic().strip_suffix(WITH_PARAMETERS);
            let has_parameters = matches!(op.kind, OpKind::Pto(_, Form::VectorQuant));
            match base.and_then(Opcode::parse) {
                Some(base) if self.is_later() && has_parameters => return base.mnemonic(),
                // The one that the assembler spells with a dot.
                Some(Opcode::Tmov) => return "tmov.fp",
                None if has_parameters && !self.is_later() => {
                    let own = Opcode::parse(&format!("{}{WITH_PARAMETERS}", opcode.mnemonic()));
                    return own.map_or(name, |own| if opcode == Opcode::Tmov { "tmov.fp" } else { own.mnemonic() });
                }
                _ => {}
            }
        }
        match opcode {
            Opcode::TfillpadExpand if self.is_later() && self.fills_larger(op) => Opcode::Tfillpad.mnemonic(),
            Opcode::TfillpadInplace if self.is_later() && self.fills_itself(op) => Opcode::Tfillpad.mnemonic(),
            // With index tiles later versions have a name of its own.
            Opcode::Tconcat
                if self.is_later() && op.form != TextForm::Asm && matches!(op.kind, OpKind::Pto(_, Form::Indexed)) =>
            {
                "tconcatidx"
            }
            Opcode::Subset if self.says_window(op) => name,
            _ => dialect::spelled(Part::Operation, name, self.dialect),
        }
    }

    /// Whether the declared areas of source and destination differ, which is what `tfillpad` means by expanding.
    fn fills_larger(&self, op: &Op) -> bool {
        let ends = op.operand(Role::Src).zip(op.operand(Role::Dst)).filter(|_| op.form == TextForm::Dps);
        let area = |o: &Operand| {
            let value = o.arg.value()?;
            self.module.types.get(self.func.value(value).ty).tile().map(|tile| [tile.rows, tile.cols])
        };
        ends.is_some_and(|(src, dst)| area(src) != area(dst))
    }

    /// Whether the source is the destination.
    fn fills_itself(&self, op: &Op) -> bool {
        let ends = op.operand(Role::Src).zip(op.operand(Role::Dst)).filter(|_| op.form == TextForm::Dps);
        ends.is_some_and(|(src, dst)| src.arg == dst.arg)
    }

    /// Whether a window says what is valid of it, which only `subview` can.
    pub(super) fn says_window(&self, op: &Op) -> bool {
        let result = op.results.first().and_then(|v| self.module.types.get(self.func.value(*v).ty).tile());
        let is_whole = result.is_none_or(|t| t.v_row == Extent::Static(t.rows) && t.v_col == Extent::Static(t.cols));
        op.operand(Role::ValidRow).is_some() || !is_whole
    }

    /// The operand that stands behind a word of its own in this version: `fp %f : F`, `pre_quant %q : i64`.
    pub(super) fn clause(&self, op: &Op) -> Option<(&'static str, Operand)> {
        let OpKind::Pto(opcode, form) = op.kind else { return None };
        if op.form != TextForm::Dps || !self.is_later() {
            return None;
        }
        match form {
            Form::VectorQuant => Some(("fp", *op.operand(Role::Fp)?)),
            Form::ScalarQuant if opcode == Opcode::Tinsert => Some(("pre_quant", *op.operand(Role::Quant)?)),
            _ => None,
        }
    }

    /// An attribute as the version writes it: its name and its value.
    pub(super) fn known_attr(&self, op: &Op, name: AttrName) -> Option<(&'static str, String)> {
        let known = op.known_attrs();
        let written = known.get(name).filter(|_| !self.is_meant(op, name));
        let plain = |value: AttrValue| super::inst::attr_text(name.info().kind, value);
        match name {
            AttrName::SatMode => {
                // Up to 0.27 the pair of types decides.
                let usual = || {
                    let is_left_out = known.get(name).is_none() && self.is_later();
                    saturation(&self.module.types, self.func, op).filter(|_| is_left_out).map(|s| s.usual.into())
                };
                let key = if self.is_later() { "satmode" } else { name.name() };
                Some((key, plain(written.or_else(usual)?)))
            }
            AttrName::PrecisionMode => {
                let value = self.said(op, name, written)?;
                let word = self.precision_word(op).filter(|_| self.is_later());
                match (word, value) {
                    (Some(word), AttrValue::Word(n)) => {
                        let mode = Precision::WORDS.get(usize::from(n)).map_or("", |w| w.name);
                        Some(("precisionType", format!("#pto<{word}_precision {}>", mode.to_ascii_lowercase())))
                    }
                    _ => Some((name.name(), plain(value))),
                }
            }
            AttrName::IsMsb | AttrName::Byte => self.byte(op, name),
            AttrName::PipeId => {
                let id = known.value(name).filter(|_| self.has_ids)?;
                Some((name.name(), plain(id)))
            }
            AttrName::Coalesce => self.coalesce(op, written),
            _ => Some((name.name(), plain(self.said(op, name, written)?))),
        }
    }

    /// Whether an attribute is only meant, and the printed text means it too.
    fn is_meant(&self, op: &Op, name: AttrName) -> bool {
        let is_implied = op.attrs.as_deref().is_some_and(|attrs| attrs.implied.contains(&name));
        is_implied && self.is_later() && self.is_stated
    }

    /// A value that is printed: not the default of one that stands beside an operand which is not there, nor a word that
    /// the attribute does not have, which is among the others as it was written.
    fn said(&self, op: &Op, name: AttrName, value: Option<AttrValue>) -> Option<AttrValue> {
        let alone = |role: Role| op.operand(role).is_none();
        value.filter(|value| {
            let is_default = name.info().beside.is_some_and(alone) && name.info().default == Some(*value);
            !is_default && *value != AttrValue::FOREIGN
        })
    }

    fn precision_word(&self, op: &Op) -> Option<&'static str> {
        let mnemonic = op.opcode()?.mnemonic();
        PRECISIONS.into_iter().filter(|word| mnemonic.contains(word)).max_by_key(|word| word.len())
    }

    /// The byte that THISTOGRAM counts, as `isMSB` or `byte`.
    fn byte(&self, op: &Op, name: AttrName) -> Option<(&'static str, String)> {
        let known = op.known_attrs();
        let src = op.operand(Role::Src).and_then(|o| o.arg.value());
        let size = src.and_then(|v| self.module.types.get(self.func.value(v).ty).tile()?.elem.size());
        let top = i128::from(size.unwrap_or(1)).saturating_sub(1);
        let (msb, byte) =
            (known.get(AttrName::IsMsb), known.get(AttrName::Byte).filter(|_| !self.is_meant(op, AttrName::Byte)));
        let number = byte.and_then(AttrValue::number).and_then(|n| if let Number::Int(n) = n { Some(n) } else { None });
        match (name, self.is_later()) {
            // One of them says it.
            (AttrName::Byte, true) => {
                let of_msb = || match msb {
                    Some(value) => Some(if value == AttrValue::Bool(true) { top } else { 0 }),
                    // Versions differ about the byte of 4-byte elements only.
                    None if top > 1 && known.get(AttrName::Byte).is_none() => Some(top),
                    None => None,
                };
                Some((name.name(), format!("{} : i32", number.or_else(of_msb)?)))
            }
            (AttrName::Byte, false) => {
                let n = number.filter(|n| *n != 0 && *n != top)?;
                Some((name.name(), format!("{n} : i32")))
            }
            (AttrName::IsMsb, false) => {
                let of_byte = number.filter(|n| *n == 0 || *n == top).map(|n| n != 0);
                let msb = msb.map(|value| value == AttrValue::Bool(true)).or(of_byte)?;
                Some((name.name(), msb.to_string()))
            }
            _ => None,
        }
    }

    /// The mode of a table: written from 0.60 on, by the shape of the indices before.
    fn coalesce(&self, op: &Op, written: Option<AttrValue>) -> Option<(&'static str, String)> {
        let name = AttrName::Coalesce;
        let is_table = op.operand(Role::Dst).is_some() && op.form == TextForm::Dps;
        let inferred = self.inferred_coalesce(op).filter(|_| is_table).map(AttrValue::from);
        let value = match self.is_later() {
            true => written.or(inferred)?,
            false => written.filter(|value| Some(*value) != inferred)?,
        };
        let AttrValue::Word(n) = value else { return None };
        let word = Coalesce::WORDS.get(usize::from(n)).map_or("", |w| w.name);
        let spelling =
            if self.is_later() && op.form == TextForm::Dps { Spelling::Of("coalesce") } else { Spelling::Bare };
        Some((name.name(), spelling.spell(word)))
    }

    /// By the shapes of data and indices (isa/memory.md 5).
    fn inferred_coalesce(&self, op: &Op) -> Option<Coalesce> {
        let valid = |role: Role| {
            let value = op.operand(role)?.arg.value()?;
            let tile = self.module.types.get(self.func.value(value).ty).tile()?;
            match (tile.v_row, tile.v_col) {
                (Extent::Static(rows), Extent::Static(cols)) => Some([rows, cols]),
                _ => None,
            }
        };
        let data = valid(Role::Dst)?;
        Some(if data == valid(Role::Idx)? { Coalesce::Elem } else { Coalesce::Row })
    }

    /// The name by which a flag between cores means the same in the printed version (isa/today.md 8.3). On other
    /// profiles all versions mean the same.
    pub(super) fn core_flag(&self, op: &Op) -> Option<&'static str> {
        let reads_as_old = self.module.dialect.is_none_or(|dialect| dialect < Dialect::V0_60);
        let mode = op.known_attrs().int(AttrName::FftsMode);
        let differs = reads_as_old && self.is_later() && self.module.profile == Some(Profile::A5);
        if !is_core_flag(op) || !differs || mode != Some(2) {
            return None;
        }
        let is_set = op.opcode() == Some(Opcode::SyncSet);
        Some(if is_set { "set_intra_block" } else { "wait_intra_block" })
    }

    /// The axis of a mask, which 0.60 writes behind the types; up to 0.27 only rows are masked.
    pub(super) fn mask_axis(&self, op: &Op, opcode: Opcode) -> Option<&'static str> {
        let own = opcode.info().axis.as_ref().map(|(_, axis)| *axis).filter(|axis| !axis.is_empty());
        let by_row = || {
            let has_mask = op.known_attrs().get(AttrName::MaskPattern).is_some() && op.form == TextForm::Dps;
            (has_mask && self.is_later()).then_some("row")
        };
        own.or_else(by_row)
    }

    /// Whether an instruction merges lists without scratch, which 0.60 has a word for.
    pub(super) fn has_no_scratch(&self, op: &Op) -> bool {
        let OpKind::Pto(opcode, Form::Lists) = op.kind else { return false };
        let takes = opcode.form(Form::Lists).is_some_and(|form| form.operand(Role::Tmp).is_some());
        takes && op.form == TextForm::Dps && op.operand(Role::Tmp).is_none() && self.is_later()
    }

    /// The version of a text that says none: 0.60 (isa/today.md 1.3), but 0.27 where 0.60 has no other name for a flag between
    /// cores that is used.
    pub(super) fn unstated(module: &tessera_ir::Module) -> Dialect {
        let has_flags = || module.funcs.iter().flat_map(|func| &func.ops).any(is_core_flag);
        if module.profile == Some(Profile::A5) && has_flags() { Dialect::V0_27 } else { Dialect::V0_60 }
    }

    /// Whether the module has to say its version: flags between cores mean something else without it.
    pub(super) fn must_state(&self) -> bool {
        let has_flags = || self.module.funcs.iter().flat_map(|func| &func.ops).any(is_core_flag);
        let is_later = self.module.dialect.is_some_and(|dialect| dialect >= Dialect::V0_60);
        is_later && self.module.profile == Some(Profile::A5) && has_flags()
    }
}
