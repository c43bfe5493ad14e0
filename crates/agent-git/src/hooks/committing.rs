//! Commits what the agent changed: which paths, with which settings, and what is remembered of it afterwards.

use super::RepositoryHooks;
use crate::checkpoint;
use crate::commit::{self, Candidate, CommitError, Work};
use crate::git::GitError;
use crate::index_lock::{self, LockError};
use crate::paths;
use crate::query::{self, Settings, SettingsError};
use crate::repository::{Repository, Stamp};
use crate::secrets::looks_secret;
use crate::stat::FileStat;
use agent_types::hook::{Changes, CommitReport, HookError};
use agent_types::ports::{CancelSignal, Hook as _};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

impl RepositoryHooks {
    /// Commits, and reports it.
    pub(super) async fn commit_changes(
        &self,
        changes: &Changes,
        cancel: &dyn CancelSignal,
        report: &mut CommitReport,
    ) -> Result<(), HookError> {
        let paths = self.usable_paths(changes, &mut report.notes);
        let repository = match self.committable() {
            Ok(repository) => repository,
            Err(reason) => {
                report.notes.push(format!("nothing was committed: {reason}"));
                return Ok(());
            }
        };
        self.look_back(repository, &paths, cancel).await;
        let candidates = self.candidates(repository, &paths, &mut report.notes);
        if candidates.is_empty() {
            return Ok(());
        }
        let done = match self.commit_patiently(repository, &candidates, &changes.intent, cancel).await {
            // Trying again would not help; the user has to tell git.
            Err(
                CommitError::Git(error @ GitError::DubiousOwnership)
                | CommitError::Settings(SettingsError::Git(error @ GitError::DubiousOwnership)),
            ) => {
                report.notes.push(format!("nothing was committed: {error}"));
                return Ok(());
            }
            Err(error) if may_pass(&error) => {
                let message = format!(
                    "commit the agent's changes: {error}; this is retried with the next changes or when the session ends"
                );
                return Err(HookError::Failed { message });
            }
            done => done?,
        };
        report.notes.extend(done.notes);
        let mut memory = self.memory();
        memory.before.clear();
        if let Some((commit, parent)) = done.commit {
            memory.watch.committed(repository, parent.as_deref(), &commit.id);
            report.commit = Some(commit);
            let wants_signatures = memory.settings.as_ref().is_some_and(|(_, settings)| settings.wants_signatures);
            if wants_signatures && !std::mem::replace(&mut memory.told_unsigned, true) {
                report.notes.push(UNSIGNED.to_owned());
            }
            if repository.is_detached() {
                report.notes.push("HEAD is detached, so the commit is on no branch".to_owned());
            }
        }
        Ok(())
    }

    /// Commits what an earlier attempt left because another process held the index, and reports the result.
    pub async fn commit_left(&self, cancel: &dyn CancelSignal) -> Option<Result<CommitReport, HookError>> {
        let changes = self.memory().left.take()?;
        Some(self.commit(&changes, cancel).await)
    }

    /// Commits; while another process holds the index or moves the branch, waits a while. A lock that has been there for longer is not
    /// waited for: it belongs to an editor, or to a git that was killed.
    async fn commit_patiently(
        &self,
        repository: &Repository,
        candidates: &[Candidate],
        intent: &str,
        cancel: &dyn CancelSignal,
    ) -> Result<commit::Committed, CommitError> {
        let begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.commit_candidates(repository, candidates, intent, cancel).await {
                Err(error) if may_pass(&error) => error,
                done => return done,
            };
            let is_old = index_lock::age(repository).is_some_and(|age| age > PATIENCE);
            if begun.elapsed() > PATIENCE || is_old || cancel.is_cancelled() {
                return Err(error);
            }
            // Several agents that wait for each other do not try in step.
            let spread = u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos());
            tokio::select! {
                () = cancel.cancelled() => {}
                () = tokio::time::sleep(pause + Duration::from_micros(spread % 50_000)) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn commit_candidates(
        &self,
        repository: &Repository,
        candidates: &[Candidate],
        intent: &str,
        cancel: &dyn CancelSignal,
    ) -> Result<commit::Committed, CommitError> {
        let git = self.git(repository, cancel);
        let settings = self.settings(repository, cancel).await?;
        let record = self.memory().unstored.first().cloned();
        let stream = record.as_ref().and_then(|record| checkpoint::dated_now(repository, record));
        let work = Work { candidates, intent, record: stream.as_deref(), settings: &settings };
        let mut done = commit::commit(&git, repository, &work).await?;
        if let Some(record) = record.filter(|_| done.is_recorded) {
            checkpoint::imported(repository, &record);
            self.memory().stored(repository, &record);
            done.notes.extend(self.forget(repository, cancel).await);
        }
        Ok(done)
    }

    /// What the configuration says. Git is asked again when one of its files changed.
    async fn settings(&self, repository: &Repository, cancel: &dyn CancelSignal) -> Result<Settings, CommitError> {
        let stamps = self.stamps(repository);
        if let Some((known, settings)) = &self.memory().settings
            && *known == stamps
        {
            return Ok(settings.clone());
        }
        let settings = query::settings(&self.git(repository, cancel), repository).await?;
        self.memory().settings = Some((stamps, settings.clone()));
        Ok(settings)
    }

    fn stamps(&self, repository: &Repository) -> Vec<Stamp> {
        let home = self.config.home.iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
        let home = home.chain(self.config.config_home.iter().map(|place| place.join("git/config")));
        let own = [repository.common_dir.join("config"), repository.git_dir.join("config.worktree")];
        let files = own.into_iter().chain(home).chain([PathBuf::from("/etc/gitconfig")]);
        let stamps = files.map(|file| Stamp::of(&file));
        [Stamp::of(&repository.top), Stamp::of(&repository.git_dir)]
            .map(Stamp::identity)
            .into_iter()
            .chain(stamps)
            .collect()
    }

    /// An agent that was killed between its changes and their commit has left a record of them. Where it says how a file was and how the
    /// agent left it, and the file is still so, the change is the agent's.
    async fn look_back(&self, repository: &Repository, paths: &BTreeSet<String>, cancel: &dyn CancelSignal) {
        let is_known = |path: &String| !self.memory().before.bases(path).is_empty();
        if self.memory().looked_back || paths.iter().all(is_known) {
            return;
        }
        self.memory().looked_back = true;
        let git = self.git(repository, cancel);
        checkpoint::import_left_behind(&git, repository).await;
        let Ok(turns) = checkpoint::list(&git, 1).await else { return };
        let Some(turn) = turns.first() else { return };
        let Ok(left) = checkpoint::load(&git, turn).await else { return };
        for path in paths.iter().filter(|path| !is_known(path)) {
            let Some(git_path) = self.git_path(repository, path) else { continue };
            let now = repository.files.image(&git_path);
            if let (Some(before), Some(after)) = (left.before.get(&git_path), left.after.get(&git_path))
                && *after == now
            {
                let mut memory = self.memory();
                memory.before.remember(path, before.clone());
                memory.before.note_left(path, &now);
            }
        }
    }

    /// Sorts out what can be left out without asking git.
    fn candidates(&self, repository: &Repository, paths: &BTreeSet<String>, notes: &mut Vec<String>) -> Vec<Candidate> {
        let memory = self.memory();
        let mut candidates = Vec::new();
        for path in paths {
            let reason = if looks_secret(path) {
                Err("its name suggests a secret")
            } else {
                paths::check_parents(&self.config.workspace, path)
            };
            match (reason, self.git_path(repository, path)) {
                (Err(reason), _) => notes.push(format!("{path} was not committed: {reason}")),
                (Ok(()), None) => notes.push(format!("{path} was not committed: its directory's name is not text")),
                (Ok(()), Some(git_path)) => {
                    let before = memory.before.bases(path).to_vec();
                    let stat = repository.files.stat(&git_path).ok().as_ref().map(FileStat::from);
                    let now = repository.files.image(&git_path);
                    candidates.push(Candidate { path: path.clone(), git_path, before, now, stat });
                }
            }
        }
        candidates
    }

    /// Whether a commit is due, or why it is not although it is configured.
    pub(super) fn commit_due(&self, paths: &BTreeSet<String>, notes: &mut Vec<String>) -> bool {
        if !self.config.auto_commit || paths.is_empty() {
            return false;
        }
        match self.committable() {
            Ok(_) => true,
            Err(reason) => {
                notes.push(format!("nothing was committed: {reason}"));
                false
            }
        }
    }

    /// The repository, if it can be committed to now; else why not.
    pub(super) fn committable(&self) -> Result<&Repository, String> {
        let repository = self.repository()?;
        match repository.operation_in_progress() {
            Some(operation) => Err(format!("{operation} is in progress")),
            None => Ok(repository),
        }
    }
}

/// Whether it is the doing of another program at work in the repository, and soon over.
fn may_pass(error: &CommitError) -> bool {
    match error {
        CommitError::Lock(LockError::Held(_)) | CommitError::Staged => true,
        // Of branches and other references, which git locks by files of its own.
        CommitError::Git(GitError::Failed { found, .. }) => found.contains("lock"),
        _ => false,
    }
}

const UNSIGNED: &str = "commits by the agent are not signed, although `commit.gpgSign` is set: a program that the configuration names would \
                        run for it. `git rebase --exec 'git commit --amend --no-edit -S' BASE` signs them";
/// Far more than any program holds the index that does not wait for a person.
const PATIENCE: Duration = Duration::from_secs(8);
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(400);
