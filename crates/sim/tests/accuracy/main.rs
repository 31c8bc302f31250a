//! The analyser against simulated senders: the model knows why it sent each segment, the path which
//! packets it dropped. `make accuracy` runs all cases and prints a table.

mod cases;
mod score;
mod truth;

use cases::{PATHS, SENDERS, scenario};
use score::Score;
use truth::Truth;

#[test]
fn causes_of_simulated_senders_follow_from_what_came_back() {
    for sender in SENDERS {
        let mut sum = Score::default();
        for path in PATHS {
            let truth = Truth::of(&scenario(sender, path), 1);
            for tap in &truth.taps {
                sum.add(&Score::of(&truth, tap));
            }
        }
        let (causes, right) = sum.causes();
        assert_eq!(sum.invented, 0, "{}: {sum:?}", sender.name);
        assert!(right * 100 >= causes * 99, "{}: {right} of {causes}", sender.name);
    }
}
