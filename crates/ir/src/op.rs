//! Operations.

use crate::{BlockId, Func, LocId, Module, NameId, ValueId};
use smallvec::SmallVec;
use std::num::IntErrorKind;
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::inst::Attrs;
use tessera_isa::ops::{AttrName, Effect, Form, IdArray, Opcode, Order, Role};
use tessera_isa::profile::Profile;
use tessera_micro::{Call, Inst};

/// The attribute of a loop that is a vecscope (micro/model.md 2).
pub const VECSCOPE_LOOP: &str = "llvm.loop.aivector_scope";

/// The value or literal of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    Value(ValueId),
    /// A literal, as the assembly form and `@tile(0x…)` write it.
    Int(i64),
}

impl Arg {
    /// The value, if it is one.
    pub fn value(self) -> Option<ValueId> {
        match self {
            Arg::Value(v) => Some(v),
            Arg::Int(_) => None,
        }
    }
}

/// An operand: its role in the operation, and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// Its role in the operation.
    pub role: Role,
    pub arg: Arg,
    pub span: Span,
    /// The place of its type in the text; the operand's own span if no type is written.
    pub type_span: Span,
}

/// The textual form an instruction was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextForm {
    Asm,
    /// Level 1, SSA: destinations are results.
    Ssa,
    /// Level 2, DPS: destinations are operands.
    Dps,
}

/// Enums whose variants are MLIR's own words.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the variants are MLIR's own words")]
        pub enum $name { $($variant,)* }

        impl $name {
            /// All of them, in the order of MLIR's numbers.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The word, without its dialect.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// What a word means.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|w| w.name() == word)
            }
        }
    )*};
}

words! {
    ArithOp {
        Addi "addi", Subi "subi", Muli "muli",
        Divsi "divsi", Divui "divui", Remsi "remsi", Remui "remui",
        Minsi "minsi", Maxsi "maxsi", Minui "minui", Maxui "maxui",
        Andi "andi", Ori "ori", Xori "xori",
        Shli "shli", Shrsi "shrsi", Shrui "shrui",
        Ceildivsi "ceildivsi", Floordivsi "floordivsi", Ceildivui "ceildivui",
        Absi "absi",
    }

    /// Arithmetic on floats, with the dialect (isa/structure.md 7).
    FloatOp {
        Addf "arith.addf", Subf "arith.subf", Mulf "arith.mulf", Divf "arith.divf", Remf "arith.remf",
        Negf "arith.negf",
        Maximumf "arith.maximumf", Minimumf "arith.minimumf", Maxnumf "arith.maxnumf", Minnumf "arith.minnumf",
        Sqrt "math.sqrt", Exp "math.exp", Exp2 "math.exp2", Log "math.log", Log2 "math.log2", Rsqrt "math.rsqrt",
        Fma "math.fma", Absf "math.absf", Floor "math.floor", Ceil "math.ceil", Powf "math.powf",
    }

    /// Comparison of floats: ordered ones are false with a NaN, unordered ones true.
    FloatPred {
        False "false", Oeq "oeq", Ogt "ogt", Oge "oge", Olt "olt", Ole "ole", One "one", Ord "ord",
        Ueq "ueq", Ugt "ugt", Uge "uge", Ult "ult", Ule "ule", Une "une", Uno "uno", True "true",
    }

    CmpPred {
        Eq "eq", Ne "ne",
        Slt "slt", Sle "sle", Sgt "sgt", Sge "sge",
        Ult "ult", Ule "ule", Ugt "ugt", Uge "uge",
    }

    CastOp {
        IndexCast "index_cast", IndexCastui "index_castui",
        Extsi "extsi", Extui "extui", Trunci "trunci",
        Extf "extf", Truncf "truncf", Sitofp "sitofp", Uitofp "uitofp", Fptosi "fptosi", Fptoui "fptoui",
        Bitcast "bitcast",
    }
}

impl ArithOp {
    /// The number of operands.
    pub fn arity(self) -> usize {
        if self == ArithOp::Absi { 1 } else { 2 }
    }
}

impl FloatOp {
    /// The number of operands.
    pub fn arity(self) -> usize {
        use FloatOp::*;
        match self {
            Negf | Sqrt | Exp | Exp2 | Log | Log2 | Rsqrt | Absf | Floor | Ceil => 1,
            Fma => 3,
            _ => 2,
        }
    }
}

impl CastOp {
    /// Whether its operand and its result are floats.
    pub fn floats(self) -> (bool, bool) {
        match self {
            CastOp::Extf | CastOp::Truncf => (true, true),
            CastOp::Sitofp | CastOp::Uitofp => (false, true),
            CastOp::Fptosi | CastOp::Fptoui => (true, false),
            _ => (false, false),
        }
    }
}

/// The kind of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// An instruction of the table, in one of its forms.
    Pto(Opcode, Form),
    /// An instruction of the second table, below the tile level.
    Micro(Box<Call>),
    /// A PTO instruction outside the table: recognised, not executable.
    Other(&'static str),
    /// `arith.constant`: integers are kept as the bits of their width, sign-extended.
    Constant(Number),
    /// `arith.constant dense<[…]>`: the numbers of a vector.
    Dense(Vec<Number>),
    Arith(ArithOp),
    Float(FloatOp),
    /// `arith.cmpf`.
    CmpFloat(FloatPred),
    /// `arith.cmpi`.
    Cmp(CmpPred),
    /// `arith.select`: condition, then, else.
    Select,
    /// A conversion to the result's type.
    Cast(CastOp),
    /// `scf.for`: operands lower, upper, step, then the initial values; one block whose arguments are the induction
    /// variable and the carried values.
    For,
    /// `scf.if`: operand condition; blocks then and else (else may be empty).
    If,
    /// `scf.while`: operands are the initial values; blocks before and after.
    While,
    /// `scf.condition`: operand condition, then the values handed on.
    Condition,
    /// `scf.yield`.
    Yield,
    /// `func.call`.
    Call(NameId),
    /// `return`.
    Return,
}

impl OpKind {
    /// The name of an operation in messages and maps.
    pub fn name(&self) -> &'static str {
        match self {
            OpKind::Pto(opcode, _) => opcode.mnemonic(),
            OpKind::Micro(call) => call.name,
            OpKind::Other(name) => name,
            OpKind::For => "scf.for",
            OpKind::If => "scf.if",
            OpKind::While => "scf.while",
            OpKind::Yield => "scf.yield",
            OpKind::Condition => "scf.condition",
            OpKind::Return => "return",
            OpKind::Constant(_) | OpKind::Dense(_) | OpKind::Arith(_) | OpKind::Cmp(_) => "arith",
            OpKind::Float(_) | OpKind::CmpFloat(_) => "arith",
            OpKind::Select | OpKind::Cast(_) => "arith",
            OpKind::Call(_) => "func.call",
        }
    }
}

/// The rarer parts of an operation, besides operands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpAttrs {
    /// Attributes that the instruction knows, typed.
    pub known: Attrs,
    /// Those of them that the text leaves out, and that its version means by that (isa/today.md 1.2).
    pub implied: Vec<AttrName>,
    /// Attributes that it does not know: name, value as written, place. Kept and printed.
    pub unknown: Vec<(String, String, Span)>,
    /// Attributes that are names, as written: `"c2v"`, `@vec`.
    pub names: Vec<(AttrName, String)>,
    /// `sizes [n, m]` of `pto.subset`.
    pub sizes: Option<[u64; 2]>,
    /// Words of synchronisation instructions (`PIPE_V`, `EVENT_ID0`), and attributes without effect, as written.
    pub words: Vec<String>,
}

/// One operation.
///
/// Operands of an instruction with forms stand in the form's order, whatever the text's. Those with a text shape of
/// their own (syntax.md 4):
///
/// | instruction | operands | result |
/// |---|---|---|
/// | `alloc_tile` | `Addr`, `ValidRow`, `ValidCol`, each if written | the tile |
/// | `tassign` | `Tile`, `Addr` | the tile again, if written so |
/// | `set_validshape` | `Tile`, `ValidRow`, `ValidCol` | – |
/// | `subset` | `Src`, `Row`, `Col`; [`OpAttrs::sizes`] | the view |
/// | `make_tensor_view` | `Global`, then `Number` per extent, then per stride | the view |
/// | `partition_view` | `Global`, then `Number` per offset, then per size | the view |
/// | `addptr`, `load_scalar` | `Global`, `Number` | the pointer, the scalar |
/// | `store_scalar` | `Scalar`, `Global`, `Number` | – |
/// | `set_img2col_padding` | `Fill` | – |
/// | FIFOs | the roles of their [`tessera_isa::ops::PipeText`] | an address, a pipe, the popped tile |
/// | order between pipes | events as `Scalar`; [`OpAttrs::words`] | an event, if written so |
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    pub kind: OpKind,
    /// The form it was written in; matters only for tile instructions and for printing.
    pub form: TextForm,
    /// Operands with their roles, in text order: ins, then `init`, then outs (DPS).
    pub operands: SmallVec<[Operand; 3]>,
    /// Results, in text order. For an SSA instruction they are the form's outs.
    pub results: SmallVec<[ValueId; 2]>,
    pub blocks: SmallVec<[BlockId; 2]>,
    /// Attributes and the like, where there are any.
    pub attrs: Option<Box<OpAttrs>>,
    /// The whole operation without its blocks.
    pub span: Span,
    /// `loc(…)`: the place that a front end made it from, in [`Module::locs`].
    pub loc: Option<LocId>,
}

impl Op {
    /// An operation without operands.
    pub fn new(kind: OpKind, form: TextForm, span: Span) -> Self {
        let (operands, results, blocks) = Default::default();
        Op { kind, form, operands, results, blocks, attrs: None, span, loc: None }
    }

    /// `section.cube` or `section.vector`, where the operation is one: a branch that is always taken
    /// (isa/structure.md 4).
    pub fn section(&self) -> Option<&str> {
        self.scope_word().filter(|word| word.starts_with("section."))
    }

    /// The keyword of a branch that is always taken: a section, `vecscope` or `strict_vecscope`.
    pub fn scope_word(&self) -> Option<&str> {
        let OpKind::If = self.kind else { return None };
        Some(self.attrs.as_deref()?.words.first()?)
    }

    /// Whether it hands an operand of a `strict_vecscope` to the argument of its block: a choice without a condition.
    pub fn is_scope_argument(&self) -> bool {
        self.kind == OpKind::Select && self.operands.first().is_some_and(|o| o.arg == Arg::Int(1))
    }

    /// Whether it is a vecscope: a branch that is always taken (micro/model.md 2), or a loop marked as one.
    pub fn is_vecscope(&self) -> bool {
        match self.kind {
            OpKind::If => self.scope_word().is_some_and(|word| word.ends_with("vecscope")),
            OpKind::For => {
                let marked = |key: &str| key == VECSCOPE_LOOP;
                self.attrs.as_deref().is_some_and(|attrs| attrs.unknown.iter().any(|(key, ..)| marked(key)))
            }
            _ => false,
        }
    }

    /// The instruction of the second table, with the types of its operands and results.
    pub fn micro<'a>(&'a self, module: &Module, func: &Func) -> Option<Inst<'a>> {
        let OpKind::Micro(call) = &self.kind else { return None };
        let ty = |value: ValueId| module.types.get(func.value(value).ty).micro();
        let integer = tessera_micro::Ty::Scalar(crate::ScalarType::Int(64, crate::Sign::None));
        let args = self.operands.iter().map(|o| o.arg.value().map_or(integer, ty)).collect();
        Some(Inst { call, args, results: self.results.iter().map(|v| ty(*v)).collect() })
    }

    /// The instruction, if it is one of the table.
    pub fn opcode(&self) -> Option<Opcode> {
        match self.kind {
            OpKind::Pto(op, _) => Some(op),
            _ => None,
        }
    }

    /// Its effect on a small array of ids of flags.
    pub fn id_array(&self) -> Option<IdArray> {
        match self.kind {
            OpKind::Other(name) => IdArray::parse(name),
            _ => None,
        }
    }

    /// Whether it is about an array of ids of flags.
    fn is_about_ids(&self) -> bool {
        matches!(self.kind, OpKind::Other("eventid_array_get" | "eventid_array_set"))
    }

    /// The operands of an operation on a small array or struct that say which element is meant.
    pub fn places(&self) -> &[Operand] {
        let behind = usize::from(self.id_array() == Some(IdArray::Set));
        let end = self.operands.len().saturating_sub(behind).max(1);
        self.operands.get(1..end).unwrap_or_default()
    }

    /// Its name in messages and maps: that of a construct of the second table, else of its kind.
    pub fn name(&self) -> &'static str {
        if self.is_vecscope() { "vecscope" } else { self.kind.name() }
    }

    /// Whether it orders pipes, or computes ids of flags.
    pub fn is_order(&self) -> bool {
        self.opcode().and_then(Opcode::order).is_some_and(Order::is_manual) || self.is_about_ids()
    }

    /// Whether a process that reaches it synchronizes its pipes itself (sync.md 3).
    pub fn is_manual(&self) -> bool {
        self.is_order() || matches!(self.kind, OpKind::Micro(_))
    }

    /// The operand with this role.
    pub fn operand(&self, role: Role) -> Option<&Operand> {
        self.operands.iter().find(|o| o.role == role)
    }

    /// The values of all operands, in order, literals left out.
    pub fn values(&self) -> impl Iterator<Item = ValueId> {
        self.operands.iter().filter_map(|o| o.arg.value())
    }

    /// The id that an order operation names, where it is written and no operand.
    pub fn written_id(&self, order: Order) -> Option<i64> {
        let words = self.attrs.as_deref().map(|a| a.words.as_slice()).unwrap_or_default();
        let word = match order {
            // A number behind a computed id is the mode.
            Order::Take | Order::Release if !self.operands.is_empty() => None,
            Order::Take | Order::Release | Order::CoreSet | Order::CoreWait => words.get(1),
            _ => words.get(2),
        };
        word.and_then(|w| match w.trim_start_matches("EVENT_ID").parse::<i64>() {
            Ok(id) => Some(id),
            // A number that is too large for one is out of range all the same.
            Err(error) => match error.kind() {
                IntErrorKind::PosOverflow => Some(i64::MAX),
                IntErrorKind::NegOverflow => Some(i64::MIN),
                _ => None,
            },
        })
    }

    /// The typed attributes.
    pub fn known_attrs(&self) -> &Attrs {
        static NONE: Attrs = Attrs::new();
        self.attrs.as_deref().map_or(&NONE, |a| &a.known)
    }

    /// An attribute that is a name, without its quotes or its `@`.
    pub fn name_attr(&self, name: AttrName) -> Option<&str> {
        let named = self.attrs.as_deref()?.names.iter().find(|(n, _)| *n == name)?;
        Some(named.1.trim_start_matches('@').trim_matches('"'))
    }

    /// The attributes, made if there are none yet.
    pub fn attrs_mut(&mut self) -> &mut OpAttrs {
        self.attrs.get_or_insert_default()
    }

    /// The effect of the operation on the operand of a role; an instruction without a row writes its `outs`.
    pub fn effect(&self, role: Role) -> Effect {
        match self.kind {
            OpKind::Pto(op, form) => op.effect(form, role),
            _ if role.is_dst() => Effect::Write,
            _ => Effect::Read,
        }
    }

    /// Whether it touches an operand's bytes on a profile. Some scratch is only named there, and costs nothing
    /// (isa/structure.md 9).
    pub fn touches(&self, role: Role, profile: Profile) -> bool {
        let OpKind::Pto(op, form) = self.kind else { return true };
        let row = op.form(form).and_then(|f| f.operand(role));
        row.is_none_or(|operand| operand.is_used(profile, self.known_attrs()))
    }

    /// The tiles that the instruction writes, with their roles: results in SSA, `outs` operands in DPS.
    pub fn dsts(&self) -> SmallVec<[(Role, ValueId); 2]> {
        let outs = self.operands.iter().filter(|o| o.role.is_dst());
        let mut all: SmallVec<_> = outs.filter_map(|o| o.arg.value().map(|v| (o.role, v))).collect();
        if let OpKind::Pto(op, form) = self.kind
            && let Some(info) = op.form(form)
        {
            all.extend(info.out_roles().zip(self.results.iter().copied()));
        }
        all
    }

    /// An operand or result that the instruction's form has and this operation lacks.
    pub fn missing(&self) -> Option<Role> {
        let OpKind::Pto(op, form) = self.kind else { return None };
        let info = op.form(form)?;
        let dsts = self.operands.iter().filter(|o| info.out_roles().any(|r| r == o.role)).count() + self.results.len();
        let lacks = |o: &&tessera_isa::ops::Operand| !o.optional && self.operand(o.role).is_none();
        let unwritten = info.outs.iter().skip(dsts).find(|o| !o.optional);
        info.ins.iter().find(lacks).or(unwritten).map(|o| o.role)
    }
}
