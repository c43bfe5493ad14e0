//! Seed 003, Transition table: its thirteen rows, each with its action. The last, a shutdown from any state, is held with the session.

use crate::walks::told;
use agent_core::session::{Action, State};

/// Where it leads, and the names of the actions.
fn row(words: &str) -> (State, Vec<String>) {
    let (script, step) = told(words);
    let name = |action: &Action| format!("{action:?}").split([' ', '{']).next().unwrap().to_owned();
    (script.session.state(), step.actions.iter().map(name).collect())
}

fn is(words: &str, to: State, actions: &[&str]) {
    assert_eq!(row(words), (to, actions.iter().map(|name| String::from(*name)).collect()), "{words}");
}

/// "WaitingForUserInput | UserInput | CallingLlm | SendLlmRequest"
#[test]
fn seed_003_row_user_input() {
    is("input go", State::CallingLlm, &["SendLlmRequest"]);
}

/// "CallingLlm | TextDelta | CallingLlm | DisplayMessage"
#[test]
fn seed_003_row_text_delta() {
    is("input go; delta hi", State::CallingLlm, &["DisplayText"]);
}

/// "CallingLlm | Completed | ProcessingLlmResponse | (internal)": the state is passed, and its message shown.
#[test]
fn seed_003_row_completed() {
    let (_, step) = told("input go; answer look calls read{}");
    assert_eq!((step.transitions[0].from, step.transitions[0].to), (State::CallingLlm, State::ProcessingLlmResponse));
    assert!(matches!(&step.actions[0], Action::DisplayMessage { blocks, .. } if blocks.len() == 2));
}

/// "CallingLlm | Error (retries < max) | Error | WaitForInput": somebody has to be told to wait, or nobody does.
#[test]
fn seed_003_row_error_with_retries_left() {
    is("input go; fail network", State::Error, &["DiscardPartial", "ScheduleRetry"]);
}

/// "CallingLlm | Error (retries >= max) | WaitingForUserInput | DisplayError"
#[test]
fn seed_003_row_error_without_retries_left() {
    let actions = ["DiscardPartial", "DisplayError", "PromptForInput"];
    is("config retries=0; input go; fail network", State::WaitingForUserInput, &actions);
}

/// "ProcessingLlmResponse | (has tool calls) | ExecutingTools | ExecuteTools"
#[test]
fn seed_003_row_has_tool_calls() {
    is("input go; answer calls read{}", State::PreparingTools, &["DisplayMessage", "PrepareTools"]);
    is("input go; answer calls read{}; prepared", State::ExecutingTools, &["ExecuteTools"]);
}

/// "ProcessingLlmResponse | (no tools) | WaitingForUserInput | WaitForInput"
#[test]
fn seed_003_row_no_tools() {
    is("input go; answer hi", State::WaitingForUserInput, &["DisplayMessage", "PromptForInput"]);
}

/// "ExecutingTools | ToolCompleted (some pending) | ExecutingTools | WaitForInput"
#[test]
fn seed_003_row_some_pending() {
    is("input go; answer calls read{} read{}; prepared; tool 2 ok x", State::ExecutingTools, &[]);
}

/// "ExecutingTools | ToolCompleted (all done, mutating) | PostToolsHook | RunPostToolsHook"
#[test]
fn seed_003_row_all_done_mutating() {
    is("input go; answer calls change{}; prepared; tool 1 ok x", State::CheckingGitCommits, &["CheckGitCommits"]);
}

/// "ExecutingTools | ToolCompleted (all done, non-mutating) | CallingLlm | SendLlmRequest"
#[test]
fn seed_003_row_all_done_non_mutating() {
    is("input go; answer calls read{}; prepared; tool 1 ok x", State::SendingToolResults, &["SendLlmRequest"]);
}

/// "PostToolsHook | PostToolsHookCompleted | CallingLlm | SendLlmRequest"
#[test]
fn seed_003_row_hook_completed() {
    let until = "input go; answer calls change{}; prepared; tool 1 ok x";
    is(&format!("{until}; git"), State::SendingToolResults, &["SendLlmRequest"]);
    is(&format!("{until}; git formatting; formatted"), State::SendingToolResults, &["SendLlmRequest"]);
    is(&format!("{until}; git commit; committed"), State::SendingToolResults, &["SendLlmRequest"]);
}

/// "Error | RetryTimeoutFired | CallingLlm | SendLlmRequest"
#[test]
fn seed_003_row_retry_timeout() {
    is("input go; fail network; timer", State::CallingLlm, &["SendLlmRequest"]);
}
