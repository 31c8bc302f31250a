//! A server as its caller sees it.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::config::{Config, Subject, Transport};
use crate::context::{Observer, ServerContext};
use crate::counters::{Counters, Tally};
use crate::datagrams::{self, Datagrams};
use crate::design;
use crate::error::{ServeError, system};
use crate::listener::Listener;
use crate::service::Service;
use crate::service::chargen::Chargen;
use crate::service::http::{Disk, Http};
use crate::service::inetd::{Daytime, Discard, Echo};
use crate::stop::Stop;

/// A server that listens.
pub struct Server {
    config: Config,
    address: SocketAddr,
    opened: Opened,
    counters: Counters,
}

enum Opened {
    Stream { listener: Listener, service: Arc<dyn Service> },
    Datagram(Datagrams),
}

impl Server {
    /// Listens. From now on clients can connect; [`serve`](Self::serve) serves them.
    ///
    /// # Errors
    /// When the address or the content is not available, or the configuration is contradictory.
    pub fn open(config: &Config) -> Result<Server, ServeError> {
        check(config)?;
        let Config { address, transport, .. } = *config;
        let refused = |source| ServeError::Listen { address, transport, source };
        let (opened, address) = match config.transport {
            Transport::Tcp => {
                let service = service(&config.subject)?;
                let listener = Listener::open(config.address, config.backlog).map_err(refused)?;
                let address = listener.address().map_err(refused)?;
                (Opened::Stream { listener, service }, address)
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

    /// Serves until it is asked to stop, then finishes all accepted connections, those of the
    /// kernel's queue included. `observe` gets the counters once it can serve, and then several
    /// times a second; a worker that was lost, at once.
    ///
    /// Designs with processes fork, so this process must have a single thread then.
    ///
    /// # Errors
    /// When the kernel refuses what the design needs, or a worker of an event loop fails; the
    /// others then finish what they have accepted.
    pub fn serve(self, stop: &Stop, observe: &mut dyn FnMut(&Tally)) -> Result<Tally, ServeError> {
        let Server { config, opened, counters, .. } = self;
        match opened {
            Opened::Stream { listener, service } => {
                let context = ServerContext { config: &config, service, counters: &counters, stop };
                let mut observer = Observer::new(observe, &counters);
                design::serve(&context, listener, &mut observer)?;
            }
            Opened::Datagram(datagrams) => {
                let mut observer = Observer::new(observe, &counters);
                datagrams::serve(&datagrams, &config, stop, &counters, &mut observer)?;
            }
        }
        Ok(counters.tally())
    }
}

fn check(config: &Config) -> Result<(), ServeError> {
    let invalid = |why: &str| Err(ServeError::Invalid(why.into()));
    if !(1..=Config::MOST_WORKERS).contains(&config.workers) {
        return invalid("the number of workers must be from 1 to 1024");
    }
    if config.limits.connections == 0 {
        return invalid("the limit of connections must be at least 1");
    }
    match (&config.subject, config.transport) {
        (Subject::Http(_), Transport::Udp) => invalid("HTTP/1.1 needs TCP: leave out --udp"),
        (Subject::Time | Subject::Users | Subject::Latency, Transport::Tcp) => {
            invalid("this service is UDP only")
        }
        (_, Transport::Udp) if !datagrams::DESIGNS.contains(&config.design) => {
            invalid("a UDP server has the design `iterative` or `thread-pool`")
        }
        _ => Ok(()),
    }
}

fn service(subject: &Subject) -> Result<Arc<dyn Service>, ServeError> {
    Ok(match subject {
        Subject::Echo => Arc::new(Echo),
        Subject::Daytime => Arc::new(Daytime),
        Subject::Discard => Arc::new(Discard),
        Subject::Chargen => Arc::new(Chargen),
        Subject::Http(path) => {
            let disk = Disk::open(path)
                .map_err(|source| ServeError::Content { path: path.into(), source })?;
            Arc::new(Http::new(Arc::new(disk)))
        }
        Subject::Time | Subject::Users | Subject::Latency => {
            unreachable!("check() refused them over TCP")
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    use tcplab_units::ServerDesign;

    use super::*;
    use crate::config::Limits;

    /// Says which of them have an answer; all others wait.
    fn answered(clients: &mut [TcpStream]) -> Vec<bool> {
        let answered = |client: &mut TcpStream| match client.read(&mut [0]) {
            Ok(count) => count == 1,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        };
        clients.iter_mut().map(answered).collect()
    }

    #[test]
    fn no_more_connections_are_carried_than_may_be() {
        for design in [ServerDesign::Epoll, ServerDesign::IoUring, ServerDesign::ThreadPool] {
            let limits = Limits { connections: 2, ..Limits::default() };
            let config = Config { workers: 8, limits, ..Config::new(design, Subject::Echo) };
            let (server, stop) = (Server::open(&config).unwrap(), Stop::new().unwrap());
            let address = server.address();
            std::thread::scope(|scope| {
                let serve = scope.spawn(|| server.serve(&stop, &mut |_| ()));
                let mut clients: Vec<TcpStream> = (0..6)
                    .map(|_| {
                        let mut client = TcpStream::connect(address).unwrap();
                        client.write_all(b"?").unwrap();
                        client.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
                        client
                    })
                    .collect();
                let (mut served, began) = (0, Instant::now());
                while !clients.is_empty()
                    && !serve.is_finished()
                    && began.elapsed() < Duration::from_secs(60)
                {
                    let mut have = answered(&mut clients).into_iter();
                    let count = clients.len();
                    clients.retain(|_| !have.next().unwrap_or(false));
                    assert!(count - clients.len() <= 2, "{design:?}: {count}");
                    served += count - clients.len();
                }
                stop.ask();
                match serve.join().unwrap() {
                    Ok(tally) => assert_eq!((served, tally.accepted), (6, 6), "{design:?}"),
                    // Not every kernel lets everybody use io_uring.
                    Err(ServeError::Design { design: ServerDesign::IoUring, .. }) => {}
                    Err(error) => panic!("{design:?}: {error}"),
                }
            });
        }
    }
}
