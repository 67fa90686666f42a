//! The targets of `crates/testkit/examples/fuzz`, for libFuzzer: one binary each.

#[path = "../../crates/testkit/examples/fuzz/calls.rs"]
#[allow(dead_code)]
mod calls;
#[path = "../../crates/testkit/examples/fuzz/targets.rs"]
#[allow(dead_code)]
mod targets;

/// Gives an input to the target of this name.
pub fn run(name: &str, input: &[u8]) {
    if let Some(target) = targets::TARGETS.iter().find(|target| target.name == name) {
        (target.run)(input);
    }
}
