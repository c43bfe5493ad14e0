//! Seed 004.

use crate::seed::Held::{By, Otherwise};
use crate::seed::{Beyond, Edge, Said, Seed, Shown};
use agent_core::job::State::{self, *};
use agent_core::job::Trigger::{self, *};

pub(crate) const SEED_004: Seed<State, Trigger> = Seed {
    number: "004",
    title: "the lifecycle of a job",
    about: "A job runner's four states, nine rules, retry delays, and the fields of a job and of its audit record.",
    states: &[
        ("Init", &[Init]),
        ("DefineAgent", &[DefineAgent]),
        ("Process", &[Process]),
        ("End", &[End]),
        ("Complete(Success)", &[Completed]),
        ("Complete(Failure)", &[Failed]),
    ],
    own: &[Pending],
    collapsed: "Collapsed are `RetryWait`, which the seed draws as a box and does not list, and `Recording`, in which the record of a failed \
                job is written.",
    begins: "Pending",
    ends: &["Complete(Success)", "Complete(Failure)"],
    words: &[],
    edges: EDGES,
    beyond: &[BEYOND],
    said: SAID,
};

#[rustfmt::skip]
const EDGES: &[Edge<Trigger>] = &[
    Edge { from: "Init", label: "Success", on: &[ValidationPassed], to: "DefineAgent", shown: Shown::By("start; valid m") },
    Edge { from: "Init", label: "Failure", on: &[ValidationFailed], to: "Complete(Failure)", shown: Shown::By("start; invalid; written") },
    Edge { from: "DefineAgent", label: "Success", on: &[AgentDefined], to: "Process", shown: Shown::By("start; valid m; as-suggested") },
    Edge { from: "DefineAgent", label: "Failure", on: &[RoutingFailed], to: "Complete(Failure)", shown: Shown::By("start; valid m; not-routed; written") },
    Edge { from: "Process", label: "Success", on: &[AttemptSucceeded], to: "End", shown: Shown::By("start; valid m; as-suggested; done") },
    Edge { from: "Process", label: "Failure (retries left)", on: &[AttemptFailedRetryable], to: "Process", shown: Shown::By("start; valid m; as-suggested; wrong; timer") },
    Edge { from: "Process", label: "Failure (retries exhausted)", on: &[AttemptFailedForGood], to: "Complete(Failure)", shown: Shown::By("config retries=0; start; valid m; as-suggested; wrong; written") },
    Edge { from: "End", label: "Success", on: &[RecordWritten], to: "Complete(Success)", shown: Shown::By("start; valid m; as-suggested; done; written") },
    Edge { from: "End", label: "Failure", on: &[RecordNotWritten], to: "Complete(Failure)", shown: Shown::By("start; valid m; as-suggested; done; not-written") },
];

const BEYOND: &[Beyond<Trigger>] = &[
    why("the seed's status `Pending` is a state: a job can be made before it is started", &[Started]),
    Beyond {
        why: "a job that is never started leaves a record too",
        from: &["Pending"],
        on: &[CancelRequested],
        to: &["Complete(Failure)"],
    },
    Beyond {
        why: "the seed cannot be stopped; here a stop waits for the answer of what is in flight, because that says what it cost",
        from: &["Init", "DefineAgent", "Process", "End"],
        on: &[CancelRequested],
        to: &["Init", "DefineAgent", "Process", "End"],
    },
    why("a job that was stopped ends, with a record", &[WorkStopped]),
    Beyond {
        why: "a stop during the wait before a retry: the wait is collapsed, so it shows as an edge of the failure that began it",
        from: &["Process"],
        on: &[AttemptFailedRetryable],
        to: &["Complete(Failure)"],
    },
];

const fn why(why: &'static str, on: &'static [Trigger]) -> Beyond<Trigger> {
    Beyond { why, from: &[], on, to: &[] }
}

const SAID: &[Said] = &[
    Said {
        section: "States",
        what: "Init validates, DefineAgent routes the skill and selects the model, Process runs, End makes the record",
        held: By(&["each_state_asks_for_what_the_seed_says_it_does"]),
    },
    Said {
        section: "States",
        what: "Process is one call of a model",
        held: Otherwise(
            "it is a whole run of an agent, with tools; its session's own retries are off",
            &["each_state_asks_for_what_the_seed_says_it_does"],
        ),
    },
    Said {
        section: "Flow diagram",
        what: "a retry sleeps, then goes back to Process",
        held: Otherwise(
            "the sleep is a state, `RetryWait`: nothing sleeps in the machine, and the wait can be stopped",
            &["process_failure_with_retries_left_is_retried_whatever_its_kind", "a_cancel_at_any_time_leaves_a_record"],
        ),
    },
    Said {
        section: "Transitions",
        what: "a transition is the next state, a retry with its reason, or completion with an outcome",
        held: Otherwise(
            "a step says from, trigger and to, and asks for what follows: a retry with its delay and reason, a record with its status",
            &["a_retry_says_why", "end_success_completes_with_success_and_end_failure_with_failure"],
        ),
    },
    Said {
        section: "Transitions",
        what: "the one function records the state, judges the outcome, changes the job, and returns the transition",
        held: By(&["a_step_records_judges_changes_and_returns"]),
    },
    Said {
        section: "Transition rules",
        what: "Init: success leads to DefineAgent; failure completes, without retries for validation",
        held: By(&[
            "init_success_leads_to_define_agent",
            "init_failure_completes_with_failure_no_retries_for_validation",
        ]),
    },
    Said {
        section: "Transition rules",
        what: "DefineAgent: success leads to Process; failure completes, without retries for routing",
        held: By(&[
            "define_agent_success_leads_to_process",
            "define_agent_failure_completes_with_failure_no_retries_for_routing",
        ]),
    },
    Said {
        section: "Transition rules",
        what: "Process: success leads to End; a failure is retried while retries are left, then completes with failure",
        held: By(&[
            "process_success_leads_to_end",
            "process_failure_with_retries_left_is_retried_whatever_its_kind",
            "process_failure_with_retries_exhausted_completes_with_failure",
        ]),
    },
    Said {
        section: "Transition rules",
        what: "End: success completes with success, failure with failure",
        held: By(&["end_success_completes_with_success_and_end_failure_with_failure"]),
    },
    Said {
        section: "Job structure",
        what: "a job has these fields: id, description, status, state, history, retries and their configuration, agent, response, times",
        held: By(&["a_job_has_the_fields_of_the_seed"]),
    },
    Said {
        section: "Job structure",
        what: "the id is a UUID",
        held: Otherwise(
            "it is what the host gives: the machine draws no random numbers",
            &["a_job_has_the_fields_of_the_seed"],
        ),
    },
    Said {
        section: "Job structure",
        what: "the status is pending, in progress, completed or failed",
        held: Otherwise(
            "there is a fifth, cancelled: a job that was stopped did not fail",
            &["the_status_goes_with_the_state", "a_cancel_at_any_time_leaves_a_record"],
        ),
    },
    Said {
        section: "Job structure",
        what: "the history is the trail of the states that were visited",
        held: Otherwise(
            "the wait before a retry, which the seed sleeps through, stands in the trail as a state",
            &["the_state_history_is_the_trail_of_visited_states"],
        ),
    },
    Said {
        section: "Job structure",
        what: "the agent is assigned in DefineAgent, the response comes from Process",
        held: By(&["the_agent_is_assigned_in_define_agent_and_the_response_comes_from_process"]),
    },
    Said {
        section: "Job structure",
        what: "created and updated are kept as dates",
        held: Otherwise(
            "as milliseconds since the Unix epoch, which the host tells: the machine has no clock. The record writes them as dates",
            &["a_job_has_the_fields_of_the_seed", "the_record_has_the_fields_that_programs_know"],
        ),
    },
    Said {
        section: "Failure kinds",
        what: "wrong output is a failure of business; a time-out, a rate limit or the network one of the system; both are retried while processing",
        held: By(&[
            "every_outcome_of_a_session_is_a_verdict",
            "process_failure_with_retries_left_is_retried_whatever_its_kind",
        ]),
    },
    Said {
        section: "Failure kinds",
        what: "every failure while processing is retried",
        held: Otherwise(
            "but for those that repetition cannot cure: a refused key, a budget that all attempts share",
            &["what_repetition_cannot_cure_is_not_repeated"],
        ),
    },
    Said {
        section: "Failure kinds",
        what: "the count of retries is not reset between states",
        held: By(&["the_retry_count_is_not_reset_between_states"]),
    },
    Said {
        section: "Retry configuration",
        what: "3 retries and a base of 1000 ms by default",
        held: By(&["retries_default_to_three_after_a_second"]),
    },
    Said {
        section: "Retry configuration",
        what: "the delay is the base times two to the attempt less one: 1, 2, 4, 8 s",
        held: By(&["the_delay_is_the_base_times_two_to_the_attempt_less_one", "delays_saturate"]),
    },
    Said {
        section: "Job outcomes",
        what: "an outcome is success, or failure with its kind",
        held: By(&["the_audit_record_has_what_happened", "a_failure_is_written_with_its_kind"]),
    },
    Said {
        section: "Model tiers",
        what: "three tiers, from fast and cheap to the most capable",
        held: By(&["three_tiers_from_cheap_to_capable"]),
    },
    Said {
        section: "Model tiers",
        what: "a job costs about 0.001, 0.005 or 0.05 dollars by its tier",
        held: Otherwise(
            "nothing is assumed: the cost is what the tokens of all attempts cost at the price of the model used, and unknown without one",
            &["the_audit_record_has_what_happened", "a_cost_that_is_not_known_is_not_told"],
        ),
    },
    Said {
        section: "Audit record",
        what: "every completed job leaves a record",
        held: Otherwise(
            "every finished one does: failed, cancelled and never started ones too",
            &["job/properties::invariants_hold_after_every_event", "a_cancel_at_any_time_leaves_a_record"],
        ),
    },
    Said {
        section: "Audit record",
        what: "the record has these fields: job, description, status, transitions, agent, retries, cost, response, times, duration",
        held: By(&["the_record_has_the_fields_that_programs_know", "the_audit_record_has_every_field_of_the_seed"]),
    },
];
