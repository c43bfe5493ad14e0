//! Pictures: what a conversation says of one, and what the head of a file says.
//!
//! A conversation names a picture by its digest and never carries its bytes: those are kept once, beside the session, by a
//! [`PictureKeeper`](crate::ports::PictureKeeper). No picture is ever decoded. [`look`] reads the few bytes that say kind and
//! dimensions, so that a small file of many pixels is refused for its dimensions before anyone unpacks it.

mod head;

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use core::fmt;
pub use head::{Head, PictureFault, look};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A picture in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Picture {
    /// Names its bytes.
    pub digest: Digest,
    /// Its file format.
    pub kind: PictureKind,
    /// Size of the file.
    pub bytes: u64,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// The path under which it was given, for people.
    pub name: Arc<str>,
}

impl Picture {
    /// Most bytes of a file. Anthropic's limit of 5 MB is for the base64 form, which is a third longer.
    pub const MAX_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;
    /// Most pixels of a side.
    pub const MAX_SIDE: u32 = 8_000;
    /// Most pictures of one message.
    pub const MAX_IN_MESSAGE: usize = 20;

    /// Its tokens, estimated from its dimensions: a patch of 28 pixels is a token, after it was made to fit. Current models of Anthropic
    /// count so; the others mostly count fewer.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let (width, height) = (u64::from(self.width.max(1)), u64::from(self.height.max(1)));
        let longest = width.max(height);
        let fit = |side: u64| if longest > FITS { (side * FITS).div_ceil(longest) } else { side };
        (fit(width).div_ceil(PATCH) * fit(height).div_ceil(PATCH)).min(MOST_TOKENS)
    }

    /// How much text it is worth in estimates, in bytes: four are a token.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.tokens() * 4
    }

    /// What stands in its place where the picture itself does not go.
    #[must_use]
    pub fn named(&self, why: &str) -> String {
        format!("[picture {}: {self}; {why}]", self.name)
    }
}

/// Kind and dimensions, as in `PNG 640x480`.
impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x{}", self.kind, self.width, self.height)
    }
}

/// The file formats that all providers take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PictureKind {
    /// `image/png`
    #[serde(rename = "image/png")]
    Png,
    /// `image/jpeg`
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// `image/gif`; of an animation a model sees the first frame.
    #[serde(rename = "image/gif")]
    Gif,
    /// `image/webp`
    #[serde(rename = "image/webp")]
    Webp,
}

impl PictureKind {
    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

impl fmt::Display for PictureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::Webp => "WebP",
        })
    }
}

/// The SHA-256 of a picture's bytes. Written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads what [`Display`](fmt::Display) writes, and nothing else: one digest has one name.
    #[must_use]
    pub fn of_hex(text: &str) -> Option<Self> {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
        let mut out = [0; 32];
        if pairs.len() != out.len() {
            return None;
        }
        for (byte, [high, low]) in out.iter_mut().zip(pairs) {
            *byte = digit(high)? << 4 | digit(low)?;
        }
        Some(Self(out))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::of_hex(&text).ok_or_else(|| D::Error::custom("a digest has 64 hexadecimal digits in lower case"))
    }
}

/// A patch's side in pixels.
const PATCH: u64 = 28;
/// Pixels of the longest side that a model sees; a longer one is scaled down.
const FITS: u64 = 2_576;
const MOST_TOKENS: u64 = 4_784;

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32) -> Picture {
        let digest = Digest::new([0xab; 32]);
        Picture { digest, kind: PictureKind::Png, bytes: 7, width, height, name: "a.png".into() }
    }

    #[test]
    fn tokens_grow_with_the_area_up_to_a_limit() {
        assert_eq!(picture(1, 1).tokens(), 1);
        assert_eq!(picture(640, 480).tokens(), 414);
        assert_eq!(picture(1920, 1080).tokens(), 2_691);
        assert_eq!(picture(8_000, 8_000).tokens(), MOST_TOKENS);
        assert_eq!(picture(u32::MAX, u32::MAX).tokens(), MOST_TOKENS);
        assert_eq!(picture(0, 0).tokens(), 1, "a journal may say anything");
    }

    #[test]
    fn a_picture_is_written_with_its_media_type_and_read_back() {
        let written = serde_json::to_string(&picture(2, 3)).unwrap();
        let digest = "ab".repeat(32);
        assert_eq!(
            written,
            format!(r#"{{"digest":"{digest}","kind":"image/png","bytes":7,"width":2,"height":3,"name":"a.png"}}"#)
        );
        assert_eq!(serde_json::from_str::<Picture>(&written).unwrap(), picture(2, 3));
        assert_eq!(picture(2, 3).named("left out"), "[picture a.png: PNG 2x3; left out]");
    }

    #[test]
    fn a_digest_has_one_name() {
        let name = "0123456789abcdef".repeat(4);
        assert_eq!(Digest::of_hex(&name).unwrap().to_string(), name);
        for other in ["", "00", &name.to_uppercase(), &format!("{name}00"), &format!("{}/.", &name[2..])] {
            assert_eq!(Digest::of_hex(other), None, "{other}");
        }
    }
}
