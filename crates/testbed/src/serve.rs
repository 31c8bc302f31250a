//! The trial's own process: makes the namespaces, runs both endpoints and the path between them.

use std::io::{self, BufRead, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use tcplab_path::{Backend, Direction};
use tcplab_recording::WorldRecord;
use tcplab_scenario::Case;
use tcplab_units::{Bytes, Endpoint, Instant, Span};

use crate::bridge::{Bridge, BridgeState};
use crate::calibrate::{calibrate, measure};
use crate::clock::Clock;
use crate::device::{Device, DeviceEnd, DeviceKind};
use crate::endpoint::{self, Outcome, Prepared, Shared};
use crate::flows::Flows;
use crate::launch::{Message, Progress, TrialRequest};
use crate::namespace::{self, Privilege};
use crate::sampler::Sampled;
use crate::trial::{Scribes, Told};
use crate::{TrialError, doctor, load, netem, promptness, same_host, sysctl, through};

/// A /24 across both ends keeps the kernel's reverse path filter out of play.
pub(crate) const ADDRESSES: [Ipv4Addr; 2] =
    [Ipv4Addr::new(10, 98, 0, 1), Ipv4Addr::new(10, 98, 0, 2)];
/// Where both ends are on one host: two of its loopback's own, so that a packet tells by its
/// addresses whose it is.
const LOOPBACK: [Ipv4Addr; 2] = [Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2)];
/// How often the caller is told how far the trial is.
const TELL_EVERY: Span = Span::from_millis(200);
/// Within this, the second end tells how it fared when the first has failed.
const SOON: Duration = Duration::from_millis(100);
/// Within this, an end tells what it was waiting for when the time was over.
const AT_ONCE: Duration = Duration::from_secs(1);
/// Once both applications are done, the path must be empty for this long: the last ACK counts.
pub(crate) const QUIET: Span = Span::from_millis(50);

/// The main of the trial's process. `arguments` are those after [`crate::Launcher::arguments`]:
/// the task and the caller's process id; the request comes on standard input, the answers go to
/// standard output as JSON Lines. Must be called before the process has a second thread.
pub fn serve(arguments: &[String]) -> ExitCode {
    let [task, caller] = arguments else {
        say(&failed(&usage()));
        return ExitCode::from(2);
    };
    let answer = match (task.as_str(), caller.parse().ok().and_then(Pid::from_raw)) {
        ("trial", Some(caller)) => work_for(caller, |request: &TrialRequest, privilege| {
            let request = &load::captured_in_short(request);
            match request.case.path.backend.unwrap_or_default() {
                _ if !request.case.workload.through.is_tcp() => through::run(request, privilege)?,
                _ if request.case.path.same_host => same_host::run(request, privilege)?,
                Backend::Tcplab => run(request, privilege)?,
                Backend::Netem => netem::run(request, privilege)?,
            }
            say(&Message::Done);
            Ok(())
        }),
        ("calibrate", Some(caller)) => work_for(caller, calibrate),
        ("ceiling", Some(caller)) => work_for(caller, measure),
        ("isolate", Some(caller)) => {
            die_with(caller);
            namespace::isolate().map(|_| say(&Message::Done))
        }
        ("server", Some(caller)) => load::host(caller),
        ("probe", Some(caller)) => {
            doctor::probe(|| die_with(caller));
            Ok(())
        }
        _ => Err(usage()),
    };
    match answer {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&failed(&error));
            ExitCode::from(2)
        }
    }
}

fn usage() -> TrialError {
    TrialError::Reported {
        message: "this subcommand is for tcplab's own use".into(),
        remedy: Some("use `tcplab run`".into()),
    }
}

fn failed(error: &TrialError) -> Message {
    let (message, remedy) = (error.to_string(), error.remedy());
    Message::Failed { message, remedy, reach: error.reach() }
}

/// One line to the caller. If the caller is gone, so is the reason to go on.
pub(crate) fn say(message: &impl serde::Serialize) {
    let mut line = serde_json::to_string(message).expect("plain data has a JSON form");
    line.push('\n');
    if io::stdout().write_all(line.as_bytes()).and_then(|()| io::stdout().flush()).is_err() {
        std::process::exit(2);
    }
}

/// Asks the kernel to kill this process when its caller dies, and makes sure the caller did not
/// die before. A change of credentials takes the wish back, so say it again after `isolate`.
pub(crate) fn die_with(caller: Pid) {
    let asked = set_parent_process_death_signal(Some(Signal::KILL));
    if asked.is_err() || getppid() != Some(caller) {
        std::process::exit(2);
    }
}

/// Does the task that is asked for on standard input, in a namespace of its own.
fn work_for<R: for<'de> serde::Deserialize<'de>>(
    caller: Pid,
    work: impl FnOnce(&R, Privilege) -> Result<(), TrialError>,
) -> Result<(), TrialError> {
    die_with(caller);
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(TrialError::setup("read the request"))?;
    let request: R = serde_json::from_str(&line)
        .map_err(|error| TrialError::setup("understand the request")(error.into()))?;
    sysctl::look_around();
    let privilege = namespace::isolate()?;
    die_with(caller);
    // A second way to learn that the caller is gone, should it have been a thread that left.
    thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(2);
    });
    work(&request, privilege)
}

/// An endpoint whose thread is set up and waits for the start.
pub(crate) struct Ready<D> {
    /// The path's end of its device.
    pub(crate) device: D,
    pub(crate) go: Sender<Clock>,
    pub(crate) outcome: Receiver<Result<Outcome, TrialError>>,
    pub(crate) stay: Sender<()>,
}

fn run(request: &TrialRequest, privilege: Privilege) -> Result<(), TrialError> {
    let case = &request.case;
    let kind = request.device.unwrap_or_else(DeviceKind::best);
    let plans = [case.path.link(Direction::Forward)?, case.path.link(Direction::Reverse)?];
    let shared = Arc::new(Shared::new(request));
    let (sockets, new_sockets) = mpsc::channel();
    sysctl::keep_quiet();
    let [client, server] = Endpoint::BOTH.map(|end| prepare(end, kind, &shared, &sockets));
    drop(sockets);
    let (client, server) = (client?, server?);

    let clock = Clock::start();
    let (scribes, tape) = Scribes::start(request, clock, new_sockets)?;
    let ends = [client.device, server.device];
    let mut bridge = Bridge::new(clock, ends, &plans, request.seed, request.tuning, Some(tape));
    server.go.send(clock).and_then(|()| client.go.send(clock)).map_err(|_| panicked())?;
    let promptness = promptness::be_prompt(request.tuning.real_time);
    let awake = promptness::stay_awake();
    let mut watch = Watch::new(case.limits.trial, &shared, [client.outcome, server.outcome]);
    bridge.run(|state| watch.over(state, scribes.have_failed()))?;
    let have_failed = scribes.have_failed();
    let moved = bridge.finish();
    drop(awake);
    let world = WorldRecord {
        name: "kernel".into(),
        device: serde_name(&kind),
        privilege: serde_name(&privilege),
        scheduling: serde_name(&promptness),
        device_drops: moved.device_drops + endpoint::device_drops(),
        ..moved.world()
    };
    let told = Told { world, frames_lost: moved.frames_lost };
    scribes.end(request, &shared, watch, [client.stay, server.stay], have_failed, told)
}

/// The addresses of client and server.
pub(crate) fn addresses(case: &Case) -> [Ipv4Addr; 2] {
    if case.path.same_host { LOOPBACK } else { ADDRESSES }
}

/// Starts the endpoint's thread in a namespace of its own and waits until it is set up.
fn prepare(
    end: Endpoint,
    kind: DeviceKind,
    shared: &Arc<Shared>,
    sockets: &Sender<(Endpoint, Sampled)>,
) -> Result<Ready<Device>, TrialError> {
    prepare_with(end, kind, shared, sockets, || Ok(()), |device, ()| device.open())
}

/// The same, with what else is to be done `inside` its namespace once it has its device, and what
/// the path makes of the device's other end.
pub(crate) fn prepare_with<X: Send + 'static, D>(
    end: Endpoint,
    kind: DeviceKind,
    shared: &Arc<Shared>,
    sockets: &Sender<(Endpoint, Sampled)>,
    inside: fn() -> Result<X, TrialError>,
    open: impl FnOnce(DeviceEnd, X) -> Result<D, TrialError>,
) -> Result<Ready<D>, TrialError> {
    let bridge = std::fs::File::open("/proc/self/ns/net")
        .map_err(TrialError::setup("look at its own network namespace"))?;
    let (device_sender, device) = mpsc::channel::<(DeviceEnd, X)>();
    let (ready_sender, ready) = mpsc::channel();
    let (go, start) = mpsc::channel();
    let (outcome_sender, outcome) = mpsc::channel();
    let (stay, until) = mpsc::channel::<()>();
    let (shared, sockets) = (Arc::clone(shared), sockets.clone());
    let thread: JoinHandle<Result<(), TrialError>> = thread::spawn(move || {
        namespace::isolate_thread()?;
        let settings = &shared.endpoint(end).sysctl;
        sysctl::apply(end.name(), settings)?;
        let device = Device::create(kind, ADDRESSES[end as usize], bridge.as_fd())?;
        let _ = device_sender.send((device, inside()?));
        Device::await_carrier(kind)?;
        let endpoint = Prepared::new(end, ADDRESSES, &shared)?;
        let _ = ready_sender.send(());
        let _ = outcome_sender.send(endpoint.run(&start, sockets));
        // The namespace, and what its kernel still has to say, ends with this thread.
        let _ = until.recv();
        Ok(())
    });
    let why_not = |thread: JoinHandle<_>| match thread.join() {
        Ok(Err(error)) => error,
        _ => panicked(),
    };
    let Ok((device, more)) = device.recv() else { return Err(why_not(thread)) };
    let device = open(device, more)?;
    match ready.recv() {
        Ok(()) => Ok(Ready { device, go, outcome, stay }),
        Err(_) => Err(why_not(thread)),
    }
}

/// Decides when the trial is over, and knows how it ended.
pub(crate) struct Watch<'a> {
    limit: Span,
    shared: &'a Shared,
    incoming: [Receiver<Result<Outcome, TrialError>>; 2],
    outcomes: [Option<Result<Outcome, TrialError>>; 2],
    told: Instant,
    quiet_since: Option<Instant>,
    /// The client is done, the server is not, and nothing moves: since when.
    alone_since: Option<Instant>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        limit: Span,
        shared: &'a Shared,
        incoming: [Receiver<Result<Outcome, TrialError>>; 2],
    ) -> Watch<'a> {
        let (told, quiet_since, alone_since) = (Instant::ZERO, None, None);
        let outcomes = [None, None];
        Watch { limit, shared, incoming, outcomes, told, quiet_since, alone_since }
    }

    pub(crate) fn over(&mut self, state: &BridgeState, recorder_failed: bool) -> bool {
        let BridgeState { now, on_path } = *state;
        if now.since(self.told) >= TELL_EVERY {
            self.told = now;
            let received = Bytes::new(self.shared.received());
            say(&Message::Progress(Progress { at: now, received }));
        }
        for (outcome, incoming) in self.outcomes.iter_mut().zip(&self.incoming) {
            match incoming.try_recv() {
                Ok(told) => *outcome = Some(told),
                Err(TryRecvError::Disconnected) if outcome.is_none() => {
                    *outcome = Some(Err(panicked()));
                }
                Err(_) => {}
            }
        }
        let failed = self.outcomes.iter().any(|outcome| matches!(outcome, Some(Err(_))));
        if recorder_failed || failed || now.since(Instant::ZERO) > self.limit {
            return true;
        }
        self.alone_since = match self.outcomes {
            [Some(_), None] if on_path == 0 => self.alone_since.or(Some(now)),
            _ => None,
        };
        if self.alone_since.is_some_and(|since| now.since(since) >= QUIET) {
            self.shared.rest();
        }
        // Those in the background are not waited for.
        let farewell = self.shared.flows().and_then(Flows::farewell);
        if farewell.is_none() && (self.outcomes.iter().any(Option::is_none) || on_path > 0) {
            self.quiet_since = None;
            return false;
        }
        let since = *self.quiet_since.get_or_insert(now);
        now.since(since) >= farewell.unwrap_or(QUIET)
    }

    /// What the endpoints leave, or why there is none.
    pub(crate) fn outcomes(mut self) -> Result<[Outcome; 2], TrialError> {
        let waits = |outcomes: &[Option<_>; 2]| outcomes.iter().any(Option::is_none);
        let failed = self.outcomes.iter().any(|outcome| matches!(outcome, Some(Err(_))));
        // Where the recorder failed, it is not the time that is over; nobody looks at this then.
        if waits(&self.outcomes) && !failed && self.shared.run_out() {
            for (outcome, incoming) in self.outcomes.iter_mut().zip(&self.incoming) {
                *outcome = outcome.take().or_else(|| incoming.recv_timeout(AT_ONCE).ok());
            }
        }
        // An end whose option is refused lets go of its connection, and the other one, which only
        // notices that, may have told first.
        if self.outcomes.iter().any(|outcome| matches!(outcome, Some(Err(_)))) {
            for (outcome, incoming) in self.outcomes.iter_mut().zip(&self.incoming) {
                *outcome = outcome.take().or_else(|| incoming.recv_timeout(SOON).ok());
            }
        }
        let is_cause =
            |outcome: &Option<_>| matches!(outcome, Some(Err(TrialError::SocketOption { .. })));
        if is_cause(&self.outcomes[1]) && !is_cause(&self.outcomes[0]) {
            self.outcomes.swap(0, 1);
        }
        match self.outcomes {
            [Some(client), Some(server)] => Ok([client?, server?]),
            [Some(Err(error)), _] | [_, Some(Err(error))] => Err(error),
            _ => Err(TrialError::TimeLimit { limit: self.limit, received: self.shared.received() }),
        }
    }
}

pub(crate) fn panicked() -> TrialError {
    TrialError::setup("go on")(io::Error::other("an endpoint's thread panicked"))
}

/// The name of a plain enum value as its JSON has it.
pub(crate) fn serde_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
