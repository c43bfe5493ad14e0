//! Rules that a person wants to keep: they go into the user's configuration, never into the repository's, and leave everything else in the
//! file as it is.

use crate::config::file::{UserConfig, read_capped, user_config_path};
use crate::config::project_programs::runs_the_project;
use crate::config::server_rules;
use crate::screen::terminal::{inline, shown_path};
use agent_core::permission::Rule;
use agent_mcp::ServerConfig;
use std::io::Write;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// Where rules are kept, for people.
pub(crate) fn place() -> String {
    user_config_path()
        .map_or_else(|| String::from("no file: there is no home directory"), |path| path.display().to_string())
}

/// Where a rule holds that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// In every directory: it means the same in each.
    Everywhere,
    /// In the directory in which it was kept: what it names is something else elsewhere.
    Here,
}

impl Reach {
    /// Where a rule means what was asked about. A rule about the tool as a whole and one about a program with whatever arguments mean the
    /// same everywhere, unless the program runs what lies in the directory, or the tool is of a server that the repository names; files are
    /// named from the directory, and so are those in the words of a command.
    pub(crate) fn of(rule: &Rule, servers: &[ServerConfig]) -> Self {
        if server_rules::of_repository(rule, servers).is_some() {
            return Self::Here;
        }
        let text = rule.to_string();
        let Some((_, pattern)) = text.split_once('(') else { return Self::Everywhere };
        let pattern = pattern.strip_suffix(')').unwrap_or(pattern);
        let is_relative = |word: &str| word.contains('/') && !word.starts_with('/');
        match (rule.tool(), pattern.strip_suffix(":*")) {
            ("bash", Some(command)) if command.split_whitespace().any(is_relative) || runs_the_project(command) => {
                Self::Here
            }
            ("bash", Some(_)) => Self::Everywhere,
            ("bash", _) => Self::Here,
            _ if pattern.starts_with('/') => Self::Everywhere,
            _ => Self::Here,
        }
    }
}

/// Adds a rule to what runs without asking, in every directory or in this one. Says where it holds.
///
/// # Errors
/// What was attempted and found. The file is then as it was.
fn keep(rule: &Rule, directory: &Path, servers: &[ServerConfig]) -> Result<Reach, String> {
    let path = user_config_path().ok_or("there is no home directory; set AGENT_CONFIG_HOME")?;
    let failed = |error: String| format!("cannot save the rule in {}: {error}", path.display());
    let text = read_capped(&path).map_err(|error| failed(error.to_string()))?.unwrap_or_default();
    let reach = Reach::of(rule, servers);
    let place = (reach == Reach::Here).then_some(directory);
    if let Some(text) = with_rule(&text, rule, place).map_err(failed)? {
        // A file that cannot be used keeps nothing.
        toml::from_str::<UserConfig>(&text).map_err(|error| failed(error.message().to_owned()))?;
        replace(&path, &text).map_err(|error| failed(error.to_string()))?;
    }
    Ok(reach)
}

/// Keeps all of them, and says of each where it holds from now on, a line each.
///
/// # Errors
/// Of the first that cannot be kept.
pub(crate) fn keep_all(rules: &[Rule], directory: &Path, servers: &[ServerConfig]) -> Result<Vec<String>, String> {
    let kept = rules.iter().map(|rule| {
        let place = match keep(rule, directory, servers)? {
            Reach::Everywhere => String::from("every directory"),
            Reach::Here => shown_path(directory),
        };
        Ok(inline(&format!("saved in {}, for {place}: `{rule}`", self::place())))
    });
    kept.collect()
}

/// The file with the rule, or nothing when it is there already.
fn with_rule(text: &str, rule: &Rule, directory: Option<&Path>) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let table = match directory {
        None => document.as_table_mut(),
        Some(directory) => {
            let name = directory.to_str().ok_or("the name of the directory is not UTF-8")?;
            let implicit = || {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            };
            let projects = document.entry("projects").or_insert_with(implicit);
            let projects = projects.as_table_mut().ok_or("`projects` is not a table")?;
            let project = projects.entry(name).or_insert_with(|| Item::Table(Table::new()));
            project.as_table_mut().ok_or("an entry of `projects` is not a table")?
        }
    };
    let entry = table.entry("allow").or_insert(Item::Value(Value::Array(Array::new())));
    let rules = entry.as_array_mut().ok_or("`allow` is not a list of rules")?;
    let rule = rule.to_string();
    if rules.iter().any(|known| known.as_str() == Some(&rule)) {
        return Ok(None);
    }
    rules.push(rule);
    Ok(Some(document.to_string()))
}

/// Puts a new file in the place of the old one, or of what a link leads to. A reader meanwhile gets one or the other.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let real: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = real.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    agent_exec::leftovers::note_path(file.path());
    if let Ok(metadata) = real.metadata() {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&real)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_in_the_file_stays() {
        let rule = "bash(git status)".parse().unwrap();
        let cases = [
            ("", "allow = [\"bash(git status)\"]\n"),
            ("# mine\nmodel = \"m\"  # why\n", "# mine\nmodel = \"m\"  # why\nallow = [\"bash(git status)\"]\n"),
            (
                "allow = [ \"read_file\" ] # these\n[limits]\nmax_turns = 3\n",
                "allow = [ \"read_file\" , \"bash(git status)\"] # these\n[limits]\nmax_turns = 3\n",
            ),
            ("[limits]\nmax_turns = 3\n", "allow = [\"bash(git status)\"]\n[limits]\nmax_turns = 3\n"),
        ];
        for (before, after) in cases {
            let made = with_rule(before, &rule, None).unwrap().unwrap();
            assert_eq!(made, after);
            assert_eq!(with_rule(&made, &rule, None), Ok(None), "once is enough");
            assert!(toml::from_str::<UserConfig>(&made).unwrap().allow.contains(&rule));
        }
        for wrong in ["allow = 3\n", "allow = [\n", "[allow]\n"] {
            assert!(with_rule(wrong, &rule, None).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_names_something_from_the_directory_is_kept_for_that_directory() {
        for (rule, reach) in [
            ("bash", Reach::Everywhere),
            ("bash(git status:*)", Reach::Everywhere),
            ("bash(rg:*)", Reach::Everywhere),
            ("bash(/usr/bin/make:*)", Reach::Here),
            ("bash(cargo run:*)", Reach::Here),
            ("bash(npm run lint:*)", Reach::Here),
            ("bash(python3.12 manage.py:*)", Reach::Here),
            ("bash(timeout 60 make:*)", Reach::Here),
            ("bash+network(npm install:*)", Reach::Here),
            ("bash(./x.sh:*)", Reach::Here),
            ("bash(rm -rf build)", Reach::Here),
            ("bash+network(git fetch:*)", Reach::Everywhere),
            ("edit_file", Reach::Everywhere),
            ("edit_file(src/a.rs)", Reach::Here),
        ] {
            assert_eq!(Reach::of(&rule.parse().unwrap(), &[]), reach, "{rule}");
        }
    }

    #[test]
    fn a_rule_of_a_directory_holds_there_alone() {
        let rule: Rule = "edit_file(src/a.rs)".parse().unwrap();
        let before = "allow = [\"bash(git status:*)\"]\n\n[limits]\nmax_turns = 3\n";
        let made = with_rule(before, &rule, Some(Path::new("/home/me/one"))).unwrap().unwrap();
        assert_eq!(made, format!("{before}\n[projects.\"/home/me/one\"]\nallow = [\"edit_file(src/a.rs)\"]\n"));
        assert_eq!(with_rule(&made, &rule, Some(Path::new("/home/me/one"))), Ok(None), "once is enough");
        let user: UserConfig = toml::from_str(&made).unwrap();
        assert!(user.allowed_in(Path::new("/home/me/one")).contains(&rule));
        assert!(!user.allowed_in(Path::new("/home/me/two")).contains(&rule));
        assert_eq!(user.allowed_in(Path::new("/home/me/two")).len(), 1);
        let again = with_rule(&made, &rule, Some(Path::new("/home/me/two"))).unwrap().unwrap();
        assert_eq!(toml::from_str::<UserConfig>(&again).unwrap().projects.len(), 2);
        assert!(with_rule("projects = 3\n", &rule, Some(Path::new("/x"))).is_err());
    }
}
