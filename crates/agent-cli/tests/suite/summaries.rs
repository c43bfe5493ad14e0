//! What a summary replaced is not lost: sessions show and export it, say who wrote the summary, and a turn outlives summaries of no use.

use crate::support::{Ended, Model, Scratch};
use agent_testkit::http::Step;
use serde_json::{Value, json};

fn read(path: &str) -> Step {
    Step::call("read_file", json!({ "path": path }))
}

/// A few of the files fill the window.
fn filled() -> Scratch {
    let scratch = Scratch::repository();
    scratch.configure("[models.scripted-model]\ncontext_window_tokens = 1500\n");
    for name in ["one", "two", "three", "four", "five"] {
        scratch.write(name, &format!("{name} stands here\n{}", "pears and apples\n".repeat(300)));
    }
    scratch
}

fn todos() -> Step {
    let todos = json!([{ "content": "look at the pears", "status": "in_progress" }]);
    Step::call("todo_write", json!({ "todos": todos }))
}

#[test]
fn what_was_said_before_a_summary_is_shown_and_exported_with_its_author() {
    let scratch = filled();
    let model =
        Model::script([todos(), read("one"), read("two"), Step::text("Pears were read."), Step::text("All done.")]);
    let ended = scratch.run(&model, &["-p", "Read the fruit files.", "--output-format", "stream-json"]);
    ended.assert_code(0);
    let told = summarised(&ended);
    assert_eq!((&told["trigger"], &told["model"]), (&json!("auto"), &json!("scripted-model")), "{told}");
    let (before, after) = (told["before_tokens"].as_u64().unwrap(), told["after_tokens"].as_u64().unwrap());
    assert!(before > after && after > 0, "{told}");
    // The task and the list are not left to the model that summarised.
    let sent = model.last_body()["messages"].to_string();
    assert!(sent.contains("Pears were read.") && !sent.contains("one stands here"), "{sent}");
    assert!(sent.contains("Read the fruit files.") && sent.contains("[>] look at the pears"), "{sent}");
    let told = "summary by scripted-model: from here on, the model read this and, word for word, 1 message of yours and results of \
                todo_write instead of what stands above";
    for arguments in [&["sessions", "show"][..], &["sessions", "export"], &["sessions", "export", "--format", "html"]] {
        let shown = scratch.ended(arguments);
        shown.assert_code(0);
        for text in ["one stands here", "Pears were read.", "Read the fruit files.", "All done.", told] {
            assert!(shown.out.contains(text), "{arguments:?}: {text}\n{}", shown.out);
        }
        let (first, last) = (shown.out.find("one stands here"), shown.out.find("Pears were read."));
        assert!(first < last, "in the order in which it was said");
    }
}

fn summarised(ended: &Ended) -> Value {
    let lines = ended.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told: Vec<Value> = lines.filter(|line| line["type"] == "summarised").collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    told.clone()
}

/// Three summaries of no use are three model calls; the work goes on, and is a success.
#[test]
fn a_run_outlives_summaries_of_no_use() {
    let scratch = filled();
    let model = Model::always(Step::respond(|body| {
        let body = body.to_string();
        if body.contains("Summarise this conversation") {
            return Step::text(" ");
        }
        let is_unread = |name: &&str| !body.contains(&format!("{name} stands here"));
        ["one", "two", "three", "four", "five"]
            .into_iter()
            .find(is_unread)
            .map_or_else(|| Step::text("All read."), read)
    }));
    let ended = scratch.run(&model, &["-p", "Read the fruit files."]);
    ended.assert_code(0).assert_says("summarising the conversation failed: the summary is empty");
    assert_eq!(ended.out, "All read.\n");
    let summaries =
        model.requests().iter().filter(|request| request.body.to_string().contains("Summarise this")).count();
    assert_eq!(summaries, 3);
}
