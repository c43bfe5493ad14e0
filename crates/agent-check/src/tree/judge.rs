//! What must hold of a tree.

use super::Tree;
use crate::invariants::{Fault, Invariant, hold};
use agent_core::lifecycle;

impl Tree {
    /// Where every agent stands.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut out = format!("{:?}\n", self.tasks);
        for (at, node) in &self.nodes {
            let agent = &node.agent;
            let lifecycle = agent.lifecycle().map(lifecycle::Lifecycle::state);
            let kin: Vec<_> = agent.kin().map(|kin| (kin.child().name(), kin.child().state())).collect();
            let (state, waits) = (agent.session().state(), agent.waits_for_children());
            out.push_str(&format!("{at:?} {:?} {state:?} {lifecycle:?}, waits {waits}, {kin:?}\n", agent.doing()));
        }
        out
    }

    /// What must hold of the whole tree, always.
    ///
    /// # Errors
    /// What does not hold.
    pub fn judge(&self) -> Result<(), Fault> {
        for (at, node) in &self.nodes {
            let (agent, config) = (&node.agent, node.agent.session().config());
            let (living, committed) = (agent.alive().len(), agent.session().ledger().committed());
            let rests_alone = !agent.is_idle() || living == 0;
            hold(Invariant::RestsAbove, rests_alone, || format!("{at:?} rests and has living children"))?;
            // A call that had begun when the program died counts, and is made again.
            let most = config.limits.max_model_calls.unwrap_or(u64::MAX);
            hold(Invariant::LeasesHold, committed.model_calls <= most, || {
                format!("{at:?} has {} of {most} calls spent or leased", committed.model_calls)
            })?;
            let is_held = living == 0 && !agent.session().ledger().leased.is_nothing();
            hold(Invariant::SpentCounts, !is_held, || format!("{at:?} has no living child, and a lease is out"))?;
            let within = at.len() <= self.limits.depth as usize && living <= self.limits.width as usize;
            hold(Invariant::AgentsWithinLimits, within, || format!("{at:?} has {living} living children"))?;
            for kin in agent.kin().filter(|kin| kin.child().outcome().is_some()) {
                let below = [&at[..], &[kin.child().number()]].concat();
                let spent = self.nodes.get(&below).map(|child| child.agent.spent());
                let counted = kin.child().spent();
                hold(Invariant::SpentCounts, spent.is_none_or(|spent| spent == *counted), || {
                    format!("{below:?} spent {spent:?}, and {counted:?} counts above")
                })?;
            }
            for kin in agent.kin().filter(|kin| kin.child().is_living()) {
                let below = [&at[..], &[kin.child().number()]].concat();
                let Some(child) = self.nodes.get(&below) else { continue };
                let above = &child.agent.session().config().permissions.above;
                let holds = config.permissions.is_above(above);
                hold(Invariant::PoliciesHoldBelow, holds, || format!("{below:?} has another policy above it"))?;
            }
        }
        let all = self.nodes.len() - 1;
        let within = all <= self.limits.total as usize;
        hold(Invariant::AgentsWithinLimits, within, || format!("{all} agents were begun"))?;
        let twice = self.told.iter().find(|(_, told)| **told > 1);
        hold(Invariant::ToldOnce, twice.is_none(), || format!("an outcome was told more than once: {twice:?}"))
    }

    /// Every journal gives the agent that wrote it.
    ///
    /// # Errors
    /// Which does not.
    pub fn judge_replay(&self) -> Result<(), Fault> {
        let other = self.nodes.iter().find(|(_, node)| {
            let (mut again, mut agent) = (node.replayed(node.journal.len()).agent, node.agent.clone());
            again.forget_traces();
            agent.forget_traces();
            again != agent
        });
        hold(Invariant::ReplayEqual, other.is_none(), || format!("{:?} replays to another agent", other.unwrap().0))
    }

    /// Both, for a walk that ends where something does not hold.
    pub fn check(&self) {
        self.judge().and_then(|()| self.judge_replay()).unwrap_or_else(|fault| panic!("{fault:?}\n{}", self.shown()));
    }
}
