//! The commands at the prompt: one table, from which the prompt, `/help`, Tab, `agent commands` and the documentation take them.

use super::Screen;
use super::custom::Custom;
use super::{agents, does, elsewhere, modes, reports, servers};
use serde::Serialize;

/// A command of the program itself.
pub(crate) struct Builtin {
    /// What is typed behind the slash.
    pub(super) name: &'static str,
    /// Other words for the same.
    pub(super) aliases: &'static [&'static str],
    /// What may follow, in brackets where it may be left out; empty for nothing.
    pub(super) arguments: &'static str,
    /// What it does, in one line.
    pub(super) help: &'static str,
    pub(super) when: When,
    /// Does it, with what follows the name, and returns whether to leave.
    pub(super) run: fn(&mut Screen, &str) -> bool,
}

/// When a command can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Also while the agent works.
    Any,
    /// Only while it waits for a message.
    AtRest,
}

/// All of them, by their names.
pub(super) const BUILTINS: &[Builtin] = &[
    Builtin {
        name: "agents",
        aliases: &[],
        arguments: "[NAME [MESSAGE|stop]]",
        help: "lists the agents below; with NAME, shows the newest lines of one, sends it MESSAGE, or stops it",
        when: When::Any,
        run: agents::agents,
    },
    Builtin {
        name: "branch",
        aliases: &[],
        arguments: "",
        help: "continues in a copy of this session; this one is kept as it is",
        when: When::AtRest,
        run: elsewhere::branch,
    },
    Builtin {
        name: "clear",
        aliases: &[],
        arguments: "",
        help: "begins a new session with the same model and permission mode; this one can be resumed",
        when: When::AtRest,
        run: elsewhere::clear,
    },
    Builtin {
        name: "compact",
        aliases: &[],
        arguments: "[FOCUS]",
        help: "summarises the conversation to free up context, and keeps in detail what FOCUS names",
        when: When::Any,
        run: does::compact,
    },
    Builtin {
        name: "context",
        aliases: &[],
        arguments: "",
        help: "shows what fills the context window",
        when: When::Any,
        run: reports::show_context,
    },
    Builtin {
        name: "cost",
        aliases: &[],
        arguments: "",
        help: "shows what this session has used so far",
        when: When::Any,
        run: does::cost,
    },
    Builtin {
        name: "diff",
        aliases: &[],
        arguments: "",
        help: "shows what this session changed in files, as far as it can be undone",
        when: When::AtRest,
        run: reports::diff,
    },
    Builtin {
        name: "effort",
        aliases: &[],
        arguments: "[LEVEL]",
        help: "changes how much the model is to think (`none` to `max`; `default`: its server decides), from a list without LEVEL",
        when: When::AtRest,
        run: modes::change_effort,
    },
    Builtin {
        name: "export",
        aliases: &[],
        arguments: "FILE",
        help: "writes the session to a new file: HTML if its name ends in `.html`, otherwise Markdown",
        when: When::Any,
        run: reports::export,
    },
    Builtin {
        name: "help",
        aliases: &[],
        arguments: "",
        help: "lists the commands and the keys",
        when: When::Any,
        run: does::help,
    },
    Builtin {
        name: "mcp",
        aliases: &[],
        arguments: "[restart NAME]",
        help: "shows the MCP servers and their tools; `restart` tries one again that failed or was reviewed",
        when: When::Any,
        run: servers::mcp,
    },
    Builtin {
        name: "mode",
        aliases: &[],
        arguments: "[MODE]",
        help: "changes the permission mode (`default`, `accept-edits`, `plan`, `bypass`), from a list without MODE; Shift-Tab goes to the next one",
        when: When::Any,
        run: modes::change_mode,
    },
    Builtin {
        name: "model",
        aliases: &[],
        arguments: "[ID]",
        help: "changes the model, from a list without ID; the provider stays",
        when: When::AtRest,
        run: modes::change_model,
    },
    Builtin {
        name: "more",
        aliases: &[],
        arguments: "",
        help: "raises every limit by its initial amount and continues",
        when: When::Any,
        run: does::more,
    },
    Builtin {
        name: "permissions",
        aliases: &[],
        arguments: "",
        help: "shows the permission mode and the rules",
        when: When::Any,
        run: modes::permissions,
    },
    Builtin {
        name: "ps",
        aliases: &[],
        arguments: "",
        help: "lists the commands that the agent runs in the background; they end with the session",
        when: When::Any,
        run: reports::running,
    },
    Builtin {
        name: "quit",
        aliases: &["exit"],
        arguments: "",
        help: "quits, as `/exit` and Ctrl-D do; `agent resume` resumes the session",
        when: When::Any,
        run: does::quit,
    },
    Builtin {
        name: "rename",
        aliases: &[],
        arguments: "[NAME]",
        help: "gives this session a name, which lists show; without NAME, removes it",
        when: When::Any,
        run: reports::name,
    },
    Builtin {
        name: "resume",
        aliases: &[],
        arguments: "[ID]",
        help: "goes to another session, from a list without ID, as it was used",
        when: When::AtRest,
        run: elsewhere::resume,
    },
    Builtin {
        name: "rewind",
        aliases: &[],
        arguments: "",
        help: "goes back to before an earlier message, from a list, with the files or without, as Esc Esc does",
        when: When::AtRest,
        run: elsewhere::rewind,
    },
    Builtin {
        name: "trace",
        aliases: &[],
        arguments: "[N]",
        help: "shows the last N records of the session and the rows that they fired (20 without N)",
        when: When::Any,
        run: reports::trace,
    },
    Builtin {
        name: "trust",
        aliases: &[],
        arguments: "[yes|no]",
        help: "shows what trust in this repository enables; `yes` trusts it and `no` withdraws that, from the next session on",
        when: When::AtRest,
        run: reports::trust_workspace,
    },
    Builtin {
        name: "undo",
        aliases: &[],
        arguments: "[N]",
        help: "restores the files that the last N turns of this session changed (without N, 1); repeated, it goes further back",
        when: When::AtRest,
        run: reports::undo_turns,
    },
    Builtin {
        name: "verify",
        aliases: &[],
        arguments: "[CMD|off]",
        help: "has CMD run after each message, besides the other checks: the work counts as done once it succeeds; `off` ends the checks; without CMD, shows them",
        when: When::AtRest,
        run: modes::verify,
    },
];

impl Builtin {
    /// Its name with what may follow, as it is typed.
    pub(super) fn usage(&self) -> String {
        let blank = if self.arguments.is_empty() { "" } else { " " };
        format!("/{}{blank}{}", self.name, self.arguments)
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// What a line means that begins with a slash.
pub(super) enum Meant<'a> {
    /// A message: it begins with a path, or with no word that is known or near one.
    Message,
    Builtin(&'static Builtin, &'a str),
    Custom(&'a Custom, &'a str),
    /// No command, with the name that is nearest to it, if one is near.
    Unknown(Option<&'a str>),
}

/// What the line means.
pub(super) fn meant<'a>(line: &'a str, customs: &'a [Custom]) -> Meant<'a> {
    let Some(text) = line.strip_prefix('/') else { return Meant::Message };
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if name.contains('/') {
        return Meant::Message;
    }
    if let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.is_called(name)) {
        return Meant::Builtin(builtin, argument.trim());
    }
    if let Some(custom) = customs.iter().find(|custom| custom.name == name) {
        return Meant::Custom(custom, argument.trim());
    }
    match nearest(name, customs) {
        // `/tidy up` is said to the agent; `/compcat now` is a slip.
        None if !argument.is_empty() => Meant::Message,
        near => Meant::Unknown(near),
    }
}

/// The name that was probably meant.
fn nearest<'a>(name: &str, customs: &'a [Custom]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let near = names().chain(customs.iter().map(|custom| custom.name.as_str()));
    let near = near.map(|other| (strsim::jaro_winkler(&name, other), other));
    let nearest = near.max_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.filter(|(likeness, _)| *likeness >= NEAR).map(|(_, name)| name)
}

/// Every word that is a command.
pub(super) fn names<'a>() -> impl Iterator<Item = &'a str> {
    BUILTINS.iter().flat_map(|builtin| [builtin.name].into_iter().chain(builtin.aliases.iter().copied()))
}

/// What other front ends are told of a command.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    name: &'static str,
    aliases: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    /// Whether it can run while the agent works.
    while_working: bool,
}

/// All commands.
pub(crate) fn listed() -> Vec<Listed> {
    let listed = |builtin: &Builtin| Listed {
        name: builtin.name,
        aliases: builtin.aliases,
        arguments: builtin.arguments,
        help: builtin.help,
        while_working: builtin.when == When::Any,
    };
    BUILTINS.iter().map(listed).collect()
}

/// How each command is typed, in one width, and what it does.
pub(crate) fn help_lines() -> Vec<(String, &'static str)> {
    let width = BUILTINS.iter().map(|builtin| builtin.usage().len()).max().unwrap_or_default();
    BUILTINS.iter().map(|builtin| (format!("{:<width$}", builtin.usage()), builtin.help)).collect()
}

/// How alike two names are of which one was meant by the other, from 0 to 1.
const NEAR: f64 = 0.84;

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(line: &str) -> Option<Option<&str>> {
        if let Meant::Unknown(near) = meant(line, &[]) { Some(near) } else { None }
    }

    #[test]
    fn names_are_in_order_and_each_is_there_once() {
        let names: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        let mut all: Vec<&str> = super::names().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), super::names().count());
    }

    #[test]
    fn a_slip_is_no_message_and_a_path_no_command() {
        assert_eq!(unknown("/hlep"), Some(Some("help")));
        assert_eq!(unknown("/Compact"), Some(Some("compact")));
        assert_eq!(unknown("/compat now"), Some(Some("compact")));
        assert_eq!(unknown("/tidy"), Some(None));
        for message in ["/tidy up", "/etc/hosts", "/etc/hosts is wrong", "compact", ""] {
            assert!(matches!(meant(message, &[]), Meant::Message), "{message}");
        }
        assert!(matches!(meant("/help  me\n", &[]), Meant::Builtin(Builtin { name: "help", .. }, "me")));
        assert!(matches!(meant("/exit", &[]), Meant::Builtin(Builtin { name: "quit", .. }, "")));
    }

    /// The page lists what there is, in the same words.
    #[test]
    fn the_documentation_has_this_table() {
        let page = include_str!("../../../../../docs/prompt.md");
        let mut table = String::from("| Command | Effect |\n|---|---|\n");
        for builtin in BUILTINS {
            let work = if builtin.when == When::Any { "" } else { " (at rest)" };
            let usage = builtin.usage().replace('|', "\\|");
            table.push_str(&format!("| `{usage}` | {}{work} |\n", builtin.help));
        }
        assert!(page.contains(&format!("\n{table}\n")), "docs/prompt.md should have this table:\n{table}");
    }
}
