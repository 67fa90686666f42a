//! Conversions on a push (isa/today.md 7.3): the accumulator becomes a tile of the popped type, as by TMOV.

use super::super::code::{Channel, Push, PushArg, QuantPush};
use super::super::step::Exec;
use tessera_exec::engine::{CachedInst, TileId};
use tessera_ir::OpId;
use tessera_isa::elem::Elem;
use tessera_isa::inst::{AttrValue, Inst, Relu, ScalarArg};
use tessera_isa::ops::{AttrName, Form, Opcode, Role};
use tessera_kernels::{Failure, MemoryId, Place, failure};

impl Exec<'_> {
    /// Converts what is pushed into the tile that waits.
    pub(super) fn quantize(
        &mut self,
        at: OpId,
        push: &Push,
        quant: &QuantPush,
        channel: &Channel,
    ) -> Result<(), Failure> {
        let src = self.object_of(push.src);
        let form = match quant.param {
            PushArg::None => Form::Plain,
            PushArg::Scalar(_) => Form::ScalarQuant,
            PushArg::Vector(..) => Form::VectorQuant,
        };
        let mut inst = Inst::new(Opcode::Tmov, form, self.engine.profile);
        if quant.epilogue.relu {
            inst.attrs.set(AttrName::ReluPreMode, Some(AttrValue::Word(Relu::NormalRelu as u8)));
        }
        let mut tiles = vec![(Role::Src, src)];
        match quant.param {
            PushArg::None => {}
            PushArg::Scalar(scalar) => {
                // Registers hold floats as binary64.
                let scale = f64::from_bits(self.int(scalar) as u64) as f32;
                if !scale.is_finite() {
                    let what = format!("the factor of the push is {scale}");
                    return Err(failure("quant-scale", what, "use a finite factor"));
                }
                let is_signed = self.engine.object(push.stage)?.tile.elem == Elem::I8;
                let bits = u64::from(scale.to_bits()) | u64::from(is_signed) << 46;
                inst.scalars.push(ScalarArg::new(Role::Quant, bits));
            }
            PushArg::Vector(fp, wide) => {
                let mut fp = self.object_of(fp);
                if let Some(wide) = wide {
                    let valid = self.engine.object(fp)?.valid.map(|v| v.unwrap_or(0));
                    self.engine.put_tile(
                        wide,
                        Place { memory: MemoryId::POOL, at: channel.widened as usize },
                        valid,
                    )?;
                    let tiles = vec![(Role::Src, fp), (Role::Dst, wide)];
                    self.convert(push.cache + 1, Inst::new(Opcode::Tcvt, Form::Plain, self.engine.profile), tiles)?;
                    fp = wide;
                }
                tiles.push((Role::Fp, fp));
            }
        }
        tiles.push((Role::Dst, push.stage));
        self.announce(Some(at), &[(src, false)]);
        self.convert(push.cache + 2, inst, tiles)
    }

    /// Runs an instruction on these tiles.
    fn convert(&mut self, cache: usize, inst: Inst, tiles: Vec<(Role, TileId)>) -> Result<(), Failure> {
        let cache = self.cx.program.sites.len() + cache;
        let mut key = std::mem::take(&mut self.engine.key);
        key.0.clear();
        for (role, id) in &tiles {
            key.tile(*role, self.engine.object(*id)?);
        }
        inst.scalars.iter().for_each(|scalar| key.scalar(scalar));
        self.engine.key = key;
        self.engine.issued += 1;
        if !self.engine.is_compiled(cache, &inst, None)? {
            let whole = self.engine.instruction(inst, tiles, None)?;
            let compiled = self.engine.lowered(&whole, None)?;
            self.engine.keep(cache, CachedInst::new(whole, None, compiled, Vec::new()));
        }
        let start = self.engine.start(cache, None)?;
        self.engine.run(cache, start)?;
        self.watch_cache(cache, start);
        Ok(())
    }
}
