//! Random programs of several blocks that read, write and add to %w and %x; %n is a table, and %g is bound to nothing.

use std::fmt::Write;

/// Elements of a block's own part of an array, and how long the rows of a matrix are whose columns are divided.
pub const PART: usize = 1024;
const PITCH: usize = 128;

/// The division of an array among blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Parts,
    Columns,
    /// Not at all.
    All,
}

/// Makes random programs.
pub struct Maker {
    seed: u64,
    names: usize,
    text: String,
    ways: [Way; 2],
}

impl Maker {
    fn next(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) as usize % below
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%n{}", self.names)
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.text.write_fmt(line).unwrap();
        self.text.push('\n');
    }

    fn number(&mut self, value: usize) -> String {
        let name = self.name();
        self.line(format_args!("{name} = arith.constant {value} : index"));
        name
    }

    fn arith(&mut self, op: &str, a: &str, b: &str) -> String {
        let name = self.name();
        self.line(format_args!("{name} = arith.{op} {a}, {b} : index"));
        name
    }

    /// The first element of something of this block's, or of the next one's, `at` elements on.
    fn place(&mut self, way: Way, at: &str, is_next: bool) -> String {
        let step = match way {
            Way::Parts => PART,
            Way::Columns => 16,
            Way::All => 0,
        };
        let step = self.number(step);
        let one = if is_next { self.arith("addi", "%b", "%c1") } else { "%b".into() };
        let first = self.arith("muli", &one, &step);
        self.arith("addi", &first, at)
    }

    /// A view of 16 x 16 elements of an array, made in one of several ways.
    fn view(&mut self, array: &str, way: Way, at: &str, is_next: bool) -> (String, &'static str) {
        let place = self.place(way, at, is_next);
        let pitch = if way == Way::Columns { "%pitch" } else { "%c16" };
        let [pointer, view, part] = [self.name(), self.name(), self.name()];
        self.line(format_args!("{pointer} = pto.addptr {array}, {place} : !pto.ptr<f32> -> !pto.ptr<f32>"));
        let ty = "!pto.tensor_view<?x?xf32>";
        if self.next(3) > 0 {
            self.line(format_args!(
                "{view} = pto.make_tensor_view {pointer}, shape = [%c16, %c16], strides = [{pitch}, %c1] : {ty}"
            ));
            return (view, ty);
        }
        // A window of rows of a larger view, which reaches further than it.
        self.line(format_args!(
            "{view} = pto.make_tensor_view {pointer}, shape = [%c32, %c16], strides = [{pitch}, %c1] : {ty}"
        ));
        let of = "!pto.partition_tensor_view<16x16xf32>";
        self.line(format_args!(
            "{part} = pto.partition_view {view}, offsets = [%c0, %c0], sizes = [%c16, %c16] : {ty} -> {of}"
        ));
        (part, of)
    }

    fn load(&mut self, view: &(String, &str), tile: &str) {
        self.line(format_args!("pto.tload ins({} : {}) outs({tile} : !pto.tile<16x16xf32>)", view.0, view.1));
    }

    fn store(&mut self, tile: &str, view: &(String, &str), adds: bool) {
        let how = if adds { " {atomicType = #pto<atomic_type atomic_add>}" } else { "" };
        self.line(format_args!("pto.tstore ins({tile} : !pto.tile<16x16xf32>) outs({} : {}){how}", view.0, view.1));
    }

    /// Something that a block does `at` elements behind the start of its part.
    fn statement(&mut self, at: &str, depth: usize) {
        let which = self.next(2);
        let (array, way) = (["%w", "%x"][which], self.ways[which]);
        match self.next(if depth > 0 { 9 } else { 6 }) {
            0 | 1 => {
                let view = self.view(array, way, at, false);
                self.load(&view, "%t");
                self.line(format_args!(
                    "pto.tadd ins(%t, %s : !pto.tile<16x16xf32>, !pto.tile<16x16xf32>) outs(%s : !pto.tile<16x16xf32>)"
                ));
                self.store("%s", &view, false);
            }
            2 => {
                // Now and then what the next block may change.
                let is_next = self.next(8) == 0;
                let from = self.view(array, way, at, is_next);
                self.load(&from, "%s");
            }
            3 => {
                let to = self.view(array, way, at, false);
                self.store("%s", &to, true);
            }
            4 => {
                let place = self.place(way, at, false);
                self.line(format_args!("pto.store_scalar %half, {array}[{place}] : !pto.ptr<f32>, f32"));
            }
            5 => {
                // A buffer that grows, through which something comes back; or nothing that was ever written.
                let to = self.view("%g", Way::Parts, at, false);
                let tile = ["%s", "%u"][self.next(4) / 3];
                self.store(tile, &to, false);
                if self.next(2) == 0 {
                    self.load(&to, "%t");
                }
            }
            6 => {
                let which = self.next(3);
                let condition = self.name();
                self.line(format_args!("{condition} = arith.cmpi eq, %b, %c{which} : index"));
                self.line(format_args!("scf.if {condition} {{"));
                self.statement(at, depth - 1);
                self.line(format_args!("}}"));
            }
            7 => {
                // A table says where.
                let [found, index] = [self.name(), self.name()];
                self.line(format_args!("{found} = pto.load_scalar %n[%b] : !pto.ptr<i32> -> i32"));
                self.line(format_args!("{index} = arith.index_cast {found} : i32 to index"));
                let on = self.arith("addi", at, &index);
                self.statement(&on, depth - 1);
            }
            _ => {
                let [turn, far] = [self.name(), self.name()];
                let rounds = 1 + self.next(2);
                self.line(format_args!("scf.for {turn} = %c0 to %c{rounds} step %c1 {{"));
                let step = if way == Way::Columns { "%rows" } else { "%c256" };
                self.line(format_args!("{far} = arith.muli {turn}, {step} : index"));
                let on = self.arith("addi", at, &far);
                self.statement(&on, depth - 1);
                self.line(format_args!("}}"));
            }
        }
    }

    /// A program, and how its blocks divide %w and %x.
    pub fn program(seed: u64) -> (String, [Way; 2]) {
        let mut maker = Maker { seed, names: 0, text: String::new(), ways: [Way::Parts; 2] };
        for n in 0..2 {
            maker.ways[n] = [Way::Parts, Way::Parts, Way::Columns, Way::All][maker.next(4)];
        }
        maker.line(format_args!(
            "func.func @kernel(%w: !pto.ptr<f32>, %x: !pto.ptr<f32>, %n: !pto.ptr<i32>, %g: !pto.ptr<f32>) {{"
        ));
        for n in [0, 1, 2, 16, 32, 256] {
            maker.line(format_args!("%c{n} = arith.constant {n} : index"));
        }
        maker.line(format_args!(
            "%pitch = arith.constant {PITCH} : index\n%rows = arith.constant {} : index\n%half = arith.constant 0.5 : f32
             %b64 = pto.get_block_idx\n%b = arith.index_cast %b64 : i64 to index
             %t = pto.alloc_tile : !pto.tile<16x16xf32>\n%s = pto.alloc_tile : !pto.tile<16x16xf32>
             %u = pto.alloc_tile : !pto.tile<16x16xf32>",
            16 * PITCH
        ));
        // Something is in %s, unless nothing is.
        if maker.next(8) > 0 {
            let view = maker.view("%w", maker.ways[0], "%c0", false);
            maker.load(&view, "%s");
        }
        for _ in 0..1 + maker.next(4) {
            let at = ["%c0", "%c0", "%c256"][maker.next(3)];
            maker.statement(at, 2);
        }
        maker.line(format_args!("return\n}}"));
        (maker.text, maker.ways)
    }
}
