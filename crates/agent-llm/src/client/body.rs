//! Where the bytes of an answer come from: the network, with or without a recording of it, or a recording.

use crate::cassette::{CallRecording, NotRecorded, Playback};
use agent_types::llm::LlmError;
use bytes::Bytes;
use reqwest::Response;

/// The body of an answer, read piece by piece.
#[derive(Debug)]
pub(crate) enum Body {
    Sent { response: Response, recording: Option<CallRecording> },
    Played(Playback),
}

/// Why the next piece cannot be had.
#[derive(Debug)]
pub(crate) enum Broke {
    /// The connection broke.
    Network(reqwest::Error),
    /// The piece came and could not be recorded.
    Unrecorded(NotRecorded),
    /// It was so when it was recorded.
    Played(LlmError),
}

impl Body {
    /// The next piece; nothing at the end. Dropping the future loses nothing.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Broke> {
        match self {
            Self::Sent { response, recording } => {
                let piece = response.chunk().await.map_err(Broke::Network)?;
                if let Some(recording) = recording {
                    let recorded = match &piece {
                        Some(piece) => recording.piece(piece),
                        None => recording.ended(),
                    };
                    recorded.map_err(Broke::Unrecorded)?;
                }
                Ok(piece)
            }
            Self::Played(playback) => playback.chunk().await.map_err(Broke::Played),
        }
    }

    /// Records that the call failed, for a reason that the bytes may not tell.
    pub(crate) fn failed(&mut self, error: &LlmError) {
        if let Self::Sent { recording: Some(recording), .. } = self {
            recording.failed(error);
        }
    }
}
