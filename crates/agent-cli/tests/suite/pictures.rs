//! Pictures, from a file to the request and back after a resume: given beside the task, named in it, read by the model, dropped at the
//! prompt.

use crate::pty::{at_rest_after, on_terminal};
use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// A file with the head of a picture of this size.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 2, 0, 0, 0, 1, 2, 3, 4]);
    file.extend(b"\0\0\0\0IEND\xae\x42\x60\x82");
    file
}

/// Its base64.
const DATA: &str = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAIAAAABAgMEAAAAAElFTkSuQmCC";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    fs::write(scratch.work("a.png"), png(640, 480)).unwrap();
    scratch
}

fn image() -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}})
}

/// The pictures that are kept.
fn kept(scratch: &Scratch) -> Vec<PathBuf> {
    let folders = scratch.journals().into_iter().map(|journal| journal.with_extension("pictures"));
    folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten()).map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_picture_goes_with_the_task_in_every_format() {
    for wire in [Wire::Anthropic, Wire::OpenAi, Wire::OpenAiResponses] {
        let scratch = scratch();
        let model = Model::script([Step::text("a")]);
        let mut command = scratch.agent(&["run", "-p", "what is it?", "--image", "a.png", "--api-key-env", "-"]);
        let ended = Running::start(command.args(model.flags(wire))).end();
        ended.assert_code(0);
        ended.assert_says("attached a.png 640x480, about 414 tokens");
        model.assert_valid();
        let body = model.last_body().to_string();
        assert_eq!(body.matches(DATA).count(), 1, "{wire:?}: {body}");
        let [kept] = &kept(&scratch)[..] else { panic!("{:?}", kept(&scratch)) };
        assert_eq!(fs::read(kept).unwrap(), png(640, 480));
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let journal = fs::read_to_string(&scratch.journals()[0]).unwrap();
        assert!(!journal.contains("iVBOR") && journal.contains(kept.file_name().unwrap().to_str().unwrap()));
    }
}

#[test]
fn a_resumed_session_sends_the_same_bytes_though_the_file_is_gone() {
    let scratch = scratch();
    let model = Model::script([Step::text("a"), Step::text("b"), Step::text("c")]);
    scratch.run(&model, &["-p", "what is @a.png?"]).assert_code(0);
    fs::remove_file(scratch.work("a.png")).unwrap();
    scratch.run(&model, &["--continue", "-p", "and now?"]).assert_code(0);
    let first = |request: usize| model.requests()[request].body["messages"][0]["content"][0].clone();
    assert_eq!(first(0), image());
    assert_eq!(first(1), image());

    // Damaged, it is named: the session goes on.
    fs::write(&kept(&scratch)[0], "other").unwrap();
    let lint = scratch.ended(&["sessions", "lint", scratch.journals()[0].to_str().unwrap()]);
    lint.assert_code(0);
    assert!(lint.out.contains("missing-picture: the picture a.png with the digest"), "{}", lint.out);
    let ended = scratch.run(&model, &["--continue", "-p", "and then?"]);
    ended.assert_code(0);
    ended.assert_says("the picture a.png of the session is not sent again: it was changed; the model reads its name");
    assert_eq!(first(2), json!({"type": "text", "text": "[picture a.png: PNG 640x480; not sent: it was changed]"}));
    model.assert_valid();
}

#[test]
fn a_session_takes_its_pictures_along_and_away() {
    let scratch = scratch();
    let model = Model::script([Step::text("a"), Step::text("b")]);
    scratch.run(&model, &["-p", "what is @a.png?"]).assert_code(0);
    let shown = scratch.ended(&["sessions", "show"]);
    shown.assert_code(0);
    let digest = kept(&scratch)[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(shown.out.contains(&format!("[picture a.png: PNG 640x480; sha256 {digest}]")), "{}", shown.out);
    scratch.run(&model, &["--continue", "--fork-session", "-p", "and now?"]).assert_code(0);
    assert_eq!(model.last_body()["messages"][0]["content"][0], image());
    assert_eq!(kept(&scratch).len(), 2);
    // What a session takes on the disk is more than its journal.
    let listed: Value = serde_json::from_str(&scratch.ended(&["sessions", "list", "--json"]).out).unwrap();
    let told: Vec<u64> = listed.as_array().unwrap().iter().map(|session| session["bytes"].as_u64().unwrap()).collect();
    let size = |path: &std::path::Path| fs::metadata(path).unwrap().len();
    let (journals, pictures) = (scratch.journals(), kept(&scratch));
    let all = journals.iter().chain(&pictures).map(|path| size(path)).sum::<u64>();
    assert_eq!(told.iter().sum::<u64>(), all);
    for journal in scratch.journals() {
        scratch.ended(&["sessions", "rm", journal.file_stem().unwrap().to_str().unwrap()]).assert_code(0);
        assert!(!journal.with_extension("pictures").exists());
    }
}

#[test]
fn a_picture_that_cannot_go_stops_the_task_before_anything_is_sent() {
    let scratch = scratch();
    fs::write(scratch.work("bomb.png"), png(65_535, 65_535)).unwrap();
    let model = Model::script([Step::text("never")]);
    for (arguments, says) in [
        (&["-p", "x", "--image", "bomb.png"][..], "PNG picture of 65535x65535 pixels, more than 8000 on a side"),
        (&["-p", "x", "--image", "none.png"], "the picture `none.png` cannot be read"),
        (&["-p", "@a.png", "-m", "o3-mini"], "the model o3-mini takes no pictures"),
    ] {
        scratch.run(&model, arguments).assert_code(42).assert_says(says);
    }
    scratch.configure("[models.scripted-model]\nimages = false\n");
    scratch.run(&model, &["-p", "@a.png"]).assert_code(42).assert_says("scripted-model takes no pictures");
    scratch.configure("[models.o3-mini]\nimages = true\n");
    scratch.run(&model, &["-p", "@a.png", "-m", "o3-mini"]).assert_code(0);
    assert_eq!(model.requests().len(), 1);
    assert!(kept(&scratch).len() == 1);
}

#[test]
fn a_picture_that_the_model_reads_comes_with_the_result() {
    for (wire, place) in [
        (Wire::Anthropic, "/messages/2/content/0/content/1/source/data"),
        (Wire::OpenAi, "/messages/4/content/0/image_url/url"),
        (Wire::OpenAiResponses, "/input/2/output/1/image_url"),
    ] {
        let scratch = scratch();
        let model = Model::script([Step::call("read_file", json!({"path": "a.png"})), Step::text("a")]);
        let arguments = ["run", "-p", "look", "--output-format", "stream-json", "--api-key-env", "-"];
        let ended = Running::start(scratch.agent(&arguments).args(model.flags(wire))).end();
        ended.assert_code(0);
        model.assert_valid();
        let body = model.last_body();
        let data = body.pointer(place).and_then(Value::as_str).unwrap_or_default();
        assert!(data.ends_with(DATA), "{wire:?}: {body}");
        let line = ended.out.lines().find(|line| line.contains("tool_result")).unwrap();
        let line: Value = serde_json::from_str(line).unwrap();
        let pictures = &line["message"]["content"][0]["pictures"];
        assert_eq!((&pictures[0]["name"], &pictures[0]["width"]), (&json!("a.png"), &json!(640)));
        assert!(!ended.out.contains("iVBOR"), "{}", ended.out);
    }
}

#[test]
fn words_that_came_otherwise_name_pictures_of_the_workspace_alone() {
    let scratch = scratch();
    fs::write(scratch.path("home").join("private.png"), png(640, 480)).unwrap();
    let model = Model::script([Step::text("a")]);
    scratch.run(&model, &["-p", "see @~/private.png and @../home/private.png"]).assert_code(0);
    assert!(!model.last_body().to_string().contains("iVBOR"));
}

#[test]
fn a_disk_that_is_full_keeps_the_task_back_and_says_so() {
    let scratch = scratch();
    let model = Model::script([Step::text("never")]);
    // The journal fits, the picture does not.
    let mut file = png(640, 480);
    file.resize(3_000_000, 0);
    fs::write(scratch.work("a.png"), file).unwrap();
    let limited = "ulimit -f 1000; trap '' XFSZ; exec \"$0\" \"$@\"";
    let mut command = scratch.command("sh");
    let program = scratch.agent(&[]).get_program().to_owned();
    command.args(["-c", limited]).arg(program).args(["run", "-p", "see @a.png"]).args(model.flags(Wire::Anthropic));
    let ended = Running::start(&mut command).end();
    ended.assert_code(42);
    ended.assert_says("cannot send the task: the picture `a.png` is not sent: keep the picture in");
    assert!(kept(&scratch).is_empty() && model.requests().is_empty());
}

#[test]
fn at_the_prompt_a_dropped_file_is_attached_and_a_refusal_gives_the_line_back() {
    let scratch = scratch();
    fs::write(scratch.work("with blank.png"), png(640, 480)).unwrap();
    fs::write(scratch.work("bomb.png"), png(65_535, 65_535)).unwrap();
    let model = Model::script([Step::text("A blue one."), Step::text("The same.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    let path = scratch.work("with blank.png").display().to_string().replace(' ', "\\ ");
    running.write(&format!("\x1b[200~{path}\x1b[201~what is it?\r"));
    running.wait_for("with blank.png 640x480, about 414 tokens");
    at_rest_after(&running, "A blue one.");
    assert_eq!(model.last_body()["messages"][0]["content"][0], image());
    running.write("and @bomb.png?\r");
    running.wait_for_screen(|screen| {
        screen.contains("not sent: the picture `bomb.png` is a PNG picture of 65535x65535")
            && screen.contains("\n> and @bomb.png?")
    });
    running.write("\x15");
    running.write("again @a.png\r");
    at_rest_after(&running, "The same.");
    running.write("\x1b[A");
    running.wait_for_screen(|screen| screen.trim_end().lines().any(|line| line == "> again @a.png"));
    running.write("\x15\x04");
    running.end().assert_code(0);
    model.assert_valid();
}

#[test]
fn a_recording_is_played_with_its_pictures() {
    let scratch = scratch();
    let model = Model::script([Step::text("a")]);
    scratch.run(&model, &["-p", "see @a.png", "--record", "tape"]).assert_code(0);
    scratch.ended(&["run", "-p", "see @a.png", "--replay", "tape"]).assert_code(0);
}

#[test]
fn a_summary_names_pictures_and_does_not_send_them() {
    let scratch = scratch();
    let model = Model::script([Step::text("A blue one."), Step::text("It was a blue picture."), Step::text("b")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("see @a.png\r");
    at_rest_after(&running, "A blue one.");
    running.write("/compact\r");
    model.wait_for_requests(2);
    let body = model.requests()[1].body.to_string();
    assert!(!body.contains("iVBOR"), "{body}");
    assert!(body.contains("[picture a.png: PNG 640x480; not sent with the history that is summarised]"), "{body}");
    running.wait_for_screen(|screen| screen.contains("summarised: about") && !screen.contains("working"));
    running.write("\x04");
    running.end().assert_code(0);
    model.assert_valid();
}
