//! A history in steps that a small display has room for.

use tcplab_units::{Instant, Span};

use crate::history::{FlowSeries, History, INTERVAL, NO_THRESHOLD, SampleOf};
use crate::overview::{Overview, Step};

/// Intervals of a step: as often as samples are taken by default.
const INTERVALS_OF_STEP: u64 = 10;
/// Intervals by which the path's log may be behind the captures while both grow.
const LATE: u64 = 5 * INTERVALS_OF_STEP;

impl Overview {
    /// The length of a step.
    pub const STEP: Span = Span::from_nanos(INTERVAL.as_nanos() * INTERVALS_OF_STEP);
}

impl History {
    /// The latest steps, at most so many.
    pub fn overview(&self, most: usize) -> Overview {
        let mut overview = Overview {
            drops: self.drops.clone(),
            retransmissions: self.retransmissions,
            knows_path: self.knows_path(),
            is_over: self.is_over(),
            ..Overview::default()
        };
        let Some(last_interval) = self.last_interval() else { return overview };
        let last = last_interval / INTERVALS_OF_STEP;
        let first = (last + 1).saturating_sub(most as u64);
        overview.at = Instant::ZERO + Span::from_nanos(Overview::STEP.as_nanos() * (last + 1));
        overview.over = self.step_that_goes_on(last_interval).saturating_sub(first) as usize;
        overview.steps = vec![Step::default(); (last + 1 - first) as usize];
        let place = |interval: u64| (interval / INTERVALS_OF_STEP).checked_sub(first);
        self.add_path(&mut overview.steps, &place);
        self.add_flows(&mut overview.steps, &place);
        self.add_samples(&mut overview.steps, &place);
        overview
    }

    /// The first step that may get more bytes. What passed may be read much later than the samples,
    /// on a busy machine: it decides how far all is known. Where the samples show that nothing
    /// came meanwhile, steps pass without it, but for the last and the one before.
    fn step_that_goes_on(&self, last_interval: u64) -> u64 {
        let passed = self.last_of_path().or(self.last_of_flows());
        let reached = passed.map_or(0, |last| (last + 1) / INTERVALS_OF_STEP);
        if self.something_came_after(passed) {
            return reached;
        }
        reached.max((last_interval / INTERVALS_OF_STEP).saturating_sub(1))
    }

    /// Whether a socket got data or acknowledgements after this interval, as samples say: what left
    /// the path in it has come to the socket when the next is over. One sample after that counts
    /// from the one before.
    fn something_came_after(&self, interval: Option<u64>) -> bool {
        let came = |of: &SampleOf| (of.sample.bytes_acked, of.sample.bytes_received);
        let next = interval.map(|it| it + 1);
        self.samples.iter().any(|samples| {
            let before = samples.before(|it| Some(it.interval) <= next);
            let first = samples.after(before.min(samples.len().saturating_sub(2))).next();
            first.map(came) != samples.last().map(came)
        })
    }

    fn last_interval(&self) -> Option<u64> {
        let samples = self.samples.iter().filter_map(|end| end.last()).map(|it| it.interval);
        samples.chain(self.last_of_path()).chain(self.last_of_flows()).max()
    }

    fn last_of_path(&self) -> Option<u64> {
        self.path.iter().filter_map(|way| way.last()).map(|it| it.interval).max()
    }

    fn last_of_flows(&self) -> Option<u64> {
        self.flows.iter().filter_map(|flow| flow.sums.last()).map(|it| it.interval).max()
    }

    /// Whether the path's log was read about as far as the captures.
    fn knows_path(&self) -> bool {
        let captures = self.last_of_flows();
        self.last_of_path().is_some_and(|log| {
            self.is_over() || captures.is_none_or(|captures| captures <= log + LATE)
        })
    }

    /// Whether the client sends more than the server.
    fn is_forward(&self) -> bool {
        let data = |forward: bool| -> u64 {
            let flows = self.flows.iter().filter(|flow| flow.key.forward == forward);
            flows.flat_map(|flow| flow.sums.iter()).map(|sums| sums.bytes).sum()
        };
        data(true) >= data(false)
    }

    fn add_path(&self, steps: &mut [Step], place: &impl Fn(u64) -> Option<u64>) {
        for (way, sums) in self.path.iter().enumerate() {
            for sums in sums.iter().rev() {
                let Some(at) = place(sums.interval) else { break };
                let step = &mut steps[at as usize];
                step.bytes[way] += sums.bytes;
                step.dropped += sums.dropped;
                step.queue = step.queue.max(sums.waited);
            }
        }
    }

    fn add_flows(&self, steps: &mut [Step], place: &impl Fn(u64) -> Option<u64>) {
        let (is_forward, has_path) = (self.is_forward(), self.path.iter().any(|it| !it.is_empty()));
        for FlowSeries { key, sums, .. } in &self.flows {
            // The last of a step comes first here.
            let mut seen = None;
            for sums in sums.iter().rev() {
                let Some(at) = place(sums.interval) else { break };
                let step = &mut steps[at as usize];
                if !has_path {
                    step.bytes[usize::from(!key.forward)] += sums.bytes;
                }
                if key.forward == is_forward && seen != Some(at) {
                    *step.in_flight.get_or_insert(0) += sums.in_flight;
                    seen = Some(at);
                }
            }
        }
    }

    fn add_samples(&self, steps: &mut [Step], place: &impl Fn(u64) -> Option<u64>) {
        let samples = &self.samples[usize::from(!self.is_forward())];
        // From the last one before the first step.
        let before = samples.before(|it| place(it.interval).is_none());
        let mut of_step = samples.after(before.saturating_sub(1)).peekable();
        let mut latest: Option<&SampleOf> = None;
        for (at, step) in steps.iter_mut().enumerate() {
            while let Some(sample) =
                of_step.next_if(|it| place(it.interval).is_none_or(|place| place <= at as u64))
            {
                latest = Some(sample);
            }
            let Some(SampleOf { sample, .. }) = latest else { continue };
            let bytes = |segments: u64| segments * sample.snd_mss_bytes;
            step.rtt = (sample.rtt_us > 0).then(|| Span::from_micros(sample.rtt_us));
            step.cwnd = Some(bytes(sample.cwnd_segments));
            let has_threshold = sample.ssthresh_segments != NO_THRESHOLD;
            step.ssthresh = has_threshold.then(|| bytes(sample.ssthresh_segments));
        }
    }
}

#[cfg(test)]
mod tests {
    use tcplab_path::{Cause, Direction, Fate, Verdict};
    use tcplab_recording::Sample;
    use tcplab_trace::Ack;
    use tcplab_units::{Bytes, Endpoint, Offset};

    use super::*;
    use crate::history::FlowKey;

    fn ms(at: u64) -> Instant {
        Instant::from_nanos(at * 1_000_000)
    }

    fn verdict(at: u64, direction: Direction, fate: Fate) -> Verdict {
        let (size, left) = (Bytes::new(1_000), ms(at));
        Verdict {
            id: at,
            direction,
            size,
            entered: left,
            transmission: None,
            left,
            fate,
            origin: None,
            marked: false,
            corrupted: None,
            fragment: None,
            second_path: false,
        }
    }

    fn sample(at: u64, cwnd_segments: u64, ssthresh_segments: u64) -> Sample {
        let empty = Sample::empty(ms(at), Endpoint::Client);
        Sample { cwnd_segments, ssthresh_segments, rtt_us: 40_000, snd_mss_bytes: 1_000, ..empty }
    }

    fn ack() -> Ack {
        Ack {
            at: ms(199),
            frame: 1,
            flags: tcplab_trace::TcpFlags::ACK,
            ack: Offset::new(1_001),
            window: None,
            sack: Vec::new(),
            dsack: None,
            duplicate: false,
            reset: false,
            zero: false,
            has_data: false,
            in_flight: Bytes::ZERO,
            comment: None,
            dropped: false,
            copied: false,
        }
    }

    #[test]
    fn steps_hold_sums_and_keep_the_latest_sample() {
        let mut history = History::default();
        assert_eq!(history.overview(10), Overview::default());
        let forward = Direction::Forward;
        for at in [10, 90, 150] {
            history.verdict(&verdict(at, forward, Fate::Delivered));
        }
        history.verdict(&verdict(160, Direction::Reverse, Fate::Delivered));
        history.verdict(&verdict(170, forward, Fate::Dropped(Cause::Loss)));
        history.verdict(&verdict(330, forward, Fate::Delivered));
        history.sample(&sample(5, 10, NO_THRESHOLD));
        history.sample(&sample(205, 20, 15));
        let overview = history.overview(10);
        assert_eq!((overview.at, overview.steps.len()), (ms(400), 4));
        assert_eq!(overview.over, 3);
        let bytes: Vec<[u64; 2]> = overview.steps.iter().map(|step| step.bytes).collect();
        assert_eq!(bytes, [[2_000, 0], [1_000, 1_000], [0, 0], [1_000, 0]]);
        let cwnd: Vec<_> = overview.steps.iter().map(|step| (step.cwnd, step.ssthresh)).collect();
        let [before, after] = [(Some(10_000), None), (Some(20_000), Some(15_000))];
        assert_eq!(cwnd, [before, before, after, after]);
        assert_eq!(overview.drops, [("loss", 1)].into());
        assert_eq!((overview.steps[1].dropped, overview.steps[3].rtt.is_some()), (1, true));
        // A short display begins with the sample before it.
        let short = history.overview(1);
        assert_eq!((short.steps.len(), short.steps[0].cwnd), (1, Some(20_000)));
        // The last interval of a step ends it.
        history.verdict(&verdict(399, forward, Fate::Delivered));
        assert_eq!(history.overview(10).over, 4);
        // The path's log comes later than samples, but not by a whole step.
        for (at, over) in [(405, 4), (505, 4), (605, 5)] {
            history.sample(&sample(at, 20, 15));
            assert_eq!(history.overview(10).over, over, "{at}");
        }
        assert_eq!((history.overview(1).over, history.overview(2).over), (0, 0));
        assert_eq!(history.overview(3).over, 1);
    }

    /// The path's log ends at 0.4 s: where it is late, and where nothing came any more.
    #[test]
    fn step_is_over_when_the_log_of_the_path_has_reached_its_end() {
        let over = |acked: &[(u64, u64)]| {
            let mut history = History::default();
            for at in (5..400).step_by(10) {
                history.verdict(&verdict(at, Direction::Forward, Fate::Delivered));
            }
            for (at, bytes_acked) in acked {
                history.sample(&Sample { bytes_acked: *bytes_acked, ..sample(*at, 10, 15) });
            }
            let overview = history.overview(20);
            assert!(overview.steps[..4].iter().all(|step| step.bytes[0] == 10_000));
            (overview.steps.len(), overview.over)
        };
        for (acked, expected) in [
            // It is 0.5 s late: the sender was sent acknowledgements meanwhile.
            (&[(315, 3), (415, 4), (515, 5), (615, 6), (715, 7), (815, 8), (915, 9)][..], (10, 4)),
            // They ended, and the log is still late.
            (&[(315, 3), (415, 4), (515, 5), (615, 6), (715, 6), (815, 6), (915, 6)], (10, 4)),
            // Nothing came after what the log has, but for what was on its way to the socket.
            (&[(315, 3), (415, 4), (515, 4), (615, 4), (715, 4), (815, 4), (915, 4)], (10, 8)),
            (&[(305, 3), (405, 3), (505, 4), (605, 4), (705, 4), (805, 4), (905, 4)], (10, 8)),
            // Samples are rare: the only one after the log may count what came before or after.
            (&[(105, 1), (905, 4)], (10, 4)),
            (&[(105, 1), (505, 4), (905, 4)], (10, 8)),
            (&[], (4, 4)),
        ] {
            assert_eq!(over(acked), expected, "{acked:?}");
        }
    }

    /// The log of a trial in virtual time may be read seconds of its time after the captures.
    #[test]
    fn path_is_known_once_its_log_has_reached_the_captures() {
        let known = |logged: Option<u64>, acked: u64| {
            let mut history = History::default();
            if let Some(at) = logged {
                history.verdict(&verdict(at, Direction::Forward, Fate::Delivered));
            }
            let flow = FlowKey { connection: 0, forward: true, ends: None };
            history.ack(flow, &ack(), ms(acked), None);
            let read = history.overview(10).knows_path;
            (0..4).for_each(|_| history.ended());
            (read, history.overview(10).knows_path)
        };
        assert_eq!(known(None, 100), (false, false));
        assert_eq!(known(Some(100), 3_000), (false, true));
        assert_eq!(known(Some(2_800), 3_000), (true, true));
    }

    /// Both ends on one host: captures alone have what passed, and may be as late.
    #[test]
    fn step_without_a_path_is_over_when_the_captures_have_reached_its_end() {
        let flow = FlowKey { connection: 0, forward: true, ends: None };
        let ack = ack();
        for (acked, over) in [([1, 2, 3, 4], 2), ([1, 2, 2, 2], 4)] {
            let mut history = History::default();
            history.ack(flow, &ack, ack.at, None);
            for (at, bytes_acked) in [105, 215, 405, 505].into_iter().zip(acked) {
                history.sample(&Sample { bytes_acked, ..sample(at, 10, 15) });
            }
            assert_eq!(history.overview(20).over, over, "{acked:?}");
        }
    }
}
