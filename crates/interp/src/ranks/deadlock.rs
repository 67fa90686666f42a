//! The `deadlock` of several ranks: who waits for what (isa/comm.md 6).

use super::super::cores::{Process, Wait};
use super::super::step::Exec;
use super::World;
use tessera_isa::diag::Diagnostic;
use tessera_kernels::Failure;

/// More processes than this are not named.
const MOST_NAMED: usize = 64;

/// The name of a process; one that has all pipes runs on a vector core.
fn name(process: Process) -> &'static str {
    if process.core.is_none() { "V0" } else { process.name() }
}

/// No process of any rank can go on, and not all have ended.
pub(super) fn found(world: &mut World<'_>) -> Failure {
    let mut sentences = Vec::new();
    let mut found = Diagnostic::error("deadlock", "");
    let mut tests = false;
    for rank in 0..world.ranks.len() {
        let has_ended = world.ranks[rank].ended.iter().flatten().all(|ended| *ended);
        if has_ended {
            sentences.push(format!("rank {rank} has ended"));
            continue;
        }
        for block in 0..world.ranks[rank].blocks.len() {
            for n in 0..world.ranks[rank].ended[block].len() {
                let ended = world.ranks[rank].ended[block][n];
                let Ok(cores) = world.switch(rank, block) else { continue };
                let Ok(exec) = cores.turn(n) else { continue };
                let who = format!("rank {rank} block {block}: {}", name(exec.cx.process));
                if ended {
                    sentences.push(format!("{who} has ended"));
                    continue;
                }
                let Some((at, wait)) = exec.waits else { continue };
                tests |= matches!(wait, Wait::Test);
                let span = exec.cx.span(at);
                let op = exec.cx.func.op(at).kind.name();
                let place = exec.cx.module.lines.place(span);
                let why = exec.links.as_deref().map_or_else(String::new, |links| links.describe(wait, exec));
                let verb = if matches!(wait, Wait::Test) { "tests again and again" } else { "waits" };
                sentences.push(format!("{who} {verb} in {op} at {place}: {why}"));
                let label = format!("rank {rank} {verb} here");
                let is_new = found.span != Some(span) && !found.secondary.iter().any(|label| label.span == span);
                if is_new {
                    found = if found.span.is_none() { found.at(span, label) } else { found.and_at(span, label) };
                }
            }
        }
    }
    let more = sentences.len().saturating_sub(MOST_NAMED);
    sentences.truncate(MOST_NAMED);
    if more > 0 {
        sentences.push(format!("and {more} more"));
    }
    found.message = sentences.join("; ");
    let help = match tests {
        true => "notify the signal that is tested, or wait for it with comm.twait",
        false => "let every wait be notified: by the right rank, often enough, and before it waits itself",
    };
    Box::new(found.help(help))
}

impl Exec<'_> {
    /// The word that does not compare, what is wanted, and who notified it last.
    pub fn signal_wanted(&self) -> String {
        let (Some(wanted), Some(rank)) = (&self.signals.wanted, self.cx.rank) else { return String::new() };
        let read = |(memory, byte): (tessera_kernels::MemoryId, usize)| {
            let bytes = self.engine.memories.get(memory).and_then(|m| m.bytes().get(byte..byte + 4));
            bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_le_bytes)
        };
        let failing = |word: &&(tessera_kernels::MemoryId, usize)| !wanted.cmp.holds(read(**word), wanted.value);
        let Some(word) = wanted.words.iter().find(failing).or_else(|| wanted.words.first()).copied() else {
            return String::new();
        };
        let name = rank.space.named(word.0, word.1 as u64);
        let notified = self.ranks.as_deref().and_then(|ranks| ranks.notified.get(&word));
        let last = match notified {
            None => "never notified".to_string(),
            Some(last) => {
                let place = self.cx.module.lines.place(last.at);
                match last.count {
                    1 => format!("notified once, by rank {} at {place}", last.rank),
                    n => format!("notified {n} times, last by rank {} at {place}", last.rank),
                }
            }
        };
        format!("{name} is {}, wants {} {}; {last}", read(word), wanted.cmp, wanted.value)
    }
}
