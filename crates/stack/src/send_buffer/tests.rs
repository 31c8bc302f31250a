use proptest::prelude::*;

use super::*;

fn plain(capacity: u64) -> SendBuffer {
    let mut config = Config::default();
    config.sending.charges_memory = false;
    config.sending.buffer = [Bytes::new(capacity); 2];
    SendBuffer::new(&config)
}

/// Writes chunk after chunk, as a socket does.
fn write(buffer: &mut SendBuffer, data: &Data, sent: u64, mss: u32, goal: u32, more: bool) -> u32 {
    let mut accepted = 0;
    while accepted < data.len() {
        let manner = Manner { sent, mss, goal, more, goes_on: accepted > 0 };
        let taken = buffer.append(Offered::Shared(data), accepted, manner);
        if taken == 0 {
            break;
        }
        accepted += taken;
    }
    if accepted < data.len() {
        buffer.set_full();
    }
    accepted
}

fn numbers(range: std::ops::Range<u32>) -> Data {
    Data::copy_of(&range.map(|n| n as u8).collect::<Vec<_>>())
}

#[test]
fn send_buffer_without_memory_charge_counts_bytes() {
    let mut buffer = plain(1000);
    assert_eq!(write(&mut buffer, &numbers(0..600), 1, 100, 1000, false), 600);
    assert!(!buffer.is_full());
    assert_eq!(write(&mut buffer, &numbers(600..1200), 1, 100, 1000, false), 400);
    assert!(buffer.is_full() && !buffer.is_writable());
    assert_eq!((buffer.len(), buffer.charged(), buffer.end()), (1000, 1000, 1001));
    buffer.release(301);
    assert!(buffer.is_writable());
    assert_eq!(write(&mut buffer, &numbers(1000..1600), 1001, 100, 1000, false), 300);
}

/// `sk_stream_memory_free` is asked before each buffer and no more: 16,384 B take one of 14,480
/// and, as 15,312 are then charged, another; 30,624 B are full.
#[test]
fn send_buffer_charges_memory_by_chunk() {
    let mut buffer = SendBuffer::new(&Config::default());
    let data = Data::copy_of(&vec![0; 100_000]);
    assert_eq!(write(&mut buffer, &data, 1, 1448, 14_480, false), 28_960);
    assert_eq!(buffer.charged(), 2 * (14_480 + 832));
    assert!(!buffer.is_writable());
    // Writable again with a third free, which is not so after the first of the two.
    buffer.release(1 + 14_480);
    assert_eq!(buffer.charged(), 15_312);
    assert!(!buffer.is_writable());
    buffer.release(1 + 28_960);
    assert!(buffer.is_writable());
}

#[test]
fn send_buffer_counting_segments_charges_small_as_one() {
    let mut config = Config::default();
    config.sending.charges_memory = false;
    config.sending.segments = Some(5);
    config.sending.buffer = [Bytes::new(100_000); 2];
    let mut buffer = SendBuffer::new(&config);
    let byte = Data::copy_of(b"x");
    // What was sent is not added to.
    for sent in 1..=5 {
        assert_eq!(write(&mut buffer, &byte, sent, 512, 512, false), 1);
        assert_eq!(write(&mut buffer, &Data::default(), sent + 1, 512, 512, false), 0);
    }
    assert_eq!(write(&mut buffer, &byte, 6, 512, 512, false), 0);
    assert!(buffer.is_full());
    buffer.release(2);
    assert_eq!(write(&mut buffer, &Data::copy_of(&[0; 2000]), 6, 512, 512, false), 512);
}

#[test]
fn send_buffer_end_of_write_is_pushed() {
    let mut buffer = plain(100_000);
    write(&mut buffer, &numbers(0..100), 1, 1000, 10_000, false);
    assert!(buffer.is_pushed_at(101));
    // Not sent: what follows joins it.
    write(&mut buffer, &numbers(0..100), 1, 1000, 10_000, true);
    assert!(!buffer.is_pushed_at(101) && !buffer.is_pushed_at(201));
    buffer.push();
    assert!(buffer.is_pushed_at(201));
    // Sent: what follows is a chunk of its own.
    write(&mut buffer, &numbers(0..100), 201, 1000, 10_000, false);
    assert!(buffer.is_pushed_at(201) && buffer.is_pushed_at(301) && !buffer.is_pushed_at(250));
}

/// What is cut off by a window becomes a chunk of its own, which may still grow.
#[test]
fn send_buffer_chunk_splits_where_sending_stops() {
    let mut buffer = SendBuffer::new(&Config::default());
    let data = Data::copy_of(&vec![0; 16_000]);
    assert_eq!(write(&mut buffer, &data, 1, 1000, 16_000, false), 16_000);
    buffer.mark_sent(1, 10_001, 1000);
    assert_eq!(buffer.charged(), 16_000 + 2 * 832);
    assert!(!buffer.is_pushed_at(10_001) && buffer.is_pushed_at(16_001));
    assert_eq!(write(&mut buffer, &data.part(0..10_000), 10_001, 1000, 16_000, false), 10_000);
    assert_eq!(buffer.charged(), 26_000 + 2 * 832);
    assert!(!buffer.is_pushed_at(16_001) && buffer.is_pushed_at(26_001));
}

proptest! {
    /// Whatever is written in whatever pieces, each segment shows the bytes of its positions.
    #[test]
    fn send_buffer_segments_contain_stream(
        writes in prop::collection::vec(1u32..300, 1..40),
        cuts in prop::collection::vec((0u32..100, 1u32..500), 1..40),
    ) {
        let mut buffer = plain(1_000_000);
        let mut stream = vec![];
        for size in writes {
            let data = numbers(stream.len() as u32..stream.len() as u32 + size);
            stream.extend_from_slice(data.as_slice());
            prop_assert_eq!(write(&mut buffer, &data, 1, 100, 1000, false), size);
        }
        let mut released = 0;
        for (step, len) in cuts {
            let at = (released + step as usize).min(stream.len());
            let len = (len as usize).min(stream.len() - at);
            let (segment, rest) = buffer.burst(1 + at as u64, len as u32, 500);
            prop_assert!(rest.is_empty());
            prop_assert_eq!(segment.as_slice(), &stream[at..at + len]);
            let (first, rest) = buffer.burst(1 + at as u64, len as u32, 1);
            let blocks = std::iter::once(&first).chain(&rest).map(Data::as_slice);
            prop_assert_eq!(blocks.collect::<Vec<_>>().concat(), &stream[at..at + len]);
            released = at;
            buffer.release(1 + at as u64);
        }
    }
}
