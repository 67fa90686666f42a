//! The options that decide how the order of pipes is judged (sync.md 3 and 4).

use clap::ValueEnum;
use tessera::{OrderMode, OrderOptions};

/// Who orders the pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The program, by flags and barriers
    Manual,
    /// The assembler
    Auto,
}

impl Mode {
    /// What it means.
    pub fn meant(self) -> OrderMode {
        match self {
            Mode::Manual => OrderMode::Manual,
            Mode::Auto => OrderMode::Auto,
        }
    }
}

#[derive(Clone, Debug, clap::Args)]
pub struct OrderArgs {
    /// Who inserts synchronization. Default: manual if the program has any flag or barrier, else auto
    #[arg(long, value_enum, value_name = "MODE")]
    pub order: Option<Mode>,
    /// With `--races`: assume that buffers of different arguments do not overlap
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value = "true", default_missing_value = "true",
          action = clap::ArgAction::Set, require_equals = true)]
    pub assume_disjoint: bool,
    /// With `--races`: assume that other ranks run the same kernel and keep to its signals
    #[arg(long)]
    pub assume_ranks: bool,
}

impl OrderArgs {
    /// What they mean.
    pub fn options(&self) -> OrderOptions {
        OrderOptions {
            mode: self.order.map(Mode::meant),
            disjoint: self.assume_disjoint,
            assume_ranks: self.assume_ranks,
            ..OrderOptions::default()
        }
    }
}
