//! Broken tables do not compile, and the compiler says what is wrong with them and where. Each differs from the sound one in a row or a
//! claim. The kernel needs nothing but `core`: it is compiled alone here, and the tables as a stranger's crate on it.
//!
//! rustdoc's `compile_fail` would see that a table does not compile, but not why.

#![cfg(not(miri))]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// Rows out of `Idle` and `Choosing` that every table but some begins with, and those out of `Busy`.
const BEGINNING: &str =
    "Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];";
const END: &str = "Busy + Ended => Idle []; Busy + Stopped => Over [Finish];";

/// A table: its name, its rows, what is claimed of it, and what the compiler says of it after `evaluation panicked: `.
type Case = (&'static str, [&'static str; 3], &'static str, &'static str);

const STRUCTURE: &[Case] = &[
    (
        "duplicate_cell",
        [BEGINNING, END, "Idle + Went => Busy [];"],
        "",
        "two rows fill one cell, the second is Idle + Went => Busy",
    ),
    (
        "repeated_action",
        [BEGINNING, "Busy + Ended => Idle []; Busy + Stopped => Over [Finish, Finish];", ""],
        "",
        "an action stands twice on the row Busy + Stopped => Over",
    ),
    (
        "exit_from_terminal",
        [BEGINNING, END, "Over + Went => Idle [];"],
        "",
        "a row leaves a terminal state: Over + Went => Idle",
    ),
    (
        "unreachable_state",
        [BEGINNING, "Busy + Ended => Idle []; Busy + Stopped => Idle [Finish];", ""],
        "",
        "no way leads to the state Over",
    ),
    (
        "waiting_state_without_a_way_out",
        [BEGINNING, "Idle + Stopped => Over [Finish];", "Busy + Ended => Busy [];"],
        "",
        "no row leaves the state Busy",
    ),
    (
        "dead_end",
        [
            "Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Busy [];",
            "Idle + Stopped => Over [Finish];",
            "Busy + Ended => Choosing [];",
        ],
        "",
        "no way leads to an end from the state Choosing",
    ),
    ("unused_trigger", [BEGINNING, "Busy + Stopped => Over [Finish];", ""], "", "no row uses the trigger Ended"),
    (
        "unused_action",
        [BEGINNING, "Busy + Ended => Idle []; Busy + Stopped => Over [];", ""],
        "",
        "no row uses the action Finish",
    ),
    (
        "automatic_cycle",
        [
            "Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Choosing [];",
            END,
            "",
        ],
        "",
        "automatic rows can cycle, from the state Choosing",
    ),
    (
        "event_row_of_a_passing_state",
        [BEGINNING, END, "Choosing + Ended => Idle [];"],
        "",
        "a passing state has an event row: Choosing + Ended => Idle",
    ),
    (
        "automatic_row_of_a_waiting_state",
        [BEGINNING, END, "Busy + AutoIdle => Idle [];"],
        "",
        "a waiting state has an automatic row: Busy + AutoIdle => Idle",
    ),
];

const CLAIMS: &[Case] = &[
    (
        "claim_about_an_action",
        [BEGINNING, END, "Idle + Ended => Choosing [Finish];"],
        "action Finish only from [Busy];",
        "Finish stands on a row out of another state: Idle + Ended => Choosing",
    ),
    (
        "claim_about_an_order",
        [BEGINNING, "Busy + Stopped => Over [Finish];", "Busy + Ended => Idle [];"],
        "order Finish in Busy after [Ended];",
        "Finish stands before a row that has to come first: Busy + Stopped => Over",
    ),
    (
        "claim_about_a_way",
        [BEGINNING, END, "Idle + Ended => Busy [];"],
        "state Busy only through Choosing;",
        "Busy is reached by another way than through Choosing",
    ),
    (
        "claim_about_an_exception",
        [BEGINNING, END, "Idle + Ended => Busy []; Idle + Stopped => Busy [];"],
        "state Busy only through Choosing unless [Stopped];",
        "Busy is reached by another way than through Choosing",
    ),
    (
        "claim_about_staying",
        [BEGINNING, END, ""],
        "trigger Ended stays;",
        "a row on a trigger that stays leaves its state: Busy + Ended => Idle",
    ),
];

/// What is wrong with the labels, not with the rows: its name, the module's labels, those that end or are passed, and what is said.
type LabelCase = (&'static str, fn() -> String, &'static str, &'static str);

const ABOUT_LABELS: &[LabelCase] = &[
    (
        "passing_end",
        || String::from("use super::{Place, Cause, Deed};"),
        "terminal: &[Place::Over], passing: &[Place::Choosing, Place::Over]",
        "a terminal state cannot be passing: Over",
    ),
    ("too_many_labels", one_action_too_many, SOUND_ENDS, "a machine has at most 128 labels of a kind"),
];

/// The last one, which a row names, has no place in a set of 128.
fn one_action_too_many() -> String {
    let others: String = (0..127).map(|number| format!("#[doc = \"x\"] Other{number}, ")).collect();
    let deeds = format!("{others} #[doc = \"x\"] Begin, #[doc = \"x\"] Finish");
    format!("use super::{{Place, Cause}}; statetable::labels! {{ pub enum Deed {{ {deeds} }} }}")
}

const SOUND_ENDS: &str = "terminal: &[Place::Over], passing: &[Place::Choosing]";

const TRUE_CLAIMS: &str =
    "action Finish only from [Busy]; order Finish in Busy after [Ended]; state Busy only through Choosing;";

const LABELS: &str = "
use statetable::labels;
labels! { pub enum Place { /// Waiting, initial.
    Idle, /// Passing.
    Choosing, /// Waiting.
    Busy, /// Terminal.
    Over } }
labels! { pub enum Cause { /// An event.
    Went, /// Another.
    Ended, /// The last.
    Stopped, /// Automatic.
    AutoBusy, /// Automatic too.
    AutoIdle } }
labels! { pub enum Deed { /// First.
    Begin, /// Last.
    Finish } }
";

/// Without this the others would prove nothing.
#[test]
fn the_sound_table_compiles() {
    let sound = ("sound", [BEGINNING, END, ""], TRUE_CLAIMS, "");
    let bench = Bench::new("sound");
    let output = bench.compile(&[of_case(&sound)]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output));
}

#[test]
fn each_broken_table_is_refused_with_the_fault_and_its_place() {
    let bench = Bench::new("broken");
    let broken = STRUCTURE.iter().chain(CLAIMS).map(of_case).chain(ABOUT_LABELS.iter().map(of_labels));
    let output = bench.compile(&broken.collect::<Vec<_>>());
    assert!(!output.status.success());
    let said = text(&output);
    let found: Vec<(&str, &str)> = said.lines().filter_map(fault).collect();
    let structure = STRUCTURE.iter().map(|(name, _, _, message)| (*name, (*message).to_owned()));
    let claims = CLAIMS.iter().map(|(name, _, _, message)| (*name, format!("a claim does not hold: {message}")));
    let labels = ABOUT_LABELS.iter().map(|(name, _, _, message)| (*name, (*message).to_owned()));
    let expected: Vec<(&str, String)> = structure.chain(claims).chain(labels).collect();
    let expected: Vec<(&str, &str)> = expected.iter().map(|(name, message)| (*name, message.as_str())).collect();
    assert_eq!(found, expected, "{said}");
}

/// A module's name and its text.
type Module = (&'static str, String);

fn of_case((name, rows, claims, _): &Case) -> Module {
    (name, module("use super::{Place, Cause, Deed};", SOUND_ENDS, rows, claims))
}

/// The rows are the sound ones, and a claim names a label, too.
fn of_labels((name, labels, ends, _): &LabelCase) -> Module {
    (name, module(&labels(), ends, &[BEGINNING, END, ""], TRUE_CLAIMS))
}

fn module(labels: &str, ends: &str, rows: &[&str; 3], claims: &str) -> String {
    format!(
        "{labels}\n\
         pub const TABLE: statetable::table::Table<Place, Cause, Deed> = statetable::table::Table {{\n\
         name: \"test\", initial: Place::Idle, {ends},\n\
         rows: statetable::rows! {{ Place, Cause, Deed; {} }} }};\n\
         statetable::prove! {{ pub const PROVED of TABLE: Place, Cause, Deed; {claims} }}\n",
        rows.concat()
    )
}

/// The table and the fault of a line like `…/name.rs:4:1: error[E0080]: evaluation panicked: fault`.
fn fault(line: &str) -> Option<(&str, &str)> {
    let (place, message) = line.split_once(": error[E0080]: evaluation panicked: ")?;
    let (file, _) = place.split_once(".rs:")?;
    Some((Path::new(file).file_name()?.to_str()?, message.split(": evaluation of `").next()?))
}

/// A directory with the kernel, compiled.
struct Bench {
    directory: PathBuf,
}

impl Bench {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tables-{name}"));
        fs::create_dir_all(directory.join("table")).unwrap();
        let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for file in ["table.rs", "table/proof.rs", "table/proved.rs"] {
            fs::write(directory.join(file), fs::read(kernel.join(file)).unwrap()).unwrap();
        }
        let bench = Self { directory };
        bench.write("statetable", "#![no_std]\npub mod table;\n");
        let output = bench.rustc("statetable", &[]);
        assert!(output.status.success(), "{}", text(&output));
        bench
    }

    /// A crate with a module for every table.
    fn compile(&self, tables: &[Module]) -> Output {
        for (name, text) in tables {
            self.write(name, text);
        }
        let modules: String = tables.iter().map(|(name, ..)| format!("pub mod {name};\n")).collect();
        self.write("stranger", &format!("{LABELS}{modules}"));
        self.rustc("stranger", &["--extern", "statetable"])
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.directory.join(name).with_extension("rs"), text).unwrap();
    }

    fn rustc(&self, name: &str, more: &[&str]) -> Output {
        // The one beside the cargo that runs this, so that both are of one toolchain.
        let beside = env::var_os("CARGO").map(|cargo| Path::new(&cargo).with_file_name("rustc"));
        Command::new(beside.filter(|rustc| rustc.exists()).unwrap_or_else(|| "rustc".into()))
            .current_dir(&self.directory)
            .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--error-format=short", "-L."])
            .args(more)
            .arg(format!("{name}.rs"))
            .output()
            .unwrap()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
