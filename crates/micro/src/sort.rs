//! Records in UB: sorted in groups of 32, and merged (micro/vector.md 8).

use crate::call::Inst;
use crate::check::{self, Known, Refusal, broken, number_in};
use crate::run::{Core, Issue, Value};
use crate::table::{Sem, Sort, Space};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::sem::record_order;

const RECORD: i64 = 8;

/// The operands of a merge.
struct Merge {
    repeat: i64,
    lists: usize,
    stops: bool,
    /// Records of each list.
    lengths: [i64; 4],
}

fn merge(count: i64, config: i64) -> Option<Merge> {
    let repeat = config & 0xFF;
    let lists = match config >> 8 & 15 {
        0b0011 => 2,
        0b0111 => 3,
        0b1111 => 4,
        _ => return None,
    };
    let stops = config >> 12 & 1 == 1;
    let lengths = [0, 1, 2, 3].map(|k| if k < lists { count >> (16 * k) & 0xFFFF } else { 0 });
    let is_even = lists == 4 && lengths.iter().all(|n| *n == lengths[0]) && !stops;
    (repeat >= 1 && config as u64 >> 13 == 0 && (repeat == 1 || is_even)).then_some(Merge {
        repeat,
        lists,
        stops,
        lengths,
    })
}

fn score(inst: &Inst<'_>) -> Elem {
    let n = usize::from(inst.call.row.sem == Sem::Sort(Sort::Groups));
    if let Some(crate::Ty::Ptr(elem, _)) = inst.args.get(n) { *elem } else { Elem::F32 }
}

/// The bytes that are read and written: operand, start, length.
fn touched(inst: &Inst<'_>, known: &[Known]) -> Result<Vec<(usize, i64, u64)>, Refusal> {
    let int = |n: usize| known.get(n).and_then(|v| v.int());
    let mut out = Vec::new();
    let mut add = |n: usize, len: i64| out.extend(int(n).map(|at| (n, at, len as u64)));
    match inst.call.row.sem {
        Sem::Sort(Sort::Groups) => {
            number_in(inst, known, "n", "repeat", 0..=255)?;
            let Some(n) = int(3) else { return Ok(out) };
            let size = score(inst).bits() as i64 / 8;
            add(0, 32 * RECORD * n);
            add(1, 32 * size * n);
            add(2, 32 * 4 * n);
        }
        _ => {
            let (Some(count), Some(config)) = (int(5), int(6)) else { return Ok(out) };
            let Some(m) = merge(count, config) else {
                let what = format!("config {config:#x} with count {count:#x} says nothing that can be done");
                return Err(broken(inst, "config", what, "write the repeat, 3, 7 or 15 at bit 8, and bit 12"));
            };
            let total: i64 = m.lengths.iter().sum();
            add(0, RECORD * total * m.repeat);
            for (k, length) in m.lengths.iter().enumerate().take(m.lists) {
                let rounds = (m.repeat - 1) * RECORD * total;
                add(1 + k, if *length == 0 { 0 } else { rounds + RECORD * length });
            }
        }
    }
    Ok(out)
}

pub(crate) fn check(inst: &Inst<'_>, known: &[Known]) -> Result<(), Refusal> {
    let runs = touched(inst, known)?;
    let wanted = if inst.call.row.sem == Sem::Sort(Sort::Groups) { 32 } else { RECORD };
    let lists = runs.len();
    for (n, ty) in inst.args.iter().enumerate().filter(|(_, ty)| ty.pointer().is_some()) {
        let is_used = lists == 0 || runs.iter().any(|(operand, ..)| *operand == n);
        let Some(at) = known.get(n).and_then(|v| v.int()).filter(|at| is_used && at.rem_euclid(wanted) != 0) else {
            continue;
        };
        let what = format!("operand {n}, {ty}, is byte {at}, which is no multiple of {wanted}");
        return Err(broken(inst, "align", what, format!("{} is one", at - at.rem_euclid(wanted))));
    }
    if let Some((_, dst, written)) = runs.iter().find(|(n, ..)| *n == 0) {
        for (n, at, len) in runs.iter().filter(|(n, ..)| *n > 0) {
            if *written > 0 && *len > 0 && *at < dst + *written as i64 && *dst < at + *len as i64 {
                let what = format!(
                    "{}: the destination, bytes {dst} to {}, meets operand {n}, bytes {at} to {}",
                    inst.call.name,
                    dst + *written as i64 - 1,
                    at + *len as i64 - 1
                );
                return Err(Box::new(Diagnostic::error("overlap", what).help("write somewhere else")));
            }
        }
    }
    runs.iter().try_for_each(|(_, at, len)| check::bounds(inst, Space::Ub, *at, *len))
}

/// The bytes that a sort reads and writes, as [`crate::dma::footprint`] gives them.
pub fn footprint(inst: &Inst<'_>, known: &[Known]) -> Option<Vec<(usize, i64, u64, bool)>> {
    let runs = touched(inst, known).ok().filter(|runs| !runs.is_empty())?;
    Some(runs.into_iter().filter(|run| run.2 > 0).map(|(n, at, len)| (n, at, len, n == 0)).collect())
}

/// A record: its value, and its bytes.
struct Record {
    value: Option<u64>,
    bytes: [Option<u8>; 8],
}

pub(crate) fn run(issue: &Issue<'_, '_>, sem: Sort, core: &mut Core<'_>) -> Result<(), Refusal> {
    let inst = issue.inst;
    let elem = score(inst);
    let size = (elem.bits() / 8) as usize;
    let ptr = |n: usize| if let Some(Value::Ptr(place, at)) = issue.args.get(n) { Some((*place, *at)) } else { None };
    let Some((place, dst)) = ptr(0) else { return Ok(()) };
    let value = |bytes: &[Option<u8>]| {
        bytes.iter().take(size).enumerate().try_fold(0, |bits, (j, byte)| Some(bits | u64::from((*byte)?) << (8 * j)))
    };
    // With an undefined value, nothing is known of the order.
    let order = |x: &Record, y: &Record| match (x.value, y.value) {
        (Some(x), Some(y)) => record_order((elem, x), (elem, y)),
        _ => std::cmp::Ordering::Equal,
    };
    if sem == Sort::Groups {
        let (Some((_, src)), Some((_, idx))) = (ptr(1), ptr(2)) else { return Ok(()) };
        for group in 0..issue.int("n") {
            let mut records: Vec<Record> = (32 * group..32 * group + 32)
                .map(|k| {
                    let score = |j: usize| core.memory.byte(place, (src + k * size as i64 + j as i64) as u64);
                    let index = |j: usize| core.memory.byte(place, (idx + 4 * k + j as i64) as u64);
                    let byte = |j: usize| {
                        if j < size {
                            score(j)
                        } else if j < 4 {
                            Some(0)
                        } else {
                            index(j - 4)
                        }
                    };
                    let bytes: [Option<u8>; 8] = std::array::from_fn(byte);
                    Record { value: value(&bytes), bytes }
                })
                .collect();
            let is_known = records.iter().all(|record| record.value.is_some());
            records.sort_by(order);
            for (k, record) in (32 * group..).zip(&records) {
                for (j, byte) in record.bytes.iter().enumerate() {
                    core.memory.put(place, (dst + RECORD * k + j as i64) as u64, byte.filter(|_| is_known));
                }
            }
        }
        return Ok(());
    }
    let Some(m) = merge(issue.int("count"), issue.int("config")) else { return Ok(()) };
    let total: i64 = m.lengths.iter().sum();
    for round in 0..m.repeat {
        let lists: Vec<Vec<Record>> = (0..m.lists)
            .map(|k| {
                let src = ptr(1 + k).map_or(0, |(_, at)| at) + round * RECORD * total;
                let record = |n: i64| {
                    let byte = |j: usize| core.memory.byte(place, (src + RECORD * n + j as i64) as u64);
                    let bytes: [Option<u8>; 8] = std::array::from_fn(byte);
                    Record { value: value(&bytes), bytes }
                };
                (0..m.lengths.get(k).copied().unwrap_or(0)).map(record).collect()
            })
            .collect();
        let is_known = lists.iter().flatten().all(|record| record.value.is_some());
        let mut taken = [0u16; 4];
        let mut to = dst + round * RECORD * total;
        loop {
            let is_done =
                |(k, list): (usize, &Vec<Record>)| taken.get(k).is_some_and(|n| usize::from(*n) == list.len());
            if m.stops && lists.iter().enumerate().any(is_done) {
                break;
            }
            let heads = lists.iter().enumerate();
            let heads = heads.filter_map(|(k, list)| Some((k, list.get(usize::from(*taken.get(k)?))?)));
            // The first of equal ones is the least.
            let Some((k, record)) = heads.min_by(|(_, x), (_, y)| order(x, y)) else { break };
            for (j, byte) in record.bytes.iter().enumerate() {
                core.memory.put(place, (to + j as i64) as u64, byte.filter(|_| is_known));
            }
            to += RECORD;
            if let Some(n) = taken.get_mut(k) {
                *n += 1;
            }
        }
        core.specials.taken = Some(taken);
    }
    Ok(())
}
