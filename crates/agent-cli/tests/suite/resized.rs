//! A terminal that is resized while an answer comes: nothing of what was shown is written over. tmux is the terminal, because it lays out
//! anew what it shows; without it these tests say that they did nothing.

use crate::support::{HANG, Model, Scratch, Wire};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use std::process::Command;
use std::time::{Duration, Instant};

/// A window of tmux, which ends with this.
struct Window<'a> {
    scratch: &'a Scratch,
}

impl<'a> Window<'a> {
    /// Runs a line of the shell in a window of this size, or nothing where there is no tmux.
    #[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
    fn open(scratch: &'a Scratch, line: &str, (columns, rows): (u16, u16)) -> Option<Self> {
        if !Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: tmux is not there, so there is no terminal that lays out anew what it shows");
            return None;
        }
        let window = Self { scratch };
        std::fs::write(scratch.path("tmux.conf"), "set -g history-limit 100000\nset -g status off\n").unwrap();
        let size = [columns.to_string(), rows.to_string()];
        window.tmux(&["new-session", "-d", "-x", &size[0], "-y", &size[1], line]);
        Some(window)
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = self.scratch.command("tmux");
        command.env("SHELL", "/bin/sh").env("LC_ALL", "C.UTF-8").env("TERM", "xterm-256color");
        command.arg("-S").arg(self.scratch.path("tmux")).arg("-f").arg(self.scratch.path("tmux.conf"));
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn resize(&self, (columns, rows): (u16, u16)) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// All that it shows and has shown, rows that it broke joined.
    fn all(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// Whether this is shown. A row may end anywhere within it: where the terminal was resized, the program begins a new one.
    fn shows(&self, words: &str) -> bool {
        self.all().split_whitespace().collect::<String>().contains(&words.split_whitespace().collect::<String>())
    }

    #[track_caller]
    fn wait_for(&self, words: &str) {
        let since = Instant::now();
        while !self.shows(words) {
            assert!(since.elapsed() < HANG, "`{words}` never came: {}", self.all());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let _ = self.scratch.command("tmux").arg("-S").arg(self.scratch.path("tmux")).arg("kill-server").output();
    }
}

/// Words of which each is there once: paragraphs, a list, letters of two columns, marks and code.
fn text(words: usize) -> (String, Vec<String>) {
    let (mut text, mut all) = (String::new(), Vec::new());
    for number in 0..words {
        let word = match number % 97 {
            40..50 => format!("w{number}日本é"),
            _ => format!("w{number}x"),
        };
        text.push_str(&match number % 97 {
            0 => format!("\n\n{word}"),
            20 | 25 | 30 => format!("\n- {word}"),
            60..65 => format!(" **{word}**"),
            70..75 => format!(" `{word}`"),
            80 => format!("\n```\n{word}"),
            90 => format!(" {word}\n```\n"),
            _ => format!(" {word}"),
        });
        all.push(word);
    }
    (text + "\n\nThe end of it.", all)
}

/// Numbers that look random and are the same each time.
fn numbers(seed: u32) -> impl FnMut(u32) -> u32 {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    move |below| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    }
}

/// The words that are not there, or not behind the one before. Between letters of two columns a row may end.
fn lost<'a>(shown: &str, words: &'a [String]) -> Vec<&'a str> {
    let shown: String = shown.split_whitespace().collect();
    let mut rest = &*shown;
    let mut lost = Vec::new();
    for word in words {
        match rest.find(word.as_str()) {
            Some(at) => rest = &rest[at + word.len()..],
            None => lost.push(word.as_str()),
        }
    }
    lost
}

#[test]
fn no_word_is_lost_when_the_terminal_is_resized_while_text_streams() {
    for seed in 1..=3 {
        let scratch = Scratch::repository();
        let (text, words) = text(1_200);
        let reply = Reply::new().text(text).pieces_of(7).piece_delay(Duration::from_millis(4));
        let model = Model::script([Step::answer(reply)]);
        let program = env!("CARGO_BIN_EXE_agent");
        let line = format!("exec {program} {} --sandbox off", model.flags(Wire::Anthropic).join(" "));
        let Some(window) = Window::open(&scratch, &line, (140, 30)) else { return };
        window.wait_for("scripted-model · default");
        window.tmux(&["send-keys", "go", "Enter"]);
        model.wait_for_requests(1);
        // A draft that stands in the line meanwhile.
        window.tmux(&["send-keys", "-l", "and then"]);
        let mut number = numbers(seed);
        let since = Instant::now();
        while !window.shows("The end of it.") {
            assert!(since.elapsed() < HANG, "it never came to its end: {}", window.all());
            // The first one after a while is noticed before the next.
            if number(12) == 0 {
                std::thread::sleep(Duration::from_millis(1_300));
                window.resize((140, 30));
                std::thread::sleep(Duration::from_millis(150));
            }
            let columns = if number(3) == 0 { 140 } else { u16::try_from(20 + number(120)).unwrap() };
            window.resize((columns, u16::try_from(8 + number(32)).unwrap()));
            std::thread::sleep(Duration::from_millis(u64::from(number(120))));
        }
        window.resize((140, 30));
        window.wait_for("The end of it.");
        let all = window.all();
        assert_eq!(lost(&all, &words), [""; 0], "with seed {seed}: {all}");
    }
}
