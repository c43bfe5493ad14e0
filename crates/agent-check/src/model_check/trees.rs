//! Trees of agents as a model: a root, the agents below it and what they have to take of each other, all through the real `Agent::step`,
//! with models that may ask for anything, a person who stops and says things, and programs that die at any record.
//!
//! What a driver does is [`Tree`]'s: nothing is on its way between two agents, so an event of one agent and all that follows from it in
//! the others is one edge.

mod key;
mod moves;

use super::explore::Model;
use crate::invariants::{Fault, Invariant, Tally, hold};
use crate::tree::{Steppers, Task, Tree, config};
use agent_core::agent::Agent;
use agent_core::budget::Limits;
use agent_core::lifecycle::LifecycleConfig;
use agent_core::llm::LlmResponse;
use agent_core::permission::PermissionMode;
use agent_core::session;
use moves::Move;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A tree, and the bounds within which it is explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grove {
    pub(crate) name: &'static str,
    /// Whether a person is there; without one, the root ends when it is done.
    pub(crate) is_attended: bool,
    /// Whether each agent below has a workspace of its own.
    pub(crate) is_apart: bool,
    pub(crate) left: Left,
    /// The bounds of the smoke run.
    pub(crate) smoke: Left,
}

/// How often may still happen what could continue forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// Agents below the root, at any depth.
    pub(crate) agents: u8,
    /// Agents that are asked for beyond them, which are refused.
    pub(crate) beyond: u8,
    /// How deep they may stand.
    pub(crate) depth: u8,
    /// Answers with calls of the root, and of each agent below.
    pub(crate) rounds: u8,
    pub(crate) rounds_below: u8,
    /// Messages of the person after the first.
    pub(crate) messages: u8,
    pub(crate) cancels: u8,
    /// Policies that become stricter.
    pub(crate) changes: u8,
    /// Programs that die.
    pub(crate) deaths: u8,
}

const FEW: Left =
    Left { agents: 1, beyond: 0, depth: 1, rounds: 2, rounds_below: 1, messages: 0, cancels: 1, changes: 0, deaths: 1 };

/// The trees.
pub(crate) const GROVES: &[Grove] = &[
    // A person, who talks, stops, and makes the policy stricter.
    Grove {
        name: "two-below",
        is_attended: true,
        is_apart: false,
        left: Left { agents: 2, messages: 1, changes: 1, deaths: 0, ..FEW },
        smoke: Left { agents: 2, changes: 1, deaths: 0, ..FEW },
    },
    // Programs that die, also while they resume.
    Grove {
        name: "two-below-alone",
        is_attended: false,
        is_apart: false,
        left: Left { agents: 2, ..FEW },
        smoke: Left { agents: 2, cancels: 0, ..FEW },
    },
    Grove {
        name: "one-below",
        is_attended: true,
        is_apart: false,
        left: Left { beyond: 1, messages: 1, changes: 1, ..FEW },
        smoke: Left { beyond: 1, ..FEW },
    },
    Grove {
        name: "one-below-another",
        is_attended: false,
        is_apart: false,
        left: Left { agents: 2, depth: 2, ..FEW },
        smoke: Left { agents: 2, depth: 2, cancels: 0, ..FEW },
    },
    // In a workspace of its own, which is made and cleared.
    Grove {
        name: "one-below-apart",
        is_attended: false,
        is_apart: true,
        left: Left { rounds: 3, rounds_below: 2, deaths: 2, ..FEW },
        smoke: FEW,
    },
];

/// A tree, and what may still happen.
#[derive(Clone, Debug)]
pub(crate) struct Growing {
    pub(super) tree: Tree,
    pub(super) left: Left,
    pub(super) is_apart: bool,
}

/// Trees that grow from a root.
pub(crate) struct Trees<'a> {
    grove: &'a Grove,
    pub(super) steps: Steppers,
    /// One state in so many is rebuilt from its events.
    pub(super) replay_one_in: u64,
}

impl<'a> Trees<'a> {
    pub(crate) fn new(grove: &'a Grove) -> Self {
        Self { grove, steps: Steppers::default(), replay_one_in: REPLAY_ONE_IN }
    }

    /// Whatever is in progress ends, and no model asks for more.
    fn rest(tree: &mut Tree) {
        tree.run(|_, _| LlmResponse::text("done"));
    }

    /// From here, answers without calls bring all to rest. A person stops an agent that waits for an answer.
    fn judge_rest(&self, node: &Growing) -> Result<(), Fault> {
        let mut tree = node.tree.clone();
        Self::rest(&mut tree);
        tree.judge()?;
        if self.grove.is_attended && !tree.agent(&[]).is_idle() {
            tree.tell(&[], session::Event::CancelRequested.into());
            Self::rest(&mut tree);
        }
        let rests = |agent: &Agent| agent.is_idle() || agent.has_ended();
        let is_left = tree.nodes.iter().any(|(at, node)| {
            let agent = &node.agent;
            !at.is_empty() && agent.has_task() && !agent.is_dismissed()
        });
        hold(Invariant::TreesRest, rests(tree.agent(&[])) && !is_left, || tree.shown())
    }

    /// From here, a stop ends all below, and nothing there asks a model for anything more.
    fn judge_stop(node: &Growing) -> Result<(), Fault> {
        let root = node.tree.agent(&[]);
        if root.is_idle() || root.has_ended() || root.is_over() {
            return Ok(());
        }
        let mut tree = node.tree.clone();
        tree.tell(&[], session::Event::CancelRequested.into());
        let calls = |tree: &Tree| {
            let is_below = |task: &&Task| matches!(task, Task::Model { at, .. } if !at.is_empty());
            tree.tasks.iter().filter(is_below).count()
        };
        for _ in 0..MOST_ANSWERS {
            if tree.tasks.is_empty() {
                break;
            }
            // While what the root itself had begun is being stopped, those below work on.
            let is_passed_on = !tree.agent(&[]).session().is_cancel_pending();
            let before = calls(&tree);
            tree.finish(0, |_, _| LlmResponse::text("done"));
            let is_quiet = !is_passed_on || calls(&tree) <= before;
            hold(Invariant::StopsReachBelow, is_quiet, || format!("a model is called\n{}", tree.shown()))?;
        }
        let is_stopped = tree.agent(&[]).alive().is_empty() && tree.tasks.is_empty();
        hold(Invariant::StopsReachBelow, is_stopped, || tree.shown())
    }
}

impl Model for Trees<'_> {
    type Node = Growing;
    type Choice = Move;

    fn initial(&self) -> Growing {
        let Left { agents, depth, .. } = self.grove.left;
        let mut config = config();
        if let Some(limits) = &mut config.agents {
            (limits.depth, limits.width, limits.total) = (u32::from(depth), u32::from(agents), u32::from(agents));
        }
        config.limits = Limits { max_model_calls: Some(MOST_CALLS), ..config.limits };
        // A worktree is a change: here nobody has to be asked about it.
        if self.grove.is_apart {
            config.permissions.mode = PermissionMode::Bypass;
        }
        let bound = LifecycleConfig::headless(Vec::new());
        let mut tree = Tree::stepping(config, (!self.grove.is_attended).then_some(bound), self.steps);
        // Time stands still: nothing here is decided by it.
        tree.down_ms = 0;
        tree.say("go");
        Growing { tree, left: self.grove.left, is_apart: self.grove.is_apart }
    }

    fn choices(&self, node: &Growing) -> Vec<Move> {
        moves::of(self.grove.is_attended, node)
    }

    fn take(&self, node: &Growing, choice: &Move, _: &mut Tally) -> Result<Option<Growing>, Fault> {
        let mut next = node.clone();
        guarded(|| moves::play(&mut next, choice))?;
        for node in next.tree.nodes.values_mut() {
            node.agent.forget_traces();
        }
        Ok(Some(next))
    }

    fn inspect(&self, node: &Growing, _: &dyn Fn() -> Vec<Move>, tally: &mut Tally) -> Result<(), Fault> {
        node.tree.judge()?;
        guarded(|| self.judge_rest(node))??;
        guarded(|| Self::judge_stop(node))??;
        if (self.key(node) as u64).is_multiple_of(self.replay_one_in) {
            tally.replays += 1;
            node.tree.judge_replay()?;
        }
        Ok(())
    }

    fn key(&self, node: &Growing) -> u128 {
        key::of(node)
    }

    fn show(&self, node: &Growing, choice: &Move) -> String {
        let mut next = node.clone();
        let played = guarded(|| moves::play(&mut next, choice)).map_or("a panic\n", |()| "");
        format!("{}\n{played}{}", moves::shown(node, choice), next.tree.shown())
    }
}

/// What may panic, which is a fault.
fn guarded<T>(play: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(play)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        Fault::new(Invariant::NoPanic, said.unwrap_or_else(|| String::from("a driver cannot go on")))
    })
}

/// Model calls of the whole tree, so that leases are felt.
const MOST_CALLS: u64 = 12;
/// Answers after which a stop is complete in any tree here.
const MOST_ANSWERS: usize = 64;
/// One state in so many is rebuilt from its events.
const REPLAY_ONE_IN: u64 = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::child::State;
    use std::collections::{BTreeSet, VecDeque};

    /// In the smoke run of each, all agents live at a time, the deepest one stands as deep as it may, and they stand in every state.
    /// Nothing is proved of trees that do not grow.
    #[test]
    fn every_tree_grows_to_its_bounds() {
        for grove in GROVES.iter().map(|grove| Grove { left: grove.smoke, ..*grove }) {
            let trees = Trees::new(&grove);
            let (mut known, mut open) = (BTreeSet::new(), VecDeque::from([trees.initial()]));
            let (mut most, mut deepest, mut missing) = (0, 0, stood_in(&grove));
            let is_grown = |most: usize, deepest: usize| {
                most == usize::from(grove.left.agents) && deepest == usize::from(grove.left.depth)
            };
            while let Some(node) = open.pop_front().filter(|_| !(missing.is_empty() && is_grown(most, deepest))) {
                most = most.max(node.tree.nodes.values().map(|node| node.agent.alive().len()).sum());
                deepest = deepest.max(node.tree.nodes.keys().map(Vec::len).max().unwrap_or_default());
                for kin in node.tree.nodes.values().flat_map(|node| node.agent.kin()) {
                    missing.remove(&kin.child().state());
                }
                for choice in trees.choices(&node) {
                    let next = trees.take(&node, &choice, &mut Tally::default()).unwrap().unwrap();
                    if known.insert(trees.key(&next)) {
                        open.push_back(next);
                    }
                }
            }
            let found = (most, deepest, missing.is_empty());
            assert!(is_grown(most, deepest) && missing.is_empty(), "{}: {found:?}, not in {missing:?}", grove.name);
        }
    }

    /// Where agents of a tree stand. The other states are passed within a step, or need a person who takes an agent over.
    fn stood_in(grove: &Grove) -> BTreeSet<State> {
        let always = [State::Working, State::Asking, State::Stopping, State::Ended, State::Told];
        // A begin takes its time where a workspace is made for it.
        let apart = grove.is_apart.then_some([State::Starting, State::Clearing]);
        always.into_iter().chain(apart.into_iter().flatten()).collect()
    }
}
