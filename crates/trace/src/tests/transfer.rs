//! Rates, the metrics of RFC 6349, and the series.

use tcplab_units::{Bytes, Span};

use super::drill::flow;

#[test]
fn transfer_counts_at_capture_point() {
    let flow = flow(
        "0.000 > S
         0.020 < S
         0.020 > 1:1449
         0.041 < ack 1449
         0.065 > 1449:4345
         0.085 < ack 4345",
    );
    assert_eq!(flow.series.interval, Span::from_millis(10));
    assert_eq!(flow.series.from.as_nanos(), 20_000_000);
    assert_eq!(flow.series.sent, [1448, 0, 0, 0, 2896, 0, 0]);
    assert_eq!(flow.series.acked, [0, 0, 1448, 0, 0, 0, 2896]);
}

#[test]
fn transfer_syn_and_fin_are_no_data() {
    let flow = flow(
        "0.000 > S
         0.020 < S
         0.021 > 1:102 fin
         0.041 < ack 102",
    );
    assert_eq!(flow.series.sent.iter().sum::<u64>(), 100);
    assert_eq!(flow.series.acked.iter().sum::<u64>(), 100);
}

/// tcptrace counts the bytes of keep-alives among those sent; they are no part of a transfer.
#[test]
fn transfer_ends_before_its_keep_alives() {
    let data = "open 0.020\n0.100 > 1:14481\n0.120 < ack 14481\n";
    let empty = flow(&format!("{data}60 > at 14480\n60.02 < ack 14481"));
    let with_byte = flow(&format!("{data}60 > 14480:14481\n60.02 < ack 14481"));
    assert_eq!(with_byte.transfer.goodput, empty.transfer.goodput);
    assert_eq!(with_byte.transfer.time, Span::from_millis(20));
    assert_eq!(with_byte.series, empty.series);
    assert_eq!(with_byte.totals.data, empty.totals.data + Bytes::new(1));
}

#[test]
fn metrics_as_worked_out_by_hand() {
    // Five segments back to back, each 1 ms on the narrowest link: 1448 × 8 bits / 1 ms.
    let flow = flow(
        "open 0.020
         0.100 > 1:14481
         0.121 < acks 1449 14481 every 0.001
         0.200 > 1:1449
         0.221 < ack 14481 dsack 1-1449
         0.300 > 14481:28961
         0.321 < acks 15929 28961 every 0.001",
    );
    let transfer = flow.transfer;
    assert_eq!(transfer.time, Span::from_millis(230));
    assert_eq!(transfer.acked, Bytes::new(28_960));
    assert_eq!(transfer.goodput.unwrap().bits_per_second(), 28_960 * 8 * 100 / 23);
    assert_eq!(transfer.throughput.unwrap().bits_per_second(), 30_408 * 8 * 100 / 23);
    // Of 21 segments one was retransmitted.
    assert!((transfer.efficiency.unwrap() - 100.0 * 20.0 / 21.0).abs() < 1e-9);
    // The SYN took 20 ms; the data 21 to 30 ms, twice: 25.5 ms in the mean.
    assert_eq!(transfer.baseline, Some(Span::from_millis(20)));
    let mean = 25.5;
    let delay = transfer.buffer_delay.unwrap();
    assert!((delay - 100.0 * (mean - 20.0) / 20.0).abs() < 1e-6, "{delay}");
    let capacity = transfer.capacity.unwrap().bits_per_second();
    assert!(capacity.abs_diff(11_584_000) < 11_584_000 / 25, "{capacity}");
    // 28,960 bytes take 20 ms at that rate.
    let ratio = transfer.time_ratio.unwrap();
    assert!((ratio - 230.0 / 20.0).abs() < 0.5, "{ratio}");
}

/// The ACK of a FIN alone may be delayed, and is not of the transfer.
#[test]
fn buffer_delay_is_of_data_alone() {
    let data = "0.000 > S
         0.010 < S
         0.011 > 1:14481
         0.022 < ack 14481";
    for rest in ["", "\n5.000 > 14481:14482 fin\n5.051 < ack 14482"] {
        let flow = flow(&format!("{data}{rest}"));
        let delay = flow.transfer.buffer_delay.unwrap();
        // 11 ms against the 10 ms of the SYN.
        assert!((delay - 10.0).abs() < 1e-9, "{delay}");
        assert_eq!(flow.round_trips.samples(), if rest.is_empty() { 2 } else { 3 });
        assert_eq!(flow.round_trips.of_data, 1);
    }
}

#[test]
fn transfer_smaller_than_a_few_segments_or_a_round_trip_has_no_rate() {
    for (name, text, has_rate) in [
        ("82 bytes", "0.1 > 1:83\n0.1000005 < ack 83", false),
        ("three segments", "0.1 > 1:4345\n0.12 < ack 4345", false),
        ("ten segments in a round trip", "0.1 > 1:14481\n0.12 < ack 14481", true),
        ("ten at the receiver, at once", "0.1 > 1:14481\n0.10001 < ack 14481", false),
    ] {
        let transfer = flow(&format!("open 0.020\n{text}")).transfer;
        assert_eq!(transfer.goodput.is_some(), has_rate, "{name}");
        assert_eq!(transfer.throughput.is_some(), has_rate, "{name}");
        assert!(has_rate || transfer.time_ratio.is_none(), "{name}");
    }
}

/// A capture that begins in a transfer: bytes sent before are acknowledged before the first data.
#[test]
fn transfer_counts_nothing_sent_before_its_first_data() {
    let before = "0.001 < ack 1\n0.002 < ack 2897\n0.003 < ack 8689\n";
    let transfer = flow(&format!("{before}0.010 > 8689:10137\n0.0101 > 10137:11585")).transfer;
    assert_eq!(transfer.acked, Bytes::ZERO);
    assert_eq!((transfer.goodput, transfer.time), (None, Span::from_micros(100)));
    let data = "0.010 > 8689:23169\n0.030 < ack 23169";
    let transfer = flow(&format!("{before}{data}")).transfer;
    assert_eq!(transfer.acked, Bytes::new(14_480));
    assert_eq!(transfer.goodput.unwrap().bits_per_second(), 14_480 * 8 * 50);
}

#[test]
fn transfer_without_data_no_metrics() {
    let flow = flow("open 0.020");
    assert_eq!(flow.transfer, crate::Transfer::default());
    assert_eq!(flow.series, crate::Series::default());
}

/// Beside the receiver: what came before the first packet shows no rate.
#[test]
fn capacity_of_a_short_transfer_at_the_receiver() {
    let mut text = "open 0.0001 0.0201\n".to_owned();
    for segment in 0..6_u64 {
        let (start, at) = (1 + segment * 1_448, 0.100 + segment as f64 * 0.0012);
        text += &format!("{at:.4} > {start}:{}\n", start + 1_448);
        text += &format!("{:.4} < ack {}\n", at + 0.0001, start + 1_448);
    }
    // 1,448 bytes each 1.2 ms.
    let rate = flow(&text).transfer.capacity.unwrap().bits_per_second();
    assert!(rate.abs_diff(9_653_333) < 10_000, "{rate}");
}

#[test]
fn capacity_unknown_for_slow_sender() {
    let mut text = "open 0.020\n".to_owned();
    for segment in 0..50_u64 {
        let (start, at) = (1 + segment * 1_448, 100 + segment * 10);
        text += &format!("0.{at:03} > {start}:{}\n", start + 1_448);
        text += &format!("0.{:03} < ack {}\n", at + 20, start + 1_448);
    }
    assert_eq!(flow(&text).transfer.capacity, None);
}

/// Without SACK the ACK after a hole is filled covers what arrived at any time before.
#[test]
fn capacity_is_not_what_fills_a_hole() {
    let mut text = "open 0.020 nosack\n0.100 > 1:1449\n0.120 < ack 1449\n".to_owned();
    text += "0.121 > 1449:30409\n";
    for arrived in 0..19 {
        text += &format!("{:.4} < ack 1449\n", 0.1422 + f64::from(arrived) * 0.0012);
    }
    // The first was overtaken by all others.
    text += "0.1643 < ack 30409\n";
    assert_eq!(flow(&text).transfer.capacity, None);
}

/// Data that the capture misses were sent over an unknown time: those below the first captured are
/// part of no rate, however many an ACK covers.
#[test]
fn transfer_begins_with_the_first_captured_data() {
    let missed = flow(
        "0.000 < ack 2934
         2.270 > 193334:194430
         2.457 < ack 194430",
    );
    assert_eq!((missed.transfer.acked, missed.transfer.goodput), (Bytes::new(1_096), None));
    // Data out of order begin lower.
    let reordered = flow(
        "0.000 < ack 1
         0.100 > 1449:7241
         0.101 > 1:1449
         0.120 < ack 7241",
    );
    assert_eq!(reordered.transfer.acked, Bytes::new(7_240));
}
