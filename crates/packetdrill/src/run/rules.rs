//! The options of a script.

use tcplab_units::Span;

use super::outcome::Stop;
use crate::ast::Flag;

/// How strictly a run is judged.
pub(super) struct Rules {
    /// `--tolerance_usecs`.
    tolerance: Span,
    /// `--tolerance_percent`, in thousandths of a percent.
    share: u64,
    /// `--tcp_ts_tick_usecs`; `None`: timestamps are not judged.
    pub(super) timestamp_tick: Option<Span>,
    /// `--tcp_ts_ecr_scaled`: timestamps may be echoed that were never sent.
    pub(super) echoes_scaled: bool,
    /// `--strict_segments`: segments are not joined.
    pub(super) strict_segments: bool,
    /// `--mss`: longer packets that are put in are segments of this size that a device joined.
    pub(super) joined: Option<u32>,
}

impl Default for Rules {
    /// packetdrill's own: 4 ms, or an eighth of the time since the event before.
    fn default() -> Rules {
        Rules {
            tolerance: Span::from_millis(4),
            share: 12_500,
            timestamp_tick: None,
            echoes_scaled: false,
            strict_segments: false,
            joined: None,
        }
    }
}

impl Rules {
    pub(super) fn of(flags: &[Flag]) -> Result<Rules, Stop> {
        let mut rules = Rules::default();
        for flag in flags {
            let value = flag.value.as_deref().unwrap_or_default();
            let wrong = |expected: &str| {
                let what = format!("--{}: expected {expected}, found `{value}`", flag.name);
                Stop::failed(flag.at, what)
            };
            let micros = || {
                let micros = value.parse::<u32>().map(|n| Span::from_micros(n.into()));
                micros.map_err(|_| wrong("microseconds"))
            };
            match flag.name.as_str() {
                "tolerance_usecs" => rules.tolerance = micros()?,
                "tolerance_percent" => {
                    rules.share = thousandths(value).ok_or_else(|| wrong("percent"))?;
                }
                "tcp_ts_tick_usecs" => {
                    let tick = micros()?;
                    rules.timestamp_tick = (!tick.is_zero()).then_some(tick);
                }
                "tcp_ts_ecr_scaled" => rules.echoes_scaled = true,
                "strict_segments" => rules.strict_segments = true,
                "mss" => {
                    let mss: u32 = value.parse().map_err(|_| wrong("bytes"))?;
                    rules.joined = (mss > 0).then_some(mss);
                }
                // Addresses are the stack's affair, payloads are zeros, definitions were read with
                // the script, and a device in virtual time takes no time to send.
                "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "send_omit_free"
                | "ip_version" | "mtu" | "define" | "debug" | "verbose" | "speed" => {}
                name => return Err(Stop::unsupported(flag.at, format!("option --{name}"))),
            }
        }
        Ok(rules)
    }

    /// How far from its time an event may be that is due `after` the one before.
    pub(super) fn tolerance(&self, after: Span) -> Span {
        let share = u128::from(after.as_nanos()) * u128::from(self.share) / 100_000;
        self.tolerance.max(Span::from_nanos(u64::try_from(share).unwrap_or(u64::MAX)))
    }
}

/// `12.5` as 12500.
fn thousandths(percent: &str) -> Option<u64> {
    let (whole, places) = percent.split_once('.').unwrap_or((percent, ""));
    let places: String = places.chars().chain("000".chars()).take(3).collect();
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(places.parse().ok()?)
}
