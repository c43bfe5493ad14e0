//! What a machine claims about its table, in words.

use crate::table::Label;
use crate::table::proof::Claim;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A claim as a sentence in Markdown. The labels are those of the table it was proved with.
#[must_use]
pub fn claim<S: Label, T: Label, A: Label>(claim: &Claim) -> String {
    match *claim {
        Claim::ActionOnlyFrom { action, states } => {
            format!("{} stands only on rows out of {}.", one::<A>(action), set::<S>(states))
        }
        Claim::ActionAfter { action, state, triggers } => {
            let (state, action) = (one::<S>(state), one::<A>(action));
            format!("Out of {state}, {action} stands only after the rows on {}.", set::<T>(triggers))
        }
        Claim::OnlyThrough { goal, gate, unless: 0 } => {
            format!("{} is reached only through {}.", one::<S>(goal), one::<S>(gate))
        }
        Claim::OnlyThrough { goal, gate, unless } => {
            let (goal, gate) = (one::<S>(goal), one::<S>(gate));
            format!("{goal} is reached only through {gate}, or by a row on {}.", set::<T>(unless))
        }
        Claim::Stays { trigger } => format!("A row on {} keeps the state.", one::<T>(trigger)),
    }
}

fn one<L: Label>(label: u8) -> String {
    format!("`{}`", L::NAMES.get(usize::from(label)).copied().unwrap_or_default())
}

fn set<L: Label>(labels: u128) -> String {
    let names: Vec<String> = (0..128).filter(|label| labels & (1 << label) != 0).map(one::<L>).collect();
    names.join(", ")
}
