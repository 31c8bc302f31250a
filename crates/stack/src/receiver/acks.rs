//! When to acknowledge.

use tcplab_units::{Instant, Span};

use crate::SendCause;
use crate::config::{Acks, Config};
use crate::jiffies::{Jiffies, least_timeout};

use super::window::Push;

/// Duplicate acknowledgements that are never compressed (`TCP_FASTRETRANS_THRESH`).
const UNCOMPRESSED: u32 = 3;

/// `sysctl_tcp_pingpong_thresh`: this many answers make the session interactive.
const DIALOGUE: u8 = 1;

/// The delay of an acknowledgement where segments are far between and the peer did not push
/// (`HZ / 2` in `tcp_send_delayed_ack`).
const FAR_BETWEEN: Span = Span::from_millis(500);

/// What the decision depends on besides its own state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    /// Bytes received in order and not acknowledged.
    pub(crate) pending: u64,
    /// The peer's segment size.
    pub(crate) peer_mss: u32,
    /// Whether an acknowledgement would not lower the window, or there is too little for the
    /// application to read (otherwise reading will send one).
    pub(crate) window_advances: bool,
    /// Whether something lies behind a gap.
    pub(crate) gap: bool,
    /// Whether SACK was agreed upon.
    pub(crate) sack: bool,
    /// What is expected next.
    pub(crate) next: u64,
    /// Smoothed RTT as the sender knows it.
    pub(crate) srtt: Option<Span>,
    /// RTT as the receiver knows it.
    pub(crate) receiver_rtt: Option<Span>,
}

/// Acknowledgements due, delayed and compressed (`struct inet_connection_sock::icsk_ack`).
#[derive(Debug)]
pub(crate) struct AckPolicy {
    config: Acks,
    /// Whether segments are counted whatever their size (FreeBSD's `DELAY_ACK`).
    counts_segments: bool,
    jiffies: Jiffies,
    most_delay: Span,
    due: Due,
    delay: Option<Delay>,
    /// When the timer of a delay that is over expires: Linux lets it run.
    left: Option<Instant>,
    /// Expected time between segments (`ato`); zero before the first.
    interval: Span,
    /// Acknowledgements not to be delayed.
    quick: u32,
    /// Answers sent soon after data (`pingpong`).
    dialogue: u8,
    /// When data last arrived, as timers see it.
    pub(crate) last_arrival: Instant,
    compression: Compression,
    /// Segments that arrived since the last acknowledgement.
    arrivals: u32,
    /// Segments that came in order, one after another.
    streak: u32,
}

/// What makes an acknowledgement due.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as Linux's ICSK_ACK_*")]
struct Due {
    /// Something is to be acknowledged sooner or later (`ICSK_ACK_SCHED`).
    scheduled: bool,
    /// It waits for the timer, for data to go with it, or for the next arrival: that of the SYN-ACK
    /// may.
    waits: bool,
    /// At once (`ICSK_ACK_NOW`).
    now: bool,
    /// It was decided that it waits; the next arrival decides anew.
    decided: bool,
    /// A small segment arrived, and another (`ICSK_ACK_PUSHED`, `ICSK_ACK_PUSHED2`).
    pushed: bool,
    pushed_twice: bool,
}

/// A delayed acknowledgement.
#[derive(Debug)]
struct Delay {
    /// The delay ends.
    until: Instant,
    /// The timer expires, on a tick.
    expires: Instant,
}

/// Acknowledgements held back behind a gap (`tcp_comp_sack_nr`).
#[derive(Debug, Default)]
struct Compression {
    /// How many are held back.
    held: u32,
    /// When they go.
    until: Option<Instant>,
    /// When the last was held back.
    last: Instant,
    /// Where the gap is.
    gap_at: u64,
    /// Duplicate ACKs sent for this gap.
    duplicates: u32,
}

impl AckPolicy {
    pub(super) fn new(config: &Config, jiffies: Jiffies) -> AckPolicy {
        let mut most_delay = config.acks.delay[1];
        if config.is_linux() {
            // `tcp_delack_max`: an acknowledgement never waits for as long as the least timeout.
            let least = least_timeout(config);
            most_delay = most_delay.min(least.saturating_sub(config.host.tick));
        }
        AckPolicy {
            config: config.acks.clone(),
            counts_segments: config.freebsd.is_some(),
            jiffies,
            most_delay,
            due: Due::default(),
            delay: None,
            left: None,
            interval: Span::ZERO,
            quick: 0,
            dialogue: 0,
            last_arrival: Instant::ZERO,
            compression: Compression::default(),
            arrivals: 0,
            streak: 0,
        }
    }

    /// The connection is established (`tcp_finish_connect`).
    pub(super) fn begin(&mut self, now: Instant) {
        self.last_arrival = self.jiffies.now(now);
    }

    fn least_delay(&self) -> Span {
        self.config.delay[0]
    }

    fn in_dialogue(&self) -> bool {
        self.dialogue >= DIALOGUE
    }

    /// Whether something waits to be acknowledged.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.due.scheduled
    }

    /// `ato`.
    pub(crate) fn interval(&self) -> Span {
        self.interval.min(self.most_delay)
    }

    /// Something is to be acknowledged.
    pub(crate) fn schedule(&mut self) {
        self.due.scheduled = true;
        self.due.waits = false;
        self.due.decided = false;
    }

    /// Nothing is to be acknowledged.
    pub(super) fn unschedule(&mut self) {
        self.due.scheduled = false;
    }

    /// Something is to be acknowledged at once.
    pub(crate) fn schedule_now(&mut self) {
        self.schedule();
        self.due.now = true;
    }

    /// If something is to be acknowledged, it is so at once.
    pub(crate) fn hurry(&mut self) {
        self.due.now = true;
        self.due.decided = false;
    }

    /// Room is scarce, the peer need not hurry (`__tcp_select_window`).
    pub(super) fn forget_quick(&mut self) {
        self.quick = 0;
    }

    /// The window grew: the next acknowledgement announces it (`tcp_grow_window`).
    pub(super) fn tell_growth(&mut self) {
        if self.config.quick > 0 {
            self.quick |= 1;
        }
    }

    /// Some acknowledgements are not delayed, whatever the dialogue (`tcp_enter_quickack_mode`).
    pub(crate) fn be_quick(&mut self, most: u32, window: u64, peer_mss: u32) {
        self.raise_quick(most, window, peer_mss);
        self.dialogue = 0;
        self.interval = self.least_delay();
    }

    /// What arrived was not expected: it is acknowledged at once, and the next ones soon.
    pub(crate) fn answer_duplicate(&mut self, window: u64, peer_mss: u32) {
        self.schedule();
        if self.config.quick > 0 {
            self.be_quick(self.config.quick, window, peer_mss);
        } else {
            self.due.now = true;
        }
    }

    /// A segment that is not acceptable is answered: the next ones are acknowledged soon. The
    /// answer is none of these, as nothing was scheduled (`tcp_send_dupack`).
    pub(crate) fn answer_unacceptable(&mut self, window: u64, peer_mss: u32) {
        if self.config.quick > 0 {
            self.be_quick(self.config.quick, window, peer_mss);
        }
    }

    /// `tcp_incr_quickack`.
    fn raise_quick(&mut self, most: u32, window: u64, peer_mss: u32) {
        let fitting = match window / (2 * u64::from(peer_mss.max(1))) {
            0 => 2,
            segments => segments,
        };
        let most = most.min(self.config.quick);
        self.quick = self.quick.max(fitting.min(u64::from(most)) as u32);
    }

    /// TCP_QUICKACK: whether the next acknowledgements are quick or delayed.
    pub(crate) fn set_quick(&mut self, quick: bool) {
        self.dialogue = if quick { 0 } else { DIALOGUE };
        if quick && self.due.scheduled {
            self.due.pushed = true;
        }
    }

    /// The peer closed: an answer is likely (`tcp_fin`).
    pub(super) fn enter_dialogue(&mut self) {
        self.dialogue = DIALOGUE;
    }

    /// Data arrived in order (`tcp_event_data_recv`). `push` is what the measure of the peer's
    /// segments said of it.
    pub(super) fn data_arrived(
        &mut self,
        now: Instant,
        push: Option<Push>,
        window: u64,
        peer_mss: u32,
        rto: Span,
    ) {
        self.schedule();
        self.arrivals += 1;
        self.streak = self.streak.saturating_add(1);
        self.note_push(push);
        let now = self.jiffies.now(now);
        let least = self.least_delay();
        if self.interval.is_zero() {
            self.raise_quick(self.config.quick, window, peer_mss);
            self.interval = least;
        } else {
            let gap = now.since(self.last_arrival);
            let half = self.jiffies.round_down(self.interval / 2);
            if gap <= least / 2 {
                self.interval = half + self.jiffies.round_down(least / 2);
            } else if gap < self.interval {
                self.interval = (half + gap).min(rto).min(self.config.delay[1]);
            } else if gap > rto {
                self.raise_quick(self.config.quick, window, peer_mss);
            }
        }
        self.last_arrival = now;
    }

    /// Data arrived behind a gap.
    pub(super) fn gap_arrived(&mut self, push: Option<Push>) {
        self.schedule();
        self.arrivals += 1;
        self.streak = 0;
        self.note_push(push);
    }

    /// `tcp_measure_rcv_mss`: small and pushed segments are acknowledged when they are read.
    fn note_push(&mut self, push: Option<Push>) {
        self.due.pushed_twice |= self.due.pushed && push == Some(Push::Small);
        self.due.pushed |= push.is_some();
    }

    /// Data is sent: soon after data arrived it is an answer (`tcp_event_data_sent`).
    pub(crate) fn data_sent(&mut self, now: Instant) {
        if self.jiffies.now(now).since(self.last_arrival) < self.interval {
            self.dialogue = self.dialogue.saturating_add(1);
        }
    }

    /// A segment with ACK leaves (`tcp_event_ack_sent`).
    pub(crate) fn sent(&mut self) {
        if self.quick > 0 && self.due.scheduled {
            self.quick -= 1;
            if self.quick == 0 {
                self.interval = self.least_delay();
            }
        }
        self.due = Due { waits: self.due.waits, ..Due::default() };
        self.left = self.delay.take().map(|delay| delay.expires).or(self.left);
        self.compression.held = 0;
        self.compression.until = None;
        self.arrivals = 0;
    }

    /// Whether to acknowledge now, and why; otherwise a timer runs (`__tcp_ack_snd_check`).
    pub(super) fn check(&mut self, now: Instant, seen: &Circumstances) -> Option<SendCause> {
        if !self.due.scheduled || self.due.waits || self.due.decided {
            return None;
        }
        let at_once = if seen.gap { SendCause::DuplicateAck } else { SendCause::Ack };
        let full = self.is_due_for(seen.pending, seen.peer_mss);
        let quick = self.quick > 0 && !self.in_dialogue();
        if full && (seen.window_advances || self.counts_segments)
            || quick
            || self.due.now
            || !self.config.delayed
        {
            return Some(at_once);
        }
        self.due.decided = true;
        if !seen.gap {
            return self.delay(now, seen.srtt);
        }
        if !self.config.out_of_order_at_once {
            let due = self.arrivals >= self.config.every;
            return if due { Some(at_once) } else { self.delay(now, seen.srtt) };
        }
        self.compress(now, seen).then_some(at_once)
    }

    /// Whether enough arrived for an acknowledgement: `pending` bytes.
    fn is_due_for(&self, pending: u64, peer_mss: u32) -> bool {
        if self.counts_segments {
            self.arrivals >= self.every()
        } else {
            pending > u64::from(self.every() - 1) * u64::from(peer_mss)
        }
    }

    /// How many full segments an acknowledgement is for.
    fn every(&self) -> u32 {
        match self.config.stretch {
            Some((after, every)) if self.streak > after => every,
            _ => self.config.every,
        }
        .max(1)
    }

    /// Whether an acknowledgement behind a gap goes at once.
    fn compress(&mut self, now: Instant, seen: &Circumstances) -> bool {
        let (most, longest) = self.config.compressed;
        if !seen.sack || self.compression.held >= most {
            return true;
        }
        if self.compression.gap_at != seen.next {
            self.compression.gap_at = seen.next;
            self.compression.duplicates = 0;
        }
        if self.compression.duplicates < UNCOMPRESSED {
            self.compression.duplicates += 1;
            return true;
        }
        self.compression.held += 1;
        self.compression.last = now;
        self.left = self.left.filter(|left| *left > now);
        if self.compression.until.is_none() {
            let rtt = match (seen.receiver_rtt, seen.srtt) {
                (Some(own), Some(srtt)) => own.min(srtt),
                (own, _) => own.unwrap_or_default(),
            };
            let part = rtt * u64::from(self.config.compressed_percent) / 100;
            self.compression.until = Some(now + longest.min(part) + self.config.compressed_slack);
        }
        false
    }

    /// Blocks are about to be pushed out of the option: what is held back goes first
    /// (`tcp_sack_compress_send_ack`).
    pub(crate) fn has_compressed(&self) -> bool {
        self.compression.held > 0
    }

    /// `tcp_send_delayed_ack`.
    fn delay(&mut self, now: Instant, srtt: Option<Span>) -> Option<SendCause> {
        // Before any data, a FIN is acknowledged with the next tick.
        let mut delay = self.interval;
        if delay > self.least_delay() {
            let mut most = FAR_BETWEEN;
            if self.in_dialogue() || self.due.pushed {
                most = self.config.delay[1];
            }
            if let Some(srtt) = srtt {
                most = most.min(self.jiffies.round_up(srtt).max(self.least_delay()));
            }
            delay = delay.min(most);
        }
        let delay = delay.min(self.most_delay.max(self.least_delay()));
        let start = self.jiffies.now(now);
        if let Some(Delay { until, .. }) = self.delay {
            if until <= start + self.jiffies.round_down(delay / 4) {
                return Some(SendCause::Ack);
            }
            if until <= start + delay {
                return None;
            }
        }
        let expires = self.jiffies.deadline(now, delay);
        self.delay = Some(Delay { until: start + delay, expires });
        self.left = None;
        None
    }

    /// The acknowledgement of a SYN-ACK waits for data to go with it
    /// (`tcp_rcv_synsent_state_process` where a write is pending).
    pub(super) fn wait_for_data(&mut self, now: Instant, window: u64, peer_mss: u32) {
        self.schedule();
        self.due.waits = true;
        self.be_quick(self.config.quick, window, peer_mss);
        let delay = self.config.delay[1];
        let (start, expires) = (self.jiffies.now(now), self.jiffies.deadline(now, delay));
        self.delay = Some(Delay { until: start + delay, expires });
    }

    /// When what is held back leaves: the timer of a delayed acknowledgement sends it, too
    /// (`tcp_delack_timer_handler`).
    fn compression_ends(&self) -> Option<Instant> {
        let until = self.compression.until?;
        Some(self.left.map_or(until, |left| until.min(left)))
    }

    /// When the timers expire.
    pub(crate) fn poll_at(&self) -> Option<Instant> {
        let delayed = self.delay.as_ref().map(|delay| delay.expires);
        [delayed, self.compression_ends()].into_iter().flatten().min()
    }

    /// Whether an expired timer sends an acknowledgement, why, and of what time its timestamp is
    /// (`tcp_delack_timer_handler`, `tcp_compressed_ack_kick`).
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        rto: Span,
    ) -> Option<(SendCause, Instant)> {
        if self.compression_ends().is_some_and(|until| until <= now) {
            let by_own_timer = self.compression.until.take().is_some_and(|until| until <= now);
            self.left = self.left.filter(|left| *left > now);
            let is_old = by_own_timer && !self.config.compressed_stamp_is_new;
            let stamp = if is_old { self.compression.last } else { now };
            return Some((SendCause::DuplicateAck, stamp));
        }
        if self.delay.as_ref()?.expires > now {
            return None;
        }
        self.delay = None;
        if !self.due.scheduled {
            return None;
        }
        if self.in_dialogue() {
            self.dialogue = 0;
            self.interval = self.least_delay();
        } else {
            self.interval = (self.interval * 2).min(rto).min(self.config.delay[1]);
        }
        Some((SendCause::DelayedAck, now))
    }

    /// The application read `read` bytes: whether what was held back goes now
    /// (`__tcp_cleanup_rbuf`). `drained` says that it read all there was.
    pub(super) fn after_read(&self, read: u64, drained: bool, pending: u64, peer_mss: u32) -> bool {
        let small = self.due.pushed_twice || self.due.pushed && !self.in_dialogue();
        self.due.scheduled
            && (self.is_due_for(pending, peer_mss)
                || read > 0 && drained && small && self.config.quick > 0)
    }
}
