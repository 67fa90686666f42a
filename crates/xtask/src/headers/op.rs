//! The names that events are made of (cpp.md 7): instructions by pipe, and every other instruction by its own name.

use std::fmt::Write;
use tessera_isa::ops::Opcode;

/// What one instruction is called where it depends on its operands which pipe runs it.
const BY_PIPE: &str = "TLOAD TEXPANDS_MAT TPREFETCH TFILLPAD_MAT MGATHER_MAT TSTORE_VEC TSTORE_MAT TMOV_M2B TMOV_M2L TMOV_M2R \
    TEXTRACT_M2LR TIMG2COL TMATMUL TGEMV TMOV_V2M TEXTRACT_V2M TMOV_M2S TMOV_A2V TMOV_A2M TSTORE_ACC TEXTRACT_A2M TINSERT_A2M \
    SCALAR TRESHAPE TCI SETFMATRIX SET_IMG2COL_RPT SET_IMG2COL_PADDING VECTOR TMOV_V2V TFILLPAD_VEC MGATHER_VEC MSCATTER";

/// Fused instructions that C++ has and text has not (cpp.md 6.1).
const FUSED: &str = "TSUBRELU TMULADDDST TFUSEDMULADD TFUSEDMULADDRELU TADDRELUCONV TSUBRELUCONV TADDDEQRELU";

/// `enum class Op`.
pub(super) fn names() -> String {
    let mut names: Vec<&str> = BY_PIPE.split_whitespace().collect();
    for name in Opcode::ALL.iter().flat_map(|op| op.info().cpp).copied().chain(FUSED.split_whitespace()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut body = String::from("enum class Op : uint32_t {\n");
    for name in names.iter().chain(&["OP_COUNT"]) {
        writeln!(body, "    {name},").unwrap();
    }
    body.push_str("};\n");
    super::header("PTO_COMMON_OP_HPP", "The names that events are made of.", "constants.hpp", &body)
}
