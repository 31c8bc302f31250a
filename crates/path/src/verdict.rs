//! The verdict on a packet: the ground truth.

use std::fmt;

use tcplab_units::{Bytes, Instant, Span};

use crate::{Direction, Packet};

/// A packet that has left the link, with its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// The packet, also when it was dropped: to deliver, to write into a capture, to reuse.
    pub packet: Packet,
    /// Its verdict.
    pub verdict: Verdict,
}

/// What happened to one packet, when and why. Each packet gets exactly one verdict.
/// Instants are exact: the time on the link, not that of the poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Verdict {
    /// The packet's id.
    pub id: u64,
    /// Its direction. A world delivers by this, not by which link it polled.
    pub direction: Direction,
    /// Its length in bytes of IP.
    #[serde(rename = "size_bytes", with = "tcplab_units::number")]
    pub size: Bytes,
    /// When it arrived at the link.
    #[serde(rename = "entered_ns")]
    pub entered: Instant,
    /// Its time at the last bottleneck that it came to, if there is one and that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transmission: Option<Transmission>,
    /// When it left the link: delivered, dropped, or found there at the end of the trial.
    #[serde(rename = "left_ns")]
    pub left: Instant,
    /// How it left.
    pub fate: Fate,
    /// Of a packet that the link made itself: the one that it is a copy of, or an answer to. Cross
    /// traffic has none.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "origin_id")]
    pub origin: Option<u64>,
    /// Whether the link marked it as having met congestion (CE, RFC 3168).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked: bool,
    /// The first bit that the link changed, counted from the packet's first.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "corrupted_bit")]
    pub corrupted: Option<u32>,
    /// Of a packet that the link cut into fragments, each of which has a verdict: where this one's
    /// data begin in those of the packet. The first keeps the packet's id.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "fragment_offset_bytes")]
    pub fragment: Option<u16>,
    /// Whether it took the second of two paths.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub second_path: bool,
}

/// The bits of an IPv6 header that no checksum covers: traffic class and flow label, hop limit
/// (RFC 8200 sections 3 and 8.1).
const UNCOVERED: [std::ops::Range<u32>; 2] = [4..32, 56..64];

/// Ids from here on belong to packets that a link makes itself: copies, answers, cross traffic.
pub const FIRST_MADE_ID: u64 = 1 << 63;

impl Verdict {
    /// Whether the link made the packet itself, so that no endpoint ever sent it.
    pub const fn is_made(&self) -> bool {
        self.id >= FIRST_MADE_ID
    }
    /// Whether checksums show the receiver that the link changed the packet, so that it drops it.
    pub fn is_damaged(&self, is_ipv6: bool) -> bool {
        let shows = |bit| !is_ipv6 || UNCOVERED.iter().all(|bits| !bits.contains(&bit));
        self.corrupted.is_some_and(shows)
    }
    /// How long it was on the link.
    pub const fn time_on_link(&self) -> Span {
        self.left.since(self.entered)
    }
}

/// A packet's passage through a bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Transmission {
    /// When it came to the queue.
    #[serde(rename = "queued_ns")]
    pub queued: Instant,
    /// When its first bit was sent.
    #[serde(rename = "began_ns")]
    pub began: Instant,
    /// When its last bit was sent; lies after [`Verdict::left`] when the trial ended before.
    #[serde(rename = "ended_ns")]
    pub ended: Instant,
}

impl Transmission {
    /// How long it waited in the queue.
    pub const fn waited(&self) -> Span {
        self.began.since(self.queued)
    }
}

/// How a packet left the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It came out at the other end.
    Delivered,
    /// The link dropped it.
    Dropped(Cause),
    /// It was still on the link when the trial ended.
    StillOnLink,
    /// It was cross traffic, which leaves the path behind the bottleneck.
    Absorbed,
}

impl Fate {
    /// A short stable name for machine-readable logs.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Delivered => "delivered",
            Fate::Dropped(_) => "dropped",
            Fate::StillOnLink => "still-on-link",
            Fate::Absorbed => "absorbed",
        }
    }
    /// Why it was dropped, if it was.
    pub const fn cause(self) -> Option<Cause> {
        match self {
            Fate::Dropped(cause) => Some(cause),
            Fate::Delivered | Fate::StillOnLink | Fate::Absorbed => None,
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Delivered => f.write_str("delivered"),
            Fate::Dropped(cause) => cause.fmt(f),
            Fate::StillOnLink => f.write_str("still on the link when the trial ended"),
            Fate::Absorbed => f.write_str("cross traffic that left behind the bottleneck"),
        }
    }
}

/// Why a link dropped a packet. Shown as a plain sentence, for packet comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// There was no room in the queue.
    QueueFull {
        /// How many packets were waiting.
        packets: u32,
        /// How many bytes these have.
        #[serde(with = "tcplab_units::number")]
        bytes: Bytes,
    },
    /// Random loss hit it.
    Loss,
    /// The link was interrupted.
    Interruption {
        /// Which interruption of the trial, counted from 1.
        number: u64,
        /// When that began.
        #[serde(rename = "from_ns")]
        from: Instant,
        /// When that ended; a packet at this very instant passes.
        #[serde(rename = "until_ns")]
        to: Instant,
    },
    /// An active queue management dropped it before the queue was full.
    Aqm {
        /// Which discipline.
        discipline: Discipline,
        /// How long it had waited.
        #[serde(rename = "waited_ns", with = "tcplab_units::number")]
        waited: Span,
        /// How many packets were waiting.
        packets: u32,
    },
    /// A policer had no tokens for it.
    Policed,
    /// A rule of the scenario matched it.
    Rule {
        /// Which one, counted from 1.
        number: u32,
        /// Which of the packets that meet its conditions, counted from 1.
        nth: u64,
    },
    /// An event of the path named it: the next data segment.
    Event {
        /// Which of the events that drop, counted from 1.
        number: u32,
        /// Which of the packets that it drops, counted from 1.
        nth: u32,
    },
    /// It was larger than the limit.
    TooBig {
        /// The largest that passes, in bytes of IP.
        #[serde(rename = "limit_bytes", with = "tcplab_units::number")]
        limit: Bytes,
    },
    /// A NAT did not know its connection, or no longer.
    Forgotten,
    /// A black hole swallowed it.
    Blackhole,
    /// The retry limit of a wireless link was reached.
    RetriesExhausted {
        /// How often it was sent.
        attempts: u32,
    },
}

/// A queueing discipline that drops before its queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// Controlled Delay (RFC 8289).
    Codel,
    /// Flow Queue CoDel (RFC 8290).
    FqCodel,
    /// Proportional Integral controller Enhanced (RFC 8033).
    Pie,
    /// Random Early Detection (Floyd and Jacobson 1993).
    Red,
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Discipline::Codel => "CoDel",
            Discipline::FqCodel => "FQ-CoDel",
            Discipline::Pie => "PIE",
            Discipline::Red => "RED",
        })
    }
}

impl Cause {
    /// A short stable name for machine-readable logs.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::QueueFull { .. } => "queue-full",
            Cause::Loss => "loss",
            Cause::Interruption { .. } => "interruption",
            Cause::Aqm { .. } => "aqm",
            Cause::Policed => "policed",
            Cause::Rule { .. } => "rule",
            Cause::Event { .. } => "event",
            Cause::TooBig { .. } => "too-big",
            Cause::Forgotten => "forgotten",
            Cause::Blackhole => "blackhole",
            Cause::RetriesExhausted { .. } => "retries-exhausted",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cause::QueueFull { packets, bytes } => {
                let plural = if packets == 1 { "" } else { "s" };
                let bytes = bytes.as_u64();
                write!(f, "dropped by a full queue ({packets} packet{plural}, {bytes} B waiting)")
            }
            Cause::Loss => f.write_str("dropped by random loss"),
            Cause::Interruption { number, from, to } => {
                let [from, to] = in_seconds([from, to]);
                write!(f, "dropped by interruption {number} ({from} s to {to} s)")
            }
            Cause::Aqm { discipline, waited, packets } => {
                let plural = if packets == 1 { "" } else { "s" };
                write!(f, "dropped by {discipline} ")?;
                match waited {
                    Span::ZERO => f.write_str("as it came")?,
                    waited => write!(f, "after {waited}")?,
                }
                write!(f, " ({packets} packet{plural} waiting)")
            }
            Cause::Policed => f.write_str("dropped by a policer"),
            Cause::Rule { number, nth } => {
                write!(f, "dropped by rule {number} of the scenario (match {nth})")
            }
            Cause::Event { number, nth } => {
                write!(f, "dropped by event {number} that drops data segments (segment {nth})")
            }
            Cause::TooBig { limit } => {
                write!(f, "dropped: larger than the {} B that the link takes", limit.as_u64())
            }
            Cause::Forgotten => {
                f.write_str("dropped by a NAT that does not know its connection, or no longer")
            }
            Cause::Blackhole => f.write_str("dropped by a black hole"),
            Cause::RetriesExhausted { attempts } => {
                write!(f, "given up by a wireless link after {attempts} attempts")
            }
        }
    }
}

/// Two instants in seconds, with three decimals, or as many more as it takes to tell a hundredth of
/// the time between them.
fn in_seconds([from, to]: [Instant; 2]) -> [String; 2] {
    let between = to.as_nanos().abs_diff(from.as_nanos());
    let is_fine = |decimals: &usize| 10_u64.pow(9 - *decimals as u32) <= between / 100;
    let decimals = (3..9).find(is_fine).unwrap_or(9);
    let step = 10_u64.pow(9 - decimals as u32);
    [from, to].map(|at| {
        let nanos = at.as_nanos().saturating_add(step / 2);
        let rest = format!("{:09}", nanos % 1_000_000_000);
        let (milli, finer) = rest[..decimals].split_at(3);
        format!("{}.{milli}{}", nanos / 1_000_000_000, finer.trim_end_matches('0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fates_read_as_sentences_and_are_named_for_machines() {
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
        for (fate, name, cause, sentence) in [
            (Fate::Delivered, "delivered", None, "delivered"),
            (Fate::StillOnLink, "still-on-link", None, "still on the link when the trial ended"),
            (
                Fate::Dropped(Cause::Interruption { number: 2, from: ms(6000), to: ms(6200) }),
                "dropped",
                Some("interruption"),
                "dropped by interruption 2 (6.000 s to 6.200 s)",
            ),
            (
                Fate::Dropped(Cause::Interruption {
                    number: 1,
                    from: Instant::from_nanos(1_250),
                    to: ms(1),
                }),
                "dropped",
                Some("interruption"),
                "dropped by interruption 1 (0.000001 s to 0.001 s)",
            ),
            (
                Fate::Dropped(Cause::Interruption {
                    number: 3,
                    from: Instant::from_nanos(8_778_350_653),
                    to: Instant::from_nanos(9_078_350_653),
                }),
                "dropped",
                Some("interruption"),
                "dropped by interruption 3 (8.778 s to 9.078 s)",
            ),
            (
                Fate::Dropped(Cause::Interruption {
                    number: 1,
                    from: Instant::from_nanos(8_778_350_653),
                    to: Instant::from_nanos(8_778_390_653),
                }),
                "dropped",
                Some("interruption"),
                "dropped by interruption 1 (8.7783507 s to 8.7783907 s)",
            ),
            (
                Fate::Dropped(Cause::QueueFull { packets: 512, bytes: Bytes::new(768_000) }),
                "dropped",
                Some("queue-full"),
                "dropped by a full queue (512 packets, 768000 B waiting)",
            ),
            (Fate::Dropped(Cause::Loss), "dropped", Some("loss"), "dropped by random loss"),
            (
                Fate::Dropped(Cause::Aqm {
                    discipline: Discipline::FqCodel,
                    waited: Span::from_millis(105),
                    packets: 70,
                }),
                "dropped",
                Some("aqm"),
                "dropped by FQ-CoDel after 105 ms (70 packets waiting)",
            ),
            (
                Fate::Dropped(Cause::Aqm {
                    discipline: Discipline::Red,
                    waited: Span::ZERO,
                    packets: 1,
                }),
                "dropped",
                Some("aqm"),
                "dropped by RED as it came (1 packet waiting)",
            ),
        ] {
            assert_eq!(fate.to_string(), sentence);
            assert_eq!((fate.name(), fate.cause().map(Cause::name)), (name, cause), "{sentence}");
        }
    }

    #[test]
    fn verdict_is_logged_in_plain_numbers() {
        let verdict = Verdict {
            id: 7,
            direction: Direction::Forward,
            size: Bytes::new(1500),
            entered: Instant::from_nanos(5),
            transmission: None,
            left: Instant::from_nanos(9),
            fate: Fate::Dropped(Cause::QueueFull { packets: 2, bytes: Bytes::new(3000) }),
            origin: None,
            marked: false,
            corrupted: None,
            fragment: None,
            second_path: false,
        };
        let line = serde_json::to_string(&verdict).unwrap();
        assert_eq!(
            line,
            r#"{"id":7,"direction":"forward","size_bytes":1500,"entered_ns":5,"left_ns":9,"fate":{"dropped":{"queue-full":{"packets":2,"bytes":3000}}}}"#
        );
        assert_eq!(serde_json::from_str::<Verdict>(&line).unwrap(), verdict);
    }
}
