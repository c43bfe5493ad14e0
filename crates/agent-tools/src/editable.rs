//! A text file that is about to be changed, as far as it can be changed without damage.

use crate::read_file::BOM;
use crate::text::{Encoding, encoding};
use crate::workspace::{OpenedFile, RelativePath, Staged, Workspace};
use std::io::Read as _;

/// The text of a file, without its byte order mark.
pub(crate) struct Editable {
    target: OpenedFile,
    path: RelativePath,
    has_bom: bool,
    pub(crate) text: String,
}

impl Editable {
    /// Reads a file that may be changed.
    ///
    /// # Errors
    /// Why it cannot be changed, for a model.
    pub(crate) fn open(workspace: &Workspace, path: &str) -> Result<Self, String> {
        let path = workspace.relative(path).map_err(|error| error.to_string())?;
        let target = workspace.open_target(&path).map_err(|error| error.to_string())?;
        let bytes = content(&target).map_err(|reason| format!("`{path}` {reason}"))?;
        let (has_bom, bytes) = match bytes.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, &*bytes),
        };
        let text = text(bytes).map_err(|reason| format!("`{path}` {reason}"))?.to_owned();
        Ok(Self { target, path, has_bom, text })
    }

    /// Prepares the file with another text.
    pub(crate) fn stage<'w>(self, workspace: &'w Workspace, text: &str) -> Result<Staged<'w>, String> {
        let content = self.bytes(text)?;
        workspace.stage_replacement(&self.path, self.target, &content).map_err(|error| error.to_string())
    }

    /// Prepares the file with another text at another path, and that it goes from this one.
    pub(crate) fn stage_move<'w>(
        self,
        workspace: &'w Workspace,
        to: &RelativePath,
        text: &str,
    ) -> Result<[Staged<'w>; 2], String> {
        let content = self.bytes(text)?;
        let new = workspace.stage_creation(to, &content, Some(&self.target)).map_err(|error| error.to_string())?;
        Ok([new, workspace.stage_removal(&self.path, self.target)])
    }

    /// A text as it would be in the file, if that could be edited again.
    fn bytes(&self, text: &str) -> Result<Vec<u8>, String> {
        let bom = if self.has_bom { BOM } else { &[] };
        let size = (bom.len() + text.len()) as u64;
        if size > MOST_BYTES.max(self.target.size()) {
            let path = &self.path;
            return Err(format!(
                "`{path}` would have {size} bytes, more than the {MOST_BYTES} that can be edited: use a command"
            ));
        }
        Ok([bom, text.as_bytes()].concat())
    }
}

fn content(target: &OpenedFile) -> Result<Vec<u8>, String> {
    let size = target.size();
    if size > MOST_BYTES {
        return Err(format!("has {size} bytes, more than the {MOST_BYTES} that can be edited: use a command"));
    }
    let mut bytes = Vec::new();
    (&target.file).take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(bytes)
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    let reason = match encoding(bytes) {
        Encoding::Utf16 => "is UTF-16 text, which this tool cannot edit: use a command",
        Encoding::Binary => "is binary, not text",
        Encoding::Utf8 | Encoding::Unknown => {
            "is not UTF-8 (perhaps Latin-1), and an edit would damage it: convert it or use a command"
        }
    };
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or_else(|| reason.to_string())
}

const MOST_BYTES: u64 = crate::edit::MOST_BYTES as u64;
