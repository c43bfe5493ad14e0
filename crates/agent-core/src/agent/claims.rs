//! What the join rests on, checked on both tables when this crate is compiled.

use crate::lifecycle::{self, ActionKind};
use crate::session;

/// Nothing that comes up from the session commands anything down, so a step goes down once and up once. And a row has one command at
/// most, so the session takes one step; a message has exactly one.
const _: () = {
    let mut left = lifecycle::table::TABLE.rows;
    while let [row, rest @ ..] = left {
        let commands = commands(row.actions);
        assert!(!is_derived(row.on) || commands == 0, "a row on what follows from the session has a command for it");
        assert!(commands <= 1, "a row has two commands for the session");
        let is_message = matches!(row.on, lifecycle::Trigger::InputReceived);
        assert!(!is_message || commands == 1, "a message that the lifecycle takes does not reach the session");
        left = rest;
    }
};

/// Wherever a started session waits, it takes messages and stops, so a command of the lifecycle is never refused.
const _: () = {
    let table = session::table::TABLE;
    let mut left = table.rows;
    while let [row, rest @ ..] = left {
        if !contains(table.passing, row.to) && !contains(table.terminal, row.to) {
            assert!(has_row(row.to, session::Trigger::UserInput), "a state that waits takes no message");
            assert!(has_row(row.to, session::Trigger::InputAfterTurn), "a state that waits takes no message for later");
            assert!(has_row(row.to, session::Trigger::CancelRequested), "a state that waits takes no stop");
            assert!(has_row(row.to, session::Trigger::SessionResumed), "a state that waits cannot be resumed");
        }
        left = rest;
    }
};

/// The triggers of what follows from the session.
const fn is_derived(trigger: lifecycle::Trigger) -> bool {
    use lifecycle::Trigger;
    match trigger {
        Trigger::Signalled
        | Trigger::WorkResumed
        | Trigger::TurnEnded
        | Trigger::TurnFailed
        | Trigger::TurnOutOfBudget
        | Trigger::WaitingSignalled
        | Trigger::CompletionClaimed
        | Trigger::CompletionClaimedUnbound
        | Trigger::SessionEnded => true,
        Trigger::InputReceived
        | Trigger::CommitmentAdded
        | Trigger::ModeChanged
        | Trigger::CheckCompletedMoreLeft
        | Trigger::ChecksPassed
        | Trigger::ChecksStale
        | Trigger::ChecksFailed
        | Trigger::ChecksFailedResting
        | Trigger::ChecksFailedForGood
        | Trigger::ChecksImpossible
        | Trigger::CancelRequested
        | Trigger::TimedOut
        | Trigger::BudgetExceeded
        | Trigger::Dismissed
        | Trigger::CleanupCompleted => false,
    }
}

const fn commands(mut actions: &[ActionKind]) -> usize {
    let mut found = 0;
    while let [action, rest @ ..] = actions {
        if matches!(action, ActionKind::SendInput | ActionKind::SendGapReport | ActionKind::CancelTurn) {
            found += 1;
        }
        actions = rest;
    }
    found
}

const fn contains(mut states: &[session::State], state: session::State) -> bool {
    while let [first, rest @ ..] = states {
        if *first as u8 == state as u8 {
            return true;
        }
        states = rest;
    }
    false
}

const fn has_row(state: session::State, trigger: session::Trigger) -> bool {
    let mut left = session::table::TABLE.rows;
    while let [row, rest @ ..] = left {
        if row.from as u8 == state as u8 && row.on as u8 == trigger as u8 {
            return true;
        }
        left = rest;
    }
    false
}
