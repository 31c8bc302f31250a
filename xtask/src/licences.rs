//! What tcplab is built from: every licence allowed, every source the language's own registry,
//! every version bounded. The list is in `deny.toml`, which `cargo deny` reads too; that tool
//! takes longer to build than tcplab, so only advisory checks use it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::dependencies::{Metadata, Package, tree};

/// What of `deny.toml` is read here.
#[derive(Debug, Deserialize)]
struct Policy {
    graph: Graph,
    licenses: Licenses,
}

#[derive(Debug, Deserialize)]
struct Graph {
    /// Crates that only other systems need are not judged.
    targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

/// The violations, a sentence each, and the number of crates checked.
pub(crate) fn check(root: &Path) -> anyhow::Result<(Vec<String>, usize)> {
    let file = root.join("deny.toml");
    let text = std::fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
    let policy: Policy = toml::from_str(&text).context("deny.toml")?;
    let used = used(root, &policy.graph.targets)?;
    let metadata = Metadata::read(root)?;
    let packages: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| used.contains(&format!("{} v{}", package.name, package.version)))
        .collect();
    ensure!(packages.len() == used.len(), "cargo tree and cargo metadata do not agree");
    let complaints = packages.iter().flat_map(|package| judge(package, &policy.licenses.allow));
    Ok((complaints.collect(), packages.len()))
}

/// Every crate built for one of the targets, tests too.
fn used(root: &Path, targets: &[String]) -> anyhow::Result<BTreeSet<String>> {
    let mut flags = vec!["--workspace", "--edges", "normal,build,dev"];
    flags.extend(targets.iter().flat_map(|target| ["--target", target]));
    tree(root, &flags)
}

fn judge(package: &Package, allowed: &[String]) -> Vec<String> {
    let what = format!("{} {}", package.name, package.version);
    let mut complaints = Vec::new();
    for dependency in &package.dependencies {
        if package.source.is_none() && dependency.req == "*" && dependency.source.is_some() {
            let name = &dependency.name;
            complaints.push(format!("{what}: any version of {name} would do: say which"));
        }
    }
    match &package.source {
        None => return complaints,
        // The one registry of Cargo.lock; git and other places are not.
        Some(source) if source.starts_with("registry+") => {}
        Some(source) => complaints.push(format!("{what}: comes from {source}")),
    }
    match &package.license {
        None => complaints.push(format!("{what}: names no licence")),
        Some(text) => match Expression::parse_mode(text, ParseMode::LAX) {
            Err(error) => complaints.push(format!("{what}: {text}: {}", error.reason)),
            Ok(expression) if allows(&expression, allowed) => {}
            Ok(_) => complaints.push(format!("{what}: {text} is not allowed by deny.toml")),
        },
    }
    complaints
}

fn allows(expression: &Expression, allowed: &[String]) -> bool {
    expression.evaluate(|requirement| {
        allowed.iter().any(|text| {
            spdx::Licensee::parse(text).is_ok_and(|licensee| licensee.satisfies(requirement))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependencies::Dependency;

    fn package(license: Option<&str>, source: Option<&str>) -> Package {
        Package {
            id: "it".into(),
            name: "it".into(),
            version: "1.0.0".into(),
            license: license.map(Into::into),
            source: source.map(Into::into),
            dependencies: vec![],
        }
    }

    #[test]
    fn disallowed_licence_is_reported() {
        let allowed = ["MIT".to_owned(), "Apache-2.0".to_owned()];
        let registry = Some("registry+somewhere");
        for (license, source, complaints) in [
            (Some("MIT"), registry, 0),
            (Some("MIT/Apache-2.0"), registry, 0),
            (Some("GPL-3.0-only OR MIT"), registry, 0),
            (Some("GPL-3.0-only"), registry, 1),
            (Some("MIT AND GPL-3.0-only"), registry, 1),
            (Some("no such thing"), registry, 1),
            (None, registry, 1),
            (None, None, 0),
            (Some("MIT"), Some("git+somewhere"), 1),
        ] {
            let found = judge(&package(license, source), &allowed);
            assert_eq!(found.len(), complaints, "{license:?} {source:?}: {found:?}");
        }
    }

    #[test]
    fn any_version_is_too_many() {
        let any = Dependency {
            name: "x".into(),
            req: "*".into(),
            source: Some("registry+somewhere".into()),
        };
        let own = Package { dependencies: vec![any], ..package(None, None) };
        assert_eq!(judge(&own, &[]).len(), 1);
    }
}
