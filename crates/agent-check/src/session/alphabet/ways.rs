//! The few events that are enough to find a way to every row, each with a name to show.

use super::Question;
use crate::session::commands::BY_THE_USER;
use agent_core::session::State;

/// A name and the line.
pub type Way = (&'static str, &'static str);

/// Long enough for a summary to help.
macro_rules! long_answer {
    ($rest:literal) => {
        concat!(
            "answer \"it says what it says, it says what it says, it says what it says, it says what it says, ",
            "it says what it says, it says what it says, it says what it says, it says what it says, ",
            "it says what it says, it says what it says, it says what it says, it says what it says, \"",
            $rest
        )
    };
}

/// What a user may do where a session stands.
pub fn by_the_user(state: State) -> &'static [Way] {
    if state == State::Ready { &[("start", "start"), ("shut down", "shutdown")] } else { BY_THE_USER }
}

/// What may be answered.
pub const fn ways(question: Question) -> &'static [Way] {
    match question {
        Question::Model => MODEL,
        Question::Facts => &[("prepared", "prepared"), ("prepared, unknown tools", UNKNOWN), TROUBLES[0], TROUBLES[1]],
        Question::Approval => &[("allow", "allow 1"), ("deny", "deny 1 no")],
        Question::Tools => &[("progress", "progress 1 …"), ("tool done", "tool 1 ok done")],
        Question::Git => &[
            ("git: nothing due", "git"),
            ("git: formatting due", "git formatting"),
            ("git: commit due", "git commit"),
            TROUBLES[0],
            TROUBLES[1],
        ],
        Question::Format => {
            &[("formatted", "formatted"), ("formatted, commit due", "formatted commit"), TROUBLES[0], TROUBLES[1]]
        }
        Question::Commit => &[("committed", "committed"), TROUBLES[0], TROUBLES[1]],
        Question::Hooks => {
            &[("hooks: nothing", "hooks"), ("hooks: no", "hooks \"block=not like that\""), TROUBLES[0], TROUBLES[1]]
        }
        Question::Retry => &[("wait over", "timer")],
        Question::Deadline => &[("deadline", "deadline")],
    }
}

const MODEL: &[Way] = &[
    ("piece", "delta it"),
    ("answer", long_answer!("")),
    ("summary", "answer \"in short\""),
    ("answer: read", "answer calls read#{}"),
    ("answer: change", "answer calls change#{}"),
    ("answer: change, change", "answer calls change#{} change#{}"),
    ("answer: read, read", "answer calls read#{} read#{}"),
    ("answer, paused", long_answer!(" stop=paused")),
    ("empty answer", "answer"),
    ("refusal", long_answer!(" stop=refusal")),
    ("rate limit", "fail rate-limited trouble"),
    ("overloaded", "fail overloaded trouble"),
    ("bad request", "fail invalid trouble"),
    ("too long", "fail overflow trouble"),
    ("interrupted", "interrupted"),
    ("aborted", "aborted"),
];

const UNKNOWN: &str = "prepared \"1=unknown there is no such tool\" \"2=unknown there is no such tool\"";

const TROUBLES: [Way; 2] = [("hook failed", "hook-failed \"it broke\""), ("hook stops the turn", "hook-stop enough")];
