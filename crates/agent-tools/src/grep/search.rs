//! The search itself, by several threads.

use super::findings::{Collector, Findings};
use super::report::Report;
use crate::file_tool::Watch;
use crate::glob::PathPattern;
use crate::walk::{Kind, Walked, walk};
use crate::workspace::{FileError, RelativePath, Workspace, open_regular};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use rustix::fd::{AsFd as _, OwnedFd};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::CString;
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What is searched for, and how.
pub(super) struct Search<'a> {
    pub(super) matcher: RegexMatcher,
    pub(super) files: Option<PathPattern>,
    pub(super) context: usize,
    pub(super) files_only: bool,
    pub(super) watch: &'a Watch,
}

impl Search<'_> {
    /// Searches everything below a directory, or a file.
    pub(super) fn run(&self, workspace: &Workspace, start: &RelativePath) -> Result<(Report, Walked), FileError> {
        let base = workspace.existing(start)?;
        let queue = Queue::default();
        let walked = thread::scope(|scope| {
            // Closed also when the walk panics, or its threads would wait forever.
            let _closing = CloseOnDrop(&queue);
            let (mut helpers, mut most_helpers) = (0, helping_threads());
            let mut own = self.searcher();
            let mut number = 0;
            walk(workspace, start, None, self.watch, |entry| {
                let is_wanted = self.files.as_ref().is_none_or(|files| files.matches(entry.path, base.as_path()));
                if entry.kind != Kind::File || !is_wanted {
                    return;
                }
                let (path, name) = (entry.path.to_owned(), entry.name.to_owned());
                let is_long = queue.push(Task { number, path, name, directory: Arc::clone(entry.directory) });
                number += 1;
                // A small search is done before a thread has started.
                if helpers < most_helpers && number > FILES_PER_THREAD * (helpers + 1) {
                    match thread::Builder::new().spawn_scoped(scope, || self.work(&queue)) {
                        Ok(_) => helpers += 1,
                        // The system has none left: it takes longer.
                        Err(_) => most_helpers = helpers,
                    }
                }
                if is_long && let Some(task) = queue.take_if_any() {
                    queue.hand_in(task.number, self.search(&mut own, &task));
                }
                if number.is_multiple_of(WORTH_WAKING) {
                    queue.wait_for_the_slow(self.watch);
                }
            })
            .inspect(|_| {
                while let Some(task) = queue.take_if_any() {
                    queue.hand_in(task.number, self.search(&mut own, &task));
                }
            })
        })?;
        Ok((queue.into_report(), walked))
    }

    fn work(&self, queue: &Queue) {
        let mut searcher = self.searcher();
        while let Some(task) = queue.take() {
            queue.hand_in(task.number, self.search(&mut searcher, &task));
        }
    }

    fn search(&self, searcher: &mut Searcher, task: &Task) -> Findings {
        let mut collector = Collector::new(&task.path, self.files_only, self.watch);
        if self.watch.is_stopped() {
            return collector.finish(true);
        }
        let opened = open_regular(task.directory.as_fd(), task.name.as_c_str());
        let searched = opened.is_ok_and(|(file, _)| searcher.search_file(&self.matcher, &file, &mut collector).is_ok());
        collector.finish(searched)
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LINE_MEMORY_BYTES))
            .build()
    }
}

fn helping_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(1).min(MOST_HELPERS)
}

/// A file to search.
struct Task {
    /// Its place in the order.
    number: usize,
    path: String,
    name: CString,
    directory: Arc<OwnedFd>,
}

/// Files that wait, and findings that wait for those before them.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Task>,
    findings: BTreeMap<usize, Findings>,
    /// The number of the file whose findings come next.
    next: usize,
    report: Report,
    is_closed: bool,
    /// Whether the walk waits for findings.
    is_held: bool,
}

impl Queue {
    /// Adds a task, and says whether there are many.
    fn push(&self, task: Task) -> bool {
        let mut state = self.state();
        state.waiting.push_back(task);
        let length = state.waiting.len();
        drop(state);
        // A thread that is woken for every file does little else than wake.
        if length.is_multiple_of(WORTH_WAKING) {
            self.changed.notify_one();
        }
        length >= LONG
    }

    fn take_if_any(&self) -> Option<Task> {
        self.state().waiting.pop_front()
    }

    /// Waits for a task; `None` if there will be none.
    fn take(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if let Some(task) = state.waiting.pop_front() {
                return Some(task);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn hand_in(&self, number: usize, findings: Findings) {
        let mut state = self.state();
        let state = &mut *state;
        state.findings.insert(number, findings);
        while let Some(findings) = state.findings.remove(&state.next) {
            state.report.add(&findings);
            state.next += 1;
        }
        if state.is_held {
            self.changed.notify_all();
        }
    }

    /// Holds the walk while one slow file keeps very many findings waiting.
    fn wait_for_the_slow(&self, watch: &Watch) {
        let mut state = self.state();
        while state.findings.len() > MOST_WAITING && !watch.is_stopped() {
            state.is_held = true;
            let waited = self.changed.wait_timeout(state, PATIENCE);
            state = waited.map_or_else(|broken| broken.into_inner().0, |(state, _)| state);
        }
        state.is_held = false;
    }

    fn into_report(self) -> Report {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).report
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct CloseOnDrop<'q>(&'q Queue);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.state().is_closed = true;
        self.0.changed.notify_all();
    }
}

const MOST_HELPERS: usize = 7;
const FILES_PER_THREAD: usize = 32;
/// For so many files that wait a thread is woken.
const WORTH_WAKING: usize = 16;
/// So many files may wait before the walk helps to search them.
const LONG: usize = 64;
const MOST_WAITING: usize = 256;
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(50);
const LINE_MEMORY_BYTES: usize = 64 * 1024 * 1024;
