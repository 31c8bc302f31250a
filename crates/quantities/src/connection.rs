//! Connections: who, when, how they were opened and closed.

use crate::quantity::quantities;

quantities! {
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
    CLIENT_SYN_SEEN = "client_syn_seen", None, "client's SYN captured",
        "Whether the client's SYN was captured: only then an absent option was not offered";
    SERVER_SYN_SEEN = "server_syn_seen", None, "server's SYN captured",
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
        "Whether the client's SYN permitted SACK", tcptrace "req sack",
        wireshark "tcp.options.sack_perm";
    SERVER_SACK_PERMITTED = "server_sack_permitted", None, "server's SACK permitted",
        "Whether the server's SYN-ACK permitted SACK", tcptrace "req sack",
        wireshark "tcp.options.sack_perm";
    CLIENT_TIMESTAMPS = "client_timestamps", None, "client's timestamps",
        "Whether the client's SYN had timestamps", tcptrace "req 1323 ws/ts",
        wireshark "tcp.options.timestamp.tsval";
    SERVER_TIMESTAMPS = "server_timestamps", None, "server's timestamps",
        "Whether the server's SYN-ACK had timestamps", tcptrace "req 1323 ws/ts",
        wireshark "tcp.options.timestamp.tsval";
    CLIENT_SYN_WINDOW_BYTES = "client_syn_window_bytes", Bytes, "client's SYN window",
        "The window of the client's SYN, never scaled", wireshark "tcp.window_size_value";
    SERVER_SYN_WINDOW_BYTES = "server_syn_window_bytes", Bytes, "server's SYN window",
        "The window of the server's SYN-ACK, never scaled", wireshark "tcp.window_size_value";
    SACK_AGREED = "sack_agreed", None, "SACK agreed", "Whether both SYNs permitted SACK",
        tcptrace "req sack", wireshark "tcp.options.sack_perm";
    TIMESTAMPS_AGREED = "timestamps_agreed", None, "timestamps agreed",
        "Whether both SYNs had timestamps", tcptrace "req 1323 ws/ts";
    ECN = "ecn", None, "ECN",
        "What the ends agreed on about ECN: classic, accurate, refused, not-asked, unknown",
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
