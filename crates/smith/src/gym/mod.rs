//! Tasks for those who write kernels, people or programs: a page, a signature, hidden inputs, and a score.
//!
//! A task is a line of `tasks.txt`. What must come out is no stored answer: its formula is evaluated in binary64 on inputs that
//! a seed decides. A solution is correct if it is so for several seeds, whatever the output held before, and if nothing
//! else of its arguments changes.

mod formula;

use formula::{Matrix, evaluate};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tessera::compare::{Tolerance, compare};
use tessera::fill::Fill;
use tessera::npy::Array;
use tessera::program::{Bindings, Content, From, Inputs, Limits, TimelineOptions};
use tessera::{Diagnostic, Kernel, OrderOptions, Profile, Program, Verdict};
use tessera_isa::codec::{Number, Overflow};
use tessera_isa::elem::Elem;
use tessera_isa::sem::Sem;

/// An argument of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub elem: Elem,
    /// Whether its elements are positive.
    pub is_positive: bool,
    /// Rows and columns.
    pub shape: [u64; 2],
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// From 1, elementwise, to 5, attention.
    pub level: u8,
    /// Its name.
    pub name: String,
    /// What is given.
    pub inputs: Vec<Argument>,
    /// What is asked for.
    pub output: Argument,
    /// The output by the inputs.
    pub formula: String,
    /// One sentence.
    pub about: String,
    /// Whether a solution has to use a FIFO.
    pub needs_fifo: bool,
}

/// The tasks, by level.
pub fn tasks() -> &'static [Task] {
    static ALL: LazyLock<Vec<Task>> = LazyLock::new(|| {
        include_str!("tasks.txt").lines().filter(|line| !line.starts_with('#')).filter_map(task).collect()
    });
    &ALL
}

fn task(line: &str) -> Option<Task> {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [head, inputs, output, formula, about, more @ ..] = parts.as_slice() else { return None };
    let (level, name) = head.split_once(' ')?;
    Some(Task {
        level: level.parse().ok()?,
        name: name.into(),
        inputs: inputs.split(' ').map(argument).collect::<Option<_>>()?,
        output: argument(output)?,
        formula: (*formula).into(),
        about: (*about).into(),
        needs_fifo: more.contains(&"fifo"),
    })
}

fn argument(text: &str) -> Option<Argument> {
    let (name, ty) = text.split_once(':')?;
    let (elem, shape) = ty.strip_suffix(']')?.split_once('[')?;
    let (rows, cols) = shape.split_once('x')?;
    let bare = elem.trim_end_matches('+');
    Some(Argument {
        name: name.into(),
        elem: Elem::parse(bare)?,
        is_positive: bare != elem,
        shape: [rows.parse().ok()?, cols.parse().ok()?],
    })
}

impl Task {
    /// The tolerance of an element, relative and absolute; integers are exact.
    pub fn tolerance(&self) -> Tolerance {
        let is_half = |elem: Elem| elem.is_float() && elem.bits() <= 16;
        match self.output.elem {
            elem if !elem.is_float() => Tolerance::default(),
            elem if is_half(elem) || self.inputs.iter().any(|i| is_half(i.elem)) && self.formula.contains("matmul") => {
                Tolerance { atol: Some(1e-2), rtol: Some(1e-2), ulp: None }
            }
            _ => Tolerance { atol: Some(1e-4), rtol: Some(1e-4), ulp: None },
        }
    }

    /// The head that a solution has.
    pub fn signature(&self) -> String {
        let all = self.inputs.iter().chain([&self.output]);
        let args: Vec<String> = all.map(|a| format!("%{}: !pto.ptr<{}>", a.name, a.elem)).collect();
        format!("func.func @{}({})", self.name, args.join(", "))
    }

    /// The page of the task.
    pub fn page(&self) -> String {
        let shape = |a: &Argument| format!("{}x{} {}", a.shape[0], a.shape[1], a.elem);
        let mut out = format!("{}, level {}\n\n  {}\n\n", self.name, self.level, self.about);
        out += &format!("  {}\n\n", self.formula.replace("; ", "\n  "));
        for input in &self.inputs {
            let sign = if input.is_positive { ", positive" } else { "" };
            out += &format!("  %{:8}{}, row by row{sign}\n", input.name, shape(input));
        }
        out += &format!("  %{:8}{}, row by row: the output\n\n", self.output.name, shape(&self.output));
        let tolerance = self.tolerance();
        out += &match (tolerance.atol, tolerance.rtol) {
            (Some(atol), Some(rtol)) => format!("  An element may be off by {atol} + {rtol} times its value.\n"),
            _ => "  Every element is exact.\n".to_string(),
        };
        if self.needs_fifo {
            out += "  The solution hands tiles from core to core through a FIFO.\n";
        }
        out + &format!("\n{}\n", self.signature())
    }

    /// The inputs of a seed.
    fn arrays(&self, seed: u64) -> Result<Vec<(String, Array)>, String> {
        let one = |(n, input): (usize, &Argument)| {
            let seed = seed.wrapping_mul(31).wrapping_add(n as u64 + 1);
            let fill = Fill::Random(Some(seed)).array(input.elem, &input.shape);
            let mut array = fill.map_err(|e| e.message().to_string())?;
            if input.is_positive {
                let positive = matrix(&array, input).data.iter().map(|v| v.abs() + 0.25).collect::<Vec<_>>();
                array = made(&positive, input);
            }
            Ok((input.name.clone(), array))
        };
        self.inputs.iter().enumerate().map(one).collect()
    }

    /// What must come out of these inputs, as f32 or i32.
    fn golden(&self, inputs: &[(String, Array)]) -> Result<Array, String> {
        let named = self.inputs.iter().zip(inputs);
        let matrices: BTreeMap<String, Matrix> =
            named.map(|(input, (name, array))| (name.clone(), matrix(array, input))).collect();
        let found = evaluate(&self.formula, &matrices)?;
        let [rows, cols] = self.output.shape;
        if (found.rows as u64, found.cols as u64) != (rows, cols) {
            return Err(format!("{}: the formula gives {}x{}", self.name, found.rows, found.cols));
        }
        let elem = if self.output.elem.is_float() { Elem::F32 } else { self.output.elem };
        Ok(made(&found.data, &Argument { elem, ..self.output.clone() }))
    }
}

fn matrix(array: &Array, of: &Argument) -> Matrix {
    let size = of.elem.size().unwrap_or(1) as usize;
    let value = |bytes: &[u8]| {
        let mut word = [0u8; 8];
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        match of.elem.decode(u64::from_le_bytes(word)) {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        }
    };
    let data = array.bytes.chunks_exact(size).map(value).collect();
    Matrix { rows: of.shape[0] as usize, cols: of.shape[1] as usize, data }
}

fn made(values: &[f64], of: &Argument) -> Array {
    let size = of.elem.size().unwrap_or(1) as usize;
    let bits = |v: &f64| match of.elem.is_float() {
        true => of.elem.encode_f64(*v, Overflow::Infinity),
        false => of.elem.encode(Number::Int(*v as i128), Overflow::Infinity),
    };
    let bytes = values.iter().flat_map(|v| bits(v).to_le_bytes().into_iter().take(size)).collect();
    Array::of_elem(of.elem, of.shape.to_vec(), bytes)
}

/// The score of a solution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Whether every seed gave what the formula says, and nothing else changed.
    pub is_correct: bool,
    /// Whether no two accesses race, on any path.
    pub is_race_free: bool,
    /// The modelled time of a run, where the profile has costs.
    pub cycles: Option<u64>,
    /// The modelled time that loads of the inputs and a store of the output take alone.
    pub floor: Option<u64>,
    /// What is wrong, or looks like cheating, each in a sentence.
    pub notes: Vec<String>,
}

/// How many seeds a solution is run with.
const SEEDS: u64 = 3;
/// The steps and the memory of a run.
const LIMITS: Limits = Limits { steps: 1 << 22, memory: 1 << 28 };

/// Scores a solution with hidden inputs that a seed decides.
pub fn score(task: &Task, text: &str, profile: Option<Profile>, seed: u64) -> Score {
    let mut score = Score::default();
    if let Err(why) = judge(task, text, profile, seed, &mut score) {
        score.notes.push(why);
        score.is_correct = false;
    }
    score
}

fn judge(task: &Task, text: &str, profile: Option<Profile>, seed: u64, score: &mut Score) -> Result<(), String> {
    let own = Program::read(text, None).module().target.map(|(p, _)| p);
    let program = Program::read(text, Some(profile.or(own).unwrap_or(Profile::A5)));
    if let Some(error) = program.check().into_iter().find(Diagnostic::is_error) {
        return Err(format!("it is not legal: {}: {}", error.rule, error.message));
    }
    let kernel = program.entry().map_err(|e| e.message().to_string())?;
    let report = kernel.order(&OrderOptions::default()).map_err(|e| e.message().to_string())?;
    score.is_race_free = report.verdict == Verdict::RaceFree;
    score.notes.extend(report.diagnostics.iter().take(1).map(|d| format!("{}: {}", d.rule, d.message)));
    score.cycles = kernel.timeline(&TimelineOptions::default()).ok().map(|t| t.total);
    score.floor = floor(task, program.profile());
    if task.needs_fifo {
        let is_fifo = |op: &tessera_ir::Op| op.opcode().is_some_and(|o| matches!(o.info().sem, Sem::Fifo(_)));
        if !kernel.func().ops.iter().any(is_fifo) {
            return Err("the task asks for a FIFO between the cores, and there is none".into());
        }
    }
    let mut outputs: Vec<Array> = Vec::new();
    let mut goldens: Vec<Array> = Vec::new();
    for n in 0..SEEDS {
        let inputs = task.arrays(seed.wrapping_add(n))?;
        let golden = task.golden(&inputs)?;
        // Whatever the output holds before is other bytes every time.
        let rubbish = Fill::Random(Some(seed ^ (n + 77))).array(task.output.elem, &task.output.shape);
        let mut given = inputs.clone();
        given.push((task.output.name.clone(), rubbish.map_err(|e| e.message().to_string())?));
        let found = run(&kernel, &given)?;
        for (name, before) in &inputs {
            if found.get(name).is_some_and(|after| after.bytes != before.bytes) {
                return Err(format!("it writes %{name}, which is an input"));
            }
        }
        let output = found.get(&task.output.name).ok_or_else(|| format!("it has no %{}", task.output.name))?;
        let compared = compare(task.output.elem, output, &golden, &task.tolerance());
        let compared = compared.map_err(|e| e.message().to_string())?;
        if !compared.is_equal() {
            let first = compared
                .worst
                .first()
                .map_or(String::new(), |w| format!(", worst {:?}: {} instead of {}", w.index, w.got, w.want));
            let what = format!("{} of {} elements are wrong{first}", compared.different, compared.elements);
            outputs.push(output.clone());
            goldens.push(golden);
            if outputs.len() > 1 && outputs.windows(2).all(|w| w[0] == w[1]) && goldens.windows(2).any(|w| w[0] != w[1])
            {
                return Err(format!("the output does not depend on the inputs; {what}"));
            }
            if n + 1 < SEEDS && outputs.len() == 1 {
                score.notes.push(what);
                continue;
            }
            return Err(what);
        }
        outputs.push(output.clone());
        goldens.push(golden);
    }
    score.is_correct = !score.notes.iter().any(|note| note.contains("elements are wrong"));
    Ok(())
}

/// Runs a kernel: every argument in the end.
fn run(kernel: &Kernel, given: &[(String, Array)]) -> Result<BTreeMap<String, Array>, String> {
    let named: Vec<&str> = kernel.func().args.iter().map(|v| kernel.name(*v)).collect();
    if let Some((name, _)) = given.iter().find(|(name, _)| !named.contains(&name.as_str())) {
        return Err(format!("it has no argument %{name}; the signature of the task has"));
    }
    let content = |(name, array): &(String, Array)| Content {
        name: name.clone(),
        label: name.clone(),
        from: From::Array(array.clone()),
    };
    let inputs = Inputs { contents: given.iter().map(content).collect(), ..Inputs::default() };
    let (mut bindings, open): (Bindings, _) =
        kernel.bind_inputs(inputs, 1).map_err(|e| e.error.message().to_string())?;
    kernel.unbound_or_open(&bindings.inputs, &open).map_err(|e| e.message().to_string())?;
    bindings.limits = LIMITS;
    let shapes = kernel.shapes(&bindings);
    let mut outcome = kernel.execute(bindings);
    if let Some(error) = outcome.diagnostics.iter().find(|d| d.is_error()) {
        return Err(format!("the run stops: {}: {}", error.rule, error.message));
    }
    let mut all = BTreeMap::new();
    for (name, before) in given {
        let value = kernel.argument(name).map_err(|e| e.message().to_string())?;
        // What a run never writes is as it was.
        let after = kernel.take_array(&mut outcome, &shapes, value, 0).unwrap_or_else(|| before.clone());
        all.insert(name.clone(), after);
    }
    Ok(all)
}

/// The modelled time of a program that loads the inputs and stores as much as the output has, and does nothing else.
fn floor(task: &Task, profile: Profile) -> Option<u64> {
    let (mut body, mut numbers) = (String::new(), vec![1u64]);
    for (n, argument) in task.inputs.iter().chain([&task.output]).enumerate() {
        let [rows, cols] = argument.shape;
        let elem = argument.elem;
        let padded = cols.next_multiple_of(elem.c0());
        numbers.extend([rows, cols]);
        // As many rows at once as a tile of 32 KiB has.
        let part = (32768 / elem.bytes_of(padded).max(1)).clamp(1, rows);
        numbers.push(part);
        let tile = format!("!pto.tile<vec, {part}x{padded}x{elem}, valid={part}x{cols}>");
        body += &format!(
            "%v{n} = pto.make_tensor_view %{}, shape = [%k{part}, %k{cols}], strides = [%k{cols}, %k1] : !pto.tensor_view<{part}x{cols}x{elem}>\n",
            argument.name
        );
        body += &format!("%t{n} = pto.alloc_tile : {tile}\n");
        for _ in 0..rows.div_ceil(part) {
            body += &match n < task.inputs.len() {
                true => format!("pto.tload ins(%v{n} : !pto.tensor_view<{part}x{cols}x{elem}>) outs(%t{n} : {tile})\n"),
                false => {
                    format!("pto.tstore ins(%t{n} : {tile}) outs(%v{n} : !pto.tensor_view<{part}x{cols}x{elem}>)\n")
                }
            };
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    let constants: String = numbers.iter().map(|n| format!("%k{n} = arith.constant {n} : index\n")).collect();
    let text = format!("{} {{\n{constants}{body}return\n}}\n", task.signature());
    let program = Program::read(&text, Some(profile));
    let timeline = program.entry().ok()?.timeline(&TimelineOptions::default()).ok()?;
    Some(timeline.total)
}
