//! Programs that a build runs: in a process group of their own, so that all end when it is stopped.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
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
        if group.has_failed { Err(self.failure(what)) } else { Ok(()) }
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
        let failed = |error| BuildError::Failed { what: "reading".into(), said: error };
        thread::Builder::new().spawn(read).map_err(|error| failed(error.to_string()))?;
        loop {
            self.check_stop()?;
            match lines.recv_timeout(TICK) {
                Ok(line) => heard(Some(&line)),
                Err(RecvTimeoutError::Timeout) => heard(None),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn failure(&self, what: &str) -> BuildError {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| is_telling(line)).collect();
        let said = lines[lines.len().saturating_sub(QUOTED)..].join("\n  ");
        let said = if said.is_empty() { "it said nothing".to_owned() } else { said };
        BuildError::Failed { what: what.into(), said: visible(&said).into_owned() }
    }
}

/// Whether a line of a log may tell why a program failed; `make` names each file that it compiles.
fn is_telling(line: &str) -> bool {
    const TASKS: [&str; 8] = ["CC", "AS", "AR", "LD", "GEN", "UPD", "HOSTCC", "CALL"];
    line.split_whitespace().next().is_some_and(|first| !TASKS.contains(&first))
}

/// Running programs; those that are left end with it.
#[derive(Default)]
struct Group {
    leader: Option<Pid>,
    children: Vec<Child>,
    has_failed: bool,
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
        let mut child = command.spawn().map_err(|error| BuildError::Failed {
            what: what.into(),
            said: format!("cannot start {}: {error}", command.get_program().display()),
        })?;
        self.leader.get_or_insert(Pid::from_child(&child));
        let output = child.stdout.take();
        self.children.push(child);
        output.ok_or_else(|| BuildError::Failed { what: what.into(), said: "no output".into() })
    }

    /// Whether all have ended.
    fn is_over(&mut self, what: &str) -> Result<bool, BuildError> {
        for child in &mut self.children {
            let ended = child.try_wait().map_err(|error| BuildError::Failed {
                what: what.into(),
                said: error.to_string(),
            })?;
            match ended {
                None => return Ok(false),
                Some(status) => self.has_failed |= !status.success(),
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
