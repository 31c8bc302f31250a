use tcplab_units::Span;
use tcplab_wire::{SeqNumber, TcpRepr};

use super::*;
use crate::congestion::Reno;

fn opening(initial: u32) -> Opening {
    Opening {
        initial_sequence: SeqNumber::new(initial),
        timestamp_offset: 0,
        mtu: 1500,
        ip_header: 20,
        congestion: Box::new(Reno::named("reno")),
    }
}

fn segment(flags: TcpFlags, seq: u32, ack: u32) -> Segment {
    Segment::bare(TcpRepr {
        seq: SeqNumber::new(seq),
        ack: SeqNumber::new(ack),
        flags,
        window: 1000,
        ..TcpRepr::default()
    })
}

const NOW: Instant = Instant::from_nanos(1_000_000_000);

/// Sends a segment to the listener; what it answers, by peer and flags.
fn hear(listener: &mut Listener<u8>, peer: u8, segment: &Segment) -> Vec<(u8, String)> {
    listener.handle_segment(NOW, &peer, segment, || opening(100), FastAnswer::Plain);
    std::iter::from_fn(|| listener.poll_transmit())
        .map(|(to, transmit)| (to, transmit.segment.header.flags.to_string()))
        .collect()
}

#[test]
fn listener_handshake_gives_connection() {
    let config = Arc::new(Config::default());
    let mut listener = Listener::new(&config, 5);
    listener.set_option(SocketOption::NoDelay(true));
    assert_eq!(hear(&mut listener, 7, &segment(TcpFlags::SYN, 50, 0)), [(7, "[S.]".into())]);
    assert!(!listener.is_ready());
    let mut data = segment(TcpFlags::ACK, 51, 101);
    data.data = crate::Data::copy_of(b"early");
    hear(&mut listener, 7, &data);
    let (peer, mut connection) = listener.accept().unwrap();
    assert_eq!((peer, connection.state()), (7, State::Established));
    assert!(connection.options().no_delay);
    assert_eq!(connection.read(NOW, &mut [0; 10]), Ok(5));
    assert!(listener.accept().is_none());
}

/// RFC 9293 section 3.10.7.2: RST is ignored, ACK reset, SYN answered, all else ignored.
#[test]
fn listener_segments_get_answers() {
    for (flags, answer) in [
        (TcpFlags::RST, None),
        (TcpFlags::RST | TcpFlags::ACK, None),
        (TcpFlags::ACK, Some("[R]")),
        (TcpFlags::SYN | TcpFlags::ACK, Some("[R]")),
        (TcpFlags::FIN, None),
        (TcpFlags::SYN | TcpFlags::FIN, None),
        (TcpFlags::NONE, None),
        (TcpFlags::SYN, Some("[S.]")),
    ] {
        let mut listener = Listener::new(&Arc::new(Config::default()), 5);
        let answers = hear(&mut listener, 1, &segment(flags, 50, 60));
        let expected: Vec<_> = answer.map(|flags| (1, flags.to_owned())).into_iter().collect();
        assert_eq!(answers, expected, "{flags}");
    }
}

/// One more than the backlog waits; the next handshakes are not completed, then not begun.
#[test]
fn listener_backlog_limits_connections() {
    let mut listener = Listener::new(&Arc::new(Config::default()), 1);
    for peer in 0..3 {
        hear(&mut listener, peer, &segment(TcpFlags::SYN, 50, 0));
        if peer < 2 {
            hear(&mut listener, peer, &segment(TcpFlags::ACK, 51, 101));
        }
    }
    // Two wait, a third may not even begin.
    assert!(hear(&mut listener, 2, &segment(TcpFlags::SYN, 50, 0)).is_empty());
    assert_eq!(listener.accept().map(|(peer, _)| peer), Some(0));
    assert_eq!(hear(&mut listener, 2, &segment(TcpFlags::SYN, 50, 0)).len(), 1);
    hear(&mut listener, 2, &segment(TcpFlags::ACK, 51, 101));
    assert_eq!(listener.accept().map(|(peer, _)| peer), Some(1));
    assert_eq!(listener.accept().map(|(peer, _)| peer), Some(2));
}

#[test]
fn listener_close_resets_waiting_connections() {
    let mut listener = Listener::new(&Arc::new(Config::default()), 5);
    for peer in 0..2 {
        hear(&mut listener, peer, &segment(TcpFlags::SYN, 50, 0));
    }
    hear(&mut listener, 1, &segment(TcpFlags::ACK, 51, 101));
    listener.close(NOW);
    let (peer, reset) = listener.poll_transmit().unwrap();
    assert_eq!((peer, reset.cause), (1, SendCause::Reset));
    assert!(listener.poll_transmit().is_none() && listener.poll_at().is_none());
}

#[test]
fn listener_unanswered_syn_ack_is_forgotten() {
    let mut listener = Listener::new(&Arc::new(Config::default()), 5);
    hear(&mut listener, 1, &segment(TcpFlags::SYN, 50, 0));
    let mut repeated = 0;
    while let Some(at) = listener.poll_at() {
        assert!(at < NOW + Span::from_secs(80));
        listener.handle_timeout(at);
        repeated += std::iter::from_fn(|| listener.poll_transmit()).count();
    }
    assert_eq!(repeated, 5);
    assert!(listener.connections.is_empty());
}

/// RFC 9293 section 3.10.7.1.
#[test]
fn reset_for_unknown_segment_has_right_numbers() {
    let reported = |segment: &Segment| {
        reset_for(segment).map(|reset| {
            let header = reset.header;
            (header.flags.to_string(), header.seq.as_u32(), header.ack.as_u32())
        })
    };
    let mut data = segment(TcpFlags::PSH, u32::MAX, 9);
    data.data = crate::Data::copy_of(&[0; 10]);
    assert_eq!(reported(&data), Some(("[R.]".into(), 0, 9)));
    assert_eq!(reported(&segment(TcpFlags::SYN, 5, 9)), Some(("[R.]".into(), 0, 6)));
    assert_eq!(reported(&segment(TcpFlags::ACK, 5, 9)), Some(("[R]".into(), 9, 0)));
    assert_eq!(reported(&segment(TcpFlags::RST, 5, 9)), None);
}
