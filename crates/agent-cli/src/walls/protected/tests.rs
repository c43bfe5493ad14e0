//! What is found, what is not, and what is said.

use super::finder::{Finder, Limits};
use super::*;
use std::fs;
use std::process::Command;

pub(super) fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    files.iter().for_each(|file| write(&path, file, ""));
    (root, path)
}

fn write(root: &Path, file: &str, content: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(super) fn programs(workspace: &Path) -> SearchPath {
    SearchPath::outside(std::env::var_os("PATH").as_deref(), [workspace])
}

pub(super) fn relative(root: &Path, paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let mut paths: Vec<String> =
        paths.into_iter().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()).collect();
    paths.sort();
    paths
}

fn protected(root: &Path) -> Vec<String> {
    relative(root, Protection::find(root, &programs(root)).paths())
}

pub(super) fn git(directory: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]).args(arguments);
    let output = git.current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# made by a test\n";

#[test]
fn repositories_within_and_files_that_are_run_are_found_and_the_nearest_first() {
    let (_root, root) = tree(&[
        "a/b/c/.git/config",
        "a/sub/.git",
        ".git/config",
        ".git/modules/x/.envrc",
        "a/.Envrc",
        "x.code-workspace",
        "src/main.rs",
        "docs/AGENTS.md",
        "docs/HEAD",
        "node_modules/x/.vscode/tasks.json",
        "target/debug/x/.git/config",
    ]);
    write(&root, "target/CACHEDIR.TAG", TAG);
    std::os::unix::fs::symlink("a", root.join("link")).unwrap();
    let protection = Protection::find(&root, &programs(&root));
    assert_eq!(protection.warning(), None);
    let paths = protection.paths();
    assert!(paths.iter().take(2).any(|path| *path == root.join(".git")), "{paths:?}");
    assert!(paths.last().unwrap().starts_with(root.join("node_modules")), "caches come last: {paths:?}");
    let expected = [
        ".git",
        "a/.Envrc",
        "a/b/c/.git",
        "a/sub/.git",
        "docs/AGENTS.md",
        "node_modules/x/.vscode",
        "target/debug/x/.git",
        "x.code-workspace",
    ];
    assert_eq!(relative(&root, paths), expected);
}

#[test]
fn a_repository_is_found_by_whatever_name() {
    let (_root, root) = tree(&["src/main.rs", "data/x"]);
    git(&root, &["init", "-q", "--separate-git-dir", "data/of-git"]);
    git(&root, &["init", "-q", "--bare", "bare"]);
    fs::create_dir_all(root.join("src/objects")).unwrap();
    fs::create_dir_all(root.join("src/refs")).unwrap();
    write(&root, "src/HEAD", "ref: refs/heads/x\n");
    write(&root, "not/HEAD", "ref: refs/heads/x\n");
    assert_eq!(protected(&root), [".git", "bare", "data/of-git", "src"]);
    let protection = Protection::find(&root, &programs(&root));
    assert_eq!(relative(&root, protection.repositories()), ["bare", "data/of-git", "data/of-git", "src"]);

    // A bare repository with working trees beside it.
    let (_root, root) = tree(&[]);
    git(&root, &["init", "-q", "--bare", ".bare"]);
    write(&root, ".git", "gitdir: ./.bare\n");
    let tree_id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    git(&root, &["hash-object", "-t", "tree", "-w", "--stdin"]);
    let made = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "x", tree_id])
        .current_dir(&root)
        .output()
        .unwrap();
    git(&root, &["branch", "main", String::from_utf8_lossy(&made.stdout).trim()]);
    git(&root, &["worktree", "add", "-q", "work", "main"]);
    assert!(protected(&root).contains(&".bare".to_owned()));
    // From the working tree the file leads out, to where only a directory that the user opened to commands can be written.
    let paths = Protection::find(&root.join("work"), &programs(&root)).paths();
    assert!(paths.contains(&root.join(".bare")) && paths.contains(&root.join(".bare/worktrees/work")), "{paths:?}");

    // The workspace itself.
    let (_root, root) = tree(&[]);
    git(&root, &["init", "-q", "--bare", "."]);
    assert!(protected(&root).contains(&"config".to_owned()) && protected(&root).contains(&"hooks".to_owned()));
}

#[test]
fn what_says_that_it_is_a_cache_is_searched_last_and_hides_nothing() {
    for (tag, name) in [(TAG, "d"), ("", "d"), (TAG, "node_modules")] {
        let (_root, root) = tree(&["a/.envrc"]);
        write(&root, "CACHEDIR.TAG", tag);
        write(&root, &format!("{name}/CACHEDIR.TAG"), tag);
        write(&root, &format!("{name}/f/.git/config"), "");
        assert_eq!(protected(&root), ["a/.envrc".to_owned(), format!("{name}/f/.git")], "{name}");
    }
    let (_root, root) = tree(&["a/b/.envrc", "d/f/.envrc", "node_modules/x/.envrc"]);
    write(&root, "d/CACHEDIR.TAG", TAG);
    let mut finder = Finder::within(&root, Limits { directories: 10, caches: 2, entries: 100 });
    let found = finder.find();
    assert_eq!(relative(&root, found.finds.into_iter().map(|find| find.path)), ["a/b/.envrc", "d/f/.envrc"]);
    assert_eq!(relative(&root, found.unsearched), ["node_modules/x"]);
}

#[test]
fn a_submodule_is_known_however_deep_it_lies() {
    let (_other, other) = tree(&["x"]);
    git(&other, &["init", "-q"]);
    git(&other, &["add", "."]);
    git(&other, &["commit", "-qm", "x"]);
    let (_root, root) = tree(&["a"]);
    git(&root, &["init", "-q"]);
    git(&root, &["submodule", "add", "-q", other.to_str().unwrap(), "node_modules/deep/sub"]);
    for version in ["2", "4"] {
        git(&root, &["update-index", "--index-version", version]);
        let found = repositories::submodules(&root, &programs(&root)).unwrap();
        assert_eq!(relative(&root, found), ["node_modules/deep/sub/.git"], "version {version}");
    }
    let protection = Protection::find(&root, &programs(&root));
    assert!(protection.kept().contains(&root.join("node_modules/deep/sub/.git")));
    git(&root, &["rm", "-q", "--cached", "node_modules/deep/sub"]);
    assert_eq!(repositories::submodules(&root, &programs(&root)).unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn the_search_is_bounded_and_says_so() {
    let (_root, root) = tree(&[]);
    for number in 0..12 {
        fs::create_dir(root.join(number.to_string())).unwrap();
    }
    let limits = Limits { directories: 10, caches: 10, entries: 100 };
    assert_eq!(Finder::within(&root, limits).find().unsearched.len(), 3);
    let limits = Limits { directories: 100, caches: 10, entries: 5 };
    assert!(!Finder::within(&root, limits).find().unsearched.is_empty());
    let many: Vec<String> = (0..=MOST_MOUNTS / 2).map(|number| format!("{number}/.envrc")).collect();
    let (_root, root) = tree(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let protection = Protection::find(&root, &programs(&root));
    assert_eq!(protection.paths().len(), MOST_MOUNTS / 2);
    assert!(
        protection
            .warning()
            .unwrap()
            .contains("only 200 of 201 repositories and files that other programs run are protected")
    );
    write(&root, "200/deep/.git/config", "");
    let paths = Protection::find(&root, &programs(&root)).paths();
    assert!(paths.contains(&root.join("200/deep/.git")), "nothing pushes a repository out");
}

/// A later walk reads only directories that changed, and misses nothing for it.
#[test]
fn what_comes_later_is_found() {
    let (_root, root) = tree(&["a/b/c/x", "d/x"]);
    let mut finder = Finder::new(&root);
    assert_eq!(finder.find().finds.len(), 0);
    for file in ["a/b/c/.envrc", "a/new/deep/.git/config", "d/.vscode/tasks.json", ".envrc"] {
        let before = finder.find().finds.len();
        write(&root, file, "");
        assert_eq!(finder.find().finds.len(), before + 1, "{file}");
        std::thread::sleep(std::time::Duration::from_millis(60));
        assert_eq!(finder.find().finds.len(), before + 1, "{file}");
    }
    fs::remove_file(root.join(".envrc")).unwrap();
    fs::rename(root.join("a"), root.join("moved")).unwrap();
    assert_eq!(
        relative(&root, finder.find().finds.into_iter().map(|find| find.path)),
        ["d/.vscode", "moved/b/c/.envrc", "moved/new/deep/.git"]
    );
    // A directory takes the place of another of the same name, with times that were set.
    fs::rename(root.join("moved"), root.join("away")).unwrap();
    write(&root, "moved/b/y", "");
    assert_eq!(finder.find().finds.len(), 3);
}

#[test]
fn the_files_of_gits_configuration_are_those_that_git_uses() {
    let (_root, root) = tree(&["hooks/pre-commit", "src/x", "tools/clean.sh", "shared.config", "other"]);
    git(&root, &["init", "--quiet"]);
    let settings = |directory: &Path| {
        git_settings(directory, &programs(directory), &Protection::find(directory, &programs(directory)).folders())
    };
    assert_eq!(within(settings(&root)), GitSettings::default());
    for (said, expected) in [
        ("hooks", Some("hooks")),
        ("./src/../hooks/", Some("hooks")),
        ("absent/one", Some("absent/one")),
        ("/etc", None),
        (".", None),
        ("", None),
    ] {
        git(&root, &["config", "core.hooksPath", said]);
        assert_eq!(
            settings(&root).hooks,
            expected.map(|path| root.join(path)).into_iter().collect::<Vec<_>>(),
            "{said}"
        );
    }
    git(&root, &["config", "core.hooksPath", "src/hooks"]);
    assert_eq!(settings(&root.join("src")).hooks, [root.join("src/hooks")], "as seen from a directory in it");
    git(&root, &["config", "include.path", "../shared.config"]);
    git(&root, &["config", "filter.x.clean", "sh \"tools/clean.sh\" %f"]);
    git(&root, &["config", "alias.x", "!./src/x --flag"]);
    write(&root, "shared.config", "[user]\nname = x\n");
    assert_eq!(relative(&root, settings(&root).files), ["shared.config", "src/x", "tools/clean.sh"]);
}

/// A pipe is never written: git waits, and the session does not wait for git.
#[test]
fn a_configuration_that_is_a_pipe_is_not_waited_for() {
    let (_root, root) = tree(&[]);
    git(&root, &["init", "--quiet"]);
    fs::remove_file(root.join(".git/config")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join(".git/config")).status().unwrap().success());
    assert_eq!(git_settings(&root, &programs(&root), &[]), GitSettings::default());
}

/// What is named and not there, or included under a condition only, counts as soon as it is made or the condition holds.
#[test]
fn what_a_configuration_leads_to_is_found_also_where_it_is_not_there() {
    let (_root, root) = tree(&["second/x", "hk/pre-commit", "scripts/pc", "sub/x"]);
    git(&root, &["init", "--quiet"]);
    git(&root, &["config", "include.path", "../absent.inc"]);
    git(&root, &["config", "includeIf.onbranch:dev.path", "../dev.inc"]);
    write(&root, "dev.inc", "[include]\npath = second/absent.inc\n[core]\nhooksPath = hk\n");
    git(&root, &["config", "filter.x.clean", "./tools/absent.sh"]);
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink("../../scripts/pc", root.join(".git/hooks/pre-commit")).unwrap();
    git(&root.join("sub"), &["init", "--quiet"]);
    git(&root.join("sub"), &["config", "core.fsmonitor", "./watch.sh"]);
    let protection = Protection::find(&root, &programs(&root));
    let found = git_settings(&root, &programs(&root), &protection.folders());
    assert_eq!(relative(&root, found.hooks), ["hk"]);
    assert_eq!(
        relative(&root, found.files),
        ["absent.inc", "dev.inc", "scripts/pc", "second/absent.inc", "sub/watch.sh", "tools/absent.sh"]
    );
}

/// A crowd of names pushes no other one out, and what is not read is said.
#[test]
fn all_that_git_names_is_found_or_the_rest_is_said() {
    let (_root, root) = tree(&["x"]);
    git(&root, &["init", "--quiet"]);
    let scripts: Vec<String> = (0..250).map(|number| format!("s{number}.sh")).collect();
    let files: String = scripts.iter().map(|script| format!("sh {script}; ")).collect();
    git(&root, &["config", "alias.many", &format!("!{files}")]);
    let (settings, notes) = found(&root, &[]);
    assert_eq!((settings.files.len(), notes), (250, Vec::new()));
    for number in 0..25 {
        write(&root, &format!("{number}.inc"), "[alias]\nx = !sh own.sh\n");
        git(&root, &["config", "--add", "includeIf.onbranch:dev.path", &format!("../{number}.inc")]);
    }
    let (settings, notes) = found(&root, &[]);
    assert!(notes.iter().any(|note| note.contains("has more includes")), "{notes:?}");
    assert!(settings.files.contains(&root.join("24.inc")), "what is included is protected, read or not");
}

/// What the workspace has of it: the user's own files lie elsewhere.
fn within(settings: GitSettings) -> GitSettings {
    GitSettings { elsewhere: Vec::new(), ..settings }
}

/// What is found with these variables, without what this machine's user has configured.
pub(super) fn found(root: &Path, environment: &[(&str, &str)]) -> (GitSettings, Vec<String>) {
    let mut all = vec![("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned())];
    all.extend(environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    if environment.iter().all(|(name, _)| *name != "GIT_CONFIG_GLOBAL") {
        all.push(("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()));
    }
    let programs = programs(root);
    let patience = std::time::Duration::from_secs(60);
    settings::asked(root, &programs, &Protection::find(root, &programs).folders(), all, patience)
}

/// Who replaces one of the links leads git elsewhere, though what it led to stays as it is.
#[test]
fn links_on_the_way_are_found() {
    let (_root, root) = tree(&["real/pc", "real/c", "real/hk/x", "a/c.sh", "plain/x"]);
    git(&root, &["init", "--quiet"]);
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    for (target, link) in [
        ("real/pc", "pcl"),
        ("../../pcl", ".git/hooks/pre-commit"),
        ("real/c", "cl"),
        ("real", "lk"),
        ("a", "l"),
        ("plain", "not-named"),
    ] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    git(&root, &["config", "include.path", "../cl"]);
    git(&root, &["config", "core.hooksPath", "lk/hk"]);
    git(&root, &["config", "core.fsmonitor", "l/c.sh"]);
    let (found, notes) = found(&root, &[]);
    assert_eq!(relative(&root, found.links.clone()), ["cl", "l", "lk", "pcl"]);
    assert_eq!(relative(&root, found.files.clone()), ["a/c.sh", "real/c", "real/pc"]);
    assert_eq!(relative(&root, found.hooks.clone()), ["real/hk"]);
    assert_eq!(relative(&root, found.kept().cloned()).len(), 8);
    assert_eq!(notes, Vec::<String>::new());
}

/// The user's own configuration counts wherever the user works.
#[test]
fn the_users_own_configuration_is_asked_without_a_repository_too() {
    let (_root, root) = tree(&["hk/x", "tools/x.sh", "global"]);
    let file = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let (elsewhere, home) = tree(&["empty"]);
    write(&home, "config", &format!("[include]\npath = {}\n[core]\nhooksPath = {}\n", file("inc"), file("hk")));
    let config = home.join("config").to_str().unwrap().to_owned();
    let (settings, _) = found(&root, &[("GIT_CONFIG_GLOBAL", &config)]);
    assert_eq!(
        (relative(&root, settings.files), relative(&root, settings.hooks)),
        (vec!["inc".into()], vec!["hk".into()])
    );

    let (settings, _) = found(&root, &[("GIT_CONFIG_GLOBAL", &file("global")), ("GIT_EDITOR", "sh tools/x.sh")]);
    assert_eq!(relative(&root, settings.files), ["global", "tools/x.sh"]);
    let numbered =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.fsmonitor"), ("GIT_CONFIG_VALUE_0", "tools/x.sh")];
    assert_eq!(relative(&root, found(&root, &numbered).0.files), ["tools/x.sh"]);
    assert_eq!(relative(&root, found(&root, &[("GIT_TEMPLATE_DIR", "tools")]).0.files), ["tools"]);
    assert_eq!(within(found(&root, &[]).0), GitSettings::default());
    drop(elsewhere);

    let (_root, bare) = tree(&[]);
    git(&bare, &["init", "-q", "--bare", "."]);
    git(&bare, &["config", "include.path", "extra.conf"]);
    assert!(relative(&bare, found(&bare, &[]).0.files).contains(&"extra.conf".to_owned()));
}

#[test]
fn the_configuration_of_repositories_within_is_asked_where_it_is_not_the_ordinary() {
    for (key, value, expected) in [
        ("diff.external", "tools/d", Some("sub/tools/d")),
        ("difftool.x.cmd", "tools/d", Some("sub/tools/d")),
        ("core.askPass", "tools/d", Some("sub/tools/d")),
        ("remote.o.uploadpack", "tools/d", Some("sub/tools/d")),
        ("trailer.x.cmd", "tools/d", Some("sub/tools/d")),
        ("user.name", "tools/d", None),
    ] {
        let (_root, root) = tree(&["sub/tools/d"]);
        git(&root, &["init", "--quiet"]);
        git(&root.join("sub"), &["init", "--quiet"]);
        git(&root.join("sub"), &["config", key, value]);
        let found = relative(&root, found(&root, &[]).0.files);
        assert_eq!(found.first().map(String::as_str), expected, "{key}");
    }
    let (_root, root) = tree(&["sub/tools/d", "sub/tools/e"]);
    git(&root.join("sub"), &["init", "--quiet"]);
    fs::create_dir_all(root.join("sub/.git/hooks")).unwrap();
    std::os::unix::fs::symlink("../../tools/e", root.join("sub/.git/hooks/pre-commit")).unwrap();
    assert_eq!(
        relative(&root, found(&root, &[]).0.files),
        ["sub/tools/e"],
        "a link among hooks beside ordinary settings"
    );
    git(&root.join("sub"), &["config", "extensions.worktreeConfig", "true"]);
    git(&root.join("sub"), &["config", "--worktree", "core.fsmonitor", "tools/d"]);
    assert_eq!(relative(&root, found(&root, &[]).0.files), ["sub/tools/d", "sub/tools/e"]);
}

/// Each is one process. Of the others it is said.
#[test]
fn repositories_that_are_not_asked_are_said() {
    let (_root, root) = tree(&[]);
    for number in 0..33 {
        write(&root, &format!("{number:02}/.git/config"), "[diff]\nexternal = ./x\n");
        write(&root, &format!("{number:02}/.git/HEAD"), "ref: refs/heads/x\n");
        ["objects", "refs"]
            .iter()
            .for_each(|name| fs::create_dir(root.join(format!("{number:02}/.git/{name}"))).unwrap());
    }
    let (settings, notes) = found(&root, &[]);
    assert_eq!(settings.files.len(), 30);
    assert!(notes.len() == 1 && notes[0].contains("of 3 repositories"), "{notes:?}");
}

#[test]
fn what_git_copies_and_what_it_runs_in_other_words_is_found() {
    let (_root, root) = tree(&["tpl/hooks/pre-commit", "tools/up.sh", "tools/x.sh", "sub/x", "a b/c.sh"]);
    git(&root, &["init", "--quiet"]);
    for (key, value, expected, is_said) in [
        ("init.templateDir", root.join("tpl").to_str().unwrap(), "tpl", false),
        ("submodule.sub.update", "!../tools/up.sh", "tools/up.sh", false),
        ("core.fsmonitor", "\"a b/c.sh\"", "a b/c.sh", false),
        ("alias.z", "!$GIT_DIR/../tools/x.sh", "tools/x.sh", false),
        ("alias.z", "!\"$(git rev-parse --git-dir)/../tools/x.sh\"", "tools/x.sh", false),
        ("core.fsmonitor", "sh tools/x*.sh", "tools", true),
        ("core.fsmonitor", "python3 tools", "tools", true),
    ] {
        git(&root, &["init", "--quiet", "sub"]);
        git(&root, &["config", key, value]);
        let (settings, notes) = found(&root, &[]);
        assert!(relative(&root, settings.files.clone()).contains(&expected.to_owned()), "{key} {value}: {settings:?}");
        assert_eq!(
            notes.iter().any(|note| note.contains("runs an unnamed program in `tools`")),
            is_said,
            "{value}: {notes:?}"
        );
        git(&root, &["config", "--unset", key]);
    }
    // What is not known at all is said, and the workspace as a whole stays open.
    git(&root, &["config", "core.fsmonitor", "sh *.sh"]);
    let (settings, notes) = found(&root, &[]);
    assert_eq!(within(settings), GitSettings::default());
    assert!(notes.len() == 1 && notes[0].contains("`core.fsmonitor`"), "{notes:?}");
}

/// As an ordinary user: root lists everything.
#[test]
fn a_directory_that_is_closed_is_searched_all_the_same() {
    if rustix::process::geteuid().is_root() {
        // Nothing is closed to root.
        return as_an_ordinary_user("a_directory_that_is_closed_is_searched_all_the_same");
    }
    let (_root, root) = tree(&["d/.envrc"]);
    fs::set_permissions(root.join("d"), std::os::unix::fs::PermissionsExt::from_mode(0o311)).unwrap();
    let found = Finder::new(&root).find();
    assert_eq!(relative(&root, found.finds.into_iter().map(|find| find.path)), ["d/.envrc"]);
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(root.join("d")).unwrap().permissions());
    assert_eq!((mode & 0o777, found.unsearched.len()), (0o311, 0));
}

/// Runs one test once more as another user.
fn as_an_ordinary_user(test: &str) {
    let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    let directory = tempfile::Builder::new().permissions(open_to_all).tempdir_in("/var/tmp").unwrap();
    let copy = directory.path().join("tests");
    // Another program copies: a file that this process holds open for writing is busy in whatever another test starts meanwhile.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&copy).status();
    assert!(copied.unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy).arg(test);
    let output = command.env("TMPDIR", "/tmp").current_dir("/").output().expect("root has setpriv");
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}
