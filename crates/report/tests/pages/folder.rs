//! The report of many trials: a folder whose links lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tcplab_report::{ONE_FILE, write_folder};
use tcplab_results::{Trial, TrialData};

use super::synthetic;

/// By its place in the folder.
fn pages(folder: &Path) -> BTreeMap<PathBuf, String> {
    let below = |place: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder.join(place)).expect("the folder is there");
        entries.map(|entry| Path::new(place).join(entry.expect("an entry").file_name())).collect()
    };
    let all = below("").into_iter().chain(below("trials"));
    let pages = all.filter(|place| place.extension().is_some_and(|it| it == "html"));
    pages.map(|place| (place.clone(), fs::read_to_string(folder.join(place)).unwrap())).collect()
}

fn values<'p>(page: &'p str, key: &str) -> Vec<&'p str> {
    page.split(&format!(" {key}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn written(trials: usize, loaded: &mut BTreeSet<String>) -> (tempfile::TempDir, PathBuf) {
    let (run, recordings) = synthetic::many(trials);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("report");
    let load = |trial: &Trial| -> Result<_, String> {
        loaded.insert(trial.directory.clone());
        let data = recordings[trial.number as usize % recordings.len()].1.clone();
        // One trial with graphs is enough.
        let nothing = tcplab_trace::Trace::default;
        Ok(match trial.directory.as_str() {
            "trials/cubic_0.1-2" => data,
            _ => TrialData { client: nothing(), server: nothing(), samples: vec![], ..data },
        })
    };
    write_folder(&run, load, &folder).expect("a made-up run can be shown");
    (place, folder)
}

/// With too many trials for a page each.
#[test]
fn all_links_have_targets() {
    let mut loaded = BTreeSet::new();
    let (_place, folder) = written(1_020, &mut loaded);
    assert!(loaded.len() <= 20 * 5, "{} trials were loaded", loaded.len());
    let pages = pages(&folder);
    let mut trials = BTreeSet::new();
    for (place, page) in &pages {
        let base = place.parent().unwrap_or(Path::new(""));
        for href in values(page, "href").into_iter().chain(values(page, "src")) {
            let (file, name) = href.split_once('#').unwrap_or((href, ""));
            let ending = Path::new(file).extension().and_then(|it| it.to_str()).unwrap_or("");
            if ["json", "csv", "toml", "pcapng"].contains(&ending) {
                continue; // of the run itself
            }
            let target = if file.is_empty() { place.clone() } else { clean(&base.join(file)) };
            assert!(folder.join(&target).exists(), "{}: {href}", place.display());
            if !name.is_empty() {
                let ids = values(&pages[&target], "id");
                assert!(ids.contains(&name), "{}: {href}", place.display());
            }
            if *place == Path::new("index.html") && file.starts_with("trials/") {
                trials.insert(href.to_owned());
            }
        }
    }
    assert!(trials.len() > 1_020, "each trial is one click away: {}", trials.len());
    assert!(pages[Path::new("index.html")].len() < 3_000_000, "the first page is small");
}

#[test]
fn up_to_a_thousand_trials_each_have_a_page() {
    let mut loaded = BTreeSet::new();
    let (_place, folder) = written(ONE_FILE + 40, &mut loaded);
    let pages = pages(&folder);
    assert_eq!(loaded.len(), ONE_FILE + 40);
    assert_eq!(pages.len(), 1 + 20 + ONE_FILE + 40);
    let page = &pages[Path::new("trials/cubic_0.1-2.html")];
    for part in ["rel=\"prev\"", "rel=\"next\"", "class=\"graph time-sequence\"", "--seed 1<"] {
        assert!(page.contains(part), "{part}");
    }
}

/// Resolves `..`.
fn clean(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        if part.as_os_str() == ".." {
            path.pop();
        } else {
            path.push(part);
        }
        path
    })
}
