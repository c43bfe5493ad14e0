//! The questions of a conversation: whether a call may run.
//!
//! 1. What was shown is what is allowed: where the files have changed meanwhile, the question is put again, under a new id.
//! 2. An answer is taken once. One to nothing, a second one, and one that says something else than yes or no change nothing.
//! 3. A question that the session withdraws is withdrawn at the program, which reads no question behind it.

use super::said::{Answer, Scope, Word};
use crate::commands::acp::CallInsight;
use crate::screen::answer::Asker;
use crate::screen::approver::Question;
use crate::screen::offered::typed;
use crate::screen::view::call_line;
use crate::screen::wire::{ChangeReport, QuestionReport};
use agent_acp::{Change, Insight as _};
use agent_core::conversation::Arguments;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, Rule};
use serde_json::Value;
use std::collections::BTreeMap;
use tokio::sync::{mpsc, oneshot};

/// The questions that wait for an answer, by number.
pub(super) struct Questions {
    open: BTreeMap<u64, Open>,
    last: u64,
    /// Takes the numbers of questions that nobody waits with any more.
    ended: mpsc::UnboundedSender<u64>,
}

struct Open {
    question: ApprovalQuestion,
    /// Under which it is asked now.
    id: String,
    /// How often it was put again.
    repeats: u32,
    /// What it would change, as that was shown.
    shown: Vec<Change>,
    /// Empty where a hook asked, which no rule overrides.
    offered: Vec<Rule>,
    asker: Asker,
    /// Where the answer goes; nobody takes it from a question that was withdrawn.
    answer: oneshot::Sender<ApprovalAnswer>,
}

/// What an answer comes to.
pub(super) enum Answered {
    /// It is taken; what the person has to know of it comes with it.
    Taken(Option<String>),
    /// The files have changed since they were shown: the question is put again.
    Again(Box<QuestionReport>),
    /// It is none, and why.
    Not(String),
}

impl Questions {
    /// None yet, and where the numbers of those arrive that have ended.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<u64>) {
        let (ended, numbers) = mpsc::unbounded_channel();
        (Self { open: BTreeMap::new(), last: 0, ended }, numbers)
    }

    /// Takes a question, and says how the program is asked.
    pub(super) fn put(
        &mut self,
        (question, mut answer): Question,
        asker: Asker,
        insight: &CallInsight,
        session: &str,
    ) -> QuestionReport {
        self.last += 1;
        let (given, taken) = oneshot::channel();
        let (number, ended) = (self.last, self.ended.clone());
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = answer.closed() => {}
                // It may have been withdrawn meanwhile.
                Ok(given) = taken => drop(answer.send(given)),
            }
            let _ = ended.send(number);
        });
        let open = Open {
            offered: if asker == Asker::Hook { Vec::new() } else { insight.offered(&question) },
            shown: insight.changes(&question.call),
            id: format!("q{number}"),
            repeats: 0,
            question,
            asker,
            answer: given,
        };
        let report = open.report(session);
        self.open.insert(number, open);
        report
    }

    /// Takes what the program answers.
    pub(super) fn answered(&mut self, answer: &Answer, insight: &CallInsight, session: &str) -> Answered {
        let found = self.open.iter().find(|(_, open)| open.id == answer.question).map(|(number, _)| *number);
        let Some((number, mut open)) = found.and_then(|number| Some((number, self.open.remove(&number)?))) else {
            let id: String = answer.question.chars().take(100).collect();
            return Answered::Not(format!("no question `{id}` waits for an answer"));
        };
        let given = match open.read(answer) {
            Ok(given) => given,
            Err(why) => {
                self.open.insert(number, open);
                return Answered::Not(why);
            }
        };
        if let ApprovalAnswer::Allow { arguments: None, .. } = given {
            let now = insight.changes(&open.question.call);
            if now != open.shown {
                (open.shown, open.repeats) = (now, open.repeats + 1);
                open.id = format!("q{number}-{}", open.repeats + 1);
                let report = open.report(session);
                self.open.insert(number, open);
                return Answered::Again(Box::new(report));
            }
        }
        let (given, told) = match given {
            ApprovalAnswer::Allow { scope: ApprovalScope::Always(rules), arguments: None } => insight.keeping(rules),
            given => (given, None),
        };
        // One that was withdrawn meanwhile is said to be.
        let _ = open.answer.send(given);
        Answered::Taken(told.filter(|told| !told.is_empty()))
    }

    /// A question has ended. The id of one that was withdrawn.
    pub(super) fn ended(&mut self, number: u64) -> Option<String> {
        self.open.remove(&number).map(|open| open.id)
    }

    /// All have ended. The ids of those that were withdrawn.
    pub(super) fn all_ended(&mut self) -> Vec<String> {
        std::mem::take(&mut self.open).into_values().map(|open| open.id).collect()
    }

    /// Nobody answers any more.
    pub(super) fn without_answer(&mut self) {
        std::mem::take(&mut self.open).into_values().for_each(|open| drop(open.answer.send(ApprovalAnswer::Nobody)));
    }
}

impl Open {
    fn report(&self, session: &str) -> QuestionReport {
        let call = &self.question.call;
        let change = |change: &Change| ChangeReport {
            path: change.path.clone(),
            old: change.old.clone(),
            new: change.new.clone(),
        };
        QuestionReport {
            id: self.id.clone(),
            tool_use_id: call.id.to_string(),
            tool_name: call.name.to_string(),
            tool_input: serde_json::from_str(call.arguments.as_str()).unwrap_or_default(),
            title: call_line(call),
            reason: self.question.reason.clone(),
            changes: self.shown.iter().map(change).collect(),
            rules: self.offered.iter().map(ToString::to_string).collect(),
            session_id: session.to_owned(),
        }
    }

    /// What an answer says, or why it is none.
    fn read(&self, answer: &Answer) -> Result<ApprovalAnswer, String> {
        let refuse = |is_given: bool, what: &str, needs: &str| match is_given {
            true => Err(format!("`{what}` belongs to an answer with {needs}")),
            false => Ok(()),
        };
        if answer.decision == Word::Deny {
            refuse(answer.scope != Scope::Once, "scope", "`\"decision\":\"allow\"`")?;
            refuse(!answer.rules.is_empty(), "rules", "`\"decision\":\"allow\"`")?;
            refuse(answer.arguments.is_some(), "arguments", "`\"decision\":\"allow\"`")?;
            return Ok(ApprovalAnswer::Deny { reason: answer.reason.clone() });
        }
        refuse(!answer.reason.is_empty(), "reason", "`\"decision\":\"deny\"`")?;
        let scope = match answer.scope {
            Scope::Once => {
                refuse(!answer.rules.is_empty(), "rules", "the scope `session` or `always`")?;
                ApprovalScope::Once
            }
            Scope::Session => ApprovalScope::Session(self.rules(&answer.rules)?),
            Scope::Always => ApprovalScope::Always(self.rules(&answer.rules)?),
        };
        refuse(answer.arguments.is_some() && answer.scope != Scope::Once, "arguments", "the scope `once`")?;
        let arguments =
            answer.arguments.clone().map(|arguments| Arguments::parse(&Value::Object(arguments).to_string()));
        let arguments = arguments.transpose().map_err(|error| format!("the arguments are not valid: {error}"))?;
        Ok(ApprovalAnswer::Allow { scope, arguments })
    }

    /// The rules that hold for longer than once.
    fn rules(&self, given: &[String]) -> Result<Vec<Rule>, String> {
        if self.asker == Asker::Hook {
            return Err(String::from("a hook asked, and no rule overrides it: allow this call once, or deny it"));
        }
        match given {
            [] if self.offered.is_empty() => {
                Err(String::from("no rule that names only this call is offered: give `rules`, or the scope `once`"))
            }
            [] => Ok(self.offered.clone()),
            given => typed(&given.join(","), &self.question),
        }
    }
}
