//! The header of an npy file: a Python dictionary with three known keys.

/// The fields of a header.
#[derive(Debug)]
pub struct Header {
    /// The type descriptor, as written.
    pub descr: String,
    /// Whether the first index is contiguous.
    pub fortran_order: bool,
    /// The extents.
    pub shape: Vec<u64>,
}

/// Numpy's own limit on headers that it trusts.
const MAX_HEADER: usize = 10_000;

impl Header {
    /// Reads the dictionary.
    pub fn parse(bytes: &[u8]) -> Result<Header, String> {
        if bytes.len() > MAX_HEADER {
            return Err(format!("its header has {} bytes, and at most {MAX_HEADER} are read", bytes.len()));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "its header is not text")?;
        parse(&mut Reader(text.trim())).ok_or_else(|| {
            "its header is not a dictionary of 'descr' (a string), 'fortran_order' and 'shape'".to_string()
        })
    }
}

fn parse(r: &mut Reader<'_>) -> Option<Header> {
    let (mut descr, mut order, mut shape) = (None, None, None);
    r.expect("{")?;
    while !r.eat("}") {
        let key = r.string()?;
        r.expect(":")?;
        match key {
            "descr" => descr = Some(r.string()?.to_string()),
            "fortran_order" => order = Some(r.boolean()?),
            "shape" => shape = Some(r.tuple()?),
            _ => return None,
        }
        if !r.eat(",") {
            r.expect("}")?;
            break;
        }
    }
    Some(Header { descr: descr?, fortran_order: order?, shape: shape? })
}

/// The rest of the text.
struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start().strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.eat(token).then_some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = if self.eat("'") { '\'' } else { self.expect("\"").map(|()| '"')? };
        let (text, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        Some(text)
    }

    fn boolean(&mut self) -> Option<bool> {
        self.expect("True").map(|()| true).or_else(|| self.expect("False").map(|()| false))
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.eat(")") {
            all.push(self.integer()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Some(all)
    }

    fn integer(&mut self) -> Option<u64> {
        let text = self.0.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        self.0 = rest;
        // Python 2 wrote long integers with an L.
        self.eat("L");
        digits.parse().ok()
    }
}
