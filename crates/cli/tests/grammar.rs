//! The grammar of `editors/vscode` is what the instruction table and the language's words say.
//! `BLESS=1 cargo test -p tessera-pto-cli --test grammar` writes it anew.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use std::path::Path;
use tessera_asm::vocabulary;
use tessera_isa::elem::Elem;
use tessera_isa::ops::{AttrKind, AttrName, Opcode, Pipe, others};
use tessera_isa::tile::{LayoutName, Loc};

const FILE: &str = "../../editors/vscode/syntaxes/pto.tmLanguage.json";

/// One of these words, the longer ones first; `.` and `_` of a mnemonic are one letter (isa/structure.md 2).
fn any<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let mut all: Vec<String> = words.into_iter().map(|w| w.as_ref().to_string()).collect();
    all.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    all.dedup();
    all.iter().map(|w| w.replace('.', "\\.").replace('$', "\\$")).collect::<Vec<_>>().join("|")
}

fn mnemonics() -> String {
    let rows = Opcode::ALL.iter().flat_map(|op| {
        let info = op.info();
        [info.mnemonic].into_iter().chain(info.aliases.iter().copied())
    });
    let spelled = rows.chain(others()).map(|name| name.replace('.', "_"));
    any(spelled).replace('_', "[._]")
}

/// Operations outside the dialect.
fn operations() -> String {
    any(vocabulary::operations().filter(|name| !name.starts_with("pto.")))
}

/// The words of attributes and types.
fn words() -> String {
    let mut all: Vec<&str> = Vec::new();
    for attribute in AttrName::ALL {
        if let AttrKind::Word { list, .. } = attribute.info().kind {
            all.extend(list.iter().flat_map(|w| [w.name].into_iter().chain(w.also.iter().copied())));
        }
    }
    all.extend(Pipe::ALL.iter().map(|pipe| pipe.cpp()));
    any(all)
}

fn type_words() -> String {
    let fields = vocabulary::tile_fields().flat_map(|(_, words)| words);
    let locs = Loc::ALL.iter().flat_map(|l| [l.name(), l.cpp()]);
    let layouts = LayoutName::ALL.iter().map(|l| l.name());
    let words = fields.chain(locs).chain(layouts).filter(|w| !w.starts_with(|c: char| c.is_ascii_digit()));
    any(words.filter(|w| Elem::parse(w).is_none()))
}

fn grammar() -> Value {
    let elems = any(Elem::ALL.iter().flat_map(|e| e.info().spellings));
    let scalars = any(vocabulary::types().filter(|t| !t.starts_with('!') && *t != "memref"));
    let keys = any(vocabulary::tile_fields().map(|(key, _)| key));
    let name = |scope: &str| json!({ "name": format!("{scope}.pto") });
    let rule = |pattern: &str, scope: &str| json!({"match": pattern, "name": format!("{scope}.pto")});
    let include =
        |list: &[&str]| Value::from(list.iter().map(|n| json!({"include": format!("#{n}")})).collect::<Vec<_>>());
    let code = ["comment", "operation", "string", "type", "value", "function", "attribute", "label", "number", "word"];
    json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "information_for_contributors": ["Made from the instruction table: BLESS=1 cargo test -p tessera-pto-cli --test grammar"],
        "name": "PTO",
        "scopeName": "source.pto",
        "fileTypes": ["pto"],
        "patterns": include(&code),
        "repository": {
            "comment": {"patterns": [
                rule("//.*$", "comment.line.double-slash"),
                // In a listing: `#name = …` is an alias, everything else at the start of a line a comment.
                rule("^\\s*#(?![A-Za-z_][\\w.$]*\\s*=).*$", "comment.line.number-sign"),
            ]},
            "operation": {"patterns": [
                // The generic form of MLIR: `"pto.tadd"(…)`.
                {
                    "match": format!("\"(?:(pto\\.(?:{}))|({})|([a-z_]+\\.[\\w.]+))\"(?=\\s*\\()", mnemonics(), operations()),
                    "captures": {"1": name("support.function.instruction"), "2": name("keyword.control"), "3": name("support.function.other")},
                },
                rule(&format!("(?<![\\w.$%@!#-])pto\\.(?:{})(?![\\w.$])", mnemonics()), "support.function.instruction"),
                rule("(?<![\\w.$%@!#-])pto\\.[\\w.]+(?!\\s*=)(?![\\w.$])", "support.function.other"),
                {
                    "match": format!("(?:^|=)\\s*({})(?![\\w.$-])(?!\\s*=)", mnemonics()),
                    "captures": {"1": name("support.function.instruction")},
                },
                rule(&format!("(?<![\\w.$%@!#-])(?:{})(?![\\w.$])", operations()), "keyword.control"),
                rule(
                    "(?<![\\w.$%@!#-])(?:ins|outs|init|to|step|iter_args|else|do|attributes|private|public|loc|sizes|dense|strided|offset)(?![\\w.$]|\\s*=)",
                    "keyword.other",
                ),
            ]},
            "string": {"name": "string.quoted.double.pto", "begin": "\"", "end": "\"|$",
                "patterns": [rule("\\\\.", "constant.character.escape")]},
            "value": rule("%[\\w$.-]+(?:#\\d+)?", "variable.other"),
            "function": rule("@(?:[\\w$.-]+|\"[^\"]*\")", "entity.name.function"),
            "label": rule("\\^[\\w$.-]+", "entity.name.label"),
            "type": {"patterns": [
                {
                    "begin": "(![\\w.$]+|\\bmemref|\\bvector|\\btensor)(<)",
                    "beginCaptures": {"1": name("support.type"), "2": name("punctuation.definition.type.begin")},
                    "end": ">|$",
                    "endCaptures": {"0": name("punctuation.definition.type.end")},
                    "patterns": include(&["element", "type", "field", "attribute", "number", "string"]),
                },
                rule("![\\w.$]+", "support.type"),
                rule(&format!("(?<![\\w.$%@!#-])(?:{scalars}|{elems})(?![\\w.$]|\\s*=)"), "support.type"),
            ]},
            "field": {"patterns": [
                rule(&format!("\\b(?:{keys})(?=\\s*=)"), "entity.other.attribute-name"),
                rule(&format!("\\b(?:{})\\b", type_words()), "constant.other"),
            ]},
            // `16x32xf16`: extents, then the element.
            "element": {"patterns": [
                {
                    "match": format!("(?<!\\w)((?:(?:\\d+|\\?)x)*)({elems})(?!\\w)"),
                    "captures": {"1": name("constant.numeric"), "2": name("storage.type.element")},
                },
                rule("(?:\\d+|\\?)(?:x(?:\\d+|\\?))+", "constant.numeric"),
            ]},
            "attribute": {"patterns": [
                {
                    "begin": "(#[\\w.$]+)(<)",
                    "beginCaptures": {"1": name("constant.language")},
                    "end": ">|$",
                    "patterns": [{"include": "#type"}, {"include": "#number"}, rule("[A-Za-z_][\\w.]*", "constant.other")],
                },
                rule("#[A-Za-z_][\\w.$]*", "constant.language"),
                rule("[A-Za-z_][\\w.]*(?:-[a-z]+)*(?=\\s*=(?!=))", "entity.other.attribute-name"),
            ]},
            "number": {"patterns": [
                rule("\\b0x[0-9A-Fa-f]+\\b", "constant.numeric.hex"),
                rule("(?<![\\w.$])-?\\d+(?:\\.\\d*)?(?:[eE][+-]?\\d+)?\\b", "constant.numeric"),
            ]},
            "word": {"patterns": [
                rule("\\b(?:true|false)\\b", "constant.language.boolean"),
                rule("\\bEVENT_ID\\d+\\b", "constant.other"),
                rule(&format!("(?<![\\w.$%@!#-])(?:{})(?![\\w.$])", words()), "constant.other"),
            ]},
        },
    })
}

#[test]
fn the_grammar_is_made_of_the_table() {
    let wanted = format!("{}\n", serde_json::to_string_pretty(&grammar()).expect("a grammar"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &wanted).expect("the grammar is written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "BLESS=1 cargo test -p tessera-pto-cli --test grammar writes {FILE} anew");
}
