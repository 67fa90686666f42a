//! Sorts, merges, scatters and gathers of long rows against models of their own (isa/irregular.md 4 and 6): ties, both
//! zeros, NaNs, lists that are not sorted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::cmp::Ordering;
use tessera_exec::engine::{Engine, IssueError};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AttrValue, Inst, ScalarArg};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, TileType};
use tessera_testkit::random::Random;

/// A tile operand: its role, the element type and the number of rows of a row-major tile, and the contents.
type Operand<'a> = (Role, Elem, u64, &'a [u8]);

/// Issues an instruction on tiles with these contents, tracked or not, and gives what the destinations hold.
fn issue(inst: &Inst, tracked: bool, operands: &[Operand<'_>]) -> Result<Vec<Vec<u8>>, IssueError> {
    let mut engine = Engine::new(inst.profile, tracked);
    let mut tiles = Vec::new();
    for (role, elem, rows, bytes) in operands {
        let columns = bytes.len() as u64 / elem.size().unwrap() / rows;
        let tile = engine.tile(&TileType::new(Loc::Vec, *elem, *rows, columns)).unwrap();
        engine.write(tile, bytes).unwrap();
        tiles.push((*role, tile));
    }
    engine.issue(inst, &tiles)?;
    Ok(tiles.iter().filter(|t| t.0.is_dst()).map(|t| engine.read(t.1, 0).unwrap().elements).collect())
}

/// Few different values, so that there are ties, and special ones.
fn value(random: &mut Random, elem: Elem) -> u64 {
    let (f32s, f16s) = (
        [0, 1 << 31, 0x7FC0_0000, 0xFF80_0001, 0x7F80_0000, 0xFF80_0000, 1],
        [0, 0x8000, 0x7E00, 0xFC01, 0x7C00, 0xFC00, 1],
    );
    match random.range(0, 4) {
        0 if elem == Elem::F32 => random.pick(&f32s),
        0 => random.pick(&f16s),
        1 => random.next() & elem.mask(),
        _ => elem.encode_f64(random.range(0, 60) as f64 - 30.0, tessera_isa::codec::Overflow::Infinity),
    }
}

fn number(elem: Elem, bits: u64) -> f64 {
    match elem.decode(bits) {
        tessera_isa::codec::Number::Float(v) => v,
        tessera_isa::codec::Number::Int(v) => v as f64,
    }
}

/// Downward, every number before every NaN.
fn order(x: f64, y: f64) -> Ordering {
    y.partial_cmp(&x).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
}

fn record(elem: Elem, value: u64, index: u32) -> [u8; 8] {
    ((value & elem.mask()) | u64::from(index) << 32).to_le_bytes()
}

fn value_of(elem: Elem, record: &[u8]) -> f64 {
    number(elem, u64::from_le_bytes(record.try_into().unwrap()) & elem.mask())
}

fn bytes_of(elem: Elem, elements: &[u64]) -> Vec<u8> {
    let size = elem.size().unwrap() as usize;
    elements.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

#[test]
fn blocks_are_sorted_downward_and_ties_keep_their_order() {
    let mut random = Random(31);
    for round in 0..40 {
        let (elem, rows) = ([Elem::F32, Elem::F16][round % 2], random.range(1, 3));
        let columns = 16 * random.range(1, 12);
        let values: Vec<u64> = (0..rows * columns).map(|_| value(&mut random, elem)).collect();
        let index_rows = if round % 3 == 0 { 1 } else { rows };
        let indices: Vec<u64> = (0..index_rows * columns).map(|_| random.next() & 0xFFFF_FFFF).collect();
        let mut want = Vec::new();
        for (row, values) in values.chunks(columns as usize).enumerate() {
            let first = if index_rows == 1 { 0 } else { row * columns as usize };
            let mut records: Vec<(f64, [u8; 8])> = values
                .iter()
                .zip(&indices[first..])
                .map(|(v, i)| (number(elem, *v), record(elem, *v, *i as u32)))
                .collect();
            records.chunks_mut(32).for_each(|block| block.sort_by(|x, y| order(x.0, y.0)));
            want.extend(records.into_iter().flat_map(|r| r.1));
        }
        let inst = Inst::new(Opcode::Tsort32, Form::Plain, Profile::Cpu);
        let (values, indices) = (bytes_of(elem, &values), bytes_of(Elem::U32, &indices));
        let operands = [
            (Role::Src, elem, rows, &*values),
            (Role::Idx, Elem::U32, index_rows, &*indices),
            (Role::Dst, elem, rows, &*vec![0xA5; want.len()]),
        ];
        for tracked in [false, true] {
            assert_eq!(issue(&inst, tracked, &operands).unwrap(), [&*want], "{elem} {rows}x{columns} {tracked}");
        }
    }
}

/// Merged by the words of the specification; what each list gave.
fn merged(elem: Elem, lists: &[&[u8]], exhausted: bool) -> (Vec<u8>, [u16; 4]) {
    let (mut taken, mut out) = ([0usize; 4], Vec::new());
    let head = |taken: &[usize; 4], n: usize| lists[n].chunks(8).nth(taken[n]);
    while !(exhausted && (0..lists.len()).any(|n| head(&taken, n).is_none())) {
        let mut best: Option<(usize, &[u8])> = None;
        for n in 0..lists.len() {
            let Some(next) = head(&taken, n) else { continue };
            if best.is_none_or(|(_, b)| order(value_of(elem, next), value_of(elem, b)) == Ordering::Less) {
                best = Some((n, next));
            }
        }
        let Some((n, record)) = best else { break };
        out.extend_from_slice(record);
        taken[n] += 1;
    }
    (out, taken.map(|n| n as u16))
}

fn records(random: &mut Random, elem: Elem, n: u64, sorted: bool) -> Vec<u8> {
    let mut all: Vec<[u8; 8]> = (0..n).map(|_| record(elem, value(random, elem), random.next() as u32)).collect();
    if sorted {
        all.sort_by(|x, y| order(value_of(elem, x), value_of(elem, y)));
    }
    all.concat()
}

#[test]
fn merging_takes_the_head_that_comes_first() {
    let mut random = Random(32);
    for round in 0..40 {
        let (elem, sorted) = ([Elem::F32, Elem::F16][round % 2], round % 3 > 0);
        let columns = elem.size().unwrap();
        let n = 4 * random.range(1, 30);
        let blocks: Vec<Vec<u8>> = (0..8).map(|_| records(&mut random, elem, n, sorted)).collect();
        let mut inst = Inst::new(Opcode::Tmrgsort, Form::Blocks, Profile::Cpu);
        inst.scalars.push(ScalarArg::new(Role::Scalar, (n * 8 / columns) as i64));
        let groups = blocks.chunks(4).map(|four| four.iter().map(|b| &**b).collect::<Vec<_>>());
        let want: Vec<u8> = groups.flat_map(|four| merged(elem, &four, false).0).collect();
        let src = blocks.concat();
        let operands = [(Role::Src, elem, 1, &*src), (Role::Dst, elem, 1, &*vec![0xA5; src.len()])];
        for tracked in [false, true] {
            assert_eq!(issue(&inst, tracked, &operands).unwrap(), [&*want], "{elem} blocks of {n} {tracked}");
        }

        let (lists, exhausted) = (2 + round % 3, round % 4 < 2);
        let sources: Vec<Vec<u8>> = (0..lists)
            .map(|_| {
                let n = 4 * random.range(1, 30);
                records(&mut random, elem, n, sorted)
            })
            .collect();
        let all: Vec<&[u8]> = sources.iter().map(|s| &**s).collect();
        let (full, taken) = merged(elem, &all, exhausted);
        let room = vec![0xA5; 8 * 4 * random.range(1, 60) as usize];
        let mut want = room.clone();
        let fits = want.len().min(full.len());
        want[..fits].copy_from_slice(&full[..fits]);
        let mut inst = Inst::new(Opcode::Tmrgsort, Form::Lists, Profile::Cpu);
        inst.attrs.set(AttrName::Exhausted, Some(AttrValue::Bool(exhausted)));
        let roles = [Role::Src0, Role::Src1, Role::Src2, Role::Src3];
        let mut operands: Vec<Operand<'_>> = roles.into_iter().zip(&all).map(|(role, s)| (role, elem, 1, *s)).collect();
        let counts = vec![0xA5; 32];
        operands.extend([(Role::Dst, elem, 1, &*room), (Role::Executed, Elem::U16, 1, &*counts)]);
        for tracked in [false, true] {
            let got = issue(&inst, tracked, &operands).unwrap();
            assert_eq!(got[0], want, "{elem}, {lists} lists, exhausted {exhausted}, {tracked}");
            assert_eq!(got[1][..8], bytes_of(Elem::U16, &taken.map(u64::from)), "{elem} counts");
        }
    }
}

#[test]
fn indices_pick_and_put_and_must_be_in_range() {
    let mut random = Random(33);
    for round in 0..48 {
        let elem = [Elem::F32, Elem::I8, Elem::F16, Elem::I64][round % 4];
        let index = [Elem::I32, Elem::U16, Elem::U32, Elem::I16][round / 4 % 4];
        let (rows, columns) = (random.range(1, 5), 32 * random.range(1, 3));
        let (n, size) = ((rows * columns) as usize, elem.size().unwrap() as usize);
        let src: Vec<u8> = (0..n * size).map(|_| random.next() as u8).collect();
        let mut at: Vec<u64> = (0..n).map(|_| random.below(n as u64)).collect();
        // One is negative, or just outside.
        let is_outside = round % 5 == 4;
        if is_outside {
            at[n / 2] = if index.is_signed() && round % 2 == 0 { u64::MAX } else { n as u64 };
        }
        let indices = bytes_of(index, &at);
        let old = vec![0xA5; n * size];
        let operands =
            [(Role::Src, elem, rows, &*src), (Role::Idx, index, rows, &*indices), (Role::Dst, elem, rows, &*old)];
        for (op, rule) in [(Opcode::Tgather, "tgather-index"), (Opcode::Tscatter, "tscatter-index")] {
            let mut want = old.clone();
            for (k, to) in at.iter().enumerate().filter(|_| !is_outside) {
                let (from, to) = if op == Opcode::Tgather { (*to as usize, k) } else { (k, *to as usize) };
                want[to * size..][..size].copy_from_slice(&src[from * size..][..size]);
            }
            for tracked in [false, true] {
                match issue(&Inst::new(op, Form::Plain, Profile::Cpu), tracked, &operands) {
                    Ok(got) => assert!(!is_outside && got == [&*want], "{op:?} {elem} by {index}"),
                    Err(refused) => assert!(is_outside && refused.0[0].rule == rule, "{refused:?}"),
                }
            }
        }
    }
}

/// A scatter into a tile that was never written defines the elements that an index names, and no others.
#[test]
fn scattered_elements_become_defined() {
    let mut random = Random(23);
    for (elem, index) in [(Elem::F32, Elem::I32), (Elem::F16, Elem::I16)] {
        let size = elem.size().unwrap() as usize;
        let mut engine = Engine::new(Profile::Cpu, true);
        let tile = |engine: &mut Engine, elem| engine.tile(&TileType::new(Loc::Vec, elem, 2, 96)).unwrap();
        let tiles = [(Role::Src, elem), (Role::Idx, index), (Role::Dst, elem)].map(|(r, e)| (r, tile(&mut engine, e)));
        // Elsewhere than at a word of the marks.
        engine.assign(tiles[2].1, 32 + 2 * 96 * 8 * 2).unwrap();
        let indices: Vec<u64> = (0..192).map(|_| random.range(0, 150)).collect();
        let bytes: Vec<u8> = indices.iter().flat_map(|k| k.to_le_bytes().into_iter().take(size)).collect();
        engine.write(tiles[0].1, &random.bytes(192 * size)).unwrap();
        engine.write(tiles[1].1, &bytes).unwrap();
        engine.issue(&Inst::new(Opcode::Tscatter, Form::Plain, Profile::Cpu), &tiles).unwrap();
        let data = engine.read(tiles[2].1, 0).unwrap();
        for (k, defined) in data.defined.chunks(size).enumerate() {
            let want = if indices.contains(&(k as u64)) { 0xFF } else { 0 };
            assert!(defined.iter().all(|byte| *byte == want), "{elem}, element {k}: {defined:?}");
        }
    }
}
