//! The newer format: blocks in sections.

use std::io::Read;
use std::ops::Range;

use super::error::{Damage, Stop};
use super::interfaces::Interfaces;
use super::location::RecordLocation;
use super::window::Window;
use crate::block::{BYTE_ORDER_MAGIC, Endian, LONGEST_BLOCK, Options, kind, option, padded};
use crate::{Interface, Statistics, UnixTime};

/// What a Packet Block says where nobody counted.
const UNKNOWN_DROPS: u16 = 0xffff;
/// A block without anything in it: type and length before, length after.
const EMPTY_BLOCK: u32 = 12;
const BEFORE_BODY: usize = 8;
const AFTER_BODY: usize = 4;

#[derive(Debug)]
pub(super) struct Section {
    endian: Endian,
    /// How many interfaces earlier sections had; sections count theirs from 0.
    first_interface: usize,
    /// One for each interface of the section.
    clocks: Vec<Clock>,
    /// How many sections began so far.
    pub(super) sections: usize,
    /// The longest unit in which an interface counts time, nanoseconds.
    pub(super) time_unit: u64,
}

impl Section {
    /// A section, if one begins in `window`. Its header, all of which is there then, is left to be
    /// read as any other block.
    pub(super) fn detect<R: Read + ?Sized>(
        window: &mut Window<R>,
    ) -> Result<Option<Section>, Stop> {
        if Endian::Little.u32_at(window.ahead(), 0) != Some(kind::SECTION) {
            return Ok(None);
        }
        if !window.want(EMPTY_BLOCK as usize)? {
            return Err(Stop::Truncated);
        }
        let Some(endian) = byte_order(window.ahead()) else { return Ok(None) };
        let len = endian.u32_at(window.ahead(), 4).unwrap_or(0);
        // A length that none has is damage, and is found with the block.
        if len <= LONGEST_BLOCK && !window.want(len as usize)? {
            return Err(Stop::Truncated);
        }
        Ok(Some(Section {
            endian,
            first_interface: 0,
            clocks: Vec::new(),
            sections: 0,
            time_unit: 0,
        }))
    }

    /// The next packet of this section or a later one. Interfaces on the way go to `found`.
    #[inline(never)]
    pub(super) fn find_record<R: Read + ?Sized>(
        &mut self,
        window: &mut Window<R>,
        found: &mut Interfaces,
    ) -> Result<Option<RecordLocation>, Stop> {
        loop {
            let Some((kind, len)) = self.next_block(window, found)? else { return Ok(None) };
            let body = &window.ahead()[BEFORE_BODY..len - AFTER_BODY];
            let body = Body { bytes: body, endian: self.endian };
            // Where the body lies, reported once the block is known to be good and is passed.
            let packet = match kind {
                kind::ENHANCED_PACKET => Some(self.enhanced_packet(body)?),
                kind::SIMPLE_PACKET => Some(self.simple_packet(body, found)?),
                kind::OBSOLETE_PACKET => Some(self.obsolete_packet(body)?),
                kind::INTERFACE => self.interface(body, found).map(|()| None)?,
                kind::STATISTICS => self.statistics(body, found).map(|()| None)?,
                kind::SECTION => body.version().map(|()| None)?,
                _ => None,
            };
            let start = window.pass(len).start + BEFORE_BODY;
            if let Some(packet) = packet {
                if packet.dropped > 0 {
                    self.dropped(&packet, found);
                }
                return Ok(Some(packet.place(start, self)));
            }
        }
    }

    /// Type and length of the block ahead, once all of it is there.
    fn next_block<R: Read + ?Sized>(
        &mut self,
        window: &mut Window<R>,
        found: &Interfaces,
    ) -> Result<Option<(u32, usize)>, Stop> {
        if !window.want(EMPTY_BLOCK as usize)? {
            return if window.ahead().is_empty() { Ok(None) } else { Err(Stop::Truncated) };
        }
        if Endian::Little.u32_at(window.ahead(), 0) == Some(kind::SECTION) {
            self.endian = byte_order(window.ahead()).ok_or(Damage::ByteOrder)?;
            self.first_interface = found.interfaces.len();
            self.sections += 1;
            self.clocks.clear();
        }
        let field = |bytes: &[u8], at: usize| self.endian.u32_at(bytes, at).unwrap_or(0);
        let (kind, len) = (field(window.ahead(), 0), field(window.ahead(), 4));
        if !(EMPTY_BLOCK..=LONGEST_BLOCK).contains(&len) || len % 4 != 0 {
            return Err(Damage::Length(len).into());
        }
        let whole = len as usize;
        if !window.want(whole)? {
            return Err(Stop::Truncated);
        }
        let last = field(window.ahead(), whole - AFTER_BODY);
        if last != len {
            return Err(Damage::Lengths { first: len, last }.into());
        }
        Ok(Some((kind, whole)))
    }

    fn interface(&mut self, body: Body<'_>, found: &mut Interfaces) -> Result<(), Damage> {
        let mut interface =
            Interface { link_type: body.u16(0)?, snap_len: body.u32(4)?, ..Interface::default() };
        let text = |value: &[u8]| {
            let kept = &value[..value.len().min(Interfaces::LONGEST_TEXT)];
            Some(String::from_utf8_lossy(kept).into_owned())
        };
        let (mut resolution, mut offset) = (MICROSECONDS, 0);
        for (code, value) in body.options(8) {
            match (code, value) {
                (option::INTERFACE_NAME, _) => interface.name = text(value),
                (option::INTERFACE_DESCRIPTION, _) => interface.description = text(value),
                (option::INTERFACE_RESOLUTION, &[exponent]) => resolution = exponent,
                (option::INTERFACE_OFFSET, _) => {
                    offset = body.number(value).map_or(0, |seconds| seconds as i64);
                }
                _ => {}
            }
        }
        let clock = Clock::new(resolution, offset);
        self.time_unit = self.time_unit.max(clock.unit());
        self.clocks.push(clock);
        if found.interfaces.len() == Interfaces::MOST {
            return Err(Damage::Interfaces(Interfaces::MOST));
        }
        found.add(interface);
        Ok(())
    }

    fn statistics(&self, body: Body<'_>, found: &mut Interfaces) -> Result<(), Damage> {
        let id = body.u32(0)?;
        let clock = self.clock(id)?;
        let mut statistics = Statistics::default();
        for (code, value) in body.options(12) {
            let number = body.number(value);
            // Times come as two words, the upper first, in either byte order.
            let time = Body { bytes: value, ..body }.time(0, clock).ok().flatten();
            match code {
                option::STATISTICS_START => statistics.start = time,
                option::STATISTICS_END => statistics.end = time,
                option::STATISTICS_RECEIVED => statistics.received = number,
                option::STATISTICS_DROPPED => statistics.dropped = number,
                option::STATISTICS_DROPPED_BY_OS => statistics.dropped_by_os = number,
                _ => {}
            }
        }
        let counted = &mut found.statistics[self.first_interface + id as usize];
        // These counts are of the whole capture; without them those of packets stand.
        statistics.dropped = statistics.dropped.or(counted.and_then(|before| before.dropped));
        *counted = Some(statistics);
        Ok(())
    }

    /// Counts what a packet says was dropped before it.
    #[cold]
    fn dropped(&self, packet: &Packet, found: &mut Interfaces) {
        let interface = self.first_interface + packet.interface as usize;
        let dropped = &mut found.statistics[interface].get_or_insert_default().dropped;
        *dropped = Some(dropped.unwrap_or(0).saturating_add(packet.dropped));
    }

    fn enhanced_packet(&self, body: Body<'_>) -> Result<Packet, Damage> {
        let interface = body.u32(0)?;
        let time = body.time(4, self.clock(interface)?)?;
        let (captured, options) = body.data(20, body.u32(12)?)?;
        let of_drops = |(code, value): (u16, &[u8])| match code {
            option::PACKETS_DROPPED => body.number(value),
            _ => None,
        };
        let dropped = body.options(options.start).find_map(of_drops).unwrap_or(0);
        Ok(Packet { interface, time, captured, original_len: body.u32(16)?, options, dropped })
    }

    fn obsolete_packet(&self, body: Body<'_>) -> Result<Packet, Damage> {
        let interface = u32::from(body.u16(0)?);
        let time = body.time(4, self.clock(interface)?)?;
        let (captured, options) = body.data(20, body.u32(12)?)?;
        let dropped = match body.u16(2)? {
            UNKNOWN_DROPS => 0,
            known => u64::from(known),
        };
        Ok(Packet { interface, time, captured, original_len: body.u32(16)?, options, dropped })
    }

    /// A packet without a time, of the section's first interface, truncated to its snap length.
    fn simple_packet(&self, body: Body<'_>, found: &Interfaces) -> Result<Packet, Damage> {
        self.clock(0)?;
        let original_len = body.u32(0)?;
        let kept = match found.interfaces[self.first_interface].snap_len {
            0 => original_len,
            most => original_len.min(most),
        };
        let (captured, _) = body.data(4, kept)?;
        let (end, time) = (captured.end, None);
        let options = end..end;
        Ok(Packet { interface: 0, time, captured, original_len, options, dropped: 0 })
    }

    fn clock(&self, interface: u32) -> Result<&Clock, Damage> {
        self.clocks.get(interface as usize).ok_or(Damage::UnknownInterface(interface))
    }
}

/// The byte order of the section whose header is ahead.
fn byte_order(header: &[u8]) -> Option<Endian> {
    [Endian::Little, Endian::Big]
        .into_iter()
        .find(|endian| endian.u32_at(header, BEFORE_BODY) == Some(BYTE_ORDER_MAGIC))
}

/// What a packet block says; places count from the start of its body.
struct Packet {
    /// Counted in its section.
    interface: u32,
    time: Option<UnixTime>,
    captured: Range<usize>,
    original_len: u32,
    options: Range<usize>,
    /// Packets that were dropped between the one before and this one.
    dropped: u64,
}

impl Packet {
    fn place(self, body_at: usize, section: &Section) -> RecordLocation {
        RecordLocation {
            interface: section.first_interface as u32 + self.interface,
            time: self.time,
            captured: body_at + self.captured.start..body_at + self.captured.end,
            original_len: self.original_len,
            options: body_at + self.options.start..body_at + self.options.end,
            endian: section.endian,
        }
    }
}

/// What lies between the lengths of a block.
#[derive(Clone, Copy)]
struct Body<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl<'a> Body<'a> {
    fn u16(self, at: usize) -> Result<u16, Damage> {
        self.endian.u16_at(self.bytes, at).ok_or(Damage::Overfull)
    }
    fn u32(self, at: usize) -> Result<u32, Damage> {
        self.endian.u32_at(self.bytes, at).ok_or(Damage::Overfull)
    }
    /// The time whose upper word stands at `at`.
    fn time(self, at: usize, clock: &Clock) -> Result<Option<UnixTime>, Damage> {
        let ticks = u64::from(self.u32(at)?) << 32 | u64::from(self.u32(at + 4)?);
        Ok(clock.time(ticks))
    }
    /// The number that is the value of an option.
    fn number(self, value: &[u8]) -> Option<u64> {
        Some(self.endian.u64(*value.first_chunk()?))
    }
    fn options(self, at: usize) -> Options<'a> {
        Options { bytes: self.bytes.get(at..).unwrap_or(&[]), endian: self.endian }
    }
    /// Where the `len` bytes of a packet lie that begin at `at`, and the options behind them.
    fn data(self, at: usize, len: u32) -> Result<(Range<usize>, Range<usize>), Damage> {
        let (len, end) = (len as usize, self.bytes.len());
        if at > end || len > end - at {
            return Err(Damage::Overfull);
        }
        Ok((at..at + len, (at + padded(len)).min(end)..end))
    }
    /// Whether the section whose header this is can be read.
    fn version(self) -> Result<(), Damage> {
        match self.u16(4)? {
            1 => Ok(()),
            other => Err(Damage::Version(other)),
        }
    }
}

/// The default resolution: 10⁻⁶ s.
const MICROSECONDS: u8 = 6;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

#[derive(Debug, Clone, Copy)]
struct Clock {
    tick: Tick,
    /// Seconds to be added.
    offset: i64,
}

/// The length of one unit of a time stamp.
#[derive(Debug, Clone, Copy)]
enum Tick {
    /// So many nanoseconds.
    Nanos(u128),
    /// One of so many parts of a nanosecond.
    PartOfNano(u128),
    /// 2⁻ⁿ seconds.
    Binary(u32),
}

impl Clock {
    /// `resolution` is the negative exponent of 10, or of 2 where its highest bit is set.
    fn new(resolution: u8, offset: i64) -> Clock {
        let tick = match u32::from(resolution) {
            binary @ 0x80.. => Tick::Binary(binary & 0x7f),
            coarse @ 0..=9 => Tick::Nanos(10_u128.pow(9 - coarse)),
            // Beyond 10⁻⁴⁷ s all that 64 bits can count is less than a nanosecond.
            fine => Tick::PartOfNano(10_u128.checked_pow(fine - 9).unwrap_or(u128::MAX)),
        };
        Clock { tick, offset }
    }

    /// How long a unit is, nanoseconds, rounded down.
    fn unit(&self) -> u64 {
        let nanos = match self.tick {
            Tick::Nanos(nanos) => nanos,
            Tick::PartOfNano(_) => 0,
            Tick::Binary(exponent) => NANOS_PER_SECOND >> exponent,
        };
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }

    fn time(&self, ticks: u64) -> Option<UnixTime> {
        let ticks = u128::from(ticks);
        let nanos = match self.tick {
            Tick::Nanos(nanos) => ticks * nanos,
            Tick::PartOfNano(parts) => ticks / parts,
            Tick::Binary(exponent) => (ticks * NANOS_PER_SECOND) >> exponent,
        };
        let offset = i128::from(self.offset) * NANOS_PER_SECOND as i128;
        u64::try_from(nanos as i128 + offset).ok().map(UnixTime::from_nanos)
    }
}
