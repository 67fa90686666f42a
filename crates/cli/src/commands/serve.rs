//! `tessera serve`: JSON lines on standard input and output, or HTTP on loopback (docs/tools.md).

use crate::server::{Limits, Server, http, lines};
use crate::session::{FINE, Failure, Outcome, Session};
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tessera serve                    (JSON lines on standard input and output)\n  tessera serve --http \
                  8080 --root kernels\n\nA line is a request: {\"id\": 1, \"tool\": \"check\", \"arguments\": {\"program\": \
                  \"…\"}}. {\"id\": 0, \"tool\": \"tools\"} lists the tools with their schemas. {\"cancel\": 1} takes a \
                  request back. The server reads no file outside of --root, writes none, and opens no connection."
)]
pub struct Args {
    /// Answer HTTP on this port of loopback instead; 0 takes a free one, which is told on standard error
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    #[command(flatten)]
    limits: Limits,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let root = root(&args.limits, session)?;
    if let Some(port) = args.http {
        let listener = http::listen(port).map_err(|e| {
            Failure::usage(format!("cannot listen on port {port} of 127.0.0.1: {e}; --http 0 takes a free one"))
        })?;
        let server = Server::start(args.limits.clone(), root);
        let place = listener.local_addr().map_or(String::new(), |a| a.to_string());
        writeln!(session.stderr, "listening on http://{place}")?;
        session.stderr.flush()?;
        http::serve(&server, &listener);
        return Ok(FINE);
    }
    let server = Server::start(args.limits.clone(), root);
    let out = Arc::new(Mutex::new(Box::new(io::stdout()) as Box<dyn io::Write + Send>));
    lines::serve(&server, &mut BufReader::new(io::stdin()), out)
        .map_err(|e| Failure::usage(format!("cannot read requests: {e}")))?;
    Ok(FINE)
}

/// The folder of files, without links.
pub fn root(limits: &Limits, session: &Session<'_>) -> Result<Option<PathBuf>, Failure> {
    let Some(dir) = &limits.root else { return Ok(None) };
    let full = session.path(dir).canonicalize().map_err(|e| Failure::file("read", dir, &e))?;
    match full.is_dir() {
        true => Ok(Some(full)),
        false => Err(Failure::usage(format!("{} is no folder", dir.display()))),
    }
}
