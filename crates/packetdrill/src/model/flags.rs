//! Flags of system calls, as x86-64 has them.

pub(super) const NONBLOCK: i64 = 0o4000;
pub(super) const READ_WRITE: i64 = 2;
/// MSG_PEEK.
pub(super) const PEEK: i64 = 2;
/// MSG_OOB, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_ERRQUEUE.
pub(super) const OUT_OF_BAND: i64 = 1;
pub(super) const DONT_WAIT: i64 = 0x40;
pub(super) const NO_SIGNAL: i64 = 0x4000;
pub(super) const ERROR_QUEUE: i64 = 0x2000;
/// MSG_EOR, MSG_MORE, MSG_ZEROCOPY, MSG_FASTOPEN.
pub(super) const END_OF_RECORD: i64 = 0x80;
pub(super) const MORE: i64 = 0x8000;
pub(super) const ZERO_COPY: i64 = 0x400_0000;
pub(super) const FAST_OPEN: i64 = 0x2000_0000;
