//! TIMG2COL (ops.md 7).

use super::*;
use tessera_isa::sem::Img2col;

pub(super) fn check(inst: &Inst) -> Option<Fault> {
    let Some(conv) = inst.conv else {
        let what = format!("the source of TIMG2COL is a conv tile, and this is {}", inst.src()?.tile);
        return broken(inst, Role::Src, "timg2col-loc", what, "use a !pto.conv_tile<mat, NC1HWC0, …>");
    };
    signature::check(inst)
        .or_else(|| c0(&conv))
        .or_else(|| config(inst))
        .or_else(|| fmap(inst, &conv))
        .or_else(|| empty(inst, &conv))
        .or_else(|| fixpipe::exact("pad_value", &inst.attrs.pad_value()?, conv.elem))
}

fn c0(conv: &ConvType) -> Option<Fault> {
    let [.., c0] = conv.dims;
    let bytes = conv.elem.bytes_of(c0);
    if bytes == 32 || (c0 == 4 && conv.elem.bits() == 16) {
        return None;
    }
    let what = format!("C0 = {c0} {} are {bytes} bytes, and a block is 32", conv.elem);
    Some(Fault::new("timg2col-c0", what).help(format!("C0 is {}", conv.elem.c0())))
}

fn config(inst: &Inst) -> Option<Fault> {
    let attrs = &inst.attrs;
    let fault = |what: String, help: String| Some(Fault::new("timg2col-config", what).help(help));
    let Some(kernel) = attrs.kernel() else {
        return fault("TIMG2COL needs the size of its kernel".into(), "add kernel = [h, w]".into());
    };
    let ranges: [(&str, &[i64], i64, i64); 4] = [
        ("kernel", &kernel, 1, 511),
        ("stride", &attrs.stride(), 1, 255),
        ("dilation", &attrs.dilation(), 1, 255),
        ("pad", &attrs.pad(), 0, 255),
    ];
    for (name, values, low, high) in ranges {
        if let Some(v) = values.iter().find(|v| **v < low || **v > high) {
            let what = format!("{name} = {v} is outside {low}…{high}");
            return fault(what, format!("{name} is {low} to {high} in every direction"));
        }
    }
    for role in [Role::PosM, Role::PosK] {
        if let Some(v) = inst.index(role).filter(|v| *v < 0) {
            return fault(format!("{role} = {v} is no position"), format!("{role} is at least 0"));
        }
    }
    None
}

fn fmap(inst: &Inst, conv: &ConvType) -> Option<Fault> {
    let [_, _, _, h, w, _] = conv.dims;
    let [y, x] = inst.attrs.fmap().filter(|given| given.map(i128::from) != [h, w].map(i128::from))?;
    let what = format!("fmap = [{y}, {x}], and the conv tile is {h}x{w}");
    Some(Fault::new("timg2col-fmap", what).help(format!("fmap = [{h}, {w}], or leave it out")))
}

fn empty(inst: &Inst, conv: &ConvType) -> Option<Fault> {
    let unsigned = |v: [i64; 2]| v.map(|v| u64::try_from(v).unwrap_or(0));
    let attrs = &inst.attrs;
    let conv = Img2col {
        image: *conv,
        kernel: unsigned(attrs.kernel()?),
        stride: unsigned(attrs.stride()),
        dilation: unsigned(attrs.dilation()),
        pad: attrs.pad().map(|v| u64::try_from(v).unwrap_or(0)),
        pos_m: 0,
        pos_k: 0,
        pad_bits: 0,
        rows: 0,
        cols: 0,
    };
    if conv.output().is_some() {
        return None;
    }
    let [_, _, _, h, w, _] = conv.image.dims;
    let [left, right, top, bottom] = conv.pad;
    let span = |axis: usize| conv.dilation[axis] * (conv.kernel[axis].saturating_sub(1)) + 1;
    let (rows, cols) = (h.saturating_add(top + bottom), w.saturating_add(left + right));
    let (y, x) = (span(0), span(1));
    let what = format!("the kernel spans {y}x{x} and the padded image is {rows}x{cols}, so there is no output");
    Some(Fault::new("timg2col-empty", what).help("pad the image, or use a smaller kernel or dilation"))
}
