//! A quantity and its unit.

/// Something that tcplab counts, measures or names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity {
    /// Its name in JSON, CSV, Parquet and Arrow, with the unit: `rtt_min_ns`.
    pub key: &'static str,
    /// Its name for people: `RTT min`.
    pub label: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// tcptrace's name for it, or the nearest; empty if there is none.
    pub tcptrace: &'static str,
    /// Wireshark's field for it, or the nearest; empty if there is none.
    pub wireshark: &'static str,
}

/// What a quantity is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: a count, a number, a ratio, a flag or a word.
    None,
    /// Nanoseconds.
    Nanoseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Bits per second.
    BitsPerSecond,
    /// Megabits per second.
    MbitPerSecond,
    /// Per cent.
    Percent,
}

impl Unit {
    /// All that have a name in keys; one that ends in another's name comes first.
    const IN_KEYS: [Unit; 8] = [
        Unit::Nanoseconds,
        Unit::Milliseconds,
        Unit::Seconds,
        Unit::BytesPerSecond,
        Unit::BitsPerSecond,
        Unit::MbitPerSecond,
        Unit::Bytes,
        Unit::Percent,
    ];

    /// The unit in which a key ends: that of `transfer_time_seconds` are seconds.
    pub fn of_key(key: &str) -> Unit {
        let ends =
            |unit: &Unit| key.strip_suffix(unit.in_keys()).is_some_and(|name| name.ends_with('_'));
        Unit::IN_KEYS.into_iter().find(ends).unwrap_or(Unit::None)
    }

    /// Its name in keys: `ns`; empty without a unit.
    pub const fn in_keys(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Nanoseconds => "ns",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
            Unit::BytesPerSecond => "bytes_per_second",
            Unit::BitsPerSecond => "bits_per_second",
            Unit::MbitPerSecond => "mbit_per_second",
            Unit::Percent => "percent",
        }
    }

    /// Its symbol: `bit/s`; empty without a unit.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Nanoseconds => "ns",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::BytesPerSecond => "B/s",
            Unit::BitsPerSecond => "bit/s",
            Unit::MbitPerSecond => "Mbit/s",
            Unit::Percent => "%",
        }
    }
}

impl Quantity {
    /// Its key without the unit at its end: `rtt_min`.
    pub fn name(&self) -> &'static str {
        let without = self.key.strip_suffix(self.unit.in_keys());
        without.map_or(self.key, |name| name.trim_end_matches('_'))
    }

    /// Its label with its unit, the head of a column: `transfer time, s`.
    pub fn heading(&self) -> String {
        match self.unit {
            Unit::None => self.label.into(),
            unit => format!("{}, {}", self.label, unit.symbol()),
        }
    }

    /// Its label below a heading that has its first or last words: `min` of `RTT min` below `RTT`.
    pub fn label_under(&self, heading: &str) -> &'static str {
        let without = self.label.strip_prefix(heading).or(self.label.strip_suffix(heading));
        without.map_or(self.label, str::trim)
    }
}

/// Constants of [`Quantity`], and a list of them.
macro_rules! quantities {
    ($(#[$about:meta])+ $list:ident; $(
        $name:ident = $key:literal, $unit:ident, $label:literal, $meaning:literal
        $(, tcptrace $tcptrace:literal)? $(, wireshark $wireshark:literal)?;
    )*) => {
        $(
            #[doc = $meaning]
            pub const $name: crate::Quantity = crate::Quantity {
                key: $key,
                label: $label,
                meaning: $meaning,
                unit: crate::Unit::$unit,
                tcptrace: concat!("", $($tcptrace)?),
                wireshark: concat!("", $($wireshark)?),
            };
        )*
        $(#[$about])+
        pub(crate) const $list: &[crate::Quantity] = &[$($name),*];
    };
}
pub(crate) use quantities;
