//! The machine that this one grew from: an earlier design, a diagram of states and edges. Every edge of the seed is realised by the table;
//! every edge of the table that the seed lacks has a reason, and a reason that no edge needs is an error too. The seed's `[*]` is `Ended`.

use agent_core::lifecycle::State::{self, *};
use agent_core::lifecycle::Trigger::{self, *};
use agent_core::lifecycle::table::TABLE;

type Edge = (State, &'static [Trigger], State);

/// Edges that the seed lacks: from, triggers, to; an empty list is any.
struct Beyond {
    why: &'static str,
    from: &'static [State],
    on: &'static [Trigger],
    to: &'static [State],
}

/// In the words of this machine. The seed's `send(message)` and `input received` are one event here.
const SEED_002: &[Edge] = &[
    (Idle, &[InputReceived], Working),
    (Working, &[TurnEnded], Idle),
    (Working, &[WaitingSignalled], Waiting),
    (Working, &[CompletionClaimed], Verifying),
    (Waiting, &[InputReceived], Working),
    (Waiting, &[TimedOut], Reaped),
    (Verifying, &[ChecksPassed], Done),
    (Verifying, &[ChecksFailedResting], Idle),
    (Verifying, &[ChecksImpossible], Reaped),
    (Done, &[Dismissed], Ended),
    (Idle, &[TimedOut, BudgetExceeded], Reaped),
    (Working, &[TimedOut, BudgetExceeded, TurnOutOfBudget], Reaped),
    (Reaped, &[CleanupCompleted], Ended),
];

const BEYOND: &[Beyond] = &[
    Beyond { why: "a message is never refused while the agent lives", from: &[Working], on: &[InputReceived], to: &[] },
    Beyond { why: "a message makes a claim stale", from: &[Verifying], on: &[InputReceived], to: &[Working] },
    Beyond { why: "commitments may be added while the agent lives", from: &[], on: &[CommitmentAdded], to: &[] },
    Beyond { why: "how the agent works can be seen", from: &[Working], on: &[ModeChanged], to: &[Working] },
    Beyond { why: "a signal counts when its turn ends", from: &[Working], on: &[Signalled], to: &[Working] },
    Beyond { why: "work and checks can be stopped", from: &[], on: &[CancelRequested], to: &[] },
    Beyond { why: "a turn may fail or be cancelled", from: &[Working], on: &[TurnFailed], to: &[Idle] },
    Beyond {
        why: "an agent without commitments has nothing to verify",
        from: &[Working],
        on: &[CompletionClaimedUnbound],
        to: &[Done],
    },
    Beyond { why: "checks end one by one", from: &[Verifying], on: &[CheckCompletedMoreLeft], to: &[Verifying] },
    Beyond { why: "who fell short is told and goes on", from: &[Verifying], on: &[ChecksFailed], to: &[Working] },
    Beyond { why: "but not for ever", from: &[Verifying], on: &[ChecksFailedForGood], to: &[Reaped] },
    Beyond {
        why: "a budget may be spent by others while the agent waits or is verified",
        from: &[Waiting, Verifying],
        on: &[BudgetExceeded],
        to: &[],
    },
    Beyond { why: "without its session an agent is nothing", from: &[], on: &[SessionEnded], to: &[Reaped, Ended] },
    Beyond {
        why: "an agent can be dismissed whenever it is alive",
        from: &[Idle, Working, Waiting, Verifying],
        on: &[Dismissed],
        to: &[Reaped],
    },
];

fn within<T: PartialEq>(list: &[T], value: &T) -> bool {
    list.is_empty() || list.contains(value)
}

#[test]
fn every_edge_of_the_seed_is_realised() {
    for (from, on, to) in SEED_002 {
        for trigger in *on {
            assert_eq!(TABLE.row(*from, *trigger).map(|row| row.to), Some(*to), "{from:?} + {trigger:?}");
        }
    }
}

#[test]
fn every_edge_beyond_the_seed_has_a_reason() {
    let beyond: Vec<_> = TABLE
        .rows
        .iter()
        .filter(|row| !SEED_002.iter().any(|(from, on, to)| (*from, *to) == (row.from, row.to) && on.contains(&row.on)))
        .collect();
    let covers = |reason: &Beyond, row: &agent_core::table::Row<State, Trigger, _>| {
        within(reason.from, &row.from) && within(reason.on, &row.on) && within(reason.to, &row.to)
    };
    for row in &beyond {
        assert!(BEYOND.iter().any(|reason| covers(reason, row)), "nobody says why: {row:?}");
    }
    for reason in BEYOND {
        assert!(beyond.iter().any(|row| covers(reason, row)), "nothing needs {:?}", reason.why);
    }
}
