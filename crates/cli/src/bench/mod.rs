//! `tcplab bench`.

mod exports;
mod recordings;
mod shown;
mod warnings;

use std::collections::BTreeSet;
use std::io::{PipeWriter, Read, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tcplab_recording::Summary;
use tcplab_results::bench::{Answer, By, CommandRun, PathTimes, judged, least_runs, times};
use tcplab_testbed::{ShellEnd, ShellRequest, TrialError, shell_in_turn};
use tcplab_units::{Rng, Span, rounded, visible_line};

use crate::arguments::{BenchArguments, FailOn, JsonArguments, Judge, PathChoice, UseArguments};
use crate::exit::{FAILED, of_signal};
use crate::expectations::goodput;
use crate::output::{
    LiveLine, Output, answer, check_outputs, folded, has_seen_notes, print_note, shown_columns,
    write_file,
};
use crate::passing::{HEADERS, PassingDirectory};
use crate::path_choice;
use crate::print_error::print_error;
use crate::remedied::Remedied;
use crate::run::device;
use crate::shell::moving;
use recordings::Recordings;
use warnings::Warnings;

/// The most paths.
const PATHS_MAX: usize = 16;

pub(crate) fn bench(arguments: &BenchArguments) -> Result<ExitCode> {
    refuse_impossible(arguments)?;
    // Not only after all runs.
    check_outputs(exports(arguments), None)?;
    warn_of_same(&arguments.commands);
    let mut paths = Vec::new();
    for path in &arguments.paths {
        paths.push(request(arguments, path)?);
    }
    let mut bench = Bench {
        arguments,
        runs: vec![vec![Vec::new(); arguments.commands.len()]; paths.len()],
        paths,
        warnings: Warnings::default(),
        progress: Progress::of(arguments),
        recordings: Recordings::of(arguments)?,
        done: 0,
    };
    let ended = bench.run();
    bench.progress.clear();
    if bench.done == 0 {
        return ended.map(|code| code.unwrap_or(ExitCode::SUCCESS));
    }
    let all = bench.finish()?;
    match ended? {
        Some(code) => Ok(code),
        None => verdict(&all, arguments.fail_on),
    }
}

/// The exit code of all verdicts.
///
/// # Errors
/// When none fails that is known, and one is unknown, which is no success.
fn verdict(all: &[PathTimes], fail_on: FailOn) -> Result<ExitCode> {
    let verdicts = || all.iter().flat_map(|path| &path.verdicts);
    if verdicts().any(|verdict| fail_on.fails_on_answer(verdict.answer)) {
        return Ok(ExitCode::from(FAILED));
    }
    let unknown = verdicts().filter(|verdict| verdict.answer == Answer::Unknown).count();
    if fail_on == FailOn::Never || unknown == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let said = format!("{} unknown", rounded::counted(unknown, "verdict is", "verdicts are"));
    Err(Remedied::error(said, "the answer says why; without --fail-on verdicts do not count"))
}

fn is_stdout(place: &Path) -> bool {
    place.as_os_str() == Output::STDOUT
}

/// Where results go beside, or in place of, the table.
fn exports(arguments: &BenchArguments) -> [&Option<PathBuf>; 3] {
    let BenchArguments { export_csv, export_json, export_markdown, .. } = arguments;
    [export_csv, export_json, export_markdown]
}

/// A command may be compared with itself, to see what chance does; more often it is a mistake.
fn warn_of_same(commands: &[String]) {
    for (index, command) in commands.iter().enumerate() {
        if let Some(first) = commands[..index].iter().position(|other| other == command) {
            let [one, other] = [first, index].map(shown::letter);
            let said = "are the same command: what differs is chance";
            print_note(&format!("tcplab: warning: {one} and {other} {said}"));
        }
    }
}

/// What clap cannot see.
fn refuse_impossible(arguments: &BenchArguments) -> Result<()> {
    let paths = &arguments.paths;
    if paths.len() > PATHS_MAX {
        bail!("{} paths: use at most {PATHS_MAX}", paths.len());
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = paths.iter().find(|path| !seen.insert(*path)) {
        bail!("--path {} is there twice", visible_line(twice));
    }
    let is_printed = exports(arguments).into_iter().flatten().any(|place| is_stdout(place));
    if is_printed && arguments.show_output {
        bail!("--show-output and an export to `-` would be mixed on standard output");
    }
    let least = least_runs(paths.len() * (arguments.commands.len() - 1));
    if arguments.fail_on != FailOn::Never && (arguments.runs as usize) < least {
        let runs = rounded::counted(arguments.runs as usize, "run", "runs");
        let said = format!("with {runs} each no difference can be shown: --fail-on says nothing");
        return Err(Remedied::error(said, format!("--runs {least} or more")));
    }
    Ok(())
}

/// How the first command runs behind this path.
fn request(arguments: &BenchArguments, path: &str) -> Result<ShellRequest> {
    let choice = PathChoice { path: path.to_owned(), set: arguments.set.clone() };
    let using = UseArguments {
        capture: None::<PathBuf>,
        snaplen: arguments.capture.as_ref().map(|_| arguments.snaplen.unwrap_or(HEADERS)),
        ui: None,
        tuning: arguments.tuning.clone(),
        live: None,
        live_log: None,
        quiet: true,
        json: JsonArguments::default(),
        seed: arguments.seed,
    };
    let device = arguments.io.map(device);
    Ok(ShellRequest {
        moving: moving(&choice, &using, device)?,
        description: path_choice::description(&choice),
        command: Vec::new(),
        far: arguments.far_command.as_ref().map(|far| {
            if arguments.show_output {
                far.into()
            } else {
                format!("exec >/dev/null 2>&1\n{far}").into()
            }
        }),
        wait_for: arguments.wait_for,
        join: false,
        around: None,
        device,
        mtu: 1500,
        congestion: arguments.congestion.clone(),
        time_limit: arguments.timeout.map(|limit| Duration::from_nanos(limit.as_nanos())),
    })
}

/// The runs so far.
struct Bench<'a> {
    arguments: &'a BenchArguments,
    paths: Vec<ShellRequest>,
    /// Of each path and command.
    runs: Vec<Vec<Vec<CommandRun>>>,
    warnings: Warnings,
    progress: Progress,
    recordings: Option<Recordings>,
    /// Whole blocks that count.
    done: u32,
}

/// What the process that ran a command tells the other.
#[derive(Serialize, Deserialize)]
struct Told {
    run: CommandRun,
    failure: Option<String>,
    warnings: Vec<String>,
    /// Why a recorded run has no goodput.
    no_goodput: Option<String>,
}

impl Bench<'_> {
    /// Runs all commands, in blocks. Gives an exit code where it was stopped.
    fn run(&mut self) -> Result<Option<ExitCode>> {
        let BenchArguments { warmup, runs, seed, .. } = *self.arguments;
        let mut rng = Rng::new(seed, "order of commands");
        let commands = 0..self.arguments.commands.len();
        let all = 0..self.paths.len();
        let mut order: Vec<[usize; 2]> =
            all.flat_map(|path| commands.clone().map(move |command| [path, command])).collect();
        for block in 0..warmup + runs {
            rng.shuffle(&mut order);
            let mut ended = Vec::new();
            for [path, command] in &order {
                match self.run_one(*path, *command, block)? {
                    Attempt::Ended(told) => ended.push(told),
                    Attempt::Stopped(code) => return Ok(Some(code)),
                    Attempt::Asked(signal) => {
                        self.tell_stopped();
                        return Ok(Some(ExitCode::from(of_signal(signal))));
                    }
                }
            }
            if block >= warmup {
                self.add_block(&order, ended);
            }
        }
        Ok(None)
    }

    /// Adds the runs of a block, in the order in which they ran.
    fn add_block(&mut self, order: &[[usize; 2]], ended: Vec<Told>) {
        for ([path, command], told) in order.iter().zip(ended) {
            let Told { run, warnings, no_goodput, .. } = told;
            let no_goodput = no_goodput.filter(|_| self.arguments.by == Judge::Goodput);
            let no_goodput = no_goodput.map(|why| format!("the goodput is unknown: {why}"));
            for warning in warnings.into_iter().chain(no_goodput) {
                self.warnings.add(*path, shown::letter(*command), warning);
            }
            self.runs[*path][*command].push(run);
        }
        self.done += 1;
    }

    fn tell_stopped(&self) {
        print_note(&match &self.recordings {
            Some(recordings) => {
                format!("tcplab: stopped; the runs so far are in {}", recordings.shown())
            }
            None if self.done > 0 => "tcplab: stopped".to_owned(),
            None => "tcplab: stopped; nothing is written".to_owned(),
        });
    }

    /// Writes and prints the blocks that are done, and what they say.
    fn finish(self) -> Result<Vec<PathTimes>> {
        let Bench { arguments, paths, runs, warnings, done, .. } = self;
        let count = done as usize * arguments.commands.len();
        let names: Vec<(&str, usize)> = paths.iter().map(|it| (&*it.description, count)).collect();
        let unfinished = (done < arguments.runs)
            .then(|| format!("unfinished: {done} of {} runs of each command", arguments.runs));
        let mut warnings = warnings.lines(&names);
        warnings.extend(unfinished.clone());
        for warning in &warnings {
            print_note(&format!("tcplab: warning: {warning}"));
        }
        let mut all = Vec::new();
        for (path, runs) in paths.into_iter().zip(runs) {
            let commands = arguments.commands.iter().zip(runs);
            let commands = commands.filter_map(|(command, runs)| times(command, runs)).collect();
            all.push((path.description, commands));
        }
        let by = By::from(arguments.by);
        let all = judged(all, by);
        let mark = unfinished.map_or(String::new(), |it| format!("\nThis bench is {it}.\n"));
        let mut has_answered = false;
        let texts: [(_, &dyn Fn() -> Result<String>); 3] = [
            (&arguments.export_csv, &|| Ok(exports::csv(&all))),
            (&arguments.export_json, &|| exports::json(arguments, &all, &warnings)),
            (&arguments.export_markdown, &|| Ok(exports::markdown(&all, by) + &mark)),
        ];
        for (place, text) in texts {
            let Some(place) = place else { continue };
            write_file(place, &text()?)?;
            has_answered |= is_stdout(place);
            if !is_stdout(place) {
                print_note(&format!("written: {}", place.display()));
            }
        }
        if !has_answered {
            answer(&folded(&(shown::tables(&all, by) + &mark), shown_columns()))?;
        }
        Ok(all)
    }

    /// Runs a command once.
    ///
    /// # Errors
    /// When it fails, where that does not count as a run.
    fn run_one(&mut self, path: usize, command: usize, block: u32) -> Result<Attempt> {
        let Bench { arguments, paths, .. } = self;
        let text = &arguments.commands[command];
        let request = &mut paths[path];
        let name = shown::letter(command);
        self.progress.show(block, name, &request.description);
        let quiet = if arguments.show_output { "" } else { " >/dev/null 2>&1" };
        let line = format!("exec </dev/null{quiet}\n{text}");
        request.command = vec!["sh".into(), "-c".into(), line.into()];
        request.moving.seed = arguments.seed.wrapping_add(u64::from(block));
        let number = (block + 1).saturating_sub(arguments.warmup);
        request.moving.capture = match &self.recordings {
            Some(recordings) if number > 0 => {
                Some(recordings.place(path, &request.description, name, number)?)
            }
            _ => None,
        };
        request.moving.is_passing = false;
        let passing = match arguments.by {
            Judge::Goodput if number > 0 => PassingDirectory::of(&mut request.moving)?,
            Judge::Goodput | Judge::Time => None,
        };
        let attempt = attempt(request, number)?;
        drop(passing);
        let Attempt::Ended(Told { run, failure, .. }) = &attempt else { return Ok(attempt) };
        let description = &request.description;
        if let Some(failure) = failure {
            bail!("{name} behind {description}: {failure}");
        }
        if let (true, false, Some(limit)) =
            (run.is_timed_out, arguments.ignore_failure, arguments.timeout)
        {
            let limit = rounded::span(limit);
            let text = visible_line(text);
            let said = format!("{name} (`{text}`) took longer than {limit} behind {description}");
            let remedy = "a longer --timeout; --ignore-failure counts it as failed, with this time";
            return Err(Remedied::error(said, remedy));
        }
        if run.exit_code != 0 && !arguments.ignore_failure {
            let said = format!(
                "{name} (`{}`) ended with exit code {} behind {description}",
                visible_line(text),
                run.exit_code
            );
            let remedy = "--show-output shows what it says; --ignore-failure times it all the same";
            return Err(Remedied::error(said, remedy));
        }
        Ok(attempt)
    }
}

/// How a run ended.
enum Attempt {
    Ended(Told),
    /// Nothing more is to be run; why is said.
    Stopped(ExitCode),
    /// By this signal.
    Asked(i32),
}

fn attempt(request: &ShellRequest, block: u32) -> Result<Attempt> {
    let seed = request.moving.seed;
    let (mut reader, writer) = pipe().context("cannot make a pipe")?;
    let (code, asked) = shell_in_turn(request, |ended| {
        tell(writer, ended, block, seed, request.moving.capture.as_deref())
    })?;
    let mut text = Vec::new();
    reader.read_to_end(&mut text)?;
    if let Some(signal) = asked {
        return Ok(Attempt::Asked(signal));
    }
    if text.is_empty() {
        return Ok(Attempt::Stopped(ExitCode::from(code)));
    }
    Ok(Attempt::Ended(serde_json::from_slice(&text)?))
}

/// In the process that ran the command: tells the other how it ended, or prints why not. Returns
/// its exit code.
fn tell(
    mut to: PipeWriter,
    ended: Result<ShellEnd, TrialError>,
    block: u32,
    path_seed: u64,
    recording: Option<&Path>,
) -> u8 {
    let told = ended.map_err(anyhow::Error::from).and_then(|ended| {
        let ShellEnd { code, failure, took, is_timed_out, retransmissions, summary, .. } = ended;
        let Summary { traffic, warnings, .. } = summary;
        let ways = [traffic.forward, traffic.reverse];
        let (goodput, no_goodput) = match recording.map(goodput) {
            Some(Ok(rate)) => (Some(rate.as_mbit_f64()), None),
            Some(Err(why)) => (None, Some(format!("{why:#}"))),
            None => (None, None),
        };
        let run = CommandRun {
            block,
            path_seed,
            time_seconds: took.as_secs_f64(),
            exit_code: code,
            packets: ways.iter().map(|way| way.packets_in).sum(),
            bytes: ways.iter().map(|way| way.bytes_in).sum(),
            dropped_packets: ways.iter().map(|way| way.dropped).sum(),
            retransmissions,
            goodput_mbit_per_second: goodput,
            is_timed_out,
        };
        Ok(to.write_all(&serde_json::to_vec(&Told { run, failure, warnings, no_goodput })?)?)
    });
    match told {
        Ok(()) => 0,
        Err(error) => {
            print_error(&error);
            crate::exit::ERROR
        }
    }
}

/// Says on standard error how far it is: a changing line on a terminal, elsewhere a line per block.
struct Progress {
    began: Instant,
    line: LiveLine,
    warmup: u32,
    runs: u32,
    done: u32,
    total: u32,
    block: Option<u32>,
}

impl Progress {
    fn of(arguments: &BenchArguments) -> Progress {
        let BenchArguments { warmup, runs, commands, paths, .. } = arguments;
        let each = (commands.len() * paths.len()) as u32;
        let total = (warmup + runs).saturating_mul(each);
        let (began, line) = (Instant::now(), LiveLine::new());
        Progress { began, line, warmup: *warmup, runs: *runs, done: 0, total, block: None }
    }

    /// Before a run.
    fn show(&mut self, block: u32, name: char, path: &str) {
        let place = match block.checked_sub(self.warmup) {
            Some(run) => format!("run {} of {}", run + 1, self.runs),
            None => format!("warm-up {} of {}", block + 1, self.warmup),
        };
        let left = match self.done {
            0 => String::new(),
            done => {
                let each = self.began.elapsed().as_secs_f64() / f64::from(done);
                let seconds = (each * f64::from(self.total - done)).ceil() as u64;
                format!(", about {} left", rounded::span(Span::from_secs(seconds)))
            }
        };
        if has_seen_notes() {
            self.line.show(&format!("{place}: {name} behind {path}{left}"));
        } else if self.block.replace(block) != Some(block) {
            print_note(&format!("{place}{left}"));
        }
        self.done += 1;
    }

    fn clear(&self) {
        self.line.clear();
    }
}
