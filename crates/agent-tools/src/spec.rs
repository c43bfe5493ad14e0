//! Tool specifications out of argument types.

use agent_types::tool::ToolSpec;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The specification of a tool whose arguments have this type. It is made once in a process: all its sessions share the schema.
pub(crate) fn tool_spec<A: JsonSchema + 'static>(name: &'static str, description: &'static str) -> ToolSpec {
    static MADE: Mutex<BTreeMap<Key, ToolSpec>> = Mutex::new(BTreeMap::new());
    let make = || ToolSpec {
        name: Arc::from(name),
        description: Arc::from(description),
        input_schema: Arc::new(input_schema::<A>()),
    };
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry((TypeId::of::<A>(), name, description)).or_insert_with(make).clone()
}

/// What tells one specification from another.
type Key = (TypeId, &'static str, &'static str);

fn input_schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<A>();
    let mut schema = Map::from_iter(schema.as_object().cloned().unwrap_or_default());
    schema.remove("title");
    // The description of a whole tool is in its specification.
    schema.remove("description");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            simplify(property);
        }
    }
    Value::Object(schema)
}

/// An optional parameter is one that is not required; `null`, its default, and Rust's integer sizes tell a model nothing.
fn simplify(property: &mut Map<String, Value>) {
    property.remove("format");
    property.remove("default");
    property.remove("title");
    if let Some(Value::Object(inner)) = property.get_mut("properties") {
        inner.values_mut().filter_map(Value::as_object_mut).for_each(simplify);
    }
    if let Some(Value::Array(types)) = property.get("type") {
        let first = types.iter().find(|name| *name != "null").cloned();
        if let Some(first) = first {
            property.insert("type".into(), first);
        }
    }
}
