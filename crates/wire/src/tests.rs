//! Views against representations, against packets of a real kernel, and against random bytes.

mod android;
mod fields;
mod frames;
mod never_panics;
mod round_trip;
mod tunnels;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use crate::*;

/// Bytes in hexadecimal, each with two lower-case digits.
const fn hex<const N: usize>(text: &str) -> [u8; N] {
    const fn digit(letter: u8) -> u8 {
        if letter.is_ascii_digit() { letter - b'0' } else { letter - b'a' + 10 }
    }
    assert!(text.len() == 2 * N);
    let (mut bytes, mut at) = ([0; N], 0);
    while at < N {
        bytes[at] = digit(text.as_bytes()[2 * at]) << 4 | digit(text.as_bytes()[2 * at + 1]);
        at += 1;
    }
    bytes
}

/// The SYN of a Linux 6.18 client from 10.98.0.1:52188 to 10.98.0.2:5201.
pub(crate) const LINUX_SYN: [u8; 60] =
    hex("4500003c5f1f40004006c6d60a6200010a620002cbdc1451b821084d00000000a002faf0b5ba0000020405b4\
     0402080ad4060de8000000000103030a");

pub(crate) fn v4() -> Ipv4Repr {
    Ipv4Repr {
        src: Ipv4Addr::new(10, 98, 0, 1),
        dst: Ipv4Addr::new(10, 98, 0, 2),
        id: 24351,
        ttl: 64,
        ecn: Ecn::NotEct,
    }
}

/// The header that [`LINUX_SYN`] has.
pub(crate) fn linux_syn() -> TcpRepr {
    TcpRepr {
        src_port: 52188,
        dst_port: 5201,
        seq: SeqNumber::new(3_089_172_557),
        flags: TcpFlags::SYN,
        window: 64240,
        mss: Some(1460),
        window_scale: Some(10),
        sack_permitted: true,
        timestamps: Some((3_557_166_568, 0)),
        ..TcpRepr::default()
    }
}

pub(crate) fn any_ip() -> impl Strategy<Value = IpRepr> {
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]);
    (any::<u128>(), any::<u128>(), any::<u16>(), any::<u8>(), ecn, any::<bool>()).prop_map(
        |(src, dst, id, ttl, ecn, new)| {
            if new {
                let (src, dst) = (Ipv6Addr::from(src), Ipv6Addr::from(dst));
                Ipv6Repr { src, dst, hop_limit: ttl, ecn }.into()
            } else {
                let (src, dst) = (Ipv4Addr::from(src as u32), Ipv4Addr::from(dst as u32));
                Ipv4Repr { src, dst, id, ttl, ecn }.into()
            }
        },
    )
}

pub(crate) fn any_tcp() -> impl Strategy<Value = TcpRepr> {
    let block = any::<(u32, u32)>()
        .prop_map(|(l, r)| SackBlock { left: SeqNumber::new(l), right: SeqNumber::new(r) });
    let numbers = any::<(u16, u16, u32, u32, u16, u16, u16)>();
    let of_syn = (any::<Option<u16>>(), prop::option::of(0..=14_u8), any::<bool>());
    let counters = (any::<bool>(), prop::array::uniform3(0_u32..1 << 24), 0..=3_u8);
    let acc_ecn = counters.prop_map(|(ect1_first, mut counters, count)| {
        counters[usize::from(count)..].fill(0);
        AccEcnOption { ect1_first, counters, count }
    });
    let layout = prop_oneof![Just(OptionLayout::Linux), Just(OptionLayout::FreeBsd)];
    let of_any = (
        any::<Option<(u32, u32)>>(),
        prop::collection::vec(block, 0..=4),
        prop::option::weighted(0.3, acc_ecn),
        layout,
    );
    (numbers, of_syn, of_any).prop_map(|(numbers, of_syn, of_any)| {
        let (timestamps, blocks, acc_ecn, layout) = of_any;
        let (src_port, dst_port, seq, ack, flags, window, urgent_pointer) = numbers;
        let flags = TcpFlags::from_bits(flags);
        let syn = flags.contains(TcpFlags::SYN);
        let (mss, window_scale, sack_permitted) = if syn { of_syn } else { (None, None, false) };
        TcpRepr {
            src_port,
            dst_port,
            seq: SeqNumber::new(seq),
            ack: SeqNumber::new(ack),
            flags,
            window,
            urgent_pointer,
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            sack: blocks.into_iter().collect(),
            fast_open: None,
            acc_ecn: acc_ecn.filter(|_| layout == OptionLayout::Linux),
            layout,
        }
    })
}

pub(crate) fn any_payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..300)
}
