//! A row for each connection: who, when, how it was opened and closed.

use tcplab_trace::Connection;
use tcplab_units::{Bytes, Instant, Span};

use super::names;
use crate::column::{Cells, Column, Values};

pub(crate) struct ConnectionRow {
    /// From 0.
    pub(crate) number: u64,
    pub(crate) connection: Connection,
}

macro_rules! column {
    ($name:literal, $doc:literal, $values:ident, $cells:ident($cell:expr)) => {
        Column { name: $name, doc: $doc, values: Values::$values, cells: Cells::$cells($cell) }
    };
}

/// Beside these the table has the columns of both directions.
pub(crate) const IDENTITY: &[Column<ConnectionRow>] = &[
    column!(
        "connection",
        "Its number, from 0, in the order of first packets",
        Near,
        Number(|row| row.number)
    ),
    column!(
        "client_address",
        "The address of the end that sent the first SYN, or the first packet if none was seen",
        Few,
        Text(|row| row.connection.client.ip().to_string().into())
    ),
    column!("client_port", "Its port", Near, Number(|row| row.connection.client.port().into())),
    column!(
        "server_address",
        "The address of the other end",
        Few,
        Text(|row| row.connection.server.ip().to_string().into())
    ),
    column!("server_port", "Its port", Few, Number(|row| row.connection.server.port().into())),
    column!(
        "reuses",
        "The number of the earlier connection between the same addresses and ports; empty if there \
         was none",
        Near,
        NumberIfAny(|row| row.connection.reuses.map(|index| index as u64))
    ),
    column!(
        "first_ns",
        "When its first packet was captured, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.connection.first.as_nanos())
    ),
    column!(
        "last_ns",
        "When its last packet was captured, in nanoseconds from the trace's zero",
        Near,
        Number(|row| row.connection.last.as_nanos())
    ),
    column!("first_frame", "Its first frame, from 1", Near, Number(|row| row.connection.frames.0)),
    column!("last_frame", "Its last frame", Near, Number(|row| row.connection.frames.1)),
    column!("packets", "Packets of both directions", Near, Number(|row| row.connection.packets)),
    column!(
        "handshake",
        "How it was opened: three-way, simultaneous, split, half-open, refused, unanswered, or \
         unseen (the capture begins later)",
        Few,
        Text(|row| names::handshake(row.connection.handshake.kind).into())
    ),
    column!(
        "handshake_rtt_ns",
        "From the last SYN to the handshake's first acknowledgement at this tap, in nanoseconds; \
         empty if not seen",
        Near,
        NumberIfAny(|row| row.connection.handshake.round_trip.map(Span::as_nanos))
    ),
    column!(
        "syn_repeats",
        "SYNs of the client that repeat the first",
        Few,
        Number(|row| row.connection.handshake.client_repeats)
    ),
    column!(
        "syn_ack_repeats",
        "SYN-ACKs that repeat the first",
        Few,
        Number(|row| row.connection.handshake.server_repeats)
    ),
    column!(
        "client_mss_bytes",
        "The maximum segment size in the client's SYN; empty if there was none",
        Few,
        NumberIfAny(|row| row.connection.handshake.client.mss.map(u64::from))
    ),
    column!(
        "server_mss_bytes",
        "The same in the server's SYN-ACK",
        Few,
        NumberIfAny(|row| row.connection.handshake.server.mss.map(u64::from))
    ),
    column!(
        "client_window_scale",
        "The shift in the client's SYN; empty if it had none",
        Few,
        NumberIfAny(|row| row.connection.handshake.client.window_scale.map(u64::from))
    ),
    column!(
        "server_window_scale",
        "The same in the server's SYN-ACK",
        Few,
        NumberIfAny(|row| row.connection.handshake.server.window_scale.map(u64::from))
    ),
    column!(
        "sack_agreed",
        "Whether both SYNs permitted SACK",
        Few,
        Flag(|row| {
            let handshake = &row.connection.handshake;
            handshake.client.sack_permitted && handshake.server.sack_permitted
        })
    ),
    column!(
        "timestamps_agreed",
        "Whether both SYNs had timestamps",
        Few,
        Flag(|row| {
            let handshake = &row.connection.handshake;
            handshake.client.timestamps && handshake.server.timestamps
        })
    ),
    column!(
        "ecn",
        "What the ends agreed on about ECN: classic, accurate, refused, not-asked, unknown",
        Few,
        Text(|row| names::ecn(row.connection.handshake.ecn).into())
    ),
    column!(
        "multipath",
        "Whether both ends spoke Multipath TCP",
        Few,
        Flag(|row| row.connection.handshake.multipath)
    ),
    column!(
        "fast_open",
        "TCP Fast Open: asked (for a cookie), sent (one), accepted (its data); empty if not used",
        Few,
        TextIfAny(|row| {
            let fast_open = row.connection.handshake.fast_open?;
            Some(match (fast_open.accepted, fast_open.cookie_sent) {
                (true, _) => "accepted".into(),
                (false, true) => "sent".into(),
                (false, false) => "asked".into(),
            })
        })
    ),
    column!(
        "state",
        "Zeek's conn_state: S0, S1, S2, S3, SF, REJ, RSTO, RSTR, RSTOS0, RSTRH, SH, SHR, OTH",
        Few,
        Text(|row| names::state(row.connection.life.state).into())
    ),
    column!(
        "history",
        "Zeek's history: a letter for each first of its kind, capitals for the client",
        Few,
        Text(|row| row.connection.life.history.clone().into())
    ),
    column!(
        "close",
        "How it was closed: graceful, simultaneous, half-closed, reset, reset-after-fin; empty if \
         it was not",
        Few,
        TextIfAny(|row| Some(names::close(row.connection.life.close?.kind).into()))
    ),
    column!(
        "closed_by",
        "Who began: client or server; empty if nobody did",
        Few,
        TextIfAny(|row| Some(row.connection.life.close?.by.name().into()))
    ),
    column!(
        "close_ns",
        "When the first FIN or the RST passed, in nanoseconds from the trace's zero; empty if there \
         was none",
        Near,
        NumberIfAny(|row| row.connection.life.close.map(|close| close.at).map(Instant::as_nanos))
    ),
    column!(
        "close_frame",
        "Its frame; empty if there was none",
        Near,
        NumberIfAny(|row| row.connection.life.close.map(|close| close.frame))
    ),
    column!(
        "unread_bytes",
        "After an RST: bytes that its sender had received and, as far as it shows, not read; empty \
         if nothing tells",
        Few,
        NumberIfAny(|row| row.connection.life.close?.unread.map(Bytes::as_u64))
    ),
    column!(
        "packets_after_close",
        "Packets between the two ends after it was over",
        Few,
        Number(|row| row.connection.life.after_close)
    ),
];
