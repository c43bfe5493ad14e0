//! Who may do what: a pure policy over the facts that the driver reports about each call.
//!
//! ```text
//! deny rule > hook's denial > plan mode > hook's question > allow rule > mode
//! ```
//!
//! A call that asks to have the sandbox opened is allowed only by a rule that names the door, or by a person: no mode and no hook opens it.
//!
//! 1. A deny rule wins over everything: hooks, allow rules, a person's answer, bypass. What cannot be checked against one is denied.
//! 2. No rule that is added to the deny rules, and no stricter mode, allows more than before.
//! 3. What a repository says goes through [`Permissions::tightened`], which cannot allow more either.
//! 4. An agent that another one began is never allowed what an agent above it is not: each policy above it decides, too, and the strictest
//!    decision counts.
//! 5. Every decision names its reason, and a rule names where it comes from.

mod decision;

pub use agent_types::permission::{
    ApprovalAnswer, ApprovalQuestion, ApprovalScope, Exclusions, Rule, RuleError, RuleSource,
};
pub use decision::{Basis, Decision, Ruling};

use crate::protected;
use crate::tool::{Effect, HookVerdict, Inspection, Subject};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// How much may happen without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionMode {
    /// Reads run; everything else asks.
    #[default]
    Default,
    /// Reading and editing files in the workspace runs, everything else is asked.
    AcceptEdits,
    /// Only reads run.
    Plan,
    /// Everything runs unless a rule denies it.
    Bypass,
}

impl fmt::Display for PermissionMode {
    /// The name under which it is chosen and serialised.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept-edits",
            Self::Plan => "plan",
            Self::Bypass => "bypass",
        })
    }
}

impl PermissionMode {
    /// The one of two that lets less happen without asking.
    #[must_use]
    pub const fn stricter(self, other: Self) -> Self {
        if self.freedom() <= other.freedom() { self } else { other }
    }

    const fn freedom(self) -> u8 {
        match self {
            Self::Plan => 0,
            Self::Default => 1,
            Self::AcceptEdits => 2,
            Self::Bypass => 3,
        }
    }
}

/// The whole policy of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permissions {
    /// What happens to calls that no rule names.
    pub mode: PermissionMode,
    /// Calls that run without asking.
    pub allow: Vec<Rule>,
    /// Calls that never run.
    pub deny: Vec<Rule>,
    /// The mode of this agent alone, which does not hold for those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_mode: Option<PermissionMode>,
    /// The policies of the agents above, the root's first. None of them has others above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Self>,
}

impl Permissions {
    /// Decides about one call. Of equally strict policies the one nearest to the root says why.
    #[must_use]
    pub fn decide(&self, tool: &str, inspection: &Inspection, verdict: &HookVerdict) -> Decision {
        let own = self.decide_alone(self.own_mode(), tool, inspection, verdict);
        if self.above.is_empty() {
            return own;
        }
        let is_answered = own.is_answered();
        let above = self.above.iter().map(|policy| policy.decide_alone(policy.mode, tool, inspection, verdict));
        // What a person answered for this agent is not asked again for those above it; what they deny stays denied.
        let asks = |decision: &Decision| !is_answered || !matches!(decision, Decision::Ask(_));
        let all = above.filter(asks).chain([own]);
        all.min_by_key(Decision::freedom).unwrap_or(Decision::Deny(Basis::Nobody))
    }

    fn own_mode(&self) -> PermissionMode {
        self.own_mode.map_or(self.mode, |mode| mode.stricter(self.mode))
    }

    /// The policies that hold for those below: those above, and this one.
    #[must_use]
    pub fn for_below(&self) -> Vec<Self> {
        let mut all = self.above.clone();
        all.push(Self { own_mode: None, above: Vec::new(), ..self.clone() });
        all
    }

    /// Whether [`for_below`](Self::for_below) is this, without making it.
    #[must_use]
    pub fn is_above(&self, above: &[Self]) -> bool {
        let Some((last, rest)) = above.split_last() else { return false };
        let is_same = last.mode == self.mode && last.allow == self.allow && last.deny == self.deny;
        is_same && *rest == *self.above
    }

    fn decide_alone(
        &self,
        mode: PermissionMode,
        tool: &str,
        inspection: &Inspection,
        verdict: &HookVerdict,
    ) -> Decision {
        if let Some(basis) = self.denying(tool, &inspection.subject) {
            return Decision::Deny(basis);
        }
        if let HookVerdict::Deny { reason } = verdict {
            return Decision::Deny(Basis::Hook(reason.clone()));
        }
        if let Some(basis) = self.forbids_alone(mode, tool, inspection.effect, &inspection.subject) {
            return Decision::Deny(basis);
        }
        if let HookVerdict::Ask { reason } = verdict {
            return Decision::Ask(Basis::Hook(reason.clone()));
        }
        if self.only_reads(inspection.effect, &inspection.subject) {
            return Decision::Run(Basis::Reads);
        }
        let rules = self.allowing(tool, &inspection.subject);
        if !rules.is_empty() {
            return Decision::Run(Basis::Allowed(rules));
        }
        if let Some(opening) = inspection.subject.opening() {
            return Decision::Ask(Basis::Opens(opening.clone()));
        }
        if let HookVerdict::Allow { reason } = verdict {
            return Decision::Run(Basis::HookAllowed(reason.clone()));
        }
        // What every later session reads as instructions is not an edit like others.
        let is_plain = |path: &String| !protected::is_instructions(path);
        let is_known_edit =
            inspection.subject.paths().is_some_and(|paths| !paths.is_empty() && paths.iter().all(is_plain));
        match mode {
            PermissionMode::Bypass => Decision::Run(Basis::Mode(mode)),
            PermissionMode::AcceptEdits if is_known_edit => Decision::Run(Basis::Mode(mode)),
            PermissionMode::AcceptEdits | PermissionMode::Default | PermissionMode::Plan => {
                Decision::Ask(self.basis_of_mode(mode, &inspection.subject))
            }
        }
    }

    /// Whether it reads, and nothing that a deny rule may cover: a command may show files that it does not name.
    fn only_reads(&self, effect: Effect, subject: &Subject) -> bool {
        effect == Effect::Reads && subject.opening().is_none() && self.keeping(subject).is_none()
    }

    /// The deny rule about files that a command might show.
    fn keeping(&self, subject: &Subject) -> Option<&Rule> {
        self.deny.iter().find(|rule| subject.may_show_like(rule.tool()))
    }

    fn basis_of_mode(&self, mode: PermissionMode, subject: &Subject) -> Basis {
        self.keeping(subject).map_or(Basis::Mode(mode), |rule| Basis::MayShow(rule.clone()))
    }

    /// What no answer of a person can allow, and why: a deny rule covers it, or the mode is plan.
    pub(crate) fn forbids(&self, tool: &str, effect: Effect, subject: &Subject) -> Option<Basis> {
        let above = self.above.iter().find_map(|policy| policy.forbids_alone(policy.mode, tool, effect, subject));
        above.or_else(|| self.forbids_alone(self.own_mode(), tool, effect, subject))
    }

    fn forbids_alone(&self, mode: PermissionMode, tool: &str, effect: Effect, subject: &Subject) -> Option<Basis> {
        let by_mode = mode == PermissionMode::Plan && !self.only_reads(effect, subject);
        self.denying(tool, subject).or_else(|| by_mode.then(|| self.basis_of_mode(mode, subject)))
    }

    /// The same policy, made stricter by a source that must not loosen it, such as a repository: further deny rules, and a mode that
    /// counts where it is the stricter one.
    #[must_use]
    pub fn tightened(mut self, mode: Option<PermissionMode>, deny: impl IntoIterator<Item = Rule>) -> Self {
        self.mode = mode.map_or(self.mode, |mode| self.mode.stricter(mode));
        self.deny.extend(deny);
        self
    }

    /// What a call must leave out of what it shows: the files that deny rules cover and that it may come across without naming them.
    #[must_use]
    pub fn exclusions(&self, tool: &str, subject: &Subject) -> Exclusions {
        self.excluded(tool, subject).cloned().collect()
    }

    fn excluded<'a>(&'a self, tool: &'a str, subject: &'a Subject) -> impl Iterator<Item = &'a Rule> {
        let all = self.above.iter().flat_map(|policy| &policy.deny).chain(&self.deny);
        all.filter(move |rule| subject.paths().is_some() && rule.is_about_files_of(tool, subject))
    }

    /// The deny rule that covers the call, or may.
    fn denying(&self, tool: &str, subject: &Subject) -> Option<Basis> {
        let rule = self.deny.iter().find(|rule| rule.may_match(tool, subject))?.clone();
        let is_unchecked = matches!(subject, Subject::Command { plain: None, .. });
        Some(if is_unchecked && rule.has_pattern() { Basis::Unchecked(rule) } else { Basis::Denied(rule) })
    }

    /// The allow rules that cover everything that the call is about: one as a whole, or one each of its paths or commands. None when they
    /// do not.
    fn allowing(&self, tool: &str, subject: &Subject) -> Vec<Rule> {
        if self.allow.is_empty() {
            return Vec::new();
        }
        let first = |subject: &Subject| self.allow.iter().find(|rule| rule.matches(tool, subject));
        if let Some(rule) = first(subject) {
            return vec![rule.clone()];
        }
        let parts = subject.parts();
        let each: Option<Vec<&Rule>> = parts.iter().flatten().map(first).collect();
        let mut rules: Vec<Rule> = Vec::new();
        for rule in each.into_iter().flatten() {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
        rules
    }
}

#[cfg(test)]
mod tests;
