//! The usual places of what commands must not read. Only those that are there cost a mount, and a look at the directories above tells that
//! of the others nothing is there.

/// An agent that runs as root could read them, also without its capabilities.
#[rustfmt::skip]
pub(super) const SYSTEM: &[&str] = &[
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key", "/etc/ssl/private", "/etc/wireguard", "/etc/NetworkManager/system-connections", "/etc/kubernetes",
    "/etc/rancher", "/var/lib/kubelet", "/var/lib/docker", "/var/lib/containerd", "/var/spool/cron", "/var/mail", "/var/spool/mail",
    "/etc/ssh/ssh_host_dsa_key", "/etc/krb5.keytab", "/etc/letsencrypt", "/etc/ipsec.secrets", "/etc/ipsec.d/private",
    "/etc/swanctl/private", "/etc/mysql/debian.cnf", "/var/backups/shadow.bak", "/var/backups/gshadow.bak", 
     "/etc/ppp/chap-secrets", "/etc/ppp/pap-secrets", "/etc/openvpn", "/etc/cloudflared", "/etc/docker/key.json",
    "/var/lib/rancher", "/var/lib/tailscale", "/var/lib/containers", "/var/lib/bluetooth", "/var/lib/iwd", "/var/lib/sss/secrets",
    "/etc/samba/private", "/var/lib/samba/private", "/etc/cups/ssl", "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d", "/etc/credstore", "/etc/credstore.encrypted", "/var/lib/systemd/credential.secret", "/etc/pki/tls/private",
    "/etc/wpa_supplicant", "/etc/exim4/passwd.client", "/etc/postfix/sasl_passwd", "/etc/msmtprc", "/etc/vault.d",
    "/etc/consul.d", "/etc/ansible/vault", "/var/lib/libvirt/secrets", "/var/lib/kubernetes", "/var/lib/k0s", "/var/lib/minikube",
];

/// Ordered by what they belong to. Files that programs need to build (Maven's `settings.xml`, Gradle's `gradle.properties`, bundler's
/// `config`) are not hidden, though they may hold a password.
#[rustfmt::skip]
pub(super) const IN_HOME: &[&str] = &[
    // Keys and stores of passwords.
    ".ssh", ".gnupg", ".password-store", ".passage", ".age", ".config/age", ".config/sops", ".config/op", ".op", ".config/1Password",
    ".config/Bitwarden", ".config/Bitwarden CLI", ".config/rbw", ".local/share/rbw", ".cache/rbw", ".config/lpass", ".local/share/lpass",
    ".lpass", ".config/keepassxc", ".config/KeePass", ".keepass", ".local/share/keyrings", ".local/share/kwalletd",
    ".kde/share/apps/kwallet", ".config/gopass", ".local/share/gopass", ".local/share/pass", ".local/share/python_keyring",
    ".config/Enpass", ".config/keybase", ".local/share/keybase", ".config/Authy Desktop", ".local/share/otpclient",
    ".local/share/authenticator", ".2fa", ".google_authenticator", ".config/Yubico", ".config/goa-1.0", ".pki", ".cert", ".globus",
    ".keystore", ".minisign", ".sigstore", ".cosign", ".step", ".vault-token", ".secret", ".secrets", ".credentials", ".env", ".putty",
    ".vnc", ".wireguard", ".config/wireguard", ".openvpn", ".config/openvpn", ".config/mullvad", ".config/remmina",
    ".local/share/remmina", ".config/freerdp", ".config/rustdesk", ".anydesk", ".android/adbkey", ".local/state/syncthing",
    ".config/syncthing", ".local/share/mkcert", ".davfs2/secrets", ".config/tigervnc", ".config/rustic", ".config/borg", ".config/kopia",
    ".config/restic", ".config/rclone", ".local/share/tailscale", ".tsh",
    // Clouds, clusters and services.
    ".aws", ".awsvault", ".granted", ".saml2aws", ".okta", ".Leapp", ".azure", ".config/gcloud", ".gsutil", ".clasprc.json", ".boto",
    ".s3cfg", ".config/s3cfg", ".oci", ".config/oci", ".config/doctl", ".config/hcloud", ".config/linode-cli", ".linode-cli",
    ".config/scw", ".aliyun", ".tccli", ".bluemix", ".ovh.conf", ".config/exoscale", ".config/upctl.yaml", ".vultr-cli.yaml",
    ".civo.json", ".config/openstack", ".config/flyctl", ".fly", ".netlify", ".config/netlify", ".config/heroku", ".railway", ".render",
    ".supabase", ".config/supabase", ".config/neonctl", ".config/turso", ".config/planetscale", ".local/share/com.vercel.cli",
    ".config/com.vercel.cli", ".now", ".wrangler", ".config/.wrangler", ".config/cloudflare", ".cloudflared", ".config/configstore",
    ".config/filezilla", ".filezilla", ".lftp", ".local/share/lftp", ".mc", ".config/mc", ".config/stripe", ".config/ngrok", ".ngrok2",
    ".cf", ".smbcredentials", ".databrickscfg", ".sentryclirc", ".dogrc", ".newrelic", ".circleci", ".travis", ".config/bk.yaml",
    ".terraformrc", ".terraform.d/credentials.tfrc.json", ".pulumi/credentials.json", ".vagrant.d/data/vagrant_login_token", ".chef",
    ".puppetlabs", ".vault_pass", ".vault_pass.txt", ".ansible/galaxy_token", ".kube", ".minikube", ".config/k3d", ".rancher", ".talos",
    ".config/argocd", ".argocd", ".config/helm/registry", ".config/helm/repositories.yaml", ".docker/config.json", ".docker/contexts",
    ".docker/trust", ".docker/machine", ".dockercfg", ".ecr", ".regctl", ".config/containers/auth.json", ".dropbox", ".config/onedrive",
    ".gdrive", ".config/gdrive3", ".gdfuse", ".config/megasync", ".megaCmd", ".config/Postman", ".config/Insomnia", ".config/httpie",
    ".httpie", ".gist", ".lima/_config", ".edgerc", ".doppler", ".expo/state.json", ".config/code-server/config.yaml",
    // Code hosts and registries of packages.
    ".netrc", "_netrc", ".netrc.gpg", ".authinfo", ".authinfo.gpg", ".gitcookies", ".wgetrc", ".curlrc", ".subversion/auth",
    ".bazaar/authentication.conf", ".cvspass", ".p4tickets", ".arcrc", ".sbt/credentials", ".ivy2/.credentials",
    ".config/coursier/credentials.properties", ".git-credentials", ".config/git/credentials", ".git-credential-cache",
    ".cache/git/credential", ".gcm", ".config/gh", ".config/hub", ".config/glab-cli", ".config/lab", ".python-gitlab.cfg", ".config/tea",
    ".config/jira", ".config/.jira", ".jira.d", ".config/GitHub Desktop", ".config/GitKraken", ".gitkraken", ".npmrc", ".config/pnpm/rc",
    ".yarnrc.yml", ".pypirc", ".config/pypoetry/auth.toml", ".local/share/uv/credentials", ".continuum", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".local/share/gem/credentials", ".config/rubygems/credentials",
    ".config/composer/auth.json", ".composer/auth.json", ".m2/settings-security.xml", ".lein/credentials.clj.gpg", ".hex/hex.config",
    ".nuget/NuGet/NuGet.Config",
    ".pause", ".dzil", ".config/nix/netrc", ".config/cachix", ".config/attic",
    // Databases and mail.
    ".pgpass", ".duckdb/stored_secrets", ".my.cnf", ".mylogin.cnf", ".myclirc", ".usqlpass", ".odbc.ini", ".cassandra", ".mongodb",
    ".influxdbv2", ".redisclirc",
    ".snowsql", ".snowflake", ".config/snowflake", ".dbt/profiles.yml", ".local/share/DBeaverData", ".config/JetBrains", ".msmtprc",
    ".config/msmtp", ".esmtprc", ".mbsyncrc", ".config/isyncrc", ".config/mbsync", ".fetchmailrc", ".getmail", ".config/getmail",
    ".offlineimaprc", ".mailrc", ".muttrc", ".mutt", ".config/mutt", ".neomuttrc", ".config/neomutt", ".config/aerc", ".config/himalaya",
    ".config/vdirsyncer", "Mail", "Maildir", ".mail", ".local/share/mail", ".thunderbird", ".cache/thunderbird",
    ".local/share/evolution", ".config/evolution", ".local/share/geary", ".config/geary", ".claws-mail", ".alpine", ".pinerc",
    ".config/Mailspring", ".config/protonmail", ".local/share/protonmail", ".local/share/akonadi",
    // Other agents and models.
    ".claude", ".claude.json", ".claude.json.backup", ".config/claude", ".config/Claude", ".codex", ".gemini", ".config/github-copilot",
    ".copilot", ".config/openai", ".openai", ".config/anthropic", ".anthropic", ".config/opencode", ".local/share/opencode",
    ".local/state/opencode", ".config/crush", ".local/share/crush", ".config/amp", ".local/share/amp", ".pi", ".kaggle", ".huggingface",
    ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".config/io.datasette.llm", ".config/llm/keys.json",
    ".config/aichat", ".config/mods", ".config/shell_gpt", ".config/fabric", ".config/gptme", ".config/open-interpreter",
    ".config/replicate", ".config/wandb", ".comet.config", ".modal.toml", ".runpod", ".vast_api_key", ".config/vastai",
    ".ollama/id_ed25519", ".cursor", ".continue", ".cline", ".codeium", ".windsurf", ".trae", ".kiro", ".qwen", ".qoder", ".grok",
    ".factory", ".augment", ".junie", ".vibe", ".kimi", ".iflow", ".codebuddy", ".antigravity", ".amazonq", ".local/share/amazon-q",
    ".openhands", ".plandex-home", ".config/Cody-nodejs", ".tabnine", ".config/TabNine", ".supermaven", ".config/goose",
    ".local/share/goose", ".aider.conf.yml", ".local/share/zed",
    // What extensions of editors keep.
    ".config/Code/User/globalStorage", ".config/Code - Insiders/User/globalStorage", ".config/Code - OSS/User/globalStorage",
    ".config/VSCodium/User/globalStorage", ".config/Cursor/User/globalStorage", ".config/Windsurf/User/globalStorage",
    ".config/Trae/User/globalStorage", ".config/Kiro/User/globalStorage", ".config/Positron/User/globalStorage",
    ".config/Antigravity/User/globalStorage", ".vscode-server/data/User/globalStorage", ".cursor-server/data/User/globalStorage",
    ".windsurf-server/data/User/globalStorage",
    // Browsers and messengers.
    ".mozilla", ".config/mozilla", ".cache/mozilla", ".librewolf", ".waterfox", ".floorp", ".zen", ".moonchild productions",
    ".tor-browser", ".local/share/torbrowser", ".config/google-chrome", ".config/google-chrome-beta", ".config/google-chrome-unstable",
    ".cache/google-chrome", ".config/chromium", ".cache/chromium", ".config/BraveSoftware", ".cache/BraveSoftware",
    ".config/microsoft-edge", ".config/microsoft-edge-beta", ".config/microsoft-edge-dev", ".config/vivaldi", ".config/vivaldi-snapshot",
    ".config/opera", ".config/yandex-browser", ".config/thorium", ".config/net.imput.helium", ".local/share/qutebrowser",
    ".local/share/epiphany", ".local/share/falkon", ".elinks", ".w3m", ".lynx_cookies", ".var/app", "snap/firefox", "snap/chromium",
    "snap/brave", "snap/thunderbird", "snap/signal-desktop", "snap/bitwarden", "snap/slack", "snap/discord", "snap/telegram-desktop",
    ".config/Signal", ".config/Slack", ".config/discord", ".config/Element", ".config/Element-Nightly", ".config/Beeper",
    ".config/BeeperTexts", ".config/Microsoft", ".config/teams-for-linux", ".config/skypeforlinux", ".zoom", ".config/Mattermost",
    ".config/Rocket.Chat", ".config/Wire", ".config/Session", ".local/share/signal-cli", ".config/Code/Cookies", ".config/Cursor/Cookies",
    ".local/share/TelegramDesktop", ".local/share/simplex", ".purple",
    ".config/hexchat", ".irssi", ".weechat", ".config/weechat", ".local/share/weechat", ".config/gajim", ".local/share/gajim",
    ".local/share/dino", ".config/nheko", ".local/share/nheko", ".local/share/fractal",
    // Wallets.
    ".bitcoin", ".litecoin", ".dogecoin", ".dashcore", ".zcash", ".bitmonero", "Monero", ".electrum", ".electrum-ltc", ".electron-cash",
    ".ethereum", ".foundry/keystores", ".config/solana", ".config/Exodus", ".config/atomic", ".config/Ledger Live", ".config/@trezor",
    ".walletwasabi", ".sparrow", ".lnd", ".lightning", ".sui", ".aptos", ".near-credentials", ".starknet_accounts", ".brownie/accounts",
    ".avalanchego/staking", ".config/Daedalus",
    // What was typed, copied, opened or thrown away.
    ".history", ".histfile", ".sh_history", ".bash_history", ".bash_sessions", ".zsh_history", ".zsh_sessions", ".zhistory",
    ".ksh_history", ".mksh_history", ".xonsh_history", ".local/share/xonsh", ".local/share/atuin", ".local/share/mcfly", ".hishtory",
    ".local/share/fish/fish_history", ".config/nushell/history.txt", ".config/nushell/history.sqlite3", ".local/state/elvish",
    ".local/state/bash", ".local/state/zsh", ".python_history", ".ipython", ".node_repl_history", ".irb_history", ".pry_history",
    ".rdbg_history", ".local/share/powershell/PSReadLine",
    ".local/share/pry", ".php_history", ".config/psysh", ".julia/logs", ".Rhistory", ".octave_hist", ".gdb_history", ".psql_history",
    ".config/pgcli", ".mysql_history", ".mycli-history", ".rediscli_history", ".sqlite_history", ".duckdb_history", ".dbshell",
    ".influx_history", ".lesshst", ".local/state/lesshst", ".viminfo", ".local/state/nvim/shada", ".local/share/nvim/shada",
    ".local/state/nvim/swap", ".local/state/nvim/undo", ".local/share/nvim/swap",
    ".local/share/recently-used.xbel", ".local/share/zeitgeist", ".local/share/baloo", ".cache/tracker3", ".local/share/Trash",
    ".local/share/klipper", ".cache/cliphist", ".local/share/gpaste", ".cache/clipman.json", ".config/copyq", ".local/share/copyq",
    // The screen and the sound.
    ".Xauthority", ".ICEauthority", ".config/pulse/cookie", ".pulse-cookie",
];

/// A variable that names another place for what usually lies in a directory of the home.
pub(super) const BASES: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

/// A variable, and what of its value is hidden; all of it where nothing stands there.
#[rustfmt::skip]
pub(super) const BY_VARIABLE: &[(&str, &[&str])] = &[
    ("GNUPGHOME", &[]), ("PASSWORD_STORE_DIR", &[]), ("AWS_CONFIG_FILE", &[]), ("AWS_SHARED_CREDENTIALS_FILE", &[]),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", &[]), ("AZURE_CONFIG_DIR", &[]), ("CLOUDSDK_CONFIG", &[]), ("GOOGLE_APPLICATION_CREDENTIALS", &[]),
    ("KUBECONFIG", &[]), ("DOCKER_CONFIG", &["config.json", "contexts"]), ("REGISTRY_AUTH_FILE", &[]), ("GH_CONFIG_DIR", &[]),
    ("NETRC", &[]), ("NPM_CONFIG_USERCONFIG", &[]), ("npm_config_userconfig", &[]), ("SOPS_AGE_KEY_FILE", &[]),
    ("RESTIC_PASSWORD_FILE", &[]), ("ANSIBLE_VAULT_PASSWORD_FILE", &[]), ("HF_TOKEN_PATH", &[]), ("RCLONE_CONFIG", &[]),
    ("GOOGLE_GHA_CREDS_PATH", &[]), ("AZURE_FEDERATED_TOKEN_FILE", &[]), ("PSQL_HISTORY", &[]), ("NODE_REPL_HISTORY", &[]),
    ("PGPASSFILE", &[]), ("TF_CLI_CONFIG_FILE", &[]), ("CARGO_HOME", &["credentials", "credentials.toml"]), ("CODEX_HOME", &[]),
    ("CLAUDE_CONFIG_DIR", &[]), ("HISTFILE", &[]), ("XAUTHORITY", &[]), ("IPYTHONDIR", &[]), ("AWS_VAULT_FILE_DIR", &[]),
    ("OCI_CLI_CONFIG_FILE", &[]), ("BOTO_CONFIG", &[]), ("TALOSCONFIG", &[]), ("HELM_REGISTRY_CONFIG", &[]),
    ("HELM_REPOSITORY_CONFIG", &[]), ("DOCKER_CERT_PATH", &[]), ("MINIKUBE_HOME", &[]), ("TELEPORT_HOME", &[]),
    ("OS_CLIENT_CONFIG_FILE", &[]), ("PULUMI_HOME", &["credentials.json"]), ("ANSIBLE_GALAXY_TOKEN_PATH", &[]),
    ("VAULT_TOKEN_PATH", &[]), ("SOPS_AGE_SSH_PRIVATE_KEY_FILE", &[]), ("PASSAGE_IDENTITIES_FILE", &[]), ("GLAB_CONFIG_DIR", &[]),
    ("WGETRC", &[]), ("CURL_HOME", &[".curlrc", ".netrc"]), ("POETRY_CONFIG_DIR", &["auth.toml"]), ("UV_CREDENTIALS_DIR", &[]),
    ("COMPOSER_HOME", &["auth.json"]), ("KAGGLE_CONFIG_DIR", &[]), ("COPILOT_HOME", &[]), ("OPENCODE_CONFIG_DIR", &[]),
    ("HF_HOME", &["token", "stored_tokens"]), ("PGSERVICEFILE", &[]), ("MYSQL_HISTFILE", &[]), ("SQLITE_HISTORY", &[]),
    ("REDISCLI_HISTFILE", &[]), ("PYTHON_HISTORY", &[]), ("LESSHISTFILE", &[]), ("ATUIN_DB_PATH", &[]),
    ("ZDOTDIR", &[".zsh_history", ".zhistory", ".histfile", ".zsh_sessions"]), ("ICEAUTHORITY", &[]), ("KRB5_CLIENT_KTNAME", &[]),
];
