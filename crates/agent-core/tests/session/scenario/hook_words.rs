//! What the user's hooks say, in the words of the scenarios.

use agent_core::conversation::Arguments;
use agent_core::hook::{HookEnd, HookPoint, HookReport, HookRun};

/// `block=no stop=enough context=mind input={"x":1} ran=ls`
pub(super) fn report(words: &[String]) -> HookReport {
    let mut report = HookReport::default();
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        match key {
            "block" => report.block = Some(value.into()),
            "stop" => report.stop = Some(value.into()),
            "context" => report.context.push(value.into()),
            "input" => report.arguments = Some(Arguments::parse(value).unwrap()),
            "ran" => report.runs.push(HookRun {
                point: HookPoint::PostToolUse,
                command: value.into(),
                call: None,
                took_ms: 12,
                end: HookEnd::Passed,
                message: String::new(),
            }),
            other => panic!("no such answer of a hook: {other}"),
        }
    }
    report
}

pub(super) fn point(name: &str) -> HookPoint {
    HookPoint::ALL.into_iter().find(|point| point.name() == name).unwrap()
}
