//! OpenAI Responses: a list of items, in which calls and their outputs find each other by `call_id`.
//! Only the conversation is judged, and not the letters of names and ids: see [`super`].

use super::{Rule, ensure};
use agent_core::conversation::{Block, Conversation, Item};

const REFERENCE: &str = "API reference, Responses, `input`";
const FUNCTION_CALLING: &str = "Function calling guide, handling function calls, Responses";

const HAS_ITEMS: Rule = Rule { says: "there is at least one input item", source: REFERENCE };
const USER_FIRST: Rule = Rule { says: "the input begins with a message of the user", source: REFERENCE };
const TEXT_NOT_BLANK: Rule = Rule { says: "messages have content that is not blank", source: REFERENCE };
const UNIQUE_IDS: Rule =
    Rule { says: "each `call_id` is not blank and stands on one `function_call`", source: REFERENCE };
const NAMED: Rule = Rule { says: "a `function_call` has a name", source: REFERENCE };
const ARGUMENTS_ARE_JSON: Rule = Rule { says: "`arguments` is a text of JSON", source: REFERENCE };
const ANSWERS_A_CALL: Rule = Rule {
    says: "a `function_call_output` stands behind the `function_call` of its `call_id`",
    source: FUNCTION_CALLING,
};
const ANSWERED_ONCE: Rule = Rule { says: "a `function_call` has one output", source: FUNCTION_CALLING };
const ALL_ANSWERED: Rule =
    Rule { says: "every `function_call` has its output before the next message of the user", source: FUNCTION_CALLING };
const OUTPUT_NOT_BLANK: Rule = Rule { says: "the `output` is not blank", source: FUNCTION_CALLING };

enum Input<'a> {
    User(&'a str),
    Assistant(&'a str),
    Call { id: &'a str, name: &'a str, arguments: &'a str },
    Output { id: &'a str, output: &'a str },
}

pub(super) fn judge(conversation: &Conversation) -> Result<(), &'static Rule> {
    let items: Vec<_> = conversation.iter().collect();
    judge_input(&laid_out(items.iter().map(|item| item.as_ref())))
}

fn judge_input(input: &[Input<'_>]) -> Result<(), &'static Rule> {
    ensure(!input.is_empty(), &HAS_ITEMS)?;
    ensure(matches!(input.first(), Some(Input::User(_))), &USER_FIRST)?;
    // Every call with whether it has its output.
    let mut calls: Vec<(&str, bool)> = Vec::new();
    for item in input {
        match item {
            Input::User(text) => {
                ensure(calls.iter().all(|(_, is_answered)| *is_answered), &ALL_ANSWERED)?;
                ensure(!text.trim().is_empty(), &TEXT_NOT_BLANK)?;
            }
            Input::Assistant(text) => ensure(!text.trim().is_empty(), &TEXT_NOT_BLANK)?,
            Input::Call { id, name, arguments } => {
                ensure(!id.trim().is_empty() && !calls.iter().any(|(known, _)| known == id), &UNIQUE_IDS)?;
                ensure(!name.is_empty(), &NAMED)?;
                ensure(serde_json::from_str::<serde_json::Value>(arguments).is_ok(), &ARGUMENTS_ARE_JSON)?;
                calls.push((id, false));
            }
            Input::Output { id, output } => {
                let (_, is_answered) = calls.iter_mut().find(|(known, _)| known == id).ok_or(&ANSWERS_A_CALL)?;
                ensure(!*is_answered, &ANSWERED_ONCE)?;
                ensure(!output.trim().is_empty(), &OUTPUT_NOT_BLANK)?;
                *is_answered = true;
            }
        }
    }
    ensure(calls.iter().all(|(_, is_answered)| *is_answered), &ALL_ANSWERED)
}

/// Reasoning goes back only as the provider's own items, which no world of the model check has; everything else is one item a block.
fn laid_out<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<Input<'a>> {
    let mut out = Vec::new();
    for item in items {
        let (answer, results) = match item {
            Item::Input(input) => {
                out.extend(input.texts().iter().map(|text| Input::User(text)));
                continue;
            }
            Item::Summary(summary) => {
                out.extend(summary.texts().map(Input::User));
                continue;
            }
            Item::Answer(answer) => (answer, &[][..]),
            Item::Round(round) => (round.answer(), round.results()),
        };
        out.extend(answer.blocks().iter().filter_map(|block| match block {
            Block::Text(text) => Some(Input::Assistant(text)),
            Block::Call(call) => {
                Some(Input::Call { id: call.id.as_str(), name: &call.name, arguments: call.arguments.as_str() })
            }
            Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Opaque { .. } => None,
        }));
        out.extend(results.iter().map(|result| Input::Output { id: result.call().as_str(), output: result.content() }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_broken_by_its_input() {
        use Input::{Assistant, Call, Output, User};
        let call = |id| Call { id, name: "read", arguments: "{}" };
        let output = |id| Output { id, output: "x" };
        for (input, broken) in [
            (vec![User("x")], ""),
            (vec![User("x"), Assistant("y"), call("a"), call("b"), output("b"), output("a"), User("z")], ""),
            (vec![], HAS_ITEMS.says),
            (vec![Assistant("x"), User("y")], USER_FIRST.says),
            (vec![User(" ")], TEXT_NOT_BLANK.says),
            (vec![User("x"), Assistant("\n")], TEXT_NOT_BLANK.says),
            (vec![User("x"), call("a"), output("a"), call("a")], UNIQUE_IDS.says),
            (vec![User("x"), call(" "), output(" ")], UNIQUE_IDS.says),
            (vec![User("x"), Call { id: "a", name: "", arguments: "{}" }, output("a")], NAMED.says),
            (vec![User("x"), Call { id: "a", name: "read", arguments: "{" }, output("a")], ARGUMENTS_ARE_JSON.says),
            (vec![User("x"), output("a"), call("a")], ANSWERS_A_CALL.says),
            (vec![User("x"), call("a"), output("a"), output("a")], ANSWERED_ONCE.says),
            (vec![User("x"), call("a")], ALL_ANSWERED.says),
            (vec![User("x"), call("a"), User("y"), output("a")], ALL_ANSWERED.says),
            (vec![User("x"), call("a"), Output { id: "a", output: "" }], OUTPUT_NOT_BLANK.says),
        ] {
            let verdict = judge_input(&input).err().map_or("", |rule| rule.says);
            assert_eq!(verdict, broken, "{} items", input.len());
        }
    }
}
