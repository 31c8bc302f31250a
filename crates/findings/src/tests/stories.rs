//! Episodes in sentences.

use super::{after_handshake, fires};
use crate::story;

#[test]
fn story_each_episode_kind_matches_snapshot() {
    for (name, text) in [
        (
            "without_time_lag",
            "0.100 > 1:43441 every 0.001
             0.110 < acks 1449 7241 every 0.001
             0.120 < ack 7241 sack 14481-... 43441 every 0.001
             0.1201 > 7241:14481 every 0.001
             0.1401 < ack 43441",
        ),
        (
            "one_segment_by_duplicate_acks",
            "0.100 > 1:8689 every 0.001
             0.110 < ack 1449
             0.112 < ack 1449
             0.113 < ack 1449
             0.114 < ack 1449
             0.1141 > 1449:2897
             0.1241 < ack 8689",
        ),
        (
            "with_time_lag_by_timeout",
            "0.100 > 1:14481 every 0.001
             0.110 < acks 1449 5793 every 0.001
             0.350 > 5793:7241
             0.360 < ack 7241 dsack 5793-7241
             0.3601 > 14481:17377
             0.3701 < ack 7241 sack 14481-17377
             0.3703 > 7241:14481
             0.3803 < ack 17377",
        ),
        (
            "with_time_lag_by_probe",
            "0.100 > 1:14481 every 0.001
             0.110 < acks 1449 7241 every 0.001
             0.140 > 14481:15929
             0.150 < ack 7241 sack 14481-15929
             0.1501 > 7241:14481
             0.1601 < ack 15929",
        ),
        (
            "with_time_lag_after_duplicate_acks",
            "0.100 > 1:14481 every 0.001
             0.110 < acks 1449 4345 every 0.001
             0.114 < ack 4345
             0.115 < ack 4345
             0.116 < ack 4345
             0.117 < ack 4345
             0.339 > 4345:5793
             0.349 < ack 14481",
        ),
        ("after_a_blackout", fires::BLACKOUT),
        (
            "intermittent",
            "0.100 > 1:11585 every 0.001
             0.110 < acks 1449 7241 every 0.001
             0.400 > 7241:8689
             0.410 < ack 8689
             0.900 > 8689:10137
             0.910 < ack 10137
             1.700 > 10137:11585
             1.710 < ack 11585",
        ),
        (
            "not_recovered",
            "0.100 > 1:4345 every 0.001
             0.110 < ack 1449
             0.400 > 1449:2897
             0.900 > 1449:2897",
        ),
    ] {
        let flow = after_handshake(text).forward;
        assert_eq!(flow.episodes.len(), 1, "{name}");
        insta::assert_snapshot!(name, story(&flow.episodes[0], &flow));
    }
}

/// Three digits behind the point do not tell them apart.
#[test]
fn times_of_losses_that_are_close_say_how_close() {
    let connection = after_handshake(
        "0.100 > 1:8689 every 0.00002
         0.110 < ack 1449 sack 4345-8689
         0.1101 > 1449:4345 every 0.00002
         0.1201 < ack 8689",
    );
    let story = story(&connection.forward.episodes[0], &connection.forward);
    assert!(story.contains("sent within 20 µs from 0.100 s on were lost"), "{story}");
}
