//! A program of the user's behind a path, on two kernels in virtual time.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, io};

use tcplab_guests::{GuestError, GuestRequest, LONGEST_TURN};
use tcplab_kernels::Kernel;
use tcplab_path::{Backend, PathSpec};
use tcplab_recording::MessageBytes;
use tcplab_sim::{ENDS, GuestShell, GuestShellEnd, GuestTrialError, Print, links_of, run_shell};
use tcplab_testbed::{GuestProgram, GuestWork, Launcher, TrialError, prepare_capture};
use tcplab_units::{Endpoint, Span};

use crate::run::{GuestFailure, KernelHost, arguments_of, bbr_phases, seed_of};

/// The addresses of the ends.
const ADDRESSES: [&str; 2] = ["10.98.0.1", "10.98.0.2"];

/// A program behind a path, in virtual time.
#[derive(Debug, Clone)]
pub struct VirtualShell {
    /// The path.
    pub path: PathSpec,
    /// What the programs find as `TCPLAB_PATH`.
    pub description: String,
    /// Of all randomness.
    pub seed: u64,
    /// The kernels of the near and the far end.
    pub kernels: [Kernel; 2],
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// A program at the far end, in the words of `sh`.
    pub far: Option<OsString>,
    /// The TCP port that it has to listen on before the command is started.
    pub wait_for: Option<u16>,
    /// Whether standard output and standard error go to the same place.
    pub has_one_output: bool,
    /// The largest packet of the ends' devices, in bytes of IP.
    pub mtu: u32,
    /// The congestion control of sockets that ask for no other.
    pub congestion: Option<String>,
    /// Where a recording is to be made: a directory that does not exist yet, or is empty.
    pub capture: Option<PathBuf>,
    /// How many bytes of each packet the captures keep; all where no number is given.
    pub snaplen: Option<u32>,
    /// How a kernel's first program is started.
    pub launcher: Launcher,
    /// How long a kernel may compute in real time while its clock stands; 20 s where this is none.
    pub longest_turn: Option<Duration>,
}

/// Why such a program could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// The current directory is gone.
    #[error("cannot find the current directory: {0}")]
    Directory(io::Error),
    /// The path is one for netem.
    #[error("this path is for netem, which virtual time does not have")]
    Netem,
    /// The directory of the recording cannot be used.
    #[error(transparent)]
    Capture(TrialError),
    /// A kernel, a program or the recording.
    #[error(transparent)]
    Guests(GuestFailure),
}

impl ShellError {
    /// What the user can do about it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            ShellError::Directory(_) => Some("change to a directory that exists".into()),
            ShellError::Netem => Some("leave out `backend`".into()),
            ShellError::Capture(error) => error.remedy(),
            ShellError::Guests(GuestTrialError::Failed { remedy, .. }) => remedy.clone(),
            ShellError::Guests(GuestTrialError::Recording(error)) => error.remedy("--capture"),
            ShellError::Guests(GuestTrialError::Guest {
                source: GuestError::Spins { .. }, ..
            }) => Some(
                "time stands while a program computes, so one that polls without sleeping \
                     never ends; run it in real time: leave out --world sim, --near and --far"
                    .into(),
            ),
            ShellError::Guests(GuestTrialError::Guest { source, .. }) => match source {
                source if source.remedy().is_some() => source.remedy().map(Into::into),
                GuestError::Ended { .. } | GuestError::Protocol { .. } => Some(
                    "try another kernel (--near, --far), or real time: leave out --world sim, \
                     --near and --far"
                        .into(),
                ),
                _ => None,
            },
            ShellError::Guests(GuestTrialError::Stands { .. }) => {
                Some("give the path a rate or a delay: `-s delay='1 ms'`".into())
            }
            ShellError::Guests(_) => None,
        }
    }

    /// Whether the caller asked to stop.
    pub fn is_stop(&self) -> bool {
        use GuestTrialError::{Guest, Stopped};
        matches!(self, ShellError::Guests(Stopped | Guest { source: GuestError::Stopped, .. }))
    }

    /// Whether whoever read standard output or standard error has enough.
    pub fn is_unread(&self) -> bool {
        matches!(self, ShellError::Guests(GuestTrialError::Output(error))
            if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Runs a program behind a path, with a kernel at each end, in virtual time. `print` gets what the
/// programs print, as they do.
///
/// # Errors
/// When it could not be run, or was stopped: soon after `stop` is set.
pub fn shell(
    request: &VirtualShell,
    stop: &AtomicBool,
    print: &mut Print<'_>,
) -> Result<GuestShellEnd, ShellError> {
    if request.path.backend == Some(Backend::Netem) {
        return Err(ShellError::Netem);
    }
    let links = links_of(&request.path);
    let (_, response) = links.map_err(|error| ShellError::Guests(GuestTrialError::Path(error)))?;
    let directory = env::current_dir().map_err(ShellError::Directory)?;
    if let Some(capture) = &request.capture {
        prepare_capture(capture).map_err(ShellError::Capture)?;
    }
    // Elsewhere they are slower, no more.
    let _ = tcplab_guests::pin(0);
    let start = |end| {
        let work = GuestWork::Program(program_of(request, end, directory.as_os_str()));
        boot(request, end, response, &work, stop)
    };
    let hosts = [
        start(Endpoint::Client).map_err(ShellError::Guests)?,
        start(Endpoint::Server).map_err(ShellError::Guests)?,
    ];
    let names = request.kernels.each_ref().map(|it| format!("Linux {}", it.manifest.release));
    let names = [names[0].as_str(), names[1].as_str()];
    let run = GuestShell {
        path: &request.path,
        seed: request.seed,
        capture: request.capture.as_deref(),
        snaplen: request.snaplen,
    };
    let ended = run_shell(&run, hosts, names, print, &mut || stop.load(Ordering::Relaxed));
    ended.map_err(ShellError::Guests)
}

fn boot<'a>(
    request: &VirtualShell,
    end: Endpoint,
    response: Span,
    work: &GuestWork,
    stop: &'a AtomicBool,
) -> Result<KernelHost<'a>, GuestFailure> {
    let kernel = &request.kernels[end.index()];
    let guest = GuestRequest {
        image: &kernel.image(),
        has_seccomp: kernel.manifest.seccomp,
        init: &request.launcher.program,
        arguments: &arguments_of(&request.launcher),
        writable: true,
        longest_turn: request.longest_turn.unwrap_or(LONGEST_TURN),
        seed: seed_of(request.seed, end),
        bbr_phases: &bbr_phases(request.seed),
        cuts: true,
        response,
    };
    KernelHost::boot(&guest, work, ENDS[end.index()], stop)
}

fn program_of(request: &VirtualShell, end: Endpoint, directory: &OsStr) -> GuestProgram {
    let words = |words: &[OsString]| words.iter().map(|word| bytes(word)).collect();
    let command = match (end, &request.far) {
        (Endpoint::Client, _) => words(&request.command),
        (Endpoint::Server, Some(line)) => words(&["sh".into(), "-c".into(), line.clone()]),
        (Endpoint::Server, None) => Vec::new(),
    };
    let depth: u32 = env::var("TCPLAB_SHELL").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    let [near, far] = ADDRESSES.map(OsString::from);
    let own = [
        ("TCPLAB_NEAR", near),
        ("TCPLAB_FAR", far),
        ("TCPLAB_SHELL", (depth + 1).to_string().into()),
        ("TCPLAB_PATH", request.description.clone().into()),
    ];
    let is_own = |name: &OsStr| own.iter().any(|(own, _)| name == *own);
    let inherited = env::vars_os().filter(|(name, _)| !is_own(name));
    let inherited = inherited.map(|(name, value)| (bytes(&name), bytes(&value)));
    let own = own.iter().map(|(name, value)| (bytes(OsStr::new(name)), bytes(value)));
    GuestProgram {
        end,
        command,
        environment: inherited.chain(own).collect(),
        directory: bytes(directory),
        // What the far program prints goes to one place anyway.
        has_one_output: request.has_one_output || end == Endpoint::Server,
        mtu: request.mtu,
        congestion: request.congestion.clone(),
        wait_for: request.wait_for,
    }
}

fn bytes(text: &OsStr) -> MessageBytes {
    MessageBytes(text.as_encoded_bytes().to_vec())
}
