//! Blocks that work on arrays where they are come to the same as blocks that have copies; and it is known who does.

mod maker;

use crate::code::Program as Compiled;
use crate::compile::compile;
use crate::cores::Process;
use crate::sharing::{self, Sharing};
use crate::{Input, Limits, Outcome, Run, blocks};
use maker::{Maker, PART};
use tessera_asm::parse;
use tessera_ir::{Func, Module, ValueId, inline::inline};
use tessera_isa::elem::Elem;
use tessera_isa::profile::Profile;
use tessera_plan::Placement;

const THREADS: usize = 2;

/// A program and what it runs with.
struct Kernel {
    module: Module,
    func: Func,
    placement: Placement,
    profile: Profile,
    blocks: u32,
    tracked: bool,
    fuses: bool,
    record: bool,
    limits: Limits,
    inputs: Vec<(ValueId, Input)>,
}

impl Kernel {
    fn new(text: &str, profile: Profile, blocks: u32) -> Self {
        let parsed = parse(text, Some(profile));
        assert!(!parsed.has_errors(), "{:#?}\n{text}", parsed.diagnostics);
        let module = parsed.module;
        let func = inline(&module, module.entry(None).unwrap()).unwrap().into_owned();
        let placement = tessera_plan::plan(&module, &func, profile, &[]).unwrap();
        let (limits, inputs) = (Limits::default(), Vec::new());
        Kernel { module, func, placement, profile, blocks, tracked: true, fuses: true, record: false, limits, inputs }
    }

    fn buffer(mut self, name: &str, bytes: Vec<u8>) -> Self {
        let value = self.func.find(self.module.names.find(name).unwrap()).unwrap();
        let dims = vec![bytes.len() as u64];
        self.inputs.push((value, Input::Buffer { bytes, elem: Elem::U8, dims }));
        self
    }

    fn run(&self) -> Run<'_> {
        Run {
            module: &self.module,
            func: &self.func,
            profile: self.profile,
            placement: &self.placement,
            blocks: self.blocks,
            tracked: self.tracked,
            inputs: self.inputs.clone(),
            outputs: Vec::new(),
            trace: false,
            record: self.record,
            fuses: self.fuses,
            limits: self.limits,
            progress: None,
            observe: None,
        }
    }

    /// The outcome where every array is asked about, or none is.
    fn outcome(&self, asks: bool) -> Outcome {
        blocks::run(self.run(), THREADS, if asks { 0 } else { u64::MAX }).unwrap_or_else(Outcome::from)
    }

    /// By argument that is global memory: how blocks have it.
    fn sharing(&self) -> Vec<&'static str> {
        let mut run = self.run();
        let processes = Process::all(run.func);
        let compiled =
            |process: &Process| compile(run.module, run.func, run.profile, run.placement, *process, false).unwrap();
        let programs: Vec<Compiled> = processes.iter().map(compiled).collect();
        let mut buffers = blocks::buffers(&mut run);
        let bound: Vec<ValueId> = buffers.iter().map(|buffer| buffer.value).collect();
        let cx = blocks::contexts(&run, &processes, &programs, None, &bound);
        let name = |sharing: &Sharing| match sharing {
            Sharing::Copied => "copied",
            Sharing::Read(_) => "read",
            Sharing::WriteSet(_) => "written",
            Sharing::CombineLog(_) => "combined",
            Sharing::Parted(_) => "parted",
        };
        let turns = sharing::turns(THREADS);
        sharing::share(&run, &cx, &mut buffers, &turns, (THREADS, 0)).unwrap().iter().map(name).collect()
    }
}

fn numbers(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| ((i * 37 % 1009) as f32).to_le_bytes()).collect()
}

#[test]
fn arrays_that_are_worked_on_where_they_are_are_as_copies_are() {
    let (mut parted, mut copied, mut told) = (0, 0, 0);
    for seed in 0..1200 {
        let (text, ways) = Maker::program(seed);
        let blocks = 2 + seed as u32 % 5;
        // Now and then the array ends before the last block's part.
        let len = if seed % 16 == 7 { 3 * PART } else { 12 * PART };
        let table = (0..8).flat_map(|n: i32| (256 * (n % 2)).to_le_bytes()).collect();
        let mut kernel = Kernel::new(&text, Profile::Cpu, blocks)
            .buffer("w", numbers(len))
            .buffer("x", numbers(len))
            .buffer("n", table);
        (kernel.tracked, kernel.fuses) = (seed % 4 != 3, seed % 3 != 2);
        let [found, expected] = [true, false].map(|asks| kernel.outcome(asks));
        let what = format!("seed {seed}, {blocks} blocks, {ways:?}\n{text}");
        assert_eq!(format!("{:?}", found.diagnostics), format!("{:?}", expected.diagnostics), "{what}");
        let bytes = |outcome: &Outcome| outcome.buffers.iter().map(|b| b.bytes.clone()).collect::<Vec<_>>();
        assert_eq!(bytes(&found), bytes(&expected), "{what}");
        let sharing = kernel.sharing();
        parted += sharing.iter().filter(|s| **s == "parted").count();
        copied += sharing.iter().take(2).filter(|s| **s == "copied").count();
        told += expected.diagnostics.len();
    }
    assert!(parted > 600 && copied > 300 && told > 300, "{parted} {copied} {told}");
}

/// A kernel that doubles 16 x 16 elements of %w, %step elements after those of the block before, and whatever `more` says.
fn in_place(step: usize, pitch: usize, more: &str) -> Kernel {
    in_place_of(4096, step, pitch, more)
}

/// The same where %w has so many elements.
fn in_place_of(elements: usize, step: usize, pitch: usize, more: &str) -> Kernel {
    let text = format!(
        "func.func @kernel(%w: !pto.ptr<f32>, %x: !pto.ptr<f32>, %n: !pto.ptr<i32>) {{
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c16 = arith.constant 16 : index
            %pitch = arith.constant {pitch} : index
            %step = arith.constant {step} : index
            %huge = arith.constant 100000 : index
            %b64 = pto.get_block_idx
            %b = arith.index_cast %b64 : i64 to index
            %at = arith.muli %b, %step : index
            %p = pto.addptr %w, %at : !pto.ptr<f32> -> !pto.ptr<f32>
            %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%pitch, %c1] : !pto.tensor_view<?x?xf32>
            %t = pto.alloc_tile : !pto.tile<16x16xf32>
            %ids = pto.alloc_tile : !pto.tile<1x16xi32>
            pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile<16x16xf32>)
            {more}
            pto.tstore ins(%t : !pto.tile<16x16xf32>) outs(%v : !pto.tensor_view<?x?xf32>)
            return
        }}"
    );
    Kernel::new(&text, Profile::Cpu, 4)
        .buffer("w", numbers(elements))
        .buffer("x", numbers(4096))
        .buffer("n", [0i32, 1, 2, 3].iter().flat_map(|n| n.to_le_bytes()).collect())
}

#[test]
fn blocks_that_keep_to_their_parts_need_no_copies() {
    let sharing = |step, pitch, more: &str| in_place(step, pitch, more).sharing();
    assert_eq!(sharing(256, 16, ""), ["parted", "read", "read"], "one after the other");
    assert_eq!(sharing(16, 64, ""), ["parted", "read", "read"], "columns side by side");
    assert_eq!(sharing(255, 16, ""), ["copied", "read", "read"], "one element of two blocks");
    assert_eq!(sharing(15, 64, ""), ["copied", "read", "read"], "one column of two blocks");
    assert_eq!(sharing(0, 16, ""), ["copied", "read", "read"], "the same");
    let adds = "pto.tstore ins(%t : !pto.tile<16x16xf32>) outs(%v : !pto.tensor_view<?x?xf32>) \
                {atomicType = #pto<atomic_type atomic_add>}";
    assert_eq!(sharing(256, 16, adds), ["parted", "read", "read"], "what is added is a part's own");
    let shared = "%k = arith.constant 0.5 : f32\npto.store_scalar %k, %w[%c0] : !pto.ptr<f32>, f32";
    assert_eq!(sharing(256, 16, shared), ["copied", "read", "read"], "all write one element");
    let own = "%k = arith.constant 0.5 : f32\npto.store_scalar %k, %w[%at] : !pto.ptr<f32>, f32";
    assert_eq!(sharing(256, 16, own), ["parted", "read", "read"], "each writes one of its own");
    // What one array needs another one does not.
    let both = "%q = pto.addptr %x, %b : !pto.ptr<f32> -> !pto.ptr<f32>
                %y = pto.make_tensor_view %q, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
                pto.tload ins(%y : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile<16x16xf32>)
                pto.tstore ins(%t : !pto.tile<16x16xf32>) outs(%y : !pto.tensor_view<?x?xf32>)";
    assert_eq!(sharing(256, 16, both), ["parted", "copied", "read"]);
    assert_eq!(
        in_place(256, 16, "").outcome(true).buffers[0].bytes,
        in_place(256, 16, "").outcome(false).buffers[0].bytes
    );
}

#[test]
fn what_cannot_be_foreseen_has_copies() {
    let sharing = |more: &str| in_place(256, 16, more).sharing();
    let copied = ["copied", "read", "read"];
    let get = "%got = pto.tgetval ins(%t, %c1 : !pto.tile<16x16xf32>, index) outs : f32";
    assert_eq!(sharing(get), copied, "a scalar of a tile");
    assert_eq!(sharing("%got = pto.load_scalar %w[%at] : !pto.ptr<f32> -> f32"), copied, "a scalar of the array");
    assert_eq!(
        sharing("%got = pto.load_scalar %x[%at] : !pto.ptr<f32> -> f32"),
        ["parted", "read", "read"],
        "a scalar of an array that nobody writes"
    );
    let gathers = |from: &str| {
        format!(
            "%pn = pto.make_tensor_view %n, shape = [%c1, %c4], strides = [%c4, %c1] : !pto.tensor_view<?x?xi32>
             %rows = pto.alloc_tile : !pto.tile<4x16xf32>
             %four = pto.alloc_tile : !pto.tile<vec, 1x8xi32, valid=1x4>
             pto.tload ins(%pn : !pto.tensor_view<?x?xi32>) outs(%four : !pto.tile<vec, 1x8xi32, valid=1x4>)
             %pt = pto.addptr {from}, %at : !pto.ptr<f32> -> !pto.ptr<f32>
             %table = pto.make_tensor_view %pt, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
             pto.mgather ins(%table, %four : !pto.tensor_view<?x?xf32>, !pto.tile<vec, 1x8xi32, valid=1x4>) \
             outs(%rows : !pto.tile<4x16xf32>)"
        )
        .replace("%pn = ", "%c4 = arith.constant 4 : index\n%pn = ")
    };
    assert_eq!(sharing(&gathers("%w")), copied, "indices say which elements");
    assert_eq!(sharing(&gathers("%x")), ["parted", "read", "read"], "indices into another array");
    let long = "scf.for %i = %c0 to %huge step %c1 { %k = arith.addi %i, %c1 : index }";
    assert_eq!(sharing(long), copied, "more steps than copies are worth");
    let outside = "%k = arith.constant 0.5 : f32\npto.store_scalar %k, %x[%huge] : !pto.ptr<f32>, f32";
    assert_eq!(sharing(outside), ["copied", "written", "read"], "a run that fails");
    let mut recorded = in_place(256, 16, "");
    recorded.record = true;
    assert_eq!(recorded.sharing(), ["copied"; 3], "who records looks at bytes");
}

/// Every block sends its part of %w through a product with %e, from its vector cores to its cube core, which stores it there again.
const MIXED: &str = r#"
!mat = !pto.tile_buf<loc=mat, dtype=f32, rows=16, cols=16>
!left = !pto.tile_buf<loc=left, dtype=f32, rows=16, cols=16>
!right = !pto.tile_buf<loc=right, dtype=f32, rows=16, cols=16>
!acc = !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16>
!half = !pto.tile_buf<vec, 8x16xf32>
func.func @kernel(%w: !pto.ptr<f32>, %gm: !pto.ptr<f32>, %e: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %b64 = pto.get_block_idx
  %b = arith.index_cast %b64 : i64 to index
  %at = arith.muli %b, %c256 : index
  %p = pto.addptr %w, %at : !pto.ptr<f32> -> !pto.ptr<f32>
  %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %slots = pto.reserve_buffer {name = "s", size = 8192, location = #pto.address_space<mat>, auto = true} -> i32
  pto.section.vector {
    pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024} (gm_slot_buffer = %gm : !pto.ptr<f32>, v2c_consumer_buf = %slots : i32)
    %index = pto.get_subblock_idx
    %sub = arith.index_cast %index : i64 to index
    %row = arith.muli %sub, %c8 : index
    %part = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x16xf32>
    %in = pto.alloc_tile : !half
    pto.tload ins(%part : !pto.partition_tensor_view<8x16xf32>) outs(%in : !half)
    pto.tpush_to_aic(%in : !half) {split = 1}
  }
  pto.section.cube {
    pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024} (gm_slot_buffer = %gm : !pto.ptr<f32>, v2c_consumer_buf = %slots : i32)
    %view = pto.make_tensor_view %e, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %em = pto.alloc_tile : !mat
    %er = pto.alloc_tile : !right
    %a = pto.alloc_tile : !left
    %c = pto.alloc_tile : !acc
    pto.tload ins(%view : !pto.tensor_view<?x?xf32>) outs(%em : !mat)
    pto.tmov ins(%em : !mat) outs(%er : !right)
    %t = pto.tpop_from_aiv {split = 1} -> !mat
    pto.tmov ins(%t : !mat) outs(%a : !left)
    pto.tfree_from_aiv {split = 1}
    pto.tmatmul ins(%a, %er : !left, !right) outs(%c : !acc)
    pto.tstore ins(%c : !acc) outs(%v : !pto.tensor_view<?x?xf32>)
  }
  return
}"#;

#[test]
fn cores_of_a_block_are_walked_through_together() {
    let twice: Vec<u8> = (0..256).flat_map(|n| (if n % 17 == 0 { 2f32 } else { 0.0 }).to_le_bytes()).collect();
    let doubled: Vec<u8> = f32s(&numbers(1024)).into_iter().flat_map(|v| (2.0 * v).to_le_bytes()).collect();
    // On a2a3 what is pushed goes through global memory.
    for (profile, expected) in [(Profile::Cpu, "parted"), (Profile::A5, "parted"), (Profile::A2a3, "copied")] {
        let kernel = Kernel::new(MIXED, profile, 4)
            .buffer("w", numbers(1024))
            .buffer("gm", numbers(2048))
            .buffer("e", twice.clone());
        assert_eq!(kernel.sharing(), [expected, expected, "read"], "{profile}");
        for outcome in [true, false].map(|asks| kernel.outcome(asks)) {
            assert!(!outcome.failed(), "{profile}: {:?}", outcome.diagnostics);
            assert_eq!(outcome.buffers[0].bytes, doubled, "{profile}");
        }
    }
}

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn copies_that_leave_more_than_the_array_come_to_the_same() {
    // Block b stores 256 elements of %x, from 256 b on, 128 elements after those of the block before: the higher one wins.
    let from_x = "%q = pto.addptr %x, %mine : !pto.ptr<f32> -> !pto.ptr<f32>
                  %y = pto.make_tensor_view %q, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
                  pto.tload ins(%y : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile<16x16xf32>)"
        .replace("%q = ", "%c256 = arith.constant 256 : index\n%mine = arith.muli %b, %c256 : index\n%q = ");
    let (w, x) = (f32s(&numbers(640)), f32s(&numbers(4096)));
    let mut stored = w.clone();
    for b in 0..4 {
        stored[128 * b..128 * b + 256].copy_from_slice(&x[256 * b..256 * b + 256]);
    }
    // Or adds them to the last 256 elements, and stores them to the first ones.
    let adds = format!(
        "{from_x}\npto.tstore ins(%t : !pto.tile<16x16xf32>) outs(%last : !pto.tensor_view<?x?xf32>) \
         {{atomicType = #pto<atomic_type atomic_add>}}"
    )
    .replace(
        "%c256 = ",
        "%far = arith.constant 384 : index
         %p3 = pto.addptr %w, %far : !pto.ptr<f32> -> !pto.ptr<f32>
         %last = pto.make_tensor_view %p3, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
         %c256 = ",
    );
    let mut added = w;
    for b in 0..4 {
        (0..256).for_each(|k| added[384 + k] += x[256 * b + k]);
        added[..256].copy_from_slice(&x[256 * b..256 * b + 256]);
    }
    for (step, more, expected) in [(128, from_x.as_str(), stored), (0, adds.as_str(), added)] {
        let kernel = in_place_of(640, step, 16, more);
        assert_eq!(kernel.sharing()[0], "copied");
        // Blocks end in any order.
        for _ in 0..20 {
            let outcome = kernel.outcome(true);
            assert_eq!(f32s(&outcome.buffers[0].bytes), expected);
            let told: Vec<_> = outcome.diagnostics.iter().map(|d| (d.rule, d.message.as_str())).collect();
            let overlap = if step == 0 { "bytes 0 to 1023" } else { "bytes 512 to 1023" };
            let message = format!("blocks 0 and 1 both write {overlap} of %w; the higher one wins");
            assert_eq!(told, [("block-overlap", message.as_str())]);
        }
    }
}
