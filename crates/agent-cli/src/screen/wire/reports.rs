//! What programs read of a sandbox and of a picture.

use agent_core::picture::Picture;
use agent_exec::{Access, Sandbox};
use serde::Serialize;

/// The sandbox in force.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SandboxReport {
    /// What commands may touch, as `--sandbox` names it.
    #[cfg_attr(test, schemars(extend("enum" = ["read-only", "workspace-write"])))]
    access: &'static str,
    /// What enforces it.
    #[cfg_attr(test, schemars(extend("enum" = ["bubblewrap", "Landlock"])))]
    mechanism: &'static str,
    /// What it does not hold on this machine although a sandbox can.
    weaknesses: Vec<&'static str>,
}

impl SandboxReport {
    pub(crate) fn of(sandbox: &Sandbox) -> Self {
        let access = match sandbox.policy().access {
            Access::ReadOnly => "read-only",
            Access::WorkspaceWrite => "workspace-write",
        };
        let mechanism = sandbox.mechanism();
        Self { access, mechanism: mechanism.name(), weaknesses: sandbox.weaknesses() }
    }
}

/// A picture, by what names its bytes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PictureReport {
    /// The path under which it was read.
    name: String,
    /// Its media type.
    #[cfg_attr(test, schemars(extend("enum" = ["image/png", "image/jpeg", "image/gif", "image/webp"])))]
    media_type: &'static str,
    /// SHA-256 of the file, in hexadecimal digits.
    digest: String,
    /// Size of the file.
    bytes: u64,
    /// Pixels from left to right.
    width: u32,
    /// Pixels from top to bottom.
    height: u32,
}

impl PictureReport {
    pub(super) fn of(picture: &Picture) -> Self {
        let Picture { digest, kind, bytes, width, height, name } = picture;
        let (name, digest, media_type) = (name.to_string(), digest.to_string(), kind.media_type());
        Self { name, media_type, digest, bytes: *bytes, width: *width, height: *height }
    }
}
