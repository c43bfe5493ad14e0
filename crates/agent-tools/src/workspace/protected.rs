//! Files that no tool writes: those of [`agent_types::protected`], and what the host protects besides.

use super::path::RelativePath;

/// What a host protects besides.
#[derive(Debug)]
pub(super) struct Protected {
    pub(super) path: RelativePath,
    /// Why, as the end of a sentence.
    pub(super) reason: &'static str,
}

/// Why a path is protected, as the end of a sentence.
pub(super) fn reason(path: &RelativePath, more: &[Protected]) -> Option<&'static str> {
    let host = more.iter().find(|more| path.as_path().starts_with(more.path.as_path()));
    host.map(|host| host.reason).or_else(|| agent_types::protected::reason(path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_names_is_protected_with_what_lies_below() {
        let own = [Protected { path: RelativePath::parse("own/state", &[]).unwrap(), reason: "is ours" }];
        let is_protected = |path: &str| reason(&RelativePath::parse(path, &[]).unwrap(), &own).is_some();
        assert!(is_protected("own/state/sessions") && is_protected("own/state") && is_protected("sub/.git"));
        assert!(!is_protected("own/states") && !is_protected("own"));
    }
}
