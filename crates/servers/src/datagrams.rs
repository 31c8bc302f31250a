//! Services over UDP: a datagram comes, a datagram goes back. What is lost is lost; clients ask
//! again.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags};
use tcplab_units::ServerDesign;

use crate::calendar::Moment;
use crate::config::{Config, Subject};
use crate::context::{Observer, wait};
use crate::counters::{Count, Counters, Slot};
use crate::design::Queue;
use crate::error::ServeError;
use crate::service::chargen;
use crate::sessions::Sessions;
use crate::stop::Stop;
use crate::utmp;

/// Designs that make sense without connections.
pub(crate) const DESIGNS: [ServerDesign; 2] = [ServerDesign::Iterative, ServerDesign::ThreadPool];

/// The largest datagram.
const LARGEST: usize = 65_535;
/// Datagrams taken before it is looked whether to stop.
const ROUNDS: usize = 256;

/// A socket for datagrams.
#[derive(Debug)]
pub(crate) struct Datagrams {
    socket: UdpSocket,
}

impl Datagrams {
    pub(crate) fn open(config: &Config) -> io::Result<Datagrams> {
        let socket = UdpSocket::bind(config.address)?;
        socket.set_nonblocking(true)?;
        Ok(Datagrams { socket })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// A datagram, where it came from, and when, since the Unix epoch.
type Datagram = (Vec<u8>, SocketAddr, Duration);

/// Answers until asked to stop, and then what has arrived by then.
pub(crate) fn serve(
    datagrams: &Datagrams,
    config: &Config,
    stop: &Stop,
    counters: &Counters,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    let replier = Replier {
        socket: &datagrams.socket,
        subject: &config.subject,
        sessions: Sessions::default(),
    };
    let socket = replier.socket;
    if config.design != ServerDesign::ThreadPool {
        let slot = counters.slot(0);
        receive(socket, stop, slot, observer, &mut |datagram, from, now| {
            replier.reply(datagram, from, now, slot);
        });
        return Ok(());
    }
    let queue = Queue::<Datagram>::new(config.workers);
    std::thread::scope(|scope| {
        for worker in 1..=config.workers {
            let (queue, replier) = (&queue, &replier);
            let work = move || {
                while let Some((datagram, from, now)) = queue.pop() {
                    replier.reply(&datagram, from, now, counters.slot(worker));
                }
            };
            let spawned = std::thread::Builder::new().spawn_scoped(scope, work);
            if let Err(source) = spawned {
                queue.end();
                return Err(ServeError::Process { what: "a worker's thread", source });
            }
        }
        receive(socket, stop, counters.slot(0), observer, &mut |datagram, from, now| {
            while !queue.wait_for_room() {}
            queue.push((datagram.to_vec(), from, now));
        });
        queue.end();
        Ok(())
    })
}

/// Answers datagrams until asked to stop and none is left.
fn receive(
    socket: &UdpSocket,
    stop: &Stop,
    slot: Slot<'_>,
    observer: &mut Observer<'_>,
    take: &mut dyn FnMut(&[u8], SocketAddr, Duration),
) {
    let mut buffer = vec![0; LARGEST];
    observer.report();
    loop {
        let mut fds = [PollFd::new(stop, PollFlags::IN), PollFd::new(socket, PollFlags::IN)];
        wait(&mut fds, Observer::TICK);
        observer.tick();
        for _ in 0..ROUNDS {
            match socket.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    slot.add(Count::Received, length as u64);
                    take(&buffer[..length], from, since_epoch());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // No datagram; or an ICMP error for an earlier answer.
                Err(_) => break,
            }
        }
        if !fds[0].revents().is_empty() {
            return;
        }
    }
}

/// What answers need.
struct Replier<'a> {
    socket: &'a UdpSocket,
    subject: &'a Subject,
    sessions: Sessions,
}

impl Replier<'_> {
    /// Answers a datagram that came at `now`.
    fn reply(&self, datagram: &[u8], from: SocketAddr, now: Duration, slot: Slot<'_>) {
        let Some(reply) = self.answer(datagram, from, now) else { return };
        slot.add(Count::Requests, 1);
        // What the socket has no room for is lost, as datagrams are.
        if let Ok(count) = self.socket.send_to(&reply, from) {
            slot.add(Count::Sent, count as u64);
        }
    }

    fn answer(&self, datagram: &[u8], from: SocketAddr, now: Duration) -> Option<Vec<u8>> {
        match self.subject {
            Subject::Latency if is_service(from) => None,
            Subject::Latency => self.sessions.answer(datagram, from, now, since_epoch),
            subject => answer(subject, datagram, from, now),
        }
    }
}

/// The time since the Unix epoch.
fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// What is answered; `now` is the time since the Unix epoch.
fn answer(subject: &Subject, datagram: &[u8], from: SocketAddr, now: Duration) -> Option<Vec<u8>> {
    let moment = Moment::at(now.as_secs());
    match subject {
        // Two such services would answer each other for ever (CERT CA-1996-01).
        Subject::Echo | Subject::Chargen | Subject::Daytime if is_service(from) => None,
        Subject::Echo => Some(datagram.to_vec()),
        Subject::Daytime => Some(moment.daytime().into_bytes()),
        // Never more than came, and at most the 512 of RFC 864: an answer that is larger than the
        // question, sent to an address that may be forged, is a weapon.
        Subject::Chargen => Some(chargen::characters(datagram.len().min(512)).to_vec()),
        Subject::Discard | Subject::Http(_) | Subject::Latency => None,
        Subject::Time => {
            let (seconds, micros) = (now.as_secs(), now.subsec_micros());
            Some(format!("{seconds}.{micros:06} {}", moment.daytime()).into_bytes())
        }
        Subject::Users => Some(is_logged_in(datagram).into_bytes()),
    }
}

/// Whether a datagram comes from the port of a service, such as another one of these.
fn is_service(from: SocketAddr) -> bool {
    let is_own_network = match from.ip() {
        IpAddr::V4(address) => address.is_unspecified() || address.is_broadcast(),
        IpAddr::V6(address) => address.is_unspecified(),
    };
    from.port() < 1024 || is_own_network
}

fn is_logged_in(datagram: &[u8]) -> String {
    let user = String::from_utf8_lossy(datagram);
    let user = user.trim_end_matches(['\r', '\n', '\0']);
    // The name comes back in the answer: it is kept short, and printable.
    if user.is_empty() || user.len() > 32 || user.chars().any(|it| it.is_control() || it == ' ') {
        return "error: send the name of a user, at most 32 characters\n".into();
    }
    let record = utmp::PLACES.iter().find_map(|place| std::fs::read(place).ok());
    match record.map(|record| utmp::logins(&record, user)) {
        None => format!("unknown: this machine keeps no record of logins ({})\n", utmp::PLACES[0]),
        Some(0) => format!("no: {user} is not logged in\n"),
        Some(count) => format!("yes: {user} is logged in {count} times\n"),
    }
}

#[cfg(test)]
mod tests {
    use tcplab_units::Probe;

    use super::*;

    #[test]
    fn datagrams_are_answered() {
        let now = Duration::new(784_111_777, 250_000_000);
        let from: SocketAddr = "192.0.2.1:40000".parse().unwrap();
        let answered = |subject: &Subject, datagram: &[u8]| {
            answer(subject, datagram, from, now).map(|it| String::from_utf8(it).unwrap())
        };
        assert_eq!(answered(&Subject::Echo, b"hello").as_deref(), Some("hello"));
        assert_eq!(answered(&Subject::Echo, b"").as_deref(), Some(""));
        assert_eq!(answered(&Subject::Discard, b"hello"), None);
        let daytime = "Sun Nov  6 08:49:37 1994\r\n";
        assert_eq!(answered(&Subject::Daytime, b"").as_deref(), Some(daytime));
        let time = format!("784111777.250000 {daytime}");
        assert_eq!(answered(&Subject::Time, b"784111777.1").unwrap(), time);
        assert_eq!(answered(&Subject::Chargen, b"1234").as_deref(), Some(" !\"#"));
        assert_eq!(answered(&Subject::Chargen, &[0; 9999]).unwrap().len(), 512);
        for strange in [&b""[..], b"a b", b"\x1b[2J", &[b'x'; 33]] {
            assert!(answered(&Subject::Users, strange).unwrap().starts_with("error: "));
        }
        let users = answered(&Subject::Users, b"nobody-of-that-name\n").unwrap();
        assert!(users.starts_with("no: ") || users.starts_with("unknown: "), "{users}");
    }

    #[test]
    fn services_do_not_answer_one_another() {
        let now = Duration::from_secs(1);
        for from in ["192.0.2.1:7", "192.0.2.1:19", "255.255.255.255:4000"] {
            assert_eq!(answer(&Subject::Echo, b"x", from.parse().unwrap(), now), None, "{from}");
        }
    }

    #[test]
    fn latency_answers_no_service() {
        let socket = &UdpSocket::bind("127.0.0.1:0").unwrap();
        let subject = &Subject::Latency;
        let replier = Replier { socket, subject, sessions: Sessions::default() };
        let hello = Probe::Hello { session: 1 }.bytes();
        for (from, is_answered) in
            [("192.0.2.1:1023", false), ("255.255.255.255:4000", false), ("192.0.2.1:1024", true)]
        {
            let answer = replier.answer(&hello, from.parse().unwrap(), Duration::from_secs(1));
            assert_eq!(answer.is_some(), is_answered, "{from}");
        }
    }
}
