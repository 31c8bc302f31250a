//! Lines of JSON between a helper process and its caller.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use crate::json_lines::send;
use crate::{TrialError, threads};

/// Reads lines in a thread of its own, until the end or one that is no such message.
///
/// # Errors
/// When there can be no such thread.
pub(crate) fn receive<M: DeserializeOwned + Send + 'static>(
    from: impl Read + Send + 'static,
) -> Result<Receiver<M>, TrialError> {
    let (sender, messages) = mpsc::channel();
    threads::start("a thread that reads messages", move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice(line.as_bytes()) else { break };
            if sender.send(message).is_err() {
                break;
            }
        }
    })?;
    Ok(messages)
}

/// Reads the task of a helper process, one line of its standard input.
pub(crate) fn read_task<T: DeserializeOwned>() -> Result<T, TrialError> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(TrialError::setup("read the request"))?;
    serde_json::from_slice(line.as_bytes())
        .map_err(|error| TrialError::setup("understand the request")(error.into()))
}

/// One line to the caller. If the caller is gone, so is the reason to go on.
pub(crate) fn say(message: &impl Serialize) {
    if send(io::stdout(), message).is_err() {
        std::process::exit(2);
    }
}

/// The name of a plain enum value as its JSON has it.
pub(crate) fn serde_name(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
