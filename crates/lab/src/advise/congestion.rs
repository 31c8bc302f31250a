//! The congestion control of a sender, and how that is known.

use serde::Serialize;

/// The congestion control of a sender, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Congestion {
    /// As Linux calls it; none where nothing decides.
    pub name: Option<String>,
    /// What says so, or why it is not known.
    pub basis: String,
}

impl Congestion {
    /// A name with its source.
    pub fn known(name: &str, basis: impl Into<String>) -> Congestion {
        Congestion { name: Some(name.into()), basis: basis.into() }
    }

    /// Why it is not known.
    pub fn unknown(why: impl Into<String>) -> Congestion {
        Congestion { name: None, basis: why.into() }
    }
}
