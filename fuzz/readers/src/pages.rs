//! Recordings that somebody edited, as pages and tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use tcplab_lab::{
    Bench, LabError, Overrides, RunDirectory, begin, complete, finish, load_trial, no_report, plan,
};
use tcplab_report::compare::{compare_page, compare_text, junit, markdown};
use tcplab_report::{render, text_table};
use tcplab_results::{Run, Trial, World};
use tcplab_scenario::Scenario;
use tcplab_testbed::Launcher;
use tcplab_units::visible;

use crate::shown::assert_harmless;

/// Two cases of a few milliseconds, and a comparison.
const SCENARIO: &str = include_str!("../../corpus/dry_run/tiny.toml");
/// The files that are edited, and `client.pcapng`, whose comments are.
const FILES: [&str; 8] = [
    "plan.json",
    "environment.json",
    "scenario.toml",
    "app.json",
    "result.json",
    "trial.json",
    "path.jsonl",
    "client.pcapng",
];

/// The first byte chooses a file of a recording, the next two a string in it, the rest takes that
/// one's place. Pages and tables show the text and do not obey it: they have as many tags and
/// attributes as with a text of the same length without markup.
pub(crate) fn pages(bytes: &[u8]) {
    let [file, low, high, text @ ..] = bytes else { return };
    let file = FILES[usize::from(*file) % FILES.len()];
    let nth = usize::from(u16::from_le_bytes([*low, *high]));
    let text = String::from_utf8_lossy(text);
    let harmless: String = visible(&text)
        .chars()
        .map(|c| if matches!(c, '<' | '>' | '&' | '"' | '\'' | '|' | '`') { 'x' } else { c })
        .collect();
    let Some(hostile) = outputs(file, nth, &text) else { return };
    hostile.texts.iter().chain(&hostile.pages).for_each(|output| assert_harmless(output));
    if harmless != text
        && let Some(plain) = outputs(file, nth, &harmless)
    {
        for (hostile, plain) in hostile.pages.iter().zip(&plain.pages) {
            assert_eq!(marks(hostile), marks(plain), "{file} {nth}");
        }
    }
}

/// What is made of a recording.
struct Outputs {
    /// For the terminal.
    texts: Vec<String>,
    /// With markup.
    pages: Vec<String>,
}

/// The characters of markup, each with how often it is there. In Markdown, which does not begin
/// with a tag, a quotation mark is text.
fn marks(page: &str) -> [usize; 3] {
    let quote = if page.starts_with('<') { '"' } else { '<' };
    ['<', '>', quote].map(|mark| page.matches(mark).count())
}

/// Of the recording with this text in it; nothing where it is refused.
fn outputs(file: &str, nth: usize, text: &str) -> Option<Outputs> {
    let place = tempfile::tempdir().expect("there is room for a directory");
    for (path, content) in recorded() {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in a directory")).expect("a directory");
        fs::write(&path, content).expect("a file");
    }
    let is_it = |(path, _): &&(PathBuf, Vec<u8>)| path.ends_with(file);
    let (path, content) = recorded().iter().find(is_it).expect("every run has it");
    fs::write(place.path().join(path), edited(path, content, nth, text)).expect("a file");
    finished(place.path())
}

/// A finished run: its files below its directory.
fn recorded() -> &'static [(PathBuf, Vec<u8>)] {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let place = tempfile::tempdir().expect("there is room for a directory");
        let scenario = Scenario::parse(SCENARIO, "tiny").expect("it is a scenario");
        let plan = plan(&scenario, Some(World::Simulated), || None, Overrides::default());
        let plan = plan.expect("it can be simulated");
        let run = begin(place.path(), scenario, plan).expect("there is room for a run");
        complete(&run, &bench(), &AtomicBool::new(false), |_| {}, no_report).expect("it runs");
        let mut files = Vec::new();
        collect(run.path(), Path::new(""), &mut files);
        files
    })
}

/// Virtual time needs no process.
pub(crate) fn bench() -> Bench {
    Bench::new(Launcher { program: "none".into(), arguments: Vec::new() })
}

fn collect(root: &Path, below: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    let entries = fs::read_dir(root.join(below)).expect("it is a directory");
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        let file = below.join(name);
        match fs::read(root.join(&file)) {
            Ok(content) => files.push((file, content)),
            Err(_) => collect(root, &file, files),
        }
    }
}

/// The file with `text` in the place of its `nth` string.
fn edited(path: &Path, content: &[u8], nth: usize, text: &str) -> Vec<u8> {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    if extension == "pcapng" {
        let mut copy = Vec::new();
        tcplab_capture::annotate(content, &mut copy, |_| Some(text.into())).expect("a capture");
        return copy;
    }
    let content = str::from_utf8(content).expect("it is text");
    let replaced = |document: &str| {
        let mut document: Value = serde_json::from_str(document).expect("it is JSON");
        let mut strings = Vec::new();
        strings_of(&mut document, &mut strings);
        let count = strings.len();
        if let Some(string) = strings.into_iter().nth(nth % count.max(1)) {
            *string = text.into();
        }
        document.to_string()
    };
    match content.split_once('\n') {
        Some((first, rest)) if extension == "jsonl" => format!("{}\n{rest}", replaced(first)),
        _ if extension == "json" => replaced(content),
        // A title.
        _ => content.replacen("\"Tiny\"", &Value::from(text).to_string(), 1),
    }
    .into_bytes()
}

fn strings_of<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::String(_) => found.push(value),
        Value::Array(list) => list.iter_mut().for_each(|item| strings_of(item, found)),
        Value::Object(map) => map.values_mut().for_each(|item| strings_of(item, found)),
        _ => {}
    }
}

/// All pages and texts of a run; nothing where it is refused.
fn finished(place: &Path) -> Option<Outputs> {
    let directory = RunDirectory::open(place).ok()?;
    let report = |directory: &RunDirectory, run: &Run| {
        let page = render(run, |trial: &Trial| load_trial(directory, trial));
        Ok::<_, LabError>(page.ok())
    };
    let outcome = finish(&directory, &AtomicBool::new(false), |_| {}, report).ok()?;
    let mut texts = vec![text_table(&outcome.run, true)];
    let mut pages: Vec<String> = outcome.report.into_iter().collect();
    for found in &outcome.run.comparisons {
        texts.push(compare_text(found));
        pages.extend([markdown(found), junit(found, |_| true)]);
        pages.extend(compare_page(found, &[], Vec::new()).ok());
    }
    Some(Outputs { texts, pages })
}
