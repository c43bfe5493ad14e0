//! What the scripted server refuses, as the real services would.

use super::client::Client;
use super::http::{chat, messages};
use agent_testkit::http::{ScriptedServer, Step};
use serde_json::{Value, json};

/// Sends a request and returns what the server finds wrong with it.
async fn violation(path: &str, request: &Value) -> Option<String> {
    let server = ScriptedServer::start([Step::text("ok")]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let response = client.post(path, request).await;
    let violations = server.violations();
    let refused = response.status == 400;
    assert_eq!(refused, !violations.is_empty());
    // A request that is refused uses no step.
    assert_eq!(server.steps_left(), usize::from(refused));
    violations.into_iter().next()
}

fn with_messages(history: Value) -> Value {
    let mut request = messages();
    request["messages"] = history;
    request["tools"] = json!([{"name": "t", "input_schema": {"type": "object"}}]);
    request
}

fn user(content: Value) -> Value {
    message("user", content)
}

fn assistant(content: Value) -> Value {
    message("assistant", content)
}

fn message(role: &str, content: Value) -> Value {
    let mut message = json!({"role": role});
    message["content"] = content;
    message
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "t", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[tokio::test]
async fn accepts_what_is_right() {
    let thinking = json!({"type": "thinking", "thinking": "", "signature": "s"});
    let parts = json!({"type": "tool_result", "tool_use_id": "b", "content": [text("x")], "is_error": true});
    let histories = [
        json!([user(json!("hi"))]),
        json!([user(json!([text("hi"), text("there")])), assistant(json!("yes")), user(json!("so"))]),
        json!([
            user(json!("hi")),
            assistant(json!([thinking, text("ok"), call("a"), call("b")])),
            user(json!([result("a"), parts, text("and then")])),
            assistant(json!([call("c")])),
            user(json!([result("c")])),
        ]),
    ];
    for history in histories {
        assert_eq!(violation("/v1/messages", &with_messages(history)).await, None);
    }
}

/// Every history must be refused, for the reason beside it.
async fn refuses<const N: usize>(cases: [(Value, &str); N]) {
    for (history, expected) in cases {
        let found = violation("/v1/messages", &with_messages(history.clone())).await;
        let found = found.unwrap_or_else(|| panic!("accepted: {history}"));
        assert!(found.contains(expected), "{found} for {history}");
    }
}

/// A user's message, calls with these ids, and this answer to them.
fn round(ids: &[&str], answer: Value) -> Value {
    let calls = ids.iter().map(|id| call(id)).collect();
    json!([user(json!("hi")), assistant(calls), user(answer)])
}

#[tokio::test]
async fn refuses_roles_and_texts_that_are_wrong() {
    let hi = || user(json!("hi"));
    refuses([
        (json!([]), "at least one message"),
        (json!([assistant(json!("x"))]), "first message"),
        (json!([hi(), hi()]), "alternate"),
        (json!([{"role": "system", "content": "x"}]), "user or assistant"),
        (json!([user(json!(""))]), "non-empty"),
        (json!([user(json!([]))]), "non-empty"),
        (json!([user(json!([text("  ")]))]), "non-empty"),
        (json!([user(Value::Null)]), "a text or an array"),
    ])
    .await;
}

#[tokio::test]
async fn refuses_results_that_do_not_match_their_calls() {
    let open = json!([user(json!("hi")), assistant(json!([call("a")]))]);
    let answered = json!([result("a")]);
    let empty = json!([{"type": "tool_result", "tool_use_id": "a", "content": ""}]);
    refuses([
        (open, "has no tool_result"),
        (round(&["a"], json!("no")), "has no tool_result"),
        (round(&["a"], json!([text("x"), result("a")])), "has no tool_result"),
        (round(&["a", "b"], answered.clone()), "has no tool_result"),
        (round(&["a", "b"], json!([result("b"), result("a")])), "in call order"),
        (round(&["a"], json!([result("a"), result("a")])), "no open tool_use"),
        (json!([user(answered)]), "no open tool_use"),
        (round(&["a"], empty), "non-empty"),
    ])
    .await;
}

#[tokio::test]
async fn refuses_assistant_blocks_that_are_wrong() {
    let said = |block: Value| json!([user(json!("hi")), assistant(json!([block])), user(json!([result("a")]))]);
    let twice = json!([result("a"), result("a")]);
    let mut again = round(&["a"], json!([result("a")]));
    let later = [assistant(json!([call("a")])), user(json!([result("a")]))];
    again.as_array_mut().unwrap().extend(later);
    refuses([
        (round(&["a", "a"], twice), "unique"),
        (again, "unique"),
        (round(&[""], json!([result("")])), "should match"),
        (said(json!({"type": "tool_use", "id": "a", "name": "nope", "input": {}})), "no tool `nope`"),
        (said(json!({"type": "tool_use", "id": "a", "name": "t", "input": "x"})), "an object is required"),
        (said(json!({"type": "thinking", "thinking": "x"})), "signature"),
        (said(result("a")), "not for the assistant"),
    ])
    .await;
}

#[tokio::test]
async fn refuses_members_that_are_wrong() {
    let tool = json!({"name": "t", "input_schema": {"type": "object"}});
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let cases = [
        ("temprature", json!(1), "extra inputs"),
        ("model", json!(""), "model"),
        ("max_tokens", json!(0), "max_tokens"),
        ("stream", json!(false), "stream"),
        ("messages", Value::Null, "messages"),
        ("system", json!([text("")]), "non-empty"),
        ("system", json!([marked, marked, marked, marked, marked]), "cache_control"),
        ("tools", json!([tool, tool]), "unique"),
        ("tools", json!([{"name": "a b", "input_schema": {"type": "object"}}]), "not a tool name"),
        ("tools", json!([{"name": "a"}]), "schema"),
    ];
    for (member, value, expected) in cases {
        let mut request = messages();
        request[member] = value;
        let found = violation("/v1/messages", &request).await;
        assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{member}: {found:?}");
    }
    assert!(violation("/v1/messages", &json!([])).await.is_some());
}

#[tokio::test]
async fn calls_need_tools_and_a_version_header() {
    let history = json!([user(json!("hi")), assistant(json!([call("a")])), user(json!([result("a")]))]);
    let mut request = messages();
    request["messages"] = history;
    assert!(violation("/v1/messages", &request).await.is_some());

    let server = ScriptedServer::start([Step::text("ok")]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.raw("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").await;
    assert_eq!(client.response().await.status, 400);
    assert!(server.violations()[0].contains("anthropic-version"));
}

#[tokio::test]
async fn a_tool_that_the_script_invented_may_stand_in_the_history() {
    let steps = [Step::call("nope", json!({})), Step::text("ok")];
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let tools = with_messages(json!([user(json!("hi"))]));
    assert_eq!(client.post("/v1/messages", &tools).await.status, 200);
    let unknown = json!({"type": "tool_use", "id": "call_1_0", "name": "nope", "input": {}});
    let history = json!([user(json!("hi")), assistant(json!([unknown])), user(json!([result("call_1_0")]))]);
    assert_eq!(client.post("/v1/messages", &with_messages(history)).await.status, 200);
}

#[tokio::test]
async fn checks_chat_completions() {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "t", "arguments": arguments}});
    let calls = |calls: Value| json!({"role": "assistant", "content": null, "tool_calls": calls});
    let tool = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let hi = || user(json!("hi"));
    let right = json!([
        {"role": "system", "content": "s"}, hi(), calls(json!([call("a", "{}"), call("b", "{}")])), tool("a"), tool("b"), hi()
    ]);
    let cases = [
        (right, None),
        (json!([]), Some("at least one message")),
        (json!([user(json!(""))]), Some("non-empty")),
        (json!([hi(), calls(json!([call("a", "{}")]))]), Some("has no tool message")),
        (json!([hi(), calls(json!([call("a", "{}")])), hi()]), Some("answered first")),
        (json!([hi(), calls(json!([call("a", "{}"), call("b", "{}")])), tool("b"), tool("a")]), Some("must come")),
        (json!([hi(), tool("a")]), Some("answers no call")),
        (json!([hi(), calls(json!([call("a", "{")])), tool("a")]), Some("no JSON object")),
        (json!([hi(), calls(json!([call("a", "{}"), call("a", "{}")]))]), Some("twice")),
        (json!([hi(), {"role": "assistant", "content": null}]), Some("non-empty")),
    ];
    for (history, expected) in cases {
        let mut request = chat();
        request["messages"] = history.clone();
        let found = violation("/v1/chat/completions", &request).await;
        match expected {
            None => assert_eq!(found, None),
            Some(expected) => {
                assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{found:?} for {history}");
            }
        }
    }
}
