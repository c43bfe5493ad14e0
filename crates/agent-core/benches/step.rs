//! What a step costs, and that the length of the history does not matter: `cargo bench -p agent-core --bench step`.
//!
//! One round is an answer with a call, its preparation, its result, and the request that carries it, made and dropped. Numbers are
//! printed, not judged: a busy machine would fail a judgement that the code does not deserve. The ratio is what counts.

#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]

use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::permission::PermissionMode;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, Step, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome};
use std::hint::black_box;
use std::time::Instant;

/// Items in the history; a round is one item.
const LENGTHS: [usize; 4] = [10, 1_000, 10_000, 100_000];
const ROUNDS: usize = 200;
const REPEATS: usize = 15;
const STEPS_A_ROUND: u32 = 3;

fn main() {
    println!("{:>9}  {:>14}  {:>14}  {:>6}", "messages", "a round", "a step", "ratio");
    let mut base = None;
    for length in LENGTHS {
        let nanoseconds = round_time(length);
        let base = *base.get_or_insert(nanoseconds);
        let step = nanoseconds / f64::from(STEPS_A_ROUND);
        println!("{length:>9}  {nanoseconds:>11.0} ns  {step:>11.0} ns  {:>6.2}", nanoseconds / base);
    }
}

/// The best of several measurements of a round behind a history of this length, in nanoseconds.
fn round_time(length: usize) -> f64 {
    let mut driver = Driver::new();
    while driver.session.conversation().len() < length {
        driver.round();
    }
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        // Each measurement begins at the same length.
        let mut driver = driver.clone();
        let start = Instant::now();
        for _ in 0..ROUNDS {
            driver.round();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64);
    }
    best
}

#[derive(Clone)]
struct Driver {
    session: Session,
    ticket: Ticket,
    rounds: u64,
}

impl Driver {
    fn new() -> Self {
        let mut config = SessionConfig::new(ModelConfig::new("model"));
        config.permissions.mode = PermissionMode::Bypass;
        let mut driver = Self { session: Session::new(config), ticket: Ticket(0), rounds: 0 };
        driver.take(Event::Started);
        driver.take(Event::UserInput { text: "go".into() });
        driver
    }

    fn round(&mut self) {
        self.rounds += 1;
        let id = format!("call-{}", self.rounds);
        let call =
            RawCall { id: id.clone(), name: "read".into(), arguments: r#"{"path":"a.rs"}"#.into(), complete: true };
        let usage = Some(Usage { input_tokens: 1_000, output_tokens: 20, ..Usage::default() });
        let blocks = vec![ResponseBlock::Text("I look into it.".into()), ResponseBlock::Call(call)];
        let response = LlmResponse { blocks, stop: StopReason::ToolUse, usage, model: String::new() };
        self.take(Event::LlmCompleted { ticket: self.ticket, response });
        let call = agent_core::conversation::CallId::new(&id);
        let inspection = Inspection { effect: Effect::Reads, subject: Subject::None };
        let finding = Finding::Runnable(inspection);
        let facts = vec![CallFacts { call: call.clone(), finding, verdict: HookVerdict::None }];
        self.take(Event::ToolsPrepared { ticket: self.ticket, facts });
        self.take(Event::ToolCompleted { ticket: self.ticket, call, outcome: ToolOutcome::ok("fn main() {}") });
    }

    /// Takes an event and remembers the ticket of what was asked. The request is dropped here.
    fn take(&mut self, event: Event) {
        let Ok(Step { actions, .. }) = self.session.step(0, event) else { return };
        for action in black_box(actions) {
            match action {
                Action::SendLlmRequest { ticket, .. }
                | Action::PrepareTools { ticket, .. }
                | Action::ExecuteTools { ticket, .. } => self.ticket = ticket,
                _ => {}
            }
        }
    }
}
