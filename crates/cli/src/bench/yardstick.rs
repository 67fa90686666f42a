//! Baselines: the best plain loop for the same work, over as many bytes of the same cache.

use super::ring::{Instructions, LINE, turns};
use super::{Case, Work};
use std::hint::black_box;
use tessera::Result;
use tessera_kernels::memory::AlignedBytes;

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

/// A function compiled for the vectors that the machine has: the loops are plain, the compiler makes vectors of them.
macro_rules! vectorised {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)? $body:block)*) => { $(
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
                fn widest($($arg: $ty),*) $(-> $out)? $body
                #[target_feature(enable = "avx2,fma")]
                fn wide($($arg: $ty),*) $(-> $out)? $body
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the features were asked for.
                    return unsafe { widest($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the features were asked for.
                    return unsafe { wide($($arg),*) };
                }
            }
            fn plain($($arg: $ty),*) $(-> $out)? $body
            plain($($arg),*)
        }
    )* };
}

pub(super) use vectorised;

vectorised! {
    add(a: &[f32], b: &[f32], to: &mut [f32]) {
        for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
            *to = a + b;
        }
    }

    add_number(a: &[f32], to: &mut [f32]) {
        let number = black_box(1.25);
        for (to, a) in to.iter_mut().zip(a) {
            *to = a + number;
        }
    }

    divide(a: &[f32], b: &[f32], to: &mut [f32]) {
        for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
            *to = a / b;
        }
    }

    square_root(a: &[f32], to: &mut [f32]) {
        for (to, a) in to.iter_mut().zip(a) {
            *to = a.sqrt();
        }
    }

    /// exp within a few ulp, for numbers that neither overflow nor vanish.
    exp(a: &[f32], to: &mut [f32]) {
        // Adding it leaves the nearest integer in the last bits.
        const ROUND: f32 = 12_582_912.0;
        for (to, a) in to.iter_mut().zip(a) {
            let rounded = a.mul_add(std::f32::consts::LOG2_E, ROUND);
            let r = a.mul_add(std::f32::consts::LOG2_E, -(rounded - ROUND));
            let p = [0.001_333_355_8, 0.009_618_129, 0.055_504_11, 0.240_226_5, std::f32::consts::LN_2, 1.0];
            let p = p.iter().skip(1).fold(p[0], |sum: f32, c| sum.mul_add(r, *c));
            *to = f32::from_bits(p.to_bits().wrapping_add(rounded.to_bits() << 23));
        }
    }

    /// log within a few ulp, for positive normal numbers.
    log(a: &[f32], to: &mut [f32]) {
        for (to, a) in to.iter_mut().zip(a) {
            let offset = a.to_bits().wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits());
            let exponent = (offset as i32 >> 23) as f32;
            let r = f32::from_bits(a.to_bits().wrapping_sub(offset & 0xFF80_0000)) - 1.0;
            let p = [-0.090_762_97, 0.159_043_52, -0.174_257_47, 0.199_420_93, -0.249_606_46, 0.333_337_46, -0.500_005];
            let p = p.iter().skip(1).fold(p[0], |sum: f32, c| sum.mul_add(r, *c));
            *to = exponent.mul_add(std::f32::consts::LN_2, (r * r).mul_add(p, r));
        }
    }

    /// 1/sqrt within a few ulp from an integer's guess, for positive normal numbers.
    guessed_root(a: &[f32], to: &mut [f32]) {
        for (to, a) in to.iter_mut().zip(a) {
            let mut y = f32::from_bits(0x5F37_5A86 - (a.to_bits() >> 1));
            for _ in 0..3 {
                y *= (-0.5 * a * y).mul_add(y, 1.5);
            }
            *to = y;
        }
    }

    /// This many multiply-adds of f32, in as many chains as hide their latency.
    multiply_adds(count: usize) -> f32 {
        const CHAINS: usize = 10;
        let mut sums = [[0.0f32; 16]; CHAINS];
        let (x, y) = (black_box([0.5f32; 16]), black_box([0.25f32; 16]));
        for _ in 0..count / (16 * CHAINS) {
            for sum in &mut sums {
                for (lane, (x, y)) in sum.iter_mut().zip(x.iter().zip(&y)) {
                    *lane = lane.mul_add(*x, *y);
                }
            }
        }
        sums.iter().flatten().sum()
    }
}

/// 1/sqrt within a few ulp: the machine's guess, where it has one, and a step of Newton's.
pub fn reciprocal_root(a: &[f32], to: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;

        #[target_feature(enable = "avx512f")]
        fn widest(a: &[f32], to: &mut [f32]) {
            for (to, a) in to.as_chunks_mut::<16>().0.iter_mut().zip(a.as_chunks::<16>().0) {
                // SAFETY: sixteen numbers on both sides.
                unsafe {
                    let x = _mm512_loadu_ps(a.as_ptr());
                    let y = _mm512_rsqrt14_ps(x);
                    let half = _mm512_mul_ps(_mm512_mul_ps(x, _mm512_set1_ps(-0.5)), y);
                    let step = _mm512_fmadd_ps(half, y, _mm512_set1_ps(1.5));
                    _mm512_storeu_ps(to.as_mut_ptr(), _mm512_mul_ps(y, step));
                }
            }
        }

        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature was asked for.
            return unsafe { widest(a, to) };
        }
    }
    guessed_root(a, to);
}
