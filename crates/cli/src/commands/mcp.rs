//! `tessera mcp`: the Model Context Protocol on standard input and output (docs/tools.md).

use crate::server::{Limits, Server, mcp};
use crate::session::{FINE, Failure, Outcome, Session};
use std::io::{self, BufReader};
use std::sync::{Arc, Mutex};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example, as clients are configured:\n  {\"mcpServers\": {\"tessera\": {\"command\": \"tessera\", \
                        \"args\": [\"mcp\", \"--root\", \"kernels\"]}}}\n\nThe tools are those of `tessera serve`."
)]
pub struct Args {
    #[command(flatten)]
    limits: Limits,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let root = super::serve::root(&args.limits, session)?;
    let server = Server::start(args.limits.clone(), root);
    let out = Arc::new(Mutex::new(Box::new(io::stdout()) as Box<dyn io::Write + Send>));
    mcp::serve(&server, &mut BufReader::new(io::stdin()), out)
        .map_err(|e| Failure::usage(format!("cannot read requests: {e}")))?;
    Ok(FINE)
}
