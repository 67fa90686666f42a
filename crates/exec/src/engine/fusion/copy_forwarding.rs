//! Copy propagation: operands are read from the copy's source, and the sums of products are written to the copy's
//! destination.
//!
//! An operand that was copied without a change of order is read from the copy's source by any instruction. Products
//! take their factors through copies that change the order of elements, too, even through several: into boxes, to Left
//! and Right. And they put their sums where the one copy of them would put them. Copies whose result is no longer
//! read, and dead after the chain, are not done at all.

use super::{Bytes, bytes};
use smallvec::SmallVec;
use tessera_kernels::nest::{DST, Nest, SRC};
use tessera_kernels::{FusedOp, LEFT, Place, RIGHT, RowSlice, SUMS};

/// An operand of an instruction that is read where it was copied from.
pub(super) struct ForwardedOperand {
    pub link: usize,
    pub operand: u8,
    pub place: Place,
    /// If it lies in a view of global memory: the number of the instruction that has the view, and how much further on it is
    /// than where that starts.
    pub view: Option<(usize, i64)>,
}

/// Instructions without the copies that are no longer needed.
pub(super) struct CopyForwarding {
    pub links: Vec<FusedOp>,
    /// Their numbers in the chain.
    pub numbers: Vec<usize>,
    /// Whether an instruction's result is dead after the chain.
    pub is_dead: Vec<bool>,
    pub moved: Vec<ForwardedOperand>,
}

/// The bytes of an element of f32.
const SIZE: i64 = 4;

type OperandBytes = Vec<SmallVec<[Bytes; 4]>>;

fn touched(links: &[FusedOp]) -> Option<OperandBytes> {
    links.iter().map(bytes).collect()
}

fn written(all: &OperandBytes, n: usize) -> Option<&Bytes> {
    all.get(n)?.first()
}

impl CopyForwarding {
    /// `is_dead` says, by instruction, whether its result is dead after the chain.
    pub fn new(links: Vec<FusedOp>, is_dead: Vec<bool>) -> CopyForwarding {
        let numbers = (0..links.len()).collect();
        let mut relay = CopyForwarding { links, numbers, is_dead, moved: Vec::new() };
        if relay.links.iter().any(|link| link.part.product().is_some()) {
            relay.products();
        }
        let moved = relay.as_they_lie();
        for m in &moved {
            let place = relay.links.get_mut(m.link).and_then(|link| link.places.get_mut(usize::from(m.operand)));
            place.into_iter().for_each(|place| *place = m.place);
        }
        relay.moved.extend(moved);
        relay
    }

    /// Removes an instruction; returns whether its result was dead.
    fn remove(&mut self, n: usize) -> bool {
        self.links.remove(n);
        self.numbers.remove(n);
        self.is_dead.remove(n)
    }

    fn products(&mut self) -> Option<()> {
        let mut n = 0;
        while n < self.links.len() {
            if *self.is_dead.get(n)?
                && let Some((copy, link)) = left_there(&self.links, n)
            {
                *self.links.get_mut(n)? = link;
                // The product now makes the result of the copy.
                *self.is_dead.get_mut(n)? = self.remove(copy);
            }
            n += 1;
        }
        // By number, since copies are yet to go.
        let mut moved: Vec<ForwardedOperand> = Vec::new();
        for n in 0..self.links.len() {
            for side in [LEFT, RIGHT] {
                if let Some((link, found)) = read_there(&self.links, &self.numbers, n, side) {
                    *self.links.get_mut(n)? = link;
                    moved.push(ForwardedOperand { link: *self.numbers.get(n)?, ..found });
                }
            }
        }
        for n in (0..self.links.len()).rev() {
            let all = touched(&self.links)?;
            let to = written(&all, n)?;
            let is_read = all.iter().skip(n + 1).any(|sides| sides.iter().skip(1).any(|side| side.meets(to)));
            if *self.is_dead.get(n)? && self.links.get(n)?.part.is_copy() && !is_read {
                self.remove(n);
            }
        }
        for mut m in moved {
            m.link = self.numbers.iter().position(|number| *number == m.link)?;
            self.moved.push(m);
        }
        Some(())
    }

    /// Finds operands that hold the result of an earlier plain copy, if neither source nor destination was changed
    /// since.
    fn as_they_lie(&self) -> Vec<ForwardedOperand> {
        let links = &self.links;
        let all: Vec<Option<SmallVec<[Bytes; 4]>>> = links.iter().map(bytes).collect();
        let written = |n: usize| all.get(n)?.as_ref()?.first();
        let mut found = Vec::new();
        for (n, link) in links.iter().enumerate().filter(|(_, link)| link.part.product().is_none()) {
            let sides = &link.part.sides;
            for (k, side) in sides.iter().enumerate().skip(1) {
                let is_alone = sides.iter().filter(|other| other.operand == side.operand).count() == 1;
                let find = || {
                    let bytes = *all.get(n)?.as_ref()?.get(k)?;
                    let copy = (0..n).rev().find(|m| written(*m).is_none_or(|to| to.meets(&bytes)))?;
                    let (to, from) = (*written(copy)?, *all.get(copy)?.as_ref()?.get(1)?);
                    let source = links.get(copy)?;
                    let by = from.first - to.first;
                    let there = Bytes { memory: from.memory, first: bytes.first + by, end: bytes.end + by, ..bytes };
                    let is_same = source.part.is_plain_copy() && bytes.is_within(&to);
                    let is_changed = (copy..=n).any(|m| written(m).is_none_or(|to| to.meets(&there)));
                    let place = source.places.get(usize::from(source.part.sides.get(1)?.operand))?;
                    let at = link.places.get(usize::from(side.operand))?.at.checked_add_signed(by as isize)?;
                    let place = Place { memory: place.memory, at };
                    let view = view(source, *self.numbers.get(copy)?, place);
                    let moved = ForwardedOperand { link: n, operand: side.operand, place, view };
                    (is_same && !is_changed && is_alone).then_some(moved)
                };
                found.extend(find());
            }
        }
        found
    }
}

/// A place relative to the view that a copy with this number reads, if it reads one.
fn view(copy: &FusedOp, number: usize, place: Place) -> Option<(usize, i64)> {
    let operand = copy.part.sides.get(1)?.operand;
    let view = copy.places.last().filter(|_| usize::from(operand) + 1 == copy.places.len())?;
    Some((number, place.at as i64 - view.at as i64))
}

/// The start of a side of an instruction.
fn place(link: &FusedOp, side: usize) -> Option<Place> {
    link.places.get(usize::from(link.part.sides.get(side)?.operand)).copied()
}

/// A copy of f32 as a list: by element of one operand, counted from the first byte that it touches of that, the byte of the other.
struct ElementMap {
    first: i64,
    list: Vec<Option<i64>>,
}

impl ElementMap {
    /// From operand `from` of the loops to operand `to`, which start at these bytes of their memories.
    fn new(nest: &Nest, (from, from_at): (usize, i64), (to, to_at): (usize, i64)) -> Option<ElementMap> {
        if nest.bits != [u32::BITS, u32::BITS, 0, 0] {
            return None;
        }
        let (first, end) = nest.span(from);
        let (first, len) = (i64::try_from(first).ok()?, usize::try_from((end - first) / i128::from(SIZE)).ok()?);
        let mut list = vec![None; len];
        let mut is_whole = true;
        nest.for_each_element(|at| {
            let by = at[from] - first;
            match usize::try_from(by / SIZE).ok().and_then(|n| list.get_mut(n)) {
                Some(slot) if by % SIZE == 0 => *slot = Some(at[to] + to_at),
                _ => is_whole = false,
            }
        });
        is_whole.then_some(ElementMap { first: first + from_at, list })
    }

    fn of(&self, at: i64) -> Option<i64> {
        let by = at.checked_sub(self.first)?;
        let slot = *self.list.get(usize::try_from(by / SIZE).ok()?)?;
        slot.filter(|_| by % SIZE == 0)
    }
}

/// A product with a side whose elements lie at these bytes of a memory, and where that side starts then.
fn moved(link: &FusedOp, side: usize, memory: Place, at: &[i64]) -> Option<(FusedOp, Place)> {
    let first = *at.first()?;
    let offsets: Vec<i64> = at.iter().map(|at| at - first).collect();
    let product = link.part.product()?.moved(side, &offsets)?;
    let start = Place { at: usize::try_from(first).ok()?, ..memory };
    let mut places = link.places.clone();
    *places.get_mut(usize::from(link.part.sides.get(side)?.operand))? = start;
    Some((FusedOp::new(RowSlice::of_product(&product)?, places), start))
}

/// The bytes of the elements of a product's side.
fn elements(link: &FusedOp, side: usize) -> Option<Vec<i64>> {
    let start = i64::try_from(place(link, side)?.at).ok()?;
    Some(link.part.product()?.offsets(side).into_iter().map(|at| at + start).collect())
}

/// The bytes between the first and the last of some elements.
fn around(memory: Place, at: &[i64]) -> Option<Bytes> {
    let (first, end) = (*at.iter().min()?, at.iter().max()?.checked_add(SIZE)?);
    Some(Bytes { memory: memory.memory.index(), first, end, step: 0, is_written: false })
}

/// For a product whose sums only one later copy uses: that copy, and the product that writes the sums to the copy's
/// destination.
fn left_there(links: &[FusedOp], n: usize) -> Option<(usize, FusedOp)> {
    let link = links.get(n)?;
    link.part.product()?;
    let all = touched(links)?;
    let to = written(&all, n)?;
    let touches = |m: &usize, bytes: &Bytes| all.get(*m).is_some_and(|sides| sides.iter().any(|b| b.meets(bytes)));
    let copy = (n + 1..links.len()).find(|m| touches(m, to))?;
    let into = written(&all, copy)?;
    let is_read_again = all.iter().skip(copy + 1).any(|sides| sides.iter().skip(1).any(|side| side.meets(to)));
    if is_read_again || (n..copy).any(|m| touches(&m, into)) {
        return None;
    }
    let source = links.get(copy)?;
    let nest = source.part.copied()?;
    let (from, dst) = (place(source, SRC)?, place(source, DST)?);
    let start = |place: Place| i64::try_from(place.at).ok();
    // A view of global memory lies elsewhere each time.
    let is_stored = usize::from(source.part.sides.first()?.operand) + 1 == source.places.len();
    if is_stored || from.memory != place(link, SUMS)?.memory {
        return None;
    }
    let carried = ElementMap::new(nest, (SRC, start(from)?), (DST, start(dst)?))?;
    let sums = elements(link, SUMS)?;
    // All of them, and each of them once.
    let at: Vec<i64> = sums.iter().map(|at| carried.of(*at)).collect::<Option<_>>()?;
    let (link, _) = moved(link, SUMS, dst, &at).filter(|_| nest.elements() == sums.len() as u64)?;
    Some((copy, link))
}

/// A product that reads a factor where copies took it from, as far back as it goes.
fn read_there(links: &[FusedOp], numbers: &[usize], n: usize, side: usize) -> Option<(FusedOp, ForwardedOperand)> {
    let link = links.get(n)?;
    let mut at = elements(link, side)?;
    let mut memory = place(link, side)?;
    let all = touched(links)?;
    let mut found = None;
    let mut before = n;
    let mut further = || {
        let bytes = around(memory, &at)?;
        let copy = (0..before).rev().find(|m| written(&all, *m).is_none_or(|to| to.meets(&bytes)))?;
        let source = links.get(copy)?;
        let (from, to) = (place(source, SRC)?, place(source, DST)?);
        let start = |place: Place| i64::try_from(place.at).ok();
        let carried = ElementMap::new(source.part.copied()?, (DST, start(to)?), (SRC, start(from)?))?;
        let there: Vec<i64> = at.iter().map(|at| carried.of(*at)).collect::<Option<_>>()?;
        let bytes = around(from, &there)?;
        if (copy..=n).any(|m| written(&all, m).is_none_or(|to| to.meets(&bytes))) {
            return None;
        }
        (at, memory, before) = (there, from, copy);
        if let Some((moved, place)) = moved(link, side, memory, &at) {
            let operand = link.part.sides.get(side)?.operand;
            let view = view(source, *numbers.get(copy)?, place);
            found = Some((moved, ForwardedOperand { link: n, operand, place, view }));
        }
        Some(())
    };
    while further().is_some() {}
    found
}
