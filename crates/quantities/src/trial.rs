//! What trials leave: the path's log, samples of sockets, results.

use crate::quantity::quantities;

quantities! {
    /// The path's log.
    PATH_LIST;
    ID = "id", None, "packet", "The packet's number on the path";
    SIZE_BYTES = "size_bytes", Bytes, "size", "Length from the IP header on", wireshark "ip.len";
    ENTERED_NS = "entered_ns", Nanoseconds, "entered", "When it entered the link, from the trial's zero";
    QUEUED_NS = "queued_ns", Nanoseconds, "queued",
        "When it entered the queue of the last bottleneck that it came to, from the trial's zero; empty if that did not send it";
    BEGAN_NS = "began_ns", Nanoseconds, "began",
        "When that bottleneck began to send it, from the trial's zero; empty if it did not";
    ENDED_NS = "ended_ns", Nanoseconds, "ended",
        "When that bottleneck had sent its last bit, from the trial's zero: after left_ns if the trial \
         ended before; empty if it was never sent there";
    LEFT_NS = "left_ns", Nanoseconds, "left",
        "When it left the link, delivered or dropped, or was found there at the end, from the \
         trial's zero";
    FATE = "fate", None, "verdict",
        "How it left the link: delivered, dropped, still-on-link, or absorbed (cross traffic)";
    DETAIL = "detail", None, "detail", "Why it was dropped, as a sentence; empty if it was not";
    ORIGIN_ID = "origin_id", None, "origin",
        "Of a packet that the path made: the id of the one that it copies or answers; empty if an \
         endpoint sent it, or it is cross traffic";
    MARKED = "marked", None, "marked CE", "Whether the path marked it Congestion Experienced";
    CORRUPTED_BIT = "corrupted_bit", None, "corrupted bit",
        "The first bit that the path changed, from the packet's first; empty if it changed none";
    FRAGMENT_OFFSET_BYTES = "fragment_offset_bytes", Bytes, "fragment offset",
        "Of a packet that the path cut into fragments, a row for each: where this one's data begin \
         in those of the packet; empty if it was not cut";
    SECOND_PATH = "second_path", None, "second path",
        "Whether it took the second path, and not the first";
    BECAUSE = "because", None, "because",
        "Why the endpoint sent it, such as timeout; empty if not known (only models know)";
}

quantities! {
    /// Samples of a socket: `TCP_INFO`, of the kernel or of a model.
    SAMPLE_LIST;
    TCP_STATE = "tcp_state", None, "TCP state",
        "TCP state, numbered as in Linux: 1 is ESTABLISHED (tcpi_state)";
    CA_STATE = "ca_state", None, "congestion state",
        "Congestion state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss (tcpi_ca_state)";
    BACKOFF = "backoff", None, "backoff",
        "Retransmission timeouts in a row for the oldest segment (tcpi_backoff)";
    CWND_SEGMENTS = "cwnd_segments", None, "congestion window", "Congestion window (tcpi_snd_cwnd)";
    SSTHRESH_SEGMENTS = "ssthresh_segments", None, "ssthresh",
        "Slow start threshold; empty while none is set (tcpi_snd_ssthresh)";
    SND_MSS_BYTES = "snd_mss_bytes", Bytes, "MSS in sending",
        "Maximum segment size in sending (tcpi_snd_mss)";
    UNACKED_SEGMENTS = "unacked_segments", None, "unacknowledged",
        "Segments sent and not acknowledged (tcpi_unacked)";
    SACKED_SEGMENTS = "sacked_segments", None, "SACKed",
        "Unacknowledged segments that are SACKed (tcpi_sacked)";
    MARKED_LOST_SEGMENTS = "marked_lost_segments", None, "marked lost",
        "Unacknowledged segments that are marked lost (tcpi_lost)";
    RETRANS_SEGMENTS = "retrans_segments", None, "retransmitted, unacknowledged",
        "Unacknowledged segments that were retransmitted (tcpi_retrans)";
    TOTAL_RETRANS_SEGMENTS = "total_retrans_segments", None, "retransmitted segments",
        "Segments retransmitted so far (tcpi_total_retrans)";
    RECEIVED_BYTES = "received_bytes", Bytes, "received",
        "Bytes received so far (tcpi_bytes_received)";
    NOTSENT_BYTES = "notsent_bytes", Bytes, "not sent",
        "Data in the send buffer not sent yet (tcpi_notsent_bytes)";
    SND_WND_BYTES = "snd_wnd_bytes", Bytes, "window of the peer",
        "The window that the peer advertises (tcpi_snd_wnd)";
    RCV_WND_BYTES = "rcv_wnd_bytes", Bytes, "own window",
        "The window advertised to the peer (tcpi_rcv_wnd)";
    RCV_SPACE_BYTES = "rcv_space_bytes", Bytes, "receive space",
        "What the receiver tunes its buffer to (tcpi_rcv_space)";
    PACING_RATE = "pacing_rate_bytes_per_second", BytesPerSecond, "pacing rate",
        "Pacing rate; empty while not paced (tcpi_pacing_rate)";
    DELIVERY_RATE = "delivery_rate_bytes_per_second", BytesPerSecond, "delivery rate",
        "Delivery rate as the kernel estimates it (tcpi_delivery_rate)";
    BUSY_NS = "busy_ns", Nanoseconds, "busy",
        "Time with data outstanding or waiting (tcpi_busy_time)";
    RWND_LIMITED_NS = "rwnd_limited_ns", Nanoseconds, "busy, receive window full",
        "Of the busy time, limited by the receive window (tcpi_rwnd_limited)";
    SNDBUF_LIMITED_NS = "sndbuf_limited_ns", Nanoseconds, "busy, send buffer full",
        "Of the busy time, limited by the send buffer (tcpi_sndbuf_limited)";
    DSACK_DUPS = "dsack_dups", None, "D-SACKs", "D-SACK blocks received so far (tcpi_dsack_dups)";
    REORD_SEEN = "reord_seen", None, "reordering events",
        "Reordering events so far (tcpi_reord_seen)";
}

quantities! {
    /// Runs and trials.
    TRIAL_LIST;
    CASE = "case", None, "case", "The case's name";
    TRIAL = "trial", None, "trial", "The trial's number in its case, from 1";
    SEED = "seed", None, "seed", "The trial's seed";
    WORLD = "world", None, "world", "Where it ran: kernel or sim";
    OUTCOME = "outcome", None, "outcome",
        "How it went: good, with-warnings (its path missed its bounds), or failed";
    REPEATED = "repeated", None, "repeated", "How often it was run again before this outcome";
    PACKETS_KEPT = "packets_kept", None, "packets kept", "Whether its captures were kept";
    WARNINGS = "warnings", None, "warnings",
        "What is doubtful about the trial, or why it failed; empty if nothing";
    METRIC = "metric", None, "metric", "The metric's name, as in metrics.md";
    UNIT = "unit", None, "unit", "The unit of the values; empty if they have none";
    VALUE = "value", None, "value", "The value, in that unit";
    INTERRUPTION = "interruption", None, "interruption",
        "The interruption's number, from 1; empty if there was none";
    START_SECONDS = "start_seconds", Seconds, "start", "When it began, from the trial's zero";
    DURATION_SECONDS = "duration_seconds", Seconds, "duration", "How long it lasted";
    SILENCE_SECONDS = "silence_seconds", Seconds, "silence",
        "How long the sender had sent nothing when its recovery began with the first \
         retransmission, or with the probe before it: the time lag; empty if it never began";
    RECOVERY_SECONDS = "recovery_seconds", Seconds, "recovery",
        "From its end until new data were acknowledged; empty if that did not come";
    LOST_SEGMENTS_OF_PATH = "lost_segments_of_path", None, "lost, by the path's log",
        "Segments of the episode that the path dropped or damaged, by its log; empty if it has none";
    LOST_GOODPUT_BYTES = "lost_goodput_bytes", Bytes, "lost goodput",
        "What would have been acknowledged at the rate of before, less what was; empty if not known";
    REPAIRED = "repaired", None, "recovered", "Whether everything lost was acknowledged in the end";
    CALL = "call", None, "call", "The call of the application";
    ASKED = "asked", None, "arguments", "The call's argument, if it is not a size";
    ASKED_BYTES = "asked_bytes", Bytes, "size asked for", "The call's argument, if it is a size";
    RESULT = "result", None, "result", "What the call returned: ok, end, or an error";
    CALL_CONNECTION = "call_connection", None, "connection",
        "The connection of the application, from 1";
    TRANSFERRED_BYTES = "transferred_bytes", Bytes, "transferred", "Bytes read or written";
    ENDED_SECONDS = "ended_seconds", Seconds, "end", "When it ended, from the trial's zero";
    TOOK_SECONDS = "took_seconds", Seconds, "time in the calls", "The time in these calls, in all";
    LONGEST_SECONDS = "longest_seconds", Seconds, "longest call", "The longest of these calls";
    SCATTERED = "scattered", None, "scattered", "Whether there were other calls between these";
    ABOUT = "about", None, "about", "What else is known of the call";
    SOCKET = "socket", None, "socket", "Which socket: client, listener or accepted";
    KEY = "key", None, "key", "The option's key in scenario files";
    OPTION = "option", None, "option", "The option's name: SO_…, TCP_…, IP_…";
    REQUESTED = "requested", None, "requested", "What the scenario asks for; empty if it is words";
    REQUESTED_TEXT = "requested_text", None, "requested",
        "What the scenario asks for, in words; empty if it is a number, or nothing";
    BEFORE = "before", None, "before setting", "The value before it was set; empty if it is words";
    BEFORE_TEXT = "before_text", None, "before setting", "The value before it was set, if it is words";
    SET = "set", None, "after setting", "The value after it was set; empty if it is words";
    SET_TEXT = "set_text", None, "after setting", "The value after it was set, if it is words";
    CONNECTED = "connected", None, "when connected", "The value once connected; empty if it is words";
    CONNECTED_TEXT = "connected_text", None, "when connected",
        "The value once connected, if it is words";
    EFFECTIVE = "effective", None, "effective", "The value at the end; empty if it is words";
    EFFECTIVE_TEXT = "effective_text", None, "effective", "The value at the end, if it is words";
    EFFECT = "effect", None, "effect",
        "What became of the option: as asked, another value, refused, or default";
    REASON = "reason", None, "reason", "Why; empty if not known";
    FLOW = "flow", None, "flow", "The flow's name";
    BACKGROUND = "background", None, "background", "Whether the trial did not wait for its end";
    CONNECTIONS = "connections", None, "connections", "How many connections it has";
    TRANSFER_TIME_SECONDS = "transfer_time_seconds", Seconds, "transfer time",
        "Time from the call of connect() until the receiver has read the last byte; empty if not \
         all that was to be sent arrived";
    GOODPUT_MBIT_PER_SECOND = "goodput_mbit_per_second", MbitPerSecond, "goodput",
        "Payload divided by transfer time, of traffic without a size (`bulk`, `on_off`) by the time \
         until its last byte; empty if not all that was to be sent arrived";
    RESPONSE_TIME_MS = "response_time_ms", Milliseconds, "response time",
        "Time from the start of a request until its response was read";
    MEAN_RTT_MS = "mean_rtt_ms", Milliseconds, "mean SRTT",
        "Mean of the samples of the sender's smoothed RTT, from the handshake until its FIN is \
         acknowledged";
}
