//! PNG and PDF of figures, made by a program that converts SVG.
//!
//! The program reads standard input and writes standard output, so it learns no file name.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result};
use tcplab_testbed::{TrialError, end_group, start_group};
use tcplab_units::visible_line;

use crate::output::print_note;
use crate::remedied::Remedied;
use crate::signals::stop_on_signals;

/// How long a converter may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// The largest picture, bytes.
const LARGEST: usize = 64 << 20;
/// How much of what a converter says is kept, the end of it, bytes.
const KEPT: usize = 4 << 10;
/// The lines of it that are shown.
const SHOWN: usize = 4;
/// How often it is looked whether a converter has ended.
const TICK: Duration = Duration::from_millis(5);
/// How long it is waited for the last words of a converter that was ended.
const GRACE: Duration = Duration::from_secs(1);

/// What an SVG is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Picture {
    /// Two pixels for each unit of the SVG.
    Png,
    /// A page as large as the figure, at 96 units to the inch.
    Pdf,
}

impl Picture {
    fn name(self) -> &'static str {
        match self {
            Picture::Png => "PNG",
            Picture::Pdf => "PDF",
        }
    }

    /// What each such file begins with.
    fn signature(self) -> &'static [u8] {
        match self {
            Picture::Png => b"\x89PNG\r\n\x1a\n",
            Picture::Pdf => b"%PDF-",
        }
    }
}

/// A program that converts SVG.
struct Converter {
    program: &'static str,
    png: &'static [&'static str],
    pdf: &'static [&'static str],
}

/// The best first.
const CONVERTERS: [Converter; 2] = [
    Converter {
        program: "rsvg-convert",
        png: &["--format=png", "--zoom=2"],
        pdf: &["--format=pdf"],
    },
    // Version 1.0 or newer. A unit is a pixel at 96 dots per inch.
    Converter {
        program: "inkscape",
        png: &["--pipe", "--export-type=png", "--export-filename=-", "--export-dpi=192"],
        pdf: &["--pipe", "--export-type=pdf", "--export-filename=-"],
    },
];

impl Converter {
    fn command(&self, picture: Picture) -> Command {
        let mut command = Command::new(self.program);
        command.args(match picture {
            Picture::Png => self.png,
            Picture::Pdf => self.pdf,
        });
        command
    }
}

/// A picture.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) bytes: Vec<u8>,
    /// The program that made it.
    pub(crate) program: &'static str,
    /// What the program said on standard error, made visible; mostly nothing.
    pub(crate) said: String,
}

/// The SVG as a picture, by a converter, which a signal ends. What the converter says is told.
///
/// # Errors
/// If none is installed, it fails, or takes too long.
pub(crate) fn converted(svg: &str, picture: Picture) -> Result<Vec<u8>> {
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let made = convert(svg, picture, LIMIT, &stop)?;
    if !made.said.is_empty() {
        print_note(&format!("{} says: {}", made.program, made.said));
    }
    Ok(made.bytes)
}

/// Converts an SVG with the first converter that is installed, which is ended after `limit`, or
/// when `stop` is set.
///
/// # Errors
/// If none is installed, it fails, or takes too long.
pub(crate) fn convert(
    svg: &str,
    picture: Picture,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Converted> {
    for converter in &CONVERTERS {
        let program = converter.program;
        let command = converter.command(picture);
        let Some(ended) = run(command, svg, limit, stop).with_context(cannot(program))? else {
            continue;
        };
        let (bytes, said) = pictured(ended, program, picture, limit)?;
        return Ok(Converted { bytes, program, said });
    }
    let [first, second] = CONVERTERS.map(|it| it.program);
    let said =
        format!("no converter of SVG is installed: PNG and PDF need `{first}` or `{second}`");
    Err(Remedied::error(said, "`apt install librsvg2-bin`, or `-o FILE.svg`"))
}

fn cannot(program: &str) -> impl Fn() -> String {
    move || format!("cannot run {program}")
}

/// The picture that a converter made, and what it said.
fn pictured(
    ended: Ended,
    program: &str,
    picture: Picture,
    limit: Duration,
) -> Result<(Vec<u8>, String)> {
    let said = last_lines(&ended.said);
    let failed = |how: String| -> Result<_> {
        let colon = if said.is_empty() { "" } else { ": " };
        Err(unmade(format!("`{program}` {how}{colon}{said}")))
    };
    let name = picture.name();
    match ended.how {
        How::Stopped => Err(TrialError::Stopped.into()),
        How::Late => failed(format!("made no {name} within {} s", limit.as_secs_f64())),
        _ if ended.output.len() > LARGEST => {
            failed(format!("made a {name} of more than {} MiB", LARGEST >> 20))
        }
        How::ByItself(status) if !status.success() => failed(format!("made no {name} ({status})")),
        How::ByItself(_) if !ended.output.starts_with(picture.signature()) => {
            failed(format!("wrote something that is no {name}"))
        }
        How::ByItself(_) => Ok((ended.output, said)),
    }
}

fn unmade(said: String) -> Error {
    Remedied::error(said, "`-o FILE.svg`, and another converter")
}

/// The last lines, made visible.
fn last_lines(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<_> = lines.map(visible_line).collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n  ")
}

/// A program that has ended.
struct Ended {
    how: How,
    /// What it wrote to standard output, one byte more than [`LARGEST`] at most.
    output: Vec<u8>,
    /// The end of what it wrote to standard error.
    said: Vec<u8>,
}

enum How {
    ByItself(ExitStatus),
    /// After its time.
    Late,
    /// By the user.
    Stopped,
}

/// Runs a program to its end, or ends it with all that it started. None where there is no such
/// program.
fn run(
    mut command: Command,
    input: &str,
    limit: Duration,
    stop: &AtomicBool,
) -> io::Result<Option<Ended>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = match start_group(&mut command) {
        Ok(child) => Running { child, is_over: false },
        // A folder of PATH that may not be read hides whether it is there.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let child = &mut running.child;
    let output = in_thread(child.stdout.take(), |stdout| beginning(stdout, LARGEST + 1))?;
    let said = in_thread(child.stderr.take(), |stderr| end(stderr, KEPT))?;
    let input = input.to_owned();
    // One that ends without reading all has its reasons.
    in_thread(child.stdin.take(), move |mut stdin| drop(stdin.write_all(input.as_bytes())))?;
    let began = Instant::now();
    let how = loop {
        let status = running.child.try_wait()?;
        if let Some(status) = status.filter(|_| output.is_finished() && said.is_finished()) {
            running.is_over = true;
            break How::ByItself(status);
        }
        if stop.load(Ordering::Relaxed) {
            break How::Stopped;
        }
        if began.elapsed() > limit {
            break How::Late;
        }
        thread::sleep(TICK);
    };
    drop(running);
    Ok(Some(Ended { how, output: result(output), said: result(said) }))
}

/// Does something with a pipe, which may block.
fn in_thread<P: Send + 'static, R: Send + 'static>(
    pipe: Option<P>,
    work: impl FnOnce(P) -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    let pipe = pipe.ok_or_else(|| io::Error::other("it has no pipe"))?;
    thread::Builder::new().spawn(move || work(pipe))
}

/// What a thread has read; nothing while a process that nobody ended keeps its pipe open.
fn result(thread: JoinHandle<Vec<u8>>) -> Vec<u8> {
    let began = Instant::now();
    while !thread.is_finished() && began.elapsed() < GRACE {
        thread::sleep(TICK);
    }
    if thread.is_finished() { thread.join().unwrap_or_default() } else { Vec::new() }
}

/// The first bytes; who writes more cannot.
fn beginning(pipe: impl Read, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.take(most as u64).read_to_end(&mut bytes);
    bytes
}

/// The last bytes.
fn end(mut pipe: impl Read, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
        bytes.drain(..bytes.len().saturating_sub(most));
    }
    bytes
}

/// A program that ends, with all that it started, when this is dropped.
struct Running {
    child: Child,
    is_over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            end_group(&mut self.child);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn run_shell(script: &str, input: &str, limit: Duration) -> Ended {
        run(shell(script), input, limit, &AtomicBool::new(false)).unwrap().unwrap()
    }

    #[test]
    fn program_gets_its_input_and_what_it_writes_is_read() {
        // More than a pipe holds.
        let input = "0123456789".repeat(100_000);
        let script = "cat; yes no font | head -n 9999 >&2";
        let ended = run_shell(script, &input, LIMIT);
        assert!(matches!(ended.how, How::ByItself(status) if status.success()));
        assert_eq!(ended.output, input.as_bytes());
        assert_eq!(ended.said.len(), KEPT);
        assert!(ended.said.ends_with(b"no font\nno font\n"));
        // It reads nothing.
        let ended = run_shell("exit 3", &input, LIMIT);
        assert!(matches!(ended.how, How::ByItself(status) if status.code() == Some(3)));
    }

    #[test]
    fn program_that_is_missing_is_none() {
        let none = Command::new("/nonexistent/converter");
        assert!(run(none, "", LIMIT, &AtomicBool::new(false)).unwrap().is_none());
    }

    /// A process that ended and for which nobody waited is no longer running.
    fn is_running(pid: &str) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    }

    #[test]
    fn program_that_hangs_is_ended_with_all_that_it_started() {
        let script = "sleep 1000 & echo $! >&2; wait";
        // On a busy machine it needs longer to begin.
        let limits = [100, 1_000, 10_000, 60_000].map(Duration::from_millis);
        let pid = limits.into_iter().find_map(|limit| {
            let ended = run_shell(script, "", limit);
            assert!(matches!(ended.how, How::Late));
            Some(String::from_utf8(ended.said).unwrap()).filter(|said| said.ends_with('\n'))
        });
        let pid = pid.expect("it has begun");
        // It has got its signal; the kernel may still be about to end it.
        let began = Instant::now();
        while is_running(pid.trim()) {
            assert!(began.elapsed() < Duration::from_secs(60), "{pid} is still running");
            thread::sleep(TICK);
        }
    }

    #[test]
    fn program_that_writes_without_end_or_is_to_stop_is_ended() {
        let ended = run_shell("yes", "", LIMIT);
        assert_eq!(ended.output.len(), LARGEST + 1);
        let error = pictured(ended, "yes", Picture::Pdf, LIMIT).unwrap_err().to_string();
        assert_eq!(error, "`yes` made a PDF of more than 64 MiB");
        let stop = AtomicBool::new(true);
        let ended = run(shell("sleep 1000"), "", LIMIT, &stop).unwrap().unwrap();
        let error = pictured(ended, "sleep", Picture::Pdf, LIMIT).unwrap_err();
        assert!(matches!(error.downcast_ref(), Some(TrialError::Stopped)), "{error}");
    }

    #[test]
    fn errors_name_the_program_and_what_it_said() {
        let exit = |code: i32| How::ByItself(ExitStatus::from_raw(code << 8));
        let cases = [
            (exit(1), "", "\x1b[2Jbad\n\n", "`x` made no PNG (exit status: 1): \\x1b[2Jbad"),
            (exit(1), "", "1\n2\n3\n4\n5", "`x` made no PNG (exit status: 1): 2\n  3\n  4\n  5"),
            (exit(0), "", "", "`x` wrote something that is no PNG"),
            (exit(0), "%PDF-1.5", "a\tb", "`x` wrote something that is no PNG: a\\tb"),
            (How::Late, "\x7fPNG", "", "`x` made no PNG within 0.5 s"),
        ];
        for (how, output, said, expected) in cases {
            let ended = Ended { how, output: output.into(), said: said.into() };
            let limit = Duration::from_millis(500);
            let error = pictured(ended, "x", Picture::Png, limit).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let ended = Ended { how: exit(0), output: b"%PDF-1.5".into(), said: b"no font\n".into() };
        let (bytes, said) = pictured(ended, "x", Picture::Pdf, LIMIT).unwrap();
        assert_eq!((&bytes[..], said.as_str()), (&b"%PDF-1.5"[..], "no font"));
    }
}
