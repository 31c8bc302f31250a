//! Several captures as one.

use proptest::prelude::*;

use super::*;

/// A capture of packets at these times, each with its place in the file; two interfaces in turn.
fn capture(name: &str, times: &[u64]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), &Section::default()).unwrap();
    let interfaces = ["a", "b"].map(|port| {
        let name = Some(format!("{name}{port}"));
        writer.add_interface(&Interface { name, link_type: 101, ..Interface::default() }).unwrap()
    });
    for (place, &nanos) in times.iter().enumerate() {
        let packet = Packet {
            interface: interfaces[place % 2],
            time: UnixTime::from_nanos(nanos),
            captured: &[place as u8],
            original_len: 1,
            ..Packet::default()
        };
        writer.write_packet(&packet).unwrap();
    }
    let counted = Statistics { dropped: Some(times.len() as u64), ..Statistics::default() };
    writer.write_statistics(interfaces[1], &counted).unwrap();
    writer.finish().unwrap()
}
fn merged(captures: &[Vec<u8>]) -> Merged<&[u8]> {
    Merged::new(captures.iter().map(|bytes| Reader::new(&bytes[..]).unwrap()).collect())
}
/// Time, interface's name, place in the file.
fn all(merged: &mut Merged<&[u8]>) -> Vec<(u64, String, u8)> {
    let mut found = Vec::new();
    while let Some((record, interface)) = merged.next_record() {
        let (nanos, place) = (record.time.unwrap().as_nanos(), record.captured[0]);
        found.push((nanos, interface.name.clone().unwrap(), place));
    }
    found
}

#[test]
fn records_come_in_the_order_of_time_with_interfaces_of_their_own() {
    let captures = [capture("x", &[10, 30, 30]), capture("y", &[]), capture("z", &[5, 30, 40])];
    let mut merged = merged(&captures);
    let found = all(&mut merged);
    let found: Vec<_> = found.iter().map(|(t, name, place)| (*t, name.as_str(), *place)).collect();
    assert_eq!(
        found,
        [(5, "za", 0), (10, "xa", 0), (30, "xb", 1), (30, "xa", 2), (30, "zb", 1), (40, "za", 2)]
    );
    for (index, interface) in merged.interfaces().iter().enumerate() {
        let name = interface.name.as_deref().unwrap();
        let file = merged.capture_of(index).unwrap();
        assert_eq!(name[..1], ["x", "y", "z"][file][..]);
        let dropped = merged.statistics(index).and_then(|counted| counted.dropped);
        assert_eq!(dropped, name.ends_with('b').then_some(if file == 1 { 0 } else { 3 }), "{name}");
    }
    assert!((0..3).all(|file| merged.damage(file).is_none()));
    assert!(merged.next_record().is_none());
}

#[test]
fn one_that_is_cut_off_does_not_stop_the_others() {
    let mut captures = [capture("x", &[1, 2, 3]), capture("y", &[4, 5])];
    let cut = captures[0].len() - 70;
    captures[0].truncate(cut);
    let mut merged = merged(&captures);
    let times: Vec<u64> = all(&mut merged).into_iter().map(|(time, ..)| time).collect();
    assert_eq!(times, [1, 2, 4, 5]);
    assert!(matches!(merged.damage(0), Some(ReadError::Truncated { records: 2 })));
    assert!(merged.damage(1).is_none());
}

proptest! {
    #[test]
    fn nothing_is_lost_and_ordered_captures_stay_ordered(
        mut times in prop::collection::vec(prop::collection::vec(0..50_u64, 0..20), 0..5),
    ) {
        for times in &mut times {
            times.sort_unstable();
        }
        let captures: Vec<Vec<u8>> =
            times.iter().enumerate().map(|(n, times)| capture(&n.to_string(), times)).collect();
        let found: Vec<u64> = all(&mut merged(&captures)).into_iter().map(|(t, ..)| t).collect();
        let mut expected = times.concat();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}
