//! Stores that combine what is there with something new: atomic adds, maxima and minima (isa/memory.md 3 and 5).
//!
//! They run element by element in row-major order, since an element of the view may be met again. One that is not defined
//! changes nothing; what was combined is noted where blocks are put together later (isa/structure.md 4).

use crate::defined::Value;
use crate::engine::memory::{Combined, Memories};
use crate::kernels::{Mapped, Params};
use crate::lower::{Effect, Failure, FromTile, Lowering, Operand, ParamSource, missing, refuse};
use crate::nest::{Map, OPERANDS, Place, lower, read_bits, write_bits};
use smallvec::SmallVec;
use tessera_isa::elem::Elem;
use tessera_isa::layout::Layout;
use tessera_isa::sem::{Apply, Arg, Func};

/// Such a store, made ready.
#[derive(Clone, Debug)]
pub(crate) struct Combine {
    pub func: Func,
    pub extent: [u64; 2],
    pub view: Element,
    /// The arguments after the element of the view.
    pub args: SmallVec<[Argument; 2]>,
}

/// An operand, by the points of the domain.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub operand: u8,
    pub elem: Elem,
    pub layout: Layout,
    pub map: Map,
}

#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Element(Box<Element>),
    Scalar(Elem, u64),
}

impl Element {
    /// The first byte of the element at a point.
    fn byte(&self, at: [u64; 2], places: &[Place]) -> Option<i64> {
        let (r, c) = self.map.of(at);
        let start = i64::try_from(places.get(usize::from(self.operand))?.at).ok()?;
        Some(start + self.layout.offset(r, c) * i64::from(self.elem.bits() / 8))
    }

    /// Its bits, where it is defined.
    fn read(&self, at: [u64; 2], memories: &Memories, places: &[Place]) -> Option<u64> {
        let (_, memory) = memories.operand(places, self.operand)?;
        let byte = self.byte(at, places)?;
        let len = self.elem.bits() as usize / 8;
        let is_defined = !memories.tracked || memory.defined().has_all(usize::try_from(byte).ok()?, len);
        is_defined.then(|| read_bits(memory.bytes(), byte, self.elem.bits()))
    }
}

impl Combine {
    pub fn run(&self, memories: &mut Memories, places: &[Place], effect: &mut Effect) {
        let (op, first) = self.func.combined();
        let (to, [rows, cols]) = (self.view.elem, self.extent);
        for at in (0..rows).flat_map(|i| (0..cols).map(move |j| [i, j])) {
            let arg = |arg: &Argument| match arg {
                Argument::Element(element) => Some((element.elem, element.read(at, memories, places)?)),
                Argument::Scalar(elem, bits) => Some((*elem, *bits)),
            };
            let args: Option<SmallVec<[(Elem, u64); 2]>> = self.args.iter().map(arg).collect();
            let old = self.view.read(at, memories, places);
            let (Some(args), Some(old), Some(byte)) = (args, old, self.view.byte(at, places)) else {
                effect.add(Effect::STORED_UNDEFINED, true);
                continue;
            };
            let new = first.eval(to, &args);
            let place = places.get(usize::from(self.view.operand));
            if let Some(memory) = place.and_then(|place| memories.get_mut(place.memory)) {
                write_bits(memory.as_mut(), byte, to.bits(), op.eval(to, &[(to, old), (to, new)]));
                memory.note_combined(Combined { at: byte as usize, elem: to, func: op, bits: new });
            }
        }
    }
}

impl Lowering<'_> {
    /// What is there is combined with something new; the first argument is what is there.
    pub(crate) fn combined(
        &mut self,
        apply: &Apply,
        to: Operand,
        from: SmallVec<[(Operand, Map); 3]>,
    ) -> Result<(), Failure> {
        let (extent, elem) = (apply.extent, to.elem);
        let mut numbers: SmallVec<[u8; OPERANDS]> = SmallVec::from_iter([to.number]);
        numbers.extend(from.iter().map(|(operand, _)| operand.number));
        let nests = {
            let read = from.iter().map(|(operand, map)| operand.at(*map));
            let operands: SmallVec<[_; OPERANDS]> = [to.at(apply.dst.1)].into_iter().chain(read).collect();
            lower(extent, &operands)
        };
        let (mut args, mut typed): (SmallVec<[Argument; 2]>, SmallVec<[_; 3]>) = Default::default();
        let mut elements = from.into_iter();
        for arg in &apply.args {
            let arg = match arg {
                Arg::Scalar(elem, bits) => Argument::Scalar(*elem, *bits),
                Arg::Element(..) => {
                    let (from, map) = elements.next().ok_or_else(|| missing("element to read"))?;
                    let (operand, elem, layout) = (from.number, from.elem, from.layout);
                    Argument::Element(Box::new(Element { operand, elem, layout, map }))
                }
            };
            typed.push(match &arg {
                Argument::Scalar(elem, bits) => (*elem, Some(*bits)),
                Argument::Element(element) => (element.elem, None),
            });
            args.push(arg);
        }
        args.remove(0);
        // The parameters are looked at before anything is written.
        if let (Func::FixpipeAdd { quant: Some(quant), .. }, [Argument::Element(acc), param]) = (apply.func, &args[..])
        {
            match param {
                Argument::Scalar(_, bits) => {
                    let check = quant.param(*bits).check(acc.elem, elem);
                    check.map_err(|fault| refuse(fault, *bits, None, elem))?;
                }
                Argument::Element(fp) => {
                    let (operand, first, (src, dst)) = (fp.operand, fp.map.origin[1], (acc.elem, elem));
                    let count = if extent[0] == 0 { 0 } else { extent[1] as usize };
                    let offset = fp.layout.offset(0, first).max(0) as usize * 8;
                    let (bytes, params) = (Vec::new(), Params::default());
                    let from = FromTile { operand, offset, first, count, src, dst, bytes, params };
                    self.made.params = ParamSource::Tile(Box::new(from));
                }
            }
        }
        let view = Element { operand: to.number, elem, layout: to.layout, map: apply.dst.1 };
        self.made.combines.push(Combine { func: apply.func, extent, view, args });
        let value = Value::Mapped(Mapped { func: apply.func, to: elem, args: typed });
        self.followed(&numbers, nests, value, true);
        Ok(())
    }
}
