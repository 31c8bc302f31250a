//! `--annotate`.

use clap::ValueEnum;

/// Whose annotations are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Annotations {
    /// Workflow commands of GitHub Actions: `::error title=…::…`
    Github,
}
