//! Transfers between memories: rows of bytes in loops, with padding (micro/memory.md 2 and 3).

use crate::call::Inst;
use crate::check::{self, Known, Refusal, broken};
use crate::run::{Core, Issue, Place, Specials, Value, scalar_bits};
use crate::table::{Dma, Sem, Space};
use smallvec::SmallVec;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::sem::Func;

const BLOCK: i64 = 32;

/// A number that may not be known yet.
type Maybe = Option<i64>;

/// One loop: how often, and how far it moves the source and the destination.
#[derive(Clone, Copy, Debug)]
struct Loop {
    count: Maybe,
    src: Maybe,
    dst: Maybe,
}

/// The padding of rows: elements left and right, and the value's bits where it runs.
#[derive(Clone, Copy, Debug)]
struct Pad {
    left: Maybe,
    right: Maybe,
    value: u64,
}

/// A transfer, as far as its numbers are known. All lengths and strides are bytes, start to start.
#[derive(Clone, Debug)]
struct Transfer {
    spaces: [Space; 2],
    src: Maybe,
    dst: Maybe,
    len: Maybe,
    /// The innermost loop first: `nburst`, then the loops around.
    loops: SmallVec<[Loop; 4]>,
    pad: Option<Pad>,
    /// Bytes of an element.
    size: i64,
    /// Whether lengths and gaps count blocks, as they are written.
    blocks: Option<[Maybe; 4]>,
}

impl Transfer {
    fn new(inst: &Inst<'_>, known: &[Known], specials: Option<(&Specials, &[Value<'_>])>) -> Option<Transfer> {
        let Sem::Dma(dma) = inst.call.row.sem else { return None };
        let int = |n: usize| known.get(n).and_then(|v| v.int());
        let named = |name: &str| inst.call.operand(name).and_then(int);
        let space = |n: usize| inst.args.get(n).and_then(|ty| ty.pointer());
        let spaces = [space(0)?.0, space(1)?.0];
        let size = space(0)?.1 as i64;
        let burst = inst.call.group("nburst").map(|g| [int(g.start), int(g.start + 1), int(g.start + 2)]);
        let (mut blocks, mut pad) = (None, None);
        let mut loops: SmallVec<[Loop; 4]> = SmallVec::new();
        let registers = |loops: &mut SmallVec<[Loop; 4]>, direction: usize| {
            // By direction: to UB, out of it, into L1.
            for n in 0..2 {
                let of = |k: usize| specials.map(|(s, _)| s.loops[direction][k]);
                loops.push(Loop { count: of(n), src: of(2 + 2 * n), dst: of(3 + 2 * n) });
            }
        };
        let len = match dma {
            Dma::GmUb | Dma::UbGm | Dma::GmL1 => {
                let [count, src, dst] = burst?;
                loops.push(Loop { count, src, dst });
                for group in inst.call.groups("loop") {
                    let at = group.start;
                    loops.push(Loop { count: int(at), src: int(at + 1), dst: int(at + 2) });
                }
                named("len")
            }
            Dma::CopyGmUb | Dma::CopyUbGm | Dma::CopyGmL1 => {
                loops.push(Loop { count: named("n"), src: named("ss"), dst: named("ds") });
                let direction = match dma {
                    Dma::CopyUbGm => 1,
                    Dma::CopyGmL1 => 2,
                    _ => 0,
                };
                registers(&mut loops, direction);
                named("len")
            }
            Dma::UbUb | Dma::UbL1 | Dma::CopyBlocks | Dma::L1Ub => {
                let [count, sg, dg] = match burst {
                    Some(burst) => burst,
                    None => [named("n"), named("sg"), named("dg")],
                };
                let len = named("len");
                let stride = |gap: Maybe| BLOCK.checked_mul(len?.checked_add(gap?)?);
                loops.push(Loop { count, src: stride(sg), dst: stride(dg) });
                for group in inst.call.groups("loop") {
                    let at = group.start;
                    loops.push(Loop { count: int(at), src: int(at + 1), dst: int(at + 2) });
                }
                blocks = Some([len, count, sg, dg]);
                len.and_then(|len| len.checked_mul(BLOCK))
            }
        };
        if let Some(group) = inst.call.group("pad") {
            let sides = |n: usize| if group.len() > 1 { int(group.start + n) } else { Some(0) };
            let value = match specials.and_then(|(_, args)| args.get(group.start)) {
                Some(Value::Int(raw)) => {
                    let ty = inst.args.get(group.start).and_then(|ty| ty.scalar());
                    ty.map_or(0, |lane| scalar_bits(ty, *raw, lane))
                }
                _ => 0,
            };
            pad = Some(Pad { left: sides(1), right: sides(2), value });
        } else if dma == Dma::CopyGmUb && named("select") != Some(0) {
            // Without the number it may be padded, and the sides count in any case.
            let value = specials.map_or(0, |(s, _)| s.pad);
            pad = Some(Pad { left: named("left"), right: named("right"), value });
            if named("select").is_none() {
                pad = None;
            }
        }
        Some(Transfer { spaces, src: int(0), dst: int(1), len, loops, pad, size, blocks })
    }

    /// Whether nothing moves.
    fn is_empty(&self) -> bool {
        self.loops.iter().any(|l| l.count == Some(0)) || self.image() == Some(0)
    }

    /// The bytes that a row writes.
    fn image(&self) -> Maybe {
        let len = self.len?;
        match &self.pad {
            _ if !matches!(self.spaces, [Space::Gm, Space::Ub | Space::L1]) => Some(len),
            None => Some(up(len)),
            Some(pad) => {
                let elements = pad.left?.checked_add(pad.right?)?.checked_mul(self.size)?;
                Some(up(len.checked_add(elements)?).max(self.loops.first()?.dst?))
            }
        }
    }

    /// The number of rows.
    fn rows(&self) -> Option<i128> {
        self.loops.iter().try_fold(1i128, |n, l| Some(n.saturating_mul(i128::from(l.count?.max(0)))))
    }

    /// The distance of the last row from the first, in the source and in the destination.
    fn reach(&self) -> Option<[i128; 2]> {
        self.loops.iter().try_fold([0, 0], |[src, dst], l| {
            let last = i128::from(l.count? - 1);
            Some([src + last * i128::from(l.src?), dst + last * i128::from(l.dst?)])
        })
    }

    /// The starts of all rows, counted from the first one's.
    fn starts(&self) -> Option<impl Iterator<Item = [i64; 2]>> {
        let loops: Option<Vec<[i64; 3]>> = self.loops.iter().map(|l| Some([l.count?, l.src?, l.dst?])).collect();
        let loops = loops?;
        let rows = self.rows().and_then(|rows| u64::try_from(rows).ok())?;
        Some((0..rows).map(move |mut row| {
            loops.iter().fold([0, 0], |[src, dst], [count, s, d]| {
                let n = (row % *count as u64) as i64;
                row /= *count as u64;
                [src + n * s, dst + n * d]
            })
        }))
    }
}

fn up(len: i64) -> i64 {
    len.saturating_add(BLOCK - 1).div_euclid(BLOCK) * BLOCK
}

/// The rules of a transfer, as far as its numbers are known (memory.md 2).
pub(crate) fn check(inst: &Inst<'_>, known: &[Known]) -> Result<(), Refusal> {
    let Some(t) = Transfer::new(inst, known, None) else { return Ok(()) };
    // Loops in registers are not known here; a run checks again with them.
    checked(inst, &t)
}

fn checked(inst: &Inst<'_>, t: &Transfer) -> Result<(), Refusal> {
    if let Some(pad) = &t.pad {
        for (name, given) in [("left", pad.left), ("right", pad.right)] {
            let Some(given) = given else { continue };
            if given < 0 || given.checked_mul(t.size).is_none_or(|bytes| bytes > BLOCK) {
                let what = format!("{given} elements of {} bytes are padded at the {name}", t.size);
                return Err(broken(inst, "pad", what, "pad at most 32 bytes on a side"));
            }
        }
    }
    let on_chip = |n: usize| t.spaces.get(n).is_some_and(|space| *space != Space::Gm);
    let names = ["source", "destination"];
    for (n, at) in [t.src, t.dst].into_iter().enumerate() {
        if let Some(at) = at.filter(|at| on_chip(n) && at.rem_euclid(BLOCK) != 0) {
            let what = format!("the {} is {} byte {at}, which is no multiple of 32", names[n], t.spaces[n].name());
            return Err(broken(inst, "align", what, format!("{} is one", at.wrapping_sub(at.rem_euclid(BLOCK)))));
        }
    }
    let range = |name: &str, given: Maybe, most: i64| match given {
        Some(given) if !(0..=most).contains(&given) => {
            let what = format!("{name} is {given}, and must be 0 to {most}");
            Err(broken(inst, "range", what, "use several transfers"))
        }
        _ => Ok(()),
    };
    const FIELD: i64 = 65535;
    const LOOP: i64 = (1 << 21) - 1;
    const GLOBAL: i64 = (1 << 40) - 1;
    // A burst into L1 is longer than one into UB (cube.md 2).
    let burst = if t.spaces[1] == Space::L1 { LOOP } else { FIELD };
    // Of blocks the innermost strides are gaps, which have been checked.
    let strides = t.loops.iter().skip(usize::from(t.blocks.is_some()));
    let used = strides.clone().filter(|l| l.count.is_some_and(|count| count > 1));
    if let Some([len, count, sg, dg]) = t.blocks {
        for (name, given) in [("len", len), ("n", count), ("the source gap", sg), ("the destination gap", dg)] {
            range(name, given, FIELD)?;
        }
    }
    {
        for l in used {
            for (n, stride) in [l.src, l.dst].into_iter().enumerate() {
                let Some(stride) = stride.filter(|_| on_chip(n)) else { continue };
                if !(0..=LOOP).contains(&stride) || stride % BLOCK != 0 {
                    let what = format!("the {} stride in {} is {stride}", names[n], t.spaces[n].name());
                    return Err(broken(inst, "align", what, "use a multiple of 32 from 0 to 2097120"));
                }
            }
        }
        if t.blocks.is_none() {
            range("len", t.len, burst)?;
        }
        for (n, l) in t.loops.iter().enumerate().skip(usize::from(t.blocks.is_some())) {
            range(if n == 0 { "n" } else { "a loop's count" }, l.count, if n == 0 { burst } else { LOOP })?;
            for (side, stride) in [l.src, l.dst].into_iter().enumerate().filter(|(side, _)| !on_chip(*side)) {
                range(&format!("the {} stride", names[side]), stride, GLOBAL)?;
            }
        }
    }
    if t.is_empty() {
        return Ok(());
    }
    // Rows of a copy into L1 may meet, which is only warned of; rows of blocks from L1 have no such rule.
    let has_rule = inst.call.row.rules.contains(&"overlap") && t.spaces[1] != Space::L1 || t.spaces[0] == Space::Ub;
    if has_rule {
        overlap(inst, t)?;
    }
    let (Some(reach), Some(image), Some(len)) = (t.reach(), t.image(), t.len) else { return Ok(()) };
    for (n, (at, bytes)) in [(t.src, len), (t.dst, image)].into_iter().enumerate() {
        if let Some(at) = at.filter(|_| on_chip(n)) {
            let whole = reach[n].saturating_add(i128::from(bytes));
            let whole = u64::try_from(whole).unwrap_or(u64::MAX).min(i64::MAX as u64);
            check::bounds(inst, t.spaces[n], at, whole)?;
        }
    }
    Ok(())
}

/// `X-overlap` of rows that go to L1, where the later one in order stays (cube.md 2).
pub(crate) fn warnings(inst: &Inst<'_>, known: &[Known]) -> Option<Diagnostic> {
    let t = Transfer::new(inst, known, None).filter(|t| t.spaces == [Space::Gm, Space::L1] && !t.is_empty())?;
    let found = overlap(inst, &t).err()?;
    Some(Diagnostic::warning(found.rule, found.message).help("the later one stays"))
}

/// The vector core whose UB the cube core writes; `None` where it writes another memory.
pub(crate) fn other_core(inst: &Inst<'_>, known: &[Known]) -> Option<u8> {
    match inst.call.row.sem {
        Sem::Dma(Dma::L1Ub) => Some(0),
        Sem::Dma(Dma::CopyBlocks) if inst.call.name.ends_with("cbuf_to_ubuf") => {
            let given = inst.call.operand("sid").and_then(|n| known.get(n)?.int()).unwrap_or(0);
            Some(given.clamp(0, 1) as u8)
        }
        _ => None,
    }
}

/// Two rows write no common byte; in one memory no row reads what another one writes.
fn overlap(inst: &Inst<'_>, t: &Transfer) -> Result<(), Refusal> {
    let (Some(image), Some(rows), Some(reach)) = (t.image(), t.rows(), t.reach()) else { return Ok(()) };
    let wrong = |what: String| Err(broken(inst, "overlap", what, "use strides of at least a row"));
    // Most transfers are nests: each loop moves beyond everything that those inside of it write.
    let mut dims: Vec<(i64, i64)> =
        t.loops.iter().filter_map(|l| Some((l.dst?, l.count?))).filter(|d| d.1 > 1).collect();
    dims.sort_unstable();
    let mut covered = i128::from(image);
    let is_nest = dims.iter().all(|(stride, count)| {
        let apart = i128::from(*stride) >= covered;
        covered += i128::from(*stride) * i128::from(count - 1);
        apart
    });
    if !is_nest {
        if rows.saturating_mul(i128::from(image)) > reach[1] + i128::from(image) {
            return wrong(format!("{rows} rows of {image} bytes go to {} bytes", reach[1] + i128::from(image)));
        }
        let mut starts: Vec<i64> = t.starts().into_iter().flatten().map(|[_, dst]| dst).collect();
        starts.sort_unstable();
        if let Some(pair) = starts.windows(2).find(|pair| pair[1] - pair[0] < image) {
            let what = format!("two rows of {image} bytes start {} bytes apart", pair[1] - pair[0]);
            return wrong(what);
        }
    }
    let (Some(src), Some(dst), Some(len)) = (t.src, t.dst, t.len) else { return Ok(()) };
    if t.spaces == [Space::Ub, Space::Ub] {
        let Some(starts) = t.starts() else { return Ok(()) };
        let all: Vec<[i64; 2]> = starts.map(|[s, d]| [src + s, dst + d]).collect();
        let mut written: Vec<(i64, usize)> = all.iter().enumerate().map(|(n, [_, d])| (*d, n)).collect();
        written.sort_unstable();
        for (n, [s, _]) in all.iter().enumerate() {
            let from = written.partition_point(|(d, _)| d + len <= *s);
            let meets = written.iter().skip(from).take_while(|(d, _)| *d < s + len).find(|(_, k)| *k != n);
            if let Some((d, k)) = meets {
                let what = format!("row {n} reads from byte {s} on what row {k} writes from byte {d} on");
                return wrong(what);
            }
        }
    }
    Ok(())
}

/// Moves the bytes.
pub(crate) fn run(issue: &Issue<'_, '_>, core: &mut Core<'_>) -> Result<(), Refusal> {
    let inst = issue.inst;
    let known: Vec<Known> = issue
        .args
        .iter()
        .map(|arg| match arg {
            Value::Int(v) | Value::Ptr(_, v) => Known::Int(*v),
            _ => Known::No,
        })
        .collect();
    let Some(t) = Transfer::new(inst, &known, Some((core.specials, issue.args))) else { return Ok(()) };
    checked(inst, &t)?;
    let (Some(Value::Ptr(from, src)), Some(Value::Ptr(mut to, dst))) = (issue.args.first(), issue.args.get(1).copied())
    else {
        return Ok(());
    };
    if let Some(other) = other_core(inst, &known) {
        to.unit = 1 + u32::from(other);
    }
    if t.is_empty() {
        return Ok(());
    }
    let (Some(starts), Some(len), Some(image)) = (t.starts(), t.len, t.image()) else { return Ok(()) };
    let atomic = if to.space == Space::Gm { atomic(issue, core, len)? } else { None };
    for [s, d] in starts {
        let (s, d) = (src.wrapping_add(s), dst.wrapping_add(d));
        for (place, at, len, writes) in [(*from, s, len, false), (to, d, image, true)] {
            if place.space == Space::Gm {
                core.memory.global(place, at, len as u64, writes)?;
            }
        }
        if let Some((elem, func)) = atomic {
            combine(core, (*from, s), (to, d), len, elem, func);
            continue;
        }
        let left = t.pad.as_ref().and_then(|pad| pad.left).unwrap_or(0) * t.size;
        if len > 0 {
            core.memory.copy((*from, s as u64), (to, (d + left) as u64), len as u64)?;
        }
        let raw = t.pad.map(|pad| pad.value.to_le_bytes());
        for k in (0..left).chain(left + len..image) {
            let in_element = if k < left { k } else { k - left - len } % t.size;
            let value = raw.and_then(|raw| raw.get(in_element as usize).copied());
            core.memory.put(to, (d + k) as u64, value);
        }
    }
    Ok(())
}

/// Operations of stores that combine, as they are numbered in the control register.
pub(crate) const ATOMIC_OPS: [&str; 3] = ["add", "max", "min"];
/// Types of stores that combine, as they are numbered in the control register from 1 on.
const ATOMIC_TYPES: [(&str, Elem); 6] = [
    ("f32", Elem::F32),
    ("f16", Elem::F16),
    ("s16", Elem::I16),
    ("s32", Elem::I32),
    ("s8", Elem::I8),
    ("bf16", Elem::Bf16),
];

/// The element type that a word of a combining store names.
pub(crate) fn atomic_elem(word: &str) -> Option<Elem> {
    ATOMIC_TYPES.iter().find(|(name, _)| *name == word).map(|(_, elem)| *elem)
}

/// The function of a combining store.
pub(crate) fn atomic_func(word: &str) -> Func {
    match word {
        "max" => Func::Max,
        "min" => Func::Min,
        _ => Func::Add,
    }
}

/// The combining operation that the control register selects for stores to global memory of rows of `len` bytes
/// (cube.md 7).
pub(crate) fn atomic(issue: &Issue<'_, '_>, core: &Core<'_>, len: i64) -> Result<Option<(Elem, Func)>, Refusal> {
    let control = core.specials.control;
    let Some(number) = (control >> 6 & 7).checked_sub(1) else { return Ok(None) };
    let elem = ATOMIC_TYPES.get(number as usize).map(|(_, elem)| *elem);
    let word = ATOMIC_OPS.get((control >> 9 & 3) as usize);
    let given = issue.inst.args.get(1).and_then(|ty| if let crate::Ty::Ptr(elem, _) = ty { Some(*elem) } else { None });
    match (elem, word) {
        (Some(elem), Some(word)) if given == Some(elem) && len % (elem.bits() as i64 / 8) == 0 => {
            Ok(Some((elem, atomic_func(word))))
        }
        (Some(elem), Some(_)) => {
            let what = format!("the control register combines {elem}, and rows are {len} bytes of another type");
            issue.broken("atomic", what, "store elements of the type in CTRL, or clear it with set_atomic_none")
        }
        _ => {
            let what = format!("the control register is {control:#x}: bits 8:6 or 10:9 mean nothing");
            issue.broken("atomic", what, "clear it with set_atomic_none")
        }
    }
}

fn combine(core: &mut Core<'_>, from: (Place, i64), to: (Place, i64), len: i64, elem: Elem, func: Func) {
    let size = elem.bits() as i64 / 8;
    for k in (0..len).step_by(size as usize) {
        let new = element(core, (from.0, from.1 + k), size);
        combine_element(core, (to.0, to.1 + k), elem, func, new);
    }
}

fn element(core: &Core<'_>, (place, at): (Place, i64), size: i64) -> Option<u64> {
    (0..size).try_fold(0u64, |bits, j| Some(bits | u64::from(core.memory.byte(place, (at + j) as u64)?) << (8 * j)))
}

/// Combines an element with what is there. Returns whether both are defined; undefined ones change nothing.
pub(crate) fn combine_element(core: &mut Core<'_>, to: (Place, i64), elem: Elem, func: Func, new: Option<u64>) -> bool {
    let size = elem.bits() as usize / 8;
    let old = element(core, to, size as i64);
    let Some(bits) = new.zip(old).and_then(|(new, old)| func.eval(elem, &[(elem, old), (elem, new)])) else {
        return false;
    };
    let bits = bits.to_le_bytes();
    core.memory.put_all(to.0, to.1 as u64, bits.get(..size).unwrap_or(&bits));
    true
}

/// The bytes that a transfer reads and writes, if all of its numbers are known: `(operand, start, length, writes)`;
/// `None` for more than `most` rows.
pub fn footprint(
    inst: &Inst<'_>,
    known: &[Known],
    specials: Option<&Specials>,
    most: usize,
) -> Option<Vec<(usize, i64, u64, bool)>> {
    let t = Transfer::new(inst, known, specials.map(|s| (s, &[][..])))?;
    if t.is_empty() {
        return Some(Vec::new());
    }
    let (src, dst, len, image) = (t.src?, t.dst?, t.len?, t.image()?);
    if t.rows()? > most as i128 {
        return None;
    }
    let rows = t.starts()?.flat_map(|[s, d]| [(0, src + s, len as u64, false), (1, dst + d, image as u64, true)]);
    Some(rows.filter(|row| row.2 > 0).collect())
}
