//! What a call finds on the way to what it is about.

use super::*;
use agent_core::permission::Rule;
use std::fs;
use std::os::unix::fs::symlink;

struct Project {
    place: tempfile::TempDir,
    permissions: Permissions,
}

impl Project {
    fn of(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("p/.git")).unwrap();
        let project = Self { place, permissions: Permissions::default() };
        files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("p").canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn find(&self, path: &str, known: &[Instructions], effect: Effect) -> Vec<Instructions> {
        let workspace = Arc::new(Workspace::open(self.root()).unwrap());
        let finder = Finder { workspace, permissions: self.permissions.clone(), above: Above::default() };
        let known = known.iter().map(|file| (file.path.clone(), file.digest)).collect();
        let look = Look { paths: vec![path.into()], known: Arc::new(known), exclusions: Exclusions::default(), effect };
        finder.find(&look)
    }

    /// Path below the project and text of what a call that reads finds.
    fn told(&self, path: &str) -> Vec<(String, String)> {
        let inside = |path: &str| Path::new(path).strip_prefix(self.root()).unwrap().display().to_string();
        self.find(path, &[], Effect::Reads).into_iter().map(|file| (inside(&file.path), file.text)).collect()
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn each_directory_on_the_way_is_looked_at_the_outermost_first() {
    let project = Project::of(&[
        ("a/AGENTS.md", "of a, see @more.instructions.md"),
        ("a/more.instructions.md", "more of a"),
        ("a/CLAUDE.md", "other agents'"),
        ("a/b/CLAUDE.md", "of b"),
        ("a/b/c/file", "x"),
        ("d/AGENTS.md", "of d"),
    ]);
    let of_a = [("a/AGENTS.md", "of a, see @more.instructions.md"), ("a/more.instructions.md", "more of a")];
    let of_b = [&of_a[..], &[("a/b/CLAUDE.md", "of b")]].concat();
    assert_eq!(project.told("a/b/c/file"), pairs(&of_b));
    assert_eq!(project.told("a/b"), pairs(&of_b), "a directory that is listed");
    assert_eq!(project.told("a/none"), pairs(&of_a), "a file that is gone");
    assert_eq!(project.told("."), pairs(&[]));
    assert_eq!(project.told("../p/d/x"), pairs(&[]));
}

#[test]
fn what_is_known_is_found_again_once_it_has_changed() {
    let project = Project::of(&[("AGENTS.md", "of the project"), ("a/AGENTS.md", "of a"), ("a/x", "")]);
    let all = project.find("a/x", &[], Effect::Reads);
    assert_eq!(all.len(), 2);
    assert_eq!(project.find("a/x", &all, Effect::Reads), []);
    project.write("AGENTS.md", "of the project, later");
    let changed = project.find("a/x", &all, Effect::Reads);
    assert_eq!(changed.iter().map(|file| file.text.as_str()).collect::<Vec<_>>(), ["of the project, later"]);
    let by_itself = project.find("AGENTS.md", &all, Effect::Changes);
    assert_eq!((by_itself.len(), by_itself[0].text.as_str()), (1, ""), "the model has just written it");
}

#[test]
fn no_link_no_rule_and_no_package_is_got_around() {
    let mut project = Project::of(&[
        (".gitignore", "packages/\n"),
        ("packages/one/AGENTS.md", "of a package"),
        ("packages/one/x", ""),
        ("denied/AGENTS.md", "denied, see @../open/more.instructions.md"),
        ("open/more.instructions.md", "named by a denied file only"),
        ("denied/x", ""),
        ("out/x", ""),
        ("long/AGENTS.md", &"l".repeat(300 * 1024)),
        ("bytes/x", ""),
    ]);
    fs::write(project.place.path().join("AGENTS.md"), "outside").unwrap();
    symlink("../../AGENTS.md", project.root().join("out/AGENTS.md")).unwrap();
    symlink("out", project.root().join("linked")).unwrap();
    fs::write(project.root().join("bytes/AGENTS.md"), [0xff]).unwrap();
    project.permissions.deny.push("read_file(denied/AGENTS.md)".parse::<Rule>().unwrap());
    for path in ["packages/one/x", "denied/x", "linked/x"] {
        assert_eq!(project.told(path), pairs(&[]), "{path}");
    }
    for (path, why) in
        [("out/x", "link that leads out of the project"), ("long/x", "the limit is"), ("bytes/x", "UTF-8")]
    {
        let found = project.find(path, &[], Effect::Reads);
        let [Instructions { text, unusable: Some(found), .. }] = &found[..] else { panic!("{path}: {found:?}") };
        assert!(text.is_empty() && found.contains(why), "{found}");
    }
}
