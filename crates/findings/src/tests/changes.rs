//! What cases have in common: changes of a transfer.

use tcplab_trace::{
    Connection, EcnAgreement, FastOpen, Flow, ForgedReset, HandshakeKind, Limit, MssChange, Series,
};
use tcplab_units::{Bytes, Endpoint};

use super::sums::{at, limited, ms, occurred};

pub(super) fn never_opened(connection: &mut Connection, kind: HandshakeKind, repeats: u64) {
    connection.handshake.kind = kind;
    connection.handshake.opened = None;
    connection.handshake.client_repeats = repeats;
    connection.forward.causes.syn_retransmissions = occurred(repeats, 2);
    connection.last = at(63_000);
    connection.frames = (1, 8);
}

pub(super) fn asked() -> FastOpen {
    FastOpen::default()
}

pub(super) fn fast_open(connection: &mut Connection, asked: FastOpen) {
    connection.handshake.fast_open = Some(asked);
}

/// In the server's name.
pub(super) fn forge_reset(connection: &mut Connection, ttl: u8, refused: Option<u64>) {
    let (by, at, ttls) = (Endpoint::Server, at(9_000), Some((ttl, 57)));
    let forged = ForgedReset { by, at, frame: 8_990, ttls, went_on: 8_993, refused };
    connection.life.forged_reset = Some(forged);
}

pub(super) fn small_window(connection: &mut Connection, first: u64, max: u64) {
    let flow = &mut connection.forward;
    (flow.windows.first, flow.windows.max) = (Some(Bytes::new(first)), Some(Bytes::new(max)));
    flow.windows.window_full = occurred(900, 100);
    limited(flow, &[(Limit::ReceiveWindow, 4_800), (Limit::Congestion, 5_200)]);
}

/// 60 kB in 200 ms.
pub(super) fn short(connection: &mut Connection) {
    let flow = &mut connection.forward;
    (flow.totals.wire_segments, flow.totals.data) = (42, Bytes::new(60_000));
    flow.transfer.time = ms(200);
    flow.transfer.goodput = Some(tcplab_units::Rate::from_bits_per_second(2_400_000));
    limited(flow, &[(Limit::SlowStart, 160), (Limit::Path, 40)]);
}

pub(super) fn lose(flow: &mut Flow, count: u64) {
    flow.causes.by_sack = occurred(count, 1_000);
    flow.totals.retransmissions = count;
    flow.totals.retransmitted = Bytes::new(count * 1_448);
}

/// 8 Mbit/s without a queue, of bursts that pass at 24.
pub(super) fn police(flow: &mut Flow) {
    lose(flow, 207);
    limited(flow, &[(Limit::SlowStart, 300), (Limit::Path, 9_700)]);
    flow.round_trips.p95 = Some(ms(41));
    let (sent, acked) = (vec![103_000; 100], vec![100_000; 100]);
    flow.series = Series { interval: ms(100), sent, acked, ..Series::default() };
}

pub(super) fn smaller() -> MssChange {
    MssChange { at: at(8_200), frame: 1_702, from: Bytes::new(1_448), to: Bytes::new(1_348) }
}

pub(super) fn queue(flow: &mut Flow, median: u64, p95: u64) {
    limited(flow, &[(Limit::SlowStart, 500), (Limit::Path, 9_500)]);
    flow.round_trips.median = Some(ms(median));
    (flow.round_trips.mean, flow.round_trips.p95) = (Some(ms(median)), Some(ms(p95)));
}

pub(super) fn reorder(connection: &mut Connection) {
    connection.forward.causes.out_of_order = occurred(598, 500);
    connection.forward.causes.out_of_order_max = Bytes::new(43_440);
}

pub(super) fn mark(connection: &mut Connection, agreed: EcnAgreement) {
    connection.handshake.ecn = agreed;
    connection.forward.marks.ce_marks = occurred(140, 900);
    connection.forward.marks.marked_data = true;
}
