//! The names of all PTO tile instructions outside the layout set: those without a row are recognised, not executable.

/// Mnemonics, sorted.
static OTHERS: &str = "\
    aic_initialize_pipe aiv_initialize_pipe build_async_session declare_eventid_array declare_tile eventid_array_get \
    eventid_array_set import_reserved_buffer initialize_l2g2l_pipe initialize_l2l_pipe mad reserve_buffer talloc \
    test_async_event tfree_from_aic tfree_from_aiv tpop_from_aic tpop_from_aiv tpush_to_aic tpush_to_aiv vecscope \
    wait_async_event \
    mgather mscatter tabs tadd taddc tadds taddsc taddrelu tand tands tbroadcast tci tcmp tcmps tcolargmax \
    tcolargmin tcolexpand tcolexpandadd tcolexpanddiv tcolexpandexpdif tcolexpandmax tcolexpandmin tcolexpandmul \
    tcolexpandsub tcolmax tcolmin tcolprod tcolsum tcvt tdequant tdiv tdivs texp texpands tfmod tfmods tfree \
    tgather tgatherb tgemv tgemv_acc tgemv_bias tgemv_mx tget tget_async tgetval thistogram tlog tlrelu tmatmul \
    tmatmul_acc tmatmul_bias tmatmul_mx tmax tmaxs tmin tmins tmrgsort tmul tmuls tneg tnot tnotify tor tors \
    tpartadd tpartargmax tpartargmin tpartmax tpartmin tpartmul tpop tprefetch tprelu tpush tput tput_async \
    tquant trandom trecip treduce trelu trem trems trowargmax trowargmin trowexpand trowexpandadd trowexpanddiv \
    trowexpandexpdif trowexpandmax trowexpandmin trowexpandmul trowexpandsub trowmax trowmin trowprod trowsum \
    trsqrt tscatter tsel tsels tsetval tshl tshls tshr tshrs tsort32 tsqrt tstore_fp tsub tsubc tsubs tsubsc \
    tsubrelu ttest ttri twait txor txors";

/// The names of PTO instructions that have no row.
pub fn others() -> impl Iterator<Item = &'static str> {
    OTHERS.split_whitespace().filter(|name| super::Opcode::parse(name).is_none())
}

/// The canonical name of another PTO instruction, without `pto.`.
pub fn other(word: &str) -> Option<&'static str> {
    others().find(|name| *name == word)
}
