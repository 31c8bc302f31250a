//! One end of a connection.
//!
//! A [`Connection`] has no clock, no socket and no thread. Whoever drives it (a world) does, in
//! this order and always with times that do not go back:
//!
//! 1. Report what happens: [`Connection::handle_segment`] when a segment arrives,
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

mod accurate_ecn;
mod application;
mod closing;
mod error;
mod fast;
mod freebsd;
mod handshake;
mod info;
mod input;
mod keep_alive;
mod opening;
mod options;
mod output;
mod parts;
mod path_mtu;
mod set_option;
mod synchronized;
mod time_wait;
mod timers;
mod transmit;
mod unreachable;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use tcplab_units::Instant;
use tcplab_wire::{SeqNumber, SeqUnwrapper};

pub use application::Send;
pub use error::{ConnectionError, ReadError, WriteError};
pub use opening::Opening;
pub use options::SocketOptions;
pub use path_mtu::PathMtu;
pub use transmit::Transmit;

use crate::BufferPool;
use crate::config::Config;
use crate::fast_open::FastClient;
use crate::jiffies::Jiffies;
use crate::receiver::Receiver;
use crate::send_buffer::SendBuffer;
use crate::sender::Sender;
use crate::state::State;
use opening::Terms;
use parts::accurate::AccurateEcn;
use parts::{Counters, Handshake, Numbers, Output, Timers, Timestamps, Writer};

/// One end of a connection; see the module's documentation for how to drive it.
#[derive(Debug)]
pub struct Connection {
    config: Arc<Config>,
    options: SocketOptions,
    state: State,
    error: Option<ConnectionError>,
    /// What ICMP reported: the reason, if the peer stays silent (`sk_err_soft`).
    soft_error: Option<ConnectionError>,
    numbers: Numbers,
    /// What both ends agreed on, or this end offers.
    terms: Terms,
    handshake: Handshake,
    timestamps: Timestamps,
    accurate: AccurateEcn,
    sender: Sender,
    receiver: Receiver,
    buffer: SendBuffer,
    writer: Writer,
    output: Output,
    timers: Timers,
    counters: Counters,
}

impl Connection {
    /// Opens a connection: the SYN leaves with the next [`Connection::poll_transmit`].
    pub fn connect(now: Instant, config: &Arc<Config>, opening: Opening) -> Connection {
        let options = SocketOptions::of(config);
        Connection::connect_with(now, config, &options, opening, None)
    }

    /// Opens a connection with socket options that were set before; with Fast Open, the SYN
    /// carries a cookie and data.
    pub fn connect_with(
        now: Instant,
        config: &Arc<Config>,
        options: &SocketOptions,
        opening: Opening,
        fast: Option<&FastClient>,
    ) -> Connection {
        let mut connection = Connection::new(config, options, opening, true);
        if let Some(fast) = fast {
            connection.take_fast(fast);
        }
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
        let numbers = Numbers { own: SeqUnwrapper::new(opening.initial_sequence), peer: None };
        let mut connection = Connection {
            options: *options,
            state: State::Closed,
            error: None,
            soft_error: None,
            numbers,
            terms: Terms::offered(config, options, &opening),
            handshake: Handshake::new(config, active),
            timestamps: Timestamps::new(
                config.host.timestamp_tick,
                opening.timestamp_offset,
                &config.handshake,
            ),
            accurate: AccurateEcn::new(&config.handshake),
            writer: Writer::new(opening.congestion.windows_of_send_buffer()),
            sender: Sender::new(config, opening.congestion),
            receiver: Receiver::new(config, jiffies),
            buffer: SendBuffer::new(config),
            output: Output::default(),
            timers: Timers::new(jiffies),
            counters: Counters::default(),
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
        self.output.pool = Some(pool.clone());
    }

    /// The number of its SYN.
    pub fn initial_sequence(&self) -> SeqNumber {
        self.numbers.own.initial()
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
        self.state == State::Closed && self.output.queue.is_empty()
    }

    /// The largest segment this end sends, data bytes.
    pub fn mss(&self) -> u32 {
        self.terms.sending_mss
    }

    /// The name of its congestion control.
    pub fn congestion(&self) -> &'static str {
        self.sender.congestion().name()
    }

    /// Whether the device below drops what it is given, and says so: what did not leave before is
    /// held back and tried again (`TCP_RESOURCE_PROBE_INTERVAL`).
    pub fn set_device_full(&mut self, is_full: bool) {
        self.output.device_full = is_full;
    }

    /// When its segments carry the option of Accurate ECN, as [`crate::config::Handshake`] has it.
    pub fn set_ecn_option(&mut self, option: u8) {
        self.accurate.option = option;
    }

    /// Whether the application has it: a listener's connection waits to be accepted.
    pub(crate) fn set_accepted(&mut self, is_accepted: bool) {
        self.receiver.set_accepted(is_accepted);
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
                self.timers.over_at = None;
                self.receiver.forget_gap();
            }
            _ => {}
        }
    }

    /// The connection fails (`tcp_done_with_error`): nothing is sent any more.
    fn fail(&mut self, now: Instant, error: ConnectionError) {
        let soft = self.soft_error.filter(|_| error == ConnectionError::TimedOut);
        self.error = Some(soft.unwrap_or(error));
        self.buffer.clear();
        self.enter(now, State::Closed);
    }
}
