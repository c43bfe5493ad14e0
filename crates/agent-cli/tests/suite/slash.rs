//! The commands at the prompt: what the person sees of them, and what the model received.

use crate::pty::{at_rest_after, on_terminal};
use crate::support::{Model, Running, Scratch};
use agent_testkit::http::Step;

/// A prompt whose first message was answered.
fn at_rest(scratch: &Scratch, model: &Model, arguments: &str) -> Option<Running> {
    let mut running = on_terminal(scratch, model, arguments)?;
    running.wait_for("> ");
    running.write("first\r");
    at_rest_after(&running, "To the first.");
    Some(running)
}

fn quit(mut running: Running) {
    running.write("\x15/quit\r");
    running.end().assert_code(0);
}

#[test]
fn a_mistyped_command_is_not_sent_and_stands_in_the_line_again() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("To the first."), Step::text("To the message.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/hlep\r");
    running.wait_for_screen(|screen| {
        screen.contains("unknown command /hlep; did you mean /help? /help lists the commands\n> /hlep\n")
    });
    running.write("\x15/ex\t");
    running.wait_for_screen(|screen| screen.contains("\n> /exit"));
    running.write("\x15/quit now\r");
    running.wait_for_screen(|screen| screen.contains("/quit takes no arguments\n> /quit now\n"));
    running.write("\x15/tidy up\r");
    at_rest_after(&running, "To the message.");
    assert_eq!(model.requests().len(), 2);
    assert!(model.last_body()["messages"].to_string().contains("/tidy up"));
    quit(running);
}

#[test]
fn help_lists_every_command_and_other_programs_can_too() {
    let scratch = Scratch::new();
    let listed = scratch.ended(&["commands", "--json"]);
    let listed: Vec<serde_json::Value> = serde_json::from_str(&listed.assert_code(0).out).unwrap();
    let names: Vec<&str> = listed.iter().map(|command| command["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"help") && names.contains(&"cost"), "{names:?}");
    let lines = scratch.ended(&["commands"]);
    assert_eq!(lines.assert_code(0).out.lines().count(), names.len());
    let model = Model::script([Step::text("To the first.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/help\r");
    for name in names {
        running.wait_for(&format!("/{name}"));
    }
    running.write("/cost\r");
    running.wait_for("1 model call, 0 tool calls");
    assert_eq!(model.requests().len(), 1);
    quit(running);
}
