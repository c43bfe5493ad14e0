//! The rows at the bottom on a terminal of its own: what it shows in the end, and what that costs.

use super::*;
use proptest::prelude::*;

/// A terminal, and what of an update it has not been sent yet.
struct Screen {
    live: Live,
    terminal: vt100::Parser,
    size: (usize, usize),
    /// The end of the update before, and whether it draws all.
    waiting: (String, bool),
    sent_bytes: usize,
}

impl Screen {
    fn new(columns: usize, rows: usize) -> Self {
        let terminal = vt100::Parser::new(u16::try_from(rows).unwrap(), u16::try_from(columns).unwrap(), 10_000);
        let size = (columns, rows);
        Self { live: Live::default(), terminal, size, waiting: Default::default(), sent_bytes: 0 }
    }

    fn send(&mut self, bytes: &str) {
        self.sent_bytes += bytes.len();
        // As the terminal's driver does it.
        self.terminal.process(bytes.replace('\n', "\r\n").replace("\r\r\n", "\r\n").as_bytes());
    }

    /// As the queue does it: what still waits is taken back if it is of the same kind.
    fn update(&mut self, update: &Update, is_late: bool) {
        let (waiting, is_whole) = std::mem::take(&mut self.waiting);
        if !(is_late && !waiting.is_empty() && is_whole == update.is_whole) {
            self.send(&waiting);
            self.send(&update.before);
        }
        self.send(&update.text);
        self.waiting = (update.after.clone(), update.is_whole);
    }

    fn write(&mut self, text: &str, is_late: bool) {
        let update = self.live.around(text, self.size);
        self.update(&update, is_late);
    }

    fn show(&mut self, region: Region, is_late: bool) {
        if let Some(patch) = self.live.patch(&region, self.size) {
            self.live.region = region;
            let waiting = std::mem::take(&mut self.waiting).0;
            self.send(&waiting);
            return self.send(&patch);
        }
        let update = self.live.drawn(region, self.size);
        self.update(&update, is_late);
    }

    /// All that it has shown, without blanks at the ends of rows and without empty rows at the end.
    fn all(&mut self) -> Vec<String> {
        let waiting = std::mem::take(&mut self.waiting).0;
        self.send(&waiting);
        shown(&mut self.terminal, self.size.0)
    }
}

fn shown(terminal: &mut vt100::Parser, columns: usize) -> Vec<String> {
    let columns = u16::try_from(columns).unwrap();
    let mut rows = Vec::new();
    terminal.screen_mut().set_scrollback(usize::MAX);
    let above = terminal.screen().scrollback();
    for offset in (1..=above).rev() {
        terminal.screen_mut().set_scrollback(offset);
        rows.extend(terminal.screen().rows(0, columns).next());
    }
    terminal.screen_mut().set_scrollback(0);
    rows.extend(terminal.screen().rows(0, columns));
    rows.iter_mut().for_each(|row| row.truncate(row.trim_end().len()));
    rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |at| at + 1));
    rows
}

fn region(rows: &[&str], below: &[&str], cursor: (usize, usize)) -> Region {
    let owned = |rows: &[&str]| rows.iter().map(|&row| row.to_owned()).collect();
    Region { rows: owned(rows), cursor, below: owned(below), marked: None }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z ]{1,9}",
        2 => "[a-z]{0,5}\n[a-z]{0,5}",
        1 => "[a-z]{20}",
        1 => "[a-z]{0,3}\n{1,3}",
        1 => "([a-z]{1,12}\n){1,12}",
        1 => "[a-z日é]{1,8}",
    ]
}

/// It is written with the next text, which is plain itself.
#[test]
fn a_wide_letter_that_fills_its_row_takes_its_own_columns() {
    let mut screen = Screen::new(13, 5);
    let regions = ["a work 9", "b work 9"].map(|state| region(&["> one"], &[state], (0, 5)));
    screen.show(regions[0].clone(), false);
    for text in ["\n", "aaaa a ", "日aé日"] {
        screen.write(text, false);
        screen.show(regions[0].clone(), false);
    }
    for text in ["\n", "a"] {
        screen.write(text, false);
        screen.show(regions[1].clone(), false);
    }
    assert_eq!(screen.all(), ["", "aaaa a 日aé日", "a", "> one", "b work 9"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    /// However a text is cut, whatever is drawn between, and whether the terminal keeps up: above the rows stands the text, as if it had
    /// been written alone, and the rows below it.
    #[test]
    fn the_text_stands_above_the_rows(
        steps in prop::collection::vec((any_text(), 0..9_u8, any::<bool>()), 1..60),
        columns in 10_usize..30,
        rows in 5_usize..12,
    ) {
        let (input, state) = (["> one", "  two"], "a work 9");
        let regions = [
            region(&["> one"], &[state], (0, 5)),
            region(&input, &[state], (1, 3)),
            region(&input, &[], (0, 2)),
            region(&["> one"], &["b work 9"], (0, 5)),
            region(&input, &["a work 8"], (1, 3)),
            region(&["> one"], &["⠼ word 9"], (0, 5)),
        ];
        let mut screen = Screen::new(columns, rows);
        let mut plain = Screen::new(columns, rows);
        let mut last = 0;
        screen.show(regions[0].clone(), false);
        for (text, then, is_late) in &steps {
            screen.write(text, *is_late);
            if let Some(region) = regions.get(usize::from(*then)) {
                screen.show(region.clone(), *is_late);
                last = usize::from(*then);
            }
        }
        let text: String = steps.iter().map(|(text, ..)| text.as_str()).collect();
        // A letter that fills its row is written with the next text.
        plain.send(text.strip_suffix(&screen.live.held).unwrap());
        let expected = plain.all();
        let all = screen.all();
        let below: Vec<String> = regions[last].rows.iter().chain(&regions[last].below).cloned().collect();
        prop_assert!(all.ends_with(&below), "{text:?}: {all:?}");
        let above = &all[..all.len() - below.len()];
        let end = above.iter().rposition(|row| !row.is_empty()).map_or(0, |at| at + 1);
        prop_assert_eq!(&above[..end], expected, "{:?}", text);
        let cursor = screen.terminal.screen().cursor_position();
        prop_assert_eq!(usize::from(cursor.1), regions[last].cursor.1);
    }
}

/// What streams at a thousand tokens a second comes in some twelve tokens a write.
#[test]
fn text_that_streams_costs_little_more_than_its_own_bytes() {
    let text: String =
        (0..2_000).map(|number| format!("word{number}{}", if number % 12 == 11 { "\n" } else { " " })).collect();
    let mut screen = Screen::new(80, 24);
    screen.show(
        region(&["> and this"], &["working 3 s · Esc stops · 1500 tokens · 0.0123 USD · model · default"], (0, 10)),
        false,
    );
    for piece in text.as_bytes().chunks(48) {
        screen.write(str::from_utf8(piece).unwrap(), false);
    }
    screen.all();
    assert!(screen.sent_bytes <= 2 * text.len(), "{} bytes for {}", screen.sent_bytes, text.len());
}

/// A minute of waiting, four places of the spinner a second.
#[test]
fn a_spinner_and_a_clock_cost_a_few_bytes_each_time() {
    let mut screen = Screen::new(80, 24);
    let state = |frame: usize| {
        let spinner = ['⠋', '⠙', '⠹'][frame % 3];
        format!("{spinner} working {} s · Esc stops · 1500 tokens · model · default", frame / 4)
    };
    screen.show(region(&["> and this"], &[&state(0)], (0, 10)), false);
    let drawn = screen.sent_bytes;
    for frame in 1..240 {
        screen.show(region(&["> and this"], &[&state(frame)], (0, 10)), false);
        let waiting = std::mem::take(&mut screen.waiting).0;
        screen.send(&waiting);
        let cursor = screen.terminal.screen().cursor_position();
        assert_eq!(cursor, (0, 10));
    }
    assert_eq!(screen.all(), ["> and this", &state(239)]);
    assert!(screen.sent_bytes - drawn <= 240 * 40, "{} bytes", screen.sent_bytes - drawn);
}
