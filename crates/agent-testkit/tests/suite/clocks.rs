//! The clocks.

use agent_core::ports::Clock;
use agent_testkit::{ManualClock, TokioClock};
use futures_util::FutureExt;

#[tokio::test]
async fn time_moves_by_hand_only() {
    let clock = ManualClock::new(1_000);
    let mut sleep = clock.sleep_ms(50);
    assert!(sleep.as_mut().now_or_never().is_none());
    clock.advance_ms(49);
    assert!(sleep.as_mut().now_or_never().is_none());
    clock.advance_ms(1);
    assert!(sleep.as_mut().now_or_never().is_some());
    drop(sleep);
    assert_eq!(clock.now_ms(), 1_050);
    assert!(clock.deadlines_ms().is_empty());
    assert!(clock.sleep_ms(0).now_or_never().is_some());
}

#[tokio::test]
async fn goes_from_deadline_to_deadline() {
    let clock = ManualClock::new(0);
    let sleepers: Vec<_> = [30_u64, 10]
        .map(|duration| {
            let clock = clock.clone();
            tokio::spawn(async move {
                clock.sleep_ms(duration).await;
                clock.now_ms()
            })
        })
        .into();
    clock.wait_for_sleepers(2).await;
    assert_eq!(clock.deadlines_ms(), [10, 30]);
    assert_eq!(clock.advance_to_next(), Some(10));
    while clock.deadlines_ms().len() > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(clock.advance_to_next(), Some(20));
    let mut woke = Vec::new();
    for sleeper in sleepers {
        woke.push(sleeper.await.unwrap());
    }
    assert_eq!(woke, [30, 10]);
    assert_eq!(clock.advance_to_next(), None);
}

#[tokio::test]
async fn a_dropped_sleeper_is_forgotten() {
    let clock = ManualClock::new(0);
    let mut sleep = clock.sleep_ms(5);
    assert!(sleep.as_mut().now_or_never().is_none());
    assert_eq!(clock.deadlines_ms(), [5]);
    drop(sleep);
    assert!(clock.deadlines_ms().is_empty());
}

#[tokio::test]
async fn the_end_of_time_is_no_overflow() {
    let clock = ManualClock::new(u64::MAX - 1);
    clock.advance_ms(10);
    assert_eq!(clock.now_ms(), u64::MAX);
    assert!(clock.sleep_ms(10).now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn follows_tokios_time() {
    let clock = TokioClock::new(500);
    clock.sleep_ms(3_600_000).await;
    assert_eq!(clock.now_ms(), 3_600_500);
}
