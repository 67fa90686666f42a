//! What is still put out when the process is stopped: the best result so far.

use std::sync::{Mutex, PoisonError};

type Last = Box<dyn Fn() + Send>;

static LAST: Mutex<Option<Last>> = Mutex::new(None);

/// While it lives, an interrupt or a limit of the process puts something out first.
#[derive(Debug)]
pub struct Guard(());

/// Asks for something to be done if the process is stopped.
pub fn at_stop(last: impl Fn() + Send + 'static) -> Guard {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(last));
    Guard(())
}

impl Drop for Guard {
    fn drop(&mut self) {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The process is being stopped.
pub fn stop() {
    if let Some(last) = LAST.lock().unwrap_or_else(PoisonError::into_inner).take() {
        last();
    }
}
