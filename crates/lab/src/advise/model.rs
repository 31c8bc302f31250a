//! What a connection gets out of a path by the formulas of the literature.

use tcplab_units::{Bytes, Rate, Span};

use super::situation::Situation;

/// √(3/2): Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion
/// avoidance algorithm" (1997), equation 3, where every segment is counted, as Linux and RFC 3465
/// do.
const MATHIS: f64 = 1.224_744_871_391_589;
/// RFC 9438 section 5.1, equation 6, with C = 0.4 and β = 0.7.
const CUBIC: f64 = 1.054;
/// BBR probes for more bandwidth and for a shorter round trip: of each 10 s it spends 200 ms with
/// four segments in flight (`bbr_probe_rtt_mode_ms` in tcp_bbr.c).
const BBR: f64 = 0.98;
/// BBR delivers what the path carries but for what is lost, or close to it, up to this loss
/// (Cardwell and others, "BBR: Congestion-Based Congestion Control", 2016, figure 8). Near 20 %,
/// where probing with 1.25 of its rate finds no more than that rate, it collapses; no formula says
/// how.
const BBR_LOSS_MAX: f64 = 0.15;
/// Segments of the first flight (RFC 6928).
const FIRST_FLIGHT: f64 = 10.0;

/// A congestion control as far as a formula describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    Reno,
    Cubic,
    Bbr,
}

impl Law {
    pub(crate) fn named(name: &str) -> Option<Law> {
        match name {
            "reno" => Some(Law::Reno),
            "cubic" => Some(Law::Cubic),
            "bbr" => Some(Law::Bbr),
            _ => None,
        }
    }

    /// That of the situation's congestion control; none where it is not known, or no formula
    /// describes it.
    pub(super) fn of(situation: &Situation) -> Option<Law> {
        Law::named(situation.congestion.name.as_deref()?)
    }

    /// As people write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Law::Reno => "Reno",
            Law::Cubic => "CUBIC",
            Law::Bbr => "BBR",
        }
    }

    /// The mean congestion window in segments at random loss `p` of a path with this round trip;
    /// none where loss does not decide it.
    pub(crate) fn window(self, round_trip: Span, p: f64) -> Option<f64> {
        if p <= 0.0 {
            return None;
        }
        let reno = MATHIS / p.sqrt();
        match self {
            Law::Reno => Some(reno),
            // Below the window that Reno would have it grows as Reno does (section 4.3).
            Law::Cubic => Some((CUBIC * (round_trip.as_secs_f64() / p).powf(0.75)).max(reno)),
            Law::Bbr => None,
        }
    }

    /// Whether no formula says what it delivers at this loss.
    pub(super) fn is_unknown(self, situation: &Situation) -> bool {
        self == Law::Bbr && situation.loss > BBR_LOSS_MAX
    }

    /// To what a loss reduces the window (RFC 5681 section 3.1, RFC 9438 section 4.6).
    fn beta(self) -> f64 {
        if self == Law::Cubic { 0.7 } else { 0.5 }
    }

    /// Payload a second of a transfer of the situation's size, its beginning included: the window
    /// round trip by round trip, where of all segments each 1/p-th is lost. None where nothing
    /// bounds it, or no formula describes it.
    pub(crate) fn goodput(self, situation: &Situation, window: Option<Bytes>) -> Option<Rate> {
        let time = self.transfer_time(situation, window)?;
        Rate::of(situation.payload, time)
    }

    /// From connecting until the last byte has arrived.
    pub(crate) fn transfer_time(
        self,
        situation: &Situation,
        window: Option<Bytes>,
    ) -> Option<Span> {
        if self.is_unknown(situation) {
            return None;
        }
        let segment = situation.segment().as_u64().max(1) as f64;
        let whole = (situation.payload.as_u64() as f64 / segment).max(1.0);
        let round_trip = situation.rtt.as_secs_f64();
        let mut sender = Sender::of(self, situation, window);
        // One to connect, and half of one for the last byte.
        let (mut sent, mut time) = (0.0, 1.5 * round_trip);
        for _ in 0..ROUND_TRIPS_MAX {
            let (flight, lasting) = sender.round_trip(time);
            if sent + flight >= whole {
                // What is left is sent at the pace of the round trip.
                let rest = (whole - sent) / flight * (lasting - round_trip).max(0.0);
                return Some(Span::from_secs_f64(time + rest));
            }
            sent += flight;
            time += lasting;
            sender.lose(sent, time);
        }
        None
    }
}

/// Transfers that take more round trips are not reckoned to their end.
const ROUND_TRIPS_MAX: u32 = 1_000_000;

/// A window, in segments, and what moves it.
struct Sender {
    law: Law,
    window: f64,
    threshold: f64,
    /// What the receiver's window and the send buffer let through.
    most: f64,
    round_trip: f64,
    /// Segments a second through the bottleneck.
    rate: Option<f64>,
    /// What the bottleneck's queue holds.
    queue: f64,
    /// What arrives of what BBR sends; the others' windows count their losses already.
    arriving: f64,
    /// Segments between two losses, and when the next is.
    spacing: f64,
    next_loss: f64,
    /// CUBIC: the window before the last reduction, when that was, and the window that Reno would
    /// have.
    plateau: f64,
    since: f64,
    reno: f64,
}

impl Sender {
    fn of(law: Law, situation: &Situation, window: Option<Bytes>) -> Sender {
        let segment = situation.segment().as_u64().max(1) as f64;
        let rate =
            situation.ideal_goodput().map(|rate| rate.bits_per_second() as f64 / 8.0 / segment);
        let queue = situation.queue.unwrap_or(situation.rtt).as_secs_f64();
        let spacing = if situation.loss > 0.0 { 1.0 / situation.loss } else { f64::INFINITY };
        Sender {
            law,
            window: FIRST_FLIGHT,
            threshold: f64::INFINITY,
            most: window.map_or(f64::INFINITY, |it| (it.as_u64() as f64 / segment).max(1.0)),
            round_trip: situation.rtt.as_secs_f64(),
            rate,
            queue: rate.map_or(f64::INFINITY, |rate| rate * queue),
            arriving: if law == Law::Bbr { 1.0 - situation.loss } else { 1.0 },
            spacing,
            next_loss: spacing,
            plateau: 0.0,
            since: 0.0,
            reno: 0.0,
        }
    }

    /// What a round trip that begins at that time delivers, and how long it lasts; the window
    /// grows.
    fn round_trip(&mut self, time: f64) -> (f64, f64) {
        let full = self.rate.map_or(f64::INFINITY, |rate| rate * self.round_trip);
        let paced = if self.law == Law::Bbr { full * BBR } else { f64::INFINITY };
        let flight = self.window.min(self.most).min(paced);
        let lasting = self.rate.map_or(0.0, |rate| flight / rate).max(self.round_trip);
        let is_slow_start = self.window < self.threshold;
        if is_slow_start && self.window >= full {
            // HyStart (RFC 9406) and BBR see the round trip grow, and leave.
            self.threshold = self.window;
            (self.plateau, self.since, self.reno) = (self.window, time, self.window);
        } else if is_slow_start {
            self.window = (self.window * 2.0).min(self.threshold);
        } else if self.law == Law::Reno {
            self.window += 1.0;
        } else if self.law == Law::Cubic {
            self.grow_as_cubic(time + lasting);
        }
        (flight * self.arriving, lasting)
    }

    /// RFC 9438 sections 4.2 and 4.3, with C = 0.4.
    fn grow_as_cubic(&mut self, time: f64) {
        let beta = self.law.beta();
        let start = (self.plateau * (1.0 - beta) / 0.4).cbrt();
        let cubic = 0.4 * (time - self.since - start).powi(3) + self.plateau;
        let alpha = if self.reno < self.plateau { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        self.reno += alpha;
        self.window = cubic.clamp(self.window, self.window * 1.5).max(self.reno);
    }

    /// A loss at random, or of a queue that overflows, reduces the window once a round trip.
    fn lose(&mut self, sent: f64, time: f64) {
        if self.law == Law::Bbr {
            return;
        }
        let is_lost = sent >= self.next_loss;
        while sent >= self.next_loss {
            self.next_loss += self.spacing;
        }
        let room = self.rate.map_or(f64::INFINITY, |rate| rate * self.round_trip + self.queue);
        if is_lost || self.window.min(self.most) > room {
            self.plateau = self.window.min(room).min(self.most);
            self.window = (self.plateau * self.law.beta()).max(2.0);
            (self.threshold, self.since, self.reno) = (self.window, time, self.window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(loss: f64) -> Situation {
        Situation {
            rate: Some(Rate::from_bits_per_second(50_000_000)),
            loss,
            ..Situation::of_round_trip(Span::from_millis(100))
        }
    }

    #[test]
    fn windows_are_those_of_the_tables_in_the_rfc() {
        // RFC 9438 section 5.2, table 1 (round trip 0.1 s): Reno and CUBIC at each loss.
        for (p, reno, cubic) in
            [(1e-2, 12.0, 12.0), (1e-3, 38.0, 38.0), (1e-4, 120.0, 187.0), (1e-5, 379.0, 1054.0)]
        {
            let round_trip = Span::from_millis(100);
            // The table counts delayed acknowledgements otherwise: 1.2 instead of √(3/2).
            let ours = Law::Reno.window(round_trip, p).unwrap();
            assert!((ours / reno - MATHIS / 1.2).abs() < 0.02, "{p}: {ours}");
            let ours = Law::Cubic.window(round_trip, p).unwrap();
            assert!((ours / cubic - 1.0).abs() < 0.03, "{p}: {ours}");
        }
    }

    #[test]
    fn long_run_windows_match_formulas() {
        for law in [Law::Reno, Law::Cubic] {
            for p in [1e-2, 1e-3, 1e-4] {
                let long = Situation {
                    rate: None,
                    payload: Bytes::new(4_000_000_000),
                    loss: p,
                    ..situation(p)
                };
                let window = law.window(long.rtt, p).unwrap();
                let goodput = law.goodput(&long, None).unwrap().as_mbit_f64();
                let ratio = goodput / (window * 1460.0 * 8.0 / 1e5);
                assert!((0.85..1.2).contains(&ratio), "{law:?} {p}: {ratio}");
            }
        }
    }

    #[test]
    fn loss_decides_for_cubic_and_the_path_for_bbr() {
        let mbit = |law: Law, loss, window| {
            let long = Situation { payload: Bytes::new(1_000_000_000), ..situation(loss) };
            law.goodput(&long, window).unwrap().as_mbit_f64()
        };
        assert!(mbit(Law::Cubic, 0.0, None) > 45.0, "without loss the path decides");
        let lossy = mbit(Law::Cubic, 1e-3, None);
        assert!((4.0..5.5).contains(&lossy), "38.7 segments of 1460 B each 100 ms: {lossy}");
        assert!(mbit(Law::Bbr, 1e-3, None) > 47.0);
        let bounded = mbit(Law::Bbr, 1e-3, Some(Bytes::new(65_535)));
        assert!((bounded - 5.24).abs() < 0.02, "{bounded}");
    }

    #[test]
    fn bbr_delivers_what_is_not_lost_and_is_unknown_where_it_collapses() {
        let goodput = |loss| {
            let long = Situation { payload: Bytes::new(1_000_000_000), ..situation(loss) };
            Law::Bbr.goodput(&long, None).map(Rate::as_mbit_f64)
        };
        let without = goodput(0.0).unwrap();
        for loss in [0.01, 0.05, 0.1, 0.15] {
            let ratio = goodput(loss).unwrap() / without;
            assert!((ratio - (1.0 - loss)).abs() < 0.005, "{loss}: {ratio}");
        }
        assert_eq!([0.2, 0.5, 1.0].map(goodput), [None; 3]);
    }

    #[test]
    fn slow_start_costs_a_round_trip_for_each_doubling() {
        let time = |payload| {
            let it = Situation { payload: Bytes::new(payload), ..situation(0.0) };
            Law::Cubic.transfer_time(&it, None).unwrap().as_secs_f64()
        };
        // 1.64 s of sending at the path's rate, and the beginnings.
        assert!((2.0..2.6).contains(&time(10_000_000)), "{}", time(10_000_000));
        assert!((time(1_000) - 0.15).abs() < 0.001, "{}", time(1_000));
        // 10 + 20 + 40 segments, and some of 80.
        assert!((time(150_000) - 0.45).abs() < 0.001, "{}", time(150_000));
    }
}
