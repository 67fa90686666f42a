//! What the page asks, asked without a page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use serde_json::{Value, json};
use tessera::Opcode;
use tessera_explorer::call;

fn ask(request: Value) -> Value {
    serde_json::from_str(&call(&request.to_string())).unwrap()
}

const SUM: &str = "%x = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>\n\
                   %d = pto.tsub %x, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>\n";

#[test]
fn a_run_is_told_step_by_step() {
    let inputs = json!({ "a": { "fill": "iota" }, "b": { "values": vec![2; 64] } });
    let ran = ask(json!({ "do": "run", "text": SUM, "profile": "a5", "inputs": inputs }));
    let block = &ran["blocks"][0];
    let steps = block["steps"].as_array().unwrap();
    let ops: Vec<&str> = steps.iter().map(|s| s["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["tadd", "tsub"]);
    assert_eq!((&steps[0]["at"]["line"], &steps[1]["at"]["line"]), (&json!(1), &json!(2)));
    let named = |list: &Value, name: &str| list.as_array().unwrap().iter().find(|t| t["name"] == name).cloned();
    assert_eq!(named(&block["start"], "a").unwrap()["tile"]["values"][3], "3.0");
    assert_eq!(named(&block["start"], "x").unwrap()["tile"]["values"][3], Value::Null, "nothing has written it");
    assert_eq!(named(&steps[0]["changed"], "x").unwrap()["tile"]["values"][3], "5.0");
    let out = &ran["outputs"][0];
    assert_eq!((&out["name"], &out["values"][3]), (&json!("d"), &json!("3.0")));
}

#[test]
fn what_is_expected_is_compared() {
    let expect = |add: i64| json!({ "d": (0..64).map(|n| n + add).collect::<Vec<_>>() });
    let inputs = json!({ "a": { "fill": "iota" }, "b": { "fill": "ones" } });
    let run = |add| ask(json!({ "do": "run", "text": SUM, "profile": "cpu", "inputs": inputs, "expect": expect(add) }));
    assert_eq!(run(0)["compared"][0]["different"], 0);
    assert_eq!(run(1)["compared"][0]["different"], 64);
    let unknown = ask(json!({ "do": "run", "text": SUM, "profile": "cpu", "expect": { "q": [1] } }));
    assert_eq!(unknown["error"], "there is no output %q; there are %d");
}

#[test]
fn elements_are_linked_both_ways() {
    let text = "%t = pto.ttrans %s : !pto.tile<8x16xf32> -> !pto.tile<16x8xf32>";
    let element = |operand, row, col| {
        ask(json!({ "do": "element", "text": text, "profile": "a5", "operand": operand, "row": row, "col": col }))
    };
    let dst = element(1, 3, 5);
    assert_eq!((&dst["formula"], &dst["sources"]), (&json!("dst[3, 5] = src[5, 3]"), &json!([[0, 5, 3]])));
    assert_eq!(element(0, 5, 3)["users"], json!([[1, 3, 5]]));
    assert_eq!(dst["after"], element(0, 5, 3)["after"], "the value has moved");
}

#[test]
fn legality_is_told_for_every_profile() {
    let text = "%t = pto.ttrans %s : !pto.tile<8x16xf32> -> !pto.tile<16x16xf16>";
    let answer = ask(json!({ "do": "instruction", "text": text, "profile": "a5" }));
    for one in answer["legality"].as_array().unwrap() {
        assert_eq!(one["ok"], false, "{one}");
        assert!(one["findings"][0]["rule"].as_str().unwrap().starts_with("ttrans-"), "{one}");
    }
}

#[test]
fn origins_and_equivalence_are_told() {
    let origin = ask(json!({ "do": "origin", "text": SUM, "profile": "a5", "target": "%d[0, 5]" }));
    assert_eq!(origin["formula"], "%a[0, 5] + %b[0, 5] - %b[0, 5]");
    let other = SUM.replace("tsub", "tadd");
    let different = ask(json!({ "do": "equiv", "a": SUM, "b": other, "profile": "a5" }));
    assert_eq!(different["answer"], "different");
    assert_eq!(ask(json!({ "do": "equiv", "a": SUM, "b": SUM, "profile": "a5" }))["answer"], "equal");
}

#[test]
fn copies_are_programs() {
    let copy = |form: &str| ask(json!({ "do": "copy", "text": SUM, "profile": "a5", "as": form }))["text"].clone();
    assert_eq!(copy("command"), "tessera run kernel.pto --profile a5 --in a=random --in b=random");
    assert!(copy("cpp").as_str().unwrap().contains("TADD("));
    assert!(copy("python").as_str().unwrap().contains("program.run(a=a, b=b)"));
    assert!(copy("rust").as_str().unwrap().contains(".on(Profile::A5)\n    .input(\"a\", &a)?"));
}

/// Whatever is asked, there is an answer: a sentence, where something is wrong with the request.
#[test]
fn hostile_requests_have_answers() {
    let requests = [
        json!({ "do": "layout", "type": "99999999x99999999xf32", "profile": "a5" }),
        json!({ "do": "layout", "type": "<<<", "profile": "a5" }),
        json!({ "do": "layout", "type": "8x8xf32", "profile": "b7" }),
        json!({ "do": "origin", "text": SUM, "profile": "a5", "target": "%d[99, 0]" }),
        json!({ "do": "origin", "text": SUM, "profile": "a5", "target": "d" }),
        json!({ "do": "element", "text": "", "profile": "a5", "operand": 9, "row": 0, "col": 0 }),
        json!({ "do": "run", "text": SUM, "profile": "a5", "inputs": { "a": { "values": [1, 2] } } }),
        json!({ "do": "run", "text": SUM, "profile": "a5", "inputs": { "q": { "fill": "random" } } }),
        json!({ "do": "copy", "text": SUM, "profile": "a5", "as": "cobol" }),
        json!({ "do": "dance" }),
    ];
    for request in requests {
        let answer = ask(request.clone());
        assert!(answer["error"].as_str().is_some_and(|e| e.len() > 8), "{request}: {answer}");
    }
    let far = ask(json!({ "do": "element", "text": SUM, "profile": "a5", "operand": 1, "row": 99, "col": 99 }));
    assert_eq!((&far["sources"], &far["users"]), (&json!([]), &json!([])));
    let broken = ask(json!({ "do": "check", "text": "pto.tadd ins(%é", "profile": "a5" }));
    assert_eq!(broken["findings"][0]["severity"], "error");
    let endless = "func.func @k() {\n  %c = arith.constant true\n  scf.while : () -> () {\n    scf.condition(%c)\n  } do {\n    scf.yield\n  }\n  return\n}\n";
    let stopped = ask(json!({ "do": "run", "text": endless, "profile": "cpu" }));
    assert!(stopped.to_string().contains("limit") || stopped.to_string().contains("loop"), "{stopped}");
}

/// What every instruction of the catalog begins with is legal on its profile and can be followed.
#[test]
fn the_catalog_opens() {
    let catalog = ask(json!({ "do": "catalog" }));
    let all = catalog["instructions"].as_array().unwrap();
    assert!(all.len() > 100, "{}", all.len());
    for one in all {
        let answer = ask(json!({ "do": "instruction", "text": one["text"], "profile": one["profile"] }));
        // Where a tile only gets another's storage, nothing moves.
        let binds = Opcode::parse(one["name"].as_str().unwrap()).unwrap().info().binds.is_some();
        assert!(binds || answer["operands"].as_array().is_some_and(|o| !o.is_empty()), "{}: {answer}", one["name"]);
        let legal = answer["legality"].as_array().unwrap().iter().find(|l| l["profile"] == one["profile"]).unwrap();
        assert_eq!(legal["ok"], true, "{}", one["name"]);
    }
}
