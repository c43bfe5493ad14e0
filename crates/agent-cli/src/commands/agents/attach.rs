//! `agent attach`: what an agent says and does, as its journal gets it; lines that are typed are sent to it.

use super::args::One;
use super::lines::{newest, of};
use super::reach::{Named, find, tell};
use super::watch::Watch;
use crate::failure::Failure;
use crate::screen::terminal::{in_rows, inline, one_line, print, say};
use crate::session::door::Request;
use rustix::io::Errno;
use std::time::Duration;

/// Shows an agent until it has an outcome, or no program runs it any more.
pub(crate) fn run(arguments: &One) -> Result<u8, Failure> {
    let watching = |error| Failure::internal(format!("cannot watch the session's journals: {error}"));
    let mut named = find(arguments)?;
    let watch = Watch::new().map_err(watching)?;
    let folder = named.tree.store.folder_below(&named.tree.root).map_err(Failure::internal)?;
    // What is written between the first look and the watch is seen by the second look.
    for folder in folder.parent().into_iter().chain([folder.as_path()]) {
        watch.add(folder).map_err(watching)?;
    }
    named.tree.read_on()?;
    let mut shown = Shown::begin(&named)?;
    let (mut typed, mut is_listening) = (Typed::default(), true);
    loop {
        if let Some(end) = shown.end(&named) {
            say(&end);
            return Ok(0);
        }
        let woken = watch.wait(is_listening, Some(LOOK)).map_err(watching)?;
        if woken.is_typed {
            is_listening = typed.send(&named);
        }
        watch.add(&folder).map_err(watching)?;
        if named.tree.read_on()? {
            shown.more(&named)?;
        }
    }
}

/// What was typed, or came through a pipe, as it comes: several lines at once, or a part of one.
#[derive(Default)]
struct Typed {
    /// A line without its end.
    begun: Vec<u8>,
}

impl Typed {
    /// Sends the lines that are there. Returns whether more may come. What is not taken is said, and the agent is watched further.
    fn send(&mut self, named: &Named) -> bool {
        let mut bytes = [0; 8 * 1024];
        let read = match rustix::io::read(std::io::stdin(), &mut bytes) {
            Ok(read) => read,
            Err(Errno::INTR | Errno::AGAIN) => return true,
            Err(error) => {
                say(&format!("agent: cannot read what is typed: {error}"));
                return false;
            }
        };
        self.begun.extend_from_slice(bytes.get(..read).unwrap_or_default());
        if read == 0 {
            let last = std::mem::take(&mut self.begun);
            line(named, &last);
            return false;
        }
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let whole: Vec<u8> = self.begun.drain(..=end).collect();
            line(named, &whole);
        }
        if self.begun.len() > MOST_BYTES {
            say(&format!("agent: not sent: a line has more than {MOST_BYTES} bytes"));
            return false;
        }
        true
    }
}

fn line(named: &Named, bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return say("agent: not sent: the line is not UTF-8") };
    if text.trim().is_empty() {
        return;
    }
    let request = Request::Say { place: named.place.clone(), text: text.trim().to_owned() };
    if let Err(failure) = tell(&named.tree.store, &named.tree.root, &request) {
        say(&format!("agent: {failure}"));
    }
}

/// Of a line.
const MOST_BYTES: usize = 1024 * 1024;

/// How much of the agent was shown.
struct Shown {
    /// Items of its conversation.
    items: usize,
    state: &'static str,
    question: u32,
}

impl Shown {
    fn begin(named: &Named) -> Result<Self, Failure> {
        let row = named.tree.row(&named.place);
        let name = if row.name.is_empty() { String::new() } else { format!(" ({})", inline(&row.name)) };
        say(&format!(
            "{}{name}: {}; what you type is sent to it, Ctrl-C leaves it at work",
            inline(&row.id),
            row.state
        ));
        let agent = named.tree.followed(&named.place).and_then(|followed| followed.agent());
        put(&agent.map(|agent| newest(agent, FIRST)).unwrap_or_default())?;
        let items = agent.map_or(0, |agent| agent.session().conversation().len());
        let mut shown = Self { items, state: row.state, question: 0 };
        shown.asked(named);
        Ok(shown)
    }

    /// What came since.
    fn more(&mut self, named: &Named) -> Result<(), Failure> {
        let conversation = named.tree.followed(&named.place).and_then(|followed| followed.agent());
        let Some(conversation) = conversation.map(|agent| agent.session().conversation()) else { return Ok(()) };
        // A summary makes it shorter.
        let first = self.items.min(conversation.len().saturating_sub(1));
        let first = if conversation.len() == self.items { self.items } else { first };
        for item in conversation.iter().skip(first) {
            put(&of(item))?;
        }
        self.items = conversation.len();
        self.asked(named);
        let state = named.tree.row(&named.place).state;
        if std::mem::replace(&mut self.state, state) != state {
            say(&format!("({state})"));
        }
        Ok(())
    }

    fn asked(&mut self, named: &Named) {
        let Some(child) = named.tree.kin(&named.place).map(|kin| kin.child()) else { return };
        if let Some(question) = child.question().filter(|_| child.questions() > self.question) {
            self.question = child.questions();
            say(&format!("it asks: {}", one_line(question, 500)));
        }
    }

    /// What is said when nothing more can come.
    fn end(&self, named: &Named) -> Option<String> {
        let id = inline(&named.id());
        if let Some(outcome) = named.tree.outcome(&named.place) {
            return Some(format!("{id} has ended: {}", outcome.word));
        }
        let root = inline(&named.tree.root);
        (!named.tree.is_in_use).then(|| format!("no program runs {id}; `agent resume {root}` continues its session"))
    }
}

fn put(lines: &[String]) -> Result<(), Failure> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    print(&in_rows(&text)).map_err(|error| Failure::internal(format!("cannot write to standard output: {error}")))
}

const FIRST: usize = 20;
/// The end of the program that runs the session is seen at its journal; a lock that is let go a moment later is seen by this.
const LOOK: Duration = Duration::from_secs(2);
