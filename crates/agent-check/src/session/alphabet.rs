//! Everything that may follow on what a session asks, and what comes by itself, in the words of the scenarios.
//!
//! `ASKED` stands for a call that a person is asked about, `RUNNING` for one that runs, `IDLE` for one that was never given to the driver.

mod ways;

pub use super::commands::{COMMANDS, MESSAGE_WAYS, MESSAGES};
pub use ways::{Way, by_the_user, ways};

use agent_core::session::Action;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// An answer of the model.
    Model,
    /// What calls would do.
    Facts,
    /// Whether a call may run.
    Approval,
    /// To run calls.
    Tools,
    /// To look at the repository.
    Git,
    /// To run formatters.
    Format,
    /// To commit.
    Commit,
    /// To run the user's hooks.
    Hooks,
    /// To wait before a repetition.
    Retry,
    /// To watch over the turn's time.
    Deadline,
}

impl Question {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Model,
        Self::Retry,
        Self::Deadline,
        Self::Facts,
        Self::Approval,
        Self::Tools,
        Self::Git,
        Self::Format,
        Self::Commit,
        Self::Hooks,
    ];

    /// What an action asks; `None` if it asks nothing.
    pub const fn of(action: &Action) -> Option<Self> {
        Some(match action {
            Action::SendLlmRequest { .. } => Self::Model,
            Action::PrepareTools { .. } => Self::Facts,
            Action::RequestApproval { .. } => Self::Approval,
            Action::ExecuteTools { .. } => Self::Tools,
            Action::CheckGitCommits { .. } => Self::Git,
            Action::RunAutoformatters { .. } => Self::Format,
            Action::CommitChanges { .. } => Self::Commit,
            Action::RunHooks { .. } => Self::Hooks,
            Action::ScheduleRetry { .. } => Self::Retry,
            Action::StartDeadline { .. } => Self::Deadline,
            _ => return None,
        })
    }

    /// Whether hooks may fail instead of an answer, or end the turn.
    pub const fn has_troubles(self) -> bool {
        matches!(self, Self::Facts | Self::Git | Self::Format | Self::Commit | Self::Hooks)
    }

    /// Its answers, with every difference in their data that a guard looks at.
    pub const fn answers(self) -> &'static [&'static str] {
        match self {
            Self::Model => MODEL,
            Self::Facts => FACTS,
            Self::Approval => APPROVAL,
            Self::Tools => TOOLS,
            Self::Git => &["git", "git formatting", "git commit", "git formatting commit"],
            Self::Format => &["formatted", "formatted a.rs", "formatted commit", "formatted a.rs commit"],
            Self::Commit => &["committed"],
            Self::Hooks => &["hooks", "hooks context=mind ran=ls", "hooks block=no", "hooks stop=enough"],
            Self::Retry => &["timer"],
            Self::Deadline => &["deadline"],
        }
    }

    /// Answers that no guard tells from the others, and whose data is a trap all the same.
    pub const fn traps(self) -> &'static [&'static str] {
        match self {
            Self::Model => MODEL_TRAPS,
            Self::Facts => FACTS_TRAPS,
            Self::Tools => &["tool RUNNING ok", "tool RUNNING interrupted gone changed=b.rs"],
            Self::Hooks => &["hooks block=no context=mind ran=ls", "hooks stop=enough context=mind"],
            _ => &[],
        }
    }
}

/// Each answer to each question, in a fixed order.
pub fn all_answers() -> impl Iterator<Item = &'static str> {
    Question::ALL.into_iter().flat_map(Question::answers).chain(TROUBLES).copied()
}

/// One answer of each kind, for a question that was never asked or is already answered.
pub const LATE: &[&str] = &[
    "answer late",
    "fail server late",
    "aborted",
    "interrupted",
    "timer",
    "deadline",
    "prepared",
    "nobody id:nobody's",
    "tool id:nobody's ok late",
    "git",
    "formatted",
    "committed",
    "hooks",
    "hook-failed \"git is gone\"",
    "hook-stop enough",
];

/// What may come instead of an answer, where [`Question::has_troubles`].
pub const TROUBLES: &[&str] = &["hook-failed broke", "hook-stop enough"];

const MODEL: &[&str] = &[
    "delta hi",
    "answer hi",
    "answer hi stop=sequence",
    "answer long=400",
    "answer look calls read{}",
    "answer calls read{} change{}",
    "answer calls read{} stop=paused",
    "answer calls read{} cut:change{\"x stop=max-tokens",
    "answer calls cut:change{\"x stop=max-tokens",
    "answer calls read{} stop=refusal",
    "answer",
    "answer thinking",
    "answer stop=paused",
    "answer stop=odd",
    "answer stop=max-tokens",
    "answer half stop=max-tokens",
    "answer half stop=context",
    "answer no stop=refusal",
    "answer part stop=paused",
    "answer well stop=odd",
    "fail authentication",
    "fail permission",
    "fail billing",
    "fail not-found",
    "fail invalid",
    "fail overflow",
    "fail rate-limited",
    "fail rate-limited retry-after=50",
    "fail rate-limited retry-after=30000",
    "fail rate-limited retry-after=999999999",
    "fail overloaded",
    "fail overloaded retry-after=999999999",
    "fail server",
    "fail timeout",
    "fail network",
    "fail protocol",
    "aborted",
    "aborted half",
    "interrupted",
];

/// Ids that the model repeats, within an answer and in later ones; arguments that are no object, or did not arrive; blanks.
const MODEL_TRAPS: &[&str] = &[
    "answer \" \"",
    "answer thinking \"some words about the work that was done\"",
    "answer calls read#a{} change#a{\"x\":1} read#",
    "answer calls read#b[1] cut:change#c{\"x\":",
    "answer calls cut:change#d{",
    "answer calls change#e{} change#f{} read#g{}",
    "answer calls read#h{} read#i{}",
    "answer \"some words\" calls change#j!no-json",
    "answer calls change{} change{}",
];

const FACTS: &[&str] = &[
    "prepared",
    "prepared missing",
    "prepared twice",
    "prepared foreign",
    "prepared 1=deny",
    "prepared 1=ask",
    "prepared 1=invalid",
    "prepared 1=unknown",
    "prepared 1=allow",
    "prepared 1=change,input={\"x\":1},context=mind",
    "prepared 1=read,stop=enough",
];

const FACTS_TRAPS: &[&str] = &[
    "prepared 1=read 2=change 3=deny",
    "prepared 1=unknown 2=invalid",
    "prepared 2=change,input={\"z\":3},context=mind 3=read,context=gap",
    "prepared 2=deny,stop=enough,context=mind",
];

const APPROVAL: &[&str] = &[
    "allow ASKED",
    "allow ASKED always=change",
    "allow ASKED edit={\"y\":2}",
    "allow ASKED edit={\"y\":2} looks=change",
    "allow ASKED edit={\"y\":2} looks=deny",
    "allow ASKED edit={\"y\":2} looks=invalid",
    "deny ASKED no",
    "nobody ASKED",
    "allow id:nobody",
    "deny id:nobody no",
];

const TOOLS: &[&str] = &[
    "progress RUNNING half",
    "progress id:nobody half",
    "tool RUNNING ok out",
    "tool RUNNING ok out changed=a.rs",
    "tool RUNNING failed out",
    "tool RUNNING interrupted out",
    "tool RUNNING not-run out",
    "tool IDLE ok out",
    "tool id:nobody ok out",
];
