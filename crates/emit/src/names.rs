//! C++ names of values and functions.

use std::collections::{HashMap, HashSet};
use tessera_ir::{Func, Module, ValueId};
use tessera_isa::ops::{AttrName, Opcode};

/// Words that cannot name a variable: of C++, and of what the headers declare beside the instructions.
const RESERVED: &str = "\
    alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default \
    delete do double else enum explicit export extern false float for friend goto if inline int long main \
    mutable namespace new noexcept not nullptr operator or private protected public register return short signed \
    sizeof static struct switch template this throw true try typedef typeid typename union unsigned using \
    virtual void volatile while xor half bfloat16_t hifloat8_t pto std cce int8_t int16_t and_eq or_eq bitand bitor \
    compl not_eq xor_eq static_cast reinterpret_cast const_cast dynamic_cast static_assert thread_local wchar_t \
    int32_t int64_t uint8_t uint16_t uint32_t uint64_t event_t pipe_t errno char16_t char32_t \
    concept requires co_await co_return co_yield consteval constinit char8_t \
    stdin stdout stderr linux unix NULL EOF INT64_MIN INT64_C UINT64_C UINT32_C F16_MAX OP_NAME OP_TYPE \
    Tile GlobalTensor Shape Stride Layout ConvTile ConvTileShape TileType BLayout SLayout PadValue CompactMode TPipe \
    Direction TileSplitAxis Event RecordEvent MrgSortExecutedNumList TRandomKey TRandomCounter TASSIGN TPUSH TPOP TFREE \
    TALLOC PIPE_S PIPE_V PIPE_M PIPE_MTE1 PIPE_MTE2 PIPE_MTE3 PIPE_FIX PIPE_ALL EVENT_ID0 EVENT_ID1 EVENT_ID2 EVENT_ID3 \
    EVENT_ID4 EVENT_ID5 EVENT_ID6 EVENT_ID7 EVENT_ID_MAX DIR_C2V DIR_V2C DIR_BOTH TILE_NO_SPLIT TILE_UP_DOWN \
    TILE_LEFT_RIGHT AICORE DSB_DDR DSB_ALL DSB_UB set_flag wait_flag pipe_barrier set_mask_norm set_vector_mask dsb dcci \
    get_block_idx get_block_num get_subblockid get_subblockdim get_buf rls_buf ffts_cross_core_sync wait_flag_dev \
    set_intra_block wait_intra_block set_ffts_base_addr trap isnan comm SYNCALL SyncAllMode SyncCoreType";

/// The name of each value, and how it is used.
pub(crate) struct Names {
    /// The name, unique in the function.
    names: Vec<String>,
    /// The expression that stands for the value, where it is not the name: a literal, or what a pointer points to.
    expressions: Vec<Option<String>>,
    declared: Vec<bool>,
    taken: HashSet<String>,
    /// The last number behind each name that was wanted more than once.
    last: HashMap<String, usize>,
}

/// All words that no variable or function may have.
pub(crate) fn reserved() -> HashSet<String> {
    let instructions = Opcode::WITH_CPP.iter().flat_map(|op| op.info().cpp.iter().copied());
    let attributes = AttrName::ALL.iter().map(|name| name.cpp()).filter(|name| name.starts_with(char::is_uppercase));
    RESERVED.split_whitespace().chain(instructions).chain(attributes).map(str::to_string).collect()
}

/// A word as a C++ name: what cannot be part of one becomes `_`. A number gets a letter in front.
pub(crate) fn legal(wanted: &str) -> String {
    let mut name: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, 'v');
    }
    name
}

impl Names {
    /// A name for every value of the function; those of the functions of the file are taken.
    pub fn new(module: &Module, func: &Func, functions: &[String]) -> Self {
        let mut taken = reserved();
        taken.extend(functions.iter().cloned());
        let mut all = Names {
            names: Vec::new(),
            expressions: vec![None; func.values.len()],
            declared: vec![false; func.values.len()],
            taken,
            last: HashMap::new(),
        };
        for value in &func.values {
            let name = all.fresh(module.names.text(value.name));
            all.names.push(name);
        }
        all
    }

    /// A free name similar to this one.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = legal(wanted);
        // A double underscore belongs to the compiler, and to the macros of the header.
        while name.contains("__") {
            name = name.replace("__", "_");
        }
        if !self.taken.contains(&name) {
            self.taken.insert(name.clone());
            return name;
        }
        let last = self.last.entry(name.clone()).or_insert(1);
        loop {
            *last += 1;
            let unique = format!("{}_{last}", name.trim_end_matches('_'));
            if self.taken.insert(unique.clone()) {
                return unique;
            }
        }
    }

    /// The name of a value's own variable.
    pub fn object(&self, value: ValueId) -> &str {
        &self.names[value.index()]
    }

    /// The expression that stands for a value.
    pub fn expression(&self, value: ValueId) -> &str {
        self.expressions[value.index()].as_deref().unwrap_or_else(|| self.object(value))
    }

    /// Sets the C++ name of a value.
    pub fn stands_for(&mut self, value: ValueId, expression: String) {
        self.expressions[value.index()] = Some(expression);
    }

    /// Remembers that a value's variable is declared.
    pub fn declared(&mut self, value: ValueId) {
        self.declared[value.index()] = true;
    }

    /// Whether a value's variable is declared.
    pub fn is_declared(&self, value: ValueId) -> bool {
        self.declared[value.index()]
    }
}
