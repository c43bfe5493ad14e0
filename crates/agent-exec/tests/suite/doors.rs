//! The sandbox of one command, where it differs from that of the others. Each attempt that is to fail succeeds where the door is open, or
//! in the sandbox of the others.

use crate::sandbox::{Place, everywhere, run};
use crate::support::text;
use agent_exec::{Access, DoorError, Doors, Mechanism, Processes};
use agent_types::ports::{Command, Exit};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

async fn works(processes: &Processes, command: &Command) -> bool {
    run(processes, command).await.exit == Exit::Code(0)
}

fn bash(place: &Place, text: &str) -> Command {
    Command { program: "bash".into(), ..place.command(text) }
}

fn writing(paths: &[PathBuf]) -> Doors {
    let place = |path: &PathBuf| agent_exec::Place::at(&path.canonicalize().unwrap()).unwrap();
    Doors { writable: paths.iter().map(place).collect(), ..Doors::default() }
}

#[tokio::test]
async fn a_reading_command_writes_nothing_where_others_write_the_workspace() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let reading = sandboxed.reading().unwrap();
        for attempt in
            ["echo x > file", "mkdir new", "rm sub -r", "echo x >> .git/config", "mkfifo pipe", "mv sub moved"]
        {
            assert!(!works(&reading, &place.command(attempt)).await, "{mechanism:?}: {attempt}");
        }
        assert!(!place.path("work/file").exists() && place.path("work/sub").exists(), "{mechanism:?}");
        let temporary = "cat .git/config && echo x > $TMPDIR/file && cat $TMPDIR/file";
        let finished = run(&reading, &place.command(temporary)).await;
        assert_eq!(text(&finished), "[core]\nx\n", "{mechanism:?}");
        assert!(finished.remarks.is_empty(), "{mechanism:?}: {finished:?}");
        assert!(works(&sandboxed, &place.command("echo x > file && mkdir new")).await, "control, {mechanism:?}");
    }
}

#[tokio::test]
async fn a_reading_command_does_not_write_what_the_policy_gives_to_others() {
    for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
        let place = Place::new();
        let mut policy = place.policy(Access::WorkspaceWrite);
        policy.writable.push(place.path("outside"));
        let environment = agent_exec::Environment::inherited();
        let Ok(sandbox) = agent_exec::Sandbox::with(mechanism, policy, crate::support::helper(), &environment) else {
            continue;
        };
        let sandboxed = Processes::new().in_sandbox(sandbox);
        let command = place.command(&format!("echo x > {}/new", place.path("outside").display()));
        assert!(!works(&sandboxed.reading().unwrap(), &command).await, "{mechanism:?}");
        assert!(works(&sandboxed, &command).await, "control, {mechanism:?}");
    }
}

#[tokio::test]
async fn without_a_sandbox_no_command_is_held_to_reading() {
    assert!(Processes::new().reading().is_none());
}

#[tokio::test]
async fn the_network_is_open_for_the_command_that_asked_and_nothing_else_is() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let socket = tempfile::tempdir_in("/var/tmp").unwrap();
    let socket = socket.path().join("socket");
    let unix = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let through_unix = format!("import socket; s = socket.socket(socket.AF_UNIX); s.connect('{}')", socket.display());
    let python = |place: &Place, code: &str| Command {
        program: "python3".into(),
        arguments: vec!["-c".into(), code.into()],
        ..place.command("")
    };
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let opened = sandboxed.opened(&Doors { network: true, ..Doors::default() }).unwrap();
        assert!(works(&opened, &bash(&place, &connect)).await, "{mechanism:?}");
        assert!(!works(&sandboxed, &bash(&place, &connect)).await, "the others, {mechanism:?}");
        assert!(!works(&sandboxed.reading().unwrap(), &bash(&place, &connect)).await, "{mechanism:?}");
        assert!(!works(&opened, &place.command("echo x > ../outside/new")).await, "{mechanism:?}");
        assert!(works(&opened, &place.command("echo x > file")).await, "{mechanism:?}");
        assert!(works(&opened, &place.command("cat /etc/resolv.conf")).await, "{mechanism:?}");
        assert!(!works(&opened, &python(&place, &through_unix)).await, "{mechanism:?}");
        assert!(works(&sandboxed.outside(), &python(&place, &through_unix)).await, "control, {mechanism:?}");
    }
    drop(unix);
}

#[tokio::test]
async fn a_named_place_can_be_written_and_nothing_beside_it() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        fs::create_dir_all(place.path("outside/given")).unwrap();
        let opened = sandboxed.opened(&writing(&[place.path("outside/given")])).unwrap();
        let within = place.command("echo x > ../outside/given/new");
        assert!(works(&opened, &within).await, "{mechanism:?}");
        assert!(!works(&sandboxed, &within).await, "the others, {mechanism:?}");
        assert!(!works(&opened, &place.command("echo x > ../outside/file")).await, "{mechanism:?}");
        assert!(!works(&opened, &place.command("mv ../outside/given ../outside/moved")).await, "{mechanism:?}");
        // What comes to its path later was not asked for.
        fs::rename(place.path("outside/given"), place.path("outside/was")).unwrap();
        symlink(place.path("outside"), place.path("outside/given")).unwrap();
        assert!(!place.path("outside/another").exists());
        let finished = opened
            .run_streaming(
                &place.command("echo x > ../outside/given/another"),
                agent_exec::Streams::Merged,
                &crate::support::Switch::new(),
                &|_| {},
            )
            .await;
        assert!(finished.is_err() || finished.unwrap().exit != Exit::Code(0), "{mechanism:?}");
        assert!(!place.path("outside/another").exists(), "{mechanism:?}");
    }
}

#[tokio::test]
async fn what_is_hidden_protected_or_absent_is_not_opened() {
    for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
        let place = Place::new();
        fs::create_dir_all(place.path("outside/keys/deep")).unwrap();
        symlink(place.path("outside/keys"), place.path("outside/link")).unwrap();
        let mut policy = place.policy(Access::WorkspaceWrite);
        policy.hidden = vec![place.path("outside/keys"), place.path("outside/not/yet")];
        let environment = agent_exec::Environment::inherited();
        let Ok(sandbox) = agent_exec::Sandbox::with(mechanism, policy, crate::support::helper(), &environment) else {
            continue;
        };
        let refused = |path: &str| sandbox.opened(&writing(&[place.path(path)])).unwrap_err();
        for path in ["outside/keys", "outside/keys/deep", "outside/link", "outside", "outside/link/deep", ""] {
            assert!(matches!(refused(path), DoorError::Hidden(_)), "{mechanism:?}: {path}");
        }
        let own = sandbox.scratch().parent().unwrap();
        for path in [own, own.parent().unwrap(), sandbox.scratch(), std::path::Path::new("/var/tmp")] {
            let error = sandbox.opened(&writing(&[path.to_path_buf()])).unwrap_err();
            assert!(matches!(error, DoorError::Protected(_) | DoorError::Hidden(_)), "{mechanism:?}: {path:?}");
        }
        for path in ["work/.git", "work/.git/config"] {
            assert!(matches!(refused(path), DoorError::Protected(_)), "{mechanism:?}: {path}");
        }
        fs::create_dir_all(place.path("outside/free")).unwrap();
        let doors = writing(&[place.path("outside/free")]);
        fs::rename(place.path("outside/free"), place.path("outside/was")).unwrap();
        assert!(matches!(sandbox.opened(&doors).unwrap_err(), DoorError::Absent(_)), "{mechanism:?}");
        fs::create_dir_all(place.path("outside/free")).unwrap();
        assert!(matches!(sandbox.opened(&doors).unwrap_err(), DoorError::Replaced(_)), "{mechanism:?}");
        assert!(sandbox.opened(&writing(&[place.path("outside/free")])).is_ok(), "control, {mechanism:?}");
    }
}

#[tokio::test]
async fn records_can_be_written_and_what_is_sealed_in_them_cannot() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let git = place.path("work/.git");
        for name in ["hooks", "objects"] {
            fs::create_dir_all(git.join(name)).unwrap();
        }
        for (name, content) in [("work/sub/.git/config", "[core]\n\tfsmonitor = ./evil\n"), ("work/sub/f", "x")] {
            fs::create_dir_all(place.path(name).parent().unwrap()).unwrap();
            fs::write(place.path(name), content).unwrap();
        }
        let sealed = ["config", "hooks"].map(|name| git.join(name)).to_vec();
        let opened = sandboxed.opened(&Doors { records: Some(git.clone()), sealed, ..Doors::default() });
        if mechanism == Mechanism::Landlock {
            assert!(matches!(opened.unwrap_err(), DoorError::NotSealed(_)));
            continue;
        }
        let opened = opened.unwrap();
        let write =
            place.command("echo x > .git/index.lock && mv .git/index.lock .git/index && echo x > .git/objects/a");
        assert!(works(&opened, &write).await);
        assert!(!works(&sandboxed, &write).await, "the others");
        // Another repository in the workspace is known to the policy.
        let nested = place.command("cat sub/.git/config");
        assert!(!works(&opened, &nested).await && works(&sandboxed, &nested).await);
        for attempt in [
            "echo x >> .git/config",
            "echo x > .git/hooks/pre-commit",
            "mv .git/hooks .git/other",
            "mv .git moved",
            "rm .git/config",
            "echo x > .git/c && mv .git/c .git/config",
            "ln .git/config .git/linked && echo x >> .git/linked",
        ] {
            assert!(!works(&opened, &place.command(attempt)).await, "{attempt}");
        }
        assert_eq!(fs::read_to_string(git.join("config")).unwrap(), "[core]\n");
    }
}

/// Nobody was asked about a reading command. What it takes is for each process by itself; a file that is mapped to be read is not counted.
#[tokio::test]
async fn a_reading_command_has_a_bound_on_memory_and_others_have_none() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let reading = sandboxed.reading().unwrap();
        let python = |code: &str| Command {
            program: "python3".into(),
            arguments: vec!["-c".into(), code.into()],
            ..place.command("")
        };
        // Nothing of it is written to, so the machine needs no such memory.
        let taking = python("import mmap; mmap.mmap(-1, 5 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)");
        assert!(!works(&reading, &taking).await, "{mechanism:?}");
        assert!(works(&sandboxed, &taking).await, "control, {mechanism:?}");
        let reserving =
            python("import mmap; mmap.mmap(-1, 5 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)");
        assert!(works(&reading, &reserving).await, "{mechanism:?}");
        let filling = place.command("truncate -s 5G \"$TMPDIR/large\"");
        assert!(!works(&reading, &filling).await, "{mechanism:?}");
        assert!(works(&sandboxed, &filling).await, "control, {mechanism:?}");
        assert!(works(&reading, &place.command("seq 300000 | sort -r | tail -n 1 | grep -x 1")).await, "{mechanism:?}");
    }
}
