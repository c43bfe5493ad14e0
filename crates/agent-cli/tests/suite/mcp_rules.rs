//! Rules about tools of MCP servers: what they name, and where they hold.

use crate::mcp::Place;
use crate::support::{Ended, Model, Running, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;

/// Has the model call a tool; what it read then.
fn call(place: &Place, tool: &str, flags: &[&str]) -> (Ended, String) {
    let model = Model::script([Step::call(tool, json!({"text": "was called"})), Step::text("Done.")]);
    let ended = place.0.run(&model, &[&["-p", "x"], flags].concat());
    let read = if model.requests().is_empty() { String::new() } else { model.last_body()["messages"].to_string() };
    (ended, read)
}

/// Whether the text stands in the result, too.
fn is_answered(read: &str) -> bool {
    read.matches("was called").count() == 2
}

const LONG: &str = "my-very-long-server-name-for-github";
const ECHO: &str = "mcp__my-very-long-server-name__echo";
const BYPASS: &[&str] = &["--permission-mode", "bypass"];

#[test]
fn a_deny_rule_of_a_file_holds_for_a_server_by_the_name_in_its_file() {
    let place = Place::new();
    let entry = place.entry("", &json!({"required": true, "startTimeoutMs": 60_000}));
    fs::write(place.0.path("config/mcp.json"), json!({"mcpServers": {LONG: entry}}).to_string()).unwrap();
    let is_denied = |flags: &[&str]| {
        let (ended, read) = call(&place, ECHO, &[BYPASS, flags].concat());
        ended.assert_code(0);
        assert_ne!(read.contains("denies it"), is_answered(&read), "{read}");
        (read.contains("denies it"), ended)
    };
    assert!(!is_denied(&[]).0, "the control");
    for rule in [format!("mcp__{LONG}"), format!("mcp__{LONG}__echo"), "mcp__my-very-long-server-name".to_owned()] {
        assert!(is_denied(&["--deny", &rule]).0, "{rule} on the command line");
        place.0.configure(&format!("deny = [\"{rule}\"]"));
        assert!(is_denied(&[]).0, "{rule} in the user's file");
        place.0.configure("");
        place.0.write(".agent/config.toml", &format!("deny = [\"{rule}\"]"));
        assert!(is_denied(&[]).0, "{rule} in the repository's file");
        fs::remove_file(place.0.work(".agent/config.toml")).unwrap();
    }
    // What it allows is only what is called so here.
    let (ended, _) = call(&place, ECHO, &["--allow", &format!("mcp__{LONG}")]);
    ended.assert_code(52).assert_says("no MCP server is called so");
    // A slip of the pen is told: of a server at once, of a tool when the server has told its tools.
    place.0.configure("deny = [\"mcp__My_Very_Long_Server_Name\"]");
    call(&place, ECHO, BYPASS).0.assert_code(52).assert_says("did you mean `mcp__my-very-long-server-name`?");
    place.0.configure("deny = [\"mcp__elsewhere\"]");
    assert!(!is_denied(&[]).0, "a server that is configured elsewhere");
    place.0.configure(&format!("deny = [\"mcp__{LONG}__eko\"]"));
    let (denied, ended) = is_denied(&[]);
    assert_eq!((denied, ended.err.matches("has no tool that is called").count()), (false, 1), "{ended:#?}");
    ended.assert_says("has no tool that is called mcp__my-very-long-server-name__eko, as a rule says");
    place.0.configure(&format!("deny = [\"mcp__{LONG}__sum\"]"));
    assert!(!is_denied(&[]).1.err.contains("has no tool"));
}

/// Another repository's server may have the same name.
#[test]
fn what_is_kept_for_a_repositorys_server_holds_there_alone() {
    let place = Place::new();
    let mut entry = place.entry("", &json!({"required": true, "startTimeoutMs": 60_000}));
    entry.as_object_mut().unwrap().remove("policy");
    let file = json!({"mcpServers": {"s": entry}}).to_string();
    place.0.write(".mcp.json", &file);
    for name in [".git/HEAD", ".mcp.json"] {
        let path = place.0.path("other").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, if name == ".mcp.json" { &file } else { "ref: refs/heads/main\n" }).unwrap();
    }
    let other = place.0.path("other").to_str().unwrap().to_owned();
    place.0.ended(&["trust", "--yes"]).assert_code(0);
    place.0.ended(&["trust", "--yes", "-C", &other]).assert_code(0);

    // The prompt waits for no server: its tools are known before.
    place.0.ended(&["mcp", "list"]).assert_code(0);
    let model = Model::script([Step::call("mcp__s__echo", json!({"text": "was called"})), Step::text("So be it.")]);
    let mut running = Running::start(place.0.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write("go\n");
    running.wait_for("allow this call?");
    running.write("k\n");
    running.wait_for("So be it.");
    running.close_stdin();
    let ended = running.end();
    let work = place.0.work("").canonicalize().unwrap();
    ended.assert_code(0).assert_says(&format!("for {}: `mcp__s__echo`", work.display()));
    let runs = |flags: &[&str]| {
        let (ended, read) = call(&place, "mcp__s__echo", flags);
        assert_eq!(is_answered(&read), ended.code() == 0, "{ended:#?} {read}");
        (ended.code() == 0, ended)
    };
    assert!(runs(&[]).0, "where it was kept");
    assert!(!runs(&["-C", &other]).0, "in another repository");
    assert!(runs(&["-C", &other, "--allow", "mcp__s__echo"]).0, "the control");
    // Nor does what is allowed in every directory hold for a server that a repository names.
    for rule in ["mcp__s__echo", "mcp__s"] {
        place.0.configure(&format!("allow = [\"{rule}\"]"));
        let (runs, ended) = runs(&["-C", &other]);
        assert!(!runs && ended.err.contains("`s` is a server of the repository here"), "{ended:#?}");
    }
    place.0.configure(&format!("[projects.\"{other}\"]\nallow = [\"mcp__s\"]"));
    assert!(runs(&["-C", &other]).0);
    place.0.configure("allow = [\"mcp__s\"]");
    place.configure("", &json!({"required": true, "startTimeoutMs": 60_000}));
    assert!(runs(&["-C", &other]).0, "the user's own stands above it");
}
