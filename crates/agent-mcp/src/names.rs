//! Names under which a server's tools are offered: `mcp__server__tool`.

use sha2::{Digest as _, Sha256};

/// How long the name of a tool may be, in bytes: the strictest of the providers.
const MAX_BYTES: usize = 64;
/// How long the name of a server may be in it.
const MAX_SERVER_BYTES: usize = 24;

/// What rules may name instead of each tool of a server: `mcp__server`. Nothing if its name has neither letter nor digit.
#[must_use]
pub fn family(server: &str) -> Option<String> {
    let mut short = String::new();
    // Without `__`, so that the first one after the server's name ends it.
    for c in server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }) {
        if c != '_' || !short.is_empty() && !short.ends_with('_') {
            short.push(c);
        }
    }
    short.truncate(MAX_SERVER_BYTES);
    let short = short.trim_end_matches('_');
    short.contains(|c: char| c.is_ascii_alphanumeric()).then(|| format!("mcp__{short}"))
}

/// The name of a server's tool. One that would be too long ends in a digest of it. Two tools may get the same name, and then none may have
/// it.
#[must_use]
pub fn tool_name(family: &str, tool: &str) -> Option<String> {
    let plain: String = tool.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if !plain.contains(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let whole = format!("{family}__{plain}");
    if whole.len() <= MAX_BYTES {
        return Some(whole);
    }
    let digest = hex(&Sha256::digest(tool.as_bytes()), 4);
    Some(format!("{}_{digest}", whole.get(..MAX_BYTES - digest.len() - 1)?))
}

/// The first bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], count: usize) -> String {
    bytes.iter().take(count).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, family, tool_name};

    #[test]
    fn names_are_made_of_what_every_provider_takes() {
        assert_eq!(family("file system").as_deref(), Some("mcp__file_system"));
        assert_eq!(family("__a__b__").as_deref(), Some("mcp__a_b"));
        for nameless in ["", "__", "漢字", "\u{202e}", "--"] {
            assert_eq!(family(nameless), None, "{nameless:?}");
        }
        assert_eq!(tool_name("mcp__git", "git_log").as_deref(), Some("mcp__git__git_log"));
        assert_eq!(tool_name("mcp__git", "read\u{202e}file").as_deref(), Some("mcp__git__read_file"));
        assert_eq!(tool_name("mcp__git", "…"), None);
    }

    #[test]
    fn long_names_stay_apart() {
        let family = family(&"s".repeat(100)).unwrap();
        let names = ["a", "b"].map(|end| tool_name(&family, &format!("{}{end}", "t".repeat(100))).unwrap());
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| name.len() == MAX_BYTES), "{names:?}");
    }
}
