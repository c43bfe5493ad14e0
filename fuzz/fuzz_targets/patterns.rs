//! Patterns over paths, of the tools that search.

#![no_main]

use agent_tools::fuzz::matches;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (pattern, path) = input;
    let found = matches(pattern, path);
    assert_eq!(matches(&format!("./{pattern}"), path).is_ok(), found.is_ok() || pattern.is_empty(), "./ changes nothing");
});
