//! Sessions of `tcplab latency`: what has arrived of each, so that a client can tell whether its
//! probes or their answers were lost.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tcplab_units::{Probe, ProbeTimes, host_mark};

/// Sessions that are counted at once. Others are answered and not counted.
const MOST: usize = 1024;
/// A session without a probe for this long makes room for another.
const IDLE: Duration = Duration::from_secs(120);
/// Numbers below the highest whose arrival is remembered, to tell duplicates.
const WINDOW: u64 = u128::BITS as u64;

/// The sessions of a server. Only a client that receives at its address has one: probes need a
/// token that the server makes from the address with a secret of its own, as SYN cookies are.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    secret: RandomState,
    counted: Mutex<HashMap<(SocketAddr, u64), Counted>>,
}

/// What has arrived of a session.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    received: u64,
    duplicates: u64,
    /// One more than the highest number.
    end: u64,
    /// Bit `i`: whether `end - 1 - i` has arrived.
    arrived: u128,
    /// When the last one came, since the Unix epoch.
    last: Duration,
}

impl Sessions {
    /// The answer to a datagram that arrived at `now`; `then` tells when it is sent. Both are
    /// times since the Unix epoch.
    pub(crate) fn answer(
        &self,
        datagram: &[u8],
        from: SocketAddr,
        now: Duration,
        then: impl Fn() -> Duration,
    ) -> Option<Vec<u8>> {
        let seen = |counted: Counted| ProbeTimes {
            received_at: now.as_nanos() as u64,
            sent_at: then().as_nanos() as u64,
            received: counted.received,
            duplicates: counted.duplicates,
        };
        let answer = match Probe::read(datagram)? {
            Probe::Hello { session } => {
                let key = (from, session);
                let counted = self.lock().get(&key).copied().unwrap_or_default();
                let token = self.secret.hash_one(key);
                let host = host_mark(&BOOT_ID, session);
                Probe::Welcome { session, token, host, seen: seen(counted) }
            }
            Probe::Ask { session, number, token } => {
                let key = (from, session);
                if token != self.secret.hash_one(key) {
                    return None;
                }
                Probe::Answer { session, number, seen: seen(self.count(key, number, now)) }
            }
            // What a server sends: two servers would answer each other for ever.
            Probe::Welcome { .. } | Probe::Answer { .. } => return None,
        };
        Some(answer.bytes().to_vec())
    }

    fn count(&self, key: (SocketAddr, u64), number: u64, now: Duration) -> Counted {
        let mut sessions = self.lock();
        if !sessions.contains_key(&key) && sessions.len() >= MOST {
            sessions.retain(|_, it| now.saturating_sub(it.last) < IDLE);
            if sessions.len() >= MOST {
                return Counted::default();
            }
        }
        let counted = sessions.entry(key).or_default();
        counted.last = now;
        counted.count(number);
        *counted
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(SocketAddr, u64), Counted>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn count(&mut self, number: u64) {
        let is_new = if number >= self.end {
            let further = number.saturating_add(1) - self.end;
            self.end += further;
            let kept = u32::try_from(further).ok().and_then(|by| self.arrived.checked_shl(by));
            self.arrived = kept.unwrap_or(0) | 1;
            true
        } else {
            let behind = self.end - 1 - number;
            // So late that it is not known: a duplicate that old is rarer than a late datagram.
            let bit = if behind < WINDOW { 1_u128 << behind } else { 0 };
            let is_new = bit == 0 || self.arrived & bit == 0;
            self.arrived |= bit;
            is_new
        };
        *if is_new { &mut self.received } else { &mut self.duplicates } += 1;
    }
}

/// The number of this boot of the kernel; empty where there is none.
static BOOT_ID: LazyLock<String> = LazyLock::new(|| {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_000);

    fn answer(sessions: &Sessions, probe: Probe, from: &str, now: Duration) -> Option<Probe> {
        let answer = sessions.answer(&probe.bytes(), from.parse().unwrap(), now, || now)?;
        Probe::read(&answer)
    }

    fn token(sessions: &Sessions, session: u64, from: &str) -> u64 {
        match answer(sessions, Probe::Hello { session }, from, NOW) {
            Some(Probe::Welcome { token, .. }) => token,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn probes_are_counted_once() {
        let sessions = Sessions::default();
        let from = "192.0.2.1:40000";
        let token = token(&sessions, 7, from);
        // Number, received so far, duplicates so far.
        for (number, received, duplicates) in [
            (0, 1, 0),
            (1, 2, 0),
            (1, 2, 1),
            (5, 3, 1),
            (4, 4, 1),
            (4, 4, 2),
            (200, 5, 2),
            (5, 6, 2),
            (u64::MAX, 7, 2),
        ] {
            let asked = Probe::Ask { session: 7, number, token };
            let Some(Probe::Answer { number: same, seen, .. }) =
                answer(&sessions, asked, from, NOW)
            else {
                panic!("no answer to {number}");
            };
            assert_eq!(same, number);
            assert_eq!((seen.received, seen.duplicates), (received, duplicates), "{number}");
            assert_eq!(seen.received_at, NOW.as_nanos() as u64);
        }
        let hello = answer(&sessions, Probe::Hello { session: 7 }, from, NOW);
        assert!(matches!(hello, Some(Probe::Welcome { seen, .. }) if seen.received == 7));
    }

    #[test]
    fn wrong_datagrams_are_not_answered() {
        let sessions = Sessions::default();
        let from = "192.0.2.1:40000";
        let token = token(&sessions, 7, from);
        let ask = |session, token| Probe::Ask { session, number: 0, token };
        for (probe, from) in [
            (ask(7, token ^ 1), from),
            (ask(8, token), from),
            (ask(7, token), "192.0.2.2:40000"),
            (ask(7, token), "192.0.2.1:40001"),
            (Probe::Answer { session: 7, number: 0, seen: ProbeTimes::default() }, from),
            (Probe::Welcome { session: 7, token, host: 0, seen: ProbeTimes::default() }, from),
        ] {
            assert_eq!(answer(&sessions, probe, from, NOW), None, "{probe:?} from {from}");
        }
        let short = &ask(7, token).bytes()[..63];
        assert_eq!(sessions.answer(short, from.parse().unwrap(), NOW, || NOW), None);
        assert!(sessions.lock().is_empty());
    }

    #[test]
    fn sessions_are_bounded() {
        let sessions = Sessions::default();
        let from = "192.0.2.1:40000";
        let received = |session, now| {
            let token = token(&sessions, session, from);
            match answer(&sessions, Probe::Ask { session, number: 0, token }, from, now) {
                Some(Probe::Answer { seen, .. }) => seen.received,
                other => panic!("{other:?}"),
            }
        };
        for session in 0..MOST as u64 {
            assert_eq!(received(session, NOW), 1);
        }
        assert_eq!(received(5_000, NOW), 0, "answered, and not counted");
        assert_eq!(received(5_000, NOW + IDLE), 1, "the idle ones have made room");
        assert_eq!(sessions.lock().len(), 1);
    }
}
