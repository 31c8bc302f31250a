//! What a place is that a command cannot use, and which command can.

use std::env;
use std::path::Path;

use tcplab_scenario::nearest;

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
    pub(crate) fn usage(self, place: &str) -> String {
        match self {
            Kind::Scenario => format!("`tcplab run {place}` or `tcplab path show {place}`"),
            Kind::Capture => format!("`tcplab trace {place}`"),
            Kind::Script => format!("`tcplab packetdrill {place}`"),
            Kind::Run => format!(
                "`tcplab report {place}`, or `tcplab trace {place}/trials/CASE-1/client.pcapng`"
            ),
            Kind::Recording => format!("`tcplab trace {place}/client.pcapng`"),
        }
    }

    /// Whether a command takes it.
    fn is_for(self, command: &str) -> bool {
        let commands: &[&str] = match self {
            Kind::Scenario => &["run", "path", "shell", "bridge", "advise", "rfc6349", "fidelity"],
            Kind::Capture => &["trace", "compare", "export", "states", "advise"],
            Kind::Script => &["packetdrill"],
            Kind::Run => &["run", "report", "compare", "export", "states", "advise"],
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

/// What to do about an error that names a place of this command line: another command, a file with
/// a similar name.
pub(crate) fn remedy(error: &str) -> Option<String> {
    if error.contains("not a capture: it begins") {
        let captures =
            "pass a pcap, pcapng, snoop, Network Monitor or ERF file, plain, gzip or zstd";
        return Some(of_places(error).unwrap_or_else(|| captures.into()));
    }
    if error.contains("not a capture: it is empty") {
        return Some(
            "nothing was captured: capture again, such as with `tcplab trace -i IFACE -w FILE`"
                .into(),
        );
    }
    of_places(error)
}

fn of_places(error: &str) -> Option<String> {
    let mut words = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let command = words.next()?;
    words.filter(|word| !word.starts_with('-') && error.contains(word.as_str())).find_map(|word| {
        let path = Path::new(&word);
        if path.exists() {
            let kind = kind_of(path).filter(|kind| !kind.is_for(&command))?;
            return Some(format!("{word} is {}: {}", kind.name(), kind.usage(&word)));
        }
        let other = Kind::by_name(path).filter(|kind| !kind.is_for(&command));
        let other = other.map(|kind| format!("for {}: {}", kind.name(), kind.usage(&word)));
        let is_missing =
            ["No such file", "incomplete recording"].iter().any(|it| error.contains(it));
        let check = || is_missing.then(|| "check the name and the directory".to_owned());
        near(path).map(|near| format!("did you mean `{near}`?")).or(other).or_else(check)
    })
}

/// A file or directory beside `path` with a similar name.
fn near(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir().ok()?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    // Without the extension, too.
    let stem = |known: &&String| Path::new(known).file_stem().is_some_and(|stem| stem == name);
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.or_else(|| names.iter().find(stem).map(String::as_str))?;
    Some(folder.map_or(near.to_owned(), |folder| folder.join(near).display().to_string()))
}
