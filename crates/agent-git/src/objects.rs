//! Names of git's objects, computed here: asking git costs a process.

use sha1::{Digest, Sha1};
use sha2::Sha256;

/// How a repository names its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    /// By 20 bytes.
    #[default]
    Sha1,
    /// By 32 bytes.
    Sha256,
}

impl ObjectFormat {
    /// Bytes of a name.
    pub(crate) const fn id_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// The name of no object.
    pub(crate) fn none(self) -> String {
        "0".repeat(self.id_bytes() * 2)
    }

    /// The name that git gives a file with this content.
    pub(crate) fn blob(self, content: &[u8]) -> String {
        let head = format!("blob {}\0", content.len());
        hex(&self.digest(&[head.as_bytes(), content]))
    }

    /// The digest of these bytes, one after the other.
    pub(crate) fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        fn over<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
            let mut digest = D::new();
            parts.iter().for_each(|part| digest.update(part));
            digest.finalize().to_vec()
        }
        match self {
            Self::Sha1 => over::<Sha1>(parts),
            Self::Sha256 => over::<Sha256>(parts),
        }
    }
}

/// Bytes as git writes them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a name, if it is one.
pub(crate) fn unhex(id: &str) -> Option<Vec<u8>> {
    let digits = id.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_gits() {
        // `git hash-object --stdin`, in a repository of each kind.
        assert_eq!(ObjectFormat::Sha1.blob(b"a\n"), "78981922613b2afb6025042ff6bd878ac1994e85");
        assert_eq!(ObjectFormat::Sha1.blob(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(ObjectFormat::Sha256.blob(b""), "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
        let id = ObjectFormat::Sha1.blob(b"a\n");
        assert_eq!(hex(&unhex(&id).unwrap()), id);
        assert_eq!(unhex("xy"), None);
    }
}
