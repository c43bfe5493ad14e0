//! Which lines of a file are the conversation, in their order, and where they are. Of a line only numbers are kept.
//!
//! Where lines name the one that they follow, the conversation is the way from the last line back to a beginning. With it come the other
//! lines of its answers, and the results of its calls, which may stand beside that way. A line follows an earlier one only, so every way
//! ends.

use super::super::lint::dialect::{Entry, Format, Said, text};
use super::super::lint::lines::{Found, Line, each_within};
use super::changes::Changes;
use crate::failure::Failure;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::Path;

/// The lines of a conversation.
pub(super) struct Selected {
    pub(super) format: Format,
    /// Where each begins, and its length.
    pub(super) places: Vec<(u64, usize)>,
    pub(super) session_id: String,
    /// Where the program worked.
    pub(super) directory: String,
    /// The model that answered last; empty where no line names one.
    pub(super) model: String,
    /// Of all bytes of the file.
    pub(super) fingerprint: String,
    pub(super) changes: Changes,
}

/// Reads the file once.
pub(super) fn select(path: &Path, file: &File) -> Result<Selected, Failure> {
    let mut summed = Summed { file, length: 0, sum: FNV_OFFSET };
    let mut look = Look::default();
    each_within(path, &mut summed, MOST_LINE_BYTES, |found| {
        match found {
            Found::TooLong { .. } => look.changes.too_long += 1,
            Found::Line(line) => look.line(&line),
        }
        look.check(path)
    })?;
    let fingerprint = format!("{}-{:016x}", summed.length, summed.sum);
    let Some(format) = look.format else {
        let path = path.display();
        return Err(Failure::input(format!("cannot import {path}: no line belongs to a known kind of session")));
    };
    let mut numbers = match format.parent_field() {
        Some(_) => look.way(),
        None => std::mem::take(&mut look.row),
    };
    // Lines so far back would be left out in any case.
    let mut room = MOST_BYTES;
    let kept = numbers.iter().rev().take_while(|number| {
        let length = look.metas[**number as usize].place.1 as u64;
        let has_room = length <= room;
        room = room.saturating_sub(length);
        has_room
    });
    let older = numbers.len() - kept.count();
    look.changes.older += older as u64;
    numbers.drain(..older);
    Ok(Selected {
        format,
        places: numbers.iter().map(|number| look.metas[*number as usize].place).collect(),
        session_id: look.session_id,
        directory: look.directory,
        model: look.model,
        fingerprint,
        changes: look.changes,
    })
}

/// What is kept of a line.
#[derive(Clone, Copy)]
struct Meta {
    place: (u64, usize),
    parent: Option<u32>,
    answer: Option<u64>,
    is_aside: bool,
    /// Whether it is something of the conversation.
    says: bool,
    /// Of a summary: what it leaves in place.
    keeps_from: Option<u64>,
    is_summary: bool,
}

#[derive(Default)]
struct Look {
    format: Option<Format>,
    session_id: String,
    directory: String,
    model: String,
    metas: Vec<Meta>,
    by_id: HashMap<u64, u32>,
    /// Which line calls what, and which has a result of it.
    calls: Vec<(u32, u64)>,
    results: Vec<(u32, u64)>,
    /// The last line that is not aside.
    last: Option<u32>,
    /// Where nothing names what it follows: the lines so far, and where the user's turns begin among them.
    row: Vec<u32>,
    turns: Vec<usize>,
    changes: Changes,
}

impl Look {
    fn line(&mut self, line: &Line<'_>) {
        let Ok(value) = line.value() else {
            self.changes.damaged += 1;
            return;
        };
        self.format = self.format.or_else(|| Format::of_line(&value));
        let Some(format) = self.format else { return };
        self.about(format, &value);
        let number = u32::try_from(self.metas.len()).unwrap_or(u32::MAX);
        let entry = format.entry(&value);
        let is_own_summary = format == Format::Pi && value["type"] == "compaction";
        let meta = Meta {
            place: (line.offset, line.bytes.len()),
            parent: None,
            answer: None,
            is_aside: entry.is_aside,
            says: false,
            keeps_from: entry.needs.as_deref().map(hash),
            is_summary: is_own_summary,
        };
        match format.parent_field() {
            Some(_) => self.chained(number, entry, meta),
            None => self.in_row(number, &value, &entry, meta),
        }
    }

    /// What the file says about its session. The first word counts.
    fn about(&mut self, format: Format, line: &Value) {
        let (id, directory) = match format {
            Format::ClaudeCode => (text(line, "sessionId"), text(line, "cwd")),
            Format::Codex if line["type"] == "session_meta" => {
                (text(&line["payload"], "id"), text(&line["payload"], "cwd"))
            }
            Format::Pi if line["type"] == "session" => (text(line, "id"), text(line, "cwd")),
            Format::Codex | Format::Pi | Format::Agent => (None, None),
        };
        let short = |text: String| text.chars().take(LONGEST_WORD).collect();
        let model = match format {
            Format::ClaudeCode => text(&line["message"], "model"),
            Format::Codex if line["type"] == "turn_context" => text(&line["payload"], "model"),
            Format::Pi => text(&line["message"], "model"),
            Format::Codex | Format::Agent => None,
        };
        // Claude Code's own messages have the name of no model.
        if let Some(model) = model.filter(|model| !model.trim().is_empty() && !model.starts_with('<')) {
            self.model = short(model);
        }
        if let Some(id) = id.filter(|_| self.session_id.is_empty()) {
            self.session_id = short(id);
        }
        if let Some(directory) = directory.filter(|_| self.directory.is_empty()) {
            self.directory = short(directory);
        }
    }

    fn chained(&mut self, number: u32, entry: Entry, meta: Meta) {
        let Entry { id, parent, said, is_aside, .. } = entry;
        let says = !matches!(said, Said::Nothing);
        let Some(id) = id.as_deref().map(hash) else {
            // An early form has no ids: its lines follow each other.
            if says {
                let parent = self.last;
                self.add(number, said, Meta { parent, ..meta });
            }
            return;
        };
        if self.by_id.contains_key(&id) {
            self.changes.duplicates += 1;
            return;
        }
        let parent = parent.and_then(|parent| {
            let found = self.by_id.get(&hash(&parent)).copied();
            self.changes.misplaced += u64::from(found.is_none());
            found.or(self.last)
        });
        self.by_id.insert(id, number);
        self.add(number, said, Meta { parent, is_aside, ..meta });
    }

    fn add(&mut self, number: u32, said: Said, mut meta: Meta) {
        meta.says = meta.is_summary
            || match &said {
                Said::Nothing => false,
                Said::Results(results) => !results.is_empty(),
                Said::User | Said::Model { .. } => true,
            };
        match said {
            Said::Model { answer, calls } => {
                meta.answer = answer.as_deref().map(hash);
                self.calls.extend(calls.iter().map(|call| (number, hash(&call.id))));
            }
            Said::Results(results) => self.results.extend(results.iter().map(|(_, id)| (number, hash(id)))),
            Said::Nothing | Said::User => {}
        }
        if !meta.is_aside {
            self.last = Some(number);
        }
        self.metas.push(meta);
    }

    /// Codex writes items in a row, a summary in place of those before it, and that turns were taken back.
    fn in_row(&mut self, number: u32, line: &Value, entry: &Entry, meta: Meta) {
        let kind = line["type"].as_str().unwrap_or_default();
        let payload = &line["payload"];
        if kind == "event_msg" && payload["type"] == "thread_rolled_back" {
            let count = payload["num_turns"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
            let at = self.turns.len().saturating_sub(count);
            if let Some(begin) = self.turns.get(at).copied() {
                self.changes.elsewhere += (self.row.len() - begin) as u64;
                self.row.truncate(begin);
                self.turns.truncate(at);
            }
            return;
        }
        if kind == "compacted" {
            self.row.clear();
            self.turns.clear();
        } else if kind != "response_item" {
            return;
        } else if matches!(entry.said, Said::User) && payload["role"] == "user" {
            self.turns.push(self.row.len());
        }
        self.metas.push(meta);
        self.row.push(number);
    }

    /// The numbers of the lines from the beginning to the last one, with what belongs to them.
    fn way(&mut self) -> Vec<u32> {
        let mut is_on = vec![false; self.metas.len()];
        let (mut at, mut says) = (self.last, false);
        while let Some(number) = at {
            let meta = &self.metas[number as usize];
            is_on[number as usize] = true;
            says |= meta.says;
            // A beginning behind which nothing was said: the program was ended there, and what was before counts.
            let before = || self.on_before(number);
            at = meta.parent.or_else(|| if says { None } else { before() });
        }
        let of_way: HashSet<u64> = self.on(&is_on).filter_map(|(_, meta)| meta.answer).collect();
        let mut more: Vec<u32> = self.beside(&is_on, |meta| meta.answer.is_some_and(|answer| of_way.contains(&answer)));
        more.iter().for_each(|number| is_on[*number as usize] = true);
        let called: HashSet<u64> =
            self.calls.iter().filter(|(line, _)| is_on[*line as usize]).map(|(_, id)| *id).collect();
        let answers = self.results.iter().filter(|(_, id)| called.contains(id)).map(|(line, _)| *line);
        more = answers.filter(|line| !self.metas[*line as usize].is_aside).collect();
        more.iter().for_each(|number| is_on[*number as usize] = true);
        let mut way: Vec<u32> = self.on(&is_on).map(|(number, _)| number).collect();
        let left = self.metas.len() - way.len();
        self.changes.elsewhere += left as u64;
        self.begin_with_summary(&mut way);
        way
    }

    /// The last summary stands in place of what it does not keep.
    fn begin_with_summary(&mut self, way: &mut Vec<u32>) {
        let Some(at) = way.iter().rposition(|number| self.metas[*number as usize].is_summary) else { return };
        let summary = way[at];
        let kept = self.metas[summary as usize].keeps_from.and_then(|id| self.by_id.get(&id)).copied();
        let first = kept.unwrap_or(summary);
        way.retain(|number| *number >= first && *number != summary);
        way.insert(0, summary);
    }

    /// The line before that is not aside.
    fn on_before(&self, number: u32) -> Option<u32> {
        (0..number).rev().find(|before| !self.metas[*before as usize].is_aside)
    }

    fn on<'a>(&'a self, is_on: &'a [bool]) -> impl Iterator<Item = (u32, &'a Meta)> {
        (0..).zip(&self.metas).filter(|(number, _)| is_on[*number as usize])
    }

    fn beside(&self, is_on: &[bool], is_wanted: impl Fn(&Meta) -> bool) -> Vec<u32> {
        let all = (0..).zip(&self.metas).filter(|(number, meta)| !is_on[*number as usize] && !meta.is_aside);
        all.filter(|(_, meta)| is_wanted(meta)).map(|(number, _)| number).collect()
    }

    /// A limit on what is kept in memory.
    fn check(&self, path: &Path) -> Result<(), Failure> {
        let numbers = [
            (self.metas.len(), "lines of a conversation"),
            (self.calls.len(), "calls"),
            (self.results.len(), "results"),
        ];
        match numbers.iter().find(|(number, _)| *number > MOST_OF_EACH) {
            None => Ok(()),
            Some((_, what)) => {
                let path = path.display();
                Err(Failure::input(format!("cannot import {path}: it has more than {MOST_OF_EACH} {what}")))
            }
        }
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// A file of which all bytes are summed as they are read (FNV-1a).
struct Summed<'a> {
    file: &'a File,
    length: u64,
    sum: u64,
}

impl Read for Summed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.length += length as u64;
        self.sum =
            buffer.iter().take(length).fold(self.sum, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
        Ok(length)
    }
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;
/// A value in memory takes many times the bytes of its text.
pub(super) const MOST_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Of lines that are read a second time.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
const MOST_OF_EACH: usize = 2_000_000;
const LONGEST_WORD: usize = 4_000;
