//! Everything that the environment can do in a state: what the session waits for, what the user may do, what comes too late.

use super::session::Node;
use super::world::{Variety, World};
use crate::session as notation;
use crate::session::alphabet::{LATE, Question};
use crate::session::commands::spelt;
use agent_core::budget::Limits;
use agent_core::conversation::{CallId, Item, ToolCall, ToolResult};
use agent_core::llm::Purpose;
use agent_core::permission::{ApprovalQuestion, Rule};
use agent_core::session::{Action, Event, LeftCall, Session, State, Ticket};
use agent_core::tool::Subject;
use std::borrow::Cow;
use std::iter;

/// A line of the scenarios.
pub(super) type Line = Cow<'static, str>;

/// Events that a session must take, or may refuse for a reason of its own.
pub(crate) fn choices(world: &World, node: &Node) -> Vec<Event> {
    let session = &node.session;
    let mut out = Vec::new();
    match session.state() {
        State::ShuttingDown => return out,
        State::Ready => return vec![Event::Started, Event::ShutdownRequested],
        _ => {}
    }
    for outstanding in session.outstanding() {
        let action = &outstanding.action;
        out.extend(answers(world, node, action).iter().map(|line| answered(line, action, session)));
    }
    out.extend(messages(world.messages, node.left.inputs, &node.next_text(), session));
    out.extend([Event::CancelRequested, Event::ShutdownRequested]);
    if node.left.raises > 0 {
        out.push(Event::BudgetRaised { limits: raised(session.config().limits) });
    }
    if node.left.changes > 0 {
        let given = |config| Event::Reconfigured { config: Box::new(config) };
        // That all can be read is known since the beginning.
        out.extend(world.other_configs().flatten().map(given));
    }
    if session.runs_hooks_on_leave() {
        out.push(Event::LeaveRequested);
    }
    if node.left.deaths > 0 {
        out.extend(resumptions(session));
    }
    if node.left.summaries > 0 && session.state() == State::WaitingForUserInput {
        out.push(Event::CompactionRequested);
    }
    out
}

/// The messages that may come, and be taken back, in the words of the scenarios.
pub(crate) fn messages(lines: &[&str], left: u8, new: &str, session: &Session) -> Vec<Event> {
    let lines = lines.iter().filter(|line| left > 0 || !line.contains("NEW"));
    lines.flat_map(|line| spelt(line, new, session)).map(|line| told(&line, Ticket(0), session)).collect()
}

/// Another program resumes the session: with what was in flight as it was left, begun or not, or the first running call alone.
pub(crate) fn resumptions(session: &Session) -> Vec<Event> {
    let running = session.outstanding().into_iter().find_map(|open| match open.action {
        Action::ExecuteTools { calls, .. } => Some(calls),
        _ => None,
    });
    let running = running.unwrap_or_default();
    let left = |calls: &[ToolCall], begun| {
        let lost = calls.iter().map(|call| LeftCall { call: call.id.clone(), begun, only_reads: false });
        Event::SessionResumed { begun, calls: lost.collect() }
    };
    let mut out = vec![left(&running, true), left(&running, false)];
    out.extend((running.len() > 1).then(|| left(&running[..1], true)));
    out
}

/// All limits that there are, further away.
pub(crate) fn raised(limits: Limits) -> Limits {
    let more = |limit: Option<u64>| limit.map(|limit| limit + 2);
    let double = |limit: Option<u64>| limit.map(|limit| limit * 2);
    Limits {
        max_model_calls: more(limits.max_model_calls),
        max_tool_calls: more(limits.max_tool_calls),
        max_total_tokens: double(limits.max_total_tokens),
        max_cost_nano_usd: double(limits.max_cost_nano_usd),
        max_failures_in_row: limits.max_failures_in_row.map(|limit| limit + 1),
        ..limits
    }
}

/// Everything that an action may be answered with.
fn answers(world: &World, node: &Node, action: &Action) -> Vec<Line> {
    match action {
        Action::SendLlmRequest { request, .. } => {
            let mut out = match request.purpose {
                Purpose::Turn => each_usage(world, model_answers(world, node)),
                Purpose::Compaction => each_usage(world, SUMMARIES.iter().copied().map(Line::from).collect()),
            };
            out.extend(failures(world).map(Line::from));
            out.extend(["aborted", "aborted \"half a sentence\""].map(Line::from));
            out
        }
        Action::PrepareTools { calls, .. } => facts(world, calls.len()).into_iter().chain(troubles()).collect(),
        Action::ExecuteTools { calls, .. } => {
            let completed = |number| world.outcomes.iter().map(move |word| format!("tool {number} {word}").into());
            (1..=calls.len()).flat_map(completed).collect()
        }
        other => plain_answers(other),
    }
}

/// What an action may be answered with in every world.
pub(super) fn plain_answers(action: &Action) -> Vec<Line> {
    let lines: &[&str] = match action {
        Action::RequestApproval { questions, .. } => {
            return (1..).zip(questions).flat_map(|(number, question)| approvals(number, question)).collect();
        }
        Action::CheckGitCommits { .. } => &["git", "git formatting", "git commit"],
        Action::RunAutoformatters { .. } => &["formatted b.rs", "formatted", "formatted b.rs commit"],
        Action::CommitChanges { .. } => &["committed"],
        // Nothing, something, that they object, that the turn is to end.
        Action::RunHooks { .. } => {
            &["hooks", "hooks \"context=mind the gap\"", "hooks \"block=not like that\"", "hooks stop=enough"]
        }
        Action::ScheduleRetry { .. } => &["timer"],
        Action::StartDeadline { .. } => &["deadline"],
        // The rest expects no answer.
        _ => &[],
    };
    let has_troubles = Question::of(action).is_some_and(Question::has_troubles);
    lines.iter().copied().map(Line::from).chain(troubles().filter(|_| has_troubles)).collect()
}

/// Answers of the model in a turn. `USED` is an id that a call of the history has.
fn model_answers(world: &World, node: &Node) -> Vec<Line> {
    let calls = if node.left.rounds > 0 { world.bounds.calls } else { 0 };
    let mut lines = USUAL_ANSWERS.to_vec();
    if world.answers == Variety::All {
        lines.extend(ODD_ANSWERS);
    }
    if node.left.pauses > 0 {
        lines.push("answer \"some words of the model\" stop=paused");
    }
    let mut out: Vec<Line> = lines.into_iter().map(Line::from).collect();
    out.extend((1..=usize::from(calls)).map(|calls| format!("answer calls{}", " read{}".repeat(calls)).into()));
    let used = used_id(&node.session);
    let again = |line: &&str| used.is_some() || !line.contains("USED");
    let named = |line: &str| match used {
        Some(id) if line.contains("USED") => Line::from(line.replace("USED", id.as_str())),
        _ => Line::from(line.replace("SAME", &format!("c{}-1", node.session.ledger().model_calls))),
    };
    for (least, lines) in [(1, ONE_CALL), (2, TWO_CALLS)] {
        out.extend(lines.iter().copied().filter(again).filter(|_| calls >= least).map(named));
    }
    out
}

const USUAL_ANSWERS: &[&str] =
    &["answer \"some words of the model\"", "answer", "answer \"some words of the model\" stop=max-tokens"];
const ODD_ANSWERS: &[&str] = &[
    "answer thinking",
    "answer calls cut:cut{\"path\":\"a stop=max-tokens",
    "answer \"some words of the model\" calls read{} stop=refusal",
    "answer \"some words of the model\" stop=context",
    "answer \"some words of the model\" stop=new",
    "answer stop=new",
];
const ONE_CALL: &[&str] = &[
    "answer calls bad[1]",
    "answer calls read# stop=end",
    "answer calls read#USED{}",
    "answer calls read#USED{} stop=paused",
];
const TWO_CALLS: &[&str] = &[
    "answer \"some words of the model\" calls read{} cut:cut{\"path\":\"a stop=max-tokens",
    "answer calls bad[1] read{}",
    "answer calls read{} read#SAME{}",
    "answer calls read{} read#USED{}",
];
const SUMMARIES: &[&str] =
    &["answer \"in short\"", "answer long=2000", "answer", "answer \"in sh\" stop=max-tokens", "answer calls read#s{}"];

fn each_usage(world: &World, answers: Vec<Line>) -> Vec<Line> {
    let metered = |line: Line| {
        world.usages.iter().map(move |usage| match usage {
            Some((input, output)) => format!("{line} usage={input},{output}").into(),
            None => line.clone(),
        })
    };
    answers.into_iter().flat_map(metered).collect()
}

/// Failures of a model call.
fn failures(world: &World) -> impl Iterator<Item = &'static str> {
    // Shorter than everything, longer than a turn of a minute, longer than anybody waits.
    const ALL: &[&str] = &[
        "fail rate-limited \"model trouble\" retry-after=50",
        "fail rate-limited \"model trouble\" retry-after=100000",
        "fail rate-limited \"model trouble\" retry-after=999000",
        "fail overloaded \"model trouble\"",
        "fail invalid \"model trouble\"",
    ];
    let few = ["fail rate-limited \"model trouble\"", "fail authentication \"model trouble\""];
    let all = if world.failures == Variety::All { ALL } else { &[] };
    let overflow = world.sizes_count.then_some("fail overflow \"model trouble\"");
    few.into_iter().chain(all.iter().copied()).chain(overflow)
}

/// What is found out about calls: every combination while there are few of them, then a choice.
fn facts(world: &World, calls: usize) -> Vec<Line> {
    let words = world.facts;
    let combinations: Vec<Vec<&str>> = if calls <= usize::from(world.bounds.mixed) {
        let one_more = |done: Vec<Vec<&'static str>>, _| {
            let longer = done.iter().flat_map(|begun| {
                words.iter().map(move |word| begun.iter().copied().chain([*word]).collect::<Vec<_>>())
            });
            longer.collect()
        };
        (0..calls).fold(vec![Vec::new()], one_more)
    } else {
        // All alike, and all beginnings of the words in turn: each word comes before and after each of its neighbours.
        let alike = words.iter().map(|word| vec![*word; calls]);
        let turns = (0..words.len()).map(|from| words.iter().copied().cycle().skip(from).take(calls).collect());
        alike.chain(turns).collect()
    };
    let told = |words: &Vec<&str>| {
        let each = (1..).zip(words).map(|(number, word)| format!(" \"{number}={word}\""));
        format!("prepared{}", each.collect::<String>()).into()
    };
    combinations.iter().map(told).collect()
}

/// An id that a call of the history has.
pub(crate) fn used_id(session: &Session) -> Option<&CallId> {
    session.conversation().iter().find_map(|item| match item.as_ref() {
        Item::Round(round) => round.results().first().map(ToolResult::call),
        Item::Input(_) | Item::Summary(_) | Item::Answer(_) => None,
    })
}

/// The newest ticket whose answer would come too late.
pub(crate) fn late_ticket(node: &Node) -> Option<Ticket> {
    (1..=node.observed.last_ticket).rev().map(Ticket).find(|ticket| node.observed.is_closed(*ticket))
}

/// Whether the event is a timer that nothing waits for any more.
pub(crate) fn is_late(node: &Node, event: &Event) -> bool {
    match event {
        Event::RetryTimeout { ticket } | Event::DeadlineReached { ticket } => node.observed.is_closed(*ticket),
        _ => false,
    }
}

fn approvals(number: usize, question: &ApprovalQuestion) -> Vec<Line> {
    // With other arguments it still does what was asked about.
    let word = if question.subject == Subject::None { "ask" } else { "change" };
    let mut lines = vec![
        format!("allow {number}"),
        format!("allow {number} edit={{}} looks={word}"),
        format!("deny {number} no"),
        format!("nobody {number}"),
    ];
    let name = &question.call.name;
    lines.extend(name.parse::<Rule>().ok().map(|_| format!("allow {number} always={name}")));
    lines.into_iter().map(Line::from).collect()
}

fn troubles() -> impl Iterator<Item = Line> {
    ["hook-failed \"git is gone\"", "hook-stop enough"].into_iter().map(Line::from)
}

/// Events that change nothing in this state: all but pieces of text and late timers must be refused.
pub(crate) fn without_effect(node: &Node) -> Vec<Event> {
    let session = &node.session;
    let mut out = vec![Event::UserInput { text: " \n".into() }];
    if session.state() == State::ShuttingDown {
        out.extend([
            node.next_input(),
            Event::CancelRequested,
            Event::ShutdownRequested,
            Event::BudgetRaised { limits: session.config().limits },
            Event::Reconfigured { config: Box::new(session.config().clone()) },
        ]);
    }
    if session.state() == State::Ready {
        out.extend([node.next_input(), Event::CancelRequested]);
    } else {
        out.push(Event::Started);
    }
    if session.state() != State::WaitingForUserInput {
        out.push(Event::CompactionRequested);
    }
    let (asked, mut stale) = (node.observed.open.as_ref(), vec![Ticket(node.observed.last_ticket + 1)]);
    stale.extend(late_ticket(node));
    if session.state() == State::ShuttingDown {
        stale.extend((1..node.observed.last_ticket).map(Ticket));
    }
    let any_answer = |ticket| LATE.iter().map(move |line| told(line, ticket, session));
    out.extend(stale.into_iter().flat_map(any_answer));
    if let Some(asked) = asked {
        out.extend(any_answer(asked.ticket).filter(|event| !asked.is_answered_by(event)));
        out.extend(pieces(asked.calls.first()).map(|line| told(&line, asked.ticket, session)));
    }
    out
}

/// Pieces of what is on its way. They are shown and kept nowhere.
fn pieces(call: Option<&CallId>) -> impl Iterator<Item = Line> {
    let progress = call.map(|call| Line::from(format!("progress id:{call} piece")));
    iter::once(Line::from("delta piece")).chain(progress)
}

/// A line as an answer to an action.
pub(super) fn answered(line: &str, action: &Action, session: &Session) -> Event {
    notation::answer(line, action, session).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn told(line: &str, ticket: Ticket, session: &Session) -> Event {
    notation::event(line, ticket, session).unwrap_or_else(|error| panic!("{line}: {error}"))
}
