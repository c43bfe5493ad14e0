//! What a run found, for people and as figures.

use super::explore::{Explored, Violation};
use crate::invariants::{Invariant, Tally};
use agent_core::table::Label;
use std::fs;
use std::time::Duration;

/// Everything that a run found.
#[derive(Debug, Default)]
pub struct Report {
    models: usize,
    states: usize,
    edges: u64,
    depth: usize,
    tally: Tally,
    violations: usize,
    /// Violations that are states which nothing ends.
    stuck: usize,
    /// Models that have more states than were looked at.
    cut: Vec<&'static str>,
    /// How long the whole run took.
    pub(super) took: Duration,
}

impl Report {
    /// Takes in what was found of a model, and tells it.
    pub(crate) fn add(&mut self, name: &'static str, setting: &str, found: Explored, took: Duration) -> String {
        let Explored { states, edges, depth, is_cut, tally, violation } = found;
        self.models += 1;
        self.states += states;
        self.edges += edges;
        self.depth = self.depth.max(depth);
        self.tally.add(&tally);
        self.cut.extend(is_cut.then_some(name));
        let cut = if is_cut { ", not all of them" } else { "" };
        let mut out = format!(
            "{name:<28} {states:>9} states{cut}, {edges:>9} edges, depth {depth:>2}, {:.1} s\n",
            took.as_secs_f64()
        );
        if let Some(violation) = violation {
            self.violations += 1;
            self.stuck += usize::from(matches!(violation.fault.invariant, Invariant::NotStuck | Invariant::NoDeadlock));
            out.push_str(&told(name, setting, &violation));
        }
        out
    }

    /// The sums, and what held.
    pub(super) fn summary(&self) -> String {
        let mut out = String::new();
        for (name, value) in self.figures() {
            out.push_str(&format!("{name:<40} {value}\n"));
        }
        out.push_str("\nchecked in every state and on every edge:\n");
        for invariant in Invariant::ALL {
            out.push_str(&format!("  {:<24} {}\n", invariant.name(), invariant.meaning()));
        }
        out
    }

    /// Whether everything holds, and everything was looked at.
    ///
    /// # Errors
    /// Says how many violations there are, or which models have more states than were looked at.
    pub fn verdict(&self) -> Result<(), String> {
        match (self.violations, self.cut.as_slice()) {
            (0, []) => Ok(()),
            (0, cut) => Err(format!("more states than looked at: {}", cut.join(", "))),
            (violations, _) => Err(format!("{violations} violations")),
        }
    }

    /// Name and value of every figure, in the order in which they are to be shown.
    pub fn figures(&self) -> Vec<(String, String)> {
        let Tally { refusals, requests, replays, cancel_answers, calls_in_vain, cost_over, tokens_over, .. } =
            self.tally;
        let Tally { shutdowns, shutdown_answers, shutdown_rows, .. } = self.tally;
        let overshoot = |(over, last): (u64, u64), unit: &str| format!("{over} {unit}, by one call of {last}");
        let mut rows = vec![
            ("models (worlds of a session, set-ups of an agent, trees of agents)", self.models.to_string()),
            ("states", self.states.to_string()),
            ("edges", self.edges.to_string()),
            ("depth reached", self.depth.to_string()),
            ("violations", self.violations.to_string()),
            ("stuck states", self.stuck.to_string()),
            ("refusals that left everything equal", refusals.to_string()),
            ("requests judged by three formats' rules", requests.to_string()),
            ("states rebuilt from their events", replays.to_string()),
            (
                "a cancel arrives after",
                format!("at most {cancel_answers} answers, as many as calls run beside each other"),
            ),
            ("a shutdown arrives after", format!("at most {shutdown_answers} answers and {shutdown_rows} row")),
            ("shutdowns seen", shutdowns.to_string()),
            ("model calls in a row without progress", format!("at most {calls_in_vain}")),
            ("largest overshoot of money", overshoot(cost_over, "nano-dollars")),
            ("largest overshoot of tokens", overshoot(tokens_over, "tokens")),
            ("a shutdown ends the whole agent after", format!("at most {} events", self.tally.shutdown_events)),
            ("a dismissal ends agent and session after", format!("at most {} events", self.tally.dismissal_steps)),
            ("invariants", Invariant::ALL.len().to_string()),
            ("time", format!("{:.0} s", self.took.as_secs_f64())),
        ];
        if let Some(seconds) = processor_seconds() {
            rows.push(("processor time", format!("{seconds} s")));
        }
        if let Some(mebibytes) = peak_mebibytes() {
            rows.push(("most memory", format!("{mebibytes} MiB")));
        }
        rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// A violation, with the shortest way to it.
fn told(name: &str, setting: &str, violation: &Violation) -> String {
    let Violation { fault, path } = violation;
    let events = path.len();
    format!(
        "\nVIOLATED {}: {}\nfound: {}\nthe shortest way there, {events} events:\n\n== {name}: {}\n> {setting}\n{}\n\n",
        fault.invariant.name(),
        fault.invariant.meaning(),
        fault.found,
        fault.found,
        path.join("\n")
    )
}

/// Processor time of all threads, where the system tells it: on a busy machine it tells more than the clock.
fn processor_seconds() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses: times in user and system mode are 12th and 13th, in hundredths of a second.
    let (_, behind) = stat.rsplit_once(')')?;
    let ticks: Option<Vec<u64>> = behind.split_whitespace().skip(11).take(2).map(|field| field.parse().ok()).collect();
    Some(ticks?.iter().sum::<u64>() / 100)
}

/// Most memory that this process has had, where the system tells it.
fn peak_mebibytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1_024)
}
