//! When a call about children is answered, and with what.

use super::calls::{Awaited, Open};
use super::{Family, FamilyStep, Kin, words};
use crate::agents::Until;
use crate::child::{Child, Counts, State};
use crate::tool::ToolOutcome;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl Family {
    /// The next open call that can be answered, with its answer. Under a stop nothing is waited for but the end of children.
    pub(super) fn next_answer(
        &mut self,
        at_ms: u64,
        is_stopping: bool,
        out: &mut FamilyStep,
    ) -> Option<(Open, ToolOutcome)> {
        let at = self.open.iter().position(|open| self.is_ready(&open.until, is_stopping))?;
        let open = self.open.remove(at);
        let outcome = self.answer(at_ms, &open.until, is_stopping, out);
        Some((open, outcome))
    }

    fn state(&self, number: u32) -> State {
        self.kin(number).map_or(State::Told, |kin| kin.child.state())
    }

    /// Whether the child has something to say: it has ended, or asks.
    fn has_news(&self, number: u32) -> bool {
        matches!(self.state(number), State::Ended | State::Told) || self.kin(number).is_some_and(Kin::has_question)
    }

    /// Whether nothing comes from the child until its parent does something: it has ended, or waits for an answer.
    fn stands_still(&self, number: u32) -> bool {
        matches!(self.state(number), State::Ended | State::Told | State::Asking)
    }

    fn is_ready(&self, until: &Awaited, is_stopping: bool) -> bool {
        match until {
            Awaited::Failure(_) | Awaited::NotBegun(_) | Awaited::List => true,
            Awaited::Begin(number) => self.state(*number) != State::Starting,
            Awaited::Outcome(number) => self.has_news(*number),
            Awaited::End(number) => matches!(self.state(*number), State::Ended | State::Told),
            Awaited::Some(..) | Awaited::Taken(..) if is_stopping => true,
            Awaited::Some(numbers, Until::Any) if numbers.iter().any(|number| self.has_news(*number)) => true,
            // Those that wait for an answer wait for this agent: nothing else would come.
            Awaited::Some(numbers, _) => numbers.iter().all(|number| self.stands_still(*number)),
            Awaited::Taken(number, count) => {
                let taken = self.kin(*number).map_or(0, |kin| kin.child.taken());
                let is_over = self.kin(*number).is_none_or(|kin| kin.child.has_rested());
                taken >= *count || is_over || self.state(*number) == State::Stopping
            }
        }
    }

    fn answer(&mut self, at_ms: u64, until: &Awaited, is_stopping: bool, out: &mut FamilyStep) -> ToolOutcome {
        match until {
            Awaited::Failure(message) => ToolOutcome::failed(message.as_str()),
            Awaited::NotBegun(reason) => ToolOutcome::not_run(format!("the agent is not begun: {reason}")),
            Awaited::Begin(number) if matches!(self.state(*number), State::Ended | State::Told) => {
                self.tell_as_result(at_ms, *number, out)
            }
            Awaited::Begin(number) => {
                let name = self.kin(*number).map_or("", |kin| kin.child.name());
                ToolOutcome::ok(format!(
                    "The agent `{name}` has begun. You get its outcome from wait_agent, or when your turn ends."
                ))
            }
            Awaited::Outcome(number) | Awaited::End(number) => self.tell_as_result(at_ms, *number, out),
            Awaited::Some(_, _) if is_stopping && !self.is_ready(until, false) => {
                ToolOutcome::interrupted("stopped by the user")
            }
            Awaited::Some(numbers, _) => self.tell_all(at_ms, numbers, out),
            Awaited::Taken(number, count) => self.delivered(*number, *count),
            Awaited::List => ToolOutcome::ok(self.list()),
        }
    }

    fn delivered(&self, number: u32, count: u32) -> ToolOutcome {
        let Some(kin) = self.kin(number) else { return ToolOutcome::failed("not delivered") };
        let name = kin.child.name();
        match (kin.child.taken() >= count, kin.child.state()) {
            (true, _) => ToolOutcome::ok(format!("delivered to `{name}`")),
            (false, State::Clearing | State::Ended | State::Told) => {
                ToolOutcome::failed(format!("not delivered: `{name}` has ended"))
            }
            (false, _) => ToolOutcome::failed(format!("not delivered: `{name}` is being stopped")),
        }
    }

    /// The outcome or the question of a child as the result of a call.
    fn tell_as_result(&mut self, at_ms: u64, number: u32, out: &mut FamilyStep) -> ToolOutcome {
        // What was changed elsewhere is no change here.
        let kin = self.kin(number).filter(|kin| kin.changes_files());
        let changed = kin.and_then(|kin| kin.child.outcome()).map(|outcome| outcome.changed.clone());
        let told = match self.tell(at_ms, number, out) {
            Some((Counts::Ok, text)) => ToolOutcome::ok(text),
            Some((Counts::Failed, text)) => ToolOutcome::failed(text),
            Some((Counts::Interrupted, text)) => ToolOutcome::interrupted(text),
            Some((Counts::NotRun, text)) => ToolOutcome::not_run(text),
            None => ToolOutcome::ok("You have read its outcome already."),
        };
        ToolOutcome { changed_paths: changed.unwrap_or_default(), ..told }
    }

    /// What all of these have to say, in the order of their numbers.
    fn tell_all(&mut self, at_ms: u64, numbers: &[u32], out: &mut FamilyStep) -> ToolOutcome {
        let mut texts = Vec::new();
        for number in numbers {
            match self.tell(at_ms, *number, out) {
                Some((_, text)) => texts.push(text),
                None => texts.extend(self.kin(*number).map(words::line)),
            }
        }
        ToolOutcome::ok(texts.join("\n\n"))
    }

    fn list(&self) -> String {
        let lines: Vec<String> = self.kin.iter().map(words::line).collect();
        if lines.is_empty() { String::from("You have no agents.") } else { lines.join("\n") }
    }

    /// Whether a call waits for what the child has to say.
    fn is_awaited(&self, number: u32) -> bool {
        self.open.iter().any(|open| match &open.until {
            Awaited::Outcome(awaited) | Awaited::End(awaited) => *awaited == number,
            Awaited::Some(all, _) => all.contains(&number),
            Awaited::Failure(_) | Awaited::NotBegun(_) | Awaited::Begin(_) | Awaited::Taken(..) | Awaited::List => {
                false
            }
        })
    }

    /// The children that have something to say that no call takes up, those that ended first. Those whose outcomes were read cost
    /// nothing here.
    fn with_reports(&self) -> impl Iterator<Item = u32> {
        let asks = |number: &u32| self.kin(*number).is_some_and(Kin::has_question);
        let asking = self.alive.iter().copied().filter(asks);
        self.untold.iter().copied().chain(asking).filter(|number| !self.is_awaited(*number))
    }

    /// Whether a child has something to say that no call takes up.
    pub(super) fn has_report(&self) -> bool {
        self.with_reports().next().is_some()
    }

    /// The reports of all children that have something to say and for which no call waits.
    pub(super) fn reports(&mut self, at_ms: u64, out: &mut FamilyStep) -> Option<String> {
        let mut due: Vec<u32> = self.with_reports().collect();
        due.sort_unstable();
        let texts: Vec<String> = due.into_iter().filter_map(|number| Some(self.tell(at_ms, number, out)?.1)).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Whether `is` holds for any child that has not ended.
    pub(super) fn is_anyone(&self, is: impl Fn(&Child) -> bool) -> bool {
        self.alive.iter().any(|number| self.kin(*number).is_some_and(|kin| is(&kin.child)))
    }
}
