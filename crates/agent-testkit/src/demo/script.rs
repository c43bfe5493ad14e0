//! The demo's model: what it says and does, answer by answer.

use super::repository::BUGGY_FILE;
use crate::http::Step;
use crate::reply::Reply;
use agent_core::llm::Usage;
use serde_json::{Value, json};
use std::time::Duration;

/// What the demo's user asks for.
pub const PROMPT: &str = "The tests of this crate fail. Find out why and fix it.";

/// The demo's model for a [`ScriptedServer`](crate::http::ScriptedServer). It calls `bash`, `read_file`, `grep` and `edit_file`, and
/// its edits apply to the files of [`create_repository`](super::create_repository) exactly.
#[must_use]
pub fn script() -> Vec<Step> {
    let answers = [
        Reply::new()
            .text("I'll run the tests first to see what fails.")
            .call("bash", run_tests()),
        Reply::new()
            .text(
                "Two of four fail: a duration with several units keeps only its last one. I'll read the code, and look for other \
                 places that do arithmetic on units.",
            )
            .call("read_file", json!({"path": BUGGY_FILE}))
            .call("grep", json!({"pattern": "3600|60", "path": "src"})),
        Reply::new()
            .text(
                "Correct how `read` adds up units: it overwrites `total` at every unit, so `1h30m` comes out as 30 minutes. Each unit \
                 has to be added to what was read before it.",
            )
            .call("edit_file", edit(&FIRST_EDIT)),
        Reply::new()
            .text("That should make `reads_several_units` pass. Running the tests again.")
            .call("bash", run_tests()),
        Reply::new()
            .text(
                "Correct the minutes that `write` counts: reading is right now, and the round trip shows a second mistake that the \
                 first one hid. `write` counts all minutes, those already in the hours too, so 5400 seconds become `1h90m`.",
            )
            .call("edit_file", edit(&SECOND_EDIT)),
        Reply::new()
            .text("Once more.")
            .call("bash", run_tests()),
        Reply::new().text(SUMMARY),
    ];
    let paced = answers.into_iter().zip(1..).map(|(reply, round)| {
        reply.pieces_of(PIECE_CHARS).first_delay(FIRST_DELAY).piece_delay(PIECE_DELAY).usage(usage(round))
    });
    paced.map(Step::answer).collect()
}

/// An edit of [`BUGGY_FILE`]: what is there exactly once, and what is to be there instead.
pub(super) struct Edit {
    pub(super) old: &'static str,
    pub(super) new: &'static str,
}

/// Badly formatted on purpose: the formatter is to have something to do.
pub(super) const FIRST_EDIT: Edit = Edit {
    old: "            total = number.take()? * seconds_per(c)?;",
    new: "            total+=number.take()?*seconds_per( c )?;",
};

/// Away from the first edit's line, so that it applies whether that was formatted or not.
pub(super) const SECOND_EDIT: Edit =
    Edit { old: "    let minutes = seconds / 60;", new: "    let minutes = seconds % 3600 / 60;" };

fn edit(edit: &Edit) -> Value {
    json!({"path": BUGGY_FILE, "old_string": edit.old, "new_string": edit.new})
}

fn run_tests() -> Value {
    json!({"command": "sh check.sh"})
}

/// What an answer costs: the history grows from round to round, and most of it comes from the cache.
const fn usage(round: u64) -> Usage {
    Usage {
        input_tokens: 180,
        output_tokens: 90,
        cache_read_tokens: if round == 1 { 0 } else { 1_400 + round * 260 },
        cache_write_tokens: if round == 1 { 1_660 } else { 260 },
    }
}

const SUMMARY: &str = "\
All four tests pass. There were two mistakes in `src/lib.rs`, the second hidden by the first:

- `read` replaced the total at every unit instead of adding to it, so `1h30m` was read as 30 minutes.
- `write` did not take the hours off the minutes, so 5400 seconds were written as `1h90m`.

I changed one line for each and left the tests as they were. Your notes and the release plan are untouched.";

/// Together about 1,700 characters: some two seconds of streaming.
const PIECE_CHARS: usize = 12;
const FIRST_DELAY: Duration = Duration::from_millis(60);
const PIECE_DELAY: Duration = Duration::from_millis(12);
