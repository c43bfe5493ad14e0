//! Children that somebody spoilt: a typed error, or what was written, and never a panic.

#[path = "../common/mangle.rs"]
mod mangle;

use agent_check::child::alphabet::WAYS;
use agent_check::child::{Script, config, event};
use agent_core::child::Child;
use agent_core::child::table::TABLE;
use mangle::{Spoilt, What, beginnings, each};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A child in every state in which one is kept.
fn places() -> Vec<Child> {
    let ways: [&[&str]; 8] = [
        &[],
        &["assign"],
        &["assign", "begun", "say one"],
        &["assign", "begun", "asks which?"],
        &["assign", "begun", "stop parent"],
        &["assign", "begun", "lost torn"],
        &["assign", "begun", "rest done ok"],
        &["assign", "begun", "taken-over"],
    ];
    ways.into_iter()
        .map(|way| {
            let mut script = Script::on(config("restarts=1").unwrap(), &TABLE);
            way.iter().for_each(|line| drop(script.tell(line)));
            script.child
        })
        .collect()
}

#[test]
fn a_child_is_kept_as_it_is() {
    for child in places() {
        let kept = serde_json::to_string(&child).unwrap();
        assert_eq!(serde_json::from_str::<Child>(&kept).unwrap(), child, "{kept}");
        for cut in beginnings(&kept) {
            assert!(serde_json::from_str::<Child>(cut).is_err(), "{cut}");
        }
    }
}

#[test]
fn a_child_that_is_spoilt_is_an_error_or_what_it_says() {
    let (mut refused, mut read) = (0, 0);
    for child in places() {
        let whole = serde_json::to_value(&child).unwrap();
        each(&whole, &["/trace/"], &mut |spoilt, value| match serde_json::from_value::<Child>(value.clone()) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(child) => {
                read += 1;
                let back = serde_json::to_value(&child).unwrap();
                assert!(is_what_it_says(&spoilt, &whole, &value, &back), "{spoilt:?} reads as something else: {value}");
                for (_, line) in WAYS {
                    let event = event(line, &child).unwrap();
                    assert!(catch_unwind(AssertUnwindSafe(|| drop(child.clone().step(0, event)))).is_ok(), "{value}");
                }
            }
        });
    }
    assert!(refused > 500 && read > 100, "{refused} refused, {read} read");
}

/// As written; but what is added is dropped, and what has a default or may be nothing may be left out.
fn is_what_it_says(spoilt: &Spoilt, whole: &Value, value: &Value, back: &Value) -> bool {
    // What is empty is left out.
    if spoilt.at.starts_with("/outcome/") {
        return true;
    }
    let mut without = whole.clone();
    if let Some(field) = without.pointer_mut(&spoilt.at) {
        *field = Value::Null;
    }
    let filled = |value: &Value| {
        back.as_object().is_some_and(|back| {
            value.as_object().is_some_and(|value| {
                value.iter().all(|(name, field)| {
                    field.is_null() || field.as_array().is_some_and(Vec::is_empty) || back.get(name) == Some(field)
                })
            })
        })
    };
    match spoilt.what {
        What::Added => back == whole,
        What::Removed => *back == without || filled(value),
        What::Replaced => back == value || filled(value),
    }
}

/// What could not have come about is refused, and the refusal says what.
#[test]
fn contradictions_are_refused_in_words() {
    let said = |place: usize, change: &dyn Fn(&mut Value)| {
        let mut kept = serde_json::to_value(&places()[place]).unwrap();
        change(&mut kept);
        serde_json::from_value::<Child>(kept).unwrap_err().to_string()
    };
    assert_eq!(said(0, &|kept| kept["state"] = "Wanted".into()), "no child is ever Wanted at rest");
    assert_eq!(
        said(6, &|kept| kept["outcome"] = Value::Null),
        "no child is ever Ended with an outcome missing or left over"
    );
    assert_eq!(said(2, &|kept| kept["stop"] = "parent".into()), "no child is ever Working with a stop");
    assert_eq!(said(2, &|kept| kept["run"] = 0.into()), "no child is ever Working in no run");
    assert_eq!(said(5, &|kept| kept["state"] = "Working".into()), "no child is ever Working with a loss");
}
