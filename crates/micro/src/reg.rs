//! Vector registers, predicate registers and states of unaligned streams, with definedness (micro/model.md 1 and 6).

/// Bytes of a vector register, and bits of a predicate register.
pub const BYTES: usize = 256;

/// 256 bits: of a predicate register, or one for each byte of a vector register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits([u64; 4]);

impl Bits {
    /// All bits clear.
    pub const NONE: Bits = Bits([0; 4]);
    /// All bits set.
    pub const ALL: Bits = Bits([u64::MAX; 4]);

    /// Bits computed one by one.
    pub fn from_fn(mut bit: impl FnMut(usize) -> bool) -> Bits {
        let mut out = Bits::NONE;
        (0..BYTES).for_each(|k| out.set(k, bit(k)));
        out
    }

    /// One bit; beyond the last one it is 0.
    #[inline]
    pub fn get(&self, k: usize) -> bool {
        self.0.get(k / 64).is_some_and(|word| word >> (k % 64) & 1 == 1)
    }

    /// Sets or clears one bit.
    #[inline]
    pub fn set(&mut self, k: usize, value: bool) {
        if let Some(word) = self.0.get_mut(k / 64) {
            *word = *word & !(1 << (k % 64)) | u64::from(value) << (k % 64);
        }
    }

    /// Sets or clears some bits that follow each other.
    #[inline]
    pub fn set_run(&mut self, start: usize, len: usize, value: bool) {
        (start..start + len).for_each(|k| self.set(k, value));
    }

    /// Whether some bits that follow each other are all set.
    #[inline]
    pub fn has_run(&self, start: usize, len: usize) -> bool {
        (start..start + len).all(|k| self.get(k))
    }

    /// Whether every bit is set.
    #[inline]
    pub fn is_all(&self) -> bool {
        self.0 == [u64::MAX; 4]
    }

    /// The four words, the lowest bits first.
    #[inline]
    pub fn words(&self) -> [u64; 4] {
        self.0
    }

    /// Bits given as four words.
    #[inline]
    pub fn of_words(words: [u64; 4]) -> Bits {
        Bits(words)
    }

    /// The bits that are not set.
    #[inline]
    pub fn inverted(self) -> Bits {
        Bits(self.0.map(|word| !word))
    }

    /// The runs of set bits, in order.
    #[inline]
    pub fn runs(self) -> impl Iterator<Item = std::ops::Range<usize>> {
        // The first bit from `at` on that equals `bit`, or the end.
        let next = move |mut at: usize, bit: bool| {
            while let Some(word) = self.0.get(at / 64) {
                let rest = if bit { *word } else { !word } >> (at % 64);
                if rest != 0 {
                    return at + rest.trailing_zeros() as usize;
                }
                at = (at / 64 + 1) * 64;
            }
            BYTES
        };
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = next(at, true);
            at = next(start, false);
            (start < BYTES).then_some(start..at)
        })
    }

    /// Word by word.
    #[inline]
    pub fn map2(self, other: Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
        Bits(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }
}

/// A vector register: 256 bytes, and which of them are defined.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
pub struct Reg {
    /// The bytes; undefined ones are 0.
    pub bytes: [u8; BYTES],
    /// The defined bytes.
    pub defined: Bits,
}

impl Default for Reg {
    fn default() -> Self {
        Reg { bytes: [0; BYTES], defined: Bits::NONE }
    }
}

impl Reg {
    /// All bytes 0 and defined.
    pub fn zero() -> Reg {
        Reg { bytes: [0; BYTES], defined: Bits::ALL }
    }

    /// The bits of lane `i`, with lanes of `size` bytes.
    #[inline]
    pub fn lane(&self, size: usize, i: usize) -> u64 {
        let mut raw = [0; 8];
        if let (Some(from), Some(to)) = (self.bytes.get(size * i..size * (i + 1)), raw.get_mut(..size)) {
            to.copy_from_slice(from);
        }
        u64::from_le_bytes(raw)
    }

    /// The bits of lane i, or none where one of its bytes is undefined.
    #[inline]
    pub fn known(&self, size: usize, i: usize) -> Option<u64> {
        self.defined.has_run(size * i, size).then(|| self.lane(size, i))
    }

    /// Writes a defined lane.
    #[inline]
    pub fn put(&mut self, size: usize, i: usize, value: u64) {
        if let (Some(to), Some(from)) = (self.bytes.get_mut(size * i..size * (i + 1)), value.to_le_bytes().get(..size))
        {
            to.copy_from_slice(from);
            self.defined.set_run(size * i, size, true);
        }
    }

    /// Makes a lane undefined.
    #[inline]
    pub fn clear(&mut self, size: usize, i: usize) {
        if let Some(to) = self.bytes.get_mut(size * i..size * (i + 1)) {
            to.fill(0);
            self.defined.set_run(size * i, size, false);
        }
    }

    /// Writes a lane whose value may be undefined.
    #[inline]
    pub fn set(&mut self, size: usize, i: usize, value: Option<u64>) {
        match value {
            Some(value) => self.put(size, i, value),
            None => self.clear(size, i),
        }
    }

    /// One byte, or none where it is undefined.
    #[inline]
    pub fn byte(&self, k: usize) -> Option<u8> {
        self.bytes.get(k).copied().filter(|_| self.defined.get(k))
    }

    /// Writes one byte, which may be undefined.
    #[inline]
    pub fn set_byte(&mut self, k: usize, value: Option<u8>) {
        if let Some(to) = self.bytes.get_mut(k) {
            *to = value.unwrap_or(0);
            self.defined.set(k, value.is_some());
        }
    }

    /// A register computed byte by byte.
    pub fn from_bytes(byte: impl Fn(usize) -> Option<u8>) -> Reg {
        let mut out = Reg::default();
        (0..BYTES).for_each(|k| out.set_byte(k, byte(k)));
        out
    }

    /// A register computed lane by lane.
    pub fn from_lanes(size: usize, lane: impl Fn(usize) -> Option<u64>) -> Reg {
        let mut out = Reg::default();
        (0..BYTES / size).for_each(|i| out.set(size, i, lane(i)));
        out
    }
}

/// A predicate register: 256 bits, and which of them are defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The bits; undefined ones are 0.
    pub bits: Bits,
    /// The defined bits.
    pub defined: Bits,
}

impl Default for Mask {
    fn default() -> Self {
        Mask { bits: Bits::NONE, defined: Bits::NONE }
    }
}

impl Mask {
    /// A defined mask.
    pub fn of(bits: Bits) -> Mask {
        Mask { bits, defined: Bits::ALL }
    }

    /// Bits computed one by one, each of which may be undefined.
    pub fn from_fn(bit: impl Fn(usize) -> Option<bool>) -> Mask {
        let mut out = Mask::default();
        for k in 0..BYTES {
            let bit = bit(k);
            out.bits.set(k, bit == Some(true));
            out.defined.set(k, bit.is_some());
        }
        out
    }

    /// A mask of lanes of `size` bytes; the bits between are 0.
    pub fn from_lanes(size: usize, lane: impl Fn(usize) -> Option<bool>) -> Mask {
        Mask::from_fn(|k| if k % size == 0 { lane(k / size) } else { Some(false) })
    }

    /// One bit, or none where it is undefined.
    #[inline]
    pub fn bit(&self, k: usize) -> Option<bool> {
        self.defined.get(k).then(|| self.bits.get(k))
    }

    /// Whether every lane of `size` bytes is on.
    #[inline(always)]
    pub fn is_on(&self, size: usize) -> bool {
        let lanes: u64 = match size {
            1 => u64::MAX,
            2 => 0x5555_5555_5555_5555,
            4 => 0x1111_1111_1111_1111,
            _ => 0x0101_0101_0101_0101,
        };
        let ([a, b, c, d], [e, f, g, h]) = (self.bits.0, self.defined.0);
        (a & b & c & d) & (e & f & g & h) & lanes == lanes
    }

    /// The bytes of the lanes of `size` bytes that are on.
    #[inline]
    pub fn active_bytes(&self, size: usize) -> Bits {
        let (lanes, whole) = match size {
            1 => (u64::MAX, 1),
            2 => (0x5555_5555_5555_5555, 3),
            4 => (0x1111_1111_1111_1111, 15),
            _ => (0x0101_0101_0101_0101, 255),
        };
        Bits(self.bits.0.map(|word| (word & lanes) * whole))
    }

    /// The bit of lane `i`, with lanes of `size` bytes (model.md 1).
    #[inline]
    pub fn on(&self, size: usize, i: usize) -> Option<bool> {
        self.bit(size * i)
    }
}

/// The direction of an unaligned stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Load,
    Store,
}

/// The state of an unaligned stream (micro/memory.md 5).
#[derive(Clone, Debug, PartialEq)]
pub struct Align {
    pub stream: Stream,
    /// The block of a load stream; the address of the first waiting byte of a store stream.
    pub at: i64,
    /// Captured or waiting bytes, each of which may be undefined.
    pub data: Vec<Option<u8>>,
}

impl Default for Align {
    fn default() -> Self {
        Align { stream: Stream::Store, at: 0, data: Vec::new() }
    }
}
