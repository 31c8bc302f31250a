//! Steps as the log names them.

use crate::step::{Half, Read, Step, Toggle, Until, Write};

/// The call of a step.
pub(super) fn name(step: &Step) -> &'static str {
    match step {
        Step::Connect => "connect",
        Step::Accept => "accept",
        Step::Write(_) => "write",
        Step::Read(_) | Step::ReadUrgent => "read",
        Step::AwaitUrgent => "poll",
        Step::AtMark => "sockatmark",
        Step::Sleep(_) => "sleep",
        Step::Shutdown(_) => "shutdown",
        Step::Set(..) => "setsockopt",
        Step::Close => "close",
        Step::Vanish => "vanish",
        Step::BeginRequest | Step::EndResponse | Step::Repeat { .. } => "",
    }
}

/// What a call of a step asks for.
pub(super) fn asked(step: &Step) -> String {
    match step {
        Step::Write(Write { piece, more, urgent, retry, .. }) => {
            let more = if *more { " MSG_MORE" } else { "" };
            let urgent = if *urgent { " MSG_OOB" } else { "" };
            let waits = if retry.is_some() { " MSG_DONTWAIT" } else { "" };
            format!("{piece}{more}{urgent}{waits}")
        }
        Step::Read(Read { until: Until::Amount(amount), piece }) => {
            (*piece).min(*amount).to_string()
        }
        Step::Read(Read { piece, .. }) => piece.to_string(),
        Step::ReadUrgent => "MSG_OOB".into(),
        Step::AwaitUrgent => "POLLPRI".into(),
        Step::Shutdown(Half::Read) => "SHUT_RD".into(),
        Step::Shutdown(Half::Write) => "SHUT_WR".into(),
        Step::Shutdown(Half::Both) => "SHUT_RDWR".into(),
        Step::Set(toggle, on) => {
            let name = match toggle {
                Toggle::Cork => "TCP_CORK",
                Toggle::NoDelay => "TCP_NODELAY",
                Toggle::QuickAck => "TCP_QUICKACK",
            };
            format!("{name} {}", u8::from(*on))
        }
        _ => String::new(),
    }
}
