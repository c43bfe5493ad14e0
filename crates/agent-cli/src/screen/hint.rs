//! How to go on with a session, as a command that works where the user stands.

use crate::config::options::{Options, ReplayMatch, Sandbox};

use crate::config::project::working_directory;
use crate::config::units;
use crate::config::units::DurationMs;
use crate::model::provider::shown_url;
use crate::session::limits::Raise;
use agent_core::permission::PermissionMode;
use clap::ValueEnum;
use clap::builder::PossibleValue;

/// `agent resume ID`, with what was said on the command line and the session does not keep, and with what restricts. What loosens is left
/// to be said again. Where a limit ended the session, the command raises that one: as it was it would end at once.
pub(crate) fn resume_command(id: &str, options: &Options, raise: Option<&Raise>) -> String {
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
    // The session is resumed with its own model and provider, but for a URL that holds a secret: that is not kept.
    let url = options.base_url.as_deref().filter(|url| shown_url(url) != **url);
    if let Some(url) = url {
        options.provider.iter().for_each(|provider| flag("--provider", &provider.name()));
        flag("--base-url", &shown_url(url));
    }
    let waits = [("--first-byte-timeout", options.first_byte_timeout), ("--idle-timeout", options.idle_timeout)];
    for (name, wait) in waits {
        wait.iter().for_each(|DurationMs(ms)| flag(name, &format!("{ms}ms")));
    }
    let raised = match raise {
        Some(Raise::Flag(name, value)) => Some((*name, value.clone())),
        Some(Raise::Otherwise(..)) | None => None,
    };
    let is_raised = |name: &str| match raise {
        Some(Raise::Flag(raised, _) | Raise::Otherwise(_, Some(raised))) => *raised == name,
        Some(Raise::Otherwise(_, None)) | None => false,
    };
    let mut restrictions = restrictions(options);
    restrictions.retain(|(name, _)| !is_raised(name));
    restrictions.iter().chain(&raised).for_each(|(name, value)| flag(name, value));
    // A comment, as a shell reads it.
    words.extend(url.map(|_| String::from("# and what is secret in the URL")));
    words.join(" ")
}

/// What of the options restricts.
fn restrictions(options: &Options) -> Vec<(&'static str, String)> {
    let number = |limit: Option<u64>| limit.map(|limit| limit.to_string());
    // The session keeps its mode; only one that is stricter than usual is said again.
    let is_said = |mode: PermissionMode| !matches!(mode, PermissionMode::Bypass | PermissionMode::Default);
    let mode = options.permission_mode.filter(|mode| is_said((*mode).into()));
    let sandbox = options.sandbox.filter(|sandbox| *sandbox != Sandbox::Off);
    let name = |value: Option<PossibleValue>| value.map(|value| value.get_name().to_owned());
    let single = [
        ("--permission-mode", name(mode.and_then(|mode| mode.to_possible_value()))),
        ("--sandbox", name(sandbox.and_then(|sandbox| sandbox.to_possible_value()))),
        ("--max-turns", number(options.max_turns)),
        ("--max-budget-usd", options.max_budget_usd.map(units::usd)),
        ("--max-total-tokens", number(options.max_total_tokens)),
        ("--max-tool-calls", number(options.max_tool_calls)),
        ("--max-wall-time", options.max_wall_time.map(|limit| format!("{}ms", limit.0))),
    ];
    let single = single.into_iter().filter_map(|(name, value)| Some((name, value?)));
    single.chain(options.deny.iter().map(|rule| ("--deny", rule.to_string()))).collect()
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
    use crate::commands::args::Cli;
    use clap::Parser;

    #[test]
    fn what_restricts_is_repeated_and_what_is_secret_or_loosens_is_not() {
        let command = |arguments: &[&str]| {
            let cli = Cli::try_parse_from([&["agent"], arguments].concat()).unwrap();
            resume_command("one", &cli.options, None)
        };
        let strict = [
            "--permission-mode",
            "plan",
            "--sandbox",
            "read-only",
            "--max-turns",
            "7",
            "--max-budget-usd",
            "0.50",
            "--max-total-tokens",
            "9",
            "--max-tool-calls",
            "8",
            "--max-wall-time",
            "90s",
            "--deny",
            "bash(rm:*)",
            "--deny",
            "edit_file",
        ];
        assert_eq!(
            command(&strict),
            "agent resume one --permission-mode plan --sandbox read-only --max-turns 7 --max-budget-usd 0.5 --max-total-tokens 9 \
             --max-tool-calls 8 --max-wall-time 90000ms --deny 'bash(rm:*)' --deny edit_file"
        );
        let usual = command(&["--permission-mode", "default"]);
        assert_eq!(usual, "agent resume one", "what holds without a flag needs none");
        assert_eq!(
            command(&["--permission-mode", "bypass", "--sandbox", "off", "--allow", "bash"]),
            "agent resume one"
        );
        for url in ["http://me:s3cret@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?api_key=s3cret", "me:s3cret@host/v1"] {
            let shown = command(&["--base-url", url]);
            assert!(!shown.contains("s3cret") && shown.contains("--base-url"), "{shown}");
            assert!(shown.ends_with("# and what is secret in the URL"), "{shown}");
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        for (word, expected) in
            [("a-b.c", "a-b.c"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''"), ("$(x)", "'$(x)'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
