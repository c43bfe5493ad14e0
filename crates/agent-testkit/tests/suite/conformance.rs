//! The conformance suite finds what it is there to find: each fault breaks the check that names it, and no provider is blamed for nothing.

use crate::faults::assert_finds;
use agent_core::llm::{Delta, LlmChunk, LlmError, LlmErrorKind, LlmRequest, ResponseBlock, StopReason};
use agent_core::ports::{LlmProvider, LlmStream};
use agent_testkit::conformance::{Backend, Scene, Stage, checks};
use agent_testkit::{Script, ScriptedProvider, Step};
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::time::Duration;

/// What is wrong with a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    LosesLetters,
    EndsTwice,
    MixesCalls,
    InventsUsage,
    HidesTheLimit,
    TakesACutForAnAnswer,
    DropsTheWaitingTime,
    Retries,
}

/// A service in the same process: the scripted provider is both.
struct Inside(Fault);

struct InsideStage {
    provider: ScriptedProvider,
    fault: Fault,
}

#[async_trait]
impl Backend for Inside {
    async fn open(&self, scenes: Vec<Scene>) -> Result<Box<dyn Stage>, String> {
        let script = scenes.into_iter().map(step).fold(Script::new(), Script::step);
        Ok(Box::new(InsideStage { provider: ScriptedProvider::new(script), fault: self.0 }))
    }
}

#[async_trait]
impl Stage for InsideStage {
    fn provider(&self) -> Arc<dyn LlmProvider> {
        Arc::new(Faulty { inner: self.provider.clone(), fault: self.fault })
    }

    fn violations(&self) -> Vec<String> {
        Vec::new()
    }

    async fn until_left(&self) {
        while self.provider.abandoned_streams() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn step(scene: Scene) -> Step {
    let protocol = |words: &str| LlmError::new(LlmErrorKind::Protocol, words);
    match scene {
        Scene::Answer(reply) => Step::Answer(reply),
        Scene::Break(reply, deltas) | Scene::Truncate(reply, deltas) => {
            Step::Break { reply, deltas, error: protocol("it broke off") }
        }
        Scene::Stall(reply, _) => Step::Stall { reply, deltas: 1 },
        Scene::Refuse { status, retry_after_s } => {
            let kind = match status {
                400 => LlmErrorKind::InvalidRequest,
                401 => LlmErrorKind::Authentication,
                403 => LlmErrorKind::Permission,
                404 => LlmErrorKind::NotFound,
                429 => LlmErrorKind::RateLimited,
                529 => LlmErrorKind::Overloaded,
                _ => LlmErrorKind::Server,
            };
            let retry_after_ms = retry_after_s.map(|seconds| u64::from(seconds) * 1_000);
            Step::Refuse(LlmError { status: Some(status), retry_after_ms, ..LlmError::new(kind, "refused") })
        }
        Scene::Garbage => Step::Refuse(protocol("what is this?")),
    }
}

struct Faulty {
    inner: ScriptedProvider,
    fault: Fault,
}

#[async_trait]
impl LlmProvider for Faulty {
    fn dialect(&self) -> &str {
        self.inner.dialect()
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let fault = self.fault;
        let opened = match self.inner.stream(request.clone()).await {
            Err(_) if fault == Fault::Retries => self.inner.stream(request).await,
            Err(error) if fault == Fault::DropsTheWaitingTime => Err(LlmError { retry_after_ms: None, ..error }),
            opened => opened,
        }?;
        Ok(Box::pin(opened.flat_map(move |chunk| stream::iter(spoil(fault, chunk)))))
    }
}

fn spoil(fault: Fault, chunk: Result<LlmChunk, LlmError>) -> Vec<Result<LlmChunk, LlmError>> {
    match (fault, chunk) {
        (Fault::LosesLetters, Ok(LlmChunk::Delta(Delta::Text(text)))) => {
            vec![Ok(LlmChunk::Delta(Delta::Text(text.replace('🦀', "?"))))]
        }
        (Fault::EndsTwice, Ok(LlmChunk::Completed(answer))) => {
            vec![Ok(LlmChunk::Completed(answer.clone())), Ok(LlmChunk::Completed(answer))]
        }
        (Fault::MixesCalls, Ok(LlmChunk::Completed(mut answer))) => {
            answer.blocks.sort_by_key(|block| matches!(block, ResponseBlock::Text(_)));
            answer.blocks.reverse();
            vec![Ok(LlmChunk::Completed(answer))]
        }
        (Fault::InventsUsage, Ok(LlmChunk::Completed(mut answer))) => {
            answer.usage = Some(answer.usage.unwrap_or_default());
            vec![Ok(LlmChunk::Completed(answer))]
        }
        (Fault::HidesTheLimit, Ok(LlmChunk::Completed(mut answer))) => {
            if answer.stop == StopReason::MaxTokens {
                answer.stop = StopReason::EndTurn;
            }
            vec![Ok(LlmChunk::Completed(answer))]
        }
        (Fault::TakesACutForAnAnswer, Err(error)) if error.kind == LlmErrorKind::Protocol => {
            vec![Ok(LlmChunk::Completed(agent_core::llm::LlmResponse::text("half")))]
        }
        (_, chunk) => vec![chunk],
    }
}

async fn broken(fault: Fault) -> Vec<&'static str> {
    let mut broken = Vec::new();
    for check in checks() {
        if check.run(&Inside(fault)).await.is_err() {
            broken.push(check.name);
        }
    }
    broken
}

#[tokio::test]
async fn each_fault_breaks_its_check() {
    let faults = [
        (Fault::None, &[][..]),
        (Fault::LosesLetters, &["text"]),
        (Fault::EndsTwice, &["one end"]),
        (Fault::MixesCalls, &["calls"]),
        (Fault::InventsUsage, &["usage"]),
        (Fault::HidesTheLimit, &["stop reasons"]),
        (Fault::TakesACutForAnAnswer, &["cuts"]),
        (Fault::DropsTheWaitingTime, &["refusals"]),
        (Fault::Retries, &["no retries"]),
    ];
    assert_finds(&faults, broken).await;
}
