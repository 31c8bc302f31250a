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

use crate::door::Door;
use crate::error::ServeError;
use crate::hall::{Hall, Watch};
use tcplab_units::ServerDesign;

/// Serves until asked to stop.
pub(crate) fn serve(hall: &Hall<'_>, door: Door, watch: &mut Watch<'_>) -> Result<(), ServeError> {
    match hall.config.design {
        ServerDesign::Iterative => iterative::serve(hall, door, watch),
        ServerDesign::Fork => fork::serve(hall, door, watch),
        ServerDesign::Prefork => prefork::serve(hall, door, watch),
        ServerDesign::Thread => thread::serve(hall, door, watch),
        ServerDesign::ThreadPool => thread_pool::serve(hall, door, watch),
        ServerDesign::Epoll => epoll::serve(hall, &door, watch),
        ServerDesign::IoUring => io_uring::serve(hall, &door, watch),
    }
}
