//! Programs that a build runs: in a process group of their own, so that all end when it is stopped.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tcplab_units::visible;

use crate::error::BuildError;

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(50);
/// How long stopped programs have to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
/// Lines of the log that an error quotes.
const QUOTED: usize = 12;

/// Runs programs until told to stop.
pub(crate) struct Runner<'a> {
    log: PathBuf,
    stop: &'a AtomicBool,
}

impl<'a> Runner<'a> {
    /// What programs print as errors goes to the log.
    pub(crate) fn new(log: &Path, stop: &'a AtomicBool) -> Runner<'a> {
        Runner { log: log.into(), stop }
    }

    /// Whether the user stopped it.
    pub(crate) fn check_stop(&self) -> Result<(), BuildError> {
        if self.stop.load(Ordering::Relaxed) { Err(BuildError::Stopped) } else { Ok(()) }
    }

    /// What a program prints. `what` is its task, for errors.
    pub(crate) fn output(&self, command: Command, what: &str) -> Result<String, BuildError> {
        let mut text = String::new();
        self.run(vec![command], what, &mut |line| {
            if let Some(line) = line {
                text += line;
                text.push('\n');
            }
        })?;
        Ok(text)
    }

    /// Runs programs, each reading what the one before it writes. `heard` gets each line of the
    /// last one, and `None` now and then.
    pub(crate) fn run(
        &self,
        commands: Vec<Command>,
        what: &str,
        heard: &mut dyn FnMut(Option<&str>),
    ) -> Result<(), BuildError> {
        self.check_stop()?;
        let log = |truncate: bool| {
            let mut options = OpenOptions::new();
            options.create(true).append(!truncate).write(true).truncate(truncate);
            options.open(&self.log).map_err(BuildError::file("write", &self.log))
        };
        log(true)?;
        let mut group = Group::default();
        let mut output = None;
        for command in commands {
            output = Some(group.start(command, output, log(false)?, what)?);
        }
        if let Some(output) = output {
            self.listen(output, heard)?;
        }
        while !group.is_over(what)? {
            self.check_stop()?;
            heard(None);
            thread::sleep(TICK);
        }
        group.failed.map_or(Ok(()), |status| Err(self.failure(what, status)))
    }

    fn listen(
        &self,
        output: ChildStdout,
        heard: &mut dyn FnMut(Option<&str>),
    ) -> Result<(), BuildError> {
        let (sender, lines) = mpsc::channel();
        let log = File::options().append(true).open(&self.log);
        let mut log = log.map_err(BuildError::file("write", &self.log))?;
        let read = move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                // `patch` and others explain failures on standard output.
                let _ = std::io::Write::write_all(&mut log, format!("{line}\n").as_bytes());
                if sender.send(line).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().spawn(read).map_err(|error| of_machine("reading", &error))?;
        loop {
            self.check_stop()?;
            match lines.recv_timeout(TICK) {
                Ok(line) => heard(Some(&line)),
                Err(RecvTimeoutError::Timeout) => heard(None),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn failure(&self, what: &str, status: ExitStatus) -> BuildError {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| is_telling(line)).collect();
        let said = lines[lines.len().saturating_sub(QUOTED)..].join("\n  ");
        let said = match status.signal() {
            _ if !said.is_empty() => visible(&said).into_owned(),
            Some(signal) => format!("it was ended by signal {signal}"),
            None => "it said nothing".to_owned(),
        };
        let what = what.to_owned();
        if status.signal() == Some(Signal::KILL.as_raw()) || lines.iter().any(|it| is_lack(it)) {
            return BuildError::Machine { what, said };
        }
        BuildError::Failed { what, said, code: status.code() }
    }
}

/// Whether a line of a log may tell why a program failed: `make` names each file that it makes,
/// as in `  CC [M]  net/ipv4/tcp.o`.
fn is_telling(line: &str) -> bool {
    let task = line.strip_prefix("  ").map(|rest| rest.split(' ').next().unwrap_or_default());
    let is_task = task.is_some_and(|task| {
        task.len() > 1
            && task.starts_with(|c: char| c.is_ascii_uppercase())
            && task
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "-_".contains(c))
    });
    !is_task && !line.trim().is_empty()
}

/// Whether a line tells what a machine lacks: disk space, memory, processes; the last is what gcc
/// says of its compiler that the kernel killed.
fn is_lack(line: &str) -> bool {
    const LACKS: [&str; 8] = [
        "No space left on device",
        "Disk quota exceeded",
        "Read-only file system",
        "Cannot allocate memory",
        "virtual memory exhausted",
        "Too many open files",
        "Resource temporarily unavailable",
        "Killed signal terminated program",
    ];
    LACKS.iter().any(|lack| line.contains(lack))
}

/// A program could not be started or waited for.
fn of_machine(what: &str, error: &dyn std::fmt::Display) -> BuildError {
    BuildError::Machine { what: what.into(), said: error.to_string() }
}

/// Running programs; those that are left end with it.
#[derive(Default)]
struct Group {
    leader: Option<Pid>,
    children: Vec<Child>,
    /// How the first one ended that failed.
    failed: Option<ExitStatus>,
}

impl Group {
    fn start(
        &mut self,
        mut command: Command,
        input: Option<ChildStdout>,
        log: File,
        what: &str,
    ) -> Result<ChildStdout, BuildError> {
        command.env("LC_ALL", "C").stdin(input.map_or_else(Stdio::null, Stdio::from));
        command.stdout(Stdio::piped()).stderr(log);
        command.process_group(self.leader.map_or(0, |leader| leader.as_raw_nonzero().get()));
        let mut child = command.spawn().map_err(|error| {
            of_machine(what, &format!("cannot start {}: {error}", command.get_program().display()))
        })?;
        self.leader.get_or_insert(Pid::from_child(&child));
        let output = child.stdout.take();
        self.children.push(child);
        output.ok_or_else(|| of_machine(what, &"no output"))
    }

    /// Whether all have ended.
    fn is_over(&mut self, what: &str) -> Result<bool, BuildError> {
        for child in &mut self.children {
            match child.try_wait().map_err(|error| of_machine(what, &error))? {
                None => return Ok(false),
                Some(status) if !status.success() => self.failed = self.failed.or(Some(status)),
                Some(_) => {}
            }
        }
        Ok(true)
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let is_over = |children: &mut Vec<Child>| {
            children.iter_mut().all(|child| !matches!(child.try_wait(), Ok(None)))
        };
        if is_over(&mut self.children) {
            return;
        }
        self.signal(Signal::TERM);
        let began = Instant::now();
        while !is_over(&mut self.children) {
            if began.elapsed() > GRACE {
                self.signal(Signal::KILL);
            }
            thread::sleep(TICK);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn log() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        (directory, log)
    }

    #[test]
    fn lines_of_the_last_program_are_heard() {
        let ((_directory, log), stop) = (log(), AtomicBool::new(false));
        let mut lines = Vec::new();
        let commands = vec![shell("echo one; echo two"), shell("sed s/o/0/"), shell("cat")];
        let mut heard = |line: Option<&str>| lines.extend(line.map(str::to_owned));
        Runner::new(&log, &stop).run(commands, "a test", &mut heard).unwrap();
        assert_eq!(lines, ["0ne", "tw0"]);
    }

    #[test]
    fn failure_quotes_what_was_said() {
        let ((_directory, log), stop) = (log(), AtomicBool::new(false));
        let script = "echo '  CC  a.o'; echo no such thing >&2; exit 2";
        let error = Runner::new(&log, &stop).output(shell(script), "a test").unwrap_err();
        assert_eq!(error.to_string(), "a test failed: no such thing");
        assert!(matches!(error, BuildError::Failed { code: Some(2), .. }));
    }

    #[test]
    fn lines_of_tasks_tell_nothing() {
        for line in [
            "  QUOTE   arch/um/kernel/config.tmp",
            "  CC      net/ipv4/tcp.o",
            "  CC [M]  a.o",
            "  HOSTLD  scripts/mod/modpost",
            "  LDS     arch/um/kernel/vmlinux.lds",
            "  VDSO    arch/x86/um/vdso/vdso.so.dbg",
            "  SYMLINK include/asm",
            "",
        ] {
            assert!(!is_telling(line), "{line}");
        }
        for line in ["net/ipv4/tcp.c:12:1: error: expected", "  2 | EXPORT();", "make: *** [x]"] {
            assert!(is_telling(line), "{line}");
        }
    }

    /// Another commit would fare no better.
    #[test]
    fn what_the_machine_lacks_is_no_fault_of_a_source() {
        for script in [
            "echo 'cannot write a.o: No space left on device' >&2; exit 1",
            "echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1",
            "kill -KILL $$",
        ] {
            let ((_directory, log), stop) = (log(), AtomicBool::new(false));
            let error = Runner::new(&log, &stop).output(shell(script), "a test").unwrap_err();
            assert!(matches!(error, BuildError::Machine { .. }), "{error}");
            assert!(!error.is_of_source() && error.remedy().is_some(), "{error}");
        }
    }

    /// A process that ended and for which nobody waited is no longer running.
    fn is_running(pid: &str) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    }

    #[test]
    fn stop_ends_programs_and_their_children() {
        let ((directory, log), stop) = (log(), Arc::new(AtomicBool::new(false)));
        let pid = directory.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; echo ready; wait", pid.display());
        let asked = Arc::clone(&stop);
        let mut heard = |line: Option<&str>| {
            if line.is_some() {
                asked.store(true, Ordering::Relaxed);
            }
        };
        let error = Runner::new(&log, &stop).run(vec![shell(&script)], "a test", &mut heard);
        assert!(error.unwrap_err().is_stop());
        let pid = fs::read_to_string(pid).unwrap();
        // It has got its signal; the kernel may still be about to end it.
        let began = Instant::now();
        while is_running(pid.trim()) {
            assert!(began.elapsed() < Duration::from_secs(20), "{pid} is still running");
            thread::sleep(Duration::from_millis(1));
        }
    }
}
