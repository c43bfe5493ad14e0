//! Messages that were sent while the agent works: the rows at the bottom show those that wait, and each is written above them when it goes
//! out, so the screen has them where the model read them. What comes back stands in the line again.

use super::Screen;
use crate::screen::attached::typed;
use crate::screen::counted::counted;
use crate::screen::terminal::{clean, inline};
use agent_core::agent::Rejected;

/// What waits, and what was sent and is not written above the rows yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Oldest first.
    unsaid: Vec<Sent>,
    queued: Vec<String>,
    after_turn: Vec<String>,
}

/// A message of the person.
#[derive(Debug)]
struct Sent {
    /// Its number among what was sent to the session; none where another program sent it.
    number: u64,
    text: String,
    /// As it stays on the screen.
    shown: String,
}

impl Waiting {
    fn sent(&mut self, number: u64, text: &str, shown: String) {
        self.unsaid.push(Sent { number, text: clean(text).into_owned(), shown });
    }

    /// The session says what waits. What this program did not send waited before it was started.
    fn changed(&mut self, queued: &[String], after_turn: &[String]) {
        (self.queued, self.after_turn) = (queued.to_vec(), after_turn.to_vec());
        let mut known: Vec<&str> = self.unsaid.iter().map(|sent| sent.text.as_str()).collect();
        let unknown = self.all().filter(|text| match known.iter().position(|known| known == text) {
            Some(at) => (known.swap_remove(at), false).1,
            None => true,
        });
        let unknown = unknown.map(|text| Sent { number: 0, text: text.to_owned(), shown: format!("> {text}") });
        let unknown: Vec<Sent> = unknown.collect();
        self.unsaid.splice(0..0, unknown);
        self.order();
    }

    /// They go out in the order of the session, in which one for the end of the turn stands behind all others.
    fn order(&mut self) {
        let mut unsaid = std::mem::take(&mut self.unsaid);
        let take = |text: &str| unsaid.iter().position(|sent| sent.text == text).map(|at| unsaid.remove(at));
        let mut ordered: Vec<Sent> =
            self.queued.iter().chain(&self.after_turn).map(String::as_str).filter_map(take).collect();
        ordered.extend(unsaid);
        self.unsaid = ordered;
    }

    /// Whether any waits.
    pub(super) fn is_none(&self) -> bool {
        self.all().next().is_none()
    }

    /// How those look that have gone out, once so many were taken. Of those that are alike the oldest went first.
    fn gone(&mut self, taken: u64) -> Vec<String> {
        let mut waiting: Vec<String> = self.all().map(ToOwned::to_owned).collect();
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for sent in std::mem::take(&mut self.unsaid).into_iter().rev() {
            let place = waiting.iter().position(|text| *text == sent.text);
            // One that the session has not seen is not among those that wait.
            if sent.number > taken || place.map(|at| waiting.swap_remove(at)).is_some() {
                kept.push(sent);
            } else {
                gone.push(sent.shown);
            }
        }
        kept.reverse();
        gone.reverse();
        self.unsaid = kept;
        gone
    }

    /// These came back: they do not go out.
    fn returned(&mut self, texts: &[String]) {
        for text in texts {
            if let Some(at) = self.unsaid.iter().rposition(|sent| sent.text == *text) {
                self.unsaid.remove(at);
            }
        }
    }

    /// The one that the session did not take, once it has taken so many.
    fn refused(&mut self, taken: u64) -> Option<String> {
        let at = self.unsaid.iter().position(|sent| sent.number > taken)?;
        Some(self.unsaid.remove(at).text)
    }

    /// The one that would go out last.
    fn last(&self) -> Option<&str> {
        self.all().last()
    }

    /// In the order in which they go out.
    fn all(&self) -> impl Iterator<Item = &str> {
        self.queued.iter().chain(&self.after_turn).map(String::as_str)
    }

    /// How many wait, and the last of them, a row each. At rest, after a turn that failed, they wait for the next message.
    pub(super) fn rows(&self, can_be_taken_back: bool, is_at_rest: bool) -> Vec<String> {
        let (all, later) = (self.queued.len() + self.after_turn.len(), self.after_turn.len());
        if all == 0 {
            return Vec::new();
        }
        let after = match later {
            _ if is_at_rest => String::from(" for your next one"),
            0 => String::new(),
            _ if later == all => String::from(" until the end of this turn"),
            _ => format!(", {later} until the end of this turn"),
        };
        let back = match (can_be_taken_back, all) {
            (false, _) => "",
            (true, 1) => " · Up takes it back",
            (true, _) => " · Up takes the last back",
        };
        let queued = self.queued.iter().map(|text| ("  ", text));
        let texts = queued.chain(self.after_turn.iter().map(|text| ("  after this turn: ", text)));
        let texts = texts.skip(all.saturating_sub(MOST_SHOWN));
        let first = format!("{} waiting{after}{back}", counted(all as u64, "message"));
        std::iter::once(first).chain(texts.map(|(when, text)| format!("{when}{}", inline(typed(text))))).collect()
    }
}

impl Screen {
    /// Sends a message from the line editor while the agent works.
    pub(super) fn send_meanwhile(&mut self, text: &str, shown: String, is_for_later: bool) {
        self.last_interrupt = None;
        let Some(message) = self.attached(text) else { return };
        let text = message.text.clone();
        if is_for_later {
            self.handle.send_after_turn(message);
        } else {
            self.handle.input(message);
        }
        self.waiting.sent(self.handle.sent(), &text, shown);
    }

    /// Takes back the last message that waits. Returns whether one does.
    pub(super) fn take_back(&mut self) -> bool {
        let last = self.waiting.last();
        last.iter().for_each(|text| self.handle.withdraw(*text));
        last.is_some()
    }

    /// The session says what waits.
    pub(super) fn waits(&mut self, queued: &[String], after_turn: &[String]) {
        if self.desk.is_some() {
            self.waiting.changed(queued, after_turn);
            self.say_what_is_gone();
        }
    }

    /// What has gone out is written above the rows.
    pub(super) fn say_what_is_gone(&mut self) {
        for shown in self.waiting.gone(self.taken) {
            self.view.said(&shown);
        }
    }

    /// Messages came back. In the line editor they stand in the line again, before what was typed since.
    pub(super) fn came_back(&mut self, texts: &[String]) {
        self.waiting.returned(texts);
        // The files are read anew when it is sent again.
        let texts: &[String] = &texts.iter().map(|text| typed(text).to_owned()).collect::<Vec<_>>();
        let is_stopping = self.is_stopping();
        match &mut self.desk {
            Some(desk) if !texts.is_empty() => {
                desk.editor.give_back(texts);
                if is_stopping {
                    let messages = counted(texts.len() as u64, "message");
                    self.view.tell(&format!("not sent, and in the line again: {messages}"));
                }
            }
            _ => texts.iter().for_each(|text| self.view.tell(&format!("not sent: {text}"))),
        }
    }

    /// A message was not taken, or went out before it could be taken back.
    pub(super) fn message_refused(&mut self, rejected: &Rejected) {
        let reason = match rejected {
            Rejected::Session(rejected) => rejected.reason.to_string(),
            other => other.to_string(),
        };
        if rejected.event() == "InputWithdrawn" {
            return self.view.tell(&format!("not taken back: {reason}"));
        }
        self.view.tell(&format!("not sent: {reason}"));
        if let Some(text) = self.waiting.refused(self.taken) {
            self.came_back(&[text]);
        }
    }
}

/// More are counted.
const MOST_SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    fn sent(waiting: &mut Waiting, number: u64, text: &str) {
        waiting.sent(number, text, format!("> {text}"));
    }

    #[test]
    fn a_message_is_said_when_it_goes_out_and_not_before() {
        let mut waiting = Waiting::default();
        sent(&mut waiting, 5, "one");
        assert_eq!(waiting.gone(4), texts(&[]), "the session has not seen it");
        waiting.changed(&texts(&["one"]), &[]);
        sent(&mut waiting, 6, "two");
        sent(&mut waiting, 7, "one");
        waiting.changed(&texts(&["one", "two"]), &texts(&["one"]));
        assert_eq!(waiting.gone(7), texts(&[]));
        sent(&mut waiting, 8, "two");
        assert_eq!(waiting.gone(7), texts(&[]), "what looks the same and is newer was not seen yet");
        assert_eq!(waiting.unsaid.pop().map(|sent| sent.number), Some(8));
        waiting.changed(&[], &texts(&["one"]));
        assert_eq!(waiting.gone(7), texts(&["> one", "> two"]));
        assert_eq!(waiting.last(), Some("one"));
        waiting.changed(&[], &[]);
        assert_eq!(waiting.gone(7), texts(&["> one"]));
        // The session had come to rest meanwhile: it never waited.
        sent(&mut waiting, 8, "three");
        assert_eq!(waiting.gone(8), texts(&["> three"]));
    }

    #[test]
    fn what_comes_back_or_is_refused_is_not_said() {
        let mut waiting = Waiting::default();
        sent(&mut waiting, 1, "one");
        sent(&mut waiting, 2, "one");
        waiting.changed(&texts(&["one", "one"]), &[]);
        waiting.returned(&texts(&["one"]));
        waiting.changed(&texts(&["one"]), &[]);
        assert_eq!(waiting.gone(2), texts(&[]));
        sent(&mut waiting, 3, "three");
        assert_eq!(waiting.refused(2), Some(String::from("three")));
        assert_eq!(waiting.refused(2), None);
        waiting.changed(&[], &[]);
        assert_eq!(waiting.gone(3), texts(&["> one"]));
    }

    #[test]
    fn what_waited_before_this_program_was_started_is_said_too() {
        let mut waiting = Waiting::default();
        waiting.changed(&texts(&["old"]), &[]);
        sent(&mut waiting, 1, "new");
        waiting.changed(&texts(&["old", "new"]), &[]);
        waiting.changed(&[], &[]);
        assert_eq!(waiting.gone(1), texts(&["> old", "> new"]));
    }

    #[test]
    fn what_goes_out_is_said_in_the_order_of_the_session() {
        let mut waiting = Waiting::default();
        sent(&mut waiting, 1, "later");
        waiting.changed(&[], &texts(&["later"]));
        sent(&mut waiting, 2, "soon");
        waiting.changed(&texts(&["soon"]), &texts(&["later"]));
        sent(&mut waiting, 3, "at rest");
        waiting.changed(&[], &[]);
        assert_eq!(waiting.gone(3), texts(&["> soon", "> later", "> at rest"]));
    }

    #[test]
    fn the_rows_count_and_show_the_last() {
        let mut waiting = Waiting::default();
        assert_eq!(waiting.rows(true, false), texts(&[]));
        waiting.changed(&texts(&["a\nb"]), &[]);
        assert_eq!(waiting.rows(true, false), ["1 message waiting · Up takes it back", "  a\\nb"]);
        assert_eq!(waiting.rows(false, false)[0], "1 message waiting");
        assert_eq!(waiting.rows(true, true)[0], "1 message waiting for your next one · Up takes it back");
        waiting.changed(&[], &texts(&["later"]));
        assert_eq!(waiting.rows(true, false)[0], "1 message waiting until the end of this turn · Up takes it back");
        waiting.changed(&texts(&["1", "2", "3"]), &texts(&["later\x1b"]));
        assert_eq!(
            waiting.rows(true, false),
            [
                "4 messages waiting, 1 until the end of this turn · Up takes the last back",
                "  2",
                "  3",
                "  after this turn: later\\u{1b}"
            ]
        );
    }
}
