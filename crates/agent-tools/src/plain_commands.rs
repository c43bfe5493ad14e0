//! Which plain commands a shell command consists of, if it is known to consist of nothing else.
//!
//! Permission rules judge these. So the answer errs to one side: whatever the shell might read otherwise makes it unknown.

/// The plain commands, words separated by one space. Nothing when there may be more to it.
pub(crate) fn plain_commands(command: &str) -> Option<Vec<String>> {
    if command.contains(SEPARATOR) {
        return None;
    }
    let spaced = command.replace("&&", SEPARATOR).replace("||", SEPARATOR).replace([';', '|'], SEPARATOR);
    spaced.split(SEPARATOR).map(plain_command).collect()
}

/// Whether the commands neither change nor read any file, so that they need no permission and may run beside others.
///
/// Commands that read files are not among them: unlike the file tools, they follow links out of the workspace.
pub(crate) fn touch_nothing(plain: &[String]) -> bool {
    plain.iter().all(|command| {
        let program = command.split(' ').next().unwrap_or_default();
        TOUCH_NOTHING.contains(&program)
    })
}

fn plain_command(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    let first = words.first()?;
    let is_plain =
        words.iter().all(|word| word.chars().all(is_plain_char)) && !first.contains('=') && !NOT_PLAIN.contains(first);
    is_plain.then(|| words.join(" "))
}

/// Characters that mean themselves wherever they stand.
fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c)
}

/// A line break, which was excluded before, stands for every operator that separates commands.
const SEPARATOR: &str = "\n";

/// Words of the shell's grammar, and commands that run other commands within the shell.
const NOT_PLAIN: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
    "function", "time", "coproc", "eval", "exec", "source", ".", "command", "builtin", "trap", "alias", "unalias",
    "enable", "hash", "set", "shopt", "export", "declare", "typeset", "readonly", "local",
];

/// Commands that only compute, wait or print, whatever plain words follow them.
const TOUCH_NOTHING: &[&str] =
    &["true", "false", "sleep", "echo", "pwd", "seq", "uname", "whoami", "nproc", "basename", "dirname"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_touches_nothing_is_told_from_the_rest() {
        for command in ["true", "sleep 0.4", "echo a && sleep 1", "seq 3 | true"] {
            assert!(touch_nothing(&plain_commands(command).unwrap()), "{command}");
        }
        for command in ["cat x", "echo a | tee x", "true && rm x", "sleeper", "./true", "date -s 12:00", "ls"] {
            assert!(!touch_nothing(&plain_commands(command).unwrap()), "{command}");
        }
    }

    #[test]
    fn only_what_is_certain_is_plain() {
        let plain = [
            ("ls", vec!["ls"]),
            ("git   status  -s", vec!["git status -s"]),
            ("cargo test && git diff", vec!["cargo test", "git diff"]),
            ("a || b ; c | d", vec!["a", "b", "c", "d"]),
            ("make CC=gcc", vec!["make CC=gcc"]),
        ];
        for (command, expected) in plain {
            assert_eq!(plain_commands(command).unwrap(), expected, "{command}");
        }
        let unknown = [
            "",
            " ",
            "ls;",
            "ls &",
            "ls & rm x",
            "ls |& rm",
            "ls ;; rm",
            "ls\nrm x",
            "echo $(rm x)",
            "echo `rm x`",
            "echo $HOME",
            "ls > x",
            "ls < x",
            "cat <(rm)",
            "(rm x)",
            "{ rm x; }",
            "X=1 ls",
            "rm *",
            "rm a?",
            "rm [a]",
            "rm {a,b}",
            "rm ~",
            "echo 'a'",
            "echo \"a\"",
            "echo a\\ b",
            "# x",
            "! ls",
            "if true",
            "eval ls",
            ". x",
            "command rm",
            "exec rm",
            "ls\r",
            "ls\u{a0}x",
            "&& ls",
            "ls && ",
            "rm&&&x",
        ];
        for command in unknown {
            assert_eq!(plain_commands(command), None, "{command:?}");
        }
    }
}
