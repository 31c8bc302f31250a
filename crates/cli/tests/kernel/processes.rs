//! Leftovers of a test's program: processes, network namespaces, devices.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Every process that inherits this variable belongs to the test, whatever its parent is.
const MARK: &str = "TCPLAB_TEST_FAMILY";
/// Dying takes a moment, more under load.
const PATIENCE: Duration = Duration::from_secs(20);
/// The interval of polling.
const LOOK: Duration = Duration::from_millis(1);

/// All descendants of one command.
#[derive(Debug)]
pub(crate) struct Family {
    mark: String,
}

/// Namespaces and devices of the machine.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) namespaces: BTreeSet<PathBuf>,
    devices: BTreeSet<String>,
}

impl Family {
    /// The family of `command`, before it is started. `name` must be unique in this process.
    pub(crate) fn of(command: &mut Command, name: &str) -> Family {
        let mark = format!("{MARK}={name} of {}", std::process::id());
        command.env(MARK, &mark[MARK.len() + 1..]);
        Family { mark }
    }

    /// Living members; zombies are dead.
    pub(crate) fn members(&self) -> Vec<Member> {
        processes().into_iter().filter(|process| process.environment_has(&self.mark)).collect()
    }

    /// The current trial's process.
    pub(crate) fn helper(&self) -> Option<Member> {
        self.members().into_iter().find(|member| {
            let line = fs::read(member.0.join("cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|argument| argument == b"kernel-world")
        })
    }

    /// The network namespaces that members are in or have open.
    pub(crate) fn namespaces(&self) -> BTreeSet<PathBuf> {
        self.members().iter().flat_map(Member::namespaces).collect()
    }

    /// Asserts that no process, none of these namespaces and no device is left.
    pub(crate) fn is_gone(&self, name: &str, before: &Machine, had: &BTreeSet<PathBuf>) {
        let own: BTreeSet<&PathBuf> = had.difference(&before.namespaces).collect();
        let left = || {
            let now = Machine::now();
            let members: Vec<PathBuf> = self.members().into_iter().map(|member| member.0).collect();
            let namespaces: Vec<&PathBuf> =
                own.iter().copied().filter(|one| now.namespaces.contains(*one)).collect();
            let devices: Vec<&String> = now.devices.difference(&before.devices).collect();
            let left = format!("{members:?} {namespaces:?} {devices:?}");
            (left != "[] [] []").then_some(left)
        };
        let gone = await_that(|| left().is_none());
        assert!(gone, "{name}: left over: {:?}", left());
    }
}

impl Machine {
    pub(crate) fn now() -> Machine {
        let table = fs::read_to_string("/proc/net/dev").unwrap();
        let devices = table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().into()));
        Machine {
            namespaces: processes().iter().flat_map(Member::namespaces).collect(),
            devices: devices.collect(),
        }
    }
}

/// A process, by its directory in `/proc`. What cannot be read of it belongs to another user or is
/// gone.
#[derive(Debug)]
pub(crate) struct Member(PathBuf);

impl Member {
    /// Kills it; `false` if it was dead already.
    pub(crate) fn kill(&self) -> bool {
        kill_process(self.pid(), Signal::KILL).is_ok()
    }

    pub(crate) fn pid(&self) -> Pid {
        let pid = self.0.file_name().unwrap().to_str().unwrap().parse().unwrap();
        Pid::from_raw(pid).unwrap()
    }

    /// Whether it runs a program of that name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        fs::read_to_string(self.0.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    }

    fn environment_has(&self, entry: &str) -> bool {
        let environment = fs::read(self.0.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == entry.as_bytes())
    }

    /// Of its threads and open files, as `net:[4026531840]`.
    fn namespaces(&self) -> BTreeSet<PathBuf> {
        let threads = entries(&self.0.join("task")).into_iter().map(|task| task.join("ns/net"));
        threads
            .chain(entries(&self.0.join("fd")))
            .filter_map(|link| fs::read_link(link).ok())
            .filter(|target| target.to_string_lossy().starts_with("net:["))
            .collect()
    }
}

/// Polls until it is so; `false` after [`PATIENCE`].
pub(crate) fn await_that(mut it_is_so: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    loop {
        if it_is_so() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        thread::sleep(LOOK);
    }
}

fn processes() -> Vec<Member> {
    let is_number = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok())
    };
    entries(Path::new("/proc")).into_iter().filter(is_number).map(Member).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default()
}
