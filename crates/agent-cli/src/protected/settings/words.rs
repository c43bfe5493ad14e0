//! The files that a command in git's configuration may name. A shell reads it, so this errs to one side: rather a file too many.

use std::path::{Path, PathBuf};

/// Whether the value of a setting may be a command, or a file that git reads.
pub(super) fn may_name_program(key: &str) -> bool {
    let is_of_remote =
        key.starts_with("remote.") && ![".uploadpack", ".receivepack", ".vcs"].iter().any(|end| key.ends_with(end));
    !is_of_remote && !DATA.iter().any(|head| key.starts_with(head))
}

/// A path as git expands it.
pub(super) fn expanded(value: &str, base: &Path) -> PathBuf {
    match (value.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base.join(value),
    }
}

/// The files that a command may name: those that are there, and those that look like scripts and are not.
pub(super) fn files(command: &str, root: &Path) -> Vec<PathBuf> {
    let words = words(command, root);
    let mut bases = vec![root.to_path_buf()];
    bases.extend(words.iter().map(|word| expanded(word, root)).filter(|path| path.is_dir()));
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 && words.get(at - 1).is_some_and(|before| before == "-m") {
            found.extend([root.join(format!("{word}.py")), root.join(word)]);
        }
        for base in &bases {
            let path = expanded(word, base);
            if path.is_file() || !path.exists() && looks_like_script(word) {
                found.push(path);
            }
        }
    }
    found
}

/// The words, with what is known of a shell's expansions done.
fn words(command: &str, root: &Path) -> Vec<String> {
    let mut text = command.to_owned();
    let root = root.to_string_lossy();
    let home = std::env::home_dir().unwrap_or_default();
    for (spelling, value) in [
        ("$(git rev-parse --show-toplevel)", &*root),
        ("`git rev-parse --show-toplevel`", &root),
        ("${PWD}", &root),
        ("$PWD", &root),
        ("$(pwd)", &root),
        ("${HOME}", &home.to_string_lossy()),
        ("$HOME", &home.to_string_lossy()),
    ] {
        // Quotes around it are none of the path.
        text = text.replace(&format!("\"{spelling}\""), value).replace(spelling, value);
    }
    let is_between = |c: char| c.is_whitespace() || "\"';|&()!=`<>{}".contains(c);
    text.split(is_between).filter(|word| !matches!(*word, "" | "." | "..")).map(str::to_owned).collect()
}

fn looks_like_script(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-+~@".contains(c)) && !word.starts_with('-');
    is_plain && (word.contains('/') || ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

const ENDINGS: &[&str] = &[".sh", ".bash", ".py", ".js", ".mjs", ".rb", ".pl", ".lua"];
/// Settings whose values are names, addresses and numbers.
const DATA: &[&str] = &[
    "branch.",
    "user.",
    "submodule.",
    "color.",
    "url.",
    "init.",
    "extensions.",
    "author.",
    "committer.",
    "safe.",
    "trace2.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_in_whatever_spelling() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("tools")).unwrap();
        std::fs::write(root.join("tools/clean.sh"), "").unwrap();
        for command in [
            "tools/clean.sh %f",
            "./tools/clean.sh",
            "sh \"tools/clean.sh\"",
            "cd tools && ./clean.sh",
            "sh -c 'cd tools; sh clean.sh'",
            "\"$(git rev-parse --show-toplevel)\"/tools/clean.sh",
            "$PWD/tools/clean.sh",
            "!f() { tools/clean.sh; }; f",
        ] {
            let real: Vec<_> = files(command, &root).iter().filter_map(|path| path.canonicalize().ok()).collect();
            assert!(real.contains(&root.join("tools/clean.sh")), "{command}: {real:?}");
        }
        assert!(files("./tools/absent.sh", &root).contains(&root.join("./tools/absent.sh")));
        assert!(files("\"/usr/bin/python3\" -m strip", &root).contains(&root.join("strip.py")));
        assert_eq!(files("cat -v", &root), Vec::<PathBuf>::new());
    }
}
