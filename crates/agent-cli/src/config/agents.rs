//! `[agents]`: whether the model may begin other agents, and how many.

use agent_core::agents::AgentLimits;
use serde::Deserialize;

/// The section of the user's configuration.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgentsConfig {
    /// Whether the model may begin other agents at all.
    pub(crate) enabled: bool,
    /// How many levels of agents there may be below the session's own.
    pub(crate) depth: Option<u32>,
    /// How many children of one agent may be alive at a time.
    pub(crate) width: Option<u32>,
    /// How many agents a session may begin.
    pub(crate) total: Option<u32>,
    /// How many children one agent may begin within a minute.
    pub(crate) per_minute: Option<u32>,
}

impl AgentsConfig {
    /// What a session may begin; nothing where it may begin none.
    pub(crate) fn limits(&self, is_wanted: bool) -> Option<AgentLimits> {
        let usual = AgentLimits::default();
        let limits = AgentLimits {
            depth: self.depth.unwrap_or(usual.depth).min(MOST_LEVELS),
            width: self.width.unwrap_or(usual.width),
            total: self.total.unwrap_or(usual.total),
            per_minute: self.per_minute.unwrap_or(usual.per_minute),
        };
        Some(limits).filter(|limits| (is_wanted || self.enabled) && limits.allow_any())
    }
}

/// More levels than this are not allowed, whatever is configured.
const MOST_LEVELS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_off_unless_they_are_wanted() {
        let config = AgentsConfig { depth: Some(9), ..AgentsConfig::default() };
        assert_eq!(config.limits(false), None);
        assert_eq!(config.limits(true).map(|limits| (limits.depth, limits.width)), Some((4, 8)));
        assert_eq!(AgentsConfig { enabled: true, ..config }.limits(false).map(|limits| limits.total), Some(64));
        assert_eq!(AgentsConfig { width: Some(0), ..config }.limits(true), None);
    }
}
