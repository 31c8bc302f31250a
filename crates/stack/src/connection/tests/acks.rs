//! When the receiving end answers, and with what window.

use tcplab_units::{Bytes, Span};

use super::peer::Bench;
use super::*;

const MSS: u32 = 1460;

/// A connection that is past its quick acknowledgements.
fn settled(config: &Config) -> (Bench, i32) {
    let mut bench = Bench::established(config);
    let mut next = 1;
    for _ in 0..40 {
        bench.hear(".", next, 1, MSS);
        next += MSS as i32;
        bench.read_all();
        bench.wait(1);
    }
    // Not so long that acknowledgements were quick again.
    bench.wait(100);
    bench.forget();
    (bench, next)
}

/// `TCP_MAX_QUICKACKS`: sixteen at once, fewer if the window is small; then every second.
#[test]
fn ack_of_first_segments_leaves_at_once() {
    // A window that need not grow: as long as it does, acknowledgements announce it.
    let config = changed(count_bytes);
    let mut bench = Bench::established(&config);
    let mut acknowledged = vec![];
    for n in 0..30 {
        bench.hear(".", 1 + n * MSS as i32, 1, MSS);
        bench.read_all();
        acknowledged.push(!bench.forget().is_empty());
    }
    assert_eq!(acknowledged[..16], [true; 16]);
    let rest = acknowledged[16..].iter().filter(|ack| **ack).count();
    assert!((7..=8).contains(&rest), "{acknowledged:?}");
}

#[test]
fn ack_of_every_second_segment_leaves_rest_is_delayed() {
    let (mut bench, next) = settled(&Config::default());
    bench.hear(".", next, 1, MSS);
    bench.read_all();
    bench.wait(10);
    assert!(bench.sent.is_empty());
    bench.hear(".", next + MSS as i32, 1, MSS);
    // Sooner or later, by whether reading is what makes the window move on.
    bench.read_all();
    assert_eq!(bench.causes, [SendCause::Ack]);
    bench.forget();
    bench.hear(".", next + 2 * MSS as i32, 1, MSS);
    // 40 ms, and a tick.
    bench.wait(39);
    assert!(bench.sent.is_empty());
    bench.wait(6);
    assert_eq!(bench.causes, [SendCause::DelayedAck]);
}

#[test]
fn ack_delay_of_other_stacks_differs() {
    for (change, segments, acks) in [
        (&(|c: &mut Config| c.acks.delayed = false) as &dyn Fn(&mut Config), 8, 8),
        (&|c: &mut Config| c.acks.every = 4, 8, 2),
        (&|c: &mut Config| c.acks.stretch = Some((20, 8)), 16, 2),
        (&|c: &mut Config| c.acks.every = 1, 5, 5),
    ] {
        let mut config = Config::default();
        config.acks.quick = 0;
        config.acks.delay = [Span::from_millis(100); 2];
        change(&mut config);
        let (mut bench, next) = settled(&config);
        for n in 0..segments {
            bench.hear(".", next + n * MSS as i32, 1, MSS);
            bench.read_all();
        }
        assert_eq!(bench.sent.len(), acks, "{:?}", bench.sent);
    }
}

/// RFC 5681 section 4.2: out of order, and what fills a gap, is acknowledged at once; RFC 2018:
/// what was received; RFC 2883: what was received twice.
#[test]
fn gap_and_its_end_are_reported() {
    // As long as the window grows, acknowledgements are quick and none is held back.
    let config = changed(count_bytes);
    let (mut bench, next) = settled(&config);
    let at = |n: i32| next + n * 100;
    let mut reported = |start: i32| {
        bench.hear(".", at(start), 1, 100);
        let text = bench.forget().join("; ");
        let ack = text.split(" win").next().and_then(|t| t.split("ack ").nth(1)).map(str::to_owned);
        let blocks = text.split("sack ").nth(1).unwrap_or("").trim_end_matches('>').to_owned();
        (ack.map(|ack| ack.parse::<i32>().unwrap()), blocks)
    };
    let block = |from: i32, to: i32| format!("{}:{}", at(from), at(to));
    assert_eq!(reported(2), (Some(next), block(2, 3)));
    assert_eq!(reported(4), (Some(next), format!("{} {}", block(4, 5), block(2, 3))));
    assert_eq!(reported(3), (Some(next), block(2, 5)));
    // A duplicate: reported first, with the block it belongs to. From the fourth on they are held
    // back for a while (`tcp_comp_sack_delay_ns`), except what was not expected.
    let twice = format!("{} {}", block(3, 4), block(2, 5));
    bench.hear(".", at(3), 1, 100);
    assert!(bench.sent.is_empty());
    bench.wait(2);
    assert!(bench.forget()[0].ends_with(&format!("sack {twice}>")));
    bench.hear(".", at(0), 1, 100);
    bench.hear(".", at(1), 1, 100);
    let sent = bench.forget();
    assert!(sent.last().unwrap().contains(&format!("ack {}", at(5))), "{sent:?}");
    // Below what is expected.
    bench.hear(".", at(1), 1, 100);
    assert!(bench.forget()[0].ends_with(&format!("sack {}>", block(1, 2))));
}

#[test]
fn old_haiku_out_of_order_ack_is_delayed() {
    let mut config = Config::default();
    config.acks.quick = 0;
    config.acks.out_of_order_at_once = false;
    config.acks.delay = [Span::from_millis(100); 2];
    let (mut bench, next) = settled(&config);
    bench.hear(".", next + 1460, 1, MSS);
    assert!(bench.sent.is_empty());
    bench.hear(".", next + 2 * 1460, 1, MSS);
    assert_eq!(bench.causes, [SendCause::DuplicateAck]);
    bench.hear(".", next + 3 * 1460, 1, MSS);
    bench.wait(106);
    assert_eq!(bench.causes[1..], [SendCause::DelayedAck]);
}

/// The window closes as the buffer fills, never shrinks, and its opening is announced when it is
/// worth it (RFC 9293 section 3.8.6.2.2).
#[test]
fn window_follows_reader() {
    let mut config = Config::default();
    config.receiving.buffer = [Bytes::new(20_000); 2];
    config.receiving.tuning = crate::config::ReceiveTuning::None;
    count_bytes(&mut config);
    config.handshake.window_scale = None;
    let mut bench = Bench::established(&config);
    let mut next = 1;
    let mut edge = 18_981;
    let window = |bench: &mut Bench| -> i32 {
        let text = bench.forget().pop().expect("an acknowledgement");
        text.split("win ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    while next < edge {
        let len = (MSS as i32).min(edge - next);
        bench.hear(".", next, 1, len as u32);
        next += len;
        bench.wait(300);
        let offered = next + window(&mut bench);
        assert!(offered >= edge, "the window shrank: {offered} after {edge}");
        edge = offered;
    }
    // Less than a segment is left.
    assert!(edge > 20_001 - MSS as i32 && edge <= 20_001, "{edge}");
    // Full: the segment is dropped and answered with an ACK.
    bench.hear(".", next, 1, 100);
    assert_eq!(window(&mut bench), 0);
    assert_eq!(bench.connection.unread().as_u64(), edge as u64 - 1);
    let mut small = [0; 100];
    bench.connection.read(bench.now, &mut small).unwrap();
    bench.poll();
    assert!(bench.sent.is_empty(), "a silly window");
    let mut half = [0; 10_000];
    bench.connection.read(bench.now, &mut half).unwrap();
    bench.poll();
    assert_eq!(bench.causes, [SendCause::WindowUpdate]);
    assert!(window(&mut bench) >= 10_000 / 1460 * 1460);
}

/// The initial window grows by two segments with each that arrives (`tcp_grow_window`), and the
/// buffer with what is read (`tcp_rcv_space_adjust`).
#[test]
fn window_of_fast_reader_grows() {
    use crate::config::ReceiveTuning::{Linux612, Linux618};
    for tuning in [Linux612, Linux618] {
        let config = changed(|config| config.receiving.tuning = tuning);
        let mut bench = Bench::established(&config);
        let first = bench.connection.info(bench.now);
        let mut next = 1;
        for _round in 0..10 {
            // A windowful, and a round trip.
            let window = bench.connection.info(bench.now).rcv_wnd;
            for _ in 0..window / u64::from(MSS) {
                bench.hear(".", next, 1, MSS);
                next += MSS as i32;
                bench.read_all();
            }
            bench.wait(20);
        }
        let last = bench.connection.info(bench.now);
        assert!(last.rcv_wnd > 10 * first.rcv_wnd, "{tuning:?}: {} B", last.rcv_wnd);
        assert!(bench.connection.receive_buffer() <= config.receiving.buffer[1]);
        assert_eq!(last.rcv_mss, MSS);
        assert_eq!(last.rcv_rtt, Span::from_millis(20), "{tuning:?}");
    }
}

/// Echoes tell the receiver's RTT while the connection is established (`tcp_rcv_established`), not
/// once this end has closed (`tcp_rcv_state_process`).
#[test]
fn closing_connection_measures_no_rtt_by_echoes() {
    for (closes, rtt) in [(false, 30), (true, 0)] {
        let mut bench = Bench::connecting(&Config::default());
        bench.clock = Some(1);
        bench.hear_syn_ack();
        if closes {
            bench.connection.shutdown(bench.now);
            bench.poll();
            bench.hear(".", 1, 2, 0);
        }
        bench.wait(30);
        let mut data = Bench::segment(".", 1, 1 + i32::from(closes), 1_448);
        data.header.timestamps = Some((1, 20_000));
        bench.hear_raw(&data);
        assert_eq!(bench.connection.info(bench.now).rcv_rtt, Span::from_millis(rtt), "{closes}");
    }
}

/// Sixteen acknowledgements are quick after a segment that is not acceptable; its own answer is
/// none of them (`tcp_send_dupack`).
#[test]
fn sixteen_acks_are_quick_behind_old_segment() {
    // A window that need not grow: as long as it does, acknowledgements announce it.
    let (mut bench, mut next) = settled(&changed(count_bytes));
    bench.hear(".", 1, 1, MSS);
    assert_eq!(bench.forget().len(), 1);
    let mut quick = 0;
    loop {
        bench.hear(".", next, 1, MSS);
        next += MSS as i32;
        bench.read_all();
        if bench.forget().is_empty() {
            break;
        }
        quick += 1;
    }
    assert_eq!(quick, 16);
}

/// Of a buffer tuned to 724,992 bytes the window becomes 160 of 256, since a full segment of 1448
/// bytes is charged 2304, less the segment that it grows with (`tcp_grow_window`). Linux 6.18
/// offers 453,120, so without that.
#[test]
fn window_is_bounded_by_buffer() {
    let config = changed(|config| config.receiving.buffer[1] = Bytes::new(724_992));
    let mut bench = Bench::connecting(&config);
    bench.clock = Some(1);
    bench.hear_syn_ack();
    let mut next = 1;
    for _round in 0..20 {
        let window = bench.connection.info(bench.now).rcv_wnd;
        for _ in 0..window / 1_448 {
            bench.hear(".", next, 1, 1_448);
            next += 1_448;
            bench.read_all();
        }
        bench.wait(20);
    }
    assert_eq!(bench.connection.receive_buffer(), Bytes::new(724_992));
    // Scaled by 7, for `net.core.rmem_max`; Linux 6.18 offers that shift.
    let window: u64 = (724_992 - 2_304) * 160 / 256;
    assert_eq!(bench.connection.info(bench.now).rcv_wnd, window.next_multiple_of(128));
}

/// Many tiny segments take more memory than their bytes: what was promised is not broken, but
/// squeezed.
#[test]
fn tiny_segments_fill_buffer() {
    let config = changed(|config| config.receiving.buffer = [Bytes::new(20_000); 2]);
    let mut bench = Bench::established(&config);
    for n in 0..5_000 {
        bench.hear(".", 1 + n, 1, 1);
    }
    let unread = bench.connection.unread().as_u64();
    assert!(unread >= 1_000, "{unread} B");
    assert_eq!(bench.read_all() as u64, unread);
}
