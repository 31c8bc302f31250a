//! `epoll`: interest and readiness (fs/eventpoll.c).

use std::collections::{BTreeMap, VecDeque};

use crate::constants::constant;

/// EPOLLERR, EPOLLHUP: always reported.
const ALWAYS: i64 = 0x18;
const EXCLUSIVE: i64 = 1 << 28;
const ONE_SHOT: i64 = 1 << 30;
const EDGE: i64 = 1 << 31;
/// Bits that say how to report, not what (`EP_PRIVATE_BITS`); EPOLLWAKEUP concerns sleep only.
const HOW: i64 = EDGE | ONE_SHOT | EXCLUSIVE | 1 << 29;

/// An epoll: what it waits for.
#[derive(Default)]
pub(super) struct Epoll {
    items: BTreeMap<i64, Item>,
    /// Descriptors that may be ready, in the order in which they became it.
    pub(super) ready: VecDeque<i64>,
}

struct Item {
    events: i64,
    data: i64,
}

/// What `epoll_ctl` returns instead of 0.
type Mistake = &'static str;

impl Epoll {
    /// `epoll_ctl`; `found` is what `poll` finds at the descriptor now.
    pub(super) fn control(
        &mut self,
        operation: i64,
        fd: i64,
        (events, data): (i64, i64),
        found: i64,
    ) -> Result<(), Mistake> {
        let is = |name| constant(name) == Some(operation);
        let known = self.items.get(&fd).map(|item| item.events);
        if is("EPOLL_CTL_DEL") {
            self.ready.retain(|ready| *ready != fd);
            return self.items.remove(&fd).map(drop).ok_or("ENOENT");
        }
        match known {
            Some(_) if is("EPOLL_CTL_ADD") => return Err("EEXIST"),
            Some(old) if is("EPOLL_CTL_MOD") && (old | events) & EXCLUSIVE != 0 => {
                return Err("EINVAL");
            }
            None if is("EPOLL_CTL_MOD") => return Err("ENOENT"),
            _ if !is("EPOLL_CTL_ADD") && !is("EPOLL_CTL_MOD") => return Err("EINVAL"),
            _ => {}
        }
        self.items.insert(fd, Item { events: events | ALWAYS, data });
        if found & (events | ALWAYS) & !HOW != 0 {
            self.add(fd);
        }
        Ok(())
    }

    /// Something happened at a descriptor (`ep_poll_callback`); 0: nothing.
    pub(super) fn wake(&mut self, fd: i64, happened: i64) {
        let waits = self.items.get(&fd).is_some_and(|item| item.events & happened & !HOW != 0);
        if waits {
            self.add(fd);
        }
    }

    /// A descriptor was closed.
    pub(super) fn forget(&mut self, fd: i64) {
        self.items.remove(&fd);
        self.ready.retain(|ready| *ready != fd);
    }

    fn add(&mut self, fd: i64) {
        if !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }

    /// The events reported (`ep_send_events`): bits and data of each; `found` is what `poll` finds.
    pub(super) fn take(&mut self, most: usize, found: impl Fn(i64) -> i64) -> Vec<i64> {
        let mut values = Vec::new();
        for _ in 0..self.ready.len() {
            if values.len() / 2 == most {
                break;
            }
            let Some(fd) = self.ready.pop_front() else { break };
            let Some(item) = self.items.get_mut(&fd) else { continue };
            let events = found(fd) & item.events & !HOW;
            if events == 0 {
                continue;
            }
            values.extend([events, item.data]);
            if item.events & ONE_SHOT != 0 {
                item.events &= HOW;
            } else if item.events & EDGE == 0 {
                self.ready.push_back(fd);
            }
        }
        values
    }
}
