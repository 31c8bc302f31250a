//! A host with one socket of UDP.

use std::collections::VecDeque;
use std::net::IpAddr;

use tcplab_units::{Instant, Rng, Span};
use tcplab_wire::{
    ChecksumState, Ecn, FrameView, IpPacket, Ipv4Repr, LinkType, PortUnreachableRepr, UdpPacket,
    UdpRepr, port_unreachable,
};
use tcplab_workload::{Absent, AppReport, DatagramApplication, DatagramWant};

use crate::packets::{Address, TTL};

/// The error of a connected socket after ICMP reported its peer's port closed.
const REFUSED: &str = "ECONNREFUSED";

/// A host, the socket on it and the application that has it.
#[derive(Debug)]
pub(crate) struct Station {
    application: Box<DatagramApplication>,
    own: Address,
    /// Its peer. The server answers the last client, and there is only one; its port may be any.
    other: Address,
    port: Port,
    /// Whether its socket is connected.
    is_connected: bool,
    /// Datagrams that wait to be read, with the port that each came from.
    inbox: VecDeque<(u16, Vec<u8>)>,
    /// The pending error of the socket, which the next call returns.
    error: Option<&'static str>,
    /// When the application continues even if nothing happens.
    wake: Option<Instant>,
    is_over: bool,
    icmp: Bucket,
    /// IPv4's identification counts up (RFC 6864 lets it be anything here).
    ip_id: u16,
}

/// The state of a host's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    /// A socket has it.
    Open,
    /// A socket has it whose filter lets nothing through.
    Deaf,
    /// No socket has it.
    Closed,
}

impl Station {
    pub(super) fn new(
        application: DatagramApplication,
        own: Address,
        other: Address,
        seed: u64,
    ) -> Station {
        let mut random = Rng::new(seed, &format!("{} identification", own.ip));
        Station {
            application: Box::new(application),
            own,
            other,
            port: Port::Open,
            is_connected: false,
            inbox: VecDeque::new(),
            error: None,
            wake: None,
            is_over: false,
            icmp: Bucket::full(),
            ip_id: random.next_u64() as u16,
        }
    }

    /// Makes it absent, if `absent` says how.
    pub(super) fn absent(self, absent: Option<Absent>) -> Station {
        let port = match absent {
            None => Port::Open,
            Some(Absent::Silent) => Port::Deaf,
            Some(Absent::Closed) => Port::Closed,
        };
        Station { port, ..self }
    }

    pub(crate) fn wake(&self) -> Option<Instant> {
        self.wake
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn report(&self) -> AppReport {
        self.application.report()
    }

    /// No datagram can come any more.
    pub(crate) fn stop(&mut self) {
        self.application.stop();
    }

    /// Runs the application until it waits; returns a packet as soon as it sends one, and is then
    /// to be called again.
    pub(crate) fn drive(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.wake = None;
        loop {
            match self.application.want(now) {
                DatagramWant::Connect => {
                    self.is_connected = true;
                    self.application.did(now);
                }
                DatagramWant::Send(datagram) => {
                    if let Some(error) = self.error.take() {
                        self.application.failed(error, now);
                        continue;
                    }
                    let header = Ipv4Repr {
                        src: self.own.ip,
                        dst: self.other.ip,
                        id: self.ip_id,
                        ttl: TTL,
                        ecn: Ecn::NotEct,
                    };
                    self.ip_id = self.ip_id.wrapping_add(1);
                    let ports = UdpRepr { src_port: self.own.port, dst_port: self.other.port };
                    let packet = ports.to_packet(&header.into(), datagram);
                    self.application.sent(now);
                    return Some(packet);
                }
                DatagramWant::Receive(until) => {
                    if let Some(error) = self.error.take() {
                        self.application.failed(error, now);
                    } else if let Some((port, datagram)) = self.inbox.pop_front() {
                        self.other.port = port;
                        self.application.received(&datagram, now);
                    } else if until.is_some_and(|until| until <= now) {
                        self.application.failed("EAGAIN", now);
                    } else {
                        self.wake = until;
                        return None;
                    }
                }
                DatagramWant::Sleep(until) => {
                    self.wake = Some(until);
                    return None;
                }
                DatagramWant::Close => {
                    self.port = Port::Closed;
                    self.application.did(now);
                }
                DatagramWant::Nothing => {
                    self.is_over = true;
                    return None;
                }
            }
        }
    }

    /// Takes a packet; returns the host's own answer, an ICMP error.
    pub(crate) fn take(&mut self, now: Instant, packet: &[u8]) -> Option<Vec<u8>> {
        let ip = FrameView::of_packet(packet).ip()?;
        let is_right = ip.header_checksum_is_right() && ip.dst() == IpAddr::V4(self.own.ip);
        if !is_right || !ip.is_whole() {
            return None;
        }
        if let Some(quoted) = port_unreachable(&ip) {
            if self.is_connected && self.has_sent(quoted) {
                self.error = Some(REFUSED);
            }
            return None;
        }
        // A wrong checksum: the datagram is dropped silently (`udp_lib_checksum_complete`).
        let udp = UdpPacket::of(ip).filter(|it| it.checksum_state() == ChecksumState::Right)?;
        if udp.dst_port() != self.own.port || self.port == Port::Closed {
            return self.refuse(now, ip);
        }
        let from = (ip.src(), udp.src_port());
        if self.is_connected && from != (IpAddr::V4(self.other.ip), self.other.port) {
            return self.refuse(now, ip);
        }
        if self.port == Port::Open {
            self.inbox.push_back((udp.src_port(), udp.payload().to_vec()));
        }
        None
    }

    /// Whether a quoted datagram is one of this socket to the other.
    fn has_sent(&self, quoted: &[u8]) -> bool {
        // It may be quoted in part.
        let quoted = FrameView::new(LinkType::RawIp, quoted, 0xffff).ip().and_then(UdpPacket::of);
        quoted.is_some_and(|udp| {
            let (from, to) = ((udp.ip().src(), udp.src_port()), (udp.ip().dst(), udp.dst_port()));
            from == (IpAddr::V4(self.own.ip), self.own.port)
                && to == (IpAddr::V4(self.other.ip), self.other.port)
        })
    }

    /// Answers that the port is unreachable (RFC 1122 section 4.1.3.1), within the rate limit.
    fn refuse(&mut self, now: Instant, about: IpPacket<'_>) -> Option<Vec<u8>> {
        let IpAddr::V4(dst) = about.src() else { return None };
        if !self.icmp.takes(now) {
            return None;
        }
        let id = self.ip_id;
        self.ip_id = self.ip_id.wrapping_add(1);
        let header = Ipv4Repr { src: self.own.ip, dst, id, ttl: TTL, ecn: Ecn::NotEct };
        Some(PortUnreachableRepr { about }.to_packet(&header))
    }
}

/// The least time between two ICMP errors to one host, once it has had [`ICMP_BURST`] of them:
/// `icmp_ratelimit`, 1000 ms.
const ICMP_EVERY: Span = Span::from_secs(1);
/// How many errors may be sent to a host in a burst (`XRLIM_BURST_FACTOR`, net/ipv4/inetpeer.c).
const ICMP_BURST: u64 = 6;

/// The rate limit of ICMP errors (`inet_peer_xrlim_allow`).
#[derive(Debug)]
struct Bucket {
    tokens: Span,
    since: Instant,
}

impl Bucket {
    fn full() -> Bucket {
        Bucket { tokens: ICMP_EVERY * ICMP_BURST, since: Instant::ZERO }
    }

    fn takes(&mut self, now: Instant) -> bool {
        let tokens = (self.tokens + now.since(self.since)).min(ICMP_EVERY * ICMP_BURST);
        let is_enough = tokens >= ICMP_EVERY;
        self.tokens = if is_enough { tokens - ICMP_EVERY } else { tokens };
        self.since = now;
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six at once, the next when a second has passed since the bucket was empty.
    #[test]
    fn icmp_errors_are_limited_to_six_in_a_burst_and_one_a_second() {
        let mut bucket = Bucket::full();
        let sent: Vec<u64> = (0..40)
            .map(|step| step * 100)
            .filter(|millis| bucket.takes(Instant::ZERO + Span::from_millis(*millis)))
            .collect();
        assert_eq!(sent, [0, 100, 200, 300, 400, 500, 1_000, 2_000, 3_000]);
    }
}
