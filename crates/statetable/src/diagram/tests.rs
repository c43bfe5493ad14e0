//! A small machine in every format.

use super::{Format, Kind, Refusal, UnknownFormat, cell, render};
use crate::table::Table;
use crate::{labels, prove, rows};
use alloc::string::ToString as _;
use alloc::vec;

labels! {
    enum Door {
        /// Open to everybody.
        Open,
        /// Trying the "lock".
        Trying,
        /// Nobody gets in.
        Shut,
        /// Gone for good.
        Bricked,
    }
}

labels! {
    enum Happening {
        /// Somebody pushed it.
        Pushed,
        /// Somebody pulled it.
        Pulled,
        /// A mason came.
        WalledUp,
        /// The lock holds.
        AutoLocked,
        /// It does not.
        AutoLoose,
    }
}

labels! {
    enum Deed {
        /// Make a noise.
        Creak,
        /// Make another.
        Click,
    }
}

const DOOR: Table<Door, Happening, Deed> = Table {
    name: "door",
    initial: Door::Open,
    terminal: &[Door::Bricked],
    passing: &[Door::Trying],
    rows: rows! { Door, Happening, Deed;
        Open + Pushed => Trying [Creak];
        Open + Pulled => Open [];
        Trying + AutoLocked => Shut [Creak, Click];
        Trying + AutoLoose => Open [];
        Shut + Pushed => Open [];
        Shut + Pulled => Open [Creak];
        Shut + WalledUp => Bricked [];
    },
};

prove! { const PROVED of DOOR: Door, Happening, Deed; state Bricked only through Trying; }

#[test]
fn every_format_of_a_small_machine() {
    for format in Format::ALL {
        insta::assert_snapshot!(format.name(), render(&DOOR, *format));
    }
}

#[test]
fn an_empty_cell_has_a_reason() {
    let refusal = |state, on| cell(&DOOR, state, on).unwrap_err();
    assert_eq!(refusal(Door::Bricked, Happening::Pushed), Refusal::Terminal);
    assert_eq!(refusal(Door::Trying, Happening::Pushed), Refusal::Passing);
    assert_eq!(refusal(Door::Open, Happening::WalledUp), Refusal::Elsewhere(vec!["Shut"]));
    assert_eq!(refusal(Door::Open, Happening::AutoLocked), Refusal::Waiting(vec!["Trying"]));
    assert_eq!(cell(&DOOR, Door::Open, Happening::Pushed).unwrap().to, Door::Trying);
}

#[test]
fn a_long_list_of_states_is_cut() {
    assert_eq!(Refusal::Elsewhere(vec!["A", "B", "C"]).to_string(), "expected only in `A`, `B`, `C`");
    assert_eq!(
        Refusal::Elsewhere(vec!["A", "B", "C", "D", "E"]).to_string(),
        "expected only in `A`, `B`, `C` and 2 more"
    );
}

#[test]
fn a_format_has_a_name_and_back() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(*format));
    }
    assert_eq!("png".parse::<Format>(), Err(UnknownFormat));
    assert_eq!(Kind::of(&DOOR, Door::Open), Kind::Waiting);
}

#[test]
fn claims_are_sentences() {
    use super::claim;
    use crate::table::proof::Claim;
    let said = |claimed| claim::<Door, Happening, Deed>(&claimed);
    let from = Claim::ActionOnlyFrom { action: Deed::Click as u8, states: 0b101 };
    assert_eq!(said(from), "`Click` stands only on rows out of `Open`, `Shut`.");
    let after = Claim::ActionAfter { action: Deed::Creak as u8, state: Door::Shut as u8, triggers: 0b10 };
    assert_eq!(said(after), "Out of `Shut`, `Creak` stands only after the rows on `Pulled`.");
    let through = |unless| Claim::OnlyThrough { goal: Door::Bricked as u8, gate: Door::Trying as u8, unless };
    assert_eq!(said(through(0)), "`Bricked` is reached only through `Trying`.");
    let excepted = "`Bricked` is reached only through `Trying`, or by a row on `Pushed`, `WalledUp`.";
    assert_eq!(said(through(0b101)), excepted);
    assert_eq!(said(Claim::Stays { trigger: Happening::Pulled as u8 }), "A row on `Pulled` keeps the state.");
}
