//! A session with a summary that keeps the user's words.

use crate::follow_up::take;
use crate::kept::{self, Kept};
use crate::session::machines_on_the_way;
use agent_core::journal::{Entry, Header, Record};
use agent_core::session::{Event, KeptResults, ModelConfig, Session, SessionConfig, Summaries};

/// The files of the story as it goes today.
pub(crate) fn written() -> Vec<Kept> {
    let records = told();
    vec![
        Kept::new("machines", "summaries.machines.jsonl", kept::written(machines_on_the_way(&records))),
        Kept::new("journal", "summaries.jsonl", kept::written(records)),
    ]
}

fn told() -> Vec<Record> {
    let kept_results = [("todo".into(), KeptResults::Newest), ("skill".into(), KeptResults::Each)].into();
    let summaries = Summaries { max_per_turn: Some(3), kept_permille: 400, kept_results };
    let config = SessionConfig { summaries, ..SessionConfig::new(ModelConfig::new("large-1")) };
    let header = Header::new("golden-summaries", "agent-core 0.1.0", "/home/somebody/project", config.clone());
    let mut records = vec![Record { seq: 0, at_ms: 0, entry: Entry::Header(Box::new(header)) }];
    let mut session = Session::new(config);
    take(&mut session, &mut records, Event::Started);
    take(&mut session, &mut records, Event::UserInput { text: "Make the tests pass. ".repeat(30).into() });
    take(&mut session, &mut records, Event::CompactionRequested);
    take(&mut session, &mut records, Event::UserInput { text: "And the others.".into() });
    records
}
