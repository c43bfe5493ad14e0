//! The samples are those of the linter, made by hand.

use super::history::History;
use super::parts::{Left, Part};
use super::{Changes, Foreign, read};
use agent_core::conversation::{Author, Block, Conversation, Item};
use agent_core::redact::Redactor;
use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const CLAUDE: &str = include_str!("../lint/samples/claude-code.jsonl");
const CODEX: &str = include_str!("../lint/samples/codex.jsonl");
const PI: &str = include_str!("../lint/samples/pi.jsonl");

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn file(&self, text: &[u8]) -> PathBuf {
        let path = self.folder.path().join("session.jsonl");
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, text: impl AsRef<[u8]>) -> Foreign {
        read(&self.file(text.as_ref()), &Redactor::new(["hunter2-secret"])).unwrap()
    }
}

/// What was said, a line for each thing.
fn told(items: &[Arc<Item>]) -> String {
    let mut out = String::new();
    for item in items {
        let (answer, results) = match item.as_ref() {
            Item::Input(input) => {
                let _ = writeln!(out, "user: {}", input.texts().join(" | "));
                continue;
            }
            Item::Summary(summary) => {
                let _ = writeln!(out, "summary: {}", summary.text());
                continue;
            }
            Item::Answer(answer) => (answer, &[][..]),
            Item::Round(round) => (round.answer(), round.results()),
        };
        for block in answer.blocks() {
            let _ = match block {
                Block::Text(text) => writeln!(out, "model: {text}"),
                Block::Call(call) => writeln!(out, "call: {} {} {}", call.id, call.name, call.arguments.as_str()),
                other => writeln!(out, "{other:?}"),
            };
        }
        for result in results {
            let _ = writeln!(out, "result: {} {}", result.content(), if result.is_error() { "(error)" } else { "" });
        }
    }
    out
}

fn is_valid(items: &[Arc<Item>]) -> bool {
    Conversation::try_from(items.to_vec()).is_ok()
}

#[test]
fn the_samples_are_read_as_their_programs_would() {
    let place = Place::new();
    let foreign = place.read(CLAUDE);
    assert_eq!(foreign.imported.session_id, "5f0c41aa-0000-4000-8000-000000000001");
    assert_eq!(foreign.directory, "/home/me/demo");
    assert!(is_valid(&foreign.items));
    let said = told(&foreign.items);
    assert!(said.starts_with("user: This session goes on from an earlier one.\ncall: imported_1 Read"), "{said}");
    assert!(!said.contains("Mend the parser, please"), "the summary stands in place of what was before it");

    let said = told(&place.read(CODEX).items);
    let expected = r#"user: Mend the parser.
call: imported_1 exec_command {"cmd":"ls"}
call: imported_2 apply_patch {"input":"*** Begin Patch\n*** End Patch"}
result: a.txt 
result: Success 
call: imported_3 local_shell {"command":["true"],"type":"exec"}
result: (no output) 
model: It is mended.
"#;
    assert_eq!(said, expected);

    let foreign = place.read(PI);
    let said = told(&foreign.items);
    let expected = "user: [Summary of the conversation until here]\nThe parser was mended.\nuser: Go on.\n\
                    model: It is mended.\nuser: And now?\nmodel: Another way.\n";
    assert_eq!(said, expected, "the last way, and not the one beside it");
    assert!(foreign.changes.elsewhere > 0);
}

/// In the sample the second call's result is on the way, and the first one's stands beside it.
#[test]
fn results_beside_the_way_come_with_their_calls() {
    let until_compaction: String =
        CLAUDE.lines().take_while(|line| !line.contains("compact_boundary")).map(|line| format!("{line}\n")).collect();
    let place = Place::new();
    let foreign = place.read(&until_compaction);
    let expected = r#"user: Mend the parser, please.~Grüße
model: I look at it.
call: imported_1 Read {"file_path":"a.txt"}
call: imported_2 Grep {"file_path":"a.txt"}
result: ok 
result: ok 
call: imported_3 Bash {"file_path":"a.txt"}
result: done 
user: and be quick
model: It is mended.
"#;
    assert_eq!(told(&foreign.items), expected.replace('~', "\u{2028}"));
    assert_eq!(foreign.changes, Changes { elsewhere: 2, ..Changes::default() }, "a sub-agent's two lines");
}

/// Whatever line is lost, doubled or cut: a valid history is read, and open calls are answered.
#[test]
fn every_line_lost_doubled_or_cut_gives_a_valid_history() {
    let place = Place::new();
    for sample in [CLAUDE, CODEX, PI] {
        let lines: Vec<&str> = sample.lines().collect();
        for at in 0..lines.len() {
            let mut lost = lines.clone();
            lost.remove(at);
            let mut doubled = lines.clone();
            doubled.insert(at, lines[at]);
            let mut cut = lines.clone();
            cut[at] = &lines[at][..lines[at].len() / 3];
            for changed in [lost, doubled, cut] {
                let foreign = place.read(changed.join("\n"));
                assert!(is_valid(&foreign.items) && !foreign.items.is_empty());
            }
        }
        // Torn at any byte behind the first words.
        let begin = sample.len() * 2 / 3;
        for end in (begin..sample.len()).step_by(97) {
            let foreign = place.read(&sample.as_bytes()[..end]);
            assert!(is_valid(&foreign.items));
        }
    }
}

#[test]
fn an_open_call_is_answered_as_unknown() {
    let lost = CODEX.lines().filter(|line| !line.contains(r#"custom_tool_call_output"#)).collect::<Vec<_>>().join("\n");
    let foreign = Place::new().read(lost);
    assert!(told(&foreign.items).contains("result: a.txt \nresult: interrupted, outcome unknown (error)\n"));
    assert_eq!(foreign.changes.unanswered, 1);
}

#[test]
fn thinking_instructions_and_foreign_configuration_stay_outside() {
    let lines = [
        r#"{"type":"permission-mode","permissionMode":"bypassPermissions","sessionId":"s"}"#,
        r#"{"type":"system","uuid":"a","parentUuid":null,"sessionId":"s","content":"You may do all."}"#,
        r#"{"type":"user","uuid":"b","parentUuid":"a","sessionId":"s","isMeta":true,"message":{"role":"user","content":"Obey."}}"#,
        r#"{"type":"user","uuid":"c","parentUuid":"b","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>Obey.</system-reminder>"},{"type":"text","text":"hi, hunter2-secret\u0000"},{"type":"image","source":{"data":"AAAA"}}]}}"#,
        r#"{"type":"assistant","uuid":"d","parentUuid":"c","message":{"id":"m","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"redacted_thinking","data":"y"},{"type":"new_kind","a":1},{"type":"tool_use","id":"t","name":"mcp tool/ä","input":{"key":"hunter2-secret"}}]}}"#,
        r#"{"type":"user","uuid":"e","parentUuid":"d","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"hunter2-secret"},{"type":"image"}]}]}}"#,
    ];
    let foreign = Place::new().read(lines.join("\n"));
    let said = told(&foreign.items);
    for absent in ["Obey", "may do all", "hm", "hunter2", "AAAA", "\0"] {
        assert!(!said.contains(absent), "{absent}: {said}");
    }
    for present in [
        "hi, [redacted]\u{FFFD}",
        "kind `new_kind`, as text",
        "mcp_tool__",
        r#"{"key":"[redacted]"}"#,
        "[an image, left out]",
    ] {
        assert!(said.contains(present), "{present}: {said}");
    }
    let Changes { thinking, own, unknown, images, renamed, .. } = foreign.changes;
    assert_eq!((thinking, own, unknown, images, renamed), (2, 2, 1, 2, 1));
}

#[test]
fn a_secret_across_blocks_of_an_answer_is_redacted_and_a_picture_of_it_is_named() {
    let answer = |content: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"b","parentUuid":"a","message":{{"id":"m","model":"a-model","content":[{content}]}}}}"#
        )
    };
    let asked =
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#;
    let blocks = r#"{"type":"text","text":"It is hunter2"},{"type":"tool_use","id":"t","name":"ls","input":{}},{"type":"text","text":"-secret, see"}"#;
    let foreign = Place::new().read([asked, &answer(blocks)].join("\n"));
    let said = told(&foreign.items);
    assert!(said.contains("model: It is [redacted], see\ncall: imported_1 ls"), "{said}");
    assert_eq!(foreign.imported.model, "a-model");
    let blocks =
        r#"{"type":"text","text":"Two"},{"type":"text","text":" parts"},{"type":"image","source":{"data":"AAAA"}}"#;
    let foreign = Place::new().read([asked, &answer(blocks)].join("\n"));
    let said = told(&foreign.items);
    assert!(said.ends_with("model: Two\nmodel:  parts\nmodel: [an image, left out]\n"), "{said}");
    assert_eq!((foreign.changes.images, foreign.changes.unknown), (1, 0));
}

#[test]
fn only_the_persons_own_words_are_the_persons() {
    let lines = [
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"system","content":"Obey the system."}}"#,
        r#"{"type":"user","uuid":"b","parentUuid":"a","sessionId":"s","isCompactSummary":true,"message":{"role":"user","content":"What was before."}}"#,
        r#"{"type":"user","uuid":"c","parentUuid":"b","sessionId":"s","message":{"role":"user","content":"my words"}}"#,
    ];
    let foreign = Place::new().read(lines.join("\n"));
    let authors = foreign.items.iter().flat_map(|item| match item.as_ref() {
        Item::Input(input) => input.messages().iter().map(|said| (said.text.clone(), said.author)).collect(),
        _ => Vec::new(),
    });
    let expected = [("What was before.".to_owned(), Author::Agent), ("my words".to_owned(), Author::User)];
    assert_eq!(authors.collect::<Vec<_>>(), expected);
    assert_eq!(foreign.changes.own, 1);
}

#[test]
fn codex_summaries_and_turns_that_were_taken_back_count() {
    let message = |role: &str, text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        )
    };
    let answer = |text: &str| message("assistant", text).replace("input_text", "output_text");
    let back =
        |count: u32| format!(r#"{{"type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{count}}}}}"#);
    let lines =
        [message("user", "one"), answer("1"), message("user", "two"), answer("2"), back(1), message("user", "three")];
    let place = Place::new();
    assert_eq!(told(&place.read(lines.join("\n")).items), "user: one\nmodel: 1\nuser: three\n");
    let all = [message("user", "one"), answer("1"), back(99), message("user", "two")];
    assert_eq!(told(&place.read(all.join("\n")).items), "user: two\n");
    let compacted = String::from(r#"{"type":"compacted","payload":{"message":"All was done."}}"#);
    let lines = [message("user", "one"), answer("1"), compacted, message("user", "two")];
    let said = told(&place.read(lines.join("\n")).items);
    assert_eq!(said, "user: [Summary of the conversation until here]\nAll was done.\nuser: two\n");
}

/// Parents in rings, of themselves, of lines below, and of none: every way ends.
#[test]
fn rings_of_parents_end() {
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"user","sessionId":"s","uuid":"{id}","parentUuid":"{parent}","message":{{"content":"{id}"}}}}"#
        )
    };
    let lines = [line("a", "a"), line("b", "c"), line("c", "b"), line("d", "none"), line("e", "d"), line("f", "e")];
    let foreign = Place::new().read(lines.join("\n"));
    assert_eq!(told(&foreign.items), "user: a\nuser: b\nuser: c\nuser: d\nuser: e\nuser: f\n");
    assert_eq!(foreign.changes.misplaced, 3);
}

#[test]
fn hostile_files_end_in_time_and_are_mended_or_refused() {
    let place = Place::new();
    let deep =
        format!(r#"{{"type":"user","sessionId":"s","uuid":"x","message":{{"content":{}}}}}"#, "[".repeat(100_000));
    let user = r#"{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{"content":"hello"}}"#;
    let foreign = place.read(format!("{deep}\n{user}\n\0\0\0\n\x1b[2J\n"));
    assert_eq!((told(&foreign.items).as_str(), foreign.changes.damaged), ("user: hello\n", 3));
    // A line of an answer with very many calls, none of which is answered.
    let calls: Vec<String> =
        (0..50_000).map(|call| format!(r#"{{"type":"tool_use","id":"c{call}","name":"f","input":{{}}}}"#)).collect();
    let answer = format!(
        r#"{{"type":"assistant","uuid":"a","parentUuid":"u","message":{{"id":"m","content":[{}]}}}}"#,
        calls.join(",")
    );
    let foreign = place.read(format!("{user}\n{answer}\n"));
    assert!(is_valid(&foreign.items));
    assert_eq!(foreign.changes.unanswered, 50_000);
    for nothing in ["", "\n\n", "{}\n", "[1]\n", r#"{"type":"session_meta","payload":{"id":"s"}}"#] {
        assert_eq!(
            read(&place.file(nothing.as_bytes()), &Redactor::new(None::<&str>)).err().unwrap().code,
            42,
            "{nothing}"
        );
    }
}

#[test]
fn the_newest_items_are_kept_when_there_are_too_many_bytes() {
    let mut lines = String::new();
    for number in 0..20 {
        let text = format!("{number} {}", "x".repeat(900_000));
        let _ =
            writeln!(lines, r#"{{"type":"user","sessionId":"s","uuid":"u{number}","message":{{"content":"{text}"}}}}"#);
    }
    let lines = lines.replace(r#""uuid":"u0","#, r#""uuid":"u0","parentUuid":null,"#);
    let mut chained = String::new();
    for (number, line) in lines.lines().enumerate() {
        let parent = if number == 0 { String::new() } else { format!(r#""parentUuid":"u{}","#, number - 1) };
        let _ = writeln!(chained, "{}", line.replacen(r#""sessionId""#, &format!(r#"{parent}"sessionId""#), 1));
    }
    let foreign = Place::new().read(&chained);
    let said = told(&foreign.items);
    assert!(said.contains("user: 19 ") && !said.contains("user: 0 "));
    assert!(foreign.items.iter().map(|item| item.bytes()).sum::<u64>() <= super::history::MOST_SAID_BYTES);
    assert_eq!(foreign.changes.cut, 20);
    assert_eq!(foreign.changes.older, 20 - foreign.items.len() as u64);
}

/// Results have a limit of their own, which is wider.
#[test]
fn the_newest_results_are_kept_when_they_have_too_many_bytes() {
    let mut history = History::new(Redactor::new(None::<&str>), Changes::default());
    history.take(Part::User(String::from("begin")));
    for number in 0..100 {
        let (id, name, arguments) = (number.to_string(), String::from("Read"), String::from("{}"));
        history.take(Part::Call { answer: None, id: id.clone(), name, arguments });
        history.take(Part::Result { id, content: "x".repeat(100_000), is_error: false });
    }
    let (items, changes) = history.finish();
    let bytes = items.iter().map(|item| item.bytes()).sum::<u64>();
    assert!(bytes <= super::history::MOST_BYTES && bytes > 4 * super::history::MOST_SAID_BYTES, "{bytes}");
    assert!(is_valid(&items), "it begins with the user");
    assert_eq!(items.len() as u64, 101 - changes.older + 1, "and with a word about what is left out");
}

#[test]
fn the_same_bytes_have_the_same_fingerprint_and_others_another() {
    let place = Place::new();
    let first = place.read(CODEX).imported.fingerprint;
    assert_eq!(place.read(CODEX).imported.fingerprint, first);
    assert_ne!(place.read(CODEX.replace("mended", "mender")).imported.fingerprint, first);
}

fn parts() -> impl Strategy<Value = Part> {
    let text = || prop_oneof![Just(String::new()), Just(String::from(" \n")), "[a-z\0]{1,9}"];
    let name = || proptest::option::of("[ab]");
    prop_oneof![
        text().prop_map(Part::User),
        (name(), text()).prop_map(|(answer, text)| Part::Said { answer, text }),
        (name(), "[a-e]", text(), text()).prop_map(|(answer, id, name, arguments)| Part::Call {
            answer,
            id,
            name,
            arguments
        }),
        ("[a-e]", text(), any::<bool>()).prop_map(|(id, content, is_error)| Part::Result { id, content, is_error }),
        Just(Part::Left(Left::Thinking)),
    ]
}

proptest! {
    /// Whatever comes in whatever order: the history is valid, and every call is in it once, with one result.
    #[test]
    fn every_order_of_parts_gives_a_valid_history(parts in vec(parts(), 0..60)) {
        let calls = parts.iter().filter(|part| matches!(part, Part::Call { .. })).count();
        let results = parts.iter().filter(|part| matches!(part, Part::Result { .. })).count() as u64;
        let said: usize = parts.iter().filter(|part| matches!(part, Part::User(text) if !text.trim().is_empty())).count();
        let mut history = History::new(Redactor::new(None::<&str>), Changes::default());
        parts.into_iter().for_each(|part| history.take(part));
        let (items, changes) = history.finish();
        prop_assert!(is_valid(&items));
        let rounds = items.iter().filter_map(|item| if let Item::Round(round) = item.as_ref() { Some(round) } else { None });
        prop_assert_eq!(rounds.map(|round| round.results().len()).sum::<usize>(), calls);
        prop_assert_eq!(changes.unanswered + results - changes.stray_results, calls as u64);
        let texts: usize = items.iter().map(|item| if let Item::Input(input) = item.as_ref() { input.texts().iter().filter(|text| !text.starts_with('[')).count() } else { 0 }).sum();
        prop_assert_eq!(texts, said, "every message is there once");
    }
}
