//! Skills: what the model reads of them, and what they do not allow.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;

const REVIEW: &str =
    "---\nname: review\ndescription: Reviews a change.\nallowed-tools: Bash(*)\n---\nLook at every line.\n";

fn repository() -> Scratch {
    // The trust of a temporary directory that everybody may write is not kept.
    let scratch = Scratch::repository_in("/var/tmp");
    scratch.write(".agents/skills/review/SKILL.md", REVIEW);
    scratch.write(".agents/skills/review/references/style.md", "Short lines.");
    scratch
}

fn system(model: &Model) -> String {
    model.last_body()["system"].to_string()
}

#[test]
fn a_repositorys_skills_are_used_only_where_it_is_trusted_and_as_they_were_shown() {
    let scratch = repository();
    let model = Model::always(Step::text("a"));
    let run = || scratch.run(&model, &["-p", "x"]);
    run().assert_code(0).assert_says("`skills` of the repository: it is not trusted");
    assert!(!system(&model).contains("Reviews a change."));
    let shown = scratch.ended(&["trust", "--yes"]);
    assert!(shown.assert_code(0).out.contains("the skill `review`"), "{shown:#?}");
    run().assert_code(0);
    assert!(system(&model).contains("- review: Reviews a change."), "{}", system(&model));
    assert!(scratch.ended(&["skills"]).assert_code(0).out.starts_with("review  Reviews a change.\n"));
    // Another text is not what was trusted.
    scratch.write(".agents/skills/review/SKILL.md", &REVIEW.replace("every line", "nothing"));
    run().assert_code(0).assert_says("changed since they were trusted");
    assert!(!system(&model).contains("Reviews a change."));
    assert_eq!(scratch.ended(&["skills", "--json"]).assert_code(0).out.trim(), "[]");
}

#[test]
fn the_model_reads_a_skill_and_is_allowed_no_more_by_it() {
    let scratch = repository();
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    let activate = |arguments: serde_json::Value| Step::call("activate_skill", arguments);
    let model = Model::script([
        activate(json!({"name": "review"})),
        activate(json!({"name": "review", "file": "references/style.md"})),
        activate(json!({"name": "review", "file": "../../../.agents/skills/review/SKILL.md"})),
        activate(json!({"name": "reviews"})),
        Step::call("bash", json!({"command": "touch planted"})),
        Step::text("Done."),
    ]);
    let ended = scratch.run(&model, &["-p", "x"]);
    ended.assert_code(61);
    assert!(!scratch.work("planted").exists());
    let results = model.last_body()["messages"].to_string();
    for part in ["Look at every line.", "which `read_file` reads", "That allows nothing", "references/style.md"] {
        assert!(results.contains(part), "{part}: {results}");
    }
    // Rules about files hold for the project's.
    assert!(!results.contains("Short lines."), "{results}");
    assert!(results.contains("there is no skill `reviews`; the skills are review"), "{results}");
    // A deny rule holds for the tool, and for one skill.
    for rule in ["activate_skill", "activate_skill(review)"] {
        let model = Model::script([activate(json!({"name": "review"})), Step::text("Done.")]);
        scratch.run(&model, &["-p", "x", "--deny", rule]).assert_code(0);
        let results = model.last_body()["messages"].to_string();
        assert!(!results.contains("Look at every line."), "{rule}: {results}");
    }
}

#[test]
fn a_skill_of_the_users_is_a_command_at_the_prompt() {
    let scratch = Scratch::new();
    let folder = scratch.path("config/skills/notes");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), "---\nname: notes\ndescription: Takes notes.\n---\nWrite it down.\n").unwrap();
    let model = Model::script([Step::text("To the first.")]);
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write("/skill:notes about pears\n");
    running.close_stdin();
    running.end().assert_code(0);
    let sent = model.last_body()["messages"].to_string();
    assert!(sent.contains("Write it down.") && sent.contains("about pears"), "{sent}");
    assert!(system(&model).contains("- notes: Takes notes."));
}

/// Deny rules about files hold for what skills give and name, by whichever way they reach the model.
#[test]
fn what_deny_rules_keep_from_the_model_is_in_no_skill() {
    let scratch = Scratch::repository_in("/var/tmp");
    let skill = |name: &str| format!("---\nname: {name}\ndescription: About {name}.\n---\nText of {name}.\n");
    for name in ["open", "closed"] {
        scratch.write(&format!(".agent/skills/{name}/SKILL.md"), &skill(name));
    }
    for file in ["ref/kept.md", "ref/a\nrow.md", "other/shown.md"] {
        scratch.write(&format!(".agent/skills/open/{file}"), "x");
    }
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    let seen = |flags: &[&str]| {
        let steps = ["open", "closed"].map(|name| Step::call("activate_skill", json!({"name": name})));
        let model = Model::script(steps.into_iter().chain([Step::text("Done.")]));
        let ended = scratch.run(&model, &[&["-p", "x"], flags].concat());
        ended.assert_code(0);
        (model.last_body().to_string(), ended.err)
    };
    let closed = "read(.agent/skills/closed/**)";
    let kept = "read(.agent/skills/open/ref/kept.md)";
    let (all, _) = seen(&[]);
    for part in ["About closed.", "Text of closed.", "- ref/kept.md", "- ref/a\\\\nrow.md", "- other/shown.md"] {
        assert!(all.contains(part), "the control: {part}: {all}");
    }
    assert!(!all.contains("file left out"), "{all}");
    let (part, err) = seen(&["--deny", closed, "--deny", kept]);
    for gone in ["About closed.", "Text of closed.", "kept.md"] {
        assert!(!part.contains(gone), "{gone}: {part}");
    }
    for there in ["About open.", "Text of open.", "- other/shown.md", "[1 file left out", "there is no skill `closed`"]
    {
        assert!(part.contains(there), "{there}: {part}");
    }
    assert!(err.contains("the skill `closed` is left out"), "{err}");
    let (none, _) = seen(&["--deny", "read(.agent/**)"]);
    assert!(!none.contains("About open.") && !none.contains("Text of open."), "{none}");
    // From a repository, too, in a folder above the working directory.
    scratch.write(".agent/config.toml", &format!("deny = [\"{closed}\"]\n"));
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    scratch.write("below/file", "");
    let below = scratch.work("below").to_str().unwrap().to_owned();
    let (part, _) = seen(&["-C", &below]);
    assert!(
        part.contains("Text of open.") && !part.contains("About closed.") && !part.contains("Text of closed."),
        "{part}"
    );
    // As a command at the prompt.
    let model = Model::always(Step::text("To all."));
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write("/skill:closed now\n/skill:open now\n");
    running.close_stdin();
    running.end();
    let sent: String = model.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(sent.contains("Text of open.") && !sent.contains("Text of closed."), "{sent}");
}

/// The user's own instructions may be a link into the workspace: what is denied there is denied by that name, too.
#[test]
fn deny_rules_hold_for_own_instructions_that_lead_into_the_workspace() {
    let scratch = Scratch::repository();
    scratch.write("priv/AGENTS.md", "Private rule.");
    fs::create_dir_all(scratch.path("config")).unwrap();
    std::os::unix::fs::symlink(scratch.work("priv/AGENTS.md"), scratch.path("config/AGENTS.md")).unwrap();
    let seen = |flags: &[&str]| {
        let model = Model::always(Step::text("a"));
        let ended = scratch.run(&model, &[&["-p", "x"], flags].concat());
        ended.assert_code(0);
        (system(&model), ended.err)
    };
    assert!(seen(&[]).0.contains("Private rule."), "the control");
    let (system, err) = seen(&["--deny", "read(priv/**)"]);
    assert!(!system.contains("Private rule.") && err.contains("are left out"), "{system} {err}");
}
