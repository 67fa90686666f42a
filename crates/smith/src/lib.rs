#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

#[allow(missing_docs, reason = "the fields say what they are")]
pub mod candidate;
mod draft;
pub mod gym;
mod illegal;
mod program;
pub mod random;
pub mod reduce;
mod support;

pub use illegal::{Illegal, illegal};
pub use program::{Feature, MOST, Made, Options, Refused, family_name, smith};
