//! Scripts held against the model. Each was run on Linux 6.18 with google's packetdrill first, and
//! passed there.

use tcplab_packetdrill::{Definitions, Model, Script, Verdict, run};
use tcplab_stack::Config;

fn told(text: &str) -> String {
    let script = Script::parse(text, &Definitions::none()).unwrap_or_else(|e| panic!("{e}"));
    match run(&script, &mut Model::new(Config::default())) {
        Verdict::Passed(_) => "passed".into(),
        Verdict::Failed(failure) => failure.to_string(),
        Verdict::Unsupported(unsupported) => unsupported.to_string(),
    }
}

#[test]
fn timeouts_double() {
    assert_eq!(told(include_str!("../scripts/model/timeouts.pkt")), "passed");
}

#[test]
fn a_closed_window_is_asked_for() {
    assert_eq!(told(include_str!("../scripts/model/closed_window.pkt")), "passed");
}

#[test]
fn a_peer_that_is_gone_is_found_out() {
    assert_eq!(told(include_str!("../scripts/model/keep_alive.pkt")), "passed");
}

#[test]
fn the_urgent_byte_is_read_by_itself() {
    assert_eq!(told(include_str!("../scripts/model/urgent.pkt")), "passed");
}

#[test]
fn one_half_closes_after_the_other() {
    assert_eq!(told(include_str!("../scripts/model/endings.pkt")), "passed");
}

#[test]
fn closing_with_data_unread_breaks_off() {
    assert_eq!(told(include_str!("../scripts/model/aborted.pkt")), "passed");
}

#[test]
fn connecting_is_refused_at_last() {
    assert_eq!(told(include_str!("../scripts/model/refused.pkt")), "passed");
}

#[test]
fn what_the_model_does_not_have_is_named() {
    let start = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n\
                 +0 listen(3, 1) = 0\n";
    let mut shown = String::new();
    for line in [
        "+0 setsockopt(3, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0",
        "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0",
        "+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"dctcp\", 5) = 0",
        "+0 setsockopt(3, SOL_IP, IP_MTU_DISCOVER, [1], 4) = 0",
        "+0 socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP) = 4",
        "+0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 4",
        "+0 send(3, ..., 10, MSG_FASTOPEN) = 10",
        "+0 recv(3, ..., 10, MSG_PEEK) = 10",
        "+0 fcntl(3, F_GETFD) = 0",
        "+0 shutdown(3, SHUT_RD) = 0",
        "+0 < S 0:0(0) win 1000 <md5 00112233445566778899aabbccddeeff>",
        "+0 `sysctl -q net.ipv4.tcp_plb_enabled=1`",
    ] {
        shown.push_str(&format!("{line}\n  {}\n", told(&format!("{start}{line}"))));
    }
    insta::assert_snapshot!(shown);
}
