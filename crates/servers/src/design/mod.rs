//! How connections are carried, one design each. All of them accept, carry
//! [conversations](crate::conversation::Conversation), and finish what they have accepted when they
//! are asked to stop.

mod epoll;
mod fork;
mod io_uring;
mod iterative;
mod prefork;
mod thread;
mod thread_pool;
mod workers;

pub(crate) use thread_pool::Queue;

use crate::config::Design;
use crate::door::Door;
use crate::error::ServeError;
use crate::hall::{Hall, Watch};

/// Serves until asked to stop.
pub(crate) fn serve(hall: &Hall<'_>, door: Door, watch: &mut Watch<'_>) -> Result<(), ServeError> {
    match hall.config.design {
        Design::Iterative => iterative::serve(hall, door, watch),
        Design::Fork => fork::serve(hall, door, watch),
        Design::Prefork => prefork::serve(hall, door, watch),
        Design::Thread => thread::serve(hall, door, watch),
        Design::ThreadPool => thread_pool::serve(hall, door, watch),
        Design::Epoll => epoll::serve(hall, &door, watch),
        Design::IoUring => io_uring::serve(hall, &door, watch),
    }
}
