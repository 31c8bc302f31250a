//! A model as a guest, by itself.

use tcplab_recording::{GuestOrder, GuestReport};
use tcplab_units::{Endpoint, Instant, Span};

use super::super::{FromGuest, Guest, ModelHost};
use super::recorded::{SEED, case};
use super::{PATH, path};
use crate::error::SimError;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A host of an upload of 1 MB that has begun.
fn begun(end: Endpoint, limits: &str) -> ModelHost {
    let text = format!("{}[workload]\nupload = \"1 MB\"\n{limits}", path("loss = \"1 %\""));
    let mut host = ModelHost::start(&case(&text), SEED, end).unwrap();
    host.handle_order(Instant::ZERO, &GuestOrder::Start);
    host
}

/// What it does until then.
fn until(host: &mut ModelHost, limit: Instant) -> Vec<(Instant, FromGuest)> {
    let mut sent = Vec::new();
    while let Some(at) = host.poll_at().filter(|at| *at <= limit) {
        let Ok(()) = host.run(at, limit);
        sent.extend(std::iter::from_fn(|| host.poll_sent().unwrap()));
    }
    sent
}

/// The reports in it, without samples, by their names.
fn reports(sent: &[(Instant, FromGuest)]) -> Vec<(Instant, String)> {
    let named = sent.iter().filter_map(|(at, what)| match what {
        FromGuest::Packet(_) | FromGuest::Sample(..) => None,
        FromGuest::Report(GuestReport::Done(_)) => Some((*at, "done".into())),
        FromGuest::Report(report) => Some((*at, format!("{report:?}"))),
    });
    named.collect()
}

const NOT_CONNECTED: &str = "Ended { nth: 0, was_connected: false }";

#[test]
fn server_is_done_when_its_client_gave_up_or_nothing_can_come() {
    for order in [GuestOrder::Ended { nth: 0, was_connected: false }, GuestOrder::Rest] {
        let mut server = begun(Endpoint::Server, "");
        assert_eq!(reports(&until(&mut server, at(500))), []);
        server.handle_order(at(500), &order);
        let said = reports(&until(&mut server, at(600)));
        assert_eq!(said, [(at(500), NOT_CONNECTED.into()), (at(500), "done".into())]);
    }
    let mut server = begun(Endpoint::Server, "");
    server.handle_order(at(500), &GuestOrder::Ended { nth: 0, was_connected: true });
    assert_eq!(reports(&until(&mut server, at(600))), []);
}

/// It begins when it is told, and waits for nothing after the trial's time.
#[test]
fn client_acts_from_start_to_limit() {
    let limits = "[limits]\ntrial = \"5 s\"\n";
    let text = format!("{PATH}[workload]\nupload = \"1 MB\"\n{limits}");
    let waiting = ModelHost::start(&case(&text), SEED, Endpoint::Client).unwrap();
    assert_eq!(waiting.poll_at(), None);
    let mut client = begun(Endpoint::Client, limits);
    let sent = until(&mut client, at(60_000));
    let times: Vec<_> = sent
        .iter()
        .filter(|(_, what)| matches!(what, FromGuest::Packet(_)))
        .map(|(at, _)| at.since(Instant::ZERO).as_secs_f64())
        .collect();
    // SYNs, the last before the limit.
    assert_eq!(times, [0.0, 1.024, 2.048, 3.072, 4.096]);
    assert_eq!(client.poll_at(), None);
    // What may not fail is not done then.
    client.handle_order(at(5_010), &GuestOrder::RunOut);
    assert_eq!(reports(&until(&mut client, at(60_000))), [(at(5_000), "Received(0)".into())]);
}

#[test]
fn packets_that_are_no_segments_of_a_connection_are_dropped() {
    let mut client = begun(Endpoint::Client, "");
    let syn = until(&mut client, at(1)).into_iter().find_map(|(_, what)| match what {
        FromGuest::Packet(packet) => Some(packet),
        FromGuest::Report(_) | FromGuest::Sample(..) => None,
    });
    let syn = syn.unwrap();
    let mut damaged = syn.clone();
    damaged[30] ^= 1;
    let mut other_port = syn.clone();
    other_port[20] ^= 1;
    let mut server = begun(Endpoint::Server, "");
    let packets = [vec![], vec![0x45], vec![0x60; 48], damaged, other_port, syn[..39].to_vec()];
    for packet in packets {
        server.handle_packet(at(20), packet, false);
        assert_eq!(until(&mut server, at(24)).len(), 0);
    }
    server.handle_packet(at(25), syn, false);
    let answer = until(&mut server, at(26));
    assert!(matches!(answer[..], [(_, FromGuest::Packet(_)), ..]), "{answer:?}");
}

#[test]
fn cases_that_no_model_can_take_part_in_are_refused() {
    let refused = |text: &str| ModelHost::start(&case(text), SEED, Endpoint::Server).unwrap_err();
    let load = "[workload]\nload = { design = \"epoll\" }\n";
    assert!(matches!(refused(&format!("{PATH}{load}")), SimError::Load));
    let same_host = "[path]\nsame_host = true\n[workload]\nupload = \"1 MB\"\n";
    assert!(matches!(refused(same_host), SimError::Path(_)));
}
