//! Other programs in `tcplab shell`: data arrives intact whatever the path does.
//!
//! `TCPLAB_SHELL_BYTES` sets the amount; `make soak-shell` uses 200 MB.

use tcplab_units::Rng;

use crate::home::{Home, ended};
use crate::program::{Io, allowed, installed};

/// Quick, with hundreds of impaired packets.
const BYTES: usize = 5_000_000;
/// All impairments of single packets. The rate keeps the sender from outrunning the machine.
const ROUGH: &[&str] = &[
    "rate=200 Mbit/s",
    "delay=1 ms",
    "loss=1 %",
    "duplicate=1 %",
    "corrupt=1 %",
    "reorder={ probability = \"1 %\", extra = \"2 ms\" }",
];
const LOSSY: &[&str] = &[
    "rate=200 Mbit/s",
    "delay=1 ms",
    "loss=1 %",
    "interruption={ every = \"1 s\", lasting = \"20 ms\" }",
];

/// A program that copies the file `sent` to or from the far end, as `got`.
struct Client {
    needs: &'static [&'static str],
    far: &'static str,
    port: &'static str,
    command: &'static str,
    /// Whether it sends digits of its own instead.
    counts: bool,
}

const NC: Client = Client {
    needs: &["nc"],
    far: "nc -l 5000 > got",
    port: "5000",
    command: "nc -N $TCPLAB_FAR 5000 < sent",
    counts: false,
};
const CURL: Client = Client {
    needs: &["curl", "python3"],
    far: "python3 -m http.server 8000 2> /dev/null",
    port: "8000",
    command: "curl --silent --show-error --output got http://$TCPLAB_FAR:8000/sent",
    counts: false,
};
/// It sends consecutive digits, and starts again where the kernel took part of a block; with a file
/// (`-F`) it sends wrong bytes there. It ends the receiver when all data is in the sender's kernel,
/// whose buffer (`-w`) therefore holds little of it.
const IPERF3: Client = Client {
    needs: &["iperf3"],
    far: "iperf3 -s -1 -F got > /dev/null",
    port: "5201",
    command: "iperf3 -c $TCPLAB_FAR --repeating-payload -w 256K -n $(stat -c %s sent) > /dev/null",
    counts: true,
};

fn arrives_intact(client: &Client, path: &[&str]) {
    for io in [Io::Tun, Io::PacketSocket] {
        if !allowed(io) || !installed(client.needs) {
            continue;
        }
        let home = Home::new();
        let sent = random();
        home.write("sent", &sent);
        let mut shell = home.command(&format!("shell --io {} --json=end.json", io.name()));
        shell.args(path.iter().flat_map(|key| ["-s", key]));
        shell.args(["--far-command", client.far, "--wait-for", client.port, "--", "sh", "-c"]);
        let run = ended(shell.arg(client.command));
        assert_eq!(run.code, Some(0), "{}: {}{}", client.command, run.stdout, run.stderr);
        let got = home.bytes("got");
        if client.counts {
            assert!(got.len() > sent.len() / 2, "{} B of {} B", got.len(), sent.len());
            let wrong = got.windows(2).position(|pair| !follows(pair[0], pair[1]));
            assert_eq!(wrong, None, "{}", client.command);
        } else {
            assert!(got == sent, "{}: {} B of {} B", client.command, got.len(), sent.len());
        }
        is_impaired(&home, path);
        println(&format!("{}: {}", client.command, run.stderr.trim_end()));
    }
}

/// Whether the next digit follows, or a block begins.
fn follows(before: u8, after: u8) -> bool {
    before.is_ascii_digit() && (after == b'0' || after == before + 1)
}

#[expect(clippy::print_stdout, reason = "figures of the soak, for whoever runs it")]
fn println(text: &str) {
    if std::env::var_os("TCPLAB_SHELL_BYTES").is_some() {
        println!("{text}");
    }
}

/// Otherwise the test would prove nothing.
fn is_impaired(home: &Home, path: &[&str]) {
    let summary: serde_json::Value = serde_json::from_slice(&home.bytes("end.json")).unwrap();
    let forward = &summary["traffic"]["forward"];
    let reverse = &summary["traffic"]["reverse"];
    let count = |what: &str| forward[what].as_u64().unwrap() + reverse[what].as_u64().unwrap();
    let lost = [forward, reverse].map(|way| way["dropped_for"]["loss"].as_u64().unwrap_or(0));
    assert!(lost[0] + lost[1] > 0, "{summary}");
    if path == ROUGH {
        // Copies count as packets out only.
        let through = count("packets_out") + count("dropped");
        assert!(through > count("packets_in"), "{summary}");
    }
}

/// The file's content, from a seed.
fn random() -> Vec<u8> {
    let asked = std::env::var("TCPLAB_SHELL_BYTES").ok();
    let bytes = asked.map_or(BYTES, |text| text.parse().expect("TCPLAB_SHELL_BYTES is a number"));
    let mut random = Rng::new(1, "file");
    let words = std::iter::repeat_with(|| random.next_u64().to_le_bytes());
    words.take(bytes.div_ceil(8)).flatten().take(bytes).collect()
}

#[test]
fn nc_through_loss_and_interruptions() {
    arrives_intact(&NC, LOSSY);
}

#[test]
fn curl_through_loss_and_interruptions() {
    arrives_intact(&CURL, LOSSY);
}

#[test]
fn iperf3_through_loss_and_interruptions() {
    arrives_intact(&IPERF3, LOSSY);
}

#[test]
fn nc_through_all_impairments() {
    arrives_intact(&NC, ROUGH);
}

#[test]
fn curl_through_all_impairments() {
    arrives_intact(&CURL, ROUGH);
}

#[test]
fn iperf3_through_all_impairments() {
    arrives_intact(&IPERF3, ROUGH);
}

/// Some of many bit errors change the IP version; some devices refuse such packets.
#[test]
fn corrupted_ip_packets_count_as_lost() {
    arrives_intact(
        &NC,
        &[
            "rate=200 Mbit/s",
            "delay=1 ms",
            "loss=0.1 %",
            "forward.corrupt={ probability = \"20 %\", part = \"headers\" }",
        ],
    );
}
