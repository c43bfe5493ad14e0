//! The tool calls of one answer, from the answer to their results.
//!
//! A batch holds the answer until every call has its result; only then do both go into the history, as one value. Calls run in groups,
//! cut in call order: a run of calls that only read, or one call that may change something.

mod answer;
mod count;
mod places;
mod result;

pub(super) use answer::Approved;
pub(super) use count::{Count, Counts, Ended};
pub(super) use result::told;

use crate::conversation::{Answer, CallId, ToolCall};
use crate::hook::EndedCall;
use crate::permission::{ApprovalQuestion, Basis, Decision, Exclusions, Permissions, Ruling};
use crate::picture::Picture;
use crate::tool::{CallFacts, Effect, Finding, RanTool, Subject, ToolStatus};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use places::Places;
use result::not_run;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Batch {
    answer: Answer,
    calls: Vec<OpenCall>,
    /// How many calls, from the first, have ended and were counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    counted: usize,
    #[serde(skip)]
    places: Places,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    call: ToolCall,
    effect: Effect,
    subject: Subject,
    status: Status,
    /// How the run ended, for hooks; nothing for calls that never ran.
    ran: Option<ToolStatus>,
    /// Whether a person gave it other arguments than the model.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_changed: bool,
    /// What it says about the model's progress, once it is answered.
    #[serde(default, skip_serializing_if = "Counts::is_nothing")]
    counts: Counts,
    /// Whether a hook gave it the arguments with which it runs.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_changed_by_hook: bool,
    /// What the model sees with its result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pictures: Vec<Picture>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Status {
    /// Nothing is decided yet.
    New,
    /// A person is asked; the reason is for that person.
    Asked(String),
    /// It may run.
    Cleared,
    /// It was given to the driver.
    Emitted,
    /// It has its result.
    Answered { content: String, is_error: bool },
}

impl Batch {
    /// Opens the calls of an answer. `unusable` names calls with unusable arguments, each with the message for the model.
    pub(super) fn new(answer: Answer, mut unusable: BTreeMap<CallId, String>) -> Self {
        let open = answer.calls().map(|call| {
            let mut open = OpenCall {
                call: call.clone(),
                effect: Effect::Reads,
                subject: Subject::None,
                status: Status::New,
                ran: None,
                counts: Counts::Nothing,
                is_changed_by_hook: false,
                pictures: Vec::new(),
                is_changed: false,
            };
            if let Some(message) = unusable.remove(&call.id) {
                open.answer(message, Counts::Failure);
            }
            open
        });
        // How many there are is known, which the iterator cannot tell.
        let mut calls = Vec::with_capacity(answer.calls().count());
        calls.extend(open);
        Self { answer, calls, counted: 0, places: Places::default() }
    }

    /// All calls, for `PrepareTools`.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        self.calls.iter().map(|open| open.call.clone()).collect()
    }

    /// Whether the open calls are those of the answer, which a person may have given other arguments. A batch that was kept may say
    /// otherwise.
    pub(super) fn is_of_its_answer(&self) -> bool {
        self.answer.calls().map(|call| &call.id).eq(self.calls.iter().map(|open| &open.call.id))
    }

    /// The answer that asked for the calls.
    pub(super) const fn answer(&self) -> &Answer {
        &self.answer
    }

    /// What the model said with the calls.
    pub(super) fn text(&self) -> String {
        self.answer.text()
    }

    /// Whether the facts name every call exactly once.
    pub(super) fn is_covered_by(&self, facts: &[CallFacts]) -> bool {
        facts.len() == self.calls.len() && (self.are_in_order(facts) || self.sorted(facts).eq(self.sorted_calls()))
    }

    /// Drivers report facts in call order. Other orders are sorted once, because a search for each of very many calls is slow.
    fn are_in_order(&self, facts: &[CallFacts]) -> bool {
        self.calls.iter().zip(facts).all(|(open, fact)| open.call.id == fact.call)
    }

    fn sorted<'a>(&self, facts: &'a [CallFacts]) -> impl Iterator<Item = &'a CallId> {
        let mut ids: Vec<&CallId> = facts.iter().map(|fact| &fact.call).collect();
        ids.sort_unstable();
        ids.into_iter()
    }

    fn sorted_calls(&self) -> impl Iterator<Item = &CallId> {
        let mut ids: Vec<&CallId> = self.calls.iter().map(|open| &open.call.id).collect();
        ids.sort_unstable();
        ids.into_iter()
    }

    /// The facts, which name every call once, in call order.
    pub(super) fn in_order(&self, facts: Vec<CallFacts>) -> Vec<CallFacts> {
        if self.are_in_order(&facts) {
            return facts;
        }
        let mut by_call: BTreeMap<CallId, CallFacts> =
            facts.into_iter().map(|fact| (fact.call.clone(), fact)).collect();
        self.calls.iter().filter_map(|open| by_call.remove(&open.call.id)).collect()
    }

    /// Why a call would fail, as a reason to put no question about it: unless a call before it may change that.
    fn foreseen(&self, at: usize, fact: &CallFacts) -> Option<String> {
        let foreseen = fact.foreseen.as_ref()?;
        let Finding::Runnable(inspection) = &fact.finding else { return None };
        let paths = inspection.subject.paths()?;
        let may_change_that = |open: &OpenCall| match open.subject.paths() {
            Some(earlier) => earlier.iter().any(|path| paths.contains(path)),
            None => open.effect == Effect::Changes,
        };
        let before = self.calls.get(..at)?;
        let is_as_found = !before.iter().any(|open| open.may_run() && may_change_that(open));
        is_as_found.then(|| foreseen.clone())
    }

    /// Decides about a call, unless it is answered already, and notes the ruling. Returns the denial.
    pub(super) fn decide(
        &mut self,
        at: usize,
        fact: CallFacts,
        permissions: &Permissions,
        rulings: &mut Vec<Ruling>,
    ) -> Option<Denial> {
        let foreseen = self.foreseen(at, &fact);
        let open = self.calls.get_mut(at).filter(|open| open.status == Status::New)?;
        match fact.finding {
            Finding::Runnable(inspection) => {
                if let Some(arguments) = fact.hooks.and_then(|report| report.arguments) {
                    (open.call.arguments, open.is_changed_by_hook) = (arguments, true);
                }
                let decision = permissions.decide(&open.call.name, &inspection, &fact.verdict);
                (open.effect, open.subject) = (inspection.effect, inspection.subject);
                let denial = match &decision {
                    Decision::Ask(_) if foreseen.is_some() => {
                        foreseen.into_iter().for_each(|message| open.answer(message, Counts::Failure));
                        return None;
                    }
                    Decision::Run(_) => {
                        open.status = Status::Cleared;
                        None
                    }
                    Decision::Ask(_) => {
                        open.status = Status::Asked(decision.question(&open.call.name, &open.subject));
                        None
                    }
                    Decision::Deny(basis) => Some(open.deny(basis, Counts::Failure)),
                };
                rulings.push(open.ruling(decision));
                denial
            }
            Finding::UnknownTool { message } | Finding::InvalidArguments { message } => {
                open.answer(message, Counts::Failure);
                None
            }
        }
    }

    /// Calls that ran, or run, with arguments that a hook gave them.
    pub(super) fn changed_by_hooks(&self) -> impl Iterator<Item = &ToolCall> {
        let has_begun = |open: &&OpenCall| match (open.ran, &open.status) {
            (Some(status), _) => status != ToolStatus::NotRun,
            (None, status) => *status == Status::Emitted,
        };
        self.calls.iter().filter(|open| open.is_changed_by_hook).filter(has_begun).map(|open| &open.call)
    }

    /// Answers calls beyond a limit: at most `left` more may run. A call that a person is asked about counts once it is allowed; before
    /// that it is refused only if there is no room for it whatever the answers are. Returns how many were refused.
    pub(super) fn limit(&mut self, left: Option<u64>) -> u64 {
        let mut left = left.unwrap_or(u64::MAX);
        let mut refused = 0;
        for open in self.calls.iter_mut().filter(|open| open.may_run()) {
            if left == 0 {
                open.not_run("limit on tool calls reached");
                refused += 1;
            } else if open.status == Status::Cleared {
                left -= 1;
            }
        }
        refused
    }

    /// Questions that are not answered yet.
    pub(super) fn questions(&self) -> Vec<ApprovalQuestion> {
        let asked = self.calls.iter().filter_map(|open| match &open.status {
            Status::Asked(reason) => Some(ApprovalQuestion {
                call: open.call.clone(),
                subject: open.subject.clone(),
                reason: reason.clone(),
            }),
            Status::New | Status::Cleared | Status::Emitted | Status::Answered { .. } => None,
        });
        asked.collect()
    }

    /// Whether this call waits for a person's answer.
    pub(super) fn is_asked(&self, call: &CallId) -> bool {
        self.open(call).is_some_and(OpenCall::is_asked)
    }

    /// Whether another call than this waits for a person's answer.
    pub(super) fn is_another_asked(&self, call: &CallId) -> bool {
        let mut open = self.calls.iter().skip(self.places.asked_from());
        open.any(|open| open.is_asked() && open.call.id != *call)
    }

    /// Whether any call may still run.
    pub(super) fn has_cleared(&self) -> bool {
        self.rest().iter().any(|open| open.status == Status::Cleared)
    }

    /// Whether any call may run or waits for a person's answer.
    pub(super) fn has_open_questions(&self) -> bool {
        self.rest().iter().any(OpenCall::is_asked)
    }

    /// Gives the next group to the driver: at most so many calls, and so many of the same in a row. Returns how many they are.
    pub(super) fn emit_group(&mut self, most: u64, most_alike: u64) -> u64 {
        let (mut emitted, mut alike) = (0, 0);
        let mut last: Option<&ToolCall> = None;
        // What is before has ended.
        for open in self.calls.get_mut(self.counted..).unwrap_or_default() {
            if emitted == most {
                break;
            }
            match (&open.status, open.effect) {
                (Status::Cleared, Effect::Changes) if emitted > 0 => break,
                (Status::Cleared, effect) => {
                    alike = if last.is_some_and(|last| open.is_like(last)) { alike + 1 } else { 1 };
                    if alike > most_alike {
                        break;
                    }
                    open.status = Status::Emitted;
                    emitted += 1;
                    if effect == Effect::Changes {
                        break;
                    }
                    last = Some(&open.call);
                }
                (Status::New | Status::Asked(_) | Status::Emitted | Status::Answered { .. }, _) => {}
            }
        }
        emitted
    }

    /// What a call must leave out of what it shows.
    pub(super) fn exclusions(&self, call: &CallId, permissions: &Permissions) -> Exclusions {
        let open = self.open(call);
        open.map(|open| permissions.exclusions(&open.call.name, &open.subject)).unwrap_or_default()
    }

    /// Calls that were given to the driver and are not answered.
    pub(super) fn running(&self) -> Vec<ToolCall> {
        self.rest().iter().filter(|open| open.status == Status::Emitted).map(|open| open.call.clone()).collect()
    }

    /// Whether this call was given to the driver and is not answered.
    pub(super) fn is_running(&self, call: &CallId) -> bool {
        self.open(call).is_some_and(|open| open.status == Status::Emitted)
    }

    /// Whether another call than this was given to the driver and is not answered.
    pub(super) fn is_another_running(&self, call: &CallId) -> bool {
        // Groups are cut in call order: a waiting call comes after the running ones.
        let mut begun = self.rest().iter().take_while(|open| open.status != Status::Cleared);
        begun.any(|open| open.status == Status::Emitted && open.call.id != *call)
    }

    /// Whether this call, which runs, may change something.
    pub(super) fn changes(&self, call: &CallId) -> bool {
        self.open(call).is_some_and(|open| open.effect == Effect::Changes)
    }

    /// Whether any call that may change something has run or is running.
    pub(super) fn may_have_changed(&self) -> bool {
        self.calls
            .iter()
            .any(|open| open.effect == Effect::Changes && (open.ran.is_some() || open.status == Status::Emitted))
    }

    /// Whether any call ran.
    pub(super) fn has_run(&self) -> bool {
        self.calls.iter().any(|open| open.ran.is_some_and(|status| status != ToolStatus::NotRun))
    }

    /// Tools that ran, for hooks.
    pub(super) fn ran(&self) -> Vec<RanTool> {
        let ran = self.calls.iter().filter_map(|open| {
            let status = open.ran?;
            Some(RanTool::new(&open.call, open.effect, status))
        });
        let mut all = Vec::with_capacity(self.calls.len());
        all.extend(ran);
        all
    }

    /// Calls that ran, in the form in which they ran, with their results.
    pub(super) fn ended(&self) -> Vec<EndedCall> {
        let ended = self.calls.iter().filter_map(|open| match (open.ran, &open.status) {
            (Some(status), Status::Answered { content, .. }) => {
                Some(EndedCall { call: open.call.clone(), status, content: content.clone() })
            }
            _ => None,
        });
        ended.collect()
    }

    /// The calls from the first that has not ended. Those before it are answered.
    fn rest(&self) -> &[OpenCall] {
        self.calls.get(self.counted..).unwrap_or_default()
    }

    fn open(&self, call: &CallId) -> Option<&OpenCall> {
        self.calls.get(self.place(call)?)
    }

    fn open_mut(&mut self, call: &CallId) -> Option<&mut OpenCall> {
        let at = self.place(call)?;
        self.calls.get_mut(at)
    }

    /// The position of a call that has not ended, or comes after one that has not.
    fn place(&self, call: &CallId) -> Option<usize> {
        let is_at = |at: usize| self.calls.get(at).is_some_and(|open| open.call.id == *call);
        if let Some(at) = self.places.likely().into_iter().find(|at| is_at(*at)) {
            return Some(at).filter(|at| *at >= self.counted);
        }
        let found = match self.places.is_ready() {
            true => self.places.find(call, |at| self.calls.get(at).map(|open| &open.call.id)),
            false => self.rest().iter().position(|open| open.call.id == *call).map(|at| at + self.counted),
        };
        found.filter(|at| *at >= self.counted)
    }
}

impl OpenCall {
    /// Whether it is the same call once more.
    fn is_like(&self, call: &ToolCall) -> bool {
        self.call.name == call.name && self.call.arguments == call.arguments
    }

    const fn is_asked(&self) -> bool {
        matches!(self.status, Status::Asked(_))
    }

    fn may_run(&self) -> bool {
        matches!(self.status, Status::Cleared | Status::Asked(_))
    }

    fn not_run(&mut self, why: &str) {
        self.status = Status::Answered { content: not_run(why), is_error: true };
    }

    fn answer(&mut self, content: String, counts: Counts) {
        (self.status, self.counts) = (Status::Answered { content, is_error: true }, counts);
    }

    fn deny(&mut self, basis: &Basis, counts: Counts) -> Denial {
        let reason = basis.to_string();
        self.answer(denied(basis), counts);
        Denial { call: self.call.clone(), reason, nobody_to_ask: *basis == Basis::Nobody }
    }

    fn ruling(&self, decision: Decision) -> Ruling {
        Ruling { call: self.call.id.clone(), tool: self.call.name.clone(), decision }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What the model reads of a call that was not allowed to run.
fn denied(basis: &Basis) -> String {
    not_run(&format!("denied: {basis}"))
}

/// A call that was not allowed to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Denial {
    /// The call.
    pub call: ToolCall,
    /// Why.
    pub reason: String,
    /// Whether it needed approval and no one could be asked.
    pub nobody_to_ask: bool,
}

impl Denial {
    /// A call that was not allowed to run, for a reason that does not depend on a person's answer.
    #[must_use]
    pub const fn new(call: ToolCall, reason: String) -> Self {
        Self { call, reason, nobody_to_ask: false }
    }
}
