//! Two ends, stepped from one event to the next.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tcplab_units::{Endpoint, Span};

use super::*;

/// What happens to a segment on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Arrives,
    Lost,
    Marked,
    /// Once as usual, and again so much later.
    Twice(Span),
    Late(Span),
}

/// A client and a server; each segment takes `delay`.
pub(super) struct Pair {
    pub(super) now: Instant,
    pub(super) client: Connection,
    pub(super) server: Option<Connection>,
    config: Arc<Config>,
    server_initial: u32,
    delay: Span,
    under_way: BTreeMap<(Instant, u64), (Endpoint, Segment)>,
    count: u64,
    /// Decides on each segment by its number in its direction, from 0, and who sends it.
    #[expect(clippy::type_complexity, reason = "a script")]
    fate: Box<dyn FnMut(Endpoint, u32, &Segment) -> Fate>,
    sent: [u32; 2],
    /// When an application acts of its own accord.
    pub(super) wake: Option<Instant>,
    pub(super) log: String,
    pub(super) causes: Vec<(Endpoint, SendCause)>,
}

impl Pair {
    pub(super) fn new(client: &Config, server: &Config, delay: Span) -> Pair {
        Pair::numbered(client, server, delay, [1_000, 500_000])
    }

    /// Two ends with the same stack.
    pub(super) fn alike(config: &Config, delay: Span) -> Pair {
        Pair::new(config, config, delay)
    }

    pub(super) fn numbered(
        client: &Config,
        server: &Config,
        delay: Span,
        initial: [u32; 2],
    ) -> Pair {
        let now = Instant::ZERO + Span::from_secs(1);
        Pair {
            now,
            client: Connection::connect(now, &Arc::new(client.clone()), opening(initial[0])),
            server: None,
            config: Arc::new(server.clone()),
            server_initial: initial[1],
            delay,
            under_way: BTreeMap::new(),
            count: 0,
            fate: Box::new(|_, _, _| Fate::Arrives),
            sent: [0; 2],
            wake: None,
            log: String::new(),
            causes: vec![],
        }
    }

    pub(super) fn with_fate(
        mut self,
        fate: impl FnMut(Endpoint, u32, &Segment) -> Fate + 'static,
    ) -> Pair {
        self.fate = Box::new(fate);
        self
    }

    pub(super) fn end(&mut self, end: Endpoint) -> &mut Connection {
        match end {
            Endpoint::Client => &mut self.client,
            Endpoint::Server => self.server.as_mut().expect("the SYN arrived"),
        }
    }

    pub(super) fn server(&mut self) -> &mut Connection {
        self.end(Endpoint::Server)
    }

    /// Sends all that both want to send.
    pub(super) fn flush(&mut self) {
        for end in [Endpoint::Client, Endpoint::Server] {
            loop {
                let now = self.now;
                let connection = match end {
                    Endpoint::Client => Some(&mut self.client),
                    Endpoint::Server => self.server.as_mut(),
                };
                let Some(transmit) = connection.and_then(|c| c.poll_transmit(now)) else { break };
                self.causes.push((end, transmit.cause));
                for segment in transmit.cut() {
                    self.send(end, segment, transmit.cause);
                }
            }
        }
    }

    fn send(&mut self, from: Endpoint, mut segment: Segment, cause: SendCause) {
        let number = &mut self.sent[from as usize];
        let fate = (self.fate)(from, *number, &segment);
        *number += 1;
        let (own, other, arrow) = match from {
            Endpoint::Client => (self.client.numbers.own.initial(), self.server_initial, '>'),
            Endpoint::Server => (SeqNumber::new(self.server_initial), 0, '<'),
        };
        let other = match from {
            Endpoint::Client => SeqNumber::new(other),
            Endpoint::Server => self.client.numbers.own.initial(),
        };
        let ms = self.now.since(Instant::ZERO + Span::from_secs(1)).as_millis_f64();
        let text = written(&segment, own, Some(other));
        let lost = if fate == Fate::Lost { " lost" } else { "" };
        writeln!(self.log, "{ms:8.3} {arrow} {text}  {cause:?}{lost}").expect("a string");
        let to = if from == Endpoint::Client { Endpoint::Server } else { Endpoint::Client };
        let mut arrive = |after: Span, segment: Segment| {
            self.count += 1;
            self.under_way.insert((self.now + after, self.count), (to, segment));
        };
        match fate {
            Fate::Lost => {}
            Fate::Arrives => arrive(self.delay, segment),
            Fate::Marked => {
                segment.ecn = tcplab_wire::Ecn::Ce;
                arrive(self.delay, segment);
            }
            Fate::Twice(later) => {
                arrive(self.delay, segment.clone());
                arrive(self.delay + later, segment);
            }
            Fate::Late(later) => arrive(self.delay + later, segment),
        }
    }

    /// When anything happens next.
    fn next_event(&self) -> Option<Instant> {
        let arrival = self.under_way.keys().next().map(|(at, _)| *at);
        let timers = [Some(&self.client), self.server.as_ref()];
        let timers = timers.into_iter().flatten().filter_map(Connection::poll_at);
        let wake = self.wake.filter(|at| *at > self.now);
        timers.chain(arrival).chain(wake).min()
    }

    /// Goes on to the next event; whether there was one.
    pub(super) fn step(&mut self) -> bool {
        self.flush();
        let Some(at) = self.next_event() else { return false };
        assert!(at >= self.now, "{at:?} is over at {:?}", self.now);
        self.now = at;
        let now = self.now;
        for connection in [Some(&mut self.client), self.server.as_mut()].into_iter().flatten() {
            connection.handle_timeout(now);
        }
        self.flush();
        // One at a time: applications read between them.
        if let Some(entry) = self.under_way.first_entry()
            && entry.key().0 <= now
        {
            let (to, segment) = entry.remove();
            match (to, &mut self.server) {
                (Endpoint::Client, _) => self.client.handle_segment(now, &segment),
                (Endpoint::Server, Some(server)) => server.handle_segment(now, &segment),
                (Endpoint::Server, server @ None) => {
                    let opening = opening(self.server_initial);
                    *server = Connection::accept(now, &self.config, opening, &segment);
                }
            }
            self.flush();
        }
        true
    }

    /// Steps until `done`, at most until `limit` after the start.
    pub(super) fn run_until(&mut self, limit: Span, mut done: impl FnMut(&mut Pair) -> bool) {
        self.flush();
        let mut events = 0;
        while !done(self) {
            events += 1;
            assert!(
                events < 100_000 && self.now.since(Instant::ZERO) <= limit && self.step(),
                "not done at {:?}:\n{}",
                self.now,
                self.tail()
            );
        }
        self.flush();
    }

    /// Steps for `span`.
    pub(super) fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        self.flush();
        while self.next_event().is_some_and(|at| at <= until) {
            self.step();
        }
        self.now = until;
    }

    pub(super) fn connect(mut self) -> Pair {
        self.run_until(Span::from_secs(60), |pair| {
            pair.server.as_ref().is_some_and(|s| s.state() == State::Established)
        });
        self
    }

    /// The last lines of the log.
    pub(super) fn tail(&self) -> String {
        let lines: Vec<_> = self.log.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// Has `from` send `bytes` and the other end read them as they come, until all is there and
    /// both have closed; gives what was read.
    pub(super) fn transfer(&mut self, from: Endpoint, bytes: &[u8], limit: Span) -> Vec<u8> {
        let to = if from == Endpoint::Client { Endpoint::Server } else { Endpoint::Client };
        let (mut written, mut read) = (0, vec![]);
        let mut closed = false;
        self.run_until(limit, |pair| {
            let now = pair.now;
            if pair.server.is_none() {
                return false;
            }
            while written < bytes.len() {
                let Ok(count) = pair.end(from).write(now, &bytes[written..]) else { break };
                written += count;
            }
            if written == bytes.len() && !closed {
                pair.end(from).shutdown(now);
                closed = true;
            }
            let mut block = [0; 4096];
            loop {
                match pair.end(to).read(now, &mut block) {
                    Ok(0) => return true,
                    Ok(count) => read.extend_from_slice(&block[..count]),
                    Err(_) => break,
                }
            }
            pair.flush();
            pair.end(from).error().is_some() || pair.end(to).error().is_some()
        });
        read
    }
}
