//! `make same-packets`: whether the catalogue in virtual time still sends the same packets.
//!
//! Runs one trial of each case and compares, with the list in `corpus/packets.txt`, a hash of
//! every frame at both ends (time, direction, bytes; comments aside) and of the path's verdict on
//! every packet. `TCPLAB_BLESS=1` writes the list; `BENCH="flows/"` takes scenarios by how their
//! names begin.

#![expect(clippy::print_stdout, reason = "a table for whoever runs it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use tcplab_capture::Reader;
use tcplab_recording::Recording;
use tcplab_units::Endpoint;

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/packets.txt");

type Error = Box<dyn std::error::Error>;

/// A hash for each trial, by scenario and trial.
type Hashes = BTreeMap<String, String>;

fn main() -> Result<ExitCode, Error> {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|it| name.starts_with(it));
    let known = parse(&fs::read_to_string(LIST).unwrap_or_default());
    let mut now = Hashes::new();
    let mut different = 0;
    for (name, _) in tcplab_scenario::catalogue().iter().filter(|(name, _)| is_asked(name)) {
        let found = hashes(name)?;
        let before: Vec<_> = known.range(format!("{name} ")..format!("{name}!")).collect();
        let same = before.iter().filter(|(trial, hash)| found.get(*trial) == Some(hash)).count();
        let is_same = same == before.len() && same == found.len();
        different += usize::from(!is_same);
        let mark = if is_same { '✓' } else { '✗' };
        println!("{mark} {name}: {same} of {} trials are the same", found.len().max(before.len()));
        now.extend(found);
    }
    if std::env::var_os("TCPLAB_BLESS").is_some() {
        let all: Hashes = known.into_iter().chain(now).collect();
        let lines = all.iter().map(|(trial, hash)| format!("{trial} {hash}\n"));
        fs::write(LIST, lines.collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    println!("{different} scenarios differ from corpus/packets.txt");
    Ok(if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse(list: &str) -> Hashes {
    let pairs = list.lines().filter_map(|line| line.rsplit_once(' '));
    pairs.map(|(trial, hash)| (trial.into(), hash.into())).collect()
}

/// Runs a scenario and hashes its trials; none where it cannot run in virtual time.
fn hashes(name: &str) -> Result<Hashes, Error> {
    let place = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target"))?;
    Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .args(["run", name, "--world", "sim", "--trials", "1", "--runs"])
        .arg(place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let mut found = Hashes::new();
    for trial in recordings(place.path())? {
        let case = trial.file_name().unwrap_or_default().to_string_lossy();
        let hash = hash_recording(&Recording::open(&trial)?)?;
        found.insert(format!("{name} {case}"), hash);
    }
    Ok(found)
}

/// The recordings with packets below `directory`.
fn recordings(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    if Recording::open(directory).is_ok_and(|recording| recording.has_packets()) {
        return Ok(vec![directory.into()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(recordings(&path)?);
        }
    }
    Ok(found)
}

fn hash_recording(recording: &Recording) -> Result<String, Error> {
    let mut hasher = blake3::Hasher::new();
    for endpoint in Endpoint::BOTH {
        let mut reader = Reader::new(recording.capture(endpoint)?.1)?;
        while let Some(record) = reader.next_record()? {
            let head =
                format!("{:?} {:?} {}\n", record.time, record.direction(), record.original_len);
            hasher.update(head.as_bytes());
            hasher.update(record.captured);
        }
    }
    for row in recording.truth_rows()? {
        let row = row?;
        hasher.update(serde_json::to_string(&(row.frame, &row.verdict))?.as_bytes());
    }
    Ok(hasher.finalize().to_hex()[..16].into())
}
