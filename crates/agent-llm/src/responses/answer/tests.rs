//! Tests of reading Responses answers.

#![expect(clippy::needless_pass_by_value, reason = "`json!` is written in place")]

use super::*;
use crate::responses::DIALECT;
use proptest::prelude::*;
use serde_json::{Value, json};

fn assembled(events: &[Value]) -> Result<(LlmResponse, Vec<Delta>), Broken> {
    let mut assembly = Assembly::default();
    let mut deltas = VecDeque::new();
    for event in events {
        assembly.event(event.to_string().as_bytes(), &mut deltas)?;
    }
    assert_eq!(assembly.progress(), Progress::Ended);
    Ok((assembly.finish(), deltas.into()))
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn piece(kind: &str, index: u64, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "delta": delta})
}

fn ended(status: &str, reason: Value, output: Value) -> Value {
    let response = json!({
        "status": status, "incomplete_details": {"reason": reason}, "output": output, "model": "m",
        "usage": {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}},
    });
    json!({"type": format!("response.{status}"), "response": response})
}

fn call(arguments: &str, status: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": arguments, "status": status})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
}

fn completeness(response: &LlmResponse) -> Vec<bool> {
    let calls = response.blocks.iter().filter_map(|block| match block {
        ResponseBlock::Call(call) => Some(call.complete),
        _ => None,
    });
    calls.collect()
}

#[test]
fn the_end_brings_the_answer_and_the_pieces_are_shown() {
    let (response, deltas) = assembled(&[
        added(0, json!({"type": "message", "id": "msg_1"})),
        piece("output_text", 0, "he"),
        piece("output_text", 0, "llo"),
        ended("completed", Value::Null, json!([message("hello")])),
    ])
    .unwrap();
    assert_eq!(deltas, [Delta::Text("he".to_owned()), Delta::Text("llo".to_owned())]);
    let [ResponseBlock::Text(text), ResponseBlock::Opaque { json, .. }] = response.blocks.as_slice() else {
        panic!("{response:?}")
    };
    assert_eq!(text, "hello");
    assert!(json.contains("msg_1") && json.contains("final_answer") && !json.contains("hello"), "{json}");
    assert_eq!((response.stop, response.model.as_str()), (StopReason::EndTurn, "m"));
    let usage = Usage { input_tokens: 6, output_tokens: 2, cache_read_tokens: 4, cache_write_tokens: 0 };
    assert_eq!(response.usage, Some(usage));
}

#[test]
fn a_server_that_leaves_the_output_out_at_the_end_is_understood_by_its_items() {
    let (response, deltas) = assembled(&[
        added(0, json!({"type": "reasoning", "id": "rs_1"})),
        done(0, json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"})),
        done(1, json!({"type": "message", "content": [{"type": "output_text", "text": "not in pieces"}]})),
        added(2, call("", "in_progress")),
        piece("function_call_arguments", 2, "{\"a\""),
        piece("function_call_arguments", 2, ":1}"),
        done(2, call("{\"a\":1}", "completed")),
        ended("completed", Value::Null, json!([])),
    ])
    .unwrap();
    assert_eq!(deltas, [Delta::Text("not in pieces".to_owned())]);
    assert_eq!(completeness(&response), [true]);
    assert_eq!(response.stop, StopReason::ToolUse);
    assert!(matches!(&response.blocks[0], ResponseBlock::Thinking { text, signature: Some(_) } if text.is_empty()));
    assert_eq!(response.blocks.len(), 3);
}

#[test]
fn a_cut_call_is_never_complete_wherever_the_cut_is_told() {
    let cut = |events: &[Value]| {
        let (response, _) = assembled(events).unwrap();
        assert_eq!(response.stop, StopReason::MaxTokens);
        completeness(&response)
    };
    let limit = json!("max_output_tokens");
    let whole = || call("{}", "completed");
    assert_eq!(cut(&[ended("incomplete", limit.clone(), json!([whole()]))]), [false]);
    assert_eq!(cut(&[ended("incomplete", limit.clone(), json!([whole(), whole()]))]), [true, false]);
    assert_eq!(cut(&[ended("incomplete", limit.clone(), json!([call("{\"a", "completed"), message("x")]))]), [false]);
    let unfinished = [added(0, call("", "in_progress")), piece("function_call_arguments", 0, "{}")];
    assert_eq!(cut(&[&unfinished[..], &[ended("incomplete", limit, json!([]))]].concat()), [false]);
    // Also when the server counts the answer as complete.
    let (response, _) = assembled(&[ended("completed", Value::Null, json!([call("{}", "incomplete")]))]).unwrap();
    assert_eq!(completeness(&response), [false]);
}

#[test]
fn an_answer_of_just_the_limit_is_taken_for_a_cut_one() {
    let stop = |limit_tokens: u32| {
        let mut assembly = Assembly::within(limit_tokens);
        let event = ended("completed", Value::Null, json!([call("{}", "completed")])).to_string();
        assembly.event(event.as_bytes(), &mut VecDeque::new()).unwrap();
        let response = assembly.finish();
        (response.stop.clone(), completeness(&response))
    };
    assert_eq!(stop(2), (StopReason::MaxTokens, vec![false]));
    assert_eq!(stop(3), (StopReason::ToolUse, vec![true]));
}

#[test]
fn why_it_stopped() {
    let stop =
        |status: &str, reason: &str, output: Value| assembled(&[ended(status, json!(reason), output)]).unwrap().0.stop;
    assert_eq!(stop("incomplete", "content_filter", json!([])), StopReason::Refusal);
    assert_eq!(stop("incomplete", "", json!([])), StopReason::MaxTokens);
    assert_eq!(stop("incomplete", "moon_phase", json!([])), StopReason::Other("moon_phase".to_owned()));
    let refusal = json!([{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}]);
    assert_eq!(stop("completed", "", refusal), StopReason::Refusal);
    assert_eq!(stop("completed", "", json!([message("x")])), StopReason::EndTurn);
}

#[test]
fn failures_in_the_answer() {
    let failure = |event: Value| match assembled(&[event]) {
        Err(Broken::Reported(detail)) => (detail.code, detail.message),
        other => panic!("{other:?}"),
    };
    let error = json!({"code": "server_error", "message": "m"});
    let expected = ("server_error".to_owned(), "m".to_owned());
    let response = json!({"status": "failed", "error": error});
    assert_eq!(failure(json!({"type": "response.failed", "response": response})), expected);
    assert_eq!(failure(json!({"type": "error", "error": error})), expected);
    assert_eq!(failure(json!({"type": "error", "code": "server_error", "message": "m", "param": null})), expected);
    assert_eq!(failure(json!({"error": error})), expected);
}

#[test]
fn only_what_says_something_counts_as_heard() {
    let mut assembly = Assembly::default();
    let mut heard = |event: Value| assembly.event(event.to_string().as_bytes(), &mut VecDeque::new()).unwrap();
    assert_eq!(heard(json!({"type": "response.created", "response": {"model": "m"}})), Heard::Something);
    for event in [
        json!({"type": "response.in_progress", "response": {}}),
        json!({"type": "keepalive", "sequence_number": 3}),
        json!({"type": "moon.phase"}),
        json!({}),
    ] {
        assert_eq!(heard(event.clone()), Heard::Nothing, "{event}");
    }
    assert_eq!(heard(json!({"type": "response.web_search_call.searching"})), Heard::Something);
}

#[test]
fn what_is_not_known_is_kept_and_what_cannot_be_read_again_is_not() {
    let unknown = json!({"type": "brand_new", "id": "b1", "x": null});
    let bare = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let (response, _) = assembled(&[ended("completed", Value::Null, json!([bare, unknown]))]).unwrap();
    let [ResponseBlock::Opaque { dialect, json }] = response.blocks.as_slice() else { panic!("{response:?}") };
    assert_eq!((dialect.as_str(), serde_json::from_str::<Value>(json).unwrap()), (DIALECT, unknown));
}

#[test]
fn an_answer_that_is_not_streamed() {
    let mut assembly = Assembly::default();
    let document = ended("completed", Value::Null, json!([message("hi")]))["response"].take();
    assembly.document(document.to_string().as_bytes()).unwrap();
    assert_eq!(assembly.finish().blocks[0], ResponseBlock::Text("hi".to_owned()));
    assert!(Assembly::default().document(b"{}").is_err());
    let failed = br#"{"status":"failed","error":{"code":"x","message":"m"},"output":[]}"#;
    assert!(matches!(Assembly::default().document(failed), Err(Broken::Reported(_))));
    let unfinished = br#"{"status":"in_progress","output":[]}"#;
    assert!(matches!(Assembly::default().document(unfinished), Err(Broken::Malformed(_))));
}

proptest! {
    #[test]
    fn no_events_make_it_panic(picks in proptest::collection::vec((0usize..12, 0u64..3), 0..30)) {
        let mut assembly = Assembly::default();
        for (pick, index) in picks {
            let event = match pick {
                0 => added(index, call("", "in_progress")),
                1 => added(index, json!({"type": "message"})),
                2 => done(index, message("x")),
                3 => done(index, json!([1])),
                4 => piece("output_text", index, "x"),
                5 => piece("function_call_arguments", index, "{"),
                6 => piece("reasoning_text", index, "x"),
                7 => ended("incomplete", json!(index), json!([call("{}", "completed")])),
                8 => ended("completed", Value::Null, json!([])),
                9 => json!({"type": "response.output_text.delta", "delta": index}),
                10 => json!({"type": "response.completed"}),
                _ => json!(index),
            };
            let _ = assembly.event(event.to_string().as_bytes(), &mut VecDeque::new());
        }
        let response = assembly.finish();
        prop_assert!(response.blocks.len() <= 40);
    }
}
