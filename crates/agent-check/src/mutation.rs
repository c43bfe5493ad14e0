//! Which tests notice which changes of a table, and that none goes unnoticed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod mutants;

pub use mutants::{Change, Mutant, mutants, refusal};

use agent_core::table::proof::Claim;
use agent_core::table::{Label, Table};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Tests that may notice a change, by name. They say whether they do.
pub type Layer<'a, S, T, A> = (&'static str, &'a dyn Fn(&Mutant<S, T, A>) -> bool);

/// Makes every change of a table and asks the proof, then each layer of tests.
///
/// With `AGENT_CORE_FIGURES` in the environment the score is also written into that directory, a line `name<tab>value` each.
pub fn check<S: Label, T: Label, A: Label>(table: &Table<S, T, A>, claims: &[Claim], layers: &[Layer<'_, S, T, A>]) {
    assert_eq!(refusal(table, claims), None, "the table itself is sound");
    let (mut refused, mut unnoticed) = (0, Vec::new());
    let (mut noticed, mut alone) = (vec![0; layers.len()], vec![0; layers.len()]);
    let all = mutants(table);
    for mutant in &all {
        if refusal(mutant.table, claims).is_some() {
            refused += 1;
            continue;
        }
        let notices: Vec<bool> = layers.iter().map(|(_, notices)| notices(mutant)).collect();
        notices.iter().zip(&mut noticed).for_each(|(notices, count)| *count += usize::from(*notices));
        match notices.iter().filter(|notices| **notices).count() {
            0 => unnoticed.push(mutant.name.as_str()),
            1 => notices.iter().zip(&mut alone).for_each(|(notices, count)| *count += usize::from(*notices)),
            _ => {}
        }
    }
    let count = |change| all.iter().filter(|mutant| mutant.change == change).count();
    let mut lines = format!("{} mutants\t{}", table.name, all.len());
    let (deleted, redirected, stripped) = (count(Change::Deleted), count(Change::Redirected), count(Change::Stripped));
    let _ = writeln!(lines, " ({deleted} rows deleted, {redirected} redirected, {stripped} stripped of an action)");
    let _ = writeln!(lines, "{} refused by the proof at compile time\t{refused}", table.name);
    for ((name, _), (count, alone)) in layers.iter().zip(noticed.iter().zip(&alone)) {
        let (machine, left) = (table.name, all.len() - refused);
        let _ = writeln!(lines, "{machine} noticed by {name}\t{count} of {left}, {alone} of them by nothing else");
    }
    let _ = writeln!(lines, "{} unnoticed\t{}", table.name, unnoticed.len());
    if let Some(directory) = env::var_os("AGENT_CORE_FIGURES") {
        fs::write(Path::new(&directory).join(table.name), lines).unwrap();
    }
    assert!(unnoticed.is_empty(), "nobody notices: {unnoticed:#?}");
}
