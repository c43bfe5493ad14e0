//! Arguments out of what a model wrote, or words that tell it how to write them.

use agent_types::conversation::Arguments;
use agent_types::tool::ToolSpec;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads the arguments of a call.
///
/// # Errors
/// What is wrong with each of them, and what the tool takes.
pub(crate) fn read_arguments<A: DeserializeOwned>(spec: &ToolSpec, arguments: &Arguments) -> Result<A, String> {
    arguments.read::<A>().map_err(|error| {
        let given: Map<String, Value> = serde_json::from_str(arguments.as_str()).unwrap_or_default();
        let mut faults = faults(spec, &given);
        if faults.is_empty() {
            faults.push(error.found);
        }
        format!("{}. `{}` takes {}", faults.join("; "), spec.name, parameters(spec))
    })
}

fn faults(spec: &ToolSpec, given: &Map<String, Value>) -> Vec<String> {
    let properties = properties(spec);
    let missing = required(spec).filter(|name| !given.contains_key(*name));
    let mut faults: Vec<String> = missing.map(|name| format!("`{name}` is missing")).collect();
    for (name, value) in given {
        match properties.iter().find(|(known, _)| *known == name) {
            None => faults.push(format!("there is no parameter `{name}`")),
            Some((_, schema)) => faults.extend(fault(name, schema, value)),
        }
    }
    faults
}

fn fault(name: &str, schema: &Value, value: &Value) -> Option<String> {
    let wanted = schema.get("type")?.as_str()?;
    let is_right = match wanted {
        "string" => value.is_string(),
        "integer" => value.is_u64() || (value.is_i64() && schema.get("minimum").is_none()),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    // `null` for an optional parameter was read before this.
    if is_right {
        return None;
    }
    let bound = if schema.get("minimum").is_some() { " that is not negative" } else { "" };
    Some(format!("`{name}` must be {} {wanted}{bound}, not {}", article(wanted), kind_of(value)))
}

fn parameters(spec: &ToolSpec) -> String {
    let required: Vec<&str> = required(spec).collect();
    let described = properties(spec).into_iter().map(|(name, schema)| {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("value");
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        format!("`{name}` ({kind}{optional})")
    });
    match described.collect::<Vec<_>>() {
        none if none.is_empty() => String::from("no parameters"),
        some => some.join(", "),
    }
}

fn properties(spec: &ToolSpec) -> Vec<(&String, &Value)> {
    spec.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten().collect()
}

fn required(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    spec.input_schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'i', 'o']) { "an" } else { "a" }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => String::from("null"),
        Value::Bool(_) => String::from("a boolean"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => String::from("a string"),
        Value::Array(_) => String::from("an array"),
        Value::Object(_) => String::from("an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::tool_spec;
    use schemars::JsonSchema;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is said about wrong ones matters")]
    struct Given {
        path: String,
        limit: Option<u64>,
        all: Option<bool>,
    }

    #[test]
    fn what_is_wrong_is_said_about_each_parameter() {
        let spec = tool_spec::<Given>("look", "");
        let said = |text: &str| read_arguments::<Given>(&spec, &Arguments::parse(text).unwrap()).unwrap_err();
        let takes = "`look` takes `all` (boolean, optional), `limit` (integer, optional), `path` (string)";
        let cases = [
            ("{}", "`path` is missing"),
            (r#"{"path":3}"#, "`path` must be a string, not the number 3"),
            (r#"{"path":"x","limit":"5"}"#, "`limit` must be an integer that is not negative, not a string"),
            (r#"{"path":"x","limit":-1}"#, "`limit` must be an integer that is not negative, not the number -1"),
            (r#"{"file":"x"}"#, "`path` is missing; there is no parameter `file`"),
        ];
        for (given, expected) in cases {
            assert_eq!(said(given), format!("{expected}. {takes}"));
        }
        assert!(read_arguments::<Given>(&spec, &Arguments::parse(r#"{"path":"x","limit":null}"#).unwrap()).is_ok());
    }
}
