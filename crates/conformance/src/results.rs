//! What a guest's calls returned, as the interpreter takes it.

use tcplab_packetdrill::{Outcome, SystemCall};
use tcplab_testbed::CallResult;

use crate::bytes::{Message, long, word};
use crate::calls::{EPOLL_EVENT, POLL_FD};
use crate::control;

/// What came of `call`; times are those after a zero in nanoseconds since the Unix epoch.
pub(crate) fn outcome(call: &SystemCall, result: &CallResult, zero_unix_nanos: i64) -> Outcome {
    if result.result < 0 {
        return Outcome { result: Err(-result.result), values: Vec::new(), control: Vec::new() };
    }
    let region = |nth: usize| result.memory.get(nth).map_or(&[][..], |bytes| &bytes.0);
    let words = |bytes: &[u8], size: usize, at: usize| -> Vec<i64> {
        bytes.chunks(size).filter_map(|chunk| word(chunk, at)).collect()
    };
    let value = Outcome::value(result.result);
    match call {
        SystemCall::GetOption { .. } => {
            let len = word(region(1), 0).unwrap_or(0);
            Outcome { values: option_value(region(0), len).into_iter().collect(), ..value }
        }
        SystemCall::Request { .. } | SystemCall::Pipe => {
            Outcome { values: words(region(0), 4, 0), ..value }
        }
        SystemCall::Poll { .. } => {
            let revents =
                |fd: &[u8]| Some(i64::from(i16::from_ne_bytes(*fd.get(6..)?.first_chunk()?)));
            let values = region(0).chunks(POLL_FD).filter_map(revents).collect();
            Outcome { values, ..value }
        }
        SystemCall::EpollWait { .. } => {
            let events = region(0).chunks(EPOLL_EVENT).take(result.result as usize);
            let pair = |event: &[u8]| Some([word(event, 0)? & 0xffff_ffff, long(event, 4)?]);
            Outcome { values: events.filter_map(pair).flatten().collect(), ..value }
        }
        SystemCall::Receive { message: true, .. } => {
            let (header, room) = (region(0), region(1));
            let len = long(header, Message::CONTROL_LEN).unwrap_or(0);
            let len = usize::try_from(len).unwrap_or(0).min(room.len());
            Outcome {
                values: word(header, Message::FLAGS).into_iter().collect(),
                control: control::read(&room[..len], zero_unix_nanos),
                ..value
            }
        }
        _ => value,
    }
}

/// A number of as many bytes as the kernel wrote.
fn option_value(bytes: &[u8], len: i64) -> Option<i64> {
    match len {
        1 => bytes.first().map(|byte| i64::from(*byte)),
        8 => long(bytes, 0),
        _ => word(bytes, 0),
    }
}

#[cfg(test)]
mod tests {
    use tcplab_recording::MessageBytes;

    use super::*;

    fn result(result: i64, memory: &[&[u8]]) -> CallResult {
        let memory = memory.iter().map(|bytes| MessageBytes(bytes.to_vec())).collect();
        CallResult { result, memory }
    }

    #[test]
    fn error_is_its_number() {
        let found = outcome(&SystemCall::Accept { fd: 3 }, &result(-11, &[]), 0);
        assert_eq!(found, Outcome::error("EAGAIN"));
    }

    #[test]
    fn values_are_what_the_call_wrote() {
        let number = 1000_i32.to_ne_bytes();
        let option = SystemCall::GetOption { fd: 3, level: 6, name: 2 };
        let found = outcome(&option, &result(0, &[&number, &4_i32.to_ne_bytes()]), 0);
        assert_eq!(found.values, [1000]);
        let poll = SystemCall::Poll { fds: vec![(3, 1), (4, 4)], timeout: None };
        let fds = [3, 0, 0, 0, 1, 0, 0x11, 0, 4, 0, 0, 0, 4, 0, 0, 0];
        assert_eq!(outcome(&poll, &result(1, &[&fds]), 0).values, [0x11, 0]);
        let wait = SystemCall::EpollWait { epoll: 5, most: 2, timeout: None };
        let event = [&0x8000_0001_u32.to_ne_bytes()[..], &7_i64.to_ne_bytes(), &[0; 12]].concat();
        assert_eq!(outcome(&wait, &result(1, &[&event]), 0).values, [0x8000_0001, 7]);
    }
}
