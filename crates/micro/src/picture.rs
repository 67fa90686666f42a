//! Pictures of what loads, stores and patterns do, made by running them.

use crate::call::{Attr, Call, Inst, Item};
use crate::check::Refusal;
use crate::memory::{store_dist, store_mask};
use crate::reg::{BYTES, Bits, Mask, Reg};
use crate::run::{Core, Made, Memory, Place, Specials, Value, pattern, run, why_not};
use crate::table::{Load, Predicate, Row, Sem, Space, Store};
use crate::types::{MicroType, Ty};
use smallvec::smallvec;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ScalarType, Sign};

/// Where a byte comes from: a byte of the other side, or 0 as a constant.
pub type From = Option<usize>;

/// A line of a picture: the word, and what the first bytes or lanes hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// By byte of the register: the byte of UB.
    Loaded(&'static str, Vec<From>),
    /// By byte of UB: the byte of the register; bytes that are not written are left out.
    Stored(&'static str, Vec<Option<usize>>),
    /// By lane: whether it is on.
    Lanes(&'static str, Vec<bool>),
}

/// UB whose bytes are a function of their address.
struct Labelled(fn(u64) -> u8, Vec<Option<u8>>);

impl Memory for Labelled {
    fn byte(&self, _: Place, at: u64) -> Option<u8> {
        Some(self.0(at))
    }
    fn bytes(&self, _: Place, _: u64, _: usize) -> Option<&[u8]> {
        None
    }
    fn put(&mut self, _: Place, at: u64, value: Option<u8>) {
        if let Some(to) = self.1.get_mut(at as usize) {
            *to = value;
        }
    }
    fn put_all(&mut self, place: Place, at: u64, bytes: &[u8]) {
        bytes.iter().enumerate().for_each(|(k, byte)| self.put(place, at + k as u64, Some(*byte)));
    }
    fn copy(&mut self, _: (Place, u64), _: (Place, u64), _: u64) -> Result<(), Refusal> {
        Ok(())
    }
    fn global(&mut self, _: Place, _: i64, _: u64, _: bool) -> Result<(), Refusal> {
        Ok(())
    }
}

/// The pictures of a row: one line for each of its words that runs.
///
/// ```
/// use tessera_micro::picture::{Line, lines};
/// let (name, row) = tessera_micro::find("vlds").unwrap();
/// let unpacked = lines(name, row).into_iter().find_map(|line| match line {
///     Line::Loaded("UNPK_B8", bytes) => Some(bytes),
///     _ => None,
/// });
/// assert_eq!(unpacked.unwrap()[..4], [Some(0), None, Some(1), None]);
/// ```
pub fn lines(name: &'static str, row: &'static Row) -> Vec<Line> {
    match row.sem {
        Sem::Load(Load::Dist) => words(row, |word| loaded(name, row, word).map(|bytes| Line::Loaded(word, bytes))),
        Sem::Store(Store::Dist) => words(row, |word| stored(name, row, word).map(|bytes| Line::Stored(word, bytes))),
        Sem::Predicate(Predicate::Pattern) => words(row, |word| {
            let call = Call { name, row, items: vec![Item::Word(word.into())], attrs: Vec::new() };
            let size = crate::lanes::lanes_of(&call);
            let (mask, lanes) = (pattern(&call)?, size);
            let fits = word.strip_prefix("PAT_VL").and_then(|n| n.parse().ok()).is_none_or(|n: usize| n <= lanes);
            fits.then(|| Line::Lanes(word, (0..lanes).map(|i| mask.bits.get(i * (BYTES / lanes))).collect()))
        }),
        _ => Vec::new(),
    }
}

fn words(row: &'static Row, line: impl Fn(&'static str) -> Option<Line>) -> Vec<Line> {
    row.words.iter().flat_map(|list| list.words).filter_map(|word| line(word)).collect()
}

/// A call on UB from byte 0 on, with elements of the width that the word names.
fn call_of(name: &'static str, row: &'static Row, word: &str, items: Vec<Item>) -> (Call, ScalarType) {
    let bits = match word.rsplit_once("_B").and_then(|(_, bits)| bits.parse().ok()) {
        _ if word.starts_with("UNPK4") => 8,
        Some(bits @ (8 | 16 | 32)) => bits,
        _ => 32,
    };
    let attrs = vec![("dist".to_string(), Attr::Word(word.into()))];
    (Call { name, row, items, attrs }, ScalarType::Int(bits, Sign::Unsigned))
}

fn elem_of(lane: ScalarType) -> Elem {
    crate::types::lane_elem(lane)
}

const START: Value<'static> = Value::Ptr(Place { space: Space::Ub, unit: 0 }, 0);
const INDEX: Ty = Ty::Scalar(ScalarType::Index);

fn loaded(name: &'static str, row: &'static Row, word: &'static str) -> Option<Vec<From>> {
    let (call, lane) = call_of(name, row, word, vec![Item::Indexed]);
    if why_not(&call).is_some() {
        return None;
    }
    let args = smallvec![Ty::Ptr(elem_of(lane), Space::Ub), INDEX];
    let inst = Inst { call: &call, args, results: smallvec![Ty::Micro(MicroType::Vreg(lane))] };
    let bytes = |label: fn(u64) -> u8| -> Option<Box<Reg>> {
        let (mut specials, mut memory, mut notes) = (Specials::default(), Labelled(label, Vec::new()), Vec::new());
        let mut core = Core { specials: &mut specials, memory: &mut memory, notes: &mut notes };
        match run(&inst, &[START, Value::Int(0)], &mut core).ok()?.into_iter().next()? {
            Made::Reg(reg) => Some(reg),
            _ => None,
        }
    };
    let [low, high, all] = [bytes(|at| at as u8)?, bytes(|at| (at >> 8) as u8)?, bytes(|_| 0xFF)?];
    let from = |k: usize| usize::from(low.bytes[k]) | usize::from(high.bytes[k]) << 8;
    Some((0..BYTES).map(|k| (all.bytes[k] != 0).then(|| from(k))).collect())
}

fn stored(name: &'static str, row: &'static Row, word: &'static str) -> Option<Vec<Option<usize>>> {
    let (call, lane) = call_of(name, row, word, vec![Item::Value, Item::Indexed, Item::Value]);
    if why_not(&call).is_some() {
        return None;
    }
    let register = Ty::Micro(MicroType::Vreg(lane));
    let mut args = smallvec![register, Ty::Ptr(elem_of(lane), Space::Ub), INDEX, Ty::Micro(MicroType::Mask(32))];
    let probe = Inst { call: &call, args: smallvec![register], results: smallvec![] };
    if let (Some(bits), Some(mask)) = (store_mask(store_dist(&probe)), args.get_mut(3)) {
        *mask = Ty::Micro(MicroType::Mask(bits));
    }
    let inst = Inst { call: &call, args, results: smallvec![] };
    let (reg, mask) = (Reg::from_bytes(|k| Some(k as u8)), Mask::of(Bits::ALL));
    let (mut specials, mut memory, mut notes) = (Specials::default(), Labelled(|_| 0, vec![None; BYTES]), Vec::new());
    let mut core = Core { specials: &mut specials, memory: &mut memory, notes: &mut notes };
    run(&inst, &[Value::Reg(&reg), START, Value::Int(0), Value::Mask(&mask)], &mut core).ok()?;
    Some(memory.1.into_iter().map(|byte| byte.map(usize::from)).collect())
}
