//! Replacing text in a file.

#![no_main]

use agent_tools::fuzz::edited;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str, bool)| {
    let (text, old, new, all) = input;
    // The tool refuses an empty text to find.
    if old.is_empty() {
        return;
    }
    let Ok((result, replacements)) = edited(text, old, new, all) else { return };
    assert!(all || replacements == 1);
    if !text.contains('\r') && !new.contains('\r') {
        assert_eq!(result, text.replace(old, new), "as the standard library replaces");
    }
});
