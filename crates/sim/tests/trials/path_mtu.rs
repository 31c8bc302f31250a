//! Paths that take smaller packets than the endpoints send.

use tcplab_path::{Cause, Fate};
use tcplab_units::{Bytes, Endpoint};
use tcplab_wire::{FrameView, too_big};

use crate::{Trial, packets, trial};

/// Sends through a path with this limit on the way there; all of it arrives.
fn through(mtu: &str, amount: u64, more: &str) -> Trial {
    let text = format!(
        "[path]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\n\
         [path.forward]\nmtu = {mtu}\n[client]\n{more}\n[workload]\nupload = \"{amount} B\"\n"
    );
    let recording = trial(&text, 1);
    let app = recording.app().unwrap();
    assert_eq!(app.server.bytes.as_u64(), amount, "{text}");
    assert_eq!(app.server.digest, app.client.digest, "{text}");
    recording
}

/// Of the client's segments with data: how long their packets are, and whether they must not be
/// cut; with where the data begin.
fn sent(packets: &[Vec<u8>]) -> Vec<(u32, u32, bool)> {
    let mut first = None;
    let mut sent = Vec::new();
    for packet in packets {
        let Some(tcp) = FrameView::of_packet(packet).tcp() else { continue };
        if tcp.dst_port() != 5_001 || tcp.payload().is_empty() {
            continue;
        }
        let seq = tcp.seq().as_u32();
        let from = seq.wrapping_sub(*first.get_or_insert(seq)) + 1;
        sent.push((from, tcp.payload().len() as u32, tcp.ip().dont_fragment()));
    }
    sent
}

fn messages(packets: &[Vec<u8>]) -> usize {
    let packets = packets.iter().filter_map(|packet| FrameView::of_packet(packet).ip());
    packets.filter(|ip| too_big(ip).is_some()).count()
}

const LINUX: &str = "stack = \"linux\"\nsocket = { congestion = \"reno\" }";

/// What Linux 6.18 itself sends over this path: ten segments that are too large, and
/// then the same data, each burst of two segmented again.
#[test]
fn linux_retransmits_packets_that_were_too_big() {
    let recording = through("\"1400 B\"", 30_000, LINUX);
    let client = packets(&recording, Endpoint::Client);
    assert_eq!(messages(&client), 10);
    let sent = sent(&client);
    let large: Vec<_> = (0..10).map(|n| (1 + n * 1_448, 1_448, true)).collect();
    assert_eq!(sent[..10], large);
    let again = [
        (1, 1_348),
        (1_349, 1_348),
        (2_697, 200),
        (2_897, 1_348),
        (4_245, 1_348),
        (5_593, 200),
        (5_793, 1_348),
        (7_141, 1_348),
        (8_489, 200),
        (8_689, 1_348),
        (10_037, 1_348),
        (11_385, 200),
        (11_585, 1_348),
        (12_933, 1_348),
        (14_281, 200),
        (14_481, 1_348),
    ]
    .map(|(from, len)| (from, len, true));
    assert_eq!(sent[10..26], again);
    let last = recording.samples().unwrap();
    let last = last.iter().rfind(|sample| sample.snd_mss_bytes > 0).unwrap();
    assert!(last.ca_state < 3, "no loss is left: {last:?}");
    // The path says which it dropped, and the model why it sent each again.
    let truth = recording.truth().unwrap();
    let too_big = Fate::Dropped(Cause::TooBig { limit: Bytes::new(1_400) });
    assert_eq!(truth.iter().filter(|row| row.verdict.fate == too_big).count(), 10);
    let because =
        |name: &str| truth.iter().filter(|row| row.because.as_deref() == Some(name)).count();
    assert_eq!((because("path-mtu"), because("timeout"), because("rack")), (15, 0, 0));
}

/// Linux's `min_pmtu` of 552 B: what is larger than the path takes may be cut then.
#[test]
fn below_the_least_packets_are_cut() {
    let recording = through("\"500 B\"", 20_000, LINUX);
    let sent = sent(&packets(&recording, Endpoint::Client));
    assert_eq!(sent[9..12], [(13_033, 1_448, true), (1, 500, false), (501, 500, false)]);
    // They come in two pieces.
    let server = packets(&recording, Endpoint::Server);
    let is_later = |packet: &&Vec<u8>| u16::from_be_bytes([packet[6], packet[7]]) & 0x1fff > 0;
    let cut = sent.iter().filter(|(_, len, whole)| !whole && 52 + len > 500);
    assert_eq!(server.iter().filter(is_later).count(), cut.count());
    assert!(server.iter().all(|packet| packet.len() <= 500));
}

/// As Linux 6.18 does: with `tcp_mtu_probing = 1` the fourth timeout of the first segment sends
/// `tcp_base_mss`; without, the connection is given up.
#[test]
fn mtu_black_hole_is_found_by_probing() {
    let probing = format!("{LINUX}\nsysctl = {{ \"net.ipv4.tcp_mtu_probing\" = 1 }}");
    let hole = "{ size = \"1400 B\", answer = false }";
    let recording = through(hole, 30_000, &probing);
    let client = packets(&recording, Endpoint::Client);
    assert_eq!(messages(&client), 0);
    let plain: Vec<_> = sent(&client).into_iter().map(|(from, len, _)| (from, len)).collect();
    let first = [
        (14_481, 1_448),
        (1, 1_448),
        (1, 1_448),
        (1, 1_448),
        (1, 1_024),
        (15_929, 1_024),
        (16_953, 1_024),
        (1_025, 424),
        (1_449, 1_024),
        (2_473, 424),
        (2_897, 1_024),
        (3_921, 1_024),
        (4_945, 848),
    ];
    assert_eq!(plain[10..23], first);
    let took = recording.app().unwrap().server.last_byte.unwrap().as_secs_f64();
    assert!((3.8..5.0).contains(&took), "{took}");
}

/// Stacks that do not discover it let routers cut; those that do get an error.
#[test]
fn stacks_with_and_without_discovery_pass_small_mtu() {
    for stack in ["haiku-2017-after", "netburner"] {
        let model = format!("stack = \"model:{stack}\"");
        let recording = through("\"1400 B\"", 30_000, &model);
        let client = packets(&recording, Endpoint::Client);
        assert_eq!(messages(&client), 0, "{stack}");
        assert!(sent(&client).iter().all(|(_, _, whole)| !whole), "{stack}");
    }
    for stack in ["windows-7", "osx-10.7", "linux-6.12"] {
        let model = format!("stack = \"model:{stack}\"");
        let recording = through("\"1400 B\"", 30_000, &model);
        let client = packets(&recording, Endpoint::Client);
        assert!((1..=10).contains(&messages(&client)), "{stack}");
    }
}

/// The next connection starts with the path MTU found by the first (Linux 6.18: its SYN's MSS is
/// 1360 B).
#[test]
fn next_connection_starts_with_known_path_mtu() {
    let text = format!(
        "[path]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n[path.forward]\nmtu = \"1400 B\"\n\
         [workload]\nupload = \"30 kB\"\nconnections = {{ total = 2, at_once = 1 }}\n\
         [client]\n{LINUX}\n"
    );
    let recording = trial(&text, 1);
    let client = packets(&recording, Endpoint::Client);
    let offers: Vec<_> = client
        .iter()
        .filter_map(|packet| FrameView::of_packet(packet).tcp())
        .filter(|tcp| tcp.dst_port() == 5_001)
        .filter_map(|tcp| {
            tcp.options().find_map(|option| match option {
                tcplab_wire::TcpOption::Mss(mss) => Some(mss),
                _ => None,
            })
        })
        .collect();
    assert_eq!((offers, messages(&client)), (vec![1_460, 1_360], 10));
}
