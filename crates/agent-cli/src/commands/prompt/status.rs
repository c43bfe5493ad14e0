//! The row below the line: what the agent does and for how long, what it has used, how full the context window is, model, mode and branch.
//!
//! Where the terminal is too narrow for all of it, the parts that matter least are left out.

use crate::screen::counted::{counted, short, usd};
use crate::screen::edit::layout::cut;
use crate::screen::terminal::{inline, one_line};
use agent_core::budget::Ledger;
use agent_core::llm::Effort;
use agent_core::permission::PermissionMode;
use agent_core::session::ModelConfig;
use agent_runner::Notice;
use agent_tools::RunningCommand;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr as _;

/// What the agent does, as far as the row tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Rests,
    Works,
    Stops,
    /// It waits for an answer of the person.
    Asks,
}

/// Of the agents below.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Below {
    /// How many are at work.
    pub(super) alive: usize,
    /// What all of them have cost.
    pub(super) cost_nano_usd: u64,
}

/// What there is to show.
#[derive(Debug)]
pub(super) struct Status {
    model: String,
    /// How much it is asked to think, where anything is asked.
    effort: Option<Effort>,
    mode: &'static str,
    /// The branch that is checked out.
    branch: Option<String>,
    /// Tokens that the model reads at once, where that is known, and those that its last call took.
    window_tokens: Option<u64>,
    context_tokens: Option<u64>,
    /// When the work began that goes on.
    since: Option<Instant>,
    /// When a piece of the answer last came.
    last_piece: Option<Instant>,
    /// When a failed call is repeated.
    retried: Option<Instant>,
    frame: usize,
}

impl Status {
    pub(super) fn new(model: &ModelConfig, mode: PermissionMode) -> Self {
        Self {
            model: cut(&inline(&model.id), MOST_COLUMNS),
            effort: model.effort,
            mode: mode_name(mode),
            branch: None,
            window_tokens: model.context_window_tokens,
            context_tokens: None,
            since: None,
            last_piece: None,
            retried: None,
            frame: 0,
        }
    }

    /// Another model or another permission mode holds from now on.
    pub(super) fn configured(&mut self, model: &ModelConfig, mode: PermissionMode) {
        (self.model, self.mode) = (cut(&inline(&model.id), MOST_COLUMNS), mode_name(mode));
        (self.effort, self.window_tokens) = (model.effort, model.context_window_tokens);
    }

    /// Shows this branch from now on.
    pub(super) fn set_branch(&mut self, branch: Option<String>) {
        self.branch = branch.map(|branch| cut(&inline(&branch), MOST_COLUMNS));
    }

    pub(super) fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::RetryScheduled { delay_ms, .. } => {
                self.retried = Instant::now().checked_add(Duration::from_millis(*delay_ms));
            }
            Notice::Delta(_) => self.last_piece = Some(Instant::now()),
            Notice::Message { usage: Some(usage), .. } => {
                self.context_tokens = Some(usage.context_tokens() + usage.output_tokens);
            }
            Notice::Summarised(summarised) => self.context_tokens = Some(summarised.after_tokens),
            _ => {}
        }
    }

    /// The agent does this now. Returns for how long it has worked when it comes to rest.
    pub(super) fn does(&mut self, doing: Doing) -> Option<Duration> {
        if doing == Doing::Rests {
            return self.since.take().map(|since| since.elapsed());
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        // An answer that comes is a sign of life by itself.
        if self.last_piece.is_none_or(|last| last.elapsed() > STILL) {
            self.frame = usize::try_from(since.elapsed().as_millis() / FRAME.as_millis()).unwrap_or(0);
        }
        None
    }

    /// The row, or nothing where there is nothing to tell.
    pub(super) fn row(&self, doing: Doing, used: &Ledger, below: &Below, columns: usize) -> String {
        let time = duration(self.since.map(|since| since.elapsed()).unwrap_or_default());
        let spinner = SPINNER.get(self.frame % SPINNER.len()).copied().unwrap_or_default();
        let state = match doing {
            Doing::Rests => None,
            Doing::Works => Some(match self.retried.and_then(|at| at.checked_duration_since(Instant::now())) {
                Some(left) => format!("{spinner} retrying in {}", duration(left + Duration::from_secs(1))),
                None => format!("{spinner} working {time}"),
            }),
            Doing::Stops => Some(format!("{spinner} stopping {time}")),
            Doing::Asks => Some(format!("? waiting for your answer {time}")),
        };
        let stop = matches!(doing, Doing::Works | Doing::Asks).then(|| String::from("Esc stops"));
        let (input, output) = (used.usage.context_tokens(), used.usage.output_tokens);
        let tokens = (input + output > 0).then(|| format!("{} in, {} out", short(input), short(output)));
        let agents = (below.alive > 0).then(|| counted(below.alive as u64, "agent"));
        let cost_nano_usd = used.cost_nano_usd.saturating_add(below.cost_nano_usd);
        let cost = match used.unpriced_calls {
            0 if cost_nano_usd == 0 => None,
            0 => Some(format!("{} USD", usd(cost_nano_usd))),
            _ => Some(String::from("cost unknown")),
        };
        let cost_matters = if used.unpriced_calls > 0 { 7 } else { 3 };
        let parts = [
            (0, state),
            (2, agents),
            (2, stop),
            (5, tokens),
            (cost_matters, cost),
            (4, self.context()),
            (6, Some(self.model.clone())),
            (9, self.effort.map(|effort| format!("effort {effort}"))),
            (1, Some(self.mode.to_owned())),
            (8, self.branch.clone()),
        ];
        fitting(parts.into_iter().filter_map(|(rank, part)| Some((rank, part?))).collect(), columns)
    }

    fn context(&self) -> Option<String> {
        let used = self.context_tokens?;
        Some(match self.window_tokens {
            Some(window) if window > 0 => format!("{} % context", used.saturating_mul(100) / window),
            _ => format!("{} context", short(used)),
        })
    }
}

/// As many of the parts as there is room for, those with the lowest ranks.
fn fitting(mut parts: Vec<(u8, String)>, columns: usize) -> String {
    loop {
        let row = parts.iter().map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(" · ");
        if row.width() <= columns || parts.len() < 2 {
            return cut(&row, columns);
        }
        let least = parts.iter().enumerate().max_by_key(|(_, (rank, _))| *rank).map(|(at, _)| at);
        least.into_iter().for_each(|at| drop(parts.remove(at)));
    }
}

const fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "accept-edits",
        PermissionMode::Plan => "plan",
        PermissionMode::Bypass => "bypass",
    }
}

/// What goes on beside the agent, in a row.
pub(super) fn background(running: &[RunningCommand]) -> Option<String> {
    let first = running.first()?;
    let count = counted(running.len() as u64, "command");
    let more = if running.len() > 1 { ", … (/ps lists them)" } else { "" };
    let command = cut(&one_line(&first.command, MOST_COLUMNS), MOST_COLUMNS);
    Some(format!("{count} in the background: {command}, {}{more}", duration(first.age)))
}

pub(super) fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Between two places of the spinner.
pub(super) const FRAME: Duration = Duration::from_millis(250);
/// So long after a piece of the answer the spinner stands still.
const STILL: Duration = Duration::from_secs(1);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Of the model's name, and of the branch's.
const MOST_COLUMNS: usize = 28;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::llm::Usage;

    fn status() -> Status {
        let model = ModelConfig { context_window_tokens: Some(200_000), ..ModelConfig::new("some-model") };
        let mut status = Status::new(&model, PermissionMode::AcceptEdits);
        status.set_branch(Some(String::from("topic\x1b[2J")));
        let usage = Some(Usage { input_tokens: 17_900, output_tokens: 100, ..Usage::default() });
        status.notice(&Notice::Message { blocks: Vec::new(), usage });
        status
    }

    fn used() -> Ledger {
        let usage = Usage { input_tokens: 123_456, output_tokens: 7_890, ..Usage::default() };
        let mut used = Ledger::default();
        (used.usage, used.cost_nano_usd) = (usage, 12_300_000);
        used
    }

    #[test]
    fn parts_are_left_out_in_the_order_of_their_importance() {
        let mut status = status();
        assert_eq!(status.does(Doing::Works), None);
        let row = |columns| status.row(Doing::Works, &used(), &Below::default(), columns);
        assert_eq!(
            row(200),
            "⠋ working 0 s · Esc stops · 123k in, 7.8k out · 0.0123 USD · 9 % context · some-model · accept-edits · topic\\u{1b}[2J"
        );
        assert_eq!(
            row(100),
            "⠋ working 0 s · Esc stops · 123k in, 7.8k out · 0.0123 USD · 9 % context · some-model · accept-edits"
        );
        assert_eq!(row(60), "⠋ working 0 s · Esc stops · 0.0123 USD · accept-edits");
        assert_eq!(row(40), "⠋ working 0 s · Esc stops · accept-edits");
        assert_eq!(row(20), "⠋ working 0 s");
        assert_eq!(row(5), "⠋ wo…");
        for columns in 1..150 {
            assert!(row(columns).width() <= columns, "{columns}");
        }
    }

    #[test]
    fn at_rest_there_is_no_time_and_after_a_summary_no_context() {
        let mut status = status();
        assert_eq!(
            status.row(Doing::Rests, &used(), &Below::default(), 80),
            "123k in, 7.8k out · 0.0123 USD · 9 % context · some-model · accept-edits"
        );
        assert_eq!(status.row(Doing::Rests, &Ledger::default(), &Below::default(), 80).split(" · ").count(), 4);
        status.window_tokens = None;
        assert!(status.row(Doing::Rests, &used(), &Below::default(), 80).contains(" · 18.0k context · "));
        let mut unpriced = used();
        unpriced.unpriced_calls = 1;
        assert!(status.row(Doing::Rests, &unpriced, &Below::default(), 200).contains(" · cost unknown · "));
        assert!(
            !status.row(Doing::Rests, &unpriced, &Below::default(), 70).contains("cost unknown"),
            "it matters little"
        );
    }

    #[test]
    fn a_call_that_is_repeated_later_is_waited_for_visibly() {
        let mut status = status();
        status.notice(&Notice::RetryScheduled { delay_ms: 90_500, failed_attempts: 1, reason: "x".into() });
        let row = status.row(Doing::Works, &used(), &Below::default(), 60);
        assert!(row.starts_with("⠋ retrying in 1 min 31 s · Esc stops"), "{row}");
        status.retried = Some(Instant::now());
        assert!(status.row(Doing::Works, &used(), &Below::default(), 60).contains("working"));
    }

    #[test]
    fn agents_below_are_counted_and_paid_for() {
        let below = Below { alive: 2, cost_nano_usd: 87_700_000 };
        let row = status().row(Doing::Works, &used(), &below, 70);
        assert_eq!(row, "⠋ working 0 s · 2 agents · Esc stops · 0.1000 USD · accept-edits");
    }

    #[test]
    fn an_effort_stands_behind_the_model_and_is_left_out_first() {
        let mut status = status();
        let model = ModelConfig { effort: Some(Effort::High), ..ModelConfig::new("some-model") };
        status.configured(&model, PermissionMode::AcceptEdits);
        let row = |columns| status.row(Doing::Rests, &Ledger::default(), &Below::default(), columns);
        assert_eq!(row(100), "18.0k context · some-model · effort high · accept-edits · topic\\u{1b}[2J");
        assert_eq!(row(60), "18.0k context · some-model · accept-edits · topic\\u{1b}[2J");
    }

    #[test]
    fn the_spinner_stands_still_while_an_answer_comes() {
        let mut status = status();
        status.since = Instant::now().checked_sub(Duration::from_millis(1_100));
        assert_eq!(status.does(Doing::Works), None);
        assert_eq!(status.frame, 4);
        status.since = Instant::now().checked_sub(Duration::from_secs(62));
        status.last_piece = Some(Instant::now());
        assert_eq!(status.does(Doing::Works), None);
        assert_eq!(status.frame, 4);
        assert!(status.row(Doing::Stops, &used(), &Below::default(), 80).starts_with("⠼ stopping 1 min 2 s · "));
        assert!(
            status
                .row(Doing::Asks, &used(), &Below::default(), 80)
                .starts_with("? waiting for your answer 1 min 2 s · Esc stops")
        );
        assert!(status.does(Doing::Rests) >= Some(Duration::from_secs(62)));
        assert_eq!(status.does(Doing::Rests), None);
    }
}
