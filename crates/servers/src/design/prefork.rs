//! A fixed number of processes, each of which accepts for itself and carries one connection after
//! the other, as Apache did at first. The parent only starts another where one has died.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, WaitOptions};

use super::iterative::one_by_one;
use super::workers::kill;
use crate::counters::Count;
use crate::door::{Door, Pause};
use crate::error::ServeError;
use crate::hall::{Drain, Hall, Watch, single_threaded, wait};
use crate::sys::{self, Forked};
use tcplab_units::ServerDesign;

/// A place for a process.
struct Place {
    worker: usize,
    child: Option<Pid>,
    started: Instant,
    pause: Pause,
}

pub(super) fn serve(hall: &Hall<'_>, door: Door, watch: &mut Watch<'_>) -> Result<(), ServeError> {
    let refused = |source| ServeError::Design { design: ServerDesign::Prefork, source };
    single_threaded().map_err(refused)?;
    let started = Instant::now();
    let mut places: Vec<Place> = (0..hall.config.workers)
        .map(|worker| Place { worker, child: None, started, pause: Pause::default() })
        .collect();
    let mut door = door;
    let mut is_first = true;
    loop {
        for place in &mut places {
            place.look(hall);
            if place.child.is_none() && place.pause.left(Instant::now()).is_none() {
                door = place.start(hall, door);
            }
        }
        if std::mem::take(&mut is_first) && places.iter().all(|place| place.child.is_none()) {
            return Err(refused(std::io::Error::other("no process can be made")));
        }
        watch.tick();
        let mut fds = [PollFd::new(hall.stop, PollFlags::IN)];
        wait(&mut fds, Watch::TICK);
        if !fds[0].revents().is_empty() {
            break;
        }
    }
    // Where no child is left to do it, those who wait are served here.
    door.close_to_new();
    if places.iter().all(|place| place.child.is_none()) {
        return one_by_one(hall, door, hall.config.workers, &mut || ());
    }
    drop(door);
    finish(hall, &mut places);
    Ok(())
}

impl Place {
    /// Notices that its process has ended, which it should not do by itself.
    fn look(&mut self, hall: &Hall<'_>) {
        /// Whoever dies sooner would only die again.
        const SOON: Duration = Duration::from_secs(1);
        let Some(pid) = self.child else { return };
        if matches!(rustix::process::waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) {
            return;
        }
        self.child = None;
        let slot = hall.counters.slot(self.worker);
        slot.died();
        if !hall.stop.is_asked() {
            slot.add(Count::Lost, 1);
        }
        if self.started.elapsed() < SOON {
            self.pause.failed(Instant::now());
        }
    }

    /// Starts a process; gives the door back, which the child keeps.
    fn start(&mut self, hall: &Hall<'_>, door: Door) -> Door {
        self.started = Instant::now();
        match sys::fork() {
            Ok(Forked::Parent(pid)) => self.child = Some(pid),
            Ok(Forked::Child) => {
                // What cannot be done here is seen by the parent as a process that ended.
                let _ = one_by_one(hall, door, self.worker, &mut || ());
                sys::leave();
            }
            Err(_) => {
                hall.counters.slot(self.worker).add(Count::Exhausted, 1);
                self.pause.failed(Instant::now());
            }
        }
        door
    }
}

/// Waits for all, as long as there is time, and ends those that then are left.
fn finish(hall: &Hall<'_>, places: &mut [Place]) {
    /// Beyond the drain's end, at which each child ends by itself.
    const GRACE: Duration = Duration::from_secs(1);
    let drain = Drain::begin(hall.limits());
    let mut over = None;
    loop {
        for place in &mut *places {
            place.look(hall);
        }
        if places.iter().all(|place| place.child.is_none()) {
            return;
        }
        if drain.is_over(hall.stop) {
            let since = *over.get_or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                for place in &mut *places {
                    if let Some(pid) = place.child.take() {
                        kill(pid);
                        hall.counters.slot(place.worker).died();
                    }
                }
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
