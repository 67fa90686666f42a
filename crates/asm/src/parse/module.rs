//! Files: modules with functions, or a listing (syntax.md 1).

use super::attr::{Attr, Entry};
use super::region::BlockArg;
use super::{Parser, Res, Types};
use crate::lex::Tok;
use crate::sink::{did_you_mean, shown};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tessera_ir::cores::{KERNEL_KIND, kind_of};
use tessera_ir::{BlockId, Def, Func, NameId, OpKind};
use tessera_isa::diag::{Diagnostic, Span};
use tessera_isa::ops::AttrName;
use tessera_isa::profile::Profile;

#[derive(Default)]
struct Head {
    name: Span,
    visibility: Option<&'static str>,
    args: SmallVec<[BlockArg; 4]>,
    results: Types,
    entries: Vec<Entry>,
    /// Attributes of arguments and results, as written.
    inner: Vec<(String, String)>,
}

/// Whether an attribute of an inner module holds for its functions (isa/structure.md 3). The target is the whole
/// file's.
fn is_inherited(key: &str) -> bool {
    key.starts_with("pto.") && !matches!(key, "pto.target_arch" | "pto.device-spec" | "pto.device_spec" | "pto.dialect")
}

impl Parser<'_> {
    pub fn file(&mut self) {
        let mut listing_at: Option<Span> = None;
        let mut is_module = false;
        while !self.at(Tok::Eof) && !self.sink.is_full() {
            if self.eat(Tok::End) {
                continue;
            }
            if self.at_alias() {
                self.statement_or_skip();
            } else if self.at_module_op() {
                self.lex.listing = false;
                is_module = true;
                if let Some(first) = listing_at {
                    self.mixed(self.tok.span, first);
                    self.give_up();
                    break;
                }
                self.top();
            } else if self.at(Tok::RBrace) {
                // A broken function may have one too many.
                if !(is_module && self.sink.has_errors()) {
                    let _: Res<()> =
                        self.fail("syntax-expected", self.tok.span, "this `}` closes nothing", "remove it");
                }
                self.bump();
            } else if is_module {
                let at = self.tok.span;
                self.stray(|p| p.mixed(at, at));
            } else {
                listing_at.get_or_insert(self.tok.span);
                self.statement_or_skip();
            }
        }
        if !is_module {
            if listing_at.is_none() && !self.sink.has_errors() {
                let what = "the text has no operation and says no program";
                let help = "write an instruction, or a module with a function";
                let _: Res<()> = self.fail("syntax-expected", Span::default(), what, help);
            }
            self.finish_listing();
        }
        let whole = kind_of(&self.module.attrs);
        for func in &mut self.module.funcs {
            func.core = kind_of(&func.attrs).or(whole);
        }
        self.close_locs();
        self.finish_dialect();
    }

    fn mixed(&mut self, at: Span, listing: Span) {
        self.push(
            Diagnostic::error("syntax-mixed", "the text has a module and statements outside of it")
                .at(at, "")
                .and_at(listing, "a listing's statement")
                .help("move the statements into a function, or remove the module"),
        );
    }

    /// Text between functions. It is reported, unless a broken function is the reason, and belongs to the previous
    /// function.
    fn stray(&mut self, tell: impl FnOnce(&mut Self)) {
        if !self.sink.has_errors() {
            tell(self);
        }
        self.bump();
        while !self.at(Tok::Eof) && !self.at(Tok::RBrace) && !self.at_next_function() {
            self.bump();
        }
        if let Some((_, span)) = self.extents.last_mut() {
            span.end = self.tok.span.start;
        }
    }

    pub(super) fn at_alias(&mut self) -> bool {
        matches!(self.tok.kind, Tok::Bang | Tok::Hash) && self.second().kind == Tok::Equal
    }

    pub(super) fn at_module_op(&self) -> bool {
        match self.tok.kind {
            Tok::Word => matches!(self.here(), "module" | "func.func" | "builtin.module"),
            Tok::Str => matches!(self.here(), "\"builtin.module\"" | "\"func.func\""),
            _ => false,
        }
    }

    /// A module or function; after a broken head everything up to the next one is skipped.
    fn top(&mut self) {
        let start = self.tok.span;
        let is_function = self.here().contains("func.func");
        self.name = None;
        self.or_skip(|p| match (p.tok.kind, p.here()) {
            (Tok::Word, "func.func") => p.function(),
            (Tok::Word, _) => p.module_op(),
            (_, "\"func.func\"") => p.generic_function(),
            _ => p.generic_module(),
        });
        if is_function {
            let end = if self.stopped { self.text.len() as u32 } else { self.tok.span.start };
            self.extents.push((self.name.take(), Span::new(start.start, end.max(start.end))));
        }
    }

    /// `module [@name] [attributes {…}] { … }`.
    fn module_op(&mut self) -> Res<()> {
        let start = self.bump().span;
        let outer = self.inherited.len();
        let is_inner = self.module.has_wrapper;
        if self.at(Tok::At) {
            let name = self.bump().span;
            let name = self.name_of(name);
            let text = format!("\"{}\"", self.module.names.text(name));
            if !is_inner {
                self.module.attrs.push(("sym_name".into(), text));
            }
        }
        if self.eat_word("attributes") {
            self.need(Tok::LBrace, "`{`")?;
            let (inner, entries) = self.dictionary()?.into_iter().partition(|e| is_inner && is_inherited(&e.key));
            self.module_attrs(entries);
            let inner: Vec<Entry> = inner;
            for entry in inner {
                self.inherited.push((entry.key.clone(), self.value_text(&entry)));
            }
        }
        self.need(Tok::LBrace, "`{`")?;
        let before = std::mem::replace(&mut self.module_start, self.module.funcs.len());
        self.renamed.push(FxHashMap::default());
        let body = self.module_body(start);
        self.rename_calls();
        self.module_start = before;
        self.inherited.truncate(outer);
        body?;
        let loc = self.optional_location()?;
        self.module.loc = loc;
        Ok(())
    }

    /// Calls and peers in a module mean its own functions first.
    fn rename_calls(&mut self) {
        let renamed = self.renamed.pop().unwrap_or_default();
        if renamed.is_empty() {
            return;
        }
        let names = &self.module.names;
        for op in self.module.funcs.iter_mut().skip(self.module_start).flat_map(|f| &mut f.ops) {
            if let OpKind::Call(name) = &mut op.kind {
                *name = renamed.get(name).copied().unwrap_or(*name);
            }
            let Some(attrs) = op.attrs.as_deref_mut() else { continue };
            for (_, text) in attrs.names.iter_mut().filter(|(key, _)| *key == AttrName::PeerFunc) {
                let known = names.find(text.trim_start_matches('@').trim_matches('"'));
                if let Some(own) = known.and_then(|name| renamed.get(&name)) {
                    *text = format!("@{}", names.text(*own));
                }
            }
        }
    }

    /// The name of a function: one that another module has gets a number.
    fn own_name(&mut self, name: NameId) -> NameId {
        let is_own = self.module.funcs.iter().skip(self.module_start).any(|f| f.name == name);
        if !self.functions.contains_key(&name) || is_own || self.renamed.len() < 2 {
            return name;
        }
        let text = self.module.names.text(name).to_string();
        let mut n = 2;
        let own = loop {
            let own = self.module.names.intern(&format!("{text}_{n}"));
            if !self.functions.contains_key(&own) {
                break own;
            }
            n += 1;
        };
        if let Some(renamed) = self.renamed.last_mut() {
            renamed.insert(name, own);
        }
        own
    }

    fn module_body(&mut self, start: Span) -> Res<()> {
        self.module.has_wrapper = true;
        let wrapper = self.trivia.wrapper.get_or_insert((start.start, 0));
        let outer = wrapper.0;
        let open = self.tok.span;
        self.enter(open)?;
        self.bump();
        if self.at(Tok::Caret) {
            self.label()?;
        }
        while !self.at(Tok::RBrace) && !self.at(Tok::Eof) && !self.sink.is_full() {
            if self.eat(Tok::End) {
            } else if self.at_module_op() {
                self.top();
            } else if self.at_alias() {
                self.statement_or_skip();
            } else {
                let (brackets, braces) = (self.lex.depth, self.lex.braces);
                self.stray(|p| {
                    let text = format!("a module has functions, and {} is written", p.found());
                    let _: Res<()> = p.fail("syntax-mixed", p.tok.span, text, "put it into a function");
                });
                (self.lex.depth, self.lex.braces) = (brackets, braces);
            }
        }
        if self.sink.is_full() {
            self.give_up();
        }
        self.trivia.wrapper = Some((outer, self.tok.span.start));
        self.close(Tok::RBrace, open)?;
        self.leave();
        Ok(())
    }

    /// `"builtin.module"() <{…}> ({ … }) {…} : () -> ()`.
    fn generic_module(&mut self) -> Res<()> {
        let start = self.tok.span;
        let mut g = self.generic_head()?;
        self.module_attrs(std::mem::take(&mut g.entries));
        let open = self.expect(Tok::LParen, "`({`")?.span;
        self.need(Tok::LBrace, "`{`")?;
        self.module_body(start)?;
        self.close(Tok::RParen, open)?;
        self.generic_tail(&mut g)?;
        self.module_attrs(g.entries);
        Ok(())
    }

    /// A word that is no kind of core marks nothing.
    fn is_kind(&mut self, entry: &Entry) {
        let attr = (entry.key.clone(), self.value_text(entry));
        if entry.key != KERNEL_KIND || kind_of(std::slice::from_ref(&attr)).is_some() {
            return;
        }
        let what = format!("{} is no kind of core, and marks nothing", shown(&attr.1));
        let warning = Diagnostic::warning("unknown-attribute", what).at(entry.value_span, "without effect");
        self.push(warning.help("write #pto.kernel_kind<cube> or #pto.kernel_kind<vector>"));
    }

    fn module_attrs(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.is_kind(&entry);
            let value = self.value_text(&entry);
            match (entry.key.as_str(), &entry.value) {
                ("sym_name", Attr::Str(text)) => {
                    self.module.names.intern(text);
                    self.module.attrs.push((entry.key, value));
                }
                ("pto.target_arch" | "pto.device-spec" | "pto.device_spec", Attr::Str(text)) => {
                    let Some(profile) = Profile::parse(text) else {
                        self.unknown_profile(text, entry.value_span);
                        continue;
                    };
                    if self.module.target.is_none() || entry.key == "pto.target_arch" {
                        self.module.target = Some((profile, entry.value_span));
                    }
                    if entry.key != "pto.target_arch" || text != profile.name() {
                        self.module.attrs.push((entry.key, value));
                    }
                }
                ("pto.dialect", Attr::Str(text)) => {
                    if self.given_dialect.is_none() && self.stated.is_none() {
                        self.state_dialect(text, Some(entry.value_span));
                    }
                    self.module.attrs.push((entry.key, value));
                }
                ("pto.dialect", _) => {
                    let text = format!("pto.dialect is a string, and {} is written", shown(&value));
                    let _: Res<()> = self.fail("syntax-attribute", entry.value_span, text, "write \"0.60\"");
                }
                ("pto.level", Attr::Int(level @ 1..=3, _)) => {
                    self.module.level = Some(*level as u8);
                    self.module.attrs.push((entry.key, value));
                }
                ("pto.level", _) => {
                    let text = format!("pto.level is 1, 2 or 3, and {} is written", shown(&value));
                    let _: Res<()> = self.fail("syntax-attribute", entry.value_span, text, "write pto.level = 3");
                }
                ("pto.target_arch", _) => {
                    let text = format!("pto.target_arch is a string, and {} is written", shown(&value));
                    let _: Res<()> = self.fail("syntax-attribute", entry.value_span, text, "write \"a5\"");
                }
                _ => self.module.attrs.push((entry.key, value)),
            }
        }
    }

    fn unknown_profile(&mut self, text: &str, span: Span) {
        let help = did_you_mean(text, Profile::spellings(), || {
            format!("profiles are {}", Profile::spellings().collect::<Vec<_>>().join(", "))
        });
        let what = format!("there is no profile {}", shown(text));
        let _: Res<()> = self.fail_at("unknown-profile", (span, "unknown"), what, help);
    }

    /// `func.func [private] @name(%a: T, …) [-> T] [attributes {…}] { … }`.
    fn function(&mut self) -> Res<()> {
        let start = self.bump().span;
        let mut head = Head::default();
        for word in ["private", "public", "nested"] {
            if self.eat_word(word) {
                head.visibility = Some(word);
            }
        }
        head.name = self.expect(Tok::At, "`@name`")?.span;
        self.parameters(&mut head)?;
        if self.eat(Tok::Arrow) {
            self.function_results(&mut head)?;
        }
        if self.eat_word("attributes") {
            self.need(Tok::LBrace, "`{`")?;
            head.entries = self.dictionary()?;
        }
        let span = start.to(self.prev);
        self.begin_function(&head, span);
        if self.at(Tok::LBrace) {
            self.body(&head, span)?;
        } else {
            self.func.is_declaration = true;
        }
        self.func.loc = self.optional_location()?;
        self.end_function();
        Ok(())
    }

    fn parameters(&mut self, head: &mut Head) -> Res<()> {
        let open = self.expect(Tok::LParen, "`(` and the arguments")?.span;
        self.items(open, Tok::RParen, |p| {
            let n = head.args.len();
            let span = p.tok.span;
            if p.eat(Tok::Percent) {
                let name = p.name_of(span);
                p.expect(Tok::Colon, "`:` and the argument's type")?;
                head.args.push((name, span, p.ty()?, None));
            } else {
                // A declaration may name only types.
                let ty = p.ty()?;
                head.args.push((p.module.names.intern(&format!("arg{n}")), span, ty, None));
            }
            p.inner_attrs(head, format!("%{n}"))?;
            let loc = p.optional_location()?;
            if let Some(arg) = head.args.last_mut() {
                arg.3 = loc;
            }
            Ok(())
        })
    }

    fn inner_attrs(&mut self, head: &mut Head, key: String) -> Res<()> {
        if self.at(Tok::LBrace) {
            let at = self.tok.span;
            self.dictionary()?;
            head.inner.push((key, self.expand(self.slice(at.to(self.prev)))));
        }
        Ok(())
    }

    fn function_results(&mut self, head: &mut Head) -> Res<()> {
        if !self.at(Tok::LParen) {
            head.results.push(self.ty()?);
            return Ok(());
        }
        let open = self.bump().span;
        self.items(open, Tok::RParen, |p| {
            let n = head.results.len();
            head.results.push(p.ty()?);
            p.inner_attrs(head, format!("->{n}"))
        })
    }

    /// Starts the function of a head: name, arguments and attributes.
    fn begin_function(&mut self, head: &Head, span: Span) {
        let name = self.name_of(head.name);
        let name = self.own_name(name);
        self.name = Some(name);
        if let Some(first) = self.functions.insert(name, span) {
            let text = format!("@{} is defined twice", shown(self.module.names.text(name)));
            let _: Res<()> = self.redefined(text, head.name, first);
        }
        self.func = Func::new(name, span);
        if self.module.funcs.is_empty() {
            self.func.reserve(super::statements(self.text));
        }
        self.block = BlockId(0);
        self.block_ends = vec![0];
        self.broken.clear();
        (self.blocks_told, self.open_region) = (false, false);
        self.scope.clear();
        self.func.results = head.results.iter().map(|(id, _)| *id).collect();
        if let Some(word) = head.visibility.filter(|w| *w != "public") {
            self.func.attrs.push(("sym_visibility".into(), format!("\"{word}\"")));
        }
        for entry in &head.entries {
            match (entry.key.as_str(), &entry.value) {
                ("pto.entry" | "pto.kernel", Attr::Unit | Attr::Bool(true)) => self.func.is_entry = true,
                ("pto.entry" | "pto.kernel", Attr::Bool(false)) => {}
                (key, _) => {
                    self.is_kind(entry);
                    let is_known = matches!(key, "sym_visibility" | "loop_depth" | "postupdate" | "tail");
                    if !key.contains('.') && !is_known {
                        let what = format!("a function does not know the attribute {}, which is kept", shown(key));
                        self.push(
                            Diagnostic::warning("unknown-attribute", what)
                                .at(entry.key_span, "without effect")
                                .help("the entry is marked pto.entry"),
                        );
                    }
                    self.func.attrs.push((entry.key.clone(), self.value_text(entry)));
                }
            }
        }
        let own = |(key, _): &&(String, String)| !head.entries.iter().any(|entry| entry.key == *key);
        self.func.attrs.extend(self.inherited.iter().filter(own).cloned());
        self.func.attrs.extend(head.inner.iter().cloned());
        for (n, (name, at, ty, loc)) in head.args.iter().enumerate() {
            if self.module.types.get(ty.0).slots().is_some() {
                let text = format!("%{} is a multi-buffer tile, which is no argument", self.module.names.text(*name));
                let help = "allocate it in the function, or hand a tile of it on";
                let _: Res<()> = self.fail("tile-multi", ty.1, text, help);
            }
            let value = self.define(*name, *ty, Def::Arg(n as u32), *at);
            self.func.arg_locs.extend(loc.map(|loc| (value, loc)));
            self.func.args.push(value);
        }
    }

    fn body(&mut self, head: &Head, span: Span) -> Res<()> {
        let open = self.tok.span;
        self.enter(open)?;
        self.bump();
        self.statements();
        self.end_block(BlockId(0));
        let closed = self.close(Tok::RBrace, open);
        self.leave();
        if closed.is_ok() {
            let _ = self.check_yield(BlockId(0), &OpKind::Return, &head.results, span);
        }
        closed.map(|_| ())
    }

    pub(super) fn end_function(&mut self) {
        self.name_spliced();
        let placeholder = Func::new(self.func.name, Span::default());
        self.module.funcs.push(std::mem::replace(&mut self.func, placeholder));
        self.trivia.block_ends.push(std::mem::take(&mut self.block_ends));
        self.block_ends = vec![0];
    }

    /// `"func.func"() <{function_type = …, sym_name = "f"}> ({ ^bb0(…): … }) {…} : () -> ()`.
    fn generic_function(&mut self) -> Res<()> {
        let start = self.tok.span;
        let mut g = self.generic_head()?;
        let mut head = Head::default();
        let Some(Attr::Function(ins, outs)) = g.take("function_type").map(|e| e.value) else {
            let text = "the function has no function_type";
            let help = "add <{function_type = (T) -> (), sym_name = \"f\"}>";
            return self.fail("syntax-attribute", start, text, help);
        };
        let Some(name) = g.take("sym_name") else {
            return self.fail("syntax-attribute", start, "the function has no sym_name", "add sym_name = \"f\"");
        };
        head.name = name.value_span;
        head.results = outs;
        head.entries = std::mem::take(&mut g.entries);
        let span = start.to(self.prev);
        let open = self.expect(Tok::LParen, "`({`")?.span;
        let brace = self.tok.span;
        self.expect(Tok::LBrace, "`{`")?;
        self.enter(brace)?;
        if self.at(Tok::Caret) {
            head.args = self.label()?;
        }
        let declared = self.at(Tok::RBrace);
        if declared {
            let names = &mut self.module.names;
            let args = ins.iter().enumerate();
            head.args.extend(args.map(|(n, ty)| (names.intern(&format!("arg{n}")), ty.1, *ty, None)));
        }
        self.begin_function(&head, span);
        self.func.is_declaration = declared;
        self.check_parameters(&head, &ins, start)?;
        self.statements();
        self.end_block(BlockId(0));
        self.close(Tok::RBrace, brace)?;
        self.leave();
        if !declared {
            let _ = self.check_yield(BlockId(0), &OpKind::Return, &head.results, span);
        }
        self.close(Tok::RParen, open)?;
        self.generic_tail(&mut g)?;
        for entry in g.entries {
            match (entry.key.as_str(), &entry.value) {
                ("pto.entry", Attr::Unit | Attr::Bool(true)) => self.func.is_entry = true,
                _ => {
                    let text = self.value_text(&entry);
                    self.func.attrs.push((entry.key, text));
                }
            }
        }
        self.end_function();
        Ok(())
    }

    fn check_parameters(&mut self, head: &Head, types: &Types, at: Span) -> Res<()> {
        if head.args.iter().map(|(_, _, ty, _)| ty.0).eq(types.iter().map(|ty| ty.0)) {
            return Ok(());
        }
        let (wanted, written) = (types.len(), head.args.len());
        let text =
            format!("function_type lists {wanted} arguments, and the body's label {written} (their types must agree)");
        self.fail("type-mismatch", at, text, "write the types of function_type behind ^bb0")
    }
}
