//! Any bytes: reading never panics, and what is read without errors is printed, read again and converted without errors.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tessera_ir::TextForm;

fuzz_target!(|bytes: &[u8]| {
    let parsed = tessera_asm::parse_bytes(bytes, None);
    if parsed.has_errors() {
        return;
    }
    let printed = tessera_asm::print(&parsed);
    let again = tessera_asm::parse(&printed, None);
    assert!(!again.has_errors(), "printed text is not read: {printed}");
    assert_eq!(printed, tessera_asm::print(&again), "printing is no fixpoint");
    for to in [TextForm::Asm, TextForm::Ssa, TextForm::Dps] {
        let converted = tessera_asm::convert(&parsed, to);
        assert!(!tessera_asm::parse(&converted, None).has_errors(), "converted text is not read: {converted}");
    }
});
