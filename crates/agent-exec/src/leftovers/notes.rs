//! The notes of one program: a file of fields that end with a zero byte, which no path contains.

use super::Identity;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What may be removed under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    New,
    Taken,
    Made(Identity),
    Old { file: Identity, bytes: i64, modified: (i64, i128) },
}

/// One line, so to speak.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) path: PathBuf,
    pub(super) directory: Identity,
    pub(super) name: OsString,
    pub(super) kept: Kept,
}

/// The notes of this program.
#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
    /// Locked until it is closed, by whatever end.
    file: File,
    named: BTreeSet<PathBuf>,
}

impl Notes {
    /// Begins them. Under its name the file is never seen unlocked while this program lives.
    pub(super) fn begin(folder: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let path = folder.join(format!("{}-{:x}.{ENDING}", std::process::id(), since_epoch.as_nanos()));
        let unnamed = path.with_extension(UNNAMED);
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&unnamed)?;
        file.try_lock()?;
        fs::rename(&unnamed, &path)?;
        Ok(Self { path, file, named: BTreeSet::new() })
    }

    /// Adds a note by one write.
    pub(super) fn write(&mut self, note: &Note) {
        let (kind, file, bytes, modified) = match note.kept {
            Kept::New => ("new", Identity { device: 0, number: 0 }, 0, (0, 0)),
            Kept::Taken => ("taken", Identity { device: 0, number: 0 }, 0, (0, 0)),
            Kept::Made(file) => ("made", file, 0, (0, 0)),
            Kept::Old { file, bytes, modified } => ("old", file, bytes, modified),
        };
        let Identity { device, number } = note.directory;
        let mut line =
            format!("{kind} {device} {number} {} {} {bytes} {} {}\0", file.device, file.number, modified.0, modified.1)
                .into_bytes();
        for text in [note.path.as_os_str(), &note.name] {
            line.extend_from_slice(text.as_bytes());
            line.push(0);
        }
        self.named.insert(note.path.join(&note.name));
        // What is noted in part is passed over.
        let _ = self.file.write_all(&line);
    }

    /// Takes them away if nothing of what they name is there.
    pub(super) fn remove_if_done(self) {
        if !self.named.iter().any(|path| path.symlink_metadata().is_ok()) {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Those of programs that are gone, unless another program looks through them.
    pub(super) fn of_the_dead(folder: &Path) -> Vec<Dead> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Dead::of(entry.path())).collect()
    }
}

/// The notes of a program that is gone.
pub(super) struct Dead {
    path: PathBuf,
    notes: Vec<Note>,
    _locked: File,
}

impl Dead {
    fn of(path: PathBuf) -> Option<Self> {
        let is = |ending: &str| path.extension() == Some(OsStr::new(ending));
        if !is(ENDING) && !is(UNNAMED) {
            return None;
        }
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(i32::try_from(flags.bits()).ok()?).open(&path).ok()?;
        let status = file.metadata().ok()?;
        let is_own = status.is_file() && status.uid() == rustix::process::geteuid().as_raw();
        // One that is about to get its lock has not been there for long.
        let is_young = is(UNNAMED) && status.modified().ok()?.elapsed().is_ok_and(|age| age < MOMENT);
        if !is_own || is_young || file.try_lock().is_err() {
            return None;
        }
        let mut bytes = Vec::new();
        (&file).take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(Self { path, notes: read(&bytes), _locked: file })
    }

    /// What was noted of each name.
    pub(super) fn by_name(&self) -> Vec<(&Note, &OsStr, Vec<Kept>)> {
        let mut names: BTreeMap<(&Path, &OsStr), (&Note, Vec<Kept>)> = BTreeMap::new();
        for note in &self.notes {
            names.entry((&note.path, &note.name)).or_insert((note, Vec::new())).1.push(note.kept);
        }
        names.into_iter().map(|((_, name), (note, kept))| (note, name, kept)).collect()
    }

    pub(super) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// What is cut or cannot be read is passed over.
fn read(bytes: &[u8]) -> Vec<Note> {
    let fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    fields.chunks_exact(3).filter_map(|fields| note(fields[0], fields[1], fields[2])).collect()
}

fn note(what: &[u8], path: &[u8], name: &[u8]) -> Option<Note> {
    let mut words = str::from_utf8(what).ok()?.split(' ');
    let kind = words.next()?;
    let mut identity = || Some(Identity { device: words.next()?.parse().ok()?, number: words.next()?.parse().ok()? });
    let (directory, file) = (identity()?, identity()?);
    let bytes = words.next()?.parse().ok()?;
    let modified = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let kept = match kind {
        "new" => Kept::New,
        "taken" => Kept::Taken,
        "made" => Kept::Made(file),
        "old" => Kept::Old { file, bytes, modified },
        _ => return None,
    };
    let is_name = !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    (is_name && path.starts_with(b"/")).then(|| Note { path: text(path).into(), directory, name: text(name), kept })
}

const ENDING: &str = "notes";
const UNNAMED: &str = "new";
const MOMENT: Duration = Duration::from_secs(60);
/// More than any session writes.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
