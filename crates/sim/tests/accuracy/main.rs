//! The analyser against simulated senders: the model knows why it sent each segment, the path which
//! packets it dropped. `make accuracy` runs them with more seeds and prints a table.

mod cases;
mod score;
mod truth;

use cases::{PATHS, SENDERS, Sender, scenario};
use score::Score;
use truth::Truth;

/// All transfers of one sender, at all capture points.
fn of(sender: &Sender) -> Score {
    let mut sum = Score::default();
    for path in PATHS {
        let truth = Truth::of(&scenario(sender, path), 1);
        for tap in &truth.taps {
            let score = Score::of(&truth, tap);
            let place = format!("{}, {}, {}", sender.name, path.name, tap.name);
            assert_eq!(score.faults(sender), 0, "{place}: {:#?}", score.wrong);
            sum.add(&score);
        }
    }
    sum
}

#[test]
fn causes_of_simulated_senders_follow_from_what_came_back() {
    let mut all = Score::default();
    for sender in SENDERS {
        let score = of(sender);
        let (causes, right) = score.causes();
        assert!(right * 100 >= causes * 95, "{}: {right} of {causes}", sender.name);
        all.add(&score);
    }
    let (causes, right) = all.causes();
    assert!(causes > 5_000 && right * 100 >= causes * 99, "{right} of {causes}");
}

/// Haiku before its patches counts no duplicate ACKs: all its recoveries are timeouts.
#[test]
fn sender_without_fast_retransmit_is_found() {
    let sender = SENDERS.iter().find(|sender| sender.name == "haiku-2017-before").unwrap();
    assert!(of(sender).ignored > 30);
}
