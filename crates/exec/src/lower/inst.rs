//! From the steps of an instruction to nests, fills and defined bits.

use crate::defined::Area;
use crate::defined::Usual;
use crate::kernels::{Conversion, Params};
use crate::lower::{Failure, FromTile, ParamSource, Places, Prepared, Shadow, ShadowMove, area, operand, refuse};
use crate::nest::{self, Bits, Nest, Plan, Side as NestSide, lower_fill};
use smallvec::SmallVec;
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AccToVec, Inst, TileArg};
use tessera_isa::layout::Layout;
use tessera_isa::sem::{Apply, Arg, Fixpipe, Func, Map, Rect, Side, Step};
use tessera_isa::tile::BLayout;

/// Steps that are being lowered.
pub(crate) struct Lowering<'a> {
    pub inst: &'a Inst,
    tracked: bool,
    pub steps: Vec<nest::Step>,
    pub shadow: SmallVec<[Shadow; 2]>,
    params: ParamSource,
    global: Option<Area>,
}

/// The layout, element and number of one side of a move.
struct Operand {
    number: u8,
    layout: Layout,
    elem: Elem,
}

impl Prepared {
    /// Lowers these steps of an instruction.
    pub(crate) fn of_steps(inst: &Inst, steps: &[Step], at: Places<'_>) -> Result<Self, Failure> {
        let mut lowering = Lowering {
            inst,
            tracked: at.tracked,
            steps: Vec::new(),
            shadow: SmallVec::new(),
            params: ParamSource::Fixed(Params::default()),
            global: None,
        };
        for step in steps {
            lowering.step(step)?;
        }
        let places = Prepared::all_places(at);
        let view = at.global.map(|_| places.len() - 1);
        let usual = match at.tracked {
            true => Usual::new(&lowering.shadow, &places, view),
            false => Usual::default(),
        };
        Ok(Prepared {
            plan: Plan::new(lowering.steps),
            places,
            usual,
            shadow: lowering.shadow,
            params: lowering.params,
            joined: None,
            global: lowering.global,
        })
    }
}

fn missing(what: &str) -> Failure {
    Box::new(Diagnostic::error("operand-count", format!("the instruction has no {what}; give it one")))
}

fn nest_map(map: Map) -> nest::Map {
    nest::Map { origin: map.origin, step: map.step }
}

fn whole(rows: u64, cols: u64) -> nest::Move {
    nest::Move { rows, cols, src: nest::Map::IDENTITY, dst: nest::Map::IDENTITY }
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
            Step::Clobber { dst, core, rect } => {
                if self.tracked {
                    let tile = self.tile(*dst)?;
                    let rect = rect.clip(tile.tile.rows, tile.tile.cols);
                    let area = rect_area(tile, rect);
                    let operand = operand(*dst, *core);
                    self.shadow.push(Shadow::Clear { operand, area });
                }
            }
            Step::Scratch { tile: index } => {
                if self.tracked {
                    let area = declared_area(self.tile(*index)?);
                    let operand = operand(*index, 0);
                    self.shadow.push(Shadow::Clear { operand, area });
                }
            }
            Step::Apply(apply) => self.applied(apply)?,
            Step::Reduce(_) | Step::Gather { .. } | Step::Join => return Err(missing("step that can run")),
            Step::Fill { dst, rect, bits } => self.fill(*dst, *rect, *bits)?,
            Step::Bytes { src, dst, len } => {
                let from = byte_rows(self.tile(*src)?);
                let to = byte_rows(self.tile(*dst)?);
                let nests = nest::lower(&whole(1, *len), &from, &to, Bits::same(8));
                self.copy(operand(*src, 0), operand(*dst, 0), nests);
            }
            Step::LoadConv { dst, elements } => self.load_conv(*dst, *elements)?,
            Step::Img2col { src, dst, conv } => self.img2col(*src, *dst, conv)?,
        }
        Ok(())
    }

    fn applied(&mut self, apply: &Apply) -> Result<(), Failure> {
        let [Arg::Element(side, map), params @ ..] = apply.args.as_slice() else {
            return Err(missing("element to move"));
        };
        let (from, to) = (self.side(*side, 0)?, self.side(apply.dst.0, apply.core)?);
        let [rows, cols] = apply.extent;
        let mv = nest::Move { rows, cols, src: nest_map(*map), dst: nest_map(apply.dst.1) };
        let bits = Bits { src: from.elem.bits(), dst: to.elem.bits() };
        let plain = || nest::lower(&mv, &from.layout, &to.layout, bits);
        match apply.func {
            Func::Convert => {
                let conversion = Conversion::Value { src: from.elem, dst: to.elem };
                self.convert(from.number, to.number, plain(), conversion);
            }
            Func::Fixpipe { relu, hardware_rounding, quant } => {
                let nests = match params.first().zip(quant) {
                    Some((Arg::Element(Side::Tile(tile), at), _)) => {
                        // An empty window asks for no parameters.
                        let count = if rows == 0 { 0 } else { cols };
                        self.params_of_tile(*tile, at.origin[1], count, from.elem, to.elem)?;
                        nest::lower_with_params(&mv, &from.layout, &to.layout, bits, 0)
                    }
                    Some((Arg::Scalar(bits), quant)) => {
                        let param = quant.param(*bits);
                        let checked = param.check(from.elem, to.elem);
                        checked.map_err(|fault| refuse(fault, *bits, None, to.elem))?;
                        self.params = ParamSource::Fixed(Params::new([param]));
                        plain()
                    }
                    _ => plain(),
                };
                let fixpipe = Fixpipe { src: from.elem, dst: to.elem, relu, hardware_rounding };
                self.convert(from.number, to.number, nests, Conversion::Fixpipe(fixpipe));
            }
            _ => self.copy(from.number, to.number, plain()),
        }
        Ok(())
    }

    /// The quantization parameters are those of a tile, one for each column.
    fn params_of_tile(&mut self, tile: usize, first: u64, count: u64, src: Elem, dst: Elem) -> Result<(), Failure> {
        let offset = self.tile(tile)?.layout.offset(0, first).max(0) as usize * 8;
        self.params = ParamSource::Tile(Box::new(FromTile {
            operand: operand(tile, 0),
            offset,
            first,
            count: count as usize,
            src,
            dst,
            bytes: Vec::new(),
            params: Params::default(),
        }));
        Ok(())
    }

    pub(crate) fn copy(&mut self, src: u8, dst: u8, nests: SmallVec<[Nest; 4]>) {
        for nest in &nests {
            let nest = nest.clone();
            self.steps.push(nest::Step::Copy { src, dst, nest });
        }
        self.shadow_move(src, dst, nests, false);
    }

    fn convert(&mut self, src: u8, dst: u8, nests: SmallVec<[Nest; 4]>, conversion: Conversion) {
        for nest in &nests {
            self.steps.push(nest::Step::Convert { src, dst, nest: nest.clone(), conversion });
        }
        self.shadow_move(src, dst, nests, true);
    }

    fn shadow_move(&mut self, src: u8, dst: u8, nests: SmallVec<[Nest; 4]>, by_element: bool) {
        let number = self.global_number();
        let has_view = self.inst.global.is_some() && (src == number || dst == number);
        let from = area(&nests, NestSide::Source, self.tracked || (has_view && src == number));
        let to = area(&nests, NestSide::Destination, self.tracked || (has_view && dst == number));
        if has_view {
            self.global = Some(if dst == number { to.clone() } else { from.clone() });
        }
        if self.tracked || has_view {
            self.shadow.push(Shadow::Move(Box::new(ShadowMove {
                src,
                dst,
                from,
                to,
                nests: if self.tracked { nests } else { SmallVec::new() },
                by_element,
            })));
        }
    }

    pub(crate) fn fill(&mut self, dst: usize, rect: Rect, bits: u64) -> Result<(), Failure> {
        let tile = self.tile(dst)?;
        let (layout, width) = (&tile.layout, tile.tile.elem.bits());
        let fills = lower_fill([rect.row, rect.col], rect.rows, rect.cols, layout, width, bits);
        // Padding is filled where the instruction writes (fixpipe.md 6).
        let cores: &[u8] = match self.inst.attrs.acc_to_vec() {
            Some(AccToVec::SingleModeVec1) => &[1],
            Some(AccToVec::DualModeSplitM | AccToVec::DualModeSplitN) => &[0, 1],
            _ => &[0],
        };
        for core in cores {
            let dst = operand(dst, *core);
            if self.tracked {
                let area = Area::of_runs(fills.iter().map(|f| f.runs()));
                self.shadow.push(Shadow::Set { operand: dst, area });
            }
            let steps = fills.iter().cloned().map(|fill| nest::Step::Fill { dst, fill });
            self.steps.extend(steps);
        }
        Ok(())
    }

    /// A buffer into a conv tile: dense on the tile's side, as the view says on the other (tile-model.md 7).
    fn load_conv(&mut self, dst: usize, elements: u64) -> Result<(), Failure> {
        let view = self.inst.global.as_ref().ok_or_else(|| missing("view of global memory"))?;
        let dense = || Layout::row_major(1, elements, elements);
        let from = if view.dims.is_empty() {
            dense()
        } else {
            view.layout().ok_or_else(|| missing("view with known extents"))?
        };
        let (rows, cols) = (from.rows(), from.cols());
        let to = Layout::row_major(rows, cols, cols);
        let nests = nest::lower(&whole(rows, cols), &from, &to, Bits::same(view.elem.bits()));
        self.copy(self.global_number(), operand(dst, 0), nests);
        Ok(())
    }
}

/// The bytes of a rectangle of a tile.
fn rect_area(tile: &TileArg, rect: Rect) -> Area {
    let fills = lower_fill([rect.row, rect.col], rect.rows, rect.cols, &tile.layout, tile.tile.elem.bits(), 0);
    Area::of_runs(fills.iter().map(|f| f.runs()))
}

/// The bytes of a tile's declared area.
pub(crate) fn declared_area(tile: &TileArg) -> Area {
    let (rows, cols) = (tile.tile.rows, tile.tile.cols);
    let whole = Rect { row: 0, col: 0, rows, cols };
    if tile.layout == tile.tile.layout() {
        return Area::range(0, tile.tile.bytes());
    }
    rect_area(tile, whole)
}

/// The bytes of a declared area in order, as one row; a view keeps its source's pitch between the lines.
pub(crate) fn byte_rows(tile: &TileArg) -> Layout {
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
    Layout {
        row: tessera_isa::layout::Axis::linear(1, 0),
        col: tessera_isa::layout::Axis::boxed(bytes, line, pitch as i64, 1),
    }
}
