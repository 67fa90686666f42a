//! What a push of an accumulator does to each element on its way to the vector cores (isa/today.md 7.3).

use crate::elem::Elem;
use crate::profile::Profile;
use crate::tile::{LayoutName, words};

words! {
    /// How elements become those that are popped.
    PushQuant {
        NoConvert = "no_convert", "NoQuant", "Elements stay what they are.";
        F32F16 = "f32_f16", "F322F16", "Rounded.";
        F32Bf16 = "f32_bf16", "F322BF16", "Rounded.";
        Deqf16Scalar = "deqf16_scalar", "DEQF16", "Scaled, one factor for all.";
        Deqf16Vec = "deqf16_vec", "VDEQF16", "Scaled, one factor for each column.";
        Req8Scalar = "req8_scalar", "REQ8", "Scaled to 8 bits, one factor for all.";
        Req8Vec = "req8_vec", "VREQ8", "Scaled to 8 bits, one factor for each column.";
        Qf322b8Scalar = "qf322b8_pre_scalar", "QF322B8_PRE", "Scaled to 8 bits, one factor for all.";
        Qf322b8Vec = "qf322b8_pre_vec", "VQF322B8_PRE", "Scaled to 8 bits, one factor for each column.";
        Qf322f16Scalar = "qf322f16_pre_scalar", "QF322F16_PRE", "Scaled, one factor for all.";
        Qf322bf16Scalar = "qf322bf16_pre_scalar", "QF322BF16_PRE", "Scaled, one factor for all.";
        Qs322bf16Scalar = "qs322bf16_pre_scalar", "QS322BF16_PRE", "Scaled, one factor for all.";
        Qs322bf16Vec = "qs322bf16_pre_vec", "VQS322BF16_PRE", "Scaled, one factor for each column.";
        Qf322hif8Scalar = "qf322hif8_pre_scalar", "QF322HIF8_PRE", "Scaled, one factor for all.";
        Qf322fp8Scalar = "qf322fp8_pre_scalar", "QF322FP8_PRE", "Scaled, one factor for all.";
    }
    /// How popped tiles lie.
    PushLayout {
        Nz2nd = "nz2nd", "NZ2ND", "ND.";
        Nz2dn = "nz2dn", "NZ2DN", "DN.";
        Nz2nz = "nz2nz", "NZ2NZ", "NZ.";
    }
}

/// The parameter that a way of quantizing takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushParam {
    Scalar,
    Vector,
}

impl PushParam {
    /// The instruction that gives it.
    pub const fn setter(self) -> &'static str {
        match self {
            PushParam::Scalar => "set_quant_scalar",
            PushParam::Vector => "set_quant_vector",
        }
    }
}

/// The element types that a way of quantizing takes and gives.
type Pairs = &'static [(Elem, &'static [Elem])];

impl PushQuant {
    /// The types in the accumulator and in the popped tile, the parameter, and whether only a5 has it.
    const fn row(self) -> (Pairs, Option<PushParam>, bool) {
        use Elem::{Bf16, F8e4m3, F16, F32, Hif8, I8, I32, U8};
        const SCALAR: Option<PushParam> = Some(PushParam::Scalar);
        const VECTOR: Option<PushParam> = Some(PushParam::Vector);
        match self {
            PushQuant::NoConvert => (&[(F32, &[F32]), (I32, &[I32])], None, false),
            PushQuant::F32F16 => (&[(F32, &[F16])], None, false),
            PushQuant::F32Bf16 => (&[(F32, &[Bf16])], None, false),
            PushQuant::Deqf16Scalar => (&[(I32, &[F16])], SCALAR, false),
            PushQuant::Deqf16Vec => (&[(I32, &[F16])], VECTOR, false),
            PushQuant::Req8Scalar => (&[(I32, &[I8, U8])], SCALAR, false),
            PushQuant::Req8Vec => (&[(I32, &[I8])], VECTOR, false),
            PushQuant::Qf322b8Scalar => (&[(F32, &[I8, U8])], SCALAR, false),
            PushQuant::Qf322b8Vec => (&[(F32, &[I8])], VECTOR, false),
            PushQuant::Qf322f16Scalar => (&[(F32, &[F16])], SCALAR, false),
            PushQuant::Qf322bf16Scalar => (&[(F32, &[Bf16])], SCALAR, false),
            PushQuant::Qs322bf16Scalar => (&[(I32, &[Bf16])], SCALAR, true),
            PushQuant::Qs322bf16Vec => (&[(I32, &[Bf16])], VECTOR, true),
            PushQuant::Qf322hif8Scalar => (&[(F32, &[Hif8])], SCALAR, true),
            PushQuant::Qf322fp8Scalar => (&[(F32, &[F8e4m3])], SCALAR, true),
        }
    }

    /// The parameter that it takes, if any.
    pub const fn param(self) -> Option<PushParam> {
        self.row().1
    }

    /// Whether a profile has it.
    pub fn is_on(self, profile: Profile) -> bool {
        !self.row().2 || profile == Profile::A5
    }

    /// Whether it takes elements of the first type and gives those of the second.
    pub fn takes(self, acc: Elem, popped: Elem) -> bool {
        self.row().0.iter().any(|(from, to)| *from == acc && to.contains(&popped))
    }

    /// The types that it takes and gives, in words.
    pub fn types(self) -> String {
        let pair = |(from, to): &(Elem, &[Elem])| {
            let to: Vec<String> = to.iter().map(Elem::to_string).collect();
            format!("{from}→{}", to.join(" or "))
        };
        self.row().0.iter().map(pair).collect::<Vec<_>>().join(", ")
    }
}

impl PushLayout {
    /// The layout of popped tiles.
    pub const fn layout(self) -> LayoutName {
        match self {
            PushLayout::Nz2nd => LayoutName::Nd,
            PushLayout::Nz2dn => LayoutName::Dn,
            PushLayout::Nz2nz => LayoutName::Nz,
        }
    }
}

/// `#pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epilogue {
    pub layout: PushLayout,
    pub quant: PushQuant,
    pub relu: bool,
}

impl Epilogue {
    /// Reads the text of the attribute; the error is what is wrong with it.
    pub fn parse(text: &str) -> Result<Epilogue, String> {
        let body = text.strip_prefix("#pto.acc_push_epilogue<").or_else(|| text.strip_prefix("#pto<acc_push_epilogue"));
        let body = body.and_then(|body| body.trim().strip_suffix('>'));
        let body =
            body.ok_or_else(|| "it is written #pto.acc_push_epilogue<layout = …, quant = …, relu = …>".to_string())?;
        let (mut layout, mut quant, mut relu) = (None, None, None);
        for entry in body.split(',') {
            let (key, word) = entry.split_once('=').ok_or_else(|| format!("`{}` is no entry of it", entry.trim()))?;
            let (key, word) = (key.trim(), word.trim());
            let unknown = |words: &[crate::ops::Word]| {
                let words: Vec<&str> = words.iter().map(|w| w.name).collect();
                format!("{key} is one of {}, and {word} is written", words.join(", "))
            };
            match key {
                "layout" => layout = Some(PushLayout::parse(word).ok_or_else(|| unknown(PushLayout::WORDS))?),
                "quant" => quant = Some(PushQuant::parse(word).ok_or_else(|| unknown(PushQuant::WORDS))?),
                "relu" if matches!(word, "no_relu" | "normal_relu") => relu = Some(word == "normal_relu"),
                "relu" => return Err(format!("relu is no_relu or normal_relu, and {word} is written")),
                _ => return Err(format!("it has layout, quant and relu, and {key} is written")),
            }
        }
        let missing = |what: &str| format!("{what} is missing");
        Ok(Epilogue {
            layout: layout.ok_or_else(|| missing("layout"))?,
            quant: quant.ok_or_else(|| missing("quant"))?,
            relu: relu.ok_or_else(|| missing("relu"))?,
        })
    }
}
