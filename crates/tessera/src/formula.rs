//! Terms as formulas: `exp(%x[3, 5] - m)`, where `m = max(%x[3, 0], %x[3, 1], … 126 more)`.
//!
//! A term that is used more than once gets a name. Long sums are abbreviated and deep formulas cut, unless the full
//! formula is requested.

use crate::symbolic::{Explain, function_text};
use crate::{Elem, Number};
use std::collections::{HashMap, VecDeque};
use tessera_isa::sem::{Func, Piece, TIGHT, pieces};
use tessera_provenance::{Function, TermId, Terms, UNDEFINED};

/// Arguments that are shown, where there are more than [`FEW`].
const SHOWN: usize = 2;
const FEW: usize = 4;
/// Functions inside each other, and names, in one formula.
const DEPTH: usize = 8;
const NAMES: usize = 12;
/// In a formula that shows all: what lies deeper gets a name, and more pieces than this are not shown.
const FULL_DEPTH: usize = 24;
const PIECES: usize = 1 << 16;

/// A formula with the names in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The formula.
    pub term: Node,
    /// The definitions of its names, in order of appearance.
    pub names: Vec<(String, Node)>,
}

/// A piece of a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// An element of an input, or bytes from several places.
    Element(String),
    /// A number.
    Constant(String),
    /// A name.
    Name(String),
    /// Something that is not shown.
    Cut,
    /// The result of a function.
    Apply {
        /// The notation of the function.
        function: Notated,
        /// The type of the result.
        to: Elem,
        /// Its arguments.
        args: Vec<Node>,
        /// The number of further arguments.
        more: u64,
    },
}

/// The notation of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notated {
    /// As the formula that the instruction set has for it: `x + y`.
    Notation(&'static str),
    /// As a call: `sum`.
    Call(String),
    /// Between any number of arguments.
    Between(&'static str),
    /// As words before its argument.
    Before(String),
    /// As one bit of a byte.
    Bit(u8),
}

impl Formula {
    /// On one line.
    pub fn line(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|(name, node)| format!("{name} = {}", node.text())).collect();
        match names.is_empty() {
            true => self.term.text(),
            false => format!("{}, where {}", self.term.text(), names.join(", ")),
        }
    }
}

impl Node {
    /// The text of a formula.
    pub fn text(&self) -> String {
        self.write().0
    }

    /// The text, and how tightly it binds.
    fn write(&self) -> (String, usize) {
        let (function, args, more) = match self {
            Node::Element(text) => return (text.clone(), if text.starts_with('%') { TIGHT } else { 0 }),
            Node::Constant(text) | Node::Name(text) => return (text.clone(), TIGHT),
            Node::Cut => return ("…".into(), TIGHT),
            Node::Apply { function, args, more, .. } => (function, args, *more),
        };
        let inside = |node: &Node, least: usize| match node.write() {
            (text, binds) if binds < least => format!("({text})"),
            (text, _) => text,
        };
        let list = |separator: &str, least: usize| {
            let mut all: Vec<String> = args.iter().map(|arg| inside(arg, least)).collect();
            all.extend((more > 0).then(|| format!("… {more} more")));
            all.join(separator)
        };
        match function {
            Notated::Call(name) => (format!("{name}({})", list(", ", 0)), TIGHT),
            Notated::Before(words) => (format!("{words} ({})", list(", ", 0)), 0),
            Notated::Bit(bit) => (format!("bit {bit} of {}", list(", ", TIGHT)), 0),
            Notated::Between(operator) => {
                let (_, binds) = pieces(operator);
                let sign = operator.trim_matches(['x', 'y']);
                (list(sign, binds + 1), binds)
            }
            Notated::Notation(notation) => {
                let (pieces, binds) = pieces(notation);
                let piece = |piece: &Piece| match piece {
                    Piece::Text(text) => (*text).to_string(),
                    Piece::Argument(n, least) => args.get(*n).map_or(String::new(), |arg| inside(arg, *least)),
                };
                (pieces.iter().map(piece).collect(), binds)
            }
        }
    }
}

/// A number as formulas write it.
pub(crate) fn number_text(elem: Elem, bits: u64) -> String {
    match elem.decode(bits) {
        Number::Int(v) => v.to_string(),
        Number::Float(v) => format!("{v:?}"),
    }
}

/// The formula of an element that is the whole result of a function.
pub(crate) fn formula(explain: &Explain<'_>, element: TermId, is_full: bool) -> Option<Formula> {
    let (function, _) = explain.terms.applied(element)?;
    let mut writer = Writer {
        explain,
        terms: explain.terms,
        is_full,
        uses: HashMap::default(),
        names: HashMap::default(),
        waiting: VecDeque::new(),
        pieces: 0,
    };
    writer.count(element);
    let term = writer.apply(element, function.to(), 0);
    let mut names = Vec::new();
    while let Some((id, elem, name)) = writer.waiting.pop_front() {
        names.push((name, writer.apply(id, elem, 0)));
    }
    Some(Formula { term, names })
}

struct Writer<'a> {
    explain: &'a Explain<'a>,
    terms: &'a Terms,
    is_full: bool,
    /// The number of uses of each term that is shown.
    uses: HashMap<TermId, u32>,
    names: HashMap<TermId, String>,
    /// Named terms that are not written yet.
    waiting: VecDeque<(TermId, Elem, String)>,
    pieces: usize,
}

impl Writer<'_> {
    /// Counts how often each result is used in what is shown.
    fn count(&mut self, element: TermId) {
        let mut waiting = vec![element];
        while let Some(id) = waiting.pop() {
            let Some((function, _)) = self.terms.applied(id) else { continue };
            let uses = self.uses.entry(id).or_insert(0);
            *uses += 1;
            if *uses > 1 || self.uses.len() > PIECES {
                continue;
            }
            let parts = self.parts(id, function);
            let (shown, _) = shown(&parts.steps, self.is_full);
            waiting.extend(parts.start.map(|s| s.0));
            waiting.extend(shown.iter().flatten().map(|s| s.0));
        }
    }

    fn node(&mut self, (id, elem): (TermId, Elem), depth: usize) -> Node {
        let bytes = size(elem);
        if id == UNDEFINED {
            return Node::Element("undefined".into());
        }
        if let Some(bits) = self.terms.constant_bits(id, bytes) {
            return Node::Constant(number_text(elem, bits));
        }
        let Some((function, _)) = self.terms.applied(id).filter(|(f, _)| f.bytes() == bytes) else {
            return Node::Element(self.explain.bytes(&self.terms.bytes(id, bytes), Some(elem), 0));
        };
        let is_named = self.uses.get(&id).is_some_and(|n| *n > 1) || (self.is_full && depth >= FULL_DEPTH);
        if let Some(name) = self.names.get(&id) {
            return Node::Name(name.clone());
        }
        if self.pieces > PIECES || (!self.is_full && (depth >= DEPTH || (is_named && self.names.len() >= NAMES))) {
            return Node::Cut;
        }
        if is_named {
            let name = self.name(function);
            self.names.insert(id, name.clone());
            self.waiting.push_back((id, elem, name.clone()));
            return Node::Name(name);
        }
        self.apply(id, elem, depth)
    }

    /// A name that tells a little of what it is: m for a greatest or least, s for a sum.
    fn name(&self, function: Function) -> String {
        let letter = match function {
            Function::Fold { func: Func::Max | Func::Min, .. } | Function::Many { func: Func::Max | Func::Min, .. } => {
                "m"
            }
            Function::Fold { .. } => "s",
            _ => "t",
        };
        let taken = self.names.values().filter(|name| name.starts_with(letter)).count();
        if taken == 0 { letter.into() } else { format!("{letter}{}", taken + 1) }
    }

    fn apply(&mut self, id: TermId, to: Elem, depth: usize) -> Node {
        self.pieces += 1;
        let Some((function, _)) = self.terms.applied(id) else { return Node::Cut };
        let (parts, is_full) = (self.parts(id, function), self.is_full);
        parts.node(function, to, is_full, |operand| self.node(*operand, depth + 1))
    }

    /// A result as it is shown.
    fn parts(&self, id: TermId, function: Function) -> Parts<(TermId, Elem)> {
        let operands = self.terms.applied(id).map_or(&[][..], |(_, operands)| operands);
        let typed: Vec<(TermId, Elem)> = operands.iter().copied().zip(function.types()).collect();
        match function {
            Function::Mapped { func: func @ (Func::Add | Func::Mul), .. } => {
                self.chain(id, func).unwrap_or_else(|| self.difference(func, &typed, function))
            }
            Function::Fold { func, to, .. } => {
                let state = Func::state(to);
                let mut blocks = vec![typed];
                // A fold that starts as another is shown as one.
                let start = loop {
                    let Some(start) = blocks.last().and_then(|block| block.first()).copied() else { break None };
                    match self.terms.applied(start.0) {
                        Some((inner @ Function::Fold { func: f, to: t, .. }, operands)) if f == func && t == state => {
                            blocks.push(operands.iter().copied().zip(inner.types()).collect());
                        }
                        _ => break Some(start),
                    }
                };
                let steps: Vec<_> = blocks.iter().rev().flat_map(|block| block.iter().skip(1)).copied().collect();
                let is_neutral =
                    |id| self.terms.constant_bits(id, size(state)).is_some_and(|bits| func.start(state) == Some(bits));
                Parts::of(function, start.filter(|(id, _)| !is_neutral(*id)), &steps)
            }
            function => Parts::of(function, None, &typed),
        }
    }

    /// A sum with a negated element is a difference.
    fn difference(&self, func: Func, typed: &[(TermId, Elem)], sum: Function) -> Parts<(TermId, Elem)> {
        let negated = |(id, elem): (TermId, Elem)| match self.terms.applied(id) {
            Some((Function::Mapped { func: Func::Neg, .. }, [of])) => Some((*of, elem)),
            _ => None,
        };
        let [x, y] = *typed else { return Parts::of(sum, None, typed) };
        let sides = negated(y).map(|y| [x, y]).or_else(|| negated(x).map(|x| [y, x]));
        match sides.filter(|_| func == Func::Add) {
            Some([x, y]) => Parts::new(Notated::Notation(Func::Sub.notation()), vec![vec![x], vec![y]]),
            None => Parts::of(sum, None, typed),
        }
    }

    /// Additions of additions, as one; a sum that starts as +0 is what a row is summed up to.
    fn chain(&self, id: TermId, func: Func) -> Option<Parts<(TermId, Elem)>> {
        let mut all: Vec<(TermId, Elem)> = Vec::new();
        let mut at = id;
        let inner = |id: TermId| match self.terms.applied(id) {
            Some((function @ Function::Mapped { func: f, .. }, [x, y])) if f == func => {
                let mut types = function.types();
                Some([(*x, types.next()?), (*y, types.next()?)])
            }
            _ => None,
        };
        while let Some([x, y]) = inner(at).filter(|_| at == id || self.uses.get(&at).is_none_or(|n| *n < 2)) {
            let (rest, other) = if inner(x.0).is_none() && inner(y.0).is_some() { (y, x) } else { (x, y) };
            all.push(other);
            at = rest.0;
            if inner(at).is_none() || all.len() > PIECES {
                all.push(rest);
                break;
            }
        }
        all.reverse();
        if all.len() <= FEW {
            return None;
        }
        let zero = |(id, elem): &(TermId, Elem)| {
            self.terms.constant_bits(*id, size(*elem)).is_some_and(|bits| func.start(*elem) == Some(bits))
        };
        let (function, skip) = match all.iter().take(2).position(zero) {
            Some(at) => (Notated::Call(func.word().into()), Some(at)),
            None => (Notated::Between(func.notation()), None),
        };
        let all = all.into_iter().enumerate().filter(|(n, _)| Some(*n) != skip);
        Some(Parts::new(function, all.map(|(_, one)| vec![one]).collect()))
    }
}

/// One step of a program as a formula of the elements that it read.
pub(crate) fn step(function: &Function, operands: Vec<Node>, is_full: bool) -> Node {
    let mut steps = operands.as_slice();
    let mut start = None;
    if let Function::Fold { args, .. } = function
        && !operands.len().is_multiple_of(args.iter().flatten().count().max(1))
    {
        (start, steps) = (operands.first().cloned(), operands.get(1..).unwrap_or_default());
    }
    Parts::of(*function, start, steps).node(*function, function.to(), is_full, Node::clone)
}

/// A result as it is shown: a function of steps, and what it starts as.
struct Parts<T> {
    function: Notated,
    /// The start of a fold, and its operator.
    start: Option<T>,
    join: Option<&'static str>,
    /// The operands of each step.
    steps: Vec<Vec<T>>,
    /// The function that is applied to the elements before.
    each: Option<&'static str>,
    /// Further arguments.
    notes: Vec<String>,
}

impl<T: Clone> Parts<T> {
    fn new(function: Notated, steps: Vec<Vec<T>>) -> Self {
        Parts { function, start: None, join: None, steps, each: None, notes: Vec::new() }
    }

    /// A function of these operands; a fold also starts as something.
    fn of(function: Function, start: Option<T>, operands: &[T]) -> Self {
        let call = |name: &str| Notated::Call(name.into());
        let chunks = |n: usize| operands.chunks(n).map(<[T]>::to_vec).collect();
        let plain = |function: Notated| Parts::new(function, chunks(1));
        match function {
            Function::Converted(_) => plain(Notated::Before(function_text(&function))),
            Function::Mapped { func: Func::Cvt { rounding, saturation }, to, .. } => {
                let rounding = (!rounding.name().contains("RINT")).then(|| rounding.name().to_lowercase());
                let saturation = saturation.map(|s| format!("saturation {}", s.name().to_lowercase()));
                Parts { notes: rounding.into_iter().chain(saturation).collect(), ..plain(call(&to.to_string())) }
            }
            Function::Mapped { func: func @ Func::Compare(_), .. } if operands.len() > 2 => {
                Parts { each: Some(func.notation()), ..Parts::new(call(func.word()), chunks(2)) }
            }
            Function::Mapped { func: func @ Func::Arg { .. }, .. } => plain(call(func.word())),
            Function::Mapped { func, .. } => plain(Notated::Notation(func.notation())),
            Function::Many { func: Func::Max | Func::Min, .. } if operands.len() == 1 => plain(call("canonical")),
            Function::Many { func: func @ (Func::Max | Func::Min), .. } => plain(call(func.word())),
            Function::Many { func, .. } => plain(Notated::Between(func.notation())),
            Function::Fold { func, args, .. } => {
                let products = matches!(func, Func::MulAdd(_) | Func::ScaledMulAdd);
                let join = if products { Func::Add } else { func };
                let each = match func {
                    Func::MulAdd(_) => Some(Func::Mul.notation()),
                    _ => products.then_some(func.notation()),
                };
                let parts = Parts::new(call(func.word()), chunks(args.iter().flatten().count().max(1)));
                Parts { start, join: Some(join.notation()), each, ..parts }
            }
        }
    }

    /// The piece of a formula that it is.
    fn node(self, of: Function, to: Elem, is_full: bool, mut node: impl FnMut(&T) -> Node) -> Node {
        let (first, more) = shown(&self.steps, is_full);
        let mut args: Vec<Node> = Vec::new();
        for step in first {
            let each: Vec<Node> = step.iter().map(&mut node).collect();
            match self.each {
                Some(notation) => {
                    args.push(Node::Apply { function: Notated::Notation(notation), to, args: each, more: 0 });
                }
                None => args.extend(each),
            }
        }
        args.extend(self.notes.into_iter().map(Node::Constant));
        match (of, args.as_mut_slice()) {
            // A comparison that decides alone is no bit of a mask any more.
            (Function::Mapped { func: Func::Select { bit }, .. }, [mask, ..])
                if !matches!(mask, Node::Apply { function: Notated::Notation(_), .. }) =>
            {
                let byte = std::mem::replace(mask, Node::Cut);
                *mask = Node::Apply { function: Notated::Bit(bit), to: Elem::U8, args: vec![byte], more: 0 };
            }
            (Function::Converted(_), [_, param]) => {
                *param = Node::Element(format!("with the parameter {}", param.text()));
            }
            _ => {}
        }
        let folded = Node::Apply { function: self.function, to, args, more };
        match (self.start, self.join) {
            (Some(start), Some(join)) => {
                let args = vec![node(&start), folded];
                Node::Apply { function: Notated::Notation(join), to, args, more: 0 }
            }
            _ => folded,
        }
    }
}

/// The first of many, and how many more there are.
fn shown<T>(all: &[T], is_full: bool) -> (&[T], u64) {
    match all.get(..SHOWN) {
        Some(first) if all.len() > FEW && !is_full => (first, (all.len() - SHOWN) as u64),
        _ => (all, 0),
    }
}

fn size(elem: Elem) -> usize {
    elem.bytes_of(1) as usize
}
