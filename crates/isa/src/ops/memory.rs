//! Between global memory and tiles (isa/memory.md; isa/structure.md 8).

use super::*;
use crate::elem::Elem::{self, *};
use crate::inst::Inst;

const DN: Lay = Lay::Of(&[LayoutName::Dn]);
const ZN: Lay = Lay::Of(&[LayoutName::Zn]);
/// The tile is laid out as the view says.
const LIKE_THE_VIEW: &[Layouts] = &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ)];
/// Mat also takes rows and columns into boxes.
const INTO_MAT: &[Layouts] = &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ), pair!(ND, NZ), pair!(DN, ZN)];
/// A tile of one row or one column goes into rows and columns alike (isa/today.md 5.4).
const OUT_OF_VEC: &[Layouts] =
    &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ), pair!(Lay::OneLine, Lay::Of(&[LayoutName::Nd, LayoutName::Dn]))];
/// Scales come row by row (isa/today.md 6.8).
const SCALES_INTO_MAT: &[Layouts] =
    &[pair!(ND, Lay::Exactly(LayoutName::Zz, 32)), pair!(ND, Lay::Exactly(LayoutName::Nn, 32))];
const OUT_OF_ACC: &[Layouts] = &[pair!(NZ, ND), pair!(NZ, NZ)];

/// Forms of a store; a parameter belongs to an accumulator, which `quant-source` says of the others.
const STORED: &[Form] = &[Form::Plain, Form::Window, Form::ScalarQuant];
/// With all of a view, or with a window of it.
const WHOLE: &[Form] = &[Form::Plain, Form::Window];
const QUANTIZED: &[Form] = &[Form::ScalarQuant, Form::VectorQuant];

const PLAIN_OF_ACC: Types = Types::Pairs(&[(F32, &[F32, F16, Bf16]), (I32, &[I32])]);
const QUANT_CPU: Types = Types::Pairs(&[(F32, &[I8, U8, F16, Bf16, F32]), (I32, &[I8, U8, F16, Bf16])]);
const QUANT_A2A3: Types = Types::Pairs(&[(F32, &[I8, U8]), (I32, &[I8, U8, F16])]);
const QUANT_A5: Types = Types::Pairs(&[(F32, &[I8, U8, F16, Bf16, Hif8, F8e4m3, F32]), (I32, &[I8, U8, F16, Bf16])]);

// The source of a load and the destination of a store are views; their tag nd, dn or nz stands for the layout of that
// name.
static LOADS: &[Sig] = &[
    flow!(Profiles::CPU, WHOLE, ALL_LOCS, ALL_LOCS, &[ANY], Types::Alike, Pipe::Mte2),
    flow!(Profiles::NPU, WHOLE, ALL_LOCS, &[Loc::Vec], LIKE_THE_VIEW, Types::Alike, Pipe::Mte2),
    flow!(Profiles::NPU, WHOLE, ALL_LOCS, &[Loc::Mat], INTO_MAT, Types::Alike, Pipe::Mte2),
    flow!(Profiles::A5, WHOLE, ALL_LOCS, &[Loc::Mat], SCALES_INTO_MAT, Types::EqualOf(&[F8e8m0]), Pipe::Mte2),
];

#[rustfmt::skip]
static STORES: &[Sig] = &[
    flow!(Profiles::CPU, STORED, NOT_ACC, ALL_LOCS, &[ANY], Types::Alike, Pipe::Mte3),
    flow!(Profiles::CPU, WHOLE, &[Loc::Acc], ALL_LOCS, &[ANY], PLAIN_OF_ACC, Pipe::Fix),
    flow!(Profiles::CPU, QUANTIZED, &[Loc::Acc], ALL_LOCS, &[ANY], QUANT_CPU, Pipe::Fix),
    flow!(Profiles::NPU, STORED, &[Loc::Vec], ALL_LOCS, OUT_OF_VEC, Types::Alike, Pipe::Mte3),
    flow!(Profiles::A2A3, STORED, &[Loc::Mat], ALL_LOCS, LIKE_THE_VIEW, Types::Alike, Pipe::Mte3),
    flow!(Profiles::NPU, WHOLE, &[Loc::Acc], ALL_LOCS, OUT_OF_ACC, PLAIN_OF_ACC, Pipe::Fix),
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
static STORES_BY_COLUMN: &[Sig] =
    &[by_column!(CPU & [ANY], QUANT_CPU), by_column!(A2A3 OUT_OF_ACC, QUANT_A2A3), by_column!(A5 OUT_OF_ACC, QUANT_A5)];

/// What the rows here share.
const BASE: OpInfo = OpInfo { family: Family::Memory, pipe: Pipe::Mte2, ..LAYOUT };

/// AccToVecMode is known, so that `acc-mode` can refuse it.
const STORE_ATTRS: &[AttrName] =
    &[AttrName::StPhase, AttrName::AtomicType, AttrName::ReluPreMode, AttrName::Layout, AttrName::AccToVecMode];

const TSTORE: OpInfo = OpInfo {
    mnemonic: "tstore",
    cpp: &["TSTORE"],
    summary: "Copies a tile's valid region to a view; out of an accumulator it converts, quantizes and clips; it can add.",
    formula: "view(i,j) = f(src(i,j)), atomic_add: view(i,j) = view(i,j) + f(src(i,j)); f: memory.md, 3",
    source: "isa/memory.md 3",
    forms: &[
        form!(Plain: Src => Global),
        form!(ScalarQuant: Src, Quant => Global),
        form!(Window: Src, Row, Col => Global),
    ],
    attrs: STORE_ATTRS,
    rules: rules! {
        NPU Signature "tstore-loc", "tstore-layout"; ALL Signature "tstore-dtype"; ALL StoreShape "tstore-shape"; ALL ViewStride "view-stride"; ALL ViewOverlap "view-overlap"; ALL ViewAttr "unknown-attribute";
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

const VIEW_NZ: &[Layouts] = &[&[(Role::Global, ND)], &[(Role::Global, NZ)]];
const ND_DN: Lay = Lay::Of(&[LayoutName::Nd, LayoutName::Dn]);
const IN_TABLE: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, Bf16, F32];
const IN_TABLE_A5: &[Elem] = &[I8, U8, I16, U16, I32, U32, F16, Bf16, F32, F8e4m3, F8e5m2, Hif8];

/// Signatures of MGATHER and MSCATTER: the role of the data, and the pipe.
macro_rules! table_sigs {
    ($data:ident $pipe:ident) => {
        &[
            table_sigs!(@ CPU $data $pipe IN_TABLE, &[], VIEW_NZ),
            table_sigs!(@ A2A3 $data $pipe IN_TABLE, &[(Role::$data, &[Loc::Vec]), (Role::Idx, &[Loc::Vec])], &[
                &[(Role::$data, ND), (Role::Idx, ND_DN), (Role::Global, ND)],
                &[(Role::$data, NZ_512), (Role::Idx, ND_DN), (Role::Global, NZ)],
            ]),
            table_sigs!(@ A5 $data V IN_TABLE_A5, &[(Role::$data, &[Loc::Vec]), (Role::Idx, &[Loc::Vec])], &[
                &[(Role::$data, ND_DN), (Role::Idx, ND_DN), (Role::Global, ND)],
            ]),
        ]
    };
    (@ $on:ident $data:ident $pipe:ident $types:expr, $locs:expr, $layouts:expr) => {
        Sig {
            on: Profiles::$on,
            forms: PLAIN,
            locs: $locs,
            layouts: $layouts,
            types: Types::ByRole(&[
                (Role::$data, TypeOf::One($types)),
                (Role::Idx, TypeOf::One(&[I32, U32])),
                (Role::Global, TypeOf::Alike(Role::$data)),
            ]),
            pipe: Pipe::$pipe,
        }
    };
}

/// MGATHER into Mat, with indices in global memory (isa/today.md 6.7).
macro_rules! into_mat {
    ($on:ident $types:expr) => {
        Sig {
            on: Profiles::$on,
            forms: &[Form::InMemory],
            locs: &[(Role::Dst, &[Loc::Mat])],
            layouts: &[&[(Role::Dst, NZ_512), (Role::Global, ND), (Role::IdxView, ND)]],
            types: Types::ByRole(&[
                (Role::Dst, TypeOf::One($types)),
                (Role::IdxView, TypeOf::One(&[I32, U32])),
                (Role::Global, TypeOf::Alike(Role::Dst)),
                (Role::ScratchView, TypeOf::Alike(Role::Dst)),
            ]),
            pipe: Pipe::Mte2,
        }
    };
}
static GATHERS: &[Sig] = &[
    table_sigs!(@ CPU Dst Mte2 IN_TABLE, &[], VIEW_NZ),
    table_sigs!(@ A2A3 Dst Mte2 IN_TABLE, &[(Role::Dst, &[Loc::Vec]), (Role::Idx, &[Loc::Vec])], IN_VEC_A2A3),
    table_sigs!(@ A5 Dst V IN_TABLE_A5, &[(Role::Dst, &[Loc::Vec]), (Role::Idx, &[Loc::Vec])], IN_VEC_A5),
    into_mat!(CPU IN_TABLE),
    into_mat!(A2A3 IN_TABLE),
    into_mat!(A5 IN_TABLE_A5),
];
const IN_VEC_A2A3: &[Layouts] = &[
    &[(Role::Dst, ND), (Role::Idx, ND_DN), (Role::Global, ND)],
    &[(Role::Dst, NZ_512), (Role::Idx, ND_DN), (Role::Global, NZ)],
];
const IN_VEC_A5: &[Layouts] = &[&[(Role::Dst, ND_DN), (Role::Idx, ND_DN), (Role::Global, ND)]];

/// The rules of MGATHER and MSCATTER.
macro_rules! table_rules {
    ($mnemonic:literal $($more:literal)?; $($on:ident $kind:ident $id:literal;)*) => {
        rules! {
            NPU Signature concat!($mnemonic, "-loc"); ALL Signature concat!($mnemonic, "-layout");
            ALL Signature concat!($mnemonic, "-dtype"); ALL TableShape concat!($mnemonic, "-shape");
            NPU TableDense concat!($mnemonic, "-table"); ALL Words concat!($mnemonic, "-attr");
            ALL TableAttr concat!($mnemonic, "-attr"); $($on $kind $id;)*
            ALL AtRun "gm-bounds"; ALL AtRun concat!($mnemonic, "-index"); ALL AtRun "undefined-use";
            $(ALL ViewStride "view-stride"; ALL ViewOverlap "view-overlap"; ALL AtRun $more;)?
        }
    };
}

/// A view for a tile.
const LOADED: &[FormInfo] = &[form!(Plain: Global => Dst)];

family! { after mx::END;
    Tload => OpInfo {
        mnemonic: "tload",
        cpp: &["TLOAD"],
        summary: "Copies a view of global memory into a tile and fills the tile's padding.",
        formula: "dst(i,j) = view(i,j); padding = pad value, if there is one",
        source: "isa/memory.md 4",
        forms: &[form!(
            Plain: Global, Fill as worded, LeftPadding as worded, RightPadding as worded, InitCondition as worded => Dst
        ), form!(Window: Global, Row, Col => Dst)],
        attrs: &[AttrName::Layout, AttrName::PadMode, AttrName::InitOutBuffer],
        rules: rules! {
            NPU LoadSignature "tload-loc", "tload-layout"; ALL LoadSignature "tload-dtype"; ALL LoadShape "tload-shape"; ALL ViewAttr "unknown-attribute";
            ALL LargerView "tload-view"; ALL LoadPad "tload-pad"; ALL FillValue "fp-value"; ALL Bounds "gm-bounds";
            NPU ViewHardware "tload-hw";
        },
        sigs: LOADS,
        ids: ids!("tload"),
        sem: Sem::Moves(sem::load),
        ..BASE
    };
    Tprefetch => OpInfo {
        mnemonic: "tprefetch",
        cpp: &["TPREFETCH"],
        summary: "Reads a view ahead of its use, through a tile.",
        formula: "dst(i,j) = view(i,j) where the shapes agree, else dst becomes undefined",
        source: "isa/memory.md 4",
        forms: LOADED,
        rules: rules! {
            NPU Signature "tprefetch-loc", "tprefetch-layout"; ALL Signature "tprefetch-dtype"; ALL Bounds "gm-bounds";
        },
        sigs: LOADS,
        ids: ids!("tprefetch"),
        sem: Sem::Moves(sem::prefetch),
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
            ALL StoreShape "tstore_fp-shape"; ALL ViewStride "view-stride"; ALL ViewOverlap "view-overlap"; ALL ViewAttr "unknown-attribute"; A2A3 StoreRange "tstore_fp-range"; ALL StoreAtomic "tstore_fp-atomic";
            ALL Fixpipe "acc-mode", "quant-sign", "quant-scale", "fp-operand", "fp-align", "fp-short";
            ALL Bounds "gm-bounds"; ALL AtRun "undefined-read", "undefined-use";
        },
        sigs: STORES_BY_COLUMN,
        ids: ids!("tstore_fp"),
        pipe: Pipe::Fix,
        ..TSTORE
    };
    Mgather => OpInfo {
        mnemonic: "mgather",
        aliases: &["mgather.row", "mgather.elem"],
        cpp: &["MGATHER"],
        summary: "Gathers rows or elements of a view by index.",
        formula: "elem: dst(i,j) = view[t(idx(i,j))]; row: dst(i,j) = view(t(idx[i]), j); t: memory.md, 5",
        source: "isa/memory.md 5",
        forms: &[
            form!(Plain: Global, Idx => Dst),
            form!(InMemory: Global, IdxView, ScratchView as optional_view => Dst; cpp Dst, Global, IdxView, ScratchView; by_hand cpp;
                formula "as the other form; idx and scratch are views"),
        ],
        attrs: &[AttrName::GatherOob, AttrName::Coalesce],
        rules: table_rules!("mgather"; ALL TableScratch "mgather-scratch";),
        sigs: GATHERS,
        ids: ids!("mgather"),
        sem: Sem::Data(sem::table),
        examples: &[(Role::Idx, "!pto.tile<16x32xi32>")],
        ..BASE
    };
    Mscatter => OpInfo {
        mnemonic: "mscatter",
        aliases: &["mscatter.row", "mscatter.elem"],
        cpp: &["MSCATTER"],
        summary: "Scatters rows or elements of a tile into a view by index.",
        formula: "elem: view[t(idx(i,j))] = src(i,j) (or op=); row: view(t(idx[i]), j) = src(i,j) (or op=); in row-major order of (i,j)",
        source: "isa/memory.md 5",
        forms: &[form!(Plain: Src, Idx => Global)],
        attrs: &[AttrName::ScatterAtomicOp, AttrName::ScatterOob, AttrName::Coalesce, AttrName::ScatterConflict],
        rules: table_rules!("mscatter" "undefined-read";),
        sigs: table_sigs!(Src Mte3),
        ids: ids!("mscatter"),
        pipe: Pipe::Mte3,
        sem: Sem::Data(sem::table),
        examples: &[(Role::Idx, "!pto.tile<16x32xi32>")],
        ..BASE
    };
}

/// What hosts and FIFOs move tiles with.
impl Inst {
    /// A plain TLOAD, without its operands.
    pub fn tload(profile: Profile) -> Self {
        Inst::new(Opcode::Tload, Form::Plain, profile)
    }

    /// A plain TSTORE, without its operands.
    pub fn tstore(profile: Profile) -> Self {
        Inst::new(Opcode::Tstore, Form::Plain, profile)
    }
}
