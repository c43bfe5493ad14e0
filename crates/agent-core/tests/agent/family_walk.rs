//! Trees by chance: models that spawn, wait, send, stop and ask as they like, answers in any order, stops, and a program that dies at any
//! record. What has to be true of the tree holds after every event, and the tree comes to rest.

use agent_check::tree::{Place, Tree, calls, config, rounds};
use agent_core::agent::Agent;
use agent_core::lifecycle::LifecycleConfig;
use agent_core::llm::LlmResponse;
use agent_core::session;
use proptest::prelude::*;
use serde_json::json;

/// What a model does, by a number that follows from where it is and how far it is.
fn answer(seed: u8) -> impl Fn(&Agent, &Place) -> LlmResponse {
    move |agent, at| {
        let round = rounds(agent);
        if round > 5 {
            return LlmResponse::text("done");
        }
        let place = at.iter().fold(7_u32, |all, number| all.wrapping_mul(31).wrapping_add(*number));
        let choice =
            (u32::from(seed).wrapping_mul(2_654_435_761) ^ place.wrapping_mul(97) ^ (round as u32 * 7_919)) >> 3;
        let name = |number: usize| format!("n{round}-{number}");
        let spawn = |number: usize, background: bool| {
            let budget = json!({"model_calls": 3 + choice % 5, "agents": choice % 3});
            let wish = if choice.is_multiple_of(2) { budget } else { json!({}) };
            ("spawn_agent", json!({"name": name(number), "task": "t", "background": background, "budget": wish}))
        };
        let apart = (
            "spawn_agent",
            json!({"name": name(8), "task": "t", "background": choice.is_multiple_of(2), "workspace": "worktree"}),
        );
        let shared = ("spawn_agent", json!({"name": name(9), "task": "t", "workspace": "shared"}));
        let id = format!("{at:?}-{round}");
        match choice % 12 {
            0 => calls(&[spawn(0, false)], &id),
            1 => calls(&[spawn(0, true), spawn(1, true)], &id),
            2 => calls(&[spawn(0, false), spawn(1, true), shared], &id),
            3 => calls(&[("wait_agent", json!({"until": if choice.is_multiple_of(4) { "all" } else { "any" }}))], &id),
            4 => calls(&[("send_agent", json!({"name": "n0-0", "message": "m"})), ("list_agents", json!({}))], &id),
            5 => calls(&[("stop_agent", json!({"name": "n0-0"}))], &id),
            6 if !at.is_empty() => calls(&[("signal", json!({"status": "waiting", "summary": "which?"}))], &id),
            8 => calls(&[apart, spawn(0, true)], &id),
            7 => calls(&[("read", json!({})), spawn(3, true)], &id),
            _ => LlmResponse::text("done"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(walks()) })]

    #[test]
    fn every_tree_comes_to_rest_whatever_happens(
        seed in any::<u8>(),
        is_attended in any::<bool>(),
        moves in prop::collection::vec((any::<u8>(), any::<u8>()), 1..120),
    ) {
        let bound = LifecycleConfig::headless(Vec::new());
        let mut tree = Tree::new(config(), (!is_attended).then_some(bound));
        tree.say("go");
        for (what, which) in moves {
            tree.now_ms += u64::from(what);
            match what {
                0..8 => tree.crash(|loose| if loose == 0 { 0 } else { usize::from(which) % (loose + 1) }),
                8..14 if !tree.agent(&[]).is_over() => tree.tell(&[], session::Event::CancelRequested.into()),
                // Without a person nothing is said to an agent that rests.
                14..18 if is_attended || !tree.agent(&[]).is_idle() && !tree.agent(&[]).has_ended() => tree.say("and this"),
                _ if !tree.tasks.is_empty() => {
                    let number = usize::from(which) % tree.tasks.len();
                    tree.finish(number, answer(seed));
                }
                _ => {}
            }
            tree.check();
        }
        tree.run(answer(seed));
        tree.check();
        // At a prompt the children may wait for a person: a stop ends them.
        if !tree.agent(&[]).is_idle() {
            prop_assert!(is_attended, "{}", tree.shown());
            tree.tell(&[], session::Event::CancelRequested.into());
            tree.run(answer(seed));
            tree.check();
        }
        let root = tree.agent(&[]);
        prop_assert!(root.is_idle() || root.has_ended(), "{}", tree.shown());
        for (at, node) in &tree.nodes {
            let agent = &node.agent;
            prop_assert!(at.is_empty() || agent.is_dismissed() || !agent.has_task(), "{at:?} was left");
        }
    }
}

/// `PROPTEST_CASES` looks longer.
fn walks() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(96)
}
