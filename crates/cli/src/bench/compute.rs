//! The instructions that compute, and what each is compared with.

use super::cases::{F16, F32, SQUARE, case};
use super::yardstick::{self, Yardstick};
use super::{Case, Work};
use tessera_isa::ops::Opcode;
use tessera_isa::profile::Profile;

const ADD: Yardstick = Yardstick::Binary("a + b of as many bytes", yardstick::add);

const ADD_NUMBER: Yardstick = Yardstick::Unary("a + number of as many bytes", yardstick::add_number);

const fn than(yardstick: Yardstick, case: Case) -> Case {
    Case { yardstick, ..case }
}

const fn scalar(case: Case) -> Case {
    Case { scalar: Some(3.0), ..case }
}

/// A product of 128 x 128 x 128.
const fn product(name: &'static str, yardstick: Yardstick, tiles: &'static [&'static str]) -> Case {
    let case = case(name, Opcode::Tmatmul, tiles, 0);
    Case { work: Work::MultiplyAdds(128 * 128 * 128), yardstick, ..case }
}

const BF16: &str = "vec, 128x128xbf16";
const I32: &str = "vec, 128x128xi32";
const I8: &str = "vec, 128x128xi8";
const MASK: &str = "vec, 128x32xu8, valid=128x16";
const PER_ROW: &str = "vec, 128x8xf32, valid=128x1";
const PER_COLUMN: &str = "vec, 1x128xf32";

/// The product that the others are compared with.
static PRODUCT: Case = product(
    "tmatmul f32 128x128x128",
    Yardstick::MultiplyAdds,
    &["loc=left, f32, 128, 128", "loc=right, f32, 128, 128", "loc=acc, f32, 128, 128"],
);

/// Cases of instructions that compute.
pub static COMPUTES: &[Case] = &[
    than(ADD, case("tadd f32 128x128", Opcode::Tadd, &[F32; 3], SQUARE * 12)),
    than(ADD, case("tmul f32 128x128", Opcode::Tmul, &[F32; 3], SQUARE * 12)),
    than(ADD, case("tmax f32 128x128", Opcode::Tmax, &[F32; 3], SQUARE * 12)),
    than(ADD_NUMBER, scalar(case("tadds f32 128x128", Opcode::Tadds, &[F32; 2], SQUARE * 8))),
    than(ADD_NUMBER, case("trelu f32 128x128", Opcode::Trelu, &[F32; 2], SQUARE * 8)),
    than(ADD, case("tadd f16 128x128", Opcode::Tadd, &[F16; 3], SQUARE * 6)),
    than(ADD, case("tmul f16 128x128", Opcode::Tmul, &[F16; 3], SQUARE * 6)),
    than(ADD, case("tmax f16 128x128", Opcode::Tmax, &[F16; 3], SQUARE * 6)),
    than(ADD_NUMBER, scalar(case("tadds f16 128x128", Opcode::Tadds, &[F16; 2], SQUARE * 4))),
    than(ADD_NUMBER, case("trelu f16 128x128", Opcode::Trelu, &[F16; 2], SQUARE * 4)),
    than(ADD, case("tadd bf16 128x128", Opcode::Tadd, &[BF16; 3], SQUARE * 6)),
    than(ADD, case("tmul bf16 128x128", Opcode::Tmul, &[BF16; 3], SQUARE * 6)),
    than(ADD, case("tmax bf16 128x128", Opcode::Tmax, &[BF16; 3], SQUARE * 6)),
    than(ADD_NUMBER, scalar(case("tadds bf16 128x128", Opcode::Tadds, &[BF16; 2], SQUARE * 4))),
    case("tcvt f32-f16 128x128", Opcode::Tcvt, &[F32, F16], SQUARE * 6),
    case("tcvt f32-bf16 128x128", Opcode::Tcvt, &[F32, BF16], SQUARE * 6),
    case("tcvt f16-f32 128x128", Opcode::Tcvt, &[F16, F32], SQUARE * 6),
    case("tcvt f32-i8 128x128", Opcode::Tcvt, &[F32, I8], SQUARE * 5),
    case("tcvt bf16-f32 128x128", Opcode::Tcvt, &[BF16, F32], SQUARE * 6),
    case("tcmp f32 128x128", Opcode::Tcmp, &[F32, F32, MASK], SQUARE * 8 + SQUARE / 8),
    case("tsel f32 128x128", Opcode::Tsel, &[MASK, F32, F32, "vec, 1x32xu8", F32], SQUARE * 12 + SQUARE / 8),
    case("tand i32 128x128", Opcode::Tand, &[I32; 3], SQUARE * 12),
    case("tshl i32 128x128", Opcode::Tshl, &[I32; 3], SQUARE * 12),
    than(
        Yardstick::Unary("a loop of exp that promises nothing", yardstick::exp),
        case("texp f32 128x128", Opcode::Texp, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Unary("a loop of log that promises nothing", yardstick::log),
        case("tlog f32 128x128", Opcode::Tlog, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Unary("a loop of 1/sqrt that promises nothing", yardstick::reciprocal_root),
        case("trsqrt f32 128x128", Opcode::Trsqrt, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Unary("a loop of the machine's square root", yardstick::square_root),
        case("tsqrt f32 128x128", Opcode::Tsqrt, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Binary("a loop of the machine's division", yardstick::divide),
        case("tdiv f32 128x128", Opcode::Tdiv, &[F32; 3], SQUARE * 12),
    ),
    case("trowsum f32 128x128", Opcode::Trowsum, &[F32, PER_ROW], SQUARE * 4 * 2),
    case("trowmax f32 128x128", Opcode::Trowmax, &[F32, PER_ROW], SQUARE * 4 * 2),
    case("tcolsum f32 128x128", Opcode::Tcolsum, &[F32, PER_COLUMN], SQUARE * 4 * 2),
    case("tcolmax f32 128x128", Opcode::Tcolmax, &[F32, PER_COLUMN], SQUARE * 4 * 2),
    than(ADD_NUMBER, case("trowexpandmul f32 128x128", Opcode::Trowexpandmul, &[F32, PER_ROW, F32], SQUARE * 8)),
    than(ADD_NUMBER, case("tcolexpandadd f32 128x128", Opcode::Tcolexpandadd, &[F32, PER_COLUMN, F32], SQUARE * 8)),
    PRODUCT,
    product(
        "tmatmul f16 128x128x128",
        Yardstick::Instruction(&PRODUCT),
        &["loc=left, f16, 128, 128", "loc=right, f16, 128, 128", "loc=acc, f32, 128, 128"],
    ),
    product(
        "tmatmul bf16 128x128x128",
        Yardstick::Instruction(&PRODUCT),
        &["loc=left, bf16, 128, 128", "loc=right, bf16, 128, 128", "loc=acc, f32, 128, 128"],
    ),
    product(
        "tmatmul i8 128x128x128",
        Yardstick::Instruction(&PRODUCT),
        &["loc=left, i8, 128, 128", "loc=right, i8, 128, 128", "loc=acc, i32, 128, 128"],
    ),
    Case {
        profile: Profile::A5,
        ..product(
            "tmatmul fp8 128x128x128",
            Yardstick::Instruction(&PRODUCT),
            &["loc=left, f8E4M3FN, 128, 128", "loc=right, f8E4M3FN, 128, 128", "loc=acc, f32, 128, 128"],
        )
    },
];
