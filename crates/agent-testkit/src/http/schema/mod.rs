//! The shape of a request, member by member, from rules held as data.
//!
//! | Rule | Means |
//! |---|---|
//! | `type` | `object`, `array`, `string`, `integer`, `number`, `boolean`, `null` |
//! | `required`, `properties`, `any` | members that must be there, that may be there; `any` allows further ones |
//! | `items`, `minItems` | of an array |
//! | `minLength`, `maxLength` | of a text, in characters; what is blank counts as empty |
//! | `minimum`, `maximum` | of a number |
//! | `enum` | one of these values |
//! | `by`, `of`, `others` | a member's value says which rule holds; `others` is for values that have none |
//! | `either` | one of these rules |
//! | `ref` | the rule of this name under `defs` |
//! | `never` | not here, and why |
//!
//! A rule with a word that is not in this table is a fault of the rules and fails every request.

use serde_json::Value;

/// The rules of one wire format.
#[derive(Clone, Copy)]
pub(super) struct Rules(&'static str);

/// What Anthropic Messages takes.
pub(super) const ANTHROPIC: Rules = Rules(include_str!("anthropic.json"));

/// What OpenAI Chat Completions takes.
pub(super) const OPENAI_CHAT: Rules = Rules(include_str!("openai_chat.json"));

/// What OpenAI Responses takes.
pub(super) const OPENAI_RESPONSES: Rules = Rules(include_str!("openai_responses.json"));

impl Rules {
    /// Checks a request.
    pub(super) fn check(self, request: &Value) -> Result<(), String> {
        let rules: Value = serde_json::from_str(self.0).map_err(|error| format!("the rules are no JSON: {error}"))?;
        check(&rules["defs"], &rules["root"], "request", request)
    }
}

fn check(defs: &Value, rule: &Value, at: &str, value: &Value) -> Result<(), String> {
    let Some(words) = rule.as_object() else { return Err(format!("{at}: there is no rule for it")) };
    if let Some(odd) = words.keys().find(|word| !WORDS.contains(&word.as_str())) {
        return Err(format!("{at}: the rules use an unknown word `{odd}`"));
    }
    if let Some(name) = rule["ref"].as_str() {
        return check(defs, &defs[name], at, value);
    }
    if let Some(why) = rule["never"].as_str() {
        return Err(format!("{at}: {why}"));
    }
    if let Some(rules) = rule["either"].as_array() {
        return check_either(defs, rules, at, value);
    }
    if let Some(member) = rule["by"].as_str() {
        let which = value[member].as_str().unwrap_or_default();
        let chosen = rule["of"].get(which).or_else(|| rule.get("others"));
        let chosen = chosen.ok_or_else(|| format!("{at}.{member}: `{which}` is not expected here"))?;
        return check(defs, chosen, at, value);
    }
    if let Some(values) = rule["enum"].as_array() {
        return if values.contains(value) {
            Ok(())
        } else {
            Err(format!("{at}: {value} is not one of the values allowed"))
        };
    }
    match (rule["type"].as_str().unwrap_or_default(), value) {
        ("object", Value::Object(_)) => check_object(defs, rule, at, value),
        ("array", Value::Array(items)) => {
            check_range(rule, "minItems", "", at, items.len() as f64)?;
            for (index, item) in items.iter().enumerate() {
                check(defs, &rule["items"], &format!("{at}[{index}]"), item)?;
            }
            Ok(())
        }
        ("string", Value::String(text)) => {
            let length = if text.trim().is_empty() { 0 } else { text.chars().count() };
            check_range(rule, "minLength", "maxLength", at, length as f64)
        }
        ("integer" | "number", Value::Number(number)) => {
            if rule["type"] == "integer" && !number.is_u64() && !number.is_i64() {
                return Err(format!("{at}: {number} is not a whole number"));
            }
            check_range(rule, "minimum", "maximum", at, number.as_f64().unwrap_or(f64::NAN))
        }
        ("boolean", Value::Bool(_)) | ("null", Value::Null) => Ok(()),
        (expected, _) => Err(format!("{at}: expected {expected}, found {}", name_of(value))),
    }
}

fn check_object(defs: &Value, rule: &Value, at: &str, value: &Value) -> Result<(), String> {
    for name in rule["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            return Err(format!("{at}.{name}: field required"));
        }
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        match rule["properties"].get(name) {
            Some(rule) => check(defs, rule, &format!("{at}.{name}"), member)?,
            None if rule["any"] == true => {}
            None => return Err(format!("{at}.{name}: extra inputs are not permitted")),
        }
    }
    Ok(())
}

/// The first rule that fits; when none does, what the one for values of this type says.
fn check_either(defs: &Value, rules: &[Value], at: &str, value: &Value) -> Result<(), String> {
    let mut refused: Option<String> = None;
    for rule in rules {
        match check(defs, rule, at, value) {
            Ok(()) => return Ok(()),
            Err(other) if other.contains(": expected ") && refused.is_some() => {}
            Err(reason) => refused = Some(reason),
        }
    }
    Err(refused.unwrap_or_else(|| format!("{at}: nothing is allowed here")))
}

fn check_range(rule: &Value, lowest: &str, highest: &str, at: &str, measured: f64) -> Result<(), String> {
    let bound = |word: &str| rule.get(word).and_then(Value::as_f64);
    if bound(lowest).is_some_and(|bound| measured < bound) {
        return Err(format!("{at}: {lowest} is {}, found {measured}", rule[lowest]));
    }
    if bound(highest).is_some_and(|bound| measured > bound) {
        return Err(format!("{at}: {highest} is {}, found {measured}", rule[highest]));
    }
    Ok(())
}

const fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

const WORDS: &[&str] = &[
    "type",
    "required",
    "properties",
    "any",
    "items",
    "minItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "enum",
    "by",
    "of",
    "others",
    "either",
    "ref",
    "never",
];

#[cfg(test)]
mod tests;
