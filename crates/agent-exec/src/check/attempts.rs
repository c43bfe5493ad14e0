//! The attempts, each made in a process of its own.

use super::canaries::{CANARY, SECRET, SET_ID, SHARED_PREFIX};
use super::system;
use crate::helper::arguments::Arguments;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io::{self, Error, Write as _};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

/// Where the canaries are.
pub(super) struct Surroundings {
    work: PathBuf,
    outside: PathBuf,
    /// A process like the agent's.
    victim: i32,
    tcp_port: u16,
    udp_port: u16,
    /// The name of the abstract socket, and of files in `/tmp`.
    name: String,
    /// Another terminal; empty where there is none.
    terminal: PathBuf,
    /// A piece of System V's shared memory; empty where there is none.
    memory: String,
}

impl Surroundings {
    pub(super) fn read(arguments: &mut Arguments) -> Option<Self> {
        let root = PathBuf::from(arguments.next()?);
        Some(Self {
            work: root.join("work"),
            outside: root.join("outside"),
            victim: arguments.parse()?,
            tcp_port: arguments.parse()?,
            udp_port: arguments.parse()?,
            name: arguments.parse()?,
            terminal: arguments.next()?.into(),
            memory: arguments.parse()?,
        })
    }

    fn victim(&self) -> Option<Pid> {
        Pid::from_raw(self.victim)
    }

    fn hidden(&self, name: &str) -> PathBuf {
        self.outside.with_file_name("hidden").join(name)
    }

    fn outside_file(&self) -> PathBuf {
        self.outside.join("file")
    }
}

fn append(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(b"changed\n")
}

fn must_fail(is_possible: bool, why: &str) -> io::Result<()> {
    if is_possible { Ok(()) } else { Err(Error::other(why.to_owned())) }
}

pub(super) fn write_workspace(at: &Surroundings) -> io::Result<()> {
    fs::create_dir(at.work.join("new"))?;
    fs::write(at.work.join("new/file"), "x")?;
    fs::rename(at.work.join("new/file"), at.work.join("moved"))
}

pub(super) fn write_temporary(_: &Surroundings) -> io::Result<()> {
    let file = std::env::temp_dir().join(format!("agent-exec-{}", std::process::id()));
    fs::write(&file, "x")?;
    fs::remove_file(file)
}

pub(super) fn run_programs(_: &Surroundings) -> io::Result<()> {
    let status = system("sh").args(["-c", "echo | cat"]).stdout(Stdio::null()).status()?;
    must_fail(status.success(), "it ends with an error")
}

pub(super) fn create_outside(at: &Surroundings) -> io::Result<()> {
    File::create_new(at.outside.join("new")).map(drop)
}

pub(super) fn change_outside(at: &Surroundings) -> io::Result<()> {
    append(&at.outside_file())
}

pub(super) fn delete_outside(at: &Surroundings) -> io::Result<()> {
    fs::remove_file(at.outside_file())
}

pub(super) fn move_outside(at: &Surroundings) -> io::Result<()> {
    fs::rename(at.outside_file(), at.work.join("moved"))
}

pub(super) fn hard_link(at: &Surroundings) -> io::Result<()> {
    let link = at.work.join("hard");
    fs::hard_link(at.outside_file(), &link)?;
    append(&link)
}

pub(super) fn hard_link_made_before(at: &Surroundings) -> io::Result<()> {
    append(&at.work.join("linked"))
}

/// A process outside has it open for reading.
pub(super) fn named_pipe(at: &Surroundings) -> io::Result<()> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().write(true).custom_flags(flags).open(at.outside.join("pipe"))?.write_all(b"x")
}

/// Each way in which a file can come to the bits; one is enough.
pub(super) fn set_id_file(at: &Surroundings) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let file = at.work.join("set-id");
    let create = |mode| OpenOptions::new().write(true).create_new(true).mode(mode).open(&file).map(drop);
    let tries: [&dyn Fn() -> io::Result<()>; 5] = [
        &|| create(0o4755),
        &|| create(0o2755),
        &|| Ok(mknodat(CWD, &file, FileType::RegularFile, Mode::from_raw_mode(0o4755), 0)?),
        &|| create(0o755).and_then(|()| fs::set_permissions(&file, Permissions::from_mode(0o4755))),
        &|| create(0o755).and_then(|()| File::open(&file)?.set_permissions(Permissions::from_mode(0o2755))),
    ];
    let mut last = Ok(());
    for attempt in tries {
        last = attempt();
        if last.is_ok() && fs::metadata(&file)?.permissions().mode() & SET_ID != 0 {
            return Ok(());
        }
        let _ = fs::remove_file(&file);
    }
    last.and_then(|()| must_fail(false, "the bits are not set"))
}

pub(super) fn read_hidden(at: &Surroundings) -> io::Result<()> {
    let found = [fs::read(at.hidden("key")), fs::read(at.outside.with_file_name("hidden-file"))];
    must_fail(found.iter().any(|read| read.as_ref().is_ok_and(|text| !text.is_empty())), "it is empty or missing")
}

pub(super) fn lock_hidden(at: &Surroundings) -> io::Result<()> {
    let lock = File::open(at.hidden("lock"))?;
    must_fail(lock.try_lock().is_ok(), "another process has locked it")
}

pub(super) fn symbolic_link(at: &Surroundings) -> io::Result<()> {
    let link = at.work.join("soft");
    symlink(at.outside_file(), &link)?;
    append(&link)
}

pub(super) fn directory_outside(at: &Surroundings) -> io::Result<()> {
    fs::create_dir(at.outside.join("directory"))
}

pub(super) fn mode_outside(at: &Surroundings) -> io::Result<()> {
    fs::set_permissions(at.outside_file(), Permissions::from_mode(0o777))
}

pub(super) fn times_outside(at: &Surroundings) -> io::Result<()> {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    File::open(at.outside_file())?.set_times(FileTimes::new().set_modified(long_ago))
}

pub(super) fn git_config(at: &Surroundings) -> io::Result<()> {
    append(&at.work.join(".git/config"))
}

pub(super) fn git_hook(at: &Surroundings) -> io::Result<()> {
    fs::write(at.work.join(".git/hooks/pre-commit"), "#!/bin/sh\n")
}

pub(super) fn git_replaced(at: &Surroundings) -> io::Result<()> {
    fs::rename(at.work.join(".git"), at.work.join("git-away"))?;
    fs::create_dir(at.work.join(".git"))
}

pub(super) fn git_made(at: &Surroundings) -> io::Result<()> {
    fs::create_dir(at.work.join("sub/.git"))?;
    fs::write(at.work.join("sub/.git/config"), "[core]\n")
}

pub(super) fn agent_made(at: &Surroundings) -> io::Result<()> {
    fs::create_dir(at.work.join("sub/.agent"))?;
    fs::write(at.work.join("sub/.agent/config.toml"), "")
}

pub(super) fn agent_config(at: &Surroundings) -> io::Result<()> {
    append(&at.work.join(".agent/config.toml"))
}

pub(super) fn shared_temporary(at: &Surroundings) -> io::Result<()> {
    fs::write(Path::new("/tmp").join(format!("{SHARED_PREFIX}left-{}", at.name)), "x")
}

pub(super) fn read_temporary(at: &Surroundings) -> io::Result<()> {
    fs::read(Path::new("/tmp").join(format!("{SHARED_PREFIX}read-{}", at.name))).map(drop)
}

pub(super) fn read_shared_memory(at: &Surroundings) -> io::Result<()> {
    fs::read(Path::new("/dev/shm").join(format!("{SHARED_PREFIX}read-{}", at.name))).map(drop)
}

pub(super) fn other_terminal(at: &Surroundings) -> io::Result<()> {
    // Not as the terminal of this session.
    let flags = (rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(&at.terminal).map(drop)
}

pub(super) fn old_shared_memory(at: &Surroundings) -> io::Result<()> {
    let removed = system("ipcrm").args(["-m", &at.memory]).stdin(Stdio::null()).output()?;
    must_fail(removed.status.success(), String::from_utf8_lossy(&removed.stderr).trim())
}

pub(super) fn limits(at: &Surroundings) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, prlimit};
    let lower = Rlimit { current: Some(3), maximum: Some(4) };
    Ok(prlimit(at.victim(), Resource::Nofile, lower).map(drop)?)
}

pub(super) fn priority(at: &Surroundings) -> io::Result<()> {
    use rustix::process::setpriority_process;
    use rustix::thread::{sched_getaffinity, sched_setaffinity};
    // One that is there already, so that nothing depends on how many processors there are.
    let moved = sched_getaffinity(at.victim()).and_then(|set| sched_setaffinity(at.victim(), &set));
    setpriority_process(at.victim(), 19).or(moved).map_err(Error::from)
}

pub(super) fn tcp(at: &Surroundings) -> io::Result<()> {
    TcpStream::connect((Ipv4Addr::LOCALHOST, at.tcp_port)).map(drop)
}

pub(super) fn udp(at: &Surroundings) -> io::Result<()> {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.send_to(b"x", (Ipv4Addr::LOCALHOST, at.udp_port)).map(drop)
}

pub(super) fn unix_socket(at: &Surroundings) -> io::Result<()> {
    UnixStream::connect(at.outside.join("socket")).map(drop)
}

/// Half of a pair can be sent from to every name.
pub(super) fn unix_datagram(at: &Surroundings) -> io::Result<()> {
    let path = at.outside.join("datagrams");
    let (from_pair, _other) = UnixDatagram::pair().map_or((None, None), |(one, other)| (Some(one), Some(other)));
    from_pair.map_or_else(UnixDatagram::unbound, Ok)?.send_to(b"x", path).map(drop)
}

pub(super) fn abstract_socket(at: &Surroundings) -> io::Result<()> {
    UnixStream::connect_addr(&SocketAddr::from_abstract_name(&at.name)?).map(drop)
}

pub(super) fn vsock(_: &Surroundings) -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    Ok(socket(AddressFamily::VSOCK, SocketType::STREAM, None).map(drop)?)
}

pub(super) fn see_processes(at: &Surroundings) -> io::Result<()> {
    fs::metadata(format!("/proc/{}", at.victim)).map(drop)
}

pub(super) fn read_environment(at: &Surroundings) -> io::Result<()> {
    let environment = fs::read(format!("/proc/{}/environ", at.victim))?;
    must_fail(String::from_utf8_lossy(&environment).contains(SECRET), "the secret is not in it")
}

pub(super) fn read_memory(at: &Surroundings) -> io::Result<()> {
    File::open(format!("/proc/{}/mem", at.victim)).map(drop)
}

pub(super) fn signal(at: &Surroundings) -> io::Result<()> {
    let victim = at.victim().ok_or_else(|| Error::other("no such process"))?;
    Ok(kill_process(victim, Signal::KILL)?)
}

pub(super) fn inherit_environment(_: &Surroundings) -> io::Result<()> {
    must_fail(std::env::var_os(CANARY).is_some(), "it is missing")
}

pub(super) fn inherit_descriptor(at: &Surroundings) -> io::Result<()> {
    let open = fs::read_dir("/proc/self/fd")?;
    let mut leads_to = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    must_fail(leads_to.any(|path| path == at.outside_file()), "no such file is open")
}

/// A daemon in a session of its own that leaves a trace when the command has long ended.
pub(super) fn outlive(at: &Surroundings) -> io::Result<()> {
    let trace = at.work.join("outlived").display().to_string();
    let later = r#"(sleep 0.4; echo > "$0") & exit"#;
    let mut command = system("setsid");
    command.args(["sh", "-c", later, &trace]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map(drop)
}

pub(super) fn new_privileges(_: &Surroundings) -> io::Result<()> {
    own_status("NoNewPrivs:", "0")
}

pub(super) fn unfiltered(_: &Surroundings) -> io::Result<()> {
    own_status("Seccomp:", "0")
}

pub(super) fn user_namespace(_: &Surroundings) -> io::Result<()> {
    let output = system("unshare").args(["--user", "true"]).stdin(Stdio::null()).output()?;
    must_fail(output.status.success(), String::from_utf8_lossy(&output.stderr).trim())
}

pub(super) fn kernel_settings(_: &Surroundings) -> io::Result<()> {
    OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern").map(drop)
}

pub(super) fn devices(_: &Surroundings) -> io::Result<()> {
    OpenOptions::new().write(true).open("/dev/kmsg").map(drop)
}

fn own_status(field: &str, value: &str) -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status")?;
    let found = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default().trim();
    must_fail(found == value, &format!("{field} {found}"))
}
