//! Plays the calls of a cassette.

use super::compare::difference;
use super::lines::How;
use super::{Call, Cassette, Matching};
use agent_types::llm::{LlmError, LlmErrorKind};
use bytes::Bytes;
use core::time::Duration;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::{Instant, sleep_until};

/// A cassette and what has been played of it.
#[derive(Debug)]
pub(crate) struct Player {
    cassette: Arc<Cassette>,
    matching: Matching,
    /// What of each recorded request is compared.
    views: Vec<Value>,
    was_played: Mutex<Vec<bool>>,
    pub(crate) at_recorded_pace: bool,
}

impl Player {
    pub(crate) fn new(cassette: Cassette, matching: Matching) -> Self {
        let views = cassette.calls.iter().map(|call| matching.view(&call.body)).collect();
        let was_played = Mutex::new(vec![false; cassette.calls.len()]);
        Self { cassette: Arc::new(cassette), matching, views, was_played, at_recorded_pace: false }
    }

    pub(crate) fn cassette(&self) -> &Cassette {
        &self.cassette
    }

    /// How many calls have not been played yet.
    pub(crate) fn left(&self) -> usize {
        let was_played = self.was_played.lock().unwrap_or_else(PoisonError::into_inner);
        was_played.iter().filter(|was| !**was).count()
    }

    /// The first call that was not played yet and whose request was this one.
    pub(crate) fn find(&self, body: &[u8]) -> Result<Playback, LlmError> {
        let wrong = |found: String| LlmError::new(LlmErrorKind::InvalidRequest, format!("replay the call: {found}"));
        let now: Value = serde_json::from_slice(body).map_err(|error| wrong(error.to_string()))?;
        let now = self.matching.view(&now);
        let mut was_played = self.was_played.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = was_played.iter_mut().zip(&self.views).enumerate().filter(|(_, (was, _))| !**was);
        let Some((next, (was_next_played, view))) = open.next() else {
            let calls = self.cassette.calls.len();
            return Err(wrong(format!(
                "all {calls} calls of the recording have been played, and one more was requested"
            )));
        };
        let Some(found) = difference(view, &now) else {
            *was_next_played = true;
            return Ok(self.playback(next));
        };
        if let Some((index, (was, _))) = open.find(|(_, (_, view))| **view == now) {
            *was = true;
            return Ok(self.playback(index));
        }
        let hint = match self.matching {
            Matching::Exact => "; lenient matching compares only messages and calls",
            Matching::Lenient => "",
        };
        Err(wrong(format!("the request differs from call {} of the recording: {found}{hint}", next + 1)))
    }

    fn playback(&self, index: usize) -> Playback {
        Playback {
            cassette: Arc::clone(&self.cassette),
            index,
            next_piece: 0,
            began: Instant::now(),
            at_recorded_pace: self.at_recorded_pace,
        }
    }
}

/// One recorded call, being played.
#[derive(Debug)]
pub(crate) struct Playback {
    cassette: Arc<Cassette>,
    index: usize,
    next_piece: usize,
    began: Instant,
    at_recorded_pace: bool,
}

impl Playback {
    /// Where the request went.
    pub(crate) fn url(&self) -> &str {
        self.call().map_or("", |call| call.url.as_str())
    }

    /// Status and headers.
    pub(crate) async fn answer(&self) -> Result<(u16, HeaderMap), LlmError> {
        let Some(answer) = self.call().and_then(|call| call.answer.as_ref()) else {
            return match self.end().await {
                Err(error) => Err(error),
                Ok(()) => Err(self.left()),
            };
        };
        self.wait(answer.at_ms).await;
        let headers = answer.headers.iter().filter_map(|(name, value)| {
            Some((HeaderName::try_from(name.as_str()).ok()?, HeaderValue::try_from(value.as_str()).ok()?))
        });
        Ok((answer.status, headers.collect()))
    }

    /// The next piece of the body; nothing at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, LlmError> {
        let piece = self.call().and_then(|call| call.pieces.get(self.next_piece)).cloned();
        let Some((at_ms, piece)) = piece else {
            self.end().await?;
            return Ok(None);
        };
        self.wait(at_ms).await;
        self.next_piece += 1;
        Ok(Some(piece))
    }

    async fn end(&self) -> Result<(), LlmError> {
        let Some((at_ms, how)) = self.call().and_then(|call| call.end.as_ref()) else { return Err(self.left()) };
        self.wait(*at_ms).await;
        match how {
            How::Complete => Ok(()),
            How::Left => Err(self.left()),
            How::Failed(error) => Err(error.clone()),
        }
    }

    fn left(&self) -> LlmError {
        let number = self.index + 1;
        let found = format!("replay the call: the recording of call {number} ends here: it was cancelled or cut");
        LlmError::new(LlmErrorKind::InvalidRequest, found)
    }

    async fn wait(&self, at_ms: u64) {
        if self.at_recorded_pace {
            // A time beyond the range of a clock is not waited for.
            let due = self.began.checked_add(Duration::from_millis(at_ms));
            sleep_until(due.unwrap_or(self.began)).await;
        }
    }

    fn call(&self) -> Option<&Call> {
        self.cassette.calls.get(self.index)
    }
}
