//! A trial on one host, where the path says `same_host`: both ends are threads in one network
//! namespace, and their packets go over its loopback with its MTU of 65,536, neither segmented nor
//! checksummed. A packet ring at the loopback sees each packet twice, as it leaves and as it comes:
//! once for the capture of either end.
//!
//! Such a trial measures processor time, so capturing must cost little: the ring keeps the
//! beginning of each packet, the sender copies it there, and no thread is woken by it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::mpsc;

use tcplab_recording::WorldRecord;
use tcplab_units::{Endpoint, Instant, Span};
use tcplab_wire::offload::{GsoType, VnetHeader};

use super::conduct::{Carrier, conduct};
use super::endpoint_thread::start;
use super::in_order::InOrder;
use super::recording_threads::Moved;
use crate::addresses::addresses;
use crate::bridge::BridgeState;
use crate::clock::Clock;
use crate::device::{interface_index, take_loopback_up};
use crate::namespace::Privilege;
use crate::recorder::RecorderQueue;
use crate::sys::{PacketRing, Ringed};
use crate::trial_request::TrialRequest;
use crate::trial_state::TrialState;
use crate::{TrialError, sysctl};

/// How often the ring is emptied. A busy loopback needs much longer to fill it; a processor that
/// has taken the time of a packet needs much less to put it there.
const EVERY: Span = Span::from_millis(5);
/// How long to wait for the recorder at the end; one that has failed takes nothing more.
const PATIENCE: Span = Span::from_secs(20);
/// The bytes that captures keep of each packet by default: its headers.
const HEADERS: u32 = 128;
/// Every EtherType (`ETH_P_ALL`): the only way to see what goes out, too.
const EVERY_TYPE: u16 = 3;
/// Where an IPv4 header has its protocol, and the addresses of sender and receiver (RFC 791 §3.1).
const PROTOCOL: usize = 9;
const SOURCE: usize = 12;
const DESTINATION: usize = 16;

/// Runs the trial.
pub(crate) fn run(request: &TrialRequest, privilege: Privilege) -> Result<(), TrialError> {
    let case = &request.case;
    let request =
        &TrialRequest { snaplen: Some(request.snaplen.unwrap_or(HEADERS)), ..request.clone() };
    let shared = Arc::new(TrialState::new(request));
    // Both ends have the same, as was checked when the scenario was read.
    sysctl::apply(Endpoint::Client.name(), &case.client.sysctl)?;
    take_loopback_up()?;
    let ring = open_ring(request.snaplen)?;
    let (sockets, new_sockets) = mpsc::channel();
    // A server that is not ready could refuse its client.
    let [server, client] = [Endpoint::Server, Endpoint::Client]
        .map(|end| start(end, addresses(case), &shared, &sockets, |_| Ok(()), || Some(Ok(()))));
    drop(sockets);
    conduct(request, privilege, &shared, [client?, server?], new_sockets, |clock, _, queue| {
        LoopbackCapture::new(clock, ring, queue, addresses(case))
    })
}

fn open_ring(snaplen: Option<u32>) -> Result<PacketRing, TrialError> {
    let keep = snaplen.unwrap_or(HEADERS).min(1 << 16) as usize;
    PacketRing::open(interface_index("lo")?, EVERY_TYPE, keep)
        .map_err(TrialError::setup("look at the packets of the loopback"))
}

/// A packet of the loopback.
struct Seen {
    endpoint: Endpoint,
    is_sent: bool,
    len: usize,
    /// What the kernel left to do on it.
    undone: VnetHeader,
}

/// Captures what passes the loopback.
struct LoopbackCapture {
    clock: Clock,
    ring: PacketRing,
    packets: InOrder<Seen>,
    queue: RecorderQueue,
    addresses: [Ipv4Addr; 2],
    /// The wall clock before the trial's, at the start.
    wall_offset: i64,
}

impl LoopbackCapture {
    fn new(
        clock: Clock,
        ring: PacketRing,
        queue: RecorderQueue,
        addresses: [Ipv4Addr; 2],
    ) -> LoopbackCapture {
        let (packets, wall_offset) = (InOrder::new(), Clock::wall_offset());
        LoopbackCapture { clock, ring, packets, queue, addresses, wall_offset }
    }

    /// Records what had passed at `until`, as far as there is room in the queue; the rest waits.
    /// Whether that was all, and nothing is left in the ring.
    fn look(&mut self, until: Instant) -> bool {
        let LoopbackCapture { clock, ring, packets, queue, addresses, wall_offset } = self;
        // Where the wall clock was set meanwhile, the kernel's times moved with it.
        let moved = Clock::wall_offset().wrapping_sub(*wall_offset);
        let epoch = clock.epoch_nanos().saturating_add_signed(moved);
        let note = |packets: &mut InOrder<Seen>, packet: Ringed<'_>| {
            let Some(endpoint) = whose(&packet, *addresses) else { return };
            let at = Instant::from_nanos(packet.at_nanos.saturating_sub(epoch)).min(clock.now());
            let Ringed { is_sent, len, .. } = packet;
            packets.put(at, Seen { endpoint, is_sent, len, undone: undone(&packet) }, packet.bytes);
        };
        let mut is_empty = false;
        while !is_empty && packets.has_room() {
            is_empty = !ring.take(|packet| note(packets, packet));
        }
        let had_room = packets.hand_on(until, |at, seen, bytes| {
            let Seen { endpoint, is_sent, len, undone } = *seen;
            let is_room = queue.has_room(bytes.len());
            if is_room && bytes.len() < len {
                queue.seen_cut(endpoint, at, is_sent, bytes, len);
            } else if is_room {
                queue.seen(endpoint, at, is_sent, undone, bytes);
            }
            is_room
        });
        queue.pass_on(|| 0);
        is_empty && had_room
    }
}

impl Carrier for LoopbackCapture {
    const IS_PROMPT: bool = false;

    fn run(&mut self, over: &mut dyn FnMut(&BridgeState) -> bool) -> Result<(), TrialError> {
        let mut looked = Instant::ZERO;
        loop {
            let now = self.clock.now();
            self.look(looked);
            looked = now;
            if over(&BridgeState { now, on_path: 0 }) {
                return Ok(());
            }
            self.clock.sleep_until(now + EVERY);
        }
    }

    fn finish(mut self, world: WorldRecord) -> Moved {
        let end = self.clock.now();
        while {
            self.clock.sleep_until(self.clock.now() + EVERY);
            !self.look(self.clock.now()) && self.clock.now() < end + PATIENCE
        } {}
        let [client, server] = self.queue.frames_lost();
        // The ring does not say whose frames it had no room for.
        let frames_lost = [client + self.ring.dropped(), server];
        Moved::unsteered(WorldRecord { device: "loopback".into(), ..world }, frames_lost)
    }
}

/// In whose capture a packet belongs: its sender's as it leaves, its receiver's as it comes.
fn whose(packet: &Ringed<'_>, addresses: [Ipv4Addr; 2]) -> Option<Endpoint> {
    if packet.bytes.first()? >> 4 != 4 {
        return None;
    }
    let at = if packet.is_sent { SOURCE } else { DESTINATION };
    let address: [u8; 4] = packet.bytes.get(at..at + 4)?.try_into().ok()?;
    let own = |end: &Endpoint| addresses[*end as usize] == Ipv4Addr::from(address);
    Endpoint::BOTH.into_iter().find(own)
}

/// What the kernel left to do on a whole packet: its checksum.
fn undone(packet: &Ringed<'_>) -> VnetHeader {
    let ip_header = packet.bytes.first().map_or(0, |byte| u16::from(byte & 0x0f) * 4);
    let csum_offset = match packet.bytes.get(PROTOCOL) {
        Some(6) => 16,
        Some(17) => 6,
        _ => return VnetHeader::default(),
    };
    VnetHeader {
        needs_checksum: packet.is_unsummed,
        gso_type: GsoType::None,
        csum_start: ip_header,
        csum_offset,
        ..VnetHeader::default()
    }
}
