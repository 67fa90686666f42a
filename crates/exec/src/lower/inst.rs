//! From the steps of an instruction to nests, fills and defined bits.

use crate::definedness::{AllDefined, DefinednessTransfer, Pattern, TransferMove, Value};
use crate::lower::data::IndexedConcat;
use crate::lower::routed::RoutedRun;
use crate::lower::{
    CompiledInst, ContentArg, ContentRule, FromTile, ParamAt, ParamSource, Places, TableAccess, operand, refuse,
};
use smallvec::SmallVec;
use std::sync::Arc;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AccToVec, Inst, TileArg};
use tessera_isa::layout::{Axis, Digit, Layout};
use tessera_isa::ops::{Effect, Role};
use tessera_isa::sem::{Apply, Arg, Fixpipe, Func, Map, Quant, Rect, Reduce, Side, Step};
use tessera_isa::tile::BLayout;
use tessera_kernels::memory::{Area, ArrayAccess};
use tessera_kernels::nest::{self, DST, Nests, OPERANDS, SRC, lower, lower_copy, lower_fill};
use tessera_kernels::{Conversion, Failure, Mapped, PackedKernel, PackedOp, Params};
use tessera_kernels::{Plan, PlanStep};

/// Steps that are being lowered.
pub struct Lowering<'a> {
    pub inst: &'a Inst,
    at: Places<'a>,
    steps: Vec<PlanStep>,
    pub made: CompiledInst,
}

/// The layout, element and number of one side of a step.
pub struct Operand {
    pub number: u8,
    pub layout: Layout,
    pub elem: Elem,
}

impl CompiledInst {
    /// Lowers these steps of an instruction.
    pub fn of_steps(inst: &Inst, steps: &[Step], at: Places<'_>) -> Result<Self, Failure> {
        let made = CompiledInst {
            plan: Plan::default(),
            places: CompiledInst::all_places(at),
            shadow: SmallVec::new(),
            usual: AllDefined::default(),
            params: ParamSource::Fixed(Params::default()),
            joined: None,
            routed: None,
            looked: None,
            indexed: None,
            contents: SmallVec::new(),
            warning: None,
            combines: Vec::new(),
            global: None,
            access: ArrayAccess::default(),
            is_plain: false,
            shared: 0,
        };
        let mut lowering = Lowering { inst, at, steps: Vec::new(), made };
        for step in steps {
            lowering.step(step)?;
        }
        lowering.selected(steps)?;
        let mut made = lowering.made;
        made.plan = Plan::new(lowering.steps);
        let view = at.global.map(|_| made.places.len() - 1);
        let followed = if at.tracked { made.shadow.as_slice() } else { &[] };
        made.usual = AllDefined::new(followed, &made.places, view);
        made.access = match made.global {
            Some(_) => {
                ArrayAccess { reads: reads_view(inst), writes: made.writes_view(), combines: !made.combines.is_empty() }
            }
            None => ArrayAccess::default(),
        };
        made.is_plain = made.reads_no_contents();
        made.shared = made.shares();
        Ok(made)
    }
}

/// Whether an instruction reads its view: a load does, and so does a store of elements that share bytes with others.
fn reads_view(inst: &Inst) -> bool {
    let is_load = inst.op.effect(inst.form, Role::Global) != Effect::Write;
    is_load || inst.global.as_ref().is_some_and(|view| view.elem.is_fp4())
}

pub fn missing(what: &str) -> Failure {
    Box::new(Diagnostic::error("operand-count", format!("the instruction has no {what}; give it one")))
}

impl Operand {
    pub fn at(&self, map: Map) -> nest::Operand<'_> {
        nest::Operand { layout: &self.layout, map, bits: self.elem.bits() }
    }
}

impl Lowering<'_> {
    fn tile(&self, index: usize) -> Result<&TileArg, Failure> {
        self.inst.tiles.get(index).ok_or_else(|| missing("such tile"))
    }

    fn side(&self, side: Side, core: u8) -> Result<Operand, Failure> {
        match side {
            Side::Tile(index) => {
                let tile = self.tile(index)?;
                Ok(Operand { number: operand(index, core), layout: tile.layout.clone(), elem: tile.tile.elem })
            }
            Side::Bytes(index) => {
                let tile = self.tile(index)?;
                let (row, pitch) = (tile.tile.elem.bytes_of(tile.tile.cols), row_pitch(tile));
                let layout = Layout::row_major(tile.tile.rows, row, pitch);
                Ok(Operand { number: operand(index, core), layout, elem: Elem::U8 })
            }
            Side::Global => {
                let view = self.inst.global.as_ref().ok_or_else(|| missing("view of global memory"))?;
                Ok(Operand {
                    number: self.global_number(),
                    layout: view.layout().ok_or_else(|| missing("view with known extents"))?,
                    elem: view.elem,
                })
            }
        }
    }

    fn global_number(&self) -> u8 {
        operand(self.inst.tiles.len(), 0)
    }

    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        match step {
            Step::Clobber { dst, core, rect } if self.at.tracked => {
                let tile = self.tile(*dst)?;
                let area = rect_area(tile, rect.clip(tile.tile.rows, tile.tile.cols));
                self.made.shadow.push(DefinednessTransfer::Clear { operand: operand(*dst, *core), area });
            }
            Step::Scratch { tile } if self.at.tracked => {
                let area = declared_area(self.tile(*tile)?);
                self.made.shadow.push(DefinednessTransfer::Clear { operand: operand(*tile, 0), area });
            }
            Step::Clobber { .. } | Step::Scratch { .. } => {}
            Step::Apply(apply) => self.applied(apply)?,
            Step::Reduce(reduce) => self.reduced(reduce)?,
            Step::Gather { src, idx, dst, extent } => {
                let declared = &self.tile(*src)?.tile;
                let staged = PackedKernel::gather(
                    self.staged(*src)?,
                    [declared.rows, declared.cols],
                    self.staged(*idx)?,
                    self.staged(*dst)?,
                    *extent,
                );
                self.stage(staged);
            }
            Step::Pack { func, extent, args, dst, row_bytes } => {
                let staged = self.packed(*func, *extent, args, *dst, *row_bytes)?;
                self.stage(staged);
            }
            Step::Routed(routed) => self.made.routed = Some(Box::new(RoutedRun::new(self.inst, routed.how))),
            Step::Table(table) => {
                self.made.looked = Some(Box::new(TableAccess::new(self.inst, self.at, *table)));
                let layout = self.side(Side::Global, 0)?.layout;
                let view = self.inst.global.as_ref().map_or(8, |v| v.elem.bits());
                let all = lower_copy([layout.rows(), layout.cols()], &layout, &layout, view);
                self.made.global = Some(Area::of_nests(&all, SRC));
            }
            Step::Join => self.made.joined = Some(Box::new(IndexedConcat::new(self.inst, self.at.tiles))),
            Step::Fill { dst, rect, bits } => self.fill(*dst, *rect, *bits)?,
            Step::Bytes { src, dst, len } => {
                let nests = lower_copy([1, *len], &byte_rows(self.tile(*src)?), &byte_rows(self.tile(*dst)?), 8);
                self.copy(operand(*src, 0), operand(*dst, 0), nests);
            }
            Step::LoadConv { dst, elements } => self.load_conv(*dst, *elements)?,
            Step::Img2col { src, dst, conv } => self.img2col(*src, *dst, conv)?,
        }
        Ok(())
    }

    fn applied(&mut self, apply: &Apply) -> Result<(), Failure> {
        let to = self.side(apply.dst.0, apply.core)?;
        let mut from: SmallVec<[(Operand, Map); 3]> = SmallVec::new();
        for (side, map) in apply.elements() {
            from.push((self.side(side, 0)?, map));
        }
        if apply.dst.0 == Side::Global && apply.elements().any(|(side, _)| side == Side::Global) {
            return self.combined(apply, to, from);
        }
        let Some((first, map)) = from.first() else {
            return Err(missing("element to read"));
        };
        let two = [to.at(apply.dst.1), first.at(*map)];
        let (src, dst) = (first.elem, to.elem);
        match apply.func {
            func if func.keeps_bits() => self.copy(first.number, to.number, lower(apply.extent, &two)),
            Func::Convert => {
                let value = Value::Converted(Conversion::Value { src, dst }, ParamAt::None);
                self.moved(&[to.number, first.number], lower(apply.extent, &two), value);
            }
            Func::Fixpipe { relu, hardware_rounding, saturate_inf, quant } => {
                let fixpipe = Fixpipe { src, dst, relu, hardware_rounding, saturate_inf };
                let (param, nests) = self.fixpipe(&fixpipe, quant, apply.args.get(1), apply.extent, two)?;
                let fixpipe = Conversion::Fixpipe(fixpipe);
                self.moved(&[to.number, first.number], nests, Value::Converted(fixpipe, param));
            }
            func => {
                let mut elements = from.iter().map(|(operand, _)| operand.elem);
                let arg = |arg: &Arg| match arg {
                    Arg::Element(..) => Some((elements.next()?, None)),
                    Arg::Scalar(elem, bits) => Some((*elem, Some(*bits))),
                };
                let args: Option<_> = apply.args.iter().map(arg).collect();
                let mapped = Mapped::new(func, dst, args.ok_or_else(|| missing("element to read"))?)?;
                let (mut numbers, mut operands): (SmallVec<[u8; OPERANDS]>, SmallVec<[_; OPERANDS]>) =
                    (SmallVec::from_iter([to.number]), SmallVec::from_iter([two[0]]));
                numbers.extend(from.iter().map(|(operand, _)| operand.number));
                operands.extend(from.iter().map(|(operand, map)| operand.at(*map)));
                let nests = lower(apply.extent, &operands);
                let content = |n: usize| match *apply.args.get(n)? {
                    Arg::Scalar(elem, bits) => Some(ContentArg::Scalar(elem, bits)),
                    Arg::Element(side, map) => {
                        // The element's number among the arguments that are elements.
                        let k = apply.args.iter().take(n).filter(|a| matches!(a, Arg::Element(..))).count();
                        let (from, role) = (&from.get(k)?.0, self.inst.tiles.get(side.tile()?)?.role);
                        let (operand, elem, layout) = (from.number, from.elem, Box::new(from.layout.clone()));
                        Some(ContentArg::Tile {
                            role,
                            operand,
                            elem,
                            layout,
                            map,
                            area: Area::of_nests(&nests, SRC + k),
                        })
                    }
                };
                self.made.contents.extend(ContentRule::of_step(self.inst, func, dst, apply.extent, content)?);
                self.moved(&numbers, nests, Value::Mapped(mapped));
            }
        }
        Ok(())
    }

    /// The nests of a way out of an accumulator, and where its parameter comes from; sees to it that it is there.
    pub fn fixpipe(
        &mut self,
        fixpipe: &Fixpipe,
        quant: Option<Quant>,
        param: Option<&Arg>,
        extent: [u64; 2],
        two: [nest::Operand<'_>; 2],
    ) -> Result<(ParamAt, Nests), Failure> {
        let (src, dst) = (fixpipe.src, fixpipe.dst);
        Ok(match (param, quant) {
            (Some(Arg::Element(Side::Tile(tile), at)), _) => {
                // An empty window needs no parameters.
                let [rows, cols] = extent;
                let count = if rows == 0 { 0 } else { cols as usize };
                let (operand, first) = (operand(*tile, 0), at.origin[1]);
                let offset = self.tile(*tile)?.layout.offset(0, first).max(0) as usize * 8;
                let (bytes, params) = (Vec::new(), Params::default());
                let from = FromTile { operand, offset, first, count, src, dst, bytes, params };
                self.made.params = ParamSource::Tile(Box::new(from));
                let param = ParamAt::Tile { operand, offset, count };
                // The loaded parameters are numbered from the first one on.
                let list = Layout::row_major(1, cols, cols);
                let numbered = nest::Operand { layout: &list, map: Map { origin: [0, 0], ..*at }, bits: 64 };
                (param, lower(extent, &[two[0], two[1], numbered]))
            }
            (Some(Arg::Scalar(_, bits)), Some(quant)) => {
                let param = quant.param(*bits);
                param.check(src, dst).map_err(|fault| refuse(fault, *bits, None, dst))?;
                self.made.params = ParamSource::Fixed(Params::new([param]));
                (ParamAt::Fixed(param), lower(extent, &two))
            }
            _ => (ParamAt::None, lower(extent, &two)),
        })
    }

    /// A tile as staged steps take it.
    fn staged(&self, index: usize) -> Result<(u8, &Layout, Elem), Failure> {
        let tile = self.tile(index)?;
        Ok((operand(index, 0), &tile.layout, tile.tile.elem))
    }

    fn packed(
        &self,
        func: Func,
        extent: [u64; 2],
        args: &[Arg],
        dst: usize,
        row_bytes: u64,
    ) -> Result<PackedKernel, Failure> {
        let mask = self.tile(dst)?;
        // The bytes of its rows that count, one after the other.
        let digits = [(mask.tile.rows, row_pitch(mask)), (row_bytes, 1)];
        let col = Axis::from_digits(&digits.map(|(extent, stride)| Digit { extent, stride: stride as i64 }));
        let layout = Layout { row: Axis::linear(1, 0), col };
        let mut tiles: SmallVec<[_; 2]> = SmallVec::new();
        let mut scalar = None;
        for arg in args {
            match arg {
                Arg::Element(side, _) => tiles.push(self.staged(side.tile().ok_or_else(|| missing("such tile"))?)?),
                Arg::Scalar(elem, bits) => scalar = Some((*elem, *bits)),
            }
        }
        Ok(PackedKernel::pack(func, extent, &tiles, scalar, (operand(dst, 0), &layout, Elem::U8)))
    }

    /// A selection has a step for each bit of a byte, which is how defined bits and origins follow it; all of them run at
    /// once.
    fn selected(&mut self, steps: &[Step]) -> Result<(), Failure> {
        let picks = |step: &&Step| matches!(step, Step::Apply(apply) if matches!(apply.func, Func::Select { .. }));
        let mut extent = [0, 0];
        let mut first = None;
        for step in steps.iter().filter(picks) {
            let Step::Apply(apply) = step else { continue };
            extent = [apply.extent[0], extent[1] + apply.extent[1]];
            first = first.or(Some(apply));
        }
        let Some(apply) = first else { return Ok(()) };
        let ([Arg::Element(mask, _), args @ ..], Side::Tile(dst)) = (apply.args.as_slice(), apply.dst.0) else {
            return Err(missing("mask"));
        };
        let mask = self.side(*mask, 0)?;
        let [Ok(x), Ok(y)] = [0, 1].map(|n: usize| match args.get(n) {
            Some(Arg::Element(Side::Tile(tile), _)) => self.staged(*tile).map(Ok),
            Some(Arg::Scalar(_, bits)) => Ok(Err(*bits)),
            _ => Err(missing("such tile")),
        }) else {
            return Err(missing("such tile"));
        };
        let staged = PackedKernel::select(extent, (mask.number, &mask.layout, mask.elem), [x, y], self.staged(dst)?);
        self.steps.push(PlanStep::PackedKernel(Arc::new(staged)));
        Ok(())
    }

    fn reduced(&mut self, reduce: &Reduce) -> Result<(), Failure> {
        let staged = {
            let at = |(tile, map): &(usize, Map<3>)| Ok::<_, Failure>((self.staged(*tile)?, *map));
            let args = reduce.args.iter().map(at).collect::<Result<SmallVec<[_; 2]>, _>>()?;
            let start = reduce.start.as_ref().map(at).transpose()?;
            let scales = match &reduce.scales {
                Some([a, b]) => Some([at(a)?, at(b)?]),
                None => None,
            };
            PackedKernel::reduce(reduce.func, reduce.extent, at(&reduce.dst)?, &args, scales, start)
        };
        self.stage(staged);
        Ok(())
    }

    fn stage(&mut self, staged: PackedKernel) {
        let staged = Arc::new(staged);
        if matches!(staged.what, PackedOp::Gather { .. }) {
            self.made.indexed = Some(staged.clone());
        }
        self.steps.push(PlanStep::PackedKernel(staged.clone()));
        if self.at.tracked {
            let reads = staged.inputs.iter().map(|s| (s.operand, Area::of_nests(&s.nests, SRC))).collect();
            let (dst, to) = (staged.output.operand, Area::of_nests(&staged.output.nests, DST));
            let (nests, value) = (Nests::new(), Value::PackedKernel(staged));
            let mv = TransferMove { dst, to, reads, nests, value, combines: false };
            self.made.shadow.push(DefinednessTransfer::Move(Box::new(mv)));
        }
    }

    pub fn copy(&mut self, src: u8, dst: u8, nests: Nests) {
        self.moved(&[dst, src], nests, Value::Bits);
    }

    /// Nests between operands, the written one first.
    fn moved(&mut self, numbers: &[u8], nests: Nests, value: Value) {
        let [dst, reads @ ..] = numbers else { return };
        let [dst, src] = [*dst, reads.first().copied().unwrap_or(*dst)];
        self.steps.extend(nests.iter().cloned().filter_map(|nest| match &value {
            Value::Bits => Some(PlanStep::Copy { src, dst, nest }),
            Value::Converted(conversion, _) => Some(PlanStep::Convert { src, dst, nest, conversion: *conversion }),
            // See `selected`.
            Value::Mapped(Mapped { func: Func::Select { .. }, .. }) => None,
            Value::Mapped(mapped) => Some(PlanStep::Map { operands: numbers.into(), nest, mapped: mapped.clone() }),
            Value::PackedKernel(_) => None,
        }));
        self.followed(numbers, nests, value, false);
    }

    /// Adds the move to the shadow, which defined bits and origins follow.
    pub fn followed(&mut self, numbers: &[u8], nests: Nests, value: Value, combines: bool) {
        let [dst, reads @ ..] = numbers else { return };
        let dst = *dst;
        let number = self.global_number();
        let has_view = self.inst.global.is_some() && numbers.contains(&number);
        let area = |k: usize, operand: u8| match self.at.tracked || (has_view && operand == number) {
            true => Area::of_nests(&nests, k),
            false => Area::default(),
        };
        let to = area(DST, dst);
        let reads: SmallVec<[(u8, Area); 2]> =
            reads.iter().enumerate().map(|(k, operand)| (*operand, area(SRC + k, *operand))).collect();
        if has_view {
            let read = reads.iter().find(|(operand, _)| *operand == number).map(|(_, area)| area);
            let touched = if dst == number { &to } else { read.unwrap_or(&to) };
            match &mut self.made.global {
                Some(global) => global.extend(touched),
                none => *none = Some(touched.clone()),
            }
        }
        if self.at.tracked || has_view {
            let nests = if self.at.tracked { nests } else { Nests::new() };
            self.made.shadow.push(DefinednessTransfer::Move(Box::new(TransferMove {
                dst,
                to,
                reads,
                nests,
                value,
                combines,
            })));
        }
    }

    pub fn fill(&mut self, dst: usize, rect: Rect, bits: u64) -> Result<(), Failure> {
        let tile = self.tile(dst)?;
        let (layout, width) = (&tile.layout, tile.tile.elem.bits());
        let fills = lower_fill([rect.row, rect.col], [rect.rows, rect.cols], layout, width, bits);
        // Padding is filled where the instruction writes (fixpipe.md 6).
        let cores: &[u8] = match self.inst.attrs.acc_to_vec() {
            Some(AccToVec::SingleModeVec1) => &[1],
            Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN) => &[0, 1],
            _ => &[0],
        };
        for core in cores {
            let dst = operand(dst, *core);
            if self.at.tracked {
                let area = Area::of_runs(fills.iter().map(|f| f.runs()));
                self.made.shadow.push(DefinednessTransfer::Set {
                    operand: dst,
                    area,
                    pattern: Pattern::new(width, bits),
                });
            }
            let steps = fills.iter().cloned().map(|fill| PlanStep::Fill { dst, fill });
            self.steps.extend(steps);
        }
        Ok(())
    }

    /// A buffer into a conv tile: dense on the tile's side, as the view says on the other (tile-model.md 7).
    fn load_conv(&mut self, dst: usize, elements: u64) -> Result<(), Failure> {
        let view = self.inst.global.as_ref().ok_or_else(|| missing("view of global memory"))?;
        let from = match view.dims.is_empty() {
            true => Layout::row_major(1, elements, elements),
            false => view.layout().ok_or_else(|| missing("view with known extents"))?,
        };
        let (rows, cols) = (from.rows(), from.cols());
        let to = Layout::row_major(rows, cols, cols);
        let nests = lower_copy([rows, cols], &from, &to, view.elem.bits());
        self.copy(self.global_number(), operand(dst, 0), nests);
        Ok(())
    }
}

/// Bytes from one row to the next.
fn row_pitch(tile: &TileArg) -> u64 {
    tile.tile.elem.bytes_of(tile.layout.offset(1, 0).max(0) as u64)
}

/// The bytes of a rectangle of a tile.
fn rect_area(tile: &TileArg, rect: Rect) -> Area {
    let fills = lower_fill([rect.row, rect.col], [rect.rows, rect.cols], &tile.layout, tile.tile.elem.bits(), 0);
    Area::of_runs(fills.iter().map(|f| f.runs()))
}

/// The bytes of a tile's declared area.
pub fn declared_area(tile: &TileArg) -> Area {
    if tile.layout == tile.tile.layout() {
        return Area::range(0, tile.tile.bytes());
    }
    rect_area(tile, Rect { row: 0, col: 0, rows: tile.tile.rows, cols: tile.tile.cols })
}

/// The bytes of a declared area in order, as one row; a view keeps its source's pitch between the lines.
pub fn byte_rows(tile: &TileArg) -> Layout {
    let bytes = tile.tile.bytes();
    if tile.layout == tile.tile.layout() {
        return Layout::row_major(1, bytes, bytes);
    }
    let (lines, stride) = match tile.tile.blayout {
        BLayout::RowMajor => (tile.tile.rows, tile.layout.offset(1, 0)),
        BLayout::ColMajor => (tile.tile.cols, tile.layout.offset(0, 1)),
    };
    let line = bytes / lines.max(1);
    let pitch = tile.tile.elem.bytes_of(stride.max(0) as u64);
    Layout { row: Axis::linear(1, 0), col: Axis::boxed(bytes, line, pitch as i64, 1) }
}
