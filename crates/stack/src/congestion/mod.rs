//! Congestion controls: what decides how much may be in flight.
//!
//! The trait has the shape of Linux's `tcp_congestion_ops`, so that what is written down of its
//! controls can be followed line by line. Windows count segments of the sender's MSS.

mod bbr;
mod compound;
mod cubic;
mod old_haiku;
mod reno;
mod tahoe;
mod ticks;
mod vegas;
mod veno;
mod westwood;

use std::fmt;

use tcplab_units::{Instant, Rate, Span};

pub use bbr::Bbr;
pub use compound::Compound;
pub use cubic::Cubic;
pub use old_haiku::OldHaiku;
pub use reno::Reno;
pub use tahoe::Tahoe;
pub use vegas::Vegas;
pub use veno::Veno;
pub use westwood::Westwood;

/// The names of all controls, as [`by_name`] takes them.
pub const NAMES: [&str; 10] = [
    "bbr",
    "compound",
    "cubic",
    "newreno",
    "old-haiku",
    "reno",
    "tahoe",
    "vegas",
    "veno",
    "westwood",
];

/// What a control has to know of the machine it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// The step of the coarse clock in which some controls count (`CONFIG_HZ`, `jiffies`); zero
    /// counts as 1 ms.
    pub tick: Span,
    /// The largest burst handed down as one, bytes (`sk_gso_max_size`).
    pub burst: u32,
    /// What the control draws its random numbers from, if it draws any.
    pub seed: u64,
}

impl Default for Setup {
    /// Linux with 250 ticks a second and the usual `GSO_LEGACY_MAX_SIZE`.
    fn default() -> Setup {
        Setup { tick: Span::from_millis(4), burst: 65_536, seed: 0 }
    }
}

/// The control called `name`, one of [`NAMES`], on a usual machine.
pub fn by_name(name: &str) -> Option<Box<dyn CongestionControl>> {
    on(name, &Setup::default())
}

/// The control called `name`, one of [`NAMES`], on a machine like `setup`.
pub fn on(name: &str, setup: &Setup) -> Option<Box<dyn CongestionControl>> {
    Some(match name {
        "bbr" => Box::new(Bbr::new(setup)),
        "compound" => Box::new(Compound::new()),
        "cubic" => Box::new(Cubic::new(setup)),
        "newreno" => Box::new(Reno::new_reno()),
        "old-haiku" => Box::new(OldHaiku::new()),
        "reno" => Box::new(Reno::new()),
        "tahoe" => Box::new(Tahoe::new()),
        "vegas" => Box::new(Vegas::new()),
        "veno" => Box::new(Veno::new()),
        "westwood" => Box::new(Westwood::new(setup)),
        _ => return None,
    })
}

/// While no threshold is known (`TCP_INFINITE_SSTHRESH`), segments.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The sender's state as its congestion control is told it (`enum tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum State {
    /// Nothing is amiss.
    #[default]
    Open,
    /// Duplicate acknowledgements or SACK came, and nothing was held for lost yet.
    Disorder,
    /// The window is being reduced without a loss (ECN, a full device).
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What happens to a sender (`enum tcp_ca_event`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The first segment leaves when nothing was in flight.
    TransmitStart,
    /// The window was made small after an idle time.
    WindowRestart,
    /// A reduction is complete: the state leaves `Cwr` or `Recovery`.
    ReductionComplete,
    /// The retransmission timer ran out.
    Timeout,
}

/// What an acknowledgement said of what it acknowledged or SACKed (`struct ack_sample`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AckSample {
    /// Segments newly acknowledged or SACKed.
    pub segments: u32,
    /// Bytes by which the acknowledgement number moved on.
    pub bytes: u64,
    /// The round trip of what was acknowledged, if it was sent once (Karn).
    pub rtt: Option<Span>,
    /// Segments in flight when the youngest of these was sent.
    pub in_flight: u32,
    /// Whether it carried data, changed the window, or came in order and plain: `false` is
    /// Linux's slow path (`CA_ACK_SLOWPATH`).
    pub plain: bool,
}

/// The delivery rate that an acknowledgement showed (`struct rate_sample`,
/// draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateSample {
    /// `delivered` when the youngest segment was sent.
    pub prior_delivered: u64,
    /// Segments delivered over the interval; `None`: no valid sample.
    pub delivered: Option<u64>,
    /// The longer of the times of sending and of acknowledging them.
    pub interval: Span,
    /// The round trip of the youngest segment; `None` where it was retransmitted.
    pub rtt: Option<Span>,
    /// Segments newly held for lost.
    pub losses: u32,
    /// Segments newly acknowledged or SACKed.
    pub acked_sacked: u32,
    /// Segments in flight before the acknowledgement.
    pub prior_in_flight: u32,
    /// Whether the application had too little to send.
    pub app_limited: bool,
    /// Whether the acknowledgement is likely to be a delayed one.
    pub is_ack_delayed: bool,
}

/// A sender, as far as its congestion control sees and sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The congestion window.
    pub cwnd: u32,
    /// Segments acknowledged towards the next of cwnd (`snd_cwnd_cnt`).
    pub count: u32,
    /// Slow start threshold.
    pub ssthresh: u32,
    /// The window before the reduction in progress.
    pub prior_cwnd: u32,
    /// The state.
    pub state: State,
    /// Data bytes of a full segment.
    pub mss: u32,
    /// Position below which everything is acknowledged.
    pub una: u64,
    /// Position of the next new byte.
    pub nxt: u64,
    /// When segments were last sent.
    pub last_sent: Instant,
    /// How much is in flight.
    pub flight: Flight,
    /// RTTs.
    pub rtt: RoundTrips,
    /// How much was delivered.
    pub delivery: Deliveries,
    /// Pacing.
    pub pacing: PacingState,
}

/// Segments in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flight {
    /// Segments sent and not acknowledged (`packets_out`).
    pub packets_out: u32,
    /// Segments in flight: sent, less those SACKed or lost, plus those retransmitted.
    pub in_flight: u32,
    /// The most that was in flight in the last round (`max_packets_out`).
    pub max_packets_out: u32,
    /// Whether the window, and not the application, held data back in the last round.
    pub is_cwnd_limited: bool,
}

/// Measured RTTs; `None` before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoundTrips {
    /// Smoothed RTT.
    pub srtt: Option<Span>,
    /// The RTT minimum of the last five minutes (`tcp_min_rtt_wlen`).
    pub min_rtt: Option<Span>,
}

/// Segments delivered and lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deliveries {
    /// Segments delivered so far, SACKed ones included (`tp->delivered`).
    pub delivered: u64,
    /// Segments marked lost so far (`tp->lost`).
    pub lost: u64,
    /// Segments sent count as limited by the application until `delivered` exceeds this; the sender
    /// then removes it (`tp->app_limited`). A control may set it.
    pub app_limited: Option<u64>,
}

/// How segments are paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PacingState {
    /// The pacing rate (`sk_pacing_rate`); `None`: not known yet.
    pub rate: Option<Rate>,
    /// Whether segments are paced (`sk_pacing_status`).
    pub is_on: bool,
    /// When the next segment may leave at the earliest, later or earlier than now
    /// (`tp->tcp_wstamp_ns`).
    pub departure: Instant,
}

impl Window {
    /// The window of a new connection: `initial` segments of `mss` bytes, no threshold, nothing
    /// sent.
    pub fn new(mss: u32, initial: u32) -> Window {
        Window {
            cwnd: initial,
            count: 0,
            ssthresh: NO_THRESHOLD,
            prior_cwnd: 0,
            state: State::Open,
            mss,
            una: 0,
            nxt: 0,
            last_sent: Instant::ZERO,
            flight: Flight::default(),
            rtt: RoundTrips::default(),
            delivery: Deliveries::default(),
            pacing: PacingState::default(),
        }
    }

    /// Below the threshold (`tcp_in_slow_start`).
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether more of cwnd would be used (`tcp_is_cwnd_limited`): in slow start, cwnd may grow to
    /// twice what was in flight.
    pub fn is_limited(&self) -> bool {
        self.flight.is_cwnd_limited
            || (self.in_slow_start()
                && u64::from(self.cwnd) < 2 * u64::from(self.flight.max_packets_out))
    }

    /// The threshold that is worth remembering: at least three quarters of cwnd, but while cwnd is
    /// being reduced (`tcp_current_ssthresh`).
    pub fn current_ssthresh(&self) -> u32 {
        match self.state {
            State::Cwr | State::Recovery => self.ssthresh,
            _ => self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2)),
        }
    }

    /// RFC 5681 section 3.1 as `tcp_slow_start` has it: grows by what was acknowledged up to the
    /// threshold. Gives what is left beyond it.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// One more for each `per` acknowledged (`tcp_cong_avoid_ai`).
    pub fn grow(&mut self, per: u32, acked: u32) {
        // The window may have shrunk since the count began.
        if self.count >= per {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= per {
            let more = self.count / per;
            self.count -= more * per;
            self.cwnd += more;
        }
    }
}

/// A congestion control. What is not its own affair (fast recovery, limited transmit, the reduction
/// itself) the sender does.
pub trait CongestionControl: fmt::Debug + Send {
    /// Its name, as in `TCP_CONGESTION`.
    fn name(&self) -> &'static str;

    /// The connection is established.
    fn init(&mut self, _now: Instant, _window: &mut Window) {}

    /// The threshold after a loss or a mark, segments.
    fn ssthresh(&mut self, now: Instant, window: &mut Window) -> u32;

    /// `acked` segments were acknowledged while the window may grow (`cong_avoid`).
    fn avoid(&mut self, now: Instant, window: &mut Window, acked: u32);

    /// The window after a reduction turned out to be needless.
    fn undo(&mut self, window: &Window) -> u32 {
        window.cwnd.max(window.prior_cwnd)
    }

    /// The sender goes over into `state`; `window.state` is still the old one.
    fn enter(&mut self, _now: Instant, _window: &mut Window, _state: State) {}

    /// Something happened.
    fn event(&mut self, _now: Instant, _window: &mut Window, _event: Event) {}

    /// Segments were acknowledged or SACKed (`pkts_acked`): before the window grows.
    fn acked(&mut self, _now: Instant, _window: &mut Window, _sample: &AckSample) {}

    /// Any acknowledgement came (`in_ack_event`): `window.una` has moved on already,
    /// [`CongestionControl::acked`] was told, and the window has not grown yet.
    fn heard(&mut self, _now: Instant, _window: &mut Window, _sample: &AckSample) {}

    /// Sets window and pacing itself from each rate sample (`cong_control`), instead of
    /// [`CongestionControl::avoid`] and the sender's reductions; `true` if it did. The sender then
    /// sets cwnd neither in recovery nor at its end; after a timeout it does (`tcp_enter_loss`),
    /// before [`CongestionControl::enter`]. In an invalid sample all else has to be true.
    fn control(&mut self, _now: Instant, _window: &mut Window, _rate: &RateSample) -> bool {
        false
    }

    /// Whether segments have to be paced.
    fn is_paced(&self) -> bool {
        false
    }

    /// How many segments a burst handed down as one has at least (`min_tso_segs`); `None`: as the
    /// stack has it.
    fn least_burst(&self, _window: &Window) -> Option<u32> {
        None
    }

    /// How many windows the send buffer should hold (`sndbuf_expand`).
    fn windows_of_send_buffer(&self) -> u32 {
        2
    }
}

#[cfg(test)]
mod tests;
