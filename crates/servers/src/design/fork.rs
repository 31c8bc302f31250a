//! A process for each connection.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions};
use tcplab_units::ServerDesign;

use super::kill::kill;
use crate::acceptor::{AcceptEvent, Acceptor};
use crate::carry::Carrier;
use crate::context::{Drain, Observer, ServerContext, single_threaded};
use crate::conversation::End;
use crate::counters::{Count, Slot};
use crate::error::{ServeError, system};
use crate::listener::Listener;
use crate::sys::{self, Forked};

pub(super) fn serve(
    context: &ServerContext<'_>,
    listener: Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    let refused = |source| ServeError::Design { design: ServerDesign::Fork, source };
    single_threaded().map_err(refused)?;
    let slot = context.counters.slot(0);
    let mut children = Children::new(slot)?;
    let mut acceptor = Acceptor::new(context, listener, slot)?;
    observer.report();
    loop {
        observer.tick();
        children.reap();
        match acceptor.next() {
            AcceptEvent::Connection(socket) => {
                acceptor = carry(context, socket, acceptor, &mut children);
            }
            AcceptEvent::Idle => {}
            AcceptEvent::Stop => break,
        }
    }
    acceptor.close_to_new();
    let drain = Drain::begin(context.limits());
    while let Some(socket) = acceptor.rest(&drain) {
        acceptor = carry(context, socket, acceptor, &mut children);
        children.reap();
    }
    drop(acceptor);
    children.wait(&drain, context);
    Ok(())
}

/// Has a new process carry the connection; where there can be none, this one does. Gives the
/// acceptor back: a child closes it at once, or connections could arrive that no process accepts.
fn carry<'a>(
    context: &ServerContext<'_>,
    socket: OwnedFd,
    mut acceptor: Acceptor<'a>,
    children: &mut Children<'_>,
) -> Acceptor<'a> {
    match sys::fork() {
        Ok(Forked::Parent(child)) => {
            children.running.insert(child.as_raw_nonzero().get());
        }
        Ok(Forked::Child) => {
            drop(acceptor);
            let slot = context.counters.slot(sys::own_number());
            Carrier::new().carry(context, &socket, slot, &mut || ());
            drop(socket);
            children.say_goodbye();
            sys::leave();
        }
        Err(_) => {
            acceptor.pause();
            Carrier::new().carry(context, &socket, context.counters.slot(0), &mut || ());
        }
    }
    acceptor
}

/// The processes that were split off and not yet waited for.
struct Children<'a> {
    /// By number.
    running: BTreeSet<i32>,
    /// Each writes its number here when it is done, so that the others need not be asked.
    done: UnixStream,
    done_sender: UnixStream,
    looked: Instant,
    slot: Slot<'a>,
}

impl<'a> Children<'a> {
    fn new(slot: Slot<'a>) -> Result<Children<'a>, ServeError> {
        let (done, done_sender) = UnixStream::pair().map_err(system("listen to children"))?;
        done.set_nonblocking(true).map_err(system("listen to children"))?;
        Ok(Children { running: BTreeSet::new(), done, done_sender, looked: Instant::now(), slot })
    }

    /// Of a child: the last that it does.
    fn say_goodbye(&self) {
        let _ = (&self.done_sender).write_all(&sys::own_pid().to_ne_bytes());
    }

    /// Waits for those that are done. Now and then asks all, as one that crashed says nothing.
    fn reap(&mut self) {
        const LOOK: Duration = Duration::from_secs(1);
        let mut numbers = [0; 4096];
        // A message of four bytes is never split: what is read is a multiple of four.
        while let Ok(count @ 1..) = self.done.read(&mut numbers) {
            for number in numbers[..count].chunks_exact(4) {
                let number = i32::from_ne_bytes(number.try_into().expect("four bytes"));
                self.wait_for(number, WaitOptions::empty());
            }
        }
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            for number in self.running.clone() {
                self.wait_for(number, WaitOptions::NOHANG);
            }
        }
    }

    fn wait_for(&mut self, number: i32, options: WaitOptions) {
        if !self.running.contains(&number) {
            return;
        }
        match rustix::process::waitpid(Pid::from_raw(number), options) {
            Ok(None) | Err(rustix::io::Errno::INTR) => return,
            Ok(Some((_, status))) if status.exit_status() != Some(0) => {
                // It did not come to count the end of its connection.
                self.slot.ended(End::Broken);
                self.slot.add(Count::Lost, 1);
            }
            Ok(Some(_)) | Err(_) => {}
        }
        self.running.remove(&number);
    }

    /// Waits for all, as long as there is time, and ends those that then are left.
    fn wait(&mut self, drain: &Drain, context: &ServerContext<'_>) {
        /// Beyond the drain's end, at which each child ends by itself.
        const GRACE: Duration = Duration::from_secs(1);
        let mut over = None;
        while !self.running.is_empty() {
            self.reap();
            if drain.is_over(context.stop) {
                let since = *over.get_or_insert_with(Instant::now);
                if since.elapsed() >= GRACE {
                    let left = std::mem::take(&mut self.running);
                    for pid in left.into_iter().filter_map(Pid::from_raw) {
                        kill(pid);
                        self.slot.ended(End::Cut);
                    }
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
