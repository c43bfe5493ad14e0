//! Answers of servers that write something otherwise than their format says: what is shown, what is run, and what goes back to them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_llm::bench::{Format, Writer};
use agent_types::conversation::{Answer, Arguments, Block, CallId, Conversation, Input, Round, ToolCall, ToolResult};
use agent_types::llm::{LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_types::ports::LlmProvider;
use serde_json::{Value, json};
use std::sync::Arc;
use support::{Reply, Server, answered, anthropic, call, ids, openai, request, responses};

const FORMATS: [Format; 3] = [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses];

/// Sends this through the adapter of the format.
async fn asked(format: Format, reply: Reply) -> Result<(String, LlmResponse), LlmError> {
    let server = Server::start([reply]).await;
    let provider: Box<dyn LlmProvider> = match format {
        Format::Anthropic => Box::new(anthropic(&server)),
        Format::OpenAiChat => Box::new(openai(&server)),
        Format::OpenAiResponses => Box::new(responses(&server)),
    };
    call(&*provider).await
}

/// The same for a stream, in small pieces.
async fn streamed(format: Format, body: &str) -> Result<(String, LlmResponse), LlmError> {
    asked(format, Reply::stream(body.as_bytes(), 7)).await
}

async fn document(format: Format, body: &Value) -> Result<(String, LlmResponse), LlmError> {
    asked(format, Reply::document(200, "application/json", "", body.to_string().as_bytes())).await
}

/// The data of these events.
fn events(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn chunk(delta: &Value) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "delta": delta}]})
}

fn called(call: &Value) -> Value {
    chunk(&json!({"tool_calls": [call]}))
}

fn finished(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn completion(message: &Value, reason: &Value) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
}

fn calls(response: &LlmResponse) -> Vec<RawCall> {
    let blocks = response.blocks.iter();
    blocks
        .filter_map(|block| match block {
            ResponseBlock::Call(call) => Some(call.clone()),
            _ => None,
        })
        .collect()
}

/// Name and arguments of the calls that may run.
fn runnable(response: &LlmResponse) -> Vec<(String, String)> {
    let calls = calls(response).into_iter().filter(|call| call.complete);
    calls.map(|call| (call.name, call.arguments)).collect()
}

fn pair(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

/// A conversation with this answer, every call answered, as a session would keep it.
fn conversation(response: &LlmResponse) -> Conversation {
    answered(response).unwrap()
}

/// The body of the request that follows.
fn written(format: Format, host: &str, conversation: &Conversation) -> Value {
    let mut request = request("go");
    request.conversation = conversation.clone();
    serde_json::from_slice(&Writer::new(format, host).write(&request).unwrap()).unwrap()
}

/// What goes back of an answer, to the server that it came from.
fn returned(format: Format, response: &LlmResponse) -> Value {
    written(format, "127.0.0.1", &conversation(response))
}

#[tokio::test]
async fn members_of_a_call_that_only_its_server_knows_go_back_as_they_came() {
    let seal = |sign: &str| json!({"google": {"thought_signature": sign}});
    let first = json!({"index": 0, "id": "c1", "type": "function", "extra_content": seal("SIG1"),
        "function": {"name": "look", "arguments": "{\"a\"", "note": "n"}});
    let second =
        json!({"index": 1, "id": "c2", "function": {"name": "look", "arguments": "{}"}, "extra_content": null});
    let stream = events(&[
        chunk(&json!({"content": "", "extra_content": seal("MSG")})),
        called(&first),
        called(&json!({"index": 0, "function": {"arguments": ":1.50}"}})),
        called(&second),
        called(&json!({"index": 1, "extra_content": {"google": {"thought_signature": "SIG2"}, "x": 1}})),
        finished("tool_calls"),
    ]);
    let message = json!({"role": "assistant", "content": null, "extra_content": seal("MSG"), "tool_calls": [
        {"id": "c1", "type": "function", "extra_content": seal("SIG1"),
            "function": {"name": "look", "arguments": "{\"a\":1.50}", "note": "n"}},
        {"id": "c2", "function": {"name": "look", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "SIG2"}, "x": 1}}]});
    let outcomes = [
        streamed(Format::OpenAiChat, &stream).await.unwrap().1,
        document(Format::OpenAiChat, &completion(&message, &json!("tool_calls"))).await.unwrap().1,
    ];
    for response in outcomes {
        let body = returned(Format::OpenAiChat, &response);
        assert_eq!(
            body["messages"][2],
            json!({"role": "assistant", "content": null, "extra_content": seal("MSG"), "tool_calls": [
                {"id": "c1", "type": "function", "extra_content": seal("SIG1"),
                    "function": {"name": "look", "arguments": "{\"a\":1.50}", "note": "n"}},
                {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"},
                    "extra_content": {"google": {"thought_signature": "SIG2"}, "x": 1}}]})
        );
        // A server that knows no such members gets none from a session that came from another.
        for host in ["api.openai.com", "x.openai.azure.com", "api.mistral.ai", "api.groq.com"] {
            let body = written(Format::OpenAiChat, host, &conversation(&response)).to_string();
            assert!(!body.contains("extra_content") && !body.contains("note"), "{host}: {body}");
        }
    }
}

#[tokio::test]
async fn a_seal_of_the_message_goes_back_with_it() {
    let message = json!({"content": "Hello.", "thought_signature": "SIG", "provider_metadata": {"x": 1}});
    let outcomes = [
        streamed(Format::OpenAiChat, &events(&[chunk(&message), finished("stop")])).await.unwrap().1,
        document(Format::OpenAiChat, &completion(&message, &json!("stop"))).await.unwrap().1,
    ];
    for response in outcomes {
        let body = returned(Format::OpenAiChat, &response);
        assert_eq!(body["messages"][2], json!({"role": "assistant", "content": "Hello.", "thought_signature": "SIG"}));
    }
}

#[tokio::test]
async fn the_servers_own_end_without_a_reason_runs_calls_that_are_whole() {
    let first = called(&json!({"index": 0, "id": "a", "function": {"name": "list_files", "arguments": "{}"}}));
    let second =
        |arguments: &str| called(&json!({"index": 1, "id": "b", "function": {"name": "look", "arguments": arguments}}));
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}});
    for (arguments, expected) in [
        ("{\"a\":1}", vec![pair("list_files", "{}"), pair("look", "{\"a\":1}")]),
        ("null", vec![pair("list_files", "{}"), pair("look", "null")]),
        ("{\"a\":", vec![pair("list_files", "{}")]),
        ("", vec![pair("list_files", "{}")]),
    ] {
        let stream = events(&[first.clone(), second(arguments), usage.clone()]);
        let (_, response) = streamed(Format::OpenAiChat, &format!("{stream}data: [DONE]\n\n")).await.unwrap();
        assert_eq!(runnable(&response), expected, "{arguments}");
        // Without the end it is a cut, and nothing of it is used.
        let error = streamed(Format::OpenAiChat, &stream).await.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Protocol, "{error}");
    }
    for nothing in ["", &events(std::slice::from_ref(&usage)), &events(&[chunk(&json!({"reasoning_content": "hm"}))])] {
        let error = streamed(Format::OpenAiChat, &format!("{nothing}data: [DONE]\n\n")).await.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Protocol, "{error}");
        assert!(error.message.contains("ended before it was complete"), "{error}");
    }
    let text = events(&[chunk(&json!({"content": "Hello."}))]);
    let (shown, _) = streamed(Format::OpenAiChat, &format!("{text}data: [DONE]\n\n")).await.unwrap();
    assert_eq!(shown, "Hello.");
}

/// Streams and documents of each format with one call of these arguments, a JSON value.
fn with_arguments(format: Format, arguments: &Value) -> (String, Value) {
    match format {
        Format::Anthropic => {
            let block = json!({"type": "tool_use", "id": "c", "name": "look", "input": arguments});
            let open = if arguments.is_string() {
                json!({"type": "tool_use", "id": "c", "name": "look", "input": {}})
            } else {
                block.clone()
            };
            let mut all = vec![
                json!({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": open}),
            ];
            if arguments.is_string() {
                all.push(json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": arguments}}));
            }
            all.extend([
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
                json!({"type": "message_stop"}),
            ]);
            (events(&all), json!({"type": "message", "model": "m", "content": [block], "stop_reason": "tool_use"}))
        }
        Format::OpenAiChat => {
            let call = json!({"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}});
            let stream = events(&[called(&call), finished("tool_calls")]);
            (stream, completion(&json!({"content": null, "tool_calls": [call]}), &json!("tool_calls")))
        }
        Format::OpenAiResponses => {
            let item = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": arguments, "status": "completed"});
            let response = json!({"model": "m", "status": "completed", "output": [item]});
            (events(&[json!({"type": "response.completed", "response": response})]), response)
        }
    }
}

#[tokio::test]
async fn arguments_of_null_are_none() {
    for format in FORMATS {
        for arguments in [json!("null"), Value::Null] {
            let (stream, whole) = with_arguments(format, &arguments);
            let mut outcomes = vec![streamed(format, &stream).await.unwrap().1];
            // A document of this format has the object itself.
            if !(format == Format::Anthropic && arguments.is_string()) {
                outcomes.push(document(format, &whole).await.unwrap().1);
            }
            for response in outcomes {
                let [call] = &calls(&response)[..] else { panic!("{response:?}") };
                assert!(call.complete, "{format:?} {arguments}");
                assert_eq!(Arguments::parse(&call.arguments).unwrap(), Arguments::empty(), "{format:?} {arguments}");
                let body = returned(format, &response).to_string();
                assert!(!body.contains("\"arguments\":\"null\"") && !body.contains("\"input\":null"), "{body}");
            }
        }
    }
}

#[tokio::test]
async fn tokens_are_counted_wherever_they_stand() {
    let usage = json!({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 47});
    let mut last = finished("stop");
    last["choices"][0]["usage"] = usage.clone();
    let (_, response) =
        streamed(Format::OpenAiChat, &events(&[chunk(&json!({"content": "Hello."})), last])).await.unwrap();
    let counted = response.usage.unwrap();
    assert_eq!((counted.context_tokens(), counted.output_tokens), (35, 12));

    // Thinking that stands in the total only.
    let mut whole = completion(&json!({"content": "Hello."}), &json!("stop"));
    whole["usage"] = json!({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109});
    let (_, response) = document(Format::OpenAiChat, &whole).await.unwrap();
    assert_eq!(response.usage.unwrap().output_tokens, 74);
    let message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]});
    let whole = json!({"status": "completed", "output": [message],
        "usage": {"input_tokens": 35, "output_tokens": 12, "total_tokens": 109}});
    let (_, response) = document(Format::OpenAiResponses, &whole).await.unwrap();
    assert_eq!(response.usage.unwrap().output_tokens, 74);
}

#[tokio::test]
async fn an_answer_that_goes_on_with_code_of_the_models_is_whole_at_its_start() {
    let content = json!([
        {"type": "text", "text": "Again."},
        {"type": "tool_use", "id": "t2", "name": "look", "input": {"p": 1},
            "caller": {"type": "code_execution_20250825", "tool_id": "s1"}},
    ]);
    let message = json!({"model": "m", "content": content, "stop_reason": "tool_use",
        "container": {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}, "usage": {"input_tokens": 1, "output_tokens": 2}});
    let stream = events(&[json!({"type": "message_start", "message": message}), json!({"type": "message_stop"})]);
    let (shown, response) = streamed(Format::Anthropic, &stream).await.unwrap();
    assert_eq!((shown.as_str(), &response.stop), ("Again.", &StopReason::ToolUse));
    assert_eq!(runnable(&response), [pair("look", "{\"p\":1}")]);
    assert_eq!(document(Format::Anthropic, &message).await.unwrap().1.blocks, response.blocks);

    let body = returned(Format::Anthropic, &response);
    assert_eq!(body["container"], "container_1");
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "text", "text": "Again."}, {"type": "tool_use", "id": "t2", "name": "look", "input": {"p": 1},
            "caller": {"type": "code_execution_20250825", "tool_id": "s1"}}])
    );
    // A turn that has ended leaves the container: it may be gone by the next one.
    let mut later = conversation(&response);
    later.push_answer(Answer::new(vec![Block::Text("Done.".to_owned())]).unwrap()).unwrap();
    later.push_input(Input::new(vec!["next".into()]).unwrap());
    assert_eq!(written(Format::Anthropic, "api.anthropic.com", &later).get("container"), None);
}

#[tokio::test]
async fn the_container_may_come_with_the_end() {
    let (stream, _) = with_arguments(Format::Anthropic, &json!("{}"));
    let stream =
        stream.replace("\"stop_reason\":\"tool_use\"", "\"stop_reason\":\"tool_use\",\"container\":{\"id\":\"k\"}");
    let (_, response) = streamed(Format::Anthropic, &stream).await.unwrap();
    assert_eq!(returned(Format::Anthropic, &response)["container"], "k");
    // An answer that says nothing stays one.
    let empty = json!({"type": "message", "content": [], "stop_reason": "end_turn", "container": {"id": "k"}});
    assert_eq!(document(Format::Anthropic, &empty).await.unwrap().1.blocks, []);
}

#[tokio::test]
async fn citations_keep_the_nulls_that_a_request_must_have() {
    let cited = |kind: &str, title: &str| json!({"type": kind, title: null, "cited_text": "c", "file_id": null});
    let citations = json!([
        cited("char_location", "document_title"),
        cited("page_location", "document_title"),
        cited("content_block_location", "document_title"),
        cited("web_search_result_location", "title"),
        cited("search_result_location", "title"),
    ]);
    let kept = |kind: &str, title: &str| json!({"type": kind, title: null, "cited_text": "c"});
    let expected = json!([
        kept("char_location", "document_title"),
        kept("page_location", "document_title"),
        kept("content_block_location", "document_title"),
        kept("web_search_result_location", "title"),
        kept("search_result_location", "title"),
    ]);
    let mut stream = vec![
        json!({"type": "message_start", "message": {"model": "m"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Green.", "citations": null}}),
    ];
    stream.extend(citations.as_array().unwrap().iter().map(|citation| {
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}})
    }));
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    stream.extend([json!({"type": "content_block_stop", "index": 0}), end, json!({"type": "message_stop"})]);
    let whole = json!({"type": "message", "content": [{"type": "text", "text": "Green.", "citations": citations}], "stop_reason": "end_turn"});
    let outcomes = [
        streamed(Format::Anthropic, &events(&stream)).await.unwrap().1,
        document(Format::Anthropic, &whole).await.unwrap().1,
    ];
    for response in outcomes {
        let body = returned(Format::Anthropic, &response);
        assert_eq!(body["messages"][1]["content"], json!([{"type": "text", "text": "Green.", "citations": expected}]));
    }
}

#[tokio::test]
async fn blanks_between_texts_are_said_and_left_out_where_they_are_refused() {
    let texts = ["The grass is green.", " ", "The sky is blue.", "\n\n", "So it is."];
    let whole = texts.concat();
    let text = |text: &str| json!({"type": "text", "text": text});
    let blocks: Vec<Value> = texts.iter().map(|part| text(part)).collect();
    let message = json!({"type": "message", "content": blocks, "stop_reason": "end_turn"});
    let mut stream = vec![json!({"type": "message_start", "message": {"model": "m"}})];
    for (index, part) in texts.iter().enumerate() {
        stream.extend([
            json!({"type": "content_block_start", "index": index, "content_block": text("")}),
            json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": part}}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    stream.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
    stream.push(json!({"type": "message_stop"}));
    let (shown, answer) = streamed(Format::Anthropic, &events(&stream)).await.unwrap();
    assert_eq!(shown, whole);
    assert_eq!(document(Format::Anthropic, &message).await.unwrap().1.blocks, answer.blocks);
    let kept = conversation(&answer);
    let agent_types::conversation::Item::Answer(said) = kept.last().unwrap().as_ref() else { panic!() };
    assert_eq!(said.text(), whole);
    let sent: Vec<Value> = texts.iter().filter(|part| !part.trim().is_empty()).map(|part| text(part)).collect();
    assert_eq!(written(Format::Anthropic, "", &kept)["messages"][1]["content"], json!(sent));
    assert_eq!(written(Format::OpenAiChat, "", &kept)["messages"][2]["content"], whole);
    assert_eq!(written(Format::OpenAiResponses, "", &kept)["input"][1]["content"], whole);

    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let parts: Vec<Value> = texts.iter().map(|text| part(text)).collect();
    let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts});
    let (_, answer) =
        document(Format::OpenAiResponses, &json!({"status": "completed", "output": [item]})).await.unwrap();
    assert_eq!(returned(Format::OpenAiResponses, &answer)["input"][1], item, "as it came");

    // Blanks alone are said by none.
    let (_, answer) = streamed(
        Format::OpenAiChat,
        &events(&[
            chunk(&json!({"content": "\n\n"})),
            called(&json!({"id": "c", "function": {"name": "look", "arguments": "{}"}})),
            finished("tool_calls"),
        ]),
    )
    .await
    .unwrap();
    assert_eq!(returned(Format::OpenAiChat, &answer)["messages"][2]["content"], Value::Null);
    let plain = returned(Format::OpenAiResponses, &answer);
    assert_eq!(plain["input"][1]["type"], "function_call", "{plain}");
}

#[tokio::test]
async fn what_follows_a_finished_answer_does_not_take_it_back() {
    let whole = |format: Format| match format {
        Format::Anthropic => events(&[
            json!({"type": "message_start", "message": {"model": "m", "content": [{"type": "text", "text": "Hello."}]}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            json!({"type": "message_stop"}),
        ]),
        Format::OpenAiChat => events(&[
            chunk(&json!({"content": "Hello."})),
            finished("stop"),
            json!({"choices": [], "usage": {"prompt_tokens": 3}}),
        ]),
        Format::OpenAiResponses => {
            events(&[json!({"type": "response.completed", "response": {"status": "completed", "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "Hello."}]}]}})])
        }
    };
    for format in FORMATS {
        let (_, plain) = streamed(format, &whole(format)).await.unwrap();
        for tail in [
            "data: [DONE]\n\n",
            "data: [DONE] \n\n",
            "data:  [DONE]\t\r\n\r\n",
            "data: <html>\n\n",
            "data: {\"type\":\n\ndata: [DONE] \n\n",
            "data: \u{fffd}\n\n",
            "data: {\"error\":{\"message\":\"too late\",\"type\":\"server_error\"}}\n\n",
            "event: error\ndata: too late\n\n",
            "error: {\"message\":\"too late\"}\n\n",
            "garbage",
        ] {
            let (_, answer) = streamed(format, &format!("{}{tail}", whole(format))).await.unwrap();
            assert_eq!(answer, plain, "{format:?} {tail:?}");
        }
    }
    // What comes behind the garbage still counts.
    let stream = events(&[chunk(&json!({"content": "Hello."})), finished("stop")]);
    let usage = events(&[json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}})]);
    let (_, answer) = streamed(Format::OpenAiChat, &format!("{stream}data: <html>\n\n{usage}")).await.unwrap();
    assert_eq!(answer.usage.unwrap().context_tokens(), 3);
}

#[tokio::test]
async fn an_error_outside_of_the_protocol_is_told_with_its_text() {
    let begun = events(&[chunk(&json!({"content": "Hel"}))]);
    for tail in [
        "error: {\"error\":{\"message\":\"failed to decode the batch\"}}\n\n",
        "error: {\"code\":500,\"message\":\"failed to decode the batch\",\"type\":\"server_error\"}\n\n",
        "error: failed to decode the batch\n\n",
        "error: {\"code\":500,\"message\":\"failed to decode the batch\"}",
        "event: error\ndata: {\"message\":\"failed to decode the batch\"}\n\n",
        "event: error\ndata: failed to decode the batch\n\n",
    ] {
        let error = streamed(Format::OpenAiChat, &format!("{begun}{tail}")).await.unwrap_err();
        assert!(
            error.message.contains("the server ended the answer with an error: failed to decode the batch"),
            "{tail}: {error}"
        );
        assert_eq!(error.kind, LlmErrorKind::Server, "{tail}: {error}");
        assert!(error.partial.is_some(), "what had come is paid for");
    }
    for words in [
        "failed to decode, try again, increasing context size",
        "the request exceeds the available context size, try increasing it",
        "Context size has been exceeded.",
    ] {
        for tail in
            [json!({"error": {"message": words}}), json!({"code": 500, "message": words, "type": "server_error"})]
        {
            for format in FORMATS {
                let error = streamed(format, &format!("error: {tail}\n\n")).await.unwrap_err();
                assert_eq!(error.kind, LlmErrorKind::ContextOverflow, "{format:?} {tail}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn documents_of_every_kind_of_server() {
    let chat = |whole: Value| async move { document(Format::OpenAiChat, &whole).await.unwrap().1 };
    // An empty delta beside the message.
    let mut whole = completion(&json!({"content": "Hello."}), &json!("stop"));
    whole["choices"][0]["delta"] = json!({"role": "assistant", "content": ""});
    assert_eq!(chat(whole).await.blocks, [ResponseBlock::Text("Hello.".to_owned())]);
    // No reason, or an empty one.
    for reason in [json!(""), Value::Null] {
        let answer = chat(completion(&json!({"content": "Hello."}), &reason)).await;
        assert_eq!(answer.blocks, [ResponseBlock::Text("Hello.".to_owned())], "{reason}");
        let call = json!({"id": "c", "function": {"name": "look", "arguments": "{}"}});
        let answer = chat(completion(&json!({"tool_calls": [call]}), &reason)).await;
        assert_eq!(runnable(&answer), [pair("look", "{}")], "{reason}");
        let error = document(Format::OpenAiChat, &completion(&json!({"content": ""}), &reason)).await.unwrap_err();
        assert!(error.message.contains("found other JSON"), "{error}");
    }
    // Reasoning beside an empty one.
    let answer =
        chat(completion(&json!({"reasoning_content": "", "reasoning": "hm", "content": "Hello."}), &json!("stop")))
            .await;
    assert_eq!(answer.blocks[0], ResponseBlock::Thinking { text: "hm".to_owned(), signature: None });
    // Every element is a call of its own, whatever it is called.
    let call = |id: Value, index: Value, arguments: &str| json!({"id": id, "index": index, "function": {"name": "look", "arguments": arguments}});
    for (id, index) in
        [(Value::Null, Value::Null), (json!(""), Value::Null), (json!("x"), json!(0)), (json!(""), json!(0))]
    {
        let list = json!([call(id.clone(), index.clone(), "{}"), call(id.clone(), index.clone(), "{\"b\":2}")]);
        let answer = chat(completion(&json!({"tool_calls": list}), &json!("tool_calls"))).await;
        assert_eq!(runnable(&answer), [pair("look", "{}"), pair("look", "{\"b\":2}")], "{id} {index}");
    }
}

#[tokio::test]
async fn calls_without_ids_stay_several_in_a_stream() {
    let bare = |name: &str, arguments: &str| json!({"function": {"name": name, "arguments": arguments}});
    let expected = [pair("look", "{}"), pair("find", "{\"pattern\":\"*\"}")];
    for stream in [
        vec![chunk(&json!({"tool_calls": [bare("look", "{}"), bare("find", "{\"pattern\":\"*\"}")]}))],
        vec![called(&bare("look", "{}")), called(&bare("find", "{\"pattern\":\"*\"}"))],
        vec![called(&bare("look", "{}")), called(&bare("find", "{\"pattern\"")), called(&bare("find", ":\"*\"}"))],
    ] {
        let stream = events(&[stream, vec![finished("tool_calls")]].concat());
        let (_, answer) = streamed(Format::OpenAiChat, &stream).await.unwrap();
        assert_eq!(runnable(&answer), expected, "{stream}");
    }
    // A server that numbers every call 0, without ids.
    let zero =
        |name: &str, arguments: &str| json!({"index": 0, "id": "", "function": {"name": name, "arguments": arguments}});
    let stream = [
        called(&zero("look", "{}")),
        called(&zero("look", "")),
        called(&zero("find", "{\"pattern\":\"*\"}")),
        finished("stop"),
    ];
    let (_, answer) = streamed(Format::OpenAiChat, &events(&stream)).await.unwrap();
    assert_eq!(runnable(&answer), expected);
}

#[tokio::test]
async fn the_call_of_old_servers_and_the_call_of_no_function() {
    let piece = |name: Value, arguments: &str| chunk(&json!({"function_call": {"name": name, "arguments": arguments}}));
    let stream = events(&[piece(json!("look"), "{\"a\""), piece(Value::Null, ":1}"), finished("function_call")]);
    let message = json!({"content": null, "function_call": {"name": "look", "arguments": "{\"a\":1}"}});
    let outcomes = [
        streamed(Format::OpenAiChat, &stream).await.unwrap().1,
        document(Format::OpenAiChat, &completion(&message, &json!("function_call"))).await.unwrap().1,
    ];
    for answer in outcomes {
        assert_eq!((runnable(&answer), &answer.stop), (vec![pair("look", "{\"a\":1}")], &StopReason::ToolUse));
        let body = returned(Format::OpenAiChat, &answer);
        assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["name"], "look");
        assert_eq!(body["messages"][3]["tool_call_id"], body["messages"][2]["tool_calls"][0]["id"]);
    }
    // One that writes it in both places means one call.
    let call = json!({"id": "c", "function": {"name": "look", "arguments": "{}"}});
    let both = json!({"tool_calls": [call], "function_call": {"name": "look", "arguments": "{}"}});
    let (_, answer) = document(Format::OpenAiChat, &completion(&both, &json!("tool_calls"))).await.unwrap();
    assert_eq!(runnable(&answer), [pair("look", "{}")]);
    let custom = json!({"id": "c", "type": "custom", "custom": {"name": "apply", "input": "some words"}});
    let (_, answer) = document(Format::OpenAiChat, &completion(&json!({"tool_calls": [custom]}), &json!("tool_calls")))
        .await
        .unwrap();
    assert_eq!(runnable(&answer), [pair("apply", "some words")]);
}

#[tokio::test]
async fn halves_of_a_character_in_two_pieces_are_joined() {
    // `json!` cannot write half a character.
    let halves = |template: &str| {
        let piece = |half: &str| template.replace("PIECE", half);
        [piece("a \\ud83d"), piece("\\ude00 b")]
    };
    let stream = |before: &str, pieces: &[String], after: &str| {
        let pieces: String = pieces.iter().map(|piece| format!("data: {piece}\n\n")).collect();
        format!("{before}{pieces}{after}")
    };
    let chat =
        |member: &str| halves(&format!("{{\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{{member}}}}}]}}"));
    let end = events(&[finished("stop")]);
    let text = chat("\"content\":\"PIECE\"");
    for member in [
        "\"content\":\"PIECE\"",
        "\"refusal\":\"PIECE\"",
        "\"reasoning_content\":\"PIECE\"",
        "\"reasoning\":\"PIECE\"",
        "\"content\":[{\"type\":\"text\",\"text\":\"PIECE\"}]",
    ] {
        let (shown, answer) = streamed(Format::OpenAiChat, &stream("", &chat(member), &end)).await.unwrap();
        let said = match &answer.blocks[..] {
            [ResponseBlock::Text(said)] => {
                assert_eq!(&shown, said, "{member}");
                said
            }
            [ResponseBlock::Thinking { text, .. }] => text,
            other => panic!("{member}: {other:?}"),
        };
        assert_eq!(said, "a \u{1F600} b", "{member}");
    }
    let arguments = halves(
        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"x\",\"arguments\":\"PIECE\"}}]}}]}",
    );
    let (_, answer) = streamed(Format::OpenAiChat, &stream("", &arguments, &end)).await.unwrap();
    assert_eq!(calls(&answer)[0].arguments, "a \u{1F600} b");
    let details = chat("\"reasoning_details\":[{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"PIECE\"}]");
    let (_, answer) = streamed(Format::OpenAiChat, &stream("", &details, &end)).await.unwrap();
    let [ResponseBlock::Thinking { text: said, signature: Some(seal) }] = &answer.blocks[..] else {
        panic!("{answer:?}")
    };
    assert!(said == "a \u{1F600} b" && seal.contains(said.as_str()), "{answer:?}");
    assert!(streamed(Format::OpenAiChat, &stream("", &details[..1], &end)).await.is_err());
    // Half of one at the end, or with something else behind it, is not left out.
    for wrong in [
        &text[..1],
        &[text[0].clone(), text[0].clone()],
        &[text[0].clone(), chunk(&json!({"content": "x"})).to_string()],
    ] {
        let error = streamed(Format::OpenAiChat, &stream("", wrong, &end)).await.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Protocol, "{error}");
    }

    let start = |block: Value| {
        events(&[
            json!({"type": "message_start", "message": {"model": "m"}}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
        ])
    };
    let end = events(&[
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]);
    let delta =
        |member: &str| halves(&format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{{member}}}}}"));
    let pieces = delta("\"type\":\"text_delta\",\"text\":\"PIECE\"");
    let (shown, _) =
        streamed(Format::Anthropic, &stream(&start(json!({"type": "text", "text": ""})), &pieces, &end)).await.unwrap();
    assert_eq!(shown, "a \u{1F600} b");
    assert!(
        streamed(Format::Anthropic, &stream(&start(json!({"type": "text", "text": ""})), &pieces[..1], &end))
            .await
            .is_err()
    );
    let pieces = delta("\"type\":\"input_json_delta\",\"partial_json\":\"PIECE\"");
    let (_, answer) = streamed(
        Format::Anthropic,
        &stream(&start(json!({"type": "tool_use", "id": "t", "name": "x"})), &pieces, &end),
    )
    .await
    .unwrap();
    assert_eq!(calls(&answer)[0].arguments, "a \u{1F600} b");

    let added = events(&[
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "m"}}),
    ]);
    let pieces =
        halves("{\"type\":\"response.output_text.delta\",\"output_index\":0,\"item_id\":\"m\",\"delta\":\"PIECE\"}");
    let end = events(&[json!({"type": "response.completed", "response": {"status": "completed", "output": []}})]);
    let (shown, answer) = streamed(Format::OpenAiResponses, &stream(&added, &pieces, &end)).await.unwrap();
    assert_eq!(
        (shown.as_str(), &answer.blocks[..]),
        ("a \u{1F600} b", &[ResponseBlock::Text("a \u{1F600} b".to_owned())][..])
    );
    assert!(streamed(Format::OpenAiResponses, &stream(&added, &pieces[..1], &end)).await.is_err());
}

#[tokio::test]
async fn the_content_type_may_be_wrong() {
    for format in FORMATS {
        let (stream, whole) = with_arguments(format, &json!({"a": 1}));
        let expected = streamed(format, &stream).await.unwrap().1;
        for start in ["", ": a comment\n\n", "\u{feff}", "\n\n", "id: 1\n"] {
            let body = format!("{start}{stream}");
            for kind in ["application/json", "application/json; charset=utf-8", "text/plain"] {
                let reply = Reply::document(200, kind, "", body.as_bytes());
                let (_, answer) = asked(format, reply).await.unwrap();
                assert_eq!(answer, expected, "{format:?} {start:?} {kind}");
            }
        }
        let (_, whole_answer) = document(format, &whole).await.unwrap();
        for (piece_bytes, blanks) in [(3, ""), (1000, "\n "), (1, "  ")] {
            let body = format!("{blanks}{whole}");
            let (_, answer) = asked(format, Reply::stream(body.as_bytes(), piece_bytes)).await.unwrap();
            assert_eq!(answer, whole_answer, "{format:?}: a document that is said to be a stream");
        }
        // A cut is a cut in either.
        let cut = stream.len() / 2;
        let reply = Reply::document(200, "application/json", "", &stream.as_bytes()[..cut]);
        assert_eq!(asked(format, reply).await.unwrap_err().kind, LlmErrorKind::Protocol);
        let error =
            document(format, &json!({"error": {"message": "busy", "type": "overloaded_error"}})).await.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Overloaded);
    }
}

#[tokio::test]
async fn a_call_of_the_servers_own_that_a_cut_left_without_its_result_goes() {
    let call = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    let text = json!({"type": "text", "text": "I look."});
    let message = |content: Value, stop: &str| json!({"type": "message", "content": content, "stop_reason": stop});
    let blocks = |body: &Value| body["messages"][1]["content"].clone();
    for stop in ["max_tokens", "model_context_window_exceeded", "end_turn", "stop_sequence"] {
        let (_, answer) = document(Format::Anthropic, &message(json!([text, call]), stop)).await.unwrap();
        assert_eq!(blocks(&returned(Format::Anthropic, &answer)), json!([text]), "{stop}");
        let whole = json!([text, call, result, text]);
        let (_, answer) = document(Format::Anthropic, &message(whole.clone(), stop)).await.unwrap();
        assert_eq!(blocks(&returned(Format::Anthropic, &answer)), whole, "{stop}");
    }
    // A pause is continued with it; when the user says something else instead, it goes.
    let (_, answer) = document(Format::Anthropic, &message(json!([text, call]), "pause_turn")).await.unwrap();
    let mut paused = conversation(&answer);
    assert_eq!(blocks(&written(Format::Anthropic, "", &paused)), json!([text, call]));
    paused.push_input(Input::new(vec!["never mind".into()]).unwrap());
    assert_eq!(blocks(&written(Format::Anthropic, "", &paused)), json!([text]));
    // One whose code calls a tool from here waits for that.
    let caller = json!({"type": "code_execution_20250825", "tool_id": "s1"});
    let wanted = json!([text, call, {"type": "tool_use", "id": "t1", "name": "look", "input": {}, "caller": caller}]);
    let (_, answer) = document(Format::Anthropic, &message(wanted.clone(), "tool_use")).await.unwrap();
    assert_eq!(blocks(&returned(Format::Anthropic, &answer)), wanted);

    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]});
    let search = |status: &str| json!({"type": "web_search_call", "id": "ws_1", "status": status});
    for (status, stays) in [("in_progress", 1), ("searching", 1), ("completed", 2)] {
        let cut = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [said, search(status)]});
        let (_, answer) = document(Format::OpenAiResponses, &cut).await.unwrap();
        assert_eq!(answer.blocks.len(), stays, "{status}: {answer:?}");
    }
}

#[tokio::test]
async fn a_call_from_here_that_is_no_function_is_answered() {
    let custom = json!({"type": "custom_tool_call", "id": "ct", "call_id": "c1", "name": "apply_patch", "input": "*** Begin", "status": "completed"});
    let shell = json!({"type": "local_shell_call", "id": "ls", "call_id": "c2", "action": {"command": ["ls"]}, "status": "completed"});
    let message = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Done."}]});
    let response = |output: Value| json!({"status": "completed", "output": output});
    let (_, answer) = document(Format::OpenAiResponses, &response(json!([message, custom, shell]))).await.unwrap();
    assert_eq!(answer.stop, StopReason::ToolUse);
    let seen: Vec<(String, String)> = calls(&answer).into_iter().map(|call| (call.id, call.name)).collect();
    assert_eq!(seen, [pair("c1", "apply_patch"), pair("c2", "local_shell_call")]);
    let body = returned(Format::OpenAiResponses, &answer);
    assert_eq!(
        body["input"][2],
        json!({"type": "function_call", "call_id": "c1", "name": "apply_patch", "arguments": "{}"})
    );
    assert_eq!(body["input"][4], json!({"type": "function_call_output", "call_id": "c1", "output": "seen"}));
    assert_eq!(body["input"][5]["call_id"], "c2");
    // What the server ran itself goes back as it came: the model went on, or its output stands there.
    for output in [
        json!([custom, message]),
        json!([custom, {"type": "custom_tool_call_output", "call_id": "c1", "output": "x"}]),
        json!([{"type": "web_search_call", "id": "ws", "status": "completed"}]),
    ] {
        let (_, answer) = document(Format::OpenAiResponses, &response(output.clone())).await.unwrap();
        assert_eq!(calls(&answer), [], "{output}");
        assert_eq!(
            returned(Format::OpenAiResponses, &answer)["input"].as_array().unwrap()[1..],
            *output.as_array().unwrap()
        );
    }
}

#[test]
fn ids_of_calls_stay_different_short_enough_and_the_same() {
    let long = "x".repeat(200);
    let given =
        ["a.b", "a:b", "a_b", "functions.read:0", &long, &format!("{long}1"), &format!("{long}2"), "é", "toolu_01"];
    let mut conversation = Conversation::new();
    let mut before: Vec<Vec<String>> = vec![Vec::new(); 5];
    for id in given {
        conversation.push_input(Input::new(vec!["go".into()]).unwrap());
        let call = ToolCall { id: CallId::new(id), name: Arc::from("look"), arguments: Arguments::empty() };
        let answer = Answer::new(vec![Block::Call(call)]).unwrap();
        conversation
            .push_round(Round::new(answer, vec![ToolResult::new(CallId::new(id), "seen", false)]).unwrap())
            .unwrap();
        let servers = [
            (Format::Anthropic, "api.anthropic.com", 128),
            (Format::OpenAiChat, "api.openai.com", 40),
            (Format::OpenAiChat, "api.mistral.ai", 9),
            (Format::OpenAiChat, "127.0.0.1", usize::MAX),
            (Format::OpenAiResponses, "api.openai.com", 64),
        ];
        for ((format, host, limit_bytes), before) in servers.into_iter().zip(&mut before) {
            let (calls, results) = ids(format, &written(format, host, &conversation));
            assert_eq!(calls, results, "{host}");
            assert_eq!(calls.iter().collect::<std::collections::BTreeSet<_>>().len(), calls.len(), "{host}: {calls:?}");
            assert!(calls.iter().all(|id| id.len() <= limit_bytes), "{host}: {calls:?}");
            assert_eq!(calls[..before.len()], before[..], "{host}: other ids than in the request before");
            let is_plain = |id: &String| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
            assert!(format != Format::Anthropic || calls.iter().all(is_plain), "{calls:?}");
            *before = calls;
        }
    }
    assert_eq!(before[3], given, "a server that is not known gets its own ids back as they came");
}

#[tokio::test]
async fn an_answer_of_blanks_and_of_what_belongs_to_a_text_is_one_of_blanks() {
    let chat = json!({"content": " \n", "extra_content": {"google": {"thought_signature": "S"}}, "annotations": [{"url": "u"}]});
    let anthropic = json!({"type": "message", "stop_reason": "end_turn", "container": {"id": "k"}, "content": [{"type": "text", "text": " \n"}]});
    let message = json!({"type": "message", "id": "m", "content": [{"type": "output_text", "text": " \n"}]});
    for (format, whole) in [
        (Format::OpenAiChat, completion(&chat, &json!("stop"))),
        (Format::Anthropic, anthropic),
        (Format::OpenAiResponses, json!({"status": "completed", "output": [message]})),
    ] {
        let (_, answer) = document(format, &whole).await.unwrap();
        // Anything beside it would be taken for something that was said.
        assert_eq!(answer.blocks, [ResponseBlock::Text(" \n".to_owned())], "{format:?}");
    }
}
