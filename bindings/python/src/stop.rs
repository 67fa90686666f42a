//! ^C ends a run.

use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tessera::program::Progress;

/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// Does work that looks at its progress now and then. Another thread does it, because this one may be the only one that
/// Python tells of signals: an exception of a handler, such as `KeyboardInterrupt`, stops the work and is raised.
pub fn stoppable<T: Send>(py: Python<'_>, work: impl FnOnce(Arc<Progress>) -> T + Send) -> PyResult<T> {
    let progress = Arc::new(Progress::default());
    let told = progress.clone();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, waits) = channel();
            let worker = scope.spawn(move || {
                let result = work(told);
                // Nobody waits any more after a signal.
                let _ = done.send(());
                result
            });
            let mut signal = None;
            while signal.is_none() && waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                signal = Python::attach(|py| py.check_signals()).err();
            }
            progress.stop.store(signal.is_some(), Ordering::Relaxed);
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            signal.map_or(Ok(result), Err)
        })
    })
}
