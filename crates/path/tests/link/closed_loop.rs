//! Queues with a source that listens: a window that grows by a packet per round trip and halves
//! when it learns of a drop or a mark (additive increase, multiplicative decrease).

use std::collections::BTreeMap;

use crate::support::{forward, tcp};
use tcplab_path::{Departure, Fate};
use tcplab_units::{Instant, Span};
use tcplab_wire::Ecn;

/// What such a source made of a queue in its second half minute, at 12 Mbit/s (a full packet in a
/// millisecond) and 100 ms.
struct Outcome {
    /// How long packets waited, in order; milliseconds.
    waits: Vec<f64>,
    /// What share of the rate was used.
    utilisation: f64,
    dropped: usize,
    marked: usize,
}

impl Outcome {
    fn mean_wait(&self) -> f64 {
        self.waits.iter().sum::<f64>() / self.waits.len() as f64
    }
    fn quantile(&self, q: f64) -> f64 {
        self.waits[((self.waits.len() - 1) as f64 * q) as usize]
    }
}

fn run(queue: &str, ecn: Ecn) -> Outcome {
    let json = format!(
        r#"{{ "rate": "12 Mbit/s", "queue": {queue},
             "forward": {{ "delay": "50 ms" }}, "reverse": {{ "delay": "50 ms" }} }}"#
    );
    let mut link = forward(&json);
    let from = Instant::ZERO + Span::from_secs(30);
    let end = Instant::ZERO + Span::from_secs(60);

    let mut source = Source { window: 10.0, flying: 0, sent: 0, halved_at: 0 };
    let mut outcome = Outcome { waits: vec![], utilisation: 0.0, dropped: 0, marked: 0 };
    // The feedback to the source: when, which packet, and whether it arrived unmarked.
    let mut news = BTreeMap::<Instant, Vec<(u64, bool)>>::new();
    let mut now = Instant::ZERO;
    while now < end {
        for (id, went_well) in news.remove(&now).unwrap_or_default() {
            source.hear(id, went_well);
        }
        while source.flying < source.window as u64 {
            link.handle_packet(now, tcp(source.sent, 0, 1500, ecn));
            source.flying += 1;
            source.sent += 1;
        }
        while let Some(Departure { verdict, .. }) = link.poll(now) {
            let is_delivered = verdict.fate == Fate::Delivered;
            let back = Span::from_millis(if is_delivered { 50 } else { 100 });
            let went_well = is_delivered && !verdict.marked;
            news.entry(verdict.left + back).or_default().push((verdict.id, went_well));
            if verdict.entered < from {
                continue;
            }
            outcome.dropped += usize::from(!is_delivered);
            outcome.marked += usize::from(verdict.marked);
            outcome.waits.extend(verdict.transmission.map(|it| it.waited().as_millis_f64()));
        }
        let next = [news.keys().next().copied(), link.poll_at()];
        now = next.into_iter().flatten().min().expect("something flies");
    }
    let sending = outcome.waits.len() as f64;
    outcome.utilisation = sending / end.since(from).as_millis_f64();
    outcome.waits.sort_by(f64::total_cmp);
    outcome
}

struct Source {
    window: f64,
    flying: u64,
    sent: u64,
    /// It halves at most once per window: not for packets sent before it last did.
    halved_at: u64,
}

impl Source {
    fn hear(&mut self, id: u64, went_well: bool) {
        self.flying -= 1;
        if went_well {
            self.window += 1.0 / self.window;
        } else if id >= self.halved_at {
            self.window = (self.window / 2.0).max(2.0);
            self.halved_at = self.sent;
        }
    }
}

/// A deep queue without management fills: one round trip of it in this path.
#[test]
fn drop_tail_keeps_a_standing_queue() {
    let outcome = run(r#""200 packets""#, Ecn::NotEct);
    assert!(outcome.utilisation > 0.99, "{}", outcome.utilisation);
    assert!(outcome.mean_wait() > 80.0, "{}", outcome.mean_wait());
    assert!(outcome.dropped > 0);
}

#[test]
fn codel_brings_the_wait_to_its_target() {
    for (queue, ecn) in [
        (r#"{ "codel": {} }"#, Ecn::NotEct),
        (r#"{ "codel": { "ecn": true } }"#, Ecn::Ect0),
        (r#"{ "fq_codel": {} }"#, Ecn::Ect0),
    ] {
        let outcome = run(queue, ecn);
        // A flow that halves a window of no more than a round trip uses three quarters to all of
        // the rate. The wait reaches the target, else nothing would happen, but not for long.
        assert!(outcome.utilisation > 0.75, "{queue}: {}", outcome.utilisation);
        assert!(outcome.mean_wait() < 5.0, "{queue}: {}", outcome.mean_wait());
        assert!(outcome.quantile(0.99) < 20.0, "{queue}: {}", outcome.quantile(0.99));
        assert!(outcome.quantile(1.0) >= 5.0, "{queue}: {}", outcome.quantile(1.0));
        let marks_only = ecn == Ecn::Ect0;
        assert_eq!((outcome.dropped == 0, outcome.marked > 0), (marks_only, marks_only), "{queue}");
    }
}

#[test]
fn pie_and_red_keep_the_wait_near_what_they_aim_at() {
    let pie = run(r#"{ "pie": {} }"#, Ecn::NotEct);
    assert!(pie.utilisation > 0.85, "{}", pie.utilisation);
    assert!((1.0..25.0).contains(&pie.mean_wait()), "{}", pie.mean_wait());

    let red = r#"{ "red": { "min": "20 packets", "max": "60 packets", "probability": "10 %" } }"#;
    let red = run(red, Ecn::NotEct);
    assert!(red.utilisation > 0.85, "{}", red.utilisation);
    assert!((5.0..60.0).contains(&red.mean_wait()), "{}", red.mean_wait());
}

/// A step at 30 packets: the wait saws up to there, as nothing is ever lost.
#[test]
fn step_marking_keeps_queue_below_threshold() {
    let outcome = run(r#"{ "drop_tail": "512 packets", "mark": "30 packets" }"#, Ecn::Ect0);
    assert_eq!(outcome.dropped, 0);
    assert!(outcome.marked > 0);
    // It learns of the mark a round trip later, in which the window grows by a packet more.
    assert!((30.0..34.0).contains(&outcome.quantile(1.0)), "{}", outcome.quantile(1.0));
}
