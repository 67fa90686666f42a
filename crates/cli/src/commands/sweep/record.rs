//! The outcome of a case as a line of JSON, and the key by which it is found again.

use super::CaseSource;
use crate::session::{Failure, Session};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use tessera::Profile;
use tessera::case::{Case, Report, Status};
use tessera::npy::Array;
use tessera::program::From;

/// The longest file of records that is read.
const MAX_RECORDS: u64 = 1 << 30;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Record {
    pub key: String,
    pub case: String,
    pub profile: String,
    pub status: String,
    pub message: String,
    /// The rules that were reported, with their severities, each once.
    pub rules: Vec<(String, String)>,
    /// Elements that were compared, and those that differed.
    pub compared: u64,
    pub different: u64,
}

impl Record {
    pub fn of(key: String, name: &str, profile: Profile, report: &Report) -> Record {
        let mut rules: Vec<(String, String)> =
            report.found.iter().map(|d| (d.rule.to_string(), d.severity.name().to_string())).collect();
        rules.sort();
        rules.dedup();
        Record {
            key,
            case: name.to_string(),
            profile: profile.name().to_string(),
            status: report.status.name().to_string(),
            message: report.message.clone(),
            rules,
            compared: report.compared.iter().map(|(_, c)| c.elements).sum(),
            different: report.compared.iter().map(|(_, c)| c.different).sum(),
        }
    }

    /// A case that cannot be run with what there is.
    pub fn unbound(key: String, name: &str, profile: Profile, why: String) -> Record {
        let (found, compared) = (Vec::new(), Vec::new());
        Record::of(key, name, profile, &Report { status: Status::Unbound, message: why, found, compared })
    }

    pub fn has_passed(&self) -> bool {
        self.status == Status::Passed.name()
    }

    pub fn line(&self) -> String {
        // A record of strings and numbers always has a JSON form.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// The outcomes of earlier sweeps.
#[derive(Debug, Default)]
pub struct Done {
    pub records: Vec<Record>,
    /// The bytes of whole lines, where the last one was cut short.
    pub whole: Option<u64>,
    /// The positions of the records, by key.
    by_key: HashMap<String, usize>,
}

impl Done {
    /// Reads a file of records. Its last line may have been cut short when it was written; any other is a record.
    pub fn read(session: &mut Session<'_>, file: &Path) -> Result<Done, Failure> {
        let bytes = session.read(file, MAX_RECORDS)?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default());
        let mut done = Done { whole: (whole < bytes.len()).then_some(whole as u64), ..Done::default() };
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            done.records.push(serde_json::from_str(line).map_err(|e| {
                let why = format!("{}:{number} is no record of a sweep: {e}", file.display());
                Failure::usage(format!("{why}; give another file, or take the line out"))
            })?);
        }
        done.by_key = done.records.iter().map(|r| r.key.clone()).zip(0..).collect();
        Ok(done)
    }

    /// The newest record of a key.
    pub fn find(&self, key: &str) -> Option<&Record> {
        self.records.get(*self.by_key.get(key)?)
    }
}

/// Sorts records by case and profile; of several with one key the last counts.
pub fn order(records: &mut Vec<Record>) {
    let mut seen = HashSet::new();
    records.reverse();
    records.retain(|r| seen.insert(r.key.clone()));
    records.sort_by(|a, b| (&a.case, &a.profile, &a.key).cmp(&(&b.case, &b.profile, &b.key)));
}

/// FNV-1a of 128 bits: equal on every machine; test results need no protection against forgery.
struct Hash(u128);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        let len = (bytes.len() as u64).to_le_bytes();
        for byte in len.iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013B);
        }
    }

    fn array(&mut self, array: &Array) {
        self.add(array.descr.as_bytes());
        self.add(format!("{:?}", array.shape).as_bytes());
        self.add(&array.bytes);
    }
}

/// A hash of all that decides what a case comes to: the program, its inputs, the profile, and this version.
pub fn key(case: &Result<Case, String>, profile: Option<Profile>, found: &CaseSource) -> String {
    let mut hash = Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    hash.add(env!("CARGO_PKG_VERSION").as_bytes());
    hash.add(found.name.as_bytes());
    match case {
        Err(why) => hash.add(format!("{profile:?} {why}").as_bytes()),
        Ok(case) => {
            hash.add(case.program.profile().name().as_bytes());
            hash.add(case.program.source().as_bytes());
            let Case { entry, blocks, fills_missing, rules, limits, inputs, .. } = case;
            hash.add(format!("{entry:?} {blocks} {fills_missing} {rules:?} {limits:?}").as_bytes());
            hash.add(format!("{:?} {:?}", inputs.shapes, inputs.set).as_bytes());
            for content in &inputs.contents {
                hash.add(content.name.as_bytes());
                match &content.from {
                    From::Array(array) => hash.array(array),
                    From::Cast(array) => {
                        hash.add(b"cast");
                        hash.array(array);
                    }
                    From::Raw(bytes) => hash.add(bytes),
                    other => hash.add(format!("{other:?}").as_bytes()),
                }
            }
            for expected in &case.expect {
                let how = format!("{} {} {} {:?}", expected.name, expected.core1, expected.is_cast, expected.tolerance);
                hash.add(how.as_bytes());
                hash.array(&expected.array);
            }
        }
    }
    format!("{:032x}", hash.0)
}
