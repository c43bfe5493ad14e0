//! A client that others wrote: `acpx`, which `cargo xtask mcp-servers` installs. Where it is not, this is skipped.

use crate::support::{Ended, Model, Running, Scratch, Wire, of_others, program};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The client and the node that runs it, if they can be tried.
#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
fn client() -> Option<(PathBuf, PathBuf)> {
    let programs = of_others().map(|place| place.join("node_modules/.bin"));
    let found = programs.map(|programs| (programs.join("node"), programs.join("acpx")));
    let found = found.filter(|(node, acpx)| {
        let runs = std::process::Command::new(node).arg("--version").output();
        acpx.exists() && runs.is_ok_and(|run| run.status.success())
    });
    if found.is_none() {
        eprintln!("SKIPPED: the client acpx is not installed (`cargo xtask mcp-servers`)");
    }
    found
}

/// One prompt of the client, which writes what goes over the connection.
fn prompted((node, acpx): &(PathBuf, PathBuf), scratch: &Scratch, model: &Model, permission: &str) -> Ended {
    let words = [vec![program().display().to_string(), "acp".into(), "--quiet".into()], model.flags(Wire::Anthropic)];
    let agent = words.concat().join(" ");
    let arguments = ["--agent", &agent, permission, "--format", "json", "exec", "write it"];
    Running::start(scratch.command(node).arg(acpx).args(arguments)).end()
}

fn of_method<'a>(lines: &'a [Value], method: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["method"] == method).collect()
}

#[test]
fn a_client_of_others_allows_and_denies() {
    let Some(client) = client() else { return };
    for (permission, is_written) in [("--approve-all", true), ("--deny-all", false)] {
        let scratch = Scratch::new();
        let write = Step::call("write_file", json!({ "path": "new.txt", "content": "one\n" }));
        let model = Model::script([write, Step::text("That is all.")]);
        let ended = prompted(&client, &scratch, &model, permission);
        assert_eq!(scratch.work("new.txt").exists(), is_written, "{permission}: {ended:#?}");
        let lines = ended.lines();
        assert_eq!(of_method(&lines, "session/request_permission").len(), 1, "{ended:#?}");
        let said: String = of_method(&lines, "session/update")
            .iter()
            .filter(|line| line["params"]["update"]["sessionUpdate"] == "agent_message_chunk")
            .filter_map(|line| line["params"]["update"]["content"]["text"].as_str())
            .collect();
        assert_eq!(said, "That is all.", "{ended:#?}");
        assert!(lines.iter().any(|line| line["result"]["stopReason"] == "end_turn"), "{ended:#?}");
        model.assert_valid();
    }
}
