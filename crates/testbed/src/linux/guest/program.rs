//! A guest that runs a program of the user's: `tcplab shell` in virtual time.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitStatus, pidfd_open, waitid};
use tcplab_recording::{GuestOrder, GuestReport, MessageBytes, OutputStream, ProgramEnd};
use tcplab_units::Endpoint;

use super::channel::Channel;
use super::mounts;
use super::outputs::Outputs;
use crate::addresses::ADDRESSES;
use crate::device::{self, Attachment};
use crate::shell::offspring;
use crate::shell::sockets::Sockets;
use crate::shell::{COURTESY, DELIVERY, LOOK, PATIENCE, RECEPTION, never_listened};
use crate::{GuestProgram, TrialError, sysctl, threads};

const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// Runs it when the other end is ready for it.
///
/// # Errors
/// Why it could not be run.
pub(super) fn run(task: &GuestProgram, channel: &Arc<Channel>) -> Result<(), TrialError> {
    set_up(task)?;
    channel.say(&GuestReport::Ready)?;
    while channel.hear::<GuestOrder>()? != GuestOrder::Start {}
    match task.end {
        Endpoint::Client => run_near(task, channel),
        Endpoint::Server => run_far(task, channel),
    }
}

fn set_up(task: &GuestProgram) -> Result<(), TrialError> {
    let directory = PathBuf::from(native(&task.directory));
    mounts::prepare_for_programs(&directory)?;
    env::set_current_dir(&directory)
        .map_err(TrialError::setup(format!("enter the directory {}", directory.display())))?;
    sysctl::keep_quiet();
    if let Some(name) = &task.congestion {
        choose_congestion(name)?;
    }
    device::take_loopback_up()?;
    let address = ADDRESSES[task.end as usize];
    let attachment = Attachment { name: device::NAME.into(), address, mtu: task.mtu };
    device::attach(&attachment, false)
}

fn choose_congestion(name: &str) -> Result<(), TrialError> {
    let known = sysctl::congestion_controls();
    if !known.iter().any(|it| it == name) {
        return Err(TrialError::Reported {
            message: format!("this kernel has no congestion control \"{name}\""),
            remedy: Some(format!("it has: {}", known.join(", "))),
        });
    }
    let settings = [(CONGESTION.to_owned(), name.to_owned())].into();
    sysctl::apply("kernel", &settings)
}

/// The command, and what comes with its end.
fn run_near(task: &GuestProgram, channel: &Arc<Channel>) -> Result<(), TrialError> {
    while channel.hear::<GuestOrder>()? != GuestOrder::Listening {}
    let (pid, mut outputs) = match start(task) {
        Ok(started) => started,
        Err(error) => {
            let name = task.command.first().map(native).unwrap_or_default();
            let failure = Some(format!("cannot run {}: {error}", name.display()));
            let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
            let end = ProgramEnd { code, failure, ..ProgramEnd::default() };
            return channel.say(&GuestReport::Exited(end));
        }
    };
    let status = await_end(pid, &mut outputs, channel)?;
    keep_forwarding(outputs, channel)?;
    let sockets = Sockets::here();
    let was_killed = status.signaled();
    // A killed program's unsent packets do not count as missing.
    if !was_killed {
        wait_while(DELIVERY, || sockets.has_unfinished());
    }
    // Guests end without any care for files.
    rustix::fs::sync();
    channel.say(&GuestReport::Exited(ProgramEnd {
        code: offspring::exit_code(status),
        was_killed,
        failure: None,
        device_drops: sockets.device_drops(device::NAME),
    }))
}

/// The far program, from before the command to after it.
fn run_far(task: &GuestProgram, channel: &Arc<Channel>) -> Result<(), TrialError> {
    let sockets = Sockets::here();
    let mut ended = None;
    if !task.command.is_empty() {
        let (pid, outputs) = start(task).map_err(TrialError::setup("run the far program"))?;
        keep_forwarding(outputs, channel)?;
        await_listener(task, sockets, pid, &mut ended)?;
        match ended {
            Some(status) => channel.say(&GuestReport::FarExited(offspring::exit_code(status)))?,
            None => report_end(pid, channel)?,
        }
    }
    channel.say(&GuestReport::Listening)?;
    while channel.hear::<GuestOrder>()? != GuestOrder::Rest {}
    let [near, _] = ADDRESSES;
    wait_while(RECEPTION, || sockets.has_unread(near));
    offspring::end_all(false, Vec::new());
    rustix::fs::sync();
    let device_drops = sockets.device_drops(device::NAME);
    // Its last output comes before.
    sleep(LOOK);
    channel.say(&GuestReport::Settled { device_drops })
}

/// Waits until the far program listens, as far as it has to.
fn await_listener(
    task: &GuestProgram,
    sockets: Sockets,
    pid: Pid,
    ended: &mut Option<WaitStatus>,
) -> Result<(), TrialError> {
    let port = task.wait_for;
    let until = Instant::now() + port.map_or(COURTESY, |_| PATIENCE);
    while !sockets.is_awaited(port) && Instant::now() < until {
        sleep(LOOK);
        offspring::reap(|child, status| {
            if child == pid {
                *ended = Some(status);
            }
        });
        if let (Some(status), Some(port)) = (*ended, port) {
            return Err(never_listened(port, Some(offspring::exit_code(status))));
        }
    }
    match port {
        Some(port) if !sockets.is_awaited(Some(port)) => Err(never_listened(port, None)),
        _ => Ok(()),
    }
}

/// Reports the far program's end, as soon as it ends; others take note of it, too.
fn report_end(pid: Pid, channel: &Arc<Channel>) -> Result<(), TrialError> {
    let channel = Arc::clone(channel);
    threads::start("the thread that waits for the far program", move || {
        let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let Ok(Some(status)) = ended else { return };
        let _ = channel.say(&GuestReport::FarExited(offspring::exit_code_of(
            status.exit_status(),
            status.terminating_signal(),
        )));
    })?;
    Ok(())
}

/// Starts the program without an input.
fn start(task: &GuestProgram) -> io::Result<(Pid, Outputs)> {
    let [name, arguments @ ..] = &task.command[..] else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut command = Command::new(native(name));
    command.args(arguments.iter().map(native)).env_clear();
    command.envs(task.environment.iter().map(|(name, value)| (native(name), native(value))));
    command.stdin(Stdio::null()).process_group(0);
    let mut outputs = Outputs::default();
    let output = outputs.pipe(OutputStream::Output)?;
    if task.has_one_output {
        command.stderr(output.try_clone()?);
    } else {
        command.stderr(outputs.pipe(OutputStream::Error)?);
    }
    command.stdout(output);
    let child = command.spawn()?;
    Ok((Pid::from_child(&child), outputs))
}

/// Waits for its end, and hands on what it prints until then.
fn await_end(pid: Pid, outputs: &mut Outputs, channel: &Channel) -> Result<WaitStatus, TrialError> {
    let failed = || TrialError::setup("wait for the program");
    let ends = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from).map_err(failed())?;
    loop {
        outputs.wait(Some(PollFd::from_borrowed_fd(ends.as_fd(), PollFlags::IN)))?;
        let mut ended = None;
        offspring::reap(|child, status| {
            if child == pid {
                ended = Some(status);
            }
        });
        outputs.hand_on(channel)?;
        if let Some(status) = ended {
            return Ok(status);
        }
    }
}

/// Hands on what programs print, for as long as there are any.
fn keep_forwarding(mut outputs: Outputs, channel: &Arc<Channel>) -> Result<(), TrialError> {
    let channel = Arc::clone(channel);
    threads::start("the thread that forwards output", move || {
        while outputs.are_open() && outputs.wait(None).is_ok() {
            if outputs.hand_on(&channel).is_err() {
                break;
            }
        }
    })?;
    Ok(())
}

fn wait_while(longest: Duration, goes_on: impl Fn() -> bool) {
    let until = Instant::now() + longest;
    while goes_on() && Instant::now() < until {
        sleep(LOOK);
    }
}

fn native(bytes: &MessageBytes) -> OsString {
    OsString::from_vec(bytes.0.clone())
}
