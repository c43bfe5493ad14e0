//! What commands in a sandbox cannot read: keys, tokens, histories, browsers, the agent's own configuration and sessions.
//!
//! 1. The usual places are hidden without being asked for. What is missing on this list can be read; `sandbox_hidden` adds to it.
//! 2. `sandbox_readable` of the user's configuration shows what the list hides. Nothing of a repository does.
//! 3. A repository hides what lies in it, and nothing else: it must not decide what commands see of the system.

use crate::config::file::{UserConfig, config_home, state_home};
use crate::failure::Failure;
use crate::model::keys;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};

/// What is hidden, and what can be read although it lies in something hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) paths: Vec<PathBuf>,
    /// Those of them that somebody asked for by name.
    pub(crate) asked: Vec<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
}

/// What is hidden where nobody said anything.
pub(crate) fn usual() -> Hidden {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let own: Vec<PathBuf> = [config_home(), state_home()].into_iter().flatten().collect();
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Hidden {
        paths: usual_paths(home.as_deref(), variable).into_iter().chain(own).collect(),
        asked: Vec::new(),
        // Hooks of the user's that are to run in the sandbox.
        readable: config_home().map(|home| home.join("hooks")).into_iter().collect(),
    }
}

/// The same with what the user and the repository say.
pub(crate) fn of(user: &UserConfig, repository: &[PathBuf]) -> Result<Hidden, Failure> {
    let readable = absolute("sandbox_readable", &user.sandbox_readable)?;
    let mut asked = absolute("sandbox_hidden", &user.sandbox_hidden)?;
    if let Some(path) = asked.iter().find(|path| path.parent().is_none()) {
        return Err(Failure::config(format!(
            "cannot hide `{}` (`sandbox_hidden`): no program runs without it",
            path.display()
        )));
    }
    asked.extend(repository.iter().cloned());
    asked.extend(keys::files(user)?);
    let mut hidden = usual();
    // To show a directory shows what the list hides in it.
    hidden.paths.retain(|path| !readable.iter().any(|readable| path.starts_with(readable)));
    hidden.paths.extend(asked.iter().cloned());
    hidden.asked = asked;
    hidden.readable.extend(readable);
    Ok(hidden)
}

/// Where the agent keeps how files were before it changed them: commands must not read there what is hidden from them elsewhere, or denied. In
/// the repository of a directory it is made, because what is not there cannot be hidden; in those within it is looked for.
pub(crate) fn copies(directory: &Path, within: &[PathBuf]) -> Vec<PathBuf> {
    let own = agent_git::kept_in(directory);
    if let Some(folder) = own.first() {
        // Where it cannot be made, the agent keeps nothing there either.
        let _ = DirBuilder::new().mode(0o700).create(folder);
    }
    let others = within.iter().flat_map(|folder| agent_git::kept_in(folder));
    own.iter().cloned().chain(others).filter(|folder| folder.is_dir()).collect()
}

/// The paths of a user's setting. `~/` is the home directory.
pub(crate) fn absolute(key: &str, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |path: &Path| {
        let path = path.display();
        Failure::config(format!("cannot use `{key}`: `{path}` is neither an absolute path nor begins with `~/`"))
    };
    let one = |path: &PathBuf| {
        let whole = match (path.strip_prefix("~"), std::env::home_dir()) {
            (Ok(within), Some(home)) => home.join(within),
            _ => path.clone(),
        };
        if whole.is_absolute() { Ok(whole) } else { Err(wrong(path)) }
    };
    paths.iter().map(one).collect()
}

/// The paths of a repository's setting, which stands in `.agent/config.toml`.
pub(crate) fn of_repository(file: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let root = file.ancestors().nth(2).unwrap_or(file);
    let is_within = |path: &Path| {
        let mut parts = path.components().filter(|part| *part != Component::CurDir).peekable();
        parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    match paths.iter().find(|path| !is_within(path)) {
        Some(path) => Err(format!("`{}` is not a path in the repository", path.display())),
        None => Ok(paths.iter().map(|path| root.join(path)).collect()),
    }
}

/// Below the home directory, and where variables of the environment say.
fn usual_paths(home: Option<&Path>, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    if let Some(home) = home {
        paths.extend(IN_HOME.iter().map(|name| home.join(name)));
    }
    for &(name, below) in BY_VARIABLE {
        // Some of them are lists, of kubectl for instance.
        let values = variable(name).map(|value| std::env::split_paths(&value).collect::<Vec<_>>()).unwrap_or_default();
        for value in values.into_iter().filter(|value| value.is_absolute()) {
            match below {
                [] => paths.push(value),
                below => paths.extend(below.iter().map(|name| value.join(name))),
            }
        }
    }
    paths.retain(|path| may_be_hidden(path, home));
    paths
}

/// What a variable names must hide neither the system nor the whole home; and `/dev/null` in one means "none".
fn may_be_hidden(path: &Path, home: Option<&Path>) -> bool {
    let is_of_the_system = ["/dev", "/proc", "/sys"].iter().any(|place| path.starts_with(place));
    let is_at_the_top = path.parent().is_none_or(|parent| parent.parent().is_none()) && path.is_dir();
    !is_of_the_system && !is_at_the_top && !home.is_some_and(|home| home.starts_with(path))
}

/// An agent that runs as root could read them, also without its capabilities.
const SYSTEM: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/kubernetes",
    "/etc/rancher",
    "/var/lib/kubelet",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/spool/cron",
    "/var/mail",
    "/var/spool/mail",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/krb5.keytab",
    "/etc/letsencrypt",
    "/etc/ipsec.secrets",
    "/etc/ipsec.d/private",
    "/etc/swanctl/private",
    "/etc/mysql/debian.cnf",
    "/var/backups/shadow.bak",
    "/var/backups/gshadow.bak",
];

/// Ordered by what they belong to. Files that programs need to build (Maven's `settings.xml`, Gradle's `gradle.properties`) are not hidden,
/// though they may hold a password.
const IN_HOME: &[&str] = &[
    // Keys and stores of passwords.
    ".ssh",
    ".gnupg",
    ".password-store",
    ".age",
    ".config/age",
    ".config/sops",
    ".config/op",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/keepassxc",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/gopass",
    ".local/share/pass",
    ".local/share/python_keyring",
    ".pki",
    ".vault-token",
    ".putty",
    ".vnc",
    ".wireguard",
    ".android/adbkey",
    ".local/state/syncthing",
    ".config/syncthing",
    // Clouds.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".boto",
    ".s3cfg",
    ".config/s3cfg",
    ".oci",
    ".config/oci",
    ".config/doctl",
    ".config/hcloud",
    ".config/linode-cli",
    ".config/scw",
    ".config/flyctl",
    ".fly",
    ".config/netlify",
    ".local/share/com.vercel.cli",
    ".wrangler",
    ".config/.wrangler",
    ".config/configstore",
    ".config/rclone",
    ".config/filezilla",
    ".filezilla",
    ".mc",
    ".config/mc",
    ".config/stripe",
    ".config/ngrok",
    ".ngrok2",
    ".cf",
    ".step",
    ".smbcredentials",
    ".databrickscfg",
    ".snowsql",
    ".snowflake",
    ".sentryclirc",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    ".pulumi/credentials.json",
    ".kube",
    ".config/helm/registry",
    ".docker/config.json",
    ".docker/contexts",
    ".config/containers/auth.json",
    // Code hosts and registries of packages.
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".netrc.gpg",
    ".gitcookies",
    ".wgetrc",
    ".curlrc",
    ".subversion/auth",
    ".sbt/credentials",
    ".ivy2/.credentials",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/tea",
    ".npmrc",
    ".config/pnpm/rc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".config/composer/auth.json",
    ".composer/auth.json",
    ".m2/settings-security.xml",
    ".hex/hex.config",
    ".config/rubygems/credentials",
    // Databases and mail.
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".msmtprc",
    ".config/msmtp",
    ".mbsyncrc",
    ".fetchmailrc",
    ".offlineimaprc",
    "Mail",
    "Maildir",
    ".thunderbird",
    ".local/share/evolution",
    ".config/evolution",
    // Other agents and models.
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".config/github-copilot",
    ".config/openai",
    ".config/anthropic",
    ".local/share/opencode",
    ".pi",
    ".kaggle",
    ".huggingface",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".config/io.datasette.llm",
    ".config/llm/keys.json",
    ".cursor",
    ".continue",
    ".codeium",
    ".config/goose",
    ".aider.conf.yml",
    // What extensions of editors keep.
    ".config/Code/User/globalStorage",
    ".config/Code - Insiders/User/globalStorage",
    ".config/Code - OSS/User/globalStorage",
    ".config/VSCodium/User/globalStorage",
    ".config/Cursor/User/globalStorage",
    ".config/Windsurf/User/globalStorage",
    ".vscode-server/data/User/globalStorage",
    // Browsers and messengers.
    ".mozilla",
    ".config/mozilla",
    ".librewolf",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".var/app",
    "snap/firefox",
    "snap/chromium",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".config/Element",
    ".local/share/TelegramDesktop",
    // Wallets.
    ".bitcoin",
    ".electrum",
    ".ethereum",
    ".config/solana",
    // What was typed.
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".local/share/atuin",
    ".local/share/fish/fish_history",
    ".local/state/bash",
    ".local/state/zsh",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".rediscli_history",
    ".sqlite_history",
    ".lesshst",
    ".viminfo",
    ".local/state/nvim/shada",
    ".local/share/nvim/shada",
    ".ipython",
    // The screen.
    ".Xauthority",
    ".ICEauthority",
];

/// A variable, and what of its value is hidden; all of it where nothing stands there.
const BY_VARIABLE: &[(&str, &[&str])] = &[
    ("GNUPGHOME", &[]),
    ("PASSWORD_STORE_DIR", &[]),
    ("AWS_CONFIG_FILE", &[]),
    ("AWS_SHARED_CREDENTIALS_FILE", &[]),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", &[]),
    ("AZURE_CONFIG_DIR", &[]),
    ("CLOUDSDK_CONFIG", &[]),
    ("GOOGLE_APPLICATION_CREDENTIALS", &[]),
    ("KUBECONFIG", &[]),
    ("DOCKER_CONFIG", &["config.json", "contexts"]),
    ("REGISTRY_AUTH_FILE", &[]),
    ("GH_CONFIG_DIR", &[]),
    ("NETRC", &[]),
    ("NPM_CONFIG_USERCONFIG", &[]),
    ("npm_config_userconfig", &[]),
    ("SOPS_AGE_KEY_FILE", &[]),
    ("RESTIC_PASSWORD_FILE", &[]),
    ("ANSIBLE_VAULT_PASSWORD_FILE", &[]),
    ("HF_TOKEN_PATH", &[]),
    ("RCLONE_CONFIG", &[]),
    ("GOOGLE_GHA_CREDS_PATH", &[]),
    ("AZURE_FEDERATED_TOKEN_FILE", &[]),
    ("PSQL_HISTORY", &[]),
    ("NODE_REPL_HISTORY", &[]),
    ("PGPASSFILE", &[]),
    ("TF_CLI_CONFIG_FILE", &[]),
    ("CARGO_HOME", &["credentials", "credentials.toml"]),
    ("CODEX_HOME", &[]),
    ("CLAUDE_CONFIG_DIR", &[]),
    ("HISTFILE", &[]),
    ("XAUTHORITY", &[]),
    (
        "XDG_CONFIG_HOME",
        &[
            "gh",
            "gcloud",
            "git/credentials",
            "containers/auth.json",
            "rclone",
            "op",
            "sops",
            "github-copilot",
            "google-chrome",
            "chromium",
            "BraveSoftware",
            "composer/auth.json",
            "pypoetry/auth.toml",
            "stripe",
            "ngrok",
        ],
    ),
    (
        "XDG_DATA_HOME",
        &[
            "keyrings",
            "kwalletd",
            "gopass",
            "pass",
            "python_keyring",
            "fish/fish_history",
            "atuin",
            "opencode",
            "nvim/shada",
        ],
    ),
    ("XDG_STATE_HOME", &["nvim/shada", "bash", "zsh"]),
    ("IPYTHONDIR", &[]),
    ("KRB5_KTNAME", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_places_are_hidden_wherever_the_environment_puts_them() {
        let variable = |name: &str| match name {
            "CARGO_HOME" => Some(PathBuf::from("/c")),
            "KUBECONFIG" => Some(PathBuf::from("/k/one:/k/two:relative:")),
            "AWS_CONFIG_FILE" => Some(PathBuf::from("/")),
            "GNUPGHOME" => Some(PathBuf::from("/usr")),
            "HISTFILE" => Some(PathBuf::from("/dev/null")),
            "CODEX_HOME" => Some(PathBuf::from("/users")),
            "CLAUDE_CONFIG_DIR" => Some(PathBuf::from("/users/me")),
            _ => None,
        };
        let paths = usual_paths(Some(Path::new("/users/me")), variable);
        for path in [
            "/users/me/.ssh",
            "/users/me/.config/gh",
            "/etc/shadow",
            "/etc/krb5.keytab",
            "/users/me/.config/filezilla",
            "/c/credentials.toml",
            "/k/one",
            "/k/two",
        ] {
            assert!(paths.contains(&PathBuf::from(path)), "{path}");
        }
        assert!(paths.iter().all(|path| path.is_absolute()), "{paths:?}");
        for path in ["/", "/usr", "/users/me", "/users/me/.cargo", "/dev/null"] {
            assert!(!paths.contains(&PathBuf::from(path)), "{path}");
        }
    }

    #[test]
    fn a_user_adds_and_shows_and_a_repository_adds_what_is_its_own() {
        let home = std::env::home_dir().unwrap();
        let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
        let user = UserConfig {
            sandbox_hidden: paths(&["/secret", "~/mine"]),
            sandbox_readable: paths(&["~/.config", "~/.ssh/known_hosts"]),
            ..UserConfig::default()
        };
        let hidden = of(&user, &paths(&["/repo/.env"])).unwrap();
        let has = |path: PathBuf| hidden.paths.contains(&path);
        assert!(has("/secret".into()) && has(home.join("mine")) && has("/repo/.env".into()) && has(home.join(".ssh")));
        assert!(!has(home.join(".config/gh")));
        assert!(hidden.readable.contains(&home.join(".ssh/known_hosts")));
        for wrong in ["relative", "/"] {
            let user = UserConfig { sandbox_hidden: paths(&[wrong]), ..UserConfig::default() };
            assert!(of(&user, &[]).is_err(), "{wrong}");
        }

        let file = Path::new("/repo/.agent/config.toml");
        let said = |path: &str| of_repository(file, &paths(&[path]));
        assert_eq!(said("a/.env"), Ok(paths(&["/repo/a/.env"])));
        for wrong in ["/etc", "../x", "a/../../x", ".", "", "~/x/.."] {
            assert!(said(wrong).is_err(), "{wrong}");
        }
    }
}
