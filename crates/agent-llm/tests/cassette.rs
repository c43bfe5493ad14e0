//! What is recorded, and that playing it is like the call itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_llm::{
    AnthropicProvider, Cassette, Matching, OpenAiProvider, OpenAiResponsesProvider, ProviderConfig, Recorder,
    ReplayProvider, Timeouts,
};
use agent_testkit::Reply as Said;
use agent_testkit::http::{ScriptedServer, Step};
use agent_types::llm::{LlmChunk, LlmError, LlmErrorKind, LlmRequest};
use agent_types::ports::LlmProvider;
use futures_util::StreamExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{KEY, Reply, Server, config, request};

/// A cassette in a folder of its own.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("calls.jsonl")
    }

    fn recorder(&self) -> Option<Recorder> {
        Some(Recorder::create(&self.path(), &["another-secret".to_owned()]).unwrap())
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    fn replay(&self, matching: Matching) -> ReplayProvider {
        ReplayProvider::new(Cassette::read(&self.path()).unwrap(), matching)
    }
}

/// Everything that a call gives.
async fn everything(provider: &dyn LlmProvider, request: LlmRequest) -> Vec<Result<LlmChunk, LlmError>> {
    match provider.stream(request).await {
        Ok(stream) => stream.collect().await,
        Err(error) => vec![Err(error)],
    }
}

fn recording(number: usize, server: &ScriptedServer, scratch: &Scratch) -> Box<dyn LlmProvider> {
    let at = |url: String| ProviderConfig { recorder: scratch.recorder(), ..config(&url) };
    match number {
        0 => Box::new(AnthropicProvider::new(at(server.url())).unwrap()),
        1 => Box::new(OpenAiProvider::new(at(server.openai_url())).unwrap()),
        _ => Box::new(OpenAiResponsesProvider::new(at(server.openai_url())).unwrap()),
    }
}

/// Answers, errors with a status, errors within an answer, cuts and breaks.
fn steps() -> Vec<Step> {
    let said = || Said::new().thinking("Hm.").text("caf\u{e9}").call("read_file", serde_json::json!({"path": "a"}));
    vec![
        Step::answer(said()),
        Step::status(429).header("retry-after", "7").header("anthropic-ratelimit-requests-remaining", "0"),
        Step::status(401).with_body(format!("{{\"error\":{{\"message\":\"{KEY} is refused\"}}}}")),
        Step::error_after(said(), 3, "overloaded_error", "busy"),
        Step::truncated(said(), 3),
        Step::cut(said(), 4),
        Step::garbage(),
        Step::body("text/html", "<title>Sign in</title>"),
        Step::text("the last"),
    ]
}

#[tokio::test]
async fn playing_gives_what_the_calls_gave() {
    for number in 0..3 {
        let scratch = Scratch::new();
        let server = ScriptedServer::start(steps()).await.unwrap();
        let provider = recording(number, &server, &scratch);
        let mut live = Vec::new();
        for call in 0..steps().len() {
            live.push(everything(&*provider, request(&format!("question {call}"))).await);
        }
        drop(server);
        for matching in [Matching::Exact, Matching::Lenient] {
            let replay = scratch.replay(matching);
            assert_eq!(replay.dialect(), provider.dialect());
            // Without a server, and in whatever order.
            for call in [1, 0, 2, 3, 5, 4, 8, 6, 7] {
                let played = everything(&replay, request(&format!("question {call}"))).await;
                assert_eq!(played, live[call], "{number} {call}");
            }
            assert_eq!(replay.left(), 0);
        }
        let text = scratch.text();
        assert!(!text.contains(KEY) && text.contains("[redacted] is refused"));
    }
}

#[tokio::test]
async fn every_recorded_stream_survives_another_recording() {
    let Some(folder) = support::fixtures() else { return };
    let mut checked = 0;
    for (name, number) in [("anthropic", 0), ("openai-chat", 1), ("openai-responses", 2)] {
        for entry in std::fs::read_dir(folder.join(name)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "sse") {
                continue;
            }
            let stream = std::fs::read(&path).unwrap();
            let scratch = Scratch::new();
            // Pieces that end anywhere, within characters too.
            let server = Server::start([Reply::stream(&stream, 997)]).await;
            let at = |path: &str| ProviderConfig {
                recorder: scratch.recorder(),
                ..config(&format!("{}{path}", server.address))
            };
            let provider: Box<dyn LlmProvider> = match number {
                0 => Box::new(AnthropicProvider::new(at("")).unwrap()),
                1 => Box::new(OpenAiProvider::new(at("/v1")).unwrap()),
                _ => Box::new(OpenAiResponsesProvider::new(at("/v1")).unwrap()),
            };
            let live = everything(&*provider, request("x")).await;
            let played = everything(&scratch.replay(Matching::Exact), request("x")).await;
            assert_eq!(played, live, "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} streams");
}

#[tokio::test]
async fn a_request_that_was_not_recorded_is_told_with_what_differs() {
    let scratch = Scratch::new();
    let server = ScriptedServer::start([Step::text("a"), Step::text("b")]).await.unwrap();
    let provider = recording(0, &server, &scratch);
    everything(&*provider, request("hello")).await;

    let replay = scratch.replay(Matching::Exact);
    let error = everything(&replay, request("goodbye")).await.remove(0).unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::InvalidRequest);
    assert_eq!(
        error.message,
        "replay the call: the request differs from call 1 of the recording: at `/messages/0/content/0/text` the recording has \
         `\"hello\"` and the request has `\"goodbye\"`; lenient matching compares only messages and calls"
    );
    // A refused request has used nothing up.
    let other = || LlmRequest { system: Arc::from("Be long."), ..request("hello") };
    assert!(everything(&replay, other()).await[0].as_ref().unwrap_err().message.contains("at `/system/0/text`"));
    assert_eq!(replay.left(), 1);
    everything(&replay, request("hello")).await.pop().unwrap().unwrap();
    let error = everything(&replay, request("hello")).await.remove(0).unwrap_err();
    assert!(
        error.message.ends_with("all 1 calls of the recording have been played, and one more was requested"),
        "{error}"
    );

    let lenient = scratch.replay(Matching::Lenient);
    let error = everything(&lenient, request("goodbye")).await.remove(0).unwrap_err();
    assert!(error.message.ends_with("the request has `\"goodbye\"`"), "{error}");
    everything(&lenient, other()).await.pop().unwrap().unwrap();
}

#[tokio::test]
async fn a_key_is_redacted_also_where_a_piece_ends_in_it() {
    let event = |text: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let body = [&event(&format!("your key is {KEY}")), "data: [DONE]\n\n"].concat();
    for piece_bytes in [1, 2, 7, 16, 1000] {
        let scratch = Scratch::new();
        let server = Server::start([Reply::stream(body.as_bytes(), piece_bytes)]).await;
        let base_url = server.address.replace("http://", "http://user:pass-word@");
        let config = ProviderConfig {
            recorder: scratch.recorder(),
            headers: vec![("x-more".to_owned(), "header-secret".to_owned())],
            ..config(&format!("{base_url}/v1?code=query-secret"))
        };
        let provider = OpenAiProvider::new(config.clone()).unwrap();
        // Nobody should say a key to a model; if somebody does, it is not in the recording either.
        everything(&provider, request(&format!("is {KEY} another-secret?"))).await;
        let text = scratch.text();
        for secret in [KEY, "another-secret", "pass-word", "header-secret", "query-secret"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains("is [redacted] [redacted]?"), "{text}");
        assert!(!format!("{config:?} {provider:?}").contains(KEY));
        let played = everything(&scratch.replay(Matching::Exact), request("is [redacted] [redacted]?")).await;
        let Some(Ok(LlmChunk::Completed(response))) = played.last() else { panic!("{played:?}") };
        assert!(format!("{response:?}").contains("your key is [redacted]"), "{response:?}");
    }
}

#[tokio::test]
async fn a_call_that_was_left_leaves_a_readable_recording() {
    let scratch = Scratch::new();
    let server = ScriptedServer::start([Step::stall(Said::new().text("half of it"), 5), Step::hang()]).await.unwrap();
    let provider = recording(0, &server, &scratch);
    let mut stream = provider.stream(request("hello")).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    // Nor is one that nothing came of.
    let hanging = provider.stream(request("again"));
    assert!(tokio::time::timeout(Duration::from_millis(50), hanging).await.is_err());

    let replay = scratch.replay(Matching::Exact);
    assert_eq!(replay.left(), 2);
    let played = everything(&replay, request("hello")).await;
    assert!(matches!(played.first(), Some(Ok(LlmChunk::Delta(_)))), "{played:?}");
    let error = played.last().unwrap().as_ref().unwrap_err();
    assert!(error.message.ends_with("the recording of call 1 ends here: it was cancelled or cut"), "{error}");
    assert!(!error.kind.is_retryable());
    let error = everything(&replay, request("again")).await.remove(0).unwrap_err();
    assert!(error.message.contains("the recording of call 2 ends here"), "{error}");
}

#[tokio::test]
async fn a_failure_without_an_answer_is_that_failure_again() {
    let scratch = Scratch::new();
    let server = Server::start([Reply::silence(), Reply::stream(b"data: {}\n\n", 4).hanging()]).await;
    let wait = Duration::from_millis(80);
    let timeouts = Timeouts { first_byte: wait, idle: wait, ..config("").timeouts };
    let config = ProviderConfig { timeouts, recorder: scratch.recorder(), ..config(&server.address) };
    let provider = AnthropicProvider::new(config).unwrap();
    let first = everything(&provider, request("a")).await;
    let second = everything(&provider, request("b")).await;
    drop(server);
    tokio::time::sleep(Duration::from_millis(20)).await;
    let third = everything(&provider, request("c")).await;
    let replay = scratch.replay(Matching::Exact);
    for (text, live) in [("a", first), ("b", second), ("c", third)] {
        assert!(live.last().unwrap().is_err());
        assert_eq!(everything(&replay, request(text)).await, live);
    }
}

#[tokio::test]
async fn the_recorded_pace_can_be_kept() {
    let scratch = Scratch::new();
    let server = ScriptedServer::start([Step::text("slow").after(Duration::from_millis(150))]).await.unwrap();
    everything(&*recording(2, &server, &scratch), request("hello")).await;
    let timed = async |replay: ReplayProvider| {
        let begin = Instant::now();
        everything(&replay, request("hello")).await.pop().unwrap().unwrap();
        begin.elapsed()
    };
    assert!(timed(scratch.replay(Matching::Exact).at_recorded_pace()).await >= Duration::from_millis(150));
    // The quickest of some: the machine may be busy with other tests.
    let mut quickest = Duration::MAX;
    for _ in 0..10 {
        quickest = quickest.min(timed(scratch.replay(Matching::Exact)).await);
    }
    assert!(quickest < Duration::from_millis(150), "{quickest:?}");
}

#[tokio::test]
async fn calls_side_by_side_are_kept_apart() {
    let scratch = Scratch::new();
    let server = ScriptedServer::start_with(|body| {
        let said = body["messages"][0]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        Step::text(format!("about {said}"))
    });
    let server = server.await.unwrap();
    let provider = recording(0, &server, &scratch);
    let questions: Vec<String> = (0..8).map(|n| format!("question {n}")).collect();
    let calls = questions.iter().map(|question| everything(&*provider, request(question)));
    let live = futures_util::future::join_all(calls).await;
    let replay = scratch.replay(Matching::Exact);
    for (question, live) in questions.iter().zip(live) {
        assert_eq!(everything(&replay, request(question)).await, live);
    }
}

#[tokio::test]
async fn a_recording_replaces_no_file_and_has_one_provider() {
    let scratch = Scratch::new();
    let recorder = scratch.recorder();
    let error = Recorder::create(&scratch.path(), &[]).unwrap_err();
    assert!(error.to_string().ends_with("the file exists already, and a recording never replaces one"), "{error}");
    assert!(Recorder::create(std::path::Path::new("/nowhere/c"), &[]).is_err());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(scratch.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    let config = ProviderConfig { recorder, ..config("http://127.0.0.1:9") };
    AnthropicProvider::new(config.clone()).unwrap();
    // The same once more: a program may build its provider for every piece of work.
    AnthropicProvider::new(config.clone()).unwrap();
    let error = OpenAiProvider::new(config).unwrap_err();
    assert!(error.to_string().ends_with("another provider is already recording to it"), "{error}");
    assert!(!scratch.path().exists(), "a recording of nothing is left");
}
