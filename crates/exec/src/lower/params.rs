//! The sources of the parameters of a quantizing instruction (fixpipe.md 1 and 3).

use tessera_isa::codec::{QuantFault, QuantParam};
use tessera_isa::elem::Elem;
use tessera_kernels::memory::Memories;
use tessera_kernels::{Failure, Params, Place, failure, internal_error};

/// The source of the parameter of a converted element.
#[derive(Clone, Copy, Debug)]
pub enum ParamAt {
    None,
    /// It is always the same.
    Fixed(QuantParam),
    /// In a tile: `count` of them from a byte of the operand on, one for each column.
    Tile {
        operand: u8,
        offset: usize,
        count: usize,
    },
}

/// The parameters of a prepared instruction.
#[derive(Clone, Debug)]
pub enum ParamSource {
    /// None, or the same ones every time.
    Fixed(Params),
    /// The contents of a Scaling tile when the instruction runs.
    Tile(Box<FromTile>),
}

#[derive(Clone, Debug)]
pub struct FromTile {
    /// The operand, and where the first parameter lies in it.
    pub operand: u8,
    pub offset: usize,
    /// The column of that parameter in the tile, for messages.
    pub first: u64,
    pub count: usize,
    /// The types that it converts between.
    pub src: Elem,
    pub dst: Elem,
    /// The parameters, and the bytes that they were made from.
    pub bytes: Vec<u8>,
    pub params: Params,
}

impl ParamSource {
    /// Reads the parameters for the next run.
    pub fn load(&mut self, memories: &Memories, places: &[Place]) -> Result<(), Failure> {
        match self {
            ParamSource::Fixed(_) => Ok(()),
            ParamSource::Tile(tile) => tile.load(memories, places),
        }
    }

    /// The parameters that were read last.
    pub fn loaded(&self) -> &Params {
        match self {
            ParamSource::Fixed(params) => params,
            ParamSource::Tile(tile) => &tile.params,
        }
    }
}

impl FromTile {
    fn load(&mut self, memories: &Memories, places: &[Place]) -> Result<(), Failure> {
        let operand = memories.operand(places, self.operand);
        let (at, memory) = operand.ok_or_else(|| internal_error("the quantization parameters lie nowhere"))?;
        let (start, len) = (at + self.offset, self.count * 8);
        let missing = if memories.tracked { memory.defined().first_missing(start, len) } else { None };
        let beyond = || internal_error("the quantization parameters are beyond their memory");
        let bytes = memory.bytes().get(start..start + len).ok_or_else(beyond)?;
        if missing.is_none() && bytes == self.bytes.as_slice() {
            return Ok(());
        }
        let defined = missing.map_or(self.count, |byte| (byte - start) / 8);
        let raw = || bytes.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
        for (k, bits) in raw().enumerate().take(defined) {
            if let Err(fault) = QuantParam::vector(bits).check(self.src, self.dst) {
                return Err(refuse(fault, bits, Some(self.first + k as u64), self.dst));
            }
        }
        if missing.is_some() {
            let column = self.first + defined as u64;
            let what =
                format!("the quantization parameter fp[{column}] was never written, and it decides what is stored");
            return Err(failure("undefined-use", what, "load the parameters into the Scaling tile first"));
        }
        self.params.set(raw().map(QuantParam::vector));
        self.bytes = bytes.to_vec();
        Ok(())
    }
}

/// The message about a parameter that does not fit.
pub fn refuse(fault: QuantFault, bits: u64, column: Option<u64>, dst: Elem) -> Failure {
    let which = column.map_or("the quantization parameter".to_string(), |c| format!("fp[{c}]"));
    let (what, help) = match fault {
        QuantFault::Sign => {
            let signed = bits >> 46 & 1;
            let help = if dst == Elem::I8 { "set bit 46" } else { "clear bit 46" };
            (format!("bit 46 is {signed}, and the destination is {dst}"), help)
        }
        QuantFault::Scale => {
            let scale = QuantParam::scalar(bits).scale;
            (format!("its scale {scale} is not finite"), "give it a finite scale in bits 31:0")
        }
    };
    failure(fault.rule(), format!("{which} is 0x{bits:x}: {what}"), help)
}
