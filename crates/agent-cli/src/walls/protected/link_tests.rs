//! Links with protected names, and what they lead to.

use super::finder::{Find, Finder};
use super::tests::{programs, relative, tree};
use super::*;
use std::fs;
use std::os::unix::fs::symlink;

fn links(root: &Path, links: &[(&str, &str)]) {
    for (target, link) in links {
        fs::create_dir_all(root.join(link).parent().unwrap()).unwrap();
        symlink(target, root.join(link)).unwrap();
    }
}

#[test]
fn what_a_link_with_a_protected_name_leads_to_is_protected_and_every_link_on_the_way_is_kept() {
    let (_root, root) = tree(&["dev/rc", "dev/vs/tasks.json", "real/hop/mcp", "CLAUDE.md", "plain/x"]);
    links(
        &root,
        &[
            ("dev/rc", "sub/../.bashrc"),
            ("../dev/vs", "sub/.vscode"),
            ("hop/two", ".mcp.json"),
            ("real/hop", "hop"),
            ("mcp", "real/hop/two"),
            ("CLAUDE.md", "AGENTS.md"),
            ("dev/absent", ".envrc"),
            ("/etc/hostname", ".profile"),
            ("plain", "elsewhere"),
            (".zshrc", ".zshrc"),
        ],
    );
    let found = Protection::find(&root, &programs(&root));
    let paths = relative(&root, found.paths().into_iter().filter(|path| path.starts_with(&root)));
    for path in ["dev/rc", "dev/vs", "real/hop/mcp", "CLAUDE.md", ".bashrc", "sub/.vscode"] {
        assert!(paths.contains(&path.to_owned()), "{path}: {paths:?}");
    }
    assert!(!paths.iter().any(|path| path.starts_with("plain") || path == "elsewhere"), "{paths:?}");
    // Tools may write the instructions where they are allowed to.
    assert_eq!(relative(&root, found.linked()), [".zshrc", "dev/absent", "dev/rc", "dev/vs", "real/hop/mcp"]);
    let later = found.later(&GitSettings::default());
    let kept = relative(&root, later.keeps());
    let expected = [
        ".bashrc",
        ".envrc",
        ".mcp.json",
        ".profile",
        ".zshrc",
        "AGENTS.md",
        "dev/absent",
        "hop",
        "real/hop/two",
        "sub/.vscode",
    ];
    assert_eq!(kept, expected);
}

#[test]
fn protected_pairs_are_found_behind_a_linked_directory() {
    let (_root, root) = tree(&[
        "dev/cargo/config.toml",
        "dev/cargo/other",
        "dev/cfg/fish/x",
        "dev/m.toml",
        ".config/mise/tasks/x",
        "src/x",
    ]);
    links(
        &root,
        &[
            ("dev/cargo", ".cargo"),
            ("../dev/cfg", "sub/.config"),
            ("../m.toml", "dev/mm/config.toml"),
            ("dev/mm", "mise"),
        ],
    );
    let found = Protection::find(&root, &programs(&root));
    let paths = relative(&root, found.paths());
    let expected = [".config/mise", "dev/cargo/config.toml", "dev/cfg/fish", "dev/m.toml", "dev/mm/config.toml"];
    assert_eq!(paths, expected);
    // For tools also what is does not exist yet.
    let for_tools = relative(&root, found.linked());
    for path in ["dev/cargo/config.toml", "dev/cargo/config", "dev/cfg/git", "dev/m.toml"] {
        assert!(for_tools.contains(&path.to_owned()), "{path}: {for_tools:?}");
    }
    assert!(!for_tools.contains(&"dev/cargo".to_owned()));
    let later = found.later(&GitSettings::default());
    assert_eq!(relative(&root, later.keeps()), [".cargo", "dev/mm/config.toml", "mise", "sub/.config"]);
    assert_eq!(later.protects(&root.join(".cargo")), Vec::<PathBuf>::new(), "the whole directory is not protected");
    assert_eq!(later.protects(&root.join("mise")), Vec::<PathBuf>::new());
    assert_eq!(later.protects(&root.join("dev/mm/config.toml")).len(), 1);
}

#[test]
fn links_that_come_later_are_found_with_what_they_lead_to() {
    let (_root, root) = tree(&["dev/rc", "dev/cargo/config.toml"]);
    let mut finder = Finder::new(&root);
    assert_eq!(finder.find().finds, []);
    links(&root, &[("dev/rc", ".bashrc"), ("dev/cargo", ".cargo")]);
    let found = finder.find();
    let paths = |finds: Vec<Find>| relative(&root, finds.into_iter().map(|find| find.path));
    assert_eq!(paths(found.finds), [".bashrc", ".cargo"]);
    assert_eq!(paths(found.linked.finds), ["dev/cargo/config.toml", "dev/rc"]);
}

#[test]
fn other_names_of_protected_files_are_protected() {
    let (_root, root) =
        tree(&[".envrc", "dev/x", "src/deep/y", ".git/config", ".git/hooks/pre-commit", ".vscode/tasks.json"]);
    for (file, name) in [
        (".envrc", "dev/other"),
        (".git/config", "src/notes"),
        (".git/hooks/pre-commit", "src/hook"),
        (".vscode/tasks.json", "src/deep/tasks"),
        ("dev/x", "src/x"),
    ] {
        fs::hard_link(root.join(file), root.join(name)).unwrap();
    }
    let paths = relative(&root, Protection::find(&root, &programs(&root)).paths());
    assert_eq!(paths, [".envrc", ".git", ".vscode", "dev/other", "src/deep/tasks", "src/hook", "src/notes"]);
}
