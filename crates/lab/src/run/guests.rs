//! Trials on kernels in virtual time: starts them, and lets the virtual world drive them.

use std::collections::VecDeque;
use std::path;
use std::sync::atomic::{AtomicBool, Ordering};

use tcplab_guests::{Console, GuestError, GuestRequest, LONGEST_TURN, Sent};
use tcplab_kernels::Kernel;
use tcplab_recording::{GuestOrder, GuestReport, Sample};
use tcplab_scenario::Case;
use tcplab_sim::{FromGuest, Guest, GuestTrialError, ModelHost, TrialRequest, run_guests};
use tcplab_stack::congestion::FirstPhases;
use tcplab_testbed::{GuestTask, GuestWork, Launcher};
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::offload::Cutter;

use super::consoles;
use crate::error::LabError;
use crate::plan::{KernelUsed, Plan};

/// How far a guest that nothing reaches runs at once.
const ALONE: Span = Span::from_millis(100);

/// Why a trial on kernels in virtual time failed.
pub(crate) type GuestFailure = GuestTrialError<GuestError>;

/// The images of the kernels that a case has in virtual time, of client and server, where not both
/// ends are models.
pub(crate) fn kernels_of(
    plan: &Plan,
    case: &Case,
) -> Result<Option<[Option<Kernel>; 2]>, LabError> {
    let [client, server] = plan.kernels_of(case);
    if client.is_none() && server.is_none() {
        return Ok(None);
    }
    let image = |used: Option<&KernelUsed>| used.map(KernelUsed::image).transpose();
    Ok(Some([image(client)?, image(server)?]))
}

/// Runs a trial with a kernel of its own at one end or at both; what these print beyond the usual
/// is written beside it.
pub(crate) fn run_on_guests(
    request: &TrialRequest<'_>,
    kernels: &[Option<Kernel>; 2],
    launcher: &Launcher,
    stop: &AtomicBool,
) -> Result<(), GuestFailure> {
    let mut printed = Vec::new();
    let ended = run_hosts(request, kernels, (launcher, stop), &mut printed);
    let written = printed.iter().try_for_each(|(host, console)| {
        consoles::write(request.directory, host, console).map_err(GuestTrialError::Recording)
    });
    ended.and(written)
}

/// Runs them; `printed` gets the console of each host that has a kernel.
fn run_hosts(
    request: &TrialRequest<'_>,
    kernels: &[Option<Kernel>; 2],
    (launcher, stop): (&Launcher, &AtomicBool),
    printed: &mut Vec<(&'static str, Console)>,
) -> Result<(), GuestFailure> {
    let TrialRequest { case, seed, .. } = *request;
    if let ([Some(kernel), Some(_)], true) = (kernels, case.path.same_host) {
        let host = KernelHost::start(request, Endpoint::Client, kernel, launcher, stop)?;
        printed.push(("host", host.guest.console()));
        return run_on_one(host, stop);
    }
    let mut start = |end: Endpoint| match &kernels[end.index()] {
        Some(kernel) => KernelHost::start(request, end, kernel, launcher, stop).map(|host| {
            printed.push((end.name(), host.guest.console()));
            Host::Kernel(Box::new(host))
        }),
        None => match ModelHost::start(case, seed, end) {
            Ok(model) => Ok(Host::Model(Box::new(model))),
            Err(error) => {
                let (endpoint, message) = (end.name(), error.to_string());
                Err(GuestTrialError::Failed { endpoint, message, remedy: None })
            }
        },
    };
    let hosts = [start(Endpoint::Client)?, start(Endpoint::Server)?];
    let names = [0, 1].map(|end| match &kernels[end] {
        Some(kernel) => KernelUsed::of(kernel.clone()).in_words(),
        None => format!("model {}", case.end(Endpoint::BOTH[end]).profile()),
    });
    let names = [names[0].as_str(), names[1].as_str()];
    run_guests(request, hosts, names, &mut || stop.load(Ordering::Relaxed))
}

/// Runs a trial both of whose ends are in one guest, and which is recorded there.
fn run_on_one(mut host: KernelHost<'_>, stop: &AtomicBool) -> Result<(), GuestFailure> {
    let endpoint = "host";
    let failed = |source| GuestTrialError::Guest { endpoint, source };
    host.handle_order(Instant::ZERO, &GuestOrder::Start);
    while let Some(at) = host.poll_at() {
        host.run(at, at + ALONE).map_err(failed)?;
        while let Some((_, sent)) = host.poll_sent().map_err(failed)? {
            match sent {
                FromGuest::Report(GuestReport::Done(_)) => return Ok(()),
                FromGuest::Report(GuestReport::Failed { message, remedy }) => {
                    return Err(GuestTrialError::Failed { endpoint, message, remedy });
                }
                _ => {}
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Err(GuestTrialError::Stopped);
        }
    }
    let message = "it waits for something that never comes".into();
    Err(GuestTrialError::Failed { endpoint, message, remedy: None })
}

/// A host of the virtual world that has kernels in it.
enum Host<'a> {
    Kernel(Box<KernelHost<'a>>),
    Model(Box<ModelHost>),
}

impl Guest for Host<'_> {
    type Error = GuestError;

    fn poll_at(&self) -> Option<Instant> {
        match self {
            Host::Kernel(kernel) => kernel.poll_at(),
            Host::Model(model) => model.poll_at(),
        }
    }

    fn handle_packet(&mut self, at: Instant, packet: Vec<u8>, checked: bool) {
        match self {
            Host::Kernel(kernel) => kernel.handle_packet(at, packet, checked),
            Host::Model(model) => model.handle_packet(at, packet, checked),
        }
    }

    fn handle_order(&mut self, at: Instant, order: &GuestOrder) {
        match self {
            Host::Kernel(kernel) => kernel.handle_order(at, order),
            Host::Model(model) => model.handle_order(at, order),
        }
    }

    fn run(&mut self, at: Instant, until: Instant) -> Result<(), GuestError> {
        match self {
            Host::Kernel(kernel) => kernel.run(at, until),
            Host::Model(model) => {
                let Ok(()) = model.run(at, until);
                Ok(())
            }
        }
    }

    fn poll_sent(&mut self) -> Result<Option<(Instant, FromGuest)>, GuestError> {
        match self {
            Host::Kernel(kernel) => kernel.poll_sent(),
            Host::Model(model) => {
                let Ok(sent) = model.poll_sent();
                Ok(sent)
            }
        }
    }
}

/// A guest as a host of the virtual world.
pub(crate) struct KernelHost<'a> {
    guest: tcplab_guests::Guest,
    cutter: Cutter,
    /// Cut from a super-packet.
    packets: VecDeque<(Instant, FromGuest)>,
    /// Which end it is.
    end: Endpoint,
    /// The flows of the sockets that its kernel watches, of those that have samples of their own.
    watched: Vec<Option<String>>,
    stop: &'a AtomicBool,
}

impl<'a> KernelHost<'a> {
    /// Starts it, and has it prepare its end of the trial.
    fn start(
        request: &TrialRequest<'_>,
        end: Endpoint,
        kernel: &Kernel,
        launcher: &Launcher,
        stop: &'a AtomicBool,
    ) -> Result<KernelHost<'a>, GuestFailure> {
        let endpoint = end.name();
        let TrialRequest { case, seed, directory, snaplen, .. } = *request;
        let directory = case.path.same_host.then(|| path::absolute(directory));
        let directory = directory.transpose().map_err(|error| GuestTrialError::Failed {
            endpoint,
            message: format!("cannot find the directory of the trial: {error}"),
            remedy: None,
        })?;
        let task = GuestTask { end, case: case.clone(), seed, directory, snaplen };
        let request = GuestRequest {
            image: &kernel.image(),
            has_seccomp: kernel.manifest.seccomp,
            init: &launcher.program,
            arguments: &arguments_of(launcher),
            writable: false,
            longest_turn: LONGEST_TURN,
            seed: seed_of(seed, end),
            bbr_phases: &bbr_phases(seed),
            cuts: true,
            response: tcplab_sim::response_time(case).map_err(GuestTrialError::Path)?,
        };
        let work = GuestWork::Trial(Box::new(task));
        let host = KernelHost::boot(&request, &work, endpoint, stop)?;
        Ok(KernelHost { end, ..host })
    }

    /// Starts it, and has it prepare its work.
    pub(crate) fn boot(
        request: &GuestRequest<'_>,
        work: &GuestWork,
        endpoint: &'static str,
        stop: &'a AtomicBool,
    ) -> Result<KernelHost<'a>, GuestFailure> {
        let work = serde_json::to_vec(work).expect("plain data has a JSON form");
        let failed = |source| GuestTrialError::Guest { endpoint, source };
        let (guest, answer) = tcplab_guests::Guest::start(request, &work, stop).map_err(failed)?;
        let mut host = KernelHost {
            guest,
            cutter: Cutter::new(),
            packets: VecDeque::new(),
            end: Endpoint::Client,
            watched: Vec::new(),
            stop,
        };
        match serde_json::from_slice(&answer) {
            Ok(GuestReport::Ready) => Ok(host),
            Ok(GuestReport::Failed { message, remedy }) => {
                Err(GuestTrialError::Failed { endpoint, message, remedy })
            }
            _ => Err(failed(host.guest.over("its first program: a report that nobody expects"))),
        }
    }
}

/// The arguments of the first program of a guest.
pub(crate) fn arguments_of(launcher: &Launcher) -> Vec<&str> {
    launcher.arguments.iter().map(String::as_str).chain(["guest", "0"]).collect()
}

/// The seed of a kernel: the two ends draw different numbers.
pub(crate) fn seed_of(seed: u64, end: Endpoint) -> u64 {
    seed.wrapping_mul(2).wrapping_add(end.index() as u64)
}

/// As many as any trial needs: BBR begins one each ten seconds.
const PHASES: usize = 256;

/// The phases in which BBR begins its cycles in the trial of `seed`: those of the model.
pub(crate) fn bbr_phases(seed: u64) -> String {
    let mut phases = FirstPhases::new(seed);
    (0..PHASES).map(|_| char::from(b'0' + phases.draw())).collect()
}

impl Guest for KernelHost<'_> {
    type Error = GuestError;

    fn poll_at(&self) -> Option<Instant> {
        self.guest.poll_at()
    }

    fn handle_packet(&mut self, at: Instant, packet: Vec<u8>, checked: bool) {
        self.guest.handle_packet(at, packet, checked);
    }

    fn handle_order(&mut self, at: Instant, order: &GuestOrder) {
        let order = serde_json::to_vec(order).expect("plain data has a JSON form");
        self.guest.handle_message(at, &order);
    }

    fn run(&mut self, at: Instant, until: Instant) -> Result<(), GuestError> {
        self.guest.run(at, until, self.stop)?;
        if self.guest.is_over() { Err(self.guest.over("its process")) } else { Ok(()) }
    }

    fn poll_sent(&mut self) -> Result<Option<(Instant, FromGuest)>, GuestError> {
        if let Some(next) = self.packets.pop_front() {
            return Ok(Some(next));
        }
        match self.guest.poll_sent()? {
            None => Ok(None),
            Some((at, Sent::State(watch, info))) => {
                let sample = Sample::of_tcp_info(&info, at, self.end);
                match usize::try_from(watch).ok().and_then(|watch| self.watched.get(watch)) {
                    Some(flow) => Ok(Some((at, FromGuest::Sample(flow.clone(), Box::new(sample))))),
                    None => Err(self.guest.over("its network device: a state of no socket")),
                }
            }
            Some((at, Sent::Message(message))) => match serde_json::from_slice(&message) {
                Ok(GuestReport::Watches(flow)) => {
                    self.watched.push(flow);
                    self.poll_sent()
                }
                Ok(GuestReport::Sampled { flow, sample }) => {
                    Ok(Some((at, FromGuest::Sample(flow, sample))))
                }
                Ok(report) => Ok(Some((at, FromGuest::Report(report)))),
                Err(_) => Err(self.guest.over("its first program: a report that is none")),
            },
            Some((at, Sent::Packet(header, mut packet))) => {
                let packets = &mut self.packets;
                let push = |packet: &[u8]| {
                    packets.push_back((at, FromGuest::Packet(packet.to_vec())));
                };
                let cut = self.cutter.resolve(header, &mut packet, push);
                cut.map_err(|error| self.guest.over(&format!("its network device: {error}")))?;
                Ok(self.packets.pop_front())
            }
        }
    }
}
