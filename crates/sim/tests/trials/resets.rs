//! The IP header of resets.

use tcplab_units::Endpoint;
use tcplab_wire::{FrameView, TcpFlags};

use crate::{packets, trial};

/// Flags, identification and "don't fragment" of the TCP packets that an end sent, in order.
fn sent(text: &str, end: Endpoint) -> Vec<(TcpFlags, u16, bool)> {
    let recording = trial(text, 1);
    let port_is_own = |port: u16| (port == 5_001) == (end == Endpoint::Server);
    packets(&recording, end)
        .iter()
        .filter_map(|packet| FrameView::of_packet(packet).tcp())
        .filter(|tcp| port_is_own(tcp.src_port()))
        .map(|tcp| (tcp.flags(), tcp.ip().id().unwrap_or_default(), tcp.ip().dont_fragment()))
        .collect()
}

const RST: TcpFlags = TcpFlags::RST;

/// `tcp_v4_send_reset`: as Linux 6.18 refuses a connection.
#[test]
fn reset_of_closed_port_has_identification_0() {
    let text = "[path]\ndelay = \"5 ms\"\n[workload]\nconnect = \"closed\"\n";
    assert_eq!(sent(text, Endpoint::Server), [(RST | TcpFlags::ACK, 0, true)]);
}

/// SO_LINGER of 0 s: the socket's own RST takes its next identification
/// (`tcp_send_active_reset`); what still arrives then is answered without a socket.
#[test]
fn own_reset_counts_on_and_answers_have_identification_0() {
    let text = "[path]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"100 packets\"\n\
                [workload]\nupload = \"200 kB\"\nclose = \"at-once\"\n\
                [client]\nsocket.linger = \"0 s\"\n";
    let sent = sent(text, Endpoint::Client);
    let own = sent.iter().position(|(flags, ..)| flags.contains(RST)).unwrap();
    let (flags, id, dont_fragment) = sent[own];
    assert_eq!((flags, dont_fragment), (RST | TcpFlags::ACK, true));
    assert_eq!(id, sent[own - 1].1.wrapping_add(1));
    assert!(sent.len() > own + 1, "the server acknowledges data meanwhile");
    for answer in &sent[own + 1..] {
        assert_eq!(*answer, (RST, 0, true));
    }
}
