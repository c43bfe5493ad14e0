//! Logins at MCP servers through the program: a person opens the address that it shows, and a browser brings the answer.

use crate::support::{HANG, Model, Running, Scratch};
use agent_testkit::http::Step;
use agent_testkit::mcp::McpHttp;
use serde_json::json;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// Opens an address on this machine, as a browser does; what came.
fn open(address: &str) -> String {
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn sent_to(answer: &str) -> String {
    answer.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned()
}

/// What the program shows for the person to open.
fn shown(running: &Running) -> String {
    running.wait_for("waiting for the answer at");
    let said = running.said();
    said.lines().find(|line| line.contains("/authorize?")).unwrap_or_else(|| panic!("{said}")).trim().to_owned()
}

#[test]
fn a_person_logs_in_and_out() {
    let scratch = Scratch::repository_in("/var/tmp");
    let server = McpHttp::start("login frank");
    let url = server.url();
    let refused = scratch.ended(&["mcp", "add", "far", "--url", &url]);
    refused.assert_code(1).assert_says("`agent mcp login far`").assert_says("--no-test");
    scratch.ended(&["mcp", "add", "far", "--url", &url, "--no-test"]).assert_code(0);

    let running = Running::start(&mut scratch.agent(&["mcp", "login", "far"]));
    let address = shown(&running);
    assert!(address.contains("code_challenge_method=S256"), "{address}");
    let back = sent_to(&open(&address));
    assert!(back.starts_with("http://127.0.0.1:"), "{back}");
    assert!(open(&back.replace("state=", "state=x")).contains("404"), "it is not the answer to this login");
    assert!(open(&back).contains("200 OK"));
    running.end().assert_code(0).assert_says("logged in to far").assert_says("far has 12 tools");

    let folder = scratch.path("state/mcp/logins");
    let kept: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(kept.iter().all(|path| path.metadata().unwrap().permissions().mode() & 0o077 == 0), "{kept:?}");

    // The token opens the server, and goes nowhere else, whatever the server repeats.
    let model = Model::script([Step::call("mcp__far__echo", json!({})), Step::text("Done.")]);
    let ended = scratch.run(&model, &["-p", "x", "--allow", "mcp__far"]);
    ended.assert_code(0);
    let read = model.last_body()["messages"].to_string();
    assert!(read.contains("authorization") && !read.contains("access-token"), "{read}");
    let tree = Command::new("grep").args(["-rl", "access-token-1"]).arg(scratch.path("state")).output();
    let found = String::from_utf8(tree.unwrap().stdout).unwrap();
    assert!(found.lines().all(|path| path.contains("/mcp/logins/")), "{found}");

    scratch.ended(&["mcp", "logout", "far"]).assert_code(0).assert_says("is removed here");
    scratch.ended(&["mcp", "logout", "far"]).assert_code(0).assert_says("there was no login");
    scratch.ended(&["mcp", "test", "far"]).assert_code(1).assert_says("`agent mcp login far`");
}

/// Where the browser runs elsewhere, nothing comes back by itself.
#[test]
fn an_answer_is_pasted() {
    let scratch = Scratch::repository_in("/var/tmp");
    let server = McpHttp::start("login");
    scratch.ended(&["mcp", "add", "far", "--url", &server.url(), "--no-test"]).assert_code(0);
    if !Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: `script` is not installed");
        return;
    }
    let mut command = scratch.command("script");
    let agent = scratch.agent(&[]);
    let agent = agent.get_program().to_str().unwrap();
    command.args(["--quiet", "--return", "--command", &format!("{agent} mcp login far"), "/dev/null"]);
    let mut terminal = Running::start(&mut command);
    terminal.wait_for("paste the address");
    let said = terminal.said().replace("\r\n", "\n");
    let address = said.lines().find(|line| line.contains("/authorize?")).unwrap().trim().to_owned();
    terminal.write("http://127.0.0.1/callback?code=x&state=y\n");
    terminal.wait_for("not the address at which the login ends");
    terminal.write(&format!("{}\n", sent_to(&open(&address))));
    terminal.wait_for("far has 12 tools");
    terminal.close_stdin();
    terminal.end().assert_code(0);
}

#[test]
fn who_asks_already_does_not_log_in() {
    let scratch = Scratch::repository_in("/var/tmp");
    let file = json!({"mcpServers": {
        "token": {"url": "http://127.0.0.1:1/", "headers": {"Authorization": "Bearer x"}},
        "user": {"url": "http://me:word@127.0.0.1:1/"},
        "clear": {"url": "http://mcp.example/"},
        "program": {"command": "true"},
    }});
    fs::write(scratch.path("config/mcp.json"), file.to_string()).unwrap();
    for (name, said) in [
        ("token", "says already who asks"),
        ("user", "says already who asks"),
        ("clear", "unencrypted"),
        ("program", "is a program"),
        ("nobody", "no MCP server called `nobody`"),
    ] {
        scratch.ended(&["mcp", "login", name]).assert_code(42).assert_says(said);
    }
}
