//! The instructions that layout programs need around them (ops.md 10, syntax.md 4).

use super::*;

const DN: Lay = Lay::Of(&[LayoutName::Dn]);
const ZN: Lay = Lay::Of(&[LayoutName::Zn]);
const LIKE_THE_VIEW: &[Layouts] = &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ)];
const FROM_THE_VIEW: &[Layouts] = &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ), pair!(ND, NZ), pair!(DN, ZN)];
const TO_THE_VIEW: &[Layouts] = &[pair!(ND, ND), pair!(DN, DN), pair!(NZ, NZ), pair!(NZ, ND), pair!(ZN, DN)];

// The source of TLOAD and the destination of TSTORE are views; their tag nd, dn or nz stands for the layout of that name.
static LOADS: &[Sig] = &[
    flow!(Profiles::CPU, PLAIN, ALL_LOCS, ALL_LOCS, &[ANY], Types::Equal, Pipe::Mte2),
    flow!(Profiles::NPU, PLAIN, ALL_LOCS, &[Loc::Vec], LIKE_THE_VIEW, Types::Equal, Pipe::Mte2),
    flow!(Profiles::NPU, PLAIN, ALL_LOCS, &[Loc::Mat], FROM_THE_VIEW, Types::Equal, Pipe::Mte2),
];
static STORES: &[Sig] = &[
    flow!(Profiles::CPU, PLAIN, NOT_ACC, ALL_LOCS, &[ANY], Types::Equal, Pipe::Mte3),
    // What leaves an accumulator goes through fixpipe, which decides about types when it can run.
    flow!(Profiles::CPU, PLAIN, &[Loc::Acc], ALL_LOCS, &[ANY], Types::Any, Pipe::Mte3),
    flow!(Profiles::NPU, PLAIN, &[Loc::Vec], ALL_LOCS, LIKE_THE_VIEW, Types::Equal, Pipe::Mte3),
    flow!(Profiles::NPU, PLAIN, &[Loc::Mat], ALL_LOCS, TO_THE_VIEW, Types::Equal, Pipe::Mte3),
];
static VIEWS: &[Sig] =
    &[flow!(Profiles::ALL, PLAIN, ALL_LOCS, ALL_LOCS, &[pair!(ND, ND), pair!(DN, DN)], Types::Equal, Pipe::S)];
const WINDOW: Ids = Ids::new("tsubview-window", "tsubview-window", "tsubview-window");

/// What the rows here share.
const BASE: OpInfo = OpInfo {
    family: Family::Support,
    pipe: Pipe::S,
    source: "ops.md 10; syntax.md 4",
    text: Text::AsWritten,
    ..LAYOUT
};

/// An instruction without tiles, operands by form or rules: mnemonic, C++ names, what it is, how it is written.
const fn plain(
    mnemonic: &'static str,
    cpp: &'static [&'static str],
    summary: &'static str,
    sem: Sem,
    text: Text,
) -> OpInfo {
    OpInfo { mnemonic, cpp, summary, sem, text, ..BASE }
}

const VIEW: OpInfo = OpInfo {
    cpp: &["TSUBVIEW"],
    summary: "A view of a window of a tile; it keeps the source's pitch.",
    formula: "dst(i,j) is src(r+i, c+j), in the same storage",
    rules: rules! {
        ALL Window "tsubview-window";
    },
    sigs: VIEWS,
    ids: WINDOW,
    sem: Sem::Binds,
    binds: Some(Bind::Window),
    examples: &[(Role::Src, "!pto.tile<32x64xf16>")],
    ..BASE
};

family! { after layout::END;
    Tsubview => OpInfo {
        mnemonic: "tsubview", text: Text::Forms, forms: &[form!(Plain: Src as read_declared, Row, Col => Dst as view)], ..VIEW
    };
    Subset => OpInfo {
        mnemonic: "subset", text: Text::Subset, forms: &[form!(Plain: Src as read_declared, Row, Col => Dst as view)], ..VIEW
    };
    Bitcast => OpInfo {
        family: Family::Support,
        mnemonic: "bitcast",
        attrs: &[],
        examples: &[(Role::Dst, "!pto.tile<16x32xbf16>")],
        source: "ops.md 4",
        summary: "TRESHAPE to another element type with the same rows.",
        ..treshape::TRESHAPE
    };
    Tload => OpInfo {
        mnemonic: "tload",
        cpp: &["TLOAD"],
        summary: "Load a view of global memory into a tile's valid region.",
        formula: "dst(i,j) = view(i,j) over the valid region; padding is filled where pad is not null",
        text: Text::Forms,
        forms: &[form!(Plain: Global => Dst)],
        rules: rules! {
            ALL Load "tload-loc", "tload-layout", "tload-dtype", "tload-shape", "gm-bounds";
        },
        sigs: LOADS,
        ids: Ids::new("tload-loc", "tload-layout", "tload-dtype"),
        source: "tile-model.md 7",
        pipe: Pipe::Mte2,
        sem: Sem::Moves(sem::load),
        ..BASE
    };
    Tstore => OpInfo {
        mnemonic: "tstore",
        cpp: &["TSTORE"],
        summary: "Store a tile's valid region into a view of global memory.",
        formula: "view(i,j) = src(i,j) over the valid region",
        text: Text::Forms,
        forms: &[form!(Plain: Src => Global)],
        rules: rules! {
            ALL Store "tstore-loc", "tstore-layout", "tstore-dtype", "tstore-shape", "gm-bounds"; ALL AtRun "undefined-read";
        },
        sigs: STORES,
        ids: Ids::new("tstore-loc", "tstore-layout", "tstore-dtype"),
        source: "tile-model.md 7",
        pipe: Pipe::Mte3,
        sem: Sem::Moves(sem::store),
        ..BASE
    };
    AllocTile => OpInfo {
        binds: Some(Bind::New),
        rules: rules! {
            ALL Program "tassign-range", "tassign-align", "valid-range", "capacity";
        },
        ..plain(
            "alloc_tile",
            &["Tile"],
            "A tile, with optional address and run-time valid extents.",
            Sem::Value,
            Text::Alloc,
        )
    };
    Tassign => OpInfo {
        binds: Some(Bind::Address),
        rules: rules! {
            ALL Program "tassign-range", "tassign-align";
        },
        ..plain("tassign", &["TASSIGN"], "Bind a tile to an address; moves no data.", Sem::Binds, Text::Assign)
    };
    SetValidshape => OpInfo {
        rules: rules! {
            ALL Program "valid-range";
        },
        ..plain(
            "set_validshape",
            &["SetValidRow", "SetValidCol"],
            "Set a dynamic valid region.",
            Sem::Resizes,
            Text::SetValid,
        )
    };
    MakeTensorView => OpInfo {
        attrs: &[AttrName::Layout],
        ..plain(
            "make_tensor_view",
            &["GlobalTensor"],
            "A strided view of global memory, one to five dimensions.",
            Sem::Value,
            Text::MakeView,
        )
    };
    PartitionView => OpInfo {
        rules: rules! {
            ALL Program "gm-bounds";
        },
        ..plain("partition_view", &[], "A window of a view.", Sem::Value, Text::Partition)
    };
    Addptr => plain("addptr", &[], "Move a pointer by a number of elements.", Sem::Value, Text::AddPtr);
    LoadScalar => OpInfo {
        rules: rules! {
            ALL Program "gm-bounds"; ALL AtRun "undefined-use";
        },
        ..plain("load_scalar", &[], "Read one element of global memory.", Sem::Loads, Text::LoadScalar)
    };
    StoreScalar => OpInfo {
        rules: rules! {
            ALL Program "gm-bounds";
        },
        ..plain("store_scalar", &[], "Write one element of global memory.", Sem::Stores, Text::StoreScalar)
    };
    Setfmatrix => OpInfo {
        attrs: &[AttrName::Fmap, AttrName::Pad],
        source: "ops.md 7",
        ..plain(
            "setfmatrix",
            &["SETFMATRIX"],
            "Image size and padding of later TIMG2COLs.",
            Sem::Configures,
            Text::Attributes,
        )
    };
    SetImg2colPadding => OpInfo {
        source: "ops.md 7",
        ..plain(
            "set_img2col_padding",
            &["SET_IMG2COL_PADDING"],
            "The pad value of later TIMG2COLs.",
            Sem::Configures,
            Text::Value,
        )
    };
    SetImg2colRpt => OpInfo {
        source: "ops.md 7",
        ..plain(
            "set_img2col_rpt",
            &["SET_IMG2COL_RPT"],
            "Accepted, without effect.",
            Sem::Configures,
            Text::Ignored,
        )
    };
    SetFlag => plain("set_flag", &[], "Order between two pipes.", Sem::Orders, Text::AsWritten);
    WaitFlag => plain("wait_flag", &[], "Order between two pipes.", Sem::Orders, Text::AsWritten);
    RecordEvent => plain("record_event", &[], "Order between pipes.", Sem::Orders, Text::AsWritten);
    WaitEvent => plain("wait_event", &[], "Order between pipes.", Sem::Orders, Text::AsWritten);
    Barrier => plain("barrier", &[], "All pipes finish before the next instruction.", Sem::Orders, Text::AsWritten);
    Tsync => plain("tsync", &["TSYNC"], "Wait for events.", Sem::Orders, Text::AsWritten);
    GetBlockIdx => plain("get_block_idx", &[], "The number of the running block.", Sem::Block, Text::Number);
    GetBlockNum => plain("get_block_num", &[], "How many blocks run.", Sem::Block, Text::Number);
    Tprint => OpInfo {
        rules: rules! {
            ALL AtRun "undefined-read";
        },
        forms: &[form!(Plain: Tile => )],
        ..plain("tprint", &["TPRINT"], "Print a tile's valid region.", Sem::Prints, Text::Forms)
    };
}
