//! What went wrong in other agents, by what happens, and the scenarios that hold what happens here.

use agent_check::scenarios::paths;
use agent_core::session::State;
use agent_core::session::table::TABLE;
use agent_core::table::Label;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A hostile sequence, and scenarios by their titles.
type Case = (&'static str, &'static [&'static str]);

#[rustfmt::skip]
const HOSTILE: &[Case] = &[
    ("the model answers twice", &["duplicate completion", "an answer and then its abort"]),
    ("a result for a call that nobody made", &["result for an unknown call id"]),
    ("two results for one call", &["two results for one id"]),
    ("a result is missing", &["missing results: the model is not called before the last one is there", "missing facts about a call"]),
    ("an empty list of results", &["an empty list of facts, and results before anything was asked to run"]),
    ("results while the model is called", &["results while the model is being called"]),
    ("facts twice, or about nobody", &["the same facts twice, and facts about nobody"]),
    ("input in the middle of a batch", &["steering input in the middle of a tool batch: after the results, in the same message, in order"]),
    ("the timer after a cancel", &["cancel while waiting for a retry; the timer after it changes nothing"]),
    ("the same timer twice", &["the same timer twice"]),
    ("an approval after a cancel", &["approval after cancel"]),
    ("two approvals of one call", &["a second answer about one approval"]),
    ("an answer after the end", &["completion after shutdown", "results after shutdown"]),
    ("a late answer to a call that was cancelled", &["late completion of a cancelled call after the next one has started"]),
    ("an answer to another question", &["an answer that carries the ticket of another question", "an answer of one hook is none of another"]),
    ("the model repeats its call ids", &["tool ids repeated by the model within an answer and across answers"]),
    ("arguments that are no object", &["arguments that are not an object"]),
    ("an answer without anything", &["a response that is empty is asked again", "a response that only thinks is as good as empty"]),
    ("an unknown reason to stop", &["a stop reason nobody knows", "a stop reason nobody knows, with calls"]),
    ("one answer uses more than there is", &["use larger than the budget in one answer"]),
    ("input while the conversation is summarised", &["input while summarising"]),
    ("a summary that is no shorter", &["a summary that does not shrink"]),
    ("the conversation is too long twice in a row", &["context overflow twice in a row, then a third time", "context overflow with nothing to shorten"]),
];

/// A cancel in every waiting state, and once more.
#[rustfmt::skip]
const CANCELLED: &[(State, &[&str])] = &[
    (State::Ready, &["before the start only a start and an end are expected"]),
    (State::WaitingForUserInput, &["cancel while idle is no move"]),
    (State::CallingLlm, &["cancel while the model is called", "cancel while the model is called, nothing had come yet",
        "cancel while the model is called, but the answer is complete: its calls are not run"]),
    (State::SendingToolResults, &["cancel while results are sent"]),
    (State::PreparingTools, &["cancel while the calls are prepared"]),
    (State::AwaitingApproval, &["cancel while a person is asked"]),
    (State::ExecutingTools, &["cancel while tools run: what ran is reported as it was, what did not as not run", "cancel while the last tool runs"]),
    (State::CheckingGitCommits, &["cancel while git is checked"]),
    (State::RunningAutoformatters, &["cancel while formatters run"]),
    (State::CommittingChanges, &["cancel while changes are committed"]),
    (State::RunningHooks, &["cancel while the user's hooks run on a message: it stays, and is looked at again",
        "cancel while the user's hooks run on calls: what they say is kept, git is not looked at"]),
    (State::Compacting, &["cancel while summarising"]),
    (State::Error, &["cancel while waiting for a retry; the timer after it changes nothing"]),
    (State::ShuttingDown, &["results after shutdown"]),
];

/// What is expected of an agent, as far as it is the machine's: by the number that the scenarios name.
#[rustfmt::skip]
const EXPECTED: &[Case] = &[
    ("A.2: finished results survive a cancel, a spent budget and a call that fails, and what ran is never reported as not run", &[
        "a call that was interrupted is never reported as not run (A.2)",
        "cancel while tools run: what ran is reported as it was, what did not as not run",
        "input that came while the tools ran goes out with their results, though a limit stood between",
        "a failure between tool results keeps them"]),
    ("A.3: a warning of a hook does not keep the request from going out", &["a hook that fails is reported, and the turn goes on"]),
    ("A.4: input while busy is delivered in order, after the results", &[
        "steering input in the middle of a tool batch: after the results, in the same message, in order",
        "input while waiting for a retry stays in line", "input that was queued starts a turn of its own"]),
    ("A.5: a late answer is not taken for the answer to the new call", &["late completion of a cancelled call after the next one has started"]),
    ("A.6: a cancel makes no model call, can be seen to be pending, and twice is no worse than once", &[
        "cancel while the model is called", "cancel while idle is no move"]),
    ("A.7: retries", &[
        "delays of 1 s, 2 s and 4 s, then giving up: four attempts (A.7)", "the wait that the provider asks for is kept to",
        "what cannot succeed by repetition is not repeated, and handed back",
        "cancel while waiting for a retry; the timer after it changes nothing"]),
    ("A.8: every limit says what was spent, loses nothing, and goes on with more", &[
        "model calls: says what was spent, goes on with more (A.8)", "tool calls beyond the limit are not run",
        "money: a call that does not fit is not made", "use larger than the budget in one answer",
        "the deadline acts as a cancel whose reason is the limit"]),
    ("A.9: hooks see what ran; one that stops the turn keeps the results; one that fails does not end the session", &[
        "hooks are told of every tool that ran and how it ended, and of none that did not (A.9)",
        "a hook that stops the turn keeps the results", "a hook that fails is reported, and the turn goes on"]),
    ("A.11: every commitment is checked at every claim; a check that throws or takes too long is a failed one; words claim nothing", &[
        "what was kept once is checked again", "a check that throws, and one that takes too long, are failed checks",
        "in front of somebody a turn without a signal claims nothing"]),
    ("A.14: the conversation stays readable after the end", &["shutdown while tools run: the history stays readable", "results after shutdown"]),
    ("A.15: jobs that fail leave a record with what everything cost, and words are routed whole", &[
        "the attempts are used up", "nobody can be chosen: no retries, and the router is paid",
        "a prefix is no fix"]),
    ("A.16: what was cut is not shown as finished, and its calls are not run", &[
        "a truncated answer is marked, not shown as finished (A.16)", "calls that were cut are not run",
        "complete calls run, the cut one is answered with an error"]),
    ("A.17: text that comes with calls is shown", &["text that comes with tool calls is shown (A.17)"]),
];

/// What no scenario can show, and the tests that hold it: `file::name`, by the file below the tests of this crate.
#[rustfmt::skip]
const HELD: &[Case] = &[
    ("A.1: every state with every trigger has an outcome that the table declares, and no refused one is a move", &[
        "session/pairs::every_state_with_every_event_and_every_guard", "session/mutation::every_change_of_the_table_is_noticed",
        "session/mutation::every_witness_does_what_is_written", "session/coverage::every_row_fires_in_some_run"]),
    ("A.12: machine, events and actions serialise; the same events give the same session", &[
        "session/properties::invariants_hold_after_every_event", "golden/main::kept_actions_read_and_write_the_same",
        "golden/main::a_kept_journal_replays_to_the_kept_session", "seeds/held/session::the_machine_is_pure_and_synchronous"]),
    ("A.13: what a step costs does not depend on the length of the history", &[
        "session/cost::a_request_shares_the_history_and_has_as_few_pointers_of_its_own_at_any_length"]),
];

#[test]
fn what_no_scenario_shows_is_held_by_tests_that_run() {
    for (what, tests) in HELD {
        for test in *tests {
            let (file, name) = test.split_once("::").unwrap();
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{file}.rs"));
            let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{what}: {file}: {error}"));
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let begins = format!("fn {name}(");
            let is_test = lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&begins));
            assert!(is_test, "{what}: {test} is no test");
        }
    }
}

/// Every number once, but for those that are the runner's.
#[test]
fn every_number_is_named_once() {
    let number = |(what, _): &Case| what.split_once(':').unwrap().0.strip_prefix("A.").unwrap().parse().unwrap();
    let mut numbers: Vec<u32> = EXPECTED.iter().chain(HELD).map(number).collect();
    numbers.sort_unstable();
    let of_hooks = 10;
    assert_eq!(numbers, (1..=17).filter(|number| *number != of_hooks).collect::<Vec<u32>>());
}

#[test]
fn every_hostile_sequence_is_a_scenario() {
    let scenarios = scenarios();
    let cancelled = CANCELLED.iter().flat_map(|(_, titles)| titles.iter());
    let titles = HOSTILE.iter().chain(EXPECTED).flat_map(|(_, titles)| titles.iter()).chain(cancelled);
    for title in titles {
        assert!(scenarios.contains_key(*title), "there is no scenario `{title}`");
    }
}

/// The scenario does what its place here says: it stops something in that state, or is refused there.
#[test]
fn a_cancel_is_tried_in_every_waiting_state() {
    let scenarios = scenarios();
    for state in State::ALL.iter().copied().filter(|state| !TABLE.is_passing(*state)) {
        let (_, titles) = CANCELLED.iter().find(|(known, _)| *known == state).unwrap();
        for title in *titles {
            let lines = &scenarios[*title];
            let stops = lines.windows(2).enumerate().any(|(at, pair)| {
                let before = lines[..at].iter().rfind(|line| is_state(line));
                let stands = before.map_or("WaitingForUserInput", |line| line.trim());
                pair[0] == "> cancel" && (stands.starts_with(state.name()) || pair[1].contains(state.name()))
            });
            assert!(stops, "`{title}` cancels nothing in {state:?}");
        }
    }
}

fn is_state(line: &str) -> bool {
    State::NAMES.iter().any(|name| line.trim().starts_with(name))
}

/// Every scenario's lines by its title, of all machines.
fn scenarios() -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in ["session", "lifecycle", "job"].into_iter().flat_map(paths) {
        let text = fs::read_to_string(path).unwrap();
        let mut title = String::new();
        for line in text.lines() {
            match line.strip_prefix("== ") {
                Some(new) => {
                    title = String::from(new);
                    let twice = out.insert(title.clone(), Vec::new());
                    assert_eq!(twice, None, "two scenarios `{title}`");
                }
                None => out.entry(title.clone()).or_default().push(String::from(line)),
            }
        }
    }
    out
}
