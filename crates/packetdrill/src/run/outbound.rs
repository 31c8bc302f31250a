//! Packets that the script expects.

use tcplab_units::{Instant, Span};
use tcplab_wire::{Ecn, SeqNumber, TcpFlags};

use super::outcome::{Failure, Stop};
use super::translation::ace_flags;
use super::{Due, Runner, Sent, tcp_alone};
use crate::ast::{Body, Counted, Event, IpSpec, OptionSpec, PacketSpec, Service, TcpSpec, Time};
use crate::notation::{seconds, written};
use crate::packet::Packet;

/// The wait for a packet past its latest valid time, to report how late it is.
const PATIENCE: Span = Span::from_secs(2);
/// The wait for a packet that is valid at any time.
const LONG_PATIENCE: Span = Span::from_secs(100_000);

impl Runner<'_> {
    /// The next packet that the stack sends must be `spec`.
    pub(super) fn expect(
        &mut self,
        event: &Event,
        spec: &PacketSpec,
        due: Due,
    ) -> Result<(), Stop> {
        let expected = tcp_alone(event.at, spec)?;
        let patience = if due.any { LONG_PATIENCE } else { PATIENCE };
        let deadline = due.to + self.tolerance(due) + patience;
        let mut joined: Option<Joined> = None;
        loop {
            let Some(sent) = self.next_sent(event, deadline)? else {
                let what = format!("no packet was sent by {}", written(deadline));
                let actual = joined.map(|joined| self.line(joined.time, &joined.packet));
                return Err(failed(event, spec, what, actual));
            };
            self.now = self.now.max(sent.time);
            self.connection.learn(expected, &sent.packet);
            self.note_sent(&sent);
            let Sent { time, packet, .. } = sent;
            match &mut joined {
                None => {
                    let begins = self.begins(expected, &packet);
                    joined = Some(Joined { time, pieces: vec![packet.len], packet });
                    if !begins {
                        break;
                    }
                }
                Some(before) if before.fits(&packet, expected.len) => before.push(time, packet),
                // What does not come behind it is a packet by itself.
                Some(before) if packet.seq != before.end() => break,
                Some(before) => {
                    let parts = [(before.time, &before.packet), (time, &packet)]
                        .map(|(time, part)| self.line(time, part));
                    let what = "the segments cannot be joined".into();
                    let actual = Some(parts.join("\n            "));
                    return Err(failed(event, spec, what, actual));
                }
            }
            let whole = joined.as_ref().is_some_and(|joined| joined.packet.len >= expected.len);
            if whole || self.rules.strict_segments {
                break;
            }
        }
        let Some(Joined { time, packet, pieces }) = joined else { return Ok(()) };
        self.judge(event, spec, due, time, &packet).map_err(|stop| match stop {
            Stop::Failed(mut failure) if pieces.len() > 1 => {
                let pieces: Vec<String> = pieces.iter().map(ToString::to_string).collect();
                failure.what.push_str(&format!(" (sent in pieces of {})", pieces.join(", ")));
                Stop::Failed(failure)
            }
            stop => stop,
        })
    }

    fn judge(
        &mut self,
        event: &Event,
        spec: &PacketSpec,
        due: Due,
        time: Instant,
        packet: &Packet,
    ) -> Result<(), Stop> {
        let expected = tcp_alone(event.at, spec)?;
        let clock = |options: Option<&Vec<OptionSpec>>| {
            options.into_iter().flatten().find_map(|option| match option {
                OptionSpec::Timestamps { value, .. } => Some(*value),
                _ => None,
            })
        };
        let clocks = (clock(expected.options.as_ref()), clock(Some(&packet.options)));
        if let (Some(script), Some(live)) = clocks {
            self.connection.learn_timestamp(script, live);
        }
        let Some(found) = self.counted_as(expected, packet) else { return Ok(()) };
        let slack = self.rules.tolerance(due.to.since(Instant::ZERO));
        let tick = self.rules.timestamp_tick;
        let what = header_difference(expected, &found)
            .or_else(|| service_difference(spec.ip, packet))
            .or_else(|| option_difference(expected, &found, tick, slack))
            .or_else(|| self.time_difference(event.time, due, time));
        match what {
            Some(what) => Err(failed(event, spec, what, Some(self.line(time, packet)))),
            None => Ok(()),
        }
    }

    /// Whether the packet can be the first of several that are `expected` as one.
    fn begins(&self, expected: &TcpSpec, packet: &Packet) -> bool {
        let Some(found) = self.counted_as(expected, packet) else { return true };
        let flags = inner(expected.flags | ace_flags(expected.ace));
        let part = TcpSpec { len: found.len, flags, ace: None, ..expected.clone() };
        let found = TcpSpec { flags: inner(found.flags), ..found };
        packet.len > 0 && header_difference(&part, &found).is_none()
    }

    /// The segment of `packet`, with numbers as the script counts those of `expected`.
    fn counted_as(&self, expected: &TcpSpec, packet: &Packet) -> Option<TcpSpec> {
        let Body::Tcp(mut found) = self.connection.outbound(packet).body else { return None };
        if expected.counted == Counted::Absolute {
            found.seq = packet.seq.as_u32();
        }
        Some(found)
    }

    /// The next packet of the script's connection, sent until `deadline`.
    fn next_sent(&mut self, event: &Event, deadline: Instant) -> Result<Option<Sent>, Stop> {
        self.collect();
        loop {
            while let Some(sent) = self.sent.pop_front() {
                if self.connection.has_sent(&sent.packet) {
                    return Ok(Some(sent));
                }
                self.note_sent(&sent);
            }
            if !self.wake_before(event.at, deadline)? {
                return Ok(None);
            }
        }
    }

    fn tolerance(&self, due: Due) -> Span {
        let since = self.last.map_or(Instant::ZERO, |last| last.time);
        self.rules.tolerance(due.from.since(since))
    }

    fn time_difference(&self, time: Time, due: Due, sent: Instant) -> Option<String> {
        let tolerance = self.tolerance(due);
        let in_time = sent + tolerance >= due.from && sent <= due.to + tolerance;
        (!due.any && !in_time).then(|| {
            let due = match time {
                Time::Between(..) | Time::AfterBetween(..) => {
                    format!("between {} and {}", written(due.from), written(due.to))
                }
                _ => format!("at {}", written(due.from)),
            };
            format!("sent at {}, expected {due} ± {} s", written(sent), seconds(tolerance))
        })
    }

    fn line(&self, time: Instant, packet: &Packet) -> String {
        format!("{} > {}", written(time), self.connection.outbound(packet))
    }
}

/// Contiguous segments as one.
struct Joined {
    /// When the last was sent.
    time: Instant,
    /// Data bytes of each.
    pieces: Vec<u32>,
    packet: Packet,
}

impl Joined {
    /// The sequence number behind its data.
    fn end(&self) -> SeqNumber {
        self.packet.seq.advanced_by(self.packet.len)
    }

    /// Whether `next` can stand behind. All have the same header, except for what changes at the
    /// ends, and only the last may be shorter.
    fn fits(&self, next: &Packet, expected: u32) -> bool {
        let whole = &self.packet;
        next.seq == self.end()
            && inner(next.flags) == inner(whole.flags)
            && (next.ack, next.window) == (whole.ack, whole.window)
            && (next.ecn, next.urgent) == (whole.ecn, whole.urgent)
            && (self.pieces.last() == Some(&next.len) || whole.len + next.len >= expected)
    }

    fn push(&mut self, time: Instant, next: Packet) {
        let whole = &self.packet;
        let first_cwr = TcpFlags::from_bits(whole.flags.bits() & TcpFlags::CWR.bits());
        self.pieces.push(next.len);
        self.time = time;
        self.packet = Packet {
            seq: whole.seq,
            len: whole.len + next.len,
            flags: next.flags.without(TcpFlags::CWR) | first_cwr,
            ..next
        };
    }
}

/// The flags without those that differ at the ends of data sent in pieces: FIN and PSH are in the
/// last, CWR in the first (RFC 3168 section 6.1.2).
fn inner(flags: TcpFlags) -> TcpFlags {
    flags.without(TcpFlags::FIN | TcpFlags::PSH | TcpFlags::CWR)
}

fn failed(event: &Event, spec: &PacketSpec, what: String, actual: Option<String>) -> Stop {
    let expected = Some(format!("{} > {spec}", event.time));
    Stop::Failed(Failure { at: event.at, what, expected, actual })
}

fn header_difference(expected: &TcpSpec, found: &TcpSpec) -> Option<String> {
    let flags = expected.flags | ace_flags(expected.ace);
    let numbers = [
        ("data bytes", expected.len, found.len),
        ("first sequence number", expected.seq, found.seq),
        ("acknowledgement number", expected.ack, found.ack),
    ];
    let any_sequence = expected.counted == Counted::AnySequence;
    let judged =
        numbers.into_iter().filter(|(name, ..)| !any_sequence || !name.starts_with("first"));
    let wrong = judged.into_iter().find(|(_, expected, found)| expected != found);
    if let Some((name, expected, found)) = wrong {
        return Some(format!("the {name}: expected {expected}, found {found}"));
    }
    if flags != found.flags {
        return Some("the flags differ".into());
    }
    if expected.window.is_some() && expected.window != found.window {
        return Some("the window differs".into());
    }
    (expected.urgent != found.urgent).then(|| "the urgent pointer differs".into())
}

fn service_difference(ip: IpSpec, packet: &Packet) -> Option<String> {
    let found = packet.ecn;
    let tos = packet.dscp | found as u8;
    let (right, what) = match ip.service {
        Service::Unsaid => (true, String::new()),
        Service::Ect01 => {
            let right = matches!(found, Ecn::Ect0 | Ecn::Ect1);
            (right, format!("ECN field: expected ECT(0) or ECT(1), found {}", codepoint(found)))
        }
        Service::Ecn(expected) => {
            let [expected_name, found_name] = [expected, found].map(codepoint);
            (found == expected, format!("ECN field: expected {expected_name}, found {found_name}"))
        }
        Service::Tos(expected) => {
            (expected == tos, format!("TOS: expected {expected:#04x}, found {tos:#04x}"))
        }
        Service::Dscp(expected) => {
            let dscp = packet.dscp >> 2;
            (expected == dscp, format!("DSCP: expected {expected:#04x}, found {dscp:#04x}"))
        }
    };
    (!right).then(|| format!("the IP header's {what}"))
}

/// The name of a codepoint of the ECN field (RFC 3168 section 5).
fn codepoint(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not ECT",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ce => "CE",
    }
}

/// Options must be the same in the same order. Timestamps are judged by the rate of their clock, if
/// the script gives it; what they echo is not judged, as packetdrill does not.
fn option_difference(
    expected: &TcpSpec,
    found: &TcpSpec,
    tick: Option<Span>,
    slack: Span,
) -> Option<String> {
    let (Some(expected), Some(found)) = (&expected.options, &found.options) else { return None };
    let same = |pair: (&OptionSpec, &OptionSpec)| match pair {
        (OptionSpec::Timestamps { value: a, .. }, OptionSpec::Timestamps { value: b, .. }) => {
            let ticks = u64::from((b.wrapping_sub(*a) as i32).unsigned_abs());
            tick.is_none_or(|tick| tick * ticks <= slack)
        }
        (a, b) => a == b,
    };
    // The end of the list and what pads behind it are one and the same.
    let significant = |options: &'_ [OptionSpec]| {
        let end = options.iter().position(|option| *option == OptionSpec::Eol);
        end.unwrap_or(options.len())
    };
    let (expected, found) = (&expected[..significant(expected)], &found[..significant(found)]);
    let right = expected.len() == found.len() && expected.iter().zip(found).all(same);
    (!right).then(|| "the options differ".into())
}
