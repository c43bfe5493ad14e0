//! Programs that run what lies in the directory in which they are started: a project's own code, or what a configuration there names.

/// Whether a command has one of them run, by itself or by way of another program (`env`, `timeout`): what it means is then something else
/// in every directory.
pub(crate) fn runs_the_project(command: &str) -> bool {
    let is_any = |name: &str, list: &[&str]| list.iter().any(|known| is_version_of(name, known));
    command
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .any(|name| !OF_VERSIONS.contains(&name) && (is_any(name, FIND_BY_THEMSELVES) || is_any(name, INTERPRETERS)))
}

/// `python` is, and so are `python3` and `python3.12`.
pub(crate) fn is_version_of(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-'))
}

/// A rule covers of them what is a plain command, and they run no program that is named in the directory then.
const OF_VERSIONS: &[&str] = &["git", "hg", "svn", "jj", "gh", "glab"];
/// They are given a script by its absolute path, and no option before it. Lua is none of them: it looks for modules in the directory.
#[rustfmt::skip]
pub(crate) const INTERPRETERS: &[&str] = &["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "python", "pypy", "perl", "ruby", "node", "nodejs", "tclsh"];
/// Programs that run, by themselves, what lies in the directory or what a configuration there names, and that are named by their path. No
/// list of these is complete.
#[rustfmt::skip]
pub(crate) const FIND_BY_THEMSELVES: &[&str] = &[
    "make", "gmake", "nmake", "ninja", "just", "task", "rake", "cmake", "ctest", "meson", "bazel", "buck", "scons", "mage", "npm", "npx", "pnpm", "pnpx",
    "yarn", "bun", "bunx", "deno", "corepack", "cargo", "rustc", "rustup", "go", "mvn", "mvnd", "gradle", "ant", "sbt", "lein", "mix", "dotnet", "msbuild",
    "git", "hg", "svn", "jj", "gh", "glab", "tox", "nox", "pytest", "py.test", "pip", "uv", "uvx", "poetry", "pdm", "hatch", "rye", "pipenv", "pipx",
    "pre-commit", "lefthook", "husky", "bundle", "bundler", "gem", "composer", "php", "direnv", "mise", "asdf", "rbenv", "pyenv", "nodenv", "nix", "nix-shell",
    "mocha", "jest", "vitest", "eslint", "prettier", "tsc", "tsx", "ts-node", "webpack", "vite", "rollup", "ruff", "mypy", "pylint", "black", "vi", "vim", "nvim", "emacs", "gdb", "lldb",
    "lua", "luajit", "invoke", "inv", "fab", "doit", "waf", "snakemake", "scrapy", "django-admin", "celery", "alembic", "airflow", "ansible-lint", "fastlane", "pod", "rspec",
    "cucumber", "rubocop", "rails", "gulp", "grunt", "commitlint", "lint-staged", "stylelint", "xo", "playwright", "cypress", "karma", "nx", "turbo", "lerna", "rebar3", "iex",
    "utop", "octave", "jbang", "bb", "clojure", "spago", "tofu", "tilt", "pulumi", "skaffold", "treefmt", "flake8", "pants", "sphinx-build", "mkdocs", "jekyll",
    "drone", "claude", "codex", "gemini", "opencode", "aider", "goose", "pi", "rtx", "volta-shim", "prek", "biome", "dprint", "golangci-lint", "semgrep",
    "prove", "phpunit", "phpstan", "psalm", "artisan", "bazelisk", "buck2", "flutter", "dart", "behave", "robot", "locust", "nosetests", "xmake", "ng", "dbt", "helmfile", "sls", "serverless",
    "elixir", "crystal", "shards", "nim", "nimble", "gradlew", "mvnw", "next", "nuxt", "astro", "expo", "parcel", "storybook", "react-scripts", "ava", "tap", "jasmine",
    "nyc", "c8", "cdk", "sam", "hugo", "eleventy", "gatsby", "coverage", "kustomize", "earthly", "dagger", "moon", "pkl",
    "docker", "podman", "docker-compose", "vagrant", "terraform", "ansible", "ansible-playbook", "R", "Rscript", "julia", "ghci", "stack", "cabal", "swift", "zig", "dune", "irb", "ipython",
];
