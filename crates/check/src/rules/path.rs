//! `-profile`, `-loc`, `-layout` and `-dtype`: is there a line of the instruction's legality table? (isa, `ops::path`)

use tessera_isa::diag::Fault;
use tessera_isa::elem::Elem;
use tessera_isa::inst::Inst;
use tessera_isa::ops::path::{ALL_LOCS, Lay, Locs, Miss, Path, Types, find};
use tessera_isa::ops::{Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{LayoutName, Loc, Tile};

/// The ids of a family's path rules; `None` where the table cannot be missed in that way.
pub(crate) struct Ids {
    pub profile: Option<&'static str>,
    pub loc: Option<&'static str>,
    pub layout: Option<&'static str>,
    pub dtype: Option<&'static str>,
}

impl Ids {
    /// The usual three.
    pub(crate) const fn new(loc: &'static str, layout: &'static str, dtype: &'static str) -> Ids {
        Ids { profile: None, loc: Some(loc), layout: Some(layout), dtype: Some(dtype) }
    }

    fn of(&self, miss: Miss) -> Option<&'static str> {
        match miss {
            Miss::Profile => self.profile.or(self.loc),
            Miss::Loc => self.loc,
            Miss::Layout => self.layout,
            Miss::Dtype => self.dtype,
        }
    }
}

/// One flow of data: a source and a destination, with the operand that a sentence about them points at.
#[derive(Clone, Copy)]
pub(crate) struct Flow<'a> {
    pub src: &'a Tile,
    pub dst: &'a Tile,
    pub operand: Option<usize>,
    /// Which side is a view of global memory, whose location is no tile's.
    pub view: Option<Role>,
}

impl<'a> Flow<'a> {
    /// Between two tile operands, about the source.
    pub(crate) fn tiles(inst: &'a Inst, src: usize, dst: usize) -> Option<Flow<'a>> {
        Some(Flow { src: &inst.tiles.get(src)?.tile, dst: &inst.tiles.get(dst)?.tile, operand: Some(src), view: None })
    }
}

/// The flow of instructions with one source and one destination.
pub(crate) fn single(inst: &Inst) -> Option<Flow<'_>> {
    Flow::tiles(inst, inst.tile_index(Role::Src)?, inst.tile_index(Role::Dst)?)
}

/// The path of an instruction's first flow.
pub(crate) fn of(inst: &Inst) -> Option<&'static Path> {
    let paths = inst.op.info().paths;
    let view = super::global::view_tile(inst);
    let src = inst.src().map(|t| &t.tile).or(view.as_ref());
    let dst = inst.dst().map(|t| &t.tile).or(view.as_ref());
    // The value form of TFILLPAD has a destination only.
    let (src, dst) = (src.or(dst)?, dst?);
    find(paths, inst.profile, inst.form, src, dst).ok()
}

/// The first broken path rule of all flows: an earlier rule of one flow comes before a later one of another.
pub(crate) fn check(inst: &Inst, ids: &Ids, flows: &[Flow]) -> Option<Fault> {
    let paths = inst.op.info().paths;
    let (miss, flow) = flows
        .iter()
        .filter_map(|flow| {
            let miss = find(paths, inst.profile, inst.form, flow.src, flow.dst).err()?;
            Some((miss, flow))
        })
        .min_by_key(|(miss, _)| *miss as u8)?;
    let rule = ids.of(miss)?;
    let (message, help) = match miss {
        Miss::Profile => profile_text(inst),
        Miss::Loc => loc_text(inst, flow),
        Miss::Layout => layout_text(inst, flow),
        Miss::Dtype => dtype_text(inst, flow),
    };
    let fault = Fault { operand: flow.operand, ..Fault::new(rule, message) };
    Some(fault.help(help))
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
fn elsewhere(inst: &Inst, flow: &Flow, miss: Miss) -> Vec<Profile> {
    let further = |p: &Profile| match find(inst.op.info().paths, *p, inst.form, flow.src, flow.dst) {
        Ok(_) => true,
        Err(got) => got as u8 > miss as u8,
    };
    let exists = |p: &Profile| {
        [flow.src, flow.dst]
            .iter()
            .all(|t| p.memory(t.loc).is_some() && (*p == Profile::A5 || t.elem.info().on_cpu_and_a2a3))
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
    let having = Profile::ALL.into_iter().filter(|p| {
        let mut paths = inst.op.info().paths.iter();
        paths.any(|path| path.on.has(*p) && path.forms.contains(&inst.form))
    });
    (format!("{} has no {}", inst.profile, inst.op.title()), format!("{} have it", join(having, "and")))
}

fn usable(inst: &Inst) -> impl Iterator<Item = &'static Path> {
    let (profile, form) = (inst.profile, inst.form);
    let paths = inst.op.info().paths.iter();
    paths.filter(move |p| p.on.has(profile) && p.forms.contains(&form))
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn loc_text(inst: &Inst, flow: &Flow) -> (String, String) {
    let end = |locs: Locs, role: Role| -> Vec<&'static str> {
        match flow.view {
            Some(view) if view == role => vec!["GM"],
            _ if locs.len() == ALL_LOCS.len() => vec!["any location"],
            _ => locs.iter().map(|l| l.cpp()).collect(),
        }
    };
    let mut pairs = Vec::new();
    for path in usable(inst) {
        for s in end(path.src, Role::Src) {
            for d in end(path.dst, Role::Dst) {
                push_new(&mut pairs, format!("{s}→{d}"));
            }
        }
    }
    let name = |loc: Loc, role: Role| if flow.view == Some(role) { "GM" } else { loc.cpp() };
    let this = format!("{}→{}", name(flow.src.loc, Role::Src), name(flow.dst.loc, Role::Dst));
    let what = format!("{} {} takes {}, and this is {this}", inst.profile, title(inst), join(&pairs, "and"));
    let help = takes(&elsewhere(inst, flow, Miss::Loc), &this);
    let help = help.unwrap_or_else(|| match pairs.first() {
        Some(first) => format!("change a location, for example to {first}"),
        None => format!("no profile has {}", title(inst)),
    });
    (what, help)
}

/// The instruction with its form, where the form matters to the table.
fn title(inst: &Inst) -> String {
    match inst.form {
        Form::Plain | Form::NoIndex | Form::Tmp => inst.op.title(),
        form => format!("{} ({form})", inst.op.title()),
    }
}

fn flow_name(flow: &Flow) -> String {
    match flow.view {
        Some(Role::Src) => format!("GM→{}", flow.dst.loc.cpp()),
        Some(_) => format!("{}→GM", flow.src.loc.cpp()),
        None => format!("{}→{}", flow.src.loc.cpp(), flow.dst.loc.cpp()),
    }
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

fn layout_text(inst: &Inst, flow: &Flow) -> (String, String) {
    let mut pairs = Vec::new();
    for path in usable(inst).filter(|p| p.src.contains(&flow.src.loc) && p.dst.contains(&flow.dst.loc)) {
        for pair in path.layouts {
            let text = if pair.same {
                "equal layouts".into()
            } else {
                let (s, d) = (flow.src.loc, flow.dst.loc);
                format!("{}→{}", lay(pair.src, s, inst.profile), lay(pair.dst, d, inst.profile))
            };
            push_new(&mut pairs, text);
        }
    }
    // An image has no layout of a tile.
    let this = match inst.op {
        Opcode::Timg2col => format!("any→{}", layout(flow.dst)),
        _ => format!("{}→{}", layout(flow.src), layout(flow.dst)),
    };
    let what = format!(
        "on {} {} {} takes {}, and this is {this}",
        inst.profile,
        title(inst),
        flow_name(flow),
        join(&pairs, "and")
    );
    let help = takes(&elsewhere(inst, flow, Miss::Layout), &this);
    let first = pairs.first().map_or("another layout", |p| p);
    (what, help.unwrap_or_else(|| format!("change a layout, for example to {first}")))
}

fn elems(list: &[Elem]) -> String {
    list.iter().map(|e| e.name()).collect::<Vec<_>>().join(" ")
}

fn types_text(types: Types) -> String {
    match types {
        Types::Any | Types::OwnRule => "any types".into(),
        Types::Equal => "equal types".into(),
        Types::EqualOf(list) => format!("equal types of {}", elems(list)),
        Types::EachOf(list) => elems(list),
        Types::Pairs([]) => "no type".into(),
        Types::Pairs(pairs) => join(pairs.iter().map(|(s, ds)| format!("{s}→{}", elems(ds).replace(' ', "/"))), "and"),
    }
}

fn dtype_text(inst: &Inst, flow: &Flow) -> (String, String) {
    let fitting = usable(inst).filter(|p| {
        // A path that the search reached the types of: a pair that the path takes gets that far too.
        let only = std::slice::from_ref(*p);
        find(only, inst.profile, inst.form, flow.src, flow.dst).err() == Some(Miss::Dtype)
    });
    let mut lists = Vec::new();
    let mut equal_helps = false;
    for path in fitting {
        push_new(&mut lists, types_text(path.types));
        equal_helps |= path.types.takes(flow.src.elem, flow.src.elem);
    }
    let (src, dst) = (flow.src.elem, flow.dst.elem);
    let this = format!("{src}→{dst}");
    let what = format!(
        "on {} {} {} takes {}, and this is {this}",
        inst.profile,
        title(inst),
        flow_name(flow),
        join(&lists, "or")
    );
    let other = takes(&elsewhere(inst, flow, Miss::Dtype), &this);
    let help = if let Some(forms) = other_forms(inst, flow) {
        format!("{this} is a matter of the {forms} form (fixpipe)")
    } else if equal_helps && src != dst {
        format!("make both {src}")
    } else if let Some(other) = other {
        other
    } else {
        "use one of these types, or TRESHAPE both tiles to a type of the same size".into()
    };
    (what, help)
}

/// The other forms in which an accumulator's types have a path: what quantizes is not what converts.
fn other_forms(inst: &Inst, flow: &Flow) -> Option<String> {
    if flow.src.loc != Loc::Acc || inst.form == Form::Fill {
        return None;
    }
    let forms = [Form::Plain, Form::ScalarQuant, Form::VectorQuant].into_iter().filter(|form| {
        *form != inst.form && find(inst.op.info().paths, inst.profile, *form, flow.src, flow.dst).is_ok()
    });
    Some(join(forms, "or")).filter(|text| !text.is_empty())
}
