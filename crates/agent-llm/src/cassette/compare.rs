//! Finds the recorded request that equals a request, or what is different if none does.

use serde_json::{Map, Value};

/// When a request counts as the recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// When it says the same: every member, every word.
    #[default]
    Exact,
    /// When the conversation has the same shape: the same roles, kinds of blocks, called tools with their arguments, and words of the user
    /// and the model. The model's name, limits, system prompt, list of tools, ids, seals and what tools answered may differ: they change
    /// with the directory, the time and the version of a program.
    Lenient,
}

impl Matching {
    /// What of a request is compared.
    pub(super) fn view(self, body: &Value) -> Value {
        match self {
            Self::Exact => body.clone(),
            Self::Lenient => shape(body),
        }
    }
}

/// Describes the first place where two documents differ; `None` if they do not.
pub(super) fn difference(recorded: &Value, now: &Value) -> Option<String> {
    let mut path = String::new();
    let (recorded, now) = first_difference(recorded, now, &mut path)?;
    let place = if path.is_empty() { "/" } else { &path };
    let from = match (recorded, now) {
        (Some(Value::String(recorded)), Some(Value::String(now))) => common(recorded, now),
        _ => 0,
    };
    Some(format!("at `{place}` the recording has {} and the request has {}", shown(recorded, from), shown(now, from)))
}

type Pair<'a> = (Option<&'a Value>, Option<&'a Value>);

fn first_difference<'a>(recorded: &'a Value, now: &'a Value, path: &mut String) -> Option<Pair<'a>> {
    let length = path.len();
    let mut descend = |name: &str, recorded: Option<&'a Value>, now: Option<&'a Value>| {
        path.truncate(length);
        path.push('/');
        path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        match (recorded, now) {
            (Some(recorded), Some(now)) => first_difference(recorded, now, path),
            different => Some(different),
        }
    };
    let found = match (recorded, now) {
        (Value::Object(recorded), Value::Object(now)) => {
            let here = recorded.iter().find_map(|(name, value)| descend(name, Some(value), now.get(name)));
            here.or_else(|| {
                let more = now.iter().find(|(name, _)| !recorded.contains_key(*name));
                more.and_then(|(name, value)| descend(name, None, Some(value)))
            })
        }
        (Value::Array(recorded), Value::Array(now)) => {
            let length = recorded.len().max(now.len());
            (0..length).find_map(|index| descend(&index.to_string(), recorded.get(index), now.get(index)))
        }
        (recorded, now) => (recorded != now).then_some((Some(recorded), Some(now))),
    };
    if found.is_none() {
        path.truncate(length);
    }
    found
}

/// How many bytes two texts begin with in common, less a little to tell the place by.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(same.saturating_sub(BEFORE_BYTES))
}

fn shown(value: Option<&Value>, from: usize) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = match value {
        Value::String(text) => {
            let cut = if from > 0 { "…" } else { "" };
            Value::String(format!("{cut}{}", text.get(from..).unwrap_or_default())).to_string()
        }
        other => other.to_string(),
    };
    let end = text.floor_char_boundary(SHOWN_BYTES);
    let mark = if end < text.len() { "…" } else { "" };
    format!("`{}{mark}`", text.get(..end).unwrap_or_default())
}

/// What of a request does not depend on where and when it is made.
fn shape(body: &Value) -> Value {
    // Messages in two of the formats, items in the third.
    let said = ["messages", "input"].into_iter().filter_map(|name| Some((name.to_owned(), body.get(name)?)));
    Value::Object(said.map(|(name, list)| (name, said_only(list))).collect())
}

fn said_only(value: &Value) -> Value {
    match value {
        Value::Array(list) => {
            // The third format says the system prompt elsewhere, the second as the first message.
            let is_said = |message: &&Value| message["role"] != "system" && message["type"] != "reasoning";
            Value::Array(list.iter().filter(is_said).map(said_only).collect())
        }
        Value::Object(members) => {
            let word = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
            let is_result = matches!(word("type"), "tool_result" | "function_call_output") || word("role") == "tool";
            let varies = |name: &str| VARYING.contains(&name) || (is_result && RESULTS.contains(&name));
            let said = members.iter().filter(|(name, _)| !varies(name));
            Value::Object(said.map(|(name, value)| (name.clone(), said_only(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Members that are different in every run or with every server.
const VARYING: &[&str] = &[
    "id",
    "tool_use_id",
    "tool_call_id",
    "call_id",
    "cache_control",
    "signature",
    "encrypted_content",
    "reasoning_content",
    "reasoning_details",
    "status",
];

/// Members of a tool's result that report its outcome.
const RESULTS: &[&str] = &["content", "output", "is_error"];

const BEFORE_BYTES: usize = 20;
const SHOWN_BYTES: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_told_with_its_place() {
        let told = |a: Value, b: Value| difference(&a, &b);
        assert_eq!(told(json!({"a": [1, {"b": 2}]}), json!({"a": [1, {"b": 2}]})), None);
        assert_eq!(
            told(json!({"a": [1, {"b/c": 2}]}), json!({"a": [1, {"b/c": 3}]})).unwrap(),
            "at `/a/1/b~1c` the recording has `2` and the request has `3`"
        );
        assert_eq!(
            told(json!({"a": 1}), json!({"a": 1, "z": []})).unwrap(),
            "at `/z` the recording has nothing and the request has `[]`"
        );
        assert_eq!(
            told(json!([1, 2]), json!([1])).unwrap(),
            "at `/1` the recording has `2` and the request has nothing"
        );
        assert_eq!(told(json!(1), json!("1")).unwrap(), "at `/` the recording has `1` and the request has `\"1\"`");
        let long = |end: &str| json!(format!("{}{end}", "é".repeat(500)));
        let told = told(long("one"), long("two")).unwrap();
        assert!(told.len() < 200 && told.contains("éone\"`") && told.contains("éétwo\"`"), "{told}");
    }

    #[test]
    fn the_shape_is_what_was_said_and_called() {
        let anthropic = |system: &str, id: &str, result: &str, path: &str| {
            json!({"model": "m", "system": system, "tools": [], "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Read."}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": id},
                    {"type": "tool_use", "id": id, "name": "read_file", "input": {"path": path}},
                ]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]},
            ]})
        };
        let shape = |body: Value| Matching::Lenient.view(&body);
        let one = anthropic("In /a.", "t1", "old", "x");
        assert_eq!(shape(one.clone()), shape(anthropic("In /b.", "t2", "new", "x")));
        assert_ne!(shape(one.clone()), shape(anthropic("In /a.", "t1", "old", "y")));
        assert_ne!(Matching::Exact.view(&one), Matching::Exact.view(&anthropic("In /a.", "t1", "new", "x")));

        let chat = |system: &str, result: &str, said: &str| {
            json!({"messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": said},
                {"role": "tool", "tool_call_id": system, "content": result},
            ]})
        };
        assert_eq!(shape(chat("a", "b", "x")), shape(chat("c", "d", "x")));
        assert_ne!(shape(chat("a", "b", "x")), shape(chat("a", "b", "y")));

        let responses = |instructions: &str, output: &str, name: &str| {
            json!({"instructions": instructions, "input": [
                {"type": "reasoning", "id": output, "encrypted_content": output},
                {"type": "function_call", "call_id": output, "name": name, "arguments": "{}"},
                {"type": "function_call_output", "call_id": output, "output": output},
            ]})
        };
        assert_eq!(shape(responses("a", "b", "bash")), shape(responses("c", "d", "bash")));
        assert_ne!(shape(responses("a", "b", "bash")), shape(responses("a", "b", "grep")));
    }
}
