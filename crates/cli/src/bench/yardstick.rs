//! Baselines: the best plain loop for the same work, over as many bytes of the same cache.

use super::ring::{Instructions, LINE, turns};
use super::{Case, Work};
use std::hint::black_box;
use tessera::Result;
use tessera_kernels::memory::AlignedBytes;
use tessera_yardstick::multiply_adds;

/// The baseline of a case.
#[derive(Clone, Copy, Debug)]
pub enum Yardstick {
    /// A memcpy that reads and writes as many bytes.
    Memcpy,
    /// A loop over two sources and a destination of f32, as many bytes together.
    Binary(&'static str, fn(&[f32], &[f32], &mut [f32])),
    /// A loop over a source and a destination of f32, as many bytes together.
    Unary(&'static str, fn(&[f32], &mut [f32])),
    /// As many multiply-adds of f32 in registers.
    MultiplyAdds,
    /// Another instruction.
    Instruction(&'static Case),
    /// A loop with data of its own, which is made first.
    Made(&'static str, Make),
}

/// Makes the work of one turn, on fresh data.
pub(super) type Make = fn() -> Box<dyn FnMut()>;

impl Yardstick {
    /// Its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Yardstick::Memcpy => "memcpy",
            Yardstick::Binary(name, _) | Yardstick::Unary(name, _) | Yardstick::Made(name, _) => name,
            Yardstick::MultiplyAdds => "multiply-adds in registers",
            Yardstick::Instruction(case) => case.name,
        }
    }
}

/// A yardstick made ready.
pub struct Laps {
    kind: Kind,
    /// The number of times a lap does the work of one instruction.
    turns: usize,
}

enum Kind {
    Memcpy(Streams),
    Binary(Streams, fn(&[f32], &[f32], &mut [f32])),
    Unary(Streams, fn(&[f32], &mut [f32])),
    MultiplyAdds(usize),
    Instruction(Box<Instructions>),
    Made(Vec<Box<dyn FnMut()>>),
}

impl std::fmt::Debug for Laps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Laps").field("turns", &self.turns).finish_non_exhaustive()
    }
}

impl Laps {
    /// The yardstick of a case, on the bytes of the case.
    pub fn new(case: &Case, tracked: bool) -> Result<Self> {
        let turns = turns(case);
        let kind = match case.yardstick {
            Yardstick::Memcpy => Kind::Memcpy(Streams::new(case, 2)),
            Yardstick::Binary(_, run) => Kind::Binary(Streams::new(case, 3), run),
            Yardstick::Unary(_, run) => Kind::Unary(Streams::new(case, 2), run),
            Yardstick::MultiplyAdds => Kind::MultiplyAdds(case.work.amount()),
            Yardstick::Made(_, make) => Kind::Made((0..turns).map(|_| make()).collect()),
            Yardstick::Instruction(other) => {
                let instructions = Instructions::new(other, tracked)?;
                return Ok(Laps { turns: instructions.turns(), kind: Kind::Instruction(Box::new(instructions)) });
            }
        };
        Ok(Laps { kind, turns })
    }

    /// The number of times a lap does the work of one instruction.
    pub fn turns(&self) -> usize {
        self.turns
    }

    /// Does the work of one lap.
    pub fn lap(&mut self) -> Result<()> {
        match &mut self.kind {
            Kind::Memcpy(streams) => streams.each(|from, _, to| to.copy_from_slice(from)),
            Kind::Binary(streams, run) => streams.each(*run),
            Kind::Unary(streams, run) => streams.each(|a, _, to| run(a, to)),
            Kind::MultiplyAdds(count) => {
                for _ in 0..self.turns {
                    black_box(multiply_adds(black_box(*count)));
                }
            }
            Kind::Instruction(instructions) => instructions.lap()?,
            Kind::Made(all) => all.iter_mut().for_each(|work| work()),
        }
        Ok(())
    }
}

/// Streams of f32 that together are as long as what an instruction reads and writes, at as many places.
#[derive(Debug)]
struct Streams {
    bytes: AlignedBytes,
    /// Elements of a stream, and of a stream with the gap behind it.
    len: usize,
    step: usize,
    streams: usize,
}

impl Streams {
    fn new(case: &Case, streams: usize) -> Self {
        let bytes = match case.work {
            Work::Bytes(bytes) => bytes,
            Work::MultiplyAdds(_) => 0,
        };
        let len = bytes / streams / 4;
        let step = len.next_multiple_of(LINE / 4);
        let ones: Vec<u8> = (0..turns(case) * streams * step).flat_map(|_| 1.5f32.to_le_bytes()).collect();
        Streams { bytes: AlignedBytes::from(ones.as_slice()), len, step, streams }
    }

    /// All places: first source, last source, destination.
    fn each(&mut self, run: impl Fn(&[f32], &[f32], &mut [f32])) {
        let (len, step) = (self.len, self.step);
        // SAFETY: every bit pattern is an f32, and the bytes are aligned to a cache line.
        let (_, all, _) = unsafe { self.bytes.align_to_mut::<f32>() };
        for place in all.chunks_exact_mut(self.streams * step) {
            let (sources, to) = place.split_at_mut((self.streams - 1) * step);
            let last = sources.len() - step;
            let (Some(a), Some(b), Some(to)) = (sources.get(..len), sources.get(last..last + len), to.get_mut(..len))
            else {
                return;
            };
            run(black_box(a), black_box(b), black_box(to));
        }
    }
}
