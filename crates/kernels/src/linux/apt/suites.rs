//! Suites of Debian.

/// Debian's suites that may have a source, and the version of Linux that a release came with.
pub(crate) const SUITES: [(&str, Option<&str>); 5] = [
    ("sid", None),
    ("trixie-backports", None),
    ("trixie", Some("6.12")),
    ("bookworm", Some("6.1")),
    ("bullseye", Some("5.10")),
];

/// What suites of Debian's mirrors begin with.
pub(crate) const CODENAMES: [&str; 10] = [
    "sid",
    "unstable",
    "testing",
    "stable",
    "oldstable",
    "oldoldstable",
    "forky",
    "trixie",
    "bookworm",
    "bullseye",
];
