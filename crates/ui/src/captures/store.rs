//! The captures that there are, and what is known of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tcplab_trace::Filter;
use tokio::sync::Semaphore;

use super::place::{CapturePlace, FILES_PLACE, MADE, NamedFile, PARTS, cannot_keep, files_in};
use super::product::{Product, Products, Wish};
use super::reading::Reading;
use crate::error::Refusal;
use crate::token::Token;

/// Where captures are kept, below the directory of all runs.
const CAPTURES: &str = ".captures";
/// Captures in a list.
const LISTED: usize = 500;
/// Analyses at a time, of all captures: each takes a processor or two.
const ANALYSES: usize = 2;
/// Commands at a time.
const COMMANDS: usize = 2;
/// Uploads at a time.
const UPLOADS: usize = 8;
/// What a server that ended early left is removed after this time, as another may still write it.
const LEFT_OVER: Duration = Duration::from_secs(3_600);

/// All captures.
#[derive(Debug)]
pub(crate) struct Captures {
    place: PathBuf,
    program: PathBuf,
    known: Mutex<BTreeMap<String, Arc<Capture>>>,
    analyses: Arc<Semaphore>,
    commands: Arc<Semaphore>,
    pub(super) uploads: Arc<Semaphore>,
}

/// One or several files that are read as one.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) id: String,
    pub(super) place: CapturePlace,
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
        let id = Token::random().map_err(|error| cannot_keep(&error))?.as_str().to_owned();
        CapturePlace(self.place.join(&id)).directory(FILES_PLACE)?;
        self.capture(&id)
    }

    /// The capture of this name.
    pub(crate) fn capture(&self, id: &str) -> Result<Arc<Capture>, Refusal> {
        let missing = || Refusal::missing("there is no such capture: it may have been deleted");
        let place = self.place.join(id);
        if !is_id(id) || !place.join(FILES_PLACE).is_dir() {
            return Err(missing());
        }
        let place = place.canonicalize().map_err(|_| missing())?;
        let mut known = self.known();
        let capture = known.entry(id.to_owned()).or_insert_with(|| {
            remove_old(&place.join(MADE));
            remove_old(&place.join(PARTS));
            Arc::new(Capture {
                id: id.to_owned(),
                place: CapturePlace(place),
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
            let place = self.place.join(&id).join(FILES_PLACE);
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
        // What still writes beside it finds its place no more; no list has this name.
        let gone = self.place.join(format!(".{id}"));
        let _ = fs::remove_dir_all(&gone);
        fs::rename(&capture.place.0, &gone)
            .and_then(|()| fs::remove_dir_all(&gone))
            .map_err(|error| Refusal::failed(format!("cannot delete it: {error}")))
    }

    /// Reads a capture anew, or goes on where it is read in the same way.
    pub(crate) fn read(&self, capture: &Capture, filter: Option<Filter>) -> Result<(), Refusal> {
        let files = capture.place.paths();
        if files.is_empty() {
            return Err(Refusal::bad("the capture has no file"));
        }
        let mut current = capture.reading();
        if let Some(reading) = &*current {
            if reading.is_of(&files, filter.as_ref()) {
                return Ok(());
            }
            reading.stop();
        }
        *current = Some(Reading::start(files, filter, Arc::clone(&self.analyses)));
        Ok(())
    }

    /// Starts a command, unless it has run already.
    pub(crate) fn make(&self, capture: &Capture, wish: &Wish) -> Result<Arc<Product>, Refusal> {
        let commands = Arc::clone(&self.commands);
        capture.products().make(&capture.place, wish, self.program.clone(), commands)
    }

    /// Ends all work.
    pub(crate) fn stop_all(&self) {
        self.known().values().for_each(|capture| capture.end());
    }
}

impl Capture {
    /// Its files with their sizes, in the order in which they came.
    pub(crate) fn files(&self) -> Vec<NamedFile> {
        self.place.files()
    }

    /// The path of a file of this name, or of its only file.
    pub(crate) fn path_of(&self, name: Option<&str>) -> Result<PathBuf, Refusal> {
        match (name, &self.files()[..]) {
            (Some(name), _) => self.place.path(name),
            (None, [only]) => self.place.path(&only.name),
            (None, []) => Err(Refusal::bad("the capture has no file")),
            (None, _) => Err(Refusal::bad("the capture has several files: name one")),
        }
    }

    pub(crate) fn reading(&self) -> MutexGuard<'_, Option<Arc<Reading>>> {
        self.reading.lock().expect("no thread panics while it holds a reading")
    }
    pub(crate) fn products(&self) -> MutexGuard<'_, Products> {
        self.products.lock().expect("no thread panics while it holds products")
    }

    fn end(&self) {
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
