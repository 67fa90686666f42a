//! Elements as texts.

use serde_json::{Value, json};
use tessera::Elem;
use tessera::program::{TileData, tile_shape};

/// The bits of the n-th element of packed ones.
pub fn bits(elem: Elem, bytes: &[u8], n: usize) -> Option<u64> {
    let size = elem.bytes_of(1) as usize;
    let at = if elem.is_fp4() { n / 2 } else { n * size };
    let raw = bytes.get(at..at + size)?.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    Some(match (elem.is_fp4(), n % 2) {
        (true, 0) => raw & 15,
        (true, _) => raw >> 4 & 15,
        _ => raw,
    })
}

/// Elements as texts; null where one is undefined.
pub fn texts(elem: Elem, bytes: &[u8], defined: &[u8]) -> Vec<Value> {
    let size = elem.bytes_of(1) as usize;
    let count = bytes.len() * 8 / elem.bits() as usize;
    let one = |n: usize| {
        let at = if elem.is_fp4() { n / 2 } else { n * size };
        let is_known = defined.get(at..at + size).is_none_or(|d| d.iter().all(|d| *d == 0xFF));
        bits(elem, bytes, n).filter(|_| is_known).map_or(Value::Null, |bits| json!(elem.format_bits(bits)))
    };
    (0..count).map(one).collect()
}

/// A tile's valid region.
pub fn tile(data: &TileData) -> Value {
    json!({
        "elem": data.elem.name(), "shape": tile_shape(data), "rows": data.rows, "cols": data.cols,
        "values": texts(data.elem, &data.elements, &data.defined),
    })
}
