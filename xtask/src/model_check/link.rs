//! Session and agent (its lifecycle) together, joined by `link` as a driver joins them: two machines, a queue each way, and an environment
//! that delivers what is in the queues whenever it likes.
//!
//! What stands here in place of a driver is as plain as a driver can be: commands of the agent go down through [`link::command`], ends of
//! turns and signals come up through [`link::turn_ended`] and [`link::signals`], and the end of the session is told once all that it said
//! before was heard.

mod choices;
mod judge;
mod key;

use super::explore::Model;
use super::invariants::{Fault, Invariant, Tally, hold};
use agent_core::conversation::Item;
use agent_core::lifecycle::{self, CommitmentId, Lifecycle, LifecycleConfig};
use agent_core::link::{self, Turns};
use agent_core::session::{self, Session, SessionConfig, Trigger};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) use choices::{Choice, Left};

/// How an agent and its session are set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    /// The session's configuration, in the words of the scenarios.
    pub(crate) config: &'static str,
    pub(crate) commitments: u8,
    pub(crate) is_headless: bool,
    pub(crate) left: Left,
    pub(crate) smoke: Left,
}

/// The pairs that are explored.
pub(crate) const PAIRS: &[Pair] = &[
    Pair {
        name: "bound-alone",
        config: "mode=bypass retries=0 model-calls=6",
        commitments: 2,
        is_headless: true,
        left: Left { messages: 1, rounds: 1, commitments: 1, cancels: 1, ends: 1 },
        smoke: Left { messages: 1, rounds: 1, commitments: 0, cancels: 1, ends: 0 },
    },
    Pair {
        name: "bound-attended",
        config: "mode=bypass retries=0 model-calls=6",
        commitments: 1,
        is_headless: false,
        left: Left { messages: 3, rounds: 1, commitments: 0, cancels: 1, ends: 1 },
        smoke: Left { messages: 2, rounds: 1, commitments: 0, cancels: 1, ends: 0 },
    },
    Pair {
        name: "unbound",
        config: "mode=bypass retries=0 model-calls=3",
        commitments: 0,
        is_headless: true,
        left: Left { messages: 2, rounds: 1, commitments: 1, cancels: 1, ends: 1 },
        smoke: Left { messages: 2, rounds: 1, commitments: 0, cancels: 1, ends: 0 },
    },
    Pair {
        name: "asked-and-hooked",
        config: "mode=default retries=1 hooks=UserPromptSubmit,Stop model-calls=4",
        commitments: 1,
        is_headless: true,
        left: Left { messages: 1, rounds: 1, commitments: 0, cancels: 1, ends: 1 },
        smoke: Left { messages: 1, rounds: 1, commitments: 0, cancels: 0, ends: 0 },
    },
];

/// Both machines and what is between them.
#[derive(Clone, Debug)]
pub(crate) struct Together {
    pub(crate) session: Session,
    pub(crate) agent: Lifecycle,
    turns: Turns,
    /// From the agent to the session.
    down: VecDeque<Down>,
    /// From the session to the agent.
    up: VecDeque<Up>,
    /// Messages that the agent sent, and those of them that it heard the session take.
    sent: u64,
    taken: u64,
    /// Whether the session's driver has ended, and whether the agent was told.
    is_over: bool,
    is_told: bool,
    /// The checks that were asked for: how many there are, and the answers by commitment.
    checks: Option<(lifecycle::Ticket, Vec<Option<bool>>)>,
    /// Reports of what is missing since the last message that somebody sent.
    reports: u32,
    timer: Option<lifecycle::Ticket>,
    cleanup: Option<lifecycle::Ticket>,
    left: Left,
    steps: Steppers,
}

/// The machines' steps, and what a run came to. Only a test that plants a fault puts others here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steppers {
    pub(super) session: super::session::Stepper,
    pub(super) agent: fn(&mut Lifecycle, lifecycle::Event) -> Result<lifecycle::Step, lifecycle::Rejected>,
    pub(super) outcome: fn(&Turns, &lifecycle::Outcome) -> Option<session::Outcome>,
}

impl Default for Steppers {
    fn default() -> Self {
        Self {
            session: super::session::true_step,
            agent: |agent, event| agent.step(NOW_MS, event),
            outcome: |turns, agent| turns.outcome(Some(agent)),
        }
    }
}

#[derive(Clone, Debug)]
enum Down {
    Event(session::Event),
    Detach,
}

#[derive(Clone, Debug)]
enum Up {
    Taken,
    Signals(Vec<lifecycle::Event>),
    Prompt(session::Outcome),
}

/// A pair as a model.
pub(crate) struct Joined<'a> {
    pair: &'a Pair,
    session: SessionConfig,
    agent: LifecycleConfig,
    pub(super) steps: Steppers,
}

impl<'a> Joined<'a> {
    pub(crate) fn new(pair: &'a Pair) -> Result<Self, String> {
        let commitment = |number: u8| lifecycle::Commitment::of_command(&format!("check {number}"), 1_000);
        let bound = LifecycleConfig::headless((0..pair.commitments).map(commitment).collect());
        let agent = LifecycleConfig {
            max_rounds: 1,
            continues_after_failure: pair.is_headless,
            unsignalled_turn_claims: pair.is_headless,
            max_idle_ms: Some(1_000),
            max_work_ms: Some(1_000),
            max_wait_ms: Some(1_000),
            ..bound
        };
        Ok(Self { pair, session: super::notation::config(pair.config)?, agent, steps: Steppers::default() })
    }
}

impl Model for Joined<'_> {
    type Node = Together;
    type Choice = Choice;

    fn initial(&self) -> Together {
        let mut session = Session::new(self.session.clone());
        // A driver starts its session before it hears anybody.
        let _ = session.step(NOW_MS, session::Event::Started);
        session.forget_trace();
        Together {
            session,
            agent: Lifecycle::new(self.agent.clone()),
            turns: Turns::default(),
            down: VecDeque::new(),
            up: VecDeque::new(),
            sent: 0,
            taken: 0,
            is_over: false,
            is_told: false,
            checks: None,
            reports: 0,
            timer: None,
            cleanup: None,
            left: self.pair.left,
            steps: self.steps,
        }
    }

    fn choices(&self, node: &Together) -> Vec<Choice> {
        choices::of(node)
    }

    fn take(&self, node: &Together, choice: &Choice, _: &mut Tally) -> Result<Option<Together>, Fault> {
        let mut next = node.clone();
        let is_taken = next.apply(choice)?;
        next.session.forget_trace();
        Ok(is_taken.then_some(next))
    }

    fn inspect(&self, node: &Together, _: &dyn Fn() -> Vec<Choice>, tally: &mut Tally) -> Result<(), Fault> {
        judge::state(node, tally)
    }

    fn key(&self, node: &Together) -> u128 {
        key::of(node)
    }

    fn show(&self, node: &Together, choice: &Choice) -> String {
        let mut next = node.clone();
        let is_taken = next.apply(choice).unwrap_or(false);
        let refused = if is_taken { "" } else { ", refused" };
        format!("{choice}\n    session {:?}, agent {:?}{refused}", next.session.state(), next.agent.state())
    }
}

impl Together {
    /// Does what was chosen; false when it was rightly refused.
    fn apply(&mut self, choice: &Choice) -> Result<bool, Fault> {
        self.left.spend(choice);
        match choice {
            Choice::Session(event) => self.session_takes(event.clone()),
            Choice::Agent(event) => self.agent_takes(event, None),
            Choice::SessionDies => {
                self.is_over = true;
                Ok(true)
            }
            Choice::TellEnd => {
                self.is_told = true;
                self.agent_takes(&lifecycle::Event::SessionEnded, None)?;
                Ok(true)
            }
            Choice::Down => {
                match self.down.pop_front() {
                    Some(Down::Event(event)) if !self.is_over => drop(self.session_takes(event)?),
                    // Nobody is there to hear it.
                    Some(Down::Event(_)) | None => {}
                    Some(Down::Detach) => self.is_over = true,
                }
                Ok(true)
            }
            Choice::Up => {
                match self.up.pop_front() {
                    Some(Up::Taken) => self.taken += 1,
                    Some(Up::Signals(signals)) => {
                        for signal in signals {
                            self.agent_takes(&signal, None)?;
                        }
                    }
                    Some(Up::Prompt(outcome)) => {
                        let event = link::turn_ended(&outcome, self.taken);
                        self.agent_takes(&event, Some(&outcome))?;
                    }
                    None => {}
                }
                Ok(true)
            }
        }
    }

    fn session_takes(&mut self, event: session::Event) -> Result<bool, Fault> {
        let items = self.session.conversation().len();
        let Ok(step) = guarded(|| (self.steps.session)(&mut self.session, event))? else { return Ok(false) };
        for transition in &step.transitions {
            if transition.on == Trigger::UserInput {
                self.up.push_back(Up::Taken);
            }
        }
        if let Some(Item::Round(round)) = self.session.conversation().last().map(AsRef::as_ref)
            && self.session.conversation().len() > items
            // As the driver: a signal says nothing of a message that the model had not seen.
            && self.session.pending_input().next().is_none()
        {
            self.up.push_back(Up::Signals(link::signals(round)));
        }
        let prompts = step.actions.contains(&session::Action::PromptForInput);
        if let Some(outcome) = self.session.outcome().filter(|_| prompts) {
            self.up.push_back(Up::Prompt(outcome));
        }
        self.is_over |= self.session.state() == session::State::ShuttingDown;
        Ok(true)
    }

    fn agent_takes(&mut self, event: &lifecycle::Event, turn: Option<&session::Outcome>) -> Result<bool, Fault> {
        let before = self.agent.clone();
        let Ok(step) = guarded(|| (self.steps.agent)(&mut self.agent, event.clone()))? else {
            let is_same = before == self.agent;
            hold(Invariant::RefusalChangesNothing, is_same, || format!("{} changed something", event.name()))?;
            return Ok(false);
        };
        if let Some(outcome) = turn {
            self.turns.add(outcome);
            judge::rest(self, &before)?;
        }
        if let lifecycle::Event::CheckCompleted { commitment, report, .. } = event
            && let Some((_, answers)) = &mut self.checks
            && let Some(answer) = answers.get_mut(commitment.0)
        {
            *answer = Some(report.is_kept());
        }
        for action in step.actions {
            self.perform(action);
        }
        judge::claim(self, &before)?;
        Ok(true)
    }

    /// What a driver does for the agent.
    fn perform(&mut self, action: lifecycle::Action) {
        use lifecycle::Action;
        if let Some(command) = link::command(&action) {
            self.sent += u64::from(matches!(command, session::Event::UserInput { .. }));
            match action {
                Action::SendInput { .. } => self.reports = 0,
                Action::SendGapReport { .. } => self.reports += 1,
                _ => {}
            }
            self.down.push_back(Down::Event(command));
        }
        match action {
            Action::RunChecks { ticket, checks } => self.checks = Some((ticket, vec![None; checks.len()])),
            Action::CancelChecks { .. } => self.checks = None,
            Action::StartTimer { ticket, .. } => self.timer = Some(ticket),
            Action::StopTimer { .. } => self.timer = None,
            Action::CleanUp { ticket } => {
                self.checks = None;
                self.cleanup = Some(ticket);
                self.down.push_back(Down::Detach);
            }
            Action::ReleaseSession => self.down.push_back(Down::Detach),
            Action::SendInput { .. }
            | Action::SendGapReport { .. }
            | Action::CancelTurn
            | Action::ReportOutcome { .. } => {}
        }
    }

    /// Checks that have not ended.
    fn open_checks(&self) -> impl Iterator<Item = (lifecycle::Ticket, CommitmentId)> {
        self.checks.iter().flat_map(|(ticket, answers)| {
            let unanswered = (0..).zip(answers).filter(|(_, answer)| answer.is_none());
            unanswered.map(|(number, _)| (*ticket, CommitmentId(number)))
        })
    }
}

fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|_| Fault::new(Invariant::NoPanic, "a step panics"))
}

const NOW_MS: u64 = 0;
