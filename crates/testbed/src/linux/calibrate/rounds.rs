//! Rounds of probes: sent evenly, received with the kernel's timestamps.

use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use tcplab_path::LinkPlan;
use tcplab_units::{Instant, Span};
use tcplab_wire::checksum;

use super::capture_point::{ArrivedPacket, CapturePoint};
use super::site::{CalibrationEnd, PROBE_PORT};
use crate::bridge::{Bridge, BridgeState};
use crate::calibration::{Arrival, DirectionRecord, Round, RoundRecord, Train};
use crate::clock::Clock;
use crate::device::{Device, LARGEST};
use crate::{TrialError, Tuning, scheduling, threads};

/// The headers of a probe: IPv4 without options, UDP.
const HEADERS: usize = 28;
/// The part of a probe's content that says which it is, twice.
const CONTENT: usize = 36;
/// After this long without a packet on the path, the missing probes count as lost.
const QUIET: Span = Span::from_millis(30);
/// The listener looks this often: the kernel has stamped what arrives, and keeps it.
const LOOK: Span = Span::from_millis(1);
/// A sender never sleeps for less than this: to wake up for each datagram would take all of a
/// processor, and what is due by then is sent at once.
const NAP: Span = Span::from_micros(200);

/// What its threads are, where one cannot be started.
const THREAD: &str = "a thread for probes";

/// Both ends of a path that changes from round to round.
pub(super) struct CalibrationPath {
    sites: [CalibrationEnd; 2],
    /// Each probe carries it: a late probe of the round before is not counted.
    round: u32,
    dropped_before: u64,
}

impl CalibrationPath {
    pub(super) fn new(sites: [CalibrationEnd; 2]) -> CalibrationPath {
        CalibrationPath { sites, round: 0, dropped_before: 0 }
    }

    pub(super) fn sites(&self) -> &[CalibrationEnd; 2] {
        &self.sites
    }

    /// A bridge over the ends, which are idle again, and its clock.
    pub(super) fn bridge(
        &mut self,
        plans: &[LinkPlan; 2],
        seed: u64,
        tuning: Tuning,
    ) -> Result<(Bridge, Clock), TrialError> {
        self.round += 1;
        let [client, server] = &mut self.sites;
        let ends = [idle(&mut client.device)?, idle(&mut server.device)?];
        for site in &self.sites {
            site.sockets.tap.look(|_| ()).map_err(TrialError::setup("look at what arrived"))?;
            site.sockets.tap.overlooked();
        }
        let clock = Clock::start();
        Ok((Bridge::new(clock, ends, plans, seed, tuning, None), clock))
    }

    /// Frames that the endpoints' kernels dropped since the last call.
    fn dropped(&mut self) -> u64 {
        let all: u64 = self.sites.iter().map(CalibrationEnd::device_drops).sum();
        all - std::mem::replace(&mut self.dropped_before, all)
    }

    /// Sends what `round` asks for through the path of `plans`.
    pub(super) fn run(
        &mut self,
        plans: &[LinkPlan; 2],
        seed: u64,
        tuning: Tuning,
        round: &Round,
    ) -> Result<RoundRecord, TrialError> {
        let (mut bridge, clock) = self.bridge(plans, seed, tuning)?;
        let number = self.round;
        let sending = AtomicUsize::new(2);
        let is_over = AtomicBool::new(false);
        let mut end = End { sending: &sending, patience: round.patience, since: None, quiet: None };
        let sites = &self.sites;
        let (ran, directions) = thread::scope(|scope| {
            let [client, server] = sites;
            let listener = threads::start_in(scope, THREAD, || {
                scheduling::be_prompt(false);
                listen([&server.sockets.tap, &client.sockets.tap], number, clock, &is_over)
            })?;
            let senders = [0, 1].map(|way| {
                let (train, sending) = (round.trains()[way], &sending);
                let probes = &sites[way].sockets.probes;
                threads::start_in(scope, THREAD, move || {
                    scheduling::be_prompt(false);
                    let sent = train.map(|train| send(probes, train, way, number, clock));
                    sending.fetch_sub(1, Ordering::Release);
                    sent.transpose().map(Option::unwrap_or_default)
                })
            });
            let ran = match &senders {
                [Err(_), _] | [_, Err(_)] => Ok(()),
                _ => bridge.run(|state| end.has_come(state)),
            };
            is_over.store(true, Ordering::Release);
            let [forward, reverse] = senders;
            let sent =
                [forward?, reverse?].map(|sender| sender.join().unwrap_or_else(|_| unexpected()));
            let seen = listener.join().unwrap_or_else(|_| unexpected());
            Ok::<_, TrialError>((ran, together(sent, seen)))
        })?;
        let moved = bridge.finish();
        ran?;
        let mut directions = directions.map_err(TrialError::setup("send probes"))?;
        for (way, site) in directions.iter_mut().zip([&self.sites[1], &self.sites[0]]) {
            way.overlooked = site.sockets.tap.overlooked();
        }
        Ok(RoundRecord {
            directions,
            lateness: moved.lateness,
            ring_wait: moved.ring_wait,
            device_drops: moved.device_drops + self.dropped(),
            mover: moved.mover,
            lasted: clock.now().since(Instant::ZERO),
        })
    }
}

fn unexpected<T>() -> io::Result<T> {
    Err(io::Error::other(TrialError::panicked().to_string()))
}

fn together(
    [forward, reverse]: [io::Result<Vec<u64>>; 2],
    seen: io::Result<[Vec<Arrival>; 2]>,
) -> io::Result<[DirectionRecord; 2]> {
    let [there, back] = seen?;
    Ok([
        DirectionRecord { sent: forward?, arrivals: there, overlooked: 0 },
        DirectionRecord { sent: reverse?, arrivals: back, overlooked: 0 },
    ])
}

/// The device once more, with nothing left in it from before.
fn idle(device: &mut Device) -> Result<Device, TrialError> {
    let failed = || TrialError::setup("take over an endpoint's device");
    let mut buffer = vec![0; LARGEST];
    while device.receive(&mut buffer).map_err(failed())?.is_some() {}
    device.duplicate().map_err(failed())
}

/// When a round has come to its end.
struct End<'a> {
    /// How many still send.
    sending: &'a AtomicUsize,
    patience: Span,
    /// When the last one had sent its last probe.
    since: Option<Instant>,
    /// Since when there has been nothing on the path.
    quiet: Option<Instant>,
}

impl End<'_> {
    fn has_come(&mut self, state: &BridgeState) -> bool {
        if self.sending.load(Ordering::Acquire) > 0 {
            return false;
        }
        let since = *self.since.get_or_insert(state.now);
        if state.on_path > 0 {
            self.quiet = None;
        } else {
            self.quiet.get_or_insert(state.now);
        }
        let is_quiet = self.quiet.is_some_and(|quiet| state.now.since(quiet) >= QUIET);
        is_quiet || state.now.since(since) >= self.patience
    }
}

/// Sends a train; when each was about to be sent. One that the kernel has no room for counts as
/// sent: the path then misses it, and the device counts it.
fn send(
    socket: &UdpSocket,
    train: Train,
    way: usize,
    round: u32,
    clock: Clock,
) -> io::Result<Vec<u64>> {
    let size = usize::try_from(train.size.as_u64()).unwrap_or(usize::MAX);
    let mut payload = vec![0; size.clamp(HEADERS + CONTENT, 1500) - HEADERS];
    let mut sent = Vec::with_capacity(train.count as usize);
    // The listener and the bridge come to rest first.
    let start = clock.now() + Span::from_millis(5);
    for number in 0..train.count {
        let later = u64::from((number + 1).saturating_sub(train.ahead.max(1)));
        let due = start + train.gap * later;
        let now = clock.now();
        if due > now {
            clock.sleep_until(if train.gap < NAP { due.max(now + NAP) } else { due });
        }
        payload[..CONTENT].copy_from_slice(&content(round, way, number));
        sent.push(Clock::wall_nanos().saturating_sub(clock.epoch_nanos()));
        match socket.send(&payload) {
            Ok(_) => {}
            // No room, or an answer to an earlier one.
            Err(error)
                if error.raw_os_error() == Some(libc::ENOBUFS)
                    || matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock
                            | io::ErrorKind::ConnectionRefused
                            | io::ErrorKind::Interrupted
                    ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}

/// What a probe carries: the same twice, the second time with all bits turned, so that one copy
/// identifies the probe when a bit of the other was flipped.
fn content(round: u32, way: usize, number: u32) -> [u8; CONTENT] {
    let mut content = [0x5a; CONTENT];
    let mut name = [0; 16];
    name[..4].copy_from_slice(b"tcpl");
    name[4..8].copy_from_slice(&round.to_be_bytes());
    name[8..12].copy_from_slice(&(way as u32).to_be_bytes());
    name[12..].copy_from_slice(&number.to_be_bytes());
    content[..16].copy_from_slice(&name);
    for (to, from) in content[16..32].iter_mut().zip(name) {
        *to = !from;
    }
    content[32..36].copy_from_slice(&number.to_be_bytes());
    content
}

/// Notes what arrives at the server and at the client until it is over.
fn listen(
    taps: [&CapturePoint; 2],
    round: u32,
    clock: Clock,
    is_over: &AtomicBool,
) -> io::Result<[Vec<Arrival>; 2]> {
    let mut arrivals = [Vec::new(), Vec::new()];
    loop {
        let is_last = is_over.load(Ordering::Acquire);
        for (way, tap) in taps.iter().enumerate() {
            tap.look(|seen| arrivals[way].extend(arrival(seen, round, way, clock)))?;
        }
        if is_last {
            return Ok(arrivals);
        }
        clock.sleep_until(clock.now() + LOOK);
    }
}

/// The probe in a captured packet; none if it is something else, or of another round.
fn arrival(seen: &ArrivedPacket, round: u32, way: usize, clock: Clock) -> Option<Arrival> {
    let at = seen.stamp.checked_sub(clock.epoch_nanos())?;
    let (ip, rest) = seen.head.split_at(20);
    let found = rest.get(8..8 + CONTENT)?;
    let number = name_in(found, round, way);
    let is_whole = number.is_some_and(|number| *found == content(round, way, number));
    let ports = [PROBE_PORT.to_be_bytes(), PROBE_PORT.to_be_bytes()].concat();
    let length = (seen.len as u16).wrapping_sub(20).to_be_bytes();
    let headers_are_right = ip[0] == 0x45
        && ip[9] == 17
        && checksum::internet(ip) == 0
        && rest[..4] == ports
        && rest[4..6] == length
        && rest[6..8] == [0, 0];
    if number.is_none() && !headers_are_right {
        return None;
    }
    // Whole, and of another round.
    if number.is_none() && found.starts_with(b"tcpl") && mirrored(found) {
        return None;
    }
    let damaged = !(is_whole && headers_are_right);
    Some(Arrival { number, at, damaged, marked: ip[1] & 3 == 3 })
}

/// Whether both copies of a probe's name agree.
fn mirrored(content: &[u8]) -> bool {
    content[..16].iter().zip(&content[16..32]).all(|(one, other)| *one == !other)
}

/// The number of a probe, from the copies in it.
fn name_in(found: &[u8], round: u32, way: usize) -> Option<u32> {
    let straight: [u8; 16] = found[..16].try_into().ok()?;
    let turned: [u8; 16] = std::array::from_fn(|index| !found[16 + index]);
    let number = |name: [u8; 16]| {
        let number = u32::from_be_bytes([name[12], name[13], name[14], name[15]]);
        (content(round, way, number)[..16] == name).then_some(number)
    };
    match (number(straight), number(turned)) {
        // A flipped bit has made another number of one of them: the third copy decides.
        (Some(one), Some(other)) if one != other => {
            let third = u32::from_be_bytes(found[32..36].try_into().ok()?);
            [one, other].into_iter().find(|number| *number == third)
        }
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(content: &[u8; CONTENT]) -> ArrivedPacket {
        let mut head = [0; 64];
        head[..20].copy_from_slice(&[
            0x45, 2, 0, 64, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 98, 0, 1, 10, 98, 0, 2,
        ]);
        let sum = checksum::internet(&head[..20]).to_be_bytes();
        head[10..12].copy_from_slice(&sum);
        head[20..22].copy_from_slice(&PROBE_PORT.to_be_bytes());
        head[22..24].copy_from_slice(&PROBE_PORT.to_be_bytes());
        head[24..26].copy_from_slice(&44_u16.to_be_bytes());
        head[28..].copy_from_slice(content);
        ArrivedPacket { stamp: u64::MAX / 2, head, len: 64 }
    }

    #[test]
    fn flipped_bit_of_probe_is_detected() {
        let clock = Clock::start();
        let whole = packet(&content(3, 1, 77));
        let seen = arrival(&whole, 3, 1, clock).unwrap();
        assert_eq!((seen.number, seen.damaged, seen.marked), (Some(77), false, false));
        for bit in 0..64 * 8 {
            let mut damaged = whole;
            damaged.head[bit / 8] ^= 0x80 >> (bit % 8);
            let seen = arrival(&damaged, 3, 1, clock).unwrap_or_else(|| panic!("bit {bit}"));
            assert!(seen.damaged, "bit {bit}");
            assert_eq!(seen.number, Some(77), "bit {bit}");
        }
    }

    #[test]
    fn only_probes_of_this_round_and_direction_count() {
        let clock = Clock::start();
        let of = |round, way| arrival(&packet(&content(3, 1, 77)), round, way, clock).is_some();
        assert_eq!((of(3, 1), of(4, 1), of(3, 0)), (true, false, false));
        let mut other = packet(&[0; CONTENT]);
        other.head[9] = 6;
        assert!(arrival(&other, 3, 1, clock).is_none(), "TCP");
    }

    #[test]
    fn ecn_mark_is_not_corruption() {
        let mut marked = packet(&content(1, 0, 5));
        marked.head[1] = 3;
        marked.head[10..12].fill(0);
        let sum = checksum::internet(&marked.head[..20]).to_be_bytes();
        marked.head[10..12].copy_from_slice(&sum);
        let seen = arrival(&marked, 1, 0, Clock::start()).unwrap();
        assert_eq!((seen.damaged, seen.marked), (false, true));
    }
}
