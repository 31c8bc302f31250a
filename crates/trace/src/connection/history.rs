//! Zeek's summary of a connection: `conn_state` and `history`, comparable with a `conn.log`.
//!
//! The rules are those of Zeek's documentation of `Conn::Info` and, where that is silent, of its
//! TCP analyser. They are not always this analyser's opinion: Zeek calls a packet retransmitted
//! when its data end at or below the highest byte sent, out of order or not, and closed what a FIN
//! was seen of, acknowledged or not. Where it differs on purpose: a SYN with data is not called a
//! retransmission, and a packet with a wrong checksum (looked at only with SYN, FIN or RST) is
//! marked but left out only where its sender's checksums had been right before.

use tcplab_wire::{SeqNumber, TcpFlags};

use crate::ConnectionState as Summary;
use crate::fold::folded;
use crate::packet::Packet;

/// The longest history: only a sender with ever new SYNs, FINs or RSTs comes near it.
const LONGEST: usize = 256;

/// The letters of both ends, and what Zeek makes of each.
#[derive(Debug, Default)]
pub(crate) struct History {
    letters: String,
    client: Side,
    server: Side,
}
folded! { History { letters, client, server } }

#[derive(Debug, Default)]
struct Side {
    state: State,
    before: State,
    /// Which letters that come but once were written: A, D, I, Q.
    written: u8,
    syn: Option<SeqNumber>,
    fin: Option<SeqNumber>,
    rst: Option<SeqNumber>,
    /// The number behind the highest byte that it sent.
    highest: Option<SeqNumber>,
    retransmitted: Scaled,
    zero_windows: Scaled,
    gaps: Scaled,
    corrupt: Scaled,
}
folded! {
    Side {
        state, before, written, syn, fin, rst, highest, retransmitted, zero_windows, gaps, corrupt
    }
}

/// The states that Zeek gives an end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Inactive,
    SynSent,
    SynAckSent,
    /// It was seen without its SYN.
    Partial,
    Established,
    Closed,
    Reset,
}
folded! { enum State { Inactive, SynSent, SynAckSent, Partial, Established, Closed, Reset } }

/// Written at the first, the 10th, the 100th... time.
#[derive(Debug, Default)]
struct Scaled(u64);
folded! { tuple Scaled }

impl Scaled {
    fn counts(&mut self) -> bool {
        self.0 += 1;
        self.0 == 10_u64.pow(self.0.ilog10())
    }
}

const ACK: u8 = 1;
const DATA: u8 = 2;
const INCONSISTENT: u8 = 4;
const MULTI_FLAG: u8 = 8;

impl History {
    /// The roles are against the order of the first packets: a SYN-ACK comes from the server.
    pub(crate) fn flipped(&mut self) {
        self.letters.push('^');
    }
    pub(crate) fn written(&self) -> &str {
        &self.letters
    }

    pub(crate) fn corrupt(&mut self, forward: bool) {
        if self.side(forward).corrupt.counts() {
            self.write('c', forward);
        }
    }

    /// A packet; `gaps` gaps in the other end's data are acknowledged by it.
    #[inline(always)]
    pub(crate) fn follow(&mut self, packet: &Packet, forward: bool, gaps: u32) {
        if gaps > 0 || packet.is_control() || !self.side(forward).is_ordinary(packet) {
            self.letters(packet, forward, gaps);
        }
    }

    #[inline(never)]
    fn letters(&mut self, packet: &Packet, forward: bool, gaps: u32) {
        if packet.is_control() {
            self.control(packet, forward);
        } else {
            self.first(packet, forward);
        }
        if packet.window == 0 {
            self.zero_window(packet, forward);
        }
        self.advance(packet, forward);
        if packet.is_control() || self.side(forward).state == State::Inactive {
            self.step(packet, forward);
        }
        if gaps > 0 {
            self.gaps(!forward, gaps);
        }
    }

    fn side(&mut self, client: bool) -> &mut Side {
        if client { &mut self.client } else { &mut self.server }
    }
    fn write(&mut self, letter: char, forward: bool) {
        if self.letters.len() < LONGEST {
            self.letters.push(if forward { letter.to_ascii_uppercase() } else { letter });
        }
    }
    fn once(&mut self, mark: u8, letter: char, forward: bool) {
        let side = self.side(forward);
        if side.written & mark == 0 {
            side.written |= mark;
            self.write(letter, forward);
        }
    }

    fn first(&mut self, packet: &Packet, forward: bool) {
        if packet.payload > 0 {
            self.once(DATA, 'd', forward);
        } else if packet.ack.is_some() {
            self.once(ACK, 'a', forward);
        }
    }

    fn control(&mut self, packet: &Packet, forward: bool) {
        let (syn, fin, rst) = (packet.syn(), packet.fin(), packet.rst());
        if u8::from(syn) + u8::from(fin) + u8::from(rst) > 1 {
            if fin && rst {
                self.once(INCONSISTENT, 'i', forward);
            } else {
                self.once(MULTI_FLAG, 'q', forward);
            }
            return;
        }
        let side = self.side(forward);
        let (last, number, letter) = if syn {
            let letter = if packet.ack.is_some() { 'h' } else { 's' };
            (&mut side.syn, packet.seq, letter)
        } else if fin {
            // A FIN's number is that behind the data.
            (&mut side.fin, packet.seq.advanced_by(packet.payload), 'f')
        } else {
            (&mut side.rst, packet.seq, 'r')
        };
        if last.replace(number) != Some(number) {
            self.write(letter, forward);
        }
    }

    /// A zero window matters unless the other end has nothing more to send, or this one is gone.
    fn zero_window(&mut self, packet: &Packet, forward: bool) {
        let other_closed = self.side(!forward).state == State::Closed;
        let side = self.side(forward);
        if !packet.rst()
            && !other_closed
            && side.state != State::Reset
            && side.zero_windows.counts()
        {
            self.write('w', forward);
        }
    }

    /// Even a bare acknowledgement moves the highest number, if it stands beyond it.
    fn advance(&mut self, packet: &Packet, forward: bool) {
        let side = self.side(forward);
        if side.state == State::Reset || packet.rst() {
            return;
        }
        let end = packet.end();
        match side.highest {
            Some(highest) if !end.is_after(highest) => {
                let again = packet.payload > 0 && !packet.syn() && side.retransmitted.counts();
                if again {
                    self.write('t', forward);
                }
            }
            _ => side.highest = Some(end),
        }
    }

    fn gaps(&mut self, client: bool, gaps: u32) {
        if !(self.client.is_clean() && self.server.is_clean()) {
            return;
        }
        for _ in 0..gaps {
            if self.side(client).gaps.counts() {
                self.write('g', client);
            }
        }
    }

    /// The states as Zeek moves them.
    fn step(&mut self, packet: &Packet, forward: bool) {
        let (own, other) = if forward {
            (&mut self.client, &mut self.server)
        } else {
            (&mut self.server, &mut self.client)
        };
        match own.state {
            State::Inactive => Side::awakes(own, other, packet, forward),
            State::SynSent | State::SynAckSent => {
                if packet.fin() {
                    own.enter(State::Closed);
                }
                if packet.rst() {
                    own.enter(State::Reset);
                }
            }
            State::Established | State::Partial => {
                let late_syn = own.state == State::Partial && other.state == State::Inactive;
                if packet.syn() && packet.ack.is_none() && late_syn {
                    own.enter(State::SynSent);
                }
                if packet.fin() && !packet.rst() {
                    own.enter(State::Closed);
                    if other.state == State::Reset && other.before == State::Closed {
                        other.enter(State::Closed);
                    }
                }
                if packet.rst() {
                    own.enter(State::Reset);
                }
            }
            State::Closed => {
                if packet.rst() && other.state != State::Closed {
                    own.enter(State::Reset);
                }
            }
            State::Reset => {}
        }
    }

    /// Zeek's `conn_state`; `any_data`: an end sent some.
    pub(crate) fn summary(&self, any_data: bool) -> Summary {
        let (client, server) = (self.client.state, self.server.state);
        let unopened = |state| matches!(state, State::Inactive | State::Partial);
        match (client, server) {
            (State::SynSent | State::SynAckSent, State::Reset) => Summary::Rej,
            (State::Reset, State::Reset) if !any_data => Summary::Rej,
            (_, State::Reset) if unopened(client) => Summary::Rstrh,
            (_, State::Reset) => Summary::Rstr,
            (State::Reset, _) if unopened(server) => {
                if self.is_syn_then_rst() {
                    Summary::Rstos0
                } else {
                    Summary::Oth
                }
            }
            (State::Reset, _) => Summary::Rsto,
            (State::Closed, State::Closed) => Summary::Sf,
            (State::Closed, _) => {
                if unopened(server) {
                    Summary::Sh
                } else {
                    Summary::S2
                }
            }
            (_, State::Closed) => {
                if unopened(client) {
                    Summary::Shr
                } else {
                    Summary::S3
                }
            }
            (State::SynSent, State::Inactive) => Summary::S0,
            (State::Established, State::Established) => Summary::S1,
            _ => Summary::Oth,
        }
    }

    /// The client sent SYN and later RST, and nothing between that shows an open connection.
    fn is_syn_then_rst(&self) -> bool {
        let letters = self.letters.strip_prefix('^').unwrap_or(&self.letters);
        let between = letters.strip_prefix('S').and_then(|rest| rest.split_once('R'));
        between.is_some_and(|(between, _)| !between.contains(['H', 'A', 'F', 'G', 'I', 'Q']))
    }
}

impl Side {
    /// Whether nothing is to be written of the packet, which is neither SYN, FIN nor RST: most are
    /// data that follow what was sent before, or acknowledgements, and not the first of their kind.
    #[inline(always)]
    fn is_ordinary(&mut self, packet: &Packet) -> bool {
        let mark = if packet.payload > 0 { DATA } else { ACK };
        let Some(highest) = self.highest else { return false };
        let end = packet.seq.advanced_by(packet.payload);
        let ahead = end.distance_from(highest);
        let usual = self.written & mark != 0
            && packet.window != 0
            && self.state != State::Inactive
            && self.state != State::Reset
            && (ahead > 0 || (ahead == 0 && packet.payload == 0));
        if usual {
            self.highest = Some(end);
        }
        usual
    }
    fn enter(&mut self, state: State) {
        if self.state != state {
            self.before = self.state;
            self.state = state;
        }
    }
    fn is_clean(&self) -> bool {
        self.state == State::Established
            || (self.state == State::Closed && self.before == State::Established)
    }

    /// The first packet of an end, or the first that moves it.
    fn awakes(own: &mut Side, other: &mut Side, packet: &Packet, forward: bool) {
        if packet.syn() {
            if forward {
                let answers = packet.flags.contains(TcpFlags::ACK);
                own.enter(if answers { State::SynAckSent } else { State::SynSent });
            } else {
                if other.state == State::SynSent {
                    other.enter(State::Established);
                }
                own.enter(State::Established);
            }
        }
        if packet.fin() {
            own.enter(State::Closed);
        }
        if packet.rst() {
            own.enter(State::Reset);
        }
        if own.state != State::Inactive {
            return;
        }
        // Some servers acknowledge a SYN before they answer it.
        let ghost = !forward && packet.payload == 0 && other.state == State::SynSent;
        if ghost {
            return;
        }
        let syn_missed = packet.ack.is_some() && other.state == State::Established;
        own.enter(if syn_missed { State::Established } else { State::Partial });
    }
}
