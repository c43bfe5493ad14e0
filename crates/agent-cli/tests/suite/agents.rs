//! Agents that work for the session's own, with the program: what is shown, what is kept, what a stop and a crash leave.

use crate::support::{Ended, Model, Running, Scratch, eventually};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All that the model of a request has read.
pub(crate) fn read(body: &Value) -> String {
    body["messages"].to_string()
}

/// Whose request it is: the name of the agent below, or nothing for the session's own.
pub(crate) fn whose(body: &Value) -> String {
    let text = read(body);
    let after = text.split_once("You are the agent `").map(|(_, after)| after);
    after.and_then(|after| after.split_once('`')).map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// How many answers the agent of a request has given.
pub(crate) fn round(body: &Value) -> usize {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().filter(|message| message["role"] == "assistant").count()
}

/// A model that answers each agent by its name and the number of the round.
pub(crate) fn model(answer: impl Fn(&str, usize, &str) -> Step + Send + Sync + 'static) -> Model {
    let answer = move |body: &Value| answer(&whose(body), round(body), &read(body));
    Model::always(Step::respond(answer))
}

pub(crate) fn spawn(name: &str, more: &Value) -> Step {
    let mut arguments = json!({"name": name, "task": format!("Do {name}.")});
    let map = arguments.as_object_mut().unwrap();
    map.extend(more.as_object().cloned().unwrap_or_default());
    Step::call("spawn_agent", arguments)
}

pub(crate) fn run(scratch: &Scratch, model: &Model, arguments: &[&str]) -> Ended {
    scratch.run(model, &[&["-p", "go", "--agents", "--sandbox", "off"], arguments].concat())
}

#[test]
fn an_agent_works_for_another_and_is_seen_by_people_and_programs() {
    let scratch = Scratch::repository();
    scratch.write("a.txt", "hello\n");
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => spawn("reader", &json!({})),
        ("reader", 0) => Step::call("read_file", json!({"path": "a.txt"})),
        ("reader", _) => Step::text("It says hello."),
        _ => Step::text("The end."),
    });
    let ended = run(&scratch, &model, &["--session-id", "one", "--output-format", "stream-json"]);
    ended.assert_code(0);
    let lines = ended.lines();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
    assert_eq!((of("agent_begun").len(), of("agent_ended").len()), (1, 1), "{ended:#?}");
    assert_eq!(of("agent_ended")[0]["session_id"], "one.1");
    let of_child = of("assistant").iter().filter(|line| line["session_id"] == "one.1").count();
    assert_eq!(of_child, 2, "{ended:#?}");
    let result = ended.result();
    assert_eq!(result["agents"][0]["outcome"], "done");
    assert_eq!(result["agents"][0]["verification"], "unverified");
    assert_eq!(result["agents"][0]["model_calls"], 2);
    assert_eq!(result["result"], "The end.");
    ended.assert_says("▸ agent reader: Do reader.").assert_says("◂ agent reader: done");
    // Its session is kept below, is shown, and is no session to drive.
    let shown = scratch.ended(&["sessions", "show", "one.1"]);
    assert!(shown.assert_code(0).out.contains("It says hello."), "{shown:#?}");
    scratch.ended(&["explain", "one.1"]).assert_code(0);
    let ps = scratch.ended(&["ps", "one"]);
    ps.assert_code(0);
    for words in ["one.1", "reader", "ended", "Do reader."] {
        assert!(ps.out.contains(words), "{words}: {ps:#?}");
    }
    scratch.run(&model, &["-p", "x", "--session-id", "one.1"]).assert_code(42).assert_says("below the session one");
    scratch.ended(&["sessions", "rm", "one.1"]).assert_code(42).assert_says("below the session one");
    scratch.ended(&["sessions", "rm", "one"]).assert_code(0);
    assert!(!scratch.journals().iter().any(|path| path.to_string_lossy().contains("one.d")));
    model.assert_valid();
}

#[test]
fn without_being_wanted_no_agent_is_offered() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("The end.")]);
    scratch.run(&model, &["-p", "go"]).assert_code(0);
    assert!(!model.last_body()["tools"].to_string().contains("spawn_agent"));
}

#[test]
fn an_agent_that_only_reads_cannot_write_and_one_that_may_is_asked_about() {
    let writer = |workspace: &'static str| {
        model(move |who, round, _| match (who, round) {
            ("", 0) => spawn("writer", &json!({"workspace": workspace})),
            ("writer", 0) => Step::call("write_file", json!({"path": "b.txt", "content": "x"})),
            ("writer", _) => Step::text("I tried."),
            _ => Step::text("The end."),
        })
    };
    let scratch = Scratch::repository();
    // Whatever the session may do: the agent reads.
    run(&scratch, &writer("read_only"), &["--permission-mode", "bypass"]).assert_code(0);
    assert!(!scratch.work("b.txt").exists());
    // To begin one that may write is a question, and its own calls are questions, too.
    let ended = run(&scratch, &writer("shared"), &[]);
    ended.assert_code(61);
    let ended = run(&scratch, &writer("shared"), &["--allow", "spawn_agent", "--output-format", "json"]);
    ended.assert_code(61).assert_says("no one could be asked").assert_says("denied: agent ");
    let result = ended.result();
    let [denied] = &result["permission_denials"].as_array().unwrap()[..] else { panic!("{result}") };
    assert_eq!(denied["tool_name"], "write_file");
    assert_eq!(denied["agent"].as_str(), Some(&*format!("{}.1", result["session_id"].as_str().unwrap())));
    assert!(!scratch.work("b.txt").exists());
    let ended = run(&scratch, &writer("shared"), &["--allow", "spawn_agent", "--allow", "write_file"]);
    ended.assert_code(0);
    assert!(scratch.work("b.txt").exists());
}

#[test]
fn a_deny_rule_holds_below_and_a_check_runs_only_as_the_rules_let_it() {
    let checked = |command: &'static str| {
        model(move |who, round, _| match (who, round) {
            ("", 0) => spawn("worker", &json!({"workspace": "shared", "verify": [command]})),
            ("worker", _) => Step::text("I say that it is done."),
            _ => Step::text("The end."),
        })
    };
    let scratch = Scratch::repository();
    let report = |ended: &Ended| ended.result()["agents"][0].clone();
    let json = ["--output-format", "json", "--allow", "spawn_agent"];
    // The model's own commands do not run because the agent was allowed.
    let ended = run(&scratch, &checked("touch seen"), &json);
    assert_eq!(report(&ended)["outcome"], "commitments not kept", "{ended:#?}");
    assert!(!scratch.work("seen").exists());
    let ended = run(&scratch, &checked("touch seen"), &[&json[..], &["--allow", "bash(touch:*)"]].concat());
    assert_eq!(report(&ended)["verification"], "verified", "{ended:#?}");
    assert!(scratch.work("seen").exists());
    std::fs::remove_file(scratch.work("seen")).unwrap();
    // That a command only reads lets it run in a narrower sandbox than a check has.
    let ended = run(&scratch, &checked("git status"), &json);
    assert_eq!(report(&ended)["outcome"], "commitments not kept", "{ended:#?}");
    let rules = ["--permission-mode", "bypass", "--deny", "bash(touch:*)"];
    let ended = run(&scratch, &checked("touch seen"), &[&json[..], &rules].concat());
    assert_eq!(report(&ended)["outcome"], "commitments not kept", "{ended:#?}");
    assert!(!scratch.work("seen").exists());
}

#[test]
fn after_a_kill_the_tree_continues_and_every_outcome_is_told_once() {
    let scratch = Scratch::repository();
    let (asked, hangs) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(1)));
    let (counted, holds) = (asked.clone(), hangs.clone());
    let model = model(move |who, round, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        match (who, round) {
            ("", 0) => Step::answer(
                Reply::new()
                    .call("spawn_agent", json!({"name": "quick", "task": "t"}))
                    .call("spawn_agent", json!({"name": "slow", "task": "t"})),
            ),
            ("slow", 0) if holds.load(Ordering::SeqCst) == 1 => Step::stall(Reply::new().text("never"), 0),
            ("slow", _) => Step::text("Slow is done."),
            ("quick", _) => Step::text("Quick is done."),
            _ => Step::text("The end."),
        }
    });
    let arguments = ["-p", "go", "--agents", "--session-id", "one", "--sandbox", "off"];
    let running = Running::start(&mut scratch.run_command(&model, &arguments));
    running.wait_for("◂ agent quick: done");
    running.signal("KILL");
    drop(running.end());
    hangs.store(0, Ordering::SeqCst);
    let mut resumed = Running::start(&mut scratch.run_command(&model, &["--session-id", "one", "--sandbox", "off"]));
    resumed.close_stdin();
    let ended = resumed.end();
    ended.assert_code(0).assert_says("◂ agent slow: done");
    let last = model.last_body();
    let text = read(&last);
    for words in ["Quick is done.", "Slow is done."] {
        assert_eq!(text.matches(words).count(), 1, "{words}: {text}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 5, "one call of each was made, and the lost one again");
    model.assert_valid();
}

#[test]
fn an_interrupt_stops_every_agent_and_what_they_started() {
    let scratch = Scratch::repository();
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => spawn("worker", &json!({"workspace": "shared"})),
        ("worker", 0) => Step::call("bash", json!({"command": "echo begun; sleep 4242"})),
        _ => Step::text("The end."),
    });
    let arguments = ["-p", "go", "--agents", "--sandbox", "off", "--permission-mode", "bypass"];
    let running = Running::start(&mut scratch.run_command(&model, &arguments));
    running.wait_for("worker • bash");
    eventually("the command runs", || crate::support::lives("sleep 4242"));
    running.signal("INT");
    let ended = running.end();
    ended.assert_code(130).assert_says("◂ agent worker: cancelled");
    eventually("the command is gone", || !crate::support::lives("sleep 4242"));
    assert_eq!(model.requests().len(), 2, "no model was asked under the stop");
}

#[test]
fn what_agents_below_spend_counts_for_the_limits_and_the_cost() {
    let scratch = Scratch::repository();
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => spawn("eager", &json!({})),
        ("eager", _) => Step::call("glob", json!({"pattern": format!("{round}*")})),
        _ => Step::text("The end."),
    });
    let arguments = ["--max-turns", "8", "--output-format", "json"];
    let ended = run(&scratch, &model, &arguments);
    ended.assert_code(0);
    let result = ended.result();
    // Seven were left, and half of them, rounded down, were the share.
    assert_eq!(result["agents"][0]["outcome"], "out of budget");
    assert_eq!(result["agents"][0]["model_calls"], 3);
    assert_eq!(model.requests().len(), 5);
}

#[test]
fn a_hook_on_commands_holds_for_a_check() {
    let scratch = Scratch::repository();
    scratch.configure("[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"bash\"\ncommand = \"cat >/dev/null; echo no bash >&2; exit 2\"\n");
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => spawn("worker", &json!({"workspace": "shared", "verify": ["touch seen"]})),
        ("worker", _) => Step::text("I say that it is done."),
        _ => Step::text("The end."),
    });
    let ended = run(&scratch, &model, &["--permission-mode", "bypass", "--output-format", "json"]);
    assert_eq!(ended.result()["agents"][0]["outcome"], "commitments not kept", "{ended:#?}");
    assert!(!scratch.work("seen").exists());
}

/// A copy of a session whose agent is at work has no journal of it.
#[test]
fn a_branch_counts_the_agents_of_the_original_as_lost() {
    let scratch = Scratch::repository();
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => spawn("worker", &json!({"background": true})),
        ("worker", _) => Step::text("Worked."),
        _ => Step::text("The end."),
    });
    run(&scratch, &model, &["--session-id", "one"]).assert_code(0);
    let journal =
        std::fs::read_to_string(scratch.journals().into_iter().find(|path| path.ends_with("one.jsonl")).unwrap())
            .unwrap();
    let begun = journal.lines().position(|line| line.contains("\"Begun\"")).unwrap().to_string();
    let copy = scratch.ended(&["branch", "one", "--at", &begun]);
    let id = copy.assert_code(0).out.split_whitespace().last().unwrap().to_owned();
    let ended = scratch.run(&model, &["-p", "go on", "--session-id", &id, "--sandbox", "off"]);
    ended.assert_code(0);
    assert!(read(&model.last_body()).contains("has ended: lost"), "{ended:#?}");
}

#[test]
fn outcomes_of_agents_at_every_depth_are_found_by_searching() {
    let scratch = Scratch::repository();
    scratch.configure("[agents]\ndepth = 2\n");
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => spawn("upper", &json!({"budget": {"agents": 1}})),
        ("upper", 0) => spawn("lower", &json!({})),
        ("lower", _) => Step::text("The walrus is below."),
        ("upper", _) => Step::text("Nothing of that kind, but a heron."),
        _ => Step::text("The end."),
    });
    run(&scratch, &model, &["--session-id", "one"]).assert_code(0);
    let found = scratch.ended(&["sessions", "search", "--json", "walrus"]);
    let found: Value = serde_json::from_str(&found.assert_code(0).out).unwrap();
    let hits: Vec<(&str, &str, &str)> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| {
            let field = |name: &str| hit[name].as_str().unwrap();
            (field("session_id"), field("who"), field("line"))
        })
        .collect();
    assert_eq!(hits, [("one.1.1", "outcome", "The walrus is below.")], "{found}");
    let shown = scratch.ended(&["sessions", "search", "heron"]);
    shown.assert_code(0);
    assert!(shown.out.starts_with("one.1 ") && shown.out.contains("outcome: Nothing of that kind"), "{shown:#?}");
    scratch.ended(&["sessions", "show", "one.1.1"]).assert_code(0);
    // A torn journal below is said, and the rest is searched.
    let journal = scratch.journals().into_iter().find(|path| path.ends_with("one.d/1.jsonl")).unwrap();
    std::fs::write(&journal, "torn").unwrap();
    let ended = scratch.ended(&["sessions", "search", "heron"]);
    ended.assert_code(0).assert_says("not searched in one.1");
}

#[test]
fn hooks_at_the_start_and_the_stop_of_an_agent_inform_it_and_keep_it_at_work() {
    let scratch = Scratch::repository();
    let (starts, stops, held) = (scratch.path("starts"), scratch.path("stops"), scratch.path("held"));
    let stop = format!(
        "cat >> {}; [ -e {1} ] && exit 0; touch {1}; echo 'Count them, too.' >&2; exit 2",
        stops.display(),
        held.display()
    );
    scratch.configure(&format!(
        "[[hooks]]\nevent = \"SubagentStart\"\nsandbox = false\nmatcher = \"counter\"\ncommand = \"cat >> {}; echo 'Mind the docs.'\"\n\
         [[hooks]]\nevent = \"SubagentStop\"\nsandbox = false\ncommand = \"{stop}\"\n",
        starts.display()
    ));
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => Step::answer(
            Reply::new()
                .call("spawn_agent", json!({"name": "counter", "task": "t"}))
                .call("spawn_agent", json!({"name": "other", "task": "t", "background": true})),
        ),
        ("counter", 0) => Step::text("Here they are."),
        ("counter", _) => Step::text("There are three."),
        _ => Step::text("Done."),
    });
    run(&scratch, &model, &["--session-id", "one"]).assert_code(0);
    let read_lines = |path: &std::path::Path| -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let [start] = &read_lines(&starts)[..] else { panic!("only what matches its name") };
    assert_eq!(start["hook_event_name"], "SubagentStart");
    assert_eq!((&start["agent_id"], &start["agent_name"]), (&json!("one.1"), &json!("counter")));
    assert_eq!((&start["session_id"], &start["source"]), (&json!("one"), &json!("startup")));
    let stops = read_lines(&stops);
    let of = |name: &str| stops.iter().filter(|line| line["agent_name"] == name).cloned().collect::<Vec<_>>();
    // One of the two was held first, and went on.
    assert_eq!(stops.len(), 3, "{stops:?}");
    assert!(stops.iter().all(|line| line["hook_event_name"] == "SubagentStop"));
    assert_eq!(stops.iter().filter(|line| line["stop_hook_active"] == true).count(), 1, "{stops:?}");
    assert!(!of("counter").is_empty() && !of("other").is_empty());
    let bodies: Vec<String> = model.requests().iter().map(|request| read(&request.body)).collect();
    let has = |words: &str| bodies.iter().any(|body| body.contains(words));
    assert!(has("Mind the docs.") && has("Count them, too."), "{bodies:?}");
    // They are no hooks of the session's own agent.
    assert!(!read(&model.last_body()).contains("Mind the docs."));
    model.assert_valid();
}
