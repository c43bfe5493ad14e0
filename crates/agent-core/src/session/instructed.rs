//! What instructions the model was given beside its system prompt: those of directories in which it works, and files of the prompt that
//! have changed since.
//!
//! 1. A file is given once as long as its bytes are the same. A file that has changed is given again, and is said to have changed.
//! 2. All texts together have as much room as the configuration leaves. A text beyond that is cut, and the place is marked.
//! 3. A summary leaves none of them in the conversation: from then on they are given again where the model works.
//! 4. The system prompt stays as it is, because every request begins with its bytes.

use super::Session;
use crate::conversation::UserMessage;
use crate::instructions::{GivenInstructions, Instructions, KnownInstructions};
use crate::picture::Digest;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The files that are in the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Instructed {
    files: BTreeMap<String, Digest>,
    /// Bytes of their texts.
    used_bytes: u64,
}

impl Instructed {
    /// Takes in what a call has found, and returns what the model reads of it.
    fn tell(&mut self, given: &GivenInstructions, found: Vec<Instructions>) -> Vec<String> {
        found.into_iter().filter_map(|found| self.tell_one(given, found)).collect()
    }

    fn tell_one(&mut self, given: &GivenInstructions, found: Instructions) -> Option<String> {
        let Instructions { path, digest, text, unusable } = found;
        let known = self.files.get(&path).or_else(|| given.files.get(&path));
        if known == Some(&digest) {
            return None;
        }
        let what = match known {
            Some(_) => "have changed and read now",
            None => "hold for work in its directory and below",
        };
        let shown: String =
            path.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
        let text = text.trim_end();
        if text.is_empty() || unusable.is_some() {
            self.files.insert(path, digest);
            return Some(match unusable {
                Some(why) => format!("[Instructions in {shown} cannot be used: {why}]"),
                None => format!("[Instructions in {shown} are what this call made them.]"),
            });
        }
        let left = usize::try_from(given.left_bytes.saturating_sub(self.used_bytes)).unwrap_or(usize::MAX);
        let kept = text.get(..text.floor_char_boundary(left)).unwrap_or_default();
        let cut = match text.len() - kept.len() {
            0 => String::new(),
            cut => format!("\n[… {cut} bytes left out: there is no more room for instructions]"),
        };
        self.used_bytes = self.used_bytes.saturating_add(kept.len() as u64);
        self.files.insert(path, digest);
        Some(format!("[Instructions in {shown} {what}:]\n\n{kept}{cut}"))
    }

    /// The configuration is another: a file of its prompt that differs from the one of the last prompt is as the new prompt has it.
    fn reconfigure(&mut self, before: &GivenInstructions, now: &GivenInstructions) {
        self.files.retain(|path, _| !now.files.contains_key(path) || before.files.get(path) == now.files.get(path));
    }
}

impl Session {
    /// The instructions that the model has been given. The driver hands them to each tool with its call.
    #[must_use]
    pub fn known_instructions(&self) -> KnownInstructions {
        let given = &self.config.instructions.files;
        match self.instructed.get() {
            None => given.clone(),
            Some(told) => {
                let all = given.iter().chain(&told.files);
                Arc::new(all.map(|(path, digest)| (path.clone(), *digest)).collect())
            }
        }
    }

    /// A call has found instructions.
    pub(super) fn take_instructions(&mut self, found: Vec<Instructions>) {
        if found.is_empty() {
            return;
        }
        let (config, outbox) = (&self.config.instructions, &mut self.outbox);
        self.instructed.change(|told| {
            told.tell(config, found).into_iter().for_each(|note| outbox.note(UserMessage::of_agent(note)));
        });
    }

    /// The configuration will be another.
    pub(super) fn reconfigure_instructions(&mut self, now: &GivenInstructions) {
        let before = &self.config.instructions;
        if before != now && !self.instructed.is_default() {
            self.instructed.change(|told| told.reconfigure(before, now));
        }
    }

    /// A summary took the place of the conversation.
    pub(super) fn forget_instructions(&mut self) {
        self.instructed.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;
    use alloc::vec;

    fn digest(byte: u8) -> Digest {
        Digest::new([byte; 32])
    }

    fn found(path: &str, byte: u8, text: &str) -> Instructions {
        Instructions { path: path.into(), digest: digest(byte), text: text.into(), unusable: None }
    }

    fn given(left_bytes: u64) -> GivenInstructions {
        GivenInstructions { files: Arc::new([("/p/AGENTS.md".to_string(), digest(1))].into()), left_bytes }
    }

    #[test]
    fn a_file_is_told_once_until_it_changes() {
        let (given, mut told) = (given(100), Instructed::default());
        assert_eq!(told.tell(&given, vec![found("/p/AGENTS.md", 1, "head")]), [""; 0], "it is in the prompt");
        let first = told.tell(&given, vec![found("/p/a/AGENTS.md", 2, "one\n"), found("/p/a/AGENTS.md", 2, "one\n")]);
        assert_eq!(first, ["[Instructions in /p/a/AGENTS.md hold for work in its directory and below:]\n\none"]);
        assert_eq!(told.tell(&given, vec![found("/p/a/AGENTS.md", 2, "one\n")]), [""; 0]);
        for path in ["/p/a/AGENTS.md", "/p/AGENTS.md"] {
            let again = told.tell(&given, vec![found(path, 3, "two")]);
            assert_eq!(again, [format!("[Instructions in {path} have changed and read now:]\n\ntwo")]);
            assert_eq!(told.tell(&given, vec![found(path, 3, "two")]), [""; 0]);
        }
    }

    #[test]
    fn a_file_without_a_text_is_known_from_then_on() {
        let (given, mut told) = (given(100), Instructed::default());
        let said = told.tell(&given, vec![found("/p/AGENTS.md", 2, "")]);
        assert_eq!(said, ["[Instructions in /p/AGENTS.md are what this call made them.]"]);
        assert_eq!(told.tell(&given, vec![found("/p/AGENTS.md", 2, "text")]), [""; 0]);
        let link = Instructions { unusable: Some("it is a link".into()), ..found("/p/a/AGENTS.md", 3, "") };
        let said = told.tell(&given, vec![link.clone(), link]);
        assert_eq!(said, ["[Instructions in /p/a/AGENTS.md cannot be used: it is a link]"]);
    }

    #[test]
    fn all_texts_together_keep_within_their_room_and_what_is_cut_is_marked() {
        let (given, mut told) = (given(7), Instructed::default());
        let said = told.tell(&given, vec![found("/a", 1, "12345"), found("/b\n", 2, "1éé"), found("/c", 3, "x")]);
        assert!(said[0].ends_with(":]\n\n12345"), "{said:?}");
        assert!(said[1].starts_with("[Instructions in /b\u{fffd} hold"), "{said:?}");
        assert!(said[1].ends_with("\n\n1\n[… 4 bytes left out: there is no more room for instructions]"), "{said:?}");
        assert!(said[2].contains(":]\n\nx"), "what was left of the room is used: {said:?}");
        assert_eq!(told.used_bytes, 7);
    }

    #[test]
    fn a_new_prompt_counts_for_the_files_that_it_has_anew() {
        let before = given(100);
        let mut told = Instructed::default();
        told.tell(&before, vec![found("/p/AGENTS.md", 2, "changed"), found("/p/a/AGENTS.md", 3, "below")]);
        told.reconfigure(&before, &before);
        assert_eq!(told.files.len(), 2, "the same prompt changes nothing");
        let now = GivenInstructions { files: Arc::new([("/p/AGENTS.md".to_string(), digest(4))].into()), ..before };
        told.reconfigure(&given(100), &now);
        assert_eq!(told.files.keys().collect::<Vec<_>>(), ["/p/a/AGENTS.md"]);
    }
}
