//! A program in the making: values, statements that use them, and the control flow around the statements.

use crate::candidate::{Candidate, view_strides};
use crate::random::Random;
use std::collections::BTreeMap;
use std::fmt::Write;
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera_ir::{Arg, Def, Func, Module, Op, OpKind, Operand, ScalarType, TextForm, Type, Value, ValueId, ViewType};
use tessera_isa::codec::Number;
use tessera_isa::diag::Span;
use tessera_isa::elem::Elem;
use tessera_isa::inst::ViewTag;
use tessera_isa::ops::{Effect, Kind, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Extent, LayoutName, Loc, TileType};

/// How a value comes to be.
#[derive(Clone, Debug)]
pub enum Origin {
    /// An argument, with the contents that it is run with.
    Input(Array),
    /// An argument that memory is written through, with its extents.
    Output(Vec<u64>),
    /// A scalar argument.
    Number(Number),
    /// A line before everything else, and the values that it uses.
    Line(String, Vec<ValueId>),
    /// A tile that is allocated, with the arguments that say its run-time valid extents.
    Tile([Option<ValueId>; 2]),
    /// A result of a statement.
    Result,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The instruction; none where the text is written as it is.
    pub op: Option<Op>,
    pub raw: String,
    /// The values that it uses.
    pub uses: Vec<ValueId>,
    /// Whether it is still part of the program.
    pub alive: bool,
    /// The tiles that it touches lie in memories of the vector cores, of the cube core.
    pub cores: [bool; 2],
}

/// The control flow around statements.
#[derive(Clone, Debug)]
pub enum Node {
    Line(usize),
    /// A loop of so many rounds.
    For(u64, Vec<Node>),
    /// A branch that is taken or not.
    If(bool, Vec<Node>, Vec<Node>),
    /// A section of one kind of core.
    Section(&'static str, Vec<Node>),
    /// Statements of vector core 0.
    First(Vec<Node>),
    /// A function of its own that is called here.
    Call(Vec<Node>),
}

/// A program in the making.
#[derive(Clone, Debug)]
pub struct Draft {
    pub profile: Profile,
    pub module: Module,
    pub func: Func,
    pub origins: Vec<Origin>,
    pub stmts: Vec<Stmt>,
    pub body: Vec<Node>,
    /// Tiles whose contents are defined, in the order in which they became so.
    pub defined: Vec<ValueId>,
    /// `pto.kernel_kind`, where the kernel has one.
    pub kind: Option<&'static str>,
    numbers: BTreeMap<(i128, bool), ValueId>,
}

/// A printed draft.
pub struct Printed {
    pub text: String,
    /// By line of the text: the statement that stands there.
    pub lines: Vec<Option<usize>>,
}

const NONE: Span = Span { start: 0, end: 0 };

impl Draft {
    pub fn new(profile: Profile) -> Draft {
        let mut module = Module::default();
        let name = module.names.intern("smith");
        Draft {
            profile,
            module,
            func: Func::new(name, NONE),
            origins: Vec::new(),
            stmts: Vec::new(),
            body: Vec::new(),
            defined: Vec::new(),
            kind: None,
            numbers: BTreeMap::new(),
        }
    }

    pub fn value(&mut self, prefix: &str, ty: Type, origin: Origin) -> ValueId {
        let name = self.module.names.intern(&format!("{prefix}{}", self.func.values.len()));
        let ty = self.module.types.intern(ty);
        self.origins.push(origin);
        self.func.add_value(Value { name, ty, def: Def::Input, span: NONE, type_span: NONE })
    }

    pub fn ty(&self, value: ValueId) -> &Type {
        self.module.types.get(self.func.value(value).ty)
    }

    pub fn tile(&self, value: ValueId) -> Option<&TileType> {
        self.ty(value).tile()
    }

    pub fn name(&self, value: ValueId) -> &str {
        self.module.names.text(self.func.value(value).name)
    }

    /// A constant.
    pub fn constant(&mut self, ty: ScalarType, number: Number) -> ValueId {
        let shown = match number {
            Number::Int(v) => v.to_string(),
            Number::Float(v) => format!("{v:?}"),
        };
        let text = tessera_asm::print_type(&Type::Scalar(ty));
        self.value("s", Type::Scalar(ty), Origin::Line(format!("arith.constant {shown} : {text}"), Vec::new()))
    }

    pub fn index(&mut self, n: u64) -> ValueId {
        if let Some(known) = self.numbers.get(&(n.into(), true)) {
            return *known;
        }
        let value = self.constant(ScalarType::Index, Number::Int(n.into()));
        self.numbers.insert((n.into(), true), value);
        value
    }

    /// A dense view of an argument's memory.
    fn view(&mut self, pointer: ValueId, elem: Elem, dims: [u64; 2], tag: ViewTag) -> ValueId {
        let [rows, cols] = dims.map(|n| self.index(n));
        let [s0, s1] = view_strides(dims, tag).map(|n| self.index(n as u64));
        let ty = Type::View(ViewType { partition: false, dims: dims.map(Some).into_iter().collect(), elem });
        let [p, r, c, a, b] = [pointer, rows, cols, s0, s1].map(|v| self.name(v).to_string());
        let layout = if tag == ViewTag::Nd { String::new() } else { format!(" {{layout = #pto.layout<{tag}>}}") };
        let line = format!(
            "pto.make_tensor_view %{p}, shape = [%{r}, %{c}], strides = [%{a}, %{b}]{layout} : {}",
            tessera_asm::print_type(&ty)
        );
        self.value("v", ty, Origin::Line(line, vec![pointer, rows, cols, s0, s1]))
    }

    /// Memory that is read or written through a view.
    pub fn memory(&mut self, random: &mut Random, view: (Elem, [u64; 2], ViewTag), is_read: bool) -> Option<ValueId> {
        let (elem, dims, tag) = view;
        let mut shape = dims.to_vec();
        if tag == ViewTag::Dn {
            shape.reverse();
        }
        let origin = match is_read {
            true => Origin::Input(contents(random, elem, &shape, false)?),
            false => Origin::Output(shape),
        };
        let pointer = self.value("p", Type::Ptr(elem, None), origin);
        Some(self.view(pointer, elem, dims, tag))
    }

    /// A tile with defined contents: loaded where the table has a load for it, else an argument.
    pub fn input(&mut self, random: &mut Random, ty: &Type, role: Role) -> Option<ValueId> {
        let is_index = matches!(role, Role::Idx | Role::Idx0 | Role::Idx1 | Role::DstIdx | Role::Offset);
        match ty {
            Type::Tile(tile) => {
                if !is_index
                    && !random.once_in(4)
                    && let Some(value) = self.loaded(random, tile)
                {
                    return Some(value);
                }
                let shape = [tile.v_row.known()?, tile.v_col.known()?];
                let array = contents(random, tile.elem, &shape, is_index)?;
                Some(self.value("t", ty.clone(), Origin::Input(array)))
            }
            Type::Conv(conv) => {
                let array = contents(random, conv.elem, &conv.written_dims(), is_index)?;
                Some(self.value("t", ty.clone(), Origin::Input(array)))
            }
            _ => None,
        }
    }

    fn transfer(&self, op: Opcode, role: Role, tile: &TileType) -> Option<Candidate> {
        let shape = op.shapes().first()?;
        let tag = if tile.resolve(self.profile).layout_name() == LayoutName::Dn { ViewTag::Dn } else { ViewTag::Nd };
        let dims = [tile.v_row.known()?, tile.v_col.known()?];
        let one = Candidate {
            op,
            shape,
            sig: None,
            tiles: vec![(role, *tile)],
            conv: None,
            scalars: Vec::new(),
            attrs: Default::default(),
            view: Some((tile.elem, dims, tag)),
        };
        one.fault(self.profile).is_none().then_some(one)
    }

    fn loaded(&mut self, random: &mut Random, tile: &TileType) -> Option<ValueId> {
        let load = self.transfer(Opcode::Tload, Role::Dst, tile)?;
        let value = self.value("t", Type::Tile(*tile), Origin::Tile([None; 2]));
        let view = self.memory(random, load.view?, true)?;
        self.push(&load, &[(Role::Global, view), (Role::Dst, value)], Vec::new());
        Some(value)
    }

    /// A store of a tile through an argument of its own; whether there is one.
    pub fn store(&mut self, random: &mut Random, value: ValueId) -> Option<usize> {
        let tile = *self.tile(value)?;
        let store = self.transfer(Opcode::Tstore, Role::Src, &tile)?;
        let view = self.memory(random, store.view?, false)?;
        Some(self.push(&store, &[(Role::Src, value), (Role::Global, view)], Vec::new()))
    }

    /// A statement of an instruction with its operands by role.
    pub fn push(&mut self, one: &Candidate, operands: &[(Role, ValueId)], results: Vec<ValueId>) -> usize {
        let mut op = Op::new(OpKind::Pto(one.op, one.shape.form), TextForm::Dps, NONE);
        let written = one.shape.ins.iter().chain(&one.shape.outs);
        let worded =
            one.scalars.iter().map(|s| &s.role).filter(|r| !one.shape.ins.contains(r) && !one.shape.outs.contains(r));
        for role in written.chain(worded) {
            if let Some((_, value)) = operands.iter().find(|(r, _)| r == role) {
                op.operands.push(Operand { role: *role, arg: Arg::Value(*value), span: NONE, type_span: NONE });
            }
        }
        op.results.extend(results.iter().copied());
        if !results.is_empty() {
            // A number is a result in every form of text.
            op.form = TextForm::Ssa;
        }
        if one.attrs.iter().next().is_some() {
            op.attrs_mut().known = one.attrs.clone();
        }
        let uses: Vec<ValueId> = operands.iter().map(|(_, v)| *v).chain(results).collect();
        let locs = uses.iter().filter_map(|v| match self.ty(*v) {
            Type::Tile(tile) => Some(tile.loc),
            Type::Conv(conv) => Some(conv.loc),
            _ => None,
        });
        let mut cores = [false; 2];
        locs.for_each(|loc| cores[usize::from(loc != Loc::Vec)] = true);
        self.stmts.push(Stmt { op: Some(op), raw: String::new(), uses, alive: true, cores });
        self.stmts.len() - 1
    }

    /// A statement that is written as it is.
    pub fn push_raw(&mut self, raw: String, uses: Vec<ValueId>, cores: [bool; 2]) -> usize {
        self.stmts.push(Stmt { op: None, raw, uses, alive: true, cores });
        self.stmts.len() - 1
    }

    /// Makes a statement of a candidate: operands that are defined already where types agree, new ones elsewhere.
    pub fn take(&mut self, random: &mut Random, one: &Candidate) -> Option<usize> {
        let info = one.op.info();
        let binds = one.op.binds(self.profile).is_some();
        let mut operands: Vec<(Role, ValueId)> = Vec::new();
        let mut results = Vec::new();
        let ty_of = |role: Role| match &one.conv {
            Some((of, conv)) if *of == role => Some(Type::Conv(*conv)),
            _ => one.tiles.iter().find(|(r, _)| *r == role).map(|(_, ty)| Type::Tile(*ty)),
        };
        for role in one.shape.ins.iter().chain(&one.shape.outs).copied() {
            let effect = one.op.effect(one.shape.form, role);
            let value = match role.kind() {
                _ if role == Role::Global => {
                    let is_read = one.shape.ins.contains(&role);
                    self.memory(random, one.view?, is_read)?
                }
                Kind::Counts => {
                    let ty = ScalarType::Int(16, tessera_ir::Sign::None);
                    let text = "arith.constant dense<[0, 0, 0, 0]> : vector<4xi16>".to_string();
                    self.value("e", Type::Vector(4, ty), Origin::Line(text, Vec::new()))
                }
                Kind::Tile | Kind::Conv => {
                    let ty = ty_of(role)?;
                    let known: Vec<ValueId> = self.defined.iter().copied().filter(|v| *self.ty(*v) == ty).collect();
                    let is_read = matches!(effect, Effect::Read | Effect::ReadWrite);
                    let free: Vec<ValueId> = known
                        .iter()
                        .copied()
                        .filter(|v| !operands.iter().any(|(_, o)| o == v))
                        .filter(|v| is_read || matches!(self.origins[v.index()], Origin::Tile(_)))
                        .collect();
                    let pool = if is_read && effect == Effect::Read { &known } else { &free };
                    match random.pick(pool).filter(|_| (is_read || !binds) && random.below(10) < 7) {
                        Some(value) => value,
                        None if is_read => {
                            let value = self.input(random, &ty, role)?;
                            self.defined.push(value);
                            value
                        }
                        None => self.value("t", ty, Origin::Tile([None; 2])),
                    }
                }
                _ if one.is_out(role) => {
                    let elem = one.tiles.first().map_or(Elem::F32, |(_, ty)| ty.elem);
                    let value = self.value("r", Type::Scalar(ScalarType::of(elem)), Origin::Result);
                    results.push(value);
                    continue;
                }
                _ => {
                    let scalar = one.scalars.iter().find(|s| s.role == role)?;
                    match (scalar.ty, scalar.value) {
                        (ScalarType::Index, Number::Int(n)) => self.index(n as u64),
                        (ty, value) => self.constant(ty, value),
                    }
                }
            };
            operands.push((role, value));
        }
        for scalar in
            one.scalars.iter().filter(|s| !one.shape.ins.contains(&s.role) && !one.shape.outs.contains(&s.role))
        {
            let value = match (scalar.ty, scalar.value) {
                (ScalarType::Index, Number::Int(n)) => self.index(n as u64),
                (ty, value) => self.constant(ty, value),
            };
            operands.push((scalar.role, value));
        }
        let stmt = self.push(one, &operands, results);
        for (role, value) in operands {
            let is_written = one.is_out(role) && role.kind() == Kind::Tile && role != Role::Global;
            let scratch = matches!(one.op.effect(one.shape.form, role), Effect::Scratch | Effect::Unused);
            if is_written && !scratch && !self.defined.contains(&value) && !info.forms.is_empty() {
                self.defined.push(value);
            }
        }
        Some(stmt)
    }

    /// The types of its defined tiles.
    pub fn pool(&self) -> Vec<TileType> {
        self.defined.iter().filter_map(|v| self.tile(*v).copied()).collect()
    }

    /// Makes valid extents of allocated tiles known at run time only.
    pub fn make_dynamic(&mut self, random: &mut Random) {
        let mut args: BTreeMap<u64, ValueId> = BTreeMap::new();
        for n in 0..self.origins.len() {
            let value = ValueId(n as u32);
            let (Origin::Tile(_), Some(tile)) = (&self.origins[n], self.tile(value).copied()) else { continue };
            if random.once_in(2) {
                continue;
            }
            let mut tile = tile;
            let mut extents = [None; 2];
            let which = random.range(1, 3);
            for (bit, extent) in extents.iter_mut().enumerate() {
                let of = if bit == 0 { &mut tile.v_row } else { &mut tile.v_col };
                let (Some(n), true) = (of.known(), which & (1 << bit) != 0) else { continue };
                let ty = Type::Scalar(ScalarType::Index);
                let arg = *args.entry(n).or_insert_with(|| self.value("n", ty, Origin::Number(Number::Int(n.into()))));
                (*extent, *of) = (Some(arg), Extent::Dynamic);
            }
            self.func.value_mut(value).ty = self.module.types.intern(Type::Tile(tile));
            self.origins[n] = Origin::Tile(extents);
        }
    }

    /// The statements under a node that are part of the program.
    pub fn alive(&self, nodes: &[Node]) -> Vec<usize> {
        nodes
            .iter()
            .flat_map(|node| match node {
                Node::Line(n) => self.stmts.get(*n).filter(|s| s.alive).map(|_| *n).into_iter().collect(),
                Node::If(_, yes, no) => [self.alive(yes), self.alive(no)].concat(),
                Node::For(_, all) | Node::Section(_, all) | Node::First(all) | Node::Call(all) => self.alive(all),
            })
            .collect()
    }

    /// The values that the program uses, in the order of their definitions.
    fn used(&self) -> Vec<ValueId> {
        let mut used = vec![false; self.origins.len()];
        let mut asked: Vec<ValueId> = Vec::new();
        for n in self.alive(&self.body) {
            asked.extend(&self.stmts[n].uses);
        }
        while let Some(value) = asked.pop() {
            if std::mem::replace(&mut used[value.index()], true) {
                continue;
            }
            match &self.origins[value.index()] {
                Origin::Line(_, of) => asked.extend(of),
                Origin::Tile(extents) => asked.extend(extents.iter().flatten()),
                _ => {}
            }
        }
        (0..used.len()).filter(|n| used[*n]).map(|n| ValueId(n as u32)).collect()
    }

    /// The arguments, in order.
    pub fn arguments(&self) -> Vec<ValueId> {
        let is_arg =
            |v: &ValueId| matches!(self.origins[v.index()], Origin::Input(_) | Origin::Output(_) | Origin::Number(_));
        self.used().into_iter().filter(is_arg).collect()
    }

    /// The program as text.
    pub fn print(&self, head: &str) -> Printed {
        let used = self.used();
        let mut printer = Printer { draft: self, out: String::new(), lines: Vec::new(), calls: Vec::new(), next: 0 };
        for line in head.lines() {
            printer.line(0, None, line);
        }
        printer.line(0, None, &format!("module attributes {{pto.target_arch = \"{}\"}} {{", self.profile));
        let typed = |v: &ValueId| format!("%{}: {}", self.name(*v), tessera_asm::print_type(self.ty(*v)));
        let args: Vec<String> = self.arguments().iter().map(typed).collect();
        let kind = self
            .kind
            .map_or(String::new(), |kind| format!(" attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}"));
        printer.line(0, None, &format!("func.func @smith({}){kind} {{", args.join(", ")));
        printer.definitions(&used);
        let has_first = has(&self.body, &|node| matches!(node, Node::First(_)));
        if has_first {
            printer.line(1, None, "%sub = pto.get_subblock_idx");
            printer.line(1, None, "%zero = arith.constant 0 : i64");
            printer.line(1, None, "%is_first = arith.cmpi eq, %sub, %zero : i64");
        }
        let is_nested = |node: &Node| matches!(node, Node::For(..) | Node::If(..));
        if has(&self.body, &is_nested) {
            printer.flow_constants(&self.body);
        }
        printer.nodes(1, &self.body);
        printer.line(1, None, "return");
        printer.line(0, None, "}");
        for (n, nodes) in std::mem::take(&mut printer.calls).into_iter().enumerate() {
            printer.function(n, &nodes);
        }
        printer.line(0, None, "}");
        Printed { text: printer.out, lines: printer.lines }
    }
}

/// Whether a node of a tree is one that is looked for.
fn has(nodes: &[Node], is: &dyn Fn(&Node) -> bool) -> bool {
    nodes.iter().any(|node| {
        is(node)
            || match node {
                Node::Line(_) => false,
                Node::If(_, yes, no) => has(yes, is) || has(no, is),
                Node::For(_, all) | Node::Section(_, all) | Node::First(all) | Node::Call(all) => has(all, is),
            }
    })
}

struct Printer<'a> {
    draft: &'a Draft,
    out: String,
    lines: Vec<Option<usize>>,
    /// Bodies of functions that are called.
    calls: Vec<Vec<Node>>,
    next: usize,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, stmt: Option<usize>, text: &str) {
        for line in text.trim_end().lines() {
            let _ = writeln!(self.out, "{:1$}{2}", "", 2 * depth, line.trim_start());
            self.lines.push(stmt);
        }
    }

    fn definitions(&mut self, used: &[ValueId]) {
        let draft = self.draft;
        for value in used {
            let name = draft.name(*value);
            match &draft.origins[value.index()] {
                Origin::Line(line, _) => self.line(1, None, &format!("%{name} = {line}")),
                Origin::Tile([rows, cols]) => {
                    let extent = |word: &str, v: &Option<ValueId>| {
                        v.map_or(String::new(), |v| format!(" {word} = %{}", draft.name(v)))
                    };
                    let extents = extent("valid_row", rows) + &extent("valid_col", cols);
                    let ty = tessera_asm::print_type(draft.ty(*value));
                    self.line(1, None, &format!("%{name} = pto.alloc_tile{extents} : {ty}"));
                }
                _ => {}
            }
        }
    }

    /// The bounds of loops and the conditions of branches.
    fn flow_constants(&mut self, nodes: &[Node]) {
        let mut trips: Vec<u64> = vec![0, 1];
        fn gather(nodes: &[Node], trips: &mut Vec<u64>) {
            for node in nodes {
                match node {
                    Node::Line(_) => {}
                    Node::For(n, all) => {
                        trips.push(*n);
                        gather(all, trips);
                    }
                    Node::If(_, yes, no) => {
                        gather(yes, trips);
                        gather(no, trips);
                    }
                    Node::Section(_, all) | Node::First(all) => gather(all, trips),
                    Node::Call(_) => {}
                }
            }
        }
        gather(nodes, &mut trips);
        trips.sort_unstable();
        trips.dedup();
        for n in trips {
            self.line(1, None, &format!("%k{n} = arith.constant {n} : index"));
        }
        self.line(1, None, "%yes = arith.cmpi eq, %k0, %k0 : index");
        self.line(1, None, "%no = arith.cmpi ne, %k0, %k0 : index");
    }

    fn nodes(&mut self, depth: usize, nodes: &[Node]) {
        for node in nodes {
            if self.draft.alive(std::slice::from_ref(node)).is_empty() {
                continue;
            }
            match node {
                Node::Line(n) => {
                    let stmt = &self.draft.stmts[*n];
                    let text = match &stmt.op {
                        Some(op) => tessera_asm::print_op(&self.draft.module, &self.draft.func, op),
                        None => stmt.raw.clone(),
                    };
                    self.line(depth, Some(*n), &text);
                }
                Node::For(trips, all) => {
                    let name = self.next;
                    self.next += 1;
                    self.line(depth, None, &format!("scf.for %i{name} = %k0 to %k{trips} step %k1 {{"));
                    self.nodes(depth + 1, all);
                    self.line(depth, None, "}");
                }
                Node::If(is_taken, yes, no) => {
                    let condition = if *is_taken { "%yes" } else { "%no" };
                    self.line(depth, None, &format!("scf.if {condition} {{"));
                    self.nodes(depth + 1, yes);
                    if !self.draft.alive(no).is_empty() {
                        self.line(depth, None, "} else {");
                        self.nodes(depth + 1, no);
                    }
                    self.line(depth, None, "}");
                }
                Node::Section(core, all) => {
                    self.line(depth, None, &format!("pto.section.{core} {{"));
                    self.nodes(depth + 1, all);
                    self.line(depth, None, "}");
                }
                Node::First(all) => {
                    self.line(depth, None, "scf.if %is_first {");
                    self.nodes(depth + 1, all);
                    self.line(depth, None, "}");
                }
                Node::Call(all) => {
                    let (names, types) = self.parameters(all);
                    let n = self.calls.len();
                    self.line(
                        depth,
                        None,
                        &format!("func.call @part{n}({}) : ({}) -> ()", names.join(", "), types.join(", ")),
                    );
                    self.calls.push(all.clone());
                }
            }
        }
    }

    /// The values that a called function is given: all that are no constants.
    fn given(&self, nodes: &[Node]) -> (Vec<ValueId>, Vec<ValueId>) {
        let mut used: Vec<ValueId> =
            self.draft.alive(nodes).into_iter().flat_map(|n| self.draft.stmts[n].uses.clone()).collect();
        used.sort_unstable();
        used.dedup();
        let is_constant = |v: &ValueId| matches!(&self.draft.origins[v.index()], Origin::Line(_, of) if of.is_empty());
        let used = used.into_iter().filter(|v| !matches!(self.draft.origins[v.index()], Origin::Result));
        used.partition(|v| !is_constant(v))
    }

    fn parameters(&self, nodes: &[Node]) -> (Vec<String>, Vec<String>) {
        let (given, _) = self.given(nodes);
        let name = |v: &ValueId| format!("%{}", self.draft.name(*v));
        let ty = |v: &ValueId| tessera_asm::print_type(self.draft.ty(*v));
        (given.iter().map(name).collect(), given.iter().map(ty).collect())
    }

    fn function(&mut self, n: usize, nodes: &[Node]) {
        let (names, types) = self.parameters(nodes);
        let params: Vec<String> = names.iter().zip(&types).map(|(name, ty)| format!("{name}: {ty}")).collect();
        self.line(0, None, &format!("func.func private @part{n}({}) {{", params.join(", ")));
        let (_, constants) = self.given(nodes);
        self.definitions(&constants);
        if has(nodes, &|node| matches!(node, Node::For(..) | Node::If(..))) {
            self.flow_constants(nodes);
        }
        self.nodes(1, nodes);
        self.line(1, None, "return");
        self.line(0, None, "}");
    }
}

/// Contents of an array. Indices are small; what names a place beyond the end is found when the program runs.
fn contents(random: &mut Random, elem: Elem, shape: &[u64], is_index: bool) -> Option<Array> {
    let seed = random.bits() >> 32;
    let fill = match random.below(6) {
        0 if is_index => Fill::Iota,
        _ if is_index => Fill::Zeros,
        0 => Fill::Iota,
        1 => Fill::Ones,
        _ => Fill::Random(Some(seed)),
    };
    fill.array(elem, shape).ok()
}

/// The cube core's end of a FIFO: a product that is pushed to the vector cores, and the tile that they pop.
pub fn fifo(draft: &mut Draft, random: &mut Random) {
    let m = random.pick_or(&[16u64, 32], 16);
    let k = random.pick_or(&[16u64, 32, 64], 16);
    let n = random.pick_or(&[16u64, 32], 16);
    let split = random.pick_or(&[0u64, 1, 2], 0);
    let (rows, cols) = match split {
        1 => (m / 2, n),
        2 => (m, n / 2),
        _ => (m, n),
    };
    let tile = |loc: Loc, elem: Elem, r: u64, c: u64| TileType::new(loc, elem, r, c);
    let operand = random.pick_or(&[Elem::F16, Elem::F32, Elem::Bf16], Elem::F16);
    let a = draft.input(random, &Type::Tile(tile(Loc::Left, operand, m, k)), Role::A);
    let b = draft.input(random, &Type::Tile(tile(Loc::Right, operand, k, n)), Role::B);
    let (Some(a), Some(b)) = (a, b) else { return };
    let product = draft.value("t", Type::Tile(tile(Loc::Acc, Elem::F32, m, n)), Origin::Tile([None; 2]));
    let popped = draft.value("t", Type::Tile(tile(Loc::Vec, Elem::F32, rows, cols)), Origin::Result);
    let bytes = m * n * 4;
    let text = format!(
        "pto.reserve_buffer {{name = \"fifo\", size = {}, location = #pto.address_space<vec>, auto = true}} -> i32",
        8 * bytes
    );
    let ty = ScalarType::Int(32, tessera_ir::Sign::None);
    let slots = draft.value("q", Type::Scalar(ty), Origin::Line(text, Vec::new()));
    // On a2a3 the slots lie in global memory.
    let gm = (draft.profile == Profile::A2a3)
        .then(|| draft.value("p", Type::Ptr(Elem::F32, None), Origin::Output(vec![16 * m * n])));
    let name = |draft: &Draft, v: ValueId| format!("%{}", draft.name(v));
    let written = |draft: &Draft, v: ValueId| tessera_asm::print_type(draft.ty(v));
    let memory =
        gm.map_or(String::new(), |gm| format!("gm_slot_buffer = {} : {}, ", name(draft, gm), written(draft, gm)));
    let nosplit = if split == 0 { ", nosplit = true" } else { "" };
    let end = |core: &str| {
        format!(
            "pto.{core}_initialize_pipe {{dir_mask = 1, slot_size = {bytes}{nosplit}}} ({memory}c2v_consumer_buf = {} : i32)",
            name(draft, slots)
        )
    };
    let (cube, vector) = (end("aic"), end("aiv"));
    let [ta, tb, tp, tv] = [a, b, product, popped].map(|v| written(draft, v));
    let [na, nb, np, nv] = [a, b, product, popped].map(|v| name(draft, v));
    let ends: Vec<ValueId> = gm.into_iter().chain([slots]).collect();
    draft.push_raw(cube, ends.clone(), [false, true]);
    draft.push_raw(
        format!("pto.tmatmul ins({na}, {nb} : {ta}, {tb}) outs({np} : {tp})"),
        vec![a, b, product],
        [false, true],
    );
    draft.push_raw(format!("pto.tpush_to_aiv({np} : {tp}) {{split = {split}}}"), vec![product], [false, true]);
    draft.push_raw(vector, ends, [true, false]);
    draft.push_raw(format!("{nv} = pto.tpop_from_aic {{split = {split}}} -> {tv}"), vec![popped], [true, false]);
    let copy = draft.value("t", Type::Tile(tile(Loc::Vec, Elem::F32, rows, cols)), Origin::Tile([None; 2]));
    let nc = name(draft, copy);
    draft.push_raw(
        format!("pto.tadd ins({nv}, {nv} : {tv}, {tv}) outs({nc} : {tv})"),
        vec![popped, copy],
        [true, false],
    );
    draft.push_raw(format!("pto.tfree_from_aic {{split = {split}}}"), Vec::new(), [true, false]);
    draft.defined.push(copy);
}

/// The body around a FIFO: the cube core's section, then the vector cores'.
pub fn fifo_body(draft: &Draft, body: Vec<Node>) -> Vec<Node> {
    let first = |cores: [bool; 2]| {
        (0..draft.stmts.len()).filter(move |n| draft.stmts[*n].op.is_none() && draft.stmts[*n].cores == cores)
    };
    // Loads that belong to the operands of the product stand before everything else.
    let in_body = draft.alive(&body);
    let loads = (0..draft.stmts.len()).filter(|n| draft.stmts[*n].op.is_some() && !in_body.contains(n));
    let cube: Vec<Node> = loads.chain(first([false, true])).map(Node::Line).collect();
    let mut vector: Vec<Node> = first([true, false]).map(Node::Line).collect();
    for node in body {
        let is_store = draft
            .alive(std::slice::from_ref(&node))
            .iter()
            .any(|n| draft.stmts[*n].op.as_ref().is_some_and(|op| op.opcode() == Some(Opcode::Tstore)));
        vector.push(if is_store { Node::First(vec![node]) } else { node });
    }
    vec![Node::Section("cube", cube), Node::Section("vector", vector)]
}
