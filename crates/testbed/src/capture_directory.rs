//! Where a shell or a bridge records.

use std::path::Path;

use tcplab_recording::make_private_directories;

use crate::TrialError;

/// Makes the directory of a recording, which must not exist yet or be empty.
///
/// # Errors
/// When it has something in it, or cannot be made.
pub fn prepare_capture(directory: &Path) -> Result<(), TrialError> {
    let name = directory.display();
    make_private_directories(directory)
        .map_err(TrialError::setup(format!("make the directory {name}")))?;
    let mut entries =
        std::fs::read_dir(directory).map_err(TrialError::setup(format!("look into {name}")))?;
    if entries.next().is_some() {
        return Err(TrialError::reported(
            format!("{name} is not empty"),
            "name a directory that does not exist yet for --capture",
        ));
    }
    Ok(())
}
