use std::collections::BTreeSet;

use crate::{Unit, all};

#[test]
fn each_key_is_snake_case_and_names_one_quantity() {
    let mut keys = BTreeSet::new();
    for quantity in all() {
        let plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '_');
        assert!(quantity.key.chars().all(plain), "{}", quantity.key);
        assert!(keys.insert(quantity.key), "{} is there twice", quantity.key);
    }
}

#[test]
fn each_key_contains_its_unit() {
    for quantity in all().filter(|quantity| quantity.unit != Unit::None) {
        assert!(quantity.key.contains(quantity.unit.in_keys()), "{}", quantity.key);
    }
}

#[test]
fn unit_at_the_end_of_a_key_is_that_of_the_quantity() {
    for quantity in all() {
        let found = Unit::of_key(quantity.key);
        assert!(found == quantity.unit || found == Unit::None, "{}: {found:?}", quantity.key);
    }
    assert_eq!(Unit::of_key("path_rate_bits_per_second"), Unit::BitsPerSecond);
    assert_eq!(Unit::of_key("ns"), Unit::None);
}

#[test]
fn each_label_and_meaning_is_there_once() {
    for quantity in all() {
        assert!(!quantity.label.is_empty() && !quantity.label.ends_with('.'), "{}", quantity.key);
        assert!(!quantity.meaning.is_empty(), "{}", quantity.key);
        assert!(!quantity.meaning.ends_with('.'), "{}", quantity.key);
    }
}

#[test]
fn label_under_heading_does_not_repeat_it() {
    assert_eq!(crate::RTT_MIN.label_under("RTT"), "min");
    assert_eq!(crate::WINDOW_FIRST.label_under("window"), "first");
    assert_eq!(crate::SRTT.label_under("timer"), "SRTT");
    assert_eq!(crate::TRANSFER_TIME_SECONDS.heading(), "transfer time, s");
}

#[test]
fn name_is_key_without_unit() {
    assert_eq!(crate::RTT_MIN.name(), "rtt_min");
    assert_eq!(crate::BYTES_IN_FLIGHT_MAX.name(), "bytes_in_flight_max");
    assert_eq!(crate::RETRANSMISSIONS.name(), "retransmissions");
    assert_eq!(crate::GOODPUT.name(), "goodput");
}
