//! Keys and pastes of a terminal in raw mode, read on a thread of their own.
//!
//! A paste ends at its mark, however long it pauses: what follows a pause is still text and no key, so no line of a paste sends a message or
//! answers a question. Only Ctrl-C, which is a signal and no byte, gives up a paste whose end is lost.

use crate::failure::Failure;
use crate::screen::edit::editor::Input;
use crate::screen::lines::Line;
use crate::screen::terminal::hold_keys;
use crate::screen::threads;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use termina::{Event, Parser};
use tokio::sync::mpsc;

/// Gives up a paste that has begun and not ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct GiveUp(Arc<AtomicBool>);

impl GiveUp {
    /// The paste that is being read is dropped.
    pub(crate) fn paste(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Starts to read. The channel closes where the terminal is gone.
///
/// # Errors
/// When the system gives no thread.
pub(crate) fn read(give_up: GiveUp) -> Result<mpsc::UnboundedReceiver<Line>, Failure> {
    let (sender, receiver) = mpsc::unbounded_channel();
    threads::start("keys", move || {
        let mut keys = Keys::default();
        let mut bytes = [0; 4096];
        loop {
            let next = next(&mut bytes, keys.patience());
            if give_up.0.swap(false, Ordering::AcqRel) {
                keys.give_up();
            }
            let inputs = match next {
                Some(0) => keys.quiet(),
                Some(length) => keys.take(bytes.get(..length).unwrap_or_default()),
                None => return,
            };
            if inputs.into_iter().any(|input| sender.send(Line::Input(input)).is_err()) {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// The next bytes, none where nothing came for so long, nothing where the terminal is gone.
pub(super) fn next(bytes: &mut [u8], patience: Option<Duration>) -> Option<usize> {
    let stdin = io::stdin();
    let is_there = |patience: Option<Duration>| {
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        poll(&mut [PollFd::new(&stdin, PollFlags::IN)], patience.as_ref())
    };
    loop {
        match is_there(patience) {
            Ok(0) => return Some(0),
            Err(Errno::INTR) => continue,
            Err(_) => return None,
            Ok(_) => {}
        }
        // Another program may have been given the terminal while this one waited, and may have read what came.
        let _keys = hold_keys();
        match is_there(Some(Duration::ZERO)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) | Err(_) => {}
        }
        match rustix::io::read(&stdin, &mut *bytes) {
            Ok(0) => return None,
            Ok(length) => return Some(length),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
}

/// Makes keys and pastes of bytes.
#[derive(Debug, Default)]
pub(super) struct Keys {
    parser: Parser,
    /// The last bytes outside of a paste.
    tail: Vec<u8>,
    paste: Option<Vec<u8>>,
    is_fresh: bool,
}

impl Keys {
    /// How long to wait for the rest of what has begun.
    pub(super) fn patience(&self) -> Option<Duration> {
        match (&self.paste, self.is_fresh) {
            (Some(_), _) => Some(PASTE_PAUSE),
            (None, true) => Some(ESCAPE_PAUSE),
            (None, false) => None,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for byte in bytes {
            if let Some(paste) = &mut self.paste {
                paste.push(*byte);
                if paste.ends_with(END) {
                    paste.truncate(paste.len() - END.len());
                    inputs.extend(self.pasted());
                }
                continue;
            }
            // The parser would make one key of both, and text of what follows.
            if *byte == ESCAPE && self.tail.last() == Some(&ESCAPE) {
                self.parser.parse(&[], false);
                self.keys(&mut inputs);
            }
            if self.tail.len() == BEGIN.len() {
                self.tail.remove(0);
            }
            self.tail.push(*byte);
            if self.tail == BEGIN {
                // What the parser has of the mark is dropped with it.
                (self.parser, self.tail, self.paste) = (Parser::default(), Vec::new(), Some(Vec::new()));
            } else {
                self.parser.parse(&[*byte], true);
                self.keys(&mut inputs);
            }
        }
        self.is_fresh = true;
        inputs
    }

    fn give_up(&mut self) {
        *self = Self::default();
    }

    /// Nothing came for a while: an escape character alone was the key. A paste is said to go on.
    pub(super) fn quiet(&mut self) -> Vec<Input> {
        if let Some(paste) = &self.paste {
            let is_news = std::mem::take(&mut self.is_fresh);
            return if is_news { vec![Input::PasteWaits { bytes: paste.len() }] } else { Vec::new() };
        }
        self.is_fresh = false;
        let mut inputs = Vec::new();
        self.parser.parse(&[], false);
        self.keys(&mut inputs);
        self.tail.clear();
        inputs
    }

    fn pasted(&mut self) -> Option<Input> {
        let bytes = self.paste.take()?;
        Some(Input::Paste(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn keys(&mut self, inputs: &mut Vec<Input>) {
        while let Some(event) = self.parser.pop() {
            if let Event::Key(key) = event {
                inputs.push(Input::Key(key));
            }
        }
    }
}

/// What a terminal puts around what is pasted.
const BEGIN: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";
const ESCAPE: u8 = 0x1b;
/// The bytes of a key come together.
const ESCAPE_PAUSE: Duration = Duration::from_millis(50);
const PASTE_PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use termina::event::{KeyCode, KeyEvent, Modifiers};

    fn key(code: KeyCode, modifiers: Modifiers) -> Input {
        Input::Key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn keys_and_pastes_however_they_are_cut() {
        let bytes = "ü\x1b[D\r\n\x1b\r\x1b[200~a\r\x1b[D\x1b[201~\x1bOA\x1b[1;5C\x01".as_bytes();
        let expected = [
            key(KeyCode::Char('ü'), Modifiers::NONE),
            key(KeyCode::Left, Modifiers::NONE),
            key(KeyCode::Enter, Modifiers::NONE),
            key(KeyCode::Char('j'), Modifiers::CONTROL),
            key(KeyCode::Enter, Modifiers::ALT),
            Input::Paste(String::from("a\r\x1b[D")),
            key(KeyCode::Up, Modifiers::NONE),
            key(KeyCode::Right, Modifiers::CONTROL),
            key(KeyCode::Char('a'), Modifiers::CONTROL),
        ];
        for size in 1..bytes.len() {
            let mut keys = Keys::default();
            let inputs: Vec<Input> = bytes.chunks(size).flat_map(|piece| keys.take(piece)).collect();
            assert_eq!(inputs, expected, "in pieces of {size}");
            assert_eq!(keys.quiet(), []);
        }
    }

    #[test]
    fn an_escape_character_alone_is_a_key() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(b"\x1b"), []);
        assert_eq!(keys.quiet(), [key(KeyCode::Escape, Modifiers::NONE)]);
    }

    #[test]
    fn two_escape_characters_at_once_are_two_keys() {
        for size in [1, 2] {
            let mut keys = Keys::default();
            let mut inputs: Vec<Input> = b"\x1b\x1b".chunks(size).flat_map(|piece| keys.take(piece)).collect();
            inputs.extend(keys.quiet());
            assert_eq!(inputs, [key(KeyCode::Escape, Modifiers::NONE), key(KeyCode::Escape, Modifiers::NONE)]);
            assert_eq!(keys.quiet(), []);
            // Some terminals put one before a cursor key that is pressed with Alt.
            let inputs: Vec<Input> = b"\x1b\x1b[A".chunks(size).flat_map(|piece| keys.take(piece)).collect();
            assert_eq!(inputs, [key(KeyCode::Escape, Modifiers::NONE), key(KeyCode::Up, Modifiers::NONE)]);
        }
    }

    #[test]
    fn a_paste_goes_on_after_a_pause_until_its_end_or_until_it_is_given_up() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(b"\x1b[200~one\r"), []);
        assert_eq!(keys.quiet(), [Input::PasteWaits { bytes: 4 }]);
        assert_eq!(keys.quiet(), [], "said once for each pause");
        assert_eq!(keys.take(b"y\r"), []);
        assert_eq!(keys.take(b"\x1b[201~"), [Input::Paste(String::from("one\ry\r"))]);
        assert_eq!(keys.take(b"\x1b[200~lost"), []);
        keys.give_up();
        assert_eq!(keys.take(b"x"), [key(KeyCode::Char('x'), Modifiers::NONE)]);
    }
}
