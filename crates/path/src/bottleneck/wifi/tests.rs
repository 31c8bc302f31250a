use std::collections::BTreeMap;

use super::air::{Air, no_such_rate};
use super::*;
use crate::testing::link;
use crate::{Cause, Fate, Packet, Verdict};
use tcplab_units::Instant;

fn plan(json: &str) -> WifiPlan {
    let spec: WifiSpec = serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"));
    spec.plan().unwrap_or_else(|fault| panic!("{json}: {fault:?}"))
}

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}

/// The verdicts on `packets` full packets sent at once.
fn saturated(wifi: &str, packets: u64) -> Vec<Verdict> {
    let json = format!(r#"{{ "wifi": {wifi}, "queue": "10000000 packets" }}"#);
    let mut link = link(&json, 7);
    for id in 0..packets {
        link.handle_packet(Instant::ZERO, Packet::of_size(id, FULL_PACKET));
    }
    let verdicts: Vec<_> =
        std::iter::from_fn(|| link.poll(Instant::MAX)).map(|departure| departure.verdict).collect();
    assert_eq!(verdicts.len() as u64, packets);
    verdicts
}

/// In Mbit/s, from the first packet's end to the last's.
fn throughput(verdicts: &[Verdict]) -> f64 {
    let delivered: Vec<_> = verdicts.iter().filter(|it| it.fate == Fate::Delivered).collect();
    let (first, last) = (delivered[0].left, delivered[delivered.len() - 1].left);
    let bits: u128 = delivered.iter().filter(|it| it.left > first).map(|it| it.size.bits()).sum();
    bits as f64 / last.since(first).as_nanos() as f64 * 1e3
}

/// Rates and data bits per symbol as the standard prints them: tables 17-4, 19-27 and following,
/// 21-30 and following.
#[test]
fn rates_are_those_of_the_tables() {
    use WifiStandard::{Ac, B, G, N};
    for (standard, rate, full_packet) in [
        // 1,536 B of frame: 192 µs and 12,288 bits.
        (B, "1 Mbit/s", 192.0 + 12_288.0),
        (B, "5.5 Mbit/s", 192.0 + 2_235.0),
        (B, "11 Mbit/s", 192.0 + 1_118.0),
        // 12,310 bits with service and tail, in symbols of 24, 144 and 216.
        (G, "6 Mbit/s", 20.0 + 4.0 * 513.0 + 6.0),
        (G, "36 Mbit/s", 20.0 + 4.0 * 86.0 + 6.0),
        (G, "54 Mbit/s", 20.0 + 4.0 * 57.0 + 6.0),
        // 1,538 B with the QoS field: 12,326 bits, in symbols of 26, 260 (long and short guard),
        // 1,080 (two streams of 40 MHz).
        (N, "6.5 Mbit/s", 36.0 + 4.0 * 475.0 + 6.0),
        (N, "65 Mbit/s", 36.0 + 4.0 * 48.0 + 6.0),
        (N, "72.2 Mbit/s", 36.0 + 3.6 * 48.0 + 6.0),
        (N, "300 Mbit/s", 40.0 + 3.6 * 12.0 + 6.0),
        // Delimiter and padding make 1,544 B: 12,374 bits in symbols of 1,560; with two encoders
        // 12,380 in symbols of 3,120.
        (Ac, "433.3 Mbit/s", 40.0 + 3.6 * 8.0),
        (Ac, "866.7 Mbit/s", 44.0 + 3.6 * 4.0),
    ] {
        let wifi = plan(&format!(r#"{{ "standard": "{standard}", "rate": "{rate}" }}"#));
        let frame = Exchange::new(&wifi).frame_of(1);
        assert!((micros(frame) - full_packet).abs() < 1e-6, "802.11{standard} at {rate}: {frame}");
    }
    for (standard, missing) in [(B, "6"), (G, "11"), (N, "78.1"), (Ac, "86.6"), (Ac, "433")] {
        let rate = format!("{missing} Mbit/s").parse().unwrap();
        assert_eq!(Air::new(standard, rate), None, "802.11{standard} at {rate}");
    }
    // 86.7 Mbit/s is two streams of MCS 4 with the short guard.
    assert!(Air::new(Ac, "86.7 Mbit/s".parse().unwrap()).is_some());
    assert_eq!(
        no_such_rate(N, "66 Mbit/s".parse().unwrap()),
        "66 Mbit/s is no rate of 802.11n; near it are 58.5 Mbit/s, 60 Mbit/s, 65 Mbit/s, 72.2 Mbit/s"
    );
}

/// Acknowledgements of 14 B: 134 bits, in symbols of 96 at 24 Mbit/s; Block Acks of 32 B: 278 bits.
#[test]
fn acknowledgements_take_their_time_at_the_basic_rate() {
    for (wifi, single, several) in [
        (r#"{ "standard": "b", "rate": "11 Mbit/s" }"#, 10.0 + 192.0 + 56.0, 0.0),
        (r#"{ "standard": "b", "rate": "1 Mbit/s" }"#, 10.0 + 192.0 + 112.0, 0.0),
        (r#"{ "standard": "g", "rate": "54 Mbit/s" }"#, 10.0 + 20.0 + 8.0 + 6.0, 0.0),
        (r#"{ "standard": "g", "rate": "9 Mbit/s" }"#, 10.0 + 20.0 + 24.0 + 6.0, 0.0),
        (r#"{ "standard": "n", "rate": "65 Mbit/s" }"#, 10.0 + 20.0 + 8.0 + 6.0, 10.0 + 38.0),
        (r#"{ "standard": "ac", "rate": "433.3 Mbit/s" }"#, 16.0 + 20.0 + 8.0, 16.0 + 32.0),
    ] {
        let exchange = Exchange::new(&plan(wifi));
        assert!((micros(exchange.after(1)) - single).abs() < 1e-6, "{wifi}");
        assert!(several == 0.0 || (micros(exchange.after(2)) - several).abs() < 1e-6, "{wifi}");
    }
}

/// The mean time of a frame with everything around it, by hand: waiting, half a window of slots,
/// the frame, SIFS and the acknowledgement.
#[test]
fn saturation_is_that_of_the_closed_formula() {
    for (wifi, packets, cycle) in [
        (
            r#"{ "standard": "b", "rate": "11 Mbit/s" }"#,
            1.0,
            50.0 + 15.5 * 20.0 + (192.0 + 1_118.0) + 10.0 + (192.0 + 56.0),
        ),
        // 30.5 Mbit/s.
        (
            r#"{ "standard": "g", "rate": "54 Mbit/s" }"#,
            1.0,
            28.0 + 7.5 * 9.0 + (20.0 + 228.0 + 6.0) + 10.0 + (20.0 + 8.0 + 6.0),
        ),
        // 42 of 1,544 B are 64,848 B, and another is too much for 65,535 B; 518,806 bits are 1,996
        // symbols of 260 bits, which are longer than 5.484 ms; so 28 of them: 345,878 bits, 1,331.
        (
            r#"{ "standard": "n", "rate": "65 Mbit/s" }"#,
            28.0,
            37.0 + 7.5 * 9.0 + (36.0 + 1_331.0 * 4.0 + 6.0) + 10.0 + 38.0,
        ),
        // 42: 518,812 bits in symbols of 1,080.
        (
            r#"{ "standard": "n", "rate": "300 Mbit/s" }"#,
            42.0,
            37.0 + 7.5 * 9.0 + (40.0 + 481.0 * 3.6 + 6.0) + 10.0 + 38.0,
        ),
        // 64: 790,550 bits in symbols of 1,560.
        (
            r#"{ "standard": "ac", "rate": "433.3 Mbit/s" }"#,
            64.0,
            43.0 + 7.5 * 9.0 + (40.0 + 507.0 * 3.6) + 16.0 + 32.0,
        ),
    ] {
        let by_hand = packets * 12_000.0 / cycle;
        let planned = plan(wifi).saturation().as_mbit_f64();
        assert!((planned / by_hand - 1.0).abs() < 1e-6, "{wifi}: {planned}, by hand {by_hand}");
        let measured = throughput(&saturated(wifi, 64 * 1000));
        assert!((measured / by_hand - 1.0).abs() < 0.005, "{wifi}: {measured}, not {by_hand}");
    }
}

/// The mean of the closed formula, or of counted frames, is that of what a station delivers.
#[test]
fn mean_rate_is_that_of_a_long_saturation() {
    for wifi in [
        r#""standard": "g", "rate": "54 Mbit/s""#,
        r#""standard": "g", "rate": "54 Mbit/s", "stations": 3, "error": "10 %""#,
        r#""standard": "b", "rate": "11 Mbit/s", "stations": 10"#,
        r#""standard": "g", "rate": "54 Mbit/s", "error": "50 %", "retries": 2, "cw_max": 63"#,
        r#""standard": "n", "rate": "65 Mbit/s", "aggregate": 2, "stations": 5"#,
        r#""standard": "n", "rate": "65 Mbit/s", "error": "10 %""#,
        r#""standard": "n", "rate": "300 Mbit/s", "error": "30 %", "stations": 1, "cw_max": 31"#,
        r#""standard": "ac", "rate": "433.3 Mbit/s", "error": "5 %""#,
        r#""standard": "n", "rate": "65 Mbit/s", "aggregate": 2, "error": "60 %", "retries": 3"#,
    ] {
        let wifi = format!("{{ {wifi} }}");
        let mean = plan(&wifi).mean_rate().as_mbit_f64();
        let measured = throughput(&saturated(&wifi, 200_000));
        assert!((mean / measured - 1.0).abs() < 0.02, "{wifi}: {mean}, measured {measured}");
    }
    let alone = plan(r#"{ "standard": "g", "rate": "54 Mbit/s" }"#);
    let of = [alone.mean_rate(), alone.saturation()].map(Rate::bits_per_second);
    assert!(of[0].abs_diff(of[1]) <= 1, "{of:?}");
    let never = plan(r#"{ "standard": "n", "rate": "65 Mbit/s", "error": "100 %" }"#);
    assert_eq!(never.mean_rate().bits_per_second(), 0);
}

/// Without errors a packet alone needs no backoff; the next waits for that drawn after the first.
#[test]
fn first_packet_is_sent_at_once() {
    let verdicts = saturated(r#"{ "standard": "g", "rate": "54 Mbit/s" }"#, 2);
    let sent = verdicts.iter().map(|it| it.transmission.unwrap()).collect::<Vec<_>>();
    assert_eq!((sent[0].began, sent[0].ended.as_nanos()), (Instant::ZERO, 254_000));
    let slots = (sent[1].began.since(sent[0].ended).as_nanos() - 72_000) as f64 / 9_000.0;
    assert!(slots.fract() == 0.0 && (0.0..=15.0).contains(&slots), "{slots}");
}

/// With probability e for each attempt and n attempts, eⁿ is lost, and the attempts of the others
/// are geometrically distributed.
#[test]
fn failed_frame_is_retried_then_lost() {
    const PACKETS: u64 = 200_000;
    let wifi = r#"{ "standard": "g", "rate": "54 Mbit/s", "error": "30 %", "retries": 2 }"#;
    let verdicts = saturated(wifi, PACKETS);
    let lost: Vec<_> = verdicts.iter().filter_map(|it| it.fate.cause()).collect();
    assert!(lost.iter().all(|cause| *cause == Cause::RetriesExhausted { attempts: 3 }));
    let (mean, sigma) = (PACKETS as f64 * 0.027, (PACKETS as f64 * 0.027 * 0.973).sqrt());
    assert!((lost.len() as f64 - mean).abs() < 5.0 * sigma, "{} lost, not {mean}", lost.len());
    // A packet sent once takes 254 µs; a retransmitted one takes as long as its attempts.
    let once = verdicts.iter().filter(|it| {
        it.transmission.unwrap().ended.since(it.transmission.unwrap().began)
            == Span::from_micros(254)
    });
    let (mean, sigma) = (PACKETS as f64 * 0.7, (PACKETS as f64 * 0.7 * 0.3).sqrt());
    assert!((once.count() as f64 - mean).abs() < 5.0 * sigma);
}

/// The window doubles with each failure: mean backoff of the retries 15.5, 31.5, 63.5 slots.
#[test]
fn contention_window_doubles_with_each_failure() {
    let wifi =
        r#"{ "standard": "g", "rate": "54 Mbit/s", "error": "100 %", "retries": 4, "cw_max": 63 }"#;
    let verdicts = saturated(wifi, 20_000);
    let frames = 5.0 * 254.0 + 4.0 * 72.0;
    let spans: Vec<_> = verdicts
        .iter()
        .map(|it| it.transmission.unwrap())
        .map(|sent| (micros(sent.ended.since(sent.began)) - frames) / 9.0)
        .collect();
    // Four backoffs: 0 to 31, 63, 63 and 63 slots, the sum of which has this mean and deviation.
    let mean = spans.iter().sum::<f64>() / spans.len() as f64;
    let variance = (32.0_f64.powi(2) - 1.0 + 3.0 * (64.0_f64.powi(2) - 1.0)) / 12.0;
    let sigma = (variance / spans.len() as f64).sqrt();
    assert!((mean - (15.5 + 3.0 * 31.5)).abs() < 5.0 * sigma, "{mean}");
}

/// Packets of a frame come together; damaged ones are retransmitted before later ones, which
/// wait for it, and nothing overtakes.
#[test]
fn aggregated_packets_leave_together_in_order() {
    let wifi = r#"{ "standard": "n", "rate": "65 Mbit/s", "aggregate": 8, "error": "20 %" }"#;
    let verdicts = saturated(wifi, 40_000);
    assert!(verdicts.is_sorted_by_key(|it| it.id), "also those given up keep their place");
    let mut ends: BTreeMap<Instant, usize> = BTreeMap::new();
    for verdict in &verdicts {
        let sent = verdict.transmission.unwrap();
        assert!(sent.ended <= verdict.left, "received before it is let go");
        *ends.entry(sent.ended).or_default() += 1;
    }
    assert!(ends.values().all(|packets| *packets <= 8));
    let held_back = verdicts.iter().filter(|it| it.transmission.unwrap().ended < it.left).count();
    assert!(held_back > 0, "some wait for one before them");
    // Each attempt succeeds with 80 %, so frames of 8 give 6.4 packets for good.
    let goodput = throughput(&verdicts);
    let cycle = 37.0 + 67.5 + (36.0 + 4.0 * 381.0 + 6.0) + 48.0;
    let by_hand = 0.8 * 8.0 * 12_000.0 / cycle;
    assert!((goodput / by_hand - 1.0).abs() < 0.01, "{goodput}, not {by_hand}");
}

/// Bianchi's saturation throughput of n stations, of which ours has its share: from his equations
/// (7), (9) and (13), solved here by iteration.
#[test]
fn others_take_their_turns_as_bianchi_reckons() {
    let (slot, frame) = (9.0, 28.0 + 254.0 + 10.0 + 34.0);
    for others in [1_i32, 4, 9] {
        let (w, m) = (16.0, 6);
        let mut tau = 0.05_f64;
        for _ in 0..10_000 {
            let p = 1.0 - (1.0 - tau).powi(others);
            let next = 2.0 * (1.0 - 2.0 * p)
                / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - (2.0 * p).powi(m)));
            tau = 0.99 * tau + 0.01 * next;
        }
        let n = others + 1;
        let any = 1.0 - (1.0 - tau).powi(n);
        let success = f64::from(n) * tau * (1.0 - tau).powi(others) / any;
        let all = success * any * 12_000.0 / ((1.0 - any) * slot + any * frame);
        let share = all / f64::from(n);

        let wifi = format!(
            r#"{{ "standard": "g", "rate": "54 Mbit/s", "retries": 255, "stations": {others} }}"#
        );
        let measured = throughput(&saturated(&wifi, 40_000));
        assert!((measured / share - 1.0).abs() < 0.02, "{others}: {measured}, not {share}");
    }
}

/// A packet at an idle station waits while another station sends.
#[test]
fn packet_waits_while_other_stations_send() {
    let delays = |stations: u32| {
        let json = format!(
            r#"{{ "wifi": {{ "standard": "g", "rate": "54 Mbit/s", "stations": {stations} }} }}"#
        );
        let mut link = link(&json, 7);
        let mut delays = vec![];
        for id in 0..2_000 {
            let now = Instant::ZERO + Span::from_millis(100) * (id + 1);
            link.handle_packet(now, Packet::of_size(id, FULL_PACKET));
            let end = now + Span::from_millis(99);
            delays
                .extend(std::iter::from_fn(|| link.poll(end)).map(|it| it.verdict.time_on_link()));
        }
        delays
    };
    assert!(delays(0).iter().all(|delay| *delay == Span::from_micros(254)));
    let shared = delays(5);
    assert_eq!(shared.len(), 2_000);
    let mean = shared.iter().map(|it| micros(*it)).sum::<f64>() / 2e3;
    assert!(mean > 1_000.0, "{mean} µs: several frames of others");
    assert!(shared.iter().any(|delay| *delay > Span::from_millis(10)), "and sometimes many");
}

#[test]
fn defaults_are_the_standards_and_a_plan_is_written_short() {
    let json = r#"{"standard":"n","rate":"65 Mbit/s"}"#;
    let spec: WifiSpec = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&spec).unwrap(), json);
    let WifiPlan { basic_rate, error, retries, aggregate, stations, cw_min, cw_max, .. } =
        spec.plan().unwrap();
    assert_eq!(basic_rate.to_string(), "24 Mbit/s");
    assert_eq!((error, retries, aggregate, stations), (Probability::NEVER, 6, 64, 0));
    assert_eq!((cw_min, cw_max), (15, 1023));
}
