//! Anthropic Messages: user and assistant take turns, results come first in the message after their calls.
//! Only the conversation is judged, and not the letters of names and ids: see [`super`].

use super::{Rule, ensure};
use agent_core::conversation::{Block, Conversation, Item};

const REFERENCE: &str = "API reference, Messages, `messages`";
const TOOL_USE: &str = "Tool use, handling tool results";

const HAS_MESSAGES: Rule = Rule { says: "there is at least one message", source: REFERENCE };
const USER_FIRST: Rule = Rule { says: "the first message is the user's", source: REFERENCE };
const TAKE_TURNS: Rule = Rule { says: "user and assistant take turns", source: REFERENCE };
const NOT_EMPTY: Rule = Rule { says: "no message is without content", source: REFERENCE };
const TEXT_NOT_BLANK: Rule = Rule { says: "text blocks are not blank", source: REFERENCE };
const UNIQUE_IDS: Rule = Rule { says: "ids of `tool_use` blocks are unique and not blank", source: TOOL_USE };
const INPUT_IS_OBJECT: Rule = Rule { says: "the input of a `tool_use` block is an object", source: TOOL_USE };
const ANSWERED_NEXT: Rule = Rule {
    says: "the message after `tool_use` blocks has one `tool_result` for each, in their order",
    source: TOOL_USE,
};
const RESULTS_FIRST: Rule = Rule { says: "`tool_result` blocks stand before all other content", source: TOOL_USE };
const NOTHING_ELSE_ANSWERED: Rule =
    Rule { says: "a `tool_result` answers a `tool_use` of the message before", source: TOOL_USE };
const RESULT_NOT_BLANK: Rule = Rule { says: "content of a `tool_result` is not blank", source: TOOL_USE };
const ENDS_WITH_USER: Rule =
    Rule { says: "the last message is the user's, or an answer that was paused", source: "Messages, `pause_turn`" };

/// One message: whose it is and what is in it.
#[derive(Debug, Default)]
struct Message<'a> {
    is_user: bool,
    content: Vec<Content<'a>>,
}

#[derive(Debug)]
enum Content<'a> {
    Text(&'a str),
    Use {
        id: &'a str,
        input: &'a str,
    },
    Result {
        id: &'a str,
        content: &'a str,
    },
    /// Reasoning, and what only the provider understands.
    Other,
}

pub(super) fn judge(conversation: &Conversation) -> Result<(), &'static Rule> {
    let items: Vec<_> = conversation.iter().collect();
    let is_paused = matches!(items.last().map(|item| item.as_ref()), Some(Item::Answer(answer)) if answer.is_paused());
    judge_messages(&laid_out(items.iter().map(|item| item.as_ref())), is_paused)
}

fn judge_messages(messages: &[Message<'_>], is_paused: bool) -> Result<(), &'static Rule> {
    let (first, last) = messages.first().zip(messages.last()).ok_or(&HAS_MESSAGES)?;
    ensure(first.is_user, &USER_FIRST)?;
    ensure(last.is_user || is_paused, &ENDS_WITH_USER)?;
    for pair in messages.windows(2) {
        ensure(pair[0].is_user != pair[1].is_user, &TAKE_TURNS)?;
    }
    let mut ids: Vec<&str> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        ensure(!message.content.is_empty(), &NOT_EMPTY)?;
        answered(message, &open)?;
        open.clear();
        for content in &message.content {
            match content {
                Content::Text(text) => ensure(!text.trim().is_empty(), &TEXT_NOT_BLANK)?,
                Content::Use { id, input } => {
                    ensure(!id.trim().is_empty() && !ids.contains(id), &UNIQUE_IDS)?;
                    let is_object = serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(input).is_ok();
                    ensure(is_object, &INPUT_IS_OBJECT)?;
                    ids.push(id);
                    open.push(id);
                }
                Content::Result { content, .. } => ensure(!content.trim().is_empty(), &RESULT_NOT_BLANK)?,
                Content::Other => {}
            }
        }
    }
    ensure(open.is_empty(), &ANSWERED_NEXT)
}

/// Whether a message answers the calls of the one before, first and in order, and nothing else.
fn answered(message: &Message<'_>, open: &[&str]) -> Result<(), &'static Rule> {
    let result = |content: &Content<'_>| matches!(content, Content::Result { .. });
    let leading = message.content.iter().take_while(|content| result(content)).count();
    ensure(!message.content.iter().skip(leading).any(result), &RESULTS_FIRST)?;
    ensure(leading >= open.len(), &ANSWERED_NEXT)?;
    ensure(leading <= open.len() && (leading == 0 || message.is_user), &NOTHING_ELSE_ANSWERED)?;
    let mut expected = open.iter();
    let in_order = message
        .content
        .iter()
        .take(leading)
        .all(|content| matches!(content, Content::Result { id, .. } if expected.next() == Some(id)));
    ensure(in_order, &ANSWERED_NEXT)
}

/// Items as messages; what the user's side says in a row is one message.
fn laid_out<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<Message<'a>> {
    let mut out: Vec<Message<'a>> = Vec::new();
    for item in items {
        match item {
            Item::Input(input) => user(&mut out).extend(input.texts().iter().map(|text| Content::Text(text))),
            Item::Summary(summary) => user(&mut out).extend(summary.texts().map(Content::Text)),
            Item::Answer(answer) => out.push(said(answer.blocks())),
            Item::Round(round) => {
                out.push(said(round.answer().blocks()));
                let results = round.results().iter();
                user(&mut out).extend(
                    results.map(|result| Content::Result { id: result.call().as_str(), content: result.content() }),
                );
            }
        }
    }
    out
}

fn user<'a, 'b>(out: &'b mut Vec<Message<'a>>) -> &'b mut Vec<Content<'a>> {
    if !out.last().is_some_and(|last| last.is_user) {
        out.push(Message { is_user: true, content: Vec::new() });
    }
    let at = out.len() - 1;
    &mut out[at].content
}

fn said(blocks: &[Block]) -> Message<'_> {
    let content = blocks.iter().map(|block| match block {
        Block::Text(text) => Content::Text(text),
        Block::Call(call) => Content::Use { id: call.id.as_str(), input: call.arguments.as_str() },
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Opaque { .. } => Content::Other,
    });
    Message { is_user: false, content: content.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Content<'static> = Content::Use { id: "a", input: "{}" };
    const RESULT: Content<'static> = Content::Result { id: "a", content: "x" };

    fn verdict(messages: Vec<(bool, Vec<Content<'_>>)>) -> &str {
        let messages: Vec<Message<'_>> =
            messages.into_iter().map(|(is_user, content)| Message { is_user, content }).collect();
        judge_messages(&messages, false).err().map_or("", |rule| rule.says)
    }

    #[test]
    fn each_rule_is_broken_by_its_message() {
        let text = || Content::Text("x");
        let go = || (true, vec![text()]);
        let second = || Content::Use { id: "b", input: "{}" };
        let second_result = || Content::Result { id: "b", content: "x" };
        for (messages, broken) in [
            (vec![go()], ""),
            (vec![go(), (false, vec![text(), CALL]), (true, vec![RESULT, text()])], ""),
            (vec![], HAS_MESSAGES.says),
            (vec![(false, vec![text()]), go()], USER_FIRST.says),
            (vec![go(), go()], TAKE_TURNS.says),
            (vec![go(), (false, vec![]), go()], NOT_EMPTY.says),
            (vec![(true, vec![Content::Text(" \n")])], TEXT_NOT_BLANK.says),
            (vec![go(), (false, vec![CALL, CALL]), (true, vec![RESULT, RESULT])], UNIQUE_IDS.says),
            (
                vec![go(), (false, vec![Content::Use { id: "a", input: "[]" }]), (true, vec![RESULT])],
                INPUT_IS_OBJECT.says,
            ),
            (vec![go(), (false, vec![CALL]), go()], ANSWERED_NEXT.says),
            (vec![go(), (false, vec![CALL, second()]), (true, vec![second_result(), RESULT])], ANSWERED_NEXT.says),
            (vec![go(), (false, vec![CALL]), (true, vec![text(), RESULT])], RESULTS_FIRST.says),
            (vec![go(), (false, vec![text()]), (true, vec![RESULT])], NOTHING_ELSE_ANSWERED.says),
            (vec![go(), (false, vec![CALL]), (true, vec![RESULT, second_result()])], NOTHING_ELSE_ANSWERED.says),
            (
                vec![go(), (false, vec![CALL]), (true, vec![Content::Result { id: "a", content: "" }])],
                RESULT_NOT_BLANK.says,
            ),
            (vec![go(), (false, vec![text()])], ENDS_WITH_USER.says),
        ] {
            let shown = format!("{messages:?}");
            assert_eq!(verdict(messages), broken, "{shown}");
        }
    }
}
