//! What lies over what: the order of a sandbox's mounts.
//!
//! 1. The deeper path counts: what is shown within something hidden can be seen, what is hidden within something shown cannot.
//! 2. Of one path protected wins over writable, and hidden over protected. What is shown by name (the workspace, a writable or a readable
//!    directory) cannot be hidden as a whole.
//! 3. A directory between something writable and something mounted in it is a mount of its own. A mount cannot be renamed, so no command
//!    can move what is hidden or protected to a place where another command would see or write it, nor put a link where the next command's
//!    mounts are made.
//! 4. All of them are made, or none: what is left out of so many would be for a command to choose ([`TooMany`]).
//! 5. Mounts are made by name, so the helper within compares each with what was seen when they were decided: [`Made`].

use super::place::Place;
use agent_types::protected::is_instructions;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a sandbox has at some paths, besides the file system that is read only.
#[derive(Debug, Default)]
pub(super) struct Mounts(Vec<Mount>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mount {
    path: PathBuf,
    kind: Kind,
}

/// In the order in which they win over each other on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It is named, so it is there, also in what the sandbox has for itself.
    Named,
    /// It can be read.
    Readable,
    /// It can be written.
    Writable,
    /// It lies in what can be written, and can be read only.
    Protected,
    /// It cannot be read.
    Hidden,
}

/// More mounts are needed than can be made for every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "hidden and protected files and the directories that lead to them need {needed} mounts, but the limit is {MOST_MOUNTS}: work in a \
     subdirectory, or remove files that other programs run, repositories or hidden files that you do not need"
)]
pub(crate) struct TooMany {
    needed: usize,
}

/// A mount, as it has to be found from within before anything is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// This can be written.
    Writable(Place),
    /// This cannot be written.
    ReadOnly(Place),
    /// An empty file system.
    Empty(PathBuf),
    /// At a path the file that stands for hidden ones.
    File(PathBuf, Place),
}

impl Made {
    /// As arguments of a helper.
    pub(crate) fn put(&self, line: &mut Vec<OsString>) {
        let (word, path, place) = match self {
            Self::Writable(place) => ("w", &place.path, place.to_argument()),
            Self::ReadOnly(place) => ("r", &place.path, place.to_argument()),
            Self::Empty(path) => ("e", path, OsString::new()),
            Self::File(path, place) => ("f", path, place.to_argument()),
        };
        line.extend([word.into(), path.into(), place]);
    }

    /// What [`put`](Self::put) wrote, from three arguments.
    pub(crate) fn read(word: &OsString, path: &OsString, place: &OsString) -> Option<Self> {
        Some(match word.to_str()? {
            "w" => Self::Writable(Place::read(place)?),
            "r" => Self::ReadOnly(Place::read(place)?),
            "e" => Self::Empty(path.into()),
            "f" => Self::File(path.into(), Place::read(place)?),
            _ => return None,
        })
    }

    /// How many arguments one is.
    pub(crate) const ARGUMENTS: usize = 3;
}

impl Mounts {
    pub(super) fn named(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.add(Kind::Named, paths);
    }

    pub(super) fn readable(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.add(Kind::Readable, paths);
    }

    pub(super) fn writable(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.add(Kind::Writable, paths);
    }

    pub(super) fn protected(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.add(Kind::Protected, paths);
    }

    /// After all the others: what is shown is not hidden.
    pub(super) fn hidden(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let paths: Vec<PathBuf> = paths.into_iter().filter(|path| !self.shows(path)).collect();
        self.add(Kind::Hidden, paths);
    }

    /// The arguments of `bwrap` for them, and what has to be found of them within. The empty file is seen in the place of hidden ones.
    /// `own` are the directories that the sandbox has for itself, in which nothing is seen that is not shown. `fixed` are places that were
    /// decided about before; the others are what they are now.
    pub(super) fn arguments(
        mut self,
        empty_file: &Path,
        own: &[&str],
        fixed: &[Place],
    ) -> Result<(Vec<OsString>, Vec<Made>), TooMany> {
        self.0.sort();
        // Of equal paths the last, which is the stronger.
        self.0.reverse();
        self.0.dedup_by(|weaker, stronger| weaker.path == stronger.path);
        self.0.reverse();
        self.drop_covered(own);
        self.pin();
        let needed = self.0.len();
        if needed > MOST_MOUNTS {
            return Err(TooMany { needed });
        }
        let (mut line, mut made) = (Vec::new(), Vec::new());
        for Mount { path, kind } in &self.0 {
            let known = fixed.iter().find(|place| place.path == *path).cloned();
            // What is gone, or has become a link, is found to be another thing.
            let now = || if *kind == Kind::Named { Place::led_to_by(path) } else { Place::at(path) };
            let place = || known.or_else(now).unwrap_or_else(|| Place::of_nothing(path));
            let (option, from) = match kind {
                Kind::Writable => {
                    made.push(Made::Writable(place()));
                    ("--bind", path.as_path())
                }
                Kind::Named | Kind::Readable | Kind::Protected => {
                    made.push(Made::ReadOnly(place()));
                    ("--ro-bind", path.as_path())
                }
                Kind::Hidden if !path.is_dir() => {
                    let empty = Place::at(empty_file).unwrap_or_else(|| Place::of_nothing(empty_file));
                    made.push(Made::File(path.clone(), empty));
                    ("--ro-bind", empty_file)
                }
                Kind::Hidden => {
                    made.push(Made::Empty(path.clone()));
                    // One of its own has room for what is shown within; and a bind costs ten times as much.
                    line.extend(["--perms", "0555", "--tmpfs"].map(OsString::from));
                    line.push(path.into());
                    continue;
                }
            };
            line.extend([option.into(), from.into(), path.into()]);
        }
        Ok((line, made))
    }

    fn add(&mut self, kind: Kind, paths: impl IntoIterator<Item = PathBuf>) {
        self.0.extend(paths.into_iter().map(|path| Mount { path, kind }));
    }

    fn shows(&self, path: &Path) -> bool {
        self.0.iter().any(|mount| mount.path == path && matches!(mount.kind, Kind::Readable | Kind::Writable))
    }

    /// What is protected or hidden in something hidden is not there, and neither is what is hidden in the sandbox's own.
    fn drop_covered(&mut self, own: &[&str]) {
        let all = self.0.clone();
        self.0.retain(|mount| {
            if !matches!(mount.kind, Kind::Protected | Kind::Hidden) {
                return true;
            }
            match nearest_above(&all, &mount.path) {
                Some(above) => above.kind != Kind::Hidden,
                None => !own.iter().any(|own| mount.path.starts_with(own)),
            }
        });
    }

    fn pin(&mut self) {
        let mut pins = Vec::new();
        for mount in self.0.iter().filter(|mount| mount.is_worth_a_pin()) {
            let Some(above) = nearest_above(&self.0, &mount.path) else { continue };
            if above.kind == Kind::Writable {
                let between = mount.path.ancestors().skip(1).take_while(|path| *path != above.path);
                pins.extend(between.map(|path| Mount { path: path.to_path_buf(), kind: Kind::Writable }));
            }
        }
        self.0.extend(pins);
        self.0.sort();
        self.0.dedup();
    }
}

impl Mount {
    /// Packages have instructions for agents, and are moved: nothing runs those.
    fn is_worth_a_pin(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.kind != Kind::Named && !(self.kind == Kind::Protected && is_instructions(&name))
    }
}

/// What a path lies in, of mounts in the order of their paths, each once.
fn nearest_above<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let at = |path: &Path| mounts.binary_search_by(|mount| mount.path.as_path().cmp(path)).ok();
    path.ancestors().skip(1).find_map(at).and_then(|at| mounts.get(at))
}

/// `bwrap` reads the table of all mounts for each one that it makes: a thousand take it some seconds, and it takes 9,000 arguments.
const MOST_MOUNTS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments for paths below a directory, with `R` in its place. Those that end in `/` are made.
    fn arguments(build: impl FnOnce(&mut Mounts, &dyn Fn(&str) -> Vec<PathBuf>)) -> String {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["user/.ssh", "user/.config/gh", "user/ws/.git", "user/ws/secret"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::fs::write(root.join("user/.netrc"), "").unwrap();
        let mut mounts = Mounts::default();
        build(&mut mounts, &|name| vec![root.join(name)]);
        let (line, made) = mounts.arguments(Path::new("F"), &["/run"], &[]).unwrap();
        let mut arguments = Vec::new();
        made.iter().for_each(|made| made.put(&mut arguments));
        let read = arguments.chunks(Made::ARGUMENTS).map(|each| Made::read(&each[0], &each[1], &each[2]).unwrap());
        assert_eq!(read.collect::<Vec<_>>(), made);
        let words: Vec<String> = line.into_iter().map(|word| word.into_string().unwrap()).collect();
        words.join(" ").replace("--perms 0555 --tmpfs", "--hide").replace(root.to_str().unwrap(), "R")
    }

    #[test]
    fn what_is_hidden_lies_over_what_is_shown_and_the_other_way_round() {
        let beside = arguments(|mounts, at| {
            mounts.writable(at("user/ws"));
            mounts.protected(at("user/ws/.git"));
            mounts.hidden([at("user/.ssh"), at("user/.netrc"), at("user/ws/secret")].concat());
        });
        let expected = "--ro-bind F R/user/.netrc --hide R/user/.ssh --bind R/user/ws R/user/ws \
                        --ro-bind R/user/ws/.git R/user/ws/.git --hide R/user/ws/secret";
        assert_eq!(beside, expected);
        let within = arguments(|mounts, at| {
            mounts.writable(at("user/ws"));
            mounts.protected(at("user/.ssh"));
            mounts.hidden(at("user"));
        });
        assert_eq!(within, "--hide R/user --bind R/user/ws R/user/ws");
    }

    #[test]
    fn the_workspace_is_never_hidden_and_what_is_hidden_in_it_cannot_be_moved() {
        let whole = arguments(|mounts, at| {
            mounts.writable(at("user"));
            mounts.hidden(at("user"));
        });
        assert_eq!(whole, "--bind R/user R/user");
        let deep = arguments(|mounts, at| {
            mounts.writable(at("user"));
            mounts.hidden(at("user/.config/gh"));
        });
        let expected = "--bind R/user R/user --bind R/user/.config R/user/.config --hide R/user/.config/gh";
        assert_eq!(deep, expected);
        let protected = arguments(|mounts, at| {
            mounts.writable(at("user"));
            mounts.protected([at("user/.config"), at("user/.ssh")].concat());
            mounts.hidden([at("user/.config/gh"), at("user/.ssh")].concat());
        });
        let expected = "--bind R/user R/user --ro-bind R/user/.config R/user/.config --hide R/user/.config/gh \
                        --hide R/user/.ssh";
        assert_eq!(protected, expected);
    }

    #[test]
    fn all_that_is_on_the_way_is_held_or_nothing_is_started() {
        let build = |decoys: usize| {
            let mut mounts = Mounts::default();
            mounts.writable([PathBuf::from("/ws")]);
            mounts.protected((0..decoys).map(|number| PathBuf::from(format!("/ws/a{number}/b/.envrc"))));
            mounts.hidden([PathBuf::from("/ws/zz/conf/key")]);
            mounts.arguments(Path::new("F"), &[], &[])
        };
        let (line, _) = build(300).unwrap();
        for held in ["/ws/zz/conf", "/ws/zz", "/ws/a0/b", "/ws/a299"] {
            assert!(line.iter().any(|word| word == held), "{held}");
        }
        assert_eq!(build(400).unwrap_err(), TooMany { needed: 1_204 });
        assert!(build(400).unwrap_err().to_string().contains("need 1204 mounts"));
    }

    #[test]
    fn nothing_is_hidden_where_nothing_is_seen() {
        let own = arguments(|mounts, _| {
            mounts.named([PathBuf::from("/run/bin")]);
            mounts.hidden(["/run/secrets", "/run/bin/key"].map(PathBuf::from));
        });
        assert_eq!(own, "--ro-bind /run/bin /run/bin --ro-bind F /run/bin/key");
    }
}
