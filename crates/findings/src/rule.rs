//! What a rule is.

use tcplab_trace::Connection;

use crate::direction::Direction;
use crate::finding::Finding;

/// A rule applied to every connection.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Whether it reads packets or recovery episodes: with sums alone it finds nothing.
    pub needs_packets: bool,
    pub(crate) test: Test,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Test {
    /// At most one finding for each direction.
    Directions(fn(&Direction<'_>) -> Option<Finding>),
    /// At most one finding.
    Connection(fn(&Connection) -> Option<Finding>),
    /// Any number of findings.
    Any(fn(&Connection) -> Vec<Finding>),
}

impl Rule {
    pub(crate) const fn of_directions(
        name: &'static str,
        test: fn(&Direction<'_>) -> Option<Finding>,
    ) -> Rule {
        Rule { name, needs_packets: false, test: Test::Directions(test) }
    }
    pub(crate) const fn of_connection(
        name: &'static str,
        test: fn(&Connection) -> Option<Finding>,
    ) -> Rule {
        Rule { name, needs_packets: false, test: Test::Connection(test) }
    }

    /// Applies it.
    pub fn examine(&self, connection: &Connection) -> Vec<Finding> {
        match self.test {
            Test::Directions(test) => Direction::both(connection).iter().filter_map(test).collect(),
            Test::Connection(test) => test(connection).into_iter().collect(),
            Test::Any(test) => test(connection),
        }
    }
}
