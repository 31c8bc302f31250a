//! Ends that are further away: packets of some ports wait before they enter the path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Instant, Span};
use tcplab_wire::{FrameView, protocol};

use super::agenda::Agenda;
use crate::behaviour::{Behaviour, Outbox, Transit};
use crate::fault::PathError;

/// By how much further apart the ends of some connections are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortDelay {
    /// The TCP or UDP port at either end, 1 to 65535.
    #[schemars(range(min = 1))]
    pub port: u16,
    /// How long its packets wait before they enter the path, in each direction; between two ports
    /// that have one, the sum. Of a fragmented packet only the first fragment has ports and waits.
    pub delay: Span,
}

/// How long packets between these ports wait in each direction: the sum for both. Ports that are
/// equal count once.
pub(crate) fn delay_between(delays: &[PortDelay], ports: [u16; 2]) -> Span {
    delays.iter().filter(|it| ports.contains(&it.port)).map(|it| it.delay).sum()
}

/// The delays of ports: the entrance of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PortDelayPlan(Vec<PortDelay>);

impl PortDelayPlan {
    /// None where no packet waits.
    pub(crate) fn of(delays: &[PortDelay]) -> Result<Option<PortDelayPlan>, PathError> {
        for (index, PortDelay { port, .. }) in delays.iter().enumerate() {
            let error = |what| PathError { key: format!("port_delay.{index}.port"), what };
            if *port == 0 {
                return Err(error("port 0 is no port: give 1 to 65535".into()));
            }
            if delays[..index].iter().any(|it| it.port == *port) {
                return Err(error(format!("port {port} has a delay already: give each port once")));
            }
        }
        let waits = delays.iter().copied().filter(|it| !it.delay.is_zero());
        let plan = PortDelayPlan(waits.collect());
        Ok((!plan.0.is_empty()).then_some(plan))
    }

    pub(crate) fn describe(&self) -> String {
        let delays =
            self.0.iter().map(|PortDelay { port, delay }| format!("{delay} (port {port})"));
        let delays: Vec<String> = delays.collect();
        format!("Packets of some ports come later: {}.", delays.join(", "))
    }
}

/// The element at work. Packets of a port keep their order.
#[derive(Debug)]
pub(crate) struct PortDelays {
    plan: PortDelayPlan,
    waiting: Agenda,
}

impl PortDelays {
    pub(crate) fn new(plan: &PortDelayPlan) -> PortDelays {
        PortDelays { plan: plan.clone(), waiting: Agenda::default() }
    }

    /// How long this packet waits.
    fn delay_of(&self, packet: &[u8]) -> Span {
        ports(packet).map_or(Span::ZERO, |ports| delay_between(&self.plan.0, ports))
    }
}

impl Behaviour for PortDelays {
    fn accept(&mut self, now: Instant, packet: Transit, out: &mut Outbox) {
        match self.delay_of(&packet.packet.bytes) {
            Span::ZERO => out.pass(packet),
            delay => self.waiting.push(now + delay, packet),
        }
    }
    fn poll_at(&self) -> Option<Instant> {
        self.waiting.next_due()
    }
    fn advance(&mut self, _now: Instant, out: &mut Outbox) {
        if let Some(packet) = self.waiting.pop() {
            out.pass(packet);
        }
    }
    fn held(&self) -> Box<dyn Iterator<Item = &Transit> + '_> {
        Box::new(self.waiting.in_order())
    }
    fn release(&mut self, into: &mut Vec<Transit>) {
        into.extend(std::iter::from_fn(|| self.waiting.pop()));
    }
}

/// The ports of a TCP segment or a datagram. Fragments other than the first have none.
fn ports(packet: &[u8]) -> Option<[u16; 2]> {
    let ip = FrameView::of_packet(packet).ip()?;
    if !matches!(ip.protocol(), protocol::TCP | protocol::UDP) || ip.fragment().offset != 0 {
        return None;
    }
    let [a, b, c, d] = *ip.payload().first_chunk()?;
    Some([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
}

#[cfg(test)]
mod tests {
    use tcplab_units::Span;
    use tcplab_wire::{Ecn, Ipv4Repr, TcpRepr};

    use crate::testing::{ms, path};
    use crate::{Direction, Fate, Link, Packet};

    const FAR: &str = r#"{ "port_delay": [
        { "port": 5001, "delay": "40 ms" }, { "port": 5002, "delay": "0 s" } ],
        "rate": "12 Mbit/s", "delay": "5 ms" }"#;

    /// 1500 B: 1 ms at 12 Mbit/s.
    fn segment(ports: [u16; 2]) -> Vec<u8> {
        let (src, dst) = ([10, 98, 0, 1].into(), [10, 98, 0, 2].into());
        let ip = Ipv4Repr { src, dst, id: 7, ttl: 64, ecn: Ecn::NotEct };
        let [src_port, dst_port] = ports;
        TcpRepr { src_port, dst_port, ..TcpRepr::default() }.to_packet(&ip.into(), &[0; 1460])
    }

    #[test]
    fn packets_of_a_port_wait_before_they_queue_and_others_pass_them() {
        for (way, ports) in [(Direction::Forward, [4000, 5001]), (Direction::Reverse, [5001, 4000])]
        {
            let mut link = Link::new(&path(FAR).link(way).unwrap(), 1, way);
            for (id, packet) in [segment(ports), segment([1, 2]), segment([5002, 3]), vec![7; 1500]]
                .into_iter()
                .enumerate()
            {
                link.handle_packet(ms(0), Packet::new(id as u64, packet));
            }
            link.handle_packet(ms(1), Packet::new(4, segment(ports)));
            let left: Vec<_> = std::iter::from_fn(|| link.poll(ms(100)))
                .map(|it| (it.verdict.id, it.verdict.left, it.verdict.transmission.unwrap().queued))
                .collect();
            let expected = [(1, 6, 0), (2, 7, 0), (3, 8, 0), (0, 46, 40), (4, 47, 41)];
            assert_eq!(left, expected.map(|(id, left, queued)| (id, ms(left), ms(queued))));
        }
    }

    /// Both directions of a connection wait alike, and as long as its base RTT says.
    #[test]
    fn delays_of_both_ports_add_up_in_each_direction() {
        let spec = path(
            r#"{ "port_delay": [
                { "port": 5001, "delay": "40 ms" }, { "port": 32768, "delay": "5 ms" } ] }"#,
        );
        for (ports, expected) in
            [([32_768, 5_001], 45), ([32_769, 5_001], 40), ([32_768, 80], 5), ([5_001, 5_001], 40)]
        {
            assert_eq!(spec.delay_between_ports(ports), Span::from_millis(expected));
            let [client, server] = ports;
            for (way, ports) in
                [(Direction::Forward, ports), (Direction::Reverse, [server, client])]
            {
                let mut link = Link::new(&spec.link(way).unwrap(), 1, way);
                link.handle_packet(ms(0), Packet::new(1, segment(ports)));
                assert_eq!(link.poll_at(), Some(ms(expected)), "{ports:?} {way}");
            }
        }
    }

    #[test]
    fn packets_that_wait_are_on_the_link_at_the_end() {
        let mut link =
            Link::new(&path(FAR).link(Direction::Forward).unwrap(), 1, Direction::Forward);
        link.handle_packet(ms(0), Packet::new(1, segment([1, 5001])));
        assert_eq!(link.in_flight().map(|it| it.id).collect::<Vec<_>>(), [1]);
        let fates: Vec<Fate> = link.drain(ms(39)).iter().map(|it| it.verdict.fate).collect();
        assert_eq!(fates, [Fate::StillOnLink]);
    }

    #[test]
    fn ports_that_cannot_be_are_refused() {
        for (delays, key) in [
            (r#"[{ "port": 0, "delay": "1 ms" }]"#, "port_delay.0.port"),
            (
                r#"[{ "port": 1, "delay": "1 ms" }, { "port": 1, "delay": "0 s" }]"#,
                "port_delay.1.port",
            ),
        ] {
            let spec = path(&format!(r#"{{ "port_delay": {delays} }}"#));
            assert_eq!(spec.link(Direction::Reverse).unwrap_err().key, key);
        }
    }
}
