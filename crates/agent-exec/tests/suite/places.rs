//! What commands do to the places that the next command's sandbox is made of: close them, move them, put links there. Each is tried in the
//! open, too.

use crate::sandbox::{Place, run};
use crate::support::{Switch, helper, text};
use agent_exec::{Access, Environment, Mechanism, Policy, Processes, Sandbox, Streams};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

const BOTH: [Mechanism; 2] = [Mechanism::Bubblewrap, Mechanism::Landlock];

/// Nothing where the mechanism does not work here.
fn sandboxed(mechanism: Mechanism, policy: Policy) -> Option<Processes> {
    let sandbox = Sandbox::with(mechanism, policy, helper(), &Environment::inherited());
    Some(Processes::new().in_sandbox(sandbox.ok()?))
}

/// A hidden file outside, and in the workspace a hidden and a protected one.
fn policy(place: &Place) -> Policy {
    fs::create_dir_all(place.path("outside/keys")).unwrap();
    fs::write(place.path("outside/keys/key"), "secret-outside\n").unwrap();
    for directory in ["conf", "tools/hooks"] {
        fs::create_dir_all(place.path("work").join(directory)).unwrap();
    }
    fs::write(place.path("work/conf/.env"), "secret-within\n").unwrap();
    fs::write(place.path("work/tools/hooks/x"), "first\n").unwrap();
    let mut policy = place.policy(Access::WorkspaceWrite);
    policy.hidden = vec![place.path("outside/keys/key"), place.path("work/conf/.env")];
    policy.protected.push(place.path("work/tools/hooks"));
    policy
}

#[tokio::test]
async fn what_a_command_closes_is_not_taken_for_absent() {
    let close = "chmod 000 ../outside ../outside/keys conf tools; true";
    let open = "chmod 755 ../outside ../outside/keys conf tools; cat ../outside/keys/key conf/.env; echo second > tools/hooks/x; true";
    for mechanism in BOTH {
        let place = Place::new();
        let Some(sandboxed) = sandboxed(mechanism, policy(&place)) else { continue };
        run(&sandboxed, &place.command(close)).await;
        let seen = text(&run(&sandboxed, &place.command(open)).await);
        assert!(!seen.contains("secret-outside"), "{mechanism:?}: {seen}");
        // Landlock takes nothing out of what may be written, and says so.
        if mechanism == Mechanism::Bubblewrap {
            assert!(!seen.contains("secret-within"), "{seen}");
        }
        let without = Processes::new();
        let seen = text(&run(&without, &place.command(&format!("{close}; {open}"))).await);
        assert!(seen.contains("secret-outside"), "without a sandbox: {seen}");
    }
    let place = Place::new();
    if let Some(sandboxed) = sandboxed(Mechanism::Bubblewrap, policy(&place)) {
        run(&sandboxed, &place.command(close)).await;
        run(&sandboxed, &place.command(open)).await;
        run(&Processes::new(), &place.command("chmod 755 tools")).await;
        assert_eq!(fs::read_to_string(place.path("work/tools/hooks/x")).unwrap(), "first\n");
    }
}

#[tokio::test]
async fn what_lies_on_the_way_to_something_protected_is_not_moved() {
    let place = Place::new();
    let Some(sandboxed) = sandboxed(Mechanism::Bubblewrap, policy(&place)) else { return };
    let moves = "mv tools t2; mv conf c2; mkdir -p tools/hooks; echo second > tools/hooks/x; cat c2/.env; true";
    let seen = text(&run(&sandboxed, &place.command(moves)).await);
    assert!(seen.contains("busy") && !seen.contains("secret"), "{seen}");
    assert_eq!(fs::read_to_string(place.path("work/tools/hooks/x")).unwrap(), "first\n");
    let seen = text(&run(&Processes::new(), &place.command(moves)).await);
    assert!(seen.contains("secret-within"), "without a sandbox: {seen}");
}

/// Somebody exchanges a directory with another one, in which a link leads to what is hidden, while sandboxes are made.
#[tokio::test(flavor = "multi_thread")]
async fn mounts_that_were_made_elsewhere_are_noticed() {
    let place = Place::new();
    let policy = Policy {
        protected: vec![place.path("work/sub/.vscode")],
        hidden: vec![place.path("outside/keys")],
        ..policy(&place)
    };
    let [sub, evil] = ["work/sub", "work/evil"].map(|name| place.path(name));
    fs::create_dir_all(sub.join(".vscode")).unwrap();
    fs::create_dir_all(&evil).unwrap();
    symlink("../../outside/keys", evil.join(".vscode")).unwrap();
    let Some(sandboxed) = sandboxed(Mechanism::Bubblewrap, policy) else { return };
    let (is_over, mut refused) = (AtomicBool::new(false), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &sub, CWD, &evil, RenameFlags::EXCHANGE);
                std::thread::sleep(std::time::Duration::from_micros(300));
            }
        });
        let look = place.command("cat ../outside/keys/key; true");
        for _ in 0..150 {
            let finished = futures(sandboxed.run_streaming(&look, Streams::Merged, &Switch::new(), &|_| {}));
            match finished {
                Ok(finished) => assert!(!text(&finished).contains("secret-outside"), "{finished:?}"),
                Err(why) => {
                    refused += 1;
                    assert!(
                        why.to_string().contains("changed while the sandbox was set up")
                            || why.to_string().contains("bwrap"),
                        "{why}"
                    );
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    // How many depends on the machine; without the look from within, as many read the key.
    assert!(refused > 0, "the exchange never fell between a look and a mount");
}

/// On a runtime of its own: the other thread is not async.
fn futures<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(future))
}

#[tokio::test]
async fn what_may_be_written_is_what_was_there_at_the_start() {
    for (mechanism, make) in BOTH.into_iter().flat_map(|mechanism| [(mechanism, false), (mechanism, true)]) {
        let place = Place::new();
        let mut policy = policy(&place);
        policy.writable = vec![place.path("work/cache"), place.path("other/cache")];
        if make {
            policy.writable.iter().for_each(|path| fs::create_dir_all(path).unwrap());
        }
        let Some(sandboxed) = sandboxed(mechanism, policy) else { continue };
        let plant = "mv cache away; ln -s ../outside cache; ls -l cache; true";
        run(&sandboxed, &place.command(plant)).await;
        let write = "echo changed > ../outside/file; cat ../outside/keys/key; true";
        let finished = sandboxed.run_streaming(&place.command(write), Streams::Merged, &Switch::new(), &|_| {}).await;
        let seen = finished.as_ref().map(text).unwrap_or_default();
        assert!(!seen.contains("secret"), "{mechanism:?}: {seen}");
        assert_eq!(fs::read_to_string(place.path("outside/file")).unwrap(), "outside\n", "{mechanism:?}: {seen}");
        run(&Processes::new(), &place.command(write)).await;
        assert_eq!(fs::read_to_string(place.path("outside/file")).unwrap(), "changed\n", "without a sandbox");
    }
}

/// The first process of the namespace has files open that are not the command's.
#[tokio::test]
async fn the_helpers_descriptors_are_out_of_reach() {
    let place = Place::new();
    let Some(sandboxed) = sandboxed(Mechanism::Bubblewrap, policy(&place)) else { return };
    let look = "readlink /proc/1/comm; for f in 3 4 5 6 7 8 9; do chmod 600 /proc/1/fd/$f && echo reached; readlink /proc/1/fd/$f && echo reached; done; true";
    let seen = text(&run(&sandboxed, &place.command(look)).await);
    assert!(seen.contains("denied") && !seen.contains("reached"), "{seen}");
    let own = text(&run(&sandboxed, &place.command("exec 3< /dev/null; readlink /proc/$$/fd/3")).await);
    assert_eq!(own, "/dev/null\n", "its own are");
}
