//! The pages of `docs/documents`: each row of a founding document beside what tcplab measured.
//!
//! A page is made from rows, which people write (`NNN.toml`), and figures, which runs give
//! (`figures.json`). `cargo xtask tidy` checks that the pages are what these make and that
//! no scenario has changed since its figures were measured; `cargo xtask documents` measures again.

mod figures;
mod page;
mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use figures::{Figures, definition};
use rows::Document;

/// Where all of it is, below the repository.
const PLACE: &str = "docs/documents";

/// Measures what is missing, old, or named, and writes the pages.
pub(crate) fn make(repository: &Path, named: &[&str]) -> anyhow::Result<()> {
    let documents = read(repository)?;
    let place = repository.join(PLACE).join("figures.json");
    let mut figures = Figures::read(&place)?;
    let worlds = worlds(&documents)?;
    figures.keep_only(|scenario| worlds.contains_key(scenario));
    for (scenario, world) in worlds {
        let definition = definition(repository, scenario)?;
        if figures.is_of(scenario, world, &definition) && !named.contains(&scenario) {
            continue;
        }
        println!("{scenario} ({world})");
        figures.measure(repository, scenario, world, definition)?;
        figures.write(&place)?;
    }
    for document in &documents {
        let page = page::page(document, &figures)?;
        let path = repository.join(PLACE).join(format!("{}.md", document.name));
        fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// What is wrong with the pages, each with its file.
pub(crate) fn check(repository: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let documents = read(repository)?;
    let place = PathBuf::from(PLACE);
    let figures = Figures::read(&repository.join(&place).join("figures.json"))?;
    let mut wrong = Vec::new();
    for (scenario, world) in worlds(&documents)? {
        let definition = definition(repository, scenario)?;
        if !figures.is_of(scenario, world, &definition) {
            let what = format!("{scenario} has changed since its figures were measured");
            wrong.push((place.join("figures.json"), format!("{what}: run `make documents`")));
        }
    }
    for document in &documents {
        let file = place.join(format!("{}.toml", document.name));
        wrong.extend(document.faults(repository).into_iter().map(|it| (file.clone(), it)));
        let name = place.join(format!("{}.md", document.name));
        match page::page(document, &figures) {
            Err(error) => wrong.push((file, format!("{error:#}"))),
            Ok(page) => {
                let found = fs::read_to_string(repository.join(&name)).unwrap_or_default();
                if found != page {
                    let what = "it is not what its rows and figures make: run `make documents`";
                    wrong.push((name, what.into()));
                }
            }
        }
    }
    Ok(wrong)
}

/// All documents, by name.
fn read(repository: &Path) -> anyhow::Result<Vec<Document>> {
    let folder = repository.join(PLACE);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {PLACE}"))? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|it| it == "toml"));
    files.sort();
    files.iter().map(|file| Document::read(file)).collect()
}

/// In which world each scenario runs that some row names.
fn worlds(documents: &[Document]) -> anyhow::Result<BTreeMap<&str, &str>> {
    let mut worlds = BTreeMap::new();
    for document in documents {
        for scenario in document.rows().filter_map(|row| row.run.as_deref()) {
            let world = document.world(scenario);
            let known = *worlds.entry(scenario).or_insert(world);
            anyhow::ensure!(
                known == world,
                "{scenario} runs in two worlds: {known} and {world} ({}.toml)",
                document.name
            );
        }
    }
    Ok(worlds)
}
