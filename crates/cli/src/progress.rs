//! How far long work is: a line on the terminal after a second, gone when the work is done.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tessera::program::Progress;

/// Nothing is said about what is done within this time.
const QUIET: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(200);

/// Is standard error a terminal that lines can be taken back on?
static TERMINAL: AtomicBool = AtomicBool::new(false);

/// Says that somebody looks at standard error.
pub fn enable() {
    TERMINAL.store(true, Ordering::Relaxed);
}

/// A line that is there until this is dropped.
#[derive(Default)]
pub struct Shown(Option<(Sender<()>, JoinHandle<()>)>);

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

/// Shows how far something is, where somebody looks.
pub fn show(line: impl Fn() -> String + Send + 'static) -> Shown {
    if !TERMINAL.load(Ordering::Relaxed) {
        return Shown::default();
    }
    let (end, ended) = channel::<()>();
    let thread = std::thread::spawn(move || {
        let mut wait = QUIET;
        let mut is_shown = false;
        // The channel closes when the work is done.
        while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
            wait = EVERY;
            is_shown = true;
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", line());
        }
        if is_shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    });
    Shown(Some((end, thread)))
}

/// The runs that are going on.
#[derive(Clone)]
struct Steps {
    what: &'static str,
    blocks: u32,
    progress: Arc<Progress>,
}

impl Steps {
    fn line(&self) -> String {
        let Steps { what, blocks, progress } = self;
        let steps = grouped(progress.steps.load(Ordering::Relaxed));
        let done = progress.blocks.load(Ordering::Relaxed);
        match blocks {
            1 => format!("{what}: {steps} steps"),
            _ => format!("{what}: {steps} steps, {} of {blocks} blocks", done % (blocks + 1)),
        }
    }
}

/// The last one that began.
static LATEST: Mutex<Option<Steps>> = Mutex::new(None);

/// Shows the steps of runs, and the blocks of one that has several.
pub fn steps(what: &'static str, blocks: u32) -> (Arc<Progress>, Shown) {
    let steps = Steps { what, blocks, progress: Arc::default() };
    let progress = steps.progress.clone();
    *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(steps.clone());
    (progress, show(move || steps.line()))
}

/// How far the work is, where its steps are counted.
pub fn so_far() -> Option<String> {
    LATEST.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Steps::line)
}

/// Takes a line back that is shown.
pub fn erase() -> &'static str {
    if TERMINAL.load(Ordering::Relaxed) { "\r\x1b[K" } else { "" }
}

/// `12,345,678`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let parts = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    parts.collect::<Vec<_>>().join(",")
}
