//! The editor without a terminal: keys as bytes would make them, and any keys at all.

use super::completion::Completions;
use super::editor::{Editor, Input, Wish};
use super::history::History;
use super::layout::laid_out;
use super::line::{Line, Move};
use proptest::prelude::*;
use termina::event::{KeyCode, KeyEvent, Modifiers};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

fn editor(history: &[&str]) -> Editor {
    let mut kept = History::default();
    history.iter().for_each(|entry| kept.add(entry));
    let mut editor = Editor::new(
        kept,
        Completions {
            commands: vec!["/compact".into(), "/help".into()],
            offers: Vec::new(),
            directory: "/nowhere".into(),
        },
    );
    editor.set_label("> ");
    editor
}

fn key(code: KeyCode, modifiers: Modifiers) -> Input {
    Input::Key(KeyEvent::new(code, modifiers))
}

/// `a` types it, `<left>` presses the key, `^a` is Ctrl-A, `!f` is Alt-F.
fn play(editor: &mut Editor, script: &str) -> Vec<String> {
    let mut sent = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let input = if let Some((name, after)) = named {
            rest = after;
            let code = match name {
                "left" => KeyCode::Left,
                "right" => KeyCode::Right,
                "up" => KeyCode::Up,
                "down" => KeyCode::Down,
                "home" => KeyCode::Home,
                "end" => KeyCode::End,
                "del" => KeyCode::Delete,
                "bs" => KeyCode::Backspace,
                "tab" => KeyCode::Tab,
                "esc" => KeyCode::Escape,
                "f1" => KeyCode::Function(1),
                "enter" | "alt-enter" => KeyCode::Enter,
                other => panic!("{other}"),
            };
            key(code, if name.starts_with("alt") { Modifiers::ALT } else { Modifiers::NONE })
        } else if let Some(after) = rest.strip_prefix(['^', '!']) {
            let letter = after.chars().next().unwrap();
            rest = &after[letter.len_utf8()..];
            key(KeyCode::Char(letter), if c == '^' { Modifiers::CONTROL } else { Modifiers::ALT })
        } else {
            rest = &rest[c.len_utf8()..];
            key(KeyCode::Char(c), Modifiers::NONE)
        };
        match editor.input(&input) {
            Wish::Send { text, .. } => {
                editor.remember(&text);
                sent.push(text);
            }
            Wish::SendLater => editor.begin_row(),
            _ => {}
        }
    }
    sent
}

#[test]
fn what_is_shown_is_what_is_sent() {
    for (script, expected) in [
        ("hello wrld<left><left><left>o", "hello world"),
        ("修正してください<bs><bs><bs><bs>", "修正して"),
        ("one two<home>^d<end>!b<del>wo<f1><up>", "ne wowo"),
        ("abc def^wx^ux^y", "xabc x"),
        ("one two!bX!f^a^ky^y", "yone Xtwo"),
        ("e\u{301}a\u{308}<bs>", "e\u{301}"),
        ("👩\u{200d}🚀<left>x<right><bs>", "x"),
        ("one\\<enter>two^jthree<alt-enter>", "one\ntwo\nthree\n"),
        ("abc^t", "acb"),
        ("abc def^w^_^_^_^_", ""),
        ("/co<tab>", "/compact "),
        ("say /co<tab>", "say /co"),
        ("a<esc>b", "ab"),
    ] {
        let mut editor = editor(&[]);
        assert_eq!(play(&mut editor, script), [] as [&str; 0], "{script}");
        assert_eq!(editor.line().text(), expected, "{script}");
        let (rows, _) = editor.rows(200, 50);
        let shown: Vec<&str> = expected.split('\n').collect();
        assert_eq!(rows.rows.iter().map(|row| &row[2..]).collect::<Vec<_>>(), shown, "{script}");
    }
}

#[test]
fn messages_that_came_back_stand_before_what_was_typed_since() {
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut editor = editor(&["entry"]);
    assert!(editor.is_blank());
    editor.give_back(&texts(&["one", "two"]));
    assert_eq!((editor.line().text().as_str(), editor.is_blank()), ("one\ntwo", false));
    editor.clear();
    play(&mut editor, "half");
    editor.begin_answer();
    assert!(!editor.is_blank(), "an answer is no message");
    play(&mut editor, "because");
    let long = "a\n".repeat(9);
    editor.give_back(&texts(&[&long]));
    assert_eq!(editor.line().text(), "because", "the answer is as it was");
    editor.end_answer();
    assert_eq!(editor.draft().text(), format!("{long}\nhalf"));
    assert_eq!(editor.rows(80, 9).0.rows, ["> [Pasted 9 lines]", "  half"]);
    assert_eq!(play(&mut editor, "^rent"), [] as [&str; 0]);
    editor.give_back(&texts(&["x"]));
    assert_eq!(editor.line().text(), "x\nentry", "a search has ended");
}

#[test]
fn letters_typed_over_a_new_question_belong_to_the_text_before() {
    let mut editor = editor(&[]);
    play(&mut editor, "run the");
    editor.begin_answer();
    " tests".chars().for_each(|letter| editor.type_on(letter));
    assert_eq!(editor.line().text(), "", "they are no answer");
    editor.end_answer();
    assert_eq!(editor.line().text(), "run the tests");
    editor.clear();
    editor.begin_answer();
    editor.type_on('y');
    editor.end_answer();
    assert_eq!(editor.line().text(), "", "an answer that came too early begins no message");
}

#[test]
fn what_was_sent_comes_back() {
    let mut editor = editor(&["first", "second\nrow"]);
    assert_eq!(play(&mut editor, "dra<up><up><up><up><down>"), [] as [&str; 0]);
    assert_eq!(editor.line().text(), "second\nrow");
    play(&mut editor, "<down><down>ft");
    assert_eq!(editor.line().text(), "draft");
    assert_eq!(play(&mut editor, "^rsec"), [] as [&str; 0]);
    assert_eq!(editor.rows(80, 9).0.rows[0], "(search `sec`) second");
    assert_eq!(play(&mut editor, "^g"), [] as [&str; 0]);
    assert_eq!(editor.line().text(), "draft");
    assert_eq!(play(&mut editor, "^r^rs^r<enter><up>"), ["first"]);
    assert_eq!(editor.line().text(), "first");
}

/// What was found before must not be sent in the place of what is looked for now.
#[test]
fn a_search_that_finds_nothing_says_so_and_sends_nothing() {
    let mut editor = editor(&["Run the tests", "seq 1 40000"]);
    assert_eq!(play(&mut editor, "draft^rseqQQQ"), [] as [&str; 0]);
    assert_eq!(editor.rows(80, 9).0.rows[0], "(no message has `seqQQQ`) ");
    assert_eq!(play(&mut editor, "<enter>"), [] as [&str; 0]);
    assert_eq!(editor.line().text(), "draft");
    assert_eq!(play(&mut editor, "<enter>"), ["draft"]);
    // Small letters find capitals, and not the other way round; what was taken back is found again.
    assert_eq!(play(&mut editor, "^rrun thex<bs>"), [] as [&str; 0]);
    assert_eq!(editor.line().text(), "Run the tests");
    assert_eq!(play(&mut editor, "<enter>"), ["Run the tests"]);
    play(&mut editor, "^rRUN");
    assert_eq!(editor.rows(80, 9).0.rows[0], "(no message has `RUN`) ");
    // No older one: the one that is shown stays.
    assert_eq!(play(&mut editor, "^g^rseq^r<enter>"), ["seq 1 40000"]);
}

#[test]
fn a_long_paste_takes_one_place_and_is_sent_whole() {
    let long: String = (1..=210).map(|number| format!("line {number}\r\n")).collect();
    let mut editor = editor(&[]);
    play(&mut editor, "see: ");
    assert_eq!(editor.input(&Input::Paste(long.clone())), Wish::None);
    assert_eq!(editor.rows(80, 9).0.rows, ["> see: [Pasted 210 lines]"]);
    let sent = play(&mut editor, " ok<enter>");
    assert_eq!(sent, [format!("see: {} ok", long.replace("\r\n", "\n"))]);
    // A short one is text, and what a terminal would act on is visible.
    assert_eq!(editor.input(&Input::Paste(String::from("a\tb\x1b[2J"))), Wish::None);
    assert_eq!(editor.rows(80, 9).0.rows, ["> a    b\\u{1b}[2J"]);
    let one = editor.input(&Input::Paste("x".repeat(5_000)));
    assert_eq!((one, play(&mut editor, "<enter>")[0].len()), (Wish::None, 5_007));
}

#[test]
fn a_question_has_a_line_of_its_own() {
    let mut editor = editor(&["rm -rf"]);
    play(&mut editor, "y and so on");
    editor.begin_answer();
    assert_eq!(editor.line().text(), "");
    assert_eq!(play(&mut editor, "<up>^rn<enter>"), ["n"]);
    editor.end_answer();
    assert_eq!(editor.line().text(), "y and so on");
}

#[test]
fn keys_that_ask_for_something_else() {
    let mut editor = editor(&[]);
    assert_eq!(editor.input(&key(KeyCode::Char('d'), Modifiers::CONTROL)), Wish::Leave);
    assert_eq!(editor.input(&key(KeyCode::Escape, Modifiers::NONE)), Wish::Stop);
    assert_eq!(editor.input(&key(KeyCode::Char('g'), Modifiers::CONTROL)), Wish::Write);
    play(&mut editor, "a");
    assert_eq!(editor.input(&key(KeyCode::Char('d'), Modifiers::CONTROL)), Wish::None);
}

/// What is typed joins as many letters behind it as it changes.
#[test]
fn a_letter_joins_all_that_it_changes_behind_it() {
    for (behind, typed, letters) in [
        ("\u{200d}👩", "\u{1f1ae}", vec!["\u{1f1ae}\u{200d}👩"]),
        (
            "\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7}",
            "\u{1f1fa}",
            vec!["\u{1f1fa}\u{1f1e9}", "\u{1f1ea}\u{1f1eb}", "\u{1f1f7}"],
        ),
    ] {
        let mut line = Line::default();
        line.set(behind);
        line.move_to(Move::Start);
        line.insert(typed);
        let mut shown = Vec::new();
        line.move_to(Move::Start);
        for _ in 0..line.cells().len() {
            line.move_to(Move::Right);
            shown.push(line.last_before().to_owned());
        }
        assert_eq!(shown, letters);
    }
}

fn any_input() -> impl Strategy<Value = Input> {
    let letters = prop_oneof![
        any::<char>(),
        prop::sample::select(vec![
            'a',
            ' ',
            '\u{301}',
            '\u{200d}',
            '👩',
            '🚀',
            '日',
            '\u{1f1e9}',
            '\u{1f1ea}',
            '\r',
            '\n',
            '\\',
            '/'
        ])
    ];
    let codes = prop::sample::select(vec![
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Delete,
        KeyCode::Backspace,
        KeyCode::Tab,
        KeyCode::Enter,
        KeyCode::Escape,
        KeyCode::Insert,
    ]);
    let modifiers = prop::sample::select(vec![
        Modifiers::NONE,
        Modifiers::NONE,
        Modifiers::CONTROL,
        Modifiers::ALT,
        Modifiers::SHIFT,
    ]);
    prop_oneof![
        4 => letters.prop_map(|c| key(KeyCode::Char(c), Modifiers::NONE)),
        2 => prop::char::range('a', 'z').prop_map(|c| key(KeyCode::Char(c), Modifiers::CONTROL)),
        1 => prop::char::range('a', 'z').prop_map(|c| key(KeyCode::Char(c), Modifiers::ALT)),
        4 => (codes, modifiers).prop_map(|(code, modifiers)| key(code, modifiers)),
        1 => "[a-z\n\u{301}日]{0,40}".prop_map(Input::Paste),
        1 => Just(Input::Paste("x\n".repeat(20))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    /// Whatever is pressed: the cursor stands between letters, no row is too wide, and the text is that of the cells.
    #[test]
    fn any_keys(inputs in prop::collection::vec(any_input(), 0..60), columns in 1_usize..60, height in 1_usize..8) {
        let mut editor = editor(&["one", "two\nrows", "日本"]);
        for input in &inputs {
            if let Wish::Send { text, .. } = editor.input(input) {
                editor.remember(&text);
            }
            let (rows, _) = editor.rows(columns, height);
            prop_assert!(rows.rows.len() <= height && rows.cursor.0 < rows.rows.len() && rows.cursor.1 < columns);
            for row in &rows.rows {
                prop_assert!(row.width() <= columns, "{row:?} in {columns}");
            }
            let (before, text) = (editor.line().before(), editor.line().text());
            prop_assert!(text.starts_with(&before) && editor.line().cursor() <= editor.line().cells().len());
            let is_boundary = text.grapheme_indices(true).any(|(at, _)| at == before.len()) || before.len() == text.len();
            let has_paste = editor.line().cells().iter().any(|cell| cell.shown().starts_with("[Pasted"));
            prop_assert!(is_boundary || has_paste, "{before:?} of {text:?}");
        }
    }

    /// Every change can be taken back, up to the first.
    #[test]
    fn undo_returns(start in "[a-z 日\u{301}]{0,10}", changes in prop::collection::vec((0_u8..8, "[a-z日\u{301}\n]{1,3}"), 0..50)) {
        let mut line = Line::default();
        line.set(&start);
        let first = line.text();
        let mut steps = Vec::new();
        for (what, text) in changes {
            steps.push(line.text());
            match what {
                0 | 1 => line.insert(&text),
                2 => line.delete(Move::Left),
                3 => line.kill(Move::WordLeft),
                4 => line.move_to(Move::WordLeft),
                5 => line.yank(),
                6 => line.transpose(),
                _ => line.paste(&text),
            }
        }
        while line.text() != first || !steps.is_empty() {
            let now = line.text();
            while steps.last().is_some_and(|step| *step == now) {
                steps.pop();
            }
            if steps.is_empty() && now == first {
                break;
            }
            prop_assert!(line.undo(), "stuck at {now:?}");
            if let Some(at) = steps.iter().rposition(|step| *step == line.text()) {
                steps.truncate(at + 1);
            }
        }
        prop_assert_eq!(line.text(), first);
    }

    /// The cursor of each place is where the text before it ends.
    #[test]
    fn rows_hold_the_whole_text(text in "[a-z日 ]{0,80}", columns in 10_usize..40) {
        let mut line = Line::default();
        line.set(&text);
        let rows = laid_out("> ", &line, columns);
        let joined: String = rows.rows.iter().map(|row| &row[2..]).collect();
        prop_assert_eq!(joined, text);
        prop_assert_eq!(rows.places.len(), line.cells().len() + 1);
        prop_assert!(rows.places.is_sorted());
    }
}

#[test]
fn keys_of_vi() {
    for (script, expected) in [
        ("one two<esc>xi.", "one t.w"),
        ("one two<esc>0dwi", "two"),
        ("one two three<esc>02dwi", "three"),
        ("one two<esc>bcwsix", "one six"),
        ("one two<esc>0ea.", "one. two"),
        ("one two<esc>0D", ""),
        ("one<esc>ddithree", "three"),
        ("one two<esc>0yw$p", "one twoone "),
        ("abc<esc>0rx", "xbc"),
        ("abc<esc>I((<esc>A)", "((abc)"),
        ("abc<esc>xxu", "ab"),
        ("one<esc>otwo<esc>Ozero", "one\nzero\ntwo"),
        ("a-b<esc>0wd$", "a"),
        ("修正 x<esc>0x", "正 x"),
        ("one<esc>0dl", "ne"),
        ("abc<esc>2h2x", "c"),
        ("ab<esc>Sx", "x"),
        ("one (two) three<esc>0f(dt)", "one ) three"),
        ("one (two) three<esc>0f(df)", "one  three"),
        ("a.b.c.d<esc>02f.D", "a.b"),
        ("a.b.c.d<esc>0f.;,rX", "aXb.c.d"),
        ("a.b.c.d<esc>0t.;;rX", "a.b.X.d"),
        ("a.b.c.d<esc>dF.", "a.b.cd"),
        ("a.b.c.d<esc>cT.x", "a.b.c.xd"),
        ("a.b<esc>0fzrX", "X.b"),
        ("a.b<esc>0df<esc>x", ".b"),
        ("one<esc>otwo<esc>0fndfo", "one\n"),
    ] {
        let mut editor = editor(&[]);
        editor.use_vi();
        drop(play(&mut editor, script));
        assert_eq!(editor.line().text(), expected, "{script}");
    }
    let mut vi = editor(&["before"]);
    vi.use_vi();
    assert_eq!(play(&mut vi, "x<esc>k<enter>y<enter>"), ["before", "y"], "a message begins in insert mode");
    assert!(matches!(vi.input(&key(KeyCode::Escape, Modifiers::NONE)), Wish::None));
    assert!(matches!(vi.input(&key(KeyCode::Escape, Modifiers::NONE)), Wish::Stop));
}

proptest! {
    #[test]
    fn no_keys_of_vi_are_too_many(script in "([a-zü修0-9$GDOIACSXPFT;,/ -]|<esc>|<enter>){0,40}") {
        let mut editor = editor(&["one\ntwo", "three"]);
        editor.use_vi();
        drop(play(&mut editor, &script));
        prop_assert!(editor.line().cursor() <= editor.line().cells().len());
    }
}
