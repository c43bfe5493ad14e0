//! `read_file` of a picture: the model sees it, and its bytes are kept with the session.

use agent_types::picture::{Head, Picture, PictureFault, look};
use agent_types::ports::PictureKeeper;
use std::io::{self, Read};

/// What became of it.
pub(crate) enum Seen {
    /// It is kept, and this tells the model what it sees.
    Picture(Picture, String),
    /// It cannot be used, in words that follow on its name.
    Unusable(String),
}

/// Whether a file begins as a picture, whatever its name is.
pub(crate) fn is_picture(beginning: &[u8]) -> bool {
    look(beginning) != Err(PictureFault::NotAPicture)
}

/// Reads a whole file, at most a little more than a picture may have. What is kept is what was looked at, whatever happens to the file.
pub(crate) fn see(file: impl Read, size: u64, name: &str, keeper: Option<&dyn PictureKeeper>) -> io::Result<Seen> {
    let unusable = |fault: PictureFault| Ok(Seen::Unusable(fault.to_string()));
    if size > Picture::MAX_BYTES {
        return unusable(PictureFault::TooLarge { bytes: size });
    }
    let mut bytes = Vec::new();
    file.take(Picture::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    let Head { kind, width, height } = match look(&bytes) {
        Ok(head) => head,
        Err(fault) => return unusable(fault),
    };
    let size = bytes.len() as u64;
    let Some(keeper) = keeper else {
        return Ok(Seen::Unusable(format!("is a {kind} picture of {width}x{height} pixels ({size} bytes), not text")));
    };
    let digest = match keeper.keep(&bytes) {
        Ok(digest) => digest,
        Err(error) => return Ok(Seen::Unusable(format!("is a picture that cannot be shown: {error}"))),
    };
    let picture = Picture { digest, kind, bytes: size, width, height, name: name.into() };
    let told = format!("[{picture}, {size} bytes: the picture follows]");
    Ok(Seen::Picture(picture, told))
}
