//! The experiments on how connections begin: the accept queue, and the simultaneous open.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::experiments::same_text;
use crate::language::{Language, skipped};
use crate::process::{output, run};

/// What `listen_queue` prints with a backlog of 1, without times and numbers of repeated segments.
fn expected(abort_on_overflow: bool) -> String {
    let end = if abort_on_overflow {
        "client 1: CLOSED, accept queue 2, limit 1\n\
         client 1 reads: Connection reset by peer"
    } else {
        "client 1: ESTABLISHED, repeats, accept queue 2, limit 1\n\
         the server accepts all, and reads the byte; accept queue 0, limit 1"
    };
    format!(
        "a SYN finds the queue full:\n\
         client 1: ESTABLISHED, accept queue 1, limit 1\n\
         client 2: ESTABLISHED, accept queue 2, limit 1\n\
         client 3: SYN-SENT, repeats, accept queue 2, limit 1\n\
         the server accepts one; accept queue 1, limit 1\n\
         client 3: ESTABLISHED, repeats, accept queue 2, limit 1\n\
         a last ACK finds the queue full:\n\
         client 1: ESTABLISHED, accept queue 0, limit 1\n\
         client 2: ESTABLISHED, accept queue 1, limit 1\n\
         client 3: ESTABLISHED, accept queue 2, limit 1\n\
         client 1 sends a byte\n\
         {end}"
    )
}

/// The value of tcp_abort_on_overflow that `listen_queue` prints, and what follows.
fn queue_found(said: &str) -> (bool, String) {
    let said = same_text(said);
    let mut lines = said.lines();
    assert!(lines.next().unwrap().starts_with("net.core.somaxconn = "), "{said}");
    let value = lines.next().unwrap().strip_prefix("net.ipv4.tcp_abort_on_overflow = ").unwrap();
    let lines = lines.map(|line| {
        let Some((client, rest)) = line.split_once(" after ") else { return line.to_owned() };
        let (_, rest) = rest.split_once(" s, repeats ").unwrap();
        let (repeats, queue) = rest.split_once("; ").unwrap();
        let repeats = if repeats == "0" { "" } else { ", repeats" };
        format!("{client}{repeats}, {queue}")
    });
    (value == "1", lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn full_accept_queue_drops_syns_and_last_acks() {
    for language in Language::all() {
        let (abort, found) = queue_found(&run(&language.program("listen_queue"), &[]));
        assert_eq!(found, expected(abort), "{language:?}");
    }
}

/// In a network of its own: a test must not change this machine's setting.
#[test]
fn abort_on_overflow_resets_the_client_whose_ack_was_dropped() {
    let script = "ip link set lo up && echo $0 > /proc/sys/net/ipv4/tcp_abort_on_overflow \
                  && echo prepared && exec $1";
    for (language, abort) in
        Language::all().into_iter().flat_map(|language| [(language, false), (language, true)])
    {
        let child = Command::new("unshare")
            .args(["--map-root-user", "--net", "sh", "-c", script, if abort { "1" } else { "0" }])
            .arg(language.program("listen_queue"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(child) = child else { return skipped("there is no unshare(1)") };
        let Output { stdout, stderr, .. } = output(child);
        let said = String::from_utf8(stdout).unwrap();
        let Some(said) = said.strip_prefix("prepared\n") else {
            let reason = String::from_utf8_lossy(&stderr);
            return skipped(&format!("no network with settings of its own: {}", reason.trim()));
        };
        assert_eq!(queue_found(said), (abort, expected(abort)), "{language:?}");
    }
}

#[test]
fn backlog_takes_one_connection_more() {
    for language in Language::all() {
        let said = run(&language.program("listen_queue"), &["--backlog", "5"]);
        let of_syns = said.split("a last ACK").next().unwrap();
        assert_eq!(of_syns.matches(": ESTABLISHED after").count(), 6 + 1, "{said}");
        assert!(of_syns.contains("client 7: SYN-SENT after"), "{said}");
        assert!(of_syns.contains("accept queue 6, limit 5\n"), "{said}");
    }
}

#[test]
fn socket_that_connects_to_itself_reads_what_it_writes() {
    for language in Language::all() {
        let said = run(&language.program("simultaneous_open"), &[]);
        assert!(said.contains(" ms: ESTABLISHED\n"), "{said}");
        let (own, heard) = said.lines().last().unwrap().split_once(" hears: I am ").unwrap();
        assert!(own.starts_with("127.0.0.1:"), "{said}");
        assert_eq!(own, heard, "{language:?}");
    }
}

/// An end that is alone is refused, and tries again at the next full second.
#[test]
fn connect_without_a_peer_is_refused() {
    for language in Language::all() {
        // A port of our own on which nobody listens or connects.
        let held = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = held.local_addr().unwrap().to_string();
        let mut child = Command::new(language.program("simultaneous_open"))
            .args(["127.0.0.1:0", &peer])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let refused = lines.map_while(Result::ok).filter(|line| line.starts_with("refused: "));
        assert_eq!(refused.take(2).count(), 2, "{language:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Behind a path in real time.
mod kernel {
    use super::*;

    #[test]
    fn syns_that_cross_lead_both_ends_through_syn_received() {
        // Cargo builds it beside the examples, when it tests the whole workspace.
        let tcplab = Path::new(env!("CARGO_BIN_EXE_echo")).with_file_name("tcplab");
        if !tcplab.is_file() {
            return skipped("tcplab is not built (cargo build -p tcplab)");
        }
        for (near, far) in Language::pairs() {
            let name = format!("crossed-{near:?}-{far:?}-{}", std::process::id());
            let recording = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            let [near, far] = [near, far].map(|one| one.program("simultaneous_open"));
            let near_command = format!("'{}' $TCPLAB_NEAR:7001 $TCPLAB_FAR:7002", near.display());
            let far_command = format!("'{}' $TCPLAB_FAR:7002 $TCPLAB_NEAR:7001", far.display());
            let child = Command::new(&tcplab)
                .args(["shell", "-s", "delay=200 ms", "--far-command", &far_command, "--capture"])
                .arg(&recording)
                .args(["--", "sh", "-c", &near_command])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            let Output { status, stdout, stderr } = output(child.unwrap());
            let [near_said, rest] = [stdout, stderr].map(|said| String::from_utf8(said).unwrap());
            if status.code() == Some(2) {
                return skipped(&format!("tcplab shell does not start here: {rest}"));
            }
            assert!(status.success(), "{near_said}{rest}");
            assert!(near_said.contains(".1:7001 hears: I am 10."), "{near_said}{rest}");
            assert!(rest.contains(".2:7002 hears: I am 10."), "{near_said}{rest}");
            let states = run(&tcplab, &["states", recording.to_str().unwrap()]);
            for state in ["SYN-SENT", "SYN-RECEIVED", "ESTABLISHED"] {
                assert_eq!(states.matches(&format!("  {state} ")).count(), 2, "{states}");
            }
            assert!(states.contains("Simultaneous open"), "{states}");
            std::fs::remove_dir_all(&recording).unwrap();
        }
    }
}
