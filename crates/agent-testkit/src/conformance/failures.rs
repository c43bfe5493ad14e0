//! What must come out when the service fails.

use super::checks::play;
use super::{Backend, Check, Scene, hear, request};
use crate::reply::Reply;
use agent_core::llm::{LlmError, LlmErrorKind};
use futures_util::StreamExt;
use serde_json::json;
use std::time::Duration;

pub(super) fn all() -> Vec<Check> {
    vec![
        Check {
            name: "cuts",
            demands: "an answer that breaks off anywhere is an error that may be retried, never an answer",
            run: |backend| Box::pin(cuts(backend)),
        },
        Check {
            name: "refusals",
            demands: "refusals are distinguished, and the time that the service asks to wait is kept in milliseconds",
            run: |backend| Box::pin(refusals(backend)),
        },
        Check {
            name: "garbage",
            demands: "what is not the protocol is an error",
            run: |backend| Box::pin(garbage(backend)),
        },
        Check {
            name: "leaving",
            demands: "dropping the stream closes the connection, so that nothing more is written and paid for",
            run: |backend| Box::pin(leaving(backend)),
        },
        Check {
            name: "after a failure",
            demands: "a call after one that failed is answered",
            run: |backend| Box::pin(after_a_failure(backend)),
        },
        Check {
            name: "no retries",
            demands: "a provider does not retry: that is the machine's",
            run: |backend| Box::pin(no_retries(backend)),
        },
    ]
}

/// Text and a call, so that a cut falls into either.
fn long() -> Reply {
    Reply::new().text("some text").call("read_file", json!({"path": "a/long/enough/path"})).pieces_of(4)
}

async fn failure(backend: &dyn Backend, scene: Scene) -> Result<LlmError, String> {
    let stage = backend.open(vec![scene]).await?;
    let request = request("hello").map_err(|error| error.to_string())?;
    match hear(&stage.provider(), request).await {
        Err(error) => Ok(error),
        Ok(heard) => Err(format!("there was no error but {heard:?}")),
    }
}

async fn cuts(backend: &dyn Backend) -> Result<(), String> {
    for events in 1..=6 {
        for scene in [Scene::Break(long(), events), Scene::Truncate(long(), events)] {
            let error = failure(backend, scene.clone()).await.map_err(|found| format!("after {events}: {found}"))?;
            if !error.kind.is_retryable() {
                return Err(format!("after {events}: {:?} ({error})", error.kind));
            }
        }
    }
    Ok(())
}

async fn refusals(backend: &dyn Backend) -> Result<(), String> {
    use LlmErrorKind::{Authentication, InvalidRequest, NotFound, Overloaded, Permission, RateLimited, Server};
    let kinds = [
        (400, InvalidRequest),
        (401, Authentication),
        (403, Permission),
        (404, NotFound),
        (429, RateLimited),
        (500, Server),
        (529, Overloaded),
    ];
    for (status, kind) in kinds {
        let error = failure(backend, Scene::Refuse { status, retry_after_s: None }).await?;
        if error.kind != kind || error.status != Some(status) {
            return Err(format!("{status} is {:?} with status {:?}", error.kind, error.status));
        }
    }
    let error = failure(backend, Scene::Refuse { status: 429, retry_after_s: Some(7) }).await?;
    match error.retry_after_ms {
        Some(7_000) => Ok(()),
        other => Err(format!("of 7 seconds came {other:?} milliseconds")),
    }
}

async fn garbage(backend: &dyn Backend) -> Result<(), String> {
    failure(backend, Scene::Garbage).await.map(drop)
}

async fn leaving(backend: &dyn Backend) -> Result<(), String> {
    let stage = backend.open(vec![Scene::Stall(long(), 4)]).await?;
    let request = request("hello").map_err(|error| error.to_string())?;
    let mut stream = stage.provider().stream(request).await.map_err(|error| format!("it failed: {error}"))?;
    let first = stream.next().await;
    if !matches!(first, Some(Ok(_))) {
        return Err(format!("before it stalled came {first:?}"));
    }
    drop(stream);
    let left = tokio::time::timeout(PATIENCE_FOR_LEAVING, stage.until_left()).await;
    left.map_err(|_| format!("the service still has it after {} s", PATIENCE_FOR_LEAVING.as_secs()))
}

async fn after_a_failure(backend: &dyn Backend) -> Result<(), String> {
    let failing = [Scene::Break(long(), 2), Scene::Refuse { status: 500, retry_after_s: None }, Scene::Garbage];
    for scene in failing {
        let stage = backend.open(vec![scene.clone(), Scene::Answer(Reply::new().text("Well."))]).await?;
        let ask = || request("hello").map_err(|error| error.to_string());
        // That it fails is another check's.
        let _ = hear(&stage.provider(), ask()?).await;
        let heard = hear(&stage.provider(), ask()?).await;
        if !matches!(&heard, Ok(heard) if heard.text == "Well.") {
            return Err(format!("after {scene:?} came {heard:?}"));
        }
    }
    Ok(())
}

async fn no_retries(backend: &dyn Backend) -> Result<(), String> {
    let scenes = vec![
        Scene::Refuse { status: 500, retry_after_s: Some(0) },
        Scene::Answer(Reply::new().text("This was the second request.")),
    ];
    let stage = backend.open(scenes).await?;
    let request = request("hello").map_err(|error| error.to_string())?;
    match hear(&stage.provider(), request).await {
        Err(_) => play(backend, Scene::Answer(Reply::new().text("x"))).await.map(drop),
        Ok(heard) => Err(format!("it asked again and heard {:?}", heard.text)),
    }
}

const PATIENCE_FOR_LEAVING: Duration = Duration::from_secs(5);
