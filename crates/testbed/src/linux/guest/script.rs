//! A guest that is the host of a packetdrill script: it makes the application's system calls, and
//! moves packets between its TUN device and the world outside.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use tcplab_recording::{GuestReport, MessageBytes};

use super::channel::Channel;
use super::{mounts, tunnel};
use crate::sys::RawCall;
use crate::{
    CallResult, GuestCall, GuestScript, ScriptOrder, ScriptReport, TrialError, device, threads,
};

/// Where the commands of scripts look for programs.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const BASH: &str = "/bin/bash";
/// What comes before the commands, in their first line: they end with 127 where a program is
/// missing, be it inside a pipe or in a file that they run. A shell alone tells that only of the
/// last command. It needs bash, for which suites are written (`&>`).
const BEFORE: &str = r#"
[ "$BASH_VERSION" ] || { echo 'bash is not installed'; exit 127; };
exec 9>&2; export COMMANDS=$$;
command_not_found_handle() { echo "$1: command not found" >&9; kill -USR1 $COMMANDS; return 127; };
export -f command_not_found_handle;
trap 'exit 127' USR1;
trap '[ $? -ne 127 ] || exit 127' ERR;"#;
/// How much of what commands print is reported, bytes.
const SAID: usize = 2_000;

/// Does what it is told, without an end.
///
/// # Errors
/// When the host cannot be set up, or there is nobody to speak to.
pub(super) fn run(task: &GuestScript, channel: &Arc<Channel>) -> Result<(), TrialError> {
    let directory = PathBuf::from(OsString::from_vec(task.directory.0.clone()));
    mounts::prepare_for_programs(&directory)?;
    device::take_loopback_up()?;
    let tun = Arc::new(tunnel::open(task)?);
    let calls = start_application(channel)?;
    start_reader(&tun, channel)?;
    channel.say(&GuestReport::Ready)?;
    loop {
        match channel.hear()? {
            ScriptOrder::Call(call) => calls.send(call).map_err(|_| TrialError::panicked())?,
            ScriptOrder::Ask(call) => channel.say(&ScriptReport::Answered(made(&call)))?,
            ScriptOrder::Inject { offload, head, zeros } => {
                tunnel::inject(&tun, &offload, &head, zeros)
                    .map_err(TrialError::setup("write a packet to the TUN device"))?;
            }
            ScriptOrder::Write { path, head, zeros } => {
                let wrote = write(&path, &head, zeros).err();
                channel.say(&ScriptReport::Wrote(wrote.map(|error| error.to_string())))?;
            }
            ScriptOrder::Shell(text) => channel.say(&shell(&text, &directory)?)?,
        }
    }
}

/// The thread that calls as the application does: its calls may wait.
fn start_application(channel: &Arc<Channel>) -> Result<Sender<GuestCall>, TrialError> {
    let (calls, to_make) = mpsc::channel::<GuestCall>();
    let channel = Arc::clone(channel);
    threads::start("the thread of the application", move || {
        for call in to_make {
            if channel.say(&ScriptReport::Returned(made(&call))).is_err() {
                break;
            }
        }
    })?;
    Ok(calls)
}

/// The thread that reports what the kernel sends.
fn start_reader(tun: &Arc<File>, channel: &Arc<Channel>) -> Result<(), TrialError> {
    let (tun, channel) = (Arc::clone(tun), Arc::clone(channel));
    threads::start("the thread that reads packets", move || {
        let mut buffer = Vec::new();
        loop {
            match tunnel::next_packet(&tun, &mut buffer) {
                Ok(report) if channel.say(&report).is_ok() => {}
                // A device that was taken down has nothing to read until it is up again.
                Err(error) if error.raw_os_error() == Some(libc::EIO) => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                _ => break,
            }
        }
    })?;
    Ok(())
}

fn made(call: &GuestCall) -> CallResult {
    match RawCall::new(call) {
        Ok(call) => call.make(),
        // As of a call that this kernel lacks.
        Err(_) => CallResult { result: i64::from(-libc::ENOSYS), memory: Vec::new() },
    }
}

fn write(path: &str, head: &MessageBytes, zeros: u64) -> io::Result<()> {
    // Settings of the kernel take what they are given in one piece.
    let mut file = if path.starts_with("/proc/") || path.starts_with("/sys/") {
        fs::OpenOptions::new().write(true).open(path)?
    } else {
        File::create(path)?
    };
    file.write_all(&head.0)?;
    if zeros > 0 {
        file.set_len(head.0.len() as u64 + zeros)?;
    }
    Ok(())
}

/// Runs the commands and waits for their end.
fn shell(text: &str, directory: &Path) -> Result<ScriptReport, TrialError> {
    let shell = if Path::new(BASH).exists() { BASH } else { "/bin/sh" };
    let mut command = Command::new(shell);
    let text = format!("{} {text}", BEFORE.replace('\n', " "));
    command.args(["-c", &text]).current_dir(directory).env_clear();
    command.env("PATH", PATH).env("HOME", "/tmp");
    // Of packetdrill's own process, by which scripts name files.
    command.env("PACKETDRILL_PID", std::process::id().to_string());
    let ended = command.stdin(Stdio::null()).output();
    let ended = ended.map_err(TrialError::setup("run the shell"))?;
    let printed = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&printed[printed.len().saturating_sub(SAID)..]);
    Ok(ScriptReport::Exited { code: exit_code(ended.status), said: said.trim().to_owned() })
}

fn exit_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.unwrap_or(1) as u8
}
