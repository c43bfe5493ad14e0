//! What the reference implementation of the specification (`skills-ref`, the command `agentskills`) says of a skill, beside what is done
//! with it here: what it accepts is used without a word, and what it refuses is refused or used with a note. Each difference has its
//! reason.

use super::*;
use crate::screen::terminal::say;
use std::process::Command;

/// What becomes of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Becomes {
    Used,
    UsedWithANote,
    Refused,
}
use Becomes::{Refused, Used, UsedWithANote};

/// A skill in the folder `skill-one`, or another one.
struct Sample {
    what: &'static str,
    folder: &'static str,
    file: &'static str,
    text: String,
    becomes: Becomes,
    is_accepted: bool,
    /// Why the two differ.
    differs: Option<&'static str>,
}

fn sample(what: &'static str, head: &str, becomes: Becomes) -> Sample {
    let text = format!("---\n{head}\n---\nDo it.\n");
    let is_accepted = becomes == Used;
    Sample { what, folder: "skill-one", file: "SKILL.md", text, becomes, is_accepted, differs: None }
}

impl Sample {
    fn of(what: &'static str, text: &str, becomes: Becomes) -> Self {
        Self { text: text.to_owned(), ..sample(what, "", becomes) }
    }

    fn within(mut self, folder: &'static str, file: &'static str) -> Self {
        (self.folder, self.file) = (folder, file);
        self
    }

    fn but_there(mut self, is_accepted: bool, why: &'static str) -> Self {
        (self.is_accepted, self.differs) = (is_accepted, Some(why));
        self
    }
}

const SLIP: &str = "a common slip is read as it was meant";
const OTHERS: &str = "other agents have fields of their own, and their skills are used";
const ROWS: &str = "the head ends at a row of dashes, not at dashes in a text";
const LIMIT: &str = "each skill that is activated takes room from the work, and a head is read at every start";

fn samples() -> Vec<Sample> {
    let known = "name: skill-one\ndescription: Does one thing.";
    vec![
        sample("the least", known, Used),
        sample(
            "every field",
            &format!(
                "{known}\nlicense: MIT\ncompatibility: git\nallowed-tools: Bash(git:*) Read\nmetadata:\n  author: someone\n  version: '1.0'"
            ),
            Used,
        ),
        sample("a folded description", "name: skill-one\ndescription: >\n  Does\n  one thing.", Used),
        sample("the small name of the file", known, Used).within("skill-one", "skill.md"),
        sample("letters of another language", "name: größe-1\ndescription: Misst.", Used).within("größe-1", "SKILL.md"),
        sample("a name of 64 letters", &format!("name: {}\ndescription: Long.", NAME_64), Used)
            .within(NAME_64, "SKILL.md"),
        sample("a name of 65 letters", &format!("name: {}x\ndescription: Long.", NAME_64), Refused),
        sample("the name of another folder", "name: skill-two\ndescription: Does.", UsedWithANote),
        sample("capital letters", "name: Skill-One\ndescription: Does.", UsedWithANote).within("Skill-One", "SKILL.md"),
        sample("two hyphens", "name: skill--one\ndescription: Does.", UsedWithANote).within("skill--one", "SKILL.md"),
        sample("a hyphen at the end", "name: skill-\ndescription: Does.", UsedWithANote).within("skill-", "SKILL.md"),
        sample("an underscore", "name: skill_one\ndescription: Does.", UsedWithANote).within("skill_one", "SKILL.md"),
        sample("a blank in the name", "name: skill one\ndescription: Does.", Refused),
        sample("no name", "description: Does.", UsedWithANote),
        sample("no description", "name: skill-one", Refused),
        sample("a blank description", "name: skill-one\ndescription: '  '", Refused),
        sample("a description of 1,024 letters", &format!("name: skill-one\ndescription: {}", "é".repeat(1_024)), Used),
        sample(
            "a description of 1,025",
            &format!("name: skill-one\ndescription: {}", "é".repeat(1_025)),
            UsedWithANote,
        ),
        sample("much compatibility", &format!("{known}\ncompatibility: {}", "x".repeat(501)), UsedWithANote),
        sample("a list for a head", "- name\n- description", Refused),
        sample("a text for a head", "name", Refused),
        sample("broken YAML", "name: [skill-one\ndescription: Does.", Refused),
        sample("a name twice", "name: skill-one\nname: skill-one\ndescription: Does.", Refused),
        Sample::of("no head", "Do it.\n", Refused),
        Sample::of("a head without an end", "---\nname: skill-one\ndescription: Does.\n", Refused),
        Sample::of("an empty file", "", Refused),
        sample("a field of another agent", &format!("{known}\nmodel: some"), Used).but_there(false, OTHERS),
        sample("a colon in a text", "name: skill-one\ndescription: Use this: often.", Used).but_there(false, SLIP),
        sample("dashes in a text", "description: Before --- after.\nname: skill-one", Used).but_there(false, ROWS),
        sample("a long head", &format!("{known}\nlicense: {}", "x".repeat(17_000)), Refused).but_there(true, LIMIT),
        Sample::of("a long text", &format!("---\n{known}\n---\n{}", "x".repeat(66_000)), Refused)
            .but_there(true, LIMIT),
    ]
}

const NAME_64: &str = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl";

/// A project with one skill.
fn project(sample: &Sample) -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join(".git")).unwrap();
    let folder = project.path().join(".agents/skills").join(sample.folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(sample.file), &sample.text).unwrap();
    project
}

#[test]
fn each_sample_is_used_or_refused_as_the_reference_would_or_for_a_reason() {
    for sample in samples() {
        let project = project(&sample);
        let Found { skills, notes } = of_project(&project.path().canonicalize().unwrap());
        let becomes = match (skills.len(), notes.len()) {
            (1, 0) => Used,
            (1, 1) => UsedWithANote,
            (0, 1) => Refused,
            _ => panic!("{}: {skills:?} {notes:?}", sample.what),
        };
        assert_eq!(becomes, sample.becomes, "{}: {notes:?}", sample.what);
        assert_eq!(sample.differs.is_none(), (becomes == Used) == sample.is_accepted, "{}", sample.what);
    }
}

#[test]
fn the_reference_implementation_says_what_is_said_of_it() {
    let named = std::env::var_os("AGENT_TEST_SKILLS_REF");
    let Some(program) = named.or_else(|| is_there("agentskills").then(|| "agentskills".into())) else {
        say("skipped: there is no `agentskills` (pip install skills-ref); AGENT_TEST_SKILLS_REF may name it");
        return;
    };
    for sample in samples() {
        let project = project(&sample);
        let folder = project.path().join(".agents/skills").join(sample.folder);
        let ended = Command::new(&program).arg("validate").arg(&folder).env("PYTHONUTF8", "1").output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr).into_owned() + &String::from_utf8_lossy(&ended.stdout);
        assert!(matches!(ended.status.code(), Some(0 | 1)) && !told.contains("Traceback"), "{}: {told}", sample.what);
        assert_eq!(ended.status.success(), sample.is_accepted, "{}: {told}", sample.what);
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|ended| ended.status.success())
}
