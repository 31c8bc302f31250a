//! What a stack must offer to be tested with a script.

use tcplab_units::{Instant, Span};
use tcplab_wire::SeqNumber;

use crate::ast::Shell;
use crate::packet::Packet;

/// A stack under test: its sockets, its wire and its clock's alarms, in virtual time.
///
/// No descriptor is given twice. Whatever it is asked, it may answer by [`Refusal`]: the script
/// then is neither passed nor failed.
pub trait Subject {
    /// A setting of the kernel is to have this value, as [`crate::shell::Command::Set`] names it;
    /// or one of the host: its `host.local_ip`, `host.remote_ip`, `host.ip_version` (`ipv4`,
    /// `ipv6` or `ipv4-mapped-ipv6`), the MTU of its device, `device.mtu`, whether that drops all
    /// packets, `device.drops` (`1` or `0`), and the length of a file of zeros, `file.PATH`.
    ///
    /// # Errors
    /// When the stack has nothing that would have the effect.
    fn set(&mut self, now: Instant, name: &str, value: &str) -> Result<(), Refusal>;

    /// Runs commands in a shell of its own, and says when they ended. `None`: it has no shell, and
    /// what the interpreter reads in the commands must do.
    ///
    /// # Errors
    /// When the commands fail, or need a program that is not there.
    fn run_shell(
        &mut self,
        _now: Instant,
        _shell: &Shell,
    ) -> Option<Result<Instant, ShellFailure>> {
        None
    }

    /// The application calls.
    fn call(&mut self, now: Instant, call: &SystemCall) -> Reply;

    /// What became of the call that [blocked](Reply::Blocked), once it has returned; reported once.
    fn returned(&mut self, now: Instant) -> Option<Outcome>;

    /// A segment arrives.
    ///
    /// # Errors
    /// When the stack does not know something in it that it must not pass over.
    fn receive(&mut self, now: Instant, packet: &Packet) -> Result<(), Refusal>;

    /// An ICMP message arrives about a segment that the stack sent.
    ///
    /// # Errors
    /// When the stack does not know the message.
    fn receive_icmp(&mut self, _now: Instant, _message: &IcmpMessage) -> Result<(), Refusal> {
        Err(Refusal("ICMP packets".into()))
    }

    /// The next segment that leaves at `now`.
    fn transmit(&mut self, now: Instant) -> Option<Packet>;

    /// When it wants to be woken next.
    fn wake_at(&self) -> Option<Instant>;

    /// It is that time.
    fn wake(&mut self, now: Instant);

    /// How many connections are in a state, by its name in FreeBSD's `sockstat`; `held`: of those
    /// that an application has.
    ///
    /// # Errors
    /// When the stack cannot say.
    fn count_in_state(&self, state: &str, _held: bool) -> Result<usize, Refusal> {
        Err(Refusal(format!("counting connections in {state}")))
    }

    /// Connections in a state are gone at once (`tcpdrop -s`).
    ///
    /// # Errors
    /// When the stack cannot do so.
    fn drop_in_state(&mut self, _now: Instant, state: &str) -> Result<(), Refusal> {
        Err(Refusal(format!("dropping connections in {state}")))
    }

    /// A field of `tcp_info` of a socket, by its name in scripts (`tcpi_snd_cwnd`).
    fn tcp_info(&mut self, now: Instant, fd: i64, field: &str) -> Option<i64>;
}

/// Why a shell's commands did not do what a script needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellFailure {
    /// They need something that is not there.
    Refused(Refusal),
    /// They failed, and how.
    Failed(String),
}

/// An ICMP message about a TCP segment, by packetdrill's names of types and codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IcmpMessage {
    /// The type: `unreachable`, `packet_too_big`, `time_exceeded`, …
    pub kind: String,
    /// The code: `host_unreachable`, `frag_needed`, …
    pub code: Option<String>,
    /// The MTU of the next link, bytes of IP.
    pub mtu: u32,
    /// The port of the stack under test.
    pub local_port: u16,
    /// The port of its peer.
    pub remote_port: u16,
    /// The sequence number of the segment that it quotes.
    pub seq: SeqNumber,
}

/// Something that the stack under test does not have: what, in few words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It returned at once.
    Returned(Outcome),
    /// It waits.
    Blocked,
    /// The stack does not know the call, or something in it.
    Refused(Refusal),
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its value, or the error's number.
    pub result: Result<i64, i64>,
    /// What it wrote into its arguments: the value of an option or request, `revents` of each
    /// descriptor asked for, the flags of a message.
    pub values: Vec<i64>,
    /// Control messages of `recvmsg`.
    pub control: Vec<ControlMessage>,
}

/// A control message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlMessage {
    /// SOL_TCP, …
    pub level: i64,
    /// TCP_CM_INQ, …
    pub kind: i64,
    /// What it says.
    pub data: ControlData,
}

/// What a control message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlData {
    /// A number.
    Number(i64),
    /// `struct sock_extended_err`: errno, origin, type, code, info, data.
    Error([i64; 6]),
    /// `struct scm_timestamping`: when, from the start of the script.
    Time(Instant),
}

impl Outcome {
    /// A value.
    pub fn value(value: i64) -> Outcome {
        Outcome { result: Ok(value), values: Vec::new(), control: Vec::new() }
    }

    /// An error, by the name of its number.
    ///
    /// # Panics
    /// When no error has this name.
    pub fn error(name: &str) -> Outcome {
        let number = crate::constant(name).unwrap_or_else(|| panic!("no error is called {name}"));
        Outcome { result: Err(number), values: Vec::new(), control: Vec::new() }
    }
}

/// A system call. Numbers are Linux's, descriptors the stack's own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are named as in the manual pages")]
pub enum SystemCall {
    /// `socket`.
    Socket { domain: i64, kind: i64, protocol: i64 },
    /// `bind`, to [`LOCAL_PORT`].
    Bind { fd: i64 },
    /// `listen`.
    Listen { fd: i64, backlog: i64 },
    /// `accept`.
    Accept { fd: i64 },
    /// `connect`, to [`REMOTE_PORT`].
    Connect { fd: i64 },
    /// `connect` to nobody (AF_UNSPEC): the connection is aborted.
    Disconnect { fd: i64 },
    /// `read`, `readv`, `recv`, `recvfrom`, `recvmsg`; the last (`message`) takes control messages.
    Receive { fd: i64, len: u32, flags: i64, message: bool },
    /// `write`, `writev`, `send`, `sendto`, `sendmsg`, of zeros: the bytes of each of the buffers
    /// that hold the data; `to_nobody`: to an address of AF_UNSPEC.
    Send { fd: i64, flags: i64, parts: Vec<u32>, to_nobody: bool },
    /// A read or write of `len` bytes with NULL for a buffer.
    BadBuffer { fd: i64, receives: bool, len: u32, flags: i64 },
    /// `open`, for reading, of a file that the script made (`dd`).
    Open { path: String },
    /// `sendfile`; without an `offset` from where the file's descriptor stands.
    SendFile { to: i64, from: i64, offset: Option<u64>, len: u32 },
    /// `pipe`; the ends to read from and to write to go to [`Outcome::values`].
    Pipe,
    /// `splice`, without offsets.
    Splice { from: i64, to: i64, len: u32 },
    /// `close`.
    Close { fd: i64 },
    /// `shutdown`.
    Shutdown { fd: i64, how: i64 },
    /// `setsockopt`; `len` is what the call says of the value's length, bytes.
    SetOption { fd: i64, level: i64, name: i64, value: OptionValue, len: u32 },
    /// `getsockopt`; the value goes to [`Outcome::values`].
    GetOption { fd: i64, level: i64, name: i64 },
    /// `fcntl`; the argument is 0 if none is given.
    Control { fd: i64, command: i64, argument: i64 },
    /// `ioctl`; the value goes to [`Outcome::values`].
    Request { fd: i64, request: i64 },
    /// `epoll_create`.
    EpollCreate,
    /// `epoll_ctl`; `epoll_wait` returns `data`.
    EpollControl { epoll: i64, operation: i64, fd: i64, events: i64, data: i64 },
    /// `epoll_wait`, without a `timeout` for ever; of each event the bits and the data go to
    /// [`Outcome::values`].
    EpollWait { epoll: i64, most: usize, timeout: Option<Span> },
    /// `poll`, of descriptors with the events asked for, without a `timeout` for ever; `revents`
    /// go to [`Outcome::values`].
    Poll { fds: Vec<(i64, i64)>, timeout: Option<Span> },
}

/// What a socket's option is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A number.
    Integer(i64),
    /// SO_LINGER.
    Linger {
        /// Whether at all.
        on: bool,
        /// Seconds.
        seconds: i64,
    },
    /// A name, as TCP_CONGESTION takes.
    Text(String),
}

/// The port that a script's own sockets are bound to (packetdrill's `--bind_port`).
pub const LOCAL_PORT: u16 = 8080;
/// The port that scripts connect to (`--connect_port`).
pub const REMOTE_PORT: u16 = 8080;
