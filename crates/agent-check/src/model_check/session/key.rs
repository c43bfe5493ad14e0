//! What two sessions have in common when nothing that can happen to them differs.
//!
//! A session's key is all that it serialises, without what is in [`rules`]: ids and tickets (by which nothing but equality is decided,
//! and which are in order), times (which stand still), texts (which are shown or sent and never read), the trace, and what was spent, of
//! which only the distance to a limit counts. Of the history the last item counts, because nothing reads what is before it but for its
//! size, which counts where a window or a price makes it count. What observers know of the session belongs to the key, too.
//!
//! Two sessions of one key must also be offered the same events, or what happens to one of them is never tried. So the key tells everything
//! that decides in `events` which events there are, and a line there that reads something else needs a word here:
//!
//! * the state, what is outstanding (kind, calls, questions, purpose of a request) and whether hooks run before the end: serialised, and
//!   here by the rule above. Ids and tickets go back as they came;
//! * the configuration, all of it: raised limits and given configurations are made from it;
//! * what is left;
//! * whether there is an id that a model can use again ([`events::used_id`]) and a ticket that comes too late ([`events::late_ticket`]):
//!   these are read from what is before the last item, so they have words of their own;
//! * the number of the next message, which what is left tells, and the number of model calls, which only makes new ids.

use super::super::events;
use super::super::fingerprint::{Fingerprint, Part, Rules};
use super::super::world::World;
use super::Node;
use agent_core::conversation::{Conversation, Item};
use agent_core::session::{Session, SessionConfig, State, Ticket};
use std::collections::BTreeSet;

pub(crate) fn of(world: &World, node: &Node) -> u128 {
    let mut print = Fingerprint::new();
    if node.session.state() == State::ShuttingDown {
        // What has ended refuses everything, whatever it was. Only timers pass, also those that it still waited for at its end.
        let given = (1..=node.observed.last_ticket).map(Ticket);
        let is_open = given.clone().map(|ticket| node.session.is_open(ticket));
        print.word(u64::MAX);
        print.word(given.count().min(1) as u64 + is_open.filter(|is_open| *is_open).count() as u64);
        return print.finish();
    }
    session(world, &node.session, &mut print);
    observed(node, &mut print);
    print.word(
        u64::from(events::used_id(&node.session).is_some()) << 1 | u64::from(events::late_ticket(node).is_some()),
    );
    let left = node.left;
    for left in [left.inputs, left.rounds, left.pauses, left.raises, left.changes, left.summaries, left.deaths] {
        print.word(u64::from(left));
    }
    print.finish()
}

/// A session's own part.
pub(crate) fn session(world: &World, session: &Session, print: &mut Fingerprint) {
    let counts_repetitions = session.config().limits.max_repetitions.is_some();
    let rules = match (world.sizes_count, counts_repetitions) {
        (false, false) => rules::<false, false>,
        (false, true) => rules::<false, true>,
        (true, false) => rules::<true, false>,
        (true, true) => rules::<true, true>,
    };
    print.value(session, rules);
    history(world, session.conversation(), print);
    configuration(session.config(), rules, print);
    let (limits, ledger) = (session.config().limits, session.ledger());
    for (limit, spent) in [
        (limits.max_model_calls, ledger.model_calls),
        (limits.max_tool_calls, ledger.tool_calls),
        (limits.max_total_tokens, ledger.usage.total_tokens()),
        (limits.max_cost_nano_usd, ledger.cost_nano_usd),
        (limits.max_failures_in_row.map(u64::from), u64::from(ledger.failures_in_row)),
    ] {
        // Where limits can be raised or replaced, it counts how far beyond one is.
        let can_move = world.bounds.raises > 0 || world.bounds.changes > 0;
        let left = |limit: u64| if can_move { limit.wrapping_sub(spent) } else { limit.saturating_sub(spent) };
        print.word(limit.map_or(0, |limit| left(limit).wrapping_add(1)));
    }
}

fn configuration(config: &SessionConfig, rules: Rules, print: &mut Fingerprint) {
    print.value(config, rules);
    // A schema is a map that the session does not read: its name identifies it.
    config.tools.iter().for_each(|tool| print.text(&tool.name));
    // A rule that was given twice allows no more.
    let allowed: BTreeSet<String> = config.permissions.allow.iter().map(ToString::to_string).collect();
    print.count(allowed.len());
    allowed.iter().for_each(|rule| print.text(rule));
}

fn rules<const SIZES: bool, const REPETITIONS: bool>(of: &str, field: &str) -> Part {
    match of {
        "Session" => match field {
            // Has its own part in the key.
            "config" | "conversation" | "ledger" => Part::Out,
            "repetition" if !REPETITIONS => Part::Out,
            "measured" if !SIZES => Part::Out,
            // Numbers that only have to differ, times, and what is shown.
            "now_ms" | "used_ids" | "fixed_tokens" | "next_ticket" | "next_call" | "trace" => Part::Out,
            // Written before it is read whenever an answer comes.
            "reply_usage" => Part::Out,
            "pending" | "queue" | "waiting" | "notes" => {
                if SIZES {
                    Part::Sizes
                } else {
                    Part::Count
                }
            }
            _ => Part::Whole,
        },
        _ => match (of, field) {
            ("Question", "ticket") | ("ToolCall", "id") => Part::Out,
            ("Deadline", "armed") => Part::Count,
            // The calls tell it.
            ("Batch", "answer") => Part::Out,
            ("Answered", "content") if !SIZES => Part::Beginning,
            // Have words of their own.
            ("SessionConfig", "tools") | ("Permissions", "allow") => Part::Out,
            // Passed to the hooks, and not read here.
            ("ChangeRecord", "tools" | "intent") => Part::Out,
            ("UserPromptSubmit", "prompt") | ("Stop", "text") | ("PostToolUse", "calls") => Part::Out,
            ("Run", "text" | "error" | "denials") | ("Retry", "reason") | ("Said", "message") => Part::Out,
            ("Said", "returned_input") => Part::Count,
            _ => Part::Whole,
        },
    }
}

fn history(world: &World, conversation: &Conversation, print: &mut Fingerprint) {
    match conversation.last().map(AsRef::as_ref) {
        None => print.word(0),
        Some(Item::Input(_) | Item::Summary(_)) => print.word(1),
        Some(Item::Answer(answer)) => print.word(2 + u64::from(answer.is_paused())),
        Some(Item::Round(round)) => print.count(4 + round.results().len()),
    }
    if world.sizes_count {
        print.count(conversation.len());
        print.word(conversation.bytes());
        print.word(conversation.last().map_or(0, |last| last.bytes()));
    } else {
        print.count(conversation.len().min(2));
        // Whether a summary helps.
        print.word(if world.bounds.summaries > 0 { conversation.bytes() } else { 0 });
    }
}

fn observed(node: &Node, print: &mut Fingerprint) {
    let observed = &node.observed;
    if let Some(open) = &observed.open {
        print.word(1 + open.question as u64);
        print.count(open.calls.len());
        print.word(u64::from(open.is_cancelled));
    }
    print.word(u64::from(observed.deadline.is_some()) << 1 | u64::from(observed.is_cancelled));
    print.word(observed.inputs.word());
    print.count(observed.batch.len());
    observed.batch.iter().for_each(|seen| print.word(u64::from(seen.is_run) + 2 * u64::from(seen.is_unbegun)));
    print.word(observed.in_vain);
    print.word(u64::from(observed.nobody));
    let runs = observed.runs;
    let runs = [runs.is_going_on, runs.is_work, runs.is_stopped, runs.is_raised];
    print.word(runs.iter().fold(0, |all, flag| all * 2 + u64::from(*flag)));
    print.word(observed.summaries.word());
    // Without hooks nothing of this differs.
    let has_hooks = !node.session.config().hooks.is_empty();
    let inputs = &observed.inputs;
    let pending = inputs.given & !inputs.returned & !inputs.summarised;
    print.word(if has_hooks { observed.hooks.word(pending) } else { 0 });
    // Whether it may still change is what matters, and to what it changes is shown to the user only.
    print.word(u64::from(node.session.outcome().is_some()));
}
