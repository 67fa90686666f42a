//! Between global memory and tiles (isa/memory.md; isa/structure.md 8).

use super::*;
use crate::elem::Elem::*;

const DN: Lay = Lay::Of(&[LayoutName::Dn]);
const ZN: Lay = Lay::Of(&[LayoutName::Zn]);
/// The tile is laid out as the view says.
const LIKE_THE_VIEW: &[Layouts] = &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ)];
/// Mat also takes rows and columns into boxes.
const INTO_MAT: &[Layouts] = &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ), pair!(ND, NZ), pair!(DN, ZN)];
const OUT_OF_ACC: &[Layouts] = &[pair!(NZ, ND), pair!(NZ, NZ)];

/// Forms of a store; a parameter belongs to an accumulator, which `quant-source` says of the others.
const STORED: &[Form] = &[Form::Plain, Form::ScalarQuant];
const QUANTIZED: &[Form] = &[Form::ScalarQuant, Form::VectorQuant];

const PLAIN_OF_ACC: Types = Types::Pairs(&[(F32, &[F32, F16, Bf16]), (I32, &[I32])]);
const QUANT_CPU: Types = Types::Pairs(&[(F32, &[I8, U8, F16, Bf16, F32]), (I32, &[I8, U8, F16, Bf16])]);
const QUANT_A2A3: Types = Types::Pairs(&[(F32, &[I8, U8]), (I32, &[I8, U8, F16])]);
const QUANT_A5: Types = Types::Pairs(&[(F32, &[I8, U8, F16, Bf16, Hif8, F8e4m3, F32]), (I32, &[I8, U8, F16, Bf16])]);

// The source of a load and the destination of a store are views; their tag nd, dn or nz stands for the layout of that
// name.
static LOADS: &[Sig] = &[
    flow!(Profiles::CPU, PLAIN, ALL_LOCS, ALL_LOCS, &[ANY], Types::Alike, Pipe::Mte2),
    flow!(Profiles::NPU, PLAIN, ALL_LOCS, &[Loc::Vec], LIKE_THE_VIEW, Types::Alike, Pipe::Mte2),
    flow!(Profiles::NPU, PLAIN, ALL_LOCS, &[Loc::Mat], INTO_MAT, Types::Alike, Pipe::Mte2),
];

#[rustfmt::skip]
static STORES: &[Sig] = &[
    flow!(Profiles::CPU, STORED, NOT_ACC, ALL_LOCS, &[ANY], Types::Alike, Pipe::Mte3),
    flow!(Profiles::CPU, PLAIN, &[Loc::Acc], ALL_LOCS, &[ANY], PLAIN_OF_ACC, Pipe::Fix),
    flow!(Profiles::CPU, QUANTIZED, &[Loc::Acc], ALL_LOCS, &[ANY], QUANT_CPU, Pipe::Fix),
    flow!(Profiles::NPU, STORED, &[Loc::Vec], ALL_LOCS, LIKE_THE_VIEW, Types::Alike, Pipe::Mte3),
    flow!(Profiles::A2A3, STORED, &[Loc::Mat], ALL_LOCS, LIKE_THE_VIEW, Types::Alike, Pipe::Mte3),
    flow!(Profiles::NPU, PLAIN, &[Loc::Acc], ALL_LOCS, OUT_OF_ACC, PLAIN_OF_ACC, Pipe::Fix),
    flow!(Profiles::A2A3, QUANTIZED, &[Loc::Acc], ALL_LOCS, OUT_OF_ACC, QUANT_A2A3, Pipe::Fix),
    flow!(Profiles::A5, QUANTIZED, &[Loc::Acc], ALL_LOCS, OUT_OF_ACC, QUANT_A5, Pipe::Fix),
];

/// Out of an accumulator by parameters in Scaling.
macro_rules! by_column {
    ($on:ident $layouts:expr, $types:expr) => {
        Sig {
            on: Profiles::$on,
            forms: QUANTIZED,
            locs: &[(Role::Src, &[Loc::Acc]), (Role::Fp, &[Loc::Scaling])],
            layouts: $layouts,
            types: $types,
            pipe: Pipe::Fix,
        }
    };
}
static STORES_BY_COLUMN: &[Sig] = &[
    by_column!(CPU & [ANY], QUANT_CPU),
    by_column!(A2A3 OUT_OF_ACC, QUANT_A2A3),
    by_column!(A5 OUT_OF_ACC, QUANT_A5),
];

/// What the rows here share.
const BASE: OpInfo = OpInfo { family: Family::Memory, pipe: Pipe::Mte2, ..LAYOUT };

/// AccToVecMode is known, so that `acc-mode` can refuse it.
const STORE_ATTRS: &[AttrName] = &[
    AttrName::StPhase,
    AttrName::AtomicType,
    AttrName::ReluPreMode,
    AttrName::Layout,
    AttrName::AccToVecMode,
];

const TSTORE: OpInfo = OpInfo {
    mnemonic: "tstore",
    cpp: &["TSTORE"],
    summary: "Copies a tile's valid region to a view; out of an accumulator it converts, quantizes and clips; it can add.",
    formula: "view(i,j) = f(src(i,j)), atomic_add: view(i,j) = view(i,j) + f(src(i,j)); f: memory.md, 3",
    source: "isa/memory.md 3",
    forms: &[form!(Plain: Src => Global), form!(ScalarQuant: Src, Quant => Global)],
    attrs: STORE_ATTRS,
    rules: rules! {
        NPU Signature "tstore-loc", "tstore-layout"; ALL Signature "tstore-dtype"; ALL StoreShape "tstore-shape";
        A2A3 StoreRange "tstore-range"; ALL StoreAtomic "tstore-atomic";
        ALL Fixpipe "acc-mode", "quant-source", "quant-sign", "quant-scale";
        ALL Bounds "gm-bounds"; NPU ViewHardware "tstore-hw"; ALL AtRun "undefined-read";
    },
    sigs: STORES,
    ids: ids!("tstore"),
    pipe: Pipe::Mte3,
    sem: Sem::Moves(sem::store),
    ..BASE
};

family! { after irregular::END;
    Tload => OpInfo {
        mnemonic: "tload",
        cpp: &["TLOAD"],
        summary: "Copies a view of global memory into a tile and fills the tile's padding.",
        formula: "dst(i,j) = view(i,j); padding = pad value, if there is one",
        source: "isa/memory.md 4",
        forms: &[form!(Plain: Global => Dst)],
        attrs: &[AttrName::Layout, AttrName::PadMode, AttrName::InitOutBuffer],
        rules: rules! {
            NPU LoadSignature "tload-loc", "tload-layout"; ALL LoadSignature "tload-dtype"; ALL LoadShape "tload-shape";
            ALL LargerView "tload-view"; ALL LoadPad "tload-pad"; ALL FillValue "fp-value"; ALL Bounds "gm-bounds";
            NPU ViewHardware "tload-hw";
        },
        sigs: LOADS,
        ids: ids!("tload"),
        sem: Sem::Moves(sem::load),
        ..BASE
    };
    Tstore => TSTORE;
    TstoreFp => OpInfo {
        mnemonic: "tstore_fp",
        aliases: &["tstore.fp"],
        cpp: &["TSTORE_FP"],
        summary: "tstore out of an accumulator with one quantization parameter per column.",
        formula: "view(i,j) = quant(src(i,j), fp[j])",
        forms: &[form!(VectorQuant: Src, Fp => Global)],
        rules: rules! {
            ALL Signature "tstore_fp-loc"; NPU Signature "tstore_fp-layout"; ALL Signature "tstore_fp-dtype";
            ALL StoreShape "tstore_fp-shape"; A2A3 StoreRange "tstore_fp-range"; ALL StoreAtomic "tstore_fp-atomic";
            ALL Fixpipe "acc-mode", "quant-sign", "quant-scale", "fp-operand", "fp-align", "fp-short";
            ALL Bounds "gm-bounds"; ALL AtRun "undefined-read", "undefined-use";
        },
        sigs: STORES_BY_COLUMN,
        ids: ids!("tstore_fp"),
        pipe: Pipe::Fix,
        ..TSTORE
    };
}
