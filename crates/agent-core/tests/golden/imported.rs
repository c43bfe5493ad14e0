//! A session that goes on from what was said in another program.

use crate::kept::{self, Kept};
use agent_core::conversation::{Answer, Arguments, Block, CallId, Input, Item, Round, ToolCall, ToolResult};
use agent_core::journal::{Entry, Header, Imported, Record};
use agent_core::session::{Event, ModelConfig, SessionConfig};
use std::sync::Arc;

/// The journal as it is written today.
pub(crate) fn written() -> Kept {
    Kept::new("journal", "imported.jsonl", kept::written(records()))
}

/// Its entries, one a line.
pub(crate) fn entries() -> String {
    kept::written(records().into_iter().map(|record| record.entry))
}

fn records() -> Vec<Record> {
    let config = SessionConfig::new(ModelConfig::new("large-1"));
    let mut header = Header::new("golden-imported", "agent-core 0.1.0", "/home/somebody/project", config);
    header.imported = Some(Imported {
        model: String::new(),
        program: "another".into(),
        session_id: "5f0c41aa".into(),
        file: "/home/somebody/session.jsonl".into(),
        fingerprint: "120-00000000000000ff".into(),
    });
    let call = ToolCall { id: CallId::new("imported_1"), name: "Read".into(), arguments: Arguments::empty() };
    let results = vec![ToolResult::new(call.id.clone(), "one", false)];
    let history = [
        Item::Input(Input::new(vec!["Mend the parser.".into()]).unwrap()),
        Item::Round(Round::new(Answer::new(vec![Block::Call(call)]).unwrap(), results).unwrap()),
        Item::Answer(Answer::new(vec![Block::Text("It is mended.".into())]).unwrap()),
    ];
    let entries =
        [Entry::Header(Box::new(header))].into_iter().chain(history.map(|item| Entry::History(Arc::new(item))));
    let events = [Event::Started, Event::UserInput { text: "And now?".into() }];
    let entries = entries.chain(events.map(|event| Entry::Event(event.into())));
    (0..).zip(entries).map(|(seq, entry)| Record { seq, at_ms: 1_000 * seq, entry }).collect()
}
