//! Formulas of the tasks on matrices of binary64: `e = exp(x - rowmax(x)); y = e / rowsum(e)`.
//!
//! Names, numbers, `+ - * /`, parentheses, and the functions of [`call`]. An extent of 1 stands for any extent.

use std::collections::BTreeMap;

/// A matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    /// Row by row.
    pub data: Vec<f64>,
}

impl Matrix {
    fn new(rows: usize, cols: usize, at: impl Fn(usize, usize) -> f64) -> Matrix {
        let data = (0..rows * cols).map(|n| at(n / cols.max(1), n % cols.max(1))).collect();
        Matrix { rows, cols, data }
    }

    fn at(&self, row: usize, col: usize) -> f64 {
        let (row, col) = (if self.rows == 1 { 0 } else { row }, if self.cols == 1 { 0 } else { col });
        self.data.get(row * self.cols + col).copied().unwrap_or(f64::NAN)
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Matrix {
        Matrix { data: self.data.iter().map(|v| f(*v)).collect(), ..*self }
    }

    fn with(&self, other: &Matrix, f: impl Fn(f64, f64) -> f64) -> Result<Matrix, String> {
        let join = |a: usize, b: usize| match (a, b) {
            _ if a == b => Ok(a),
            (1, n) | (n, 1) => Ok(n),
            _ => Err(format!("extents {a} and {b} do not fit")),
        };
        let (rows, cols) = (join(self.rows, other.rows)?, join(self.cols, other.cols)?);
        Ok(Matrix::new(rows, cols, |r, c| f(self.at(r, c), other.at(r, c))))
    }

    /// One value for each row, or for each column.
    fn fold(&self, by_rows: bool, first: f64, f: impl Fn(f64, f64) -> f64) -> Matrix {
        match by_rows {
            true => Matrix::new(self.rows, 1, |r, _| (0..self.cols).fold(first, |all, c| f(all, self.at(r, c)))),
            false => Matrix::new(1, self.cols, |_, c| (0..self.rows).fold(first, |all, r| f(all, self.at(r, c)))),
        }
    }
}

/// The value of a formula's last name.
pub fn evaluate(formula: &str, inputs: &BTreeMap<String, Matrix>) -> Result<Matrix, String> {
    let mut names = inputs.clone();
    let mut last = None;
    for statement in formula.split(';') {
        let (name, text) = statement.split_once('=').ok_or_else(|| format!("'{statement}' is no NAME = …"))?;
        let mut parser = Parser { text, names: &names };
        let value = parser.sum()?;
        if !parser.text.trim().is_empty() {
            return Err(format!("'{}' is left over", parser.text));
        }
        names.insert(name.trim().to_string(), value.clone());
        last = Some(value);
    }
    last.ok_or_else(|| "the formula is empty".into())
}

struct Parser<'a> {
    text: &'a str,
    names: &'a BTreeMap<String, Matrix>,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.text = self.text.trim_start();
        self.text.chars().next()
    }

    fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.text = self.text.get(c.len_utf8()..).unwrap_or_default();
        }
        is_next
    }

    fn sum(&mut self) -> Result<Matrix, String> {
        let mut left = self.product()?;
        loop {
            if self.take('+') {
                left = left.with(&self.product()?, |a, b| a + b)?;
            } else if self.take('-') {
                left = left.with(&self.product()?, |a, b| a - b)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Matrix, String> {
        let mut left = self.atom()?;
        loop {
            if self.take('*') {
                left = left.with(&self.atom()?, |a, b| a * b)?;
            } else if self.take('/') {
                left = left.with(&self.atom()?, |a, b| a / b)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn atom(&mut self) -> Result<Matrix, String> {
        if self.take('(') {
            let inner = self.sum()?;
            return if self.take(')') { Ok(inner) } else { Err("a ) is missing".into()) };
        }
        self.peek();
        let len =
            self.text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(len);
        self.text = rest;
        if let Ok(number) = word.parse::<f64>() {
            return Ok(Matrix::new(1, 1, |_, _| number));
        }
        if !self.take('(') {
            return self.names.get(word).cloned().ok_or_else(|| format!("there is no '{word}'"));
        }
        let mut args = vec![self.sum()?];
        while self.take(',') {
            args.push(self.sum()?);
        }
        if !self.take(')') {
            return Err(format!("a ) is missing behind {word}"));
        }
        call(word, &args)
    }
}

fn call(name: &str, args: &[Matrix]) -> Result<Matrix, String> {
    let whole = |m: &Matrix| m.data.first().copied().unwrap_or(0.0) as usize;
    Ok(match (name, args) {
        ("exp", [x]) => x.map(f64::exp),
        ("log", [x]) => x.map(f64::ln),
        ("sqrt", [x]) => x.map(f64::sqrt),
        ("abs", [x]) => x.map(f64::abs),
        ("max", [a, b]) => a.with(b, f64::max)?,
        ("min", [a, b]) => a.with(b, f64::min)?,
        ("rowsum", [x]) => x.fold(true, 0.0, |a, b| a + b),
        ("rowmax", [x]) => x.fold(true, f64::NEG_INFINITY, f64::max),
        ("rowmin", [x]) => x.fold(true, f64::INFINITY, f64::min),
        ("colsum", [x]) => x.fold(false, 0.0, |a, b| a + b),
        ("colmax", [x]) => x.fold(false, f64::NEG_INFINITY, f64::max),
        ("t", [x]) => Matrix::new(x.cols, x.rows, |r, c| x.at(c, r)),
        ("rows", [x, first, count]) => {
            let first = whole(first);
            Matrix::new(whole(count), x.cols, |r, c| x.at(first + r, c))
        }
        ("hcat", [a, b]) if a.rows == b.rows => {
            Matrix::new(a.rows, a.cols + b.cols, |r, c| if c < a.cols { a.at(r, c) } else { b.at(r, c - a.cols) })
        }
        ("vcat", [a, b]) if a.cols == b.cols => {
            Matrix::new(a.rows + b.rows, a.cols, |r, c| if r < a.rows { a.at(r, c) } else { b.at(r - a.rows, c) })
        }
        ("matmul", [a, b]) if a.cols == b.rows => {
            Matrix::new(a.rows, b.cols, |r, c| (0..a.cols).map(|k| a.at(r, k) * b.at(k, c)).sum())
        }
        _ => return Err(format!("{name} of {} operands, or of these extents, is nothing", args.len())),
    })
}
