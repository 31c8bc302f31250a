//! The rule about windows and buffers.

use tcplab_scenario::metrics;
use tcplab_trace::Limit;
use tcplab_units::{Bytes, Rate};

use super::advice::{Advice, Change, Expected};
use super::model::Law;
use super::seen::NOTABLE;
use super::situation::Situation;
use super::words::{amount, share_of};

/// The largest window without scaling (RFC 9293 section 3.1).
pub(super) const WINDOW_MAX: u64 = 65_535;
/// The largest window with the largest scale, 14 (RFC 7323 section 2.3).
const SCALED_WINDOW_MAX: u64 = WINDOW_MAX << 14;
/// The largest value of `net.ipv4.tcp_rmem` and `tcp_wmem`: an `int` in the kernel.
const BUFFER_MAX: u64 = i32::MAX as u64;
/// Linux grows to 6 MiB by itself (`net.ipv4.tcp_rmem`), half of which or more is window.
const GROWS: u64 = 6 << 20;

/// What may be on its way must fit in the receive window and the send buffer.
pub(super) fn window(situation: &Situation) -> Option<Advice> {
    let bdp = situation.bdp()?;
    // A lost segment comes again a round trip later; meanwhile as much again arrives and waits.
    let room = Bytes::new(bdp.as_u64().saturating_mul(2).min(SCALED_WINDOW_MAX));
    let narrow = situation.seen.as_ref().and_then(|seen| {
        let share = seen.share(Limit::ReceiveWindow) + seen.share(Limit::SendBuffer);
        let window = seen.window.filter(|window| window.as_u64() < room.as_u64())?;
        (share >= NOTABLE).then_some(window)
    });
    let needed = (room.as_u64() * 2).next_power_of_two().min(BUFFER_MAX);
    let grows = situation.buffer_maxima.map_or(GROWS, |[receive, send]| receive.min(send));
    let is_enough = narrow.is_none() && room.as_u64() <= grows / 2;
    let mut why = reason(situation, narrow, room, is_enough.then_some(grows))?;
    let expected = narrow.and_then(|window| {
        let law = Law::of(situation)?;
        let goodput = |window| law.goodput(situation, Some(window)).map(Rate::as_mbit_f64);
        let (before, after) = goodput(window).zip(goodput(room))?;
        Some(Expected::of(metrics::GOODPUT, before, after))
    });
    let (mut what, how) = if is_enough {
        let what = format!(
            "Leave the buffers to the kernel; of your own, set no less than {}.",
            amount(room)
        );
        let how =
            format!("elsewhere than on Linux: SO_RCVBUF and SO_SNDBUF of {} each", amount(room));
        (what, vec![how])
    } else {
        let what = format!("Let the receive window and the send buffer grow to {}.", amount(room));
        (what, larger_buffers(situation, needed))
    };
    if bdp.as_u64() > SCALED_WINDOW_MAX {
        let connections = bdp.as_u64().div_ceil(SCALED_WINDOW_MAX);
        what += &format!(" Use {connections} connections or more.");
        why += &format!(
            " No window is larger than {}, so one connection cannot fill this path.",
            amount(Bytes::new(SCALED_WINDOW_MAX))
        );
    }
    let [mut changes, mut replaces] = [Vec::new(), Vec::new()];
    match (!is_enough).then(|| present(situation)) {
        Some(Some(present)) => {
            replaces = present;
            changes = larger_buffers_tried(situation, needed.max(GROWS));
        }
        Some(None) => {
            why += " Not tried: the capture does not show the buffers that its ends have.";
        }
        None => {}
    }
    let basis = "bandwidth-delay product = rate × round trip (RFC 6349 section 3.3.1); twice that, \
                 for while a lost segment is retransmitted, as much again arrives and must wait; \
                 at most 65,535 × 2^14 B (RFC 7323 section 2.3)";
    Some(Advice { id: "buffers", what, how, why, basis, expected, changes, replaces })
}

/// Why: what limited the connection that was seen, or what the path takes; `grows` is how far the
/// kernel goes by itself, if that is enough.
fn reason(
    situation: &Situation,
    narrow: Option<Bytes>,
    room: Bytes,
    grows: Option<u64>,
) -> Option<String> {
    let bdp = amount(situation.bdp()?);
    if let Some((window, seen)) = narrow.zip(situation.seen.as_ref()) {
        return Some(format!(
            "The receive window limited the sender for {} of the time, the send buffer for {}. The \
             window was at most {}, of a bandwidth-delay product of {bdp}.",
            share_of(seen.share(Limit::ReceiveWindow)),
            share_of(seen.share(Limit::SendBuffer)),
            amount(window),
        ));
    }
    let shift = (0..14).find(|shift| WINDOW_MAX << shift >= room.as_u64()).unwrap_or(14);
    let by_itself = grows.map_or(String::new(), |grows| {
        format!(
            ", and Linux tunes its buffers up to {} MiB by itself{}",
            grows >> 20,
            if situation.buffer_maxima.is_some() { " on this machine" } else { "" }
        )
    });
    Some(format!(
        "The path holds {bdp} on its way; a window of {} takes a window scale of {shift}{by_itself}.",
        amount(room),
    ))
}

/// How to raise the kernel's limits to `needed`: only where they are lower, so that no limit falls.
fn larger_buffers(situation: &Situation, needed: u64) -> Vec<String> {
    let maximum = needed.max(GROWS);
    let mut how = Vec::new();
    for (index, (name, before, end)) in
        [("tcp_rmem", "4096 131072", "receiver"), ("tcp_wmem", "4096 16384", "sender")]
            .into_iter()
            .enumerate()
    {
        let present = situation.buffer_maxima.map(|maxima| maxima[index]);
        let condition = match present {
            Some(present) if present >= needed => continue,
            Some(_) => String::new(),
            None => format!(", if `sysctl net.ipv4.{name}` shows less than {needed} last"),
        };
        how.push(format!(
            "sysctl -w net.ipv4.{name}=\"{before} {maximum}\"   at the {end}{condition}"
        ));
    }
    how.push("and no SO_RCVBUF or SO_SNDBUF: setting either ends the kernel's own tuning".into());
    how
}

fn receive_key(situation: &Situation) -> String {
    format!("{}.sysctl.'net.ipv4.tcp_rmem'", situation.sender.other().name())
}

fn larger_buffers_tried(situation: &Situation, maximum: u64) -> Vec<Change> {
    let sender = situation.sender.name();
    vec![
        Change::new(&receive_key(situation), format!("4096 131072 {maximum}")),
        Change::new(
            &format!("{sender}.sysctl.'net.ipv4.tcp_wmem'"),
            format!("4096 16384 {maximum}"),
        ),
    ]
}

/// The settings that larger buffers replace: those of a run, and of a capture the window that was
/// seen. None where a capture shows no such limit.
fn present(situation: &Situation) -> Option<Vec<Change>> {
    if let Some(ends) = &situation.ends {
        let (sender, receiver) = (situation.sender, situation.sender.other());
        let keys = [
            (receiver, "socket.rcvbuf"),
            (receiver, "socket.rcvbufforce"),
            (receiver, "socket.window_clamp"),
            (receiver, "accepted.rcvbuf"),
            (receiver, "accepted.rcvbufforce"),
            (receiver, "accepted.window_clamp"),
            (receiver, "route.window"),
            (sender, "socket.sndbuf"),
            (sender, "socket.sndbufforce"),
            (sender, "accepted.sndbuf"),
            (sender, "accepted.sndbufforce"),
        ];
        return Some(keys.into_iter().filter_map(|(end, key)| ends.set(end, key)).collect());
    }
    let Some(seen) = &situation.seen else { return Some(Vec::new()) };
    let is_window = seen.share(Limit::ReceiveWindow) >= NOTABLE;
    let window = seen.window.filter(|_| is_window)?.as_u64();
    // Of a buffer Linux offers 1448 / 2304 in 256ths, which is what full segments fill of their
    // memory (`tcp_measure_rcv_mss`); and it tunes nothing where its default is its maximum.
    let buffer = (window.saturating_mul(8) / 5).min(BUFFER_MAX);
    Some(vec![Change::new(&receive_key(situation), format!("4096 {buffer} {buffer}"))])
}
