//! Events of a path: what changes while a trial runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Probability, Rate, Span};

use crate::direction::Directions;
use crate::fault::PathError;
use crate::text_or_table::is_default;

/// Declares what an event can change once: with the time of it in a file, and without for a path
/// that is at work.
macro_rules! event_keys {
    ($($(#[$about:meta])* $key:ident: $type:ty,)*) => {
        /// Something that changes at a time: at least one of `rate`, `delay`, `loss`, `interrupt`
        /// and `drop`. Each acts on the first element of its kind.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(deny_unknown_fields)]
        pub struct PathEvent {
            /// When, from the start of the trial. Of two events at the same time, the second holds.
            pub at: Span,
            /// Which directions it changes: `both`, `forward` (client to server) or `reverse`.
            /// Default: `both`.
            #[serde(default, skip_serializing_if = "is_default")]
            pub direction: Directions,
            $($(#[$about])* #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,)*
        }

        /// What an event changes, without its time: for a path that is at work.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(deny_unknown_fields)]
        pub struct PathChange {
            /// Which directions it changes: `both`, `forward` (client to server) or `reverse`.
            /// Default: `both`.
            #[serde(default, skip_serializing_if = "is_default")]
            pub direction: Directions,
            $($(#[$about])* #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,)*
        }

        impl PathEvent {
            /// What it changes.
            pub fn change(self) -> PathChange {
                PathChange { direction: self.direction, $($key: self.$key,)* }
            }
        }

        impl PathChange {
            /// This change as an event at that time.
            pub fn at(self, at: Span) -> PathEvent {
                PathEvent { at, direction: self.direction, $($key: self.$key,)* }
            }
        }
    };
}

event_keys! {
    /// The rate of the bottleneck from now on, above zero. A packet that is being sent continues
    /// at the new rate. Needs `rate` without a trace.
    rate: Rate,
    /// The one-way delay from now on. When it falls, packets wait for those before them.
    delay: Span,
    /// The probability of independent random loss from now on, in place of what loss there was.
    loss: Probability,
    /// All packets are dropped for so long from now on.
    interrupt: Span,
    /// The next so many data segments that come through the losses are dropped: 1 to 1000.
    drop: u32,
}

/// One change of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Rate(Rate),
    Delay(Span),
    Loss(Probability),
    Interrupt(Span),
    Drop(u32),
}

/// A burst of more lost segments is a matter of `interrupt`.
const DROP_MAX: u32 = 1_000;

impl PathChange {
    /// What it changes, one by one.
    pub(crate) fn parts(self) -> impl Iterator<Item = Change> {
        let PathChange { direction: _, rate, delay, loss, interrupt, drop } = self;
        let parts = [
            rate.map(Change::Rate),
            delay.map(Change::Delay),
            loss.map(Change::Loss),
            interrupt.map(Change::Interrupt),
            drop.map(Change::Drop),
        ];
        parts.into_iter().flatten()
    }

    /// Whether it can be at all.
    ///
    /// # Errors
    /// The key at fault, relative to the event.
    pub fn check(self) -> Result<(), PathError> {
        let error = |key: &str, what: &str| Err(PathError { key: key.into(), what: what.into() });
        let PathChange { rate, interrupt, drop, .. } = self;
        if self.parts().next().is_none() {
            let what = "the event changes nothing: add one of `rate`, `delay`, `loss`, `interrupt` \
                        and `drop`";
            return error("", what);
        }
        if rate.is_some_and(|rate| rate.bits_per_second() == 0) {
            let what = "the rate is zero: give a rate above zero, or `interrupt`";
            return error("rate", what);
        }
        if interrupt.is_some_and(Span::is_zero) {
            return error("interrupt", "the interruption lasts no time: give a time above zero");
        }
        if drop.is_some_and(|count| !(1..=DROP_MAX).contains(&count)) {
            return error("drop", "give a number of segments from 1 to 1000");
        }
        Ok(())
    }
}
