//! Tessera in a web page: requests and answers are JSON, one function does all.
//!
//! The page (`explorer/page`) draws and listens; everything that is known comes from here, and nothing here knows how it
//! looks. As WebAssembly the crate exports three functions: [`tessera_alloc`], [`tessera_free`] and [`tessera_call`].

mod answers;
mod copy;
mod instruction;
mod layout;
mod pairs;
mod program;
mod run;
mod setup;
mod timeline;
mod values;

use serde::Deserialize;
use serde_json::{Value, json};

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Request {
    /// The names that a page offers, and a program for each instruction.
    Catalog,
    Layout(layout::Ask),
    /// One instruction: legality, operands, what moves where.
    Instruction(instruction::Ask),
    /// One element of an instruction's operands.
    Element(instruction::AskElement),
    /// Everything that can be said without running.
    Check(program::Ask),
    Run(run::Ask),
    /// When everything happens.
    Timeline(setup::Ask),
    Origin(pairs::AskOrigin),
    Equiv(pairs::AskEquiv),
    Copy(copy::Ask),
}

/// Answers a request. What is wrong with it is an answer too: `{"error": …}`.
///
/// ```
/// let answer = tessera_explorer::call(r#"{"do": "layout", "type": "16x32xf16", "profile": "a5"}"#);
/// assert!(answer.contains("\"layout\""), "{answer}");
/// assert!(tessera_explorer::call("?").contains("error"));
/// ```
pub fn call(request: &str) -> String {
    let answer = match serde_json::from_str(request) {
        Ok(Request::Catalog) => Ok(answers::catalog()),
        Ok(Request::Layout(ask)) => layout::answer(&ask),
        Ok(Request::Instruction(ask)) => instruction::answer(&ask),
        Ok(Request::Element(ask)) => instruction::element(&ask),
        Ok(Request::Check(ask)) => program::answer(&ask),
        Ok(Request::Run(ask)) => run::answer(&ask),
        Ok(Request::Timeline(ask)) => timeline::answer(&ask),
        Ok(Request::Origin(ask)) => pairs::origin(&ask),
        Ok(Request::Equiv(ask)) => pairs::equiv(&ask),
        Ok(Request::Copy(ask)) => copy::answer(&ask),
        Err(error) => Err(format!("this is no request: {error}")),
    };
    answer.unwrap_or_else(|error: String| json!({ "error": error })).to_string()
}

/// What requests come to.
type Answer = Result<Value, String>;

/// Memory for so many bytes of a request.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_alloc(len: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; len].into_boxed_slice()).cast()
}

/// Gives memory back that [`tessera_alloc`] or [`tessera_call`] handed out.
///
/// # Safety
///
/// `at` and `len` are what one of them gave, and nobody uses them any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_free(at: *mut u8, len: usize) {
    // SAFETY: the caller gives back a boxed slice of this length, once.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, len)) });
}

/// Answers the request in these bytes: the length of the answer in the upper half, its address in the lower.
///
/// # Safety
///
/// `at` and `len` are a piece of memory that [`tessera_alloc`] gave and that holds text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_call(at: *const u8, len: usize) -> u64 {
    // SAFETY: the caller says that these bytes are there.
    let request = unsafe { std::slice::from_raw_parts(at, len) };
    let answer = call(&String::from_utf8_lossy(request)).into_bytes().into_boxed_slice();
    let len = answer.len() as u64;
    len << 32 | (Box::into_raw(answer).cast::<u8>() as u64 & 0xFFFF_FFFF)
}
