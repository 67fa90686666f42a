//! Instructions prepared once for registers that are all defined: the same meaning as [`run`](crate::run), without
//! looking at words and types again. Whatever a plan does not cover runs by its definition.

use crate::call::Inst;
use crate::check::{conversion_word, pair};
use crate::lanes::{compared, rounding_of};
use crate::memory::store_dist;
use crate::reg::{BYTES, Bits, Mask};
use crate::table::{Extreme, Fold, Lanes, Load, Predicate, Sem, Store};
use crate::types::{lane_bits, lane_elem};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Cmp, ScalarType};
use tessera_isa::sem::{Func, Rounding, Saturation};

/// A prepared instruction.
#[derive(Clone, Debug)]
pub enum Plan {
    /// 256 bytes of UB, the first `unit` ones again and again.
    Load {
        unit: usize,
    },
    /// 256 bytes to UB, where the lane is on.
    Store {
        lane: usize,
    },
    /// A function of one or two lanes; the second may be a scalar.
    Map {
        func: Func,
        elem: Elem,
        args: usize,
    },
    /// Every element to another type.
    Convert(Conversion),
    Compare {
        cmp: Cmp,
    },
    Select {
        lane: usize,
    },
    /// A scalar, or a lane of a register, in every lane.
    Broadcast {
        lane: usize,
        from: usize,
    },
    Sum,
    Find(Extreme),
    Mask(Box<Mask>),
    /// The mask of a count, and what is left of it.
    Below,
    /// An order that running one instruction after the other keeps.
    Nothing,
}

/// A conversion between floats of 16 and 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    pub func: Func,
    pub types: [Elem; 2],
    /// Bytes between two elements on each side, and the first one's.
    pub steps: [i64; 2],
    pub starts: [i64; 2],
    /// The number of elements.
    pub count: u64,
    /// The largest number of the destination, where it saturates.
    pub largest: Option<f32>,
}

impl Conversion {
    /// The type of 16 bits.
    pub fn half(&self) -> Elem {
        if self.narrows() { self.types[1] } else { self.types[0] }
    }

    /// Whether the result has 16 bits.
    pub fn narrows(&self) -> bool {
        self.types[0] == Elem::F32
    }

    /// Whether the 16-bit numbers are the odd ones of their register.
    pub fn is_odd(&self) -> bool {
        self.starts != [0, 0]
    }

    /// The bits of infinity and of every NaN of 16 bits.
    pub fn special(&self) -> u16 {
        if self.half() == Elem::F16 { 0x7C00 } else { 0x7F80 }
    }
}

/// The plan of an instruction, if it has one.
pub fn plan(inst: &Inst<'_>) -> Option<Plan> {
    if inst.is_moving() {
        return None;
    }
    let lane = inst.lanes();
    let size = lane.map_or(4, |lane| (lane_bits(lane) / 8) as usize);
    let f32_only = |plan: Plan| (lane == Some(ScalarType::Float(Elem::F32))).then_some(plan);
    Some(match inst.call.row.sem {
        Sem::Load(Load::Dist) => match inst.call.attr_word("dist").unwrap_or("NORM") {
            "NORM" => Plan::Load { unit: BYTES },
            "BRC_B8" => Plan::Load { unit: 1 },
            "BRC_B16" => Plan::Load { unit: 2 },
            "BRC_B32" => Plan::Load { unit: 4 },
            "BRC_BLK" => Plan::Load { unit: 32 },
            _ => return None,
        },
        Sem::Store(Store::Dist) => {
            Plan::Store { lane: store_dist(inst).strip_prefix("NORM_B")?.parse::<usize>().ok()? / 8 }
        }
        Sem::Lanes(Lanes::Map(func)) => {
            let elem = lane_elem(lane?);
            let (args, is_covered) = match func {
                Func::Add | Func::Sub | Func::Mul | Func::Max | Func::Min => (2, true),
                Func::Div => (2, elem.is_float()),
                Func::Abs | Func::Neg | Func::Exp | Func::Log | Func::Sqrt | Func::Relu => (1, elem.is_float()),
                Func::And | Func::Or | Func::Xor => (2, !elem.is_float()),
                Func::Not => (1, !elem.is_float()),
                _ => (0, false),
            };
            is_covered.then_some(Plan::Map { func, elem, args })?
        }
        Sem::Lanes(Lanes::Convert) => Plan::Convert(conversion(inst)?),
        Sem::Lanes(Lanes::Compare) => f32_only(Plan::Compare { cmp: compared(inst.call) })?,
        Sem::Lanes(Lanes::Select) => Plan::Select { lane: size },
        Sem::Lanes(Lanes::Broadcast) => {
            let is_last = inst.call.attr_word("position") == Some("HIGHEST");
            Plan::Broadcast { lane: size, from: if is_last { BYTES / size - 1 } else { 0 } }
        }
        Sem::Fold(Fold::Sum) => f32_only(Plan::Sum)?,
        Sem::Fold(Fold::Find(side)) => f32_only(Plan::Find(side))?,
        Sem::Predicate(Predicate::Pattern) => Plan::Mask(Box::new(crate::run::pattern(inst.call)?)),
        Sem::Predicate(Predicate::Below) => Plan::Below,
        Sem::Bar => Plan::Nothing,
        _ => return None,
    })
}

fn conversion(inst: &Inst<'_>) -> Option<Conversion> {
    let (from, to) = (inst.lanes()?, inst.results.first()?.lane()?);
    let (ScalarType::Float(source), ScalarType::Float(target)) = (from, to) else { return None };
    let what = pair(from, to)?;
    let narrow = [Elem::F16, Elem::Bf16];
    let odd = i64::from(conversion_word(inst.call, "part") == Some("ODD"));
    let word = conversion_word(inst.call, "rnd").unwrap_or(what.rounding.get(..1).unwrap_or("R"));
    let rounding: Rounding = rounding_of(word, target);
    let func = Func::Cvt { rounding, saturation: Some(Saturation::Off) };
    let types = [source, target];
    if source == Elem::F32 && narrow.contains(&target) {
        let saturates = conversion_word(inst.call, "sat") != Some("NOSAT");
        let largest = if target == Elem::F16 { 65504.0 } else { f32::from_bits(0x7F7F_0000) };
        let largest = saturates.then_some(largest);
        return Some(Conversion { func, types, steps: [4, 4], starts: [0, 2 * odd], count: 64, largest });
    }
    let is_wide = narrow.contains(&source) && target == Elem::F32;
    is_wide.then_some(Conversion { func, types, steps: [4, 4], starts: [2 * odd, 0], count: 64, largest: None })
}

fn lanes_f32(bytes: &[u8; BYTES]) -> [f32; 64] {
    let mut out = [0.0; 64];
    for (to, from) in out.iter_mut().zip(bytes.chunks_exact(4)) {
        *to = f32::from_le_bytes([from[0], from[1], from[2], from[3]]);
    }
    out
}

/// Makes inactive lanes 0.
#[inline]
pub fn clear_inactive(bytes: &mut [u8; BYTES], mask: &Mask, lane: usize) {
    for run in mask.active_bytes(lane).inverted().runs() {
        if let Some(bytes) = bytes.get_mut(run) {
            bytes.fill(0);
        }
    }
}

/// Makes f32 numbers at most the largest one, and NaN 0.
pub fn saturate(bytes: &mut [u8], largest: f32) {
    for lane in bytes.chunks_exact_mut(4) {
        let v = f32::from_le_bytes([lane[0], lane[1], lane[2], lane[3]]);
        let v = if v.is_nan() { 0.0 } else { v.clamp(-largest, largest) };
        lane.copy_from_slice(&v.to_le_bytes());
    }
}

/// The sum of f32 lanes as a tree of neighbours, at last plus +0 (vector.md 6).
pub fn sum(bytes: &[u8; BYTES], mask: &Mask) -> u32 {
    let mut lanes = lanes_f32(bytes);
    if !mask.is_on(4) {
        lanes.iter_mut().enumerate().filter(|(i, _)| !mask.bits.get(4 * i)).for_each(|(_, lane)| *lane = 0.0);
    }
    let mut n = lanes.len();
    while n > 1 {
        n /= 2;
        for i in 0..n {
            lanes[i] = lanes[2 * i] + lanes[2 * i + 1];
        }
    }
    sum_bits(lanes[0])
}

/// The bits of a sum of lanes.
pub fn sum_bits(total: f32) -> u32 {
    let total = total + 0.0;
    if total.is_nan() { 0x7FC0_0000 } else { total.to_bits() }
}

/// The extreme lane of f32 and its number: the first NaN, else the lowest lane with the extreme value (vector.md 6).
pub fn find(bytes: &[u8; BYTES], mask: &Mask, side: Extreme) -> (u32, u32) {
    let lanes = lanes_f32(bytes);
    let is_on = mask.is_on(4);
    let neutral = if side == Extreme::Max { f32::NEG_INFINITY } else { f32::INFINITY };
    let counted = |i: usize| if is_on || mask.bits.get(4 * i) { lanes[i] } else { neutral };
    let mut best = (counted(0), 0);
    for i in 0..64 {
        let v = counted(i);
        if v.is_nan() {
            return (v.to_bits(), i as u32);
        }
        let is_better = if side == Extreme::Max { v > best.0 } else { v < best.0 };
        if is_better {
            best = (v, i as u32);
        }
    }
    (best.0.to_bits(), best.1)
}

/// A comparison of f32 lanes.
pub fn compare(x: &[u8; BYTES], y: &[u8; BYTES], mask: &Mask, cmp: Cmp) -> Mask {
    let (x, y) = (lanes_f32(x), lanes_f32(y));
    let holds = |i: usize| match cmp {
        Cmp::Eq => x[i] == y[i],
        Cmp::Ne => x[i] != y[i],
        Cmp::Lt => x[i] < y[i],
        Cmp::Le => x[i] <= y[i],
        Cmp::Gt => x[i] > y[i],
        Cmp::Ge => x[i] >= y[i],
    };
    let mut words = [0u64; 4];
    for i in 0..64 {
        words[i / 16] |= u64::from(holds(i)) << (i % 16 * 4);
    }
    Mask::of(Bits::of_words(words).map2(mask.bits, |a, b| a & b))
}
