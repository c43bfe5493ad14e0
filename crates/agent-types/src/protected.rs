//! Files that no tool writes, whatever the permission mode: the data of version control, the agent's own configuration, and files from
//! which other programs take commands that they run by themselves when a user opens, enters or commits in the directory. Writing one of
//! these is running a command later, without a question.
//!
//! The list is here because several hands hold it: the file tools, the sandbox of commands, and the hooks that restore and format files.
//!
//! Absent: files that run only when the project is built, tested or started (`Makefile`, `build.rs`, `package.json`). Writing those is an
//! agent's work.

pub(crate) mod folded;

use alloc::string::String;
use alloc::vec::Vec;
use folded::Name;

/// Why a path is protected, as the end of a sentence; `None` if it is not. The path is relative, with `/` between its names. Letter case
/// does not count, nor what else some file system does not tell apart: dots at the end, invisible code points, short names such as `GIT~1`.
///
/// ```
/// use agent_types::protected;
/// assert_eq!(protected::reason("sub/.git/config"), Some("belongs to git's own data"));
/// assert_eq!(protected::reason("sub/GIT~1/config"), Some("belongs to git's own data"));
/// assert_eq!(protected::reason("src/main.rs"), None);
/// ```
#[must_use]
pub fn reason(path: &str) -> Option<&'static str> {
    let mut parent: Option<Name> = None;
    let mut names = path.split('/').filter(|name| !name.is_empty() && *name != ".").peekable();
    while let Some(name) = names.next() {
        let name = Name::of(name);
        let is_last = names.peek().is_none();
        if let Some(reason) = of_name(&name, parent.as_ref(), is_last) {
            return Some(reason);
        }
        parent = Some(name);
    }
    None
}

/// Whether a name is protected wherever it stands, be it of a file or of a directory.
#[must_use]
pub fn is_protected_name(name: &str) -> bool {
    of_name(&Name::of(name), None, true).is_some()
}

/// Whether a name is protected in a directory of this name.
#[must_use]
pub fn is_protected_in(parent: &str, name: &str) -> bool {
    of_name(&Name::of(name), Some(&Name::of(parent)), true).is_some()
}

/// Whether the names in a directory make a git repository of it, whatever its own name is: git looks for these.
///
/// ```
/// use agent_types::protected::makes_repository;
/// assert!(makes_repository(|name| ["HEAD", "objects", "refs"].contains(&name)));
/// assert!(!makes_repository(|name| ["objects", "refs"].contains(&name)));
/// ```
#[must_use]
pub fn makes_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// Whether a name is this one, however some file system spells it.
#[must_use]
pub fn is_same_name(name: &str, known: &str) -> bool {
    Name::of(name).is(Name::of(known).as_str())
}

/// The names that are protected in a directory of this name only, in lower case. A link of this name makes such a directory of another one.
pub fn names_in(parent: &str) -> impl Iterator<Item = &'static str> + use<> {
    let parent = Name::of(parent);
    PAIRS.iter().filter(move |(known, _)| parent.is(known)).map(|(_, name)| *name)
}

/// Whether a file gives agents instructions that every later session reads. Tools may write it, but only when a person allows this very
/// call or a rule names it.
#[must_use]
pub fn is_instructions(path: &str) -> bool {
    let name = Name::of(path.rsplit('/').next().unwrap_or(path));
    // Copilot reads those of `.github/instructions`; by its name alone one is known to those who see no folder.
    INSTRUCTIONS.iter().any(|known| name.is(known))
        || name.as_str().ends_with(".instructions.md")
        || name.is_short_with_ending("md")
}

/// The protected names, in lower case, for documentation: those that count anywhere, then `parent/name` pairs, then endings as `*.ending`.
#[must_use]
pub fn names() -> Vec<String> {
    let mut all: Vec<String> = KINDS.iter().flat_map(|kind| kind.names).map(|name| String::from(*name)).collect();
    all.push(String::from(HEAD));
    all.extend(PAIRS.iter().map(|(parent, name)| [*parent, "/", *name].concat()));
    all.extend(ENDINGS.iter().map(|ending| ["*", *ending].concat()));
    all.extend([".mise.*.toml", ".direnv/*.rc"].map(String::from));
    all
}

fn of_name(name: &Name, parent: Option<&Name>, is_last: bool) -> Option<&'static str> {
    let is_of = |kind: &&Kind| (is_last || kind.are_directories) && kind.names.iter().any(|known| name.is(known));
    if let Some(kind) = KINDS.iter().find(is_of) {
        return Some(kind.reason);
    }
    if is_last && name.as_str() == HEAD {
        return Some("could make a git repository of its directory");
    }
    if is_last && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return Some(EDITOR);
    }
    // `.mise.production.toml`: one for each environment.
    let is_of_mise = [".mise.", "mise."].iter().any(|head| name.as_str().starts_with(head))
        && name.as_str().ends_with(".toml")
        || name.as_str().starts_with("mise") && name.is_short_with_ending("tom");
    if is_last && is_of_mise {
        return Some(SHELL);
    }
    // What direnv's extension for nix keeps, and reads in with every prompt: `.direnv/flake-profile-….rc`.
    let is_of_direnv = |parent: &Name| parent.is(".direnv") && name.ends_with(".rc");
    if is_last && parent.is_some_and(is_of_direnv) {
        return Some(SHELL);
    }
    let is_pair = |parent: &Name| PAIRS.iter().any(|(above, known)| parent.is(above) && name.is(known));
    parent.is_some_and(is_pair).then_some(SHELL)
}

/// Names with one reason.
struct Kind {
    reason: &'static str,
    /// Whether what is below such a name is protected, too.
    are_directories: bool,
    names: &'static [&'static str],
}

const EDITOR: &str = "can make an editor run commands";
const GIT: &str = "can make git run commands";
const AGENT: &str = "configures an agent";
const SHELL: &str = "is run by a shell, a desktop or a debugger when it starts";

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    Kind { reason: "belongs to git's own data", are_directories: true, names: &[".git"] },
    Kind { reason: "belongs to version control", are_directories: true, names: &[".hg", ".jj", ".sl", ".bzr", "_darcs", ".pijul"] },
    Kind { reason: "belongs to the agent's own configuration", are_directories: true, names: &[".agent"] },
    Kind { reason: EDITOR, are_directories: true, names: &[
        ".vscode", ".idea", ".devcontainer", ".zed", ".fleet", ".helix", ".theia", ".nova", ".vs", ".vim", ".emacs.d", ".idx", ".bsp",
        ".externaltoolbuilders", ".sourcekit-lsp", ".metals", ".bloop", ".nlsp-settings", ".doom.d", ".codesandbox",
    ] },
    Kind { reason: EDITOR, are_directories: false, names: &[
        ".vimrc", "_vimrc", ".gvimrc", "_gvimrc", ".vimspector.json", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el", ".emacs",
        ".devcontainer.json", ".kateproject", ".kakrc", ".gitpod.yml", ".gitpod.yaml", ".project", ".ycm_extra_conf.py",
        ".pylintrc", "pylintrc", "rust-toolchain.toml", "rust-toolchain", "rust-analyzer.toml", ".rust-analyzer.toml", "rust-project.json",
        ".rust-project.json", "hie.yaml", ".hie-bios", ".luarc.json", ".luarc.jsonc", ".emmyrc.json", ".merlin", "omnisharp.json", ".solargraph.yml",
        ".neoconf.json", ".lite_project.lua", ".emacs.el", ".emacs.elc", ".spacemacs", ".replit", ".stackblitzrc",
    ] },
    Kind { reason: GIT, are_directories: true, names: &[
        ".githooks", ".git-hooks", ".git_hooks", ".husky", ".cargo-husky", ".lefthook", ".lefthook-local", ".trunk",
    ] },
    Kind { reason: GIT, are_directories: false, names: &[
        ".gitconfig", ".gitmodules", ".hgrc", ".hgsub", ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml",
        ".lefthook.yml", ".lefthook.yaml", "lefthook.toml", ".lefthook.toml", "lefthook.json", ".lefthook.json", "lefthook-local.yml", "lefthook-local.yaml",
        "lefthook-local.toml", "lefthook-local.json", ".lefthook-local.yml", ".lefthook-local.yaml", ".lefthook-local.toml", ".lefthook-local.json", ".lintstagedrc", ".lintstagedrc.json", ".lintstagedrc.yml", ".lintstagedrc.yaml", ".lintstagedrc.js",
        ".lintstagedrc.cjs", ".lintstagedrc.mjs", ".lintstagedrc.ts", ".lintstagedrc.cts", ".lintstagedrc.mts", "lint-staged.config.js", "lint-staged.config.cjs",
        "lint-staged.config.mjs", "lint-staged.config.ts", "lint-staged.config.cts", "lint-staged.config.mts",
        "commitlint.config.js", "commitlint.config.cjs", "commitlint.config.mjs", "commitlint.config.ts", "commitlint.config.cts", "commitlint.config.mts",
        ".commitlintrc", ".commitlintrc.json", ".commitlintrc.yml", ".commitlintrc.yaml", ".commitlintrc.js", ".commitlintrc.cjs", ".commitlintrc.mjs",
        ".commitlintrc.ts", ".commitlintrc.cts", ".commitlintrc.mts", "captainhook.json", "captainhook.json.dist", "grumphp.yml", "grumphp.yaml",
        "grumphp.yml.dist", "grumphp.yaml.dist", "grumphp.dist.yml", "grumphp.dist.yaml", ".rusty-hook.toml", "rusty-hook.toml", "prek.toml", "hk.pkl", "hk.local.pkl",
        ".overcommit.yml", ".huskyrc", ".huskyrc.json", ".huskyrc.js", ".huskyrc.cjs", ".huskyrc.yml", ".huskyrc.yaml", ".simple-git-hooks.json", ".simple-git-hooks.js", ".simple-git-hooks.cjs",
        ".simple-git-hooks.mjs", "simple-git-hooks.json", "simple-git-hooks.js", "simple-git-hooks.cjs", "simple-git-hooks.mjs", "husky.config.js",
        "lefthook.jsonc", ".lefthook.jsonc", "lefthook-local.jsonc", ".lefthook-local.jsonc", ".local-overcommit.yml", ".gitlint",
    ] },
    Kind { reason: AGENT, are_directories: true, names: &[
        ".claude", ".codex", ".cursor", ".gemini", ".opencode", ".windsurf", ".roo", ".kiro", ".amazonq", ".continue", ".cline", ".clinerules",
        ".goose", ".openhands", ".kilocode", ".crush", ".junie", ".trae", ".qwen", ".factory", ".augment", ".aider",
        ".pi", ".vibe", ".grok", ".amp", ".qoder", ".agents", ".copilot", ".codebuddy", ".iflow", ".zencoder", ".rovodev", ".kimi", ".lingma",
        ".antigravity",
    ] },
    Kind { reason: AGENT, are_directories: false, names: &[
        ".mcp.json", ".aider.conf.yml", "opencode.json", "opencode.jsonc", ".opencode.json", ".cursorrules", ".windsurfrules", ".roorules", ".goosehints",
        "crush.json", ".crush.json", ".rules", "gptme.toml",
    ] },
    Kind { reason: SHELL, are_directories: true, names: &[".ssh", ".gnupg", ".mise", ".bashrc.d", ".zshrc.d", ".shadowenv.d", ".ipython", ".xmonad"] },
    Kind { reason: SHELL, are_directories: false, names: &[
        ".envrc", ".envrc.local", ".envrc.private", ".envrc.user", ".envrc.override", ".rvmrc", ".rbenv-vars", ".mise.toml", "mise.toml", ".mise.local.toml", "mise.local.toml", ".rtx.toml", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh",
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
        ".zlogout", ".cshrc", ".tcshrc", ".login", ".logout", ".kshrc", ".mkshrc", ".inputrc", ".tmux.conf", ".screenrc", ".xprofile", ".xsession",
        ".xsessionrc", ".xinitrc", ".pam_environment", ".gdbinit", ".lldbinit", ".rprofile", ".renviron", ".pdbrc", ".pdbrc.py", ".pythonrc",
        ".irbrc", ".pryrc", ".rdbgrc", ".byebugrc", ".perldb", ".lazy.lua", ".iex.exs", ".ghci", ".ocamlinit", ".erlang", ".gnuplot", ".sqliterc", ".psqlrc",
        ".octaverc", ".xonshrc", ".wezterm.lua", ".lessfilter", ".mailcap", "ansible.cfg", "jupyter_notebook_config.py", "jupyter_server_config.py", "jupyter_lab_config.py", "jupyter_config.py", "ipython_config.py",
        ".tool-versions", ".yarnrc.yml", ".yarnrc", ".pnpmfile.cjs", ".pnpmfile.mjs", ".npmrc", ".bashrc.local", ".zshrc.local", ".gdbearlyinit",
        // zsh reads these in the place of their sources.
        ".zshrc.zwc", ".zshenv.zwc", ".zprofile.zwc", ".zlogin.zwc", ".zlogout.zwc", ".zshrc.local.zwc", ".zcompdump", ".zcompdump.zwc", ".p10k.zsh", ".p10k.zsh.zwc", ".bash_completion",
        "_irbrc", "$irbrc", "irb.rc", ".pythonrc.py", ".tclshrc", ".wishrc", ".xserverrc", ".sbclrc", ".clisprc", ".guile", ".tmux.conf.local", ".cgdbrc",
    ] },
];

/// Names that are protected in a directory of another name only.
#[rustfmt::skip]
const PAIRS: &[(&str, &str)] = &[
    ("direnv", "direnv.toml"), ("direnv", "direnvrc"), (".config", "mise"), (".config", "mise.toml"), ("mise", "config.toml"), ("mise", "config.local.toml"), ("mise", "conf.d"),
    (".config", "git"), (".config", "systemd"), (".config", "autostart"), (".config", "environment.d"), (".config", "fish"), (".config", "nushell"), (".config", "xonsh"), (".config", "kitty"), (".config", "wezterm"), ("share", "systemd"),
    (".config", "nvim"), (".config", "direnv"), (".config", "jj"), (".config", "hg"), (".local", "bin"), (".github", "hooks"),
    (".config", "zsh"), (".config", "tmux"), (".config", "emacs"), (".config", "helix"), (".config", "zed"), (".config", "sway"), (".config", "hypr"),
    (".config", "i3"), (".config", "awesome"), (".config", "alacritty"), (".config", "ghostty"), ("share", "applications"), (".yarn", "releases"),
    (".yarn", "plugins"), (".config", "lefthook.yml"), (".config", "lefthook.yaml"), (".config", "lefthook.toml"), (".config", "lefthook.json"),
    (".config", "lefthook-local.yml"), (".config", "lefthook-local.yaml"), (".config", "lefthook-local.toml"), (".config", "lefthook-local.json"),
    (".config", "gdb"), (".config", "lldb"), (".config", "irb"), (".config", "pry"), (".config", "elvish"), (".config", "powershell"), (".config", "starship.toml"),
    (".config", "bash"), (".config", "bash-completion"), (".config", "tclsh"), (".config", "xmonad"), (".config", "bspwm"), (".config", "sxhkd"), (".config", "qtile"),
    (".config", "openbox"), (".config", "niri"), (".config", "river"), (".config", "zellij"), (".config", "foot"), (".config", "pythonrc.py"), (".config", "kak"),
    (".julia", "config"), (".cargo", "config.toml"), (".cargo", "config"),
];

/// Without this file a directory is not a repository, whatever else is in it: git takes a directory with `HEAD`, `objects` and `refs` for
/// one, and runs what its `config` says.
const HEAD: &str = "head";
/// Endings of names of files.
const ENDINGS: &[&str] = &[".code-workspace", ".sublime-project"];

const INSTRUCTIONS: &[&str] = &[
    "agent.md",
    "agent.local.md",
    "agents.md",
    "agents.local.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "codebuddy.md",
    "crush.md",
    "crush.local.md",
    "gemini.md",
    "iflow.md",
    "opencode.md",
    "opencode.local.md",
    "qwen.md",
    "warp.md",
    "copilot-instructions.md",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_by_itself_is_told_from_what_is_run() {
        for path in [
            ".git",
            ".git/hooks/pre-commit",
            "sub/.git/config",
            ".GIT/config",
            "sub/.git",
            ".agent/config.toml",
            ".vscode/tasks.json",
            "a/b/.idea/x.xml",
            "x.code-workspace",
            ".envrc",
            "sub/.Envrc",
            ".bashrc",
            ".husky/pre-push",
            ".mcp.json",
            ".hg/hgrc",
            ".jj/repo/config.toml",
            ".helix/languages.toml",
            "x.sublime-project",
            "opencode.json",
            ".config/mise/config.toml",
            "mise.local.toml",
            ".Rprofile",
            ".iex.exs",
            ".lintstagedrc",
            "a/.ssh/authorized_keys",
            ".config/systemd/user/x.service",
            ".local/bin/git",
            ".devcontainer.json",
            ".pi/extensions/x.ts",
            ".github/hooks/x.json",
            "sub/.octaverc",
            "lint-staged.config.ts",
            "sub/HEAD",
            ".tool-versions",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "sub/.cargo/config.toml",
            ".pylintrc",
            ".zshrc.zwc",
            "sub/.emacs.elc",
            ".bsp/x.json",
            ".externalToolBuilders/x.launch",
            ".agents/x",
            "rust-toolchain.toml",
            "sub/rust-analyzer.toml",
            "hie.yaml",
            ".luarc.json",
            "hk.pkl",
            "sub/hk.local.pkl",
            ".opencode.json",
            ".autoenv",
            ".lefthook/pre-commit/x.sh",
            ".lefthook-local/pre-push/x",
            ".config/lefthook.yml",
            ".git-hooks/pre_commit/x.rb",
            "sub/.envrc.local",
            ".direnv/flake-profile-0a1b.rc",
            ".shadowenv.d/500_x.lisp",
            ".local-overcommit.yml",
            ".cargo-husky/hooks/pre-push",
            ".trunk/trunk.yaml",
            ".yarn/releases/yarn-4.0.0.cjs",
            "sub/.npmrc",
            ".rvmrc",
            ".neoconf.json",
            ".lite_project.lua",
            ".gitlint",
            ".copilot/mcp-config.json",
            ".config/zsh/.zshrc",
        ] {
            assert!(reason(path).is_some(), "{path}");
        }
        for path in [
            ".gitignore",
            ".gitattributes",
            ".github/workflows/ci.yml",
            "git",
            "x.git",
            "agent/config.toml",
            "vscode/tasks.json",
            "Makefile",
            "build.rs",
            "package.json",
            "envrc",
            ".envrc.example",
            ".direnv/python-3.13/lib/x.py",
            ".direnv/x",
            ".yarn/cache/x.zip",
            "lefthook/x",
            ".config/lefthook",
            ".npmignore",
            "src/.bashrc/x",
            "bin/x",
            "src/head/mod.rs",
            "HEAD.md",
            "local/bin/x",
            ".config/app/config.toml",
            "AGENTS.md",
            "cargo/config.toml",
            "config.toml",
            "tool-versions",
            "pnpmfile.cjs",
            "",
            "./",
        ] {
            assert_eq!(reason(path), None, "{path}");
        }
    }

    #[test]
    fn instructions_for_some_files_are_told_by_their_ending() {
        for path in [
            "AGENTS.md",
            ".github/copilot-instructions.md",
            ".github/instructions/rust.instructions.md",
            ".github/instructions/sub/rust.instructions.md",
            ".GitHub/Instructions/Rust.Instructions.MD",
        ] {
            assert!(is_instructions(path), "{path}");
        }
        for path in [".github/instructions/rust.md", "instructions.md", "docs/x.md"] {
            assert!(!is_instructions(path), "{path}");
        }
    }

    #[test]
    fn the_published_names_are_all_protected() {
        for name in names() {
            let name = name.replace('*', "x");
            assert!(reason(&name).is_some(), "{name}");
            assert!(reason(&["sub/", &name.to_uppercase()].concat()).is_some(), "{name}");
        }
        assert_eq!(names_in(".Cargo").collect::<Vec<_>>(), ["config.toml", "config"]);
        assert_eq!(names_in("src").count(), 0);
        for kind in KINDS {
            for name in kind.names {
                assert!(is_protected_name(name) && reason(&[name, "/x"].concat()).is_some() == kind.are_directories);
            }
        }
    }

    #[test]
    fn instructions_of_agents_are_known_anywhere_and_in_any_case() {
        for path in ["AGENTS.md", "sub/Claude.md", "a/b/GEMINI.MD", "AGENT.md", "CRUSH.md", "Crush.local.md"] {
            assert!(is_instructions(path) && reason(path).is_none(), "{path}");
        }
        assert!(!is_instructions("AGENTS.md/x") && !is_instructions("README.md"));
    }
}
