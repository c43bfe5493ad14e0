//! The user's index: read, and changed at a few paths, without a process.
//!
//! ```text
//! "DIRC" version count   entries, sorted   extensions   digest of all that
//! entry:  40 bytes of times and sizes · id · flags · (more flags) · path · zero bytes up to a multiple of 8
//! ```
//!
//! What is not understood to the last byte is not read at all, and git is asked instead: other versions, an index that is split or sparse,
//! extensions that would have to change with the entries, a wrong digest.

use crate::objects::{ObjectFormat, hex, unhex};
use crate::query::{Entry, Staged};
use crate::stat::FileStat;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// An entry to be written, with what the system said of its file before that was read. Without it git looks into the file the next time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewEntry<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) stat: Option<FileStat>,
}

/// The paths that change, with their new entries; nothing for a deletion.
pub(crate) type NewEntries<'a> = BTreeMap<&'a str, Option<NewEntry<'a>>>;

/// An index in memory.
#[derive(Debug)]
pub(crate) struct Index<'a> {
    bytes: &'a [u8],
    format: ObjectFormat,
    entries: Vec<Slot<'a>>,
    extensions: Vec<(&'a [u8], &'a [u8])>,
    /// Whether the digest is left out, as a setting of git allows.
    without_digest: bool,
}

#[derive(Debug)]
struct Slot<'a> {
    span: Range<usize>,
    path: &'a [u8],
    mode: u32,
    id: &'a [u8],
    flags: u16,
    more_flags: u16,
}

impl<'a> Index<'a> {
    /// The bytes of one without entries.
    pub(crate) fn empty(format: ObjectFormat) -> Vec<u8> {
        let mut bytes = [MAGIC, &2_u32.to_be_bytes(), &0_u32.to_be_bytes()].concat();
        let digest = format.digest(&[&bytes]);
        bytes.extend_from_slice(&digest);
        bytes
    }

    /// Reads an index, or `None` if it is one of those that only git reads.
    pub(crate) fn read(bytes: &'a [u8], format: ObjectFormat) -> Option<Self> {
        let end = bytes.len().checked_sub(format.id_bytes())?;
        let (body, digest) = bytes.split_at_checked(end)?;
        let without_digest = digest.iter().all(|byte| *byte == 0);
        if !without_digest && format.digest(&[body]) != digest {
            return None;
        }
        let version = number(body, 4)?;
        if body.get(..4)? != MAGIC || !matches!(version, 2 | 3) {
            return None;
        }
        let mut index = Self { bytes: body, format, entries: Vec::new(), extensions: Vec::new(), without_digest };
        let mut at = HEADER_BYTES;
        for _ in 0..number(body, 8)? {
            let slot = Slot::read(body, at, format)?;
            at = slot.span.end;
            index.entries.push(slot);
        }
        while at < end {
            let size = usize::try_from(number(body, at + 4)?).ok()?;
            let (name, data) = (body.get(at..at + 4)?, body.get(at + 8..(at + 8).checked_add(size)?)?);
            index.extensions.push((name, data));
            at += 8 + size;
        }
        index.extensions.iter().all(|(name, _)| KNOWN.contains(name)).then_some(index)
    }

    /// What it has at these paths.
    pub(crate) fn at(&self, paths: &BTreeSet<&str>) -> BTreeMap<String, Staged> {
        let mut found = BTreeMap::new();
        for slot in &self.entries {
            if let Some(path) = str::from_utf8(slot.path).ok().filter(|path| paths.contains(path)) {
                found.insert(path.to_owned(), slot.staged());
            }
        }
        found
    }

    /// The paths of everything that is a file or a link.
    pub(crate) fn files(&self) -> impl Iterator<Item = &'a [u8]> {
        self.entries.iter().filter(|slot| slot.mode != SUBMODULE).map(|slot| slot.path)
    }

    /// The paths of submodules.
    pub(crate) fn submodules(&self) -> impl Iterator<Item = &'a [u8]> {
        self.entries.iter().filter(|slot| slot.mode == SUBMODULE).map(|slot| slot.path)
    }

    /// The bytes of this index with these paths changed or, without an entry, removed; everything else as it is. `None` if a path would
    /// take the place of a directory, or the other way round: git knows what follows from that.
    pub(crate) fn with(&self, changes: &NewEntries<'_>) -> Option<Vec<u8>> {
        if changes.iter().any(|(path, entry)| entry.is_some() && self.is_in_the_way_of(path)) {
            return None;
        }
        let mut new = changes.iter().filter_map(|(path, entry)| Some((*path, (*entry)?))).peekable();
        let mut body = self.bytes.get(..HEADER_BYTES)?.to_vec();
        let mut count: u32 = 0;
        for slot in &self.entries {
            while let Some((path, entry)) = new.next_if(|(path, _)| path.as_bytes() <= slot.path) {
                write_entry(&mut body, path, entry)?;
                count += 1;
            }
            if str::from_utf8(slot.path).is_ok_and(|path| changes.contains_key(path)) {
                continue;
            }
            body.extend_from_slice(self.bytes.get(slot.span.clone())?);
            count += 1;
        }
        for (path, entry) in new {
            write_entry(&mut body, path, entry)?;
            count += 1;
        }
        body.get_mut(8..HEADER_BYTES)?.copy_from_slice(&count.to_be_bytes());
        for (name, data) in &self.extensions {
            match *name {
                b"TREE" => write_extension(&mut body, name, &Trees { format: self.format, changes }.without(data)?)?,
                // They say where entries are in the file.
                b"EOIE" | b"IEOT" => {}
                _ => write_extension(&mut body, name, data)?,
            }
        }
        let digest = if self.without_digest { vec![0; self.format.id_bytes()] } else { self.format.digest(&[&body]) };
        body.extend_from_slice(&digest);
        Some(body)
    }

    /// Whether it has entries below this path.
    pub(crate) fn has_below(&self, path: &str) -> bool {
        self.entries.iter().any(|slot| is_below(slot.path, path.as_bytes()))
    }

    fn is_in_the_way_of(&self, path: &str) -> bool {
        self.entries.iter().any(|slot| is_below(slot.path, path.as_bytes()) || is_below(path.as_bytes(), slot.path))
    }
}

impl<'a> Slot<'a> {
    fn read(body: &'a [u8], start: usize, format: ObjectFormat) -> Option<Self> {
        let mode = number(body, start + MODE_AT)?;
        let flags_at = start + ID_AT + format.id_bytes();
        let id = body.get(start + ID_AT..flags_at)?;
        let short = |at: usize| Some(u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?));
        let flags = short(flags_at)?;
        let is_extended = flags & EXTENDED != 0;
        let more_flags = if is_extended { short(flags_at + 2)? } else { 0 };
        let path_at = flags_at + if is_extended { 4 } else { 2 };
        let length = body.get(path_at..)?.iter().position(|byte| *byte == 0)?;
        let path = body.get(path_at..path_at + length)?;
        // Up to 8 zero bytes, at least one.
        let end = start + (path_at + length - start + 8) / 8 * 8;
        let is_padded = body.get(path_at + length..end)?.iter().all(|byte| *byte == 0);
        (is_padded && !path.is_empty()).then_some(Self { span: start..end, path, mode, id, flags, more_flags })
    }

    fn staged(&self) -> Staged {
        // A stage of a conflict, "assume that it is unchanged", or "leave it out of the working tree": git would lose them if the entry
        // were replaced. "It is to be added" is as good as another version.
        if self.flags & !LENGTH != 0 && (self.flags & !LENGTH, self.more_flags) != (EXTENDED, TO_BE_ADDED) {
            return Staged::Special;
        }
        Staged::Entry(Entry { mode: self.mode, id: hex(self.id) })
    }
}

/// Without what the system said, times and sizes are zero.
fn write_entry(body: &mut Vec<u8>, path: &str, new: NewEntry<'_>) -> Option<()> {
    let start = body.len();
    let (before, behind) =
        new.stat.map_or_else(|| (vec![0; MODE_AT], vec![0; ID_AT - MODE_AT - 4]), |stat| stat.parts());
    body.extend_from_slice(&before);
    body.extend_from_slice(&new.entry.mode.to_be_bytes());
    body.extend_from_slice(&behind);
    body.extend_from_slice(&unhex(&new.entry.id)?);
    let length = u16::try_from(path.len()).unwrap_or(LENGTH).min(LENGTH);
    body.extend_from_slice(&length.to_be_bytes());
    body.extend_from_slice(path.as_bytes());
    body.resize(start + (body.len() - start + 8) / 8 * 8, 0);
    Some(())
}

fn write_extension(body: &mut Vec<u8>, name: &[u8], data: &[u8]) -> Option<()> {
    body.extend_from_slice(name);
    body.extend_from_slice(&u32::try_from(data.len()).ok()?.to_be_bytes());
    body.extend_from_slice(data);
    Some(())
}

/// The trees that git would make of the entries, as far as it knows: those with a change in them are not known any more.
///
/// `path NUL entries SP subtrees LF id` and then the subtrees; without the id, and with -1 entries, where it is not known.
struct Trees<'a> {
    format: ObjectFormat,
    changes: &'a NewEntries<'a>,
}

impl Trees<'_> {
    fn without(&self, data: &[u8]) -> Option<Vec<u8>> {
        let mut rest = data;
        let mut out = Vec::new();
        self.copy(&mut rest, &mut out, &[], DEPTH_LIMIT)?;
        rest.is_empty().then_some(out)
    }

    fn copy(&self, rest: &mut &[u8], out: &mut Vec<u8>, above: &[u8], depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let name = until(rest, 0)?;
        let line = until(rest, b'\n')?;
        let (entries, subtrees) = str::from_utf8(line).ok()?.split_once(' ')?;
        let (is_known, subtrees) = (entries.parse::<i64>().ok()? >= 0, subtrees.parse::<u32>().ok()?);
        let id_bytes = if is_known { self.format.id_bytes() } else { 0 };
        let (id, after) = rest.split_at_checked(id_bytes)?;
        *rest = after;
        let path = match above {
            [] => name.to_vec(),
            above => [above, b"/", name].concat(),
        };
        let is_changed = path.is_empty() || self.changes.keys().any(|change| is_below(change.as_bytes(), &path));
        out.extend_from_slice(name);
        out.push(0);
        if is_known && is_changed {
            out.extend_from_slice(format!("-1 {subtrees}\n").as_bytes());
        } else {
            out.extend_from_slice(line);
            out.push(b'\n');
            out.extend_from_slice(id);
        }
        (0..subtrees).try_for_each(|_| self.copy(rest, out, &path, depth))
    }
}

/// Takes what comes before a byte, and the byte.
fn until<'a>(rest: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == end)?;
    let found = rest.get(..at)?;
    *rest = rest.get(at + 1..)?;
    Some(found)
}

/// Whether one path is in the directory that the other one would be.
fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

const MAGIC: &[u8] = b"DIRC";
/// The mode of a submodule's entry.
const SUBMODULE: u32 = 0o160_000;
const HEADER_BYTES: usize = 12;
/// Where an entry has its mode, and its id.
const MODE_AT: usize = 24;
const ID_AT: usize = 40;
/// Bits of an entry's flags.
const LENGTH: u16 = 0x0FFF;
const EXTENDED: u16 = 0x4000;
/// A bit of the flags that come then.
const TO_BE_ADDED: u16 = 0x2000;
/// Extensions that can be carried over, changed or left out.
const KNOWN: &[&[u8]] = &[b"TREE", b"REUC", b"EOIE", b"IEOT"];
/// Directories in one another.
const DEPTH_LIMIT: u32 = 512;
