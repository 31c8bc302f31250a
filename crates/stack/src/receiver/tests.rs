use proptest::prelude::*;
use tcplab_wire::SeqNumber;

use super::*;

const MSS: u32 = 1448;
const RTO: Span = Span::from_millis(200);

fn receiver(config: &Config) -> Receiver {
    let mut receiver = Receiver::new(config, Jiffies::new(&config.host));
    receiver.window.open(MSS, 1460, config.handshake.window_scale, None);
    receiver.start();
    receiver.sack = true;
    receiver.establish(Instant::ZERO, MSS, MSS);
    receiver
}

fn segment(start: u64, data: &Data) -> Arriving<'_> {
    Arriving {
        start,
        data,
        fin: false,
        push: false,
        plain: true,
        header: 32,
        joined: None,
        ecn: Ecn::NotEct,
    }
}

/// `tcp_select_initial_window` worked by hand: half of the buffer, whole segments; the scale for
/// the largest buffer, or for `net.core.rmem_max` (4 MiB), 15 bits less than its logarithm.
#[test]
fn window_at_start_has_linux_scale() {
    for (buffer, largest, share, mss, window, scale) in [
        // The defaults of 6.18 and of 6.12: 45 · 1448 of 65,536 B.
        (131_072, 33_554_432, 128, 1448, 65_160, 10),
        (131_072, 6_291_456, 128, 1448, 65_160, 7),
        (131_072, 6_291_456, 128, 1460, 64_240, 7),
        // One segment does not fit: no rounding.
        (2_304, 2_304, 128, 1448, 1_152, 7),
        // All of the buffer is window.
        (370_688, 370_688, 256, 1448, 370_688 / 1448 * 1448, 7),
    ] {
        let mut config = Config::default();
        config.receiving.buffer = [Bytes::new(buffer), Bytes::new(largest)];
        config.receiving.window_share = share;
        let mut receiver = Receiver::new(&config, Jiffies::new(&config.host));
        receiver.window.open(mss, 1460, Some(0), None);
        let found = (receiver.window.offered, receiver.window.scale);
        assert_eq!(found, (window, scale), "{buffer} of {largest} B");
    }
}

/// One segment of the buffer is kept back (`tcp_init_buffer_space`), and the share follows the
/// segments: 1448 of 2304 bytes are 160 of 256.
#[test]
fn window_share_follows_segment_size() {
    let mut receiver = receiver(&Config::default());
    assert_eq!(receiver.window.threshold, 65_536 - 1_448);
    let full = Data::copy_of(&[0; MSS as usize]);
    receiver.receive(Instant::ZERO, &segment(1, &full), RTO);
    assert_eq!(receiver.window.peer_mss, MSS);
    assert_eq!(receiver.window.of_memory(131_072), 131_072 * 160 / 256);
    // And the window grows by two segments.
    assert_eq!(receiver.window.threshold, 65_536 - 1_448 + 2 * 1_448);
    assert_eq!(receiver.memory(), 2_304);
}

/// `tcp_measure_rcv_mss` does not cut the clamp to what the field can say, only what is sent is cut
/// (`tcp_select_window`): without scaling the window opens to 65,535 B.
#[test]
fn window_without_scale_opens_to_whole_field() {
    let mut config = Config::default();
    config.handshake.window_scale = None;
    let mut receiver = receiver(&config);
    let full = Data::copy_of(&[0; MSS as usize]);
    let mut field = 0;
    for nth in 0..10 {
        let start = 1 + nth * u64::from(MSS);
        receiver.receive(Instant::ZERO, &segment(start, &full), RTO);
        while receiver.take(Instant::ZERO, MSS, false).is_some() {}
        field = receiver.offer_window();
    }
    assert_eq!(receiver.window.clamp, 131_072 * 160 / 256);
    assert_eq!(field, 65_535);
}

/// As `ss -m` showed them on a TUN device of Linux 6.18.
#[test]
fn segment_memory_is_charged_in_blocks() {
    let receiver = receiver(&Config::default());
    let charged = [1_448, 500, 100].map(|len| receiver.window.charge_of(len).memory);
    assert_eq!(charged, [2_304, 1_280, 832]);
}

/// With the least block of a kernel that knows wireless LANs.
fn with_larger_blocks() -> Receiver {
    let mut config = Config::default();
    config.sending.header_room = 320;
    receiver(&config)
}

/// What fits behind the data of the last segment is copied there and costs nothing; the block is
/// released with its last byte (`skb_try_coalesce`).
#[test]
fn small_segments_share_memory() {
    // A block of 704 B with 320 and headers of 116 has room for two of 100 B, one of 2048 B for two
    // of 800 B.
    for (len, blocks) in [(100, [960, 960, 1_920]), (800, [2_304, 2_304, 4_608])] {
        // Behind a gap as well: what fills it is as small.
        for order in [[0, 1, 2], [1, 2, 0]] {
            let mut receiver = with_larger_blocks();
            let data = Data::copy_of(&vec![0; len]);
            let charged = order.map(|place| {
                let start = 1 + place * len as u64;
                receiver.receive(Instant::ZERO, &segment(start, &data), RTO);
                receiver.memory()
            });
            assert_eq!(charged, blocks, "{len} {order:?}");
            let left = [(); 3].map(|()| {
                receiver.take(Instant::ZERO, len as u32, false);
                receiver.memory()
            });
            assert_eq!(left, [blocks[2], blocks[0], 0], "{len} {order:?}");
        }
    }
}

/// Queues are squeezed from the first block on that holds less than window was offered for it
/// (`tcp_collapse`): here 300 bytes in two blocks go into one.
#[test]
fn squeezed_queue_keeps_blocks_that_are_full() {
    let mut receiver = with_larger_blocks();
    let mut next = 1;
    for len in [1_448, 1_448, 100, 100, 100, 100] {
        let data = Data::copy_of(&vec![0; len]);
        receiver.receive(Instant::ZERO, &segment(next, &data), RTO);
        next += len as u64;
    }
    assert_eq!(receiver.memory(), 2 * 2_304 + 2 * 960);
    receiver.collapse();
    assert_eq!(receiver.memory(), 2 * 2_304 + 960);
    while receiver.take(Instant::ZERO, u32::MAX, false).is_some() {}
    assert_eq!((receiver.queue.read, receiver.memory()), (next, 0));
}

/// An application's buffer is all that the window will ever be (`tcp_select_initial_window`): 64
/// KiB need no scale, as Linux 6.18 answered a SYN. One that nobody set may be set yet, to as much
/// as `net.core.rmem_max` allows.
#[test]
fn window_scale_follows_set_buffer() {
    for (locked, scale) in [(true, 0), (false, 7)] {
        let mut config = Config::default();
        config.receiving.buffer = [Bytes::new(65_536); 2];
        config.receiving.locked = locked;
        let mut receiver = Receiver::new(&config, Jiffies::new(&config.host));
        receiver.window.open(MSS, 1460, Some(0), None);
        assert_eq!((receiver.window.offered, receiver.window.scale), (31_856, scale));
    }
}

/// What does not fit drops the end of the out-of-order queue, an eighth of the buffer at least, and
/// the SACK blocks (`tcp_prune_ofo_queue`); what would lie last is dropped itself.
#[test]
fn gap_without_room_drops_eighth_of_buffer() {
    let mut config = Config::default();
    config.receiving.buffer = [Bytes::new(20_000); 2];
    config.receiving.locked = true;
    let mut receiver = receiver(&config);
    let small = Data::copy_of(&[0; 100]);
    let place = |nth: u64| 1_001 + 200 * nth;
    // 832 B each, as long as the buffer is not exceeded: 25 take 20,800 B.
    for nth in 0..30 {
        receiver.receive(Instant::ZERO, &segment(place(nth), &small), RTO);
    }
    assert_eq!((receiver.assembler.len(), receiver.memory()), (25, 25 * 832));
    receiver.receive(Instant::ZERO, &segment(501, &small), RTO);
    // An eighth are 2,500 B: four went.
    assert_eq!((receiver.assembler.len(), receiver.memory()), (22, 22 * 832));
    assert_eq!(receiver.assembler.end(), Some(place(20) + 100));
}

/// Small segments are the peer's full size once two of them in a row are.
#[test]
fn peer_mss_is_learnt() {
    let mut receiver = receiver(&Config::default());
    let mut next = 1;
    let mut sizes = vec![];
    for len in [100, 1448, 1000, 1000, 1200, 300, 300] {
        let data = Data::copy_of(&vec![0; len]);
        receiver.receive(Instant::ZERO, &segment(next, &data), RTO);
        next += len as u64;
        sizes.push(receiver.window.peer_mss);
    }
    assert_eq!(sizes, [536, 1448, 1448, 1000, 1200, 1200, 300]);
}

proptest! {
    /// Whatever arrives and however it is read: bytes come out as they went in, memory is given
    /// back, and the right edge of the window never moves to the left.
    #[test]
    fn receiver_data_in_order_keeps_window_edge(
        buffer in 3_000u64..100_000,
        overhead in prop_oneof![Just(0u32), Just(696)],
        tuning in prop_oneof![
            Just(ReceiveTuning::None),
            Just(ReceiveTuning::Linux612),
            Just(ReceiveTuning::Linux618),
        ],
        counted in prop::option::of(3u32..20),
        steps in prop::collection::vec((0u64..30, 1u64..20, any::<bool>(), 0u32..6_000), 1..200),
    ) {
        let mut config = Config::default();
        config.receiving.buffer = [Bytes::new(buffer), Bytes::new(10 * buffer)];
        config.receiving.segment_overhead = overhead;
        config.receiving.tuning = tuning;
        config.receiving.segments = counted;
        let mut receiver = receiver(&config);
        let scale = receiver.window.scale;
        let (mut read, mut edge, mut now) = (1, 0, Instant::ZERO);
        for (ahead, len, reads, most) in steps {
            now += Span::from_millis(1);
            // From a little before what is expected to some way behind it.
            let start = (receiver.next() + ahead * 100).saturating_sub(300).max(1);
            let bytes = (start..start + len * 100).map(|at| ((at * 7) >> 3) as u8);
            let bytes: Vec<u8> = bytes.collect();
            let data = Data::copy_of(&bytes);
            if receiver.is_acceptable(start, start + len * 100, false) {
                receiver.receive(now, &segment(start, &data), RTO);
            }
            // A receiver that has no memory left takes its word back (`ICSK_ACK_NOMEM`).
            let breaks_word = receiver.no_memory;
            let window = u64::from(receiver.offer_window()) << scale;
            prop_assert!(breaks_word || receiver.next() + window + (1 << scale) > edge);
            edge = receiver.next() + window;
            while reads && let Some(data) = receiver.take(now, most.max(1), false) {
                for byte in data.as_slice() {
                    prop_assert_eq!(*byte, ((read * 7) >> 3) as u8, "at {}", read);
                    read += 1;
                }
                receiver.after_read(u64::from(data.len()));
            }
        }
        while receiver.take(now, u32::MAX, false).is_some() {}
        prop_assert_eq!(receiver.memory() - receiver.assembler.memory(), 0);
    }
}

#[test]
fn receiver_early_fin_waits() {
    let mut receiver = receiver(&Config::default());
    let data = Data::copy_of(&[1; 100]);
    let fin = Arriving { fin: true, ..segment(101, &data) };
    assert!(!receiver.receive(Instant::ZERO, &fin, RTO).closed);
    assert_eq!(receiver.highest_block(), Some(202));
    assert!(receiver.receive(Instant::ZERO, &segment(1, &data), RTO).closed);
    assert_eq!(receiver.next(), 202);
    assert!(receiver.is_finished() && receiver.unread() == 200);
}

/// A peer that sends data where it said that its stream ends.
#[test]
fn receiver_fin_passed_by_data_is_forgotten() {
    let mut receiver = receiver(&Config::default());
    let data = Data::copy_of(&[1; 100]);
    let fin = Arriving { fin: true, ..segment(101, &data) };
    assert!(!receiver.receive(Instant::ZERO, &fin, RTO).closed);
    let longer = Data::copy_of(&[1; 300]);
    assert!(!receiver.receive(Instant::ZERO, &segment(1, &longer), RTO).closed);
    assert_eq!((receiver.next(), receiver.ahead()), (301, 0));
    let behind_gap = segment(401, &data);
    assert!(!receiver.receive(Instant::ZERO, &behind_gap, RTO).closed);
    assert_eq!((receiver.next(), receiver.ahead()), (301, 200));
}

/// Where segments are counted a byte costs as much as a full one, and the window is whole segments.
#[test]
fn receiver_counted_segments_close_window() {
    let mut config = Config::default();
    config.receiving.segments = Some(5);
    config.receiving.segment_overhead = 0;
    config.receiving.window_share = 256;
    config.receiving.tuning = ReceiveTuning::None;
    config.handshake.window_scale = None;
    let mut receiver = receiver(&config);
    let byte = Data::copy_of(b"x");
    let mut windows = vec![];
    for n in 0..6 {
        receiver.receive(Instant::ZERO, &segment(1 + n, &byte), RTO);
        let (possible, _) = receiver.window.possible(receiver.memory(), receiver.free_segments());
        windows.push(possible);
    }
    assert_eq!(receiver.unread(), 5);
    // 4, 3, 2, 1 segments of 1448 bytes, in the peer's size of 536 at first.
    let whole = |segments: u64| segments * 1448 / 536 * 536;
    assert_eq!(windows, [whole(4), whole(3), whole(2), whole(1), 0, 0]);
}

#[test]
fn sack_option_has_sequence_numbers() {
    let mut receiver = receiver(&Config::default());
    let data = Data::copy_of(&[1; 100]);
    receiver.receive(Instant::ZERO, &segment(201, &data), RTO);
    receiver.receive(Instant::ZERO, &segment(201, &data), RTO);
    let numbers = SeqUnwrapper::new(SeqNumber::new(u32::MAX - 200));
    let reported = format!("{:?}", receiver.sack_option(&numbers, 3));
    assert_eq!(reported, "[(0, 100), (0, 100)]");
    // A duplicate is reported once.
    assert_eq!(format!("{:?}", receiver.sack_option(&numbers, 3)), "[(0, 100)]");
}
