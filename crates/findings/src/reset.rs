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
//! `221`): silent. More than those may be unwanted, too: a note. A handshake that failed is another
//! rule's (`not-opened`).
//!
//! **Reference.** RFC 9293 sections 3.6.1 (SHLD-3: RST shows that data after CLOSE were lost) and
//! 3.10.5 (abort); RFC 1122 section 4.2.2.13 and RFC 2525 section 2.17 (closing with data unread);
//! Linux: `__tcp_close`, and `tcp_rcv_state_process` (`TCPABORTONDATA`).

use tcplab_trace::{Close, CloseKind, Connection, Flow, Occurrences};
use tcplab_units::{Bytes, Endpoint, Instant};

use crate::words::{amount, rounded, seconds};
use crate::{Cost, Finding, Rule, Severity, Shown, not_opened};

/// The rule.
pub const RULE: Rule = Rule::of_connection("reset", in_life);

/// As much data as an end may still send to one that closed, by an application protocol that says
/// farewell: a reply of SMTP has at most 512 bytes (RFC 5321 section 4.5.3.1.5).
const FAREWELL: Bytes = Bytes::new(512);

/// So many retransmissions and probes without an answer are no single loss.
const UNANSWERED: u64 = 2;

fn in_life(connection: &Connection) -> Option<Finding> {
    if not_opened::is_failed(connection) {
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
    /// The other end did not answer any more.
    silence: Option<Silence>,
    /// Of Multipath TCP: what a subflow lost may have come by another (RFC 8684 section 3.3.6).
    is_subflow: bool,
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
        let by = close.reset_by.unwrap_or(close.by);
        let (own, others) = match by {
            Endpoint::Client => (&connection.forward, &connection.reverse),
            Endpoint::Server => (&connection.reverse, &connection.forward),
        };
        let flow = own;
        let [own, others] =
            [own, others].map(|flow| flow.totals.unique.saturating_sub(flow.transfer.acked));
        let unread = close.unread.filter(|&unread| unread > Bytes::ZERO);
        let at = close.reset_at.unwrap_or(close.at);
        let (silence, is_subflow) = (Silence::before(at, flow), connection.handshake.multipath);
        Abort { close, by, unread, others, own, silence, is_subflow }
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

    /// How grave it is, and the data lost; none where it is harmless.
    fn severity(&self) -> Option<(Severity, Bytes)> {
        if let Some(unread) = self.unread {
            return Some((Severity::Failure, unread));
        }
        let lost = self.others + self.own;
        if self.is_subflow {
            Some((Severity::Note, Bytes::ZERO))
        } else if self.is_refusal() {
            (lost > FAREWELL).then_some((Severity::Note, lost))
        } else {
            (!self.is_after_fin() || lost > Bytes::ZERO).then_some((Severity::Failure, lost))
        }
    }

    fn statement(&self) -> String {
        let (who, other) = (self.by.name(), self.by.other().name());
        let mut text = format!("The {who} reset the connection at {}", seconds(self.at()));
        if self.is_after_fin() {
            let later = rounded(self.at().since(self.close.at));
            let whose =
                if self.close.by == self.by { "its own".into() } else { format!("the {other}'s") };
            text += &format!(", {later} after {whose} FIN");
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
        match (self.others > Bytes::ZERO, self.own > Bytes::ZERO) {
            (false, false) => text + ".",
            (true, false) if self.is_subflow => {
                text + &format!(": {others} here; another subflow may have carried it.")
            }
            (true, false) => text + &format!(": {others}, so it is lost."),
            (false, true) => text + &format!(": {own}; it may be lost."),
            (true, true) => text + &format!(": {others}, so it is lost; {own}, and may be lost."),
        }
    }

    fn remedy(&self) -> String {
        let (who, other) = (self.by.name(), self.by.other().name());
        if self.silence.is_some() {
            format!(
                "The {other}'s host is down or disconnected, the path is interrupted, or a \
                 firewall or address translation has dropped the connection: the {who} gave up. \
                 Capture at the {other} too."
            )
        } else if self.unread.is_some() {
            format!(
                "The {who}'s program closed its socket with data unread: let it read to the end, \
                 or shut down its sending side and read until the {other} closes too."
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
        } else {
            let check = format!(
                "Check the {who}'s program at that time: a crash, an application timeout, \
                 SO_LINGER of zero, a killed process."
            );
            let other = "If it did not close, a firewall or load balancer sent the RST";
            match self.close.reset_ttls {
                Some((ttl, first)) if ttl == first => {
                    format!("{check} {other}, though its TTL is that of the {who}, {ttl}.")
                }
                Some((ttl, first)) => format!(
                    "The RST has a TTL of {ttl}, the {who}'s first packet had {first}: perhaps a \
                     firewall or load balancer on the path sent it. Otherwise: {check}"
                ),
                None => format!("{check} {other}; its TTL often differs."),
            }
        }
    }
}
