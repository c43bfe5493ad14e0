//! What this process keeps to itself.

/// Keeps what this process has from others: descriptors that it was started with are not handed on to commands, and its memory and
/// environment, where keys are, cannot be read by other processes of the same user. Those of root still can.
///
/// For a program that is the host, first thing in `main`; a debugger of the same user cannot attach to it any more, and no core is dumped.
pub fn keep_to_itself() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        close_fds::set_fds_cloexec(3, &[]);
        // Without it the environment can be read as before; commands in a sandbox cannot do it anyway.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
