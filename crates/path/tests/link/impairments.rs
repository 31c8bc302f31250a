//! What reordering, duplication and corruption do: exactly where it is exact, and as often as asked
//! over a million packets.

use crate::support::{link, step_until};
use tcplab_path::{
    CorruptionPlan, Departure, DuplicationPlan, ElementPlan, HeldBack, Packet, PacketPart,
    ReorderingPlan, Verdict,
};
use tcplab_units::{Bytes, Instant, Probability, Span};

const PACKETS: u64 = 1_000_000;

fn one_percent() -> Probability {
    Probability::per_million(10_000)
}

/// Within five σ of a binomial law.
fn is_as_often(found: usize, of: u64, probability: Probability) -> bool {
    let (n, p) = (of as f64, probability.as_f64());
    (found as f64 - n * p).abs() <= 5.0 * (n * p * (1.0 - p)).sqrt()
}

/// Packets of which nothing but their size is known, a microsecond apart.
fn dense(element: ElementPlan) -> Vec<Verdict> {
    let mut link = link(&[element]);
    let mut verdicts = Vec::new();
    for id in 0..PACKETS {
        let now = Instant::from_nanos(id * 1_000);
        step_until(&mut link, now, &mut verdicts);
        link.handle_packet(now, Packet::of_size(id, Bytes::new(1500)));
    }
    step_until(&mut link, Instant::MAX, &mut verdicts);
    assert!(verdicts.len() as u64 >= PACKETS);
    verdicts
}

/// How many packets that came later left before it, of each packet that any overtook.
fn reordered(verdicts: &[Verdict]) -> Vec<(u64, usize)> {
    let mut late = Vec::new();
    let mut greatest = 0;
    for (place, verdict) in verdicts.iter().enumerate() {
        if verdict.id < greatest {
            let before = verdicts[..place].iter().rev().take_while(|other| {
                // Nothing is ever held back for so many packets in these tests.
                other.id + 10_000 > verdict.id
            });
            late.push((verdict.id, before.filter(|other| other.id > verdict.id).count()));
        }
        greatest = greatest.max(verdict.id);
    }
    late
}

#[test]
fn every_hundredth_packet_is_passed_by_exactly_three() {
    let plan = ReorderingPlan {
        held_back: HeldBack::Every(100),
        gap: Some(3),
        at_most: Span::from_secs(1),
    };
    let verdicts = dense(ElementPlan::Reordering(plan));
    let expected: Vec<(u64, usize)> = (1..PACKETS / 100).map(|n| (100 * n - 1, 3)).collect();
    // No packet passes the very last one, which waits its full second.
    assert_eq!(reordered(&verdicts), expected);
    let last = verdicts.last().map(|verdict| (verdict.id, verdict.time_on_link()));
    assert_eq!(last, Some((PACKETS - 1, Span::from_secs(1))));
    // It goes at the instant of the third packet behind it.
    let held = verdicts.iter().find(|verdict| verdict.id == 99).unwrap();
    assert_eq!(held.time_on_link(), Span::from_micros(3));
}

#[test]
fn randomly_held_packets_are_passed_by_the_gap() {
    let plan = ReorderingPlan {
        held_back: HeldBack::Random(one_percent()),
        gap: Some(3),
        at_most: Span::from_secs(1),
    };
    let late = reordered(&dense(ElementPlan::Reordering(plan)));
    assert!(is_as_often(late.len(), PACKETS, one_percent()), "{}", late.len());
    assert!(late[..late.len() - 3].iter().all(|(_, passed)| *passed == 3));
}

#[test]
fn packets_held_back_for_a_time_leave_after_it() {
    let extra = Span::from_nanos(5_500);
    let held_back = HeldBack::Random(one_percent());
    let plan = ReorderingPlan { held_back, gap: None, at_most: extra };
    let verdicts = dense(ElementPlan::Reordering(plan));
    let held = verdicts.iter().filter(|verdict| !verdict.time_on_link().is_zero());
    assert!(held.clone().all(|verdict| verdict.time_on_link() == extra));
    assert!(is_as_often(held.count(), PACKETS, one_percent()));
}

#[test]
fn copies_follow_their_packet_at_once_and_as_often_as_asked() {
    let plan = DuplicationPlan { probability: one_percent(), copies: 2 };
    let verdicts = dense(ElementPlan::Duplication(plan));
    let mut copied = 0;
    let mut rest = verdicts.as_slice();
    while let [original, others @ ..] = rest {
        let copies = others.iter().take_while(|verdict| verdict.is_made()).count();
        assert!(!original.is_made() && matches!(copies, 0 | 2));
        for copy in &others[..copies] {
            let expected = Verdict { id: copy.id, origin: Some(original.id), ..*original };
            assert_eq!(*copy, expected);
        }
        copied += copies / 2;
        rest = &others[copies..];
    }
    assert!(is_as_often(copied, PACKETS, one_percent()), "{copied}");
}

/// Each packet through `plan`, with what came of it; all bytes zero before, so that those set
/// after are what changed.
fn corrupted(plan: CorruptionPlan, size: usize) -> impl Iterator<Item = Departure> {
    let mut link = link(&[ElementPlan::Corruption(plan)]);
    (0..PACKETS).map(move |id| {
        link.handle_packet(Instant::ZERO, Packet::new(id, vec![0; size]));
        link.poll(Instant::ZERO).expect("it passes at once")
    })
}

#[test]
fn bits_are_flipped_as_often_as_asked() {
    let plan = CorruptionPlan { probability: one_percent(), part: PacketPart::Anywhere, bits: 1 };
    let hit = corrupted(plan, 20).filter(|departure| departure.verdict.corrupted.is_some());
    let hit = hit.count();
    assert!(is_as_often(hit, PACKETS, one_percent()), "{hit}");
}

/// χ² of how often each possibility occurred.
fn chi_square(seen: &[u32]) -> f64 {
    let mean = PACKETS as f64 / seen.len() as f64;
    seen.iter().map(|n| (f64::from(*n) - mean).powi(2) / mean).sum()
}

/// The values that χ² exceeds once in a thousand times are those of its tables: 103.4 for 63
/// degrees of freedom, 93.2 for 55.
#[test]
fn every_bit_and_every_set_of_bits_is_as_likely() {
    let always = Probability::ALWAYS;
    let one = CorruptionPlan { probability: always, part: PacketPart::Anywhere, bits: 1 };
    let mut seen = [0; 64];
    for Departure { packet, verdict } in corrupted(one, 8) {
        let bits = u64::from_be_bytes(packet.bytes.try_into().unwrap());
        assert_eq!(bits.count_ones(), 1);
        assert_eq!(verdict.corrupted, Some(bits.leading_zeros()));
        seen[bits.leading_zeros() as usize] += 1;
    }
    assert!(chi_square(&seen) < 103.4, "{}", chi_square(&seen));

    let three = CorruptionPlan { probability: always, part: PacketPart::Anywhere, bits: 3 };
    let mut seen = [0; 256];
    for Departure { packet, verdict } in corrupted(three, 1) {
        let bits = packet.bytes[0];
        assert_eq!((bits.count_ones(), verdict.corrupted), (3, Some(bits.leading_zeros())));
        seen[usize::from(bits)] += 1;
    }
    let sets: Vec<u32> = seen.into_iter().filter(|n| *n > 0).collect();
    assert_eq!(sets.len(), 56);
    assert!(chi_square(&sets) < 93.2, "{}", chi_square(&sets));
}

/// The number of bits and their part do not change which packets are corrupted.
#[test]
fn corrupted_packets_depend_on_probability_alone() {
    let hit = |part, bits, size| {
        let plan = CorruptionPlan { probability: one_percent(), part, bits };
        let hit = corrupted(plan, size).take(10_000);
        let hit = hit.filter(|departure| departure.verdict.corrupted.is_some());
        hit.map(|departure| departure.verdict.id).collect::<Vec<u64>>()
    };
    let once = hit(PacketPart::Anywhere, 1, 20);
    assert!(!once.is_empty());
    assert_eq!(once, hit(PacketPart::Payload, 64, 100));
}
