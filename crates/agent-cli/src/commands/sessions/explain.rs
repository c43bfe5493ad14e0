//! `agent explain`: why a session stopped, and what it took, in one screen.

use super::args;
use super::instructed::{FileTold, lines};
use super::story::{Spent, Story, usd};
use super::{write, write_json};
use crate::failure::Failure;
use crate::screen::counted::counted;
use crate::screen::terminal::{escaped, one_line};
use agent_core::lifecycle::{self, Commitment, CommitmentId, Lifecycle};
use agent_core::session::Action;
use serde::Serialize;
use std::fmt::Write as _;

/// What is reported, in the names of the JSON form.
#[derive(Serialize)]
struct Explanation {
    session_id: String,
    state: String,
    /// How the last run ended, in the word of the exit codes; nothing while it is going on.
    outcome: Option<&'static str>,
    exit_code: Option<u8>,
    error: Option<String>,
    /// The agent over the session, where it has the last word.
    agent: Option<AgentTold>,
    /// What was asked and is not answered.
    outstanding: Vec<String>,
    records: u64,
    duration_ms: u64,
    model_calls: u64,
    tool_calls: u64,
    total_tokens: u64,
    /// Nothing where a price is not known.
    #[serde(rename = "cost_usd", serialize_with = "dollars")]
    cost_nano_usd: Option<u64>,
    retries: u64,
    refused_events: u64,
    denials: Vec<DenialTold>,
    /// The files of instructions that the model was given.
    instructions: Vec<FileTold>,
    states: Vec<StateTold>,
    rows: Vec<RowTold>,
}

#[derive(Serialize)]
struct AgentTold {
    state: String,
    /// How often it was told what is missing since its last message.
    rounds: u32,
    commitments: Vec<CommitmentTold>,
}

#[derive(Serialize)]
struct CommitmentTold {
    promise: String,
    /// Nothing while it was not checked since the last claim.
    kept: Option<bool>,
    /// How its check ended.
    found: Option<String>,
}

#[derive(Serialize)]
struct DenialTold {
    tool: String,
    reason: String,
}

#[derive(Serialize)]
struct StateTold {
    state: String,
    spent_ms: u64,
    tokens: u64,
    #[serde(rename = "cost_usd", serialize_with = "dollars")]
    cost_nano_usd: Option<u64>,
}

#[derive(Serialize)]
struct RowTold {
    /// Which machine, where it is not the session: `lifecycle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'static str>,
    from: String,
    on: String,
    to: String,
    times: u64,
}

pub(crate) fn explain(arguments: &args::Explain) -> Result<u8, Failure> {
    let (id, path) = arguments.session.find()?;
    let told = Explanation::of(id, &Story::read(&path, None, |_| {})?);
    if arguments.json {
        let text = serde_json::to_string(&told).map_err(Failure::internal)?;
        write_json(&format!("{text}\n"))?;
    } else {
        write(&told.screen())?;
    }
    Ok(0)
}

impl Explanation {
    fn of(session_id: String, story: &Story) -> Self {
        let session = story.replayer.session();
        let (ledger, outcome) = (session.ledger(), story.outcome());
        let mut outstanding: Vec<&'static str> =
            session.outstanding().iter().filter_map(|open| awaited(&open.action)).collect();
        let over = story.lifecycle();
        let checks = over.is_some_and(|over| over.state() == lifecycle::State::Verifying);
        outstanding.extend(checks.then_some("checks of its commitments"));
        let denials = outcome.iter().flat_map(|outcome| &outcome.denials);
        let denials =
            denials.map(|denial| DenialTold { tool: denial.call.name.to_string(), reason: denial.reason.clone() });
        let state = |(state, spent): (&_, &Spent)| StateTold {
            state: format!("{state:?}"),
            spent_ms: spent.ms,
            tokens: spent.tokens,
            cost_nano_usd: spent.known_cost_nano_usd(),
        };
        let of_lifecycle = |fired| RowTold { machine: Some("lifecycle"), ..row(fired) };
        let mut rows: Vec<RowTold> = story.rows.iter().map(row).collect();
        rows.extend(story.lifecycle_rows.iter().map(of_lifecycle));
        rows.sort_by_key(|row| std::cmp::Reverse(row.times));
        Self {
            session_id,
            state: format!("{:?}", session.state()),
            outcome: outcome.as_ref().map(|outcome| outcome.kind.subtype()),
            exit_code: outcome.as_ref().map(|outcome| outcome.kind.exit_code()),
            error: outcome.as_ref().and_then(|outcome| outcome.error.clone()),
            agent: over.map(AgentTold::of),
            outstanding: outstanding.into_iter().map(String::from).collect(),
            records: story.records,
            duration_ms: story.ended_ms.saturating_sub(story.started_ms),
            model_calls: ledger.model_calls,
            tool_calls: ledger.tool_calls,
            total_tokens: ledger.usage.total_tokens(),
            cost_nano_usd: story.known_cost_nano_usd(),
            retries: story.retries,
            refused_events: story.refused,
            denials: denials.collect(),
            instructions: story.instructed.told(),
            states: story.spent.iter().map(state).collect(),
            rows,
        }
    }

    fn screen(&self) -> String {
        let mut out = format!("session {}\n", self.session_id);
        let _ = match (self.outcome, self.exit_code) {
            (Some(outcome), Some(code)) => writeln!(out, "the last run ended: {outcome} (exit code {code})"),
            _ if self.outstanding.is_empty() => writeln!(out, "it is in the state {}", self.state),
            _ => writeln!(
                out,
                "it was interrupted in the state {}, waiting for: {}",
                self.state,
                self.outstanding.join(", ")
            ),
        };
        if let Some(error) = &self.error {
            let _ = writeln!(out, "because: {}", one_line(error, 200));
        }
        if let Some(agent) = &self.agent {
            agent.tell(&mut out);
        }
        let _ = writeln!(
            out,
            "{}, {}, {} in {:.1} s, cost in USD: {}; {}, {}, {}\n",
            counted(self.model_calls, "model call"),
            counted(self.tool_calls, "tool call"),
            counted(self.total_tokens, "token"),
            seconds(self.duration_ms),
            usd(self.cost_nano_usd),
            counted(self.retries, "retry"),
            counted(self.refused_events, "refused event"),
            counted(self.records, "record")
        );
        for denial in &self.denials {
            let _ = writeln!(out, "denied: {} ({})", escaped(&denial.tool), one_line(&denial.reason, 120));
        }
        out.push_str(&lines(&self.instructions, "instructions: "));
        let _ = writeln!(out, "{:<26} {:>10} {:>10} {:>12}", "state", "seconds", "tokens", "USD");
        // What passes at once is not worth a line.
        for told in self.states.iter().filter(|told| told.spent_ms > 0 || told.tokens > 0) {
            let _ = writeln!(
                out,
                "{:<26} {:>10.1} {:>10} {:>12}",
                told.state,
                seconds(told.spent_ms),
                told.tokens,
                usd(told.cost_nano_usd)
            );
        }
        let _ = writeln!(out, "\n{:>6}  row", "times");
        for told in self.rows.iter().take(ROWS_SHOWN) {
            let machine = told.machine.map(|machine| format!("{machine}: ")).unwrap_or_default();
            let _ = writeln!(out, "{:>6}  {machine}{} + {} => {}", told.times, told.from, told.on, told.to);
        }
        if self.rows.len() > ROWS_SHOWN {
            let _ = writeln!(out, "        and {} more; `--json` lists all", self.rows.len() - ROWS_SHOWN);
        }
        out
    }
}

impl AgentTold {
    fn of(over: &Lifecycle) -> Self {
        let told = |(number, commitment): (usize, &Commitment)| {
            let (last, number) = (over.verification(), CommitmentId(number));
            let report = last.and_then(|last| last.report(number));
            let gap = last.and_then(|last| last.gap(number));
            CommitmentTold {
                promise: commitment.promise.clone(),
                kept: report.map(|_| gap.is_none()),
                found: gap.as_ref().or(report.map(|report| &report.end)).map(ToString::to_string),
            }
        };
        let commitments = over.commitments().iter().enumerate().map(told).collect();
        Self { state: format!("{:?}", over.state()), rounds: over.rounds(), commitments }
    }

    /// An agent that nothing binds has no more to tell than its session.
    fn tell(&self, out: &mut String) {
        if self.commitments.is_empty() {
            return;
        }
        let _ = writeln!(out, "its agent is in the state {}, after {}", self.state, counted(self.rounds, "gap report"));
        for CommitmentTold { promise, kept, found } in &self.commitments {
            let (promise, found) = (one_line(promise, 100), found.as_deref().unwrap_or_default());
            let _ = match kept {
                Some(true) => writeln!(out, "  kept: {promise}"),
                Some(false) => writeln!(out, "  not kept: {promise} ({})", one_line(found, 100)),
                None => writeln!(out, "  not checked: {promise}"),
            };
        }
    }
}

/// What is waited for, in words; a deadline that runs beside is not why it stands.
const fn awaited(action: &Action) -> Option<&'static str> {
    match action {
        Action::SendLlmRequest { .. } => Some("the model's answer"),
        Action::PrepareTools { .. } => Some("the facts about tool calls"),
        Action::RequestApproval { .. } => Some("an approval"),
        Action::ExecuteTools { .. } => Some("tool calls"),
        Action::CheckGitCommits { .. } => Some("the check of the repository"),
        Action::RunAutoformatters { .. } => Some("the formatters"),
        Action::CommitChanges { .. } => Some("a commit"),
        Action::ScheduleRetry { .. } => Some("the next attempt"),
        _ => None,
    }
}

fn row<S: std::fmt::Debug, T: std::fmt::Debug>(((from, on, to), times): (&(S, T, S), &u64)) -> RowTold {
    RowTold { machine: None, from: format!("{from:?}"), on: format!("{on:?}"), to: format!("{to:?}"), times: *times }
}

/// A number, as in the result of a run.
pub(super) fn dollars<S: serde::Serializer>(nano: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    nano.map(|nano| nano as f64 / 1e9).serialize(serializer)
}

#[expect(clippy::cast_precision_loss, reason = "a tenth of a second is shown")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

/// So that it stays one screen.
const ROWS_SHOWN: usize = 20;
