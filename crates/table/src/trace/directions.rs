//! What is known of each direction of a connection.

use std::borrow::Cow;

use tcplab_trace::{Flow, Limit};
use tcplab_units::{Bytes, Rate, Span};

use super::connections::ConnectionRow;
use super::names;
use crate::column::{Cells, Column, Packing};

/// From one list: the columns of a direction, and those of both in a row of a connection.
macro_rules! directions {
    ($($quantity:ident $packing:ident $cells:ident($type:ty) |$flow:ident| $cell:expr;)*) => {
        pub(super) const OF_ONE: &[Column<Flow>] = &[$(
            Column::of(
                &tcplab_quantities::$quantity,
                Packing::$packing,
                Cells::$cells(|$flow| $cell),
                None,
            ),
        )*];

        /// The data from client to server, and the other direction's.
        pub(super) fn of_both() -> Vec<Column<ConnectionRow>> {
            vec![$(
                Column::of(
                    &tcplab_quantities::$quantity,
                    Packing::$packing,
                    Cells::$cells(|row: &ConnectionRow| {
                        let cell: fn(&Flow) -> $type = |$flow| $cell;
                        cell(&row.connection.forward)
                    }),
                    None,
                )
                .prefixed("forward", "Client to server"),
                Column::of(
                    &tcplab_quantities::$quantity,
                    Packing::$packing,
                    Cells::$cells(|row: &ConnectionRow| {
                        let cell: fn(&Flow) -> $type = |$flow| $cell;
                        cell(&row.connection.reverse)
                    }),
                    None,
                )
                .prefixed("reverse", "Server to client"),
            )*]
        }
    };
}

directions! {
    CAPTURE_POINT Few Text(Cow<'static, str>) |flow| {
        names::capture_point(flow.capture_point).into()
    };
    CAPTURE_POINT_CONFIDENCE Few Text(Cow<'static, str>) |flow| {
        names::confidence(flow.capture_point_confidence).into()
    };
    DATA_SEGMENTS Near Whole(u64) |flow| flow.totals.data_segments;
    DATA_BYTES Near Whole(u64) |flow| flow.totals.data.as_u64();
    UNIQUE_BYTES Near Whole(u64) |flow| flow.totals.unique.as_u64();
    RETRANSMISSIONS Few Whole(u64) |flow| flow.totals.retransmissions;
    RETRANSMITTED_BYTES Few Whole(u64) |flow| flow.totals.retransmitted.as_u64();
    PURE_ACKS Near Whole(u64) |flow| flow.totals.pure_acks;
    DUPLICATE_ACKS Few Whole(u64) |flow| flow.totals.duplicate_acks;
    BYTES_IN_FLIGHT_MAX Near Whole(u64) |flow| flow.totals.max_in_flight.as_u64();
    WINDOW_MAX Near WholeIfAny(Option<u64>) |flow| flow.totals.max_window.map(Bytes::as_u64);
    RETRANSMISSIONS_BY_DUPLICATE_ACKS Few Whole(u64) |flow| flow.causes.by_duplicate_acks.count;
    RETRANSMISSIONS_BY_SACK Few Whole(u64) |flow| flow.causes.by_sack.count;
    RETRANSMISSIONS_BY_RACK Few Whole(u64) |flow| flow.causes.by_rack.count;
    RETRANSMISSIONS_BY_ICMP Few Whole(u64) |flow| flow.causes.by_icmp.count;
    TAIL_LOSS_PROBES Few Whole(u64) |flow| flow.causes.tail_loss_probes.count;
    TAIL_LOSS_PROBES_NEW_DATA Few Whole(u64) |flow| flow.causes.tail_loss_probes_new_data.count;
    TIMEOUTS Few Whole(u64) |flow| flow.causes.timeouts.count;
    TIMEOUTS_AFTER_DUPLICATE_ACKS Few Whole(u64) |flow| {
        flow.causes.ignored_acks.after_duplicate_acks.count
    };
    TIMEOUTS_AFTER_SACK Few Whole(u64) |flow| flow.causes.ignored_acks.after_sack.count;
    TIMEOUTS_AFTER_PARTIAL_ACK Few Whole(u64) |flow| {
        flow.causes.ignored_acks.after_partial_ack.count
    };
    BACKOFF_MAX Few Whole(u64) |flow| flow.causes.backoff_max;
    RETRANSMISSIONS_AFTER_TIMEOUT Few Whole(u64) |flow| flow.causes.after_timeout.count;
    CONTROL_REPEATED Few Whole(u64) |flow| flow.causes.control_repeated.count;
    RETRANSMISSIONS_LOST Few Whole(u64) |flow| flow.causes.lost_retransmissions.count;
    RETRANSMISSIONS_SYN Few Whole(u64) |flow| flow.causes.syn_retransmissions.count;
    RETRANSMISSIONS_FIN Few Whole(u64) |flow| flow.causes.fin_retransmissions.count;
    RETRANSMISSIONS_SPURIOUS_BY_DSACK Few Whole(u64) |flow| flow.causes.spurious_by_dsack.count;
    RETRANSMISSIONS_SPURIOUS_BY_TIMESTAMP Few Whole(u64) |flow| {
        flow.causes.spurious_by_timestamp.count
    };
    RETRANSMISSIONS_UNEXPLAINED Few Whole(u64) |flow| flow.causes.retransmissions_unexplained.count;
    RETRANSMISSIONS_BEFORE_CAPTURE Few Whole(u64) |flow| flow.causes.before_capture.count;
    GAPS_FILLED Few Whole(u64) |flow| flow.causes.gaps_filled.count;
    OUT_OF_ORDER Few Whole(u64) |flow| flow.causes.out_of_order.count;
    OUT_OF_ORDER_MAX_BYTES Few Whole(u64) |flow| flow.causes.out_of_order_max.as_u64();
    EARLY_ACKS Few Whole(u64) |flow| flow.causes.early_acks.count;
    NETWORK_DUPLICATES Few Whole(u64) |flow| flow.causes.network_duplicates.count;
    LINK_RETRIES Few Whole(u64) |flow| flow.causes.link_retries.count;
    CAPTURE_DUPLICATES Few Whole(u64) |flow| flow.causes.capture_duplicates.count;
    ACKED_NOT_CAPTURED Few Whole(u64) |flow| flow.causes.acked_not_captured.count;
    ACKED_NOT_CAPTURED_BYTES Few Whole(u64) |flow| flow.causes.acked_not_captured_bytes.as_u64();
    RTT_SAMPLES Few Whole(u64) |flow| flow.round_trips.samples();
    RTT_SAMPLES_BY_ACK Few Whole(u64) |flow| flow.round_trips.by_ack;
    RTT_SAMPLES_BY_SACK Few Whole(u64) |flow| flow.round_trips.by_sack;
    RTT_SAMPLES_BY_TIMESTAMP Few Whole(u64) |flow| flow.round_trips.by_timestamp;
    RTT_MIN Near WholeIfAny(Option<u64>) |flow| flow.round_trips.min.map(Span::as_nanos);
    RTT_MEAN Near WholeIfAny(Option<u64>) |flow| flow.round_trips.mean.map(Span::as_nanos);
    RTT_MEDIAN Near WholeIfAny(Option<u64>) |flow| flow.round_trips.median.map(Span::as_nanos);
    RTT_P95 Near WholeIfAny(Option<u64>) |flow| flow.round_trips.p95.map(Span::as_nanos);
    RTT_MAX Near WholeIfAny(Option<u64>) |flow| flow.round_trips.max.map(Span::as_nanos);
    SRTT Near WholeIfAny(Option<u64>) |flow| flow.round_trips.smoothed.map(Span::as_nanos);
    RTTVAR Near WholeIfAny(Option<u64>) |flow| flow.round_trips.variation.map(Span::as_nanos);
    RTO Near WholeIfAny(Option<u64>) |flow| flow.round_trips.timeout.map(Span::as_nanos);
    WINDOW_SCALE_KNOWN Few Flag(bool) |flow| flow.windows.scale_known;
    WINDOW_FIRST Few WholeIfAny(Option<u64>) |flow| flow.windows.first.map(Bytes::as_u64);
    WINDOW_MIN Few WholeIfAny(Option<u64>) |flow| flow.windows.min.map(Bytes::as_u64);
    WINDOW_LAST Near WholeIfAny(Option<u64>) |flow| flow.windows.last.map(Bytes::as_u64);
    ZERO_WINDOWS Few Whole(u64) |flow| flow.windows.zero_windows.count;
    ZERO_WINDOW_NS Near Whole(u64) |flow| flow.windows.zero_window_time.as_nanos();
    ZERO_WINDOW_MAX_NS Near Whole(u64) |flow| flow.windows.zero_window_max.as_nanos();
    WINDOW_FULL Few Whole(u64) |flow| flow.windows.window_full.count;
    WINDOW_UPDATES Few Whole(u64) |flow| flow.windows.updates.count;
    SILLY_WINDOWS Few Whole(u64) |flow| flow.windows.silly_windows.count;
    WINDOWS_SHRUNK Few Whole(u64) |flow| flow.windows.windows_shrunk.count;
    ZERO_WINDOW_PROBES Few Whole(u64) |flow| flow.windows.probes.count;
    ACKS_ADVANCING Near Whole(u64) |flow| flow.acking.acks;
    ACKS_UNNECESSARY Few Whole(u64) |flow| flow.acking.unnecessary;
    STRETCH_ACKS Few Whole(u64) |flow| flow.acking.stretch.count;
    ACK_MAX_BYTES Near Whole(u64) |flow| flow.acking.longest.as_u64();
    DELAYED_ACKS Few Whole(u64) |flow| flow.acking.delayed.count;
    ACK_DELAY_MAX Near Whole(u64) |flow| flow.acking.delay_max.as_nanos();
    PSH_SEGMENTS Few Whole(u64) |flow| flow.marks.push;
    URG_SEGMENTS Few Whole(u64) |flow| flow.marks.urgent.count;
    KEEP_ALIVES Few Whole(u64) |flow| flow.marks.keep_alives.count;
    SMALL_SEGMENTS_IN_FLIGHT Few Whole(u64) |flow| flow.marks.small_in_flight;
    NAGLE_WAITS Few Whole(u64) |flow| flow.marks.nagle_waits.count;
    NAGLE_WAIT_NS Near Whole(u64) |flow| flow.marks.nagle_wait_time.as_nanos();
    SEGMENT_MAX_BYTES Few Whole(u64) |flow| flow.marks.largest.as_u64();
    MSS_REDUCTIONS Few Whole(u64) |flow| flow.marks.mss_changes.len() as u64;
    CE_MARKS Few Whole(u64) |flow| flow.marks.ce_marks.count;
    ECN_ECHOES Few Whole(u64) |flow| flow.marks.echoes.count;
    ECN_REPORTED Few Whole(u64) |flow| flow.marks.reported.count;
    ECN_REDUCTIONS Few Whole(u64) |flow| flow.marks.reductions.count;
    SUPER_PACKETS Few Whole(u64) |flow| flow.marks.super_packets;
    STALLS Few Whole(u64) |flow| flow.stall_sums.iter().map(|sum| sum.count).sum();
    STALL_NS Near Whole(u64) |flow| flow.stall_sums.iter().map(|sum| sum.time.as_nanos()).sum();
    LIMITED_BY_APPLICATION Near Whole(u64) |flow| flow.shares.of(Limit::Application).as_nanos();
    LIMITED_BY_RECEIVE_WINDOW Near Whole(u64) |flow| {
        flow.shares.of(Limit::ReceiveWindow).as_nanos()
    };
    LIMITED_BY_SEND_BUFFER Near Whole(u64) |flow| flow.shares.of(Limit::SendBuffer).as_nanos();
    LIMITED_BY_SLOW_START Near Whole(u64) |flow| flow.shares.of(Limit::SlowStart).as_nanos();
    LIMITED_BY_CONGESTION_WINDOW Near Whole(u64) |flow| {
        flow.shares.of(Limit::Congestion).as_nanos()
    };
    LIMITED_BY_PATH Near Whole(u64) |flow| flow.shares.of(Limit::Path).as_nanos();
    LIMITED_BY_TIMEOUT Near Whole(u64) |flow| flow.shares.of(Limit::Timeout).as_nanos();
    IDLE_NS Near Whole(u64) |flow| flow.shares.idle.as_nanos();
    LIMITS_CONFIDENCE Few Text(Cow<'static, str>) |flow| {
        names::confidence(flow.shares.confidence).into()
    };
    TRANSFER_NS Near Whole(u64) |flow| flow.transfer.time.as_nanos();
    ACKED_BYTES Near Whole(u64) |flow| flow.transfer.acked.as_u64();
    GOODPUT Near WholeIfAny(Option<u64>) |flow| flow.transfer.goodput.map(Rate::bits_per_second);
    THROUGHPUT Near WholeIfAny(Option<u64>) |flow| {
        flow.transfer.throughput.map(Rate::bits_per_second)
    };
    CAPACITY Near WholeIfAny(Option<u64>) |flow| flow.transfer.capacity.map(Rate::bits_per_second);
    TRANSFER_TIME_RATIO Few NumberIfAny(Option<f64>) |flow| flow.transfer.time_ratio;
    EFFICIENCY Few NumberIfAny(Option<f64>) |flow| flow.transfer.efficiency;
    BASELINE_RTT Near WholeIfAny(Option<u64>) |flow| flow.transfer.baseline.map(Span::as_nanos);
    BUFFER_DELAY Few NumberIfAny(Option<f64>) |flow| flow.transfer.buffer_delay;
    RETRANSMITTABLE_SEGMENTS Near Whole(u64) |flow| flow.totals.segments;
}
