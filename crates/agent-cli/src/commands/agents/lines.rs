//! What an agent said and did, a few lines for each thing.

use crate::screen::terminal::{escaped, one_line};
use crate::screen::view::call_line;
use agent_core::agent::Agent;
use agent_core::conversation::{Answer, Item};

/// The lines of one item of a conversation.
pub(super) fn of(item: &Item) -> Vec<String> {
    match item {
        Item::Input(input) => {
            input.messages().iter().map(|said| format!("> {}", one_line(said.text.trim(), 300))).collect()
        }
        Item::Summary(_) => vec![String::from("(a summary took the place of what was said before)")],
        Item::Answer(answer) => text(answer),
        Item::Round(round) => {
            let mut lines = text(round.answer());
            for (call, result) in round.answer().calls().zip(round.results()) {
                lines.push(format!("• {}", call_line(call)));
                if result.is_error() {
                    lines.push(format!("  not ok: {}", one_line(result.content().trim(), 200)));
                }
            }
            lines
        }
    }
}

fn text(answer: &Answer) -> Vec<String> {
    escaped(answer.text().trim()).lines().map(str::to_owned).collect()
}

/// The newest lines, oldest first.
pub(super) fn newest(agent: &Agent, most: usize) -> Vec<String> {
    let conversation = agent.session().conversation();
    let items = conversation.iter().skip(conversation.len().saturating_sub(most));
    let mut lines: Vec<String> = items.flat_map(|item| of(item)).collect();
    lines.drain(..lines.len().saturating_sub(most));
    lines
}
