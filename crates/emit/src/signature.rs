//! The function around the body: parameters, declarations that come first, inputs and outputs of a listing.

use crate::{Emitted, Emitter, cannot, words};
use std::fmt::Write;
use tessera_ir::{Def, MemrefType, Op, OpKind, Type, ValueId, ViewType};
use tessera_isa::elem::Elem;
use tessera_isa::ops::Opcode;
use tessera_isa::tile::Extent;

impl Emitter<'_> {
    /// The whole file.
    pub(crate) fn program(&mut self) -> Emitted<()> {
        if !self.func.results.is_empty() {
            return Err(cannot(self.func.span, "a kernel with results", "store what it computes to global memory"));
        }
        let profile = self.profile.name();
        let macro_name = format!("PTO_PROFILE_{}", profile.to_uppercase());
        let _ = write!(
            self.out,
            "// Made by `tessera emit --cpp` for {profile}.\n\n#ifndef {macro_name}\n#define {macro_name}\n#endif\n\
             #include <pto/pto-inst.hpp>\n\nusing namespace pto;\n\n"
        );
        let parameters = self.parameters()?;
        let name = self.names.fresh(self.module.names.text(self.func.name));
        let _ = writeln!(self.out, "AICORE void {name}({})\n{{", parameters.join(", "));
        self.depth = 1;
        self.opening()?;
        self.block(self.func.body)?;
        self.closing()?;
        self.out.push_str("}\n");
        Ok(())
    }

    fn parameters(&mut self) -> Emitted<Vec<String>> {
        let mut all = Vec::new();
        for value in self.func.args.clone() {
            let name = self.names.object(value).to_string();
            let span = self.span(value);
            let unused = if self.needed[value.index()] { "" } else { "[[maybe_unused]] " };
            match self.ty(value).clone() {
                Type::Scalar(ty) => all.push(format!("{unused}{} {name}", words::scalar_type(ty, span)?)),
                Type::Ptr(elem, _) => all.push(format!("{unused}{} *{name}", elem.cpp())),
                Type::View(ViewType { elem, dims, .. }) | Type::Memref(MemrefType { elem, dims, .. }) => {
                    all.push(format!("{} *{name}", elem.cpp()));
                    let open = dims.iter().enumerate().filter(|(_, extent)| extent.is_none());
                    all.extend(open.map(|(k, _)| format!("int64_t {name}_dim{k}")));
                }
                Type::Tile(t) => {
                    all.push(format!("const {} *{name}_in", t.elem.cpp()));
                    // The caller passes the extents that a file's shape gives in text (syntax.md 1).
                    let extents = [(t.v_row, "rows"), (t.v_col, "cols")].into_iter();
                    let open = extents.filter(|(extent, _)| *extent == Extent::Dynamic);
                    all.extend(open.map(|(_, axis)| format!("int64_t {name}_{axis}")));
                }
                Type::Conv(c) => all.push(format!("const {} *{name}_in", c.elem.cpp())),
                Type::Event | Type::Opaque(_) | Type::Micro(_) | Type::Multi(..) => {}
                // Its old contents do not count (isa/irregular.md 9).
                Type::Vector(..) => all.push(format!("[[maybe_unused]] const uint16_t *{name}_in")),
            }
        }
        for value in self.func.outputs.clone() {
            let (what, help) = match self.ty(value) {
                Type::Tile(t) => {
                    all.push(format!("{} *{}_out", t.elem.cpp(), self.names.object(value)));
                    continue;
                }
                Type::Vector(..) => {
                    all.push(format!("uint16_t *{}_out", self.names.object(value)));
                    continue;
                }
                Type::Scalar(_) => ("a scalar output of a listing", "use it, or leave it out"),
                _ => ("an output that is no tile", "store it to global memory"),
            };
            return Err(cannot(self.span(value), what, help));
        }
        for (opcode, parameter) in [(Opcode::GetBlockIdx, "block_idx"), (Opcode::GetBlockNum, "block_num")] {
            let asks = |op: &&Op| matches!(op.kind, OpKind::Pto(o, _) if o == opcode);
            let mut results = self.func.ops.iter().filter(asks).flat_map(|op| &op.results).peekable();
            if results.peek().is_some() {
                let used = results.any(|r| self.needed[r.index()]);
                all.push(format!("{}int64_t {parameter}", if used { "" } else { "[[maybe_unused]] " }));
            }
        }
        Ok(all)
    }

    /// Views of arguments, tiles that exist from the start, and tiles that are made inside control flow.
    fn opening(&mut self) -> Emitted<()> {
        for value in self.func.args.clone() {
            match self.ty(value).clone() {
                Type::View(ViewType { elem, dims, .. }) => self.argument_view(value, elem, &dims, None)?,
                Type::Memref(m) => self.argument_view(value, m.elem, &m.dims, Some(&m))?,
                Type::Tile(_) | Type::Conv(_) => self.given_tile(value)?,
                Type::Vector(..) => self.counts(value),
                _ => {}
            }
        }
        let body = self.func.body;
        for value in (0..self.func.values.len() as u32).map(ValueId) {
            let nested = match self.func.value(value).def {
                Def::Result(op, _) => !self.func.block(body).ops.contains(&op),
                Def::BlockArg(..) => true,
                _ => false,
            };
            if nested && self.owns_object(value) {
                self.declare(value)?;
                if matches!(self.func.value(value).def, Def::BlockArg(..)) {
                    self.place(value);
                }
            }
        }
        Ok(())
    }

    /// A view or memref argument as a GlobalTensor over its pointer.
    fn argument_view(
        &mut self,
        value: ValueId,
        elem: Elem,
        dims: &[Option<u64>],
        memref: Option<&MemrefType>,
    ) -> Emitted<()> {
        let span = self.span(value);
        if dims.is_empty() || dims.len() > 5 {
            return Err(cannot(span, format!("a view of {} dimensions", dims.len()), "use one to five dimensions"));
        }
        let name = self.names.object(value).to_string();
        let extent = |k: usize| match dims.get(k).copied().flatten() {
            Some(n) => n.to_string(),
            None => format!("{name}_dim{k}"),
        };
        let strided = memref.and_then(|m| m.strided.as_ref());
        let strides: Vec<String> = match strided {
            Some(s) => {
                let known: Option<Vec<String>> = s.strides.iter().map(|s| s.map(|s| s.to_string())).collect();
                known.ok_or_else(|| cannot(span, "a memref with a stride `?`", "write the strides"))?
            }
            // Dense: the product of all inner extents.
            None => (0..dims.len())
                .map(|k| {
                    let inner: Vec<String> = (k + 1..dims.len()).map(extent).collect();
                    match inner.iter().map(|n| n.parse::<u64>().ok()).collect::<Option<Vec<u64>>>() {
                        Some(ns) => ns.iter().fold(1u64, |p, n| p.saturating_mul(*n)).to_string(),
                        None => inner.join(" * "),
                    }
                })
                .collect(),
        };
        let offset = match strided.map(|s| s.offset) {
            None | Some(Some(0)) => String::new(),
            Some(Some(n)) => format!(" + {n}"),
            Some(None) => return Err(cannot(span, "a memref with an offset `?`", "write the offset")),
        };
        let shape: Vec<String> = (0..dims.len()).map(extent).collect();
        let tensor = crate::body::tensor(elem, "ND", &shape, &strides, &format!("{name}{offset}"));
        let view = self.names.fresh(&format!("{name}_view"));
        self.line(&format!("const auto {view} = {tensor};"));
        self.names.stands_for(value, view);
        Ok(())
    }

    /// An input tile of a listing, or one that it only writes: placed, sized, and given its contents.
    fn given_tile(&mut self, value: ValueId) -> Emitted<()> {
        self.declare(value)?;
        self.place(value);
        let name = self.names.object(value).to_string();
        if let Type::Tile(_) = self.ty(value) {
            self.set_dynamic(value, &format!("{name}_rows"), &format!("{name}_cols"));
            self.line(&format!("if ({name}_in != nullptr) {{"));
            self.line(&format!("    HostLoad({name}, {name}_in);"));
            self.line("}");
        } else {
            self.line(&format!("TLOAD({name}, {name}_in);"));
        }
        Ok(())
    }

    /// The outputs of a listing.
    fn closing(&mut self) -> Emitted<()> {
        for value in self.func.outputs.clone() {
            let (name, expression) = (self.names.object(value).to_string(), self.names.expression(value).to_string());
            self.line(&format!("if ({name}_out != nullptr) {{"));
            self.line(&match self.ty(value) {
                Type::Vector(..) => format!("    std::memcpy({name}_out, &{expression}, sizeof {expression});"),
                _ => format!("    HostStore({name}_out, {expression});"),
            });
            self.line("}");
        }
        Ok(())
    }
}
