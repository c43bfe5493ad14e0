//! Shell commands that a model writes, as permission rules see them. `cargo xtask fuzz-bash` compares the same parser with the real bash.

#![no_main]

use agent_tools::fuzz::plain_commands;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| {
    for plain in plain_commands(command).into_iter().flatten() {
        // Read alone, it is the same plain command, if it is known at all: `'@2@'` is, `@2@` is not.
        let again = plain_commands(&plain).unwrap_or_else(|| vec![plain.clone()]);
        assert_eq!(again, [plain], "of {command:?}");
    }
});
