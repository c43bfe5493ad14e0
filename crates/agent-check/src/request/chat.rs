//! OpenAI Chat Completions: one message for each result, right after the message with the calls.
//! Only the conversation is judged, and not the letters of names and ids: see [`super`].

use super::{Rule, ensure};
use agent_core::conversation::{Block, Conversation, Item};
use std::collections::VecDeque;

const REFERENCE: &str = "API reference, Chat Completions, `messages`";
const FUNCTION_CALLING: &str = "Function calling guide, handling function calls";

const HAS_MESSAGES: Rule = Rule { says: "there is at least one message", source: REFERENCE };
const USER_FIRST: Rule = Rule { says: "the conversation begins with the user", source: REFERENCE };
const NOT_EMPTY: Rule = Rule { says: "user and tool messages have content", source: REFERENCE };
const CALLS_ANSWERED: Rule = Rule {
    says: "a message with `tool_calls` is followed by one `tool` message for each, before anything else",
    source: FUNCTION_CALLING,
};
const ANSWERS_A_CALL: Rule =
    Rule { says: "a `tool` message answers a call of the `tool_calls` before it", source: FUNCTION_CALLING };
const UNIQUE_IDS: Rule = Rule { says: "ids of `tool_calls` are unique and not blank", source: FUNCTION_CALLING };
const NAMED: Rule = Rule { says: "a called function has a name", source: FUNCTION_CALLING };
const ARGUMENTS_ARE_JSON: Rule = Rule { says: "`arguments` is a text of JSON", source: FUNCTION_CALLING };

enum Message<'a> {
    User(&'a str),
    Assistant(Vec<Call<'a>>),
    Tool { id: &'a str, content: &'a str },
}

struct Call<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

pub(super) fn judge(conversation: &Conversation) -> Result<(), &'static Rule> {
    let items: Vec<_> = conversation.iter().collect();
    judge_messages(&laid_out(items.iter().map(|item| item.as_ref())))
}

fn judge_messages(messages: &[Message<'_>]) -> Result<(), &'static Rule> {
    ensure(!messages.is_empty(), &HAS_MESSAGES)?;
    ensure(matches!(messages.first(), Some(Message::User(_))), &USER_FIRST)?;
    let mut ids: Vec<&str> = Vec::new();
    let mut open: VecDeque<&str> = VecDeque::new();
    for message in messages {
        match message {
            Message::Tool { id, content } => {
                ensure(!content.trim().is_empty(), &NOT_EMPTY)?;
                let place = open.iter().position(|call| call == id).ok_or(&ANSWERS_A_CALL)?;
                ensure(place == 0, &CALLS_ANSWERED)?;
                open.pop_front();
            }
            Message::User(text) => {
                ensure(open.is_empty(), &CALLS_ANSWERED)?;
                ensure(!text.trim().is_empty(), &NOT_EMPTY)?;
            }
            Message::Assistant(calls) => {
                ensure(open.is_empty(), &CALLS_ANSWERED)?;
                for call in calls {
                    ensure(!call.id.trim().is_empty() && !ids.contains(&call.id), &UNIQUE_IDS)?;
                    ensure(!call.name.is_empty(), &NAMED)?;
                    ensure(serde_json::from_str::<serde_json::Value>(call.arguments).is_ok(), &ARGUMENTS_ARE_JSON)?;
                    ids.push(call.id);
                    open.push_back(call.id);
                }
            }
        }
    }
    ensure(open.is_empty(), &CALLS_ANSWERED)
}

/// An answer without text and calls says nothing that this format knows, and is left out.
fn laid_out<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<Message<'a>> {
    let mut out = Vec::new();
    for item in items {
        let (answer, results) = match item {
            Item::Input(input) => {
                out.extend(input.texts().iter().map(|text| Message::User(text)));
                continue;
            }
            Item::Summary(summary) => {
                out.extend(summary.texts().map(Message::User));
                continue;
            }
            Item::Answer(answer) => (answer, &[][..]),
            Item::Round(round) => (round.answer(), round.results()),
        };
        let has_text = answer.blocks().iter().any(|block| matches!(block, Block::Text(_)));
        let calls = answer.calls().map(|call| Call {
            id: call.id.as_str(),
            name: &call.name,
            arguments: call.arguments.as_str(),
        });
        let calls: Vec<Call<'_>> = calls.collect();
        if has_text || !calls.is_empty() {
            out.push(Message::Assistant(calls));
        }
        out.extend(
            results.iter().map(|result| Message::Tool { id: result.call().as_str(), content: result.content() }),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &'static str) -> Call<'static> {
        Call { id, name: "read", arguments: "{}" }
    }

    #[test]
    fn each_rule_is_broken_by_its_message() {
        use Message::{Assistant, Tool, User};
        let result = |id| Tool { id, content: "x" };
        for (messages, broken) in [
            (vec![User("x")], ""),
            (vec![User("x"), Assistant(vec![call("a"), call("b")]), result("a"), result("b"), User("y")], ""),
            (vec![], HAS_MESSAGES.says),
            (vec![Assistant(vec![])], USER_FIRST.says),
            (vec![User(" ")], NOT_EMPTY.says),
            (vec![User("x"), Assistant(vec![call("a")]), Tool { id: "a", content: "" }], NOT_EMPTY.says),
            (vec![User("x"), Assistant(vec![call("a")])], CALLS_ANSWERED.says),
            (vec![User("x"), Assistant(vec![call("a")]), User("y")], CALLS_ANSWERED.says),
            (vec![User("x"), Assistant(vec![call("a"), call("b")]), result("b"), result("a")], CALLS_ANSWERED.says),
            (vec![User("x"), result("a")], ANSWERS_A_CALL.says),
            (vec![User("x"), Assistant(vec![call("a")]), result("a"), result("a")], ANSWERS_A_CALL.says),
            (vec![User("x"), Assistant(vec![call("a"), call("a")]), result("a"), result("a")], UNIQUE_IDS.says),
            (vec![User("x"), Assistant(vec![Call { name: "", ..call("a") }]), result("a")], NAMED.says),
            (vec![User("x"), Assistant(vec![Call { arguments: "{", ..call("a") }])], ARGUMENTS_ARE_JSON.says),
        ] {
            let verdict = judge_messages(&messages).err().map_or("", |rule| rule.says);
            assert_eq!(verdict, broken, "{} messages", messages.len());
        }
    }
}
