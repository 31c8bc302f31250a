//! Buffers that the connections of a machine share: who gets none, and what becomes of it.

use tcplab_units::{Endpoint, Span};

use super::pair::Pair;
use super::*;
use crate::config::{Detection, TimeoutAction};
use crate::{BufferPool, WriteError};

/// Segments are counted, not bytes, and each leaves by itself.
fn counting() -> Config {
    let mut config = Config::default();
    config.sending.segments = Some(4);
    config.sending.buffer = [Bytes::new(65_535); 2];
    config.sending.burst = 0;
    config.receiving.segments = Some(4);
    count_bytes(&mut config);
    config.receiving.tuning = crate::config::ReceiveTuning::None;
    config.receiving.buffer = [Bytes::new(6_000); 2];
    config.handshake.timestamps = false;
    config.handshake.sack = false;
    config.recovery.detection = Detection::TimerOnly;
    config.recovery.tail_loss_probe = false;
    config.timeout.action = TimeoutAction::GoBack;
    config.acks.delayed = false;
    config
}

fn pool(size: u32) -> BufferPool {
    BufferPool::new(size)
}

/// A client with buffers without number, and a server whose machine has this pool.
fn pair(pool: &BufferPool) -> Pair {
    let mut pair = Pair::new(&Config::default(), &counting(), Span::from_millis(10)).connect();
    pair.server().draw_from(pool);
    pair
}

/// A pair whose application has this many unread segments.
fn pair_with_unread(pool: &BufferPool, count: u32) -> Pair {
    let mut pair = pair(pool);
    for _ in 0..count {
        let now = pair.now;
        pair.client.write(now, b"x").expect("there is room");
        pair.run_for(Span::from_millis(50));
    }
    pair
}

fn read_all(pair: &mut Pair) {
    let now = pair.now;
    pair.server().read(now, &mut [0; 100]).expect("something is there");
}

const SEGMENT: usize = 1460;

#[test]
fn pool_written_data_holds_buffers_until_acknowledged() {
    let pool = pool(8);
    let mut pair = pair(&pool);
    let now = pair.now;
    // Three segments and a bit: the bit takes a whole buffer.
    assert_eq!(pair.server().write(now, &[0; 3 * SEGMENT + 1]), Ok(3 * SEGMENT + 1));
    assert_eq!(pool.free(), 4);
    // The socket may have four, whatever the pool has.
    assert_eq!(pair.server().write(now, &[0; SEGMENT]), Ok(SEGMENT - 1));
    assert_eq!(pair.server().write(now, b"x"), Err(WriteError::WouldBlock));
    assert!(!pair.server().awaits_buffers(), "it waits for itself");
    pair.run_for(Span::from_millis(200));
    // The acknowledgement that freed them took one itself.
    assert_eq!((pool.free(), pool.least_free()), (8, 3));
}

#[test]
fn pool_unread_segment_holds_buffer() {
    let pool = pool(8);
    let mut pair = pair_with_unread(&pool, 3);
    assert_eq!((pool.free(), pair.server().unread()), (5, Bytes::new(3)));
    read_all(&mut pair);
    assert_eq!(pool.free(), 8);
}

#[test]
fn pool_empty_write_waits_for_free_buffer() {
    let pool = pool(4);
    let mut hanging = pair_with_unread(&pool, 4);
    let mut good = pair(&pool);
    let now = good.now;
    assert_eq!(good.server().write(now, b"answer"), Err(WriteError::WouldBlock));
    assert!(good.server().awaits_buffers() && good.server().awaits_space());
    assert!(!good.server().is_writable());
    read_all(&mut hanging);
    assert!(!good.server().awaits_space(), "there is room: it is to be called");
    assert_eq!(good.server().write(now, b"answer"), Ok(6));
    assert!(!good.server().awaits_buffers());
}

#[test]
fn pool_empty_arrival_is_dropped_and_retransmitted() {
    let pool = pool(4);
    let mut hanging = pair_with_unread(&pool, 4);
    let mut good = pair(&pool);
    let (now, before) = (good.now, good.log.len());
    good.client.write(now, b"request").expect("there is room");
    good.run_for(Span::from_millis(100));
    assert_eq!((good.server().unread(), pool.dropped()), (Bytes::ZERO, 1));
    assert!(!good.log[before..].contains('<'), "nothing answers what has not arrived");
    read_all(&mut hanging);
    good.run_for(Span::from_secs(2));
    assert_eq!(good.server().unread(), Bytes::new(7));
    assert_eq!(good.client.unacknowledged(), Bytes::ZERO);
}

#[test]
fn pool_last_buffer_written_blocks_acks() {
    let pool = pool(4);
    let mut pair = pair(&pool);
    let now = pair.now;
    assert_eq!(pair.server().write(now, &[0; 9 * SEGMENT]), Ok(4 * SEGMENT));
    pair.run_for(Span::from_secs(10));
    assert_eq!((pool.free(), pair.client.received().as_u64()), (0, 4 * SEGMENT as u64));
    assert_eq!(pair.server().unacknowledged().as_u64(), 4 * SEGMENT as u64);
    assert!(pool.dropped() > 0);
}

#[test]
fn pool_last_buffer_received_blocks_acks() {
    let pool = pool(1);
    let mut pair = pair(&pool);
    let now = pair.now;
    pair.client.write(now, b"request").expect("there is room");
    pair.run_for(Span::from_millis(100));
    // It is here, but has taken what its acknowledgement would leave in.
    assert_eq!(pair.server().unread(), Bytes::new(7));
    assert!(pool.unsent() > 0);
    assert_eq!(pair.client.unacknowledged(), Bytes::new(7));
    // And so for ever, whatever comes again: until the application reads.
    pair.run_for(Span::from_secs(3));
    assert!(pool.dropped() > 0);
    assert_eq!(pair.client.unacknowledged(), Bytes::new(7));
    read_all(&mut pair);
    pair.run_for(Span::from_secs(10));
    assert_eq!(pair.client.unacknowledged(), Bytes::ZERO);
}

#[test]
fn pool_lost_connection_returns_buffers() {
    let pool = pool(16);
    let lost = {
        let mut lost = pair(&pool);
        let now = lost.now;
        lost.server().write(now, &[0; 3 * SEGMENT]).expect("there is room");
        lost
    };
    let mut aborted = pair(&pool);
    let now = aborted.now;
    aborted.client.write(now, &[0; 2 * SEGMENT]).expect("there is room");
    aborted.run_for(Span::from_millis(100));
    assert_eq!(pool.free(), 11);
    aborted.end(Endpoint::Server).abort(now);
    assert_eq!(pool.free(), 13);
    drop(lost);
    assert_eq!(pool.free(), 16);
}
