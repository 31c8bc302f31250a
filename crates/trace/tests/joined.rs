//! Two captures of real transfers joined, against what the link between them counted.

use std::fs;
use std::path::{Path, PathBuf};

use tcplab_trace::Analyzer;
use tcplab_trace::join::{Audit, Claims, Crossing, Joined, Side, audit, join};

fn capture(name: &str, side: Side) -> PathBuf {
    let end = if side == Side::Client { "snd" } else { "rcv" };
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../corpus/groundtruth/{name}.{end}.pcap.zst"))
}

fn joined(name: &str) -> Joined {
    join(|side| tcplab_capture::open(capture(name, side))).unwrap()
}

fn sum(joined: &Joined, of: impl Fn(&Crossing) -> u64) -> [u64; 2] {
    let sum = |pick: fn(&tcplab_trace::join::JoinedConnection) -> &Crossing| {
        joined.connections.iter().map(|c| of(pick(c))).sum()
    };
    [sum(|c| &c.forward), sum(|c| &c.reverse)]
}

#[test]
fn look() {
    for name in [
        "clean_cubic_20ms",
        "loss1_cubic",
        "nosack_loss1",
        "nots_loss1",
        "blackout",
        "ackloss30",
        "app_limited",
        "rwnd_limited",
    ] {
        let joined = joined(name);
        let claims = Side::BOTH.map(|side| {
            let mut a = Analyzer::with_sink(Claims::default());
            a.read(tcplab_capture::open(capture(name, side)).unwrap());
            a.finish_into().1
        });
        let audit: Audit = audit(&joined, &claims);
        let truth: serde_json::Value = serde_json::from_slice(
            &fs::read(format!(
                "{}/../../corpus/groundtruth/{name}.truth.json",
                env!("CARGO_MANIFEST_DIR")
            ))
            .unwrap(),
        )
        .unwrap();
        println!("{name} truth {}", truth["emu"]);
        println!("  taps {:?}", joined.taps);
        println!("  clock {:?} notes {:?}", joined.clock, joined.notes);
        println!(
            "  sent {:?} arrived {:?} lost {:?} nc {:?} unseen {:?} unjudged {:?} dup {:?} reord {:?} repeats {:?} needless {:?}",
            sum(&joined, |c| c.sent),
            sum(&joined, |c| c.arrived),
            sum(&joined, |c| c.lost),
            sum(&joined, |c| c.not_captured),
            sum(&joined, |c| c.unseen_at_sender),
            sum(&joined, |c| c.unjudged),
            sum(&joined, |c| c.duplicated),
            sum(&joined, |c| c.reordered),
            sum(&joined, |c| c.repeats),
            sum(&joined, |c| c.needless)
        );
        for c in &joined.connections {
            println!(
                "   {} {} {:?} {:?} {:?}",
                c.client, c.server, c.first_frames, c.forward.delay, c.reverse.delay
            );
        }
        println!("  {audit:?}");
    }
}
