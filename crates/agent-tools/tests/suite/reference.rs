//! The reference of the tools in `docs/tools.md`, made from the schemas that the model gets. `INSTA_UPDATE=always` rewrites it.

use crate::support::Bench;
use agent_check::golden;
use agent_tools::signal_tool;
use agent_types::protected;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn the_reference_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");
    let published = std::fs::read_to_string(path).unwrap();
    let (before, after) = published.split_once(BEGIN).expect("the mark where the reference begins");
    let (_, after) = after.split_once(END).expect("the mark where the reference ends");
    let made = format!("{before}{BEGIN}{}{END}{after}", reference());
    golden::compare(Path::new(path), &made).unwrap();
}

fn reference() -> String {
    let mut text = String::from("\n\n");
    for tool in Bench::new().tools.iter().cloned().chain([signal_tool()]) {
        let spec = tool.spec();
        let _ = writeln!(text, "### `{}`\n\n{}\n", spec.name, spec.description);
        let required = |name: &str| {
            spec.input_schema["required"].as_array().into_iter().flatten().any(|required| required == name)
        };
        let _ = writeln!(text, "| Parameter | Type | |\n|---|---|---|");
        for (name, schema) in spec.input_schema["properties"].as_object().unwrap() {
            let kind = schema["type"].as_str().unwrap_or_default();
            let kind = if required(name) { kind.to_owned() } else { format!("{kind}, optional") };
            let said = schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
            let _ = writeln!(text, "| `{name}` | {kind} | {said}{} |", choices(schema));
        }
        text.push('\n');
    }
    let names: Vec<String> = protected::names().iter().map(|name| format!("`{name}`")).collect();
    let _ = writeln!(text, "### Protected names\n\n{}\n", names.join(", "));
    text
}

fn choices(schema: &Value) -> String {
    let choices: Vec<String> = schema["enum"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|choice| format!("`{}`", choice.as_str().unwrap()))
        .collect();
    if choices.is_empty() { String::new() } else { format!(" One of {}.", choices.join(", ")) }
}

const BEGIN: &str = "<!-- begin: made of the schemas, `INSTA_UPDATE=always cargo test -p agent-tools` rewrites it -->";
const END: &str = "<!-- end -->";
