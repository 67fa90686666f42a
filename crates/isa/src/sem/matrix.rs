//! Matrix products (isa/matrix.md).

use super::{At, Func, Map, Rect, Reduce, Step, Steps, at, ceil_to, copy, valid};
use crate::elem::Elem;
use crate::inst::{Attrs, F32Rounding, Inst};
use crate::ops::{Opcode, Role};
use crate::profile::Profile;
use crate::sem::Sem;
use smallvec::SmallVec;

/// The number of k that share a scale (isa/matrix.md 3).
pub const SCALE_BLOCK: u64 = 32;

/// The rounding of f32 operands of products before use (isa/matrix.md 5): arithmetic on their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduced {
    /// The number of low bits of the mantissa that are dropped.
    pub dropped: u8,
    /// Whether ties go to an even last bit; else away from zero.
    pub to_even: bool,
}

impl Reduced {
    /// The rounded encoding of an f32. A carry may end in inf; inf and NaN stay.
    ///
    /// ```
    /// use tessera_isa::sem::Reduced;
    ///
    /// let tie = 0x3F80_0800; // 1 + 2^-12
    /// assert_eq!(Reduced { dropped: 12, to_even: false }.round(tie), 0x3F80_1000);
    /// assert_eq!(Reduced { dropped: 12, to_even: true }.round(tie), 0x3F80_0000);
    /// assert_eq!(Reduced { dropped: 13, to_even: true }.round(0x7F80_0001), 0x7FC0_0000);
    /// ```
    #[inline]
    pub const fn round(self, bits: u32) -> u32 {
        const INFINITY: u32 = 0x7F80_0000;
        let magnitude = bits & 0x7FFF_FFFF;
        if magnitude > INFINITY {
            return 0x7FC0_0000;
        }
        if magnitude == INFINITY {
            return bits;
        }
        let unit = 1 << self.dropped;
        let odd = magnitude >> self.dropped & 1;
        let add = if self.to_even { unit / 2 - 1 + odd } else { unit / 2 };
        (bits & 0x8000_0000) | ((magnitude + add) & !(unit - 1))
    }
}

/// The attributes of SETHF32MODE or SETTF32MODE that later products read. An attribute that is left out has its
/// default, whatever was set before. `None` on a profile that ignores the instruction.
pub fn f32_mode(op: Opcode, profile: Profile, given: &Attrs) -> Option<Attrs> {
    let Sem::RoundsF32 { on, .. } = op.info().sem else { return None };
    let mut attrs = given.clone();
    for name in op.info().attrs {
        attrs.set(*name, given.value(*name));
    }
    on.has(profile).then_some(attrs)
}

/// The rounding that a product takes from the state before it: none with scales, and none where no mode is on.
fn reduced(inst: &Inst) -> Option<Reduced> {
    let counts = |op: &Opcode| match op.info().sem {
        Sem::RoundsF32 { on, dropped } if on.has(inst.profile) => Some(dropped),
        _ => None,
    };
    let is_on = inst.profile != Profile::Cpu && inst.attrs.enable() == Some(true);
    let dropped = Opcode::ALL.iter().find_map(counts).filter(|_| is_on)?;
    Some(Reduced { dropped, to_even: inst.attrs.f32_rounding() == Some(F32Rounding::Rint) })
}

/// The steps of a product.
pub(super) fn contract(inst: &Inst, plus: Option<(Role, At)>, scaled: bool) -> Steps {
    let (a, b, d) = (inst.tile_index(Role::A)?, inst.tile_index(Role::B)?, inst.tile_index(Role::Dst)?);
    let ([m, columns], [rows, n]) = (valid(inst, a)?, valid(inst, b)?);
    // Both agree, or one of them was not known when it was written (isa/today.md 5.4).
    let k = if matches!(inst.op.info().sem, Sem::Contract { one_row: true, .. }) { rows } else { columns };
    let (left, right) = (at([[1, 0, 0], [0, 0, 1]]), at([[0, 0, 1], [0, 1, 0]]));
    let start = match plus {
        Some((role, place)) => Some((inst.tile_index(role)?, at(place.map().step.map(|[i, j]| [i, j, 0])))),
        None => None,
    };
    let scales = match scaled {
        true => Some([(inst.tile_index(Role::AScale)?, left), (inst.tile_index(Role::BScale)?, right)]),
        false => None,
    };
    let mut all = Vec::new();
    let extent = valid(inst, d)?;
    if let Some(acc) = inst.tile_index(Role::Acc).filter(|_| extent != [m, n]) {
        // Elements outside the product are the accumulator's.
        all.push(copy(extent, (acc, Map::SAME), (d, Map::SAME)));
    }
    if inst.profile.is_npu() && m > 0 && n > 0 {
        // Hardware works in boxes of 16×16, or in one row where that is all there is (matrix.md 1 and 4).
        let dst = &inst.tiles.get(d)?.tile;
        let rows = if inst.tiles.get(a)?.tile.rows == 1 { 1 } else { ceil_to(m, 16) };
        let rect = Rect { row: 0, col: 0, rows, cols: ceil_to(n, 16) }.clip(dst.rows, dst.cols);
        all.push(Step::Clobber { dst: d, core: 0, rect });
    }
    let func = match (scaled, inst.tiles.get(a)?.tile.elem) {
        (true, _) => Func::ScaledMulAdd,
        (false, Elem::F32) => Func::MulAdd(reduced(inst)),
        (false, _) => Func::MulAdd(None),
    };
    let (dst, args) = ((d, at([[1, 0, 0], [0, 1, 0]])), SmallVec::from_iter([(a, left), (b, right)]));
    all.push(Step::Reduce(Reduce { func, extent: [m, n, k], dst, start, args, scales }));
    Some(all)
}

/// `s + x · y · 2^(ex-127) · 2^(ey-127)`, of x, y and the values of both scales: exact, rounded once to f32
/// (isa/matrix.md 3).
pub(super) fn scaled_mul_add(s: f32, [x, y, ex, ey]: [f64; 4]) -> f32 {
    // Products of two elements have few bits, and binary64 holds them at every scale.
    add_once(s, (x * ex) * (y * ey))
}

/// `s + p` rounded once to f32: to odd in binary64, which keeps the second rounding right.
#[inline]
pub fn add_once(s: f32, p: f64) -> f32 {
    let s = f64::from(s);
    let sum = s + p;
    let back = sum - s;
    let error = (s - (sum - back)) + (p - back);
    // A sum that does not end in an odd bit moves toward the exact sum.
    let bits = sum.to_bits();
    if error == 0.0 || !sum.is_finite() || bits & 1 == 1 {
        return sum as f32;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 }) as f32
}

/// The address of the scales of an operand at this address (isa/matrix.md 3).
pub const fn scale_address(operand: u64) -> u64 {
    operand >> 4
}

/// The multiple that an operand's address is, so that its scales are aligned.
pub const SCALED_ALIGN: u64 = 512;

/// The pairs of an operand and its scales that an instruction knows: roles of both.
pub fn scale_pairs(op: Opcode) -> &'static [(Role, Role)] {
    match op.info().sem {
        Sem::Contract { scaled: true, .. } => &[(Role::A, Role::AScale), (Role::B, Role::BScale)],
        Sem::Binds if op.info().binds == Some(crate::ops::Bind::Scale) => &[(Role::Src, Role::Dst)],
        _ => &[],
    }
}
