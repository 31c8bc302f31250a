//! What a command makes of a capture: pages, files to save, text.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use tcplab_trace::{DisplayFilter, Filter};
use tokio::sync::Semaphore;

use super::place::{CapturePlace, FILES_PLACE, MADE, NamedFile, cannot_keep};
use crate::error::Refusal;
use crate::jobs::{in_words, wait_unless};
use crate::places::below;
use crate::token::Token;

/// Products of a capture that are remembered, the newest.
const REMEMBERED: usize = 40;
/// What is kept of a command's words, bytes.
const SAID: u64 = 16 << 10;
/// What is shown of a text, bytes.
const TEXT: u64 = 1 << 20;
/// Where a command's words go until it has ended.
const ERRORS: &str = "errors";

/// What to make.
#[derive(Debug, Deserialize)]
pub(crate) struct Wish {
    #[serde(flatten)]
    kind: Kind,
    /// Of these packets only.
    filter: Option<String>,
}

/// What can be made.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Kind {
    /// The page of a connection, or of the slowest ones.
    Page {
        connection: Option<usize>,
    },
    /// The packets of a connection, or of all, each with its reason.
    Listing {
        connection: Option<usize>,
        /// Only those for which this display filter holds.
        packets: Option<String>,
    },
    /// The packets of a connection as a ladder.
    Ladder {
        connection: usize,
    },
    /// Packets as bytes.
    Bytes {
        frame: u64,
    },
    /// A copy of the capture with comments.
    Annotated,
    Csv,
    Parquet,
    Json {
        connection: Option<usize>,
    },
    Xplot {
        connection: usize,
    },
    /// Two captures of the same connections.
    Joined {
        client: String,
        server: String,
    },
}

/// What the products of a capture are.
#[derive(Debug, Default)]
pub(crate) struct Products {
    last: u64,
    all: BTreeMap<u64, Arc<Product>>,
}

/// A command and what it makes.
#[derive(Debug)]
pub(crate) struct Product {
    number: u64,
    /// What to type for the same.
    command: String,
    pub(crate) place: PathBuf,
    stop: AtomicBool,
    /// None while it runs; what went wrong.
    end: Mutex<Option<Result<(), String>>>,
}

/// A product as the page sees it.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    number: u64,
    command: String,
    is_running: bool,
    error: Option<String>,
    files: Vec<NamedFile>,
    /// The text, if it is one; its beginning where it is long.
    text: Option<String>,
    is_text_whole: bool,
}

impl Products {
    /// Starts a command of `program` as soon as there is a place among `places`, unless it has run
    /// already.
    pub(super) fn make(
        &mut self,
        capture: &CapturePlace,
        wish: &Wish,
        program: PathBuf,
        places: Arc<Semaphore>,
    ) -> Result<Arc<Product>, Refusal> {
        let draft = Draft::of(capture, wish)?;
        let command = in_words(&draft.shown());
        let same = self.all.values().find(|it| it.command == command && !it.has_failed());
        if let Some(same) = same {
            return Ok(Arc::clone(same));
        }
        let name = Token::random().map_err(|error| cannot_keep(&error))?;
        let place = capture.directory(MADE)?.join(name.as_str());
        fs::create_dir(&place).map_err(|error| cannot_keep(&error))?;
        self.last += 1;
        let (stop, end) = (AtomicBool::new(false), Mutex::default());
        let product = Arc::new(Product { number: self.last, command, place, stop, end });
        self.all.insert(self.last, Arc::clone(&product));
        self.forget();
        let runner = Arc::clone(&product);
        tokio::spawn(async move {
            let Ok(_place) = places.acquire_owned().await else { return };
            let worker = Arc::clone(&runner);
            let ended = tokio::task::spawn_blocking(move || worker.run(&program, &draft)).await;
            runner.ended(ended.unwrap_or_else(|_| Err("a mistake in tcplab".into())));
        });
        Ok(product)
    }

    /// The product of this number.
    pub(crate) fn product(&self, number: u64) -> Result<Arc<Product>, Refusal> {
        let missing = || Refusal::missing("it was not made, or has been forgotten: make it again");
        self.all.get(&number).cloned().ok_or_else(missing)
    }

    /// Stops it, and removes its files.
    pub(crate) fn discard(&mut self, number: u64) -> Result<(), Refusal> {
        self.product(number)?.discard();
        self.all.remove(&number);
        Ok(())
    }

    pub(super) fn stop_all(&self) {
        self.all.values().for_each(|product| product.stop.store(true, Ordering::Relaxed));
    }

    fn forget(&mut self) {
        while self.all.len() > REMEMBERED
            && let Some((_, oldest)) = self.all.pop_first()
        {
            oldest.discard();
        }
    }
}

impl Product {
    fn end(&self) -> MutexGuard<'_, Option<Result<(), String>>> {
        self.end.lock().expect("no thread panics while it holds an end")
    }
    fn ended(&self, end: Result<(), String>) {
        *self.end() = Some(end);
    }
    fn has_failed(&self) -> bool {
        self.is_stopped() || matches!(&*self.end(), Some(Err(_)))
    }
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Stops it; its files are removed now, or by who runs it.
    fn discard(&self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.end().is_some() {
            let _ = fs::remove_dir_all(&self.place);
        }
    }

    /// Runs the command to its end, or until it is stopped.
    fn run(&self, program: &Path, draft: &Draft) -> Result<(), String> {
        if self.is_stopped() {
            let _ = fs::remove_dir_all(&self.place);
            return Err("stopped".into());
        }
        let cannot = |error: std::io::Error| format!("cannot start tcplab: {error}");
        let errors = self.place.join(ERRORS);
        let mut command = Command::new(program);
        command.args(draft.arguments(&self.place)).stdin(Stdio::null());
        command.stderr(File::create(&errors).map_err(cannot)?).stdout(match draft.text {
            Some(name) => Stdio::from(File::create(self.place.join(name)).map_err(cannot)?),
            None => Stdio::null(),
        });
        let mut child = command.spawn().map_err(cannot)?;
        let ended = wait_unless(&mut child, || self.is_stopped());
        let is_good = ended.is_ok_and(|ended| ended.is_some_and(|status| status.success()));
        let said = beginning(&errors, SAID).map(|(text, _)| text).unwrap_or_default();
        let _ = fs::remove_file(&errors);
        if is_good {
            return Ok(());
        }
        let _ = fs::remove_dir_all(&self.place);
        let said = said.replace(&format!("{}/", draft.capture.display()), "");
        Err(if self.is_stopped() { "stopped".into() } else { said })
    }

    pub(crate) fn shown(&self) -> Shown {
        let end = self.end().clone();
        let is_good = matches!(end, Some(Ok(())));
        let files = if is_good { files_below(&self.place) } else { Vec::new() };
        let text = files.iter().find(|file| is_text(&file.name));
        let text = text.and_then(|file| beginning(&self.place.join(&file.name), TEXT));
        let (text, is_text_whole) = text.map_or((None, true), |(text, whole)| (Some(text), whole));
        Shown {
            number: self.number,
            command: self.command.clone(),
            is_running: end.is_none(),
            error: end.and_then(Result::err),
            files,
            text,
            is_text_whole,
        }
    }

    /// A file of it.
    pub(crate) fn file(&self, name: &str) -> Result<PathBuf, Refusal> {
        let is_done = matches!(&*self.end(), Some(Ok(())));
        let missing = || Refusal::missing("there is no such file");
        let file = if is_done { below(&self.place, name)? } else { return Err(missing()) };
        if file.is_file() { Ok(file) } else { Err(missing()) }
    }
}

/// A command before it is known where its files go.
#[derive(Debug)]
struct Draft {
    /// Where the capture's files are.
    capture: PathBuf,
    /// Without the flag of the output.
    arguments: Vec<String>,
    /// The flag of the output and its name.
    output: Option<(&'static str, &'static str)>,
    /// Where standard output goes.
    text: Option<&'static str>,
}

impl Draft {
    fn of(capture: &CapturePlace, wish: &Wish) -> Result<Draft, Refusal> {
        let path = |name: &str| -> Result<String, Refusal> {
            Ok(capture.path(name)?.display().to_string())
        };
        let mut arguments = vec!["trace".to_owned()];
        if let Kind::Joined { client, server } = &wish.kind {
            if client == server {
                return Err(Refusal::bad("choose two files, one of each end"));
            }
            arguments.push(format!("--client={}", path(client)?));
            arguments.push(format!("--server={}", path(server)?));
        } else {
            arguments.extend(capture.paths().iter().map(|file| file.display().to_string()));
            if let Some(filter) = wish.filter.as_ref().filter(|it| !it.trim().is_empty()) {
                Filter::parse(filter).map_err(|error| Refusal::bad(error.to_string()))?;
                arguments.push(format!("--filter={filter}"));
            }
        }
        let (output, text, flag) = match &wish.kind {
            Kind::Page { .. } => (Some(("--html", "report.html")), None, None),
            Kind::Listing { .. } => (None, Some("listing.txt"), Some("--listing".to_owned())),
            Kind::Ladder { .. } => (None, Some("ladder.txt"), Some("--ladder".to_owned())),
            // As text, and with its fields for the page to colour.
            Kind::Bytes { frame } => {
                let json = ("--json", "packet.json");
                (Some(json), Some("bytes.txt"), Some(format!("--hex={frame}")))
            }
            Kind::Annotated => (Some(("--annotate", "annotated.pcapng")), None, None),
            Kind::Csv => (Some(("--csv", "connections.csv")), None, None),
            Kind::Parquet => (Some(("--parquet", "parquet")), None, None),
            Kind::Json { .. } => (Some(("--json", "trace.json")), None, None),
            Kind::Xplot { .. } => (Some(("--xpl", "xplot")), None, None),
            Kind::Joined { .. } => (None, Some("joined.txt"), None),
        };
        arguments.extend(wish.kind.connection().map(|number| format!("--connection={number}")));
        arguments.extend(flag);
        if let Kind::Listing { packets: Some(packets), .. } = &wish.kind {
            DisplayFilter::parse(packets).map_err(|error| Refusal::bad(error.to_string()))?;
            arguments.push(format!("--display-filter={packets}"));
        }
        let capture = capture.directory(FILES_PLACE)?;
        Ok(Draft { capture, arguments, output, text })
    }

    fn with_output(&self, place: &str) -> Vec<String> {
        let output = self.output.map(|(flag, name)| format!("{flag}={place}{name}"));
        self.arguments.iter().cloned().chain(output).collect()
    }
    fn shown(&self) -> Vec<String> {
        self.with_output("")
    }
    fn arguments(&self, place: &Path) -> Vec<String> {
        self.with_output(&format!("{}/", place.display()))
    }
}

impl Kind {
    fn connection(&self) -> Option<usize> {
        match self {
            Kind::Page { connection }
            | Kind::Json { connection }
            | Kind::Listing { connection, .. } => *connection,
            Kind::Ladder { connection } | Kind::Xplot { connection } => Some(*connection),
            _ => None,
        }
    }
}

fn is_text(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|it| it == "txt")
}

/// The files below a directory, one level deep.
fn files_below(place: &Path) -> Vec<NamedFile> {
    let mut files = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for entry in fs::read_dir(place.join(&below)).into_iter().flatten().flatten() {
            let name = below.join(entry.file_name());
            match entry.metadata() {
                Ok(about) if about.is_dir() => waiting.push(name),
                Ok(about) => {
                    let name = name.display().to_string();
                    files.push(NamedFile { name, bytes: about.len() });
                }
                Err(_) => {}
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// At most so many bytes of a text, and whether that is all.
fn beginning(file: &Path, most: u64) -> Option<(String, bool)> {
    let file = File::open(file).ok()?;
    let is_whole = file.metadata().ok()?.len() <= most;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), is_whole))
}
