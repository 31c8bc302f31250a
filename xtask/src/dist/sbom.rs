//! What a program is made from: a software bill of materials (CycloneDX 1.5, JSON).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::build::Workspace;
use super::command::said;
use super::system::System;
use crate::dependencies::{Metadata, Package, tree};

/// Writes the list of what the program of a system is made from.
pub(super) fn write(workspace: &Workspace, system: &System) -> anyhow::Result<PathBuf> {
    let root = &workspace.repository;
    let flags = ["--package", "tcplab", "--edges", "normal", "--target", system.target];
    let used = tree(root, &flags)?;
    let metadata = Metadata::read(root)?;
    let lock = fs::read_to_string(root.join("Cargo.lock"))?;
    let made = format!("@{}", workspace.epoch);
    let made = said(workspace.command("date").args(["--utc", "+%FT%TZ", "--date", &made]))?;
    let compiler = said(workspace.command("rustc").arg("--version"))?;
    let library = compiler.split(' ').nth(1).context("rustc tells its version")?;
    let text = list(&metadata, &used, &digests(&lock)?, made.trim(), library)?;
    let place = workspace.work().join(format!("{}.cdx.json", system.name));
    fs::create_dir_all(workspace.work())?;
    fs::write(&place, text)?;
    Ok(place)
}

/// SHA-256 of packages by name and version, of Cargo.lock.
fn digests(lock: &str) -> anyhow::Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table = toml::from_str(lock).context("Cargo.lock")?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let text = |package: &toml::Value, key| Some(package.get(key)?.as_str()?.to_owned());
    let digests = packages.into_iter().flatten().filter_map(|package| {
        let of = (text(package, "name")?, text(package, "version")?);
        Some((of, text(package, "checksum")?))
    });
    Ok(digests.collect())
}

fn list(
    metadata: &Metadata,
    used: &BTreeSet<String>,
    digests: &BTreeMap<(String, String), String>,
    made: &str,
    library: &str,
) -> anyhow::Result<String> {
    let is_used = |it: &&Package| used.contains(&format!("{} v{}", it.name, it.version));
    let packages: Vec<&Package> = metadata.packages.iter().filter(is_used).collect();
    let own = packages.iter().find(|it| it.name == "tcplab").context("tcplab is a package")?;
    let mut application = component(own, digests);
    application["type"] = json!("application");
    let mut components: Vec<Value> = packages
        .iter()
        .filter(|it| it.id != own.id)
        .map(|package| component(package, digests))
        .collect();
    let standard = format!("pkg:generic/rust-std@{library}");
    components.push(json!({
        "type": "library",
        "bom-ref": standard,
        "name": "rust-std",
        "version": library,
        "purl": standard,
        "licenses": [{ "expression": "MIT OR Apache-2.0" }],
    }));
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "timestamp": made, "component": application },
        "components": components,
        "dependencies": relations(metadata, &packages),
    });
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

fn component(package: &Package, digests: &BTreeMap<(String, String), String>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": locator(package),
        "name": package.name,
        "version": package.version,
        "purl": locator(package),
    });
    if let Some(licence) = &package.license {
        // An older way to write it, which is not SPDX.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(digest) = digests.get(&(package.name.clone(), package.version.clone())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": digest }]);
    }
    component
}

/// The package's URL (purl): crates of this workspace are in no registry.
fn locator(package: &Package) -> String {
    let kind = if package.source.is_some() { "cargo" } else { "generic" };
    format!("pkg:{kind}/{}@{}", package.name, package.version)
}

/// Which of them uses which.
fn relations(metadata: &Metadata, packages: &[&Package]) -> Vec<Value> {
    let by_id: BTreeMap<&str, &Package> =
        packages.iter().map(|package| (package.id.as_str(), *package)).collect();
    let nodes = metadata.resolve.nodes.iter().filter_map(|node| {
        let package = by_id.get(node.id.as_str())?;
        let uses: BTreeSet<String> = node
            .dependencies
            .iter()
            .filter_map(|id| by_id.get(id.as_str()).map(|it| locator(it)))
            .collect();
        Some(json!({ "ref": locator(package), "dependsOn": uses }))
    });
    nodes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let package = |name: &str, license: &str, source: Option<&str>| {
            json!({ "id": name, "name": name, "version": "1.0.0", "license": license,
                    "source": source, "dependencies": [] })
        };
        let registry = Some("registry+somewhere");
        serde_json::from_value(json!({
            "packages": [
                package("tcplab", "Apache-2.0 OR MIT", None),
                package("seen", "MIT/Apache-2.0", registry),
                package("test-only", "GPL-3.0-only", registry),
            ],
            "resolve": { "nodes": [
                { "id": "tcplab", "dependencies": ["seen", "test-only"] },
                { "id": "seen", "dependencies": [] },
                { "id": "test-only", "dependencies": [] },
            ] },
        }))
        .unwrap()
    }

    #[test]
    fn list_names_used_packages_with_licence_digest_and_relations() {
        let used = ["tcplab v1.0.0", "seen v1.0.0"].map(str::to_owned).into();
        let lock = "[[package]]\nname = \"seen\"\nversion = \"1.0.0\"\nchecksum = \"ab12\"\n\
                    [[package]]\nname = \"tcplab\"\nversion = \"1.0.0\"\n";
        let digests = digests(lock).unwrap();
        let text = list(&metadata(), &used, &digests, "2026-01-01T00:00:00Z", "1.90.0").unwrap();
        let list: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(list["metadata"]["component"]["purl"], "pkg:generic/tcplab@1.0.0");
        let names: Vec<&str> = list["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["seen", "rust-std"]);
        let seen = &list["components"][0];
        assert_eq!(seen["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(seen["hashes"][0]["content"], "ab12");
        assert_eq!(list["dependencies"][0]["dependsOn"], json!(["pkg:cargo/seen@1.0.0"]));
        assert_eq!(list["dependencies"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn list_without_tcplab_is_refused() {
        assert!(list(&metadata(), &BTreeSet::new(), &BTreeMap::new(), "", "").is_err());
    }
}
