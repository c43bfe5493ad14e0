//! Rows end where the program ends them: what the terminal has to break as well would be broken twice.

use crate::pty::program_on_terminal;
use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::time::{Duration, Instant};

/// High enough for all that is shown.
const ROWS: u16 = 400;

/// The rows that the terminal broke by itself.
fn broken(running: &Running, columns: u16) -> Vec<String> {
    let terminal = running.terminal(ROWS, columns);
    let screen = terminal.screen();
    let rows: Vec<String> = screen.rows(0, columns).collect();
    (0..ROWS).zip(rows).filter(|(row, _)| screen.row_wrapped(*row)).map(|(_, text)| text).collect()
}

/// What it shows, as one line.
fn shown(running: &Running, columns: u16) -> String {
    running.terminal(ROWS, columns).screen().contents().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Waits until what it shows is so.
#[track_caller]
fn until(running: &Running, columns: u16, is_so: impl Fn(&str) -> bool) {
    let since = Instant::now();
    while !is_so(&shown(running, columns)) {
        let contents = || running.terminal(ROWS, columns).screen().contents();
        assert!(since.elapsed() < Duration::from_secs(60), "it never showed that: {}", contents());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait_for(running: &Running, columns: u16, words: &str) {
    until(running, columns, |shown| shown.contains(words));
}

#[test]
fn no_row_is_broken_by_the_terminal() {
    let long =
        "a sentence of some words that goes on for a while, longer than a row of any of these terminals, ".repeat(3);
    for columns in [40, 60, 80] {
        let scratch = Scratch::repository();
        scratch.write("a.txt", &format!("{long}\nsecond\n"));
        let edit = json!({"path": "a.txt", "old_string": "second", "new_string": long});
        let command = format!("echo '{long}' && printf '%s' '{long}'\ntouch made.txt");
        let answer = format!(
            "# A heading\n\n{long}\n\n* {long}\n\n| name | value |\n|---|---|\n| a | {long} |\n\nThe end of it."
        );
        let model = Model::script([
            Step::call("read_file", json!({"path": "a.txt"})),
            Step::call("bash", json!({ "command": command })),
            Step::call("edit_file", edit),
            Step::call("read_file", json!({"path": "no/such/file/in/a/folder/with/a/long/name/that/is/not/there.txt"})),
            Step::text(&answer),
        ]);
        let flags = model.flags(Wire::Anthropic).join(" ");
        let program = env!("CARGO_BIN_EXE_agent");
        let line = format!("stty rows {ROWS} cols {columns}; exec {program} {flags} --sandbox off");
        let Some(mut running) = program_on_terminal(&scratch, &line) else { return };
        wait_for(&running, columns, "default");
        // What a person wrote is shown as they wrote it, and copied whole: the terminal breaks that.
        running.write("please\r");
        for number in 1..=2 {
            let times = |shown: &str, words: &str| shown.matches(words).count();
            until(&running, columns, |shown| {
                times(shown, "allow this call?") == number && times(shown, "answer:") == number
            });
            running.write("?");
            until(&running, columns, |shown| times(shown, "y = yes, n = no") == number);
            running.write("y");
        }
        wait_for(&running, columns, "The end of it.");
        let commands = [
            "/help",
            "/context",
            "/cost",
            "/permissions",
            "/diff",
            "/trace",
            "/ps",
            "/mode nonsense",
            "/undo x",
            "/export",
        ];
        for command in commands {
            running.write(&format!("{command}\r"));
            // It has come to its end when the line is there again below it.
            until(&running, columns, |shown| {
                shown.contains(&format!("> {command} ")) && [" default", " main"].iter().any(|end| shown.ends_with(end))
            });
            std::thread::sleep(Duration::from_millis(700));
        }
        running.write("\x15");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(
            broken(&running, columns),
            [""; 0],
            "at {columns} columns: {}",
            running.terminal(ROWS, columns).screen().contents()
        );
        running.write("/quit\r");
        running.end().assert_code(0);
    }
}
