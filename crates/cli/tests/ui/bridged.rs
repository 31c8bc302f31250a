//! The page of a bridge between two interfaces, in a network of its own.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::page::until;
use crate::watched::{Watched, dropped, is_described, parts_of, round_trips, skipped};

/// Left and right have an interface each; the peers here are `wa` and `wb`.
const NETWORK: &str = include_str!("../kernel/network.sh");

/// A bridge, a socket that leads to its page, and 10 kB each 20 ms from left to right.
const BRIDGE: &str = r#"
trap 'exit 143' TERM
ip link set lo up
"$TCPLAB" bridge - wa wb -s 'rate=5 Mbit/s' -s 'delay=10 ms' --ui=link $KEEPS 2> said &
bridge=$!
until [ "$(promiscuous)" = 'promiscuity 1' ]; do kill -0 $bridge; sleep 0.01; done
# Without a function, which would be a process of its own around the one that is ended below.
nsenter --net=/proc/$right/ns/net python3 -c 'import socket
s = socket.create_server(("", 5000))
open("ready", "w")
c = s.accept()[0]
while c.recv(65536): pass' & server=$!
until [ -e ready ]; do kill -0 $server; sleep 0.01; done
nsenter --net=/proc/$left/ns/net python3 -c 'import socket, time
c = socket.create_connection(("10.1.0.2", 5000))
while True: c.sendall(bytes(10000)); time.sleep(0.02)' & client=$!
python3 relay.py & relay=$!
trap "kill $left $right $server $client $relay $bridge" EXIT
echo $bridge > pid
code=0; wait $bridge || code=$?
echo "$code $(promiscuous)" > ended
wait $relay
"#;

/// The page listens in the network of the bridge; a socket with a path is in none.
const RELAY: &str = r#"
import os, socket, threading
host, port = open("said").read().split("http://")[1].split("/")[0].split(":")
def pass_on(source, target):
    try:
        while data := source.recv(65536): target.sendall(data)
    except OSError: pass
    try: target.shutdown(socket.SHUT_RDWR)
    except OSError: pass
server = socket.socket(socket.AF_UNIX)
server.bind("relay.new")
server.listen()
os.rename("relay.new", "relay")
while True:
    one = server.accept()[0]
    try: other = socket.create_connection((host, int(port)))
    except OSError: one.close(); continue
    for ends in ((one, other), (other, one)): threading.Thread(target=pass_on, args=ends, daemon=True).start()
"#;

/// A bridge with a page; none where this machine has no namespaces or tools for it.
fn start(keeps: &str) -> Option<Watched> {
    let home = tempfile::tempdir().unwrap();
    let place = |name: &str| home.path().join(name);
    fs::create_dir(place("tmp")).unwrap();
    fs::write(place("relay.py"), RELAY).unwrap();
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let said = fs::File::create(place("script")).unwrap();
    let child = command
        .args(["--net", "sh", "-c", &format!("{NETWORK}{BRIDGE}")])
        .current_dir(home.path())
        .env("TCPLAB", env!("CARGO_BIN_EXE_tcplab"))
        .env("KEEPS", keeps)
        .env("XDG_CACHE_HOME", place("cache"))
        .env("TMPDIR", place("tmp"))
        .env_remove("TCPLAB_SHELL")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            skipped(&format!("unshare: {error}"));
            return None;
        }
    };
    let began = until(|| {
        let is_over = child.try_wait().unwrap().is_some();
        (is_over || place("pid").exists() && place("relay").exists()).then_some(!is_over)
    });
    if !began {
        let said = ["script", "said"].map(|name| fs::read_to_string(place(name)));
        let said = said.map(Result::unwrap_or_default).join("");
        let is_known = ["unshare", "not found", "not permitted", "not supported"];
        assert!(is_known.iter().any(|known| said.contains(known)), "{said}");
        skipped(&said);
        return None;
    }
    let link = fs::read_to_string(place("said")).unwrap();
    let (at, token) = link.lines().find_map(parts_of).unwrap_or_else(|| panic!("{link}"));
    let relay = Some(place("relay"));
    Some(Watched { home, child, at, token, relay })
}

/// Ends the bridge as Ctrl-C does; what the script says of it.
fn interrupt(bridge: &Watched) -> String {
    let file = |name: &str| fs::read_to_string(bridge.home.path().join(name)).unwrap_or_default();
    let pid = until(|| file("pid").trim().parse().ok());
    kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    until(|| Some(file("ended")).filter(|it| it.ends_with('\n'))).trim().to_owned()
}

#[test]
fn traffic_of_a_bridge_is_watched_and_its_path_changed() {
    let Some(bridge) = start("--capture seen") else { return };
    let told = bridge.listen();
    let state = bridge.get("/api/traffic").json();
    is_described("/api/traffic", "get", &state);
    assert_eq!(state["ends"], json!(["wa", "wb"]));
    assert_eq!(state["is_running"], true);
    let first = until(|| Some(bridge.packets()).filter(|packets| packets.len() > 20));
    assert_eq!((&first[0]["flags"], &first[0]["from_client"]), (&json!("SYN"), &json!(true)));
    let stranger = format!("Host: {}\r\n", bridge.at);
    assert_eq!(bridge.ask("GET /api/traffic", &stranger, "").unwrap().status, 401);
    // Of a bridge packets alone say where the ends are.
    let met = bridge.connections();
    assert_eq!(met["has_sockets"], false);
    let row = &met["connections"][0];
    assert_eq!(row["states"], json!(["ESTABLISHED", "ESTABLISHED"]), "{row}");
    assert_eq!((&row["ends"][1], &row["sockets"]), (&json!("10.1.0.2:5000"), &json!([null, null])));
    // The next three segments, and then a longer way.
    let made = bridge.change(&json!({ "direction": "forward", "drop": 3 }));
    assert_eq!(made.status, 200, "{}", made.text());
    until(|| (dropped(&bridge.packets()) == 3).then_some(()));
    let made = bridge.change(&json!({ "delay": "200 ms" }));
    assert_eq!(made.status, 200, "{}", made.text());
    is_described("/api/traffic/change", "post", &made.json());
    let state = bridge.get("/api/traffic").json();
    bridge.hear(|_, data| round_trips(data).iter().any(|rtt| *rtt >= 400_000_000));
    assert_eq!(interrupt(&bridge), "130 promiscuity 0");
    let told = told.join().unwrap();
    assert_eq!(
        told.last().map(|(name, state)| (&**name, &state["is_running"])),
        Some(("over", &json!(false)))
    );
    let rtt: Vec<u64> = told.iter().flat_map(|(_, data)| round_trips(data)).collect();
    assert!((20_000_000..200_000_000).contains(rtt.iter().min().unwrap()), "{rtt:?}");
    // It is on record.
    let record = fs::read(bridge.home.path().join("seen/result.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["path_events"], state["path_events"]);
    assert_eq!(bridge.left(), 0);
}

#[test]
fn nothing_is_left_of_a_bridge_that_keeps_nothing() {
    let Some(bridge) = start("") else { return };
    until(|| bridge.packets().first().map(|_| ()));
    let state = bridge.get("/api/traffic").json();
    assert_eq!((&state["recording"], &state["snaplen_bytes"]), (&Value::Null, &json!(128)));
    assert_eq!(bridge.left(), 1);
    assert_eq!(interrupt(&bridge), "130 promiscuity 0");
    assert_eq!(bridge.left(), 0);
    assert!(bridge.try_get("/api/traffic").is_none(), "the port is still taken");
}
