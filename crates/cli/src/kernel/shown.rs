//! Images as text and as JSON.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tcplab_kernels::{Cache, Kernel, Manifest, Unusable};
use tcplab_lab::in_words;
use tcplab_testbed::{Ability, AbilityLevel};
use tcplab_units::{Bytes, rounded, visible_line};

/// The version that an image is first built of.
const RECOMMENDED: &str = "7.2";

/// Sizes are rounded to this, bytes.
const STEP: u64 = 100_000;

/// An image: its manifest and what follows from it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    #[serde(flatten)]
    manifest: Manifest,
    image: String,
    config: String,
    is_current: bool,
}

impl From<&Kernel> for Shown {
    fn from(kernel: &Kernel) -> Shown {
        Shown {
            manifest: kernel.manifest.clone(),
            image: kernel.image().to_string_lossy().into_owned(),
            config: kernel.config().to_string_lossy().into_owned(),
            is_current: kernel.is_current(),
        }
    }
}

impl Shown {
    /// The size, rounded for people.
    fn size(&self) -> Bytes {
        let bytes = self.manifest.image_bytes;
        Bytes::new(if bytes < STEP { bytes } else { bytes.saturating_add(STEP / 2) / STEP * STEP })
    }

    fn date(&self) -> String {
        let at = Timestamp::from_nanosecond(i128::from(self.manifest.built_unix_ns));
        at.map_or_else(|_| "?".into(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
    }

    /// What a build says at its end.
    pub(super) fn built(&self, time: Duration) -> String {
        let Manifest { name, release, hz, .. } = &self.manifest;
        format!(
            "Kernel {} is built: Linux {}, {} ticks a second, {}, in {}.\nImage: {}\n",
            visible_line(name),
            visible_line(release),
            hz,
            self.size(),
            in_words(time.as_secs_f64()),
            self.image
        )
    }

    /// What a build says that has nothing to do.
    pub(super) fn existing(&self) -> String {
        let name = visible_line(&self.manifest.name);
        let source = self.manifest.source.in_words();
        format!(
            "Kernel {name} is there, with the present configuration ({}): {}, built {}.\n\
             To build it from a newer source, remove it first: tcplab kernel remove {name}\n",
            visible_line(&self.manifest.configuration_hash),
            visible_line(&source),
            self.date()
        )
    }
}

/// A line of the list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Entry {
    Kernel(Box<Shown>),
    Unusable { name: String, problem: String },
}

impl From<Result<Kernel, Unusable>> for Entry {
    fn from(found: Result<Kernel, Unusable>) -> Entry {
        match found {
            Ok(kernel) => Entry::Kernel(Box::new(Shown::from(&kernel))),
            Err(Unusable { name, problem }) => Entry::Unusable { name, problem },
        }
    }
}

pub(super) fn table(all: &[Entry], root: &Path) -> String {
    if all.is_empty() {
        return format!(
            "No kernel in {}. Build one with `tcplab kernel build {RECOMMENDED}`.\n",
            root.display()
        );
    }
    let rows: Vec<Vec<String>> = all.iter().filter_map(row).collect();
    let heads = ["name", "Linux", "HZ", "size", "built", "source", "configuration", ""];
    let heads: Vec<String> = heads.map(str::to_owned).to_vec();
    let mut text = String::new();
    if !rows.is_empty() {
        let lines: Vec<&Vec<String>> = [&heads].into_iter().chain(&rows).collect();
        let width = |column: usize| lines.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..heads.len()).map(|it| width(it).unwrap_or(0)).collect();
        for row in &lines {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            text += line.trim_end();
            text.push('\n');
        }
    }
    for entry in all {
        if let Entry::Unusable { name, problem } = entry {
            text += &format!("! {name} cannot be used: {}\n", visible_line(problem));
        }
    }
    text
}

fn row(entry: &Entry) -> Option<Vec<String>> {
    let Entry::Kernel(shown) = entry else { return None };
    let Manifest { name, release, source, hz, configuration_hash, .. } = &shown.manifest;
    let source = source.in_short().filter(|_| source.is_commit()).unwrap_or(source.in_words());
    let state = if shown.is_current { "current" } else { "older configuration: build it again" };
    Some(vec![
        visible_line(name).into_owned(),
        visible_line(release).into_owned(),
        hz.to_string(),
        shown.size().to_string(),
        shown.date(),
        visible_line(&source).into_owned(),
        visible_line(configuration_hash).into_owned(),
        state.into(),
    ])
}

pub(super) fn description(shown: &Shown) -> String {
    let of = &shown.manifest;
    let list = |names: &[String]| if names.is_empty() { "none".into() } else { names.join(", ") };
    let current = if shown.is_current { "current" } else { "older than this tcplab's" };
    let rows = [
        ("name", of.name.clone()),
        ("Linux", of.release.clone()),
        ("source", of.source.in_words()),
        ("patches", list(&of.patches)),
        ("configuration", format!("{} ({current})", of.configuration_hash)),
        ("missing options", list(&of.missing_options)),
        (
            "HZ",
            format!(
                "{} (timers of TCP are rounded to {} ms)",
                of.hz,
                rounded::figures(1e3 / f64::from(of.hz.max(1)))
            ),
        ),
        ("processes run by", if of.seccomp { "seccomp or ptrace" } else { "ptrace" }.into()),
        ("compiler", of.compiler.clone()),
        ("built", shown.date()),
        ("size", shown.size().to_string()),
        ("BLAKE3", of.image_hash.clone()),
        ("image", shown.image.clone()),
        ("full configuration", shown.config.clone()),
    ];
    let lines = rows.iter().map(|(key, value)| format!("{key:<18}  {}", visible_line(value)));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// The line of `tcplab doctor`.
pub(crate) fn ability() -> Ability {
    let kernels = Cache::of_user().and_then(|cache| cache.kernels());
    let usable: Vec<Kernel> = kernels.into_iter().flatten().flatten().collect();
    let names: Vec<_> = usable
        .iter()
        .map(|kernel| {
            let name = visible_line(&kernel.manifest.name);
            let problem = if kernel.is_current() { "" } else { " (older configuration)" };
            format!("{name}{problem}")
        })
        .collect();
    let is_there = usable.iter().any(Kernel::is_current);
    Ability {
        name: "kernel images".into(),
        verdict: if is_there { AbilityLevel::Good } else { AbilityLevel::Limited },
        found: if names.is_empty() { "none is built".into() } else { names.join(", ") },
        remedy: (!is_there)
            .then(|| format!("`tcplab kernel build {RECOMMENDED}` builds Linux for virtual time")),
    }
}
