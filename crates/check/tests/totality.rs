//! Totality (ops.md 1 rule 1): every combination of profile, instruction, form, locations, layouts and element types has
//! exactly one answer, and it is the one of a second statement of the tables, `legality.txt`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use tessera_check::{Decision, check, decide};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ConvType, GlobalArg, Inst, Place, Root, ScalarArg, TileArg, ViewTag};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Loc, Pad, SLayout, Tile, TileType};

/// A line of `legality.txt`.
struct Line {
    profiles: Vec<Profile>,
    ops: Vec<&'static str>,
    forms: Vec<&'static str>,
    src: Vec<Loc>,
    dst: Vec<Loc>,
    layouts: Vec<(&'static str, &'static str)>,
    types: Types,
}

enum Types {
    Any,
    /// The source is one of these.
    From(Vec<Elem>),
    None,
    Equal,
    Alike,
    EqualOf(Vec<Elem>),
    Each(Vec<Elem>),
    Pairs(Vec<(Elem, Vec<Elem>)>),
}

fn lines() -> Vec<Line> {
    let text: &'static str = include_str!("legality.txt");
    let data = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    data.map(|line| {
        let cells: Vec<&'static str> = line.split('|').map(str::trim).collect();
        let [profiles, ops, forms, locs, layouts, types] = cells[..] else {
            panic!("six cells: {line}");
        };
        let (src, dst) = locs.split_once('>').unwrap();
        Line {
            profiles: profiles.split(',').map(|p| Profile::parse(p).unwrap()).collect(),
            ops: ops.split(',').collect(),
            forms: forms.split(',').collect(),
            src: locations(src),
            dst: locations(dst),
            layouts: layouts.split(' ').map(|p| p.split_once('>').unwrap_or((p, p))).collect(),
            types: type_cell(types),
        }
    })
    .collect()
}

fn locations(cell: &str) -> Vec<Loc> {
    match cell {
        "*" => Loc::ALL.to_vec(),
        "!acc" => Loc::ALL.iter().copied().filter(|l| *l != Loc::Acc).collect(),
        list => list.split(',').map(|l| Loc::parse(l).unwrap()).collect(),
    }
}

fn elems(list: &str) -> Vec<Elem> {
    list.split(',').map(|e| Elem::parse(e).unwrap()).collect()
}

fn type_cell(cell: &str) -> Types {
    match cell {
        "any" => Types::Any,
        "none" => Types::None,
        "equal" => Types::Equal,
        "alike" => Types::Alike,
        cell if cell.starts_with('=') => Types::EqualOf(elems(&cell[1..])),
        cell if cell.starts_with("from ") => Types::From(elems(&cell[5..])),
        cell if cell.starts_with("each ") => Types::Each(elems(&cell[5..])),
        pairs => Types::Pairs(
            pairs
                .split(' ')
                .map(|p| p.split_once('>').unwrap())
                .map(|(s, d)| (Elem::parse(s).unwrap(), elems(d)))
                .collect(),
        ),
    }
}

fn is_layout(word: &str, tile: &Tile) -> bool {
    let is = |name: &str| tile.layout_name().name().eq_ignore_ascii_case(name);
    match word {
        "*" => true,
        "row" => is("nd") && tile.rows == 1,
        word => is(&word[..2]) && (word.len() == 2 || word[2..].parse() == Ok(tile.fractal)),
    }
}

fn same(a: &Tile, b: &Tile) -> bool {
    let boxed = a.slayout != SLayout::NoneBox;
    a.blayout == b.blayout && a.slayout == b.slayout && (!boxed || a.fractal == b.fractal)
}

/// What the tables say: the rule's ending, or nothing where a line fits.
fn table(lines: &[Line], profile: Profile, op: &str, form: &str, src: &Tile, dst: &Tile) -> Option<&'static str> {
    let mut end = "profile";
    for line in lines.iter().filter(|l| l.profiles.contains(&profile)) {
        if !line.ops.contains(&op) || !line.forms.contains(&form) {
            continue;
        }
        let loc = line.src.contains(&src.loc) && line.dst.contains(&dst.loc);
        let layout = || {
            line.layouts.iter().any(|(a, b)| match *a {
                "same" => same(src, dst),
                a => is_layout(a, src) && is_layout(b, dst),
            })
        };
        let types = || match &line.types {
            Types::Any => true,
            Types::From(list) => list.contains(&src.elem),
            Types::None => false,
            Types::Equal => src.elem == dst.elem,
            Types::Alike => {
                let kind = |e: Elem| (e.is_float(), e.bits());
                src.elem == dst.elem || !src.elem.is_float() && kind(src.elem) == kind(dst.elem)
            }
            Types::EqualOf(list) => src.elem == dst.elem && list.contains(&src.elem),
            Types::Each(list) => list.contains(&src.elem) && list.contains(&dst.elem),
            Types::Pairs(pairs) => pairs.iter().any(|(s, ds)| *s == src.elem && ds.contains(&dst.elem)),
        };
        // The line that comes furthest decides which rule is broken.
        end = match (loc, end) {
            (false, "profile") => "loc",
            (false, end) => end,
            (true, end) if !layout() => {
                if end == "dtype" {
                    end
                } else {
                    "layout"
                }
            }
            (true, _) if !types() => "dtype",
            (true, _) => return None,
        };
    }
    Some(end)
}

/// The `tile-*` rule of a type, in the words of tile-model.md 2, 3 and 5; shapes here never break the others.
fn tile_rule(tile: &Tile, profile: Profile) -> Option<&'static str> {
    let a5_only =
        matches!(tile.elem, Elem::F8e4m3 | Elem::F8e5m2 | Elem::F8e8m0 | Elem::Hif8 | Elem::F4e2m1x2 | Elem::F4e1m2x2);
    let boxed = tile.slayout != SLayout::NoneBox;
    let c0 = 256 / u64::from(tile.elem.bits());
    let (mut ir, ic) = match (tile.slayout, tile.fractal) {
        (SLayout::NoneBox, _) => (1, 1),
        (SLayout::RowMajor, 512) => (16, c0),
        (SLayout::ColMajor, 512) => (c0, 16),
        (_, 1024) => (16, 16),
        (SLayout::RowMajor, _) => (16, 2),
        (SLayout::ColMajor, _) => (2, 16),
    };
    if tile.slayout == SLayout::RowMajor && tile.rows == 1 {
        ir = 1;
    }
    let major = if tile.blayout == BLayout::RowMajor { tile.cols } else { tile.rows };
    // isa/today.md 5.4: rows count as whole boxes, except in NZ.
    let any_rows = tile.loc == Loc::Vec || tile.fractal == 32 || tile.rows == 1;
    let nz = (tile.blayout, tile.slayout) == (BLayout::ColMajor, SLayout::RowMajor);
    let rows = if nz { tile.rows } else { tile.rows.next_multiple_of(ir) };
    let ki = match (tile.loc, profile) {
        (_, Profile::Cpu) => u64::MAX / 1024,
        (Loc::Vec, Profile::A2a3) => 192,
        (Loc::Vec, _) => 256,
        (Loc::Mat, _) => 512,
        (Loc::Left | Loc::Right, _) => 64,
        (Loc::Acc, Profile::A2a3) => 128,
        (Loc::Acc, _) => 256,
        (Loc::Bias, Profile::A2a3) => 1,
        (Loc::Scaling, Profile::A2a3) => 2,
        _ => 4,
    };
    let bytes = rows * tile.cols * u64::from(tile.elem.bits()) / 8;
    if profile == Profile::A2a3 && matches!(tile.loc, Loc::ScaleLeft | Loc::ScaleRight) {
        Some("tile-loc")
    } else if profile != Profile::A5 && a5_only {
        Some("tile-dtype")
    } else if boxed && (tile.fractal == 1024 && tile.elem.bits() != 32 || tile.fractal == 32 && tile.elem.bits() != 8) {
        Some("tile-fractal")
    } else if !boxed && major * u64::from(tile.elem.bits()) % 256 != 0 {
        Some("tile-align")
    } else if boxed && !tile.cols.is_multiple_of(ic) {
        Some("tile-box-cols")
    } else if boxed && !tile.rows.is_multiple_of(ir) && !any_rows {
        Some("tile-box-rows")
    } else if tile.elem.is_fp4()
        && tile.rows % 2 == 1
        && (tile.slayout == SLayout::ColMajor || !boxed && tile.blayout == BLayout::ColMajor)
    {
        Some("tile-fp4")
    } else if bytes > ki * 1024 {
        Some("tile-size")
    } else {
        None
    }
}

/// Every layout, with the fractals that some type has.
const LAYOUTS: [(BLayout, SLayout, u32); 10] = [
    (BLayout::RowMajor, SLayout::NoneBox, 512),
    (BLayout::ColMajor, SLayout::NoneBox, 512),
    (BLayout::ColMajor, SLayout::RowMajor, 512),
    (BLayout::RowMajor, SLayout::ColMajor, 512),
    (BLayout::RowMajor, SLayout::RowMajor, 512),
    (BLayout::ColMajor, SLayout::ColMajor, 512),
    (BLayout::ColMajor, SLayout::RowMajor, 1024),
    (BLayout::ColMajor, SLayout::RowMajor, 32),
    (BLayout::RowMajor, SLayout::RowMajor, 32),
    (BLayout::ColMajor, SLayout::ColMajor, 32),
];
/// Enough for pairs of different types.
const FEW_LAYOUTS: [usize; 3] = [0, 2, 6];

/// Pairs of types: all equal ones, and the different ones that any table names, with their neighbours.
fn type_pairs() -> Vec<(Elem, Elem)> {
    let mut pairs: Vec<(Elem, Elem)> = Elem::ALL.iter().map(|e| (*e, *e)).collect();
    for src in [Elem::F32, Elem::I32, Elem::F16, Elem::U8] {
        pairs.extend(Elem::ALL.iter().filter(|d| **d != src).map(|d| (src, *d)));
    }
    pairs
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// As small as every layout of both types allows.
    Square,
    /// One row.
    Row,
}

struct Counter<'a> {
    lines: &'a [Line],
    cases: u64,
    legal: u64,
}

impl Counter<'_> {
    /// Asks both sides and compares.
    fn case(&mut self, inst: &Inst, want: Option<&str>) {
        self.cases += 1;
        let got = match decide(inst) {
            Some(Decision::Legal(_)) => {
                self.legal += 1;
                None
            }
            Some(Decision::Rejected(rule)) => Some(rule),
            None => panic!("no answer for {inst:?}"),
        };
        assert_eq!(got, want, "{}", describe(inst));
        // The answer is one: asking for findings gives at most one error, the same.
        if self.cases.is_multiple_of(64) {
            let errors: Vec<_> = check(inst).into_iter().filter(|f| f.is_error()).map(|f| f.rule).collect();
            assert_eq!(errors.first().copied(), want, "{}", describe(inst));
            assert!(errors.len() <= 1, "{}", describe(inst));
        }
    }
}

fn describe(inst: &Inst) -> String {
    let tiles: Vec<String> = inst.tiles.iter().map(|t| format!("{}: {}", t.role, t.tile)).collect();
    format!("{} {} ({}) {}", inst.profile, inst.op, inst.form, tiles.join(", "))
}

fn tile(loc: Loc, elem: Elem, layout: (BLayout, SLayout, u32), shape: [u64; 2], profile: Profile) -> Tile {
    let ty = TileType::new(loc, elem, shape[0], shape[1]).with_layout(layout.0, layout.1, layout.2);
    ty.resolve(profile)
}

fn shape_of(shape: Shape, s: Elem, d: Elem) -> [u64; 2] {
    match shape {
        Shape::Square => [16.max(s.c0()).max(d.c0()); 2],
        Shape::Row => [1, 1024],
    }
}

/// Calls `f` for every pair of tiles.
fn tile_pairs(profile: Profile, shape: Shape, mut f: impl FnMut(Tile, Tile)) {
    for src_loc in Loc::ALL {
        for dst_loc in Loc::ALL {
            for (s, d) in type_pairs() {
                let dims = shape_of(shape, s, d);
                let all: Vec<usize> = if s == d { (0..LAYOUTS.len()).collect() } else { FEW_LAYOUTS.to_vec() };
                for a in &all {
                    for b in &all {
                        f(tile(*src_loc, s, LAYOUTS[*a], dims, profile), tile(*dst_loc, d, LAYOUTS[*b], dims, profile));
                    }
                }
            }
        }
    }
}

/// "tmov-" and "dtype" make a rule id.
fn rule(prefix: &str, end: &str) -> String {
    format!("{prefix}-{end}")
}

fn first_tile_rule(tiles: &[&Tile], profile: Profile) -> Option<&'static str> {
    tiles.iter().find_map(|t| tile_rule(t, profile))
}

fn arg(role: Role, tile: Tile) -> TileArg {
    TileArg::of_type(role, tile)
}

/// A parameter with scale 1 whose sign fits the destination.
fn quant_bits(dst: Elem) -> i128 {
    0x3F80_0000 | i128::from(dst == Elem::I8) << 46
}

/// TMOV, TEXTRACT and TINSERT in every form.
fn moves(counter: &mut Counter, shape: Shape) {
    for profile in Profile::ALL {
        for (op, fp_op, name) in [
            (Opcode::Tmov, Opcode::TmovFp, "tmov"),
            (Opcode::Textract, Opcode::TextractFp, "textract"),
            (Opcode::Tinsert, Opcode::TinsertFp, "tinsert"),
        ] {
            for (form, word) in [
                (Form::Plain, "plain"),
                (Form::ScalarQuant, "scalar"),
                (Form::VectorQuant, "vector"),
                (Form::Fill, "fill"),
                (Form::TwoWindows, "two"),
            ] {
                let two = form == Form::TwoWindows;
                if two && op != Opcode::Textract || shape == Shape::Row && (op != Opcode::Tmov || form != Form::Plain) {
                    continue;
                }
                let with_fp = matches!(form, Form::VectorQuant | Form::Fill);
                let opcode = if with_fp { fp_op } else { op };
                let mut base = Inst::new(opcode, form, profile);
                if op != Opcode::Tmov {
                    base.scalars.push(ScalarArg::new(Role::Row, 0));
                    base.scalars.push(ScalarArg::new(Role::Col, 0));
                }
                if two {
                    base.scalars.push(ScalarArg::new(Role::Row1, 0));
                    base.scalars.push(ScalarArg::new(Role::Col1, 0));
                }
                if form == Form::Fill {
                    base.scalars.push(ScalarArg::new(Role::Fill, 1));
                }
                tile_pairs(profile, shape, |src, dst| {
                    let mut inst = base.clone();
                    inst.tiles.push(arg(Role::Src, src));
                    if form == Form::VectorQuant {
                        inst.tiles.push(arg(Role::Fp, fp_tile(profile)));
                    }
                    if form == Form::ScalarQuant {
                        inst.scalars.push(ScalarArg::new(Role::Quant, Number::Int(quant_bits(dst.elem))));
                    }
                    inst.tiles.push(arg(if two { Role::Dst0 } else { Role::Dst }, dst));
                    if two {
                        inst.tiles.push(arg(Role::Dst1, dst));
                    }
                    let want = first_tile_rule(&[&src, &dst], profile).map(String::from).or_else(|| {
                        table(counter.lines, profile, name, word, &src, &dst)
                            .map(|end| rule(name, end))
                            .or_else(|| after_move(profile, name, form, &src, &dst).map(String::from))
                    });
                    counter.case(&inst, want.as_deref());
                });
            }
        }
    }
}

fn fp_tile(profile: Profile) -> Tile {
    tile(Loc::Scaling, Elem::U64, LAYOUTS[0], [1, 64], profile)
}

/// Rules after the tables that these shapes can break.
fn after_move(profile: Profile, name: &str, form: Form, src: &Tile, dst: &Tile) -> Option<&'static str> {
    let npu = profile != Profile::Cpu;
    let nd = |t: &Tile| is_layout("nd", t);
    let nz = |t: &Tile| is_layout("nz", t);
    let quant = matches!(form, Form::ScalarQuant | Form::VectorQuant);
    if npu && name == "tmov" && dst.loc == Loc::Bias {
        let mut widens = vec![(Elem::I32, Elem::I32), (Elem::F32, Elem::F32)];
        if form != Form::Fill {
            widens.push((Elem::F16, Elem::F32));
            if profile == Profile::A5 {
                widens.push((Elem::Bf16, Elem::F32));
            }
        }
        if src.rows != 1 || !widens.contains(&(src.elem, dst.elem)) {
            return Some("tmov-bias");
        }
    }
    if npu && name == "tmov" && dst.loc == Loc::Scaling {
        let params = src.elem == dst.elem && matches!(src.elem, Elem::U64 | Elem::I64);
        if src.rows != 1 || !params {
            return Some("tmov-scaling");
        }
    }
    // One row of NZ has a pitch of 16 on a5.
    if profile == Profile::A5
        && name == "tmov"
        && (src.loc, dst.loc) == (Loc::Vec, Loc::Vec)
        && nd(src)
        && nz(dst)
        && !dst.rows.is_multiple_of(16)
    {
        return Some("tmov-pitch");
    }
    // Across boxes TEXTRACT moves 32 rows and columns of 1-byte types; the square has them.
    let out_of_mat = profile == Profile::Cpu && src.loc == Loc::Mat && matches!(src.elem, Elem::F32 | Elem::I32);
    if quant && src.loc != Loc::Acc && !out_of_mat {
        return Some("quant-source");
    }
    None
}

/// Instructions with tiles of one kind in and one kind out.
fn others(counter: &mut Counter) {
    for profile in Profile::ALL {
        tile_pairs(profile, Shape::Square, |src, dst| {
            trans(counter, profile, src, dst);
            concat(counter, profile, src, dst);
            pack(counter, profile, src, dst);
            fillpad(counter, profile, src, dst);
            interleave(counter, profile, src, dst);
            reshape(counter, profile, src, dst);
        });
    }
}

fn want(counter: &Counter, inst: &Inst, name: &str, form: &str, src: &Tile, dst: &Tile) -> Option<String> {
    first_tile_rule(&[src, dst], inst.profile)
        .map(String::from)
        .or_else(|| table(counter.lines, inst.profile, name, form, src, dst).map(|end| rule(name, end)))
}

fn trans(counter: &mut Counter, profile: Profile, src: Tile, dst: Tile) {
    let mut inst = Inst::new(Opcode::Ttrans, Form::Plain, profile);
    inst.tiles.extend([arg(Role::Src, src), arg(Role::Dst, dst)]);
    let size = (src.elem.bits() != dst.elem.bits()).then(|| "ttrans-size".to_string());
    let plain = want(counter, &inst, "ttrans", "plain", &src, &dst).or(size);
    counter.case(&inst, plain.as_deref());
    inst.form = Form::Tmp;
    inst.tiles.push(arg(Role::Tmp, src));
    counter.case(&inst, plain.as_deref());
}

fn concat(counter: &mut Counter, profile: Profile, src: Tile, dst: Tile) {
    let mut inst = Inst::new(Opcode::Tconcat, Form::Plain, profile);
    inst.tiles.extend([arg(Role::Src0, src), arg(Role::Src1, src), arg(Role::Dst, dst)]);
    // Half of each source's columns are valid, so that they join to the destination's.
    for source in 0..2 {
        inst.tiles[source].valid[1] = Some(dst.cols / 2);
    }
    let plain = want(counter, &inst, "tconcat", "plain", &src, &dst);
    counter.case(&inst, plain.as_deref());
    inst.form = Form::Indexed;
    let idx = tile(Loc::Vec, Elem::I32, LAYOUTS[0], [dst.rows, 8], profile);
    inst.tiles.extend([arg(Role::Idx0, idx), arg(Role::Idx1, idx)]);
    let indexed = want(counter, &inst, "tconcat", "indexed", &src, &dst);
    counter.case(&inst, indexed.as_deref());
}

fn pack(counter: &mut Counter, profile: Profile, src: Tile, dst: Tile) {
    let mut inst = Inst::new(Opcode::Tpack, Form::Plain, profile);
    inst.tiles.extend([arg(Role::Src, src), arg(Role::Dst, dst)]);
    let narrows = matches!((src.elem.bits(), dst.elem.bits()), (32, 16) | (32, 8) | (16, 8));
    // Vec and ND are one rule of TPACK.
    let rule = want(counter, &inst, "tpack", "plain", &src, &dst).map(|r| r.replace("tpack-loc", "tpack-layout"));
    let rule = rule.or((!narrows).then(|| "tpack-size".into()));
    counter.case(&inst, rule.as_deref());
}

fn fillpad(counter: &mut Counter, profile: Profile, src: Tile, dst: Tile) {
    let dst = Tile { pad: Pad::Zero, ..dst };
    let place = Some(Place { root: Root::Auto(0), start: 0 });
    for (op, name) in [
        (Opcode::Tfillpad, "tfillpad"),
        (Opcode::TfillpadInplace, "tfillpad_inplace"),
        (Opcode::TfillpadExpand, "tfillpad_expand"),
    ] {
        let mut inst = Inst::new(op, Form::Plain, profile);
        inst.tiles.extend([arg(Role::Src, src), arg(Role::Dst, dst)]);
        // One storage where the layouts are one: Mat needs it, and elsewhere it does no harm.
        let shared = same(&src, &dst) && src.elem.bits() == dst.elem.bits() && src.loc == dst.loc;
        if shared {
            inst.tiles.iter_mut().for_each(|t| t.place = place);
        }
        let rule = want(counter, &inst, name, "plain", &src, &dst).map(|r| r.replace(name, "tfillpad"));
        counter.case(&inst, rule.as_deref());
        if src == (Tile { pad: src.pad, ..dst }) {
            let mut value = Inst::new(op, Form::Fill, profile);
            value.tiles.push(arg(Role::Dst, dst));
            value.scalars.push(ScalarArg::new(Role::Fill, 0));
            // f8e8m0 has no zero.
            let no_zero = (dst.elem == Elem::F8e8m0).then(|| "fp-value".to_string());
            let rule = want(counter, &value, name, "fill", &dst, &dst).map(|r| r.replace(name, "tfillpad"));
            counter.case(&value, rule.or(no_zero).as_deref());
        }
    }
}

fn interleave(counter: &mut Counter, profile: Profile, src: Tile, dst: Tile) {
    for op in [Opcode::Tinterleave, Opcode::Tdeinterleave] {
        let mut inst = Inst::new(op, Form::Plain, profile);
        inst.tiles.extend([arg(Role::Src0, src), arg(Role::Src1, src), arg(Role::Dst0, dst), arg(Role::Dst1, dst)]);
        let rule = want(counter, &inst, op.mnemonic(), "plain", &src, &dst);
        let rule = rule.map(|r| r.replace("tdeinterleave", "tinterleave"));
        counter.case(&inst, rule.as_deref());
    }
}

fn reshape(counter: &mut Counter, profile: Profile, src: Tile, dst: Tile) {
    let mut inst = Inst::new(Opcode::Treshape, Form::Plain, profile);
    inst.tiles.extend([arg(Role::Src, src), arg(Role::Dst, dst)]);
    let boxed = |t: &Tile| t.slayout != SLayout::NoneBox;
    let own = if src.loc != dst.loc {
        Some("treshape-loc")
    } else if boxed(&src) != boxed(&dst) {
        Some("treshape-box")
    } else if src.elem.bits() != dst.elem.bits() {
        Some("treshape-bytes")
    } else {
        None
    };
    let rule = want(counter, &inst, "treshape", "plain", &src, &dst).or(own.map(String::from));
    counter.case(&inst, rule.as_deref());
}

fn transfers(counter: &mut Counter) {
    let tags = [(ViewTag::Nd, 0), (ViewTag::Dn, 1), (ViewTag::Nz, 2)];
    for profile in Profile::ALL {
        for loc in Loc::ALL {
            for elem in Elem::ALL {
                for view_elem in Elem::ALL {
                    for layout in LAYOUTS {
                        for (tag, like) in tags {
                            let dims = shape_of(Shape::Square, *elem, *elem);
                            let it = tile(*loc, *elem, layout, dims, profile);
                            let view = tile(Loc::Vec, *view_elem, LAYOUTS[like], dims, profile);
                            let [r, c] = dims.map(Some);
                            let dims: &[Option<u64>] =
                                if tag == ViewTag::Nz { &[Some(1), Some(1), r, Some(1), c] } else { &[r, c] };
                            let global = GlobalArg {
                                elem: *view_elem,
                                tag,
                                dims: dims.into(),
                                strides: dims.iter().map(|_| Some(1)).collect(),
                                offset: Some(0),
                                buffer: None,
                            };
                            for (op, name) in [(Opcode::Tload, "tload"), (Opcode::Tstore, "tstore")] {
                                let load = op == Opcode::Tload;
                                let mut inst = Inst::new(op, Form::Plain, profile);
                                inst.tiles.push(arg(if load { Role::Dst } else { Role::Src }, it));
                                inst.global = Some(global.clone());
                                let (src, dst) = if load { (&view, &it) } else { (&it, &view) };
                                // The view is no tile: only the tile's own type can be none.
                                let rule = tile_rule(&it, profile).map(String::from).or_else(|| {
                                    table(counter.lines, profile, name, "plain", src, dst).map(|end| rule(name, end))
                                });
                                counter.case(&inst, rule.as_deref());
                            }
                        }
                    }
                }
            }
        }
    }
}

fn images(counter: &mut Counter) {
    for profile in Profile::ALL {
        for conv_loc in Loc::ALL {
            for loc in Loc::ALL {
                for elem in Elem::ALL {
                    for conv_elem in Elem::ALL {
                        for layout in LAYOUTS {
                            let conv = ConvType {
                                loc: *conv_loc,
                                has_depth: false,
                                dims: [1, 1, 1, 4, 4, conv_elem.c0()],
                                elem: *conv_elem,
                            };
                            let dims = shape_of(Shape::Square, *elem, *conv_elem);
                            let dst = tile(*loc, *elem, layout, dims, profile);
                            // For the tables it is a row; its type is checked as an array.
                            let src = tile(*conv_loc, *conv_elem, LAYOUTS[0], [1, 256 * conv_elem.c0()], profile);
                            let dense = tile(Loc::Mat, *conv_elem, LAYOUTS[0], [1, conv_elem.c0()], profile);
                            let mut inst = Inst::new(Opcode::Timg2col, Form::Plain, profile);
                            inst.tiles.extend([arg(Role::Src, src), arg(Role::Dst, dst)]);
                            inst.scalars.push(ScalarArg::new(Role::PosM, 0));
                            inst.scalars.push(ScalarArg::new(Role::PosK, 0));
                            inst.attrs.set(AttrName::Kernel, Some([3, 3]));
                            inst.conv = Some(conv);
                            let absent =
                                profile == Profile::A2a3 && matches!(conv_loc, Loc::ScaleLeft | Loc::ScaleRight);
                            let rule = absent
                                .then_some("tile-loc")
                                .or_else(|| tile_rule(&dense, profile).filter(|r| *r == "tile-dtype"))
                                .or_else(|| tile_rule(&dst, profile))
                                .map(String::from)
                                .or_else(|| {
                                    let end = table(counter.lines, profile, "timg2col", "plain", &src, &dst)?;
                                    Some(rule("timg2col", end))
                                });
                            counter.case(&inst, rule.as_deref());
                        }
                    }
                }
            }
        }
    }
}

/// Runs one part of the enumeration and says how large it was.
fn part(name: &str, run: impl FnOnce(&mut Counter)) {
    let lines = lines();
    let mut counter = Counter { lines: &lines, cases: 0, legal: 0 };
    run(&mut counter);
    println!("{name}: {} cases, {} of them legal", counter.cases, counter.legal);
    assert!(counter.cases > 100_000 && counter.legal > 10, "{name} was hardly enumerated");
}

#[test]
fn moves_have_the_answer_of_the_tables() {
    part("TMOV, TEXTRACT, TINSERT", |c| moves(c, Shape::Square));
}

#[test]
fn moves_of_one_row_have_the_answer_of_the_tables() {
    part("one-row TMOV", |c| moves(c, Shape::Row));
}

#[test]
fn other_instructions_have_the_answer_of_the_tables() {
    part("TTRANS, TCONCAT, TPACK, TFILLPAD, TINTERLEAVE, TRESHAPE", others);
}

#[test]
fn transfers_have_the_answer_of_the_tables() {
    part("TLOAD, TSTORE", transfers);
}

#[test]
fn images_have_the_answer_of_the_tables() {
    part("TIMG2COL", images);
}
