//! Modules, functions, listings and blocks.

use super::{DIALECT, Printer, has_ids};
use tessera_ir::{BlockId, Func};
use tessera_isa::profile::Profile;

impl<'a> Printer<'a> {
    pub(super) fn module(&mut self) {
        self.type_aliases();
        if self.module.has_wrapper {
            let (start, _) = self.trivia.wrapper.unwrap_or_default();
            self.lead(start).text("module");
            if let Some((_, name)) = self.module.attrs.iter().find(|(key, _)| key == "sym_name") {
                let known = self.module.names.find(name.trim_matches('"'));
                let name = known.map_or("module", |id| self.module.names.text(id));
                self.text(" ").symbol(name);
            }
            self.module_attrs();
            let first = self.module.funcs.first().map_or(u32::MAX, |f| f.span.start);
            self.text(" {").end_line(first);
            self.indent += 1;
        }
        for (n, func) in self.module.funcs.iter().enumerate() {
            self.func = func;
            self.has_ids = has_ids(func);
            self.func_index = n;
            if self.module.is_listing {
                self.block(func.body);
            } else {
                let next = self.module.funcs.get(n + 1).map(|f| f.span.start);
                let end = self.trivia.wrapper.map(|(_, end)| end);
                self.function(func, next.or(end).unwrap_or(u32::MAX));
            }
        }
        if self.module.has_wrapper {
            let (_, end) = self.trivia.wrapper.unwrap_or_default();
            self.close_block(end);
            let loc = self.module.loc;
            self.text("}").loc(loc).end_line(u32::MAX);
        }
        self.lead(u32::MAX);
    }

    fn type_aliases(&mut self) {
        let first = self.module.funcs.first();
        let body = first.and_then(|f| f.block(f.body).ops.first().map(|op| f.op(*op).span.start));
        let start = match self.trivia.wrapper {
            Some((start, _)) => start,
            None if self.module.is_listing => body.unwrap_or(u32::MAX),
            None => first.map_or(u32::MAX, |f| f.span.start),
        };
        let aliases = &self.trivia.type_aliases;
        for (n, (name, id, span)) in aliases.iter().enumerate() {
            // An alias between functions moves up; the comments around it stay.
            let above = span.start < start;
            if above {
                self.lead(span.start);
            }
            write!(self, "!{name} = ");
            self.write_type(*id);
            let next = aliases.get(n + 1).map_or(start, |(_, _, s)| s.start.min(start));
            self.end_line(if above { next } else { 0 });
        }
    }

    fn module_attrs(&mut self) {
        let version = (DIALECT.to_string(), format!("\"{}\"", self.dialect));
        let added = (!self.is_stated && self.must_state()).then_some(&version);
        let others = self.module.attrs.iter().filter(|(key, _)| key != "sym_name");
        let attrs: Vec<_> = others.map(|attr| if attr.0 == DIALECT { &version } else { attr }).chain(added).collect();
        // A device name says the profile too, as long as it is the same one.
        let says = |key: &str, value: &str| match key {
            "pto.target_arch" => true,
            "pto.device-spec" | "pto.device_spec" => {
                Profile::parse(value.trim_matches('"')) == self.module.target.map(|(profile, _)| profile)
            }
            _ => false,
        };
        let target = self.module.target.filter(|_| !attrs.iter().any(|(key, value)| says(key, value)));
        if target.is_none() && attrs.is_empty() {
            return;
        }
        self.text(" attributes {");
        if let Some((profile, _)) = target {
            write!(self, "pto.target_arch = \"{profile}\"").text(if attrs.is_empty() { "" } else { ", " });
        }
        self.list(attrs, |p, (key, value): &(String, String)| p.attr(key, value)).text("}");
    }

    fn function(&mut self, func: &'a Func, next: u32) {
        let inner = |key: &str| func.attrs.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        self.lead(func.span.start).margin().text("func.func ");
        if let Some(word) = inner("sym_visibility") {
            write!(self, "{} ", word.trim_matches('"'));
        }
        let attrs = |key: String| inner(&key).map_or_else(String::new, |attrs| format!(" {attrs}"));
        self.symbol(self.module.names.text(func.name)).text("(");
        self.list(func.args.iter().enumerate(), |p, (n, arg)| {
            p.name(*arg).text(": ").type_of(*arg).text(&attrs(format!("%{n}"))).loc(func.arg_loc(*arg))
        });
        self.text(")");
        if !func.results.is_empty() {
            let attributed = func.attrs.iter().any(|(key, _)| key.starts_with("->"));
            let parens = func.results.len() > 1 || attributed;
            self.text(if parens { " -> (" } else { " -> " });
            self.list(func.results.iter().enumerate(), |p, (n, id)| p.ty(*id).text(&attrs(format!("->{n}"))));
            self.text(if parens { ")" } else { "" });
        }
        self.function_attrs(func);
        if func.is_declaration {
            self.loc(func.loc).end_line(next);
            return;
        }
        let end = self.block_end(func.body);
        self.text(" {").end_line(func.block(func.body).ops.first().map_or(end, |op| func.op(*op).span.start));
        self.indent += 1;
        self.block(func.body);
        self.close_block(end);
        self.margin().text("}").loc(func.loc).end_line(next);
    }

    fn function_attrs(&mut self, func: &Func) {
        let shown = |(key, _): &&(String, String)| !key.starts_with(['%', '-']) && key != "sym_visibility";
        let others = func.attrs.iter().filter(shown).map(|(k, v)| (k.as_str(), v.as_str()));
        let mut all = func.is_entry.then_some(("pto.entry", "")).into_iter().chain(others).peekable();
        if all.peek().is_some() {
            self.text(" attributes {").list(all, |p, (key, value)| p.attr(key, value)).text("}");
        }
    }

    pub(super) fn block_end(&self, block: BlockId) -> u32 {
        let ends = self.trivia.block_ends.get(self.func_index);
        let end = ends.and_then(|e| e.get(block.index())).copied();
        end.unwrap_or(0)
    }

    /// Comments at the end of a block, and one level up.
    pub(super) fn close_block(&mut self, end: u32) {
        while let Some(comment) = self.trivia.comments.get(self.comment) {
            if comment.span.start >= end {
                break;
            }
            // `lead` would also print a blank line before the brace.
            self.lead(comment.span.start + 1);
        }
        self.indent = self.indent.saturating_sub(1);
    }

    pub(super) fn block(&mut self, block: BlockId) {
        let ops = &self.func.block(block).ops;
        let end = if self.module.is_listing && block == self.func.body { u32::MAX } else { self.block_end(block) };
        for (n, id) in ops.iter().enumerate() {
            let op = self.func.op(*id);
            // The label of its block says it.
            if op.is_scope_argument() {
                continue;
            }
            let next = ops.get(n + 1).map_or(end, |id| self.func.op(*id).span.start);
            self.lead(op.span.start).margin().op(op);
            self.regions(op);
            self.tail(op);
            self.end_line(next);
        }
    }
}
