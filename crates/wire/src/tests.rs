//! Views and representations against one another, against packets of a real kernel, and against
//! bytes that are no packets.

mod android;
mod frames;
mod never_panics;
mod round_trip;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use crate::*;

/// The SYN of a Linux 6.18 client from 10.98.0.1:52188 to 10.98.0.2:5201.
pub(crate) const LINUX_SYN: [u8; 60] = [
    0x45, 0x00, 0x00, 0x3c, 0x5f, 0x1f, 0x40, 0x00, 0x40, 0x06, 0xc6, 0xd6, 0x0a, 0x62, 0x00, 0x01,
    0x0a, 0x62, 0x00, 0x02, 0xcb, 0xdc, 0x14, 0x51, 0xb8, 0x21, 0x08, 0x4d, 0x00, 0x00, 0x00, 0x00,
    0xa0, 0x02, 0xfa, 0xf0, 0xb5, 0xba, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4, 0x04, 0x02, 0x08, 0x0a,
    0xd4, 0x06, 0x0d, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x01, 0x03, 0x03, 0x0a,
];

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
    let of_any = (any::<Option<(u32, u32)>>(), prop::collection::vec(block, 0..=4));
    (numbers, of_syn, of_any).prop_map(|(numbers, of_syn, (timestamps, blocks))| {
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
        }
    })
}

pub(crate) fn any_payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..300)
}
