//! The rules of one instruction (micro/memory.md 1, predicate.md 1, vector.md 2): first those that types and words
//! decide, then those that need numbers. [`check`] is called before a run with the numbers that are constants, and
//! during the run with all.

use crate::call::{Attr, Call, Inst};
use crate::memory::{self, Run};
use crate::reg::Mask;
use crate::table::{Dma, Fold, Gran, Kind, Lane, Lanes, Load, Number, Permute, Predicate, Register, Sem, Space, Store};
use crate::types::{Ty, element_text, lane_bits};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ScalarType, Sign};

/// The known part of an operand's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    No,
    /// A number, or the byte that a pointer means.
    Int(i64),
    Mask(Mask),
}

impl Known {
    /// The number, if there is one.
    pub fn int(self) -> Option<i64> {
        if let Known::Int(v) = self { Some(v) } else { None }
    }
}

/// A finding without a place.
pub type Refusal = Box<Diagnostic>;

pub(crate) fn broken(inst: &Inst<'_>, rule: &'static str, what: String, help: impl Into<String>) -> Refusal {
    let rule = inst.call.row.rule(inst.call.name, rule);
    Box::new(Diagnostic::error(rule, format!("{}: {what}", inst.call.name)).help(help))
}

/// The findings of one instruction: the first broken rule, and warnings.
pub fn check(inst: &Inst<'_>, known: &[Known]) -> Vec<Diagnostic> {
    let mut notes = Vec::new();
    if let Err(found) = types(inst, known, &mut notes).and_then(|()| values(inst, known)) {
        notes.push(*found);
    } else {
        notes.extend(memory::hardly_aligned(inst, known));
        notes.extend(crate::cube::warnings(inst, known));
        notes.extend(crate::dma::warnings(inst, known));
        notes.extend(odd_count(inst, known));
    }
    notes
}

/// A count that is known, and does not count as it is written: of a shift for all active lanes, of the first lanes.
fn odd_count(inst: &Inst<'_>, known: &[Known]) -> Option<Diagnostic> {
    let row = inst.call.row;
    let name = inst.call.name;
    match row.sem {
        Sem::Lanes(Lanes::Map(tessera_isa::sem::Func::Shl | tessera_isa::sem::Func::Shr)) => {
            let count = inst.call.operand("s").and_then(|n| known.get(n)?.int())?;
            let bits = lane_bits(inst.lanes()?);
            let Some(Known::Mask(mask)) = known.iter().find(|k| matches!(k, Known::Mask(_))) else { return None };
            let size = (bits / 8) as usize;
            let is_active = (0..256 / size).any(|i| mask.on(size, i) == Some(true));
            let is_odd = is_active && !(0..i64::from(bits)).contains(&count);
            is_odd.then(|| {
                let what = format!("{name}: the count is {count}, and lanes have {bits} bits");
                Diagnostic::warning(row.rule(name, "count"), what).help("its low bits count here")
            })
        }
        Sem::Predicate(Predicate::Below) => {
            let count = inst.call.operand("c").and_then(|n| known.get(n)?.int()).filter(|count| (*count as i32) < 0)?;
            let what = format!("{name}: the count {count} is negative, and counts as {}", count as u32);
            Some(Diagnostic::warning(row.rule(name, "negative"), what).help("give a count of at least 0"))
        }
        _ => None,
    }
}

/// The rules that types and words decide.
fn types(inst: &Inst<'_>, known: &[Known], notes: &mut Vec<Diagnostic>) -> Result<(), Refusal> {
    // The control register's names share a row, and have their own operands.
    match inst.call.row.sem {
        Sem::Unknown(_) | Sem::Token | Sem::Device | Sem::Register(Register::Control) => return Ok(()),
        Sem::Cube(_) => return crate::cube::types(inst, known),
        _ => {}
    }
    counts(inst)?;
    spaces(inst)?;
    dtypes(inst)?;
    if is_load_or_store(inst) {
        words(inst)?;
        masks(inst)?;
    } else {
        masks(inst)?;
        scalars(inst)?;
        words(inst)?;
    }
    immediate(inst, known)?;
    pad(inst)?;
    if inst.call.row.sem == Sem::Lanes(Lanes::Convert) {
        conversion(inst, notes)?;
    }
    Ok(())
}

fn is_load_or_store(inst: &Inst<'_>) -> bool {
    matches!(inst.call.row.sem, Sem::Load(_) | Sem::Store(_) | Sem::Predicate(_))
}

pub(crate) fn count_error(inst: &Inst<'_>, what: String) -> Refusal {
    let what = format!("{}: {what}", inst.call.name);
    Box::new(Diagnostic::error("operand-count", what).help(format!("write {}", inst.call.row.text)))
}

/// The row's operands and results are there, each of its kind.
fn counts(inst: &Inst<'_>) -> Result<(), Refusal> {
    let row = inst.call.row;
    let plain: Vec<_> =
        row.args.iter().filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word | Kind::Clauses)).collect();
    let least = plain.iter().filter(|arg| !arg.is_optional).count();
    let given = inst.call.plain();
    if given < least || given > plain.len() {
        return Err(count_error(inst, format!("{given} operands are written, and there are {}", plain.len())));
    }
    for arg in row.args {
        let Kind::Group(least, most) = arg.kind else { continue };
        let groups: Vec<_> = inst.call.groups(arg.name).collect();
        if groups.is_empty() && !arg.is_optional || groups.len() > 1 && !arg.repeats {
            return Err(count_error(inst, format!("{}(…) stands {} times", arg.name, groups.len())));
        }
        if let Some(wrong) = groups.iter().find(|g| g.len() < usize::from(least) || g.len() > usize::from(most)) {
            return Err(count_error(inst, format!("{}(…) has {} operands, and takes {most}", arg.name, wrong.len())));
        }
    }
    if inst.call.groups("pad").any(|pad| pad.len() == 2) {
        return Err(count_error(inst, "pad(…) has two operands: left and right stand together".into()));
    }
    let (made, most) = (inst.results.len(), row.results.len());
    if made < most || made > most + usize::from(row.moves) {
        return Err(count_error(inst, format!("{made} results are written, and there are {most}")));
    }
    for (arg, ty) in
        plain.iter().zip(&inst.args).chain(row.results.iter().collect::<Vec<_>>().iter().zip(&inst.results))
    {
        let fits = match arg.kind {
            Kind::Reg(_) => ty.lane().is_some(),
            Kind::Mask(_) => ty.granularity().is_some(),
            Kind::Align => *ty == Ty::Micro(crate::MicroType::Align),
            Kind::Ptr(_) => ty.pointer().is_some(),
            Kind::Scalar(_) => ty.scalar().is_some(),
            Kind::ScalarOrReg => ty.scalar().is_some() || ty.lane().is_some(),
            Kind::Group(..) | Kind::Numbers(..) | Kind::Word | Kind::Clauses => true,
        };
        if !fits {
            let what = format!("{}: {} cannot be {ty}", inst.call.name, arg.name);
            return Err(Box::new(Diagnostic::error("type-mismatch", what).help(format!("write {}", row.text))));
        }
    }
    Ok(())
}

fn spaces(inst: &Inst<'_>) -> Result<(), Refusal> {
    let row = inst.call.row;
    let plain = row.args.iter().filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word | Kind::Clauses));
    for (n, (arg, ty)) in plain.zip(&inst.args).enumerate() {
        let (Kind::Ptr(wanted), Some((space, _))) = (arg.kind, ty.pointer()) else { continue };
        let wanted = match (row.sem, inst.call.name) {
            (Sem::Dma(Dma::CopyBlocks), name) => dma_space(name, n),
            _ => wanted,
        };
        if wanted != Space::AnySpace && wanted != space {
            let what = format!("{} points to {}, and must point to {}", arg.name, space.name(), wanted.name());
            return Err(broken(inst, "space", what, format!("use a pointer to {}", wanted.name())));
        }
    }
    Ok(())
}

/// The memories between which a register-level copy of blocks moves, by its name's words.
pub(crate) fn dma_space(name: &str, operand: usize) -> Space {
    let word = name.split('_').nth(if operand == 0 { 1 } else { 3 });
    word.and_then(Space::parse).unwrap_or(Space::Ub)
}

/// Whether a type belongs to a class of the table: `b16` by width, `i16`, `u16`, a float by name, `any`.
pub fn is_of(class: &str, ty: ScalarType) -> bool {
    let bits = lane_bits(ty);
    let number = |prefix: &str| class.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
    if class == "any" {
        return true;
    }
    match (number("b"), number("i"), number("u"), ty) {
        (Some(n), ..) => n == bits,
        (_, Some(n), _, ScalarType::Int(_, sign)) => n == bits && sign != Sign::Unsigned,
        (_, _, Some(n), ScalarType::Int(_, sign)) => n == bits && sign == Sign::Unsigned,
        (_, None, None, ScalarType::Float(elem)) => Elem::parse(class) == Some(elem),
        _ => false,
    }
}

fn is_integer(ty: ScalarType, bits: u32) -> bool {
    matches!(ty, ScalarType::Int(n, _) if u32::from(n) == bits)
}

fn dtypes(inst: &Inst<'_>) -> Result<(), Refusal> {
    let row = inst.call.row;
    let wrong = |what: String| {
        let help = match row.types {
            [] => format!("write {}", row.text),
            types => format!("types are {}", types.join(", ")),
        };
        Err(broken(inst, "dtype", what, help))
    };
    let pointer_bits = |n: usize| inst.args.get(n).and_then(|ty| ty.pointer()).map(|(_, size)| size as u32 * 8);
    let lane = inst.lanes();
    if let Sem::Dma(_) = row.sem {
        let sizes = (pointer_bits(0), pointer_bits(1));
        if sizes.0 != sizes.1 {
            let (src, dst) = (inst.args.first(), inst.args.get(1));
            let [src, dst] = [src, dst].map(|ty| ty.map_or_else(String::new, Ty::to_string));
            return wrong(format!("the source is {src} and the destination {dst}, whose elements differ in width"));
        }
        return Ok(());
    }
    if let Sem::Sort(_) = row.sem {
        let (first, second) = (inst.args.first().copied(), inst.args.get(1).copied());
        let names = |ty: Option<Ty>| ty.map_or_else(String::new, |ty| ty.to_string());
        let is_score = |ty: Ty| matches!(ty, Ty::Ptr(Elem::F32 | Elem::F16, _));
        if row.sem == Sem::Sort(crate::table::Sort::Groups) {
            let is_index = matches!(inst.args.get(2), Some(Ty::Ptr(Elem::U32, _)));
            if !second.is_some_and(is_score) || !is_index {
                return wrong(format!("scores are {}", names(second)));
            }
        } else if !first.is_some_and(is_score) || inst.args.iter().skip(1).take(4).any(|ty| Some(*ty) != first) {
            return wrong(format!("the destination is {} and the first source {}", names(first), names(second)));
        }
        return Ok(());
    }
    // Everything that is written V is one type.
    let plain = row.args.iter().filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word | Kind::Clauses));
    let own = plain.zip(&inst.args).chain(row.results.iter().zip(&inst.results));
    let counts_y = matches!(row.sem, Sem::Lanes(Lanes::Map(tessera_isa::sem::Func::Shl | tessera_isa::sem::Func::Shr)));
    for (arg, ty) in own {
        let (Kind::Reg(Lane::T) | Kind::ScalarOrReg, Some(own), Some(lane)) = (arg.kind, ty.lane(), lane) else {
            continue;
        };
        if counts_y && arg.name == "y" {
            if !is_integer(own, lane_bits(lane)) {
                return wrong(format!("counts are {ty}, and must be integers of {} bits", lane_bits(lane)));
            }
        } else if own != lane {
            return wrong(format!("{} is {ty}, and another operand has lanes of {}", arg.name, element_text(lane)));
        }
    }
    let in_row = |ty: ScalarType| row.types.is_empty() || row.types.iter().any(|class| is_of(class, ty));
    if let Some(lane) = lane.filter(|lane| !in_row(*lane)) {
        let is_gather = matches!(row.sem, Sem::Load(Load::Gather)) || row.sem == Sem::Lanes(Lanes::Convert);
        if !is_gather {
            return wrong(format!("lanes of {} do not exist here", element_text(lane)));
        }
    }
    let result = inst.results.first().copied();
    let is_result = |fits: &dyn Fn(ScalarType) -> bool| result.and_then(Ty::lane).is_some_and(fits);
    let result_text = || result.map_or_else(String::new, |ty| ty.to_string());
    let index = row.args.iter().find(|arg| arg.kind == Kind::Reg(Lane::Idx)).and_then(|arg| inst.arg(arg.name));
    match row.sem {
        Sem::Load(load) => {
            let Some(bits) = pointer_bits(0) else { return Ok(()) };
            if load == Load::Gather {
                let wanted = if bits == 32 { 32 } else { 16 };
                if !row.types.iter().any(|class| class.strip_prefix('b') == Some(bits.to_string().as_str())) {
                    return wrong(format!("elements of {bits} bits are not gathered"));
                }
                if !index.and_then(Ty::lane).is_some_and(|ty| is_integer(ty, wanted)) {
                    return wrong(format!("indices are no integers of {wanted} bits"));
                }
                let fits = |ty: ScalarType| if bits == 8 { is_integer(ty, 16) } else { lane_bits(ty) == bits };
                return if is_result(&fits) { Ok(()) } else { wrong(format!("the result is {}", result_text())) };
            }
            if load == Load::GatherBlocks && !index.and_then(Ty::lane).is_some_and(|ty| is_integer(ty, 32)) {
                return wrong("offsets are no integers of 32 bits".into());
            }
            if let Some(lane) = lane.filter(|lane| lane_bits(*lane) != bits) {
                return wrong(format!("the pointer has elements of {bits} bits, the register of {}", lane_bits(lane)));
            }
        }
        Sem::Store(Store::AppendPredicate) => {
            let wanted = inst.args.get(1).and_then(|ty| ty.granularity());
            let is_right = |ty: &Ty| match ty {
                Ty::Ptr(Elem::U16, _) => wanted == Some(16),
                Ty::Ptr(Elem::U32, _) => wanted == Some(32),
                _ => false,
            };
            if !inst.args.get(2).is_some_and(is_right) || !inst.results.get(1).is_some_and(is_right) {
                return wrong("a b16 mask goes with pointers to ui16, a b32 mask with pointers to ui32".into());
            }
        }
        Sem::Store(store) => {
            let bits = inst.args.iter().find_map(|ty| ty.pointer()).map(|(_, size)| size as u32 * 8);
            if let (Some(lane), Some(bits)) = (lane, bits)
                && lane_bits(lane) != bits
            {
                return wrong(format!(
                    "the register has lanes of {} bits, the pointer elements of {bits}",
                    lane_bits(lane)
                ));
            }
            let wanted = lane.map_or(0, lane_bits);
            if store == Store::Scatter && !index.and_then(Ty::lane).is_some_and(|ty| is_integer(ty, wanted)) {
                return wrong(format!("indices are no integers of {wanted} bits"));
            }
        }
        Sem::Lanes(Lanes::Broadcast) => {
            if let (Some(lane), Some(given)) = (lane, inst.args.first().and_then(|ty| ty.scalar())) {
                let fits = given == lane
                    || matches!((given, lane), (ScalarType::Int(n, Sign::None), ScalarType::Int(m, _)) if n == m);
                if !fits {
                    return wrong(format!("a scalar of {} is no lane of {}", element_text(given), element_text(lane)));
                }
            }
        }
        Sem::Lanes(Lanes::Convert) => {
            let to = result.and_then(Ty::lane);
            if lane.zip(to).and_then(|(from, to)| pair(from, to)).is_none() {
                let from = lane.map_or_else(String::new, element_text);
                return wrong(format!("{from} is not converted to {}", to.map_or_else(String::new, element_text)));
            }
        }
        Sem::Lanes(Lanes::ExpDif) if !is_result(&|ty| ty == ScalarType::Float(Elem::F32)) => {
            return wrong(format!("the result is {}, and must be !pto.vreg<64xf32>", result_text()));
        }
        Sem::Lanes(Lanes::MulConvert) if !is_result(&|ty| ty == ScalarType::Float(Elem::F16)) => {
            return wrong(format!("the result is {}, and must be !pto.vreg<128xf16>", result_text()));
        }
        Sem::Fold(Fold::Sum) => {
            let widened = |ty: ScalarType| match lane {
                Some(ScalarType::Int(bits, sign)) => {
                    let wanted = u32::from(bits).max(16).max(if bits == 16 { 32 } else { 0 });
                    is_integer(ty, wanted) && (ty_sign(ty) == Sign::Unsigned) == (sign == Sign::Unsigned)
                }
                Some(lane) => ty == lane,
                None => false,
            };
            if !is_result(&widened) {
                return wrong(format!("the result is {}", result_text()));
            }
        }
        Sem::Fold(Fold::Histogram) => {
            let counters = |ty: Option<Ty>| ty.and_then(Ty::lane) == Some(ScalarType::Int(16, Sign::Unsigned));
            if !counters(inst.args.first().copied()) || !counters(result) {
                return wrong("counters are no !pto.vreg<128xui16>".into());
            }
        }
        Sem::Permute(Permute::ByIndex) => {
            let wanted = lane.map_or(0, lane_bits);
            if !index.and_then(Ty::lane).is_some_and(|ty| is_integer(ty, wanted)) {
                return wrong(format!("numbers of lanes are no integers of {wanted} bits"));
            }
        }
        Sem::Permute(Permute::Pack) => {
            let wanted = lane.map_or(0, lane_bits) / 2;
            if !is_result(&|ty| is_integer(ty, wanted) && ty_sign(ty) == Sign::Unsigned) {
                return wrong(format!("the result is {}, and has lanes of ui{wanted}", result_text()));
            }
        }
        Sem::Permute(Permute::Widen) => {
            let wanted = lane.map_or(0, lane_bits) * 2;
            if !is_result(&|ty| is_integer(ty, wanted)) {
                return wrong(format!("the result is {}, and has integer lanes of {wanted} bits", result_text()));
            }
        }
        _ => {}
    }
    Ok(())
}

fn ty_sign(ty: ScalarType) -> Sign {
    if let ScalarType::Int(_, sign) = ty { sign } else { Sign::None }
}

/// The granularity of masks for lanes of a type (vector.md 1).
pub(crate) fn granularity(lane: ScalarType) -> u8 {
    lane_bits(lane).min(32) as u8
}

fn masks(inst: &Inst<'_>) -> Result<(), Refusal> {
    let row = inst.call.row;
    let in_name = inst.call.name.rsplit_once("_b").and_then(|(_, bits)| bits.parse::<u8>().ok());
    let rule = if matches!(row.sem, Sem::Predicate(_)) { "granularity" } else { "mask" };
    let plain = row.args.iter().filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word | Kind::Clauses));
    let all = plain.zip(&inst.args).chain(row.results.iter().zip(&inst.results));
    let of_lanes = match row.sem {
        // A gather of bytes has lanes of 16 bits (memory.md 6).
        Sem::Load(Load::Gather) => inst.results.first().and_then(|ty| ty.lane()),
        _ => inst.lanes(),
    };
    let mut first = None;
    for (arg, ty) in all {
        let (Kind::Mask(gran), Some(given)) = (arg.kind, ty.granularity()) else { continue };
        let wanted = match gran {
            Gran::ByLane if row.sem == Sem::Store(Store::Dist) => {
                memory::store_mask(memory::store_dist(inst)).unwrap_or(given)
            }
            Gran::ByLane => of_lanes.map_or(given, granularity),
            Gran::ByName => in_name.unwrap_or(given),
            Gran::B8 => 8,
            Gran::B32 => 32,
            Gran::Free => match row.sem {
                Sem::Predicate(Predicate::Logic | Predicate::Not | Predicate::Select) => *first.get_or_insert(given),
                _ => given,
            },
        };
        // The mask of an interleaved store is ignored, whatever it is.
        if row.sem == Sem::Store(Store::Pair) {
            continue;
        }
        if given != wanted {
            let what = format!("{} is {ty}, and must be !pto.mask<b{wanted}>", arg.name);
            return Err(broken(inst, rule, what, "pto.pbitcast changes the type of a mask and no bit"));
        }
    }
    if let (Sem::Predicate(which @ (Predicate::Pack | Predicate::Unpack)), Some(a), Some(b)) = (
        row.sem,
        inst.args.first().and_then(|ty| ty.granularity()),
        inst.results.first().and_then(|ty| ty.granularity()),
    ) {
        let (narrow, wide) = if which == Predicate::Pack { (b, a) } else { (a, b) };
        if narrow != wide && narrow.saturating_mul(2) != wide {
            let what = format!("a mask<b{a}> does not become a mask<b{b}>");
            return Err(broken(inst, rule, what, "keep the granularity, or change it by one step"));
        }
    }
    Ok(())
}

fn scalars(inst: &Inst<'_>) -> Result<(), Refusal> {
    let row = inst.call.row;
    let Some(n) = row.args.iter().position(|arg| arg.kind == Kind::Scalar(Number::OfLane)) else { return Ok(()) };
    if row.sem == Sem::Lanes(Lanes::Broadcast) {
        return Ok(());
    }
    let (Some(given), Some(lane)) = (inst.args.get(n).and_then(|ty| ty.scalar()), inst.lanes()) else { return Ok(()) };
    let is_shift = matches!(row.sem, Sem::Lanes(Lanes::Map(tessera_isa::sem::Func::Shl | tessera_isa::sem::Func::Shr)));
    let fits = match lane {
        _ if is_shift => matches!(given, ScalarType::Int(16, Sign::None | Sign::Signed)),
        ScalarType::Int(bits, _) => given == lane || given == ScalarType::Int(bits, Sign::None),
        lane => given == lane,
    };
    if fits {
        return Ok(());
    }
    let wanted = if is_shift { "i16".to_string() } else { element_text(lane) };
    let what = format!("the scalar is {}, and must be {wanted}", element_text(given));
    Err(broken(inst, "scalar", what, "convert it with arith first"))
}

/// The word without the prefix of its other spelling (vector.md 5 and 9).
pub(crate) fn plain_word(word: &str) -> &str {
    match word {
        "RS_ENABLE" => "SAT",
        "RS_DISABLE" => "NOSAT",
        word => word.strip_prefix("ROUND_").or_else(|| word.strip_prefix("PART_")).unwrap_or(word),
    }
}

/// The rule that a wrong word breaks, which the row lists.
fn word_rule(inst: &Inst<'_>) -> &'static str {
    const RULES: [&str; 8] = ["dist", "mode", "pattern", "part", "register", "position", "kind", "attr"];
    let has = |rule: &&str| inst.call.row.rules.contains(rule);
    let part = matches!(inst.call.row.sem, Sem::Permute(_));
    RULES.into_iter().filter(|rule| !part || *rule == "attr").find(has).unwrap_or("attr")
}

fn words(inst: &Inst<'_>) -> Result<(), Refusal> {
    let row = inst.call.row;
    let mut n = 0;
    for list in row.words.iter().filter(|list| !list.is_attribute) {
        let given = inst.call.word(n).map(plain_word);
        n += 1;
        match given {
            Some(word) if list.words.contains(&word) => {
                let lanes = inst.call.name.rsplit_once("_b").and_then(|(_, bits)| bits.parse::<u32>().ok());
                let count = word.strip_prefix("PAT_VL").and_then(|n| n.parse::<u32>().ok());
                if let (Some(count), Some(bits)) = (count, lanes)
                    && count > 2048 / bits
                {
                    let what = format!("{word} sets {count} lanes, and a b{bits} mask has {}", 2048 / bits);
                    return Err(broken(inst, word_rule(inst), what, "use PAT_ALL"));
                }
            }
            Some(word) => {
                let what = format!("`{word}` is no {}", list.key);
                return Err(broken(inst, word_rule(inst), what, format!("words are {}", list.words.join(", "))));
            }
            None if list.is_required => {
                let what = format!("its {} is missing", list.key);
                return Err(broken(inst, word_rule(inst), what, format!("write one of {}", list.words.join(", "))));
            }
            None => {}
        }
    }
    if let Some(extra) = inst.call.word(n).filter(|_| !row.args.iter().any(|arg| arg.kind == Kind::Word)) {
        return Err(broken(
            inst,
            word_rule(inst),
            format!("`{extra}` is one word too many"),
            format!("write {}", row.text),
        ));
    }
    for (key, value) in &inst.call.attrs {
        let Some(list) = row.attribute(attr_key(key)) else {
            if row.words.iter().any(|list| list.is_attribute) {
                let what = format!("it has no attribute {key}");
                return Err(broken(inst, word_rule(inst), what, format!("write {}", row.text)));
            }
            continue;
        };
        let text = match value {
            Attr::Word(word) => plain_word(word).to_string(),
            Attr::Int(v, _) => v.to_string(),
            Attr::Bool(v) => v.to_string(),
        };
        if !list.words.contains(&text.as_str()) {
            let what = format!("`{text}` is no {key}");
            return Err(broken(inst, word_rule(inst), what, format!("words are {}", list.words.join(", "))));
        }
        if list.key == "position" && inst.args.first().is_some_and(|ty| ty.scalar().is_some()) {
            let what = "a scalar has no position".into();
            return Err(broken(inst, "position", what, "leave the attribute out, or give a register"));
        }
    }
    if let Sem::Load(Load::Dist) = row.sem
        && inst.call.attr_word("dist") == Some("UNPK4")
        && inst.lanes().is_some_and(|lane| lane_bits(lane) != 8)
    {
        return Err(broken(inst, "dist", "UNPK4 goes with elements of 8 bits only".into(), "use UNPK_B16 or UNPK_B32"));
    }
    Ok(())
}

/// `round_mode` is vcvt's other key of `rnd` (vector.md 5).
pub(crate) fn attr_key(key: &str) -> &str {
    if key == "round_mode" { "rnd" } else { key }
}

/// The value of a conversion's attribute.
pub(crate) fn conversion_word<'a>(call: &'a Call, key: &str) -> Option<&'a str> {
    call.attrs.iter().find_map(|(name, value)| match value {
        Attr::Word(word) if attr_key(name) == key => Some(plain_word(word)),
        _ => None,
    })
}

/// Immediate forms take a constant.
fn immediate(inst: &Inst<'_>, known: &[Known]) -> Result<(), Refusal> {
    if matches!(inst.call.name, "pldi" | "psti")
        && let Some(n) = inst.call.operand("i")
        && known.get(n) == Some(&Known::No)
    {
        let what = "its index is no constant".into();
        return Err(broken(inst, "immediate", what, format!("use {}", inst.call.row.name)));
    }
    Ok(())
}

fn pad(inst: &Inst<'_>) -> Result<(), Refusal> {
    let Some(pad) = inst.call.group("pad") else { return Ok(()) };
    let (Some(given), Some((_, size))) =
        (inst.args.get(pad.start).and_then(|ty| ty.scalar()), inst.args.first().and_then(|ty| ty.pointer()))
    else {
        return Ok(());
    };
    let is_type = match given {
        ScalarType::Int(bits, _) => matches!(bits, 8 | 16 | 32),
        ScalarType::Float(elem) => matches!(elem, Elem::F16 | Elem::Bf16 | Elem::F32),
        ScalarType::Index => false,
    };
    if is_type && u64::from(given.bits()) == size * 8 {
        return Ok(());
    }
    let what = format!("the pad value is {}, and elements have {} bits", element_text(given), size * 8);
    Err(broken(inst, "pad", what, "use a value of i8, i16, i32, f16, bf16 or f32 that is as wide as an element"))
}

/// The options of a conversion: words for rounding, whether it saturates, and the number of parts (vector.md 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub rounding: &'static str,
    pub saturates: bool,
    pub parts: u8,
}

/// The conversions that exist, each with its pairs.
pub const PAIRS: &[(Pair, &[(&str, &str)])] = &[
    (
        Pair { rounding: "RAFCZO", saturates: true, parts: 2 },
        &[
            ("f32", "f16"),
            ("f32", "bf16"),
            ("f32", "i16"),
            ("f32", "i64"),
            ("f16", "i8"),
            ("f16", "u8"),
            ("bf16", "i32"),
        ],
    ),
    (Pair { rounding: "RAFCZO", saturates: true, parts: 1 }, &[("f32", "i32"), ("f16", "i16"), ("bf16", "f16")]),
    (Pair { rounding: "RAHZ", saturates: true, parts: 4 }, &[("f32", "f8e4m3"), ("f32", "f8e5m2")]),
    (Pair { rounding: "AH", saturates: true, parts: 4 }, &[("f32", "hif8")]),
    (Pair { rounding: "AH", saturates: true, parts: 2 }, &[("f16", "hif8")]),
    (
        Pair { rounding: "RAFCZ", saturates: true, parts: 2 },
        &[("f16", "f8e4m3"), ("f16", "f8e5m2"), ("bf16", "f8e4m3"), ("bf16", "f8e5m2")],
    ),
    (Pair { rounding: "RAFCZ", saturates: false, parts: 4 }, &[("bf16", "f4e1m2x2"), ("bf16", "f4e2m1x2")]),
    (Pair { rounding: "RAFCZO", saturates: false, parts: 2 }, &[("f16", "i32"), ("i64", "f32")]),
    (Pair { rounding: "RAFCZO", saturates: false, parts: 1 }, &[("i16", "f16"), ("i32", "f32")]),
    (
        Pair { rounding: "", saturates: false, parts: 2 },
        &[
            ("f16", "f32"),
            ("bf16", "f32"),
            ("u8", "f16"),
            ("i8", "f16"),
            ("i16", "f32"),
            ("u8", "u16"),
            ("i8", "i16"),
            ("u16", "u32"),
            ("i16", "u32"),
            ("i16", "i32"),
            ("i32", "i64"),
        ],
    ),
    (
        Pair { rounding: "", saturates: false, parts: 4 },
        &[
            ("f8e4m3", "f32"),
            ("f8e5m2", "f32"),
            ("hif8", "f32"),
            ("f4e1m2x2", "bf16"),
            ("f4e2m1x2", "bf16"),
            ("u8", "u32"),
            ("i8", "i32"),
        ],
    ),
    (
        Pair { rounding: "", saturates: true, parts: 2 },
        &[("u16", "u8"), ("i16", "u8"), ("u32", "u16"), ("u32", "i16"), ("i32", "u16"), ("i32", "i16"), ("i64", "i32")],
    ),
    (Pair { rounding: "", saturates: true, parts: 4 }, &[("u32", "u8"), ("i32", "u8")]),
];

/// The options of the conversion between two types; `None` if there is no such conversion.
pub fn pair(from: ScalarType, to: ScalarType) -> Option<Pair> {
    let is_pair = |(a, b): &(&str, &str)| is_of(a, from) && is_of(b, to);
    PAIRS.iter().find(|(_, pairs)| pairs.iter().any(is_pair)).map(|(pair, _)| *pair)
}

/// The words of a conversion: exactly those that its pair takes; what is left out is the usual one, with a warning.
fn conversion(inst: &Inst<'_>, notes: &mut Vec<Diagnostic>) -> Result<(), Refusal> {
    let (Some(from), Some(to)) = (inst.lanes(), inst.results.first().and_then(|ty| ty.lane())) else { return Ok(()) };
    let Some(pair) = pair(from, to) else { return Ok(()) };
    let rounding: Vec<String> = pair.rounding.chars().map(String::from).collect();
    let saturation = if pair.saturates { vec!["SAT", "NOSAT"] } else { vec![] };
    let parts = match pair.parts {
        2 => vec!["EVEN", "ODD"],
        4 => vec!["P0", "P1", "P2", "P3"],
        _ => vec![],
    };
    let rounding: Vec<&str> = rounding.iter().map(String::as_str).collect();
    let (from, to) = (element_text(from), element_text(to));
    for (key, words) in [("rnd", rounding), ("sat", saturation), ("part", parts)] {
        match (conversion_word(inst.call, key), words.first()) {
            (Some(word), None) => {
                let what = format!("{from} to {to} takes no {key}, and `{word}` is written");
                return Err(broken(inst, "attr", what, format!("leave {key} out")));
            }
            (Some(word), Some(_)) if !words.contains(&word) => {
                let what = format!("{from} to {to} does not take {key} = `{word}`");
                return Err(broken(inst, "attr", what, format!("words are {}", words.join(", "))));
            }
            (None, Some(usual)) => {
                let rule = inst.call.row.rule(inst.call.name, "default");
                let what = format!("{}: {key} is left out, and is {usual}", inst.call.name);
                notes.push(Diagnostic::warning(rule, what).help(format!("write {key} = \"{usual}\"")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The rules that need numbers, as far as the numbers are known: alignment, ranges, overlap, bounds.
pub fn values(inst: &Inst<'_>, known: &[Known]) -> Result<(), Refusal> {
    match inst.call.row.sem {
        Sem::Dma(_) => crate::dma::check(inst, known),
        Sem::Cube(_) => crate::cube::values(inst, known),
        Sem::Sort(_) => crate::sort::check(inst, known),
        Sem::Load(_) | Sem::Store(_) => {
            memory::aligned(inst, known)?;
            let Some(runs) = memory::footprint(inst, known) else { return Ok(()) };
            runs.iter().try_for_each(|run| in_bounds(inst, run))
        }
        Sem::Permute(Permute::Widen) => number_in(inst, known, "h", "part", 0..=1),
        Sem::Fold(Fold::Histogram) => number_in(inst, known, "h", "bin", 0..=1),
        _ => Ok(()),
    }
}

/// The bytes that a load reads, whichever lanes look at them; none where only a run knows.
pub fn load_footprint(inst: &Inst<'_>, known: &[Known]) -> Option<Vec<(i64, i64)>> {
    let Sem::Load(_) = inst.call.row.sem else { return None };
    let runs = memory::footprint(inst, known)?;
    Some(runs.iter().filter(|run| run.len > 0).map(|run| (run.at, run.at + run.len as i64)).collect())
}

/// A run of bytes on the chip lies in its memory.
fn in_bounds(inst: &Inst<'_>, run: &Run) -> Result<(), Refusal> {
    let Some(size) = run.space.size() else { return Ok(()) };
    let end = run.at.saturating_add(run.len as i64);
    if run.at >= 0 && end as u64 <= size || run.len == 0 {
        return Ok(());
    }
    let (name, last) = (run.space.name(), end.saturating_sub(1));
    let what = format!("{} touches {name} bytes {} to {last}, and {name} has {size} bytes", inst.call.name, run.at);
    Err(Box::new(Diagnostic::error(run.space.bounds_rule(), what).help(format!("stay below byte {size}"))))
}

/// The error of an access outside of a memory.
pub(crate) fn bounds(inst: &Inst<'_>, space: Space, at: i64, len: u64) -> Result<(), Refusal> {
    in_bounds(inst, &Run { space, at, len, writes: false })
}

pub(crate) fn number_in(
    inst: &Inst<'_>,
    known: &[Known],
    operand: &str,
    rule: &'static str,
    range: std::ops::RangeInclusive<i64>,
) -> Result<(), Refusal> {
    let given = inst.call.operand(operand).and_then(|n| known.get(n)).and_then(|v| v.int());
    match given {
        Some(v) if !range.contains(&v) => {
            let what = format!("{operand} is {v}, and must be {} to {}", range.start(), range.end());
            Err(broken(inst, rule, what, "use a number in the range"))
        }
        _ => Ok(()),
    }
}
