//! Rows: registers from scalars, and predicates (micro/predicate.md).

#[allow(unused_imports, reason = "every family of rows takes the words that it needs")]
use super::words::*;

/// The rows of this family, in the order of the page.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "vbr",
        args: &[Arg::new("x", Scalar(OfLane))],
        results: &[Arg::new("r", Reg(T))],
        text: "%r = pto.vbr %x : U -> V",
        summary: "A scalar in every lane.",
        formula: "r lane k = x, k < N",
        types: &["b8", "b16", "b32"],
        rules: &["dtype"],
        sem: Sem::Lanes(Lanes::Broadcast),
        ..Row::VECTOR
    },
    Row {
        name: "vdup",
        args: &[Arg::new("x", ScalarOrReg), Arg::new("m", Mask(ByLane))],
        results: &[Arg::new("r", Reg(T))],
        words: &[WordList { key: "position", words: &["LOWEST", "HIGHEST"], is_attribute: true, is_required: false }],
        text: "%r = pto.vdup %x, %m [{position = \"LOWEST\"}] : U, M -> V   or   : V, M -> V",
        summary: "A scalar, or the lowest or highest lane of a register, in every active lane.",
        formula: "y = x; of a register: lane 0 (LOWEST) or lane N-1 (HIGHEST), whatever m is; r lane k = on(m, k) ? y : 0",
        types: &["b8", "b16", "b32"],
        rules: &["dtype", "position", "mask"],
        sem: Sem::Lanes(Lanes::Broadcast),
        ..Row::VECTOR
    },
    Row {
        name: "pset_b8",
        aliases: &["pset_b16", "pset_b32", "pge_b8", "pge_b16", "pge_b32"],
        results: &[Arg::new("p", Mask(ByName))],
        words: &[WordList {
            key: "word",
            words: &[
                "PAT_ALL",
                "PAT_ALLF",
                "PAT_H",
                "PAT_Q",
                "PAT_VL1",
                "PAT_VL2",
                "PAT_VL3",
                "PAT_VL4",
                "PAT_VL8",
                "PAT_VL16",
                "PAT_VL32",
                "PAT_VL64",
                "PAT_VL128",
                "PAT_M3",
                "PAT_M4",
            ],
            is_attribute: false,
            is_required: true,
        }],
        text: "%p = pto.pset_b32 \"PAT\" : !pto.mask<b32>",
        summary: "A mask from a pattern word; pge is the same.",
        formula: "lane k of L = 2048/g: ALL 1; ALLF 0; H k < L/2; Q k < L/4; VLn k < n; M3 k mod 3 = 0; M4 k mod 4 = 0; bits between lanes 0",
        rules: &["pattern", "granularity"],
        sem: Sem::Predicate(Predicate::Pattern),
        ..Row::VECTOR
    },
    Row {
        name: "plt_b8",
        aliases: &["plt_b16", "plt_b32"],
        args: &[Arg::new("c", Scalar(I32))],
        results: &[Arg::new("p", Mask(ByName)), Arg::new("rest", Scalar(I32))],
        text: "%p, %rest = pto.plt_b32 %c : i32 -> !pto.mask<b32>, i32",
        summary: "The first c lanes; rest counts what does not fit.",
        formula: "c unsigned, L = 2048/g: lane k = k < c; rest = c < L ? 0 : c - L; bits between lanes 0",
        rules: &["granularity", "negative"],
        sem: Sem::Predicate(Predicate::Below),
        ..Row::VECTOR
    },
    Row {
        name: "ppack",
        args: &[Arg::new("p", Mask(Free))],
        results: &[Arg::new("r", Mask(Free))],
        words: &[WordList { key: "word", words: &["LOWER", "HIGHER"], is_attribute: false, is_required: true }],
        text: "%r = pto.ppack %p, \"LOWER\" : M -> M'",
        summary: "Every second bit, packed into one half.",
        formula: "h = 0 (LOWER) or 128 (HIGHER): r.bit[h + k] = p.bit[2*k], k < 128; the other half 0",
        rules: &["part", "granularity"],
        sem: Sem::Predicate(Predicate::Pack),
        ..Row::VECTOR
    },
    Row {
        name: "punpack",
        args: &[Arg::new("p", Mask(Free))],
        results: &[Arg::new("r", Mask(Free))],
        words: &[WordList { key: "word", words: &["LOWER", "HIGHER"], is_attribute: false, is_required: true }],
        text: "%r = pto.punpack %p, \"LOWER\" : M -> M'",
        summary: "One half, spread to every second bit.",
        formula: "h = 0 or 128: r.bit[2*k] = p.bit[h + k], r.bit[2*k + 1] = 0, k < 128",
        rules: &["part", "granularity"],
        sem: Sem::Predicate(Predicate::Unpack),
        ..Row::VECTOR
    },
    Row {
        name: "pand",
        aliases: &["por", "pxor"],
        args: &[Arg::new("a", Mask(Free)), Arg::new("b", Mask(Free)), Arg::new("m", Mask(Free))],
        results: &[Arg::new("r", Mask(Free))],
        text: "%r = pto.pand %a, %b, %m : M, M, M -> M",
        summary: "Bitwise AND, OR, XOR under a mask.",
        formula: "r.bit[k] = m.bit[k] & (a.bit[k] op b.bit[k]), k < 256",
        rules: &["granularity"],
        sem: Sem::Predicate(Predicate::Logic),
        ..Row::VECTOR
    },
    Row {
        name: "pnot",
        args: &[Arg::new("a", Mask(Free)), Arg::new("m", Mask(Free))],
        results: &[Arg::new("r", Mask(Free))],
        text: "%r = pto.pnot %a, %m : M, M -> M",
        summary: "Bitwise NOT under a mask.",
        formula: "r.bit[k] = m.bit[k] & !a.bit[k], k < 256",
        rules: &["granularity"],
        sem: Sem::Predicate(Predicate::Not),
        ..Row::VECTOR
    },
    Row {
        name: "psel",
        args: &[Arg::new("a", Mask(Free)), Arg::new("b", Mask(Free)), Arg::new("s", Mask(Free))],
        results: &[Arg::new("r", Mask(Free))],
        text: "%r = pto.psel %a, %b, %s : M, M, M -> M",
        summary: "Bitwise choice; nothing is zeroed.",
        formula: "r.bit[k] = s.bit[k] ? a.bit[k] : b.bit[k], k < 256",
        rules: &["granularity"],
        sem: Sem::Predicate(Predicate::Select),
        ..Row::VECTOR
    },
    Row {
        name: "pintlv_b8",
        aliases: &["pintlv_b16", "pintlv_b32"],
        args: &[Arg::new("a", Mask(ByName)), Arg::new("b", Mask(ByName))],
        results: &[Arg::new("lo", Mask(ByName)), Arg::new("hi", Mask(ByName))],
        text: "%lo, %hi = pto.pintlv_b16 %a, %b : !pto.mask<b16>, !pto.mask<b16> -> !pto.mask<b16>, !pto.mask<b16>",
        summary: "Lanes of a and b in turn, 512 bits in two masks.",
        formula: "e = g/8, L = 256/e: lane 2*k of lo ++ hi = lane k of a, lane 2*k + 1 = lane k of b (all e bits of a lane move), k < L",
        rules: &["granularity"],
        sem: Sem::Predicate(Predicate::Interleave),
        ..Row::VECTOR
    },
    Row {
        name: "pdintlv_b8",
        aliases: &["pdintlv_b16", "pdintlv_b32"],
        args: &[Arg::new("a", Mask(ByName)), Arg::new("b", Mask(ByName))],
        results: &[Arg::new("lo", Mask(ByName)), Arg::new("hi", Mask(ByName))],
        text: "%lo, %hi = pto.pdintlv_b16 %a, %b : !pto.mask<b16>, !pto.mask<b16> -> !pto.mask<b16>, !pto.mask<b16>",
        summary: "The inverse: even lanes of a ++ b to lo, odd ones to hi.",
        formula: "e = g/8, L = 256/e: lane k of lo = lane 2*k of a ++ b, lane k of hi = lane 2*k + 1 (all e bits), k < L",
        rules: &["granularity"],
        sem: Sem::Predicate(Predicate::Deinterleave),
        ..Row::VECTOR
    },
];
