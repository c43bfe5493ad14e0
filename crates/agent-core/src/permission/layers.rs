//! The policy of an agent that another one began: the policies of all above it, and its own.

use super::{Basis, Decision, Exclusions, Permissions};
use crate::tool::{Effect, HookVerdict, Inspection, Subject};
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The policies that hold for an agent, its root's first and its own last. Each decides about a call, and the strictest decision counts,
/// so an agent is never allowed what one above it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Permissions>")]
pub struct Layers(Vec<Permissions>);

/// No policy is no layer: it would allow everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a policy has at least one layer")]
pub struct NoLayer;

impl Layers {
    /// The policy of a root.
    #[must_use]
    pub fn of(root: Permissions) -> Self {
        Self(vec![root])
    }

    /// The policy of a child that has `own` beside what holds for its parent.
    #[must_use]
    pub fn under(&self, own: Permissions) -> Self {
        let mut layers = self.0.clone();
        layers.push(own);
        Self(layers)
    }

    /// The policy of a child when what holds for its parent has changed.
    #[must_use]
    pub fn moved_under(&self, parent: &Self) -> Self {
        let own = self.0.last().cloned().unwrap_or_default();
        parent.under(own)
    }

    /// Decides about one call. Of equally strict layers the one nearest to the root says why.
    #[must_use]
    pub fn decide(&self, tool: &str, inspection: &Inspection, verdict: &HookVerdict) -> Decision {
        let decisions = self.0.iter().map(|layer| layer.decide(tool, inspection, verdict));
        decisions.min_by_key(Decision::freedom).unwrap_or(Decision::Deny(Basis::Nobody))
    }

    /// What no answer of a person can allow, and why.
    #[must_use]
    pub fn forbids(&self, tool: &str, effect: Effect, subject: &Subject) -> Option<Basis> {
        self.0.iter().find_map(|layer| layer.forbids(tool, effect, subject))
    }

    /// What a call must leave out of what it shows: what any layer denies.
    #[must_use]
    pub fn exclusions(&self, tool: &str, subject: &Subject) -> Exclusions {
        self.0.iter().flat_map(|layer| layer.excluded(tool, subject)).cloned().collect()
    }
}

impl TryFrom<Vec<Permissions>> for Layers {
    type Error = NoLayer;

    fn try_from(layers: Vec<Permissions>) -> Result<Self, NoLayer> {
        if layers.is_empty() { Err(NoLayer) } else { Ok(Self(layers)) }
    }
}
