//! `syncall`: all cores of a group, in all blocks, arrive; then all go on (isa/comm.md 7).

use super::super::code::{Int, Meeting};
use super::super::step::{Exec, Stop};
use super::links::{Group, Links, Wait};
use tessera_ir::{Core, OpId};
use tessera_kernels::{Failure, failure};

/// Completes the meeting of a group if everybody has come who takes part; whether it did.
pub fn complete(all: &mut [&mut Links], group: Group) -> bool {
    let n = group as usize;
    let (mut total, mut come, mut wanted) = (0i64, 0i64, 0i64);
    for links in all.iter() {
        wanted = wanted.max(links.wanted[n]);
        for place in group.places().filter(|place| links.cores[*place]) {
            total += 1;
            come += i64::from(links.arrived[place][n]);
        }
    }
    let enough = if wanted > 0 { wanted } else { total };
    if come == 0 || come < enough {
        return false;
    }
    for links in all.iter_mut() {
        for place in group.places() {
            links.may_go_on[place][n] |= std::mem::take(&mut links.arrived[place][n]);
        }
        links.wanted[n] = 0;
        links.events += 1;
    }
    true
}

impl Exec<'_> {
    /// Arrives, and waits for the others.
    pub(super) fn meeting(&mut self, at: OpId, meeting: &Meeting) -> Result<(), Stop> {
        let process = self.cx.process;
        let group = match (process.core, meeting.group) {
            // A process that has all pipes is a core of each kind.
            (None, _) => Group::All,
            (Some(Core::Cube), Group::Vector) | (Some(Core::Vector), Group::Cube) => return Ok(()),
            (_, group) => group,
        };
        let (place, n) = (process.place(), group as usize);
        let here = |links: &Links| (links.arrived[place][n], links.may_go_on[place][n]);
        let Some((arrived, may_go_on)) = self.links.as_deref().map(here) else { return Ok(()) };
        if !arrived && !may_go_on {
            self.arrive(at, meeting, group)?;
        }
        let alone = self.cx.blocks == 1;
        let Some(links) = &mut self.links else { return Ok(()) };
        if alone {
            complete(&mut [links], group);
        }
        if std::mem::take(&mut links.may_go_on[place][n]) {
            links.events += 1;
            return Ok(());
        }
        Err(self.wait(at, Wait::Meeting(group)))
    }

    fn arrive(&mut self, at: OpId, meeting: &Meeting, group: Group) -> Result<(), Failure> {
        let wanted = meeting.wanted.map_or(0, |k| self.int(k));
        let place = self.cx.process.place();
        let blocks = i64::from(self.cx.blocks);
        let Some(links) = &mut self.links else { return Ok(()) };
        links.arrived[place][group as usize] = true;
        links.wanted[group as usize] = wanted;
        links.events += 1;
        let in_block: Vec<usize> = group.places().filter(|place| links.cores[*place]).collect();
        let total = blocks * in_block.len() as i64;
        // The writes of blocks are put together where they meet, so one core counts for all.
        let counts = self.block == 0 && in_block.first() == Some(&place);
        let Some((access, slot)) = meeting.word.filter(|_| counts) else { return Ok(()) };
        self.load_scalar(at, &access, slot)?;
        let value = self.int(Int::Slot(slot));
        let participants = if wanted > 0 { wanted } else { total };
        if value % participants != 0 {
            let what = format!("the first word of the workspace is {value}, and {participants} cores take part");
            return Err(failure("syncall-workspace", what, "set the first word to 0 before the first meeting"));
        }
        self.set(slot, value + participants);
        self.store_scalar(at, &access, Int::Slot(slot))
    }
}
