//! `loc(…)`: read, kept, printed (syntax.md 1).

use tessera_asm::{Parsed, parse, print};
use tessera_ir::inline::inline;
use tessera_ir::{Func, LocId, Module, Place};

const TEXT: &str = r#"#loc = loc("k.py":1:1)
module {
  func.func @k(%p: !pto.ptr<f32> loc("p"(#loc2))) {
    %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32> loc(#loc3)
    func.call @f(%t) : (!pto.tile_buf<vec, 16x16xf32>) -> () loc(#loc)
    %n = arith.constant 4 : index loc(unknown)
    %z = scf.while (%i = %n) : (index) -> index {
      %c = arith.cmpi slt, %i, %n : index loc("cmp")
      scf.condition(%c) %i : index loc("k.py":9:9)
    } do {
    ^bb0(%j: index loc("k.py":7:8)):
      scf.yield %j : index
    } loc("k.py":6:5)
    return loc("k.py":10:3)
  } loc("k.py":2:1)
  func.func private @f(%t: !pto.tile_buf<vec, 16x16xf32>) {
    pto.tabs ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>) loc(callsite("inner" at #loc))
    return
  }
} loc(#loc)
#loc1 = loc("a \"b#\".py":3:4)
#loc2 = loc(fused<"pass">[#loc1, "k.py":5:6])
#loc3 = loc("tile"(#loc2))
"#;

#[track_caller]
fn read(text: &str) -> Parsed {
    let parsed = parse(text, None);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed
}

fn place(module: &Module, loc: Option<LocId>) -> Option<String> {
    let Place { file, line, column } = module.locs.get(loc?)?.place.as_ref()?;
    Some(format!("{file}:{line}:{column}"))
}

/// The places of the operations, in text order.
fn places(module: &Module, func: &Func) -> Vec<(&'static str, Option<String>)> {
    let mut out = Vec::new();
    func.walk(&mut |_, op, _| out.push((op.kind.name(), place(module, op.loc))));
    out
}

#[test]
fn locations_of_operations_and_arguments() {
    let parsed = read(TEXT);
    let module = &parsed.module;
    let [k, f] = module.funcs.as_slice() else { panic!("two functions") };
    let some = |text: &str| Some(text.to_string());
    let wanted = [
        ("alloc_tile", some("a \"b#\".py:3:4")),
        ("func.call", some("k.py:1:1")),
        ("arith", None),
        ("scf.while", some("k.py:6:5")),
        ("arith", None),
        ("scf.condition", some("k.py:9:9")),
        ("scf.yield", None),
        ("return", some("k.py:10:3")),
    ];
    assert_eq!(places(module, k), wanted);
    assert_eq!(places(module, f), [("tabs", some("k.py:1:1")), ("return", None)]);
    assert_eq!(place(module, k.arg_loc(k.args[0])), some("a \"b#\".py:3:4"));
    assert_eq!(place(module, k.loc), some("k.py:2:1"));
    assert_eq!(place(module, module.loc), some("k.py:1:1"));
    let of_blocks = k.arg_locs.iter().map(|(_, loc)| place(module, Some(*loc)));
    assert_eq!(of_blocks.collect::<Vec<_>>(), [some("a \"b#\".py:3:4"), some("k.py:7:8")]);
}

#[test]
fn inlining_keeps_locations() {
    let parsed = read(TEXT);
    let inlined = inline(&parsed.module, &parsed.module.funcs[0]).unwrap();
    let all = places(&parsed.module, &inlined);
    assert_eq!(all[1], ("tabs", Some("k.py:1:1".to_string())), "{all:?}");
    let args = inlined.arg_locs.iter().map(|(value, loc)| (*value, place(&parsed.module, Some(*loc))));
    let args: Vec<_> = args.map(|(value, at)| (parsed.module.names.text(inlined.value(value).name), at)).collect();
    assert_eq!(args.len(), 2, "{args:?}");
    assert_eq!(args[1], ("j", Some("k.py:7:8".to_string())));
}

#[test]
fn locations_are_printed_without_aliases() {
    let text = print(&read(TEXT));
    for line in [
        r#"func.func @k(%p: !pto.ptr<f32> loc("p"(fused<"pass">["a \"b#\".py":3:4, "k.py":5:6]))) {"#,
        r#"16x16xf32>) loc(callsite("inner" at "k.py":1:1))"#,
        r#"^bb0(%j: index loc("k.py":7:8)):"#,
        "loc(unknown)\n",
        "  } loc(\"k.py\":2:1)\n",
        "\n} loc(\"k.py\":1:1)\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let again = read(&text);
    assert_eq!(print(&again), text);
    let all = |parsed: &Parsed| -> Vec<_> { parsed.module.funcs.iter().map(|f| places(&parsed.module, f)).collect() };
    assert_eq!(all(&again), all(&read(TEXT)));
}

#[test]
fn an_alias_that_nothing_defines() {
    let parsed = parse("%n = arith.constant 4 : index loc(#loc7)", None);
    let [found] = parsed.diagnostics.as_slice() else { panic!("{:?}", parsed.diagnostics) };
    assert_eq!((found.rule, found.message.as_str()), ("undefined-name", "the location #loc7 names no alias"));
}
