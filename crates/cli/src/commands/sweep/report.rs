//! The table at the end of a sweep.

use super::record::Record;
use crate::render::table::Table;
use crate::words::counted;
use tessera::Profile;
use tessera::case::Status;

/// Cases that did not pass and are shown one by one.
const SHOWN: usize = 20;

pub fn page(records: &[Record]) -> String {
    let count =
        |profile: &str, status: &str| records.iter().filter(|r| r.profile == profile && r.status == status).count();
    let statuses: Vec<&str> = Status::ALL
        .iter()
        .map(|s| s.name())
        .filter(|s| *s == Status::Passed.name() || records.iter().any(|r| r.status == *s))
        .collect();
    let mut table = Table::new(["profile", "cases"].into_iter().chain(statuses.iter().copied()));
    for profile in Profile::ALL.iter().map(|p| p.name()) {
        let all = records.iter().filter(|r| r.profile == profile).count();
        if all > 0 {
            let counts = statuses.iter().map(|status| count(profile, status).to_string());
            table.row([profile.to_string(), all.to_string()].into_iter().chain(counts));
        }
    }
    let failed: Vec<&Record> = records.iter().filter(|r| !r.has_passed()).collect();
    let mut out = String::new();
    if !failed.is_empty() {
        let mut list = Table::new(["case", "profile", "", "why"]);
        for r in failed.iter().take(SHOWN) {
            list.row([&r.case, &r.profile, &r.status, &r.message]);
        }
        out.push_str(&list.render());
        if failed.len() > SHOWN {
            out.push_str(&format!("  … and {}\n", counted((failed.len() - SHOWN) as u64, "more case")));
        }
        out.push('\n');
    }
    if records.is_empty() {
        return "no cases\n".into();
    }
    out.push_str(&table.render());
    let compared: u64 = records.iter().map(|r| r.compared).sum();
    let passed = records.len() - failed.len();
    out.push_str(&format!(
        "\n{passed} of {} passed, {} compared\n",
        counted(records.len() as u64, "case"),
        counted(compared, "element")
    ));
    out
}
