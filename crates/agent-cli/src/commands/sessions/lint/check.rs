//! What is wrong with the conversation of a file, and the edits that mend it.

use super::dialect::{Call, Entry, Format, Said};
use super::lines::{self, Line};
use super::rings::Rings;
use super::{Finding, Kind};
use crate::failure::Failure;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// What came of a look at a file.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) lines: usize,
    /// In the order of the lines.
    pub(super) findings: Vec<Finding>,
    pub(super) edits: Edits,
}

/// What a copy has otherwise. Lines are numbered as in the original.
#[derive(Default)]
pub(super) struct Edits {
    /// Lines that hold no record.
    pub(super) dropped: BTreeSet<usize>,
    /// By line: the places of results that answer nothing.
    pub(super) without: BTreeMap<usize, Vec<usize>>,
    /// By the line of the call: answers to be put in.
    pub(super) answers: BTreeMap<usize, Vec<Missing>>,
    /// By line: what it stands behind instead of what is not there.
    pub(super) parents: BTreeMap<usize, Option<String>>,
    /// Lines that stay behind what they stand behind when an answer is put there.
    pub(super) stays: HashSet<usize>,
}

/// An answer that is not there.
pub(super) struct Missing {
    pub(super) call: Call,
    /// The line that it comes behind.
    pub(super) behind: usize,
    /// The entry that it stands behind, where that is not the call's.
    pub(super) anchor: Option<String>,
}

pub(super) fn check(format: Format, path: &Path) -> Result<Checked, Failure> {
    let mut check = Check::new(format);
    let lines = lines::each(path, |line| {
        check.line(&line);
        Ok(())
    })?;
    Ok(check.finish(lines))
}

struct Check {
    format: Format,
    found: Checked,
    /// Every entry, with the message at or above it.
    ids: HashMap<String, Option<Spoke>>,
    /// Entries whose parent was not there yet, and what they could stand behind instead.
    orphans: Vec<Orphan>,
    /// What each entry stands behind.
    parents: HashMap<String, String>,
    /// Entries that others need.
    needed: Vec<(usize, String)>,
    /// The last entry, and the message at or above it.
    last: (Option<String>, Option<Spoke>),
    calls: Vec<Open>,
    /// By its id, the latest of the calls.
    latest: HashMap<String, usize>,
    answers: Vec<Answer>,
    named: HashMap<String, usize>,
}

/// An entry whose parent did not stand before it.
struct Orphan {
    line: usize,
    id: Option<String>,
    parent: String,
    /// What it could stand behind instead.
    instead: Option<String>,
}

/// Who spoke, and in which line.
#[derive(Clone, Copy)]
struct Spoke {
    line: usize,
    who: Who,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    User,
    Model(usize),
    Tools,
}

/// A call, and the line of its result.
struct Open {
    call: Call,
    line: usize,
    answer: usize,
    result: Option<usize>,
}

/// An answer of the model, which may have several lines, and the results of its calls.
#[derive(Default)]
struct Answer {
    lines: Vec<usize>,
    last_result: Option<String>,
}

impl Check {
    fn new(format: Format) -> Self {
        Self {
            format,
            found: Checked::default(),
            ids: HashMap::new(),
            orphans: Vec::new(),
            parents: HashMap::new(),
            needed: Vec::new(),
            last: (None, None),
            calls: Vec::new(),
            latest: HashMap::new(),
            answers: Vec::new(),
            named: HashMap::new(),
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        match line.value() {
            Ok(value) => {
                let entry = self.format.entry(&value);
                match self.twin(&entry) {
                    Some(message) => {
                        self.error(line.number, Kind::DuplicateMessage, message);
                        self.found.edits.dropped.insert(line.number);
                    }
                    None => self.entry(line.number, entry),
                }
            }
            Err(error) => {
                let kind = if line.is_whole { Kind::Damaged } else { Kind::Torn };
                self.error(line.number, kind, format!("this is not a record: {error}"));
                self.found.edits.dropped.insert(line.number);
            }
        }
    }

    /// Whether the same stands there already: an entry by its id; a call that waits for its result, where a line is one call.
    fn twin(&self, entry: &Entry) -> Option<String> {
        if let Some(id) = &entry.id {
            return self.ids.contains_key(id).then(|| format!("{id} exists already"));
        }
        let Said::Model { calls, .. } = &entry.said else { return None };
        let call = calls.first().filter(|_| self.format == Format::Codex)?;
        let open = self.latest.get(&call.id).map(|call| &self.calls[*call]).filter(|open| open.result.is_none())?;
        Some(format!("the call {} in line {} still waits for its result", call.id, open.line))
    }

    fn entry(&mut self, line: usize, entry: Entry) {
        let before = self.before(line, &entry);
        if let Some(needed) = entry.needs {
            self.needed.push((line, needed));
        }
        let who = match entry.said {
            Said::Nothing => None,
            Said::User => Some(Who::User),
            Said::Model { answer, calls } => Some(self.model(line, answer, calls, before.flatten())),
            Said::Results(results) => {
                results.into_iter().for_each(|(at, id)| self.result(line, at, &id, entry.id.as_deref()));
                Some(Who::Tools)
            }
        };
        if let (Some(who), Some(before), true) = (who, before, self.format.takes_turns() && !entry.is_aside) {
            self.turns(line, who, before);
        }
        let spoke = who.map(|who| Spoke { line, who }).or(before.flatten());
        if let Some(id) = &entry.id {
            self.ids.insert(id.clone(), spoke);
        }
        if !entry.is_aside {
            self.last = (entry.id.or(self.last.0.take()), spoke);
        }
    }

    /// The message that an entry comes behind; nothing when that is not known.
    fn before(&mut self, line: usize, entry: &Entry) -> Option<Option<Spoke>> {
        let Some(parent) = &entry.parent else {
            // Where there are no parents, the order of the lines counts; where there are, this is a beginning.
            let is_chained = self.format.parent_field().is_some() && entry.id.is_some();
            return Some(if is_chained { None } else { self.last.1 });
        };
        let found = self.ids.get(parent).copied();
        if found.is_none() {
            let (id, parent, instead) = (entry.id.clone(), parent.clone(), self.last.0.clone());
            self.orphans.push(Orphan { line, id, parent, instead });
        }
        if let Some(id) = &entry.id {
            self.parents.insert(id.clone(), parent.clone());
        }
        found
    }

    fn model(&mut self, line: usize, name: Option<String>, calls: Vec<Call>, before: Option<Spoke>) -> Who {
        let known = match (&name, before) {
            (Some(name), _) => self.named.get(name).copied(),
            (None, Some(Spoke { who: Who::Model(answer), .. })) if self.format.parent_field().is_none() => Some(answer),
            (None, _) => None,
        };
        let answer = known.unwrap_or_else(|| {
            self.answers.push(Answer::default());
            self.answers.len() - 1
        });
        if let Some(name) = name {
            self.named.insert(name, answer);
        }
        self.answers[answer].lines.push(line);
        for call in calls {
            self.latest.insert(call.id.clone(), self.calls.len());
            self.calls.push(Open { call, line, answer, result: None });
        }
        Who::Model(answer)
    }

    fn result(&mut self, line: usize, at: usize, id: &str, entry: Option<&str>) {
        let Some(call) = self.latest.get(id).map(|call| &mut self.calls[*call]) else {
            self.error(line, Kind::UnknownResult, format!("no earlier call has the id {id}"));
            self.found.edits.without.entry(line).or_default().push(at);
            return;
        };
        if let Some(first) = call.result {
            self.error(line, Kind::DuplicateResult, format!("the call {id} already has its result in line {first}"));
            self.found.edits.without.entry(line).or_default().push(at);
            return;
        }
        call.result = Some(line);
        let (answer, called) = (call.answer, call.line);
        let is_last = answer + 1 == self.answers.len();
        self.answers[answer].lines.push(line);
        self.answers[answer].last_result = entry.map(str::to_owned);
        if self.format.takes_turns() && !is_last {
            let message = format!("the model continued before the call {id} in line {called} had its result");
            self.note(line, Kind::LateResult, message);
        }
    }

    /// Who may speak behind whom.
    fn turns(&mut self, line: usize, who: Who, before: Option<Spoke>) {
        let message = match (before, who) {
            (None, Who::Model(_)) => String::from("the conversation begins with the model"),
            (Some(Spoke { line, who: Who::User }), Who::User) => {
                format!("the user's previous message, in line {line}, has no answer")
            }
            (Some(Spoke { line, who: Who::Model(before) }), Who::Model(now)) if before != now => {
                format!("the model's previous answer is in line {line}; nothing follows it before this one")
            }
            _ => return,
        };
        self.note(line, Kind::Alternation, message);
    }

    fn finish(mut self, lines: usize) -> Checked {
        self.found.lines = lines;
        let mut rings = Rings::of(&self.parents);
        for Orphan { line, id, parent, instead } in std::mem::take(&mut self.orphans) {
            if !self.ids.contains_key(&parent) {
                self.error(line, Kind::MissingMessage, format!("its parent {parent} is missing"));
                self.found.edits.parents.insert(line, instead);
            } else if let Some(id) = id.filter(|id| rings.cut(id)) {
                self.error(line, Kind::Cycle, format!("its parent {parent} is also its descendant"));
                let instead = instead.filter(|instead| rings.hang(&id, instead));
                self.found.edits.parents.insert(line, instead);
            }
        }
        for (line, needed) in std::mem::take(&mut self.needed) {
            if !self.ids.contains_key(&needed) {
                self.error(line, Kind::MissingMessage, format!("it refers to {needed}, which is missing"));
            }
        }
        // What an answer's calls have in common is found once for all of them.
        let mut ends: Vec<Option<usize>> = vec![None; self.answers.len()];
        for open in std::mem::take(&mut self.calls) {
            if open.result.is_none() && !open.call.is_void {
                let behind = *ends[open.answer].get_or_insert_with(|| {
                    let lines = &self.answers[open.answer].lines;
                    self.found.edits.stays.extend(lines);
                    lines.iter().copied().max().unwrap_or(open.line)
                });
                self.unanswered(open, behind);
            }
        }
        self.found.findings.sort_by_key(|finding| finding.line);
        self.found
    }

    fn unanswered(&mut self, Open { call, line, answer, .. }: Open, behind: usize) {
        let message = format!("the call {} of {} has no result", call.id, call.name);
        self.error(line, Kind::Unanswered, message);
        let anchor = self.answers[answer].last_result.clone().filter(|_| self.format.chains_results());
        self.found.edits.answers.entry(line).or_default().push(Missing { call, behind, anchor });
    }

    fn error(&mut self, line: usize, kind: Kind, message: String) {
        self.found.findings.push(Finding::error(line, kind, message));
    }

    fn note(&mut self, line: usize, kind: Kind, message: String) {
        self.found.findings.push(Finding::note(line, kind, message));
    }
}
