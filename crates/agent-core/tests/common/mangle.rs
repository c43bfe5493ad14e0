//! Spoilt JSON: a value with one place of it removed, added, or replaced by everything that it could be taken for.

use serde_json::{Value, json};

/// What was done to a value, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoilt {
    /// Where, as a JSON pointer.
    pub(crate) at: String,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Removed,
    Added,
    Replaced,
}

/// Calls back with every spoilt version of a value, but for places that begin with one of these.
pub(crate) fn each(whole: &Value, but: &[&str], tell: &mut impl FnMut(Spoilt, Value)) {
    let mut places = Vec::new();
    list(whole, String::new(), &mut places);
    for at in places.into_iter().filter(|at| !but.iter().any(|but| at.starts_with(but))) {
        let here = whole.pointer(&at).unwrap();
        if let Value::Object(fields) = here {
            for name in fields.keys() {
                let mut spoilt = whole.clone();
                object(&mut spoilt, &at).remove(name);
                tell(Spoilt { at: format!("{at}/{name}"), what: What::Removed }, spoilt);
            }
            let mut spoilt = whole.clone();
            object(&mut spoilt, &at).insert("nobody_knows".into(), json!(1));
            tell(Spoilt { at: at.clone(), what: What::Added }, spoilt);
        }
        for other in others(here) {
            let mut spoilt = whole.clone();
            *spoilt.pointer_mut(&at).unwrap() = other;
            tell(Spoilt { at: at.clone(), what: What::Replaced }, spoilt);
        }
    }
}

/// Every beginning of a text but the whole.
pub(crate) fn beginnings(whole: &str) -> impl Iterator<Item = &str> {
    (0..whole.len()).filter(|end| whole.is_char_boundary(*end)).map(|end| &whole[..end])
}

fn list(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, field)| list(field, format!("{at}/{name}"), places)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, item)| list(item, format!("{at}/{i}"), places)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    places.push(at);
}

fn object<'a>(value: &'a mut Value, at: &str) -> &'a mut serde_json::Map<String, Value> {
    value.pointer_mut(at).and_then(Value::as_object_mut).unwrap()
}

/// Other values that could stand there: of other types, of the same type, and the same twice.
fn others(value: &Value) -> Vec<Value> {
    let mut out = vec![json!(null), json!(true), json!(-1), json!(1.5), json!("Dancing"), json!([]), json!({})];
    match value {
        Value::Number(_) => out.extend([json!(0), json!(1), json!(77), json!(u64::MAX)]),
        Value::Bool(value) => out.push(json!(!value)),
        Value::String(_) => out.extend([json!(""), json!(" ")]),
        Value::Array(items) => {
            out.push(json!([value, value]));
            out.push(items.iter().chain(items).cloned().collect());
            out.extend(items.split_last().map(|(_, rest)| json!(rest)));
        }
        Value::Object(_) => out.push(json!([value])),
        Value::Null => out.extend([json!(0), json!(u64::MAX)]),
    }
    out.retain(|other| other != value);
    out
}
