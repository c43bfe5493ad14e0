//! Answers of model servers, in all three formats. `cargo xtask fuzz` breaks known streams instead, without coverage.

#![no_main]

use agent_llm::bench::{Format, outcome};
use libfuzzer_sys::fuzz_target;
use std::iter;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece_bytes, stream) = input;
    for format in [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses] {
        let whole = outcome(format, iter::once(stream));
        let in_pieces = outcome(format, stream.chunks(1 + usize::from(piece_bytes)));
        assert_eq!(in_pieces, whole, "the outcome depends on the pieces that the network made");
    }
});
