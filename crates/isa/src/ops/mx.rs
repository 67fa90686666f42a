//! Floats of 8 and 4 bits with shared exponents (isa/today.md 6.4 and 6.5).

use super::irregular::{BASE, by_role, in_vec};
use super::*;
use crate::elem::Elem::*;

const QUANTIZED: Types = by_role!(Src &[F32, F16, Bf16], Dst &[I8, U8, F4e2m1x2], Exp &[I8, U8];
    Max as Src, Scaling as Src, ExpZz as Exp);
const EXPONENTS: Types = by_role!(Src &[U8, Hif8, F8e8m0]; Dst as Src);

/// TMOV of exponents, which text writes as `tmov` with a scratch tile.
pub(super) const TMOV_ZZ: OpInfo = OpInfo {
    mnemonic: "TMOV_ZZ",
    cpp: &["TMOV"],
    summary: "Brings shared exponents into the order in which the matrix unit reads them.",
    formula: "today.md, 6.5",
    source: "isa/today.md 6.5",
    forms: &[form!(Tmp: Src, Tmp as staged => Dst as write_window; by_hand cpp)],
    attrs: &[AttrName::GrpAxis, AttrName::AccToVecMode, AttrName::ReluPreMode],
    sigs: &[Sig {
        on: Profiles::A5,
        forms: &[Form::Tmp],
        locs: &[(Role::Src, &[Loc::Vec]), (Role::Dst, &[Loc::Vec])],
        layouts: &[&[(Role::Src, ND), (Role::Dst, ZZ)]],
        types: EXPONENTS,
        pipe: Pipe::V,
    }],
    ids: ids!("tmov"),
    rules: rules! {
        ALL Signature "tmov-loc"; A5 Signature "tmov-layout", "tmov-dtype"; A5 Exponents "tmov-shape"; A5 MoveAttr "tmov-attr"; A5 Overlap "overlap";
    },
    sem: Sem::Data(sem::exponents),
    axis: Some(("tmov", "")),
    ..BASE
};

family! { after partial::END;
    TquantMx => OpInfo {
        mnemonic: "tquant_mx",
        aliases: &["tquant.mx"],
        cpp: &["TQUANT"],
        summary: "Quantization to 8- or 4-bit floats with one shared exponent for 32 elements.",
        formula: "today.md, 6.4",
        source: "isa/today.md 6.4",
        forms: &[form!(Plain: Src as read_narrowly
            => Dst, Exp as write_part, Max as write_part, Scaling as write_part, ExpZz as optional_part; by_hand cpp)],
        attrs: &[
            AttrName::QuantType,
            AttrName::QuantScaleAlg,
            AttrName::GrpAxis,
            AttrName::Interleave,
            AttrName::StoreMode,
        ],
        sigs: &[in_vec(Profiles::A5, QUANTIZED)],
        ids: ids!("tquant_mx").profile("tquant_mx-profile"),
        rules: rules! {
            CPU_A2A3 Signature "tquant_mx-profile"; A5 Signature "tquant_mx-loc", "tquant_mx-layout", "tquant_mx-dtype";
            A5 MxDtype "tquant_mx-dtype"; A5 Words "tquant_mx-attr"; A5 MxAttr "tquant_mx-attr"; A5 MxValid "tquant_mx-valid";
            A5 MxShape "tquant_mx-shape"; A5 Overlap "overlap"; A5 MxRoom "tquant_mx-room"; A5 MxHardware "tquant_mx-hw";
        },
        sem: Sem::Data(sem::quantize_mx),
        examples: &[
            (Role::Src, "!pto.tile<32x64xf32>"),
            (Role::Dst, "!pto.tile<32x64xi8>"),
            (Role::Exp, "!pto.tile<1x64xu8>"),
            (Role::Max, "!pto.tile<1x64xf32>"),
            (Role::Scaling, "!pto.tile<vec, 1x128xf32, valid=1x64>"),
            (Role::ExpZz, "!pto.tile<1x64xu8>"),
        ],
        ..BASE
    };
}
