//! The state machine: each state meets each kind of segment.

use std::fmt::Write as _;

use tcplab_units::Bytes;

use super::peer::Bench;
use super::*;

/// A connection in `state`, the peer's next number and the own one.
fn in_state(state: State) -> (Bench, i32, i32) {
    let config = Config::default();
    let bench = match state {
        State::SynSent => Bench::connecting(&config),
        State::SynReceived => Bench::answering(&config),
        _ => Bench::established(&config),
    };
    let mut bench = bench;
    let now = bench.now;
    let (mut next, mut own) = (1, 1);
    match state {
        State::SynSent => next = 0,
        State::SynReceived | State::Established => {}
        State::FinWait1 | State::FinWait2 | State::Closing | State::TimeWait => {
            bench.connection.shutdown(now);
            bench.poll();
            own = 2;
            match state {
                State::FinWait2 => bench.hear(".", 1, 2, 0),
                State::Closing => bench.hear("F.", 1, 1, 0),
                State::TimeWait => bench.hear("F.", 1, 2, 0),
                _ => {}
            }
            next += i32::from(matches!(state, State::Closing | State::TimeWait));
        }
        State::CloseWait | State::LastAck => {
            bench.hear("F.", 1, 1, 0);
            next = 2;
            if state == State::LastAck {
                bench.connection.shutdown(now);
                bench.poll();
                own = 2;
            }
        }
        State::Closed => bench.connection.abort(now),
    }
    bench.poll();
    assert_eq!(bench.connection.state(), state);
    bench.forget();
    (bench, next, own)
}

/// Incoming segments: flags, SEQ beyond RCV.NXT, ACK beyond SND.NXT, length.
const KINDS: [(&str, &str, i32, i32, u32); 19] = [
    ("nothing set", "", 0, 0, 0),
    ("SYN in the window", "S", 5, 0, 0),
    ("SYN before it", "S", -1_000, 0, 0),
    ("SYN-ACK", "S.", 0, 0, 0),
    ("SYN-ACK of nothing sent", "S.", 0, 9, 0),
    ("ACK", ".", 0, 0, 0),
    ("ACK of nothing sent", ".", 0, 9, 0),
    ("ACK far too old", ".", 0, -100_000, 0),
    ("ACK before the window", ".", -1_000, 0, 0),
    ("data", ".", 0, 0, 10),
    ("data behind a gap", ".", 10, 0, 10),
    ("data beyond the window", ".", 10_000_000, 0, 10),
    ("data without ACK", "", 0, 0, 10),
    ("FIN", "F.", 0, 0, 0),
    ("FIN after data", "F.", 0, 0, 10),
    ("RST", "R", 0, 0, 0),
    ("RST-ACK", "R.", 0, 0, 0),
    ("RST in the window", "R", 5, 0, 0),
    ("RST beyond it", "R", 10_000_000, 0, 0),
];

#[test]
fn state_machine_every_state_and_segment_matches_snapshot() {
    let mut table = String::new();
    for state in State::ALL {
        writeln!(table, "{state:?}").expect("a string");
        for (kind, letters, beyond, acked, len) in KINDS {
            let (mut bench, next, own) = in_state(state);
            bench.hear(letters, next + beyond, own + acked, len);
            let mut result = format!("{:?}", bench.connection.state());
            if result == format!("{state:?}") {
                result = "-".into();
            }
            if let Some(error) = bench.connection.error().filter(|_| state != State::Closed) {
                result += &format!(" {}", error.errno());
            }
            let sent: Vec<_> = bench
                .sent
                .iter()
                .zip(&bench.causes)
                .map(|(text, cause)| {
                    let numbers = text.split(" win").next().unwrap_or_default();
                    format!("{numbers} {cause:?}")
                })
                .collect();
            writeln!(table, "  {kind:24} {result:24} {}", sent.join("; ")).expect("a string");
        }
    }
    insta::assert_snapshot!(table);
}

/// RFC 5961 section 7: half a second between answers to what could be an attack.
#[test]
fn challenge_acks_are_rate_limited() {
    let (mut bench, ..) = in_state(State::Established);
    for _ in 0..100 {
        bench.hear("S", 5, 0, 0);
        bench.hear("R", 5, 0, 0);
        bench.wait(10);
    }
    assert_eq!(bench.causes, [SendCause::ChallengeAck; 2]);
}

/// RFC 5961 section 5.2: an acknowledgement of what was never sent, or of what is far too old, is
/// answered with an ACK, half a second after the last such answer at the earliest, and nothing of
/// the segment counts.
#[test]
fn ack_of_unsent_data_is_challenged_and_dropped() {
    for ack in [2, 1_000, 1 << 30, -70_000] {
        let (mut bench, next, own) = in_state(State::Established);
        bench.forget();
        for _ in 0..2 {
            bench.hear(".", next, own + ack, 100);
        }
        assert_eq!(bench.causes, [SendCause::ChallengeAck], "{ack}");
        assert_eq!(bench.numbers(), [format!(". {own}:{own}(0) ack {next}")], "{ack}");
        bench.wait(500);
        bench.forget();
        bench.hear("F.", next, own + ack, 100);
        assert_eq!(bench.causes, [SendCause::ChallengeAck], "{ack}");
        assert_eq!(bench.connection.unread(), Bytes::ZERO, "{ack}");
        assert_eq!(bench.connection.state(), State::Established, "{ack}");
    }
}

/// A RST at the right edge of what is behind a gap is the peer's last word too.
#[test]
fn reset_behind_gap_with_sack_is_accepted() {
    let (mut bench, ..) = in_state(State::Established);
    bench.hear(".", 101, 1, 100);
    bench.hear("R", 151, 1, 0);
    assert_eq!(bench.connection.state(), State::Established);
    bench.hear("R", 201, 1, 0);
    assert_eq!(bench.connection.error(), Some(ConnectionError::Reset));
}

/// Peers that send FIN and RST with one number (`tcp_reset_check`).
#[test]
fn reset_with_number_of_fin_is_accepted() {
    for state in [State::CloseWait, State::LastAck, State::Closing] {
        let (mut bench, next, _) = in_state(state);
        bench.hear("R", next - 1, 1, 0);
        assert_eq!(bench.connection.state(), State::Closed, "{state:?}");
    }
}

/// RFC 7323 section 5: what is older than what was echoed is answered and not used.
#[test]
fn timestamp_too_old_is_rejected() {
    let mut bench = Bench::connecting(&Config::default());
    bench.clock = Some(5_000);
    bench.hear_syn_ack();
    bench.forget();
    bench.clock = Some(4_000);
    bench.hear(".", 1, 1, 10);
    assert_eq!(bench.numbers(), [". 1:1(0) ack 1"]);
    assert_eq!(bench.connection.unread().as_u64(), 0);
    // A RST counts however old.
    bench.hear("R", 1, 1, 0);
    assert_eq!(bench.connection.error(), Some(ConnectionError::Reset));
}
