//! What changed between the versions of the text (isa/today.md 1.1): one row for each construct. Reading, the warnings about
//! spellings, printing, migration and docs/versions.md follow from it.

use tessera_ir::Dialect::{self, V0_27, V0_60, V0_64};

/// A construct and its text in each version.
#[derive(Debug)]
pub struct Change {
    /// The construct, in words.
    pub construct: &'static str,
    /// Its text in each of [`Dialect::ALL`]; `=` is that of the version before.
    pub text: [&'static str; 3],
    /// The spellings of it that some version lacks.
    pub spellings: &'static [Spelling],
}

/// The part of a statement that has a spelling of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The name of an operation, without `pto.`.
    Operation,
    /// The name of an attribute.
    Attribute,
    /// A word among the operands or behind a type.
    Word,
    /// A shape of the statement, by a name of this table.
    Shape,
    /// The name of a type.
    Type,
}

/// Spellings that some versions have and others lack.
#[derive(Debug)]
pub struct Spelling {
    pub part: Part,
    /// The spellings, between blanks.
    pub names: &'static str,
    /// The first version that has them.
    pub since: Dialect,
    /// The first version that has them no more.
    pub gone: Option<Dialect>,
    /// The names that the other versions write for each of them, between blanks, where nothing else differs.
    pub same: &'static str,
    /// The text to write in a version without them.
    pub instead: &'static str,
}

impl Spelling {
    /// Whether a version has it.
    pub fn is_in(&self, dialect: Dialect) -> bool {
        self.since <= dialect && self.gone.is_none_or(|gone| dialect < gone)
    }
}

const fn new(part: Part, names: &'static str, instead: &'static str) -> Spelling {
    Spelling { part, names, since: V0_60, gone: None, same: "", instead }
}

const fn old(part: Part, names: &'static str, instead: &'static str) -> Spelling {
    Spelling { part, names, since: V0_27, gone: Some(V0_60), same: "", instead }
}

const fn named(spelling: Spelling, same: &'static str) -> Spelling {
    Spelling { same, ..spelling }
}

use Part::{Attribute, Operation, Shape, Type, Word};

/// The names of shapes that are no words of the text.
pub(crate) mod shape {
    pub const UNTYPED_PARTITION: &str = "partition_view without `->`";
    pub const QUOTED_FLAG: &str = "set_flag[\"…\"]";
    pub const BUFFER_MODE: &str = "get_buf with a mode";
    pub const AXIS: &str = "\"row\" or \"col\" behind the types";
    pub const MEMREF_TILE: &str = "a memref on the chip";
    pub const EXPANDING: &str = "tfillpad into a larger tile";
    pub const COALESCE: &str = "#pto<coalesce …>";
}

/// Operations on scalars under names of the pto dialect (isa/today.md 4.4).
pub(crate) const SCALARS: &str = "constant addi subi muli addf subf mulf divf remf negf divi remi floordiv ceildiv negi \
    and or xor shl shr maxi mini maxf minf maximum minimum cmpi cmpf exti trunci ftof itof ftoi index_cast select absf absi \
    addui_extended mul_extended";

/// The rows of isa/today.md 1.1, in its order.
pub static CHANGES: &[Change] = &[
    Change {
        construct: "window of a tile",
        text: [
            "`subset %t[%r, %c] sizes [n, m] : T`",
            "`subview %t[%r, %c] sizes [n, m] [valid [%vr, %vc]] : T [-> T]`; `subset` gone",
            "=",
        ],
        spellings: &[
            named(old(Operation, "subset", "pto.subview %t[…] sizes […] : T -> R"), "subview"),
            named(new(Operation, "subview", "pto.subset %t[…] sizes […] : T"), "subset"),
        ],
    },
    Change {
        construct: "result type of `partition_view`",
        text: ["`: T -> T`", "`: T [-> T]`", "="],
        spellings: &[new(Shape, shape::UNTYPED_PARTITION, "the type of the result behind `->`")],
    },
    Change {
        construct: "scalar access by pointer",
        text: ["`load_scalar`, `store_scalar`", "=", "`load`, `store`; the old gone"],
        spellings: &[
            Spelling {
                gone: Some(V0_64),
                same: "load store",
                ..old(Operation, "load_scalar store_scalar", "pto.load, pto.store")
            },
            Spelling {
                since: V0_64,
                same: "load_scalar store_scalar",
                ..new(Operation, "load store", "pto.load_scalar, pto.store_scalar")
            },
        ],
    },
    Change {
        construct: "pointer and integer",
        text: ["`castptr`, at micro level only", "`castptr`, `ptrtoint`, `inttoptr`", "="],
        spellings: &[new(Operation, "ptrtoint inttoptr", "pto.addptr")],
    },
    Change {
        construct: "scalar arithmetic",
        text: ["`arith.*`", "=", "also `pto.addi` …"],
        spellings: &[Spelling { since: V0_64, ..new(Operation, SCALARS, "the operation of arith or math") }],
    },
    Change {
        construct: "quantization by a scaling tile",
        text: [
            "`tmov.fp`, `textract_fp`, `tinsert_fp`, `tstore_fp`",
            "a clause `fp %f : F` of `tmov`, `textract`, `tinsert`, `tstore`; the four gone",
            "=",
        ],
        spellings: &[
            old(Operation, "tmov_fp textract_fp tinsert_fp tstore_fp", "the instruction without _fp, and `fp %f : F`"),
            new(Word, "fp", "the instruction with _fp"),
        ],
    },
    Change {
        construct: "quantization by a scalar, `tinsert`",
        text: ["–", "`pre_quant %q : i64`", "="],
        spellings: &[new(Word, "pre_quant", "the scalar as the last operand")],
    },
    Change {
        construct: "padding",
        text: ["`tfillpad`, `tfillpad_inplace`, `tfillpad_expand`", "`tfillpad` for all three; the two gone", "="],
        spellings: &[
            old(Operation, "tfillpad_inplace tfillpad_expand", "pto.tfillpad"),
            new(Shape, shape::EXPANDING, "pto.tfillpad_expand"),
        ],
    },
    Change {
        construct: "saturation of `tcvt`",
        text: ["`sat_mode`", "`satmode`", "="],
        spellings: &[named(new(Attribute, "satmode", "sat_mode"), "sat_mode")],
    },
    Change {
        construct: "precision words",
        text: [
            "`precision_mode`",
            "`precisionType = #pto<div_precision high_precision>`, each instruction with its own word",
            "=",
        ],
        spellings: &[named(new(Attribute, "precisionType", "precision_mode"), "precision_mode")],
    },
    Change {
        construct: "`thistogram`",
        text: ["`isMSB`", "`byte = 1 : i32`; `isMSB` is read", "="],
        spellings: &[new(Attribute, "byte", "isMSB")],
    },
    Change {
        construct: "mode of `mgather`",
        text: ["by the shape of the indices", "`coalesce = #pto<coalesce row>` must be written", "="],
        spellings: &[new(Shape, shape::COALESCE, "indices whose shape says the mode")],
    },
    Change {
        construct: "masks of `tgather`, `tscatter`",
        text: ["`tgather` only, `: T)`", "`: T, \"row\")` or `\"col\"`", "="],
        spellings: &[new(Shape, shape::AXIS, "pto.tgather without an axis, which means \"row\"")],
    },
    Change {
        construct: "`tmrgsort` of lists",
        text: ["tmp in outs or ins", "tmp in ins, or the word `no_tmp` behind the lists", "="],
        spellings: &[new(Word, "no_tmp", "a scratch tile, or nothing")],
    },
    Change {
        construct: "FIFO operations",
        text: ["`{split = 1}`", "`{id = 0, split = 1}`; `id` may be left out", "="],
        spellings: &[new(Attribute, "id", "one pipe in a function, without an id")],
    },
    Change {
        construct: "communication",
        text: [
            "`tput_async` … without prefix, `build_async_session`",
            "`comm.tput`, `comm.tput_async` …; the unprefixed gone",
            "=",
        ],
        spellings: &[
            named(
                old(
                    Operation,
                    "tput tget tnotify twait ttest tbroadcast treduce tput_async tget_async build_async_session \
                     wait_async_event test_async_event",
                    "the name with `comm.` in front",
                ),
                "comm.tput comm.tget comm.tnotify comm.twait comm.ttest comm.tbroadcast comm.treduce comm.tput_async \
                 comm.tget_async comm.build_async_session comm.wait_async_event comm.test_async_event",
            ),
            named(
                new(
                    Operation,
                    "comm.tput comm.tget comm.tnotify comm.twait comm.ttest comm.tbroadcast comm.treduce \
                     comm.tput_async comm.tget_async comm.build_async_session comm.wait_async_event \
                     comm.test_async_event",
                    "the name without `comm.`",
                ),
                "tput tget tnotify twait ttest tbroadcast treduce tput_async tget_async build_async_session \
                 wait_async_event test_async_event",
            ),
            new(Operation, "comm.tgather comm.tscatter", "a transfer for each rank"),
        ],
    },
    Change {
        construct: "flags",
        text: [
            "`set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]`",
            "also `set_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID0\"]`",
            "=",
        ],
        spellings: &[new(Shape, shape::QUOTED_FLAG, "set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]")],
    },
    Change {
        construct: "buffer tokens",
        text: ["`get_buf[a, 0]`", "`get_buf \"PIPE_V\", 0, 0` and `get_buf[a, 0, 0]` (third: mode)", "="],
        spellings: &[new(Shape, shape::BUFFER_MODE, "get_buf[a, 0]")],
    },
    Change {
        construct: "tiles as memrefs: `bind_tile`, `pointer_cast`, `declare_tile_memref`, memref operands",
        text: ["read", "gone", "="],
        spellings: &[
            old(Operation, "bind_tile pointer_cast declare_tile_memref", "pto.alloc_tile"),
            old(Shape, shape::MEMREF_TILE, "pto.alloc_tile, and its type at the uses"),
        ],
    },
    Change {
        construct: "`tpack`",
        text: ["read", "gone (micro level)", "="],
        spellings: &[old(Operation, "tpack", "the micro instructions")],
    },
    Change {
        construct: "low-precision elements in types",
        text: ["–", "`!pto.hif8`, `!pto.f8E8M0`, `!pto.f4E2M1x2`, `!pto.f4E1M2x2`", "="],
        spellings: &[new(
            Type,
            "!pto.hif8 !pto.f8E8M0 !pto.f4E2M1x2 !pto.f4E1M2x2",
            "hif8, f8e8m0, f4e2m1x2, f4e1m2x2",
        )],
    },
    Change {
        construct: "multi-buffer tiles, stack arrays, structs, `get_validshape`, `declare_global`, `talloc*`, `set_quant_*`, \
                    `tquant.mx`, `tconcatidx`, `taddrelu`, `tpow`, `tpows`, `tpartarg*`, `tprefetch_async`, `syncall`, named \
                    block synchronisation, `fusion_region`",
        text: ["–", "read", "="],
        spellings: &[new(
            Operation,
            "alloc_multi_tile multi_tile_get declare_local_array local_array_get local_array_set declare_struct struct_get \
             struct_set get_validshape tile_valid_rows tile_valid_cols declare_global talloc talloc_to_aiv talloc_to_aic \
             set_quant_scalar set_quant_vector tquant_mx tconcatidx taddrelu tpow tpows tpartargmax tpartargmin \
             make_prefetch_async_context tprefetch_async get_prefetch_async_session syncall set_intra_block wait_intra_block \
             set_cross_block wait_cross_block fusion_region",
            "what the version has for it, if anything",
        )],
    },
    Change {
        construct: "cache and fences",
        text: ["–", "`cmo.cacheinvalid`, `fence.barrier_all`", "="],
        spellings: &[],
    },
];
