//! A stack of few rules, to hold the run loop against.
//!
//! It listens or connects, answers SYN, sends what is written in segments of 1000 bytes, sends the
//! first again when 200 ms have passed without acknowledgement, acknowledges data after 40 ms, and
//! knows nothing else. Its initial sequence number and its clock begin far from the scripts' zero.

use std::collections::VecDeque;

use tcplab_packetdrill::ast::OptionSpec;
use tcplab_packetdrill::{
    LOCAL_PORT, Outcome, Packet, REMOTE_PORT, Refusal, Reply, Subject, SystemCall, constant,
};
use tcplab_units::{Instant, Span};
use tcplab_wire::{Ecn, SeqNumber, TcpFlags};

const INITIAL: u32 = 4_294_967_000;
const CLOCK: u32 = 77_000;

#[derive(Default)]
pub(crate) struct Fake {
    remote_port: u16,
    local_port: u16,
    next: u32,
    unacked: u32,
    expected: u32,
    unread: u32,
    established: bool,
    accepting: bool,
    timestamps: Option<u32>,
    out: VecDeque<Packet>,
    retransmission: Option<(Instant, Packet)>,
    delayed_ack: Option<Instant>,
    returned: Option<Outcome>,
    pub(crate) settings: Vec<String>,
    pub(crate) restless: bool,
}

impl Fake {
    fn packet(&self, now: Instant, flags: TcpFlags, seq: u32, len: u32) -> Packet {
        let mut options = Vec::new();
        if flags.contains(TcpFlags::SYN) {
            options.push(OptionSpec::Mss(1000));
        }
        if let Some(echo) = self.timestamps {
            let value = CLOCK + (now.as_nanos() / 1_000_000) as u32;
            options.extend([OptionSpec::Nop, OptionSpec::Nop]);
            options.push(OptionSpec::Timestamps { value, echo });
        }
        Packet {
            local_port: self.local_port,
            remote_port: self.remote_port,
            ecn: Ecn::NotEct,
            dscp: 0,
            flags,
            seq: SeqNumber::new(seq),
            ack: SeqNumber::new(if flags.contains(TcpFlags::ACK) { self.expected } else { 0 }),
            window: 500,
            urgent: 0,
            options,
            len,
            joined: None,
            cause: None,
        }
    }

    fn send(&mut self, now: Instant, packet: Packet) {
        self.retransmission.get_or_insert((now + Span::from_millis(200), packet.clone()));
        self.out.push_back(packet);
    }

    fn established(&mut self) {
        self.established = true;
        if std::mem::take(&mut self.accepting) {
            self.returned = Some(Outcome::value(20));
        }
    }
}

impl Subject for Fake {
    fn set(&mut self, _now: Instant, name: &str, value: &str) -> Result<(), Refusal> {
        if name.contains("fastopen=") || name == "net.ipv4.nothing" {
            return Err(Refusal("no such thing".into()));
        }
        self.settings.push(format!("{name} = {value}"));
        Ok(())
    }

    fn call(&mut self, now: Instant, call: &SystemCall) -> Reply {
        let outcome = match call {
            SystemCall::Socket { .. } => Outcome::value(10),
            SystemCall::Bind { .. }
            | SystemCall::Listen { .. }
            | SystemCall::Close { .. }
            | SystemCall::SetOption { level: 1, .. }
            | SystemCall::Control { .. } => Outcome::value(0),
            SystemCall::GetOption { .. } => Outcome { values: vec![1000], ..Outcome::value(0) },
            SystemCall::Accept { fd: 10 } if self.established => Outcome::value(20),
            SystemCall::Accept { fd: 10 } => {
                self.accepting = true;
                return Reply::Blocked;
            }
            SystemCall::Connect { fd: 10 } => {
                (self.local_port, self.remote_port) = (50_000, REMOTE_PORT);
                (self.next, self.unacked) = (INITIAL.wrapping_add(1), INITIAL);
                let syn = self.packet(now, TcpFlags::SYN, INITIAL, 0);
                self.send(now, syn);
                Outcome::error("EINPROGRESS")
            }
            SystemCall::Send { fd: 20, flags: 0, parts, .. } => {
                let len: u32 = parts.iter().sum();
                let mut rest = len;
                while rest > 0 {
                    let piece = rest.min(1000);
                    rest -= piece;
                    let last = if rest == 0 { TcpFlags::PSH } else { TcpFlags::NONE };
                    let packet = self.packet(now, TcpFlags::ACK | last, self.next, piece);
                    self.next = self.next.wrapping_add(piece);
                    self.send(now, packet);
                }
                Outcome::value(i64::from(len))
            }
            SystemCall::Receive { fd: 20, len, flags: 0, .. } if self.unread > 0 => {
                let read = self.unread.min(*len);
                self.unread -= read;
                Outcome::value(i64::from(read))
            }
            SystemCall::Receive { fd: 20, flags: 0, .. } => Outcome::error("EAGAIN"),
            _ => return Reply::Refused(Refusal("a call the fake does not know".into())),
        };
        Reply::Returned(outcome)
    }

    fn returned(&mut self, _now: Instant) -> Option<Outcome> {
        self.returned.take()
    }

    fn receive(&mut self, now: Instant, packet: &Packet) -> Result<(), Refusal> {
        let echo = packet.options.iter().find_map(|option| match option {
            OptionSpec::Timestamps { value, .. } => Some(*value),
            _ => None,
        });
        let syn = packet.flags.contains(TcpFlags::SYN);
        let acks = packet.flags.contains(TcpFlags::ACK);
        if syn {
            self.timestamps = echo;
            self.expected = packet.seq.as_u32().wrapping_add(1);
        }
        if syn && !acks {
            (self.local_port, self.remote_port) = (LOCAL_PORT, packet.remote_port);
            (self.next, self.unacked) = (INITIAL.wrapping_add(1), INITIAL);
            let answer = self.packet(now, TcpFlags::SYN | TcpFlags::ACK, INITIAL, 0);
            self.send(now, answer);
            return Ok(());
        }
        if acks && packet.ack.distance_from(SeqNumber::new(self.unacked)) > 0 {
            self.unacked = packet.ack.as_u32();
            self.retransmission = None;
            if !self.established {
                self.established();
            }
        }
        if syn {
            let ack = self.packet(now, TcpFlags::ACK, self.next, 0);
            self.out.push_back(ack);
        }
        if packet.len > 0 && packet.seq.as_u32() == self.expected {
            self.expected = self.expected.wrapping_add(packet.len);
            self.unread += packet.len;
            self.delayed_ack = Some(now + Span::from_millis(40));
        }
        Ok(())
    }

    fn transmit(&mut self, _now: Instant) -> Option<Packet> {
        self.out.pop_front()
    }

    fn wake_at(&self) -> Option<Instant> {
        let restless = self.restless.then_some(Instant::ZERO);
        let timers = [self.retransmission.as_ref().map(|(at, _)| *at), self.delayed_ack, restless];
        timers.into_iter().flatten().min()
    }

    fn wake(&mut self, now: Instant) {
        if self.delayed_ack.is_some_and(|at| at <= now) {
            self.delayed_ack = None;
            let ack = self.packet(now, TcpFlags::ACK, self.next, 0);
            self.out.push_back(ack);
        }
        if let Some((at, packet)) = self.retransmission.clone()
            && at <= now
        {
            self.out.push_back(packet.clone());
            self.retransmission = Some((now + Span::from_millis(400), packet));
        }
    }

    fn tcp_info(&mut self, _now: Instant, fd: i64, field: &str) -> Option<i64> {
        match field {
            "tcpi_state" if fd == 20 || fd == 10 => constant("TCP_ESTABLISHED"),
            "tcpi_unacked" => Some(i64::from(self.next.wrapping_sub(self.unacked)) / 1000),
            _ => None,
        }
    }
}
