//! The instructions that layout programs need around them (ops.md 10, syntax.md 4).

use super::path::{ALL_LOCS, ANY, ND, NZ, Path, Types, pair, path};
use super::{AttrName, Form, FormInfo, Lay, OpInfo, Pipe, Role};
use crate::profile::Profiles;
use crate::tile::{LayoutName, Loc};

const DN: Lay = Lay::Of(&[LayoutName::Dn]);
const ZN: Lay = Lay::Of(&[LayoutName::Zn]);
const PLAIN: &[Form] = &[Form::Plain];

// The source of TLOAD and the destination of TSTORE are views; their tag nd, dn or nz stands for the layout of that name.
static LOADS: &[Path] = &[
    path(Profiles::CPU, PLAIN, ALL_LOCS, ALL_LOCS, &[ANY], Types::Equal, Pipe::Mte2),
    path(
        Profiles::NPU,
        PLAIN,
        ALL_LOCS,
        &[Loc::Vec],
        &[pair(ND, ND), pair(DN, DN), pair(NZ, NZ)],
        Types::Equal,
        Pipe::Mte2,
    ),
    path(
        Profiles::NPU,
        PLAIN,
        ALL_LOCS,
        &[Loc::Mat],
        &[pair(ND, ND), pair(DN, DN), pair(NZ, NZ), pair(ND, NZ), pair(DN, ZN)],
        Types::Equal,
        Pipe::Mte2,
    ),
];
static STORES: &[Path] = &[
    path(Profiles::CPU, PLAIN, ALL_LOCS, ALL_LOCS, &[ANY], Types::Equal, Pipe::Mte3),
    path(
        Profiles::NPU,
        PLAIN,
        &[Loc::Vec],
        ALL_LOCS,
        &[pair(ND, ND), pair(DN, DN), pair(NZ, NZ)],
        Types::Equal,
        Pipe::Mte3,
    ),
    path(
        Profiles::NPU,
        PLAIN,
        &[Loc::Mat],
        ALL_LOCS,
        &[pair(ND, ND), pair(DN, DN), pair(NZ, NZ), pair(NZ, ND), pair(ZN, DN)],
        Types::Equal,
        Pipe::Mte3,
    ),
];
static VIEWS: &[Path] =
    &[path(Profiles::ALL, PLAIN, ALL_LOCS, ALL_LOCS, &[pair(ND, ND), pair(DN, DN)], Types::Equal, Pipe::S)];

/// An instruction whose text has a shape of its own, without legality of its own.
const fn plain(mnemonic: &'static str, cpp: &'static [&'static str], summary: &'static str, pipe: Pipe) -> OpInfo {
    OpInfo {
        mnemonic,
        aliases: &[],
        cpp,
        summary,
        formula: "",
        forms: &[],
        attrs: &[],
        rules: &[],
        paths: &[],
        pipe,
        source: "ops.md 10; syntax.md 4",
        layout: false,
    }
}

pub(super) static TSUBVIEW: OpInfo = OpInfo {
    formula: "dst(i,j) is src(r+i, c+j), in the same storage",
    forms: &[FormInfo { form: Form::Plain, ins: &[Role::Src, Role::Row, Role::Col], outs: &[Role::Dst] }],
    rules: &["tsubview-window"],
    paths: VIEWS,
    ..plain("tsubview", &["TSUBVIEW"], "A view of a window of a tile; it keeps the source's pitch.", Pipe::S)
};
pub(super) static SUBSET: OpInfo = OpInfo {
    formula: "dst(i,j) is src(r+i, c+j), in the same storage",
    rules: &["tsubview-window"],
    paths: VIEWS,
    ..plain("subset", &["TSUBVIEW"], "A view of a window of a tile; it keeps the source's pitch.", Pipe::S)
};
pub(super) static BITCAST: OpInfo = OpInfo {
    formula: "bytes(dst) = bytes(src), over the declared area",
    forms: &[FormInfo { form: Form::Plain, ins: &[Role::Src], outs: &[Role::Dst] }],
    rules: super::treshape::RULES,
    paths: super::treshape::PATHS,
    source: "ops.md 4",
    ..plain("bitcast", &["TRESHAPE"], "TRESHAPE to another element type with the same rows.", Pipe::S)
};
pub(super) static TLOAD: OpInfo = OpInfo {
    formula: "dst(i,j) = view(i,j) over the valid region; padding is filled where pad is not null",
    forms: &[FormInfo { form: Form::Plain, ins: &[Role::Global], outs: &[Role::Dst] }],
    rules: &["tload-loc", "tload-layout", "tload-dtype", "tload-shape", "gm-bounds"],
    paths: LOADS,
    source: "tile-model.md 7",
    ..plain("tload", &["TLOAD"], "Load a view of global memory into a tile's valid region.", Pipe::Mte2)
};
pub(super) static TSTORE: OpInfo = OpInfo {
    formula: "view(i,j) = src(i,j) over the valid region",
    forms: &[FormInfo { form: Form::Plain, ins: &[Role::Src], outs: &[Role::Global] }],
    rules: &["tstore-loc", "tstore-layout", "tstore-dtype", "tstore-shape", "gm-bounds", "undefined-read"],
    paths: STORES,
    source: "tile-model.md 7",
    ..plain("tstore", &["TSTORE"], "Store a tile's valid region into a view of global memory.", Pipe::Mte3)
};
pub(super) static ALLOC_TILE: OpInfo = OpInfo {
    rules: &["tassign-range", "tassign-align", "valid-range", "capacity"],
    ..plain("alloc_tile", &["Tile"], "A tile, with optional address and run-time valid extents.", Pipe::S)
};
pub(super) static TASSIGN: OpInfo = OpInfo {
    rules: &["tassign-range", "tassign-align"],
    ..plain("tassign", &["TASSIGN"], "Bind a tile to an address; moves no data.", Pipe::S)
};
pub(super) static SET_VALIDSHAPE: OpInfo = OpInfo {
    rules: &["valid-range"],
    ..plain("set_validshape", &["SetValidRow", "SetValidCol"], "Set a dynamic valid region.", Pipe::S)
};
pub(super) static MAKE_TENSOR_VIEW: OpInfo = OpInfo {
    attrs: &[AttrName::Layout],
    ..plain("make_tensor_view", &["GlobalTensor"], "A strided view of global memory, one to five dimensions.", Pipe::S)
};
pub(super) static PARTITION_VIEW: OpInfo =
    OpInfo { rules: &["gm-bounds"], ..plain("partition_view", &[], "A window of a view.", Pipe::S) };
pub(super) static ADDPTR: OpInfo = plain("addptr", &[], "Move a pointer by a number of elements.", Pipe::S);
pub(super) static LOAD_SCALAR: OpInfo = OpInfo {
    rules: &["gm-bounds", "undefined-use"],
    ..plain("load_scalar", &[], "Read one element of global memory.", Pipe::S)
};
pub(super) static STORE_SCALAR: OpInfo =
    OpInfo { rules: &["gm-bounds"], ..plain("store_scalar", &[], "Write one element of global memory.", Pipe::S) };
pub(super) static SETFMATRIX: OpInfo = OpInfo {
    attrs: &[AttrName::Fmap, AttrName::Pad],
    source: "ops.md 7",
    ..plain("setfmatrix", &["SETFMATRIX"], "Image size and padding of later TIMG2COLs.", Pipe::S)
};
pub(super) static SET_IMG2COL_PADDING: OpInfo = OpInfo {
    source: "ops.md 7",
    ..plain("set_img2col_padding", &["SET_IMG2COL_PADDING"], "The pad value of later TIMG2COLs.", Pipe::S)
};
pub(super) static SET_IMG2COL_RPT: OpInfo = OpInfo {
    source: "ops.md 7",
    ..plain("set_img2col_rpt", &["SET_IMG2COL_RPT"], "Accepted, without effect.", Pipe::S)
};
pub(super) static SET_FLAG: OpInfo = plain("set_flag", &[], "Order between two pipes.", Pipe::S);
pub(super) static WAIT_FLAG: OpInfo = plain("wait_flag", &[], "Order between two pipes.", Pipe::S);
pub(super) static RECORD_EVENT: OpInfo = plain("record_event", &[], "Order between pipes.", Pipe::S);
pub(super) static WAIT_EVENT: OpInfo = plain("wait_event", &[], "Order between pipes.", Pipe::S);
pub(super) static BARRIER: OpInfo = plain("barrier", &[], "All pipes finish before the next instruction.", Pipe::S);
pub(super) static TSYNC: OpInfo = plain("tsync", &["TSYNC"], "Wait for events.", Pipe::S);
pub(super) static GET_BLOCK_IDX: OpInfo = plain("get_block_idx", &[], "The number of the running block.", Pipe::S);
pub(super) static GET_BLOCK_NUM: OpInfo = plain("get_block_num", &[], "How many blocks run.", Pipe::S);
pub(super) static TPRINT: OpInfo = OpInfo {
    rules: &["undefined-read"],
    forms: &[FormInfo { form: Form::Plain, ins: &[Role::Tile], outs: &[] }],
    ..plain("tprint", &["TPRINT"], "Print a tile's valid region.", Pipe::S)
};
