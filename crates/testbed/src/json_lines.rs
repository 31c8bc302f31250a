//! Lines of JSON to another process.

use std::io::{self, Write};

use serde::Serialize;

/// Writes one line.
pub(crate) fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(message).expect("plain data has a JSON form");
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}
