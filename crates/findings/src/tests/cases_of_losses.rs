//! The cases of losses and of what comes after them in the order of rules.

use tcplab_trace::{
    Backoff, Backoffs, CapturePoint, EcnAgreement, Limit, Occurrences, Range,
    SpuriousRetransmissions, StallCause,
};
use tcplab_units::{Bytes, Offset};

use super::changes::{lose, mark, police, queue, reorder, smaller};
use super::sums::{Case, at, limited, mbit, ms, occurred, stalls};

const NONE: u64 = 0;

/// The rest of [`CASES`](super::cases::CASES).
pub(super) const CASES: &[Case] = &[
    Case {
        name: "loss-rate",
        fires: |c| {
            lose(&mut c.forward, 69);
            c.forward.transfer.goodput = Some(mbit(4));
        },
        // Too fast for loss-based congestion control.
        silent: &[
            |c| c.forward.transfer.goodput = Some(mbit(20)),
            |c| c.forward.causes.spurious.sent = occurred(65, 1_100),
            // Losses before the capture.
            |c| c.forward.causes.before_capture = occurred(6, 3),
            |c| limited(&mut c.forward, &[(Limit::Congestion, 4_000), (Limit::Path, 6_000)]),
        ],
    },
    Case {
        name: "policer",
        fires: |c| police(&mut c.forward),
        silent: &[
            // The link itself may have this rate.
            |c| c.forward.transfer.capacity = Some(mbit(12)),
            // A queue of four packets.
            |c| c.forward.round_trips.p95 = Some(ms(46)),
            // So much is lost by chance, too.
            |c| c.forward.causes.spurious.sent = occurred(180, 1_000),
            |c| lose(&mut c.forward, 60),
            |c| c.forward.causes.before_capture = occurred(6, 3),
            // Uneven: the window grows and falls.
            |c| {
                let acked = &mut c.forward.series.acked;
                acked.iter_mut().enumerate().for_each(|(i, bytes)| *bytes = i as u64 % 10 * 9_000);
            },
            |c| c.forward.series.acked.truncate(24),
            |c| c.forward.capture_point = CapturePoint::Receiver,
            |c| limited(&mut c.forward, &[(Limit::Congestion, 4_000), (Limit::Path, 6_000)]),
        ],
    },
    Case {
        name: "tail-loss, probed",
        fires: |c| {
            c.forward.stall_sums = vec![stalls(StallCause::TailLoss, 3, 620, 250)];
            c.forward.causes.tail_loss_probes = occurred(3, 1_701);
        },
        silent: &[|c| c.forward.stall_sums[0].time = ms(150)],
    },
    Case {
        name: "tail-loss, never probed",
        fires: |c| c.forward.stall_sums = vec![stalls(StallCause::TailLoss, 1, 220, 220)],
        silent: &[|c| c.forward.stall_sums[0].count = 0],
    },
    Case {
        name: "tail-loss, no SACK",
        fires: |c| {
            c.forward.stall_sums = vec![stalls(StallCause::TailLoss, 1, 220, 220)];
            c.handshake.server.sack_permitted = false;
        },
        silent: &[|c| c.forward.stall_sums.clear()],
    },
    Case {
        name: "timeouts",
        fires: |c| {
            c.forward.stall_sums = vec![
                stalls(StallCause::SmallWindow, 4, 1_000, 300),
                stalls(StallCause::DoubleLoss, 5, 1_400, 260),
                stalls(StallCause::ContinuousLoss, 1, 900, 900),
            ];
            c.forward.causes.timeouts = occurred(10, 1_701);
        },
        silent: &[|c| c.forward.stall_sums.iter_mut().for_each(|sum| sum.time = ms(300))],
    },
    Case {
        name: "timeouts, of one kind",
        fires: |c| c.forward.stall_sums = vec![stalls(StallCause::AckLoss, 6, 1_300, 220)],
        silent: &[|c| c.forward.stall_sums[0].cause = StallCause::TailLoss],
    },
    Case {
        name: "timeouts, with late packets",
        fires: |c| {
            let mut late = stalls(StallCause::PacketDelay, 1, 400, 400);
            (late.longest.from, late.longest.until) = (at(2_362), at(2_762));
            c.forward.stall_sums = vec![stalls(StallCause::AckLoss, 2, 700, 362), late];
        },
        // Elsewhere.
        silent: &[|c| c.forward.stall_sums[1].longest.from = at(6_000)],
    },
    Case {
        name: "timeouts, ACKs and data lost",
        fires: |c| {
            lose(&mut c.forward, 50);
            c.forward.stall_sums = vec![stalls(StallCause::AckLoss, 4, 2_340, 1_220)];
        },
        silent: &[|c| c.forward.stall_sums[0].cause = StallCause::TailLoss],
    },
    Case {
        name: "timeouts, the sender's fault",
        fires: |c| c.forward.stall_sums = vec![stalls(StallCause::IgnoredAcks, 6, 1_300, 220)],
        silent: &[|c| c.forward.stall_sums[0].cause = StallCause::Undetermined],
    },
    Case {
        name: "no-reaction",
        fires: |c| {
            c.forward.capture_point = CapturePoint::Sender;
            let ignored = &mut c.forward.causes.ignored_acks;
            ignored.after_duplicate_acks = occurred(9, 1_200);
            ignored.duplicate_acks = 361;
            ignored.sent = Bytes::new(84_000);
            ignored.waited = ms(1_800);
        },
        silent: &[|c| c.forward.causes.ignored_acks.after_duplicate_acks = Occurrences::default()],
    },
    Case {
        name: "no-reaction, several, in the middle",
        fires: |c| {
            c.forward.capture_point = CapturePoint::Middle;
            let ignored = &mut c.forward.causes.ignored_acks;
            ignored.after_sack = occurred(3, 1_200);
            ignored.after_partial_ack = occurred(1, 900);
            ignored.duplicate_acks = 12;
            ignored.waited = ms(700);
        },
        silent: &[|c| {
            let ignored = &mut c.forward.causes.ignored_acks;
            ignored.after_sack = Occurrences::default();
            ignored.after_partial_ack = Occurrences::default();
        }],
    },
    Case {
        name: "timeout-backoff",
        fires: |c| {
            let backoffs = &mut c.forward.causes.backoffs;
            backoffs.segments = 2;
            backoffs.time = ms(9_000);
            backoffs.longest = Some(Backoff {
                range: Range { start: Offset::new(5), end: Offset::new(1_453) },
                timeouts: 4,
                since: at(3_000),
                until: at(6_000),
                waits: vec![ms(200), ms(400), ms(800), ms(1_600)],
                frames: vec![3_000, 3_001, 3_002, 3_003],
            });
        },
        silent: &[|c| c.forward.causes.backoffs = Backoffs::default()],
    },
    Case {
        name: "lost-retransmissions",
        fires: |c| {
            lose(&mut c.forward, 69);
            c.forward.causes.lost_retransmissions = occurred(12, 1_050);
        },
        silent: &[
            |c| c.forward.causes.lost_retransmissions = occurred(6, 1_050),
            |c| c.forward.causes.before_capture = occurred(6, 3),
        ],
    },
    Case {
        name: "lost-retransmissions, no coincidence",
        fires: |c| {
            lose(&mut c.forward, 1_400);
            c.forward.causes.lost_retransmissions = occurred(700, 1_050);
        },
        // A fifth is lost, also of the retransmissions.
        silent: &[|c| c.forward.causes.lost_retransmissions = occurred(280, 1_050)],
    },
    Case {
        name: "spurious-retransmissions",
        fires: |c| {
            lose(&mut c.forward, 20);
            c.forward.causes.spurious_by_dsack = occurred(5, 1_100);
            c.forward.causes.spurious_by_timestamp = occurred(2, 1_090);
            let spurious = &mut c.forward.causes.spurious;
            spurious.sent = occurred(6, 1_080);
            spurious.timeouts = 1;
            spurious.fast = 5;
            spurious.bytes = Bytes::new(6 * 1_448);
            spurious.shown_by = vec![1_100, 1_200];
        },
        silent: &[|c| c.forward.causes.spurious = SpuriousRetransmissions::default()],
    },
    Case {
        name: "spurious-retransmissions, probes alone",
        fires: |c| {
            c.forward.totals.retransmissions = 1;
            c.forward.causes.spurious_by_dsack = occurred(1, 1_100);
            c.forward.causes.spurious.sent = occurred(1, 1_080);
            c.forward.causes.spurious.probes = 1;
        },
        silent: &[|c| c.forward.causes.spurious = SpuriousRetransmissions::default()],
    },
    Case {
        name: "no-sack",
        fires: |c| {
            lose(&mut c.forward, 12);
            c.handshake.client.sack_permitted = false;
        },
        silent: &[
            |c| c.handshake.client.sack_permitted = true,
            // SYNs and FINs, which no SACK helps.
            |c| c.forward.causes.syn_retransmissions = occurred(10, 3),
        ],
    },
    Case {
        name: "no-timestamps",
        fires: |c| {
            lose(&mut c.forward, 120);
            c.handshake.server.timestamps = false;
        },
        silent: &[|c| lose(&mut c.forward, 12)],
    },
    Case {
        name: "timestamps-reversed",
        fires: |c| {
            let steps = &mut c.forward.timestamp_faults.sender;
            (steps.reversed, steps.back) = (occurred(99, 8), 47);
        },
        silent: &[
            |c| c.forward.timestamp_faults.sender.reversed = occurred(7, 8),
            |c| c.forward.timestamp_faults.sender.plain = 12,
        ],
    },
    Case {
        name: "timestamps-reversed, of a receiver",
        fires: |c| c.forward.timestamp_faults.receiver.reversed = occurred(8, 8),
        silent: &[|c| c.forward.timestamp_faults.receiver.plain = 1],
    },
    Case {
        name: "timestamps-misread",
        fires: |c| {
            c.forward.timestamp_faults.refused = occurred(7, 20);
            c.forward.timestamp_faults.refused_for = ms(42_300);
        },
        silent: &[
            |c| c.forward.timestamp_faults.refused = occurred(5, 20),
            |c| c.forward.timestamp_faults.refused_otherwise = 1,
            |c| c.forward.timestamp_faults.taken_otherwise = 1,
        ],
    },
    Case {
        name: "sack-unsent",
        fires: |c| c.forward.acking.sack_unsent = occurred(24, 62),
        silent: &[|c| c.forward.acking.sack_unsent = occurred(2, 62)],
    },
    Case {
        name: "nagle-delay",
        fires: |c| {
            c.forward.marks.nagle_waits = occurred(25, 300);
            c.forward.marks.nagle_wait_time = ms(1_000);
        },
        silent: &[|c| c.forward.marks.nagle_waits = occurred(2, 300)],
    },
    Case {
        name: "small-segments",
        fires: |c| {
            c.forward.totals.wire_segments = 83_000;
            c.forward.marks.small_in_flight = 80_000;
        },
        // The application writes no faster than ACKs arrive.
        silent: &[|c| c.forward.marks.small_in_flight = 90],
    },
    Case {
        name: "silly-window",
        fires: |c| c.forward.windows.silly_windows = occurred(40, 600),
        silent: &[|c| c.forward.windows.silly_windows = occurred(2, 600)],
    },
    Case {
        name: "window-shrunk",
        fires: |c| c.forward.windows.windows_shrunk = occurred(3, 650),
        silent: &[
            |c| c.forward.windows.windows_shrunk = occurred(NONE, 0),
            // A subflow of Multipath TCP.
            |c| c.handshake.multipath = true,
        ],
    },
    Case {
        name: "delayed-acks",
        fires: |c| {
            c.forward.acking.delayed = occurred(30, 200);
            c.forward.acking.delay_max = ms(240);
        },
        silent: &[|c| c.forward.acking.delay_max = ms(44)],
    },
    Case {
        name: "delayed-acks, forbidden",
        fires: |c| {
            c.forward.acking.delayed = occurred(1, 200);
            c.forward.acking.delay_max = ms(700);
        },
        silent: &[|c| c.forward.acking.delayed = occurred(NONE, 0)],
    },
    Case {
        name: "segment-size, no option",
        fires: |c| c.handshake.server.mss = None,
        silent: &[
            |c| c.handshake.server.seen = false,
            // Small writes: no MSS makes them larger.
            |c| c.forward.totals.wire_segments = 100_000,
        ],
    },
    Case {
        name: "segment-size, small",
        fires: |c| c.handshake.server.mss = Some(500),
        silent: &[|c| c.handshake.server.mss = Some(1_380)],
    },
    Case {
        name: "segment-size, small at the data's sender",
        fires: |c| c.handshake.client.mss = Some(536),
        silent: &[
            |c| c.handshake.client.mss = Some(1_380),
            |c| c.forward.totals.wire_segments = 100_000,
            // It sends segments as large as the receiver takes.
            |c| c.forward.totals.data_segments = 6_907,
        ],
    },
    Case {
        name: "path-mtu, ICMP",
        fires: |c| c.forward.marks.mss_changes = vec![smaller()],
        silent: &[|c| c.forward.marks.mss_changes.clear()],
    },
    Case {
        name: "path-mtu, black hole",
        fires: |c| {
            c.forward.marks.mss_changes = vec![smaller()];
            c.forward.stall_sums = vec![stalls(StallCause::ContinuousLoss, 1, 6_200, 6_200)];
        },
        silent: &[|c| c.forward.marks.mss_changes.clear()],
    },
    Case {
        name: "standing-queue",
        fires: |c| queue(&mut c.forward, 310, 450),
        // Half of the samples show no queue: something else is late at times.
        silent: &[
            |c| queue(&mut c.forward, 45, 450),
            |c| c.forward.capture_point = CapturePoint::Middle,
        ],
    },
    Case {
        name: "delay-spikes",
        fires: |c| c.forward.stall_sums = vec![stalls(StallCause::PacketDelay, 7, 2_300, 800)],
        silent: &[
            |c| c.forward.stall_sums[0].time = ms(900),
            |c| c.forward.capture_point = CapturePoint::Receiver,
            // The receiver delays ACKs that Nagle's algorithm waits for.
            |c| {
                c.forward.marks.nagle_waits = occurred(7, 500);
                c.forward.marks.nagle_wait_time = ms(4_200);
            },
        ],
    },
    Case {
        name: "reordering, spurious retransmissions",
        fires: |c| {
            reorder(c);
            c.forward.causes.spurious.sent = occurred(5, 2_000);
        },
        silent: &[|c| c.forward.causes.out_of_order = occurred(5, 500)],
    },
    Case {
        name: "reordering, tolerated",
        fires: reorder,
        silent: &[|c| c.forward.causes.out_of_order = occurred(NONE, 0)],
    },
    Case {
        name: "network-duplicates",
        fires: |c| c.forward.causes.network_duplicates = occurred(186, 40),
        silent: &[
            |c| c.forward.causes.network_duplicates = occurred(2, 40),
            |c| c.forward.causes.capture_duplicates = occurred(4_000, 40),
        ],
    },
    Case {
        name: "link-retries",
        fires: |c| c.forward.causes.link_retries = occurred(186, 40),
        silent: &[
            |c| c.forward.causes.link_retries = occurred(2, 40),
            // Fewer than one in a hundred.
            |c| c.forward.causes.link_retries = occurred(60, 40),
        ],
    },
    Case {
        name: "congestion-marks, agreed",
        fires: |c| mark(c, EcnAgreement::Classic),
        silent: &[|c| c.handshake.ecn = EcnAgreement::Unknown],
    },
    Case {
        name: "congestion-marks, behind the sender",
        fires: |c| {
            c.handshake.ecn = EcnAgreement::Classic;
            c.forward.marks.reductions = occurred(28, 249);
            limited(&mut c.forward, &[(Limit::Congestion, 9_800), (Limit::SlowStart, 200)]);
        },
        silent: &[|c| c.forward.marks.reductions = occurred(NONE, 0)],
    },
    Case {
        name: "congestion-marks, not echoed",
        fires: |c| {
            mark(c, EcnAgreement::Classic);
            c.forward.marks.marked_data_acked = true;
        },
        silent: &[|c| c.forward.marks.ce_marks = occurred(NONE, 0)],
    },
    Case {
        name: "congestion-marks, not answered",
        fires: |c| {
            c.handshake.ecn = EcnAgreement::Classic;
            c.forward.marks.echoes = occurred(200, 14);
            c.forward.marks.not_reduced = occurred(391, 20);
        },
        silent: &[|c| c.forward.marks.not_reduced = occurred(2, 20)],
    },
    Case {
        name: "congestion-marks, without data",
        fires: |c| {
            mark(c, EcnAgreement::Accurate);
            c.forward.marks.marked_data = false;
        },
        silent: &[|c| c.handshake.ecn = EcnAgreement::Unknown],
    },
    Case {
        name: "congestion-marks, not agreed",
        fires: |c| mark(c, EcnAgreement::NotAsked),
        silent: &[|c| c.forward.marks.ce_marks = occurred(NONE, 0)],
    },
];
