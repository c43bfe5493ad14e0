//! The public interface of the libraries, listed from their source and kept in `docs/api`: a change of it shows in the diff.
//!
//! One line an item, with the path by which a user reaches it; what is reachable by several paths is at the shortest, and the others
//! point there. Signatures stand as they are written in the source. Hidden items (`#[doc(hidden)]`) are no part of it.

mod krate;
mod lines;
mod names;

use krate::Krate;
use std::fs;
use std::path::{Path, PathBuf};

/// The libraries whose interface is kept.
const LIBRARIES: &[&str] = &["statetable", "agent-types", "agent-core", "agent-runner"];

/// Writes the listings, or with `check` only compares them and says where they differ.
pub(crate) fn run(check: bool) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut stale = Vec::new();
    for library in LIBRARIES {
        let text = listing(&root, library)?;
        let path = root.join(format!("docs/api/{library}.txt"));
        let kept = fs::read_to_string(&path).unwrap_or_default();
        if kept == text {
            continue;
        }
        if check {
            stale.push(format!("docs/api/{library}.txt:\n{}", difference(&kept, &text)));
        } else {
            write(&path, &text)?;
        }
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!("the public interface changed; `cargo xtask api` keeps the new one\n{}", stale.join("\n")))
    }
}

fn listing(root: &Path, library: &str) -> Result<String, String> {
    let krate = Krate::read(&library.replace('-', "_"), &root.join("crates").join(library).join("src/lib.rs"))?;
    let lines = lines::of(&krate)?;
    Ok(format!(
        "# The public interface of {library}, listed from its source by `cargo xtask api`. Do not edit.\n{lines}"
    ))
}

/// Lines that went, then lines that came.
fn difference(kept: &str, text: &str) -> String {
    let only = |sign: char, of: &str, other: &str| -> Vec<String> {
        of.lines()
            .filter(|line| !other.lines().any(|found| found == *line))
            .map(|line| format!("{sign} {line}"))
            .collect()
    };
    let mut all = only('-', kept, text);
    all.extend(only('+', text, kept));
    all.join("\n")
}

fn write(path: &PathBuf, text: &str) -> Result<(), String> {
    let shown = path.display();
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|error| format!("create the directory of {shown}: {error}"))?;
    }
    fs::write(path, text).map_err(|error| format!("write {shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that the lister knows, and what must not be listed.
    #[test]
    fn a_small_library_is_listed() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api_example/lib.rs");
        let found = lines::of(&Krate::read("example", &source).unwrap()).unwrap();
        assert_eq!(found, include_str!("../tests/api_example/listing.txt"), "{found}");
    }

    #[test]
    fn the_kept_listings_are_up_to_date() {
        run(true).unwrap();
    }
}
