use super::*;
use crate::Analyzer;
use crate::tests::drill::{Captured, drill, feed};

fn explained(packets: &[Captured]) -> Vec<String> {
    let mut analyzer = Analyzer::with_sink(Explanations::new());
    feed(&mut analyzer, packets);
    let (_, explanations) = analyzer.finish_into();
    let frames = 1..=packets.len() as u64;
    let lines: Vec<String> =
        frames.filter_map(|frame| Some(format!("#{frame} {}", explanations.of(frame)?))).collect();
    assert_eq!(lines.len(), explanations.len());
    assert_eq!(explanations.left_out(), 0);
    lines
}

/// The first of ten segments is lost, reported by SACK and retransmitted.
const LOSS: &str = "
    0.000 > S
    0.010 < S
    0.0101 > 1:14481 every 0.0001
    0.020 < ack 1 sack 1449-... 14481 every 0.0001
    0.0205 > 1:1449
    0.0305 < ack 14481
";

#[test]
fn explanations_loss_and_recovery() {
    let lines = explained(&drill(LOSS, 1_000));
    let said = lines.join("\n");
    let lost = lines.iter().find(|line| line.ends_with(" lost")).unwrap();
    let frame = lost.split(' ').next().unwrap();
    assert!(said.contains(&format!("first evidence of the loss of {frame}")), "{said}");
    assert!(said.contains(&format!("retransmission of {frame} (lost): ")), "{said}");
    assert!(lines.last().unwrap().contains("loss recovered"), "{said}");
    assert_eq!(lines.len(), 4, "{said}");
}

#[test]
fn explanations_clean_transfer_none() {
    let calm = "
        0.000 > S
        0.010 < S
        0.100 > 1:14481 every 0.0001
        0.110 < acks 1449 14481 every 0.0001
    ";
    assert_eq!(explained(&drill(calm, 1_000)), Vec::<String>::new());
}

#[test]
fn explanations_zero_window_and_update() {
    let lines = explained(&drill(
        "
        0.000 > S
        0.010 < S
        0.100 > 1:2897 every 0.0001
        0.110 < ack 2897 win 0
        0.310 < ack 2897 win 500
        ",
        1_000,
    ));
    assert!(lines.iter().any(|line| line.ends_with("zero window")), "{lines:?}");
    let opened = "window update: 64000 bytes";
    assert!(lines.iter().any(|line| line.ends_with(opened)), "{lines:?}");
}

#[test]
fn explanations_name_the_evidence_frame() {
    let explanations = Explanations { lost: [123].into(), ..Explanations::default() };
    let again = |of, kind, timer, by, proof| {
        explanations.sentence(&Remark::Again { of, kind, timer, by, proof })
    };
    let fast = SegmentKind::FastRetransmission;
    for (sentence, expected) in [
        (
            again(Some(123), fast, None, Sign::Sack, Some(130)),
            "retransmission of #123 (lost): SACK in #130",
        ),
        (
            again(Some(7), fast, None, Sign::DuplicateAcks, Some(9)),
            "retransmission of #7: duplicate ACKs in #9",
        ),
        (
            again(None, SegmentKind::UnexplainedRetransmission, None, Sign::None, None),
            "retransmission: cause unknown",
        ),
        (
            again(
                Some(7),
                SegmentKind::TimeoutRetransmission,
                Some(Timer::Retransmission),
                Sign::Silence,
                Some(6),
            ),
            "retransmission of #7: retransmission timeout",
        ),
        (
            what(SegmentKind::OutOfOrder, Sign::IpId, Some(8)),
            "out of order: sent before #8 (by IP identification)",
        ),
    ] {
        assert_eq!(sentence, expected);
    }
}

#[test]
fn explanations_accept_more_sentences() {
    let mut explanations = Explanations::new();
    assert!(explanations.is_empty());
    explanations.add(4, "evidence of window-limited".to_owned());
    assert_eq!(explanations.of(4).as_deref(), Some("evidence of window-limited"));
    assert_eq!((explanations.of(5), explanations.len()), (None, 1));
}

/// Without a handshake the scale is unknown: the window opened, by how much nobody knows.
#[test]
fn explanations_window_of_unknown_scale_has_no_size() {
    let text = "0.1 > 1:1449\n0.11 < ack 1449 win 0\n0.31 < ack 1449 win 500";
    let lines = explained(&drill(text, 1_000));
    assert!(lines[1].ends_with("zero window; window update (scale unknown)"), "{lines:?}");
}
