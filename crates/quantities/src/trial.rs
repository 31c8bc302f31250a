//! Runs and trials.

use crate::quantity::quantities;

quantities! {
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
    SILENCE_SECONDS = "silence_seconds", Seconds, "longest silence",
        "The longest time without data sent, up to the first retransmission: the time lag";
    RECOVERY_SECONDS = "recovery_seconds", Seconds, "recovery",
        "From its end until new data were acknowledged; empty if that did not come";
    LOST_SEGMENTS_OF_PATH = "lost_segments_of_path", None, "lost, by the path's log",
        "Segments of the episode that the path dropped, by its log; empty if it has none";
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
    SCATTERED = "scattered", None, "scattered", "Whether other calls came between these";
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
        "Time from the call of connect() until the receiver has read the last byte";
    GOODPUT_MBIT_PER_SECOND = "goodput_mbit_per_second", MbitPerSecond, "goodput",
        "Payload divided by transfer time";
    RESPONSE_TIME_MS = "response_time_ms", Milliseconds, "response time",
        "Time from the start of a request until its response was read";
    MEAN_RTT_MS = "mean_rtt_ms", Milliseconds, "mean RTT",
        "Mean of the samples of the sender's smoothed RTT";
}
