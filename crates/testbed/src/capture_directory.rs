//! Where a shell or a bridge records.

use std::path::Path;

use tcplab_recording::{make_private_directories, room_for_files};

use crate::TrialError;

const ANOTHER: &str = "name a directory that does not exist yet for --capture";

/// Makes the directory of a recording, which must not exist yet or be empty.
///
/// # Errors
/// When it has something in it, or cannot be made.
pub fn prepare_capture(directory: &Path) -> Result<(), TrialError> {
    let name = directory.display();
    make_private_directories(directory).map_err(|error| {
        let remedy = room_for_files(&error, "--capture").unwrap_or_else(|| ANOTHER.into());
        let message = format!("cannot make the directory {name}: {error}");
        TrialError::Reported { message, remedy: Some(remedy) }
    })?;
    let mut entries =
        std::fs::read_dir(directory).map_err(TrialError::setup(format!("look into {name}")))?;
    if entries.next().is_some() {
        return Err(TrialError::reported(format!("{name} is not empty"), ANOTHER));
    }
    Ok(())
}
