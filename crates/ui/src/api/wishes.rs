//! Jobs that are no run of a scenario, as commands: advice, tests of a path.
//!
//! A value never becomes a flag: it is checked, and written as `--flag=value`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use serde::Deserialize;
use tcplab_actions::{preset, read_path};
use tcplab_units::{Bytes, Probability, Rate, Span};

use crate::error::Refusal;
use crate::places::run_directory;
use crate::state::Ui;

/// Keys of a path that can be set.
const KEYS: [&str; 4] = ["rate", "delay", "loss", "queue"];
/// The longest value, bytes.
const VALUE: usize = 40;

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
fn within(flag: &str, number: u32, allowed: RangeInclusive<u32>) -> Result<String, Refusal> {
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
}
