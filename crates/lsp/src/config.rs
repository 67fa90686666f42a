//! Settings: `initializationOptions`, or the section `tessera` of the workspace's configuration.

use serde_json::Value;
use tessera::Profile;
use tessera_isa::diag::nearest;

/// The section of the configuration.
pub const SECTION: &str = "tessera";

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The profiles that programs are judged on; none: the module's own, else all of them.
    pub profiles: Vec<Profile>,
    /// Whether the order of pipes is checked.
    pub races: bool,
    /// Whether inferred layouts and placements are shown in the text.
    pub hints: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config { profiles: Vec::new(), races: true, hints: true }
    }
}

impl Config {
    /// Reads settings; what is wrong is said, and the rest counts.
    pub fn read(value: &Value) -> (Config, Vec<String>) {
        let mut config = Config::default();
        let mut wrong = Vec::new();
        // `{"tessera": {…}}` is how some clients send a section.
        let value = value.get(SECTION).unwrap_or(value);
        let words: Vec<&Value> = match value.get("profiles").or(value.get("profile")) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().collect(),
            Some(one) => vec![one],
        };
        for word in words {
            match word.as_str() {
                Some("" | "auto" | "default") => {}
                Some("all") => config.profiles = Profile::ALL.to_vec(),
                Some(name) => match Profile::parse(name) {
                    Some(profile) if config.profiles.contains(&profile) => {}
                    Some(profile) => config.profiles.push(profile),
                    None => {
                        let near = nearest(name, Profile::spellings()).unwrap_or("cpu");
                        wrong
                            .push(format!("there is no profile '{name}'; did you mean '{near}'? (cpu, a2a3, a5, all)"));
                    }
                },
                None => {
                    wrong.push(format!("{SECTION}.profiles is a list of names such as \"a5\", and {word} is no name"))
                }
            }
        }
        for (key, setting) in [("races", &mut config.races), ("hints", &mut config.hints)] {
            match value.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::Bool(on)) => *setting = *on,
                Some(other) => wrong.push(format!("{SECTION}.{key} is true or false, and {other} is neither")),
            }
        }
        (config, wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_read_in_every_shape() {
        let read = |value: Value| Config::read(&value);
        assert_eq!(read(Value::Null), (Config::default(), Vec::new()));
        assert_eq!(read(json!({"profiles": ["a5", "A5", "cpu"]})).0.profiles, [Profile::A5, Profile::Cpu]);
        assert_eq!(read(json!({"tessera": {"profile": "all", "races": false}})).0.profiles, Profile::ALL);
        assert!(!read(json!({"races": false})).0.races);
        let (config, wrong) = read(json!({"profiles": ["a6", 5], "hints": "no"}));
        assert_eq!(config, Config::default());
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(wrong[0].contains("there is no profile 'a6'"), "{wrong:?}");
    }
}
