//! The same in numpy, in a process of its own that waits for its turn.

use crate::cases::Case;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Numpy {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Numpy {
    pub fn start(case: &Case) -> Option<Numpy> {
        let arrays: String = case
            .arrays
            .iter()
            .enumerate()
            .map(|(k, a)| {
                let shape = a.shape.map_or(String::new(), |[r, c]| format!(".reshape({r}, {c})"));
                let (n, t, values) = (a.elements, a.numpy_type(), a.numpy_values(k));
                format!("n = np.arange({n})\n{} = ({values}).astype(np.{t}){shape}\n", a.name)
            })
            .collect();
        let work = case.numpy.join("\n");
        let script = format!(
            "import numpy as np, sys, time
{arrays}{}
work = compile('''{work}''', 'work', 'exec')
for _ in range(20): exec(work)
print('ready', flush=True)
for line in sys.stdin:
    times = []
    for _ in range(12):
        start = time.perf_counter()
        exec(work)
        times.append(time.perf_counter() - start)
    print(min(times) * 1e6, flush=True)
",
            case.numpy_setup
        );
        let mut command = Command::new("python3");
        command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
            command.env(threads, "1");
        }
        let mut child = command.spawn().ok()?;
        let (to, from) = (child.stdin.take()?, child.stdout.take()?);
        let mut numpy = Numpy { child, to, from: BufReader::new(from) };
        numpy.line().filter(|line| line == "ready").map(|_| numpy)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.from.read_line(&mut line).ok()?;
        Some(line.trim().to_string())
    }

    /// Microseconds of one time.
    pub fn time(&mut self) -> Option<f64> {
        self.to.write_all(b"go\n").ok()?;
        self.to.flush().ok()?;
        self.line()?.parse().ok()
    }
}

impl Drop for Numpy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
