//! Leases: what of a parent's budget a child may spend, reserved before it begins and held until its outcome is known.
//!
//! ```text
//! remainder = limits - what the agent spent - what those below spent - leases that are out
//! ```
//!
//! A lease is taken from the remainder, so the leases that are out and what was spent never exceed the limits, whatever is granted. What a
//! child did not use comes back when its run has an outcome: then the lease is gone and what was spent is charged.

use crate::budget::{Ledger, Limits, Usd};
use agent_types::agents::{AgentLimits, Budget};
use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What one run of a child may spend, and how many agents below it. `None` is no limit, which only a parent without that limit can grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Model calls.
    pub model_calls: Option<u64>,
    /// Tool calls.
    pub tool_calls: Option<u64>,
    /// Tokens, all kinds added up.
    pub tokens: Option<u64>,
    /// Money, in billionths of a US dollar.
    pub cost_nano_usd: Option<u64>,
    /// Time, in milliseconds from the begin of the run.
    pub time_ms: Option<u64>,
    /// Agents below the child, at every depth together.
    pub agents: u32,
    /// How many levels of agents may be below the child.
    pub depth: u32,
}

impl Lease {
    /// What is left of it when so much was spent. Time is that of a whole run.
    #[must_use]
    pub fn less(&self, spent: &Spent) -> Self {
        *Remainder::of(self, spent).as_lease()
    }

    /// What an agent may spend at most, itself and below: what limits its session.
    #[must_use]
    pub fn of(limits: &Limits, agents: &AgentLimits) -> Self {
        Self {
            model_calls: limits.max_model_calls,
            tool_calls: limits.max_tool_calls,
            tokens: limits.max_total_tokens,
            cost_nano_usd: limits.max_cost_nano_usd,
            time_ms: limits.max_wall_time_ms,
            agents: agents.total,
            depth: agents.depth,
        }
    }

    /// The limits of the session of a child that has the lease. The others are those of its parent.
    #[must_use]
    pub const fn limits(&self, parent: &Limits) -> Limits {
        Limits {
            max_model_calls: self.model_calls,
            max_tool_calls: self.tool_calls,
            max_total_tokens: self.tokens,
            max_cost_nano_usd: self.cost_nano_usd,
            max_wall_time_ms: self.time_ms,
            max_failures_in_row: parent.max_failures_in_row,
            max_repetitions: parent.max_repetitions,
        }
    }

    /// Whether nothing can be done with it.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        [self.model_calls, self.tokens, self.cost_nano_usd, self.time_ms].contains(&Some(0))
    }
}

/// What a run spent: the child's own use and that of all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Model calls.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens, all kinds added up.
    pub tokens: u64,
    /// Money, in billionths of a US dollar.
    pub cost_nano_usd: u64,
    /// Agents that were begun below the child.
    pub agents: u32,
}

impl Spent {
    /// Whether it is nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What a lease holds of its parent's budget, its child included. Of a kind without a limit it holds nothing.
    #[must_use]
    pub fn held_by(lease: &Lease) -> Self {
        Self { agents: lease.agents.saturating_add(1), ..Self::whole(lease, &Self::default()) }
    }

    /// What a child and those below it count for their parent: itself is one of the agents.
    #[must_use]
    pub const fn with_itself(&self) -> Self {
        Self { agents: self.agents.saturating_add(1), ..*self }
    }

    /// Both together.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            tokens: self.tokens.saturating_add(other.tokens),
            cost_nano_usd: self.cost_nano_usd.saturating_add(other.cost_nano_usd),
            agents: self.agents.saturating_add(other.agents),
        }
    }

    /// What is left of it without the other, which is a part of it.
    #[must_use]
    pub const fn less(&self, part: &Self) -> Self {
        Self {
            model_calls: self.model_calls.saturating_sub(part.model_calls),
            tool_calls: self.tool_calls.saturating_sub(part.tool_calls),
            tokens: self.tokens.saturating_sub(part.tokens),
            cost_nano_usd: self.cost_nano_usd.saturating_sub(part.cost_nano_usd),
            agents: self.agents.saturating_sub(part.agents),
        }
    }

    /// The whole lease, as far as it has an end: what a child costs of which nothing is known any more. Where a kind has no limit, what was
    /// last known to be spent counts.
    #[must_use]
    pub fn whole(lease: &Lease, known: &Self) -> Self {
        Self {
            model_calls: lease.model_calls.unwrap_or(known.model_calls),
            tool_calls: lease.tool_calls.unwrap_or(known.tool_calls),
            tokens: lease.tokens.unwrap_or(known.tokens),
            cost_nano_usd: lease.cost_nano_usd.unwrap_or(known.cost_nano_usd),
            agents: lease.agents,
        }
    }
}

impl From<&Ledger> for Spent {
    /// What an agent itself spent.
    fn from(ledger: &Ledger) -> Self {
        Self {
            model_calls: ledger.model_calls,
            tool_calls: ledger.tool_calls,
            tokens: ledger.usage.total_tokens(),
            cost_nano_usd: ledger.cost_nano_usd,
            agents: 0,
        }
    }
}

/// What a call asks for; what it does not say is the share that falls to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wish {
    /// Model calls.
    pub model_calls: Option<u64>,
    /// Tool calls.
    pub tool_calls: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money, in billionths of a US dollar.
    pub cost_nano_usd: Option<u64>,
    /// Time, in milliseconds.
    pub time_ms: Option<u64>,
    /// Agents below the child.
    pub agents: Option<u32>,
}

impl From<&Budget> for Wish {
    fn from(budget: &Budget) -> Self {
        let Budget { model_calls, tool_calls, tokens, cost_usd: _, minutes: _, agents } = *budget;
        Self {
            model_calls,
            tool_calls,
            tokens,
            cost_nano_usd: budget.cost_nano_usd(),
            time_ms: budget.time_ms(),
            agents,
        }
    }
}

/// What a call that says nothing gets at most, however much is left.
pub const USUAL: Lease = Lease {
    model_calls: Some(100),
    tool_calls: Some(400),
    tokens: None,
    cost_nano_usd: None,
    time_ms: Some(30 * 60 * 1000),
    agents: 0,
    depth: 0,
};

/// Most that one lease has of anything: then what all together hold can be added up.
const MOST: u64 = u64::MAX >> 12;

/// Why no lease is granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum NoLease {
    /// The call asks for more than is left.
    #[error("the budget has no room for it: {asked} {unit} asked for, {left} left")]
    TooMuch {
        /// What was asked for, in the unit.
        asked: String,
        /// What is left, in the unit.
        left: String,
        /// The unit.
        unit: Unit,
    },
    /// Nothing is left to share.
    #[error("the budget has no room for it: no {unit} left")]
    NothingLeft {
        /// The unit.
        unit: Unit,
    },
    /// The agent is as deep as agents may be.
    #[error("agents of this depth begin no others")]
    TooDeep,
}

/// What a lease counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unit {
    /// Model calls.
    ModelCalls,
    /// Tool calls.
    ToolCalls,
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
    /// Time.
    Time,
    /// Agents.
    Agents,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelCalls => "model calls",
            Self::ToolCalls => "tool calls",
            Self::Tokens => "tokens",
            Self::Cost => "USD",
            Self::Time => "ms",
            Self::Agents => "agents",
        })
    }
}

/// What an agent may still spend or lease out. `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remainder {
    lease: Lease,
}

impl Remainder {
    /// What is left of an agent's own lease, or, for the root, of its limits and what it may begin.
    ///
    /// `used` is what the agent and those below it whose runs have an outcome spent, and what the leases of the others hold.
    #[must_use]
    pub fn of(whole: &Lease, used: &Spent) -> Self {
        Self {
            lease: Lease {
                model_calls: less(whole.model_calls, used.model_calls),
                tool_calls: less(whole.tool_calls, used.tool_calls),
                tokens: less(whole.tokens, used.tokens),
                cost_nano_usd: less(whole.cost_nano_usd, used.cost_nano_usd),
                time_ms: whole.time_ms,
                agents: whole.agents.saturating_sub(used.agents),
                depth: whole.depth,
            },
        }
    }

    /// What is left.
    #[must_use]
    pub const fn as_lease(&self) -> &Lease {
        &self.lease
    }

    /// Whether it has room for a lease.
    #[must_use]
    pub fn covers(&self, lease: &Lease) -> bool {
        let fits = |left: Option<u64>, asked: Option<u64>| match (left, asked) {
            (None, _) => true,
            (Some(left), Some(asked)) => asked <= left,
            (Some(_), None) => false,
        };
        let left = &self.lease;
        fits(left.model_calls, lease.model_calls)
            && fits(left.tool_calls, lease.tool_calls)
            && fits(left.tokens, lease.tokens)
            && fits(left.cost_nano_usd, lease.cost_nano_usd)
            && lease.agents < left.agents
            && lease.depth < left.depth
    }

    /// The lease for one of `siblings` children that the same answer asks for. What the call does not ask for is half of what is left,
    /// divided by the siblings, and no more than [`USUAL`]: the parent keeps something to continue with.
    ///
    /// # Errors
    /// [`NoLease`] when the call asks for more than is left, or when no share is left.
    pub fn lease(&self, wish: &Wish, siblings: u32) -> Result<Lease, NoLease> {
        let Lease { model_calls, tool_calls, tokens, cost_nano_usd, time_ms, agents, depth } = self.lease;
        let shares = u64::from(siblings.max(1)).saturating_mul(2);
        let Some(depth) = depth.checked_sub(1) else { return Err(NoLease::TooDeep) };
        // The child itself is one of them.
        let Some(below) = agents.checked_sub(1) else { return Err(NoLease::NothingLeft { unit: Unit::Agents }) };
        let share =
            |unit, asked: Option<u64>, left: Option<u64>, usual: Option<u64>| granted(unit, asked, left, usual, shares);
        let agents = match wish.agents {
            Some(asked) if asked > below => {
                return Err(too_much(Unit::Agents, u64::from(asked), u64::from(below)));
            }
            Some(asked) => asked,
            None => 0,
        };
        Ok(Lease {
            model_calls: share(Unit::ModelCalls, wish.model_calls, model_calls, USUAL.model_calls)?,
            tool_calls: share(Unit::ToolCalls, wish.tool_calls, tool_calls, USUAL.tool_calls)?,
            tokens: share(Unit::Tokens, wish.tokens, tokens, USUAL.tokens)?,
            cost_nano_usd: share(Unit::Cost, wish.cost_nano_usd, cost_nano_usd, USUAL.cost_nano_usd)?,
            // Time runs for all at once: it is bounded, not divided.
            time_ms: granted(Unit::Time, wish.time_ms, time_ms, USUAL.time_ms, 1)?,
            agents,
            depth,
        })
    }
}

/// What is left of a limit. None of it is not the same as no limit.
fn less(limit: Option<u64>, spent: u64) -> Option<u64> {
    limit.map(|limit| limit.saturating_sub(spent))
}

fn granted(
    unit: Unit,
    asked: Option<u64>,
    left: Option<u64>,
    usual: Option<u64>,
    shares: u64,
) -> Result<Option<u64>, NoLease> {
    match (asked, left) {
        (Some(asked), Some(left)) if asked > left => Err(too_much(unit, asked, left)),
        (Some(0), _) => Err(NoLease::NothingLeft { unit }),
        (Some(asked), _) => Ok(Some(asked.min(MOST))),
        (None, None) => Ok(usual),
        (None, Some(left)) => {
            let share = left / shares;
            // A share of nothing is nothing, never no limit. Tool calls may be none: an agent can answer without one.
            if share == 0 && unit != Unit::ToolCalls {
                return Err(NoLease::NothingLeft { unit });
            }
            Ok(Some(usual.map_or(share, |usual| share.min(usual))))
        }
    }
}

fn too_much(unit: Unit, asked: u64, left: u64) -> NoLease {
    let shown =
        |amount: u64| if unit == Unit::Cost { alloc::format!("{}", Usd(amount)) } else { alloc::format!("{amount}") };
    NoLease::TooMuch { asked: shown(asked), left: shown(left), unit }
}
