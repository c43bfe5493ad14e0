//! Patches that a model writes, applied to any text.

#![no_main]

use agent_tools::fuzz::patched;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (patch, text) = input;
    let lines = |text: &str| text.lines().count();
    for (result, added, removed) in patched(patch, text).into_iter().flatten().flatten() {
        assert_eq!(lines(&result) + removed, lines(text) + added, "lines come and go as they are counted");
    }
});
