//! `agent fleet`: all agents that programs of this user run now, as a table that is drawn anew, or a line for each change.

use super::args::Fleet;
use super::ps::shown;
use super::tree::{Row, Tree};
use super::watch::Watch;
use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::counted::usd;
use crate::screen::edit::layout::cut;
use crate::screen::terminal::{Region, Shown, Style, inline, is_attended, print, show, size};
use crate::session::kept::{all_stores, failed, store};
use agent_runner::journal::SessionStore;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Shows them until it is interrupted.
pub(crate) fn run(arguments: &Fleet) -> Result<u8, Failure> {
    let watching = |error| Failure::internal(format!("cannot watch the sessions' journals: {error}"));
    let mut fleet = Running { of: arguments.place.directory.clone(), trees: BTreeMap::new(), looked: None };
    let watch = Watch::new().map_err(watching)?;
    let is_drawn = !arguments.plain && is_attended();
    let _shown = is_drawn.then(|| Shown::begin(Style::for_stderr().is_on()));
    let mut last = Vec::new();
    loop {
        for folder in fleet.look()? {
            watch.add(&folder).map_err(watching)?;
        }
        let rows = fleet.rows();
        if is_drawn {
            draw(&rows);
        } else {
            changes(&last, &rows)?;
        }
        last = rows;
        // Sessions begin in folders that are new.
        let woken = watch.wait(false, Some(LOOK)).map_err(watching)?;
        if woken.is_written {
            // What follows closely is shown at once.
            std::thread::sleep(TOGETHER);
        }
    }
}

/// The sessions that run.
struct Running {
    of: Option<PathBuf>,
    /// By folder and id.
    trees: BTreeMap<(PathBuf, String), Tree>,
    /// When it was last looked for sessions that began.
    looked: Option<Instant>,
}

impl Running {
    /// Looks for sessions that began, and at those that run. Returns the folders in which something may be written.
    fn look(&mut self) -> Result<Vec<PathBuf>, Failure> {
        let mut folders = Vec::new();
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            self.looked = Some(Instant::now());
            for store in self.stores()? {
                folders.push(store.folder().to_owned());
                self.begin_in(&store)?;
            }
        }
        for tree in self.trees.values_mut() {
            // One that was removed meanwhile is none any more.
            tree.is_in_use &= tree.read_on().is_ok();
            folders.push(tree.store.folder_below(&tree.root).map_err(|error| failed(&error))?);
        }
        self.trees.retain(|_, tree| tree.is_in_use);
        Ok(folders)
    }

    fn stores(&self) -> Result<Vec<SessionStore>, Failure> {
        match &self.of {
            Some(directory) => Ok(vec![store(&working_directory(Some(directory))?)?]),
            None => all_stores(),
        }
    }

    fn begin_in(&mut self, store: &SessionStore) -> Result<(), Failure> {
        for session in store.list().map_err(|error| failed(&error))? {
            let key = (store.folder().to_owned(), session.id.clone());
            if !self.trees.contains_key(&key) && store.is_in_use(&session.id).unwrap_or(false) {
                self.trees.insert(key, Tree::open(store.clone(), session.id)?);
            }
        }
        Ok(())
    }

    fn rows(&self) -> Vec<Row> {
        self.trees.values().flat_map(Tree::rows).filter(|row| row.state != "ended").collect()
    }
}

fn draw(rows: &[Row]) {
    let (columns, height) = size();
    let mut lines: Vec<String> = match rows {
        [] => vec![String::from("no agent runs; Ctrl-C leaves")],
        rows => shown(rows).iter().map(|line| cut(line, columns)).collect(),
    };
    let room = height.saturating_sub(1).max(1);
    if lines.len() > room {
        let more = lines.len() - room + 1;
        lines.truncate(room - 1);
        lines.push(cut(&format!("… and {more} more"), columns));
    }
    show(Region { rows: Vec::new(), cursor: (0, 0), below: lines, marked: None });
}

/// A line for each agent that is new, does something else or is gone.
fn changes(last: &[Row], rows: &[Row]) -> Result<(), Failure> {
    let before: BTreeMap<&str, &Row> = last.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut text = String::new();
    for row in rows {
        if before.get(row.id.as_str()).is_none_or(|before| before.state != row.state) {
            text.push_str(&line(row, row.state));
        }
    }
    for row in last.iter().filter(|row| rows.iter().all(|now| now.id != row.id)) {
        text.push_str(&line(row, "gone"));
    }
    print(&text).map_err(|error| Failure::internal(format!("cannot write to standard output: {error}")))
}

fn line(row: &Row, state: &str) -> String {
    let name = if row.name.is_empty() { String::new() } else { format!(" {}", inline(&row.name)) };
    let calls = format!("{}+{} calls", row.model_calls, row.tool_calls);
    format!("{}{name}: {state}, {calls}, {} USD: {}\n", inline(&row.id), usd(row.cost_nano_usd), inline(&row.task))
}

const LOOK: Duration = Duration::from_secs(2);
const TOGETHER: Duration = Duration::from_millis(200);
