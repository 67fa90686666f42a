//! Rules about the contents of tiles: zero divisors (`-zero`), and operands beyond the range that hardware computes
//! exactly (`-range`). They are checked when the instruction runs, before it writes anything (isa/elementwise.md 2).

use smallvec::SmallVec;
use tessera_isa::codec::Number;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::layout::Layout;
use tessera_isa::ops::{Role, RuleKind};
use tessera_isa::sem::Func;
use tessera_kernels::memory::{Area, Memories, Memory};
use tessera_kernels::nest::{Map, read_bits};
use tessera_kernels::{Failure, Place, failure, internal_error};

/// Hardware computes remainders of i32 in f32: exactly up to here.
const EXACT: i128 = 1 << 24;

/// One such rule of a step.
#[derive(Clone, Debug)]
pub struct ContentRule {
    rule: &'static str,
    /// The function that has no result for some arguments; without one, every argument has to be in range.
    func: Option<Func>,
    extent: [u64; 2],
    /// The arguments that count, with their places among those of the function.
    args: SmallVec<[(usize, ContentArg); 2]>,
}

/// An argument, as these rules see it.
#[derive(Clone, Debug)]
pub enum ContentArg {
    Scalar(Elem, u64),
    Tile { role: Role, operand: u8, elem: Elem, layout: Box<Layout>, map: Map, area: Area },
}

impl ContentRule {
    /// The content rules of the row for the arguments of one step. A scalar that breaks a rule is refused at once.
    pub fn of_step(
        inst: &Inst,
        func: Func,
        to: Elem,
        extent: [u64; 2],
        args: impl Fn(usize) -> Option<ContentArg>,
    ) -> Result<SmallVec<[ContentRule; 2]>, Failure> {
        let mut all = SmallVec::new();
        if to.is_float() {
            return Ok(all);
        }
        let rules = inst.op.info().rules.iter().filter(|r| r.on.has(inst.profile));
        for rule in rules {
            let (func, positions) = match rule.kind {
                RuleKind::Zero if func.divisors().is_empty() => {
                    return Err(internal_error(&format!("{} asks for a divisor of a {}", rule.id, func.name())));
                }
                RuleKind::Zero => (Some(func), func.divisors()),
                RuleKind::Range if to == Elem::I32 => (None, &[0, 1][..]),
                _ => continue,
            };
            let args = positions.iter().filter_map(|n| Some((*n, args(*n)?))).collect();
            let rule = ContentRule { rule: rule.id, func, extent, args };
            if let Some(failure) = rule.of_scalars() {
                return Err(failure);
            }
            all.push(rule);
        }
        Ok(all)
    }

    /// A divisor that is one scalar is checked even if nothing is divided (isa/scalar.md 3).
    fn of_scalars(&self) -> Option<Failure> {
        let [(n, ContentArg::Scalar(elem, bits))] = self.args.as_slice() else { return None };
        let mut args = [(*elem, 1); 2];
        *args.get_mut(*n)? = (*elem, *bits);
        self.func?.is_by_zero(args.get(..=*n)?).then(|| failure(self.rule, "the scalar is 0, and it divides", HELP))
    }

    /// The first element that breaks the rule.
    pub fn internal_error(&self, memories: &Memories, places: &[Place]) -> Option<Diagnostic> {
        let may_be = |is_suspect: fn(&[u8]) -> bool, (_, arg): &(usize, ContentArg)| {
            arg.runs(memories, places).any(is_suspect) || matches!(arg, ContentArg::Scalar(..))
        };
        let is_clean = match (self.func, self.args.first()) {
            // With the base of a power no zero, its exponent does not matter.
            (Some(_), Some(first)) => !may_be(has_zero(first.1.elem()), first),
            _ => !self.args.iter().any(|arg| may_be(|run| i32s(run).any(|v| beyond(v.into())), arg)),
        };
        if is_clean {
            return None;
        }
        let [rows, cols] = self.extent;
        let mut points = (0..rows).flat_map(|i| (0..cols).map(move |j| [i, j]));
        match self.func {
            Some(func) => points.find_map(|at| self.by_zero(func, at, memories, places)),
            None => {
                let scalar = self.args.iter().filter(|(_, arg)| matches!(arg, ContentArg::Scalar(..)));
                let found = scalar.clone().find_map(|(_, arg)| self.out_of_range(arg, [0, 0], memories, places));
                let any = |at| self.args.iter().find_map(|(_, arg)| self.out_of_range(arg, at, memories, places));
                found.or_else(|| points.find_map(any))
            }
        }
    }

    fn out_of_range(
        &self,
        arg: &ContentArg,
        at: [u64; 2],
        memories: &Memories,
        places: &[Place],
    ) -> Option<Diagnostic> {
        let (name, elem, bits) = arg.at(at, memories, places)?;
        let v = integer(elem, bits);
        let what = || format!("{name} is {v}, beyond ±2^24, and hardware computes remainders of i32 in f32");
        beyond(v).then(|| Diagnostic::warning(self.rule, what()).help("keep the operands within ±2^24"))
    }

    fn by_zero(&self, func: Func, at: [u64; 2], memories: &Memories, places: &[Place]) -> Option<Diagnostic> {
        let mut args = [(Elem::I8, 1); 2];
        let mut names: SmallVec<[String; 2]> = SmallVec::new();
        let mut last = 0;
        for (n, arg) in &self.args {
            last = *n;
            let (name, elem, bits) = arg.at(at, memories, places)?;
            *args.get_mut(*n)? = (elem, bits);
            names.push(format!("{name} is {}", integer(elem, bits)));
        }
        let what = format!("{}, and the {} has no value", names.join(" and "), func.name());
        func.is_by_zero(args.get(..=last)?).then(|| Diagnostic::error(self.rule, what).help(HELP))
    }
}

const HELP: &str = "integers have no infinity: keep zeros out of the divisors";

fn beyond(v: i128) -> bool {
    v.abs() > EXACT
}

fn i32s(run: &[u8]) -> impl Iterator<Item = i32> + '_ {
    run.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b))
}

/// Returns a function that checks whether a run of elements of this type has a zero. The function reads all elements,
/// so that the loop becomes vector instructions.
fn has_zero(elem: Elem) -> fn(&[u8]) -> bool {
    fn any<const N: usize>(run: &[u8]) -> bool {
        run.as_chunks::<N>().0.iter().fold(false, |any, element| any | (*element == [0; N]))
    }
    match elem.bits() {
        8 => any::<1>,
        16 => any::<2>,
        32 => any::<4>,
        _ => any::<8>,
    }
}

fn integer(elem: Elem, bits: u64) -> i128 {
    match elem.decode(bits) {
        Number::Int(v) => v,
        Number::Float(_) => 0,
    }
}

impl ContentArg {
    fn memory<'m>(&self, memories: &'m Memories, places: &[Place]) -> Option<(usize, &'m Memory)> {
        let ContentArg::Tile { operand, .. } = self else { return None };
        let place = places.get(usize::from(*operand))?;
        Some((place.at, memories.get(place.memory)?))
    }

    fn elem(&self) -> Elem {
        match self {
            ContentArg::Scalar(elem, _) | ContentArg::Tile { elem, .. } => *elem,
        }
    }

    /// The bytes of its elements, defined or not.
    fn runs<'m>(&'m self, memories: &'m Memories, places: &[Place]) -> impl Iterator<Item = &'m [u8]> + use<'m> {
        let area = match self {
            ContentArg::Tile { area, .. } => Some(area),
            ContentArg::Scalar(..) => None,
        };
        let found = self.memory(memories, places).zip(area);
        found.into_iter().flat_map(|((at, memory), area)| {
            area.at(at).map(|(start, len)| memory.bytes().get(start..start + len).unwrap_or(&[]))
        })
    }

    /// The argument at a point: its name, type and bits, where it is defined.
    fn at(&self, at: [u64; 2], memories: &Memories, places: &[Place]) -> Option<(String, Elem, u64)> {
        match self {
            ContentArg::Scalar(elem, bits) => Some(("the scalar".into(), *elem, *bits)),
            ContentArg::Tile { role, elem, layout, map, .. } => {
                let (start, memory) = self.memory(memories, places)?;
                let ((r, c), size) = (map.of(at), elem.bits() as usize / 8);
                let at = start as i64 + layout.offset(r, c) * size as i64;
                let is_defined = !memories.tracked || memory.defined().has_all(usize::try_from(at).ok()?, size);
                let bits = || read_bits(memory.bytes(), at, elem.bits());
                is_defined.then(|| (format!("{role}({r}, {c})"), *elem, bits()))
            }
        }
    }
}
