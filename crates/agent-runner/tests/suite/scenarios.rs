//! Short runs that together fire every row a runner can fire, as data: what stands around the runner, and what the host does.

mod left;

pub(crate) use left::Left;

use crate::scenes::{Scene, WAITING};
use crate::support::{Gated, HangingHook, SlowHook, config, ms, tool, with_config};
use agent_core::hook::{FormatReport, GitReport, HookEnd, HookError, HookOccasion, HookPoint, HookReport, HookRun};
use agent_core::llm::{LlmError, LlmErrorKind, StopReason};
use agent_core::permission::{ApprovalAnswer, PermissionMode};
use agent_core::ports::Hook;
use agent_core::session::{ModelConfig, SessionConfig, State};
use agent_runner::Builder;
use agent_testkit::{FakeTool, RecordingHook, Reply, Script, ScriptedApprover, ScriptedProvider, ToolLog};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Notify;

/// One run.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) stage: Box<dyn Fn() -> Stage>,
    pub(crate) acts: Vec<Act>,
}

/// What stands around the runner.
pub(crate) struct Stage {
    pub(crate) builder: Builder,
    pub(crate) provider: ScriptedProvider,
    pub(crate) tools: Vec<ToolLog>,
    pub(crate) gate: Arc<Notify>,
    /// How an earlier program left the session, if one did.
    pub(crate) left: Option<Left>,
}

/// What the host does, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Say(&'static str),
    /// Sends a message that waits for the end of the turn.
    Later(&'static str),
    TakeBack(&'static str),
    /// Waits until the session has entered the state and what is asked of the outside has arrived there.
    Until(State),
    /// Waits for the end of the run.
    Prompt,
    Cancel,
    /// Lets the model answer in the very moment of the cancel.
    AnswerAndCancel,
    ShutDown,
    Compact,
    RaiseLimits,
    Reconfigure,
    /// Leaves, and goes on listening.
    Leave,
}

use Act::{
    AnswerAndCancel, Cancel, Compact, Later, Leave, Prompt, RaiseLimits, Reconfigure, Say, ShutDown, TakeBack, Until,
};

pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    for state in WAITING {
        all.extend(in_each_waiting_state(state));
    }
    all.extend(turns());
    all.extend(failures());
    all.extend(summaries());
    all.extend(raised());
    all.extend(tools());
    all.extend(hooks());
    all.extend(users_hooks());
    all.extend(lives());
    all
}

fn in_each_waiting_state(state: State) -> [Scenario; 2] {
    let stage = move || {
        let scene = Scene::hanging_in(state);
        let (provider, tools) = (scene.provider.clone(), vec![scene.looked.clone(), scene.edited.clone()]);
        Stage { builder: scene.builder(), provider, tools, gate: Arc::default(), left: None }
    };
    let enter = if state == State::Compacting { vec![Say("tell me"), Prompt, Compact] } else { vec![Say("go")] };
    let with = |acts: &[Act]| [enter.as_slice(), &[Until(state)], acts].concat();
    let busy = with(&[Say("more"), Later("then"), TakeBack("then"), RaiseLimits, Reconfigure, Cancel, Prompt]);
    let (left, stage) = (with(&[ShutDown]), Arc::new(stage));
    let again = stage.clone();
    [
        Scenario { name: format!("busy in {state:?}"), stage: Box::new(move || stage()), acts: busy },
        Scenario { name: format!("shut down in {state:?}"), stage: Box::new(move || again()), acts: left },
    ]
}

fn turns() -> Vec<Scenario> {
    let slow = || Script::new().answer(Reply::new().text("one").first_delay(ms(300))).text("two");
    let no_calls = |config: &mut SessionConfig| config.limits.max_model_calls = Some(0);
    let short = |config: &mut SessionConfig| config.limits.max_wall_time_ms = Some(1_000);
    vec![
        scenario("plain", &[Say("hello"), Prompt], || Script::new().text("hi")),
        scenario("typed ahead", &[Say("1"), Until(State::CallingLlm), Say("2"), Prompt], slow),
        scenario("for later", &[Say("1"), Until(State::CallingLlm), Later("2"), Prompt], slow),
        scenario("for later at rest", &[Later("hello"), Prompt], || Script::new().text("hi")),
        scenario("taken back at rest", &[Say("go"), Until(State::Error), Later("2"), Prompt, TakeBack("2")], || {
            let error = |kind| LlmError::new(kind, "broken");
            Script::new().error(error(LlmErrorKind::Server)).error(error(LlmErrorKind::Authentication))
        }),
        scenario("idle", &[RaiseLimits, Reconfigure, Cancel, Say("hello"), Prompt, ShutDown], || {
            Script::new().text("hi")
        }),
        configured("limit before the call", &[Say("go"), Prompt, RaiseLimits, Prompt], no_calls, || {
            Script::new().text("hi")
        }),
        configured("out of time", &[Say("go"), Prompt], short, || Script::new().hang()),
        scenario("paused", &[Say("go"), Prompt], || {
            Script::new().answer(Reply::new().text("half").stop(StopReason::Paused)).text("whole")
        }),
        scenario("empty answer", &[Say("go"), Prompt], || Script::new().answer(Reply::new()).text("well")),
        scenario("refusal", &[Say("go"), Prompt], || {
            Script::new().answer(Reply::new().text("no").stop(StopReason::Refusal))
        }),
        gated("answer and cancel", 1, &[Say("go"), Until(State::CallingLlm), AnswerAndCancel, Prompt], || {
            Script::new().call("edit", json!({}))
        }),
    ]
}

/// Each failure in both kinds of model call: with a message and with results.
fn failures() -> Vec<Scenario> {
    let two_models = |config: &mut SessionConfig| config.models.push(ModelConfig::new("model-b"));
    let kinds =
        [LlmErrorKind::Server, LlmErrorKind::Overloaded, LlmErrorKind::Authentication, LlmErrorKind::ContextOverflow];
    let mut all = Vec::new();
    for kind in kinds {
        for after_tools in [false, true] {
            let script = move || {
                let long = Script::new().text("long ".repeat(500));
                let script = if after_tools { long.call("look", json!({})) } else { long };
                let script = script.error(LlmError::new(kind, "broken"));
                let script = if kind == LlmErrorKind::ContextOverflow { script.text("short") } else { script };
                script.text("well")
            };
            let name = format!("{kind:?}{}", if after_tools { " after tools" } else { "" });
            let acts = [Say("tell me"), Prompt, Say("go"), Prompt];
            all.push(match kind {
                LlmErrorKind::Overloaded => configured(&name, &acts, two_models, script),
                _ => scenario(&name, &acts, script),
            });
        }
    }
    all
}

/// Programs that went on with a session that another one had left: with what was in flight begun or not, and under a stop.
fn lives() -> Vec<Scenario> {
    let life = |left: Left| {
        let stage = move || {
            let mut config = config();
            if left.state == State::AwaitingApproval {
                config.permissions.mode = PermissionMode::Default;
            }
            if left.state == State::RunningHooks {
                config.hooks = [HookPoint::UserPromptSubmit].into();
            }
            let stage = stage(config, Script::new().text("done"), usize::MAX);
            Stage { left: Some(left), ..stage }
        };
        let is_idle = left.state == State::WaitingForUserInput;
        let acts = if is_idle { vec![Say("go"), Prompt] } else { vec![Prompt] };
        Scenario { name: format!("{left:?}"), stage: Box::new(stage), acts }
    };
    let idle = Left { state: State::WaitingForUserInput, is_stopped: false, has_begun: false };
    let all = WAITING.into_iter().flat_map(|state| {
        let left = Left { state, ..idle };
        let is_model = matches!(state, State::CallingLlm | State::SendingToolResults | State::Compacting);
        let is_withdrawn = matches!(state, State::AwaitingApproval | State::Error);
        let begun = is_model.then_some(Left { has_begun: true, ..left });
        let stopped = (!is_withdrawn).then_some(Left { is_stopped: true, ..left });
        [Some(left), begun, stopped].into_iter().flatten()
    });
    all.chain([idle]).map(life).collect()
}

fn summaries() -> Vec<Scenario> {
    let long = || Script::new().text("long ".repeat(500));
    let two_models = |config: &mut SessionConfig| config.models.push(ModelConfig::new("model-b"));
    let ask = [Say("tell me"), Prompt, Compact, Prompt];
    vec![
        scenario("summary", &ask, move || long().text("short")),
        scenario(
            "summary with input",
            &[Say("tell me"), Prompt, Compact, Until(State::Compacting), Say("go"), Prompt],
            move || long().answer(Reply::new().text("short").first_delay(ms(300))).text("done"),
        ),
        scenario("useless summary", &ask, move || long().text("long ".repeat(600))),
        scenario("summary at the second try", &ask, move || {
            long().error(LlmError::new(LlmErrorKind::Server, "broken")).text("short")
        }),
        configured("summary by the next model", &ask, two_models, move || {
            long().error(LlmError::new(LlmErrorKind::Overloaded, "busy")).text("short")
        }),
        gated(
            "summary and cancel",
            2,
            &[Say("tell me"), Prompt, Compact, Until(State::Compacting), AnswerAndCancel, Prompt],
            move || long().text("short"),
        ),
    ]
}

/// Limits that are raised while something else than the work that they had stopped is under way: the work goes on behind it.
fn raised() -> Vec<Scenario> {
    let no_calls = |config: &mut SessionConfig| config.limits.max_tool_calls = Some(0);
    let compacting =
        [Say("tell me"), Prompt, Say("go"), Prompt, Compact, Until(State::Compacting), RaiseLimits, Prompt];
    let useless = configured("raised during a useless summary", &compacting, no_calls, || {
        let summary = Reply::new().text("long ".repeat(600)).first_delay(ms(300));
        Script::new().text("long ".repeat(500)).call("look", json!({})).answer(summary).text("done")
    });
    let no_model = |config: &mut SessionConfig| {
        config.limits.max_model_calls = Some(0);
        config.hooks = [HookPoint::SessionEnd].into();
    };
    let leaving = [Say("go"), Prompt, Leave, Until(State::RunningHooks), RaiseLimits, Prompt];
    let mut left = configured("raised while the host leaves", &leaving, no_model, || Script::new().text("done"));
    let around = left.stage;
    left.stage = Box::new(move || {
        let stage = around();
        Stage { builder: stage.builder.hook(Arc::new(SlowHook)), ..stage }
    });
    vec![useless, left]
}

fn tools() -> Vec<Scenario> {
    let calls = |names: &'static [&'static str]| {
        move || {
            let reply = names.iter().fold(Reply::new(), |reply, name| reply.call(*name, json!({})));
            Script::new().answer(reply).text("done")
        }
    };
    let asking = |config: &mut SessionConfig| config.permissions.mode = PermissionMode::Default;
    let one_call = |config: &mut SessionConfig| config.limits.max_model_calls = Some(1);
    let both = |config: &mut SessionConfig| {
        config.limits.max_model_calls = Some(1);
        config.limits.max_repetitions = Some(1);
    };
    let no_repeats = |config: &mut SessionConfig| config.limits.max_repetitions = Some(2);
    let go = [Say("go"), Prompt];
    vec![
        scenario("a read", &go, calls(&["look"])),
        scenario("reads", &go, calls(&["look", "look"])),
        scenario("an edit", &go, calls(&["edit"])),
        scenario("edits", &go, calls(&["edit", "edit"])),
        scenario("unknown tool", &go, calls(&["unheard_of"])),
        scenario(
            "edits cancelled",
            &[Say("go"), Until(State::ExecutingTools), Cancel, Prompt],
            calls(&["hang", "edit"]),
        ),
        configured("limit after tools", &go, one_call, calls(&["look"])),
        // The limit has the word before the repetition: without its row behind the tools, the one before the next call is too late.
        configured("limit and repetition", &go, both, calls(&["look"])),
        configured("repetition", &go, no_repeats, || {
            Script::new().call("look", json!({})).call("look", json!({})).text("never")
        }),
        approved("allowed", ScriptedApprover::allowing, asking, calls(&["edit", "edit"])),
        approved("denied", || ScriptedApprover::denying("no"), asking, calls(&["edit", "edit"])),
        approved(
            "one of two",
            || ScriptedApprover::allowing().first([ApprovalAnswer::Nobody]),
            asking,
            calls(&["edit", "edit"]),
        ),
    ]
}

fn hooks() -> Vec<Scenario> {
    let failed = || HookError::Failed { message: String::from("broken") };
    let stop = || HookError::StopTurn { reason: String::from("freeze") };
    let format_due =
        || RecordingHook::new().on_check_git(Ok(GitReport { formatting_due: true, ..GitReport::default() }));
    let commit_due = || RecordingHook::new().on_check_git(Ok(GitReport { commit_due: true, ..GitReport::default() }));
    let formatted = || Ok(FormatReport { changed_paths: vec![String::from("a.rs")], ..FormatReport::default() });
    vec![
        hooked("looked at", RecordingHook::new),
        hooked("formatted and committed", HangingHook::default),
        hooked("formatted", move || format_due().on_format(formatted())),
        hooked("committed", commit_due),
        hooked("look fails", move || RecordingHook::new().on_check_git(Err(failed()))),
        hooked("look stops", move || RecordingHook::new().on_check_git(Err(stop()))),
        hooked("format fails", move || format_due().on_format(Err(failed()))),
        hooked("format stops", move || format_due().on_format(Err(stop()))),
        hooked("commit fails", move || commit_due().on_commit(Err(failed()))),
        hooked("commit stops", move || commit_due().on_commit(Err(stop()))),
    ]
}

/// The user's hooks, each run of which is seen.
fn users_hooks() -> Vec<Scenario> {
    use HookPoint::{PostToolUse, PreCompact, PreToolUse, SessionEnd, Stop, UserPromptSubmit};
    let go = [Say("go"), Prompt];
    let said = |report: HookReport| move |_: &HookOccasion| ran(report.clone());
    let plain = HookReport::default;
    let text = |text: &str| Some(String::from(text));
    let block = || HookReport { block: text("no"), ..plain() };
    let stop = || HookReport { stop: text("enough"), ..plain() };
    let once = |occasion: &HookOccasion| match occasion {
        HookOccasion::Stop { is_held: false, .. } => {
            ran(HookReport { block: Some(String::from("no")), ..HookReport::default() })
        }
        HookOccasion::UserPromptSubmit { prompt } if prompt == "1" => {
            ran(HookReport { block: Some(String::from("no")), ..HookReport::default() })
        }
        _ => ran(HookReport::default()),
    };
    let summary = [Say("tell me"), Prompt, Compact, Prompt];
    vec![
        users(
            "a message passes",
            UserPromptSubmit,
            &go,
            said(HookReport { context: vec![String::from("mind")], ..plain() }),
        ),
        users("a message is blocked", UserPromptSubmit, &go, said(block())),
        users("a message stops", UserPromptSubmit, &go, said(stop())),
        users("the second message passes", UserPromptSubmit, &[Say("1"), Say("2"), Prompt], once),
        users("the hook panics", UserPromptSubmit, &go, |_| panic!("of the hook")),
        users("calls are looked at", PostToolUse, &go, said(block())),
        users("a call stops", PreToolUse, &go, said(stop())),
        users("a turn is kept from ending", Stop, &go, once),
        users("for later behind a hook", Stop, &[Say("go"), Later("2"), Prompt], said(plain())),
        users("no summary", PreCompact, &summary, said(block())),
        users("leaving", SessionEnd, &go, said(plain())),
    ]
}

fn ran(report: HookReport) -> HookReport {
    let run = HookRun {
        point: HookPoint::Stop,
        command: String::from("look"),
        call: None,
        took_ms: 3,
        end: HookEnd::Passed,
        message: String::new(),
    };
    HookReport { runs: vec![run], ..report }
}

fn users(
    name: &str,
    point: HookPoint,
    acts: &[Act],
    answer: impl Fn(&HookOccasion) -> HookReport + Clone + Send + Sync + 'static,
) -> Scenario {
    let configure = move |config: &mut SessionConfig| config.hooks = [point].into();
    let mut scenario = configured(name, acts, configure, || {
        Script::new().call("look", json!({})).call("edit", json!({})).text("long ".repeat(500)).text("done")
    });
    let around = scenario.stage;
    scenario.stage = Box::new(move || {
        let stage = around();
        Stage { builder: stage.builder.hook(Arc::new(RecordingHook::new().on_run(answer.clone()))), ..stage }
    });
    scenario
}

fn scenario(name: &str, acts: &[Act], script: impl Fn() -> Script + 'static) -> Scenario {
    configured(name, acts, |_| {}, script)
}

fn configured(
    name: &str,
    acts: &[Act],
    configure: impl Fn(&mut SessionConfig) + 'static,
    script: impl Fn() -> Script + 'static,
) -> Scenario {
    let stage = move || {
        let mut config = config();
        configure(&mut config);
        stage(config, script(), usize::MAX)
    };
    Scenario { name: name.to_owned(), stage: Box::new(stage), acts: acts.to_vec() }
}

fn gated(name: &str, from_call: usize, acts: &[Act], script: impl Fn() -> Script + 'static) -> Scenario {
    let stage = move || stage(config(), script(), from_call);
    Scenario { name: name.to_owned(), stage: Box::new(stage), acts: acts.to_vec() }
}

fn approved(
    name: &str,
    approver: impl Fn() -> ScriptedApprover + 'static,
    configure: impl Fn(&mut SessionConfig) + 'static,
    script: impl Fn() -> Script + 'static,
) -> Scenario {
    let mut scenario = configured(name, &[Say("go"), Prompt], configure, script);
    let around = scenario.stage;
    scenario.stage = Box::new(move || {
        let stage = around();
        Stage { builder: stage.builder.approver(Arc::new(approver())), ..stage }
    });
    scenario
}

fn hooked<H: Hook + 'static>(name: &str, hook: impl Fn() -> H + 'static) -> Scenario {
    let mut scenario = scenario(name, &[Say("go"), Prompt], || {
        Script::new().call("edit", json!({})).call("look", json!({})).text("done")
    });
    let around = scenario.stage;
    scenario.stage = Box::new(move || {
        let stage = around();
        Stage { builder: stage.builder.hook(Arc::new(hook())), ..stage }
    });
    scenario
}

fn stage(config: SessionConfig, script: Script, gated_from_call: usize) -> Stage {
    let provider = ScriptedProvider::new(script);
    let gated = Gated::new(&provider, gated_from_call);
    let gate = gated.gate.clone();
    let tools = [FakeTool::reads("look"), FakeTool::changes("edit"), FakeTool::changes("hang").hangs()];
    let logs = tools.iter().map(FakeTool::log).collect();
    let builder = with_config(config, gated).tools(tools.iter().map(tool));
    Stage { builder, provider, tools: logs, gate, left: None }
}
