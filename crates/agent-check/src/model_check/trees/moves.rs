//! What can happen to a tree.

use super::Growing;
use crate::tree::{Place, Task, Tree, calls, rounds};
use agent_core::agent::Agent;
use agent_core::llm::LlmResponse;
use agent_core::permission::PermissionMode;
use agent_core::session::{self, SessionConfig};
use serde_json::json;

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// The model call at a place of the list is answered.
    Answer(usize, Reply),
    /// It fails for good.
    Fail(usize),
    /// Whatever else is at a place of the list is done.
    Finish(usize),
    /// The person says something, stops the root, or makes its policy stricter.
    Say,
    Cancel,
    Tighten,
    /// The program dies. Of each agent's events that are not durable, in the order of the places, so many are kept.
    Die(Vec<usize>),
}

/// What a model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Done,
    Read,
    /// An agent, and its outcome is waited for; or it works in the background.
    Spawn,
    SpawnBehind,
    /// One of each.
    SpawnBoth,
    WaitAny,
    WaitAll,
    /// To the first agent below.
    Send,
    Stop,
    /// A question to the agent above.
    Ask,
}

/// All that can happen, always in the same order.
pub(super) fn of(is_attended: bool, node: &Growing) -> Vec<Move> {
    let (tree, left) = (&node.tree, node.left);
    let mut all = Vec::new();
    for (number, task) in tree.tasks.iter().enumerate() {
        let agent = tree.agent(task.at());
        match task {
            Task::Model { at, .. } if !agent.session().is_cancel_pending() => {
                all.extend(replies(node, at).into_iter().map(|reply| Move::Answer(number, reply)));
                all.extend((!at.is_empty()).then_some(Move::Fail(number)));
            }
            _ => all.push(Move::Finish(number)),
        }
    }
    let root = tree.agent(&[]);
    let rests = root.is_idle() || root.has_ended() || root.is_over();
    all.extend((left.messages > 0 && (is_attended || !rests)).then_some(Move::Say));
    all.extend((left.cancels > 0 && !rests).then_some(Move::Cancel));
    all.extend((left.changes > 0 && !rests).then_some(Move::Tighten));
    if left.deaths > 0 {
        let loose = tree.nodes.values().map(|node| node.loose().1.count());
        all.extend(kept(&loose.collect::<Vec<_>>()).into_iter().map(Move::Die));
    }
    all
}

/// Every way to keep some of what is not durable.
fn kept(loose: &[usize]) -> Vec<Vec<usize>> {
    loose.iter().fold(vec![Vec::new()], |all, most| {
        let longer = |kept: &Vec<usize>| (0..=*most).map(|more| [&kept[..], &[more]].concat()).collect::<Vec<_>>();
        all.iter().flat_map(longer).collect()
    })
}

fn replies(node: &Growing, at: &Place) -> Vec<Reply> {
    let (tree, left) = (&node.tree, node.left);
    let agent = tree.agent(at);
    let most = if at.is_empty() { left.rounds } else { left.rounds_below };
    if rounds(agent) >= usize::from(most) {
        return vec![Reply::Done];
    }
    let mut all = vec![Reply::Done, Reply::Read];
    let (room, has_kin) = (usize::from(left.agents + left.beyond), agent.kin().next().is_some());
    if at.len() < usize::from(left.depth) {
        all.extend((room > 0).then_some([Reply::Spawn, Reply::SpawnBehind]).into_iter().flatten());
        all.extend((room > 1).then_some(Reply::SpawnBoth));
    }
    if has_kin {
        all.extend([Reply::WaitAny, Reply::WaitAll, Reply::Send, Reply::Stop]);
    }
    all.extend((!at.is_empty()).then_some(Reply::Ask));
    all
}

/// It happens.
pub(super) fn play(node: &mut Growing, choice: &Move) {
    let (tree, left) = (&mut node.tree, &mut node.left);
    match choice {
        Move::Answer(number, reply) => {
            let asked: u8 = match reply {
                Reply::Spawn | Reply::SpawnBehind => 1,
                Reply::SpawnBoth => 2,
                _ => 0,
            };
            left.beyond -= asked.saturating_sub(left.agents);
            left.agents = left.agents.saturating_sub(asked);
            let (is_apart, depth) = (node.is_apart, usize::from(left.depth));
            tree.finish(*number, |agent, at| answer(*reply, is_apart, depth, agent, at));
        }
        Move::Fail(number) => tree.fail(*number),
        Move::Finish(number) => tree.finish(*number, |_, _| LlmResponse::text("done")),
        Move::Say => {
            left.messages -= 1;
            tree.say("and this");
        }
        Move::Cancel => {
            left.cancels -= 1;
            tree.tell(&[], session::Event::CancelRequested.into());
        }
        Move::Tighten => {
            left.changes -= 1;
            tighten(tree);
        }
        Move::Die(kept) => {
            left.deaths -= 1;
            let mut kept = kept.iter();
            tree.crash(|_| kept.next().copied().unwrap_or_default());
        }
    }
}

fn tighten(tree: &mut Tree) {
    let mut config: SessionConfig = tree.agent(&[]).session().config().clone();
    config.permissions.mode = PermissionMode::Plan;
    tree.tell(&[], session::Event::Reconfigured { config: Box::new(config) }.into());
}

fn answer(reply: Reply, is_apart: bool, depth: usize, agent: &Agent, at: &Place) -> LlmResponse {
    let id = format!("{at:?}-{}", rounds(agent));
    let kin = agent.kin().count();
    let spawn = |number: usize, behind: bool| {
        // One that may begin another is given so many, and no more: what it holds, its siblings do not have.
        let calls = if at.is_empty() { 3 } else { 1 };
        let budget = json!({"model_calls": calls, "agents": u8::from(at.len() + 1 < depth)});
        let workspace = if is_apart { "worktree" } else { "read_only" };
        let name = format!("n{}", kin + number);
        let arguments =
            json!({"name": name, "task": "t", "background": behind, "budget": budget, "workspace": workspace});
        ("spawn_agent", arguments)
    };
    let called = match reply {
        Reply::Done => return LlmResponse::text("done"),
        Reply::Read => vec![("read", json!({}))],
        Reply::Spawn => vec![spawn(1, false)],
        Reply::SpawnBehind => vec![spawn(1, true)],
        Reply::SpawnBoth => vec![spawn(1, false), spawn(2, true)],
        Reply::WaitAny => vec![("wait_agent", json!({"until": "any"}))],
        Reply::WaitAll => vec![("wait_agent", json!({"until": "all"}))],
        Reply::Send => vec![("send_agent", json!({"name": "n1", "message": "m"}))],
        Reply::Stop => vec![("stop_agent", json!({"name": "n1"}))],
        Reply::Ask => vec![("signal", json!({"status": "waiting", "summary": "which?"}))],
    };
    calls(&called, &id)
}

/// What happens, in a line.
pub(super) fn shown(node: &Growing, choice: &Move) -> String {
    let task = |number: &usize| format!("{:?} of {:?}", kind(&node.tree.tasks[*number]), node.tree.tasks[*number].at());
    match choice {
        Move::Answer(number, reply) => format!("{reply:?} answers {}", task(number)),
        Move::Fail(number) => format!("failed: {}", task(number)),
        Move::Finish(number) => format!("done: {}", task(number)),
        other => format!("{other:?}"),
    }
}

/// What a task is, without its ticket.
pub(super) const fn kind(task: &Task) -> &'static str {
    match task {
        Task::Model { .. } => "model call",
        Task::Prepare { .. } => "finding out",
        Task::Tool { .. } => "tool call",
        Task::Approve { .. } => "question",
        Task::Git { .. } => "look for changes",
        Task::Check { .. } => "checks",
        Task::CleanUp { .. } => "clean-up",
        Task::Make { .. } => "making of a workspace",
        Task::Clear { .. } => "look through a workspace",
    }
}
