//! A command as a shell takes it apart, as far as that shows which files it names.

use super::words::Place;

/// Stands for a value that is not known.
pub(super) const UNKNOWN: char = '\u{f8ff}';

/// The simple commands of a command, each as its words, without quotes; also those within quotes and `$(…)`.
pub(super) fn commands(command: &str, place: Place<'_>) -> Vec<Vec<String>> {
    let mut text = command.to_owned();
    let mut values = Vec::new();
    for (sign, (spellings, value)) in ('\u{e000}'..).zip(known(place)) {
        for spelling in spellings {
            text = text.replace(spelling, &sign.to_string());
        }
        values.push((sign, value));
    }
    let mut found = Vec::new();
    take_apart(&text, DEEPEST, &mut found);
    for word in found.iter_mut().flatten() {
        for (sign, value) in &values {
            if word.contains(*sign) {
                *word = word.replace(*sign, value);
            }
        }
    }
    found.retain(|simple| !simple.is_empty());
    found
}

/// What of a shell's expansions is known, by all spellings. One that begins with another stands before it.
fn known(place: Place<'_>) -> Vec<(&'static [&'static str], String)> {
    let home = std::env::home_dir().unwrap_or_default().to_string_lossy().into_owned();
    let root = place.root.to_string_lossy().into_owned();
    let git_dir = place.git_dir.to_string_lossy().into_owned();
    let above = place.git_dir.parent().unwrap_or(place.root).to_string_lossy().into_owned();
    vec![
        (&["$(dirname \"$GIT_DIR\")", "$(dirname $GIT_DIR)", "$(dirname \"$(git rev-parse --git-dir)\")"], above),
        (
            &[
                "$(git rev-parse --show-toplevel)",
                "`git rev-parse --show-toplevel`",
                "${GIT_WORK_TREE}",
                "$GIT_WORK_TREE",
                "${PWD}",
                "$PWD",
                "$(pwd)",
                "`pwd`",
            ],
            root,
        ),
        (
            &[
                "$(git rev-parse --git-dir)",
                "$(git rev-parse --absolute-git-dir)",
                "$(git rev-parse --git-common-dir)",
                "`git rev-parse --git-dir`",
                "`git rev-parse --git-common-dir`",
                "${GIT_DIR}",
                "$GIT_DIR",
                "${GIT_COMMON_DIR}",
                "$GIT_COMMON_DIR",
            ],
            git_dir,
        ),
        (&["${HOME}", "$HOME"], home),
        // Where the user stands: the root, for what can be known.
        (&["$(git rev-parse --show-cdup)", "${GIT_PREFIX}", "$GIT_PREFIX"], String::new()),
    ]
}

/// Adds the simple commands of a text.
fn take_apart(text: &str, depth: usize, found: &mut Vec<Vec<String>>) {
    if depth == 0 || found.len() >= MOST_COMMANDS {
        return;
    }
    let mut reader = Reader { text: text.chars().collect(), at: 0, word: None, simple: Vec::new(), within: Vec::new() };
    while let Some(sign) = reader.next() {
        match sign {
            '\'' => reader.single(),
            '"' => reader.double(),
            '\\' => reader.escaped(),
            '$' | '`' => reader.expansion(sign),
            sign if sign.is_whitespace() && sign != '\n' => reader.end_word(),
            '\n' | '|' | '&' | ';' | '(' | ')' | '!' | '{' | '}' => {
                reader.end_word();
                found.push(std::mem::take(&mut reader.simple));
            }
            // What comes in and goes out is a file, too.
            '<' | '>' => reader.end_word(),
            sign => reader.push(sign),
        }
    }
    reader.end_word();
    found.push(std::mem::take(&mut reader.simple));
    let within = std::mem::take(&mut reader.within);
    within.iter().for_each(|text| take_apart(text, depth - 1, found));
}

struct Reader {
    text: Vec<char>,
    at: usize,
    word: Option<String>,
    simple: Vec<String>,
    /// Texts that may be commands themselves.
    within: Vec<String>,
}

impl Reader {
    fn next(&mut self) -> Option<char> {
        let sign = self.text.get(self.at).copied();
        self.at += 1;
        sign
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn push(&mut self, sign: char) {
        self.word.get_or_insert_default().push(sign);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if word.contains(|c: char| c.is_whitespace() || ";|&()`$".contains(c)) {
            self.within.push(word.clone());
        }
        self.simple.push(word);
    }

    fn single(&mut self) {
        self.word.get_or_insert_default();
        while let Some(sign) = self.next().filter(|sign| *sign != '\'') {
            self.push(sign);
        }
    }

    fn double(&mut self) {
        self.word.get_or_insert_default();
        while let Some(sign) = self.next() {
            match sign {
                '"' => return,
                '\\' => self.escaped(),
                '$' | '`' => self.expansion(sign),
                sign => self.push(sign),
            }
        }
    }

    fn escaped(&mut self) {
        if let Some(sign) = self.next() {
            self.push(sign);
        }
    }

    /// A value that is not known; what is run to find it out is a command.
    fn expansion(&mut self, first: char) {
        match (first, self.peek()) {
            ('`', _) => {
                let inner = self.until('`', '`');
                self.within.push(inner);
            }
            ('$', Some('(')) => {
                self.at += 1;
                let inner = self.until('(', ')');
                self.within.push(inner);
            }
            ('$', Some('{')) => {
                self.at += 1;
                drop(self.until('{', '}'));
            }
            ('$', Some(sign)) if sign.is_ascii_alphabetic() || sign == '_' => {
                while self.peek().is_some_and(|sign| sign.is_ascii_alphanumeric() || sign == '_') {
                    self.at += 1;
                }
            }
            ('$', Some(sign)) if sign.is_ascii_digit() || "@*#?$!-".contains(sign) => self.at += 1,
            // Another way to quote.
            ('$', Some('\'' | '"')) => return,
            _ => return self.push(first),
        }
        self.push(UNKNOWN);
    }

    /// The text up to a closing sign, with pairs within it.
    fn until(&mut self, opening: char, closing: char) -> String {
        let (mut inner, mut open) = (String::new(), 1);
        while let Some(sign) = self.next() {
            if sign == closing {
                open -= 1;
            } else if sign == opening {
                open += 1;
            }
            if open == 0 {
                break;
            }
            inner.push(sign);
        }
        inner
    }
}

/// Quotes in quotes.
const DEEPEST: usize = 5;
const MOST_COMMANDS: usize = 1_000;
