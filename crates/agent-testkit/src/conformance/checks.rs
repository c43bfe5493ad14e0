//! What must come out when the service does what it should.

use super::{Backend, Check, Heard, Scene, hear, request};
use crate::reply::Reply;
use agent_core::conversation::{Answer, Arguments, Block, CallId, Input, Round, ToolCall, ToolResult};
use agent_core::llm::{LlmChunk, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

pub(super) fn all() -> Vec<Check> {
    vec![
        Check {
            name: "text",
            demands: "the pieces of a text together are the text of the complete answer",
            run: |backend| Box::pin(text(backend)),
        },
        Check {
            name: "one end",
            demands: "the complete answer comes once, and after it nothing",
            run: |backend| Box::pin(one_end(backend)),
        },
        Check {
            name: "calls",
            demands: "several tool calls come in order, each with its id, its name and exactly its arguments",
            run: |backend| Box::pin(calls(backend)),
        },
        Check {
            name: "usage",
            demands: "usage is what the service said, its parts do not overlap, and none is made up",
            run: |backend| Box::pin(usage(backend)),
        },
        Check {
            name: "stop reasons",
            demands: "an answer that was cut by the output limit says so",
            run: |backend| Box::pin(stop_reasons(backend)),
        },
        Check {
            name: "history",
            demands: "a history with tool calls and results is sent so that the service takes it",
            run: |backend| Box::pin(history(backend)),
        },
        Check {
            name: "side by side",
            demands: "calls at the same time do not mix",
            run: |backend| Box::pin(side_by_side(backend)),
        },
    ]
}

/// Plays one scene and hears what comes out.
pub(super) async fn play(backend: &dyn Backend, scene: Scene) -> Result<Heard, String> {
    let stage = backend.open(vec![scene]).await?;
    let request = request("hello").map_err(|error| error.to_string())?;
    let heard = hear(&stage.provider(), request).await.map_err(|error| format!("it failed: {error}"))?;
    match stage.violations().as_slice() {
        [] => Ok(heard),
        violations => Err(format!("the service refuses the request: {violations:?}")),
    }
}

async fn answer(backend: &dyn Backend, reply: Reply) -> Result<LlmResponse, String> {
    play(backend, Scene::Answer(reply)).await?.answer.ok_or_else(|| String::from("there is no complete answer"))
}

/// Letters of one to four bytes, so that pieces fall between the bytes of a letter somewhere.
const LETTERS: &str = "plain, \"quoted\"\n\\ ünïcödé, 日本語, 🦀🦀, \u{200d} and the end";

async fn text(backend: &dyn Backend) -> Result<(), String> {
    for characters in [1, 3, 1_000] {
        let heard = play(backend, Scene::Answer(Reply::new().text(LETTERS).pieces_of(characters))).await?;
        let answer = heard.answer.unwrap_or_else(|| LlmResponse::text(""));
        // Beside the text there may be what only the provider understands.
        let complete: String = answer.blocks.iter().filter_map(as_text).collect();
        if heard.text != LETTERS || complete != LETTERS {
            return Err(format!("in pieces of {characters}: shown {:?}, complete {:?}", heard.text, answer.blocks));
        }
    }
    Ok(())
}

fn as_text(block: &ResponseBlock) -> Option<&str> {
    match block {
        ResponseBlock::Text(text) => Some(text),
        _ => None,
    }
}

async fn one_end(backend: &dyn Backend) -> Result<(), String> {
    let stage = backend.open(vec![Scene::Answer(Reply::new().text("a").text("b"))]).await?;
    let request = request("hello").map_err(|error| error.to_string())?;
    let mut stream = stage.provider().stream(request).await.map_err(|error| format!("it failed: {error}"))?;
    let mut ends = 0;
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(LlmChunk::Completed(_)) => ends += 1,
            Ok(LlmChunk::Delta(_)) if ends == 0 => {}
            other => return Err(format!("after {ends} complete answers came {other:?}")),
        }
    }
    if ends == 1 { Ok(()) } else { Err(format!("there were {ends} complete answers")) }
}

async fn calls(backend: &dyn Backend) -> Result<(), String> {
    let wanted = [
        ("id_a", "read_file", json!({"path": "a b/ü.txt", "limit": 3})),
        ("id_b", "bash", json!({"command": "printf '\\u001b\"\\n'", "nested": {"empty": {}, "list": [1, null, "🦀"]}})),
        ("id_c", "no_arguments", json!({})),
    ];
    for characters in [1, 7, 1_000] {
        let reply = Reply::new().text("I'll look.").pieces_of(characters);
        let reply =
            wanted.iter().fold(reply, |reply, (id, name, arguments)| reply.call_with_id(*id, *name, arguments.clone()));
        let answer = answer(backend, reply).await?;
        let calls = answer.blocks.iter().filter_map(|block| match block {
            ResponseBlock::Call(call) => Some(call),
            _ => None,
        });
        let came: Vec<_> = calls.map(named).collect();
        let wanted: Vec<_> = wanted.iter().map(|(id, name, arguments)| (*id, *name, Some(arguments.clone()))).collect();
        if came != wanted || answer.stop != StopReason::ToolUse {
            return Err(format!("in pieces of {characters}: {came:?}, {:?}", answer.stop));
        }
    }
    Ok(())
}

fn named(call: &RawCall) -> (&str, &str, Option<Value>) {
    let arguments = call.complete.then(|| serde_json::from_str(&call.arguments).ok()).flatten();
    (&call.id, &call.name, arguments)
}

async fn usage(backend: &dyn Backend) -> Result<(), String> {
    let said = Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 30, cache_write_tokens: 0 };
    let heard = answer(backend, Reply::new().text("x").usage(said)).await?.usage;
    if heard != Some(said) {
        return Err(format!("of {said:?} came {heard:?}"));
    }
    match answer(backend, Reply::new().text("x").without_usage()).await?.usage {
        None => Ok(()),
        Some(usage) => Err(format!("where nothing was said came {usage:?}")),
    }
}

async fn stop_reasons(backend: &dyn Backend) -> Result<(), String> {
    for stop in [StopReason::EndTurn, StopReason::MaxTokens] {
        let came = answer(backend, Reply::new().text("half").stop(stop.clone())).await?.stop;
        if came != stop {
            return Err(format!("of {stop:?} came {came:?}"));
        }
    }
    Ok(())
}

async fn history(backend: &dyn Backend) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let mut request = request("look at both").map_err(|error| failed(&error))?;
    let call = |id: &str| {
        let arguments = Arguments::parse(r#"{"path":"a"}"#).map_err(|error| failed(&error))?;
        Ok::<_, String>(Block::Call(ToolCall { id: CallId::new(id), name: "read_file".into(), arguments }))
    };
    let blocks = vec![Block::Text(String::from("I'll look.")), call("one")?, call("two")?];
    let answer = Answer::new(blocks).map_err(|error| failed(&error))?;
    let results = ["one", "two"].map(|id| ToolResult::new(CallId::new(id), "not there", id == "two"));
    let round = Round::new(answer, results.to_vec()).map_err(|error| failed(&error))?;
    request.conversation.push_round(round).map_err(|error| failed(&error))?;
    request.conversation.push_input(Input::new(vec!["and now?".into()]).map_err(|error| failed(&error))?);
    let stage = backend.open(vec![Scene::Answer(Reply::new().text("Nothing."))]).await?;
    let heard = hear(&stage.provider(), request).await;
    match (heard, stage.violations().as_slice()) {
        (Ok(_), []) => Ok(()),
        (Ok(_), violations) => Err(format!("the service refuses it: {violations:?}")),
        (Err(error), violations) => Err(format!("it failed: {error}; the service says {violations:?}")),
    }
}

async fn side_by_side(backend: &dyn Backend) -> Result<(), String> {
    let words = ["aaaa", "bbbb", "cccc", "dddd"];
    let scenes = words.map(|word| Scene::Answer(Reply::new().text(word).pieces_of(1)));
    let stage = backend.open(scenes.to_vec()).await?;
    let provider = stage.provider();
    let one = || -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async {
            let request = request("hello").map_err(|error| error.to_string())?;
            let heard = hear(&provider, request).await.map_err(|error| format!("it failed: {error}"))?;
            Ok(heard.text)
        })
    };
    let mut came = futures_util::future::try_join_all(words.map(|_| one())).await?;
    came.sort();
    if came == words { Ok(()) } else { Err(format!("of {words:?} came {came:?}")) }
}
