//! What becomes of calls that a person was asked about.
//!
//! An answer allows a call as the policy stands then, not as it stood when the question was put: days may lie between. For the
//! policy, arguments that the person changed are a new call, which the person has already approved.

use super::{Batch, Counts, Denial, Ended, OpenCall, Status, denied};
use crate::conversation::CallId;
use crate::permission::{ApprovalAnswer, ApprovalScope, Basis, Decision, Permissions, Rule, RuleSource, Ruling};
use crate::tool::{CallFacts, Effect, Finding, Inspection};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

fn listed(rules: &[Rule]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
    rules.join(", ")
}

fn said_by(rules: Vec<Rule>, source: RuleSource) -> Vec<Rule> {
    rules.into_iter().map(|rule| rule.said_by(source)).collect()
}

/// What an answer brought besides the call's own fate.
#[derive(Default)]
pub(in crate::session) struct Approved {
    pub(in crate::session) denial: Option<Denial>,
    /// Holds from now on.
    pub(in crate::session) rules: Vec<Rule>,
}

/// The effect of an answer.
enum Judged {
    /// The call runs; with other arguments if these facts are about others.
    Runs(Option<Inspection>),
    Denied(Basis),
    /// The arguments that the person set cannot be used; the message is for the model.
    Unusable(String),
}

impl Batch {
    /// What a call was found to do.
    pub(in crate::session) fn judged(&self, call: &CallId) -> Option<Inspection> {
        self.open(call).map(|open| Inspection { effect: open.effect, subject: open.subject.clone() })
    }

    /// Applies a person's answer and returns its effect.
    pub(in crate::session) fn approve(
        &mut self,
        call: &CallId,
        answer: ApprovalAnswer,
        changed: Option<&CallFacts>,
        permissions: &Permissions,
        rulings: &mut Vec<Ruling>,
    ) -> Approved {
        self.note_places();
        let Some(open) = self.open_mut(call) else { return Approved::default() };
        let approved = Self::take_answer(open, answer, changed, permissions, rulings);
        let calls = &self.calls;
        self.places.pass_answered(calls.len(), |at| calls.get(at).is_some_and(OpenCall::is_asked));
        approved
    }

    /// There may be very many questions: from the first answer on no call is searched for.
    fn note_places(&mut self) {
        if !self.places.is_ready() {
            let calls = &self.calls;
            self.places.note(calls.len(), |at| calls.get(at).map(|open| &open.call.id));
        }
    }

    fn take_answer(
        open: &mut OpenCall,
        answer: ApprovalAnswer,
        changed: Option<&CallFacts>,
        permissions: &Permissions,
        rulings: &mut Vec<Ruling>,
    ) -> Approved {
        match (open.judge(&answer, changed, permissions), answer) {
            (Judged::Runs(inspection), ApprovalAnswer::Allow { scope, arguments }) => {
                // The history keeps what the model asked for; the run takes what the person made of it.
                let by_hook = changed.and_then(|facts| facts.hooks.as_ref()?.arguments.clone());
                if let (Some(arguments), Some(inspection)) = (by_hook.clone().or(arguments), inspection) {
                    open.is_changed = open.call.arguments != arguments;
                    (open.call.arguments, open.is_changed_by_hook) = (arguments, by_hook.is_some());
                    (open.effect, open.subject) = (inspection.effect, inspection.subject);
                }
                open.status = Status::Cleared;
                let (said, rules) = match scope {
                    ApprovalScope::Once => (String::new(), Vec::new()),
                    ApprovalScope::Session(rules) => {
                        (format!("{} in this session", listed(&rules)), said_by(rules, RuleSource::Session))
                    }
                    ApprovalScope::Always(rules) => {
                        (format!("{} always", listed(&rules)), said_by(rules, RuleSource::User))
                    }
                };
                rulings.push(open.ruling(Decision::Run(Basis::Person(said))));
                Approved { denial: None, rules }
            }
            (Judged::Denied(basis), _) => {
                let denial = Some(open.deny(&basis, counts_of(&basis)));
                rulings.push(open.ruling(Decision::Deny(basis)));
                Approved { denial, rules: Vec::new() }
            }
            (Judged::Unusable(content), _) => {
                open.answer(content, Counts::Repetition);
                Approved::default()
            }
            // Nothing but an allowing answer is judged to run.
            (Judged::Runs(_), ApprovalAnswer::Deny { .. } | ApprovalAnswer::Nobody) => Approved::default(),
        }
    }

    /// Whether any call is cleared that the policy still lets run.
    pub(in crate::session) fn has_runnable(&self, permissions: &Permissions) -> bool {
        self.rest().iter().any(|open| open.status == Status::Cleared && open.forbidden_by(permissions).is_none())
    }

    /// How a call that is asked about ends with this answer; `None` if it runs.
    pub(in crate::session) fn ended_after(
        &self,
        call: &CallId,
        answer: &ApprovalAnswer,
        changed: Option<&CallFacts>,
        permissions: &Permissions,
    ) -> Option<Ended<'static>> {
        match self.open(call)?.judge(answer, changed, permissions) {
            Judged::Runs(_) => None,
            Judged::Denied(basis) => Some((counts_of(&basis), Cow::Owned(denied(&basis)))),
            Judged::Unusable(message) => Some((Counts::Repetition, Cow::Owned(message))),
        }
    }

    /// Denies cleared calls that the policy now forbids, up to the end of the next group, and notes the rulings. Returns the denials.
    pub(in crate::session) fn deny_forbidden(
        &mut self,
        most: u64,
        permissions: &Permissions,
        rulings: &mut Vec<Ruling>,
    ) -> Vec<Denial> {
        let mut denials = Vec::new();
        let (from, mut cleared) = (self.counted, 0);
        for open in self.calls.iter_mut().skip(from).filter(|open| open.status == Status::Cleared) {
            if let Some(basis) = open.forbidden_by(permissions) {
                denials.push(open.deny(&basis, Counts::Nothing));
                rulings.push(open.ruling(Decision::Deny(basis)));
                continue;
            }
            cleared += 1;
            if cleared == most || open.effect == Effect::Changes {
                break;
            }
        }
        denials
    }
}

/// A person's word is not a failure of the model, and neither is what became of it.
const fn counts_of(basis: &Basis) -> Counts {
    match basis {
        Basis::Person(_) | Basis::UncheckedArguments => Counts::Repetition,
        Basis::Reads
        | Basis::Allowed(_)
        | Basis::Denied(_)
        | Basis::Unchecked(_)
        | Basis::MayShow(_)
        | Basis::Opens(_)
        | Basis::Hook(_)
        | Basis::HookAllowed(_)
        | Basis::Mode(_)
        | Basis::Nobody => Counts::Failure,
    }
}

impl OpenCall {
    fn judge(&self, answer: &ApprovalAnswer, changed: Option<&CallFacts>, permissions: &Permissions) -> Judged {
        match answer {
            ApprovalAnswer::Deny { reason } => Judged::Denied(Basis::Person(reason.clone())),
            ApprovalAnswer::Nobody => Judged::Denied(Basis::Nobody),
            ApprovalAnswer::Allow { arguments: None, .. } => {
                self.forbidden_by(permissions).map_or(Judged::Runs(None), Judged::Denied)
            }
            ApprovalAnswer::Allow { arguments: Some(_), .. } => {
                match changed.filter(|facts| facts.call == self.call.id) {
                    None => Judged::Denied(Basis::UncheckedArguments),
                    Some(facts) => self.judge_changed(facts, permissions),
                }
            }
        }
    }

    /// The person has seen what is asked about, so that a question of a hook or of the mode is answered.
    fn judge_changed(&self, facts: &CallFacts, permissions: &Permissions) -> Judged {
        if let Some(reason) = facts.hooks.as_ref().and_then(|report| report.stop.clone()) {
            return Judged::Denied(Basis::Hook(reason));
        }
        match &facts.finding {
            Finding::Runnable(inspection) => match permissions.decide(&self.call.name, inspection, &facts.verdict) {
                Decision::Run(_) | Decision::Ask(_) => Judged::Runs(Some(inspection.clone())),
                Decision::Deny(basis) => Judged::Denied(basis),
            },
            Finding::UnknownTool { message } | Finding::InvalidArguments { message } => {
                Judged::Unusable(message.clone())
            }
        }
    }

    pub(super) fn forbidden_by(&self, permissions: &Permissions) -> Option<Basis> {
        permissions.forbids(&self.call.name, self.effect, &self.subject)
    }
}
