//! Small programs as data: what they do, and their text with a statement on each line.

use std::fmt::Write;
use tessera_isa::ops::Pipe;

/// A tile or a place of global memory by loop counter: one of several, taken in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    pub of: Vec<usize>,
}

impl Pick {
    pub fn one(n: usize) -> Pick {
        Pick { of: vec![n] }
    }

    /// Which one in an iteration of the loop around.
    pub fn at(&self, i: u64) -> usize {
        self.of[(i as usize) % self.of.len()]
    }
}

/// The id of a flag: `base + (i + plus) mod of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    pub base: i64,
    pub of: i64,
    pub plus: i64,
}

impl Id {
    pub fn at(self, i: u64) -> i64 {
        self.base + (i as i64 + self.plus) % self.of
    }
}

pub fn id(base: i64) -> Id {
    Id { base, of: 1, plus: 0 }
}

pub fn turn(of: i64) -> Id {
    Id { base: 0, of, plus: 0 }
}

/// A place of global memory: a block of 1024 bytes, the same always or one for each iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Fixed(i64),
    /// `first + step · i`.
    Moving(i64, i64),
}

impl Block {
    pub fn at(self, i: u64) -> i64 {
        match self {
            Block::Fixed(n) => n,
            Block::Moving(first, step) => first + step * i as i64,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Load(Pick, Block),
    Add(Pick, Pick, Pick),
    Store(Pick, Block),
    /// Into L1, L0A, L0B, and the product.
    LoadMat(usize, Block),
    MoveLeft(usize, usize),
    MoveRight(usize, usize),
    Product(usize, usize, usize),
    StoreAcc(usize, Block),
    ReadScalar(Block),
    WriteScalar(Block),
    Set(Pipe, Pipe, Id),
    Wait(Pipe, Pipe, Id),
    Bar(Option<Pipe>),
    Get(Pipe, u32),
    Rls(Pipe, u32),
    /// So often, or any number of times.
    For(Option<u64>, Vec<Stmt>),
    /// A loop in a loop: any number of times, whatever the outer one does.
    Inner(Vec<Stmt>),
    /// As long as nobody knows.
    While(Vec<Stmt>),
    /// By an argument that nobody knows.
    If(usize, Vec<Stmt>, Vec<Stmt>),
}

/// Vec tiles are 16×16 f32, 1024 bytes, at multiples of 512, so that neighbours share bytes.
pub const VEC_STEP: i64 = 512;
pub const TILE: &str = "!pto.tile_buf<vec, 16x16xf32>";
const MAT: &str = "!pto.tile_buf<loc=mat, dtype=f16, rows=16, cols=16, v_row=16, v_col=16, blayout=col_major, slayout=row_major, fractal=512, pad=0>";
const LEFT: &str = "!pto.tile_buf<loc=left, dtype=f16, rows=16, cols=16>";
const RIGHT: &str = "!pto.tile_buf<loc=right, dtype=f16, rows=16, cols=16>";
const ACC: &str = "!pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>";
const VIEW: &str = "!pto.tensor_view<16x16xf32>";
const HALF: &str = "!pto.tensor_view<16x16xf16>";

/// The text of a program, and the line of every statement, in the order of a walk through them.
pub struct Text {
    pub text: String,
    pub lines: Vec<usize>,
    names: usize,
    depth: Vec<String>,
}

pub fn text(program: &[Stmt], tiles: usize, conditions: usize) -> Text {
    let mut t = Text { text: String::new(), lines: Vec::new(), names: 0, depth: Vec::new() };
    let flags: String = (0..conditions).map(|n| format!(", %b{n}: i1")).collect();
    t.line(&format!("func.func @k(%g: !pto.ptr<f32>, %h: !pto.ptr<f16>, %n: index, %m: index, %w: index{flags}) {{"));
    for n in [0i64, 1, 2, 16, 256].iter().chain(&[3, 4, 5, 6, 7, 8, 9]) {
        t.line(&format!("%c{n} = arith.constant {n} : index"));
    }
    for n in 0..tiles {
        t.line(&format!("%a{n} = arith.constant {} : i64", n as i64 * VEC_STEP));
        t.line(&format!("%t{n} = pto.alloc_tile addr = %a{n} : {TILE}"));
    }
    for (name, ty) in [("m", MAT), ("l", LEFT), ("r", RIGHT), ("acc", ACC)] {
        for n in 0..2 {
            t.line(&format!("%p{name}{n} = arith.constant {} : i64", n * 4096));
            t.line(&format!("%{name}{n} = pto.alloc_tile addr = %p{name}{n} : {ty}"));
        }
    }
    t.block(program);
    t.line("return");
    t.line("}");
    t
}

impl Text {
    fn line(&mut self, line: &str) -> usize {
        writeln!(self.text, "{line}").unwrap();
        self.text.lines().count()
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%x{}", self.names)
    }

    fn counter(&self) -> String {
        self.depth.last().cloned().unwrap_or("%c0".into())
    }

    fn number(&mut self, n: i64) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = arith.constant {n} : index"));
        name
    }

    /// `(i + plus) mod of`.
    fn modulo(&mut self, plus: i64, of: i64) -> String {
        let (p, m, sum, rest) = (self.number(plus), self.number(of), self.fresh(), self.fresh());
        let i = self.counter();
        self.line(&format!("{sum} = arith.addi {i}, {p} : index"));
        self.line(&format!("{rest} = arith.remui {sum}, {m} : index"));
        rest
    }

    fn tile(&mut self, pick: &Pick) -> String {
        let mut name = format!("%t{}", pick.of[0]);
        if pick.of.len() > 1 {
            let rest = self.modulo(0, pick.of.len() as i64);
            for (n, tile) in pick.of.iter().enumerate().skip(1) {
                let (k, is, chosen) = (self.number(n as i64), self.fresh(), self.fresh());
                self.line(&format!("{is} = arith.cmpi eq, {rest}, {k} : index"));
                self.line(&format!("{chosen} = arith.select {is}, %t{tile}, {name} : {TILE}"));
                name = chosen;
            }
        }
        name
    }

    fn offset(&mut self, block: Block) -> String {
        match block {
            Block::Fixed(n) => self.number(256 * n),
            Block::Moving(first, step) => {
                let (by, start, scaled, sum) =
                    (self.number(256 * step), self.number(256 * first), self.fresh(), self.fresh());
                let i = self.counter();
                self.line(&format!("{scaled} = arith.muli {i}, {by} : index"));
                self.line(&format!("{sum} = arith.addi {scaled}, {start} : index"));
                sum
            }
        }
    }

    fn view(&mut self, block: Block) -> String {
        let (at, p, v) = (self.offset(block), self.fresh(), self.fresh());
        self.line(&format!("{p} = pto.addptr %g, {at} : !pto.ptr<f32> -> !pto.ptr<f32>"));
        self.line(&format!("{v} = pto.make_tensor_view {p}, shape = [%c16, %c16], strides = [%c16, %c1] : {VIEW}"));
        v
    }

    fn half(&mut self, block: Block) -> String {
        let (at, p, v) = (self.offset(block), self.fresh(), self.fresh());
        self.line(&format!("{p} = pto.addptr %h, {at} : !pto.ptr<f16> -> !pto.ptr<f16>"));
        self.line(&format!("{v} = pto.make_tensor_view {p}, shape = [%c16, %c16], strides = [%c16, %c1] : {HALF}"));
        v
    }

    fn flag(&mut self, what: &str, from: Pipe, to: Pipe, id: Id) -> usize {
        let (a, b) = (from.cpp(), to.cpp());
        if id.of == 1 && (0..100).contains(&id.base) {
            return self.line(&format!("pto.{what}_flag[<{a}>, <{b}>, <EVENT_ID{}>]", id.base));
        }
        let rest = self.modulo(id.plus, id.of);
        let (base, sum) = (self.number(id.base), self.fresh());
        self.line(&format!("{sum} = arith.addi {rest}, {base} : index"));
        self.line(&format!("pto.{what}_flag_dyn[<{a}>, <{b}>, {sum}]"))
    }

    fn block(&mut self, program: &[Stmt]) {
        for stmt in program {
            let line = match stmt {
                Stmt::Load(tile, block) => {
                    let (t, v) = (self.tile(tile), self.view(*block));
                    self.line(&format!("pto.tload ins({v} : {VIEW}) outs({t} : {TILE})"))
                }
                Stmt::Add(c, a, b) => {
                    let (c, a, b) = (self.tile(c), self.tile(a), self.tile(b));
                    self.line(&format!("pto.tadd ins({a}, {b} : {TILE}, {TILE}) outs({c} : {TILE})"))
                }
                Stmt::Store(tile, block) => {
                    let (t, v) = (self.tile(tile), self.view(*block));
                    self.line(&format!("pto.tstore ins({t} : {TILE}) outs({v} : {VIEW})"))
                }
                Stmt::LoadMat(n, block) => {
                    let v = self.half(*block);
                    self.line(&format!("pto.tload ins({v} : {HALF}) outs(%m{n} : {MAT})"))
                }
                Stmt::MoveLeft(to, from) => self.line(&format!("pto.tmov ins(%m{from} : {MAT}) outs(%l{to} : {LEFT})")),
                Stmt::MoveRight(to, from) => {
                    self.line(&format!("pto.tmov ins(%m{from} : {MAT}) outs(%r{to} : {RIGHT})"))
                }
                Stmt::Product(c, a, b) => {
                    self.line(&format!("pto.tmatmul ins(%l{a}, %r{b} : {LEFT}, {RIGHT}) outs(%acc{c} : {ACC})"))
                }
                Stmt::StoreAcc(n, block) => {
                    let v = self.view(*block);
                    self.line(&format!("pto.tstore ins(%acc{n} : {ACC}) outs({v} : {VIEW})"))
                }
                Stmt::ReadScalar(block) => {
                    let (at, v) = (self.offset(*block), self.fresh());
                    self.line(&format!("{v} = pto.load_scalar %g[{at}] : !pto.ptr<f32> -> f32"))
                }
                Stmt::WriteScalar(block) => {
                    let (at, v) = (self.offset(*block), self.fresh());
                    self.line(&format!("{v} = arith.constant 1.0 : f32"));
                    self.line(&format!("pto.store_scalar {v}, %g[{at}] : !pto.ptr<f32>, f32"))
                }
                Stmt::Set(a, b, id) => self.flag("set", *a, *b, *id),
                Stmt::Wait(a, b, id) => self.flag("wait", *a, *b, *id),
                Stmt::Bar(pipe) => self.line(&format!("pto.barrier <{}>", pipe.map_or("PIPE_ALL", |p| p.cpp()))),
                Stmt::Get(pipe, id) => self.line(&format!("pto.get_buf[<{}>, {id}]", pipe.cpp())),
                Stmt::Rls(pipe, id) => self.line(&format!("pto.rls_buf[<{}>, {id}]", pipe.cpp())),
                Stmt::For(count, body) => {
                    let i = self.fresh();
                    let upper = count.map_or("%n".into(), |n| self.number(n as i64));
                    let line = self.line(&format!("scf.for {i} = %c0 to {upper} step %c1 {{"));
                    self.lines.push(line);
                    self.depth.push(i);
                    self.block(body);
                    self.depth.pop();
                    self.line("}");
                    continue;
                }
                Stmt::Inner(body) => {
                    let i = self.fresh();
                    let line = self.line(&format!("scf.for {i} = %c0 to %m step %c1 {{"));
                    self.lines.push(line);
                    self.depth.push(i);
                    self.block(body);
                    self.depth.pop();
                    self.line("}");
                    continue;
                }
                Stmt::While(body) => {
                    let (k, out, is, next, i) = (self.fresh(), self.fresh(), self.fresh(), self.fresh(), self.fresh());
                    let line = self.line(&format!("{out} = scf.while ({k} = %c0) : (index) -> index {{"));
                    self.lines.push(line);
                    self.line(&format!("{is} = arith.cmpi slt, {k}, %w : index"));
                    self.line(&format!("scf.condition({is}) {k} : index"));
                    self.line("} do {");
                    self.line(&format!("^bb0({i}: index):"));
                    self.depth.push(i.clone());
                    self.block(body);
                    self.depth.pop();
                    self.line(&format!("{next} = arith.addi {i}, %c1 : index"));
                    self.line(&format!("scf.yield {next} : index"));
                    self.line("}");
                    continue;
                }
                Stmt::If(condition, yes, no) => {
                    let line = self.line(&format!("scf.if %b{condition} {{"));
                    self.lines.push(line);
                    self.block(yes);
                    self.line("} else {");
                    self.block(no);
                    self.line("}");
                    continue;
                }
            };
            self.lines.push(line);
        }
    }
}
