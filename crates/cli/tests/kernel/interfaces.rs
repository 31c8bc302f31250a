//! `tcplab bridge`, between two veth pairs in three namespaces.

use std::process::Command;

use tcplab_path::{Cause, Fate};
use tcplab_recording::Recording;

use crate::home::{Home, ended};
use crate::program::{installed, namespaces_allowed};
use crate::unprivileged::{as_nobody, nobodys_home};

/// Left and right have an interface each; the peers here are `wa` and `wb`.
const NETWORK: &str = include_str!("network.sh");

/// Ping, and a file over both protocols.
const TRAFFIC: &str = r#"
"$TCPLAB" bridge - wa wb -s delay=20ms -s forward.loss=1% --capture seen --json=end.json &
bridge=$!
until [ "$(promiscuous)" = 'promiscuity 1' ]; do kill -0 $bridge; sleep 0.01; done
left ping -c 5 -i 0.2 10.1.0.2 || true
for address in 10.1.0.2 fd00::2; do
  right nc -l $address 5000 > got-$address & receiver=$!
  until right nc -z $address 22 || right ss -tln | grep -q :5000; do sleep 0.01; done
  left nc -N $address 5000 < sent
  wait $receiver
  cmp sent got-$address
done
kill -INT $bridge
code=0; wait $bridge || code=$?; test $code = 130
promiscuous
"#;

/// An interface goes while frames pass.
const GONE: &str = r#"
"$TCPLAB" bridge - wa wb --json=end.json &
bridge=$!
until [ "$(promiscuous)" = 'promiscuity 1' ]; do kill -0 $bridge; sleep 0.01; done
ip link del wa
right ping -c 1 -W 1 10.1.0.1 || true
code=0; wait $bridge || code=$?; test $code = 2
"#;

/// Before anything is done with an interface.
const REFUSALS: &str = r#"
refused() { code=0; "$TCPLAB" bridge - "$@" --duration 1s || code=$?; test $code = 2; }
refused wa wa
refused wa none
refused lo wa
ip link set wb down
refused wa wb
ip link set wb up
code=0; setpriv --bounding-set=-net_raw "$TCPLAB" bridge - wa wb --duration 1s || code=$?; test $code = 2
ip addr add 10.2.0.1/24 dev wa
ip link set wb mtu 1400
"$TCPLAB" bridge - wa wb -s rate='100 Gbit/s' --duration 1s
"#;

fn script(traffic: &str) -> String {
    format!("{NETWORK}{traffic}")
}

fn able() -> bool {
    namespaces_allowed() && installed(&["unshare", "nsenter", "ip", "ping", "nc", "ss", "cmp"])
}

/// In a namespace of its own, as root there.
fn here(home: &Home, traffic: &str) -> Command {
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    unshare.args(["--net", "sh", "-c", &script(traffic)]).current_dir(home.path(""));
    unshare.env("TCPLAB", env!("CARGO_BIN_EXE_tcplab"));
    unshare
}

fn passes(home: &Home, mut bridged: Command) {
    let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    home.write("sent", sent);
    let text = ended(&mut bridged).answer("the bridge");
    // Both delays, and those of ARP before; the interface is restored.
    let (_, times) = text.split_once("rtt min/avg/max/mdev = ").unwrap();
    let shortest: f64 = times.split_once('/').unwrap().0.parse().unwrap();
    assert!((40.0..60.0).contains(&shortest), "{text}");
    assert!(text.trim_end().ends_with("promiscuity 0"), "{text}");

    let recording = Recording::open(&home.path("seen")).unwrap();
    assert_eq!(recording.record().unwrap().client.address, "wa");
    let truth = recording.truth().unwrap();
    let lost = truth.iter().filter(|row| row.verdict.fate == Fate::Dropped(Cause::Loss)).count();
    assert!(lost > 0);
    // ARP has verdicts and no frames.
    let arp = truth.iter().filter(|row| row.frame.is_none()).count();
    assert!(arp > 0 && arp < 20, "{arp}");
    if let Some(theirs) = crate::tshark::frames(&home.path("seen/client.pcapng")) {
        let came = |row: &&tcplab_recording::TruthRow| {
            row.frame.is_some()
                && (row.verdict.direction == tcplab_path::Direction::Forward
                    || row.verdict.fate == Fate::Delivered)
        };
        assert_eq!(theirs, truth.iter().filter(came).count());
    }
}

#[test]
fn bridge_forwards_everything() {
    if !able() {
        return;
    }
    let home = Home::new();
    passes(&home, here(&home, TRAFFIC));
}

#[test]
fn bridge_in_user_namespace() {
    let Some(home) = nobodys_home() else { return };
    if !able() {
        return;
    }
    let mut bridged = as_nobody(&home, "unshare");
    bridged.args(["--user", "--map-root-user", "--net", "sh", "-c", &script(TRAFFIC)]);
    bridged.env("TCPLAB", home.path("tcplab"));
    passes(&home, bridged);
}

#[test]
fn impossible_bridge_is_refused_and_disturbance_reported() {
    if !able() || !installed(&["setpriv"]) {
        return;
    }
    let home = Home::new();
    let run = ended(&mut here(&home, REFUSALS));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for said in [
        "wa cannot be bridged with itself",
        "there is no interface none in this network namespace",
        "lo is the loopback",
        "wb is down",
        "taking the frames of wa needs CAP_NET_RAW",
        "warning: wa takes packets of 1500 B and wb of 1400 B",
        "warning: wa has an address",
        "warning: the path asks for 100 Gbit/s; this machine models",
    ] {
        assert!(run.stderr.contains(said), "`{said}` is missing: {}", run.stderr);
    }
}

/// With what passed until then.
#[test]
fn bridge_ends_when_an_interface_is_gone() {
    if !able() {
        return;
    }
    let home = Home::new();
    let run = ended(&mut here(&home, GONE));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let said = "error: wa is gone (removed, or moved to another network namespace)\n  try: ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let document: serde_json::Value = serde_json::from_slice(&home.bytes("end.json")).unwrap();
    assert!(document["traffic"]["forward"]["packets_in"].is_u64(), "{document}");
}

#[test]
fn impossible_path_is_refused_first() {
    Home::new().refuses(&[("bridge dsl-26 a b", "did you mean `dsl-25`?")]);
}
