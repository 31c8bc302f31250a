//! The packets of "TCP Socket Options in Android" (V. Geraskin), from their hex dumps: what the
//! text says of them, and where its own bytes say otherwise.
//!
//! The dumps are Ethernet frames captured on the server, so that what the server sent still lacks
//! its checksum. `docs/socket-options.md` sets the text's conclusions beside what is so.

pub(super) mod dumps;

use dumps::*;

use super::*;

fn read(frame: &[u8]) -> TcpPacket<'_> {
    let view = FrameView::new(LinkType::Ethernet, frame, frame.len() as u32);
    assert_eq!(view.anomaly(), None);
    view.tcp().expect("all are TCP")
}

/// The sender's clock and its echo.
fn clocks(frame: &[u8]) -> (u32, u32) {
    let stamps = read(frame).options().find_map(|option| match option {
        TcpOption::Timestamps { value, echo } => Some((value, echo)),
        _ => None,
    });
    stamps.expect("all but the RST have timestamps")
}

fn scale(frame: &[u8]) -> Option<u8> {
    read(frame).options().find_map(|option| match option {
        TcpOption::WindowScale(shift) => Some(shift),
        _ => None,
    })
}

/// Flags, window and data as the dumps have them.
#[test]
fn every_dump_is_read() {
    let (ack, fin_ack) = (TcpFlags::ACK, TcpFlags::FIN | TcpFlags::ACK);
    let urgent = TcpFlags::PSH | TcpFlags::ACK | TcpFlags::URG;
    for (frame, flags, window, data) in [
        (&KEEP_ALIVE[..], ack, 229, &[][..]),
        (&FIN_WITHOUT_LINGER, fin_ack, 229, &[]),
        (&ACK_WITHOUT_LINGER, ack, 331, &[]),
        (&FIN_WITH_LINGER, fin_ack, 229, &[]),
        (&ACK_WITH_LINGER, ack, 331, &[]),
        (&RESET, TcpFlags::RST, 0, &[]),
        (&URGENT, urgent, 229, &[1]),
        (&SYN_1024, TcpFlags::SYN, 14_600, &[]),
        (&SYN_ACK_4096, TcpFlags::SYN | TcpFlags::ACK, 2_896, &[]),
        (&GROWN_65536, ack, 32_044, &[]),
        (&DOWNLOAD_65536, ack, 1_536, &[]),
        (&DOWNLOAD_1024, ack, 27, &[]),
    ] {
        let tcp = read(frame);
        assert_eq!((tcp.flags(), tcp.window(), tcp.payload()), (flags, window, data), "{tcp:?}");
        assert!(tcp.ip().header_checksum_is_right(), "{tcp:?}");
        // Sent by the machine that captured: the card had yet to complete the checksum.
        let of_server = tcp.src_port() == 8_811;
        let sum = if of_server { ChecksumState::Partial } else { ChecksumState::Right };
        assert_eq!(tcp.checksum_state(), sum, "{tcp:?}");
        assert!(of_server || tcp.dst_port() == 8_811);
    }
}

/// "Default Keep-Alive interval in Android is two hours": the dumps' own clocks measure it.
///
/// Between the FINs of tests 2a and 2b both machines' clocks ran: the server's, in milliseconds,
/// gives the tablet's tick. From 2a to the keep-alive the tablet's clock ran two hours longer than
/// the server's as last echoed, which is how long the server had been silent.
#[test]
fn the_keep_alive_came_two_hours_after_the_last_word() {
    let since = |later: u32, earlier: u32| f64::from(later.wrapping_sub(earlier));
    let (tablet, server) = clocks(&FIN_WITHOUT_LINGER);
    let (tablet_later, server_later) = clocks(&FIN_WITH_LINGER);
    let tick = since(server_later, server) / since(tablet_later, tablet);
    assert!((4.99..5.01).contains(&tick), "a tick of {tick} ms: HZ is not 200");
    let (sent, heard) = clocks(&KEEP_ALIVE);
    let silent = (since(sent, tablet) * 5.0 - since(heard, server)) / 1000.0;
    assert!((7_195.0..7_230.0).contains(&silent), "silent for {silent} s");
    // A pure ACK, without the garbage byte of old (RFC 1122 section 4.2.3.6). The text does not
    // show the packets that would make its number one below the next.
    assert_eq!(read(&KEEP_ALIVE).sequence_len(), 0);
}

/// A FIN takes one number and is acknowledged at once whatever SO_LINGER says; how long close()
/// waits, no packet shows.
#[test]
fn both_fins_are_acknowledged() {
    for (fin, ack) in
        [(&FIN_WITHOUT_LINGER, &ACK_WITHOUT_LINGER), (&FIN_WITH_LINGER, &ACK_WITH_LINGER)]
    {
        let (fin_at, seen) = clocks(fin);
        let (answered_at, echo) = clocks(ack);
        let (fin, ack) = (read(fin), read(ack));
        assert_eq!(fin.sequence_len(), 1);
        assert_eq!(ack.ack(), fin.seq().advanced_by(1));
        assert_eq!(fin.ack(), ack.seq());
        assert_eq!(echo, fin_at);
        // From the server's last packet that the tablet had seen to its answer, in milliseconds.
        assert!((40..60).contains(&answered_at.wrapping_sub(seen)));
    }
}

/// "Forcefully closed with RST packet (red), without waiting for ACK": the RST that is printed is
/// not the one that the close sent. That one acknowledges and has a number in its IP header
/// (`tcp_send_active_reset`); this has neither, and begins where the segment that it answers
/// acknowledged: it is what a socket that no longer exists answers (RFC 9293 section 3.10.7.1).
#[test]
fn the_reset_is_an_answer() {
    let tcp = read(&RESET);
    assert_eq!(tcp.flags(), TcpFlags::RST);
    assert_eq!((tcp.ack(), tcp.ip().id()), (SeqNumber::new(0), Some(0)));
    assert_eq!(tcp.options().count(), 0);
}

/// The pointer says behind which byte the urgent data end (RFC 6093 section 3.1). "Data byte sent
/// was '1'": it was the number 1, not the digit, which is 0x31.
#[test]
fn the_urgent_byte_is_a_number() {
    let tcp = read(&URGENT);
    assert!(tcp.flags().contains(TcpFlags::URG | TcpFlags::PSH));
    assert_eq!((tcp.urgent_pointer(), tcp.payload()), (1, &[1][..]));
    assert_ne!(tcp.payload(), b"1");
}

/// "TCP window size was set at 14600 in the initial SYN packet and the scale factor was set at 6",
/// "229 × 64 = 14656", "2896 bytes in SYN/ACK", "64088 bytes (32044x2)", "98304 bytes (1536x64)",
/// "1728 bytes (27x64)". All are what the bytes say, with the scales of the text where only the
/// handshake has them.
#[test]
fn windows_are_what_the_text_says() {
    assert_eq!((read(&SYN_1024).window(), scale(&SYN_1024)), (14_600, Some(6)));
    assert_eq!(u32::from(read(&KEEP_ALIVE).window()) << 6, 14_656);
    // What the text leaves out: the server's own scale is 0 here, so its window stays below 64 KiB.
    assert_eq!((read(&SYN_ACK_4096).window(), scale(&SYN_ACK_4096)), (2_896, Some(0)));
    assert_eq!(u32::from(read(&GROWN_65536).window()) << 1, 64_088);
    assert_eq!(u32::from(read(&DOWNLOAD_65536).window()) << 6, 98_304);
    assert_eq!(u32::from(read(&DOWNLOAD_1024).window()) << 6, 1_728);
    // The first windows are two and ten full segments. The largest is half of 131072, which the
    // kernel of that time kept for data, less one full segment that nobody had read yet.
    assert_eq!((2 * 1_448, 10 * 1_448, 131_072 / 2 - 1_448), (2_896, 14_480, 64_088));
}

/// "Android Client IP is 192.168.0.106": from test 4 on it is not. The packets of the transfers
/// come from the router's public address, by the router's own card, with one hop less to live:
/// tablet and server spoke through the router's address translation, which the earlier tests did
/// not, and the text never says so.
#[test]
fn the_transfers_went_through_the_router() {
    let (tablet, router) =
        ([0x6c, 0xb7, 0xf4, 0x71, 0x14, 0x15], [0, 0x26, 0x5a, 0xca, 0xfa, 0x17]);
    let (home, public) = (Ipv4Addr::new(192, 168, 0, 106), Ipv4Addr::new(24, 86, 116, 244));
    let from_tablet = [&KEEP_ALIVE[..], &FIN_WITHOUT_LINGER, &FIN_WITH_LINGER, &RESET, &URGENT];
    let from_router = [&SYN_1024[..], &DOWNLOAD_65536, &DOWNLOAD_1024];
    for (frames, card, address, ttl) in
        [(&from_tablet[..], tablet, home, 64), (&from_router, router, public, 63)]
    {
        for frame in frames {
            let tcp = read(frame);
            assert_eq!((&frame[6..12], tcp.ip().ttl()), (&card[..], ttl));
            assert_eq!(tcp.src(), IpAddr::V4(address));
        }
    }
    for frame in [&SYN_ACK_4096[..], &GROWN_65536] {
        assert_eq!((&frame[..6], read(frame).dst()), (&router[..], IpAddr::V4(public)));
    }
}
