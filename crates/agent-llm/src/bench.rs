//! The two ends of a provider without the network between them, for `benches/` and for tests from outside.

pub use crate::format::{Format, Writer};
use crate::reader::{Assemble, Broken, Progress};
use crate::sse::Scanner;
use crate::{anthropic, openai, responses};
use agent_core::llm::{Delta, LlmResponse};
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

/// Reads a stream of whatever bytes and gives what came of it, for `tests/fuzz.rs`: the text of the deltas, and the answer or the reason
/// why there is none.
pub fn outcome<'a>(
    format: Format,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (String, Result<Option<LlmResponse>, String>) {
    match format {
        Format::Anthropic => outcome_by(anthropic::Assembly::default(), pieces),
        Format::OpenAiChat => outcome_by(openai::Assembly::default(), pieces),
        Format::OpenAiResponses => outcome_by(responses::Assembly::default(), pieces),
    }
}

fn outcome_by<'a>(
    mut assembly: impl Assemble,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (String, Result<Option<LlmResponse>, String>) {
    let mut scanner = Scanner::default();
    let mut deltas = VecDeque::new();
    let mut failure = None;
    for piece in pieces {
        let read = scanner.feed(piece, &mut |event| assembly.event(event.data, &mut deltas).map(|_| ()));
        if let Err(broken) = read {
            failure = Some(match broken {
                Broken::Reported(detail) => format!("reported: {detail:?}"),
                Broken::Malformed(found) => format!("malformed: {found}"),
            });
            break;
        }
    }
    let shown = deltas.iter().map(|(Delta::Text(text) | Delta::Thinking(text))| text.as_str()).collect();
    let answer = match (failure, assembly.progress()) {
        (Some(failure), _) => Err(failure),
        (None, Progress::Open) => Ok(None),
        (None, Progress::Enough | Progress::Ended) => Ok(Some(assembly.finish())),
    };
    (shown, answer)
}
