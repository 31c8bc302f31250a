//! A server as its caller sees it, and what all designs have: service, limits, counters, the wish
//! to stop.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::config::{Config, Limits, Subject, Transport};
use crate::counters::{Counters, Tally};
use crate::datagrams::{self, Datagrams};
use crate::door::Door;
use crate::error::{ServeError, system};
use crate::service::Service;
use crate::service::chargen::Chargen;
use crate::service::daytime::Daytime;
use crate::service::discard::Discard;
use crate::service::echo::Echo;
use crate::service::http::{Disk, Http};
use crate::stop::Stop;
use crate::{design, sys};

/// A server that listens.
pub struct Server {
    config: Config,
    address: SocketAddr,
    opened: Opened,
    counters: Counters,
}

enum Opened {
    Stream { door: Door, service: Arc<dyn Service> },
    Datagram(Datagrams),
}

impl Server {
    /// Listens. From now on clients can connect; they are served once [`serve`](Self::serve) is
    /// called.
    ///
    /// # Errors
    /// When the address or what is to be served cannot be had, and when the combination makes no
    /// sense.
    pub fn open(config: &Config) -> Result<Server, ServeError> {
        sensible(config)?;
        let refused = |source| ServeError::Listen { address: config.address, source };
        let (opened, address) = match config.transport {
            Transport::Tcp => {
                let service = service(&config.subject)?;
                let door = Door::open(config.address, config.backlog).map_err(refused)?;
                let address = door.address().map_err(refused)?;
                (Opened::Stream { door, service }, address)
            }
            Transport::Udp => {
                let datagrams = Datagrams::open(config).map_err(refused)?;
                let address = datagrams.address().map_err(refused)?;
                (Opened::Datagram(datagrams), address)
            }
        };
        let counters = Counters::new(config.workers).map_err(system("share memory"))?;
        Ok(Server { config: config.clone(), address, opened, counters })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is asked to stop, and finishes what was accepted by then: what is in the
    /// kernel's queue, too. `observe` is told several times a second how things stand.
    ///
    /// The designs with processes fork: then this process must have a single thread.
    ///
    /// # Errors
    /// When what the design needs is refused.
    pub fn serve(self, stop: &Stop, observe: &mut dyn FnMut(&Tally)) -> Result<Tally, ServeError> {
        let Server { config, opened, counters, .. } = self;
        match opened {
            Opened::Stream { door, service } => {
                let hall = Hall { config: &config, service, counters: &counters, stop };
                let mut watch = Watch { observe, counters: &counters, told: Instant::now() };
                design::serve(&hall, door, &mut watch)?;
            }
            Opened::Datagram(datagrams) => {
                let mut watch = Watch { observe, counters: &counters, told: Instant::now() };
                datagrams::serve(&datagrams, &config, stop, &counters, &mut watch)?;
            }
        }
        Ok(counters.tally())
    }
}

fn sensible(config: &Config) -> Result<(), ServeError> {
    let senseless = |why: &str| Err(ServeError::Senseless(why.into()));
    if !(1..=Config::MOST_WORKERS).contains(&config.workers) {
        return senseless("workers are from 1 to 1024");
    }
    if config.limits.connections == 0 {
        return senseless("a server that may have no connection serves nobody");
    }
    match (&config.subject, config.transport) {
        (Subject::Http(_), Transport::Udp) => senseless("HTTP/1.1 is spoken over TCP"),
        (Subject::Time | Subject::Users, Transport::Tcp) => {
            senseless("this service is asked by datagrams: it is there over UDP only")
        }
        (_, Transport::Udp) if !datagrams::DESIGNS.contains(&config.design) => senseless(
            "datagrams have no connections that could be carried in so many ways: a server of \
             datagrams is iterative or has a thread-pool",
        ),
        _ => Ok(()),
    }
}

fn service(subject: &Subject) -> Result<Arc<dyn Service>, ServeError> {
    Ok(match subject {
        Subject::Echo => Arc::new(Echo),
        Subject::Daytime => Arc::new(Daytime),
        Subject::Discard => Arc::new(Discard),
        Subject::Chargen => Arc::new(Chargen),
        Subject::Http(path) => Arc::new(Http::new(Arc::new(disk(path)?))),
        Subject::Time | Subject::Users => unreachable!("they are not there over TCP"),
    })
}

fn disk(path: &Path) -> Result<Disk, ServeError> {
    Disk::open(path).map_err(|source| ServeError::Content { path: path.into(), source })
}

/// What a design has to carry connections with.
pub(crate) struct Hall<'a> {
    pub(crate) config: &'a Config,
    pub(crate) service: Arc<dyn Service>,
    pub(crate) counters: &'a Counters,
    pub(crate) stop: &'a Stop,
}

impl Hall<'_> {
    pub(crate) fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Whether another connection may be accepted.
    pub(crate) fn has_room(&self) -> bool {
        self.counters.open() < self.limits().connections
    }
}

/// Waits until something is ready, at most so long. A signal is no event.
pub(crate) fn wait(fds: &mut [PollFd<'_>], longest: Duration) {
    let timeout = Timespec {
        tv_sec: longest.as_secs().min(3600).cast_signed(),
        tv_nsec: longest.subsec_nanos().into(),
    };
    if let Err(error) = rustix::event::poll(fds, Some(&timeout))
        && error != Errno::INTR
    {
        // No memory, perhaps: it passes, and must not become a loop that does nothing else.
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Who is told how things stand.
pub(crate) struct Watch<'a> {
    observe: &'a mut dyn FnMut(&Tally),
    counters: &'a Counters,
    told: Instant,
}

impl Watch<'_> {
    /// How long the main thread of a design waits at most before it comes by here.
    pub(crate) const TICK: Duration = Duration::from_millis(200);

    /// Is there while the threads of an event loop, which notice the wish to stop themselves, work.
    pub(crate) fn attend<T>(&mut self, threads: &[ScopedJoinHandle<'_, T>], stop: &Stop) {
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            self.tick();
            let mut fds = [PollFd::new(stop, PollFlags::IN)];
            wait(&mut fds, Watch::TICK);
            if !fds[0].revents().is_empty() {
                // The threads know. Waiting for them to end is all that is left.
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    pub(crate) fn tick(&mut self) {
        if self.told.elapsed() >= Watch::TICK {
            (self.observe)(&self.counters.tally());
            self.told = Instant::now();
        }
    }
}

/// For how long what was accepted may be finished.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drain {
    until: Instant,
}

impl Drain {
    pub(crate) fn begin(limits: &Limits) -> Drain {
        Drain { until: Instant::now() + limits.drain }
    }

    /// Whether there is no more time, or the wish to stop has become urgent.
    pub(crate) fn is_over(&self, stop: &Stop) -> bool {
        Instant::now() >= self.until || stop.is_urgent()
    }
}

/// An event loop was asked to stop.
pub(crate) struct Stopping {
    pub(crate) drain: Drain,
    /// When somebody last came in.
    pub(crate) latest: Instant,
}

/// Whether this process has a single thread, so that it can be split.
pub(crate) fn single_threaded() -> io::Result<()> {
    if sys::threads()? == 1 {
        return Ok(());
    }
    Err(io::Error::other("it splits its process, which has more than one thread"))
}
