//! What makes two trees the same: each agent, as it is and as a crash may leave it; what is in progress; what may still happen.

use super::super::fingerprint::{Fingerprint, Part};
use super::super::session::key as session_key;
use super::super::world::{Bounds, PLAIN, World};
use super::Growing;
use super::moves::kind;
use crate::tree::{Task, Tree};
use agent_core::agent::{Agent, Event};

pub(super) fn of(node: &Growing) -> u128 {
    let mut print = Fingerprint::new();
    let Growing { tree, left, is_apart: _ } = node;
    for (at, node) in &tree.nodes {
        place(at, &mut print);
        agent(&node.agent, &mut print);
        let (base, loose) = node.loose();
        let mut is_loose = false;
        for event in loose {
            is_loose = true;
            print.text(&named(event));
        }
        // Without deaths to come, nothing goes back to it.
        if is_loose && left.deaths > 0 {
            agent(base, &mut print);
        }
    }
    tasks(tree, &mut print);
    for (at, told) in &tree.told {
        place(at, &mut print);
        print.word(u64::from(*told));
    }
    for left in [left.agents, left.beyond, left.messages, left.cancels, left.changes, left.deaths] {
        print.word(u64::from(left));
    }
    print.finish()
}

fn place(at: &[u32], print: &mut Fingerprint) {
    print.count(at.len());
    at.iter().for_each(|number| print.word(u64::from(*number)));
}

fn agent(agent: &Agent, print: &mut Fingerprint) {
    // Policies and limits move.
    const WORLD: World = World { bounds: Bounds { changes: 1, ..PLAIN.bounds }, ..PLAIN };
    session_key::session(&WORLD, agent.session(), print);
    // By it the models here decide what they answer.
    print.count(agent.session().conversation().len());
    if let Some(lifecycle) = agent.lifecycle() {
        print.value(lifecycle, rules);
    }
    for kin in agent.kin() {
        print.value(kin.child(), rules);
        print.word(u64::from(kin.changes_files()));
    }
    print.text(&agent.kinship());
}

fn rules(of: &str, field: &str) -> Part {
    match (of, field) {
        (_, "trace" | "now_ms" | "since_ms") => Part::Out,
        _ => Part::Whole,
    }
}

/// An event that may be taken back. What it says beside its name follows from what it answers.
fn named(event: &Event) -> String {
    match event {
        Event::Child { number, event } => format!("{number} {event:?}"),
        other => other.name().to_owned(),
    }
}

/// In no order, for they may be done in any.
fn tasks(tree: &Tree, print: &mut Fingerprint) {
    let told = |task: &Task| {
        let (at, session) = (task.at(), tree.agent(task.at()).session());
        let (ticket, call) = match task {
            Task::Tool { ticket, call, .. } | Task::Approve { ticket, call, .. } => (Some(*ticket), call.as_str()),
            Task::Model { ticket, .. } | Task::Prepare { ticket, .. } | Task::Git { ticket, .. } => (Some(*ticket), ""),
            Task::Check { .. } | Task::CleanUp { .. } => (None, ""),
            Task::Make { number, .. } | Task::Clear { number, .. } => {
                print.word(u64::from(*number));
                (None, "")
            }
        };
        let is_open = ticket.is_none_or(|ticket| session.is_open(ticket));
        format!("{at:?} {} {call} {is_open}", kind(task))
    };
    let mut all: Vec<String> = tree.tasks.iter().map(told).collect();
    all.sort_unstable();
    print.count(all.len());
    all.iter().for_each(|task| print.text(task));
}
