//! `make accuracy`: recordings made afresh on this kernel, each cause of a retransmission set against
//! what the kernels counted and what the other end's capture shows, beside what others say.

mod cases;
mod peers;
mod talk;

#[path = "../../../trace/tests/accuracy/counted.rs"]
mod counted;
#[path = "../../../trace/tests/accuracy/found.rs"]
mod found;
#[path = "../../../trace/tests/accuracy/twins.rs"]
mod twins;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cases::{CASES, Recorded, Version};
use counted::Counted;
use found::{Score, Sums};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [end, case] = arguments.as_slice()
        && (end == "near" || end == "far")
    {
        return talk::play(end, case.parse().unwrap());
    }
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|a| name.contains(&**a));
    for (index, case) in CASES.iter().enumerate().filter(|(_, case)| wanted(case.name)) {
        let directory = record(index, case);
        show(case, &directory);
    }
}

fn record(index: usize, case: &Recorded) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("accuracy-{index}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let own = std::env::current_exe().unwrap();
    let mut shell = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    shell.current_dir(&directory).stdin(Stdio::null());
    shell.args(["shell", "--quiet", "--capture", "seen"]);
    for key in case.path {
        shell.args(["-s", key]);
    }
    shell.arg("--far").arg(format!("{} far {index}", own.display()));
    shell.args(["--wait-for", "5001", "--"]).arg(own).args(["near", &index.to_string()]);
    assert!(shell.status().unwrap().success(), "{}", case.name);
    directory
}

fn show(case: &Recorded, directory: &Path) {
    let client: IpAddr = talk::CLIENT[usize::from(case.version == Version::Six)];
    let [near, _far] = talk::left(directory).map(Counted::new);
    let (snd, rcv) = (directory.join("seen/client.pcapng"), directory.join("seen/server.pcapng"));
    let (at_sender, at_receiver) = (found::trace(&snd), found::trace(&rcv));
    let (sent, received) = (twins::sent(&snd, client), twins::sent(&rcv, client));
    let again = twins::repeats(&sent);
    let roles = twins::roles(&sent, &received);
    println!("## {}", case.name);
    println!(
        " kernel rtx {} fast {} slow {} rto {} tlp {} dsack {} wp {} ka {}; seen {}",
        near.retransmissions(),
        near.fast(),
        near.after_timeout(),
        near.timeouts(),
        near.probes(),
        near.dsacks(),
        near.window_probes(),
        near.keep_alives(),
        again.len()
    );
    println!("  snd {:?}", Sums::of(&at_sender, client));
    println!("  snd {:?}", Score::at_sender(&at_sender, client, &again));
    println!("  rcv {:?}", Sums::of(&at_receiver, client));
    println!(
        "  rcv {:?}",
        Score::at_receiver(&at_receiver, client, &roles, &found::judgements(&at_sender, client))
    );
    println!(
        "  {:?} {:?} lost {}",
        found::taps(&at_sender, client),
        found::taps(&at_receiver, client),
        found::lost(&at_sender, client) == twins::lost(&sent, &received)
    );
    println!(
        "  proven {} {}",
        found::is_proven(&at_sender, client),
        found::is_proven(&at_receiver, client)
    );
    println!(
        "  tshark {:?} {:?} tcptrace {:?}",
        peers::tshark(&snd, client),
        peers::tshark(&rcv, client),
        peers::tcptrace(&snd)
    );
}
