//! The analyser against captures of the kernel's TCP, taken at both ends, with the kernel's own
//! counters.

mod counted;
mod found;
mod twins;

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use counted::Counted;
use found::{Score, Sums};

const SENDER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 98, 0, 1));

#[test]
fn look() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/groundtruth");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".truth.json").map(str::to_owned)
        })
        .collect();
    names.sort();
    for name in names {
        let truth: serde_json::Value =
            serde_json::from_slice(&fs::read(folder.join(format!("{name}.truth.json"))).unwrap())
                .unwrap();
        let counted = Counted::new(
            truth["sender_nstat"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(k, v)| (k.clone(), v.as_u64().unwrap())),
        );
        let path = |end: &str| folder.join(format!("{name}.{end}.pcap.zst"));
        let (at_sender, at_receiver) = (found::trace(&path("snd")), found::trace(&path("rcv")));
        let (sent, received) =
            (twins::sent(&path("snd"), SENDER), twins::sent(&path("rcv"), SENDER));
        let again = twins::repeats(&sent);
        let roles = twins::roles(&sent, &received);
        println!(
            "{name}: kernel rtx {} fast {} slow {} rto {} tlp {} dsack {}; seen {}",
            counted.retransmissions(),
            counted.fast(),
            counted.after_timeout(),
            counted.timeouts(),
            counted.probes(),
            counted.dsacks(),
            again.len()
        );
        println!("  snd {:?}", Sums::of(&at_sender, SENDER));
        println!("  snd {:?}", Score::at_sender(&at_sender, SENDER, &again));
        println!("  rcv {:?}", Sums::of(&at_receiver, SENDER));
        println!(
            "  rcv {:?}",
            Score::at_receiver(
                &at_receiver,
                SENDER,
                &roles,
                &found::judgements(&at_sender, SENDER)
            )
        );
        println!(
            "  {:?} {:?} lost {}",
            found::taps(&at_sender, SENDER),
            found::taps(&at_receiver, SENDER),
            found::lost(&at_sender, SENDER) == twins::lost(&sent, &received)
        );
        println!(
            "  proven {} {}",
            found::is_proven(&at_sender, SENDER),
            found::is_proven(&at_receiver, SENDER)
        );
    }
}
