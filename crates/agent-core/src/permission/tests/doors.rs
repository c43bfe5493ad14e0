//! Calls that ask to have the sandbox opened, and commands that only read.

use super::*;
use alloc::boxed::Box;

fn walled(text: &str, walls: Walls) -> Inspection {
    let effect = if matches!(walls, Walls::Reading { .. }) { Effect::Reads } else { Effect::Changes };
    let plain = Some(text.split(" | ").map(ToString::to_string).collect());
    let subject = Subject::Command { text: text.to_string(), plain, carries_over: false, beyond_reading: None, walls };
    Inspection { effect, subject }
}

fn opened(text: &str, doors: &[Door]) -> Inspection {
    walled(
        text,
        Walls::Opened(Box::new(Opening {
            doors: doors.to_vec(),
            reason: "to get new commits".to_string(),
            places: Vec::new(),
        })),
    )
}

fn reading(text: &str) -> Inspection {
    walled(text, Walls::Reading { akin: vec!["read".to_string(), "grep".to_string()] })
}

const MODES: [PermissionMode; 4] =
    [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan, PermissionMode::Bypass];

#[test]
fn no_mode_and_no_ordinary_rule_opens_the_sandbox() {
    let call = opened("git fetch", &[Door::Network]);
    for mode in MODES {
        for allow in [&[][..], &["bash"], &["bash(git fetch)"], &["bash(git:*)"], &["bash+git"], &["bash+outside"]] {
            let policy = policy(mode, allow, &[]);
            assert!(!runs(&policy, "bash", &call), "{mode} {allow:?}");
        }
    }
    assert!(runs(&policy(PermissionMode::Bypass, &[], &[]), "bash", &command("git fetch", Some(&["git fetch"]))));
}

#[test]
fn no_hook_opens_the_sandbox() {
    let verdict = HookVerdict::Allow { reason: String::new() };
    let decision = policy(PermissionMode::Default, &[], &[]).decide("bash", &opened("x", &[Door::Outside]), &verdict);
    assert!(matches!(decision, Decision::Ask(Basis::Opens(_))), "{decision:?}");
    let control = policy(PermissionMode::Default, &[], &[]).decide("bash", &command("x", Some(&["x"])), &verdict);
    assert!(matches!(control, Decision::Run(Basis::HookAllowed(_))), "{control:?}");
}

#[test]
fn a_rule_that_names_the_door_opens_it_for_its_commands() {
    let policy_of = |allow: &[&str]| policy(PermissionMode::Default, allow, &[]);
    let fetch = opened("git fetch", &[Door::Network]);
    assert!(runs(&policy_of(&["bash+network(git fetch:*)"]), "bash", &fetch));
    assert!(runs(&policy_of(&["bash+git+network(git fetch)"]), "bash", &fetch));
    assert!(!runs(&policy_of(&["bash+network(git pull:*)"]), "bash", &fetch));
    assert!(!runs(&policy_of(&["bash+network(git fetch:*)"]), "bash", &opened("git fetch | sh", &[Door::Network])));
    assert!(!runs(&policy_of(&["bash+network"]), "bash", &opened("x", &[Door::Network, Door::Git])));
    let both = policy_of(&["bash+network(git fetch)", "bash+network(tail:*)"]);
    assert!(runs(&both, "bash", &opened("git fetch | tail -3", &[Door::Network])));
    // A path is looked at each time, and a rule about a door is about calls that open it.
    assert!(!runs(&policy_of(&["bash+write"]), "bash", &opened("x", &[Door::Write("y".to_string())])));
    assert!(!runs(&policy_of(&["bash+network"]), "bash", &command("x", Some(&["x"]))));
}

#[test]
fn deny_rules_win_over_rules_that_name_a_door_and_may_name_one_themselves() {
    let policy_of = |deny: &[&str]| policy(PermissionMode::Bypass, &["bash+network", "bash+outside"], deny);
    for (deny, door, is_denied) in [
        (&["bash(git push:*)"][..], Door::Network, true),
        (&["bash+network"], Door::Network, true),
        (&["bash+network"], Door::Outside, true),
        (&["bash+git"], Door::Outside, true),
        (&["bash+network(git push:*)"], Door::Network, true),
        (&["bash+network(git pull:*)"], Door::Network, false),
        (&["bash+outside"], Door::Network, false),
        (&["bash+git"], Door::Network, false),
    ] {
        let call = opened("git push", core::slice::from_ref(&door));
        assert_eq!(runs(&policy_of(deny), "bash", &call), !is_denied, "{deny:?} {door:?}");
    }
    let within = command("git push", Some(&["git push"]));
    assert!(runs(&policy_of(&["bash+network"]), "bash", &within), "a call that opens nothing");
}

#[test]
fn the_question_says_what_is_opened_and_why() {
    let call = opened("git fetch", &[Door::Network, Door::Git]);
    let decision = policy(PermissionMode::Default, &[], &[]).decide("bash", &call, &HookVerdict::None);
    let expected = "it asks to use the network, and what listens on this machine; write git's objects, branches and index: to get \
                    new commits";
    assert_eq!(decision.reason("bash"), expected);
}

#[test]
fn a_command_that_only_reads_runs_in_every_mode() {
    for mode in MODES {
        assert!(runs(&policy(mode, &[], &["edit(a/**)", "edit", "bash(rm:*)"]), "bash", &reading("cat x")), "{mode}");
    }
}

#[test]
fn a_command_that_may_show_a_denied_file_is_asked_about() {
    for deny in ["read(secrets/**)", "read", "grep(a)"] {
        let decide = |mode| policy(mode, &[], &[deny]).decide("bash", &reading("cat x"), &HookVerdict::None);
        assert!(matches!(decide(PermissionMode::Default), Decision::Ask(Basis::MayShow(_))), "{deny}");
        assert!(matches!(decide(PermissionMode::Plan), Decision::Deny(Basis::MayShow(_))), "{deny}");
        assert!(matches!(decide(PermissionMode::Bypass), Decision::Run(Basis::Mode(_))), "{deny}");
        let allowed = policy(PermissionMode::Default, &["bash(cat:*)"], &[deny]);
        assert!(runs(&allowed, "bash", &reading("cat x")), "{deny}");
    }
    let denied = policy(PermissionMode::Bypass, &[], &["bash(cat:*)"]);
    assert!(!runs(&denied, "bash", &reading("cat x")));
}
