//! What no policy may break, over every small policy and call, and over large ones by chance. That the laws can tell is shown with policies
//! that decide in another order.

#![expect(clippy::wildcard_enum_match_arm, reason = "a wrong policy is told by what it decides otherwise")]

use super::*;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;

/// Decides about a call, rightly or not.
type Decide = fn(&Permissions, &Call) -> Decision;

/// A call as the policy sees it.
#[derive(Clone, Debug)]
struct Call {
    tool: &'static str,
    inspection: Inspection,
    verdict: HookVerdict,
}

fn decide(policy: &Permissions, call: &Call) -> Decision {
    policy.decide(call.tool, &call.inspection, &call.verdict)
}

/// How much a decision lets happen.
fn freedom(decision: &Decision) -> u8 {
    match decision {
        Decision::Deny(_) => 0,
        Decision::Ask(_) => 1,
        Decision::Run(_) => 2,
    }
}

/// The policy of a child.
fn below(above: &Permissions, own: &Permissions) -> Permissions {
    Permissions { above: above.for_below(), ..own.clone() }
}

/// What a child may do less than its parent, and never more: by every policy above it, and by each that is added.
fn broken_below(decide: Decide, above: &Permissions, own: &Permissions, call: &Call) -> bool {
    let subject = &call.inspection.subject;
    let child = below(above, own);
    let (of_parent, of_child, alone) = (decide(above, call), decide(&child, call), decide(own, call));
    let forbidden = child.forbids(call.tool, call.inspection.effect, subject).is_some();
    let asked_nobody = decide(&child, &Call { verdict: HookVerdict::None, ..call.clone() });
    let left_out = |policy: &Permissions| policy.exclusions(call.tool, subject);
    let shown = ["a", "b", "a/b"].iter().any(|path| {
        left_out(&child).covering(path).is_none()
            && (left_out(above).covering(path).is_some() || left_out(own).covering(path).is_some())
    });
    // What a person answered for the child answers the questions of those above it.
    let answered = alone.is_answered() && freedom(&of_parent) > 0;
    freedom(&of_child) > freedom(&of_parent) && !answered
        || freedom(&of_child) > freedom(&alone)
        || forbidden != (freedom(&asked_nobody) == 0)
        || shown
}

/// Wrong: the child's own policy decides, or an allow rule of it wins over its parent's question.
#[test]
fn a_child_that_is_allowed_more_is_caught() {
    let own: Decide = |policy, call| decide(&Permissions { above: Vec::new(), ..policy.clone() }, call);
    let loosest: Decide = |policy, call| {
        let own = Permissions { above: Vec::new(), ..policy.clone() };
        policy.above.iter().chain([&own]).map(|layer| decide(layer, call)).max_by_key(freedom).unwrap()
    };
    let plan = Permissions { mode: PermissionMode::Plan, ..Permissions::default() };
    let bypass = Permissions { mode: PermissionMode::Bypass, ..Permissions::default() };
    for wrong in [own, loosest] {
        assert!(calls().iter().any(|call| broken_below(wrong, &plan, &bypass, call)));
    }
}

/// A person's answer holds for one agent, and for nothing that an agent above it denies.
#[test]
fn a_persons_answer_for_a_child_is_not_asked_again_and_opens_nothing_that_is_denied() {
    let rule: Rule = "bash".parse().unwrap();
    let own = Permissions { allow: vec![rule.clone().said_by(RuleSource::Session)], ..Permissions::default() };
    let call = Call {
        tool: "bash",
        inspection: Inspection { effect: Effect::Changes, subject: Subject::command("x".to_string(), None) },
        verdict: HookVerdict::None,
    };
    assert_eq!(freedom(&decide(&below(&Permissions::default(), &own), &call)), 2);
    let file = Permissions { allow: vec![rule.clone().said_by(RuleSource::User)], ..Permissions::default() };
    assert_eq!(freedom(&decide(&below(&Permissions::default(), &file), &call)), 1);
    for above in [
        Permissions { deny: vec![rule], ..Permissions::default() },
        Permissions { mode: PermissionMode::Plan, ..Permissions::default() },
    ] {
        assert_eq!(freedom(&decide(&below(&above, &own), &call)), 0);
        // And so at every depth.
        assert_eq!(freedom(&decide(&below(&below(&above, &Permissions::default()), &own), &call)), 0);
    }
}

/// The mode of an agent alone holds for it, and not for those below it.
#[test]
fn a_mode_of_ones_own_does_not_go_down() {
    let delegate =
        Permissions { mode: PermissionMode::Bypass, own_mode: Some(PermissionMode::Plan), ..Permissions::default() };
    let call = Call {
        tool: "bash",
        inspection: Inspection { effect: Effect::Changes, subject: Subject::command("x".to_string(), None) },
        verdict: HookVerdict::None,
    };
    assert_eq!(freedom(&decide(&delegate, &call)), 0);
    let child = below(&delegate, &Permissions { mode: PermissionMode::Bypass, ..Permissions::default() });
    assert_eq!(freedom(&decide(&child, &call)), 2);
    assert!(delegate.is_above(&child.above) && !child.is_above(&child.above));
}

/// The first law that a decision breaks. `more` are rules and modes that come on top.
fn broken(decide: Decide, policy: &Permissions, call: &Call, more: &[Rule]) -> Option<&'static str> {
    let (decision, subject) = (decide(policy, call), &call.inspection.subject);
    let shows = policy.deny.iter().any(|rule| subject.may_show_like(rule.tool()));
    let changes = call.inspection.effect == Effect::Changes || shows || subject.opening().is_some();
    let is_denied = policy.deny.iter().any(|rule| rule.may_match(call.tool, subject));
    let no_more = |policy: &Permissions| freedom(&decide(policy, call)) <= freedom(&decision);
    let asked_nobody = decide(policy, &Call { verdict: HookVerdict::None, ..call.clone() });
    let names = |rule: &Rule| rule.tool() == call.tool || subject.is_of(rule.tool());
    let is_covered = policy.allow.iter().any(|rule| names(rule) && !rule.has_pattern() && rule.doors().is_empty());
    let is_unknown = matches!(subject, Subject::Command { plain: None, .. });
    let mut stricter = vec![policy.clone().tightened(None, more.iter().cloned())];
    for mode in MODES {
        stricter.push(Permissions { mode: mode.stricter(policy.mode), ..policy.clone() });
        stricter.push(policy.clone().tightened(Some(mode), None));
    }
    for rule in more {
        let mut policy = policy.clone();
        policy.deny.push(rule.clone());
        stricter.push(policy);
    }
    for number in 0..policy.allow.len() {
        let mut policy = policy.clone();
        policy.allow.remove(number);
        stricter.push(policy);
    }
    let laws = [
        ("a deny rule wins over everything", !is_denied || freedom(&decision) == 0),
        (
            "a denial of a hook is a denial",
            !matches!(call.verdict, HookVerdict::Deny { .. }) || freedom(&decision) == 0,
        ),
        ("in plan mode nothing runs that may change something", {
            policy.mode != PermissionMode::Plan || !changes || freedom(&decision) == 0
        }),
        ("a hook allows nothing", freedom(&decision) <= freedom(&asked_nobody)),
        ("what is stricter allows no more", stricter.iter().all(no_more)),
        ("no rule with a pattern allows an unknown command", {
            !is_unknown || !changes || policy.mode == PermissionMode::Bypass || is_covered || freedom(&decision) < 2
        }),
        ("what opens the sandbox runs only by a rule that names all of it", {
            let opens = |rule: &Rule| subject.opening().is_some_and(|opening| opening.is_within(rule.doors()));
            subject.opening().is_none()
                || freedom(&decision) < 2
                || matches!(decision.basis(), Basis::Allowed(rules) if rules.iter().all(opens))
        }),
        ("a rule that names a door allows nothing that opens none", {
            let names_one = |rule: &Rule| !rule.doors().is_empty();
            let is_opened = subject.opening().is_some();
            is_opened || !matches!(decision.basis(), Basis::Allowed(rules) if rules.iter().any(names_one))
        }),
        ("a command that may show what a rule denies is not run as one that reads", {
            let may_show = policy.deny.iter().any(|rule| subject.may_show_like(rule.tool()));
            !may_show || *decision.basis() != Basis::Reads
        }),
        ("a decision rests on rules that are there", {
            match decision.basis() {
                Basis::Allowed(rules) => !rules.is_empty() && rules.iter().all(|rule| policy.allow.contains(rule)),
                Basis::Denied(rule) | Basis::Unchecked(rule) => policy.deny.contains(rule),
                _ => true,
            }
        }),
        ("what is forbidden is what is denied without a hook", {
            let forbidden = policy.forbids(call.tool, call.inspection.effect, subject);
            forbidden.is_some() == (freedom(&asked_nobody) == 0)
        }),
    ];
    laws.into_iter().find(|(_, holds)| !holds).map(|(law, _)| law)
}

#[test]
fn the_laws_hold_for_every_small_policy_and_call() {
    let mut tried = 0_u32;
    every(&mut |policy, call, more| {
        tried += 1;
        assert_eq!(broken(decide, policy, call, more), None, "{policy:?} {call:?}");
        false
    });
    assert_eq!(tried, 4 * 46 * 10 * 34 * 3);
}

/// Each of these decides in another order, or forgets something, and each breaks a law.
#[test]
fn a_wrong_policy_is_caught() {
    let wrong: [(&str, Decide); 8] = [
        ("what opens the sandbox runs only by a rule that names all of it", |policy, call| match policy.mode {
            PermissionMode::Bypass if freedom(&decide(policy, call)) > 0 => Decision::Run(Basis::Mode(policy.mode)),
            _ => decide(policy, call),
        }),
        ("a command that may show what a rule denies is not run as one that reads", |policy, call| {
            match decide(policy, call) {
                Decision::Ask(Basis::MayShow(_)) => Decision::Run(Basis::Reads),
                decision => decision,
            }
        }),
        ("a deny rule wins over everything", |policy, call| {
            let permissive = Permissions { deny: Vec::new(), ..policy.clone() };
            match decide(&permissive, call) {
                Decision::Run(basis @ Basis::Allowed(_)) => Decision::Run(basis),
                _ => decide(policy, call),
            }
        }),
        ("a deny rule wins over everything", |policy, call| match policy.mode {
            PermissionMode::Bypass => Decision::Run(Basis::Mode(policy.mode)),
            _ => decide(policy, call),
        }),
        ("a denial of a hook is a denial", |policy, call| {
            decide(policy, &Call { verdict: HookVerdict::None, ..call.clone() })
        }),
        ("in plan mode nothing runs that may change something", |policy, call| {
            let rules = policy.allowing(call.tool, &call.inspection.subject);
            match decide(policy, call) {
                Decision::Deny(Basis::Mode(_)) if !rules.is_empty() => Decision::Run(Basis::Allowed(rules)),
                decision => decision,
            }
        }),
        ("a hook allows nothing", |policy, call| match (&call.verdict, decide(policy, call)) {
            (HookVerdict::Ask { .. }, Decision::Ask(_)) => Decision::Run(Basis::Reads),
            (_, decision) => decision,
        }),
        ("no rule with a pattern allows an unknown command", |policy, call| match decide(policy, call) {
            Decision::Ask(_) if policy.allow.iter().any(|rule| rule.tool() == call.tool) => {
                Decision::Run(Basis::Allowed(policy.allow.clone()))
            }
            decision => decision,
        }),
    ];
    for (law, decide) in wrong {
        let mut found = None;
        every(&mut |policy, call, more| {
            found = broken(decide, policy, call, more).filter(|found| *found == law);
            found.is_some()
        });
        assert_eq!(found, Some(law));
    }
}

const MODES: [PermissionMode; 4] =
    [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan, PermissionMode::Bypass];
const RULES: [&str; 9] = [
    "edit",
    "edit(a)",
    "edit(b)",
    "bash",
    "bash(git status)",
    "bash(git:*)",
    "bash(rm:*)",
    "read(a)",
    "bash+network(git:*)",
];

/// Calls a function with every mode, at most two allow rules, at most one deny rule, and every call, until it says that it has enough.
fn every(enough: &mut dyn FnMut(&Permissions, &Call, &[Rule]) -> bool) {
    let rules: Vec<Rule> = RULES.iter().map(|rule| rule.parse().unwrap()).collect();
    let mut allows: Vec<Vec<Rule>> = vec![Vec::new()];
    allows.extend(rules.iter().map(|rule| vec![rule.clone()]));
    for (number, one) in rules.iter().enumerate() {
        allows.extend(rules.iter().skip(number + 1).map(|other| vec![one.clone(), other.clone()]));
    }
    let mut denies: Vec<Vec<Rule>> = vec![Vec::new()];
    denies.extend(rules.iter().map(|rule| vec![rule.clone()]));
    let calls = calls();
    for mode in MODES {
        for allow in &allows {
            for deny in &denies {
                let policy = Permissions { mode, allow: allow.clone(), deny: deny.clone(), ..Permissions::default() };
                if calls.iter().any(|call| enough(&policy, call, &rules)) {
                    return;
                }
            }
        }
    }
}

fn calls() -> Vec<Call> {
    let paths = |paths: &[&str]| Subject::Paths(paths.iter().map(ToString::to_string).collect());
    let plain =
        |plain: &[&str]| Subject::command(plain.join("; "), Some(plain.iter().map(ToString::to_string).collect()));
    let files = |paths: &[&str]| Subject::Files {
        paths: paths.iter().map(ToString::to_string).collect(),
        families: vec!["edit".to_string()],
        akin: vec!["bash".to_string()],
    };
    let moved = Subject::Command {
        text: "cd x; git status".to_string(),
        plain: Some(vec!["cd x".to_string(), "git status".to_string()]),
        carries_over: true,
        beyond_reading: None,
        walls: Walls::Usual,
    };
    let walled = |walls: Walls| Subject::Command {
        text: "git status".to_string(),
        plain: Some(vec!["git status".to_string()]),
        carries_over: false,
        beyond_reading: None,
        walls,
    };
    let opened = |doors: Vec<Door>| {
        walled(Walls::Opened(Box::new(Opening { doors, reason: "so".to_string(), places: Vec::new() })))
    };
    let subjects = [
        ("bash", walled(Walls::Reading { akin: vec!["read".to_string()] })),
        ("bash", opened(vec![Door::Network])),
        ("bash", opened(vec![Door::Network, Door::Git])),
        ("bash", opened(vec![Door::Outside])),
        ("edit", Subject::None),
        ("edit", paths(&[])),
        ("edit", paths(&["a"])),
        ("edit", paths(&["a", "b"])),
        ("write", files(&[])),
        ("write", files(&["a"])),
        ("write", files(&["a", "b"])),
        ("bash", moved),
        ("bash", Subject::None),
        ("bash", Subject::command("$(x)".to_string(), None)),
        ("bash", plain(&["git status"])),
        ("bash", plain(&["git status", "rm x"])),
        ("bash", plain(&["/bin/rm x"])),
    ];
    let verdicts =
        [HookVerdict::None, HookVerdict::Ask { reason: "?".into() }, HookVerdict::Deny { reason: "!".into() }];
    let mut calls = Vec::new();
    for (tool, subject) in subjects {
        for effect in [Effect::Reads, Effect::Changes] {
            for verdict in &verdicts {
                let inspection = Inspection { effect, subject: subject.clone() };
                calls.push(Call { tool, inspection, verdict: verdict.clone() });
            }
        }
    }
    calls
}

fn any_rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        proptest::sample::select(&RULES[..]).prop_map(ToString::to_string),
        "edit\\([ab*?/]{1,6}\\)",
        "bash\\((git|rm|/bin/rm|ls) ?[a-z]{0,2}(:\\*)?\\)",
        "bash(\\+(network|git|write|outside)){1,2}(\\((git|rm|ls):\\*\\))?",
        "(read|search|grep)(\\([ab*]{1,2}\\))?",
    ]
    .prop_map(|text| text.parse().unwrap())
}

fn any_subject() -> impl Strategy<Value = (&'static str, Subject)> {
    let commands = proptest::collection::vec("(git|rm|/bin/rm|ls)( [a-z]{1,2}){0,2}", 1..4);
    prop_oneof![
        proptest::collection::vec("[ab]{1,2}(/[ab]){0,2}", 0..4).prop_map(|paths| ("edit", Subject::Paths(paths))),
        commands.clone().prop_map(|plain| { ("bash", Subject::command(plain.join(" && "), Some(plain))) }),
        commands.clone().prop_map(|plain| ("bash", Subject::command(plain.join("\n"), None))),
        (commands, any_walls()).prop_map(|(plain, walls)| {
            (
                "bash",
                Subject::Command {
                    text: plain.join("; "),
                    plain: Some(plain),
                    carries_over: false,
                    beyond_reading: None,
                    walls,
                },
            )
        }),
        Just(("bash", Subject::None)),
    ]
}

fn any_walls() -> impl Strategy<Value = Walls> {
    let door =
        prop_oneof![Just(Door::Network), Just(Door::Git), Just(Door::Outside), "[ab]{1,2}".prop_map(Door::Write),];
    prop_oneof![
        proptest::collection::vec("(read|search|grep)", 1..3).prop_map(|akin| Walls::Reading { akin }),
        proptest::collection::vec(door, 1..4).prop_map(|doors| Walls::Opened(Box::new(Opening {
            doors,
            reason: "so".to_string(),
            places: Vec::new()
        }))),
    ]
}

fn any_call() -> impl Strategy<Value = Call> {
    let verdict = prop_oneof![
        Just(HookVerdict::None),
        "[a-z]{0,3}".prop_map(|reason| HookVerdict::Ask { reason }),
        "[a-z]{0,3}".prop_map(|reason| HookVerdict::Deny { reason }),
    ];
    (any_subject(), any::<bool>(), verdict).prop_map(|((tool, subject), changes, verdict)| {
        let effect = if changes { Effect::Changes } else { Effect::Reads };
        Call { tool, inspection: Inspection { effect, subject }, verdict }
    })
}

fn any_policy() -> impl Strategy<Value = Permissions> {
    let rules = || proptest::collection::vec(any_rule(), 0..5);
    (proptest::sample::select(&MODES[..]), rules(), rules()).prop_map(|(mode, allow, deny)| Permissions {
        mode,
        allow,
        deny,
        ..Permissions::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_child_is_never_allowed_what_its_parent_is_not(above in any_policy(), own in any_policy(), call in any_call()) {
        prop_assert!(!broken_below(decide, &above, &own, &call));
        let child = below(&above, &own);
        prop_assert!(above.is_above(&child.above));
        prop_assert!(!broken_below(decide, &child, &Permissions::default(), &call));
    }

    #[test]
    fn the_laws_hold_by_chance(
        policy in any_policy(),
        call in any_call(),
        more in proptest::collection::vec(any_rule(), 0..4),
    ) {
        prop_assert_eq!(broken(decide, &policy, &call, &more), None);
    }
}
