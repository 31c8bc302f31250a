//! What kernels in virtual time print beside a trial.

use std::fs;
use std::path::{Path, PathBuf};

use tcplab_guests::Console;
use tcplab_recording::RecordingError;
use tcplab_units::visible_line;

/// The hosts that a trial has: two, or one that has both ends.
const HOSTS: [&str; 3] = ["client", "server", "host"];
/// What a kernel begins its complaints with.
const COMPLAINTS: [&str; 3] = ["WARNING:", "BUG:", "Oops"];

/// Writes what is not usual of a host's console beside its trial, if there is anything.
pub(super) fn write(directory: &Path, host: &str, console: &Console) -> Result<(), RecordingError> {
    let (text, path) = (console.unusual(), file(directory, host));
    if text.is_empty() {
        return Ok(());
    }
    fs::write(&path, text).map_err(|source| RecordingError::File { verb: "write", path, source })
}

/// The first complaint of each kernel of a trial, a sentence each.
pub(super) fn complaints(directory: &Path) -> Vec<String> {
    let of = |host: &str| {
        let path = file(directory, host);
        let text = fs::read_to_string(&path).ok()?;
        let is_complaint = |line: &&str| COMPLAINTS.iter().any(|it| line.contains(it));
        let line = text.lines().find(is_complaint)?;
        Some(format!("the {host}'s kernel says `{}` ({})", visible_line(line), path.display()))
    };
    HOSTS.into_iter().filter_map(of).collect()
}

/// Moves the consoles of a trial that is not kept to the run's directory.
pub(super) fn keep(stage: &Path, run: &Path) {
    for host in HOSTS {
        // Most trials have none.
        let _ = fs::rename(file(stage, host), file(run, host));
    }
}

/// What kernels printed in a trial for which a run ended.
pub fn consoles(run: &Path) -> Vec<PathBuf> {
    let paths = HOSTS.into_iter().map(|host| file(run, host));
    paths.filter(|path| path.is_file()).collect()
}

fn file(directory: &Path, host: &str) -> PathBuf {
    directory.join(format!("{host}.console"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaint_of_a_kernel_is_found_and_kept() {
        let run = tempfile::tempdir().unwrap();
        let stage = run.path().join("stage");
        fs::create_dir(&stage).unwrap();
        assert_eq!((complaints(&stage), consoles(run.path())), (vec![], vec![]));
        let text = "tcplab: hello\nWARNING: CPU: 0 PID: 1 at net/ipv4/tcp.c:7 f+0x1/0x2\nCPU: 0\n";
        fs::write(stage.join("server.console"), text).unwrap();
        fs::write(stage.join("client.console"), "tcplab: hello\n").unwrap();
        let found = complaints(&stage);
        assert_eq!(found.len(), 1);
        let begins = "the server's kernel says `WARNING: CPU: 0 PID: 1 at net/ipv4/tcp.c:7 ";
        assert!(found[0].starts_with(begins), "{found:?}");
        keep(&stage, run.path());
        let names = ["client", "server"].map(|host| file(run.path(), host));
        assert_eq!(consoles(run.path()), names);
    }
}
