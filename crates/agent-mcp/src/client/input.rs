//! What a server asks for in the middle of a call, in the words of the protocol: as a request of its own (2025-11-25 and before), or as the
//! result of the call, which is then sent once more with the answers (2026-07-28).

use crate::ask::{Ask, Reply};
use rmcp::model::{ElicitRequestParams, InputRequest, InputRequiredResult};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What a server asks for at once.
#[derive(Debug)]
pub(crate) struct Asks {
    /// What people are asked, each with the name under which it is answered; one without a name where the server asks by a request.
    pub(crate) each: Vec<(String, Ask)>,
    pub(crate) way: Way,
}

/// How the answer gets to the server.
#[derive(Debug)]
pub(crate) enum Way {
    /// As the answer to its request, which it may take back.
    Answer { reply: oneshot::Sender<Reply>, gone: CancellationToken },
    /// With the call, once more.
    Again(Again),
}

/// What goes with a call that is sent once more; nothing with the first one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    pub(crate) responses: BTreeMap<String, Value>,
    /// The server's own, as it came.
    pub(crate) state: Option<String>,
}

impl Asks {
    /// What the result of a call asks for. Where it works is told without a question.
    ///
    /// # Errors
    /// Why it cannot be asked, in words for the model.
    pub(super) fn of_result(
        result: InputRequiredResult,
        roots: &Value,
        clean: &dyn Fn(&str) -> String,
    ) -> Result<Self, String> {
        let mut again = Again { state: result.request_state, ..Again::default() };
        let mut each = Vec::new();
        for (name, request) in result.input_requests.unwrap_or_default() {
            match request {
                InputRequest::Elicitation(request) => each.push((name, ask(&request.params, clean)?)),
                InputRequest::ListRoots(_) => drop(again.responses.insert(name, roots.clone())),
                InputRequest::CreateMessage(_) => {
                    return Err("it asks for an answer of a model, which it is not given".into());
                }
                _ => return Err("it asks for something that is not known here".to_owned()),
            }
        }
        if each.len() > MOST_AT_ONCE {
            return Err(format!("it asks more than {MOST_AT_ONCE} questions at once"));
        }
        Ok(Self { each, way: Way::Again(again) })
    }
}

/// What one request asks.
///
/// # Errors
/// Why it cannot be asked.
pub(super) fn ask(params: &ElicitRequestParams, clean: &dyn Fn(&str) -> String) -> Result<Ask, String> {
    match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema: schema, .. } => {
            let order = schema.property_order.clone();
            let order = order.unwrap_or_else(|| schema.properties.keys().cloned().collect());
            let properties = order.iter().filter_map(|name| {
                let property = serde_json::to_value(schema.properties.get(name)?).ok()?;
                Some((name.as_str(), property))
            });
            Ask::form(message, properties, schema.required.as_deref().unwrap_or_default(), clean)
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => Ask::visit(message, url, clean),
        _ => Err("it asks in a way that is not known here".to_owned()),
    }
}

/// The answers of a person, under the names of the server.
pub(crate) fn responses(replies: Vec<(String, Reply)>) -> Map<String, Value> {
    replies.into_iter().map(|(name, reply)| (name, reply.into_value())).collect()
}

/// How many questions one call may put at once.
const MOST_AT_ONCE: usize = 8;
