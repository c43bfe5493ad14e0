//! Two sessions in one thread: a writer and a critic who talk to each other, each with a history and limits of its own.
//!
//! `cargo run -p agent-core --example two_sessions`
//!
//! A session is a value. Whoever holds several keeps an inbox for each and takes them in turn; tickets are matched within a session, so
//! nothing can be answered to the wrong one unless the host mixes up the inboxes.
#![expect(clippy::print_stdout, reason = "the terminal is this host's user interface")]

use agent_core::budget::Limits;
use agent_core::llm::LlmResponse;
use agent_core::session::{Action, Event, ModelConfig, OutcomeKind, Rejected, Session, SessionConfig, State};
use std::collections::VecDeque;

struct Seat {
    name: &'static str,
    session: Session,
    inbox: VecDeque<Event>,
}

impl Seat {
    fn new(name: &'static str, max_model_calls: u64) -> Self {
        let mut config = SessionConfig::new(ModelConfig::new(name));
        config.limits = Limits { max_model_calls: Some(max_model_calls), ..Limits::default() };
        Self { name, session: Session::new(config), inbox: VecDeque::from([Event::Started]) }
    }

    /// Takes one event. What is to be told to the other seat comes back.
    fn turn(&mut self, now_ms: u64) -> Result<Option<String>, Rejected> {
        let Some(event) = self.inbox.pop_front() else { return Ok(None) };
        let mut said = None;
        for action in self.session.step(now_ms, event)?.actions {
            match action {
                // The model, too, is a function of what it is sent.
                Action::SendLlmRequest { ticket, request } => {
                    let text = format!("{} thinks of {} messages", self.name, request.conversation.len());
                    self.inbox.push_back(Event::LlmCompleted { ticket, response: LlmResponse::text(&text) });
                }
                Action::PromptForInput => {
                    let outcome = self.session.outcome();
                    said = outcome.filter(|outcome| outcome.kind == OutcomeKind::Success).map(|outcome| outcome.text);
                }
                Action::DisplayError { message, .. } => println!("{}: {message}", self.name),
                _ => {}
            }
        }
        Ok(said)
    }
}

fn main() -> Result<(), Rejected> {
    let mut seats = [Seat::new("writer", 3), Seat::new("critic", 10)];
    seats[0].inbox.push_back(Event::UserInput { text: "Write a line, and hear the critic.".into() });
    for now_ms in 0.. {
        let here = usize::from(seats[0].inbox.is_empty());
        if seats[here].inbox.is_empty() {
            break; // Both wait for somebody else: the conversation is over.
        }
        if let Some(text) = seats[here].turn(now_ms)? {
            println!("{}: {text}", seats[here].name);
            seats[1 - here].inbox.push_back(Event::UserInput { text: text.into() });
        }
    }
    // The writer's third answer was its last; the critic's next remark stays pending there until the limit is raised.
    let [writer, critic] = &seats;
    assert_eq!(writer.session.state(), State::WaitingForUserInput);
    assert_eq!(writer.session.outcome().map(|outcome| outcome.kind), Some(OutcomeKind::CallLimit));
    assert_eq!((writer.session.ledger().model_calls, critic.session.ledger().model_calls), (3, 3));
    assert_eq!(writer.session.pending_input().count(), 1);
    Ok(())
}
