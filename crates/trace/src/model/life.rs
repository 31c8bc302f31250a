//! How a connection began, lived and ended.

use serde::{Serialize, Serializer};
use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_wire::TcpFlags;

use super::{ForgedReset, MultipathSign, Occurrences};

/// How the connection was opened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handshake {
    /// In which way.
    pub kind: HandshakeKind,
    /// No SYN was captured and the first packet is no RST: it is older than the capture.
    pub midstream: bool,
    /// When the first SYN was seen.
    pub syn: Option<Instant>,
    /// When the first SYN-ACK was seen.
    pub syn_ack: Option<Instant>,
    /// When the client acknowledged the server's SYN.
    pub opened: Option<Instant>,
    /// From the SYN to the SYN-ACK and on to the client's answer: one round trip at any capture
    /// point. Of retransmitted ones those that answer each other by timestamps, else the last; none
    /// where the SYN-ACK may be a retransmission.
    pub round_trip: Option<Span>,
    /// What the client offered in its SYN, the last before the handshake's end.
    pub client: SynOptions,
    /// What the server offered in its SYN-ACK.
    pub server: SynOptions,
    /// SYNs of the client that repeat the first.
    pub client_repeats: u64,
    /// SYN-ACKs that repeat the first.
    pub server_repeats: u64,
    /// SYN-ACKs that came again although the client's ACK had passed, each a timer later: the
    /// server did not take the connection up with that ACK.
    pub not_accepted: Occurrences,
    /// The first packet of the server behind them, by which it has.
    pub accepted: Option<(Instant, u64)>,
    /// ACKs by which the server answered the SYN from an older connection of the same ports, which
    /// it had not forgotten: half open (RFC 9293 section 3.5.1, figure 10).
    pub old_answers: Occurrences,
    /// TCP Fast Open (RFC 7413), if the client's SYN asked for it or carried data.
    pub fast_open: Option<FastOpen>,
    /// Multipath TCP (RFC 8684; version 0: RFC 6824): both ends sent its option.
    pub multipath: bool,
    /// What the ends agreed on about ECN.
    pub ecn: EcnAgreement,
}

/// In which way a connection was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandshakeKind {
    /// The capture begins later.
    #[default]
    Unseen,
    /// SYNs, and neither SYN nor RST came back.
    Unanswered,
    /// A SYN answered by an RST that acknowledges it.
    Refused,
    /// SYN-ACK and no ACK: half open.
    HalfOpen,
    /// SYN, SYN-ACK, ACK (RFC 9293 section 3.5), also if later packets show one not captured.
    ThreeWay,
    /// Both ends sent SYN without ACK (RFC 9293 section 3.5).
    Simultaneous,
    /// The server sent ACK and SYN apart, or a SYN of its own as answer.
    Split,
}

/// The options of one SYN; all absent when the SYN was not seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "options are there or not")]
pub struct SynOptions {
    /// Whether the SYN was seen at all: only then does an absent option mean "not offered".
    pub seen: bool,
    /// Whether options were cut off by the capture: then an absent one may have been there.
    pub cut: bool,
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// Window scale: the shift, 0 to 14 (RFC 7323 section 2).
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 section 3).
    pub timestamps: bool,
    /// The window of the SYN itself, never scaled, bytes.
    pub window: u16,
}

impl Handshake {
    /// Whether both ends offered an option: none where that cannot be known.
    pub fn agreed(&self, found: impl Fn(&SynOptions) -> bool) -> Option<bool> {
        let known = [&self.client, &self.server].map(|syn| syn.known(found(syn)));
        if known.contains(&Some(false)) { Some(false) } else { known[0].and(known[1]) }
    }
}

impl SynOptions {
    /// Whether the option that was found, or not, was sent: none where that cannot be known.
    pub fn known(&self, found: bool) -> Option<bool> {
        (found || (self.seen && !self.cut)).then_some(found)
    }
}

/// TCP Fast Open as far as the handshake shows it (RFC 7413).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own")]
pub struct FastOpen {
    /// The client sent a cookie; else it asked for one, or sent data without (as Linux can).
    pub cookie_sent: bool,
    /// The server gave a cookie.
    pub cookie_given: bool,
    /// Data in the SYN.
    pub data: Bytes,
    /// The SYN-ACK acknowledged the data.
    pub accepted: bool,
    /// Only a SYN without the option and data was answered.
    pub given_up: bool,
}

/// What the ends agreed on about explicit congestion notification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum EcnAgreement {
    /// The SYNs that negotiate ECN were not both captured.
    #[default]
    Unknown,
    /// The client did not ask.
    NotAsked,
    /// The client asked, got no answer, and left it out: only that SYN was answered.
    GivenUp,
    /// The server did not agree.
    Refused,
    /// Classic ECN (RFC 3168 section 6.1.1).
    Classic,
    /// Accurate ECN (RFC 9768 section 3.1).
    Accurate,
}

/// What became of the connection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Life {
    /// In Zeek's terms (`conn_state`).
    pub state: ConnectionState,
    /// Zeek's history: a letter for each first of its kind, capitals for the client; by Zeek's
    /// rules, so that it can be compared, even where this analyser knows better (`T` is whatever
    /// ends at or below the highest byte sent). `C` is looked for in SYN, FIN and RST only.
    pub history: String,
    /// How it was closed; none if it was not, as far as the capture goes.
    pub close: Option<Close>,
    /// The client's states (RFC 9293) from the first packet on; empty if it sent only RST.
    pub client: Vec<StateStep>,
    /// The server's.
    pub server: Vec<StateStep>,
    /// Packets between the two ends after it was over: late ones, repeated FINs, answers to RST.
    pub after_close: u64,
    /// An RST that its sender seems not to have sent.
    pub forged_reset: Option<ForgedReset>,
    /// Of Multipath TCP: who gave up the whole connection first (RFC 8684 section 3.5).
    pub fast_close: Option<MultipathSign>,
    /// Who first gave up an address on this subflow (RFC 8684 section 3.4.2).
    pub address_removed: Option<MultipathSign>,
}

/// Zeek's summary of a connection, by the names that Zeek gives (`conn_state`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConnectionState {
    /// A SYN without answer.
    S0,
    /// Open, and not closed in the capture.
    S1,
    /// Open; the client closed, the server did not.
    S2,
    /// Open; the server closed, the client did not.
    S3,
    /// Opened and closed by FINs.
    Sf,
    /// Refused: RST to the SYN.
    Rej,
    /// The client aborted it.
    Rsto,
    /// The server aborted it.
    Rstr,
    /// SYN, then RST from the client; no SYN-ACK seen.
    Rstos0,
    /// SYN-ACK, then RST from the server; no SYN seen.
    Rstrh,
    /// SYN, then FIN from the client; no SYN-ACK seen.
    Sh,
    /// SYN-ACK, then FIN from the server; no SYN seen.
    Shr,
    /// Begun before the capture.
    #[default]
    Oth,
}

/// How a connection was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Close {
    /// In which way.
    pub kind: CloseKind,
    /// The end that opened.
    pub by: Endpoint,
    /// When the first FIN or the RST passed.
    pub at: Instant,
    /// Its frame.
    pub frame: u64,
    /// The end that sent the RST, if one ended it.
    pub reset_by: Option<Endpoint>,
    /// When the RST passed.
    pub reset_at: Option<Instant>,
    /// Its frame.
    pub reset_frame: Option<u64>,
    /// After an RST: bytes that its sender had received and, as far as its windows and
    /// acknowledgements show, not read. An estimate; none where they do not show it.
    pub unread: Option<Bytes>,
    /// The TTL of the RST, and that of its sender's first packet.
    #[serde(skip)]
    pub reset_ttls: Option<(u8, u8)>,
    /// The time without a packet before it, if the end that closed has since acknowledged nothing
    /// and sent at most a [farewell](Close::FAREWELL).
    #[serde(skip)]
    pub idle: Option<Span>,
    /// What an RST refused that a FIN of its sender precedes, if it acknowledged nothing more.
    #[serde(skip)]
    pub refused: Option<Refused>,
    /// The frame of a SYN by which the sender of the RST opened another connection of the same
    /// ports before: the RST answers a challenge ACK (RFC 9293 section 3.5.1, figure 10).
    #[serde(skip)]
    pub reopened: Option<u64>,
}

impl Close {
    /// As much data as an application protocol says farewell with: a reply of SMTP has at most 512
    /// bytes (RFC 5321 section 4.5.3.1.5).
    pub const FAREWELL: Bytes = Bytes::new(512);
}

/// Data that an end refused after its own FIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refused {
    /// Sent before its sender knew of the FIN.
    Unaware,
    /// Sent by an end that had acknowledged the FIN.
    Aware,
    /// Of an end that closed, too: both sent a FIN.
    Closing,
}

/// In which way a connection was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseKind {
    /// FIN from both ends, one after the other; the last ACK may not be captured.
    Graceful,
    /// Both FINs crossed each other (RFC 9293 section 3.6, figure 13).
    Simultaneous,
    /// One end sent its FIN; the other continued, or the capture ends.
    HalfClosed,
    /// RST.
    Reset,
    /// RST after a FIN.
    ResetAfterFin,
}

/// A state of one end, entered at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateStep {
    /// Which.
    pub state: TcpState,
    /// When the packet that led there passed the capture point; not before the previous step.
    pub at: Instant,
    /// The frame at that time.
    pub frame: u64,
    /// The packet that brought the end there. Of two packets that crossed, the one received may
    /// have passed the capture point before the one sent, and counts only after it.
    pub cause: StepCause,
}

/// The packet that brought an end into a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StepCause {
    /// When it passed the capture point.
    pub at: Instant,
    /// Its frame.
    pub frame: u64,
    /// Its flags, written as tcpdump does.
    #[serde(serialize_with = "letters")]
    pub flags: TcpFlags,
    /// Who sent it: the end itself, or the other one.
    pub by: Endpoint,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn letters<S: Serializer>(flags: &TcpFlags, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(flags)
}

/// The states of a connection's end (RFC 9293 section 3.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
#[expect(missing_docs, reason = "the names are the standard's, and explained there")]
pub enum TcpState {
    Listen,
    SynSent,
    SynReceived,
    Established,
    #[serde(rename = "FIN-WAIT-1")]
    FinWait1,
    #[serde(rename = "FIN-WAIT-2")]
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a short capture cut off is unknown, not refused.
    #[test]
    fn options_that_were_cut_off_are_unknown() {
        let seen = |cut, sack_permitted| SynOptions {
            seen: true,
            cut,
            sack_permitted,
            ..SynOptions::default()
        };
        for (client, server, expected) in [
            (seen(false, true), seen(false, true), Some(true)),
            (seen(true, true), seen(false, true), Some(true)),
            (seen(true, false), seen(false, true), None),
            (seen(true, false), seen(false, false), Some(false)),
            (SynOptions::default(), seen(false, true), None),
            (SynOptions::default(), SynOptions::default(), None),
        ] {
            let handshake = Handshake { client, server, ..Handshake::default() };
            assert_eq!(handshake.agreed(|syn| syn.sack_permitted), expected);
        }
    }
}
