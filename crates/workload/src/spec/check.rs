//! Workloads that cannot be run.

use tcplab_units::{Bytes, Endpoint};

use super::parts::{Connections, Requests};
use super::workload::WorkloadSpec;
use crate::error::WorkloadError;
use crate::medium::Medium;
use crate::program::Program;
use crate::step::WRITE_SIZE_MAX;

impl WorkloadSpec {
    /// The most that is copied in memory, which holds it twice.
    const COPIED_MAX: Bytes = Bytes::new(256 << 20);
    /// The most steps that an end does in a trial, repetitions and connections counted: steps that
    /// take no time (`cork on`) are done in one instant, which no time limit ends. A kernel needs
    /// some ten seconds for ten million calls.
    pub const STEPS_MAX: u64 = 10_000_000;

    /// Refuses workloads that cannot be run.
    ///
    /// # Errors
    /// The first contradiction or value out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let given: Vec<&'static str> = self.shapes().collect();
        match given[..] {
            ["upload", "download"] => return Err(WorkloadError::Both),
            [] => return Err(WorkloadError::Neither),
            [_] => {}
            [first, second, ..] => return Err(WorkloadError::Several(first, second)),
        }
        if !self.is_bulk() {
            let of_bulk = [
                ("read_size", self.read_size.is_some()),
                ("think", self.think.is_some()),
                ("pause", self.pause.is_some()),
                ("urgent_at", self.urgent_at.is_some()),
                ("close", !self.close.is_orderly()),
                ("through", !self.through.has_packets()),
            ];
            if let Some((key, _)) = of_bulk.into_iter().find(|(_, given)| *given) {
                return Err(WorkloadError::OfBulk(key));
            }
        }
        let sends_otherwise = self.datagrams.is_some() || self.load.is_some();
        if sends_otherwise && self.through == Medium::Mptcp {
            return Err(WorkloadError::NotThrough(given[0], self.through.name()));
        }
        if let Some(load) = &self.load {
            if self.connections.is_some() {
                return Err(WorkloadError::Several("load", "connections"));
            }
            load.check()?;
        }
        self.check_medium()?;
        self.check_sizes()?;
        if let Some(datagrams) = &self.datagrams {
            datagrams.check()?;
            if self.connections.is_some() {
                return Err(WorkloadError::NoConnections);
            }
        }
        for (side, steps) in [(Endpoint::Client, &self.client), (Endpoint::Server, &self.server)] {
            if let Some(steps) = steps {
                Program::new(side, steps.clone())
                    .map_err(|error| WorkloadError::Program(side.name(), error))?;
            }
        }
        match self.steps_done() {
            found if found > Self::STEPS_MAX => {
                Err(WorkloadError::TooMuch { key: given[0], found, most: Self::STEPS_MAX })
            }
            _ => Ok(()),
        }
    }

    /// How many steps an end does in a trial, repetitions and connections counted; of the end that
    /// does more.
    pub fn steps_done(&self) -> u64 {
        let each = Endpoint::BOTH.map(|side| self.program(side).done()).into_iter().max();
        let connections = self.connections.map_or(1, |it| it.total);
        each.unwrap_or(0).saturating_mul(connections)
    }

    /// Refuses what only TCP has.
    fn check_medium(&self) -> Result<(), WorkloadError> {
        let is_memory = self.through == Medium::Memory;
        if self.through == Medium::Mptcp && self.urgent_at.is_some() {
            return Err(WorkloadError::NotThrough("urgent_at", self.through.name()));
        }
        let of_tcp = [
            ("urgent_at", self.urgent_at.is_some()),
            ("close", !self.close.is_orderly()),
            ("connections", self.connections.is_some()),
            ("may_fail", self.may_fail.is_some()),
            ("read_size", is_memory && self.read_size.is_some()),
            ("think", is_memory && self.think.is_some()),
            ("pause", is_memory && self.pause.is_some()),
        ];
        let of_tcp = of_tcp.into_iter().filter(|_| !self.through.has_packets());
        match of_tcp.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(WorkloadError::NotThrough(key, self.through.name())),
            None if is_memory && self.bulk() > WorkloadSpec::COPIED_MAX => {
                let key = if self.upload.is_some() { "upload" } else { "download" };
                let most = WorkloadSpec::COPIED_MAX.as_u64();
                Err(WorkloadError::TooMany { key, most })
            }
            None => Ok(()),
        }
    }

    fn check_sizes(&self) -> Result<(), WorkloadError> {
        for (key, amount) in [("upload", self.upload), ("download", self.download)] {
            if amount == Some(Bytes::ZERO) {
                return Err(WorkloadError::Nothing(key));
            }
        }
        let fits = |size: Bytes| size > Bytes::ZERO && size <= WRITE_SIZE_MAX;
        if !fits(self.write_size) {
            return Err(WorkloadError::WriteSize(self.write_size));
        }
        let mut sizes = vec![("read_size", self.read_size)];
        if let Some(Requests { request, response, .. }) = &self.requests {
            sizes.extend([
                ("requests.request", Some(*request)),
                ("requests.response", Some(*response)),
            ]);
        }
        sizes.push(("keystrokes.size", self.keystrokes.as_ref().map(|it| it.size)));
        sizes.push(("idle.talk", self.idle.as_ref().map(|it| it.talk)));
        for (key, size) in sizes {
            if let Some(size) = size
                && !fits(size)
            {
                return Err(WorkloadError::Size(key, size));
            }
        }
        if let Some(urgent) = self.urgent_at
            && urgent >= self.bulk()
        {
            return Err(WorkloadError::BehindTheEnd(urgent));
        }
        self.check_counts()
    }

    fn check_counts(&self) -> Result<(), WorkloadError> {
        let of_requests = self.requests.iter().flat_map(|it| {
            [
                ("requests.count", it.count, u64::MAX),
                ("requests.writes", it.writes, it.request.as_u64()),
                ("requests.pipelined", it.pipelined, it.count),
            ]
        });
        let of_keys = self.keystrokes.iter().map(|it| ("keystrokes.count", it.count, u64::MAX));
        let of_connections = self.connections.iter().flat_map(|it| {
            [
                ("connections.total", it.total, Connections::TOTAL_MAX),
                ("connections.at_once", it.at_once, it.total.min(Connections::AT_ONCE_MAX)),
            ]
        });
        let of_pause = self.pause.iter().map(|it| ("pause.every", it.every.as_u64(), u64::MAX));
        for (key, count, most) in of_requests.chain(of_keys).chain(of_connections).chain(of_pause) {
            if count == 0 {
                return Err(WorkloadError::Nothing(key));
            }
            if count > most {
                return Err(WorkloadError::TooMany { key, most });
            }
        }
        Ok(())
    }
}
