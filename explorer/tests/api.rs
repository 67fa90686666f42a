//! What the page asks, asked without a page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

use serde_json::{Value, json};
use tessera::Opcode;
use tessera::npy::Array;
use tessera_explorer::call;

fn ask(request: Value) -> Value {
    serde_json::from_str(&call(&request.to_string())).unwrap()
}

const SUM: &str = "%x = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>\n\
                   %d = pto.tsub %x, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>\n";

#[test]
fn a_run_is_told_step_by_step() {
    let given = json!({ "a": "iota", "b": "8x8: ".to_string() + &"2 ".repeat(64) });
    let ran = ask(json!({ "do": "run", "text": SUM, "profile": "a5", "given": given }));
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
    let given = json!({ "a": "iota", "b": "ones" });
    let run =
        |expect: &str| ask(json!({ "do": "run", "text": SUM, "profile": "cpu", "given": given, "expect": expect }));
    let numbers = |add: i64| (0..64).map(|n| (n + add).to_string()).collect::<Vec<_>>().join(", ");
    assert_eq!(run(&format!("%d: {}", numbers(0)))["compared"][0]["different"], 0);
    // Without a name it is the first output.
    assert_eq!(run(&numbers(1))["compared"][0]["different"], 64);
    assert_eq!(run("%d: iota")["compared"][0]["different"], 0);
    assert_eq!(run("%q: 1")["error"], "there is no output %q; there are %d");
    let near = run(&format!("%d atol=1: {}", numbers(1)));
    assert_eq!((&near["compared"][0]["different"], &near["error"]), (&json!(0), &Value::Null));
    assert!(run("%d far: iota")["error"].as_str().unwrap().contains("'far' is no tolerance"));
    assert_eq!(run("%d: 1 2")["error"], "%d has 64 elements, and 2 are expected");
    let wrong = "what %d must be: 'seven' is no number; write numbers, random, iota, zeros, ones or value:N";
    assert_eq!(run("%d: seven")["error"], wrong);
}

/// Files are written in hexadecimal digits, for what runs and for what must come out.
#[test]
fn arrays_of_files_go_in_and_are_compared() {
    let file = |array: &Array| array.to_file().iter().map(|b| format!("{b:02x}")).collect::<String>();
    let floats = |from: f32| Array::new(&[8, 8], &(0..64).map(|n| n as f32 + from).collect::<Vec<_>>()).unwrap();
    let given = json!({ "a": format!("npy:{}", file(&floats(0.5))), "b": "ones" });
    let run =
        |expect: String| ask(json!({ "do": "run", "text": SUM, "profile": "cpu", "given": given, "expect": expect }));
    assert_eq!(run(format!("%d: npy:{}", file(&floats(0.5))))["compared"][0]["different"], 0);
    let off = run(format!("npy:{}", file(&floats(1.5))));
    let worst = &off["compared"][0]["worst"][0];
    assert_eq!((&off["compared"][0]["different"], worst["got"].is_string()), (&json!(64), true), "{off}");
    assert!(run("%d: npy:zz".into())["error"].as_str().unwrap().contains("hexadecimal"));
}

const MEMORY: &str =
    "func.func @k(%src: memref<8x16xf32>, %dst: memref<8x16xf32>, %n: index) attributes {pto.sync = \"manual\"} {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pto.tload ins(%src : memref<8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
  scf.for %i = %c0 to %n step %c1 {
    pto.tabs ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
  }
  pto.tstore ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%dst : memref<8x16xf32>)
  return
}
";

#[test]
fn global_memory_is_told_step_by_step() {
    let given = json!({ "src": "iota", "n": "2" });
    let ran = ask(json!({ "do": "run", "text": MEMORY, "profile": "a5", "given": given }));
    let block = &ran["blocks"][0];
    assert_eq!(block["buffers"][0]["name"], "src", "{block}");
    assert_eq!((&block["buffers"][0]["shape"], &block["buffers"][0]["values"][5]), (&json!([8, 16]), &json!("5.0")));
    let steps = block["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert!(steps[..3].iter().all(|s| s["stored"] == json!([])), "only a store changes global memory");
    let stored = &steps[3]["stored"][0];
    assert_eq!((&stored["name"], &stored["first"], &stored["values"][5]), (&json!("dst"), &json!(0), &json!("5.0")));
}

/// The state at a step, not in the end.
#[test]
fn origins_are_those_of_the_moment() {
    let at = |target: &str, instructions: u64| {
        let given = json!({ "n": "2" });
        ask(
            json!({ "do": "origin", "text": MEMORY, "profile": "a5", "given": given, "target": target, "moment": [0, instructions] }),
        )
    };
    assert_eq!(at("%t[1, 2]", 0)["hops"][0]["how"], "never written");
    let loaded = at("%t[1, 2]", 1);
    assert_eq!((&loaded["formula"], &loaded["hops"][0]["op"]), (&Value::Null, &json!("tload")), "{loaded}");
    assert_eq!(at("%t[1, 2]", 2)["formula"], "abs(%src[1, 2])");
    assert_eq!(at("%t[1, 2]", 3)["formula"], "abs(abs(%src[1, 2]))");
    // Nothing is stored before the store.
    assert_eq!(at("%dst[1, 2]", 3)["hops"][0]["how"], "input");
    assert_eq!(at("%dst[1, 2]", 4)["formula"], "abs(abs(%src[1, 2]))");
}

#[test]
fn the_timeline_is_that_of_the_numbers_given() {
    let line = |n: u64, profile: &str| {
        ask(json!({ "do": "timeline", "text": MEMORY, "profile": profile, "given": { "n": n.to_string() } }))
    };
    let works = |line: &Value| {
        let slices = line["processes"][0]["slices"].as_array().unwrap().clone();
        slices.into_iter().filter(|s| s["kind"] != "wait").collect::<Vec<_>>()
    };
    let two = line(2, "a5");
    assert_eq!((works(&two).len(), works(&line(5, "a5")).len()), (4, 7));
    assert_eq!(works(&two)[2]["turns"], json!([1]));
    assert_eq!(two["values"], json!([["n", 2]]));
    assert!(line(2, "cpu")["error"].as_str().unwrap().contains("no costs"));
    // With flags in between, what waits is later, and an arrow says for what.
    let flagged = MEMORY.replace("  scf.for", "  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n  scf.for");
    let flagged = ask(json!({ "do": "timeline", "text": flagged, "profile": "a5", "given": { "n": "1" } }));
    assert_eq!(flagged["arrows"][0]["why"], "MTE2→V EVENT_ID0", "{flagged}");
    let works = works(&flagged);
    assert!(works[1]["start"].as_u64() >= works[0]["end"].as_u64(), "{flagged}");
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
        json!({ "do": "run", "text": SUM, "profile": "a5", "given": { "a": "1 2" } }),
        json!({ "do": "run", "text": SUM, "profile": "a5", "given": { "q": "random" } }),
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
