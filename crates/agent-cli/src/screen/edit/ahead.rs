//! Keys that were pressed while nothing read them.

use super::editor::{Editor, Input};
use termina::event::{KeyCode, KeyEventKind, Modifiers};

/// Puts into the line what was typed ahead. It is text, and sends nothing.
pub(crate) fn type_ahead(editor: &mut Editor, input: &Input) {
    let Input::Key(key) = input else {
        let _ = editor.input(input);
        return;
    };
    match key.code {
        _ if key.kind == KeyEventKind::Release => {}
        KeyCode::Enter => editor.begin_row(),
        KeyCode::Char('j') if key.modifiers.contains(Modifiers::CONTROL) => editor.begin_row(),
        KeyCode::Char(letter) if !key.modifiers.intersects(Modifiers::CONTROL | Modifiers::ALT) => {
            let _ = editor.input(&Input::Paste(letter.to_string()));
        }
        KeyCode::Backspace => drop(editor.input(input)),
        _ => {}
    }
}
