//! One instruction with the types of its operands, drawn from its row and moved about among the legal ones.
//!
//! A **recipe** is a legal candidate for a row, a form and a signature on a profile. It is found by hill climbing: the
//! rules of a row are asked in order, so the place of the first broken one says how far a candidate came. From a recipe a
//! random walk of small changes, each of which keeps the candidate legal, leads to any other one. Nothing here names an
//! instruction.

use crate::random::Random;
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tessera_check::check;
use tessera_ir::Type;
use tessera_isa::codec::Number;
use tessera_isa::diag::Fault;
use tessera_isa::elem::{Elem, ElemKind};
use tessera_isa::inst::{
    AttrValue, Attrs, ConvType, GlobalArg, Inst, ScalarArg, ScalarType, Sign, TileArg, ViewTag, ViewTags,
};
use tessera_isa::ops::{AttrKind, AttrName, Form, Kind, Lay, Opcode, Role, Shape, Sig, Text, TypeOf, Types};
use tessera_isa::profile::Profile;
use tessera_isa::sem::Sem;
use tessera_isa::tile::{BLayout, Compact, Extent, LayoutName, Loc, Pad, SLayout, TileType};

/// The most bytes of one tile.
const MOST_BYTES: u64 = 16 << 10;

/// A scalar operand: its type, and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    pub role: Role,
    pub ty: ScalarType,
    pub value: Number,
}

/// An instruction with the types of its operands and the values of its scalars.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub op: Opcode,
    pub shape: &'static Shape,
    pub sig: Option<&'static Sig>,
    /// Tile operands in the form's order: ins, then outs.
    pub tiles: Vec<(Role, TileType)>,
    /// The operand among them that is a conv tile.
    pub conv: Option<(Role, ConvType)>,
    pub scalars: Vec<Scalar>,
    pub attrs: Attrs,
    /// Element type and extents of the view, and its layout.
    pub view: Option<(Elem, [u64; 2], ViewTag)>,
}

/// The instructions that candidates are made for: those whose text is operands in forms, and that compute or bind.
pub fn opcodes() -> impl Iterator<Item = Opcode> {
    Opcode::ALL.iter().copied().filter(|op| op.info().text == Text::Forms && !matches!(op.info().sem, Sem::Nothing))
}

/// The signatures of a row for a shape on a profile; one entry without a signature, where the row has none at all.
pub fn signatures(op: Opcode, form: Form, profile: Profile) -> Vec<Option<&'static Sig>> {
    let sigs = op.info().sigs;
    match sigs.is_empty() {
        true => vec![None],
        false => sigs.iter().filter(|s| s.is_for(profile, form)).map(Some).collect(),
    }
}

impl Candidate {
    /// The instruction, with everything known that its text will say.
    pub fn inst(&self, profile: Profile) -> Inst {
        let mut inst = Inst::new(self.op, self.shape.form, profile);
        for (role, ty) in &self.tiles {
            let tile = match &self.conv {
                Some((of, conv)) if of == role => conv.as_tile(),
                _ => ty.resolve(profile),
            };
            inst.tiles.push(TileArg::of_type(*role, tile));
        }
        inst.conv = self.conv.map(|(_, conv)| conv);
        let given = self.scalars.iter().filter(|s| !self.is_out(s.role));
        inst.scalars.extend(given.map(|s| ScalarArg { role: s.role, ty: Some(s.ty), value: Some(s.value) }));
        inst.attrs = self.attrs.clone();
        if let Some((elem, [rows, cols], tag)) = self.view {
            let strides = view_strides([rows, cols], tag);
            let view = GlobalArg {
                elem,
                tag,
                dims: [Some(rows), Some(cols)].into_iter().collect(),
                strides: strides.map(Some).into_iter().collect(),
                offset: Some(0),
                buffer: Some(rows * cols),
            };
            inst.set_view(view, ViewTags::written(tag));
        }
        inst
    }

    /// The first rule that it breaks.
    pub fn fault(&self, profile: Profile) -> Option<Fault> {
        check(&self.inst(profile)).into_iter().find(Fault::is_error)
    }

    /// How far it comes: the place of the first broken rule in the row; the end of the row where it is legal.
    fn score(&self, profile: Profile) -> usize {
        let rules = self.op.info().rules;
        match self.fault(profile) {
            None => usize::MAX,
            Some(fault) if fault.rule.starts_with("tile-") => 0,
            Some(fault) => rules.iter().position(|r| r.id == fault.rule).map_or(1, |at| at + 2),
        }
    }

    fn tile(&self, role: Role) -> Option<&TileType> {
        self.tiles.iter().find(|(r, _)| *r == role).map(|(_, ty)| ty)
    }

    /// Whether an operand is written.
    pub fn is_out(&self, role: Role) -> bool {
        self.shape.outs.contains(&role)
    }

    /// Bytes of its largest tile.
    fn bytes(&self, profile: Profile) -> u64 {
        self.tiles.iter().map(|(_, ty)| ty.resolve(profile).bytes()).max().unwrap_or(0)
    }

    /// A first guess: what the row gives as examples, or what the signature asks for.
    fn first(
        random: &mut Random,
        op: Opcode,
        shape: &'static Shape,
        sig: Option<&'static Sig>,
        profile: Profile,
    ) -> Self {
        let mut one = Candidate {
            op,
            shape,
            sig,
            tiles: Vec::new(),
            conv: None,
            scalars: Vec::new(),
            attrs: Attrs::default(),
            view: None,
        };
        let examples = random.once_in(3);
        let own = op.form(shape.form).map_or(&[][..], |f| f.examples);
        let example = |role: Role| {
            let text = own.iter().chain(op.info().examples).find(|(r, _)| *r == role)?.1;
            tessera_asm::parse_type(text).ok()
        };
        let size = [random.pick_or(&[1, 8, 16, 16, 16, 32], 16), random.pick_or(&[16, 32, 32, 64], 32)];
        for role in shape.ins.iter().chain(&shape.outs).copied() {
            match role.kind() {
                _ if role == Role::Global => one.view = Some((Elem::F32, size, ViewTag::Nd)),
                Kind::Counts => {
                    let counts = TileType::new(Loc::Vec, Elem::U16, 1, 16);
                    one.tiles.push((role, counts.with_valid(Extent::Static(1), Extent::Static(4))));
                }
                Kind::Tile | Kind::Conv => {
                    let ty = match example(role) {
                        // Parameters of quantization have one place and one type, whatever the instruction.
                        _ if role == Role::Fp && op.info().by_flows() => {
                            TileType::new(Loc::Scaling, Elem::U64, 1, size[1].next_multiple_of(16))
                        }
                        Some(Type::Conv(conv)) => {
                            one.conv = Some((role, conv));
                            TileType::new(conv.loc, conv.elem, 1, conv.elements())
                        }
                        Some(Type::Tile(tile)) if examples => tile,
                        _ => TileType::new(Loc::Vec, Elem::F16, size[0], size[1]),
                    };
                    one.tiles.push((role, ty));
                }
                _ => {
                    let ty = match example(role) {
                        Some(Type::Scalar(ty)) if examples => Some(ty),
                        _ => None,
                    };
                    let scalar = one.scalar(random, role, ty);
                    one.scalars.push(scalar);
                }
            }
        }
        if !examples {
            one.redraw_locations(random, profile);
            one.redraw_types(random, profile);
            one.redraw_layouts(random, profile);
        }
        let attrs = op.form(shape.form).map_or(op.info().attrs, |form| op.info().attrs_of(form));
        for name in attrs {
            // An attribute without a default is often one that the instruction cannot do without.
            let is_given = if name.info().default.is_none() { !random.once_in(3) } else { random.once_in(4) };
            if is_given {
                let value = one.attribute(random, *name);
                one.attrs.set(*name, value);
            }
        }
        one.fit(profile);
        one
    }

    /// A scalar of a role.
    fn scalar(&self, random: &mut Random, role: Role, ty: Option<ScalarType>) -> Scalar {
        let index = |random: &mut Random| {
            let step = random.pick_or(&[1, 2, 8, 16, 32, 64], 1);
            Number::Int((step * random.range(0, 3)).into())
        };
        let elem =
            self.tiles.iter().rev().map(|(_, ty)| ty.elem).next().or(self.view.map(|v| v.0)).unwrap_or(Elem::F32);
        match role.kind() {
            Kind::Index => Scalar { role, ty: ScalarType::Index, value: index(random) },
            Kind::Quant => {
                // Scale, offset and sign of a quantization parameter (fixpipe.md 1).
                let scale = random.pick_or(&[1.0f32, 0.5, -0.25, 3.0], 1.0);
                let signed = u64::from(elem == Elem::I8);
                let bits = u64::from(scale.to_bits()) | random.range(0, 3) << 37 | signed << 46;
                Scalar { role, ty: ScalarType::Int(64, Sign::None), value: Number::Int((bits as i64).into()) }
            }
            _ => {
                let other = [
                    ScalarType::Int(32, Sign::None),
                    ScalarType::Int(16, Sign::None),
                    ScalarType::Float(Elem::F32),
                    ScalarType::Int(1, Sign::None),
                ];
                let own = ScalarType::of(elem);
                let ty = ty.unwrap_or(if random.once_in(4) { random.pick_or(&other, own) } else { own });
                let value = match ty {
                    ScalarType::Float(_) => Number::Float(random.pick_or(&[1.0, 0.5, 2.0, 3.0, 0.25], 1.0)),
                    ScalarType::Int(1, _) => Number::Int(random.range(0, 1).into()),
                    _ => Number::Int(random.range(1, 6).into()),
                };
                Scalar { role, ty, value }
            }
        }
    }

    /// A value of an attribute; integers are those that its description lists, or small ones.
    fn attribute(&self, random: &mut Random, name: AttrName) -> Option<AttrValue> {
        let info = name.info();
        Some(match info.kind {
            AttrKind::Word { list, .. } => AttrValue::Word(random.below(list.len()) as u8),
            AttrKind::Bool => AttrValue::Bool(random.once_in(2)),
            AttrKind::Int(_) => {
                let listed: Vec<i64> = info.about.split('|').filter_map(leading).collect();
                let any = [0, 1, 2, 3, 8, 16, 32, 64];
                AttrValue::from(random.pick_or(if listed.len() > 1 { &listed } else { &any }, 1))
            }
            AttrKind::Number => AttrValue::from(random.range(0, 3) as i64),
            AttrKind::Ints(n) => {
                let image = self.conv.map(|(_, conv)| [conv.dims[3] as i64, conv.dims[4] as i64]);
                let shape = self.tile(Role::Dst).map(|dst| [dst.rows as i64, dst.cols as i64]);
                let mut all = [0i64; 4];
                let low = i64::from(info.default != Some(AttrValue::Ints([0; 4])));
                let known = match random.below(3) {
                    0 => shape,
                    _ => image,
                };
                for (at, value) in all.iter_mut().enumerate().take(n) {
                    let is_size = info.default.is_none() && n == 2;
                    *value = match known.filter(|_| is_size).and_then(|known| known.get(at).copied()) {
                        Some(known) if !random.once_in(3) => known,
                        _ => low + random.below(3) as i64,
                    };
                }
                AttrValue::Ints(all)
            }
            AttrKind::Name => return None,
        })
    }

    fn layouts(&self, random: &mut Random) -> &'static [(Role, Lay)] {
        self.sig.and_then(|sig| random.pick(sig.layouts)).unwrap_or(&[])
    }

    /// The role under which a signature names an operand: a flow is from any source to any destination.
    fn sig_role(&self, role: Role) -> Role {
        let Some(sig) = self.sig else { return role };
        let named = sig.locs.iter().any(|(r, _)| *r == role);
        match self.op.info().by_flows() && !named {
            true if self.is_out(role) => Role::Dst,
            true => Role::Src,
            false => role,
        }
    }

    /// The operands that signatures judge.
    fn judged(&self) -> Vec<Role> {
        let is_parameter = |role: &Role| *role == Role::Fp && self.op.info().by_flows();
        let form = self.op.form(self.shape.form);
        form.into_iter().flat_map(|f| f.judged()).filter(|role| !is_parameter(role)).collect()
    }

    fn redraw_locations(&mut self, random: &mut Random, profile: Profile) {
        let judged = self.judged();
        // cpu takes nearly everything everywhere; most programs stay where hardware computes.
        let is_usual = random.below(4) > 0;
        for at in 0..self.tiles.len() {
            let role = self.tiles[at].0;
            let Some(sig) = self.sig.filter(|_| judged.contains(&role)) else { continue };
            let exists: Vec<Loc> = sig.locs_of(self.sig_role(role)).to_vec();
            let info = tessera_isa::profile::PROFILES.iter().find(|p| p.profile == profile);
            let has = |loc: &Loc| info.is_some_and(|p| p.memories.get(*loc as usize).is_some_and(Option::is_some));
            let exists: Vec<Loc> = exists.into_iter().filter(has).collect();
            let is_any = is_usual && exists.contains(&Loc::Vec) && exists.len() > 2;
            let exists = if is_any { vec![Loc::Vec] } else { exists };
            self.tiles[at].1.loc = random.pick_or(&exists, Loc::Vec);
        }
    }

    fn redraw_layouts(&mut self, random: &mut Random, profile: Profile) {
        let way = self.layouts(random);
        let of = |role: Role| way.iter().find(|(r, _)| *r == role).map_or(Lay::Any, |(_, lay)| *lay);
        let lays: Vec<Lay> = self.tiles.iter().map(|(role, _)| of(self.sig_role(*role))).collect();
        let judged = self.judged();
        for (at, lay) in lays.iter().enumerate() {
            let (role, ty) = &mut self.tiles[at];
            if *role == Role::Fp && !judged.contains(role) {
                continue;
            }
            let lay = if judged.contains(role) { *lay } else { Lay::Of(&[LayoutName::Nd]) };
            let (b, s, fractal) = layout(random, lay, ty.loc, profile);
            *ty = ty.with_layout(b, s, fractal);
            match lay {
                Lay::OneRowNd => ty.rows = 1,
                Lay::OneColumnDn => ty.cols = 1,
                _ => {}
            }
        }
        for (at, lay) in lays.iter().enumerate() {
            let Lay::Like(other) = lay else { continue };
            let like = self.tiles.iter().find(|(r, _)| self.sig_role(*r) == *other).map(|(_, ty)| *ty);
            if let Some(TileType { blayout: Some(b), slayout: Some(s), fractal: Some(f), .. }) = like {
                self.tiles[at].1 = self.tiles[at].1.with_layout(b, s, f);
            }
        }
        if let Some((_, _, tag)) = &mut self.view {
            *tag = random.pick_or(&[ViewTag::Nd, ViewTag::Nd, ViewTag::Dn], ViewTag::Nd);
        }
    }

    /// New element types, as the signature has them.
    fn redraw_types(&mut self, random: &mut Random, profile: Profile) {
        let exists: Vec<Elem> =
            Elem::ALL.iter().copied().filter(|e| profile == Profile::A5 || e.info().on_cpu_and_a2a3).collect();
        let any = random.pick_or(&exists, Elem::F32);
        let types = self.sig.map_or(Types::Any, |sig| sig.types);
        let mut drawn: Vec<(Role, Elem)> = Vec::new();
        let by_flows = self.op.info().by_flows();
        let roles: Vec<Role> = self.tiles.iter().map(|t| t.0).chain(self.view.map(|_| Role::Global)).collect();
        let roles: Vec<Role> = roles.into_iter().filter(|role| *role != Role::Fp || !by_flows).collect();
        let same = match types {
            Types::EqualOf(list) => random.pick_or(list, any),
            _ => any,
        };
        let pair = match types {
            Types::Pairs(pairs) => random.pick(pairs).map(|(from, to)| (from, random.pick_or(to, from))),
            _ => None,
        };
        let row = match types {
            Types::Rows(_, rows) => random.pick(rows),
            _ => None,
        };
        for role in &roles {
            let named = self.sig_role(*role);
            let elem = match types {
                Types::Any | Types::OwnRule => {
                    if random.once_in(2) {
                        random.pick_or(&exists, any)
                    } else {
                        any
                    }
                }
                Types::Equal | Types::EqualOf(_) => same,
                Types::Alike => {
                    if random.once_in(4) {
                        other_sign(same)
                    } else {
                        same
                    }
                }
                Types::EachOf(list) => random.pick_or(list, any),
                Types::Pairs(_) => {
                    pair.map_or(any, |(from, to)| if named == Role::Dst || self.is_out(*role) { to } else { from })
                }
                Types::Rows(names, _) => {
                    let at = names.iter().position(|n| n == role);
                    at.zip(row).and_then(|(at, row)| row.get(at).copied()).unwrap_or(any)
                }
                Types::ByRole(asks) => match asks.iter().find(|(r, _)| *r == named || r == role).map(|(_, ask)| *ask) {
                    Some(TypeOf::One(list)) => random.pick_or(list, any),
                    Some(TypeOf::Like(other) | TypeOf::Alike(other)) => {
                        drawn.iter().find(|(r, _)| *r == other).map_or(any, |(_, e)| *e)
                    }
                    Some(TypeOf::SizeOf(other)) => {
                        let like = drawn.iter().find(|(r, _)| *r == other).map_or(any, |(_, e)| *e);
                        let sized: Vec<Elem> = exists.iter().copied().filter(|e| e.bits() == like.bits()).collect();
                        random.pick_or(&sized, like)
                    }
                    None => any,
                },
            };
            drawn.push((*role, elem));
        }
        // An operand may follow one that stands behind it.
        if let Types::ByRole(asks) = types {
            for (role, ask) in asks {
                let (TypeOf::Like(other) | TypeOf::Alike(other)) = ask else { continue };
                let like = drawn.iter().find(|(r, _)| r == other).map(|(_, e)| *e);
                for (of, elem) in &mut drawn {
                    if let (true, Some(like)) = (of == role, like) {
                        *elem = like;
                    }
                }
            }
        }
        for (role, elem) in drawn {
            match &mut self.view {
                Some(view) if role == Role::Global => view.0 = elem,
                _ => {
                    for (_, ty) in self.tiles.iter_mut().filter(|(r, _)| *r == role && r.kind() != Kind::Counts) {
                        ty.elem = elem;
                    }
                }
            }
        }
        if let Some((role, conv)) = &mut self.conv
            && let Some((_, ty)) = self.tiles.iter().find(|(r, _)| r == role)
        {
            conv.elem = ty.elem;
            conv.dims[5] = ty.elem.c0();
        }
    }

    /// Rounds extents to what layouts and types need, and keeps tiles small.
    fn fit(&mut self, profile: Profile) {
        for (role, ty) in &mut self.tiles {
            if let Some((of, conv)) = &mut self.conv
                && of == role
            {
                (ty.loc, ty.elem, ty.rows, ty.cols) = (conv.loc, conv.elem, 1, conv.elements());
                continue;
            }
            if role.kind() == Kind::Counts {
                continue;
            }
            for _ in 0..8 {
                let tile = ty.resolve(profile);
                let c0 = ty.elem.c0();
                let (ru, cu) = match tile.box_dims() {
                    Some(_) if !tile.is_boxed() => {
                        if tile.blayout == BLayout::RowMajor {
                            (1, c0)
                        } else {
                            (c0, 1)
                        }
                    }
                    Some((ir, ic)) => (ir, ic),
                    None => (16, 16),
                };
                // A valid extent that was all of the tile stays all of it.
                let full = [ty.v_row == Extent::Static(ty.rows), ty.v_col == Extent::Static(ty.cols)];
                ty.rows = ty.rows.max(1).next_multiple_of(ru);
                ty.cols = ty.cols.max(1).next_multiple_of(cu);
                let clamp = |v: Extent, n: u64, full: bool| match v {
                    Extent::Static(v) if !full => Extent::Static(v.min(n)),
                    _ => Extent::Static(n),
                };
                (ty.v_row, ty.v_col) = (clamp(ty.v_row, ty.rows, full[0]), clamp(ty.v_col, ty.cols, full[1]));
                if ty.resolve(profile).bytes() <= MOST_BYTES {
                    break;
                }
                if ty.rows > ty.cols {
                    ty.rows /= 2
                } else {
                    ty.cols /= 2
                }
                if full[0] {
                    ty.v_row = Extent::Static(ty.rows)
                }
                if full[1] {
                    ty.v_col = Extent::Static(ty.cols)
                }
            }
        }
    }

    /// A small change.
    fn change(&mut self, random: &mut Random, profile: Profile, pool: &[TileType]) {
        let known = |v: Extent, n: u64| v.known().unwrap_or(n);
        let tiles = self.tiles.len();
        match random.below(12) {
            0 => self.redraw_types(random, profile),
            1 => {
                self.redraw_locations(random, profile);
                self.redraw_layouts(random, profile);
            }
            2 => self.redraw_layouts(random, profile),
            // The extents of one operand as those of another, or in a simple relation to them.
            3..=5 if tiles > 0 => {
                let from = self.tiles[random.below(tiles)].1;
                let own = random.once_in(3);
                let at = random.below(tiles);
                let ty = &mut self.tiles[at].1;
                let [r, c, vr, vc] = match own {
                    true => [ty.rows, ty.cols, known(ty.v_row, ty.rows), known(ty.v_col, ty.cols)],
                    false => [from.rows, from.cols, known(from.v_row, from.rows), known(from.v_col, from.cols)],
                };
                let [r, c, vr, vc] = match random.below(17) {
                    0 | 1 => [r, c, vr, vc],
                    2 => [c, r, vc, vr],
                    3 => [1, c, 1, vc],
                    4 => [r, 1, vr, 1],
                    5 => [r, 2 * c, vr, 2 * vc],
                    6 => [2 * r, c, 2 * vr, vc],
                    7 => [r.div_ceil(2), c, vr.div_ceil(2), vc],
                    8 => [r, c.div_ceil(2), vr, vc.div_ceil(2)],
                    9 => [r, c, vr, random.pick_or(&[1, 8, vc.div_ceil(4), 4 * vc, 256], 1)],
                    10 => [r, random.pick_or(&[8, 32, 4 * c, 256], 32), vr, vc],
                    11 => [random.pick_or(&[1, 8, 16, 32, 64], 16), c, vr, vc],
                    12 => [r, random.pick_or(&[16, 32, 64, 128], 32), vr, vc],
                    // One value for each group of 32.
                    13 => [r, c.div_ceil(32), vr, vc.div_ceil(32)],
                    14 => [r.div_ceil(32), c, vr.div_ceil(32), vc],
                    15 => [1, r * c.div_ceil(32), 1, vr * vc.div_ceil(32)],
                    _ => [1, r, 1, vr],
                };
                (ty.rows, ty.cols) = (r, c);
                (ty.v_row, ty.v_col) = (Extent::Static(vr), Extent::Static(vc));
                if random.once_in(2) {
                    (ty.v_row, ty.v_col) = (Extent::Static(r), Extent::Static(c));
                }
            }
            // All operands at once.
            6 if tiles > 0 => {
                let r = random.pick_or(&[1, 2, 8, 16, 16, 24, 32, 64], 16);
                let c = random.pick_or(&[8, 16, 32, 48, 64, 128], 32);
                let part = random.once_in(2);
                let v = [random.range(1, r), random.range(1, c)];
                for (_, ty) in &mut self.tiles {
                    (ty.rows, ty.cols, ty.v_row, ty.v_col) = (r, c, Extent::Static(r), Extent::Static(c));
                    if part {
                        (ty.v_row, ty.v_col) = (Extent::Static(v[0]), Extent::Static(v[1]));
                    }
                }
            }
            // A valid region.
            7 if tiles > 0 => {
                let from = self.tiles[random.below(tiles)].1;
                let at = random.below(tiles);
                let ty = &mut self.tiles[at].1;
                (ty.v_row, ty.v_col) = match random.below(4) {
                    0 => (Extent::Static(ty.rows), Extent::Static(ty.cols)),
                    1 => (Extent::Static(random.range(1, ty.rows)), Extent::Static(random.range(1, ty.cols))),
                    2 => (Extent::Static(ty.rows), Extent::Static(random.range(1, ty.cols))),
                    _ => (from.v_row, from.v_col),
                };
            }
            8 => self.change_attribute(random),
            9 if !self.scalars.is_empty() => {
                let at = random.below(self.scalars.len());
                self.scalars[at] = self.scalar(random, self.scalars[at].role, None);
            }
            10 if tiles > 0 => {
                let at = random.below(tiles);
                let role = self.tiles[at].0;
                match random.below(4) {
                    0 => self.tiles[at].1.pad = random.pick_or(&[Pad::Null, Pad::Zero, Pad::Max, Pad::Min], Pad::Null),
                    1 => self.tiles[at].1.compact = random.pick_or(Compact::ALL, Compact::Null),
                    2 => {
                        let elem = self.tiles[random.below(tiles)].1.elem;
                        self.tiles[at].1.elem = elem;
                    }
                    _ if role.kind() != Kind::Counts => {
                        // Scratch and indices are of types that no signature names.
                        let integers = [Elem::U8, Elem::I32, Elem::U32, Elem::I16, Elem::U16, Elem::I8];
                        self.tiles[at].1.elem = random.pick_or(&integers, Elem::I32);
                    }
                    _ => {}
                }
            }
            // A type that the program has a tile of already.
            _ if tiles > 0 && !pool.is_empty() => {
                let at = random.below(tiles);
                if let Some(ty) = random.pick(pool) {
                    self.tiles[at].1 = ty;
                }
            }
            _ => self.change_conv(random),
        }
        if let Some((_, dims, tag)) = &mut self.view {
            let data = self.tiles.iter().find(|(r, _)| matches!(r, Role::Src | Role::Dst)).or(self.tiles.first());
            if let Some((_, ty)) = data {
                let wide = random.once_in(4);
                *dims = [known(ty.v_row, ty.rows), known(ty.v_col, ty.cols)];
                if wide {
                    dims[0] = random.pick_or(&[dims[0], 2 * dims[0], ty.rows], dims[0]);
                }
                if random.once_in(8) {
                    *tag = random.pick_or(&[ViewTag::Nd, ViewTag::Dn], ViewTag::Nd);
                }
            }
        }
        if random.once_in(6) {
            self.change_conv(random);
        }
        self.fit(profile);
    }

    fn change_conv(&mut self, random: &mut Random) {
        let Some((_, conv)) = &mut self.conv else { return };
        match random.below(4) {
            0 => conv.dims[3] = random.range(2, 8),
            1 => conv.dims[4] = random.range(2, 8),
            2 => conv.dims[2] = random.range(1, 2),
            _ => {}
        }
        let [h, w] = [conv.dims[3] as i64, conv.dims[4] as i64];
        if self.op.info().attrs.contains(&AttrName::Fmap) {
            self.attrs.set(AttrName::Fmap, Some([h, w]));
        }
    }

    /// The operands behind words, which are there or not.
    fn worded(&self) -> Vec<Role> {
        let form = self.op.form(self.shape.form);
        form.into_iter().flat_map(|f| f.operands()).filter(|o| o.is_worded).map(|o| o.role).collect()
    }

    fn change_attribute(&mut self, random: &mut Random) {
        if let Some(role) = random.pick(&self.worded()) {
            let before = self.scalars.len();
            self.scalars.retain(|s| s.role != role);
            if self.scalars.len() == before {
                let scalar = self.scalar(random, role, None);
                self.scalars.push(scalar);
            }
        }
        let info = self.op.info();
        let names = self.op.form(self.shape.form).map_or(info.attrs, |form| info.attrs_of(form));
        let Some(name) = random.pick(names) else { return };
        let value = if random.once_in(4) { None } else { self.attribute(random, name) };
        self.attrs.set(name, value);
    }

    /// Makes it another legal one by a walk of small changes.
    pub fn walk(&mut self, random: &mut Random, profile: Profile, pool: &[TileType], steps: usize) {
        for step in 0..steps {
            if step % 16 == 15 && !self.op.info().attrs.is_empty() {
                self.leap(random, profile);
            }
            let mut other = self.clone();
            // Some attributes ask for other extents, so that one change alone is never legal.
            for _ in 0..1 + random.below(4) / 2 {
                other.change(random, profile, pool);
            }
            if other.bytes(profile) <= MOST_BYTES && other.fault(profile).is_none() {
                *self = other;
            }
        }
    }

    /// Changes an attribute, and then whatever that makes illegal: some words ask for other types in every operand.
    fn leap(&mut self, random: &mut Random, profile: Profile) {
        let mut best = self.clone();
        best.change_attribute(random);
        let wanted = best.attrs.clone();
        let mut score = best.score(profile);
        for _ in 0..60 {
            if score == usize::MAX {
                *self = best;
                return;
            }
            let mut other = best.clone();
            for _ in 0..1 + random.below(2) {
                other.change(random, profile, &[]);
            }
            other.attrs = wanted.clone();
            let reached = other.score(profile);
            if reached >= score && other.bytes(profile) <= MOST_BYTES {
                (best, score) = (other, reached);
            }
        }
    }

    /// The same, changed a little so that it breaks exactly this rule; none where no walk of so many steps finds one.
    pub fn broken(&self, random: &mut Random, profile: Profile, rule: &str, steps: usize) -> Option<Candidate> {
        let mut legal = self.clone();
        for _ in 0..steps {
            let mut other = legal.clone();
            other.change(random, profile, &[]);
            if random.once_in(2) {
                other.spoil(random);
            }
            match other.fault(profile) {
                Some(fault) if fault.rule == rule => return Some(other),
                None => legal = other,
                _ => {}
            }
        }
        None
    }

    /// A change that no legal candidate is likely to have.
    fn spoil(&mut self, random: &mut Random) {
        let tiles = self.tiles.len();
        if tiles == 0 {
            return;
        }
        let at = random.below(tiles);
        let ty = &mut self.tiles[at].1;
        match random.below(8) {
            0 => ty.elem = random.pick_or(Elem::ALL, ty.elem),
            1 => ty.loc = random.pick_or(Loc::ALL, ty.loc),
            2 => ty.cols += 1,
            3 => ty.rows += 1,
            4 => ty.v_col = Extent::Static(ty.v_col.known().unwrap_or(ty.cols).saturating_sub(1)),
            5 => ty.v_row = Extent::Static(ty.v_row.known().unwrap_or(ty.rows).saturating_sub(1)),
            6 => {
                let (b, s, f) = layout(random, Lay::Any, ty.loc, Profile::Cpu);
                *ty = ty.with_layout(b, s, f);
            }
            _ => {
                for scalar in &mut self.scalars {
                    scalar.value = Number::Int(random.pick_or(&[-1, 3, 7, 1 << 20], 3).into());
                    if matches!(scalar.ty, ScalarType::Float(_)) {
                        scalar.value = Number::Float(-3.7);
                    }
                }
            }
        }
    }

    /// A legal candidate for a row, a shape and a signature; none where the search finds none. It is the same every time.
    pub fn recipe(op: Opcode, shape: usize, sig: usize, profile: Profile) -> Option<Arc<Candidate>> {
        type Known = FxHashMap<(usize, usize, usize, Profile), Option<Arc<Candidate>>>;
        static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
        let key = (op.index(), shape, sig, profile);
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return found.clone();
        }
        let written = op.shapes().get(shape)?;
        let sigs = signatures(op, written.form, profile);
        let sig_row = *sigs.get(sig)?;
        let seed = (op.index() as u64) << 24 | (shape as u64) << 16 | (sig as u64) << 4 | profile as u64;
        let found = Candidate::climb(&mut Random::of(seed, 1), op, written, sig_row, profile).map(Arc::new);
        known().insert(key, found.clone());
        found
    }

    fn climb(
        random: &mut Random,
        op: Opcode,
        shape: &'static Shape,
        sig: Option<&'static Sig>,
        profile: Profile,
    ) -> Option<Candidate> {
        for _ in 0..40 {
            let mut best = Candidate::first(random, op, shape, sig, profile);
            let mut score = best.score(profile);
            for _ in 0..150 {
                if score == usize::MAX {
                    return Some(best);
                }
                let mut other = best.clone();
                for _ in 0..1 + random.below(3) {
                    other.change(random, profile, &[]);
                }
                let reached = other.score(profile);
                if reached >= score {
                    (best, score) = (other, reached);
                }
            }
            if score == usize::MAX {
                return Some(best);
            }
        }
        None
    }
}

/// The strides of a dense view.
pub fn view_strides([rows, cols]: [u64; 2], tag: ViewTag) -> [i64; 2] {
    match tag {
        ViewTag::Dn => [1, rows as i64],
        _ => [cols as i64, 1],
    }
}

/// The number that a text begins with.
fn leading(text: &str) -> Option<i64> {
    let text = text.trim_start();
    text.get(..text.bytes().take_while(u8::is_ascii_digit).count())?.parse().ok()
}

fn other_sign(elem: Elem) -> Elem {
    let is_other = |e: &&Elem| e.bits() == elem.bits() && e.kind() != elem.kind() && e.kind() != ElemKind::Float;
    match elem.is_float() {
        true => elem,
        false => Elem::ALL.iter().find(is_other).copied().unwrap_or(elem),
    }
}

fn layout(random: &mut Random, lay: Lay, loc: Loc, profile: Profile) -> (BLayout, SLayout, u32) {
    let usual = loc.usual(profile);
    let fractal = if random.once_in(4) { random.pick_or(&[512, 1024, 32], 512) } else { usual.2 };
    let named = |name: LayoutName, fractal: u32| match name {
        LayoutName::Nd => (BLayout::RowMajor, SLayout::NoneBox, 512),
        LayoutName::Dn => (BLayout::ColMajor, SLayout::NoneBox, 512),
        LayoutName::Nz => (BLayout::ColMajor, SLayout::RowMajor, fractal),
        LayoutName::Zn => (BLayout::RowMajor, SLayout::ColMajor, fractal),
        LayoutName::Zz => (BLayout::RowMajor, SLayout::RowMajor, fractal),
        LayoutName::Nn => (BLayout::ColMajor, SLayout::ColMajor, fractal),
    };
    match lay {
        Lay::Any if random.once_in(2) => named(random.pick_or(LayoutName::ALL, LayoutName::Nd), fractal),
        Lay::Any | Lay::Usual | Lay::Like(_) => usual,
        Lay::Of(names) => named(random.pick_or(names, LayoutName::Nd), fractal),
        Lay::Exactly(name, fractal) => named(name, fractal),
        Lay::OneColumnDn => named(LayoutName::Dn, 512),
        Lay::OneRowNd | Lay::OneLine | Lay::RowMajor => named(LayoutName::Nd, 512),
    }
}
