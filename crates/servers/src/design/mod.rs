//! How connections are carried, one design each. All of them accept, carry
//! [conversations](crate::conversation::Conversation), and finish what they have accepted when they
//! are asked to stop.

mod epoll;
mod event_loops;
mod fork;
mod io_uring;
mod iterative;
mod kill;
mod prefork;
mod thread;
mod thread_pool;

pub(crate) use thread_pool::Queue;

use tcplab_units::ServerDesign;

use crate::context::{Observer, ServerContext};
use crate::error::ServeError;
use crate::listener::Listener;

/// Serves until asked to stop.
pub(crate) fn serve(
    context: &ServerContext<'_>,
    listener: Listener,
    observer: &mut Observer<'_>,
) -> Result<(), ServeError> {
    match context.config.design {
        ServerDesign::Iterative => iterative::serve(context, listener, observer),
        ServerDesign::Fork => fork::serve(context, listener, observer),
        ServerDesign::Prefork => prefork::serve(context, listener, observer),
        ServerDesign::Thread => thread::serve(context, listener, observer),
        ServerDesign::ThreadPool => thread_pool::serve(context, listener, observer),
        ServerDesign::Epoll => epoll::serve(context, &listener, observer),
        ServerDesign::IoUring => io_uring::serve(context, &listener, observer),
    }
}
