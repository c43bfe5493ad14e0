//! Stories of parents and children, each over the real steps of every agent.

use agent_check::tree::{Place, Tree, calls, config, read_by, rounds};
use agent_core::agent::{Agent, Event};
use agent_core::agents::AgentLimits;
use agent_core::budget::Limits;
use agent_core::child::State;
use agent_core::lifecycle::LifecycleConfig;
use agent_core::llm::LlmResponse;
use agent_core::permission::{PermissionMode, Permissions};
use agent_core::session::{self, Evidence, OutcomeKind, SessionConfig};
use serde_json::{Value, json};

fn headless() -> Option<LifecycleConfig> {
    Some(LifecycleConfig::headless(Vec::new()))
}

fn spawn(name: &str) -> (&'static str, Value) {
    ("spawn_agent", json!({"name": name, "task": format!("Do {name}.")}))
}

fn in_background(name: &str) -> (&'static str, Value) {
    ("spawn_agent", json!({"name": name, "task": "t", "background": true}))
}

/// The root answers by the number of its round; every child says that it is done.
fn script(root: &[LlmResponse]) -> impl Fn(&Agent, &Place) -> LlmResponse + use<> {
    let root = root.to_vec();
    move |agent, at| match at.len() {
        0 => root.get(rounds(agent)).cloned().unwrap_or_else(|| LlmResponse::text("The end.")),
        _ => LlmResponse::text(&format!("{at:?} is done.")),
    }
}

#[test]
fn a_call_is_answered_with_the_outcome_of_the_child() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    tree.run(script(&[calls(&[spawn("one"), spawn("two")], "a")]));
    let results = read_by(tree.agent(&[]));
    assert_eq!(results[1], "The agent `one` has ended: done, unverified. It says:\n> [1] is done.");
    assert_eq!(results[2], "The agent `two` has ended: done, unverified. It says:\n> [2] is done.");
    assert_eq!(tree.agent(&[]).outcome().unwrap().kind, OutcomeKind::Success);
    // Each child's call counts for the root, and nothing is leased out any more.
    let ledger = tree.agent(&[]).session().ledger();
    assert_eq!((ledger.model_calls, ledger.below.model_calls, ledger.below.agents), (2, 2, 2));
    assert!(ledger.leased.is_nothing());
    assert!(tree.agent(&[1]).is_dismissed() && tree.agent(&[2]).is_dismissed());
    tree.check();
}

/// A session that asks about nothing.
fn free() -> SessionConfig {
    let mut config = config();
    config.permissions.mode = PermissionMode::Bypass;
    config
}

#[test]
fn what_checks_found_is_of_the_files_as_they_were() {
    let with_check =
        |name: &str| ("spawn_agent", json!({"name": name, "task": "t", "workspace": "shared", "verify": ["true"]}));
    let list = || calls(&[("list_agents", json!({}))], "l");
    let change = || calls(&[("read", json!({"path": "shared"}))], "c");
    let look = || calls(&[("read", json!({"path": "a"}))], "r");
    let of = |tree: &Tree| tree.agent(&[]).kin_of(1).unwrap().evidence();
    // What only reads leaves them as they are.
    let mut tree = Tree::new(free(), headless());
    tree.say("go");
    tree.run(script(&[calls(&[with_check("one")], "a"), look(), list()]));
    let read = read_by(tree.agent(&[]));
    assert!(read[1].starts_with("The agent `one` has ended: done, verified: 1 of 1 checks passed"), "{read:?}");
    assert_eq!(read[3], "one: ended, done, verified: 1 of 1 checks passed; task: t");
    assert_eq!(of(&tree), Some(Evidence::Verified));
    // What its parent changes later it knows nothing of.
    let mut tree = Tree::new(free(), headless());
    tree.say("go");
    tree.run(script(&[calls(&[with_check("one")], "a"), change(), list()]));
    let read = read_by(tree.agent(&[]));
    let stale = "one: ended, done, unverified: 1 of 1 checks passed, and files may have changed since; task: t";
    assert_eq!(read[3], stale);
    assert_eq!(of(&tree), Some(Evidence::Unverified));
    tree.check();
    // Neither of what another agent changes in the same files.
    let shared = || calls(&[("spawn_agent", json!({"name": "two", "task": "t", "workspace": "shared"}))], "b");
    let mut tree = Tree::new(free(), headless());
    tree.say("go");
    tree.run(script(&[calls(&[with_check("one")], "a"), shared(), list()]));
    assert!(
        read_by(tree.agent(&[]))[3].starts_with(stale.split(';').next().unwrap()),
        "{:?}",
        read_by(tree.agent(&[]))
    );
    // What has a worktree of its own is not theirs.
    let apart = ("spawn_agent", json!({"name": "one", "task": "t", "workspace": "worktree", "verify": ["true"]}));
    let mut tree = Tree::new(free(), headless());
    tree.say("go");
    tree.run(script(&[calls(&[apart], "a"), change()]));
    assert_eq!(of(&tree), Some(Evidence::Verified));
}

#[test]
fn a_turn_that_ends_waits_for_children_in_the_background_and_reports_them() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    tree.run(script(&[calls(&[in_background("one")], "a"), LlmResponse::text("I wait.")]));
    let read = read_by(tree.agent(&[]));
    assert!(read[1].starts_with("The agent `one` has begun."), "{read:?}");
    assert_eq!(read[2], "The agent `one` has ended: done, unverified. It says:\n> [1] is done.");
    assert_eq!(tree.agent(&[]).outcome().unwrap().text, "The end.");
    tree.check();
}

#[test]
fn an_agent_does_not_rest_while_a_child_is_alive() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    let answer = script(&[calls(&[in_background("one")], "a"), LlmResponse::text("I wait.")]);
    while let Some(at) = tree.tasks.iter().position(|task| task.at().is_empty()) {
        tree.finish(at, &answer);
        assert!(!tree.agent(&[]).is_idle());
    }
    assert!(tree.agent(&[]).waits_for_children());
    assert_eq!(tree.agent(&[]).outcome(), None);
    tree.check();
}

#[test]
fn a_stop_reaches_the_whole_tree_and_what_children_have_said_is_kept() {
    for at_rest in [false, true] {
        let mut tree = Tree::new(config(), headless());
        tree.say("go");
        let deep = json!({"name": "deep", "task": "t", "budget": {"agents": 2}, "background": at_rest});
        let answer = |agent: &Agent, at: &Place| match (at.len(), rounds(agent)) {
            (0, 0) => calls(&[("spawn_agent", deep.clone())], "a"),
            (1, 0) => calls(&[spawn("deeper")], "b"),
            _ => LlmResponse::text("done"),
        };
        for _ in 0..40 {
            let Some(at) = tree.tasks.iter().position(|task| task.at().len() < 2) else { break };
            tree.finish(at, answer);
        }
        assert_eq!(tree.nodes.len(), 3);
        tree.tell(&[], session::Event::CancelRequested.into());
        // Only what was in flight is answered; nothing begins.
        tree.run(|_, at| panic!("the model of {at:?} was asked under a stop"));
        assert!(tree.agent(&[]).is_idle() && tree.agent(&[1]).is_idle());
        assert_eq!(tree.agent(&[]).outcome().unwrap().kind, OutcomeKind::Cancelled, "at rest: {at_rest}");
        tree.check();
        // The outcome is told with the next message.
        tree.say("go on");
        tree.run(script(&[]));
        let read = read_by(tree.agent(&[])).join("\n");
        assert_eq!(read.matches("The agent `deep` has ended: cancelled").count(), 1, "{read}");
    }
}

#[test]
fn a_question_answers_the_call_and_an_answer_lets_the_child_continue() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    let answer = |agent: &Agent, at: &Place| match (at.len(), rounds(agent)) {
        (0, 0) => calls(&[spawn("one")], "a"),
        (0, 1) => calls(&[("send_agent", json!({"name": "one", "message": "The left one."}))], "b"),
        (0, 2) => calls(&[("wait_agent", json!({}))], "c"),
        (1, 0) => calls(&[("signal", json!({"status": "waiting", "summary": "Which one?"}))], "d"),
        _ => LlmResponse::text("done"),
    };
    tree.run(answer);
    let read = read_by(tree.agent(&[]));
    assert!(read[1].ends_with("It asks:\n> Which one?"), "{read:?}");
    assert_eq!(read[2], "delivered to `one`");
    assert!(read[3].starts_with("The agent `one` has ended: done"), "{read:?}");
    assert!(read_by(tree.agent(&[1])).contains(&"The agent that began you says:\n> The left one.".to_owned()));
    tree.check();
}

#[test]
fn a_question_that_nobody_answers_ends_the_child() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    let answer = |agent: &Agent, at: &Place| match (at.len(), rounds(agent)) {
        (0, 0) => calls(&[spawn("one")], "a"),
        (1, 0) => calls(&[("signal", json!({"status": "waiting", "summary": "Which one?"}))], "d"),
        _ => LlmResponse::text("done"),
    };
    tree.run(answer);
    let read = read_by(tree.agent(&[])).join("\n");
    assert!(read.contains("has ended: cancelled"), "{read}");
    assert!(tree.agent(&[]).is_idle());
    tree.check();
}

#[test]
fn limits_on_agents_hold_and_are_said() {
    let limits = AgentLimits { depth: 1, width: 2, total: 3, per_minute: 10 };
    let config = SessionConfig { agents: Some(limits), ..config() };
    let mut tree = Tree::new(config, headless());
    tree.say("go");
    let many = ["a", "b", "c"].map(in_background);
    let more = ["d", "e"].map(spawn);
    tree.run(script(&[calls(&many, "a"), calls(&[("wait_agent", json!({"until": "all"}))], "b"), calls(&more, "c")]));
    let read = read_by(tree.agent(&[]));
    assert_eq!(read[3], "not run: the agent is not begun: limit on agents reached: 2 of 2 are alive", "{read:?}");
    // Two were begun before: there is room for one, and a name is used up by a child that began.
    assert!(read[5].contains("`d` has ended: done"), "{read:?}");
    assert!(read[6].contains("no agents left"), "{read:?}");
    assert_eq!(tree.agent(&[]).kin().count(), 3);
    tree.check();
}

#[test]
fn agents_that_are_begun_too_fast_wait_for_the_next_minute() {
    let limits = AgentLimits { depth: 1, width: 9, total: 9, per_minute: 2 };
    let mut tree = Tree::new(SessionConfig { agents: Some(limits), ..config() }, None);
    tree.say("go");
    let names = ["a", "b", "c"].map(spawn);
    tree.run(script(&[calls(&names, "a")]));
    assert!(read_by(tree.agent(&[]))[3].contains("2 of 2 begun within a minute"));
    tree.now_ms += 60_000;
    tree.say("again");
    let answer = |agent: &Agent, at: &Place| match (at.len(), rounds(agent)) {
        (0, 2) => calls(&[spawn("c")], "x"),
        _ => LlmResponse::text("done"),
    };
    tree.run(answer);
    assert!(read_by(tree.agent(&[])).iter().any(|text| text.contains("`c` has ended: done")));
}

#[test]
fn a_limit_that_only_leases_hold_is_waited_for() {
    let config = SessionConfig { limits: Limits { max_model_calls: Some(4), ..Limits::default() }, ..config() };
    let mut tree = Tree::new(config, headless());
    tree.say("go");
    let all = json!({"name": "one", "task": "t", "background": true, "budget": {"model_calls": 3}});
    tree.run(script(&[calls(&[("spawn_agent", all)], "a")]));
    // One call of the root, one of the child; two came back, and the root continues.
    let ledger = *tree.agent(&[]).session().ledger();
    assert_eq!((ledger.model_calls, ledger.below.model_calls), (2, 1));
    assert_eq!(tree.agent(&[]).outcome().unwrap().kind, OutcomeKind::Success);
    tree.check();
}

#[test]
fn a_limit_of_the_parent_stops_its_children() {
    let config = SessionConfig { limits: Limits { max_model_calls: Some(3), ..Limits::default() }, ..config() };
    let mut tree = Tree::new(config, headless());
    tree.say("go");
    let one = json!({"name": "one", "task": "t", "background": true, "budget": {"model_calls": 1}});
    // The root uses up all that is its own, while the child still works.
    let answer = script(&[]);
    let root = [calls(&[("spawn_agent", one)], "a"), calls(&[("list_agents", json!({}))], "b")];
    let of_root = script(&root);
    for _ in 0..20 {
        let Some(at) = tree.tasks.iter().position(|task| task.at().is_empty()) else { break };
        tree.finish(at, &of_root);
    }
    assert!(tree.agent(&[]).waits_for_children(), "what is leased may come back");
    tree.run(answer);
    assert_eq!(tree.agent(&[]).outcome().unwrap().kind, OutcomeKind::CallLimit);
    assert!(tree.agent(&[]).alive().is_empty());
    tree.check();
}

#[test]
fn a_stricter_policy_reaches_children_before_anything_else_happens() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    let shared = json!({"name": "one", "task": "t", "workspace": "shared"});
    let mut bypass = tree.agent(&[]).session().config().clone();
    bypass.permissions.mode = PermissionMode::Bypass;
    tree.tell(&[], session::Event::Reconfigured { config: Box::new(bypass.clone()) }.into());
    let answer = script(&[calls(&[("spawn_agent", shared)], "a")]);
    for _ in 0..2 {
        tree.finish(0, &answer);
    }
    let mode = |tree: &Tree| tree.agent(&[1]).session().config().permissions.above[0].mode;
    assert_eq!(mode(&tree), PermissionMode::Bypass);
    bypass.permissions = Permissions { mode: PermissionMode::Plan, ..Permissions::default() };
    tree.tell(&[], session::Event::Reconfigured { config: Box::new(bypass) }.into());
    assert_eq!(mode(&tree), PermissionMode::Plan);
    tree.check();
}

#[test]
fn a_child_that_reads_and_one_that_plans_change_nothing() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    let ask = |name: &str, mode: &str| ("spawn_agent", json!({"name": name, "task": "t", "mode": mode}));
    tree.run(script(&[calls(&[ask("r", "execute"), ask("p", "plan")], "a")]));
    for at in [[1], [2]] {
        let permissions = &tree.agent(&at).session().config().permissions;
        assert_eq!(permissions.mode, PermissionMode::Plan);
    }
    assert!(read_by(tree.agent(&[2]))[0].contains("change nothing"));
}

#[test]
fn what_cannot_be_is_answered_with_the_reason_and_begins_nothing() {
    let wrong = [
        ("spawn_agent", json!({"name": "A!", "task": "t"})),
        ("spawn_agent", json!({"name": "a", "task": "t", "model": "other"})),
        ("spawn_agent", json!({"name": "a", "task": "t", "tools": ["rm"]})),
        ("spawn_agent", json!({"name": "a", "task": "t", "budget": {"model_calls": 1000}})),
        ("wait_agent", json!({"names": ["nobody"]})),
        ("wait_agent", json!({})),
        ("send_agent", json!({"name": "nobody", "message": "m"})),
        ("stop_agent", json!({"name": "nobody"})),
    ];
    for call in wrong {
        let mut tree = Tree::new(config(), headless());
        tree.say("go");
        tree.run(script(&[calls(std::slice::from_ref(&call), "a")]));
        assert_eq!(tree.nodes.len(), 1, "{call:?}");
        assert!(tree.agent(&[]).is_idle());
        assert!(!read_by(tree.agent(&[]))[1].is_empty());
    }
}

#[test]
fn a_person_stops_one_child_and_its_siblings_continue() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    let answer = script(&[calls(&[spawn("one"), spawn("two")], "a")]);
    for _ in 0..2 {
        tree.finish(0, &answer);
    }
    let stop = agent_core::child::Event::StopRequested { by: agent_core::child::StopCause::Person };
    tree.tell(&[], Event::Child { number: 1, event: Box::new(stop) });
    assert_eq!(tree.agent(&[]).kin_of(1).unwrap().child().state(), State::Stopping);
    tree.run(answer);
    let read = read_by(tree.agent(&[]));
    assert!(read[1].contains("`one` has ended: cancelled") && read[2].contains("`two` has ended: done"), "{read:?}");
    tree.check();
}

#[test]
fn only_facts_that_come_from_a_child_are_taken() {
    let mut tree = Tree::new(config(), headless());
    tree.say("go");
    tree.run(script(&[calls(&[spawn("one")], "a")]));
    let mut agent = tree.agent(&[]).clone();
    let before = agent.clone();
    for event in [
        Event::Child { number: 1, event: Box::new(agent_core::child::Event::OutcomeTold) },
        Event::Child { number: 1, event: Box::new(agent_core::child::Event::MessageSent { text: "m".into() }) },
        Event::Child { number: 7, event: Box::new(agent_core::child::Event::Begun { run: 1 }) },
        Event::Ordered(agent_core::child::Order::Stop),
        Event::HeldBelow(Vec::new()),
    ] {
        assert!(agent.step(9, event.clone()).is_err(), "{event:?}");
        assert_eq!(agent, before);
    }
}

/// What is gone of a child is no reason to wait for it.
#[test]
fn a_child_whose_journal_is_gone_or_empty_has_an_outcome() {
    for is_empty in [false, true] {
        let mut tree = Tree::new(config(), headless());
        tree.say("go");
        let answer = script(&[calls(&[spawn("one")], "a")]);
        for _ in 0..2 {
            tree.finish(0, &answer);
        }
        assert!(tree.agent(&[]).kin_of(1).unwrap().child().has_begun());
        tree.tasks.clear();
        if is_empty {
            tree.empty(&[1]);
        } else {
            tree.nodes.remove(&vec![1]);
        }
        tree.crash(|_| 0);
        tree.run(answer);
        let read = read_by(tree.agent(&[])).join("\n");
        assert!(read.contains("`one` has ended: lost (its journal"), "{read}");
        assert!(tree.agent(&[]).is_idle());
        // All that it could have spent counts.
        let below = tree.agent(&[]).session().ledger().below;
        assert_eq!(below.model_calls, 49);
    }
}

/// A child's time is a part of its parent's, and so is the wait for it.
#[test]
fn children_have_no_more_time_than_the_turn_has_left() {
    let limits = Limits { max_wall_time_ms: Some(10_000), ..config().limits };
    let mut tree = Tree::new(SessionConfig { limits, ..config() }, headless());
    tree.say("go");
    let answer = script(&[calls(&[in_background("one")], "a"), LlmResponse::text("I wait.")]);
    tree.now_ms += 9_000;
    tree.finish(0, &answer);
    tree.finish(0, &answer);
    assert_eq!(tree.agent(&[1]).session().config().limits.max_wall_time_ms, Some(1_000));
    // The parent's own answer first, then the child's, 900 ms later.
    let at = tree.tasks.iter().position(|task| task.at().is_empty()).unwrap();
    tree.finish(at, &answer);
    assert!(tree.agent(&[]).waits_for_children());
    tree.now_ms += 900;
    tree.finish(0, &answer);
    assert_eq!(tree.deadlines, [10_000, 100], "what is left of the turn");
}
