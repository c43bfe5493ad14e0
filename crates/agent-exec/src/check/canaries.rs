//! What must stay as it is: files, sockets, a process.

use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// The canaries of one attempt.
pub(super) struct Canaries {
    root: PathBuf,
    name: String,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    in_abstract: UnixListener,
    victim: Child,
    /// The file outside, open and inheritable.
    _open: File,
    modified: SystemTime,
    is_touched: bool,
}

impl Canaries {
    /// Makes all of it anew.
    pub(super) fn lay(root: &Path) -> io::Result<Self> {
        let (work, outside) = (root.join("work"), root.join("outside"));
        for directory in [&work, &outside] {
            match fs::remove_dir_all(directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        for directory in [work.join(".git/hooks"), work.join(".agent"), work.join("sub"), outside.clone()] {
            fs::create_dir_all(directory)?;
        }
        for file in files(root) {
            fs::write(&file, UNTOUCHED)?;
            fs::set_permissions(&file, Permissions::from_mode(0o644))?;
        }
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::write(shared("read", &name), UNTOUCHED)?;
        let open = File::open(outside.join("file"))?;
        fcntl_setfd(&open, FdFlags::empty())?;
        let modified = open.metadata()?.modified()?;
        let canaries = Self {
            tcp: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            udp: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
            unix: UnixListener::bind(outside.join("socket"))?,
            in_abstract: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?,
            victim: victim()?,
            _open: open,
            root: root.to_path_buf(),
            modified,
            name,
            is_touched: false,
        };
        canaries.tcp.set_nonblocking(true)?;
        canaries.udp.set_nonblocking(true)?;
        canaries.unix.set_nonblocking(true)?;
        canaries.in_abstract.set_nonblocking(true)?;
        Ok(canaries)
    }

    /// What an attempt has to know of them.
    pub(super) fn arguments(&self) -> [OsString; 5] {
        let port = |address: io::Result<std::net::SocketAddr>| address.map_or(0, |address| address.port());
        [
            self.root.clone().into(),
            self.victim.id().to_string().into(),
            port(self.tcp.local_addr()).to_string().into(),
            port(self.udp.local_addr()).to_string().into(),
            self.name.clone().into(),
        ]
    }

    /// Which of them is not as it was, within this time.
    pub(super) fn touched(&mut self, patience: Duration) -> Option<String> {
        let begun = Instant::now();
        loop {
            let found = self.look();
            if found.is_some() || begun.elapsed() >= patience {
                self.is_touched = found.is_some();
                return found;
            }
            sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn is_touched(&self) -> bool {
        self.is_touched
    }

    fn look(&mut self) -> Option<String> {
        let changed = files(&self.root).into_iter().find(|file| fs::read(file).ok().as_deref() != Some(UNTOUCHED));
        if let Some(file) = changed {
            return Some(format!("{} was changed", self.shown(&file)));
        }
        let outside = self.root.join("outside");
        let metadata = outside.join("file").metadata().ok()?;
        let is_as_it_was = metadata.permissions().mode() & 0o777 == 0o644
            && metadata.modified().is_ok_and(|modified| modified == self.modified);
        if !is_as_it_was {
            return Some("permissions or times of outside/file were changed".to_owned());
        }
        let traces = [
            "outside/new",
            "outside/directory",
            "work/.git/hooks/pre-commit",
            "work/sub/.git",
            "work/sub/.agent",
            "work/outlived",
        ];
        let mut traces: Vec<PathBuf> = traces.iter().map(|trace| self.root.join(trace)).collect();
        traces.push(shared("left", &self.name));
        if let Some(trace) = traces.into_iter().find(|trace| trace.exists()) {
            return Some(format!("{} is there", self.shown(&trace)));
        }
        if self.tcp.accept().is_ok() || self.unix.accept().is_ok() || self.in_abstract.accept().is_ok() {
            return Some("a connection came".to_owned());
        }
        if self.udp.recv(&mut [0; 8]).is_ok() {
            return Some("a datagram came".to_owned());
        }
        matches!(self.victim.try_wait(), Ok(Some(_))).then(|| "another process was ended".to_owned())
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        for kind in ["left", "read"] {
            let _ = fs::remove_file(shared(kind, &self.name));
        }
    }
}

/// A process like an agent, with a secret in its environment.
fn victim() -> io::Result<Child> {
    let mut command = Command::new("sleep");
    command.arg("600").env(CANARY, SECRET).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    crate::tree::spawn_beside(|| command.spawn())
}

fn files(root: &Path) -> [PathBuf; 3] {
    ["outside/file", "work/.git/config", "work/.agent/config.toml"].map(|file| root.join(file))
}

fn shared(kind: &str, name: &str) -> PathBuf {
    Path::new("/tmp").join(format!("{SHARED_PREFIX}{kind}-{name}"))
}

/// A variable that is not on the list of harmless ones.
pub(super) const CANARY: &str = "AGENT_CHECK_CANARY";
pub(super) const SECRET: &str = "a-secret-of-another-process";
pub(super) const SHARED_PREFIX: &str = "agent-check-";
const UNTOUCHED: &[u8] = b"untouched\n";
