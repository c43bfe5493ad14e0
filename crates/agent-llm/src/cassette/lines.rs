//! The records of a cassette.

use agent_types::llm::LlmError;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt::Write as _;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line<'a> {
    /// The first.
    Cassette(Head),
    /// A call was made.
    #[serde(borrow)]
    Request(Request<'a>),
    /// The server began to answer it.
    Answer(Answer),
    /// A piece of the answer's body came.
    #[serde(borrow)]
    Piece(Piece<'a>),
    /// Nothing more came, or was waited for.
    End(End),
}

/// What is the same for all calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) version: u32,
    pub(crate) dialect: String,
    /// Without user, password and query.
    pub(crate) base_url: String,
    /// For the texts of errors: where the user keeps the key, and whether there was one.
    pub(crate) key_variable: String,
    pub(crate) has_key: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request<'a> {
    pub(super) call: u64,
    /// Without user, password and query.
    #[serde(borrow)]
    pub(super) url: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) body: &'a RawValue,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(super) call: u64,
    /// Milliseconds after the request.
    pub(crate) at_ms: u64,
    pub(crate) status: u16,
    /// Those that tell how to read the answer, when to try again, and where to ask what happened.
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Piece<'a> {
    pub(super) call: u64,
    /// Milliseconds after the request.
    pub(super) at_ms: u64,
    #[serde(flatten, borrow)]
    pub(super) content: Content<'a>,
}

/// The bytes of a piece.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    /// Where they are no text by themselves: a piece may end within a character.
    #[serde(borrow)]
    Hex(Cow<'a, str>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) call: u64,
    /// Milliseconds after the request.
    pub(super) at_ms: u64,
    pub(super) how: How,
}

/// How a call ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum How {
    /// The body ended.
    Complete,
    /// The rest was not awaited: the call was cancelled, or the answer was complete without it.
    Left,
    /// It failed, for a reason that the bytes do not tell.
    Failed(LlmError),
}

impl<'a> Content<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        match core::str::from_utf8(bytes) {
            Ok(text) => Self::Text(Cow::Borrowed(text)),
            Err(_) => {
                let mut hex = String::with_capacity(bytes.len() * 2);
                for byte in bytes {
                    // Writing to a string cannot fail.
                    let _ = write!(hex, "{byte:02x}");
                }
                Self::Hex(Cow::Owned(hex))
            }
        }
    }

    pub(super) fn into_bytes(self) -> Result<Bytes, String> {
        match self {
            Self::Text(text) => Ok(Bytes::from(text.into_owned())),
            Self::Hex(hex) => {
                let pairs = hex.as_bytes().chunks(2).map(|pair| {
                    let pair = core::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
                    u8::from_str_radix(pair, 16).ok()
                });
                let bytes: Option<Vec<u8>> = pairs.collect();
                bytes.map(Bytes::from).ok_or_else(|| "a piece whose `hex` is not hexadecimal".to_owned())
            }
        }
    }
}
