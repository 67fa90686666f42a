//! `sync.set` and `sync.wait` between cores (sync.md 5).

use super::super::step::{Exec, Stop};
use super::links::{Links, Wait};
use crate::lower::{Failure, failure};
use tessera_ir::{Core, OpId, OpKind};
use tessera_isa::diag::Diagnostic;
use tessera_isa::profile::Profile;

/// A counter holds no more.
const MOST: u8 = 15;

fn give(counter: &mut u8, id: i64) -> Result<(), Failure> {
    if *counter >= MOST {
        let what = format!("a token with id {id} is given, and {MOST} of them have not been taken");
        return Err(failure("sync-overflow", what, "wait for tokens before more are given"));
    }
    *counter += 1;
    Ok(())
}

impl Exec<'_> {
    /// The index of an id, and the vector core that it is for on cpu and a5.
    fn token_of(&self, id: i64) -> Result<(usize, usize), Failure> {
        let is_cube = self.cx.process.core == Some(Core::Cube);
        let most = if is_cube && self.cx.profile != Profile::A2a3 { 31 } else { 15 };
        match usize::try_from(id).ok().filter(|id| *id <= most) {
            Some(id) => Ok((id % 16, id / 16)),
            None => {
                let what = format!("id {id} is no id of {} on {}", self.cx.process.name(), self.cx.profile);
                Err(failure("flag-id-range", what, format!("ids are 0 to {most}")))
            }
        }
    }

    pub(super) fn give(&mut self, id: i64, mode: i128) -> Result<(), Stop> {
        let (token, core) = self.token_of(id)?;
        let process = self.cx.process;
        let on_a2a3 = self.cx.profile == Profile::A2a3;
        let blocks = self.cx.blocks;
        let me = usize::from(process.number);
        let Some(links) = &mut self.links else { return Ok(()) };
        links.events += 1;
        match (process.core, mode) {
            (_, 0) if on_a2a3 && blocks > 1 => {
                let what = "all blocks meet here (ffts_mode = 0), and Tessera runs blocks one by one";
                return Err(Failure::from(failure("not-executable", what, "run one block")).into());
            }
            (Some(Core::Cube), 0) if on_a2a3 => give(&mut links.met[token], id)?,
            (Some(Core::Vector), 0 | 1) if on_a2a3 => {
                give(&mut links.arrived[me][token], id)?;
                if links.arrived.iter().all(|by| by[token] > 0) {
                    links.arrived.iter_mut().for_each(|by| by[token] -= 1);
                    for to in &mut links.from_cube {
                        give(&mut to[token], id)?;
                    }
                }
            }
            (Some(Core::Cube), _) if on_a2a3 => {
                for to in &mut links.from_cube {
                    give(&mut to[token], id)?;
                }
            }
            (Some(Core::Cube), _) => give(&mut links.from_cube[core][token], id)?,
            _ => give(&mut links.to_cube[me][token], id)?,
        }
        Ok(())
    }

    pub(super) fn take(&mut self, at: OpId, id: i64) -> Result<(), Stop> {
        let (token, core) = self.token_of(id)?;
        let process = self.cx.process;
        let on_a2a3 = self.cx.profile == Profile::A2a3;
        let me = usize::from(process.number);
        let Some(links) = &mut self.links else { return Ok(()) };
        let taken = match process.core {
            Some(Core::Cube) if on_a2a3 && links.met[token] > 0 => {
                links.met[token] -= 1;
                true
            }
            Some(Core::Cube) if on_a2a3 => {
                let both = links.to_cube.iter().all(|from| from[token] > 0);
                if both {
                    links.to_cube.iter_mut().for_each(|from| from[token] -= 1);
                }
                both
            }
            Some(Core::Cube) => take(&mut links.to_cube[core][token]),
            _ => take(&mut links.from_cube[me][token]),
        };
        if !taken {
            return Err(self.wait(at, Wait::Token { id }));
        }
        if let Some(links) = &mut self.links {
            links.events += 1;
        }
        Ok(())
    }
}

fn take(counter: &mut u8) -> bool {
    let is_there = *counter > 0;
    *counter -= u8::from(is_there);
    is_there
}

impl Links {
    /// `flag-leak`: tokens that nobody took.
    pub(super) fn tokens_left(&self, exec: &Exec<'_>) -> Vec<(OpId, Diagnostic)> {
        let counters = self.from_cube.iter().chain(&self.to_cube).chain(&self.arrived).chain([&self.met]);
        let ids: Vec<usize> = counters.flat_map(|by| (0..16).filter(|id| by[*id] > 0)).collect();
        let is_set = |op: &tessera_ir::Op| matches!(op.kind, OpKind::Pto(..)) && op.token().is_some();
        let Some(at) = exec.cx.func.ops.iter().position(is_set).map(|at| OpId(at as u32)) else { return Vec::new() };
        let Some(id) = ids.first() else { return Vec::new() };
        let what = format!("a token with id {id} was given, and nobody took it");
        let warning = Diagnostic::warning("flag-leak", what).at(exec.cx.span(at), "the first of these");
        vec![(at, warning.help("wait as often as is set"))]
    }
}
