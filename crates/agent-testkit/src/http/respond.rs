//! From a request to its response: route, check, take a step, play it.

use super::anthropic_rules::check_messages_request;
use super::body::{Body, Watch, stream, whole};
use super::openai_rules::check_chat_request;
use super::record::RecordedRequest;
use super::server::Shared;
use super::step::{Kind, Step};
use super::{anthropic, openai, responses, responses_rules, schema};
use crate::reply::{DEFAULT_MODEL, Reply};
use agent_core::llm::ResponseBlock;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;

/// Answers one request.
pub(super) async fn respond(shared: &Arc<Shared>, connection: usize, request: Request<Incoming>) -> Response<Body> {
    let mut record = read(connection, request).await;
    let wire = match route(&record) {
        Route::Model(wire) => wire,
        Route::Models => {
            shared.record(record);
            return json_response(StatusCode::OK, &models());
        }
        Route::Unknown => {
            record.violation = Some(format!("no such path: {} {}", record.method, record.path));
            shared.record(record);
            return Wire::Anthropic.error(StatusCode::NOT_FOUND, "no such path");
        }
    };
    let checked = wire.check(&record, shared).and_then(|()| {
        let exhausted = || String::from("script exhausted: this request has no step");
        shared.next_step().ok_or_else(exhausted)
    });
    let body = record.body.clone();
    record.violation = checked.as_ref().err().cloned();
    shared.record(record);
    match checked {
        Ok(step) => perform(step.resolve(&body), wire, &body, shared).await,
        Err(violation) => wire.error(StatusCode::BAD_REQUEST, &violation),
    }
}

async fn read(connection: usize, request: Request<Incoming>) -> RecordedRequest {
    let (head, body) = request.into_parts();
    let headers = (head.headers.iter())
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    // A body that breaks off, is too long, or is not JSON is null, which every check refuses.
    let bytes = match Limited::new(body, BODY_LIMIT_BYTES).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(_) => bytes::Bytes::new(),
    };
    RecordedRequest {
        connection,
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers,
        body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        bytes: bytes.to_vec(),
        violation: None,
    }
}

enum Route {
    Model(Wire),
    Models,
    Unknown,
}

fn route(request: &RecordedRequest) -> Route {
    let path = request.path.split('?').next().unwrap_or_default();
    match (request.method.as_str(), path) {
        ("POST", "/v1/messages") => Route::Model(Wire::Anthropic),
        ("POST", "/v1/chat/completions") => Route::Model(Wire::OpenAi),
        ("POST", "/v1/responses") => Route::Model(Wire::Responses),
        ("GET", "/v1/models") => Route::Models,
        _ => Route::Unknown,
    }
}

/// The list of models, with the members that either kind of client looks for.
fn models() -> Value {
    json!({
        "object": "list",
        "data": [{
            "type": "model", "object": "model", "id": DEFAULT_MODEL, "display_name": "Scripted model",
            "created_at": "2025-01-01T00:00:00Z", "created": 1_735_689_600, "owned_by": "agent-testkit",
        }],
        "has_more": false, "first_id": DEFAULT_MODEL, "last_id": DEFAULT_MODEL,
    })
}

/// A wire format.
#[derive(Clone, Copy)]
enum Wire {
    Anthropic,
    OpenAi,
    Responses,
}

impl Wire {
    fn check(self, request: &RecordedRequest, shared: &Shared) -> Result<(), String> {
        match self {
            Self::Anthropic => {
                if request.header("anthropic-version").is_none() {
                    return Err(String::from("anthropic-version: header is required"));
                }
                check_messages_request(&request.body, &shared.called())?;
                schema::ANTHROPIC.check(&request.body)
            }
            Self::OpenAi => {
                check_chat_request(&request.body)?;
                schema::OPENAI_CHAT.check(&request.body)
            }
            Self::Responses => {
                responses_rules::check_responses_request(&request.body)?;
                schema::OPENAI_RESPONSES.check(&request.body)
            }
        }
    }

    fn events(self, reply: &Reply, number: usize, request: &Value) -> Vec<String> {
        match self {
            Self::Anthropic => anthropic::events(reply, number),
            Self::OpenAi => openai::events(reply, number, request),
            Self::Responses => responses::events(reply, number),
        }
    }

    fn error_event(self, kind: &str, message: &str) -> String {
        match self {
            Self::Anthropic => anthropic::error_event(kind, message),
            Self::OpenAi => openai::error_event(kind, message),
            Self::Responses => responses::error_event(kind, message),
        }
    }

    fn error(self, status: StatusCode, message: &str) -> Response<Body> {
        let body = match self {
            Self::Anthropic => anthropic::error_body(status.as_u16(), message),
            Self::OpenAi | Self::Responses => openai::error_body(status.as_u16(), message),
        };
        json_response(status, &body)
    }
}

async fn perform(step: Step, wire: Wire, request: &Value, shared: &Arc<Shared>) -> Response<Body> {
    if !step.delay.is_zero() {
        tokio::time::sleep(step.delay).await;
    }
    match step.kind {
        Kind::Answer { reply, ending } => {
            let number = shared.next_answer();
            for block in reply.response(number).blocks {
                if let ResponseBlock::Call(call) = block {
                    shared.note_called(&call.name);
                }
            }
            let events = wire.events(&reply, number, request);
            let error_event = |kind: &str, message: &str| wire.error_event(kind, message);
            let body = stream(events, &reply, ending, error_event, Arc::clone(shared));
            typed(StatusCode::OK, "text/event-stream; charset=utf-8", body)
        }
        Kind::Status { status, headers, body } => refuse(wire, status, headers, body),
        Kind::Body { content_type, body } => typed(StatusCode::OK, &content_type, whole(body)),
        // A function never leads to another one here: `resolve` has called them all.
        Kind::Hang | Kind::Respond(_) => {
            let _left = Watch::new(Arc::clone(shared));
            pending().await
        }
    }
}

fn refuse(wire: Wire, status: u16, headers: Vec<(String, String)>, body: Option<String>) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match body {
        Some(text) => typed(status, "application/json", whole(text)),
        None => wire.error(status, &format!("scripted status {}", status.as_u16())),
    };
    for (name, value) in headers {
        // A header that HTTP cannot carry is left out rather than made up.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str())) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn json_response(status: StatusCode, value: &Value) -> Response<Body> {
    typed(status, "application/json", whole(value.to_string()))
}

fn typed(status: StatusCode, content_type: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Ok(value) = HeaderValue::from_str(content_type) {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    response
}

/// Longest request body that is read.
const BODY_LIMIT_BYTES: usize = 64 * 1024 * 1024;
