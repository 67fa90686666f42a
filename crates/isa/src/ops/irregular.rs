//! Generators, gathers, scatters, sorting and scalar access: data decides where elements go (isa/irregular.md).

use super::vector::INTEGERS;
use super::*;
use crate::elem::Elem::{self, *};

pub(super) const BASE: OpInfo = OpInfo { family: Family::Irregular, ..LAYOUT };

/// Every type but fp4.
pub(super) const ANY_BUT_FP4: &[Elem] =
    &[F32, F16, Bf16, I8, I16, I32, I64, U8, U16, U32, U64, F8e4m3, F8e5m2, Hif8, F8e8m0];
pub(super) const FROM_16: &[Elem] = &[I16, U16, I32, U32, F16, Bf16, F32];
pub(super) const INDEX: &[Elem] = &[I16, U16, I32, U32];
pub(super) const INDEX_32: &[Elem] = &[I32, U32];
const ND_OR_DN: Lay = Lay::Of(&[LayoutName::Nd, LayoutName::Dn]);

/// Every operand that an irregular instruction may have, in Vec.
const VEC: &[(Role, Locs)] = &[
    (Role::Src, &[Loc::Vec]),
    (Role::Src0, &[Loc::Vec]),
    (Role::Src1, &[Loc::Vec]),
    (Role::Src2, &[Loc::Vec]),
    (Role::Src3, &[Loc::Vec]),
    (Role::Idx, &[Loc::Vec]),
    (Role::Src0Idx, &[Loc::Vec]),
    (Role::Src1Idx, &[Loc::Vec]),
    (Role::Fp, &[Loc::Vec]),
    (Role::Scale, &[Loc::Vec]),
    (Role::Offset, &[Loc::Vec]),
    (Role::Dst, &[Loc::Vec]),
    (Role::DstIdx, &[Loc::Vec]),
    (Role::Cdst, &[Loc::Vec]),
    (Role::Exp, &[Loc::Vec]),
    (Role::Max, &[Loc::Vec]),
    (Role::Scaling, &[Loc::Vec]),
    (Role::ExpZz, &[Loc::Vec]),
];
/// And row by row, but counts and parameters, which may also lie column by column.
const IN_ROWS: &[Layouts] = &[&[
    (Role::Src, ND),
    (Role::Src0, ND),
    (Role::Src1, ND),
    (Role::Src2, ND),
    (Role::Src3, ND),
    (Role::Idx, ND),
    (Role::Src0Idx, ND),
    (Role::Src1Idx, ND),
    (Role::Fp, ND_OR_DN),
    (Role::Scale, ND_OR_DN),
    (Role::Offset, ND_OR_DN),
    (Role::Dst, ND),
    (Role::DstIdx, ND),
    (Role::Cdst, ND_OR_DN),
    (Role::Exp, ND),
    (Role::Max, ND),
    (Role::Scaling, ND),
    (Role::ExpZz, ND),
]];

/// cpu: wherever the operands lie.
pub(super) const fn on_cpu(types: Types) -> Sig {
    Sig { on: Profiles::CPU, forms: PLAIN, locs: &[], layouts: &[], types, pipe: Pipe::V }
}
/// In Vec, row by row.
pub(super) const fn in_vec(on: Profiles, types: Types) -> Sig {
    Sig { on, forms: PLAIN, locs: VEC, layouts: IN_ROWS, types, pipe: Pipe::V }
}
/// A scalar and one element of a tile, however it is laid out.
const fn element(on: Profiles, locs: &'static [(Role, Locs)]) -> Sig {
    Sig { on, forms: PLAIN, locs, layouts: &[], types: Types::EachOf(ANY_BUT_FP4), pipe: Pipe::S }
}

/// Types by role: lists, and after the semicolon operands that have another's type.
macro_rules! by_role {
    ($($role:ident $types:expr),*; $($same:ident as $like:ident),*) => {
        Types::ByRole(&[
            $((Role::$role, TypeOf::One($types)),)*
            $((Role::$same, TypeOf::Like(Role::$like)),)*
        ])
    };
}
pub(super) use by_role;

const SORTED: Types = Types::EqualOf(&[F16, F32]);
const RECORDS: Types = by_role!(Src &[F16, F32], Idx &[U32]; Dst as Src);
const WITH_TMP: &[Form] = &[Form::Tmp];
const LISTS: &[Form] = &[Form::Lists, Form::ListsTmpOut];
/// What lies row by row on cpu, too.
const ROWS_ON_CPU: &[Layouts] = &[&[
    (Role::Src, ND),
    (Role::Src0, ND),
    (Role::Src1, ND),
    (Role::Src2, ND),
    (Role::Src3, ND),
    (Role::Idx, ND),
    (Role::Dst, ND),
]];
const COUNTED: Types = by_role!(Src &[U16, U32], Idx &[U8], Dst &[U32];);
const COUNTED_ON_A5: &[Layouts] = &[&[(Role::Src, ND), (Role::Idx, ND_OR_DN), (Role::Dst, ND)]];
pub(super) const ONE_OF_THE_SIZE: (Role, TypeOf) = (Role::Dst, TypeOf::SizeOf(Role::Src));

family! { after matrix::END;
    Tci => OpInfo {
        mnemonic: "tci",
        cpp: &["TCI"],
        summary: "Counts up or down along a row.",
        formula: "dst(0,j) = scalar + j, descending: scalar - j",
        source: "isa/irregular.md 3; isa/today.md 6.2",
        forms: &[
            form!(Plain: Scalar => Dst; named Dst, Scalar),
            form!(Tmp: Scalar, Tmp as counted_scratch => Dst; cpp Dst, Scalar, Tmp; named Dst, Tmp, Scalar),
        ],
        attrs: &[AttrName::Descending],
        sigs: &[
            Sig { pipe: Pipe::S, ..on_cpu(Types::EqualOf(INTEGERS)) },
            Sig { pipe: Pipe::S, ..in_vec(Profiles::NPU, Types::EqualOf(INDEX)) },
            on_cpu(Types::EqualOf(INTEGERS)).of(WITH_TMP),
            in_vec(Profiles::NPU, Types::EqualOf(INDEX)).of(WITH_TMP),
        ],
        pipe: Pipe::S,
        ids: ids!("tci"),
        rules: rules! {
            NPU Signature "tci-loc", "tci-layout"; ALL Signature "tci-dtype";
            ALL StartNumber "tci-scalar"; ALL OneRow "tci-shape"; A2A3 CountTmp "tci-tmp"; ALL Overlap "overlap";
        },
        sem: Sem::Data(sem::count),
        examples: &[
            (Role::Scalar, "i32"),
            (Role::Dst, "!pto.tile<1x32xi32>"),
            (Role::Tmp, "!pto.tile<1x256xi32>"),
        ],
        ..BASE
    };
    Ttri => OpInfo {
        mnemonic: "ttri",
        cpp: &["TTRI"],
        summary: "A triangular matrix of ones and zeros.",
        formula: "d = diagonal; lower: dst(i,j) = (j <= i + d ? 1 : 0); upper: dst(i,j) = (j >= i + d ? 1 : 0)",
        source: "isa/irregular.md 3",
        forms: &[form!(Plain: Scalar => Dst; typed Scalar "int32_t")],
        attrs: &[AttrName::UpperOrLower],
        sigs: &[
            on_cpu(Types::EqualOf(NUMBERS)),
            in_vec(Profiles::A2A3, Types::EqualOf(&[I16, U16, I32, U32, F16, F32])),
            in_vec(Profiles::A5, Types::EqualOf(NUMBERS)),
        ],
        ids: ids!("ttri"),
        rules: rules! {
            NPU Signature "ttri-loc", "ttri-layout", "ttri-dtype";
            ALL DiagonalNumber "ttri-scalar"; ALL TriangleAttr "ttri-attr";
        },
        sem: Sem::Data(sem::triangle),
        examples: &[(Role::Scalar, "i32")],
        ..BASE
    };
    Trandom => OpInfo {
        mnemonic: "trandom",
        cpp: &["TRANDOM"],
        summary: "Counter-based pseudo-random 32-bit words: Philox 4x32.",
        formula: "dst(i,j) = word (j mod 4) of philox(counter + i*A + j/4, key, rounds); A: irregular.md, 5",
        source: "isa/irregular.md 5",
        forms: &[form!(Plain: Key0, Key1, Counter0, Counter1, Counter2, Counter3 => Dst)],
        attrs: &[AttrName::Rounds],
        sigs: &[on_cpu(Types::EqualOf(INDEX_32)), in_vec(Profiles::A5, Types::EqualOf(INDEX_32))],
        ids: Ids { profile: Some("trandom-profile"), ..ids!("trandom") },
        rules: rules! {
            A2A3 Signature "trandom-profile"; A5 Signature "trandom-loc", "trandom-layout"; CPU_A5 Signature "trandom-dtype";
            CPU_A5 WordNumbers "trandom-scalar"; CPU_A5 RandomAttr "trandom-attr";
        },
        sem: Sem::Data(sem::random),
        examples: &[
            (Role::Key0, "i32"),
            (Role::Key1, "i32"),
            (Role::Counter0, "i32"),
            (Role::Counter1, "i32"),
            (Role::Counter2, "i32"),
            (Role::Counter3, "i32"),
            (Role::Dst, "!pto.tile<16x32xi32>"),
        ],
        ..BASE
    };
    Thistogram => OpInfo {
        mnemonic: "thistogram",
        cpp: &["THISTOGRAM"],
        summary: "Per row, the cumulative histogram of one byte of every element that passes a filter on the higher bytes.",
        formula: "dst(i,b) = #{ j : pass(i,j) and byte(src(i,j)) <= b }, b = 0..255",
        source: "isa/irregular.md 3",
        forms: &[form!(Plain: Src, Idx => Dst as write_part)],
        attrs: &[AttrName::IsMsb, AttrName::Byte],
        sigs: &[on_cpu(COUNTED), Sig { layouts: COUNTED_ON_A5, ..in_vec(Profiles::A5, COUNTED) }],
        ids: Ids { profile: Some("thistogram-profile"), ..ids!("thistogram") },
        rules: rules! {
            A2A3 Signature "thistogram-profile"; A5 Signature "thistogram-loc", "thistogram-layout";
            CPU_A5 Signature "thistogram-dtype"; CPU_A5 HistogramAttr "thistogram-attr";
            CPU_A5 HistogramValid "thistogram-valid"; CPU_A5 Overlap "overlap"; CPU_A5 AtRun "undefined-use";
        },
        sem: Sem::Data(sem::histogram),
        examples: &[
            (Role::Src, "!pto.tile<16x32xu16>"),
            (Role::Idx, "!pto.tile<16x32xu8>"),
            (Role::Dst, "!pto.tile<16x256xu32>"),
        ],
        ..BASE
    };
    Tgather => OpInfo {
        mnemonic: "tgather",
        cpp: &["TGATHER"],
        summary: "Picks elements of src by linear index.",
        formula: "k = idx(i,j); dst(i,j) = src(k / src.C, k mod src.C)",
        source: "isa/irregular.md 4",
        forms: &[
            form!(Plain: Src as read_declared, Idx, Tmp as optional_scratch => Dst; attrs),
            form!(Compare: Src, Scalar, Tmp as optional_scratch => Dst as write_part, Cdst as write_part;
                cpp Dst, Src, Scalar, Cdst, Tmp; named Dst, Src, Scalar, Cdst, Tmp; by_hand cpp; attrs CmpMode, Offset;
                formula "dst(i,n) = offset + i*src.C + j_n, j_0 < j_1 < ... the columns j < src.Cv with src(i,j) <cmpMode> scalar; cdst[i] = their number";
                with Dst "!pto.tile<16x32xi32>"),
            form!(Mask: Src => Dst as write_part; by_hand cpp; attrs MaskPattern;
                formula "dst(i,n) = src(i, F*n + p) for F*n + p < src.Cv"; with Dst "!pto.tile<16x16xf16>"),
        ],
        attrs: &[AttrName::CmpMode, AttrName::Offset, AttrName::MaskPattern],
        sigs: &[
            on_cpu(by_role!(Src ANY_BUT_FP4, Idx INDEX; Dst as Src)),
            in_vec(Profiles::A2A3, by_role!(Src FROM_16, Idx INDEX_32; Dst as Src)),
            in_vec(Profiles::A5, by_role!(Src NUMBERS, Idx INDEX; Dst as Src)),
            on_cpu(by_role!(Src STANDARD, Dst INDEX_32; Cdst as Dst)).of(&[Form::Compare]),
            in_vec(Profiles::A2A3, by_role!(Src &[F16, F32, I32], Dst INDEX_32; Cdst as Dst)).of(&[Form::Compare]),
            in_vec(Profiles::A5, by_role!(Src &[I16, U16, I32, U32, F16, F32], Dst INDEX_32; Cdst as Dst))
                .of(&[Form::Compare]),
            on_cpu(Types::ByRole(&[(Role::Src, TypeOf::One(ANY_BUT_FP4)), ONE_OF_THE_SIZE])).of(&[Form::Mask]),
            in_vec(Profiles::A2A3, Types::ByRole(&[(Role::Src, TypeOf::One(FROM_16)), ONE_OF_THE_SIZE])).of(&[Form::Mask]),
            in_vec(Profiles::A5, Types::ByRole(&[(Role::Src, TypeOf::One(MASKED_A5)), ONE_OF_THE_SIZE])).of(&[Form::Mask]),
        ],
        ids: ids!("tgather"),
        rules: rules! {
            ALL PatternGiven "operand-count";
            NPU Signature "tgather-loc", "tgather-layout"; ALL Signature "tgather-dtype";
            ALL ElementNumber "tgather-scalar"; ALL Words "tgather-attr"; ALL GatherAttr "tgather-attr";
            ALL GatherValid "tgather-valid";
            A2A3 GatherTmp "tgather-tmp"; ALL Overlap "overlap"; ALL AtRun "tgather-index", "tgather-room", "undefined-use";
        },
        sem: Sem::Data(sem::gather),
        examples: &[
            (Role::Idx, "!pto.tile<16x32xi32>"),
            (Role::Tmp, "!pto.tile<16x32xi32>"),
            (Role::Cdst, "!pto.tile<1x16xi32>"),
        ],
        ..BASE
    };
    Tgatherb => OpInfo {
        mnemonic: "tgatherb",
        cpp: &["TGATHERB"],
        summary: "Gathers blocks of 32 bytes by byte offset.",
        formula: "dst(i, b*C0 + k) = element of the bytes idx(i,b) + k*sz ... of src's storage, k < C0; C0, sz of dst",
        source: "isa/irregular.md 4; isa/today.md 6.8",
        forms: &[form!(Plain: Src as read_declared, Idx => Dst)],
        sigs: &[
            Sig { layouts: &[&[(Role::Dst, ND)]], ..on_cpu(by_role!(Idx INDEX_32, Dst STANDARD;)) },
            in_vec(Profiles::NPU, by_role!(Idx INDEX_32, Dst STANDARD;)),
        ],
        ids: ids!("tgatherb"),
        rules: rules! {
            NPU Signature "tgatherb-loc"; ALL Signature "tgatherb-layout", "tgatherb-dtype"; ALL BlockValid "tgatherb-valid";
            ALL Overlap "overlap"; ALL AtRun "tgatherb-index", "undefined-use";
        },
        sem: Sem::Data(sem::gather_blocks),
        examples: &[(Role::Idx, "!pto.tile<16x8xu32>")],
        ..BASE
    };
    Tscatter => OpInfo {
        mnemonic: "tscatter",
        cpp: &["TSCATTER"],
        summary: "Writes each element of src to the element of dst that its index names.",
        formula: "a2a3, a5: dst = 0 over its declared area first; k = idx(i,j); dst(k / dst.C, k mod dst.C) = src(i,j), in row-major order of (i,j)",
        source: "isa/irregular.md 4; isa/today.md 6.6",
        forms: &[form!(Plain: Src, Idx => Dst as write_window)],
        sigs: &[
            on_cpu(by_role!(Src ANY_BUT_FP4, Idx INDEX; Dst as Src)),
            Sig { pipe: Pipe::S, ..in_vec(Profiles::A2A3, by_role!(Src STANDARD, Idx INDEX; Dst as Src)) },
            in_vec(Profiles::A5, by_role!(Src NUMBERS, Idx INDEX; Dst as Src)),
        ],
        ids: ids!("tscatter"),
        rules: rules! {
            NPU Signature "tscatter-loc", "tscatter-layout"; ALL Signature "tscatter-dtype"; NPU ScatterSize "tscatter-size";
            ALL ScatterValid "tscatter-valid"; ALL Overlap "overlap"; ALL AtRun "tscatter-index", "undefined-use";
            A5 Duplicate "tscatter-duplicate";
        },
        sem: Sem::Data(sem::scatter),
        examples: &[(Role::Idx, "!pto.tile<16x32xi16>")],
        ..BASE
    };
    Tsort32 => OpInfo {
        mnemonic: "tsort32",
        cpp: &["TSORT32"],
        summary: "Sorts every 32 columns of a row downward and writes (value, index) records.",
        formula: "record n of block b of row i in dst = (src(i,j), idx(i,j)), j the n-th column of the block in \
            descending order of src",
        source: "isa/irregular.md 6",
        forms: &[form!(Plain: Src, Idx, Tmp as scratch_everywhere => Dst as write_part; cpp Dst, Src, Idx, Tmp)],
        sigs: &[Sig { layouts: ROWS_ON_CPU, ..on_cpu(RECORDS) }, in_vec(Profiles::NPU, RECORDS)],
        ids: ids!("tsort32"),
        rules: rules! {
            NPU Signature "tsort32-loc"; ALL Signature "tsort32-layout", "tsort32-dtype"; ALL SortValid "tsort32-valid";
            NPU SortTmp "tsort32-tmp"; NPU SortTmpSize "tsort32-tmp-size"; ALL Overlap "overlap"; NPU Footprint "footprint";
            ALL AtRun "undefined-use";
        },
        sem: Sem::Data(sem::sort),
        examples: &[
            (Role::Idx, "!pto.tile<16x32xu32>"),
            (Role::Tmp, "!pto.tile<1x32xf16>"),
            (Role::Dst, "!pto.tile<16x128xf16>"),
        ],
        ..BASE
    };
    Tmrgsort => OpInfo {
        mnemonic: "tmrgsort",
        cpp: &["TMRGSORT"],
        summary: "Merges each four neighbouring sorted blocks of records of one row.",
        formula: "for g < src.Cv / (4*blockLen): records of columns 4*g*blockLen ... of dst = merge of the four blocks of \
            blockLen columns there",
        source: "isa/irregular.md 6",
        forms: &[
            form!(Blocks: Src, Scalar => Dst as write_part; typed Scalar "uint32_t"),
            form!(Lists: Src0, Src1, Src2 as optional, Src3 as optional, Tmp as scratch_in_dps
                => Dst as write_part, Executed as write_declared; cpp Dst, Executed, Tmp, Src0, Src1, Src2, Src3; named Dst, Tmp;
                formula "dst = the first dst.Cv / P records of the merge; executed[k] = records taken from list k"),
            form!(ListsTmpOut: Src0, Src1, Src2 as optional, Src3 as optional
                => Dst as write_part, Tmp as scratch_out, Executed as write_declared;
                cpp Dst, Executed, Tmp, Src0, Src1, Src2, Src3; named Dst, Tmp;
                formula "dst = the first dst.Cv / P records of the merge; executed[k] = records taken from list k"),
        ],
        attrs: &[AttrName::Exhausted],
        sigs: &[
            Sig { layouts: ROWS_ON_CPU, ..on_cpu(SORTED).of(&[Form::Blocks]) },
            in_vec(Profiles::NPU, SORTED).of(&[Form::Blocks]),
            Sig { layouts: ROWS_ON_CPU, ..on_cpu(SORTED).of(LISTS) },
            in_vec(Profiles::NPU, SORTED).of(LISTS),
        ],
        ids: ids!("tmrgsort"),
        rules: rules! {
            NPU Signature "tmrgsort-loc"; ALL Signature "tmrgsort-layout", "tmrgsort-dtype"; ALL MergeValid "tmrgsort-valid";
            ALL MergeBlock "tmrgsort-block"; NPU MergeTmp "tmrgsort-tmp"; NPU MergeTmpSize "tmrgsort-tmp-size";
            ALL Overlap "overlap"; ALL AtRun "undefined-use"; ALL Unsorted "tmrgsort-unsorted";
        },
        sem: Sem::Data(sem::merge),
        examples: &[
            (Role::Scalar, "i32"),
            (Role::Executed, "vector<4xi16>"),
            (Role::Src, "!pto.tile<1x256xf32>"),
            (Role::Src0, "!pto.tile<1x64xf32>"),
            (Role::Src1, "!pto.tile<1x64xf32>"),
            (Role::Src2, "!pto.tile<1x64xf32>"),
            (Role::Src3, "!pto.tile<1x64xf32>"),
            (Role::Tmp, "!pto.tile<1x256xf32>"),
            (Role::Dst, "!pto.tile<1x256xf32>"),
        ],
        ..BASE
    };
    Tgetval => OpInfo {
        mnemonic: "tgetval",
        cpp: &["GETVAL"],
        summary: "Reads one element as a scalar.",
        formula: "value = element k of src's storage, k = index",
        source: "isa/irregular.md 9",
        forms: &[form!(Plain: Src as read_declared, Index => Value; by_hand cpp)],
        sigs: &[element(Profiles::CPU, &[]), element(Profiles::NPU, &[(Role::Src, &[Loc::Vec])])],
        ids: Ids { layout: None, ..ids!("tgetval") },
        rules: rules! {
            NPU Signature "tgetval-loc"; ALL Signature "tgetval-dtype"; ALL ElementIndex "tgetval-index";
            ALL AtRun "undefined-use";
        },
        pipe: Pipe::S,
        sem: Sem::Gets,
        examples: &[(Role::Value, "f16")],
        ..BASE
    };
    Tsetval => OpInfo {
        mnemonic: "tsetval",
        cpp: &["SETVAL"],
        summary: "Writes a scalar into one element.",
        formula: "element k of dst's storage = scalar, k = index",
        source: "isa/irregular.md 9",
        forms: &[form!(Plain: Index, Scalar => Dst as write_window)],
        sigs: &[element(Profiles::CPU, &[]), element(Profiles::NPU, &[(Role::Dst, &[Loc::Vec])])],
        ids: Ids { layout: None, ..ids!("tsetval") },
        rules: rules! {
            NPU Signature "tsetval-loc"; A5 Signature "tsetval-dtype"; ALL ElementNumber "tsetval-scalar";
            ALL ElementIndex "tsetval-index";
        },
        pipe: Pipe::S,
        sem: Sem::Computes(sem::set_element),
        ..BASE
    };
}

pub(super) const MASKED_A5: &[Elem] = &[I8, U8, I16, U16, I32, U32, I64, U64, F16, Bf16, F32, F8e4m3, F8e5m2, Hif8];
