//! Setting socket options of a connection, and reading what follows from them.

use tcplab_units::{Bytes, Instant};

use super::{Connection, SocketOptions};
use crate::SocketOption;

impl Connection {
    /// The socket options as they stand.
    pub fn options(&self) -> &SocketOptions {
        &self.options
    }

    /// The receive buffer at present (SO_RCVBUF as read).
    pub fn receive_buffer(&self) -> Bytes {
        self.receiver.buffer()
    }

    /// The send buffer at present (SO_SNDBUF as read).
    pub fn send_buffer(&self) -> Bytes {
        self.buffer.capacity()
    }

    /// Sets an option; what it holds back may leave now (poll for it).
    pub fn set_option(&mut self, now: Instant, option: SocketOption) {
        self.options.set(option);
        match option {
            // What waits leaves at once, cork or not (`__tcp_sock_set_nodelay`).
            SocketOption::NoDelay(true) => self.writer.uncorked_to = self.buffer.end(),
            // "If the cork is taken off, what waits is sent" (tcp(7)).
            SocketOption::Cork(false) => self.writer.more_follows = false,
            SocketOption::KeepAlive(_) | SocketOption::KeepIdle(_) => self.restart_keep_alive(now),
            SocketOption::UserTimeout(span) => self.sender.set_user_timeout(span),
            SocketOption::ReceiveBuffer(_) | SocketOption::SendBuffer(_) => self.apply_buffers(),
            SocketOption::WindowClamp(bytes) => self.receiver.window.set_clamp(bytes),
            SocketOption::MostPace(rate) => self.sender.set_max_pacing_rate(rate),
            SocketOption::ReceiveLow(_) => self.apply_receive_low(),
            SocketOption::QuickAck(quick) => {
                self.receiver.acks.set_quick(quick);
                if quick && self.state.is_synchronized() {
                    self.after_read(now, 1);
                }
            }
            _ => {}
        }
    }

    /// The bytes that SO_RCVLOWAT waits for: never more than half of what the buffer is or may
    /// grow to (`tcp_set_rcvlowat`).
    pub fn receive_low(&self) -> Bytes {
        let window = &self.receiver.window;
        let most = if window.locked {
            self.receiver.buffer().as_u64()
        } else {
            self.config.receiving.buffer[1].as_u64()
        };
        self.options.receive_low.min(Bytes::new((most / 2).max(1)))
    }

    /// Up to where the window may grow now (TCP_WINDOW_CLAMP as read).
    pub fn window_clamp(&self) -> Bytes {
        Bytes::new(self.receiver.window.clamp)
    }

    /// A buffer that is not set becomes large enough for what is waited for
    /// (`tcp_set_rcvlowat`).
    pub(super) fn apply_receive_low(&mut self) {
        let low = self.receive_low();
        self.receiver.window.make_room_for(low);
    }

    pub(super) fn apply_buffers(&mut self) {
        if let Some(bytes) = self.options.effective_receive_buffer(&self.config) {
            self.receiver.set_buffer(bytes);
        }
        if let Some(bytes) = self.options.effective_send_buffer(&self.config) {
            self.buffer.set_capacity(bytes);
        }
    }
}
