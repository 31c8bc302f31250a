//! Output: answers go to standard output and files, everything else to standard error.

mod destination;
#[cfg(target_os = "linux")]
mod passed_on;
mod rights;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{self, Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tcplab_quantities::Document;
use tcplab_units::visible_line;

use crate::arguments::JsonArguments;
use crate::unfinished::Unfinished;
use destination::Destination;
#[cfg(target_os = "linux")]
pub(crate) use passed_on::{has_one_output, pass_on_error, pass_on_output};
use rights::SHARED;
pub(crate) use rights::{PRIVATE, new_file};
pub(crate) use terminal::{
    Bar, LiveLine, columns, has_seen_notes, is_dumb, note_columns, output_for_screen,
    print_coloured_note, print_note, print_note_unless, screen_columns,
};

/// What an error of writing to standard output begins with.
pub(crate) const UNHEARD: &str = "cannot write to standard output";

/// Prints an answer.
///
/// # Errors
/// If standard output fails: the pipe is closed, the disk is full.
pub(crate) fn answer(text: &str) -> Result<()> {
    terminal::print(text).context(UNHEARD)
}

/// Prints an answer, on a terminal with colours: `text(true)` is `text(false)` with colours.
///
/// # Errors
/// As [`answer`].
pub(crate) fn answer_coloured(text: impl Fn(bool) -> String) -> Result<()> {
    terminal::print_coloured(text).context(UNHEARD)
}

/// Prints `text`, or `value` as JSON in its place where `--json` asks for it. `--json=FILE` writes
/// the file and prints `text`.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn answer_or_json(
    document: &Document,
    json: &JsonArguments,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<()> {
    write_json(document, json, value)?;
    if json.is_printed() { Ok(()) } else { answer(&text()) }
}

/// Writes `value` as JSON where `--json` asks for it.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_json(
    document: &Document,
    json: &JsonArguments,
    value: &impl Serialize,
) -> Result<()> {
    match &json.place {
        Some(place) => write_file(place, &in_document(document, value)?),
        None => Ok(()),
    }
}

/// `value`, which is an object, as a JSON document that says its schema and version.
///
/// # Errors
/// When it has no JSON form.
pub(crate) fn in_document(document: &Document, value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(&document.of(value))? + "\n")
}

/// A list as an object, with this name for it.
pub(crate) fn listed<'a, T: Serialize>(
    name: &'static str,
    list: &'a [T],
) -> BTreeMap<&'static str, &'a [T]> {
    BTreeMap::from([(name, list)])
}

/// Writes a file, or standard output for `-`.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_file(place: &Path, text: &str) -> Result<()> {
    let mut output = Output::create(place)?;
    output.write_all(text.as_bytes())?;
    output.commit()?;
    Ok(())
}

/// `1 trial`, `5 trials`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What follows the time of a measurement that was stopped.
pub(crate) fn interrupted(was_stopped: bool) -> &'static str {
    if was_stopped { " (interrupted)" } else { "" }
}

/// Lines of at most `width` columns.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    lines_of(&text.split_whitespace().collect::<Vec<_>>(), " ", width)
}

/// Columns for text: those of what shows it, at most 100, which are used where that is not
/// known.
pub(crate) fn text_columns() -> usize {
    columns().map_or(MOST_COLUMNS, |columns| columns.clamp(LEAST_COLUMNS, MOST_COLUMNS))
}

/// Columns of the terminal that shows an answer; lines elsewhere are as long as they are.
pub(crate) fn shown_columns() -> usize {
    screen_columns().map_or(usize::MAX, |columns| columns.max(LEAST_COLUMNS))
}

const MOST_COLUMNS: usize = 100;
/// With fewer, lines are longer than the terminal's.
const LEAST_COLUMNS: usize = 40;

/// Lines of `text` behind `before`, the further ones below where it begins, in at most `width`
/// columns.
pub(crate) fn hanging(before: &str, text: &str, width: usize) -> String {
    let indent = before.chars().count();
    let lines = wrapped(text, width.saturating_sub(indent).max(LEAST_COLUMNS / 2));
    let mut shown = String::new();
    for (place, line) in lines.iter().enumerate() {
        let start = if place == 0 { before.to_owned() } else { " ".repeat(indent) };
        shown += &format!("{start}{line}\n");
    }
    shown
}

/// `text` with its sentences in lines of at most `width` columns; tables, whose cells have two
/// spaces between them, stay.
pub(crate) fn folded(text: &str, width: usize) -> String {
    let fold = |line: &str| {
        let words = line.trim_start();
        if line.chars().count() <= width || words.contains("  ") {
            return format!("{line}\n");
        }
        hanging(&line[..line.len() - words.len()], words, width)
    };
    text.lines().map(fold).collect()
}

/// Parts with `gap` between them, in lines of at most `width` columns.
pub(crate) fn lines_of(parts: &[impl AsRef<str>], gap: &str, width: usize) -> Vec<String> {
    let columns = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for part in parts.iter().map(AsRef::as_ref) {
        match lines.last_mut() {
            Some(line) if columns(line) + columns(gap) + columns(part) <= width => {
                line.push_str(gap);
                line.push_str(part);
            }
            _ => lines.push(part.into()),
        }
    }
    lines
}

/// An output file that the user named. It appears, complete, when it is
/// [committed](Output::commit); dropped before, it leaves the old file in place.
///
/// Standard output (`-`), devices, pipes and open files of a process (`/dev/stdout`, `/dev/fd/3`)
/// are written directly. A terminal is shown control characters as such.
///
/// Writing is buffered. Errors name the output.
#[derive(Debug)]
pub(crate) struct Output {
    name: PathBuf,
    writer: BufWriter<Destination>,
    growing: Option<Growing>,
}

/// A file that is not complete yet.
#[derive(Debug)]
struct Growing {
    /// Its temporary name.
    beside: Unfinished,
    /// Its final name.
    place: PathBuf,
}

/// Size of the write buffer, bytes.
const BUFFER: usize = 1 << 18;

impl Output {
    /// The name of standard output.
    pub(crate) const STDOUT: &str = "-";

    /// Opens the output.
    ///
    /// # Errors
    /// If it cannot be created, or would replace a capture.
    pub(crate) fn create(name: &Path) -> io::Result<Output> {
        spare_capture(name)?;
        Output::create_with(name, SHARED)
    }

    /// The same for a capture, which holds what was sent: unless the file exists, only its owner
    /// may read it.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn create_capture(name: &Path) -> io::Result<Output> {
        Output::create_with(name, PRIVATE)
    }

    fn create_with(name: &Path, mode: u32) -> io::Result<Output> {
        let (file, growing) = open(name, mode).map_err(|error| named(name, error))?;
        let writer = BufWriter::with_capacity(BUFFER, Destination::new(file));
        Ok(Output { name: name.into(), writer, growing })
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.writer.get_ref().is_terminal()
    }

    /// Completes the file and renames it into place. Returns its name, `None` for standard output.
    ///
    /// # Errors
    /// If the rest cannot be written, or the file cannot be renamed.
    pub(crate) fn commit(mut self) -> io::Result<Option<PathBuf>> {
        self.flush()?;
        if let Some(Growing { beside, place }) = &self.growing {
            // After a power failure, a file with its final name must have its content.
            let complete = self.writer.get_ref().file().sync_data();
            let moved = complete.and_then(|()| fs::rename(beside.path(), place));
            moved.map_err(|error| named(&self.name, error))?;
        }
        Ok(Some(std::mem::take(&mut self.name)).filter(|name| name.as_os_str() != Output::STDOUT))
    }
}

/// An error for an output that could not be written at the end of long work. Leaves nothing, and
/// starts no thread, as [`Output::create`] does.
///
/// # Errors
/// As [`Output::create`].
pub(crate) fn check_output(name: &Path) -> io::Result<()> {
    let (place, is_open_file) = followed(name);
    let is_special = fs::metadata(&place).is_ok_and(|it| !it.is_file());
    if name.as_os_str() == Output::STDOUT || is_open_file {
        return Ok(());
    }
    spare_capture(name)?;
    let tried = if is_special {
        OpenOptions::new().append(true).open(name).map(drop)
    } else {
        let beside = beside(&place);
        new_file(SHARED)
            .write(true)
            .create_new(true)
            .open(&beside)
            .and_then(|_| fs::remove_file(beside))
    };
    tried.map_err(|error| named(name, error))
}

/// Refuses to replace a capture with anything else: it is an input, or a name was mistyped.
fn spare_capture(name: &Path) -> io::Result<()> {
    if name.is_file() && tcplab_capture::open(name).is_ok() {
        return Err(named(name, io::Error::other("it is a capture; choose another file")));
    }
    Ok(())
}

/// The same for all outputs of a command, but those in the folder that it makes itself.
///
/// # Errors
/// As [`check_output`], and as [`refuse_shared`].
pub(crate) fn check_outputs<'a>(
    places: impl IntoIterator<Item = &'a Option<PathBuf>>,
    made: Option<&Path>,
) -> Result<()> {
    let places: Vec<&PathBuf> = places.into_iter().flatten().collect();
    refuse_shared(&places)?;
    let is_elsewhere = |place: &&PathBuf| !made.is_some_and(|made| place.starts_with(made));
    Ok(places.into_iter().filter(is_elsewhere).try_for_each(|place| check_output(place))?)
}

/// Refuses two outputs in one place, where one would be mixed with the other or replace it.
///
/// # Errors
/// When two are standard output, or the same file.
pub(crate) fn refuse_shared(places: &[&PathBuf]) -> Result<()> {
    let (printed, named): (Vec<&PathBuf>, Vec<&PathBuf>) =
        places.iter().copied().partition(|place| place.as_os_str() == Output::STDOUT);
    if printed.len() > 1 {
        bail!("only one output can go to standard output (`-`)");
    }
    let mut files = BTreeSet::new();
    for place in named {
        let (target, is_open_file) = followed(place);
        // Devices and pipes take all that is written.
        if is_open_file || fs::metadata(&target).is_ok_and(|it| !it.is_file()) {
            continue;
        }
        if !files.insert(resolved(&target)) {
            bail!("two outputs would be the file {}: give each its own", place.display());
        }
    }
    Ok(())
}

/// The file's only name, also before it is there.
fn resolved(file: &Path) -> PathBuf {
    let file = path::absolute(file).unwrap_or_else(|_| file.into());
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, file.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => file,
    }
}

/// Commits an output and prints its name and content on standard error.
///
/// # Errors
/// If it cannot be completed.
pub(crate) fn commit(output: Output, content: &str) -> Result<()> {
    if let Some(file) = output.commit()? {
        print_note(&visible_line(&format!("{}: {content}", file.display())));
    }
    Ok(())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes).map_err(|error| named(&self.name, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|error| named(&self.name, error))
    }
}

fn open(name: &Path, mode: u32) -> io::Result<(File, Option<Growing>)> {
    if name.as_os_str() == Output::STDOUT {
        return Ok((terminal::stdout_for_data()?, None));
    }
    let (place, is_open_file) = followed(name);
    let there = match fs::metadata(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        there => Some(there?),
    };
    if is_open_file || there.as_ref().is_some_and(|it| !it.is_file()) {
        // An open file may contain what others wrote: append.
        return Ok((OpenOptions::new().append(true).open(name)?, None));
    }
    let beside = beside(&place);
    // A leftover of a process with our PID, or a trap.
    let _ = fs::remove_file(&beside);
    // The new file keeps the access rights of the old one.
    let mode = there.as_ref().map_or(mode, rights::of);
    let (beside, file) = Unfinished::file(beside, |beside| {
        new_file(mode).write(true).create_new(true).open(beside)
    })?;
    if let Some(there) = there {
        // What the umask took away.
        file.set_permissions(there.permissions())?;
    }
    Ok((file, Some(Growing { beside, place })))
}

/// Follows symbolic links at `name`, so that the target is replaced and the links stay. Also
/// returns whether the target is an open file of a process (a link in /proc).
fn followed(name: &Path) -> (PathBuf, bool) {
    /// The kernel's limit (`MAXSYMLINKS` in include/linux/namei.h).
    const MOST: usize = 40;
    let mut place = name.to_owned();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&place) else { break };
        let folder = place.parent().unwrap_or(Path::new(""));
        // /dev/fd is itself a link.
        let is_process = |folder: PathBuf| folder.starts_with("/proc");
        if folder.canonicalize().is_ok_and(is_process) {
            return (place, true);
        }
        place = folder.join(target);
    }
    (place, false)
}

/// The temporary name of a file.
fn beside(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

/// Adds `name` to an error of writing.
fn named(name: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), Unwritten { name: name.into(), source })
}

/// Why an output could not be written.
#[derive(Debug)]
pub(crate) struct Unwritten {
    name: PathBuf,
    source: io::Error,
}

impl Unwritten {
    /// What can be done about it.
    pub(crate) fn remedy(&self) -> Option<&'static str> {
        remedy_of(self.source.kind())
    }
}

/// What can be done where an output cannot be written.
pub(crate) fn remedy_of(refusal: io::ErrorKind) -> Option<&'static str> {
    match refusal {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("make room on that disk, or write to another")
        }
        io::ErrorKind::FileTooLarge => {
            Some("raise the limit on the size of files (`ulimit -f unlimited`)")
        }
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotADirectory => Some("write to another place"),
        _ => None,
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unwritten { name, source } = self;
        if name.as_os_str() == Output::STDOUT {
            write!(f, "{UNHEARD}: {source}")
        } else {
            write!(f, "cannot write {}: {source}", name.display())
        }
    }
}

impl std::error::Error for Unwritten {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests;
