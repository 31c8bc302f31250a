//! Latency to a host: measured by a command, kept as its files, opened again.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tcplab_recording::make_private_directories;

use super::from_address::FromQuery;
use super::wishes::within;
use crate::error::Refusal;
use crate::places::below;
use crate::state::{Ui, aside};

/// Where results are kept, below the directory of all runs.
const RESULTS: &str = ".latency";
/// Results in a list, the latest.
const LISTED: usize = 200;
/// The longest result, bytes: its series has at most 4,096 points.
const LONGEST: u64 = 16 << 20;
/// The longest name of a host, bytes (RFC 1035, section 3.1).
const HOST: usize = 253;
/// `--duration` of what is stopped by hand: the longest that there is.
const UNTIL_STOPPED: &str = "8784h";

/// Latency to a server of the service `latency`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatencyWish {
    host: String,
    port: u16,
    /// None: until it is stopped.
    seconds: Option<f64>,
    /// Between two probes.
    interval_ms: u32,
    /// When a probe counts as lost.
    timeout_ms: Option<u32>,
    #[serde(default)]
    clocks: Clocks,
    load: Option<BesideWish>,
    third: Option<ThirdWish>,
}

/// A third host that measures meanwhile: it waits for requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThirdWish {
    host: String,
    port: u16,
}

/// Data that is carried meanwhile.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BesideWish {
    /// Of a discard server on the same host.
    upload_port: Option<u16>,
    /// Of a chargen server there.
    download_port: Option<u16>,
    connections: u32,
    /// Before it begins.
    idle_seconds: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Clocks {
    #[default]
    Auto,
    Same,
    Separate,
}

impl LatencyWish {
    /// The command, which keeps its result below `runs`.
    pub(super) fn arguments(&self, runs: &Path) -> Result<Vec<String>, Refusal> {
        let mut arguments = vec!["latency".to_owned(), authority(&self.host, self.port)?];
        arguments.push(within("interval", self.interval_ms, 1..=60_000)? + "ms");
        match self.seconds {
            None => arguments.push(format!("--duration={UNTIL_STOPPED}")),
            Some(seconds) if (0.1..=86_400.0 * 366.0).contains(&seconds) => {
                arguments.push(format!("--duration={seconds}s"));
            }
            Some(_) => return Err(Refusal::bad("a measurement takes 0.1 s to 366 days")),
        }
        let timeout = self.timeout_ms.map(|it| within("timeout", it, 10..=3_600_000));
        arguments.extend(timeout.transpose()?.map(|it| it + "ms"));
        match self.clocks {
            Clocks::Auto => {}
            Clocks::Same => arguments.push("--clocks=same".into()),
            Clocks::Separate => arguments.push("--clocks=separate".into()),
        }
        if let Some(load) = &self.load {
            arguments.extend(load.arguments(&self.host)?);
        }
        if let Some(third) = &self.third {
            arguments.push(format!("--third={}", authority(&third.host, third.port)?));
        }
        let place = runs.join(RESULTS);
        make_private_directories(&place).map_err(|error| {
            Refusal::failed(format!("cannot make {}: {error}", place.display()))
        })?;
        let name = place.join(self.name());
        for ending in ["json", "svg", "csv"] {
            arguments.push(format!("--{ending}={}.{ending}", name.display()));
        }
        Ok(arguments)
    }

    /// What its files are called: host, port, and milliseconds since 1970, each given once.
    fn name(&self) -> String {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let is_plain = |it: char| it.is_ascii_alphanumeric() || ".-".contains(it);
        let host: String =
            self.host.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
        // A name of a file has at most 255 bytes.
        let host = &host[..host.len().min(100)];
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let next = |last: u64| (now.as_millis() as u64).max(last + 1);
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        format!("{host}_{}-{}", self.port, next(last.unwrap_or_default()))
    }
}

impl BesideWish {
    fn arguments(&self, host: &str) -> Result<Vec<String>, Refusal> {
        let ports = [("--upload", self.upload_port), ("--download", self.download_port)];
        let given = ports.iter().filter_map(|(flag, port)| Some((flag, (*port)?)));
        let mut arguments: Vec<String> = given
            .map(|(flag, port)| Ok(format!("{flag}={}", authority(host, port)?)))
            .collect::<Result<_, Refusal>>()?;
        if arguments.is_empty() {
            return Err(Refusal::bad("a load needs the port of a discard or a chargen server"));
        }
        arguments.push(within("connections", self.connections, 1..=64)?);
        if !(0.01..=3_600.0).contains(&self.idle_seconds) {
            return Err(Refusal::bad("the part without load takes 0.01 s to an hour"));
        }
        arguments.push(format!("--idle={}s", self.idle_seconds));
        Ok(arguments)
    }
}

/// `HOST:PORT`: nothing but what a name or an address has, so it is no flag.
fn authority(host: &str, port: u16) -> Result<String, Refusal> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._:%".contains(it);
    if host.is_empty() || host.len() > HOST || host.starts_with('-') || !host.chars().all(is_plain)
    {
        return Err(Refusal::bad(
            "a host is a name or an address, with letters, digits, `-`, `.` and `:` only (names in \
             other scripts as xn--…)",
        ));
    }
    if port == 0 {
        return Err(Refusal::bad("a port is 1 to 65535"));
    }
    // Only addresses of IPv6 have colons.
    if host.contains(':') { Ok(format!("[{host}]:{port}")) } else { Ok(format!("{host}:{port}")) }
}

/// A result, by the name of its files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    name: String,
}

/// A file of a result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedFile {
    name: String,
    #[serde(rename = "as")]
    ending: Ending,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ending {
    Json,
    Svg,
    Csv,
}

impl Ending {
    const ALL: [Ending; 3] = [Ending::Json, Ending::Svg, Ending::Csv];

    fn name(self) -> &'static str {
        match self {
            Ending::Json => "json",
            Ending::Svg => "svg",
            Ending::Csv => "csv",
        }
    }
}

/// The file of a result.
fn place(ui: &Ui, name: &str, ending: Ending) -> Result<PathBuf, Refusal> {
    let results = ui.runs.join(RESULTS);
    // None of another directory below it, and none that is hidden.
    if name.contains('/') || name.starts_with('.') {
        return Err(Refusal::missing(format!("there is no result {name}")));
    }
    below(&results, &format!("{name}.{}", ending.name()))
        .map_err(|refusal| Refusal { what: format!("no such result: {}", refusal.what), ..refusal })
}

/// The results that are kept, the latest first.
pub(super) async fn list(State(ui): State<Arc<Ui>>) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let entries = fs::read_dir(ui.runs.join(RESULTS)).into_iter().flatten().flatten();
        let mut results: Vec<(u64, String, u64)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let name = name.strip_suffix(".json")?.to_owned();
                let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                let changed = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
                (!name.starts_with('.')).then_some((changed.as_millis() as u64, name, about.len()))
            })
            .collect();
        results.sort_unstable_by(|one, other| other.cmp(one));
        results.truncate(LISTED);
        let shown = |(changed, name, bytes): (u64, String, u64)| {
            json!({ "name": name, "changed_ms": changed, "bytes": bytes })
        };
        let results: Vec<Value> = results.into_iter().map(shown).collect();
        Ok(Json(json!({ "results": results })))
    })
    .await
}

/// A result, as `tcplab latency --json` wrote it.
pub(super) async fn one(
    State(ui): State<Arc<Ui>>,
    FromQuery(Named { name }): FromQuery<Named>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        let text = read(&place(&ui, &name, Ending::Json)?)?;
        let result: Value = serde_json::from_slice(&text)
            .map_err(|error| Refusal::bad(format!("{name} is no result: {error}")))?;
        if result["schema"] != "tcplab.latency" {
            return Err(Refusal::bad(format!("{name} is no result of `tcplab latency`")));
        }
        Ok(Json(result))
    })
    .await
}

/// A file of a result, to be saved.
pub(super) async fn file(
    State(ui): State<Arc<Ui>>,
    FromQuery(NamedFile { name, ending }): FromQuery<NamedFile>,
) -> Result<Response, Refusal> {
    aside(move || {
        let path = place(&ui, &name, ending)?;
        let text = read(&path)?;
        // Names that this server gave have plain letters only; others were put there by hand.
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
        let plain: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
        let headers = [
            (CONTENT_TYPE, "application/octet-stream".to_owned()),
            (CONTENT_DISPOSITION, format!("attachment; filename=\"{plain}.{}\"", ending.name())),
        ];
        Ok((headers, text).into_response())
    })
    .await
}

/// Removes a result for good.
pub(super) async fn remove(
    State(ui): State<Arc<Ui>>,
    FromQuery(Named { name }): FromQuery<Named>,
) -> Result<Json<Value>, Refusal> {
    aside(move || {
        place(&ui, &name, Ending::Json)?;
        for ending in Ending::ALL {
            // One that is not there need not be removed.
            let Ok(path) = place(&ui, &name, ending) else { continue };
            fs::remove_file(&path).map_err(|error| {
                Refusal::failed(format!("cannot remove {}: {error}", path.display()))
            })?;
        }
        Ok(Json(json!({ "removed": name })))
    })
    .await
}

fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text));
    read.map_err(|error| Refusal::failed(format!("cannot read {}: {error}", path.display())))?;
    if text.len() as u64 > LONGEST {
        return Err(Refusal::bad(format!("{} is too long for a result", path.display())));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_a_name_or_an_address() {
        for (host, wanted) in [
            ("192.0.2.1", "192.0.2.1:7"),
            ("a-b.example", "a-b.example:7"),
            ("fe80::1%eth0", "[fe80::1%eth0]:7"),
        ] {
            assert_eq!(authority(host, 7).unwrap(), wanted);
        }
        for host in [
            "",
            "--json=/etc/x",
            "a b",
            "<b>",
            "a/b",
            "user@host",
            "[::1]",
            "a\n",
            "münchen.example",
        ] {
            assert!(authority(host, 7).is_err(), "{host}");
        }
        assert!(authority(&"x".repeat(300), 7).is_err() && authority("a", 0).is_err());
    }

    #[test]
    fn command_keeps_its_files() {
        let runs = tempfile::tempdir().unwrap();
        let wish: LatencyWish = serde_json::from_value(json!({
            "host": "::1", "port": 5195, "seconds": 0.5, "interval_ms": 10, "timeout_ms": 500,
            "clocks": "separate",
            "load": { "upload_port": 9, "connections": 2, "idle_seconds": 0.25 },
            "third": { "host": "192.0.2.7", "port": 5196 },
        }))
        .unwrap();
        let arguments = wish.arguments(runs.path()).unwrap();
        let wanted = [
            "latency",
            "[::1]:5195",
            "--interval=10ms",
            "--duration=0.5s",
            "--timeout=500ms",
            "--clocks=separate",
            "--upload=[::1]:9",
            "--connections=2",
            "--idle=0.25s",
            "--third=192.0.2.7:5196",
        ];
        assert_eq!(arguments[..wanted.len()], wanted);
        let files = &arguments[wanted.len()..];
        let place = runs.path().join(".latency/__1_5195-").display().to_string();
        for (file, ending) in files.iter().zip(["json", "svg", "csv"]) {
            assert!(file.starts_with(&format!("--{ending}={place}")), "{file}");
            assert!(file.ends_with(&format!(".{ending}")), "{file}");
        }
        // Also of another one at once.
        let names = [wish.name(), wish.name()];
        assert!(names[0] != names[1] && !arguments.iter().any(|it| it.contains(&names[0])));
        let endless = LatencyWish { seconds: None, load: None, ..wish };
        assert!(endless.arguments(runs.path()).unwrap().contains(&"--duration=8784h".to_owned()));
    }
}
