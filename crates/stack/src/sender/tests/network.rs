//! Whatever the network does, the stream gets across.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::*;
use super::bench::*;
use crate::config::{Detection, Host, Nagle, Reduction, TimeoutAction, TimeoutRule};
use crate::congestion::Reno;

/// What a network does to packets, in 256ths of them.
#[derive(Debug, Clone, Copy)]
struct Weather {
    seed: u64,
    lost: u64,
    acks_lost: u64,
    late: u64,
    copied: u64,
    /// Whether the window closes now and then, and opens without a word.
    closes: bool,
}

#[derive(Debug)]
enum Packet {
    Data { start: u64, end: u64, stamp: u32 },
    Ack { position: u64, window: u64, sack: [(u64, u64); 3], count: usize, echo: u32 },
}

/// A receiver that keeps everything.
#[derive(Debug, Default)]
struct Receiver {
    next: u64,
    /// What lies beyond, the latest first.
    beyond: Vec<(u64, u64)>,
    echo: u32,
}

impl Receiver {
    /// Takes a segment in and says what to answer: position, SACK blocks.
    fn take(&mut self, start: u64, end: u64, stamp: u32) -> (u64, Vec<(u64, u64)>) {
        let known = end <= self.next || self.beyond.iter().any(|b| b.0 <= start && end <= b.1);
        let mut blocks = Vec::new();
        // RFC 7323 section 4.3: of what is not beyond a hole, old or new.
        if start <= self.next {
            self.echo = self.echo.max(stamp);
        }
        if known && start < end {
            blocks.push((start, end));
        } else if start < end {
            if start <= self.next {
                self.next = end;
                while let Some(at) = self.beyond.iter().position(|b| b.0 <= self.next) {
                    self.next = self.next.max(self.beyond.remove(at).1);
                }
            } else {
                let mut block = (start, end);
                while let Some(at) =
                    self.beyond.iter().position(|b| b.0 <= block.1 && block.0 <= b.1)
                {
                    let other = self.beyond.remove(at);
                    block = (block.0.min(other.0), block.1.max(other.1));
                }
                self.beyond.insert(0, block);
            }
        }
        blocks.extend(self.beyond.iter().take(3 - blocks.len()));
        (self.next, blocks)
    }
}

struct World {
    weather: Weather,
    random: u64,
    packets: BTreeMap<(Instant, u64), Packet>,
    count: u64,
    now: Instant,
}

impl World {
    /// Numbers without any pattern that matters (xorshift).
    fn dice(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }

    fn happens(&mut self, weight: u64) -> bool {
        self.dice() % 256 < weight
    }

    fn carry(&mut self, lost: u64, packet: impl Fn() -> Packet) {
        if self.happens(lost) {
            return;
        }
        let copies = 1 + u64::from(self.happens(self.weather.copied));
        for _ in 0..copies {
            let mut delay = Span::from_millis(20);
            if self.happens(self.weather.late) {
                delay += Span::from_micros(self.dice() % 30_000);
            }
            self.count += 1;
            self.packets.insert((self.now + delay, self.count), packet());
        }
    }

    fn window(&self, most: u64) -> u64 {
        let closed = self.weather.closes && (self.now.as_nanos() / 250_000_000) % 3 == 1;
        if closed { 0 } else { most }
    }
}

/// Sends `len` bytes and a FIN through; returns the time that took and the sender's statistics.
fn transfer(
    config: &Config,
    agreed: &Negotiated,
    weather: Weather,
    len: u64,
) -> Result<(Instant, Info), GivenUp> {
    let mut sender = Sender::new(config, Box::new(Reno::named("reno")));
    sender.establish(Instant::ZERO, agreed);
    let mut stream = Stream { end: 1, ..Stream::default() };
    let mut receiver = Receiver { next: 1, ..Receiver::default() };
    let mut world = World {
        weather,
        random: weather.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        packets: BTreeMap::new(),
        count: 0,
        now: Instant::ZERO,
    };
    let mut steps = 0;
    while sender.una() < len + 2 {
        steps += 1;
        assert!(steps < 100_000, "never ends: {:?}", sender.info());
        // The application gives a little more each time.
        sender.handle_write(&stream);
        stream.end = (stream.end + 7_777).min(len + 1);
        if stream.end == len + 1 {
            stream.end += 1;
            stream.fin = true;
        }
        while let Some(sent) = sender.next(world.now, &stream) {
            let stamp = (world.now.as_nanos() / 1_000_000) as u32;
            let end = sent.start + u64::from(sent.len) + u64::from(sent.fin);
            assert!(end <= stream.end && sent.start + 1 >= sender.una());
            let mut at = sent.start;
            loop {
                let to = (at + u64::from(sender.mss())).min(end);
                let to = if sent.fin && to + 1 == end { end } else { to };
                world.carry(weather.lost, || Packet::Data { start: at, end: to, stamp });
                at = to;
                if at >= end {
                    break;
                }
            }
        }
        sender.audit();
        let packet = world.packets.first_key_value().map(|(key, _)| key.0);
        let timer = sender.poll_at();
        let Some(next) = [packet, timer].into_iter().flatten().min() else {
            panic!("deadlock: {:?}", sender.info())
        };
        assert!(next >= world.now || timer == Some(next));
        world.now = world.now.max(next);
        if packet == Some(next) {
            step(&mut world, &mut sender, &mut receiver, &stream, agreed);
        } else {
            sender.handle_timeout(world.now, &stream)?;
        }
        sender.audit();
    }
    assert_eq!(receiver.next, len + 2);
    Ok((world.now, sender.info()))
}

fn step(
    world: &mut World,
    sender: &mut Sender,
    receiver: &mut Receiver,
    stream: &Stream,
    agreed: &Negotiated,
) {
    let (_, packet) = world.packets.pop_first().expect("it was looked at");
    match packet {
        Packet::Data { start, end, stamp } => {
            let (position, blocks) = receiver.take(start, end, stamp);
            let mut sack = [(0, 0); 3];
            sack[..blocks.len()].copy_from_slice(&blocks);
            let window = world.window(agreed.window);
            let (count, echo) = (blocks.len(), receiver.echo);
            world.carry(world.weather.acks_lost, || Packet::Ack {
                position,
                window,
                sack,
                count,
                echo,
            });
        }
        Packet::Ack { position, window, sack, count, echo } => {
            let blocks = sack.map(|(start, end)| Block { start, end });
            let ack = Ack {
                position,
                sequence: 1,
                window,
                sack: if agreed.sack { &blocks[..count] } else { &[] },
                echo: agreed.timestamps.then_some(echo),
                carries_data: false,
                ece: false,
                told: None,
            };
            let before = sender.una();
            let heard = sender.handle_ack(world.now, &ack, stream);
            assert_eq!(sender.una() - before, heard.acked);
        }
    }
}

/// One stack of each kind.
fn stacks() -> Vec<(&'static str, Config, bool)> {
    let change = |name, sack, change: fn(&mut Config)| {
        let mut config = exact();
        change(&mut config);
        (name, config, sack)
    };
    vec![
        change("linux", true, |_| {}),
        change("linux without SACK", false, |_| {}),
        change("linux with bursts", true, |c| c.sending.burst = 65_536),
        change("linux on its ticks", true, |c| c.host = Host::default()),
        change("paced", true, |c| c.sending.paced = true),
        change("counting SACKs", true, |c| c.recovery.detection = Detection::Sack),
        change("all unsacked", true, |c| {
            c.recovery.detection = Detection::Sack;
            c.timeout.action = TimeoutAction::AllUnsacked;
            c.timeout.rule = TimeoutRule::Rfc6298;
            c.recovery.reduction = Reduction::Inflation;
        }),
        change("go back", true, |c| {
            c.recovery.detection = Detection::Sack;
            c.recovery.counts_duplicates = true;
            c.timeout.action = TimeoutAction::GoBack;
            c.timeout.bad_retransmit_eighths = 8;
            c.recovery.reduction = Reduction::OneSegment;
            c.recovery.frto = false;
            c.recovery.tail_loss_probe = false;
        }),
        change("newreno", false, |c| {
            c.recovery.detection = Detection::NewReno;
            c.recovery.reduction = Reduction::Inflation;
            c.timeout.action = TimeoutAction::GoBack;
            c.recovery.limited_transmit = false;
        }),
        change("reno", false, |c| {
            c.recovery.detection = Detection::Reno;
            c.recovery.reduction = Reduction::Inflation;
            c.timeout.bad_retransmit_eighths = 4;
            c.timeout.action = TimeoutAction::GoBack;
        }),
        change("tahoe", false, |c| {
            c.recovery.detection = Detection::Reno;
            c.recovery.reduction = Reduction::OneSegment;
            c.timeout.action = TimeoutAction::GoBack;
        }),
        change("timer only", false, |c| {
            c.recovery.detection = Detection::TimerOnly;
            c.sending.unacked = Some(3);
            c.sending.nagle = Nagle::Plain;
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn stream_any_stack_and_network_arrives(
        seed in any::<u64>(),
        lost in 0_u64..60,
        acks_lost in 0_u64..60,
        late in prop_oneof![Just(0_u64), 0_u64..200],
        copied in prop_oneof![Just(0_u64), 0_u64..60],
        closes in any::<bool>(),
        window in prop_oneof![Just(1_500_u64), Just(9_000), Just(1_000_000)],
        timestamps in any::<bool>(),
        len in 1_u64..120_000,
    ) {
        // Given up is a peer that closes its window and is not heard of for two of the longest
        // timeouts.
        let share = if closes { 4 } else { 1 };
        let (lost, acks_lost) = (lost / share, acks_lost / share);
        let weather = Weather { seed, lost, acks_lost, late, copied, closes };
        for (name, config, sack) in stacks() {
            let agreed = Negotiated {
                sack,
                timestamps,
                window,
                rtt: Some(millis(40)),
                ..agreed()
            };
            let done = transfer(&config, &agreed, weather, len);
            prop_assert!(done.is_ok(), "{name}: {done:?}");
        }
    }
}

#[test]
fn network_with_delay_only_causes_no_retransmission() {
    let weather = Weather { seed: 1, lost: 0, acks_lost: 0, late: 0, copied: 0, closes: false };
    for (name, config, sack) in stacks() {
        let agreed = Negotiated { sack, rtt: Some(millis(40)), ..agreed() };
        let (_, info) = transfer(&config, &agreed, weather, 500_000).unwrap();
        assert_eq!(info.total_retrans, 0, "{name}");
        // The SYN, 500 segments, and the FIN where it did not go with the last of them.
        assert!((501..=502).contains(&info.delivered), "{name}: {info:?}");
    }
}

#[test]
fn network_with_few_losses_causes_no_timeout() {
    let weather = Weather { seed: 7, lost: 2, acks_lost: 0, late: 0, copied: 0, closes: false };
    let agreed = Negotiated { timestamps: true, rtt: Some(millis(40)), ..agreed() };
    let (_, info) = transfer(&exact(), &agreed, weather, 4_000_000).unwrap();
    assert!((10..100).contains(&info.total_retrans), "{info:?}");
    assert_eq!(info.total_rto, 0, "{info:?}");
    assert_eq!(info.dsack_dups, 0, "each was lost indeed: {info:?}");
}
