//! When everything happens, in cycles that are estimates (sync.md 8).

use super::{Kernel, OrderMode};
use crate::{Error, Missing, Profile, Result};
use tessera_ir::{Runs, ValueId};
use tessera_isa::cost::{Costs, PUBLISHED};
use tessera_race::timeline::{Run, Timeline, Unknown, timeline};
use tessera_race::{Limits, mode};

/// The configuration of a timeline.
#[derive(Clone, Debug)]
pub struct TimelineOptions {
    /// Costs in place of the published ones.
    pub costs: Option<Costs>,
    /// The numbers of arguments that loops and branches depend on.
    pub values: Vec<(ValueId, i64)>,
    /// The number of blocks.
    pub blocks: u32,
    /// The origin of the order, if it overrides the program's.
    pub mode: Option<OrderMode>,
}

impl Default for TimelineOptions {
    fn default() -> Self {
        TimelineOptions { costs: None, values: Vec::new(), blocks: 1, mode: None }
    }
}

impl Kernel {
    /// When every instruction starts and ends. A program without flags gets those that it needs first.
    ///
    /// ```
    /// use tessera::program::TimelineOptions;
    /// use tessera::{Profile, Program};
    ///
    /// let tile = "!pto.tile<16x64xf32>";
    /// let text = format!("%c = pto.tadd %a, %b : ({tile}, {tile}) -> {tile}\n%d = pto.texp %c : {tile} -> {tile}");
    /// let line = Program::parse(&text)?.on(Profile::A5).entry()?.timeline(&TimelineOptions::default())?;
    /// // 7 + 15·2 and 16 + 15·2 cycles, on one pipe.
    /// assert_eq!((line.total, line.unknown()), (37 + 46, 0));
    /// # Ok::<(), tessera::Error>(())
    /// ```
    pub fn timeline(&self, options: &TimelineOptions) -> Result<Timeline> {
        let profile = self.profile();
        if profile == Profile::Cpu {
            let what = "cpu has no costs, so nobody knows how long anything takes there";
            return Err(Error::request(what).help("a2a3 and a5 have costs"));
        }
        let costs = options.costs.as_ref().unwrap_or(&PUBLISHED);
        // The limit of slices in a timeline.
        let limits = Limits { events: 500_000, ..Limits::default() };
        let values = options.values.as_slice();
        let mut run = Run { costs, values, blocks: options.blocks, mode: options.mode, automatic: false, limits };
        let is_mixed = self.func().runs() == Runs::Mixed;
        let found = if is_mixed || options.mode.unwrap_or_else(|| mode(self.func())) == OrderMode::Manual {
            let placement = tessera_race::place(self.module(), self.func(), profile, &[], options.mode)?;
            timeline(self.module(), self.func(), profile, &placement, &run)
        } else {
            let (func, mut module) = (self.without_flags(), self.module().clone());
            let placement = tessera_plan::plan(&module, &func, profile, &[])?;
            let synced = tessera_race::insert(&mut module, &func, profile, &placement, Limits::default());
            // Flags hold for every run; of this one the dependences are known.
            run.automatic = synced.serial.is_some();
            match run.automatic {
                false => timeline(&module, &synced.func, profile, &placement, &run),
                true => timeline(self.module(), &func, profile, &placement, &run),
            }
        };
        found.map_err(|Unknown { diagnostic, missing }| {
            let value = |v: &ValueId| Missing::Value(self.name(*v).to_string());
            let error = Error::of_undecided(*diagnostic).in_text(self.program.source());
            match missing.as_slice() {
                [] => error,
                [one] => error.missing_is(value(one)),
                all => error.all_missing(all.iter().map(value).collect()),
            }
        })
    }
}
