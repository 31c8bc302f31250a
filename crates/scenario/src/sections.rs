//! The sections of the scenario file.

/// The keys at the top of a scenario file.
pub(crate) const SECTIONS: &[&str] = &[
    "title",
    "reference",
    "question",
    "question_factor",
    "question_metric",
    "path",
    "second_path",
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

/// Those that can differ between cases.
pub(crate) const VARIED_SECTIONS: &[&str] =
    &["path", "second_path", "client", "server", "workload", "flow", "sampling", "limits"];
