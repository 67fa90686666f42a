//! The 64-bit quantization parameter of the fixpipe (fixpipe.md 3). Its arithmetic is where it runs; its fields are
//! here, because legality looks at them too.

use crate::elem::Elem;

/// The fields of a quantization parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantParam {
    /// Bits 31:0, binary32.
    pub scale: f32,
    /// Bits 35:32 plus one, 1…16: by how much the i32→i16 form shifts.
    pub shift: u32,
    /// Bits 45:37, 0…511: what is added to i8 and u8 results.
    pub offset: i32,
    /// Bit 46: whether the 8-bit integer result is signed.
    pub signed: bool,
}

/// The fault of a quantization parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantFault {
    /// Bit 46 does not agree with an i8 or u8 destination (rule `quant-sign`).
    Sign,
    /// The scale is infinite or NaN (rule `quant-scale`).
    Scale,
}

impl QuantFault {
    /// The id of the broken rule.
    pub const fn rule(self) -> &'static str {
        match self {
            QuantFault::Sign => "quant-sign",
            QuantFault::Scale => "quant-scale",
        }
    }
}

impl QuantParam {
    /// The parameter of the scalar form, where the whole scale counts.
    ///
    /// ```
    /// use tessera_isa::codec::QuantParam;
    ///
    /// let param = QuantParam::scalar(1 << 46 | 3 << 37 | 0x3F80_0000);
    /// assert_eq!(param, QuantParam { scale: 1.0, shift: 1, offset: 3, signed: true });
    /// ```
    #[inline]
    pub const fn scalar(bits: u64) -> Self {
        QuantParam {
            scale: f32::from_bits(bits as u32),
            shift: (bits >> 32 & 0xF) as u32 + 1,
            offset: (bits >> 37 & 0x1FF) as i32,
            signed: bits >> 46 & 1 == 1,
        }
    }

    /// The parameter of one column of the vector form, which reads the low 13 bits of the scale as zero.
    #[inline]
    pub const fn vector(bits: u64) -> Self {
        QuantParam::scalar(bits & !0x1FFF)
    }

    /// Whether the parameter fits a conversion from `src` to `dst` (fixpipe.md 3).
    pub fn check(&self, src: Elem, dst: Elem) -> Result<(), QuantFault> {
        let shifts = src == Elem::I32 && dst == Elem::I16;
        match dst {
            Elem::I8 if !self.signed => Err(QuantFault::Sign),
            Elem::U8 if self.signed => Err(QuantFault::Sign),
            _ if !shifts && !self.scale.is_finite() => Err(QuantFault::Scale),
            _ => Ok(()),
        }
    }
}
