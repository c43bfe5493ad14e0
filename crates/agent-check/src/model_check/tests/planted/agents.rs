//! Faults of agents: in the join of session and lifecycle, and in the lifecycle's table.

use super::super::super::agent::{Agents, SETUPS, Setup, Steppers};
use super::super::super::explore::{Reach, explore};
use super::super::REACH;
use crate::invariants::{Fault, Invariant};
use agent_core::agent::{Agent, Event, Rejected, Step};
use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{
    self, ActionKind, CheckEnd, Lifecycle, LifecycleConfig, LifecycleTable, State, Trigger, TurnEnd,
};
use agent_core::session;
use agent_core::table::Row;

planted! {
    a_failed_check_that_counts_as_kept: ClaimsVerified,
    a_check_of_other_files_that_counts_as_kept: ClaimsVerified,
    checks_that_nobody_runs: NoDeadlock,
    a_report_that_is_not_sent: RestsTogether,
    more_rounds_than_are_allowed: RoundsBounded,
    a_turn_that_ends_before_the_session_rests: RestsTogether,
    a_message_that_the_session_swallows: CommandsTaken,
    a_report_that_the_session_swallows: CommandsTaken,
    a_stop_of_more_than_was_asked: CommandsTaken,
    work_that_resumes_unnoticed: WorkIsOverseen,
    checks_that_survive_a_stop: CancelArrives,
    a_lifecycle_that_outlives_its_session: ShutdownArrives,
    an_agent_that_cannot_be_dismissed: DismissalArrives,
    a_run_that_comes_to_what_its_turns_did: OneOutcome,
    an_outcome_while_the_agent_works: OneOutcome,
    a_refusal_that_releases_the_agent: RefusalChangesNothing,
    a_late_answer_that_counts: StaleRefused,
    a_timer_that_is_not_stopped: OutstandingAgrees,
    a_check_that_panics: NoPanic,
    a_binding_that_depends_on_what_is_in_no_event: ReplayEqual,
}

type Taken = Result<Step, Rejected>;

/// The checker's verdict on agents that are changed like this.
fn found(name: &str, change: impl FnOnce(&mut Agents<'_>)) -> Fault {
    let setup = SETUPS.iter().find(|setup| setup.name == name).unwrap();
    let setup = Setup { left: setup.smoke, ..*setup };
    let mut model = Agents::new(&setup).unwrap();
    change(&mut model);
    explore(&model, Reach { max_states: 50_000, ..REACH }).violation.expect("nothing is found").fault
}

fn found_with_step(name: &str, step: fn(&mut Agent, Event) -> Taken) -> Fault {
    found(name, |model| model.steps.step = step)
}

type LifecycleRow = Row<State, Trigger, ActionKind>;

/// What it says when one row of the lifecycle's table is another one, or missing.
fn found_with_row(name: &str, from: State, on: Trigger, change: fn(LifecycleRow) -> Option<LifecycleRow>) -> Fault {
    let is_meant = |row: &LifecycleRow| (row.from, row.on) == (from, on);
    assert!(TABLE.rows.iter().any(is_meant), "there is no such row");
    let rows = TABLE.rows.iter().filter_map(|row| if is_meant(row) { change(*row) } else { Some(*row) });
    let table: &LifecycleTable = Box::leak(Box::new(LifecycleTable { rows: rows.collect::<Vec<_>>().leak(), ..TABLE }));
    found(name, |model| {
        let config = model.first.lifecycle().unwrap().config().clone();
        let lifecycle = Lifecycle::with_table(config, table);
        model.first = Agent::with_lifecycle(model.first.session().clone(), lifecycle);
    })
}

fn true_step(agent: &mut Agent, event: Event) -> Taken {
    (Steppers::default().step)(agent, event)
}

/// The same agent with another lifecycle.
fn change_lifecycle(agent: &mut Agent, change: impl FnOnce(&mut Lifecycle)) {
    let mut lifecycle = agent.lifecycle().unwrap().clone();
    change(&mut lifecycle);
    *agent = Agent::with_lifecycle(agent.session().clone(), lifecycle);
}

const fn is_check(event: &Event) -> bool {
    matches!(event, Event::Lifecycle(lifecycle::Event::CheckCompleted { .. }))
}

const fn is_message(event: &Event) -> bool {
    matches!(event, Event::Session(session::Event::UserInput { .. }))
}

fn a_failed_check_that_counts_as_kept() -> Fault {
    found_with_step("bound-alone", |agent, mut event| {
        if let Event::Lifecycle(lifecycle::Event::CheckCompleted { report, .. }) = &mut event {
            report.end = CheckEnd::Exited { code: 0 };
        }
        true_step(agent, event)
    })
}

fn a_check_of_other_files_that_counts_as_kept() -> Fault {
    found_with_step("bound-alone", |agent, mut event| {
        if let Event::Lifecycle(lifecycle::Event::CheckCompleted { report, .. }) = &mut event {
            report.files = None;
        }
        true_step(agent, event)
    })
}

fn checks_that_nobody_runs() -> Fault {
    let silent = |row| Some(LifecycleRow { actions: &[ActionKind::StopTimer], ..row });
    found_with_row("bound-alone", State::Working, Trigger::CompletionClaimed, silent)
}

/// The turn that has ended ends a second time.
fn a_report_that_is_not_sent() -> Fault {
    let silent = |row| Some(LifecycleRow { actions: &[ActionKind::StopTimer, ActionKind::StartWorkTimer], ..row });
    found_with_row("bound-alone", State::Verifying, Trigger::ChecksFailed, silent)
}

fn more_rounds_than_are_allowed() -> Fault {
    found("bound-alone", |model| {
        let allowed = model.first.lifecycle().unwrap().config().clone();
        let config = LifecycleConfig { max_rounds: allowed.max_rounds + 1, ..allowed };
        model.first = Agent::with_lifecycle(model.first.session().clone(), Lifecycle::new(config));
    })
}

/// A second message ends the turn of the first.
fn a_turn_that_ends_before_the_session_rests() -> Fault {
    found_with_step("bound-attended", |agent, event| {
        let is_second = is_message(&event) && !agent.session().is_idle();
        let mut step = true_step(agent, event)?;
        if is_second {
            change_lifecycle(agent, |lifecycle| {
                let ended = lifecycle::Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: None };
                let ended = lifecycle.step(0, ended).unwrap();
                step.up.transitions.extend(ended.transitions);
                step.up.actions.extend(ended.actions);
            });
        }
        Ok(step)
    })
}

/// The lifecycle moves, the session does not.
fn without_session(agent: &mut Agent, event: Event) -> Taken {
    let session = agent.session().clone();
    let mut step = true_step(agent, event)?;
    *agent = Agent::with_lifecycle(session, agent.lifecycle().unwrap().clone());
    step.session = session::Step::empty();
    Ok(step)
}

fn a_message_that_the_session_swallows() -> Fault {
    found_with_step("unbound", |agent, event| match is_message(&event) {
        true => without_session(agent, event),
        false => true_step(agent, event),
    })
}

fn a_report_that_the_session_swallows() -> Fault {
    found_with_step("bound-alone", |agent, event| match is_check(&event) {
        true => without_session(agent, event),
        false => true_step(agent, event),
    })
}

/// A dismissal of what rests stops the session, too, though no command says so.
fn a_stop_of_more_than_was_asked() -> Fault {
    found_with_step("bound-attended", |agent, event| {
        let is_dismissal = matches!(event, Event::Lifecycle(lifecycle::Event::Dismissed));
        let mut step = true_step(agent, event)?;
        if is_dismissal && step.session.is_empty() {
            let mut session = agent.session().clone();
            step.session = session.step(0, session::Event::CancelRequested).unwrap();
        }
        Ok(step)
    })
}

fn work_that_resumes_unnoticed() -> Fault {
    found_with_row("prompt", State::Idle, Trigger::WorkResumed, |_| None)
}

fn checks_that_survive_a_stop() -> Fault {
    let stays = |row| Some(LifecycleRow { to: State::Verifying, actions: &[], ..row });
    found_with_row("bound-alone", State::Verifying, Trigger::CancelRequested, stays)
}

fn a_lifecycle_that_outlives_its_session() -> Fault {
    found_with_row("bound-alone", State::Working, Trigger::SessionEnded, |_| None)
}

fn an_agent_that_cannot_be_dismissed() -> Fault {
    found_with_row("unbound", State::Idle, Trigger::Dismissed, |_| None)
}

/// The lifecycle's end is not looked at.
fn a_run_that_comes_to_what_its_turns_did() -> Fault {
    found("unbound", |model| model.steps.outcome = |agent| agent.session().outcome())
}

/// As long as the lifecycle has none, that of the session counts.
fn an_outcome_while_the_agent_works() -> Fault {
    found("prompt", |model| {
        model.steps.outcome = |agent| match agent.lifecycle() {
            Some(lifecycle) if lifecycle.outcome().is_some() => agent.outcome(),
            Some(_) | None => agent.session().outcome(),
        };
    })
}

fn a_refusal_that_releases_the_agent() -> Fault {
    found_with_step("bound-alone", |agent, event| {
        true_step(agent, event).inspect_err(|_| *agent = Agent::over(agent.session().clone()))
    })
}

/// The answer of a check counts whatever its ticket.
fn a_late_answer_that_counts() -> Fault {
    found_with_step("bound-alone", |agent, mut event| {
        let open = agent.lifecycle().unwrap().outstanding().into_iter().find_map(|action| match action {
            lifecycle::Action::RunChecks { ticket, .. } => Some(ticket),
            _ => None,
        });
        if let Event::Lifecycle(lifecycle::Event::CheckCompleted { ticket, .. }) = &mut event {
            *ticket = open.unwrap_or(*ticket);
        }
        true_step(agent, event)
    })
}

fn a_timer_that_is_not_stopped() -> Fault {
    found_with_step("bound-alone", |agent, event| {
        let mut step = true_step(agent, event)?;
        step.down.actions.retain(|action| !matches!(action, lifecycle::Action::StopTimer { .. }));
        // Nothing is started in its place.
        step.down.actions.retain(|action| !matches!(action, lifecycle::Action::StartTimer { .. }));
        Ok(step)
    })
}

fn a_check_that_panics() -> Fault {
    found_with_step("bound-alone", |agent, event| match is_check(&event) {
        true => panic!("planted"),
        false => true_step(agent, event),
    })
}

fn a_binding_that_depends_on_what_is_in_no_event() -> Fault {
    use std::sync::atomic::{AtomicU32, Ordering};
    static BOUND: AtomicU32 = AtomicU32::new(0);
    found("bound-midway", |model| {
        model.replay_one_in = 1;
        model.steps.step = |agent, event| match event {
            Event::Bound(mut config) => {
                config.max_rounds = BOUND.fetch_add(1, Ordering::Relaxed) + 2;
                true_step(agent, Event::Bound(config))
            }
            event => true_step(agent, event),
        };
    })
}
