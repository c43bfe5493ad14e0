//! A tool of a server, as the agent sees it: always one that may change something, whatever the server says of it.

use crate::client::connection::{CallRequest, Connection, Ended};
use crate::client::wanted::Wanted;
use crate::content::Answer;
use crate::text::{beginning, plain};
use crate::trust::ToolRecord;
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::server::CallEnd;
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// A tool of a server.
pub(crate) struct McpTool {
    spec: ToolSpec,
    /// Its name at the server.
    remote: String,
    connection: Connection,
    is_destructive: bool,
    is_repeatable: bool,
}

impl McpTool {
    /// The tool as it was trusted.
    ///
    /// # Errors
    /// Why it cannot be offered to a model.
    pub(crate) fn new(name: String, remote: &str, record: &ToolRecord, connection: Connection) -> Result<Self, String> {
        let description = match record.description.trim() {
            "" => "(the server says nothing about it)".to_owned(),
            said => plain(&beginning(said, DESCRIPTION_LIMIT_BYTES)),
        };
        let schema = usable(&record.schema)?;
        let hint =
            |name: &str, otherwise: bool| record.annotations.get(name).and_then(Value::as_bool).unwrap_or(otherwise);
        let only_reads = hint("readOnlyHint", false);
        Ok(Self {
            spec: ToolSpec { name: name.into(), description: description.into(), input_schema: Arc::new(schema) },
            remote: remote.to_owned(),
            connection,
            // Only what is said counts: nothing said is the usual case.
            is_destructive: !only_reads && hint("destructiveHint", false),
            is_repeatable: only_reads && hint("idempotentHint", false),
        })
    }
}

/// The schema as providers take it.
fn usable(schema: &Value) -> Result<Value, String> {
    let Value::Object(fields) = schema else { return Err("its schema is no object".to_owned()) };
    let mut fields = fields.clone();
    match fields.get("type").and_then(Value::as_str) {
        Some("object") => {}
        None if !fields.contains_key("type") => drop(fields.insert("type".to_owned(), "object".into())),
        _ => return Err("its schema is not one of an object".to_owned()),
    }
    let schema = Value::Object(fields);
    let written = schema.to_string();
    if written.len() > SCHEMA_LIMIT_BYTES {
        return Err(format!("its schema has more than {SCHEMA_LIMIT_BYTES} bytes"));
    }
    let is_too_deep = depth(&schema, 0) > ToolSpec::MAX_SCHEMA_DEPTH / 2;
    if is_too_deep { Err("its schema is nested too deep".to_owned()) } else { Ok(schema) }
}

fn depth(value: &Value, above: usize) -> usize {
    // Whoever reads JSON bounds how deep it is.
    match value {
        Value::Object(fields) => fields.values().map(|field| depth(field, above + 1)).max().unwrap_or(above + 1),
        Value::Array(values) => values.iter().map(|value| depth(value, above + 1)).max().unwrap_or(above + 1),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => above,
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        arguments.read::<serde_json::Map<String, Value>>().map_err(|error| error.to_string())?;
        let family = vec![self.connection.family().to_owned()];
        // What destroys is allowed by its own name, or by a person; a rule for all of the server forbids it all the same.
        let families = if self.is_destructive { Vec::new() } else { family.clone() };
        Ok(Inspection {
            effect: Effect::Changes,
            subject: Subject::Files { paths: Vec::new(), families, akin: family },
        })
    }

    fn foresee(&self, _arguments: &Arguments) -> Option<String> {
        self.connection.why_not(&self.remote).map(|why| format!("not run: {why}"))
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        if let Some(why) = self.connection.why_withheld(&self.remote) {
            return ToolOutcome::not_run(format!("not run: {why}"));
        }
        let arguments = match call.arguments.read() {
            Ok(arguments) => arguments,
            Err(error) => return ToolOutcome::not_run(format!("not run: {error}")),
        };
        let request = CallRequest {
            wanted: Wanted::Tool { name: self.remote.clone(), arguments },
            is_repeatable: self.is_repeatable,
            progress: context.progress.clone(),
        };
        let ended = tokio::select! {
            biased;
            ended = self.connection.call(request) => ended,
            () = context.cancel.cancelled() => Ended::By(CallEnd::Cancelled { was_sent: true }),
        };
        match ended {
            Ended::Answer(answer) => self.told(answer).await,
            Ended::By(end) => outcome(&self.connection, end),
        }
    }
}

impl McpTool {
    /// What an answer comes to: files may be written for it.
    async fn told(&self, answer: Answer) -> ToolOutcome {
        let (outside, name) = (self.connection.outside(), self.connection.name().to_owned());
        let told = move || answer.outcome(&name, outside.pictures.as_deref(), outside.results.as_ref());
        tokio::task::spawn_blocking(told)
            .await
            .unwrap_or_else(|error| ToolOutcome::failed(format!("the answer of the server could not be read: {error}")))
    }
}

fn outcome(connection: &Connection, end: CallEnd) -> ToolOutcome {
    let server = connection.name();
    match end {
        CallEnd::NotRun { why } => ToolOutcome::not_run(format!("not run: {why}")),
        CallEnd::Unknown { why } => {
            ToolOutcome::interrupted(format!("outcome unknown: the server {server} gave no answer ({})", plain(&why)))
        }
        CallEnd::TimedOut { after_ms } => ToolOutcome::interrupted(format!(
            "outcome unknown: the server {server} did not answer within {after_ms} ms and was told to stop"
        )),
        CallEnd::Cancelled { was_sent: true } => ToolOutcome::interrupted("stopped; what the server did is unknown"),
        CallEnd::Cancelled { was_sent: false } => ToolOutcome::not_run("not run: it was stopped before it was sent"),
    }
}

const DESCRIPTION_LIMIT_BYTES: usize = 8 * 1024;
const SCHEMA_LIMIT_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::usable;
    use serde_json::{Value, json};

    #[test]
    fn schemas_are_made_usable_or_refused() {
        assert_eq!(usable(&json!({"properties": {}})).unwrap()["type"], "object");
        let refers_to_itself = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        assert_eq!(usable(&refers_to_itself).unwrap(), refers_to_itself);
        let deep = (0..60).fold(json!({"type": "object"}), |inner, _| json!({"type": "object", "not": inner}));
        let long = json!({"type": "object", "description": "x".repeat(70_000)});
        for bad in [json!({"type": "string"}), json!({"type": ["object", "null"]}), json!("x"), Value::Null, deep, long]
        {
            assert!(usable(&bad).is_err(), "{bad}");
        }
    }
}
