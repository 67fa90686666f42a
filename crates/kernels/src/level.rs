//! The instruction sets that kernels are compiled for.

/// A function that is compiled again for the levels above the scalar one, and calls the best of the machine: the vectors
/// are the compiler's.
macro_rules! multiversion {
    ($(#[$doc:meta])* $vis:vis fn $name:ident[$($generics:tt)*][$($names:ident),*]($($arg:ident: $type:ty),*)
     $(-> $out:ty)? where [$($bounds:tt)*] { $body:expr } $avx512:literal, $avx2:literal) => {
        $(#[$doc])*
        $vis fn $name<$($generics)*>($($arg: $type),*) $(-> $out)? where $($bounds)* {
            #[cfg(target_arch = "x86_64")]
            {
                /// Safety: the machine has AVX-512.
                #[target_feature(enable = $avx512)]
                unsafe fn avx512<$($generics)*>($($arg: $type),*) $(-> $out)? where $($bounds)* {
                    $body
                }

                /// Safety: the machine has AVX2.
                #[target_feature(enable = $avx2)]
                unsafe fn avx2<$($generics)*>($($arg: $type),*) $(-> $out)? where $($bounds)* {
                    $body
                }

                match $crate::Level::best() {
                    // SAFETY: the level says that the machine has the instructions.
                    $crate::Level::Avx512 => return unsafe { avx512::<$($names),*>($($arg),*) },
                    // SAFETY: likewise.
                    $crate::Level::Avx2 => return unsafe { avx2::<$($names),*>($($arg),*) },
                    $crate::Level::Scalar => {}
                }
            }
            $body
        }
    };
}

/// A set of instructions that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Scalar,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL and VBMI.
    Avx512,
}

impl Level {
    /// The highest level of this machine.
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            static BEST: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
            macro_rules! has {
                ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
            }
            *BEST.get_or_init(|| match has!("avx2" "fma" "f16c") {
                true if has!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi") => Level::Avx512,
                true => Level::Avx2,
                false => Level::Scalar,
            })
        }
        #[cfg(not(target_arch = "x86_64"))]
        Level::Scalar
    }

    /// Every level of this machine, the scalar one first.
    pub fn available() -> impl Iterator<Item = Level> {
        [Level::Scalar, Level::Avx2, Level::Avx512].into_iter().filter(|&level| level <= Level::best())
    }

    /// This level, or the best one of the machine where it has no such instructions.
    pub fn clamped(self) -> Level {
        self.min(Level::best())
    }
}
