//! Looking at kept sessions: what is shown is what happened, nothing is changed, and text of others stays text.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;

const HOSTILE: &str = "</pre><script>document.title='owned'</script>\u{1b}]0;owned\u{7}\u{202e}\n## You\nrm -rf /";

/// A session with a call that runs, one that is denied, and an answer.
fn session(scratch: &Scratch) -> Model {
    let model = Model::script([
        Step::call("bash", json!({"command": "echo marked >> marks.txt; cat hostile.txt"})),
        Step::call("write_file", json!({"path": "no.txt", "content": "x"})),
        Step::text(HOSTILE),
    ]);
    scratch.write("hostile.txt", HOSTILE);
    let rules = ["--permission-mode", "bypass", "--deny", "write_file(**)"];
    let arguments = [&["-p", "Look at it, please.", "--session-id", "one"], &rules[..]].concat();
    let ended = scratch.run(&model, &arguments);
    assert_eq!(ended.code(), 0, "{ended:#?}");
    model
}

/// The headings of a document, without what only stands in its code.
fn headings(markdown: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for line in markdown.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            None if line.starts_with("```") => fence = line.strip_suffix("text"),
            None if line.starts_with('#') => found.push(line),
            Some(_) | None => {}
        }
    }
    found
}

/// Every file of the state folder, to see that nothing changes.
fn state(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> =
        scratch.journals().into_iter().map(|path| (path.display().to_string(), fs::read(path).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn a_session_is_listed_shown_and_exported() {
    let scratch = Scratch::new();
    let _model = session(&scratch);
    let before = state(&scratch);
    let list = scratch.ended(&["sessions", "list"]);
    let line = list.assert_code(0).out.clone();
    assert!(line.starts_with("one ") && line.contains("Look at it, please."), "{line}");
    for arguments in [&["sessions", "show", "one"][..], &["sessions", "show"], &["sessions", "export", "one"]] {
        let out = scratch.ended(arguments).assert_code(0).out.clone();
        assert!(out.contains("Look at it, please.") && out.contains("bash"), "{out}");
        assert!(!out.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{arguments:?} acts on a terminal");
        assert!(!out.lines().any(|line| line == "## You" && arguments[1] == "show"), "{out}");
    }
    let markdown = scratch.ended(&["sessions", "export", "one"]).out;
    assert_eq!(
        headings(&markdown),
        ["# Session one", "## You", "## Agent", "### bash", "## Agent", "### write_file (not ok)", "## Agent"]
    );
    let file = scratch.path("session.html");
    let name = file.display().to_string();
    scratch.ended(&["sessions", "export", "one", "--format", "html", "--output", &name]).assert_code(0);
    let html = fs::read_to_string(&file).unwrap();
    assert!(html.contains("default-src 'none'") && html.contains("&lt;script&gt;document.title"), "{html}");
    for acting in ["<script", "http-equiv=\"refresh", "src=", "href=", "onerror", "\u{1b}", "\u{202e}"] {
        assert!(!html.contains(acting), "{acting}");
    }
    assert!(html.matches("type=\"radio\"").count() > 10 && html.contains("class=\"s-CallingLlm\""));
    scratch.ended(&["sessions", "export", "one", "--output", &name]).assert_code(42).assert_says("it exists");
    assert_eq!(state(&scratch), before, "looking changed something");
}

#[test]
fn replay_tells_every_record_and_where_it_stood() {
    let scratch = Scratch::new();
    let _model = session(&scratch);
    let before = state(&scratch);
    let ended = scratch.ended(&["replay", "one"]);
    let trace = &ended.assert_code(0).assert_says("replayed twice with the same result").out;
    for words in
        ["UserInput", "WaitingForUserInput + UserInput => PreparingRequest", "ExecuteTools begins #", "EndOfTurn"]
    {
        assert!(trace.contains(words), "`{words}` is not in {trace}");
    }
    let to = scratch.ended(&["replay", "one", "--to", "4"]);
    let shown = &to.assert_code(0).out;
    assert!(
        shown.contains("CallingLlm, its agent Working\n\nyou (not answered yet)\n  Look at it, please.")
            && !shown.contains("ToolsPrepared"),
        "{shown}"
    );
    scratch.ended(&["replay", "one", "--to", "999"]).assert_code(42).assert_says("the last one is");
    scratch.ended(&["replay", "two"]).assert_code(42).assert_says("there is none");
    let same = scratch.ended(&["replay", "one", "--against-current"]);
    assert_eq!(same.assert_code(0).assert_says("different decisions: 0").out, "");
    assert_eq!(state(&scratch), before);
}

#[test]
fn a_journal_of_other_rules_is_told_by_its_decisions() {
    let scratch = Scratch::new();
    let _model = session(&scratch);
    let path = scratch.journals().remove(0);
    // As a program would have written it that asks the model at once, without having the call looked at.
    let text = fs::read_to_string(&path).unwrap();
    let note = |line: &&str| line.contains("\"ActionStarted\"");
    let dropped = text.lines().filter(note).nth(1).unwrap().to_owned();
    let mut seq = 0;
    let rewritten: String = text
        .lines()
        .filter(|line| *line != dropped)
        .map(|line| {
            let (_, body) = line.split_once(",").unwrap();
            let (_, rest) = body.split_once(",").unwrap();
            let body = format!("\"seq\":{seq},{rest}");
            seq += 1;
            format!("{{\"sum\":\"{:08x}\",{body}\n", crc32(body.as_bytes()))
        })
        .collect();
    fs::write(&path, rewritten).unwrap();
    let ended = scratch.ended(&["replay", "one", "--against-current"]);
    assert!(ended.assert_code(1).out.contains("ExecuteTools is requested now, but was not started then"), "{ended:#?}");
    ended.assert_says("different decisions: 1");
}

pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |mut sum, byte| {
        sum ^= u32::from(*byte);
        (0..8).fold(sum, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}

#[test]
fn explain_tells_why_it_stopped_and_what_it_took() {
    let scratch = Scratch::new();
    let _model = session(&scratch);
    let screen = scratch.ended(&["explain", "one"]);
    let screen = &screen.assert_code(0).out;
    for words in
        ["the last run ended: success (exit code 0)", "3 model calls, 1 tool call", "denied: write_file", "CallingLlm"]
    {
        assert!(screen.contains(words), "`{words}` is not in {screen}");
    }
    assert!(screen.lines().count() < 60, "more than a screen: {screen}");
    let told: Value = serde_json::from_str(&scratch.ended(&["explain", "--json"]).assert_code(0).out).unwrap();
    assert_eq!(
        (&told["session_id"], &told["outcome"], &told["exit_code"]),
        (&json!("one"), &json!("success"), &json!(0))
    );
    assert_eq!((&told["model_calls"], &told["tool_calls"], &told["refused_events"]), (&json!(3), &json!(1), &json!(0)));
    let tokens: u64 = told["states"].as_array().unwrap().iter().map(|state| state["tokens"].as_u64().unwrap()).sum();
    assert_eq!(tokens, told["total_tokens"].as_u64().unwrap(), "every token was spent in a state");
    assert!(
        told["rows"].as_array().unwrap().iter().any(|row| row["on"] == "AutoToolCalls" && row["times"] == 2),
        "{told}"
    );
}

#[test]
fn a_cost_that_is_not_known_is_none() {
    for (price, cost, shown) in [(None, Value::Null, "unknown"), (Some(60_000), json!(6.0), "6.0000")] {
        let scratch = Scratch::new();
        if let Some(price) = price {
            scratch.configure(&format!("[models.scripted-model]\ninput_usd = {price}\noutput_usd = 0\n"));
        }
        let model = Model::script([Step::text("Hi.")]);
        let arguments = ["run", "-p", "x", "--session-id", "one", "--output-format", "json"];
        let ended = Running::start(scratch.agent(&arguments).args(model.elsewhere(Wire::Anthropic))).end();
        assert_eq!(ended.assert_code(0).result()["total_cost_usd"], cost);
        let told = scratch.ended(&["explain", "--json"]).assert_code(0).result();
        assert_eq!(told["cost_usd"], cost);
        let spent = told["states"].as_array().unwrap().iter().find(|state| state["state"] == "CallingLlm").unwrap();
        assert_eq!(spent["cost_usd"], cost);
        for arguments in [
            &["explain"][..],
            &["sessions", "show"],
            &["sessions", "export", "--format", "markdown"],
            &["sessions", "export", "--format", "html"],
        ] {
            let ended = scratch.ended(arguments);
            let out = &ended.assert_code(0).out;
            assert!(out.contains(&format!("cost in USD: {shown}")), "{arguments:?}: {out}");
        }
    }
}

#[test]
fn verify_tells_damage_with_its_place() {
    let scratch = Scratch::new();
    let _model = session(&scratch);
    let path = scratch.journals().remove(0);
    let whole = fs::read(&path).unwrap();
    let verified = scratch.ended(&["sessions", "verify", "one"]);
    assert!(
        verified.assert_code(0).out.contains(&format!(
            "{} bytes, format {}, WaitingForUserInput",
            whole.len(),
            agent_core::journal::FORMAT_VERSION
        )),
        "{verified:#?}"
    );
    // Torn: whole as far as it goes.
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    scratch.ended(&["sessions", "verify", "one"]).assert_code(0).assert_says("the last record is cut");
    // A hole in the third line.
    let start = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    let mut holed = whole;
    holed[start + 30..start + 40].fill(0);
    fs::write(&path, &holed).unwrap();
    for arguments in
        [&["sessions", "verify", "one"][..], &["sessions", "show", "one"], &["explain", "one"], &["replay", "one"]]
    {
        scratch
            .ended(arguments)
            .assert_code(42)
            .assert_says(&format!("line 3 (byte {start}) is damaged: its checksum is"));
    }
    assert_eq!(fs::read(&path).unwrap(), holed);
    // What lies before can be gone on with.
    let branch = scratch.ended(&["branch", "one", "--at", "1"]).assert_code(0).out.trim().to_owned();
    scratch.ended(&["sessions", "verify", &branch]).assert_code(0);
    scratch.ended(&["sessions", "rm", &branch]).assert_code(0);
    scratch.ended(&["branch", "one", "--at", "2"]).assert_code(42).assert_says("is damaged");
    scratch.ended(&["sessions", "rm", "one"]).assert_code(0);
    assert!(scratch.journals().is_empty());
    scratch.ended(&["sessions", "verify", "one"]).assert_code(42);
}

#[test]
fn a_branch_goes_its_own_way() {
    let scratch = Scratch::new();
    let model = session(&scratch);
    let before = state(&scratch);
    let branch = scratch.ended(&["branch", "one", "--at", "3"]);
    let id = branch.assert_code(0).out.trim().to_owned();
    let rewound = scratch.ended(&["rewind", "one", "--to", "2"]);
    rewound.assert_code(0).assert_says("`agent undo`");
    for wrong in ["999", "18446744073709551615"] {
        scratch.ended(&["branch", "one", "--at", wrong]).assert_code(42).assert_says("no such record");
    }
    drop(model);
    let model = Model::script([Step::text("Another way."), Step::text("And on.")]);
    scratch.run(&model, &["-p", "and?", "--session-id", &id]).assert_code(0);
    let said = model.requests()[0].body["messages"].to_string();
    assert!(said.contains("Look at it, please.") && !said.contains("marked"), "{said}");
    model.assert_valid();
    let shown = scratch.ended(&["sessions", "show", &id]).out;
    assert!(shown.contains("branch of  one at record 4"), "{shown}");
    assert!(before.iter().all(|file| state(&scratch).contains(file)), "the original was changed");
}

#[test]
fn a_call_that_began_behind_the_cut_is_not_told_as_never_run() {
    let scratch = Scratch::new();
    let _first = session(&scratch);
    let trace = scratch.ended(&["replay", "one"]).out;
    let prepared = trace.lines().find(|line| line.contains("ToolsPrepared")).unwrap();
    let seq = prepared.split_whitespace().next().unwrap();
    let id = scratch.ended(&["branch", "one", "--at", seq]).assert_code(0).out.trim().to_owned();
    let model = Model::script([Step::text("I see."), Step::text("On.")]);
    scratch.run(&model, &["-p", "and?", "--session-id", &id]).assert_code(0);
    let said = model.requests()[0].body["messages"].to_string();
    assert!(said.contains("interrupted, outcome unknown"), "{said}");
    assert_eq!(scratch.read("marks.txt"), "marked\n", "it ran again");
}

#[test]
fn a_fork_leaves_the_session_as_it_is() {
    let scratch = Scratch::new();
    let _first = session(&scratch);
    let before = state(&scratch);
    let model = Model::script([Step::text("Forked.")]);
    let ended = scratch.run(&model, &["-p", "and?", "--continue", "--fork-session", "--output-format", "json"]);
    assert_ne!(ended.result()["session_id"], "one");
    assert!(model.last_body()["messages"].to_string().contains("Look at it, please."));
    assert!(before.iter().all(|file| state(&scratch).contains(file)), "the original was changed");
    assert_eq!(scratch.journals().len(), 2);
    scratch.run(&model, &["-p", "x", "--fork-session"]).assert_code(2);
    scratch.run(&model, &["-p", "x", "--fork-session", "--session-id", "nobody"]).assert_code(42);
    scratch.ended(&["--fork-session"]).assert_code(2);
}

#[test]
fn a_session_that_is_in_use_is_read_and_not_removed() {
    let model = Model::script([Step::hang()]);
    let scratch = Scratch::new();
    let first = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--session-id", "mine"]));
    model.wait_for_requests(1);
    scratch.ended(&["sessions", "verify", "mine"]).assert_code(0);
    assert!(
        scratch
            .ended(&["explain", "mine"])
            .out
            .contains("it was interrupted in the state CallingLlm, waiting for: the model's answer")
    );
    scratch.ended(&["sessions", "rm", "mine"]).assert_code(42).assert_says("in use");
    scratch.ended(&["sessions", "rm"]).assert_code(2);
    first.signal("TERM");
    first.end().assert_code(143);
}

#[test]
fn what_the_tools_are_is_told_when_it_is_different() {
    let scratch = Scratch::new();
    let _first = session(&scratch);
    let path = scratch.journals().remove(0);
    let text = fs::read_to_string(&path).unwrap();
    // As a program of another day would have written it: one tool of another name.
    let (first, rest) = text.split_once('\n').unwrap();
    let (_, body) = first.split_once(",").unwrap();
    let body = body.replace("\"name\":\"grep\"", "\"name\":\"search\"");
    fs::write(&path, format!("{{\"sum\":\"{:08x}\",{body}\n{rest}", crc32(body.as_bytes()))).unwrap();
    let model = Model::script([Step::text("On.")]);
    let ended = scratch.run(&model, &["-p", "and?", "--continue", "--max-turns", "7"]);
    ended
        .assert_code(0)
        .assert_says("new tools since the last run: grep")
        .assert_says("removed tools since the last run: search");
    ended.assert_says("limit on model calls: 7 (before: 500)");
}
