//! What captures show: connections, their directions, packets and periods.

use crate::quantity::quantities;

quantities! {
    /// Connections: who, when, how they were opened and closed.
    CONNECTION_LIST;
    CONNECTION = "connection", None, "connection",
        "The connection's number, from 0, in the order of first packets", wireshark "tcp.stream";
    CLIENT_ADDRESS = "client_address", None, "client",
        "The address of the end that sent the first SYN, or the first packet if no SYN was captured",
        tcptrace "host_a", wireshark "ip.src";
    CLIENT_PORT = "client_port", None, "client port", "The client's port",
        tcptrace "port_a", wireshark "tcp.srcport";
    SERVER_ADDRESS = "server_address", None, "server", "The address of the other end",
        tcptrace "host_b", wireshark "ip.dst";
    SERVER_PORT = "server_port", None, "server port", "The server's port",
        tcptrace "port_b", wireshark "tcp.dstport";
    REUSES_CONNECTION = "reuses_connection", None, "reuses",
        "The number of the earlier connection between the same addresses and ports; empty if there \
         was none", wireshark "tcp.analysis.reused_ports";
    FIRST_NS = "first_ns", Nanoseconds, "first packet",
        "When the first packet was captured, from the trace's zero", tcptrace "first_packet",
        wireshark "frame.time_relative";
    LAST_NS = "last_ns", Nanoseconds, "last packet",
        "When the last packet was captured, from the trace's zero", tcptrace "last_packet",
        wireshark "frame.time_relative";
    FIRST_FRAME = "first_frame", None, "first frame", "The first frame, from 1",
        wireshark "frame.number";
    LAST_FRAME = "last_frame", None, "last frame", "The last frame", wireshark "frame.number";
    PACKETS = "packets", None, "packets", "Packets of both directions", tcptrace "total packets";
    HANDSHAKE = "handshake", None, "handshake",
        "How it was opened: three-way, simultaneous, split, half-open, refused, unanswered, or \
         unseen (the capture begins later)", wireshark "tcp.completeness";
    SYN_NS = "syn_ns", Nanoseconds, "SYN",
        "When the last SYN before the SYN-ACK passed, from the trace's zero; empty if not captured";
    SYN_ACK_NS = "syn_ack_ns", Nanoseconds, "SYN-ACK",
        "When the SYN-ACK passed, from the trace's zero; empty if not captured";
    ESTABLISHED_NS = "established_ns", Nanoseconds, "established",
        "When the handshake's last acknowledgement passed, from the trace's zero; empty if not \
         captured";
    HANDSHAKE_RTT_NS = "handshake_rtt_ns", Nanoseconds, "handshake RTT",
        "From the last SYN to the handshake's last acknowledgement at this capture point; empty if \
         not captured", wireshark "tcp.analysis.initial_rtt";
    SYN_RETRANSMISSIONS = "syn_retransmissions", None, "SYN retransmissions",
        "SYNs of the client that repeat the first", wireshark "tcp.analysis.retransmission";
    SYN_ACK_RETRANSMISSIONS = "syn_ack_retransmissions", None, "SYN-ACK retransmissions",
        "SYN-ACKs that repeat the first", wireshark "tcp.analysis.retransmission";
    CLIENT_SYN_CAPTURED = "client_syn_captured", None, "client's SYN captured",
        "Whether the client's SYN was captured: only then an absent option was not offered";
    SERVER_SYN_CAPTURED = "server_syn_captured", None, "server's SYN captured",
        "Whether the server's SYN-ACK was captured: only then an absent option was not offered";
    CLIENT_SYN_CUT = "client_syn_cut", None, "client's SYN cut",
        "Whether the capture cut off options of the client's SYN";
    SERVER_SYN_CUT = "server_syn_cut", None, "server's SYN cut",
        "Whether the capture cut off options of the server's SYN-ACK";
    CLIENT_MSS_BYTES = "client_mss_bytes", Bytes, "client's MSS",
        "The maximum segment size in the client's SYN; empty if there was none",
        tcptrace "mss requested", wireshark "tcp.options.mss_val";
    SERVER_MSS_BYTES = "server_mss_bytes", Bytes, "server's MSS",
        "The maximum segment size in the server's SYN-ACK; empty if there was none",
        tcptrace "mss requested", wireshark "tcp.options.mss_val";
    CLIENT_WINDOW_SCALE = "client_window_scale", None, "client's window scale",
        "The shift in the client's SYN; empty if it had none",
        tcptrace "adv wind scale", wireshark "tcp.options.wscale.shift";
    SERVER_WINDOW_SCALE = "server_window_scale", None, "server's window scale",
        "The shift in the server's SYN-ACK; empty if it had none",
        tcptrace "adv wind scale", wireshark "tcp.options.wscale.shift";
    CLIENT_SACK_PERMITTED = "client_sack_permitted", None, "client's SACK permitted",
        "Whether the client's SYN permitted SACK; empty where that is unknown", tcptrace "req sack",
        wireshark "tcp.options.sack_perm";
    SERVER_SACK_PERMITTED = "server_sack_permitted", None, "server's SACK permitted",
        "Whether the server's SYN-ACK permitted SACK; empty where that is unknown", tcptrace "req sack",
        wireshark "tcp.options.sack_perm";
    CLIENT_TIMESTAMPS = "client_timestamps", None, "client's timestamps",
        "Whether the client's SYN had timestamps; empty where that is unknown", tcptrace "req 1323 ws/ts",
        wireshark "tcp.options.timestamp.tsval";
    SERVER_TIMESTAMPS = "server_timestamps", None, "server's timestamps",
        "Whether the server's SYN-ACK had timestamps; empty where that is unknown", tcptrace "req 1323 ws/ts",
        wireshark "tcp.options.timestamp.tsval";
    CLIENT_SYN_WINDOW_BYTES = "client_syn_window_bytes", Bytes, "client's SYN window",
        "The window of the client's SYN, never scaled", wireshark "tcp.window_size_value";
    SERVER_SYN_WINDOW_BYTES = "server_syn_window_bytes", Bytes, "server's SYN window",
        "The window of the server's SYN-ACK, never scaled", wireshark "tcp.window_size_value";
    SACK_AGREED = "sack_agreed", None, "SACK agreed", "Whether both SYNs permitted SACK; empty where that is unknown",
        tcptrace "req sack", wireshark "tcp.options.sack_perm";
    TIMESTAMPS_AGREED = "timestamps_agreed", None, "timestamps agreed",
        "Whether both SYNs had timestamps; empty where that is unknown", tcptrace "req 1323 ws/ts";
    ECN = "ecn", None, "ECN",
        "What the ends agreed on about ECN: classic, accurate, refused, given-up (asked for, and only \
         a SYN without it was answered), not-asked, unknown",
        wireshark "tcp.flags.ece";
    MULTIPATH = "multipath", None, "Multipath TCP", "Whether both ends spoke Multipath TCP",
        wireshark "mptcp";
    FAST_OPEN = "fast_open", None, "TCP Fast Open",
        "TCP Fast Open: asked (for a cookie), sent (one), accepted (its data); empty if not used",
        wireshark "tcp.options.tfo";
    FAST_OPEN_COOKIE_SENT = "fast_open_cookie_sent", None, "TFO cookie sent",
        "Whether the client sent a cookie; empty without TCP Fast Open",
        wireshark "tcp.options.tfo.cookie";
    FAST_OPEN_COOKIE_GIVEN = "fast_open_cookie_given", None, "TFO cookie given",
        "Whether the server gave a cookie; empty without TCP Fast Open",
        wireshark "tcp.options.tfo.cookie";
    FAST_OPEN_DATA_BYTES = "fast_open_data_bytes", Bytes, "data in SYN",
        "Data in the SYN; empty without TCP Fast Open";
    FAST_OPEN_ACCEPTED = "fast_open_accepted", None, "TFO data accepted",
        "Whether the SYN-ACK acknowledged the data; empty without TCP Fast Open";
    CONN_STATE = "conn_state", None, "Zeek's state",
        "Zeek's conn_state: S0, S1, S2, S3, SF, REJ, RSTO, RSTR, RSTOS0, RSTRH, SH, SHR, OTH",
        wireshark "tcp.completeness";
    HISTORY = "history", None, "Zeek's history",
        "Zeek's history: a letter for each first of its kind, capitals for the client";
    CLOSE = "close", None, "ending",
        "How it was closed: graceful, simultaneous, half-closed, reset, reset-after-fin; empty if \
         it was not";
    CLOSED_BY = "closed_by", None, "closed by", "Who began to close: client or server; empty if nobody did";
    CLOSE_NS = "close_ns", Nanoseconds, "close",
        "When the first FIN or the RST passed, from the trace's zero; empty if there was none";
    CLOSE_FRAME = "close_frame", None, "close", "The frame of the first FIN or the RST; empty if there was none",
        wireshark "frame.number";
    RESET_BY = "reset_by", None, "reset by", "Who sent the RST: client or server; empty if none ended it",
        wireshark "tcp.flags.reset";
    UNREAD_BYTES = "unread_bytes", Bytes, "unread at reset",
        "After an RST: bytes that its sender had received and not read, estimated from its windows \
         and acknowledgements; empty if they do not show it";
    PACKETS_AFTER_CLOSE = "packets_after_close", None, "packets after close",
        "Packets between the two ends after the connection was closed";
}

quantities! {
    /// Each direction of a connection.
    DIRECTION_LIST;
    CAPTURE_POINT = "capture_point", None, "capture point",
        "Where the capture was taken, relative to the sender of the data: sender, middle, receiver, \
         unknown";
    CAPTURE_POINT_CONFIDENCE = "capture_point_confidence", None, "confidence in the capture point",
        "How sure the capture point is: none, low, medium, high";
    DATA_SEGMENTS = "data_segments", None, "data segments", "Packets with data",
        tcptrace "actual data pkts", wireshark "tcp.len > 0";
    RETRANSMITTABLE_SEGMENTS = "retransmittable_segments", None, "retransmittable segments",
        "Packets with data, SYN or FIN: those that can be retransmitted";
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
        "Retransmissions by the retransmission timer (RFC 6298); in recovery episodes and flows \
         tail loss probes are included",
        wireshark "tcp.analysis.rto";
    TIMEOUTS_AFTER_DUPLICATE_ACKS = "timeouts_after_duplicate_acks", None,
        "timeouts after duplicate ACKs",
        "Timeouts although three duplicate ACKs had reached the sender (RFC 5681 section 3.2)";
    TIMEOUTS_AFTER_SACK = "timeouts_after_sack", None, "timeouts after SACK",
        "Timeouts although SACK blocks had shown the sender the loss (RFC 6675 section 5)";
    TIMEOUTS_AFTER_PARTIAL_ACK = "timeouts_after_partial_ack", None, "timeouts after partial ACKs",
        "Timeouts although a partial ACK had reached the sender in fast recovery (RFC 6582 section \
         3.2)";
    BACKOFF_MAX = "backoff_max", None, "timeouts in a row",
        "The most timeouts in a row for one segment", tcptrace "max # retrans";
    RETRANSMISSIONS_AFTER_TIMEOUT = "retransmissions_after_timeout", None,
        "retransmissions after a timeout",
        "Retransmissions that follow a timeout as acknowledgements come back (RFC 6298)";
    CONTROL_REPEATED = "control_repeated", None, "SYNs and FINs repeated",
        "SYNs and FINs without data that were sent again too soon for a timer: with an answer to the \
         peer, or because a packet came twice";
    RETRANSMISSIONS_LOST = "retransmissions_lost", None, "repeated retransmissions",
        "Retransmissions of data that had been retransmitted before";
    RETRANSMISSIONS_SYN = "retransmissions_syn", None, "SYN retransmissions",
        "Retransmitted SYNs of this direction";
    RETRANSMISSIONS_FIN = "retransmissions_fin", None, "FIN retransmissions",
        "Retransmitted FINs without data";
    RETRANSMISSIONS_SPURIOUS = "retransmissions_spurious", None, "spurious retransmissions",
        "Retransmissions whose original had arrived: D-SACK (RFC 2883), a timestamp (RFC 3522) or an \
         earlier acknowledgement shows it",
        wireshark "tcp.analysis.spurious_retransmission";
    RETRANSMISSIONS_SPURIOUS_BY_DSACK = "retransmissions_spurious_by_dsack", None,
        "spurious by D-SACK", "Spurious retransmissions that a D-SACK shows (RFC 2883)",
        wireshark "tcp.options.sack.dsack";
    RETRANSMISSIONS_SPURIOUS_BY_TIMESTAMP = "retransmissions_spurious_by_timestamp", None,
        "spurious by timestamp",
        "Spurious retransmissions that an echoed timestamp shows (Eifel, RFC 3522)";
    RETRANSMISSIONS_UNEXPLAINED = "retransmissions_unexplained", None,
        "retransmission, cause unknown",
        "Retransmissions that no ACK prompted that passed this capture point, sooner than any timer";
    RETRANSMISSIONS_BEFORE_CAPTURE = "retransmissions_before_capture", None,
        "retransmission of data sent before the capture",
        "Retransmissions of data below the first captured: neither unique data nor goodput have them";
    GAPS_FILLED = "gaps_filled", None, "gaps filled late",
        "Segments captured after later data, unknown whether retransmitted or out of order";
    OUT_OF_ORDER = "out_of_order", None, "out of order", "Segments that arrived out of order",
        tcptrace "outoforder pkts", wireshark "tcp.analysis.out_of_order";
    OUT_OF_ORDER_MAX_BYTES = "out_of_order_max_bytes", Bytes, "reordering extent",
        "The most bytes by which a segment was out of order (RFC 4737 section 4.2.3)";
    EARLY_ACKS = "early_acks", None, "ACKs ahead of data",
        "Packets without data that passed before data sent earlier, which kept their order: some \
         devices send ACKs first";
    NETWORK_DUPLICATES = "network_duplicates", None, "network duplicates",
        "Copies that the network made", tcptrace "hardware dups";
    LINK_RETRIES = "link_retries", None, "link-layer retries",
        "Frames that a radio sent again (the bit Retry of IEEE 802.11) and that the capture heard \
         before", tcptrace "hardware dups", wireshark "wlan.fc.retry == 1";
    CAPTURE_DUPLICATES = "capture_duplicates", None, "captured twice",
        "Frames that the capture contains twice", tcptrace "hardware dups";
    ACKED_NOT_CAPTURED = "acked_not_captured", None, "acknowledged but not captured",
        "Pieces acknowledged but not captured", tcptrace "missed data",
        wireshark "tcp.analysis.ack_lost_segment";
    ACKED_NOT_CAPTURED_BYTES = "acked_not_captured_bytes", Bytes, "acknowledged but not captured",
        "Bytes acknowledged but not captured", tcptrace "missed data";
    RTT_SAMPLES = "rtt_samples", None, "RTT samples",
        "Round-trip times measured; of retransmitted data only where an echoed timestamp tells \
         which transmission was acknowledged (Karn's rule)",
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
        "Segments marked Congestion Experienced (RFC 3168 section 5), also ACKs without data",
        wireshark "ip.dsfield.ecn == 3";
    ECN_ECHOES = "ecn_echoes", None, "ECN echoes",
        "Segments of the other end that echo a congestion mark (ECE; RFC 3168 section 6.1.3), where \
         classic ECN was agreed", wireshark "tcp.flags.ece == 1";
    ECN_REPORTED = "ecn_reported", None, "CE marks reported",
        "Packets marked Congestion Experienced that the other end reports by its counter of three \
         bits (RFC 9768 section 3.2.2), at least, where Accurate ECN was agreed",
        wireshark "tcp.flags.ace";
    ECN_REDUCTIONS = "ecn_reductions", None, "ECN window reductions",
        "Segments that say that the sender reduced its window on an echo (CWR; RFC 3168 section \
         6.1.2), where classic ECN was agreed", wireshark "tcp.flags.cwr == 1";
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
        "Time in which the congestion window was full, though the path could carry more";
    LIMITED_BY_PATH = "limited_by_path_ns", Nanoseconds, "path rate",
        "Time in which the path carried no more, or a pacing timer spaced the packets";
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
        "Bytes acknowledged over the transfer time; empty if it was less than an RTT, or the bytes less than four segments",
        tcptrace "throughput";
    THROUGHPUT = "throughput_bits_per_second", BitsPerSecond, "throughput",
        "All bytes sent over the transfer time, retransmissions counted; empty where goodput would be";
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
        "How much longer the mean round-trip time of data, without SYN and FIN, is than the baseline \
         (RFC 6349 section 4.3); empty if not known";
}

quantities! {
    /// Packets: segments and acknowledgements.
    PACKET_LIST;
    DIRECTION = "direction", None, "direction",
        "Whose data: forward (client to server) or reverse";
    FRAME = "frame", None, "frame", "The frame number in the capture, from 1",
        wireshark "frame.number";
    AT_NS = "at_ns", Nanoseconds, "time", "When it passed the capture point, from the trace's zero",
        wireshark "frame.time_relative";
    START = "start", None, "sequence number",
        "The first sequence number, relative to the initial one: the SYN is 0, data begin at 1",
        wireshark "tcp.seq";
    END = "end", None, "next sequence number", "The sequence number after the last",
        wireshark "tcp.nxtseq";
    PAYLOAD_BYTES = "payload_bytes", Bytes, "payload", "Bytes of data", wireshark "tcp.len";
    SYN = "syn", None, "SYN", "Whether the segment has SYN", wireshark "tcp.flags.syn";
    FIN = "fin", None, "FIN", "Whether the segment has FIN", wireshark "tcp.flags.fin";
    PSH = "psh", None, "PSH", "Whether the segment has PSH", wireshark "tcp.flags.push";
    KIND = "kind", None, "kind", "Of which kind the row is; its table lists the kinds";
    TIMER = "timer", None, "timer",
        "The timer that sent it: probe (tail loss probe) or retransmission; empty if none did";
    EVIDENCE = "evidence", None, "evidence", "What shows that it is of its kind; empty without need";
    EVIDENCE_FRAME = "evidence_frame", None, "evidence", "The frame of the evidence; empty if there is none",
        wireshark "frame.number";
    WAITED_NS = "waited_ns", Nanoseconds, "waited",
        "How long nothing was sent or received before a timer sent it, or how long it arrived after \
         the packet that it should precede; empty otherwise",
        wireshark "tcp.analysis.rto";
    NTH = "nth", None, "transmission", "Which transmission of its data it is, from 1; empty if not counted";
    BYTES_IN_FLIGHT = "bytes_in_flight", Bytes, "in flight",
        "Bytes sent and neither acknowledged nor SACKed",
        tcptrace "owin", wireshark "tcp.analysis.bytes_in_flight";
    SPURIOUS = "spurious", None, "spurious",
        "What shows that the retransmission is spurious: dsack, timestamp, or acknowledged (its data \
         had been acknowledged before); empty if nothing does",
        wireshark "tcp.analysis.spurious_retransmission";
    SPURIOUS_FRAME = "spurious_frame", None, "spurious",
        "The frame that shows it; empty if no single one does", wireshark "frame.number";
    WIRESHARK_FLAG = "wireshark_flag", None, "Wireshark",
        "Wireshark's flag for it, or the nearest; empty if there is none";
    COMMENT = "comment", None, "comment", "The capture's comments on the packet; empty if there are none",
        wireshark "frame.comment";
    ACK = "ack", None, "ACK", "The acknowledgement number, relative to the initial sequence number",
        wireshark "tcp.ack";
    NEWLY_ACKED_BYTES = "newly_acked_bytes", Bytes, "newly acknowledged",
        "How many bytes it acknowledges for the first time";
    WINDOW_BYTES = "window_bytes", Bytes, "advertised window",
        "The advertised window; empty if its scale is not known and it is not zero",
        wireshark "tcp.window_size";
    SACK_STARTS = "sack_starts", None, "SACK from",
        "Where the SACK blocks begin, without the D-SACK, in their order",
        wireshark "tcp.options.sack_le";
    SACK_ENDS = "sack_ends", None, "SACK to",
        "Where the SACK blocks end, without the D-SACK, in their order",
        wireshark "tcp.options.sack_re";
    DSACK_START = "dsack_start", None, "D-SACK from",
        "Where the D-SACK block begins (RFC 2883); empty if there is none",
        wireshark "tcp.options.sack.dsack_le";
    DSACK_END = "dsack_end", None, "D-SACK to",
        "Where the D-SACK block ends (RFC 2883); empty if there is none",
        wireshark "tcp.options.sack.dsack_re";
    HAS_DATA = "has_data", None, "has data", "Whether the packet carries data of its own",
        wireshark "tcp.len > 0";
    ABOUT_FRAME = "about_frame", None, "about", "The frame of the retransmission that it is about",
        wireshark "frame.number";
}

quantities! {
    /// Recovery episodes, stalls, limits, states, and what is notable.
    PERIOD_LIST;
    EPISODE = "episode", None, "episode",
        "The recovery episode's number in its direction, from 1";
    FIRST_LOST_SENT_NS = "first_lost_sent_ns", Nanoseconds, "first lost sent",
        "When the first lost segment had been sent, from the trace's zero";
    FIRST_LOST_FRAME = "first_lost_frame", None, "first lost",
        "The frame of the first lost segment; empty if none is known to be lost",
        wireshark "frame.number";
    EVIDENCE_NS = "evidence_ns", Nanoseconds, "evidence",
        "When the evidence of loss reached the sender, from the trace's zero";
    FIRST_RETRANSMISSION_NS = "first_retransmission_ns", Nanoseconds, "first retransmission",
        "When the first retransmission was sent, from the trace's zero; empty if there was none";
    FIRST_RETRANSMISSION_FRAME = "first_retransmission_frame", None, "first retransmission",
        "The frame of the first retransmission; empty if there was none",
        wireshark "frame.number";
    REPAIRED_NS = "repaired_ns", Nanoseconds, "recovered",
        "When everything lost was acknowledged, from the trace's zero; empty if it never was";
    LOST_SEGMENTS = "lost_segments", None, "lost segments", "Transmissions that were lost";
    LOST_BYTES = "lost_bytes", Bytes, "lost data", "Bytes that were lost";
    PROBES = "probes", None, "probes", "Tail loss probes, those with new data included";
    SILENCE_NS = "silence_ns", Nanoseconds, "silence",
        "How long the sender had sent nothing when its recovery began with the first \
         retransmission, or with the probe before it: the time lag; empty if it never began";
    SENT_NS = "sent_ns", Nanoseconds, "sent", "When it was sent, from the trace's zero";
    FROM_NS = "from_ns", Nanoseconds, "from", "When it begins, from the trace's zero";
    UNTIL_NS = "until_ns", Nanoseconds, "until", "When it ends, from the trace's zero";
    DURATION_NS = "duration_ns", Nanoseconds, "duration", "How long it lasts";
    CAUSE = "cause", None, "cause", "Why; its table lists the causes";
    COUNT = "count", None, "count", "How many there were";
    LONGEST_FROM_NS = "longest_from_ns", Nanoseconds, "longest from",
        "When the longest begins, from the trace's zero";
    LONGEST_UNTIL_NS = "longest_until_ns", Nanoseconds, "longest until",
        "When the longest ends, from the trace's zero";
    LONGEST_FIRST_FRAME = "longest_first_frame", None, "longest from",
        "The frame before the longest", wireshark "frame.number";
    LONGEST_LAST_FRAME = "longest_last_frame", None, "longest until",
        "The frame that ends the longest", wireshark "frame.number";
    LONGEST_BYTES_IN_FLIGHT = "longest_bytes_in_flight", Bytes, "in flight during the longest",
        "Bytes in flight during the longest";
    LIMIT = "limit", None, "limit",
        "What bounded the rate: application, receive-window, send-buffer, slow-start, \
         congestion-window, path, timeout";
    QUANTITY = "quantity", None, "quantity", "The quantity that the row is about: a key of this list";
    FRAMES = "frames", None, "frames", "The frames to look at", wireshark "frame.number";
    MSS_BEFORE_BYTES = "mss_before_bytes", Bytes, "segment size before",
        "The size of full segments before, bytes of data";
    MSS_AFTER_BYTES = "mss_after_bytes", Bytes, "segment size after",
        "The size of full segments after, bytes of data";
    SENT_BYTES = "sent_bytes", Bytes, "sent", "Bytes of data sent, retransmissions counted";
    ENDPOINT = "endpoint", None, "endpoint", "Which end: client or server";
    STATE = "state", None, "state", "The state of RFC 9293 section 3.3.2", wireshark "tcp.completeness";
    CAUSE_NS = "cause_ns", Nanoseconds, "caused",
        "When the packet that caused it passed the capture point, from the trace's zero";
    CAUSE_FRAME = "cause_frame", None, "caused by", "The frame that caused it",
        wireshark "frame.number";
    CAUSE_FLAGS = "cause_flags", None, "caused by", "The flags of that packet, as tcpdump writes them",
        wireshark "tcp.flags.str";
    CAUSE_SENDER = "cause_sender", None, "caused by", "Who sent that packet: client or server";
    RULE = "rule", None, "rule", "The rule that found it";
    SEVERITY = "severity", None, "severity", "good, note, harm, failure or doubt";
    COST_NS = "cost_ns", Nanoseconds, "cost", "For how long it delayed the connection";
    COST_BYTES = "cost_bytes", Bytes, "cost", "Bytes that went over the path for nothing";
    STATEMENT = "statement", None, "statement", "What was found";
    REMEDY = "remedy", None, "remedy", "What to do about it; empty if nothing can be done";
}
