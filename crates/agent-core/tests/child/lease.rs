//! Leases: whatever is granted and spent, in whatever order, the parent's limits hold.

use agent_core::child::lease::{Lease, NoLease, Remainder, Spent, USUAL, Unit, Wish};
use proptest::collection::vec;
use proptest::prelude::*;

fn limit() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), (0..200_u64).prop_map(Some)]
}

prop_compose! {
    fn lease()(
        model_calls in limit(),
        tool_calls in limit(),
        tokens in limit(),
        cost_nano_usd in limit(),
        time_ms in limit(),
        agents in 0..6_u32,
        depth in 0..3_u32,
    ) -> Lease {
        Lease { model_calls, tool_calls, tokens, cost_nano_usd, time_ms, agents, depth }
    }
}

prop_compose! {
    fn wish()(
        model_calls in limit(),
        tool_calls in limit(),
        tokens in limit(),
        cost_nano_usd in limit(),
        time_ms in limit(),
        agents in prop_oneof![Just(None), (0..6_u32).prop_map(Some)],
    ) -> Wish {
        Wish { model_calls, tool_calls, tokens, cost_nano_usd, time_ms, agents }
    }
}

/// A wish with so many siblings, or the end of the n-th child with this share of its lease spent.
#[derive(Clone, Debug)]
enum Move {
    Grant(Wish, u32),
    End(prop::sample::Index, u64),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let grant = (wish(), 0..4_u32).prop_map(|(wish, siblings)| Move::Grant(wish, siblings));
    vec(
        prop_oneof![3 => grant, 1 => (any::<prop::sample::Index>(), 0..=4_u64).prop_map(|(at, part)| Move::End(at, part))],
        0..12,
    )
}

/// What is out and spent, of one kind, is no more than the limit. A lease without a limit is far more than any.
fn within(limit: Option<u64>, spent: u64, out: impl Iterator<Item = Option<u64>>) -> bool {
    limit.is_none_or(|limit| out.map(|lease| lease.unwrap_or(u64::from(u32::MAX))).sum::<u64>() + spent <= limit)
}

proptest! {
    #[test]
    fn what_is_out_and_what_was_spent_never_exceed_the_limits(whole in lease(), moves in moves()) {
        let (mut spent, mut out): (Spent, Vec<Lease>) = (Spent::default(), Vec::new());
        for one in moves {
            match one {
                Move::Grant(wish, siblings) => {
                    let left = Remainder::of(&whole, &out.iter().map(Spent::held_by).fold(spent, |all, held| all.plus(&held)));
                    let Ok(lease) = left.lease(&wish, siblings) else { continue };
                    prop_assert!(!lease.is_spent(), "a lease of nothing: {lease:?}");
                    prop_assert_eq!(lease.depth + 1, whole.depth);
                    out.push(lease);
                }
                Move::End(at, part) => {
                    if out.is_empty() { continue }
                    let lease = out.remove(at.index(out.len()));
                    let of = |limit: Option<u64>| limit.unwrap_or(100) * part / 4;
                    let used = Spent {
                        model_calls: of(lease.model_calls),
                        tool_calls: of(lease.tool_calls),
                        tokens: of(lease.tokens),
                        cost_nano_usd: of(lease.cost_nano_usd),
                        agents: lease.agents,
                    };
                    // The child itself is one of the agents that the parent may begin.
                    spent = spent.plus(&used).plus(&Spent { agents: 1, ..Spent::default() });
                }
            }
            prop_assert!(within(whole.model_calls, spent.model_calls, out.iter().map(|lease| lease.model_calls)));
            prop_assert!(within(whole.tool_calls, spent.tool_calls, out.iter().map(|lease| lease.tool_calls)));
            prop_assert!(within(whole.tokens, spent.tokens, out.iter().map(|lease| lease.tokens)));
            prop_assert!(within(whole.cost_nano_usd, spent.cost_nano_usd, out.iter().map(|lease| lease.cost_nano_usd)));
            prop_assert!(out.iter().all(|lease| whole.time_ms.is_none() || lease.time_ms <= whole.time_ms));
            let agents: u32 = out.iter().map(|lease| lease.agents + 1).sum();
            prop_assert!(agents + spent.agents <= whole.agents, "{agents} + {} of {}", spent.agents, whole.agents);
        }
    }
}

#[test]
fn a_share_is_half_of_what_is_left_by_the_siblings_and_never_everything() {
    let whole = Lease { model_calls: Some(40), cost_nano_usd: Some(1_000), agents: 9, depth: 2, ..Lease::default() };
    let left = Remainder::of(&whole, &Spent { model_calls: 4, ..Spent::default() });
    let lease = left.lease(&Wish::default(), 3).unwrap();
    assert_eq!((lease.model_calls, lease.cost_nano_usd, lease.depth, lease.agents), (Some(6), Some(166), 1, 0));
    assert_eq!((lease.tool_calls, lease.time_ms, lease.tokens), (USUAL.tool_calls, USUAL.time_ms, None));
    let asked = Wish { model_calls: Some(36), agents: Some(8), ..Wish::default() };
    assert_eq!(left.lease(&asked, 3).unwrap().model_calls, Some(36), "what is asked for is given whole");
}

#[test]
fn what_is_not_there_is_not_leased_and_the_refusal_has_numbers() {
    let whole =
        Lease { model_calls: Some(3), cost_nano_usd: Some(1_500_000_000), agents: 1, depth: 1, ..Lease::default() };
    let refused = |whole: &Lease, wish| Remainder::of(whole, &Spent::default()).lease(&wish, 1).unwrap_err();
    let said = |wish| refused(&whole, wish).to_string();
    assert_eq!(
        said(Wish { model_calls: Some(4), ..Wish::default() }),
        "the budget has no room for it: 4 model calls asked for, 3 left"
    );
    assert_eq!(
        said(Wish { cost_nano_usd: Some(2_000_000_000), ..Wish::default() }),
        "the budget has no room for it: 2.0000 USD asked for, 1.5000 left"
    );
    assert_eq!(
        said(Wish { agents: Some(1), ..Wish::default() }),
        "the budget has no room for it: 1 agents asked for, 0 left"
    );
    let none = Lease { model_calls: Some(1), ..whole };
    assert_eq!(refused(&none, Wish::default()), NoLease::NothingLeft { unit: Unit::ModelCalls }, "half of one is none");
    assert_eq!(refused(&Lease { depth: 0, ..whole }, Wish::default()), NoLease::TooDeep);
    assert_eq!(refused(&Lease { agents: 0, ..whole }, Wish::default()), NoLease::NothingLeft { unit: Unit::Agents });
}
