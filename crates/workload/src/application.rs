//! The sender and the receiver of a bulk of data, as state machines.

use tcplab_units::{Bytes, Instant};

use crate::{AppReport, Digest, Payload, Role, WorkloadSpec};

/// What an application would do next on its connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Want<'a> {
    /// Write these bytes; report with `wrote` how many the socket took.
    Write(&'a [u8]),
    /// Close the sending half; report with `shut_down`.
    ShutDown,
    /// Read; report with `received` or `end_of_stream`.
    Read,
    /// Close the connection: the work is done.
    Close,
}

/// Either end of a [`WorkloadSpec`]. See the crate's documentation for how to drive one.
#[derive(Debug, Clone)]
pub enum Application {
    /// Writes the payload.
    Sender(Sender),
    /// Reads it.
    Receiver(Receiver),
}

impl Application {
    /// The application that plays `role` in `spec`; `seed` makes the payload.
    pub fn new(role: Role, spec: &WorkloadSpec, seed: u64) -> Application {
        match role {
            Role::Sender => Application::Sender(Sender::new(spec.amount(), spec.write_size, seed)),
            Role::Receiver => Application::Receiver(Receiver::new()),
        }
    }

    /// The same of zeros that nobody looks at: neither end keeps a digest. It is for measuring what
    /// a world costs by itself.
    pub fn of_zeros(role: Role, spec: &WorkloadSpec) -> Application {
        let mut application = Application::new(role, spec, 0);
        application.log().digest = None;
        if let Application::Sender(sender) = &mut application {
            sender.payload = None;
        }
        application
    }

    /// Whether all it writes is zeros.
    pub fn writes_zeros(&self) -> bool {
        matches!(self, Application::Sender(Sender { payload: None, .. }))
    }

    /// It begins: just before connecting, or just after the connection was accepted.
    pub fn start(&mut self, now: Instant) {
        self.log().started.get_or_insert(now);
    }

    /// What it would do next. Asking changes nothing that can be seen.
    pub fn want(&mut self) -> Want<'_> {
        match self {
            Application::Sender(sender) => sender.want(),
            Application::Receiver(receiver) => receiver.want(),
        }
    }

    /// The socket took the first `count` bytes of what [`Want::Write`] offered.
    ///
    /// # Panics
    /// When nothing, or less, was offered.
    pub fn wrote(&mut self, count: usize, now: Instant) {
        match self {
            Application::Sender(sender) => sender.wrote(count, now),
            Application::Receiver(_) => panic!("a receiver writes nothing"),
        }
    }

    /// The sending half was closed as [`Want::ShutDown`] asked.
    pub fn shut_down(&mut self, _now: Instant) {
        match self {
            Application::Sender(sender) => sender.shut_down(),
            Application::Receiver(_) => panic!("a receiver closes as a whole"),
        }
    }

    /// A read gave `bytes`, at least one.
    pub fn received(&mut self, bytes: &[u8], now: Instant) {
        match self {
            Application::Sender(sender) => sender.log.stray += Bytes::from(bytes.len()),
            Application::Receiver(receiver) => receiver.received(bytes, now),
        }
    }

    /// A read gave nothing: the other end has closed its sending half.
    pub fn end_of_stream(&mut self, now: Instant) {
        self.log().finished.get_or_insert(now);
    }

    /// Its account so far.
    pub fn report(&self) -> AppReport {
        match self {
            Application::Sender(sender) => sender.report(),
            Application::Receiver(receiver) => receiver.report(),
        }
    }

    fn log(&mut self) -> &mut Log {
        match self {
            Application::Sender(sender) => &mut sender.log,
            Application::Receiver(receiver) => &mut receiver.log,
        }
    }
}

/// Writes an amount of payload in pieces, closes its half, and waits for the other end to close.
#[derive(Debug, Clone)]
pub struct Sender {
    /// Where the bytes come from; zeros where there is nothing.
    payload: Option<Payload>,
    /// Payload bytes not yet drawn from the stream.
    undrawn: u64,
    /// The piece being written, and how much of it the socket took.
    piece: Vec<u8>,
    taken: usize,
    write_size: usize,
    shut_down: bool,
    log: Log,
}

impl Sender {
    /// A sender of the first `amount` bytes of the payload of `seed`.
    ///
    /// # Panics
    /// When `write_size` is zero.
    pub fn new(amount: Bytes, write_size: Bytes, seed: u64) -> Sender {
        assert!(write_size > Bytes::ZERO, "pieces of nothing never end");
        Sender {
            payload: Some(Payload::new(seed)),
            undrawn: amount.as_u64(),
            piece: Vec::new(),
            taken: 0,
            write_size: write_size.as_u64() as usize,
            shut_down: false,
            log: Log::default(),
        }
    }

    /// Whether the socket took every byte.
    pub fn is_written(&self) -> bool {
        self.undrawn == 0 && self.taken == self.piece.len()
    }

    fn want(&mut self) -> Want<'_> {
        if self.log.finished.is_some() && (self.shut_down || !self.is_written()) {
            // Also when the other end closed too early: the report tells how far it came.
            return Want::Close;
        }
        if self.is_written() {
            return if self.shut_down { Want::Read } else { Want::ShutDown };
        }
        if self.taken == self.piece.len() {
            let size = self.undrawn.min(self.write_size as u64);
            self.piece.resize(size as usize, 0);
            if let Some(payload) = &mut self.payload {
                payload.fill(&mut self.piece);
            }
            self.undrawn -= size;
            self.taken = 0;
        }
        Want::Write(&self.piece[self.taken..])
    }

    fn wrote(&mut self, count: usize, now: Instant) {
        let bytes = &self.piece[self.taken..][..count];
        self.log.moved(bytes, now);
        self.taken += count;
    }

    fn shut_down(&mut self) {
        assert!(self.is_written(), "the stream would end too early");
        self.shut_down = true;
    }

    fn report(&self) -> AppReport {
        self.log.report(Role::Sender)
    }
}

/// Reads until the end of the stream and answers it by closing.
#[derive(Debug, Clone, Default)]
pub struct Receiver {
    log: Log,
}

impl Receiver {
    /// A receiver that has read nothing.
    pub fn new() -> Receiver {
        Receiver::default()
    }

    fn want(&self) -> Want<'static> {
        if self.log.finished.is_some() { Want::Close } else { Want::Read }
    }

    fn received(&mut self, bytes: &[u8], now: Instant) {
        self.log.moved(bytes, now);
    }

    fn report(&self) -> AppReport {
        self.log.report(Role::Receiver)
    }
}

/// What the report is made from.
#[derive(Debug, Clone)]
struct Log {
    digest: Option<Digest>,
    bytes: Bytes,
    calls: u64,
    started: Option<Instant>,
    first_byte: Option<Instant>,
    last_byte: Option<Instant>,
    finished: Option<Instant>,
    stray: Bytes,
}

impl Default for Log {
    fn default() -> Log {
        Log {
            digest: Some(Digest::new()),
            bytes: Bytes::ZERO,
            calls: 0,
            started: None,
            first_byte: None,
            last_byte: None,
            finished: None,
            stray: Bytes::ZERO,
        }
    }
}

impl Log {
    fn moved(&mut self, bytes: &[u8], now: Instant) {
        if bytes.is_empty() {
            return;
        }
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        self.bytes += Bytes::from(bytes.len());
        self.calls += 1;
        self.first_byte.get_or_insert(now);
        self.last_byte = Some(now);
    }

    fn report(&self, role: Role) -> AppReport {
        AppReport {
            role,
            bytes: self.bytes,
            digest: self.digest.as_ref().map(Digest::hex).unwrap_or_default(),
            calls: self.calls,
            started: self.started,
            first_byte: self.first_byte,
            last_byte: self.last_byte,
            finished: self.finished,
            stray: self.stray,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upload(amount: u64, write_size: u64) -> WorkloadSpec {
        WorkloadSpec {
            upload: Some(Bytes::new(amount)),
            download: None,
            write_size: Bytes::new(write_size),
        }
    }

    /// A connection that takes at most `room` bytes per write and passes them on at once; a
    /// nanosecond passes with each step. The steps are told as the client sees them.
    fn run(spec: &WorkloadSpec, room: usize) -> (Vec<String>, AppReport, AppReport) {
        let mut client = Application::new(spec.client_role(), spec, 7);
        let mut server = Application::new(spec.server_role(), spec, 7);
        let (mut steps, mut now) = (Vec::new(), Instant::ZERO);
        client.start(now);
        server.start(now);
        loop {
            now += tcplab_units::Span::from_nanos(1);
            match client.want() {
                Want::Write(bytes) => {
                    let taken = bytes[..bytes.len().min(room)].to_vec();
                    steps.push(format!("write {} of {}", taken.len(), bytes.len()));
                    client.wrote(taken.len(), now);
                    assert_eq!(server.want(), Want::Read);
                    server.received(&taken, now);
                }
                Want::ShutDown => {
                    steps.push("shut down".into());
                    client.shut_down(now);
                    server.end_of_stream(now);
                    assert_eq!(server.want(), Want::Close);
                }
                Want::Read => {
                    steps.push("read end".into());
                    client.end_of_stream(now);
                }
                Want::Close => return (steps, client.report(), server.report()),
            }
        }
    }

    #[test]
    fn an_upload_step_by_step() {
        let (steps, sent, received) = run(&upload(10, 4), 3);
        let expected = [
            "write 3 of 4",
            "write 1 of 1",
            "write 3 of 4",
            "write 1 of 1",
            "write 2 of 2",
            "shut down",
            "read end",
        ];
        assert_eq!(steps, expected);
        assert_eq!(sent.digest, Digest::of_payload(7, 10));
        assert_eq!((received.digest, received.bytes), (sent.digest, sent.bytes));
        assert_eq!((sent.calls, sent.started), (5, Some(Instant::ZERO)));
        assert_eq!(sent.first_byte, Some(Instant::from_nanos(1)));
        assert_eq!(sent.last_byte, Some(Instant::from_nanos(5)));
        assert_eq!(received.finished, Some(Instant::from_nanos(6)));
        assert_eq!(sent.finished, Some(Instant::from_nanos(7)));
    }

    #[test]
    fn an_end_that_comes_too_early_ends_the_sender() {
        let mut sender = Application::new(Role::Sender, &upload(10, 4), 7);
        assert!(matches!(sender.want(), Want::Write(_)));
        sender.wrote(4, Instant::ZERO);
        sender.end_of_stream(Instant::ZERO);
        assert_eq!(sender.want(), Want::Close);
        assert_eq!(sender.report().bytes, Bytes::new(4));
    }

    #[test]
    fn data_for_a_sender_is_told_and_changes_nothing() {
        let mut sender = Application::new(Role::Sender, &upload(10, 4), 7);
        sender.received(b"what?", Instant::ZERO);
        let report = sender.report();
        assert_eq!((report.stray, report.bytes), (Bytes::new(5), Bytes::ZERO));
    }

    #[test]
    fn a_corrupted_byte_changes_the_digest() {
        let mut receiver = Application::new(Role::Receiver, &upload(10, 4), 7);
        let mut bytes = [0; 10];
        Payload::new(7).fill(&mut bytes);
        bytes[9] ^= 1;
        receiver.received(&bytes, Instant::ZERO);
        assert_ne!(receiver.report().digest, Digest::of_payload(7, 10));
    }

    #[test]
    fn a_report_survives_being_written_down() {
        let (_, report, _) = run(&upload(10, 4), 3);
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<AppReport>(&json).unwrap(), report);
    }

    proptest::proptest! {
        #[test]
        fn everything_arrives_whatever_the_pieces(
            amount in 1u64..5_000, write_size in 1u64..900, room in 1usize..700,
        ) {
            let (_, sent, received) = run(&upload(amount, write_size), room);
            proptest::prop_assert_eq!(received.bytes, Bytes::new(amount));
            proptest::prop_assert_eq!(&received.digest, &Digest::of_payload(7, amount));
            proptest::prop_assert_eq!(sent.digest, received.digest);
        }
    }
}
