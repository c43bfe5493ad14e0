//! A session as one HTML file: what was said, every record with the rows it fired, and the diagram with the state lit in which the chosen
//! record left the session.
//!
//! It needs no network and runs no script: choosing a record is a radio button, lighting its state is a style rule. Its own policy
//! forbids everything else, should a text get out of its place.

use super::export::{head, named};
use super::said::{about, by};
use super::story::{Story, Told, usd};
use crate::failure::Failure;
use crate::screen::terminal::escaped;
use agent_core::conversation::{Answer, Item};
use agent_core::diagram::{Format, render};
use agent_core::journal::Replayed;
use agent_core::lifecycle;
use agent_core::session::State;
use agent_core::session::table::TABLE;
use agent_core::table::Label;
use std::fmt::Write as _;
use std::path::Path;

/// The whole document.
pub(super) fn document(id: &str, name: Option<&str>, path: &Path) -> Result<String, Failure> {
    let (mut steps, mut state, mut start_ms) = (String::new(), TABLE.initial, None);
    let story = Story::read(path, None, |told| {
        let since_ms = told.at_ms.saturating_sub(*start_ms.get_or_insert(told.at_ms));
        step(&mut steps, &mut state, since_ms, told);
    })?;
    let svg = diagram();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Session {}</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}{}</style></head><body>\n",
        text(id),
        lights(&svg)
    );
    let _ = writeln!(out, "<main><h1>Session {}</h1><pre>{}</pre>", text(id), text(&head(id, name, &story)));
    spent(&mut out, &story);
    out.push_str("<h2>Conversation</h2>\n");
    conversation(&mut out, &story);
    let _ = write!(
        out,
        "<h2>Records</h2><p>Select a record; the diagram shows the state after it. Times are relative to the first record.</p>\n<ol \
         start=\"1\">{steps}</ol></main>\n"
    );
    let _ = writeln!(out, "<aside>{svg}</aside></body></html>");
    Ok(out)
}

fn step(out: &mut String, state: &mut State, since_ms: u64, told: &Told<'_>) {
    let mut rows = String::new();
    match told.did {
        Replayed::Step(step) => {
            lifecycle_rows(&mut rows, &step.down);
            for transition in &step.session.transitions {
                *state = transition.to;
                let _ = write!(
                    rows,
                    "<br>{} + {} → {}",
                    transition.from.name(),
                    transition.on.name(),
                    transition.to.name()
                );
                if transition.from != transition.to && transition.spent_ms > 0 {
                    let _ = write!(rows, " after {} ms", transition.spent_ms);
                }
            }
            lifecycle_rows(&mut rows, &step.up);
        }
        Replayed::Refused(rejected) => {
            let _ = write!(rows, "<br>{}", text(&rejected.to_string()));
        }
        Replayed::Begun { ticket, .. } => {
            let _ = write!(rows, " {ticket}");
        }
    }
    let (seq, name, seconds, rest_ms) = (told.seq, text(&told.name), since_ms / 1_000, since_ms % 1_000);
    let _ = writeln!(
        out,
        "<li value=\"{seq}\"><label><input type=\"radio\" name=\"step\" class=\"at-{}\"> <b>{name}</b> <small>{seconds}.{rest_ms:03} s</small>{rows}\
         </label></li>",
        state.name()
    );
}

fn lifecycle_rows(rows: &mut String, step: &lifecycle::Step) {
    for row in &step.transitions {
        let _ = write!(rows, "<br>{} + {} → {}", row.from.name(), row.on.name(), row.to.name());
    }
}

fn spent(out: &mut String, story: &Story) {
    out.push_str("<table><tr><th>State<th>ms<th>Tokens<th>USD</tr>");
    for (state, spent) in &story.spent {
        let usd = usd(spent.known_cost_nano_usd());
        let _ = write!(out, "<tr><td>{}<td>{}<td>{}<td>{usd}</tr>", state.name(), spent.ms, spent.tokens);
    }
    out.push_str("</table>\n");
}

fn conversation(out: &mut String, story: &Story) {
    for item in story.items().map(named) {
        match item.as_ref() {
            Item::Summary(summary) => said_by(out, &text(&about(summary)), summary.text()),
            Item::Input(input) => input.messages().iter().for_each(|said| said_by(out, by(said), &said.whole())),
            Item::Answer(answer) => answered(out, answer),
            Item::Round(round) => {
                answered(out, round.answer());
                for (call, result) in round.answer().calls().zip(round.results()) {
                    let verdict = if result.is_error() { " (not ok)" } else { "" };
                    let _ = writeln!(
                        out,
                        "<details><summary>{}{verdict}</summary><pre>{}</pre><pre>{}</pre></details>",
                        text(&call.name),
                        text(call.arguments.as_str()),
                        text(result.content())
                    );
                }
            }
        }
    }
    story.replayer.session().pending_input().for_each(|said| said_by(out, "you, not answered yet", said));
}

fn answered(out: &mut String, answer: &Answer) {
    let said = answer.text();
    if !said.trim().is_empty() {
        said_by(out, "agent", &said);
    }
}

fn said_by(out: &mut String, who: &str, said: &str) {
    let _ = writeln!(out, "<section><h3>{who}</h3><pre>{}</pre></section>", text(said));
}

/// The machine's diagram, with a name on each state for the style rules.
fn diagram() -> String {
    let mut svg = render(&TABLE, Format::Svg);
    for state in State::ALL {
        let name = state.name();
        svg = svg.replace(
            &format!("font-weight=\"bold\">{name}<"),
            &format!("font-weight=\"bold\" class=\"s-{name}\">{name}<"),
        );
    }
    svg
}

/// Lights the state of the chosen record, and moves the diagram so that it is in sight.
fn lights(svg: &str) -> String {
    let rule = |state: &State| {
        let name = state.name();
        let (chosen, lit) = (format!("body:has(.at-{name}:checked)"), format!("g:has(> .s-{name})"));
        format!(
            "{chosen} {lit} rect{{fill:#fc0;stroke:#a60;stroke-width:3}}{chosen} {lit} text{{fill:#000}}\
             {chosen} aside:not(:hover) svg{{margin-top:min(0px,calc(var(--middle) - {}px))}}\n",
            height_of(svg, name)
        )
    };
    State::ALL.iter().map(rule).collect()
}

/// How far below the upper edge a state stands.
fn height_of(svg: &str, name: &str) -> u32 {
    let before =
        svg.split_once(&format!("\" font-weight=\"bold\" class=\"s-{name}\"")).map_or("", |(before, _)| before);
    before.rsplit_once("y=\"").and_then(|(_, height)| height.parse().ok()).unwrap_or_default()
}

/// Text of others: nothing in it is markup, and nothing in it hides.
fn text(text: &str) -> String {
    let text = escaped(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

const STYLE: &str = ":root{color-scheme:light dark;--middle:45vh}body{font:15px/1.45 system-ui,sans-serif;margin:0;display:grid;\
    grid-template-columns:minmax(0,1fr) minmax(0,1fr)}main{padding:1rem 2rem;overflow-wrap:anywhere}\
    aside{position:sticky;top:0;height:100vh;overflow:auto}aside svg{display:block}\
    pre{white-space:pre-wrap;background:#8882;padding:.5rem;border-radius:4px}h3{margin:.8rem 0 0;font-size:.9rem;color:gray}\
    th,td{text-align:left;padding:0 1rem 0 0;white-space:nowrap}small{color:gray}label{cursor:pointer}li{margin:.3rem 0}\
    label:has(:checked){background:#fc04}\
    @media(max-width:75rem){:root{--middle:18vh}body{display:block}main{padding:.5rem 1rem}h1{font-size:1.3rem}\
    aside{top:auto;bottom:0;height:40vh;background:Canvas;border-top:2px solid gray}}\n";

#[cfg(test)]
mod tests {
    use super::{diagram, height_of, text};
    use agent_core::session::State;
    use agent_core::table::Label;

    #[test]
    fn text_is_never_markup() {
        let hostile = "</pre><script>alert(1)</script><img src=x onerror='a'>\u{202e}\u{1b}[2J\"&";
        let shown = text(hostile);
        assert!(!shown.contains(['<', '>', '"', '\'', '\u{202e}', '\u{1b}']), "{shown}");
    }

    #[test]
    fn every_state_can_be_lit() {
        let svg = diagram();
        for state in State::ALL {
            assert_eq!(svg.matches(&format!("class=\"s-{}\"", state.name())).count(), 1, "{}", state.name());
            assert!(height_of(&svg, state.name()) > 0, "{}", state.name());
        }
    }
}
