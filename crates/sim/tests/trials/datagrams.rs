//! Datagrams: what the applications report, what the path did and what the captures hold agree.

use std::collections::BTreeSet;

use tcplab_path::{Direction, Fate};
use tcplab_recording::Recording;
use tcplab_units::Endpoint;
use tcplab_wire::{ChecksumState, FrameView, LinkType, UdpPacket, port_unreachable};
use tcplab_workload::{DatagramMark, RequestReport};

use crate::{packets, trial};

fn udp(packet: &[u8]) -> Option<UdpPacket<'_>> {
    FrameView::new(LinkType::RawIp, packet, packet.len() as u32).ip().and_then(UdpPacket::of)
}

fn requests(recording: &Recording) -> Vec<RequestReport> {
    recording.app().unwrap().client.datagrams.unwrap().requests
}

/// Without retry, a request stays unanswered exactly when the path's log says that it dropped it or
/// its answer: the marks in the captures of client and server distinguish them.
#[test]
fn request_fails_when_path_drops_it_or_its_answer() {
    let text = r#"
        [path]
        delay = "10 ms"
        loss  = "15 %"
        [workload.datagrams]
        count    = 200
        request  = "64 B"
        response = "200 B"
        timeout  = "50 ms"
        retries  = 0
    "#;
    let recording = trial(text, 3);
    let captures = Endpoint::BOTH.map(|end| packets(&recording, end));
    let mut dropped = BTreeSet::new();
    for row in recording.truth().unwrap() {
        let (end, size) = match row.verdict.direction {
            Direction::Forward => (0, 64),
            Direction::Reverse => (1, 200),
        };
        let packet = &captures[end][row.frame.unwrap() as usize - 1];
        let udp = udp(packet).unwrap();
        assert_eq!(udp.checksum_state(), ChecksumState::Right);
        assert_eq!((udp.ip().header_checksum_is_right(), udp.payload().len()), (true, size));
        if row.verdict.fate != Fate::Delivered {
            dropped.insert(DatagramMark::read(udp.payload()).unwrap().request);
        }
    }
    let unanswered: BTreeSet<u32> = (1..)
        .zip(requests(&recording))
        .filter_map(|(number, it)| it.answered.is_none().then_some(number))
        .collect();
    assert!(unanswered.len() > 20, "{unanswered:?}");
    assert_eq!(unanswered, dropped);
}

/// A closed port answers the first six datagrams with an ICMP error, which only a connected socket
/// receives.
#[test]
fn closed_port_fails_only_connected_socket() {
    for (connected, expected) in [(true, 6), (false, 0)] {
        let text = format!(
            r#"
            [path]
            delay = "10 ms"
            [workload.datagrams]
            count     = 8
            timeout   = "50 ms"
            retries   = 0
            connected = {connected}
            server    = "closed"
            "#
        );
        let recording = trial(&text, 1);
        let refused = requests(&recording).iter().filter(|it| it.error.is_some()).count();
        assert_eq!(refused, expected, "connected: {connected}");
        let packets = packets(&recording, Endpoint::Client);
        let errors = packets.iter().filter(|packet| {
            let view = FrameView::of_packet(packet);
            view.ip().is_some_and(|ip| port_unreachable(&ip).is_some())
        });
        assert_eq!(errors.count(), 6, "connected: {connected}");
    }
}

/// A corrupted datagram is not delivered; a duplicated one is delivered twice.
#[test]
fn damaged_datagrams_count_as_lost() {
    let text = r#"
        [path]
        delay = "10 ms"
        corrupt = "30 %"
        duplicate = "30 %"
        [workload]
        datagrams = { count = 60, timeout = "50 ms", retries = 8, backoff = 1 }
    "#;
    let recording = trial(text, 1);
    let app = recording.app().unwrap();
    let [client, server] = [app.client, app.server].map(|report| report.datagrams.unwrap());
    assert_eq!((client.damaged, server.damaged), (0, 0));
    assert!(client.resent() > 10 && client.duplicates > 10, "{client:?}");
    let truth = recording.truth().unwrap();
    let whole = truth.iter().filter(|row| {
        let verdict = &row.verdict;
        verdict.direction == Direction::Forward
            && verdict.fate == Fate::Delivered
            && verdict.corrupted.is_none()
    });
    // A copy of a damaged datagram may be as damaged; of the whole ones, all are read.
    assert!(server.received <= whole.count() as u64);
    assert!(truth.iter().any(|row| row.verdict.corrupted.is_some()));
}
