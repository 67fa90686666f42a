//! Views of global memory: five extents, five strides, a layout, a pointer sum (build.md 2.4).

use crate::{Emitted, Emitter, cannot};
use tessera_ir::edges::Control;
use tessera_ir::view::{tags, tags_of_type};
use tessera_ir::{Arg, Def, MemrefType, Op, OpId, Type, ValueId, ViewType};
use tessera_isa::diag::Diagnostic;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{ViewTag, ViewTags};
use tessera_isa::ops::{Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{Loc, TileType};

/// A view: where it begins, and its numbers as C++ expressions.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub elem: Elem,
    pub data: String,
    pub shape: Vec<String>,
    pub strides: Vec<String>,
    tags: ViewTags,
    /// The objects that stand for it, by layout.
    objects: Vec<(ViewTag, String)>,
}

/// Whether an expression is a number that can be part of a type.
fn literal(text: &str) -> Option<i64> {
    text.parse().ok().filter(|n| *n != -1)
}

/// The layout where no tile decides.
fn of_any(tags: &ViewTags) -> ViewTag {
    tags.of(&TileType::new(Loc::Vec, Elem::F32, 1, 8).resolve(Profile::Cpu))
}

/// A product, as short as it can be written.
fn product(a: &str, b: &str) -> String {
    match (literal(a), literal(b)) {
        (Some(0), _) | (_, Some(0)) => "0".into(),
        (Some(1), _) => b.into(),
        (_, Some(1)) => a.into(),
        (Some(a), Some(b)) => a.saturating_mul(b).to_string(),
        _ => format!("{a} * {b}"),
    }
}

/// A pointer moved by terms.
pub(crate) fn sum(data: &str, terms: &[String]) -> String {
    let (mut known, mut text) = (0i64, String::new());
    for term in terms {
        match literal(term) {
            Some(n) => known = known.saturating_add(n),
            None => text += &format!("{}{term}", if text.is_empty() { "" } else { " + " }),
        }
    }
    match (known, text.is_empty()) {
        (0, true) => data.into(),
        (0, false) if !text.contains(' ') => format!("{data} + {text}"),
        (0, false) => format!("{data} + ({text})"),
        (n, true) => format!("{data} + {n}"),
        (n, false) => format!("{data} + ({text} + {n})"),
    }
}

/// The type of a Shape or Stride of several views: the numbers that they share are constants.
pub(crate) fn numbers_of(name: &str, all: &[&[String; 5]]) -> String {
    let shared = |k: usize| {
        let first = all.first().map_or("", |numbers| numbers[k].as_str());
        let is_shared = literal(first).is_some() && all.iter().all(|numbers| numbers[k] == first);
        if is_shared { first } else { "-1" }
    };
    format!("pto::{name}<{}>", [0, 1, 2, 3, 4].map(shared).join(", "))
}

/// The arguments of the constructor of such a type.
pub(crate) fn open_numbers(ty: &str, numbers: &[String; 5]) -> String {
    let said = ty.split_once('<').map_or("", |(_, rest)| rest.trim_end_matches('>'));
    let open = said.split(", ").zip(numbers).filter(|(number, _)| *number == "-1");
    open.map(|(_, number)| number.as_str()).collect::<Vec<_>>().join(", ")
}

impl View {
    /// Five extents and five strides in a layout.
    pub fn five(&self, tag: ViewTag) -> ([String; 5], [String; 5]) {
        five(self, tag)
    }
}

/// Five extents and five strides, missing ones in front.
fn five(view: &View, tag: ViewTag) -> ([String; 5], [String; 5]) {
    let (mut shape, mut strides) = (view.shape.clone(), view.strides.clone());
    // A list is one row, or one column of a DN tile (isa/structure.md 8).
    if shape.len() == 1 && tag == ViewTag::Dn {
        shape.push("1".into());
        strides.push(shape[0].clone());
    }
    while shape.len() < 5 {
        // No element lies behind the first one of an extent of 1; a number keeps the type static.
        let spans = shape.iter().zip(&strides).map(|(extent, stride)| literal(&product(extent, stride)));
        let all = spans.collect::<Option<Vec<i64>>>().and_then(|spans| spans.into_iter().max());
        strides.insert(0, all.unwrap_or(1).to_string());
        shape.insert(0, "1".into());
    }
    let array = |all: Vec<String>| <[String; 5]>::try_from(all).unwrap_or_default();
    (array(shape), array(strides))
}

/// The type of a Shape or Stride, and the arguments of its constructor.
fn numbers(name: &str, all: &[String; 5]) -> (String, Vec<String>) {
    let types: Vec<&str> = all.iter().map(|n| if literal(n).is_some() { n.as_str() } else { "-1" }).collect();
    let open = all.iter().filter(|n| literal(n).is_none()).cloned().collect();
    (format!("pto::{name}<{}>", types.join(", ")), open)
}

/// The declaration of a GlobalTensor.
fn declaration(name: &str, view: &View, tag: ViewTag) -> String {
    let (shape, strides) = five(view, tag);
    let ((shape, sizes), (stride, steps)) = (numbers("Shape", &shape), numbers("Stride", &strides));
    let ty = format!("GlobalTensor<{}, {shape}, {stride}, Layout::{}>", view.elem.cpp(), tag.cpp());
    match sizes.is_empty() && steps.is_empty() {
        true => format!("{ty} {name}({});", view.data),
        false => format!("{ty} {name}({}, {shape}({}), {stride}({}));", view.data, sizes.join(", "), steps.join(", ")),
    }
}

impl Emitter<'_> {
    /// A number of a view.
    fn number(&self, arg: Arg) -> String {
        self.constant(arg).map_or_else(|| self.int(arg), |v| v.to_string())
    }

    fn numbers_of(&self, op: &Op) -> Vec<String> {
        op.operands.iter().filter(|o| o.role == Role::Number).map(|o| self.number(o.arg)).collect()
    }

    /// The element type and extents of a view or memref.
    pub(crate) fn view_dims(&self, value: ValueId) -> Emitted<(Elem, Vec<Option<u64>>)> {
        let (elem, dims) = match self.ty(value) {
            Type::View(ViewType { elem, dims, .. }) | Type::Memref(MemrefType { elem, dims, .. }) => {
                (*elem, dims.to_vec())
            }
            _ => return Err(cannot(self.span(value), "this value as a view", "make a view of a pointer")),
        };
        if dims.is_empty() || dims.len() > 5 {
            let what = format!("a view of {} dimensions", dims.len());
            return Err(cannot(self.span(value), what, "use one to five dimensions"));
        }
        Ok((elem, dims))
    }

    /// A view or memref argument: its pointer is the parameter.
    pub(crate) fn argument_view(&mut self, value: ValueId) -> Emitted<()> {
        let (elem, dims) = self.view_dims(value)?;
        let span = self.span(value);
        let name = self.names.object(value).to_string();
        let shape: Vec<String> = dims
            .iter()
            .enumerate()
            .map(|(k, dim)| dim.map_or_else(|| format!("{name}_dim{k}"), |n| n.to_string()))
            .collect();
        let strided = match self.ty(value) {
            Type::Memref(m) => m.strided.as_ref(),
            _ => None,
        };
        let strides = match strided {
            Some(s) => {
                let known: Option<Vec<String>> = s.strides.iter().map(|s| s.map(|s| s.to_string())).collect();
                known.ok_or_else(|| cannot(span, "a memref argument with a stride `?`", "write the strides"))?
            }
            // Dense: the product of all inner extents.
            None => (0..shape.len())
                .map(|k| shape[k + 1..].iter().fold("1".to_string(), |all, n| product(&all, n)))
                .collect(),
        };
        let offset = match strided.map(|s| s.offset) {
            None | Some(Some(0)) => Vec::new(),
            Some(Some(n)) => vec![n.to_string()],
            Some(None) => return Err(cannot(span, "a memref argument with an offset `?`", "write the offset")),
        };
        let data = sum(&name, &offset);
        let view = View { elem, data, shape, strides, tags: tags_of_type(self.ty(value)), objects: Vec::new() };
        self.add_view(value, view)
    }

    /// A view, with an object for each layout in which instructions use it.
    fn add_view(&mut self, value: ValueId, mut view: View) -> Emitted<()> {
        let mut layouts: Vec<ViewTag> = Vec::new();
        for id in self.uses[value.index()].clone() {
            let op = self.func.op(id);
            // Members of a group are elements of an array.
            let is_it = |o: &tessera_ir::Operand| {
                o.arg == Arg::Value(value) && o.role.is_view() && !matches!(o.role, Role::Member | Role::Workspace)
            };
            let is_object = op.opcode().is_some() && !Self::only_names_view(op) && op.operands.iter().any(is_it);
            if is_object {
                let tag = self.tag_at(&view, op);
                if !layouts.contains(&tag) {
                    layouts.push(tag);
                }
            }
        }
        let own = self.names.object(value).to_string();
        let is_argument = matches!(self.func.value(value).def, Def::Arg(_) | Def::Input);
        layouts.retain(|tag| !view.objects.iter().any(|(known, _)| known == tag));
        let first = view.objects.len();
        for (n, tag) in layouts.into_iter().enumerate().map(|(n, tag)| (n + first, tag)) {
            let name = match (n, is_argument) {
                (0, false) => own.clone(),
                (0, true) => self.names.fresh(&format!("{own}_view")),
                _ => self.names.fresh(&format!("{own}_{}", tag.name())),
            };
            self.line(&declaration(&name, &view, tag));
            view.objects.push((tag, name));
        }
        self.views.insert(value, view);
        Ok(())
    }

    /// The layout of a view where an instruction uses it: a view without a tag is inferred at each use.
    fn tag_at(&self, view: &View, user: &Op) -> ViewTag {
        let data = [Role::Dst, Role::Src].into_iter().find_map(|role| self.operand(user, role));
        let data = data.or_else(|| user.results.first().copied());
        match data.and_then(|v| self.ty(v).tile()) {
            // A list is one column only of a tile that has one.
            Some(tile) if view.shape.len() == 1 && tile.cols != 1 => ViewTag::Nd,
            Some(tile) => view.tags.of(&tile.resolve(self.profile)),
            None => user.known_attrs().layout().unwrap_or_else(|| of_any(&view.tags)),
        }
    }

    /// The view that a value stands for.
    pub(crate) fn view(&self, value: ValueId) -> Emitted<&View> {
        let missing = || cannot(self.span(value), "this view", "make it of a pointer in the same function");
        self.views.get(&value).ok_or_else(missing)
    }

    /// The layout of a view for an instruction.
    pub(crate) fn tag_of(&self, value: ValueId, user: &Op) -> Emitted<ViewTag> {
        Ok(self.tag_at(self.view(value)?, user))
    }

    /// The object of a view for an instruction.
    pub(crate) fn view_for(&self, value: ValueId, user: &Op) -> Emitted<String> {
        let view = self.view(value)?;
        let tag = self.tag_at(view, user);
        let found = view.objects.iter().find(|(t, _)| *t == tag).or_else(|| view.objects.first());
        let missing = || Diagnostic::internal(user.span, "a view has no object where an instruction uses it");
        found.map(|(_, name)| name.clone()).ok_or_else(missing)
    }

    /// A dense view of a tile's valid region at a pointer, before the instruction that uses it.
    pub(crate) fn view_of_pointer(&mut self, elem: Elem, data: String, rows: &str, cols: &str) -> String {
        let name = self.names.fresh("view");
        let (rows, cols) = (rows.to_string(), cols.to_string());
        let strides = vec![cols.clone(), "1".to_string()];
        let view = View { elem, data, shape: vec![rows, cols], strides, tags: ViewTags::ND, objects: Vec::new() };
        let text = declaration(&name, &view, ViewTag::Nd);
        self.line(&text);
        name
    }

    /// The part of a view from a row and column on, as large as a tile's valid region.
    pub(crate) fn view_at(&mut self, value: ValueId, op: &Op, (row, col): (&str, &str), tile: &str) -> Emitted<String> {
        let from = self.view(value)?.clone();
        let tag = self.tag_at(&from, op);
        let [.., down, right] = from.strides.as_slice() else {
            return Err(cannot(op.span, "a window of a list", "make a view of two dimensions"));
        };
        let data = self.moved(op, &from.data, from.elem, &[product(row, down), product(col, right)])?;
        let shape = vec![format!("{tile}.GetValidRow()"), format!("{tile}.GetValidCol()")];
        let strides = vec![down.clone(), right.clone()];
        let name = self.names.fresh("window");
        let view = View { data, shape, strides, objects: Vec::new(), ..from };
        self.line(&declaration(&name, &view, tag));
        Ok(name)
    }

    /// The object of a view of slots, which lies nowhere yet: its numbers are those of a slot.
    pub(crate) fn declare_entry(&mut self, value: ValueId, slot: ValueId) -> Emitted<()> {
        let view = self.view(slot)?.clone();
        let (name, tag) = (self.names.object(value).to_string(), of_any(&view.tags));
        let text = declaration(&name, &view, tag);
        self.line(&text);
        self.views.insert(value, View { data: format!("{name}.data()"), objects: vec![(tag, name)], ..view });
        Ok(())
    }

    /// The objects of a view that has just become another slot: those in other layouts than its own.
    pub(crate) fn bind_entry(&mut self, value: ValueId) -> Emitted<()> {
        let mut view = self.view(value)?.clone();
        view.objects.truncate(1);
        self.add_view(value, view)
    }

    pub(crate) fn make_view(&mut self, op: &Op) -> Emitted<()> {
        let ((source, elem), result) = (self.global_operand(op)?, self.result(op)?);
        let mut shape = self.numbers_of(op);
        let strides = shape.split_off(shape.len() / 2);
        if shape.is_empty() || shape.len() > 5 {
            return Err(cannot(op.span, format!("a view of {} dimensions", shape.len()), "use one to five dimensions"));
        }
        if self.ty(result).global_elem().is_some_and(|e| e != elem) {
            return Err(cannot(op.span, "a view of another element type than its pointer's", "give both one type"));
        }
        let data = match self.ty(source) {
            Type::Ptr(..) => self.value(source),
            _ => self.view(source)?.data.clone(),
        };
        let tags = tags(self.module, self.func, &self.constants, op);
        self.add_view(result, View { elem, data, shape, strides, tags, objects: Vec::new() })
    }

    /// A window: the same strides, from another element on.
    pub(crate) fn partition(&mut self, op: &Op) -> Emitted<()> {
        let ((source, elem), result) = (self.global_operand(op)?, self.result(op)?);
        let mut offsets = self.numbers_of(op);
        let sizes = offsets.split_off(offsets.len() / 2);
        if matches!(self.ty(source), Type::Ptr(..)) || sizes.is_empty() || sizes.len() > 5 {
            return Err(cannot(op.span, "a window of this view", "make a view of one to five dimensions first"));
        }
        let from = self.view(source)?.clone();
        let terms: Vec<String> = offsets.iter().zip(&from.strides).map(|(at, step)| product(at, step)).collect();
        let data = self.moved(op, &from.data, elem, &terms)?;
        // A window of fewer dimensions keeps the last ones, one of more has ones in front.
        let (shape, mut strides) = (sizes, from.strides.clone());
        strides.drain(..strides.len().saturating_sub(shape.len()));
        while strides.len() < shape.len() {
            strides.insert(0, "1".into());
        }
        self.add_view(result, View { elem, data, shape, strides, tags: from.tags, objects: Vec::new() })
    }

    /// A pointer to elements, moved; two elements of four bits share an object.
    pub(crate) fn moved(&self, op: &Op, data: &str, elem: Elem, terms: &[String]) -> Emitted<String> {
        if !elem.is_fp4() {
            return Ok(sum(data, terms));
        }
        let by = sum("", terms);
        match by.trim_start_matches(" + ") {
            "" => Ok(data.into()),
            by => match literal(by) {
                Some(n) if n % 2 == 0 => Ok(format!("{data} + {}", n / 2)),
                Some(n) => Err(cannot(
                    op.span,
                    format!("a pointer to element {n} of {elem}, which shares its byte,"),
                    "begin at an even element",
                )),
                None => Ok(format!("{data} + {by} / 2")),
            },
        }
    }

    /// An extent or stride of a view, as a number.
    pub(crate) fn dim(&mut self, op: &Op, opcode: Opcode) -> Emitted<()> {
        let (source, _) = self.global_operand(op)?;
        let index = op.operand(Role::Number).and_then(|o| self.constant(o.arg));
        let view = self.view(source)?;
        let all = if opcode == Opcode::GetTensorViewDim { &view.shape } else { &view.strides };
        let found = index.and_then(|i| all.get(usize::try_from(i).ok()?));
        let text =
            found.cloned().ok_or_else(|| cannot(op.span, "a dimension that is computed", "make it a constant"))?;
        self.define(op, text)
    }

    /// The type of the variable in which control flow hands a view on: all numbers are given at run time.
    pub(crate) fn open_type(&self, value: ValueId) -> Emitted<String> {
        let (elem, _) = self.view_dims(value)?;
        let tag = self.handed_tag(value)?;
        let open = "-1, -1, -1, -1, -1";
        Ok(format!("GlobalTensor<{}, pto::Shape<{open}>, pto::Stride<{open}>, Layout::{}>", elem.cpp(), tag.cpp()))
    }

    /// A view as control flow hands it on: data, and all numbers.
    pub(crate) fn open_view(&self, to: ValueId, from: ValueId) -> Emitted<String> {
        let (ty, view) = (self.open_type(to)?, self.view(from)?);
        let (shape, strides) = five(view, self.handed_tag(to)?);
        let list = |all: [String; 5]| all.join(", ");
        let open = "-1, -1, -1, -1, -1";
        let (shape, strides) = (list(shape), list(strides));
        Ok(format!("{ty}({}, pto::Shape<{open}>({shape}), pto::Stride<{open}>({strides}))", view.data))
    }

    /// The variable of a view that control flow hands on.
    pub(crate) fn variable_view(&mut self, value: ValueId, name: &str) -> Emitted<()> {
        let (elem, dims) = self.view_dims(value)?;
        let tag = self.handed_tag(value)?;
        // A column is handed on as two dimensions.
        let first = 5 - if dims.len() == 1 && tag == ViewTag::Dn { 2 } else { dims.len() };
        let number = |what: &str, k: usize| format!("{name}.Get{what}({k})");
        let shape = (0..dims.len()).map(|k| number("Shape", first + k)).collect();
        let strides = (0..dims.len()).map(|k| number("Stride", first + k)).collect();
        let (tags, objects) = (ViewTags::written(tag), vec![(tag, name.to_string())]);
        self.views.insert(value, View { elem, data: format!("{name}.data()"), shape, strides, tags, objects });
        Ok(())
    }

    /// The layout of a view that control flow hands on: one for all ways that lead to it and all tiles that it meets.
    fn handed_tag(&self, value: ValueId) -> Emitted<ViewTag> {
        let mut found: Vec<ViewTag> = Vec::new();
        let (mut seen, mut todo) = (Vec::new(), vec![value]);
        let mut users: Vec<OpId> = Vec::new();
        while let Some(value) = todo.pop() {
            if seen.contains(&value) {
                continue;
            }
            seen.push(value);
            users.extend(self.uses[value.index()].iter().copied());
            let owner = match self.func.value(value).def {
                Def::BlockArg(block, _) => self.placement.points.owner(block),
                Def::Result(op, _) => Some(op),
                Def::Arg(_) | Def::Input | Def::ListingOut => None,
            };
            let made = owner.map(|id| self.func.op(id));
            match made {
                Some(op) if op.kind.is_flow() => {
                    let edges = Control::of(self.func, op)?.edges();
                    let handed = edges.iter().flat_map(|e| e.pairs()).filter(|(to, _)| *to == value);
                    todo.extend(handed.filter_map(|(_, from)| from.value()));
                }
                _ => {
                    if let Some(view) = self.views.get(&value) {
                        let met = users.iter().map(|id| self.func.op(*id)).filter(|op| op.opcode().is_some());
                        let tags = met.filter(|op| !Self::only_names_view(op)).map(|op| self.tag_at(view, op));
                        let all: Vec<ViewTag> = tags.collect();
                        found.extend(if all.is_empty() { vec![of_any(&view.tags)] } else { all });
                    }
                }
            }
        }
        found.sort_by_key(|tag| *tag as u8);
        found.dedup();
        match found.as_slice() {
            [] => Ok(ViewTag::Nd),
            [tag] => Ok(*tag),
            _ => Err(cannot(
                self.span(value),
                "a view of one layout or another that control flow hands on",
                "give both views one layout",
            )),
        }
    }
}
