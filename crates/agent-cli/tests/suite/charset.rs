//! A terminal whose locale names another character set than UTF-8.

use crate::pty::program_on_terminal;
use crate::support::{Model, Scratch, Wire};
use agent_testkit::http::Step;

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
