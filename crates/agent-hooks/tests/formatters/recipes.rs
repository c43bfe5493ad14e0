//! The recipes over the real programs. One that is not on the search path is passed over, and that is said.

use super::formatting;
use super::support::{Agent, Repo};
use agent_git::HooksConfig;
use agent_hooks::{FormatterConfig, recipe_programs, recipes};
use std::path::Path;

struct Case {
    program: &'static str,
    extension: &'static str,
    /// Without these it would format otherwise.
    settings: &'static [(&'static str, &'static str)],
    formatted: &'static str,
    edited: &'static str,
    expected: &'static str,
    /// Formatted by default, so not here.
    otherwise: &'static str,
}

const CASES: &[Case] = &[
    Case {
        program: "rustfmt",
        extension: "rs",
        settings: &[("Cargo.toml", "[package]\nedition = \"2021\"\n"), ("rustfmt.toml", "tab_spaces = 2\n")],
        formatted: "mod other;\nasync fn f() {\n  g();\n}\n",
        edited: "mod other;\nasync fn f() {\n      g( );\n}\n",
        expected: "mod other;\nasync fn f() {\n  g();\n}\n",
        otherwise: "async fn f() {\n    g();\n}\n",
    },
    Case {
        program: "gofmt",
        extension: "go",
        settings: &[],
        formatted: "package p\n\nfunc f() {\n\tg()\n}\n",
        edited: "package p\n\nfunc f() {\n  g( )\n}\n",
        expected: "package p\n\nfunc f() {\n\tg()\n}\n",
        otherwise: "package p\n\nfunc f() {\n    g()\n}\n",
    },
    Case {
        program: "prettier",
        extension: "js",
        settings: &[(".prettierrc", "{\"semi\": false}\n")],
        formatted: "const a = [1]\n",
        edited: "const a = [ 2 ];\n",
        expected: "const a = [2]\n",
        otherwise: "const a = [1];\n",
    },
    Case {
        program: "ruff",
        extension: "py",
        settings: &[("pyproject.toml", "[tool.ruff.format]\nquote-style = \"single\"\n")],
        formatted: "x = 'a'\n",
        edited: "x = [ \"b\" ]\n",
        expected: "x = ['b']\n",
        otherwise: "x = \"a\"\n",
    },
    Case {
        program: "black",
        extension: "py",
        settings: &[("pyproject.toml", "[tool.black]\nline-length = 20\n")],
        formatted: "x = [\n    \"aaaaaa\",\n    \"aaaaaa\",\n]\n",
        edited: "x = [ \"bbbbbb\", \"bbbbbb\" ]\n",
        expected: "x = [\n    \"bbbbbb\",\n    \"bbbbbb\",\n]\n",
        otherwise: "x = [\"bbbbbb\", \"bbbbbb\"]\n",
    },
    Case {
        program: "clang-format",
        extension: "c",
        settings: &[(".clang-format", "IndentWidth: 3\n")],
        formatted: "int f() {\n   g();\n   return 1;\n}\n",
        edited: "int f() {\n g();\n return  2;\n}\n",
        expected: "int f() {\n   g();\n   return 2;\n}\n",
        otherwise: "int f() {\n  g();\n  return 1;\n}\n",
    },
    Case {
        program: "shfmt",
        extension: "sh",
        settings: &[(".editorconfig", "root = true\n[*.sh]\nindent_style = space\nindent_size = 3\n")],
        formatted: "if a; then\n   b\nfi\n",
        edited: "if a\nthen\n b\nfi\n",
        expected: "if a; then\n   b\nfi\n",
        otherwise: "if a; then\n\tb\nfi\n",
    },
];

fn recipe(program: &str, workspace: &Path) -> Option<FormatterConfig> {
    let found = recipes(std::env::var_os("PATH").as_deref(), workspace);
    let found = found.into_iter().find(|formatter| formatter.program.file_name().is_some_and(|name| name == program));
    if found.is_none() {
        println!("SKIPPED: there is no {program}");
    }
    found
}

fn agent(repo: &Repo, formatters: Vec<FormatterConfig>) -> Agent {
    formatting(Agent::new(HooksConfig { auto_commit: false, ..repo.config() }), formatters)
}

#[test]
fn every_recipe_has_a_case() {
    assert_eq!(recipe_programs(), CASES.iter().map(|case| case.program).collect::<Vec<_>>());
}

#[test]
fn each_formats_as_the_repository_says_and_only_what_was_formatted_so() {
    for case in CASES {
        let Some(repo) = Repo::unborn() else { return };
        let Some(formatter) = recipe(case.program, &repo.project) else { continue };
        let is_one_process = formatter.arguments.iter().any(|argument| argument == "{files}");
        let name = |stem: &str| format!("deep/{stem}.{}", case.extension);
        let (one, two, other, new) = (name("one"), name("two"), name("other"), name("new"));
        case.settings.iter().for_each(|(file, text)| repo.write(file, text));
        repo.write(&one, case.formatted);
        repo.write(&two, case.formatted);
        repo.write(&other, case.otherwise);
        let agent = agent(&repo, vec![formatter]);
        [&one, &two, &other, &new].into_iter().for_each(|path| agent.change(path, Some(case.edited)));
        let paths = [&*new, &*one, &*other, &*two];
        assert!(agent.check(&paths).formatting_due);
        let started = agent.processes();
        let report = agent.format(&paths);
        assert_eq!(report.changed_paths, [&*new, &*one, &*two], "{}: {report:?}", case.program);
        for path in [&one, &two, &new] {
            assert_eq!(repo.read(path), case.expected, "{}", case.program);
        }
        assert_eq!(repo.read(&other), case.edited, "{}", case.program);
        assert!(report.notes.len() == 1 && report.notes[0].contains("not formatted before"), "{report:?}");
        let now_and_before = if is_one_process { 2 } else { 4 + 3 };
        // One more keeps how the files were left, for undo.
        assert_eq!(agent.processes() - started, now_and_before + 1, "{}", case.program);

        // What it left formatted needs no second look at how it was.
        [&one, &two].into_iter().for_each(|path| agent.change(path, Some(case.edited)));
        agent.check(&[&one, &two]);
        let started = agent.processes();
        assert_eq!(agent.format(&[&one, &two]).changed_paths, [&*one, &*two]);
        assert_eq!(agent.processes() - started, if is_one_process { 1 } else { 2 } + 1, "{}", case.program);
    }
}

/// Where nothing says that the formatter is used, a new file is left to its author; a file that was formatted so stays so.
#[test]
fn a_new_file_is_formatted_where_the_repository_uses_the_formatter() {
    for case in CASES {
        let Some(repo) = Repo::unborn() else { return };
        let Some(formatter) = recipe(case.program, &repo.project) else { continue };
        let of_its_language = formatter.new_files;
        let new = format!("new.{}", case.extension);
        let edited = case.edited.replace("async ", "");
        let agent = agent(&repo, vec![formatter]);
        agent.change(&new, Some(&edited));
        let report = agent.format(&[&new]);
        assert_eq!(report.changed_paths.len(), usize::from(of_its_language), "{}: {report:?}", case.program);
        assert_eq!(report.notes, Vec::<String>::new(), "{}", case.program);
    }
}

#[test]
fn the_formatter_that_the_repository_uses_comes_first() {
    let Some(repo) = Repo::unborn() else { return };
    let (Some(ruff), Some(black)) = (recipe("ruff", &repo.project), recipe("black", &repo.project)) else { return };
    repo.write("pyproject.toml", "[tool.black]\nline-length = 20\n");
    let agent = agent(&repo, vec![ruff, black]);
    agent.change("new.py", Some("x = [ \"bbbbbb\", \"bbbbbb\" ]\n"));
    agent.format(&["new.py"]);
    assert_eq!(repo.read("new.py"), "x = [\n    \"bbbbbb\",\n    \"bbbbbb\",\n]\n");
}

/// One file with a fault does not keep the others from being formatted.
#[test]
fn a_file_that_cannot_be_read_by_the_formatter_stands_alone() {
    for case in CASES {
        let Some(repo) = Repo::unborn() else { return };
        let Some(formatter) = recipe(case.program, &repo.project) else { continue };
        case.settings.iter().for_each(|(file, text)| repo.write(file, text));
        let (good, bad) = (format!("good.{}", case.extension), format!("bad.{}", case.extension));
        let agent = agent(&repo, vec![formatter]);
        agent.change(&good, Some(case.edited));
        let broken = "if ( { [ ' \" fn\n";
        agent.change(&bad, Some(broken));
        let report = agent.format(&[&bad, &good]);
        assert_eq!(repo.read(&good), case.expected, "{}: {report:?}", case.program);
        if case.program != "clang-format" {
            assert_eq!(repo.read(&bad), broken, "{}", case.program);
            assert!(report.notes.len() == 1 && report.notes[0].contains("bad."), "{}: {report:?}", case.program);
        }
    }
}

/// A program that the repository brings along is not one that the user put there, by whatever way the search path leads to it.
#[test]
fn programs_in_the_workspace_are_not_found() {
    let Some(repo) = Repo::none() else { return };
    repo.write("bin/gofmt", "#!/bin/sh\n");
    repo.make_executable("bin/gofmt");
    let outside = repo.home().join("bin");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(repo.project.join("bin/gofmt"), outside.join("gofmt")).unwrap();
    let bin = repo.project.join("bin");
    for path in [bin.as_path(), &outside, Path::new("bin"), Path::new(".")] {
        assert_eq!(recipes(Some(path.as_os_str()), &repo.project), [], "{}", path.display());
    }
    // The control: elsewhere it is found.
    assert_eq!(recipes(Some(bin.as_os_str()), &repo.home()).len(), 1);
}
