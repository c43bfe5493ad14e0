//! Tests of prices, charges and limits, at their edges.

use super::{Ledger, LimitKind, Limits, Price};
use crate::llm::Usage;
use alloc::string::ToString;

const PRICE: Price = Price { input_nano_usd: 3, output_nano_usd: 10, cache_read_nano_usd: 1, cache_write_nano_usd: 4 };

#[test]
fn the_dearest_kind_of_input_is_reserved() {
    assert_eq!(PRICE.reservation_nano_usd(100, 10), 500);
    let without_cache = Price { cache_write_nano_usd: 0, ..PRICE };
    assert_eq!(without_cache.reservation_nano_usd(100, 10), 400);
}

#[test]
fn a_price_is_nothing_only_if_nothing_has_one() {
    let price = |[input_nano_usd, output_nano_usd, cache_read_nano_usd, cache_write_nano_usd]: [u64; 4]| Price {
        input_nano_usd,
        output_nano_usd,
        cache_read_nano_usd,
        cache_write_nano_usd,
    };
    let asked = (0..16_u64).map(|which| [0, 1, 2, 3].map(|kind| which >> kind & 1));
    assert!(asked.skip(1).all(|prices| !price(prices).is_nothing()));
    assert!(price([0; 4]).is_nothing());
}

#[test]
fn charges_add_up() {
    let usage = Usage { input_tokens: 1, output_tokens: 1, cache_read_tokens: 1, cache_write_tokens: 1 };
    let mut ledger = Ledger::default();
    for calls in 1..=2 {
        ledger.charge(&usage, true, Some(&PRICE));
        assert_eq!((ledger.estimated_calls, ledger.unpriced_calls, ledger.cost_nano_usd), (calls, 0, 18 * calls));
    }
    for calls in 1..=2 {
        ledger.charge(&usage, false, None);
        assert_eq!((ledger.estimated_calls, ledger.unpriced_calls, ledger.cost_nano_usd), (2, calls, 36));
    }
    assert_eq!(ledger.usage.total_tokens(), 16);
}

#[test]
fn what_just_fits_is_allowed() {
    let ledger = Ledger { cost_nano_usd: 40, ..Ledger::default() };
    let limits = |cost| Limits { max_cost_nano_usd: Some(cost), ..Limits::default() };
    assert_eq!(ledger.blocks_model_call(&limits(100), Some(60), 0), None);
    let reached = ledger.blocks_model_call(&limits(99), Some(60), 0).unwrap();
    assert_eq!((reached.kind, reached.spent, reached.limit), (LimitKind::Cost, 100, 99));
    let unknown = ledger.blocks_model_call(&limits(1_000), None, 0).unwrap();
    assert_eq!(unknown.spent, u64::MAX);
}

#[test]
fn the_tokens_of_a_request_are_spent_before_it_is_sent() {
    let mut ledger = Ledger::default();
    ledger.charge(&Usage { input_tokens: 30, output_tokens: 10, ..Usage::default() }, false, None);
    let limits = Limits { max_total_tokens: Some(100), ..Limits::default() };
    assert_eq!(ledger.blocks_model_call(&limits, None, 60), None);
    let reached = ledger.blocks_model_call(&limits, None, 61).unwrap();
    assert_eq!(reached.to_string(), "limit on tokens reached: 101 used or needed of 100");
}
