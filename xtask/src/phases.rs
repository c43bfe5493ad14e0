//! The driver and the screen remember no phase of the agent: no field of theirs is a `bool`, unless it is listed here with what it is.

use std::path::Path;
use syn::{Fields, Item};

/// Where nothing may remember what the agent is doing: the driver, and what a person sees and types.
const WHERE: &[&str] = &[
    "crates/agent-runner/src/",
    "crates/agent-cli/src/screen/",
    "crates/agent-cli/src/commands/prompt/",
    "crates/agent-cli/src/commands/run.rs",
    "crates/agent-cli/src/commands/job/",
    "crates/agent-cli/src/commands/acp/",
    "crates/agent-cli/src/commands/conversation/",
    "crates/agent-acp/src/",
];

/// Fields that are no phase of an agent: file, field, what it is.
const REVIEWED: &[(&str, &str, &str)] = &[
    ("crates/agent-acp/src/client.rs", "Abilities.notices", "what the client can do"),
    ("crates/agent-acp/src/client.rs", "Abilities.compaction", "what the client can do"),
    ("crates/agent-acp/src/client.rs", "Abilities.form", "what the client can do"),
    ("crates/agent-acp/src/client.rs", "Abilities.visit", "what the client can do"),
    ("crates/agent-acp/src/host.rs", "Wanted.has_history", "what a request asks for"),
    ("crates/agent-acp/src/session.rs", "Desk.changes", "of a request: whether its answer says nothing"),
    ("crates/agent-acp/src/updates.rs", "Call.is_news", "whether the client lacks what a call has reported"),
    ("crates/agent-runner/src/member.rs", "Member.is_left", "whether this program has resumed the agent yet"),
    ("crates/agent-cli/src/commands/job/host.rs", "Shown.is_recorded", "configuration: whether the job is kept"),
    ("crates/agent-cli/src/commands/job/host.rs", "Shown.has_attempts", "whether the lines of an attempt were begun"),
    (
        "crates/agent-cli/src/commands/prompt/mod.rs",
        "Screen.has_input_ended",
        "whether the keyboard, or the pipe, has nothing more",
    ),
    ("crates/agent-cli/src/commands/prompt/mod.rs", "Screen.is_typed", "whether a terminal is read, or a pipe"),
    (
        "crates/agent-cli/src/commands/prompt/mod.rs",
        "Screen.had_unusable_line",
        "for the exit code: whether a line could not be sent",
    ),
    (
        "crates/agent-cli/src/commands/prompt/custom.rs",
        "Custom.is_of_repository",
        "whose file it is: the repository's or the person's",
    ),
    ("crates/agent-cli/src/commands/prompt/registry.rs", "Builtin.run", "what a function returns: whether to leave"),
    ("crates/agent-cli/src/screen/edit/line.rs", "Cell.is_paste", "what a cell holds"),
    ("crates/agent-cli/src/screen/edit/line.rs", "Line.is_typing", "whether the last change was a letter, for undo"),
    ("crates/agent-cli/src/screen/keys.rs", "GiveUp.0", "whether the thread that reads is to drop a paste"),
    ("crates/agent-cli/src/screen/keys.rs", "Keys.is_fresh", "whether bytes came since the last pause"),
    ("crates/agent-cli/src/screen/printer.rs", "Printer.with_partial", "configuration: whether pieces are printed"),
    ("crates/agent-cli/src/screen/printer.rs", "Printer.has_begun", "whether the first line was printed"),
    ("crates/agent-cli/src/screen/terminal/live.rs", "Live.is_coloured", "configuration: whether there are colours"),
    ("crates/agent-cli/src/screen/terminal/live.rs", "Live.is_drawn", "whether the terminal shows the rows"),
    (
        "crates/agent-cli/src/screen/terminal/live.rs",
        "Live.is_cut",
        "whether a resize ended a row of a text that goes on",
    ),
    (
        "crates/agent-cli/src/screen/terminal/live.rs",
        "Live.is_written",
        "whether the terminal shows text since a resize",
    ),
    (
        "crates/agent-cli/src/screen/markdown/page.rs",
        "Page.has_blank",
        "whether a blank stands before the word that comes",
    ),
    ("crates/agent-cli/src/screen/terminal/live.rs", "Update.is_whole", "whether it draws all rows"),
    ("crates/agent-cli/src/screen/terminal/mod.rs", "Style.is_on", "configuration: whether there are colours"),
    ("crates/agent-cli/src/screen/terminal/queue.rs", "State.is_asleep", "whether the thread that writes waits"),
    ("crates/agent-cli/src/screen/terminal/queue.rs", "State.is_whole", "whether what waits draws all rows"),
    ("crates/agent-cli/src/screen/view/mod.rs", "View.is_live", "configuration: whether text is shown as it comes"),
    ("crates/agent-cli/src/screen/view/mod.rs", "View.in_line", "where the cursor is"),
    (
        "crates/agent-cli/src/screen/view/mod.rs",
        "View.showed_pieces",
        "whether the text on the screen may have to be taken back",
    ),
    (
        "crates/agent-cli/src/screen/view/mod.rs",
        "View.is_resumed",
        "whether calls of the round on the screen were announced by another program",
    ),
    ("crates/agent-runner/src/hooks.rs", "Verdicts.users", "configuration: whether the user's hooks look at calls"),
    ("crates/agent-runner/src/journal/file.rs", "FileJournal.is_behind", "whether the disk lacks what was written"),
    ("crates/agent-runner/src/journal/file.rs", "FileJournal.is_broken", "whether a write failed"),
    ("crates/agent-runner/src/journal/file.rs", "FileJournal.is_new", "whether the disk lacks the file's name"),
    ("crates/agent-runner/src/journal/read.rs", "Reader.is_done", "whether the file was read to its end"),
    ("crates/agent-runner/src/journal/salvage.rs", "Copy.is_finished", "whether the copy is whole"),
    ("crates/agent-runner/src/journal/branch.rs", "Shared.is_blind", "whether the index cannot be read"),
];

/// Faults in one file, each with the field, and the reviewed fields that it has.
pub(crate) fn of_file(shown: &str, text: &str) -> Vec<(String, bool)> {
    if !WHERE.iter().any(|place| shown.starts_with(place)) || is_test(shown) {
        return Vec::new();
    }
    let Ok(file) = syn::parse_file(text) else { return vec![(String::from("cannot be parsed"), false)] };
    let reviewed = |field: &String| REVIEWED.iter().any(|known| (known.0, known.1) == (shown, field.as_str()));
    fields(&file.items).into_iter().map(|field| (field.clone(), reviewed(&field))).collect()
}

/// What is wrong with all files together: fields without a review, and reviews of fields that are gone.
pub(crate) fn faults<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let (mut faults, mut left) = (Vec::new(), REVIEWED.to_vec());
    for (shown, text) in files {
        for (field, is_reviewed) in of_file(shown, text) {
            left.retain(|known| (known.0, known.1) != (shown, field.as_str()));
            if !is_reviewed {
                faults.push(format!(
                    "{shown}: `{field}` is a `bool` that may remember a phase of the agent. Ask the machine instead \
                     (`Agent::doing`, a notice); or say in xtask/src/phases.rs what it is"
                ));
            }
        }
    }
    faults.extend(left.iter().map(|(file, field, _)| format!("xtask/src/phases.rs: {file} has no `{field}`")));
    faults
}

/// The fields of structs that are truth values, also within other types.
fn fields(items: &[Item]) -> Vec<String> {
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Struct(this) if !is_parsed_or_written(&this.attrs) => {
                let named = matches!(this.fields, Fields::Named(_));
                for (at, field) in this.fields.iter().enumerate().filter(|(_, field)| is_truth(&field.ty)) {
                    let name =
                        field.ident.as_ref().filter(|_| named).map_or_else(|| at.to_string(), ToString::to_string);
                    found.push(format!("{}.{name}", this.ident));
                }
            }
            Item::Mod(this) if this.ident != "tests" => {
                found.extend(this.content.iter().flat_map(|(_, items)| fields(items)));
            }
            _ => {}
        }
    }
    found
}

/// Arguments of the command line and lines of a format hold what was said or is said, not what is done.
fn is_parsed_or_written(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let derived = words(&attribute.meta);
        ["Args", "Parser", "Subcommand", "Serialize", "Deserialize"]
            .iter()
            .any(|name| derived.contains(&(*name).to_owned()))
    })
}

fn is_truth(ty: &syn::Type) -> bool {
    words(ty).iter().any(|word| word == "bool" || word == "AtomicBool")
}

fn words(tokens: &impl quote::ToTokens) -> Vec<String> {
    let text = tokens.to_token_stream().to_string();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(ToOwned::to_owned).collect()
}

fn is_test(shown: &str) -> bool {
    Path::new(shown).file_stem().is_some_and(|stem| stem == "tests") || shown.contains("/tests/")
}

#[cfg(test)]
mod tests {
    use super::{faults, of_file};

    #[test]
    fn a_field_that_remembers_a_phase_is_named() {
        let text = "struct Screen { is_idle: bool, seen: Option<(u8, bool)>, shared: Arc<AtomicBool>, taken: u64 }
            mod inner { struct Pair(u8, bool); }
            #[derive(Args)] struct Words { quiet: bool }
            #[cfg(test)] mod tests { struct Planted { is_there: bool } }
            fn f() { let is_local = true; }";
        let place = "crates/agent-cli/src/screen/new.rs";
        let found: Vec<String> = of_file(place, text).into_iter().map(|(field, _)| field).collect();
        assert_eq!(found, ["Screen.is_idle", "Screen.seen", "Screen.shared", "Pair.1"]);
        assert_eq!(of_file("crates/agent-cli/src/config/new.rs", text), []);
        let said = faults([(place, text)].into_iter());
        assert!(said[0].starts_with("crates/agent-cli/src/screen/new.rs: `Screen.is_idle` is a `bool`"), "{said:?}");
        assert!(said.iter().any(|fault| fault.contains("journal/file.rs has no `FileJournal.is_broken`")), "{said:?}");
    }
}
