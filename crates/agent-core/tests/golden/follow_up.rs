//! A session whose time is limited, a message of the agent's own that shares it,
//! messages that wait and are taken back, and a summary with a focus.

use crate::kept::{self, Kept};
use crate::session::machines_on_the_way;
use agent_core::journal::{ActionStarted, Entry, Header, Record};
use agent_core::llm::LlmResponse;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, Summaries};

/// The files of the story as it goes today.
pub(crate) fn written() -> Vec<Kept> {
    let records = told();
    vec![
        Kept::new("machines", "follow_up.machines.jsonl", kept::written(machines_on_the_way(&records))),
        Kept::new("journal", "follow_up.jsonl", kept::written(records)),
    ]
}

fn told() -> Vec<Record> {
    let mut config = SessionConfig::new(ModelConfig::new("large-1"));
    config.summaries = Summaries::of_earlier_versions();
    config.limits.max_wall_time_ms = Some(60_000);
    let header = Header::new("golden-follow-up", "agent-core 0.1.0", "/home/somebody/project", config.clone());
    let mut records = vec![Record { seq: 0, at_ms: 0, entry: Entry::Header(Box::new(header)) }];
    let mut session = Session::new(config);
    take(&mut session, &mut records, Event::Started);
    take(&mut session, &mut records, Event::UserInput { text: "Make the tests pass.".into() });
    take(&mut session, &mut records, Event::FollowUp { text: "One of them fails.".into(), used_ms: 7_000 });
    let later = |text: &str| Event::InputAfterTurn { text: text.into() };
    let back = Event::InputWithdrawn { text: "Commit.".into() };
    let meanwhile = [later("Commit."), later("Then the documents."), back];
    take_amid(&mut session, &mut records, Event::UserInput { text: "All of them.".into() }, &meanwhile);
    take(&mut session, &mut records, Event::FocusedCompactionRequested { focus: "The tests that failed.".into() });
    records
}

pub(crate) fn take(session: &mut Session, records: &mut Vec<Record>, event: Event) {
    take_amid(session, records, event, &[]);
}

/// Takes an event. To a model call there is one answer, and before it comes what happens meanwhile.
fn take_amid(session: &mut Session, records: &mut Vec<Record>, event: Event, meanwhile: &[Event]) {
    let mut record = |entry| {
        let seq = records.len() as u64;
        records.push(Record { seq, at_ms: 1_000 * seq, entry });
        1_000 * seq
    };
    let at_ms = record(Entry::Event(event.clone().into()));
    let step = session.step(at_ms, event).unwrap();
    for started in step.actions.iter().filter_map(ActionStarted::of) {
        record(Entry::ActionStarted(started));
    }
    if let Some(ticket) = step.actions.iter().find_map(|action| match action {
        Action::SendLlmRequest { ticket, .. } => Some(*ticket),
        _ => None,
    }) {
        meanwhile.iter().for_each(|event| take(session, records, event.clone()));
        take(session, records, Event::LlmCompleted { ticket, response: LlmResponse::text("They do.") });
    }
}
