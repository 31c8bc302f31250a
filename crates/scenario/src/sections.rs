//! The sections of the scenario file.

/// What a file can have at its top.
pub(crate) const SECTIONS: &[&str] = &[
    "title",
    "reference",
    "path",
    "client",
    "server",
    "workload",
    "flow",
    "matrix",
    "design",
    "repeat",
    "recording",
    "sampling",
    "limits",
    "plot",
    "compare",
    "expect",
];

/// Of these, what can differ from case to case.
pub(crate) const VARIED_SECTIONS: &[&str] =
    &["path", "client", "server", "workload", "flow", "sampling", "limits"];
