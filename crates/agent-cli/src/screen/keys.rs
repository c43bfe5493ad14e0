//! Keys and pastes of a terminal in raw mode, read on a thread of their own.
//!
//! A paste ends at its mark, however long it pauses: what follows a pause is still text and no key, so no line of a paste sends a message
//! or answers a question. Only Ctrl-C, which is a signal and no byte, gives up a paste whose end is lost.
//!
//! The mark that begins a paste may itself be cut by a pause (a slow line, a busy machine). An escape character alone is a key then, but
//! the rest of the mark begins the paste all the same.

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
pub(crate) struct Keys {
    parser: Parser,
    /// The last bytes outside of a paste.
    tail: Vec<u8>,
    paste: Option<Vec<u8>>,
    /// How much of the mark that begins a paste is there after its first byte was taken for a key.
    cut: usize,
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

    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<Input> {
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
            self.outside(*byte, &mut inputs);
        }
        self.is_fresh = true;
        inputs
    }

    /// A byte that is in no paste. What may be the rest of a cut mark is held back until more is known.
    fn outside(&mut self, byte: u8, inputs: &mut Vec<Input>) {
        if self.cut > 0 {
            if BEGIN.get(self.cut) == Some(&byte) {
                self.cut += 1;
                if self.cut == BEGIN.len() {
                    self.begin_paste();
                }
                return;
            }
            self.no_mark(inputs);
        }
        // The parser would make one key of both, and text of what follows.
        if byte == ESCAPE && self.tail.last() == Some(&ESCAPE) {
            self.parser.parse(&[], false);
            self.keys(inputs);
        }
        if self.tail.len() == BEGIN.len() {
            self.tail.remove(0);
        }
        self.tail.push(byte);
        if self.tail == BEGIN {
            self.begin_paste();
        } else {
            self.parser.parse(&[byte], true);
            self.keys(inputs);
        }
    }

    /// What the parser has of the mark is dropped with it.
    fn begin_paste(&mut self) {
        *self = Self { paste: Some(Vec::new()), ..Self::default() };
    }

    /// What was held back was typed.
    fn no_mark(&mut self, inputs: &mut Vec<Input>) {
        let held = BEGIN.get(1..self.cut).unwrap_or_default();
        self.cut = 0;
        held.iter().for_each(|byte| self.outside(*byte, inputs));
    }

    fn give_up(&mut self) {
        *self = Self::default();
    }

    /// Nothing came for a while: an escape character alone was the key. A paste is said to go on.
    pub(crate) fn quiet(&mut self) -> Vec<Input> {
        if let Some(paste) = &self.paste {
            let is_news = std::mem::take(&mut self.is_fresh);
            return if is_news { vec![Input::PasteWaits { bytes: paste.len() }] } else { Vec::new() };
        }
        self.is_fresh = false;
        let mut inputs = Vec::new();
        if self.cut > 1 {
            self.no_mark(&mut inputs);
            return inputs;
        }
        let begun =
            (1..BEGIN.len()).rev().find(|length| BEGIN.get(..*length).is_some_and(|mark| self.tail.ends_with(mark)));
        // No key is like more of the mark than its first byte.
        if begun.is_some_and(|length| length > 1) {
            return inputs;
        }
        self.parser.parse(&[], false);
        self.keys(&mut inputs);
        self.tail.clear();
        self.cut = self.cut.max(begun.unwrap_or_default());
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

    /// Whatever stands in the paste, none of it is a key: at a question, a `y` and Enter would answer.
    #[test]
    fn a_paste_whose_begin_mark_is_cut_anywhere_by_pauses_is_a_paste() {
        let bytes = b"\x1b[200~y\r\x1b[201~";
        let paste = Input::Paste(String::from("y\r"));
        for at in 1..BEGIN.len() {
            // After a lone escape character, what comes before another pause is what a person typed.
            let others = if at == 1 { BEGIN.len()..=BEGIN.len() } else { at + 1..=BEGIN.len() };
            for second in others {
                let mut keys = Keys::default();
                let mut inputs = Vec::new();
                for piece in [&bytes[..at], &bytes[at..second], &bytes[second..]] {
                    inputs.extend(keys.take(piece));
                    inputs.extend(keys.quiet());
                    inputs.extend(keys.quiet());
                }
                inputs.retain(|input| !matches!(input, Input::PasteWaits { .. }));
                let escape = (at == 1).then(|| key(KeyCode::Escape, Modifiers::NONE));
                assert_eq!(inputs, escape.into_iter().chain([paste.clone()]).collect::<Vec<_>>(), "{at} {second}");
            }
        }
    }

    #[test]
    fn what_is_typed_after_an_escape_key_is_typed() {
        let typed = |text: &str| text.chars().map(|c| key(KeyCode::Char(c), Modifiers::NONE)).collect::<Vec<_>>();
        for text in ["[", "[2", "[200", "[200x", "[x", "x", "[[200"] {
            for is_slow in [false, true] {
                let mut keys = Keys::default();
                let mut inputs = keys.take(b"\x1b");
                inputs.extend(keys.quiet());
                assert_eq!(inputs, [key(KeyCode::Escape, Modifiers::NONE)]);
                let mut inputs = Vec::new();
                for byte in text.bytes() {
                    inputs.extend(keys.take(&[byte]));
                    if is_slow {
                        assert_eq!(keys.patience(), Some(ESCAPE_PAUSE), "what is held back is not held for long");
                        inputs.extend(keys.quiet());
                    }
                }
                inputs.extend(keys.quiet());
                assert_eq!(inputs, typed(text), "{text} {is_slow}");
                assert_eq!(keys.take(b"\x1b[A"), [key(KeyCode::Up, Modifiers::NONE)], "{text}");
            }
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
