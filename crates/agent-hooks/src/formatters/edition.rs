//! The edition of Rust that a file is written in, as the packages around it say.

use agent_git::read_path;
use std::path::Path;

/// What `Cargo.toml` says nearest above a folder, up to the root. A package may leave it to its workspace.
pub(crate) fn of(folder: &Path, root: &Path) -> Option<String> {
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(root));
    folders
        .filter_map(|folder| read_path(&folder.join("Cargo.toml"), LIMIT_BYTES))
        .find_map(|text| said(&String::from_utf8_lossy(&text)))
}

/// `edition = "2024"`, and nothing else that a formatter would be called with.
fn said(manifest: &str) -> Option<String> {
    manifest.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.split('#').next()?.trim().trim_matches(['"', '\'']);
        let is_year = value.len() == 4 && value.bytes().all(|byte| byte.is_ascii_digit());
        (key.trim() == "edition" && is_year).then(|| value.to_owned())
    })
}

/// No manifest is longer.
const LIMIT_BYTES: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_that_says_it_counts() {
        for (manifest, edition) in [
            ("[package]\nname = \"a\"\nedition = \"2024\" # new\n", Some("2024")),
            ("edition='2018'", Some("2018")),
            ("edition.workspace = true\n", None),
            ("edition = { workspace = true }", None),
            ("edition = \"--config=x\"", None),
            ("", None),
        ] {
            assert_eq!(said(manifest).as_deref(), edition, "{manifest}");
        }
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/src");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(of(&inner, root.path()), None);
        fs::write(root.path().join("Cargo.toml"), "[workspace.package]\nedition = \"2021\"\n").unwrap();
        fs::write(root.path().join("a/Cargo.toml"), "[package]\nedition.workspace = true\n").unwrap();
        assert_eq!(of(&inner, root.path()).as_deref(), Some("2021"));
        assert_eq!(of(&inner, &root.path().join("a")), None, "nothing above the root is looked at");
    }
}
