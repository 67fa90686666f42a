//! The instructions that layout programs need around them (ops.md 10, syntax.md 4).

use super::*;

static VIEWS: &[Sig] = &[flow!(Profiles::ALL, PLAIN, ALL_LOCS, ALL_LOCS, &[SAME], Types::Equal, Pipe::S)];

/// What the rows here share.
const BASE: OpInfo = OpInfo {
    family: Family::Support,
    pipe: Pipe::S,
    source: "ops.md 10; syntax.md 4",
    text: Text::AsWritten,
    ..LAYOUT
};

/// An instruction without signatures: mnemonic, C++ names, what it does, how it is written, and what else it has.
macro_rules! plain {
    ($mnemonic:literal [$($cpp:literal)*] $sem:ident $(($order:expr))? $text:ident $(($roles:expr))? $summary:literal $(, $field:ident: $value:expr)*) => {
        OpInfo {
            mnemonic: $mnemonic,
            cpp: &[$($cpp),*],
            summary: $summary,
            sem: Sem::$sem $(($order))?,
            text: Text::$text $(($roles))?,
            $($field: $value,)*
            ..BASE
        }
    };
}

/// Operands in parentheses, and a result (isa/today.md 6.9).
const ASYNC_CONTEXT: PipeText =
    PipeText { attrs_first: true, worded: false, operands: &[(Role::Global, "workspace", false)], has_result: true };
const ASYNC_PREFETCH: PipeText =
    PipeText { operands: &[(Role::Global, "view", false), (Role::Scalar, "context", false)], ..ASYNC_CONTEXT };

const VIEW: OpInfo = OpInfo {
    cpp: &["TSUBVIEW"],
    summary: "A view of a window of a tile; it keeps the source's pitch.",
    formula: "dst(i,j) is src(r+i, c+j), in the same storage",
    forms: &[form!(Plain: Src as read_declared, Row, Col => Dst as view)],
    rules: rules![ALL Window "tsubview-window"; ALL Program "valid-range", "valid-unset";],
    sigs: VIEWS,
    ids: Ids::new("tsubview-window", "tsubview-window", "tsubview-window"),
    sem: Sem::Binds,
    binds: Some(Bind::Window),
    examples: &[(Role::Src, "!pto.tile<32x64xf16>")],
    ..BASE
};

family! { after layout::END;
    Tsubview => OpInfo { mnemonic: "tsubview", text: Text::Forms, ..VIEW };
    Subset => OpInfo { mnemonic: "subview", aliases: &["subset"], text: Text::Subset, source: "ops.md 10; isa/today.md 5.1", ..VIEW };
    Bitcast => OpInfo {
        family: Family::Support,
        mnemonic: "bitcast",
        attrs: &[],
        examples: &[(Role::Dst, "!pto.tile<16x32xbf16>")],
        source: "ops.md 4",
        summary: "TRESHAPE to another element type with the same rows.",
        ..treshape::TRESHAPE
    };
    BindTile => OpInfo {
        family: Family::Support,
        mnemonic: "bind_tile",
        cpp: &[],
        attrs: &[],
        rules: rules![ALL Signature "treshape-loc";],
        forms: &[form!(Plain: Src as read_declared => Dst as view)],
        examples: &[],
        source: "isa/structure.md 7",
        summary: "A tile's storage under another layout and valid region.",
        formula: "dst lies where src lies",
        binds: Some(Bind::Storage),
        sem: Sem::Binds,
        ..treshape::TRESHAPE
    };
    AllocTile => plain!("alloc_tile" ["Tile"] Value Alloc "A tile, with optional address and run-time valid extents.",
        binds: Some(Bind::New), rules: rules![ALL Program "tassign-range", "tassign-align", "valid-range", "capacity";]);
    AllocMultiTile => plain!("alloc_multi_tile" [] Value Alloc
        "Several equal tiles, one after the other, with optional address and run-time valid extents.",
        source: "isa/today.md 5.2", binds: Some(Bind::New),
        rules: rules![ALL Program "tile-multi", "tassign-range", "tassign-align", "valid-range", "capacity";]);
    MultiTileGet => OpInfo {
        mnemonic: "multi_tile_get",
        summary: "One of the tiles of a multi-buffer tile.",
        formula: "dst(i,j) is element (i,j) of slot k, in the same storage",
        source: "isa/today.md 5.2",
        forms: &[form!(Plain: Src as read_declared, Index => Dst as view)],
        sigs: &[flow!(Profiles::ALL, PLAIN, ALL_LOCS, ALL_LOCS, &[ANY], Types::Any, Pipe::S)],
        rules: rules![ALL SlotIndex "tile-multi"; ALL Program "valid-range";],
        ids: Ids::new("tile-multi", "tile-multi", "tile-multi"),
        sem: Sem::Binds,
        binds: Some(Bind::Slot),
        text: Text::Slot,
        ..BASE
    };
    Tassign => plain!("tassign" ["TASSIGN"] Binds Assign "Bind a tile to an address; moves no data.",
        binds: Some(Bind::Address), rules: rules![ALL Program "tassign-range", "tassign-align";]);
    SetValidshape => plain!("set_validshape" ["SetValidRow" "SetValidCol"] Resizes SetValid "Set a dynamic valid region.",
        rules: rules![ALL Program "valid-range";]);
    MakeTensorView => plain!("make_tensor_view" ["GlobalTensor"] Value MakeView
        "A strided view of global memory, one to five dimensions.", attrs: &[AttrName::Layout],
        rules: rules![ALL Program "view-layout";]);
    PartitionView => plain!("partition_view" [] Value Partition "A window of a view.",
        rules: rules![ALL Program "gm-bounds";]);
    Addptr => plain!("addptr" [] Value AddPtr "Move a pointer by a number of elements.");
    TileBufAddr => plain!("tile_buf_addr" [] Value Address(&[Role::Tile]) "A pointer to a tile's first byte in its memory.",
        source: "isa/structure.md 7");
    Castptr => plain!("castptr" [] Value Address(&[Role::Number, Role::Global]) "A pointer as one to another element type, as a number, or of a number.",
        source: "isa/structure.md 7");
    Ptrtoint => plain!("ptrtoint" [] Value Address(&[Role::Global, Role::Number]) "The byte address of a pointer.",
        source: "isa/today.md 4.3");
    Inttoptr => plain!("inttoptr" [] Value Address(&[Role::Number]) "The pointer of a byte address.",
        source: "isa/today.md 4.3");
    TensorViewAddr => plain!("tensor_view_addr" [] Value Address(&[Role::Global]) "A pointer to element 0 of a view.",
        source: "isa/structure.md 7");
    GetTensorViewDim => plain!("get_tensor_view_dim" [] Value Dim "An extent of a view.",
        source: "isa/structure.md 7", rules: rules![ALL Program "view-dim";]);
    GetTensorViewStride => plain!("get_tensor_view_stride" [] Value Dim "A stride of a view, in elements.",
        source: "isa/structure.md 7", rules: rules![ALL Program "view-dim";]);
    GetValidshape => plain!("get_validshape" [] Value Extents(&[0, 1]) "The valid rows and columns of a tile at this moment.",
        source: "isa/today.md 4.3");
    TileValidRows => plain!("tile_valid_rows" [] Value Extents(&[0]) "The valid rows of a tile at this moment.",
        source: "isa/today.md 4.3");
    TileValidCols => plain!("tile_valid_cols" [] Value Extents(&[1]) "The valid columns of a tile at this moment.",
        source: "isa/today.md 4.3");
    Print => plain!("print" [] Prints Print "Print scalars by a format.", source: "isa/structure.md 7");
    Trap => plain!("trap" [] Traps Ignored "Stop the program.", source: "isa/structure.md 7",
        rules: rules![ALL AtRun "trap";]);
    LoadScalar => plain!("load_scalar" [] Loads LoadScalar "Read one element of global memory.", aliases: &["load"],
        rules: rules![ALL Program "gm-bounds"; ALL AtRun "undefined-use";]);
    StoreScalar => plain!("store_scalar" [] Stores StoreScalar "Write one element of global memory.", aliases: &["store"],
        rules: rules![ALL Program "gm-bounds";]);
    Setfmatrix => plain!("setfmatrix" ["SETFMATRIX"] Configures Attributes "Image size and padding of later TIMG2COLs.",
        attrs: &[AttrName::Fmap, AttrName::Pad], source: "ops.md 7");
    SetImg2colPadding => plain!("set_img2col_padding" ["SET_IMG2COL_PADDING"] Configures Value
        "The pad value of later TIMG2COLs.", source: "ops.md 7");
    SetImg2colRpt => plain!("set_img2col_rpt" ["SET_IMG2COL_RPT"] Configures Ignored "Accepted, without effect.",
        source: "ops.md 7");
    GetSubblockIdx => plain!("get_subblock_idx" [] Block Number "The number of the vector core in its block.",
        source: "isa/structure.md 4");
    GetSubblockNum => plain!("get_subblock_num" [] Block Number "How many vector cores run the kernel in a block.",
        source: "isa/structure.md 4");
    SetFlagDyn => plain!("set_flag_dyn" [] Orders(Order::Set) AsWritten "Order between two pipes, by a computed id.");
    WaitFlagDyn => plain!("wait_flag_dyn" [] Orders(Order::Wait) AsWritten "Order between two pipes, by a computed id.");
    GetBuf => plain!("get_buf" [] Orders(Order::Take) AsWritten "Take a buffer's token.");
    RlsBuf => plain!("rls_buf" [] Orders(Order::Release) AsWritten "Give a buffer's token back.");
    GetBufDyn => plain!("get_buf_dyn" [] Orders(Order::Take) AsWritten "Take a buffer's token, by a computed id.",
        source: "isa/today.md 8.2");
    RlsBufDyn => plain!("rls_buf_dyn" [] Orders(Order::Release) AsWritten "Give a buffer's token back, by a computed id.",
        source: "isa/today.md 8.2");
    SetIntraBlock => plain!("set_intra_block" [] Orders(Order::CoreSet) AsWritten "A token for another core of the block.",
        aliases: &["set_intra_core"], source: "isa/today.md 8.3", rules: rules![ALL AtRun "sync-overflow";]);
    WaitIntraBlock => plain!("wait_intra_block" [] Orders(Order::CoreWait) AsWritten "Wait for a token of another core of the block.",
        aliases: &["wait_intra_core"], source: "isa/today.md 8.3", rules: rules![ALL AtRun "deadlock";]);
    SetCrossBlock => plain!("set_cross_block" [] Orders(Order::CoreSet) AsWritten "Arrive at a meeting of the cores of a kind in all blocks.",
        attrs: &[AttrName::FftsMode], source: "isa/today.md 8.3", rules: rules![ALL AtRun "sync-overflow";]);
    WaitCrossBlock => plain!("wait_cross_block" [] Orders(Order::CoreWait) AsWritten "Wait until all cores of the kind have arrived.",
        attrs: &[AttrName::FftsMode], source: "isa/today.md 8.3", rules: rules![ALL AtRun "deadlock";]);
    Syncall => plain!("syncall" [] Orders(Order::Meet) Meet "All cores of some kinds, in all blocks, arrive; then all go on.",
        source: "isa/comm.md 7", rules: rules![ALL Program "syncall-mode", "syncall-workspace"; ALL AtRun "deadlock";]);
    MakePrefetchAsyncContext => plain!("make_prefetch_async_context" [] Orders(Order::Nothing) Pipe(ASYNC_CONTEXT)
        "What reads ahead works with.", source: "isa/today.md 6.9");
    TprefetchAsync => plain!("tprefetch_async" [] Orders(Order::Nothing) Pipe(ASYNC_PREFETCH)
        "Read a view ahead into the cache; no value changes.", source: "isa/today.md 6.9",
        rules: rules![ALL Program "async-view";]);
    GetPrefetchAsyncSession => plain!("get_prefetch_async_session" [] Orders(Order::Nothing) AsWritten
        "The session of a context of reads ahead.", source: "isa/today.md 6.9");
    SyncSet => plain!("sync.set" [] Orders(Order::CoreSet) AsWritten "A token for another core.", aliases: &["sync_set"],
        attrs: &[AttrName::FftsMode], source: "sync.md 5", rules: rules![ALL AtRun "sync-overflow";]);
    SyncWait => plain!("sync.wait" [] Orders(Order::CoreWait) AsWritten "Wait for another core's token.", aliases: &["sync_wait"],
        attrs: &[AttrName::FftsMode], source: "sync.md 5", rules: rules![ALL AtRun "deadlock";]);
    CmoCacheinvalid => plain!("cmo.cacheinvalid" [] Orders(Order::Cache)
        Hint(&["all", "single_cache_line", "#pto.address_space<gm>"]) "Write back and forget cached lines of global memory.",
        source: "isa/comm.md 5");
    FenceBarrierAll => plain!("fence.barrier_all" [] Orders(Order::Fence)
        Hint(&["#pto.fence_scope<gm>", "#pto.fence_scope<all>", "#pto.fence_scope<local_memory>"])
        "What is earlier is done and visible before what is later.", source: "isa/comm.md 5");
    SetFfts => plain!("set_ffts" [] Orders(Order::Nothing) AsWritten "Accepted, without effect.");
    SetFlag => plain!("set_flag" [] Orders(Order::Set) AsWritten "Order between two pipes.");
    WaitFlag => plain!("wait_flag" [] Orders(Order::Wait) AsWritten "Order between two pipes.");
    RecordEvent => plain!("record_event" [] Orders(Order::Record) AsWritten "Order between pipes.");
    WaitEvent => plain!("wait_event" [] Orders(Order::Await) AsWritten "Order between pipes.");
    Barrier => plain!("barrier" [] Orders(Order::Barrier) AsWritten "The named pipe, or every pipe with PIPE_ALL, finishes what it has begun before it begins what follows.",
        aliases: &["pipe_barrier", "barrier_sync"]);
    Tsync => plain!("tsync" ["TSYNC"] Orders(Order::Events) AsWritten "Wait for events.");
    GetBlockIdx => plain!("get_block_idx" [] Block Number "The number of the running block.");
    GetBlockNum => plain!("get_block_num" [] Block Number "How many blocks run.");
    Tprint => plain!("tprint" ["TPRINT"] Prints Forms "Print a tile's valid region.",
        forms: &[form!(Plain: Tile, ScratchView as optional_view => ), form!(InMemory: Global => )],
        examples: &[(Role::Tile, "!pto.tile<loc=mat, f16, 16, 32>")],
        attrs: &[AttrName::PrintFormat], rules: rules![ALL PrintTmp "tprint-tmp"; ALL AtRun "undefined-read";]);
}
