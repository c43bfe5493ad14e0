//! `agent sessions show` and `export`: a session as text. Whatever models, tools and files said is quoted, so that it cannot pass for the
//! document's own words.

use super::args::{Export, ExportFormat, One};
use super::import::origin;
use super::instructed::lines;
use super::said::{about, by};
use super::story::{Story, usd};
use super::{html, write};
use crate::failure::Failure;
use crate::screen::counted::counted;
use crate::screen::terminal::{clean, escaped, inline, one_line, say};
use crate::screen::view::call_line;
use agent_core::conversation::{Answer, Author, Block, Item, Round};
use agent_core::lifecycle::{CommitmentId, Lifecycle};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// A session in short: what was said, and where it stands.
pub(super) fn show(arguments: &One) -> Result<u8, Failure> {
    let (id, path) = arguments.find()?;
    let story = Story::read(&path, None, |_| {})?;
    let mut out = head(&id, arguments.place.store()?.name(&id).as_deref(), &story);
    out.push_str(&conversation(&story));
    write(&out)?;
    Ok(0)
}

/// The session as a document.
pub(crate) fn export(arguments: &Export) -> Result<u8, Failure> {
    let format = format(arguments.format, arguments.output.as_deref())?;
    let (id, path) = arguments.session.find()?;
    let name = arguments.session.place.store()?.name(&id);
    let text = match format {
        ExportFormat::Markdown => {
            let story = Story::read(&path, None, |_| {})?;
            format!("# Session {id}\n{}\n{}", fenced(&head(&id, name.as_deref(), &story)), markdown(&story))
        }
        ExportFormat::Html => html::document(&id, name.as_deref(), &path)?,
    };
    let Some(output) = &arguments.output else {
        write(&text)?;
        return Ok(0);
    };
    // An older program, or one with another environment, may have kept what is known to be secret now.
    let text = clean(&text);
    // What a session holds is its owner's; and what is there already is not overwritten.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let failed = |error: io::Error| {
        let shown = output.display();
        Failure::input(match error.kind() {
            ErrorKind::AlreadyExists => {
                format!(
                    "cannot write {shown}: it exists, and an export replaces no file; name another one or remove it"
                )
            }
            ErrorKind::NotFound => format!("cannot write {shown}: its directory does not exist; create that first"),
            _ => format!("cannot write {shown}: {error}"),
        })
    };
    let mut file = options.open(output).map_err(failed)?;
    let written = file.write_all(text.as_bytes());
    written.inspect_err(|_| drop(std::fs::remove_file(output))).map_err(failed)?;
    say(&format!("agent: written to {}", escaped(&output.display().to_string())));
    Ok(0)
}

/// The format that was asked for, or that the name of the file says.
fn format(asked: Option<ExportFormat>, output: Option<&Path>) -> Result<ExportFormat, Failure> {
    let ending = output.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    let by_name = match ending.as_deref() {
        Some("html" | "htm") => Some(ExportFormat::Html),
        Some("md" | "markdown") => Some(ExportFormat::Markdown),
        Some(_) | None => None,
    };
    match (asked, by_name) {
        (Some(asked), Some(by_name)) if asked != by_name => Err(Failure::input(format!(
            "`--format` and the name of the file differ: {} would hold {}; leave `--format` out or name the file otherwise",
            output.unwrap_or(Path::new("")).display(),
            if asked == ExportFormat::Html { "HTML" } else { "Markdown" },
        ))),
        (asked, by_name) => Ok(asked.or(by_name).unwrap_or(ExportFormat::Markdown)),
    }
}

/// What the header and the end of the journal tell.
pub(super) fn head(id: &str, name: Option<&str>, story: &Story) -> String {
    let (header, session) = (story.replayer.header(), story.replayer.session());
    let (ledger, state) = (session.ledger(), session.state());
    let model = model(story);
    let name = name.map(|name| format!("name       {}\n", one_line(name, 80))).unwrap_or_default();
    let mut out = format!(
        "session    {id}\n{name}directory  {}\nmodel      {}\nstate      {state:?}\nused       {}, {}, {}, cost in USD: {}\n",
        escaped(&header.directory),
        if model.is_empty() {
            String::from("none yet; it is chosen when the session is resumed")
        } else {
            escaped(&model)
        },
        counted(ledger.model_calls, "model call"),
        counted(ledger.tool_calls, "tool call"),
        counted(ledger.usage.total_tokens(), "token"),
        usd(story.known_cost_nano_usd()),
    );
    if let Some(ended) = story.ended() {
        let _ = writeln!(out, "ended      {ended}");
    }
    if let Some(outcome) = story.outcome() {
        let _ = writeln!(out, "checked    {}", outcome.evidence.words());
    }
    if let Some(over) = story.lifecycle() {
        let _ = writeln!(out, "agent      {}", agent(over));
    }
    out.push_str(&lines(&story.instructed.told(), "read       "));
    if let Some(imported) = &header.imported {
        let _ = writeln!(out, "imported   from {}", origin(imported));
    }
    if let Some(parent) = &header.parent {
        let _ = writeln!(out, "branch of  {} at record {}", escaped(&parent.session_id), parent.seq);
    }
    out
}

/// The model of a session: the first one of its configuration. One that was imported and not resumed has that of the other program.
pub(super) fn model(story: &Story) -> String {
    let (header, session) = (story.replayer.header(), story.replayer.session());
    let configured = header.config.models.first().or(session.config().models.first());
    let imported = header.imported.as_ref().filter(|imported| !imported.model.is_empty());
    match (configured, imported) {
        (Some(model), _) => model.id.to_string(),
        (None, Some(imported)) => format!("{} (in {})", imported.model, imported.program),
        (None, None) => String::new(),
    }
}

/// Where the agent over a session stands, and what is known of its commitments.
pub(super) fn agent(over: &Lifecycle) -> String {
    let (state, commitments, rounds) = (over.state(), over.commitments().len(), over.rounds());
    let is_kept = |number: &usize| over.verification().is_some_and(|last| last.counts(CommitmentId(*number)));
    let kept = (0..commitments).filter(is_kept).count();
    match commitments {
        0 => format!("{state:?}"),
        _ => {
            format!(
                "{state:?}, {kept} of {} kept, {}",
                counted(commitments as u64, "commitment"),
                counted(rounds, "gap report")
            )
        }
    }
}

/// An item with its pictures named. Their bytes stay beside the session.
pub(super) fn named(item: &Item) -> Cow<'_, Item> {
    let named = item.with_pictures_told(&|picture| picture.named(&format!("sha256 {}", picture.digest)));
    named.map_or(Cow::Borrowed(item), Cow::Owned)
}

/// The conversation, a line or more for each thing that was said or done.
pub(super) fn conversation(story: &Story) -> String {
    let mut out = String::new();
    let mut say = |who: &str, text: &str| {
        if !text.trim().is_empty() {
            let _ = write!(out, "\n{who}\n{}\n", indented(text));
        }
    };
    for item in story.items().map(named) {
        match item.as_ref() {
            Item::Input(input) => input.messages().iter().for_each(|said| say(by(said), &said.whole())),
            Item::Summary(summary) => say(&format!("({})", inline(&about(summary))), summary.text()),
            Item::Answer(answer) => say("agent", &answer.text()),
            Item::Round(round) => {
                say("agent", &round.answer().text());
                for (call, result) in round.answer().calls().zip(round.results()) {
                    say(&format!("• {}", call_line(call)), result.content());
                }
            }
        }
    }
    story.replayer.session().pending_input().for_each(|text| say("you (not answered yet)", text));
    out
}

fn indented(text: &str) -> String {
    escaped(text).lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn markdown(story: &Story) -> String {
    let mut out = String::new();
    for item in story.items().map(named) {
        match item.as_ref() {
            Item::Summary(summary) => {
                let _ =
                    write!(out, "\n## Summary\n{}{}", quoted(&format!("({})", about(summary))), quoted(summary.text()));
            }
            Item::Input(input) => {
                let mut last = None;
                for said in input.messages() {
                    if last.replace(said.author) != Some(said.author) {
                        let _ = write!(out, "\n## {}\n", if said.author == Author::User { "You" } else { by(said) });
                    }
                    out.push_str(&quoted(&said.whole()));
                }
            }
            Item::Answer(answer) => said(&mut out, answer),
            Item::Round(round) => worked(&mut out, round),
        }
    }
    for text in story.replayer.session().pending_input() {
        let _ = write!(out, "\n## You (not answered yet)\n{}", quoted(text));
    }
    out
}

fn said(out: &mut String, answer: &Answer) {
    out.push_str("\n## Agent\n");
    for block in answer.blocks() {
        match block {
            Block::Text(text) => out.push_str(&quoted(text)),
            Block::Thinking { text, .. } if !text.is_empty() => {
                let _ = write!(out, "\n(thinking)\n{}", quoted(text));
            }
            Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Call(_) | Block::Opaque { .. } => {}
        }
    }
}

fn worked(out: &mut String, round: &Round) {
    said(out, round.answer());
    for (call, result) in round.answer().calls().zip(round.results()) {
        let verdict = if result.is_error() { " (not ok)" } else { "" };
        let _ = write!(out, "\n### {}{verdict}\n", heading(&call.name));
        out.push_str(&fenced(call.arguments.as_str()));
        out.push_str(&fenced(result.content()));
    }
}

/// A name in a heading: one line, nothing that Markdown would act on.
fn heading(text: &str) -> String {
    escaped(text).chars().map(|c| if c.is_alphanumeric() || "_-. ".contains(c) { c } else { '?' }).collect()
}

/// As a quotation: whatever stands in it, it stays inside, no HTML of it acts, and no image or link of it is one: whoever opens the
/// document would fetch the image, and tell its server so.
fn quoted(text: &str) -> String {
    let text = escaped(text).replace('&', "&amp;").replace('<', "&lt;");
    // Addresses stay to be read.
    let text = ["![", "](", "][", "]:"].iter().fold(text, |text, sign| {
        let (first, second) = sign.split_at(1);
        text.replace(sign, &format!("{first}\\{second}"))
    });
    text.lines().fold(String::from("\n"), |out, line| out + "> " + line + "\n")
}

/// As code, in a fence that is longer than any in the text.
fn fenced(text: &str) -> String {
    let text = escaped(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::{fenced, heading, quoted};

    /// What CommonMark takes for an image, a link or the place of one.
    #[test]
    fn nothing_is_fetched() {
        for (text, shown) in [
            ("![a](http://x/y.png)", "!\\[a]\\(http://x/y.png)"),
            ("![a][b]\n[b]: http://x", "!\\[a]\\[b]\n> [b]\\: http://x"),
            ("![b]\n\n[b]: <http://x>", "!\\[b]\n> \n> [b]\\: &lt;http://x>"),
            ("[![a](http://x)](http://y)", "[!\\[a]\\(http://x)]\\(http://y)"),
            ("\\![a](http://x)", "\\!\\[a]\\(http://x)"),
            ("<img src=http://x>", "&lt;img src=http://x>"),
            ("a[0] = b (see http://x)", "a[0] = b (see http://x)"),
        ] {
            assert_eq!(quoted(text), format!("\n> {shown}\n"), "{text}");
        }
    }

    #[test]
    fn nothing_gets_out_of_its_quotation() {
        assert_eq!(quoted("a\n## You\n<script>"), "\n> a\n> ## You\n> &lt;script>\n");
        assert_eq!(fenced("a\n```\nb\n"), "\n````text\na\n```\nb\n````\n");
        assert_eq!(heading("x](y)\n# z<"), "x??y??? z?");
        assert!(!quoted("\u{1b}[2J").contains('\u{1b}') && !fenced("\u{202e}").contains('\u{202e}'));
    }
}
