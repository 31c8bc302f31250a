//! The sending half of a connection: from what the peer acknowledges to what may leave next.
//!
//! It knows nothing of buffers, headers and handshakes. Positions are `u64`: the SYN is 0, the
//! first data byte 1, the FIN stands behind the last byte. Whoever drives it does, in this order:
//!
//! 1. [`Sender::establish`] once the handshake is over; nothing is sent before.
//! 2. [`Sender::handle_ack`] for every acceptable segment with an ACK, [`Sender::handle_timeout`]
//!    when [`Sender::poll_at`] has come.
//! 3. After each of these, and when the application gave data or closed or lifted its cork,
//!    [`Sender::next`] until it gives `None`; each answer has been recorded as sent. Before the
//!    application's data is taken, [`Sender::handle_write`].
//! 4. Then [`Sender::poll_at`] says when it wants to be woken.
//!
//! It does not set the PUSH flag: the owner of the send buffer knows where writes ended. Nor are
//! sequence numbers, SYN and RST, keep-alive and delayed acknowledgements.

mod ack;
mod acknowledged;
mod bursts;
mod control;
mod facts;
mod feedback;
mod interface;
mod loss_probe;
mod losses;
mod pacing;
mod parts;
mod path_mtu;
mod recovery;
mod reduction;
mod retransmit;
mod rto;
mod sack;
mod scoreboard;
mod segmentation;
mod states;
#[cfg(test)]
mod tests;
mod timeout;
mod timer;
mod transmit;
mod undo;
mod validation;
mod window_probe;

use tcplab_units::{Bytes, Instant, Rate, Span};

use self::feedback::Feedback;
pub(crate) use self::feedback::{Seen, Told};
use self::interface::GivenUp;
pub(crate) use self::interface::{Ack, Negotiated, NextChunk, Stream, ToSend};
use self::parts::{
    Alarm, Congestion, Output, Pacing, PathMtu, Peer, Purpose, RateMeter, Retransmit, Undo,
};
use self::recovery::{Recovery, method};
use self::rto::Rto;
pub(crate) use self::scoreboard::Block;
use self::scoreboard::Scoreboard;
use crate::Config;
use crate::config::Detection;
use crate::congestion::{CongestionControl, NO_THRESHOLD, Window};
use crate::info::Info;
use crate::jiffies::{Jiffies, least_timeout};

/// The timeout after a handshake that measured no RTT (RFC 6298 section 5.7,
/// `TCP_TIMEOUT_FALLBACK`).
const FALLBACK: Span = Span::from_secs(3);

/// The sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Config,
    agreed: Negotiated,
    congestion: Congestion,
    window: Window,
    scoreboard: Scoreboard,
    rto: Rto,
    alarm: Alarm,
    pacing: Pacing,
    rate: RateMeter,
    pub(crate) feedback: Feedback,
    recovery: Recovery,
    undo: Undo,
    peer: Peer,
    path_mtu: PathMtu,
    output: Output,
}

impl Sender {
    /// A sender before the handshake.
    pub(crate) fn new(config: &Config, congestion: Box<dyn CongestionControl>) -> Sender {
        Sender {
            agreed: Negotiated::default(),
            congestion: Congestion::new(congestion),
            window: Window { una: 1, nxt: 1, ..Window::new(0, config.window.initial) },
            scoreboard: Scoreboard::default(),
            rto: Rto::new(&config.timeout, least_timeout(config), config.liveness.user_timeout),
            alarm: Alarm::new(Jiffies::new(&config.host)),
            pacing: Pacing::default(),
            feedback: Feedback::default(),
            rate: RateMeter::new(0),
            recovery: Recovery::new(&config.recovery),
            undo: Undo::default(),
            peer: Peer::default(),
            path_mtu: PathMtu::default(),
            output: Output::default(),
            config: config.clone(),
        }
    }

    /// The handshake is over; data may leave. The SYN, position 0, is acknowledged.
    pub(crate) fn establish(&mut self, now: Instant, negotiated: &Negotiated) {
        let detection = self.config.recovery.detection;
        let uses_sack = matches!(detection, Detection::Sack | Detection::Rack);
        self.agreed = Negotiated { sack: negotiated.sack && uses_sack, ..*negotiated };
        self.recovery.method = method(&self.config.recovery, self.agreed.sack);
        self.recovery.high = negotiated.first;
        self.path_mtu = PathMtu::new(negotiated.mss);
        self.peer.window = negotiated.window;
        self.peer.largest_window = negotiated.window;
        self.peer.window_sequence = negotiated.sequence;
        self.peer.heard_at = now;
        self.window.una = negotiated.first;
        self.window.nxt = negotiated.first;
        self.bound_mss();
        let time = micros(now);
        self.rate = RateMeter::new(time);
        if let Some(rtt) = negotiated.rtt {
            self.take_rtt(time, rtt.as_micros(), rtt.as_micros(), false);
        } else {
            self.rto.assume(FALLBACK);
            self.rto.set(FALLBACK, self.config.timeout.most);
        }
        self.begin_window(now, negotiated);
        self.begin_pacing();
        self.congestion.control.init(now, &mut self.window);
        self.limit_pacing_rate();
    }

    fn begin_window(&mut self, now: Instant, negotiated: &Negotiated) {
        // RFC 5681 section 3.1 as `tcp_init_transfer` has it: one SYN lost may be bad luck.
        let initial = self.config.window.initial;
        self.window.cwnd = if negotiated.retransmissions > 1 { 1 } else { initial };
        self.window.ssthresh = match self.config.window.first_threshold {
            None => NO_THRESHOLD,
            Some(0) => {
                let segments = negotiated.window / u64::from(self.window.mss.max(1));
                (segments as u32).max(2)
            }
            Some(segments) => segments,
        };
        self.window.last_sent = now;
        self.congestion.usage.since = now;
    }

    fn begin_pacing(&mut self) {
        let by_control = self.congestion.control.is_paced();
        let on = by_control || self.config.sending.paced || self.has_max_pacing_rate();
        self.pacing.on = on;
        self.window.pacing.is_on = on;
        self.refresh();
        if !by_control {
            // The answer to the SYN is an acknowledgement, too: how much leaves at once depends on
            // the pacing rate from the first burst on (`tcp_cong_control`).
            self.set_pacing_rate();
        }
    }

    /// The last segment was retransmitted: Nagle's algorithm does not wait for it.
    pub(crate) fn forget_small(&mut self) {
        self.output.small_end = 0;
    }

    /// The SYN-ACK is not acknowledged: nothing was delivered so far.
    pub(crate) fn await_handshake(&mut self) {
        self.rate.delivered = 0;
        self.refresh();
    }

    /// The handshake of a Fast Open connection is over; gives its RTT.
    pub(crate) fn hear_handshake(&mut self, now: Instant, rtt: Option<Span>) {
        self.rate.delivered += 1;
        if let Some(rtt) = rtt {
            self.take_rtt(micros(now), rtt.as_micros(), rtt.as_micros(), false);
            self.refresh();
        }
    }

    /// When [`Sender::handle_timeout`] wants to be called.
    pub(crate) fn poll_at(&self) -> Option<Instant> {
        Instant::earlier(self.alarm.at(), self.pacing.at())
    }

    /// A time that [`Sender::poll_at`] gave has come; earlier it does nothing.
    ///
    /// # Errors
    /// When the connection is given up.
    pub(crate) fn handle_timeout(&mut self, now: Instant, stream: &Stream) -> Result<(), GivenUp> {
        match self.alarm.expire(now) {
            Some(Purpose::Retransmit) => self.time_out(now, stream)?,
            Some(Purpose::LossProbe) => self.send_loss_probe(now, stream),
            Some(Purpose::Reordering) => self.reordering_timed_out(now),
            Some(Purpose::WindowProbe) => self.probe_window(now, stream)?,
            None => {}
        }
        if self.pacing.at().is_some_and(|at| at <= now) {
            // Whatever the last acknowledgement allowed (`tcp_tsq_write`).
            self.output.retransmit = Retransmit::Lost;
        }
        self.refresh();
        Ok(())
    }

    /// The position below which all is acknowledged.
    pub(crate) fn una(&self) -> u64 {
        self.window.una
    }

    /// The position behind the highest that was ever sent.
    pub(crate) fn sent(&self) -> u64 {
        self.window.nxt
    }

    /// The peer's window from [`Sender::una`] on, bytes.
    pub(crate) fn peer_window(&self) -> u64 {
        self.peer.window
    }

    /// Data bytes of a full segment.
    pub(crate) fn mss(&self) -> u32 {
        self.window.mss
    }

    /// TCP_USER_TIMEOUT; zero: none.
    pub(crate) fn set_user_timeout(&mut self, timeout: Span) {
        self.rto.user_timeout = timeout;
    }

    /// The position up to which the buffer at hand took from the next one, to be told once.
    pub(crate) fn take_grown(&mut self) -> Option<u64> {
        self.output.grown.take()
    }

    /// Whether as much is in flight as the congestion window lets.
    pub(crate) fn fills_window(&self) -> bool {
        self.scoreboard.in_flight() >= self.window.cwnd
    }

    /// The retransmission timeout as it stands, backed off.
    pub(crate) fn rto(&self) -> Span {
        self.rto.current
    }

    /// The send buffer grew, which counts as a change of the window (`tcp_new_space`).
    pub(crate) fn note_window(&mut self, now: Instant) {
        self.congestion.usage.since = now;
    }

    /// The reordering expected, segments.
    pub(crate) fn reordering(&self) -> u32 {
        self.recovery.reordering.segments
    }

    /// What the congestion control sees.
    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    /// The congestion control.
    pub(crate) fn congestion(&self) -> &dyn CongestionControl {
        &*self.congestion.control
    }

    /// Its part of `TCP_INFO`.
    pub(crate) fn info(&self) -> Info {
        let Sender { window, scoreboard, rto, recovery, rate, .. } = self;
        let counters = &self.output.counters;
        Info {
            ca_state: window.state,
            retransmits: rto.in_a_row,
            probes: self.peer.probe.out,
            backoff: rto.backoff,
            delivery_rate_app_limited: rate.latest.is_some_and(|latest| latest.app_limited),
            rto: rto.current,
            unacked: scoreboard.packets_out(),
            sacked: scoreboard.sacked_out,
            lost: scoreboard.lost_out,
            retrans: scoreboard.retrans_out,
            rtt: Span::from_micros(rto.smoothed().unwrap_or(0)),
            rttvar: Span::from_micros(rto.deviation()),
            snd_ssthresh: window.ssthresh,
            snd_cwnd: window.cwnd,
            reordering: recovery.reordering.segments,
            total_retrans: counters.retransmissions,
            pacing_rate: window.pacing.rate,
            min_rtt: rto.min_rtt().map(Span::from_micros),
            data_segs_out: counters.data_segments,
            delivered: rate.delivered,
            bytes_sent: Bytes::new(counters.bytes_sent),
            bytes_retrans: Bytes::new(counters.bytes_retransmitted),
            dsack_dups: recovery.dsacks,
            reord_seen: recovery.reordering.events,
            snd_wnd: self.peer.window,
            total_rto: rto.total,
            ..Info::default()
        }
    }

    /// The latest delivery rate with segments of `mss` bytes (`tcp_compute_delivery_rate`).
    pub(crate) fn delivery_rate(&self, mss: u32) -> Option<Rate> {
        let latest = self.rate.latest?;
        let bytes = Bytes::new(latest.segments * u64::from(mss));
        Rate::of(bytes, Span::from_micros(latest.micros))
    }
}

/// Whole microseconds since the world's zero: Linux's unit for all of this.
fn micros(at: Instant) -> u64 {
    at.as_micros()
}
