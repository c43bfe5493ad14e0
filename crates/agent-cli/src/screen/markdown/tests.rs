//! Answers in pieces of any size: what becomes of their marks, where rows end, and what is kept.

use super::*;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

#[test]
fn where_no_look_can_be_shown_the_marks_within_a_line_stay() {
    let mut markdown = Markdown::new(Marks::Stay);
    let mut spans =
        markdown.push("# A `b`\n\n**c** and `2*3`, [d](http://e)\n\n| f | g |\n|---|---|\n| `h` | *i* |\n", 60);
    spans.extend(markdown.end());
    let text: String = spans.into_iter().map(|span| span.text).collect();
    for kept in ["A `b`", "**c** and `2*3`, [d](http://e)", "`h`", "*i*"] {
        assert!(text.contains(kept), "{text}");
    }
}

/// What is written of an answer that comes in pieces of so many letters: marks of looks are shown as `<b:…>`.
fn shown(text: &str, columns: usize, piece: usize) -> String {
    let mut markdown = Markdown::new(Marks::Looks);
    let letters: Vec<char> = text.chars().collect();
    let mut spans = Vec::new();
    for piece in letters.chunks(piece) {
        spans.extend(markdown.push(&piece.iter().collect::<String>(), columns));
    }
    spans.extend(markdown.end());
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut().filter(|last| last.look == span.look) {
            Some(last) => last.text.push_str(&span.text),
            None => joined.push(span),
        }
    }
    let marked = |span: &Span| match span.look {
        Look::Plain => span.text.clone(),
        look => format!("<{}:{}>", format!("{look:?}").to_lowercase(), span.text),
    };
    joined.iter().map(marked).collect()
}

fn plain(text: &str, columns: usize, piece: usize) -> String {
    let mut markdown = Markdown::new(Marks::Looks);
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(piece);
    let mut out: String = pieces
        .flat_map(|piece| markdown.push(&piece.iter().collect::<String>(), columns))
        .map(|span| span.text)
        .collect();
    out.extend(markdown.end().into_iter().map(|span| span.text));
    out
}

#[test]
fn marks_become_looks() {
    for (text, expected) in [
        ("a **b c** d", "a <bold:b c> d\n"),
        ("a *b* and _c_ d", "a <italic:b> and <italic:c> d\n"),
        ("run `a  *b*` now", "run <code:a *b*> now\n"),
        ("see [the docs](https://x.org/y)", "see <link:the docs> (<dim:https://x.org/y>)\n"),
        ("# Title `x`", "<bold:# Title> <code:x>\n"),
        ("- one\n- two", "<dim:- >one\n<dim:- >two\n"),
        ("1. one", "<dim:1. >one\n"),
        ("> said", "<dim:> ><italic:said>\n"),
        ("```rust\nlet *a* = 1;\n\n```\nb", "<dim:```rust>\n<code:let *a* = 1;>\n\n<dim:```>\nb\n"),
        ("---", &format!("<dim:{}>\n", "─".repeat(40))),
        ("**bold `code` in**", "<bold:bold> <code:code> <bold:in>\n"),
    ] {
        for piece in [1, 3, 1_000] {
            assert_eq!(shown(text, 80, piece), expected, "{text:?} in pieces of {piece}");
        }
    }
}

#[test]
fn what_is_no_mark_stays_as_it_is() {
    for text in [
        "2 ** 3 * 4",
        "snake_case_name",
        "a * b",
        "**never closed",
        "`never closed",
        "[not] a link",
        "[a](b c)",
        "x[1](2",
        "#hashtag",
        "a__b__c",
        "-x",
        "\\d+ \\[a\\]",
        "1.5 is more",
        "<div>",
        "a ~~ b",
    ] {
        for piece in [1, 1_000] {
            let expected = text.replace("\\[", "[").replace("\\]", "]");
            assert_eq!(shown(text, 80, piece), format!("{expected}\n"), "in pieces of {piece}");
        }
    }
}

#[test]
fn rows_end_at_words_and_lists_hang() {
    assert_eq!(plain("one two three four", 11, 2), "one two\nthree four\n");
    assert_eq!(plain("- one two three", 12, 1), "- one two\n  three\n");
    assert_eq!(plain("> one two three", 12, 1), "> one two\n> three\n");
    assert_eq!(plain("修正してください", 11, 1), "修正してく\nださい\n");
    let address = "https://example.org/".repeat(4);
    let rows = plain(&address, 30, 7);
    assert!(rows.lines().all(|row| row.len() < 30), "{rows}");
    assert_eq!(rows.replace('\n', ""), address);
}

#[test]
fn a_table_stands_side_by_side_or_as_entries() {
    let table = "| a | long name |\n|---|:--|\n| `x|y` | 1 |\n\nend";
    assert_eq!(plain(table, 80, 5), "a   │ long name\n────┼──────────\nx|y │ 1\n\nend\n");
    let numbers = "| n | right | middle |\n|:--|--:|:-:|\n| a | 1 | x |\n| b | 1,000 | y |\n\nend";
    let shown = "n │ right │ middle\n──┼───────┼───────\na │     1 │   x\nb │ 1,000 │   y\n\nend\n";
    assert_eq!(plain(numbers, 80, 5), shown);
    assert_eq!(plain(table, 12, 5), "a: x|y\nlong name:\n1\n\nend\n");
    let table = "| name | what it does |\n|---|---|\n| a | reads the whole file |\n| b | writes |";
    assert_eq!(
        plain(table, 16, 4),
        "name: a\nwhat it does:\nreads the whole\nfile\n───────────────\nname: b\nwhat it does:\nwrites\n"
    );
    assert_eq!(plain("| a |\n| b |", 80, 1), "| a |\n| b |\n", "without a divider it is none");
}

#[test]
fn a_line_that_only_begins_as_a_rule_is_text() {
    for (line, expected) in
        [("**** 修", "**** 修\n"), ("--- a", "--- a\n"), ("___ b ___", "___ b ___\n"), ("*** *x*", "*** x\n")]
    {
        for piece in [1, 100] {
            assert_eq!(plain(line, 30, piece), expected, "{line}");
        }
    }
    assert!(plain("*** \nx", 30, 1).starts_with('─'), "the control");
}

#[test]
fn text_is_not_held_back() {
    let mut markdown = Markdown::new(Marks::Looks);
    let text = |spans: Vec<Span>| spans.into_iter().map(|span| span.text).collect::<String>();
    assert_eq!(text(markdown.push("Hello, wor", 80)), "Hello,");
    assert_eq!(text(markdown.push("ld it", 80)), " world");
    assert!(markdown.is_in_row());
    // What is written in between cuts no word, and the line goes on as it began.
    assert_eq!(text(markdown.pause()), "");
    assert!(!markdown.is_in_row());
    assert_eq!(text(markdown.push("self\n> a quote th", 80)), "itself\n> a quote");
    assert_eq!(text(markdown.pause()), "");
    assert_eq!(text(markdown.push("at goes on\n", 80)), "> that goes on\n");
    assert_eq!(text(markdown.push("- a list th", 80)), "- a list");
    assert_eq!(text(markdown.pause()), "");
    assert_eq!(text(markdown.push("at goes", 80)), "  that");
    assert_eq!(text(markdown.end()), " goes\n");
    // A mark is waited for, and not for ever.
    assert_eq!(text(markdown.push("**x", 80)), "");
    let more = "y ".repeat(inline::LONGEST_MARKED);
    assert!(text(markdown.push(&more, 80)).len() > inline::LONGEST_MARKED);
}

#[test]
fn what_it_keeps_is_bounded() {
    for text in ["x", "**", "`", "[", "|", "```", "# ", "- ", " ", "\\", "修", "| a ", "a\u{202e}"] {
        for before in ["", "```\n", "| a |\n|---|\n", "|"] {
            let mut markdown = Markdown::new(Marks::Looks);
            let (mut out, mut most) = (0, 0);
            drop(markdown.push(before, 80));
            for _ in 0..3_000 {
                out += markdown.push(&text.repeat(10), 80).iter().map(|span| span.text.len()).sum::<usize>();
                most = most.max(markdown.rest.len());
            }
            assert!(most < 3_000, "{text:?} after {before:?}: {most} held");
            assert!(out > 0 || text == " ", "{text:?} after {before:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn however_it_comes_no_letter_is_lost_and_no_row_too_wide(
        text in "([a-c修]{1,6}|[ \n*_`\\[\\]()|>#-]|\\*\\*|```\n|\n- |\n> ){0,60}", columns in 12_usize..60, piece in 1_usize..9
    ) {
        let rows = plain(&text, columns, piece);
        prop_assert_eq!(&rows, &plain(&text, columns, 1_000), "in pieces of {}", piece);
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(letters(&rows), letters(&text));
        if !text.contains("```") && !text.contains('|') {
            prop_assert!(rows.lines().all(|row| row.width() < columns), "{:?}", rows);
        }
    }
}
