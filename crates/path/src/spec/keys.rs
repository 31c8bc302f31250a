//! The keys of a path, declared once, and which of them hold where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Bytes, Probability, Span};

use crate::bottleneck::{RateSpec, WifiSpec};
use crate::elements::{
    BlackholeSpec, CorruptSpec, CrossSpec, DelaySpec, DropSpec, DuplicateSpec, InterruptionsSpec,
    JitterSpec, LossSpec, MtuSpec, NatSpec, PolicerSpec, PortDelay, ReorderSpec,
};
use crate::event::PathEvent;
use crate::fault::{Fault, PathError, Table};
use crate::text_or_table::is_default;
use crate::{Direction, QueueSpec};

/// Declares the keys of a path once: for both directions together, for each alone, and for each
/// stage.
macro_rules! path_keys {
    ($($(#[$about:meta])* $key:ident: $type:ty,)*) => {
        /// The network path between client and server. Keys given here apply to both directions.
        /// Without keys, packets pass at once and unchanged.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct PathSpec {
            /// The name of a preset (`tcplab path presets` lists them); keys given beside it
            /// override the preset's.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub preset: Option<String>,
            /// Who emulates the path: `tcplab`, or the kernel's `netem` (trials in real time, not
            /// `tcplab shell`). Default: `tcplab`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub backend: Option<Backend>,
            /// Both ends on one host, connected by its loopback, without a path: no other key is
            /// allowed beside this one. Kernel trials only. Default: false.
            #[serde(default, skip_serializing_if = "is_default")]
            pub same_host: bool,
            /// The RTT of the idle path, half of it in each direction: `rtt = "40 ms"` is
            /// `delay = "20 ms"`. Not beside `delay`. Default: that of `delay`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub rtt: Option<Span>,
            /// Ends that are further away: for each port, how long its packets wait before they
            /// enter the path, in each direction. A flow's `delay` is written so. Default: none.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub port_delay: Option<Vec<PortDelay>>,
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,)*
            /// Further stages behind the elements of the keys above, each with the same keys, in
            /// the order in which packets pass them.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub stages: Option<Vec<StageSpec>>,
            /// What changes while a trial runs. Default: nothing.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub events: Option<Vec<PathEvent>>,
            /// Keys for the direction from client to server; they override the path's.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub forward: Option<LinkSpec>,
            /// Keys for the direction from server to client; they override the path's.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub reverse: Option<LinkSpec>,
        }

        /// The keys of one direction of a path.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct LinkSpec {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,)*
            /// Further stages behind the elements of the keys above, each with the same keys, in
            /// the order in which packets pass them.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub stages: Option<Vec<StageSpec>>,
        }

        /// A stage of a direction. Its keys mean what they mean for the path.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct StageSpec {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")]
            pub $key: Option<$type>,)*
        }

        /// The keys of one stage of one direction, each with its table.
        #[derive(Clone, Copy)]
        pub(super) struct Keys<'a> {
            $(pub(super) $key: Option<Given<'a, $type>>,)*
        }

        impl PathSpec {
            /// What holds in a direction, stage by stage: first that of the direction's own keys
            /// and, where it has none, the path's.
            pub(super) fn stages_of(&self, direction: Direction) -> Vec<Keys<'_>> {
                let (own, table) = (self.own(direction), Table::Link(direction));
                let first = Keys {
                    $($key: own
                        .and_then(|own| Given::of(stringify!($key), own.$key.as_ref(), table))
                        .or_else(|| Given::of(stringify!($key), self.$key.as_ref(), Table::Path)),)*
                };
                let (stages, link) = match own.and_then(|own| own.stages.as_ref()) {
                    Some(stages) => (stages.as_slice(), Some(direction)),
                    None => (self.stages.as_deref().unwrap_or_default(), None),
                };
                let others = stages.iter().enumerate().map(|(index, stage)| {
                    let table = Table::Stage(link, index);
                    Keys { $($key: Given::of(stringify!($key), stage.$key.as_ref(), table),)* }
                });
                std::iter::once(first).chain(others).collect()
            }

            /// Replaces `rtt` by the delay of each direction. To be asked before a preset is
            /// resolved, whose delays it replaces.
            ///
            /// # Errors
            /// If another key gives a delay too.
            pub fn halve_rtt(&mut self) -> Result<(), PathError> {
                let Some(rtt) = self.rtt.take() else { return Ok(()) };
                let has = |link: &Option<LinkSpec>| {
                    link.as_ref().is_some_and(|it| it.delay.is_some())
                };
                let given = [
                    ("delay", self.delay.is_some()),
                    ("forward.delay", has(&self.forward)),
                    ("reverse.delay", has(&self.reverse)),
                ];
                if let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                    let half = rtt / 2;
                    let what = format!(
                        "give either `rtt` or `{key}`: `rtt = \"{rtt}\"` is `delay = \"{half}\"` in each direction"
                    );
                    return Err(PathError { key: key.into(), what });
                }
                self.delay = Some(DelaySpec::Constant(rtt / 2));
                Ok(())
            }

            /// Refuses other keys beside `same_host`. To be asked before a preset is resolved.
            ///
            /// # Errors
            /// The first key that would do nothing.
            pub fn check_same_host(&self) -> Result<(), PathError> {
                let given = [
                    ("preset", self.preset.is_some()),
                    ("backend", self.backend.is_some()),
                    ("rtt", self.rtt.is_some()),
                    ("port_delay", self.port_delay.is_some()),
                    $((stringify!($key), self.$key.is_some()),)*
                    ("stages", self.stages.is_some()),
                    ("events", self.events.is_some()),
                    ("forward", self.forward.is_some()),
                    ("reverse", self.reverse.is_some()),
                ];
                match given.into_iter().find(|(_, is_given)| *is_given) {
                    Some((key, _)) if self.same_host => Err(PathError {
                        key: key.into(),
                        what: format!(
                            "`{key}` has no effect with `same_host`: remove one of the two"
                        ),
                    }),
                    _ => Ok(()),
                }
            }

            /// The key as it is written where it holds for that direction: behind the direction's
            /// name if it stands in the direction's own table. What stands behind the key's first
            /// dot stays.
            pub(crate) fn written(&self, direction: Direction, key: &str) -> String {
                let own = self.own(direction);
                let is_own = own.is_some_and(|own| match key.split('.').next() {
                    $(Some(stringify!($key)) => own.$key.is_some(),)*
                    Some("stages") => own.stages.is_some(),
                    _ => false,
                });
                if is_own { format!("{direction}.{key}") } else { key.to_owned() }
            }

            /// The stages of that direction behind its own keys.
            pub(crate) fn stages_given(&self, direction: Direction) -> &[StageSpec] {
                let own = self.own(direction).and_then(|own| own.stages.as_ref());
                own.or(self.stages.as_ref()).map_or(&[], Vec::as_slice)
            }

            /// Without its `stages` and `events`.
            pub(crate) fn without_stages(&self) -> PathSpec {
                let mut path = PathSpec { stages: None, events: None, ..self.clone() };
                for link in [&mut path.forward, &mut path.reverse].into_iter().flatten() {
                    link.stages = None;
                }
                path
            }

            /// This path with what `base` has for each key that it does not give itself. A key
            /// that this one gives for both directions takes the place of the base's for either.
            #[must_use]
            pub fn over(self, base: PathSpec) -> PathSpec {
                let link = |own: Option<LinkSpec>, base: Option<LinkSpec>| {
                    let (own, base) = (own.unwrap_or_default(), base.unwrap_or_default());
                    let merged = LinkSpec {
                        $($key: own.$key.or(base.$key.filter(|_| self.$key.is_none())),)*
                        stages: own.stages.or(base.stages.filter(|_| self.stages.is_none())),
                    };
                    Some(merged).filter(|link| *link != LinkSpec::default())
                };
                PathSpec {
                    preset: None,
                    backend: self.backend.or(base.backend),
                    same_host: self.same_host || base.same_host,
                    rtt: self.rtt,
                    port_delay: self.port_delay.or(base.port_delay),
                    forward: link(self.forward, base.forward),
                    reverse: link(self.reverse, base.reverse),
                    $($key: self.$key.or(base.$key),)*
                    stages: self.stages.or(base.stages),
                    events: self.events.or(base.events),
                }
            }
        }
    };
}

path_keys! {
    /// The rate of the bottleneck, in bits of IP packets: a rate, a table of steps and ramps, or a
    /// trace file. Default: no bottleneck.
    rate: RateSpec,
    /// The one-way delay, without queueing and serialisation: a time, or a table of steps and
    /// ramps. Default: 0.
    delay: DelaySpec,
    /// The queue of the bottleneck: its size, or a table with a discipline; the packet being sent
    /// does not count. Needs `rate`. Default: `1000 packets`, as Linux.
    queue: QueueSpec,
    /// Jitter of the delay: a time (`"2 ms"`: uniform, ±2 ms), or a table. Default: none.
    jitter: JitterSpec,
    /// Random loss: an independent probability per packet (`"0.3 %"`), or a table. Default: none.
    loss: LossSpec,
    /// Times at which all packets are dropped. Default: none.
    interruption: InterruptionsSpec,
    /// The time from which on all packets are dropped: `"3 s"`, or a table. Default: never.
    blackhole: BlackholeSpec,
    /// Packets to drop, selected by number or kind: a table or a list. Default: none.
    drop: DropSpec,
    /// Reordering: packets that are held back. Default: none.
    reorder: ReorderSpec,
    /// Random duplicates: a probability per packet (`"1 %"`), or a table. Default: none.
    duplicate: DuplicateSpec,
    /// Random bit errors: a probability per packet (`"1 %"`), or a table. Default: none.
    corrupt: CorruptSpec,
    /// The probability that an ECN-capable packet (ECT) is marked (CE). Default: 0 %.
    mark: Probability,
    /// The MTU in bytes of IP: `"1400 B"`, or a table. Default: no limit.
    mtu: MtuSpec,
    /// A NAT or firewall that forgets idle TCP connections: the time it waits (`"5 min"`), or a
    /// table. Default: none.
    nat: NatSpec,
    /// A policer at the entrance, which drops excess packets. Default: none.
    police: PolicerSpec,
    /// The depth of a token bucket that fills at `rate`, at least 1514 B; a larger packet is
    /// dropped. Needs `rate` without a trace. Default: no bucket, packets are serialised.
    burst: Bytes,
    /// Cross traffic that shares the bottleneck: a table or a list of tables. Default: none.
    cross: CrossSpec,
    /// A wireless link (802.11) in place of a rate. Default: none.
    wifi: WifiSpec,
}

/// Who emulates a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// tcplab itself, packet by packet, with a verdict on each.
    #[default]
    Tcplab,
    /// The kernel, configured with tc: netem and queueing disciplines between the endpoints. There
    /// are no verdicts, random numbers are the kernel's, and keys that it cannot emulate are
    /// refused (`tcplab path tc` lists them).
    Netem,
}

impl PathSpec {
    /// Reads in the files that it refers to: `read` gives the content of one by its name, or says
    /// why there is none.
    ///
    /// # Errors
    /// The key of a file that cannot be had, or is not what it should be.
    pub fn load(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<(), PathError> {
        let mut load = |table, rate: &mut Option<RateSpec>, jitter: &mut Option<JitterSpec>| {
            let error = |key| move |what| PathError { key: format!("{table}{key}"), what };
            if let Some(RateSpec::Table(table)) = rate {
                table.load(read).map_err(error("rate.trace"))?;
            }
            if let Some(JitterSpec::Table(table)) = jitter {
                table.load(read).map_err(error("jitter.table"))?;
            }
            Ok(())
        };
        load(Table::Path, &mut self.rate, &mut self.jitter)?;
        for (index, stage) in self.stages.iter_mut().flatten().enumerate() {
            load(Table::Stage(None, index), &mut stage.rate, &mut stage.jitter)?;
        }
        let own =
            [(Direction::Forward, &mut self.forward), (Direction::Reverse, &mut self.reverse)];
        for (direction, link) in own {
            let Some(link) = link else { continue };
            load(Table::Link(direction), &mut link.rate, &mut link.jitter)?;
            for (index, stage) in link.stages.iter_mut().flatten().enumerate() {
                let table = Table::Stage(Some(direction), index);
                load(table, &mut stage.rate, &mut stage.jitter)?;
            }
        }
        Ok(())
    }

    fn own(&self, direction: Direction) -> Option<&LinkSpec> {
        match direction {
            Direction::Forward => self.forward.as_ref(),
            Direction::Reverse => self.reverse.as_ref(),
        }
    }
}

/// The value of a key, and its table.
pub(super) struct Given<'a, T> {
    pub(super) key: &'static str,
    pub(super) value: &'a T,
    pub(super) table: Table,
}

impl<T> Clone for Given<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Given<'_, T> {}

impl<'a, T> Given<'a, T> {
    fn of(key: &'static str, value: Option<&'a T>, table: Table) -> Option<Given<'a, T>> {
        value.map(|value| Given { key, value, table })
    }

    /// What `plan` makes of the value; a fault in it becomes an error with the full key.
    pub(super) fn planned<P>(
        self,
        plan: impl FnOnce(&T) -> Result<P, Fault>,
    ) -> Result<P, PathError> {
        plan(self.value).map_err(|fault| self.error(fault))
    }

    /// The fault in the value as an error of the path.
    pub(super) fn error(self, fault: Fault) -> PathError {
        let dot = if fault.below.is_empty() { "" } else { "." };
        let key = format!("{}{}{dot}{}", self.table, self.key, fault.below);
        PathError { key, what: fault.what }
    }
}
