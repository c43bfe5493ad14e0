//! The result of a check's command as a report.

use crate::lifecycle::{CheckEnd, CheckReport};
use crate::ports::{CommandError, CommandOutput, Exit};
use alloc::format;
use alloc::string::String;

/// How a check's command ended.
#[must_use]
pub fn check_report(result: Result<CommandOutput, CommandError>) -> CheckReport {
    let output = match result {
        Ok(output) => output,
        Err(error) => {
            return CheckReport::new(CheckEnd::NotStarted { found: format!("{error}") }, String::new());
        }
    };
    let end = match output.exit {
        Exit::Code(code) => CheckEnd::Exited { code },
        Exit::Signal(signal) => CheckEnd::Killed { signal },
        Exit::TimedOut => CheckEnd::TimedOut,
        Exit::Cancelled => CheckEnd::Broke { found: String::from("it was stopped") },
    };
    CheckReport::new(end, printed(&output))
}

/// Both streams, the errors last: they tell most, and the end is what is kept.
fn printed(output: &CommandOutput) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}
