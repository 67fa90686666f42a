//! The rules that types, words and clauses decide (cube.md 2).

use super::fields::Fields;
use super::store;
use crate::call::{Attr, Inst, Item};
use crate::check::{Known, Refusal, broken, count_error, is_of};
use crate::table::{Cube, Kind, Space};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::ScalarType;

/// The clauses of a product, in the order in which they stand.
const PRODUCT: &[&[&str]] = &[&["unit_flag"], &["disable_gemv"], &["sat", "nosat"], &["tf32_mode"], &["n_dir"]];
const TRIPLES: &[[Elem; 3]] = &[
    [Elem::I8, Elem::I8, Elem::I32],
    [Elem::F16, Elem::F16, Elem::F32],
    [Elem::Bf16, Elem::Bf16, Elem::F32],
    [Elem::F32, Elem::F32, Elem::F32],
    [Elem::Hif8, Elem::Hif8, Elem::F32],
];
const FP8: [Elem; 2] = [Elem::F8e4m3, Elem::F8e5m2];
const FP4: [Elem; 2] = [Elem::F4e1m2x2, Elem::F4e2m1x2];

/// The rules before those of numbers.
pub(crate) fn types(inst: &Inst<'_>, known: &[Known]) -> Result<(), Refusal> {
    let f = Fields { inst, known };
    let Some(cube) = super::of(inst) else { return Ok(()) };
    counts(inst)?;
    spaces(&f, cube)?;
    match cube {
        Cube::Boxes => {
            let word = inst.call.word(0).unwrap_or_default();
            if !matches!(word, "nd2nz" | "dn2nz") {
                return Err(broken(inst, "mode", format!("`{word}` is no mode"), "write nd2nz or dn2nz"));
            }
            same_width(&f, &["b8", "b16", "b32"])
        }
        Cube::Fill => match inst.call.attr("fill_word_bits") {
            Some(Attr::Int(16 | 32, _)) => Ok(()),
            _ => Err(broken(
                inst,
                "attr",
                "fill_word_bits is neither 16 nor 32".into(),
                "write {fill_word_bits = 16 : i64}",
            )),
        },
        Cube::Bias => {
            let pair = (f.elem(0), f.elem(1));
            let pairs =
                [(Elem::F32, Elem::F32), (Elem::I32, Elem::I32), (Elem::F16, Elem::F32), (Elem::Bf16, Elem::F32)];
            match pairs.contains(&pair) {
                true => Ok(()),
                false => wrong_types(&f, "f32, i32, f16 to f32, bf16 to f32"),
            }
        }
        Cube::Parameters => Ok(()),
        Cube::Load => {
            let listed = inst.call.row.types.iter().any(|class| is_elem(class, f.elem(0)));
            if f.elem(0) != f.elem(1) || !listed {
                return wrong_types(&f, &inst.call.row.types.join(", "));
            }
            Ok(())
        }
        Cube::LoadScales if f.size(0) * f.size(1) != 1 => wrong_types(&f, "elements of 8 bits"),
        Cube::LoadScales => Ok(()),
        Cube::Product { scaled, .. } => product(&f, scaled),
        Cube::Store => {
            clauses(inst, store::CLAUSES)?;
            store::types(&f)
        }
    }
}

fn is_elem(class: &str, elem: Elem) -> bool {
    Elem::parse(class) == Some(elem) || elem.is_float() && is_of(class, ScalarType::Float(elem))
}

fn wrong_types<T>(f: &Fields<'_>, listed: &str) -> Result<T, Refusal> {
    let what = format!("elements of {} go to elements of {}", f.elem(0), f.elem(1));
    Err(broken(f.inst, "dtype", what, format!("types are {listed}")))
}

fn same_width(f: &Fields<'_>, classes: &[&str]) -> Result<(), Refusal> {
    let listed = classes.iter().any(|class| *class == format!("b{}", 8 * f.size(0)));
    if f.size(0) != f.size(1) || !listed { wrong_types(f, &classes.join(", ")) } else { Ok(()) }
}

/// The row's operands outside of groups, and its groups.
fn counts(inst: &Inst<'_>) -> Result<(), Refusal> {
    let row = inst.call.row;
    let has_numbers = row.args.iter().any(|arg| matches!(arg.kind, Kind::Numbers(..)));
    let plain = row
        .args
        .iter()
        .filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word | Kind::Clauses | Kind::Numbers(..)));
    let wanted = plain.clone().count();
    let given = inst.call.plain();
    if given < wanted || given > wanted && !has_numbers {
        return Err(count_error(inst, format!("{given} operands are written, and there are {wanted}")));
    }
    for (arg, ty) in plain.zip(&inst.args) {
        let fits = match arg.kind {
            Kind::Ptr(_) => ty.pointer().is_some(),
            _ => ty.scalar().is_some(),
        };
        if !fits {
            let what = format!("{}: {} cannot be {ty}", inst.call.name, arg.name);
            return Err(Box::new(Diagnostic::error("type-mismatch", what).help(format!("write {}", row.text))));
        }
    }
    for arg in row.args {
        let Kind::Group(least, most) = arg.kind else { continue };
        let groups: Vec<_> = inst.call.groups(arg.name).collect();
        let fits = |len: usize| (usize::from(least)..=usize::from(most)).contains(&len);
        if groups.len() != 1 || !groups.iter().all(|group| fits(group.len())) {
            return Err(count_error(
                inst,
                format!("{}(…) stands {} times, or has another number of operands", arg.name, groups.len()),
            ));
        }
    }
    Ok(())
}

fn spaces(f: &Fields<'_>, cube: Cube) -> Result<(), Refusal> {
    let plain =
        f.inst.call.row.args.iter().filter(|arg| !matches!(arg.kind, Kind::Group(..) | Kind::Word | Kind::Clauses));
    for (n, arg) in plain.enumerate() {
        let Kind::Ptr(wanted) = arg.kind else { continue };
        let wanted = match (wanted, cube) {
            (Space::AnySpace, Cube::Load | Cube::LoadScales) if f.is_right() => Space::L0b,
            (Space::AnySpace, _) => Space::L0a,
            (wanted, _) => wanted,
        };
        if f.space(n) != wanted {
            let what = format!("{} points to {}, and must point to {}", arg.name, f.space(n).name(), wanted.name());
            return Err(broken(f.inst, "space", what, format!("use a pointer to {}", wanted.name())));
        }
    }
    Ok(())
}

/// Clauses are those of the list, each once, in its order.
fn clauses(inst: &Inst<'_>, list: &[&[&str]]) -> Result<(), Refusal> {
    let syntax = |what: String, help: String| Err(Box::new(Diagnostic::error("syntax", what).help(help)));
    let order: Vec<&str> = list.iter().flat_map(|names| names.iter().copied()).collect();
    let mut next = 0;
    for item in &inst.call.items {
        let (Item::Word(word) | Item::Group(word, _)) = item else { continue };
        let Some(place) = list.iter().position(|names| names.contains(&word.as_str())) else {
            return syntax(
                format!("{}: `{word}` is no clause", inst.call.name),
                format!("clauses are {}", order.join(", ")),
            );
        };
        if place < next {
            let what = format!("{}: the clause {word} stands twice or out of order", inst.call.name);
            return syntax(what, format!("the order is {}", order.join(", ")));
        }
        next = place + 1;
    }
    Ok(())
}

fn product(f: &Fields<'_>, scaled: bool) -> Result<(), Refusal> {
    let inst = f.inst;
    let c = inst.call.operand("c").unwrap_or(2);
    let [a, b, to] = [f.elem(0), f.elem(1), f.elem(c)];
    let is_pair = |set: [Elem; 2]| set.contains(&a) && set.contains(&b) && to == Elem::F32;
    let listed = is_pair(FP8) || if scaled { is_pair(FP4) } else { TRIPLES.contains(&[a, b, to]) };
    if !listed {
        let what = format!("{a} times {b} into {to}");
        let help = if scaled {
            "f8e4m3 and f8e5m2, or fp4, into f32"
        } else {
            "i8 into i32; f16, bf16, f32, fp8 or hif8 into f32"
        };
        return Err(broken(inst, "dtype", what, help));
    }
    if let Some(bias) = inst.call.operand("bias").map(|n| f.elem(n)).filter(|bias| *bias != to) {
        return Err(broken(inst, "dtype", format!("the bias is {bias}, and the result {to}"), "give both one type"));
    }
    clauses(inst, PRODUCT)?;
    let tf32 = f.group("tf32_mode").is_some();
    let mode = f.word_in("tf32_mode");
    if tf32 && (scaled || a != Elem::F32 || !matches!(mode, Some("round_even" | "round_away"))) {
        let what = format!("tf32_mode({}) stands with {a} times {b}", mode.unwrap_or_default());
        return Err(broken(inst, "clause", what, "it goes with f32 times f32, round_even or round_away"));
    }
    if to == Elem::I32 && (f.has_word("sat") || f.has_word("nosat")) {
        return Err(broken(inst, "clause", "sat and nosat stand with integers".into(), "leave them out"));
    }
    Ok(())
}
