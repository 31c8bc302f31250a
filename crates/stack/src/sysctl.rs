//! Linux's sysctls as settings of a [`Config`].

use tcplab_units::{Bytes, Span};

use crate::Config;
use crate::config::{BlackHole, Detection, Ecn};
use crate::range::MOST_MEMORY;

/// Why a sysctl cannot change a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SysctlError {
    /// No model has this sysctl; see [`SYSCTLS`].
    Unknown,
    /// An invalid value; holds the valid ones.
    Value(&'static str),
}

/// What each sysctl does with its value: the list of the names, and the function that does it.
macro_rules! sysctls {
    (|$config:ident, $value:ident| $($name:literal => $set:expr,)*) => {
        /// The names of the sysctls that models know.
        pub const SYSCTLS: &[&str] = &[$($name),*];

        /// Sets the sysctl `name`.
        ///
        /// # Errors
        /// When a model has no such setting, or not with that value.
        pub fn set_sysctl(
            $config: &mut Config,
            name: &str,
            $value: &str,
        ) -> Result<(), SysctlError> {
            match name {
                $($name => $set,)*
                _ => return Err(SysctlError::Unknown),
            }
            Ok(())
        }
    };
}

sysctls! { |config, value|
    "net.core.rmem_max" => config.receiving.most_asked = Bytes::new(number(value)?),
    "net.core.wmem_max" => config.sending.most_asked = Bytes::new(number(value)?),
    "net.ipv4.ip_no_pmtu_disc" => config.path_mtu.discovery = !flag(value)?,
    "net.ipv4.route.min_pmtu" => {
        let least = value.parse().ok().filter(|least| *least >= 68);
        config.path_mtu.least = least.ok_or(SysctlError::Value("a whole number from 68 to 65535"))?;
    },
    "net.ipv4.tcp_base_mss" => {
        let base = value.parse().ok().filter(|base| *base >= 48);
        config.path_mtu.base_mss = base.ok_or(SysctlError::Value("a whole number from 48 to 65535"))?;
    },
    "net.ipv4.tcp_congestion_control" => value.clone_into(&mut config.window.congestion),
    "net.ipv4.tcp_comp_sack_delay_ns" => config.acks.compressed.1 = Span::from_nanos(number(value)?),
    "net.ipv4.tcp_comp_sack_nr" => config.acks.compressed.0 = small(value)?,
    "net.ipv4.tcp_comp_sack_slack_ns" => config.acks.compressed_slack = Span::from_nanos(number(value)?),
    "net.ipv4.tcp_comp_sack_rtt_percent" => config.acks.compressed_percent = small(value)?,
    "net.ipv4.tcp_dsack" => config.handshake.dsack = flag(value)?,
    "net.ipv4.tcp_early_retrans" => config.recovery.tail_loss_probe = match value {
        "0" => false,
        "3" | "4" => true,
        _ => return Err(SysctlError::Value("0 (no tail loss probes), 3 or 4")),
    },
    "net.ipv4.tcp_ecn" => config.handshake.ecn = match value {
        "0" => Ecn::Off,
        "1" => Ecn::Asked,
        "2" => Ecn::Granted,
        "3" => Ecn::Accurate,
        "4" => Ecn::AccurateOrClassic,
        "5" => Ecn::AccurateGranted,
        _ => return Err(SysctlError::Value("a number from 0 to 5")),
    },
    "net.ipv4.tcp_ecn_fallback" => config.handshake.ecn_fallback = flag(value)?,
    "net.ipv4.tcp_ecn_option" => config.handshake.ecn_option = match value.parse() {
        Ok(option @ 0..=3) => option,
        _ => return Err(SysctlError::Value("a number from 0 to 3")),
    },
    "net.ipv4.tcp_ecn_option_beacon" => config.handshake.ecn_option_beacon = small(value)?,
    "net.ipv4.tcp_fin_timeout" => config.handshake.fin_wait_2 = Span::from_secs(small(value)?.into()),
    "net.ipv4.tcp_frto" => config.recovery.frto = number(value)? > 0,
    "net.ipv4.tcp_keepalive_intvl" => config.liveness.keep_interval = Span::from_secs(small(value)?.into()),
    "net.ipv4.tcp_keepalive_probes" => config.liveness.keep_probes = tiny(value)?,
    "net.ipv4.tcp_keepalive_time" => config.liveness.keep_idle = Span::from_secs(small(value)?.into()),
    "net.ipv4.tcp_max_reordering" => config.recovery.most_reordering = count(value)?,
    "net.ipv4.tcp_mtu_probing" => config.path_mtu.black_hole = match value {
        "0" => BlackHole::Ignored,
        "1" => BlackHole::Linux,
        _ => return Err(SysctlError::Value("0 (never) or 1 (once a black hole is suspected)")),
    },
    "net.ipv4.tcp_recovery" => config.recovery.detection = match value {
        "0" => Detection::Sack,
        "1" => Detection::Rack,
        _ => return Err(SysctlError::Value("0 (RFC 6675) or 1 (RACK)")),
    },
    "net.ipv4.tcp_reordering" => config.recovery.dupthresh = count(value)?,
    "net.ipv4.tcp_retries1" => config.path_mtu.patience = tiny(value)?,
    "net.ipv4.tcp_retries2" => config.timeout.retries = tiny(value)?,
    "net.ipv4.tcp_rmem" => config.receiving.buffer = first_and_most(value)?,
    "net.ipv4.tcp_rto_max_ms" => config.timeout.most = Span::from_millis(small(value)?.into()),
    "net.ipv4.tcp_rto_min_us" => config.timeout.asked_least = Some(Span::from_micros(small(value)?.into())),
    "net.ipv4.tcp_sack" => config.handshake.sack = flag(value)?,
    "net.ipv4.tcp_shrink_window" => config.receiving.shrinks = flag(value)?,
    "net.ipv4.tcp_slow_start_after_idle" => config.window.slow_start_after_idle = flag(value)?,
    "net.ipv4.tcp_syn_linear_timeouts" => config.handshake.syn_linear_timeouts = tiny(value)?,
    "net.ipv4.tcp_syn_retries" => config.handshake.syn_retries = tiny(value)?,
    "net.ipv4.tcp_syncookies" => config.handshake.syn_cookies = match value {
        "0" | "1" => false,
        "2" => true,
        _ => return Err(SysctlError::Value("0, 1 (in floods, which models do not have) or 2")),
    },
    "net.ipv4.tcp_synack_retries" => config.handshake.synack_retries = tiny(value)?,
    "net.ipv4.tcp_timestamps" => config.handshake.timestamps = number(value)? > 0,
    "net.ipv4.tcp_window_scaling" => config.handshake.window_scale = flag(value)?.then_some(0),
    "net.ipv4.tcp_wmem" => config.sending.buffer = first_and_most(value)?,
}

fn number(value: &str) -> Result<u64, SysctlError> {
    value.parse().map_err(|_| SysctlError::Value("a whole number, not negative"))
}

fn small(value: &str) -> Result<u32, SysctlError> {
    value.parse().map_err(|_| SysctlError::Value("a whole number below 2³²"))
}

/// The kernel keeps it as an `int`.
fn count(value: &str) -> Result<u32, SysctlError> {
    let count = value.parse().ok().filter(|count| (1..=i32::MAX as u32).contains(count));
    count.ok_or(SysctlError::Value("a whole number from 1 to 2147483647"))
}

fn tiny(value: &str) -> Result<u8, SysctlError> {
    value.parse().map_err(|_| SysctlError::Value("a whole number up to 255"))
}

fn flag(value: &str) -> Result<bool, SysctlError> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(SysctlError::Value("0 or 1")),
    }
}

/// Of least, first and most, bytes.
fn first_and_most(value: &str) -> Result<[Bytes; 2], SysctlError> {
    const EXPECTED: SysctlError =
        SysctlError::Value("three numbers of bytes: least, first and most, below 2147483648");
    let sizes: Result<Vec<u64>, _> = value.split_whitespace().map(str::parse).collect();
    match sizes.map_err(|_| EXPECTED)?[..] {
        [least, first, most] if least <= first && first <= most && most <= MOST_MEMORY.as_u64() => {
            Ok([first, most].map(Bytes::new))
        }
        _ => Err(EXPECTED),
    }
}
