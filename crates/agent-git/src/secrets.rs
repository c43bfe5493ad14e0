//! Names of files that tend to hold secrets. Such files are never committed by the agent.

/// Whether the name of the file suggests a secret.
pub(crate) fn looks_secret(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let stem_is = |stem: &str| name == stem || name.starts_with(&format!("{stem}."));
    if HARMLESS_ENDS.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    name == ".env"
        || name.starts_with(".env.")
        || name.starts_with(".env-")
        || STEMS.iter().any(|stem| stem_is(stem))
        || KEY_NAMES.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end))
        || DIRECTORIES.iter().any(|part| path.split('/').rev().skip(1).any(|p| p == *part))
}

/// Templates without values, and public halves.
const HARMLESS_ENDS: &[&str] = &[".example", ".sample", ".template", ".dist", ".pub", ".rs", ".md"];
const STEMS: &[&str] = &[
    "credentials",
    ".credentials",
    "secrets",
    ".secrets",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "service-account",
];
const KEY_NAMES: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const ENDS: &[&str] = &[".env", ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfstate"];
const DIRECTORIES: &[&str] = &[".ssh", ".aws", ".gnupg"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_names_are_known() {
        for path in [
            ".env",
            "a/.env.local",
            ".ENV",
            "prod.env",
            "tls/server.pem",
            "id_rsa",
            "id_rsa_work",
            "x.key",
            "credentials.json",
            ".aws/config",
            "secrets.yaml",
            ".npmrc",
        ] {
            assert!(looks_secret(path), "{path}");
        }
        for path in [
            "src/env.rs",
            ".env.example",
            "id_rsa.pub",
            "src/credentials.rs",
            "keyboard.json",
            "environment",
            "docs/secrets.md",
        ] {
            assert!(!looks_secret(path), "{path}");
        }
    }
}
