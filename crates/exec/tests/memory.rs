//! Memories: their bytes, and which of them are defined.

use tessera_exec::engine::Engine;
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, TileType};
use tessera_kernels::MemoryId;
use tessera_kernels::memory::{AlignedBytes, Area, ByteSet, Memories, Memory, WordMask};
use tessera_kernels::nest::{DST, SRC, lower_copy};

#[test]
fn what_grows_is_zero_and_aligned() {
    let mut bytes = AlignedBytes::from([1, 2, 3].as_slice());
    for len in [2, 3, 200, 5000] {
        bytes.grow(len);
        assert_eq!(bytes.as_ptr().align_offset(64), 0);
        assert_eq!((bytes.len(), &bytes[..3]), (len.max(3), [1, 2, 3].as_slice()));
        assert!(bytes[3..].iter().all(|b| *b == 0));
    }
    bytes.fill(7);
    bytes.truncate(10);
    bytes.grow(300);
    assert_eq!((bytes[9], bytes.len()), (7, 300));
    assert!(bytes[10..].iter().all(|b| *b == 0));
    bytes.grow(6000);
    assert!(bytes[10..].iter().all(|b| *b == 0));
    bytes.truncate(11);
    assert_eq!(bytes.into_vec(), [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0]);
}

#[test]
fn a_write_set_is_taken_out_once() {
    let mut memory = Memory::new(vec![1; 100], true);
    memory.watch();
    memory.put(90, &[2; 20]);
    memory.note_written(90, 20);
    assert_eq!(memory.take_written().writes().collect::<Vec<_>>(), [(90, [2; 20].as_slice())]);
    assert_eq!(memory.take_written().writes().count(), 0);
    assert_eq!(memory.bytes()[80..], [[1; 10], [2; 10], [2; 10]].concat());
}

#[test]
fn memory_is_limited() {
    let mut memories = Memories::new(true);
    memories.reserve(MemoryId::POOL, 64).unwrap();
    assert_eq!(memories.get(MemoryId::POOL).map(|m| m.bytes().len()), Some(64));
    assert!(memories.reserve(MemoryId::POOL, Memories::LIMIT + 1).is_err());
}

/// 0xFF for every bit that is set, up to the highest one.
fn expand_bits(bits: u64) -> Vec<u8> {
    (0..64 - bits.leading_zeros()).map(|n| if bits >> n & 1 == 1 { 0xFF } else { 0 }).collect()
}

#[test]
fn ranges_agree_with_single_bytes() {
    let empty = || {
        let mut set = ByteSet::default();
        set.grow(300);
        (set, vec![false; 300])
    };
    let (mut set, mut plain) = empty();
    let (mut seed, mut picked) = (7u64, 0);
    for round in 0..4000 {
        // A set that was changed a few times is often the bytes before one, which need no bits.
        if round > 2000 && round % 3 == 0 {
            (set, plain) = empty();
            set.insert(0, round % 300);
            plain[..round % 300].fill(true);
        }
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let start = (seed >> 33) as usize % 300;
        let len = (seed >> 20) as usize % (300 - start + 1);
        let on = seed >> 63 == 1;
        if on {
            set.insert(start, len);
        } else {
            set.remove(start, len);
        }
        plain.iter_mut().skip(start).take(len).for_each(|b| *b = on);
        let (a, n) = (start / 2, len);
        assert_eq!(set.has_all(a, n), plain[a..a + n].iter().all(|b| *b));
        assert_eq!(set.has_none(a, n), !plain[a..a + n].iter().any(|b| *b));
        assert_eq!(set.first_missing(a, n), (a..a + n).find(|i| !plain[*i]));
        let mut runs = vec![false; 300];
        set.for_each_run(a, a + n, |s, l| runs[s..s + l].iter_mut().for_each(|b| *b = true));
        assert_eq!(runs[a..a + n], plain[a..a + n]);
        let mut other = ByteSet::default();
        other.grow(300);
        other.insert(0, 300);
        other.assign(a, &set.expand(a, n));
        assert!((a..a + n).all(|i| other.has(i) == plain[i]));
        let mask = WordMask::new(a, n, [(a, n / 3), (a + n / 2, n - n / 2)].into_iter());
        let inside = |i: &usize| (a..a + n / 3).contains(i) || (a + n / 2..a + n).contains(i);
        assert_eq!(set.has_mask(&mask), (a..a + n).filter(inside).all(|i| plain[i]));
        let mut masked = set.clone();
        masked.insert_mask(&mask);
        assert!((0..300).all(|i| masked.has(i) == (plain[i] || inside(&i))));
        masked.remove_mask(&mask);
        assert!((0..300).all(|i| masked.has(i) == (plain[i] && !inside(&i))));
        assert_eq!(masked.has_all(a, n), (a..a + n).all(|i| plain[i] && !inside(&i)));
        let (size, marks) = (1 << (seed >> 61 & 3), expand_bits(seed >> 8 & 0x3F_FFFF));
        let elements = set.elements(start, size);
        assert!(elements.is_none() || start.is_multiple_of(size));
        picked += usize::from(elements.is_some());
        for (k, at) in (start..300 - size).step_by(size).enumerate().filter(|_| elements.is_some()) {
            let bits = elements.unwrap().bits(size, k);
            assert!((0..size).all(|i| (bits >> i & 1 == 1) == plain[at + i]), "{size} from {start}");
        }
        let mut marked = set.clone();
        marked.insert_elements(start, size, &marks);
        let is_marked = |i: usize| i >= start && marks.get((i - start) / size) == Some(&0xFF);
        assert!((0..300).all(|i| marked.has(i) == (plain[i] || is_marked(i))));
        let to = (seed >> 40) as usize % (300 - n + 1);
        other.copy_from(&set, a, to, n);
        assert!((0..n).all(|i| other.has(to + i) == plain[a + i]));
        assert_eq!(other.has_all(0, 300), (0..300).all(|i| other.has(i)));
    }
    assert!(picked > 500);
}

#[test]
fn a_whole_tile_is_one_range_on_both_sides() {
    let nd = TileType::new(Loc::Vec, Elem::F16, 32, 64).resolve(Profile::Cpu);
    let nz = TileType::new(Loc::Mat, Elem::F16, 32, 64).resolve(Profile::Cpu);
    let nests = lower_copy([32, 64], &nd.layout(), &nz.layout(), 16);
    for operand in [SRC, DST] {
        let area = Area::of_nests(&nests, operand);
        assert_eq!(area, Area::range(0, 4096));
        assert_eq!(area.span(), Some((0, 4096)));
    }
}

/// New storage: its handle and first byte.
fn alloc(engine: &mut Engine, loc: Loc, bytes: u64) -> Option<(u32, u64)> {
    let handle = engine.alloc_storage(loc, bytes).ok()?;
    Some((handle, engine.storage(handle)?.at))
}

#[test]
fn freed_bytes_are_used_again_and_handles_are_not() {
    let mut engine = Engine::new(Profile::Cpu, true);
    let (a, at_a) = alloc(&mut engine, Loc::Vec, 100).unwrap();
    let (b, at_b) = alloc(&mut engine, Loc::Mat, 100).unwrap();
    assert_eq!((at_a, at_b, engine.storage_used(Loc::Vec)), (0, 128, 100));
    assert!(engine.free_storage(a));
    let (c, at_c) = alloc(&mut engine, Loc::Vec, 128).unwrap();
    assert_eq!((at_c, engine.storage_used(Loc::Vec)), (0, 128));
    assert!(c != a && c != b && engine.storage(a).is_none() && !engine.free_storage(a));
    assert_eq!(alloc(&mut engine, Loc::Vec, 1).unwrap().1, 256);
}

#[test]
fn a_gap_that_is_too_small_stays_for_another() {
    let mut engine = Engine::new(Profile::Cpu, true);
    let all: Vec<(u32, u64)> = (0..4).map(|_| alloc(&mut engine, Loc::Vec, 128).unwrap()).collect();
    assert!(engine.free_storage(all[1].0));
    assert_eq!(alloc(&mut engine, Loc::Vec, 256).unwrap().1, 512);
    assert_eq!(alloc(&mut engine, Loc::Vec, 128).unwrap().1, 128);
    assert_eq!(alloc(&mut engine, Loc::Vec, 128).unwrap().1, 768);
}
