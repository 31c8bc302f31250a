//! Units as people write them: which words mean which unit, and which could mean two.
//!
//! Beside each reader stands its regular expression for JSON Schema; a property checks that both
//! accept the same texts.

/// What the text behind a number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// So many smallest steps.
    Steps(u64),
    /// It could mean either of two units, which are written so.
    Unclear([&'static str; 2]),
    /// It is bits or meant for bytes: the unit in bytes and in bits.
    Bits([&'static str; 2]),
    /// It belongs to another quantity or to none.
    Unknown,
}

/// Reads the unit of a data rate. `b` and `bit` are bits, `B` and `byte` are bytes, and a prefix
/// may have either case: `10M` and `10mbps` are 10 Mbit/s (tc reads `mbps` as bytes), `10MBps` is
/// 80 Mbit/s.
pub(crate) fn of_rate(text: &str) -> Unit {
    let Prefix { written, steps, base } = Prefix::of(text);
    let (word, is_per_second) =
        match ["/second", "/sec", "/s"].iter().find_map(|end| base.strip_suffix(end)) {
            Some(word) => (word, true),
            None => (base, false),
        };
    match (word, is_per_second) {
        ("", false) if !written.is_empty() => Unit::Steps(steps),
        ("b" | "bit" | "bits" | "Bit" | "Bits", _) | ("bps", false) => Unit::Steps(steps),
        ("B" | "byte" | "bytes" | "Byte" | "Bytes", true) | ("Bps", false) => {
            Unit::Steps(8 * steps)
        }
        ("B" | "byte" | "bytes" | "Byte" | "Bytes" | "BPS", false) => {
            either(written, BYTES_PER_SECOND, BITS_PER_SECOND).map_or(Unit::Unknown, Unit::Unclear)
        }
        _ => Unit::Unknown,
    }
}

pub(crate) const RATE: &str = "([kKmMgGtT]i?|([kKmMgGtT]i?)?\
     (bps|Bps|(b|[bB]its?)(/s(ec(ond)?)?)?|(B|[bB]ytes?)/s(ec(ond)?)?))";

/// Reads the unit of an amount of data. `10M` and `10MB` are decimal, `10Mi` and `10MiB` binary; a
/// small `b` could be bits.
pub(crate) fn of_amount(text: &str) -> Unit {
    let Prefix { written, steps, base } = Prefix::of(text);
    match base {
        "" if !written.is_empty() => Unit::Steps(steps),
        "B" | "byte" | "bytes" | "Byte" | "Bytes" => Unit::Steps(steps),
        "b" | "bit" | "bits" | "Bit" | "Bits" => {
            either(written, BYTES, BITS).map_or(Unit::Unknown, Unit::Bits)
        }
        _ => Unit::Unknown,
    }
}

pub(crate) const AMOUNT: &str = "([kKmMgGtT]i?|([kKmMgGtT]i?)?(B|[bB]ytes?))";

/// Reads the unit of a time span; `m` could be minutes or milliseconds.
pub(crate) fn of_span(text: &str) -> Unit {
    match text {
        "ns" | "nsec" | "nsecs" => Unit::Steps(1),
        // The micro sign, the Greek letter, and what keyboards have.
        "\u{b5}s" | "\u{3bc}s" | "us" | "usec" | "usecs" => Unit::Steps(1_000),
        "ms" | "msec" | "msecs" => Unit::Steps(1_000_000),
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Steps(1_000_000_000),
        "min" | "mins" | "minute" | "minutes" => Unit::Steps(60_000_000_000),
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Steps(3_600_000_000_000),
        "m" | "M" => Unit::Unclear(["min", "ms"]),
        _ => Unit::Unknown,
    }
}

pub(crate) const SPAN: &str =
    "((n|u|m)(s|secs?)|(\u{b5}|\u{3bc})s|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?)";

/// Reads the unit of a probability; steps are 10⁻¹², one packet in a trillion.
pub(crate) fn of_probability(text: &str) -> Unit {
    match text {
        "%" | "percent" => Unit::Steps(10_000_000_000),
        _ => Unit::Unknown,
    }
}

pub(crate) const PROBABILITY: &str = "(%|percent)";

const BYTES: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
const BYTES_PER_SECOND: [&str; 5] = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"];
const BITS: [&str; 5] = ["bit", "kbit", "Mbit", "Gbit", "Tbit"];
const BITS_PER_SECOND: [&str; 5] = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
const PREFIXES: [&str; 5] = ["", "k", "M", "G", "T"];

/// The prefix of a unit.
struct Prefix<'t> {
    /// As it is in the text.
    written: &'t str,
    steps: u64,
    /// The rest of the text.
    base: &'t str,
}

impl Prefix<'_> {
    fn of(text: &str) -> Prefix<'_> {
        let letter = text.chars().next().filter(|c| "kKmMgGtT".contains(*c));
        let length = usize::from(letter.is_some());
        let is_binary = letter.is_some() && text[length..].starts_with('i');
        let (written, base) = text.split_at(length + usize::from(is_binary));
        let step: u64 = if is_binary { 1024 } else { 1000 };
        Prefix { written, steps: step.pow(order(written) as u32), base }
    }
}

/// Which power of 1000 or 1024 a prefix is.
fn order(prefix: &str) -> usize {
    let letter = &prefix[..prefix.len().min(1)];
    PREFIXES.iter().position(|known| known.eq_ignore_ascii_case(letter)).unwrap_or_default()
}

/// This prefix with a unit in bytes and one in bits; none for binary prefixes, which bits lack.
fn either(
    prefix: &str,
    bytes: [&'static str; 5],
    bits: [&'static str; 5],
) -> Option<[&'static str; 2]> {
    (prefix.len() < 2).then(|| [bytes[order(prefix)], bits[order(prefix)]])
}
