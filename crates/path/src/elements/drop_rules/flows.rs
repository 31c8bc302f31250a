//! What is known of the TCP streams that pass: how far each has come.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::ops::Range;

use tcplab_wire::{SeqNumber, SeqUnwrapper, TcpFlags, TcpPacket};

/// The streams that are remembered at once. Where there are more, the one that began first is
/// forgotten. Some hundred bytes each.
pub(super) const MOST_FLOWS: usize = 65_536;

/// Two numbers of one connection are never further apart (RFC 7323 section 2.2: windows are below
/// 2³⁰). Data beyond that belongs to something else.
const FARTHEST: i64 = 1 << 30;

/// The streams of one direction, by addresses and ports.
#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: BTreeMap<Ends, Flow>,
    /// In the order in which they began.
    order: VecDeque<Ends>,
}

type Ends = (IpAddr, u16, IpAddr, u16);

/// What a segment carries of its stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Carried {
    /// The offsets of its data, if the SYN has passed.
    pub(super) offsets: Option<Range<i64>>,
    /// Whether it has data, all of it below the highest byte so far.
    pub(super) is_old: bool,
}

#[derive(Debug)]
struct Flow {
    positions: SeqUnwrapper,
    /// Whether position 0 is the SYN, so that the first byte is at 1.
    knows_start: bool,
    /// The end of the data so far.
    end: i64,
}

impl Flow {
    fn new(first: SeqNumber, knows_start: bool) -> Flow {
        Flow { positions: SeqUnwrapper::new(first), knows_start, end: i64::from(knows_start) }
    }
}

impl Flows {
    /// Looks at the next segment and remembers it.
    pub(super) fn see(&mut self, tcp: &TcpPacket<'_>) -> Carried {
        let opens = tcp.flags().contains(TcpFlags::SYN);
        let len = tcp.payload_len();
        if len == 0 && !opens {
            return Carried::default();
        }
        let ends = (tcp.src(), tcp.src_port(), tcp.dst(), tcp.dst_port());
        // Ports are used again: a SYN with another number begins another stream.
        let begins =
            |flow: &Flow| opens && !(flow.knows_start && flow.positions.initial() == tcp.seq());
        if self.flows.get(&ends).is_none_or(begins) {
            self.begin(ends, Flow::new(tcp.seq(), opens));
        }
        let flow = self.flows.get_mut(&ends).expect("it has begun at the latest now");
        let first = tcp.seq().advanced_by(u32::from(opens));
        let start = flow.positions.position(first);
        if len == 0 || (start - flow.end).abs() > FARTHEST {
            return Carried::default();
        }
        flow.positions.advance(first);
        let end = start + i64::from(len);
        let is_old = end <= flow.end;
        flow.end = flow.end.max(end);
        Carried { offsets: flow.knows_start.then_some(start - 1..end - 1), is_old }
    }

    fn begin(&mut self, ends: Ends, flow: Flow) {
        if self.flows.insert(ends, flow).is_some() {
            return;
        }
        self.order.push_back(ends);
        if self.order.len() > MOST_FLOWS
            && let Some(oldest) = self.order.pop_front()
        {
            self.flows.remove(&oldest);
        }
    }
}
