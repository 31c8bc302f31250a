//! Accurate ECN (RFC 9768): what the path marked is what the sender hears.

use std::cell::Cell;
use std::rc::Rc;

use tcplab_units::{Endpoint, Span};

use super::pair::{Fate, Pair};
use super::*;
use crate::config::Ecn::{self, Accurate, AccurateGranted, AccurateOrClassic, Asked, Off};

fn with(ecn: Ecn) -> Config {
    changed(|config| config.handshake.ecn = ecn)
}

/// Table 2 of RFC 9768: whether both have ECN, and whether it is the accurate one.
#[test]
fn accurate_ecn_is_negotiated() {
    for (client, server, ecn, accurate) in [
        (Accurate, Accurate, true, true),
        (Accurate, AccurateGranted, true, true),
        (Accurate, Asked, true, false),
        (Accurate, Off, false, false),
        (Asked, Accurate, true, false),
        (AccurateOrClassic, Accurate, true, false),
        (AccurateGranted, Accurate, false, false),
    ] {
        let mut pair = Pair::new(&with(client), &with(server), Span::from_millis(5)).connect();
        let now = pair.now;
        let state = |end: &Connection| (end.info(now).ecn, end.accurate.is_on());
        let states = [state(&pair.client), state(pair.server())];
        assert_eq!(states, [(ecn, accurate); 2], "{client:?} {server:?}");
    }
}

/// The first retransmitted SYN still asks, the second does not (RFC 9768 section 3.1.4.1).
#[test]
fn accurate_ecn_is_given_up_after_lost_syns() {
    for (lost, accurate) in [(1, true), (2, false)] {
        let mut pair = Pair::alike(&with(Accurate), Span::from_millis(5))
            .with_fate(move |from, n, _| match from {
                Endpoint::Client if n < lost => Fate::Lost,
                _ => Fate::Arrives,
            })
            .connect();
        assert_eq!(pair.server().accurate.is_on(), accurate, "{lost} lost\n{}", pair.log);
    }
}

/// Each mark is counted once, by the counter alone and with the option, which counts bytes too.
#[test]
fn accurate_ecn_tells_every_mark() {
    for (option, every) in [(2, 7), (2, 2), (1, 5), (0, 7), (0, 3)] {
        let config = changed(|config| {
            config.handshake.ecn = Accurate;
            config.handshake.ecn_option = option;
        });
        let marked = Rc::new(Cell::new((0, 0)));
        let counted = Rc::clone(&marked);
        let mut data = 0;
        let mut pair = Pair::alike(&config, Span::from_millis(5))
            .with_fate(move |from, _, segment| {
                data += u32::from(from == Endpoint::Client && !segment.is_empty());
                if from == Endpoint::Server || segment.is_empty() || data % every != 0 {
                    return Fate::Arrives;
                }
                let (packets, bytes) = counted.get();
                counted.set((packets + 1, bytes + segment.len()));
                Fate::Marked
            })
            .connect();
        let bytes = vec![1; 200_000];
        assert_eq!(pair.transfer(Endpoint::Client, &bytes, Span::from_secs(60)), bytes);
        pair.run_for(Span::from_secs(1));
        let (packets, of_them) = marked.get();
        let now = pair.now;
        let info = pair.client.info(now);
        let case = format!("option {option}, every {every}");
        assert!(packets > 10, "{case}: {packets}");
        assert_eq!(info.delivered_ce, packets, "{case}");
        assert_eq!(pair.server().info(now).received_ce, packets as u32, "{case}");
        if option == 2 {
            let told = [200_000 - of_them, of_them];
            assert_eq!([info.delivered_bytes[2], info.delivered_bytes[3]], told, "{case}");
        }
        assert!(info.snd_ssthresh < u32::from(u16::MAX), "{case}: marks reduce the window");
    }
}
