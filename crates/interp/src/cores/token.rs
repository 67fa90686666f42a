//! `sync.set` and `sync.wait` between cores (sync.md 5).

use super::super::step::{Exec, Stop};
use super::links::{Links, Wait};
use tessera_ir::{Core, OpId, OpKind};
use tessera_isa::diag::Diagnostic;
use tessera_kernels::{Failure, failure};

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
    /// The id as the counters have it (micro/cube.md 8).
    pub(super) fn counter_of(&self, at: OpId, id: i64) -> i64 {
        let is_vector = self.cx.process.core == Some(Core::Vector);
        if is_vector && self.cx.func.op(at).is_block_token() && (0..32).contains(&id) { id % 16 } else { id }
    }

    /// The index of an id, and the vector core that it is for on cpu and a5.
    fn token_of(&self, id: i64, is_wide: bool) -> Result<(usize, usize), Failure> {
        let is_cube = self.cx.process.core == Some(Core::Cube);
        let most = if is_cube && !is_wide { 31 } else { 15 };
        match usize::try_from(id).ok().filter(|id| *id <= most) {
            Some(id) => Ok((id % 16, id / 16)),
            None => {
                let what = format!("id {id} is no id of {} on {}", self.cx.process.name(), self.cx.profile);
                Err(failure("flag-id-range", what, format!("ids are 0 to {most}")))
            }
        }
    }

    pub(super) fn give(&mut self, id: i64, mode: i128, is_wide: bool) -> Result<(), Stop> {
        let (token, core) = self.token_of(id, is_wide || mode == 0)?;
        let process = self.cx.process;
        let blocks = self.cx.blocks;
        let (me, place) = (usize::from(process.number), process.place());
        let Some(links) = &mut self.links else { return Ok(()) };
        links.events += 1;
        match (process.core, mode) {
            // Cores of one kind meet, those of this block or of all.
            (core, 0) | (core @ Some(Core::Vector), 1) => {
                give(&mut links.come[place][token], id)?;
                let kind = usize::from(core == Some(Core::Vector));
                if (mode == 1 || blocks == 1) && links.have_come(kind, token) {
                    links.met_all(kind, token);
                }
            }
            (None, _) => {}
            (Some(Core::Cube), _) if is_wide => {
                for to in &mut links.from_cube {
                    give(&mut to[token], id)?;
                }
            }
            (Some(Core::Cube), _) => give(&mut links.from_cube[core][token], id)?,
            _ => give(&mut links.to_cube[me][token], id)?,
        }
        Ok(())
    }

    /// Takes a token; across blocks only one of a meeting.
    pub(super) fn take(&mut self, at: OpId, id: i64, (crosses, is_wide): (bool, bool)) -> Result<(), Stop> {
        let process = self.cx.process;
        if process.core.is_none() && !(0..16).contains(&id) {
            return Ok(());
        }
        let (token, core) = self.token_of(id, is_wide || crosses)?;
        let (me, place) = (usize::from(process.number), process.place());
        let Some(links) = &mut self.links else { return Ok(()) };
        let taken = match process.core {
            _ if (is_wide || crosses) && take(&mut links.met[place][token]) => true,
            Some(_) if crosses => false,
            // In a process that has all pipes only a meeting holds it up.
            None => links.come[place][token] == 0,
            Some(Core::Cube) if is_wide => {
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

/// The places of a kind's cores.
fn of_kind(kind: usize) -> std::ops::Range<usize> {
    if kind == 0 { 0..1 } else { 1..3 }
}

fn take(counter: &mut u8) -> bool {
    let is_there = *counter > 0;
    *counter -= u8::from(is_there);
    is_there
}

impl Links {
    /// Whether all cores of a kind have come to a meeting; kind 0 is the cube core or one that has all pipes, 1 the
    /// vector cores.
    pub fn have_come(&self, kind: usize, id: usize) -> bool {
        let mut cores = of_kind(kind).filter(|core| self.cores[*core]).peekable();
        cores.peek().is_some() && cores.all(|core| self.come[core][id] > 0)
    }

    /// All cores of a kind have come: each gets its token.
    pub fn met_all(&mut self, kind: usize, id: usize) {
        for core in of_kind(kind).filter(|core| self.cores[*core]) {
            self.come[core][id] -= 1;
            self.met[core][id] = self.met[core][id].saturating_add(1);
        }
        self.events += 1;
    }

    /// `flag-leak`: tokens that were never taken.
    pub(super) fn tokens_left(&self, exec: &Exec<'_>) -> Vec<(OpId, Diagnostic)> {
        let counters = self.from_cube.iter().chain(&self.to_cube).chain(&self.come).chain(&self.met);
        let ids: Vec<usize> = counters.flat_map(|by| (0..16).filter(|id| by[*id] > 0)).collect();
        let is_set = |op: &tessera_ir::Op| matches!(op.kind, OpKind::Pto(..)) && op.token().is_some();
        let Some(at) = exec.cx.func.ops.iter().position(is_set).map(|at| OpId(at as u32)) else { return Vec::new() };
        let Some(id) = ids.first() else { return Vec::new() };
        let what = format!("a token with id {id} was given, and nobody took it");
        let warning = Diagnostic::warning("flag-leak", what).at(exec.cx.span(at), "the first of these");
        vec![(at, warning.help("wait as often as is set"))]
    }
}
