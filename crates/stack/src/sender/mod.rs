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
//! The PUSH flag is not its affair: whoever owns the send buffer knows where writes ended. Nor are
//! sequence numbers, SYN and RST, keep-alive and delayed acknowledgements.

mod ack;
pub(crate) mod alarm;
mod detection;
mod loss_probe;
mod pacing;
mod path_mtu;
mod rate;
mod recovery;
mod reduction;
mod round_trip;
mod runs;
mod sack;
mod scoreboard;
mod segmentation;
#[cfg(test)]
mod tests;
mod timeout;
mod transmit;
mod undo;
mod validation;
mod window_probe;

use tcplab_units::{Instant, Span};

use self::alarm::{Alarm, Purpose};
use self::detection::Rack;
use self::loss_probe::LossProbe;
use self::pacing::Pace;
use self::path_mtu::PathMtu;
use self::rate::Rate;
use self::reduction::Progress;
use self::round_trip::RoundTrip;
use self::scoreboard::Scoreboard;
use self::timeout::Timeout;
use self::undo::Undo;
use self::validation::Used;
use self::window_probe::WindowProbe;
use crate::congestion::{CongestionControl, NO_THRESHOLD, State, Window};
use crate::{Config, SendCause, config};

/// What an acknowledgement said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ack<'a> {
    /// The acknowledgement number, as position: all below has arrived. Never above
    /// [`Sender::sent`].
    pub(crate) position: u64,
    /// The position, in the other direction, at which the segment itself begins: window updates
    /// of old segments are not believed (RFC 9293 section 3.10.7.4: SND.WL1).
    pub(crate) sequence: u64,
    /// The window, scaled, bytes.
    pub(crate) window: u64,
    /// SACK blocks as positions, in the order of the option; a D-SACK is the first. Blocks that
    /// make no sense do no harm.
    pub(crate) sack: &'a [(u64, u64)],
    /// The timestamp echoed (TSecr), less the connection's offset: ticks of
    /// [`crate::config::Host::timestamp_tick`] since the world's zero, modulo 2³². `None` without
    /// the option, or where it is zero.
    pub(crate) echo: Option<u32>,
    /// Whether the segment carries data, a SYN or a FIN: it is no duplicate acknowledgement then.
    pub(crate) carries_data: bool,
    /// Whether the ECE flag is set.
    pub(crate) ece: bool,
}

/// What there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "options of a socket, independent")]
pub(crate) struct Stream {
    /// The position behind the last byte that the application gave; behind the FIN once it closed.
    pub(crate) end: u64,
    /// Whether the last position is a FIN.
    pub(crate) fin: bool,
    /// TCP_CORK, or MSG_MORE: only full segments leave.
    pub(crate) corked: bool,
    /// TCP_NODELAY: small segments are never held back.
    pub(crate) nodelay: bool,
    /// Whether the application has more to give, but the send buffer is full (`SOCK_NOSPACE`).
    pub(crate) buffer_full: bool,
    /// A segment of new data ends here, though more follows (MSG_EOR).
    pub(crate) boundary: Option<u64>,
    /// Whether there are any such ends: nothing is joined when it is sent again.
    pub(crate) has_boundaries: bool,
    /// Whether urgent data is outstanding: it is not held back either.
    pub(crate) urgent: bool,
    /// Whether the application has let go of the connection altogether (`SOCK_DEAD`): it is given
    /// up sooner then.
    pub(crate) orphaned: bool,
}

/// What leaves now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ToSend {
    /// Position of the first byte. Of a window probe without data it is one that was acknowledged
    /// already.
    pub(crate) start: u64,
    /// Data bytes; more than one [`Sender::mss`] where several segments leave as a burst.
    pub(crate) len: u32,
    /// Whether a FIN follows the data.
    pub(crate) fin: bool,
    /// Why.
    pub(crate) cause: SendCause,
    /// Whether the packet is ECN-capable: new data where ECN was negotiated (RFC 3168 section
    /// 6.1.5).
    pub(crate) ect: bool,
    /// Whether (the first segment of) it carries CWR.
    pub(crate) cwr: bool,
}

/// What the two ends agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Negotiated {
    /// Data bytes of a full segment: the MSS less the options on every segment.
    pub(crate) mss: u32,
    /// Whether SACK may be expected.
    pub(crate) sack: bool,
    /// Whether timestamps may be.
    pub(crate) timestamps: bool,
    /// Whether ECN is on.
    pub(crate) ecn: bool,
    /// The peer's window as last heard in the handshake, bytes.
    pub(crate) window: u64,
    /// The position, in the other direction, of the segment that said so.
    pub(crate) sequence: u64,
    /// The peer has everything below: 1, or more if data went with the SYN.
    pub(crate) first: u64,
    /// The round trip of the handshake, unless the SYN was repeated and no timestamp told which
    /// was answered.
    pub(crate) rtt: Option<Span>,
    /// How often SYN or SYN-ACK were repeated.
    pub(crate) repetitions: u8,
}

/// What came of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Heard {
    /// Positions newly acknowledged, FIN included: the send buffer lets go of everything below
    /// [`Sender::una`].
    pub(crate) acked: u64,
    /// Whether it told that something arrived twice (RFC 2883).
    pub(crate) dsack: bool,
    /// Whether the window or its edge changed.
    pub(crate) window_changed: bool,
}

/// Why a connection is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GivenUp {
    /// Data was repeated in vain for too long.
    #[error("nothing was acknowledged in spite of {0} repetitions")]
    Retransmissions(u32),
    /// A closed window was asked in vain for too long.
    #[error("a closed window was not opened in spite of {0} probes")]
    Probes(u32),
}

/// How a sender stands, for `TCP_INFO` and the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Figures {
    /// Smoothed round trip (`tcpi_rtt`).
    pub(crate) srtt: Option<Span>,
    /// Its deviation as `tcpi_rttvar` has it.
    pub(crate) rttvar: Span,
    /// The shortest of the last five minutes (`tcpi_min_rtt`).
    pub(crate) min_rtt: Option<Span>,
    /// The retransmission timeout, backed off (`tcpi_rto`).
    pub(crate) rto: Span,
    /// How often it is backed off (`tcpi_backoff`).
    pub(crate) backoff: u32,
    /// Timeouts in a row (`tcpi_retransmits`).
    pub(crate) timeouts: u32,
    /// Window probes unanswered (`tcpi_probes`).
    pub(crate) probes: u32,
    /// Segments outstanding, held for lost, sent again and SACKed.
    pub(crate) unacked: u32,
    /// See `unacked`.
    pub(crate) lost: u32,
    /// See `unacked`.
    pub(crate) retrans: u32,
    /// See `unacked`.
    pub(crate) sacked: u32,
    /// The reordering that is reckoned with, segments.
    pub(crate) reordering: u32,
    /// Segments sent again since the connection began (`tcpi_total_retrans`).
    pub(crate) total_retrans: u64,
    /// Data bytes sent, repetitions included (`tcpi_bytes_sent`).
    pub(crate) bytes_sent: u64,
    /// Data bytes sent again (`tcpi_bytes_retrans`).
    pub(crate) bytes_retrans: u64,
    /// Segments with data sent, repetitions included (`tcpi_data_segs_out`).
    pub(crate) data_segments: u64,
    /// D-SACKs heard (`tcpi_dsack_dups`).
    pub(crate) dsacks: u64,
    /// How often reordering was seen (`tcpi_reord_seen`).
    pub(crate) reorderings: u64,
    /// Segments delivered so far (`tcpi_delivered`).
    pub(crate) delivered: u64,
    /// The latest delivery rate: segments, over µs, whether the application held it down
    /// (`tcpi_delivery_rate`).
    pub(crate) delivery: Option<(u64, u64, bool)>,
    /// How often a retransmission timeout ran out.
    pub(crate) total_timeouts: u64,
    /// How often a reduction was taken back.
    pub(crate) undone: u64,
}

/// Counters that only grow.
#[derive(Debug, Default)]
struct Counters {
    total_retrans: u64,
    bytes_sent: u64,
    bytes_retrans: u64,
    data_segments: u64,
    dsacks: u64,
    reorderings: u64,
}

/// What an acknowledgement allows to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// Nothing.
    Nothing,
    /// What is held for lost.
    Lost,
    /// New data first; only if there is none, what is held for lost (F-RTO).
    NewFirst,
}

/// The sending half of a connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude one another")]
pub(crate) struct Sender {
    config: Config,
    congestion: Box<dyn CongestionControl>,
    /// Whether the congestion control sets window and pace itself.
    controls: bool,
    window: Window,
    board: Scoreboard,
    trip: RoundTrip,
    timeout: Timeout,
    alarm: Alarm,
    pace: Pace,
    rate: Rate,
    rack: Rack,
    probe: LossProbe,
    window_probe: WindowProbe,
    undo: Undo,
    progress: Progress,
    used: Used,
    counters: Counters,
    sack: bool,
    timestamps: bool,
    ecn: bool,
    /// Data bytes of a full segment before the peer's window has its say.
    full_mss: u32,
    path_mtu: PathMtu,
    peer_window: u64,
    /// The largest window so far.
    most_window: u64,
    /// Where the segment began that told of the window (SND.WL1).
    window_sequence: u64,
    /// The highest position sent when recovery began (`high_seq`).
    high: u64,
    /// Segments by which reordering is expected to displace one (`tp->reordering`).
    reordering: u32,
    /// Duplicate acknowledgements in a row.
    dupacks: u32,
    /// Whether the peer threw SACKed data away in this recovery.
    reneged: bool,
    /// Whether a timeout may turn out to have been needless (F-RTO).
    frto: bool,
    repeating: Repeat,
    /// What a timer made, to be handed out next.
    outbox: Option<ToSend>,
    /// Whether new data left since the last time that there was none.
    bursting: bool,
    /// Where the last small segment ends (`snd_sml`).
    small_end: u64,
    /// Whether the next new segment carries CWR.
    cwr_queued: bool,
    /// The timestamp echoed last.
    echo: Option<u32>,
    /// When the window was last seen to be used, or changed (`snd_cwnd_stamp`).
    cwnd_since: Instant,
    /// When the peer was last heard of.
    heard_at: Instant,
    user_timeout: Span,
    /// Reductions taken back.
    undone: u64,
}

impl Sender {
    /// A sender that has not begun.
    pub(crate) fn new(config: &Config, congestion: Box<dyn CongestionControl>) -> Sender {
        Sender {
            congestion,
            controls: false,
            window: Window {
                cwnd: config.window.initial,
                count: 0,
                ssthresh: NO_THRESHOLD,
                prior_cwnd: 0,
                state: State::Open,
                mss: 0,
                packets_out: 0,
                in_flight: 0,
                max_packets_out: 0,
                is_cwnd_limited: false,
                srtt: None,
                min_rtt: None,
                delivered: 0,
                lost: 0,
                una: 1,
                nxt: 1,
                last_sent: Instant::ZERO,
                pacing_rate: None,
                is_paced: false,
                departure: Instant::ZERO,
                app_limited: None,
            },
            board: Scoreboard::default(),
            trip: RoundTrip::new(config.timeout.rule, config.timeout.least),
            timeout: Timeout::new(config.timeout.initial),
            alarm: Alarm::default(),
            pace: Pace::default(),
            rate: Rate::new(0),
            rack: Rack::default(),
            probe: LossProbe::default(),
            window_probe: WindowProbe::default(),
            undo: Undo::default(),
            progress: Progress::default(),
            used: Used::default(),
            counters: Counters::default(),
            sack: false,
            timestamps: false,
            ecn: false,
            full_mss: 0,
            path_mtu: PathMtu::default(),
            peer_window: 0,
            most_window: 0,
            window_sequence: 0,
            high: 1,
            reordering: config.recovery.dupthresh,
            dupacks: 0,
            reneged: false,
            frto: false,
            repeating: Repeat::Nothing,
            outbox: None,
            bursting: false,
            small_end: 0,
            cwr_queued: false,
            echo: None,
            cwnd_since: Instant::ZERO,
            heard_at: Instant::ZERO,
            user_timeout: config.liveness.user_timeout,
            undone: 0,
            config: config.clone(),
        }
    }

    /// The handshake is over; data may leave. The SYN, position 0, is acknowledged.
    pub(crate) fn establish(&mut self, now: Instant, negotiated: &Negotiated) {
        let heeds_sack = matches!(
            self.config.recovery.detection,
            config::Detection::Sack | config::Detection::Rack
        );
        self.sack = negotiated.sack && heeds_sack;
        self.timestamps = negotiated.timestamps;
        self.ecn = negotiated.ecn;
        self.full_mss = negotiated.mss;
        self.path_mtu = PathMtu::new(negotiated.mss);
        self.peer_window = negotiated.window;
        self.most_window = negotiated.window;
        self.window_sequence = negotiated.sequence;
        self.window.una = negotiated.first;
        self.window.nxt = negotiated.first;
        self.high = negotiated.first;
        self.bound_mss();
        let time = micros(now);
        self.rate = Rate::new(time);
        if let Some(rtt) = negotiated.rtt {
            let tick = self.config.host.tick.as_micros();
            self.trip.remember(time, rtt.as_micros(), false, tick);
            self.trip.measure(rtt.as_micros(), self.window.una, self.window.nxt);
            self.reset_timeout();
        } else {
            self.trip.assume(timeout::FALLBACK);
            self.timeout.set(timeout::FALLBACK, self.config.timeout.most);
        }
        // RFC 5681 section 3.1 as `tcp_init_transfer` has it: one SYN repeated may be bad luck.
        self.window.cwnd = if negotiated.repetitions > 1 { 1 } else { self.config.window.initial };
        self.window.ssthresh = match self.config.window.first_threshold {
            None => NO_THRESHOLD,
            Some(0) => {
                let segments = negotiated.window / u64::from(self.window.mss.max(1));
                (segments as u32).max(2)
            }
            Some(segments) => segments,
        };
        self.window.last_sent = now;
        self.cwnd_since = now;
        self.heard_at = now;
        self.pace.on =
            self.congestion.is_paced() || self.config.sending.paced || self.is_pace_limited();
        self.window.is_paced = self.pace.on;
        self.refresh();
        if !self.congestion.is_paced() {
            // The answer to the SYN is an acknowledgement, too: how much leaves at once depends on
            // the pace from the first burst on (`tcp_cong_control`).
            self.set_pacing_rate();
        }
        self.congestion.init(now, &mut self.window);
        self.limit_pace();
    }

    /// What left last was sent again: it does not make a small segment wait.
    pub(crate) fn forget_small(&mut self) {
        self.small_end = 0;
    }

    /// The SYN-ACK is not acknowledged: nothing was delivered so far.
    pub(crate) fn await_handshake(&mut self) {
        self.rate.delivered = 0;
        self.refresh();
    }

    /// The handshake is over after all, for a connection that began before: its round trip.
    pub(crate) fn hear_handshake(&mut self, now: Instant, rtt: Option<Span>) {
        self.rate.delivered += 1;
        if let Some(rtt) = rtt {
            let tick = self.config.host.tick.as_micros();
            self.trip.remember(micros(now), rtt.as_micros(), false, tick);
            self.trip.measure(rtt.as_micros(), self.window.una, self.window.nxt);
            self.reset_timeout();
            self.refresh();
        }
    }

    /// When [`Sender::handle_timeout`] wants to be called.
    pub(crate) fn poll_at(&self) -> Option<Instant> {
        match (self.alarm.at(), self.pace.at()) {
            (Some(alarm), Some(pace)) => Some(alarm.min(pace)),
            (alarm, pace) => alarm.or(pace),
        }
    }

    /// A time that [`Sender::poll_at`] gave has come; earlier it does nothing.
    ///
    /// # Errors
    /// When the connection is given up.
    pub(crate) fn handle_timeout(&mut self, now: Instant, stream: &Stream) -> Result<(), GivenUp> {
        match self.alarm.ring(now) {
            Some(Purpose::Retransmit) => self.time_out(now, stream)?,
            Some(Purpose::LossProbe) => self.send_loss_probe(now, stream),
            Some(Purpose::Reordering) => self.reordering_waited(now),
            Some(Purpose::WindowProbe) => self.probe_window(now, stream)?,
            None => {}
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
        self.peer_window
    }

    /// Data bytes of a full segment.
    pub(crate) fn mss(&self) -> u32 {
        self.window.mss
    }

    /// TCP_USER_TIMEOUT; zero: none.
    pub(crate) fn set_user_timeout(&mut self, timeout: Span) {
        self.user_timeout = timeout;
    }

    /// The retransmission timeout as it stands, backed off.
    pub(crate) fn rto(&self) -> Span {
        self.timeout.now
    }

    /// The send buffer grew, which counts as a change of the window (`tcp_new_space`).
    pub(crate) fn note_window(&mut self, now: Instant) {
        self.cwnd_since = now;
    }

    /// What the congestion control sees.
    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    /// The congestion control.
    pub(crate) fn congestion(&self) -> &dyn CongestionControl {
        &*self.congestion
    }

    /// How it stands.
    pub(crate) fn figures(&self) -> Figures {
        Figures {
            srtt: self.trip.smoothed().map(Span::from_micros),
            rttvar: Span::from_micros(self.trip.deviation()),
            min_rtt: self.trip.shortest().map(Span::from_micros),
            rto: self.timeout.now,
            backoff: self.timeout.backoff,
            timeouts: self.timeout.in_a_row,
            probes: self.window_probe.out,
            unacked: self.board.packets_out(),
            lost: self.board.lost_out,
            retrans: self.board.retrans_out,
            sacked: self.board.sacked_out,
            reordering: self.reordering,
            total_retrans: self.counters.total_retrans,
            bytes_sent: self.counters.bytes_sent,
            bytes_retrans: self.counters.bytes_retrans,
            data_segments: self.counters.data_segments,
            dsacks: self.counters.dsacks,
            reorderings: self.counters.reorderings,
            delivered: self.rate.delivered,
            delivery: self.rate.latest(),
            total_timeouts: self.timeout.total,
            undone: self.undone,
        }
    }

    /// Brings what the congestion control sees up to date.
    fn refresh(&mut self) {
        self.window.packets_out = self.board.packets_out();
        self.window.in_flight = self.board.in_flight();
        self.window.srtt = self.trip.smoothed().map(Span::from_micros);
        self.window.min_rtt = self.trip.shortest().map(Span::from_micros);
        self.window.delivered = self.rate.delivered;
        self.window.app_limited = self.rate.app_limited();
        self.window.departure = self.pace.last();
    }
}

/// Whole microseconds since the world's zero: Linux's unit for all of this.
fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1_000
}
