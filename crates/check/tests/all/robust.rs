//! No input makes the verifier panic, and every finding has a place in the text.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use smallvec::SmallVec;
use tessera_asm::parse;
use tessera_check::{check, check_module, check_quant_params, decide, portability};
use tessera_isa::codec::Number;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{
    AccToVec, Attrs, ConvType, GlobalArg, Inst, Place, Relu, Root, ScalarArg, Split, TileArg, ViewTag,
};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_isa::profile::Profile;
use tessera_isa::tile::{BLayout, Compact, Extent, Loc, Pad, SLayout, TileType};
use tessera_testkit::random::Random;

/// Numbers that no program would write.
trait Hostile {
    fn maybe<T>(&mut self, value: T) -> Option<T>;
    fn extent(&mut self) -> u64;
    fn number(&mut self) -> i64;
}

impl Hostile for Random {
    fn maybe<T>(&mut self, value: T) -> Option<T> {
        (!self.once_in(3)).then_some(value)
    }

    fn extent(&mut self) -> u64 {
        self.pick(&[0, 1, 2, 8, 16, 17, 32, 32, 32, 64, 4096, 1 << 31, 1 << 32, u64::MAX])
    }

    fn number(&mut self) -> i64 {
        self.pick(&[i64::MIN, -1, 0, 0, 0, 1, 15, 16, 32, 511, 65536, 1 << 40, i64::MAX])
    }
}

fn tile(rng: &mut Random, role: Role, profile: Profile) -> TileArg {
    let (rows, cols) = (rng.extent(), rng.extent());
    let mut ty = TileType::new(rng.pick(Loc::ALL), rng.pick(Elem::ALL), rows, cols);
    if rng.below(2) == 0 {
        let fractal = rng.pick(&[512, 1024, 32, 7]);
        ty = ty.with_layout(rng.pick(BLayout::ALL), rng.pick(SLayout::ALL), fractal);
    }
    if rng.below(2) == 0 {
        ty = ty.with_valid(Extent::Dynamic, Extent::Static(rng.extent()));
    }
    ty.pad = rng.pick(&[Pad::Null, Pad::Zero, Pad::Max]);
    ty.compact = rng.pick(Compact::ALL);
    let tile = ty.resolve(profile);
    let sound = tile.fault(profile).is_none_or(|f| !f.is_error());
    let n = rng.below(40);
    let valid = rng.maybe([Some(n % 8), (n > 4).then_some(n)]);
    let root = rng.pick(&[Root::Memory(tile.loc), Root::Auto(0), Root::Auto(1)]);
    let place = Place { root, start: rng.below(64) * 32 };
    TileArg {
        role,
        // A type that is none has no layout; nobody asks for it.
        layout: if sound { tile.layout() } else { TileType::new(Loc::Vec, Elem::U8, 1, 32).resolve(profile).layout() },
        valid: valid.unwrap_or([tile.v_row.known(), tile.v_col.known()]),
        place: rng.maybe(place),
        tile,
    }
}

fn attrs(rng: &mut Random) -> Attrs {
    let mut all = Attrs::default();
    all.set(AttrName::ReluPreMode, rng.maybe(Relu::NormalRelu));
    all.set(AttrName::AccToVecMode, (rng.below(3) == 0).then(|| rng.pick(AccToVec::ALL)));
    all.set(AttrName::Mode, (rng.below(6) == 0).then_some(Split::Split2));
    all.set(AttrName::Dim, (rng.below(4) == 0).then(|| rng.number()));
    all.set(AttrName::Kernel, rng.maybe([3, 1]).map(|k| if rng.below(4) == 0 { [rng.number(); 2] } else { k }));
    all.set(AttrName::Stride, (rng.below(4) == 0).then(|| [rng.number(), 1]));
    all.set(AttrName::Dilation, (rng.below(4) == 0).then(|| [1, rng.number()]));
    all.set(AttrName::Pad, (rng.below(4) == 0).then(|| [rng.number(), 0, 0, 255]));
    all.set(AttrName::PadValue, (rng.below(4) == 0).then(|| Number::Int(rng.number().into())));
    all.set(AttrName::Fmap, (rng.below(4) == 0).then(|| [rng.number(), 8]));
    all.set(AttrName::Shape, (rng.below(4) == 0).then(|| [rng.number(), 32]));
    all
}

#[test]
fn any_instruction_has_an_answer() {
    let mut rng = Random(88_172_645_463_325_252);
    let mut errors = 0;
    for _ in 0..200_000 {
        let op = rng.pick(Opcode::ALL);
        let form = rng.pick(Form::ALL);
        let profile = rng.pick(&Profile::ALL);
        let mut inst = Inst::new(op, form, profile);
        // The operands of some form, or of none.
        let forms = op.info().forms;
        if !forms.is_empty() && rng.below(8) > 0 {
            let info = &forms[rng.below(forms.len() as u64) as usize];
            inst.form = info.form;
            for role in info.operands().map(|o| o.role) {
                match role.kind() {
                    tessera_isa::ops::Kind::Tile => inst.tiles.push(tile(&mut rng, role, profile)),
                    _ => {
                        let value = Number::Int(rng.number().into());
                        let value = if rng.below(4) == 0 { Number::Float(0.1) } else { value };
                        inst.scalars.push(ScalarArg { role, ty: None, value: rng.maybe(value) });
                    }
                }
            }
        }
        inst.attrs = attrs(&mut rng);
        if rng.below(3) == 0 {
            inst.conv = Some(ConvType {
                loc: rng.pick(&[Loc::Mat, Loc::Vec]),
                has_depth: rng.below(2) == 0,
                dims: [1, rng.extent(), 1, rng.extent(), 8, rng.pick(&[4, 16, 32])],
                elem: rng.pick(Elem::ALL),
            });
        }
        if rng.below(3) > 0 {
            let dims: SmallVec<[Option<u64>; 5]> = (0..rng.below(7)).map(|_| rng.maybe(16)).collect();
            inst.global = Some(GlobalArg {
                elem: rng.pick(Elem::ALL),
                tag: rng.pick(ViewTag::ALL),
                strides: dims.iter().map(|_| Some(rng.number())).collect(),
                dims,
                offset: Some(rng.number()),
                buffer: rng.maybe(512),
            });
        }
        let found = check(&inst);
        let refused = found.iter().filter(|f| f.is_error()).count();
        assert!(refused <= 1, "{found:?}");
        assert!(refused == 0 || found.len() == 1, "an error comes alone: {found:?}");
        if decide(&inst).is_none() {
            assert_eq!(refused, 0);
        }
        check_quant_params(&inst, &[0, u64::MAX, 0x3F80_0000]);
        errors += refused;
    }
    assert!(errors > 50_000, "{errors}");
}

/// The programs of the rule tests, with one number or word of each changed.
#[test]
fn changed_programs_are_checked_to_the_end() {
    let mut rng = Random(0x2545_F491_4F6C_DD1D);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rules");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let content = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for program in content.split("// -----") {
            for _ in 0..8 {
                let text = changed(program, &mut rng);
                let profile = rng.pick(&Profile::ALL);
                let parsed = parse(&text, Some(profile));
                if parsed.has_errors() {
                    continue;
                }
                for found in check_module(&parsed.module, profile) {
                    let span = found.span.unwrap();
                    assert!(text.get(span.start as usize..span.end as usize).is_some(), "{found:?}");
                }
                if rng.below(8) == 0 {
                    assert!(portability(&parsed.module).rows.len() <= text.lines().count());
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 1_000, "{checked}");
}

fn changed(program: &str, rng: &mut Random) -> String {
    let code = program.lines().filter(|l| !l.starts_with("//")).collect::<Vec<_>>().join("\n");
    let digits: Vec<usize> = code.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
    if digits.is_empty() {
        return code;
    }
    let at = rng.pick(&digits);
    let number = rng.pick(&["0", "1", "3", "7", "17", "64", "65536", "4294967295", "9223372036854775807"]);
    format!("{}{number}{}", &code[..at], &code[at + 1..])
}
