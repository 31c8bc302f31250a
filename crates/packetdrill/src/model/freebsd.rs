//! FreeBSD's commands and calls, as far as they concern its TCP.

use tcplab_stack::{Data, Send, State};
use tcplab_units::Instant;

use super::Model;
use super::socket::Stage;
use crate::{Outcome, Refusal};

/// The states by `sockstat`'s names.
fn state(name: &str) -> Option<State> {
    Some(match name {
        "CLOSED" => State::Closed,
        "SYN_SENT" => State::SynSent,
        "SYN_RCVD" => State::SynReceived,
        "ESTABLISHED" => State::Established,
        "CLOSE_WAIT" => State::CloseWait,
        "FIN_WAIT_1" => State::FinWait1,
        "FIN_WAIT_2" => State::FinWait2,
        "CLOSING" => State::Closing,
        "LAST_ACK" => State::LastAck,
        "TIME_WAIT" => State::TimeWait,
        _ => return None,
    })
}

impl Model {
    /// How many connections `sockstat` shows in the state `name`; `held`: of those that an
    /// application has.
    pub(super) fn count_in_state(&self, name: &str, held: bool) -> Result<usize, Refusal> {
        let state = state(name).ok_or_else(|| Refusal(format!("the state {name}")))?;
        let own = self.sockets.values().map(|socket| match &socket.stage {
            Stage::Fresh => usize::from(state == State::Closed),
            Stage::Listening(listener) if !held => listener.count_in(state),
            Stage::Listening(_) => 0,
            Stage::Open(open) => usize::from(open.connection.state() == state),
        });
        let orphans = self.orphans.iter().filter(|open| open.connection.state() == state);
        Ok(own.sum::<usize>() + if held { 0 } else { orphans.count() })
    }

    /// Whether a write to an address connects with Fast Open: TCP_FASTOPEN was set before.
    pub(super) fn connects_by_writing(&self, fd: i64) -> bool {
        self.config.freebsd.is_some()
            && self.sockets.get(&fd).is_some_and(|socket| {
                matches!(socket.stage, Stage::Fresh) && socket.fast.queue.is_some()
            })
    }

    /// Such a write: all is buffered, what fits goes with the SYN.
    pub(super) fn connect_by_writing(&mut self, now: Instant, fd: i64, data: &Data) -> Outcome {
        let asked = self.sockets.get(&fd).and_then(|s| s.options(&self.config).max_segment);
        let wanted = asked.unwrap_or(self.config.handshake.mss);
        let (client, with_syn) = self.fast.begin_of_freebsd((wanted, self.host.room()), data.len());
        self.connect(now, fd, Some(&client));
        let Ok(open) = self.open(fd) else { return Outcome::error("EBADF") };
        let rest = data.part(with_syn..data.len());
        let buffered = open.connection.send(now, &rest, Send::default()).unwrap_or_default();
        let taken = with_syn + buffered;
        open.written += u64::from(taken);
        Outcome::value(taken.into())
    }

    /// `tcpdrop -s`: connections in the state `name` are gone.
    pub(super) fn drop_in_state(&mut self, now: Instant, name: &str) -> Result<(), Refusal> {
        if name != "TIME_WAIT" {
            return Err(Refusal(format!("tcpdrop of connections in the state {name}")));
        }
        for open in self.opens().filter(|open| open.connection.state() == State::TimeWait) {
            open.connection.abort(now);
        }
        Ok(())
    }
}
