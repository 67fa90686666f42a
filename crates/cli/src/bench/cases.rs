//! The instructions that are measured.

use super::yardstick::Yardstick;
use super::{Work, irregular};
use tessera_isa::codec::Number;
use tessera_isa::inst::Attrs;
use tessera_isa::ops::{AttrName, Form, Kind, Opcode, Role};
use tessera_isa::profile::Profile;

/// One instruction with its operands.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in reports.
    pub name: &'static str,
    pub work: Work,
    pub yardstick: Yardstick,
    /// The profile that has the element types.
    pub(super) profile: Profile,
    pub(super) op: Opcode,
    pub(super) form: Form,
    /// The types of the tile operands in the order of the form. Where no layout is written it is the location's usual
    /// one (tile-model.md 5): ND for Vec and Scaling, NZ for Mat, Left and Acc, ZN for Right.
    pub(super) tiles: &'static [&'static str],
    /// Row and column of the window, where there is one.
    pub(super) at: Option<[i64; 2]>,
    /// TIMG2COL's kernel (square) and padding (on all sides).
    pub(super) kernel: Option<[i64; 2]>,
    /// The scalar, where there is one.
    pub(super) scalar: Option<Number>,
    /// The elements of sources, where it matters what they hold.
    pub(super) contents: Option<Contents>,
}

/// The bits of an element of a source, by its place in the tile.
pub(super) type Contents = fn(Role, u64) -> u64;

impl Case {
    pub(super) fn operands(&self) -> impl Iterator<Item = (Role, &'static str)> {
        let operands = self.op.form(self.form).into_iter().flat_map(|f| f.operands());
        let operands: Vec<_> = operands.filter(|o| o.role.kind() == Kind::Tile).collect();
        let all = operands.len() == self.tiles.len();
        let given = operands.into_iter().filter(move |o| all || !o.optional).map(|o| o.role);
        given.zip(self.tiles.iter().copied())
    }

    pub(super) fn attrs(&self) -> Attrs {
        match self.kernel {
            Some([k, p]) => Attrs::default().with(AttrName::Kernel, [k; 2]).with(AttrName::Pad, [p; 4]),
            None => Attrs::default(),
        }
    }
}

/// A case of an instruction in its plain form, with neither window nor kernel.
const fn case(name: &'static str, op: Opcode, tiles: &'static [&'static str], bytes: usize) -> Case {
    let (work, yardstick) = (Work::Bytes(bytes), Yardstick::Memcpy);
    Case {
        name,
        work,
        yardstick,
        profile: Profile::Cpu,
        op,
        form: Form::Plain,
        tiles,
        at: None,
        kernel: None,
        scalar: None,
        contents: None,
    }
}

const fn window(name: &'static str, op: Opcode, tiles: &'static [&'static str], at: [i64; 2], bytes: usize) -> Case {
    Case { at: Some(at), ..case(name, op, tiles, bytes) }
}

/// A case whose data decides.
const fn by_data(name: &'static str, op: Opcode, tiles: &'static [&'static str], made: irregular::Made) -> Case {
    let (contents, what, make, bytes) = made;
    let yardstick = Yardstick::Made(what, make);
    Case { yardstick, contents: Some(contents), ..case(name, op, tiles, bytes) }
}

/// Elements of most of the tiles, and their types.
const SQUARE: usize = 128 * 128;
const F32: &str = "vec, 128x128xf32";
const F16: &str = "vec, 128x128xf16";
const WIDE_F32: &str = "vec, 128x1024xf32, valid=128x128";
const WIDE_F16: &str = "vec, 128x2048xf16, valid=128x128";
const MAT_F16: &str = "loc=mat, f16, 128, 128";
const ACC_F32: &str = "loc=acc, f32, 128, 128";

/// Half of it: what two tiles are made of that are interleaved.
const HALF: usize = 64 * 128;
const HALF_F32: &str = "vec, 64x128xf32";
const HALF_I8: &str = "vec, 64x128xi8";

/// Cases of instructions that move, in the order of their chapters (ops.md 2 to 8).
pub static MOVES: &[Case] = &[
    case("tmov nd f32 128x128", Opcode::Tmov, &[F32, F32], SQUARE * (4 + 4)),
    case("tmov nd f32 128x128 pitch 4096", Opcode::Tmov, &[WIDE_F32; 2], SQUARE * (4 + 4)),
    case("tmov nd f16 128x128 pitch 4096", Opcode::Tmov, &[WIDE_F16; 2], SQUARE * (2 + 2)),
    case("tmov nd-nz f16 128x128", Opcode::Tmov, &[F16, MAT_F16], SQUARE * (2 + 2)),
    case("tmov nz-nd f16 128x128", Opcode::Tmov, &[MAT_F16, F16], SQUARE * (2 + 2)),
    case("tmov nd-zn f16 128x128", Opcode::Tmov, &[F16, "loc=right, f16, 128, 128"], SQUARE * (2 + 2)),
    window(
        "textract nd f32 64x64 of 128x128 at (32,32)",
        Opcode::Textract,
        &[F32, "vec, 64x64xf32"],
        [32, 32],
        64 * 64 * (4 + 4),
    ),
    window(
        "tinsert nz f16 64x64 into 128x128 at (16,32)",
        Opcode::Tinsert,
        &["vec, 64x64xf16, blayout=col_major, slayout=row_major", MAT_F16],
        [16, 32],
        64 * 64 * (2 + 2),
    ),
    window(
        "tinsert nd f16 63x61 into 128x128 at (3,5)",
        Opcode::Tinsert,
        &["vec, 64x64xf16, valid=63x61", F16],
        [3, 5],
        63 * 61 * (2 + 2),
    ),
    case("ttrans f32 128x128", Opcode::Ttrans, &[F32, F32], SQUARE * (4 + 4)),
    case("ttrans f16 128x128", Opcode::Ttrans, &[F16, F16], SQUARE * (2 + 2)),
    case("ttrans i8 128x128", Opcode::Ttrans, &["vec, 128x128xi8", "vec, 128x128xi8"], SQUARE * (1 + 1)),
    case(
        "ttrans f32 100x60 (valid in 104x64)",
        Opcode::Ttrans,
        &["vec, 104x64xf32, valid=100x60", "vec, 64x104xf32, valid=60x100"],
        100 * 60 * (4 + 4),
    ),
    case("ttrans f32 128x128 pitch 4096", Opcode::Ttrans, &[WIDE_F32; 2], SQUARE * (4 + 4)),
    case("ttrans f16 128x128 pitch 4096", Opcode::Ttrans, &[WIDE_F16; 2], SQUARE * (2 + 2)),
    case("tinterleave f32 64x128", Opcode::Tinterleave, &[HALF_F32; 4], 2 * HALF * (4 + 4)),
    case("tdeinterleave f32 64x128", Opcode::Tdeinterleave, &[HALF_F32; 4], 2 * HALF * (4 + 4)),
    case("tinterleave i8 64x128", Opcode::Tinterleave, &[HALF_I8; 4], 2 * HALF * (1 + 1)),
    case("tconcat f32 64x64+64x64", Opcode::Tconcat, &["vec, 64x64xf32", "vec, 64x64xf32", HALF_F32], HALF * (4 + 4)),
    case(
        "tconcat f16 64x37+64x27",
        Opcode::Tconcat,
        &["vec, 64x48xf16, valid=64x37", "vec, 64x32xf16, valid=64x27", "vec, 64x64xf16"],
        64 * 64 * (2 + 2),
    ),
    case(
        "tfillpad f32 100x100 in 128x128",
        Opcode::Tfillpad,
        &["vec, 128x128xf32, valid=100x100", "vec, 128x128xf32, pad=min"],
        100 * 100 * 4 + SQUARE * 4,
    ),
    case("tpack i32-i16 128x128", Opcode::Tpack, &["vec, 128x128xi32", "vec, 128x128xi16"], SQUARE * (4 + 2)),
    Case {
        form: Form::NoIndex,
        kernel: Some([3, 1]),
        ..case(
            "timg2col f16 1x2x16x16x16 k3 s1 p1",
            Opcode::Timg2col,
            &["mat, NC1HWC0, 1x2x16x16x16xf16", "loc=left, f16, 256, 288"],
            // 46 of the 48 pairs of an output position and a kernel position fall into the image, in each direction.
            46 * 46 * 32 * 2 + 256 * 288 * 2,
        )
    },
    case("tmov acc-mat f32-f16 128x128", Opcode::Tmov, &[ACC_F32, MAT_F16], SQUARE * (4 + 2)),
    Case {
        form: Form::VectorQuant,
        ..case(
            "tmov acc-mat f32-i8 vector quant 128x128",
            Opcode::Tmov,
            &[ACC_F32, "scaling, 1x128xu64", "loc=mat, i8, 128, 128"],
            SQUARE * (4 + 1) + 128 * 8,
        )
    },
];

const ADD: Yardstick = Yardstick::Binary("a + b of as many bytes", tessera_yardstick::add);

const ADD_NUMBER: Yardstick = Yardstick::Unary("a + number of as many bytes", tessera_yardstick::add_number);

const fn than(yardstick: Yardstick, case: Case) -> Case {
    Case { yardstick, ..case }
}

const fn scalar(case: Case) -> Case {
    Case { scalar: Some(Number::Float(3.0)), ..case }
}

/// A product of 128 x 128 x 128.
const fn product(name: &'static str, yardstick: Yardstick, tiles: &'static [&'static str]) -> Case {
    let case = case(name, Opcode::Tmatmul, tiles, 0);
    Case { work: Work::MultiplyAdds(128 * 128 * 128), yardstick, ..case }
}

/// The other types.
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
        Yardstick::Unary("a loop of exp that promises nothing", tessera_yardstick::exp),
        case("texp f32 128x128", Opcode::Texp, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Unary("a loop of log that promises nothing", tessera_yardstick::log),
        case("tlog f32 128x128", Opcode::Tlog, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Unary("a loop of 1/sqrt that promises nothing", tessera_yardstick::reciprocal_root),
        case("trsqrt f32 128x128", Opcode::Trsqrt, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Unary("a loop of the machine's square root", tessera_yardstick::square_root),
        case("tsqrt f32 128x128", Opcode::Tsqrt, &[F32; 2], SQUARE * 8),
    ),
    than(
        Yardstick::Binary("a loop of the machine's division", tessera_yardstick::divide),
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
    by_data(
        "tsort32 f32 1x4096",
        Opcode::Tsort32,
        &["vec, 1x4096xf32", "vec, 1x4096xu32", "vec, 1x8192xf32"],
        irregular::SORT,
    ),
    Case {
        form: Form::Blocks,
        scalar: Some(Number::Int(2 * irregular::LIST as i128)),
        ..by_data("tmrgsort f32 1x8192", Opcode::Tmrgsort, &["vec, 1x8192xf32"; 2], irregular::MERGE)
    },
    by_data("tgather f32 128x128", Opcode::Tgather, &[F32, I32, F32], irregular::GATHER),
    by_data("tscatter f32 128x128", Opcode::Tscatter, &[F32, I32, F32], irregular::SCATTER),
];
