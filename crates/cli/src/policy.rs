//! Which warnings count: `--strict`, `--allow`, `--deny`, and the formats of a report.

use crate::render::{diagnostic, json, sarif};
use crate::session::{FINE, Failure, Outcome, PROGRAM_ERROR, Session};
use crate::source::Source;
use clap::ValueEnum;
use std::cell::RefCell;
use tessera_isa::diag::{Diagnostic, Severity, nearest};
use tessera_isa::profile::Profile;
use tessera_micro::rules::{self, rule};

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Human,
    /// JSON on standard output, one object per line
    Json,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Findings {
    /// Text for people
    #[default]
    Human,
    /// JSON on standard output, one object per line
    Json,
    /// One SARIF 2.1.0 log for everything, on standard output
    Sarif,
}

impl From<Format> for Findings {
    fn from(format: Format) -> Self {
        match format {
            Format::Human => Findings::Human,
            Format::Json => Findings::Json,
        }
    }
}

/// The options that decide about warnings.
#[derive(Clone, Debug, clap::Args)]
pub struct Policy {
    /// Make every warning an error
    #[arg(long)]
    pub strict: bool,
    /// Hide the warnings of a rule
    #[arg(long, value_name = "RULE", value_parser = rule_id)]
    pub allow: Vec<&'static str>,
    /// Make the warnings of a rule errors
    #[arg(long, value_name = "RULE", value_parser = rule_id)]
    pub deny: Vec<&'static str>,
    /// How findings are written, as the command's own option says.
    #[arg(skip)]
    pub format: Findings,
    /// What goes into one log.
    #[arg(skip)]
    log: RefCell<sarif::Log>,
}

fn rule_id(text: &str) -> Result<&'static str, String> {
    rule(text).map(|r| r.id).ok_or_else(|| match nearest(text, rules::all().map(|r| r.id)) {
        Some(near) => format!("there is no rule '{text}'; did you mean '{near}'?"),
        None => format!("there is no rule '{text}'; `tessera explain` lists them"),
    })
}

impl Policy {
    /// Every warning stays one.
    pub fn plain(format: Format) -> Policy {
        Policy { strict: false, allow: Vec::new(), deny: Vec::new(), format: format.into(), log: RefCell::default() }
    }

    /// The diagnostics as the options want them: silenced ones left out, denied warnings made errors.
    pub fn apply(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        diagnostics.into_iter().filter_map(|d| self.decide(d)).collect()
    }

    fn decide(&self, mut d: Diagnostic) -> Option<Diagnostic> {
        if d.severity == Severity::Error {
            return Some(d);
        }
        let denied = self.deny.contains(&d.rule);
        if self.allow.contains(&d.rule) && !denied {
            return None;
        }
        if d.severity == Severity::Warning && (denied || self.strict) {
            d.severity = Severity::Error;
            let option = if denied { format!("--deny {}", d.rule) } else { "--strict".into() };
            d.notes.push(format!("a warning by default; {option} makes it an error"));
        }
        Some(d)
    }

    /// Writes a report of one source and gives the exit code that it means.
    pub fn report(
        &self,
        session: &mut Session<'_>,
        source: &Source,
        diagnostics: &[Diagnostic],
        profile: Profile,
    ) -> Outcome {
        let mut code = FINE;
        for d in diagnostics {
            code = code.max(self.one(session, source, d, profile)?);
        }
        if self.format == Findings::Human {
            let text = diagnostic::summary(&source.name, diagnostics, profile);
            session.stderr.write_all(text.as_bytes())?;
        }
        Ok(code)
    }

    /// Writes one finding, without a summary, and gives the exit code that it means.
    pub fn one(&self, session: &mut Session<'_>, source: &Source, d: &Diagnostic, profile: Profile) -> Outcome {
        match self.format {
            Findings::Json => session.stdout.write_all(json::line(d, source, profile).as_bytes())?,
            Findings::Human => session.stderr.write_all(diagnostic::human(d, source, session.color).as_bytes())?,
            Findings::Sarif => self.log.borrow_mut().add(d, source, profile),
        }
        Ok(if d.is_error() { PROGRAM_ERROR } else { FINE })
    }

    /// Writes the log that findings were gathered in, if they were.
    pub fn finish(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        match self.format {
            Findings::Sarif => Ok(session.stdout.write_all(self.log.borrow().text().as_bytes())?),
            Findings::Human | Findings::Json => Ok(()),
        }
    }

    /// Says which `--allow` options cannot do anything.
    pub fn check_options(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        for id in &self.allow {
            // An inexact custom pad is a warning of a rule that otherwise refuses (tile-model.md 6).
            let is_error = rule(id).is_some_and(|r| r.severity == Severity::Error) && *id != "tile-pad";
            if is_error && self.format == Findings::Human {
                writeln!(session.stderr, "note: --allow {id} has no effect, because {id} is an error")?;
            }
        }
        Ok(())
    }
}
