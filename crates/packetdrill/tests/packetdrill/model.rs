//! Scripts run against the model. Each was run on Linux 6.18 with google's packetdrill too, and
//! passed there: the test below `kernel` does so again.

use std::fs;
use std::path::PathBuf;

use tcplab_packetdrill::{Definitions, Model, Script, ScriptOutcome, run, watch};
use tcplab_stack::Config;
use tcplab_stack::config::ReceiveTuning;
use tcplab_units::Span;

fn described(text: &str) -> String {
    let script = Script::parse(text, &Definitions::none()).unwrap_or_else(|e| panic!("{e}"));
    match run(&script, &mut Model::new(Config::default())) {
        ScriptOutcome::Passed(_) => "passed".into(),
        ScriptOutcome::Failed(failure) => failure.to_string(),
        ScriptOutcome::Unsupported(unsupported) => unsupported.to_string(),
    }
}

/// All that is below `tests/scripts/model`: name and path.
pub(crate) fn scripts() -> Vec<(String, PathBuf)> {
    scripts_in(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/model"))
}

fn scripts_in(folder: &str) -> Vec<(String, PathBuf)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path))
        .collect();
    all.sort();
    all
}

#[test]
fn model_on_corpus_scripts_passes() {
    let scripts = scripts();
    assert!(scripts.len() > 30);
    let failed: Vec<String> = scripts
        .iter()
        .map(|(name, path)| (name, described(&fs::read_to_string(path).unwrap())))
        .filter(|(_, described)| described != "passed")
        .map(|(name, described)| format!("{name}: {described}"))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// All in a folder of `tests/scripts`, with these settings.
fn assert_passes(folder: &str, config: &Config) {
    let scripts = scripts_in(&format!("{}/tests/scripts/{folder}", env!("CARGO_MANIFEST_DIR")));
    assert!(!scripts.is_empty());
    for (name, path) in scripts {
        let script = Script::parse(&fs::read_to_string(path).unwrap(), &Definitions::none());
        let verdict = run(&script.unwrap(), &mut Model::new(config.clone()));
        assert!(matches!(verdict, ScriptOutcome::Passed(_)), "{name}: {verdict:?}");
    }
}

/// What google's packetdrill does not follow: a second connection of one socket.
#[test]
fn model_on_own_scripts_passes() {
    assert_passes("own", &Config::default());
}

/// What Linux 7.2 does otherwise than 6.18, by the settings of its profile.
#[test]
fn model_of_later_kernel_on_its_scripts_passes() {
    let mut config = Config::default();
    config.receiving.tuning = ReceiveTuning::Linux72;
    config.receiving.remembers_edge = true;
    assert_passes("linux-7.2", &config);
}

/// What Linux 6.12 does otherwise than 6.18, with the memory of its profile.
#[test]
fn model_of_earlier_kernel_on_its_scripts_passes() {
    let mut config = Config::default();
    config.sending.header_room = 320;
    config.handshake.challenges_unsent = false;
    assert_passes("linux-6.12", &config);
}

/// The ticks of a kernel with another HZ move timers by a few milliseconds, and that is all.
#[test]
fn model_with_finer_tick_passes() {
    let mut config = Config::default();
    config.host.tick = Span::from_millis(1);
    assert_passes("model", &config);
}

#[test]
fn model_missing_feature_is_named() {
    let start = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n\
                 +0 listen(3, 1) = 0\n";
    let mut shown = String::new();
    for line in [
        "+0 setsockopt(3, SOL_SOCKET, SO_RCVTIMEO, [1], 4) = 0",
        "+0 setsockopt(3, SOL_TCP, TCP_MD5SIG, [1], 4) = 0",
        "+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"dctcp\", 5) = 0",
        "+0 setsockopt(3, SOL_IP, IP_MTU_DISCOVER, [IP_PMTUDISC_PROBE], 4) = 0",
        "+0 socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP) = 4",
        "+0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 4",
        "+0 send(3, ..., 10, MSG_DONTROUTE) = 10",
        "+0 < icmp echo_request",
        "+0 `tc qdisc replace dev tun0 root red limit 9`",
        "+0 recv(3, ..., 10, MSG_WAITALL) = 10",
        "+0 fcntl(3, F_GETFD) = 0",
        "+0 shutdown(3, SHUT_RD) = 0",
        "+0 setsockopt(3, SOL_TCP, TCP_AO_ADD_KEY, [1], 4) = 0",
        "+0 `./absent.sh`",
        "+0 < S 0:0(0) win 1000\n+0 > S. 0:0(0) ack 1 <...>\n+0 < . 1:1(0) ack 1 win 1000\n\
         +0 accept(3, ..., ...) = 4\n+0 %{ assert tcpi_no_such_field == 0 }%",
        "+0 `sysctl -q net.ipv4.tcp_plb_enabled=1`",
    ] {
        shown.push_str(&format!("{line}\n  {}\n", described(&format!("{start}{line}"))));
    }
    insta::assert_snapshot!(shown);
}

/// As under Linux's limit of open files; each event looks at all sockets.
#[test]
fn script_has_as_many_sockets_as_a_process() {
    let one = "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";
    let refused = "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = -1 EMFILE (Too many open files)\n";
    assert_eq!(described(&(one.repeat(1_021) + refused)), "passed");
    assert_ne!(described(&one.repeat(1_022)), "passed");
}

/// A listener that has accepted a connection, its peer's MSS 1000.
const ACCEPTED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n\
     +0 listen(3, 1) = 0\n+0 < S 0:0(0) win 32792 <mss 1000>\n+0 > S. 0:0(0) ack 1 <...>\n\
     +.01 < . 1:1(0) ack 1 win 257\n+0 accept(3, ..., ...) = 4\n";

#[test]
fn segments_that_cannot_be_joined_have_their_own_times() {
    let script = "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n+0 write(4, ..., 100) = 100\n\
         +.02 < P. 1:51(50) ack 1 win 257\n+0 write(4, ..., 100) = 100\n* > P. 1:201(200) ack 1\n";
    assert_eq!(
        described(&format!("{ACCEPTED}{script}")),
        "12:1: the segments cannot be joined\n  expected: * > P. 1:201(200) ack 1\n  \
         actual  : 0.010000 > P. 1:101(100) ack 1 win 64240\n            \
         0.030004 > . 101:101(0) ack 51 win 64190"
    );
}

#[test]
fn packet_that_begins_no_expected_one_is_judged_by_itself() {
    for (script, what) in [
        // An acknowledgement without data, where data are expected.
        (
            "+0 < P. 1:51(50) ack 1 win 257\n+0 write(4, ..., 100) = 100\n* > P. 101:201(100) ack 51",
            "10:1: the data bytes: expected 100, found 0",
        ),
        // The retransmission does not come behind what it repeats.
        (
            "+0 write(4, ..., 100) = 100\n* > P. 1:201(200) ack 1",
            "9:1: the data bytes: expected 200, found 100",
        ),
        (
            "+0 write(4, ..., 100) = 100\n* > P. 2:202(200) ack 1",
            "9:1: the data bytes: expected 200, found 100",
        ),
        // As much as the window takes.
        (
            "+0 write(4, ..., 1100) = 1100\n* > P. 1:2001(2000) ack 1",
            "9:1: the data bytes: expected 2000, found 257",
        ),
    ] {
        let found = described(&format!("{ACCEPTED}{script}\n"));
        assert!(found.starts_with(what), "{script}: {found}");
    }
}

#[test]
fn failed_assertion_has_its_own_line() {
    let code = "+0 %{\nassert tcpi_snd_cwnd == 10\nprint('no', tcpi_unacked)\n  \
                assert tcpi_unacked == 5, \"here\"\n}%\n";
    let found = described(&format!("{ACCEPTED}{code}"));
    assert_eq!(found, "11:3: tcpi_unacked == 5 does not hold: 0 == 5 (here)");
    for (code, expected) in [
        ("print(tcpi_no_such)", "8:7: not supported: the field `tcpi_no_such` of tcp_info"),
        ("import sys; sys.exit(1)", "8:19: not supported: the function `sys.exit`"),
        ("print(1 +)", "8:16: expected a value, found `)`"),
    ] {
        let text = format!("{ACCEPTED}+0 %{{ {code} }}%\n");
        let found = match Script::parse(&text, &Definitions::none()) {
            Ok(_) => described(&text),
            Err(error) => error.to_string(),
        };
        assert!(found.starts_with(expected), "{code}: {found}");
    }
}

#[test]
fn printed_values_are_in_the_dialogue() {
    let text = format!("{ACCEPTED}+.02 %{{ print('cwnd', tcpi_snd_cwnd) }}%\n");
    let script = Script::parse(&text, &Definitions::none()).unwrap();
    let (_, dialogue) = watch(&script, &mut Model::new(Config::default()));
    assert_eq!(dialogue.last().unwrap().to_string(), "0.030000 printed: cwnd 10");
}

/// As a kernel does (6.12): the handshake's last acknowledgement is not enough, the window's clamp
/// has a least value, and a listener's cannot be taken back.
#[test]
fn deferred_accept_and_clamp_are_set_and_read() {
    let script = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
        +0 setsockopt(3, SOL_TCP, TCP_DEFER_ACCEPT, [5], 4) = 0\n\
        +0 getsockopt(3, SOL_TCP, TCP_DEFER_ACCEPT, [7], [4]) = 0\n\
        +0 getsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [0], [4]) = 0\n\
        +0 setsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [9], 4) = 0\n\
        +0 getsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [1152], [4]) = 0\n\
        +0 setsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [0], 4) = 0\n\
        +0 getsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [0], [4]) = 0\n\
        +0 setsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [5000], 4) = 0\n\
        +0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
        +0 setsockopt(3, SOL_TCP, TCP_WINDOW_CLAMP, [0], 4) = -1 EINVAL (Invalid argument)\n\
        +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n\
        +0 < S 0:0(0) win 1000 <mss 1000>\n+0 > S. 0:0(0) ack 1 win 4380 <mss 1460>\n\
        +.1 < . 1:1(0) ack 1 win 1000\n\
        +0 accept(3, ..., ...) = -1 EAGAIN (Resource temporarily unavailable)\n\
        +.1 < P. 1:11(10) ack 1 win 1000\n+0 > . 1:1(0) ack 11\n\
        +0 accept(3, ..., ...) = 4\n\
        +0 getsockopt(4, SOL_TCP, TCP_WINDOW_CLAMP, [5000], [4]) = 0\n\
        +0 setsockopt(4, SOL_TCP, TCP_WINDOW_CLAMP, [3000], 4) = 0\n\
        +0 getsockopt(4, SOL_TCP, TCP_WINDOW_CLAMP, [3000], [4]) = 0\n";
    assert_eq!(described(script), "passed");
}
