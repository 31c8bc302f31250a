//! How much the connections of a trial were to transfer.

use std::collections::BTreeMap;

use tcplab_scenario::{Case, PlannedConnection};
use tcplab_units::Bytes;

/// How much a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// What its sender was to write.
    Of(Bytes),
    /// As much as there is time for: traffic that goes on until it is stopped.
    Open,
}

impl Size {
    /// That of several together.
    fn sum(sizes: impl Iterator<Item = Size>) -> Size {
        sizes.fold(Size::Of(Bytes::ZERO), |sum, one| match (sum, one) {
            (Size::Of(sum), Size::Of(one)) => {
                Size::Of(Bytes::new(sum.as_u64().saturating_add(one.as_u64())))
            }
            _ => Size::Open,
        })
    }
}

/// The sizes of the connections of a trial.
pub(crate) struct Sizes {
    /// Of what the trial is about.
    pub(crate) subject: Size,
    /// By the connections' ports.
    each: BTreeMap<[u16; 2], Size>,
}

impl Sizes {
    /// Those of a case with this seed.
    pub(crate) fn of(case: &Case, seed: u64) -> Sizes {
        if case.flows.is_empty() {
            return Sizes { subject: Size::Of(case.workload.amount()), each: BTreeMap::new() };
        }
        let planned = case.connections(seed);
        let size = |it: &PlannedConnection| {
            let traffic = case.flows[it.flow].spec.traffic;
            let is_open = traffic.is_some_and(|traffic| traffic.has_no_size());
            if is_open { Size::Open } else { Size::Of(it.workload.amount()) }
        };
        let subject = case.flows.iter().position(|flow| !flow.spec.background);
        let of_subject = planned.iter().filter(|it| Some(it.flow) == subject);
        Sizes {
            subject: Size::sum(of_subject.map(size)),
            each: planned.iter().map(|it| (it.ports, size(it))).collect(),
        }
    }

    /// That of the connection with these ports.
    pub(crate) fn of_ports(&self, ports: [u16; 2]) -> Size {
        self.each.get(&ports).copied().unwrap_or(self.subject)
    }
}
