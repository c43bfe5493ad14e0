//! Logins as they are kept: a file of the user's own for each server, which nobody else can read or write.

use crate::names::hex;
use crate::reach::Endpoint;
use crate::trust::{is_own, make_private, stamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::NamedTempFile;

/// A login at a server, with its tokens.
#[derive(Clone, Serialize, Deserialize)]
pub struct Login {
    version: u32,
    /// A digest of the URL that the tokens are for.
    url: String,
    /// Who gave the tokens: the issuer's identifier, a URL.
    pub issuer: String,
    /// What the tokens are for, as the authorization server knows it.
    pub(crate) resource: String,
    /// Of the authorization server's metadata what renewing needs.
    pub(crate) metadata: Value,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<String>,
    /// The answer with the tokens.
    pub(crate) token: Value,
    /// What was granted.
    pub granted: Vec<String>,
    /// When the tokens came, in seconds since 1970.
    pub(crate) received_at_secs: u64,
    /// What was asked for, and how often in a row.
    pub(crate) asked: Vec<String>,
    pub(crate) asked_times: u32,
    /// What the server wanted since, beyond what was granted.
    pub(crate) lacking: Vec<String>,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("issuer", &self.issuer).field("granted", &self.granted).finish_non_exhaustive()
    }
}

/// What a login is made of.
pub(crate) struct Given {
    pub(crate) issuer: String,
    pub(crate) resource: String,
    pub(crate) metadata: Value,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<String>,
    pub(crate) token: Value,
    pub(crate) granted: Vec<String>,
    pub(crate) asked: Vec<String>,
    pub(crate) asked_times: u32,
}

impl Login {
    pub(crate) fn new(endpoint: &Endpoint, given: Given) -> Self {
        let Given { issuer, resource, metadata, client_id, client_secret, token, granted, asked, asked_times } = given;
        Self {
            version: VERSION,
            url: digest(endpoint),
            issuer,
            resource,
            metadata,
            client_id,
            client_secret,
            token,
            granted,
            received_at_secs: now_secs(),
            asked,
            asked_times,
            lacking: Vec::new(),
        }
    }

    pub(super) fn is_for(&self, endpoint: &Endpoint) -> bool {
        self.url == digest(endpoint)
    }

    pub(crate) fn access_token(&self) -> String {
        self.of_token("access_token").unwrap_or_default().to_owned()
    }

    fn of_token(&self, name: &str) -> Option<&str> {
        self.token.get(name).and_then(Value::as_str)
    }

    /// Everything of it that is secret.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let tokens = ["access_token", "refresh_token", "id_token"].map(|name| self.of_token(name));
        tokens.into_iter().flatten().map(str::to_owned).chain(self.client_secret.clone()).collect()
    }

    /// Whether the token is about to run out, or has: half a minute before, or after half of its time where that is shorter.
    pub(crate) fn runs_out(&self, now_secs: u64) -> bool {
        let Some(lasts_secs) = self.token.get("expires_in").and_then(Value::as_u64) else { return false };
        let left_secs = lasts_secs.saturating_sub(now_secs.saturating_sub(self.received_at_secs));
        left_secs < (lasts_secs / 2).clamp(1, 30)
    }

    /// The same with new tokens. A renewal narrows what was granted at most for itself.
    pub(crate) fn renewed(mut self, token: Value) -> Self {
        (self.token, self.received_at_secs) = (token, now_secs());
        self
    }

    /// The same with what the server wants beyond it.
    pub(super) fn lacking(mut self, scopes: Vec<String>) -> Self {
        self.lacking = scopes;
        self
    }
}

/// The scopes in a text of a server, as far as they can be scopes: bounded, and of the signs that scopes have.
pub(crate) fn scopes_of(text: &str) -> Vec<String> {
    let is_scope = |word: &&str| {
        word.len() <= MAX_SCOPE_BYTES
            && word.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
    };
    text.split_ascii_whitespace().filter(is_scope).take(MAX_SCOPES).map(str::to_owned).collect()
}

fn digest(endpoint: &Endpoint) -> String {
    hex(&Sha256::digest(endpoint.url.as_bytes()), 32)
}

pub(crate) fn now_secs() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The user's logins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginStore {
    folder: PathBuf,
}

impl LoginStore {
    /// Logins in this directory of the user, which need not be there yet.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The login of a server. What others can read or write, or what is not as it was written, is none.
    pub(super) fn read(&self, place: &Path, server: &str) -> Option<Login> {
        let path = self.path(place, server, "json");
        let found = path.symlink_metadata().ok()?;
        if !found.is_file() || found.len() > LIMIT_BYTES || !is_own(&found) || !is_unread(&found) {
            return None;
        }
        let login: Login = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (login.version == VERSION && !login.access_token().is_empty()).then_some(login)
    }

    /// By what a changed file is known; nothing where there is none.
    pub(super) fn stamp(&self, place: &Path, server: &str) -> Option<String> {
        self.path(place, server, "json").symlink_metadata().ok().map(|found| stamp(&found))
    }

    pub(super) fn write(&self, place: &Path, server: &str, login: &Login) -> io::Result<()> {
        let room = self.file(place, server)?;
        self.write_in(room, place, server, login)
    }

    /// Room on the disk for a login that is still to come. A refresh token can be used once: what is had for it must be kept.
    pub(super) fn room(&self, place: &Path, server: &str) -> io::Result<NamedTempFile> {
        let mut room = self.file(place, server)?;
        room.write_all(&[0; ROOM_BYTES])?;
        room.as_file().sync_all()?;
        room.rewind()?;
        Ok(room)
    }

    /// Keeps a login in the room that was made for it.
    pub(super) fn write_in(
        &self,
        mut room: NamedTempFile,
        place: &Path,
        server: &str,
        login: &Login,
    ) -> io::Result<()> {
        let bytes = serde_json::to_vec(login).map_err(io::Error::other)?;
        let length = bytes.len() as u64;
        if length > LIMIT_BYTES {
            return Err(io::Error::other(format!("it has more than {LIMIT_BYTES} bytes")));
        }
        room.write_all(&bytes)?;
        room.as_file().set_len(length)?;
        room.as_file().sync_all()?;
        room.persist(self.path(place, server, "json"))?;
        Ok(())
    }

    /// A file of nobody else's from the beginning.
    fn file(&self, place: &Path, server: &str) -> io::Result<NamedTempFile> {
        make_private(&self.folder)?;
        let file = tempfile::Builder::new().prefix(&Self::temporary(place, server)).tempfile_in(&self.folder)?;
        agent_exec::leftovers::note_path(file.path());
        Ok(file)
    }

    /// Forgets the login of a server, and what a program that was killed while it kept one has left of it. Whether there was one.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn forget(&self, place: &Path, server: &str) -> io::Result<bool> {
        let mut had = remove(&self.path(place, server, "json"))?;
        let prefix = Self::temporary(place, server);
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(had),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
                had |= remove(&entry.path())?;
            }
        }
        Ok(had)
    }

    /// Holds the login against other programs until the file is dropped: a refresh token can be used once.
    pub(super) fn lock(&self, place: &Path, server: &str) -> io::Result<File> {
        make_private(&self.folder)?;
        let path = self.path(place, server, "lock");
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.create(true).append(true).open(path)?;
        file.lock()?;
        Ok(file)
    }

    fn path(&self, place: &Path, server: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", Self::name(place, server)))
    }

    /// How the names of files begin that become the login.
    fn temporary(place: &Path, server: &str) -> String {
        format!(".{}-", Self::name(place, server))
    }

    fn name(place: &Path, server: &str) -> String {
        let mut hasher = Sha256::new();
        hasher.update(place.as_os_str().as_encoded_bytes());
        hasher.update([0]);
        hasher.update(server.as_bytes());
        hex(&hasher.finalize(), 16)
    }
}

/// Whether it was there.
fn remove(file: &Path) -> io::Result<bool> {
    match fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_unread(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.mode() & 0o077 == 0
}

#[cfg(not(unix))]
fn is_unread(_found: &fs::Metadata) -> bool {
    true
}

const VERSION: u32 = 1;
/// How long a file of a login may be: tokens with many claims take some kilobytes.
const LIMIT_BYTES: u64 = 256 * 1024;
/// What most logins fit into.
const ROOM_BYTES: usize = 16 * 1024;
const MAX_SCOPES: usize = 64;
const MAX_SCOPE_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::{Given, Login, LoginStore, scopes_of};
    use crate::reach::Endpoint;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint { url: url.to_owned(), ..Endpoint::default() }
    }

    fn login(lasts_secs: u64) -> Login {
        let given = Given {
            issuer: "https://issuer".to_owned(),
            resource: "https://x/".to_owned(),
            metadata: json!({}),
            client_id: "me".to_owned(),
            client_secret: Some("client-secret".to_owned()),
            token: json!({"access_token": "token-a", "refresh_token": "token-r", "expires_in": lasts_secs}),
            granted: vec![],
            asked: vec![],
            asked_times: 1,
        };
        Login::new(&endpoint("https://x/"), given)
    }

    /// A kill between the last byte and the name leaves a whole login.
    #[test]
    fn what_a_killed_program_left_of_a_login_is_forgotten_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (store, place) = (LoginStore::new(folder.path().join("logins")), Path::new(""));
        assert!(!store.forget(place, "x").unwrap());
        let killed = |server: &str| {
            store.write(place, server, &login(100)).unwrap();
            let left = store.folder.join(format!("{}Ab3xyz", LoginStore::temporary(place, server)));
            std::fs::rename(store.path(place, server, "json"), &left).unwrap();
            left
        };
        let (left, other) = (killed("x"), killed("y"));
        assert!(store.forget(place, "x").unwrap(), "there was one");
        assert!(!left.exists() && other.exists());
        killed("x");
        store.write(place, "x", &login(100)).unwrap();
        assert!(store.forget(place, "x").unwrap() && !store.forget(place, "x").unwrap());
        assert_eq!(std::fs::read_dir(&store.folder).unwrap().count(), 1, "the other server's");
    }

    #[test]
    fn a_login_is_kept_for_its_url_and_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let (store, place) = (LoginStore::new(folder.path().join("logins")), Path::new(""));
        assert!(store.read(place, "s").is_none() && !store.forget(place, "s").unwrap());
        store.write(place, "s", &login(60)).unwrap();
        let read = store.read(place, "s").unwrap();
        assert!(read.is_for(&endpoint("https://x/")) && !read.is_for(&endpoint("https://x/?a")));
        assert!(store.read(Path::new("/repo"), "s").is_none() && store.read(place, "t").is_none());
        let path = store.path(place, "s", "json");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        for shown in ["token-a", "token-r", "client-secret"] {
            assert!(!format!("{read:?}").contains(shown) && read.secrets().contains(&shown.to_owned()));
        }
        // What others can read is no secret any more.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(store.read(place, "s").is_none());
        assert!(store.forget(place, "s").unwrap());
    }

    #[test]
    fn what_comes_goes_into_the_room_that_was_made_before() {
        let folder = tempfile::tempdir().unwrap();
        let (store, place) = (LoginStore::new(folder.path().join("logins")), Path::new(""));
        let room = store.room(place, "s").unwrap();
        let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&path.metadata().unwrap());
        let made = inode(room.path());
        assert!(room.path().metadata().unwrap().len() >= 16_384);
        store.write_in(room, place, "s", &login(60)).unwrap();
        assert_eq!(inode(&store.path(place, "s", "json")), made);
        assert!(
            store.read(place, "s").unwrap().secrets().contains(&"token-r".to_owned()),
            "nothing of the room is left"
        );
        // Room that was not used leaves nothing.
        drop(store.room(place, "s").unwrap());
        assert_eq!(std::fs::read_dir(folder.path().join("logins")).unwrap().count(), 1);
    }

    #[test]
    fn a_token_is_renewed_before_it_runs_out() {
        for (lasts_secs, after_secs, runs_out) in [
            (3600, 0, false),
            (3600, 3570, false),
            (3600, 3571, true),
            (20, 9, false),
            (20, 11, true),
            (1, 0, false),
            (1, 1, true),
            (0, 0, true),
        ] {
            let login = login(lasts_secs);
            assert_eq!(login.runs_out(login.received_at_secs + after_secs), runs_out, "{lasts_secs} {after_secs}");
        }
    }

    #[test]
    fn scopes_are_bounded() {
        assert_eq!(scopes_of(" a:b  c/d \"x\" \u{202e}y"), ["a:b", "c/d"]);
        assert_eq!(scopes_of(&"s ".repeat(1000)).len(), 64);
        assert!(scopes_of(&"s".repeat(1000)).is_empty());
    }
}
