//! Reading what was printed gives the same program, and printing it again the same text (syntax.md 5).

use super::support::{corpus, dump, read};
use tessera_asm::{parse, print};

#[test]
fn printing_and_reading_keep_every_program() -> std::io::Result<()> {
    for (name, text) in corpus()? {
        let first = parse(&text, None);
        assert!(!first.has_errors(), "{name}: {:#?}", first.diagnostics);
        let printed = print(&first);
        let second = parse(&printed, None);
        assert!(!second.has_errors(), "{name}: {:#?}\n{printed}", second.diagnostics);
        assert_eq!(dump(&first.module), dump(&second.module), "{name} changed:\n{printed}");
        assert_eq!(printed, print(&second), "{name} is not printed the same twice");
    }
    Ok(())
}

#[test]
fn comments_survive() {
    let text =
        "// top\n\n# page comment\n%a = tmov %s : !pto.tile<8x8xf32> -> !pto.tile<8x8xf32> // behind\n\n\n// last\n";
    let expected =
        "// top\n\n# page comment\n%a = tmov %s : !pto.tile<8x8xf32> -> !pto.tile<8x8xf32>  // behind\n\n// last\n";
    assert_eq!(print(&read(text)), expected);
    assert_eq!(print(&read(expected)), expected);
}

#[test]
fn comments_in_regions_stay_in_them() {
    let text = "\
// file
module {  // module
  // function
  func.func @k(%n: index) {  // head
    %c0 = arith.constant 0 : index

    // before the loop
    scf.for %i = %c0 to %n step %n {  // loop
      %x = arith.addi %i, %i : index  // sum
      // end of the loop
    }  // after the loop
    return  // done
    // end of the function
  }  // function end
  // end of the module
}  // module end
// end of file
";
    assert_eq!(print(&read(text)), text);
}
