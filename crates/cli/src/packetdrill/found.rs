//! The scripts that a command line names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A script.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// Its topic, from its directory or name.
    pub(super) topic: String,
}

/// All scripts in the order of the command line; those of a directory sorted by name.
pub(super) fn scripts(given: &[PathBuf]) -> Result<Vec<Found>> {
    let mut all = Vec::new();
    for path in given {
        let named = || path.display().to_string();
        if fs::metadata(path).with_context(named)?.is_dir() {
            let mut below = Vec::new();
            search(path, &mut below).with_context(named)?;
            if below.is_empty() {
                bail!("{}: no scripts (*.pkt) in this directory", path.display());
            }
            below.sort();
            all.extend(below.into_iter().map(|script| {
                let folder = script.parent().and_then(|folder| folder.strip_prefix(path).ok());
                let topic = topic(folder, &script);
                Found { path: script, topic }
            }));
        } else {
            let topic = topic(None, path);
            all.push(Found { path: path.clone(), topic });
        }
    }
    Ok(all)
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    Ok(())
}

/// The directory below the one on the command line; for scripts directly in it, the first part of
/// the name: `tcp_slow_start` of `tcp_slow_start_slow-start-after-idle` (Linux's selftests join
/// directory and name), or else two words.
fn topic(folder: Option<&Path>, script: &Path) -> String {
    if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
        return folder.display().to_string();
    }
    let name = script.file_stem().unwrap_or_default().to_string_lossy();
    let stem = name.split('-').next().unwrap_or_default();
    let joined =
        if name.contains('-') { stem.rsplit_once('_').map(|(topic, _)| topic) } else { None };
    if let Some(topic) = joined.filter(|topic| topic.contains('_')) {
        return topic.to_owned();
    }
    let words: Vec<&str> = stem.split('_').take(2).collect();
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_is_directory_or_start_of_name() {
        for (folder, script, expected) in [
            (Some("tcp/close"), "a/tcp/close/close-on-syn-sent.pkt", "tcp/close"),
            (Some(""), "a/tcp_slow_start_slow-start-after-idle.pkt", "tcp_slow_start"),
            (Some(""), "a/tcp_fastopen_server_basic-rw.pkt", "tcp_fastopen_server"),
            (Some(""), "a/tcp_ooo-before-and-after-accept.pkt", "tcp_ooo"),
            (Some(""), "a/tcp_accecn_2nd_data_as_first.pkt", "tcp_accecn"),
            (Some(""), "a/tcp_zerocopy_basic.pkt", "tcp_zerocopy"),
            (None, "close-wait.pkt", "close"),
            (None, "simple.pkt", "simple"),
        ] {
            assert_eq!(topic(folder.map(Path::new), Path::new(script)), expected);
        }
    }
}
