//! What a station delivers that always has something to send.

use std::collections::VecDeque;

use tcplab_units::{Probability, Rate, Rng};

use super::contention::collision;
use super::{BLOCK_ACK_WINDOW, Exchange, FULL_PACKET, NEGLIGIBLE, WifiPlan};

impl WifiPlan {
    /// What it delivers in the mean of packets of 1500 B when there are always some to send: each
    /// frame takes its time with everything around it, and half of the contention window in slots,
    /// in which others send, too; what fails is sent again, with a window that doubles.
    pub fn mean_rate(&self) -> Rate {
        let exchange = Exchange::new(self);
        let full = exchange.full_packets();
        let slot = exchange.contention(self).mean_slot();
        let time = |packets: u32, window: u32| {
            let around = exchange.after(packets) + exchange.timing.wait;
            let sent = (exchange.frame_of(packets) + around).as_nanos();
            sent as f64 + f64::from(window) / 2.0 * slot
        };
        // Where all packets of a frame share their fate, each frame is as the first; else they are
        // counted.
        let (packets, nanos) = if full == 1 || self.error == Probability::NEVER {
            self.delivered_alike(full, time)
        } else {
            let times: Vec<f64> = (0..=full).map(|packets| time(packets, 0)).collect();
            let time =
                |packets: u32, window| times[packets as usize] + f64::from(window) / 2.0 * slot;
            delivered(self, full, time)
        };
        let rate = packets * FULL_PACKET.bits() as f64 / nanos * 1e9;
        Rate::from_bits_per_second(rate as u64)
    }

    /// How many packets of a frame arrive in the mean, and the time until that is known: with
    /// probability fⁿ its n-th retransmission is needed.
    fn delivered_alike(&self, full: u32, time: impl Fn(u32, u32) -> f64) -> (f64, f64) {
        let failure = self.failure();
        let (mut nanos, mut reached, mut window) = (0.0, 1.0, self.cw_min);
        for _ in 0..=self.retries {
            nanos += reached * time(full, window);
            reached *= failure;
            window = (2 * window + 1).min(self.cw_max);
            if reached < NEGLIGIBLE {
                break;
            }
        }
        (f64::from(full) * (1.0 - self.loss()), nanos)
    }
}

/// So many frames that do not collide: the standard error of their mean is some tenths of a per
/// cent.
const FRAMES: u32 = 4_000;

/// How many packets some frames of at most `full` packets deliver, and in what time; `time` is that
/// of a frame of so many packets with that contention window. The same in every call.
///
/// A frame takes what failed before, and as much behind it as the window of the Block Ack allows,
/// for whose length there is no closed formula: so whether packets are damaged is drawn, and how
/// often a frame collides, which uses up attempts. The time that collisions take is their mean: it
/// is long for few of them.
pub(super) fn delivered(plan: &WifiPlan, full: u32, time: impl Fn(u32, u32) -> f64) -> (f64, f64) {
    let collision = collision(plan.stations, plan.cw_min, plan.cw_max);
    let doubled = |window: u32| (2 * window + 1).min(plan.cw_max);
    let with_collisions = |packets: u32, mut window: u32| {
        let (mut nanos, mut reached) = (0.0, 1.0);
        for _ in 0..=plan.retries {
            nanos += reached * time(packets, window);
            (reached, window) = (reached * collision, doubled(window));
            if reached < NEGLIGIBLE {
                break;
            }
        }
        nanos
    };
    let collides = (collision * 2_f64.powi(64)) as u64;
    let mut rng = Rng::new(1, "wifi/mean-rate");
    let (mut delivered, mut nanos, mut contention_window) = (0_u64, 0.0, plan.cw_min);
    // How often each was sent that failed; nothing of those whose fate is known.
    let mut window: VecDeque<Option<u32>> = VecDeque::new();
    for _ in 0..FRAMES {
        let failed = window.iter().flatten().count() as u32;
        let room = BLOCK_ACK_WINDOW - window.len() as u32;
        let fresh = full.saturating_sub(failed).min(room);
        window.extend((0..fresh).map(|_| Some(0)));
        let on_air = (failed + fresh).min(full);
        nanos += with_collisions(on_air, contention_window);
        let again = (0..=plan.retries).take_while(|_| rng.next_u64() < collides).count() as u32;
        let mut is_over = false;
        for sent in window.iter_mut().filter(|sent| sent.is_some()).take(on_air as usize) {
            let attempts = sent.unwrap_or_default() + again + 1;
            let arrives = !plan.error.happens(&mut rng) && attempts <= plan.retries + 1;
            delivered += u64::from(arrives);
            let is_known = arrives || attempts > plan.retries;
            is_over |= is_known;
            *sent = (!is_known).then_some(attempts);
        }
        contention_window = if is_over { plan.cw_min } else { doubled(contention_window) };
        while window.front().is_some_and(Option::is_none) {
            window.pop_front();
        }
    }
    (delivered as f64, nanos)
}
