//! Bulk data through a pipe, a Unix socket or memory, between two threads of one process, to
//! compare TCP with. There are no packets, so nothing is captured.

use std::hint::black_box;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc;

use tcplab_recording::{EndpointRecord, WorldRecord};
use tcplab_units::{Endpoint, Span};
use tcplab_workload::{
    AppReport, Application, Digest, Half, Medium, Payload, Role, Want, WorkloadSpec,
};

use super::conduct::{Carrier, conduct};
use super::endpoint_thread::EndpointThread;
use super::recording_threads::Moved;
use crate::bridge::BridgeState;
use crate::clock::Clock;
use crate::endpoint::Outcome;
use crate::message::serde_name;
use crate::namespace::Privilege;
use crate::recorder::RecorderQueue;
use crate::trial_request::TrialRequest;
use crate::trial_state::TrialState;
use crate::{TrialError, sys, sysctl, threads};

/// How often to check whether the trial is over.
const EVERY: Span = Span::from_millis(5);

/// Runs the trial.
pub(crate) fn run(request: &TrialRequest, privilege: Privilege) -> Result<(), TrialError> {
    let shared = Arc::new(TrialState::new(request));
    let medium = request.case.workload.through;
    let joined =
        Joined::by(medium).map_err(TrialError::setup(format!("make {}", medium.name())))?;
    let ends = match joined {
        Some([near, far]) => {
            [(Endpoint::Client, near), (Endpoint::Server, far)].map(|(side, mut end)| {
                prepare(&shared, move |shared, clock| end.drive(side, shared, clock))
            })
        }
        None => copied(&shared),
    };
    let [client, server] = ends;
    let ends = [client?, server?];
    // No sockets are sampled.
    let (_, no_sockets) = mpsc::channel();
    conduct(request, privilege, &shared, ends, no_sockets, |clock, _, queue| NoPackets {
        clock,
        medium,
        _queue: queue,
    })
}

/// Waits for the end of a trial without packets.
struct NoPackets {
    clock: Clock,
    medium: Medium,
    /// The recorder works until it is dropped.
    _queue: RecorderQueue,
}

impl Carrier for NoPackets {
    const IS_PROMPT: bool = false;

    fn run(&mut self, over: &mut dyn FnMut(&BridgeState) -> bool) -> Result<(), TrialError> {
        loop {
            let now = self.clock.now();
            if over(&BridgeState { now, on_path: 0 }) {
                return Ok(());
            }
            self.clock.sleep_until(now + EVERY);
        }
    }

    fn finish(self, world: WorldRecord) -> Moved {
        Moved::unsteered(WorldRecord { device: serde_name(&self.medium), ..world }, [0; 2])
    }
}

/// Starts the thread of an end, which does its `work` once the clock is sent to it.
fn prepare(
    shared: &Arc<TrialState>,
    work: impl FnOnce(&TrialState, Clock) -> Result<AppReport, TrialError> + Send + 'static,
) -> Result<EndpointThread<()>, TrialError> {
    let (go, start) = mpsc::channel();
    let (result, outcome) = mpsc::channel();
    let (stay, _) = mpsc::channel();
    let shared = Arc::clone(shared);
    threads::start("an endpoint's thread", move || {
        let Ok(clock) = start.recv() else { return };
        // As the ends of a connection do, so that they are compared alike.
        let _ = sys::run_before_others();
        let _ = result.send(work(&shared, clock).map(outcome_of));
    })?;
    Ok(EndpointThread { device: (), go, outcome, stay })
}

fn outcome_of(report: AppReport) -> Outcome {
    let record = EndpointRecord { sysctls: sysctl::in_force(), ..EndpointRecord::default() };
    Outcome::of(report, record)
}

/// One end of the channel, until its halves are closed.
struct Joined {
    input: Option<Box<dyn Read + Send>>,
    output: Option<Output>,
}

enum Output {
    Pipe(PipeWriter),
    Unix(UnixStream),
}

impl Joined {
    /// Both ends, the client's first; none of memory.
    fn by(medium: Medium) -> io::Result<Option<[Joined; 2]>> {
        let of_pipe = |input: PipeReader, output| Joined {
            input: Some(Box::new(input)),
            output: Some(Output::Pipe(output)),
        };
        let of_socket = |socket: UnixStream| {
            let output = Some(Output::Unix(socket.try_clone()?));
            io::Result::Ok(Joined { input: Some(Box::new(socket)), output })
        };
        Ok(match medium {
            Medium::Pipe => {
                let (there, back) = (io::pipe()?, io::pipe()?);
                Some([of_pipe(back.0, there.1), of_pipe(there.0, back.1)])
            }
            Medium::Unix => {
                let (near, far) = UnixStream::pair()?;
                Some([of_socket(near)?, of_socket(far)?])
            }
            Medium::Memory | Medium::Tcp | Medium::Mptcp => None,
        })
    }

    /// Does what the application of that end wants until it wants no more.
    fn drive(
        &mut self,
        side: Endpoint,
        shared: &TrialState,
        clock: Clock,
    ) -> Result<AppReport, TrialError> {
        let failed = |call| {
            let endpoint = side.name();
            move |source| TrialError::Application { endpoint, call, source }
        };
        let workload = &shared.workload;
        let mut application = Application::new(side, workload, shared.seed);
        let mut buffer = Vec::new();
        loop {
            match application.want(clock.now()) {
                Want::Nothing => return Ok(application.report()),
                Want::Sleep(until) => {
                    clock.sleep_until(until);
                }
                Want::Write { bytes, .. } => match self.write(bytes) {
                    Ok(count) => application.wrote(count, clock.now()),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(failed("write")(error)),
                },
                Want::Read(most) => {
                    if buffer.len() < most {
                        buffer.resize(most, 0);
                    }
                    match self.read(&mut buffer[..most]) {
                        Ok(0) => application.end_of_stream(clock.now()),
                        Ok(count) => {
                            application.received(&buffer[..count], clock.now());
                            shared.add_received(count as u64);
                        }
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) => return Err(failed("read")(error)),
                    }
                }
                Want::ShutDown(half) => {
                    self.shut_down(half).map_err(failed("shut down"))?;
                    application.did(clock.now());
                }
                Want::Close => {
                    (self.input, self.output) = (None, None);
                    application.did(clock.now());
                }
                // They are joined from the start; what only TCP has was refused with the scenario.
                _ => application.did(clock.now()),
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.output {
            Some(Output::Pipe(pipe)) => pipe.write(bytes),
            Some(Output::Unix(socket)) => socket.write(bytes),
            None => Err(ErrorKind::NotConnected.into()),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.as_mut().map_or(Ok(0), |input| input.read(buffer))
    }

    fn shut_down(&mut self, half: Half) -> io::Result<()> {
        if half != Half::Write {
            self.input = None;
        }
        if half != Half::Read
            && let Some(Output::Unix(socket)) = self.output.take()
        {
            // The input is another descriptor of the same socket.
            socket.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }
}

/// Both ends of a copy in memory: one thread does all, the other only reports.
fn copied(shared: &Arc<TrialState>) -> [Result<EndpointThread<()>, TrialError>; 2] {
    let (report, received) = mpsc::channel();
    let client = prepare(shared, move |shared, clock| {
        let [client, server] = copy(&shared.workload, shared.seed, clock);
        shared.add_received(server.bytes.as_u64());
        let _ = report.send(server);
        Ok(client)
    });
    let server = prepare(shared, move |_, _| received.recv().map_err(|_| TrialError::panicked()));
    [client, server]
}

/// A copy is made again and again for so long, and so often at least: one of a megabyte takes less
/// time than the scheduler may take away from it.
const COPYING: Span = Span::from_millis(250);
const COPIES: usize = 15;
/// The calls of a copy go over so much memory in turn, whatever the amount: what does not fit into
/// a cache would be slower, and larger pieces with it.
const WINDOW: usize = 512 << 10;

/// Copies the payload piece by piece into another place, both of which have been touched before,
/// and then looks at what is there. Of many copies, made over and over in a part of both places,
/// the one with the median time counts.
fn copy(workload: &WorkloadSpec, seed: u64, clock: Clock) -> [AppReport; 2] {
    let amount = workload.amount().as_u64() as usize;
    let piece = (workload.write_size.as_u64() as usize).max(1);
    let mut source = vec![0; amount];
    Payload::new(seed).fill(&mut source);
    // Written, so that no page of it is first met while it is measured.
    let mut target = vec![0xff; amount];
    let window = amount.min(WINDOW.max(piece));
    let mut copies = Vec::new();
    let begun = clock.now();
    while copies.len() < COPIES || clock.now().since(begun) < COPYING {
        let started = clock.now();
        let mut left = amount;
        while left > 0 {
            let part = left.min(window);
            copy_pieces(&mut target[..part], &source[..part], piece);
            left -= part;
        }
        copies.push((started, clock.now()));
    }
    let calls = copy_pieces(&mut target, &source, piece);
    copies.sort_by_key(|(started, ended)| ended.since(*started));
    let (started, ended) = copies[copies.len() / 2];
    let report = |role, bytes: &[u8]| {
        let mut digest = Digest::new();
        digest.update(bytes);
        AppReport {
            role,
            bytes: workload.amount(),
            digest: digest.hex(),
            calls,
            started: Some(started),
            first_byte: Some(started),
            last_byte: Some(ended),
            finished: Some(ended),
            ..AppReport::of_nothing(role)
        }
    };
    let [client, server] = Endpoint::BOTH.map(|side| workload.role(side));
    let of = |role| match role {
        Role::Sender => report(role, &source),
        Role::Receiver => report(role, &target),
    };
    [of(client), of(server)]
}

/// Copies in calls of `piece` bytes each; how many there were.
fn copy_pieces(target: &mut [u8], source: &[u8], piece: usize) -> u64 {
    let mut calls = 0;
    for (to, from) in target.chunks_mut(piece).zip(source.chunks(piece)) {
        transfer(to, from);
        calls += 1;
    }
    calls
}

/// One transfer: a call that the compiler can neither leave out nor join with the next.
#[inline(never)]
fn transfer(to: &mut [u8], from: &[u8]) {
    black_box(to).copy_from_slice(black_box(from));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_takes_one_call_per_piece() {
        let text = r#"{ "upload": "1001 B", "write_size": "4 B", "through": "memory" }"#;
        let workload: WorkloadSpec = serde_json::from_str(text).unwrap();
        let [client, server] = copy(&workload, 7, Clock::start());
        assert_eq!((client.role, server.role), (Role::Sender, Role::Receiver));
        assert_eq!(client.digest, Digest::of_payload(7, 1001));
        assert!(server.has_all_of(&client));
        assert_eq!((client.calls, server.calls), (251, 251));
    }
}
