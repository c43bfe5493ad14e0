//! How to go on with a session, as a command that works where the user stands.

use crate::args::{Options, ReplayMatch};
use crate::settings::working_directory;
use clap::ValueEnum;

/// `agent resume ID`, with what was said on the command line and is not kept: which model is asked, and where.
pub(crate) fn resume_command(id: &str, options: &Options) -> String {
    let mut words = vec![String::from("agent"), String::from("resume"), quoted(id)];
    let mut flag = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    let there = working_directory(options.directory.as_deref()).ok();
    if let Some(there) = there.filter(|there| working_directory(None).ok().as_ref() != Some(there)) {
        flag("-C", &there.display().to_string());
    }
    if let Some(path) = &options.replay {
        flag("--replay", &path.display().to_string());
        let matching = options.replay_match.to_possible_value();
        if let Some(matching) = matching.filter(|_| options.replay_match != ReplayMatch::default()) {
            flag("--replay-match", matching.get_name());
        }
    }
    if let Some(provider) = options.provider.and_then(|provider| provider.to_possible_value()) {
        flag("--provider", provider.get_name());
    }
    if let Some(url) = &options.base_url {
        flag("--base-url", url);
    }
    if let Some(model) = &options.model {
        flag("-m", model);
    }
    words.join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        for (word, expected) in
            [("a-b.c", "a-b.c"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''"), ("$(x)", "'$(x)'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
