//! Shell commands that a model writes, as permission rules see them. `cargo xtask fuzz-bash` compares the same parser with the real bash.

#![no_main]

use agent_tools::fuzz::plain_commands;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| {
    for plain in plain_commands(command).into_iter().flatten() {
        // Read alone, a plain command is one plain command, and is written the same way.
        assert_eq!(plain_commands(&plain), Some(vec![plain.clone()]), "of {command:?}");
    }
});
