//! A fixed number of threads, which take connections from a queue. The queue is as long as there
//! are threads; when it is full, accepting pauses and the kernel's queue fills.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use super::thread::STACK;
use crate::acceptor::{AcceptEvent, Acceptor};
use crate::carry::Carrier;
use crate::context::{Drain, Observer, ServerContext};
use crate::error::ServeError;
use crate::listener::Listener;

pub(super) fn serve(
    context: &ServerContext<'_>,
    listener: Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    let queue = Queue::new(context.config.workers);
    std::thread::scope(|scope| {
        for worker in 1..=context.config.workers {
            let queue = &queue;
            let thread = move || work(context, queue, worker);
            let spawned = Builder::new().stack_size(STACK).spawn_scoped(scope, thread);
            if let Err(source) = spawned {
                queue.end();
                return Err(ServeError::Process { what: "a worker's thread", source });
            }
        }
        let accepted = accept(context, listener, observer, &queue);
        queue.end();
        accepted
    })
}

/// Fills the queue.
fn accept(
    context: &ServerContext<'_>,
    listener: Listener,
    observer: &mut Observer<'_>,
    queue: &Queue,
) -> Result<(), ServeError> {
    let mut acceptor = Acceptor::new(context, listener, context.counters.slot(0))?;
    observer.report();
    loop {
        observer.tick();
        if !queue.wait_for_room() {
            if context.stop.is_asked() {
                break;
            }
            continue;
        }
        match acceptor.next() {
            AcceptEvent::Connection(socket) => queue.push(socket),
            AcceptEvent::Idle => {}
            AcceptEvent::Stop => break,
        }
    }
    acceptor.close_to_new();
    let drain = Drain::begin(context.limits());
    loop {
        if queue.wait_for_room() {
            let Some(socket) = acceptor.rest(&drain) else { return Ok(()) };
            queue.push(socket);
        } else if drain.is_over(context.stop) {
            return Ok(());
        }
    }
}

/// Empties it.
fn work(context: &ServerContext<'_>, queue: &Queue, worker: usize) {
    let slot = context.counters.slot(worker);
    let mut carrier = Carrier::new();
    while let Some(socket) = queue.pop() {
        carrier.carry(context, &socket, slot, &mut || ());
    }
}

/// Accepted connections that no thread serves yet.
pub(crate) struct Queue<T = OwnedFd> {
    inside: Mutex<Inside<T>>,
    came: Condvar,
    left: Condvar,
    longest: usize,
}

struct Inside<T> {
    waiting: VecDeque<T>,
    has_ended: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(longest: usize) -> Queue<T> {
        let inside = Mutex::new(Inside { waiting: VecDeque::new(), has_ended: false });
        Queue { inside, came: Condvar::new(), left: Condvar::new(), longest }
    }

    fn inside(&self) -> MutexGuard<'_, Inside<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, up to a time limit, until there is room; returns whether there is.
    pub(crate) fn wait_for_room(&self) -> bool {
        let inside = self.inside();
        let is_full = |inside: &mut Inside<T>| inside.waiting.len() >= self.longest;
        let waited = self.left.wait_timeout_while(inside, Observer::TICK, is_full);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Adds one. Only one thread does, after it has waited for room.
    pub(crate) fn push(&self, item: T) {
        self.inside().waiting.push_back(item);
        self.came.notify_one();
    }

    /// Waits for the next one; none when there will be no more.
    pub(crate) fn pop(&self) -> Option<T> {
        let is_empty = |inside: &mut Inside<T>| inside.waiting.is_empty() && !inside.has_ended;
        let waited = self.came.wait_while(self.inside(), is_empty);
        let item = waited.unwrap_or_else(PoisonError::into_inner).waiting.pop_front();
        self.left.notify_one();
        item
    }

    /// There will be no more.
    pub(crate) fn end(&self) {
        self.inside().has_ended = true;
        self.came.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_pool_queue_is_bounded_and_loses_nothing() {
        let queue = Queue::new(3);
        let taken = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| queue.pop()).collect::<Vec<i32>>()))
                .collect();
            for item in 0..1000 {
                while !queue.wait_for_room() {}
                queue.push(item);
                assert!(queue.inside().waiting.len() <= 3);
            }
            queue.end();
            let mut taken: Vec<i32> =
                workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
            taken.sort_unstable();
            taken
        });
        assert_eq!(taken, (0..1000).collect::<Vec<_>>());
    }
}
