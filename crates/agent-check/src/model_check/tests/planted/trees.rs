//! Faults of trees of agents: in what parents and children take of each other, and in the table of an agent's children.

use super::super::super::explore::{Reach, explore};
use super::super::super::trees::{GROVES, Grove, Trees};
use super::super::REACH;
use crate::invariants::{Fault, Invariant};
use agent_core::agent::{Agent, Event, Rejected, Step, Taker, between};
use agent_core::agents::AgentLimits;
use agent_core::child;
use agent_core::child::lease::Spent;
use agent_core::children::Children;
use agent_core::children::table::{ActionKind, ChildrenTable, State, TABLE, Trigger};
use agent_core::session;
use agent_core::table::Row;

planted! {
    an_agent_that_rests_above_living_ones: RestsAbove,
    an_outcome_that_is_told_twice: ToldOnce,
    a_limit_below_what_is_leased: LeasesHold,
    what_an_agent_spent_and_nobody_counts: SpentCounts,
    an_agent_more_than_is_allowed: AgentsWithinLimits,
    a_policy_that_stays_above: PoliciesHoldBelow,
    an_outcome_that_nobody_takes: TreesRest,
    a_stop_that_only_waits: StopsReachBelow,
}

type Taken = Result<Step, Rejected>;

/// The checker's verdict on trees that are changed like this.
fn found(name: &str, change: impl FnOnce(&mut Trees<'_>)) -> Fault {
    let grove = GROVES.iter().find(|grove| grove.name == name).unwrap();
    let grove = Grove { left: grove.smoke, ..*grove };
    let mut trees = Trees::new(&grove);
    // What is planted is in no event.
    trees.replay_one_in = u64::MAX;
    change(&mut trees);
    explore(&trees, Reach { max_states: 50_000, ..REACH }).violation.expect("nothing is found").fault
}

/// Where a turn ends over living children, or fails over them, the table leads elsewhere.
fn changed(on: Trigger, to: State) -> &'static ChildrenTable {
    let change =
        |row: &Row<State, Trigger, ActionKind>| if row.on == on { Row { to, actions: &[], ..*row } } else { *row };
    let rows: Vec<_> = TABLE.rows.iter().map(change).collect();
    Box::leak(Box::new(ChildrenTable { rows: rows.leak(), ..TABLE }))
}

fn an_agent_that_rests_above_living_ones() -> Fault {
    found("two-below", |trees| {
        trees.steps.step =
            |agent, at_ms, event| over(agent, at_ms, event, Trigger::TurnEndedChildrenLeft, State::Resting);
    })
}

fn a_stop_that_only_waits() -> Fault {
    found("two-below", |trees| {
        trees.steps.step =
            |agent, at_ms, event| over(agent, at_ms, event, Trigger::TurnFailedChildrenLeft, State::Gathering);
    })
}

/// An agent whose children's table has one other row.
fn over(agent: &mut Agent, at_ms: u64, event: Event, on: Trigger, to: State) -> Taken {
    if matches!(event, Event::Session(session::Event::Started)) {
        *agent = agent.clone().with_children(Children::with_table(changed(on, to)));
    }
    agent.step(at_ms, event)
}

fn an_outcome_that_is_told_twice() -> Fault {
    found("two-below-alone", |trees| {
        trees.steps.step = |agent, at_ms, event| {
            let mut step = agent.step(at_ms, event)?;
            if let Some(family) = &mut step.family {
                let told = family.children.iter().find(|(_, row)| row.to == child::State::Told).cloned();
                family.children.extend(told);
            }
            Ok(step)
        };
    })
}

fn a_limit_below_what_is_leased() -> Fault {
    found("two-below", |trees| {
        trees.steps.step = |agent, at_ms, event| {
            let step = agent.step(at_ms, event)?;
            if !agent.alive().is_empty() && agent.session().config().limits.max_model_calls != Some(1) {
                let mut config = agent.session().config().clone();
                config.limits.max_model_calls = Some(1);
                let _ = agent.step(at_ms, session::Event::Reconfigured { config: Box::new(config) }.into())?;
            }
            Ok(step)
        };
    })
}

fn what_an_agent_spent_and_nobody_counts() -> Fault {
    found("two-below", |trees| {
        trees.steps.between = |parent, number, child| {
            let mut taker = between(parent, number, child, None)?;
            if let Taker::Parent(Event::Child { event, .. }) = &mut taker
                && let child::Event::Rested { rest, .. } = &mut **event
            {
                rest.spent = Spent::default();
            }
            Some(taker)
        };
    })
}

/// The limits grow once the session has begun.
fn an_agent_more_than_is_allowed() -> Fault {
    found("one-below", |trees| {
        trees.steps.step = |agent, at_ms, event| {
            let is_root = !agent.is_child();
            let is_begin = is_root && matches!(event, Event::Session(session::Event::Started));
            let step = agent.step(at_ms, event)?;
            if is_begin {
                let mut config = agent.session().config().clone();
                let agents = config.agents.map(|limits| AgentLimits { width: 2, total: 2, ..limits });
                config.agents = agents;
                let _ = agent.step(at_ms, session::Event::Reconfigured { config: Box::new(config) }.into())?;
            }
            Ok(step)
        };
    })
}

fn a_policy_that_stays_above() -> Fault {
    found("two-below", |trees| {
        trees.steps.between = |parent, number, child| {
            between(parent, number, child, None).filter(|taker| !matches!(taker, Taker::Child(Event::HeldBelow(_))))
        };
    })
}

fn an_outcome_that_nobody_takes() -> Fault {
    found("two-below-alone", |trees| {
        trees.steps.between = |parent, number, child| {
            let is_outcome = |taker: &Taker| match taker {
                Taker::Parent(Event::Child { event, .. }) => matches!(**event, child::Event::Rested { .. }),
                _ => false,
            };
            between(parent, number, child, None).filter(|taker| !is_outcome(taker))
        };
    })
}
