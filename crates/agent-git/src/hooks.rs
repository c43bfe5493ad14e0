//! The hook itself: what is due when, and what is remembered between the calls.

mod announced;
mod committing;

use crate::before::BeforeImages;
use crate::checkpoint::{self, Turn};
use crate::config::HooksConfig;
use crate::draft;
use crate::files;
use crate::formatting::{ChangedFile, ChangedFiles, Formatted, Formatting};
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::index_lock;
use crate::paths;
use crate::query::Settings;
use crate::repository::{Discovery, Repository, Stamp};
use crate::tree::Tree;
use crate::watch::{self, HeadWatch};
use agent_types::conversation::ToolCall;
use agent_types::hook::{Changes, CommitReport, FilesSeen, FormatReport, GitReport, HookError};
use agent_types::ports::{CancelSignal, CommandRunner, Hook, NeverCancelled};
use agent_types::tool::{Effect, HookVerdict, Inspection};
use announced::Announced;
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Commits and formats in the repository of one workspace, for one session.
///
/// The order of calls is the session's: [`before_tool`](Hook::before_tool) for every call of an answer, then the tools, then
/// [`check_git`](Hook::check_git), and what it reports as due. What was never announced by `before_tool` is not committed, because it is
/// not known whether the user had changed it.
pub struct RepositoryHooks {
    config: HooksConfig,
    /// The workspace; `None` if it could not be opened, and then nothing of it is read or written.
    files: Option<Tree>,
    /// The repository that was there when the session began.
    discovery: Discovery,
    runner: Arc<dyn CommandRunner>,
    formatting: Option<Arc<dyn Formatting>>,
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    before: BeforeImages,
    watch: HeadWatch,
    turn: Turn,
    /// What calls of the batch would change.
    announced: Announced,
    /// What could not be kept of the turn, for the next report.
    unkept: Vec<String>,
    /// Records of turns that are to become commits.
    unstored: BTreeSet<String>,
    /// What the configuration said, and the files that it was read from as they were then.
    settings: Option<(Vec<Stamp>, Settings)>,
    /// Whether it was looked for what another agent, which did not come to its end, left to be committed.
    looked_back: bool,
    /// Whether it was looked for turns that are too old.
    has_forgotten: bool,
    /// Whether it was said that commits are not signed.
    told_unsigned: bool,
    /// Why the repository was last refused, as reported.
    told_refusal: Option<String>,
    /// What could not be committed the last time.
    left: Option<Changes>,
}

impl Memory {
    fn stored(&mut self, repository: &Repository, record: &str) {
        self.unstored.remove(record);
        self.turn.stored(repository, record);
    }
}

impl std::fmt::Debug for RepositoryHooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RepositoryHooks").field("config", &self.config).finish_non_exhaustive()
    }
}

impl RepositoryHooks {
    /// Starts to watch. Commits made from now on are new. Runs nothing; a lock of the index that an agent left that was killed is removed.
    #[must_use]
    pub fn new(mut config: HooksConfig, runner: Arc<dyn CommandRunner>) -> Self {
        if let Ok(workspace) = config.workspace.canonicalize() {
            config.workspace = workspace;
        }
        let discovery = Discovery::look(&config.workspace);
        if let Discovery::Found(repository) = &discovery
            && repository.refusal().is_none()
        {
            index_lock::recover(repository);
            draft::remove_abandoned(repository);
        }
        let watch = HeadWatch::start(&discovery);
        let memory = Mutex::new(Memory {
            before: BeforeImages::default(),
            watch,
            turn: Turn::new(&config),
            announced: Announced::default(),
            unkept: Vec::new(),
            unstored: BTreeSet::new(),
            settings: None,
            looked_back: false,
            has_forgotten: false,
            told_unsigned: false,
            told_refusal: None,
            left: None,
        });
        let files = Tree::open(&config.workspace).ok();
        Self { config, files, discovery, runner, formatting: None, memory }
    }

    /// Formats changed files. Without this, none are formatted.
    #[must_use]
    pub fn formatting_with(mut self, formatting: Arc<dyn Formatting>) -> Self {
        self.formatting = Some(formatting);
        self
    }

    /// A new turn begins: what the agent changes from here on is taken back by one step of [`undo`](crate::undo()).
    pub fn turn_started(&self) {
        let mut memory = self.memory();
        let mut ended = std::mem::replace(&mut memory.turn, Turn::new(&self.config));
        memory.announced.clear();
        if let Ok(repository) = self.repository() {
            ended.end(repository);
        }
    }

    /// A turn ended, or was interrupted: how its calls left the files is kept, in case no [`check_git`](Hook::check_git) followed them.
    /// What the user changes from here on is the user's. Runs nothing.
    pub fn turn_ended(&self) {
        let Ok(repository) = self.repository() else { return };
        let mut memory = self.memory();
        match self.settle(&mut memory.turn, repository) {
            Ok(record) => memory.unstored.extend(record),
            Err(error) => memory.unkept.push(format!("{UNDO_LACKS}: {error}")),
        }
        memory.turn.end(repository);
    }

    pub(crate) const fn config(&self) -> &HooksConfig {
        &self.config
    }

    /// The branch that is checked out, or the first letters of the commit where none is: for people to see. Runs nothing. Nothing where
    /// there is no repository, or not the one that was there at first.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        self.repository().ok()?.branch()
    }

    /// Keeps how files are that calls were to change.
    fn settle(&self, turn: &mut Turn, repository: &Repository) -> io::Result<Option<String>> {
        turn.settle(repository, |path| match self.config.is_hidden(&repository.top, path) {
            true => HIDDEN,
            false => repository.files.image(path),
        })
    }

    /// The repository, if it is the one that was there when the session began and nothing in it leads out of it; else why nothing is done.
    pub(crate) fn repository(&self) -> Result<&Repository, String> {
        match &self.discovery {
            Discovery::Found(repository) => match repository.refusal() {
                None => Ok(repository),
                Some(why) => Err(why),
            },
            Discovery::None if matches!(Discovery::look(&self.config.workspace), Discovery::None) => {
                Err("this is not a git repository".to_owned())
            }
            Discovery::None => {
                Err("the repository was created after the session began; start a new session to work with it"
                    .to_owned())
            }
            Discovery::Bare => Err("this is a bare repository".to_owned()),
            Discovery::Foreign => Err("`.git` leads to a repository that does not know this directory; \
                 if that is intended, tell the repository with `git config core.worktree` or `git worktree repair`"
                .to_owned()),
            Discovery::Unusable(why) => Err(format!("the repository cannot be opened: {why}")),
        }
    }

    /// Why the repository that was found is not used, for the notes of a report: once.
    fn refusal_to_tell(&self, repository: Result<&Repository, &String>) -> Option<String> {
        let is_found = matches!(self.discovery, Discovery::Found(_));
        let why = repository.err().filter(|_| is_found).cloned();
        let mut memory = self.memory();
        let is_new = why != memory.told_refusal;
        memory.told_refusal.clone_from(&why);
        why.filter(|_| is_new).map(|why| format!("undo is not possible, and new commits are not reported: {why}"))
    }

    /// How a path of the workspace is now.
    fn image(&self, path: &str) -> Image {
        self.files.as_ref().map_or(Image::Opaque("the workspace cannot be opened"), |files| files.image(path))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // A panic elsewhere leaves the records whole: each change to them is one call.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn git<'a>(&'a self, repository: &'a Repository, cancel: &'a dyn CancelSignal) -> Git<'a> {
        Git { config: &self.config, runner: &*self.runner, directory: &repository.top, cancel, environment: Vec::new() }
    }

    fn is_handled(&self, path: &str) -> bool {
        self.formatting.as_ref().is_some_and(|formatting| formatting.handles(path))
    }

    /// Keeps how the agent left these files, for undo; what will be committed is stored with the commit.
    async fn keep(&self, paths: &BTreeSet<String>, commit_due: bool, cancel: &dyn CancelSignal) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.memory().unkept);
        let repository = self.repository();
        notes.extend(self.refusal_to_tell(repository.as_ref().copied()));
        let Ok(repository) = repository else {
            return notes;
        };
        let git_paths: Vec<String> = paths.iter().filter_map(|path| self.git_path(repository, path)).collect();
        let left = git_paths.iter().map(|path| match self.config.is_hidden(&repository.top, path) {
            true => (path.as_str(), HIDDEN),
            false => (path.as_str(), repository.files.image(path)),
        });
        {
            let mut memory = self.memory();
            let after = memory.turn.after(repository, left);
            match after.and_then(|record| Ok([record, self.settle(&mut memory.turn, repository)?])) {
                Ok(records) => memory.unstored.extend(records.into_iter().flatten()),
                Err(error) => notes.push(format!("{UNDO_LACKS}: {error}")),
            }
            notes.extend(memory.turn.take_lost());
        }
        if !commit_due {
            notes.extend(self.store(repository, cancel).await);
        }
        notes
    }

    /// Makes commits of the records that are not stored yet.
    async fn store(&self, repository: &Repository, cancel: &dyn CancelSignal) -> Vec<String> {
        let mut notes = Vec::new();
        let records = self.memory().unstored.clone();
        for record in records {
            match checkpoint::store(&self.git(repository, cancel), repository, &record).await {
                Ok(()) => {
                    self.memory().stored(repository, &record);
                    notes.extend(self.forget(repository, cancel).await);
                }
                Err(error) => notes.push(format!("{UNDO_LACKS}: {error}")),
            }
        }
        notes
    }

    /// Forgets turns that are too many or too old, and says which cannot be.
    async fn forget(&self, repository: &Repository, cancel: &dyn CancelSignal) -> Option<String> {
        let is_first = !std::mem::replace(&mut self.memory().has_forgotten, true);
        checkpoint::forget_oldest(&self.git(repository, cancel), repository, is_first).await
    }

    /// A path of the workspace, as the repository names it.
    fn git_path(&self, repository: &Repository, path: &str) -> Option<String> {
        let prefix = self.config.workspace.strip_prefix(&repository.top).unwrap_or(Path::new(""));
        prefix.join(path).to_str().map(str::to_owned)
    }

    /// The changed paths that are paths of this workspace; the others as notes.
    fn usable_paths(&self, changes: &Changes, notes: &mut Vec<String>) -> BTreeSet<String> {
        let mut usable = BTreeSet::new();
        for path in &changes.paths {
            match paths::normalize(&self.config.workspace, path) {
                Ok(path) => drop(usable.insert(path)),
                Err(reason) => notes.push(format!("{path:?} was left out: {reason}")),
            }
        }
        usable
    }

    /// Reports new commits. Starts no process unless `HEAD` moved.
    async fn new_commits(&self, cancel: &dyn CancelSignal, report: &mut GitReport) -> Result<(), GitError> {
        let Ok(repository) = self.repository() else {
            return Ok(());
        };
        let (mark, seen) = {
            let memory = self.memory();
            let Some(mark) = memory.watch.moved(repository) else {
                return Ok(());
            };
            (mark, memory.watch.seen())
        };
        let git = self.git(repository, cancel);
        let head = watch::head_commit(&git).await?;
        let mut found = match &head {
            Some(head) if seen.last() != Some(head) => watch::list_commits(&git, head, &seen).await?,
            _ => watch::NewCommits::default(),
        };
        if found.truncated {
            report.notes.push("there are more new commits than are shown".to_owned());
        }
        self.memory().watch.advance(mark, head, &mut found);
        report.commits = found.commits;
        Ok(())
    }

    /// What is known of a file that is to be formatted.
    fn to_format(&self, root: &Path, path: &str) -> Result<ChangedFile, &'static str> {
        paths::check_parents(&self.config.workspace, path)?;
        let prefix = self.config.workspace.strip_prefix(root).unwrap_or(Path::new(""));
        // A formatter writes as a tool does, and where something was mounted since, as undo does.
        if self.config.protected(&self.config.workspace, path).is_some() {
            return Err("it is protected: no tool may write it");
        }
        let before = self.memory().before.bases(path).to_vec();
        Ok(ChangedFile { path: path.to_owned(), root_path: prefix.join(path), before })
    }

    /// Formats those of the files that are handled.
    async fn format_paths(&self, paths: &BTreeSet<String>, cancel: &dyn CancelSignal) -> BTreeMap<String, Formatted> {
        // Formatters need no git: where the repository is refused, its root still is the root.
        let root = match &self.discovery {
            Discovery::Found(repository) => Some(&repository.files),
            _ => self.files.as_ref(),
        };
        let (Some(root), Some(formatting)) = (root, &self.formatting) else { return BTreeMap::new() };
        let mut results = BTreeMap::new();
        let mut changed = ChangedFiles { root, workspace: &self.config.workspace, files: Vec::new() };
        for path in paths.iter().filter(|path| formatting.handles(path)) {
            match self.to_format(root.path(), path) {
                Ok(file) => changed.files.push(file),
                Err(why) => drop(results.insert(path.clone(), Formatted::Left(why.to_owned()))),
            }
        }
        if !changed.files.is_empty() {
            let made = formatting.format(&changed, cancel).await;
            results.extend(changed.files.into_iter().map(|file| file.path).zip(made));
        }
        results
    }
}

#[async_trait]
impl Hook for RepositoryHooks {
    /// It looks at files, keeps what they were, and asks git where it stands: as true when the calls are forgotten.
    fn acts_before_tools(&self) -> bool {
        false
    }

    fn files(&self) -> Option<FilesSeen> {
        files::seen(self.repository().ok()?, &self.config)
    }

    /// Remembers how the files are that the call would change. It has no opinion on the call.
    async fn before_tool(&self, call: &ToolCall, inspection: &Inspection) -> HookVerdict {
        if inspection.effect == Effect::Reads {
            return HookVerdict::None;
        }
        if self.memory().watch.must_ask_git()
            && let Ok(repository) = self.repository()
            // Without an answer, the commits so far count as new: no harm.
            && let Ok(head) = watch::head_commit(&self.git(repository, &NeverCancelled)).await
        {
            self.memory().watch.started_at(head);
        }
        self.announce(call, &inspection.subject);
        HookVerdict::None
    }

    async fn tool_begins(&self, call: &ToolCall, judged: &Inspection) {
        self.keep_before(call, judged);
    }

    async fn check_git(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        let mut report = GitReport::default();
        match self.new_commits(cancel, &mut report).await {
            Ok(()) => {}
            Err(GitError::Cancelled) => return Err(GitError::Cancelled.into()),
            // Looking for news is no reason to fail the work that is due.
            Err(error) => report.notes.push(format!("new commits are unknown: {error}")),
        }
        let paths = self.usable_paths(changes, &mut report.notes);
        report.formatting_due = paths.iter().any(|path| self.is_handled(path));
        report.commit_due = self.commit_due(&paths, &mut report.notes);
        if !report.formatting_due {
            report.notes.extend(self.keep(&paths, report.commit_due, cancel).await);
        }

        let mut memory = self.memory();
        memory.announced.clear();
        memory.before.keep_only(&paths);
        for path in &paths {
            memory.before.note_left(path, &self.image(path));
        }
        Ok(report)
    }

    async fn format(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        let mut report = FormatReport::default();
        let paths = self.usable_paths(changes, &mut Vec::new());
        for (path, result) in self.format_paths(&paths, cancel).await {
            match result {
                Formatted::Unchanged => {}
                Formatted::Changed => {
                    self.memory().before.note_left(&path, &self.image(&path));
                    report.changed_paths.push(path);
                }
                Formatted::Cancelled => return Err(GitError::Cancelled.into()),
                Formatted::Left(why) => report.notes.push(format!("{path} was not formatted: {why}")),
            }
        }
        report.commit_due = self.commit_due(&paths, &mut report.notes);
        report.notes.extend(self.keep(&paths, report.commit_due, cancel).await);
        Ok(report)
    }

    async fn commit(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        let mut report = CommitReport::default();
        let done = self.commit_changes(changes, cancel, &mut report).await;
        self.memory().left = done.as_ref().err().filter(|_| !cancel.is_cancelled()).map(|_| changes.clone());
        if let Ok(repository) = self.repository() {
            report.notes.extend(self.store(repository, cancel).await);
        }
        done.map(|()| report)
    }
}

/// What is said when the record of a turn cannot be stored.
const UNDO_LACKS: &str = "undo does not know the files' state at the end of the turn";
/// What is kept of a file that commands do not read: they read what git keeps.
const HIDDEN: Image = Image::Opaque("it is hidden from commands, and what git keeps is not");
