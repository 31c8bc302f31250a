//! Which probes are on their way, and what answers to them mean. Without clock and socket.

use std::collections::VecDeque;
use std::time::Duration;

use tcplab_units::{PROBE_BYTES, Probe, ProbeTimes};

use super::clock::Sample;
use super::event::{ProbeEvent, Way};
use super::record::{Record, nanos};

/// Counts of probes and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) answered: u64,
    /// Without an answer in time.
    pub(crate) lost: u64,
    /// Answers after the timeout, or once more after it.
    pub(crate) late: u64,
    /// Answers that came once more.
    pub(crate) duplicates: u64,
    /// Answers that came after one to a later probe.
    pub(crate) reordered: u64,
    /// Datagrams that are no answer to a probe of this session.
    pub(crate) ignored: u64,
    /// Probes that the server says it received, of tokens before this one.
    before: (u64, u64),
    /// The same of this one.
    now: (u64, u64),
    /// Whether the server said that it does not count.
    is_uncounted: bool,
}

impl Counts {
    /// Different probes that arrived, and duplicates of them; none if the server counted not all.
    pub(crate) fn arrived(&self) -> Option<(u64, u64)> {
        let (received, duplicates) = self.now;
        let all = (self.before.0 + received, self.before.1 + duplicates);
        (!self.is_uncounted && all.0 > 0).then_some(all)
    }
}

/// The lost probes by their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LostWays {
    pub(crate) there: u64,
    pub(crate) back: u64,
    /// After the last answer: nothing says on which way.
    pub(crate) unknown: u64,
}

/// The client's end of a session.
#[derive(Debug)]
pub(crate) struct Prober {
    session: u64,
    token: u64,
    timeout: Duration,
    /// The client's clock at the beginning, nanoseconds since the Unix epoch.
    began: i64,
    /// The probes whose time is not over, from number `first` on.
    waiting: VecDeque<Waiting>,
    first: u64,
    /// The highest number that was answered.
    highest: Option<u64>,
    /// Of probes below this number it is known on which way the lost ones were lost; the server had
    /// received so many.
    known: (u64, u64),
    /// Probes from there on that are lost: when the first and the last were sent, and how many.
    unknown: Option<(i64, i64, u64)>,
    pub(crate) counts: Counts,
    pub(crate) record: Record,
    /// What was learnt since it was taken.
    pub(crate) events: Vec<ProbeEvent>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    sent: Duration,
    is_answered: bool,
    /// Where it is, if it is lost.
    way: Option<Way>,
}

impl Prober {
    pub(crate) fn new(
        (session, token): (u64, u64),
        timeout: Duration,
        began: i64,
        record: Record,
    ) -> Prober {
        Prober {
            session,
            token,
            timeout,
            began,
            waiting: VecDeque::new(),
            first: 0,
            highest: None,
            known: (0, 0),
            unknown: None,
            counts: Counts::default(),
            record,
            events: Vec::new(),
        }
    }

    /// The next probe; it is sent at `now`, since the beginning.
    pub(crate) fn probe(&mut self, now: Duration) -> [u8; PROBE_BYTES] {
        let number = self.sent();
        self.waiting.push_back(Waiting { sent: now, is_answered: false, way: None });
        Probe::Ask { session: self.session, number, token: self.token }.bytes()
    }

    /// Asks the server what has arrived; after a restart of the server the answer has a new token.
    pub(crate) fn hello(&self) -> [u8; PROBE_BYTES] {
        Probe::Hello { session: self.session }.bytes()
    }

    /// Probes sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.first + self.waiting.len() as u64
    }

    /// Whether all probes were answered or are lost.
    pub(crate) fn is_done(&self) -> bool {
        self.waiting.iter().all(|it| it.is_answered)
    }

    /// Counts probes as lost whose time is over.
    pub(crate) fn expire(&mut self, now: Duration) {
        while let Some(over) = self.waiting.front().copied()
            && over.sent + self.timeout <= now
        {
            self.waiting.pop_front();
            self.first += 1;
            if over.is_answered {
                continue;
            }
            let at = nanos(over.sent);
            if over.way.is_none() {
                let (from, _, count) = self.unknown.unwrap_or((at, at, 0));
                self.unknown = Some((from, at, count + 1));
            }
            self.counts.lost += 1;
            self.learn(ProbeEvent::Lost { at, way: over.way });
        }
    }

    /// Takes what is known now.
    pub(crate) fn learn(&mut self, event: ProbeEvent) {
        self.record.take(&event);
        self.events.push(event);
    }

    /// On which way the lost ones were lost, as far as is known; none if the server counts not all.
    pub(crate) fn lost_ways(&self) -> Option<LostWays> {
        self.counts.arrived()?;
        let (sent, received) = self.known;
        let unknown = self.unknown.map_or(0, |(_, _, count)| count).min(self.counts.lost);
        let known = self.counts.lost - unknown;
        let there = sent.saturating_sub(received).min(known);
        Some(LostWays { there, back: known - there, unknown })
    }

    /// When all is over and the server has said once more what it has received, it is known on
    /// which way the last probes were lost.
    pub(crate) fn explain_last(&mut self) {
        if let Some((received, _)) = self.counts.arrived() {
            self.explain(self.sent(), received + 1);
        }
    }

    /// An answer to a number, the highest so far, says how many the server has received: so it is
    /// known how many probes before it were lost on their way there. Which of them is not known;
    /// the first are taken.
    fn explain(&mut self, number: u64, received: u64) {
        let (first, before) = self.known;
        if number < first {
            return;
        }
        self.known = (number + 1, received.max(before));
        let arrived = received.saturating_sub(before).saturating_sub(1);
        let mut missing = (number - first).saturating_sub(arrived);
        if let Some((from, until, count)) = self.unknown.take() {
            let there = missing.min(count);
            missing -= there;
            self.learn(ProbeEvent::Explained { from, until, there, back: count - there });
        }
        let [from, until] = [first, number].map(|it| it.saturating_sub(self.first) as usize);
        for waiting in self.waiting.range_mut(from..until.min(self.waiting.len())) {
            let is_there = missing > 0 && !waiting.is_answered;
            missing -= u64::from(is_there);
            waiting.way = Some(if is_there { Way::There } else { Way::Back });
        }
    }

    /// Takes a datagram that arrived at `now`. Says whether it is a welcome.
    pub(crate) fn receive(&mut self, datagram: &[u8], now: Duration) -> bool {
        match Probe::read(datagram) {
            Some(Probe::Answer { session, number, seen })
                if session == self.session && number < self.sent() =>
            {
                self.answer(number, seen, now);
                false
            }
            Some(Probe::Welcome { session, token, seen, .. }) if session == self.session => {
                if token != self.token {
                    self.counts.before.0 += self.counts.now.0;
                    self.counts.before.1 += self.counts.now.1;
                    self.counts.now = (0, 0);
                    self.token = token;
                }
                self.note(seen);
                true
            }
            _ => {
                self.counts.ignored += 1;
                false
            }
        }
    }

    fn answer(&mut self, number: u64, seen: ProbeTimes, now: Duration) {
        self.counts.is_uncounted |= seen.received == 0;
        self.note(seen);
        let place = number.checked_sub(self.first).and_then(|it| usize::try_from(it).ok());
        let waiting = place.and_then(|place| self.waiting.get_mut(place));
        let Some(waiting) = waiting.filter(|it| it.sent + self.timeout > now) else {
            self.counts.late += 1;
            return;
        };
        if waiting.is_answered {
            self.counts.duplicates += 1;
            return;
        }
        waiting.is_answered = true;
        let sent = waiting.sent;
        self.counts.answered += 1;
        if let Some((received, _)) = self.counts.arrived() {
            self.explain(number, received);
        }
        self.counts.reordered += u64::from(self.highest > Some(number));
        self.highest = self.highest.max(Some(number));
        let clock = |at: Duration| i128::from(self.began) + at.as_nanos() as i128;
        let sample = Sample {
            at: nanos(sent),
            there: difference(seen.received_at.into(), clock(sent)),
            back: difference(clock(now), seen.sent_at.into()),
        };
        self.learn(ProbeEvent::Answered(sample));
    }

    /// Counts only grow; answers may overtake each other.
    fn note(&mut self, seen: ProbeTimes) {
        let (received, duplicates) = self.counts.now;
        // A server cannot have received more than was sent.
        self.counts.now =
            (received.max(seen.received.min(self.sent())), duplicates.max(seen.duplicates));
    }
}

fn difference(later: i128, earlier: i128) -> i64 {
    (later - earlier).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::clock::Clock;
    use crate::probes::points::SeriesPoint;

    const SESSION: u64 = 7;
    const MS: Duration = Duration::from_millis(1);

    fn prober(probes: u32) -> Prober {
        let record = Record::new(10 * MS);
        let mut prober = Prober::new((SESSION, 99), 1_000 * MS, 0, record);
        for number in 0..probes {
            prober.probe(10 * MS * number);
        }
        prober
    }

    fn series(prober: &Prober) -> Vec<SeriesPoint> {
        prober.record.points().series(&Clock::same(), i64::MAX)
    }

    /// The server received it 3 ms after it was sent, and answered after 1 ms more.
    fn answer(number: u64, received: u64) -> Probe {
        let received_at = number * 10_000_000 + 3_000_000;
        let sent_at = received_at + 1_000_000;
        let seen = ProbeTimes { received_at, sent_at, received, duplicates: 0 };
        Probe::Answer { session: SESSION, number, seen }
    }

    #[test]
    fn loss_is_divided_by_way() {
        let mut prober = prober(10);
        // 2 and 3 were lost there, the answers to 5, 6 and 7 on their way back.
        for (number, received) in [(0, 1), (1, 2), (4, 3), (8, 7), (9, 8)] {
            let now = 10 * MS * number as u32 + 9 * MS;
            assert!(!prober.receive(&answer(number, received).bytes(), now));
        }
        assert!(!prober.is_done());
        prober.expire(2_000 * MS);
        assert!(prober.is_done());
        assert_eq!((prober.counts.answered, prober.counts.lost), (5, 5));
        assert_eq!(prober.counts.arrived(), Some((8, 0)));
        let [idle] = &prober.record.phases(&Clock::same())[..] else { panic!("no load") };
        let ways: Vec<_> = series(&prober).iter().map(|it| (it.lost_there, it.lost_back)).collect();
        assert_eq!(ways, [(2, 3)]);
        let near = |found: u64, ms: u64| found.abs_diff(ms * 1_000_000) < 10_000;
        assert!(near(idle.there.p50, 3) && near(idle.back.p50, 5) && near(idle.rtt.p50, 8));
    }

    #[test]
    fn long_losses_are_divided_by_way_when_an_answer_comes() {
        let mut prober = prober(400);
        prober.receive(&answer(0, 1).bytes(), 9 * MS);
        // 1 to 299 are lost for longer than the timeout; of these 50 arrived.
        prober.expire(4_000 * MS);
        assert_eq!(prober.lost_ways(), Some(LostWays { there: 0, back: 0, unknown: 300 }));
        let unknown: u64 = series(&prober).iter().map(|it| it.lost_there + it.lost_back).sum();
        assert_eq!(unknown, 0);
        prober.receive(&answer(350, 102).bytes(), 4_050 * MS);
        assert_eq!(prober.lost_ways(), Some(LostWays { there: 249, back: 51, unknown: 0 }));
        let last = ProbeTimes { received: 111, ..ProbeTimes::default() };
        let welcome = Probe::Welcome { session: SESSION, token: 99, host: 0, seen: last };
        prober.expire(10_000 * MS);
        assert!(prober.receive(&welcome.bytes(), 10_000 * MS));
        prober.explain_last();
        let sums = series(&prober).iter().fold((0, 0, 0), |(lost, there, back), it| {
            (lost + it.lost, there + it.lost_there, back + it.lost_back)
        });
        // 400 were sent, and 111 received; answers to 0 and 350 came back.
        assert_eq!(sums, (398, 289, 109));
        let explained =
            prober.events.iter().filter(|it| matches!(it, ProbeEvent::Explained { .. }));
        assert_eq!(explained.count(), 2, "once for each silence");
    }

    #[test]
    fn silence_at_the_end_has_no_way_until_the_server_says_it() {
        let mut prober = prober(10);
        // 1 was lost there; nothing is heard after the answer to 3.
        for (number, received) in [(0, 1), (2, 2), (3, 3)] {
            prober.receive(&answer(number, received).bytes(), 50 * MS);
        }
        prober.expire(Duration::MAX);
        assert_eq!(prober.lost_ways(), Some(LostWays { there: 1, back: 0, unknown: 6 }));
        let [point] = &series(&prober)[..] else { panic!("one point has all") };
        assert_eq!((point.lost, point.lost_there, point.lost_back), (7, 1, 0));
        // It had received all but 1: the answers were lost.
        let seen = ProbeTimes { received: 9, ..ProbeTimes::default() };
        let welcome = Probe::Welcome { session: SESSION, token: 99, host: 0, seen };
        assert!(prober.receive(&welcome.bytes(), 5_000 * MS));
        prober.explain_last();
        assert_eq!(prober.lost_ways(), Some(LostWays { there: 1, back: 6, unknown: 0 }));
    }

    #[test]
    fn reordering_duplicates_and_late_answers_are_counted() {
        let mut prober = prober(3);
        for number in [1, 0, 0, 2] {
            prober.receive(&answer(number, 3).bytes(), 50 * MS);
        }
        let Counts { reordered, duplicates, answered, .. } = prober.counts;
        assert_eq!((reordered, duplicates, answered), (1, 1, 3));
        prober.expire(5_000 * MS);
        prober.receive(&answer(2, 3).bytes(), 5_000 * MS);
        assert_eq!((prober.counts.late, prober.counts.lost), (1, 0), "a replay changes nothing");
    }

    #[test]
    fn answer_after_the_timeout_is_late_before_its_probe_is_given_up() {
        let mut prober = prober(1);
        prober.receive(&answer(0, 1).bytes(), 1_000 * MS);
        assert_eq!((prober.counts.answered, prober.counts.late), (0, 1));
        prober.expire(Duration::MAX);
        assert_eq!((prober.counts.answered, prober.counts.lost), (0, 1));
    }

    #[test]
    fn foreign_datagrams_do_not_count() {
        let mut prober = prober(3);
        let good = answer(1, 2);
        let Probe::Answer { seen, .. } = good else { panic!("it is one") };
        for bad in [
            good.bytes()[..63].to_vec(),
            Vec::new(),
            Probe::Answer { session: SESSION + 1, number: 1, seen }.bytes().to_vec(),
            Probe::Answer { session: SESSION, number: 3, seen }.bytes().to_vec(),
            Probe::Ask { session: SESSION, number: 1, token: 99 }.bytes().to_vec(),
            Probe::Welcome { session: 1, token: 1, host: 1, seen }.bytes().to_vec(),
        ] {
            assert!(!prober.receive(&bad, 20 * MS));
        }
        assert_eq!(prober.counts, Counts { ignored: 6, ..Counts::default() });
    }

    #[test]
    fn restarted_server_is_counted_on() {
        let mut prober = prober(4);
        prober.receive(&answer(0, 1).bytes(), 20 * MS);
        let seen = ProbeTimes::default();
        let welcome = Probe::Welcome { session: SESSION, token: 100, host: 0, seen };
        assert!(prober.receive(&welcome.bytes(), 20 * MS));
        prober.receive(&answer(3, 1).bytes(), 40 * MS);
        assert_eq!(prober.counts.arrived(), Some((2, 0)));
        let token = Probe::read(&prober.probe(50 * MS));
        assert!(matches!(token, Some(Probe::Ask { token: 100, number: 4, .. })));
    }

    #[test]
    fn server_that_does_not_count_divides_no_loss() {
        let mut prober = prober(2);
        prober.receive(&answer(0, 0).bytes(), 20 * MS);
        prober.receive(&answer(1, 1).bytes(), 20 * MS);
        assert_eq!(prober.counts.arrived(), None);
    }
}
