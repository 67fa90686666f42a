//! A use whose type is not its definition's: both types, and the field that differs.

use super::Parser;
use crate::sink::shown;
use crate::types::{FIELDS, Field, Fields, Piece};
use tessera_ir::{Type, TypeId, ValueId};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::tile::Tile;

impl Parser<'_> {
    pub(super) fn mismatch(&mut self, value: ValueId, written: TypeId, span: Span) {
        let def = self.func.value(value);
        let (known, def_span, def_type_span) = (def.ty, def.span, def.type_span);
        let name = shown(self.module.names.text(def.name));
        let mut marked = span;
        let (here, there) = (self.type_text(written), self.type_text(known));
        let mut what = format!("%{name} is {here} here and {there} where it is defined");
        if let (Type::Tile(a), Type::Tile(b)) = (self.module.types.get(written), self.module.types.get(known)) {
            let (a, b) = (a.resolve(self.profile()), b.resolve(self.profile()));
            if let Some((field, differs)) = difference(&a, &b) {
                let mut fields = Fields::default();
                let piece = Piece { text: self.slice(span), start: span.start };
                if self.type_of(piece, &mut fields).is_ok() {
                    marked = fields.get(field).unwrap_or(span);
                }
                what = format!("{what}: {differs}");
            }
        }
        let other = if self.slice(def_type_span).is_empty() { def_span } else { def_type_span };
        self.push(
            Diagnostic::error("type-mismatch", what)
                .at(marked, "differs")
                .and_at(other, "defined with this type")
                .help("write the type of the definition"),
        );
    }
}

/// The first field in which two tiles differ, and what it is here and there.
fn difference(a: &Tile, b: &Tile) -> Option<(Field, String)> {
    let unboxed = !a.is_boxed() && !b.is_boxed();
    FIELDS.into_iter().find_map(|(field, key)| {
        let text = |t: &Tile| match field {
            Field::Loc => t.loc.to_string(),
            Field::Elem => t.elem.to_string(),
            Field::Rows => t.rows.to_string(),
            Field::Cols => t.cols.to_string(),
            Field::ValidRow => t.v_row.to_string(),
            Field::ValidCol => t.v_col.to_string(),
            Field::BLayout => t.blayout.to_string(),
            Field::SLayout => t.slayout.to_string(),
            Field::Fractal if unboxed => String::new(),
            Field::Fractal => t.fractal.to_string(),
            Field::Pad => crate::print::pad_text(&t.pad),
            Field::Compact => t.compact.to_string(),
        };
        let (here, there) = (text(a), text(b));
        (here != there).then(|| (field, format!("{key} is {here} here, {there} there")))
    })
}
