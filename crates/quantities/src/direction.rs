//! Each direction of a connection.

use crate::quantity::quantities;

quantities! {
    CAPTURE_POINT = "capture_point", None, "capture point",
        "Where the capture was taken, relative to the sender of the data: sender, middle, receiver, \
         unknown";
    CAPTURE_POINT_CONFIDENCE = "capture_point_confidence", None, "confidence in the capture point",
        "How sure the capture point is: none, low, medium, high";
    DATA_SEGMENTS = "data_segments", None, "data segments", "Packets with data",
        tcptrace "actual data pkts", wireshark "tcp.len > 0";
    DATA_BYTES = "data_bytes", Bytes, "data", "Bytes of data, retransmissions counted",
        tcptrace "actual data bytes", wireshark "tcp.len";
    UNIQUE_BYTES = "unique_bytes", Bytes, "unique data", "Bytes of data, each counted once",
        tcptrace "unique bytes sent";
    RETRANSMISSIONS = "retransmissions", None, "retransmissions",
        "Retransmitted packets: data, SYN and FIN",
        tcptrace "rexmt data pkts", wireshark "tcp.analysis.retransmission";
    RETRANSMITTED_BYTES = "retransmitted_bytes", Bytes, "retransmitted data",
        "Bytes of data in retransmissions", tcptrace "rexmt data bytes";
    PURE_ACKS = "pure_acks", None, "pure ACKs",
        "Packets without data that come back", tcptrace "pure acks sent";
    DUPLICATE_ACKS = "duplicate_acks", None, "duplicate ACKs",
        "Duplicate acknowledgements that come back (RFC 5681)",
        tcptrace "duplicate acks", wireshark "tcp.analysis.duplicate_ack";
    BYTES_IN_FLIGHT_MAX = "bytes_in_flight_max", Bytes, "in flight max",
        "The most bytes sent and neither acknowledged nor SACKed at any time",
        tcptrace "max owin", wireshark "tcp.analysis.bytes_in_flight";
    RETRANSMISSIONS_FAST = "retransmissions_fast", None, "fast retransmissions",
        "Retransmissions on duplicate ACKs, SACK, RACK or ICMP (RFC 5681, RFC 6675, RFC 8985)",
        wireshark "tcp.analysis.fast_retransmission";
    RETRANSMISSIONS_BY_DUPLICATE_ACKS = "retransmissions_by_duplicate_acks", None,
        "retransmissions by duplicate ACKs",
        "Retransmissions on three duplicate acknowledgements (RFC 5681)",
        tcptrace "triple dupacks", wireshark "tcp.analysis.fast_retransmission";
    RETRANSMISSIONS_BY_SACK = "retransmissions_by_sack", None, "retransmissions by SACK",
        "Retransmissions on SACK evidence (RFC 6675)",
        wireshark "tcp.analysis.fast_retransmission";
    RETRANSMISSIONS_BY_RACK = "retransmissions_by_rack", None, "retransmissions by RACK",
        "Retransmissions on the order of arrival in time (RACK, RFC 8985)",
        wireshark "tcp.analysis.fast_retransmission";
    RETRANSMISSIONS_BY_ICMP = "retransmissions_by_icmp", None, "retransmissions by ICMP",
        "Retransmissions because ICMP reported that they were too large for the path (RFC 1191, \
         RFC 8201)";
    TAIL_LOSS_PROBES = "tail_loss_probes", None, "tail loss probes",
        "Tail loss probes that repeat data (RFC 8985 section 7)";
    TAIL_LOSS_PROBES_NEW_DATA = "tail_loss_probes_new_data", None, "tail loss probes, new data",
        "Tail loss probes with new data (RFC 8985 section 7)";
    TIMEOUTS = "timeouts", None, "timeouts",
        "Retransmissions by the retransmission timer (RFC 6298)",
        wireshark "tcp.analysis.rto";
    BACKOFF_MAX = "backoff_max", None, "timeouts in a row",
        "The most timeouts in a row for one segment", tcptrace "max # retrans";
    RETRANSMISSIONS_AFTER_TIMEOUT = "retransmissions_after_timeout", None,
        "retransmissions after a timeout",
        "Retransmissions that follow a timeout as acknowledgements come back (RFC 6298)";
    RETRANSMISSIONS_LOST = "retransmissions_lost", None, "lost retransmissions",
        "Retransmissions of data that had been retransmitted before";
    RETRANSMISSIONS_SYN = "retransmissions_syn", None, "SYN retransmissions",
        "Retransmitted SYNs of this direction";
    RETRANSMISSIONS_FIN = "retransmissions_fin", None, "FIN retransmissions",
        "Retransmitted FINs without data";
    RETRANSMISSIONS_SPURIOUS = "retransmissions_spurious", None, "spurious retransmissions",
        "Retransmissions whose original had arrived, by D-SACK or timestamps (RFC 2883, RFC 3522)",
        wireshark "tcp.analysis.spurious_retransmission";
    RETRANSMISSIONS_SPURIOUS_BY_DSACK = "retransmissions_spurious_by_dsack", None,
        "spurious by D-SACK", "Spurious retransmissions that a D-SACK shows (RFC 2883)",
        wireshark "tcp.options.sack.dsack";
    RETRANSMISSIONS_SPURIOUS_BY_TIMESTAMP = "retransmissions_spurious_by_timestamp", None,
        "spurious by timestamp",
        "Spurious retransmissions that an echoed timestamp shows (Eifel, RFC 3522)";
    ORIGINALS_NOT_CAPTURED = "originals_not_captured", None, "original not captured",
        "Retransmissions whose original did not pass this capture point",
        wireshark "tcp.analysis.lost_segment";
    OUT_OF_ORDER = "out_of_order", None, "out of order", "Segments that arrived out of order",
        tcptrace "outoforder pkts", wireshark "tcp.analysis.out_of_order";
    OUT_OF_ORDER_MAX_BYTES = "out_of_order_max_bytes", Bytes, "reordering extent",
        "The most bytes by which a segment was out of order (RFC 4737 section 4.2.3)";
    NETWORK_DUPLICATES = "network_duplicates", None, "network duplicates",
        "Copies that the network made", tcptrace "hardware dups";
    CAPTURE_DUPLICATES = "capture_duplicates", None, "captured twice",
        "Frames that the capture contains twice", tcptrace "hardware dups";
    ACKED_NOT_CAPTURED = "acked_not_captured", None, "acknowledged but not captured",
        "Pieces acknowledged but not captured", tcptrace "missed data",
        wireshark "tcp.analysis.ack_lost_segment";
    ACKED_NOT_CAPTURED_BYTES = "acked_not_captured_bytes", Bytes, "acknowledged but not captured",
        "Bytes acknowledged but not captured", tcptrace "missed data";
    RTT_SAMPLES = "rtt_samples", None, "RTT samples",
        "Round-trip times measured, none of retransmitted data (Karn's rule)",
        tcptrace "RTT samples", wireshark "tcp.analysis.ack_rtt";
    RTT_SAMPLES_BY_ACK = "rtt_samples_by_ack", None, "RTT samples by ACK",
        "Of the RTT samples, those of cumulative acknowledgements";
    RTT_SAMPLES_BY_SACK = "rtt_samples_by_sack", None, "RTT samples by SACK",
        "Of the RTT samples, those of SACK blocks";
    RTT_SAMPLES_BY_TIMESTAMP = "rtt_samples_by_timestamp", None, "RTT samples by timestamp",
        "Of the RTT samples, those of retransmitted data that an echoed timestamp resolves";
    RTT_MIN = "rtt_min_ns", Nanoseconds, "RTT min",
        "The smallest round-trip time; empty without samples",
        tcptrace "RTT min", wireshark "tcp.analysis.ack_rtt";
    RTT_MEAN = "rtt_mean_ns", Nanoseconds, "RTT mean",
        "The mean round-trip time; empty without samples", tcptrace "RTT avg",
        wireshark "tcp.analysis.ack_rtt";
    RTT_MEDIAN = "rtt_median_ns", Nanoseconds, "RTT median",
        "The median round-trip time, within 2 %; empty without samples",
        wireshark "tcp.analysis.ack_rtt";
    RTT_P95 = "rtt_p95_ns", Nanoseconds, "RTT p95",
        "The 95th percentile of the round-trip time, within 2 %; empty without samples",
        wireshark "tcp.analysis.ack_rtt";
    RTT_MAX = "rtt_max_ns", Nanoseconds, "RTT max",
        "The largest round-trip time; empty without samples",
        tcptrace "RTT max", wireshark "tcp.analysis.ack_rtt";
    SRTT = "srtt_ns", Nanoseconds, "SRTT",
        "The smoothed round-trip time (RFC 6298); of a direction, at its end; empty without samples";
    RTTVAR = "rttvar_ns", Nanoseconds, "RTTVAR",
        "The round-trip time variation (RFC 6298); of a direction, at its end; empty without samples";
    RTO = "rto_ns", Nanoseconds, "RTO",
        "The retransmission timeout (RFC 6298); of a direction, what Linux would have at its end; \
         empty without samples",
        wireshark "tcp.analysis.rto";
    WINDOW_SCALE_KNOWN = "window_scale_known", None, "window scale known",
        "Whether advertised windows are known in bytes",
        wireshark "tcp.window_size_scalefactor";
    WINDOW_FIRST = "window_first_bytes", Bytes, "first window",
        "The first window advertised after the handshake; empty if its scale is not known",
        wireshark "tcp.window_size";
    WINDOW_MIN = "window_min_bytes", Bytes, "window min",
        "The smallest advertised window, zero included; empty if its scale is not known",
        tcptrace "min win adv", wireshark "tcp.window_size";
    WINDOW_MAX = "window_max_bytes", Bytes, "window max",
        "The largest advertised window; empty if its scale is not known",
        tcptrace "max win adv", wireshark "tcp.window_size";
    WINDOW_LAST = "window_last_bytes", Bytes, "last window",
        "The last advertised window; empty if its scale is not known",
        wireshark "tcp.window_size";
    ZERO_WINDOWS = "zero_windows", None, "zero windows",
        "Times the advertised window became zero",
        tcptrace "zero win adv", wireshark "tcp.analysis.zero_window";
    ZERO_WINDOW_NS = "zero_window_ns", Nanoseconds, "zero window time",
        "The time with a zero window, in all";
    ZERO_WINDOW_MAX_NS = "zero_window_max_ns", Nanoseconds, "longest zero window",
        "The longest time with a zero window";
    WINDOW_FULL = "window_full", None, "window full",
        "Segments that filled the advertised window", wireshark "tcp.analysis.window_full";
    WINDOW_UPDATES = "window_updates", None, "window updates",
        "Acknowledgements that only change the window", wireshark "tcp.analysis.window_update";
    SILLY_WINDOWS = "silly_windows", None, "silly windows",
        "Windows opened by less than a segment and less than half of the largest (silly window \
         syndrome, RFC 9293 section 3.8.6.2.2)";
    WINDOWS_SHRUNK = "windows_shrunk", None, "window shrunk",
        "Times the window's right edge moved back (RFC 9293 section 3.8.6)";
    ZERO_WINDOW_PROBES = "zero_window_probes", None, "zero window probes",
        "Zero-window probes (RFC 9293 section 3.8.6.1)",
        tcptrace "zwnd probe pkts", wireshark "tcp.analysis.zero_window_probe";
    ACKS_ADVANCING = "acks_advancing", None, "advancing ACKs",
        "Packets without data that acknowledge more than before";
    ACKS_UNNECESSARY = "acks_unnecessary", None, "unnecessary duplicate ACKs",
        "Duplicate ACKs that report nothing out of order or received twice, and that answer no \
         retransmission or probe; counted where SACK is in use";
    STRETCH_ACKS = "stretch_acks", None, "stretch ACKs",
        "Acknowledgements of more than two full segments (RFC 2525 section 2.13)";
    ACK_MAX_BYTES = "ack_max_bytes", Bytes, "largest ACK",
        "The most bytes that one acknowledgement covered; those that fill a hole are left out";
    DELAYED_ACKS = "delayed_acks", None, "delayed ACKs",
        "Acknowledgements of a single segment delayed by more than 10 ms; known only at the \
         receiver's capture point";
    ACK_DELAY_MAX = "ack_delay_max_ns", Nanoseconds, "ACK delay max",
        "The longest delay of such an acknowledgement (RFC 9293 section 3.8.6.3: below 500 ms)";
    PSH_SEGMENTS = "psh_segments", None, "segments with PSH", "Segments with PSH",
        tcptrace "pushed data pkts", wireshark "tcp.flags.push";
    URG_SEGMENTS = "urg_segments", None, "segments with URG", "Segments with URG",
        tcptrace "urgent data pkts", wireshark "tcp.flags.urg";
    KEEP_ALIVES = "keep_alives", None, "keep-alives",
        "Keep-alive probes (RFC 9293 section 3.8.4)", wireshark "tcp.analysis.keep_alive";
    SMALL_SEGMENTS_IN_FLIGHT = "small_segments_in_flight", None, "small segments in flight",
        "Small segments sent while earlier data were not acknowledged: what Nagle's algorithm \
         forbids (RFC 9293 section 3.7.4)";
    NAGLE_WAITS = "nagle_waits", None, "Nagle waits",
        "Small segments that waited for a delayed acknowledgement (Nagle's algorithm)";
    NAGLE_WAIT_NS = "nagle_wait_ns", Nanoseconds, "Nagle wait",
        "The time of these waits, in all";
    SEGMENT_MAX_BYTES = "segment_max_bytes", Bytes, "largest segment",
        "The largest segment, bytes of data", tcptrace "max segm size", wireshark "tcp.len";
    MSS_REDUCTIONS = "mss_reductions", None, "segment size reductions",
        "Times full segments became smaller for good (path MTU, RFC 1191, RFC 4821)";
    CE_MARKS = "ce_marks", None, "CE marks",
        "Segments marked Congestion Experienced (RFC 3168 section 5)",
        wireshark "ip.dsfield.ecn == 3";
    SUPER_PACKETS = "super_packets", None, "super-packets",
        "Packets larger than a segment may be: segmentation or receive offload at the capture point";
    STALLS = "stalls", None, "stalls", "Times the transfer stood still",
        tcptrace "idletime max";
    STALL_NS = "stall_ns", Nanoseconds, "stalled", "The time of stalls, in all";
    LIMITED_BY_APPLICATION = "limited_by_application_ns", Nanoseconds, "application",
        "Time in which the application had nothing to send";
    LIMITED_BY_RECEIVE_WINDOW = "limited_by_receive_window_ns", Nanoseconds, "receive window",
        "Time in which the advertised window was full";
    LIMITED_BY_SEND_BUFFER = "limited_by_send_buffer_ns", Nanoseconds, "send buffer",
        "Time in which the send buffer was full";
    LIMITED_BY_SLOW_START = "limited_by_slow_start_ns", Nanoseconds, "slow start",
        "Time in which the congestion window grew from round trip to round trip (RFC 5681)";
    LIMITED_BY_CONGESTION_WINDOW = "limited_by_congestion_window_ns", Nanoseconds,
        "congestion window",
        "Time in which the congestion window was full: after loss, or still below the path's rate";
    LIMITED_BY_PATH = "limited_by_path_ns", Nanoseconds, "path rate",
        "Time in which the path carried no more";
    LIMITED_BY_TIMEOUT = "limited_by_timeout_ns", Nanoseconds, "timeout",
        "Time spent waiting for a retransmission timer";
    IDLE_NS = "idle_ns", Nanoseconds, "idle",
        "Of the application's time, that with nothing in flight: Linux's tcpi_busy_time is the rest";
    LIMITS_CONFIDENCE = "limits_confidence", None, "confidence in the limits",
        "How sure the limits are: none, low, medium, high";
    TRANSFER_NS = "transfer_ns", Nanoseconds, "transfer time",
        "From the first data to the acknowledgement of the last", tcptrace "data xmit time";
    ACKED_BYTES = "acked_bytes", Bytes, "acknowledged", "Bytes acknowledged",
        tcptrace "unique bytes sent";
    GOODPUT = "goodput_bits_per_second", BitsPerSecond, "goodput",
        "Bytes acknowledged over the transfer time; empty if there was no time",
        tcptrace "throughput";
    THROUGHPUT = "throughput_bits_per_second", BitsPerSecond, "throughput",
        "All bytes sent over the transfer time, retransmissions counted; empty if there was no time";
    CAPACITY = "capacity_bits_per_second", BitsPerSecond, "path capacity",
        "The path's capacity, from the spacing of acknowledged data; empty if it does not show";
    TRANSFER_TIME_RATIO = "transfer_time_ratio", None, "transfer time ratio",
        "Actual transfer time over the time at the path's capacity (RFC 6349 section 4.1); empty if \
         not known";
    EFFICIENCY = "efficiency_percent", Percent, "TCP efficiency",
        "Bytes not retransmitted over all bytes (RFC 6349 section 4.2); empty without data";
    BASELINE_RTT = "baseline_rtt_ns", Nanoseconds, "baseline RTT",
        "The smallest round-trip time, as the baseline of the buffer delay (RFC 6349 section 3.2); \
         empty if not known";
    BUFFER_DELAY = "buffer_delay_percent", Percent, "buffer delay",
        "How much longer the mean round-trip time is than the baseline (RFC 6349 section 4.3); \
         empty if not known";
}
