//! The bounds of the process: processor time and memory.
//!
//! Steps, work and memories of a run have limits of their own, which say more. These two hold for what those do not
//! count: a second thread looks at the process a hundred times a second and ends it with exit code 3.

use crate::progress::{self, grouped};
use crate::session::UNDECIDED;
use crate::{interrupt, limits, output};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The options.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Limits of the process")]
pub struct Bounds {
    /// Stop after this much processor time, such as 90s, 10m or 2h
    #[arg(long, global = true, value_name = "TIME", default_value = "25s", value_parser = limits::time)]
    limit_time: Duration,
    /// Stop when the process holds more memory than this, input files excluded; such as 4GiB
    #[arg(long, global = true, value_name = "BYTES", default_value = "960MiB", value_parser = limits::memory)]
    limit_memory: u64,
}

/// How often the process is looked at.
const EVERY: Duration = Duration::from_millis(10);

/// A byte of a file may be held so often: as it was read, as it is bound, and as it comes out.
const COPIES: u64 = 4;

/// Whether the process may be ended.
static ENABLED: AtomicBool = AtomicBool::new(false);

/// The bytes of files that were read.
static READ: AtomicU64 = AtomicU64::new(0);

/// The number of cases that the time is for.
static CASES: AtomicU64 = AtomicU64::new(1);

/// The number of cases that run at once, each with a process's memory.
static AT_ONCE: AtomicU64 = AtomicU64::new(1);

/// The process is the command's own.
pub fn enable() {
    ENABLED.store(true, Ordering::Relaxed);
}

/// A file was read, which the memory does not count.
pub fn has_read(bytes: u64) {
    READ.fetch_add(bytes, Ordering::Relaxed);
}

/// There are several cases; each has the time and the memory of a command.
pub fn cases(all: usize, at_once: usize) {
    CASES.store(all.max(1) as u64, Ordering::Relaxed);
    AT_ONCE.store(at_once.max(1) as u64, Ordering::Relaxed);
}

/// Ends the process at its bounds.
pub fn start(bounds: Bounds) {
    if !ENABLED.load(Ordering::Relaxed) {
        return;
    }
    let begun = Instant::now();
    // Without a second thread there are no bounds, and nothing else is wrong.
    let _ = std::thread::Builder::new().name("watchdog".into()).spawn(move || {
        loop {
            std::thread::sleep(EVERY);
            if let Some(met) = met(bounds, begun) {
                interrupt::stop();
                let _held = output::abandon();
                let _ = writeln!(std::io::stderr(), "{}error: {met}", progress::erase());
                std::process::exit(UNDECIDED.into());
            }
        }
    });
}

/// The bound that was met, how far the work was, and the way out.
fn met(bounds: Bounds, begun: Instant) -> Option<String> {
    let used = processor_time().unwrap_or_else(|| begun.elapsed());
    let cases = CASES.load(Ordering::Relaxed);
    let so_far = || progress::so_far().map_or(String::new(), |line| format!(" ({line})"));
    if used >= bounds.limit_time.saturating_mul(cases.try_into().unwrap_or(u32::MAX)) {
        let seconds = bounds.limit_time.as_secs();
        let of = if cases > 1 { format!(" for each of {cases} cases") } else { String::new() };
        return Some(format!(
            "the limit of {} s of processor time{of} was met{}; --limit-time {}s allows more",
            grouped(seconds),
            so_far(),
            seconds.saturating_mul(4)
        ));
    }
    let allowed = bounds.limit_memory.saturating_mul(AT_ONCE.load(Ordering::Relaxed));
    let allowed = allowed.saturating_add(READ.load(Ordering::Relaxed).saturating_mul(COPIES));
    (resident()? > allowed).then(|| {
        let mebibytes = bounds.limit_memory >> 20;
        format!(
            "the limit of {mebibytes} MiB of memory was met{}; --limit-memory {}MiB allows more",
            so_far(),
            mebibytes.saturating_mul(4)
        )
    })
}

/// The processor time of all threads. Where the system does not tell, real time stands for it.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok().filter(|_| cfg!(target_os = "linux"))?;
    // The name of the process, in parentheses, may have spaces; user and system time are 12 and 13 fields behind it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    // Linux tells programs a hundredth of a second as a tick on every machine.
    Some(Duration::from_millis((ticks()? + ticks()?).saturating_mul(10)))
}

/// The bytes of the process that are in memory, where the system tells.
fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok().filter(|_| cfg!(target_os = "linux"))?;
    let [_, resident, shared] = statm.split_ascii_whitespace().take(3).collect::<Vec<_>>()[..] else { return None };
    let pages = resident.parse::<u64>().ok()?.saturating_sub(shared.parse::<u64>().ok()?);
    Some(pages.saturating_mul(PAGE))
}

/// The bytes of a page; where pages are larger, less memory is seen than there is.
const PAGE: u64 = 4096;
