//! # Connection reset
//!
//! **What it says.** An end aborted the connection with RST, and which data were lost.
//!
//! **Why it matters.** The other end gets an error; data in flight or unread are lost.
//!
//! **Evidence.** The RST; the windows before it, which show what its sender had not read; data that
//! no acknowledgement covers. Who sends an RST reads nothing more, so what it never acknowledged
//! is lost; whether its own unacknowledged data arrived is unknown. Where probes or retransmissions
//! before it had no answer, its sender gave up.
//!
//! **False positives.** A firewall can send an RST in the name of either end. An RST behind a FIN
//! is harmless where all data were acknowledged, as after an abortive close that saves TIME-WAIT,
//! and where an end that closed refuses only the other's last words (TLS's `close_notify`, SMTP's
//! `221`), which answer its FIN: silent. More than those may be unwanted, too: a note. So is a
//! connection without data that the client resets: load balancers check servers so. A handshake
//! that failed is another rule's (`not-opened`), and so is an RST whose sender went on
//! (`forged-reset`).
//!
//! A request that meets the FIN of a server which closed an idle connection is lost, however short.
//! Where a client sends it long after the FIN, its program did not notice that.
//!
//! Of Multipath TCP an RST ends its subflow alone: others may go on, and a note says so. Where an
//! end gave up the whole connection (`MP_FASTCLOSE`), that end is named, whoever sent the RST.
//!
//! **Reference.** RFC 9293 sections 3.5.1 (figure 10: RST as answer to an ACK of a connection that
//! its sender has forgotten), 3.6.1 (SHLD-3: RST shows that data after CLOSE were lost) and 3.10.5
//! (abort); RFC 1122 section 4.2.2.13 and RFC 2525 section 2.17 (closing with data unread); RFC
//! 9112 section 9.5 (idle timeouts of HTTP); RFC 5382 section 5 (those of NATs); Linux:
//! `__tcp_close`, and `tcp_rcv_state_process` (`TCPABORTONDATA`); RFC 8684 sections 3.4.2 and 3.5.

use tcplab_trace::{Close, CloseKind, Connection, Flow, MultipathSign, Occurrences, Refused};
use tcplab_units::{Bytes, Endpoint, Instant, Span};

use crate::syn_retransmitted::FORGOTTEN;
use crate::words::{amount, rounded, seconds};
use crate::{Cost, Finding, Rule, Severity, Shown, not_opened};

/// The rule.
pub const RULE: Rule = Rule::of_connection("reset", in_life);

/// Data this long after a FIN, and a round trip, do not answer it.
const LATE: Span = Span::from_secs(1);

/// Firewalls and load balancers forget connections that are idle for a minute or more.
const LONG: Span = Span::from_secs(30);

/// So many retransmissions and probes without an answer are no single loss.
const UNANSWERED: u64 = 2;

fn in_life(connection: &Connection) -> Option<Finding> {
    if not_opened::is_failed(connection) {
        return None;
    }
    if connection.life.forged_reset.is_some_and(|forged| forged.refused.is_some()) {
        return None;
    }
    let close = connection.life.close?;
    let abort = match close.kind {
        CloseKind::Reset | CloseKind::ResetAfterFin => Abort::of(connection, close),
        CloseKind::Graceful | CloseKind::Simultaneous | CloseKind::HalfClosed => return None,
    };
    let (severity, lost) = abort.severity()?;
    let shown = Shown::in_frames([abort.frame()], abort.at());
    let found = shown.proves(RULE.name, severity, Cost::bytes(lost));
    Some(found.saying(abort.statement(), abort.remedy()))
}

/// An RST that ended a connection, and the data that it cut off.
struct Abort {
    close: Close,
    by: Endpoint,
    unread: Option<Bytes>,
    /// The other end's data that the RST's sender never acknowledged.
    others: Bytes,
    /// Its own data that the other end never acknowledged.
    own: Bytes,
    /// The client opened the connection, and reset it without any data: a check.
    is_check: bool,
    /// The other end did not answer any more.
    silence: Option<Silence>,
    /// Data of the other end that its sender missed by closing, after its FIN.
    missed: Option<Missed>,
    /// Of Multipath TCP: what a subflow lost may have come by another (RFC 8684 section 3.3.6).
    is_subflow: bool,
    /// Who gave up the whole connection of Multipath TCP.
    fast_close: Option<MultipathSign>,
    /// The other end gave up an address before it, on this subflow.
    removed: Option<MultipathSign>,
}

/// Why an end that had closed refused data that are no farewell.
#[derive(Clone, Copy)]
enum Missed {
    /// It closed after so much idle time, and they were under way.
    Idle(Span),
    /// They were sent long after its FIN had arrived.
    Late,
}

impl Missed {
    fn of(connection: &Connection, close: &Close) -> Option<Missed> {
        let later = close.reset_at?.since(close.at);
        match (close.refused?, close.idle) {
            (Refused::Unaware, Some(idle)) => Some(Missed::Idle(idle)),
            (Refused::Aware, _) if later > LATE + connection.round_trip.unwrap_or_default() => {
                Some(Missed::Late)
            }
            _ => None,
        }
    }
}

/// What an end sent without an answer before it gave up.
struct Silence {
    /// The other end's last packet.
    since: Instant,
    frame: u64,
    /// Retransmissions, zero-window probes and keep-alives since.
    sent: u64,
}

impl Silence {
    /// `flow`: of the end that gave up, at this time.
    fn before(at: Instant, flow: &Flow) -> Option<Silence> {
        let (since, frame) = flow.unanswered.heard.filter(|&(heard, _)| heard < at)?;
        let sent = flow.unanswered.retransmissions
            + count_after(&flow.windows.probes, frame)
            + count_after(&flow.marks.keep_alives, frame);
        (sent >= UNANSWERED).then_some(Silence { since, frame, sent })
    }
}

/// How many came after this frame, as far as that is known.
fn count_after(seen: &Occurrences, frame: u64) -> u64 {
    match seen.frames.iter().filter(|&&named| named < frame).count() {
        Occurrences::NAMED => 0,
        before => seen.count - before as u64,
    }
}

impl Abort {
    fn of(connection: &Connection, close: Close) -> Abort {
        let at = close.reset_at.unwrap_or(close.at);
        let is_subflow = connection.handshake.multipath;
        let before = |sign: &MultipathSign| is_subflow && sign.at <= at;
        let fast_close = connection.life.fast_close.filter(before);
        let reset_by = close.reset_by.unwrap_or(close.by);
        let removed = connection.life.address_removed.filter(before);
        let removed = removed.filter(|sign| sign.by != reset_by && fast_close.is_none());
        let by = fast_close.map_or(reset_by, |sign| sign.by);
        let (own, others) = match by {
            Endpoint::Client => (&connection.forward, &connection.reverse),
            Endpoint::Server => (&connection.reverse, &connection.forward),
        };
        let (flow, data) = (own, own.totals.unique + others.totals.unique);
        let [own, others] =
            [own, others].map(|flow| flow.totals.unique.saturating_sub(flow.transfer.acked));
        // The windows of subflows are one.
        let unread = close.unread.filter(|&unread| unread > Bytes::ZERO && !is_subflow);
        let silence = Silence::before(at, flow).filter(|_| fast_close.is_none());
        let missed = Missed::of(connection, &close)
            .filter(|_| others > Bytes::ZERO && own <= Close::FAREWELL && unread.is_none());
        let is_check = data == Bytes::ZERO
            && by == Endpoint::Client
            && close.kind == CloseKind::Reset
            && connection.handshake.opened.is_some_and(|opened| at.since(opened) < LONG);
        Abort {
            close,
            by,
            unread,
            others,
            own,
            is_check,
            silence,
            missed,
            is_subflow,
            fast_close,
            removed,
        }
    }

    fn at(&self) -> Instant {
        self.close.reset_at.unwrap_or(self.close.at)
    }
    fn frame(&self) -> u64 {
        self.close.reset_frame.unwrap_or(self.close.frame)
    }
    fn is_after_fin(&self) -> bool {
        self.close.kind == CloseKind::ResetAfterFin
    }
    /// It refused data of the other end after its own FIN, and nothing else was lost.
    fn is_refusal(&self) -> bool {
        self.is_after_fin()
            && self.close.by == self.by
            && self.unread.is_none()
            && self.own == Bytes::ZERO
    }

    /// Both ends closed an idle connection at once, and each missed the other's farewell.
    fn are_farewells(&self) -> bool {
        self.close.refused == Some(Refused::Closing)
            && self.close.idle.is_some()
            && self.own.max(self.others) <= Close::FAREWELL
    }
    /// The idle time before it, if another may have forgotten the connection meanwhile.
    fn long_idle(&self) -> Option<Span> {
        self.close.idle.filter(|&idle| idle >= LONG && !self.is_after_fin())
    }

    /// How grave it is, and the data lost; none where it is harmless.
    fn severity(&self) -> Option<(Severity, Bytes)> {
        if let Some(unread) = self.unread {
            return Some((Severity::Failure, unread));
        }
        let lost = self.others + self.own;
        if self.are_farewells() {
            None
        } else if self.is_subflow {
            let is_whole = self.fast_close.is_some();
            let severity = if is_whole { Severity::Failure } else { Severity::Note };
            Some((severity, Bytes::ZERO))
        } else if self.missed.is_some() && self.by == Endpoint::Server {
            Some((Severity::Failure, lost))
        } else if self.is_refusal() {
            let answers_fin = self.missed.is_none()
                && (self.close.refused != Some(Refused::Unaware) || self.by == Endpoint::Client);
            (lost > Close::FAREWELL || !answers_fin).then_some((Severity::Note, lost))
        } else if self.is_check {
            Some((Severity::Note, Bytes::ZERO))
        } else {
            (!self.is_after_fin() || lost > Bytes::ZERO).then_some((Severity::Failure, lost))
        }
    }

    /// Who ended what, and when.
    fn act(&self) -> String {
        let (who, other, at) = (self.by.name(), self.by.other().name(), seconds(self.at()));
        if let Some(MultipathSign { at, frame, .. }) = self.fast_close {
            return format!(
                "The {who} gave up the whole connection of Multipath TCP at {} (MP_FASTCLOSE, \
                 frame {frame})",
                seconds(at)
            );
        }
        let what = if self.is_subflow { "this subflow of Multipath TCP" } else { "the connection" };
        let after = match self.removed {
            Some(MultipathSign { at, frame, .. }) => format!(
                ", {} after the {other} gave up an address (REMOVE_ADDR, frame {frame})",
                rounded(self.at().since(at))
            ),
            None => String::new(),
        };
        format!("The {who} reset {what} at {at}{after}")
    }

    fn statement(&self) -> String {
        let (who, other) = (self.by.name(), self.by.other().name());
        let mut text = self.act();
        // At its sender it may pass before a FIN that was under way.
        if self.is_after_fin() && self.frame() > self.close.frame {
            let later = rounded(self.at().since(self.close.at));
            let whose =
                if self.close.by == self.by { "its own".into() } else { format!("the {other}'s") };
            text += &format!(", {later} after {whose} FIN");
        } else if let Some(idle) = self.long_idle() {
            text += &format!(", after a silence of {}", rounded(idle));
        }
        if let Some(Silence { since, frame, sent }) = self.silence {
            text += &format!(
                "; the {other} had not answered since {} (frame {frame}), though the {who} sent \
                 {sent} retransmissions or probes",
                seconds(since)
            );
        }
        if let Some(unread) = self.unread {
            text += if self.is_after_fin() { ", with" } else { " with" };
            return text + &format!(" {} unread: acknowledged data was lost.", amount(unread));
        }
        let others =
            format!("{} of the {other}'s data was never acknowledged", amount(self.others));
        let own = format!("{} of its own data was never acknowledged", amount(self.own));
        text += &match (self.others > Bytes::ZERO, self.own > Bytes::ZERO) {
            (false, false) if self.is_check => ", with no data sent.".to_owned(),
            (false, false) => ".".to_owned(),
            _ if self.is_subflow => {
                let lost = match (self.others > Bytes::ZERO, self.own > Bytes::ZERO) {
                    (true, true) => format!("{others}, {own}"),
                    (true, false) => others,
                    _ => own,
                };
                format!(": {lost} here; another subflow may have carried it.")
            }
            (true, false) => format!(": {others}, so it is lost."),
            (false, true) => format!(": {own}; it may be lost."),
            (true, true) => format!(": {others}, so it is lost; {own}, and may be lost."),
        };
        text + &match (self.close.reopened, self.missed) {
            (Some(syn), _) => format!(
                " It had opened another connection of the same ports (SYN in frame {syn}): its \
                 RST answers an ACK of this one (a challenge ACK)."
            ),
            (None, Some(Missed::Idle(idle))) => format!(
                " The {who} closed after {} without a packet, while that data was on its way.",
                rounded(idle)
            ),
            (None, Some(Missed::Late)) => {
                " That data was sent after the FIN had arrived.".to_owned()
            }
            (None, None) => String::new(),
        }
    }

    fn remedy(&self) -> String {
        let (who, other) = (self.by.name(), self.by.other().name());
        if self.close.reopened.is_some() {
            FORGOTTEN.to_owned()
        } else if let Some(sign) = self.fast_close {
            let answer = match self.close.reset_by {
                Some(by) if by != sign.by => {
                    format!(" The {other}'s RST answers it, as RFC 8684 section 3.5 has it.")
                }
                _ => String::new(),
            };
            format!(
                "Check the {who}'s program at that time: a close with data unread, SO_LINGER of \
                 zero, a killed process, an application timeout.{answer}"
            )
        } else if self.silence.is_some() {
            format!(
                "The {other}'s host is down or disconnected, the path is interrupted, or a \
                 firewall or address translation has dropped the connection: the {who} gave up. \
                 Capture at the {other} too."
            )
        } else if self.is_subflow {
            format!(
                "An RST ends this subflow alone (RFC 8684 section 3.5): look at the others of the \
                 same connection. An end closes a subflow so when the other gives up its address, \
                 which may be told on another subflow (REMOVE_ADDR, section 3.4.2), or when its \
                 path manager wants no more of it. Where no subflow goes on, check the {who}'s \
                 program."
            )
        } else if self.unread.is_some() {
            format!(
                "The {who}'s program closed its socket with data unread: let it read to the end, \
                 or shut down its sending side and read until the {other} closes too."
            )
        } else if self.missed.is_some() && self.by == Endpoint::Server {
            let late = match self.missed {
                Some(Missed::Late) => "notice that the server closed, ",
                _ => "",
            };
            format!(
                "Let the client {late}make its idle timeout shorter than the server's, or retry \
                 idempotent requests on a new connection."
            )
        } else if self.is_after_fin() && self.close.by == self.by {
            let harm = if self.is_refusal() {
                "harmless if nobody wants that data, as when a download is given up; else"
            } else {
                "RST can overtake the last answer;"
            };
            format!(
                "The {who} closed before the {other} was done sending: {harm} shut down the \
                 {who}'s sending side and read until the {other} closes too."
            )
        } else if self.is_check {
            "Load balancers check servers so, and port scanners look for them: harmless. Else the \
             client's program gave up at once."
                .to_owned()
        } else {
            self.suspects()
        }
    }

    /// Who may have sent an RST that nothing else explains.
    fn suspects(&self) -> String {
        let who = self.by.name();
        let idle = match self.long_idle() {
            Some(_) => {
                "A NAT, firewall or load balancer may have forgotten the connection as idle: send \
                 TCP keepalives sooner than it does (SO_KEEPALIVE; on Linux TCP_KEEPIDLE), or \
                 close idle connections sooner. "
            }
            None => "",
        };
        let check = format!(
            "Check the {who}'s program at that time: a crash, an application timeout, SO_LINGER \
             of zero, a killed process."
        );
        let other = "If it did not close, a firewall or load balancer sent the RST";
        match self.close.reset_ttls {
            Some((ttl, first)) if ttl == first => {
                format!("{idle}{check} {other}, though its TTL is that of the {who}, {ttl}.")
            }
            Some((ttl, first)) => format!(
                "The RST has a TTL of {ttl}, the {who}'s first packet had {first}: perhaps a \
                 firewall or load balancer on the path sent it. {idle}Otherwise: {check}"
            ),
            None => format!("{idle}{check} {other}; its TTL often differs."),
        }
    }
}
