//! A question of yes or no at the terminal, outside of a session: one key answers it.
//!
//! What was typed before it stood there, and what is pasted, is no answer.

use crate::screen::edit::editor::Input;
use crate::screen::keys::{Keys, next};
use crate::screen::terminal::{KeyByKey, say};
use std::io;
use std::time::Duration;
use termina::event::{KeyCode, KeyEvent, KeyEventKind, Modifiers};

/// Asks, and returns whether the answer is yes.
///
/// # Errors
/// The terminal cannot be read.
pub(crate) fn confirmed(question: &str) -> io::Result<bool> {
    let _terminal = KeyByKey::take()?;
    let mut bytes = [0; 64];
    // What still comes was meant for something else.
    while let Some(1..) = next(&mut bytes, Some(TO_READ)) {}
    say(&format!("{question} [y/N]"));
    let mut keys = Keys::default();
    loop {
        let inputs = match next(&mut bytes, keys.patience()) {
            Some(0) => keys.quiet(),
            Some(length) => keys.take(bytes.get(..length).unwrap_or_default()),
            None => return Ok(false),
        };
        for input in inputs {
            match input {
                Input::Paste(_) => say("agent: a paste is no answer: press y or n"),
                Input::PasteWaits { .. } => {}
                Input::Key(key) => {
                    if let Some(is_yes) = meaning(key) {
                        say(if is_yes { "yes" } else { "no" });
                        return Ok(is_yes);
                    }
                }
            }
        }
    }
}

/// What a key says, if it says anything.
fn meaning(key: KeyEvent) -> Option<bool> {
    let is_control = key.modifiers.intersects(Modifiers::CONTROL | Modifiers::ALT);
    match key.code {
        _ if key.kind == KeyEventKind::Release => None,
        KeyCode::Char('y' | 'Y') if !is_control => Some(true),
        KeyCode::Char('n' | 'N') if !is_control => Some(false),
        KeyCode::Char('c' | 'd' | 'j') if is_control => Some(false),
        KeyCode::Enter | KeyCode::Escape => Some(false),
        _ => None,
    }
}

/// For so long nothing may come before the question is put.
const TO_READ: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_y_is_yes() {
        for (code, modifiers, expected) in [
            (KeyCode::Char('y'), Modifiers::NONE, Some(true)),
            (KeyCode::Char('Y'), Modifiers::SHIFT, Some(true)),
            (KeyCode::Char('y'), Modifiers::CONTROL, None),
            (KeyCode::Char('n'), Modifiers::NONE, Some(false)),
            (KeyCode::Char('c'), Modifiers::CONTROL, Some(false)),
            (KeyCode::Enter, Modifiers::NONE, Some(false)),
            (KeyCode::Escape, Modifiers::NONE, Some(false)),
            (KeyCode::Char('x'), Modifiers::NONE, None),
        ] {
            assert_eq!(meaning(KeyEvent::new(code, modifiers)), expected, "{code:?}");
        }
    }
}
