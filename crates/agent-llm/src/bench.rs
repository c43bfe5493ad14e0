//! The two ends of a provider without the network between them, for `benches/` and for tests from outside.

pub use crate::format::{Format, Writer};
use crate::intake::Intake;
use crate::reader::{Assemble, Broken, Progress};
use crate::{anthropic, openai, responses};
use agent_types::llm::{Delta, LlmResponse};

/// Reads a stream that comes in pieces and counts its deltas.
///
/// # Panics
/// When it is not a stream of this format.
pub fn read<'a>(format: Format, pieces: impl Iterator<Item = &'a [u8]>) -> usize {
    match format {
        Format::Anthropic => read_by(anthropic::Assembly::default(), pieces),
        Format::OpenAiChat => read_by(openai::Assembly::default(), pieces),
        Format::OpenAiResponses => read_by(responses::Assembly::default(), pieces),
    }
}

#[expect(clippy::panic, reason = "a bench that measures a failure must not go on")]
fn read_by<'a>(assembly: impl Assemble, pieces: impl Iterator<Item = &'a [u8]>) -> usize {
    let mut intake = Intake::new(assembly);
    let mut count = 0;
    for piece in pieces {
        if let Err(broken) = intake.feed(piece) {
            panic!("not a stream of this format: {broken:?}");
        }
        count += intake.deltas.len();
        intake.deltas.clear();
    }
    let _ = intake.assembly.finish();
    count
}

/// Reads a stream of any bytes, for `tests/fuzz.rs` and `fuzz/`. Returns the text of the deltas, and the answer or the reason why there is
/// none.
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
    assembly: impl Assemble,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (String, Result<Option<LlmResponse>, String>) {
    let mut intake = Intake::new(assembly);
    let mut outcome = Ok(());
    for piece in pieces {
        outcome = intake.feed(piece).map(|_| ());
        if outcome.is_err() {
            break;
        }
    }
    let outcome = outcome.and_then(|()| intake.end());
    let shown = intake.deltas.iter().map(|(Delta::Text(text) | Delta::Thinking(text))| text.as_str()).collect();
    let answer = match (outcome, intake.assembly.progress()) {
        (Err(Broken::Reported(detail)), _) => Err(format!("reported: {detail:?}")),
        (Err(Broken::Malformed(found)), _) => Err(format!("malformed: {found}")),
        (Ok(()), Progress::Open) => Ok(None),
        (Ok(()), Progress::Enough | Progress::Ended) => Ok(Some(intake.assembly.finish())),
    };
    (shown, answer)
}
