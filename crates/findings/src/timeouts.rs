//! # Waiting for timeouts
//!
//! **What it says.** Much time in timeouts, and why nothing faster revealed the loss.
//!
//! **Why it matters.** Nothing is sent meanwhile, and slow start follows from one segment.
//!
//! **Evidence.** The stalls that ended with a timer, by cause; the longest by its frames, and the
//! timer's retransmissions. A tail loss probe counts too. Tail loss and PMTU black holes have their
//! own rules. Of waits whose cause is not visible at the capture point only the longest counts.
//!
//! **False positives.** Retransmissions by ACKs that the capture lacks.
//!
//! **Reference.** RFC 6298; J. Zhou et al., "Demystifying and Mitigating TCP Stalls at the Server
//! Side", section 4.

use tcplab_trace::{Stall, StallCause, StallSum};
use tcplab_units::Span;

use crate::path_mtu;
use crate::words::{part_of_time, rounded, times};
use crate::{Cost, Direction, Finding, Rule, Severity, Shown, is_share};

/// The rule.
pub const RULE: Rule = Rule::of_directions("timeouts", in_direction);

/// The least share of the transfer, per cent, or the least time.
const SHARE: u64 = 10;
const LONG: Span = Span::from_secs(1);

/// Why a timer had to run out, what that means, and what helps.
const CAUSES: [(StallCause, &str, &str); 8] = [
    (
        StallCause::DoubleLoss,
        "a retransmission was lost",
        "Retransmissions were lost as well: look for interruptions (handover, radio, route \
         change) at these times, and for what drops bursts on the path. Where ACKs still return, \
         RACK (on Linux net.ipv4.tcp_recovery = 1, the default) detects such a loss within a \
         round trip.",
    ),
    (
        StallCause::SmallWindow,
        "fewer than four segments were in flight",
        "Too little was in flight for duplicate ACKs: send more at once, or use early retransmit \
         or RACK at the sender (on Linux the default with SACK).",
    ),
    (
        StallCause::SmallReceiveWindow,
        "the receive window held too few segments",
        "The receive window was too small for duplicate ACKs: raise the receiver's SO_RCVBUF, or \
         let its application read sooner.",
    ),
    (
        StallCause::ContinuousLoss,
        "everything in flight was lost",
        "The path was down, or a queue dropped a whole window: look for interruptions (handover, \
         radio, route change) at these times, and for very short queues.",
    ),
    (
        StallCause::AckLoss,
        "ACKs were late or lost although the oldest data in flight had arrived",
        "The data arrived: look at the return path for loss or sudden delay. F-RTO (on Linux \
         net.ipv4.tcp_frto = 2, the default) undoes the harm.",
    ),
    (
        StallCause::IgnoredAcks,
        "ACKs had revealed the loss and the sender did not react",
        "Look at the sender's TCP: ACKs had told it of the loss.",
    ),
    (
        StallCause::Timeout,
        "no ACK revealed the loss",
        "Find out what happened on the path at these times.",
    ),
    (
        StallCause::Undetermined,
        "why is not visible at this capture point",
        "Capture at the sender, too (`tcplab trace` joins both captures): there shows what it \
         sent meanwhile, and which ACKs reached it.",
    ),
];

/// The stalls of a cause that ended with a timer. Of undetermined ones, where data may have come
/// late as well, the longest alone is known to.
fn ended_by_timer(direction: &Direction<'_>, cause: StallCause) -> Option<StallSum> {
    let sum = direction.stalls(cause)?;
    if cause != StallCause::Undetermined {
        return Some(*sum);
    }
    let Stall { from, until, frames, .. } = sum.longest;
    let is_timer = direction.flow.causes.timeouts.frames.contains(&frames.1);
    is_timer.then_some(StallSum { count: 1, time: until.since(from), ..*sum })
}

/// Where nothing was lost and packets were late as well, either direction may have been slow.
const LATE: &str = "The data arrived, though late, or their ACKs did: look for sudden delay in \
                    either direction at that time (radio, a host or virtual machine that was not \
                    scheduled, a route change). F-RTO (on Linux net.ipv4.tcp_frto = 2, the \
                    default) undoes the harm.";

/// The longest stall by late packets, if it continues this one or is continued by it: to its rule
/// (`delay-spikes`) it is only the rest of a standstill.
fn late_beside(direction: &Direction<'_>, stall: &Stall) -> Span {
    let late = direction.stalls(StallCause::PacketDelay).map(|sum| &sum.longest);
    let beside = late.filter(|late| late.from == stall.until || late.until == stall.from);
    beside.map_or(Span::ZERO, |late| late.until.since(late.from))
}

/// Where data was lost as well, the return path alone is not at fault.
const BOTH_WAYS: &str = "Data was lost as well: look for interruptions of both directions \
                         (handover, radio, route change) at these times.";

fn in_direction(direction: &Direction<'_>) -> Option<Finding> {
    let mut met: Vec<(StallSum, &str, &str)> = CAUSES
        .into_iter()
        .filter_map(|(cause, why, remedy)| Some((ended_by_timer(direction, cause)?, why, remedy)))
        .collect();
    met.sort_by_key(|(sum, ..)| std::cmp::Reverse(sum.time));
    let longest = met.iter().map(|(sum, ..)| &sum.longest).max_by_key(|s| s.until.since(s.from))?;
    let late = late_beside(direction, longest);
    let remedy = match *met.first()? {
        (StallSum { cause: StallCause::AckLoss, .. }, ..) if direction.lost() > 0 => BOTH_WAYS,
        (StallSum { cause: StallCause::AckLoss, .. }, ..) if late > Span::ZERO => LATE,
        (.., remedy) => remedy,
    };
    let time: Span = met.iter().map(|(sum, ..)| sum.time).sum();
    let count: u64 = met.iter().map(|(sum, ..)| sum.count).sum();
    let hole = path_mtu::BlackHole::of(direction).map_or(Span::ZERO, |hole| hole.time());
    let unexplained = time.saturating_sub(hole) + late;
    if unexplained < LONG && !is_share(unexplained, direction.time(), SHARE) {
        return None;
    }
    let reasons: Vec<String> = match met.as_slice() {
        [(_, why, _)] => vec![(*why).to_owned()],
        _ => met.iter().map(|(sum, why, _)| format!("{why} ({})", sum.count)).collect(),
    };
    let mut statement = format!(
        "The {} waited for a timer {}, {}: {}. The longest wait was {}.",
        direction.sender,
        times(count),
        part_of_time(time, direction.time().max(time)),
        reasons.join("; "),
        rounded(longest.until.since(longest.from)),
    );
    if late > Span::ZERO {
        statement +=
            &format!(" Late packets stalled it for another {} beside that.", rounded(late));
    }
    let causes = &direction.flow.causes;
    let of_stall = Shown::by_stall(longest);
    // Timers of the handshake count there, too, and come first.
    let shown = if causes.syn_retransmissions.is_empty() {
        of_stall.and(Shown::by(&causes.timeouts))
    } else {
        of_stall
    };
    let found = shown.proves(RULE.name, Severity::Harm, Cost::time(time));
    Some(match path_mtu::suspicion(direction) {
        Some((why, remedy)) => found.saying(statement + &why, remedy),
        None => found.saying(statement, remedy),
    })
}
