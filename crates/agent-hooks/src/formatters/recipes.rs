//! Formatters that need no configuration: how the customary ones are called.
//!
//! They read what a repository says about them, and some run what it names, so they are for repositories that the user trusts. Each is
//! called over copies, or by standard input where it would follow from one file to others.

use super::config::{FormatterConfig, FormatterInput, SettingsFile};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The formatters whose programs are found on a search path. Programs in the workspace are passed over: whatever is found there was not
/// put there by the user.
#[must_use]
pub fn recipes(search_path: Option<&OsStr>, workspace: &Path) -> Vec<FormatterConfig> {
    let found = RECIPES.iter().filter_map(|recipe| Some((recipe, find(search_path?, recipe.program, workspace)?)));
    found.map(|(recipe, program)| recipe.with(program)).collect()
}

/// The programs that would be used, were they there.
#[must_use]
pub fn recipe_programs() -> Vec<&'static str> {
    RECIPES.iter().map(|recipe| recipe.program).collect()
}

struct Recipe {
    program: &'static str,
    extensions: &'static [&'static str],
    arguments: &'static [&'static str],
    /// Files that configure it, and the text that they have when they say that it is used.
    settings: &'static [(&'static str, Option<&'static str>)],
    /// Whether it is *the* formatter of its language.
    new_files: bool,
}

/// Where several handle a file, the first that the repository configures is used, else the first.
const RECIPES: &[Recipe] = &[
    Recipe {
        program: "rustfmt",
        extensions: &["rs"],
        // From a file it would continue to the modules that the file names.
        arguments: &["--edition={edition}"],
        settings: &[],
        new_files: true,
    },
    Recipe { program: "gofmt", extensions: &["go"], arguments: &["-w", "{files}"], settings: &[], new_files: true },
    Recipe {
        program: "prettier",
        extensions: &[
            "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "css", "scss", "less", "html", "vue", "json", "yaml",
            "yml", "md", "graphql",
        ],
        arguments: &["--write", "--log-level=warn", "{files}"],
        settings: &[
            (".prettierrc", Some("")),
            (".prettierrc.json", Some("")),
            (".prettierrc.json5", Some("")),
            (".prettierrc.yaml", Some("")),
            (".prettierrc.yml", Some("")),
            (".prettierrc.toml", Some("")),
            (".prettierrc.js", Some("")),
            (".prettierrc.cjs", Some("")),
            (".prettierrc.mjs", Some("")),
            (".prettierrc.ts", Some("")),
            ("prettier.config.js", Some("")),
            ("prettier.config.cjs", Some("")),
            ("prettier.config.mjs", Some("")),
            ("prettier.config.ts", Some("")),
            ("package.json", Some("\"prettier\"")),
            (".prettierignore", None),
            (".editorconfig", None),
            ("node_modules", None),
        ],
        new_files: false,
    },
    Recipe {
        program: "ruff",
        extensions: &["py", "pyi"],
        arguments: &["format", "--quiet", "--no-cache", "{files}"],
        settings: &[("ruff.toml", Some("")), (".ruff.toml", Some("")), ("pyproject.toml", Some("[tool.ruff"))],
        new_files: false,
    },
    Recipe {
        program: "black",
        extensions: &["py", "pyi"],
        arguments: &["--quiet", "{files}"],
        settings: &[("pyproject.toml", Some("[tool.black"))],
        new_files: false,
    },
    Recipe {
        program: "clang-format",
        extensions: &["c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx"],
        arguments: &["-i", "{files}"],
        settings: &[(".clang-format", Some("")), ("_clang-format", Some("")), (".clang-format-ignore", None)],
        new_files: false,
    },
    Recipe {
        program: "shfmt",
        extensions: &["sh", "bash"],
        arguments: &["-w", "{files}"],
        settings: &[(".editorconfig", Some("sh"))],
        new_files: false,
    },
];

/// Time that one process may take. The first start of some is slow.
const TIMEOUT_MS: u64 = 20_000;

impl Recipe {
    fn with(&self, program: PathBuf) -> FormatterConfig {
        let takes_files = self.arguments.contains(&"{files}");
        let settings = self
            .settings
            .iter()
            .map(|(name, sign)| SettingsFile { name: (*name).to_owned(), sign: sign.map(str::to_owned) });
        FormatterConfig {
            extensions: self.extensions.iter().map(|extension| (*extension).to_owned()).collect(),
            program,
            arguments: self.arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            input: if takes_files { FormatterInput::Files } else { FormatterInput::Stdin },
            settings: settings.collect(),
            new_files: self.new_files,
            timeout_ms: TIMEOUT_MS,
        }
    }
}

/// The absolute path of a program outside of the workspace. A link is not followed to its end: some programs go by the name they are
/// called.
fn find(search_path: &OsStr, name: &str, workspace: &Path) -> Option<PathBuf> {
    let is_outside = |file: &Path| file.canonicalize().is_ok_and(|file| !file.starts_with(workspace));
    env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file) && !file.starts_with(workspace) && is_outside(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
