//! Witnesses written down: for people, and for tests.

use super::{Machine, Taken, Way, Witness, shown};
use agent_core::table::Label as _;
use serde_json::{Map, Value, json};

/// The page to read.
pub(crate) fn markdown<M: Machine>(rows: &[Witness<M>], actions: &[Witness<M>]) -> String {
    let name = M::table().name;
    let mut out = format!(
        "<!-- Generated from the table and the machine by `cargo xtask docs`. Do not edit. -->\n\n# Witnesses of the {name} machine\n\n\
         For every row of [the table]({name}.md) a sequence of events that fires it in the real machine. None is shorter, over the alphabet \
         of events\nin `crates/agent-check`. The tests replay each of them and look at every transition and action on the way.\n\n\
         A way that begins with a name in brackets needs that configuration; the others begin with \"{}\".\n\n\
         | Row | Events | Way |\n|---|---|---|\n",
        M::beginnings().first().map(|(name, ..)| *name).unwrap_or_default()
    );
    for witness in rows {
        out.push_str(&format!(
            "| `{}` | {} | {} |\n",
            shown(&witness.goal),
            witness.way.steps.len(),
            told(&witness.way)
        ));
    }
    let by_row = |action: &Witness<M>| rows.iter().find(|row| is_same_row(row, action)).map(|row| row.way.steps.len());
    let longer: Vec<_> = actions.iter().filter(|action| by_row(action) != Some(action.way.steps.len())).collect();
    if !longer.is_empty() {
        out.push_str(
            "\n## Actions that take more\n\nAn action that has nothing to say is left out. These actions of a row need more events than the \
             row itself to be seen.\n\n| Row | Action | Events | Way |\n|---|---|---|---|\n",
        );
    }
    for Witness { goal, way } in longer {
        let action = goal.action.map_or("", |action| action.name());
        let row = format!("{} + {}", goal.row.from.name(), goal.row.on.name());
        out.push_str(&format!("| `{row}` | `{action}` | {} | {} |\n", way.steps.len(), told(way)));
    }
    out
}

fn is_same_row<M: Machine>(one: &Witness<M>, other: &Witness<M>) -> bool {
    one.goal.row.from == other.goal.row.from && one.goal.row.on == other.goal.row.on
}

fn told<M: Machine>(way: &Way<M>) -> String {
    let letters: Vec<&str> = way.steps.iter().map(|(letter, _)| letter.as_str()).collect();
    let beginnings = M::beginnings();
    let name = beginnings.get(way.beginning).map(|(name, ..)| *name).unwrap_or_default();
    let configured = if way.beginning == 0 { String::new() } else { format!("({name}) ") };
    format!("{configured}{}", letters.join(" → "))
}

/// The oracle for tests: ways with all that came of each event, and what each is a witness of. One line a step.
pub(crate) fn golden<M: Machine>(rows: &[Witness<M>], actions: &[Witness<M>]) -> String {
    let mut ways: Vec<&Way<M>> = Vec::new();
    let all = || rows.iter().chain(actions);
    for Witness { way, .. } in all() {
        let is_covered = all().any(|other| is_prefix(way, &other.way) && way.steps.len() < other.way.steps.len())
            || ways.iter().any(|known| is_prefix(way, known));
        if !is_covered {
            ways.push(way);
        }
    }
    let configs: Map<String, Value> =
        M::beginnings().into_iter().map(|(name, config, _)| (name.to_owned(), config)).collect();
    let shown_ways = ways.iter().map(|way| {
        let beginnings = M::beginnings();
        let config = beginnings.get(way.beginning).map(|(name, ..)| *name).unwrap_or_default();
        let steps: Vec<String> = way.steps.iter().map(|(letter, taken)| format!("  {}", step(letter, taken))).collect();
        format!("{{\"config\":{},\"steps\":[\n{}\n ]}}", json!(config), steps.join(",\n"))
    });
    let witnesses = all().map(|Witness { goal, way }| {
        let at = ways.iter().position(|known| is_prefix(way, known)).unwrap_or_default();
        let action = goal.action.map(|action| M::rendered_as(goal.row.on, action));
        let row = format!("{} + {}", goal.row.from.name(), goal.row.on.name());
        json!({"row": row, "action": action, "way": at, "step": way.steps.len() - 1}).to_string()
    });
    let (shown_ways, witnesses): (Vec<String>, Vec<String>) = (shown_ways.collect(), witnesses.collect());
    format!(
        "{{\n\"machine\": {},\n\"configs\": {},\n\"ways\": [\n {}\n],\n\"witnesses\": [\n {}\n]\n}}\n",
        json!(M::table().name),
        Value::Object(configs),
        shown_ways.join(",\n "),
        witnesses.join(",\n ")
    )
}

/// Whether a way begins with another.
fn is_prefix<M: Machine>(short: &Way<M>, long: &Way<M>) -> bool {
    let same = |one: &(String, Taken<M>), other: &(String, Taken<M>)| one.0 == other.0 && one.1.event == other.1.event;
    short.beginning == long.beginning
        && short.steps.len() <= long.steps.len()
        && short.steps.iter().zip(&long.steps).all(|(one, other)| same(one, other))
}

fn step<M: Machine>(letter: &str, taken: &Taken<M>) -> String {
    let row = |(from, on): &(M::State, M::Trigger)| {
        let to = M::table().row(*from, *on).map_or("", |row| row.to.name());
        format!("{} + {} => {to}", from.name(), on.name())
    };
    let fired: Vec<String> = taken.fired.iter().map(row).collect();
    json!({"letter": letter, "event": taken.event, "fired": fired, "actions": taken.actions}).to_string()
}
