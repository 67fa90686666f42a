//! Loads and stores of registers and predicates (micro/memory.md 4 to 7).

use crate::call::Inst;
use crate::check::{self, Known, Refusal, broken};
use crate::reg::{Align, BYTES, Bits, Mask, Reg, Stream};
use crate::run::{Core, Issue, Made, Place, Results};
use crate::table::{Load, Sem, Space, Store};
use crate::types::lane_bits;
use smallvec::{SmallVec, smallvec};
use tessera_isa::diag::Diagnostic;

/// Bytes that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub space: Space,
    pub at: i64,
    pub len: u64,
    pub writes: bool,
}

/// A word of a load or store: the name without its number, and the number in bytes.
fn split(word: &str) -> (&str, usize) {
    match word.rsplit_once("_B").and_then(|(name, bits)| Some((name, bits.parse::<usize>().ok()?))) {
        Some((name, bits)) => (name, bits / 8),
        None => (word, 1),
    }
}

fn load_dist<'a>(inst: &'a Inst<'_>) -> &'a str {
    inst.call.attr_word("dist").unwrap_or("NORM")
}

/// The word of a store, which the lanes decide where it is left out.
pub(crate) fn store_dist<'a>(inst: &'a Inst<'_>) -> &'a str {
    let usual = match inst.lanes().map(lane_bits) {
        Some(8) => "NORM_B8",
        Some(16) => "NORM_B16",
        _ => "NORM_B32",
    };
    inst.call.attr_word("dist").unwrap_or(usual)
}

/// The granularity of a store's mask; none where any will do.
pub(crate) fn store_mask(dist: &str) -> Option<u8> {
    let (name, size) = split(dist);
    match (name, dist) {
        ("1PT", _) => None,
        (_, "MRG4CHN_B8" | "MRG2CHN_B16") => Some(32),
        (_, "MRG2CHN_B8") => Some(16),
        _ => Some((size * 8).min(32) as u8),
    }
}

/// The number of bytes that a load reads.
fn read_len(dist: &str) -> u64 {
    let (name, e) = split(dist);
    match name {
        "BRC" => e as u64,
        "BRC_BLK" => 32,
        "US" | "UNPK" => 128,
        "UNPK4" => 64,
        "DS" => 512,
        "E2B" => 8 * e as u64,
        _ => 256,
    }
}

/// The byte, counted from the address, that becomes byte k of a register; none where it is 0.
fn read_from((name, e): (&str, usize), k: usize) -> Option<usize> {
    match name {
        "BRC" => Some(k % e),
        "BRC_BLK" => Some(k % 32),
        "US" => Some(e * (k / e / 2) + k % e),
        "DS" => Some(2 * e * (k / e) + k % e),
        "UNPK" => (k % (2 * e) < e).then_some(e * (k / (2 * e)) + k % (2 * e)),
        "UNPK4" => k.is_multiple_of(4).then_some(k / 4),
        "E2B" => Some(e * (k / 32) + k % e),
        _ => Some(k),
    }
}

/// Bytes of the address that a load or store of one address is a multiple of.
fn alignment(inst: &Inst<'_>) -> u64 {
    let size = inst.args.iter().find_map(|ty| ty.pointer()).map_or(1, |(_, size)| size);
    match inst.call.row.sem {
        Sem::Load(Load::Dist) => match split(load_dist(inst)) {
            ("BRC", e) => e as u64,
            ("E2B", e) => 8 * e as u64,
            _ => 32,
        },
        Sem::Store(Store::Dist) => match split(store_dist(inst)) {
            ("1PT", e) => e as u64,
            _ => 32,
        },
        Sem::Load(Load::Gather) | Sem::Store(Store::Scatter) => size,
        Sem::Load(Load::Predicate) | Sem::Store(Store::Predicate) => match inst.call.word(0) {
            Some("US" | "PK") => 8,
            _ => 32,
        },
        Sem::Load(Load::Pair | Load::Blocks | Load::GatherBlocks) | Sem::Store(Store::Pair | Store::Blocks) => 32,
        _ => 1,
    }
}

fn pointer(inst: &Inst<'_>) -> Option<usize> {
    inst.args.iter().position(|ty| ty.pointer().is_some())
}

/// The address that an access starts at: the pointer with its index; a form that moves the pointer starts at the pointer.
pub(crate) fn address(inst: &Inst<'_>, known: &[Known]) -> Option<i64> {
    let n = pointer(inst)?;
    let at = known.get(n)?.int()?;
    let size = inst.args.get(n)?.pointer()?.1 as i64;
    match inst.call.operand("i") {
        Some(i) if !inst.is_moving() => at.checked_add(known.get(i)?.int()?.checked_mul(size)?),
        _ => Some(at),
    }
}

/// Checks that the address, if it is known, is a multiple of the access's alignment.
pub(crate) fn aligned(inst: &Inst<'_>, known: &[Known]) -> Result<(), Refusal> {
    let (Some(at), wanted) = (address(inst, known), alignment(inst)) else { return Ok(()) };
    if at.rem_euclid(wanted as i64) == 0 {
        return Ok(());
    }
    let name = inst.args.iter().find_map(|ty| ty.pointer()).map_or("ub", |(space, _)| space.name());
    let what = format!("the address is {name} byte {at}, which is no multiple of {wanted}");
    Err(broken(inst, "align", what, format!("{} is one", at - at.rem_euclid(wanted as i64))))
}

/// Packed predicates at an address that is a multiple of 8 only; 16 is documented (memory.md 7).
pub(crate) fn hardly_aligned(inst: &Inst<'_>, known: &[Known]) -> Option<Diagnostic> {
    let is_packed = matches!(inst.call.row.sem, Sem::Load(Load::Predicate) | Sem::Store(Store::Predicate))
        && matches!(inst.call.word(0), Some("US" | "PK"));
    let at = address(inst, known).filter(|at| is_packed && at.rem_euclid(16) == 8)?;
    let rule = inst.call.row.rule(inst.call.name, "align");
    let what = format!("{}: the address is byte {at}, a multiple of 8 and not of 16", inst.call.name);
    Some(Diagnostic::warning(rule, what).help("use a multiple of 16, which is documented"))
}

/// The bytes that are certainly accessed, as far as numbers and masks are known. Accesses through lanes of index
/// registers are unknown.
pub fn footprint(inst: &Inst<'_>, known: &[Known]) -> Option<SmallVec<[Run; 8]>> {
    touched(inst, known, |n| match known.get(n) {
        Some(Known::Mask(mask)) => Some(*mask),
        _ => None,
    })
}

/// The bytes that are touched with any mask, where the addresses are known.
pub fn reach(inst: &Inst<'_>, known: &[Known]) -> Option<SmallVec<[Run; 8]>> {
    touched(inst, known, |n| match known.get(n) {
        Some(Known::Mask(mask)) => Some(*mask),
        _ => Some(Mask::of(Bits::ALL)),
    })
}

fn touched(inst: &Inst<'_>, known: &[Known], mask_of: impl Fn(usize) -> Option<Mask>) -> Option<SmallVec<[Run; 8]>> {
    let space = inst.args.get(pointer(inst)?)?.pointer()?.0;
    let at = address(inst, known)?;
    let run = |at: i64, len: u64, writes: bool| Run { space, at, len, writes };
    let int = |name: &str| known.get(inst.call.operand(name)?)?.int();
    let mask = || mask_of(inst.args.iter().position(|ty| ty.granularity().is_some())?);
    let block = |rs: i64, bs: i64, k: i64| at + 32 * (rs + k * bs);
    Some(match inst.call.row.sem {
        Sem::Load(load) => match load {
            Load::Dist => smallvec![run(at, read_len(load_dist(inst)), false)],
            Load::Pair => smallvec![run(at, 512, false)],
            Load::Predicate => smallvec![run(at, predicate_len(inst), false)],
            Load::Start => smallvec![run(at - at.rem_euclid(32), 32, false)],
            Load::Unaligned => {
                // The rest of the first block comes from the state.
                let first = (at + 31).div_euclid(32) * 32;
                let end = at + 256;
                let tail = if end.rem_euclid(32) == 0 { end } else { end - end.rem_euclid(32) + 32 };
                smallvec![run(first, (tail - first) as u64, false)]
            }
            Load::Blocks => {
                let (bs, mask) = (int("bs")? as u16, mask()?);
                let rs = if inst.is_moving() { 0 } else { int("rs")? as u16 };
                let active = |k: &i64| (0..32).any(|j| mask.bit(32 * *k as usize + j) == Some(true));
                (0..8).filter(active).map(|k| run(block(rs.into(), bs.into(), k), 32, false)).collect()
            }
            Load::Gather | Load::GatherBlocks => return None,
        },
        Sem::Store(store) => match store {
            Store::Pair => smallvec![run(at, 512, true)],
            Store::Predicate => smallvec![run(at, predicate_len(inst), true)],
            Store::Dist => {
                let (word, mask) = (split(store_dist(inst)), mask()?);
                if word.0 == "NORM" && mask.is_on(word.1) {
                    return Some(smallvec![run(at, BYTES as u64, true)]);
                }
                let written = Bits::from_fn(|k| {
                    store_from(word, k).is_some_and(|(_, bit)| bit.is_none_or(|b| mask.bit(b) != Some(false)))
                });
                runs(&written).map(|(start, len)| run(at + start as i64, len as u64, true)).collect()
            }
            Store::Blocks => {
                let (bs, mask) = (int("bs")? as u16, mask()?);
                let rs = if inst.is_moving() { 0 } else { int("rs")? as u16 };
                let size = (lane_bits(inst.lanes()?) / 8) as usize;
                let mut out = SmallVec::new();
                for k in 0..8i64 {
                    let written = Bits::from_fn(|j| {
                        let byte = 32 * k as usize + j;
                        j < 32 && mask.bit(byte / size * size) != Some(false)
                    });
                    let start = block(rs.into(), bs.into(), k);
                    out.extend(runs(&written).map(|(j, len)| run(start + j as i64, len as u64, true)));
                }
                out
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Runs of set bits: where they start, and how many bits they have.
fn runs(bits: &Bits) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut k = 0;
    std::iter::from_fn(move || {
        let start = (k..BYTES).find(|k| bits.get(*k))?;
        let end = (start..BYTES).find(|k| !bits.get(*k)).unwrap_or(BYTES);
        k = end;
        Some((start, end - start))
    })
}

fn predicate_len(inst: &Inst<'_>) -> u64 {
    match inst.call.word(0) {
        Some("US" | "PK") => 16,
        Some("DS") => 64,
        _ => 32,
    }
}

/// The byte of the register that becomes byte k from the address on, and the mask's bit that decides; none where no byte does.
fn store_from((name, e): (&str, usize), k: usize) -> Option<(usize, Option<usize>)> {
    match name {
        "1PT" => (k < e).then_some((k, None)),
        "PK" => {
            let half = e / 2;
            let piece = k / half;
            (e * piece < BYTES).then_some((e * piece + k % half, Some(e * piece)))
        }
        "PK4" => (4 * k < BYTES).then_some((4 * k, Some(4 * k))),
        _ => Some((k, Some(k / e * e))),
    }
}

/// The registers that a pair takes turns with: 1, 2, 4 or 32 bytes.
fn pair_size(word: Option<&str>) -> usize {
    match word {
        Some("BDINTLV") => 32,
        Some(word) => split(word).1,
        None => 1,
    }
}

/// The moved pointer of a form that has one (memory.md 4 and 7a).
fn moved(issue: &Issue<'_, '_>, results: &mut Results, at: i64) {
    if issue.inst.is_moving() {
        results.push(Made::Ptr(at));
    }
}

/// The distance by which a form moves its pointer, in bytes.
fn step(issue: &Issue<'_, '_>, immediate: bool) -> i64 {
    let size = pointer(issue.inst).and_then(|n| issue.inst.args.get(n)?.pointer()).map_or(1, |(_, size)| size as i64);
    issue.int("i").wrapping_mul(if immediate { 32 } else { size })
}

fn unit(size: u64, place: Place, issue: &Issue<'_, '_>) -> Result<(), Refusal> {
    if size > 0 && place.space == Space::AnySpace {
        return issue.broken("space", "the pointer points nowhere".into(), "use a pointer to ub");
    }
    Ok(())
}

pub(crate) fn load(issue: &Issue<'_, '_>, load: Load, core: &mut Core<'_>) -> Result<Results, Refusal> {
    let inst = issue.inst;
    let (place, base) = issue.ptr("src");
    unit(1, place, issue)?;
    let size = inst.args.first().and_then(|ty| ty.pointer()).map_or(1, |(_, size)| size as usize);
    let index = if inst.is_moving() { 0 } else { issue.int("i").wrapping_mul(size as i64) };
    let at = base.wrapping_add(index);
    let byte = |core: &Core<'_>, at: i64| core.memory.byte(place, at as u64);
    let mut results = Results::new();
    match load {
        Load::Dist => {
            let dist = load_dist(inst);
            let word = split(dist);
            let reg = match core.memory.bytes(place, at as u64, BYTES).filter(|_| dist == "NORM") {
                Some(bytes) => {
                    let mut reg = Reg::zero();
                    reg.bytes.copy_from_slice(bytes);
                    reg
                }
                None => Reg::from_bytes(|k| match read_from(word, k) {
                    Some(from) => byte(core, at + from as i64),
                    None => Some(0),
                }),
            };
            results.push(Made::Reg(Box::new(reg)));
            moved(issue, &mut results, base.wrapping_add(step(issue, false)));
        }
        Load::Pair => {
            let e = pair_size(inst.call.word(0));
            for half in 0..2 {
                let from = |k: usize| at + (2 * e * (k / e) + half * e + k % e) as i64;
                results.push(Made::Reg(Box::new(Reg::from_bytes(|k| byte(core, from(k))))));
            }
            moved(issue, &mut results, base.wrapping_add(step(issue, false)));
        }
        Load::Blocks => {
            let (bs, rs) = (i64::from(issue.int("bs") as u16), i64::from(issue.int("rs") as u16));
            let (mask, first) = (issue.only_mask(), if inst.is_moving() { 0 } else { rs });
            let active = |block: usize| {
                let mut bits = (0..32).map(|j| mask.bit(32 * block + j));
                let any = bits.clone().any(|bit| bit == Some(true));
                if any {
                    Some(true)
                } else if bits.any(|bit| bit.is_none()) {
                    None
                } else {
                    Some(false)
                }
            };
            let reg = Reg::from_bytes(|k| match active(k / 32) {
                Some(true) => byte(core, at + 32 * (first + (k / 32) as i64 * bs) + (k % 32) as i64),
                Some(false) => Some(0),
                None => None,
            });
            results.push(Made::Reg(Box::new(reg)));
            moved(issue, &mut results, base.wrapping_add(32 * rs));
        }
        Load::Start => results.push(Made::Align(capture(core, place, at))),
        Load::Unaligned => {
            let align = issue.align("al");
            if align.stream != Stream::Load {
                let what = "the state is one of a store stream".into();
                return issue.broken("align-kind", what, "start the stream with vldas");
            }
            let block = at - at.rem_euclid(32);
            if align.at != block {
                let what = format!("the state is for block {}, and the load is at {at}", align.at);
                return issue.broken("align-stream", what, "start the stream again with vldas");
            }
            let reg = Reg::from_bytes(|k| {
                let from = at + k as i64;
                match align.data.get((from - block) as usize) {
                    Some(captured) => *captured,
                    None => byte(core, from),
                }
            });
            let end = at + BYTES as i64;
            let next = match end.rem_euclid(32) {
                0 => Align { stream: Stream::Load, at: end, data: Vec::new() },
                _ => capture(core, place, end),
            };
            results.extend([Made::Reg(Box::new(reg)), Made::Align(next)]);
            let step =
                if inst.call.operand("n").is_some() { issue.int("n").wrapping_mul(size as i64) } else { BYTES as i64 };
            moved(issue, &mut results, base.wrapping_add(step));
        }
        Load::Gather => results.push(Made::Reg(Box::new(gather(issue, core, place, base, size)?))),
        Load::GatherBlocks => {
            let (offsets, mask) = (issue.reg(1), issue.only_mask());
            let mut reg = Reg::zero();
            for block in 0..8 {
                match mask.bit(4 * block) {
                    Some(true) => {
                        let offset = lane_number(issue, offsets, 4, block, "offset")?;
                        if offset % 32 != 0 {
                            let what = format!("offset {offset} of block {block} is no multiple of 32");
                            return issue.broken("align", what, "offsets of active blocks are multiples of 32");
                        }
                        let from = base.wrapping_add(offset as i64);
                        check::bounds(inst, place.space, from, 32)?;
                        (0..32).for_each(|j| reg.set_byte(32 * block + j, byte(core, from + j as i64)));
                    }
                    Some(false) => {}
                    None => (0..32).for_each(|j| reg.set_byte(32 * block + j, None)),
                }
            }
            results.push(Made::Reg(Box::new(reg)));
        }
        Load::Predicate => {
            let bit = |n: usize| byte(core, at + (n / 8) as i64).map(|byte| byte >> (n % 8) & 1 == 1);
            let mask = Mask::from_fn(|k| match inst.call.word(0) {
                Some("US") => bit(k / 2),
                Some("DS") => bit(2 * k),
                _ => bit(k),
            });
            results.push(Made::Mask(Box::new(mask)));
            moved(issue, &mut results, base.wrapping_add(step(issue, inst.call.name == "pldi")));
        }
    }
    Ok(results)
}

/// The state of a load stream at an address.
fn capture(core: &Core<'_>, place: Place, at: i64) -> Align {
    let block = at - at.rem_euclid(32);
    let data = (0..32).map(|j| core.memory.byte(place, (block + j) as u64)).collect();
    Align { stream: Stream::Load, at: block, data }
}

/// A number in a lane of an index register, read without sign.
fn lane_number(issue: &Issue<'_, '_>, reg: &Reg, size: usize, lane: usize, what: &str) -> Result<u64, Refusal> {
    match reg.known(size, lane) {
        Some(n) => Ok(n),
        None => issue.broken(
            "undefined-use",
            format!("the {what} of lane {lane} is undefined"),
            "define the lane, or mask it off",
        ),
    }
}

fn gather(issue: &Issue<'_, '_>, core: &Core<'_>, place: Place, base: i64, size: usize) -> Result<Reg, Refusal> {
    let (indices, mask) = (issue.reg(1), issue.only_mask());
    // Bytes become lanes of 16 bits.
    let lane = size.max(2);
    let mut reg = Reg::zero();
    for k in 0..BYTES / lane {
        match mask.on(lane, k) {
            Some(true) => {
                let index = lane_number(issue, indices, lane, k, "index")?;
                let from = base.saturating_add_unsigned(index.saturating_mul(size as u64));
                check::bounds(issue.inst, place.space, from, size as u64)?;
                (0..lane).for_each(|j| {
                    let value = if j < size { core.memory.byte(place, (from + j as i64) as u64) } else { Some(0) };
                    reg.set_byte(lane * k + j, value);
                });
            }
            Some(false) => {}
            None => reg.clear(lane, k),
        }
    }
    Ok(reg)
}

pub(crate) fn store(issue: &Issue<'_, '_>, store: Store, core: &mut Core<'_>) -> Result<Results, Refusal> {
    let inst = issue.inst;
    let name = if inst.call.operand("base").is_some() { "base" } else { "dst" };
    let (place, base) = issue.ptr(name);
    let size = inst.args.iter().find_map(|ty| ty.pointer()).map_or(1, |(_, size)| size as i64);
    let index = if inst.is_moving() { 0 } else { issue.int("i").wrapping_mul(size) };
    let at = base.wrapping_add(index);
    let mut results = Results::new();
    let put = |core: &mut Core<'_>, at: i64, value: Option<u8>| core.memory.put(place, at as u64, value);
    match store {
        Store::Dist => {
            let (dist, reg, mask) = (store_dist(inst), issue.reg(0), issue.only_mask());
            let word = split(dist);
            let is_whole = dist.starts_with("NORM") && mask.is_on(word.1);
            if is_whole && reg.defined.is_all() {
                core.memory.put_all(place, at as u64, &reg.bytes);
            } else {
                for k in 0..BYTES {
                    let Some((from, bit)) = store_from(word, k) else { continue };
                    match bit.map_or(Some(true), |bit| mask.bit(bit)) {
                        Some(true) => put(core, at + k as i64, reg.byte(from)),
                        Some(false) => {}
                        None => put(core, at + k as i64, None),
                    }
                }
            }
            moved(issue, &mut results, base.wrapping_add(step(issue, false)));
        }
        Store::Pair => {
            let e = pair_size(inst.call.word(0));
            for (half, reg) in [issue.reg(0), issue.reg(1)].into_iter().enumerate() {
                (0..BYTES).for_each(|k| put(core, at + (2 * e * (k / e) + half * e + k % e) as i64, reg.byte(k)));
            }
            moved(issue, &mut results, base.wrapping_add(step(issue, false)));
        }
        Store::Blocks => {
            let (bs, rs) = (i64::from(issue.int("bs") as u16), i64::from(issue.int("rs") as u16));
            let (reg, mask) = (issue.reg(0), issue.only_mask());
            let first = if inst.is_moving() { 0 } else { rs };
            let lane = inst.lanes().map_or(1, |ty| (lane_bits(ty) / 8) as usize);
            for k in 0..BYTES {
                let to = at + 32 * (first + (k / 32) as i64 * bs) + (k % 32) as i64;
                match mask.bit(k / lane * lane) {
                    Some(true) => put(core, to, reg.byte(k)),
                    Some(false) => {}
                    None => put(core, to, None),
                }
            }
            moved(issue, &mut results, base.wrapping_add(32 * rs));
        }
        Store::Scatter => scatter(issue, core, place, base)?,
        Store::Empty => results.push(Made::Align(Align::default())),
        Store::Append => {
            let n = issue.int("n").wrapping_mul(size);
            if !(0..=BYTES as i64).contains(&n) {
                let what = format!("{} elements are {n} bytes, and a register has 256", issue.int("n"));
                return issue.broken("count", what, "append 0 to 256 bytes");
            }
            let reg = issue.reg(2);
            let bytes = (0..n as usize).map(|k| reg.byte(k)).collect();
            results.push(Made::Align(append(issue, core, place, base, bytes)?));
            moved(issue, &mut results, base + n);
        }
        Store::AppendSqueezed => {
            let (kept, ar) = squeezed(issue, core)?;
            let reg = issue.reg(1);
            let bytes = (0..kept as usize).map(|k| reg.byte(k)).collect();
            results.push(Made::Align(append(issue, core, place, base.wrapping_add(ar), bytes)?));
            if inst.call.word(0) != Some("NO_POST_UPDATE") {
                core.specials.ar = Some(ar + kept);
            }
        }
        Store::Flush => {
            let end = base.wrapping_add(issue.int("n").wrapping_mul(size));
            flush(issue, core, place, end)?;
            moved(issue, &mut results, end);
        }
        Store::FlushSqueezed => {
            let ar = address_register(issue, core)?;
            flush(issue, core, place, base.wrapping_add(ar))?;
        }
        Store::Predicate => {
            let mask = issue.mask(0);
            let packed = inst.call.word(0) == Some("PK");
            let bytes = if packed { 16 } else { 32 };
            for n in 0..bytes {
                let bits = (0..8).map(|j| mask.bit((8 * n + j) << usize::from(packed)));
                let byte = bits.enumerate().try_fold(0u8, |byte, (j, bit)| Some(byte | u8::from(bit?) << j));
                put(core, at + n as i64, byte);
            }
            moved(issue, &mut results, base.wrapping_add(step(issue, inst.call.name == "psti")));
        }
        Store::AppendPredicate => {
            let mask = issue.mask(1);
            let lane = inst.args.get(1).and_then(|ty| ty.granularity()).map_or(4, |bits| usize::from(bits / 8));
            let n = BYTES / lane / 8;
            let byte = |n: usize| (0..8).try_fold(0u8, |byte, j| Some(byte | u8::from(mask.on(lane, 8 * n + j)?) << j));
            let bytes = (0..n).map(byte).collect();
            results.push(Made::Align(append(issue, core, place, base, bytes)?));
            results.push(Made::Ptr(base.wrapping_add(n as i64)));
        }
    }
    Ok(results)
}

fn scatter(issue: &Issue<'_, '_>, core: &mut Core<'_>, place: Place, base: i64) -> Result<(), Refusal> {
    let inst = issue.inst;
    let (reg, indices, mask) = (issue.reg(0), issue.reg(2), issue.only_mask());
    let size = inst.lanes().map_or(4, |ty| (lane_bits(ty) / 8) as usize);
    let mut seen: Vec<u64> = Vec::new();
    let mut writes = Vec::new();
    for k in 0..BYTES / size {
        let on = mask.on(size, k);
        if on == Some(false) {
            continue;
        }
        // With an undefined mask bit the index is looked at only where it is there.
        let index = match (on, indices.known(size, k)) {
            (None, None) => continue,
            (_, Some(index)) => index,
            (_, None) => lane_number(issue, indices, size, k, "index")?,
        };
        let at = base.saturating_add_unsigned(index.saturating_mul(size as u64));
        if on.is_some() {
            check::bounds(inst, place.space, at, size as u64)?;
            seen.push(index);
        } else if check::bounds(inst, place.space, at, size as u64).is_err() {
            continue;
        }
        writes.extend((0..size).map(|j| (at + j as i64, on.and_then(|_| reg.byte(size * k + j)))));
    }
    for (at, value) in writes {
        core.memory.put(place, at as u64, value);
    }
    seen.sort_unstable();
    if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        let rule = inst.call.row.rule(inst.call.name, "duplicate");
        let what = format!("{}: two active lanes have index {}; the higher lane stays", inst.call.name, twice[0]);
        core.notes.push(Diagnostic::warning(rule, what).help("hardware does not say which one stays"));
    }
    Ok(())
}

fn address_register(issue: &Issue<'_, '_>, core: &Core<'_>) -> Result<i64, Refusal> {
    match core.specials.ar {
        Some(ar) => Ok(ar),
        None => issue.broken("undefined-use", "AR is undefined".into(), "clear it first with pto.sprclr \"AR\""),
    }
}

/// The bytes that the last squeeze kept, and AR.
fn squeezed(issue: &Issue<'_, '_>, core: &Core<'_>) -> Result<(i64, i64), Refusal> {
    let kept = match core.specials.kept {
        Some(Some(kept)) => kept,
        Some(None) => {
            let what = "the count of the last squeeze is undefined".into();
            return issue.broken("undefined-use", what, "define the squeeze's mask");
        }
        None => {
            let what = "no squeeze has run before in this vecscope".into();
            return issue.broken("sqzn", what, "run vsqz or vusqz first");
        }
    };
    Ok((kept, address_register(issue, core)?))
}

fn store_state(issue: &Issue<'_, '_>) -> Result<Align, Refusal> {
    let align = issue.align("al");
    if align.stream == Stream::Load {
        let what = "the state is one of a load stream".into();
        return issue.broken("align-kind", what, "start the stream with init_align");
    }
    Ok(align)
}

/// Appends bytes to a store stream: whole blocks are written, the rest waits (memory.md 5).
fn append(
    issue: &Issue<'_, '_>,
    core: &mut Core<'_>,
    place: Place,
    at: i64,
    bytes: Vec<Option<u8>>,
) -> Result<Align, Refusal> {
    let state = store_state(issue)?;
    let first = if state.data.is_empty() { at } else { state.at };
    let expected = first + state.data.len() as i64;
    if expected != at {
        let what = format!("the stream goes on at byte {expected}, and the store is at {at}");
        return issue.broken("align-stream", what, "store where the stream goes on, or flush it first");
    }
    let mut data = state.data;
    data.extend(bytes);
    let end = first + data.len() as i64;
    let whole = end - end.rem_euclid(32);
    if whole <= first {
        return Ok(Align { stream: Stream::Store, at: first, data });
    }
    let rest = data.split_off((whole - first) as usize);
    check::bounds(issue.inst, place.space, first, data.len() as u64)?;
    for (n, byte) in data.into_iter().enumerate() {
        core.memory.put(place, (first + n as i64) as u64, byte);
    }
    Ok(Align { stream: Stream::Store, at: whole, data: rest })
}

/// Writes the waiting bytes of a stream that ends here.
fn flush(issue: &Issue<'_, '_>, core: &mut Core<'_>, place: Place, end: i64) -> Result<(), Refusal> {
    let state = store_state(issue)?;
    if state.data.is_empty() {
        return Ok(());
    }
    let expected = state.at + state.data.len() as i64;
    if expected != end {
        let what = format!("the stream ends at byte {expected}, and {end} is given");
        return issue.broken("align-stream", what, "give the end of the stream");
    }
    check::bounds(issue.inst, place.space, state.at, state.data.len() as u64)?;
    for (n, byte) in state.data.into_iter().enumerate() {
        core.memory.put(place, (state.at + n as i64) as u64, byte);
    }
    Ok(())
}
