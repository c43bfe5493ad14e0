//! Holds the tables' JSON to its published schema: a check of exactly the words of JSON Schema that the schema uses.

use agent_core::diagram::json;
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::session::table::TABLE as SESSION;
use serde_json::{Value, json};

fn published() -> Value {
    serde_json::from_str(include_str!("../../docs/machines/schema.json")).unwrap()
}

fn machines() -> [Value; 3] {
    [json(&SESSION), json(&LIFECYCLE), json(&JOB)].map(|text| serde_json::from_str(&text).unwrap())
}

/// What is wrong with a value; empty when nothing is.
fn problems(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, says) in schema.as_object().unwrap() {
        let fits = match word.as_str() {
            "$ref" => {
                let target = root.pointer(says.as_str().unwrap().trim_start_matches('#')).unwrap();
                found.extend(problems(root, target, value, at));
                true
            }
            "type" => match says.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                other => panic!("the check does not know the type `{other}`"),
            },
            "enum" => says.as_array().unwrap().contains(value),
            "pattern" => value.as_str().is_some_and(|text| matches_pattern(says.as_str().unwrap(), text)),
            "minItems" => value.as_array().is_some_and(|items| items.len() as u64 >= says.as_u64().unwrap()),
            "minLength" => value.as_str().is_some_and(|text| text.len() as u64 >= says.as_u64().unwrap()),
            "required" => says.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "additionalProperties" => {
                assert_eq!(says, &json!(false));
                value
                    .as_object()
                    .is_none_or(|object| object.keys().all(|name| schema["properties"].get(name).is_some()))
            }
            "properties" => {
                for (name, schema) in says.as_object().unwrap() {
                    let inner = value.get(name).map(|value| problems(root, schema, value, &format!("{at}.{name}")));
                    found.extend(inner.unwrap_or_default());
                }
                true
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(problems(root, says, item, &format!("{at}[{index}]")));
                }
                true
            }
            "$schema" | "$defs" | "title" | "description" => true,
            other => panic!("the check does not know `{other}`"),
        };
        if !fits {
            found.push(format!("{at}: {value} does not fit {word} {says}"));
        }
    }
    found
}

fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut characters = text.chars();
    match pattern {
        "^[a-z]+$" => !text.is_empty() && characters.all(|c| c.is_ascii_lowercase()),
        "^[A-Z][A-Za-z]+$" => {
            characters.next().is_some_and(|c| c.is_ascii_uppercase()) && characters.all(|c| c.is_ascii_alphabetic())
        }
        other => panic!("the check does not know the pattern `{other}`"),
    }
}

#[test]
fn every_table_is_as_published() {
    let schema = published();
    for machine in machines() {
        assert_eq!(problems(&schema, &schema, &machine, "machine"), Vec::<String>::new());
    }
}

/// What a schema cannot say.
#[test]
fn names_are_unique_and_rows_refer_to_them() {
    for machine in machines() {
        let names = |list: &str| -> Vec<String> {
            let entries = machine[list].as_array().unwrap();
            entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
        };
        let (states, triggers, actions) = (names("states"), names("triggers"), names("actions"));
        for list in [&states, &triggers, &actions] {
            assert!(list.iter().enumerate().all(|(index, name)| !list[..index].contains(name)), "{list:?}");
        }
        let knows = |list: &[String], name: &Value| list.iter().any(|known| Some(known.as_str()) == name.as_str());
        assert!(knows(&states, &machine["initial"]));
        for row in machine["rows"].as_array().unwrap() {
            assert!(
                knows(&states, &row["from"]) && knows(&triggers, &row["on"]) && knows(&states, &row["to"]),
                "{row}"
            );
            assert!(row["actions"].as_array().unwrap().iter().all(|action| knows(&actions, action)), "{row}");
        }
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let schema = published();
    let [_, _, machine] = machines();
    let faults: [(&str, Value); 7] = [
        ("/name", json!("Job")),
        ("/initial", json!(7)),
        ("/states", json!([])),
        ("/states/0/kind", json!("resting")),
        ("/states/0/meaning", json!("")),
        ("/triggers/0", json!({"name": "Started", "meaning": "x"})),
        ("/rows/0", json!({"from": "Init", "on": "Started", "to": "End", "actions": ["StopWork"], "guard": "x"})),
    ];
    for (place, wrong) in faults {
        let mut machine = machine.clone();
        *machine.pointer_mut(place).unwrap() = wrong;
        assert!(!problems(&schema, &schema, &machine, "machine").is_empty(), "{place}");
    }
}
