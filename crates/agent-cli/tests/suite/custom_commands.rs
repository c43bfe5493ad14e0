//! Commands that stand in files, and commands of the person's shell: what is sent, and what is not without a key.

use crate::pty::{at_rest_after, on_terminal};
use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use std::fs;
use std::os::unix::fs::symlink;

const REVIEW: &str = "---\ndescription: Looks at a file\nargument-hint: FILE\n---\nReview $1 !`touch ran` thoroughly.\nAll: $ARGUMENTS\n";

fn last(model: &Model) -> String {
    model.last_body()["messages"].as_array().unwrap().last().unwrap().to_string()
}

#[test]
fn a_command_of_the_repository_is_shown_whole_and_agreed_to() {
    let scratch = Scratch::repository();
    scratch.write(".agent/commands/review.md", REVIEW);
    scratch.write("secret.txt", "secret\n");
    symlink(scratch.work("secret.txt"), scratch.work(".agent/commands/leak.md")).unwrap();
    scratch.write(".agent/commands/help.md", "I am not the program's help.");
    let model = Model::script([Step::text("To one."), Step::text("To two.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("cannot read the command /leak: it is a link");
    running.wait_for("> ");
    running.write("/rev\t a.rs b.rs\r");
    running.wait_for("/review is a command of the repository, which would say to the agent:");
    running.wait_for("  | Review a.rs !`touch ran` thoroughly.");
    running.wait_for("  | All: a.rs b.rs");
    running.wait_for("Send this?");
    running.write("n\r");
    running.write("/review a.rs b.rs\r");
    running.wait_for_screen(|screen| {
        screen.matches("would say to the agent").count() == 2 && screen.contains("Send this?")
    });
    assert_eq!(model.requests().len(), 0, "nothing was sent");
    running.write("y\r");
    at_rest_after(&running, "To one.");
    assert!(last(&model).contains("Review a.rs !`touch ran` thoroughly.\\nAll: a.rs b.rs"), "{}", last(&model));
    running.write("/review a.rs b.rs\r");
    at_rest_after(&running, "To two.");
    running.write("/help\r");
    running.wait_for("/review FILE  Looks at a file (the repository's)");
    running.write("/quit\r");
    running.end().assert_code(0);
    assert!(!scratch.work("ran").exists());
}

#[test]
fn a_command_of_the_persons_is_sent_and_stands_above_the_repositorys() {
    let scratch = Scratch::repository();
    scratch.configure("");
    let own = scratch.path("config/commands");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("review.md"), "Review as I like it: $ARGUMENTS").unwrap();
    scratch.write(".agent/commands/review.md", REVIEW);
    scratch.write(".agent/commands/other.md", "Do it.");
    let model = Model::always(Step::text("Well."));
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write("/review the parser\n/other\n/revieww x\n");
    running.close_stdin();
    let ended = running.end();
    ended.assert_code(0).assert_says("not sent: a command of the repository is agreed to with a key");
    ended.assert_says("did you mean /review?");
    assert_eq!(model.requests().len(), 1);
    assert!(last(&model).contains("Review as I like it: the parser"), "{}", last(&model));
}

#[test]
fn a_command_of_the_shell_runs_as_the_person_and_its_output_is_theirs() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("I see.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("!echo out; echo \"$HOME\" > ../outside; printf 'bad\\033[2Jx\\n' >&2; (sleep 4722.3 &); exit 3\r");
    running.wait_for("Tell the agent the command and its output?");
    running.wait_for_screen(|screen| screen.contains("\nout\nbad\\u{1b}[2Jx\n") && screen.contains("exit status: 3"));
    assert!(scratch.path("outside").exists(), "it is not in the sandbox");
    running.write("n\r");
    running.write("!seq 3\r");
    running.wait_for_screen(|screen| screen.matches("Tell the agent").count() == 1 && screen.contains("\n2\n3\n"));
    running.write("y\r");
    running.wait_for_screen(|screen| screen.contains("> I ran `seq 3`"));
    assert_eq!(model.requests().len(), 0, "the person sends it");
    running.write("what is that?\r");
    at_rest_after(&running, "I see.");
    assert!(last(&model).contains("1\\n2\\n3\\n") && last(&model).contains("what is that?"), "{}", last(&model));
    assert!(!last(&model).contains("bad"));
    running.write("!sleep 60\r");
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.write("\x03");
    running.wait_for_screen(|screen| screen.contains("Tell the agent"));
    running.write("n\r/quit\r");
    // Its exit code is that of the shell around it, which the key reached, too.
    assert!(running.end().out.contains("to resume: agent resume"));
}
