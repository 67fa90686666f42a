//! Suggestions for misspelt words.

use tessera_isa::diag::nearest;

#[test]
fn nearest_finds_typos_and_refuses_strangers() {
    let words = ["tmov", "tinsert", "textract"];
    assert_eq!(nearest("tmove", words), Some("tmov"));
    assert_eq!(nearest("TINSRT", words), Some("tinsert"));
    assert_eq!(nearest("banana", words), None);
    assert_eq!(nearest(&"t".repeat(10_000), words), None);
}
