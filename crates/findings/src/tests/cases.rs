//! Transfers as sums, at least one case for each rule.

use tcplab_trace::{
    CapturePoint, CloseKind, EcnAgreement, FastOpen, HandshakeKind, Limit, Roles, StallCause,
    StateStep, StepCause, TcpState, Unanswered,
};
use tcplab_units::{Bytes, Endpoint, Instant, Span};
use tcplab_wire::TcpFlags;

use super::changes::{asked, fast_open, forge_reset, never_opened, short, small_window};
use super::sums::{Case, at, closed, limited, mbit, ms, occurred, stalls};

const NONE: u64 = 0;

/// The client's five retransmissions since the server's last packet.
fn silent_since(heard: Instant, asked: Option<(Instant, u64)>) -> Unanswered {
    Unanswered { heard: Some((heard, 3_500)), asked, retransmissions: 5 }
}

/// Those before the rules of losses.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "capture-gaps",
        fires: |c| {
            c.forward.causes.acked_not_captured = occurred(123, 400);
            c.forward.causes.acked_not_captured_bytes = Bytes::new(1_800_000);
        },
        silent: &[|c| c.forward.causes.acked_not_captured = occurred(NONE, 0)],
    },
    Case {
        name: "captured-twice",
        fires: |c| c.forward.causes.capture_duplicates = occurred(6_907, 5),
        silent: &[|c| c.forward.causes.capture_duplicates = occurred(NONE, 0)],
    },
    Case {
        name: "one-direction",
        fires: |c| c.one_way = Some(Endpoint::Client),
        silent: &[|c| c.one_way = None],
    },
    Case {
        name: "midstream",
        fires: |c| {
            c.handshake.midstream = true;
            c.roles = Roles::ByPorts;
            c.forward.windows.scale_negotiated = false;
            limited(&mut c.forward, &[(Limit::Congestion, 9_700), (Limit::Path, 300)]);
        },
        silent: &[
            |c| c.handshake.midstream = false,
            // Too little to have a limit.
            |c| c.forward.totals.wire_segments = 12,
        ],
    },
    Case {
        name: "midstream, at an unknown distance",
        fires: |c| {
            c.handshake.midstream = true;
            c.roles = Roles::ByPorts;
            c.forward.capture_point = CapturePoint::Unknown;
            limited(&mut c.forward, &[(Limit::Application, 9_700), (Limit::Path, 300)]);
        },
        silent: &[|c| c.handshake.midstream = false],
    },
    Case {
        name: "midstream, in a recovery",
        fires: |c| {
            c.handshake.midstream = true;
            c.roles = Roles::ByFirstPacket;
            c.forward.causes.before_capture = occurred(28, 25);
        },
        silent: &[|c| c.handshake.midstream = false],
    },
    Case {
        name: "not-opened, no answer",
        fires: |c| never_opened(c, HandshakeKind::Unanswered, 6),
        silent: &[|c| c.handshake.kind = HandshakeKind::ThreeWay],
    },
    Case {
        name: "not-opened, refused",
        fires: |c| never_opened(c, HandshakeKind::Refused, 0),
        silent: &[|c| c.handshake.kind = HandshakeKind::Unseen],
    },
    Case {
        name: "not-opened, half open",
        fires: |c| {
            never_opened(c, HandshakeKind::HalfOpen, 0);
            c.handshake.server_repeats = 5;
        },
        silent: &[|c| c.handshake.kind = HandshakeKind::Simultaneous],
    },
    Case {
        name: "syn-retransmitted, client's",
        fires: |c| {
            c.handshake.client_repeats = 2;
            c.handshake.opened = Some(at(3_040));
            c.forward.causes.syn_retransmissions = occurred(2, 2);
        },
        silent: &[
            |c| c.handshake.client_repeats = 0,
            // No frame shows it.
            |c| c.forward.causes.syn_retransmissions = occurred(0, 0),
            // Sooner than any timer: an answer.
            |c| c.handshake.opened = Some(at(60)),
        ],
    },
    Case {
        name: "syn-retransmitted, server's",
        fires: |c| {
            c.handshake.server_repeats = 1;
            c.handshake.opened = Some(at(1_040));
            c.reverse.causes.syn_retransmissions = occurred(1, 3);
        },
        // A rule of its own covers no answer.
        silent: &[|c| c.handshake.opened = None],
    },
    Case {
        name: "fast-open, data refused",
        fires: |c| fast_open(c, FastOpen { data: Bytes::new(500), cookie_sent: true, ..asked() }),
        silent: &[|c| c.handshake.fast_open.as_mut().unwrap().accepted = true],
    },
    Case {
        name: "fast-open, no cookie",
        fires: |c| fast_open(c, asked()),
        silent: &[|c| c.handshake.fast_open.as_mut().unwrap().cookie_given = true],
    },
    Case {
        name: "reset",
        fires: |c| c.life.close = Some(closed(CloseKind::Reset, 9_000)),
        silent: &[
            |c| c.life.close.as_mut().unwrap().kind = CloseKind::ResetAfterFin,
            |c| c.handshake.kind = HandshakeKind::Refused,
        ],
    },
    Case {
        name: "forged-reset, obeyed",
        fires: |c| forge_reset(c, 120, Some(8_995)),
        silent: &[|c| c.life.forged_reset = None],
    },
    Case {
        name: "forged-reset, no effect",
        fires: |c| forge_reset(c, 49, None),
        silent: &[|c| c.life.forged_reset = None],
    },
    Case {
        name: "reset, with data unread",
        fires: |c| {
            let close = closed(CloseKind::ResetAfterFin, 9_000);
            c.life.close = Some(tcplab_trace::Close {
                unread: Some(Bytes::new(4_096)),
                reset_by: Some(Endpoint::Client),
                ..close
            });
        },
        silent: &[|c| c.life.close.as_mut().unwrap().unread = Some(Bytes::ZERO)],
    },
    Case {
        name: "reset, of an end that closed and gets more data",
        fires: |c| {
            c.life.close = Some(closed(CloseKind::ResetAfterFin, 9_000));
            c.forward.transfer.acked = Bytes::new(9_999_000);
        },
        // TLS's farewell; or all was acknowledged.
        silent: &[
            |c| c.forward.transfer.acked = Bytes::new(9_999_969),
            |c| c.forward.transfer.acked = c.forward.totals.unique,
        ],
    },
    Case {
        name: "half-closed",
        fires: |c| {
            let close = closed(CloseKind::HalfClosed, 4_000);
            let (at, frame) = (close.at, close.frame + 1);
            let (flags, by) = (TcpFlags::ACK, Endpoint::Client);
            let cause = StepCause { at, frame, flags, by };
            c.life.close = Some(close);
            c.life.server = vec![StateStep { state: TcpState::FinWait2, at, frame, cause }];
        },
        silent: &[
            // A subflow of Multipath TCP.
            |c| c.handshake.multipath = true,
            // The capture ends too soon after it.
            |c| c.life.close.as_mut().unwrap().at = at(9_500),
            // The FIN was not acknowledged.
            |c| c.life.server[0].state = TcpState::FinWait1,
        ],
    },
    Case {
        name: "accept-queue",
        fires: |c| {
            c.forward.capture_point = CapturePoint::Receiver;
            c.handshake.not_accepted = occurred(1, 1_040);
            c.handshake.accepted = Some((at(1_240), 12));
        },
        silent: &[
            |c| c.handshake.not_accepted = occurred(NONE, 0),
            // The ACK may have been lost behind the capture point.
            |c| c.forward.capture_point = CapturePoint::Sender,
            // The server may wait for data.
            |c| c.forward.totals.data = Bytes::ZERO,
        ],
    },
    Case {
        name: "accept-queue, to the end",
        fires: |c| c.handshake.not_accepted = occurred(3, 1_040),
        silent: &[|c| c.handshake.not_accepted = occurred(1, 1_040)],
    },
    Case {
        name: "peer-silent",
        fires: |c| {
            c.life.close = None;
            c.forward.unanswered = silent_since(at(4_000), None);
            limited(&mut c.forward, &[(Limit::Congestion, 4_600), (Limit::Timeout, 5_400)]);
        },
        silent: &[
            |c| c.forward.unanswered.retransmissions = 1,
            |c| c.forward.unanswered.heard = Some((at(9_500), 8_900)),
            |c| c.life.close = Some(closed(CloseKind::Reset, 10_050)),
        ],
    },
    Case {
        name: "peer-silent, after a pause",
        fires: |c| {
            c.life.close = None;
            c.last = at(80_000);
            c.forward.unanswered = silent_since(at(4_000), Some((at(64_000), 8_990)));
            limited(&mut c.forward, &[(Limit::Congestion, 4_600), (Limit::Timeout, 15_700)]);
        },
        silent: &[|c| c.last = at(64_900)],
    },
    Case {
        name: "path-full",
        fires: |c| {
            limited(&mut c.forward, &[(Limit::SlowStart, 300), (Limit::Path, 9_700)]);
            c.forward.transfer.goodput = Some(mbit(23));
        },
        silent: &[
            |c| c.forward.transfer.goodput = Some(mbit(18)),
            // Away from the sender: even writes of 833 bytes.
            |c| {
                c.forward.capture_point = CapturePoint::Receiver;
                c.forward.totals.wire_segments = 12_000;
            },
        ],
    },
    Case {
        name: "path-full, or a window of unknown scale",
        fires: |c| {
            limited(&mut c.forward, &[(Limit::SlowStart, 300), (Limit::Path, 9_700)]);
            c.forward.transfer.goodput = Some(mbit(23));
            c.forward.windows.scale_negotiated = false;
        },
        silent: &[|c| c.forward.transfer.goodput = Some(mbit(18))],
    },
    Case {
        name: "window-limited, fixed",
        fires: |c| small_window(c, 64_000, 64_000),
        // The receiver is slow, its buffer is not small.
        silent: &[
            |c| c.forward.windows.zero_window_time = ms(4_500),
            |c| {
                c.forward.totals.wire_segments = 12;
                c.forward.totals.data = Bytes::new(16_000);
            },
            |c| c.forward.windows.scale_known = false,
        ],
    },
    Case {
        name: "window-limited, grown",
        fires: |c| small_window(c, 32_000, 100_000),
        silent: &[|c| {
            limited(&mut c.forward, &[(Limit::ReceiveWindow, 900), (Limit::Path, 9_100)]);
        }],
    },
    Case {
        name: "window-limited, slow reader",
        fires: |c| {
            small_window(c, 7_888, 7_888);
            c.forward.windows.min = Some(Bytes::new(80));
            c.forward.round_trips.min = Some(Span::from_micros(166));
            c.forward.transfer.goodput = Some(mbit(1));
        },
        silent: &[|c| c.forward.windows.scale_known = false],
    },
    Case {
        name: "window-limited, slow reader at times",
        fires: |c| {
            small_window(c, 68_600, 80_900);
            c.forward.windows.min = Some(Bytes::new(1_024));
            c.forward.transfer.goodput = Some(mbit(4));
        },
        silent: &[|c| c.forward.windows.scale_known = false],
    },
    Case {
        name: "window-limited, ample for the path",
        fires: |c| small_window(c, 68_600, 240_000),
        // Without a window below a segment nothing shows it there.
        silent: &[|c| c.forward.capture_point = CapturePoint::Receiver],
    },
    Case {
        name: "window-limited, late ACKs",
        fires: |c| {
            small_window(c, 64_000, 64_000);
            c.forward.round_trips.min = Some(Span::from_micros(200));
        },
        silent: &[|c| {
            c.forward.capture_point = CapturePoint::Receiver;
            c.round_trip = Some(Span::from_micros(200));
        }],
    },
    Case {
        name: "window-scaling, window full",
        fires: |c| {
            small_window(c, 65_535, 65_535);
            c.handshake.server.window_scale = None;
        },
        silent: &[
            |c| c.handshake.server.window_scale = Some(0),
            |c| {
                c.forward.transfer.capacity = Some(mbit(12));
                c.forward.windows.zero_window_time = ms(10_000);
            },
        ],
    },
    Case {
        name: "window-scaling, path long",
        fires: |c| c.handshake.client.window_scale = None,
        silent: &[
            |c| c.forward.transfer.capacity = Some(mbit(12)),
            |c| c.handshake.client.cut = true,
            // No more than a window of it.
            |c| c.forward.totals.unique = Bytes::new(65_535),
            // The application did not read, and the window was far from full.
            |c| {
                c.forward.totals.max_in_flight = Bytes::new(21_360);
                c.forward.transfer.goodput = Some(mbit(1));
            },
        ],
    },
    Case {
        name: "zero-window",
        fires: |c| {
            let windows = &mut c.forward.windows;
            (windows.zero_windows, windows.probes) = (occurred(12, 700), occurred(5, 705));
            (windows.zero_window_time, windows.zero_window_max) = (ms(3_200), ms(900));
        },
        silent: &[|c| {
            let windows = &mut c.forward.windows;
            (windows.zero_window_time, windows.zero_window_max) = (ms(400), ms(100));
        }],
    },
    Case {
        name: "send-buffer",
        fires: |c| {
            limited(&mut c.forward, &[(Limit::SendBuffer, 6_000), (Limit::Congestion, 4_000)]);
            c.forward.totals.max_in_flight = Bytes::new(42_000);
        },
        silent: &[
            |c| limited(&mut c.forward, &[(Limit::SendBuffer, 1_500), (Limit::Path, 8_500)]),
            // A full segment more would not have fitted the window.
            |c| {
                c.forward.marks.largest = Bytes::new(1_448);
                c.forward.windows.max = Some(Bytes::new(43_000));
            },
        ],
    },
    Case {
        name: "flight-limited",
        fires: |c| {
            c.forward.totals.max_in_flight = Bytes::new(7_240);
            c.handshake.ecn = EcnAgreement::NotAsked;
        },
        silent: &[
            |c| c.forward.totals.retransmissions = 1,
            |c| c.handshake.ecn = EcnAgreement::Classic,
            |c| c.forward.windows.max = Some(Bytes::new(8_000)),
            |c| c.forward.transfer.capacity = Some(mbit(2)),
            |c| c.forward.capture_point = CapturePoint::Receiver,
        ],
    },
    Case {
        name: "application-limited",
        fires: |c| {
            limited(&mut c.forward, &[(Limit::Application, 7_200), (Limit::Congestion, 2_800)]);
            // What it waited before its first data is no part of the transfer.
            c.forward.stall_sums = vec![
                stalls(StallCause::SenderIdle, 1, 3_000, 3_000),
                stalls(StallCause::SenderSlow, 40, 5_000, 300),
            ];
            c.forward.marks.greeting = Some(ms(3_000));
        },
        silent: &[
            // A subflow of Multipath TCP.
            |c| c.handshake.multipath = true,
            |c| c.forward.marks.greeting = None,
            |c| c.forward.stall_sums.push(stalls(StallCause::NoRequest, 3, 4_000, 2_000)),
            // The client's pauses, too short for stalls.
            |c| c.forward.marks.listened = ms(4_000),
            // Away from the sender a lost tail that is repaired late looks so.
            |c| {
                c.forward.capture_point = CapturePoint::Receiver;
                c.forward.stall_sums = vec![stalls(StallCause::Undetermined, 1, 3_790, 3_790)];
            },
            // It may as well wait for ACKs.
            |c| {
                c.handshake.midstream = true;
                c.forward.capture_point = CapturePoint::Unknown;
            },
        ],
    },
    Case {
        name: "application-limited, or many lost tails",
        fires: |c| {
            c.forward.capture_point = CapturePoint::Receiver;
            limited(&mut c.forward, &[(Limit::Application, 9_800), (Limit::Congestion, 200)]);
            c.forward.stall_sums = vec![stalls(StallCause::Undetermined, 39, 9_750, 260)];
        },
        silent: &[|c| c.forward.stall_sums[0].count = 4, |c| c.forward.marks.listened = ms(6_000)],
    },
    Case {
        name: "application-limited, with a full send buffer",
        fires: |c| {
            let limits = [(Limit::Application, 5_200), (Limit::SendBuffer, 2_500)];
            limited(&mut c.forward, &[limits[0], limits[1], (Limit::Path, 2_300)]);
        },
        silent: &[|c| limited(&mut c.forward, &[(Limit::SendBuffer, 10_000)])],
    },
    Case {
        name: "slow-answers",
        fires: |c| c.reverse.stall_sums = vec![stalls(StallCause::SenderIdle, 12, 3_400, 900)],
        silent: &[
            // A subflow of Multipath TCP.
            |c| c.handshake.multipath = true,
            |c| c.reverse.stall_sums[0].cause = StallCause::NoRequest,
            // A slow client.
            |c| std::mem::swap(&mut c.forward, &mut c.reverse),
        ],
    },
    Case {
        name: "slow-answers, away from the server",
        fires: |c| {
            c.reverse.stall_sums = vec![stalls(StallCause::SenderIdle, 12, 3_400, 900)];
            c.reverse.marks.answers_with_ack = 11;
        },
        silent: &[|c| c.reverse.stall_sums[0].time = ms(1_900)],
    },
    Case {
        name: "slow-answers, at an unknown distance",
        fires: |c| {
            c.handshake.midstream = true;
            c.reverse.capture_point = CapturePoint::Unknown;
            c.reverse.stall_sums = vec![stalls(StallCause::SenderIdle, 12, 3_400, 900)];
        },
        silent: &[|c| c.reverse.stall_sums[0].time = ms(1_900)],
    },
    Case {
        name: "slow-answers, a greeting",
        fires: |c| {
            c.reverse.stall_sums = vec![stalls(StallCause::SenderIdle, 3, 1_200, 1_050)];
            c.reverse.marks.greeting = Some(ms(1_050));
        },
        silent: &[|c| c.reverse.marks.greeting = Some(ms(950))],
    },
    Case {
        name: "chatty-application",
        fires: |c| {
            c.reverse.marks.turns = occurred(100, 20);
            c.forward.marks.prompt_turns = 99;
        },
        silent: &[
            // A subflow of Multipath TCP.
            |c| c.handshake.multipath = true,
            // The client pauses between its requests.
            |c| c.forward.marks.prompt_turns = 18,
            // It says as much without an answer.
            |c| c.reverse.marks.turns = occurred(18, 20),
            |c| c.round_trip = Some(ms(20)),
        ],
    },
    Case {
        name: "slow-start, short",
        fires: |c| short(c),
        silent: &[
            |c| limited(&mut c.forward, &[(Limit::SlowStart, 110), (Limit::Path, 20)]),
            // Messages: one or two segments in flight.
            |c| c.forward.totals.max_in_flight = Bytes::new(2_896),
            // Away from the sender its flight is not seen, but 2 kB in each round trip are.
            |c| {
                c.forward.capture_point = CapturePoint::Receiver;
                c.forward.totals.unique = Bytes::new(8_000);
            },
            // 110 ms of these waits can only lie in slow start.
            |c| c.forward.marks.nagle_wait_time = ms(150),
        ],
    },
    Case {
        name: "slow-start, after pauses",
        fires: |c| {
            short(c);
            c.forward.stall_sums = vec![stalls(StallCause::NoRequest, 2, 900, 500)];
        },
        silent: &[|c| limited(&mut c.forward, &[(Limit::SlowStart, 240), (Limit::Path, 300)])],
    },
];
