//! The process of a trial on a kernel.

use std::path::PathBuf;

use tcplab_testbed::Launcher;

/// The hidden subcommand of `tcplab` that is such a process.
pub const KERNEL_WORLD: &str = "kernel-world";

/// Starts `program`, which is the `tcplab` command, as the process of a trial.
pub fn launcher(program: PathBuf) -> Launcher {
    Launcher { program, arguments: vec![KERNEL_WORLD.into()] }
}
