//! Seed 002.

use crate::seed::Held::{By, Otherwise};
use crate::seed::{Beyond, Edge, Said, Seed, Shown};
use agent_core::lifecycle::State::{self, *};
use agent_core::lifecycle::Trigger::{self, *};

pub(crate) const SEED_002: Seed<State, Trigger> = Seed {
    number: "002",
    title: "explicit state machines for an orchestrator of agents",
    about: "A proposal to turn the scattered handling of an agent's life into explicit machines with guards, effects, entry and exit actions. \
            It draws one of them, the life of an agent from its spawn to its cleanup.",
    states: &[
        ("[*]", &[Ended]),
        ("Idle", &[Idle]),
        ("Working", &[Working]),
        ("Waiting", &[Waiting]),
        ("Verifying", &[Verifying]),
        ("Done", &[Done]),
        ("Reaped", &[Reaped]),
    ],
    own: &[],
    collapsed: "Nothing is collapsed; the seed's final mark is our `Ended`.",
    begins: "Idle",
    ends: &["[*]"],
    words: &[],
    edges: EDGES,
    beyond: &[BEYOND],
    said: SAID,
};

#[rustfmt::skip]
const EDGES: &[Edge<Trigger>] = &[
    Edge { from: "[*]", label: "spawn", on: &[], to: "Idle", shown: Shown::Begins },
    Edge { from: "Idle", label: "send(message)", on: &[InputReceived], to: "Working", shown: Shown::By("input do it") },
    Edge { from: "Working", label: "response / no signal", on: &[TurnEnded], to: "Idle", shown: Shown::By("config signalled; input do it; turn completed") },
    Edge { from: "Working", label: "response / WAITING signal", on: &[WaitingSignalled], to: "Waiting", shown: Shown::By("input do it; waiting; turn completed") },
    Edge { from: "Working", label: "response / DONE signal + has commitments", on: &[CompletionClaimed], to: "Verifying", shown: Shown::By("input do it; done; turn completed") },
    Edge { from: "Waiting", label: "input received", on: &[InputReceived], to: "Working", shown: Shown::By("input do it; waiting; turn completed; input do it") },
    Edge { from: "Waiting", label: "timeout / fish-or-cut-bait", on: &[TimedOut], to: "Reaped", shown: Shown::By("input do it; waiting; turn completed; timeout") },
    Edge { from: "Verifying", label: "all passed", on: &[ChecksPassed], to: "Done", shown: Shown::By("input do it; done; turn completed; check 1 kept") },
    Edge { from: "Verifying", label: "any failed", on: &[ChecksFailedResting], to: "Idle", shown: Shown::By("config resting; input do it; done; turn completed; check 1 exit 1") },
    Edge { from: "Verifying", label: "verification error", on: &[ChecksImpossible], to: "Reaped", shown: Shown::By("input do it; done; turn completed; check 1 not found") },
    Edge { from: "Done", label: "dismiss", on: &[Dismissed], to: "[*]", shown: Shown::By("input do it; done; turn completed; check 1 kept; dismiss") },
    Edge { from: "Idle", label: "timeout", on: &[TimedOut], to: "Reaped", shown: Shown::By("input do it; turn failed; timeout") },
    Edge { from: "Idle", label: "budget exceeded", on: &[BudgetExceeded], to: "Reaped", shown: Shown::By("budget") },
    Edge { from: "Working", label: "timeout", on: &[TimedOut], to: "Reaped", shown: Shown::By("input do it; timeout") },
    Edge { from: "Working", label: "budget exceeded", on: &[BudgetExceeded], to: "Reaped", shown: Shown::By("input do it; budget") },
    Edge { from: "Working", label: "budget exceeded", on: &[TurnOutOfBudget], to: "Reaped", shown: Shown::By("input do it; turn out-of-budget") },
    Edge { from: "Reaped", label: "cleanup complete", on: &[CleanupCompleted], to: "[*]", shown: Shown::By("input do it; budget; cleaned-up") },
];

const BEYOND: &[Beyond<Trigger>] = &[
    Beyond {
        why: "a message is never refused while the agent lives",
        from: &["Working"],
        on: &[InputReceived],
        to: &[],
    },
    Beyond { why: "a message makes a claim stale", from: &["Verifying"], on: &[InputReceived], to: &["Working"] },
    why("a limit that had stopped the work may be raised, which resumes it without a message", &[WorkResumed]),
    why("commitments may be added while the agent lives", &[CommitmentAdded]),
    why("how the agent works can be seen, and changes nothing else", &[ModeChanged]),
    why("a signal counts when its turn ends, not before", &[Signalled]),
    why("work and checks can be stopped; the agent is not given up for it", &[CancelRequested]),
    why("a turn may fail or be cancelled, which claims nothing", &[TurnFailed]),
    why("an agent without commitments has nothing to verify", &[CompletionClaimedUnbound]),
    why("checks end one by one", &[CheckCompletedMoreLeft]),
    why("what was found of other files says nothing, so it is found out again", &[ChecksStale]),
    why("who fell short is told what is missing and goes on, where nobody else decides", &[ChecksFailed]),
    why("but not for ever", &[ChecksFailedForGood]),
    Beyond {
        why: "a budget may be spent by others while the agent waits or is verified",
        from: &["Waiting", "Verifying"],
        on: &[BudgetExceeded],
        to: &["Reaped"],
    },
    why("without its session an agent is nothing", &[SessionEnded]),
    Beyond {
        why: "an agent can be dismissed at any time, and what it started is cleaned up",
        from: &["Idle", "Working", "Waiting", "Verifying"],
        on: &[Dismissed],
        to: &["Reaped"],
    },
];

const fn why(why: &'static str, on: &'static [Trigger]) -> Beyond<Trigger> {
    Beyond { why, from: &[], on, to: &[] }
}

const SAID: &[Said] = &[
    Said {
        section: "One-line summary",
        what: "transitions are validated when the program is compiled, and can be observed when it runs",
        held: By(&["seed_002_is_realised_and_what_it_lacks_is_explained", "every_transition_of_an_agent_is_told"]),
    },
    Said {
        section: "Core concept",
        what: "every stateful entity is a machine: agents, commitments, sessions, coordination",
        held: Otherwise(
            "agents, sessions and jobs are; a commitment is data of its agent, for it has no life of its own: it is checked anew at every claim. \
             Coordination of several agents is not built yet",
            &["what_was_kept_once_is_checked_again"],
        ),
    },
    Said {
        section: "Core concept",
        what: "an agent waits for input, or for being woken",
        held: Otherwise(
            "both are `Waiting`, which a message ends; the time it may take is its timer",
            &["a_wait_ends_with_a_message_or_with_its_time"],
        ),
    },
    Said {
        section: "Core concept",
        what: "task modes: execute, delegate, plan, break up, unify",
        held: By(&["the_five_task_modes_are_seen_while_working_and_decide_nothing"]),
    },
    Said {
        section: "Core concept",
        what: "guards are explicit: a transition happens only if its condition holds",
        held: By(&[
            "guard_of_a_claim_is_that_there_are_commitments",
            "guard_of_done_is_that_every_check_passed",
            "every_event_in_every_state",
        ]),
    },
    Said {
        section: "Core concept",
        what: "effects are explicit: what a transition sets off is part of it",
        held: By(&["effects_are_the_actions_of_the_row"]),
    },
    Said {
        section: "Core concept",
        what: "states have entry and exit actions",
        held: Otherwise(
            "they are actions of the rows that enter and leave: there is one place to look, and a test that no such row lacks them",
            &["entry_and_exit_actions_stand_on_every_row_that_enters_or_leaves"],
        ),
    },
    Said {
        section: "Core concept",
        what: "invalid transitions are errors of compilation rather than of the run",
        held: Otherwise(
            "a table with an impossible row does not compile; an event that comes at the wrong time cannot be known then, and is a typed refusal",
            &["an_event_at_the_wrong_time_is_refused_and_changes_nothing"],
        ),
    },
    Said {
        section: "Core concept",
        what: "there is a single source of truth for what can happen when",
        held: By(&["every_event_in_every_state", "the_documents_of_the_tables_are_up_to_date"]),
    },
    Said {
        section: "Key components",
        what: "done needs commitments that were verified",
        held: Otherwise(
            "so it is for every agent that has commitments; one that has none is believed",
            &["without_commitments_a_claim_is_believed"],
        ),
    },
    Said {
        section: "Key components",
        what: "if any check fails the agent is idle again",
        held: Otherwise(
            "where somebody decides how to go on; where nobody does it is told what is missing and works on, at most three rounds",
            &["three_reports_then_it_is_over", "seed_002_is_realised_and_what_it_lacks_is_explained"],
        ),
    },
    Said {
        section: "Key components",
        what: "an agent that is idle for too long is reaped",
        held: Otherwise(
            "but for one that was never sent anything: making an agent starts no timer, its first time of rest does",
            &["every_event_in_every_state", "seed_002_is_realised_and_what_it_lacks_is_explained"],
        ),
    },
    Said {
        section: "Pros",
        what: "it is impossible to be working and done at once",
        held: By(&["an_agent_is_in_one_state_and_works_only_in_working"]),
    },
    Said {
        section: "Pros",
        what: "every transition is an event for metrics, logs and displays",
        held: By(&["every_transition_of_an_agent_is_told"]),
    },
    Said {
        section: "Pros",
        what: "machines are pure functions of state and event",
        held: By(&["same_state_and_event_give_same_state_and_effects"]),
    },
    Said {
        section: "Pros",
        what: "the log of events can be replayed to any point, to rewind or branch",
        held: By(&["a_replay_to_any_point_is_the_agent_at_that_point"]),
    },
    Said {
        section: "When to choose",
        what: "many agents run their own machine, isolated from each other",
        held: By(&["two_agents_know_nothing_of_each_other"]),
    },
    Said {
        section: "Cons",
        what: "parents and children have to be coordinated; states may be hierarchical",
        held: Otherwise(
            "children are coordinated by two machines and by what both journals say; no machine here is hierarchical",
            &[],
        ),
    },
];
