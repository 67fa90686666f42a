//! Shadow memory: the partition of a memory into bytes with equal access history.
//!
//! Bytes that were always accessed together form one **cell**. A memory is a list of grains of 32 bytes. A grain holds
//! the number of its cell, or one number per byte if they differ. Cells are only ever split, so a loop that accesses
//! the same tiles repeatedly reaches a fixed point after its first iterations.

use smallvec::SmallVec;

/// Bytes of a grain.
const GRAIN: usize = 32;
/// A grain whose bytes differ: the rest is its number.
const MIXED: u32 = 1 << 31;

/// The number of a cell; 0 stands for bytes without an access.
pub type CellId = u32;

/// Bytes with the same history.
#[derive(Clone, Debug, Default)]
pub struct Cell<T> {
    pub entries: Vec<T>,
    bytes: u64,
    /// Bytes that the access that is looked up covers, and when that was.
    covered: (u64, u64),
    /// The cell that those become.
    becomes: CellId,
}

/// All cells.
#[derive(Debug)]
pub struct Cells<T> {
    list: Vec<Cell<T>>,
    now: u64,
}

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Cells { list: vec![Cell { entries: Vec::new(), bytes: 0, covered: (0, 0), becomes: 0 }], now: 0 }
    }
}

impl<T> Cells<T> {
    #[inline]
    pub fn kept(&self, cell: CellId) -> &[T] {
        self.list.get(cell as usize).map_or(&[], |cell| &cell.entries)
    }

    #[inline]
    pub fn entries(&mut self, cell: CellId) -> Option<&mut Vec<T>> {
        self.list.get_mut(cell as usize).map(|cell| &mut cell.entries)
    }
}

/// One memory.
#[derive(Debug, Default)]
pub struct Shadow {
    grains: Vec<u32>,
    mixed: Vec<[u32; GRAIN]>,
    /// Grows whenever a byte gets another cell.
    pub stamp: u64,
}

/// The length of the prefix of equal grains.
#[inline]
fn run_length(grains: &[u32]) -> usize {
    let Some(first) = grains.first() else { return 0 };
    let differs = |chunk: &[u32]| chunk.iter().fold(0, |d, g| d | (g ^ first)) != 0;
    let whole = grains.chunks_exact(16).take_while(|chunk| !differs(chunk)).count() * 16;
    whole + grains[whole..].iter().take_while(|g| *g == first).count()
}

impl Shadow {
    pub fn new() -> Shadow {
        Shadow { stamp: 1, ..Shadow::default() }
    }

    fn grow(&mut self, end: usize) {
        let grains = end.div_ceil(GRAIN);
        if self.grains.len() < grains {
            self.grains.resize(grains.next_power_of_two(), 0);
        }
    }

    /// The bytes of a grain that differ.
    fn bytes_of(&mut self, grain: usize) -> Option<&mut [u32; GRAIN]> {
        let of = self.grains.get_mut(grain)?;
        if *of & MIXED == 0 {
            self.mixed.push([*of; GRAIN]);
            *of = MIXED | (self.mixed.len() - 1) as u32;
        }
        let number = (*of & !MIXED) as usize;
        self.mixed.get_mut(number)
    }

    /// Goes through a range: whole grains that are equal at once, the others byte by byte.
    fn visit(&mut self, from: usize, to: usize, mut see: impl FnMut(&mut [u32], u64)) {
        let mut at = from;
        while at < to {
            let grain = at / GRAIN;
            if at.is_multiple_of(GRAIN) && to - at >= GRAIN && self.grains.get(grain).is_some_and(|g| g & MIXED == 0) {
                let Some(rest) = self.grains.get_mut(grain..to / GRAIN) else { return };
                let count = run_length(rest);
                see(&mut rest[..count], GRAIN as u64);
                at += count * GRAIN;
                continue;
            }
            let (first, end) = (at % GRAIN, (to - grain * GRAIN).min(GRAIN));
            let Some(bytes) = self.bytes_of(grain) else { return };
            bytes[first..end].iter_mut().for_each(|byte| see(std::slice::from_mut(byte), 1));
            at = grain * GRAIN + end;
        }
    }

    /// The cells of some ranges, each byte in exactly one of them; cells that reach further are cut.
    pub fn locate<T: Clone>(
        &mut self,
        cells: &mut Cells<T>,
        ranges: impl Iterator<Item = (usize, usize)> + Clone,
    ) -> SmallVec<[CellId; 2]> {
        cells.now += 1;
        let now = cells.now;
        let mut found: SmallVec<[CellId; 2]> = SmallVec::new();
        for (from, to) in ranges.clone() {
            self.grow(to);
            self.visit(from, to, |grains, size| {
                let id = grains[0];
                let Some(cell) = cells.list.get_mut(id as usize) else { return };
                if cell.covered.1 != now {
                    cell.covered = (0, now);
                    cell.becomes = id;
                    found.push(id);
                }
                cell.covered.0 += size * grains.len() as u64;
            });
        }
        let mut is_cut = false;
        for id in &mut found {
            let Some(cell) = cells.list.get_mut(*id as usize) else { continue };
            let covered = cell.covered.0;
            if *id != 0 && covered == cell.bytes {
                continue;
            }
            is_cut = true;
            cell.bytes = cell.bytes.saturating_sub(covered);
            let entries = cell.entries.clone();
            cells.list.push(Cell { entries, bytes: covered, covered: (0, 0), becomes: 0 });
            let new = cells.list.len() as CellId - 1;
            if let Some(cell) = cells.list.get_mut(*id as usize) {
                cell.becomes = new;
            }
            *id = new;
        }
        if is_cut {
            self.stamp += 1;
            for (from, to) in ranges {
                self.visit(from, to, |grains, _| {
                    if let Some(cell) = cells.list.get(grains[0] as usize).filter(|cell| cell.covered.1 == now) {
                        grains.fill(cell.becomes);
                    }
                });
            }
        }
        found
    }
}
