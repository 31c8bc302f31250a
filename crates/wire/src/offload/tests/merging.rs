//! Merging undoes cutting, and merges nothing that Linux' receive offload would not.

use proptest::prelude::*;

use super::super::{GsoType, Layout, Merge, Piece};
use super::{data, pieces};
use crate::tests::{any_ip, any_tcp, v4};
use crate::{ChecksumState, Ecn, FrameView, IpRepr, Ipv4Repr, TcpFlags, TcpRepr};

/// A segment as what merging wants to know of it.
fn piece(packet: &[u8]) -> Piece<'_> {
    let tcp = FrameView::of_packet(packet).tcp().unwrap();
    let data_len = tcp.payload_len() as usize;
    Piece { header: &packet[..packet.len() - data_len], data_len, step: data_len }
}

/// Puts packets together wherever that is allowed: the results, with the size to cut them to.
fn merged(packets: &[Vec<u8>]) -> Vec<(u16, Vec<u8>)> {
    fn close(merge: &mut Merge, payload: &mut Vec<u8>, done: &mut Vec<(u16, Vec<u8>)>) {
        let header = merge.finish();
        assert!(header.needs_checksum);
        assert_eq!(header.gso_type == GsoType::None, header.gso_size == 0);
        done.push((header.gso_size, [merge.header(), payload].concat()));
        payload.clear();
    }
    let (mut merge, mut payload, mut done) = (Merge::new(), Vec::new(), Vec::new());
    for (index, packet) in packets.iter().enumerate() {
        let piece = piece(packet);
        if index > 0 && merge.takes(piece) {
            merge.add(piece);
        } else {
            if index > 0 {
                close(&mut merge, &mut payload, &mut done);
            }
            merge.begin(piece);
        }
        payload.extend_from_slice(&packet[piece.header.len()..]);
    }
    close(&mut merge, &mut payload, &mut done);
    done
}

/// Two consecutive segments, the second one changed: whether they merge.
fn merges(change: impl FnOnce(&mut Ipv4Repr, &mut TcpRepr, &mut usize)) -> bool {
    let tcp = TcpRepr { flags: TcpFlags::ACK, timestamps: Some((7, 8)), ..TcpRepr::default() };
    let first = tcp.to_packet(&v4().into(), &[1; 1000]);
    let mut ip = Ipv4Repr { id: v4().id + 1, ..v4() };
    let mut next = TcpRepr { seq: tcp.seq.advanced_by(1000), ..tcp };
    let mut len = 1000;
    change(&mut ip, &mut next, &mut len);
    merged(&[first, next.to_packet(&ip.into(), &vec![2; len])]).len() == 1
}

#[test]
fn what_receive_offload_would_not_merge_stays_apart() {
    assert!(merges(|_, _, _| {}));
    assert!(merges(|_, _, len| *len = 999), "a short one ends it");
    assert!(merges(|_, tcp, _| tcp.flags |= TcpFlags::PSH | TcpFlags::FIN), "so does this");
    assert!(!merges(|_, _, len| *len = 1001), "more than the first");
    assert!(!merges(|_, _, len| *len = 0), "a pure acknowledgement");
    assert!(!merges(|_, tcp, _| tcp.seq = tcp.seq.advanced_by(1)), "a gap");
    assert!(!merges(|_, tcp, _| tcp.ack = tcp.ack.advanced_by(1)));
    assert!(!merges(|_, tcp, _| tcp.window += 1));
    assert!(!merges(|_, tcp, _| tcp.timestamps = Some((8, 8))));
    assert!(!merges(|_, tcp, _| tcp.timestamps = None));
    assert!(!merges(|_, tcp, _| tcp.flags |= TcpFlags::ECE));
    assert!(!merges(|_, tcp, _| tcp.flags |= TcpFlags::CWR));
    assert!(!merges(|_, tcp, _| tcp.src_port += 1));
    assert!(!merges(|ip, _, _| ip.ecn = Ecn::Ce), "a mark must not be lost");
    assert!(!merges(|ip, _, _| ip.ttl -= 1));
    assert!(!merges(|ip, _, _| ip.id += 1));
    assert!(!merges(|ip, _, _| ip.dst = [10, 98, 0, 3].into()));
}

#[test]
fn nothing_follows_a_short_or_pushed_segment() {
    let tcp = |seq: u32, flags| TcpRepr {
        seq: TcpRepr::default().seq.advanced_by(seq),
        flags,
        ..TcpRepr::default()
    };
    let ip = |n: u16| -> IpRepr { Ipv4Repr { id: v4().id + n, ..v4() }.into() };
    let ack = TcpFlags::ACK;
    for (flags, len) in [(ack | TcpFlags::PSH, 500), (ack, 499)] {
        let packets = [
            tcp(0, ack).to_packet(&ip(0), &[1; 500]),
            tcp(500, flags).to_packet(&ip(1), &vec![2; len]),
            tcp(500 + len as u32, ack).to_packet(&ip(2), &[3; 300]),
        ];
        assert_eq!(merged(&packets).len(), 2);
    }
}

#[test]
fn a_super_packet_is_no_longer_than_ip_can_tell() {
    let packets = pieces(&data().to_packet(&v4().into(), &vec![1; 65_000]), 1000);
    let tcp =
        |n: u32| TcpRepr { flags: TcpFlags::ACK, seq: data().seq.advanced_by(n * 1000), ..data() };
    let mut many = packets[..64].to_vec();
    many[0] = tcp(0).to_packet(&v4().into(), &[1; 1000]);
    for n in 64..70 {
        let ip = Ipv4Repr { id: v4().id.wrapping_add(n), ..v4() };
        many.push(tcp(u32::from(n)).to_packet(&ip.into(), &[1; 1000]));
    }
    let lengths: Vec<usize> = merged(&many).iter().map(|(_, packet)| packet.len()).collect();
    assert_eq!(lengths, [52 + 65_000, 52 + 5000]);
}

proptest! {
    #[test]
    fn cut_merged_and_cut_again_gives_the_same_packets(
        ip in any_ip(),
        tcp in any_tcp(),
        payload in prop::collection::vec(any::<u8>(), 1..9000),
        gso_size in 1..3000_u16,
    ) {
        let packet = tcp.to_packet(&ip, &payload);
        let once = pieces(&packet, gso_size);
        let again: Vec<Vec<u8>> = merged(&once)
            .iter()
            .flat_map(|(gso_size, merged)| pieces(merged, *gso_size))
            .collect();
        prop_assert_eq!(&again, &once);
        let plain = tcp.flags.without(TcpFlags::PSH | TcpFlags::FIN | TcpFlags::CWR);
        if plain == TcpFlags::ACK && once.len() > 1 {
            prop_assert_eq!(merged(&once).len(), 1, "an ordinary stream merges");
        }
    }

    #[test]
    fn a_run_of_survivors_is_the_packets_it_stands_for(
        tcp in any_tcp(),
        ip in any_ip(),
        payload in prop::collection::vec(any::<u8>(), 1..9000),
        gso_size in 100..3000_u16,
        from: prop::sample::Index,
        to: prop::sample::Index,
        keep in 60..2000_usize,
    ) {
        let packet = tcp.to_packet(&ip, &payload);
        let layout = Layout::of(&packet, gso_size).unwrap();
        let (from, to) = (from.index(layout.segments()), to.index(layout.segments()));
        let run = from.min(to)..=from.max(to);
        let mut run_packet = Vec::new();
        let header = layout.write_header(&packet, &run, &mut run_packet);
        let (start, end) = layout.data(&run);
        run_packet.extend_from_slice(&packet[start..end]);
        let segments = pieces(&run_packet, header.gso_size);
        prop_assert_eq!(&segments[..], &pieces(&packet, gso_size)[run.clone()]);
        for (segment, index) in segments.iter().zip(run) {
            prop_assert_eq!(segment.len(), layout.size(index));
            let state = FrameView::of_packet(segment).tcp().unwrap().checksum_state();
            prop_assert_eq!(state, ChecksumState::Right);
            let mut kept = vec![9];
            layout.write_segment(&packet, index, keep, &mut kept);
            prop_assert_eq!(&kept[1..], &segment[..keep.min(segment.len())]);
        }
    }

    #[test]
    fn no_headers_make_it_panic(
        headers in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..90),
            prop::sample::select(vec![0x45_u8, 0x46, 0x60, 0x00])), 2..5),
    ) {
        let mut merge = Merge::new();
        for (index, (mut header, first)) in headers.into_iter().enumerate() {
            if let Some(byte) = header.first_mut() {
                *byte = first;
            }
            let piece = Piece { header: &header, data_len: index, step: 1 };
            if merge.takes(piece) {
                merge.add(piece);
            } else {
                merge.begin(piece);
            }
        }
    }
}
