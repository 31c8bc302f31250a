//! Lines of JSON between a helper process and its caller.

use std::io::{self, Write};

/// One line to the caller. If the caller is gone, so is the reason to go on.
pub(crate) fn say(message: &impl serde::Serialize) {
    if io::stdout().write_all(line(message).as_bytes()).and_then(|()| io::stdout().flush()).is_err()
    {
        std::process::exit(2);
    }
}

/// A message as a line.
pub(crate) fn line(message: &impl serde::Serialize) -> String {
    serde_json::to_string(message).expect("plain data has a JSON form") + "\n"
}

/// The name of a plain enum value as its JSON has it.
pub(crate) fn serde_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
