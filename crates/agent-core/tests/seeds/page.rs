//! `docs/seeds.md`, made of the seeds' data and of the tables.

use crate::data::{SEED_000, SEED_001, SEED_002, SEED_003, SEED_004};
use crate::seed::{Held, Seed, Seen, Shown};
use agent_check::golden;
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::session::table::TABLE as SESSION;
use agent_core::table::{Label, Table};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[test]
fn the_page_is_up_to_date() {
    golden::compare(&root().join("docs/seeds.md"), &page()).unwrap();
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    let mut out = String::from(INTRODUCTION);
    section(&mut out, &SEED_000, &SESSION);
    section(&mut out, &SEED_001, &SESSION);
    section(&mut out, &SEED_002, &LIFECYCLE);
    section(&mut out, &SEED_003, &SESSION);
    section(&mut out, &SEED_004, &JOB);
    out
}

fn section<S: Label, T: Label + Ord, A: Label>(out: &mut String, seed: &Seed<S, T>, table: &Table<S, T, A>) {
    let _ = write!(out, "\n## Seed {}: {}\n\n{}\n", seed.number, seed.title, seed.about);
    let _ = write!(out, "Its machine is here the [{0} machine](machines/{0}.md).\n\n### Its states\n\n", table.name);
    let _ = writeln!(out, "| Seed {} | Here |\n|---|---|", seed.number);
    for (theirs, ours) in seed.states {
        let _ = writeln!(out, "| `{theirs}` | {} |", listed(ours.iter().map(|state| state.name())));
    }
    if !seed.own.is_empty() {
        let _ = writeln!(out, "| (none) | {} |", listed(seed.own.iter().map(|state| state.name())));
    }
    let _ = writeln!(out, "\n{}", seed.collapsed);
    if !seed.words.is_empty() {
        let _ = write!(out, "\n### Its events and actions\n\n| Seed {} | Here |\n|---|---|\n", seed.number);
        for word in seed.words {
            let ours = listed(word.ours.iter().copied());
            let colon = if word.ours.is_empty() || word.note.is_empty() { "" } else { ": " };
            let _ = writeln!(out, "| {} | {ours}{colon}{} |", quoted_word(word.theirs), word.note);
        }
    }
    edges(out, seed);
    beyond(out, seed, table);
    sentences(out, seed);
}

fn edges<S, T: Label>(out: &mut String, seed: &Seed<S, T>) {
    out.push_str("\n### Its edges\n\n| From | Says | To | Trigger here | Walked by |\n|---|---|---|---|---|\n");
    for edge in seed.edges {
        let on = listed(edge.on.iter().map(|on| on.name()));
        let shown = match edge.shown {
            Shown::Begins => "the table begins there".to_owned(),
            Shown::Ends => "the table ends there, without a row".to_owned(),
            Shown::By(words) => format!("`{words}`"),
            Shown::Not(why) => format!("**not here**: {why}"),
        };
        let _ = writeln!(out, "| `{}` | {} | `{}` | {on} | {shown} |", edge.from, edge.label, edge.to);
    }
}

fn beyond<S: Label, T: Label + Ord, A: Label>(out: &mut String, seed: &Seed<S, T>, table: &Table<S, T, A>) {
    let beyond = seed.beyond(table).unwrap();
    let _ = write!(
        out,
        "\n### Edges that it lacks\n\n{} of them.\n\n| Why | Trigger | Edges |\n|---|---|---|\n",
        beyond.len()
    );
    for reason in seed.reasons() {
        let mut why = reason.why;
        for on in reason.on {
            let of: Vec<&Seen<T>> =
                beyond.iter().map(|(seen, _)| seen).filter(|seen| seen.1 == *on && reason.covers(seen)).collect();
            let shown: Vec<String> = of.iter().map(|(from, _, to)| format!("{from} → {to}")).collect();
            let _ = writeln!(out, "| {why} | `{}` | {} |", on.name(), shown.join(", "));
            why = "the same";
        }
    }
}

fn sentences<S, T>(out: &mut String, seed: &Seed<S, T>) {
    out.push_str("\n### What it says\n\n| Section | In short | Held by |\n|---|---|---|\n");
    for said in seed.said {
        let held = match &said.held {
            Held::By(tests) => listed(tests.iter().copied()),
            Held::Otherwise(why, []) => format!("**not so here**: {why}"),
            Held::Otherwise(why, tests) => format!("**otherwise**: {why}. {}", listed(tests.iter().copied())),
        };
        let _ = writeln!(out, "| {} | {} | {held} |", said.section, said.what);
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `event X` as event `X`.
fn quoted_word(word: &str) -> String {
    word.split_once(' ').map_or_else(|| word.to_owned(), |(kind, name)| format!("{kind} `{name}`"))
}

const INTRODUCTION: &str = "\
<!-- Made from crates/agent-core/tests/seeds by its tests. Do not edit: change the data there, then INSTA_UPDATE=always cargo test -p agent-core --test seeds. -->

# The seeds

The machines grew from five earlier designs, here called seeds. Each is a document of its own project; this page says what became of it. Its
states, events and edges are data of a test, and so is everything below:

* Every edge of a seed is walked by a run of the real machine, in the words of the last column, or it says why it is not here.
* Every edge of ours that the seed lacks stands here with its reason. They are computed from the table, as the seed would draw it: some states
  of ours stand for one state of the seed, others are collapsed, and a way through collapsed states is one edge, named by the trigger that
  began it. A table can lead where no run goes; such edges stand here too. An edge without a reason, or a reason without an edge, fails a test.
* What a seed says in sentences is told in short, with the tests that hold it; where it is otherwise here, with the reason.
";
