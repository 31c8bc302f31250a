//! What the standard says: rates, the time a frame takes, the times between frames.
//!
//! Source: IEEE Std 802.11-2016, clauses 16 (HR/DSSS, once 802.11b), 17 (OFDM), 18 (ERP, once
//! 802.11g), 19 (HT, once 802.11n) and 21 (VHT, once 802.11ac).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_units::{Rate, Span};

/// An amendment of IEEE 802.11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WifiStandard {
    /// 802.11b: HR/DSSS at 2.4 GHz, with the long preamble.
    B,
    /// 802.11g: ERP-OFDM at 2.4 GHz, with short slots, no station of 802.11b being near.
    G,
    /// 802.11n: HT at 2.4 GHz, mixed format, best effort (AC_BE).
    N,
    /// 802.11ac: VHT at 5 GHz, best effort (AC_BE).
    Ac,
}

impl fmt::Display for WifiStandard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WifiStandard::B => "b",
            WifiStandard::G => "g",
            WifiStandard::N => "n",
            WifiStandard::Ac => "ac",
        })
    }
}

impl WifiStandard {
    /// Whether packets share frames.
    pub(super) fn aggregates(self) -> bool {
        matches!(self, WifiStandard::N | WifiStandard::Ac)
    }
    /// Whether a packet alone is an aggregate, too (VHT: 10.13.7).
    pub(super) fn always_delimits(self) -> bool {
        self == WifiStandard::Ac
    }
    /// What an IP packet has around it in a frame, in bytes: the header of three addresses (24),
    /// since 802.11n the QoS field (2), LLC and SNAP (8, RFC 1042), the check sequence (4).
    pub(super) fn framing(self) -> u64 {
        if self.aggregates() { 38 } else { 36 }
    }
    /// The largest aggregate in bytes (aPSDUMaxLength of clause 19; the largest that can be
    /// announced in the VHT capabilities, 9.4.2.158.2).
    pub(super) fn largest_aggregate(self) -> u64 {
        if self == WifiStandard::Ac { 1_048_575 } else { 65_535 }
    }
    /// The standard whose rates acknowledgements are sent at.
    pub(super) fn of_control(self) -> WifiStandard {
        if self == WifiStandard::B { WifiStandard::B } else { WifiStandard::G }
    }
    /// The highest basic rate that is not above `rate` (10.7.6.5.2), if basic rates are those that
    /// access points announce: 1 and 2 Mbit/s for b, else the mandatory ones of OFDM.
    pub(super) fn basic_rate(self, rate: Rate) -> Rate {
        let basic: [u64; 3] = match self {
            WifiStandard::B => [1_000_000, 1_000_000, 2_000_000],
            _ => [6_000_000, 12_000_000, 24_000_000],
        };
        let highest = basic.into_iter().rfind(|basic| *basic <= rate.bits_per_second());
        Rate::from_bits_per_second(highest.unwrap_or(basic[0]))
    }
}

/// The longest frame: as long as the legacy header can announce (aPPDUMaxTime of clause 21).
pub(super) const LONGEST_FRAME: Span = Span::from_micros(5_484);

/// The times around frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    pub(super) slot: Span,
    /// Before an acknowledgement.
    pub(super) sifs: Span,
    /// Before the backoff: DIFS, or AIFS of best effort, which is SIFS and three slots (AIFSN of
    /// the default EDCA parameters, 9.4.2.29).
    pub(super) wait: Span,
    pub(super) cw_min: u32,
    pub(super) cw_max: u32,
}

impl Timing {
    pub(super) fn of(standard: WifiStandard) -> Timing {
        // Slot, SIFS, slots after the SIFS until backoff begins (10.3.2.3), CWmin.
        let (slot, sifs, slots, cw_min) = match standard {
            WifiStandard::B => (20, 10, 2, 31),
            WifiStandard::G => (9, 10, 2, 15),
            WifiStandard::N => (9, 10, 3, 15),
            WifiStandard::Ac => (9, 16, 3, 15),
        };
        let (slot, sifs) = (Span::from_micros(slot), Span::from_micros(sifs));
        Timing { slot, sifs, wait: sifs + slot * slots, cw_min, cw_max: 1023 }
    }
}

/// How long bytes take on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Air {
    /// The preamble and header at 1 Mbit/s, then a stream of bits.
    Dsss { rate: u64 },
    /// Symbols.
    Ofdm(Ofdm),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ofdm {
    /// Everything in front of the data.
    preamble: Span,
    symbol: Span,
    /// N_DBPS.
    bits_per_symbol: u64,
    /// Six for each encoder.
    tail_bits: u64,
    /// Silence behind the data: the signal extension at 2.4 GHz.
    extension: Span,
}

/// The long preamble (144 bits) and the PLCP header (48 bits) at 1 Mbit/s (16.2.2.2).
const DSSS_PREAMBLE: Span = Span::from_micros(192);

/// The SERVICE field (17.3.5.2).
const SERVICE_BITS: u64 = 16;

/// aSignalExtension of clauses 18 and 19, at 2.4 GHz.
const SIGNAL_EXTENSION: Span = Span::from_micros(6);

/// Rates of clause 16 in bits per second.
const DSSS_RATES: [u64; 4] = [1_000_000, 2_000_000, 5_500_000, 11_000_000];

/// Rates of clauses 17 and 18 in bits per second; each symbol of 4 µs has its share.
const OFDM_RATES: [u64; 8] =
    [6_000_000, 9_000_000, 12_000_000, 18_000_000, 24_000_000, 36_000_000, 48_000_000, 54_000_000];

/// Bits per subcarrier and the code rate of each modulation and coding scheme (19.5, 21.5).
const SCHEMES: [(u64, (u64, u64)); 10] = [
    (1, (1, 2)),
    (2, (1, 2)),
    (2, (3, 4)),
    (4, (1, 2)),
    (4, (3, 4)),
    (6, (2, 3)),
    (6, (3, 4)),
    (6, (5, 6)),
    (8, (3, 4)),
    (8, (5, 6)),
];

impl Air {
    /// How frames with data are sent; none if the standard has no such rate.
    pub(super) fn new(standard: WifiStandard, rate: Rate) -> Option<Air> {
        let bits = rate.bits_per_second();
        match standard {
            WifiStandard::B => DSSS_RATES.contains(&bits).then_some(Air::Dsss { rate: bits }),
            WifiStandard::G => Air::legacy(rate, SIGNAL_EXTENSION),
            WifiStandard::N | WifiStandard::Ac => rates_of_streams(standard)
                .find(|(nominal, _)| *nominal == rate)
                .map(|(_, ofdm)| Air::Ofdm(ofdm)),
        }
    }

    /// How acknowledgements are sent.
    pub(super) fn of_control(standard: WifiStandard, rate: Rate) -> Option<Air> {
        match standard {
            WifiStandard::B => Air::new(standard, rate),
            WifiStandard::G | WifiStandard::N => Air::legacy(rate, SIGNAL_EXTENSION),
            WifiStandard::Ac => Air::legacy(rate, Span::ZERO),
        }
    }

    fn legacy(rate: Rate, extension: Span) -> Option<Air> {
        let bits = rate.bits_per_second();
        OFDM_RATES.contains(&bits).then_some(Air::Ofdm(Ofdm {
            // Training (16 µs) and SIGNAL (4 µs, 17.3.2).
            preamble: Span::from_micros(20),
            symbol: Span::from_micros(4),
            bits_per_symbol: bits / 250_000,
            tail_bits: 6,
            extension,
        }))
    }

    /// How long a frame of so many bytes takes, from its first to its last moment on the air
    /// (TXTIME: 16.3.4, 17.4.3, 18.5.3, 19.4.3, 21.4.3).
    pub(super) fn time(&self, bytes: u64) -> Span {
        match self {
            // The header counts whole microseconds.
            Air::Dsss { rate } => {
                DSSS_PREAMBLE + Span::from_micros((bytes * 8 * 1_000_000).div_ceil(*rate))
            }
            Air::Ofdm(ofdm) => {
                let bits = SERVICE_BITS + bytes * 8 + ofdm.tail_bits;
                ofdm.preamble + ofdm.symbol * bits.div_ceil(ofdm.bits_per_symbol) + ofdm.extension
            }
        }
    }
}

/// The rates of 802.11n or 802.11ac as the standard's tables print them, in steps of 100 kbit/s.
/// Where several schemes give the same rate, the first holds: that with few streams, in a narrow
/// channel, and with the long guard interval, 160 MHz last.
fn rates_of_streams(standard: WifiStandard) -> impl Iterator<Item = (Rate, Ofdm)> {
    // Data subcarriers of 20, 40 and 80, and of 160 MHz (tables of 19.3.6 and 21.3.6).
    let (channels, streams, schemes, bits_per_encoder): (&[&[u64]], _, _, u64) = match standard {
        WifiStandard::Ac => (&[&[52, 108, 234], &[468]], 1..=8, &SCHEMES[..], 2160),
        _ => (&[&[52, 108]], 1..=4, &SCHEMES[..8], 1080),
    };
    let extension = if standard == WifiStandard::N { SIGNAL_EXTENSION } else { Span::ZERO };
    let kinds = channels.iter().flat_map(move |carriers| {
        streams.clone().flat_map(move |streams| {
            // A symbol of 3.2 µs with a guard of 0.8 or 0.4 µs.
            let symbols = [4_000_u64, 3_600];
            carriers.iter().flat_map(move |it| symbols.map(|symbol| (streams, it, symbol)))
        })
    });
    kinds.flat_map(move |(streams, carriers, symbol)| {
        schemes.iter().filter_map(move |(bits, (part, whole))| {
            let coded = carriers * bits * streams * part;
            let bits_per_symbol = coded / whole;
            let tenths = (bits_per_symbol * 20_000 / symbol).div_ceil(2);
            let ofdm = Ofdm {
                preamble: preamble_of_streams(standard, streams),
                symbol: Span::from_nanos(symbol),
                bits_per_symbol,
                // An encoder for each 300 (HT) or 600 Mbit/s (VHT) at the short guard.
                tail_bits: 6 * bits_per_symbol.div_ceil(bits_per_encoder),
                extension,
            };
            // The standard leaves out what is no whole number of bits.
            let is_whole = coded % whole == 0;
            is_whole.then_some((Rate::from_bits_per_second(tenths * 100_000), ofdm))
        })
    })
}

/// Legacy training and SIGNAL (20 µs), then those of HT (mixed format, 19.3.2: SIGNAL 8, short
/// training 4) or VHT (21.3.2: SIG-A 8, short training 4, SIG-B 4), and a long training of 4 µs for
/// each stream, where 3, 5 and 7 streams take those of one more.
fn preamble_of_streams(standard: WifiStandard, streams: u64) -> Span {
    let long_training = if streams > 2 { streams.next_multiple_of(2) } else { streams };
    let others = if standard == WifiStandard::Ac { 36 } else { 32 };
    Span::from_micros(others + 4 * long_training)
}

/// Why a rate cannot be, with those near it that can.
pub(super) fn no_such_rate(standard: WifiStandard, rate: Rate) -> String {
    let mut rates: Vec<u64> = match standard {
        WifiStandard::B => DSSS_RATES.to_vec(),
        WifiStandard::G => OFDM_RATES.to_vec(),
        _ => rates_of_streams(standard).map(|(rate, _)| rate.bits_per_second()).collect(),
    };
    rates.sort_by_key(|it| (it.abs_diff(rate.bits_per_second()), *it));
    rates.dedup();
    rates.truncate(4);
    rates.sort_unstable();
    let near: Vec<_> =
        rates.into_iter().map(|it| Rate::from_bits_per_second(it).to_string()).collect();
    format!("{rate} is no rate of 802.11{standard}; near it are {}", near.join(", "))
}
