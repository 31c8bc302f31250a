//! What users write and what paths refer to: scenarios, paths, rate traces, tables of delays.

use tcplab_path::{Direction, Link, PathSpec, parse_mahimahi, to_mahimahi};
use tcplab_scenario::{PathFile, Scenario};
use tcplab_units::{Bytes, Instant};

/// A small file for whatever a path refers to: a rate trace as well as a table of delays.
pub(crate) const FILE: &[u8] = b"1\n2\n3\n";
/// So far into a trial it is looked what a path will do.
const UNTIL: Instant = Instant::from_nanos(1_000_000_000);

pub(crate) fn scenario(bytes: &[u8]) {
    let Ok(source) = str::from_utf8(bytes) else { return };
    match Scenario::parse_with_files(source, "fuzz", &mut |_| Ok(FILE.to_vec())) {
        Ok(scenario) => {
            assert!(!scenario.cases.is_empty());
            for case in &scenario.cases {
                assert!(!serde_json::to_string(case).expect("a case is data").is_empty());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A path file: what was read can be used, in both directions, and be written as commands of tc.
pub(crate) fn path_file(bytes: &[u8]) {
    let Ok(source) = str::from_utf8(bytes) else { return };
    match PathFile::parse(source, "fuzz", &mut |_| Ok(FILE.to_vec())) {
        Ok(file) => make(&file.path),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Links in both directions, their outlook, and commands of tc.
pub(crate) fn make(path: &PathSpec) {
    for direction in Direction::BOTH {
        let plan = path.link(direction).expect("what was read makes a link");
        let link = Link::new(&plan, 7, direction);
        assert_eq!(link.in_flight().count(), 0);
        let _ = (plan.outlook(UNTIL, 7, 50), plan.time_to_show());
    }
    let _ = (path.tc().is_ok(), path.round_trip());
}

/// A trace of delivery opportunities: what is read can be written and read again.
pub(crate) fn mahimahi(bytes: &[u8]) {
    match parse_mahimahi(bytes) {
        Ok(opportunities) => {
            let again = parse_mahimahi(to_mahimahi(&opportunities).as_bytes());
            assert_eq!(again.as_deref(), Ok(&opportunities[..]));
        }
        Err(error) => assert!(error.line > 0 && !error.to_string().is_empty()),
    }
    with_file("rate = { trace = \"it\" }", bytes);
}

/// A table of a distribution in netem's format.
pub(crate) fn dist_table(bytes: &[u8]) {
    with_file("delay = \"50 ms\"\njitter = { table = \"it.dist\", scale = \"1 ms\" }", bytes);
}

/// A path that refers to these bytes carries a packet, if it takes them.
fn with_file(source: &str, bytes: &[u8]) {
    let path = match PathFile::parse(source, "fuzz", &mut |_| Ok(bytes.to_vec())) {
        Ok(file) => file.path,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let plan = path.link(Direction::Forward).expect("what was read makes a link");
    let mut link = Link::new(&plan, 7, Direction::Forward);
    link.handle_packet(Instant::ZERO, tcplab_path::Packet::of_size(1, Bytes::new(1_500)));
    let left = link.drain(UNTIL);
    assert_eq!(left.len(), 1, "no packet is lost without a verdict");
}
