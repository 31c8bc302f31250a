//! Numbers as the script counts them, and as the stack does.
//!
//! A script writes initial sequence numbers as they please it (mostly 0) and all other numbers
//! relative to them; its timestamps map to those that the stack sent in the same place. What
//! the script's side sends itself (its sequence numbers and timestamp values) is sent as written.

use std::collections::BTreeMap;

use tcplab_wire::{Ecn, SeqNumber, TcpFlags};

use crate::ast::{Body, Counted, IcmpSpec, IpSpec, OptionSpec, PacketSpec, Service, TcpSpec};
use crate::packet::Packet;
use crate::subject::{IcmpMessage, LOCAL_PORT, REMOTE_PORT};

/// The first port that the script's side connects from.
const FIRST_EPHEMERAL_PORT: u16 = 32_768;

/// The connection that the script is about.
pub(super) struct Connection {
    stage: Stage,
    local_port: u16,
    remote_port: u16,
    /// The stack's initial sequence number, as the script writes it and as it is.
    local_initial: [u32; 2],
    /// The peer's, the same for both.
    remote_initial: u32,
    /// From the timestamps that the script writes to those that the stack sent there.
    timestamps: BTreeMap<u32, u32>,
    /// The first of these.
    first_timestamp: Option<(u32, u32)>,
    fd: Option<i64>,
    /// Its descriptor is free for another connection.
    disconnected: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A packet from the script opens it.
    Awaited,
    /// A SYN from the stack opens it.
    Connecting,
    /// The stack has sent its SYN, the script has not answered.
    SynSent,
    /// The script opened it, the stack has not answered.
    Asked,
    Open,
}

impl Connection {
    /// None yet: the next packet put in begins one.
    pub(super) fn none() -> Connection {
        Connection {
            stage: Stage::Awaited,
            local_port: LOCAL_PORT,
            remote_port: FIRST_EPHEMERAL_PORT - 1,
            local_initial: [0, 0],
            remote_initial: 0,
            timestamps: BTreeMap::new(),
            first_timestamp: None,
            fd: None,
            disconnected: false,
        }
    }

    /// A socket listens: the next packet put in begins a connection, from a port of its own.
    pub(super) fn listened(&mut self) {
        self.stage = Stage::Awaited;
    }

    /// The stack connects.
    pub(super) fn connects(&mut self, fd: i64) {
        *self = Connection {
            stage: Stage::Connecting,
            remote_port: REMOTE_PORT,
            fd: Some(fd),
            ..Connection::none()
        };
    }

    /// The stack's descriptor of it is `fd`.
    pub(super) fn accepted(&mut self, fd: i64) {
        self.fd = Some(fd);
    }

    /// Its descriptor is free for another connection from now on.
    pub(super) fn disconnected(&mut self) {
        self.disconnected = true;
    }

    /// Whether connecting `fd` opens another connection.
    pub(super) fn is_new_to(&self, fd: i64) -> bool {
        self.fd != Some(fd) || self.disconnected
    }

    pub(super) fn fd(&self) -> Option<i64> {
        self.fd
    }

    /// Whether the stack sent `packet` on it.
    pub(super) fn has_sent(&self, packet: &Packet) -> bool {
        match self.stage {
            Stage::Awaited => false,
            Stage::Connecting => {
                packet.remote_port == self.remote_port && packet.flags.contains(TcpFlags::SYN)
            }
            Stage::SynSent | Stage::Asked | Stage::Open => {
                (packet.local_port, packet.remote_port) == (self.local_port, self.remote_port)
            }
        }
    }

    /// The packet to put in where the script writes `spec`.
    pub(super) fn inbound(
        &mut self,
        spec: &PacketSpec,
        tcp: &TcpSpec,
        echoes_scaled: bool,
    ) -> Result<Packet, String> {
        let syn = tcp.flags.contains(TcpFlags::SYN);
        let acks = tcp.flags.contains(TcpFlags::ACK);
        if self.stage == Stage::Awaited {
            let remote_port = self.remote_port.wrapping_add(1).max(FIRST_EPHEMERAL_PORT);
            *self = Connection {
                stage: Stage::Asked,
                remote_port,
                remote_initial: tcp.seq,
                ..Connection::none()
            };
        } else if self.stage == Stage::SynSent && syn && acks {
            self.stage = Stage::Open;
            self.remote_initial = tcp.seq;
        }
        let absolute = tcp.counted == Counted::Absolute;
        let of_peer = if syn || absolute { 0 } else { self.remote_initial };
        let of_stack = self.of_stack(syn);
        let (remote_port, local_port) = spec.ports.unwrap_or((0, 0));
        let or_own = |port, own| if port == 0 { own } else { port };
        let mut options = tcp.options.clone().unwrap_or_default();
        for option in &mut options {
            match option {
                OptionSpec::Sack(blocks) => shift(blocks, of_stack),
                OptionSpec::Timestamps { echo, .. } if acks => {
                    *echo = self.sent_timestamp(*echo, echoes_scaled)?;
                }
                _ => {}
            }
        }
        Ok(Packet {
            local_port: or_own(local_port, self.local_port),
            remote_port: or_own(remote_port, self.remote_port),
            ecn: inbound_ecn(spec.ip.service),
            dscp: match spec.ip.service {
                Service::Tos(tos) => tos & !3,
                _ => 0,
            },
            flags: tcp.flags | ace_flags(tcp.ace),
            seq: SeqNumber::new(tcp.seq.wrapping_add(of_peer)),
            ack: SeqNumber::new(if acks { tcp.ack.wrapping_add(of_stack) } else { tcp.ack }),
            window: tcp.window.unwrap_or_default(),
            urgent: tcp.urgent,
            options,
            len: tcp.len,
            joined: None,
            cause: None,
        })
    }

    /// The message to put in where the script writes `icmp`, which quotes what begins at `seq`.
    pub(super) fn icmp(&self, icmp: &IcmpSpec, seq: u32) -> IcmpMessage {
        IcmpMessage {
            kind: icmp.kind.clone(),
            code: icmp.code.clone(),
            mtu: icmp.mtu.unwrap_or(0),
            local_port: self.local_port,
            remote_port: self.remote_port,
            seq: SeqNumber::new(seq.wrapping_add(self.of_stack(false))),
        }
    }

    /// Learns from a packet that stands where the script expects `expected`: initial numbers.
    pub(super) fn learn(&mut self, expected: &TcpSpec, packet: &Packet) {
        let syn = packet.flags.contains(TcpFlags::SYN) && expected.flags.contains(TcpFlags::SYN);
        self.stage = match self.stage {
            Stage::Connecting if syn => Stage::SynSent,
            Stage::Asked if syn => Stage::Open,
            _ => return,
        };
        self.local_port = packet.local_port;
        self.local_initial = [expected.seq, packet.seq.as_u32()];
    }

    /// `packet` as the script would write it.
    pub(super) fn outbound(&self, packet: &Packet) -> PacketSpec {
        let syn = packet.flags.contains(TcpFlags::SYN);
        let of_peer = if syn { 0 } else { self.remote_initial };
        let of_stack = self.of_stack(syn);
        let acks = packet.flags.contains(TcpFlags::ACK);
        let mut options = packet.options.clone();
        for option in &mut options {
            match option {
                OptionSpec::Sack(blocks) => shift(blocks, of_peer.wrapping_neg()),
                OptionSpec::Timestamps { value, .. } => {
                    if let Some((script, live)) = self.first_timestamp {
                        *value = script.wrapping_add(value.wrapping_sub(live));
                    }
                }
                _ => {}
            }
        }
        let ack = packet.ack.as_u32();
        let tcp = TcpSpec {
            flags: packet.flags,
            ace: None,
            seq: packet.seq.as_u32().wrapping_sub(of_stack),
            counted: Counted::FromInitial,
            len: packet.len,
            ack: if acks { ack.wrapping_sub(of_peer) } else { ack },
            window: Some(packet.window),
            urgent: packet.urgent,
            options: Some(options),
        };
        let service = match packet.ecn {
            Ecn::NotEct => Service::Unsaid,
            ecn => Service::Ecn(ecn),
        };
        PacketSpec {
            encapsulations: Vec::new(),
            ip: IpSpec { service, ..IpSpec::default() },
            psp: None,
            ports: None,
            udp: None,
            body: Body::Tcp(tcp),
        }
    }

    /// The script writes `script` where the stack sent `live`.
    pub(super) fn learn_timestamp(&mut self, script: u32, live: u32) {
        self.timestamps.insert(script, live);
        self.first_timestamp.get_or_insert((script, live));
    }

    /// What to add to a number of the stack's as the script writes it. Numbers in a SYN are whole,
    /// all others relative to the initial one.
    fn of_stack(&self, syn: bool) -> u32 {
        let [script, live] = self.local_initial;
        if syn { live.wrapping_sub(script) } else { live }
    }

    fn sent_timestamp(&self, script: u32, scaled: bool) -> Result<u32, String> {
        if let Some(live) = self.timestamps.get(&script) {
            return Ok(*live);
        }
        match self.first_timestamp {
            Some((first, live)) if scaled => Ok(live.wrapping_add(script.wrapping_sub(first))),
            _ => {
                Err(format!("timestamp {script} is echoed, but no packet was expected to carry it"))
            }
        }
    }
}

fn shift(blocks: &mut [(u32, u32)], by: u32) {
    for (left, right) in blocks {
        *left = left.wrapping_add(by);
        *right = right.wrapping_add(by);
    }
}

/// Accurate ECN's counter as flags (RFC 9768 section 3.2.2).
pub(super) fn ace_flags(ace: Option<u8>) -> TcpFlags {
    let bits = [TcpFlags::ECE, TcpFlags::CWR, TcpFlags::AE];
    let ace = ace.unwrap_or(0);
    let set = bits.into_iter().enumerate().filter(|(bit, _)| ace >> bit & 1 == 1);
    set.fold(TcpFlags::NONE, |flags, (_, flag)| flags | flag)
}

fn inbound_ecn(service: Service) -> Ecn {
    match service {
        Service::Unsaid | Service::Ect01 | Service::Dscp(_) => Ecn::NotEct,
        Service::Ecn(ecn) => ecn,
        Service::Tos(tos) => match tos & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        },
    }
}
