//! Scenarios in text: what is reported to an agent, and what its two machines do. `config` and `bind` name commitments, what the lifecycle
//! is told, and limits of the session; what else can be said of commitments stands in `agent_check::lifecycle`, of the session in
//! `agent_check::session`.
//!
//! ```text
//! > input fix it
//!     Working, CallingLlm                    both states
//!     v send "fix it"                        down: the lifecycle, and its command
//!     - send #1 to first: user "fix it"      the session
//! > answer done
//!     Verifying, WaitingForUserInput
//!     - prompt (the run: success)
//!     ^ check #1: test                       up: the lifecycle, on what followed
//! ```
//!
//! `=` is the run's outcome where it is another than before. Whatever happens, a refusal must leave both machines as they were, and the
//! journal has to make the same agent.

use crate::driver::Journal;
use agent_check::lifecycle::{self as words, Tickets};
use agent_check::scenarios::{self, Story};
use agent_check::session::{Command, Script, show};
use agent_core::agent::{Agent, Event, Rejected, Step};
use agent_core::lifecycle::{self, Action, Ticket};
use agent_core::session;
use std::fmt::Write;

#[test]
fn every_scenario_reads_as_written() {
    let play = |text: &str| scenarios::play(text, &mut Told::of(""));
    scenarios::check("agent", &play);
}

struct Told {
    agent: Agent,
    script: Script,
    journal: Journal,
    tickets: Tickets,
}

impl Told {
    /// A started agent, bound if there is anything said of commitments.
    fn of(line: &str) -> Self {
        let (bound, of_session): (Vec<&str>, Vec<&str>) = line.split_whitespace().partition(|word| is_bound(word));
        let mut script = Script::default();
        let Command::Nothing = script.read(&format!("config {}", of_session.join(" "))) else { panic!("{line}") };
        let config = script.session.config().clone();
        let (journal, tickets) = (Journal::new(config.clone()), Tickets::all(Ticket(99)));
        let mut told = Self { agent: Agent::new(config), script, journal, tickets };
        if !bound.contains(&"not-started") {
            let _ = told.take(session::Event::Started.into()).unwrap();
        }
        if !bound.is_empty() {
            let config = words::config(&bound.join(" ").replace("not-started", "").replace("bound", "")).unwrap();
            let _ = told.take(Event::Bound(Box::new(config))).unwrap();
        }
        told
    }

    fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        let before = self.agent.clone();
        let taken = self.agent.step(self.script.now_ms, event.clone());
        self.journal.write(self.script.now_ms, event);
        assert!(self.journal.agent() == &self.agent, "the journal makes another agent");
        self.script.session = self.agent.session().clone();
        match &taken {
            Ok(step) => {
                self.script.note(&step.session.actions);
                // The timer of the first wait begins without a step.
                let first = self.agent.lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
                step.down
                    .actions
                    .iter()
                    .chain(&step.up.actions)
                    .chain(&first)
                    .for_each(|action| self.tickets.note(action));
            }
            Err(_) => assert!(self.agent == before, "a refusal changed the agent"),
        }
        taken
    }

    /// `check 1 exit 1 @2`: answers carry the newest ticket, or an older one.
    fn event(&self, line: &str) -> Option<Event> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let of_lifecycle = |line: &str| Some(words::event(line, &self.tickets).unwrap().into());
        match verb {
            "bind" => Some(Event::Bound(Box::new(words::config(&rest.replace("bound", "")).unwrap()))),
            "release" => Some(Event::Released),
            "commit" | "plan" | "check" | "timeout" | "budget" | "dismiss" | "cleaned-up" => of_lifecycle(line),
            "stop" => of_lifecycle("cancel"),
            "derived" => of_lifecycle(derived(rest)),
            _ => None,
        }
    }

    fn told(&mut self, event: Event) -> String {
        let before = self.agent.outcome();
        let name = event.name();
        match self.take(event) {
            Ok(step) if step.is_empty() && matches!(name, "TimedOut" | "RetryTimeout" | "DeadlineReached") => {
                show::late(self.agent.session())
            }
            Ok(step) => self.shown(&step, before.as_ref()),
            Err(Rejected::Session(rejected)) => format!("{name}: the session {}", show::refusal(&rejected)),
            Err(rejected) => rejected.to_string(),
        }
    }

    fn shown(&self, step: &Step, before: Option<&session::Outcome>) -> String {
        let of_session = show::step(self.agent.session(), &step.session);
        let (state, actions) = of_session.split_once('\n').unwrap_or((&of_session, ""));
        let over = self.agent.lifecycle().map_or("unbound".to_owned(), |over| format!("{:?}", over.state()));
        let mut out = format!("{over}, {state}\n");
        let lines = |out: &mut String, mark, actions: &[Action]| {
            for action in actions {
                let _ = writeln!(out, "{mark} {}", words::show::action(action));
            }
        };
        lines(&mut out, 'v', &step.down.actions);
        if !actions.is_empty() {
            let _ = writeln!(out, "{actions}");
        }
        lines(&mut out, '^', &step.up.actions);
        let outcome = self.agent.outcome();
        if let Some(outcome) = outcome.as_ref().filter(|outcome| Some(*outcome) != before) {
            let error = outcome.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            let _ = writeln!(out, "= {}, exit {}{error}", outcome.kind.subtype(), outcome.kind.exit_code());
        }
        out
    }
}

impl Story for Told {
    fn begin(&mut self) {
        *self = Self::of("");
    }

    fn perform(&mut self, line: &str) -> String {
        if let Some(words) = line.strip_prefix("config ") {
            *self = Self::of(words);
            let first: Vec<Action> = self.agent.lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
            return first.iter().fold(String::new(), |out, action| format!("{out}^ {}\n", words::show::action(action)));
        }
        if let Some(event) = self.event(line) {
            return self.told(event);
        }
        match self.script.read(line) {
            Command::Nothing => String::new(),
            Command::Show(text) => text,
            Command::Take(event) => self.told(event.into()),
        }
    }
}

/// Whether the word is about commitments, and not about the session.
fn is_bound(word: &str) -> bool {
    let key = word.split_once('=').map_or(word, |(key, _)| key);
    ["bound", "not-started", "commitments", "attended", "renewed", "rounds", "idle-ms", "work-ms", "wait-ms"]
        .contains(&key)
}

/// What follows from the session, as if it had come from outside.
fn derived(what: &str) -> &'static str {
    match what {
        "input" => "input hello",
        "signal" => "done",
        "turn" => "turn completed",
        "work" => "work-resumed",
        "session-ended" => "session-ended",
        other => panic!("nothing follows that is called {other}"),
    }
}
