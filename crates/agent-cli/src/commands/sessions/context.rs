//! `/context`: what the context window of a session is filled with.

use super::args::One;
use super::story::Story;
use super::write;
use crate::failure::Failure;
use crate::screen::counted::counted;
use crate::screen::terminal::inline;
use agent_core::conversation::{Author, Item};
use agent_core::picture::Picture;
use agent_core::session::Session;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Prints it: what the next request holds, by who said it.
pub(crate) fn context(arguments: &One) -> Result<u8, Failure> {
    let (_, path) = arguments.find()?;
    let story = Story::read(&path, None, |_| {})?;
    write(&filled(story.replayer.session()))?;
    Ok(0)
}

/// A line for each part, the largest first, each estimated from its bytes; the providers count otherwise.
fn filled(session: &Session) -> String {
    let parts = parts(session);
    let all: usize = parts.iter().map(|(_, bytes)| bytes).sum();
    let mut out = String::new();
    for (what, bytes) in &parts {
        let share = (bytes * 100).checked_div(all).unwrap_or_default();
        let _ = writeln!(out, "{:>9}  {share:>3} %  {}", tokens(*bytes), inline(what));
    }
    let window = session.config().models.first().and_then(|model| model.context_window_tokens);
    let of = window
        .map_or(String::from("; the size of the window is not known"), |window| format!(" of {window} in the window"));
    let _ = writeln!(out, "{:>9}  tokens, estimated from bytes{of}", tokens(all));
    out
}

fn parts(session: &Session) -> Vec<(String, usize)> {
    let config = session.config();
    let tools = config.tools.iter().map(|tool| {
        let schema = serde_json::to_string(&tool.input_schema).map_or(0, |schema| schema.len());
        tool.name.len() + tool.description.len() + schema
    });
    let mut parts: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |what: String, bytes: usize| *parts.entry(what).or_default() += bytes;
    add(String::from("system prompt with the project's instructions"), config.system.len());
    add(format!("descriptions of {}", counted(config.tools.len() as u64, "tool")), tools.sum());
    for item in session.conversation().iter() {
        let pictures: u64 = item.pictures().map(Picture::weight).sum();
        add(String::from("pictures"), usize::try_from(pictures).unwrap_or(usize::MAX));
        match item.as_ref() {
            Item::Input(input) => {
                for said in input.messages() {
                    let whose = match said.author {
                        Author::User => "your messages",
                        Author::Agent => "notes of the agent, and instructions of directories",
                    };
                    add(whose.into(), said.text.len());
                    add("files that you attached".into(), said.whole().len() - said.text.len());
                }
            }
            Item::Summary(summary) => {
                add("summary of what was said before".into(), summary.text().len());
                add("your messages".into(), summary.said().iter().map(String::len).sum());
                summary.kept().iter().for_each(|kept| add(format!("results of {}", kept.tool()), kept.bytes()));
            }
            Item::Answer(answer) => add("answers".into(), answer.text().len()),
            Item::Round(round) => {
                add("answers".into(), round.answer().text().len());
                for (call, result) in round.answer().calls().zip(round.results()) {
                    add(format!("calls of {}", call.name), call.arguments.as_str().len());
                    add(format!("results of {}", call.name), result.content().len());
                }
            }
        }
    }
    let mut parts: Vec<(String, usize)> = parts.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    parts.sort_by(|(_, one), (_, other)| other.cmp(one));
    parts
}

/// As sessions estimate it.
const fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}
