//! Control messages as `recvmsg` writes them (cmsg(3)).

use tcplab_packetdrill::{ControlData, ControlMessage};
use tcplab_units::{Instant, Span};

use crate::bytes::{long, word};

/// Bytes of `struct cmsghdr`.
const HEADER: usize = 16;
const SOL_IP: i64 = 0;
const SOL_SOCKET: i64 = 1;
const SOL_IPV6: i64 = 41;
/// SCM_TIMESTAMPING, of `SOL_SOCKET`.
const TIMESTAMPING: i64 = 37;
/// IP_RECVERR and IPV6_RECVERR.
const ERRORS: [(i64, i64); 2] = [(SOL_IP, 11), (SOL_IPV6, 25)];

/// Reads all messages in `bytes`. Times count from a zero in nanoseconds since the Unix epoch.
pub(crate) fn read(bytes: &[u8], zero_unix_nanos: i64) -> Vec<ControlMessage> {
    let mut all = Vec::new();
    let mut rest = bytes;
    while let (Some(len), Some(level), Some(kind)) = (long(rest, 0), word(rest, 8), word(rest, 12))
    {
        let Some(len) = usize::try_from(len).ok().filter(|len| (HEADER..=rest.len()).contains(len))
        else {
            break;
        };
        let data = data((level, kind), &rest[HEADER..len], zero_unix_nanos);
        all.push(ControlMessage { level, kind, data });
        rest = rest.get(len.next_multiple_of(8)..).unwrap_or_default();
    }
    all
}

fn data((level, kind): (i64, i64), bytes: &[u8], zero_unix_nanos: i64) -> ControlData {
    if (level, kind) == (SOL_SOCKET, TIMESTAMPING) {
        // The first of three times is the software's.
        let nanos = long(bytes, 0).unwrap_or(0) * 1_000_000_000 + long(bytes, 8).unwrap_or(0);
        let since = u64::try_from(nanos - zero_unix_nanos).unwrap_or(0);
        return ControlData::Time(Instant::ZERO + Span::from_nanos(since));
    }
    if ERRORS.contains(&(level, kind)) {
        // `struct sock_extended_err`: errno, four bytes, info, data.
        let byte = |at: usize| i64::from(bytes.get(at).copied().unwrap_or(0));
        let unsigned = |at: usize| word(bytes, at).unwrap_or(0) & 0xffff_ffff;
        return ControlData::Error([
            unsigned(0),
            byte(4),
            byte(5),
            byte(6),
            unsigned(8),
            unsigned(12),
        ]);
    }
    ControlData::Number(word(bytes, 0).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let len = (HEADER + data.len()) as u64;
        let mut bytes =
            [&len.to_ne_bytes()[..], &level.to_ne_bytes(), &kind.to_ne_bytes(), data].concat();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn messages_are_read_one_behind_the_other() {
        let time = [1_i64, 20_000_000, 0, 0, 0, 0].map(i64::to_ne_bytes).concat();
        let error = [
            &42_u32.to_ne_bytes()[..],
            &[4, 0, 1, 0],
            &7_u32.to_ne_bytes(),
            &u32::MAX.to_ne_bytes(),
            &[0; 16],
        ]
        .concat();
        let bytes = [
            message(6, 36, &1000_i32.to_ne_bytes()),
            message(1, 37, &time),
            message(0, 11, &error),
        ];
        let read = read(&bytes.concat(), 1_000_000_000);
        let expected = [
            ControlData::Number(1000),
            ControlData::Time(Instant::ZERO + Span::from_millis(20)),
            ControlData::Error([42, 4, 0, 1, 7, 0xffff_ffff]),
        ];
        assert_eq!(read.iter().map(|one| one.data.clone()).collect::<Vec<_>>(), expected);
        assert_eq!((read[0].level, read[0].kind), (6, 36));
    }

    #[test]
    fn broken_messages_end_the_list() {
        assert_eq!(read(&[], 0), []);
        let mut long = message(6, 36, &[0; 4]);
        long[0] = 200;
        assert_eq!(read(&long, 0), []);
        long[0] = 3;
        assert_eq!(read(&long, 0), []);
    }
}
