//! The language server, as an editor uses it: tasks from a broken program to a sound one, and every request on every sample
//! program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "lsp/client.rs"]
mod client;
#[path = "lsp/samples.rs"]
mod samples;
#[path = "lsp/session.rs"]
mod session;
#[path = "lsp/tasks.rs"]
mod tasks;
