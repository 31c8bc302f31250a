//! A kernel as the subject of a script.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tcplab_guests::{GuestRequest, LONGEST_TURN};
use tcplab_kernels::Kernel;
use tcplab_packetdrill::ast::Shell;
use tcplab_packetdrill::{
    IcmpMessage, Outcome, PHASE, Packet, Refusal, Reply, ShellFailure, Subject, SystemCall,
};
use tcplab_recording::MessageBytes;
use tcplab_testbed::{CallResult, GuestCall, GuestScript, Launcher, ScriptOrder, ScriptReport};
use tcplab_units::{Instant, Span};
use tcplab_wire::offload::{GsoType, VnetHeader};

use crate::bytes::{plain, word};
use crate::calls::{self, Calls};
use crate::error::ConformanceError;
use crate::guest::ScriptGuest;
use crate::host::Host;
use crate::info;
use crate::results::outcome;
use crate::shell::{Setting, setting, settings};

/// The seed of its random numbers: any will do, as scripts count from their own.
const SEED: u64 = 1;
/// A guest's clock starts at 2000-01-01 00:00:00 UTC (`tcplab-guests`), nanoseconds since 1970.
const GUEST_UNIX_NANOS: i64 = 946_684_800_000_000_000;
/// How long after the zero of its clock a kernel's count of ticks is zero, seconds: it boots for a
/// second before, and begins with -300 s (`INITIAL_JIFFIES`).
const COUNT_IS_ZERO_AT: u64 = 299;
/// How long after a tick a script begins, as packetdrill waits for the same place of a tick: so
/// what takes a millisecond never takes two ticks.
const AFTER_TICK: Span = Span::from_micros(250);
/// The device that scripts' commands name.
const DEVICE: &str = "tun0";
/// The exit code of a shell that does not find a program.
const NOT_FOUND: u8 = 127;

/// A kernel in virtual time, with one script's host in it.
pub struct KernelSubject<'a> {
    guest: ScriptGuest<'a>,
    calls: Calls,
    ticks_per_second: u64,
    /// When the script began.
    zero: Instant,
    /// Whether something has happened beside preparations.
    has_begun: bool,
    /// The guest's descriptors by numbers that are given once.
    descriptors: BTreeMap<i64, i64>,
    next_descriptor: i64,
    /// The guest's descriptors that are ends of pipes.
    pipes: BTreeSet<i64>,
    /// The call that has not returned.
    waiting: Option<SystemCall>,
}

impl<'a> KernelSubject<'a> {
    /// Boots `kernel` for a script whose files are in `directory`, a whole path.
    ///
    /// # Errors
    /// When it cannot be started, or its host cannot be prepared.
    pub fn boot(
        kernel: &Kernel,
        launcher: &Launcher,
        host: &Host,
        directory: &Path,
        stop: &'a AtomicBool,
    ) -> Result<KernelSubject<'a>, ConformanceError> {
        let own = ["guest", "0"].into_iter();
        let arguments: Vec<&str> =
            launcher.arguments.iter().map(String::as_str).chain(own).collect();
        let request = GuestRequest {
            image: &kernel.image(),
            has_seccomp: kernel.manifest.seccomp,
            init: &launcher.program,
            arguments: &arguments,
            writable: false,
            longest_turn: LONGEST_TURN,
            seed: SEED,
            bbr_phases: "",
            cuts: true,
            // It stops at each thing that it reports.
            response: Span::ZERO,
        };
        let task = GuestScript {
            directory: MessageBytes(directory.as_os_str().as_encoded_bytes().to_vec()),
            local: (host.addresses.local, host.prefix_len),
            remote: (host.addresses.remote, host.remote_prefix_len),
            gateway: host.gateway,
            mtu: host.mtu,
        };
        Ok(KernelSubject {
            guest: ScriptGuest::boot(&request, task, stop)?,
            calls: Calls { addresses: host.addresses, has_v6_sockets: host.has_v6_sockets },
            ticks_per_second: kernel.manifest.hz.max(1).into(),
            zero: Instant::ZERO,
            has_begun: false,
            descriptors: BTreeMap::new(),
            next_descriptor: 100,
            pipes: BTreeSet::new(),
            waiting: None,
        })
    }

    /// Why the kernel could not go on, if so: the script's outcome then means nothing.
    pub fn failure(&mut self) -> Option<ConformanceError> {
        self.guest.failure()
    }

    /// The guest's time at the script's `now`. The script begins with the first of these.
    fn at(&mut self, now: Instant) -> Instant {
        if !self.has_begun {
            self.has_begun = true;
            self.zero = begin(self.guest.reached(), self.ticks_per_second) + AFTER_TICK;
        }
        self.zero + now.since(Instant::ZERO)
    }

    /// As [`KernelSubject::at`] for preparations, before which the script has not begun.
    fn at_or_before(&self, now: Instant) -> Instant {
        if self.has_begun { self.zero + now.since(Instant::ZERO) } else { self.guest.reached() }
    }

    fn script_time(&self, at: Instant) -> Instant {
        Instant::ZERO + at.since(self.zero.min(at))
    }

    fn apply(&mut self, at: Instant, setting: &Setting) -> Result<(), Refusal> {
        let (path, head, zeros) = match setting {
            Setting::Kernel(path, value) => (path, value.as_bytes().to_vec(), 0),
            Setting::Zeros(path, len) => (path, Vec::new(), *len),
            Setting::Feature(command, on) => return self.switch_feature(at, *command, *on),
        };
        let order = ScriptOrder::Write { path: path.clone(), head: MessageBytes(head), zeros };
        self.guest.order(at, &order);
        match self.guest.answer() {
            Some(ScriptReport::Wrote(None)) => Ok(()),
            Some(ScriptReport::Wrote(Some(error))) => Err(Refusal(format!("{path}: {error}"))),
            _ => Err(Refusal(format!("{path}: the kernel does not answer"))),
        }
    }

    fn switch_feature(&mut self, at: Instant, command: u32, on: bool) -> Result<(), Refusal> {
        let refused = || Refusal("a feature that the device lacks".into());
        // AF_INET, SOCK_DGRAM: any socket will do.
        let control = self.ask_at(at, plain("socket", &[2, 2, 0])).ok_or_else(refused)?.result;
        let switched = self.ask_at(at, calls::switch_feature(control, DEVICE, command, on));
        let _ = self.ask_at(at, plain("close", &[control]));
        switched.map(drop).ok_or_else(refused)
    }

    fn run_commands(&mut self, at: Instant, text: &str) -> Result<Instant, ShellFailure> {
        self.guest.order(at, &ScriptOrder::Shell(text.to_owned()));
        match self.guest.answer() {
            Some(ScriptReport::Exited { code: 0, .. }) => Ok(self.guest.reached()),
            Some(ScriptReport::Exited { code: NOT_FOUND, said }) => {
                Err(ShellFailure::Refused(Refusal(format!("a command: {said}"))))
            }
            Some(ScriptReport::Exited { code, said }) => {
                let what = format!("the commands ended with exit code {code}: {said}");
                Err(ShellFailure::Failed(what.trim_end_matches([':', ' ']).to_owned()))
            }
            _ => Err(ShellFailure::Failed("the commands did not end".into())),
        }
    }

    /// A call beside the application's; `None` where the kernel refuses it.
    fn ask_at(&mut self, at: Instant, call: GuestCall) -> Option<CallResult> {
        self.guest.order(at, &ScriptOrder::Ask(call));
        match self.guest.answer() {
            Some(ScriptReport::Answered(result)) => Some(result).filter(|it| it.result >= 0),
            _ => None,
        }
    }

    fn outcome(&mut self, call: &SystemCall, result: &CallResult) -> Outcome {
        let zero_unix_nanos = GUEST_UNIX_NANOS + self.zero.as_nanos().cast_signed();
        let mut outcome = outcome(call, result, zero_unix_nanos);
        match (call, &mut outcome.result) {
            (
                SystemCall::Socket { .. }
                | SystemCall::Accept { .. }
                | SystemCall::EpollCreate
                | SystemCall::Open { .. },
                Ok(fd),
            ) => *fd = self.give_descriptor(*fd),
            (SystemCall::Pipe, Ok(_)) => {
                self.pipes.extend(&outcome.values);
                outcome.values =
                    outcome.values.iter().map(|fd| self.give_descriptor(*fd)).collect();
            }
            (SystemCall::Close { fd }, Ok(_)) => {
                let closed = self.descriptors.get(fd);
                closed.map(|fd| self.pipes.remove(fd));
            }
            _ => {}
        }
        outcome
    }

    fn give_descriptor(&mut self, fd: i64) -> i64 {
        let number = self.next_descriptor;
        self.next_descriptor += 1;
        self.descriptors.insert(number, fd);
        number
    }

    /// `call` with the guest's descriptors.
    fn with_own_descriptors(&self, call: &SystemCall) -> SystemCall {
        let mut call = call.clone();
        let own = |fd: &mut i64| *fd = self.descriptors.get(fd).copied().unwrap_or(-1);
        match &mut call {
            SystemCall::Bind { fd }
            | SystemCall::Listen { fd, .. }
            | SystemCall::Accept { fd }
            | SystemCall::Connect { fd }
            | SystemCall::Disconnect { fd }
            | SystemCall::Receive { fd, .. }
            | SystemCall::Send { fd, .. }
            | SystemCall::BadBuffer { fd, .. }
            | SystemCall::Close { fd }
            | SystemCall::Shutdown { fd, .. }
            | SystemCall::SetOption { fd, .. }
            | SystemCall::GetOption { fd, .. }
            | SystemCall::Control { fd, .. }
            | SystemCall::Request { fd, .. }
            | SystemCall::EpollWait { epoll: fd, .. } => own(fd),
            SystemCall::SendFile { to, from, .. } | SystemCall::Splice { from, to, .. } => {
                [to, from].into_iter().for_each(own);
            }
            SystemCall::EpollControl { epoll, fd, .. } => [epoll, fd].into_iter().for_each(own),
            SystemCall::Poll { fds, .. } => fds.iter_mut().for_each(|(fd, _)| own(fd)),
            SystemCall::Socket { .. }
            | SystemCall::Open { .. }
            | SystemCall::Pipe
            | SystemCall::EpollCreate => {}
        }
        call
    }

    fn inject(&mut self, now: Instant, offload: VnetHeader, head: Vec<u8>, zeros: u32) {
        let at = self.at(now);
        let offload = MessageBytes(offload.to_bytes().to_vec());
        self.guest.order(at, &ScriptOrder::Inject { offload, head: MessageBytes(head), zeros });
    }
}

impl Subject for KernelSubject<'_> {
    fn set(&mut self, now: Instant, name: &str, value: &str) -> Result<(), Refusal> {
        // What the script's options say of the host is so since it was booted.
        if name.starts_with("host.") || (name == "device.mtu" && !self.has_begun) {
            return Ok(());
        }
        let odd = || Refusal("no setting of a kernel".into());
        let setting = setting(name, value).ok_or_else(odd)?;
        let at = self.at_or_before(now);
        self.apply(at, &setting)
    }

    fn run_shell(&mut self, now: Instant, shell: &Shell) -> Option<Result<Instant, ShellFailure>> {
        let at = self.at_or_before(now);
        if let Some(commands) = settings(shell, self.has_begun) {
            // As of a shell: a block fails if its last command does, and the others go on.
            let mut last = Ok(());
            for command in &commands {
                last = command.iter().try_for_each(|setting| self.apply(at, setting));
            }
            return Some(last.map(|()| now).map_err(ShellFailure::Refused));
        }
        let ended = self.run_commands(at, &shell.text);
        Some(ended.map(|ended| if self.has_begun { self.script_time(ended) } else { now }))
    }

    fn call(&mut self, now: Instant, call: &SystemCall) -> Reply {
        let own = self.with_own_descriptors(call);
        let encoded = match &own {
            SystemCall::Send { fd, parts, .. } if self.pipes.contains(fd) => {
                Ok(calls::write_to_pipe(*fd, parts))
            }
            own => self.calls.encode(own),
        };
        let order = match encoded {
            Ok(call) => ScriptOrder::Call(call),
            Err(refusal) => return Reply::Refused(refusal),
        };
        let at = self.at(now);
        self.guest.order(at, &order);
        let reached = self.guest.reached();
        if let Some(result) = self.guest.returned(reached) {
            return Reply::Returned(self.outcome(call, &result));
        }
        self.waiting = Some(call.clone());
        Reply::Blocked
    }

    fn returned(&mut self, now: Instant) -> Option<Outcome> {
        let at = self.at(now);
        let result = self.guest.returned(at)?;
        let call = self.waiting.take()?;
        Some(self.outcome(&call, &result))
    }

    fn receive(&mut self, now: Instant, packet: &Packet) -> Result<(), Refusal> {
        let head = packet.to_bytes(&self.calls.addresses)?;
        let mut offload = VnetHeader::default();
        if let Some(mss) = packet.joined {
            let is_v6 = self.calls.addresses.local.is_ipv6();
            offload.gso_type = if is_v6 { GsoType::TcpV6 } else { GsoType::TcpV4 };
            offload.gso_size = u16::try_from(mss).unwrap_or(u16::MAX);
        }
        self.inject(now, offload, head, packet.len);
        Ok(())
    }

    fn receive_icmp(&mut self, now: Instant, message: &IcmpMessage) -> Result<(), Refusal> {
        let bytes = message.to_bytes(&self.calls.addresses)?;
        self.inject(now, VnetHeader::default(), bytes, 0);
        Ok(())
    }

    fn transmit(&mut self, now: Instant) -> Option<Packet> {
        let at = self.at(now);
        self.guest.packet(at)
    }

    fn wake_at(&self) -> Option<Instant> {
        self.guest.next_at().map(|at| self.script_time(at))
    }

    fn wake(&mut self, now: Instant) {
        let at = self.at(now);
        self.guest.run_to(at);
    }

    fn tcp_info(&mut self, now: Instant, fd: i64, field: &str) -> Option<i64> {
        let (level, name) = info::option_of(field)?;
        let fd = self.descriptors.get(&fd).copied()?;
        let at = self.at(now);
        let result = self.ask_at(at, calls::option([fd, level, name]))?;
        let [value, len] = result.memory.as_slice() else { return None };
        let len = usize::try_from(word(&len.0, 0)?).ok()?;
        info::value(value.0.get(..len)?, field)
    }
}

/// The first tick from `reached` on in which a script may begin: however long the preparations
/// took, its timers expire alike.
fn begin(reached: Instant, ticks_per_second: u64) -> Instant {
    let tick = Span::from_secs(1) / ticks_per_second;
    let before = (COUNT_IS_ZERO_AT * ticks_per_second) % PHASE;
    let ticks = reached.as_nanos().div_ceil(tick.as_nanos()) + PHASE - before;
    Instant::ZERO + tick * (ticks.next_multiple_of(PHASE) - PHASE + before)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 250 Hz the count is -74,750 at first, and -74,240 = -145 · 512 after 510 ticks.
    #[test]
    fn script_begins_at_multiple_of_512_ticks() {
        for (reached, ticks_per_second, begins) in [
            (0, 250, 2_040),
            (2_040, 250, 2_040),
            (2_041, 250, 4_088),
            (20, 1_000, 504),
            (505, 1_000, 1_016),
            (20, 100, 2_040),
        ] {
            let begun = begin(Instant::ZERO + Span::from_millis(reached), ticks_per_second);
            let expected = Instant::ZERO + Span::from_millis(begins);
            assert_eq!(begun, expected, "{reached} ms, {ticks_per_second} Hz");
        }
    }
}
