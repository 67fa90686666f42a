//! One line of each instruction in each text form, made from its row of the instruction table.
//!
//! The lines are complete: a listing of one of them parses.

use super::table::wrap;
use tessera_isa::elem::Elem;
use tessera_isa::inst::AttrValue;
use tessera_isa::ops::{AttrKind, AttrName, Form, Kind, OpInfo, Opcode, Role, Shape, Types};

/// The same instruction in the three forms of syntax.md 2.
pub struct Examples {
    /// Assembly.
    pub asm: String,
    /// SSA; empty where the form has nothing that could be a result.
    pub ssa: String,
    /// DPS.
    pub dps: String,
}

/// The examples of one form of an instruction.
pub fn examples(op: Opcode, form: &Shape) -> Examples {
    let info = op.info();
    let names = |roles: &[Role]| roles.iter().map(|r| operand(*r)).collect::<Vec<_>>().join(", ");
    // With an offset TQUANT writes unsigned bytes (isa/irregular.md 8).
    let is_asymmetric = info.attrs.contains(&AttrName::QuantType) && form.ins.contains(&Role::Offset);
    let one = |r: &Role| match r {
        Role::Dst if is_asymmetric => "!pto.tile<16x32xu8>".into(),
        // Elements are gathered through scratch, rows without (isa/today.md 6.6).
        Role::IdxView if form.ins.contains(&Role::ScratchView) => "!pto.partition_tensor_view<16x32xi32>".into(),
        r => type_of(op, form.form, *r),
    };
    let types = |roles: &[Role]| roles.iter().map(one).collect::<Vec<_>>();
    let (mnemonic, ins, in_types) = (info.mnemonic, names(&form.ins), types(&form.ins).join(", "));
    let tiles: Vec<Role> = form.ins.iter().copied().filter(|r| r.kind() == Kind::Tile).collect();
    let (inside, tail) = (words(op, form), attributes(info, form));
    let dps_outs = match form.outs.as_slice() {
        [] => String::new(),
        outs => format!(" outs({} : {})", names(outs), types(outs).join(", ")),
    };
    let dps = format!("pto.{mnemonic} ins({ins}{inside} : {in_types}){dps_outs}{tail}");
    // What only the DPS form writes is in that form alone (isa/irregular.md 9); a scalar is no place to write to.
    let written = |o: &&tessera_isa::ops::Operand| form.ins.contains(&o.role) || form.outs.contains(&o.role);
    let is_dps = op.form(form.form).is_some_and(|f| f.operands().filter(written).any(|o| o.dps_only));
    if is_dps {
        return Examples { asm: String::new(), ssa: String::new(), dps };
    }
    let dps = match form.outs.as_slice() {
        [Role::Value] => format!(
            "{} = pto.{mnemonic} ins({ins} : {in_types}) outs : {}",
            names(&form.outs),
            types(&form.outs).join("")
        ),
        _ => dps,
    };
    // A view is not a value that an instruction makes, so TLOAD and TSTORE have the DPS form only.
    if form.outs.iter().chain(&form.ins).any(|r| *r == Role::Global) || form.outs.is_empty() {
        return Examples { asm: String::new(), ssa: String::new(), dps };
    }
    let (results, result_types) = (names(&form.outs), group(&types(&form.outs)));
    // Only the layout set's assembly lists nothing but tiles (isa/notes.md).
    let listed = if info.by_flows() { &tiles } else { &form.ins };
    let (operands, listed) = (bracketed(&form.ins), group(&types(listed)));
    let asm = format!("{results} = {mnemonic} {operands}{inside} : {listed} -> {result_types}{tail}");
    let ssa = format!("{results} = pto.{mnemonic} {ins}{inside} : ({in_types}) -> {result_types}{tail}");
    Examples { asm, ssa, dps }
}

/// A line as `tessera fmt` prints it; nothing, where the instruction does not have the form.
pub fn as_printed(line: &str) -> String {
    let program = tessera::Program::read(line, None);
    if program.has_errors() { String::new() } else { program.text(None).trim_end().to_string() }
}

/// The call of a form in C++, with the arguments in their order.
pub fn call(op: Opcode, form: Form) -> Option<String> {
    let (name, form) = (op.info().cpp.first()?, op.form(form)?);
    let arguments: Vec<&str> = form.cpp_order().into_iter().map(Role::cpp).collect();
    Some(format!("{name}({})", arguments.join(", ")))
}

fn operand(role: Role) -> String {
    match role {
        Role::Quant => "%quant".into(),
        Role::Global => "%view".into(),
        _ => format!("%{role}"),
    }
}

/// Operands of the assembly form: indices follow the source in brackets.
fn bracketed(ins: &[Role]) -> String {
    let window = |roles: &[Role]| {
        let names: Vec<String> = roles.iter().filter(|r| ins.contains(r)).map(|r| operand(*r)).collect();
        if names.is_empty() { String::new() } else { format!("[{}]", names.join(", ")) }
    };
    let indices =
        window(&[Role::Row, Role::Col]) + &window(&[Role::Row1, Role::Col1]) + &window(&[Role::PosM, Role::PosK]);
    let others = ins.iter().filter(|r| !r.in_brackets());
    let mut parts: Vec<String> = others.map(|r| operand(*r)).collect();
    if let Some(first) = parts.first_mut() {
        first.push_str(&indices);
    }
    parts.join(", ")
}

fn group(types: &[String]) -> String {
    match types {
        [one] => one.clone(),
        many => format!("({})", many.join(", ")),
    }
}

/// Types that fit the instruction, so that the line is a program: those of its form, of its row, or the usual ones.
fn type_of(op: Opcode, form: Form, role: Role) -> String {
    let quantized = matches!(form, Form::ScalarQuant | Form::VectorQuant);
    let own = op.form(form).map_or(&[][..], |f| f.examples);
    let row = own.iter().chain(op.info().examples).find(|(r, _)| *r == role).map(|(_, text)| *text);
    if let (Some(text), false) = (row, op.info().by_flows()) {
        return text.into();
    }
    let text = match (form, role) {
        (_, r) if r.kind() == Kind::Index => "index",
        (_, Role::Quant) => "i64",
        (_, Role::Fill | Role::Scalar) => return element(op.info()).name().into(),
        (_, Role::Fp) => "!pto.tile<loc=scaling, u64, 1, 32>",
        (_, Role::Global) => "!pto.partition_tensor_view<16x32xf16>",
        (_, Role::IdxView) => "!pto.partition_tensor_view<1x16xi32>",
        (_, Role::ScratchView) => "!pto.partition_tensor_view<16x32xf16>",
        (Form::InMemory, Role::Dst) => "!pto.tile<loc=mat, f16, 16, 32>",
        (_, Role::Idx0 | Role::Idx1 | Role::DstIdx) => "!pto.tile<vec, 16x8xi32, valid=16x1>",
        (_, Role::Src) if quantized => "!pto.tile<loc=acc, f32, 16, 32>",
        (_, Role::Dst) if quantized => "!pto.tile<loc=mat, i8, 16, 32>",
        (Form::TwoWindows, Role::Dst0 | Role::Dst1) => {
            "!pto.tile<vec, 16x32xf16, blayout=col_major, slayout=row_major>"
        }
        (Form::OneSource, Role::Src0) => "!pto.tile<16x64xf16>",
        _ => match row {
            Some(text) => text,
            None => return format!("!pto.tile<16x32x{}>", element(op.info())),
        },
    };
    text.into()
}

/// The element type of what the row does not say otherwise.
fn element(info: &OpInfo) -> Elem {
    let takes = |e: Elem| info.sigs.iter().any(|s| matches!(s.types, Types::EqualOf(list) if list.contains(&e)));
    if takes(Elem::I16) && !takes(Elem::F16) { Elem::I16 } else { Elem::F16 }
}

/// The words that stand behind the operands, each the usual one.
fn words(op: Opcode, form: &Shape) -> String {
    let info = op.info();
    let known = op.form(form.form).map_or(info.attrs, |f| info.attrs_of(f));
    let word = |name: &AttrName| match (name.info().kind, name.info().default) {
        (AttrKind::Word { list, spelling, .. }, default) if name.info().inside_ins => {
            let usual = if let Some(AttrValue::Word(n)) = default { n } else { 0 };
            Some(format!("{name} = {}", spelling.spell(list.get(usize::from(usual))?.name)))
        }
        _ => None,
    };
    let all: Vec<String> = known.iter().filter_map(word).collect();
    if all.is_empty() { String::new() } else { format!(" {{{}}}", all.join(", ")) }
}

/// The attributes that an instruction cannot do without.
fn attributes(info: &OpInfo, form: &Shape) -> &'static str {
    let has = |name: AttrName| info.attrs.contains(&name);
    match form.ins.contains(&Role::Offset) {
        _ if has(AttrName::Kernel) => " {kernel = [3, 3]}",
        _ if form.ins.contains(&Role::ScratchView) && has(AttrName::Coalesce) => " {coalesce = #pto<coalesce elem>}",
        // Floats with shared exponents; those of ZZ order are stored as NZ (isa/today.md 6.4).
        _ if form.outs.contains(&Role::ExpZz) => {
            " {quant_type = #pto<quant_type MXFP8>, storeMode = #pto<vec_store_mode nz>}"
        }
        _ if has(AttrName::QuantScaleAlg) => " {quant_type = #pto<quant_type MXFP8>}",
        false if has(AttrName::QuantType) => " {quant_type = #pto<quant_type INT8_SYM>}",
        true if has(AttrName::QuantType) => " {quant_type = #pto<quant_type INT8_ASYM>}",
        _ => "",
    }
}

/// An example cut into lines where the language lets a line end: before `:`, `->` and `outs`, else inside brackets.
pub fn cut(line: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts(line) {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + part.chars().count() <= width => {
                *last += &format!(" {part}");
            }
            last => {
                let indent = if last.is_some() { "  " } else { "" };
                // A line that begins with `#` is a comment (syntax.md 1), so an attribute stays in one piece.
                let room = if part.chars().count() + indent.len() > width { width - 4 } else { width - indent.len() };
                let wrapped = wrap(&part.replace(" = #", "\u{a0}=\u{a0}#"), room);
                let wrapped: Vec<String> = wrapped.iter().map(|l| l.replace('\u{a0}', " ")).collect();
                lines.extend(wrapped.iter().enumerate().map(|(n, l)| match n {
                    0 => format!("{indent}{l}"),
                    _ => format!("    {l}"),
                }));
            }
        }
    }
    lines
}

/// The pieces between the places outside brackets where a line may end.
fn parts(line: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut depth = 0i32;
    for word in line.split(' ') {
        let breaks = depth == 0 && (word.starts_with("outs(") || matches!(word, ":" | "->"));
        match parts.last_mut() {
            Some(last) if !breaks => *last += &format!(" {word}"),
            _ => parts.push(word.into()),
        }
        if word != "->" {
            depth += word.matches(['(', '<', '[']).count() as i32 - word.matches([')', '>', ']']).count() as i32;
        }
    }
    parts
}
