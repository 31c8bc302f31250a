//! What a place is that a command cannot use, and which command can.

use std::env;
use std::error::Error as StdError;
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::Error;
use tcplab_actions::{embedded, preset};
use tcplab_capture::ReadError;
use tcplab_path::tc::quoted;
use tcplab_recording::RecordingError;
use tcplab_scenario::nearest;
use tcplab_trace::Filter;

/// What a file or directory is to tcplab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Scenario,
    Capture,
    Script,
    Run,
    Recording,
}

impl Kind {
    /// By its extension.
    pub(crate) fn by_name(path: &Path) -> Option<Kind> {
        match path.extension()?.to_str()? {
            "toml" => Some(Kind::Scenario),
            "pcap" | "pcapng" | "cap" => Some(Kind::Capture),
            "pkt" => Some(Kind::Script),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Scenario => "a scenario or path file",
            Kind::Capture => "a capture",
            Kind::Script => "a packetdrill script",
            Kind::Run => "a run directory",
            Kind::Recording => "a recording of a trial",
        }
    }

    /// What reads it.
    pub(crate) fn usage(self, typed: &str) -> String {
        let place = quoted(typed);
        match self {
            Kind::Scenario => format!("`tcplab run {place}` or `tcplab path show {place}`"),
            Kind::Capture | Kind::Recording => format!("`tcplab trace {place}`"),
            Kind::Script => format!("`tcplab packetdrill {place}`"),
            Kind::Run => {
                let trial = quoted(&format!("{typed}/trials/CASE-1"));
                format!("`tcplab report {place}`, or `tcplab trace {trial}`")
            }
        }
    }

    /// Whether a command takes it.
    fn is_for(self, command: &str) -> bool {
        let commands: &[&str] = match self {
            Kind::Scenario => &["run", "path", "shell", "bridge", "advise", "rfc6349", "fidelity"],
            Kind::Capture => &["trace", "compare", "export", "states", "advise"],
            Kind::Script => &["packetdrill"],
            Kind::Run => {
                &["run", "report", "plot", "compare", "export", "states", "advise", "clean"]
            }
            Kind::Recording => &["trace", "replay", "export", "states"],
        };
        commands.contains(&command)
    }
}

/// What is at this place.
pub(crate) fn kind_of(path: &Path) -> Option<Kind> {
    if path.is_dir() {
        let has = |name: &str| path.join(name).is_file();
        return match (has("plan.json"), has("client.pcapng")) {
            (true, _) => Some(Kind::Run),
            (_, true) => Some(Kind::Recording),
            _ => None,
        };
    }
    if !path.is_file() {
        return None;
    }
    let by_name = Kind::by_name(path).filter(|kind| *kind != Kind::Capture);
    by_name.or_else(|| tcplab_capture::open(path).is_ok().then_some(Kind::Capture))
}

/// The command for a file or directory of this command line that an error, in these words, is
/// about, and that is for another command. A full disk says nothing about what is on it.
pub(crate) fn other_command(error: &Error, said: &str) -> Option<String> {
    let is_full =
        |it: &io::Error| matches!(it.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    if error.chain().any(|cause| cause.downcast_ref().is_some_and(is_full)) {
        return None;
    }
    let (command, places) = named(said)?;
    places.into_iter().find_map(|place| {
        let kind = kind_of(Path::new(&place)).filter(|kind| !kind.is_for(&command))?;
        Some(format!("{place} is {}: {}", kind.name(), kind.usage(&place)))
    })
}

/// What to do about an error, in these words, that no command could mend.
pub(crate) fn remedy(error: &Error, said: &str) -> Option<String> {
    let unread = error.chain().find_map(<dyn StdError>::downcast_ref::<ReadError>);
    if let Some(remedy) = unread.and_then(ReadError::remedy) {
        return Some(remedy.into());
    }
    let refused = |kind: fn(ErrorKind) -> bool| {
        let is = |it: &io::Error| kind(it.kind());
        error.chain().any(|cause| cause.downcast_ref().is_some_and(is))
    };
    // Some errors name what is near themselves.
    if refused(|kind| kind != ErrorKind::NotFound) || said.contains("did you mean") {
        return None;
    }
    let is_missing = refused(|kind| kind == ErrorKind::NotFound)
        || error
            .chain()
            .any(|cause| matches!(cause.downcast_ref(), Some(RecordingError::Unfinished { .. })));
    let (command, places) = named(said)?;
    places.into_iter().find_map(|place| {
        let path = Path::new(&place);
        // The name of a preset or a built-in experiment is right.
        if path.exists() || preset(&place).is_some() || embedded(&place).is_some() {
            return None;
        }
        let other = Kind::by_name(path).filter(|kind| !kind.is_for(&command));
        let other = other.map(|kind| format!("for {}: {}", kind.name(), kind.usage(&place)));
        let check = || is_missing.then(|| "check the name and the directory".to_owned());
        let json = || {
            let is_json = typed().windows(2).any(|pair| pair[0] == "--json" && pair[1] == place);
            is_json.then(|| format!("write `{}`", quoted(&format!("--json={place}"))))
        };
        let is_filter = || command == "trace" && Filter::parse(&place).is_ok();
        let filter = || is_filter().then(|| format!("`--filter '{place}'` chooses packets"));
        json()
            .or_else(filter)
            .or_else(|| near(path).map(|near| format!("did you mean `{near}`?")))
            .or(other)
            .or_else(check)
    })
}

/// Whether an error has a word, not as a part of another.
fn repeats(error: &str, word: &str) -> bool {
    let is_apart = |at: usize| {
        let around = [error[..at].chars().next_back(), error[at + word.len()..].chars().next()];
        around.into_iter().flatten().all(|letter| !letter.is_alphanumeric())
    };
    error.match_indices(word).any(|(at, _)| is_apart(at))
}

/// The command, and its words that an error repeats.
fn named(error: &str) -> Option<(String, Vec<String>)> {
    let words = typed();
    let (command, rest) = words.split_first()?;
    let named = |word: &&String| !word.starts_with('-') && repeats(error, word);
    Some((command.clone(), rest.iter().filter(named).cloned().collect()))
}

/// Whether this command takes the newest run where none is named.
pub(crate) fn takes_newest_run() -> bool {
    typed().first().is_some_and(|command| ["run", "report"].contains(&command.as_str()))
}

/// The words behind the program's name.
fn typed() -> Vec<String> {
    env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The shortest name of a file that another is taken for, characters.
const SHORTEST: usize = 3;

/// A file or directory beside `path` with a similar name.
fn near(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir().ok()?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    // Any two short names are alike.
    let is_long = |name: &str| name.chars().count() >= SHORTEST;
    names.retain(|known| is_long(known) && known != name);
    names.sort();
    if !is_long(name) {
        return None;
    }
    // Without the extension, too.
    let stem = |known: &&String| Path::new(known).file_stem().is_some_and(|stem| stem == name);
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.or_else(|| names.iter().find(stem).map(String::as_str))?;
    Some(folder.map_or(near.to_owned(), |folder| folder.join(near).display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_of_a_word_is_no_word_of_the_command_line() {
        let error = "cannot tell the format of plots/x.gif: use FILE.svg";
        assert!(repeats(error, "plots/x.gif") && repeats(error, "plots"));
        assert!(!repeats(error, "plot") && !repeats(error, "x.gi"));
    }
}
