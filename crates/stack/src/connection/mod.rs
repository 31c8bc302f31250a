//! One end of a connection.
//!
//! A [`Connection`] has no clock, no socket and no thread. Whoever drives it (a world) does, in
//! this order and always with times that do not go back:
//!
//! 1. Tell it what happens: [`Connection::handle_segment`] when a segment arrives,
//!    [`Connection::handle_timeout`] when the time that [`Connection::poll_at`] gave has come,
//!    and what the application does: [`Connection::write`], [`Connection::read`],
//!    [`Connection::shutdown`], [`Connection::close`], [`Connection::abort`],
//!    [`Connection::set_option`].
//! 2. After each of these, send what [`Connection::poll_transmit`] gives until it gives `None`: a
//!    kernel sends while it works on a segment, before it looks at the next.
//! 3. Then ask [`Connection::poll_at`] when to call again.
//!
//! A [`Transmit`] may be a burst of several segments; [`Transmit::cut`] cuts it. Ports are the
//! world's affair, and so are the segments that belong to no connection ([`crate::reset_for`]).

mod application;
mod closing;
mod error;
mod fast;
mod figures;
mod handshake;
mod input;
mod keep_alive;
mod limits;
mod opening;
mod options;
mod output;
mod path_mtu;
mod paws;
mod synchronized;
mod time_wait;
mod timers;
mod transmit;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use tcplab_units::Instant;
use tcplab_wire::SeqUnwrapper;

pub use application::Send;
pub use error::{ConnectionError, ReadError, WriteError};
pub use opening::Opening;
pub use options::{SocketOption, SocketOptions};
pub use path_mtu::PathMtu;
pub use time_wait::Reuse;
pub use transmit::Transmit;

use crate::BufferPool;
use crate::config::Config;
use crate::fast_open::FastClient;
use crate::jiffies::Jiffies;
use crate::receiver::Receiver;
use crate::segment::Offered;
use crate::send_buffer::SendBuffer;
use crate::sender::Sender;
use crate::state::State;
use fast::Fast;
use figures::Counters;
use handshake::Handshake;
use keep_alive::KeepAlive;
use limits::Limits;
use opening::Terms;
use paws::Timestamps;

/// One end of a connection; see the module's documentation for how to drive it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Connection {
    config: Arc<Config>,
    options: SocketOptions,
    jiffies: Jiffies,
    state: State,
    error: Option<ConnectionError>,
    /// Whether this end sent the first SYN.
    active: bool,
    /// The own sequence numbers.
    numbers: SeqUnwrapper,
    /// The peer's, once its SYN was seen.
    peer_numbers: Option<SeqUnwrapper>,
    /// What both ends agreed on, or this end offers.
    terms: Terms,
    handshake: Handshake,
    fast: Fast,
    timestamps: Timestamps,
    sender: Sender,
    /// How many congestion windows the send buffer should hold.
    windows_of_buffer: u32,
    receiver: Receiver,
    buffer: SendBuffer,
    /// The buffers that it shares with the machine's other connections, where they are counted.
    pool: Option<BufferPool>,
    /// Segments that leave before anything else, in their order.
    outbox: VecDeque<Transmit>,
    /// The application closed its half; the FIN stands behind the last byte written.
    closed_half: bool,
    /// Something was acknowledged while the application had more than there was room for.
    space_made: bool,
    /// The application let go of the connection (`SOCK_DEAD`).
    orphaned: bool,
    /// Position behind the last urgent byte written (`snd_up`).
    urgent_end: u64,
    /// The last write announced that more follows (MSG_MORE).
    more_follows: bool,
    /// Up to here data was pushed (`pushed_seq`).
    pushed_to: u64,
    /// Up to here data leaves in spite of cork and MSG_MORE (`TCP_NAGLE_PUSH`).
    uncorked_to: u64,
    keep_alive: KeepAlive,
    /// When FIN-WAIT-2 or TIME-WAIT is over.
    over_at: Option<Instant>,
    /// When something that could be an attack was last answered.
    last_challenge: Option<Instant>,
    counters: Counters,
    limits: Limits,
}

impl Connection {
    /// Opens a connection: the SYN leaves with the next [`Connection::poll_transmit`].
    pub fn connect(now: Instant, config: &Arc<Config>, opening: Opening) -> Connection {
        let options = SocketOptions::of(config);
        Connection::connect_with(now, config, &options, opening)
    }

    /// Opens a connection with socket options that were set before.
    pub fn connect_with(
        now: Instant,
        config: &Arc<Config>,
        options: &SocketOptions,
        opening: Opening,
    ) -> Connection {
        let mut connection = Connection::new(config, options, opening, true);
        connection.begin_active(now);
        connection
    }

    /// The same with Fast Open: the SYN carries a cookie, and data.
    pub fn connect_fast(
        now: Instant,
        config: &Arc<Config>,
        options: &SocketOptions,
        opening: Opening,
        fast: &FastClient,
    ) -> Connection {
        let mut connection = Connection::new(config, options, opening, true);
        connection.fast = Fast { cookie: fast.cookie, more: fast.more, ..Fast::default() };
        let (mut taken, len) = (0, fast.data.len());
        while taken < len {
            let offered = Offered::Shared(&fast.data);
            let some = connection.buffer.append(offered, taken, 1, len, len, false);
            if some == 0 {
                break;
            }
            taken += some;
        }
        connection.pushed_to = connection.buffer.end();
        connection.fast.with_syn = taken;
        connection.begin_active(now);
        connection
    }

    fn new(
        config: &Arc<Config>,
        options: &SocketOptions,
        opening: Opening,
        active: bool,
    ) -> Connection {
        let jiffies = Jiffies::new(&config.host);
        let mut connection = Connection {
            options: *options,
            jiffies,
            state: State::Closed,
            error: None,
            active,
            numbers: SeqUnwrapper::new(opening.initial_sequence),
            peer_numbers: None,
            terms: Terms::offered(config, options, &opening),
            handshake: Handshake::new(config),
            fast: Fast::default(),
            timestamps: Timestamps::new(config.host.timestamp_tick, opening.timestamp_offset),
            windows_of_buffer: opening.congestion.windows_of_send_buffer(),
            sender: Sender::new(config, opening.congestion),
            receiver: Receiver::new(config, jiffies),
            buffer: SendBuffer::new(config),
            pool: None,
            outbox: VecDeque::new(),
            closed_half: false,
            space_made: false,
            orphaned: false,
            urgent_end: 0,
            more_follows: false,
            pushed_to: 1,
            uncorked_to: 0,
            keep_alive: KeepAlive::default(),
            over_at: None,
            last_challenge: None,
            counters: Counters::default(),
            limits: Limits::default(),
            config: Arc::clone(config),
        };
        connection.sender.set_user_timeout(options.user_timeout);
        connection.sender.set_max_pacing_rate(options.most_pace);
        connection.apply_buffers();
        connection.apply_receive_low();
        connection
    }

    /// From now on its segments take buffers of `pool`, those that it has already among them.
    pub fn draw_from(&mut self, pool: &BufferPool) {
        self.buffer.draw_from(pool);
        self.receiver.draw_from(pool);
        self.pool = Some(pool.clone());
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why it was lost, if it was.
    pub fn error(&self) -> Option<ConnectionError> {
        self.error
    }

    /// Whether nothing will ever happen again.
    pub fn is_over(&self) -> bool {
        self.state == State::Closed && self.outbox.is_empty()
    }

    /// The largest segment this end sends, data bytes.
    pub fn mss(&self) -> u32 {
        self.terms.sending_mss
    }

    /// The name of its congestion control.
    pub fn congestion(&self) -> &'static str {
        self.sender.congestion().name()
    }

    /// Enters `state`; of states that are left after a time, the time begins.
    fn enter(&mut self, now: Instant, state: State) {
        if state == self.state {
            return;
        }
        self.state = state;
        match state {
            State::TimeWait => self.begin_time_wait(now),
            State::FinWait2 => self.begin_fin_wait_2(now),
            State::Closed => {
                self.over_at = None;
                self.receiver.forget_gap();
            }
            _ => {}
        }
    }

    /// It is lost (`tcp_done_with_error`): nothing is sent or repeated any more.
    fn fail(&mut self, now: Instant, error: ConnectionError) {
        self.error = Some(error);
        self.buffer.clear();
        self.enter(now, State::Closed);
    }
}
