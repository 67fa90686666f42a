//! The instructions that are measured.

use super::Work;
use super::yardstick::Yardstick;
use tessera_isa::inst::Attrs;
use tessera_isa::ops::{AttrName, Form, Kind, Opcode, Role};
use tessera_isa::profile::Profile;

/// One instruction with its operands.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is called in reports.
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
    pub(super) scalar: Option<f64>,
}

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
pub(super) const fn case(name: &'static str, op: Opcode, tiles: &'static [&'static str], bytes: usize) -> Case {
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
    }
}

const fn window(name: &'static str, op: Opcode, tiles: &'static [&'static str], at: [i64; 2], bytes: usize) -> Case {
    Case { at: Some(at), ..case(name, op, tiles, bytes) }
}

/// Elements of most of the tiles, and their types.
pub(super) const SQUARE: usize = 128 * 128;
pub(super) const F32: &str = "vec, 128x128xf32";
pub(super) const F16: &str = "vec, 128x128xf16";
const MAT_F16: &str = "loc=mat, f16, 128, 128";
const ACC_F32: &str = "loc=acc, f32, 128, 128";

/// Half of it: what two tiles are made of that are interleaved.
const HALF: usize = 64 * 128;
const HALF_F32: &str = "vec, 64x128xf32";
const HALF_I8: &str = "vec, 64x128xi8";

/// Cases of instructions that move, in the order of their chapters (ops.md 2 to 8).
pub static MOVES: &[Case] = &[
    case("tmov nd f32 128x128", Opcode::Tmov, &[F32, F32], SQUARE * (4 + 4)),
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
