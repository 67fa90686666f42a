//! Execution of an instruction on registers and memory: the one definition, byte for byte.

use crate::call::Inst;
use crate::check::{self, Known, Refusal};
use crate::reg::{Align, Mask, Reg};
use crate::table::{Class, Register, Sem, Space};
use crate::types::{MicroType, Ty, lane_elem};
use crate::{cube, dma, lanes, memory, sort};
use smallvec::{SmallVec, smallvec};
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{ScalarArg, ScalarType};
use tessera_isa::ops::Role;

/// A memory of the core that runs, of another core of its block, or a global buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub space: Space,
    /// The number of the buffer, or of another core's memory; 0 is the core's own.
    pub unit: u32,
}

/// The value of an operand during execution.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Reg(&'a Reg),
    Mask(&'a Mask),
    Align(&'a Align),
    /// An integer, or the bits of a float as binary64.
    Int(i64),
    /// A byte of a memory.
    Ptr(Place, i64),
}

/// The value of a result.
#[derive(Clone, Debug)]
pub enum Made {
    Reg(Box<Reg>),
    Mask(Box<Mask>),
    Align(Align),
    Int(i64),
    /// The byte of the pointer's memory; of a global pointer the distance that it moves, in bytes.
    Ptr(i64),
}

/// Results, in the row's order.
pub type Results = SmallVec<[Made; 2]>;

/// The memories that instructions touch. Ranges have been checked, but those of global buffers.
pub trait Memory {
    /// One byte, or none where it is undefined.
    fn byte(&self, place: Place, at: u64) -> Option<u8>;
    /// All of some bytes, where all of them are defined.
    fn bytes(&self, place: Place, at: u64, len: usize) -> Option<&[u8]>;
    /// Writes a byte, or makes it undefined.
    fn put(&mut self, place: Place, at: u64, value: Option<u8>);
    /// Writes bytes that are defined.
    fn put_all(&mut self, place: Place, at: u64, bytes: &[u8]);
    /// Copies bytes with their definedness.
    fn copy(&mut self, from: (Place, u64), to: (Place, u64), len: u64) -> Result<(), Refusal>;
    /// Called for each access of a global buffer, which it may refuse.
    fn global(&mut self, place: Place, at: i64, len: u64, writes: bool) -> Result<(), Refusal>;
}

/// A core's state between instructions, besides values and memories.
#[derive(Clone, Debug)]
pub struct Specials {
    /// AR, in bytes; undefined at the start.
    pub ar: Option<i64>,
    /// The bytes that the last squeeze of this vecscope kept: none if there was none, or if that is undefined.
    pub kept: Option<Option<i64>>,
    /// VMS4_SR.
    pub taken: Option<[u16; 4]>,
    pub control: u64,
    /// By direction, to UB, out of it, into L1: counts of loop1 and loop2, then source and destination strides of both.
    pub loops: [[i64; 6]; 3],
    /// The pad register's bits.
    pub pad: u64,
}

impl Default for Specials {
    fn default() -> Self {
        let loops = [[1, 1, 0, 0, 0, 0]; 3];
        // CTRL bit 48 starts as 1 (cube.md 7).
        Specials { ar: None, kept: None, taken: None, control: 1 << 48, loops, pad: 0 }
    }
}

/// Everything that an instruction works on.
pub struct Core<'a> {
    pub specials: &'a mut Specials,
    pub memory: &'a mut dyn Memory,
    /// Warnings.
    pub notes: &'a mut Vec<Diagnostic>,
}

/// An instruction with the values of its operands.
pub(crate) struct Issue<'i, 'v> {
    pub inst: &'i Inst<'i>,
    pub args: &'i [Value<'v>],
}

impl<'v> Issue<'_, 'v> {
    /// The value of the operand that plays a role.
    pub fn value(&self, name: &str) -> Option<Value<'v>> {
        self.args.get(self.inst.call.operand(name)?).copied()
    }

    pub fn int(&self, name: &str) -> i64 {
        if let Some(Value::Int(v)) = self.value(name) { v } else { 0 }
    }

    pub fn ptr(&self, name: &str) -> (Place, i64) {
        match self.value(name) {
            Some(Value::Ptr(place, at)) => (place, at),
            _ => (Place { space: Space::Ub, unit: 0 }, 0),
        }
    }

    pub fn reg(&self, n: usize) -> &'v Reg {
        static NONE: std::sync::LazyLock<Reg> = std::sync::LazyLock::new(Reg::default);
        if let Some(Value::Reg(reg)) = self.args.get(n) { reg } else { &NONE }
    }

    pub fn mask(&self, n: usize) -> Mask {
        if let Some(Value::Mask(mask)) = self.args.get(n) { **mask } else { Mask::default() }
    }

    /// The first mask operand.
    pub fn only_mask(&self) -> Mask {
        let mask = self.args.iter().find_map(|v| if let Value::Mask(mask) = v { Some(**mask) } else { None });
        mask.unwrap_or(Mask::of(crate::Bits::ALL))
    }

    pub fn align(&self, name: &str) -> Align {
        if let Some(Value::Align(align)) = self.value(name) { align.clone() } else { Align::default() }
    }

    /// The bits of a scalar operand as a lane of a type.
    pub fn lane_of(&self, n: usize, lane: ScalarType) -> u64 {
        let Some(Value::Int(raw)) = self.args.get(n) else { return 0 };
        let ty = self.inst.args.get(n).and_then(|ty| ty.scalar());
        scalar_bits(ty, *raw, lane)
    }

    /// An error of this instruction.
    pub fn broken<T>(&self, rule: &'static str, what: String, help: &str) -> Result<T, Refusal> {
        Err(check::broken(self.inst, rule, what, help))
    }
}

/// The bits that a scalar of a type is as a lane of another; floats are kept as binary64.
pub fn scalar_bits(ty: Option<ScalarType>, raw: i64, lane: ScalarType) -> u64 {
    let elem = lane_elem(lane);
    let value = match ty {
        Some(ScalarType::Float(_)) => Number::Float(f64::from_bits(raw as u64)),
        _ => Number::Int(i128::from(raw)),
    };
    ScalarArg { role: Role::Scalar, ty, value: Some(value) }.bits(elem).unwrap_or(0) & elem.mask()
}

/// The operand values that the rules see while an instruction runs.
pub fn known(args: &[Value<'_>]) -> SmallVec<[Known; 8]> {
    let known = |arg: &Value<'_>| match arg {
        Value::Int(v) => Known::Int(*v),
        Value::Ptr(_, at) => Known::Int(*at),
        Value::Mask(mask) => Known::Mask(**mask),
        Value::Reg(_) | Value::Align(_) => Known::No,
    };
    args.iter().map(known).collect()
}

/// Whether a value is one of a type.
fn suits(ty: Ty, value: &Value<'_>) -> bool {
    match ty {
        Ty::Micro(MicroType::Vreg(_)) => matches!(value, Value::Reg(_)),
        Ty::Micro(MicroType::Mask(_)) => matches!(value, Value::Mask(_)),
        Ty::Micro(MicroType::Align) => matches!(value, Value::Align(_)),
        Ty::Ptr(..) => matches!(value, Value::Ptr(..)),
        Ty::Scalar(_) => matches!(value, Value::Int(_)),
        Ty::Other => false,
    }
}

/// Checks and runs one instruction.
pub fn run(inst: &Inst<'_>, args: &[Value<'_>], core: &mut Core<'_>) -> Result<Results, Refusal> {
    if inst.args.len() != args.len() || !inst.args.iter().zip(args).all(|(ty, value)| suits(*ty, value)) {
        let what = format!("{} has an operand whose value is of another kind than its type", inst.call.name);
        return Err(Box::new(Diagnostic::error("internal", what)));
    }
    let known = known(args);
    if let Some((what, help)) = why_not(inst.call) {
        return Err(Box::new(Diagnostic::error("not-executable", what).help(help)));
    }
    check::values(inst, &known)?;
    core.notes.extend(memory::hardly_aligned(inst, &known));
    let issue = Issue { inst, args };
    match inst.call.row.sem {
        Sem::Lanes(sem) => lanes::map(&issue, sem, core),
        Sem::Fold(sem) => lanes::fold(&issue, sem),
        Sem::Permute(sem) => lanes::permute(&issue, sem, core),
        Sem::Predicate(sem) => lanes::predicate(&issue, sem, core),
        Sem::Load(sem) => memory::load(&issue, sem, core),
        Sem::Store(sem) => memory::store(&issue, sem, core),
        Sem::Dma(_) => dma::run(&issue, core).map(|()| Results::new()),
        Sem::Sort(sem) => sort::run(&issue, sem, core).map(|()| Results::new()),
        Sem::Register(sem) => register(&issue, sem, core),
        Sem::Bar => Ok(Results::new()),
        Sem::Cube(_) => {
            core.notes.extend(cube::warnings(inst, &known));
            cube::run(&issue, &known, core).map(|()| Results::new())
        }
        Sem::Device => device(&issue, core),
        Sem::Unknown(_) | Sem::Token => Ok(Results::new()),
    }
}

fn register(issue: &Issue<'_, '_>, sem: Register, core: &mut Core<'_>) -> Result<Results, Refusal> {
    let first = match issue.args.first() {
        Some(Value::Int(v)) => *v,
        _ => 0,
    };
    let name = issue.inst.call.name;
    match sem {
        Register::Loops => {
            let second = issue.int("b");
            let direction = usize::from(name.ends_with("ubtoout"));
            let at = if name.contains("size") { 0 } else { 2 + 2 * usize::from(name.contains("loop2")) };
            if let Some([a, b]) = core.specials.loops.get_mut(direction).and_then(|all| all.get_mut(at..at + 2)) {
                (*a, *b) = (first, second);
            }
        }
        Register::CubeLoops => {
            let value = first as u64;
            let (bits, at) = match name {
                _ if name.contains("size") => (21, 0),
                _ => (40, 2 + 2 * usize::from(name.contains("loop2"))),
            };
            if let Some([a, b]) = core.specials.loops[2].get_mut(at..at + 2) {
                (*a, *b) = ((value & ((1 << bits) - 1)) as i64, (value >> bits) as i64);
            }
        }
        Register::Pad => {
            let lane = issue.inst.args.first().and_then(|ty| ty.scalar()).unwrap_or(ScalarType::Index);
            core.specials.pad = issue.lane_of(0, lane);
        }
        Register::ClearAr => core.specials.ar = Some(0),
        Register::Taken => {
            let Some(taken) = core.specials.taken else {
                let what = "no vmrgsort4 of this core has run before".into();
                return issue.broken("undefined-use", what, "read VMS4_SR after a vmrgsort4");
            };
            return Ok(taken.iter().map(|n| Made::Int(i64::from(*n as i16))).collect());
        }
        Register::Control => return Ok(control(issue, first, core.specials)),
    }
    Ok(Results::new())
}

/// A scalar of global memory past the cache; care of the cache changes no value.
fn device(issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<Results, Refusal> {
    let pointer = issue.args.iter().position(|arg| matches!(arg, Value::Ptr(..)));
    let index = pointer.and_then(|n| issue.args.get(n + 1));
    let (Some(n), Some(Value::Int(index))) = (pointer, index) else { return Ok(Results::new()) };
    let (Some(Value::Ptr(place, base)), Some(Ty::Ptr(elem, space))) = (issue.args.get(n), issue.inst.args.get(n))
    else {
        return Ok(Results::new());
    };
    if *space != Space::Gm {
        let what = format!("it points to {}, and must point to gm", space.name());
        return issue.broken("space", what, "use load_scalar and store_scalar");
    }
    let size = elem.bytes_of(1) as i64;
    let at = base.wrapping_add(index.wrapping_mul(size));
    if at.rem_euclid(size) != 0 {
        return issue.broken("align", format!("byte {at} is no multiple of {size}"), "use an address that is one");
    }
    let ty = |ty: Option<&Ty>| ty.and_then(|ty| ty.scalar());
    core.memory.global(*place, at, size as u64, n > 0)?;
    if n > 0 {
        let Some(Value::Int(raw)) = issue.args.first() else { return Ok(Results::new()) };
        let lane = ty(issue.inst.args.first()).map(|ty| match ty {
            ScalarType::Float(_) => ScalarType::Float(*elem),
            ty => ty,
        });
        let bits = scalar_bits(ty(issue.inst.args.first()), *raw, lane.unwrap_or(ScalarType::Index)).to_le_bytes();
        core.memory.put_all(*place, at as u64, bits.get(..size as usize).unwrap_or(&bits));
        return Ok(Results::new());
    }
    let bytes: Option<Vec<u8>> = (0..size).map(|k| core.memory.byte(*place, (at + k) as u64)).collect();
    let Some(bytes) = bytes else {
        let what = format!("byte {at} of the buffer is undefined, and is loaded as a scalar");
        return issue.broken("undefined-use", what, "give the argument a file");
    };
    let bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    Ok(smallvec![Made::Int(match elem.decode(bits) {
        Number::Int(v) => v as i64,
        Number::Float(v) => v.to_bits() as i64,
    })])
}

/// The control register (cube.md 7).
fn control(issue: &Issue<'_, '_>, first: i64, specials: &mut Specials) -> Results {
    let second = match issue.args.get(1) {
        Some(Value::Int(v)) => *v as u64 % 64,
        _ => 0,
    };
    let field = |control: &mut u64, shift: u32, width: u32, value: u64| {
        *control = *control & !(((1 << width) - 1) << shift) | value << shift;
    };
    match issue.inst.call.name {
        "get_ctrl" => return smallvec![Made::Int(specials.control as i64)],
        "sbitset0" => return smallvec![Made::Int(first & !(1 << second))],
        "sbitset1" => return smallvec![Made::Int(first | 1 << second)],
        "set_ctrl" => specials.control = first as u64,
        name => {
            let word = name.trim_start_matches("set_atomic_");
            let types = ["none", "f32", "f16", "s16", "s32", "s8", "bf16"];
            let operations = ["add", "max", "min"];
            if let Some(n) = types.iter().position(|t| *t == word) {
                field(&mut specials.control, 6, 3, n as u64);
            } else if let Some(n) = operations.iter().position(|o| *o == word) {
                field(&mut specials.control, 9, 2, n as u64);
            }
        }
    }
    Results::new()
}

/// The mask that a pattern makes, whatever else happens; none of other instructions.
pub fn pattern(call: &crate::Call) -> Option<Mask> {
    (call.row.sem == Sem::Predicate(crate::Predicate::Pattern)).then(|| lanes::pattern_of(call))
}

/// The mask of the first lanes of a count; none of other instructions.
pub fn below(call: &crate::Call, count: i64) -> Option<Mask> {
    (call.row.sem == Sem::Predicate(crate::Predicate::Below)).then(|| lanes::below_of(call, count as u32))
}

/// The rest of a count that does not fit into its mask; `None` for other instructions.
pub fn rest(call: &crate::Call, count: i64) -> Option<i64> {
    let is_below = call.row.sem == Sem::Predicate(crate::Predicate::Below);
    is_below.then(|| i64::from((count as u32).saturating_sub(lanes::lanes_of(call) as u32) as i32))
}

/// Why an instruction is read and printed, and does not run, and what to do instead.
pub fn why_not(call: &crate::Call) -> Option<(String, &'static str)> {
    let name = call.name;
    let dist = call.attr_word("dist").filter(|word| word.starts_with("SPLT") || word.starts_with("MRG"));
    if let (Sem::Cube(_), Some(mode)) = (call.row.sem, cube::unknown_mode(call)) {
        let what = format!("pto.{name} with {mode} does not run: no public text gives its rule");
        return Some((what, "use another mode"));
    }
    match (call.row.sem, dist) {
        (Sem::Token, _) => Some((
            format!("pto.{name} of two values does not run: it does not say which pipe"),
            "write the pipe and the id, as in pto.set_intra_block <PIPE_FIX>, 1",
        )),
        (Sem::Unknown(why), _) => Some((format!("pto.{name} does not run: {why}"), "take it out, or run a part")),
        (Sem::Load(_), Some(word)) => Some((
            format!("pto.{name} with {word} does not run: no public text says which bytes it takes"),
            "use another word",
        )),
        (Sem::Store(_), Some(word)) => {
            Some((format!("pto.{name} with {word} does not run: a5 hardware does not have it"), "use another word"))
        }
        _ => None,
    }
}

/// Whether a class is one of vector loads and stores.
pub fn is_vector(class: Class) -> bool {
    matches!(class, Class::Vld | Class::Vst)
}
