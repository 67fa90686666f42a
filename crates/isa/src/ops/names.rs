//! The names of all PTO tile instructions outside the layout set: those without a row are recognised, not executable.

/// Mnemonics, sorted.
static OTHERS: &str = "\
    build_async_session declare_eventid_array eventid_array_get \
    eventid_array_set mad talloc declare_local_array local_array_get local_array_set declare_struct struct_get struct_set \
    test_async_event vecscope \
    wait_async_event \
    set_intra_block wait_intra_block set_cross_block wait_cross_block \
    alloc_multi_tile multi_tile_get get_validshape tile_valid_rows tile_valid_cols tquant_mx tquant.mx \
    syncall set_quant_scalar set_quant_vector talloc_to_aiv talloc_to_aic declare_global \
    make_prefetch_async_context tprefetch_async get_prefetch_async_session fusion_region section.simt \
    comm.tput comm.tget comm.tnotify comm.twait comm.ttest comm.tbroadcast comm.treduce comm.tgather comm.tscatter \
    comm.tput_async comm.tget_async comm.build_async_session comm.wait_async_event comm.test_async_event \
    mgather mscatter tabs tadd taddc tadds taddsc taddrelu tand tands tbroadcast tci tcmp tcmps tcolargmax \
    tcolargmin tcolexpand tcolexpandadd tcolexpanddiv tcolexpandexpdif tcolexpandmax tcolexpandmin tcolexpandmul \
    tcolexpandsub tcolmax tcolmin tcolprod tcolsum tcvt tdequant tdiv tdivs texp texpands tfmod tfmods \
    tgather tgatherb tgemv tgemv_acc tgemv_bias tgemv_mx tget tget_async tgetval thistogram tlog tlrelu tmatmul \
    tmatmul_acc tmatmul_bias tmatmul_mx tmax tmaxs tmin tmins tmrgsort tmul tmuls tneg tnot tnotify tor tors \
    tpartadd tpartargmax tpartargmin tpartmax tpartmin tpartmul tprefetch tprelu tput tput_async \
    tquant trandom trecip treduce trelu trem trems trowargmax trowargmin trowexpand trowexpandadd trowexpanddiv \
    trowexpandexpdif trowexpandmax trowexpandmin trowexpandmul trowexpandsub trowmax trowmin trowprod trowsum \
    trsqrt tscatter tsel tsels tsetval tshl tshls tshr tshrs tsort32 tsqrt tstore_fp tsub tsubc tsubs tsubsc \
    tsubrelu ttest ttri twait txor txors";

/// Between devices (isa/structure.md 10).
static BETWEEN_DEVICES: &str = "tput tget tput_async tget_async tnotify twait ttest tbroadcast treduce \
    build_async_session wait_async_event test_async_event \
    comm.tput comm.tget comm.tnotify comm.twait comm.ttest comm.tbroadcast comm.treduce comm.tgather comm.tscatter \
    comm.tput_async comm.tget_async comm.build_async_session comm.wait_async_event comm.test_async_event";

/// How a call of a function without a body is named, which no text says.
pub const DECLARED: &str = "func.call";

/// Why an instruction without a row does not run, and what to do instead (isa/structure.md 10).
pub fn why_not(name: &str) -> (String, &'static str) {
    if name == DECLARED {
        ("the called function is only declared, and has no body".into(), "give it a body, or run a part")
    } else if BETWEEN_DEVICES.split_whitespace().any(|other| other == name) {
        (format!("pto.{name} moves data between devices; Tessera runs one device"), "run the part of one device")
    } else if is_micro(name) {
        (format!("pto.{name} is below the tile level"), "use the tile instruction")
    } else {
        (format!("pto.{name} is recognised, and not executable yet"), "take it out of the program, or run a part")
    }
}

/// Is it a name of the level below tiles: registers, masks, transfers by hand? Such text is read as it is.
pub fn is_micro(name: &str) -> bool {
    let known = ["vecscope", "mad", "mte"].contains(&name) || name.starts_with("mte_") || name.starts_with("mad_");
    let is_word = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    known || MICRO.split_whitespace().any(|other| other == name) && is_word
}

/// Operations below the tile level (micro/*.toml).
static MICRO: &str = "chistv2 copy_cbuf_to_ubuf copy_gm_to_cbuf copy_gm_to_ubuf copy_ubuf_to_cbuf copy_ubuf_to_gm copy_ubuf_to_ubuf \
    dcci dhistv2 dsb get_ctrl get_vms4_sr init_align ld_dev load_cbuf_to_ca load_cbuf_to_cb mad_acc mad_bias mad_mx \
    mad_mx_acc mad_mx_bias mem_bar membar mte_gm_l1 mte_gm_l1_frac mte_gm_ub mte_l0c_gm mte_l0c_l1 mte_l0c_ub \
    mte_l1_bt mte_l1_fb mte_l1_l0a mte_l1_l0a_mx mte_l1_l0b mte_l1_l0b_mx mte_l1_ub mte_ub_gm mte_ub_l1 mte_ub_ub \
    pand pbitcast pdintlv_b16 pdintlv_b32 pdintlv_b8 pge_b16 pge_b32 pge_b8 pintlv_b16 pintlv_b32 pintlv_b8 pldi \
    plds plt plt_b16 plt_b32 plt_b8 pnot por ppack psel pset_b16 pset_b32 pset_b8 psti psts pstu punpack pxor \
    raw_fill_l1 sbitset0 sbitset1 set_atomic_add set_atomic_bf16 set_atomic_f16 set_atomic_f32 set_atomic_max \
    set_atomic_min set_atomic_none set_atomic_s16 set_atomic_s32 set_atomic_s8 set_cross_core set_ctrl \
    set_loop1_stride_outtol1 set_loop1_stride_outtoub set_loop1_stride_ubtoout set_loop2_stride_outtol1 \
    set_loop2_stride_outtoub set_loop2_stride_ubtoout set_loop_size_outtol1 set_loop_size_outtoub \
    set_loop_size_ubtoout set_mov_pad_val sprclr st_dev strict_vecscope vabs vadd vaddc vaddcs vaddreluconv vadds \
    vand vaxpy vbitcast vbitsort vbr vcadd vcbmax vcbmin vcgadd vcgmax vcgmin vci vcmax vcmin vcmp vcmps vcpadd vcvt \
    vdintlv vdintlvv2 vdiv vdup vexp vexpdif vgather2 vgather2_bc vgatherb vintlv vintlvv2 vldas vlds vldsx2 vldus \
    vln vlrelu vmadd vmax vmaxs vmi vmin vmins vmrgsort4 vmul vmula vmulconv vmull vmuls vmulscvt vneg vnot vor \
    vpack vprelu vrelu vscatter vsel vselr vselrv2 vshl vshls vshr vshrs vsld vsldb vsqrt vsqz vsst vsstb vstar \
    vstas vsts vstsx2 vstur vstus vsub vsubc vsubcs vsunpack vtrc vusqz vxor vzunpack wait_cross_core wait_flag_dev \
    wait_intra_core";

/// The names of PTO instructions that have no row.
pub fn others() -> impl Iterator<Item = &'static str> {
    let all = OTHERS.split_whitespace().chain(MICRO.split_whitespace());
    all.filter(|name| super::Opcode::parse(name).is_none())
}

/// The canonical name of another PTO instruction, without `pto.`.
pub fn other(word: &str) -> Option<&'static str> {
    others().find(|name| *name == word)
}
