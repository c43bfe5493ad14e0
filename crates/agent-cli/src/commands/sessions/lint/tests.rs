//! The samples are made by hand from what the programs tell of their files.

use super::dialect::{Format, UNKNOWN};
use super::{Finding, Kind, Severity, check, has_errors, look, repair};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const SAMPLES: [(Format, &str); 3] = [
    (Format::ClaudeCode, include_str!("samples/claude-code.jsonl")),
    (Format::Codex, include_str!("samples/codex.jsonl")),
    (Format::Pi, include_str!("samples/pi.jsonl")),
];

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What is wrong with this text, and its repaired copy with what is wrong there.
    fn mend(&self, text: &[u8]) -> (Vec<Finding>, String, Vec<Finding>) {
        let (path, out) = (self.path("session.jsonl"), self.path("repaired.jsonl"));
        fs::write(&path, text).unwrap();
        let _ = fs::remove_file(&out);
        let report = look(&path).unwrap();
        repair(&path, report.format, &out).unwrap();
        assert_eq!(fs::read(&path).unwrap(), text, "the original was changed");
        (report.findings, fs::read_to_string(&out).unwrap(), look(&out).unwrap().findings)
    }
}

fn sample(format: Format) -> Vec<&'static str> {
    SAMPLES.iter().find(|(of, _)| *of == format).unwrap().1.lines().collect()
}

/// Line and kind of each finding.
fn kinds(findings: &[Finding]) -> Vec<(usize, Kind)> {
    findings.iter().map(|finding| (finding.line, finding.kind)).collect()
}

fn text(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// A line of the sample.
fn at(format: Format, words: &str) -> usize {
    let found: Vec<_> =
        sample(format).iter().enumerate().filter(|(_, line)| line.contains(words)).map(|(at, _)| at).collect();
    assert_eq!(found.len(), 1, "{words}");
    found[0]
}

fn value(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn nothing_is_wrong_with_the_samples_and_their_copies_are_the_same_to_the_byte() {
    let place = Place::new();
    for (format, sample) in SAMPLES {
        let (findings, copy, again) = place.mend(sample.as_bytes());
        assert_eq!((findings, again), (Vec::new(), Vec::new()), "{format:?}");
        assert_eq!(copy, sample);
        assert_eq!(Format::of(&place.path("session.jsonl")).unwrap(), format);
    }
}

/// Whatever line is lost, or stands there twice, or is damaged: what is found is mended.
#[test]
fn every_line_lost_doubled_or_damaged_is_mended() {
    let place = Place::new();
    let mut found = 0;
    for (format, _) in SAMPLES {
        let lines = sample(format);
        for at in 1..lines.len() {
            let mut lost = lines.clone();
            lost.remove(at);
            let mut doubled = lines.clone();
            doubled.insert(at, lines[at]);
            let mut damaged = lines.clone();
            let half = &lines[at][..lines[at].char_indices().nth(20).unwrap().0];
            damaged[at] = half;
            for changed in [lost, doubled, damaged] {
                let (findings, copy, again) = place.mend(&text(&changed));
                // What a summary keeps from cannot be made up.
                let left: Vec<_> =
                    again.iter().filter(|finding| !finding.message.starts_with("it refers to")).collect();
                assert!(
                    left.iter().all(|finding| finding.severity == Severity::Note),
                    "{format:?} {at}: {left:?}\n{copy}"
                );
                found += usize::from(has_errors(&findings));
            }
        }
    }
    assert!(found > 60, "{found}");
}

/// Whatever line stands behind whatever line: rings are told and opened.
#[test]
fn every_ring_of_parents_is_told_and_opened() {
    let place = Place::new();
    let mut rings = 0;
    for (format, field) in [(Format::ClaudeCode, "parentUuid"), (Format::Pi, "parentId")] {
        let lines = sample(format);
        let ids: Vec<_> = lines.iter().map(|line| format.entry(&value(line))).collect();
        for (at, below) in (0..lines.len()).flat_map(|at| (at..lines.len()).map(move |below| (at, below))) {
            let (Some(_), Some(id)) = (&ids[at].id, &ids[below].id) else { continue };
            // Does the line below come behind this one?
            let parent = |id: &str| ids.iter().find(|entry| entry.id.as_deref() == Some(id))?.parent.clone();
            let mut above = std::iter::successors(Some(id.clone()), |id| parent(id));
            let is_ring = above.any(|id| Some(id) == ids[at].id);
            let mut line = value(lines[at]);
            line[field] = id.clone().into();
            let line = line.to_string();
            let mut changed = lines.clone();
            changed[at] = &line;
            let (findings, copy, again) = place.mend(&text(&changed));
            assert_eq!(
                kinds(&findings).contains(&(at + 1, Kind::Cycle)),
                is_ring,
                "{format:?} {at} {below}: {findings:?}"
            );
            assert!(!kinds(&again).iter().any(|(_, kind)| *kind == Kind::Cycle), "{again:?}\n{copy}");
            rings += usize::from(is_ring);
        }
    }
    assert!(rings > 20, "{rings}");
}

/// Cut at any byte.
#[test]
fn every_cut_is_mended() {
    let place = Place::new();
    for (format, sample) in SAMPLES {
        let first = sample.find('\n').unwrap();
        for end in (first + 1..sample.len()).step_by(53) {
            let (findings, _, again) = place.mend(&sample.as_bytes()[..end]);
            assert!(!has_errors(&again), "{format:?} cut at {end}: {again:?}");
            let is_whole = sample.as_bytes()[end - 1] == b'\n' || sample.as_bytes()[end] == b'\n';
            assert_eq!(findings.iter().any(|finding| finding.kind == Kind::Torn), !is_whole, "{format:?} cut at {end}");
        }
    }
}

#[test]
fn a_lost_result_is_answered_behind_its_call() {
    let place = Place::new();
    for (format, words, name) in [
        (Format::ClaudeCode, r#""tool_use_id":"toolu_2""#, "toolu_2"),
        (Format::Codex, r#"output","call_id":"call_2""#, "call_2"),
        (Format::Pi, r#""toolCallId":"t2""#, "t2"),
    ] {
        let mut lines = sample(format);
        let lost = at(format, words);
        lines.remove(lost);
        let (findings, copy, _) = place.mend(&text(&lines));
        assert!(
            findings.iter().any(|found| found.kind == Kind::Unanswered && found.message.contains(name)),
            "{findings:?}"
        );
        let put_in = copy.lines().find(|line| line.contains(UNKNOWN)).unwrap();
        assert!(put_in.contains(name));
        assert_eq!(copy.lines().position(|line| line == put_in).unwrap(), lost, "{format:?}: where it was lost");
    }
}

/// The conversation that a program builds from the last line upwards has the answer in it.
#[test]
fn what_came_behind_a_call_comes_behind_its_answer() {
    let place = Place::new();
    for (format, words, id, parent) in
        [(Format::ClaudeCode, "\"c08\",", "uuid", "parentUuid"), (Format::Pi, r#""toolCallId":"t4""#, "id", "parentId")]
    {
        let lines = sample(format);
        let lost = lines.iter().position(|line| line.contains(words) && line.contains("esult")).unwrap();
        // As a program writes it that forgets the result: the next line stands behind the call.
        let (gone, next) = (value(lines[lost]), lines[lost + 1]);
        let name = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
        let next = next.replace(&format!("\"{}\"", name(&gone, id)), &format!("\"{}\"", name(&gone, parent)));
        let mut changed = lines.clone();
        changed[lost + 1] = &next;
        changed.remove(lost);
        let (findings, copy, again) = place.mend(&text(&changed));
        assert_eq!(kinds(&findings).iter().filter(|(_, kind)| *kind == Kind::Unanswered).count(), 1, "{findings:?}");
        assert!(!has_errors(&again));
        let copy: Vec<Value> = copy.lines().map(value).collect();
        let put_in = copy.iter().position(|line| line.to_string().contains(UNKNOWN)).unwrap();
        assert_eq!(name(&copy[put_in], parent), name(&gone, parent));
        assert_eq!(name(&copy[put_in + 1], parent), name(&copy[put_in], id), "{format:?}");
    }
}

#[test]
fn results_that_answer_nothing_are_left_out() {
    let place = Place::new();
    let lines = sample(Format::ClaudeCode);
    let (of, both) = (at(Format::ClaudeCode, r#""tool_use_id":"toolu_2""#), at(Format::ClaudeCode, "and be quick"));
    let second = lines[of].replace("\"c06\"", "\"c66\"").replace("\"c04\"", "\"c06\"");
    let next = lines[of + 1].replace("\"parentUuid\":\"c06\"", "\"parentUuid\":\"c66\"");
    let unknown = lines[both].replace("toolu_3", "toolu_9");
    let mut changed = lines.clone();
    (changed[of + 1], changed[both]) = (&next, &unknown);
    changed.insert(of + 1, &second);
    let (findings, copy, again) = place.mend(&text(&changed));
    let expected = [(of + 2, Kind::DuplicateResult), (of + 3, Kind::Unanswered), (both + 2, Kind::UnknownResult)];
    assert_eq!(kinds(&findings), expected);
    assert!(!has_errors(&again) && copy.contains("and be quick") && !copy.contains("toolu_9"), "{copy}");
    // What stood behind the line that is left out stands behind what that one stood behind.
    let next = copy.lines().map(value).find(|line| line["uuid"] == "c07").unwrap();
    assert_eq!(next["parentUuid"], "c06");
}

#[test]
fn turns_out_of_order_are_noted() {
    let place = Place::new();
    let lines = sample(Format::Pi);
    let first = at(Format::Pi, "Mend the parser.\"");
    let again = lines[first].replace("p0000001", "p00000f1").replace("p0000000", "p0000001");
    let mut changed = lines.clone();
    changed.insert(first + 1, &again);
    let (findings, ..) = place.mend(&text(&changed));
    assert_eq!(kinds(&findings), [(first + 2, Kind::Alternation)]);
    assert_eq!(findings[0].severity, Severity::Note);
    let twice = lines
        .last()
        .unwrap()
        .replace("\"label\"", "\"message\"")
        .replace("}", ",\"message\":{\"role\":\"assistant\",\"content\":[]}}");
    let mut changed = lines.clone();
    *changed.last_mut().unwrap() = &twice;
    assert_eq!(kinds(&place.mend(&text(&changed)).0), [(lines.len(), Kind::Alternation)]);
    // A result that comes behind the next answer.
    let mut changed = sample(Format::ClaudeCode);
    let result = at(Format::ClaudeCode, r#""tool_use_id":"toolu_1""#);
    let late = changed.remove(result);
    changed.insert(result + 2, late);
    assert_eq!(kinds(&place.mend(&text(&changed)).0), [(result + 3, Kind::LateResult)]);
}

/// Entries that stand behind each other in a circle end no loop.
#[test]
fn circles_end() {
    let place = Place::new();
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"sessionId":"x","type":"user","uuid":"{id}","parentUuid":"{parent}","message":{{"content":[{{"type":"tool_result","tool_use_id":"none"}}]}}}}"#
        )
    };
    let lines =
        [line("a", "a"), line("b", "c"), line("c", "b"), line("d", "c"), line("e", "d").replace("tool_result", "text")];
    let (findings, copy, _) = place.mend(lines.join("\n").as_bytes());
    let (rings, results): (Vec<_>, Vec<_>) = kinds(&findings).into_iter().partition(|(_, kind)| *kind == Kind::Cycle);
    assert_eq!(results, [1, 2, 3, 4].map(|line| (line, Kind::UnknownResult)));
    assert_eq!(rings, [1, 2].map(|line| (line, Kind::Cycle)), "each is told once");
    assert_eq!(copy.lines().count(), 1, "{copy}");
}

#[test]
fn what_is_no_session_is_said() {
    let place = Place::new();
    for text in [&b""[..], b"hello\n", b"{\"a\":1}\n", b"\0\0\0\n", b"[1,2]\n"] {
        fs::write(place.path("x"), text).unwrap();
        let failure = look(&place.path("x")).err().unwrap();
        assert_eq!(failure.code, 42, "{}", failure.message);
    }
    assert_eq!(look(&place.path("nothing")).err().unwrap().code, 42);
    assert_eq!(look(place.folder.path()).err().unwrap().code, 42);
    fs::write(place.path("x"), SAMPLES[0].1).unwrap();
    fs::write(place.path("there"), "mine").unwrap();
    let checked = check::check(Format::Pi, &place.path("x")).unwrap();
    assert_eq!(repair::write(Format::Pi, &place.path("x"), &checked, &place.path("there")).err().unwrap().code, 42);
    assert_eq!(fs::read_to_string(place.path("there")).unwrap(), "mine");
}

/// With time that grows with the square of their number this would not end while anybody waits.
#[test]
fn thousands_of_unanswered_calls_are_mended_one_by_one() {
    let place = Place::new();
    let count = 20_000;
    let mut many = String::from("{\"type\":\"session_meta\",\"payload\":{\"id\":\"s\"}}\n");
    for call in 0..count {
        let payload =
            format!("{{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{{}}\",\"call_id\":\"c{call}\"}}");
        many.push_str(&format!("{{\"type\":\"response_item\",\"payload\":{payload}}}\n"));
    }
    let (findings, copy, again) = place.mend(many.as_bytes());
    assert!(findings.iter().all(|finding| finding.kind == Kind::Unanswered) && findings.len() == count);
    assert_eq!((copy.lines().count(), again), (1 + 2 * count, Vec::new()));

    // One line with as many calls, one with as many results twice, and as many lines that stand behind each other.
    let list = |block: &dyn Fn(usize) -> String| (0..20_000).map(block).collect::<Vec<_>>().join(",");
    let calls = list(&|call| format!("{{\"type\":\"tool_use\",\"id\":\"c{call}\",\"name\":\"f\",\"input\":{{}}}}"));
    let results =
        list(&|call| format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"c{}\",\"content\":\"\"}}", call / 4));
    let mut lines = vec![
        String::from(
            "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}",
        ),
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"a\",\"parentUuid\":\"u\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{calls}]}}}}"
        ),
        format!(
            "{{\"type\":\"user\",\"uuid\":\"r\",\"parentUuid\":\"a\",\"message\":{{\"role\":\"user\",\"content\":[{results}]}}}}"
        ),
    ];
    for ring in 0..4_000 {
        for (entry, parent) in [("p", "q"), ("q", "p")] {
            lines.push(format!("{{\"type\":\"system\",\"uuid\":\"{entry}{ring}\",\"parentUuid\":\"{parent}{ring}\"}}"));
        }
    }
    let (findings, _, again) = place.mend((lines.join("\n") + "\n").as_bytes());
    let of = |kind: Kind| findings.iter().filter(|finding| finding.kind == kind).count();
    assert_eq!((of(Kind::Unanswered), of(Kind::DuplicateResult), of(Kind::Cycle)), (15_000, 15_000, 4_000));
    assert!(!has_errors(&again), "{:?}", again.first());
}
