//! Completion: instructions, operands that fit, types, attributes and their words.

use crate::Pages;
use crate::context::{Context, Open};
use crate::snapshot::Snapshot;
use crate::symbols::type_of;
use gen_lsp_types as lsp;
use std::collections::HashSet;
use tessera_asm::{print_type, vocabulary};
use tessera_ir::{BlockId, Def, Func, TextForm, Type, ValueId};
use tessera_isa::diag::Span;
use tessera_isa::ops::{AttrKind, Kind, Opcode, Pipe, Role, Text};

/// Everything that could be written at a place.
pub fn complete(snapshot: &Snapshot, at: u32, snippets: bool, pages: &dyn Pages) -> lsp::CompletionResponse {
    let mut items = Items { snapshot, span: Span::default(), list: Vec::new() };
    if !snapshot.tokens().in_comment(at) {
        let context = Context::new(snapshot, at);
        items.span = context.word_span;
        items.fill(&context, at, snippets, pages);
    }
    lsp::CompletionList { is_incomplete: false, items: items.list, ..Default::default() }.into()
}

/// The page of an item that is looked at.
pub fn resolve(mut item: lsp::CompletionItem, pages: &dyn Pages) -> lsp::CompletionItem {
    let name = item.data.as_ref().and_then(|data| data.as_str()).map(String::from);
    if let Some(page) = name.and_then(|name| pages.explain(&name)) {
        let value = format!("```text\n{}\n```", page.trim_end());
        item.documentation = Some(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value }.into());
    }
    item
}

struct Items<'a> {
    snapshot: &'a Snapshot,
    /// The range that is replaced.
    span: Span,
    list: Vec<lsp::CompletionItem>,
}

impl Items<'_> {
    fn add(&mut self, label: impl Into<String>, kind: lsp::CompletionItemKind) -> Option<&mut lsp::CompletionItem> {
        let label = label.into();
        let range = self.snapshot.text.range(self.span);
        let edit = lsp::TextEdit { range, new_text: label.clone() };
        self.list.push(lsp::CompletionItem {
            label,
            kind: Some(kind),
            text_edit: Some(edit.into()),
            ..Default::default()
        });
        self.list.last_mut()
    }

    /// A word that has a page.
    fn word(&mut self, label: impl Into<String>, kind: lsp::CompletionItemKind, page: &str) {
        if let Some(item) = self.add(label, kind) {
            item.data = Some(page.into());
        }
    }

    fn fill(&mut self, context: &Context<'_>, at: u32, snippets: bool, pages: &dyn Pages) {
        match context.word.chars().next() {
            Some('%') => return self.values(context, at),
            Some('@') => return self.functions(),
            Some('!') => return self.types(),
            _ => {}
        }
        match context.open {
            Some((Open::Type, name)) => self.fields(context, name),
            Some((Open::Angle, _)) => self.words(context),
            Some((Open::Braces, _)) if context.opcode().is_some() => self.attributes(context),
            Some((Open::Braces, "attributes")) => self.marks(context),
            _ if context.at_start => self.operations(context.is_first, snippets, pages),
            _ if context.after_colon => self.types(),
            Some((Open::Round(_), _)) | None => self.values(context, at),
            Some((Open::Braces, _)) => {}
        }
    }

    /// Instructions and what else a statement starts with: what the profile has first, then what the text uses
    /// already, then short names, and of equal ones moves before arithmetic.
    fn operations(&mut self, is_first: bool, snippets: bool, pages: &dyn Pages) {
        let form = usual_form(self.snapshot);
        let (profiles, _) = self.snapshot.profiles();
        // While an instruction is written, its function may be unreadable.
        let read = [Some(self.snapshot), self.snapshot.good.as_deref()].into_iter().flatten();
        let ops = read.flat_map(|s| &s.program.module().funcs).flat_map(|f| &f.ops);
        let used: HashSet<Opcode> = ops.filter_map(|op| op.opcode()).collect();
        for name in vocabulary::operations() {
            let bare = name.strip_prefix("pto.").unwrap_or(&name);
            let Some(op) = Opcode::parse(bare).filter(|_| name != bare) else {
                self.word(name.clone(), lsp::CompletionItemKind::Keyword, bare);
                // Behind the instructions.
                if let Some(item) = self.list.last_mut() {
                    item.sort_text = Some(format!("3{name}"));
                }
                continue;
            };
            let label = if form == TextForm::Asm { bare.to_string() } else { name.clone() };
            let has_forms = op.info().text == Text::Forms && bare == op.mnemonic();
            let text = if snippets && has_forms { snippet(op, form, &label, is_first, pages) } else { None };
            if let Some(item) = self.add(label, lsp::CompletionItemKind::Function) {
                item.detail = Some(op.info().summary.into());
                let info = op.info();
                let has = info.sigs.is_empty() || info.sigs.iter().any(|s| profiles.iter().any(|p| s.on.has(*p)));
                let rank = if !has { 2 } else { u8::from(!used.contains(&op)) };
                item.sort_text = Some(format!("{rank}{:02}{}{bare}", bare.len(), info.family as u8));
                item.data = Some(op.mnemonic().into());
                if let (Some(text), Some(lsp::CompletionItemTextEdit::TextEdit(edit))) = (text, &mut item.text_edit) {
                    edit.new_text = text;
                    item.insert_text_format = Some(lsp::InsertTextFormat::Snippet);
                }
            }
        }
    }

    fn functions(&mut self) {
        let module = self.snapshot.program.module();
        for (name, _) in self.snapshot.program.extents() {
            if let Some(name) = name {
                self.add(format!("@{}", module.names.text(*name)), lsp::CompletionItemKind::Function);
            }
        }
    }

    fn types(&mut self) {
        for name in vocabulary::types() {
            self.word(name, lsp::CompletionItemKind::Class, name.trim_start_matches("!pto."));
        }
        let mut seen = HashSet::new();
        let module = self.snapshot.program.module();
        // An instruction that the program uses already is likely to be used again.
        let used = module.funcs.iter().flat_map(|func| &func.values).take(2000);
        let used = used.filter(|v| module.types.contains(v.ty) && seen.insert(v.ty)).map(|v| module.types.get(v.ty));
        for ty in used.filter(|ty| matches!(ty, Type::Tile(_) | Type::View(_))) {
            if let Some(item) = self.add(print_type(ty), lsp::CompletionItemKind::Struct) {
                item.sort_text = Some(format!("~{}", item.label));
            }
        }
        for (alias, id, _) in &self.snapshot.program.trivia().type_aliases {
            let detail = print_type(module.types.get(*id));
            if let Some(item) = self.add(format!("!{alias}"), lsp::CompletionItemKind::Struct) {
                item.detail = Some(detail);
            }
        }
    }

    /// Inside a type: the fields of a tile and their words.
    fn fields(&mut self, context: &Context<'_>, name: &str) {
        let is_tile = name.ends_with("tile") || name.ends_with("tile_buf");
        for (key, words) in vocabulary::tile_fields() {
            let asked = context.key == Some(key);
            let first = context.key.is_none() && context.commas == 0 && key == "loc";
            let second = context.key.is_none() && context.commas < 2 && key == "dtype";
            let member = lsp::CompletionItemKind::EnumMember;
            if asked || first && is_tile || second {
                words.into_iter().for_each(|word| self.word(word, member, word));
            }
            if context.key.is_none() && is_tile {
                self.word(format!("{key}="), lsp::CompletionItemKind::Field, "types");
            }
        }
    }

    /// Inside `<…>` of an instruction: pipes and events; of an attribute: its words.
    fn words(&mut self, context: &Context<'_>) {
        let member = lsp::CompletionItemKind::EnumMember;
        if context.opcode().is_some_and(|op| op.order().is_some()) {
            Pipe::ALL.iter().for_each(|pipe| self.word(pipe.cpp(), member, pipe.name()));
            (0..8).for_each(|id| self.word(format!("EVENT_ID{id}"), member, "order"));
        }
        if let Some(attribute) = context.attribute()
            && let AttrKind::Word { list, .. } = attribute.info().kind
        {
            list.iter().for_each(|word| self.word(word.name, member, attribute.name()));
        }
    }

    /// Inside `{…}`: the attributes of the instruction, or the values of one.
    fn attributes(&mut self, context: &Context<'_>) {
        let Some(op) = context.opcode() else { return };
        match context.attribute() {
            Some(attribute) => {
                let member = lsp::CompletionItemKind::EnumMember;
                match attribute.info().kind {
                    AttrKind::Word { list, spelling, .. } => {
                        list.iter().for_each(|w| self.word(spelling.spell(w.name), member, attribute.name()));
                    }
                    AttrKind::Bool => ["true", "false"].iter().for_each(|w| self.word(*w, member, attribute.name())),
                    AttrKind::Name => self.functions(),
                    AttrKind::Int(_) | AttrKind::Ints(_) | AttrKind::Number => {}
                }
            }
            None if context.key.is_none() => {
                for attribute in op.info().attrs {
                    self.word(format!("{attribute} = "), lsp::CompletionItemKind::Property, attribute.name());
                }
            }
            None => {}
        }
    }

    /// Inside `attributes {…}`: those of a module or a function, or the values of one.
    fn marks(&mut self, context: &Context<'_>) {
        let head = self.snapshot.text.slice(Span::new(context.start, context.word_span.start)).trim_end();
        let unquoted = head.strip_suffix('"');
        let before = unquoted.unwrap_or(head).trim_end().strip_suffix('=').map(str::trim_end);
        let member = lsp::CompletionItemKind::EnumMember;
        for (key, values) in vocabulary::attributes(context.mnemonic.unwrap_or_default()) {
            match before {
                Some(before) if before.ends_with(key) => values.iter().for_each(|value| {
                    let value = if unquoted.is_some() { value.trim_matches('"') } else { value };
                    self.word(value, member, key);
                }),
                Some(_) => {}
                None => {
                    let label = if values.is_empty() { key.to_string() } else { format!("{key} = ") };
                    self.word(label, lsp::CompletionItemKind::Property, key);
                }
            }
        }
    }

    /// The values that are visible and fit the operand that is written here.
    fn values(&mut self, context: &Context<'_>, at: u32) {
        let roles = roles(context);
        let good = self.snapshot.good.as_deref();
        let source = [Some(self.snapshot), good].into_iter().flatten();
        let Some((source, n)) = source.filter_map(|s| Some((s, function(s, at)?))).next() else { return };
        let module = source.program.module();
        let Some(func) = module.funcs.get(n) else { return };
        let mut seen = HashSet::new();
        for id in visible(source, n, context.start.min(at)).into_iter().rev() {
            let value = func.value(id);
            let ty = type_of(source, func, id);
            let fits = |(op, role): &(Opcode, Role)| ty.is_none_or(|ty| fits(source, *op, *role, ty));
            if !roles.is_empty() && !roles.iter().any(fits) || !seen.insert(value.name) {
                continue;
            }
            let name = format!("%{}", module.names.text(value.name));
            let place = format!("{:08}", u32::MAX - value.span.start);
            if let Some(item) = self.add(name, lsp::CompletionItemKind::Variable) {
                item.detail = ty.map(print_type);
                // The value that is defined last comes first.
                item.sort_text = Some(place);
            }
        }
    }
}

/// Whether a value of this type can be the operand of an instruction, by the table's locations.
fn fits(snapshot: &Snapshot, op: Opcode, role: Role, ty: &Type) -> bool {
    let (profiles, _) = snapshot.profiles();
    let takes = |tile: &tessera_isa::tile::TileType| {
        let sigs = op.info().sigs.iter().filter(|s| profiles.iter().any(|p| s.on.has(*p)));
        let mut sigs = sigs.peekable();
        sigs.peek().is_none() || sigs.any(|s| s.locs_of(role).is_empty() || s.locs_of(role).contains(&tile.loc))
    };
    match ty {
        Type::Tile(tile) if role.kind() == Kind::Tile && role != Role::Global => takes(tile),
        _ => ty.plays(role),
    }
}

/// The roles that the operand at the cursor may have: one for each form of the instruction.
fn roles(context: &Context<'_>) -> Vec<(Opcode, Role)> {
    let Some(op) = context.opcode() else { return Vec::new() };
    let is_out = context.open.is_some_and(|(open, _)| open == Open::Round(true));
    let bracketed =
        context.open.is_some_and(|(open, name)| matches!(open, Open::Round(false)) && name.starts_with('%'));
    let mut roles: Vec<(Opcode, Role)> = Vec::new();
    for shape in op.shapes() {
        let list = if is_out { &shape.outs } else { &shape.ins };
        let mut list = list.iter().copied().filter(|role| !bracketed || role.in_brackets());
        if let Some(role) = list.nth(context.commas)
            && !roles.contains(&(op, role))
        {
            roles.push((op, role));
        }
    }
    roles
}

/// The function of a place, by its position in the module; a listing is one.
fn function(snapshot: &Snapshot, at: u32) -> Option<usize> {
    let module = snapshot.program.module();
    if module.is_listing {
        return (!module.funcs.is_empty()).then_some(0);
    }
    let (name, _) = snapshot.program.extents().iter().find(|(_, span)| span.start <= at && at <= span.end)?;
    module.funcs.iter().position(|f| Some(f.name) == *name)
}

/// The values that are defined before a place, in regions that have not ended.
fn visible(snapshot: &Snapshot, n: usize, at: u32) -> Vec<ValueId> {
    let Some(func) = snapshot.program.module().funcs.get(n) else { return Vec::new() };
    let ends = snapshot.program.trivia().block_ends.get(n);
    let has_ended = |block: BlockId| {
        let end = ends.and_then(|ends| ends.get(block.index())).copied().unwrap_or(0);
        block != func.body && end > 0 && end < at
    };
    let blocks = home(func);
    let is_visible = |id: &ValueId| {
        let value = func.value(*id);
        let block = match value.def {
            Def::Result(op, _) => blocks.get(op.index()).copied().flatten(),
            Def::BlockArg(block, _) => Some(block),
            Def::Arg(_) | Def::Input | Def::ListingOut => None,
        };
        value.span.start < at && !block.is_some_and(has_ended)
    };
    (0..func.values.len() as u32).map(ValueId).filter(is_visible).collect()
}

/// By operation: the block that it stands in.
fn home(func: &Func) -> Vec<Option<BlockId>> {
    let mut all = vec![None; func.ops.len()];
    for (n, block) in func.blocks.iter().enumerate() {
        for op in &block.ops {
            if let Some(place) = all.get_mut(op.index()) {
                *place = Some(BlockId(n as u32));
            }
        }
    }
    all
}

/// The form that the program is mostly written in; DPS before anything is.
fn usual_form(snapshot: &Snapshot) -> TextForm {
    let module = snapshot.program.module();
    let mut counts = [(TextForm::Dps, 0), (TextForm::Asm, 0), (TextForm::Ssa, 0)];
    for op in
        module.funcs.iter().flat_map(|f| &f.ops).filter(|op| op.opcode().is_some_and(|o| !o.info().forms.is_empty()))
    {
        counts.iter_mut().filter(|(form, _)| *form == op.form).for_each(|(_, n)| *n += 1);
    }
    // Of equals the first.
    counts.into_iter().rev().max_by_key(|(_, n)| *n).map_or(TextForm::Dps, |(form, _)| form)
}

/// An instruction with places for its operands.
fn snippet(op: Opcode, form: TextForm, label: &str, with_results: bool, pages: &dyn Pages) -> Option<String> {
    let [asm, ssa, dps] = pages.examples(op).into_iter().next()?;
    let line = match form {
        TextForm::Asm => asm,
        TextForm::Ssa => ssa,
        TextForm::Dps => dps,
    };
    let (results, rest) = line.split_once(op.mnemonic())?;
    // Results that stand before the cursor are written already.
    let results = if with_results { results.trim_end_matches("pto.") } else { "" };
    let mut out = String::new();
    let mut place = 0;
    let mut rest = format!("{results}{label}{rest}").replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}");
    while let Some(at) = rest.find('%') {
        let end =
            rest[at + 1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(rest.len(), |n| at + 1 + n);
        place += 1;
        out += &format!("{}${{{place}:{}}}", &rest[..at], &rest[at..end]);
        rest = rest.split_off(end);
    }
    Some(out + &rest)
}
