//! A terminal whose locale names another character set than UTF-8.

use crate::pty::program_on_terminal;
use crate::support::{Model, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;

/// What is typed reaches the model as text, what it answers is written in the terminal's set, and no rows are drawn.
#[test]
fn a_terminal_of_another_set_reads_and_shows_that() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Said é, and so on."), Step::text("Again é.")]);
    let agent = |locale: &str| {
        let flags = model.flags(Wire::Anthropic).join(" ");
        format!("exec env LC_ALL={locale} {} {flags}", env!("CARGO_BIN_EXE_agent"))
    };
    let Some(mut running) = program_on_terminal(&scratch, &agent("ru_RU.KOI8-R")) else { return };
    running.wait_for("> ");
    running.write_bytes(b"\xcb\xcf\xd4\n");
    running.wait_for("Said ?, and so on.");
    assert!(model.last_body()["messages"].to_string().contains("кот"), "{}", model.last_body()["messages"]);
    running.write("/quit\n");
    running.end().assert_code(0);

    // The control: UTF-8, and the rows at the bottom.
    let Some(mut running) = program_on_terminal(&scratch, &agent("ru_RU.UTF-8")) else { return };
    running.wait_for("> ");
    running.write("кот\r");
    running.wait_for("Again é.");
    running.write("/quit\r");
    running.end().assert_code(0);
}

/// A quote of typography is none to a shell: shown as a plain one it would hide where the command's first word ends.
#[test]
fn what_is_asked_about_is_shown_by_no_other_sign() {
    for (locale, is_spelt) in [("en_US.ISO-8859-1", true), ("ru_RU.KOI8-R", true), ("en_US.UTF-8", false)] {
        let scratch = Scratch::new();
        let model = Model::script([
            Step::call("bash", json!({"command": "touch “a; touch pwned #” │ — ‘x’"})),
            Step::call("write_file", json!({"path": "“a”.txt", "content": "echo “; touch pwned2 #”\n"})),
            Step::text("Done."),
        ]);
        let flags = model.flags(Wire::Anthropic).join(" ");
        let agent = format!("exec env LC_ALL={locale} {} {flags} --sandbox off --plain", env!("CARGO_BIN_EXE_agent"));
        let Some(mut running) = program_on_terminal(&scratch, &agent) else { return };
        running.wait_for("> ");
        running.write("go\n");
        for asked in 1..=2 {
            running.wait_for_screen(|screen| screen.matches("answer:").count() == asked);
            running.write("n\n");
        }
        running.wait_for("Done.");
        let shown = running.said();
        running.write("/quit\n");
        running.end().assert_code(0);
        assert_eq!(shown.contains("\\u{201c}a; touch pwned"), is_spelt, "{locale}: {shown}");
        assert!(!shown.contains("\"a;") && !shown.contains("\" | -"), "{locale}: {shown}");
        assert_eq!(shown.contains("echo \\u{201c}; touch pwned2"), is_spelt, "{locale}: {shown}");
        assert!(!shown.contains("echo \"; touch pwned2"), "{locale}: {shown}");
        assert!(!shown.contains("\"a\".txt"), "{locale}: {shown}");
    }
}
