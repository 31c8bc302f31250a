//! `tcplab kernel`.

mod progress;
mod shown;

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::{Context, Error, Result, anyhow};
use tcplab_kernels::{Build, BuildError, BuildSource, Built, Cache, CacheError, DEFAULT_HZ};
use tcplab_path::tc::quoted_path;
use tcplab_quantities::{KERNEL_DOCUMENT, KERNELS_DOCUMENT};

use crate::arguments::{BuildArguments, KernelArguments, KernelCommand};
use crate::exit::ERROR;
use crate::output::{answer, answer_or_json, listed, print_note, print_note_unless};
use crate::remedied::Remedied;
use crate::signals::stop_on_signals;
use progress::Display;
pub(crate) use shown::ability;
use shown::{Entry, Shown, description, table};

/// What is said where an image is made.
const LICENCE: &str = "Linux is licensed under GPL-2.0. The image is for your own use; whoever passes it on must \
                       offer its source.";

pub(crate) fn kernel(arguments: &KernelArguments) -> Result<ExitCode> {
    let cache = Cache::of_user()?;
    match &arguments.command {
        KernelCommand::Build(arguments) => return build(&cache, arguments),
        KernelCommand::List(arguments) => {
            let all: Vec<Entry> = cache.kernels()?.into_iter().map(Entry::from).collect();
            answer_or_json(&KERNELS_DOCUMENT, &arguments.json, &listed("kernels", &all), || {
                table(&all, cache.root())
            })?;
        }
        KernelCommand::Show(arguments) => {
            let shown = Shown::from(&cache.find(&arguments.name)?);
            answer_or_json(&KERNEL_DOCUMENT, &arguments.json, &shown, || description(&shown))?;
        }
        KernelCommand::Remove(arguments) => {
            let name = &arguments.name;
            let had_image = cache.remove(name).map_err(unknown)?;
            let what = if had_image { "Kernel" } else { "The unfinished build of kernel" };
            answer(&format!("{what} {name} is removed.\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is not there need not be built to be removed.
fn unknown(error: CacheError) -> Error {
    match &error {
        CacheError::Unknown { known, .. } if known.is_empty() => {
            anyhow!("{error}: none has been built")
        }
        CacheError::Unknown { known, .. } => {
            Remedied::error(error.to_string(), format!("one of: {}", known.join(", ")))
        }
        _ => error.into(),
    }
}

fn build(cache: &Cache, arguments: &BuildArguments) -> Result<ExitCode> {
    let (source, name) = match (&arguments.name, &arguments.source) {
        (Some(name), Some(directory)) => (BuildSource::Tree(directory.clone()), name.clone()),
        (Some(version), None) => (BuildSource::Package(version.clone()), version.clone()),
        (None, Some(directory)) => {
            (BuildSource::Tree(directory.clone()), BuildSource::name_of(directory)?)
        }
        (None, None) => {
            let remedy = "name a version, such as `tcplab kernel build 7.2`, or a tree of Linux \
                          with `--source DIR`";
            return Err(Remedied::error("nothing to build", remedy));
        }
    };
    let hz = arguments.hz.unwrap_or(DEFAULT_HZ);
    let is_own_name = arguments.name.is_some() && arguments.source.is_some();
    let name = if hz == DEFAULT_HZ || is_own_name { name } else { name.with_hz(hz)? };
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.map_or(processors, usize::from);
    let mut display = Display::new(jobs.min(processors), arguments.quiet);
    let build = Build { name, source, hz, jobs, cache, stop: &stop };
    let result = build.run(&mut |event| display.show(event));
    display.clear();
    match result {
        Ok(Built::New(kernel)) => {
            let shown = Shown::from(&kernel);
            if !arguments.quiet {
                answer(&format!("{}{LICENCE}\n", shown.built(display.elapsed())))?;
            }
        }
        Ok(Built::Existing(kernel)) => {
            if !arguments.quiet {
                answer(&Shown::from(&kernel).existing())?;
            }
        }
        Err(error) => return stopped_or_failed(cache, arguments, error),
    }
    Ok(ExitCode::SUCCESS)
}

/// After Ctrl-C, how to go on; else the error.
fn stopped_or_failed(
    cache: &Cache,
    arguments: &BuildArguments,
    error: BuildError,
) -> Result<ExitCode> {
    if !error.is_stop() {
        return Err(error).context("cannot build the kernel");
    }
    let name = arguments.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let source = arguments.source.as_ref();
    let source = source.map(|it| format!(" --source {}", quoted_path(it))).unwrap_or_default();
    let hz = arguments.hz.map(|hz| format!(" --hz {hz}")).unwrap_or_default();
    let again = format!("stopped; continue with: tcplab kernel build{name}{source}{hz}");
    if fs::symlink_metadata(cache.root()).is_ok() {
        print_note(&again);
    }
    print_note_unless(arguments.quiet, "what was downloaded and compiled is kept");
    Ok(ExitCode::from(ERROR))
}
