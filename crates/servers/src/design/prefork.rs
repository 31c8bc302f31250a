//! A fixed number of processes, each of which accepts for itself and carries one connection after
//! the other, as Apache did at first. The parent only starts another where one has died.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, WaitOptions};
use tcplab_units::ServerDesign;

use super::iterative::one_by_one;
use super::kill::kill;
use crate::context::{Drain, Observer, ServerContext, single_threaded, wait};
use crate::counters::Count;
use crate::error::ServeError;
use crate::listener::{Listener, Pause};
use crate::sys::{self, Forked};

/// A place for a process.
struct Place {
    worker: usize,
    child: Option<Pid>,
    started: Instant,
    pause: Pause,
}

pub(super) fn serve(
    context: &ServerContext<'_>,
    listener: Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    let refused = |source| ServeError::Design { design: ServerDesign::Prefork, source };
    single_threaded().map_err(refused)?;
    let started = Instant::now();
    let mut places: Vec<Place> = (0..context.config.workers)
        .map(|worker| Place { worker, child: None, started, pause: Pause::default() })
        .collect();
    let mut listener = listener;
    let mut is_first = true;
    loop {
        let mut refusal = None;
        for place in &mut places {
            place.look(context);
            if place.child.is_none() && place.pause.left(Instant::now()).is_none() {
                let refused;
                (listener, refused) = place.start(context, listener);
                refusal = refused.or(refusal);
            }
        }
        if std::mem::take(&mut is_first) {
            if let Some(source) = refusal
                && places.iter().all(|place| place.child.is_none())
            {
                return Err(ServeError::Process { what: "a worker", source });
            }
            observer.report();
        }
        observer.tick();
        let mut fds = [PollFd::new(context.stop, PollFlags::IN)];
        wait(&mut fds, Observer::TICK);
        if !fds[0].revents().is_empty() {
            break;
        }
    }
    // Without any child left, the parent serves waiting connections.
    listener.close_to_new();
    if places.iter().all(|place| place.child.is_none()) {
        return one_by_one(context, listener, context.config.workers, &mut || ());
    }
    drop(listener);
    finish(context, &mut places);
    Ok(())
}

impl Place {
    /// Notices that its process has ended, which it should not do by itself.
    fn look(&mut self, context: &ServerContext<'_>) {
        /// Whoever dies sooner would only die again.
        const SOON: Duration = Duration::from_secs(1);
        let Some(pid) = self.child else { return };
        if matches!(rustix::process::waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) {
            return;
        }
        self.child = None;
        let slot = context.counters.slot(self.worker);
        slot.died();
        if !context.stop.is_asked() {
            slot.add(Count::Lost, 1);
        }
        if self.started.elapsed() < SOON {
            self.pause.failed(Instant::now());
        }
    }

    /// Starts a process; gives the listener back, which the child keeps, and why there is none.
    fn start(
        &mut self,
        context: &ServerContext<'_>,
        listener: Listener,
    ) -> (Listener, Option<io::Error>) {
        self.started = Instant::now();
        match sys::fork() {
            Ok(Forked::Parent(pid)) => self.child = Some(pid),
            Ok(Forked::Child) => {
                // The parent notices a failure as a process that ended.
                let _ = one_by_one(context, listener, self.worker, &mut || ());
                sys::leave();
            }
            Err(error) => {
                context.counters.slot(self.worker).add(Count::Exhausted, 1);
                self.pause.failed(Instant::now());
                return (listener, Some(error));
            }
        }
        (listener, None)
    }
}

/// Waits for all, as long as there is time, and ends those that then are left.
fn finish(context: &ServerContext<'_>, places: &mut [Place]) {
    /// Beyond the drain's end, at which each child ends by itself.
    const GRACE: Duration = Duration::from_secs(1);
    let drain = Drain::begin(context.limits());
    let mut over = None;
    loop {
        for place in &mut *places {
            place.look(context);
        }
        if places.iter().all(|place| place.child.is_none()) {
            return;
        }
        if drain.is_over(context.stop) {
            let since = *over.get_or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                for place in &mut *places {
                    if let Some(pid) = place.child.take() {
                        kill(pid);
                        context.counters.slot(place.worker).died();
                    }
                }
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
