//! Scripts run against a stack of few rules.

use crate::fake::Fake;
use tcplab_packetdrill::{Definitions, Script, ScriptOutcome, run};

const SERVER: &str = include_str!("../scripts/server.pkt");
const CLIENT: &str = include_str!("../scripts/client.pkt");

fn verdict(text: &str, fake: &mut Fake) -> ScriptOutcome {
    let script = Script::parse(text, &Definitions::none()).unwrap_or_else(|e| panic!("{e}"));
    run(&script, fake)
}

fn described(text: &str) -> String {
    match verdict(text, &mut Fake::default()) {
        ScriptOutcome::Passed(left) => format!("passed, left over: {left:?}"),
        ScriptOutcome::Failed(failure) => failure.to_string(),
        ScriptOutcome::Unsupported(unsupported) => unsupported.to_string(),
    }
}

#[test]
fn run_with_correct_stack_passes() {
    assert_eq!(described(SERVER), "passed, left over: []");
    assert_eq!(described(CLIENT), "passed, left over: []");
}

#[test]
fn settings_of_script_reach_stack_in_order() {
    let mut fake = Fake::default();
    verdict(SERVER, &mut fake);
    assert_eq!(fake.settings.len(), 24);
    assert_eq!(fake.settings[5], "net.ipv4.tcp_frto = 2");
    assert_eq!(fake.settings[22], "net.ipv4.tcp_sack = 1");
    assert_eq!(fake.settings[23], "net.ipv4.tcp_reordering = 4");
}

#[test]
fn run_with_wrong_packet_shows_script_notation() {
    let mut shown = String::new();
    for (script, right, wrong) in [
        (SERVER, "S. 0:0(0) ack 10 win 500", "S. 0:0(0) ack 10 win 501"),
        (SERVER, "S. 0:0(0) ack 10 win 500 <mss 1000,", "S. 0:0(0) ack 10 win 500 <mss 900,"),
        (SERVER, "+.04 > . 1:1(0) ack 101", "+.02 > . 1:1(0) ack 101"),
        (SERVER, "+.04 > . 1:1(0) ack 101", "+.04 > . 1:1(0) ack 102"),
        (SERVER, "TS val 250 ecr 700", "TS val 200 ecr 700"),
        (SERVER, "1:2001(2000)", "1:2002(2001)"),
        (SERVER, "1:2001(2000)", "1:1501(1500)"),
        (SERVER, "* > P. 2001:2501(500)", "* > . 2001:2501(500)"),
        (SERVER, "+.15~+.25", "+.05~+.15"),
        (SERVER, "0...0.11 accept", "0...0.05 accept"),
        (SERVER, "0...0.11 accept", "0 accept"),
        (SERVER, "[1000], [4]", "[1001], [4]"),
        (SERVER, "read(4, ..., 1000) = 100", "read(4, ..., 1000) = 101"),
        (SERVER, "= -1 EAGAIN", "= -1 EPIPE"),
        (SERVER, "= -1 EAGAIN", "= 0"),
        (SERVER, "tcpi_unacked == 2", "tcpi_unacked == 3"),
        (SERVER, "val 710 ecr 100", "val 710 ecr 101"),
        (SERVER, "+.1 close", "+0 > . 1:1(0) ack 1\n+.1 close"),
        (SERVER, "close(4)", "close(5)"),
        (CLIENT, "0.200 >", "0.230 >"),
        (CLIENT, "+.05 < S.", "0.1 < S."),
        (CLIENT, "> . 1:1(0) ack 51", "> [ect0] . 1:1(0) ack 51"),
    ] {
        assert!(script.contains(right), "{right}");
        let text = script.replacen(right, wrong, 1);
        shown.push_str(&format!("{right} -> {wrong}\n{}\n\n", described(&text)));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn run_with_unsupported_construct_names_it() {
    let mut shown = String::new();
    for (right, wrong) in [
        ("--tolerance_usecs=1000", "--wire_client"),
        ("--tolerance_usecs=1000", "--non_fatal=packet"),
        ("tcp_sack=1", "nothing=1"),
        ("./defaults.sh", "tc qdisc add dev tun0 root red limit 9"),
        ("./defaults.sh", "reboot"),
        ("SO_REUSEADDR", "SO_UNHEARD_OF"),
        ("SOL_SOCKET, SO", "SOL_TCP, SO"),
        ("read(4, ..., 100)", "vmsplice(4, 5)"),
        ("tcpi_unacked ==", "tcpi_unheard_of =="),
        ("+.1 close", "+0 < icmp unreachable net_unreachable [1:1(0)]\n+.1 close"),
        ("+.1 close", "+0 < udp (5)\n+.1 close"),
        ("+.1 close", "+0 > gre: . 1:1(0) ack 1\n+.1 close"),
    ] {
        assert!(SERVER.contains(right), "{right}");
        let text = SERVER.replacen(right, wrong, 1);
        shown.push_str(&format!("{wrong}\n  {}\n", described(&text)));
    }
    insta::assert_snapshot!(shown);
}

/// A name of 50,000 characters fills no screen.
#[test]
fn run_with_a_long_unsupported_name_shortens_it() {
    let text = SERVER.replacen("read(4, ..., 100)", &format!("{}(4)", "a".repeat(50_000)), 1);
    let described = described(&text);
    assert!(described.contains("the call `aaaa") && described.len() < 400, "{described}");
}

#[test]
fn run_with_unexpected_packet_lists_it() {
    let text = SERVER.replacen("+.1 close(4)", "+0 write(4, ..., 10) = 10\n+0 close(4)", 1);
    assert_eq!(
        described(&text),
        "passed, left over: [\"0.450000 > P. 2501:2511(10) ack 101 win 500 \
         <nop,nop,TS val 450 ecr 700>\"]"
    );
}

#[test]
fn run_with_strict_segments_does_not_join() {
    let text = SERVER.replacen("--tolerance_usecs=1000", "--strict_segments", 1);
    assert!(
        described(&text).contains("the data bytes: expected 2000, found 1000"),
        "{}",
        described(&text)
    );
}

#[test]
fn run_with_endless_wakeups_fails() {
    let mut fake = Fake::default();
    fake.restless = true;
    let ScriptOutcome::Failed(failure) = verdict(CLIENT, &mut fake) else { panic!("it passed") };
    assert_eq!(failure.what, "the stack wakes without end at 0.000000");
}

#[test]
fn option_with_wrong_value_fails() {
    for (option, expected) in [
        ("--tolerance_usecs=soon", "--tolerance_usecs: expected microseconds, found `soon`"),
        ("--tolerance_percent=x", "--tolerance_percent: expected percent, found `x`"),
        ("--tcp_ts_tick_usecs=soon", "--tcp_ts_tick_usecs: expected microseconds, found `soon`"),
        ("--mss=\"-1\"", "--mss: expected bytes, found `-1`"),
    ] {
        let text = SERVER.replacen("--tolerance_usecs=1000", option, 1);
        assert_eq!(described(&text), format!("2:1: {expected}"));
    }
    let text = SERVER.replacen("--tolerance_usecs=1000", "--speed=1000", 1);
    assert_eq!(described(&text), "passed, left over: []");
    let text = SERVER.replacen("--tolerance_usecs=1000", "--init_scripts=./x.sh", 1);
    let error = Script::parse(&text, &Definitions::none()).unwrap_err();
    assert_eq!(error.what, "expected the option's value, a path in quotes (\"./x.sh\"), found `.`");
}
