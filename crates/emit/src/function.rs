//! The file and its functions: heads, parameters, and what stands around a body (build.md 2).

use crate::build::{Function, Kernel, Options, Parameter};
use crate::names::Names;
use crate::{Emitted, Emitter, cannot, needed, words};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use tessera_ir::scalar::Constants;
use tessera_ir::{BlockId, Core, Def, Fifos, Module, NameId, Op, OpId, Type, ValueId, fifo};
use tessera_isa::profile::Profile;

/// A function of the text, as a part of a kernel.
struct Part<'a> {
    kernel: &'a Kernel,
    name: NameId,
    body: BlockId,
    args: Vec<ValueId>,
    core: Option<Core>,
}

/// The text of all functions.
pub(crate) fn print(
    module: &Module,
    kernels: &[Kernel],
    names: &HashMap<NameId, String>,
    profile: Profile,
    options: &Options<'_>,
) -> Emitted<(String, Vec<Function>)> {
    let mut parts: Vec<Part<'_>> = kernels.iter().flat_map(|kernel| parts(module, kernel)).collect();
    let place = |name: NameId| module.funcs.iter().position(|f| f.name == name);
    let called: HashSet<NameId> = module.funcs.iter().flat_map(|f| f.callees()).collect();
    // In the order of the module, but callees before callers: a name that is used is declared.
    let is_called: HashSet<NameId> = kernels.iter().filter(|k| k.is_called).map(|k| k.before.name).collect();
    parts.sort_by_key(|part| {
        (!is_called.contains(&part.name), if is_called.contains(&part.name) { None } else { place(part.name) })
    });
    let (mut out, mut communicates) = (String::new(), false);
    let mut functions: Vec<Function> = Vec::new();
    let alone = module.funcs.iter().filter(|f| !f.is_declaration && !called.contains(&f.name)).count() == 1;
    for part in parts {
        let name = names.get(&part.name).cloned().unwrap_or_default();
        // Two kernels may call one function.
        if functions.iter().any(|f| f.name == name) {
            continue;
        }
        let mut emitter = emitter(module, &part, names, profile, options);
        emitter.find_early();
        let function = emitter.function(&part, name, alone && !called.contains(&part.name))?;
        out.push('\n');
        out.push_str(&emitter.out);
        communicates |= emitter.communicates;
        functions.push(function);
    }
    let ranks = if communicates { "#include \"pto/comm/pto_comm_inst.hpp\"\n" } else { "" };
    Ok((format!("#include \"pto/pto-inst.hpp\"\n{ranks}\nusing namespace pto;\n{out}"), functions))
}

/// The functions of a kernel: functions that run together were made sections of one (`tessera_ir::inline::join`).
fn parts<'a>(module: &Module, kernel: &'a Kernel) -> Vec<Part<'a>> {
    let func = &kernel.func;
    if !kernel.is_joined {
        return vec![Part { kernel, name: func.name, body: func.body, args: func.args.clone(), core: func.core }];
    }
    let part = |id: &OpId| {
        let op = func.op(*id);
        op.section_core()?;
        let original = module.funcs.iter().find(|f| f.name == func.home(*id))?;
        let named =
            |arg: &ValueId| func.args.iter().copied().find(|v| func.value(*v).name == original.value(*arg).name);
        let args = original.args.iter().filter_map(named).collect();
        Some(Part { kernel, name: original.name, body: *op.blocks.first()?, args, core: original.core })
    };
    func.block(func.body).ops.iter().filter_map(part).collect()
}

fn emitter<'a>(
    module: &'a Module,
    part: &Part<'a>,
    functions: &'a HashMap<NameId, String>,
    profile: Profile,
    options: &Options<'a>,
) -> Emitter<'a> {
    let func = &part.kernel.func;
    let mut uses = vec![Vec::new(); func.values.len()];
    func.walk(&mut |id, op, _| op.values().for_each(|v| uses[v.index()].push(id)));
    let function_names: Vec<String> = functions.values().cloned().collect();
    Emitter {
        module,
        func,
        profile,
        placement: &part.kernel.placement,
        names: Names::new(module, func, &function_names),
        functions,
        constants: Constants::new(module, func),
        fifos: Fifos::new(module, func),
        needed: needed(func, &uses),
        uses,
        views: HashMap::new(),
        pipes: HashMap::new(),
        references: HashSet::new(),
        early: Vec::new(),
        debug_lines: options.debug_lines,
        line_starts: options.debug_lines.map_or_else(Vec::new, |_| line_starts(&module.lines.0)),
        communicates: false,
        core: part.core,
        out: String::new(),
        depth: 0,
    }
}

/// The bytes at which the lines of a text begin, but for the first.
fn line_starts(text: &str) -> Vec<u32> {
    text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next).collect()
}

impl Emitter<'_> {
    fn function(&mut self, part: &Part<'_>, name: String, is_alone: bool) -> Emitted<Function> {
        let original = self.module.funcs.iter().find(|f| f.name == part.name).unwrap_or(self.func);
        let parameters = self.parameters(&part.args)?;
        self.references = parameters.iter().filter(|p| p.ty.ends_with('&')).map(|p| p.name.clone()).collect();
        let is_kernel = original.is_entry || is_alone && !part.kernel.is_called;
        let result = match self.func.results.as_slice() {
            [] => "void".to_string(),
            [one] if part.kernel.is_called => self.result_text(*one)?,
            _ => {
                return Err(cannot(self.func.span, "a kernel with results", "store what it computes to global memory"));
            }
        };
        // References are C++ only; so is nothing else.
        let is_c = parameters.iter().all(|p| !p.ty.ends_with('&'));
        let qualifiers = match (is_kernel, original.is_private()) {
            (false, true) => "static AICORE",
            _ if !is_c => "AICORE",
            (true, _) => "extern \"C\" __global__ AICORE",
            (false, false) => "extern \"C\" AICORE",
        };
        let listed: Vec<String> = parameters.iter().map(|p| declared(&p.ty, &p.name)).collect();
        let _ = writeln!(self.out, "{qualifiers} {result} {name}({})\n{{", listed.join(", "));
        self.depth = 1;
        for parameter in &parameters {
            if !self.needed[parameter.value.index()] {
                self.line(&format!("(void){};", parameter.name));
            }
        }
        match part.core {
            Some(core) => self.for_core(core, part.body, true)?,
            None => {
                self.opening(part.body, &part.args)?;
                self.block(part.body)?;
                self.closing();
            }
        }
        self.out.push_str("}\n");
        Ok(Function { name, parameters, core: part.core, is_kernel })
    }

    /// Code that only one kind of core runs (build.md 2.3).
    fn for_core(&mut self, core: Core, body: BlockId, is_function: bool) -> Emitted<()> {
        let outside = self.core.replace(core);
        self.directive(match core {
            Core::Cube => "#if defined(__DAV_CUBE__)",
            Core::Vector => "#if defined(__DAV_VEC__)",
        });
        if !is_function {
            self.line("{");
            self.depth += 1;
        }
        if core == Core::Vector && (is_function || outside != Some(core)) {
            self.line("set_mask_norm();");
            self.line("set_vector_mask(-1, -1);");
        }
        // Where tiles go whole, there is nothing for the second vector core (isa/structure.md 4).
        let is_first_only =
            core == Core::Vector && self.profile != Profile::A2a3 && fifo::moves_whole_tiles(self.func, &[body]);
        if is_first_only {
            self.line("if (get_subblockid() == 0) {");
            self.depth += 1;
        }
        if is_function {
            let args = self.func.args.clone();
            self.opening(body, &args)?;
        }
        self.block(body)?;
        if is_function {
            self.closing();
        }
        if is_first_only {
            self.depth -= 1;
            self.line("}");
        }
        if !is_function {
            self.depth -= 1;
            self.line("}");
        }
        self.directive("#endif");
        self.core = outside;
        Ok(())
    }

    pub(crate) fn section(&mut self, op: &Op) -> Emitted<()> {
        let (Some(core), Some(body)) = (op.section_core(), op.blocks.first().copied()) else { return Ok(()) };
        // A section in code of its own kind has no effect.
        if self.core == Some(core) {
            return self.block(body);
        }
        self.for_core(core, body, false)
    }

    fn parameters(&self, args: &[ValueId]) -> Emitted<Vec<Parameter>> {
        let mut all: Vec<Parameter> = Vec::new();
        for value in args.iter().copied() {
            let name = self.names.object(value).to_string();
            let of = self.module.names.text(self.func.value(value).name).to_string();
            let mut add = |name: String, ty: String, address: Option<u64>| {
                all.push(Parameter { name, ty, value, of: of.clone(), address });
            };
            match self.ty(value) {
                Type::Scalar(ty) => add(name, words::scalar_type(*ty, self.span(value))?.into(), None),
                Type::Ptr(..) => add(name, self.pointer_type(value)?, None),
                Type::View(_) | Type::Memref(_) => {
                    let (elem, dims) = self.view_dims(value)?;
                    add(name.clone(), format!("__gm__ {} *", elem.cpp()), None);
                    let open = (0..dims.len()).filter(|k| dims[*k].is_none());
                    open.for_each(|k| add(format!("{name}_dim{k}"), "int64_t".into(), None));
                }
                ty @ (Type::Tile(_) | Type::Conv(_)) => {
                    let object = words::object_type(ty, self.profile, self.span(value))?;
                    let address = self.placement.slot(value).map(|slot| slot.addr);
                    let early = || self.early_address(value).and_then(|arg| self.constant(arg)).map(|v| v as u64);
                    add(name, format!("{object} &"), early().or(address));
                }
                Type::Vector(..) => add(name, "MrgSortExecutedNumList &".into(), None),
                Type::Event | Type::Opaque(_) | Type::Micro(_) | Type::Multi(..) => {}
            }
        }
        for value in self.func.outputs.iter().copied().filter(|v| !args.contains(v)) {
            let name = format!("{}_out", self.names.object(value));
            let ty = match self.ty(value) {
                ty @ Type::Tile(_) => format!("{} &", words::object_type(ty, self.profile, self.span(value))?),
                Type::Vector(..) => "MrgSortExecutedNumList &".into(),
                Type::Scalar(_) => {
                    return Err(cannot(self.span(value), "a scalar output of a listing", "use it, or leave it out"));
                }
                _ => return Err(cannot(self.span(value), "an output that is no tile", "store it to global memory")),
            };
            let of = self.module.names.text(self.func.value(value).name).to_string();
            all.push(Parameter { name, ty, value, of, address: None });
        }
        Ok(all)
    }

    /// Views of arguments, and tiles that exist from the start.
    fn opening(&mut self, body: BlockId, args: &[ValueId]) -> Emitted<()> {
        self.img2col_state();
        for value in args.iter().copied() {
            match self.ty(value) {
                Type::View(_) | Type::Memref(_) if self.needed[value.index()] => self.argument_view(value)?,
                Type::Tile(_) | Type::Conv(_) | Type::Vector(..) => self.names.declared(value),
                _ => {}
            }
        }
        // Tiles that control flow hands out of the block that makes them exist outside of it.
        let values = (0..self.func.values.len() as u32).map(ValueId);
        let objects: Vec<ValueId> = values.filter(|v| self.owns_object(*v)).collect();
        for value in objects {
            let is_nested = match self.func.value(value).def {
                Def::Result(op, _) => self.placement.points.block_of(op) != body && self.is_handed_on(value),
                Def::BlockArg(..) => true,
                _ => false,
            };
            if is_nested && self.is_inside(body, value) {
                self.declare(value)?;
                if matches!(self.func.value(value).def, Def::BlockArg(..)) {
                    self.place(value);
                }
            }
        }
        Ok(())
    }

    /// Whether control flow hands the value on.
    fn is_handed_on(&self, value: ValueId) -> bool {
        let is_flow = |id: &OpId| {
            let op = self.func.op(*id);
            op.kind.is_flow() || op.kind.is_end()
        };
        self.uses[value.index()].iter().any(is_flow)
    }

    /// Whether a value is made inside a block, however deep.
    fn is_inside(&self, body: BlockId, value: ValueId) -> bool {
        let points = &self.placement.points;
        points.is_inside(points.home(self.func, value), body)
    }

    /// Hands the outputs of a listing to its caller.
    fn closing(&mut self) {
        for value in self.func.outputs.clone() {
            let (name, expression) = (self.names.object(value).to_string(), self.names.expression(value).to_string());
            if !self.func.args.contains(&value) {
                self.line(&format!("{name}_out = {expression};"));
            }
        }
    }

    pub(crate) fn returns(&mut self, op: &Op) -> Emitted<()> {
        if let Some(value) = op.operands.first() {
            let text = self.int(value.arg);
            self.line(&format!("return {text};"));
        }
        Ok(())
    }

    fn result_text(&self, id: tessera_ir::TypeId) -> Emitted<String> {
        match self.module.types.get(id) {
            Type::Scalar(ty) => words::scalar_type(*ty, self.func.span).map(str::to_string),
            ty @ Type::Ptr(elem, _) => Ok(format!("{} {} *", words::space(crate::address::memory(ty)), elem.cpp())),
            _ => Err(cannot(self.func.span, "a function with this result", "hand it on through global memory")),
        }
    }

    pub(crate) fn call(&mut self, op: &Op, name: NameId) -> Emitted<()> {
        let Some(callee) = self.functions.get(&name) else {
            return Err(cannot(op.span, "a call of a function that is not there", "define it"));
        };
        let arguments: Vec<String> = op.operands.iter().map(|o| self.int(o.arg)).collect();
        let call = format!("{callee}({})", arguments.join(", "));
        match op.results.first().copied() {
            Some(result) if self.needed[result.index()] => match self.ty(result) {
                Type::Scalar(_) => self.define(op, call),
                _ => {
                    let ty = self.pointer_type(result)?;
                    self.line(&format!("{} = {call};", declared(&ty, self.names.object(result))));
                    Ok(())
                }
            },
            _ => {
                self.line(&format!("{call};"));
                Ok(())
            }
        }
    }
}

/// A declaration: the type and the name.
pub(crate) fn declared(ty: &str, name: &str) -> String {
    if ty.ends_with(['*', '&']) { format!("{ty}{name}") } else { format!("{ty} {name}") }
}
