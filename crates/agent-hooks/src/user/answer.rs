//! What a hook says: by its exit code, and by what it prints.

use super::OUTPUT_LIMIT_BYTES;
use agent_types::conversation::Arguments;
use agent_types::hook::{HookEnd, HookPoint};
use agent_types::ports::{CommandError, CommandOutput, Exit};
use agent_types::tool::HookVerdict;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The result of one run.
#[derive(Debug, PartialEq)]
pub(super) struct Said {
    pub(super) end: HookEnd,
    /// For the user; may be empty.
    pub(super) message: String,
    pub(super) context: Option<String>,
    pub(super) block: Option<String>,
    pub(super) stop: Option<String>,
    pub(super) verdict: HookVerdict,
    pub(super) arguments: Option<Arguments>,
}

impl Default for Said {
    fn default() -> Self {
        Self {
            end: HookEnd::Passed,
            message: String::new(),
            context: None,
            block: None,
            stop: None,
            verdict: HookVerdict::None,
            arguments: None,
        }
    }
}

impl Said {
    /// An objection, in the form that it has at a point.
    pub(super) fn objection(point: HookPoint, reason: &str) -> Self {
        let mut said = Self { end: HookEnd::Blocked, message: reason.to_owned(), ..Self::default() };
        match point {
            HookPoint::PreToolUse => said.verdict = HookVerdict::Deny { reason: reason.to_owned() },
            // There is nothing to object to: the user reads it, and it did its work.
            HookPoint::SessionStart | HookPoint::SessionEnd | HookPoint::SubagentStart => said.end = HookEnd::Passed,
            _ => said.block = Some(reason.to_owned()),
        }
        said
    }
}

/// What a program that ran says, or why it says nothing that could be used.
pub(super) fn read(
    result: &Result<CommandOutput, CommandError>,
    timeout_ms: u64,
    point: HookPoint,
) -> Result<Said, String> {
    let output = result.as_ref().map_err(ToString::to_string)?;
    match output.exit {
        Exit::Code(0) => passed(&text(&output.stdout), is_cut(output), point),
        Exit::Code(2) => {
            let stderr = text(&output.stderr);
            let reason = if stderr.is_empty() { "it objects without a reason" } else { &stderr };
            Ok(Said::objection(point, &cut(reason)))
        }
        Exit::Code(code) => Err(with_stderr(&format!("it ended with code {code}"), output)),
        Exit::Signal(signal) => Err(with_stderr(&format!("it was killed by signal {signal}"), output)),
        Exit::TimedOut => Err(format!("it did not finish within {timeout_ms} ms")),
        Exit::Cancelled => Err(String::from("it was stopped")),
    }
}

/// Whether its standard output is not whole. What was dropped is counted over both outputs, and of one that was cut as much is kept as may
/// be.
fn is_cut(output: &CommandOutput) -> bool {
    output.dropped_bytes > 0 && output.stdout.len() >= OUTPUT_LIMIT_BYTES
}

/// Exit code 0: what it printed may be an answer.
fn passed(stdout: &str, is_cut: bool, point: HookPoint) -> Result<Said, String> {
    if !stdout.starts_with('{') {
        if let Some(what) = before_answer(stdout) {
            return Err(format!("its answer cannot be read: there is {what} before it"));
        }
        let takes_text =
            matches!(point, HookPoint::UserPromptSubmit | HookPoint::SessionStart | HookPoint::SubagentStart);
        let is_context = takes_text && !stdout.is_empty();
        return Ok(Said { context: is_context.then(|| cut(stdout)), ..Said::default() });
    }
    // What is left of it may be JSON again, and say something else.
    if is_cut {
        return Err(String::from("its answer cannot be read: it is too long"));
    }
    let answer: Answer = serde_json::from_str(stdout).map_err(|error| format!("its answer cannot be read: {error}"))?;
    answer.at(point)
}

/// What comes before an answer, where there is one. Only output that begins with an answer counts as one, and an objection after a line
/// for people would be passed over.
fn before_answer(stdout: &str) -> Option<&'static str> {
    let text = stdout.trim_start_matches('\u{feff}').trim_start();
    let starts = text
        .match_indices('{')
        .filter(|(at, _)| text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with('\n')));
    let is_answer = |text: &str| {
        let read = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>().next();
        matches!(read, Some(Ok(fields)) if FIELDS.iter().any(|name| fields.contains_key(*name)))
    };
    let (at, _) = starts.take(MOST_STARTS).find(|(at, _)| text.get(*at..).is_some_and(is_answer))?;
    Some(if at == 0 { "a byte order mark" } else { "other text" })
}

/// The JSON answer. Fields that are not known are left to others.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Specific,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Specific {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Map<String, Value>>,
    additional_context: Option<String>,
}

impl Answer {
    fn at(self, point: HookPoint) -> Result<Said, String> {
        let reason = cut(&self.reason.unwrap_or_default());
        let mut said = match self.decision.as_deref() {
            None => Said::default(),
            Some("approve") if point == HookPoint::PreToolUse => {
                Said { verdict: HookVerdict::Allow { reason }, ..Said::default() }
            }
            Some("block") if reason.is_empty() => Said::objection(point, "it objects without a reason"),
            Some("block") => Said::objection(point, &reason),
            Some(other) => return Err(format!("its answer cannot be read: `{other}` is not a decision at {point}")),
        };
        if let Some(decision) = self.hook_specific_output.permission_decision {
            let reason = cut(&self.hook_specific_output.permission_decision_reason.unwrap_or_default());
            let verdict = verdict(&decision, reason, point)?;
            if let HookVerdict::Deny { reason } = &verdict {
                (said.end, said.message) = (HookEnd::Blocked, reason.clone());
            }
            said.verdict = std::mem::take(&mut said.verdict).and(verdict);
        }
        if let Some(input) = self.hook_specific_output.updated_input {
            if point != HookPoint::PreToolUse {
                return Err(format!("its answer cannot be used: there is no input to update at {point}"));
            }
            let text = Value::Object(input).to_string();
            said.arguments = Some(Arguments::parse(&text).map_err(|error| error.to_string())?);
        }
        if let Some(context) = self.hook_specific_output.additional_context.filter(|text| !text.trim().is_empty()) {
            if point == HookPoint::SessionEnd {
                return Err(String::from("its answer cannot be used: SessionEnd takes no context"));
            }
            said.context = Some(cut(&context));
        }
        if self.r#continue == Some(false) && point != HookPoint::SessionEnd {
            let reason = self.stop_reason.filter(|reason| !reason.trim().is_empty());
            let reason = cut(&reason.unwrap_or_else(|| String::from("it gives no reason")));
            (said.end, said.message) = (HookEnd::Blocked, reason.clone());
            said.stop = Some(reason);
        }
        if let Some(message) = self.system_message.filter(|text| !text.trim().is_empty()) {
            let before = if said.message.is_empty() { String::new() } else { format!("{}; ", said.message) };
            said.message = format!("{before}{}", cut(&message));
        }
        Ok(said)
    }
}

fn verdict(decision: &str, reason: String, point: HookPoint) -> Result<HookVerdict, String> {
    if point != HookPoint::PreToolUse {
        return Err(format!("its answer cannot be used: there is no permission decision at {point}"));
    }
    let or = |reason: String, plain: &str| if reason.trim().is_empty() { plain.to_owned() } else { reason };
    Ok(match decision {
        "allow" => HookVerdict::Allow { reason },
        "ask" => HookVerdict::Ask { reason: or(reason, "a hook asks for your approval") },
        "deny" => HookVerdict::Deny { reason: or(reason, "it gives no reason") },
        "defer" => HookVerdict::None,
        other => return Err(format!("its answer cannot be read: `{other}` is not a permission decision")),
    })
}

fn with_stderr(what: &str, output: &CommandOutput) -> String {
    let stderr = text(&output.stderr);
    if stderr.is_empty() { what.to_owned() } else { format!("{what}: {}", cut(&stderr)) }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// The beginning of a long text.
fn cut(text: &str) -> String {
    let text = text.trim();
    if text.len() <= MOST_TEXT_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MOST_TEXT_BYTES);
    format!("{} … ({} bytes)", text.get(..end).unwrap_or_default(), text.len())
}

/// The fields of an answer.
const FIELDS: [&str; 6] = ["continue", "stopReason", "systemMessage", "decision", "reason", "hookSpecificOutput"];
/// Lines that may begin an answer, at most.
const MOST_STARTS: usize = 100;
/// Of what a hook says to model or user.
const MOST_TEXT_BYTES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(exit: Exit, stdout: &str, stderr: &str) -> Result<CommandOutput, CommandError> {
        let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
        Ok(CommandOutput { exit, stdout, stderr, dropped_bytes: 0 })
    }

    fn at(point: HookPoint, stdout: &str) -> Result<Said, String> {
        read(&ended(Exit::Code(0), stdout, ""), 100, point)
    }

    #[test]
    fn exit_codes() {
        use HookPoint::{PreToolUse, SessionStart, Stop};
        let no = |point| read(&ended(Exit::Code(2), "{}", " not so \n"), 100, point).unwrap();
        assert_eq!(no(PreToolUse).verdict, HookVerdict::Deny { reason: "not so".into() });
        assert_eq!((no(Stop).block.as_deref(), no(Stop).end), (Some("not so"), HookEnd::Blocked));
        assert_eq!((no(SessionStart).block, no(SessionStart).end), (None, HookEnd::Passed));
        assert_eq!(no(SessionStart).message, "not so", "the user reads it");
        let failed = |exit, stderr| read(&ended(exit, "", stderr), 100, Stop).unwrap_err();
        assert_eq!(failed(Exit::Code(1), "oh"), "it ended with code 1: oh");
        assert_eq!(failed(Exit::Signal(9), ""), "it was killed by signal 9");
        assert_eq!(failed(Exit::TimedOut, "x"), "it did not finish within 100 ms");
        assert_eq!(failed(Exit::Cancelled, "x"), "it was stopped");
        let missing = Err(CommandError { program: "/bin/sh".into(), found: "gone".into() });
        assert_eq!(read(&missing, 100, Stop).unwrap_err(), "start `/bin/sh`: gone");
    }

    /// The middle is what is dropped, and what is left of it may be JSON that says something else.
    #[test]
    fn an_answer_that_was_cut_is_none() {
        let long = format!("{{\"systemMessage\":\"{}\"}}", "a".repeat(OUTPUT_LIMIT_BYTES));
        let cut = |stdout: &str| {
            let whole = ended(Exit::Code(0), stdout, "").unwrap();
            read(&Ok(CommandOutput { dropped_bytes: 100, ..whole }), 100, HookPoint::PreToolUse)
        };
        assert_eq!(cut(&long).unwrap_err(), "its answer cannot be read: it is too long");
        // Only what it said to standard error was too much.
        let denied = cut("{\"decision\":\"block\",\"reason\":\"no\"}").unwrap();
        assert_eq!(denied.verdict, HookVerdict::Deny { reason: "no".into() });
    }

    #[test]
    fn what_is_printed_is_context_where_the_field_has_it_so() {
        assert_eq!(at(HookPoint::UserPromptSubmit, "mind\n").unwrap().context.as_deref(), Some("mind"));
        assert_eq!(at(HookPoint::SessionStart, "mind").unwrap().context.as_deref(), Some("mind"));
        assert_eq!(at(HookPoint::PostToolUse, "all fine").unwrap(), Said::default());
        let long = at(HookPoint::SessionStart, &"é".repeat(9_000)).unwrap().context.unwrap();
        assert!(long.len() < 10_100 && long.ends_with("… (18000 bytes)"), "{}", long.len());
    }

    /// Taken for words to people it would let pass what it objects to.
    #[test]
    fn an_answer_behind_something_else_is_a_fault() {
        let block = "{\"decision\":\"block\",\n\"reason\":\"no\"}";
        for (before, what) in [
            ("\u{feff}", "a byte order mark"),
            ("checking …\n", "other text"),
            ("[checking]\n{\"a\":1}\n", "other text"),
            ("\u{feff}\nok\n", "other text"),
        ] {
            for point in [HookPoint::PreToolUse, HookPoint::UserPromptSubmit] {
                let said = at(point, &format!("{before}{block}"));
                assert_eq!(said.unwrap_err(), format!("its answer cannot be read: there is {what} before it"));
            }
        }
        // Words that are none.
        for plain in ["all fine\n{\"a\": 1}", "see {\"decision\":\"block\"}", "x\n{ braces", "\u{feff}fine"] {
            assert!(at(HookPoint::PostToolUse, plain).is_ok(), "{plain}");
        }
        assert!(at(HookPoint::PreToolUse, &"{\n".repeat(20_000)).is_err());
        assert!(at(HookPoint::PreToolUse, &format!("x\n{}", "{\n".repeat(20_000))).is_ok());
    }

    #[test]
    fn answers_before_a_call() {
        let point = HookPoint::PreToolUse;
        let decided = |word: &str| {
            let answer = format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}","permissionDecisionReason":"r"}}}}"#
            );
            at(point, &answer).map(|said| said.verdict)
        };
        let reason = || String::from("r");
        assert_eq!(decided("allow"), Ok(HookVerdict::Allow { reason: reason() }));
        assert_eq!(decided("ask"), Ok(HookVerdict::Ask { reason: reason() }));
        assert_eq!(decided("deny"), Ok(HookVerdict::Deny { reason: reason() }));
        assert_eq!(decided("defer"), Ok(HookVerdict::None));
        assert!(decided("perhaps").is_err());
        let changed =
            at(point, r#"{"hookSpecificOutput":{"updatedInput":{"path":"b"},"additionalContext":"c"}}"#).unwrap();
        assert_eq!(changed.arguments.unwrap().as_str(), r#"{"path":"b"}"#);
        assert_eq!(changed.context.as_deref(), Some("c"));
        assert_eq!(
            at(point, r#"{"decision":"block","reason":"no"}"#).unwrap().verdict,
            HookVerdict::Deny { reason: "no".into() }
        );
        assert!(matches!(at(point, r#"{"decision":"approve"}"#).unwrap().verdict, HookVerdict::Allow { .. }));
    }

    #[test]
    fn answers_elsewhere() {
        let stop =
            at(HookPoint::PostToolUse, r#"{"continue":false,"stopReason":"enough","systemMessage":"look"}"#).unwrap();
        assert_eq!((stop.stop.as_deref(), stop.message.as_str()), (Some("enough"), "enough; look"));
        let block = at(HookPoint::Stop, r#"{"decision":"block","reason":"tests","suppressOutput":true}"#).unwrap();
        assert_eq!(block.block.as_deref(), Some("tests"));
        for (point, wrong) in [
            (HookPoint::Stop, r#"{"decision":"block""#),
            (HookPoint::Stop, r#"{"decision":"approve"}"#),
            (HookPoint::Stop, r#"{"decision":7}"#),
            (HookPoint::Stop, r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#),
            (HookPoint::PostToolUse, r#"{"hookSpecificOutput":{"updatedInput":{}}}"#),
            (HookPoint::PreToolUse, r#"{"hookSpecificOutput":{"updatedInput":[]}}"#),
            (HookPoint::SessionEnd, r#"{"hookSpecificOutput":{"additionalContext":"x"}}"#),
        ] {
            assert!(at(point, wrong).unwrap_err().starts_with("its answer cannot be "), "{wrong}");
        }
    }
}
