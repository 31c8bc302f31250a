//! The captures that there are, and what is known of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::Semaphore;

use super::product::Products;
use super::reading::Reading;
use crate::error::Refusal;
use crate::token::Token;

/// Where captures are kept, below the directory of all runs.
const CAPTURES: &str = ".captures";
/// Captures in a list.
const LISTED: usize = 500;
/// Files of one capture.
const FILES: usize = 64;
/// Analyses at a time, of all captures: each takes a processor or two.
const ANALYSES: usize = 2;
/// Commands at a time.
const COMMANDS: usize = 2;
/// Uploads at a time.
const UPLOADS: usize = 8;
/// What a server that ended early left is removed after this time, as another may still write it.
const LEFT_OVER: Duration = Duration::from_hours(1);

/// All captures.
#[derive(Debug)]
pub(crate) struct Captures {
    place: PathBuf,
    pub(super) program: PathBuf,
    known: Mutex<BTreeMap<String, Arc<Capture>>>,
    pub(super) analyses: Arc<Semaphore>,
    pub(super) commands: Arc<Semaphore>,
    pub(super) uploads: Arc<Semaphore>,
}

/// One or several files that are read as one.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) id: String,
    place: PathBuf,
    /// Whether it was deleted, or the server ends.
    pub(super) is_over: AtomicBool,
    reading: Mutex<Option<Arc<Reading>>>,
    products: Mutex<Products>,
}

/// A capture in the list.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) files: Vec<NamedFile>,
    /// When its latest file came, milliseconds since 1970.
    pub(crate) changed_ms: u64,
}

/// A file with its size.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct NamedFile {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

impl Captures {
    pub(crate) fn new(runs: &Path, program: PathBuf) -> Captures {
        Captures {
            place: runs.join(CAPTURES),
            program,
            known: Mutex::default(),
            analyses: Arc::new(Semaphore::new(ANALYSES)),
            commands: Arc::new(Semaphore::new(COMMANDS)),
            uploads: Arc::new(Semaphore::new(UPLOADS)),
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Capture>>> {
        self.known.lock().expect("no thread panics while it holds the captures")
    }

    /// Begins one without files.
    pub(super) fn begin(&self) -> Result<Arc<Capture>, Refusal> {
        let cannot = |error: std::io::Error| Refusal::failed(format!("cannot keep it: {error}"));
        let id = Token::random().map_err(cannot)?.as_str().to_owned();
        fs::create_dir_all(self.place.join(&id).join("files")).map_err(cannot)?;
        self.capture(&id)
    }

    /// The capture of this name.
    pub(crate) fn capture(&self, id: &str) -> Result<Arc<Capture>, Refusal> {
        let missing = || Refusal::missing("there is no such capture: it may have been deleted");
        let place = self.place.join(id);
        if !is_id(id) || !place.join("files").is_dir() {
            return Err(missing());
        }
        let place = place.canonicalize().map_err(|_| missing())?;
        let mut known = self.known();
        let capture = known.entry(id.to_owned()).or_insert_with(|| {
            remove_old(&place.join("made"));
            remove_old(&place.join("parts"));
            Arc::new(Capture {
                id: id.to_owned(),
                place,
                is_over: AtomicBool::new(false),
                reading: Mutex::default(),
                products: Mutex::default(),
            })
        });
        Ok(Arc::clone(capture))
    }

    /// All that have a file, the newest first.
    pub(crate) fn all(&self) -> Vec<Listed> {
        let entries = fs::read_dir(&self.place).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let listed = names.filter(|name| is_id(name)).filter_map(|id| {
            let place = self.place.join(&id).join("files");
            let changed = fs::metadata(&place).and_then(|about| about.modified()).ok()?;
            let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
            let files = files_in(&place);
            let changed_ms = u64::try_from(changed.as_millis()).unwrap_or(u64::MAX);
            (!files.is_empty()).then_some(Listed { id, files, changed_ms })
        });
        let mut all: Vec<Listed> = listed.collect();
        all.sort_by(|a, b| (b.changed_ms, &b.id).cmp(&(a.changed_ms, &a.id)));
        all.truncate(LISTED);
        all
    }

    /// Ends what reads it, and removes it for good.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Refusal> {
        let capture = self.capture(id)?;
        capture.end();
        self.known().remove(id);
        fs::remove_dir_all(&capture.place)
            .map_err(|error| Refusal::failed(format!("cannot delete it: {error}")))
    }

    /// Ends all work.
    pub(crate) fn stop_all(&self) {
        self.known().values().for_each(|capture| capture.end());
    }
}

impl Capture {
    /// Its files with their sizes, by name.
    pub(crate) fn files(&self) -> Vec<NamedFile> {
        files_in(&self.place.join("files"))
    }

    /// Their paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let place = self.place.join("files");
        self.files().into_iter().map(|file| place.join(file.name)).collect()
    }

    /// The path of a file of this name.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf, Refusal> {
        let is_own = self.files().iter().any(|file| file.name == name);
        let missing = || Refusal::missing("the capture has no such file");
        is_own.then(|| self.place.join("files").join(name)).ok_or_else(missing)
    }

    pub(super) fn has_room(&self) -> Result<(), Refusal> {
        if self.files().len() < FILES {
            return Ok(());
        }
        Err(Refusal::bad(format!("a capture has at most {FILES} files")))
    }

    /// A directory in it, made where there is none.
    pub(super) fn directory(&self, name: &str) -> Result<PathBuf, Refusal> {
        let place = self.place.join(name);
        let made = fs::create_dir_all(&place);
        made.map_err(|error| Refusal::failed(format!("cannot keep it: {error}")))?;
        Ok(place)
    }

    pub(crate) fn reading(&self) -> MutexGuard<'_, Option<Arc<Reading>>> {
        self.reading.lock().expect("no thread panics while it holds a reading")
    }
    pub(super) fn products(&self) -> MutexGuard<'_, Products> {
        self.products.lock().expect("no thread panics while it holds products")
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(reading) = &*self.reading() {
            reading.stop();
        }
        self.products().stop_all();
    }
}

/// Whether it can be the name of a capture: a random number, so it leads nowhere else.
fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
}

fn files_in(place: &Path) -> Vec<NamedFile> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(NamedFile { name: entry.file_name().into_string().ok()?, bytes: about.len() })
    });
    let mut files: Vec<NamedFile> = files.collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// Removes what has not changed for long.
fn remove_old(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|about| about.modified());
        let age = changed.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > LEFT_OVER) {
            let path = entry.path();
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}
