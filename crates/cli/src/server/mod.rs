//! One process that answers many requests: JSON lines, HTTP on loopback, and the Model Context Protocol are three ways to
//! ask the same [`Server`] (docs/tools.md).
//!
//! Requests wait in one queue and are worked on by as many threads as there are cores. Every request is answered once. A
//! request that is cancelled or takes too long is answered at once; the work that it left ends at the limit of steps, and a
//! new thread takes its place. Nothing outside of the folder that is given at the start is read, and nothing is written.

mod arrays;
pub mod http;
pub mod lines;
pub mod mcp;
mod tools;

pub use tools::TOOLS;

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limits of every request.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Limits of a request")]
pub struct Limits {
    /// Files that requests may name lie in this folder; without it, requests name no files
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Stop a request that takes longer
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = crate::limits::time)]
    pub request_time: Duration,
    /// Memory of a run
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = crate::limits::memory)]
    pub request_memory: u64,
    /// Steps of a run
    #[arg(long, value_name = "N", default_value_t = 4_000_000)]
    pub request_steps: u64,
    /// The longest request
    #[arg(long, value_name = "BYTES", default_value = "16MiB", value_parser = crate::limits::memory)]
    pub request_size: u64,
    /// The longest answer
    #[arg(long, value_name = "BYTES", default_value = "16MiB", value_parser = crate::limits::memory)]
    pub answer_size: u64,
    /// Requests that may wait at once
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub queue: usize,
    /// Memory of all requests that wait or are worked on
    #[arg(long, value_name = "BYTES", default_value = "512MiB", value_parser = crate::limits::memory)]
    pub queue_memory: u64,
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// A word for programs.
    pub code: &'static str,
    /// A sentence.
    pub message: String,
}

impl Refusal {
    pub fn new(code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }

    pub fn json(&self) -> Value {
        json!({"code": self.code, "message": self.message})
    }
}

/// What a request is answered with.
pub type Answer = Result<Value, Refusal>;

type Reply = Box<dyn FnOnce(Answer) + Send>;

/// A part of the memory that requests may hold, given back when it is dropped.
pub struct Held {
    all: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

/// The bytes that a value takes, about.
fn weight(value: &Value) -> u64 {
    let own = size_of::<Value>() as u64;
    own + match value {
        Value::String(text) => text.len() as u64,
        Value::Array(all) => all.iter().map(weight).sum(),
        Value::Object(all) => all.iter().map(|(key, value)| own + key.len() as u64 + weight(value)).sum(),
        _ => 0,
    }
}

/// A request that waits or is worked on.
struct Job {
    tool: String,
    arguments: Value,
    _held: Held,
    is_cancelled: Arc<AtomicBool>,
    /// Taken by whoever answers.
    reply: Mutex<Option<Reply>>,
    begun: Mutex<Option<Instant>>,
    /// Whether another thread took the place of the one that works on it.
    is_replaced: AtomicBool,
}

impl Job {
    fn answer(&self, answer: Answer) -> bool {
        match lock(&self.reply).take() {
            Some(reply) => {
                reply(answer);
                true
            }
            None => false,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Arc<Job>>,
    working: Vec<Arc<Job>>,
    is_closed: bool,
}

/// The queue with its threads.
pub struct Server {
    limits: Limits,
    /// The folder of files, without links.
    root: Option<PathBuf>,
    queue: Mutex<Queue>,
    changed: Condvar,
    open: AtomicUsize,
    /// The bytes of requests.
    held: Arc<AtomicU64>,
}

/// Work that nobody waits for any more, at most; what comes then waits until some of it has ended.
const MOST_ABANDONED: usize = 32;

impl Server {
    /// Starts the threads.
    pub fn start(limits: Limits, root: Option<PathBuf>) -> Arc<Server> {
        let server = Arc::new(Server {
            limits,
            root,
            queue: Mutex::default(),
            changed: Condvar::new(),
            open: AtomicUsize::new(0),
            held: Arc::default(),
        });
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        for _ in 0..threads {
            server.spawn();
        }
        let watched = Arc::downgrade(&server);
        let _ = std::thread::Builder::new().name("limits".into()).spawn(move || {
            while let Some(server) = watched.upgrade() {
                server.watch();
                drop(server);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        server
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn spawn(self: &Arc<Self>) {
        let server = self.clone();
        let _ = std::thread::Builder::new().name("request".into()).stack_size(16 << 20).spawn(move || server.work());
    }

    /// Takes a part of the memory of requests. One request has room, however large it is.
    pub fn hold(&self, bytes: u64) -> Result<Held, Refusal> {
        let before = self.held.fetch_add(bytes, Ordering::SeqCst);
        let held = Held { all: self.held.clone(), bytes };
        let most = self.limits.queue_memory;
        if before > 0 && before.saturating_add(bytes) > most {
            let what = format!(
                "{before} bytes of requests wait already, this one has {bytes}, and {most} are the most; ask again later, \
                 or start with more --queue-memory"
            );
            return Err(Refusal::new("busy", what));
        }
        Ok(held)
    }

    /// Puts a request into the queue; `is_cancelled` takes it back. The reply comes once, on any thread.
    pub fn ask(
        &self,
        tool: &str,
        arguments: Value,
        is_cancelled: Arc<AtomicBool>,
        reply: impl FnOnce(Answer) + Send + 'static,
    ) {
        let held = match self.hold(weight(&arguments)) {
            Ok(held) => held,
            Err(refusal) => return reply(Err(refusal)),
        };
        let job = Arc::new(Job {
            tool: tool.into(),
            arguments,
            _held: held,
            is_cancelled,
            reply: Mutex::new(Some(Box::new(reply))),
            begun: Mutex::new(None),
            is_replaced: AtomicBool::new(false),
        });
        let mut queue = lock(&self.queue);
        if queue.waiting.len() >= self.limits.queue {
            drop(queue);
            let what =
                format!("{} requests wait already; ask again later, or start with a longer --queue", self.limits.queue);
            job.answer(Err(Refusal::new("busy", what)));
            return;
        }
        self.open.fetch_add(1, Ordering::SeqCst);
        queue.waiting.push_back(job);
        drop(queue);
        self.changed.notify_all();
    }

    /// Waits until every request has been answered.
    pub fn finish(&self) {
        let mut queue = lock(&self.queue);
        while self.open.load(Ordering::SeqCst) > 0 {
            queue =
                self.changed.wait_timeout(queue, Duration::from_millis(20)).unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.is_closed = true;
        drop(queue);
        self.changed.notify_all();
    }

    fn work(self: Arc<Self>) {
        loop {
            let job = {
                let mut queue = lock(&self.queue);
                loop {
                    if let Some(job) = queue.waiting.pop_front() {
                        queue.working.push(job.clone());
                        break job;
                    }
                    if queue.is_closed {
                        return;
                    }
                    queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
            };
            *lock(&job.begun) = Some(Instant::now());
            let answer = match job.is_cancelled.load(Ordering::SeqCst) {
                true => Err(cancelled()),
                false => self.answer(&job),
            };
            lock(&self.queue).working.retain(|other| !Arc::ptr_eq(other, &job));
            if job.answer(answer) {
                self.answered();
            } else if job.is_replaced.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    fn answered(&self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// The answer of a tool; a defect of the tool is one, too.
    fn answer(&self, job: &Job) -> Answer {
        let work = || tools::answer(self, &job.tool, &job.arguments, &job.is_cancelled);
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let answer = answer.unwrap_or_else(|_| {
            Err(Refusal::new(
                "internal",
                format!("{} stopped by a defect of the tool; please report the request", job.tool),
            ))
        })?;
        let size = answer.to_string().len() as u64;
        if size > self.limits.answer_size {
            let most = self.limits.answer_size;
            let what =
                format!("the answer has {size} bytes, more than {most}; ask for fewer outputs, or give \"head\"");
            return Err(Refusal::new("output", what));
        }
        Ok(answer)
    }

    /// Answers what is cancelled or takes too long.
    fn watch(self: &Arc<Self>) {
        let mut queue = lock(&self.queue);
        let (gone, kept): (Vec<_>, Vec<_>) =
            queue.waiting.drain(..).partition(|job| job.is_cancelled.load(Ordering::SeqCst));
        queue.waiting.extend(kept);
        let mut stopped = Vec::new();
        for job in &queue.working {
            let begun = *lock(&job.begun);
            let is_late = begun.is_some_and(|begun| begun.elapsed() > self.limits.request_time);
            if is_late || job.is_cancelled.load(Ordering::SeqCst) {
                stopped.push((job.clone(), is_late));
            }
        }
        let abandoned = queue.working.iter().filter(|job| lock(&job.reply).is_none()).count();
        drop(queue);
        for job in gone {
            if job.answer(Err(cancelled())) {
                self.answered();
            }
        }
        for (job, is_late) in stopped {
            let seconds = self.limits.request_time.as_secs_f64();
            let why = match is_late {
                true => Refusal::new(
                    "time",
                    format!("{} took longer than {seconds} s; start with more --request-time", job.tool),
                ),
                false => cancelled(),
            };
            // What is asked to stop is told so.
            job.is_cancelled.store(true, Ordering::SeqCst);
            if job.answer(Err(why)) {
                self.answered();
                if abandoned < MOST_ABANDONED {
                    job.is_replaced.store(true, Ordering::SeqCst);
                    self.spawn();
                }
            }
        }
    }
}

fn cancelled() -> Refusal {
    Refusal::new("cancelled", "the request was cancelled")
}
