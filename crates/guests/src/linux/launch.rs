//! The process of a guest.
#![expect(unsafe_code, reason = "descriptors that a new process keeps")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};

use crate::console::Console;
use crate::error::GuestError;
use crate::place::memory_place;
use crate::processor_time;
use crate::request::GuestRequest;

/// How much memory a guest has, MiB. What nothing uses costs nothing.
const MEMORY_MIB: u64 = 256;

/// How long after the start of its clock a guest's trial begins: it has booted by then.
pub(crate) const ZERO_NANOS: u64 = 1_000_000_000;
/// The zero of a guest's clock: 2000-01-01 00:00:00 UTC less the time that it boots in, nanoseconds
/// since the Unix epoch.
pub(crate) const BOOT_UNIX_NANOS: u64 = 946_684_800_000_000_000 - ZERO_NANOS;

/// The descriptors of the guest's process. Its command line names them instead of paths: it is part
/// of the kernel's random numbers, and must be the same everywhere.
const INIT_FD: libc::c_int = 1000;
const CLOCK_FD: libc::c_int = 1001;

/// How long a process whose connection is closed has to end by itself.
const PARTING: Duration = Duration::from_secs(2);

/// The process; it is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// How it ended, where that is known otherwise.
    status: Option<String>,
    console: Console,
    reader: Option<thread::JoinHandle<()>>,
}

impl Process {
    /// Starts it; its clock speaks by the socket that is returned.
    pub(crate) fn start(request: &GuestRequest<'_>) -> Result<(Process, UnixStream), GuestError> {
        // A pair, since a name could be left behind.
        let (socket, clock) =
            UnixStream::pair().map_err(GuestError::setup("make the socket of the clock"))?;
        let init = open(request.init, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| GuestError::setup("open the first program")(errno.into()))?;
        let image = |source| GuestError::Image { image: request.image.into(), source };
        let mut command = Command::new(request.image);
        command.args(command_line(request)).env_clear();
        // User-mode Linux finds the top of its address space by a variable that is not PATH
        // (`get_top_address`); without one, its processes lie on their own stacks.
        command.env("HOME", "/");
        let memory = memory_place(MEMORY_MIB << 20);
        command.env("TMPDIR", memory.map_err(|wrong| GuestError::NoPlace { wrong })?);
        // A key on the terminal is for tcplab, which then ends it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        keep_in_child(&mut command, [(init, INIT_FD), (clock.into(), CLOCK_FD)]);
        let (read, write) = io::pipe().map_err(GuestError::setup("make a pipe"))?;
        let errors = write.try_clone().map_err(GuestError::setup("make a pipe"))?;
        command.stdout(write).stderr(errors);
        let child = command.spawn().map_err(image)?;
        // It has the ends to write to.
        drop(command);
        let console = Console::default();
        let kept = console.clone();
        let mut process = Process { child, status: None, console, reader: None };
        let keep = move || {
            // It ends with the guest, or is of no use.
            let _ = kept.fill(read);
        };
        let reader = thread::Builder::new().name("guest's console".into()).spawn(keep);
        process.reader = Some(reader.map_err(GuestError::setup("start a thread"))?);
        Ok((process, socket))
    }

    /// How it ended, if it did.
    fn ended(&mut self) -> Option<String> {
        let ended = || self.child.try_wait().ok().flatten().map(|status| status.to_string());
        self.status.clone().or_else(ended)
    }

    /// Ends it; this is how it ended.
    pub(crate) fn end_as(&mut self, status: &str) {
        self.end();
        self.status = Some(status.into());
    }

    /// Its status and the last it said, when it has closed the connection.
    pub(crate) fn ended_by_itself(&mut self) -> (String, String) {
        let begun = Instant::now();
        while self.ended().is_none() && begun.elapsed() < PARTING {
            thread::sleep(Duration::from_millis(1));
        }
        self.end()
    }

    /// What it prints.
    pub(crate) fn console(&self) -> Console {
        self.console.clone()
    }

    /// The processor time that it and its programs have used; none where that is not known.
    pub(crate) fn computed(&self) -> Option<Duration> {
        processor_time::of_group(self.child.id())
    }

    /// Ends it, if it has not ended, and gives its status and the last it said.
    pub(crate) fn end(&mut self) -> (String, String) {
        let status = self.ended().unwrap_or_else(|| {
            let _ = self.child.kill();
            self.child.wait().map_or_else(|error| error.to_string(), |it| it.to_string())
        });
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        (status, self.console.gist())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// The command line, which is the same for the same `request` on any machine.
fn command_line(request: &GuestRequest<'_>) -> Vec<String> {
    let mut words = vec![
        "rootfstype=hostfs".into(),
        "rootflags=/".into(),
        if request.writable { "rw" } else { "ro" }.into(),
        format!("init=/proc/self/fd/{INIT_FD}"),
        format!("mem={}M", MEMORY_MIB),
        "con=null".into(),
        "con0=null,fd:1".into(),
        "quiet".into(),
        "norandmaps".into(),
        "panic=-1".into(),
        // It would leave a directory of its own in the home.
        "uml_dir=/dev/null/".into(),
        // As on a machine with 4 GB: the SYN queue, orphans and TIME-WAIT are limited by it.
        "thash_entries=32768".into(),
        format!("rng_seed={:016x}", request.seed),
        format!("tcp_bbr.phases={}", request.bbr_phases),
        format!("time-travel=ext:0:fd:{CLOCK_FD}"),
        format!("time-travel-start={BOOT_UNIX_NANOS}"),
    ];
    if request.has_seccomp {
        words.push("seccomp=on".into());
    }
    // Words that the kernel does not know are the arguments of the first program. Behind `--` they
    // would not be the last: user-mode Linux adds words of its own.
    words.extend(request.arguments.iter().map(|&word| word.to_owned()));
    words
}

/// The child has these descriptors at those numbers, and dies with the thread that starts it.
fn keep_in_child(command: &mut Command, kept: [(OwnedFd, libc::c_int); 2]) {
    let caller = rustix::process::getpid();
    let keep = move || {
        for (fd, number) in &kept {
            // SAFETY: plain system calls, which are safe in a process just forked.
            unsafe {
                // What has this number must not be lost, such as how this reports an error.
                if libc::fcntl(*number, libc::F_GETFD) != -1 {
                    return Err(io::Error::from_raw_os_error(libc::EMFILE));
                }
                if libc::dup2(fd.as_raw_fd(), *number) == -1 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        // SAFETY: as above.
        let parent = unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // Where its stack lies decides about the memory of its programs, and so about the
            // place of buffers and the windows that TCP offers. Linux before 7 leaves it to chance.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            libc::getppid()
        };
        if parent == caller.as_raw_nonzero().get() {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        }
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(keep) };
}
