//! Moves frames between the two endpoints through the path, in real time.

use std::os::fd::AsFd;
use std::sync::mpsc::Sender;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tcplab_path::{Departure, Fate, Link, Packet, Verdict};
use tcplab_recording::{Endpoint, Sample};
use tcplab_units::{Instant, Span};

use crate::TrialError;
use crate::clock::Clock;
use crate::device::Device;
use crate::sys;

/// Waking up from sleep takes 30 to 100 µs on common machines; the last stretch before a packet
/// is due is waited out awake.
const SPIN: Span = Span::from_micros(60);
/// Without any packet due, look after this long whether the trial is over.
const IDLE: Span = Span::from_millis(20);
/// Buffers read from one device before the other gets its turn.
const BATCH: usize = 32;

/// What the recorder is told.
pub(crate) enum Event {
    /// The endpoint sent this packet.
    Left { endpoint: Endpoint, at: Instant, id: u64, bytes: Vec<u8> },
    /// The endpoint was handed this packet.
    Entered { endpoint: Endpoint, at: Instant, bytes: Vec<u8> },
    /// What the path did with a packet.
    Judged(Verdict),
    /// The state of a socket.
    Sampled(Box<Sample>),
}

/// Both directions of the path and the devices at its ends.
pub(crate) struct Bridge {
    clock: Clock,
    ends: [Device; 2],
    links: [Link; 2],
    next_id: u64,
    events: Sender<Event>,
    lateness: Vec<Span>,
}

impl Bridge {
    /// `ends` and `links` start with the client's: what it sends goes through the first link.
    pub(crate) fn new(
        clock: Clock,
        ends: [Device; 2],
        links: [Link; 2],
        events: Sender<Event>,
    ) -> Bridge {
        Bridge { clock, ends, links, next_id: 1, events, lateness: Vec::new() }
    }

    /// Moves frames until `over` says so and the path is empty, or `over` says at once.
    pub(crate) fn run(
        &mut self,
        mut over: impl FnMut(&BridgeState) -> bool,
    ) -> Result<(), TrialError> {
        let mut looked = Instant::ZERO;
        loop {
            let read = self.read()?;
            let delivered = self.deliver()?;
            let now = self.clock.now();
            if now.since(looked) >= IDLE {
                looked = now;
                let state = BridgeState {
                    now,
                    on_path: self.links.iter().map(|link| link.in_flight().count()).sum(),
                };
                if over(&state) {
                    return Ok(());
                }
            }
            if !read && !delivered {
                self.wait()?;
            }
        }
    }

    /// Ends the trial: what is still on the path is judged so. Returns how late each packet was.
    pub(crate) fn finish(mut self) -> Vec<Span> {
        let now = self.clock.now();
        for link in &mut self.links {
            for departure in link.drain(now) {
                let verdict = departure.verdict;
                tell(&self.events, Event::Judged(verdict));
            }
        }
        self.lateness
    }

    /// Frames that the devices lost outside the path.
    pub(crate) fn device_drops(&self) -> u64 {
        self.ends.iter().map(Device::drops).sum()
    }

    /// Takes in what the endpoints have sent; whether there was any.
    fn read(&mut self) -> Result<bool, TrialError> {
        let mut any = false;
        let Bridge { clock, ends, links, next_id, events, .. } = self;
        for (sender, (device, link)) in ends.iter_mut().zip(links.iter_mut()).enumerate() {
            for _ in 0..BATCH {
                let at = clock.now();
                let more = device
                    .receive(|packet| {
                        let id = *next_id;
                        *next_id += 1;
                        let endpoint = Endpoint::BOTH[sender];
                        tell(events, Event::Left { endpoint, at, id, bytes: packet.to_vec() });
                        link.handle_packet(at, Packet::new(id, packet.to_vec()));
                    })
                    .map_err(TrialError::setup("read from an endpoint's device"))?;
                any |= more;
                if !more {
                    break;
                }
            }
        }
        Ok(any)
    }

    /// Hands over what is due; whether anything was.
    fn deliver(&mut self) -> Result<bool, TrialError> {
        let mut any = false;
        for sender in 0..2 {
            let now = self.clock.now();
            while let Some(Departure { packet, verdict }) = self.links[sender].poll(now) {
                any = true;
                let delivered = verdict.fate == Fate::Delivered;
                let due = verdict.left;
                tell(&self.events, Event::Judged(verdict));
                if delivered {
                    let receiver = 1 - sender;
                    self.ends[receiver]
                        .send(&packet.bytes)
                        .map_err(TrialError::setup("write to an endpoint's device"))?;
                    let at = self.clock.now();
                    self.lateness.push(at.since(due));
                    let endpoint = Endpoint::BOTH[receiver];
                    tell(&self.events, Event::Entered { endpoint, at, bytes: packet.bytes });
                }
            }
        }
        Ok(any)
    }

    /// Sleeps until a frame comes or one is due.
    fn wait(&self) -> Result<(), TrialError> {
        let now = self.clock.now();
        let due = self.links.iter().filter_map(Link::poll_at).min();
        let span = due.map_or(IDLE, |due| due.since(now).min(IDLE));
        if due.is_some() && span <= SPIN {
            return Ok(());
        }
        let span = if span < IDLE { span.saturating_sub(SPIN) } else { span };
        let timeout = Timespec { tv_sec: 0, tv_nsec: span.as_nanos().cast_signed() };
        let mut fds = [
            PollFd::from_borrowed_fd(self.ends[0].as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.ends[1].as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(TrialError::setup("wait for frames")(errno.into())),
        }
    }
}

/// What [`Bridge::run`] shows to whom decides when the trial is over.
pub(crate) struct BridgeState {
    pub(crate) now: Instant,
    /// Packets on the path, both directions.
    pub(crate) on_path: usize,
}

/// The recorder outlives the bridge, unless it failed; then its error ends the trial.
fn tell(events: &Sender<Event>, event: Event) {
    let _ = events.send(event);
}

/// How soon the calling thread gets the processor when it wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Promptness {
    /// Before all ordinary threads.
    RealTime,
    /// In short slices, sooner than others.
    ShortSlices,
    /// As any other.
    Ordinary,
}

/// Makes the calling thread as prompt as this process may: its sleeps end as exactly as the kernel
/// can (prctl(2), PR_SET_TIMERSLACK; the default allows 50 µs more), and it runs soon after.
pub(crate) fn be_prompt() -> Promptness {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if sys::run_in_real_time().is_ok() {
        Promptness::RealTime
    } else if sys::run_in_short_slices().is_ok() {
        Promptness::ShortSlices
    } else {
        Promptness::Ordinary
    }
}
