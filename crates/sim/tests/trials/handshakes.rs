//! What each stack offers in its SYN, and answers in its SYN-ACK.

use tcplab_scenario::Profile;
use tcplab_units::Endpoint;
use tcplab_wire::{FrameView, TcpFlags, TcpOption};

use crate::{packets, trial};

/// What the first SYN of an end offers.
fn offer(stack: &str, end: Endpoint) -> String {
    let name = end.name();
    let recording = trial(
        &format!(
            "[path]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n[workload]\nupload = \"10 kB\"\n\
             [{name}]\nstack = \"model:{stack}\"\n"
        ),
        1,
    );
    let sent = packets(&recording, end);
    let mut segments = sent.iter().filter_map(|packet| FrameView::of_packet(packet).tcp());
    let is_answer = end == Endpoint::Server;
    let is_own = |flags: TcpFlags| {
        flags.contains(TcpFlags::SYN) && flags.contains(TcpFlags::ACK) == is_answer
    };
    let syn = segments.find(|tcp| is_own(tcp.flags())).unwrap();
    let mut offers = Vec::new();
    for option in syn.options() {
        match option {
            TcpOption::WindowScale(scale) => offers.push(format!("scale {scale}")),
            TcpOption::SackPermitted => offers.push("SACK".into()),
            TcpOption::Timestamps { .. } => offers.push("timestamps".into()),
            _ => {}
        }
    }
    offers.sort();
    offers.join(", ")
}

/// As their profiles and signatures of their systems have it, such as p0f's.
#[test]
fn window_scale_and_sack_are_those_of_each_system() {
    let expected = [
        ("digital-unix", "scale 0, timestamps"),
        ("freebsd-15", "SACK, scale 6, timestamps"),
        ("haiku-2017-after", "SACK, scale 0, timestamps"),
        ("haiku-2017-before", "scale 0, timestamps"),
        ("haiku-2017-middle", "scale 0, timestamps"),
        ("linux-5.10", "SACK, scale 7, timestamps"),
        ("linux-6.1", "SACK, scale 7, timestamps"),
        ("linux-6.12", "SACK, scale 7, timestamps"),
        ("linux-6.18", "SACK, scale 10, timestamps"),
        ("linux-7.2", "SACK, scale 10, timestamps"),
        ("netburner", "scale 0"),
        ("osx-10.7", "SACK, scale 3, timestamps"),
        ("windows-7", "SACK, scale 8"),
        ("windows-7-compound", "SACK, scale 8"),
    ];
    let mut names: Vec<&str> = Profile::names().collect();
    names.sort_unstable();
    assert_eq!(names, expected.map(|(stack, _)| stack));
    for (stack, offered) in expected {
        for end in [Endpoint::Client, Endpoint::Server] {
            assert_eq!(offer(stack, end), offered, "{stack}, {end:?}");
        }
    }
}
