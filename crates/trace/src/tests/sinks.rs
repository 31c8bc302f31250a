//! What is found does not depend on the sink.

use proptest::prelude::*;
use tcplab_wire::TcpFlags;

use super::bounded::{Step, frame, packet};
use super::drill::feed;
use super::in_passing::{next_move, packets};
use super::recorder::All;
use crate::Analyzer;
use crate::bounds::narrowed;

/// What sinks without and with packets find, with all bounds halved `halvings` times.
fn both_ways(halvings: u32, feed: impl Fn(&mut Analyzer<All>)) -> [String; 2] {
    [false, true].map(|wants_packets| {
        narrowed(halvings, || {
            let sink = All::but_packets(wants_packets);
            let mut analyzer = Analyzer::with_sink(sink).with_max_open_connections(4);
            feed(&mut analyzer);
            let (trace, mut recorder) = analyzer.finish_into();
            recorder.note(trace);
            recorder.by_connection()
        })
    })
}

/// Anything, by a few clients: SYNs again and anew, resets, and data after them.
pub(super) fn any_step() -> impl Strategy<Value = Step> {
    const FLAGS: [TcpFlags; 5] =
        [TcpFlags::ACK, TcpFlags::SYN, TcpFlags::RST, TcpFlags::FIN, TcpFlags::PSH];
    let flags = prop::sample::select(vec![
        FLAGS[0],
        FLAGS[0],
        FLAGS[0] | FLAGS[4],
        FLAGS[1],
        FLAGS[1] | FLAGS[0],
        FLAGS[2],
        FLAGS[2] | FLAGS[0],
        FLAGS[3] | FLAGS[0],
    ]);
    let place = || (0_u64..12).prop_map(|n| if n < 2 { n } else { (n - 2) * 100 + 1 });
    (0_u32..6, any::<bool>(), flags, place(), place(), 0_usize..3, 0_u64..3, 0_u32..4).prop_map(
        |(client, from_server, flags, seq, ack, len, blocks, clock)| Step {
            client,
            from_server,
            flags,
            seq,
            ack,
            len: len * 100,
            blocks: [(ack + 100, ack + 100 + blocks * 100), (0, 0), (0, 0)],
            clock,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_packets_same_sums_for_every_sink(
        steps in prop::collection::vec((any_step(), 0_u64..4), 1..400),
        // With more, not even all SYNs of a connection are remembered.
        halvings in 0_u32..=5,
    ) {
        let [without, with] = both_ways(halvings, |analyzer| {
            let mut number = 0;
            for (step, waits) in &steps {
                // 0.1 ms, or up to 100 s.
                number += [1, 10, 10_000, 1_000_000][*waits as usize];
                analyzer.packet(&frame(number, &packet(step)));
            }
        });
        prop_assert_eq!(without, with);
    }

    #[test]
    fn transfer_same_sums_for_every_sink(
        moves in prop::collection::vec(next_move(), 1..120),
        (opened, clocks, ids) in (prop::bool::weighted(0.8), any::<bool>(), any::<bool>()),
        halvings in 0_u32..=14,
    ) {
        let packets = packets(&moves, opened, clocks, ids);
        let [without, with] = both_ways(halvings, |analyzer| feed(analyzer, &packets));
        prop_assert_eq!(without, with);
    }
}
