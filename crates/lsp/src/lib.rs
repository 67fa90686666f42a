//! The language server: PTO programs in editors.
//!
//! [`serve`] talks the Language Server Protocol over a [`Connection`]. It knows no instruction: what a text says is asked
//! of `tessera-pto-asm`, what is legal of [`tessera::Program`], and how things look of whoever starts it ([`Pages`]).
//!
//! A [`snapshot::Snapshot`] is one version of a document: it is read once, and everything that requests need of it is
//! made when it is first asked for and kept. Requests are answered in their order on one thread; a second one judges the
//! newest version of each document and tells the client ([`worker`]).

mod actions;
mod apply;
mod colours;
mod complete;
mod config;
mod context;
mod findings;
mod fixes;
mod hints;
mod hover;
mod navigate;
mod outline;
mod server;
mod signature;
mod snapshot;
mod symbols;
mod text;
mod worker;

pub use apply::{Applied, Fixed, fix};
pub use lsp_server::{Connection, Message, Notification, Request, Response, ResponseError};
pub use server::{Exit, serve};

use tessera::{Opcode, Profile};
use tessera_isa::tile::Tile;

/// The scheme of the addresses of pages: `tessera-explain:tmov-loc`.
pub const SCHEME: &str = "tessera-explain";

/// Rendering of pages, as the `tessera` command shows them.
pub trait Pages: Send + Sync {
    /// The page of an instruction, rule, type, attribute, word or topic.
    fn explain(&self, name: &str) -> Option<String>;

    /// A tile drawn, with its formula, boxes and footprint.
    fn layout(&self, tile: &Tile, profile: Profile) -> String;

    /// A line of an instruction in each of its forms: assembly, SSA, DPS, where it has them.
    fn examples(&self, op: Opcode) -> Vec<[String; 3]>;
}
