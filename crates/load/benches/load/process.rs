//! Programs, each on its processor: started, asked what they took, ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// `USER_HZ`, which is 100 on every architecture that Linux runs this on.
const TICKS: f64 = 100.0;

/// On which processor a program runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Server,
    Generator,
}

/// Whether each side has a processor of its own.
pub(crate) fn is_pinned() -> bool {
    is_installed("taskset") && std::thread::available_parallelism().is_ok_and(|it| it.get() > 1)
}

pub(crate) fn command(program: &Path, side: Side) -> Command {
    if !is_pinned() {
        return Command::new(program);
    }
    let processor = match side {
        Side::Server => "0",
        Side::Generator => "1",
    };
    let mut command = Command::new("taskset");
    command.args(["-c", processor]).arg(program);
    command
}

/// tcplab's program, from the last build.
pub(crate) fn tcplab() -> io::Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/tcplab");
    path.canonicalize().map_err(|_| {
        io::Error::other("build it first: cargo build --locked --release --package tcplab")
    })
}

/// Whether a program of this name can be started.
pub(crate) fn is_installed(program: &str) -> bool {
    found(program).is_some()
}

/// Where a program is; also where only root looks for it.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin".into(), "/sbin".into()]);
    folders.into_iter().map(|folder| folder.join(program)).find(|place| place.is_file())
}

/// Runs a command to its end: what it printed, and the processor time it took.
pub(crate) fn finish(command: &mut Command) -> io::Result<(String, f64)> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut output = String::new();
    if let Some(mut pipe) = child.stdout.take() {
        io::Read::read_to_string(&mut pipe, &mut output)?;
    }
    let pid = Pid::from_child(&child);
    // Not yet reaped, it can still be asked what it took.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let used = used(child.id());
    let status = child.wait()?;
    // `tcplab load` exits with 1 when answers were wrong; the figures show it.
    if status.code().is_none_or(|code| code > 1) {
        return Err(io::Error::other(format!("{command:?} ended with {status}: {output}")));
    }
    Ok((output, used))
}

/// Seconds of processor time of a process: proc(5), `/proc/pid/stat`, fields 14 and 15.
pub(crate) fn used(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS
}

/// Resident memory at its largest, megabytes.
pub(crate) fn memory(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0)
        / 1024.0
}

/// A program that is terminated when dropped.
#[derive(Debug)]
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}
