//! Conv tiles: TIMG2COL takes its configuration from the fields of the tile (cpp.md 5).

use crate::{Emitted, Emitter, cannot, words};
use tessera_ir::{Op, Type, ValueId};
use tessera_isa::inst::{AttrValue, ConvType};
use tessera_isa::ops::{AttrName, Role, Text};

/// The variables that hold what `setfmatrix` and `set_img2col_padding` left.
const PADS: &str = "img2col_pads";
const PAD_VALUE: &str = "img2col_pad_value";

impl Emitter<'_> {
    fn conv_type(&self, op: &Op, value: ValueId) -> Emitted<ConvType> {
        match self.ty(value) {
            Type::Conv(conv) => Ok(*conv),
            _ => Err(cannot(op.span, "TIMG2COL of a tile that is no conv tile", "use a conv tile")),
        }
    }

    /// Whether an operation of the function sets padding for later TIMG2COLs.
    fn has_padding(&self, wanted: Text) -> bool {
        let sets = |op: &Op| op.opcode().is_some_and(|o| o.info().text == wanted);
        let is_set = |op: &Op| sets(op) && (wanted == Text::Value || op.known_attrs().get(AttrName::Pad).is_some());
        self.func.ops.iter().any(is_set)
    }

    /// Variables for configuration that persists; the function begins with the default (ops.md 7).
    pub(crate) fn img2col_state(&mut self) {
        if self.has_padding(Text::Attributes) {
            self.line(&format!("[[maybe_unused]] uint8_t {PADS}[4] = {{0, 0, 0, 0}};"));
        }
        if self.has_padding(Text::Value) {
            self.line(&format!("[[maybe_unused]] float {PAD_VALUE} = 0.0f;"));
        }
    }

    /// `setfmatrix`: the size of the image is the conv tile's own, so only the padding is new.
    pub(crate) fn set_fmatrix(&mut self, op: &Op) {
        if let Some(AttrValue::Ints(pads)) = op.known_attrs().get(AttrName::Pad) {
            for (n, pad) in pads.iter().enumerate() {
                self.line(&format!("{PADS}[{n}] = {pad};"));
            }
        }
    }

    pub(crate) fn set_padding(&mut self, op: &Op) {
        let given = op.operands.first().map(|o| self.signed_or_not(o.arg));
        let value = given.or_else(|| op.known_attrs().pad_value().map(|number| words::number(&number)));
        if let Some(value) = value {
            self.line(&format!("{PAD_VALUE} = static_cast<float>({value});"));
        }
    }

    pub(crate) fn img2col(&mut self, op: &Op) -> Emitted<()> {
        let (dst, src) = (self.tile(op, Role::Dst)?, self.tile(op, Role::Src)?);
        let Some(value) = self.operand(op, Role::Src) else { return Ok(()) };
        let conv = self.conv_type(op, value)?;
        let attrs = op.known_attrs();
        let [_, _, _, h, w, _] = conv.dims;
        let kernel =
            attrs.kernel().ok_or_else(|| cannot(op.span, "TIMG2COL without a kernel", "write kernel = [h, w]"))?;
        let mut fields = vec![("FmapH", h as i64), ("FmapW", w as i64), ("FilterH", kernel[0]), ("FilterW", kernel[1])];
        let (stride, dilation) = (attrs.stride(), attrs.dilation());
        fields.extend([("StrideH", stride[0]), ("StrideW", stride[1])]);
        fields.extend([("DilationH", dilation[0]), ("DilationW", dilation[1])]);
        for (field, n) in fields {
            self.line(&format!("{src}.Set{field}({n});"));
        }
        let pads: [String; 4] = match attrs.get(AttrName::Pad) {
            Some(AttrValue::Ints(pads)) => pads.map(|n| n.to_string()),
            _ if self.has_padding(Text::Attributes) => [0, 1, 2, 3].map(|n| format!("{PADS}[{n}]")),
            _ => [0; 4].map(|n: u8| n.to_string()),
        };
        for (n, pad) in pads.iter().enumerate() {
            self.line(&format!("{src}.SetPadList({n}, {pad});"));
        }
        let elem = conv.elem.cpp();
        let value = match attrs.get(AttrName::PadValue) {
            Some(_) => attrs.pad_value().map(|number| words::number(&number)).unwrap_or_else(|| "0".into()),
            None if self.has_padding(Text::Value) => PAD_VALUE.into(),
            None => "0".into(),
        };
        self.line(&format!("{src}.SetPadValue(static_cast<{elem}>({value}));"));
        self.line(&format!("SETFMATRIX({src});"));
        self.line(&format!("SET_IMG2COL_PADDING({src});"));
        let [m, k] = [Role::PosM, Role::PosK].map(|role| self.index(op, role));
        self.line(&format!("TIMG2COL({dst}, {src}, {m}, {k});"));
        Ok(())
    }

    /// The declaration of a dense view of a conv tile's array at a pointer.
    pub(crate) fn view_of_conv(&mut self, conv: &ConvType, data: &str) -> String {
        let [n, d, c1, h, w, c0] = conv.dims;
        // With depth, C0 lies dense behind the last of the five dimensions.
        let (shape, unit) = if conv.has_depth { ([n, d, c1, h, w], c0) } else { ([n, c1, h, w, c0], 1) };
        let mut strides = [unit; 5];
        for k in (0..4).rev() {
            strides[k] = strides[k + 1].saturating_mul(shape[k + 1]);
        }
        let list = |all: [u64; 5]| all.map(|n| n.to_string()).join(", ");
        let name = self.names.fresh("view");
        let (elem, format) = (conv.elem.cpp(), conv.format());
        self.line(&format!(
            "GlobalTensor<{elem}, pto::Shape<{}>, pto::Stride<{}>, Layout::{format}> {name}({data});",
            list(shape),
            list(strides)
        ));
        name
    }
}
