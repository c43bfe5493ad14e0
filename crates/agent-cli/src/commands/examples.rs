//! Examples in `--help` and in the manual pages. A test parses each of them.

pub(crate) const AGENT: &str = "Examples:
  agent                                      opens the prompt in this directory
  agent \"fix the failing test\"               opens the prompt with this message
  agent run -p \"update the changelog\"        does one task without asking
  agent -m claude-opus-5-5 --effort high     with this model, which thinks much
  agent resume                               continues the newest session";

pub(crate) const RUN: &str = "Examples:
  agent run -p \"fix the failing test\" --permission-mode accept-edits --verify \"cargo test\"
  git diff | agent run -p \"review this change\" --permission-mode plan
  agent run -p \"list the TODOs\" --output-format json --max-budget-usd 0.50
  agent run -p \"go on\" --continue

docs/exit-codes.md lists the exit codes.";

pub(crate) const RESUME: &str = "Examples:
  agent resume                               the newest session, or one from a list
  agent resume 1a2b                          the session whose id begins with 1a2b
  agent resume 1a2b --max-turns 100          with a higher limit";

pub(crate) const DEMO: &str = "Examples:
  agent demo
  agent demo --dir ./sample";

pub(crate) const PS: &str = "Examples:
  agent ps                                   the newest session of this directory
  agent ps 1a20                              the session whose id begins with 1a20
  agent ps --json";

pub(crate) const SHOW: &str = "Examples:
  agent show 1a20.2                          the second child of that session
  agent show reader                          the agent of this name in the newest session";

pub(crate) const ATTACH: &str = "Examples:
  agent attach 1a20.2                        until it has ended; Ctrl-C leaves it at work
  agent attach reader";

pub(crate) const SEND: &str = "Examples:
  agent send reader \"leave the tests out\"
  agent send 1a20 \"and then update the changelog\"
  git diff | agent send 1a20.2 -";

pub(crate) const STOP: &str = "Examples:
  agent stop reader
  agent stop 1a20.2.1
  agent stop 1a20                            the session's own turn, with all agents below it";

pub(crate) const FLEET: &str = "Examples:
  agent fleet                                a table that is drawn anew; Ctrl-C leaves
  agent fleet --plain | tee fleet.log        a line for each change
  agent fleet -C .                           the sessions of this directory";

pub(crate) const UNDO: &str = "Examples:
  agent undo                                 the files of the last turn
  agent undo 3                               the files of the last three turns";

pub(crate) const TRUST: &str = "Examples:
  agent trust                                shows what would run, and asks
  agent trust --show
  agent trust --revoke";

pub(crate) const ACP: &str = "Examples:
  agent acp                                  as an editor starts it
  agent acp --permission-mode plan           sessions begin in this mode

The editor names the directory of each session. docs/editors.md says how editors are set up.";

pub(crate) const MCP: &str = "Examples:
  agent mcp list
  agent mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  agent run -p \"look it up\" --allow mcp__files

docs/mcp.md says how servers are configured and what they may do.";

pub(crate) const MCP_LIST: &str = "Examples:
  agent mcp list
  agent mcp list --json";

pub(crate) const MCP_ADD: &str = "Examples:
  agent mcp add time -- uvx mcp-server-time
  agent mcp add issues --network -e 'TOKEN=${ISSUES_TOKEN}' -- issues-mcp --read-only
  agent mcp add docs --url https://docs.example.com/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'
  agent mcp add memory --write /home/me/.memory -- npx -y @modelcontextprotocol/server-memory";

pub(crate) const MCP_REMOVE: &str = "Examples:
  agent mcp remove time";

pub(crate) const MCP_TEST: &str = "Examples:
  agent mcp test time";

pub(crate) const MCP_REVIEW: &str = "Examples:
  agent mcp review time                      shows what changed, and asks
  agent mcp review time --yes";

pub(crate) const MCP_LOGIN: &str = "Examples:
  agent mcp add docs --url https://docs.example.com/mcp --no-test
  agent mcp login docs
  agent mcp login docs --scope docs:read";

pub(crate) const MCP_LOGOUT: &str = "Examples:
  agent mcp logout docs";

pub(crate) const DIAGRAM: &str = "Examples:
  agent diagram session --format svg
  agent diagram lifecycle --format markdown";

pub(crate) const DOCTOR: &str = "Examples:
  agent doctor
  agent doctor --online                      tries the key and the server of a run here
  agent doctor --base-url http://127.0.0.1:11434/v1
  agent doctor -C ../other-project";

pub(crate) const MODELS: &str = "Examples:
  agent models                               of every provider that is configured
  agent models --base-url http://127.0.0.1:11434/v1
  agent models --provider openai --json";

pub(crate) const COMMANDS: &str = "Examples:
  agent commands --json";

pub(crate) const SKILLS: &str = "Examples:
  agent skills
  agent skills --json";

pub(crate) const TOOLS: &str = "Examples:
  agent tools";

pub(crate) const CONFIG: &str = "Examples:
  agent config show
  agent config show --permission-mode plan --json";

pub(crate) const SANDBOX: &str = "Examples:
  agent sandbox check
  agent sandbox check --with landlock";

pub(crate) const COMPLETIONS: &str = "Examples:
  agent completions bash > ~/.local/share/bash-completion/completions/agent
  agent completions zsh > ~/.zfunc/_agent
  agent completions fish > ~/.config/fish/completions/agent.fish";

pub(crate) const MAN: &str = "Examples:
  agent man | man -l -
  agent man sessions show > agent-sessions-show.1";

pub(crate) const JOB: &str = "Examples:
  agent job run \"fix the failing test\" --job-max-retries 2
  agent job audit
  agent job show 1a2b3c4d";

pub(crate) const SESSIONS: &str = "Examples:
  agent sessions list
  agent sessions show                        the newest session
  agent sessions search \"the parser\" --all
  agent sessions gc --older-than 90d
  agent sessions import --from claude --last  Claude Code's newest one, to be resumed here
  agent sessions export 1a2b --format html --output session.html
  agent sessions lint ~/.claude/projects/app/session.jsonl";

pub(crate) const REPLAY: &str = "Examples:
  agent replay --last 20
  agent replay 1a2b --to 14";

pub(crate) const EXPLAIN: &str = "Examples:
  agent explain                              the newest session
  agent explain 1a2b --json";

pub(crate) const BRANCH: &str = "Examples:
  agent branch 1a2b --at 14";

pub(crate) const REWIND: &str = "Examples:
  agent rewind 1a2b                          to before a message from a list
  agent rewind 1a2b --to 14 --files";

#[cfg(test)]
mod tests {
    use crate::commands::args::Cli;
    use clap::{Command, CommandFactory as _};
    use std::collections::BTreeSet;

    /// The words of a line up to a comment in columns, a redirect or a pipe, as a shell reads them.
    fn words(line: &str) -> Vec<String> {
        let line = line.rsplit_once(" | agent ").map_or(line.to_owned(), |(_, rest)| format!("agent {rest}"));
        let line = line.split("  ").next().unwrap_or_default();
        let line = line.split(" > ").next().unwrap_or_default().split(" | ").next().unwrap_or_default();
        let quoted = line.split('"').enumerate();
        quoted
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    }

    /// The examples of a command and of those below it, and the commands without any.
    fn collect(command: &Command, path: &str, examples: &mut Vec<String>, without: &mut BTreeSet<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let own: Vec<String> = help.lines().filter_map(|line| line.strip_prefix("  ")).map(str::to_owned).collect();
        if own.is_empty() {
            without.insert(path.to_owned());
        }
        examples.extend(own);
        for below in command.get_subcommands().filter(|below| path == "agent" && !below.is_hide_set()) {
            collect(below, &format!("{path} {}", below.get_name()), examples, without);
        }
    }

    #[test]
    fn every_command_has_examples_that_can_be_typed() {
        let (mut examples, mut without) = (Vec::new(), BTreeSet::new());
        collect(&Cli::command(), "agent", &mut examples, &mut without);
        assert!(without.is_empty(), "{without:?}");
        for example in examples {
            let words = words(example.trim_start());
            assert_eq!(words.first().map(String::as_str), Some("agent"), "{example}");
            let parsed = crate::parsed(words.iter().map(Into::into).collect());
            assert!(parsed.is_ok(), "{example}: {words:?}: {}", parsed.unwrap_err());
        }
    }
}
