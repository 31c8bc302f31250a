//! Socket options of a model: what they mean to it, and what it has of them.

use tcplab_recording::OptionRecord;
use tcplab_scenario::EndpointSpec;
use tcplab_stack::config::Nagle;
use tcplab_stack::{Config, Connection, SocketOption, SocketOptions as OfStack};
use tcplab_units::{Bytes, Span};
use tcplab_workload::{
    IfRefused, OptionInfo, OptionValue, Outcome, SocketOptions, SocketRole, outcome, table,
};

use crate::error::SettingsError;
use crate::settings::settings;

/// The least that SO_RCVBUF (`SOCK_MIN_RCVBUF`) and SO_SNDBUF (`SOCK_MIN_SNDBUF`) become, bytes.
const LEAST_BUFFERS: [u64; 2] = [2_304, 4_608];
/// `net.core.somaxconn` by default.
const SOMAXCONN: u64 = 4_096;

/// The settings of the model that simulates an endpoint, with its socket options.
///
/// # Errors
/// When the model has no such settings or options.
pub(crate) fn config(endpoint: &EndpointSpec) -> Result<Config, SettingsError> {
    let mut config = settings(endpoint)?;
    apply(&mut config, &endpoint.socket, SocketRole::Client)?;
    Ok(config)
}

/// Sets on a model what is `asked` for before its socket connects or listens.
///
/// # Errors
/// The first option that the model does not have, unless the scenario says to go on.
fn apply(
    config: &mut Config,
    asked: &SocketOptions,
    role: SocketRole,
) -> Result<(), SettingsError> {
    for (key, info, value) in asked.iter() {
        match meaning(config, key, value, role) {
            Ok(Some(option)) => set(config, option, key.ends_with("force")),
            Err(reason) if asked.if_refused == IfRefused::Fail => {
                return Err(refused(info, value, reason));
            }
            Ok(None) | Err(_) => {}
        }
        if let ("congestion", OptionValue::Name(name)) = (key, value) {
            config.window.congestion.clone_from(name);
        }
    }
    Ok(())
}

/// What is set on a connection as soon as it is accepted.
///
/// # Errors
/// The first option that the model does not have, unless the scenario says to go on.
pub(crate) fn of_accepted(
    config: &Config,
    asked: &SocketOptions,
) -> Result<Vec<SocketOption>, SettingsError> {
    let mut options = Vec::new();
    for (key, info, value) in asked.iter() {
        match meaning(config, key, value, SocketRole::Accepted) {
            Ok(option) => options.extend(option),
            Err(reason) if asked.if_refused == IfRefused::Fail => {
                return Err(refused(info, value, reason));
            }
            Err(_) => {}
        }
    }
    Ok(options)
}

/// SO_RCVTIMEO and SO_SNDTIMEO of a connected socket: how long its calls wait; none: for ever. An
/// accepted socket has those of the listening one, where it has none of its own.
pub(crate) fn timeouts(spec: &EndpointSpec) -> [Option<Span>; 2] {
    ["rcvtimeo", "sndtimeo"].map(|key| {
        match spec.accepted.value(key).or_else(|| spec.socket.value(key)) {
            Some(OptionValue::Span(span)) => Some(*span).filter(|span| !span.is_zero()),
            _ => None,
        }
    })
}

/// How many connections may wait to be accepted, and one more (`listen`); none: any number.
pub(crate) fn backlog(spec: &EndpointSpec) -> Option<u32> {
    spec.socket.backlog().map(|backlog| backlog.min(SOMAXCONN as u32))
}

fn refused(info: &OptionInfo, value: &OptionValue, reason: String) -> SettingsError {
    SettingsError::Option { option: info.name, value: value.to_string(), reason }
}

/// What an option means to a model; none where all that it decides is decided otherwise there. Or
/// why the model does not have it.
fn meaning(
    config: &Config,
    key: &str,
    value: &OptionValue,
    role: SocketRole,
) -> Result<Option<SocketOption>, String> {
    use OptionValue::{Flag, Name, Number, Rate, Size, Span as Time};
    use SocketOption as Set;
    let is_accepted = role == SocketRole::Accepted;
    let number = |n: &i64| u8::try_from(*n).unwrap_or(u8::MAX);
    Ok(Some(match (key, value) {
        ("sndbufforce", Size(size)) if is_accepted && *size > config.sending.most_asked => {
            return Err(NO_FORCE.into());
        }
        ("rcvbufforce", Size(size)) if is_accepted && *size > config.receiving.most_asked => {
            return Err(NO_FORCE.into());
        }
        ("sndbuf" | "sndbufforce", Size(size)) => Set::SendBuffer(*size),
        ("rcvbuf" | "rcvbufforce", Size(size)) => Set::ReceiveBuffer(*size),
        ("keepalive", Flag(on)) => Set::KeepAlive(*on),
        ("oobinline", Flag(on)) => Set::UrgentInline(*on),
        ("linger", Time(span)) => Set::Linger(Some(*span)),
        ("linger", _) => Set::Linger(None),
        ("rcvlowat", Size(size)) => Set::ReceiveLow(*size),
        ("max_pacing_rate", Rate(rate)) => Set::MostPace(Some(*rate)),
        ("nodelay", Flag(on)) => Set::NoDelay(*on),
        ("maxseg", Number(size)) if !is_accepted => {
            Set::MaxSegment(u16::try_from(*size).unwrap_or(u16::MAX))
        }
        ("cork", Flag(on)) => Set::Cork(*on),
        ("keepidle", Time(span)) => Set::KeepIdle(*span),
        ("keepintvl", Time(span)) => Set::KeepInterval(*span),
        ("keepcnt", Number(count)) => Set::KeepProbes(number(count)),
        ("syncnt", Number(count)) => Set::SynRetries(number(count)),
        ("linger2", Time(span)) => Set::FinWait2(*span),
        ("defer_accept", Time(span)) => Set::DeferAccept(*span),
        ("window_clamp", Size(size)) if is_accepted && *size == Bytes::ZERO => {
            return Err("the window of a connection stays clamped".into());
        }
        ("window_clamp", Size(size)) => Set::WindowClamp(*size),
        ("quickack", Flag(on)) if is_accepted => Set::QuickAck(*on),
        ("quickack", Flag(false)) => {
            return Err(
                "a model has it on accepted connections only: set it in `server.accepted`".into()
            );
        }
        ("congestion", Name(name)) if is_accepted && *name != config.window.congestion => {
            return Err("a connection keeps the congestion control that it was opened with".into());
        }
        ("user_timeout", Time(span)) => Set::UserTimeout(*span),
        ("notsent_lowat", Size(size)) => Set::UnsentLow(*size),
        ("fastopen" | "fastopen_connect", _) => {
            return Err("no earlier connection has brought a cookie".into());
        }
        ("ip_tos", _) => return Err("a model's packets have no class of service".into()),
        _ if means_nothing(key, role) => return Ok(None),
        _ => return Err("the model does not have it".into()),
    }))
}

/// Options without effect on a model: no other socket uses the port; the segment size of an
/// accepted socket is settled; acknowledgements are quick at first anyway; the congestion control
/// is the world's affair, and the accept queue (`backlog`) and how long calls wait (`timeouts`) are
/// the host's.
fn means_nothing(key: &str, role: SocketRole) -> bool {
    let elsewhere = matches!(key, "backlog" | "congestion" | "rcvtimeo" | "sndtimeo");
    elsewhere
        || matches!(key, "reuseaddr" | "reuseport" | "quickack")
        || key == "maxseg" && role == SocketRole::Accepted
}

const NO_FORCE: &str = "a model takes as much before its connection is opened only";

/// Linux doubles buffers, for they hold its bookkeeping as well, and no longer tunes them
/// (`__sock_set_rcvbuf`, `sock_setsockopt`).
fn set(config: &mut Config, option: SocketOption, forced: bool) {
    let doubles = config.sending.charges_memory;
    let effective = |asked: Bytes, most: Bytes, least: u64| {
        let asked = if forced { asked } else { asked.min(most) };
        if doubles { Bytes::new((asked.as_u64() * 2).max(least)) } else { asked }
    };
    match option {
        SocketOption::ReceiveBuffer(size) => {
            let size = effective(size, config.receiving.most_asked, LEAST_BUFFERS[0]);
            config.receiving.buffer[0] = size;
            if doubles {
                config.receiving.locked = true;
            } else {
                config.receiving.buffer[1] = size;
            }
        }
        SocketOption::SendBuffer(size) => {
            let size = effective(size, config.sending.most_asked, LEAST_BUFFERS[1]);
            config.sending.buffer = [size; 2];
        }
        SocketOption::NoDelay(true) => config.sending.nagle = Nagle::Off,
        SocketOption::MaxSegment(size) => config.handshake.mss = size,
        option => config.socket.push(option),
    }
}

/// The options of a connection at its end, beside what was asked for: of the client, or of the
/// server's accepted one.
pub(crate) fn of_connection(
    connection: &Connection,
    config: &Config,
    spec: &EndpointSpec,
    role: SocketRole,
) -> Vec<OptionRecord> {
    let asked = if role == SocketRole::Accepted { &spec.accepted } else { &spec.socket };
    let Ok(before) = settings(spec) else { return Vec::new() };
    let record = |(key, info): (&'static str, &'static OptionInfo)| {
        let has = of_stack(connection.options(), config, key);
        let effective = match key {
            "sndbuf" | "sndbufforce" => Some(OptionValue::Size(connection.send_buffer())),
            "rcvbuf" | "rcvbufforce" => Some(OptionValue::Size(connection.receive_buffer())),
            "maxseg" => Some(OptionValue::Number(connection.mss().into())),
            "rcvlowat" => Some(OptionValue::Size(connection.receive_low())),
            "window_clamp" => Some(OptionValue::Size(connection.window_clamp())),
            _ => has.clone(),
        };
        let first = of_stack(&OfStack::of(&before), &before, key);
        let is_accepted = role == SocketRole::Accepted;
        let values = match key {
            // The handshake has settled it.
            "maxseg" if is_accepted => [effective.clone(), effective.clone(), effective],
            // The configuration's are those of the listening socket.
            "sndbuf" | "sndbufforce" | "rcvbuf" | "rcvbufforce"
                if is_accepted && asked.value(key).is_some() =>
            {
                [first, effective.clone(), effective]
            }
            _ => [first, has, effective],
        };
        let mut record = record(config, asked, (key, info), values, role)?;
        if is_accepted && record.requested.is_none() {
            hand_down(&mut record, key, config, spec);
        }
        Some(record)
    };
    table::keyed().filter(|(_, info)| info.fits(role)).filter_map(record).collect()
}

/// What an accepted socket has of an option that its listening socket was asked for.
fn hand_down(record: &mut OptionRecord, key: &str, config: &Config, spec: &EndpointSpec) {
    let Some(above) = spec.socket.value(key) else { return };
    if meaning(config, key, above, SocketRole::Listener).is_err() {
        return;
    }
    record.requested = Some(above.to_string());
    record.outcome = Outcome::Inherited;
    if key == "defer_accept" {
        // `inet_csk_clone_lock` clears it.
        let nothing = OptionValue::Span(Span::ZERO).to_string();
        record.set = Some(nothing.clone());
        record.effective = nothing;
        record.outcome = Outcome::Ignored;
        record.because = Some("a listening socket does not hand it down".into());
    }
}

/// The options of the socket that the server listens on.
pub(crate) fn of_listener(config: &Config, spec: &EndpointSpec) -> Vec<OptionRecord> {
    let Ok(before) = settings(spec) else { return Vec::new() };
    let options = OfStack::of(config);
    let record = |(key, info): (&'static str, &'static OptionInfo)| {
        let has = match spec.socket.value(key) {
            Some(OptionValue::Number(backlog)) if key == "backlog" => {
                Some(OptionValue::Number((*backlog).min(SOMAXCONN.cast_signed())))
            }
            _ => of_stack(&options, config, key),
        };
        let first = of_stack(&OfStack::of(&before), &before, key);
        let values = [first, has.clone(), has];
        record(config, &spec.socket, (key, info), values, SocketRole::Listener)
    };
    table::keyed().filter(|(_, info)| info.fits(SocketRole::Listener)).filter_map(record).collect()
}

/// One of them, with its values before it was set, when it was, and at the end. None where it was
/// not asked for and the model does not have it, or reads it as another.
fn record(
    config: &Config,
    asked: &SocketOptions,
    (key, info): (&'static str, &'static OptionInfo),
    [first, set, effective]: [Option<OptionValue>; 3],
    role: SocketRole,
) -> Option<OptionRecord> {
    let requested = asked.value(key);
    if requested.is_none() && (effective.is_none() || info.read_as.is_some()) {
        return None;
    }
    let text = |value: &Option<OptionValue>| value.as_ref().map(ToString::to_string);
    let (outcome, because) = match requested.map(|value| (value, meaning(config, key, value, role)))
    {
        None => (Outcome::Default, None),
        Some((_, Err(reason))) => (Outcome::Refused, Some(reason)),
        // It has no effect that can be observed.
        Some((_, Ok(_))) if set.is_none() => (Outcome::AsAsked, None),
        Some((value, Ok(_))) => {
            let set = set.as_ref().unwrap_or(value);
            outcome(info, value, first.as_ref(), set, |name| sysctl(config, name))
        }
    };
    let because = because.or_else(|| {
        let changed = requested.is_some() && set != effective;
        info.later.filter(|_| changed).map(Into::into)
    });
    Some(OptionRecord {
        name: key.into(),
        option: info.name.into(),
        requested: requested.map(ToString::to_string),
        before: text(&first),
        set: text(&set),
        connected: None,
        effective: text(&effective)
            .or_else(|| requested.map(ToString::to_string).filter(|_| outcome != Outcome::Refused))
            .unwrap_or_else(|| "unknown".into()),
        outcome,
        because,
    })
}

/// An option as a model's socket has it before it is connected; none of those that mean nothing to
/// a model.
fn of_stack(options: &OfStack, config: &Config, key: &str) -> Option<OptionValue> {
    let size = |bytes: Bytes| OptionValue::Size(bytes);
    let span = |span: Span| OptionValue::Span(span);
    Some(match key {
        "sndbuf" | "sndbufforce" => size(config.sending.buffer[0]),
        "rcvbuf" | "rcvbufforce" => size(config.receiving.buffer[0]),
        "keepalive" => OptionValue::Flag(options.keep_alive),
        "oobinline" => OptionValue::Flag(options.urgent_inline),
        "linger" => options.linger.map_or(OptionValue::Flag(false), span),
        "rcvlowat" => size(options.receive_low),
        "max_pacing_rate" => {
            options.most_pace.map_or(OptionValue::Name("unlimited".into()), OptionValue::Rate)
        }
        "nodelay" => OptionValue::Flag(options.no_delay),
        "maxseg" => OptionValue::Number(match config.handshake.mss {
            // As a socket without peer says it (`TCP_MSS_DEFAULT`).
            0 => 536,
            mss => mss.into(),
        }),
        "cork" => OptionValue::Flag(options.cork),
        "keepidle" => span(options.keep_idle),
        "keepintvl" => span(options.keep_interval),
        "keepcnt" => OptionValue::Number(options.keep_probes.into()),
        "syncnt" => {
            OptionValue::Number(options.syn_retries.unwrap_or(config.handshake.syn_retries).into())
        }
        "linger2" => span(options.fin_wait_2.unwrap_or(config.handshake.fin_wait_2)),
        "defer_accept" => span(options.defer_accept_span()),
        "window_clamp" => size(options.window_clamp.unwrap_or_default()),
        "congestion" => OptionValue::Name(config.window.congestion.clone()),
        "user_timeout" => span(options.user_timeout),
        "notsent_lowat" => size(options.unsent_low.unwrap_or_default()),
        _ => return None,
    })
}

/// The model's settings that limit requested values.
fn sysctl(config: &Config, name: &str) -> Option<String> {
    let bytes = |bytes: Bytes| bytes.as_u64().to_string();
    Some(match name {
        "net.core.rmem_max" => bytes(config.receiving.most_asked),
        "net.core.wmem_max" => bytes(config.sending.most_asked),
        "net.core.somaxconn" => SOMAXCONN.to_string(),
        "net.ipv4.tcp_rmem" => bytes(config.receiving.buffer[1]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
