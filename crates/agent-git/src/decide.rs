//! Decides, for one path, whether its change is the agent's alone and may be committed. Pure.

use crate::query::{Conversion, Entry, Settings, Staged};

/// Everything known about one path.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// In `HEAD`.
    pub(crate) head: Option<Entry>,
    /// In the user's index.
    pub(crate) staged: Option<Staged>,
    /// In the working tree before the agent's changes; empty when that is not known.
    pub(crate) before: Vec<Version>,
    /// In the working tree now.
    pub(crate) now: Version,
    /// Whether a directory above it is a file or a submodule in `HEAD`.
    pub(crate) below_entry: bool,
    /// Whether the user lets git ignore it.
    pub(crate) ignored: bool,
    /// What git would change of its bytes, or would have changed of those before; `None` if it keeps them.
    pub(crate) conversion: Option<&'static str>,
}

/// What is, or was, in the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// Nothing.
    Absent,
    /// What git would keep as this.
    Entry(Entry),
    /// Something that was not looked at; why.
    Opaque(&'static str),
}

/// What becomes of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is as in `HEAD`.
    Nothing,
    /// It is committed: this, or its deletion.
    Commit(Option<Entry>),
    /// It is left out, because …
    LeaveOut(&'static str),
}

/// Decides. Every doubt is decided for leaving out.
pub(crate) fn decide(facts: &Facts) -> Decision {
    use Decision::{Commit, LeaveOut, Nothing};
    let now = match &facts.now {
        Version::Absent => None,
        Version::Entry(entry) => Some(entry),
        Version::Opaque(reason) => return LeaveOut(reason),
    };
    let head = facts.head.as_ref();
    if now == head {
        return Nothing;
    }
    if facts.below_entry || head.is_some_and(|head| !head.is_blob()) {
        return LeaveOut("it takes the place of a directory, a file or a submodule");
    }
    let staged_as_head = match &facts.staged {
        None => head.is_none(),
        Some(Staged::Entry(entry)) => Some(entry) == head,
        Some(Staged::Special) => {
            return LeaveOut("its entry in the index is in conflict or specially marked");
        }
    };
    if !staged_as_head {
        return LeaveOut("another version of it is staged");
    }
    let is_head = |version: &Version| match version {
        Version::Absent => head.is_none(),
        Version::Entry(entry) => Some(entry) == head,
        Version::Opaque(_) => false,
    };
    if facts.before.is_empty() {
        return LeaveOut("its content before the agent changed it is unknown");
    }
    if !facts.before.iter().any(is_head) {
        return LeaveOut(match head {
            // As git keeps it, it may well have been as in `HEAD`.
            Some(_) if facts.conversion.is_some() => facts.conversion.unwrap_or_default(),
            None => "it existed before the agent changed it, and was not committed",
            Some(_) => "it had uncommitted changes before the agent changed it",
        });
    }
    if head.is_none() && facts.ignored {
        return LeaveOut("git ignores it");
    }
    if let Some(conversion) = facts.conversion.filter(|_| now.is_some()) {
        return LeaveOut(conversion);
    }
    Commit(now.cloned())
}

/// Why git would keep other bytes than these, if it would.
pub(crate) fn conversion_of(bytes: &[u8], conversion: Conversion, settings: &Settings) -> Option<&'static str> {
    let line_ends = conversion.line_ends.unwrap_or(settings.converts_line_ends);
    match () {
        () if conversion.always => Some("git would convert its content (a filter or an encoding)"),
        () if line_ends && bytes.windows(2).any(|pair| pair == b"\r\n") => {
            Some("git would convert its line ends (`core.autocrlf`, or an attribute)")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> Entry {
        Entry { mode: Entry::FILE, id: id.to_owned() }
    }

    fn version(id: &str) -> Version {
        Version::Entry(entry(id))
    }

    /// The agent changed a clean file `1` to `2`; a case changes one fact.
    fn case(change: impl FnOnce(&mut Facts)) -> Decision {
        let mut facts = Facts {
            head: Some(entry("1")),
            staged: Some(Staged::Entry(entry("1"))),
            before: vec![version("1")],
            now: version("2"),
            below_entry: false,
            ignored: false,
            conversion: None,
        };
        change(&mut facts);
        decide(&facts)
    }

    #[test]
    fn only_what_the_agent_alone_changed_is_committed() {
        let other = Staged::Entry(entry("3"));
        let tree = Entry { mode: 0o040_000, id: "t".to_owned() };
        assert_eq!(case(|_| {}), Decision::Commit(Some(entry("2"))));
        assert_eq!(case(|f| f.now = Version::Absent), Decision::Commit(None));
        assert_eq!(case(|f| f.now = version("1")), Decision::Nothing);
        assert_eq!(case(|f| f.before.insert(0, version("0"))), Decision::Commit(Some(entry("2"))));
        // A file that is ignored but tracked is a tracked file.
        assert_eq!(case(|f| f.ignored = true), Decision::Commit(Some(entry("2"))));
        let left_out = |decision| assert!(matches!(decision, Decision::LeaveOut(_)), "{decision:?}");
        left_out(case(|f| f.before = vec![version("0")]));
        left_out(case(|f| f.before = vec![Version::Absent]));
        left_out(case(|f| f.before = vec![Version::Opaque("too large")]));
        left_out(case(|f| f.before.clear()));
        left_out(case(|f| f.now = Version::Opaque("a directory")));
        left_out(case(|f| f.staged = Some(other)));
        left_out(case(|f| f.staged = Some(Staged::Special)));
        left_out(case(|f| f.staged = None));
        left_out(case(|f| f.conversion = Some("it converts")));
        left_out(case(|f| f.below_entry = true));
        left_out(case(|f| f.head = Some(tree)));
    }

    #[test]
    fn a_new_file_is_committed_unless_it_is_ignored_or_the_user_made_it() {
        let new = |change: &dyn Fn(&mut Facts)| {
            case(|f| {
                (f.head, f.staged, f.before) = (None, None, vec![Version::Absent]);
                change(f);
            })
        };
        let staged = Staged::Entry(entry("2"));
        assert_eq!(new(&|_| {}), Decision::Commit(Some(entry("2"))));
        assert_eq!(new(&|f| f.now = Version::Absent), Decision::Nothing);
        assert!(matches!(new(&|f| f.ignored = true), Decision::LeaveOut(_)));
        assert!(matches!(new(&|f| f.before = vec![version("1")]), Decision::LeaveOut(_)));
        let intent_to_add = case(|f| (f.head, f.staged, f.before) = (None, Some(staged), vec![Version::Absent]));
        assert!(matches!(intent_to_add, Decision::LeaveOut(_)));
    }
}
