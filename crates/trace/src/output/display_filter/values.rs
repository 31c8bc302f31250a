//! Values of fields, and what they are compared with.

use std::net::IpAddr;

use crate::filter::shares;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Greater,
    Less,
    AtLeast,
    AtMost,
}

/// A value of a field of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// A number; of a flag 1 or 0; of a time nanoseconds.
    Number(u64),
    Address(IpAddr),
    /// It is there, and has no value.
    There,
}

/// A value to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Number(u64),
    /// An address, and how many of its bits count.
    Network(IpAddr, u8),
}

impl Comparison {
    pub(super) fn holds(self, value: Value, wanted: Wanted) -> bool {
        match (value, wanted) {
            (Value::Number(value), Wanted::Number(wanted)) => match self {
                Comparison::Equal => value == wanted,
                Comparison::Unequal => value != wanted,
                Comparison::Greater => value > wanted,
                Comparison::Less => value < wanted,
                Comparison::AtLeast => value >= wanted,
                Comparison::AtMost => value <= wanted,
            },
            // Only equality is read of addresses.
            (Value::Address(value), Wanted::Network(address, bits)) => shares(value, address, bits),
            _ => false,
        }
    }
}
