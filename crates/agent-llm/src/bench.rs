//! The two ends of a provider without the network between them, for `benches/`.

pub use crate::format::{Format, Writer};
use crate::reader::{Assemble, Broken};
use crate::sse::Scanner;
use crate::{anthropic, openai, responses};
use std::collections::VecDeque;

/// Reads a stream that comes in pieces and counts its deltas.
///
/// # Panics
/// When it is no stream of this format.
pub fn read<'a>(format: Format, pieces: impl Iterator<Item = &'a [u8]>) -> usize {
    match format {
        Format::Anthropic => read_by(anthropic::Assembly::default(), pieces),
        Format::OpenAiChat => read_by(openai::Assembly::default(), pieces),
        Format::OpenAiResponses => read_by(responses::Assembly::default(), pieces),
    }
}

#[expect(clippy::panic, reason = "a bench that measures a failure must not go on")]
fn read_by<'a>(mut assembly: impl Assemble, pieces: impl Iterator<Item = &'a [u8]>) -> usize {
    let mut scanner = Scanner::default();
    let mut deltas = VecDeque::new();
    let mut count = 0;
    for piece in pieces {
        let outcome: Result<(), Broken> =
            scanner.feed(piece, &mut |event| assembly.event(event.data, &mut deltas).map(|_| ()));
        if let Err(broken) = outcome {
            panic!("not a stream of this format: {broken:?}");
        }
        count += deltas.len();
        deltas.clear();
    }
    let _ = assembly.finish();
    count
}
