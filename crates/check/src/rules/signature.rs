//! `-profile`, `-loc`, `-layout` and `-dtype`: the instruction's row has a matching signature (isa, `ops::sig`).
//!
//! Checked for every instruction, so that operands outside the table are refused. Moves are checked flow by flow, from
//! each source to each destination; everything else as a whole.

use super::*;
use smallvec::SmallVec;
use tessera_isa::inst::ViewTag;
use tessera_isa::ops::Kind;
use tessera_isa::ops::sig::{ALL_LOCS, Judged, Lay, Layouts, Locs, Miss, Sig, TypeOf, Types, find};

/// Operands that are checked together.
pub(crate) struct Case {
    tiles: SmallVec<[Judged; 4]>,
    /// The operand that a sentence about them points at.
    operand: Option<usize>,
    /// The side that is a view of global memory, whose location is no tile's.
    view: Option<Role>,
}

impl Case {
    fn flow(src: Tile, dst: Tile, operand: Option<usize>, view: Option<Role>) -> Case {
        Case { tiles: SmallVec::from_slice(&[(Role::Src, src), (Role::Dst, dst)]), operand, view }
    }

    /// Source and destination of a flow; `None` if operands are checked by role.
    fn ends(&self) -> Option<(&Tile, &Tile)> {
        match self.tiles.as_slice() {
            [(Role::Src, src), (Role::Dst, dst), ..] => Some((src, dst)),
            _ => None,
        }
    }

    fn find(&self, inst: &Inst, profile: Profile, form: Form) -> Result<&'static Sig, Miss> {
        find(inst.op.info().sigs, profile, form, &self.tiles)
    }
}

/// The cases to check: each flow of a move, or all operands of any other instruction at once. Scratch has a rule of
/// its own.
pub(crate) fn cases(inst: &Inst) -> SmallVec<[Case; 2]> {
    let mut all = SmallVec::new();
    if !inst.op.info().by_flows() {
        let judged = |role: Role| role.kind() == Kind::Tile && inst.op.effect(inst.form, role) != Effect::Scratch;
        let view = global::view_tile(inst).map(|view| (Role::Global, view));
        let others = inst.views.iter().map(|(role, view)| (*role, global::tile_of(view, inst.profile)));
        let tiles = inst.tiles.iter().filter(|t| judged(t.role)).map(|t| (t.role, t.tile));
        let tiles = tiles.chain(view).chain(others).collect();
        all.push(Case { tiles, operand: None, view: view.map(|(role, _)| role) });
        return all;
    }
    let ends = |dst: bool| {
        let plays = move |role: Role| match role {
            Role::Dst | Role::Dst0 | Role::Dst1 => dst,
            Role::Src | Role::Src0 | Role::Src1 => !dst,
            _ => false,
        };
        inst.tiles.iter().enumerate().filter(move |(_, t)| plays(t.role))
    };
    let view = global::view_tile(inst);
    if let (Some(conv), Some((d, dst)), None) = (inst.conv, ends(true).next(), &view) {
        all.push(Case::flow(conv.as_tile(), dst.tile, Some(d), None));
        return all;
    }
    match view {
        Some(view) => {
            all.extend(ends(true).map(|(d, dst)| Case::flow(view, dst.tile, Some(d), Some(Role::Src))));
            all.extend(ends(false).map(|(s, src)| Case::flow(src.tile, view, Some(s), Some(Role::Dst))));
            let by_column = inst.tile(Role::Fp).map(|fp| (Role::Fp, fp.tile));
            all.iter_mut().for_each(|case| case.tiles.extend(by_column));
        }
        // A value has no location and no layout of its own.
        None if ends(false).next().is_none() => {
            all.extend(ends(true).map(|(d, dst)| Case::flow(dst.tile, dst.tile, Some(d), None)));
        }
        None => {
            for (s, src) in ends(false) {
                all.extend(ends(true).map(|(_, dst)| Case::flow(src.tile, dst.tile, Some(s), None)));
            }
        }
    }
    all
}

pub(crate) fn of(inst: &Inst) -> Option<&'static Sig> {
    cases(inst).first()?.find(inst, inst.profile, inst.form).ok()
}

/// The first broken signature rule of all cases: an earlier rule of one case comes before a later one of another.
pub(crate) fn check(inst: &Inst) -> Option<Fault> {
    if inst.tiles.is_empty() && inst.op.info().sigs.is_empty() {
        return None;
    }
    let cases = cases(inst);
    if cases.is_empty() && !inst.op.info().sigs.is_empty() {
        let what = format!("{} has none of its operands", inst.op.title());
        return Some(Fault::new("operand-count", what).help("give it all its operands"));
    }
    let misses = cases.iter().filter_map(|case| Some((case.find(inst, inst.profile, inst.form).err()?, case)));
    let (miss, case) = misses.min_by_key(|(miss, _)| *miss as u8)?;
    let ids = &inst.op.info().ids;
    let (id, (message, help)) = match miss {
        Miss::Profile => (ids.profile, profile_text(inst)),
        Miss::Loc if is_absent(inst) => (ids.loc, no_form_text(inst)),
        Miss::Layout if is_absent(inst) => (ids.layout, no_form_text(inst)),
        Miss::Dtype if is_absent(inst) => (ids.dtype, no_form_text(inst)),
        Miss::Loc => (ids.loc, loc_text(inst, case)),
        Miss::Layout => (ids.layout, layout_text(inst, case)),
        Miss::Dtype => (ids.dtype, dtype_text(inst, case)),
    };
    let fault = Fault::new(id.or(ids.loc).unwrap_or("not-executable"), message).help(help);
    Some(Fault { operand: case.operand.or_else(|| culprit(inst, case, miss)), ..fault })
}

/// Of operands that are checked by role: the first that none of the signatures which match furthest takes.
fn culprit(inst: &Inst, case: &Case, miss: Miss) -> Option<usize> {
    let wrong = |role: Role, tile: &Tile| {
        let mut sigs = usable(inst);
        match miss {
            Miss::Loc => !sigs.any(|s| s.locs_of(role).contains(&tile.loc)),
            Miss::Layout => !sigs.any(|s| {
                let alone = [(role, *tile)];
                s.layouts.is_empty() || s.layouts.iter().any(|way| way_takes(way, &alone, inst.profile))
            }),
            _ => false,
        }
    };
    let (role, _) = case.tiles.iter().find(|(role, tile)| wrong(*role, tile))?;
    inst.tile_index(*role)
}

fn way_takes(way: Layouts, tiles: &[Judged], profile: Profile) -> bool {
    way.iter().all(|(role, lay)| tiles.iter().all(|(r, tile)| r != role || lay.takes(tile, tiles, profile)))
}

/// `value-conversion`: on cpu a move between types changes values (ops.md 1 rule 5).
pub(crate) fn conversion(inst: &Inst) -> Option<Fault> {
    if inst.profile != Profile::Cpu || inst.is_fixpipe() {
        return None;
    }
    let src = inst.src()?.tile.elem;
    let dst = inst.tiles.iter().find(|t| t.role.is_dst() && t.tile.elem != src)?;
    let what = format!("{} converts {src} to {} here, and a2a3 and a5 do not", inst.op.title(), dst.tile.elem);
    Some(Fault::new("value-conversion", what).help(format!("make both tiles {src}")))
}

/// "a2a3, a5" or "cpu and a5".
pub(crate) fn join<T: ToString>(items: impl IntoIterator<Item = T>, last: &str) -> String {
    let all: Vec<String> = items.into_iter().map(|i| i.to_string()).collect();
    match all.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
        None => String::new(),
    }
}

/// The layout of a tile as tables write it, with a fractal that is not the default.
pub(crate) fn layout(tile: &Tile) -> String {
    named(tile.layout_name(), tile.fractal)
}

fn named(name: LayoutName, fractal: u32) -> String {
    if name.is_boxed() && fractal != 512 { format!("{name} {fractal}") } else { name.to_string() }
}

/// The other profiles on which the search comes further than `miss`.
fn elsewhere(inst: &Inst, case: &Case, miss: Miss) -> Vec<Profile> {
    let further = |p: &Profile| match case.find(inst, *p, inst.form) {
        Ok(_) => true,
        Err(got) => got as u8 > miss as u8,
    };
    let exists = |p: &Profile| {
        let on = |t: &Tile| p.memory(t.loc).is_some() && (*p == Profile::A5 || t.elem.info().on_cpu_and_a2a3);
        case.tiles.iter().all(|(_, t)| on(t))
    };
    Profile::ALL.into_iter().filter(exists).filter(further).collect()
}

fn takes(profiles: &[Profile], what: &str) -> Option<String> {
    match profiles {
        [] => None,
        [one] => Some(format!("{one} takes {what}")),
        many => Some(format!("{} take {what}", join(many, "and"))),
    }
}

fn profile_text(inst: &Inst) -> (String, String) {
    let having = Profile::ALL.into_iter().filter(|p| inst.op.info().sigs.iter().any(|s| s.is_for(*p, inst.form)));
    let having = join(having, "and");
    let help = if having.is_empty() { "no profile has it".into() } else { format!("{having} have it") };
    (format!("{} has no {}", inst.profile, inst.op.title()), help)
}

fn usable(inst: &Inst) -> impl Iterator<Item = &'static Sig> {
    let (profile, form) = (inst.profile, inst.form);
    inst.op.info().sigs.iter().filter(move |s| s.is_for(profile, form))
}

/// Whether the form has only paths that no type takes.
fn is_absent(inst: &Inst) -> bool {
    usable(inst).all(|s| matches!(s.types, Types::Pairs([])))
}

/// The profile does not have the form.
fn no_form_text(inst: &Inst) -> (String, String) {
    let what = format!("{} has no {} form of {}", inst.profile, inst.form, inst.op.title());
    let plain = inst.op.mnemonic().trim_end_matches("_fp");
    (what, format!("use {plain}, and write the padding with an instruction of its own"))
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn loc_text(inst: &Inst, case: &Case) -> (String, String) {
    let names = |locs: Locs, role: Role| -> Vec<&'static str> {
        match case.view {
            Some(view) if view == role => vec!["GM"],
            _ if locs.len() == ALL_LOCS.len() => vec!["any location"],
            _ => locs.iter().map(|l| l.cpp()).collect(),
        }
    };
    let mut ways = Vec::new();
    for sig in usable(inst) {
        if case.ends().is_none() {
            push_new(&mut ways, by_role(case, |role, _| format!("in {}", join(names(sig.locs_of(role), role), "or"))));
            continue;
        }
        for s in names(sig.locs_of(Role::Src), Role::Src) {
            for d in names(sig.locs_of(Role::Dst), Role::Dst) {
                push_new(&mut ways, format!("{s}→{d}"));
            }
        }
    }
    let this = match case.ends() {
        Some(_) => flow_name(case),
        None => by_role(case, |_, t| t.loc.cpp().into()),
    };
    let what = format!("{} {} takes {}, and this is {this}", inst.profile, title(inst), join(&ways, "and"));
    let help = takes(&elsewhere(inst, case, Miss::Loc), &this);
    let help = help.unwrap_or_else(|| match ways.first() {
        Some(first) => format!("change a location, for example to {first}"),
        None => format!("no profile has {}", title(inst)),
    });
    (what, help)
}

/// Something about every operand: "src0 ND, dst NZ".
fn by_role(case: &Case, what: impl Fn(Role, &Tile) -> String) -> String {
    case.tiles.iter().map(|(role, tile)| format!("{role} {}", what(*role, tile))).collect::<Vec<_>>().join(", ")
}

/// The instruction with its form, where the form matters to the table.
fn title(inst: &Inst) -> String {
    match inst.form {
        Form::Plain | Form::NoIndex | Form::Tmp => inst.op.title(),
        form => format!("{} ({form})", inst.op.title()),
    }
}

/// The locations of a flow; empty if operands are checked by role.
fn flow_name(case: &Case) -> String {
    let name = |loc: Loc, role: Role| if case.view == Some(role) { "GM" } else { loc.cpp() };
    match case.ends() {
        Some((src, dst)) => format!("{}→{}", name(src.loc, Role::Src), name(dst.loc, Role::Dst)),
        None => String::new(),
    }
}

/// "on a5 TMOV Vec→Mat".
fn place(inst: &Inst, case: &Case) -> String {
    let flow = flow_name(case);
    format!("on {} {}{}{flow}", inst.profile, title(inst), if flow.is_empty() { "" } else { " " })
}

fn lay(lay: Lay, loc: Loc, profile: Profile) -> String {
    match lay {
        Lay::Usual => {
            let (b, s, fractal) = loc.usual(profile);
            named(LayoutName::of(b, s), fractal)
        }
        other => other.describe(),
    }
}

/// One way of laying out the operands, as a sentence lists it.
fn way_text(way: Layouts, case: &Case, profile: Profile) -> String {
    let of = |role: Role| way.iter().find(|(r, _)| *r == role).map_or(Lay::Any, |(_, lay)| *lay);
    match case.ends() {
        Some(_) if of(Role::Dst) == Lay::Like(Role::Src) => "equal layouts".into(),
        Some((src, dst)) => {
            format!("{}→{}", lay(of(Role::Src), src.loc, profile), lay(of(Role::Dst), dst.loc, profile))
        }
        None => by_role(case, |role, tile| lay(of(role), tile.loc, profile)),
    }
}

fn layout_text(inst: &Inst, case: &Case) -> (String, String) {
    let mut ways = Vec::new();
    let fits = |s: &&Sig| case.tiles.iter().all(|(role, t)| s.locs_of(*role).contains(&t.loc));
    for sig in usable(inst).filter(fits) {
        for way in sig.layouts {
            push_new(&mut ways, way_text(way, case, inst.profile));
        }
    }
    let this = match case.ends() {
        // An image has no layout of a tile.
        Some((_, dst)) if inst.conv.is_some() => format!("any→{}", layout(dst)),
        Some((src, dst)) => format!("{}→{}", layout(src), layout(dst)),
        None => by_role(case, |_, t| layout(t)),
    };
    let what = format!("{} takes {}, and this is {this}", place(inst, case), join(&ways, "and"));
    let elsewhere = takes(&elsewhere(inst, case, Miss::Layout), &this);
    let first = ways.first().map_or("another layout", |p| p);
    let near: Vec<String> =
        usual_layouts(inst, case).into_iter().chain(view_tag(inst, case)).chain(elsewhere).collect();
    let help = if near.is_empty() { format!("change a layout, for example to {first}") } else { near.join("; ") };
    (what, help)
}

/// The spelling of a tile's type that gives it the layout it usually has in its location, where that is legal:
/// `<mat, 64x128xf16>` is ND (syntax.md 3).
fn usual_layouts(inst: &Inst, case: &Case) -> Option<String> {
    let mut tiles = case.tiles.clone();
    let mut changed = Vec::new();
    for (role, tile) in tiles.iter_mut().filter(|(role, _)| case.view != Some(*role)) {
        let (b, s, fractal) = tile.loc.usual(inst.profile);
        let (usual, is, loc) = (LayoutName::of(b, s), tile.layout_name(), tile.loc);
        if !is.is_boxed() && usual.is_boxed() {
            (tile.blayout, tile.slayout, tile.fractal) = (b, s, fractal);
            changed.push(format!("write <loc={loc}, …> for {role}: it is {usual}, and <{loc}, …> is {is}"));
        }
    }
    let is_legal = find(inst.op.info().sigs, inst.profile, inst.form, &tiles).is_ok();
    (is_legal && !changed.is_empty()).then(|| changed.join("; "))
}

/// The tag of the view with which the instruction is legal (isa/structure.md 8).
fn view_tag(inst: &Inst, case: &Case) -> Option<String> {
    let view = inst.global.as_ref().filter(|_| case.view.is_some())?;
    let is_legal = |tag: &ViewTag| {
        let mut other = inst.clone();
        other.global.iter_mut().for_each(|view| view.tag = *tag);
        (*tag != ViewTag::Nz || view.dims.len() == 5)
            && cases(&other).iter().all(|case| case.find(&other, other.profile, other.form).is_ok())
    };
    let tag = [ViewTag::Nd, ViewTag::Dn, ViewTag::Nz].into_iter().filter(|tag| *tag != view.tag).find(is_legal)?;
    Some(format!("{{layout = #pto.layout<{tag}>}} on the view makes it legal"))
}

fn elems(list: &[Elem], between: &str) -> String {
    list.iter().map(|e| e.name()).collect::<Vec<_>>().join(between)
}

/// The types that a signature takes of the operands that are there.
fn types_text(types: Types, tiles: &[Judged]) -> String {
    match types {
        Types::Any | Types::OwnRule => "any types".into(),
        Types::Equal | Types::Alike => "equal types".into(),
        Types::EqualOf(list) => format!("equal types of {}", elems(list, " ")),
        Types::EachOf(list) => elems(list, " "),
        Types::Pairs([]) => "no type".into(),
        Types::Pairs(pairs) => join(pairs.iter().map(|(s, ds)| format!("{s}→{}", elems(ds, "/"))), "and"),
        Types::ByRole(roles) => {
            let one = |(role, asked): &(Role, TypeOf)| match asked {
                TypeOf::One(list) => format!("{role} {}", elems(list, "/")),
                TypeOf::Like(other) | TypeOf::Alike(other) => format!("{role} as {other}"),
                TypeOf::SizeOf(other) => format!("{role} of {other}'s size"),
            };
            roles.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        Types::Rows(roles, rows) => {
            let is_there = |role: &Role| tiles.iter().any(|(found, _)| found == role);
            let names: Vec<&str> = roles.iter().filter(|r| is_there(r)).map(|r| r.name()).collect();
            let mut texts = Vec::new();
            for row in rows {
                let there = roles.iter().zip(*row).filter(|(role, _)| is_there(role));
                push_new(&mut texts, there.map(|(_, elem)| elem.name()).collect::<Vec<_>>().join("·"));
            }
            format!("({}) of {}", names.join("·"), join(&texts, "or"))
        }
    }
}

fn dtype_text(inst: &Inst, case: &Case) -> (String, String) {
    // A signature that the search reached the types of.
    let reached = |s: &&Sig| s.judge(inst.profile, inst.form, &case.tiles) == Err(Miss::Dtype);
    let mut lists = Vec::new();
    let mut sigs: SmallVec<[&Sig; 4]> = SmallVec::new();
    for sig in usable(inst).filter(reached) {
        push_new(&mut lists, types_text(sig.types, &case.tiles));
        sigs.push(sig);
    }
    let helps = |elem: Elem| {
        let alike: SmallVec<[Judged; 4]> = case.tiles.iter().map(|(r, t)| (*r, Tile { elem, ..*t })).collect();
        sigs.iter().any(|sig| sig.types.takes(&alike))
    };
    let this = match case.ends() {
        Some((src, dst)) => format!("{}→{}", src.elem, dst.elem),
        None => by_role(case, |_, t| t.elem.name().into()),
    };
    let what = format!("{} takes {}, and this is {this}", place(inst, case), join(&lists, "or"));
    let help = if let Some(forms) = other_forms(inst, case) {
        format!("{this} is a matter of the {forms} form (fixpipe)")
    } else if let Some(help) = one_change(case, |tiles| sigs.iter().any(|sig| sig.types.takes(tiles))) {
        help
    } else if let Some(help) = alike(inst, case, helps) {
        help
    } else if let Some(other) = takes(&elsewhere(inst, case, Miss::Dtype), &this) {
        other
    } else if case.ends().is_some() {
        "use one of these types, or TRESHAPE both tiles to a type of the same size".into()
    } else {
        "use one of these types".into()
    };
    (what, help)
}

/// The one operand of several that needs another type, destinations first.
fn one_change(case: &Case, helps: impl Fn(&[Judged]) -> bool) -> Option<String> {
    if case.tiles.len() < 3 {
        return None;
    }
    let mut tiles = case.tiles.clone();
    for n in (0..tiles.len()).rev() {
        let (role, tile) = *case.tiles.get(n)?;
        // Of the types that help one of the same size, if there is any.
        let mut others: SmallVec<[Elem; 24]> = Elem::ALL.iter().copied().filter(|elem| *elem != tile.elem).collect();
        others.sort_by_key(|elem| elem.bits().abs_diff(tile.elem.bits()));
        for elem in others {
            *tiles.get_mut(n)? = (role, Tile { elem, ..tile });
            if helps(&tiles) {
                return Some(format!("make {role} {elem}"));
            }
        }
        *tiles.get_mut(n)? = (role, tile);
    }
    None
}

/// Equal types, by the change that keeps most operands as they are.
fn alike(inst: &Inst, case: &Case, helps: impl Fn(Elem) -> bool) -> Option<String> {
    let flows = case.ends().is_some() && case.view.is_none() && inst.conv.is_none();
    let all: SmallVec<[Judged; 4]> = match flows {
        // All sources and destinations, not only those of this flow.
        true => inst.tiles.iter().filter(|t| is_end(t.role)).map(|t| (t.role, t.tile)).collect(),
        false => case.tiles.clone(),
    };
    let kept = |elem: Elem| all.iter().filter(|(_, t)| t.elem == elem).count();
    let mut elems: SmallVec<[Elem; 4]> = all.iter().map(|(_, t)| t.elem).collect();
    elems.sort_by_key(|elem| std::cmp::Reverse(kept(*elem)));
    let elem = elems.into_iter().find(|elem| helps(*elem))?;
    let mut changed = all.iter().filter(|(_, t)| t.elem != elem);
    Some(match (changed.next()?, changed.next(), all.len()) {
        ((role, _), None, 3..) => format!("make {role} {elem}"),
        (_, _, 2) => format!("make both {elem}"),
        _ => format!("make all {elem}"),
    })
}

fn is_end(role: Role) -> bool {
    matches!(role, Role::Src | Role::Src0 | Role::Src1 | Role::Dst | Role::Dst0 | Role::Dst1)
}

/// The other forms in which an accumulator's types have a signature: what quantizes is not what converts.
fn other_forms(inst: &Inst, case: &Case) -> Option<String> {
    let from_acc = case.tiles.iter().any(|(role, tile)| *role == Role::Src && tile.loc == Loc::Acc);
    if !from_acc || inst.form == Form::Fill {
        return None;
    }
    let forms = [Form::Plain, Form::ScalarQuant, Form::VectorQuant].into_iter();
    let forms = forms.filter(|form| *form != inst.form && case.find(inst, inst.profile, *form).is_ok());
    Some(join(forms, "or")).filter(|text| !text.is_empty())
}
