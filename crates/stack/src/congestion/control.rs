//! What a congestion control is.

use std::fmt;

use tcplab_units::{Instant, Span};

use crate::Config;

use super::{AckSample, Event, RateSample, State, Window};

/// What a control has to know of the machine it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// The step of the coarse clock in which some controls count (`CONFIG_HZ`, `jiffies`); zero
    /// counts as 1 ms.
    pub tick: Span,
    /// The largest burst handed down as one, bytes (`sk_gso_max_size`).
    pub burst: u32,
    /// Whether HyStart follows rounds from the first window on.
    pub hystart_from_first: bool,
    /// What the control draws its random numbers from, if it draws any.
    pub seed: u64,
}

impl Setup {
    /// That of `config`, with random numbers from `seed`.
    pub fn of(config: &Config, seed: u64) -> Setup {
        Setup {
            tick: config.host.tick,
            burst: config.sending.burst,
            hystart_from_first: config.window.hystart_from_first,
            seed,
        }
    }
}

impl Default for Setup {
    /// Linux with 250 ticks a second and the usual `GSO_LEGACY_MAX_SIZE`.
    fn default() -> Setup {
        Setup { tick: Span::from_millis(4), burst: 65_536, hystart_from_first: true, seed: 0 }
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

    /// The window after a spurious reduction.
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
    /// [`CongestionControl::acked`] was called, and the window has not grown yet.
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
