//! What the words behind a program's name are to it, for hooks that run as the user.
//!
//! 1. A word is understood, or it may be a file of the workspace: a command can make one of any name, or a link that leads anywhere.
//! 2. Understood are absolute paths, the options in the tables below, and words that are text to that program.
//! 3. Of a program without a row here only options without a value, numbers, addresses and absolute paths are understood.
//!
//! Absent: options that name a file, run a program or search the directory. A program that is given one has not been understood.

/// What a word is, as far as files go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    /// It names no file.
    Inert,
    /// The file of this absolute path.
    File(&'a str),
}

/// What the words of a program by this name are; or the word that is not understood. `None`: there is no row for it.
pub(crate) fn of_known<'a>(name: &str, words: &'a [String]) -> Option<Result<Vec<Word<'a>>, &'a str>> {
    if name == "test" {
        return Some(of_test(words));
    }
    let row = ROWS.iter().find(|row| row.names.split(' ').any(|known| known == name))?;
    Some(row.read(words))
}

/// Whether there is a row for a program of this name.
pub(crate) fn is_known(name: &str) -> bool {
    of_known(name, &[]).is_some()
}

/// The words of an unknown program.
pub(crate) fn of_unknown(words: &[String]) -> Result<Vec<Word<'_>>, &str> {
    words.iter().map(|word| unknown(word).ok_or(&**word)).collect()
}

fn unknown(word: &str) -> Option<Word<'_>> {
    let is_letter = |option: &str| option.len() == 1 && option.chars().all(|c| c.is_ascii_alphanumeric());
    let is_name = |option: &str| !option.is_empty() && option.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_number(word) || is_address(word) {
        Some(Word::Inert)
    } else if word.starts_with('/') {
        Some(Word::File(word))
    } else if let Some(long) = word.strip_prefix("--") {
        match long.split_once('=') {
            Some((name, value)) if is_name(name) && !value.starts_with('-') => unknown(value),
            Some(_) => None,
            None => (long.is_empty() || is_name(long)).then_some(Word::Inert),
        }
    } else {
        // Of `-ofile` nothing tells where the option ends.
        word.strip_prefix('-').filter(|letter| is_letter(letter)).map(|_| Word::Inert)
    }
}

/// How a program takes its words.
struct Row {
    /// The programs, with blanks between them.
    names: &'static str,
    /// Options of one letter without a value.
    letters: &'static str,
    /// Options of one letter whose value is text.
    valued: &'static str,
    /// Options that are spelled out, and how many texts follow each.
    spelled: &'static [(&'static str, usize)],
    operands: Operands,
}

/// What words that are no options are to a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Text, all of them, whatever they begin with.
    Text,
    /// Text behind options.
    Words,
    /// Files. `-` is one, too.
    Files,
    /// Files that are only read: `-` is standard input.
    Read,
    /// The same, and without one the directory is read.
    AtLeastOne,
    /// Text, then files that are read.
    TextThenRead,
    /// Text, then files.
    TextThenFiles,
    /// Addresses of web servers.
    Addresses,
    /// A format that begins with `+`.
    Format,
    /// There are none.
    Nothing,
}

impl Row {
    fn read<'a>(&self, words: &'a [String]) -> Result<Vec<Word<'a>>, &'a str> {
        let mut read = Vec::new();
        let (mut operands, mut are_options_over) = (0, false);
        let mut rest = words.iter().map(|word| &**word);
        while let Some(word) = rest.next() {
            let has_options = self.operands != Operands::Text && !are_options_over;
            let is_option = has_options && word.len() > 1 && word.starts_with('-');
            if is_option && word == "--" {
                are_options_over = true;
            } else if is_option {
                let (glued, missing) = self.values_of(word).ok_or(word)?;
                for value in glued.into_iter().chain(rest.by_ref().take(missing)) {
                    read.push(text(value).ok_or(value)?);
                }
            } else {
                read.push(self.operand(word, operands).ok_or(word)?);
                operands += 1;
            }
        }
        if self.operands == Operands::AtLeastOne && operands == 0 { Err(".") } else { Ok(read) }
    }

    /// The value that stands in the word of an option itself, and how many follow.
    fn values_of<'a>(&self, option: &'a str) -> Option<(Option<&'a str>, usize)> {
        let (name, glued) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        if let Some((_, count)) = self.spelled.iter().find(|(spelled, _)| *spelled == name) {
            let has_place = glued.is_none() || *count > 0;
            return has_place.then(|| (glued, count.saturating_sub(usize::from(glued.is_some()))));
        }
        let letters = option.strip_prefix('-')?;
        if self.names == "head tail" && is_number(letters) {
            return Some((None, 0));
        }
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                let glued = letters.get(at + letter.len_utf8()..).filter(|glued| !glued.is_empty());
                return Some((glued, usize::from(glued.is_none())));
            }
            if !self.letters.contains(letter) {
                return None;
            }
        }
        Some((None, 0))
    }

    fn operand<'a>(&self, word: &'a str, before: usize) -> Option<Word<'a>> {
        let file = || word.starts_with('/').then_some(Word::File(word));
        let read = || if word == "-" { Some(Word::Inert) } else { file() };
        let is_first_text = before == 0 && !imports(word);
        match self.operands {
            Operands::Text | Operands::Words => Some(Word::Inert),
            Operands::TextThenRead | Operands::TextThenFiles if is_first_text => Some(Word::Inert),
            Operands::TextThenRead | Operands::TextThenFiles if before == 0 => None,
            Operands::Read | Operands::AtLeastOne | Operands::TextThenRead => read(),
            Operands::Files | Operands::TextThenFiles => file(),
            Operands::Addresses => is_address(word).then_some(Word::Inert),
            Operands::Format => word.starts_with('+').then_some(Word::Inert),
            Operands::Nothing => None,
        }
    }
}

/// The value of an option that is text. Behind `@` stands a file for `curl`, and `@-` is standard input.
fn text(value: &str) -> Option<Word<'_>> {
    match value.strip_prefix('@') {
        None | Some("-") => Some(Word::Inert),
        Some(file) => file.starts_with('/').then_some(Word::File(file)),
    }
}

/// A filter of `jq` may fetch another file.
fn imports(filter: &str) -> bool {
    ["import", "include"].iter().any(|word| filter.contains(word))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
}

fn is_address(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// What is asked of texts names no file; whatever else is asked is asked of files.
fn of_test(words: &[String]) -> Result<Vec<Word<'_>>, &str> {
    let is_of_files = words.iter().any(|word| OF_FILES.contains(&&**word));
    let read = |word: &'_ str| -> Option<bool> {
        let is_sign = OF_TEXTS.contains(&word) || OF_FILES.contains(&word);
        (is_sign || word.starts_with('/') || !is_of_files && !word.starts_with('-')).then_some(is_sign)
    };
    let one = |word| match read(word) {
        Some(false) if is_of_files => Ok(Word::File(word)),
        Some(_) => Ok(Word::Inert),
        None => Err(word),
    };
    words.iter().map(|word| one(&**word)).collect()
}

const OF_TEXTS: &[&str] = &["-n", "-z", "=", "!=", "!", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
const OF_FILES: &[&str] = &["-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h"];

const fn row(
    names: &'static str,
    letters: &'static str,
    valued: &'static str,
    spelled: &'static [(&'static str, usize)],
    operands: Operands,
) -> Row {
    Row { names, letters, valued, spelled, operands }
}

/// Options that are not here are not understood: among them are those that name a file (`-o`, `-f`, `-T`) or search a directory (`-r`). A
/// value is only what an option always has: a word taken for the value of an option that has none would be a file unseen.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("echo printf exit true false : basename dirname seq expr sleep", "", "", &[], Operands::Text),
    row("tr", "cCdst", "", &[], Operands::Words),
    row("cat tac rev nl fold", "AbeEnstTuv", "", &[], Operands::Read),
    row("head tail", "qvz", "nc", &[("--lines", 1), ("--bytes", 1), ("--quiet", 0)], Operands::Read),
    row("wc", "clmLw", "", &[("--lines", 0), ("--bytes", 0), ("--words", 0)], Operands::Read),
    row("cut", "snz", "bcdf", &[("--delimiter", 1), ("--fields", 1), ("--bytes", 1), ("--characters", 1)], Operands::Read),
    row("sort", "bdfgiMhnRrVcCmsuz", "kt", &[("--unique", 0), ("--reverse", 0), ("--key", 1)], Operands::Read),
    row("base64", "d", "w", &[("--decode", 0), ("--wrap", 1)], Operands::Read),
    row("od hexdump cksum md5sum sha1sum sha256sum sha512sum shasum", "b", "", &[], Operands::Read),
    row("cmp comm paste diff", "bsquw", "", &[("--brief", 0), ("--silent", 0), ("--quiet", 0)], Operands::Read),
    row("df", "ahHiklPT", "", &[], Operands::Read),
    row("ls", "1aAdFhiklnrRsStu", "", &[("--all", 0)], Operands::AtLeastOne),
    row("du", "abchklmsxS", "", &[("--summarize", 0)], Operands::AtLeastOne),
    row("stat", "Lt", "c", &[("--format", 1)], Operands::AtLeastOne),
    row("realpath readlink", "efmnqsz", "", &[], Operands::AtLeastOne),
    row("uniq", "cdDiuz", "", &[("--count", 0)], Operands::Files),
    row("tee", "aip", "", &[("--append", 0)], Operands::Files),
    row("touch", "acm", "", &[], Operands::Files),
    row("mkdir rmdir", "pv", "", &[("--parents", 0)], Operands::Files),
    row("rm", "dfirRv", "", &[("--force", 0), ("--recursive", 0)], Operands::Files),
    row("cp", "afHiLnpPrRuv", "", &[("--force", 0), ("--recursive", 0)], Operands::Files),
    row("mv", "finuv", "", &[("--force", 0)], Operands::Files),
    row("ln", "finsv", "", &[("--force", 0), ("--symbolic", 0)], Operands::Files),
    row("mktemp", "dqu", "", &[("--directory", 0), ("--dry-run", 0)], Operands::Files),
    row("chmod", "cfvR", "", &[], Operands::TextThenFiles),
    row("grep egrep fgrep", "EFGPabchHilLnoqsvwxyzT", "ABCm", &[
        ("--quiet", 0), ("--ignore-case", 0), ("--invert-match", 0), ("--fixed-strings", 0), ("--extended-regexp", 0),
        ("--count", 0), ("--only-matching", 0), ("--word-regexp", 0), ("--line-regexp", 0), ("--max-count", 1),
    ], Operands::TextThenRead),
    row("jq", "acCejMnrRsS", "", &[
        ("--raw-output", 0), ("--raw-input", 0), ("--compact-output", 0), ("--exit-status", 0), ("--join-output", 0), ("--null-input", 0),
        ("--slurp", 0), ("--sort-keys", 0), ("--ascii-output", 0), ("--tab", 0), ("--unbuffered", 0), ("--indent", 1), ("--arg", 2), ("--argjson", 2),
    ], Operands::TextThenRead),
    row("date", "uR", "", &[
        ("--utc", 0), ("--universal", 0), ("--rfc-email", 0), ("--rfc-3339", 1), ("-d", 1), ("--date", 1),
        ("-I", 0), ("-Idate", 0), ("-Ihours", 0), ("-Iminutes", 0), ("-Iseconds", 0), ("-Ins", 0),
    ], Operands::Format),
    row("curl", "sSfLkigGIv46", "XHdAumr", &[
        ("--silent", 0), ("--show-error", 0), ("--fail", 0), ("--location", 0), ("--insecure", 0), ("--get", 0), ("--head", 0), ("--compressed", 0),
        ("--request", 1), ("--header", 1), ("--data", 1), ("--data-ascii", 1), ("--data-binary", 1), ("--data-raw", 1), ("--json", 1),
        ("--user-agent", 1), ("--user", 1), ("--max-time", 1), ("--connect-timeout", 1), ("--retry", 1),
    ], Operands::Addresses),
    row("notify-send", "ew", "utachi", &[
        ("--urgency", 1), ("--expire-time", 1), ("--app-name", 1), ("--icon", 1), ("--category", 1), ("--transient", 0), ("--hint", 1),
    ], Operands::Words),
    row("logger", "eis", "pt", &[("--tag", 1), ("--priority", 1), ("--stderr", 0)], Operands::Words),
    row("terminal-notifier", "", "", &[("-title", 1), ("-subtitle", 1), ("-message", 1), ("-sound", 1), ("-group", 1)], Operands::Nothing),
    row("say", "", "rv", &[], Operands::Words),
    row("afplay aplay paplay pw-play", "q", "", &[], Operands::Files),
    row("wl-copy", "nop", "", &[("--trim-newline", 0), ("--primary", 0)], Operands::Words),
    row("xclip", "", "", &[("-selection", 1), ("-sel", 1)], Operands::Files),
    row("pbcopy whoami nproc hostname uptime", "", "", &[], Operands::Nothing),
    row("id uname", "aGginmorsuv", "", &[], Operands::Nothing),
    row("pgrep ps", "aAefux", "", &[], Operands::Words),
    row("tput", "", "", &[], Operands::Words),
];

#[cfg(test)]
mod tests;
