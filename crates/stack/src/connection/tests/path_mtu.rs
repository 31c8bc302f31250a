//! What ICMP says of packets that were too large.

use super::peer::Bench;
use super::*;

/// Connected, with two full segments on their way.
fn sending(config: &Config) -> Bench {
    let mut bench = Bench::established(config);
    let written = bench.connection.write(bench.now, &[7; 2_920]);
    assert_eq!(written, Ok(2_920));
    bench.poll();
    assert_eq!(bench.numbers().len(), 2);
    bench
}

#[test]
fn icmp_too_big_shrinks_segments() {
    let mut bench = sending(&Config::default());
    assert!(bench.connection.dont_fragment());
    let learnt = bench.hear_too_big(1, 1_400);
    assert_eq!(learnt, Some(PathMtu { mtu: 1_400, fragments: false }));
    assert!(bench.causes.iter().all(|cause| *cause == SendCause::PathMtu));
    let again = [". 1:1361(1360) ack 1", ". 1361:2721(1360) ack 1", "P. 2721:2921(200) ack 1"];
    assert_eq!(bench.numbers(), again);
    // Each packet that was too large brings such a message: only the first is news.
    assert_eq!(bench.hear_too_big(1_461, 1_400), None);
    assert_eq!(bench.numbers(), [""; 0]);
    let info = bench.connection.info(bench.now);
    assert_eq!((info.pmtu, info.snd_mss, info.snd_cwnd), (1_400, 1_360, 10));
}

/// RFC 5927 section 4.1: an off-path attacker would have to guess the sequence numbers.
#[test]
fn icmp_quoting_nothing_outstanding_is_ignored() {
    for (sequence, believed) in [(-1, false), (0, false), (1, true), (2_921, true), (2_922, false)]
    {
        let mut bench = sending(&Config::default());
        assert_eq!(bench.hear_too_big(sequence, 1_400).is_some(), believed, "{sequence}");
    }
    let mut bench = sending(&Config::default());
    bench.hear(".", 1, 1_461, 0);
    assert_eq!(bench.hear_too_big(1, 1_400), None, "it has arrived");
    assert_eq!(bench.hear_too_big(1_461, 1_500), None, "no larger than that they are");
    let mut bench = Bench::connecting(&Config::default());
    assert!(bench.hear_too_big(0, 1_300).is_some(), "a SYN is outstanding");
    bench.hear_syn_ack();
    assert_eq!(bench.connection.mss(), 1_260);
}

/// Linux's `min_pmtu`: below, packets lose their "don't fragment".
#[test]
fn icmp_below_minimum_allows_fragmentation() {
    for reported in [0, 68, 551] {
        let mut bench = sending(&Config::default());
        let learnt = bench.hear_too_big(1, reported);
        assert_eq!(learnt, Some(PathMtu { mtu: 552, fragments: true }), "{reported}");
        assert!(!bench.connection.dont_fragment());
        assert_eq!(bench.connection.mss(), 512);
        assert_eq!(bench.hear_too_big(1, 400), None, "that is settled");
    }
    let mut bench = sending(&Config::default());
    assert_eq!(bench.hear_too_big(1, 552), Some(PathMtu { mtu: 552, fragments: false }));
}

#[test]
fn icmp_without_discovery_is_ignored() {
    let config = changed(|config| config.path_mtu.discovery = false);
    let mut bench = sending(&config);
    assert!(!bench.connection.dont_fragment());
    assert_eq!(bench.hear_too_big(1, 1_400), None);
    assert_eq!(bench.numbers(), [""; 0]);
}
