//! Applications that exchange datagrams, on the kernel's sockets.

use std::net::SocketAddrV4;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use tcplab_recording::OptionRecord;
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_workload::{AppReport, DatagramApplication, DatagramWant, Datagrams};

use super::wait::LOOK;
use crate::TrialError;
use crate::clock::Clock;
use crate::errno::name;
use crate::options::OptionSheet;
use crate::trial_state::TrialState;

/// An application with its socket.
pub(super) struct Exchange<'a> {
    application: DatagramApplication,
    shared: &'a TrialState,
    clock: Clock,
    /// Where the server is.
    server: SocketAddrV4,
    /// Until it is closed.
    socket: Option<OwnedFd>,
    /// The peer: the server, or the sender of the last request.
    peer: SocketAddrV4,
}

impl Exchange<'_> {
    /// Runs the application of an end until it is done. Gives its report, its socket, if it was not
    /// closed, and the options of that as they were at first.
    pub(super) fn run(
        (end, shared): (Endpoint, &TrialState),
        datagrams: &Datagrams,
        clock: Clock,
        server: SocketAddrV4,
        socket: OwnedFd,
        options: &OptionSheet,
    ) -> Result<(AppReport, Option<OwnedFd>, Vec<OptionRecord>), TrialError> {
        let application = DatagramApplication::new(end, datagrams, shared.seed);
        let records = options.records(socket.as_fd());
        let socket = Some(socket);
        let before = (!clock.is_virtual()).then(Clock::processor);
        let mut exchange = Exchange { application, shared, clock, server, socket, peer: server };
        exchange.drive()?;
        let Exchange { application, socket, .. } = exchange;
        let processor = before.map(|before| Clock::processor().saturating_sub(before));
        Ok((AppReport { processor, ..application.report() }, socket, records))
    }

    /// Does what the application wants until it wants no more.
    fn drive(&mut self) -> Result<(), TrialError> {
        let mut connected = false;
        loop {
            let now = self.clock.now();
            let Some(socket) = &self.socket else { return Ok(()) };
            match self.application.want(now) {
                DatagramWant::Nothing => return Ok(()),
                DatagramWant::Sleep(until) => {
                    self.clock.sleep_until(until);
                }
                DatagramWant::Connect => match rustix::net::connect(socket, &self.server) {
                    Ok(()) => {
                        connected = true;
                        self.application.did(self.clock.now());
                    }
                    Err(errno) => self.failed(errno),
                },
                DatagramWant::Send(datagram) => {
                    let sent = if connected {
                        rustix::net::send(socket, datagram, SendFlags::empty())
                    } else {
                        rustix::net::sendto(socket, datagram, SendFlags::empty(), &self.peer)
                    };
                    match sent {
                        Ok(_) => self.application.sent(self.clock.now()),
                        Err(errno) => self.failed(errno),
                    }
                }
                DatagramWant::Receive(until) => self.receive(until),
                DatagramWant::Close => {
                    self.socket = None;
                    self.application.did(self.clock.now());
                }
            }
        }
    }

    /// The call failed; one that was interrupted is made again.
    fn failed(&mut self, errno: Errno) {
        if errno != Errno::INTR {
            self.application.failed(name(errno), self.clock.now());
        }
    }

    /// Waits with `poll`, whose timer is as fine as the clock (SO_RCVTIMEO counts in ticks of the
    /// kernel), and reads what there is: nothing, where the time has come.
    fn receive(&mut self, until: Option<Instant>) {
        let Some(socket) = &self.socket else { return };
        // A server looks from time to time whether anything can still come.
        let now = self.clock.now();
        let patience =
            until.map_or(LOOK, |until| if until > now { until.since(now) } else { Span::ZERO });
        let timeout = Timespec {
            tv_sec: (patience.as_nanos() / 1_000_000_000).cast_signed(),
            tv_nsec: (patience.as_nanos() % 1_000_000_000).cast_signed(),
        };
        match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&timeout)) {
            Ok(0) if until.is_none() => {
                if self.shared.is_at_rest() {
                    self.application.stop();
                }
                return;
            }
            Ok(_) => {}
            Err(errno) => return self.failed(errno),
        }
        let mut datagram = [0; Datagrams::SIZE_MAX.as_u64() as usize + 1];
        match rustix::net::recvfrom(socket, &mut datagram, RecvFlags::DONTWAIT) {
            Ok((count, _, from)) => {
                self.application.received(&datagram[..count], self.clock.now());
                self.shared.add_received(count as u64);
                if let Some(Ok(from)) = from.map(SocketAddrV4::try_from) {
                    self.peer = from;
                }
            }
            // What `poll` saw was not right, and was dropped when it was looked at.
            Err(Errno::AGAIN) if until.is_none_or(|until| self.clock.now() < until) => {}
            Err(errno) => self.failed(errno),
        }
    }
}
