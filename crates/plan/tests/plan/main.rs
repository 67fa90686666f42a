//! Placement, its checker and its tools, on programs that are built without text.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod build;
mod placement;
mod random;
mod tools;
