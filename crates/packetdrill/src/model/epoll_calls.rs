//! The system calls of epoll.

use std::collections::BTreeMap;

use tcplab_units::Instant;

use super::Model;
use super::epoll::Epoll;
use super::socket::Socket;
use crate::subject::Outcome;

impl Model {
    pub(super) fn epoll_create(&mut self) -> Outcome {
        let fd = self.next_fd;
        self.next_fd += 1;
        self.epolls.insert(fd, Epoll::default());
        Outcome::value(fd)
    }

    pub(super) fn epoll_control(
        &mut self,
        epoll: i64,
        operation: i64,
        fd: i64,
        event: (i64, i64),
    ) -> Outcome {
        let Some(socket) = self.sockets.get_mut(&fd) else { return Outcome::error("EBADF") };
        let Some(epoll) = self.epolls.get_mut(&epoll) else { return Outcome::error("EINVAL") };
        // What happened before is no news.
        socket.happened();
        match epoll.control(operation, fd, event, socket.poll()) {
            Ok(()) => Outcome::value(0),
            Err(mistake) => Outcome::error(mistake),
        }
    }

    pub(super) fn try_epoll_wait(
        &mut self,
        now: Instant,
        epoll: i64,
        most: usize,
        until: Option<Instant>,
    ) -> Option<Outcome> {
        if most == 0 {
            return Some(Outcome::error("EINVAL"));
        }
        let sockets = &mut self.sockets;
        let Some(epoll) = self.epolls.get_mut(&epoll) else { return Some(Outcome::error("EBADF")) };
        let found: BTreeMap<i64, i64> = epoll
            .ready
            .iter()
            .map(|fd| (*fd, sockets.get_mut(fd).map_or(0, Socket::poll)))
            .collect();
        let values = epoll.take(most, |fd| found.get(&fd).copied().unwrap_or(0));
        let count = values.len() / 2;
        let over = count > 0 || until.is_some_and(|until| until <= now);
        over.then_some(Outcome { values, ..Outcome::value(count as i64) })
    }
}
