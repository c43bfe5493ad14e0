//! Response bodies: whole ones, and streams that trickle, stall and break as the script says.

use super::server::Shared;
use super::step::Ending;
use crate::reply::Reply;
use bytes::Bytes;
use futures_util::stream as streams;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A body that is sent at once.
pub(super) fn whole(text: String) -> Body {
    Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync()
}

/// A body of server-sent events that come at the pace of the reply and end as told.
pub(super) fn stream(
    mut events: Vec<String>,
    reply: &Reply,
    ending: Ending,
    error_event: impl Fn(&str, &str) -> String,
    shared: Arc<Shared>,
) -> Body {
    let last = match ending {
        Ending::Complete => None,
        Ending::Truncated { events: limit } => {
            events.truncate(limit);
            None
        }
        Ending::Cut { events: limit } => {
            events.truncate(limit);
            Some(Beat::Break)
        }
        Ending::Stall { events: limit } => {
            events.truncate(limit);
            Some(Beat::Stall)
        }
        Ending::Error { events: limit, kind, message } => {
            events.truncate(limit);
            Some(Beat::Send(error_event(&kind, &message)))
        }
    };
    let mut beats = VecDeque::new();
    for (index, event) in events.into_iter().enumerate() {
        beats.push_back(Beat::Wait(reply.delay_before(index == 0)));
        beats.push_back(Beat::Send(event));
    }
    beats.extend(last);
    let watch = Watch::new(shared);
    StreamBody::new(streams::unfold((beats, watch), play)).boxed_unsync()
}

/// One moment of a streamed response.
enum Beat {
    Wait(Duration),
    Send(String),
    Break,
    Stall,
}

type Played = (VecDeque<Beat>, Watch);

async fn play((mut beats, mut watch): Played) -> Option<(io::Result<Frame<Bytes>>, Played)> {
    loop {
        match beats.pop_front() {
            Some(Beat::Wait(delay)) if delay.is_zero() => {}
            Some(Beat::Wait(delay)) => tokio::time::sleep(delay).await,
            Some(Beat::Send(event)) => {
                if beats.is_empty() {
                    watch.end();
                }
                return Some((Ok(Frame::data(Bytes::from(event))), (beats, watch)));
            }
            Some(Beat::Break) => {
                // What was sent before must reach the client first: a pause makes the connection flush.
                tokio::task::yield_now().await;
                watch.end();
                return Some((Err(io::Error::other("cut by the script")), (beats, watch)));
            }
            Some(Beat::Stall) => pending().await,
            None => {
                watch.end();
                return None;
            }
        }
    }
}

/// Notices when a response is dropped before its end, which the client's leaving does.
pub(super) struct Watch {
    shared: Arc<Shared>,
    ended: bool,
}

impl Watch {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared, ended: false }
    }

    const fn end(&mut self) {
        self.ended = true;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.note_abandoned();
        }
    }
}
