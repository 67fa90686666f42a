//! Copy kernels: the loops that move the bytes of a nest.

use crate::nest::{DST, Dim, Nest, OPERANDS, OutOfBounds, SRC, walk};
use crate::{Level, Sides};
use smallvec::SmallVec;

/// One loop of a kernel, strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    pub n: usize,
    pub src: isize,
    pub dst: isize,
}

/// A loop around a kernel: how often, and the bytes that each side moves. Offsets move with wrapping arithmetic, since the
/// step after the last point may leave the memory.
pub type Outer<const N: usize> = (u64, [i64; N]);

impl Loop {
    pub fn outer(&self) -> Outer<2> {
        (self.n as u64, [self.src as i64, self.dst as i64])
    }

    pub fn of(d: &Dim) -> Loop {
        Loop { n: d.extent as usize, src: d.step[SRC] as isize, dst: d.step[DST] as isize }
    }
}

pub const ONCE: Loop = Loop { n: 1, src: 0, dst: 0 };

/// The two inner loops and the bytes moved at each of their points. The kernel decides what else the loops mean (rows,
/// a transpose).
#[derive(Clone, Copy, Debug)]
pub struct Inner {
    pub a: Loop,
    pub b: Loop,
    pub run: usize,
}

/// A kernel over raw memory.
///
/// Safety: for every point of the two loops, `run` bytes at its source offset are readable and `run` bytes at its
/// destination offset writable, and the machine has the instructions that the kernel was compiled for.
pub type Raw = unsafe fn(*const u8, *mut u8, &Inner);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Scalar,
    Nibbles,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "raw kernels exist on x86-64 only"))]
    Raw(Raw),
}

/// A nest with its kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    kind: Kind,
    inner: Inner,
    outer: SmallVec<[Outer<2>; 6]>,
    /// The offsets of the first elements, the source's first.
    base: [i64; 2],
    /// Of the source and of the destination.
    spans: [(i128, i128); 2],
}

impl Kernel {
    /// Chooses the kernel of a copying nest.
    pub fn new(nest: &Nest, level: Level) -> Kernel {
        let (from, to) = (nest.bits[SRC], nest.bits[DST]);
        let mut loops: SmallVec<[Loop; 8]> = nest.dims.iter().map(Loop::of).collect();
        let nibbles = from == 4 || to == 4;
        let mut run = if nibbles { 1 } else { (from.min(to) / 8) as usize };
        let whole = from == to && !nibbles;
        if let Some(last) = loops.last().filter(|l| whole && l.src == run as isize && l.dst == run as isize) {
            run = run.saturating_mul(last.n);
            loops.pop();
        }
        let kind = if nibbles { Kind::Nibbles } else { choose(&mut loops, run, nest.bits, level.clamped()) };
        let b = loops.pop().unwrap_or(ONCE);
        let a = loops.pop().unwrap_or(ONCE);
        Kernel {
            kind,
            inner: Inner { a, b, run },
            outer: loops.iter().map(Loop::outer).collect(),
            base: [nest.base[SRC], nest.base[DST]],
            spans: [nest.span(SRC), nest.span(DST)],
        }
    }

    /// Copies; the operands start at the given bytes, the source's first.
    #[inline]
    pub fn run(&self, mut bytes: Sides<'_>, at: [usize; 2]) -> Result<(), OutOfBounds> {
        bytes.check(self.spans, at)?;
        match self.kind {
            Kind::Raw(raw) if self.outer.is_empty() => {
                let (src, dst) = bytes.pointers();
                let [s, d] = self.base.map(|base| base as isize);
                let (src, dst) =
                    (src.wrapping_add(at[0]).wrapping_offset(s), dst.wrapping_add(at[1]).wrapping_offset(d));
                // SAFETY: every point of the loops lies inside the spans, and both of them inside their memories.
                unsafe { raw(src, dst, &self.inner) };
            }
            _ => self.run_each(bytes, at),
        }
        Ok(())
    }

    /// Copies with the loops around the kernel, inside the spans.
    #[inline(never)]
    fn run_each(&self, mut bytes: Sides<'_>, at: [usize; 2]) {
        if !self.is_raw() {
            return self.scalar(&mut bytes, at);
        }
        let (src, dst) = bytes.pointers();
        // SAFETY: the spans were checked, and nothing else accesses the memories.
        unsafe { self.run_at(src.wrapping_add(at[0]), dst.wrapping_add(at[1])) }
    }

    /// Whether [`Kernel::run_at`] can run it.
    pub fn is_raw(&self) -> bool {
        matches!(self.kind, Kind::Raw(_))
    }

    /// Copies between operands that start here.
    ///
    /// # Safety
    /// It is raw, its spans from there on are readable and writable, and nothing else touches them meanwhile.
    pub unsafe fn run_at(&self, src: *const u8, dst: *mut u8) {
        if let Kind::Raw(raw) = self.kind {
            walk(&self.outer, self.base, &mut |[s, d]| {
                // SAFETY: every point of the loops lies inside the spans.
                unsafe { raw(src.wrapping_offset(s as isize), dst.wrapping_offset(d as isize), &self.inner) }
            });
        }
    }

    fn scalar(&self, bytes: &mut Sides<'_>, at: [usize; 2]) {
        let nibbles = matches!(self.kind, Kind::Nibbles);
        let at = at.map(|at| if nibbles { at * 2 } else { at } as i64);
        let base = [self.base[0].wrapping_add(at[0]), self.base[1].wrapping_add(at[1])];
        let loops: SmallVec<[_; 8]> =
            self.outer.iter().copied().chain([self.inner.a.outer(), self.inner.b.outer()]).collect();
        walk(&loops, base, &mut |[src, dst]| match nibbles {
            true => bytes.map((src, 4), (dst, 4), |nibble| nibble),
            false => bytes.copy(src as usize, dst as usize, self.inner.run),
        });
    }
}

/// The kernel for runs of `run` bytes in these loops; moves the loops it wants innermost to the end.
#[cfg(target_arch = "x86_64")]
fn choose(loops: &mut SmallVec<[Loop; 8]>, run: usize, bits: [u32; OPERANDS], level: Level) -> Kind {
    // Raw kernels may rely on at least one point with at least one byte.
    if level == Level::Scalar || run == 0 || loops.iter().any(|l| l.n == 0) {
        return Kind::Scalar;
    }
    let special = crate::x86::boxes(loops, run, level)
        .or_else(|| crate::x86::transpose(loops, run, level))
        .or_else(|| crate::x86::narrow(loops, bits, level));
    Kind::Raw(special.unwrap_or_else(|| crate::x86::rows(loops.is_empty(), run, level)))
}

#[cfg(not(target_arch = "x86_64"))]
fn choose(_: &mut SmallVec<[Loop; 8]>, _: usize, _: [u32; OPERANDS], _: Level) -> Kind {
    Kind::Scalar
}

impl Nest {
    /// Copies every element from `src` to `dst`. To run a nest more than once, make a [`Plan`] of it.
    pub fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<(), OutOfBounds> {
        Kernel::new(self, Level::best()).run(Sides::Two(src, dst), [0, 0])
    }
}
