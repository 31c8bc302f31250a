//! One end of an exchange of datagrams.

use std::collections::VecDeque;

use tcplab_recording::{EndpointRecord, GuestOrder, GuestOutcome, GuestReport};
use tcplab_scenario::Case;
use tcplab_units::{Endpoint, Instant};
use tcplab_workload::Datagrams;

use super::super::guest::FromGuest;
use crate::datagrams::{self, Station};
use crate::error::SimError;

/// A host with a socket of datagrams.
#[derive(Debug)]
pub(super) struct Exchange {
    end: Endpoint,
    station: Station,
    record: EndpointRecord,
    /// When the trial's time is over.
    limit: Instant,
    has_begun: bool,
    has_run_out: bool,
    /// Whether it has reported that it is done.
    is_done: bool,
}

impl Exchange {
    pub(super) fn new(
        case: &Case,
        asked: &Datagrams,
        seed: u64,
        end: Endpoint,
    ) -> Result<Exchange, SimError> {
        Ok(Exchange {
            end,
            station: datagrams::station(case, asked, seed, end)?,
            record: datagrams::record(case, end),
            limit: Instant::ZERO + case.limits.trial,
            has_begun: false,
            has_run_out: false,
            is_done: false,
        })
    }

    /// When its application continues even if nothing happens.
    pub(super) fn poll_at(&self) -> Option<Instant> {
        let goes_on = self.has_begun && !self.has_run_out;
        self.station.wake().filter(|at| goes_on && *at <= self.limit)
    }

    /// Takes a packet; the host itself may answer it.
    pub(super) fn take(
        &mut self,
        now: Instant,
        packet: &[u8],
        sent: &mut VecDeque<(Instant, FromGuest)>,
    ) {
        if !self.has_run_out
            && let Some(answer) = self.station.take(now, packet)
        {
            sent.push_back((now, FromGuest::Packet(answer)));
        }
    }

    /// Does what the world says.
    pub(super) fn obey(
        &mut self,
        now: Instant,
        order: &GuestOrder,
        sent: &mut VecDeque<(Instant, FromGuest)>,
    ) {
        let is_server = self.end == Endpoint::Server;
        match order {
            GuestOrder::Start => self.has_begun = true,
            GuestOrder::Rest if is_server => self.station.stop(),
            GuestOrder::RunOut => {
                if is_server {
                    self.station.stop();
                }
                self.go_on(now.min(self.limit), sent);
                self.has_run_out = true;
            }
            GuestOrder::Rest
            | GuestOrder::Listening
            | GuestOrder::Accepted(_)
            | GuestOrder::Ended { .. } => {}
        }
    }

    /// Runs its application until it waits.
    pub(super) fn go_on(&mut self, now: Instant, sent: &mut VecDeque<(Instant, FromGuest)>) {
        if !self.has_begun || self.has_run_out {
            return;
        }
        while let Some(packet) = self.station.drive(now) {
            sent.push_back((now, FromGuest::Packet(packet)));
        }
        if self.station.is_over() && !self.is_done {
            self.is_done = true;
            let (report, record) = (self.station.report(), self.record.clone());
            let outcome = GuestOutcome { report, record, ..GuestOutcome::default() };
            sent.push_back((now, FromGuest::Report(GuestReport::Done(Box::new(outcome)))));
        }
    }
}
