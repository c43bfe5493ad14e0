//! What is looked at around every command that may write a workspace: what mounts do not hold.

use super::Sandbox;
#[cfg(target_os = "linux")]
use super::kept::Kept;
#[cfg(not(target_os = "linux"))]
use super::kept_elsewhere::Kept;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

/// Finds what other programs act on by themselves, for a host that wants to know when commands make such a thing.
pub trait Watch: Send + Sync {
    /// What of it is in the workspace now, as absolute paths. Called before and after every command that may write there, so it must be
    /// quick where nothing changed.
    fn find(&self) -> Vec<PathBuf>;

    /// What commands must not write once something was found at a path; that path itself, for instance. Where mounts hold commands back, this counts
    /// from the next command on.
    fn protects(&self, path: &Path) -> Vec<PathBuf>;

    /// Whether what commands made at a path is to be set aside, and not only told. `is_new` when nothing was found there before.
    fn sets_aside(&self, path: &Path, is_new: bool) -> bool;

    /// Tells people what was found, as a sentence. [`Finished::remarks`](crate::Finished::remarks) has it, too.
    fn tell(&self, remark: &str);
}

/// What a sandbox looks at.
pub(super) struct Guard {
    workspace: PathBuf,
    kept: Kept,
    watch: OnceLock<Watched>,
}

struct Watched {
    by: Arc<dyn Watch>,
    /// What is known to be there, with what tells it from another thing of that name.
    known: Mutex<BTreeMap<PathBuf, Identity>>,
}

/// Device, number and birth; for a link its own. A number is given again. Of a file also when it was changed: what is written in place counts.
type Identity = (u64, u64, Option<SystemTime>, Option<(i64, i64)>);

impl Guard {
    pub(super) fn new(workspace: &Path, kept: &[PathBuf]) -> Self {
        let kept = Kept::new(workspace, kept);
        Self { workspace: workspace.to_path_buf(), kept, watch: OnceLock::new() }
    }

    /// Whoever comes first is told.
    pub(super) fn watch(&self, by: Arc<dyn Watch>) {
        self.watch.get_or_init(|| Watched { known: Mutex::new(identified(by.find())), by });
    }

    /// A command is about to begin. What is there that nobody told of, somebody else made.
    fn begin(&self) {
        if self.kept.begin()
            && let Some(Watched { by, known }) = self.watch.get()
        {
            *known.lock().unwrap_or_else(PoisonError::into_inner) = identified(by.find());
        }
    }

    /// What was found since the sandbox was made, for mounts.
    pub(super) fn protected(&self) -> Vec<PathBuf> {
        let Some(Watched { by, known }) = self.watch.get() else { return Vec::new() };
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.keys().take(MOST_PROTECTED).flat_map(|path| by.protects(path)).collect()
    }

    fn end(&self) -> Vec<String> {
        let begun = self.kept.begun();
        let mut remarks = self.kept.end();
        let Some(Watched { by, known }) = self.watch.get() else { return remarks };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = identified(by.find());
        let mut new = Vec::new();
        for (path, _) in now.iter().filter(|(path, identity)| known.get(*path) != Some(identity)) {
            let within = path.strip_prefix(&self.workspace).unwrap_or(path);
            if by.sets_aside(path, !known.contains_key(path))
                && begun.is_some_and(|begun| has_changed_since(path, begun))
            {
                remarks.push(self.kept.set_aside(within));
            } else {
                new.push(format!("`{}`", within.display()));
            }
        }
        *known = now;
        if !new.is_empty() {
            let more = new.len().saturating_sub(MOST_NAMED);
            new.truncate(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            remarks.push(format!(
                "new or changed while commands ran: {}{more}. Other programs act on such files by themselves: look at them first \
                 unless you asked for them",
                new.join(", ")
            ));
        }
        remarks.iter().for_each(|remark| by.tell(remark));
        remarks
    }
}

/// A command that runs. Also when nobody waits for its end, what it made is looked at.
pub(crate) struct Guarded(Option<Sandbox>);

impl Guarded {
    /// A command is about to begin. What is looked at was looked at before, so this takes milliseconds in the largest workspace.
    pub(crate) fn begin(sandbox: Option<&Sandbox>) -> Self {
        let guarded = sandbox.filter(|sandbox| sandbox.guard().is_some()).cloned();
        guarded.as_ref().and_then(Sandbox::guard).into_iter().for_each(Guard::begin);
        Self(guarded)
    }

    /// It has ended, and all it started. What there is to say about what it made, as sentences.
    pub(crate) async fn end(mut self) -> Vec<String> {
        if self.0.is_none() {
            return Vec::new();
        }
        // Where the runtime is shutting down this is dropped unheard, and done.
        let look = move || self.0.take().and_then(|sandbox| sandbox.guard().map(Guard::end)).unwrap_or_default();
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(guard) = self.0.as_ref().and_then(Sandbox::guard) {
            guard.end();
        }
    }
}

/// What nobody has changed since was not made by a command that began then.
fn has_changed_since(path: &Path, begun: SystemTime) -> bool {
    let Ok(status) = fs::symlink_metadata(path) else { return false };
    let seconds = Duration::from_secs(u64::try_from(status.ctime()).unwrap_or_default());
    let changed = seconds + Duration::from_nanos(u64::try_from(status.ctime_nsec()).unwrap_or_default());
    begun.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|begun| changed + COARSENESS >= begun)
}

fn identified(paths: Vec<PathBuf>) -> BTreeMap<PathBuf, Identity> {
    let identity = |path: PathBuf| {
        let status = fs::symlink_metadata(&path).ok()?;
        let changed = (!status.is_dir()).then(|| (status.ctime(), status.ctime_nsec()));
        Some((path, (status.dev(), status.ino(), status.created().ok(), changed)))
    };
    paths.into_iter().filter_map(identity).collect()
}

/// The clock of a file system may be behind by so much.
const COARSENESS: Duration = Duration::from_millis(20);
/// Each is a mount.
const MOST_PROTECTED: usize = 200;
/// More names tell nobody more.
const MOST_NAMED: usize = 8;
