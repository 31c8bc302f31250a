//! Packets in time, to be read.

use std::fmt::Write;

use crate::support::{bottleneck, delay, forward, link, run};
use tcplab_path::{Fate, Link, Packet, QueueLimit, Verdict};
use tcplab_units::{Instant, Rate, Span};

/// Two packets every millisecond into a bottleneck that sends one, with room for four; after 2 ms
/// of work comes an interruption of 3 ms. The queue fills, is full before, during and after the
/// interruption, and only what the bottleneck sends during it is hit.
#[test]
fn a_bottleneck_with_an_interruption_behind_it() {
    let mut link = forward(
        r#"{
            "rate": "12 Mbit/s", "delay": "10 ms", "queue": "4 packets",
            "interruption": { "every": "1 s", "lasting": "3 ms", "offset": "2.5 ms" }
        }"#,
    );
    let packets = (0..16).map(|i| (millis(i / 2), 1500)).collect();
    let mut verdicts = run(&mut link, &packets);
    verdicts.sort_by_key(|verdict| verdict.id);
    insta::assert_snapshot!(table(&verdicts));
}

/// 1,500 B take 1/3 ms at 36 Mbit/s: reported times are rounded, the third packet's is exact.
#[test]
fn thirds_of_a_millisecond_add_up() {
    let mut link = forward(r#"{ "rate": "36 Mbit/s" }"#);
    let verdicts = run(&mut link, &vec![(Instant::ZERO, 1500); 6]);
    let left: Vec<_> = verdicts.iter().map(|verdict| verdict.left.as_nanos()).collect();
    assert_eq!(left, [333_334, 666_667, 1_000_000, 1_333_334, 1_666_667, 2_000_000]);
}

#[test]
fn due_events_precede_arrivals() {
    let rate = Rate::from_bits_per_second(12_000_000);
    let room_for_one = bottleneck(rate, QueueLimit::Packets(1));
    // The third arrives as the first is sent and the second leaves the queue: there is room;
    // so there is when it arrives from another element.
    let packets = vec![(millis(0), 1500), (millis(0), 1500), (millis(1), 1500)];
    for (elements, left) in [
        (vec![room_for_one.clone()], millis(3)),
        (vec![delay(Span::from_millis(4)), room_for_one], millis(7)),
    ] {
        let verdicts = run(&mut link(&elements), &packets);
        assert!(verdicts.iter().all(|verdict| verdict.fate == Fate::Delivered));
        assert_eq!(verdicts[2].left, left);
    }
}

#[test]
fn past_instant_counts_as_last_event() {
    let mut link = forward(r#"{ "delay": "10 ms" }"#);
    link.handle_packet(millis(5), Packet::new(0, vec![0; 40]));
    assert_eq!(link.poll(millis(9)), None);
    link.handle_packet(millis(7), Packet::new(1, vec![0; 40]));
    link.handle_packet(millis(6), Packet::new(2, vec![0; 40]));
    let left = |link: &mut Link, now| {
        let departure = link.poll(now)?;
        Some((departure.packet.id, departure.verdict.entered, departure.verdict.left))
    };
    assert_eq!(left(&mut link, millis(14)), None);
    assert_eq!(link.poll_at(), Some(millis(15)));
    assert_eq!(left(&mut link, millis(30)), Some((0, millis(5), millis(15))));
    assert_eq!(left(&mut link, millis(30)), Some((1, millis(7), millis(17))), "a poll is no event");
    assert_eq!(left(&mut link, millis(30)), Some((2, millis(7), millis(17))), "an arrival is");
    assert_eq!(left(&mut link, millis(30)), None);
}

#[test]
fn empty_plan_passes_packets_at_once() {
    let mut link = forward("{}");
    let packet = Packet::new(9, vec![1, 2, 3]);
    link.handle_packet(millis(4), packet.clone());
    assert_eq!(link.poll_at(), Some(millis(4)));
    let departure = link.poll(millis(4)).unwrap();
    assert_eq!(departure.packet, packet);
    assert_eq!(departure.verdict.time_on_link(), Span::ZERO);
}

fn millis(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

fn table(verdicts: &[Verdict]) -> String {
    let mut table = String::from("id  entered  waited    sent           left  fate\n");
    let ms = |nanos: u64| nanos as f64 / 1e6;
    for verdict in verdicts {
        let sent = verdict.transmission.map_or_else(
            || format!("{:>6}  {:>10}", "-", "-"),
            |sent| {
                let (began, ended) = (ms(sent.began.as_nanos()), ms(sent.ended.as_nanos()));
                format!("{:>6.1}  {began:>4.1}-{ended:<5.1}", ms(sent.waited().as_nanos()))
            },
        );
        let (entered, left) = (ms(verdict.entered.as_nanos()), ms(verdict.left.as_nanos()));
        let (id, fate) = (verdict.id, verdict.fate);
        writeln!(table, "{id:>2}  {entered:>7.1}  {sent}  {left:>6.1}  {fate}").unwrap();
    }
    table
}
