//! Which plain commands a shell command consists of, if it is known to consist of nothing else.
//!
//! Permission rules judge these. So the answer errs to one side: whatever the shell might read otherwise, and whatever runs another command
//! that no rule would see, makes it unknown. Three looks must agree:
//!
//! ```text
//! text -> size and characters -> tree-sitter's grammar of bash -> only known nodes, which cover every byte -> programs -> plain commands
//! ```
//!
//! 1. A plain command is a program and its words, as bash passes them on: nothing in them is expanded, substituted or redirected.
//! 2. Words are in the result as they would be written: those with other than plain characters in single quotes.
//! 3. Parsing is bounded in size and in time; what takes more is unknown.

mod programs;
mod reading;
mod running_options;
mod tree;
mod written;

pub(crate) use programs::runs_another;

/// The plain commands, words separated by one space. `None` if there may be more to it.
pub fn plain_commands(command: &str) -> Option<Vec<String>> {
    Plain::of(command).map(|plain| plain.texts)
}

/// A command that consists of plain commands.
#[derive(Debug)]
pub(crate) struct Plain {
    words: Vec<Vec<String>>,
    texts: Vec<String>,
}

impl Plain {
    /// `None` if there may be more to it.
    pub(crate) fn of(command: &str) -> Option<Self> {
        if command.len() > MOST_BYTES || command.contains("<<") || command.chars().any(is_out_of_place) {
            return None;
        }
        let words = tree::commands(command)?;
        let texts: Option<Vec<String>> = words.iter().map(|words| plain_command(words)).collect();
        Some(Self { words, texts: texts? })
    }

    /// Each as a text, words separated by one space.
    pub(crate) fn into_texts(self) -> Vec<String> {
        self.texts
    }

    /// Whether the commands neither change nor read any file, so that they need no permission and may run beside others.
    ///
    /// Commands that read files are not among them: unlike the file tools, they follow links out of the workspace.
    pub(crate) fn touches_nothing(&self) -> bool {
        self.programs().all(|program| programs::TOUCH_NOTHING.contains(&program))
    }

    /// Whether the commands do no more than read files.
    pub(crate) fn only_reads(&self) -> bool {
        self.words.iter().all(|words| reading::only_reads(words))
    }

    /// The programs, as they are written.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|words| words.first()).map(String::as_str)
    }

    /// The words of each command.
    pub(crate) fn words(&self) -> impl Iterator<Item = &Vec<String>> {
        self.words.iter()
    }

    /// The commands that do more than read, as words.
    pub(crate) fn beyond_reading(&self) -> impl Iterator<Item = &[String]> {
        self.words.iter().filter(|words| !reading::only_reads(words)).map(Vec::as_slice)
    }

    /// Which commands do more than read, as a sentence for a person. Programs are named, of those that have several trades with the first
    /// argument.
    pub(crate) fn beyond_reading_said(&self) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        for words in self.beyond_reading() {
            let name = match words {
                [program, first, ..] if reading::has_trades(program) => format!("`{program} {first}`"),
                [program, ..] => format!("`{program}`"),
                [] => continue,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let more = names.len().saturating_sub(MOST_NAMED);
        names.truncate(MOST_NAMED);
        let listed = names.join(", ");
        match (names.len(), more) {
            (0, _) => None,
            (1, 0) => Some(format!("{listed} is not among the commands that only read")),
            (_, 0) => Some(format!("{listed} are not among the commands that only read")),
            _ => Some(format!("{listed} and {more} more are not among the commands that only read")),
        }
    }

    /// Whether a command changes where or how later ones run.
    pub(crate) fn carries_over(&self) -> bool {
        let before = self.words.split_last().map_or(&[][..], |(_, before)| before);
        before.iter().filter_map(|words| words.first()).any(|program| programs::carries_over(program))
    }
}

/// A command as one text, if running it runs that program and nothing else that its words would name.
fn plain_command(words: &[String]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    // A dash at the beginning would make an option of bash of it, and `%` one of its jobs.
    let is_name = !program.is_empty() && !program.starts_with(['-', '%']) && !program.contains('=');
    let is_plain = is_name && program.chars().all(is_plain_char);
    if !is_plain || runs_another(program, arguments) {
        return None;
    }
    let written: Vec<String> = words.iter().map(|word| as_written(word)).collect();
    Some(written.join(" "))
}

/// A word as it would be written, the same way for every way of writing it.
fn as_written(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain_char) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Characters that mean themselves wherever they stand.
const fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
}

/// Characters that no command needs and that shells, parsers and terminals read differently.
fn is_out_of_place(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Longer commands are scripts, which no rule was meant for.
const MOST_BYTES: usize = 8 * 1024;
/// How many commands a sentence about them names.
const MOST_NAMED: usize = 3;

#[cfg(test)]
mod tests;
