//! From the steps of an instruction to nests, fills and defined bits.

use crate::defined::Area;
use crate::defined::Usual;
use crate::kernels::{Conversion, Params};
use crate::lower::{Failure, Places, Prepared, Shadow, ShadowMove, area, operand};
use crate::nest::{self, Bits, Nest, Plan, Side as NestSide, lower_fill};
use crate::values::fixpipe::Fixpipe;
use crate::values::quant::{FromTile, ParamSource, refuse};
use smallvec::SmallVec;
use tessera_isa::codec::{Number, QuantParam};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AccToVec, Inst, TileArg};
use tessera_isa::layout::Layout;
use tessera_isa::maps::{How, Map, Move, Rect, Side, Step};
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Loc};

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

fn nest_move(mv: &Move) -> nest::Move {
    nest::Move { rows: mv.rows, cols: mv.cols, src: nest_map(mv.src), dst: nest_map(mv.dst) }
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
            Step::Move { src, dst, core, how, geometry } => {
                let (from, to) = (self.side(*src, 0)?, self.side(*dst, *core)?);
                self.moved(&from, &to, *how, geometry)?;
            }
            Step::Fill { dst, rect, bits } => self.fill(*dst, *rect, *bits)?,
            Step::Bytes { src, dst, len } => {
                let from = byte_rows(self.tile(*src)?);
                let to = byte_rows(self.tile(*dst)?);
                let bytes = Move { rows: 1, cols: *len, src: Map::at(0, 0), dst: Map::at(0, 0) };
                let nests = nest::lower(&nest_move(&bytes), &from, &to, Bits::same(8));
                self.copy(operand(*src, 0), operand(*dst, 0), nests);
            }
            Step::LoadConv { dst, elements } => self.load_conv(*dst, *elements)?,
            Step::Img2col { src, dst, conv } => self.img2col(*src, *dst, conv)?,
        }
        Ok(())
    }

    fn moved(&mut self, from: &Operand, to: &Operand, how: How, geometry: &Move) -> Result<(), Failure> {
        let bits = Bits { src: from.elem.bits(), dst: to.elem.bits() };
        let mv = nest_move(geometry);
        let plain = |bits| nest::lower(&mv, &from.layout, &to.layout, bits);
        match how {
            How::Bits if self.canonical_bias(from.elem, to.elem) => {
                // Multiplied by one, a number stays what it is and a NaN becomes the canonical one.
                let one = QuantParam::scalar(u64::from(1f32.to_bits()));
                self.params = ParamSource::Fixed(Params::new([one]));
                let canonical =
                    Conversion::Fixpipe(Fixpipe { src: from.elem, dst: to.elem, relu: false, hardware_rounding: true });
                self.convert(from.number, to.number, plain(bits), canonical);
            }
            How::Bits | How::LowBytes => self.copy(from.number, to.number, plain(bits)),
            How::Convert => {
                let conversion = Conversion::Value { src: from.elem, dst: to.elem };
                self.convert(from.number, to.number, plain(bits), conversion);
            }
            How::Fixpipe { first } => {
                let fixpipe = Fixpipe {
                    src: from.elem,
                    dst: to.elem,
                    relu: self.inst.relu(),
                    hardware_rounding: self.inst.profile != Profile::Cpu,
                };
                // An empty window asks for no parameters.
                let columns = if geometry.rows == 0 { 0 } else { geometry.cols };
                let per_column = self.quantization(first, columns, from.elem, to.elem)?;
                let quantized = per_column || !self.params.loaded().is_empty();
                if from.elem == to.elem && !fixpipe.relu && !quantized {
                    // Bits are unchanged (fixpipe.md 4), so this is a copy.
                    self.copy(from.number, to.number, plain(bits));
                    return Ok(());
                }
                let nests = if per_column {
                    nest::lower_with_params(&mv, &from.layout, &to.layout, bits, 0)
                } else {
                    plain(bits)
                };
                self.convert(from.number, to.number, nests, Conversion::Fixpipe(fixpipe));
            }
        }
        Ok(())
    }

    /// Does hardware convert f32 to f32 on the way to the bias table (`tmov-bias`)?
    fn canonical_bias(&self, from: Elem, to: Elem) -> bool {
        let is_move = matches!(self.inst.op, Opcode::Tmov | Opcode::TmovFp);
        let into_bias = self.inst.dst().is_some_and(|d| d.tile.loc == Loc::Bias);
        (from, to) == (Elem::F32, Elem::F32) && is_move && into_bias && self.inst.profile != Profile::Cpu
    }

    /// Finds the quantization parameters; tells whether there is one for each column.
    fn quantization(&mut self, first: u64, cols: u64, src: Elem, dst: Elem) -> Result<bool, Failure> {
        if let Some(index) = self.inst.tile_index(Role::Fp) {
            let offset = self.tile(index)?.layout.offset(0, first).max(0) as usize * 8;
            self.params = ParamSource::Tile(Box::new(FromTile {
                operand: operand(index, 0),
                offset,
                first,
                count: cols as usize,
                src,
                dst,
                bytes: Vec::new(),
                params: Params::default(),
            }));
            return Ok(true);
        }
        if let Some(Number::Int(value)) = self.inst.scalar(Role::Quant) {
            let bits = value as u64;
            let param = QuantParam::scalar(bits);
            param.check(src, dst).map_err(|fault| refuse(fault, bits, None, dst))?;
            self.params = ParamSource::Fixed(Params::new([param]));
        }
        Ok(false)
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
        let all = Move { rows, cols, src: Map::at(0, 0), dst: Map::at(0, 0) };
        let nests = nest::lower(&nest_move(&all), &from, &to, Bits::same(view.elem.bits()));
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
