//! Liveness of tiles: finds, by instruction, the operands that are dead after it. Instructions that go through the
//! data together do not write these ([`InstTemplate::dead`]).
//!
//! A tile is followed if it does not share its bytes: only one value names it, it has one place, and no tile with an
//! address overlaps it. Placement may put another tile at the bytes of a tile that has ended. If definedness is
//! tracked, the later tile's undefined bytes are not read; otherwise such tiles are not followed either.

use super::code::*;
use rustc_hash::FxHashMap;
use tessera_ir::ValueId;
use tessera_isa::inst::TileArg;
use tessera_isa::ops::Effect;
use tessera_isa::sem::effects;
use tessera_plan::Placement;

/// Marks the operands of instructions whose contents end there. `outputs` are read after the end.
pub(super) fn find(
    program: &mut Program,
    placement: &Placement,
    outputs: impl IntoIterator<Item = ValueId>,
    tracked: bool,
) {
    if placement.computed.contains(&true) || !program.sites.iter().any(|site| site.may_wait) {
        return;
    }
    let mut lives = Liveness::new(program, placement, tracked);
    let mut live = Set::new(program.objects.len());
    for value in outputs {
        lives.tile(program.tile(value)).into_iter().for_each(|object| live.insert(object));
    }
    lives.code(&program.body, &mut live, true);
    for (site, dead) in std::mem::take(&mut lives.dead) {
        program.sites.get_mut(site).into_iter().for_each(|site| site.dead = dead);
    }
}

/// A set of tiles.
#[derive(Clone)]
struct Set(Vec<u64>);

impl Set {
    fn new(len: usize) -> Set {
        Set(vec![0; len.div_ceil(64)])
    }

    fn insert(&mut self, n: usize) {
        self.0.get_mut(n / 64).into_iter().for_each(|word| *word |= 1 << (n % 64));
    }

    fn remove(&mut self, n: usize) {
        self.0.get_mut(n / 64).into_iter().for_each(|word| *word &= !(1 << (n % 64)));
    }

    fn has(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
}

struct Liveness<'a> {
    sites: &'a [InstTemplate],
    objects: &'a [ObjectInfo],
    /// By slot: the tile that it names, where it is followed.
    named: Vec<Option<usize>>,
    /// By tile: whether its type gives its valid region.
    is_sized: Vec<bool>,
    tracked: bool,
    /// By loop body: the tiles whose earlier contents it needs.
    needs: FxHashMap<*const Code, Set>,
    /// The dead operands found, by instruction.
    dead: Vec<(usize, u32)>,
}

impl<'a> Liveness<'a> {
    fn new(program: &'a Program, placement: &Placement, tracked: bool) -> Self {
        let count = program.objects.len();
        let mut lives = Liveness {
            sites: &program.sites,
            objects: &program.objects,
            named: vec![None; program.tiles],
            is_sized: vec![true; count],
            tracked,
            needs: FxHashMap::default(),
            dead: Vec::new(),
        };
        for (object, info) in program.objects.iter().enumerate().filter(|(_, info)| info.is_own) {
            if let Some(slot) = program.tile(info.value) {
                lives.named[slot.index()] = Some(object);
            }
        }
        let mut is_followed = vec![true; count];
        lives.handed(&program.body, &mut is_followed);
        for (object, _) in &program.bound {
            is_followed[object.index()] = false;
        }
        meet(program, placement, tracked, &mut is_followed);
        for named in &mut lives.named {
            *named = named.filter(|object| is_followed[*object]);
        }
        lives
    }

    fn tile(&self, slot: Option<TileSlot>) -> Option<usize> {
        self.named.get(slot?.index()).copied().flatten()
    }

    /// Finds the tiles that more than one value may name, or whose place changes.
    fn handed(&mut self, code: &[Code], is_followed: &mut [bool]) {
        let mut lose = |lives: &Self, slot: TileSlot| {
            lives
                .tile(Some(slot))
                .and_then(|object| is_followed.get_mut(object))
                .into_iter()
                .for_each(|is| *is = false);
        };
        let mut inner: Vec<&[Code]> = Vec::new();
        let mut hands: Vec<&BlockArgCopy> = Vec::new();
        for c in code {
            match c {
                Code::For(f) => {
                    inner.push(&f.body);
                    hands.extend(f.enter.iter().chain(&f.again).chain(&f.leave));
                }
                Code::If(branch) => {
                    inner.extend([branch.then.0.as_slice(), &branch.other.0]);
                    hands.extend(branch.then.1.iter().chain(&branch.other.1));
                }
                Code::While(w) => {
                    inner.extend([w.before.as_slice(), &w.after]);
                    hands.extend(w.enter.iter().chain(&w.proceed).chain(&w.again).chain(&w.leave));
                }
                Code::Issue(site) => {
                    let site = self.sites.get(*site as usize);
                    if let Some((_, src, dst)) = site.and_then(|site| site.binds) {
                        lose(self, src);
                        lose(self, dst);
                    }
                    if let Some((_, slot)) = site.filter(|site| site.expands).and_then(|site| site.tiles.last()) {
                        lose(self, *slot);
                    }
                }
                Code::CoreSyncOp(_, meet) => match &**meet {
                    CoreSyncOp::Push(push) => {
                        lose(self, push.src);
                        if let Some(PushArg::Vector(fp, _)) = push.quant.as_ref().map(|quant| &quant.param) {
                            lose(self, *fp);
                        }
                    }
                    CoreSyncOp::Pop(pop) => lose(self, pop.to),
                    CoreSyncOp::Comm(comm) => comm.tiles.iter().for_each(|tile| lose(self, *tile)),
                    CoreSyncOp::Free { .. }
                    | CoreSyncOp::Entry(_)
                    | CoreSyncOp::Give { .. }
                    | CoreSyncOp::Take { .. }
                    | CoreSyncOp::Meet(_) => {}
                },
                Code::Support(_, support) => match &**support {
                    Support::Assign { tile, result, .. } => {
                        lose(self, *tile);
                        result.iter().for_each(|result| lose(self, *result));
                    }
                    Support::Window(window) => {
                        lose(self, window.src);
                        lose(self, window.dst);
                        if window.valid.iter().any(Option::is_some) {
                            self.resized(window.dst);
                        }
                    }
                    Support::Address(Address { from: Var::Tile(slot), .. })
                    | Support::Dense { slot, .. }
                    | Support::Declare { slot, .. } => lose(self, *slot),
                    Support::SetValid { tile: slot, .. } => self.resized(*slot),
                    Support::Alloc(Alloc { slot, valid: [rows, columns], .. }) if rows.or(*columns).is_some() => {
                        self.resized(*slot);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        for hand in &hands {
            if let BlockArgCopy::Tile { to, from, .. } = hand {
                lose(self, *to);
                lose(self, *from);
            }
        }
        for hand in hands {
            if let BlockArgCopy::Tile { buffer: Some(object), .. } = hand {
                is_followed.get_mut(object.index()).into_iter().for_each(|is| *is = false);
            }
        }
        inner.into_iter().for_each(|code| self.handed(code, is_followed));
    }

    fn resized(&mut self, slot: TileSlot) {
        let object = self.tile(Some(slot));
        object.and_then(|object| self.is_sized.get_mut(object)).into_iter().for_each(|is| *is = false);
    }

    /// From the tiles that are live after some operations to those live before them.
    fn code(&mut self, code: &[Code], live: &mut Set, marks: bool) {
        for c in code.iter().rev() {
            match c {
                Code::Issue(site) => self.site(*site as usize, live, marks),
                Code::For(f) => {
                    let needs = self.needs_of(&f.body);
                    live.add(&needs);
                    if marks {
                        self.code(&f.body, &mut live.clone(), true);
                    }
                }
                Code::While(w) => {
                    for body in [&w.before, &w.after] {
                        let needs = self.needs_of(body);
                        live.add(&needs);
                    }
                    for body in [&w.before, &w.after].into_iter().filter(|_| marks) {
                        self.code(body, &mut live.clone(), true);
                    }
                }
                Code::If(branch) => {
                    let mut other = live.clone();
                    self.code(&branch.then.0, live, marks);
                    self.code(&branch.other.0, &mut other, marks);
                    live.add(&other);
                }
                Code::Support(_, support) => match &**support {
                    Support::Fresh(objects) if self.tracked => objects.iter().for_each(|o| live.remove(o.index())),
                    Support::Print(slot) => self.tile(Some(*slot)).into_iter().for_each(|o| live.insert(o)),
                    Support::Get(get) => self.tile(Some(get.src)).into_iter().for_each(|o| live.insert(o)),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// The tiles whose earlier contents a body needs; it may run any number of times.
    fn needs_of(&mut self, body: &[Code]) -> Set {
        if let Some(needs) = self.needs.get(&body.as_ptr()).filter(|_| !body.is_empty()) {
            return needs.clone();
        }
        let mut needs = Set::new(self.objects.len());
        self.code(body, &mut needs, false);
        self.needs.insert(body.as_ptr(), needs.clone());
        needs
    }

    fn site(&mut self, index: usize, live: &mut Set, marks: bool) {
        let Some(site) = self.sites.get(index) else { return };
        let mut inst = (*site.inst).clone();
        let mut objects = Vec::with_capacity(site.tiles.len());
        for (role, slot) in &site.tiles {
            let object = self.tile(Some(*slot));
            // Of others the type is not known here, and does not matter.
            let info = object.and_then(|object| self.objects.get(object)).or(self.objects.first());
            let Some(info) = info else { return };
            let mut arg = TileArg::of_type(*role, info.tile);
            if object.is_none_or(|object| self.is_sized.get(object) != Some(&true)) {
                arg.valid = [None; 2];
            }
            inst.tiles.push(arg);
            objects.push(object);
        }
        let touched = effects(&inst).tiles;
        let each = || objects.iter().zip(&touched).enumerate().filter_map(|(n, (o, touch))| Some((n, (*o)?, touch)));
        let mut dead = 0u32;
        for (n, object, _) in each().filter(|(_, object, touch)| touch.reads() && !live.has(*object)) {
            let is_other = each().all(|(_, other, touch)| other != object || !touch.writes());
            dead |= if is_other && n < 32 { 1 << n } else { 0 };
        }
        if marks && dead != 0 && site.may_wait {
            self.dead.push((index, dead));
        }
        // An operand that is only clobbered stays live: if definedness is not tracked, it keeps its old contents.
        for (_, object, _) in each().filter(|(_, _, touch)| touch.effect == Effect::Write && touch.covers) {
            live.remove(object);
        }
        for (_, object, _) in each().filter(|(_, _, touch)| touch.reads()) {
            live.insert(object);
        }
        self.tile(site.init).into_iter().for_each(|object| live.insert(object));
    }
}

/// Stops following tiles that share bytes with others: with one that has an address, or, if definedness is not
/// tracked, with any.
fn meet(program: &Program, placement: &Placement, tracked: bool, is_followed: &mut [bool]) {
    struct Range {
        loc: usize,
        start: u64,
        end: u64,
        object: Option<usize>,
        is_manual: bool,
    }
    let of_value: FxHashMap<ValueId, usize> =
        program.objects.iter().enumerate().map(|(n, info)| (info.value, n)).collect();
    let mut ranges: Vec<Range> = Vec::new();
    for (n, info) in program.objects.iter().enumerate() {
        if let Some(start) = info.address {
            let end = start.saturating_add(info.tile.bytes());
            ranges.push(Range { loc: info.tile.loc as usize, start, end, object: Some(n), is_manual: false });
        }
    }
    for manual in &placement.manual {
        let (start, end) = (manual.slot.addr, manual.slot.limit());
        let object = of_value.get(&manual.value).copied();
        ranges.push(Range { loc: manual.slot.loc as usize, start, end, object, is_manual: true });
    }
    ranges.sort_by_key(|r| (r.loc, r.start));
    let mut lose = |range: &Range| {
        let is = range.object.and_then(|object| is_followed.get_mut(object));
        is.into_iter().for_each(|is| *is = false);
    };
    // The end of all ranges before the current one, and of those with an address; in the second pass, the start of
    // those after it.
    let (mut loc, mut all, mut manual) = (usize::MAX, 0, 0);
    for range in &ranges {
        if range.loc != loc {
            (loc, all, manual) = (range.loc, 0, 0);
        }
        let reach = if range.is_manual || !tracked { all } else { manual };
        if range.start < reach {
            lose(range);
        }
        all = all.max(range.end);
        manual = if range.is_manual { manual.max(range.end) } else { manual };
    }
    (loc, all, manual) = (usize::MAX, u64::MAX, u64::MAX);
    for range in ranges.iter().rev() {
        if range.loc != loc {
            (loc, all, manual) = (range.loc, u64::MAX, u64::MAX);
        }
        let next = if range.is_manual || !tracked { all } else { manual };
        if next < range.end {
            lose(range);
        }
        all = range.start;
        manual = if range.is_manual { range.start } else { manual };
    }
}
