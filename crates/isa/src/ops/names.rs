//! The names of all PTO tile instructions outside the layout set: those without a row are recognised, not executable.

/// Mnemonics, sorted.
static OTHERS: &str = "\
    build_async_session test_async_event wait_async_event declare_eventid_array eventid_array_get \
    eventid_array_set declare_local_array local_array_get local_array_set declare_struct struct_get struct_set \
    section.simt simt_launch \
    mgather mscatter tabs tadd taddc tadds taddsc tand tands tbroadcast tci tcmp tcmps tcolargmax \
    tcolargmin tcolexpand tcolexpandadd tcolexpanddiv tcolexpandexpdif tcolexpandmax tcolexpandmin tcolexpandmul \
    tcolexpandsub tcolmax tcolmin tcolprod tcolsum tcvt tdequant tdiv tdivs texp texpands tfmod tfmods \
    tgather tgatherb tgemv tgemv_acc tgemv_bias tgemv_mx tget tget_async tgetval thistogram tlog tlrelu tmatmul \
    tmatmul_acc tmatmul_bias tmatmul_mx tmax tmaxs tmin tmins tmrgsort tmul tmuls tneg tnot tnotify tor tors \
    tpartadd tpartargmax tpartargmin tpartmax tpartmin tpartmul tprefetch tprelu tput tput_async \
    tquant trandom trecip treduce trelu trem trems trowargmax trowargmin trowexpand trowexpandadd trowexpanddiv \
    trowexpandexpdif trowexpandmax trowexpandmin trowexpandmul trowexpandsub trowmax trowmin trowprod trowsum \
    trsqrt tscatter tsel tsels tsetval tshl tshls tshr tshrs tsort32 tsqrt tstore_fp tsub tsubc tsubs tsubsc \
    tsubrelu ttest ttri twait txor txors";

/// How an operation is named that no table knows; it was refused.
pub const UNKNOWN_OP: &str = "an operation that is not known";

/// Instructions of a thread for each element.
const SIMT: [&str; 2] = ["section.simt", "simt_launch"];

/// How a call of a function without a body is named, which no text says.
pub const DECLARED: &str = "func.call";

/// Why an instruction without a row does not run, and what to do instead (isa/structure.md 10).
pub fn why_not(name: &str) -> (String, &'static str) {
    if name == DECLARED {
        ("the called function is only declared, and has no body".into(), "give it a body, or run a part")
    } else if name == UNKNOWN_OP {
        ("the operation is not known, and nothing runs it".into(), "take it out of the program")
    } else if SIMT.contains(&name) {
        (
            format!("pto.{name} runs one thread per element"),
            "rewrite it with tile instructions or vector micro-operations",
        )
    } else if super::Opcode::parse(&format!("comm.{name}")).is_some() {
        (
            format!("pto.{name} is written in an old shape, which does not say what other ranks it reaches"),
            "write the name with comm. in front, and views in parentheses",
        )
    } else {
        (format!("pto.{name} is recognised, and not executable yet"), "take it out of the program, or run a part")
    }
}

/// The names of PTO instructions that have no row.
pub fn others() -> impl Iterator<Item = &'static str> {
    OTHERS.split_whitespace().filter(|name| super::Opcode::parse(name).is_none())
}

/// The canonical name of another PTO instruction, without `pto.`.
pub fn other(word: &str) -> Option<&'static str> {
    others().find(|name| *name == word)
}
