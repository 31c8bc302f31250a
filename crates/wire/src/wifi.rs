//! 802.11 frames, and what captures write before them.

use crate::link::{Carried, ENCRYPTED, Headers, NOT_DATA};
use crate::{Anomaly, LinkType};

impl LinkType {
    /// Whether a radio sent this frame again, as it had heard no acknowledgement of the link: the
    /// bit Retry (IEEE 802.11 section 9.2.4.1.6).
    #[inline]
    pub fn is_radio_retry(self, captured: &[u8]) -> bool {
        match self {
            LinkType::Wifi
            | LinkType::Radiotap
            | LinkType::Prism
            | LinkType::Avs
            | LinkType::Ppi => self.has_retry(captured).unwrap_or_default(),
            _ => false,
        }
    }

    fn has_retry(self, captured: &[u8]) -> Result<bool, Anomaly> {
        const RETRY: u8 = 0x08;
        let mut headers = Headers { bytes: captured, wire_len: captured.len() as u32, at: 0 };
        match self.innermost(&mut headers)? {
            LinkType::Wifi => {}
            LinkType::Radiotap => drop(headers.before_radiotap()?),
            LinkType::Prism | LinkType::Avs => headers.before_prism()?,
            _ => return Ok(false),
        }
        let [_, flags] = headers.take()?;
        Ok(flags & RETRY != 0)
    }
}

impl Headers<'_> {
    /// 802.11 behind radiotap.
    pub(crate) fn radiotap(&mut self) -> Result<Carried, Anomaly> {
        let is_padded = self.before_radiotap()?;
        let [control, flags, ..] = self.take::<24>()?;
        self.wifi_data(control, flags, is_padded)
    }

    /// Version, padding, the length, and which fields are present, in little-endian order. Whether
    /// the header of the frame is padded.
    fn before_radiotap(&mut self) -> Result<bool, Anomaly> {
        let [_, _, low, high] = self.take()?;
        let is_padded = self.bytes.get(self.at..).is_some_and(is_padded);
        self.at = usize::from(u16::from_le_bytes([low, high])).max(self.at);
        Ok(is_padded)
    }

    /// 802.11 behind Prism or AVS.
    pub(crate) fn prism(&mut self) -> Result<Carried, Anomaly> {
        self.before_prism()?;
        self.wifi()
    }

    /// AVS begins with its number, its length follows; Prism has a code and its length, in the
    /// order of the host.
    fn before_prism(&mut self) -> Result<(), Anomaly> {
        const AVS: u32 = 0x8021_1000;
        let [code, length] = [self.take()?, self.take()?];
        let big = u32::from_be_bytes(length);
        let length = match u32::from_be_bytes(code) {
            code if code & !0xff == AVS => big,
            _ if big > 0xffff => u32::from_le_bytes(length),
            _ => big,
        };
        self.at = (length as usize).max(self.at);
        Ok(())
    }

    /// IEEE 802.11 section 9.3.2: data in clear text; of an aggregate, its first frame.
    pub(crate) fn wifi(&mut self) -> Result<Carried, Anomaly> {
        let [control, flags, ..] = self.take::<24>()?;
        self.wifi_data(control, flags, false)
    }

    /// 802.11 with the first two bytes exchanged, as some access points tunnel it.
    pub(crate) fn swapped_wifi(&mut self) -> Result<Carried, Anomaly> {
        let [flags, control, ..] = self.take::<24>()?;
        self.wifi_data(control, flags, false)
    }

    /// `is_padded`: the header is filled up to four bytes.
    fn wifi_data(&mut self, control: u8, flags: u8, is_padded: bool) -> Result<Carried, Anomaly> {
        const DATA: u8 = 0x08;
        const WITHOUT_DATA: u8 = 0x40;
        const QOS: u8 = 0x80;
        const PROTECTED: u8 = 0x40;
        const HEADER: usize = 24;
        let begin = self.at - HEADER;
        if control & 0x0f != DATA || control & WITHOUT_DATA != 0 {
            return Ok(Carried::Other { protocol: NOT_DATA });
        }
        if flags & PROTECTED != 0 {
            return Ok(Carried::Other { protocol: ENCRYPTED });
        }
        if flags & 3 == 3 {
            self.take::<6>()?;
        }
        let (mut is_aggregate, mut in_mesh) = (false, false);
        if control & QOS != 0 {
            let [first, second] = self.take()?;
            is_aggregate = first & 0x80 != 0;
            in_mesh = flags & 2 != 0 && second & 1 != 0;
            if flags & 0x80 != 0 {
                self.take::<4>()?;
            }
        }
        if is_padded {
            self.at = begin + (self.at - begin).next_multiple_of(4);
        }
        if is_aggregate {
            self.take::<14>()?;
        } else if in_mesh {
            self.mesh_control()?;
        }
        self.llc(0)
    }

    /// IEEE 802.11 section 9.2.4.8.3: flags, time to live, a sequence number, up to two addresses.
    /// Outside a mesh the bit that announces it is part of something else; then LLC shows in place
    /// of the flags, most of which are reserved.
    fn mesh_control(&mut self) -> Result<(), Anomaly> {
        let Some(addresses @ 0..=2) = self.bytes.get(self.at) else { return Ok(()) };
        let addresses = usize::from(*addresses);
        self.take::<6>()?;
        self.at += 6 * addresses;
        Ok(())
    }
}

/// Whether radiotap's flags, if it has them, say that the header of the frame is padded; `fields`
/// begins with which fields there are: the time of eight bytes, then the flags.
fn is_padded(fields: &[u8]) -> bool {
    const TIME: u32 = 1;
    const FLAGS: u32 = 2;
    const MORE: u32 = 1 << 31;
    const PADDED: u8 = 0x20;
    let word = |at: usize| {
        let bytes = fields.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let Some(present) = word(0).filter(|present| present & FLAGS != 0) else { return false };
    let (mut at, mut last) = (4, present);
    while last & MORE != 0 {
        let Some(next) = word(at) else { return false };
        (at, last) = (at + 4, next);
    }
    if present & TIME != 0 {
        // Aligned from the start of the header, four bytes before.
        at = (at + 4).next_multiple_of(8) - 4 + 8;
    }
    fields.get(at).is_some_and(|flags| flags & PADDED != 0)
}
