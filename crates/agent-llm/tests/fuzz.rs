//! Streams that are broken at random: the reader neither panics nor hangs, and what it makes of a stream depends on nothing but its bytes.
//!
//! A long run: `cargo xtask fuzz [SECONDS]`. It tells its seed, and `FUZZ_SEED` repeats it. The streams that are broken are the ones below
//! and, where they are at hand, the recorded ones.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_llm::bench::{Format, Writer, outcome};
use agent_types::llm::{LlmResponse, ResponseBlock};
use std::time::{Duration, Instant};

const SECONDS: &str = "FUZZ_SECONDS";
const SEED: &str = "FUZZ_SEED";

/// A small generator with a seed: enough to break things, and the same everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap()
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() % end.max(1)
    }
}

/// Streams of each format to begin with.
fn seeds() -> Vec<(Format, Vec<u8>)> {
    let own = [
        (
            Format::Anthropic,
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n\
             data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n\
             data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\"}}\n\n\
             data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
             data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"caf\\u00e9 \u{1F600}\"}}\n\n\
             data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}}\n\n\
             data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n\
             data: {\"type\":\"content_block_stop\",\"index\":2}\n\n\
             data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":9}}\n\n\
             data: {\"type\":\"message_stop\"}\n\n",
        ),
        (
            Format::OpenAiChat,
            "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
             data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"caf\u{e9}\"},\"finish_reason\":null}]}\n\n\
             data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"n\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\n\n\
             data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n\
             data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3}}\n\n\
             data: [DONE]\n\n",
        ),
        (
            Format::OpenAiResponses,
            "data: {\"type\":\"response.created\",\"response\":{\"model\":\"m\"}}\n\n\
             data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1\"}}\n\n\
             data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"item_id\":\"msg_1\",\"delta\":\"caf\u{e9}\"}\n\n\
             data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":\"{}\",\"status\":\"completed\"}}\n\n\
             data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":1}}}\n\n",
        ),
    ];
    let own = own.into_iter().chain(ODD.iter().copied());
    let mut seeds: Vec<(Format, Vec<u8>)> =
        own.into_iter().map(|(format, text)| (format, text.as_bytes().to_vec())).collect();
    let Some(folder) = support::fixtures() else { return seeds };
    for (name, format) in [
        ("anthropic", Format::Anthropic),
        ("openai-chat", Format::OpenAiChat),
        ("openai-responses", Format::OpenAiResponses),
    ] {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let streams = paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "sse"));
        let small = streams.map(|path| std::fs::read(path).unwrap()).filter(|stream| stream.len() < 40_000);
        seeds.extend(small.map(|stream| (format, stream)));
    }
    seeds
}

/// Streams and documents of servers that write something otherwise.
const ODD: &[(Format, &str)] = &[
    (
        Format::OpenAiChat,
        "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"\",\"extra_content\":{\"google\":{\"thought_signature\":\"S\"}}}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"a \\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude00 b\"}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"extra_content\":{\"x\":1},\"function\":{\"name\":\"n\",\"arguments\":\"null\"}},{\"function\":{\"name\":\"o\",\"arguments\":\"{}\"}}]}}]}\n\n\
         data: {\"choices\":[{\"delta\":{},\"usage\":{\"prompt_tokens\":3,\"total_tokens\":9}}]}\n\ndata: [DONE] \n\n",
    ),
    (
        Format::OpenAiChat,
        "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"function_call\":{\"name\":\"n\",\"arguments\":\"{\"}}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"function_call\":{\"arguments\":\"}\"}},\"finish_reason\":\"function_call\"}]}\n\n\
         error: {\"code\":500,\"message\":\"too late\"}\n\n",
    ),
    (
        Format::OpenAiChat,
        "{\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"\",\"message\":{\"reasoning_content\":\"\",\"reasoning\":\"h\",\"content\":\"x\",\
         \"tool_calls\":[{\"function\":{\"name\":\"n\",\"arguments\":{}}},{\"type\":\"custom\",\"custom\":{\"name\":\"c\",\"input\":\"w\"}}]}}]}",
    ),
    (Format::OpenAiChat, "error: {\"error\":{\"message\":\"increasing context size\"}}\n\n"),
    (
        Format::Anthropic,
        "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"container\":{\"id\":\"k\"},\"stop_reason\":\"tool_use\",\"content\":[\
         {\"type\":\"text\",\"text\":\" \"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":null}]}}\n\n\
         data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"w\",\"input\":{}}}\n\n\
         data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    ),
    (
        Format::Anthropic,
        "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"x\",\"citations\":[{\"type\":\"char_location\",\"document_title\":null,\"file_id\":null}]}],\"stop_reason\":\"end_turn\"}",
    ),
    (
        Format::OpenAiResponses,
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"id\":\"m\",\"content\":[{\"type\":\"output_text\",\"text\":\" \"}]},\
         {\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":\"n\",\"input\":\"w\"}],\"usage\":{\"input_tokens\":1,\"total_tokens\":5}}}\n\n",
    ),
];

/// Breaks a stream in a few places: as networks do, as servers do, and as nobody does.
fn broken(stream: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut stream = stream.to_vec();
    for _ in 0..=chance.below(4) {
        let (from, to) = (chance.below(stream.len() + 1), chance.below(stream.len() + 1));
        let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 1 + chance.below(200)));
        let replacement: Vec<u8> = match chance.below(8) {
            0 => Vec::new(),
            1 => SIGNS[chance.below(SIGNS.len())].to_vec(),
            2 => vec![u8::try_from(chance.below(256)).unwrap()],
            3 => stream[from..to].repeat(2),
            4 => {
                let start = chance.below(other.len());
                other[start..other.len().min(start + 300)].to_vec()
            }
            // The number of something becomes another one.
            5 => chance.next().to_string().into_bytes(),
            6 => {
                stream.truncate(from);
                continue;
            }
            _ => {
                let mut piece = stream[from..to].to_vec();
                piece.reverse();
                piece
            }
        };
        stream.splice(from..to, replacement);
    }
    stream
}

/// What JSON and event streams are made of.
const SIGNS: &[&[u8]] = &[
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"data: ",
    b"event: error\n",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"true",
    b"\"type\":",
    b"\"error\":{}",
    b"\"index\":0,",
    b"\xff",
    b"\xf0\x9f",
    b"\0",
    b"[DONE]",
    b"data: [DONE] \n\n",
    b"error: ",
    b"\\ude00",
    b"\"null\"",
    b"\"extra_content\":{\"a\":1},",
    b"\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"},",
    b"\"stop\"",
    b"\"max_output_tokens\"",
    b"\"custom_tool_call\"",
    b"\"server_tool_use\"",
    b"\"length\"",
    b"\"max_tokens\"",
    b"\xef\xbb\xbf",
];

/// What must hold of every stream.
fn check(format: Format, stream: &[u8], chance: &mut Chance) {
    let whole = outcome(format, std::iter::once(stream));
    let piece_bytes = 1 + chance.below(64);
    assert_eq!(outcome(format, stream.chunks(piece_bytes)), whole, "in pieces of {piece_bytes}");
    let (_, Ok(Some(answer))) = whole else { return };
    check_answer(&answer);
    check_return(format, &answer);
    // What follows a finished answer takes nothing back of it. A document ends where it ends.
    if stream.ends_with(b"\n\n") && !stream.trim_ascii_start().starts_with(b"{") {
        for tail in [&b"data: <html>\n\n"[..], b"error: {\"message\":\"too late\"}\n\n", b"data: [DONE] \n\n"] {
            let (_, longer) = outcome(format, [stream, tail].into_iter());
            assert_eq!(longer.unwrap().unwrap(), answer, "behind it: {}", String::from_utf8_lossy(tail));
        }
    }
}

fn check_answer(answer: &LlmResponse) {
    for block in &answer.blocks {
        match block {
            ResponseBlock::Opaque { json, .. } => {
                let value: serde_json::Value = serde_json::from_str(json).unwrap();
                assert!(value.is_object(), "a block that cannot go back: {json}");
            }
            ResponseBlock::Text(text) => assert!(!text.is_empty(), "an empty text"),
            _ => {}
        }
    }
}

/// What a session keeps of the answer can be sent in every format, to servers that are strict and to others: it is JSON, every call has its
/// result under the same id, no id stands for two, and no text is blank where that is refused.
fn check_return(format: Format, answer: &LlmResponse) {
    let Some(conversation) = support::answered(answer) else { return };
    let hosts = ["127.0.0.1", "api.openai.com", "api.mistral.ai"];
    for (to, host) in [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses]
        .into_iter()
        .zip(hosts)
        .chain([(format, "127.0.0.1"), (format, "api.openai.com")])
    {
        let mut request = support::request("go");
        request.conversation = conversation.clone();
        let body = Writer::new(to, host).write(&request).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let (calls, results) = support::ids(to, &body);
        assert_eq!(calls, results, "{to:?} {host}");
        let different: std::collections::BTreeSet<&String> = calls.iter().collect();
        assert_eq!(different.len(), calls.len(), "{to:?} {host}: {calls:?}");
        if to == Format::Anthropic {
            let messages = body["messages"].as_array().unwrap();
            let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
            let is_blank = |block: &serde_json::Value| {
                block["type"] == "text" && block["text"].as_str().unwrap().trim().is_empty()
            };
            assert_eq!(blocks.filter(|block| is_blank(block)).count(), 0, "{body}");
        }
    }
}

#[test]
fn errors_of_a_document_do_not_depend_on_the_pieces_of_the_blanks_before_it() {
    for format in [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses] {
        let whole = outcome(format, std::iter::once(&b"\n\n{"[..]));
        assert!(whole.1.is_err(), "{whole:?}");
        assert_eq!(outcome(format, b"\n\n{".chunks(1)), whole);
    }
}

#[test]
fn broken_streams_break_nothing() {
    let variable = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    let (seconds, seed) = (variable(SECONDS), variable(SEED));
    let seed = seed.unwrap_or_else(|| match seconds {
        // A long run goes where none has been; the short one is a test like any other.
        Some(_) => {
            u64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() & u128::from(u64::MAX)).unwrap() | 1
        }
        None => 0x2545_F491_4F6C_DD1D,
    });
    eprintln!("{SEED}={seed}");
    let begin = Instant::now();
    let mut chance = Chance(seed.max(1));
    let seeds = seeds();
    let mut rounds = 0_u64;
    while seconds.map_or(rounds < 2000, |seconds| begin.elapsed() < Duration::from_secs(seconds)) {
        let (format, stream) = &seeds[chance.below(seeds.len())];
        let (_, other) = &seeds[chance.below(seeds.len())];
        let state = chance.0;
        let stream = broken(stream, other, &mut chance);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(*format, &stream, &mut chance)));
        if checked.is_err() {
            let path = std::env::temp_dir().join(format!("fuzz-{state}.sse"));
            std::fs::write(&path, &stream).unwrap();
            panic!("{format:?}: round {rounds} with the state {state}: the stream is in {}", path.display());
        }
        rounds += 1;
    }
    eprintln!("{rounds} streams of {} kinds", seeds.len());
}
