//! Waiting that can be ended.

use tcplab_units::{Instant, Span};

use crate::clock::Clock;

/// How often a waiting thread checks whether the trial is over.
pub(super) const LOOK: Span = Span::from_millis(20);

/// Sleeps as long as `goes_on` holds; whether it slept until the time given.
pub(super) fn sleep_while(clock: Clock, until: Instant, goes_on: impl Fn() -> bool) -> bool {
    loop {
        if !goes_on() {
            return false;
        }
        let now = clock.now();
        if now >= until {
            return true;
        }
        clock.sleep_until(until.min(now + LOOK));
    }
}
