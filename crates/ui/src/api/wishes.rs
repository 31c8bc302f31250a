//! Jobs that are no run of a scenario, as commands: advice, tests of a path, load.
//!
//! A value never becomes a flag: it is checked, and written as `--flag=value`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use tcplab_actions::{preset, read_path};
use tcplab_recording::make_private_directories;
use tcplab_units::{Bytes, Probability, Rate, ServerDesign, Span};

use crate::error::Refusal;
use crate::places::run_directory;
use crate::state::Ui;

/// Keys of a path that can be set.
const KEYS: [&str; 4] = ["rate", "delay", "loss", "queue"];
/// The longest value, bytes.
const VALUE: usize = 40;
/// The longest address of a server, bytes.
const URL: usize = 300;
/// Sizes of messages and files, bytes.
const SIZES: RangeInclusive<u32> = 1..=10_000_000;

/// Settings for a path, and what they gain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdviceWish {
    from: Subject,
    #[serde(default)]
    goal: Goal,
    /// `netburner`.
    stack: Option<Embedded>,
    payload: Option<String>,
    congestion: Option<String>,
    trials: Option<u32>,
    #[serde(default)]
    world: World,
}

/// What advice is asked for.
#[derive(Debug, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
enum Subject {
    Path(PathWish),
    Figures { rtt: String, rate: Option<String>, loss: Option<String>, queue: Option<String> },
    Capture { id: String, file: Option<String> },
    Run { run: String },
}

/// A path by name, with some keys set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathWish {
    /// None: an empty path.
    preset: Option<String>,
    #[serde(default)]
    set: BTreeMap<String, String>,
}

/// A test by RFC 6349.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rfc6349Wish {
    of: Tested,
    #[serde(default)]
    download: bool,
    seconds: Option<f64>,
    trials: Option<u32>,
    connections: Option<u32>,
    congestion: Option<String>,
    #[serde(default)]
    world: World,
}

/// Load on test servers of this machine, or on a server that is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadWish {
    on: Loaded,
    connections: u32,
    seconds: u32,
    /// Requests a second over all connections; none: as fast as answers come.
    rate: Option<f64>,
    #[serde(default)]
    no_keep_alive: bool,
    threads: Option<u32>,
}

/// What is loaded.
#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", deny_unknown_fields)]
enum Loaded {
    /// Servers of these designs, one after the other, which echo messages or serve a file of that
    /// size over HTTP.
    Servers {
        designs: Vec<String>,
        bytes: u32,
        #[serde(default)]
        http: bool,
    },
    Url {
        url: String,
    },
}

/// What is tested.
#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case", deny_unknown_fields)]
enum Tested {
    Path(PathWish),
    /// The path to a discard server.
    Target {
        address: String,
    },
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Goal {
    Throughput,
    Latency,
    #[default]
    Both,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Embedded {
    Netburner,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum World {
    #[default]
    Auto,
    Kernel,
    Sim,
}

impl AdviceWish {
    /// The command.
    pub(super) fn arguments(&self, ui: &Ui) -> Result<Vec<String>, Refusal> {
        let mut arguments = vec!["advise".to_owned()];
        match &self.from {
            Subject::Path(path) => arguments.extend(path.arguments()?),
            Subject::Figures { rtt, rate, loss, queue } => {
                arguments.push(quantity::<Span>("rtt", rtt)?);
                arguments.extend(rate.as_ref().map(|it| quantity::<Rate>("rate", it)).transpose()?);
                let loss = loss.as_ref().map(|it| quantity::<Probability>("loss", it));
                arguments.extend(loss.transpose()?);
                if queue.is_some() && rate.is_none() {
                    return Err(Refusal::bad("a queueing delay needs the rate of the bottleneck"));
                }
                let queue = queue.as_ref().map(|it| quantity::<Span>("queue", it));
                arguments.extend(queue.transpose()?);
            }
            Subject::Capture { id, file } => {
                let path = ui.captures.capture(id)?.path_of(file.as_deref())?;
                arguments.push(path.display().to_string());
            }
            Subject::Run { run } => {
                arguments.push(run_directory(&ui.runs, run)?.display().to_string());
            }
        }
        arguments.push(format!("--goal={}", self.goal.name()));
        if let Some(Embedded::Netburner) = self.stack {
            arguments.push("--stack=netburner".into());
        }
        let payload = self.payload.as_ref().map(|it| quantity::<Bytes>("payload", it));
        arguments.extend(payload.transpose()?);
        arguments.extend(self.congestion.as_deref().map(congestion).transpose()?);
        match self.trials {
            // The formulas alone.
            Some(0) => arguments.push("--no-trials".into()),
            trials => arguments.extend(trials.map(|it| within("trials", it, 2..=999)).transpose()?),
        }
        arguments.push(format!("--world={}", self.world.name()));
        arguments.push(format!("--runs={}", ui.runs.display()));
        Ok(arguments)
    }
}

impl Rfc6349Wish {
    /// The command.
    pub(super) fn arguments(&self, ui: &Ui) -> Result<Vec<String>, Refusal> {
        let mut arguments = vec!["rfc6349".to_owned()];
        match &self.of {
            Tested::Path(path) => {
                arguments.extend(path.arguments()?);
                if self.download {
                    arguments.push("--download".into());
                }
                arguments.push(format!("--world={}", self.world.name()));
            }
            Tested::Target { address } => {
                let address: SocketAddr = address.parse().map_err(|_| {
                    Refusal::bad("a target is ADDRESS:PORT of a discard server, in digits")
                })?;
                if self.download {
                    return Err(Refusal::bad("to another host data is sent, not fetched"));
                }
                arguments.push(format!("--target={address}"));
            }
        }
        if let Some(seconds) = self.seconds {
            if !(0.5..=600.0).contains(&seconds) {
                return Err(Refusal::bad("a transfer takes 0.5 to 600 seconds"));
            }
            arguments.push(format!("--duration={seconds} s"));
        }
        arguments.extend(self.trials.map(|it| within("trials", it, 1..=99)).transpose()?);
        let connections = self.connections.map(|it| within("connections", it, 1..=64));
        arguments.extend(connections.transpose()?);
        arguments.extend(self.congestion.as_deref().map(congestion).transpose()?);
        arguments.push(format!("--runs={}", ui.runs.display()));
        Ok(arguments)
    }
}

impl LoadWish {
    /// The command; a file to serve is kept at `place`.
    pub(super) fn arguments(&self, place: &Path) -> Result<Vec<String>, Refusal> {
        let mut arguments = vec!["load".to_owned()];
        match &self.on {
            Loaded::Servers { designs, bytes, http } => {
                let known = |name: &String| ServerDesign::from_name(name).map(ServerDesign::name);
                let designs: Option<Vec<&str>> = designs.iter().map(known).collect();
                let designs =
                    designs.filter(|all| (1..=ServerDesign::ALL.len()).contains(&all.len()));
                let designs = designs.ok_or_else(|| {
                    let all = ServerDesign::ALL.map(ServerDesign::name).join(", ");
                    Refusal::bad(format!("choose designs of servers among {all}"))
                })?;
                if !SIZES.contains(bytes) {
                    return Err(Refusal::bad("a message or file has 1 byte to 10 MB"));
                }
                arguments.push(format!("--server={}", designs.join(",")));
                if *http {
                    arguments.push(format!("--serve={}", served(place, *bytes)?.display()));
                } else {
                    arguments.push(format!("--size={bytes}"));
                }
            }
            Loaded::Url { url } => arguments.push(checked_url(url)?),
        }
        arguments.push(within("connections", self.connections, 1..=1_000)?);
        arguments.push(within("duration", self.seconds, 1..=60)? + " s");
        if let Some(rate) = self.rate {
            if !(0.1..=1e6).contains(&rate) {
                return Err(Refusal::bad("a rate is 0.1 to 1,000,000 requests a second"));
            }
            arguments.push(format!("--rate={rate}"));
        }
        if self.no_keep_alive {
            arguments.push("--no-keep-alive".into());
        }
        arguments.extend(self.threads.map(|it| within("threads", it, 1..=64)).transpose()?);
        Ok(arguments)
    }
}

/// A file of that size for servers to serve.
fn served(place: &Path, bytes: u32) -> Result<PathBuf, Refusal> {
    let file = place.join(format!("{bytes}-bytes.txt"));
    let line = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    let text: Vec<u8> = line.iter().copied().cycle().take(bytes as usize).collect();
    make_private_directories(place)
        .and_then(|()| fs::write(&file, text))
        .map_err(|error| Refusal::failed(format!("cannot write {}: {error}", file.display())))?;
    Ok(file)
}

/// The address of a server as a person wrote it: no name and password, nothing but what an
/// address has, so it is no flag.
fn checked_url(url: &str) -> Result<String, Refusal> {
    let rest = ["http://", "echo://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest =
        rest.ok_or_else(|| Refusal::bad("use http://HOST[:PORT]/PATH or echo://HOST:PORT"))?;
    if url.len() > URL {
        return Err(Refusal::bad(format!("an address has at most {URL} characters")));
    }
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        return Err(Refusal::bad("an address with a name and a password is not used"));
    }
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._~:/?#[]!$&()*+,;=%@".contains(it);
    if host.is_empty() || !rest.chars().all(is_plain) {
        return Err(Refusal::bad("the address has a character that addresses do not have"));
    }
    Ok(url.to_owned())
}

impl PathWish {
    /// The flags that name it. Only presets: a page names no files.
    fn arguments(&self) -> Result<Vec<String>, Refusal> {
        let source = match &self.preset {
            Some(name) => preset(name)
                .ok_or_else(|| Refusal::missing(tcplab_actions::unknown_path(name).to_string()))?,
            None => "",
        };
        let set: Vec<String> =
            self.set.iter().map(|(key, value)| pair(key, value)).collect::<Result<_, _>>()?;
        if self.preset.is_none() && set.is_empty() {
            return Err(Refusal::bad("no path: choose one, or set its rate and delay"));
        }
        read_path(source, "path", "the path", &set, Path::new(""))
            .map_err(|error| Refusal::bad(format!("{error:#}")))?;
        let preset = self.preset.iter().map(|name| format!("--path={name}"));
        Ok(preset.chain(set.iter().map(|pair| format!("--set={pair}"))).collect())
    }
}

impl Goal {
    fn name(&self) -> &'static str {
        match self {
            Goal::Throughput => "throughput",
            Goal::Latency => "latency",
            Goal::Both => "both",
        }
    }
}

impl World {
    fn name(&self) -> &'static str {
        match self {
            World::Auto => "auto",
            World::Kernel => "kernel",
            World::Sim => "sim",
        }
    }
}

/// `KEY=VALUE`, where the value is a quantity: no table that could name a file.
fn pair(key: &str, value: &str) -> Result<String, Refusal> {
    if !KEYS.contains(&key) {
        return Err(Refusal::bad(format!("of a path, set {}", KEYS.join(", "))));
    }
    is_short(key, value)?;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || " ./%µ".contains(it);
    if value.is_empty() || !value.chars().all(is_plain) {
        return Err(Refusal::bad(format!("{key} is a number with its unit")));
    }
    Ok(format!("{key}={value}"))
}

/// A flag with a quantity.
fn quantity<T: FromStr<Err: Display>>(flag: &str, text: &str) -> Result<String, Refusal> {
    is_short(flag, text)?;
    text.parse::<T>().map_err(|error| Refusal::bad(format!("{flag}: {error}")))?;
    Ok(format!("--{flag}={text}"))
}

fn is_short(name: &str, value: &str) -> Result<(), Refusal> {
    if value.len() <= VALUE {
        return Ok(());
    }
    Err(Refusal::bad(format!("{name} has at most {VALUE} characters")))
}

fn congestion(name: &str) -> Result<String, Refusal> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_".contains(it);
    // The longest name in Linux (TCP_CA_NAME_MAX).
    if name.is_empty() || name.len() > 15 || !name.chars().all(is_plain) {
        return Err(Refusal::bad("a congestion control is a name such as cubic"));
    }
    Ok(format!("--congestion={name}"))
}

/// A flag with a number.
pub(super) fn within(
    flag: &str,
    number: u32,
    allowed: RangeInclusive<u32>,
) -> Result<String, Refusal> {
    if allowed.contains(&number) {
        return Ok(format!("--{flag}={number}"));
    }
    let (least, most) = allowed.into_inner();
    Err(Refusal::bad(format!("{flag}: {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(preset: Option<&str>, set: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let set = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let wish = PathWish { preset: preset.map(str::to_owned), set };
        wish.arguments().map_err(|refusal| refusal.what)
    }

    #[test]
    fn path_is_preset_with_quantities() {
        assert_eq!(
            path(Some("lte"), &[("loss", "1 %"), ("queue", "30 packets")]).unwrap(),
            ["--path=lte", "--set=loss=1 %", "--set=queue=30 packets"]
        );
        assert_eq!(path(None, &[("rate", "5 Mbit/s")]).unwrap(), ["--set=rate=5 Mbit/s"]);
        for (preset, set) in [
            (None, vec![]),
            (Some("/etc/passwd"), vec![]),
            (Some("--runs=/tmp"), vec![]),
            (Some("lte"), vec![("mtu", "1400 B")]),
            (Some("lte"), vec![("rate", "{ trace = \"/etc/passwd\" }")]),
            (Some("lte"), vec![("rate", "fast")]),
            (Some("lte"), vec![("loss", "101 %")]),
            (Some("lte"), vec![("delay", "1 ms\nrate = 1")]),
            (Some("lte"), vec![("queue", "99999999999999999999999999999 packets")]),
            (Some("lte"), vec![("delay", "")]),
        ] {
            assert!(path(preset, &set).is_err(), "{preset:?} {set:?}");
        }
    }

    #[test]
    fn values_are_never_flags() {
        assert_eq!(quantity::<Span>("rtt", "40 ms").unwrap(), "--rtt=40 ms");
        assert!(quantity::<Span>("rtt", "--runs=/tmp").is_err());
        assert!(quantity::<Bytes>("payload", &"9".repeat(99)).is_err());
        assert!(congestion("--control").is_ok_and(|it| it == "--congestion=--control"));
        assert!(congestion("<script>").is_err() && congestion("").is_err());
        assert!(within("trials", 1_000, 2..=999).is_err());
    }

    #[test]
    fn address_is_of_a_server_alone() {
        for url in ["http://127.0.0.1:80/a?b=c", "echo://[::1]:7", "http://example.org/@here"] {
            assert_eq!(checked_url(url).unwrap(), url);
        }
        for url in [
            "http://user:secret@example.org/",
            "http://example.org/<script>",
            "http://",
            "https://example.org/",
            "--serve=/etc/passwd",
            "http://a b/",
            "http://example.org/\u{1b}[31m",
        ] {
            assert!(checked_url(url).is_err(), "{url}");
        }
        assert!(checked_url(&format!("http://a/{}", "x".repeat(400))).is_err());
    }
}
