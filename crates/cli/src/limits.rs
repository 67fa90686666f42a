//! The limits of a run: `--max-steps` and `--max-memory`.

use std::time::Duration;
use tessera::program;

/// The options.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Limits {
    /// Stop a block after this many steps (operations and loop iterations); K, M and G are thousands, millions, …
    #[arg(long, value_name = "N", default_value = "250M", value_parser = steps)]
    max_steps: u64,
    /// Stop when the memories of a block need more than this, bound arguments excluded; such as 512MiB or 4GiB
    #[arg(long, value_name = "BYTES", default_value = "1GiB", value_parser = memory)]
    max_memory: u64,
}

impl From<Limits> for program::Limits {
    fn from(limits: Limits) -> Self {
        program::Limits { steps: limits.max_steps, memory: limits.max_memory }
    }
}

pub(crate) fn steps(text: &str) -> Result<u64, String> {
    scaled(text, 1000).ok_or_else(|| format!("'{text}' is no number of steps, such as 1000000, 500M or 2G"))
}

pub(crate) fn memory(text: &str) -> Result<u64, String> {
    let digits = text.strip_suffix("iB").unwrap_or(text);
    scaled(digits, 1024).ok_or_else(|| format!("'{text}' is no number of bytes, such as 1048576, 512MiB or 4GiB"))
}

/// A time of at least a second.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*seconds).filter(|n| *n > 0)
    });
    seconds.map(Duration::from_secs).ok_or_else(|| format!("'{text}' is no time, such as 90s, 10m or 2h"))
}

/// A number of at least 1 with a unit or without.
fn scaled(text: &str, unit: u64) -> Option<u64> {
    let unit_of = |(u, power): (char, u32)| Some((text.strip_suffix(u)?, power));
    let (digits, power) = [('K', 1), ('M', 2), ('G', 3), ('T', 4)].into_iter().find_map(unit_of).unwrap_or((text, 0));
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(unit.checked_pow(power)?).filter(|n| *n > 0)
}
