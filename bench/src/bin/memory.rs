//! Bytes that an idle session holds, by counting what is allocated.

use agent_core::conversation::Item;
use agent_core::session::{Event, Session, SessionConfig, State, Trace, Transition};
use agent_core::table::Label;
use bench::counting::{Counting, live_bytes};
use bench::driver::{Driver, config};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is on the heap because of a value.
fn heap<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = live_bytes();
    let value = make();
    (value, live_bytes() - before)
}

fn main() {
    let inline = size_of::<Session>();
    println!("the value itself                {inline:>7} bytes, of these its trace {}", size_of::<Trace>());
    let shared = config();
    let (_new, new) = heap(|| Session::new(shared.clone()));
    println!(
        "a new session                   {:>7} bytes, beside its trace {}",
        inline + new,
        inline + new - trace_bytes(&_new)
    );
    for turns in [1, 10, 100, 1_000] {
        let before = live_bytes();
        let session = idle_after(turns, &shared);
        let all = live_bytes() - before;
        let trace = trace_bytes(&session);
        let ids = session.conversation().iter().filter(|item| matches!(***item, Item::Round(_))).count();
        // What is left of a dropped session is the history that somebody still holds.
        let history = session.conversation().clone();
        drop(session);
        let history_bytes = live_bytes() - before;
        drop(history);
        let rest = inline + all - history_bytes - trace;
        println!(
            "idle after {turns:>5} turns          {:>7} bytes: history {history_bytes}, trace {trace}, the rest {rest} with the ids of {ids} calls",
            inline + all
        );
    }
}

/// What a trace holds: itself, its transitions, of which there is room for the next power of two, and two numbers a state.
fn trace_bytes(session: &Session) -> usize {
    let transitions = match session.trace().recent().count() {
        0 => 0,
        count => count.next_power_of_two().max(4),
    };
    let totals = State::ALL.len() * size_of::<(u64, u64)>();
    size_of::<Trace>() + transitions * size_of::<Transition>() + totals
}

/// A session that has had so many turns, the first without a call, the others with one each.
fn idle_after(turns: usize, config: &SessionConfig) -> Session {
    let mut driver = Driver::of(config.clone());
    driver.take(driver.done());
    for _ in 1..turns {
        driver.take(Event::UserInput { text: "go on".into() });
        driver.round();
        driver.take(driver.done());
    }
    driver.agent.into_session()
}
