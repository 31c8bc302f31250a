//! The interfaces of a capture.

use crate::{Interface, Statistics};

/// The interfaces that a file has described so far.
#[derive(Debug, Default)]
pub(super) struct Interfaces {
    pub(super) interfaces: Vec<Interface>,
    /// One for each interface.
    pub(super) statistics: Vec<Option<Statistics>>,
}

impl Interfaces {
    /// The most interfaces of a pcapng file: more than any machine has, or any merge of captures.
    /// Each is kept until the end, and tables have a column of them.
    pub(super) const MOST: usize = 65_536;
    /// The longest name or description in bytes that is kept; Linux has at most 15 and 256.
    pub(super) const LONGEST_TEXT: usize = 1024;

    pub(super) fn add(&mut self, interface: Interface) {
        self.interfaces.push(interface);
        self.statistics.push(None);
    }
}
