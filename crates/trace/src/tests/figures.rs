//! The timelines of "Experimental Analysis of TCP Behaviors against Bursty Packet Losses Caused by
//! Transmission Interruption", shortened, and what today's kernels make of the same losses.

use tcplab_units::Span;

use super::drill::{MSS, connection, flow};
use crate::{EpisodeKind, Evidence, Fate, LadderLine, Timer, ladder, listing};

/// Figure 9: data still flow when the SACK for the first survivor comes back.
const WITHOUT_TIME_LAG: &str = "
    open 0.010
    0.100 > 1:43441 every 0.001
    0.110 < acks 1449 7241 every 0.001
    # 7241:14481, five segments, are lost
    0.120 < ack 7241 sack 14481-... 43441 every 0.001
    0.1201 > 7241:10137
    0.1212 > 10137:14481 every 0.001
    0.1401 < ack 8689 sack 14481-43441
    0.1402 < ack 10137 sack 14481-43441
    0.1403 < acks 11585 13033 every 0.001
    0.1426 < ack 43441
    0.143 > 43441:46337
    0.153 < ack 46337
";

/// Figure 10: everything to the end of the window is lost, and the acknowledgement of the last
/// segment before; the timeout's retransmission arrives a second time (D-SACK).
const WITH_TIME_LAG: &str = "
    open 0.010
    0.100 > 1:14481 every 0.001
    0.110 < acks 1449 5793 every 0.001
    # 5793:7241 arrives, its acknowledgement is lost; 7241:14481 is lost
    0.350 > 5793:7241
    0.360 < ack 7241 dsack 5793-7241
    0.3601 > 14481:17377
    0.3701 < ack 7241 sack 14481-15929
    0.3702 < ack 7241 sack 14481-17377
    0.3703 > 7241:10137
    0.3803 < ack 8689 sack 14481-17377
    0.3804 < ack 10137 sack 14481-17377
    0.3805 > 10137:14481
    0.3905 < ack 17377
    0.391 > 17377:20273
    0.401 < ack 20273
";

/// Figure 11: a timeout for every lost segment, though SACK says what is missing.
const INTERMITTENT: &str = "
    open 0.010
    0.100 > 1:14481 every 0.001
    0.110 < acks 1449 7241 every 0.001
    # 7241:14481 is lost
    0.400 > 7241:8689
    0.410 < ack 8689
    0.4101 > 14481:15929
    0.4201 < ack 8689 sack 14481-15929
    0.900 > 8689:10137
    0.910 < ack 10137 sack 14481-15929
    0.9101 > 15929:17377
    0.9201 < ack 10137 sack 14481-17377
    1.700 > 10137:11585
    1.710 < ack 11585 sack 14481-17377
    1.7101 > 17377:18825
    1.7201 < ack 11585 sack 14481-18825
    2.900 > 11585:13033
    2.910 < ack 13033 sack 14481-18825
    2.9101 > 13033:14481
    2.9201 < ack 18825
    2.921 > 18825:20273
    2.931 < ack 20273
";

/// Figure 10's loss on a kernel with tail loss probes: the probe is one new segment.
const PROBE_WITH_NEW_DATA: &str = "
    open 0.010
    0.100 > 1:14481 every 0.001
    0.110 < acks 1449 7241 every 0.001
    0.140 > 14481:15929
    0.150 < ack 7241 sack 14481-15929
    0.1501 > 7241:10137
    0.1601 < ack 8689 sack 14481-15929
    0.1602 < ack 10137 sack 14481-15929
    0.1603 > 10137:14481
    0.1703 < ack 15929
    0.171 > 15929:17377
    0.181 < ack 17377
";

/// The window is full, so the probe retransmits the newest segment.
const PROBE_WITH_OLD_DATA: &str = "
    open 0.010
    0.100 > 1:14481 every 0.001
    0.110 < acks 1449 7241 every 0.001
    0.140 > 13033:14481
    0.150 < ack 7241 sack 13033-14481
    0.1501 > 7241:10137
    0.1601 < ack 8689 sack 13033-14481
    0.1602 < ack 10137 sack 13033-14481
    0.1603 > 10137:13033
    0.1703 < ack 14481
    0.171 > 14481:15929
    0.181 < ack 15929
";

/// A long interruption: a probe and two retransmissions are lost, the third arrives.
const BACKOFF: &str = "
    open 0.010
    0.100 > 1:14481 every 0.001
    0.110 < acks 1449 7241 every 0.001
    0.140 > 14481:15929
    0.380 > 7241:8689
    0.840 > 7241:8689
    1.740 > 7241:8689
    1.750 < ack 8689
    1.7501 > 8689:11585
    1.7601 < ack 10137
    1.7602 < ack 11585
    1.7603 > 11585:15929
    1.7703 < ack 15929
    1.771 > 15929:17377
    1.781 < ack 17377
";

/// A full queue before the interruption: no ACK for its duration, then it reveals the loss.
const SILENT_WITHOUT_TIME_LAG: &str = "
    open 0.400
    0.500 > 1:14481 every 0.010
    0.900 < acks 1449 4345 every 0.010
    0.9201 > 14481:18825
    # 4345:10137 is lost, no acknowledgement for 200 ms, the window is full
    1.140 < ack 4345 sack 10137-... 18825 every 0.010
    1.1402 > 4345:10137 every 0.012
    1.5402 < ack 5793 sack 10137-18825
    1.5502 < ack 7241 sack 10137-18825
    1.5602 < ack 8689 sack 10137-18825
    1.5702 < ack 18825
    1.571 > 18825:20273
    1.971 < ack 20273
";

#[test]
fn paper_figures_match_snapshots() {
    use EpisodeKind::{Intermittent, WithTimeLag, WithoutTimeLag};
    // Name, packets, kind, evidence, lost range and packets, timeouts, probes, spurious.
    for (name, text, kind, evidence, lost, timeouts, probes, spurious) in [
        ("figure 9", WITHOUT_TIME_LAG, WithoutTimeLag, "sack", (7_241, 14_481, 5), 0, 0, 0),
        ("figure 10", WITH_TIME_LAG, WithTimeLag, "timeout", (7_241, 14_481, 5), 1, 0, 1),
        ("figure 11", INTERMITTENT, Intermittent, "timeout", (7_241, 14_481, 5), 4, 0, 0),
        ("new probe", PROBE_WITH_NEW_DATA, WithTimeLag, "probe", (7_241, 14_481, 5), 0, 1, 0),
        ("old probe", PROBE_WITH_OLD_DATA, WithTimeLag, "probe", (7_241, 14_481, 5), 1, 1, 0),
        ("backoff", BACKOFF, WithTimeLag, "probe", (7_241, 15_929, 8), 3, 1, 0),
        ("silence", SILENT_WITHOUT_TIME_LAG, WithoutTimeLag, "sack", (4_345, 10_137, 4), 0, 0, 0),
    ] {
        let flow = flow(text);
        let [episode] = flow.episodes.as_slice() else {
            panic!("{name}: {:#?}", flow.episodes);
        };
        let found_by = match episode.evidence {
            Evidence::Sack { .. } => "sack",
            Evidence::DuplicateAcks { .. } => "duplicates",
            Evidence::PacketTooBig { .. } => "icmp",
            Evidence::Timeout { .. } => "timeout",
            Evidence::Probe { .. } => "probe",
        };
        let lost_range = (
            episode.lost.iter().map(|l| l.range.start.as_u64()).min().unwrap(),
            episode.lost.iter().map(|l| l.range.end.as_u64()).max().unwrap(),
            episode.lost.len(),
        );
        assert_eq!((episode.kind, found_by, lost_range), (kind, evidence, lost), "{name}");
        assert_eq!(
            (episode.timeouts, episode.probes, episode.spurious),
            (timeouts, probes, spurious),
            "{name}"
        );
        assert!(episode.repaired_at.is_some(), "{name}");
        assert!(ladder(&flow, episode).len() <= 40, "{name}");
    }
}

#[test]
fn episode_silence_before_first_retransmission() {
    for (text, silence) in [
        // A segment each millisecond, until the SACK prompts one between two of them.
        (WITHOUT_TIME_LAG, Span::from_micros(100)),
        (WITH_TIME_LAG, Span::from_millis(241)),
        (PROBE_WITH_NEW_DATA, Span::from_millis(31)),
        (IGNORED_DUPLICATES, Span::from_millis(230)),
        (PAUSE_THEN_EVIDENCE, Span::from_millis(1)),
    ] {
        assert_eq!(flow(text).episodes[0].silence, Some(silence));
    }
}

/// Duplicate ACKs come back, but the sender waits for its timer (Haiku before August 2017).
const IGNORED_DUPLICATES: &str = "
    open 0.010 nosack
    0.100 > 1:14481 every 0.001
    0.110 < acks 1449 4345 every 0.001
    # 4345:5793 is lost
    0.114 < ack 4345
    0.115 < ack 4345
    0.116 < ack 4345
    0.117 < ack 4345
    0.118 < ack 4345
    0.119 < ack 4345
    0.339 > 4345:5793
    0.349 < ack 14481
    0.350 > 14481:15929
    0.360 < ack 15929
";

/// The sender pauses for 50 ms between the lost segment and the SACK.
const PAUSE_THEN_EVIDENCE: &str = "
    open 0.010
    0.100 > 1:2897 every 0.001
    # 1449:2897 is lost
    0.110 < ack 1449
    0.150 > 2897:7241 every 0.001
    0.160 < ack 1449 sack 2897-4345
    0.161 < ack 1449 sack 2897-5793
    0.1611 > 7241:8689
    0.162 < ack 1449 sack 2897-7241
    0.1621 > 1449:2897
    0.1721 < ack 8689
    0.173 > 8689:10137
    0.183 < ack 10137
";

#[test]
fn episode_typed_by_who_retransmitted_first() {
    let episode = |text| flow(text).episodes.remove(0);
    let ignored = episode(IGNORED_DUPLICATES);
    assert_eq!(ignored.kind, EpisodeKind::WithTimeLag);
    assert!(matches!(ignored.evidence, Evidence::DuplicateAcks { .. }), "{ignored:?}");
    assert_eq!(episode(PAUSE_THEN_EVIDENCE).kind, EpisodeKind::WithoutTimeLag);
    // The capture ends before the retransmission.
    let cut = episode(PAUSE_THEN_EVIDENCE.split("0.1621").next().unwrap());
    assert_eq!((cut.kind, cut.silence), (EpisodeKind::Unknown, None));
}

#[test]
fn listings_and_ladders() {
    for (name, text) in [
        ("figure_9", WITHOUT_TIME_LAG),
        ("figure_10", WITH_TIME_LAG),
        ("figure_11", INTERMITTENT),
        ("backoff", BACKOFF),
    ] {
        let connection = connection(text);
        let mut shown = listing(0, &connection, None);
        for episode in &connection.forward.episodes {
            shown.push_str("ladder\n");
            for line in ladder(&connection.forward, episode) {
                shown.push_str(&rung(&line));
            }
        }
        insta::assert_snapshot!(name, shown);
    }
}

fn rung(line: &LadderLine) -> String {
    let arrow = match (line.from_sender, line.fate) {
        (true, Fate::Lost) => "──╳   ",
        (true, _) => "─────>",
        (false, _) => "<─────",
    };
    let note = line.note.as_deref().unwrap_or_default();
    let text = format!("{:>10.4} {arrow} {:<44} {note}", line.at.as_secs_f64(), line.label);
    format!("{}\n", text.trim_end())
}

#[test]
fn ladder_long_folded_without_losing_packets() {
    // 300 segments flow, 100 are lost, 100 more arrive.
    let (lost, survivor, end) = (1 + 300 * MSS, 1 + 400 * MSS, 1 + 500 * MSS);
    let text = format!(
        "open 0.010
         0.100 > 1:{end} every 0.001
         0.110 < acks {first} {lost} every 0.001
         0.510 < ack {lost} sack {survivor}-... {end} every 0.001
         0.5105 > {lost}:{survivor} every 0.001
         0.6206 < ack {end}",
        first = 1 + MSS,
    );
    let flow = flow(&text);
    let lines = ladder(&flow, &flow.episodes[0]);
    assert!((10..=40).contains(&lines.len()), "{}", lines.len());
    let within = |frame: u64| (lines[0].frame..=flow.episodes[0].frames.1).contains(&frame);
    let packets = flow.segments.iter().filter(|s| within(s.frame)).count()
        + flow.acks.iter().filter(|a| within(a.frame)).count();
    assert_eq!(lines.iter().map(|line| line.folded.max(1)).sum::<u64>(), packets as u64);
    assert!(lines.iter().any(|line| line.label == "… 98 more segments, lost"));
    assert_eq!(lines.last().unwrap().note.as_deref(), Some("recovered"));
}

#[test]
fn probes_distinguished_from_timeouts() {
    use Timer::{Probe, Retransmission};
    for (text, expected) in [
        (PROBE_WITH_NEW_DATA, vec![Probe]),
        (PROBE_WITH_OLD_DATA, vec![Probe]),
        (BACKOFF, vec![Probe, Retransmission, Retransmission, Retransmission]),
    ] {
        let timers: Vec<Timer> = flow(text).segments.iter().filter_map(|s| s.timer).collect();
        assert_eq!(timers, expected);
    }
}
