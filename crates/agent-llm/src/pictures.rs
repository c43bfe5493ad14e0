//! The pictures of a request: which go with it, and their bytes while the body is written.
//!
//! ```text
//! conversation ──plan──▶ shown or named, one a picture ──load──▶ Gallery ──▶ base64, straight into the body
//! ```
//!
//! 1. What is kept of a history has holes where pictures go. Nothing keeps a picture's bytes from one request to the next.
//! 2. A picture that does not go is named in a text, with the reason: a session never fails because of one.
//! 3. Which old pictures are left out depends on the history alone and changes in leaps, so that a request mostly begins with the bytes of
//!    the one before.

use crate::known::KnownModel;
use crate::wire::push_json;
use agent_types::llm::LlmRequest;
use agent_types::picture::Picture;
use agent_types::ports::PictureKeeper;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::vec_deque::{Iter, VecDeque};
use std::sync::Arc;

/// Where a provider finds the bytes of pictures, and which models get them.
#[derive(Clone, Debug, Default)]
pub struct Pictures {
    /// Has the bytes. Without one, every picture is named instead of sent.
    pub keeper: Option<Arc<dyn PictureKeeper>>,
    /// Whether the server's models take pictures, where nothing is said of the model itself.
    pub taken: Option<bool>,
    /// Whether single models take pictures.
    pub taken_by: BTreeMap<String, bool>,
}

impl Pictures {
    /// Whether a model takes pictures: what was said of it, or of its server, or is known. Others are tried.
    #[must_use]
    pub fn are_taken_by(&self, model: &str) -> bool {
        let said = self.taken_by.get(model).copied().or(self.taken);
        said.unwrap_or_else(|| KnownModel::of(model).is_none_or(KnownModel::takes_pictures))
    }
}

/// The place of a picture in bytes that are kept: before the byte at this position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole(pub(crate) usize);

/// What becomes of one picture.
#[derive(Debug)]
enum Hung {
    Shown(Vec<u8>),
    Named(Cow<'static, str>),
}

/// The pictures of one request, in the order of the conversation.
#[derive(Debug, Default)]
pub(crate) struct Gallery {
    hung: VecDeque<(Picture, Hung)>,
}

impl Gallery {
    /// Decides about the pictures of a request, and reads those that go with it, off the async threads.
    pub(crate) async fn of(request: &LlmRequest, pictures: &Pictures) -> Self {
        let all = request.conversation.iter().flat_map(|item| item.pictures());
        let all: Vec<Picture> = all.cloned().collect();
        if all.is_empty() {
            return Self::default();
        }
        let takes = pictures.are_taken_by(&request.model);
        let keeper = pictures.keeper.clone();
        let load = move || Self::hang(all, takes, keeper.as_deref());
        // The runtime is going down: the request is not sent.
        tokio::task::spawn_blocking(load).await.unwrap_or_default()
    }

    fn hang(all: Vec<Picture>, takes: bool, keeper: Option<&dyn PictureKeeper>) -> Self {
        let plan = if takes { plan(&all) } else { vec![Some(NOT_TAKEN); all.len()] };
        let hang = |(picture, why): (Picture, Option<&'static str>)| {
            let hung = match (why, keeper) {
                (Some(why), _) => Hung::Named(why.into()),
                (None, None) => Hung::Named("its bytes are not at hand".into()),
                (None, Some(keeper)) => match keeper.bytes_of(&picture) {
                    Ok(bytes) => Hung::Shown(bytes),
                    // Where it was looked for is of no use to the model.
                    Err(error) => Hung::Named(format!("not sent: {}", error.found).into()),
                },
            };
            (picture, hung)
        };
        Self { hung: all.into_iter().zip(plan).map(hang).collect() }
    }

    /// The same without anything to send, as where no bytes are at hand.
    pub(crate) fn named(request: &LlmRequest) -> Self {
        let all = request.conversation.iter().flat_map(|item| item.pictures());
        Self::hang(all.cloned().collect(), true, None)
    }

    /// About how many bytes they are in the body.
    pub(crate) fn size(&self) -> usize {
        let size = |(_, hung): &(Picture, Hung)| match hung {
            Hung::Shown(bytes) => bytes.len().div_ceil(3) * 4 + AROUND_BYTES,
            Hung::Named(_) => AROUND_BYTES,
        };
        self.hung.iter().map(size).sum()
    }

    /// Goes through the pictures in the order of the conversation.
    pub(crate) fn painter(&self) -> Painter<'_> {
        Painter { left: self.hung.iter() }
    }
}

/// How a format writes pictures.
pub(crate) struct PictureShape {
    /// Before the media type.
    pub(crate) open: &'static [u8],
    /// Between media type and base64.
    pub(crate) between: &'static [u8],
    pub(crate) close: &'static [u8],
    /// The type of a part that is text.
    pub(crate) text: &'static str,
}

/// Writes pictures, each once, in order.
pub(crate) struct Painter<'a> {
    left: Iter<'a, (Picture, Hung)>,
}

impl Painter<'_> {
    /// Writes kept bytes, with pictures where they have holes.
    pub(crate) fn fill(&mut self, out: &mut Vec<u8>, kept: &[u8], holes: &[Hole], shape: &PictureShape) {
        let mut from = 0;
        for Hole(at) in holes {
            out.extend_from_slice(kept.get(from..*at).unwrap_or_default());
            self.paint(out, shape);
            from = *at;
        }
        out.extend_from_slice(kept.get(from..).unwrap_or_default());
    }

    /// Whether one of the next so many is shown.
    pub(crate) fn shows_any(&self, count: usize) -> bool {
        self.left.clone().take(count).any(|(_, hung)| matches!(hung, Hung::Shown(_)))
    }

    /// Writes the next one as a part of a list.
    fn paint(&mut self, out: &mut Vec<u8>, shape: &PictureShape) {
        match self.left.next() {
            Some((picture, Hung::Shown(bytes))) => {
                out.extend_from_slice(shape.open);
                out.extend_from_slice(picture.kind.media_type().as_bytes());
                out.extend_from_slice(shape.between);
                push_base64(out, bytes);
                out.extend_from_slice(shape.close);
            }
            next => {
                let text = named(next);
                out.extend_from_slice(b"{\"type\":\"");
                out.extend_from_slice(shape.text.as_bytes());
                out.extend_from_slice(b"\",\"text\":");
                push_text(out, &text);
                out.push(b'}');
            }
        }
    }

    /// The next one as a text alone.
    pub(crate) fn name(&mut self) -> String {
        named(self.left.next())
    }
}

fn named(next: Option<&(Picture, Hung)>) -> String {
    match next {
        Some((picture, Hung::Named(why))) => picture.named(why),
        Some((picture, Hung::Shown(_))) => picture.named("not sent"),
        None => String::from("[a picture; not sent]"),
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    // A string is always written.
    if push_json(out, text).is_err() {
        out.extend_from_slice(b"\"\"");
    }
}

/// Writes into the body itself.
fn push_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    let size = bytes.len().div_ceil(3) * 4;
    out.resize(start + size, b'A');
    // There is room for all of it.
    let written = out.get_mut(start..).and_then(|room| STANDARD.encode_slice(bytes, room).ok());
    out.truncate(start + written.unwrap_or_default());
}

/// For each picture why it does not go, if so. A request has room for so many pictures, and for so many bytes: when the newest does not
/// fit, as many of the oldest go as make half of the room free.
fn plan(all: &[Picture]) -> Vec<Option<&'static str>> {
    let encoded = |picture: &Picture| picture.bytes.div_ceil(3) * 4;
    let (mut first, mut bytes) = (0, 0_u64);
    for (at, picture) in all.iter().enumerate() {
        bytes = bytes.saturating_add(encoded(picture));
        if at - first < MOST && bytes <= MOST_BYTES {
            continue;
        }
        for older in all.get(first..at).unwrap_or_default() {
            if at - first < MOST / 2 && bytes <= MOST_BYTES / 2 {
                break;
            }
            bytes = bytes.saturating_sub(encoded(older));
            first += 1;
        }
    }
    let are_many = all.len() - first > MANY;
    let why = |(at, picture): (usize, &Picture)| {
        if at < first {
            return Some("left out: a request has no room for it any more");
        }
        let is_large = are_many && picture.width.max(picture.height) > SIDE_OF_MANY;
        is_large.then_some("left out: beside more than 20 pictures none may have more than 2000 pixels on a side")
    };
    all.iter().enumerate().map(why).collect()
}

const NOT_TAKEN: &str = "not sent: the model takes no pictures";
/// Pictures of a request: Anthropic's limit for its models with the smaller window. OpenAI takes more.
const MOST: usize = 100;
/// In base64: Anthropic takes requests of 32 MB, and there is text besides.
const MOST_BYTES: u64 = 24_000_000;
/// Anthropic: beside more than so many pictures, each may have only so many pixels on a side.
const MANY: usize = 20;
const SIDE_OF_MANY: u32 = 2_000;
const AROUND_BYTES: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_types::picture::{Digest, PictureKind};
    use proptest::prelude::*;

    fn picture(side: u32, bytes: u64) -> Picture {
        let digest = Digest::new([1; 32]);
        Picture { digest, kind: PictureKind::Png, bytes, width: side, height: 1, name: "a.png".into() }
    }

    fn shown(all: &[Picture]) -> usize {
        plan(all).iter().filter(|why| why.is_none()).count()
    }

    #[test]
    fn a_model_takes_pictures_by_what_was_said_then_by_what_is_known_and_else_is_tried() {
        let mut pictures = Pictures::default();
        let takes = |pictures: &Pictures, model| pictures.are_taken_by(model);
        assert!(takes(&pictures, "claude-sonnet-4-5") && takes(&pictures, "unheard-of"));
        assert!(!takes(&pictures, "o3-mini"));
        pictures.taken = Some(false);
        assert!(!takes(&pictures, "claude-sonnet-4-5") && !takes(&pictures, "unheard-of"));
        pictures.taken_by.insert(String::from("o3-mini"), true);
        assert!(takes(&pictures, "o3-mini"));
    }

    #[test]
    fn the_oldest_pictures_go_in_leaps() {
        let many = |count| vec![picture(1, 1); count];
        assert_eq!(shown(&many(100)), 100);
        assert_eq!(shown(&many(101)), 50);
        assert_eq!(shown(&many(151)), 100);
        let large = |count| vec![picture(1, 3_000_000); count];
        assert_eq!(shown(&large(6)), 6);
        assert_eq!(shown(&large(7)), 3);
    }

    #[test]
    fn beside_many_pictures_large_ones_are_left_out() {
        let mut all = vec![picture(2_001, 1); 20];
        assert_eq!(shown(&all), 20);
        all.push(picture(2_000, 1));
        assert_eq!(shown(&all), 1);
    }

    proptest! {
        #[test]
        fn a_plan_keeps_to_the_limits_and_shows_the_newest(
            sizes in prop::collection::vec((1u32..8_000, 1u64..Picture::MAX_BYTES), 1..250),
        ) {
            let all: Vec<_> = sizes.iter().map(|(side, bytes)| picture(*side, *bytes)).collect();
            let plan = plan(&all);
            let kept: Vec<_> = all.iter().zip(&plan).filter(|(_, why)| why.is_none()).map(|(kept, _)| kept).collect();
            prop_assert!(kept.len() <= MOST);
            prop_assert!(kept.iter().map(|kept| kept.bytes.div_ceil(3) * 4).sum::<u64>() <= MOST_BYTES);
            prop_assert!(kept.len() <= MANY || kept.iter().all(|kept| kept.width <= SIDE_OF_MANY));
            prop_assert!(plan.last().unwrap().is_none_or(|why| why.contains("2000 pixels")));
        }

        #[test]
        fn base64_stands_in_the_body_where_it_was_written(before in "[a-z]{0,9}", bytes in prop::collection::vec(any::<u8>(), 0..99)) {
            let mut out = before.clone().into_bytes();
            push_base64(&mut out, &bytes);
            prop_assert_eq!(String::from_utf8(out).unwrap(), before + &STANDARD.encode(&bytes));
        }
    }
}
