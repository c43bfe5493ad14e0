//! Whether a repository's own configuration says nothing but the ordinary: what `git init`, `clone`, `submodule` and `branch` write. Asking
//! git costs a process, so it is asked where there is anything else.

/// Reads a configuration no further than needed: what is not understood is not ordinary.
pub(super) fn is_ordinary(text: &str) -> bool {
    let mut section = String::new();
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
        let Some(rest) = line.strip_prefix('[') else {
            return is_known(&section, line);
        };
        let Some(name) = rest.strip_suffix(']') else { return false };
        section = name.split(['"', ' ', '\t', '.']).next().unwrap_or_default().to_ascii_lowercase();
        KNOWN.iter().any(|(known, _)| *known == section)
    })
}

fn is_known(section: &str, line: &str) -> bool {
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let key = key.trim().to_ascii_lowercase();
    // A value on several lines; an address that is a command.
    let is_plain = !line.ends_with('\\') && !value.contains("ext::");
    let keys = KNOWN.iter().find(|(known, _)| *known == section).map_or(&[][..], |(_, keys)| keys);
    is_plain && (keys.contains(&"*") || keys.contains(&&*key))
}

/// Sections and their keys; `*` are all.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "worktree",
            "autocrlf",
            "eol",
            "safecrlf",
            "hidedotfiles",
            "untrackedcache",
            "sparsecheckout",
            "sparsecheckoutcone",
        ],
    ),
    ("remote", &["url", "pushurl", "fetch", "push", "mirror", "tagopt", "prune", "promisor", "partialclonefilter"]),
    ("branch", &["remote", "pushremote", "merge", "rebase", "description", "vscode-merge-base"]),
    ("submodule", &["url", "active", "branch", "ignore", "shallow"]),
    ("extensions", &["objectformat", "refstorage", "partialclone", "compatobjectformat", "preciousobjects"]),
    ("user", &["*"]),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote"]),
    ("gc", &["auto"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes_by_itself_is_ordinary_and_nothing_else() {
        let cloned = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\
                      \turl = https://a/b\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        assert!(is_ordinary(cloned) && is_ordinary("") && is_ordinary("# x\n[user]\nname = a\n"));
        for more in [
            "[diff]\n external = tools/d\n",
            "[difftool \"x\"]\n cmd = tools/d\n",
            "[extensions]\n worktreeConfig = true\n",
            "[core] fsmonitor = x\n",
            "[core]\n fsmonitor = x\n",
            "[Core]\n AskPass = x\n",
            "[remote \"origin\"]\n uploadpack = x\n",
            "[remote \"origin\"]\n url = ext::sh x\n",
            "[submodule \"s\"]\n update = !x\n",
            "[include]\n path = x\n",
            "[user]\n name = a\\\n",
            "[trailer \"x\"]\n cmd = y\n",
            "[init]\n templateDir = x\n",
        ] {
            assert!(!is_ordinary(&format!("{cloned}{more}")), "{more}");
        }
    }
}
