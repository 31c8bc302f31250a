//! A program behind a path: `tcplab shell`.
//!
//! Two network namespaces, the *near* one with the program and the *far* one, and the path between
//! them. As in a trial, nothing has a name and nothing is owned by anything but processes, of which
//! there are two ([`guard`]): however one of them ends, or the process group of one, no process,
//! namespace or device is left.

mod ends;
mod guard;
pub(crate) mod offspring;
mod seen_sockets;
pub(crate) mod sockets;
mod subnet;

use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitStatus, kill_process, kill_process_group};
use tcplab_recording::{Summary, Traffic};

use self::ends::{Common, EndPosition};
pub(crate) use self::guard::guarded;
use self::guard::{GuardEnd, Guarded};
use self::seen_sockets::SeenSockets;
use self::subnet::Block;
use crate::message::serde_name;
use crate::mover::{End, Mover, Moving};
use crate::namespace::{self, Privilege};
use crate::process::is_limit;
use crate::{DeviceKind, TrialError, sysctl};

/// A program to be run behind a path.
#[derive(Debug)]
pub struct ShellRequest {
    /// The path and its recording.
    pub moving: Moving,
    /// What the program finds as `TCPLAB_PATH`.
    pub description: String,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// A program at the far end, in the words of `sh`.
    pub far: Option<OsString>,
    /// The TCP port that it has to listen on before the command is started.
    pub wait_for: Option<u16>,
    /// Whether the far end is the namespace that this process is in.
    pub join: bool,
    /// The shell that this process runs in: how deep that is, and its near address.
    pub around: Option<(u32, Option<Ipv4Addr>)>,
    /// How frames get out of the ends; the best allowed one where none is named.
    pub device: Option<DeviceKind>,
    /// The largest packet of the ends' devices, in bytes of IP.
    pub mtu: u32,
    /// The congestion control of all connections through the path whose program asks for no other,
    /// from their first packet on; that of the machine where none is named.
    pub congestion: Option<String>,
    /// When the command is ended, with all that it started, if it has not ended by itself.
    pub time_limit: Option<Duration>,
}

/// How a shell ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellEnd {
    /// The command's exit code; 128 and its number if a signal ended it; 127 or 126 where it was
    /// not found or could not be executed.
    pub code: u8,
    /// That of the far program, if it had ended before the command did.
    pub far_code: Option<u8>,
    /// Why the command could not be started.
    pub failure: Option<String>,
    /// From the command's start to its end; zero where it could not be started.
    pub took: Duration,
    /// Whether it was ended after the time that it had; its code is then 124, as
    /// that of timeout(1).
    pub is_timed_out: bool,
    /// TCP segments that the kernels of both ends retransmitted; not known of an end that was there
    /// before.
    pub retransmissions: Option<u64>,
    /// What went through the path.
    pub summary: Summary,
}

/// The exit code of a command that took too long.
const TIMED_OUT: u8 = 124;

/// Runs a program behind a path. In a process of its own: `watch` receives the path's traffic there
/// once a second, and `end` turns the outcome into the exit code that this function returns. What
/// `beside` returns stays in this process, and in its namespaces, until the other has ended.
///
/// Must be called before the process has a second thread.
///
/// # Errors
/// When that process cannot be made.
pub fn shell<B>(
    request: &ShellRequest,
    beside: impl FnOnce() -> B,
    mut watch: impl FnMut(&Traffic),
    end: impl FnOnce(Result<ShellEnd, TrialError>) -> u8,
) -> Result<u8, TrialError> {
    Ok(guarded(beside, |guarded| end(run(request, &guarded, false, &mut watch)))?.code)
}

/// As [`shell`], one of several in a row: also returns the signal that asked this process to end
/// meanwhile. Between two calls such a signal waits for the second. SIGINT for this process alone
/// reaches the command as SIGTERM.
///
/// Must be called before the process has a second thread.
///
/// # Errors
/// As [`shell`].
pub fn shell_in_turn(
    request: &ShellRequest,
    end: impl FnOnce(Result<ShellEnd, TrialError>) -> u8,
) -> Result<(u8, Option<i32>), TrialError> {
    let GuardEnd { code, asked } =
        guarded(|| (), |guarded| end(run(request, &guarded, true, &mut |_| ())))?;
    Ok((code, asked))
}

/// How long the program at the far end may take to listen on the port that was named,
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// and on any port, where none was; it need not.
pub(crate) const COURTESY: Duration = Duration::from_secs(1);
/// How long the kernel may take to deliver what the command left to it,
pub(crate) const DELIVERY: Duration = Duration::from_secs(10);
/// and the program at the far end to take it.
pub(crate) const RECEPTION: Duration = Duration::from_secs(1);
/// How often to look whether something awaited has come.
pub(crate) const LOOK: Duration = Duration::from_millis(10);
/// How often traffic is reported to the caller.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

fn run(
    request: &ShellRequest,
    guarded: &Guarded,
    is_in_turn: bool,
    watch: &mut dyn FnMut(&Traffic),
) -> Result<ShellEnd, TrialError> {
    request.moving.plans()?;
    let host = if request.join { Some(namespace::current()?) } else { None };
    let privilege = match host {
        Some(_) => {
            namespace::isolate_held()?;
            Privilege::Held
        }
        None => namespace::isolate()?,
    };
    request.moving.prepare()?;
    guarded.end_with_guard(request.moving.passing())?;
    sysctl::keep_quiet();
    let kind = request.device.unwrap_or_else(DeviceKind::best);
    let congestion = request.congestion.clone();
    let is_watched = request.moving.steered.is_some();
    let common = Common { kind, mtu: request.mtu, congestion, is_watched };
    let far = match host {
        Some(host) => {
            let near = request.around.and_then(|(_, near)| near);
            EndPosition::Joined(host, near.and_then(Block::of))
        }
        None => EndPosition::Far(Block::WHOLE),
    };
    let mut far = ends::End::set_up(far, common.clone())?;
    let mut near = ends::End::set_up(EndPosition::Near(far.block), common)?;
    let mut addresses = far.block.ends().map(|address| address.to_string()).into_iter();
    let both = [&mut near, &mut far].map(|end| End {
        device: end.device.take().expect("a device just made"),
        name: addresses.next().unwrap_or_default(),
    });
    let listers = [near.lister.take(), far.lister.take()];
    let seen = match (&request.moving.steered, listers) {
        (Some(watcher), [Some(near), Some(far)]) => Some(SeenSockets::begin([near, far], watcher)?),
        _ => None,
    };
    let mover = Mover::start(&request.moving, both)?;
    let mut session = Session {
        request,
        guarded,
        watch,
        mover,
        near,
        far,
        command: None,
        server: None,
        is_in_turn,
        hurry: None,
        reported: Instant::now(),
    };
    let outcome = session.hold();
    let retransmissions = session.retransmissions();
    session.leave();
    drop(seen);
    let Session { mover, near, far, .. } = session;
    let drops = near.sockets.device_drops(&near.name) + far.sockets.device_drops(&far.name);
    let summary = mover.finish(kind, |world| {
        world.privilege = serde_name(&privilege);
        world.device_drops += drops;
    });
    // An error of the path explains what the programs met.
    let summary = summary?;
    let Held { code, far_code, failure, took, is_timed_out } = outcome?;
    Ok(ShellEnd { code, far_code, failure, took, is_timed_out, retransmissions, summary })
}

/// The error of a far program that does not listen on the port that it has to, with its exit code
/// if it has ended.
pub(crate) fn never_listened(port: u16, code: Option<u8>) -> TrialError {
    let how = code.map_or_else(
        || format!("did not listen on port {port} within {} s", PATIENCE.as_secs()),
        |code| format!("ended (exit code {code}) and never listened on port {port}"),
    );
    TrialError::reported(format!("the far program {how}"), None)
}

/// A process that was started, and what became of it.
#[derive(Debug, Clone, Copy)]
struct Started {
    pid: Pid,
    ended: Option<WaitStatus>,
}

/// What became of the command.
struct Held {
    code: u8,
    far_code: Option<u8>,
    failure: Option<String>,
    took: Duration,
    is_timed_out: bool,
}

/// A shell in which programs run.
struct Session<'a> {
    request: &'a ShellRequest,
    guarded: &'a Guarded,
    watch: &'a mut dyn FnMut(&Traffic),
    mover: Mover,
    near: ends::End,
    far: ends::End,
    command: Option<Started>,
    /// At the far end.
    server: Option<Started>,
    /// Whether other commands follow.
    is_in_turn: bool,
    /// By this signal, somebody wants it to be over.
    hurry: Option<Signal>,
    reported: Instant,
}

impl Session<'_> {
    /// From the first program to the last.
    fn hold(&mut self) -> Result<Held, TrialError> {
        if let Some(line) = &self.request.far {
            self.start_server(line)?;
        }
        let [name, arguments @ ..] = &self.request.command[..] else {
            return Err(TrialError::setup("run nothing")(io::ErrorKind::InvalidInput.into()));
        };
        let mut command = Command::new(name);
        command.args(arguments);
        if let Some(group) = self.guarded.group {
            command.process_group(group.as_raw_nonzero().get());
        }
        self.describe_to(&mut command);
        let began = Instant::now();
        match self.near.start(command) {
            Ok(pid) => self.command = Some(Started { pid, ended: None }),
            Err(error) if is_limit(&error) => {
                return Err(TrialError::not_started("the program")(error));
            }
            Err(error) => {
                let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
                let failure = Some(format!("cannot run {}: {error}", name.display()));
                let (far_code, took) = (None, Duration::ZERO);
                return Ok(Held { code, far_code, failure, took, is_timed_out: false });
            }
        }
        let status = self.await_command(began)?;
        let took = began.elapsed();
        let far_code = self.server.and_then(|it| it.ended).map(offspring::exit_code);
        let Some(status) = status else {
            let code = TIMED_OUT;
            return Ok(Held { code, far_code, failure: None, took, is_timed_out: true });
        };
        // A killed program's unsent packets do not count as missing.
        if !status.signaled() {
            self.settle()?;
        }
        let code = offspring::exit_code(status);
        Ok(Held { code, far_code, failure: None, took, is_timed_out: false })
    }

    /// How the command ended that began then; none where it had not when its time was over.
    fn await_command(&mut self, began: Instant) -> Result<Option<WaitStatus>, TrialError> {
        loop {
            let left = self.request.time_limit.map(|limit| limit.saturating_sub(began.elapsed()));
            self.turn(left.map_or(REPORT_INTERVAL, |left| left.min(REPORT_INTERVAL)))?;
            if let Some(status) = self.command.and_then(|command| command.ended) {
                return Ok(Some(status));
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
        }
    }

    fn retransmissions(&self) -> Option<u64> {
        if self.request.join {
            return None;
        }
        let [near, far] = [&self.near, &self.far].map(|end| end.sockets.retransmitted_segments());
        near.zip(far).map(|(near, far)| near + far)
    }

    fn start_server(&mut self, line: &OsString) -> Result<(), TrialError> {
        let mut server = Command::new("sh");
        // Its output is no part of the command's, which may be read by another program; and it is
        // in the background of the terminal, so that keys mean the command alone.
        let output = io::stderr()
            .as_fd()
            .try_clone_to_owned()
            .map_err(TrialError::setup("duplicate standard error"))?;
        server.arg("-c").arg(line).stdin(Stdio::null()).stdout(output).process_group(0);
        self.describe_to(&mut server);
        let pid = self.far.start(server).map_err(TrialError::not_started("the far program"))?;
        self.server = Some(Started { pid, ended: None });
        let port = self.request.wait_for;
        let until = Instant::now() + port.map_or(COURTESY, |_| PATIENCE);
        let sockets = self.far.sockets;
        while !sockets.is_awaited(port) && Instant::now() < until {
            self.turn(LOOK)?;
            if let Some(signal) = self.hurry {
                return Err(TrialError::StoppedBy(signal.as_raw()));
            }
            if let (Some(status), Some(port)) = (self.server.and_then(|it| it.ended), port) {
                return Err(never_listened(port, Some(offspring::exit_code(status))));
            }
        }
        match port {
            Some(port) if !sockets.is_awaited(Some(port)) => Err(never_listened(port, None)),
            _ => Ok(()),
        }
    }

    fn describe_to(&self, command: &mut Command) {
        let [near, far] = self.near.block.ends();
        let depth = self.request.around.map_or(1, |(depth, _)| depth + 1);
        command
            .env("TCPLAB_NEAR", near.to_string())
            .env("TCPLAB_FAR", far.to_string())
            .env("TCPLAB_SHELL", depth.to_string())
            .env("TCPLAB_PATH", &self.request.description);
    }

    /// Waits for the kernel to deliver what the command has sent, and for the far program to take
    /// it: a command that ends has not yet sent its last byte.
    fn settle(&mut self) -> Result<(), TrialError> {
        let until = Instant::now() + DELIVERY;
        while self.hurry.is_none() && Instant::now() < until && self.near.sockets.has_unfinished() {
            self.turn(LOOK)?;
        }
        let [near, _] = self.near.block.ends();
        let until = Instant::now() + RECEPTION;
        while self.hurry.is_none() && Instant::now() < until {
            let is_awake = self.server.is_some_and(|server| server.ended.is_none());
            let is_behind = is_awake && self.far.sockets.has_unread(near);
            if self.mover.on_path() == 0 && !is_behind {
                break;
            }
            self.turn(LOOK)?;
        }
        Ok(())
    }

    /// Ends all programs that are still there.
    fn leave(&mut self) {
        let server = self.server.filter(|server| server.ended.is_none()).map(|server| server.pid);
        if let Some(pid) = server {
            let _ = kill_process_group(pid, Signal::TERM);
        }
        offspring::end_all(self.hurry.is_some(), server.into_iter().collect());
    }

    /// Waits until something happens, for `patience` at most, and does what there is to do.
    fn turn(&mut self, patience: Duration) -> Result<(), TrialError> {
        let span = patience.min(REPORT_INTERVAL.saturating_sub(self.reported.elapsed()));
        self.guarded.signals.wait(Some(span)).map_err(TrialError::setup("wait"))?;
        while let Some(heard) = self.guarded.signals.next() {
            // Of a key on the terminal the command knows; all else comes by way of the guard.
            let is_forwarded = heard.sender == Some(self.guarded.guard) && !heard.is_key;
            match self.command {
                _ if heard.signal == Signal::CHILD => {}
                Some(Started { pid, ended: None }) if is_forwarded => {
                    let _ = kill_process(pid, self.meant_by(heard.signal));
                    // A stopped process does not handle the signal.
                    let _ = kill_process(pid, Signal::CONT);
                }
                Some(Started { ended: None, .. }) => {}
                _ => self.hurry = Some(heard.signal),
            }
        }
        let started = [&mut self.command, &mut self.server];
        let mut started = started.map(Option::as_mut);
        offspring::reap(|pid, status| {
            for one in started.iter_mut().flatten().filter(|one| one.pid == pid) {
                one.ended = Some(status);
            }
        });
        if self.reported.elapsed() >= REPORT_INTERVAL {
            self.reported = Instant::now();
            (self.watch)(&self.mover.traffic());
        }
        if self.mover.has_failed() { Err(TrialError::Stopped) } else { Ok(()) }
    }

    /// What the command gets when this process got a signal. A shell heeds SIGINT only when the
    /// program that it waits for ends, which did not get it; where commands follow, nobody waits.
    fn meant_by(&self, signal: Signal) -> Signal {
        if self.is_in_turn && signal == Signal::INT { Signal::TERM } else { signal }
    }
}
