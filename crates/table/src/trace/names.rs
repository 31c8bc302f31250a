//! The names of kinds in tables and JSON.

use tcplab_trace::{
    CapturePoint, CloseKind, Confidence, ConnectionState, EcnAgreement, EpisodeKind, Evidence,
    HandshakeKind, Limit, Sign, Spurious, StallCause, Timer,
};

pub(super) fn timer(timer: Timer) -> &'static str {
    match timer {
        Timer::Probe => "probe",
        Timer::Retransmission => "retransmission",
    }
}

/// None where no proof is needed.
pub(super) fn sign(sign: Sign) -> Option<&'static str> {
    Some(match sign {
        Sign::None => return None,
        Sign::DuplicateAcks => "duplicate-acks",
        Sign::Sack => "sack",
        Sign::Rack => "rack",
        Sign::PartialAck => "partial-ack",
        Sign::PacketTooBig => "packet-too-big",
        Sign::Silence => "silence",
        Sign::IgnoredAcks => "ignored-acks",
        Sign::AfterTimeout => "after-timeout",
        Sign::IpId => "ip-id",
        Sign::Timestamp => "timestamp",
        Sign::Time => "time",
        Sign::AtSender => "at-sender",
        Sign::ZeroWindow => "zero-window",
        Sign::BelowAcknowledged => "below-acknowledged",
    })
}

/// What shows that a retransmission is spurious, and in which frame.
pub(super) fn spurious(why: Spurious) -> (&'static str, Option<u64>) {
    match why {
        Spurious::DSack { frame } => ("dsack", Some(frame)),
        Spurious::Echo { frame } => ("timestamp", Some(frame)),
        Spurious::Acknowledged => ("acknowledged", None),
    }
}

/// What showed the loss, and in which frame.
pub(super) fn evidence(evidence: Evidence) -> (&'static str, u64) {
    match evidence {
        Evidence::Sack { frame } => ("sack", frame),
        Evidence::DuplicateAcks { frame } => ("duplicate-acks", frame),
        Evidence::PacketTooBig { frame } => ("packet-too-big", frame),
        Evidence::Timeout { frame } => ("timeout", frame),
        Evidence::Probe { frame } => ("probe", frame),
    }
}

pub(super) fn episode_kind(kind: EpisodeKind) -> &'static str {
    match kind {
        EpisodeKind::WithoutTimeLag => "without-time-lag",
        EpisodeKind::WithTimeLag => "with-time-lag",
        EpisodeKind::Intermittent => "intermittent",
        EpisodeKind::Unknown => "unknown",
    }
}

pub(super) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Application => "application",
        Limit::ReceiveWindow => "receive-window",
        Limit::SendBuffer => "send-buffer",
        Limit::SlowStart => "slow-start",
        Limit::Congestion => "congestion-window",
        Limit::Path => "path",
        Limit::Timeout => "timeout",
    }
}

pub(super) fn stall_cause(cause: StallCause) -> &'static str {
    match cause {
        StallCause::SenderIdle => "sender-idle",
        StallCause::SenderSlow => "sender-slow",
        StallCause::NoRequest => "no-request",
        StallCause::ZeroWindow => "zero-window",
        StallCause::ReceiveWindow => "receive-window",
        StallCause::PacketDelay => "packet-delay",
        StallCause::DoubleLoss => "double-loss",
        StallCause::TailLoss => "tail-loss",
        StallCause::SmallWindow => "small-window",
        StallCause::SmallReceiveWindow => "small-receive-window",
        StallCause::ContinuousLoss => "continuous-loss",
        StallCause::AckLoss => "ack-loss",
        StallCause::IgnoredAcks => "ignored-acks",
        StallCause::Timeout => "timeout",
        StallCause::Undetermined => "undetermined",
    }
}

pub(super) fn handshake(kind: HandshakeKind) -> &'static str {
    match kind {
        HandshakeKind::Unseen => "unseen",
        HandshakeKind::Unanswered => "unanswered",
        HandshakeKind::Refused => "refused",
        HandshakeKind::HalfOpen => "half-open",
        HandshakeKind::ThreeWay => "three-way",
        HandshakeKind::Simultaneous => "simultaneous",
        HandshakeKind::Split => "split",
    }
}

pub(super) fn ecn(agreement: EcnAgreement) -> &'static str {
    match agreement {
        EcnAgreement::Unknown => "unknown",
        EcnAgreement::NotAsked => "not-asked",
        EcnAgreement::GivenUp => "given-up",
        EcnAgreement::Refused => "refused",
        EcnAgreement::Classic => "classic",
        EcnAgreement::Accurate => "accurate",
    }
}

/// Zeek's.
pub(super) fn state(state: ConnectionState) -> &'static str {
    match state {
        ConnectionState::S0 => "S0",
        ConnectionState::S1 => "S1",
        ConnectionState::S2 => "S2",
        ConnectionState::S3 => "S3",
        ConnectionState::Sf => "SF",
        ConnectionState::Rej => "REJ",
        ConnectionState::Rsto => "RSTO",
        ConnectionState::Rstr => "RSTR",
        ConnectionState::Rstos0 => "RSTOS0",
        ConnectionState::Rstrh => "RSTRH",
        ConnectionState::Sh => "SH",
        ConnectionState::Shr => "SHR",
        ConnectionState::Oth => "OTH",
    }
}

pub(super) fn close(kind: CloseKind) -> &'static str {
    match kind {
        CloseKind::Graceful => "graceful",
        CloseKind::Simultaneous => "simultaneous",
        CloseKind::HalfClosed => "half-closed",
        CloseKind::Reset => "reset",
        CloseKind::ResetAfterFin => "reset-after-fin",
    }
}

pub(super) fn capture_point(point: CapturePoint) -> &'static str {
    match point {
        CapturePoint::Unknown => "unknown",
        CapturePoint::Sender => "sender",
        CapturePoint::Middle => "middle",
        CapturePoint::Receiver => "receiver",
    }
}

pub(super) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::None => "none",
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

pub(super) fn direction(forward: bool) -> &'static str {
    if forward { "forward" } else { "reverse" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tcplab_trace::SegmentKind;

    use super::*;

    /// Each kind has a name of its own, in lower case and with hyphens.
    fn distinct<T: Copy>(kinds: &[T], name: impl Fn(T) -> &'static str) {
        let plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
        let names: BTreeSet<&str> = kinds.iter().map(|kind| name(*kind)).collect();
        assert_eq!(names.len(), kinds.len(), "{names:?}");
        assert!(names.iter().all(|name| name.chars().all(plain)), "{names:?}");
    }

    #[test]
    fn kinds_of_packets_have_distinct_names() {
        distinct(
            &[
                SegmentKind::New,
                SegmentKind::FastRetransmission,
                SegmentKind::TimeoutRetransmission,
                SegmentKind::AfterTimeoutRetransmission,
                SegmentKind::UnexplainedRetransmission,
                SegmentKind::FillsGap,
                SegmentKind::OutOfOrder,
                SegmentKind::NetworkDuplicate,
                SegmentKind::LinkRetry,
                SegmentKind::RepeatedControl,
                SegmentKind::CaptureDuplicate,
                SegmentKind::WindowProbe,
                SegmentKind::KeepAlive,
            ],
            SegmentKind::name,
        );
        distinct(&[Timer::Probe, Timer::Retransmission], timer);
        distinct(
            &[
                Sign::DuplicateAcks,
                Sign::Sack,
                Sign::Rack,
                Sign::PartialAck,
                Sign::PacketTooBig,
                Sign::Silence,
                Sign::IgnoredAcks,
                Sign::AfterTimeout,
                Sign::IpId,
                Sign::Timestamp,
                Sign::Time,
                Sign::AtSender,
                Sign::ZeroWindow,
                Sign::BelowAcknowledged,
            ],
            |kind| sign(kind).unwrap(),
        );
        distinct(
            &[Spurious::DSack { frame: 1 }, Spurious::Echo { frame: 1 }, Spurious::Acknowledged],
            |why| spurious(why).0,
        );
        distinct(
            &[
                Evidence::Sack { frame: 1 },
                Evidence::DuplicateAcks { frame: 1 },
                Evidence::PacketTooBig { frame: 1 },
                Evidence::Timeout { frame: 1 },
                Evidence::Probe { frame: 1 },
            ],
            |it| evidence(it).0,
        );
        distinct(
            &[
                EpisodeKind::WithoutTimeLag,
                EpisodeKind::WithTimeLag,
                EpisodeKind::Intermittent,
                EpisodeKind::Unknown,
            ],
            episode_kind,
        );
        distinct(&Limit::ALL, limit);
        distinct(
            &[
                StallCause::SenderIdle,
                StallCause::SenderSlow,
                StallCause::NoRequest,
                StallCause::ZeroWindow,
                StallCause::ReceiveWindow,
                StallCause::PacketDelay,
                StallCause::DoubleLoss,
                StallCause::TailLoss,
                StallCause::SmallWindow,
                StallCause::SmallReceiveWindow,
                StallCause::ContinuousLoss,
                StallCause::AckLoss,
                StallCause::IgnoredAcks,
                StallCause::Timeout,
                StallCause::Undetermined,
            ],
            stall_cause,
        );
    }

    /// Zeek writes its states in capitals.
    fn zeek(name: &'static str) -> &'static str {
        assert_eq!(name.to_uppercase(), name);
        ["s0", "s1", "s2", "s3", "sf", "rej", "rsto", "rstr", "rstos0", "rstrh", "sh", "shr", "oth"]
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(name))
            .unwrap()
    }

    #[test]
    fn kinds_of_connections_have_distinct_names() {
        distinct(
            &[
                HandshakeKind::Unseen,
                HandshakeKind::Unanswered,
                HandshakeKind::Refused,
                HandshakeKind::HalfOpen,
                HandshakeKind::ThreeWay,
                HandshakeKind::Simultaneous,
                HandshakeKind::Split,
            ],
            handshake,
        );
        distinct(
            &[
                EcnAgreement::Unknown,
                EcnAgreement::NotAsked,
                EcnAgreement::Refused,
                EcnAgreement::Classic,
                EcnAgreement::Accurate,
            ],
            ecn,
        );
        distinct(
            &[
                ConnectionState::S0,
                ConnectionState::S1,
                ConnectionState::S2,
                ConnectionState::S3,
                ConnectionState::Sf,
                ConnectionState::Rej,
                ConnectionState::Rsto,
                ConnectionState::Rstr,
                ConnectionState::Rstos0,
                ConnectionState::Rstrh,
                ConnectionState::Sh,
                ConnectionState::Shr,
                ConnectionState::Oth,
            ],
            |it| zeek(state(it)),
        );
        distinct(
            &[
                CloseKind::Graceful,
                CloseKind::Simultaneous,
                CloseKind::HalfClosed,
                CloseKind::Reset,
                CloseKind::ResetAfterFin,
            ],
            close,
        );
        distinct(
            &[
                CapturePoint::Unknown,
                CapturePoint::Sender,
                CapturePoint::Middle,
                CapturePoint::Receiver,
            ],
            capture_point,
        );
        distinct(
            &[Confidence::None, Confidence::Low, Confidence::Medium, Confidence::High],
            confidence,
        );
    }
}
