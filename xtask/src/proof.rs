//! The proof sheet: what is known about every machine, and how. What follows from the tables is made anew each time and compared; figures
//! of long runs are read from `docs/figures` and say which tables, sources and worlds they were made from.

use crate::docs;
use crate::figures::{Basis, Figures};
use agent_check::witness;
use agent_core::diagram::{Kind, Refusal, cell, claim};
use agent_core::table::proof::{Claim, is_automatic};
use agent_core::table::{Label, Table};
use agent_core::{child, children, job, lifecycle, server, session};
use std::io::{self, Write as _};

/// Writes the proof sheet, or with `check` only compares it. Old figures are no fault, but are named.
///
/// # Errors
/// When a row has no witness, the sheet is stale (with `check`) or cannot be written.
pub(crate) fn run(check: bool) -> Result<(), String> {
    let (text, old) = sheet()?;
    for (name, outdated) in old {
        let names: Vec<&str> = outdated.into_iter().map(Basis::name).collect();
        let names = names.join(" and ");
        // If even this cannot be written, the sheet is still right.
        let _ = writeln!(io::stderr(), "warning: the figures of {name} were made from other {names} than today's");
    }
    docs::keep(&[("docs/proof.md".to_owned(), text)], check, "cargo xtask proof")
}

/// Figures that are old, by name, and what they were made from that is not today's.
type Old = Vec<(&'static str, Vec<Basis>)>;

/// The sheet, and the figures that are old.
fn sheet() -> Result<(String, Old), String> {
    let found = witness::all()?;
    let mut out = String::from(INTRODUCTION);
    out.push_str(
        "\n## What follows from the tables\n\n| Machine | States | Triggers | Cells | Rows | Refused | Witnessed rows | Witnessed actions \
         | Events to the nearest row | to the farthest |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let [session, lifecycle, child, children, job, server] = found.as_slice() else {
        return Err("there are six machines".to_owned());
    };
    out.push_str(&line(&session::table::TABLE, session));
    out.push_str(&line(&lifecycle::table::TABLE, lifecycle));
    out.push_str(&line(&child::table::TABLE, child));
    out.push_str(&line(&children::table::TABLE, children));
    out.push_str(&line(&job::table::TABLE, job));
    out.push_str(&line(&server::table::TABLE, server));
    out.push_str(REFUSALS);
    out.push_str(&refusals(&session::table::TABLE));
    out.push_str(&refusals(&lifecycle::table::TABLE));
    out.push_str(&refusals(&child::table::TABLE));
    out.push_str(&refusals(&children::table::TABLE));
    out.push_str(&refusals(&job::table::TABLE));
    out.push_str(&refusals(&server::table::TABLE));
    out.push_str(COMPILE_TIME);
    out.push_str(&claims(&session::table::TABLE, session::table::PROVED.claims()));
    out.push_str(&claims(&lifecycle::table::TABLE, lifecycle::table::PROVED.claims()));
    out.push_str(&claims(&child::table::TABLE, child::table::PROVED.claims()));
    out.push_str(&claims(&children::table::TABLE, children::table::PROVED.claims()));
    out.push_str(&claims(&job::table::TABLE, job::table::PROVED.claims()));
    out.push_str(&claims(&server::table::TABLE, server::table::PROVED.claims()));
    let mut old = Vec::new();
    out.push_str(LONG_RUNS);
    for (name, title) in KEPT {
        out.push_str(&long_run(name, title, &mut old)?);
    }
    Ok((out, old))
}

fn line<S: Label, T: Label, A: Label>(table: &Table<S, T, A>, found: &witness::Found) -> String {
    let cells = S::ALL.len() * T::ALL.len();
    let (rows, actions) = (table.rows.len(), table.rows.iter().map(|row| row.actions.len()).sum::<usize>());
    let (most, farthest) = &found.longest;
    format!(
        "| [{name}](machines/{name}.md) | {} | {} | {cells} | {rows} | {} | [{} of {rows}](machines/{name}.witnesses.md) | {} of {actions} \
         | {} | {most} (`{farthest}`) |\n",
        S::ALL.len(),
        T::ALL.len(),
        cells - rows,
        found.rows,
        found.actions,
        found.shortest,
        name = table.name,
    )
}

/// Every cell, counted by what is in it.
fn refusals<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let mut counts = [0_usize; 5];
    for state in S::ALL {
        for trigger in T::ALL {
            let kind = match cell(table, *state, *trigger) {
                Ok(_) => 0,
                Err(Refusal::Terminal) => 1,
                Err(Refusal::Passing) => 2,
                Err(Refusal::Waiting(_)) => 3,
                Err(_) => 4,
            };
            counts[kind] += 1;
        }
    }
    let [rows, terminal, passing, waiting, elsewhere] = counts;
    let kinds = |kind| S::ALL.iter().filter(|state| Kind::of(table, **state) == kind).count();
    format!(
        "| {} | {rows} | {terminal} ({} states) | {passing} ({} states) | {waiting} ({} states) | {elsewhere} | {} |\n",
        table.name,
        kinds(Kind::Terminal),
        kinds(Kind::Passing),
        kinds(Kind::Waiting),
        rows + terminal + passing + waiting + elsewhere,
    )
}

fn claims<S: Label, T: Label, A: Label>(table: &Table<S, T, A>, claims: &[Claim]) -> String {
    let automatic = T::NAMES.iter().filter(|name| is_automatic(name)).count();
    let mut out = format!("\n### {} ({} claims; {automatic} automatic triggers)\n\n", table.name, claims.len());
    for each in claims {
        out.push_str(&format!("* {}\n", claim::<S, T, A>(each)));
    }
    out
}

/// The figures of a long run, with what they were made from.
fn long_run(name: &'static str, title: &str, old: &mut Old) -> Result<String, String> {
    let mut out = format!("\n### {title}\n\n");
    let Some(kept) = Figures::kept(name)? else {
        out.push_str(&format!("No figures are kept: it has not been run yet (`docs/figures/{name}.json`).\n"));
        return Ok(out);
    };
    let (command, hash, outdated) = (&kept.command, &kept.hash, kept.outdated()?);
    // Code changes often: the sheet says from which they were made, and the command warns.
    let also: String = kept.also.iter().map(|(basis, hash)| format!(", {} `{hash}`", basis.name())).collect();
    out.push_str(&match kept.basis {
        Basis::Tables if outdated.contains(&Basis::Tables) => {
            format!("**Made from other tables** (hash `{hash}`{also}), by `{command}`: run it again.\n\n")
        }
        Basis::Tables => format!("Made by `{command}` from today's tables (hash `{hash}`{also}).\n\n"),
        Basis::Sources | Basis::Worlds => {
            format!("Made by `{command}` from the {} with the hash `{hash}`{also}.\n\n", kept.basis.name())
        }
    });
    if !outdated.is_empty() {
        old.push((name, outdated));
    }
    out.push_str("| Figure | Value |\n|---|---|\n");
    for (figure, value) in kept.figures {
        out.push_str(&format!("| {figure} | {value} |\n"));
    }
    Ok(out)
}

/// The long runs: names of their figures, and titles.
const KEPT: &[(&str, &str)] = &[
    ("model-check", "Bounded model check of the real machines"),
    ("row-mutation", "Mutation of the tables"),
    ("cargo-mutants", "Mutation of the code of `agent-core`, `agent-types` and the kernel"),
];

const INTRODUCTION: &str = "<!-- Generated by `cargo xtask proof`. Do not edit. -->

# Proof sheet

What is known about the six machines of `agent-core`, and how it is known. CI makes the first two parts anew and compares them; the third \
part repeats what long runs said, and names the tables and the code they ran on.
";
const REFUSALS: &str = "
Every cell, a state with a trigger, is decided: a row, or a refusal with its reason. The grids in `docs/machines` list them one by one.

| Machine | Rows | Refused: has ended | Refused: passing, takes no events | Refused: waits for an event | Refused: expected elsewhere | Cells |
|---|---|---|---|---|---|---|
";
const COMPILE_TIME: &str = "
## What the compiler has proved

A table that breaks one of these does not compile. For every machine: no cell is filled twice; nothing leaves a terminal state; every state \
can be reached, and every other one has a way out and one to an end; every trigger and every action is used; a passing state has automatic \
rows only and a waiting state none; automatic rows cannot cycle. Besides, each machine claims:
";
const LONG_RUNS: &str = "
## What long runs have found

The model check judges the conversation of a request by the rules of three formats: not its tools, its system text or its output limit, and not \
the letters of names and ids, which the providers' adapters make fit. A cancel arrives after as many answers as calls run beside each other: in \
the worlds of the check these are four at most, in a session up to 256.
";
