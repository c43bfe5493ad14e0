//! An agent that is bound to commitments: scripted model, scripted checks, time that moves only when nothing else can.

use crate::support::{builder, elapsed_ms, last_input, ms};
use agent_core::agent;
use agent_core::budget::Limits;
use agent_core::lifecycle::{self, CheckEnd, Commitment, Lifecycle, LifecycleConfig, State};
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::ports::{CancelSignal, Command, CommandError, CommandOutput, CommandRunner, Tool};
use agent_core::session::{Outcome, OutcomeKind, SessionConfig};
use agent_core::tool::ToolOutcome;
use agent_runner::{Builder, End, Handle, Notice, Notices};
use agent_testkit::{FakeTool, Reply, Script, ScriptedCommands, ScriptedProvider, TokioClock};
use async_trait::async_trait;
use serde_json::json;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::task::JoinHandle;
use tokio::time::Instant;

struct Agent {
    handle: Handle,
    notices: Notices,
    task: JoinHandle<(End, agent::Agent)>,
    seen: Vec<Notice>,
}

/// What is left of it.
struct Left {
    end: End,
    outcome: Option<Outcome>,
    lifecycle: Lifecycle,
}

impl Agent {
    fn start(builder: Builder, config: LifecycleConfig, commands: &ScriptedCommands) -> Self {
        Self::run_by(Arc::new(commands.clone()), builder, config)
    }

    fn run_by(commands: Arc<dyn CommandRunner>, builder: Builder, config: LifecycleConfig) -> Self {
        let (runner, handle, notices) = builder.bind(config).commands(commands).build().unwrap();
        Self { handle, notices, task: tokio::spawn(runner.run()), seen: Vec::new() }
    }

    async fn until(&mut self, fits: impl Fn(&Notice) -> bool) -> Notice {
        loop {
            let notice = tokio::time::timeout(ms(3_600_000), self.notices.recv()).await;
            let notice = notice.unwrap_or_else(|_| panic!("waited in vain: {:#?}", self.seen)).unwrap();
            self.see(notice.clone());
            if fits(&notice) {
                return notice;
            }
        }
    }

    /// The driver makes no move that the agent's table refuses.
    fn see(&mut self, notice: Notice) {
        assert!(!matches!(notice, Notice::Refused(_)), "{notice:?} after {:#?}", self.seen);
        self.seen.push(notice);
    }

    async fn ask(&mut self) -> (lifecycle::Outcome, OutcomeKind) {
        self.handle.input("do it");
        self.rested().await
    }

    async fn rested(&mut self) -> (lifecycle::Outcome, OutcomeKind) {
        match self.until(|notice| matches!(notice, Notice::Rested { .. })).await {
            Notice::Rested { agent, run } => (agent, run.unwrap().kind),
            other => panic!("{other:?}"),
        }
    }

    async fn leave(self) -> Left {
        self.handle.detach();
        self.ended().await
    }

    async fn ended(mut self) -> Left {
        let (end, agent) = tokio::time::timeout(ms(60_000), &mut self.task).await.unwrap().unwrap();
        while let Ok(notice) = self.notices.try_recv() {
            self.see(notice);
        }
        Left { end, outcome: agent.outcome(), lifecycle: agent.lifecycle().unwrap().clone() }
    }
}

fn bound(commands: &[&str]) -> LifecycleConfig {
    LifecycleConfig::headless(commands.iter().map(|command| Commitment::of_command(command, 5_000)).collect())
}

fn signal() -> Arc<dyn Tool> {
    Arc::new(FakeTool::reads("signal").outcome(ToolOutcome::ok("noted")))
}

#[tokio::test(start_paused = true)]
async fn without_commitments_nothing_is_checked() {
    let (provider, commands) = (ScriptedProvider::new(Script::new().text("Done.")), ScriptedCommands::new());
    let mut agent = Agent::start(builder(provider), bound(&[]), &commands);
    assert_eq!(agent.ask().await, (lifecycle::Outcome::Done { kept: 0 }, OutcomeKind::Success));
    let left = agent.leave().await;
    assert_eq!((left.end, left.lifecycle.state(), commands.commands().len()), (End::Detached, State::Done, 0));
    assert_eq!(left.outcome.unwrap().text, "Done.");
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_goes_to_the_model_and_everything_is_checked_again() {
    let provider = ScriptedProvider::new(Script::new().text("Done.").text("Now it is."));
    let commands = ScriptedCommands::new().exit(0, "").exit(1, "no such file\n").exit(0, "").exit(0, "");
    let mut agent = Agent::start(builder(provider.clone()), bound(&["first", "second"]), &commands);
    assert_eq!(agent.ask().await, (lifecycle::Outcome::Done { kept: 2 }, OutcomeKind::Success));
    let told = last_input(&provider.requests().all()[1]);
    assert!(told[0].contains("NOT KEPT: second") && told[0].contains("no such file"), "{told:?}");
    assert!(told[0].contains("kept: first"), "{told:?}");
    let asked: Vec<_> = commands.commands().all().iter().map(|command| command.arguments.join(" ")).collect();
    assert_eq!(asked, ["-c -- first", "-c -- second", "-c -- first", "-c -- second"]);
    assert!(agent.seen.iter().any(|notice| matches!(notice, Notice::GapReport { round: 1, .. })));
    assert_eq!(agent.leave().await.outcome.unwrap().text, "Now it is.");
}

#[tokio::test(start_paused = true)]
async fn after_three_reports_it_is_given_up() {
    let provider = ScriptedProvider::new(Script::new().text("1").text("2").text("3").text("4"));
    let commands = (0..4).fold(ScriptedCommands::new(), |commands, _| commands.exit(1, ""));
    let mut agent = Agent::start(builder(provider.clone()), bound(&["never"]), &commands);
    let (outcome, kind) = agent.ask().await;
    assert!(matches!(outcome, lifecycle::Outcome::NotKept { rounds: 3, .. }), "{outcome:?}");
    assert_eq!((kind, provider.requests().len()), (OutcomeKind::VerificationFailed, 4));
    let left = agent.ended().await;
    assert_eq!(left.lifecycle.state(), State::Reaped, "it was given up, and what it started ended with the runner");
}

/// What runs the command should end it in time; when it does not, it is not waited for either.
#[tokio::test(start_paused = true)]
async fn a_check_that_hangs_has_failed() {
    let provider = ScriptedProvider::new(Script::new().text("Done.").text("Done again."));
    let commands = ScriptedCommands::new().until_cancelled().timed_out();
    let config = LifecycleConfig { max_rounds: 1, ..bound(&["hangs"]) };
    let started = Instant::now();
    let mut agent = Agent::start(builder(provider), config, &commands);
    let (outcome, _) = agent.ask().await;
    let lifecycle::Outcome::NotKept { gaps, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(gaps[0].end, CheckEnd::TimedOut);
    assert!((5_000..20_000).contains(&elapsed_ms(started)));
}

#[tokio::test(start_paused = true)]
async fn a_check_that_panics_has_failed_and_one_that_cannot_start_ends_it() {
    let provider = ScriptedProvider::new(Script::new().text("1").text("2"));
    let commands = ScriptedCommands::new().respond(|_| panic!("thrown")).not_started("no shell");
    let mut agent = Agent::start(builder(provider), bound(&["throws"]), &commands);
    let (outcome, kind) = agent.ask().await;
    assert!(matches!(&outcome, lifecycle::Outcome::Uncheckable { .. }), "{outcome:?}");
    assert_eq!(kind, OutcomeKind::VerificationFailed);
    assert!(agent.seen.iter().any(|notice| matches!(notice,
        Notice::CheckFinished { report, .. } if matches!(report.end, CheckEnd::Broke { .. }))));
}

#[tokio::test(start_paused = true)]
async fn waiting_is_signalled_by_a_call() {
    let script = Script::new()
        .call("signal", json!({"status": "waiting", "summary": "which one?"}))
        .text("I am done and not waiting.")
        .text("Thanks.");
    let commands = ScriptedCommands::new().exit(0, "");
    let mut agent = Agent::start(builder(ScriptedProvider::new(script)).tool(signal()), bound(&["check"]), &commands);
    let waiting = lifecycle::Outcome::Waiting { summary: String::from("which one?") };
    assert_eq!(agent.ask().await, (waiting, OutcomeKind::Waiting));
    assert_eq!(commands.commands().len(), 0);
    agent.handle.input("that one");
    assert_eq!(agent.rested().await, (lifecycle::Outcome::Done { kept: 1 }, OutcomeKind::Success));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_the_checks() {
    let provider = ScriptedProvider::new(Script::new().text("Done."));
    let commands = ScriptedCommands::new().until_cancelled();
    let mut agent = Agent::start(builder(provider), bound(&["long", "other"]), &commands);
    agent.handle.input("do it");
    agent.until(|notice| matches!(notice, Notice::CheckStarted { .. })).await;
    let since = Instant::now();
    agent.handle.cancel();
    assert_eq!(agent.rested().await, (lifecycle::Outcome::Cancelled, OutcomeKind::Cancelled));
    let left = agent.leave().await;
    assert!(elapsed_ms(since) <= 200);
    assert_eq!((left.outcome.unwrap().kind, commands.commands().len()), (OutcomeKind::Cancelled, 1));
}

/// Commands that take a while to end after they were told to, and when each began and ended.
struct Slow {
    scripted: ScriptedCommands,
    grace_ms: u64,
    seen: Arc<Mutex<Vec<(&'static str, String)>>>,
}

#[async_trait]
impl CommandRunner for Slow {
    async fn run(&self, command: &Command, cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError> {
        let name = command.arguments.last().unwrap().clone();
        let _ended = Ended(name.clone(), self.seen.clone());
        self.seen.lock().unwrap().push(("began", name));
        let result = self.scripted.run(command, cancel).await;
        if cancel.is_cancelled() {
            tokio::time::sleep(ms(self.grace_ms)).await;
        }
        result
    }
}

/// A command that is dropped has ended, too.
struct Ended(String, Arc<Mutex<Vec<(&'static str, String)>>>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(("ended", self.0.clone()));
    }
}

#[tokio::test(start_paused = true)]
async fn checks_that_begin_anew_wait_for_the_command_before_them() {
    // The one ends by itself, the other is dropped when its grace is over.
    for grace_ms in [100, 3_600_000] {
        let provider = ScriptedProvider::new(Script::new().text("Done."));
        let scripted = ScriptedCommands::new().until_cancelled().exit(0, "").exit(0, "").exit(0, "");
        let seen = Arc::new(Mutex::default());
        let commands = Slow { scripted, grace_ms, seen: Arc::clone(&seen) };
        let mut agent = Agent::run_by(Arc::new(commands), builder(provider), bound(&["first"]));
        agent.handle.input("do it");
        agent.until(|notice| matches!(notice, Notice::CheckStarted { .. })).await;
        // The second time the checks begin anew while they still wait.
        for more in ["second", "third"] {
            agent.handle.add_commitment(Commitment::of_command(more, 5_000));
            tokio::time::sleep(ms(20)).await;
        }
        assert_eq!(agent.rested().await, (lifecycle::Outcome::Done { kept: 3 }, OutcomeKind::Success));
        let seen = seen.lock().unwrap().clone();
        let once = |name: &str| [("began", name.to_owned()), ("ended", name.to_owned())];
        let order: Vec<_> = ["first", "first", "second", "third"].into_iter().flat_map(once).collect();
        assert_eq!(seen, order, "{grace_ms}");
    }
}

#[tokio::test(start_paused = true)]
async fn checks_that_wait_for_a_command_are_stopped_too() {
    let provider = ScriptedProvider::new(Script::new().text("Done."));
    let seen = Arc::new(Mutex::default());
    let scripted = ScriptedCommands::new().until_cancelled();
    let commands = Slow { scripted, grace_ms: 3_600_000, seen: Arc::clone(&seen) };
    let mut agent = Agent::run_by(Arc::new(commands), builder(provider), bound(&["first"]));
    agent.handle.input("do it");
    agent.until(|notice| matches!(notice, Notice::CheckStarted { .. })).await;
    agent.handle.add_commitment(Commitment::of_command("second", 5_000));
    tokio::time::sleep(ms(20)).await;
    let since = Instant::now();
    agent.handle.cancel();
    assert_eq!(agent.rested().await, (lifecycle::Outcome::Cancelled, OutcomeKind::Cancelled));
    agent.leave().await;
    assert!(elapsed_ms(since) <= 200);
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen, [("began", String::from("first")), ("ended", String::from("first"))]);
}

#[tokio::test(start_paused = true)]
async fn leaving_stops_the_checks_and_decides_nothing() {
    let provider = ScriptedProvider::new(Script::new().text("Done."));
    let commands = ScriptedCommands::new().until_cancelled();
    let mut agent = Agent::start(builder(provider), bound(&["long"]), &commands);
    agent.handle.input("do it");
    agent.until(|notice| matches!(notice, Notice::CheckStarted { .. })).await;
    let since = Instant::now();
    let left = agent.leave().await;
    assert!(elapsed_ms(since) <= 200);
    assert_eq!((left.lifecycle.state(), left.outcome), (State::Verifying, None));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_fails_claims_nothing() {
    let error = LlmError::new(LlmErrorKind::Authentication, "no");
    let provider = ScriptedProvider::new(Script::new().error(error));
    let commands = ScriptedCommands::new();
    let mut agent = Agent::start(builder(provider), bound(&["check"]), &commands);
    assert_eq!(agent.ask().await, (lifecycle::Outcome::TurnFailed, OutcomeKind::Authentication));
    assert_eq!(commands.commands().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn secrets_in_the_output_of_a_check_reach_nobody() {
    let provider = ScriptedProvider::new(Script::new().text("Done.").text("Done."));
    let commands = ScriptedCommands::new().exit(1, "key: hunter2hunter2\n").exit(0, "");
    let builder = builder(provider.clone()).secret("hunter2hunter2");
    let mut agent = Agent::start(builder, bound(&["check"]), &commands);
    agent.ask().await;
    let told = last_input(&provider.requests().all()[1]);
    assert!(told[0].contains("[redacted]"), "{told:?}");
    assert!(!format!("{:?}", agent.seen).contains("hunter2"));
}

/// The checks, and the turns that follow from them, count as much as the turn before.
#[tokio::test(start_paused = true)]
async fn the_limit_of_time_holds_over_the_checks() {
    let limited = |provider| {
        let limits = Limits { max_wall_time_ms: Some(10_000), ..Limits::default() };
        let config = SessionConfig { limits, ..SessionConfig::default() };
        Builder::new(config).provider(Arc::new(provider)).clock(Arc::new(TokioClock::new(1_000_000)))
    };
    let stalled = Script::new().text("Done.").stall_after(Reply::new().text("…"), 0);
    // The one hangs until the limit, the other until it is given up, and the turn after it hangs: its own limit is what is left of the
    // time.
    let spent = (lifecycle::Outcome::BudgetExceeded, lifecycle::Trigger::BudgetExceeded, State::Verifying);
    let cut = (lifecycle::Outcome::TurnOutOfBudget, lifecycle::Trigger::TurnOutOfBudget, State::Working);
    for (script, timeout_ms, (outcome, trigger, last)) in
        [(Script::new().text("Done."), 60_000, spent), (stalled, 1_000, cut)]
    {
        let provider = ScriptedProvider::new(script);
        let config = LifecycleConfig::headless(vec![Commitment::of_command("check", timeout_ms)]);
        let started = Instant::now();
        let commands = ScriptedCommands::new().until_cancelled();
        let mut agent = Agent::start(limited(provider.clone()), config, &commands);
        assert_eq!(agent.ask().await, (outcome, OutcomeKind::Budget));
        assert_eq!(elapsed_ms(started) / 1_000, 10);
        let reaped = agent.seen.iter().find_map(|notice| match notice {
            Notice::Lifecycle(step) if step.on == trigger => Some(step.from),
            _ => None,
        });
        assert_eq!(reaped, Some(last));
        assert_eq!((agent.ended().await.lifecycle.state(), provider.open_streams()), (State::Reaped, 0));
    }
    // Of an agent that rests nothing is left to be limited.
    let (provider, commands) =
        (ScriptedProvider::new(Script::new().text("Done.")), ScriptedCommands::new().exit(0, ""));
    let mut agent = Agent::start(limited(provider), bound(&["check"]), &commands);
    assert_eq!(agent.ask().await.1, OutcomeKind::Success);
    tokio::time::sleep(ms(20_000)).await;
    assert_eq!(agent.leave().await.lifecycle.state(), State::Done);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_works_too_long_is_given_up() {
    let provider = ScriptedProvider::new(Script::new().stall_after(Reply::new().text("…"), 0));
    let config = LifecycleConfig { max_work_ms: Some(60_000), ..bound(&[]) };
    let started = Instant::now();
    let mut agent = Agent::start(builder(provider.clone()), config, &ScriptedCommands::new());
    agent.handle.input("do it");
    let found = agent.until(|notice| matches!(notice, Notice::Rested { .. })).await;
    assert!(matches!(found, Notice::Rested { agent: lifecycle::Outcome::TimedOut { state: State::Working }, .. }));
    let left = tokio::time::timeout(ms(1_000), agent.ended()).await.unwrap();
    assert_eq!((left.lifecycle.state(), left.outcome.unwrap().kind), (State::Reaped, OutcomeKind::Budget));
    assert_eq!((elapsed_ms(started) / 1_000, provider.open_streams()), (60, 0));
}

/// The model signals that it waits while a message is on its way to it: the end of that turn is a claim again, and is checked.
#[tokio::test(start_paused = true)]
async fn a_signal_says_nothing_of_a_message_that_the_model_has_not_seen() {
    // While the signal is given; and while another call runs before it, so that the session has the message already.
    for interrupted in ["signal", "change"] {
        let waits = json!({"status": "waiting", "summary": "which one?"});
        let reply = Reply::new().call("change", json!({})).call("signal", waits);
        let provider = ScriptedProvider::new(Script::new().answer(reply).text("Both are done."));
        let host = Arc::new(OnceLock::<Handle>::new());
        let tool = |tool: FakeTool, name: &str| -> Arc<dyn Tool> {
            let host = Arc::clone(&host);
            let is_interrupted = name == interrupted;
            Arc::new(tool.respond(move |_| {
                if is_interrupted {
                    host.get().unwrap().input("and do that");
                }
                ToolOutcome::ok("noted")
            }))
        };
        let builder = builder(provider.clone());
        let builder = builder.tool(tool(FakeTool::reads("signal"), "signal"));
        let builder = builder.tool(tool(FakeTool::changes("change"), "change"));
        let mut agent = Agent::start(builder, bound(&["check"]), &ScriptedCommands::new().exit(0, ""));
        let _ = host.set(agent.handle.clone());
        assert_eq!(agent.ask().await, (lifecycle::Outcome::Done { kept: 1 }, OutcomeKind::Success), "{interrupted}");
        assert_eq!(last_input(&provider.requests().last().unwrap()), ["and do that"], "{interrupted}");
        assert_eq!(agent.leave().await.outcome.unwrap().kind, OutcomeKind::Success);
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_to_which_nobody_says_anything_is_given_up() {
    let provider = ScriptedProvider::new(Script::new());
    let config = LifecycleConfig { max_idle_ms: Some(60_000), ..bound(&[]) };
    let started = Instant::now();
    let mut agent = Agent::start(builder(provider), config, &ScriptedCommands::new());
    let found = agent.until(|notice| matches!(notice, Notice::Rested { .. })).await;
    assert!(matches!(found, Notice::Rested { agent: lifecycle::Outcome::TimedOut { state: State::Idle }, .. }));
    assert_eq!(agent.ended().await.lifecycle.state(), State::Reaped);
    assert_eq!(elapsed_ms(started) / 1_000, 60);
}

/// The timer fires in the moment of the message, and is heard behind it.
#[tokio::test(start_paused = true)]
async fn a_message_at_the_last_moment_is_worked_on() {
    let provider = ScriptedProvider::new(Script::new().text("done"));
    let config = LifecycleConfig { max_idle_ms: Some(60_000), ..bound(&[]) };
    // Begun before the agent's timer, and so woken before it.
    let mut moment = std::pin::pin!(tokio::time::sleep(ms(60_000)));
    let _ = tokio::time::timeout(ms(0), &mut moment).await;
    let mut agent = Agent::start(builder(provider), config, &ScriptedCommands::new());
    moment.await;
    assert_eq!(agent.ask().await, (lifecycle::Outcome::Done { kept: 0 }, OutcomeKind::Success));
}
