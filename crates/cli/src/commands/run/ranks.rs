//! `tessera run --ranks N`: several ranks together (isa/comm.md 2).

use super::inputs::read_array;
use super::{Args, Stop, trace};
use crate::bind::{Bound, Give, Of, ranked};
use crate::commands::{Loaded, load_entry};
use crate::output;
use crate::policy::Format;
use crate::render::values::{Values, show_tile};
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session, USAGE_ERROR};
use crate::words::{self, counted};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use tessera::case::Expected;
use tessera::npy::{self, Array};
use tessera::program::{Content, From, InputError, Inputs, PrintedValue, Ranks, RanksOutcome, Shapes, outcome_of};
use tessera::{Diagnostic, Error, Kernel};

/// The ranks with their inputs, what each is compared with, and the shapes of their arrays.
type Ready = (Ranks, Vec<(usize, Expected)>, Vec<Shapes>);

/// A file for one rank, or for all.
struct Wanted<'a> {
    name: &'a str,
    of: Of,
}

/// A command line with the ranks that it runs.
struct Job<'a> {
    args: &'a Args,
    loaded: &'a Loaded,
    count: u32,
}

pub fn run(args: &Args, session: &mut Session<'_>) -> Outcome {
    let count = args.ranks.unwrap_or(1);
    if !(1..=64).contains(&count) {
        return Err(Failure::usage(format!("--ranks {count}: there may be 1 to 64 ranks")));
    }
    let entries = entries(args, count)?;
    let one = entries.first().filter(|first| entries.iter().all(|e| e == *first)).cloned().flatten();
    let loaded = load_entry(session, &args.file, args.profile, one.as_deref())?.at(args.level);
    let found = loaded.program.check();
    let is_illegal = found.iter().any(Diagnostic::is_error);
    let polls: Vec<Diagnostic> = found.iter().filter(|d| args.races && d.rule == "comm-poll").cloned().collect();
    let (mut findings, _): (Vec<_>, Vec<_>) =
        args.policy.apply(found).into_iter().partition(|d| d.is_error() || d.rule == "profile-override");
    if is_illegal {
        return loaded.report(session, &args.policy, &findings);
    }
    findings.extend(args.policy.apply(polls));
    let mut kernels = Vec::new();
    for entry in &entries {
        kernels.push(loaded.kernel(session, &args.policy, entry.as_deref())?);
    }
    let job = Job { args, loaded: &loaded, count };
    let (ranks, wanted, shapes) = match job.ready(session, kernels) {
        Ok(ready) => ready,
        Err(Stop::Failure(failure)) => return Err(failure),
        Err(Stop::Binding(found)) => {
            loaded.report(session, &args.policy, &found)?;
            return Ok(USAGE_ERROR);
        }
    };
    job.check_files(session)?;
    let kernels: Vec<Kernel> = (0..count as usize).filter_map(|rank| ranks.kernel(rank).cloned()).collect();
    let (mut all, judged) = match args.races {
        true => ranks.execute_judged(),
        false => (ranks.execute(), Vec::new()),
    };
    findings.extend(args.policy.apply(judged));
    for d in args.policy.apply(std::mem::take(&mut all.diagnostics)) {
        if !findings.iter().any(|f| f.rule == d.rule && f.span == d.span) {
            findings.push(d);
        }
    }
    job.show_printed(session, &kernels, &all)?;
    if !args.races && !args.quiet && args.format == Format::Human {
        let what = "the order of the ranks was not judged: --races does, -q leaves this line out";
        writeln!(session.stderr, "note: {what}")?;
    }
    if !findings.is_empty() && loaded.report(session, &args.policy, &findings)? == PROGRAM_ERROR {
        return Ok(PROGRAM_ERROR);
    }
    job.put_out(session, &kernels, all, &shapes, &wanted)
}

/// The function of each rank: `F`, `1:F` or `r0=@send,r1=@recv`.
fn entries(args: &Args, count: u32) -> Result<Vec<Option<String>>, Failure> {
    let mut entries = vec![None; count as usize];
    let Some(text) = &args.entry else { return Ok(entries) };
    for part in text.split(',') {
        let pair = part.split_once('=').map(|(rank, name)| (rank.strip_prefix('r').unwrap_or(rank), name));
        let pair = pair.or_else(|| part.split_once(':'));
        match pair.map(|(rank, name)| (rank.trim().parse::<u32>(), name.trim())) {
            Some((Ok(rank), name)) if rank < count => {
                entries[rank as usize] = Some(name.trim_start_matches('@').to_string());
            }
            Some((Ok(rank), _)) => {
                return Err(Failure::usage(format!(
                    "--entry {text}: there is no rank {rank}, ranks are 0 to {}",
                    count - 1
                )));
            }
            Some((Err(_), _)) => {
                return Err(Failure::usage(format!("--entry {text}: '{part}' is not RANK:FUNCTION, such as 1:recv")));
            }
            // A name for all that are not named.
            None => {
                let name = Some(part.trim_start_matches('@').to_string());
                entries.iter_mut().filter(|entry| entry.is_none()).for_each(|entry| *entry = name.clone());
            }
        }
    }
    Ok(entries)
}

fn stop(error: InputError) -> Stop {
    match error.label {
        Some(label) => Stop::binding(format!("{label}: {}", words::sentence(&error.error))),
        None => error.error.into(),
    }
}

impl Job<'_> {
    /// The ranks that a name is for: one that names all is for those that have it; a wrong name is for all.
    fn ranks_with(&self, ranks: &Ranks, name: &str, of: Of) -> Vec<usize> {
        let all = self.ranks_of(of);
        // The extents and strides of an argument are said behind its name.
        let bare = name.split('.').next().unwrap_or(name);
        let has = |rank: &usize| ranks.kernel(*rank).is_some_and(|kernel| kernel.argument(bare).is_ok());
        let with: Vec<usize> = all.iter().copied().filter(has).collect();
        if with.is_empty() || of != Of::All { all } else { with }
    }

    fn ranks_of(&self, of: Of) -> Vec<usize> {
        match of {
            Of::Rank(rank) => vec![rank as usize],
            Of::All | Of::Stack => (0..self.count as usize).collect(),
        }
    }

    /// Refuses a rank that does not run.
    fn check(&self, name: &str, of: Of) -> Result<(), Stop> {
        match of {
            Of::Rank(rank) if rank >= self.count => {
                Err(Stop::binding(format!("{name}@{rank}: there is no rank {rank}, ranks are 0 to {}", self.count - 1)))
            }
            _ => Ok(()),
        }
    }

    fn ready(&self, session: &mut Session<'_>, kernels: Vec<Kernel>) -> Result<Ready, Stop> {
        let args = self.args;
        let mut ranks = Ranks::new(kernels)?;
        for window in &args.window {
            let (context, list) = match window.split_once(':') {
                Some((context, list)) => (Some(context).filter(|c| !c.is_empty()), list),
                None => {
                    let what = format!("--window {window} is not CTX:A,B, such as ctx:recv,flags");
                    return Err(Stop::Failure(Failure::usage(what)));
                }
            };
            let list: Vec<String> = list.split(',').filter(|n| !n.is_empty()).map(str::to_string).collect();
            ranks.window(context, &list)?;
        }
        for bind in &args.bind {
            let sides = bind.split_once('=').map(|(a, b)| [ranked(a), ranked(b)]);
            let Some([(a, Of::Rank(r)), (b, Of::Rank(q))]) = sides else {
                let what = format!("--bind {bind} is not A@R=B@Q, such as theirs@0=mine@1");
                return Err(Stop::Failure(Failure::usage(what)));
            };
            ranks.alias(r, a, q, b)?;
        }
        let mut inputs = self.inputs(session, &ranks)?;
        let mut shapes = Vec::new();
        for rank in 0..self.count as usize {
            let own = inputs.remove(&rank).unwrap_or_default();
            let open = ranks.bind(rank, own, args.blocks).map_err(stop)?;
            ranks.unbound(rank, &open)?;
            let kernel = ranks.kernel(rank).ok_or_else(|| Stop::binding(format!("there is no rank {rank}")))?;
            let outputs = self.outputs(&ranks, kernel, rank)?;
            shapes.push(kernel.shapes(&ranks.bindings[rank]));
            let bindings = &mut ranks.bindings[rank];
            bindings.tracked = !args.untracked;
            bindings.trace = args.trace.is_some();
            bindings.fuses = !args.no_fuse;
            bindings.limits = args.limits.into();
            bindings.order = args.order.options().mode;
            bindings.outputs = outputs;
        }
        let wanted = self.expected(session)?;
        Ok((ranks, wanted, shapes))
    }

    /// The inputs of each rank; a stack is cut along its first axis.
    fn inputs(&self, session: &mut Session<'_>, ranks: &Ranks) -> Result<BTreeMap<usize, Inputs>, Stop> {
        let args = self.args;
        let mut all: BTreeMap<usize, Inputs> = BTreeMap::new();
        // What names a rank stands over what names all.
        for general in [true, false] {
            for bound in args.inputs.iter().filter(|b| (b.of == Of::All) == general) {
                let name = bound.bare().to_string();
                self.check(&name, bound.of)?;
                let (label, array, is_cast) = match &bound.to {
                    Give::Fill(fill) => {
                        for rank in self.ranks_with(ranks, &name, bound.of) {
                            let label = format!("--in {}={fill}", bound.name);
                            give(all.entry(rank).or_default(), &name, label, From::Fill(*fill));
                        }
                        continue;
                    }
                    Give::File(file, is_cast) => (file.display().to_string(), read_array(session, file)?, *is_cast),
                };
                let from = |array: Array| if is_cast { From::Cast(array) } else { From::Array(array) };
                if bound.of == Of::Stack {
                    let parts =
                        unstacked(array, self.count).map_err(|what| Stop::binding(format!("{label}: {what}")))?;
                    for (rank, part) in parts.into_iter().enumerate() {
                        give(all.entry(rank).or_default(), &name, label.clone(), from(part));
                    }
                } else {
                    for rank in self.ranks_with(ranks, &name, bound.of) {
                        give(all.entry(rank).or_default(), &name, label.clone(), from(array.clone()));
                    }
                }
            }
            for (name, dims) in &args.shape {
                let (name, of) = ranked(name);
                if (of == Of::All) != general {
                    continue;
                }
                self.check(name, of)?;
                for rank in self.ranks_with(ranks, name, of) {
                    let shapes = &mut all.entry(rank).or_default().shapes;
                    shapes.retain(|(other, _)| other != name);
                    shapes.push((name.to_string(), dims.clone()));
                }
            }
            for bound in args.set.iter().filter(|b| (b.of == Of::All) == general) {
                self.check(bound.bare(), bound.of)?;
                if bound.of == Of::Stack {
                    return Err(Stop::binding(format!("--set {}: a number has no axis for the rank", bound.name)));
                }
                for rank in self.ranks_with(ranks, bound.bare(), bound.of) {
                    let set = &mut all.entry(rank).or_default().set;
                    let is_same = |(other, setting): &(String, tessera::program::Setting)| {
                        other == bound.bare() && std::mem::discriminant(setting) == std::mem::discriminant(&bound.to)
                            || other == bound.bare() && !general
                    };
                    set.retain(|old| !is_same(old));
                    set.push((bound.bare().to_string(), bound.to.clone()));
                }
            }
        }
        if let Some(bound) = args.raw_in.first() {
            let what = format!("--raw-in {}: tiles of several ranks are given with --in", bound.name);
            return Err(Stop::Failure(Failure::usage(what)));
        }
        Ok(all)
    }

    /// The tiles that the command line wants to be put out or compared.
    fn wanted(&self) -> impl Iterator<Item = Wanted<'_>> {
        fn of<T>(bound: &Bound<T>) -> Wanted<'_> {
            Wanted { name: bound.bare(), of: bound.of }
        }
        let args = self.args;
        args.outputs.iter().map(of).chain(args.expect.iter().map(of)).chain(args.dump.iter().map(of))
    }

    fn shows_outputs(&self) -> bool {
        self.wanted().next().is_none() && self.args.format == Format::Human
    }

    fn outputs(&self, ranks: &Ranks, kernel: &Kernel, rank: usize) -> Result<Vec<(tessera_ir::ValueId, u8)>, Stop> {
        let mut all = Vec::new();
        for wanted in self.wanted() {
            self.check(wanted.name, wanted.of)?;
            if self.ranks_of(wanted.of).contains(&rank) {
                match (kernel.result(wanted.name), wanted.of) {
                    (Ok(value), _) => all.push((value, 0)),
                    // A name of all ranks is of those that have it.
                    (Err(_), Of::All) if is_known(ranks, wanted.name) => {}
                    (Err(error), _) => return Err(error.into()),
                }
            }
        }
        if self.shows_outputs() {
            all.extend(kernel.outputs().into_iter().map(|v| (v, 0)));
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// The expectations, by rank.
    fn expected(&self, session: &mut Session<'_>) -> Result<Vec<(usize, Expected)>, Stop> {
        let args = self.args;
        let mut all = Vec::new();
        for bound in &args.expect {
            let Give::File(file, is_cast) = &bound.to else {
                return Err(Stop::binding(format!("--expect {}: outputs are compared with files", bound.name)));
            };
            let array = read_array(session, file)?;
            let label = file.display().to_string();
            let parts = match bound.of {
                Of::Stack => {
                    let parts = unstacked(array, self.count);
                    parts.map_err(|what| Stop::binding(format!("{label}: {what}")))?.into_iter().enumerate().collect()
                }
                of => self.ranks_of(of).into_iter().map(|rank| (rank, array.clone())).collect::<Vec<_>>(),
            };
            for (rank, array) in parts {
                let want = Expected {
                    name: bound.bare().to_string(),
                    core1: false,
                    label: label.clone(),
                    array,
                    is_cast: *is_cast,
                    tolerance: args.tolerance.into(),
                };
                all.push((rank, want));
            }
        }
        Ok(all)
    }

    /// The files that are written, with the name and the rank of each; a stack has no rank.
    fn files(&self) -> Vec<(PathBuf, &str, Option<usize>, Option<npy::Float>)> {
        let mut all = Vec::new();
        for bound in &self.args.outputs {
            let as_float = bound.to.as_float;
            match bound.of {
                Of::Rank(rank) => all.push((bound.to.file.clone(), bound.bare(), Some(rank as usize), as_float)),
                Of::Stack => all.push((bound.to.file.clone(), bound.bare(), None, as_float)),
                Of::All => {
                    for rank in 0..self.count as usize {
                        all.push((of_rank(&bound.to.file, rank), bound.bare(), Some(rank), as_float));
                    }
                }
            }
        }
        all
    }

    fn check_files(&self, session: &Session<'_>) -> Result<(), Failure> {
        let files = self.files();
        let mut paths: Vec<&Path> = files.iter().map(|f| f.0.as_path()).collect();
        paths.extend(self.args.trace.as_deref());
        if self.args.format == Format::Json && paths.iter().any(|path| output::is_stdout(path)) {
            return Err(Failure::usage("--format json writes to standard output, and so does `-`"));
        }
        if let Some(bound) = self.args.raw_out.first() {
            return Err(Failure::usage(format!(
                "--raw-out {}: tiles of several ranks are written with --out",
                bound.name
            )));
        }
        output::check(session, &paths)
    }

    fn shown<'s>(&self, session: &'s mut Session<'_>) -> &'s mut dyn Write {
        let to_stdout = self.files().iter().any(|file| output::is_stdout(&file.0));
        match self.args.format == Format::Json || to_stdout {
            true => &mut *session.stderr,
            false => &mut *session.stdout,
        }
    }

    fn show_printed(&self, session: &mut Session<'_>, kernels: &[Kernel], all: &RanksOutcome) -> Result<(), Failure> {
        for (rank, (kernel, output)) in kernels.iter().zip(&all.ranks).enumerate() {
            for printed in &output.printed {
                let block = if self.args.blocks > 1 { format!(" in block {}", printed.block) } else { String::new() };
                let text = match &printed.what {
                    PrintedValue::Tile(value, data) => {
                        show_tile(kernel.name(*value), &format!("@{rank}{block}"), data, printed.format)
                    }
                    PrintedValue::Text(text) => format!("rank {rank}: {}\n", text.trim_end_matches('\n')),
                };
                self.shown(session).write_all(text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Writes the files, all or none, shows what is to be seen, and compares.
    fn put_out(
        &self,
        session: &mut Session<'_>,
        kernels: &[Kernel],
        mut all: RanksOutcome,
        shapes: &[Shapes],
        wanted: &[(usize, Expected)],
    ) -> Outcome {
        let outcomes: Vec<_> = (0..kernels.len()).map(|rank| outcome_of(&mut all, rank)).collect();
        let array = |rank: usize, name: &str, as_float: Option<npy::Float>| {
            let kernel = kernels.get(rank)?;
            let value = kernel.result(name).ok()?;
            let array = kernel.array(&outcomes[rank], &shapes[rank], value, 0)?;
            Some(match kernel.elem(value).zip(as_float) {
                Some((elem, float)) => array.widened(elem, float),
                None => array,
            })
        };
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for (file, name, rank, as_float) in self.files() {
            let made = match rank {
                Some(rank) => array(rank, name, as_float),
                None => stacked((0..kernels.len()).filter_map(|rank| array(rank, name, as_float)).collect())
                    .map_err(|what| Failure::usage(format!("{}: {what}", file.display())))?,
            };
            files.extend(made.map(|array| (file, array.into_file())));
        }
        if let Some(file) = &self.args.trace {
            let lines =
                outcomes.iter().enumerate().map(|(rank, o)| trace::lines_of(&self.loaded.source, o, Some(rank)));
            files.push((file.clone(), lines.collect::<String>().into_bytes()));
        }
        output::write(session, &files)?;
        for bound in &self.args.dump {
            for rank in self.ranks_of(bound.of) {
                let value = kernels.get(rank).and_then(|kernel| kernel.find(bound.bare()));
                let tile = value.and_then(|v| outcomes[rank].tiles.iter().find(|t| t.value == v));
                if let Some(tile) = tile {
                    let text = show_tile(bound.bare(), &format!("@{rank}"), &tile.data, None);
                    self.shown(session).write_all(text.as_bytes())?;
                }
            }
        }
        if self.shows_outputs() {
            for (rank, kernel) in kernels.iter().enumerate() {
                for value in kernel.outputs() {
                    let contents = kernel.contents(&outcomes[rank], &shapes[rank], value, 0);
                    let Some((elem, shape, bytes)) = contents else { continue };
                    let values = Values { elem, shape: &shape, bytes, defined: &[], format: None };
                    let (name, dims) = (kernel.name(value), npy::shape_text(&shape));
                    write!(session.stdout, "%{name} of rank {rank}: {elem} {dims}\n{}", values.table())?;
                }
            }
        }
        let mut code = FINE;
        for (rank, want) in wanted {
            let found = want.compare(&kernels[*rank], &outcomes[*rank], &shapes[*rank]);
            let wrong = |e: Error| Failure::usage(format!("{}: {}", want.label, words::sentence(&e)));
            let found = found.map_err(wrong)?;
            let name = format!("%{} of rank {rank}", want.name);
            let of = counted(found.elements, "element");
            if found.is_equal() {
                let how = if want.tolerance.is_exact() { "equals" } else { "is near enough to" };
                writeln!(self.shown(session), "{name} {how} {}: {of}", want.label)?;
                continue;
            }
            code = PROGRAM_ERROR;
            writeln!(self.shown(session), "{name} differs from {} in {} of {of}", want.label, found.different)?;
            for d in &found.worst {
                let index: Vec<String> = d.index.iter().map(u64::to_string).collect();
                writeln!(self.shown(session), "  [{}]: {} instead of {}", index.join(", "), d.got, d.want)?;
            }
        }
        Ok(code)
    }
}

/// Whether some rank has a value of this name.
fn is_known(ranks: &Ranks, name: &str) -> bool {
    (0..ranks.count()).any(|rank| ranks.kernel(rank).is_some_and(|kernel| kernel.result(name).is_ok()))
}

/// Contents replace those that were given for all ranks.
fn give(inputs: &mut Inputs, name: &str, label: String, from: From) {
    let is_general = |c: &Content| c.name == name;
    inputs.contents.retain(|c| !is_general(c));
    inputs.contents.push(Content { name: name.to_string(), label, from });
}

/// `y.npy` of rank 2 is `y.2.npy`.
fn of_rank(file: &Path, rank: usize) -> PathBuf {
    if output::is_stdout(file) {
        return file.to_path_buf();
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = match file.extension() {
        Some(extension) => format!("{stem}.{rank}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{rank}"),
    };
    file.with_file_name(name)
}

/// The parts of an array along its first axis, one for each rank.
fn unstacked(array: Array, count: u32) -> Result<Vec<Array>, String> {
    let Some((first, rest)) = array.shape.split_first().filter(|(first, _)| **first == u64::from(count)) else {
        let shape = npy::shape_text(&array.shape);
        let axis = array.shape.first().map_or("it has no axis".into(), |n| format!("its first axis has {n}"));
        return Err(format!("its shape is {shape}: {axis}, and there are {}", counted(count.into(), "rank")));
    };
    let size = array.bytes.len() / (*first).max(1) as usize;
    let part = |rank: usize| Array {
        dtype: array.dtype.clone(),
        descr: array.descr.clone(),
        shape: rest.to_vec(),
        bytes: array.bytes.get(rank * size..(rank + 1) * size).unwrap_or_default().to_vec(),
    };
    Ok((0..count as usize).map(part).collect())
}

/// Arrays of one shape as one array, whose first axis is the rank.
fn stacked(parts: Vec<Array>) -> Result<Option<Array>, String> {
    let count = parts.len() as u64;
    let mut parts = parts.into_iter();
    let Some(mut all) = parts.next() else { return Ok(None) };
    for part in parts {
        if part.shape != all.shape || part.descr != all.descr {
            let (a, b) = (npy::shape_text(&all.shape), npy::shape_text(&part.shape));
            return Err(format!("the ranks' arrays have the shapes {a} and {b}, and no stack"));
        }
        all.bytes.extend_from_slice(&part.bytes);
    }
    all.shape.insert(0, count);
    Ok(Some(all))
}
