//! A program, run once: what it took.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// `USER_HZ`, which is 100 on every architecture that Linux runs this on.
const TICKS: f64 = 100.0;
/// How often memory is sampled; the kernel keeps the high-water mark.
const LOOK: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    /// Seconds.
    pub(crate) wall: f64,
    /// Seconds of processor time, of the kernel and of the program; to 10 ms.
    pub(crate) cpu: f64,
    /// Largest resident memory, kilobytes.
    pub(crate) memory: u64,
    /// Processors that others kept busy meanwhile.
    pub(crate) foreign: f64,
}

/// Runs `command` in `folder`; its output goes to a file there.
pub(crate) fn run(command: &mut Command, folder: &Path) -> io::Result<Took> {
    let output = File::create(folder.join("output"))?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
    let (began, busy) = (Instant::now(), machine());
    let mut child = command.spawn()?;
    let over = AtomicBool::new(false);
    let (wall, memory) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(resident(child.id()));
                thread::sleep(LOOK);
            }
            most
        });
        let pid = Pid::from_child(&child);
        // Not yet reaped, it can still be asked what it took.
        let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let wall = began.elapsed().as_secs_f64();
        over.store(true, Ordering::Relaxed);
        let memory = watcher.join().expect("it only reads");
        ended.map(|_| (wall, memory))
    })?;
    let cpu = used(child.id());
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("{command:?} ended with {status}")));
    }
    let foreign = ((machine() - busy - cpu) / wall).max(0.0);
    Ok(Took { wall, cpu, memory, foreign })
}

/// Seconds that all processors were not idle: proc(5), `/proc/stat`.
fn machine() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    // user, nice, system; then irq, softirq, and steal behind idle and iowait.
    [0, 1, 2, 5, 6, 7].iter().filter_map(|&index| ticks.get(index)).sum::<f64>() / TICKS
}

/// Seconds that a process used: proc(5), `/proc/pid/stat`, fields 14 and 15.
fn used(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS
}

/// Largest resident memory so far, kilobytes; 0 when it is over.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Whether a program of this name can be started.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
