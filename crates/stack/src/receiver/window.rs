//! How much the peer may send.

use tcplab_units::{Bytes, Instant};

use crate::config::{Config, ReceiveTuning, Receiving};

use crate::truesize::{self, BUFFER, SHARED_INFO};

use super::Arriving;
use super::queue::Charge;
use super::tuning::Tuning;

/// Bits of [`Receiving::window_share`] (`TCP_RMEM_TO_WIN_SCALE`).
const SHARE_SHIFT: u32 = 8;

/// The largest shift (RFC 7323 section 2.3).
const MOST_SCALE: u8 = 14;

/// The largest window field.
const FIELD: u64 = 0xffff;

/// Half of `SOCK_MIN_RCVBUF`, bytes.
const LEAST_CLAMP: u64 = 1_152;

/// The least peer's segment size thought possible, and the usual one (`TCP_MIN_MSS`,
/// `TCP_MSS_DEFAULT`).
const MIN_MSS: u32 = 88;
const DEFAULT_MSS: u32 = 536;

const PAGE: u64 = 4_096;
/// The largest run of pages taken at once (`PAGE_ALLOC_COSTLY_ORDER`).
const LARGEST_RUN: u64 = 8;

/// Why an acknowledgement goes as soon as all is read (`ICSK_ACK_PUSHED`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Push {
    /// A full segment was pushed.
    Once,
    /// A small segment came; after another such reason it goes in a dialogue, too.
    Small,
}

/// A window field's state: what was offered, and what may be.
///
/// Bytes of window and bytes of memory are different things: of the buffer, a share is window,
/// the rest pays for what segments take besides their data.
#[derive(Debug, Default)]
pub(crate) struct ReceiveWindow {
    config: Receiving,
    /// Whether FreeBSD's rules hold.
    freebsd: bool,
    /// The least memory of a segment without its `struct sk_buff`, bytes.
    small_block: u64,
    /// `MAX_TCP_HEADER`, bytes.
    header_room: u32,
    /// The buffer, bytes of memory (`sk_rcvbuf`).
    pub(crate) buffer: u64,
    /// Whether the application set it (`SOCK_RCVBUF_LOCK`).
    pub(crate) locked: bool,
    /// Window in 256ths of memory (`scaling_ratio`).
    share: u64,
    /// The window last offered (`rcv_wnd`), bytes.
    pub(crate) offered: u64,
    /// What was expected next when it was (`rcv_wup`).
    pub(crate) updated_at: u64,
    /// The position behind the furthest window ever offered (`rcv_mwnd_seq`, RFC 7323 section 2.4).
    pub(crate) edge: u64,
    /// Up to where the window may grow now (`rcv_ssthresh`).
    pub(crate) threshold: u64,
    /// Up to where it may ever (`window_clamp`).
    pub(crate) clamp: u64,
    /// How window fields are shifted; 0 until agreed upon.
    pub(crate) scale: u8,
    /// The peer's segment size as far as seen (`rcv_mss`).
    pub(crate) peer_mss: u32,
    last_small: u32,
    /// The largest segment asked for, less what options take (`advmss`).
    pub(crate) asked_mss: u32,
    pub(crate) tuning: Tuning,
}

impl ReceiveWindow {
    pub(crate) fn new(config: &Config) -> ReceiveWindow {
        let freebsd = config.freebsd.is_some();
        let has_blocks = config.sending.small_blocks;
        let small_block = if has_blocks { truesize::small_block(&config.sending) } else { 0 };
        let header_room = config.sending.header_room;
        let config = &config.receiving;
        ReceiveWindow {
            freebsd,
            small_block,
            header_room,
            buffer: config.buffer[0].as_u64(),
            locked: config.locked,
            share: u64::from(config.window_share),
            peer_mss: DEFAULT_MSS,
            config: config.clone(),
            ..ReceiveWindow::default()
        }
    }

    /// The part of `memory` that is window (`tcp_win_from_space`).
    pub(crate) fn of_memory(&self, memory: u64) -> u64 {
        (memory * self.share) >> SHARE_SHIFT
    }

    /// The memory that a window takes (`tcp_space_from_win`).
    pub(crate) fn to_memory(&self, window: u64) -> u64 {
        (window << SHARE_SHIFT) / self.share
    }

    /// The window that an empty buffer has room for (`tcp_full_space`).
    fn full(&self) -> u64 {
        let counted = |most| u64::from(most) * u64::from(self.asked_mss);
        self.of_memory(self.buffer).min(self.config.segments.map_or(u64::MAX, counted))
    }

    /// What a segment of `len` bytes is charged: headers, data and one structure share a block of
    /// memory; another structure stands apart.
    pub(super) fn charge_of(&self, len: u32) -> Charge {
        let len = u64::from(len);
        if !self.charges_memory() {
            return Charge { memory: len, room: 0 };
        }
        let bytes = len + u64::from(self.config.segment_overhead);
        // From a page on, headers and the first bytes fill one, and whole pages hold the rest
        // (`tun_alloc_skb`, `alloc_skb_with_frags`).
        let pages = bytes.checked_sub(PAGE).map_or(0, |above| pages_for(above + SHARED_INFO));
        if pages > 0 {
            return Charge { memory: (1 + pages) * PAGE + BUFFER, room: 0 };
        }
        self.charge_of_block(bytes)
    }

    /// What a block of memory with so many bytes is charged: the sizes of blocks double
    /// (`kmalloc_reserve`).
    pub(super) fn charge_of_block(&self, bytes: u64) -> Charge {
        let needed = bytes + SHARED_INFO;
        let block =
            if needed <= self.small_block { self.small_block } else { needed.next_power_of_two() };
        Charge { memory: block + BUFFER, room: (block - needed) as u32 }
    }

    /// Whether memory besides data is charged.
    pub(super) fn charges_memory(&self) -> bool {
        self.config.segment_overhead > 0
    }

    /// Chooses the first window and its scale (`tcp_select_initial_window`): a multiple of `mss`,
    /// as large as the buffer has room for now; the scale for what the buffer may become.
    /// `least_scale` is `None` where windows are not scaled, `asked_clamp` where the application
    /// did not ask for one.
    pub(crate) fn open(
        &mut self,
        mss: u32,
        asked_mss: u32,
        least_scale: Option<u8>,
        asked_clamp: Option<Bytes>,
    ) {
        self.asked_mss = asked_mss;
        let full = self.full();
        let mut clamp = asked_clamp.map_or(FIELD << MOST_SCALE, |asked| self.possible_clamp(asked));
        if let Some(most) = self.config.most_window {
            clamp = clamp.min(most.as_u64());
        }
        if self.locked {
            clamp = clamp.min(full);
        }
        let space = full.min(clamp);
        let mss = u64::from(mss.max(1));
        let whole = space > mss && !self.freebsd;
        self.offered = if whole { space - space % mss } else { space };
        if self.freebsd {
            self.offered = self.offered.min(FIELD);
        }
        self.scale = least_scale.map_or(0, |least| {
            let mut largest = space.max(self.config.buffer[1].as_u64());
            if self.charges_memory() {
                largest = largest.max(self.config.most_asked.as_u64());
            }
            if self.freebsd {
                return scale_of_freebsd(self.config.most_asked.as_u64()).max(least);
            }
            let needed = largest.min(clamp).max(1).ilog2().saturating_sub(15) as u8;
            needed.max(least).min(MOST_SCALE)
        });
        self.clamp = clamp.min(FIELD << self.scale);
        self.threshold = self.offered;
        self.peer_mss = asked_mss.clamp(MIN_MSS, DEFAULT_MSS);
    }

    /// The buffer becomes whole segments (`tcp_mss`).
    pub(crate) fn round_buffer_up(&mut self, mss: u32) {
        self.buffer = self.buffer.next_multiple_of(u64::from(mss.max(1)));
    }

    /// The window that `room` allows (`tcp_output`): none where it is below a segment and a quarter
    /// of the buffer (RFC 9293 section 3.8.6.2.2).
    pub(crate) fn possible_of_freebsd(&self, room: u64) -> u64 {
        let silly = room < self.buffer / 4 && room < u64::from(self.asked_mss);
        if silly { 0 } else { room.min(FIELD << self.scale) }
    }

    /// Whether a window of `possible` bytes, of which `left` were offered, is worth an
    /// acknowledgement of its own (`tcp_output`).
    pub(crate) fn is_worth_telling(&self, possible: u64, left: u64) -> bool {
        let more = possible.saturating_sub(left);
        let mss = u64::from(self.asked_mss);
        let much = more >= self.buffer / 4 || possible <= self.buffer / 8 || self.buffer <= 8 * mss;
        more > 0 && (more >= 2 * mss && much || 2 * more >= self.buffer)
    }

    /// TCP_WINDOW_CLAMP: never below half the least buffer (`tcp_set_window_clamp`).
    fn possible_clamp(&self, asked: Bytes) -> u64 {
        let least = if self.charges_memory() { LEAST_CLAMP } else { 1 };
        asked.as_u64().max(least)
    }

    /// TCP_WINDOW_CLAMP, of a connection that is open: a smaller window comes at once, for a larger
    /// one there is room up to what was offered already (`tcp_set_window_clamp`).
    pub(crate) fn set_clamp(&mut self, asked: Bytes) {
        let clamp = self.possible_clamp(asked);
        self.threshold = if clamp < self.clamp {
            self.threshold.min(clamp)
        } else {
            self.threshold.max(self.offered.min(clamp))
        };
        self.clamp = clamp;
    }

    /// The application waits for so much at once (`tcp_set_rcvlowat`).
    pub(crate) fn make_room_for(&mut self, window: Bytes) {
        let memory = self.to_memory(window.as_u64());
        if !self.locked && memory > self.buffer {
            self.buffer = memory;
            if self.clamp > 0 {
                self.clamp = self.clamp.max(window.as_u64());
            }
        }
    }

    /// The window of the SYN or SYN-ACK begins at `next`.
    pub(crate) fn begin_at(&mut self, next: u64) {
        self.updated_at = next;
        self.edge = next + self.offered;
    }

    /// The peer does not scale windows, or this end does not.
    pub(crate) fn unscaled(&mut self) {
        self.scale = 0;
        self.clamp = self.clamp.min(FIELD);
    }

    /// The connection is established (`tcp_init_buffer_space`, `tcp_initialize_rcv_mss`):
    /// `asked_mss` is what the peer may send without options, `sending_mss` what this end does.
    pub(crate) fn establish(&mut self, now: Instant, asked_mss: u32, sending_mss: u32, read: u64) {
        self.asked_mss = asked_mss;
        let hint = u64::from(asked_mss.min(sending_mss)).min(self.offered / 2);
        self.peer_mss = (hint as u32).clamp(MIN_MSS, DEFAULT_MSS);
        let mss = u64::from(asked_mss);
        let full = self.full();
        self.clamp = self.clamp.min(full);
        if self.charges_memory() {
            // One segment of the buffer is kept back.
            if self.clamp > 2 * mss && self.clamp + mss > full {
                self.clamp = (2 * mss).max(full - mss);
            }
        } else {
            self.threshold = self.clamp;
        }
        self.threshold = self.threshold.min(self.clamp);
        let space = self.threshold.min(self.offered).min(10 * mss);
        self.tuning.begin(now, read, space);
    }

    /// What is left of the window last offered, when `next` is expected
    /// (`tcp_receive_window`).
    pub(crate) fn left(&self, next: u64) -> u64 {
        (self.updated_at + self.offered).saturating_sub(next)
    }

    /// The window that could be offered now (`__tcp_select_window`), with `memory` taken and room
    /// for `free_segments` more, where segments are counted. The second value says whether room is
    /// scarce: acknowledgements need not be quick then.
    pub(crate) fn possible(&self, memory: u64, free_segments: Option<u32>) -> (u64, bool) {
        let allowed = self.full();
        let mut free = self.of_memory(self.buffer.saturating_sub(memory));
        if let Some(segments) = free_segments {
            free = free.min(u64::from(segments) * u64::from(self.asked_mss));
        }
        let full = self.clamp.min(allowed);
        let mss = u64::from(self.peer_mss).min(full);
        if mss == 0 {
            return (0, false);
        }
        let scarce = free < full / 2;
        let shrinks = self.config.shrinks && self.scale > 0;
        if scarce || shrinks {
            free = free >> self.scale << self.scale;
        }
        if scarce && (free < allowed >> 4 || free < mss) {
            return (0, true);
        }
        if shrinks {
            let below =
                if free > self.threshold { align_up(self.threshold, self.scale) } else { free };
            return (below, scarce);
        }
        let free = free.min(self.threshold);
        let window = if self.scale > 0 {
            align_up(free, self.scale)
        } else if self.offered + mss <= free || self.offered > free {
            free - free % mss
        } else if mss == full && free > self.offered + full / 2 {
            free
        } else {
            self.offered
        };
        (window, scarce)
    }

    /// Offers `possible`, but never less than was offered before (RFC 9293 section 3.8.6); gives
    /// the window field (`tcp_select_window`). `next` is what is expected next.
    pub(crate) fn offer(&mut self, possible: u64, next: u64) -> u16 {
        let current = self.left(next);
        let shrinks = self.config.shrinks && self.scale > 0;
        // FreeBSD rounds the window up to what its field can say.
        let window = match possible.max(current) {
            window if self.freebsd => align_up(window, self.scale),
            window if possible < current && !shrinks => align_up(window, self.scale),
            _ => possible,
        };
        self.offered = window;
        self.updated_at = next;
        self.edge = self.edge.max(next + window);
        (window.min(FIELD << self.scale) >> self.scale) as u16
    }

    /// There was no room for what was offered: the window is closed whatever was said before
    /// (`ICSK_ACK_NOMEM`).
    pub(crate) fn close(&mut self, next: u64) {
        self.offered = 0;
        self.updated_at = next;
    }

    /// Learns the peer's segment size (`tcp_measure_rcv_mss`). Gives whether the acknowledgement
    /// goes as soon as all is read: the segment is a small one, or pushed.
    pub(crate) fn measure(&mut self, segment: &Arriving<'_>) -> Option<Push> {
        let whole = segment.data.len();
        let len = segment.joined.map_or(whole, |each| each.min(whole));
        let last = std::mem::take(&mut self.last_small);
        if len >= self.peer_mss {
            let follows = self.config.window_share_follows && self.charges_memory();
            if len != self.peer_mss && follows {
                self.follow_share(whole);
            }
            self.peer_mss = len.min(self.asked_mss);
            return segment.push.then_some(Push::Once);
        }
        // A small segment is the peer's full size if it comes twice and is not pushed.
        let with_header = len + segment.header;
        if with_header >= DEFAULT_MSS + 20 || with_header >= MIN_MSS + 20 && segment.plain {
            self.last_small = len;
            if len == last {
                self.peer_mss = len;
                return None;
            }
        }
        Some(Push::Small)
    }

    /// Of memory as much is window as of a segment of `len` bytes is data.
    fn follow_share(&mut self, len: u32) {
        let share = ((u64::from(len) << SHARE_SHIFT) / self.charge_of(len).memory).max(1);
        if share != self.share {
            self.share = share;
            self.clamp = self.of_memory(self.buffer);
            self.tuning.lower_space(self.clamp);
        }
    }

    /// A segment of `len` bytes arrived that was charged `memory`: the window may grow
    /// (`tcp_grow_window`); whether it did.
    pub(crate) fn grow(&mut self, len: u32, memory: u64, taken: u64) -> bool {
        let space = self.of_memory(self.buffer.saturating_sub(taken));
        let room = self.clamp.min(space).saturating_sub(self.threshold);
        if room == 0 {
            return false;
        }
        let step = if self.of_memory(memory) <= u64::from(len) {
            2 * u64::from(self.asked_mss)
        } else {
            self.step_for_small(len, memory)
        };
        if step == 0 {
            return false;
        }
        self.threshold += room.min(step.max(2 * u64::from(len)));
        true
    }

    /// Small segments also grow a small window (`__tcp_grow_window`).
    fn step_for_small(&self, len: u32, memory: u64) -> u64 {
        let mut memory = self.of_memory(memory) >> 1;
        let mut window = self.of_memory(self.config.buffer[1].as_u64()) >> 1;
        while self.threshold <= window && window > 0 {
            if memory <= u64::from(len) {
                return 2 * u64::from(self.peer_mss);
            }
            memory >>= 1;
            window >>= 1;
        }
        0
    }

    /// The buffer holds more than it should (`tcp_clamp_window`).
    pub(crate) fn clamp_down(&mut self, memory: u64) {
        let most = self.config.buffer[1].as_u64();
        if self.buffer < most && !self.locked {
            self.buffer = memory.min(most).max(self.buffer);
        }
        if memory > self.buffer {
            self.threshold = self.clamp.min(2 * u64::from(self.asked_mss));
        }
    }

    /// The application took bytes up to `read`; `next` is expected next and `ahead` lies in the
    /// out-of-order queue behind it: the buffer follows (`tcp_rcv_space_adjust`).
    pub(crate) fn adjust(&mut self, now: Instant, read: u64, next: u64, ahead: u64) {
        let tuning = self.config.tuning;
        if tuning == ReceiveTuning::None {
            return;
        }
        if let Some(window) = self.tuning.window(now, tuning, read, next, ahead, self.asked_mss) {
            self.enlarge(window);
        }
    }

    /// Something arrived out of order: since 6.18 the buffer makes room for it at once.
    pub(crate) fn adjust_for_gap(&mut self, ahead: u64) {
        if self.config.tuning >= ReceiveTuning::Linux618 {
            self.enlarge(self.tuning.window_across_gap(self.config.tuning, ahead));
        }
    }

    /// The memory that lets a full segment be window (`rcvmem` of `tcp_rcv_space_adjust`).
    fn of_full_segment(&self) -> u64 {
        let mut memory = truesize::of_segment(self.header_room, self.asked_mss);
        while self.of_memory(memory) < u64::from(self.asked_mss) {
            memory += 128;
        }
        memory
    }

    fn enlarge(&mut self, window: u64) {
        let memory = match self.config.tuning {
            ReceiveTuning::Linux61 => window / u64::from(self.asked_mss) * self.of_full_segment(),
            _ => self.to_memory(window),
        };
        let buffer = memory.min(self.config.buffer[1].as_u64());
        if !self.locked && buffer > self.buffer {
            self.buffer = buffer;
            self.clamp = self.of_memory(buffer);
            if let Some(most) = self.config.most_window {
                self.clamp = self.clamp.min(most.as_u64());
            }
            if !self.charges_memory() {
                self.threshold = self.clamp;
            }
        }
    }
}

/// Pages that hold `bytes`: in runs, the largest first, as `alloc_skb_with_frags` takes them.
fn pages_for(bytes: u64) -> u64 {
    let (mut left, mut run, mut pages) = (bytes, LARGEST_RUN, 0);
    while left > 0 {
        while run > 1 && left.div_ceil(PAGE) < run {
            run /= 2;
        }
        pages += run;
        left = left.saturating_sub(run * PAGE);
    }
    pages
}

/// The least scale for buffers of up to `most` bytes (`syncache_add`, `tcp_connect`).
fn scale_of_freebsd(most: u64) -> u8 {
    (0..MOST_SCALE).find(|scale| FIELD << scale >= most).unwrap_or(MOST_SCALE)
}

fn align_up(window: u64, scale: u8) -> u64 {
    window.div_ceil(1 << scale) << scale
}
