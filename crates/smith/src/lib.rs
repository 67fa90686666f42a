#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

#[allow(missing_docs, reason = "the fields say what they are")]
pub mod candidate;
mod draft;
mod illegal;
mod program;
pub mod reduce;
pub mod random;
mod support;

pub use program::{Feature, MOST, Made, Options, Refused, family_name, smith};
pub use illegal::{Illegal, illegal};
