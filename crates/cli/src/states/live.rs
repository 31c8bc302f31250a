//! The current TCP connections of this machine.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tcplab_quantities::SOCKETS_DOCUMENT;
use tcplab_testbed::{SocketTimer, TcpSocket, TimerKind};
use tcplab_trace::TcpState;

use crate::arguments::{JsonArguments, StateFilter};
use crate::output::answer_or_json;

pub(super) fn show(filter: &StateFilter, json: &JsonArguments) -> Result<()> {
    let sockets = TcpSocket::all().context("cannot list the TCP sockets of this machine")?;
    let mut rows: Vec<Row> = sockets.into_iter().filter_map(Row::of).collect();
    rows.retain(|row| row.passes(filter));
    rows.sort_by_key(|row| (row.place(), row.socket.local, row.socket.remote));
    let sockets: Vec<Value> = rows.iter().map(Row::as_json).collect();
    let counts: Vec<Value> = counts(&rows)
        .map(|(state, count)| {
            json!({ "state": state, "count": count, "waits_for": state.waits_for() })
        })
        .collect();
    let whole = json!({ "counts": counts, "connections": sockets });
    answer_or_json(&SOCKETS_DOCUMENT, json, &whole, || text(&rows))
}

/// A socket in a known state.
struct Row {
    state: TcpState,
    socket: TcpSocket,
}

impl Row {
    fn of(socket: TcpSocket) -> Option<Row> {
        Some(Row { state: TcpState::from_linux(socket.state.into())?, socket })
    }

    fn passes(&self, filter: &StateFilter) -> bool {
        let ports = [self.socket.local.port(), self.socket.remote.port()];
        (filter.state.is_empty() || filter.state.contains(&self.state))
            && (filter.port.is_empty() || filter.port.iter().any(|port| ports.contains(port)))
    }

    /// The state's place in the order of a connection's life.
    fn place(&self) -> usize {
        TcpState::ALL.iter().position(|state| *state == self.state).unwrap_or(TcpState::ALL.len())
    }

    /// Whether it is in the queue of a listening socket. Without an inode, a connection in these
    /// states never had a program; in those after them its program has closed it.
    fn awaits_accept(&self) -> bool {
        self.socket.inode == 0 && matches!(self.state, TcpState::Established | TcpState::CloseWait)
    }

    fn waits_for(&self) -> &'static str {
        if self.awaits_accept() {
            "the local application to accept"
        } else {
            self.state.waits_for()
        }
    }

    /// What it is waiting for, and for how long.
    fn remark(&self) -> String {
        let TcpSocket { receive_queue, send_queue, timer, .. } = self.socket;
        let mut parts = Vec::new();
        match self.state {
            TcpState::Listen => {
                // Linux admits one more than the backlog (`sk_acceptq_is_full`).
                let is_full = receive_queue > send_queue;
                let full = if is_full { "; full, SYNs are dropped" } else { "" };
                return format!("{receive_queue} waiting for accept(), backlog {send_queue}{full}");
            }
            TcpState::TimeWait => {
                parts.push("closed first, or both at once".to_owned());
            }
            _ if self.awaits_accept() => parts.push("not accepted yet".to_owned()),
            TcpState::CloseWait => {
                parts.push("the local program has not closed".to_owned());
            }
            _ => {}
        }
        // SYN and FIN count as a byte each (`tcp_diag_get_info`).
        let (own_flag, has_end) = match self.state {
            TcpState::SynSent | TcpState::SynReceived => ("its SYN", false),
            TcpState::FinWait1 => ("its FIN", false),
            TcpState::Closing | TcpState::LastAck => ("its FIN", true),
            state => ("", state == TcpState::CloseWait),
        };
        parts.extend(amount(send_queue, own_flag).map(|it| it + " unacknowledged"));
        let end = if has_end { "the end of the stream" } else { "" };
        // Nobody reads what is left to a connection that its program has closed.
        let has_reader = self.socket.inode != 0 || self.awaits_accept();
        let unread = amount(receive_queue, end).filter(|_| has_reader);
        parts.extend(unread.map(|it| it + " unread"));
        parts.extend(timer.map(|timer| self.running(timer)));
        parts.join("; ")
    }

    /// What its timer will do.
    fn running(&self, timer: SocketTimer) -> String {
        let left = format!("{:.1} s", timer.left.as_secs_f64());
        let times = match timer.tries {
            0 => String::new(),
            n => format!(", {n} so far"),
        };
        match (timer.kind, self.state) {
            (TimerKind::TimeWait, TcpState::FinWait2) => {
                format!("dropped in {left} if the other end does not close")
            }
            (TimerKind::TimeWait, _) => format!("ends in {left} (of 60 s)"),
            (TimerKind::KeepAlive, TcpState::FinWait2) => {
                format!("dropped or probed in {left}")
            }
            (TimerKind::KeepAlive, _) => format!("keep-alive probe in {left}{times}"),
            (TimerKind::WindowProbe, _) => {
                format!("zero window: probe in {left}{times}")
            }
            (TimerKind::Retransmission, _) => format!("retransmission in {left}{times}"),
        }
    }

    fn as_json(&self) -> Value {
        let TcpSocket { local, remote, receive_queue, send_queue, timer, user, inode, .. } =
            self.socket;
        let timer = timer.map(|timer| {
            let kind = match timer.kind {
                TimerKind::Retransmission => "retransmission",
                TimerKind::KeepAlive => "keep-alive",
                TimerKind::TimeWait => "time-wait",
                TimerKind::WindowProbe => "window-probe",
            };
            json!({ "kind": kind, "left_ns": timer.left.as_nanos(), "tries": timer.tries })
        });
        json!({
            "state": self.state,
            "local": local,
            "remote": remote,
            "receive_queue": receive_queue,
            "send_queue": send_queue,
            "timer": timer,
            "user": user,
            "inode": inode,
            "waits_for": self.waits_for(),
            "now": self.remark(),
        })
    }
}

/// What a queue holds, if anything; its last byte is a `flag`, unless that is empty.
fn amount(queue: u32, flag: &str) -> Option<String> {
    match (queue, flag) {
        (0, _) => None,
        (bytes, "") => Some(format!("{bytes} B")),
        (1, flag) => Some(flag.to_owned()),
        (more, flag) => Some(format!("{} B and {flag}", more - 1)),
    }
}

/// The number in each state that occurs.
fn counts(rows: &[Row]) -> impl Iterator<Item = (TcpState, usize)> {
    let count = |state| (state, rows.iter().filter(|row| row.state == state).count());
    TcpState::ALL.into_iter().map(count).filter(|(_, count)| *count > 0)
}

fn text(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "No such TCP connection.\n".into();
    }
    let mut text = String::new();
    for (state, count) in counts(rows) {
        let unaccepted = rows.iter().filter(|row| row.state == state && row.awaits_accept());
        let unaccepted = match unaccepted.count() {
            0 => String::new(),
            count => format!(" ({count} not accepted yet)"),
        };
        let waits_for = state.waits_for();
        text += &format!("{count:6} {:12}  waits for {waits_for}{unaccepted}\n", state.name());
    }
    let cells = rows.iter().map(|row| {
        let TcpSocket { local, remote, .. } = row.socket;
        let remote = if remote.port() == 0 { "*".to_owned() } else { remote.to_string() };
        [row.state.name().to_owned(), local.to_string(), remote, row.remark()]
    });
    let head = ["state", "here", "there", "now"].map(str::to_owned);
    let table: Vec<[String; 4]> = std::iter::once(head).chain(cells).collect();
    let width = |column: usize| table.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [state, here, there] = [0, 1, 2].map(width);
    text.push('\n');
    for row in &table {
        let line = format!("{:state$}  {:here$}  {:there$}  {}", row[0], row[1], row[2], row[3]);
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use tcplab_units::Span;

    use super::*;

    fn row(state: u8, queues: (u32, u32), timer: Option<(TimerKind, u64, u8)>) -> Row {
        let timer = timer.map(|(kind, millis, tries)| SocketTimer {
            kind,
            left: Span::from_millis(millis),
            tries,
        });
        let remote = if state == 10 { "0.0.0.0:0" } else { "10.0.0.2:40000" };
        Row::of(TcpSocket {
            local: "10.0.0.1:80".parse().unwrap(),
            remote: remote.parse().unwrap(),
            state,
            timer,
            receive_queue: queues.0,
            send_queue: queues.1,
            user: 0,
            inode: 1,
        })
        .unwrap()
    }

    fn without_inode(mut row: Row) -> Row {
        row.socket.inode = 0;
        row
    }

    #[test]
    fn remark_each_state_names_what_it_waits_for() {
        for (row, remark) in [
            (row(10, (3, 128), None), "3 waiting for accept(), backlog 128"),
            (row(10, (1, 1), None), "1 waiting for accept(), backlog 1"),
            (row(10, (1, 0), None), "1 waiting for accept(), backlog 0; full, SYNs are dropped"),
            (row(1, (0, 0), None), ""),
            (
                row(1, (5, 0), Some((TimerKind::KeepAlive, 7_200_000, 0))),
                "5 B unread; keep-alive probe in 7200.0 s",
            ),
            (
                row(1, (0, 9), Some((TimerKind::Retransmission, 1_600, 3))),
                "9 B unacknowledged; retransmission in 1.6 s, 3 so far",
            ),
            (
                row(1, (0, 9), Some((TimerKind::WindowProbe, 200, 0))),
                "9 B unacknowledged; zero window: probe in 0.2 s",
            ),
            (
                row(6, (0, 0), Some((TimerKind::TimeWait, 42_100, 0))),
                "closed first, or both at once; ends in 42.1 s (of 60 s)",
            ),
            (
                row(5, (0, 0), Some((TimerKind::TimeWait, 9_000, 0))),
                "dropped in 9.0 s if the other end does not close",
            ),
            // The kernel counts a FIN and a SYN as a byte: of these 7 the last is the peer's FIN.
            (
                row(8, (7, 9), None),
                "the local program has not closed; 9 B unacknowledged; \
                 6 B and the end of the stream unread",
            ),
            (
                row(8, (1, 0), None),
                "the local program has not closed; the end of the stream unread",
            ),
            (row(8, (0, 0), None), "the local program has not closed"),
            // Its program may have shut down only one half.
            (row(9, (4, 1), None), "its FIN unacknowledged; 3 B and the end of the stream unread"),
            (without_inode(row(9, (4, 1), None)), "its FIN unacknowledged"),
            (without_inode(row(11, (1, 8), None)), "7 B and its FIN unacknowledged"),
            (without_inode(row(1, (5, 0), None)), "not accepted yet; 5 B unread"),
            (without_inode(row(8, (1, 0), None)), "not accepted yet; the end of the stream unread"),
            (row(11, (1, 8), None), "7 B and its FIN unacknowledged; the end of the stream unread"),
            (row(4, (3, 1), None), "its FIN unacknowledged; 3 B unread"),
            (
                row(2, (0, 1), Some((TimerKind::Retransmission, 900, 0))),
                "its SYN unacknowledged; retransmission in 0.9 s",
            ),
        ] {
            assert_eq!(row.remark(), remark);
        }
        assert!(Row::of(TcpSocket { state: 200, ..row(1, (0, 0), None).socket }).is_none());
    }

    #[test]
    fn filter_several_values_any_matches() {
        let filter = |state: &[TcpState], port: &[u16]| StateFilter {
            state: state.to_vec(),
            port: port.to_vec(),
        };
        let open = row(1, (0, 0), None);
        assert!(open.passes(&filter(&[], &[])));
        assert!(open.passes(&filter(&[TcpState::Listen, TcpState::Established], &[40_000])));
        assert!(!open.passes(&filter(&[TcpState::Listen], &[40_000])));
        assert!(!open.passes(&filter(&[TcpState::Established], &[81])));
    }

    #[test]
    fn text_table_columns_aligned() {
        let waiting = without_inode(row(1, (0, 0), None));
        assert_eq!(waiting.as_json()["waits_for"], "the local application to accept");
        let rows = [row(10, (0, 5), None), row(1, (0, 0), None), waiting];
        let text = text(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "     1 LISTEN        waits for a SYN from anywhere");
        assert_eq!(
            lines[1],
            "     2 ESTABLISHED   waits for nothing: data may flow both ways (1 not accepted yet)"
        );
        assert_eq!(lines[3], "state        here         there           now");
        assert_eq!(
            lines[4],
            "LISTEN       10.0.0.1:80  *               0 waiting for accept(), backlog 5"
        );
        assert_eq!(lines[5], "ESTABLISHED  10.0.0.1:80  10.0.0.2:40000");
        assert_eq!(lines[6], "ESTABLISHED  10.0.0.1:80  10.0.0.2:40000  not accepted yet");
    }
}
