//! What is looked at around every command that may write a workspace: what mounts do not hold.

use super::Sandbox;
use super::besides::{Besides, Within};
#[cfg(target_os = "linux")]
use super::kept::Kept;
#[cfg(not(target_os = "linux"))]
use super::kept_elsewhere::Kept;
use super::place::{Led, led};
use crate::apart::apart;
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

    /// What commands must not write once something was found at a path; that path itself, for instance. Where mounts hold commands back,
    /// this counts from the next command on. Where it is more than mounts can hold, no further command is started.
    fn protects(&self, path: &Path) -> Vec<PathBuf>;

    /// What commands must neither make nor replace, besides what the policy keeps; by what [`find`](Self::find) saw last. A mount does not
    /// hold a link, for one. It is asked before every command.
    fn keeps(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether what commands made at a path is to be set aside, and not only told. `is_new` when nothing was found there before.
    fn sets_aside(&self, path: &Path, is_new: bool) -> bool;

    /// What tells when that which was found at a path was made: the path itself, and what belongs to it.
    fn evidence(&self, path: &Path) -> Vec<PathBuf> {
        vec![path.to_path_buf()]
    }

    /// Where the last search did not come, as the beginning of a sentence.
    fn unsearched(&self) -> Option<String> {
        None
    }

    /// The same in a directory outside the workspace, or in one that is usually closed, which a call may write. It is asked when that is
    /// opened, and around the call.
    fn find_in(&self, _directory: &Path) -> Within {
        Within::default()
    }

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
    /// What was said of where it was not searched.
    unsearched: Mutex<Option<String>>,
}

/// Device, number and birth; for a link its own. A number is given again. Of a file also when it was changed: what is written in place
/// counts.
pub(super) type Identity = (u64, u64, Option<SystemTime>, Option<(i64, i64)>);

impl Guard {
    pub(super) fn new(workspace: &Path, kept: &[PathBuf]) -> Self {
        let kept = Kept::new(workspace, kept);
        Self { workspace: workspace.to_path_buf(), kept, watch: OnceLock::new() }
    }

    /// Only the first watch counts.
    pub(super) fn watch(&self, by: Arc<dyn Watch>) {
        self.watch.get_or_init(|| {
            let known = Mutex::new(identified(by.find()));
            Watched { known, unsearched: Mutex::new(by.unsearched()), by }
        });
    }

    /// A command is about to begin. What is new while no command ran, somebody else did.
    fn begin(&self) -> Vec<String> {
        // Beside others it is looked at, too: what they have moved is protected where it is now.
        let others = if self.kept.begin() { Others::AreLeftAlone } else { Others::AreTold };
        let remarks = self.sweep(others);
        if let Some(Watched { by, .. }) = self.watch.get() {
            self.kept.also(&by.keeps());
            remarks.iter().for_each(|remark| by.tell(remark));
        }
        remarks
    }

    /// What was found since the sandbox was made, for mounts.
    pub(super) fn protected(&self) -> Vec<PathBuf> {
        let Some(Watched { by, known, .. }) = self.watch.get() else { return Vec::new() };
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.keys().flat_map(|path| by.protects(path)).collect()
    }

    fn end(&self) -> Vec<String> {
        let mut remarks = self.kept.end();
        remarks.extend(self.sweep(Others::AreTold));
        if let Some(Watched { by, .. }) = self.watch.get() {
            remarks.iter().for_each(|remark| by.tell(remark));
        }
        remarks
    }

    /// Looks at what is new or changed: sets aside, or tells. What is set aside may have hidden other things, so it is looked at again.
    fn sweep(&self, others: Others) -> Vec<String> {
        let Some(Watched { by, known, unsearched }) = self.watch.get() else { return Vec::new() };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut remarks, mut new) = (Vec::new(), Vec::new());
        for _ in 0..MOST_ROUNDS {
            let mut now = identified(by.find());
            // What a command has closed is not gone.
            let is_closed = |path: &PathBuf| !now.contains_key(path) && matches!(led(path), Led::Behind(_));
            let closed: Vec<_> = known.iter().filter(|(path, _)| is_closed(path)).collect();
            let closed: Vec<_> = closed.into_iter().map(|(path, identity)| (path.clone(), *identity)).collect();
            now.extend(closed);
            let mut is_done = true;
            for (path, _) in now.iter().filter(|(path, identity)| known.get(*path) != Some(identity)) {
                let is_commands = by.evidence(path).iter().any(|path| self.was_changed_by_command(path));
                let within = path.strip_prefix(&self.workspace).unwrap_or(path);
                if is_commands && by.sets_aside(path, !known.contains_key(path)) {
                    remarks.push(self.kept.set_aside(within));
                    is_done = false;
                } else if is_commands || others == Others::AreTold {
                    new.push(format!("`{}`", named(within)));
                }
            }
            *known = now;
            if is_done {
                break;
            }
        }
        remarks.extend(told(new));
        let mut told = unsearched.lock().unwrap_or_else(PoisonError::into_inner);
        let now = by.unsearched();
        if *told != now {
            remarks.extend(now.iter().map(|what| format!("{what}: changes by commands there are not reported")));
            *told = now;
        }
        remarks
    }

    fn was_changed_by_command(&self, path: &Path) -> bool {
        let Ok(status) = fs::symlink_metadata(path) else { return false };
        let seconds = Duration::from_secs(u64::try_from(status.ctime()).unwrap_or_default());
        let nanos = Duration::from_nanos(u64::try_from(status.ctime_nsec()).unwrap_or_default());
        self.kept.ran_at(SystemTime::UNIX_EPOCH + seconds + nanos)
    }
}

/// What becomes of what no command made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    AreLeftAlone,
    AreTold,
}

/// What is new or changed, as a sentence.
pub(super) fn told(mut new: Vec<String>) -> Option<String> {
    if new.is_empty() {
        return None;
    }
    let more = new.len().saturating_sub(MOST_NAMED);
    new.truncate(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "new or changed while commands ran: {}{more}. Other programs act on such files automatically: inspect them first unless you \
         asked for them",
        new.join(", ")
    ))
}

/// A path on one line and not too long of it: whoever chose the name, it cannot pass for words of the program.
pub(super) fn named(path: &Path) -> String {
    let shown =
        |part: &str| part.escape_debug().to_string().replace('`', "\\u{60}").replace("\\'", "'").replace("\\\"", "\"");
    let name = path.display().to_string();
    let count = name.chars().count();
    if count <= LONGEST_NAME {
        return shown(&name);
    }
    let begin: String = name.chars().take(LONGEST_NAME / 2).collect();
    let end: String = name.chars().skip(count - LONGEST_NAME / 2).collect();
    format!("{}…{}", shown(&begin), shown(&end))
}

/// A command that runs. Also when nobody waits for its end, what it made is looked at.
pub(crate) struct Guarded {
    looks: Option<Looks>,
    /// What was found when it began.
    before: Vec<String>,
}

/// What is looked at when it has ended.
struct Looks {
    sandbox: Sandbox,
    besides: Option<Besides>,
}

impl Guarded {
    /// A command is about to begin. What is looked at was looked at before, so this takes milliseconds in the largest workspace.
    pub(crate) fn begin(sandbox: Option<&Sandbox>) -> Self {
        let looks = sandbox.map(|sandbox| Looks { sandbox: sandbox.clone(), besides: Besides::begin(sandbox) });
        let looks = looks.filter(|looks| looks.besides.is_some() || looks.sandbox.guard().is_some());
        let guard = looks.as_ref().and_then(|looks| looks.sandbox.guard());
        let before = guard.map(Guard::begin).unwrap_or_default();
        Self { looks, before }
    }

    /// It has ended, and all it started. What there is to say about what it made, as sentences.
    pub(crate) async fn end(mut self) -> Vec<String> {
        if self.looks.is_none() {
            return Vec::new();
        }
        let mut remarks = std::mem::take(&mut self.before);
        // Where this is dropped unheard, it is done.
        let look = move || self.looks.take().map(|looks| looks.end()).unwrap_or_default();
        remarks.extend(apart(look).await.unwrap_or_default());
        remarks
    }
}

impl Looks {
    fn end(&self) -> Vec<String> {
        let mut remarks = self.sandbox.guard().map(Guard::end).unwrap_or_default();
        remarks.extend(self.besides.iter().flat_map(Besides::end));
        remarks
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(looks) = &self.looks {
            looks.end();
        }
    }
}

pub(super) fn identified(paths: Vec<PathBuf>) -> BTreeMap<PathBuf, Identity> {
    let identity = |path: PathBuf| {
        let status = fs::symlink_metadata(&path).ok()?;
        let changed = (!status.is_dir()).then(|| (status.ctime(), status.ctime_nsec()));
        Some((path, (status.dev(), status.ino(), status.created().ok(), changed)))
    };
    paths.into_iter().filter_map(identity).collect()
}

/// What hides another thing that hides another, and so on.
const MOST_ROUNDS: u32 = 50;
/// More names tell nobody more.
const MOST_NAMED: usize = 8;
/// Of a name, no more letters are shown.
const LONGEST_NAME: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_and_cannot_end_its_quotes() {
        for (name, expected) in [
            ("sub/.envrc", "sub/.envrc"),
            ("it's \"x\"", "it's \"x\""),
            ("a\n• bash rm -rf /", "a\\n• bash rm -rf /"),
            ("a`. All is well. `b", "a\\u{60}. All is well. \\u{60}b"),
            ("a\u{202e}b\u{1b}[2J", "a\\u{202e}b\\u{1b}[2J"),
            ("日本/ü", "日本/ü"),
        ] {
            assert_eq!(named(Path::new(name)), expected);
        }
        let long = named(Path::new(&"x".repeat(4_000)));
        assert_eq!(long.chars().count(), LONGEST_NAME + 1, "{long}");
    }
}
