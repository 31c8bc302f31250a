//! A model of a host as a guest: it stands at one end of a path whose other end may be a kernel.

mod exchange;
mod host_set;
mod slot;

use std::collections::VecDeque;
use std::convert::Infallible;

use tcplab_recording::GuestOrder;
use tcplab_scenario::Case;
use tcplab_units::{Endpoint, Instant};

use self::exchange::Exchange;
use self::host_set::HostSet;
use super::guest::{FromGuest, Guest};
use crate::error::SimError;
use crate::trial::refuse_foreign;

/// One end of a trial, on models: the applications of all its connections, or that of its
/// datagrams, and what they run on.
///
/// It begins with [`GuestOrder::Start`], and stands still once the trial's time is over. Each
/// [`Guest::run`] handles one event, so that its packets are on the path before the next. Packets
/// have no cause in the recording.
///
/// A connection that waits for a place begins when this end is done with another. In a world of
/// models alone both ends must be: there it begins as much later as the other end takes.
#[derive(Debug)]
pub struct ModelHost {
    work: Work,
    /// What is to arrive, in order of time.
    arrivals: VecDeque<(Instant, Arrival)>,
    sent: Outbox,
}

/// What it has sent and reported, each with its time.
type Outbox = VecDeque<(Instant, FromGuest)>;

#[derive(Debug)]
enum Work {
    Connections(Box<HostSet>),
    Datagrams(Box<Exchange>),
}

#[derive(Debug)]
enum Arrival {
    Packet(Vec<u8>),
    Order(GuestOrder),
}

impl ModelHost {
    /// The host at one end of a trial with this seed, ready for [`GuestOrder::Start`].
    ///
    /// # Errors
    /// When there is no such model, or none can take part in such a trial.
    pub fn start(case: &Case, seed: u64, end: Endpoint) -> Result<ModelHost, SimError> {
        refuse_foreign(case)?;
        let work = match &case.workload.datagrams {
            None => Work::Connections(Box::new(HostSet::new(case, seed, end)?)),
            Some(asked) => Work::Datagrams(Box::new(Exchange::new(case, asked, seed, end)?)),
        };
        Ok(ModelHost { work, arrivals: VecDeque::new(), sent: VecDeque::new() })
    }

    /// Takes what has arrived until `now`.
    fn take_in(&mut self, now: Instant) {
        while self.arrivals.front().is_some_and(|(at, _)| *at <= now)
            && let Some((_, arrival)) = self.arrivals.pop_front()
        {
            match (&mut self.work, arrival) {
                (Work::Connections(all), Arrival::Packet(packet)) => {
                    all.take(now, packet, &mut self.sent);
                }
                (Work::Connections(all), Arrival::Order(order)) => {
                    all.obey(now, &order, &mut self.sent);
                }
                (Work::Datagrams(exchange), Arrival::Packet(packet)) => {
                    exchange.take(now, &packet, &mut self.sent);
                }
                (Work::Datagrams(exchange), Arrival::Order(order)) => {
                    exchange.obey(now, &order, &mut self.sent);
                }
            }
        }
    }
}

impl Guest for ModelHost {
    type Error = Infallible;

    fn poll_at(&self) -> Option<Instant> {
        let own = match &self.work {
            Work::Connections(all) => all.poll_at(),
            Work::Datagrams(exchange) => exchange.poll_at(),
        };
        Instant::earlier(self.arrivals.front().map(|(at, _)| *at), own)
    }

    fn handle_packet(&mut self, at: Instant, packet: Vec<u8>, _checked: bool) {
        self.arrivals.push_back((at, Arrival::Packet(packet)));
    }

    fn handle_order(&mut self, at: Instant, order: &GuestOrder) {
        self.arrivals.push_back((at, Arrival::Order(*order)));
    }

    fn run(&mut self, at: Instant, _until: Instant) -> Result<(), Infallible> {
        // What has arrived waits for the timers of its time, as in a world of models alone.
        if let Work::Connections(all) = &mut self.work
            && all.has_timer_due(at)
        {
            all.go_on(at, &mut self.sent);
            return Ok(());
        }
        let has_arrivals = self.arrivals.front().is_some_and(|(due, _)| *due <= at);
        self.take_in(at);
        match &mut self.work {
            Work::Connections(all) if has_arrivals => all.serve_reached(at, &mut self.sent),
            Work::Connections(all) => all.go_on(at, &mut self.sent),
            Work::Datagrams(exchange) => exchange.go_on(at, &mut self.sent),
        }
        Ok(())
    }

    fn poll_sent(&mut self) -> Result<Option<(Instant, FromGuest)>, Infallible> {
        Ok(self.sent.pop_front())
    }
}
