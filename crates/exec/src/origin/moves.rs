//! What an instruction does to origins: the nests that move its data, with the functions that they apply.

use super::plane::{Plane, SIZE};
use super::terms::{Param, function};
use super::{Function, Nibble, TermId, Terms, UNDEFINED};
use crate::defined::Area;
use crate::kernels::{Conversion, Kernel, Level};
use crate::lower::{Failure, ParamSource, Places, Prepared, Shadow, ShadowMove};
use crate::nest::{Bits, Dim, Nest, Side};
use smallvec::SmallVec;
use tessera_isa::codec::QuantParam;
use tessera_isa::inst::Inst;
use tessera_isa::sem::{Fixpipe, Func, Side as MapSide, Step};

/// The actions of one instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    pub actions: Vec<Action>,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Elements move, and may be converted.
    Move(Box<ElementMove>),
    /// Elements become a value.
    Fill { dst: u8, area: Area, pattern: Pattern },
    /// What is not written of an area becomes undefined.
    Clear { dst: u8, area: Area },
}

#[derive(Clone, Debug)]
pub(crate) struct ElementMove {
    pub src: u8,
    pub dst: u8,
    pub from: Area,
    pub to: Area,
    pub nests: SmallVec<[Nest; 4]>,
    pub conversion: Option<Conversion>,
    /// The parameter of every element.
    pub same: Option<QuantParam>,
    /// Where the parameters of the columns lie.
    pub param: Option<ParamTile>,
}

/// Parameters that lie in a tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamTile {
    pub operand: u8,
    pub offset: usize,
    pub count: usize,
}

/// The value of a fill, by byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    bits: u64,
    size: usize,
}

impl Pattern {
    fn new(width: u32, bits: u64) -> Self {
        match width {
            4 => Pattern { bits: (bits & 15) * 0x11, size: 1 },
            _ => Pattern { bits, size: (width as usize / 8).clamp(1, 8) },
        }
    }

    /// The byte at a distance from the start of the operand.
    pub fn byte(&self, at: usize) -> u8 {
        (self.bits >> (8 * (at % self.size))) as u8
    }
}

impl Moves {
    /// Lowers an instruction step by step, so that each nest is known with what it applies.
    pub fn new(inst: &Inst, steps: &[Step], at: Places<'_>) -> Result<Self, Failure> {
        let mut moves = Moves::default();
        for step in steps {
            let lowered = Prepared::of_steps(inst, std::slice::from_ref(step), at)?;
            let conversion = conversion(inst, step);
            let pattern = match step {
                Step::Fill { dst, bits, .. } => inst.tiles.get(*dst).map(|t| Pattern::new(t.tile.elem.bits(), *bits)),
                Step::Img2col { conv, .. } => Some(Pattern::new(conv.image.elem.bits(), conv.pad_bits)),
                _ => None,
            };
            for shadow in &lowered.shadow {
                moves.push(shadow, &lowered.params, conversion, pattern);
            }
        }
        Ok(moves)
    }

    /// Does something lowered only copy?
    pub fn is_copy(lowered: &Prepared) -> bool {
        lowered.shadow.iter().all(|s| match s {
            Shadow::Clear { .. } => true,
            Shadow::Set { .. } => false,
            Shadow::Move(mv) => !mv.by_element,
        })
    }

    /// The moves of something lowered that only copies.
    pub fn of_copy(lowered: &Prepared) -> Self {
        let mut moves = Moves::default();
        for shadow in &lowered.shadow {
            moves.push(shadow, &lowered.params, None, None);
        }
        moves
    }

    /// Copies from operand 0 to operand 1.
    pub fn copy(nests: &[Nest]) -> Self {
        let mv = ElementMove {
            src: 0,
            dst: 1,
            from: Area::of_nests(nests, Side::Source),
            to: Area::of_nests(nests, Side::Destination),
            nests: nests.iter().cloned().collect(),
            conversion: None,
            same: None,
            param: None,
        };
        Moves { actions: vec![Action::Move(Box::new(mv))] }
    }

    /// The same moves between other operands, added to these.
    pub fn add(&mut self, other: &Moves, operands: impl Fn(u8) -> u8) {
        for action in &other.actions {
            if let Action::Move(mv) = action {
                self.actions.push(Action::Move(Box::new(ElementMove {
                    src: operands(mv.src),
                    dst: operands(mv.dst),
                    ..ElementMove::clone(mv)
                })));
            }
        }
    }

    fn push(
        &mut self,
        shadow: &Shadow,
        params: &ParamSource,
        conversion: Option<Conversion>,
        pattern: Option<Pattern>,
    ) {
        match (shadow, pattern) {
            (Shadow::Clear { operand, area }, _) => {
                self.actions.push(Action::Clear { dst: *operand, area: area.clone() })
            }
            (Shadow::Set { operand, area }, Some(pattern)) => {
                self.actions.push(Action::Fill { dst: *operand, area: area.clone(), pattern })
            }
            (Shadow::Set { .. }, None) => {}
            (Shadow::Move(mv), _) => self.actions.push(Action::Move(Box::new(element_move(mv, params, conversion)))),
        }
    }
}

fn element_move(mv: &ShadowMove, params: &ParamSource, conversion: Option<Conversion>) -> ElementMove {
    // A converting form that keeps the bits was lowered to a copy (fixpipe.md 4).
    let conversion = conversion.filter(|_| mv.by_element);
    let (same, param) = match (conversion, params) {
        (None, _) => (None, None),
        (Some(_), ParamSource::Fixed(params)) => (params.first(), None),
        (Some(_), ParamSource::Tile(tile)) => {
            let param = ParamTile { operand: tile.operand, offset: tile.offset, count: tile.count };
            (None, Some(param))
        }
    };
    ElementMove {
        src: mv.src,
        dst: mv.dst,
        from: mv.from.clone(),
        to: mv.to.clone(),
        nests: mv.nests.clone(),
        conversion,
        same,
        param,
    }
}

/// The function that a step applies, where it applies one.
fn conversion(inst: &Inst, step: &Step) -> Option<Conversion> {
    let Step::Apply(apply) = step else {
        return None;
    };
    let elem = |side: MapSide| match side {
        MapSide::Tile(n) => inst.tiles.get(n).map(|t| t.tile.elem),
        MapSide::Global => inst.global.as_ref().map(|g| g.elem),
    };
    let (src, dst) = (elem(apply.elements().next()?.0)?, elem(apply.dst.0)?);
    match apply.func {
        Func::Convert => Some(Conversion::Value { src, dst }),
        Func::Fixpipe { relu, hardware_rounding, .. } => {
            Some(Conversion::Fixpipe(Fixpipe { src, dst, relu, hardware_rounding }))
        }
        _ => None,
    }
}

impl ElementMove {
    /// The function that it applies, where it applies one.
    pub fn function(&self) -> Option<Function> {
        let param = match (self.same, self.param) {
            (Some(same), _) => Param::Fixed(same),
            (None, Some(_)) => Param::Data(SmallVec::from_elem(UNDEFINED, 8)),
            (None, None) => Param::None,
        };
        self.conversion.map(|c| function(c, param).0)
    }

    /// Moves origins.
    pub fn run(&self, from: &From<'_>, dst: &mut Plane, dst_at: usize, terms: &mut Terms) {
        for nest in &self.nests {
            match self.conversion {
                Some(conversion) => self.convert(nest, conversion, from, dst, dst_at, terms),
                None if nest.bits.src == 4 || nest.bits.dst == 4 => nibbles(nest, from, dst, dst_at, terms),
                None => {
                    let kernel = Kernel::new(&widened(nest), Level::best());
                    // A plane that is too short belongs to a memory that is too long to be followed, which is noted.
                    let _ = match from.plane {
                        Some(src) => kernel.run((src.raw(), from.at * SIZE), (dst.raw_mut(), dst_at * SIZE)),
                        None => kernel.run_within(dst.raw_mut(), from.at * SIZE, dst_at * SIZE),
                    };
                }
            }
        }
    }

    fn convert(
        &self,
        nest: &Nest,
        conversion: Conversion,
        from: &From<'_>,
        dst: &mut Plane,
        dst_at: usize,
        terms: &mut Terms,
    ) {
        let size = |bits: u32| (bits / 8).max(1) as usize;
        let mut results: Vec<(usize, SmallVec<[TermId; 8]>)> = Vec::with_capacity(nest.elements() as usize);
        nest.for_each_element(|s, d, p| {
            let read = |plane: Option<&Plane>, at: usize, n: usize| -> SmallVec<[TermId; 8]> {
                let plane = plane.unwrap_or(dst);
                (at..at + n).map(|b| plane.get(b)).collect()
            };
            let element = read(from.plane, offset(from.at, s), size(nest.bits.src));
            let param = match (from.params, self.same) {
                (Some((plane, at)), _) => Param::Data(read(plane, at + p.max(0) as usize * 8, 8)),
                (None, Some(same)) => Param::Fixed(same),
                (None, None) => Param::None,
            };
            let applied = terms.apply(conversion, &element, param, size(nest.bits.dst));
            results.push((offset(dst_at, d), applied));
        });
        for (at, ids) in results {
            (at..).zip(ids).for_each(|(at, id)| dst.set(at, id));
        }
    }
}

/// Where a move reads; what has no plane lies in the destination's.
pub(crate) struct From<'p> {
    pub plane: Option<&'p Plane>,
    /// Where the operand starts.
    pub at: usize,
    /// The parameters: their plane, and where the first one starts.
    pub params: Option<(Option<&'p Plane>, usize)>,
}

fn offset(at: usize, by: i64) -> usize {
    usize::try_from(at as i64 + by).unwrap_or(usize::MAX / 16)
}

/// A nest over bytes as one over their origins; a narrowing one takes the low bytes.
fn widened(nest: &Nest) -> Nest {
    let scale = SIZE as i64;
    let bytes = u64::from(nest.bits.src.min(nest.bits.dst) / 8).max(1);
    let mut dims: SmallVec<[Dim; 8]> = nest
        .dims
        .iter()
        .map(|d| Dim { extent: d.extent, src: d.src.saturating_mul(scale), dst: d.dst.saturating_mul(scale), param: 0 })
        .collect();
    let bits = if bytes == 1 { 32 } else { 64 };
    if bytes > 2 {
        dims.push(Dim { extent: bytes / 2, src: 2 * scale, dst: 2 * scale, param: 0 });
    }
    let mut nest = Nest {
        bits: Bits::same(bits),
        src: nest.src.saturating_mul(scale),
        dst: nest.dst.saturating_mul(scale),
        param: 0,
        dims,
    };
    nest.normalise();
    nest
}

/// Elements of 4 bits: two of them, from anywhere, make a byte.
fn nibbles(nest: &Nest, source: &From<'_>, dst: &mut Plane, dst_at: usize, terms: &mut Terms) {
    let half = |at: usize, n: i64, bits: u32| {
        let n = if bits == 4 { n } else { n.saturating_mul(2) };
        (offset(at, n.div_euclid(2)), n.rem_euclid(2) == 1)
    };
    let mut moved: Vec<(usize, bool, Nibble)> = Vec::with_capacity(nest.elements() as usize);
    nest.for_each_element(|s, d, _| {
        let (from, high) = half(source.at, s, nest.bits.src);
        let (to, to_high) = half(dst_at, d, nest.bits.dst);
        let of = source.plane.unwrap_or(dst).get(from);
        moved.push((to, to_high, terms.nibble(of, high)));
    });
    for (to, high, nibble) in moved {
        let old = dst.get(to);
        let other = terms.nibble(old, !high);
        let pair = if high { [other, nibble] } else { [nibble, other] };
        let id = terms.join(pair);
        dst.set(to, id);
    }
}

/// Reads as: nothing is known of it.
pub(super) fn is_undefined(ids: &[TermId]) -> bool {
    ids.contains(&UNDEFINED)
}
