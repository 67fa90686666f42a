//! The names of all PTO tile instructions outside the layout set: those without a row are recognised, not executable.

/// Mnemonics, sorted.
static OTHERS: &str = "\
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
