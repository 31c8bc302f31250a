//! Hosts with two paths between them, that run ahead as far as they are let.

use std::collections::VecDeque;
use std::convert::Infallible;

use proptest::prelude::*;
use tcplab_recording::{GuestOrder, GuestReport};
use tcplab_units::{Endpoint, Instant, Rng, Span};

use super::super::awaited::Awaited;
use super::super::recorder::Recorder;
use super::super::trial::{paths_of, response_of};
use super::super::world::GuestWorld;
use super::super::{FromGuest, Guest};
use super::recorded::{SEED, case};
use crate::packets::{ADDRESSES, SECOND_ADDRESSES};

/// What reached a host, and when: the number in the packet, and the path it came by.
type Log = Vec<(Instant, u32, bool)>;

/// A host that sends packets at its times, and answers each that comes, on either path.
struct Talker<'a> {
    end: usize,
    /// What it sends by itself, in order.
    times: VecDeque<Instant>,
    inbox: VecDeque<(Instant, Vec<u8>)>,
    sent: VecDeque<(Instant, FromGuest)>,
    /// Chooses the paths.
    rng: Rng,
    count: u32,
    /// It has seen all before this.
    seen_until: Instant,
    /// How much later than it sends an answer may come; none: it takes one step at a time.
    response: Option<Span>,
    log: &'a mut Log,
}

impl Talker<'_> {
    fn send(&mut self, at: Instant, tired: u8) {
        let is_second = self.rng.next_u64() & 1 == 1;
        let all = if is_second { SECOND_ADDRESSES } else { ADDRESSES };
        let mut packet = vec![0; 200];
        packet[0] = 0x45;
        packet[12..16].copy_from_slice(&all[self.end].octets());
        packet[16..20].copy_from_slice(&all[1 - self.end].octets());
        packet[20..24].copy_from_slice(&self.count.to_be_bytes());
        packet[24] = tired;
        self.count += 1;
        self.sent.push_back((at, FromGuest::Packet(packet)));
    }

    /// Does what is due next.
    fn step(&mut self, at: Instant) {
        self.seen_until = at;
        if let Some((_, packet)) = self.inbox.pop_front_if(|(due, _)| *due <= at) {
            let number = u32::from_be_bytes(packet[20..24].try_into().unwrap());
            let is_second = packet[14] == SECOND_ADDRESSES[0].octets()[2];
            self.log.push((at, number, is_second));
            if packet[24] < 3 {
                self.send(at, packet[24] + 1);
            }
        } else {
            self.times.pop_front();
            self.send(at, 0);
        }
    }
}

impl Guest for Talker<'_> {
    type Error = Infallible;

    fn poll_at(&self) -> Option<Instant> {
        let arrival = self.inbox.front().map(|(at, _)| *at);
        Instant::earlier(arrival, self.times.front().copied())
    }

    fn handle_packet(&mut self, at: Instant, packet: Vec<u8>, _checked: bool) {
        assert!(
            at >= self.seen_until,
            "it comes at {at:?} to one that is at {:?}",
            self.seen_until
        );
        assert!(self.inbox.back().is_none_or(|(last, _)| *last <= at), "it overtakes");
        self.inbox.push_back((at, packet));
    }

    fn handle_order(&mut self, _at: Instant, _order: &GuestOrder) {}

    fn run(&mut self, at: Instant, until: Instant) -> Result<(), Infallible> {
        self.step(at);
        let Some(response) = self.response else { return Ok(()) };
        while let Some(next) = self.poll_at() {
            let answered = self.sent.front().map(|(first, _)| *first + response);
            if next >= until || answered.is_some_and(|answered| next >= answered) {
                break;
            }
            self.step(next);
        }
        Ok(())
    }

    fn poll_sent(&mut self) -> Result<Option<(Instant, FromGuest)>, Infallible> {
        Ok(self.sent.pop_front())
    }
}

/// Waits for a time.
struct Until(Instant);

impl Awaited for Until {
    const HAS_LAST_WORDS: bool = false;
    const MOST_AT_ONCE: u64 = 1_000;

    fn heard(&mut self, _: Instant, _: Endpoint, _: GuestReport) {}

    fn all_left(&self) -> bool {
        false
    }

    fn server_is_alone(&self) -> bool {
        false
    }

    fn only_background_goes_on(&self) -> bool {
        false
    }

    fn farewell(&self, _: bool) -> Option<Span> {
        None
    }

    fn is_over(&self) -> bool {
        false
    }

    fn limit(&self) -> Option<Instant> {
        Some(self.0)
    }
}

/// What reaches both over two paths with these keys.
fn talk(paths: [&str; 2], times: &[Vec<u64>; 2], is_eager: bool) -> [Log; 2] {
    let [first, second] = paths;
    let text = format!(
        "[path]\n{first}\n[second_path]\n{second}\n\
         [workload]\nupload = \"1 MB\"\nthrough = \"mptcp\"\n"
    );
    let plans = paths_of(&case(&text)).unwrap();
    let response = is_eager.then(|| response_of(&plans));
    let mut logs = [Log::new(), Log::new()];
    let [one, other] = &mut logs;
    let talker = |end: usize, log| Talker {
        end,
        times: times[end].iter().map(|micros| Instant::from_nanos(micros * 1_000)).collect(),
        inbox: VecDeque::new(),
        sent: VecDeque::new(),
        rng: Rng::new(SEED, &format!("talker {end}")),
        count: 0,
        seen_until: Instant::ZERO,
        response,
        log,
    };
    let guests = [talker(0, one), talker(1, other)];
    let until = Until(Instant::from_nanos(3_000_000_000));
    let names = Endpoint::BOTH.map(Endpoint::name);
    let mut world = GuestWorld::new(guests, names, &plans, SEED, until, Recorder::new(None));
    assert!(world.run(&mut || false).unwrap());
    drop(world);
    logs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// How far they run ahead changes nothing, and nothing reaches one in its past.
    #[test]
    fn running_ahead_changes_nothing(
        delays in [0u64..30_000, 0u64..30_000],
        rate in 200u64..20_000,
        queue in 2u32..30,
        jitter in any::<bool>(),
        mut times in [
            proptest::collection::vec(0u64..1_000_000, 1..60),
            proptest::collection::vec(0u64..1_000_000, 1..60),
        ],
    ) {
        for times in &mut times {
            times.sort_unstable();
        }
        let jitter = if jitter { "jitter = \"2 ms\"\n" } else { "" };
        let first = format!("rate = \"{rate} kbit/s\"\ndelay = \"{} us\"\nqueue = \"{queue} packets\"", delays[0]);
        let second = format!("delay = \"{} us\"\nloss = \"3 %\"\n{jitter}", delays[1]);
        let paths = [first.as_str(), second.as_str()];
        let [ahead, in_step] = [true, false].map(|is_eager| talk(paths, &times, is_eager));
        for end in 0..2 {
            prop_assert_eq!(&ahead[end], &in_step[end]);
        }
    }
}

#[test]
fn packets_take_the_path_of_their_addresses() {
    let logs = talk(["delay = \"10 ms\"", "delay = \"25 ms\""], &[vec![0, 100], vec![50]], true);
    let both = logs.iter().flatten();
    let paths: Vec<bool> = both.map(|(_, _, is_second)| *is_second).collect();
    assert!(paths.contains(&true) && paths.contains(&false), "{logs:?}");
    // Each of three, and each answer to it until it is tired of it.
    assert_eq!(paths.len(), 3 * 4);
}
