//! Holds the tables' JSON to its published schema.

use agent_core::child::table::TABLE as CHILD;
use agent_core::children::table::TABLE as CHILDREN;
use agent_core::diagram::json;
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::server::table::TABLE as SERVER;
use agent_core::session::table::TABLE as SESSION;
use serde_json::{Value, json};

fn published() -> Value {
    serde_json::from_str(include_str!("../../docs/machines/schema.json")).unwrap()
}

fn machines() -> [Value; 6] {
    [json(&SESSION), json(&LIFECYCLE), json(&CHILD), json(&CHILDREN), json(&JOB), json(&SERVER)]
        .map(|text| serde_json::from_str(&text).unwrap())
}

/// What is wrong with a value; empty when nothing is.
fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn every_table_is_as_published() {
    let schema = published();
    for machine in machines() {
        assert_eq!(problems(&schema, &machine), Vec::<String>::new());
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
    let [.., machine] = machines();
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
        assert!(!problems(&schema, &machine).is_empty(), "{place}");
    }
}
