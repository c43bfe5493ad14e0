//! What the head of a file says: whether it is a picture, of which kind, and how large. By content, never by name.
//!
//! The readers look at headers alone and go forward only: a JPEG's segments up to the frame, and single places of the others. A file whose
//! header is cut, or says that it has no pixels, is refused: a provider would refuse it too, after it was sent. So is a file that ends
//! before the picture does: it would stay in the conversation, and every later request would be refused. What is between is not looked at.

use super::{Picture, PictureKind};

/// Kind and dimensions of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The file format.
    pub kind: PictureKind,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

/// Why a file is not used as a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PictureFault {
    /// It does not begin as one.
    #[error("is not a PNG, JPEG, GIF or WebP picture; convert it to one of them")]
    NotAPicture,
    /// The file ends within its header, or the header contradicts itself.
    #[error("is a damaged {} picture: its header is cut or wrong; write the file anew", .0)]
    Damaged(PictureKind),
    /// The file ends before the picture does.
    #[error("is a damaged {} picture: the file ends before the picture does; write the file anew", .0)]
    Cut(PictureKind),
    /// A side has no pixels.
    #[error("is a {kind} picture of {width}x{height} pixels, which shows nothing; write the file anew")]
    NoPixels {
        /// The file format.
        kind: PictureKind,
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// A side has too many pixels.
    #[error(
        "is a {kind} picture of {width}x{height} pixels, more than {} on a side; make it smaller (`magick FILE -resize '2000x2000>' OUT`)",
        Picture::MAX_SIDE
    )]
    TooManyPixels {
        /// The file format.
        kind: PictureKind,
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// The file is too large.
    #[error(
        "is a picture of {bytes} bytes, more than {}; make it smaller (`magick FILE -resize '2000x2000>' OUT.jpg`)",
        Picture::MAX_BYTES
    )]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
}

/// Looks at a whole file.
///
/// # Errors
/// [`PictureFault`] when it cannot be used as a picture.
pub fn look(file: &[u8]) -> Result<Head, PictureFault> {
    let kind = kind_of(file).ok_or(PictureFault::NotAPicture)?;
    let size = match kind {
        PictureKind::Png => png(file),
        PictureKind::Jpeg => jpeg(file),
        PictureKind::Gif => gif(file),
        PictureKind::Webp => webp(file),
    };
    let (width, height) = size.ok_or(PictureFault::Damaged(kind))?;
    if width == 0 || height == 0 {
        return Err(PictureFault::NoPixels { kind, width, height });
    }
    if width.max(height) > Picture::MAX_SIDE {
        return Err(PictureFault::TooManyPixels { kind, width, height });
    }
    if file.len() as u64 > Picture::MAX_BYTES {
        return Err(PictureFault::TooLarge { bytes: file.len() as u64 });
    }
    let is_whole = match kind {
        PictureKind::Png => png_ends(file),
        PictureKind::Jpeg => jpeg_ends(file),
        // Readers take one without its last byte.
        PictureKind::Gif => true,
        PictureKind::Webp => at(file, 4).is_some_and(|length| u32::from_le_bytes(length) as usize <= file.len() - 8),
    };
    if is_whole { Ok(Head { kind, width, height }) } else { Err(PictureFault::Cut(kind)) }
}

/// Whether its chunks go up to the one that ends it. A chunk has twelve bytes beside its own, so this ends.
fn png_ends(file: &[u8]) -> bool {
    let mut place = 8_usize;
    while let Some(length) = at(file, place) {
        let end = place.saturating_add(12).saturating_add(u32::from_be_bytes(length) as usize);
        if end > file.len() {
            return false;
        }
        if file.get(place + 4..place + 8) == Some(b"IEND") {
            return true;
        }
        place = end;
    }
    false
}

/// Whether the marker of the end comes behind the one where the data begins. Some cameras write more behind it.
fn jpeg_ends(file: &[u8]) -> bool {
    let begins = |marker: &[u8]| file.windows(2).rposition(|bytes| bytes == marker);
    begins(b"\xff\xda").zip(begins(b"\xff\xd9")).is_some_and(|(data, end)| data < end)
}

/// The kind that the first bytes name.
fn kind_of(file: &[u8]) -> Option<PictureKind> {
    if file.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(PictureKind::Png);
    }
    if file.starts_with(b"\xff\xd8\xff") {
        return Some(PictureKind::Jpeg);
    }
    if file.starts_with(b"GIF87a") || file.starts_with(b"GIF89a") {
        return Some(PictureKind::Gif);
    }
    (file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WEBP")).then_some(PictureKind::Webp)
}

type Size = Option<(u32, u32)>;

/// The first chunk is the header, of 13 bytes; what follows says more, so a file that ends with it is cut.
fn png(file: &[u8]) -> Size {
    (file.get(8..16)? == b"\0\0\0\x0dIHDR" && file.len() > 33).then_some(())?;
    Some((u32::from_be_bytes(at(file, 16)?), u32::from_be_bytes(at(file, 20)?)))
}

fn gif(file: &[u8]) -> Size {
    (file.len() > 13).then_some(())?;
    Some((u16::from_le_bytes(at(file, 6)?).into(), u16::from_le_bytes(at(file, 8)?).into()))
}

/// One of three forms, named by the first chunk.
fn webp(file: &[u8]) -> Size {
    let three = |place: usize| {
        let [low, middle, high] = at(file, place)?;
        Some(u32::from_le_bytes([low, middle, high, 0]))
    };
    match file.get(12..16)? {
        b"VP8 " => {
            (file.get(23..26)? == b"\x9d\x01\x2a").then_some(())?;
            let side = |place| Some(u32::from(u16::from_le_bytes(at(file, place)?) & 0x3fff));
            Some((side(26)?, side(28)?))
        }
        b"VP8L" => {
            (*file.get(20)? == 0x2f).then_some(())?;
            let bits = u32::from_le_bytes(at(file, 21)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((three(24)? + 1, three(27)? + 1)),
        _ => None,
    }
}

/// Goes through the segments to the one that opens the frame. Every segment has at least two bytes, so this ends.
fn jpeg(file: &[u8]) -> Size {
    let mut place = 2_usize;
    loop {
        // Any number of bytes of ones may stand before a marker.
        (*file.get(place)? == 0xff).then_some(())?;
        while *file.get(place)? == 0xff {
            place += 1;
        }
        let marker = *file.get(place)?;
        place += 1;
        match marker {
            // Markers that stand alone.
            0x01 | 0xd0..=0xd7 => continue,
            // The data begins, or the file ends, before any frame; or what should be a marker is none.
            0x00 | 0xd8 | 0xd9 | 0xda => return None,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((
                    u16::from_be_bytes(at(file, place + 5)?).into(),
                    u16::from_be_bytes(at(file, place + 3)?).into(),
                ));
            }
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes(at(file, place)?));
        (length >= 2).then_some(())?;
        place += length;
    }
}

fn at<const N: usize>(file: &[u8], place: usize) -> Option<[u8; N]> {
    file.get(place..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn png_of(width: u32, height: u32) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        file.extend(width.to_be_bytes());
        file.extend(height.to_be_bytes());
        file.extend([8, 2, 0, 0, 0, 1, 2, 3, 4]);
        file.extend(b"\0\0\0\0IEND\xae\x42\x60\x82");
        file
    }

    fn jpeg_of(width: u16, height: u16, before: usize) -> Vec<u8> {
        let mut file = b"\xff\xd8\xff\xe1".to_vec();
        file.extend(u16::try_from(before + 2).unwrap().to_be_bytes());
        file.extend(vec![0xff; before]);
        file.extend(b"\xff\xff\xff\xc2\0\x11\x08");
        file.extend(height.to_be_bytes());
        file.extend(width.to_be_bytes());
        file.extend([3; 10]);
        file.extend(b"\xff\xda\0\x02data\xff\xd9");
        file
    }

    fn webp_of(form: &[u8; 4], rest: &[u8]) -> Vec<u8> {
        let mut file = b"RIFF\0\0\0\0WEBP".to_vec();
        file.extend(form);
        file.extend([0x10, 0, 0, 0]);
        file.extend(rest);
        let length = u32::try_from(file.len() - 8).unwrap();
        file[4..8].copy_from_slice(&length.to_le_bytes());
        file
    }

    fn sizes(file: &[u8]) -> (PictureKind, u32, u32) {
        let Head { kind, width, height } = look(file).unwrap();
        (kind, width, height)
    }

    #[test]
    fn every_kind_is_known_by_its_content_and_says_its_size() {
        use PictureKind::{Gif, Jpeg, Png, Webp};
        assert_eq!(sizes(&png_of(640, 480)), (Png, 640, 480));
        assert_eq!(sizes(&jpeg_of(640, 480, 60_000)), (Jpeg, 640, 480), "after a long segment of bytes of ones");
        assert_eq!(sizes(b"GIF89a\x80\x02\xe0\x01\0\0\0,"), (Gif, 640, 480));
        assert_eq!(sizes(b"GIF87a\x80\x02\xe0\x01\0\0\0,"), (Gif, 640, 480));
        let lossy = webp_of(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01");
        assert_eq!(sizes(&lossy), (Webp, 640, 480));
        let bits: u32 = 639 | 479 << 14;
        let mut lossless = vec![0x2f];
        lossless.extend(bits.to_le_bytes());
        assert_eq!(sizes(&webp_of(b"VP8L", &lossless)), (Webp, 640, 480));
        assert_eq!(sizes(&webp_of(b"VP8X", b"\x10\0\0\0\x7f\x02\0\xdf\x01\0")), (Webp, 640, 480));
    }

    #[test]
    fn a_bomb_is_refused_by_its_dimensions() {
        let fault = look(&png_of(65_535, 65_535)).unwrap_err();
        assert_eq!(fault, PictureFault::TooManyPixels { kind: PictureKind::Png, width: 65_535, height: 65_535 });
        assert!(alloc::format!("{fault}").contains("65535x65535 pixels, more than 8000 on a side"), "{fault}");
        assert!(look(&png_of(8_000, 8_000)).is_ok() && look(&png_of(1, 8_001)).is_err());
    }

    #[test]
    fn a_picture_without_pixels_is_refused() {
        assert!(matches!(look(&png_of(0, 0)), Err(PictureFault::NoPixels { .. })));
        assert!(matches!(look(&jpeg_of(7, 0, 4)), Err(PictureFault::NoPixels { height: 0, .. })));
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let mut file = png_of(2, 2);
        file.resize(usize::try_from(Picture::MAX_BYTES).unwrap(), 0);
        assert!(look(&file).is_ok(), "what stands behind its end is not looked at");
        file.push(0);
        assert_eq!(look(&file), Err(PictureFault::TooLarge { bytes: Picture::MAX_BYTES + 1 }));
    }

    #[test]
    fn what_only_resembles_a_picture_is_none() {
        for other in
            [&b""[..], b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG", b"GIF8", b"RIFF\0\0\0\0WAVE", b"%PDF"]
        {
            assert_eq!(look(other), Err(PictureFault::NotAPicture), "{other:?}");
        }
    }

    #[test]
    fn a_header_that_is_cut_or_wrong_is_damage() {
        for whole in [
            png_of(640, 480),
            jpeg_of(640, 480, 9),
            b"GIF89a\x80\x02\xe0\x01\0\0\0,".to_vec(),
            webp_of(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01"),
        ] {
            for end in 12..whole.len().min(30) {
                let cut = &whole[..end];
                assert!(look(cut).is_err(), "{cut:?}");
            }
        }
        assert_eq!(look(b"\xff\xd8\xff\xda\0\x02"), Err(PictureFault::Damaged(PictureKind::Jpeg)));
        assert_eq!(look(b"\xff\xd8\xff\xe0\0\x01"), Err(PictureFault::Damaged(PictureKind::Jpeg)));
    }

    #[test]
    fn a_file_that_ends_before_its_picture_is_damage() {
        let webp = webp_of(b"VP8 ", b"\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01data");
        for (whole, head) in [(png_of(640, 480), 34), (jpeg_of(640, 480, 9), 37), (webp, 30)] {
            assert!(look(&whole).is_ok());
            for end in head..whole.len() {
                assert!(matches!(look(&whole[..end]), Err(PictureFault::Cut(_))), "{end}: {:?}", look(&whole[..end]));
            }
        }
        let mut long = png_of(2, 2);
        long[33..37].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(look(&long), Err(PictureFault::Cut(PictureKind::Png)), "a chunk that is longer than the file");
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_looked_at(start in 0usize..5, rest in prop::collection::vec(any::<u8>(), 0..80)) {
            let starts: [&[u8]; 5] =
                [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8X", b""];
            let file = [starts[start], &rest].concat();
            if let Ok(head) = look(&file) {
                prop_assert!((1..=Picture::MAX_SIDE).contains(&head.width) && (1..=Picture::MAX_SIDE).contains(&head.height));
            }
        }
    }
}
