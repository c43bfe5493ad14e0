//! A copy of a file with the edits. What needs none is copied to the byte.

use super::check::{Checked, Edits, Missing};
use super::dialect::{Format, text};
use super::lines;
use crate::failure::Failure;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the copy to a file that is not there yet.
pub(super) fn write(format: Format, path: &Path, checked: &Checked, out: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::input(format!("cannot write {}: {error}", out.display()));
    let file = BufWriter::new(create(out).map_err(failed)?);
    // Half a copy is no session.
    fill(file, format, path, checked, failed).inspect_err(|_| drop(std::fs::remove_file(out)))
}

fn fill(
    file: BufWriter<File>,
    format: Format,
    path: &Path,
    checked: &Checked,
    failed: impl Fn(io::Error) -> Failure + Copy,
) -> Result<(), Failure> {
    let mut copy = Edited {
        format,
        edits: &checked.edits,
        file,
        put_in: BTreeMap::new(),
        gone: HashMap::new(),
        moved: HashMap::new(),
    };
    lines::each(path, |line| {
        let value = line.value();
        match value {
            Ok(value) if !checked.edits.dropped.contains(&line.number) => copy.line(line.number, line.bytes, value),
            _ => Ok(()),
        }
        .and_then(|()| copy.answers_behind(line.number))
        .map_err(failed)
    })?;
    copy.file.flush().and_then(|()| copy.file.get_ref().sync_data()).map_err(failed)
}

/// What a session holds is its owner's; and what is there already is not overwritten.
fn create(out: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(out)
}

struct Edited<'a> {
    format: Format,
    edits: &'a Edits,
    file: BufWriter<File>,
    /// Answers that come behind a line further down.
    put_in: BTreeMap<usize, Vec<Value>>,
    /// Entries that are left out, and what they stood behind.
    gone: HashMap<String, Option<String>>,
    /// Entries behind which answers were put in, and the last of these.
    moved: HashMap<String, String>,
}

impl Edited<'_> {
    fn line(&mut self, number: usize, bytes: &[u8], mut value: Value) -> io::Result<()> {
        for missing in self.edits.answers.get(&number).into_iter().flatten() {
            self.answer(&value, missing);
        }
        let parent = self.parent(number, &value);
        let is_moved = parent.as_ref().is_some_and(|(was, is)| was != is);
        if let (Some(field), Some((_, parent)), true) = (self.format.parent_field(), &parent, is_moved) {
            value[field] = parent.clone().into();
        }
        if let Some(places) = self.edits.without.get(&number) {
            // Elsewhere a line is one result.
            if self.format != Format::ClaudeCode || !without(&mut value, places) {
                if let Some(id) = self.format.entry(&value).id {
                    // Nothing stands behind itself, whatever is written.
                    let parent = parent.and_then(|(_, parent)| parent).filter(|parent| *parent != id);
                    self.gone.insert(id, parent);
                }
                return Ok(());
            }
        } else if !is_moved {
            self.file.write_all(bytes)?;
            return self.file.write_all(b"\n");
        }
        self.put(&value)
    }

    /// Makes an answer that is missing, to be written further down.
    fn answer(&mut self, call_line: &Value, missing: &Missing) {
        let mut answer = self.format.answer(call_line, &missing.call);
        let entry = self.format.entry(&answer);
        if let (Some(field), Some(id), Some(parent)) = (self.format.parent_field(), entry.id, entry.parent) {
            let anchor = missing.anchor.clone().unwrap_or(parent);
            // Behind one that was put in there before.
            let parent = self.moved.insert(anchor.clone(), id).unwrap_or(anchor);
            answer[field] = parent.into();
        }
        self.put_in.entry(missing.behind).or_default().push(answer);
    }

    /// What an entry stood behind, and what it stands behind now.
    fn parent(&self, number: usize, value: &Value) -> Option<(Option<String>, Option<String>)> {
        let was = text(value, self.format.parent_field()?);
        let mut is = self.edits.parents.get(&number).cloned().unwrap_or_else(|| was.clone());
        while let Some(before) = is.as_ref().and_then(|id| self.gone.get(id)) {
            is.clone_from(before);
        }
        if !self.edits.stays.contains(&number)
            && let Some(answer) = is.as_ref().and_then(|id| self.moved.get(id))
        {
            is = Some(answer.clone());
        }
        Some((was, is))
    }

    fn answers_behind(&mut self, number: usize) -> io::Result<()> {
        let answers = self.put_in.remove(&number).unwrap_or_default();
        answers.iter().try_for_each(|answer| self.put(answer))
    }

    fn put(&mut self, value: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, value)?;
        self.file.write_all(b"\n")
    }
}

/// Takes blocks out of a line; false when nothing is left of it.
fn without(value: &mut Value, places: &[usize]) -> bool {
    let Some(blocks) = value["message"]["content"].as_array_mut() else { return false };
    let (mut at, places) = (0.., places.iter().collect::<HashSet<_>>());
    blocks.retain(|_| at.next().is_none_or(|at| !places.contains(&at)));
    !blocks.is_empty()
}
