//! What the connections of a host begin with.

use tcplab_scenario::PlannedConnection;
use tcplab_stack::congestion::{self, Setup};
use tcplab_stack::{Config, Opening, PathMtu};
use tcplab_units::{Endpoint, Rng};
use tcplab_wire::SeqNumber;

/// The largest IP packet of an Ethernet, bytes.
const MTU: u16 = 1500;

/// The parameters of a host's connections, one after the other: a server opens another where a
/// handshake came to nothing.
#[derive(Debug)]
pub(crate) struct Openings {
    random: Rng,
    /// Of the next one.
    sequence: SeqNumber,
    timestamp_offset: u32,
    mtu: u16,
    /// The congestion control.
    control: String,
    setup: Setup,
}

impl Openings {
    /// None where there is no such congestion control.
    pub(crate) fn new(
        endpoint: Endpoint,
        planned: &PlannedConnection,
        config: &Config,
    ) -> Option<Openings> {
        let control = config.window.congestion.clone();
        let setup = Setup::of(config, planned.payload_seed);
        congestion::on(&control, &setup)?;
        let mut random = Rng::new(planned.seed, &format!("{} numbers", endpoint.name()));
        Some(Openings {
            sequence: SeqNumber::new(random.next_u64() as u32),
            timestamp_offset: random.next_u64() as u32,
            random,
            mtu: MTU,
            control,
            setup,
        })
    }

    pub(crate) fn random(&mut self) -> &mut Rng {
        &mut self.random
    }

    /// Later connections begin with the path MTU that one found (`fib_nh_exception`).
    pub(crate) fn learn(&mut self, path: PathMtu) {
        self.mtu = self.mtu.min(path.mtu);
    }

    pub(crate) fn next(&mut self) -> Opening {
        let following = SeqNumber::new(self.random.next_u64() as u32);
        Opening {
            initial_sequence: std::mem::replace(&mut self.sequence, following),
            timestamp_offset: self.timestamp_offset,
            mtu: self.mtu,
            ip_header: 20,
            congestion: congestion::on(&self.control, &self.setup).expect("looked up before"),
        }
    }
}
