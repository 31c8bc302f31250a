//! A path as it is written in a scenario, and the plan it comes to.

use tcplab_units::{Bytes, Probability, Rate, Span};

use crate::interruption::InterruptionPlan;
use crate::queue::{QueueLimit, QueuePlan};
use crate::{Direction, Directions, ElementPlan, LinkPlan, QueueSpec};

/// The queue of a bottleneck whose scenario names none: Linux's `txqueuelen` of an Ethernet
/// device (`DEFAULT_TX_QUEUE_LEN`), which is what its `pfifo` takes for a limit.
pub const DEFAULT_QUEUE: QueueSpec = QueueSpec::Packets(1000);

/// The least that a queue in bytes must hold: a full-sized Ethernet frame. Links count 1,500 B of
/// it, the IP packet; tools that count its 14 B header too would drop every packet at a limit
/// between the two.
pub const SMALLEST_QUEUE: Bytes = Bytes::new(1514);

/// Declares the keys of a path once, for both directions together and for each alone.
macro_rules! path_keys {
    ($($(#[$about:meta])* $key:ident: $type:ty,)*) => {
        /// The network path between client and server. Keys given here hold for both directions.
        /// A path without any passes packets at once and unchanged.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct PathSpec {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,)*
            /// What is different from client to server: each key here takes the place of the
            /// path's.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub forward: Option<LinkSpec>,
            /// What is different from server to client: each key here takes the place of the
            /// path's.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub reverse: Option<LinkSpec>,
        }

        /// One direction of a path, where it differs from the other.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct LinkSpec {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,)*
        }
    };
}

path_keys! {
    /// How fast the bottleneck sends, in bits of IP packets. Default: no bottleneck.
    rate: Rate,
    /// How long a packet takes one way, beside waiting and being sent. Default: no time.
    delay: Span,
    /// How much may wait at the bottleneck; the packet being sent does not count. Needs a rate.
    /// Default: `1000 packets`, as Linux.
    queue: QueueSpec,
    /// The probability that a packet is lost, each independently. Default: none is.
    loss: Probability,
    /// Times at which all packets are dropped. Default: none.
    interruption: InterruptionSpec,
}

/// Interruptions: again and again, all packets are dropped for a while.
#[derive(
    Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct InterruptionSpec {
    /// From the start of one to the start of the next; above zero.
    pub every: Span,
    /// How long each lasts; less than `every`.
    pub lasting: Span,
    /// From the start of the trial to the start of the first. Default: as long as `every`, so that
    /// connections are set up in peace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Span>,
    /// Which directions are interrupted: `both`, `forward` (client to server) or `reverse`. Within
    /// the table of one direction it can only mean that one. Default: `both`.
    #[serde(default)]
    pub direction: Directions,
}

/// A path that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct PathError {
    /// The key at fault, such as `queue` or `interruption.lasting`.
    pub key: &'static str,
    /// The table it stands in: that of a direction, or the path's own.
    pub table: Option<Direction>,
    /// What is wrong with it.
    pub problem: PathProblem,
}

impl PathError {
    /// The key at fault with its table, such as `forward.queue`; relative to the path.
    pub fn full_key(&self) -> String {
        match self.table {
            Some(direction) => format!("{direction}.{}", self.key),
            None => self.key.into(),
        }
    }
}

/// What is wrong with a path; the text names what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each field is told in the message above it")]
pub enum PathProblem {
    /// Nothing would ever pass.
    #[error("a rate of zero lets nothing pass: give one above zero, or none for no bottleneck")]
    ZeroRate,
    /// No packet would ever wait in it.
    #[error("a queue needs a rate: without one no packet ever waits")]
    QueueWithoutRate,
    /// Their bandwidth-delay product is zero.
    #[error("a queue in bdp needs a delay: without one the bandwidth-delay product is zero")]
    BdpWithoutDelay,
    /// It could not hold a packet.
    #[error("a queue of {queue}{} cannot hold a packet: it takes at least {} B", told(*.bytes), SMALLEST_QUEUE.as_u64())]
    QueueTooSmall { queue: QueueSpec, bytes: Option<Bytes> },
    /// It cannot be told in bytes.
    #[error("a queue of {queue} is larger than 2⁶⁴ bytes")]
    QueueTooLarge { queue: QueueSpec },
    /// They would all come at once.
    #[error("interruptions every {every} come all at once: give a time above zero")]
    InterruptionsAtOnce { every: Span },
    /// They would merge into one.
    #[error(
        "interruptions lasting {lasting} every {every} never end: `lasting` must be less than `every`"
    )]
    InterruptionsNeverEnd { every: Span, lasting: Span },
    /// It stands in the table of one direction and names the other.
    #[error(
        "this interruption stands in the table of the {table} direction, and names the other one"
    )]
    InterruptionElsewhere { table: Direction },
}

fn told(bytes: Option<Bytes>) -> String {
    bytes.map(|bytes| format!(" ({} B)", bytes.as_u64())).unwrap_or_default()
}

/// A value and the table it stands in.
struct Given<T> {
    value: T,
    table: Option<Direction>,
}

impl<T> Given<T> {
    fn error(&self, key: &'static str, problem: PathProblem) -> PathError {
        PathError { key, table: self.table, problem }
    }
}

impl PathSpec {
    /// The plan of one direction: its own keys before the path's, checked, in the order that
    /// [`LinkPlan`] explains. Elements that would do nothing (a delay of zero) are left out.
    ///
    /// # Errors
    /// When a value, alone or beside others, makes no sense.
    pub fn link(&self, direction: Direction) -> Result<LinkPlan, PathError> {
        let mut elements = Vec::new();
        elements.extend(self.bottleneck(direction)?);
        elements.extend(self.interrupted(direction)?);
        if let Some(loss) = self.given(direction, |link| link.loss, self.loss)
            && loss.value != Probability::NEVER
        {
            elements.push(ElementPlan::Loss { probability: loss.value });
        }
        let delay = self.delay(direction);
        if !delay.is_zero() {
            elements.push(ElementPlan::Delay { delay });
        }
        Ok(LinkPlan { elements })
    }

    /// The delay of one direction.
    pub fn delay(&self, direction: Direction) -> Span {
        self.given(direction, |link| link.delay, self.delay).map_or(Span::ZERO, |it| it.value)
    }

    /// The delay of both directions: the least time from a packet to the answer to it.
    pub fn round_trip(&self) -> Span {
        let [forward, reverse] = Direction::BOTH.map(|way| self.delay(way).as_nanos());
        Span::from_nanos(forward.saturating_add(reverse))
    }

    /// The rate and the queue of one direction.
    fn bottleneck(&self, direction: Direction) -> Result<Option<ElementPlan>, PathError> {
        let queue = self.given(direction, |link| link.queue, self.queue);
        let Some(rate) = self.rate(direction) else {
            return match queue {
                // The path's queue may be meant for the other direction.
                Some(queue)
                    if queue.table.is_some() || self.rate(direction.opposite()).is_none() =>
                {
                    Err(queue.error("queue", PathProblem::QueueWithoutRate))
                }
                _ => Ok(None),
            };
        };
        if rate.value.bits_per_second() == 0 {
            return Err(rate.error("rate", PathProblem::ZeroRate));
        }
        let queue = queue.unwrap_or(Given { value: DEFAULT_QUEUE, table: None });
        let limit =
            self.limit(queue.value, rate.value).map_err(|problem| queue.error("queue", problem))?;
        Ok(Some(ElementPlan::Bottleneck { rate: rate.value, queue: QueuePlan::DropTail(limit) }))
    }

    fn limit(&self, queue: QueueSpec, rate: Rate) -> Result<QueueLimit, PathProblem> {
        match queue {
            QueueSpec::Packets(0) => Err(PathProblem::QueueTooSmall { queue, bytes: None }),
            QueueSpec::Packets(packets) => Ok(QueueLimit::Packets(packets)),
            QueueSpec::Bytes(bytes) if bytes < SMALLEST_QUEUE => {
                Err(PathProblem::QueueTooSmall { queue, bytes: None })
            }
            QueueSpec::Bytes(bytes) => Ok(QueueLimit::Bytes(bytes)),
            QueueSpec::Bdp(_) if self.round_trip().is_zero() => Err(PathProblem::BdpWithoutDelay),
            QueueSpec::Bdp(multiple) => match multiple.of(rate, self.round_trip()) {
                None => Err(PathProblem::QueueTooLarge { queue }),
                Some(bytes) if bytes < SMALLEST_QUEUE => {
                    Err(PathProblem::QueueTooSmall { queue, bytes: Some(bytes) })
                }
                Some(bytes) => Ok(QueueLimit::Bytes(bytes)),
            },
        }
    }

    fn interrupted(&self, direction: Direction) -> Result<Option<ElementPlan>, PathError> {
        let given =
            self.given(direction, |link| link.interruption.clone(), self.interruption.clone());
        let Some(given) = given else { return Ok(None) };
        let InterruptionSpec { every, lasting, offset, direction: interrupted } = given.value;
        if every.is_zero() {
            let problem = PathProblem::InterruptionsAtOnce { every };
            return Err(given.error("interruption.every", problem));
        }
        if lasting >= every {
            let problem = PathProblem::InterruptionsNeverEnd { every, lasting };
            return Err(given.error("interruption.lasting", problem));
        }
        if let Some(table) = given.table
            && !interrupted.include(table)
        {
            let problem = PathProblem::InterruptionElsewhere { table };
            return Err(given.error("interruption.direction", problem));
        }
        let offset = offset.unwrap_or(every);
        Ok((interrupted.include(direction) && !lasting.is_zero())
            .then_some(ElementPlan::Interruption(InterruptionPlan { every, lasting, offset })))
    }

    fn rate(&self, direction: Direction) -> Option<Given<Rate>> {
        self.given(direction, |link| link.rate, self.rate)
    }

    /// The value that holds in a direction: that of its own table, else the path's.
    fn given<T>(
        &self,
        direction: Direction,
        own: impl FnOnce(&LinkSpec) -> Option<T>,
        common: Option<T>,
    ) -> Option<Given<T>> {
        let link = match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        };
        match link.as_ref().and_then(own) {
            Some(value) => Some(Given { value, table: Some(direction) }),
            None => common.map(|value| Given { value, table: None }),
        }
    }
}

#[cfg(test)]
mod tests;
