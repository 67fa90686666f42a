//! C++ names of values.

use std::collections::HashSet;
use tessera_ir::{Func, Module, ValueId};

/// Words that cannot name a variable: of C++, and of what the headers declare.
const RESERVED: &str = "\
    alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default \
    delete do double else enum explicit export extern false float for friend goto if inline int long main \
    mutable namespace new noexcept not nullptr operator or private protected public register return short signed \
    sizeof static struct switch template this throw true try typedef typeid typename union unsigned using \
    virtual void volatile while xor half bfloat16_t hifloat8_t pto std block_idx block_num cfg key counter int8_t int16_t \
    int32_t int64_t uint8_t uint16_t uint32_t uint64_t event_t pipe_t set_flag wait_flag pipe_barrier errno \
    stdin stdout stderr signal index linux unix";

/// The name of each value, and how it is used.
pub(crate) struct Names {
    /// The name, unique in the function.
    names: Vec<String>,
    /// The expression that stands for the value, where it is not the name: a literal, or what a pointer points to.
    expressions: Vec<Option<String>>,
    declared: Vec<bool>,
    taken: HashSet<String>,
}

impl Names {
    /// A name for every value of the function.
    pub fn new(module: &Module, func: &Func) -> Self {
        let mut all = Names {
            names: Vec::new(),
            expressions: vec![None; func.values.len()],
            declared: vec![false; func.values.len()],
            taken: RESERVED.split_whitespace().map(str::to_string).collect(),
        };
        for value in &func.values {
            let name = all.fresh(module.names.text(value.name));
            all.names.push(name);
        }
        all
    }

    /// A free name similar to this one.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        // Names of the headers begin with a capital; a leading underscore and a double one belong to the compiler.
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            name.insert(0, 'v');
        }
        while name.contains("__") {
            name = name.replace("__", "_");
        }
        let mut unique = name.clone();
        let mut n = 2;
        while !self.taken.insert(unique.clone()) {
            unique = format!("{name}_{n}");
            n += 1;
        }
        unique
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
