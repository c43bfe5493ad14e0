//! What a call of a tool that edits files would make of them, without doing it: for a person who decides about it or looks on.
//!
//! The texts are made by the same functions that make them when the call runs. Absent: whether it may run, and reading the files.

use crate::apply_patch::ApplyPatchArguments;
use crate::edit_file::EditFileArguments;
use crate::write_file::WriteFileArguments;
use agent_types::conversation::Arguments;

/// A file before a call and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// As the call names it.
    pub path: String,
    /// Where it moves to.
    pub moved_to: Option<String>,
    /// Its text, unless there is no such file.
    pub old: Option<String>,
    /// Its text afterwards, unless it is removed.
    pub new: Option<String>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileText {
    /// Nothing.
    Absent,
    /// A file with this text.
    Text(String),
    /// Something without a preview: a directory, bytes that are not text, a file that is too large.
    Other,
}

/// What a call would change, in the order of its arguments; `read` says what is at a path now.
///
/// `None` where the tool edits no files, where the arguments are not valid, where the call would fail, and where a file is not text.
#[must_use]
pub fn preview(tool: &str, arguments: &Arguments, read: &dyn Fn(&str) -> FileText) -> Option<Vec<FileChange>> {
    let changes = match tool {
        "edit_file" => arguments.read::<EditFileArguments>().ok()?.change(read).map(|change| vec![change]),
        "write_file" => arguments.read::<WriteFileArguments>().ok()?.change(read).map(|change| vec![change]),
        "apply_patch" => arguments.read::<ApplyPatchArguments>().ok()?.changes(read),
        _ => None,
    }?;
    // Of a file that is named twice, nothing says in which order.
    let mut names: Vec<&str> =
        changes.iter().flat_map(|change| [Some(&*change.path), change.moved_to.as_deref()]).flatten().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    (names.len() == count).then_some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(tool: &str, arguments: &Value) -> Option<Vec<FileChange>> {
        let read = |path: &str| match path {
            "a.txt" => FileText::Text("one\ntwo\nthree\n".into()),
            "b.bin" => FileText::Other,
            _ => FileText::Absent,
        };
        preview(tool, &Arguments::parse(&arguments.to_string()).unwrap(), &read)
    }

    fn change(path: &str, moved_to: Option<&str>, old: Option<&str>, new: Option<&str>) -> FileChange {
        let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
        FileChange { path: path.into(), moved_to: owned(moved_to), old: owned(old), new: owned(new) }
    }

    #[test]
    fn it_says_what_the_tools_do() {
        let old = "one\ntwo\nthree\n";
        let edit = |path: &str, from: &str| json!({"path": path, "old_string": from, "new_string": "2"});
        assert_eq!(
            of("edit_file", &edit("a.txt", "two")).unwrap(),
            [change("a.txt", None, Some(old), Some("one\n2\nthree\n"))]
        );
        let write = |path: &str| json!({"path": path, "content": "x"});
        assert_eq!(of("write_file", &write("a.txt")).unwrap(), [change("a.txt", None, Some(old), Some("x"))]);
        assert_eq!(of("write_file", &write("new")).unwrap(), [change("new", None, None, Some("x"))]);
        let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: c.txt\n one\n-two\n*** Add File: d\n+d\n*** End Patch";
        assert_eq!(
            of("apply_patch", &json!({"patch": patch})).unwrap(),
            [change("a.txt", Some("c.txt"), Some(old), Some("one\nthree\n")), change("d", None, None, Some("d\n"))]
        );
        let patch = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch";
        assert_eq!(of("apply_patch", &json!({"patch": patch})).unwrap(), [change("a.txt", None, Some(old), None)]);
        let twice = "*** Begin Patch\n*** Delete File: a.txt\n*** Add File: a.txt\n+d\n*** End Patch";
        for (tool, arguments) in [
            ("edit_file", edit("a.txt", "absent")),
            ("edit_file", edit("nowhere", "two")),
            ("edit_file", json!({"path": "a.txt"})),
            ("write_file", write("b.bin")),
            ("apply_patch", json!({"patch": twice})),
            ("apply_patch", json!({"patch": "nonsense"})),
            ("bash", json!({"command": "ls"})),
        ] {
            assert_eq!(of(tool, &arguments), None, "{tool} {arguments}");
        }
    }
}
