//! What the program says: answers on standard output, all else on standard error.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// Prints an answer.
///
/// # Errors
/// When nobody takes it: the pipe is closed, the disk is full.
pub(crate) fn answer(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    printed.context("cannot write to standard output")
}

/// Prints a line on standard error. If nobody takes it, there is nobody to tell, and the work goes
/// on.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
