//! The crates that tcplab is built from, as cargo tells.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;

/// What `cargo metadata` prints, as far as it matters.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    /// None for a crate of this workspace.
    pub(crate) source: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    pub(crate) source: Option<String>,
}

/// Which package uses which, by their identities.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) dependencies: Vec<String>,
}

impl Metadata {
    pub(crate) fn read(root: &Path) -> anyhow::Result<Metadata> {
        let text = cargo(root, &["metadata", "--format-version", "1"])?;
        serde_json::from_str(&text).context("what cargo metadata prints")
    }
}

/// `name vVERSION` of every crate that `cargo tree` names with these flags; `cargo metadata` would
/// name those too that a feature of another target asks for.
pub(crate) fn tree(root: &Path, flags: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let mut arguments = vec!["tree", "--prefix", "none", "--format", "{p}", "--no-dedupe"];
    arguments.extend(flags);
    let printed = cargo(root, &arguments)?;
    let crates = printed.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?))
    });
    Ok(crates.collect())
}

fn cargo(root: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(arguments)
        .arg("--locked")
        .current_dir(root)
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context("what cargo prints")
}
