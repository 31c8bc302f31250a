//! One end, and a peer written by hand.

use tcplab_units::Span;
use tcplab_wire::{SackBlock, TcpRepr};

use super::*;
use crate::Data;

/// The numbers from which both count.
const OWN: u32 = 10_000;
const PEER: u32 = 70_000;

/// A connection under test and what the peer sends it. Times are milliseconds after the start.
pub(super) struct Bench {
    pub(super) now: Instant,
    pub(super) connection: Connection,
    pub(super) sent: Vec<String>,
    pub(super) causes: Vec<SendCause>,
    /// The peer's timestamp clock, if it has one.
    pub(super) clock: Option<u32>,
    pub(super) sack: bool,
    pub(super) scale: Option<u8>,
}

impl Bench {
    /// A connection that sent its SYN.
    pub(super) fn connecting(config: &Config) -> Bench {
        let now = Instant::ZERO + Span::from_secs(10);
        let connection = Connection::connect(now, &Arc::new(config.clone()), opening(OWN));
        let mut bench = Bench::around(now, connection);
        bench.poll();
        bench
    }

    fn around(now: Instant, connection: Connection) -> Bench {
        let (sent, causes) = (vec![], vec![]);
        Bench { now, connection, sent, causes, clock: None, sack: true, scale: Some(7) }
    }

    /// A connection that answered a SYN.
    pub(super) fn answering(config: &Config) -> Bench {
        let now = Instant::ZERO + Span::from_secs(10);
        let syn = Bench::handshake_segment("S", None, true, Some(7));
        let connection =
            Connection::accept(now, &Arc::new(config.clone()), opening(OWN), &syn).expect("a SYN");
        let mut bench = Bench::around(now, connection);
        bench.poll();
        bench
    }

    /// A connection that a client opened.
    pub(super) fn established(config: &Config) -> Bench {
        let mut bench = Bench::connecting(config);
        bench.hear_syn_ack();
        bench.forget();
        bench
    }

    pub(super) fn hear_syn_ack(&mut self) {
        let clock = self.clock.map(|clock| (clock, OWN + 10_000));
        let mut syn_ack = Bench::handshake_segment("S.", clock, self.sack, self.scale);
        syn_ack.header.ack = SeqNumber::new(OWN + 1);
        self.hear_raw(&syn_ack);
    }

    fn handshake_segment(
        letters: &str,
        timestamps: Option<(u32, u32)>,
        sack: bool,
        scale: Option<u8>,
    ) -> Segment {
        Segment::bare(TcpRepr {
            seq: SeqNumber::new(PEER),
            flags: flags(letters),
            window: 65_535,
            mss: Some(1460),
            window_scale: scale,
            sack_permitted: sack,
            timestamps,
            ..TcpRepr::default()
        })
    }

    /// Advances time; timers expire meanwhile.
    pub(super) fn wait(&mut self, ms: u64) {
        let until = self.now + Span::from_millis(ms);
        while let Some(at) = self.connection.poll_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.connection.handle_timeout(self.now);
            self.poll();
        }
        self.now = until;
    }

    /// Takes what the connection sends.
    pub(super) fn poll(&mut self) {
        while let Some(transmit) = self.connection.poll_transmit(self.now) {
            self.causes.push(transmit.cause);
            for segment in transmit.cut() {
                let text = written(&segment, SeqNumber::new(OWN), Some(SeqNumber::new(PEER)));
                self.sent.push(text);
            }
        }
    }

    /// What was sent since the last time.
    pub(super) fn forget(&mut self) -> Vec<String> {
        self.causes.clear();
        std::mem::take(&mut self.sent)
    }

    /// What was sent since the last time, without windows and options.
    pub(super) fn numbers(&mut self) -> Vec<String> {
        let plain = |text: String| text.split(" win").next().unwrap_or_default().to_owned();
        self.forget().into_iter().map(plain).collect()
    }

    pub(super) fn hear_raw(&mut self, segment: &Segment) {
        self.connection.handle_segment(self.now, segment);
        self.poll();
    }

    /// A segment of the peer, by its numbers relative to the initial ones.
    pub(super) fn segment(letters: &str, seq: i32, ack: i32, len: u32) -> Segment {
        let relative = |base: u32, by: i32| SeqNumber::new(base.wrapping_add(by as u32));
        let header = TcpRepr {
            seq: relative(PEER, seq),
            ack: relative(OWN, ack),
            flags: flags(letters),
            window: 500,
            ..TcpRepr::default()
        };
        let bytes: Vec<u8> = (0..len).map(|n| (seq as u32 + n) as u8).collect();
        Segment { data: Data::copy_of(&bytes), ..Segment::bare(header) }
    }

    pub(super) fn hear(&mut self, letters: &str, seq: i32, ack: i32, len: u32) {
        let mut segment = Bench::segment(letters, seq, ack, len);
        segment.header.timestamps = self.clock.map(|clock| (clock, 0));
        self.hear_raw(&segment);
    }

    /// An acknowledgement with SACK blocks and a window field.
    pub(super) fn hear_ack(&mut self, ack: i32, window: u16, blocks: &[(u32, u32)]) {
        let mut segment = Bench::segment(".", 1, ack, 0);
        segment.header.window = window;
        let number = |by: u32| SeqNumber::new(OWN.wrapping_add(by));
        for (left, right) in blocks {
            segment.header.sack.push(SackBlock { left: number(*left), right: number(*right) });
        }
        self.hear_raw(&segment);
    }

    /// ICMP quotes a segment that began at `sequence`, relative to the initial one.
    pub(super) fn hear_too_big(&mut self, sequence: i32, mtu: u32) -> Option<PathMtu> {
        let number = SeqNumber::new(OWN.wrapping_add(sequence as u32));
        let learnt = self.connection.handle_too_big(self.now, number, mtu);
        self.poll();
        learnt
    }

    pub(super) fn read_all(&mut self) -> usize {
        let mut block = [0; 1 << 12];
        let mut count = 0;
        while let Ok(read) = self.connection.read(self.now, &mut block)
            && read > 0
        {
            count += read;
        }
        self.poll();
        count
    }
}
