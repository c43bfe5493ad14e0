//! The commands that a hook's command line consists of, where a shell can find nothing else in it.
//!
//! Absent: whatever a shell expands, other than the home directory and the directory of the session. A sign that is not known here is an
//! error.

use std::iter::Peekable;
use std::str::Chars;

/// One program with its words, and the files that its input and output are redirected to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) words: Vec<String>,
    pub(crate) files: Vec<String>,
}

/// What the few variables stand for that are known here.
pub(crate) struct Values<'a> {
    pub(crate) home: Option<&'a str>,
    pub(crate) directory: &'a str,
}

/// The commands between `;`, `&&`, `||`, `|` and line breaks; or what was not understood.
pub(crate) fn commands(line: &str, values: &Values<'_>) -> Result<Vec<Simple>, String> {
    let mut reader = Reader { signs: line.chars().peekable(), values };
    let mut commands = Vec::new();
    let mut command = Simple::default();
    while let Some(&sign) = reader.signs.peek() {
        match sign {
            ' ' | '\t' => drop(reader.signs.next()),
            '\n' | ';' | '&' | '|' => {
                reader.signs.next();
                let is_twice = matches!(sign, '&' | '|') && reader.signs.next_if_eq(&sign).is_some();
                // One `&` puts a command behind; `|&` is another sign.
                let is_odd = sign == '&' && !is_twice || reader.signs.peek() == Some(&'&');
                let is_empty = command.words.is_empty();
                if is_odd || is_empty && (sign != '\n' || !command.files.is_empty()) {
                    return Err(meaning(sign));
                }
                if !is_empty {
                    commands.push(std::mem::take(&mut command));
                }
            }
            '>' | '<' => {
                reader.signs.next();
                if sign == '>' {
                    reader.signs.next_if_eq(&'>');
                }
                match reader.signs.next_if_eq(&'&') {
                    Some(_) => reader.descriptor()?,
                    None => {
                        while reader.signs.next_if(|sign| matches!(sign, ' ' | '\t')).is_some() {}
                        command.files.push(reader.word()?.0);
                    }
                }
            }
            _ => {
                let (word, is_number) = reader.word()?;
                // The digits before a redirect are no word.
                if !(is_number && matches!(reader.signs.peek(), Some('>' | '<'))) {
                    command.words.push(word);
                }
            }
        }
    }
    if !command.words.is_empty() {
        commands.push(command);
    } else if commands.is_empty() || !command.files.is_empty() {
        return Err(String::from("it names no program"));
    }
    Ok(commands)
}

struct Reader<'a> {
    signs: Peekable<Chars<'a>>,
    values: &'a Values<'a>,
}

impl Reader<'_> {
    /// A word, and whether it consists of digits that are not quoted.
    fn word(&mut self) -> Result<(String, bool), String> {
        let mut word = String::new();
        let (mut has_begun, mut is_number) = (false, true);
        while let Some(&sign) = self.signs.peek() {
            if matches!(sign, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>') {
                break;
            }
            self.signs.next();
            is_number &= sign.is_ascii_digit();
            match sign {
                '\'' => self.quoted(&mut word)?,
                '"' => self.half_quoted(&mut word)?,
                '$' => {
                    let value = self.variable()?;
                    // A shell would look for blanks and globs in it.
                    if !value.chars().all(is_plain) {
                        return Err(String::from("a variable whose value has special characters is not quoted"));
                    }
                    word.push_str(value);
                }
                '~' if !has_begun && matches!(self.signs.peek(), None | Some('/' | ' ' | '\t' | '\n' | ';')) => {
                    word.push_str(self.home()?);
                }
                plain if is_plain(plain) => word.push(plain),
                odd => return Err(meaning(odd)),
            }
            has_begun = true;
        }
        if has_begun { Ok((word, is_number)) } else { Err(String::from("a word is missing after a redirect")) }
    }

    fn quoted(&mut self, word: &mut String) -> Result<(), String> {
        loop {
            match self.signs.next() {
                Some('\'') => return Ok(()),
                Some(sign) => word.push(sign),
                None => return Err(meaning('\'')),
            }
        }
    }

    fn half_quoted(&mut self, word: &mut String) -> Result<(), String> {
        loop {
            match self.signs.next() {
                Some('"') => return Ok(()),
                Some('$') => word.push_str(self.variable()?),
                Some(odd @ ('`' | '\\')) => return Err(meaning(odd)),
                Some(sign) => word.push(sign),
                None => return Err(meaning('"')),
            }
        }
    }

    fn variable(&mut self) -> Result<&str, String> {
        let is_braced = self.signs.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(sign) = self.signs.next_if(|sign| sign.is_ascii_alphanumeric() || *sign == '_') {
            name.push(sign);
        }
        if is_braced && self.signs.next() != Some('}') {
            return Err(meaning('$'));
        }
        match &*name {
            "HOME" => self.home(),
            "PWD" | "AGENT_PROJECT_DIR" => Ok(self.values.directory),
            "" => Err(meaning('$')),
            _ => Err(format!("the value of `${name}` is unknown until it runs")),
        }
    }

    fn home(&self) -> Result<&str, String> {
        self.values.home.ok_or_else(|| String::from("there is no home directory"))
    }

    /// `1` of `2>&1`.
    fn descriptor(&mut self) -> Result<(), String> {
        let is_one = self.signs.next_if(|sign| matches!(sign, '1' | '2')).is_some();
        let is_over = matches!(self.signs.peek(), None | Some(' ' | '\t' | '\n' | ';' | '|' | '&'));
        if is_one && is_over { Ok(()) } else { Err(meaning('&')) }
    }
}

fn is_plain(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || "_./@%+=:,-".contains(sign)
}

fn meaning(sign: char) -> String {
    format!("it contains `{}`, which is special to a shell", sign.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::{Values, commands};

    const VALUES: Values<'_> = Values { home: Some("/users/me"), directory: "/project" };

    #[test]
    fn plain_lines_are_read_as_a_shell_reads_them() {
        let words = |line: &str| -> Vec<Vec<String>> {
            commands(line, &VALUES)
                .unwrap_or_else(|why| panic!("{line}: {why}"))
                .into_iter()
                .map(|one| one.words)
                .collect()
        };
        assert_eq!(words("~/bin/guard --all"), [["/users/me/bin/guard", "--all"]]);
        assert_eq!(words("a 'b c'd \"e f\" \"$HOME/x\" ${PWD}/y"), [["a", "b cd", "e f", "/users/me/x", "/project/y"]]);
        assert_eq!(words("a && b; c | d || e\nf\n"), [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]);
        assert_eq!(words("\"r\"un '' 2"), [["run", "", "2"]]);
        let redirected = commands("a 2>&1 >> /x 2>'/y z' < /w", &VALUES).unwrap();
        assert_eq!((redirected[0].words.join(" "), redirected[0].files.join("|")), ("a".into(), "/x|/y z|/w".into()));
    }

    #[test]
    fn what_a_shell_would_make_something_of_is_not_understood() {
        for line in [
            "",
            ";",
            "a &",
            "a & b",
            "a |& b",
            "a ;; b",
            "a $(b)",
            "a `b`",
            "\"$(a)\"",
            "\"`a`\"",
            "a*",
            "a?",
            "[a]",
            "{a,b}",
            "(a)",
            "! a",
            "a\\b",
            "~root/a",
            "a=~/b",
            "$X",
            "${HOME:-x}",
            "${HOME",
            "$",
            "$'a'",
            "'a",
            "\"a",
            "a # b",
            "a <<E",
            "a <(b)",
            "a >| b",
            "a >&b",
            "a >&1x",
            "a &> b",
            "> b",
            "a >",
            "a\rb",
            "ä",
        ] {
            assert!(commands(line, &VALUES).is_err(), "{line}: {:?}", commands(line, &VALUES));
        }
        assert!(commands("$HOME/x", &Values { home: Some("/users/a b"), ..VALUES }).is_err());
        assert!(commands("\"$HOME/x\"", &Values { home: Some("/users/a b"), ..VALUES }).is_ok(), "the control");
        assert!(commands("~/x", &Values { home: None, ..VALUES }).is_err());
    }
}
