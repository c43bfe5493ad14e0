//! Commands that only read files, as far as their words tell.
//!
//! This decides what is *asked*, not what is possible: such a command runs where it can write nothing and has no network. So the lists
//! need not know what a program of the user's own might do; they name what reads by trade. Words that name another program or a file to
//! write were refused before, where plain commands are recognised.

use super::programs::TOUCH_NOTHING;

/// Whether a plain command only reads, or touches nothing.
pub(super) fn only_reads(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    match program.as_str() {
        "git" => git_only_reads(arguments),
        // `-R` writes a page into each directory.
        "tree" => !arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('R')),
        // A `sed` that does more than print is no plain command.
        program => READERS.contains(&program) || TOUCH_NOTHING.contains(&program),
    }
}

/// Whether a program does one thing or another as its first argument says.
pub(super) fn has_trades(program: &str) -> bool {
    program == "git"
}

/// Whether a sub-command of git only shows what is recorded. What its configuration has it run to show that, such as a filter, is held
/// like the rest.
fn git_only_reads(arguments: &[String]) -> bool {
    let Some((subcommand, rest)) = arguments.split_first() else { return false };
    let first = rest.first().map(String::as_str);
    match subcommand.as_str() {
        "branch" => lists(rest, BRANCH_OPTIONS),
        "tag" => lists(rest, TAG_OPTIONS),
        "remote" => {
            matches!(first, None | Some("-v" | "--verbose" | "get-url")) && (first == Some("get-url") || rest.len() < 2)
        }
        "stash" => matches!(first, Some("list" | "show")),
        "reflog" => first.is_none_or(|word| word == "show" || word.starts_with('-')),
        "worktree" => first == Some("list"),
        subcommand => GIT_READERS.contains(&subcommand),
    }
}

/// Whether a sub-command that lists or makes something is asked to list: all of its options are known, and where a name follows, one of
/// them says so.
fn lists(arguments: &[String], options: &[&str]) -> bool {
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    let (known, names): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|word| word.starts_with('-'));
    let says_so = known.iter().any(|word| LISTING.contains(&name(word).as_str()));
    known.iter().all(|word| options.contains(&name(word).as_str()) || LISTING.contains(&name(word).as_str()))
        && (names.is_empty() || says_so)
}

/// Programs that print what is in files, or about them.
#[rustfmt::skip]
const READERS: &[&str] = &[
    "awk", "b2sum", "cat", "cd", "cksum", "cmp", "comm", "cut", "df", "diff", "du", "egrep", "expand", "fgrep", "file", "find", "fold", "grep", "head", "jq",
    "join", "ls", "md5sum", "nl", "od", "paste", "printf", "readlink", "realpath", "rev", "rg", "sed", "sha1sum", "sha256sum", "sha512sum", "sort", "stat", "tac",
    "tail", "tr", "unexpand", "uniq", "wc",
];
/// Sub-commands that write nothing, whatever follows.
#[rustfmt::skip]
const GIT_READERS: &[&str] = &[
    "annotate", "blame", "cat-file", "check-attr", "check-ignore", "cherry", "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree",
    "for-each-ref", "grep", "log", "ls-files", "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog", "show", "show-branch",
    "show-ref", "status", "version", "whatchanged",
];
/// With these a name is one to look for.
const LISTING: &[&str] = &["--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];
#[rustfmt::skip]
const BRANCH_OPTIONS: &[&str] = &[
    "-a", "-r", "-v", "-vv", "-av", "-rv", "-avv", "-rvv", "--all", "--remotes", "--verbose", "--show-current", "--color", "--no-color", "--sort", "--format",
    "--ignore-case", "--abbrev", "--no-abbrev", "--column", "--no-column",
];
#[rustfmt::skip]
const TAG_OPTIONS: &[&str] = &["-l", "-n", "-n1", "--sort", "--format", "--color", "--no-color", "--ignore-case", "--column", "--no-column"];
