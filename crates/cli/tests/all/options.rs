//! What options of the command line mean.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use std::path::PathBuf;
use tessera::Literal;
use tessera_cli::bind::{file, value};
use tessera_cli::policy::{Format, Policy};
use tessera_isa::codec::Number;
use tessera_isa::diag::{Diagnostic, Severity};

#[test]
fn names_and_values_are_read() {
    let bound = file("%dst@1=a=b.npy").unwrap();
    assert_eq!((bound.name.as_str(), bound.core1, bound.to), ("dst", true, PathBuf::from("a=b.npy")));
    assert_eq!(value("n=0x10").unwrap().to, Literal::Bits(16));
    assert_eq!(value("n=-3").unwrap().to, Number::Int(-3).into());
    assert_eq!(value("n=1.5").unwrap().to, Number::Float(1.5).into());
    for bad in ["n", "n=", "=3", "n=abc", "n=--3"] {
        assert!(value(bad).is_err(), "{bad}");
    }
}

fn decided(strict: bool, allow: &[&'static str], deny: &[&'static str]) -> Option<Severity> {
    let mut policy = Policy::plain(Format::Human);
    (policy.strict, policy.allow, policy.deny) = (strict, allow.to_vec(), deny.to_vec());
    policy.apply(vec![Diagnostic::warning("footprint", "x")]).first().map(|d| d.severity)
}

#[test]
fn allow_beats_strict_and_deny_beats_allow() {
    assert_eq!(decided(false, &[], &[]), Some(Severity::Warning));
    assert_eq!(decided(true, &[], &[]), Some(Severity::Error));
    assert_eq!(decided(true, &["footprint"], &[]), None);
    assert_eq!(decided(false, &["footprint"], &["footprint"]), Some(Severity::Error));
    assert_eq!(decided(false, &["overlap"], &["overlap"]), Some(Severity::Warning));
}
