//! Windows and duplicates in captures of the kernel's TCP, against what tshark 4.0.17 counts and
//! where that can be explained.

use std::path::Path;

use tcplab_trace::{Connection, Flow, Trace, analyze};

/// Packets by tshark's flags.
struct Counted {
    name: &'static str,
    /// `tcp.analysis.duplicate_ack`.
    duplicates: usize,
    /// `tcp.analysis.window_update`: also of ACKs with new SACK blocks.
    updates: usize,
    /// Of `duplicates` those with which nothing was outstanding: D-SACKs.
    at_rest: usize,
    /// `tcp.analysis.window_full`: those that end exactly at the edge.
    full: usize,
}

const fn counted(
    name: &'static str,
    (duplicates, at_rest): (usize, usize),
    updates: usize,
    full: usize,
) -> Counted {
    Counted { name, duplicates, updates, at_rest, full }
}

const CASES: [Counted; 8] = [
    counted("ackloss30", (73, 0), 0, 2),
    counted("app_limited", (1, 1), 2, 0),
    counted("blackout", (94, 1), 0, 2),
    counted("clean_cubic_20ms", (1, 0), 0, 0),
    counted("loss1_cubic", (250, 0), 3, 0),
    counted("nosack_loss1", (606, 0), 2, 0),
    counted("nots_loss1", (154, 0), 29, 0),
    counted("rwnd_limited", (1, 0), 1, 1_324),
];

#[test]
fn windows_and_duplicates_match_tshark() {
    for case in CASES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
        let path = folder.join(format!("{}.snd.pcap.zst", case.name));
        let trace = analyze(tcplab_capture::open(path).unwrap());
        let sum = |count: fn(&Flow) -> u64| -> usize { of_all(&trace, count) as usize };
        let (duplicates, updates) =
            (sum(|f| f.acking.duplicates), sum(|f| f.windows.updates.count));
        // Those that tshark calls updates though they tell of more, and those that it calls
        // duplicates though nothing was outstanding, which RFC 5681 asks for.
        assert_eq!(
            duplicates + updates + case.at_rest,
            case.duplicates + case.updates,
            "{}: duplicates and updates",
            case.name
        );
        assert!(updates <= case.updates, "{}: updates", case.name);
        let at_edge: usize = trace.connections.iter().map(exactly_full).sum();
        assert_eq!(at_edge, case.full, "{}: exactly full", case.name);
        assert!(sum(|f| f.windows.window_full.count) >= case.full, "{}: full", case.name);
        assert_eq!(
            sum(|f| f.windows.zero_windows.count + f.windows.windows_shrunk.count),
            0,
            "{}",
            case.name
        );
        assert_eq!(sum(|f| f.acking.unnecessary), 0, "{}: needless duplicates", case.name);
        assert!(trace.connections.iter().all(|c| c.forward.windows.scale_known));
    }
}

fn of_all(trace: &Trace, count: fn(&Flow) -> u64) -> u64 {
    trace.connections.iter().map(|connection| count(&connection.forward)).sum()
}

/// Segments that end exactly at the edge of the window heard last.
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
