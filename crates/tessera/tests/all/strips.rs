//! Loops of micro instructions, whose rounds run several at a time, against the definition of each instruction, which is what
//! runs when somebody looks at every access.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use tessera::program::{Bindings, Input, Outcome, Program};
use tessera::{Elem, Number};

/// Pseudo-random numbers from a linear congruence.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn name(&mut self, all: &[String]) -> String {
        all[self.below(all.len())].clone()
    }
}

/// Bytes of the part of UB that programs work on.
const BYTES: usize = 32 << 10;

/// A loop of random instructions over 32 KB of UB.
fn program(random: &mut Random) -> String {
    let (mut regs, mut masks) = (
        vec!["%k".to_string(), "%acc".to_string(), "%best".to_string()],
        vec!["%all".to_string(), "%few".to_string(), "%left".to_string()],
    );
    let mut body = String::from("        %left, %next = pto.plt_b32 %rest : i32 -> !m, i32\n");
    for n in 0..3 + random.below(8) {
        let (a, b, m) = (random.name(&regs), random.name(&regs), random.name(&masks));
        // Whole blocks of 32 bytes, near enough for rounds to meet.
        let at = 8 * random.below(40);
        let line = match random.below(14) {
            0..=2 => {
                regs.push(format!("%v{n}"));
                format!("%at{n} = arith.addi %i, %d{at} : index\n        %v{n} = pto.vlds %x[%at{n}] : !p -> !v")
            }
            3 => {
                regs.push(format!("%v{n}"));
                format!("%v{n} = pto.vlds %x[%i] {{dist = \"BRC_B32\"}} : !p -> !v")
            }
            4 | 5 => {
                format!("%at{n} = arith.addi %i, %d{at} : index\n        pto.vsts {a}, %x[%at{n}], {m} : !v, !p, !m")
            }
            6 => {
                let op = random.of(&["vadd", "vmul", "vmax", "vsub"]);
                regs.push(format!("%v{n}"));
                format!("%v{n} = pto.{op} {a}, {b}, {m} : !v, !v, !m -> !v")
            }
            7 => {
                regs.push(format!("%v{n}"));
                format!("%v{n} = pto.vadds {a}, %half, {m} : !v, f32, !m -> !v")
            }
            8 => {
                regs.push(format!("%v{n}"));
                let part = random.of(&["EVEN", "ODD"]);
                let sat = random.of(&["SAT", "NOSAT"]);
                format!(
                    "%h{n} = pto.vcvt {a}, {m} {{rnd = \"R\", sat = \"{sat}\", part = \"{part}\"}} : !v, !m -> !h\n        \
                     %v{n} = pto.vcvt %h{n}, %every {{part = \"{part}\"}} : !h, !pto.mask<b16> -> !v"
                )
            }
            9 => {
                masks.push(format!("%m{n}"));
                format!("%m{n} = pto.vcmp {a}, {b}, {m}, \"{}\" : !v, !v, !m -> !m", random.of(&["lt", "ge", "eq"]))
            }
            10 => {
                regs.push(format!("%v{n}"));
                format!("%v{n} = pto.vsel {a}, {b}, {m} : !v, !v, !m -> !v")
            }
            11 => {
                regs.push(format!("%v{n}"));
                format!("%v{n} = pto.{} {a}, {m} : !v, !m -> !v", random.of(&["vcadd", "vcmax", "vcmin"]))
            }
            12 => {
                regs.push(format!("%v{n}"));
                format!("%v{n} = pto.vdup {a}, {m} {{position = \"LOWEST\"}} : !v, !m -> !v")
            }
            _ => "pto.mem_bar \"VST_VLD\"".to_string(),
        };
        body += &format!("        {line}\n");
    }
    let (acc, best) = (random.name(&regs), random.name(&regs));
    body += &format!("        %nacc = pto.vadd %acc, {acc}, %all : !v, !v, !m -> !v\n");
    body += &format!("        %nbest = pto.vmax {best}, %best, %left : !v, !v, !m -> !v\n");
    let step = random.of(&["%d8", "%d64", "%d64", "%d64", "%d96"]);
    let offsets: String = (0..40).map(|n| format!("      %d{0} = arith.constant {0} : index\n", 8 * n)).collect();
    format!(
        "!p = !pto.ptr<f32, ub>
!v = !pto.vreg<64xf32>
!h = !pto.vreg<128xf16>
!m = !pto.mask<b32>
module attributes {{pto.target_arch = \"a5\", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  func.func @kernel(%in: !pto.ptr<f32, gm>, %out: !pto.ptr<f32, gm>, %count: i32) attributes {{pto.aicore}} {{
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %len = arith.constant {BYTES} : i64
    %half = arith.constant 0.5 : f32
    %x = pto.castptr %zero : i64 -> !p
    pto.mte_gm_ub %in, %x, %zero, %len nburst(%one, %zero, %zero) : !pto.ptr<f32, gm>, !p, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {{
{offsets}      %end = arith.constant {end} : index
      %all = pto.pset_b32 \"PAT_ALL\" : !m
      %every = pto.pset_b16 \"PAT_ALL\" : !pto.mask<b16>
      %few = pto.pset_b32 \"PAT_VL7\" : !m
      %k = pto.vbr %half : f32 -> !v
      %s:3 = scf.for %i = %d0 to %end step {step} iter_args(%rest = %count, %acc = %k, %best = %k) -> (i32, !v, !v) {{
{body}        scf.yield %next, %nacc, %nbest : i32, !v, !v
      }}
      pto.vsts %s#1, %x[%d0], %all : !v, !p, !m
      pto.vsts %s#2, %x[%d64], %all : !v, !p, !m
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %x, %out, %len nburst(%one, %zero, %zero) : !p, !pto.ptr<f32, gm>, i64, i64, i64, i64
    return
  }}
}}
",
        end = 64 * (4 + random.below(80)),
    )
}

/// f32 of all kinds, with infinities and NaN among them now and then.
fn bytes(random: &mut Random) -> Vec<u8> {
    let wild = random.below(3) == 0;
    let number = |_| {
        let any = (random.below(1 << 16) << 16 | random.below(1 << 16)) as u32;
        let tame = (any as f32 / 1e8 - 20.0).to_bits();
        if wild && random.below(20) == 0 { any } else { tame }
    };
    (0..BYTES / 4).map(number).flat_map(u32::to_le_bytes).collect()
}

fn output(outcome: &Outcome) -> (Vec<Vec<u8>>, Vec<String>) {
    let found = outcome.diagnostics.iter().map(|d| d.rule.to_string()).filter(|rule| !rule.starts_with("race"));
    (outcome.buffers.iter().map(|b| b.bytes.clone()).collect(), found.collect())
}

#[test]
fn rounds_together_make_what_single_instructions_make() {
    let mut random = Random(11);
    let mut changed = 0;
    for n in 0..300 {
        let text = program(&mut random);
        let kernel = Program::parse(&text).unwrap_or_else(|e| panic!("{n}: {e}\n{text}")).entry().unwrap();
        let x = bytes(&mut random);
        let input = Input::Buffer { bytes: x.clone(), elem: Elem::F32, dims: vec![BYTES as u64 / 4] };
        let empty = Input::Buffer { bytes: vec![0; BYTES], elem: Elem::F32, dims: vec![BYTES as u64 / 4] };
        let count = Input::Scalar(Number::Int(64 * random.below(90) as i128));
        let bind = || Bindings {
            inputs: [("in", input.clone()), ("out", empty.clone()), ("count", count.clone())]
                .into_iter()
                .filter_map(|(name, value)| Some((kernel.find(name)?, value)))
                .collect(),
            ..Bindings::default()
        };
        let together = output(&kernel.execute(bind()));
        let (single, _) = kernel.execute_judged(bind());
        assert_eq!(together, output(&single), "{n}\n{text}");
        changed += usize::from(together.0.iter().any(|bytes| bytes.len() == BYTES && *bytes != x));
    }
    assert!(changed > 250, "{changed} programs computed something");
}
