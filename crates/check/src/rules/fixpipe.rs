//! Out of an accumulator: `acc-*`, `quant-*`, `fp-*` (fixpipe.md 1, 3, 6), and `fp-value` of every fill value.

use super::tfillpad::number;
use super::*;
use tessera_isa::codec::{QuantFault, QuantParam};
use tessera_isa::inst::{AccToVec, Root};
use tessera_isa::profile::FP_ALIGN;

/// Whether the instruction's AccToVecMode has a meaning: Acc→Vec, not on a2a3.
pub(super) fn mode_applies(inst: &Inst) -> bool {
    inst.attrs.acc_to_vec().is_some()
        && inst.profile != Profile::A2a3
        && inst.is_fixpipe()
        && inst.dst().is_some_and(|d| d.tile.loc == Loc::Vec)
}

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let (src, dst, to) = (inst.src()?, inst.dst(), inst.written_elem()?);
    if !inst.is_fixpipe() || !matches!(src.tile.elem, Elem::F32 | Elem::I32) && src.tile.loc == Loc::Mat {
        return source(inst, src);
    }
    if src.tile.loc == Loc::Mat && inst.attrs.acc_to_vec().is_some() {
        return source(inst, src);
    }
    saturation(inst)
        .or_else(|| mode(inst, dst))
        .or_else(|| mode_split(inst, src, dst?))
        .or_else(|| scalar_param(inst, src, to))
        .or_else(|| fp_tile(inst, src, dst))
}

pub(super) fn fill_value(inst: &Inst) -> Option<Fault> {
    exact("the fill value", &inst.scalar(Role::Fill)?, inst.dst()?.tile.elem)
}

/// `quant-source`: relu, quantization and AccToVecMode are the accumulator's.
fn source(inst: &Inst, src: &TileArg) -> Option<Fault> {
    let what = match inst.form {
        _ if inst.is_fixpipe() && inst.attrs.acc_to_vec().is_some() => "an AccToVecMode",
        Form::ScalarQuant => "a quantization parameter",
        Form::VectorQuant => "a tile of quantization parameters",
        _ if inst.relu() => "ReLU",
        _ if inst.attrs.acc_to_vec().is_some() => "an AccToVecMode",
        _ => return None,
    };
    let message = format!("{what} belongs to an Acc source, and this one is in {}", src.tile.loc.cpp());
    broken(inst, Role::Src, "quant-source", message, "leave it out")
}

/// Infinities saturate where cpu quantizes (cpp.md 8).
fn saturation(inst: &Inst) -> Option<Fault> {
    let is_quantized = matches!(inst.form, Form::ScalarQuant | Form::VectorQuant);
    if !inst.attrs.saturate_inf() || is_quantized && inst.profile == Profile::Cpu {
        return None;
    }
    let what =
        format!("saturate_inf belongs to quantization on cpu, and this is {} on {}", inst.form.name(), inst.profile);
    broken(inst, Role::Src, "quant-source", what, "leave it out")
}

fn mode(inst: &Inst, dst: Option<&TileArg>) -> Option<Fault> {
    let mode = inst.attrs.acc_to_vec()?;
    let what = if inst.profile == Profile::A2a3 {
        format!("a2a3 has no accToVecMode, and this is {}", mode.cpp())
    } else if let Some(other) = dst.map_or(Some("GM"), |d| Some(d.tile.loc.cpp()).filter(|_| d.tile.loc != Loc::Vec)) {
        format!("{} belongs to Acc→Vec, and this is Acc→{other}", mode.cpp())
    } else {
        return None;
    };
    Some(Fault::new("acc-mode", what).help("leave out accToVecMode"))
}

/// Dual modes halve an even extent, keep the type and write no DN tile (PTO ISA, TINSERT page, A5 checks; fixpipe.md 6).
fn mode_split(inst: &Inst, src: &TileArg, dst: &TileArg) -> Option<Fault> {
    let mode = inst.attrs.acc_to_vec()?;
    let axis = match mode {
        AccToVec::DualModeSplitM => 0,
        AccToVec::DualModeSplitN => 1,
        _ => return None,
    };
    let name = mode.cpp();
    let fault = |what: String, help: &str| Some(Fault::new("acc-mode-split", what).help(help));
    if matches!(inst.form, Form::ScalarQuant | Form::VectorQuant) {
        return fault(format!("{name} does not quantize"), "use a single mode, or no quantization");
    }
    let (s, d) = (src.tile.elem, dst.tile.elem);
    if s != d {
        let what = format!("{name} keeps the type, and this is {s}→{d}");
        return fault(what, "use a single mode, or a destination of the source's type");
    }
    if dst.tile.layout_name() == LayoutName::Dn {
        return fault(format!("{name} writes no DN tile"), "use an ND or NZ destination, or a single mode");
    }
    let extent = if by_destination(inst) { dst.valid[axis].map(|v| v.saturating_mul(2)) } else { src.valid[axis] }?;
    let word = ["rows", "columns"].get(axis).copied().unwrap_or("");
    if extent % 2 != 0 {
        return fault(format!("{name} halves the {word}, and {extent} is odd"), "make the extent even");
    }
    if axis == 1 && extent % 32 != 0 {
        let what = format!("{name} needs a multiple of 32 columns, and the source window has {extent}");
        return fault(what, "use DualModeSplitM, or another number of columns");
    }
    None
}

/// Whether the destination, not the source, determines the size of the window (TEXTRACT).
fn by_destination(inst: &Inst) -> bool {
    !inst.op.form(inst.form).and_then(|f| f.operand(Role::Src)).is_some_and(|o| o.valid.has(inst.profile))
}

/// `quant-sign` and `quant-scale` of the scalar form, where the parameter is known.
fn scalar_param(inst: &Inst, src: &TileArg, to: Elem) -> Option<Fault> {
    let Number::Int(bits) = inst.scalar(Role::Quant).filter(|_| inst.form == Form::ScalarQuant)? else {
        return None;
    };
    let param = QuantParam::scalar(bits as u64);
    let broken = param.check(src.tile.elem, to).err()?;
    Some(param_fault(&param, broken, to, "the parameter"))
}

fn param_fault(param: &QuantParam, broken: QuantFault, dst: Elem, name: &str) -> Fault {
    match broken {
        QuantFault::Sign => {
            let (says, set) = if param.signed { ("signed", "clear") } else { ("unsigned", "set") };
            let what = format!("bit 46 of {name} says {says}, and the destination is {dst}");
            Fault::new(broken.rule(), what).help(format!("{set} bit 46"))
        }
        QuantFault::Scale => {
            let what = format!("the scale of {name} is {}", param.scale);
            Fault::new(broken.rule(), what).help("bits 31:0 are a finite binary32 value")
        }
    }
}

/// `quant-sign` and `quant-scale` of the vector form: the parameters of the written columns, as `fp` holds them.
pub fn check_quant_params(inst: &Inst, params: &[u64]) -> Option<Fault> {
    let (src, dst) = (inst.src()?.tile.elem, inst.written_elem()?);
    let broken = params.iter().enumerate().find_map(|(j, bits)| {
        let param = QuantParam::vector(*bits);
        let broken = param.check(src, dst).err()?;
        Some(param_fault(&param, broken, dst, &format!("the parameter of column {j}")))
    })?;
    Some(about(inst, Role::Fp, broken))
}

/// `fp-operand`, `fp-align`, `fp-short`.
fn fp_tile(inst: &Inst, src: &TileArg, dst: Option<&TileArg>) -> Option<Fault> {
    let fp = inst.tile(Role::Fp).filter(|_| inst.form == Form::VectorQuant)?;
    let tile = &fp.tile;
    // On cpu, the parameters of a quantization out of Mat may be in Mat (fixpipe.md 1).
    let is_place = tile.loc == Loc::Scaling || tile.loc == Loc::Mat && src.tile.loc == Loc::Mat;
    let is_params = is_place
        && matches!(tile.elem, Elem::U64 | Elem::I64)
        && tile.rows == 1
        && tile.layout_name() == LayoutName::Nd;
    if !is_params {
        let what = format!("fp is an ND row of u64 or i64 in Scaling, and this is {tile}");
        return broken(inst, Role::Fp, "fp-operand", what, format!("use scaling 1x{}xu64", tile.cols));
    }
    // Automatic placement aligns whole tiles, so an offset counts there too.
    let aligned = fp.place.filter(|p| p.root != Root::Host && tile.loc == Loc::Scaling);
    if let Some(start) = aligned.map(|p| p.start).filter(|start| start % FP_ALIGN != 0) {
        let what = format!("fp lies at {start:#x}, which is no multiple of {FP_ALIGN}");
        return broken(inst, Role::Fp, "fp-align", what, format!("use {:#x}", start / FP_ALIGN * FP_ALIGN));
    }
    let need = if let (Some(dst), true) = (dst, by_destination(inst)) {
        // The source's absolute column (fixpipe.md 1).
        inst.index_u64(Role::Col)?.saturating_add(dst.valid[1]?)
    } else {
        src.valid[1]?
    };
    let have = fp.valid[1].filter(|have| *have < need)?;
    let what = format!("fp has {have} valid parameters, and the columns that are written need {need}");
    broken(inst, Role::Fp, "fp-short", what, format!("give fp {need} valid columns"))
}

/// `fp-value`: a fill value is exact in the element type (ops.md 3.4).
pub(super) fn exact(name: &str, value: &Number, elem: Elem) -> Option<Fault> {
    if elem.encode_exact(value).is_some() {
        return None;
    }
    let what = format!("{name} {} is not a value of {elem}", number(value));
    let (low, high) = elem.range();
    let help = match elem.encode_in_range(value) {
        Some(bits) => format!("the nearest one is {}", number(&elem.decode(bits))),
        None => format!("{elem} goes from {} to {}", number(&low), number(&high)),
    };
    Some(Fault::new("fp-value", what).help(help))
}
