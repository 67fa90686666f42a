//! Conversions on a push (isa/today.md 7.3): the accumulator becomes a tile of the popped type, as by TMOV.

use super::super::code::{Channel, Push, PushArg, QuantPush};
use super::super::step::Exec;
use tessera_exec::engine::{CachedInst, TileId};
use tessera_ir::OpId;
use tessera_isa::codec::Number;
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
                    self.widen(fp, wide, channel.widened as usize)?;
                    fp = wide;
                }
                tiles.push((Role::Fp, fp));
            }
        }
        tiles.push((Role::Dst, push.stage));
        self.announce(Some(at), &[(src, false)]);
        self.convert(push.cache + 1, inst, tiles)
    }

    /// A row of floats as parameters of 64 bits: each is the scale, without an offset, of signed results (isa/today.md 6.10).
    fn widen(&mut self, fp: TileId, wide: TileId, at: usize) -> Result<(), Failure> {
        let data = self.engine.read(fp, 0)?;
        if data.defined.contains(&0) {
            let what = "parameters of the push were never written";
            return Err(failure("undefined-use", what, "fill the tile of set_quant_vector first"));
        }
        let word = |bytes: &[u8]| {
            let bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            let scale = match data.elem.decode(bits) {
                Number::Float(v) => v as f32,
                Number::Int(v) => v as f32,
            };
            (u64::from(scale.to_bits()) | 1 << 46).to_le_bytes()
        };
        let size = data.elem.bytes_of(1).max(1) as usize;
        let words: Vec<u8> = data.elements.chunks_exact(size).flat_map(word).collect();
        self.engine.put_tile(wide, Place { memory: MemoryId::POOL, at }, [data.rows, data.cols])?;
        self.engine.give(wide, data.rows, data.cols, &words)
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
