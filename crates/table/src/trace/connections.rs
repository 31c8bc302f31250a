//! A row for each connection: who, when, how it was opened and closed.

use tcplab_trace::{Connection, FastOpen};
use tcplab_units::{Bytes, Instant, Span};

use super::names;
use crate::column::{Column, columns};

pub(crate) struct ConnectionRow {
    /// From 0.
    pub(crate) number: u64,
    pub(crate) connection: Connection,
}

/// Beside these the table has the columns of both directions.
pub(super) const IDENTITY: &[Column<ConnectionRow>] = columns! {
    CONNECTION Near Whole(|row| row.number);
    CLIENT_ADDRESS Few Text(|row| row.connection.client.ip().to_string().into());
    CLIENT_PORT Near Whole(|row| row.connection.client.port().into());
    SERVER_ADDRESS Few Text(|row| row.connection.server.ip().to_string().into());
    SERVER_PORT Few Whole(|row| row.connection.server.port().into());
    REUSES_CONNECTION Near WholeIfAny(|row| row.connection.reuses.map(|index| index as u64));
    FIRST_NS Near Whole(|row| row.connection.first.as_nanos());
    LAST_NS Near Whole(|row| row.connection.last.as_nanos());
    FIRST_FRAME Near Whole(|row| row.connection.frames.0);
    LAST_FRAME Near Whole(|row| row.connection.frames.1);
    PACKETS Near Whole(|row| row.connection.packets);
    HANDSHAKE Few Text(|row| names::handshake(row.connection.handshake.kind).into());
    SYN_NS Near WholeIfAny(|row| row.connection.handshake.syn.map(Instant::as_nanos));
    SYN_ACK_NS Near WholeIfAny(|row| row.connection.handshake.syn_ack.map(Instant::as_nanos));
    ESTABLISHED_NS Near WholeIfAny(|row| {
        row.connection.handshake.opened.map(Instant::as_nanos)
    });
    HANDSHAKE_RTT_NS Near WholeIfAny(|row| {
        row.connection.handshake.round_trip.map(Span::as_nanos)
    });
    SYN_RETRANSMISSIONS Few Whole(|row| row.connection.handshake.client_repeats);
    SYN_ACK_RETRANSMISSIONS Few Whole(|row| row.connection.handshake.server_repeats);
    CLIENT_SYN_CAPTURED Few Flag(|row| row.connection.handshake.client.seen);
    SERVER_SYN_CAPTURED Few Flag(|row| row.connection.handshake.server.seen);
    CLIENT_SYN_CUT Few Flag(|row| row.connection.handshake.client.cut);
    SERVER_SYN_CUT Few Flag(|row| row.connection.handshake.server.cut);
    CLIENT_MSS_BYTES Few WholeIfAny(|row| row.connection.handshake.client.mss.map(u64::from));
    SERVER_MSS_BYTES Few WholeIfAny(|row| row.connection.handshake.server.mss.map(u64::from));
    CLIENT_WINDOW_SCALE Few WholeIfAny(|row| {
        row.connection.handshake.client.window_scale.map(u64::from)
    });
    SERVER_WINDOW_SCALE Few WholeIfAny(|row| {
        row.connection.handshake.server.window_scale.map(u64::from)
    });
    CLIENT_SACK_PERMITTED Few FlagIfAny(|row| {
        let syn = &row.connection.handshake.client;
        syn.known(syn.sack_permitted)
    });
    SERVER_SACK_PERMITTED Few FlagIfAny(|row| {
        let syn = &row.connection.handshake.server;
        syn.known(syn.sack_permitted)
    });
    CLIENT_TIMESTAMPS Few FlagIfAny(|row| {
        let syn = &row.connection.handshake.client;
        syn.known(syn.timestamps)
    });
    SERVER_TIMESTAMPS Few FlagIfAny(|row| {
        let syn = &row.connection.handshake.server;
        syn.known(syn.timestamps)
    });
    CLIENT_SYN_WINDOW_BYTES Few Whole(|row| row.connection.handshake.client.window.into());
    SERVER_SYN_WINDOW_BYTES Few Whole(|row| row.connection.handshake.server.window.into());
    SACK_AGREED Few FlagIfAny(|row| row.connection.handshake.agreed(|syn| syn.sack_permitted));
    TIMESTAMPS_AGREED Few FlagIfAny(|row| row.connection.handshake.agreed(|syn| syn.timestamps));
    ECN Few Text(|row| names::ecn(row.connection.handshake.ecn).into());
    MULTIPATH Few Flag(|row| row.connection.handshake.multipath);
    FAST_OPEN Few TextIfAny(|row| {
        let fast_open = fast_open(row)?;
        Some(match (fast_open.accepted, fast_open.cookie_sent) {
            (true, _) => "accepted".into(),
            (false, true) => "sent".into(),
            (false, false) => "asked".into(),
        })
    });
    FAST_OPEN_COOKIE_SENT Few FlagIfAny(|row| Some(fast_open(row)?.cookie_sent));
    FAST_OPEN_COOKIE_GIVEN Few FlagIfAny(|row| Some(fast_open(row)?.cookie_given));
    FAST_OPEN_DATA_BYTES Few WholeIfAny(|row| Some(fast_open(row)?.data.as_u64()));
    FAST_OPEN_ACCEPTED Few FlagIfAny(|row| Some(fast_open(row)?.accepted));
    CONN_STATE Few Text(|row| names::state(row.connection.life.state).into());
    HISTORY Few Text(|row| row.connection.life.history.clone().into());
    CLOSE Few TextIfAny(|row| Some(names::close(row.connection.life.close?.kind).into()));
    CLOSED_BY Few TextIfAny(|row| Some(row.connection.life.close?.by.name().into()));
    CLOSE_NS Near WholeIfAny(|row| Some(row.connection.life.close?.at.as_nanos()));
    CLOSE_FRAME Near WholeIfAny(|row| Some(row.connection.life.close?.frame));
    RESET_BY Few TextIfAny(|row| Some(row.connection.life.close?.reset_by?.name().into()));
    UNREAD_BYTES Few WholeIfAny(|row| row.connection.life.close?.unread.map(Bytes::as_u64));
    PACKETS_AFTER_CLOSE Few Whole(|row| row.connection.life.after_close);
};

fn fast_open(row: &ConnectionRow) -> Option<FastOpen> {
    row.connection.handshake.fast_open
}
