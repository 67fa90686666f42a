//! The functions of Rust. Those of the families outside the layout set are generated from this.

use tessera_isa::ops::{AttrKind, AttrName, CppAttr, Effect, Family, Form, FormInfo, Kind, Opcode, Role, Shape};

/// The families with generated intrinsics.
pub const FAMILIES: [Family; 6] =
    [Family::Elementwise, Family::Scalar, Family::Reduce, Family::Matrix, Family::Irregular, Family::Memory];

/// A function that issues an instruction.
#[derive(Clone, Debug)]
pub struct Intrinsic {
    /// Its name: the mnemonic, the form unless it is the first one, and the optional operands that are given.
    pub name: String,
    /// The instruction.
    pub op: Opcode,
    /// Its form.
    pub form: &'static FormInfo,
    /// The operands, in the order of C++.
    pub roles: Vec<Role>,
    /// The attributes that are arguments.
    pub attrs: Vec<AttrName>,
    /// The arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of an intrinsic.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What is done with it.
    pub access: Access,
    /// The type parameter or attribute.
    pub of: String,
}

/// What an intrinsic does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It writes the tile.
    Write,
    /// It reads the tile.
    Read,
    /// It takes the element.
    Value,
    /// It takes the index.
    Index,
    /// It takes the quantization parameter.
    Quant,
    /// It takes attributes.
    Attrs,
    /// It takes one flag.
    Flag,
    /// It reads the view.
    From,
    /// It writes the view.
    Into,
}

impl Access {
    /// The word of the macros that define intrinsics.
    pub fn word(self) -> &'static str {
        match self {
            Access::Write => "write",
            Access::Read => "read",
            Access::Value => "value",
            Access::Index => "index",
            Access::Quant => "quant",
            Access::Attrs => "attrs",
            Access::Flag => "flag",
            Access::From => "from",
            Access::Into => "into",
        }
    }

    /// The bound of the type parameter, where there is one.
    pub fn bound(self) -> Option<&'static str> {
        match self {
            Access::Write | Access::Read => Some("AsTile"),
            Access::Value => Some("Element"),
            _ => None,
        }
    }
}

impl Argument {
    fn declaration(&self) -> String {
        let Argument { name, access, of } = self;
        let ty = match access {
            Access::Write => format!("&mut {of}"),
            Access::Read => format!("&{of}"),
            Access::Value => of.clone(),
            Access::Index => "usize".into(),
            Access::Quant => "u64".into(),
            Access::Attrs => "impl Into<Attrs>".into(),
            Access::Flag => "bool".into(),
            Access::From => format!("impl Into<Tensor<{of}>>"),
            Access::Into => format!("impl Into<TensorMut<{of}>>"),
        };
        format!("{name}: {ty}")
    }
}

impl Intrinsic {
    fn new(op: Opcode, form: &'static FormInfo, shape: &Shape) -> Option<Intrinsic> {
        let info = op.info();
        let roles = shape.arguments(form);
        let is_transfer = info.family == Family::Memory;
        let access = |role: Role| {
            let is_read = form.operand(role).is_none_or(|o| o.effect == Effect::Read);
            Some(match role.kind() {
                _ if role == Role::Global && form.out_roles().any(|r| r == role) => Access::Into,
                _ if role == Role::Global => Access::From,
                Kind::Quant if is_transfer => Access::Quant,
                Kind::Fill | Kind::Quant => Access::Value,
                Kind::Index => Access::Index,
                Kind::Tile | Kind::Conv if is_read => Access::Read,
                // Counts are a tile of one row here.
                Kind::Tile | Kind::Conv | Kind::Counts => Access::Write,
                Kind::Pipe | Kind::Async => return None,
            })
        };
        let argument = |name: &str, access| Argument { name: snake(name), access, of: name.into() };
        let mut arguments: Vec<Argument> =
            roles.iter().map(|r| Some(argument(&format!("{r:?}"), access(*r)?))).collect::<Option<_>>()?;
        // Words are arguments, and so is a flag where its operand is; hints are the dynamic interface's.
        let is_given = |a: &&AttrName| {
            let is_hint = matches!(a.info().cpp, CppAttr::Algorithm | CppAttr::Phase | CppAttr::Hint);
            a.info().beside.is_none_or(|role| roles.contains(&role)) && !is_hint
        };
        let attrs: Vec<AttrName> = match is_transfer {
            true => info.attrs.to_vec(),
            false => info.attrs_of(form).iter().filter(is_given).copied().collect(),
        };
        let is_flag = |a: &&AttrName| !is_transfer && matches!(a.info().kind, AttrKind::Bool);
        if attrs.iter().any(|a| is_transfer || matches!(a.info().kind, AttrKind::Word { .. })) {
            arguments.push(argument("Attrs", Access::Attrs));
        }
        arguments.extend(attrs.iter().filter(is_flag).map(|a| argument(&format!("{a:?}"), Access::Flag)));
        Some(Intrinsic { name: name(op, form, &roles), op, form, roles, attrs, arguments })
    }

    /// The function as Rust declares it, without bounds.
    pub fn declaration(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(Argument::declaration).collect();
        format!("fn {}({}) -> Result<RecordEvent>", self.name, arguments.join(", "))
    }
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for (n, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && n > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn name(op: Opcode, form: &FormInfo, roles: &[Role]) -> String {
    let info = op.info();
    let mut name = op.mnemonic().to_string();
    if info.forms.first().is_none_or(|first| first.form != form.form) {
        name = format!("{name}_{}", snake(&format!("{:?}", form.form)));
    }
    for role in form.operands().filter(|o| o.optional && roles.contains(&o.role)).map(|o| o.role) {
        name = format!("{name}_{}", snake(&format!("{role:?}")));
    }
    // The plain loads and stores of slices are written by hand.
    if info.family == Family::Memory && info.by_flows() && form.form == Form::Plain && !info.attrs.is_empty() {
        name += "_with";
    }
    name
}

/// The generated intrinsics of an instruction.
pub fn generated(op: Opcode) -> Vec<Intrinsic> {
    let info = op.info();
    let is_transfer = info.family == Family::Memory;
    if !FAMILIES.contains(&info.family) || !is_transfer && info.cpp.is_empty() {
        return Vec::new();
    }
    let roles = |s: &Shape| op.form(s.form).map(|form| s.arguments(form));
    let is_generated = |(n, shape): &(usize, &Shape)| {
        // Text may write the operands of one form in two ways; a scalar that comes back is written by hand.
        let is_another = op.shapes().iter().take(*n).any(|s| s.form != shape.form && roles(s) == roles(shape));
        is_transfer || !is_another && !shape.outs.contains(&Role::Value)
    };
    let shapes = op.shapes().iter().enumerate().filter(is_generated);
    shapes.filter_map(|(_, shape)| Intrinsic::new(op, op.form(shape.form)?, shape)).collect()
}

/// A function that is written by hand, as text.
struct ByHand {
    name: &'static str,
    generics: &'static str,
    arguments: &'static [(&'static str, &'static str)],
    result: &'static str,
}

impl ByHand {
    fn declaration(&self) -> String {
        let ByHand { name, generics, arguments, result } = self;
        let arguments: Vec<String> = arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        format!("fn {name}<{generics}>({}) -> {result}", arguments.join(", "))
    }
}

/// Declares functions that are written by hand; each declaration is compiled to a call of its function.
macro_rules! by_hand {
    ($(fn $name:ident[$($generics:tt)*]($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        const BY_HAND: &[ByHand] = &[$(ByHand {
            name: stringify!($name),
            generics: stringify!($($generics)*),
            arguments: &[$((stringify!($arg), stringify!($ty))),*],
            result: stringify!($result),
        }),*];
        mod compiled {
            use crate::typed::*;
            use crate::{RecordEvent, Result};
            $(#[allow(dead_code, clippy::too_many_arguments, reason = "only compared with the function's type")]
            fn $name<$($generics)*>($($arg: $ty),*) -> $result {
                crate::typed::$name($($arg),*)
            })*
        }
    };
}

by_hand! {
    fn tassign[T: AsTile](tile: &mut T, address: u64) -> Result<RecordEvent>;
    fn tconcat[Dst: AsTile, Src0: AsTile, Src1: AsTile](dst: &mut Dst, src0: &Src0, src1: &Src1) -> Result<RecordEvent>;
    fn tdeinterleave[Dst1: AsTile, Dst0: AsTile, Src1: AsTile, Src0: AsTile](dst1: &mut Dst1, dst0: &mut Dst0, src1: &Src1, src0: &Src0) -> Result<RecordEvent>;
    fn textract[D: AsTile, S: AsTile](dst: &mut D, src: &S, row: usize, col: usize) -> Result<RecordEvent>;
    fn textract_fp[D: AsTile, S: AsTile, F: TileOrValue](dst: &mut D, src: &S, fp: F, row: usize, col: usize) -> Result<RecordEvent>;
    fn tfillpad[D: AsTile, S: TileOrValue](dst: &mut D, src: S) -> Result<RecordEvent>;
    fn tfillpad_expand[D: AsTile, S: TileOrValue](dst: &mut D, src: S) -> Result<RecordEvent>;
    fn tfillpad_inplace[D: AsTile, S: TileOrValue](dst: &mut D, src: S) -> Result<RecordEvent>;
    fn tgetval[Src: AsTile, T: Element](src: &Src, index: usize) -> Result<T>;
    fn timg2col[D: AsTile, T: Element](dst: &mut D, src: &ConvTile<T>, config: Img2col) -> Result<RecordEvent>;
    fn tinsert[D: AsTile, S: AsTile](dst: &mut D, src: &S, row: usize, col: usize) -> Result<RecordEvent>;
    fn tinsert_fp[D: AsTile, S: AsTile, F: TileOrValue](dst: &mut D, src: &S, fp: F, row: usize, col: usize) -> Result<RecordEvent>;
    fn tinterleave[Dst1: AsTile, Dst0: AsTile, Src1: AsTile, Src0: AsTile](dst1: &mut Dst1, dst0: &mut Dst0, src1: &Src1, src0: &Src0) -> Result<RecordEvent>;
    fn tload['a, D: AsTile, T: Element](dst: &mut D, src: impl Into<Tensor<'a, T>>) -> Result<RecordEvent>;
    fn tmov[D: AsTile, S: AsTile](dst: &mut D, src: &S) -> Result<RecordEvent>;
    fn tmov_fp[D: AsTile, S: AsTile, F: TileOrValue](dst: &mut D, src: &S, fp: F) -> Result<RecordEvent>;
    fn tpack[Dst: AsTile, Src: AsTile](dst: &mut Dst, src: &Src) -> Result<RecordEvent>;
    fn treshape[Dst: AsTile, Src: AsTile](dst: &mut Dst, src: &Src) -> Result<RecordEvent>;
    fn tstore['a, S: AsTile, T: Element](dst: impl Into<TensorMut<'a, T>>, src: &S) -> Result<RecordEvent>;
    fn tsubview[Dst: AsTile, Src: AsTile](dst: &mut Dst, src: &Src, row: usize, col: usize) -> Result<RecordEvent>;
    fn ttrans[Dst: AsTile, Src: AsTile](dst: &mut Dst, src: &Src) -> Result<RecordEvent>;
}

/// The declarations of the functions that have the instruction's name.
pub fn declarations(op: Opcode) -> Vec<String> {
    let name = op.mnemonic();
    let by_hand = BY_HAND.iter().filter(|known| known.name == name).map(ByHand::declaration);
    let generated = generated(op).into_iter().filter(|i| i.name == name).map(|i| i.declaration());
    by_hand.chain(generated).collect()
}
