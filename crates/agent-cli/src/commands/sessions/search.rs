//! `agent sessions search`: the lines that have all of the words, with who said them, in the newest session first.
//!
//! A journal is read record by record, in the memory of one. What cannot be read is passed over and reported at the end. Of the agents
//! below a session, the outcomes are searched: they stand in the journals of those above them.

use super::args::Search;
use super::{failed, write, write_json};
use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, one_line, say};
use crate::session::kept::{all_stores, store};
use agent_core::agent;
use agent_core::child;
use agent_core::conversation::{Answer, Block, Item};
use agent_core::job::time::rfc3339;
use agent_core::journal::{Entry, Record};
use agent_core::llm::ResponseBlock;
use agent_core::session::Event;
use agent_runner::journal::{ReadError, Reader, SessionInfo, SessionStore, descendant_id, root_of};
use serde::Serialize;

/// A line that has the words, in the names of the JSON form.
#[derive(Serialize)]
struct Hit {
    session_id: String,
    /// The session's, where it was given one.
    name: Option<String>,
    /// In which the session works.
    directory: String,
    /// The number of the record.
    seq: u64,
    at: String,
    who: String,
    /// The line, or what stands around the words in a long one.
    line: String,
}

/// Why a session, or a part of it, was not searched.
#[derive(Serialize)]
struct Skipped {
    session_id: String,
    why: String,
}

#[derive(Serialize)]
struct Found {
    hits: Vec<Hit>,
    skipped: Vec<Skipped>,
    /// Whether the search ended at the limit.
    is_cut: bool,
}

/// Exit code 0 when something was found, and 1 when nothing was.
pub(super) fn search(arguments: &Search) -> Result<u8, Failure> {
    let words = Words::of(arguments)?;
    let stores = match arguments.all {
        true => all_stores()?,
        false => vec![store(&working_directory(arguments.place.directory.as_deref())?)?],
    };
    let mut sessions: Vec<(&SessionStore, SessionInfo)> = Vec::new();
    for store in &stores {
        let listed = store.list().map_err(|error| failed(&error))?;
        sessions.extend(listed.into_iter().map(|session| (store, session)));
    }
    sessions.sort_by(|(_, one), (_, other)| other.modified.cmp(&one.modified).then_with(|| other.id.cmp(&one.id)));
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let found = Found { hits: Vec::new(), skipped: Vec::new(), is_cut: false };
    let mut look = Look { words, limit, found, is_shown: !arguments.json, shows_directory: arguments.all };
    for (store, session) in &sessions {
        if look.found.is_cut {
            break;
        }
        look.session(store, session)?;
    }
    let found = look.found;
    if arguments.json {
        let text = serde_json::to_string(&found).map_err(Failure::internal)?;
        write_json(&format!("{text}\n"))?;
    }
    tell(&found, sessions.len());
    Ok(u8::from(found.hits.is_empty()))
}

fn tell(found: &Found, searched: usize) {
    for Skipped { session_id, why } in found.skipped.iter().take(MOST_SKIPPED_SHOWN) {
        say(&format!("agent: not searched in {}: {}", inline(session_id), one_line(why, 300)));
    }
    if let Some(more @ 1..) = found.skipped.len().checked_sub(MOST_SKIPPED_SHOWN) {
        say(&format!("agent: {more} more could not be searched"));
    }
    if found.is_cut {
        say(&format!("agent: the first {}; `--limit` shows more", counted(found.hits.len() as u64, "line")));
    } else if found.hits.is_empty() {
        say(&format!("agent: nothing was found in {}", counted(searched as u64, "session")));
    }
}

struct Look {
    words: Words,
    limit: usize,
    found: Found,
    /// Whether lines are written as they are found.
    is_shown: bool,
    shows_directory: bool,
}

impl Look {
    fn session(&mut self, store: &SessionStore, session: &SessionInfo) -> Result<(), Failure> {
        self.journal(store, &session.id, said)?;
        match store.descendants(&session.id) {
            Ok(below) => below.iter().try_for_each(|id| self.journal(store, id, outcomes)),
            Err(error) => {
                self.skip(&session.id, error.to_string());
                Ok(())
            }
        }
    }

    /// One journal: of each record what `texts` finds in it.
    fn journal(&mut self, store: &SessionStore, id: &str, texts: Texts) -> Result<(), Failure> {
        if self.found.is_cut {
            return Ok(());
        }
        let opened = store.existing(id).map_err(|error| error.to_string());
        let mut records = match opened.and_then(|path| Reader::open(&path).map_err(|error| error.to_string())) {
            Ok(records) => records,
            Err(why) => {
                self.skip(id, why);
                return Ok(());
            }
        };
        let (mut directory, mut is_damaged) = (String::new(), false);
        while let Some(record) = records.next() {
            match record {
                Ok(record) => {
                    if let Entry::Header(header) = &record.entry {
                        directory.clone_from(&header.directory);
                    }
                    self.record(store, (id, &directory), &record, texts)?;
                    if self.found.is_cut {
                        return Ok(());
                    }
                }
                Err(error) => {
                    let is_damage = matches!(error, ReadError::Damaged { .. });
                    if !std::mem::replace(&mut is_damaged, true) {
                        self.skip(id, error.to_string());
                    }
                    if !is_damage || !records.pass_over() {
                        return Ok(());
                    }
                }
            }
        }
        if records.torn_bytes() > 0 {
            self.skip(id, format!("the last record is cut ({} bytes)", records.torn_bytes()));
        }
        Ok(())
    }

    fn record(
        &mut self,
        store: &SessionStore,
        (id, directory): (&str, &str),
        record: &Record,
        texts: Texts,
    ) -> Result<(), Failure> {
        let session = root_of(id).unwrap_or(id);
        for Text { below, who, text } in texts(record) {
            let id = below.map_or_else(|| id.to_owned(), |number| descendant_id(id, &[number]));
            for line in text.lines().filter(|line| self.words.are_in(line)) {
                if self.found.hits.len() == self.limit {
                    self.found.is_cut = true;
                    return Ok(());
                }
                let hit = Hit {
                    session_id: id.clone(),
                    name: store.name(session),
                    directory: directory.to_owned(),
                    seq: record.seq,
                    at: rfc3339(record.at_ms),
                    who: who.clone(),
                    line: self.words.around(line),
                };
                if self.is_shown {
                    write(&hit.shown(self.shows_directory))?;
                }
                self.found.hits.push(hit);
            }
        }
        Ok(())
    }

    fn skip(&mut self, id: &str, why: String) {
        self.found.skipped.push(Skipped { session_id: id.to_owned(), why });
    }
}

impl Hit {
    fn shown(&self, with_directory: bool) -> String {
        // To the minute.
        let at = self.at.get(..16).unwrap_or(&self.at).replace('T', " ");
        let name = self.name.as_ref().map(|name| format!(" ({})", one_line(name, 80))).unwrap_or_default();
        let directory = if with_directory { format!(" in {}", inline(&self.directory)) } else { String::new() };
        let (id, who, line) = (inline(&self.session_id), inline(&self.who), inline(&self.line));
        format!("{id}{name}{directory}  {at}  {who}: {line}\n")
    }
}

/// A text of a record, and whose it is: the agent's of the journal, or of the child with this number.
struct Text<'a> {
    below: Option<u32>,
    who: String,
    text: &'a str,
}

/// What is searched of a record.
type Texts = for<'a> fn(&'a Record) -> Vec<Text<'a>>;

/// What a record tells that somebody said, a tool answered, or became of an agent below.
fn said(record: &Record) -> Vec<Text<'_>> {
    let texts = match &record.entry {
        Entry::History(item) => said_before(item),
        Entry::Event(agent::Event::Session(event)) => said_now(event),
        _ => return outcomes(record),
    };
    texts.into_iter().map(|(who, text)| Text { below: None, who, text }).collect()
}

/// What became of an agent below, as the one above it has it.
fn outcomes(record: &Record) -> Vec<Text<'_>> {
    let Entry::Event(agent::Event::Child { number, event }) = &record.entry else { return Vec::new() };
    let text = |text| Text { below: Some(*number), who: String::from("outcome"), text };
    match &**event {
        child::Event::Rested { rest, .. } => {
            let outcome = &rest.outcome;
            outcome.reason.as_deref().into_iter().chain([outcome.text.as_str()]).map(text).collect()
        }
        child::Event::BeginFailed { found, .. }
        | child::Event::Lost { found, .. }
        | child::Event::Cleared { left: child::Left::Unknown { found }, .. } => vec![text(found)],
        child::Event::Cleared { left: child::Left::Changes { path, branch, .. }, .. } => vec![text(branch), text(path)],
        _ => Vec::new(),
    }
}

fn said_now(event: &Event) -> Vec<(String, &str)> {
    match event {
        Event::LlmCompleted { response, .. } => response.blocks.iter().filter_map(block).collect(),
        Event::LlmAborted { partial_text, .. } => vec![(String::from("agent"), partial_text)],
        Event::ToolCompleted { outcome, .. } => vec![(String::from("result"), &outcome.content)],
        event => event.message().map(|text| (String::from("you"), text)).into_iter().collect(),
    }
}

/// The same of what was said in another program.
fn said_before(item: &Item) -> Vec<(String, &str)> {
    match item {
        Item::Input(input) => input.texts().into_iter().map(|text| (String::from("you"), text)).collect(),
        Item::Summary(summary) => vec![(String::from("summary"), summary.text())],
        Item::Answer(answer) => said_in(answer).collect(),
        Item::Round(round) => {
            let results = round.results().iter().map(|result| (String::from("result"), result.content()));
            said_in(round.answer()).chain(results).collect()
        }
    }
}

fn said_in(answer: &Answer) -> impl Iterator<Item = (String, &str)> {
    answer.blocks().iter().filter_map(|block| match block {
        Block::Text(text) => Some((String::from("agent"), text.as_str())),
        Block::Call(call) => Some((format!("call of {}", call.name), call.arguments.as_str())),
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Opaque { .. } => None,
    })
}

fn block(block: &ResponseBlock) -> Option<(String, &str)> {
    match block {
        ResponseBlock::Text(text) => Some((String::from("agent"), text)),
        ResponseBlock::Call(call) => Some((format!("call of {}", call.name), &call.arguments)),
        ResponseBlock::Thinking { .. } | ResponseBlock::RedactedThinking { .. } | ResponseBlock::Opaque { .. } => None,
    }
}

/// What is searched for.
struct Words {
    /// In small letters, where the case does not matter.
    words: Vec<String>,
    is_case_sensitive: bool,
}

impl Words {
    fn of(arguments: &Search) -> Result<Self, Failure> {
        let is_case_sensitive = arguments.case_sensitive;
        let mut words: Vec<String> = arguments.words.iter().filter(|word| !word.trim().is_empty()).cloned().collect();
        if words.is_empty() {
            return Err(Failure::usage("give the words to search for, not only blanks"));
        }
        if !is_case_sensitive {
            words.iter_mut().for_each(|word| *word = word.to_lowercase());
        }
        Ok(Self { words, is_case_sensitive })
    }

    fn are_in(&self, line: &str) -> bool {
        let line = self.folded(line);
        self.words.iter().all(|word| line.contains(word))
    }

    fn folded<'a>(&self, line: &'a str) -> std::borrow::Cow<'a, str> {
        if self.is_case_sensitive { line.into() } else { line.to_lowercase().into() }
    }

    /// The line, or so much of a long one as has its first word in it.
    fn around(&self, line: &str) -> String {
        let line = line.trim();
        if line.chars().count() <= MOST_CHARS {
            return line.to_owned();
        }
        // Small letters may be more or fewer than the line's own. That moves the part a little.
        let folded = self.folded(line);
        let first = self.words.iter().filter_map(|word| folded.find(word)).min().unwrap_or_default();
        let before = folded.get(..first).map_or(0, |before| before.chars().count());
        let skipped = before.saturating_sub(MOST_CHARS / 4);
        let part: String = line.chars().skip(skipped).take(MOST_CHARS).collect();
        let begin = if skipped > 0 { "…" } else { "" };
        let end = if skipped + MOST_CHARS < line.chars().count() { "…" } else { "" };
        format!("{begin}{part}{end}")
    }
}

/// Characters of a line that are shown.
const MOST_CHARS: usize = 160;
/// More are only counted.
const MOST_SKIPPED_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(words: &[&str], is_case_sensitive: bool) -> Words {
        let fold = |word: &&str| if is_case_sensitive { (*word).to_owned() } else { word.to_lowercase() };
        Words { words: words.iter().map(fold).collect(), is_case_sensitive }
    }

    #[test]
    fn every_word_counts_and_the_case_only_when_it_is_asked_for() {
        assert!(words(&["parser", "MEND"], false).are_in("Mend the Parser"));
        assert!(words(&["größe"], false).are_in("GRÖSSE GRÖẞE Größe"));
        assert!(!words(&["parser", "printer"], false).are_in("Mend the parser"));
        assert!(words(&["the parser"], false).are_in("mend the parser"));
        assert!(!words(&["parser the"], false).are_in("mend the parser"), "a phrase is in its order");
        assert!(!words(&["parser"], true).are_in("Mend the Parser") && words(&["Parser"], true).are_in("a Parser"));
    }

    proptest! {
        /// Whatever stands around it: the word is in the part that is shown, and the part is short.
        #[test]
        fn the_part_of_a_long_line_has_the_word(before in "[a-z ]{0,900}", after in "[a-z ]{0,900}") {
            let line = format!("{before}NEEDLE{after}");
            let part = words(&["needle"], false).around(&line);
            prop_assert!(part.contains("NEEDLE"), "{part}");
            prop_assert!(part.chars().count() <= MOST_CHARS + 2);
        }

        #[test]
        fn no_line_makes_it_panic(line in ".{0,400}", word in ".{1,4}") {
            let words = words(&[&word], false);
            let _ = (words.are_in(&line), words.around(&line));
        }
    }
}
