//! Whatever happens on the way, the bytes arrive as they were.

use proptest::prelude::*;
use tcplab_units::{Bytes, Endpoint, Rng, Span};

use super::pair::{Fate, Pair};
use super::*;

fn bytes(count: u32) -> Vec<u8> {
    (0..count).map(|n| (n ^ n >> 8) as u8).collect()
}

#[test]
fn stream_of_a_megabyte_arrives() {
    let mut pair = Pair::alike(&Config::default(), Span::from_millis(10));
    let sent = bytes(1_000_000);
    let read = pair.transfer(Endpoint::Client, &sent, Span::from_secs(30));
    assert!(read == sent);
    // Slow start from ten segments: 691 segments in seven round trips of 20 ms, one more for the
    // handshake, half of one for the FIN.
    let ms = pair.now.since(Instant::ZERO + Span::from_secs(1)).as_millis_f64();
    assert!((150.0..=175.0).contains(&ms), "{ms} ms");
    assert!(pair.causes.iter().all(|(_, cause)| !matches!(
        cause,
        SendCause::Timeout(_) | SendCause::FastRetransmit | SendCause::Rack
    )));
}

/// Sent at once and at random: loss, copies and delays in both directions.
fn impaired(seed: u64, loss: u64) -> impl FnMut(Endpoint, u32, &Segment) -> Fate {
    let mut rng = Rng::new(seed, "path");
    move |_, _, _| match rng.below(1000) {
        n if n < loss => Fate::Lost,
        n if n < loss + 30 => Fate::Twice(Span::from_micros(rng.below(20_000))),
        n if n < loss + 60 => Fate::Late(Span::from_micros(rng.below(20_000))),
        _ => Fate::Arrives,
    }
}

/// Stacks that differ in what they offer.
fn variants() -> Vec<Config> {
    vec![
        Config::default(),
        changed(|c| c.handshake.sack = false),
        changed(|c| c.handshake.timestamps = false),
        changed(|c| {
            c.handshake.window_scale = None;
            c.handshake.ecn = crate::config::Ecn::Asked;
        }),
        changed(|c| {
            c.sending.burst = 0;
            count_bytes(c);
            c.sending.segments = Some(8);
            c.receiving.segments = Some(6);
            c.receiving.tuning = crate::config::ReceiveTuning::None;
            c.receiving.out_of_order = Some(3);
            c.host.tick = Span::from_millis(50);
            c.host.wheel = false;
            c.handshake.sack = false;
            c.handshake.timestamps = false;
        }),
        changed(|c| c.handshake.ecn = crate::config::Ecn::Accurate),
        changed(|c| {
            c.acks.delayed = false;
            c.acks.compressed = (0, Span::ZERO);
            c.receiving.tuning = crate::config::ReceiveTuning::Linux612;
        }),
        changed(|c| {
            c.acks.out_of_order_at_once = false;
            c.acks.quick = 0;
            c.acks.delay = [Span::from_millis(100); 2];
            c.recovery.detection = crate::config::Detection::Reno;
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Under loss, reordering and duplication, across the wrap of the numbers, whatever the stacks.
    #[test]
    fn stream_over_lossy_path_arrives_unchanged(
        seed: u64,
        loss in 0u64..80,
        client in 0usize..7,
        server in 0usize..7,
        upload: bool,
        initial in prop::array::uniform2(prop_oneof![any::<u32>(), u32::MAX - 50_000..=u32::MAX]),
    ) {
        let configs = variants();
        let (client, server) = (&configs[client], &configs[server]);
        let from = if upload { Endpoint::Client } else { Endpoint::Server };
        let sent = bytes(80_000);
        let mut pair = Pair::numbered(client, server, Span::from_millis(5), initial)
            .with_fate(impaired(seed, loss));
        let read = pair.transfer(from, &sent, Span::from_secs(2_000));
        let errors = (pair.client.error(), pair.server().error());
        prop_assert_eq!(errors, (None, None), "{}", pair.tail());
        prop_assert!(read == sent, "{} of {} bytes:\n{}", read.len(), sent.len(), pair.tail());
    }

    /// A reader that takes its time, and windows of nearly nothing.
    #[test]
    fn stream_with_tiny_windows_terminates(
        seed: u64,
        loss in 0u64..30,
        receive in prop_oneof![Just(1u64), 2u64..3_000],
        send in prop_oneof![Just(1u64), 2u64..3_000],
        share: bool,
        pause in 1u64..100,
    ) {
        let mut client = Config::default();
        client.sending.charges_memory = false;
        client.sending.buffer = [Bytes::new(send); 2];
        let mut server = Config::default();
        // Where memory is charged, a buffer below SOCK_MIN_RCVBUF holds nothing.
        let least = if share { 0 } else { 2_304 };
        server.receiving.buffer = [Bytes::new(receive + least); 2];
        server.receiving.tuning = crate::config::ReceiveTuning::None;
        if share {
            count_bytes(&mut server);
        }
        let sent = bytes(300);
        let mut pair = Pair::new(&client, &server, Span::from_millis(1))
            .with_fate(impaired(seed, loss))
            .connect();
        let (mut written, mut read) = (0, vec![]);
        let mut next_read = pair.now;
        pair.run_until(Span::from_secs(50_000), |pair| {
            let now = pair.now;
            while written < sent.len() {
                let Ok(count) = pair.client.write(now, &sent[written..]) else { break };
                written += count;
            }
            if now >= next_read {
                next_read = now + Span::from_millis(pause);
                pair.wake = Some(next_read);
                let mut block = [0; 100];
                if let Ok(count) = pair.server().read(now, &mut block) {
                    read.extend_from_slice(&block[..count]);
                }
            }
            read.len() == sent.len()
        });
        prop_assert!(read == sent);
    }
}

#[test]
fn streams_both_ways_arrive() {
    let mut pair =
        Pair::alike(&Config::default(), Span::from_millis(3)).with_fate(impaired(5, 20)).connect();
    let sent = bytes(200_000);
    let mut written = [0; 2];
    let mut read = [vec![], vec![]];
    pair.run_until(Span::from_secs(60), |pair| {
        let now = pair.now;
        for (index, end) in [Endpoint::Client, Endpoint::Server].into_iter().enumerate() {
            let connection = pair.end(end);
            if let Ok(count) = connection.write(now, &sent[written[index]..]) {
                written[index] += count;
            }
            let mut block = vec![0; 100_000];
            while let Ok(count) = connection.read(now, &mut block)
                && count > 0
            {
                read[index].extend_from_slice(&block[..count]);
            }
        }
        pair.flush();
        read.iter().all(|read| read.len() == sent.len())
    });
    assert!(read.iter().all(|read| *read == sent));
}
