//! Datagrams that measure latency each way: a probe, and the answer with the times of the other
//! host. Both have 64 bytes, so that an answer to a forged address is no larger than what asked
//! for it. Numbers are big-endian.
//!
//! | bytes | hello | welcome | probe | answer |
//! |---|---|---|---|---|
//! | 0–7 | `tcplabL0` | `tcplabL1` | `tcplabL2` | `tcplabL3` |
//! | 8–15 | session | session | session | session |
//! | 16–23 | 0 | token | number | number |
//! | 24–31 | 0 | mark of the host | token | received at, ns |
//! | 32–39 | 0 | received at, ns | 0 | sent at, ns |
//! | 40–47 | 0 | sent at, ns | 0 | numbers received |
//! | 48–55 | 0 | numbers received | 0 | duplicates received |
//! | 56–63 | 0 | duplicates received | 0 | 0 |

use std::hash::{DefaultHasher, Hash, Hasher};

/// Bytes of each of these datagrams.
pub const PROBE_BYTES: usize = 64;
const WORDS: usize = PROBE_BYTES / 8;
const NAME: u64 = u64::from_be_bytes(*b"tcplabL0");

/// A datagram of a measurement of latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// The client begins a session, or asks what has arrived of it.
    Hello {
        /// A random number that the client chose.
        session: u64,
    },
    /// The server answers a hello.
    Welcome {
        /// The client's.
        session: u64,
        /// What probes must carry: only who receives at the client's address knows it.
        token: u64,
        /// The host of the server, as [`host_mark`] makes it.
        host: u64,
        /// The server's times and counts.
        seen: ProbeTimes,
    },
    /// The client asks for the time.
    Ask {
        /// The client's.
        session: u64,
        /// From 0 on.
        number: u64,
        /// From the welcome.
        token: u64,
    },
    /// The server answers a probe.
    Answer {
        /// The client's.
        session: u64,
        /// The probe's.
        number: u64,
        /// The server's times and counts.
        seen: ProbeTimes,
    },
}

/// What a server says of its clock and of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProbeTimes {
    /// When it received the datagram, nanoseconds since the Unix epoch by its clock.
    pub received_at: u64,
    /// When it answered.
    pub sent_at: u64,
    /// Different numbers that arrived so far; 0 where it does not count this session.
    pub received: u64,
    /// Numbers that arrived once more.
    pub duplicates: u64,
}

impl Probe {
    /// Reads a datagram; none if it is not one of these.
    pub fn read(datagram: &[u8]) -> Option<Probe> {
        let bytes: &[u8; PROBE_BYTES] = datagram.try_into().ok()?;
        let (words, _) = bytes.as_chunks::<8>();
        let mut it = words.iter().map(|word| u64::from_be_bytes(*word));
        let [kind, session, rest @ ..]: [u64; WORDS] =
            std::array::from_fn(|_| it.next().unwrap_or(0));
        let seen = |counts: [u64; 4]| {
            let [received_at, sent_at, received, duplicates] = counts;
            ProbeTimes { received_at, sent_at, received, duplicates }
        };
        match (kind.wrapping_sub(NAME), rest) {
            (0, [0, 0, 0, 0, 0, 0]) => Some(Probe::Hello { session }),
            (1, [token, host, counts @ ..]) => {
                Some(Probe::Welcome { session, token, host, seen: seen(counts) })
            }
            (2, [number, token, 0, 0, 0, 0]) => Some(Probe::Ask { session, number, token }),
            (3, [number, counts @ .., 0]) => {
                Some(Probe::Answer { session, number, seen: seen(counts) })
            }
            _ => None,
        }
    }

    /// The datagram.
    pub fn bytes(&self) -> [u8; PROBE_BYTES] {
        let words: [u64; WORDS] = match *self {
            Probe::Hello { session } => [NAME, session, 0, 0, 0, 0, 0, 0],
            Probe::Welcome { session, token, host, seen } => {
                let ProbeTimes { received_at, sent_at, received, duplicates } = seen;
                [NAME + 1, session, token, host, received_at, sent_at, received, duplicates]
            }
            Probe::Ask { session, number, token } => [NAME + 2, session, number, token, 0, 0, 0, 0],
            Probe::Answer { session, number, seen } => {
                let ProbeTimes { received_at, sent_at, received, duplicates } = seen;
                [NAME + 3, session, number, received_at, sent_at, received, duplicates, 0]
            }
        };
        let mut bytes = [0; PROBE_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }
}

/// Marks a host in one session: both ends of a session that have the same `boot_id` run on one
/// kernel, whose clock is one. Says nothing about the host to others. 0 where it has no `boot_id`.
pub fn host_mark(boot_id: &str, session: u64) -> u64 {
    if boot_id.trim().is_empty() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    (session, boot_id.trim()).hash(&mut hasher);
    hasher.finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: ProbeTimes = ProbeTimes { received_at: 5, sent_at: 6, received: 7, duplicates: 8 };
    const ALL: [Probe; 4] = [
        Probe::Hello { session: u64::MAX },
        Probe::Welcome { session: 1, token: 2, host: 3, seen: SEEN },
        Probe::Ask { session: 1, number: 2, token: 3 },
        Probe::Answer { session: 1, number: 2, seen: SEEN },
    ];

    #[test]
    fn each_kind_is_read_as_it_was_written() {
        for probe in ALL {
            assert_eq!(Probe::read(&probe.bytes()), Some(probe));
        }
        let bytes = Probe::Ask { session: 0x0102, number: 3, token: 4 }.bytes();
        assert_eq!(bytes[..8], *b"tcplabL2");
        assert_eq!(bytes[8..24], [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
    }

    #[test]
    fn other_datagrams_are_not_read() {
        for probe in ALL {
            let bytes = probe.bytes();
            assert_eq!(Probe::read(&bytes[..63]), None, "short");
            assert_eq!(Probe::read(&[&bytes[..], &[0]].concat()), None, "long");
            for wrong in [0, 6, 7] {
                let mut other = bytes;
                other[wrong] ^= 0x40;
                assert_eq!(Probe::read(&other), None, "byte {wrong} of {probe:?}");
            }
        }
        let mut padded = ALL[2].bytes();
        padded[63] = 1;
        assert_eq!(Probe::read(&padded), None, "what must be 0 is not");
        assert_eq!(Probe::read(b""), None);
    }

    #[test]
    fn host_mark_is_of_a_host_and_a_session() {
        assert_eq!(host_mark("a\n", 1), host_mark("a", 1));
        assert_ne!(host_mark("a", 1), host_mark("a", 2));
        assert_ne!(host_mark("a", 1), host_mark("b", 1));
        assert_eq!(host_mark("", 1), 0);
    }
}
