//! Attributes of the route to the other end: set, and read back for the record.

use std::net::Ipv4Addr;

use netlink_packet_route::route::RouteMetric;
use tcplab_recording::OptionRecord;
use tcplab_scenario::{RouteSpec, RouteValue};
use tcplab_units::{Bytes, Endpoint, Span};
use tcplab_workload::Outcome;

use crate::netlink::{Netlink, Route, Way};
use crate::{TrialError, device, sysctl};

/// `RTAX_RTO_MIN` (include/uapi/linux/rtnetlink.h).
const RTAX_RTO_MIN: u32 = 13;
/// `RTAX_FEATURE_ECN`.
const FEATURE_ECN: u32 = 1;
/// The prefix of an endpoint's network.
const PREFIX_LEN: u8 = 24;

/// Gives the route of `source` to its own network, over the device `name` of the calling thread's
/// namespace, the attributes of `spec`.
pub(crate) fn apply(
    end: Endpoint,
    spec: &RouteSpec,
    name: &str,
    source: Ipv4Addr,
) -> Result<(), TrialError> {
    if spec.is_empty() {
        return Ok(());
    }
    let known = sysctl::congestion_controls();
    if let Some(asked) = spec.congctl.as_ref().filter(|asked| !known.contains(asked)) {
        return Err(sysctl::no_congestion_control(asked));
    }
    let [a, b, c, _] = source.octets();
    let route = Route {
        destination: (Ipv4Addr::new(a, b, c, 0), PREFIX_LEN),
        way: Way::Link { out: device::interface_index(name)?, source },
        priority: 0,
        metrics: metrics(spec),
    };
    Netlink::open()
        .and_then(|mut netlink| netlink.add_route(&route))
        .map_err(TrialError::setup(format!("set the attributes of the {}'s route", end.name())))
}

/// What is asked for, beside what the route to the `other` end has.
pub(crate) fn in_force(spec: &RouteSpec, other: Ipv4Addr) -> Result<Vec<OptionRecord>, TrialError> {
    if spec.is_empty() {
        return Ok(Vec::new());
    }
    let found = Netlink::open().and_then(|mut netlink| netlink.metrics_to(other));
    let found = found.map_err(TrialError::setup("read the attributes of a route"))?;
    let record = |(key, option, asked): (&'static str, &'static str, RouteValue<'_>)| {
        let (requested, effective) = (asked.to_string(), value_of(key, &found).to_string());
        let is_met = requested == effective;
        let outcome = if is_met { Outcome::AsAsked } else { Outcome::Adjusted };
        OptionRecord {
            name: key.into(),
            option: option.into(),
            requested: Some(requested),
            effective,
            outcome,
            ..OptionRecord::default()
        }
    };
    Ok(spec.attributes().map(record).collect())
}

/// The attributes as rtnetlink(7) has them.
fn metrics(spec: &RouteSpec) -> Vec<RouteMetric> {
    let size = |size: Bytes| u32::try_from(size.as_u64()).unwrap_or(u32::MAX);
    let millis = |span: Span| u32::try_from(span.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
    // Linux takes it only where it is locked (`tcp_rto_min`).
    let lock = spec.rto_min.map(|_| RouteMetric::Lock(1 << RTAX_RTO_MIN));
    [
        lock,
        spec.mtu.map(|it| RouteMetric::Mtu(size(it))),
        spec.window.map(|it| RouteMetric::Window(size(it))),
        spec.advmss.map(|it| RouteMetric::Advmss(size(it))),
        spec.initcwnd.map(RouteMetric::InitCwnd),
        spec.ecn.map(|on| RouteMetric::Features(if on { FEATURE_ECN } else { 0 })),
        spec.rto_min.map(|it| RouteMetric::RtoMin(millis(it))),
        spec.initrwnd.map(RouteMetric::InitRwnd),
        spec.quickack.map(|on| RouteMetric::QuickAck(on.into())),
        spec.congctl.clone().map(RouteMetric::CcAlgo),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The value of an attribute among those of a route. One that is not there is zero.
fn value_of<'a>(key: &str, found: &'a [RouteMetric]) -> RouteValue<'a> {
    let name = found.iter().find_map(|metric| match metric {
        RouteMetric::CcAlgo(name) => Some(name.as_str()),
        _ => None,
    });
    let number = found.iter().find_map(|metric| match (key, metric) {
        ("initcwnd", RouteMetric::InitCwnd(number))
        | ("initrwnd", RouteMetric::InitRwnd(number))
        | ("rto_min", RouteMetric::RtoMin(number))
        | ("quickack", RouteMetric::QuickAck(number))
        | ("mtu", RouteMetric::Mtu(number))
        | ("advmss", RouteMetric::Advmss(number))
        | ("window", RouteMetric::Window(number))
        | ("ecn", RouteMetric::Features(number)) => Some(*number),
        _ => None,
    });
    let number = number.unwrap_or_default();
    match key {
        "initcwnd" | "initrwnd" => RouteValue::Segments(number),
        "rto_min" => RouteValue::Time(Span::from_millis(number.into())),
        "quickack" => RouteValue::Flag(number != 0),
        "ecn" => RouteValue::Flag(number & FEATURE_ECN != 0),
        "congctl" => RouteValue::Name(name.unwrap_or_default()),
        _ => RouteValue::Size(Bytes::new(number.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> RouteSpec {
        RouteSpec {
            initcwnd: Some(3),
            initrwnd: Some(4),
            rto_min: Some(Span::from_millis(50)),
            quickack: Some(true),
            congctl: Some("reno".into()),
            mtu: Some(Bytes::new(1_400)),
            advmss: Some(Bytes::new(1_000)),
            window: Some(Bytes::new(30_000)),
            ecn: Some(true),
        }
    }

    #[test]
    fn attributes_are_read_back_as_they_are_set() {
        let (spec, found) = (all(), metrics(&all()));
        for (key, _, asked) in spec.attributes() {
            assert_eq!(value_of(key, &found), asked, "{key}");
        }
        assert_eq!(value_of("initcwnd", &[]), RouteValue::Segments(0));
    }

    #[test]
    fn least_timeout_is_locked() {
        assert_eq!(metrics(&all())[0], RouteMetric::Lock(0x2000));
        assert_eq!(metrics(&RouteSpec::default()), []);
    }

    #[test]
    fn requests_are_these_bytes() {
        let spec = RouteSpec {
            initcwnd: Some(3),
            rto_min: Some(Span::from_millis(50)),
            congctl: Some("reno".into()),
            ..RouteSpec::default()
        };
        let route = Route {
            destination: (Ipv4Addr::new(10, 98, 0, 0), PREFIX_LEN),
            way: Way::Link { out: 2, source: Ipv4Addr::new(10, 98, 0, 1) },
            priority: 0,
            metrics: metrics(&spec),
        };
        #[rustfmt::skip]
        let expected = [
            // struct rtmsg: AF_INET, /24, main table, kernel, link scope, unicast.
            2, 24, 0, 0, 254, 2, 253, 1, 0, 0, 0, 0,
            8, 0, 1, 0, 10, 98, 0, 0, // RTA_DST
            8, 0, 7, 0, 10, 98, 0, 1, // RTA_PREFSRC
            8, 0, 4, 0, 2, 0, 0, 0, // RTA_OIF
            8, 0, 6, 0, 0, 0, 0, 0, // RTA_PRIORITY
            40, 0, 8, 0, // RTA_METRICS
            8, 0, 1, 0, 0, 0x20, 0, 0, // RTAX_LOCK
            8, 0, 11, 0, 3, 0, 0, 0, // RTAX_INITCWND
            8, 0, 13, 0, 50, 0, 0, 0, // RTAX_RTO_MIN
            9, 0, 16, 0, b'r', b'e', b'n', b'o', 0, 0, 0, 0, // RTAX_CC_ALGO
        ];
        assert_eq!(route.message_bytes(), expected);
    }
}
