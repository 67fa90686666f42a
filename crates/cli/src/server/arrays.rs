//! Arrays in JSON: `{"shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]}`, a nested list, or the word of a fill. Numbers that JSON
//! lacks are `"nan"`, `"inf"` and `"-inf"`.

use super::Refusal;
use serde_json::{Value, json};
use tessera::Elem;
use tessera::npy::Array;
use tessera_isa::codec::{Number, Overflow};

fn wrong(name: &str, what: impl std::fmt::Display) -> Refusal {
    Refusal::new("arguments", format!("array {name}: {what}"))
}

/// The array of an element type that a value is.
pub fn read(name: &str, value: &Value, elem: Elem) -> Result<Array, Refusal> {
    let (data, given) = match value {
        Value::Array(_) => (value, None),
        Value::Object(object) => {
            if let Some(dtype) = object.get("dtype").and_then(Value::as_str)
                && Elem::parse(dtype) != Some(elem)
            {
                return Err(wrong(name, format!("its dtype is {dtype}, and the program takes {elem}")));
            }
            let data = object.get("data").ok_or_else(|| wrong(name, "it has no \"data\""))?;
            (data, object.get("shape"))
        }
        _ => {
            return Err(wrong(
                name,
                "it is a list, an object with \"data\" and \"shape\", or a word such as \"random\"",
            ));
        }
    };
    let mut shape = Vec::new();
    let mut numbers = Vec::new();
    flatten(name, data, 0, &mut shape, &mut numbers)?;
    if let Some(given) = given {
        let dims: Option<Vec<u64>> =
            given.as_array().map(|all| all.iter().map(Value::as_u64).collect()).unwrap_or(None);
        let dims = dims.ok_or_else(|| wrong(name, "its shape is a list of numbers from 0"))?;
        let count = dims.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        if count != Some(numbers.len() as u64) {
            return Err(wrong(name, format!("{} numbers do not fill shape {given}", numbers.len())));
        }
        shape = dims;
    }
    let bits: Vec<u64> = numbers.into_iter().map(|n| elem.encode(n, Overflow::Infinity)).collect();
    let bytes = match elem.size() {
        Some(size) => bits.iter().flat_map(|b| b.to_le_bytes().into_iter().take(size as usize)).collect(),
        None => bits.chunks(2).map(|two| (two[0] | two.get(1).copied().unwrap_or(0) << 4) as u8).collect(),
    };
    Ok(Array::of_elem(elem, shape, bytes))
}

fn flatten(
    name: &str,
    value: &Value,
    depth: usize,
    shape: &mut Vec<u64>,
    out: &mut Vec<Number>,
) -> Result<(), Refusal> {
    let Value::Array(all) = value else {
        out.push(number(value).ok_or_else(|| wrong(name, format!("{value} is no number")))?);
        return Ok(());
    };
    if depth > 8 {
        return Err(wrong(name, "lists are nested more than eight deep"));
    }
    if shape.len() == depth {
        shape.push(all.len() as u64);
    }
    if shape.get(depth) != Some(&(all.len() as u64)) {
        return Err(wrong(name, "its rows have different lengths"));
    }
    for one in all {
        let is_leaf = !one.is_array();
        if is_leaf != (shape.len() == depth + 1) && !out.is_empty() {
            return Err(wrong(name, "its rows are nested to different depths"));
        }
        flatten(name, one, depth + 1, shape, out)?;
    }
    Ok(())
}

pub fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(n) => n
            .as_i64()
            .map(|n| Number::Int(n.into()))
            .or_else(|| n.as_u64().map(|n| Number::Int(n.into())).or_else(|| n.as_f64().map(Number::Float))),
        Value::Bool(b) => Some(Number::Int(i128::from(*b))),
        Value::String(word) => match word.as_str() {
            "nan" => Some(Number::Float(f64::NAN)),
            "inf" => Some(Number::Float(f64::INFINITY)),
            "-inf" => Some(Number::Float(f64::NEG_INFINITY)),
            _ => None,
        },
        _ => None,
    }
}

/// An array as JSON, with as many elements as are asked for.
pub fn write(array: &Array, elem: Elem, head: Option<usize>) -> Value {
    let count = (array.bytes.len() as u64 * 8 / u64::from(elem.bits().max(1))) as usize;
    let shown = head.unwrap_or(count).min(count);
    let bits = |n: usize| match elem.size() {
        Some(size) => {
            let at = n * size as usize;
            let mut bytes = [0u8; 8];
            let from = array.bytes.get(at..at + size as usize).unwrap_or(&[]);
            bytes.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(bytes)
        }
        None => u64::from(array.bytes.get(n / 2).copied().unwrap_or(0)) >> (4 * (n % 2)) & 15,
    };
    let data: Vec<Value> = (0..shown).map(|n| shown_number(elem.decode(bits(n)))).collect();
    let mut all = json!({"dtype": elem.name(), "shape": array.shape, "data": data});
    if shown < count {
        all["elements"] = json!(count);
    }
    all
}

fn shown_number(number: Number) -> Value {
    match number {
        Number::Int(n) => i64::try_from(n).map_or_else(|_| json!(n as u64), |n| json!(n)),
        Number::Float(v) if v.is_nan() => json!("nan"),
        Number::Float(v) if v.is_infinite() => json!(if v > 0.0 { "inf" } else { "-inf" }),
        Number::Float(v) => json!(v),
    }
}
