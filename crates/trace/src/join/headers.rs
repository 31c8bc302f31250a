//! What of a packet's headers devices on the way may change.

use tcplab_wire::{TcpFlags, TcpPacket};

use super::model::ChangedField;
use crate::packet::{Packet, mix};

/// The flags that carry ECN (RFC 3168, RFC 9768).
const ECN_FLAGS: u16 = TcpFlags::ECE.bits() | TcpFlags::CWR.bits() | TcpFlags::AE.bits();

/// The changeable parts of the headers of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Headers {
    ttl: u8,
    /// DSCP and ECN.
    traffic_class: u8,
    ecn_flags: u16,
    window: u16,
    timestamps: Option<(u32, u32)>,
    /// The number of SACK blocks, and their hash.
    sack: (u8, u32),
    options: Option<SynOptions>,
    /// A capture cut the options off.
    options_cut: bool,
}

/// The options of a SYN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SynOptions {
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack_permitted: bool,
    fast_open: bool,
    multipath: bool,
}

/// An option, and its value.
type OptionField = (ChangedField, fn(&SynOptions) -> Option<u32>);

/// A field at both captures, where it differs: its values, as far as they are counted by value.
pub(crate) type Difference = (ChangedField, Option<u32>, Option<u32>);

impl Headers {
    pub(crate) fn of(packet: &Packet, tcp: &TcpPacket<'_>) -> Headers {
        let ip = tcp.ip();
        let blocks = packet.sack.as_slice();
        let sack = blocks.iter().fold(0, |hash, block| {
            mix(hash, u64::from(block.left.as_u32()) << 32 | u64::from(block.right.as_u32()))
        });
        Headers {
            ttl: ip.ttl(),
            traffic_class: ip.dscp() << 2 | ip.ecn() as u8,
            ecn_flags: packet.flags.bits() & ECN_FLAGS,
            window: packet.window,
            timestamps: packet.timestamps,
            sack: (blocks.len() as u8, sack as u32),
            options: packet.syn().then_some(SynOptions {
                mss: packet.mss,
                window_scale: packet.window_scale,
                sack_permitted: packet.sack_permitted,
                fast_open: packet.fast_open.is_some(),
                multipath: packet.multipath.is_some(),
            }),
            options_cut: packet.options_cut,
        }
    }

    /// Whether window, timestamps and SACK blocks are those of another packet; of options that a
    /// capture cut off nothing is known.
    pub(crate) fn differ(&self, other: &Headers) -> [bool; 3] {
        let whole = !self.options_cut && !other.options_cut;
        [
            self.window != other.window,
            whole && self.timestamps != other.timestamps,
            whole && self.sack != other.sack,
        ]
    }

    /// Whether one has timestamps as the other has not, or other ones, also where a capture cut
    /// them off.
    pub(crate) fn stamps_differ(&self, other: &Headers) -> bool {
        self.timestamps != other.timestamps
    }

    /// Whether a capture has all options.
    pub(crate) fn is_whole(&self) -> bool {
        !self.options_cut
    }

    /// What `arrived` has otherwise; `first`: no data of the same packet came before it, neither
    /// here nor there.
    pub(crate) fn differences(
        &self,
        arrived: &Headers,
        first: bool,
    ) -> impl Iterator<Item = Difference> + use<> {
        use ChangedField as F;
        let one = |field, sent: u32, arrived: u32| (field, Some(sent), Some(arrived));
        let (sent, arrived) = (*self, *arrived);
        let [window, timestamps, sack] = sent.differ(&arrived);
        let whole = !sent.options_cut && !arrived.options_cut;
        let there = |is: bool| is.then_some(1);
        let count = |(count, _): (u8, u32)| (count > 0).then_some(u32::from(count));
        let mut all = [None; F::ALL.len()];
        let mut differs = |is: bool, it: Difference| {
            all[it.0 as usize] = is.then_some(it);
        };
        differs(sent.ttl != arrived.ttl, one(F::Ttl, sent.ttl.into(), arrived.ttl.into()));
        let class = |of: fn(u8) -> u8| [sent, arrived].map(|it| u32::from(of(it.traffic_class)));
        for (field, [sent, arrived]) in
            [(F::Dscp, class(|it| it >> 2)), (F::Ecn, class(|it| it & 3))]
        {
            differs(sent != arrived, one(field, sent, arrived));
        }
        // Of what was cut on the way, the first segment alone bears CWR.
        let flags = |it: Headers| u32::from(it.ecn_flags / TcpFlags::ECE.bits());
        differs(
            first && flags(sent) != flags(arrived),
            one(F::EcnFlags, flags(sent), flags(arrived)),
        );
        differs(window, (F::Window, None, None));
        let stamps = |it: Headers| there(it.timestamps.is_some());
        differs(timestamps, (F::Timestamps, stamps(sent), stamps(arrived)));
        differs(sack, (F::Sack, count(sent.sack), count(arrived.sack)));
        if let (true, Some(sent), Some(arrived)) = (whole, sent.options, arrived.options) {
            for (field, of) in SynOptions::FIELDS {
                let (sent, arrived) = (of(&sent), of(&arrived));
                differs(sent != arrived, (field, sent, arrived));
            }
        }
        all.into_iter().flatten()
    }
}

impl SynOptions {
    const FIELDS: [OptionField; 5] = [
        (ChangedField::Mss, |it| it.mss.map(u32::from)),
        (ChangedField::WindowScale, |it| it.window_scale.map(u32::from)),
        (ChangedField::SackPermitted, |it| it.sack_permitted.then_some(1)),
        (ChangedField::FastOpen, |it| it.fast_open.then_some(1)),
        (ChangedField::Multipath, |it| it.multipath.then_some(1)),
    ];
}
