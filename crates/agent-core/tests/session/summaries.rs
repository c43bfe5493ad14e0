//! What is sent to be summarised: without thinking, and with results clipped to the model's window.

use agent_check::session::{Script, config};
use agent_core::conversation::{Block, Item, Summary};
use agent_core::llm::{LlmResponse, Purpose, ResponseBlock};
use agent_core::session::{Action, Event, KeptResults, OutcomeKind, SessionConfig, State, Summaries};
use proptest::prelude::*;

fn summarised(actions: &[Action]) -> Vec<Item> {
    let request = actions.iter().find_map(|action| match action {
        Action::SendLlmRequest { request, .. } if request.purpose == Purpose::Compaction => Some(request),
        _ => None,
    });
    request.unwrap().conversation.iter().map(|item| item.as_ref().clone()).collect()
}

#[test]
fn thinking_is_left_out_and_words_stay() {
    let mut script = Script::default();
    let actions = script.play(&["input go"]);
    let Action::SendLlmRequest { ticket, .. } = &actions[0] else { panic!("{actions:?}") };
    let thinking = ResponseBlock::Thinking { text: "hm".into(), signature: Some("s".into()) };
    let mut response = LlmResponse::text("these are the words");
    response.blocks.insert(0, thinking);
    let _ = script.session.step(0, Event::LlmCompleted { ticket: *ticket, response }).unwrap();
    let sent = summarised(&script.play(&["compact"]));
    let Item::Answer(answer) = &sent[1] else { panic!("{sent:?}") };
    assert_eq!(answer.blocks(), [Block::Text("these are the words".into())]);
}

#[test]
fn long_results_are_clipped_to_their_share_of_the_window() {
    let mut script = Script::default();
    let sent = summarised(&script.play(&[
        "config window=1000",
        "input go",
        "answer calls read{}",
        "prepared",
        "tool 1 ok long=5000",
        "answer done",
        "compact",
    ]));
    let Item::Round(round) = &sent[1] else { panic!("{sent:?}") };
    // About three bytes a token, shared by one result, three items and what comes back.
    assert_eq!(round.results()[0].content(), format!("{}\n[4400 bytes left out]", "x".repeat(600)));
}

/// Results of these sizes come until the window is full, and a summary takes their place.
fn after_a_summary(config_words: &str, summaries: Summaries, lines: &[&str]) -> Summary {
    let mut script = Script::default();
    reconfigure(&mut script, config_words, summaries);
    script.play(lines);
    let Some(Item::Summary(summary)) = script.session.conversation().iter().next().map(AsRef::as_ref) else {
        panic!("{:?}", script.session.conversation())
    };
    summary.clone()
}

fn reconfigure(script: &mut Script, words: &str, summaries: Summaries) {
    let config = Box::new(SessionConfig { summaries, ..config(words).unwrap() });
    let _ = script.session.step(0, Event::Reconfigured { config }).unwrap();
}

fn kept_results() -> Summaries {
    let kept = [("todo".into(), KeptResults::Newest), ("skill".into(), KeptResults::Each)];
    Summaries { kept_results: kept.into(), ..Summaries::default() }
}

#[test]
fn the_task_and_named_results_stay_word_for_word() {
    let long = format!("answer long={}", 3_000);
    let summary = after_a_summary(
        "mode=bypass",
        kept_results(),
        &[
            "input the task",
            "answer calls todo{} skill{} read{}",
            "prepared 1=read 2=read 3=read",
            "tool 1 ok first-list",
            "tool 2 ok how-to",
            "tool 3 ok a-file",
            "answer calls todo{} skill{} skill{}",
            "prepared 1=read 2=read 3=read",
            "tool 1 ok second-list",
            "tool 2 ok how-to",
            "tool 3 failed gone",
            &long,
            "input and this",
            "answer done",
            "compact",
            "answer \"in short\"",
        ],
    );
    assert_eq!((summary.text(), &**summary.model()), ("in short", "first"));
    assert_eq!(summary.said(), ["the task", "and this"]);
    let kept: Vec<_> = summary.kept().iter().map(|result| (result.tool(), result.content())).collect();
    assert_eq!(kept, [("todo", "second-list"), ("skill", "how-to")]);
}

/// A second summary does not summarise again what the first one kept.
#[test]
fn what_stays_is_kept_by_the_next_summary_too() {
    let long = format!("answer long={}", 2_000);
    let summary = after_a_summary(
        "mode=bypass",
        kept_results(),
        &[
            "input the task",
            "answer calls todo{}",
            "prepared 1=read",
            "tool 1 ok list",
            &long,
            "compact",
            "answer once",
            "input more",
            &long,
            "compact",
            "answer twice",
        ],
    );
    assert_eq!(summary.text(), "twice");
    assert_eq!(summary.said(), ["the task", "more"]);
    assert_eq!(summary.kept().len(), 1);
}

#[test]
fn a_task_that_is_longer_than_its_share_is_cut_and_says_so() {
    let task = format!("input {}", "y".repeat(10_000));
    let summary =
        after_a_summary("mode=bypass", Summaries::default(), &[&task, "answer done", "compact", "answer short"]);
    let [said] = summary.said() else { panic!("{summary:?}") };
    assert!(said.starts_with("yyyy") && said.ends_with(" bytes left out]"), "{said}");
    assert!(said.len() < 2_000, "{}", said.len());
}

/// Each answer fills the window again. The turn goes on, and no more than the limit are made.
#[test]
fn a_turn_makes_no_more_summaries_than_its_limit() {
    let mut script = Script::default();
    script.play(&["config mode=bypass window=1000 summaries=2", "input go"]);
    let mut made = 0;
    for _ in 0..8 {
        let round = ["answer calls read{}", "prepared", "tool 1 ok long=2500"];
        let actions = script.play(&round);
        if script.session.state() == State::Compacting {
            made += 1;
            script.play(&["answer \"in short\""]);
        }
        assert!(!actions.is_empty());
    }
    assert_eq!((made, script.session.state()), (2, State::SendingToolResults));
    // A message of the user begins a new turn, and the count with it.
    script.play(&["answer done", "input more"]);
    assert_eq!(script.session.state(), State::Compacting);
}

/// Summaries of no use cost money: after three in a row the turn makes no more, and is not ended by them.
#[test]
fn after_three_failures_in_a_row_a_turn_makes_no_more_summaries() {
    let mut script = Script::default();
    script.play(&["config mode=bypass window=1000", "input go"]);
    let mut failed = 0;
    for _ in 0..8 {
        script.play(&["answer calls read{}", "prepared", "tool 1 ok long=2500"]);
        if script.session.state() == State::Compacting {
            failed += 1;
            let actions = script.play(&["answer"]);
            assert!(
                matches!(&actions[0], Action::DisplayError { message, .. } if message.contains("is empty")),
                "{actions:?}"
            );
        }
        assert_eq!(script.session.state(), State::SendingToolResults);
    }
    assert_eq!(failed, 3);
    script.play(&["answer done"]);
    assert_eq!(script.session.outcome().map(|outcome| outcome.kind), Some(OutcomeKind::Success));
}

#[test]
fn what_a_summary_changed_and_cost_is_told() {
    let mut script = Script::default();
    script.play(&["config price=1000", "input go", "answer long=2000"]);
    script.play(&["compact"]);
    let actions = script.play(&["answer short usage=300,10"]);
    let Action::DisplaySummary { summarised } = &actions[0] else { panic!("{actions:?}") };
    assert!(summarised.before_tokens > 2_000 && summarised.after_tokens < 100, "{summarised:?}");
    assert_eq!((summarised.cost_nano_usd, summarised.is_requested, summarised.in_turn), (Some(310_000), true, 0));
}

proptest! {
    /// Whatever was said and kept, a summary that is taken saves a fifth, and what it keeps stands in the conversation word for word.
    #[test]
    fn whatever_was_said_a_summary_shortens_it(
        sizes in prop::collection::vec((1_usize..4_000, 0_usize..4_000, 0_u8..3), 1..12),
        summary in 1_usize..3_000,
        kept_permille in 0_u16..=1_000,
    ) {
        let mut script = Script::default();
        reconfigure(&mut script, "mode=bypass", Summaries { kept_permille, ..kept_results() });
        let mut texts = Vec::new();
        for (number, (said, result, tool)) in sizes.into_iter().enumerate() {
            let (said, result) = (format!("{number}{}", "s".repeat(said)), format!("{number}{}", "r".repeat(result)));
            let tool = ["todo", "skill", "read"][usize::from(tool)];
            let (input, call) = (format!("input {said}"), format!("answer calls {tool}{{}}"));
            script.play(&[&input, &call, "prepared 1=read", &format!("tool 1 ok {result}"), "answer done"]);
            texts.extend([said, result]);
        }
        let before = script.session.conversation().bytes();
        script.play(&["compact", &format!("answer {}", "w".repeat(summary))]);
        if let Some(Item::Summary(summary)) = script.session.conversation().iter().next().map(AsRef::as_ref) {
            prop_assert!(script.session.conversation().bytes() * 5 <= before * 4);
            let kept = summary.said().iter().map(String::as_str).chain(summary.kept().iter().map(|kept| kept.content()));
            for text in kept {
                let whole = text.split("\n[").next().unwrap_or_default();
                prop_assert!(texts.iter().any(|told| told.starts_with(whole)), "{text}");
            }
        } else {
            prop_assert_eq!(script.session.conversation().bytes(), before);
        }
    }
}
