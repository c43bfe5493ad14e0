//! Where the bytes of an answer come from: the network, with or without a recording of it, or a recording.

use crate::cassette::{NotRecorded, Playback, Take};
use agent_types::llm::LlmError;
use bytes::Bytes;
use reqwest::Response;

/// The body of an answer, read piece by piece.
#[derive(Debug)]
pub(crate) enum Body {
    Sent { response: Response, take: Option<Take> },
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
            Self::Sent { response, take } => {
                let piece = response.chunk().await.map_err(Broke::Network)?;
                if let Some(take) = take {
                    let recorded = match &piece {
                        Some(piece) => take.piece(piece),
                        None => take.ended(),
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
        if let Self::Sent { take: Some(take), .. } = self {
            take.failed(error);
        }
    }
}
