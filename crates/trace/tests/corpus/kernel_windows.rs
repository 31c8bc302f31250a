//! Windows and duplicate ACKs in captures of the kernel's TCP, against tshark 4.0.17.

use tcplab_trace::{Connection, Flow, Trace, analyze};

/// A transfer and tshark's counts at the sender: `duplicate_ack`, and those of them with nothing
/// outstanding (D-SACKs); `window_update`, also with new SACK blocks; `window_full`, for segments
/// that end exactly at the edge.
type Case = (&'static str, (usize, usize), usize, usize);

const CASES: [Case; 8] = [
    ("ackloss30", (73, 0), 0, 2),
    ("app_limited", (1, 1), 2, 0),
    ("blackout", (94, 1), 0, 2),
    ("clean_cubic_20ms", (1, 0), 0, 0),
    ("loss1_cubic", (250, 0), 3, 0),
    ("nosack_loss1", (606, 0), 2, 0),
    ("nots_loss1", (154, 0), 29, 0),
    ("rwnd_limited", (1, 0), 1, 1_324),
];

#[test]
fn windows_and_duplicates_match_tshark() {
    for (name, (their_duplicates, at_rest), their_updates, full) in CASES {
        let trace = analyze(super::capture(&format!("{name}.snd")));
        let sum = |count: fn(&Flow) -> u64| -> usize { of_all(&trace, count) as usize };
        let (duplicates, updates) =
            (sum(|f| f.acking.duplicates), sum(|f| f.windows.updates.count));
        // tshark calls ACKs with new SACK blocks updates, and counts duplicates with nothing
        // outstanding, against RFC 5681.
        let (ours, theirs) = (duplicates + updates + at_rest, their_duplicates + their_updates);
        assert_eq!(ours, theirs, "{name}: duplicates and updates");
        assert!(updates <= their_updates, "{name}: updates");
        let at_edge: usize = trace.connections.iter().map(exactly_full).sum();
        assert_eq!(at_edge, full, "{name}: exactly full");
        assert!(sum(|f| f.windows.window_full.count) >= full, "{name}: full");
        let closed = sum(|f| f.windows.zero_windows.count + f.windows.windows_shrunk.count);
        assert_eq!(closed, 0, "{name}");
        assert_eq!(sum(|f| f.acking.unnecessary), 0, "{name}: unnecessary duplicates");
        assert!(trace.connections.iter().all(|c| c.forward.windows.scale_known));
    }
}

fn of_all(trace: &Trace, count: fn(&Flow) -> u64) -> u64 {
    trace.connections.iter().map(|connection| count(&connection.forward)).sum()
}

/// Segments that end exactly at the edge of the last advertised window.
fn exactly_full(connection: &Connection) -> usize {
    let flow = &connection.forward;
    let ends_at_edge = |segment: &&tcplab_trace::Segment| {
        let heard = flow.acks.partition_point(|ack| ack.frame < segment.frame);
        let last = heard.checked_sub(1).map(|index| &flow.acks[index]);
        segment.payload.as_u64() > 0
            && last.is_some_and(|ack| {
                ack.window.is_some_and(|window| ack.ack + window == segment.range.end)
            })
    };
    flow.segments.iter().filter(ends_at_edge).count()
}
