//! Matrix products (isa/matrix.md).

use super::*;
use crate::elem::Elem::{self, *};
use crate::sem::At;

/// The operands whose types belong together; those that an instruction does not have are not asked.
const TILES: &[Role] = &[Role::A, Role::B, Role::Dst, Role::Acc, Role::Bias, Role::AScale, Role::BScale];

/// Types of a, b and dst: acc and bias have dst's, scales are f8e8m0.
macro_rules! triples {
    ($($a:ident $b:ident $dst:ident),* $(,)?) => { &[$(&[$a, $b, $dst, $dst, $dst, F8e8m0, F8e8m0]),*] };
}
const TRIPLES: &[&[Elem]] = triples!(I8 I8 I32, F16 F16 F32, Bf16 Bf16 F32, F32 F32 F32);
const TRIPLES_A5: &[&[Elem]] = triples![
    I8 I8 I32, F16 F16 F32, Bf16 Bf16 F32, F32 F32 F32,
    F8e4m3 F8e4m3 F32, F8e4m3 F8e5m2 F32, F8e5m2 F8e4m3 F32, F8e5m2 F8e5m2 F32, Hif8 Hif8 F32,
];
const TRIPLES_MX: &[&[Elem]] = triples![
    F8e4m3 F8e4m3 F32, F8e4m3 F8e5m2 F32, F8e5m2 F8e4m3 F32, F8e5m2 F8e5m2 F32,
    F4e1m2x2 F4e1m2x2 F32, F4e1m2x2 F4e2m1x2 F32, F4e2m1x2 F4e1m2x2 F32, F4e2m1x2 F4e2m1x2 F32,
];

const LOCS: &[(Role, Locs)] = &[
    (Role::A, &[Loc::Left]),
    (Role::B, &[Loc::Right]),
    (Role::Dst, &[Loc::Acc]),
    (Role::Acc, &[Loc::Acc]),
    (Role::Bias, &[Loc::Bias]),
    (Role::AScale, &[Loc::ScaleLeft]),
    (Role::BScale, &[Loc::ScaleRight]),
];

const ZZ_32: Lay = Lay::Exactly(LayoutName::Zz, 32);
const NN_32: Lay = Lay::Exactly(LayoutName::Nn, 32);

/// The layouts with which hardware multiplies: a's is the profile's.
macro_rules! layouts {
    ($a:expr) => {
        &[&[
            (Role::A, $a),
            (Role::B, Lay::Exactly(LayoutName::Zn, 512)),
            (Role::Dst, NZ),
            (Role::Acc, NZ),
            (Role::Bias, ND),
            (Role::AScale, ZZ_32),
            (Role::BScale, NN_32),
        ]]
    };
}

const fn product(on: Profiles, layouts: &'static [Layouts], triples: &'static [&'static [Elem]]) -> Sig {
    Sig { on, forms: PLAIN, locs: LOCS, layouts, types: Types::Rows(TILES, triples), pipe: Pipe::M }
}

static PLAIN_PRODUCTS: &[Sig] = &[
    product(Profiles::CPU, &[], TRIPLES),
    product(Profiles::A2A3, layouts!(Lay::Exactly(LayoutName::Zz, 512)), TRIPLES),
    product(Profiles::A5, layouts!(NZ_512), TRIPLES_A5),
];
static MX_PRODUCTS: &[Sig] = &[product(Profiles::A5, layouts!(NZ_512), TRIPLES_MX)];

const BASE: OpInfo =
    OpInfo { source: "isa/matrix.md 1", family: Family::Matrix, attrs: &[AttrName::AccPhase], pipe: Pipe::M, ..LAYOUT };

const A: (Role, &str) = (Role::A, "!pto.tile<loc=left, f16, 16, 32>");
const ROW: (Role, &str) = (Role::A, "!pto.tile<loc=left, f16, 1, 32>");
const B: (Role, &str) = (Role::B, "!pto.tile<loc=right, f16, 32, 16>");
const ACC: (Role, &str) = (Role::Acc, "!pto.tile<loc=acc, f32, 16, 16>");
const DST: (Role, &str) = (Role::Dst, "!pto.tile<loc=acc, f32, 16, 16>");
const ROW_ACC: (Role, &str) = (Role::Acc, "!pto.tile<loc=acc, f32, 1, 16>");
const ROW_DST: (Role, &str) = (Role::Dst, "!pto.tile<loc=acc, f32, 1, 16>");
const BIAS: (Role, &str) = (Role::Bias, "!pto.tile<loc=bias, f32, 1, 16>");
const MX_A: (Role, &str) = (Role::A, "!pto.tile<loc=left, f8e4m3, 16, 64>");
const MX_ROW: (Role, &str) = (Role::A, "!pto.tile<loc=left, f8e4m3, 1, 64>");
const MX_B: (Role, &str) = (Role::B, "!pto.tile<loc=right, f8e4m3, 64, 32>");
const MX_ACC: (Role, &str) = (Role::Acc, "!pto.tile<loc=acc, f32, 16, 32>");
const MX_DST: (Role, &str) = (Role::Dst, "!pto.tile<loc=acc, f32, 16, 32>");
const MX_ROW_ACC: (Role, &str) = (Role::Acc, "!pto.tile<loc=acc, f32, 1, 32>");
const MX_ROW_DST: (Role, &str) = (Role::Dst, "!pto.tile<loc=acc, f32, 1, 32>");
const MX_BIAS: (Role, &str) = (Role::Bias, "!pto.tile<loc=bias, f32, 1, 32>");
const A_SCALE: (Role, &str) = (Role::AScale, "!pto.tile<loc=scale_left, f8e8m0, 16, 2>");
const ROW_SCALE: (Role, &str) = (Role::AScale, "!pto.tile<loc=scale_left, f8e8m0, 1, 2>");
const B_SCALE: (Role, &str) = (Role::BScale, "!pto.tile<loc=scale_right, f8e8m0, 2, 32>");

/// A product: mnemonic, its dotted spelling, C++ name; operands in text order, and in that of C++ where they are not
/// `outs` and then `ins`; what the sum starts with; the sentence; rules of its own; tiles with which it is legal. Other
/// operands than accumulators lie in memories of their own and cannot overlap.
macro_rules! product {
    (matmul $($row:tt)*) => { product!(@row matmul [] $($row)*) };
    (gemv $($row:tt)*) => { product!(@row gemv [] $($row)*) };
    (matmul_mx $($row:tt)*) => { product!(@row matmul_mx ["-profile"] $($row)*) };
    (gemv_mx $($row:tt)*) => { product!(@row gemv_mx ["-profile"] $($row)*) };
    (@row $kind:ident [$($profile:literal)?] $mnemonic:literal [$($alias:literal)?] $cpp:literal ($($role:ident),*);
     $start:literal $plus:expr, $end:literal; $($what:ident $on:ident $suffix:literal),* $(+ $overlap:ident)?; $examples:expr) => {
        OpInfo {
            mnemonic: $mnemonic,
            aliases: &[$($alias)?],
            cpp: &[$cpp],
            summary: concat!(product!(@name $kind), ": ", $end),
            formula: concat!("dst(i,j) = s(K), s(0) = ", $start, ", s(k+1) = round(s(k) + a(i,k)*b(k,j)",
                product!(@scales $kind), ") with one rounding; ", product!(@extents $kind), ", N = b.Cv"),
            forms: &[form!(Plain: $($role),* => Dst)],
            sigs: product!(@sigs $kind),
            ids: product!(@ids $kind $mnemonic),
            rules: &[
                $(RuleUse { id: concat!($mnemonic, $profile), kind: RuleKind::Signature, on: Profiles::CPU_A2A3 },)?
                RuleUse { id: concat!($mnemonic, "-loc"), kind: RuleKind::Signature, on: product!(@on $kind) },
                RuleUse {
                    id: concat!($mnemonic, "-layout"),
                    kind: RuleKind::Signature,
                    on: product!(@on $kind).and(Profiles::NPU),
                },
                RuleUse { id: concat!($mnemonic, "-dtype"), kind: RuleKind::Signature, on: product!(@on $kind) },
                RuleUse { id: concat!($mnemonic, "-valid"), kind: RuleKind::ContractValid, on: product!(@on $kind) },
                RuleUse { id: concat!($mnemonic, "-shape"), kind: RuleKind::ContractShape, on: product!(@on $kind) },
                RuleUse {
                    id: concat!($mnemonic, "-range"),
                    kind: RuleKind::ContractRange,
                    on: product!(@on $kind).and(Profiles::NPU),
                },
                $(RuleUse {
                    id: concat!($mnemonic, $suffix),
                    kind: RuleKind::$what,
                    on: product!(@on $kind).and(Profiles::$on),
                },)*
                $(RuleUse { id: "overlap", kind: RuleKind::$overlap, on: product!(@on $kind) },)?
            ],
            sem: Sem::Contract { plus: $plus, scaled: product!(@scaled $kind), one_row: product!(@one_row $kind) },
            examples: $examples,
            ..BASE
        }
    };
    (@name matmul) => { "Matrix product" };
    (@name matmul_mx) => { "Matrix product of block-scaled (MX) operands" };
    (@name gemv) => { "Row vector times matrix" };
    (@name gemv_mx) => { "Row vector times matrix of block-scaled (MX) operands" };
    (@scales matmul) => { "" };
    (@scales gemv) => { "" };
    (@scales $mx:ident) => { "*a_scale(i,k/32)*b_scale(k/32,j)" };
    (@extents matmul) => { "M = a.Rv, K = a.Cv" };
    (@extents matmul_mx) => { "M = a.Rv, K = a.Cv" };
    (@extents $gemv:ident) => { "M = 1, K = b.Rv" };
    (@sigs matmul) => { PLAIN_PRODUCTS };
    (@sigs gemv) => { PLAIN_PRODUCTS };
    (@sigs $mx:ident) => { MX_PRODUCTS };
    (@on matmul) => { Profiles::ALL };
    (@on gemv) => { Profiles::ALL };
    (@on $mx:ident) => { Profiles::A5 };
    (@ids matmul $mnemonic:literal) => { ids!($mnemonic) };
    (@ids gemv $mnemonic:literal) => { ids!($mnemonic) };
    (@ids $mx:ident $mnemonic:literal) => { ids!($mnemonic).profile(concat!($mnemonic, "-profile")) };
    (@scaled matmul) => { false };
    (@scaled gemv) => { false };
    (@scaled $mx:ident) => { true };
    (@one_row matmul) => { false };
    (@one_row matmul_mx) => { false };
    (@one_row $gemv:ident) => { true };
}

const ON_ACC: Option<(Role, At)> = Some((Role::Acc, At::Same));
const ON_BIAS: Option<(Role, At)> = Some((Role::Bias, At::ColOf));

/// The sources of tget_scale_addr on a5.
const SCALED: &[Elem] = &[F8e4m3, F8e5m2, F4e1m2x2, F4e2m1x2];
const OF_SCALES: Types = Types::ByRole(&[(Role::Src, TypeOf::One(SCALED)), (Role::Dst, TypeOf::One(&[F8e8m0]))]);

/// Between which locations, in which layouts, of which types.
macro_rules! bound {
    ($on:ident $src:ident $dst:ident $layouts:expr, $types:expr) => {
        flow!(Profiles::$on, PLAIN, &[Loc::$src], &[Loc::$dst], $layouts, $types, Pipe::S)
    };
}

/// A mode of f32 products: mnemonic and C++ name, where it counts and where it does not, how much is left.
macro_rules! f32_mode {
    ($mnemonic:literal $cpp:literal $short:literal, $on:ident not $noop:ident, dropped $dropped:literal, $summary:literal) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$cpp],
            summary: $summary,
            formula: concat!(
                "a(i,k), b(k,j) of f32 products are replaced by ",
                $short,
                "(a), ",
                $short,
                "(b): matrix.md, 5"
            ),
            source: "isa/matrix.md 5",
            text: Text::Attributes,
            attrs: &[AttrName::Enable, AttrName::F32Mode],
            rules: rules! {
                NPU Words concat!($mnemonic, "-mode"); $noop NoEffect concat!($mnemonic, "-noop");
            },
            pipe: Pipe::S,
            sem: Sem::RoundsF32 { on: Profiles::$on, dropped: $dropped },
            ..BASE
        }
    };
}

family! { after reduce::END;
    Tmatmul => product!(matmul "tmatmul" [] "TMATMUL" (A, B); "+0" None, "fresh product.";
        ContractPitch NPU "-pitch"; &[A, B, DST]);
    TmatmulAcc => product!(matmul "tmatmul_acc" ["tmatmul.acc"] "TMATMUL_ACC" (Acc, A, B); "acc(i,j)" ON_ACC,
        "product added to an accumulator."; ContractPitch NPU "-pitch", AccApart NPU "-inplace" + Overlap; &[ACC, A, B, DST]);
    TmatmulBias => product!(matmul "tmatmul_bias" ["tmatmul.bias"] "TMATMUL_BIAS" (A, B, Bias); "bias(0,j)" ON_BIAS,
        "product added to a bias row."; ContractPitch NPU "-pitch", ContractBias ALL "-bias"; &[A, B, BIAS, DST]);
    TmatmulMx => product!(matmul_mx "tmatmul_mx" ["tmatmul.mx"] "TMATMUL_MX" (A, AScale, B, BScale); "+0" None,
        "fresh product."; ContractPitch NPU "-pitch", ContractScale A5 "-scale", ScaleAddress A5 "-scale-addr";
        &[MX_A, A_SCALE, MX_B, B_SCALE, MX_DST]);
    TmatmulMxAcc => product!(matmul_mx "tmatmul_mx_acc" ["tmatmul.mx.acc"] "TMATMUL_MX" (Acc, A, AScale, B, BScale);
        "acc(i,j)" ON_ACC, "product added to an accumulator.";
        ContractPitch NPU "-pitch", ContractScale A5 "-scale", ScaleAddress A5 "-scale-addr", AccApart NPU "-inplace" + Overlap;
        &[MX_ACC, MX_A, A_SCALE, MX_B, B_SCALE, MX_DST]);
    TmatmulMxBias => product!(matmul_mx "tmatmul_mx_bias" ["tmatmul.mx.bias"] "TMATMUL_MX" (A, AScale, B, BScale, Bias);
        "bias(0,j)" ON_BIAS, "product added to a bias row.";
        ContractPitch NPU "-pitch", ContractBias ALL "-bias", ContractScale A5 "-scale", ScaleAddress A5 "-scale-addr";
        &[MX_A, A_SCALE, MX_B, B_SCALE, MX_BIAS, MX_DST]);
    Tgemv => product!(gemv "tgemv" [] "TGEMV" (A, B); "+0" None, "fresh product."; ; &[ROW, B, ROW_DST]);
    TgemvAcc => product!(gemv "tgemv_acc" ["tgemv.acc"] "TGEMV_ACC" (Acc, A, B); "acc(i,j)" ON_ACC,
        "product added to an accumulator."; AccApart NPU "-inplace" + Overlap; &[ROW_ACC, ROW, B, ROW_DST]);
    TgemvBias => product!(gemv "tgemv_bias" ["tgemv.bias"] "TGEMV_BIAS" (A, B, Bias); "bias(0,j)" ON_BIAS,
        "product added to a bias row."; ContractBias ALL "-bias"; &[ROW, B, BIAS, ROW_DST]);
    TgemvMx => product!(gemv_mx "tgemv_mx" ["tgemv.mx"] "TGEMV_MX" (A, AScale, B, BScale); "+0" None,
        "fresh product."; ContractScale A5 "-scale", ScaleAddress A5 "-scale-addr";
        &[MX_ROW, ROW_SCALE, MX_B, B_SCALE, MX_ROW_DST]);
    TgemvMxAcc => product!(gemv_mx "tgemv_mx_acc" ["tgemv.mx.acc"] "TGEMV_MX" (Acc, A, AScale, B, BScale);
        "acc(i,j)" ON_ACC, "product added to an accumulator.";
        ContractScale A5 "-scale", ScaleAddress A5 "-scale-addr", AccApart NPU "-inplace" + Overlap;
        &[MX_ROW_ACC, MX_ROW, ROW_SCALE, MX_B, B_SCALE, MX_ROW_DST]);
    TgemvMxBias => product!(gemv_mx "tgemv_mx_bias" ["tgemv.mx.bias"] "TGEMV_MX" (A, AScale, B, BScale, Bias);
        "bias(0,j)" ON_BIAS, "product added to a bias row.";
        ContractBias ALL "-bias", ContractScale A5 "-scale", ScaleAddress A5 "-scale-addr";
        &[MX_ROW, ROW_SCALE, MX_B, B_SCALE, MX_BIAS, MX_ROW_DST]);
    TgetScaleAddr => OpInfo {
        mnemonic: "tget_scale_addr",
        aliases: &["get_scale_addr"],
        cpp: &["TGET_SCALE_ADDR"],
        summary: "Binds a scale tile to the scale area that belongs to a Left or Right tile; moves no data.",
        formula: "address(dst) = address(src) >> 4",
        source: "isa/matrix.md 3",
        attrs: &[],
        forms: &[form!(Plain: Src as read_declared => Dst as view)],
        sigs: &[
            bound!(CPU Left ScaleLeft &[], Types::Any),
            bound!(CPU Right ScaleRight &[], Types::Any),
            bound!(A5 Left ScaleLeft &[&[(Role::Dst, ZZ_32)]], OF_SCALES),
            bound!(A5 Right ScaleRight &[&[(Role::Dst, NN_32)]], OF_SCALES),
        ],
        ids: ids!("tget_scale_addr").profile("tget_scale_addr-profile"),
        rules: rules! {
            A2A3 Signature "tget_scale_addr-profile"; CPU_A5 Signature "tget_scale_addr-loc";
            A5 Signature "tget_scale_addr-layout", "tget_scale_addr-dtype"; CPU_A5 ScaleOf "tget_scale_addr-addr";
        },
        pipe: Pipe::S,
        sem: Sem::Binds,
        binds: Some(Bind::Scale),
        examples: &[
            (Role::Src, "!pto.tile<loc=left, f8e4m3, 16, 64>"),
            (Role::Dst, "!pto.tile<loc=scale_left, f8e8m0, 16, 2>"),
        ],
        ..BASE
    };
    Sethf32mode => f32_mode!("sethf32mode" "SETHF32MODE" "hf32", A2A3 not A5, dropped 12,
        "From here on f32 operands of the non-MX products are rounded to 11 mantissa bits (a2a3); state of the kernel, no tile is touched.");
    Settf32mode => f32_mode!("settf32mode" "SETTF32MODE" "tf32", A5 not A2A3, dropped 13,
        "From here on f32 operands of the non-MX products are rounded to 10 mantissa bits (a5); state of the kernel, no tile is touched.");
}
