//! Refuses outputs that would replace a file that the command reads.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};

/// Options that name a file to write.
const OUTPUTS: [&str; 15] = [
    "json",
    "output",
    "csv",
    "svg",
    "html",
    "junit",
    "markdown",
    "write",
    "ladder_svg",
    "hex_svg",
    "annotate",
    "live_log",
    "export_csv",
    "export_json",
    "export_markdown",
];

/// Refuses a command line where one file is written and named for something else, too.
///
/// # Errors
/// What is wrong.
pub(super) fn refuse(tcplab: &Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let (mut command, mut matches) = (tcplab, matches);
    while let Some((name, below)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else { return Ok(()) };
        (command, matches) = (found, below);
    }
    let (mut written, mut read) = (Vec::new(), Vec::new());
    // The words of a program are its own.
    for argument in command.get_arguments().filter(|it| !it.is_last_set()) {
        let id = argument.get_id().as_str();
        let Ok(Some(values)) = matches.try_get_raw(id) else { continue };
        let files = values.filter_map(|given| Some((given, file(given)?)));
        if OUTPUTS.contains(&id) {
            let option = argument.get_long().unwrap_or(id);
            written.extend(files.map(|(given, file)| (option, given, file)));
        } else {
            read.extend(files.map(|(_, file)| file));
        }
    }
    match written.iter().find(|(.., file)| read.contains(file)) {
        Some((option, given, _)) => {
            let given = given.display();
            let said = format!("--{option} would overwrite the input {given}: choose another file");
            Err(clap::Error::raw(ErrorKind::ValueValidation, said + "\n"))
        }
        None => Ok(()),
    }
}

/// The only name of a file that is there.
fn file(value: &OsStr) -> Option<PathBuf> {
    let place = Path::new(value);
    let is_file = fs::metadata(place).is_ok_and(|there| there.is_file());
    is_file.then(|| place.canonicalize().ok()).flatten()
}
