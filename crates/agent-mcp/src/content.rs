//! What a call came to, as the model reads it: text without what cannot be seen, cut in the middle where it is long, and pictures.

use crate::text::plain;
use agent_core::picture::{Digest, Head, Picture, look};
use agent_core::ports::PictureKeeper;
use agent_core::tool::ToolOutcome;
use base64::Engine as _;
use serde_json::Value;

/// How much of a result the model reads, in bytes; of more, the beginning and the end.
pub const RESULT_LIMIT_BYTES: usize = 20 * 1024;

/// Keeps whole results where the model can read them.
pub trait ResultKeeper: Send + Sync {
    /// Keeps a result, and gives the path by which the model reads it.
    ///
    /// # Errors
    /// Why it cannot be kept, in words.
    fn keep(&self, server: &str, text: &str) -> Result<String, String>;
}

/// What a server answered to a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) is_error: bool,
    pub(crate) parts: Vec<Part>,
    pub(crate) structured: Option<Value>,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Picture {
        /// In base64.
        data: String,
        media_type: String,
    },
    /// What cannot be shown to the model, in words.
    Other(String),
}

impl Answer {
    pub(crate) fn failed(why: String) -> Self {
        Self { is_error: true, parts: vec![Part::Text(why)], structured: None }
    }

    /// All of it as one text.
    pub(crate) fn text(&self) -> String {
        let told = |part: &Part| match part {
            Part::Text(text) => plain(text),
            Part::Other(told) => format!("[{}]", plain(told)),
            Part::Picture { media_type, .. } => format!("[a picture ({}), which is not shown]", plain(media_type)),
        };
        self.parts.iter().map(told).collect::<Vec<_>>().join("\n\n")
    }

    /// The outcome for the model.
    pub(crate) fn outcome(
        self,
        server: &str,
        pictures: Option<&dyn PictureKeeper>,
        results: &dyn ResultKeeper,
    ) -> ToolOutcome {
        let (mut texts, mut seen) = (Vec::new(), Vec::new());
        for part in self.parts {
            match part {
                Part::Text(text) => texts.push(plain(&text)),
                Part::Other(told) => texts.push(format!("[{}]", plain(&told))),
                Part::Picture { data, media_type } => match picture(server, &data, pictures, seen.len()) {
                    Ok(picture) => seen.push(picture),
                    Err(why) => texts.push(format!("[a picture ({}) is not shown: {why}]", plain(&media_type))),
                },
            }
        }
        // What is structured is repeated as text by most servers, and then as JSON.
        let is_told = |structured: &Value| {
            texts.iter().any(|text| serde_json::from_str(text).is_ok_and(|told: Value| told == *structured))
        };
        if let Some(structured) = self.structured.filter(|structured| !is_told(structured)) {
            texts.push(plain(&structured.to_string()));
        }
        let text = texts.join("\n");
        let text = if text.trim().is_empty() && seen.is_empty() { "(no output)".to_owned() } else { text };
        let text = if text.len() > RESULT_LIMIT_BYTES { cut(server, &text, results) } else { text };
        let outcome = if self.is_error { ToolOutcome::failed(text) } else { ToolOutcome::ok(text) };
        outcome.with_pictures(seen)
    }
}

/// The beginning and the end, and where the whole is.
fn cut(server: &str, text: &str, results: &dyn ResultKeeper) -> String {
    let half = RESULT_LIMIT_BYTES / 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    let left_out = tail - head;
    let place = match results.keep(server, text) {
        Ok(path) => format!("the whole result is in {path}"),
        Err(why) => format!("the whole result is not kept: {why}"),
    };
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{head}\n[… {left_out} bytes are left out; {place} …]\n{tail}")
}

fn picture(server: &str, data: &str, keeper: Option<&dyn PictureKeeper>, before: usize) -> Result<Picture, String> {
    let keeper = keeper.ok_or("pictures are not kept here")?;
    if before >= Picture::MAX_IN_MESSAGE {
        return Err(format!("more than {} are too many", Picture::MAX_IN_MESSAGE));
    }
    if data.len() as u64 / 4 * 3 > Picture::MAX_BYTES {
        return Err(format!("it has more than {} bytes", Picture::MAX_BYTES));
    }
    let bytes =
        base64::engine::general_purpose::STANDARD.decode(data.trim()).map_err(|_| "it is no base64".to_owned())?;
    let Head { kind, width, height, .. } = look(&bytes).map_err(|fault| fault.to_string())?;
    let digest: Digest = keeper.keep(&bytes).map_err(|error| error.to_string())?;
    Ok(Picture { digest, kind, bytes: bytes.len() as u64, width, height, name: format!("from {server}").into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::tool::ToolStatus;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>, bool);

    impl ResultKeeper for Kept {
        fn keep(&self, server: &str, text: &str) -> Result<String, String> {
            if self.1 {
                return Err("the disk is full".into());
            }
            self.0.lock().unwrap().push(text.to_owned());
            Ok(format!("{server}.txt"))
        }
    }

    fn text(text: &str) -> Answer {
        Answer { is_error: false, parts: vec![Part::Text(text.into())], structured: None }
    }

    #[test]
    fn long_results_are_cut_in_the_middle_between_letters_and_kept_whole() {
        let long = format!("begin{}end", "ö".repeat(30_000));
        for (is_full, said) in [(false, "the whole result is in s.txt"), (true, "is not kept: the disk is full")] {
            let kept = Kept(Mutex::default(), is_full);
            let outcome = text(&long).outcome("s", None, &kept);
            let content = outcome.content;
            assert!(content.len() < RESULT_LIMIT_BYTES + 200, "{}", content.len());
            assert!(content.starts_with("begin") && content.ends_with("end") && content.contains(said), "{said}");
            assert_eq!(kept.0.into_inner().unwrap(), if is_full { vec![] } else { vec![long.clone()] });
        }
        let short = "x".repeat(RESULT_LIMIT_BYTES);
        assert_eq!(text(&short).outcome("s", None, &Kept::default()).content, short);
    }

    #[test]
    fn structured_output_is_told_once_and_nothing_is_told_as_nothing() {
        let both = Answer { structured: Some(serde_json::json!({"a": 1})), ..text("{ \"a\": 1 }") };
        assert_eq!(both.outcome("s", None, &Kept::default()).content, "{ \"a\": 1 }");
        let alone = Answer { is_error: true, parts: vec![], structured: Some(serde_json::json!({"a": 1})) };
        let outcome = alone.outcome("s", None, &Kept::default());
        assert_eq!((outcome.status, outcome.content.as_str()), (ToolStatus::Failed, "{\"a\":1}"));
        assert_eq!(text("").outcome("s", None, &Kept::default()).content, "(no output)");
    }

    #[test]
    fn what_is_no_picture_is_said() {
        let picture = |data: &str| Answer {
            is_error: false,
            parts: vec![Part::Picture { data: data.into(), media_type: "image/\u{1b}png".into() }],
            structured: None,
        };
        let content = picture("AAAA").outcome("s", None, &Kept::default()).content;
        assert!(content.contains("pictures are not kept here") && !content.contains('\u{1b}'), "{content}");
    }
}
