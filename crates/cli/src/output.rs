//! What the program says and writes: answers on standard output and in files, all else on standard
//! error.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use tcplab_quantities::Document;

use crate::arguments::JsonArguments;

/// Prints an answer.
///
/// # Errors
/// When nobody takes it: the pipe is closed, the disk is full.
pub(crate) fn answer(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    printed.context("cannot write to standard output")
}

/// Prints `text`, or `value` as JSON in its place where `--json` asks for it. `--json=FILE` writes
/// the file and prints `text`.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn answer_or_json(
    document: &Document,
    json: &JsonArguments,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<()> {
    if let Some(place) = &json.place {
        write_file(place, &in_document(document, value)?)?;
    }
    if json.is_printed() { Ok(()) } else { answer(&text()) }
}

/// `value`, which is an object, as a JSON document that says its schema and version.
///
/// # Errors
/// When it has no JSON form.
pub(crate) fn in_document(document: &Document, value: &impl Serialize) -> Result<String> {
    #[derive(Serialize)]
    struct Whole<'a, T: Serialize> {
        schema: &'a str,
        version: u64,
        #[serde(flatten)]
        value: &'a T,
    }
    let whole = Whole { schema: document.schema, version: document.version, value };
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
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
/// When it cannot be written.
pub(crate) fn write_file(place: &Path, text: &str) -> Result<()> {
    let mut output = Output::create(place)?;
    output.write_all(text.as_bytes())?;
    output.commit()?;
    Ok(())
}

/// Prints a line on standard error. If nobody takes it, there is nobody to tell, and the work goes
/// on.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// `1 trial`, `5 trials`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Lines of at most `width` columns.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    lines_of(&text.split_whitespace().collect::<Vec<_>>(), " ", width)
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

/// A file that a command writes, as it was named on the command line. It is there, whole, once it
/// is [committed](Output::commit); dropped before that, it is as if it had never been begun, and
/// what stood there before still does.
///
/// What is no file to be made whole takes everything at once: standard output, called `-`, devices,
/// pipes, and the open files of a process (`/dev/stdout`, `/dev/fd/3`).
///
/// Writing is buffered. Each error names the output.
#[derive(Debug)]
pub(crate) struct Output {
    name: PathBuf,
    writer: BufWriter<File>,
    growing: Option<Growing>,
}

/// A file that is not whole yet.
#[derive(Debug)]
struct Growing {
    /// Where it stands.
    beside: PathBuf,
    /// Where it will.
    place: PathBuf,
}

/// As many bytes go out at once.
const BUFFER: usize = 1 << 18;

impl Output {
    /// What [`create`](Self::create) takes for standard output.
    pub(crate) const STDOUT: &str = "-";

    /// Begins to write.
    ///
    /// # Errors
    /// When it cannot be written at that place.
    pub(crate) fn create(name: &Path) -> io::Result<Output> {
        let (file, growing) = open(name).map_err(|error| named(name, error))?;
        Ok(Output { name: name.into(), writer: BufWriter::with_capacity(BUFFER, file), growing })
    }

    /// Whether people see at once what is written.
    pub(crate) fn is_terminal(&self) -> bool {
        self.writer.get_ref().is_terminal()
    }

    /// Ends it: all is written, and the file gets its name. The answer is that name, none for
    /// standard output.
    ///
    /// # Errors
    /// When the rest cannot be written, or the file not be put into its place.
    pub(crate) fn commit(mut self) -> io::Result<Option<PathBuf>> {
        self.flush()?;
        if let Some(Growing { beside, place }) = &self.growing {
            // A name that outlives a power failure must not outlive its content.
            let moved = self.writer.get_ref().sync_data().and_then(|()| fs::rename(beside, place));
            moved.map_err(|error| named(&self.name, error))?;
            self.growing = None;
        }
        Ok(Some(std::mem::take(&mut self.name)).filter(|name| name.as_os_str() != Output::STDOUT))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes).map_err(|error| named(&self.name, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|error| named(&self.name, error))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(Growing { beside, .. }) = &self.growing {
            let _ = fs::remove_file(beside);
        }
    }
}

fn open(name: &Path) -> io::Result<(File, Option<Growing>)> {
    if name.as_os_str() == Output::STDOUT {
        return Ok((io::stdout().as_fd().try_clone_to_owned()?.into(), None));
    }
    let (place, is_open_file) = followed(name);
    let there = match fs::metadata(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        there => Some(there?),
    };
    if is_open_file || there.as_ref().is_some_and(|it| !it.is_file()) {
        // An open file may hold what others wrote, and goes on from there.
        return Ok((OpenOptions::new().append(true).open(name)?, None));
    }
    let beside = beside(&place);
    // One of this name is what a process with our number left behind; or a trap.
    let _ = fs::remove_file(&beside);
    let file = File::create_new(&beside)?;
    let growing = Growing { beside, place };
    if let Some(there) = there {
        // Who could not read the old one need not read the new one.
        file.set_permissions(there.permissions()).inspect_err(|_| {
            let _ = fs::remove_file(&growing.beside);
        })?;
    }
    Ok((file, Some(growing)))
}

/// Where the links lead that may stand at `name`, so that these stay and what they lead to is
/// replaced; and whether that is the open file of a process, which has a link in /proc and, for
/// all one can tell, no other name.
fn followed(name: &Path) -> (PathBuf, bool) {
    /// As many as the kernel follows (`MAXSYMLINKS` in include/linux/namei.h).
    const MOST: usize = 40;
    let mut place = name.to_owned();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&place) else { break };
        let folder = place.parent().unwrap_or(Path::new(""));
        // What /dev/fd leads to is itself behind a link.
        let is_process = |folder: PathBuf| folder.starts_with("/proc");
        if folder.canonicalize().is_ok_and(is_process) {
            return (place, true);
        }
        place = folder.join(target);
    }
    (place, false)
}

/// Where a file is written before it gets its name.
fn beside(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

/// The error of writing to `name`, telling so.
fn named(name: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), Unwritten { name: name.into(), source })
}

/// Why an output could not be written.
#[derive(Debug)]
struct Unwritten {
    name: PathBuf,
    source: io::Error,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unwritten { name, source } = self;
        if name.as_os_str() == Output::STDOUT {
            write!(f, "cannot write to standard output: {source}")
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
