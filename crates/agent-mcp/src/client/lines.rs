//! Reads what a server writes, and gives up where one line has no end.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// Whether what a server writes has ended, and why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closed(Arc<OnceLock<&'static str>>, CancellationToken);

impl Closed {
    /// Resolves at the end, with the reason where this side ended it.
    pub(crate) async fn closed(&self) -> Option<&'static str> {
        self.1.cancelled().await;
        self.0.get().copied()
    }

    /// Whatever was open is closed; the first reason is the reason.
    pub(super) fn close(&self, why: Option<&'static str>) {
        if let Some(why) = why {
            let _ = self.0.set(why);
        }
        self.1.cancel();
    }
}

/// A reader that fails where a line is longer than the limit. What is behind it would drop the line and wait for an answer that was in it.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    inner: R,
    limit_bytes: usize,
    in_line: usize,
    closed: Closed,
}

impl<R> Lines<R> {
    pub(crate) const fn new(inner: R, limit_bytes: usize, closed: Closed) -> Self {
        Self { inner, limit_bytes, in_line: 0, closed }
    }
}

/// Who reads no more has heard all.
impl<R> Drop for Lines<R> {
    fn drop(&mut self) {
        self.closed.close(None);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = ready!(Pin::new(&mut self.inner).poll_read(cx, buf));
        let new = buf.filled().get(before..).unwrap_or_default();
        if read.is_err() || new.is_empty() && buf.remaining() > 0 {
            self.closed.close(None);
        }
        read?;
        self.in_line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => new.len() - end - 1,
            None => self.in_line + new.len(),
        };
        if self.in_line > self.limit_bytes {
            self.closed.close(Some(TOO_LONG));
            buf.set_filled(before);
            return Poll::Ready(Err(io::Error::other(TOO_LONG)));
        }
        Poll::Ready(Ok(()))
    }
}

const TOO_LONG: &str = "it wrote a message that is too long";

#[cfg(test)]
mod tests {
    use super::{Closed, Lines, TOO_LONG};
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn a_line_has_an_end_and_many_lines_have_none() {
        let mut read = Vec::new();
        let many = "12345678\n".repeat(1_000);
        Lines::new(many.as_bytes(), 8, Closed::default()).read_to_end(&mut read).await.unwrap();
        assert_eq!(read, many.as_bytes());
        let endless = tokio::io::repeat(b'x').take(1_000_000);
        let closed = Closed::default();
        let failed = Lines::new(endless, 100_000, closed.clone()).read_to_end(&mut read).await.unwrap_err();
        assert_eq!((failed.to_string().as_str(), closed.closed().await), (TOO_LONG, Some(TOO_LONG)));
        assert!(read.len() < 200_000, "{}", read.len());
    }
}
