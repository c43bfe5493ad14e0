//! What must stay as it is: files, sockets, a process.

use super::system;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::io::{FdFlags, fcntl_setfd};
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// What belongs to other processes.
pub(super) struct Strangers {
    victim: Child,
    /// A piece of System V's shared memory.
    memory: Option<String>,
}

impl Strangers {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { victim: victim()?, memory: memory() })
    }

    /// A new victim for the next probe: one that was just killed may still seem to live.
    pub(super) fn renew(&mut self) -> io::Result<()> {
        self.end_victim();
        self.victim = victim()?;
        Ok(())
    }

    fn end_victim(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }

    fn is_killed(&mut self) -> bool {
        matches!(self.victim.try_wait(), Ok(Some(_)))
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        self.end_victim();
        if let Some(memory) = &self.memory {
            // It may have been removed in an attempt.
            let _ = system("ipcrm").args(["-m", memory]).stdin(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

/// The canaries of one attempt.
pub(super) struct Canaries<'a> {
    root: PathBuf,
    name: String,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    datagrams: UnixDatagram,
    in_abstract: UnixListener,
    strangers: &'a mut Strangers,
    /// The reading end of the named pipe.
    pipe: File,
    /// The other end of a terminal, and its name.
    terminal: Option<(OwnedFd, PathBuf)>,
    /// The file outside, open and inheritable.
    _open: File,
    modified: SystemTime,
    is_touched: bool,
}

impl<'a> Canaries<'a> {
    /// Makes all of it anew.
    pub(super) fn lay(root: &Path, strangers: &'a mut Strangers) -> io::Result<Self> {
        let (work, outside, hidden) = (root.join("work"), root.join("outside"), root.join("hidden"));
        // The directories themselves stay: the sandbox knows what they are.
        for directory in [&work, &outside, &hidden] {
            fs::create_dir_all(directory)?;
            for entry in fs::read_dir(directory)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    fs::remove_dir_all(entry.path())?;
                } else {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        for directory in [".git/hooks", ".agent", "sub"].map(|name| work.join(name)) {
            fs::create_dir_all(directory)?;
        }
        for file in files(root) {
            fs::write(&file, UNTOUCHED)?;
            fs::set_permissions(&file, Permissions::from_mode(0o644))?;
        }
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::write(shared("read", &name), UNTOUCHED)?;
        // Not every machine has it.
        let _ = fs::write(in_memory(&name), UNTOUCHED);
        // Nor does every file system. What could not be made cannot be tried outside either.
        let _ = fs::hard_link(outside.join("linked"), work.join("linked"));
        let open = File::open(outside.join("file"))?;
        fcntl_setfd(&open, FdFlags::empty())?;
        let modified = open.metadata()?.modified()?;
        let canaries = Self {
            tcp: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?,
            udp: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
            unix: UnixListener::bind(outside.join("socket"))?,
            datagrams: UnixDatagram::bind(outside.join("datagrams"))?,
            in_abstract: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?,
            strangers,
            pipe: pipe(&outside.join("pipe"))?,
            terminal: terminal(),
            _open: open,
            root: root.to_path_buf(),
            modified,
            name,
            is_touched: false,
        };
        canaries.tcp.set_nonblocking(true)?;
        canaries.udp.set_nonblocking(true)?;
        canaries.unix.set_nonblocking(true)?;
        canaries.datagrams.set_nonblocking(true)?;
        canaries.in_abstract.set_nonblocking(true)?;
        Ok(canaries)
    }

    /// What an attempt has to know of them.
    pub(super) fn arguments(&self) -> [OsString; 7] {
        let port = |address: io::Result<std::net::SocketAddr>| address.map_or(0, |address| address.port());
        [
            self.root.clone().into(),
            self.strangers.victim.id().to_string().into(),
            port(self.tcp.local_addr()).to_string().into(),
            port(self.udp.local_addr()).to_string().into(),
            self.name.clone().into(),
            self.terminal.as_ref().map(|(_, name)| name.clone().into()).unwrap_or_default(),
            self.strangers.memory.clone().unwrap_or_default().into(),
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
            return Some(format!("{} exists", self.shown(&trace)));
        }
        if self.tcp.accept().is_ok() || self.unix.accept().is_ok() || self.in_abstract.accept().is_ok() {
            return Some("a connection arrived".to_owned());
        }
        if self.udp.recv(&mut [0; 8]).is_ok() || self.datagrams.recv(&mut [0; 8]).is_ok() {
            return Some("a datagram arrived".to_owned());
        }
        if matches!(self.pipe.read(&mut [0; 8]), Ok(1..)) {
            return Some("a named pipe was written".to_owned());
        }
        if fs::metadata(self.root.join("work/set-id")).is_ok_and(|file| file.permissions().mode() & SET_ID != 0) {
            return Some("a set-user-id file exists".to_owned());
        }
        self.strangers.is_killed().then(|| "another process was killed".to_owned())
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

impl Drop for Canaries<'_> {
    fn drop(&mut self) {
        for kind in ["left", "read"] {
            let _ = fs::remove_file(shared(kind, &self.name));
        }
        let _ = fs::remove_file(in_memory(&self.name));
    }
}

/// A process like an agent, with a secret in its environment.
fn victim() -> io::Result<Child> {
    let mut command = system("sleep");
    command.arg("600").env(CANARY, SECRET).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    crate::tree::spawn_beside(|| command.spawn())
}

/// It has a reader, so a writer does not wait.
fn pipe(path: &Path) -> io::Result<File> {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?.into())
}

/// None where the system has no more of them.
fn terminal() -> Option<(OwnedFd, PathBuf)> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).ok()?;
    grantpt(&controller).and_then(|()| unlockpt(&controller)).ok()?;
    let name = ptsname(&controller, Vec::new()).ok()?;
    Some((controller, PathBuf::from(OsString::from_vec(name.into_bytes()))))
}

/// None where there is no program that makes one.
fn memory() -> Option<String> {
    let made = system("ipcmk").args(["-M", "64"]).env("LC_ALL", "C").stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8(made.stdout).ok()?;
    said.trim().rsplit(' ').next().filter(|number| number.parse::<u32>().is_ok()).map(str::to_owned)
}

fn files(root: &Path) -> [PathBuf; 7] {
    let files = [
        "outside/file",
        "outside/linked",
        "work/.git/config",
        "work/.agent/config.toml",
        "hidden/key",
        "hidden/lock",
        "hidden-file",
    ];
    files.map(|file| root.join(file))
}

fn in_memory(name: &str) -> PathBuf {
    Path::new("/dev/shm").join(format!("{SHARED_PREFIX}read-{name}"))
}

fn shared(kind: &str, name: &str) -> PathBuf {
    Path::new("/tmp").join(format!("{SHARED_PREFIX}{kind}-{name}"))
}

/// A variable that is not on the list of harmless ones.
pub(super) const CANARY: &str = "AGENT_CHECK_CANARY";
pub(super) const SECRET: &str = "a-secret-of-another-process";
/// Set-user-id and set-group-id.
pub(super) const SET_ID: u32 = 0o6000;
pub(super) const SHARED_PREFIX: &str = "agent-check-";
const UNTOUCHED: &[u8] = b"untouched\n";
