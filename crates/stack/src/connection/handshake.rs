//! Opening: SYN, SYN-ACK, their retransmission, and what they negotiate.

use std::sync::Arc;

use tcplab_units::{Instant, Span};
use tcplab_wire::{SeqUnwrapper, TcpFlags, TcpRepr};

use super::opening::TIMESTAMPS;
use super::parts::accurate::Stage;
use super::{Connection, ConnectionError, Opening, SocketOptions, Transmit};
use crate::config::{self, Config};
use crate::fast_open::FastAnswer;
use crate::sender::Negotiated;
use crate::state::State;
use crate::{Segment, SendCause};

/// Ticks after which a SYN is repeated that met an old connection (`TCP_TIMEOUT_MIN`).
const SOON: u64 = 2;

impl Connection {
    /// Answers a SYN with a SYN-ACK, which leaves with the next [`Connection::poll_transmit`].
    /// `None` for what is no SYN: see [`crate::reset_for`].
    pub fn accept(
        now: Instant,
        config: &Arc<Config>,
        opening: Opening,
        syn: &Segment,
    ) -> Option<Connection> {
        let options = SocketOptions::of(config);
        Connection::accept_with(now, config, &options, opening, syn, FastAnswer::Plain)
    }

    /// Answers a SYN with the options of the listening socket, and with Fast Open: with
    /// [`FastAnswer::Take`] the data of the SYN may be read at once, and the connection is the
    /// application's before the handshake is over.
    pub fn accept_with(
        now: Instant,
        config: &Arc<Config>,
        options: &SocketOptions,
        opening: Opening,
        syn: &Segment,
        answer: FastAnswer,
    ) -> Option<Connection> {
        let flags = syn.header.flags;
        let takes = matches!(answer, FastAnswer::Take(_));
        // FreeBSD passes over a FIN with the SYN (`syncache_add`).
        let fin = if takes || config.freebsd.is_some() { TcpFlags::NONE } else { TcpFlags::FIN };
        let others = TcpFlags::ACK | TcpFlags::RST | fin;
        if !flags.contains(TcpFlags::SYN) || flags != flags.without(others) {
            return None;
        }
        let mut connection = Connection::new(config, options, opening, false);
        if !connection.answer_accurate(syn) {
            connection.terms.answer_ecn(config, syn);
        }
        connection.begin_handshake(now);
        if config.handshake.syn_cookies && !takes {
            connection.keep_in_cookie(now, syn);
        } else {
            connection.take_syn(now, syn);
        }
        // The SYN-ACK may shift its windows only if the SYN did.
        connection.choose_window(connection.terms.timestamps);
        connection.receiver.start();
        if let FastAnswer::Give(cookie) | FastAnswer::Take(Some(cookie)) = answer {
            connection.handshake.fast.cookie = Some(cookie);
        }
        if takes {
            connection.handshake.fast.pending = true;
            connection.establish(now, None, 1);
            connection.take_data_of_syn(now, syn);
        } else {
            connection.enter(now, State::SynReceived);
        }
        connection.send_syn(now, SendCause::Handshake);
        Some(connection)
    }

    pub(super) fn begin_active(&mut self, now: Instant) {
        if self.config.handshake.ecn == config::Ecn::Accurate {
            self.accurate.stage = Stage::Asked;
        }
        self.begin_handshake(now);
        self.choose_window(false);
        self.enter(now, State::SynSent);
        self.send_syn(now, SendCause::Handshake);
    }

    fn begin_handshake(&mut self, now: Instant) {
        self.handshake.sent = now;
        self.handshake.first_clock = self.timestamps.clock(now);
        let timeout = self.handshake.timeout;
        self.handshake.retransmit_at = Some(self.timers.jiffies.deadline(now, timeout));
    }

    /// The window of the SYN: whole segments. Whether the peer's have timestamps a client does not
    /// know yet.
    fn choose_window(&mut self, timestamps: bool) {
        let asked = self.terms.asked_mss;
        let mss = asked - if timestamps { TIMESTAMPS } else { 0 };
        let scale = self.config.handshake.window_scale.filter(|_| self.terms.scaling);
        self.receiver.window.open(mss, asked, scale, self.options.window_clamp);
        self.handshake.scale = self.receiver.window.scale;
    }

    /// The peer's SYN, with or without ACK.
    fn take_syn(&mut self, now: Instant, syn: &Segment) {
        self.numbers.peer = Some(SeqUnwrapper::new(syn.header.seq));
        self.terms.agree(&syn.header);
        self.receiver.sack = self.terms.sack;
        self.receiver.ecn.negotiated = self.terms.ecn;
        self.receiver.ecn.accurate = self.accurate.is_on();
        if self.handshake.is_active {
            self.round_buffer_up();
        }
        if !self.terms.scaling {
            self.receiver.window.unscaled();
        }
        if let Some((value, _)) = syn.header.timestamps.filter(|_| self.terms.timestamps) {
            self.timestamps.hear(now, value);
        }
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        self.handshake.peer_window = u64::from(syn.header.window);
    }

    /// Takes of the SYN what a SYN cookie has room for; the SYN-ACK is not retransmitted
    /// (`cookie_v4_init_sequence`, `tcp_conn_request`).
    fn keep_in_cookie(&mut self, now: Instant, syn: &Segment) {
        let mut kept = syn.clone();
        let header = &mut kept.header;
        header.mss = Some(cookie_mss(header.mss.unwrap_or(0), self.terms.is_v6()));
        if !self.terms.timestamps || header.timestamps.is_none() {
            header.sack_permitted = false;
            header.window_scale = None;
            self.terms.ecn = false;
        }
        self.take_syn(now, &kept);
        self.handshake.retransmit_at = None;
    }

    /// Sends the SYN or SYN-ACK of the state.
    pub(super) fn send_syn(&mut self, now: Instant, cause: SendCause) {
        let answers = self.numbers.peer.is_some();
        let mut flags = TcpFlags::SYN;
        if answers {
            flags |= TcpFlags::ACK;
        }
        // FreeBSD asks as often as its setting says before it does without.
        let freebsd = self.config.freebsd.as_ref();
        let tries_ecn =
            freebsd.is_some_and(|rules| self.handshake.retransmissions <= rules.ecn_retries);
        if let Some(accurate) = self.flags_of_syn(answers, self.handshake.retransmissions) {
            flags |= accurate;
        } else if self.terms.ecn {
            // A retransmitted SYN does without: perhaps a middlebox dropped it for ECN
            // (RFC 3168 section 6.1.1.1, `tcp_ecn_clear_syn`).
            flags |= match (answers, cause) {
                (true, _) => TcpFlags::ECE,
                (false, cause) if cause == SendCause::Handshake || tries_ecn => {
                    TcpFlags::ECE | TcpFlags::CWR
                }
                (false, _) => TcpFlags::NONE,
            };
        }
        if !answers && cause == SendCause::HandshakeRetransmission && !tries_ecn {
            self.terms.ecn = false;
        }
        // Where SYNs crossed, Linux repeats its own with an ACK, whatever the peer's has
        // (`tcp_send_synack`).
        let repeats = answers && self.handshake.is_active && self.config.is_linux();
        let own = &self.config.handshake;
        let scaling = self.terms.scaling || repeats && own.window_scale.is_some();
        let timestamps = self.terms.timestamps || repeats && own.timestamps;
        let sack_permitted = self.terms.sack || repeats && own.sack;
        // A retransmitted SYN does without Fast Open (RFC 7413 section 4.1.3).
        let first = cause == SendCause::Handshake;
        let asks = first && !answers;
        let fast_open = self
            .handshake
            .fast
            .cookie
            .filter(|_| if self.handshake.is_active { asks } else { answers });
        let with_syn = if asks { self.handshake.fast.with_syn } else { 0 };
        let expected = self.receiver.next();
        let mut header = TcpRepr {
            seq: self.numbers.own.initial(),
            ack: self.peer_number(expected).filter(|_| answers).unwrap_or_default(),
            flags,
            window: self.receiver.window.offered.min(0xffff) as u16,
            mss: Some(self.terms.asked_mss.min(0xffff) as u16),
            window_scale: scaling.then_some(self.handshake.scale),
            sack_permitted,
            timestamps: timestamps.then(|| self.timestamps.option(now)),
            fast_open,
            layout: self.option_layout(),
            ..TcpRepr::default()
        };
        if answers {
            self.receiver.acks.sent();
            if first {
                self.offer_option(&mut header);
            }
        }
        let (data, _) = self.buffer.burst(1, with_syn, with_syn);
        if with_syn > 0 {
            self.buffer.mark_sent(1, 1 + u64::from(with_syn), with_syn);
        }
        self.counters.segments_out += 1;
        let segment = Segment { data, ..Segment::bare(header) };
        self.output.queue.push_back(Transmit::single(segment, cause));
    }

    /// A segment in SYN-SENT (RFC 9293 section 3.10.7.3, `tcp_rcv_synsent_state_process`).
    pub(super) fn handle_in_syn_sent(&mut self, now: Instant, segment: &Segment) {
        let header = &segment.header;
        let flags = header.flags;
        let (acks, resets) = (flags.contains(TcpFlags::ACK), flags.contains(TcpFlags::RST));
        if acks && !self.acknowledges_syn(header) {
            self.ask_again_soon(now);
        }
        if acks && !(self.acknowledges_syn(header) && self.echoes_syn(now, header)) {
            if !resets {
                self.send_reset_for(segment);
            }
            return;
        }
        if resets {
            if acks {
                self.fail(now, ConnectionError::Refused);
            }
            return;
        }
        if !flags.contains(TcpFlags::SYN) {
            return;
        }
        if acks {
            let position = self.numbers.own.position(header.ack) as u64;
            if self.accurate.stage == Stage::Asked {
                self.hear_accurate(segment);
            } else {
                self.terms.hear_ecn(segment);
            }
            self.handshake.reflects = self.accurate.is_on();
            self.take_syn(now, segment);
            self.receiver.start();
            self.establish(now, header.timestamps, position);
            self.hear_fast_answer(now, segment, position);
            if self.config.freebsd.is_some() {
                self.take_data_of_syn(now, segment);
            }
            self.acknowledge_syn_ack(now);
        } else {
            // Both ends opened at once: the SYN is answered, and retransmitted with its ACK.
            self.accurate.stage = Stage::Off;
            if !self.answer_accurate(segment) {
                self.terms.answer_ecn(&self.config, segment);
            }
            self.take_syn(now, segment);
            self.receiver.start();
            if self.config.freebsd.is_some() {
                // RFC 9293 section 3.10.7.3, fourth; Linux drops it.
                self.handshake.early = segment.data.clone();
            }
            self.enter(now, State::SynReceived);
            self.send_syn(now, SendCause::Handshake);
        }
    }

    /// Whether the number of an ACK answers the SYN.
    fn acknowledges_syn(&self, header: &TcpRepr) -> bool {
        let sent = 1..=1 + i64::from(self.handshake.fast.with_syn);
        sent.contains(&self.numbers.own.position(header.ack))
    }

    /// Whether an echo, if there is one, is of a timestamp since the SYN.
    fn echoes_syn(&self, now: Instant, header: &TcpRepr) -> bool {
        let echo = header.timestamps.and_then(|(_, echo)| self.timestamps.echoed(echo));
        let since_syn = |echo: u32| echo.wrapping_sub(self.handshake.first_clock);
        echo.is_none_or(|echo| since_syn(echo) <= since_syn(self.timestamps.clock(now)))
    }

    /// The peer has an old connection between these ports, which the RST ends: Linux repeats the
    /// SYN at once then (`TCP_TIMEOUT_MIN` in `tcp_rcv_synsent_state_process`), unless it has done
    /// so before.
    fn ask_again_soon(&mut self, now: Instant) {
        if self.config.is_linux() && self.handshake.timeouts == 0 {
            let soon = self.config.host.tick * SOON;
            self.handshake.retransmit_at = Some(self.timers.jiffies.deadline(now, soon));
        }
    }

    /// The third segment of the handshake; data may take its place if it waits already.
    fn acknowledge_syn_ack(&mut self, now: Instant) {
        if self.handshake.fast.with_syn > 0 && !self.handshake.fast.taken {
            // Data that did not arrive with the SYN is retransmitted, however small.
            if self.push_one(now, false) {
                self.sender.forget_small();
            }
        } else if self.buffer.len() > 0 || self.handshake.fast.more || self.options.defer_accept > 0
        {
            self.receiver.wait_for_data(now);
        } else {
            self.send_ack(now, SendCause::Ack);
        }
    }

    /// A segment in SYN-RECEIVED; whether it made the connection, and is then worked on as any
    /// other (RFC 9293 section 3.10.7.4, `tcp_check_req`).
    pub(super) fn handle_in_syn_received(&mut self, now: Instant, segment: &Segment) -> bool {
        let header = &segment.header;
        let flags = header.flags;
        let control = TcpFlags::SYN | TcpFlags::ACK | TcpFlags::RST;
        let start = self.peer_position(header.seq);
        let only = |wanted: TcpFlags| flags.without(flags.without(control)) == wanted;
        let fresh = self.is_not_older(now, segment);
        if start == 0 && only(TcpFlags::SYN) && fresh {
            self.answer_syn_again(now, segment);
            return false;
        }
        let acks = flags.contains(TcpFlags::ACK);
        let resets = flags.contains(TcpFlags::RST);
        let position = self.numbers.own.position(header.ack);
        let sent = 1..=1 + i64::from(self.handshake.fast.with_syn);
        if acks && !resets && !sent.contains(&position) {
            self.send_reset_for(segment);
            return false;
        }
        let end = start + i64::from(segment.len() + u32::from(flags.contains(TcpFlags::FIN)));
        // A SYN-ACK that crossed the own one begins below the window by its SYN.
        let crossing =
            start == 0 && only(TcpFlags::SYN | TcpFlags::ACK) && self.handshake.is_active;
        let first = start + i64::from(crossing);
        let window = self.receiver.window.offered as i64;
        let inside =
            first >= 1 && first <= 1 + window || first < 1 && end + i64::from(crossing) > 1;
        if !fresh || !inside {
            if !resets && self.may_challenge(now) {
                self.send_ack(now, SendCause::ChallengeAck);
            }
            return false;
        }
        if resets {
            self.reset_in_syn_received(now, start == 1);
            return false;
        }
        if flags.contains(TcpFlags::SYN) && !crossing {
            // RFC 9293 section 3.10.7.4, fourth: back to LISTEN; RFC 5961 section 4.2 otherwise.
            if self.handshake.is_active {
                self.challenge(now);
            } else {
                self.send_reset_for(segment);
                self.enter(now, State::Closed);
            }
            return false;
        }
        if acks && self.defers(segment) {
            return false;
        }
        if acks {
            let position = position as u64;
            self.hear_third(segment);
            if !self.handshake.is_active && self.config.freebsd.is_none() {
                // Nothing is left of the SYN's (`tcp_create_openreq_child`).
                self.handshake.peer_window = self.window_of(header);
            }
            self.handshake.ends_now = true;
            self.establish(now, header.timestamps, position);
            self.buffer.release(position);
            let early = std::mem::take(&mut self.handshake.early);
            if !early.is_empty() {
                self.receiver.take_with_syn(&early, false);
            }
            if crossing {
                self.receiver.hear_syn_again();
            }
        }
        acks
    }

    /// A retransmitted SYN: the SYN-ACK was lost.
    fn answer_syn_again(&mut self, now: Instant, syn: &Segment) {
        if self.may_challenge(now) {
            self.hear_syn_once_more(syn);
            self.send_syn(now, SendCause::HandshakeRetransmission);
            let timeout = self.handshake.timeout;
            self.handshake.retransmit_at = Some(self.timers.jiffies.deadline(now, timeout));
        }
    }

    /// Whether TCP_DEFER_ACCEPT ignores an ACK without data (`tcp_check_req`).
    fn defers(&mut self, segment: &Segment) -> bool {
        let bare = segment.is_empty() && !segment.header.flags.contains(TcpFlags::FIN);
        let defers = !self.handshake.is_active
            && !self.handshake.fast.pending
            && bare
            && self.handshake.timeouts < self.options.defer_accept;
        self.handshake.was_acknowledged |= defers;
        defers
    }

    /// A RST in SYN-RECEIVED: only an exact one counts (RFC 5961 section 3.2).
    fn reset_in_syn_received(&mut self, now: Instant, exact: bool) {
        if !exact {
            self.challenge(now);
        } else if self.handshake.is_active {
            self.fail(now, ConnectionError::Reset);
        } else {
            self.enter(now, State::Closed);
        }
    }

    /// The handshake is over: its RTT, if it is known which SYN was answered.
    pub(super) fn finish_handshake(
        &mut self,
        now: Instant,
        timestamps: Option<(u32, u32)>,
    ) -> Option<Span> {
        let echo = timestamps.and_then(|(_, echo)| self.timestamps.echoed(echo));
        let echo = echo.filter(|_| self.terms.timestamps);
        let rtt = if self.handshake.retransmissions == 0 {
            // Linux subtracts what its clock showed.
            Some(Span::from_micros(now.as_micros() - self.handshake.sent.as_micros()))
        } else {
            echo.and_then(|echo| self.timestamps.ago(now, echo))
        };
        // The first SYN was answered after all: the timeout was too short, nothing was lost
        // (`tcp_try_undo_spurious_syn`).
        if echo == Some(self.handshake.first_clock) {
            self.handshake.retransmissions = 0;
        }
        self.handshake.retransmit_at = None;
        rtt
    }

    /// The handshake is over, or as good as that; the peer has everything below `first`.
    fn establish(&mut self, now: Instant, timestamps: Option<(u32, u32)>, first: u64) {
        let rtt =
            if self.handshake.fast.pending { None } else { self.finish_handshake(now, timestamps) };
        let asked = self.terms.asked_mss - self.terms.options_len();
        if !self.handshake.is_active {
            self.round_buffer_up();
        }
        self.receiver.establish(now, asked, self.terms.sending_mss);
        self.sender.establish(
            now,
            &Negotiated {
                mss: self.terms.sending_mss,
                sack: self.terms.sack,
                timestamps: self.terms.timestamps,
                ecn: self.terms.ecn,
                window: self.handshake.peer_window,
                sequence: 0,
                first,
                rtt,
                retransmissions: self.handshake.retransmissions,
            },
        );
        if self.handshake.is_active || self.handshake.fast.pending {
            self.counters.largest_window = self.handshake.peer_window;
        }
        if self.handshake.fast.pending {
            self.sender.await_handshake();
        } else {
            // The handshake's RTT gives the pacing rate, and so the size of the first bursts
            // (`tcp_rcv_state_process`; `tcp_ack` of the SYN-ACK).
            self.sender.set_first_pacing_rate();
        }
        self.counters.last_ack = now;
        self.counters.last_sent = now;
        self.enter(now, State::Established);
        self.expand_send_buffer();
        self.restart_keep_alive(now);
        if self.writer.closed_half {
            self.enter(now, State::FinWait1);
        }
    }

    /// How long a client tries, however often it could: as long as its retries would take if each
    /// waited twice as long as the one before (`tcp_model_timeout`).
    fn most_time(&self) -> Option<Span> {
        let config = &self.config;
        let retries = self.options.syn_retries.unwrap_or(config.handshake.syn_retries);
        let (first, most) = (config.timeout.initial, config.timeout.most);
        let doubled = (most.as_nanos() / first.as_nanos().max(1)).max(1).ilog2();
        let doublings = u32::from(retries).min(doubled);
        let rest = u64::from(u32::from(retries) - doublings);
        self.handshake.is_active.then(|| first * ((2 << doublings) - 1) + most * rest)
    }

    /// The timer of SYN or SYN-ACK ran out (`tcp_retransmit_timer`, `reqsk_timer_handler`).
    pub(super) fn handle_handshake_timeout(&mut self, now: Instant) {
        if self.handshake.retransmit_at.is_none_or(|at| at > now) {
            return;
        }
        let config = &self.config;
        let linear =
            if self.state == State::SynSent { config.handshake.syn_linear_timeouts } else { 0 };
        let most = if self.handshake.fast.pending {
            // `tcp_fastopen_synack_timer` tries once more.
            config.handshake.synack_retries.saturating_add(1)
        } else if self.handshake.is_active {
            self.options.syn_retries.unwrap_or(config.handshake.syn_retries).saturating_add(linear)
        } else {
            // TCP_SYNCNT of the listening socket (`reqsk_timer_handler`).
            self.options.syn_retries.unwrap_or(config.handshake.synack_retries)
        };
        let user_timeout = self.options.user_timeout;
        let most_time = match &config.freebsd {
            _ if !user_timeout.is_zero() => Some(user_timeout),
            Some(_) => None,
            None => self.most_time(),
        };
        let waited = now.since(self.handshake.sent);
        let too_long =
            self.handshake.retransmissions > 0 && most_time.is_some_and(|most| waited >= most);
        // `syn_ack_recalc`: with TCP_DEFER_ACCEPT, data is waited for all its time.
        let deferred = self.options.defer_accept;
        let is_deferring = self.handshake.was_acknowledged && self.handshake.timeouts < deferred;
        let too_long = too_long || self.is_handshake_over(now);
        if self.handshake.timeouts >= most && !is_deferring || too_long {
            self.handshake.retransmit_at = None;
            if self.handshake.is_active || self.handshake.fast.pending {
                self.fail(now, ConnectionError::TimedOut);
            } else {
                self.enter(now, State::Closed);
            }
            return;
        }
        let is_quiet = is_deferring && self.handshake.timeouts + 1 < deferred;
        self.handshake.timeouts = self.handshake.timeouts.saturating_add(1);
        if self.handshake.timeouts > linear {
            self.handshake.timeout = (self.handshake.timeout * 2).min(config.timeout.most);
        }
        let mut timeout = self.handshake.timeout;
        if let Some(rules) = &config.freebsd {
            timeout = (timeout + rules.slop).min(config.timeout.most);
        }
        if !user_timeout.is_zero() && self.handshake.is_active {
            let left = user_timeout.saturating_sub(now.since(self.handshake.sent));
            timeout = timeout.min(left.max(self.config.host.tick));
        }
        self.handshake.retransmit_at = Some(self.timers.jiffies.deadline(now, timeout));
        self.end_handshake_in_time();
        if !is_quiet {
            self.handshake.retransmissions = self.handshake.retransmissions.saturating_add(1);
            self.send_syn(now, SendCause::HandshakeRetransmission);
        }
    }
}

/// The largest segment size up to `mss` that a SYN cookie can express (`msstab`), or the least.
fn cookie_mss(mss: u16, is_v6: bool) -> u16 {
    let sizes: [u16; 4] = if is_v6 { [1220, 1420, 1440, 8940] } else { [536, 1300, 1440, 1460] };
    sizes.into_iter().rev().find(|size| *size <= mss).unwrap_or(sizes[0])
}
