//! The threads of the event loops.

use std::io;
use std::sync::mpsc;
use std::thread::{Builder, ScopedJoinHandle};

use crate::context::{Observer, ServerContext};
use crate::error::ServeError;

/// Gives each worker a thread, which `open`s what it works with and then does its `work` until the
/// server is asked to stop. All can work before the server says that it serves; where one cannot,
/// none does. A worker that fails later ends the server: it is reported at once, the others finish
/// what they have accepted, and its error is returned.
pub(super) fn run<W>(
    context: &ServerContext<'_>,
    observer: &mut Observer<'_>,
    open: impl Fn(usize) -> io::Result<W> + Sync,
    work: impl Fn(W) -> io::Result<()> + Sync,
) -> Result<(), ServeError> {
    let design = context.config.design;
    std::thread::scope(|scope| {
        let (can_work, ready) = mpsc::channel();
        let mut threads = Vec::new();
        let mut refusal = None;
        for number in 0..context.config.workers {
            let (open, work, can_work) = (&open, &work, can_work.clone());
            let carry = move || {
                let worker = open(number)?;
                let _ = can_work.send(());
                drop(can_work);
                work(worker)
            };
            match Builder::new().spawn_scoped(scope, carry) {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    refusal = Some(ServeError::Process { what: "a worker's thread", source });
                    break;
                }
            }
        }
        drop(can_work);
        // Each has sent that it can work, or has ended.
        let all_work = ready.iter().count() == context.config.workers;
        if all_work {
            observer.report();
            observer.attend(&threads, context.stop);
        } else {
            // Twice: at once.
            context.stop.ask();
            context.stop.ask();
        }
        let ended: Vec<_> = threads.into_iter().map(result).collect();
        let ended = ended.into_iter().collect::<io::Result<()>>();
        match refusal {
            Some(refusal) => Err(refusal),
            None if all_work => ended.map_err(|source| ServeError::Worker { source }),
            None => ended.map_err(|source| ServeError::Design { design, source }),
        }
    })
}

fn result(thread: ScopedJoinHandle<'_, io::Result<()>>) -> io::Result<()> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("internal error: it panicked")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tcplab_units::ServerDesign;

    use super::*;
    use crate::config::{Config, Subject};
    use crate::counters::{Counters, Tally};
    use crate::service::inetd::Echo;
    use crate::stop::Stop;

    #[test]
    fn worker_that_fails_ends_the_server_and_is_reported_before() {
        let config = Config { workers: 3, ..Config::new(ServerDesign::IoUring, Subject::Echo) };
        let (counters, stop) = (Counters::new(3).unwrap(), Stop::new().unwrap());
        let service = Arc::new(Echo);
        let context = ServerContext { config: &config, service, counters: &counters, stop: &stop };
        let mut reports = Vec::new();
        let mut observe = |tally: &Tally| reports.push((tally.lost_workers, stop.is_asked()));
        let mut observer = Observer::new(&mut observe, &counters);
        let served = run(&context, &mut observer, Ok, |number| match number {
            1 => Err(io::Error::from_raw_os_error(libc::EBADF)),
            _ => {
                while !stop.is_asked() {
                    std::thread::yield_now();
                }
                Ok(())
            }
        });
        assert!(matches!(served, Err(ServeError::Worker { .. })), "{served:?}");
        assert_eq!(reports.first(), Some(&(0, false)), "all could work");
        assert!(reports.contains(&(1, false)), "{reports:?}");
    }
}
