//! Plain loops that `tessera bench` compares instructions with: compiled for speed, whatever the program around them is
//! compiled for.

use std::hint::black_box;

/// Elements that are moved by index.
pub const ELEMENTS: usize = 128 * 128;

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

vectorised! {
    /// a + b.
    add(a: &[f32], b: &[f32], to: &mut [f32]) {
        for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
            *to = a + b;
        }
    }

    /// a + a number.
    add_number(a: &[f32], to: &mut [f32]) {
        let number = black_box(1.25);
        for (to, a) in to.iter_mut().zip(a) {
            *to = a + number;
        }
    }

    /// a / b.
    divide(a: &[f32], b: &[f32], to: &mut [f32]) {
        for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
            *to = a / b;
        }
    }

    /// The machine's square root.
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

vectorised! {
    /// `out[i] = values[indices[i]]`, with indices modulo the number of values.
    gather_loop(values: &[f32; ELEMENTS], indices: &[u32], out: &mut [f32]) {
        for (to, k) in out.iter_mut().zip(indices) {
            *to = values[*k as usize % ELEMENTS];
        }
    }

    /// `out[indices[i]] = values[i]`, with indices modulo the number of results.
    scatter_loop(values: &[f32], indices: &[u32], out: &mut [f32; ELEMENTS]) {
        for (value, k) in values.iter().zip(indices) {
            out[*k as usize % ELEMENTS] = *value;
        }
    }
}

/// A record as one number that rises where values fall; the values here are numbers, and not zero twice.
fn ordered(value: u32, index: u32) -> u64 {
    let bits = value as i32;
    let rank = bits ^ (bits >> 31 & i32::MAX);
    u64::from(!rank as u32 ^ 1 << 31) << 32 | u64::from(index)
}

/// Sorts every 32 records of values and indices, downward by value.
pub fn sort_blocks(values: &[u32], indices: &[u32], out: &mut [u64]) {
    let blocks = values.chunks(32).zip(indices.chunks(32));
    for (to, (values, indices)) in out.chunks_mut(32).zip(blocks) {
        for (to, (value, index)) in to.iter_mut().zip(values.iter().zip(indices)) {
            *to = ordered(*value, *index);
        }
        // As numbers: by a key of pairs it takes half as long again.
        to.sort_unstable();
    }
}

/// Sorts records of a value and an index, which are runs one behind the other.
pub fn merge_records(words: &[u32], out: &mut [u64]) {
    for (to, record) in out.iter_mut().zip(words.as_chunks::<2>().0) {
        *to = ordered(record[0], record[1]);
    }
    // The stable one looks for runs; the other one takes a sixth longer.
    out.sort();
}
