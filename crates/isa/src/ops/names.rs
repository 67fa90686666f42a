//! The names of all PTO tile instructions outside the layout set: those without a row are recognised, not executable.

/// Mnemonics, sorted.
static OTHERS: &str = "\
    build_async_session declare_eventid_array eventid_array_get \
    eventid_array_set mad talloc \
    test_async_event vecscope \
    wait_async_event \
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
    build_async_session wait_async_event test_async_event";

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

/// Vector registers, as far as their names are known.
static MICRO: &str = "vlds vsts vadd vsub vmul vdiv vmax vmin vabs vneg vexp vln vsqrt vrelu vand vor vxor vnot vshl vshr \
    vcmp vcmps vsel vdup vbr vcvt vcadd vcmax vcmin vadds vmuls vmaxs vmins vlrelu vaxpy vmula vtrc vgather2 vscatter \
    vldas vldus vstas vstus vsst vsld vldsx2 vstsx2 pset_b8 pset_b16 pset_b32 plt_b8 plt_b16 plt_b32";

/// The names of PTO instructions that have no row.
pub fn others() -> impl Iterator<Item = &'static str> {
    let all = OTHERS.split_whitespace().chain(MICRO.split_whitespace());
    all.filter(|name| super::Opcode::parse(name).is_none())
}

/// The canonical name of another PTO instruction, without `pto.`.
pub fn other(word: &str) -> Option<&'static str> {
    others().find(|name| *name == word)
}
