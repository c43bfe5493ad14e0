//! How fast streams are read and requests are written: `cargo bench -p agent-llm`.
//!
//! Every row is the best of many runs on one core, in processor time of the thread, so that what else the machine does counts little.
//! Reading is measured without the network: pieces of 16 KiB, as they come from a
//! socket, through the scanner and the assembly to typed deltas; beside it, in the same run, `eventsource-stream` and a typed
//! `serde_json` for the same bytes.
//!
//! `-- event 8 2` and `-- stream openai 2` do one of these readings twice and print nothing, for a program that counts instructions: what
//! two readings need more than one is what one needs.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program for the terminal")]

use agent_llm::bench::{Format, Writer, read};
use agent_types::conversation::{Answer, Block, Conversation, Input};
use agent_types::llm::{LlmRequest, Purpose};
use eventsource_stream::Eventsource;
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

fn main() {
    if once() {
        return;
    }
    // `cargo test --benches` only wants to know that it runs.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let megabytes = if is_test { 1 } else { 4 };
    let runs = if is_test { 1 } else { 100 };
    for (format, name) in FORMATS {
        let body = text_stream(format, megabytes * 1_000_000);
        let (time, deltas) = best(runs, || read(format, body.chunks(PIECE_BYTES)));
        println!("read {name:<20} {:>8.0} MB/s   {deltas} deltas", rate(body.len(), time));
    }
    let body = text_stream(Format::Anthropic, megabytes * 1_000_000);
    let (time, deltas) = best(runs, || peer(&body));
    println!("eventsource-stream + serde_json {:>4.0} MB/s   {deltas} deltas", rate(body.len(), time));

    let mut before = None;
    for mebibytes in if is_test { vec![1] } else { vec![1, 2, 4, 8] } {
        let body = one_event(mebibytes * 1024 * 1024);
        let (time, _) = best(runs, || read(Format::Anthropic, body.chunks(512)));
        let ratio = before.map_or(String::new(), |before: Duration| {
            format!("{:.2} times the time of half of it", time.as_secs_f64() / before.as_secs_f64())
        });
        println!("one event of {mebibytes} MiB in 512 B   {:>8.2} ms   {ratio}", time.as_secs_f64() * 1e3);
        before = Some(time);
    }

    for (format, name) in FORMATS {
        let request = history(1_000_000);
        let writer = Writer::new(format, "");
        let (first, body) = best(1, || writer.write(&request).unwrap());
        let (kept, _) = best(runs * 10, || writer.write(&request).unwrap().len());
        let (copied, _) = best(runs * 10, || black_box(body.clone()).len());
        println!(
            "write {name:<18} {} bytes: first {:.0} us, from kept bytes {:.1} us, memcpy {:.1} us: {:.2} times",
            body.len(),
            first.as_secs_f64() * 1e6,
            kept.as_secs_f64() * 1e6,
            copied.as_secs_f64() * 1e6,
            kept.as_secs_f64() / copied.as_secs_f64(),
        );
    }
}

/// Does what the words of the command line ask for, if they do.
fn once() -> bool {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [what, which, times] = words.as_slice() else { return false };
    let (format, body, piece_bytes) = if what == "event" {
        (Format::Anthropic, one_event(which.parse::<usize>().unwrap() * 1024 * 1024), 512)
    } else {
        let (format, _) = FORMATS.into_iter().find(|(_, known)| known == which).unwrap();
        (format, text_stream(format, 1_000_000), PIECE_BYTES)
    };
    for _ in 0..times.parse::<usize>().unwrap() {
        black_box(read(format, body.chunks(piece_bytes)));
    }
    true
}

/// The shortest time of several runs, and what the last one gave.
fn best<T>(runs: usize, mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut shortest = Duration::MAX;
    let mut last = None;
    for _ in 0..runs {
        let begin = processor_time();
        last = Some(black_box(work()));
        shortest = shortest.min(processor_time() - begin);
    }
    (shortest, last.unwrap())
}

/// What this thread has used.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

/// A stream of about so many bytes whose answer is text, a few words an event, as models write it.
fn text_stream(format: Format, bytes: usize) -> Vec<u8> {
    let words =
        ["The quick brown", " fox jumps", " over the lazy dog", ".\\n", " \\\"Why?\\\"", " caf\u{e9} ", " and so on"];
    let (start, end) = match format {
        Format::Anthropic => (
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
        Format::OpenAiChat => (
            "",
            "data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        ),
        Format::OpenAiResponses => (
            "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1\"}}\n\n",
            "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
        ),
    };
    let mut out = start.as_bytes().to_vec();
    for (number, word) in words.iter().cycle().enumerate() {
        if out.len() >= bytes {
            break;
        }
        let event = match format {
            Format::Anthropic => format!(
                "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{word}\"}}}}\n\n"
            ),
            Format::OpenAiChat => format!(
                "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1735689600,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}},\"finish_reason\":null}}]}}\n\n"
            ),
            Format::OpenAiResponses => format!(
                "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"sequence_number\":{number},\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"{word}\"}}\n\n"
            ),
        };
        out.extend_from_slice(event.as_bytes());
    }
    out.extend_from_slice(end.as_bytes());
    out
}

/// An answer whose text comes in one event of this size.
fn one_event(bytes: usize) -> Vec<u8> {
    let text = "x".repeat(bytes);
    format!("data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}\n\n")
        .into_bytes()
}

/// A conversation of about so many bytes.
fn history(bytes: usize) -> LlmRequest {
    let text = "fn main() { println!(\"Hello, \\\"you\\\"\"); }\n".repeat(50);
    let mut conversation = Conversation::new();
    while conversation.bytes() < bytes as u64 {
        conversation.push_input(Input::new(vec![text.clone().into()]).unwrap());
        conversation.push_answer(Answer::new(vec![Block::Text(text.clone())]).unwrap()).unwrap();
    }
    conversation.push_input(Input::new(vec!["and now?".into()]).unwrap());
    LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from("m"),
        system: Arc::from("Be brief."),
        tools: Arc::from([]),
        conversation,
        max_output_tokens: 1000,
        effort: None,
    }
}

/// The same work as others do it: events as strings, then a typed parse.
fn peer(body: &[u8]) -> usize {
    #[derive(Deserialize)]
    struct Event<'a> {
        #[serde(borrow, rename = "type")]
        kind: std::borrow::Cow<'a, str>,
        #[serde(default)]
        delta: Option<Delta>,
    }
    #[derive(Deserialize)]
    struct Delta {
        #[serde(default)]
        text: Option<String>,
    }
    let pieces = body.chunks(PIECE_BYTES).map(|piece| Ok::<_, Infallible>(bytes::Bytes::copy_from_slice(piece)));
    let mut events = stream::iter(pieces).eventsource();
    let mut count = 0;
    let mut whole = String::new();
    futures_util::FutureExt::now_or_never(async {
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            let event: Event<'_> = serde_json::from_str(&event.data).unwrap();
            if event.kind == "content_block_delta"
                && let Some(text) = event.delta.and_then(|delta| delta.text)
            {
                whole.push_str(&text);
                count += 1;
            }
        }
    })
    .unwrap();
    black_box(whole);
    count
}

const FORMATS: [(Format, &str); 3] =
    [(Format::Anthropic, "anthropic"), (Format::OpenAiChat, "openai"), (Format::OpenAiResponses, "openai-responses")];

const PIECE_BYTES: usize = 16 * 1024;
