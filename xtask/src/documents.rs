//! The pages of `docs/documents`: each row of a founding document beside what tcplab measured; and
//! pages of `docs` whose figures come from the same runs.
//!
//! A page is made from what people write, rows (`NNN.toml`) or text (`NAME.in`), and figures,
//! which runs give (`figures.json`). `cargo xtask tidy` checks that the pages are what these make
//! and that no scenario has changed since its figures were measured; `cargo xtask documents`
//! measures again.

mod figures;
mod measured;
mod page;
mod rows;
mod template;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use figures::{Figures, Wanted, definition};
use rows::Document;
use template::Template;

/// Where all of it is, below the repository.
const PLACE: &str = "docs/documents";

/// What people write.
struct Sources {
    documents: Vec<Document>,
    templates: Vec<Template>,
}

/// Measures what is missing, old, or named, and writes the pages.
pub(crate) fn make(repository: &Path, named: &[&str]) -> anyhow::Result<()> {
    let sources = Sources::read(repository)?;
    let place = repository.join(PLACE).join("figures.json");
    let mut figures = Figures::read(&place)?;
    let wanted = sources.wanted()?;
    figures.keep_only(|scenario| wanted.contains_key(scenario));
    for (scenario, wanted) in wanted {
        let definition = definition(repository, scenario)?;
        if figures.is_of(scenario, &wanted, &definition) && !named.contains(&scenario) {
            continue;
        }
        println!("{scenario} ({})", wanted.world);
        figures.measure(repository, scenario, &wanted, definition)?;
        figures.write(&place)?;
    }
    for (name, page) in sources.pages(&figures) {
        let path = repository.join(name);
        fs::write(&path, page?).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// What is wrong with the pages, each with its file.
pub(crate) fn check(repository: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let sources = Sources::read(repository)?;
    let place = PathBuf::from(PLACE);
    let figures = Figures::read(&repository.join(&place).join("figures.json"))?;
    let mut wrong = Vec::new();
    for (scenario, wanted) in sources.wanted()? {
        let definition = definition(repository, scenario)?;
        if !figures.is_of(scenario, &wanted, &definition) {
            let what = format!("{scenario} or what pages ask of it has changed since its figures");
            wrong.push((place.join("figures.json"), format!("{what}: run `make documents`")));
        }
    }
    for document in &sources.documents {
        let file = place.join(format!("{}.toml", document.name));
        wrong.extend(document.faults(repository).into_iter().map(|it| (file.clone(), it)));
    }
    for (name, page) in sources.pages(&figures) {
        match page {
            Err(error) => wrong.push((name, format!("{error:#}"))),
            Ok(page) => {
                let found = fs::read_to_string(repository.join(&name)).unwrap_or_default();
                if found != page {
                    let what = "it is not what its text and figures make: run `make documents`";
                    wrong.push((name, what.into()));
                }
            }
        }
    }
    Ok(wrong)
}

impl Sources {
    /// All of them, by name.
    fn read(repository: &Path) -> anyhow::Result<Sources> {
        let folder = repository.join(PLACE);
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {PLACE}"))? {
            files.push(entry?.path());
        }
        files.sort();
        let of = |ending: &'static str| {
            files.iter().filter(move |file| file.extension().is_some_and(|it| it == ending))
        };
        Ok(Sources {
            documents: of("toml").map(|file| Document::read(file)).collect::<Result<_, _>>()?,
            templates: of("in").map(|file| Template::read(file)).collect::<Result<_, _>>()?,
        })
    }

    /// What is wanted of each scenario that some row or text names.
    fn wanted(&self) -> anyhow::Result<BTreeMap<&str, Wanted>> {
        let mut wanted = BTreeMap::new();
        for document in &self.documents {
            for scenario in document.rows().filter_map(|row| row.run.as_deref()) {
                want(&mut wanted, scenario, document.world(scenario), &document.name)?;
            }
        }
        for template in &self.templates {
            for scenario in template.scenarios() {
                want(&mut wanted, scenario, "models", &template.name)?;
            }
            for place in template.placeholders().with_context(|| template.name.clone())? {
                let wanted = wanted.get_mut(place.scenario);
                wanted.expect("it is one of its scenarios").values.insert(place.asked);
            }
        }
        Ok(wanted)
    }

    /// Each page, with its place in the repository.
    fn pages(&self, figures: &Figures) -> Vec<(PathBuf, anyhow::Result<String>)> {
        let documents = self.documents.iter().map(|it| {
            let place = Path::new(PLACE).join(format!("{}.md", it.name));
            (place, page::page(it, figures))
        });
        let templates = self.templates.iter().map(|it| {
            let place = Path::new("docs").join(format!("{}.md", it.name));
            (place, it.page(figures))
        });
        documents.chain(templates).collect()
    }
}

/// A scenario runs in one world, whoever names it.
fn want<'a>(
    wanted: &mut BTreeMap<&'a str, Wanted>,
    scenario: &'a str,
    world: &str,
    by: &str,
) -> anyhow::Result<()> {
    let new = || Wanted { world: world.to_owned(), ..Wanted::default() };
    let known = &wanted.entry(scenario).or_insert_with(new).world;
    anyhow::ensure!(known == world, "{scenario} runs in two worlds: {known} and {world} ({by})");
    Ok(())
}
