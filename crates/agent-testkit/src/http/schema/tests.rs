//! Tests of the rules and of what reads them.

use super::*;
use serde_json::json;

fn verdict(rule: &Value, value: &Value) -> Result<(), String> {
    check(&json!({"short": {"type": "string", "maxLength": 2}}), rule, "x", value)
}

#[test]
fn every_word_of_the_rules_can_refuse() {
    let object = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 1}}});
    let by = json!({"by": "k", "of": {"n": {"never": "no n"}, "o": {"type": "object", "any": true}}});
    let either = json!({"either": [{"type": "null"}, {"type": "array", "minItems": 1, "items": {"ref": "short"}}]});
    let cases = [
        (&object, json!({"a": 1}), None),
        (&object, json!({}), Some("x.a: field required")),
        (&object, json!({"a": 0}), Some("x.a: minimum is 1, found 0")),
        (&object, json!({"a": 1.5}), Some("x.a: 1.5 is not a whole number")),
        (&object, json!({"a": 1, "b": 2}), Some("x.b: extra inputs are not permitted")),
        (&object, json!([]), Some("x: expected object, found array")),
        (&by, json!({"k": "o", "more": 1}), None),
        (&by, json!({"k": "n"}), Some("x: no n")),
        (&by, json!({"k": "z"}), Some("x.k: `z` is not expected here")),
        (&either, json!(null), None),
        (&either, json!(["ab"]), None),
        (&either, json!(["abc"]), Some("x[0]: maxLength is 2, found 3")),
        (&either, json!([]), Some("x: minItems is 1, found 0")),
        (&json!({"enum": ["a"]}), json!("b"), Some("x: \"b\" is not one of the values allowed")),
        (&json!({"type": "string", "minLength": 1}), json!("  "), Some("x: minLength is 1, found 0")),
        (&json!({"type": "boolean"}), json!(1), Some("x: expected boolean, found number")),
        (&json!({"odd": 1}), json!(1), Some("x: the rules use an unknown word `odd`")),
        (&json!(null), json!(1), Some("x: there is no rule for it")),
    ];
    for (rule, value, refusal) in cases {
        assert_eq!(verdict(rule, &value).err().as_deref(), refusal, "{rule} {value}");
    }
}

/// Every rule is well-formed: its words are known, and what it refers to is there.
fn walk(defs: &Value, rule: &Value, at: &str) {
    let words = rule.as_object().unwrap_or_else(|| panic!("{at} is no rule"));
    for (word, value) in words {
        assert!(WORDS.contains(&word.as_str()), "{at}: {word}");
        match (word.as_str(), value) {
            ("ref", Value::String(name)) => assert!(defs.get(name).is_some(), "{at}: {name}"),
            ("properties" | "of", Value::Object(rules)) => {
                rules.iter().for_each(|(name, rule)| walk(defs, rule, &format!("{at}.{name}")));
            }
            ("items" | "others", rule) => walk(defs, rule, at),
            ("either", Value::Array(rules)) => rules.iter().for_each(|rule| walk(defs, rule, at)),
            ("properties" | "of" | "either" | "ref", _) => panic!("{at}: {word} is {value}"),
            _ => {}
        }
    }
}

#[test]
fn the_rules_are_well_formed() {
    for Rules(text) in [ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES] {
        let rules: Value = serde_json::from_str(text).unwrap();
        walk(&rules["defs"], &rules["root"], "root");
        for (name, rule) in rules["defs"].as_object().unwrap() {
            walk(&rules["defs"], rule, name);
        }
    }
}
