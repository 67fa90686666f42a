//! Runs one instruction on the machine and on the oracle, twice, and compares everything.

use super::cases::{Case, parameter};
use tessera_exec::engine::{Engine, IssueError, TileId};
use tessera_isa::elem::Elem;
use tessera_isa::inst::{Coalesce, ConvType, GatherOob, Inst, ScatterOob};
use tessera_isa::ops::{Family, Form, Opcode, Role, RuleKind};
use tessera_isa::sem;
use tessera_isa::tile::Extent;
use tessera_testkit::random::Random;
use tessera_testkit::reference::{Content, Picture, execute};

/// Bytes that floats find interesting, and which of them are defined.
fn random_content(random: &mut Random, elem: Elem, len: u64) -> Content {
    let special: &[u64] = match elem {
        Elem::F32 => &[0x8000_0000, 0x7F80_0001, 0xFFC0_1234, 0x7F80_0000, 0xFF80_0000, 0x3F00_0000, 0x4020_0000],
        Elem::F16 => &[0x8000, 0x7C01, 0xFE12, 0x7C00],
        Elem::Bf16 => &[0x8000, 0x7F81, 0xFFC1],
        _ => &[0],
    };
    let size = elem.bytes_of(1) as usize;
    let mut bytes = Vec::new();
    while bytes.len() < len as usize {
        let bits = match random.below(6) {
            0 => random.pick(special),
            1 if elem == Elem::F32 => u64::from((random.below(600) as f32 / 2.0 - 150.0).to_bits()),
            1 => random.below(200),
            _ => random.next(),
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    let mut defined = vec![0xFF; len as usize];
    match random.below(4) {
        0 => {}
        1 => defined.fill(if random.once_in(3) { 0 } else { 0xFF }),
        2 => {
            // A hole.
            let start = random.below(len) as usize;
            let n = random.below(len - start as u64 + 1) as usize;
            defined[start..start + n].fill(0);
        }
        _ => {
            let odds = random.pick(&[2, 20]);
            defined.iter_mut().for_each(|d| *d = if random.once_in(odds) { 0 } else { 0xFF });
        }
    }
    bytes.truncate(len as usize);
    Content { bytes, defined }
}

/// Contents that the instruction's data rules mostly accept.
fn contents(random: &mut Random, case: &Case, index: usize) -> Content {
    let arg = &case.inst.tiles[index];
    let mut content = random_content(random, arg.tile.elem, arg.tile.bytes());
    let rarely = random.once_in(12);
    if case.inst.op.info().family == Family::Irregular
        && (case.inst.op, case.inst.form) != (Opcode::Tgather, Form::Plain)
    {
        super::irregular::settle(random, &case.inst, arg.role, &mut content);
        return content;
    }
    match arg.role {
        Role::Fp => {
            let dst = case.inst.written_elem().unwrap_or(Elem::I8);
            for chunk in content.bytes.chunks_exact_mut(8) {
                chunk.copy_from_slice(&parameter(random, dst).to_le_bytes());
            }
            if !rarely {
                content.defined.fill(0xFF);
            }
        }
        Role::Idx => {
            let mut most = case.inst.tile(Role::Src).map_or(0, |t| t.tile.rows * t.tile.cols);
            let mut beyond = 50;
            if let Some([Some(rows), Some(cols)]) = case.inst.global.as_ref().map(|view| view.shape()) {
                let by_row = sem::coalesce(&case.inst) == Some(Coalesce::Row);
                most = if by_row { rows } else { rows * cols };
                // If indices beyond the table have a meaning, some are generated.
                let attrs = &case.inst.attrs;
                let is_meant = attrs.gather_oob() != Some(GatherOob::Undefined)
                    || attrs.scatter_oob() != Some(ScatterOob::Undefined);
                beyond = if is_meant { 5 } else { 50 };
                most = most.max(1);
            }
            let size = arg.tile.elem.bytes_of(1) as usize;
            for chunk in content.bytes.chunks_exact_mut(size) {
                let outside = (rarely || beyond < 50) && random.once_in(beyond);
                let index = random.below(most) + if outside { most } else { 0 };
                chunk.copy_from_slice(&index.to_le_bytes()[..size]);
            }
            if !rarely {
                content.defined.fill(0xFF);
            }
        }
        Role::Idx0 | Role::Idx1 => {
            let src = if arg.role == Role::Idx0 { Role::Src0 } else { Role::Src1 };
            let cols = case.inst.tile(src).and_then(|t| t.valid[1]).unwrap_or(0);
            let size = arg.tile.elem.bytes_of(1);
            let same = random.below(cols + 1);
            for chunk in content.bytes.chunks_exact_mut(size as usize) {
                let n = if random.once_in(3) { random.below(cols + 1) } else { same };
                let most = arg.tile.elem.mask() / if arg.tile.elem.is_signed() { 2 } else { 1 };
                let value = (n * size).min(most) + if rarely { random.below(3) * 64 } else { 0 };
                chunk.copy_from_slice(&value.to_le_bytes()[..size as usize]);
            }
            if !rarely {
                content.defined.fill(0xFF);
            }
        }
        _ if !rarely && arg.tile.elem.size().is_some() && !arg.tile.elem.is_float() && divides(&case.inst) => {
            let size = arg.tile.elem.bytes_of(1) as usize;
            for chunk in content.bytes.chunks_exact_mut(size).filter(|c| c.iter().all(|b| *b == 0)) {
                chunk[0] = 3;
            }
        }
        _ => {}
    }
    content
}

/// Whether the instruction has no result for some integers.
fn divides(inst: &Inst) -> bool {
    inst.op.info().rules.iter().any(|r| r.kind == RuleKind::Zero)
}

/// The conv type of an operand, if it is the conv tile.
fn conv_of(case: &Case, role: Role) -> Option<ConvType> {
    let conv_role = if case.inst.op == Opcode::Tload { Role::Dst } else { Role::Src };
    case.inst.conv.filter(|_| role == conv_role)
}

pub fn compare(random: &mut Random, case: &Case) {
    let inst = &case.inst;
    let mut machine = Engine::new(inst.profile, true);
    let ids: Vec<TileId> = inst
        .tiles
        .iter()
        .map(|arg| {
            let id = match conv_of(case, arg.role) {
                Some(conv) => machine.conv_tile(conv).unwrap(),
                None => machine.tile(&arg.tile.written()).unwrap(),
            };
            let dynamic = |e: Extent, v: Option<u64>| v.filter(|_| e == Extent::Dynamic).map(|v| v as i64);
            machine
                .set_valid(id, [dynamic(arg.tile.v_row, arg.valid[0]), dynamic(arg.tile.v_col, arg.valid[1])])
                .unwrap();
            id
        })
        .collect();
    if let Some((a, b)) = case.shared.filter(|_| inst.op != Opcode::Treshape) {
        machine.assign(ids[a], 0x40).unwrap();
        machine.assign(ids[b], 0x40).unwrap();
    }
    for round in 0..2 {
        let mut pictures: Vec<Picture> = inst
            .tiles
            .iter()
            .map(|arg| {
                let mut p = Picture::new(arg.tile, conv_of(case, arg.role));
                p.valid = arg.valid.map(|v| v.unwrap());
                p
            })
            .collect();
        for k in 0..pictures.len() {
            pictures[k].cores[0] = match case.shared {
                Some((a, b)) if k == b => pictures[a].cores[0].clone(),
                _ => contents(random, case, k),
            };
            if round > 0 {
                // The contents on core 1 are left from the first round.
                let data = machine.read(ids[k], 1).unwrap();
                pictures[k].cores[1] = Content { bytes: data.raw, defined: data.raw_defined };
            }
            machine.write_raw(ids[k], &pictures[k].cores[0].bytes).unwrap();
            machine.undefine_bytes(ids[k], &pictures[k].cores[0].defined).unwrap();
        }
        let view = inst.global.clone();
        let mut buffer = view.as_ref().map_or(Content::default(), |v| {
            let mut content = random_content(random, v.elem, v.elem.bytes_of(case.buffer));
            content.defined.fill(0xFF);
            content
        });
        let mut issue = Inst::new(inst.op, inst.form, inst.profile);
        (issue.attrs, issue.scalars) = (inst.attrs.clone(), inst.scalars.clone());
        let operands: Vec<(Role, TileId)> = inst.tiles.iter().zip(&ids).map(|(arg, id)| (arg.role, *id)).collect();
        let mut bytes = buffer.bytes.clone();
        issue.global = view.clone();
        let got = match &view {
            Some(_) => machine.transfer(issue, &operands, &mut bytes),
            None => machine.issue(&issue, &operands),
        };
        let got = got.map(|done| done.stored_undefined);
        let before = pictures.clone();
        let expected = execute(inst, &mut pictures, view.as_ref().map(|_| &mut buffer));
        let what = || format!("round {round} of {inst:#?} shared {:?}", case.shared);
        match (&got, expected) {
            (Ok(stored), Ok(undefined)) => assert_eq!(*stored, undefined, "undefined-read of {}", what()),
            (Err(IssueError(found)), Err(rule)) => {
                assert_eq!(found[0].rule, rule, "{}", what());
                // Nothing is written.
                pictures = before;
                buffer.bytes = bytes.clone();
            }
            (got, expected) => panic!("machine {got:?}, oracle {expected:?}: {}", what()),
        }
        assert_eq!(bytes, buffer.bytes, "the buffer after {}", what());
        if let Some((a, b)) = case.shared {
            pictures[a].cores[0] = pictures[b].cores[0].clone();
        }
        for (k, (picture, id)) in pictures.iter().zip(&ids).enumerate() {
            for core in [0u8, 1] {
                let data = machine.read(*id, core).unwrap();
                let content = &picture.cores[usize::from(core)];
                for (at, defined) in content.defined.iter().enumerate() {
                    let whole = *defined == 0xFF;
                    let place = || format!("byte {at} of operand {k} on core {core} after {}", what());
                    assert_eq!(data.raw_defined[at] == 0xFF, whole, "defined: {}", place());
                    if whole {
                        assert_eq!(data.raw[at], content.bytes[at], "{}", place());
                    }
                }
            }
            let valid = machine.valid(*id).map(|v| v.unwrap());
            assert_eq!(valid, picture.valid, "valid region of operand {k} after {}", what());
            if inst.op == Opcode::TfillpadExpand && round == 0 {
                let dynamic = |e: Extent, v: Option<u64>| v.filter(|_| e == Extent::Dynamic).map(|v| v as i64);
                let arg = &inst.tiles[k];
                machine
                    .set_valid(*id, [dynamic(arg.tile.v_row, arg.valid[0]), dynamic(arg.tile.v_col, arg.valid[1])])
                    .unwrap();
            }
        }
    }
}
