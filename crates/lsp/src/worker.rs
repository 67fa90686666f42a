//! The thread that judges: the newest version of each document, rules at once, what takes long when the typing rests.

use crate::snapshot::Snapshot;
use gen_lsp_types::{Notification as _, PublishDiagnosticsNotification, PublishDiagnosticsParams, Uri};
use lsp_server::{Message, Notification, Request, RequestId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The quiet period before heavy work starts.
const REST: Duration = Duration::from_millis(150);

/// A message to the worker.
pub enum Task {
    Judge(Arc<Snapshot>),
    /// The document is closed, and nothing is wrong with it any more.
    Forget(Uri),
    /// Ask for hints anew when there are placements.
    Refresh,
}

/// Sends findings; returns false if the receiver is gone.
pub type Out = Arc<dyn Fn(Message) -> bool + Send + Sync>;

/// Starts the thread; it ends when the sender is dropped.
pub fn start(out: Out) -> std::io::Result<(Sender<Task>, JoinHandle<()>)> {
    let (sender, receiver) = channel();
    let worker = Worker { receiver, out, newest: HashMap::new(), refreshes: false };
    let thread = std::thread::Builder::new().name("tessera-judge".into()).stack_size(STACK).spawn(|| worker.run())?;
    Ok((sender, thread))
}

/// Programs nest up to 256 regions deep, and every walk over them recurses.
const STACK: usize = 16 << 20;

/// The progress of a version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Rules,
    Rest,
    Done,
}

struct Worker {
    receiver: Receiver<Task>,
    out: Out,
    newest: HashMap<Uri, (Arc<Snapshot>, Stage)>,
    refreshes: bool,
}

impl Worker {
    fn run(mut self) {
        while self.step() {}
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::Judge(snapshot) => {
                self.newest.insert(snapshot.uri.clone(), (snapshot, Stage::Rules));
            }
            Task::Forget(uri) => {
                self.newest.remove(&uri);
                self.publish(PublishDiagnosticsParams { uri, version: None, diagnostics: Vec::new() });
            }
            Task::Refresh => self.refreshes = true,
        }
    }

    /// Takes what has come in, then does one piece of work; false when everything is over.
    fn step(&mut self) -> bool {
        while let Ok(task) = self.receiver.try_recv() {
            self.take(task);
        }
        if let Some(snapshot) = self.next(Stage::Rules) {
            // In a short text what was found does not vanish while one types.
            guarded(|| self.tell(&snapshot, snapshot.is_small()));
            return true;
        }
        let waits = self.newest.values().any(|(_, stage)| *stage == Stage::Rest);
        let task = match waits {
            true => self.receiver.recv_timeout(REST),
            false => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match task {
            Ok(task) => self.take(task),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(snapshot) = self.next(Stage::Rest) {
                    guarded(|| self.heavy(&snapshot));
                }
            }
        }
        true
    }

    /// A version at a stage, which is then over.
    fn next(&mut self, stage: Stage) -> Option<Arc<Snapshot>> {
        let (snapshot, at) = self.newest.values_mut().find(|(_, at)| *at == stage)?;
        *at = if stage == Stage::Rules { Stage::Rest } else { Stage::Done };
        Some(snapshot.clone())
    }

    fn heavy(&self, snapshot: &Snapshot) {
        if !snapshot.is_small() && !snapshot.races().is_empty() {
            self.tell(snapshot, true);
        }
        snapshot.places();
        if self.refreshes {
            let id = RequestId::from(format!("hints {}", snapshot.version));
            (self.out)(Request::new(id, "workspace/inlayHint/refresh".into(), ()).into());
        }
    }

    fn tell(&self, snapshot: &Snapshot, with_races: bool) {
        let races = if with_races { snapshot.races() } else { &[] };
        let diagnostics = snapshot.findings().iter().chain(races).map(|f| f.publish(snapshot)).collect();
        let (uri, version) = (snapshot.uri.clone(), Some(snapshot.version));
        self.publish(PublishDiagnosticsParams { uri, version, diagnostics });
    }

    fn publish(&self, params: PublishDiagnosticsParams) {
        let method = PublishDiagnosticsNotification::METHOD.to_string();
        (self.out)(Notification::new(method, params).into());
    }
}

/// A defect must not end the session.
fn guarded(work: impl FnOnce()) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
}
