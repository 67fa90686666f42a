//! The state of one block, and control flow.

use super::code::*;
use super::report::Found;
use super::scalar;
use super::{Printed, TraceLine};
use crate::engine::memory::Memories;
use crate::engine::{Engine, Global};
use crate::lower::Failure;
use crate::origin::Watch;
use smallvec::SmallVec;
use tessera_ir::{Func, Module, OpId, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::inst::Attrs;
use tessera_isa::profile::Profile;

/// How many operations one block may run before it is stopped as endless.
const MAX_STEPS: u64 = 250_000_000;

/// What never changes while a program runs.
pub(crate) struct Context<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub profile: Profile,
    pub program: &'a Program,
    pub blocks: u32,
}

impl Context<'_> {
    /// The name of a value, as messages show it.
    pub fn name(&self, value: ValueId) -> String {
        format!("%{}", self.module.names.text(self.func.value(value).name))
    }

    /// Where an operation stands.
    pub fn span(&self, op: OpId) -> Span {
        self.func.op(op).span
    }
}

/// One block that runs, and what it leaves behind.
pub(crate) struct Exec<'a> {
    pub cx: &'a Context<'a>,
    pub engine: Engine,
    pub ints: Vec<i64>,
    pub tiles: Vec<TileId>,
    pub globals: Vec<Global>,
    pub block: u32,
    pub found: Found,
    pub printed: Vec<Printed>,
    pub trace: Option<Vec<TraceLine>>,
    /// Follows where bytes come from, where somebody wants to know.
    pub watch: Option<Box<Watch>>,
    /// How many instructions were issued when the block began.
    pub began: u64,
    steps: u64,
}

impl<'a> Exec<'a> {
    /// A block before its first operation; buffers and arguments are the caller's to set.
    pub fn new(cx: &'a Context<'a>, memories: Memories, trace: bool) -> Self {
        let program = cx.program;
        let mut engine = Engine::of_program(cx.profile, memories, program.sites.len());
        for o in &program.objects {
            engine.add(o.tile, o.conv, o.address, o.pool);
        }
        Exec {
            cx,
            engine,
            ints: vec![0; program.ints],
            tiles: vec![TileId::NONE; program.tiles],
            globals: vec![Global::default(); program.globals],
            block: 0,
            found: Found::default(),
            printed: Vec::new(),
            trace: trace.then(Vec::new),
            watch: None,
            began: 0,
            steps: 0,
        }
    }

    /// Forgets everything but arguments, buffers and prepared instructions.
    pub fn reset(&mut self, block: u32) {
        self.block = block;
        self.engine.config = Attrs::default();
        self.steps = 0;
        self.began = self.engine.issued;
        self.engine.memories.clear_chip();
        self.engine.objects.iter_mut().for_each(|o| o.restart());
        self.engine.epoch += 1;
        // A value may be named before its definition (syntax.md 1), so its own tile is there from the start.
        let program = self.cx.program;
        for (object, info) in program.objects.iter().enumerate() {
            if let Some(Var::Tile(slot)) = program.vars.get(info.value.index()) {
                self.set_tile(*slot, TileId::new(object));
            }
        }
    }

    /// Runs the whole function.
    pub fn run(&mut self) -> Result<(), Failure> {
        self.reserve_pool()?;
        let program = self.cx.program;
        self.code(&program.body).map_err(|mut e| {
            if self.cx.blocks > 1 {
                e.notes.push(format!("in block {} of {}", self.block, self.cx.blocks));
            }
            e
        })
    }

    #[inline]
    pub fn int(&self, int: Int) -> i64 {
        match int {
            Int::Imm(v) => v,
            Int::Slot(slot) => self.ints.get(slot as usize).copied().unwrap_or(0),
        }
    }

    #[inline]
    pub fn set(&mut self, slot: Slot, value: i64) {
        if let Some(place) = self.ints.get_mut(slot as usize) {
            *place = value;
        }
    }

    /// A failure at an operation, if it has no place yet.
    pub fn at(&self, op: OpId, failure: Failure) -> Failure {
        if failure.span.is_some() {
            return failure;
        }
        Box::new(failure.at(self.cx.span(op), "when this runs"))
    }

    fn code(&mut self, code: &[Code]) -> Result<(), Failure> {
        self.steps += code.len() as u64;
        for c in code {
            match c {
                Code::Set { dst, value } => self.set(*dst, *value),
                Code::Arith { op, width, dst, a, b, at } => {
                    let value = scalar::arith(*op, *width, self.int(*a), self.int(*b));
                    self.set(*dst, value.map_err(|e| self.at(*at, e))?);
                }
                Code::Cmp { pred, width, dst, a, b } => {
                    // One bit, sign-extended like every other integer.
                    let value = scalar::compare(*pred, *width, self.int(*a), self.int(*b));
                    self.set(*dst, -i64::from(value));
                }
                Code::Cast { op, from, to, dst, a } => {
                    let value = scalar::cast(*op, *from, *to, self.int(*a));
                    self.set(*dst, value);
                }
                Code::Select { condition, then, other } => {
                    let chosen = if self.int(*condition) != 0 { then } else { other };
                    self.hand(std::slice::from_ref(chosen))?;
                }
                Code::For(f) => self.repeat(f)?,
                Code::If(branch) => {
                    let taken = if self.int(branch.condition) != 0 { &branch.then } else { &branch.other };
                    self.code(&taken.0)?;
                    self.hand(&taken.1)?;
                }
                Code::While(w) => self.repeat_while(w)?,
                Code::Issue(site) => self.issue(*site as usize)?,
                other => self.support(other)?,
            }
        }
        Ok(())
    }

    /// The operations around the instructions.
    fn support(&mut self, code: &Code) -> Result<(), Failure> {
        match code {
            Code::Fresh(objects) => objects.iter().for_each(|o| self.undefine(None, *o)),
            Code::Alloc(alloc) => self.alloc(alloc).map_err(|e| self.at(alloc.at, e))?,
            Code::Assign { at, tile, addr, result } => {
                let address = self.int(*addr);
                self.engine.assign(self.object_of(*tile), address).map_err(|e| self.at(*at, e))?;
                if let Some(result) = result {
                    self.hand_tile(*result, *tile);
                }
            }
            Code::SetValid { at, tile, valid } => {
                let valid = valid.map(|v| v.map(|v| self.int(v)));
                self.engine.set_valid(self.object_of(*tile), valid).map_err(|e| self.at(*at, e))?;
            }
            Code::Window(window) => self.window(window).map_err(|e| self.at(window.at, e))?,
            Code::MakeView(view) => self.make_view(view).map_err(|e| self.at(view.at, e))?,
            Code::Partition(view) => self.partition(view).map_err(|e| self.at(view.at, e))?,
            Code::AddPtr { at, src, dst, by } => {
                self.add_pointer(*src, *dst, self.int(*by)).map_err(|e| self.at(*at, e))?;
            }
            Code::LoadScalar(access) => self.load_scalar(access).map_err(|e| self.at(access.at, e))?,
            Code::StoreScalar(access) => self.store_scalar(access).map_err(|e| self.at(access.at, e))?,
            Code::Configure { fmap, pad } => {
                self.engine.configure(&Attrs { fmap: *fmap, pad: *pad, ..Attrs::default() });
            }
            Code::PadValue { scalar, attr } => {
                let pad_value = scalar.map(|s| s.number(self.int(s.int))).or(*attr);
                self.engine.configure(&Attrs { pad_value, ..Attrs::default() });
            }
            Code::BlockIndex(slot) => self.set(*slot, i64::from(self.block)),
            Code::BlockCount(slot) => self.set(*slot, i64::from(self.cx.blocks)),
            Code::Print { at, tile } => self.print(*at, *tile)?,
            Code::Refuse { at, name } => {
                let what = format!("pto.{name} is recognised, and not executable yet");
                let help = "take it out of the program, or run only the layout part";
                return Err(self.at(*at, Box::new(Diagnostic::error("not-executable", what).help(help))));
            }
            _ => {}
        }
        Ok(())
    }

    fn repeat(&mut self, f: &For) -> Result<(), Failure> {
        let (lower, upper, step) = (self.int(f.lower), self.int(f.upper), self.int(f.step));
        if step <= 0 {
            let what = format!("the loop steps by {step}");
            let failure = Box::new(Diagnostic::error("loop", what).help("a step is at least 1"));
            return Err(self.at(f.at, failure));
        }
        self.hand(&f.enter)?;
        let mut i = lower;
        while i < upper {
            self.set(f.iv, i);
            self.watch_loop(Some(f.name), i);
            self.code(&f.body).map_err(|mut e| {
                e.notes.push(format!("{} = {i}", self.cx.name(f.name)));
                e
            })?;
            self.watch_loop_end(f.at);
            self.hand(&f.again)?;
            self.not_endless(f.at)?;
            let Some(next) = i.checked_add(step) else { break };
            i = next;
        }
        self.hand(&f.leave)
    }

    fn repeat_while(&mut self, w: &While) -> Result<(), Failure> {
        self.hand(&w.enter)?;
        let mut round = 0u64;
        loop {
            let note = |mut e: Failure| {
                e.notes.push(format!("in round {round} of scf.while"));
                e
            };
            self.watch_loop(None, round as i64);
            self.code(&w.before).map_err(note)?;
            if self.int(w.condition) == 0 {
                self.watch_loop_end(w.at);
                return self.hand(&w.leave);
            }
            self.hand(&w.proceed)?;
            self.code(&w.after).map_err(note)?;
            self.watch_loop_end(w.at);
            self.hand(&w.again)?;
            self.not_endless(w.at)?;
            round += 1;
        }
    }

    fn not_endless(&mut self, at: OpId) -> Result<(), Failure> {
        self.steps += 1;
        if self.steps < MAX_STEPS {
            return Ok(());
        }
        let what = format!("the loops of the program ran {MAX_STEPS} iterations in all and have not ended");
        let failure = Box::new(Diagnostic::error("loop", what).help("run fewer iterations"));
        Err(self.at(at, failure))
    }

    /// Hands values on, all at once.
    fn hand(&mut self, hands: &[Hand]) -> Result<(), Failure> {
        match hands {
            [] => Ok(()),
            [one] => {
                let value = self.read(one.from);
                self.copy_carried(hands)?;
                self.write(one, value);
                Ok(())
            }
            _ => {
                let values: SmallVec<[Handed; 4]> = hands.iter().map(|h| self.read(h.from)).collect();
                self.copy_carried(hands)?;
                for (hand, value) in hands.iter().zip(values) {
                    self.write(hand, value);
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn read(&self, from: Source) -> Handed {
        match from {
            Source::Int(int) => Handed::Int(self.int(int)),
            Source::Tile(slot) => Handed::Tile(self.object_of(slot)),
            Source::Global(slot) => Handed::Global(self.globals.get(slot as usize).cloned().map(Box::new)),
            Source::Nothing => Handed::Nothing,
        }
    }

    fn write(&mut self, hand: &Hand, value: Handed) {
        match (hand.to, value) {
            (Var::Int(slot), Handed::Int(v)) => self.set(slot, v),
            (Var::Tile(slot), Handed::Tile(object)) => {
                self.set_tile(slot, hand.buffer.unwrap_or(object));
            }
            (Var::Global(slot), Handed::Global(Some(global))) => {
                if let Some(place) = self.globals.get_mut(slot as usize) {
                    *place = *global;
                }
            }
            _ => {}
        }
    }

    fn hand_tile(&mut self, to: Slot, from: Slot) {
        self.set_tile(to, self.object_of(from));
    }
}

/// A value on its way.
enum Handed {
    Int(i64),
    Tile(TileId),
    Global(Option<Box<Global>>),
    Nothing,
}
