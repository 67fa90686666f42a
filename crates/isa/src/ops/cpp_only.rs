//! Instructions that C++ has and text has not (cpp.md 6.1): fused forms; and patterns along an axis, which text writes as a
//! word behind the types (isa/today.md 6.6). Their rules have the ids of the instructions that they are made of.

use super::irregular::{ANY_BUT_FP4, BASE as IRREGULAR, FROM_16, MASKED_A5, ONE_OF_THE_SIZE, in_vec, on_cpu};
use super::vector::*;
use super::*;
use crate::elem::Elem::{F16, F32, I8, I16, I32};

const BASE: OpInfo = OpInfo { family: Family::Elementwise, source: "cpp.md 6.1", ..LAYOUT };

/// Elementwise, of one type: C++ name, what it is made of, operands, formula, summary, function or steps.
macro_rules! fused {
    ($cpp:literal $of:literal ($($role:ident),*) => Dst $(as $effect:ident)?; $formula:literal, $summary:literal, $sem:expr) => {
        OpInfo {
            mnemonic: $cpp,
            cpp: &[$cpp],
            summary: $summary,
            formula: $formula,
            forms: &[form!(Plain: $($role),* => Dst $(as $effect)?)],
            sigs: &[
                anywhere(Types::EqualOf(NUMBERS)),
                vector(Profiles::A2A3, Types::EqualOf(HALF_SINGLE)),
                vector(Profiles::A5, Types::EqualOf(HALF_SINGLE)),
            ],
            ids: ids!($of),
            rules: vector_rules!($of; ALL SameValid "-valid"; =>),
            sem: $sem,
            ..BASE
        }
    };
}

/// A sum or difference, ReLU, and a narrower type.
macro_rules! narrowed {
    ($cpp:literal $of:literal $formula:literal, $summary:literal, $subtracts:literal) => {
        OpInfo {
            mnemonic: $cpp,
            cpp: &[$cpp],
            summary: $summary,
            formula: $formula,
            forms: &[form!(Plain: Src0, Src1 => Dst)],
            sigs: &[anywhere(NARROWED), vector(Profiles::A2A3, NARROWED), vector(Profiles::A5, NARROWED)],
            ids: ids!($of),
            rules: vector_rules!($of; ALL SameValid "-valid"; =>),
            sem: Sem::Map {
                args: &[Role::Src0, Role::Src1],
                func: sem::Func::ReluConvert { subtracts: $subtracts },
            },
            ..BASE
        }
    };
}
const NARROWED: Types =
    Types::Rows(&[Role::Src0, Role::Src1, Role::Dst], &[&[F32, F32, F16], &[F16, F16, I8], &[I16, I16, I8]]);
const DEQUANTIZED: Types = Types::Rows(&[Role::Src0, Role::Src1, Role::Dst], &[&[I32, I32, F16]]);

/// By a pattern: 2- and 4-byte types, row by row.
macro_rules! patterned {
    ($name:literal $cpp:literal $of:literal $axis:literal ($place:ident $word:literal) $kind:ident $covers:ident, $cpu:expr, $a2a3:expr, $a5:expr,
     $formula:literal, $summary:literal, $steps:expr) => {
        OpInfo {
            mnemonic: $name,
            cpp: &[$cpp],
            summary: $summary,
            formula: $formula,
            source: "cpp.md 6.6",
            forms: &[form!(Mask: Src => Dst as $covers; by_hand cpp)],
            attrs: &[AttrName::MaskPattern],
            sigs: &[
                on_cpu($cpu).of(&[Form::Mask]),
                in_vec(Profiles::A2A3, $a2a3).of(&[Form::Mask]),
                in_vec(Profiles::A5, $a5).of(&[Form::Mask]),
            ],
            ids: ids!($of),
            rules: rules! {
                NPU Signature concat!($of, "-loc"), concat!($of, "-layout"); ALL Signature concat!($of, "-dtype");
                ALL $kind concat!($of, "-valid"); ALL Overlap "overlap";
            },
            sem: Sem::Moves($steps),
            axis: Some(($of, $axis)),
            axis_cpp: Some((CppAttr::$place, $word)),
            ..IRREGULAR
        }
    };
}
/// Picked elements keep their bits; dst has a type of their size (isa/today.md 6.6).
const fn of_size(src: &'static [(Role, TypeOf)]) -> Types {
    Types::ByRole(src)
}
const PICKED_CPU: Types = of_size(&[(Role::Src, TypeOf::One(ANY_BUT_FP4)), ONE_OF_THE_SIZE]);
const PICKED_A2A3: Types = of_size(&[(Role::Src, TypeOf::One(FROM_16)), ONE_OF_THE_SIZE]);
const PICKED_A5: Types = of_size(&[(Role::Src, TypeOf::One(MASKED_A5)), ONE_OF_THE_SIZE]);
const SPREAD: Types = Types::EqualOf(STANDARD);

family! { after comm::END;
    Tsubrelu => fused!("TSUBRELU" "tsub" (Src0, Src1) => Dst;
        "dst(i,j) = relu(src0(i,j) - src1(i,j))", "Difference of two tiles, negative elements become zero.",
        Sem::Map { args: &[Role::Src0, Role::Src1], func: sem::Func::ReluConvert { subtracts: true } });
    Tmuladddst => fused!("TMULADDDST" "tadd" (Src0, Src1) => Dst as update;
        "dst(i,j) = src0(i,j) * src1(i,j) + dst(i,j)", "Adds a product to the destination.",
        Sem::Map { args: &[Role::Src0, Role::Src1, Role::Dst], func: sem::Func::MulThenAdd { relu: false } });
    Tfusedmuladd => fused!("TFUSEDMULADD" "tadd" (Src0, Src1) => Dst as update;
        "dst(i,j) = src0(i,j) * dst(i,j) + src1(i,j)", "Multiplies the destination and adds to it.",
        Sem::Computes(sem::mul_add));
    Tfusedmuladdrelu => fused!("TFUSEDMULADDRELU" "tadd" (Src0, Src1) => Dst as update;
        "dst(i,j) = relu(src0(i,j) * dst(i,j) + src1(i,j))",
        "Multiplies the destination and adds to it, negative elements become zero.",
        Sem::Map { args: &[Role::Src0, Role::Dst, Role::Src1], func: sem::Func::MulThenAdd { relu: true } });
    Taddreluconv => narrowed!("TADDRELUCONV" "tadd" "dst(i,j) = convert(relu(src0(i,j) + src1(i,j)))",
        "Sum, negative elements become zero, converted to a narrower type.", false);
    Tsubreluconv => narrowed!("TSUBRELUCONV" "tsub" "dst(i,j) = convert(relu(src0(i,j) - src1(i,j)))",
        "Difference, negative elements become zero, converted to a narrower type.", true);
    Tadddeqrelu => OpInfo {
        mnemonic: "TADDDEQRELU",
        cpp: &["TADDDEQRELU"],
        summary: "Sum of two i32 tiles times a scale, as f16, negative elements become zero.",
        formula: "dst(i,j) = relu(f16(f32(src0(i,j) + src1(i,j)) * s))",
        forms: &[form!(Plain: Src0, Src1, Scalar, Tmp as scratch_a2a3 => Dst; typed Scalar "float")],
        sigs: &[anywhere(DEQUANTIZED), vector(Profiles::A2A3, DEQUANTIZED), vector(Profiles::A5, DEQUANTIZED)],
        ids: ids!("tadd"),
        rules: vector_rules!("tadd"; ALL SameValid "-valid"; =>),
        sem: Sem::Computes(sem::add_dequantize_relu),
        ..BASE
    };
    TmovZz => mx::TMOV_ZZ;
    TgatherRows => patterned!("TGATHER_ROWS" "TGATHER" "tgather" "col" (Behind "GatherAxis::GATHER_COL") RowsPicked write_part, PICKED_CPU, PICKED_A2A3, PICKED_A5,
        "dst(k,j) = src(r(k),j), r(k) the k-th row that the pattern names", "Picks rows of src by a pattern.", sem::pick_rows);
    TscatterCols => patterned!("TSCATTER_COLS" "TSCATTER" "tscatter" "row" (Ahead "ScatterAxis::SCATTER_ROW") ColsSpread write, Types::EqualOf(ANY_BUT_FP4), SPREAD, SPREAD,
        "dst(i,c(k)) = src(i,k), c(k) the k-th column that the pattern names; 0 in the others",
        "Spreads the columns of src by a pattern.", sem::spread_cols);
    TscatterRows => patterned!("TSCATTER_ROWS" "TSCATTER" "tscatter" "col" (Ahead "ScatterAxis::SCATTER_COL") RowsSpread write, Types::EqualOf(ANY_BUT_FP4), SPREAD, SPREAD,
        "dst(r(k),j) = src(k,j), r(k) the k-th row that the pattern names; 0 in the others",
        "Spreads the rows of src by a pattern.", sem::spread_rows);
}
