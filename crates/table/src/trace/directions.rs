//! What is told of each direction of a connection, in columns for both.

use std::borrow::Cow;

use tcplab_trace::{Flow, Limit};
use tcplab_units::{Bytes, Rate, Span};

use super::connections::ConnectionRow;
use super::names;
use crate::column::{Cells, Column, Values};

/// Two columns from one definition: the data's from client to server, and the other's.
macro_rules! both {
    ($(
        $name:literal, $doc:literal,
        $values:ident, $cells:ident($type:ty), |$flow:ident| $cell:expr;
    )*) => {
        &[$(
            Column {
                name: concat!("forward_", $name),
                doc: concat!("Client to server: ", $doc),
                values: Values::$values,
                cells: Cells::$cells(|row| {
                    let cell: fn(&Flow) -> $type = |$flow| $cell;
                    cell(&row.connection.forward)
                }),
            },
            Column {
                name: concat!("reverse_", $name),
                doc: concat!("Server to client: ", $doc),
                values: Values::$values,
                cells: Cells::$cells(|row| {
                    let cell: fn(&Flow) -> $type = |$flow| $cell;
                    cell(&row.connection.reverse)
                }),
            },
        )*]
    };
}

pub(crate) const DIRECTIONS: &[Column<ConnectionRow>] = both! {
    "tap",
    "where the tap stood, seen from the sender of the data: sender, middle, \
     receiver, unknown",
    Few, Text(Cow<'static, str>), |flow| names::tap(flow.capture_point).into();
    "tap_confidence",
    "how sure that is: none, low, medium, high",
    Few, Text(Cow<'static, str>), |flow| names::confidence(flow.capture_point_confidence).into();
    "data_segments",
    "packets with data",
    Near, Number(u64), |flow| flow.totals.data_segments;
    "data_bytes",
    "bytes of data, repeats counted",
    Near, Number(u64), |flow| flow.totals.data.as_u64();
    "unique_bytes",
    "bytes of data, each counted once",
    Near, Number(u64), |flow| flow.totals.unique.as_u64();
    "retransmissions",
    "packets that repeat data",
    Few, Number(u64), |flow| flow.totals.retransmissions;
    "retransmitted_bytes",
    "the bytes they repeat",
    Few, Number(u64), |flow| flow.totals.retransmitted.as_u64();
    "pure_acks",
    "packets without data coming back",
    Near, Number(u64), |flow| flow.totals.pure_acks;
    "duplicate_acks",
    "duplicate acknowledgements coming back",
    Few, Number(u64), |flow| flow.totals.duplicate_acks;
    "max_in_flight_bytes",
    "the most bytes in flight at any time, less those SACKed",
    Near, Number(u64), |flow| flow.totals.max_in_flight.as_u64();
    "max_window_bytes",
    "the largest window advertised to its sender; empty if its scale is not known",
    Near, NumberIfAny(Option<u64>), |flow| flow.totals.max_window.map(Bytes::as_u64);
    "by_duplicates",
    "segments sent again on three duplicate acknowledgements",
    Few, Number(u64), |flow| flow.causes.by_duplicate_acks.count;
    "by_sack",
    "segments sent again on SACK evidence (RFC 6675)",
    Few, Number(u64), |flow| flow.causes.by_sack.count;
    "by_rack",
    "segments sent again on the order of arrival in time (RACK)",
    Few, Number(u64), |flow| flow.causes.by_rack.count;
    "by_icmp",
    "segments sent again on ICMP's word that they were too large for the path (RFC 1191, RFC 8201)",
    Few, Number(u64), |flow| flow.causes.by_icmp.count;
    "probes",
    "tail loss probes that repeat data",
    Few, Number(u64), |flow| flow.causes.tail_loss_probes.count;
    "new_probes",
    "tail loss probes with new data",
    Few, Number(u64), |flow| flow.causes.tail_loss_probes_new_data.count;
    "timeouts",
    "retransmission timeouts",
    Few, Number(u64), |flow| flow.causes.timeouts.count;
    "most_backed_off",
    "the most timeouts in a row for the same segment",
    Few, Number(u64), |flow| flow.causes.backoff_max;
    "after_timeout",
    "segments sent again after a timeout, as acknowledgements came back",
    Few, Number(u64), |flow| flow.causes.after_timeout.count;
    "lost_again",
    "of all these, repetitions of what had been sent again before",
    Few, Number(u64), |flow| flow.causes.lost_retransmissions.count;
    "needless_by_dsack",
    "retransmissions that were needless, as D-SACK tells",
    Few, Number(u64), |flow| flow.causes.spurious_by_dsack.count;
    "needless_by_timestamp",
    "retransmissions that were needless, as timestamps tell (Eifel)",
    Few, Number(u64), |flow| flow.causes.spurious_by_timestamp.count;
    "holes_filled",
    "retransmissions whose original this tap never saw",
    Few, Number(u64), |flow| flow.causes.originals_not_captured.count;
    "reordered",
    "segments overtaken on the way",
    Few, Number(u64), |flow| flow.causes.out_of_order.count;
    "reordered_by_bytes",
    "by how many bytes at most",
    Few, Number(u64), |flow| flow.causes.out_of_order_max.as_u64();
    "network_duplicates",
    "copies that the network made",
    Few, Number(u64), |flow| flow.causes.network_duplicates.count;
    "tap_duplicates",
    "frames written twice by whoever captured",
    Few, Number(u64), |flow| flow.causes.capture_duplicates.count;
    "missed_by_tap",
    "pieces acknowledged and never seen here",
    Few, Number(u64), |flow| flow.causes.acked_not_captured.count;
    "missed_bytes",
    "their bytes",
    Few, Number(u64), |flow| flow.causes.acked_not_captured_bytes.as_u64();
    "rtt_samples",
    "round trips measured, none that a retransmission blurs",
    Few, Number(u64), |flow| flow.round_trips.samples();
    "rtt_min_ns",
    "the smallest round trip, in nanoseconds; empty without samples",
    Near, NumberIfAny(Option<u64>), |flow| flow.round_trips.min.map(Span::as_nanos);
    "rtt_mean_ns",
    "their mean; empty without samples",
    Near, NumberIfAny(Option<u64>), |flow| flow.round_trips.mean.map(Span::as_nanos);
    "rtt_median_ns",
    "half were not longer, within 2 %; empty without samples",
    Near, NumberIfAny(Option<u64>), |flow| flow.round_trips.median.map(Span::as_nanos);
    "rtt_p95_ns",
    "95 of 100 were not longer, within 2 %; empty without samples",
    Near, NumberIfAny(Option<u64>), |flow| flow.round_trips.p95.map(Span::as_nanos);
    "rtt_max_ns",
    "the largest; empty without samples",
    Near, NumberIfAny(Option<u64>), |flow| flow.round_trips.max.map(Span::as_nanos);
    "srtt_ns",
    "the smoothed round trip at the end (RFC 6298); empty without samples",
    Near, NumberIfAny(Option<u64>), |flow| flow.round_trips.smoothed.map(Span::as_nanos);
    "rto_ns",
    "the retransmission timeout that Linux would have had at the end; empty without \
     samples",
    Near, NumberIfAny(Option<u64>), |flow| flow.round_trips.timeout.map(Span::as_nanos);
    "window_scale_known",
    "whether advertised windows are known in bytes",
    Few, Flag(bool), |flow| flow.windows.scale_known;
    "first_window_bytes",
    "the first window advertised after the handshake; empty if not known",
    Few, NumberIfAny(Option<u64>), |flow| flow.windows.first.map(Bytes::as_u64);
    "min_window_bytes",
    "the smallest, closed windows included; empty if not known",
    Few, NumberIfAny(Option<u64>), |flow| flow.windows.min.map(Bytes::as_u64);
    "zero_windows",
    "times the window closed",
    Few, Number(u64), |flow| flow.windows.zero_windows.count;
    "zero_window_ns",
    "for how long it was closed, together, in nanoseconds",
    Near, Number(u64), |flow| flow.windows.zero_window_time.as_nanos();
    "window_full",
    "segments that filled the window to its edge",
    Few, Number(u64), |flow| flow.windows.window_full.count;
    "window_updates",
    "acknowledgements that told of nothing but another window",
    Few, Number(u64), |flow| flow.windows.updates.count;
    "silly_windows",
    "windows opened by too little (silly window syndrome)",
    Few, Number(u64), |flow| flow.windows.silly_windows.count;
    "shrunk_windows",
    "times the window's right edge moved back",
    Few, Number(u64), |flow| flow.windows.windows_shrunk.count;
    "window_probes",
    "zero-window probes",
    Few, Number(u64), |flow| flow.windows.probes.count;
    "stretch_acks",
    "acknowledgements of more than two full segments",
    Few, Number(u64), |flow| flow.acking.stretch.count;
    "longest_ack_bytes",
    "the most bytes that one acknowledgement took in",
    Near, Number(u64), |flow| flow.acking.longest.as_u64();
    "delayed_acks",
    "acknowledgements of a single segment held back for longer than 10 ms; only a \
     receiver's tap tells",
    Few, Number(u64), |flow| flow.acking.delayed.count;
    "longest_ack_delay_ns",
    "the longest that one was held back, in nanoseconds",
    Near, Number(u64), |flow| flow.acking.delay_max.as_nanos();
    "pushes",
    "segments with PSH",
    Few, Number(u64), |flow| flow.marks.push;
    "urgent",
    "segments with URG",
    Few, Number(u64), |flow| flow.marks.urgent.count;
    "keep_alives",
    "keep-alive probes",
    Few, Number(u64), |flow| flow.marks.keep_alives.count;
    "small_in_flight",
    "small segments sent while earlier data were not acknowledged",
    Few, Number(u64), |flow| flow.marks.small_in_flight;
    "nagle_waits",
    "small segments that waited for a delayed acknowledgement (Nagle)",
    Few, Number(u64), |flow| flow.marks.nagle_waits.count;
    "nagle_waited_ns",
    "for how long, together, in nanoseconds",
    Near, Number(u64), |flow| flow.marks.nagle_wait_time.as_nanos();
    "largest_segment_bytes",
    "the largest segment, bytes of data",
    Few, Number(u64), |flow| flow.marks.largest.as_u64();
    "mss_changes",
    "times full segments became smaller for good",
    Few, Number(u64), |flow| flow.marks.mss_changes.len() as u64;
    "congestion_marks",
    "segments marked as having met congestion (CE)",
    Few, Number(u64), |flow| flow.marks.ce_marks.count;
    "super_packets",
    "packets larger than a segment may be: cut or merged beside the tap",
    Few, Number(u64), |flow| flow.marks.super_packets;
    "stalls",
    "times it stood still",
    Few, Number(u64), |flow| flow.stall_sums.iter().map(|sum| sum.count).sum();
    "stalled_ns",
    "for how long, together, in nanoseconds",
    Near, Number(u64), |flow| flow.stall_sums.iter().map(|sum| sum.time.as_nanos()).sum();
    "limited_by_application_ns",
    "time in which nothing was to be sent",
    Near, Number(u64), |flow| flow.shares.of(Limit::Application).as_nanos();
    "limited_by_receive_window_ns",
    "time in which the advertised window was full",
    Near, Number(u64), |flow| flow.shares.of(Limit::ReceiveWindow).as_nanos();
    "limited_by_send_buffer_ns",
    "time in which the send buffer was full",
    Near, Number(u64), |flow| flow.shares.of(Limit::SendBuffer).as_nanos();
    "limited_by_slow_start_ns",
    "time in which the congestion window grew from round trip to round trip",
    Near, Number(u64), |flow| flow.shares.of(Limit::SlowStart).as_nanos();
    "limited_by_congestion_ns",
    "time in which the congestion window was full",
    Near, Number(u64), |flow| flow.shares.of(Limit::Congestion).as_nanos();
    "limited_by_path_ns",
    "time in which the path carried no more",
    Near, Number(u64), |flow| flow.shares.of(Limit::Path).as_nanos();
    "limited_by_timeout_ns",
    "time spent waiting for a timer",
    Near, Number(u64), |flow| flow.shares.of(Limit::Timeout).as_nanos();
    "transfer_ns",
    "first data to the acknowledgement of the last, in nanoseconds",
    Near, Number(u64), |flow| flow.transfer.time.as_nanos();
    "acked_bytes",
    "bytes acknowledged",
    Near, Number(u64), |flow| flow.transfer.acked.as_u64();
    "goodput_bps",
    "those over the time, in bits per second; empty if there was no time",
    Near, NumberIfAny(Option<u64>), |flow| flow.transfer.goodput.map(Rate::bits_per_second);
    "throughput_bps",
    "all bytes over the time, repeats counted; empty if there was no time",
    Near, NumberIfAny(Option<u64>), |flow| flow.transfer.throughput.map(Rate::bits_per_second);
    "capacity_bps",
    "the path's capacity, as far as acknowledgements show it; empty if they do not",
    Near, NumberIfAny(Option<u64>), |flow| flow.transfer.capacity.map(Rate::bits_per_second);
    "transfer_time_ratio",
    "actual time over the time at that capacity (RFC 6349); empty if not known",
    Few, RatioIfAny(Option<f64>), |flow| flow.transfer.time_ratio;
    "efficiency_percent",
    "bytes not sent again over all (RFC 6349); empty without data",
    Few, RatioIfAny(Option<f64>), |flow| flow.transfer.efficiency;
    "buffer_delay_percent",
    "how much longer the mean round trip was than the smallest (RFC 6349); empty if \
     not known",
    Few, RatioIfAny(Option<f64>), |flow| flow.transfer.buffer_delay;
};
