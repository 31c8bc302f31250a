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
    pub(super) fn add(&mut self, interface: Interface) {
        self.interfaces.push(interface);
        self.statistics.push(None);
    }
}
