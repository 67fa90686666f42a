//! The tags of the C ABI: a tag is a position in a table of `tessera-isa`.

use super::screaming;
use std::fmt::{Debug, Write};
use tessera_ir::FloatOp;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AccToVec, Relu, Split, ViewTag};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Compact, Loc, SLayout};

fn list<T: Copy + Debug>(out: &mut String, name: &str, about: &str, all: &[T], note: impl Fn(T) -> String) {
    writeln!(out, "\n// {about}\ntypedef enum Tessera{name} {{").unwrap();
    for (n, word) in all.iter().enumerate() {
        let note = note(*word);
        let note = if note.is_empty() { note } else { format!(" // {note}") };
        writeln!(out, "  TESSERA_{}_{} = {n},{note}", screaming(name), screaming(&format!("{word:?}"))).unwrap();
    }
    writeln!(out, "}} Tessera{name};").unwrap();
}

/// The enumerations whose tags are positions.
pub(super) fn enums() -> String {
    let mut out = String::new();
    list(&mut out, "Profile", "Target profiles.", &Profile::ALL, |p| p.info().summary.into());
    list(&mut out, "Loc", "Locations of tiles.", Loc::ALL, |l| l.memory_name().into());
    list(&mut out, "BLayout", "Outer orders of a layout.", BLayout::ALL, |_| String::new());
    list(&mut out, "SLayout", "Inner orders of a layout.", SLayout::ALL, |_| String::new());
    list(&mut out, "Compact", "Compact modes.", Compact::ALL, |_| String::new());
    list(&mut out, "ViewLayout", "Layout tags of views.", ViewTag::ALL, |_| String::new());
    list(&mut out, "Relu", "ReLU on the way out of an accumulator.", Relu::ALL, |_| String::new());
    list(&mut out, "AccToVec", "Which vector core an Acc→Vec form writes.", AccToVec::ALL, |_| String::new());
    list(&mut out, "Split", "The NZ split forms of TINSERT.", Split::ALL, |_| String::new());
    list(&mut out, "AttrName", "The attributes.", AttrName::ALL, |a| a.info().kind.wanted());
    list(&mut out, "Elem", "Element types.", Elem::ALL, |_| String::new());
    list(&mut out, "Op", "Instructions; `tessera_issue` takes those with operands.", Opcode::WITH_CPP, |op| {
        op.info().summary.into()
    });
    list(&mut out, "Form", "Forms of an instruction.", Form::ALL, |_| String::new());
    list(&mut out, "FloatOp", "Operations on floats.", FloatOp::ALL, |op| op.name().into());
    list(&mut out, "Role", "What an operand is to its instruction.", Role::ALL, |_| String::new());
    out
}
