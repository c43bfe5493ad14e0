//! Sessions over time: named, listed, searched, and removed when they are old.

use crate::support::{Ended, Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A session in which this was asked and answered.
fn session(scratch: &Scratch, id: &str, asked: &str, answered: &str) {
    let model = Model::script([Step::text(answered)]);
    scratch.run(&model, &["-p", asked, "--session-id", id]).assert_code(0);
}

fn journal(scratch: &Scratch, id: &str) -> PathBuf {
    let name = format!("{id}.jsonl");
    scratch.journals().into_iter().find(|path| path.ends_with(&name)).unwrap()
}

fn make_old(scratch: &Scratch, id: &str, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 24 * 3_600);
    File::options().append(true).open(journal(scratch, id)).unwrap().set_modified(then).unwrap();
}

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap()
}

fn ids(scratch: &Scratch) -> Vec<String> {
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut ids: Vec<String> = scratch.journals().into_iter().map(stem).collect();
    ids.sort();
    ids
}

#[test]
fn the_list_shows_name_words_age_size_and_cost() {
    let scratch = Scratch::new();
    scratch.configure("[models.scripted-model]\ninput_usd = 1000\noutput_usd = 1000\n");
    session(&scratch, "first", "mend the parser", "Done.");
    session(&scratch, "second", "look at the printer", "Well.");
    scratch
        .ended(&["sessions", "rename", "first", "the", "parser"])
        .assert_code(0)
        .assert_says("now called `the parser`");
    make_old(&scratch, "first", 3);
    let list = scratch.ended(&["sessions", "list"]);
    let lines: Vec<&str> = list.assert_code(0).out.lines().collect();
    assert!(lines[0].starts_with("second") && lines[0].ends_with("look at the printer"), "{list:?}");
    assert!(lines[1].contains("3 days") && lines[1].ends_with("the parser: mend the parser"), "{list:?}");
    assert!(lines[1].contains(" kB") && lines[1].contains(" $0."), "{list:?}");
    let listed = json_of(&scratch.ended(&["sessions", "list", "--json"]));
    assert_eq!(listed[1]["id"], "first");
    assert_eq!((&listed[1]["name"], &listed[0]["name"]), (&json!("the parser"), &Value::Null));
    assert_eq!(listed[0]["words"], "look at the printer");
    assert_eq!(listed[0]["bytes"], fs::metadata(journal(&scratch, "second")).unwrap().len());
    assert!(listed[0]["cost_usd"].as_f64().unwrap() > 0.0 && listed[0]["modified"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn a_name_is_shown_wherever_the_session_is_and_stays_with_it() {
    let scratch = Scratch::new();
    session(&scratch, "mine", "first", "One.");
    scratch.ended(&["sessions", "rename", "mine", "red fruit"]).assert_code(0);
    assert!(scratch.ended(&["sessions", "show", "mine"]).assert_code(0).out.contains("\nname       red fruit\n"));
    assert!(scratch.ended(&["sessions", "export", "mine"]).assert_code(0).out.contains("red fruit"));
    let model = Model::script([Step::text("Two.")]);
    let mut command = scratch.agent(&["resume", "mine"]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("second\n");
    running.close_stdin();
    running.end().assert_code(0).assert_says("agent: the session red fruit");
    assert!(scratch.ended(&["sessions", "list"]).out.contains("red fruit: first"));
    scratch.ended(&["sessions", "rename", "mine"]).assert_code(0).assert_says("has no name any more");
    assert!(!scratch.ended(&["sessions", "show", "mine"]).out.contains("red fruit"));
}

#[test]
fn a_name_that_acts_on_a_terminal_or_is_too_long_is_refused() {
    let scratch = Scratch::new();
    session(&scratch, "mine", "first", "One.");
    for name in ["a\x1b[2Jb", "a\nb", "a\u{202E}b", "tab\there", "\u{7}"] {
        let ended = scratch.ended(&["sessions", "rename", "mine", name]);
        ended.assert_code(42).assert_says("control characters");
        assert!(!ended.err.contains(['\x1b', '\u{202E}']), "{ended:?}");
    }
    scratch.ended(&["sessions", "rename", "mine", &"x".repeat(81)]).assert_code(42).assert_says("the limit is 80");
    scratch.ended(&["sessions", "rename", "mine", &"ä".repeat(80)]).assert_code(0);
}

/// A name is no part of the journal, so nothing that the process writes is lost.
#[test]
fn a_session_in_use_can_be_renamed() {
    let scratch = Scratch::new();
    let model = Model::script([Step::hang()]);
    let running = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--session-id", "mine"]));
    model.wait_for_requests(1);
    scratch.ended(&["sessions", "rename", "mine", "busy"]).assert_code(0);
    running.signal("TERM");
    running.end().assert_code(143);
    scratch.ended(&["sessions", "verify", "mine"]).assert_code(0);
    assert!(scratch.ended(&["sessions", "list"]).out.contains("busy: x"));
}

#[test]
fn a_search_finds_who_said_it_in_which_session_and_when() {
    let scratch = Scratch::repository();
    let model = Model::script([
        Step::call("bash", json!({"command": "echo Needle in a haystack"})),
        Step::text("First line.\nIt holds a NEEDLE, too."),
    ]);
    let options =
        ["-p", "where is the needle?", "--session-id", "mine", "--permission-mode", "bypass", "--sandbox", "off"];
    scratch.run(&model, &options).assert_code(0);
    session(&scratch, "other", "something else", "Nothing.");
    let found = scratch.ended(&["sessions", "search", "needle"]);
    let lines: Vec<&str> = found.assert_code(0).out.lines().collect();
    let told: Vec<bool> = ["you: where is", "call of bash: {", "result: Needle in", "agent: It holds a NEEDLE"]
        .iter()
        .zip(&lines)
        .map(|(start, line)| line.starts_with("mine  20") && line.contains(start))
        .collect();
    assert_eq!(told, [true; 4], "{lines:#?}");
    let found = json_of(&scratch.ended(&["sessions", "search", "holds", "needle", "--json"]));
    let hit = &found["hits"][0];
    assert_eq!(
        (&hit["session_id"], &hit["who"], &hit["line"]),
        (&json!("mine"), &json!("agent"), &json!("It holds a NEEDLE, too."))
    );
    assert_eq!(
        scratch.ended(&["sessions", "search", "--case-sensitive", "NEEDLE"]).assert_code(0).out.lines().count(),
        1
    );
    scratch
        .ended(&["sessions", "search", "no such words"])
        .assert_code(1)
        .assert_says("nothing was found in 2 sessions");
    let cut = scratch.ended(&["sessions", "search", "--limit", "2", "needle"]);
    assert_eq!(cut.assert_code(0).assert_says("`--limit` shows more").out.lines().count(), 2);
    scratch.ended(&["sessions", "search", " "]).assert_code(2);
    scratch.ended(&["sessions", "search", "--limit", "0", "x"]).assert_code(2);
}

#[test]
fn a_search_in_all_directories_says_in_which() {
    let scratch = Scratch::new();
    session(&scratch, "mine", "about apples", "One.");
    fs::create_dir(scratch.work("below")).unwrap();
    let below = scratch.work("below");
    let below = below.to_str().unwrap();
    scratch.ended(&["sessions", "search", "-C", below, "apples"]).assert_code(1);
    let found = scratch.ended(&["sessions", "search", "--all", "apples"]);
    assert!(found.assert_code(0).out.contains("/work  20"), "{found:?}");
    scratch.ended(&["sessions", "search", "--all", "-C", below, "apples"]).assert_code(2);
}

#[test]
fn a_search_writes_no_escape_and_passes_over_what_it_cannot_read() {
    let scratch = Scratch::new();
    session(&scratch, "mine", "needle \u{202E}one", "\x1b]0;needle\x07\x1b[2J");
    session(&scratch, "torn", "needle two", "Well.");
    session(&scratch, "damaged", "needle three", "needle four");
    let folder = journal(&scratch, "mine").parent().unwrap().to_owned();
    let text = fs::read_to_string(journal(&scratch, "torn")).unwrap();
    fs::write(journal(&scratch, "torn"), text + "{\"sum\":\"0").unwrap();
    let text = fs::read_to_string(journal(&scratch, "damaged")).unwrap();
    fs::write(journal(&scratch, "damaged"), text.replace("needle three", "needle 333")).unwrap();
    fs::write(folder.join("foreign.jsonl"), "{\"type\":\"user\",\"sessionId\":\"needle\"}\n").unwrap();
    std::os::unix::fs::symlink(scratch.work("none"), folder.join("linked.jsonl")).unwrap();
    let found = scratch.ended(&["sessions", "search", "needle"]);
    found.assert_code(0);
    assert!(!found.out.contains(['\x1b', '\x07', '\u{202E}']), "{found:?}");
    for words in ["needle \\u{202e}one", "\\u{1b}]0;needle", "needle two", "needle four"] {
        assert!(found.out.contains(words), "{words}: {found:?}");
    }
    assert!(!found.out.contains("333"), "a record with a wrong checksum is no source");
    for id in ["torn", "damaged", "foreign", "linked"] {
        let told = found.err.lines().filter(|line| line.contains(&format!("not searched in {id}: "))).count();
        assert_eq!(told, 1, "{id}: {found:?}");
    }
}

#[test]
fn old_sessions_are_shown_first_and_removed_with_a_yes() {
    let scratch = Scratch::new();
    for (id, days) in [("new", 0), ("old", 100), ("older", 200), ("named", 300)] {
        session(&scratch, id, &format!("about {id} things"), "y");
        make_old(&scratch, id, days);
    }
    scratch.ended(&["sessions", "rename", "named", "to keep"]).assert_code(0);
    make_old(&scratch, "named", 300);
    let shown = scratch.ended(&["sessions", "gc"]);
    shown
        .assert_code(0)
        .assert_says("nothing was removed")
        .assert_says("2 of 4 sessions")
        .assert_says("1 session; `--named`");
    assert!(shown.out.contains("old ") && shown.out.contains("older ") && !shown.out.contains("new"), "{shown:?}");
    assert!(shown.out.contains("about older things"), "it is seen what goes: {shown:?}");
    assert_eq!(ids(&scratch).len(), 4, "it was only shown");
    let doctor = scratch.ended(&["doctor"]);
    assert!(doctor.out.contains("4 sessions kept, ") && doctor.out.contains("would remove 2 of them"), "{doctor:?}");
    scratch.ended(&["sessions", "gc", "--older-than", "150d", "--yes"]).assert_code(0).assert_says("removed 1 session");
    assert_eq!(ids(&scratch), ["named", "new", "old"]);
    scratch.ended(&["sessions", "gc", "--keep", "2", "--yes"]).assert_code(0).assert_says("none is to be removed");
}

#[test]
fn what_is_kept_beside_a_session_goes_with_it_and_nothing_else_does() {
    let scratch = Scratch::new();
    session(&scratch, "old", "x", "y");
    session(&scratch, "old-2", "x", "y");
    let folder = journal(&scratch, "old").parent().unwrap().to_owned();
    let outside = scratch.work("mine.txt");
    fs::write(&outside, "mine").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("old.torn")).unwrap();
    fs::write(folder.join("old.v4"), "an earlier form").unwrap();
    make_old(&scratch, "old", 100);
    scratch.ended(&["sessions", "gc", "--yes"]).assert_code(0);
    let left: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.starts_with("old.")), "{left:?}");
    assert!(left.contains(&String::from("old-2.jsonl")), "{left:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine", "a link goes, and not what it leads to");
}

#[test]
fn a_session_in_use_and_one_that_cannot_be_read_are_never_collected() {
    let scratch = Scratch::new();
    session(&scratch, "damaged", "x", "y");
    session(&scratch, "old", "x", "y");
    let text = fs::read_to_string(journal(&scratch, "damaged")).unwrap();
    fs::write(journal(&scratch, "damaged"), text.replacen("\"seq\":2", "\"seq\":7", 1)).unwrap();
    let model = Model::script([Step::hang()]);
    let running = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--session-id", "busy"]));
    model.wait_for_requests(1);
    for id in ["damaged", "busy", "old"] {
        make_old(&scratch, id, 100);
    }
    let folder = journal(&scratch, "old").parent().unwrap().to_owned();
    let elsewhere = scratch.path("elsewhere.jsonl");
    fs::copy(journal(&scratch, "old"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.join("linked.jsonl")).unwrap();
    let ended = scratch.ended(&["sessions", "gc", "--max-size", "0B", "--yes"]);
    ended.assert_code(0).assert_says("busy: it is in use").assert_says("damaged: cannot read the journal");
    ended.assert_says("linked: cannot use").assert_says("removed 1 session");
    assert_eq!(ids(&scratch), ["busy", "damaged", "linked"]);
    assert!(elsewhere.exists());
    running.signal("TERM");
    running.end().assert_code(143);
}

#[test]
fn the_configuration_says_how_long_sessions_are_kept() {
    let scratch = Scratch::new();
    session(&scratch, "old", "x", "y");
    make_old(&scratch, "old", 10);
    scratch.ended(&["sessions", "gc"]).assert_code(0).assert_says("none is to be removed");
    scratch.configure("[sessions]\nkeep_days = 7\n");
    scratch.ended(&["sessions", "gc"]).assert_code(0).assert_says("1 of 1 session");
    scratch.ended(&["sessions", "gc", "--older-than", "30d"]).assert_code(0).assert_says("none is to be removed");
    scratch.configure("[sessions]\nmax_size = \"1kB\"\n");
    scratch.ended(&["sessions", "gc", "--yes"]).assert_code(0).assert_says("removed 1 session");
    for wrong in ["keep_days = -1", "keep_days = \"7\"", "max_size = 5", "max_size = \"5\"", "keep = 1"] {
        scratch.configure(&format!("[sessions]\n{wrong}\n"));
        scratch.ended(&["sessions", "gc"]).assert_code(52);
    }
    // What a repository says removes nothing.
    scratch.configure("");
    session(&scratch, "old", "x", "y");
    make_old(&scratch, "old", 10);
    scratch.write(".agent/config.toml", "[sessions]\nkeep_days = 1\n");
    scratch.ended(&["sessions", "gc"]).assert_says("none is to be removed");
}

#[test]
fn what_cannot_be_removed_is_said_and_keeps_nothing_else() {
    let scratch = Scratch::new();
    for id in ["a", "b"] {
        session(&scratch, id, "x", "y");
        make_old(&scratch, id, 100);
    }
    let folder = journal(&scratch, "a").parent().unwrap().to_owned();
    // The lock's place is taken by a directory, so the session cannot be locked.
    fs::remove_file(folder.join("a.lock")).unwrap();
    fs::create_dir(folder.join("a.lock")).unwrap();
    let ended = scratch.ended(&["sessions", "gc", "--yes"]);
    assert_eq!(ids(&scratch), ["a"], "{ended:?}");
    ended.assert_says("removed 1 session").assert_says("a: cannot open the journal");
}
