//! Random structured programs: whatever the planner places, the independent checker accepts.

use crate::build::{Builder, dump};
use proptest::prelude::*;
use tessera_ir::{TypeId, ValueId};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;
use tessera_plan::plan;
use tessera_testkit::placement::validate;

/// Numbers that decide everything about a program, in the order in which they are asked for.
struct Dice<'a> {
    numbers: std::slice::Iter<'a, u8>,
}

impl Dice<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.numbers.next().copied().unwrap_or(0)) % n.max(1)
    }
}

struct Random<'a> {
    dice: Dice<'a>,
    b: Builder,
    types: Vec<TypeId>,
    /// Handles that may be used here, by type; `alloc` ones may be bound anew.
    scope: Vec<(ValueId, usize, bool)>,
    all: Vec<ValueId>,
    left: usize,
}

impl Random<'_> {
    fn any(&mut self) -> (ValueId, usize) {
        let (v, t, _) = self.scope[self.dice.below(self.scope.len())];
        (v, t)
    }

    fn of(&mut self, ty: usize) -> ValueId {
        let same: Vec<ValueId> = self.scope.iter().filter(|s| s.1 == ty).map(|s| s.0).collect();
        same[self.dice.below(same.len())]
    }

    /// A tile that is bound anew: mostly one that was allocated, sometimes one that control flow handed on.
    fn target(&mut self, ty: usize) -> Option<ValueId> {
        let any = self.dice.below(3) == 0;
        let same = self.scope.iter().filter(|s| s.1 == ty && (s.2 || any));
        let same: Vec<ValueId> = same.map(|s| s.0).collect();
        (!same.is_empty()).then(|| same[self.dice.below(same.len())])
    }

    fn add(&mut self, v: ValueId, ty: usize, alloc: bool) {
        self.scope.push((v, ty, alloc));
        self.all.push(v);
    }

    fn block(&mut self, depth: usize) {
        let outer = self.scope.len();
        for _ in 0..1 + self.dice.below(7) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.statement(depth);
        }
        self.scope.truncate(self.scope.len().max(outer));
    }

    fn statement(&mut self, depth: usize) {
        let kinds = if depth < 4 { 18 } else { 13 };
        match self.dice.below(kinds) {
            0 => {
                let ty = self.dice.below(self.types.len());
                let v = self.b.alloc(self.types[ty]);
                self.add(v, ty, true);
            }
            1 => {
                let ty = self.dice.below(self.types.len());
                let addr = 64 * self.dice.below(32) as i64;
                let v = self.b.alloc_at(self.types[ty], addr);
                self.add(v, ty, true);
            }
            2 | 3 => {
                let ((s, _), (d, _)) = (self.any(), self.any());
                self.b.mov(s, d);
            }
            4 | 5 => {
                let (s, ty) = self.any();
                let v = self.b.moved(s, self.types[ty]);
                self.add(v, ty, false);
            }
            6 => {
                let ((s, ty), (t, _)) = (self.any(), self.any());
                let v = self.b.concat(s, t, self.types[ty]);
                self.add(v, ty, false);
            }
            7 => {
                let (s, ty) = self.any();
                let v = self.b.subview(s, self.types[ty]);
                self.add(v, ty, false);
            }
            8 | 9 => {
                let (s, ty) = self.any();
                if let Some(d) = self.target(ty).filter(|d| *d != s) {
                    match self.dice.below(3) {
                        0 => self.b.subview_into(s, d),
                        1 => self.b.fill_inplace(s, d),
                        _ => self.b.reshape(s, d),
                    }
                }
            }
            10 => {
                let (s, ty) = self.any();
                let v = self.b.reshaped(s);
                self.add(v, ty, false);
            }
            11 => {
                let (s, ty) = self.any();
                if let Some(t) = self.target(ty).filter(|_| s.0 % 3 == 0) {
                    let addr = 64 * self.dice.below(32) as i64;
                    self.b.tassign(t, addr);
                }
            }
            12 => {
                let (s, _) = self.any();
                self.b.print(s);
            }
            13 | 14 => self.for_loop(depth),
            15 => self.while_loop(depth),
            _ => self.branch(depth),
        }
    }

    fn inits(&mut self) -> Vec<(ValueId, usize)> {
        (0..self.dice.below(4)).map(|_| self.any()).collect()
    }

    /// A block that takes `args` and hands on values of the same types; `b` is the builder meanwhile.
    fn inner(&mut self, b: &mut Builder, depth: usize, args: &[ValueId], types: &[usize]) -> Vec<ValueId> {
        std::mem::swap(&mut self.b, b);
        let outer = self.scope.len();
        for (v, ty) in args.iter().zip(types) {
            self.add(*v, *ty, false);
        }
        self.block(depth + 1);
        let handed = types.iter().map(|t| self.of(*t)).collect();
        self.scope.truncate(outer);
        std::mem::swap(&mut self.b, b);
        handed
    }

    fn for_loop(&mut self, depth: usize) {
        let inits = self.inits();
        let types: Vec<usize> = inits.iter().map(|i| i.1).collect();
        let values: Vec<ValueId> = inits.iter().map(|i| i.0).collect();
        let mut b = std::mem::replace(&mut self.b, Builder::new());
        let results = b.for_loop(&values, |b, args| self.inner(b, depth, args, &types));
        self.b = b;
        results.iter().zip(types).for_each(|(r, t)| self.add(*r, t, false));
    }

    fn while_loop(&mut self, depth: usize) {
        let inits = self.inits();
        let types: Vec<usize> = inits.iter().map(|i| i.1).collect();
        let values: Vec<ValueId> = inits.iter().map(|i| i.0).collect();
        let mut b = std::mem::replace(&mut self.b, Builder::new());
        let this = std::cell::RefCell::new(&mut *self);
        let results = b.while_loop(
            &values,
            |b, args| this.borrow_mut().inner(b, depth, args, &types),
            |b, args| this.borrow_mut().inner(b, depth, args, &types),
        );
        self.b = b;
        results.iter().zip(types).for_each(|(r, t)| self.add(*r, t, false));
    }

    fn branch(&mut self, depth: usize) {
        let types: Vec<usize> = self.inits().iter().map(|i| i.1).collect();
        let ids: Vec<TypeId> = types.iter().map(|t| self.types[*t]).collect();
        let mut b = std::mem::replace(&mut self.b, Builder::new());
        let this = std::cell::RefCell::new(&mut *self);
        let results = b.branch(
            &ids,
            |b| this.borrow_mut().inner(b, depth, &[], &types),
            |b| this.borrow_mut().inner(b, depth, &[], &types),
        );
        self.b = b;
        results.iter().zip(types).for_each(|(r, t)| self.add(*r, t, false));
    }
}

/// A program and the tiles that are to be kept.
fn program(numbers: &[u8]) -> (Builder, Vec<ValueId>) {
    let mut b = Builder::new();
    let types = vec![b.tile(Loc::Vec, 1), b.tile(Loc::Vec, 3), b.tile(Loc::Mat, 2)];
    let mut random =
        Random { dice: Dice { numbers: numbers.iter() }, b, types, scope: Vec::new(), all: Vec::new(), left: 60 };
    for ty in 0..3 {
        let v = random.b.input(random.types[ty]);
        random.add(v, ty, true);
    }
    random.block(0);
    random.block(0);
    let keep = (0..random.dice.below(3)).map(|_| random.all[random.dice.below(random.all.len())]).collect();
    (random.b, keep)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn placements_are_valid(numbers in prop::collection::vec(any::<u8>(), 20..400), profile in 0..3usize) {
        let profile = Profile::ALL[profile];
        let (b, keep) = program(&numbers);
        let fail = |what: String| TestCaseError::fail(format!("{what}\nkeep {keep:?}\n{}", dump(&b)));
        let placed = plan(&b.module, &b.func, profile, &keep).map_err(|d| fail(d.message))?;
        validate(&b.module, &b.func, profile, &placed, &keep).map_err(fail)?;
    }
}
