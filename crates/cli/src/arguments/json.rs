//! `--json` and `--runs`, equal in all commands.

use std::path::PathBuf;

use clap::Args;

/// Where run directories are created and looked for.
pub(crate) const RUNS: &str = "runs";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct JsonArguments {
    /// Print JSON instead of text, or write it to FILE
    #[arg(id = "json", long = "json", value_name = "FILE")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) place: Option<PathBuf>,
}

/// Where a command that runs trials writes.
#[derive(Debug, Args)]
pub(crate) struct ResultArguments {
    /// Create run directories here
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub(crate) runs: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArguments,
}

impl JsonArguments {
    /// Whether JSON takes the place of text on standard output.
    pub(crate) fn is_printed(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.as_os_str() == "-")
    }
}
